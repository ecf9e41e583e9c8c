"""Calls that ask finished runs for something, and with what they work."""

from functools import cache

from fuzzed_models import SPOOL, model, workshop
from matplotlib.figure import Figure

import porthos as ph


@cache
def finished():
    """A run of a mechanism."""
    return ph.simulate(workshop(), ph.Midpoint(), 0.01, 0.03)


@cache
def finished_states():
    """A run of a mechanism and of a system that drives it."""
    whole = ph.interconnect(model().assemble(), SPOOL, through=ph.Feedback("motor", "shaft", name="belt"))
    return ph.simulate(whole, ph.RadauIIA(2), 0.01, 0.03)


RUNS = {"Trajectory": finished, "StateTrajectory": finished_states}
AXES, SAME = "new axes", "the run itself"  # made for each call


def asked(run, method, **usual):
    """What a method of a run does with arguments, some of which stay as they are."""

    def call(**given):
        if given.get("ax") is AXES:
            given["ax"] = Figure().add_subplot()
        if given.get("other") is SAME:
            given["other"] = run()
        any_number = [given.pop("quantities")] if method in ("plot", "to_pandas") else []
        return getattr(run(), method)(*any_number, **usual, **given)

    return call


OF_BOTH = {
    "plot": {"quantities": "power_balance", "ax": AXES},
    "to_pandas": {"quantities": "power_balance"},
    "compare": {"other": SAME},
    "at": {"time": [0.0, 0.015]},
    "thinned": {"kept": [0, 2]},
    "save": {"path": "saved.nc"},
    "export": {"path": "saved.csv", "quantities": ["power_balance"]},
}
OF_RUNS = {
    **{
        f"{kind}.{method}": (asked(run, method), right)
        for kind, run in RUNS.items()
        for method, right in OF_BOTH.items()
    },
    "Trajectory.__getitem__": (asked(finished, "__getitem__"), {"body": "wheel"}),
    "Trajectory.joint": (asked(finished, "joint"), {"name": "A"}),
    "Trajectory.element": (asked(finished, "element"), {"name": "coil"}),
    "Trajectory.beam": (asked(finished, "beam"), {"name": "blade"}),
    "Trajectory.port": (asked(finished, "port"), {"name": "motor"}),
    "Trajectory.report": (
        asked(finished, "report"),
        {"path": "saved.html", "figures": {"sketch": Figure()}, "points": {"tip": ("wheel", (0.1, 0, 0))}},
    ),
    "Trajectory.export a film": (
        asked(finished, "export", path="film.gif"), {"fps": 10, "speed": 0.1, "size": (64, 48)},
    ),
    "Trajectory.export for VTK": (asked(finished, "export", path="surfaces.pvd"), {"frames": 2}),
    "BodyView.point": (lambda at: finished()["wheel"].point(at), {"at": (1, 0, 0)}),
    "StateTrajectory.__getitem__": (asked(finished_states, "__getitem__"), {"state": "spool: x1"}),
    "StateTrajectory.part": (asked(finished_states, "part"), {"name": "fuzzed"}),
    "StateTrajectory.port": (asked(finished_states, "port"), {"name": "hand"}),
    "StateTrajectory.connection": (asked(finished_states, "connection"), {"name": "belt"}),
    "StateTrajectory.report": (
        asked(finished_states, "report"), {"path": "saved.html", "figures": {"sketch": Figure()}, "points": None},
    ),
}  # fmt: skip

"""`porthos check`: what a model file describes and whether it fits together, without the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from porthos.cli.answers import aligned, tell
from porthos.integrate.catalogue import check_scheme, scheme_named, schemes_among
from porthos.model.beams import Segment
from porthos.model.crossings import Crossing
from porthos.model.drives import Drive
from porthos.model.gears import GEARS
from porthos.model.model import Model
from porthos.model.modelfile import ModelFile
from porthos.model.simulation import Simulation
from porthos.steps import Adaptive, count_steps, kink
from porthos.system.mobility import Mobility, mobility

SEVERAL = 6  # so many joints are listed by name


def check_file(path: Path, changes: Mapping[str, str], as_json: bool) -> None:
    """Read a file, count and measure its mechanism, and say what one should know before running it."""
    if "(" in changes.get("simulation.scheme", ""):  # only such a one needs the schemes themselves
        from porthos.cli.spelling import as_in_files

        changes = as_in_files(changes)
    file = ModelFile.read(path, changes)
    if file.simulation is not None:
        with file.blaming("scheme"):
            _check_scheme(file.simulation)
    found = mobility(file.model)
    notes = [*_notes(found), *_kinks(file)]
    tell(_text(file, found, notes), _data(file, found, notes), as_json)


def _check_scheme(plan: Simulation) -> None:
    """Name and options are checked at once; only a scheme of schemes is made for this, which loads the compiler."""
    kind, options = plan.scheme.kind, plan.scheme.options
    check_scheme(kind, options)
    if schemes_among(kind, options):
        scheme_named(kind, options)


def _text(file: ModelFile, found: Mobility, notes: list[str]) -> str:
    model = file.model
    parts = {
        "body/bodies": found.bodies - found.nodes,
        "beam/beams": found.beams,
        "point mass/point masses": found.point_masses,
        "joint/joints": found.joints - len(found.drives) - _gears(model),
        "gear/gears": _gears(model),
        "drive/drives": len(found.drives),
        "force element/force elements": _elements(model),
        "load/loads": len(model.loads),
        "port/ports": len(model.ports),
    }
    counted = [f"{n} {words.split('/')[n != 1]}" for words, n in parts.items() if n]
    rows = {
        "degrees of freedom": f"{found.freedom} by the rank of the constraints, "
        f"{found.counted} by Gruebler's count ({found.coordinates} - {found.rows})",
        **({"drives": found.driven} if found.drives else {}),
        "redundant rows": str(found.redundant or "none"),
        "initial values": f"off {len(found.violations)} joint(s)" if found.violations else "consistent with all joints",
        **({"assembly": f"closes {_closed(found)}"} if found.closed else {}),
        "simulation": _plan(file.simulation),
        **({"outputs": ", ".join(_outputs(file))} if _outputs(file) else {}),
        **{f"event '{name}'": str(event) for name, event in _events(file).items()},
    }
    return "\n".join([f"{model.name}: {', '.join(counted)}", aligned(rows), *(f"  note: {note}" for note in notes)])


def _closed(found: Mobility) -> str:
    """How far joints are open where the bodies were put; the assembly moves the bodies."""
    gaps = [f"'{gap.joint}' ({gap.distance:.3g} m, {gap.angle:.3g} rad)" for gap in found.closed]
    return ", ".join(gaps[:SEVERAL]) + (f" and {len(gaps) - SEVERAL} more" if len(gaps) > SEVERAL else "")


def _gears(model: Model) -> int:
    return sum(isinstance(joint, GEARS) for joint in model.joints)


def _elements(model: Model) -> int:
    """Springs, dampers, potentials, ...: what a file calls elements; those of beams belong to the beams."""
    return sum(not isinstance(element, Segment) for element in model.elements)


def _plan(plan: Simulation | None) -> str:
    if plan is None:
        return "not described; give --step and --end to `porthos run`"
    if isinstance(plan.step, Adaptive):
        return f"{plan.scheme.kind}, {plan.step!r} to t = {plan.end:g} s"
    steps = count_steps(plan.step, plan.end, plan.every)
    return f"{plan.scheme.kind}, {steps} steps of {plan.step:g} s to t = {plan.end:g} s"


def _events(file: ModelFile) -> Mapping[str, Crossing]:
    return {} if file.simulation is None else file.simulation.events


def _outputs(file: ModelFile) -> tuple[str, ...]:
    return () if file.simulation is None else file.simulation.outputs


def _data(file: ModelFile, found: Mobility, notes: list[str]) -> dict[str, Any]:
    more = {name: getattr(found, name) for name in ("coordinates", "counted", "freedom", "redundant")}
    model = file.model
    more |= {"gears": _gears(model), "elements": _elements(model)}
    more |= {"loads": len(model.loads), "ports": len(model.ports)}
    more |= {"events": {name: asdict(event) for name, event in _events(file).items()}}
    more |= {"outputs": _outputs(file)}
    return {"model": model.name, **asdict(found), **more, "notes": notes}


def _notes(found: Mobility) -> list[str]:
    notes = []
    if found.redundant:
        notes.append(
            f"{found.redundant} of {found.rows} rows repeat others, among those of {_names(found.redundant_joints)}: "
            f"{'; '.join(map(str, found.repeats[:SEVERAL]))}. The motion is right, but the reactions of these joints "
            "are not unique; use joints with fewer rows there."
        )
    if found.freedom == 0 and found.drives:
        notes.append("its drives prescribe the whole motion: no degree of freedom is left at the initial placement.")
    elif found.freedom == 0:
        notes.append("it cannot move: the joints leave no degree of freedom at the initial placement.")
    for one in found.violations:
        notes.append(
            f"the initial values are off joint '{one.joint}' by {one.position:.2g} m and {one.velocity:.2g} m/s or "
            "rad/s; a run begins with the nearest ones that fit."
        )
    return notes


def _names(joints: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{name}'" for name in joints[:SEVERAL])
    return f"{shown} and {len(joints) - SEVERAL} more" if len(joints) > SEVERAL else shown


def _kinks(file: ModelFile) -> list[str]:
    """Functions of time that jump or bend within a step, where the scheme loses its order."""
    plan = file.simulation
    if plan is None or isinstance(plan.step, Adaptive):  # which end their steps on these times
        return []
    signals = {load.name: (load.force, load.torque) for load in file.model.loads}
    signals |= {name: (value, None) for name, value in plan.inputs.items()}
    signals |= {joint.name: (joint.motion, None) for joint in file.model.joints if isinstance(joint, Drive)}
    found = []
    for name, both in signals.items():
        times = [t for one in both for t in getattr(one, "breakpoints", ())]
        found.append(kink(name, times, plan.step, plan.end))
    return [note for note in found if note]

"""Fast heavy top on a fixed tip: slow precession and nutation of a fast spin.

m = 15, inertia about the centre of mass diag(0.234375, 0.46875, 0.234375), centre of mass at (0, 1, 0) in the body,
tip at the origin, g = 9.81 along -z; R(0) = I, Omega(0) = (0, 150, -4.61538). A standard test of rotational integrators
(multibody benchmark literature): the spin turns the top by 150 rad in the time in which it precesses by some radians.

The top is a flat disc, J_2 = J_1 + J_3, so it has no inertia across its plane: E_2 = 0 and the mass matrix of the
directors is singular. Both schemes step it without its inverse; the form (61) needs that and says so.

Numbers: E = 5435.6967908655; centre of mass (0.605550561377, 0.598957681795, -0.523983027430) at t = 0.2,
(0.173343964098, 0.640088592071, -0.748490791134) at t = 1,
(-0.150416822746, -0.724165591637, -0.673022269560) at t = 2.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import Number, extrapolated, present
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show

SCHEME = ph.Midpoint()
MASS, MOMENTS = 15.0, (0.234375, 0.46875, 0.234375)
CENTRE = np.array([0.0, 1.0, 0.0])
SPIN = np.array([0.0, 150.0, -4.61538])
TIMES = (0.2, 1.0, 2.0)


def model(spin: Array = SPIN) -> ph.Model:
    """The top with its axis along y, held at its tip."""
    top = ph.Model("heavy top", gravity=(0, 0, -9.81))
    body = top.body(
        "top", ph.Inertia(MASS, MOMENTS), position=CENTRE, velocity=np.cross(spin, CENTRE), angular_velocity=spin
    )
    top.spherical("tip", top.ground, body, at=(0, 0, 0))
    return top


def run(scheme: Scheme = SCHEME, step: float = 1e-3, end: float = 2.0, every: int = 1) -> ph.Trajectory:
    """Simulate the top; `every` keeps each k-th state."""
    return ph.simulate(model(), scheme, step=step, end=end, every=every)


def number(step: float = 2e-4) -> Number:
    """Energy at the end and the centre of mass at t = 0.2, 1 and 2 (3, 3), extrapolated from two runs."""
    coarse, fine = (run(step=h, every=round(0.2 / h)) for h in (step, step / 2))
    places = [one["top"].position[[round(t / one.t[1]) for t in TIMES]] for one in (coarse, fine)]
    return {"x": extrapolated(*places), "E": float(fine.energy[-1])}


def errors(steps: tuple[float, ...], reference: Array) -> Array:
    """Distance of the centre of mass from `reference` at t = 0.2."""
    return np.array([np.linalg.norm(run(step=h, end=0.2)["top"].position[-1] - reference) for h in steps])


def figures() -> dict[str, Figure]:
    """Path of the centre of mass, balances and order of convergence."""
    top = run(every=2)
    steps = (2e-3, 1e-3, 5e-4, 2.5e-4)
    reference = np.asarray(number()["x"])[0]
    return {
        "motion": show.motion(top, times=(0.0, 0.1, 0.2, 0.3)),
        "position": top.plot("top.position"),
        "energy": show.energy(top),
        "energy_error": show.energy_error(top),
        "constraint_errors": show.constraint_errors({"PH-MP": top}),
        "convergence": show.convergence(steps, {"centre of mass": errors(steps, reference)}, order=2),
    }


def main() -> None:
    """Print the summary and write the figures."""
    present("heavy_top", run(), figures())


if __name__ == "__main__":
    main()

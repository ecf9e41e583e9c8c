"""Flying cylindrical pair (document 001, section 7.1): a tube turns on and slides along a thrown rod.

Body A is a solid cylinder, body B a tube on it, joined by a cylindrical joint; no gravity, no load. So the energy, the
linear and the angular momentum are constant, and the axis n stays common:

v_B = v_A + omega_A x (phi_B - phi_A) + 35.5 n,   omega_B = omega_A - 100 n.

The authors' data set has all angular velocities with the opposite sign of those printed: `data="authors"`. The two are
mirror images of each other (up to the constant velocity v_A), so they have the same errors.

Numbers: H = 110904.71875, L = (2335.75, 1028.625, -1950) as printed; H = 107604.71875, L = (964.25, -1028.625, 1950)
for the authors' data. RMS error (63) of all 24 coordinates of PH-MP at t = 0.02 against h = 1e-5, for both: 0.0419741,
4.80615e-4, 4.76561e-6 for h = 1e-2, 1e-3, 1e-4.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.figure import Figure

import porthos as ph
from gallery._common import SCHEMES, Number, present, rms
from porthos.integrate.scheme import Scheme
from porthos.notation import Array
from porthos.show import figures as show

Data = Literal["printed", "authors"]

SCHEME = ph.Midpoint()
STEPS = (1e-2, 1e-3, 1e-4)
FINEST = 1e-5
COMPARED_AT = 0.02


def model(data: Data = "printed") -> ph.Model:
    """Table 2; `data` chooses the sign of all angular velocities: as printed, or as in the authors' data set."""
    sign = {"printed": 1.0, "authors": -1.0}[data]
    pair = ph.Model("flying cylindrical pair")
    n = np.array([0.0, 0.0, 1.0])
    place = -11.0 * n
    velocity, omega = np.array([0.0, 50.0, 0.0]), sign * np.array([1.0, 1.5, 0.0])
    rod = pair.body("rod", ph.Cylinder(mass=4, radius=2, length=30), velocity=velocity, angular_velocity=omega)
    tube = pair.body(
        "tube",
        ph.HollowCylinder(mass=3, inner_radius=2, outer_radius=3, length=6),
        position=place,
        velocity=velocity + np.cross(omega, place) + 35.5 * n,
        angular_velocity=omega - sign * 100 * n,
    )
    pair.cylindrical("sleeve", rod, tube, at=(0, 0, 0), axis=n)
    return pair


def run(scheme: Scheme = SCHEME, step: float = 1e-3, end: float = 0.7, data: Data = "printed") -> ph.Trajectory:
    """Simulate the flight; every state is kept."""
    return ph.simulate(model(data), scheme, step=step, end=end)


def errors(scheme: Scheme = SCHEME, data: Data = "printed") -> dict[str, Array]:
    """RMS errors (63) at t = 0.02 for h = 1e-2, 1e-3, 1e-4 against h = 1e-5.

    Multipliers of the joint are given twice: at the midpoint of the last step, as the scheme computes them, and at the
    node, as Porthos reports them.
    """
    ends = {h: _last(scheme, h, data) for h in (*STEPS, FINEST)}
    return {key: np.array([rms(ends[h][key] - ends[FINEST][key]) for h in STEPS]) for key in ends[FINEST]}


def _last(scheme: Scheme, step: float, data: Data) -> dict[str, Array]:
    """The state at t = 0.02."""
    steps = round(COMPARED_AT / step)
    last = ph.simulate(model(data), scheme, step=step, end=COMPARED_AT, every=steps)
    return {
        "$q$": last.q[-1],
        "$v$": last.v[-1],
        r"$\lambda$ at midpoints": last.raw.multipliers[-1],
        r"$\lambda$ at nodes": last.multipliers[-1],
    }


def number(data: Data = "printed") -> Number:
    """Energy and angular momentum of the set-up, and the RMS errors of q with PH-MP."""
    start = model(data).assemble()
    first = ph.simulate(start, SCHEME, step=1e-3, end=1e-3)
    return {"H": float(first.energy[0]), "L": first.angular_momentum[0], "rms": errors(data=data)["$q$"]}


def figures() -> dict[str, Figure]:
    """Figures 6b to 10 of 001."""
    runs = {name: run(scheme) for name, scheme in SCHEMES.items()}
    flight = runs["PH-MP"]
    return {
        "motion": show.motion(flight, times=(0.0, 0.1, 0.4, 0.7)),
        "energy": show.energy(flight),
        "energy_error": show.energy_error(flight),
        "angular_momentum": show.angular_momentum(flight),
        "constraint_errors": show.constraint_errors(runs),
        "convergence": show.convergence(STEPS, errors(), order=(2, 1)),
    }


def main() -> None:
    """Print the summary of the run of 001 and write the figures."""
    present("cylindrical_pair", run(), figures())


if __name__ == "__main__":
    main()

"""Numbers from outside: published ones, exact solutions, and independent computations, with what the gallery finds.

|found - value| <= within, where found = module.number(**options)[key].

`tests/test_gallery.py` holds every example to them; the pages of the documentation show them beside what was found.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from gallery import bent_beams, car_axis, slider_crank, squeezer
from gallery import sliding_pendulum as sliding
from gallery._common import Number, extrapolated
from porthos.notation import Array

LATUSSEK = "Latussek, Kinon, Betsch (2026)"
AGAIN = "computed again with other methods"
LIBRARY = "multibody benchmark library"
ELLIPTIC = "exact, elliptic functions"
STEADY = "exact: steady precession of Lagrange's top"


@dataclass(frozen=True)
class Reference:
    """One number from outside, or several of one kind, and where to find ours."""

    module: str
    key: str
    what: str
    value: ArrayLike
    within: ArrayLike
    source: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def found(self) -> Array:
        """What Porthos computes, in the shape of the value."""
        return np.asarray(number_of(self.module, **self.options)[self.key])

    @property
    def difference(self) -> float:
        """The largest difference of all components."""
        return float(np.abs(self.found - np.asarray(self.value)).max())

    @property
    def ok(self) -> bool:
        """Whether all components are as close as they must be (a NaN never is)."""
        return bool(np.all(np.abs(self.found - np.asarray(self.value)) <= np.asarray(self.within)))


@cache
def number_of(module: str, **options: str) -> Number:
    """The numbers of an example, computed once."""
    result: Number = importlib.import_module(f"gallery.{module}").number(**options)
    return result


def _pair(data: str, energy: float, momentum: tuple[float, ...]) -> tuple[Reference, ...]:
    source, options = f"{LATUSSEK}, 7.1, {data} data", {"data": data}
    rms = (0.0419741, 4.80615e-4, 4.76561e-6)
    text = f"RMS error of all coordinates at t = 0.02 s, h = 1e-2, 1e-3, 1e-4; {data} data"
    return (
        Reference("cylindrical_pair", "H", f"energy [J], {data} data", energy, 1e-8, source, options),
        Reference("cylindrical_pair", "L", f"angular momentum [N m s], {data} data", momentum, 1e-10, source, options),
        Reference("cylindrical_pair", "rms", text, rms, (8e-8, 9e-10, 9e-12), source, options),
    )


def _loop(torque_map: str, energy: float, momentum: float) -> tuple[Reference, ...]:
    text = f"after the load, torque map {torque_map}"
    source, options = f"{LATUSSEK}, 7.2, {AGAIN}", {"torque_map": torque_map}
    return (
        Reference("closed_loop", "E", f"energy [J] {text}", energy, 6e-7, source, options),
        Reference("closed_loop", "L", f"angular momentum [N m s] {text}", (momentum, 0, 0), 6e-7, source, options),
        Reference(
            "closed_loop", "p", f"linear momentum [N s] {text}", (400, 0, 0), 1e-10, "impulse of the load", options
        ),
    )


def _crank(inertias: str, energy: float) -> tuple[Reference, ...]:
    source, options = f"{LATUSSEK}, 7.3; IFToMM {LIBRARY}, {AGAIN}", {"inertias": inertias}
    text = f"block position x [m] at t = 1, ..., 5 s, inertias: {inertias}"
    return (
        Reference("slider_crank", "H", f"energy [J], inertias: {inertias}", energy, 6e-9, source, options),
        Reference("slider_crank", "x", text, slider_crank.REFERENCE[inertias], 1e-8, source, options),
    )


def _long() -> tuple[Reference, ...]:
    two = "pendulum and double pendulum, 240 s, LobattoPair(3), Murua(3), with ggl"
    kept, shape = "kept by the method", (2, 3)
    # 000, 7.3.1 shows some 1e-8 and 1e-5 J with 0.2 and 0.4 of our steps
    bounds = (5e-5, 2e-7, 2e-7), (2e-3, 4e-5, 4e-5)
    law = "symmetric and symplectic methods"
    found = (
        ("long_energy", f"largest error of energy [J], {two}", np.zeros(shape), bounds, "no drift: bounds"),
        ("long_drift", f"mean energy of the last quarter less that of the first, over the largest error, {two}",
         np.zeros(shape), ((0.01, 0.01, 0.01), (0.15, 0.15, 1.0)), law),
        ("long_growth", f"error of energy in the last quarter over that in the first, {two}", np.ones(shape),
         ((0.001,) * 3, (0.5,) * 3), law),
        ("long_gap", "|g| of Murua(3) in the last quarter over that in the first, both pendulums", (1, 1),
         (0.001, 0.5), law),
        ("long_positions", "largest |g| [m^2] over 240 s, all but Murua(3)", 0.0, 1e-14, kept),
        ("long_velocities", "largest |G v| [m^2/s] over 240 s, all", 0.0, 1e-14, kept),
    )  # fmt: skip
    return tuple(Reference("partitioned_methods", *each) for each in found)


DAE = "DAE test set"


def _squeezer(method: str) -> tuple[Reference, ...]:
    angles = (15.810771195154, -15.756371058412, 0.040822240120, -0.534730116342, 0.524409965880, 0.534730116342,
              1.048080741042)  # fmt: skip
    options = {"method": method}
    return (
        Reference(
            "squeezer", "q", f"all angles [rad] at t = 0.03 s, {method}", angles, 1e-10, f"{DAE}, {AGAIN}", options
        ),
        Reference(
            "squeezer", "defect", f"energy minus work of the motor [J], {method}", 0.0, 1e-11, "balance", options
        ),
    )


def _axis(method: str) -> tuple[Reference, ...]:
    positions = (0.0493455784275403, 0.496989460230171, 1.04174252488542, 0.373911027265361)
    velocities = (-0.0770583684040972, 0.00744686658723779, 0.0175568157537232, 0.770341043779252)
    options = {"method": method}
    return (
        Reference("car_axis", "q", f"both ends of the bar [m] at t = 3 s, {method}", positions, 1e-10, DAE, options),
        Reference("car_axis", "v", f"their velocities [m/s] at t = 3 s, {method}", velocities, 1e-9, DAE, options),
    )


def _omega(kind: str) -> Reference:
    found = (
        (2.8403832, 1.5, -3.1210517), (1.8061612, 1.5, -0.1702535), (-2.3543081, 1.5, -1.7693386),
        (-0.6555512, 1.5, -3.4485135),
    )  # fmt: skip
    text = f"angular velocity in the body [rad/s] at t = 0.5, 1, 1.5, 2 s, {kind}"
    return Reference("slow_top", kind, text, found, 1e-7, f"another solution of Euler's equations, {AGAIN}")


def _tension(form: str, lowest: tuple[float, float], beside: tuple[float, float]) -> tuple[Reference, ...]:
    return tuple(
        Reference(
            "alpha_start", f"{form}, {x0}", f"largest errors of the tension [N], h = 0.02 and 0.01, {form}, x0 = {x0}",
            values, 2.6e-3 * np.array(values), f"Arnold, Example 8, {AGAIN}",
        )
        for x0, values in ((0.0, lowest), (0.2, beside))
    )  # fmt: skip


def _beams() -> tuple[Reference, ...]:
    far = ((0.3017208, 0.0564332, 0.4613519), (0.8106090, 0.5549956, 1.4302855))
    lowest, second = 1.8751040687**2, 4.6940911330**2
    coarse, fine = (np.array(place) for place in ((-0.56825446, -0.82297780), (-0.56850208, -0.82281030)))
    rows: tuple[tuple[str, str, ArrayLike, ArrayLike, str], ...] = (
        ("elastica", "deflection, shortening [m] and angle [rad] of the tip, P L^2/(E I) = 1 and 10",
         far, ((1e-7,) * 3, (2e-5,) * 3), ELLIPTIC),
        ("circles", "tip [m] of a beam of 10 m, bent to half a circle and to a whole one, 24 elements",
         ((0, 0, 20 / np.pi), (0, 0, 0)), ((3e-5,) * 3, (2e-3,) * 3), "exact: constant curvature"),
        ("bend", "tip [m] of Bathe and Bolourchi's bend, P = 300 N",
         (58.77912, 22.24478, 40.19189), 1e-3, "geometrically exact beam, shooting"),
        ("slender", "angular frequencies [rad/s] of a slender cantilever",
         (lowest, 2 * lowest, second, 2 * second), (1e-4, 5e-4, 4e-3, 2e-2),
         "exact for Euler and Bernoulli; shear and rotary inertia lower them"),
        ("thick", "angular frequencies [rad/s] of a thick beam between hinges, both branches",
         bent_beams.timoshenko(), (1e-6, 1.5e-5), "exact: Timoshenko"),
        ("fallen", "tip (x, y) [m] of the falling beam at t = 0.6 s",
         extrapolated(coarse, fine), 1e-5, "Exudyn 1.13.6, 16 and 32 elements, extrapolated"),
    )  # fmt: skip
    return tuple(Reference("bent_beams", *row) for row in rows)


REFERENCES: tuple[Reference, ...] = (
    *(one for method in squeezer.METHODS for one in _squeezer(method)),
    *(one for method in car_axis.METHODS for one in _axis(method)),
    *_beams(),
    Reference(
        "bricard",
        "P3",
        "corner P3 [m] at t = 0.5, 1, 2 s",
        (
            (0.968283679, -1.224625159, 0.750146609),
            (0.510501461, -1.649167599, 0.140123115),
            (-0.969340345, -1.221246895, 0.754278011),
        ),
        1e-9,
        f"{LIBRARY}, A04",
    ),
    Reference("bricard", "dE", "largest change of the energy [J]", 0.0, 1e-12, "conservation"),
    Reference(
        "car",
        "frequencies",
        "frequencies [Hz] without dampers and weight",
        (
            1.520284111566,
            1.597098171306,
            1.647093518214,
            4.287645913419,
            4.326004939221,
            7.559328797323,
            12.00337614329,
            12.01246027112,
            12.12183643357,
            12.20004934864,
        ),
        1e-9,
        "eigenvalues of the linear model",
    ),
    Reference(
        "car",
        "eigenvalues",
        "real and imaginary part [1/s] of the three slowest eigenvalues with dampers",
        ((-2.766517954296, 9.881340591598), (-3.333863350546, 10.06673466963), (-4.217404501126, 10.16002173459)),
        1e-8,
        "eigenvalues of the linear model",
    ),
    Reference("car", "carried", "force of all tyres [N] at rest", 1380 * 9.81, 1e-5, "weight"),
    Reference("car", "balance", "H - H(0) + D [J] over 10 s, of 567 J dissipated", 0.0, 1e-9, "balance"),
    Reference(
        "composition",
        "x",
        "centre of mass [m] at t = 0.2 s, order 8, h = 2 ms",
        (0.605550561377, 0.598957681795, -0.523983027430),
        5e-12,
        f"literature on rotational integrators, {AGAIN}",
    ),
    Reference(
        "composition",
        "orders",
        "orders of PH-MP-GGL and its compositions",
        (2, 4, 6, 8),
        0.15,
        "theory",
    ),
    Reference(
        "composition",
        "bases",
        "orders of velocities, order 4 with PH-MP, the same projected, and with PH-MP-GGL",
        (2, 4, 4),
        0.02,
        "theory",
    ),
    Reference("composition", "lost", "largest relative change of energy, momentum, g, G v", 0.0, 1e-12, "conservation"),
    Reference(
        "crane",
        "load",
        "load [m] at t = 3, 6, 10 s",
        (
            (1.813800696747, -1.951641639729, 1.621823804889),
            (4.604552041694, 2.814488296521, 2.882465289714),
            (5.235927409618, 0.4366193655804, 3.872633050364),
        ),
        1e-7,
        "equation of the load, SciPy DOP853",
    ),
    Reference(
        "crane",
        "forces",
        "forces of both slide drives and pull of the rope [N] at t = 3, 6, 10 s",
        (
            (1366.330783439, 932.7337231869, 7964.629383688),
            (1112.169479483, -3696.905582193, 8437.288316627),
            (-1181.971185990, 5327.423683657, 10019.78691584),
        ),
        1e-3,
        "equation of the load, SciPy DOP853",
    ),
    Reference("crane", "balance", "H - H(0) - W [J] over 10 s, of 21.7 kJ of work", 0.0, 1e-9, "balance"),
    Reference(
        "crane",
        "swing",
        "amplitude l/D left by ramps of 1 and 1.835 periods",
        (45 / np.pi**4, 0.0),
        2e-5,
        "exact for small angles; ways are 2 cm",
    ),
    *_loop("exact", 2095.569748, 300.0),
    Reference(
        "dc_motor",
        "found",
        "current [A] and speed of the rotor [rad/s] at t = 0.05, 0.1, 0.3 s",
        (
            (7.440293011674717, 4.604750050662703),
            (7.763986387798941, 12.921551889490086),
            (-1.2865164930585828, 21.94111964861365),
        ),
        2e-4,
        "exponential of a matrix",
    ),
    Reference(
        "energy_shaping",
        "angle",
        "angle [rad] at t = 0.2, 0.4, 0.8 s",
        (0.7446738159566589, 2.080653731187067, 3.6003448569322933),
        2e-5,
        "exact: a linear oscillator",
    ),
    Reference(
        "lorenz",
        "state",
        "state at t = 1, 2",
        (
            (-4.409120389218187, -7.500598784570462, 13.839064973124094),
            (2.7868707480523356, 5.490690282038648, 6.611552687497675),
        ),
        1e-9,
        "SciPy DOP853",
    ),
    Reference(
        "reactor",
        "c",
        "concentrations [mol/l] at t = 1, 5 s",
        (
            (1.067536194995731, 1.22994553703841, 0.6025182679658596),
            (0.8342249055689445, 1.3419391500545217, 1.523835944376533),
        ),
        1e-6,
        "exponential of a matrix",
    ),
    Reference(
        "wind_pendulum",
        "position",
        "bob (x, z) [m] at t = 1, 2, 4 s",
        (
            (-0.629033415197937, -1.3617330731697823),
            (0.7957491909983143, -1.271527909652607),
            (-0.5560221226070378, -1.3931401218727297),
        ),
        5e-8,
        "equation of the angle, SciPy DOP853",
    ),
    *_loop("printed", 2095.376897, 299.745359),
    *_pair("printed", 110904.71875, (2335.75, 1028.625, -1950.0)),
    *_pair("authors", 107604.71875, (964.25, -1028.625, 1950.0)),
    Reference("drift_off", "positions", "exponents of g(t), index 1 and 2", (2, 1), 0.05, f"Arnold, {AGAIN}"),
    Reference(
        "drift_off",
        "velocities",
        "exponents of G v(t), index 1 and with positions put back",
        (1, 1),
        0.2,
        f"Arnold, {AGAIN}",
    ),
    Reference(
        "drift_off",
        "worse",
        "decades of |g| by which Baumgarte's rate 1/h is worse than 3/s",
        np.log10(np.sqrt(100 * 3000)),
        np.log10(np.sqrt(3000 / 100)),
        f"100 to 3000 times: Arnold, {AGAIN}",
    ),
    Reference(
        "double_pendulum",
        "end",
        "free end (x, z) [m] at t = 1, 2 s",
        ((-1.662764118133, -1.041247516906), (0.309568481192, -1.916211723195)),
        5e-8,
        "Lagrange's equations in two angles, SciPy DOP853",
    ),
    Reference("double_pendulum", "H", "energy [J] at t = 2 s", 0.0, 1e-11, "conservation"),
    Reference("four_bar", "rows", "rows of the linkage, and their rank", (38, 35), 0.0, "counting"),
    Reference("four_bar", "freedom", "degrees of freedom by Gruebler's count and by rank", (-2, 1), 0.0, "counting"),
    Reference(
        "four_bar",
        "C",
        "hinge C (x, z) [m] at t = 0.5, 1, 2 s",
        ((0.9424047372173, 0.5066387131921), (0.5539972375158, 0.2471467900994), (0.888612324533, 0.4975869630065)),
        5e-10,
        "equations in three angles, SciPy DOP853",
    ),
    Reference(
        "four_bar",
        "apart",
        "distance [m] from the linkage without redundant rows, five orientations, PH-MP and PH-MP-GGL",
        0.0,
        1e-11,
        "the same motion",
    ),
    Reference(
        "four_bars",
        "rows",
        "rows of hinges, their rank, freedom by Gruebler's count and by rank",
        (455, 365, -89, 1),
        0.0,
        "counting",
    ),
    Reference(
        "four_bars",
        "angle",
        "angle of the rods [rad] at t = 0.5, 1, 2 s",
        (0.7586398762928, 3.2573057884498, 6.3176873647838),
        2e-9,
        "equation of the angle, SciPy DOP853",
    ),
    Reference("four_bars", "parallel", "largest angle between rods [rad]", 0.0, 1e-10, "kinematics"),
    Reference("four_bars", "dE", "largest change of the energy [J], of 893 J", 0.0, 1e-9, "conservation"),
    Reference("four_particles", "H", "energy [J] at t = 10 s", 2 / 1.7, 1e-13, "conservation"),
    Reference("four_particles", "p", "linear momentum [N s] at t = 10 s", (0, 0, 2), 1e-13, "conservation"),
    Reference("four_particles", "L", "angular momentum [N m s] at t = 10 s", (2, -2, 0), 1e-13, "conservation"),
    Reference("four_particles", "held", "the same with dampers [N m s]", (2, -2, 0), 1e-13, "conservation"),
    Reference("four_particles", "balance", "H - H(0) + D [J] with dampers", 0.0, 1e-13, "balance"),
    Reference(
        "four_particles",
        "fourth",
        "particle 4 [m] at t = 0.5, 1, 2 s",
        (
            (0.907421011880, 0.897906735933, 0.550003730044),
            (0.692083683800, 0.655341364467, 0.921062543012),
            (0.276349264648, 0.157315104732, 1.071447353367),
        ),
        6e-8,
        "Newton's equations, SciPy DOP853",
    ),
    Reference("free_rigid_body", "interval", "time between turns [s]", 2.238695161, 1e-9, ELLIPTIC),
    Reference("free_rigid_body", "H", "energy [J] at t = 10 s", 0.385434635417, 1e-12, "conservation"),
    Reference(
        "governor",
        "state",
        "angle of the arms [rad] and height of the sleeve [m] at t = 0.2, 0.5, 2 s",
        ((0.8230601528555, 0.3546733899767), (0.5538654315635, 0.3047906827184), (0.7951487671906, 0.3488548588787)),
        1e-9,
        "equations in two coordinates, SciPy Radau",
    ),
    Reference("governor", "balance", "what the energy balance misses [J]", 0.0, 1e-11, "balance"),
    Reference(
        "gyroscope",
        "angles",
        "turn of the outer ring and elevation of the axis [rad] at t = 0.2, 0.5, 1 s",
        (
            (0.04667883344152, -0.003240854944943),
            (0.1117560011125, -0.0005782388089861),
            (0.2230550980266, -0.002123510665975),
        ),
        3e-9,
        "equations in two angles, SciPy DOP853",
    ),
    Reference(
        "gyroscope", "precession", "turn [rad] in 1 s of steady precession", 0.220725, 1e-9, "m g l/(C n), exact"
    ),
    Reference(
        "heavy_top",
        "x",
        "centre of mass [m] at t = 0.2, 1, 2 s",
        (
            (0.605550561377, 0.598957681795, -0.523983027430),
            (0.173343964098, 0.640088592071, -0.748490791134),
            (-0.150416822746, -0.724165591637, -0.673022269560),
        ),
        5e-10,
        f"literature on rotational integrators, {AGAIN}",
    ),
    *(_omega(kind) for kind in ("Euler angles", "quaternions", "directors")),
    Reference(
        "slow_top",
        "rates",
        "largest rates [1/s] of Euler angles, quaternions, and the top",
        (42.98, 2.322, 4.644),
        (6e-3, 6e-4, 6e-4),
        f"Arnold, {AGAIN}",
    ),
    Reference("slow_top", "nutation", "smallest nutation [rad]", 0.059039, 6e-7, f"Arnold, {AGAIN}"),
    *_tension("index 3", (3.94e-3, 9.85e-4), (0.2483, 0.1231)),
    *_tension("stabilised", (1.98e-3, 4.96e-4), (1.92e-3, 4.78e-4)),
    Reference("heavy_top", "E", "energy [J] at t = 2 s", 5435.6967908655, 5e-9, "conservation"),
    Reference("lagrange_top", "nutation", "lowest and highest nutation [rad]", (np.pi / 3, np.pi / 3), 1e-9, STEADY),
    Reference("lagrange_top", "precession", "precession [rad] in 1 s", 10.0, 1e-9, STEADY),
    Reference(
        "lagrange_top",
        "orders",
        "orders of the nodding: PH-MP, PH-MP-GGL, compositions of order 4 and 6",
        (2, 2, 4, 6),
        0.05,
        STEADY,
    ),
    Reference(
        "lagrange_top",
        "orders of the precession",
        "orders of the precession: PH-MP, PH-MP-GGL, compositions of order 4 and 6",
        (2, 2, 4, 6),
        0.05,
        STEADY,
    ),
    Reference("lagrange_top", "spread", "spread of the rate of precession [rad/s]", 0.0, 1e-8, STEADY),
    Reference(
        "maxwell",
        "state",
        "elongation [m] and speed [m/s] at t = 0.1, 0.3, 1 s",
        (
            (0.09224966977409, 0.9389606427585),
            (0.01803121132001, -0.4648763661557),
            (-1.880045875964e-05, -0.05357336464613),
        ),
        2e-6,
        "exponential of a matrix",
    ),
    Reference("maxwell", "way", "way [m] of the block until it stops", 0.1, 1e-9, "impulse, exact"),
    Reference(
        "maxwell", "relaxed", "elongation [m] after 0.3 s if held", 0.05 * np.exp(-2.0), 1e-12, "exact: exponential"
    ),
    Reference(
        "partitioned_methods",
        "orders",
        "orders of the error of energy, LobattoPair(2), LobattoPair(3), Murua(2), Murua(2, ggl=True)",
        (2, 4, 4, 4),
        0.02,
        "theory: 2s - 2 and 2s",
    ),
    Reference(
        "partitioned_methods",
        "growth",
        "error of energy in the second period over that in the first, the same schemes",
        (1, 1, 1, 1),
        1e-2,
        "symmetric and symplectic methods",
    ),
    Reference(
        "partitioned_methods", "positions", "largest |g| [m^2], all but Murua(2)", 0.0, 1e-13, "kept by the method"
    ),
    Reference("partitioned_methods", "velocities", "largest |G v| [m^2/s], all", 0.0, 1e-13, "kept by the method"),
    *_long(),
    Reference(
        "pendulum",
        "P",
        "bob (x, z) [m] at t = 1, 5, 10 s",
        (
            (0.9862917511318753, -0.1650108531255412),
            (-0.9423054350437573, -0.3347543384140006),
            (-0.2750874625761169, -0.9614192050991251),
        ),
        1e-9,
        f"{LIBRARY}, A01; {ELLIPTIC}",
    ),
    Reference("pendulum", "H", "energy [J] at t = 10 s", 0.0, 1e-12, "conservation"),
    *(
        Reference(
            "pendulum_forms", form, f"distance to the exact solution [m], {form}", 0.0, within, "elliptic functions"
        )
        for form, within in {"index 3": 1e-5, "index 2": 1e-5, "GGL": 1e-5, "index 1": 1e-5, "Gauss": 1e-7}.items()
    ),
    Reference(
        "planetary_gear",
        "speeds",
        "speeds [rad/s] of sun, carrier and ring at t = 0.05, 0.2, 1 s",
        (
            (24.3482261581375, 5.6981989494433, -1.7618119340344),
            (58.0975428357833, 11.4601162540702, -7.1948543786150),
            (79.9801629267157, 13.9714095907106, -12.4320917436915),
        ),
        1e-4,
        "exact: matrix exponential",
    ),
    Reference(
        "planetary_gear", "force", "force [N] of all teeth on the sun at t = 1 s", 41.62409083350401, 1e-4, "exact"
    ),
    Reference("planetary_gear", "willis", "what Willis' equation misses [rad/s]", 0.0, 1e-11, "kinematics"),
    Reference("planetary_gear", "gap", "largest |g| over ten turns of the sun", 0.0, 1e-12, "kinematics"),
    Reference("planetary_gear", "balance", "H - H(0) + losses - W [J] over 1 s, of 136 J", 0.0, 1e-11, "balance"),
    Reference("planetary_gear", "freedom", "degrees of freedom, and rows that repeat others", (2, 2), 0.0, "counting"),
    Reference(
        "redundant_masses",
        "q",
        "coordinates [m] at t = 10 s",
        (0.1397914709, 1.2397914709, -0.2034579090),
        1e-8,
        f"Kinon, Betsch, 6.1, {AGAIN}",
    ),
    Reference(
        "robot_arm",
        "angles",
        "angles of both bars [rad] at t = 0.2, 0.6, 1 s",
        ((0.993281891643, -0.0216862371814), (1.89481838208, 0.763838481794), (1.85814606548, 0.607213508053)),
        5e-6,
        "Lagrange's equations in two angles, SciPy DOP853",
    ),
    Reference("robot_arm", "balance", "largest defect of the power balance [J]", 0.0, 1e-12, "balance"),
    *_crank("library", 0.76643568),
    *_crank("boxes", 0.76509149),
    Reference(
        "sliding_pendulum",
        "period",
        "period of small swings [s]",
        2 * np.pi / np.sqrt(sliding.GRAVITY * 3.0 / (sliding.LENGTH * 2.0)),
        1e-4,
        "exact for small angles; the run has 0.01 rad",
    ),
    Reference(
        "sliding_pendulum",
        "depth",
        "depth of the bob [m] at t = 0.2 s, support without mass",
        sliding.LENGTH * np.cos(2.0) + sliding.GRAVITY * 0.2**2 / 2,
        1e-9,
        "free fall",
    ),
    Reference(
        "small_mass",
        "chain",
        "(x - x_0)/m of the chain (p1, p2, v1) at t = 1 s, Radau IIA and Lobatto IIIC",
        ((16416.2570807, 8207.21879487, 7251.07865182),) * 2,
        1e-3,
        "exponentials of matrices, 50 digits",
    ),
    Reference(
        "small_mass", "spread", "spread of distance/mass of the pendulum, 1e-8 to 1e-14 kg", 0.0, 0.02, "proportional"
    ),
    Reference(
        "small_mass",
        "tip",
        "tip without mass (x, y) [m] at t = 0.2 s",
        (1.9627189947226, -0.0048022282997),
        1e-11,
        "equations in two angles, SciPy DOP853",
    ),
    Reference(
        "small_mass",
        "pair_middle",
        "error of LobattoPair(3), t = 0.2 s, 1e-6 kg in the middle, h = 5e-4: positions [m], velocities [m/s]",
        (0, 0),
        (2e-11, 1e-8),
        "Murua(4)",
    ),
    Reference(
        "small_mass",
        "pair_tip",
        "error of LobattoPair(3), t = 0.2 s, 1e-10 kg at the tip, h = 2e-3: positions [m], velocities [m/s]",
        (0, 39),
        (4e-7, 0.5),
        "h^2/m2 times what viscosity leaves",
    ),
    Reference(
        "small_mass",
        "pair_orders",
        "orders of LobattoPair(3) there, 1e-10 kg at the tip",
        (2, 2),
        0.1,
        "theory: an explicit last stage",
    ),
    Reference(
        "spring_pendulum",
        "end",
        "mass (x, y, z) [m] at t = 1 s",
        (0.0213319317, 0.7239137315, -0.7239137315),
        1e-8,
        f"Kinon, Betsch, 6.2, {AGAIN}",
    ),
    Reference(
        "spring_pendulum",
        "energy",
        "largest deviation of the energy [J], h = 0.01",
        2.9e-4,
        0.05e-4,
        "Kinon, Betsch, 6.2",
    ),
    Reference(
        "flexible_arm",
        "lag",
        "largest lag of the tip [m]",
        -0.57383,
        3e-5,
        "geometrically exact beam, computed again",
    ),
    Reference("flexible_arm", "stretch", "stretch of the arm in steady turning [m]", 5.142857e-4, 1e-6, "exact"),
    Reference("flexible_arm", "balance", "what the energy balance misses [J]", 0.0, 1e-9, "balance"),
    Reference(
        "suspension",
        "angle",
        "angle of the arms [rad] at t = 0.05, 0.15, 0.5 s",
        (-0.03305642856774, -0.02388256459612, -0.02561772475557),
        1e-9,
        "equation of the angle, SciPy DOP853",
    ),
    Reference("suspension", "balance", "what the energy balance misses [J]", 0.0, 1e-10, "balance"),
    Reference(
        "two_masses",
        "left",
        "energy [J] at t = 2000 s, Lobatto IIIC",
        47.9551052264597,
        1e-11,
        "stability function, exact arithmetic",
    ),
    Reference("two_masses", "kept", "energy [J] at all times until 2000 s, Gauss", 48.0, 48e-12, "conservation"),
)

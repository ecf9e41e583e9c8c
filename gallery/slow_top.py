"""A slowly turning heavy top in Euler angles, in quaternions and in directors: one motion, three sets of coordinates.

002, Example 6: m = 15, centre of mass at (0, 1, 0) from the tip, inertia about the tip diag(15.234375, 0.46875,
15.234375), R(0) = Ry(90 deg), Omega(0) = (0, 1.5, -0.0461538) in the body. Euler angles, R = Rz(psi) Ry(theta) Rz(phi),
are a Lagrangian in SymPy without constraints. The nutation theta comes down to 0.059 rad, next to the singular
position: for a moment the rates of the angles reach 43 rad/s in norm, nine times those of the top, and
steps have to follow (79 with rtol = 1e-9; quaternions 33, directors 54). Quaternions with p.p = 1 and directors
know nothing of it. The mass matrix of quaternions is singular along p, that of the directors because the top is a flat
disc; the constraints make up for both.

Numbers: angular velocity in the body at t = 0.5, 1, 1.5 and 2 s, largest rates, and the smallest nutation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from matplotlib.figure import Figure

import porthos as ph
from gallery import heavy_top
from gallery._common import Number, write_figures
from porthos.notation import Array
from porthos.show.axes import label, legend, new_figure

MASS, GRAVITY = heavy_top.MASS, 9.81
INERTIA = np.array(heavy_top.MOMENTS) + MASS * np.array([1.0, 0.0, 1.0])  # about the tip
START = (0.0, 1.5, -0.0461538)  # Omega
KINDS = ("Euler angles", "quaternions", "directors")
TIMES = (0.5, 1.0, 1.5, 2.0)
FASTEST = np.r_[np.linspace(1.0852, 1.0872, 11), np.linspace(1.775, 1.785, 3)]  # Euler angles, and the top


def _lagrangian(Omega: sp.Matrix, height: sp.Expr) -> sp.Expr:
    """T - V of the top with its tip at the origin."""
    return sum(J * w**2 for J, w in zip(INERTIA, Omega, strict=True)) / 2 - MASS * GRAVITY * height


def euler() -> ph.Lagrangian:
    """In psi (precession), theta (nutation) and phi (spin), without constraints."""
    angles, rates = sp.symbols("psi theta phi", real=True), sp.symbols("psi_rate theta_rate phi_rate", real=True)
    L = _lagrangian(sp.Matrix(body_rates(angles, rates, sp)), sp.sin(angles[1]) * sp.sin(angles[2]))
    return ph.Lagrangian(
        L, angles, rates, initial=([0, np.pi / 2, 0], [0, START[1], START[2]]), name="top, Euler angles"
    )


def body_rates(angles: Any, rates: Any, functions: Any = np) -> list[Any]:
    """Omega of Euler angles and their rates: Rz(phi)^T (-sin theta psi', theta', cos theta psi') + (0, 0, phi')."""
    (_, theta, phi), (psi_rate, theta_rate, phi_rate) = angles, rates
    sin, cos = functions.sin, functions.cos
    first, second, third = -sin(theta) * psi_rate, theta_rate, cos(theta) * psi_rate
    return [cos(phi) * first + sin(phi) * second, cos(phi) * second - sin(phi) * first, third + phi_rate]


def quaternions() -> ph.Lagrangian:
    """In p with p.p = 1 and Omega = 2 vec(p* p')."""
    p, rates = sp.symbols("p0:4", real=True), sp.symbols("r0:4", real=True)
    L = _lagrangian(sp.Matrix(quaternion_rates(p, rates)), 2 * (p[2] * p[3] + p[0] * p[1]))
    half = np.sqrt(0.5)
    start = half / 2 * np.array([-START[1], START[2], START[1], START[2]])  # p * (0, Omega)/2 with Omega_1 = 0
    constraint = sum(each**2 for each in p) - 1
    return ph.Lagrangian(
        L, p, rates, constraints=[constraint], initial=([half, 0, half, 0], start), name="top, quaternions"
    )


def quaternion_rates(p: Any, r: Any) -> list[Any]:
    """Omega = 2 vec(p* p')."""
    return [
        2 * (p[0] * r[1] - p[1] * r[0] - p[2] * r[3] + p[3] * r[2]),
        2 * (p[0] * r[2] - p[2] * r[0] - p[3] * r[1] + p[1] * r[3]),
        2 * (p[0] * r[3] - p[3] * r[0] - p[1] * r[2] + p[2] * r[1]),
    ]


def model() -> ph.Model:
    """In directors: a body on a ball joint."""
    R = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    centre, spin = R @ heavy_top.CENTRE, R @ np.array(START)
    top = ph.Model("slow top", gravity=(0, 0, -GRAVITY))
    top.body(
        "top", ph.Inertia(MASS, heavy_top.MOMENTS), position=centre, rotation=R, velocity=np.cross(spin, centre),
        angular_velocity=spin,
    )  # fmt: skip
    top.spherical("tip", top.ground, "top", at=(0, 0, 0))
    return top


def run(
    kind: str = "directors", rtol: float = 1e-7, times: Array | None = None
) -> ph.Trajectory | ph.StateTrajectory:  # fmt: skip
    """Simulate the top for 2 s with DOP853 and steps that follow a tolerance; `times` keeps only these."""
    made = {"Euler angles": euler, "quaternions": quaternions, "directors": model}[kind]()
    return ph.simulate(made, ph.DOP853(), ph.Adaptive(rtol, 1e-2 * rtol), 2.0, times=times)


def angular_velocity(result: ph.Trajectory | ph.StateTrajectory) -> Array:
    """Omega (K, 3) in the body."""
    if isinstance(result, ph.Trajectory):
        top = result["top"]
        return np.einsum("kij,ki->kj", top.rotation, top.angular_velocity)
    n = result.system.n  # type: ignore[attr-defined] # of a Lagrangian
    states = result.x[:, :n].T, result.x[:, n : 2 * n].T
    return np.array(body_rates(*states) if n == 3 else quaternion_rates(*states)).T


def rate_size(result: ph.Trajectory | ph.StateTrajectory) -> Array:
    """The norm (K,) of the rates of the coordinates; of directors that of Omega."""
    if isinstance(result, ph.Trajectory):
        return np.linalg.norm(angular_velocity(result), axis=1)
    n = result.system.n  # type: ignore[attr-defined] # of a Lagrangian
    return np.linalg.norm(result.x[:, n : 2 * n], axis=1)


def number(rtol: float = 1e-9) -> Number:
    """Omega at `TIMES` (4, 3) by name of the coordinates, the largest rates (3,), and the smallest nutation [rad]."""
    runs = {kind: run(kind, rtol, np.concatenate([TIMES, FASTEST])) for kind in KINDS}
    places = np.flatnonzero(np.isin(runs["directors"].t, TIMES))
    found: Number = {kind: angular_velocity(each)[places] for kind, each in runs.items()}
    found["rates"] = np.array([rate_size(each).max() for each in runs.values()])
    found["nutation"] = float(runs["Euler angles"].x[:, 1].min())  # type: ignore[union-attr] # of a Lagrangian
    return found


def figures() -> dict[str, Figure]:
    """Rates of the coordinates and sizes of steps over time, and the angular velocity."""
    runs, result = {kind: run(kind) for kind in KINDS}, {}
    for name, text in {"rates": "rate of the coordinates [1/s]", "steps": "step [s]"}.items():
        figure, (ax,) = new_figure()
        for kind, one in runs.items():
            ax.plot(one.t[1:], rate_size(one)[1:] if name == "rates" else np.diff(one.t), label=kind)
        label(ax, text, log=True)
        legend(ax, columns=3, outside=True)
        result[name] = figure
    figure, (ax,) = new_figure()
    for k, values in enumerate(angular_velocity(runs["directors"]).T):
        ax.plot(runs["directors"].t, values, label=rf"$\Omega_{k + 1}$")
    label(ax, "angular velocity in the body [rad/s]")
    legend(ax, columns=3, outside=True)
    return result | {"angular_velocity": figure}


def main() -> None:
    """Print the rates and steps of all coordinates and write the figures."""
    for kind, rate in zip(KINDS, np.asarray(number()["rates"]), strict=True):
        print(f"{kind:13} largest rate {rate:6.2f} 1/s, {run(kind, 1e-9).t.size - 1:4} steps")
    for path in write_figures("slow_top", figures()):
        print(f"figure written to {path}")


if __name__ == "__main__":
    main()

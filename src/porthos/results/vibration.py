"""A mode of vibration as a run, so that all that shows runs shows modes too."""

from __future__ import annotations

import numpy as np

from porthos.errors import PorthosError, Status
from porthos.integrate.march import March
from porthos.integrate.recording import States
from porthos.integrate.tableaus import gauss
from porthos.notation import Array
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.system.coefficients import moved
from porthos.system.mechanical import MechanicalSystem
from porthos.system.modes import Modes
from porthos.system.nodal import rigid_velocity

SHARE = 0.1  # of the length of the mechanism, by which the body that moves furthest is displaced


def vibration(
    modes: Modes, mode: int, amplitude: float | None, periods: int, frames: int
) -> Trajectory | StateTrajectory:
    """Displaced by amplitude Re(shape exp(i omega t)) from the state of rest, without damping."""
    if not 0 <= mode < len(modes):
        raise PorthosError(f"'{modes.system.name}' has modes 0 to {len(modes) - 1}, found {mode!r}.")
    omega = float(modes.angular_frequencies[mode])
    if omega == 0.0:
        found = f"mode {mode} of '{modes.system.name}' has s = {modes.eigenvalues[mode]:.3g}"
        raise PorthosError(f"motion: {found}, so it does not oscillate. Choose one with a frequency above zero.")
    if not (periods >= 1 and frames >= 2):
        raise PorthosError(f"motion: expected periods >= 1 and frames >= 2, found {periods!r} and {frames!r}.")
    t = np.linspace(0.0, periods * 2 * np.pi / omega, periods * frames + 1)
    system, title = getattr(modes.system, "system", None), f"mode {mode} at {omega / (2 * np.pi):.6g} Hz"
    if isinstance(system, MechanicalSystem):
        return Trajectory(system, _of_bodies(system, modes, mode, amplitude, omega, t), title)
    return StateTrajectory(
        modes.system, _of_states(modes, mode, 1.0 if amplitude is None else amplitude, omega, t), title
    )


def _of_bodies(
    system: MechanicalSystem, modes: Modes, mode: int, amplitude: float | None, omega: float, t: Array
) -> March:
    parts = [modes.displacement(mode, body) for body in system.body_names]
    shape = np.array([np.concatenate([part.translation, part.rotation]) for part in parts])
    largest = max(float(np.abs(shape[:, :3]).max()), float(np.abs(shape[:, 3:]).max()) * system.length)
    shape = shape * (SHARE * system.length / largest if amplitude is None else amplitude)
    rest = system.to_kernel(modes.state[: system.n])
    q, v = (np.zeros((t.size, *rest[:-1].shape)) for _ in range(2))
    for k, phase in enumerate(np.exp(1j * omega * t)):
        config = moved(rest, (shape * phase).real)
        config[np.setdiff1d(np.arange(len(parts)), system.rigid), 1:] = np.eye(3)
        q[k], v[k] = config[:-1], rigid_velocity(system, config, (1j * omega * shape * phase).real)[:-1]
    rows, loads, none = system.moving.row.size, len(system.channel_names), np.zeros(t.size, dtype=np.int64)
    sizes = ((loads, 6), (rows,), (loads, 6), (loads,), (len(system.element_names),), (system.moving.law.size,))
    wrench, lam, y, work, loss, angle = (np.zeros((t.size, *size)) for size in sizes)
    return March(t, q, v, wrench, lam, y, work, loss, angle, none, Status.OK, Status.OK.value)


def _of_states(modes: Modes, mode: int, amplitude: float, omega: float, t: Array) -> States:
    system = modes.system
    x = modes.state + amplitude * (np.exp(1j * omega * t)[:, None] * modes.shapes[mode]).real
    u = np.array([system.fed(time) for time in t.tolist()])
    y = np.array([system.y(*state) for state in zip(x, u, t.tolist(), strict=True)])
    unknown, nothing = np.full_like(x, np.nan), np.zeros(t.size)
    exchange, increments = np.zeros((t.size, len(system.inner_ports))), np.zeros((0, 1, system.dimension))
    return States(
        t, x, u, y, unknown, np.full_like(y, np.nan), np.zeros_like(u), exchange, nothing,
        nothing.astype(np.int64), increments, gauss(1), Status.OK, Status.OK.value,
    )  # fmt: skip

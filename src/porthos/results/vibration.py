"""A mode of vibration as a run, so that all that shows runs shows modes too."""

from __future__ import annotations

import numpy as np

from porthos.errors import PorthosError, Status
from porthos.integrate.march import March
from porthos.results.trajectory import Trajectory
from porthos.system.coefficients import moved
from porthos.system.mechanical import MechanicalSystem
from porthos.system.modes import Modes
from porthos.system.nodal import rigid_velocity

SHARE = 0.1  # of the length of the mechanism, by which the body that moves furthest is displaced


def vibration(modes: Modes, mode: int, amplitude: float | None, periods: int, frames: int) -> Trajectory:
    """Bodies displaced by amplitude Re(shape exp(i omega t)) from the place of rest, without damping."""
    system = getattr(modes.system, "system", None)
    if not isinstance(system, MechanicalSystem):
        raise PorthosError(f"'{modes.system.name}' has no bodies to move; ask for the shape of a state instead.")
    if not 0 <= mode < len(modes):
        raise PorthosError(f"'{system.name}' has modes 0 to {len(modes) - 1}, found {mode!r}.")
    omega = float(modes.angular_frequencies[mode])
    if omega == 0.0:
        found = f"mode {mode} of '{system.name}' has s = {modes.eigenvalues[mode]:.3g}"
        raise PorthosError(f"motion: {found}, so it does not oscillate. Choose one with a frequency above zero.")
    if not (periods >= 1 and frames >= 2):
        raise PorthosError(f"motion: expected periods >= 1 and frames >= 2, found {periods!r} and {frames!r}.")
    parts = [modes.displacement(mode, body) for body in system.body_names]
    shape = np.array([np.concatenate([part.translation, part.rotation]) for part in parts])
    largest = max(float(np.abs(shape[:, :3]).max()), float(np.abs(shape[:, 3:]).max()) * system.length)
    shape = shape * (SHARE * system.length / largest if amplitude is None else amplitude)
    t = np.linspace(0.0, periods * 2 * np.pi / omega, periods * frames + 1)
    rest = system.to_kernel(modes.state[: system.n])
    q, v = (np.zeros((t.size, *rest[:-1].shape)) for _ in range(2))
    for k, phase in enumerate(np.exp(1j * omega * t)):
        config = moved(rest, (shape * phase).real)
        config[np.setdiff1d(np.arange(len(parts)), system.rigid), 1:] = np.eye(3)
        q[k], v[k] = config[:-1], rigid_velocity(system, config, (1j * omega * shape * phase).real)[:-1]
    rows, loads, none = system.moving.row.size, len(system.terminals), np.zeros(t.size, dtype=np.int64)
    sizes = ((loads, 6), (rows,), (loads, 6), (loads,), (len(system.element_names),))
    wrench, lam, y, work, loss = (np.zeros((t.size, *size)) for size in sizes)
    raw = March(t, q, v, wrench, lam, y, work, loss, none, Status.OK, Status.OK.value)
    return Trajectory(system, raw, f"mode {mode} at {omega / (2 * np.pi):.6g} Hz")

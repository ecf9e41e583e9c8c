"""Free vibrations about a state of rest: A x = s E x with finite s, and the motion of bodies in each mode.

s = -delta +- i omega_d:   omega = |s|,   damping ratio = delta/|s|,   frequency = |Im s|/(2 pi).
Constraints hold on position and velocity level, so a mechanism with f degrees of freedom has 2 f eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from porthos.errors import PorthosError, nearest
from porthos.model.model import Model
from porthos.notation import Array, number, numbers
from porthos.system.descriptor import Descriptor
from porthos.system.drives import require_plain
from porthos.system.equilibrium import equilibrium, held_at, place_of_rest
from porthos.system.linearize import finite_part, pencil
from porthos.system.mechanical import MechanicalSystem
from porthos.system.small_motions import ComplexArray, small_motions

if TYPE_CHECKING:
    from porthos.results.states import StateTrajectory
    from porthos.results.trajectory import Trajectory

STILL = 1e-7  # eigenvalue, relative to the largest, that counts as zero


@dataclass(frozen=True)
class Displacement:
    """How a body moves in a mode, in world axes: complex amplitudes, real where all move in phase."""

    translation: ComplexArray  # of the centre of mass (3,)
    rotation: ComplexArray  # (3,), in rad


@dataclass(frozen=True)
class Modes:
    """Eigenvalues and shapes of small motions about a state, slowest first; of a conjugate pair the upper one."""

    system: Descriptor  # whose states are those of the shapes
    state: Array
    eigenvalues: ComplexArray  # (k,), Im >= 0
    shapes: ComplexArray  # (k, n), largest entry one, of mechanisms among q
    all_eigenvalues: ComplexArray  # conjugates included

    @cached_property
    def frequencies(self) -> Array:
        """|Im s|/(2 pi) in Hz (k,); 0 for modes that do not oscillate."""
        return np.abs(self.eigenvalues.imag) / (2 * np.pi)

    @property
    def angular_frequencies(self) -> Array:
        """|Im s| in rad/s (k,)."""
        return np.abs(self.eigenvalues.imag)

    @cached_property
    def damping(self) -> Array:
        """Damping ratios -Re s/|s| (k,): 1 decays without oscillation, below 0 it grows, 0 for s = 0."""
        size = np.abs(self.eigenvalues)
        return np.where(size > 0.0, -self.eigenvalues.real / np.where(size > 0.0, size, 1.0), 0.0) + 0.0  # no -0

    @property
    def stable(self) -> bool:
        """Whether no mode grows."""
        return bool(np.all(self.all_eigenvalues.real <= STILL * np.abs(self.all_eigenvalues).max(initial=1.0)))

    def __len__(self) -> int:
        return self.eigenvalues.size

    def shape(self, mode: int, state: str) -> ComplexArray:
        """The part of a mode's shape that belongs to a part of the state."""
        return self.shapes[mode, self.system.block(state)]

    def displacement(self, mode: int, body: str) -> Displacement:
        """How a body of a mechanism moves in a mode."""
        mechanism = getattr(self.system, "system", None)
        if not isinstance(mechanism, MechanicalSystem):
            raise PorthosError(f"'{self.system.name}' has no bodies; ask for the shape of a state instead.")
        if body not in mechanism.body_names:
            raise PorthosError(f"system '{mechanism.name}' has no body '{body}'. {nearest(body, mechanism.body_names)}")
        moved, q = self.shape(mode, f"q of '{body}'"), self.state[self.system.block(f"q of '{body}'")]
        turned = np.zeros(3, dtype=np.complex128)
        if q.size > 3:
            turned = 0.5 * np.cross(q[3:].reshape(3, 3), moved[3:].reshape(3, 3)).sum(axis=0)
        return Displacement(moved[:3], turned)

    def motion(
        self, mode: int, amplitude: float | None = None, periods: int = 2, frames: int = 48
    ) -> Trajectory | StateTrajectory:
        """A mode as a run, of a mechanism to be shown: modes.motion(0).report("mode.html"), or .export("mode.gif").

        `amplitude` scales the shape; by default the furthest displacement is a tenth of the length of the mechanism, or
        the largest entry of another system one. It is a motion in the linear sense: energy and constraints hold to
        second order in the amplitude.
        """
        from porthos.results.vibration import vibration

        return vibration(self, mode, amplitude, periods, frames)

    def summary(self) -> str:
        """A line for each mode."""
        lines = [f"{self.system.name}: {len(self)} modes, {'stable' if self.stable else 'UNSTABLE'}"]
        for k, s in enumerate(self.eigenvalues):
            lines.append(f"  {k}  {self.frequencies[k]:12.6g} Hz  damping {self.damping[k]:8.4f}  s = {s:.6g}")
        return "\n".join(lines)


def modes(
    model: Model | Descriptor, state: Array | None = None, inputs: Array | None = None, time: float = 0.0
) -> Modes:
    """Free vibrations of a model or system about the state of rest next to its initial placement, or next to `state`.

    Loads count as they are at a `time`, ports as zero unless `inputs` gives them. Drives hold the value that they have
    then; one that moves at that time has no state of rest.
    """
    if not isinstance(model, Model | Descriptor):
        raise PorthosError(f"modes: expected a model or a system, found {model!r}.")
    system: Any = model.assemble() if isinstance(model, Model) else model
    t = number(time, "modes: time")
    given = None if state is None else system.as_state(state, "modes: state: ")
    u = system.fed(t) if inputs is None else numbers(inputs, "modes: inputs", f"{system.width} numbers")
    if u.shape != (system.width,):
        raise PorthosError(f"modes: inputs: expected {system.width} number(s) for {[*system.ports]}, found {inputs!r}.")
    if isinstance(system, MechanicalSystem):
        system, start = held_at(system, t, given)
        require_plain(system, "modes")
        u = u[: system.width]  # those of drives come last
        x = place_of_rest(system, start, u)
        values, shapes = small_motions(system, x, u)
        none = np.zeros((len(values), system.m))  # GGL's second multipliers vanish in all motions
        return _sorted(system.formulation("GGL"), np.append(x, none[0]), values, np.hstack([shapes, none]), system.n)
    x = equilibrium(system, system.initial_state() if given is None else given, u, t)
    F, Z = finite_part(*pencil(system, x, u, t))
    values, vectors = np.linalg.eig(F)
    # a motion without restoring force is a double zero, of which round-off makes pairs of its square root
    noise = STILL * max(float(np.abs(values).max(initial=0.0)), float(np.sqrt(np.linalg.norm(F))))
    real, imaginary = (np.where(np.abs(part) <= noise, 0.0, part) for part in (values.real, values.imag))
    return _sorted(system, x, real + 1j * imaginary, (Z @ vectors).T, len(x))


def _sorted(system: Descriptor, x: Array, values: ComplexArray, shapes: ComplexArray, measured: int) -> Modes:
    """Slowest first, one of each conjugate pair; the largest of the first `measured` entries of a shape is one."""
    kept = np.flatnonzero(values.imag >= 0.0)
    kept = kept[np.lexsort((values[kept].real, np.abs(values[kept])))]
    shapes = shapes[kept]
    largest = np.take_along_axis(shapes, np.abs(shapes[:, :measured]).argmax(axis=1)[:, None], axis=1)
    return Modes(system, x, values[kept], shapes / largest, values)

"""A flexible beam of a run: its centre line, strains, section forces and moments."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from porthos.errors import PorthosError, is_among, nearest
from porthos.notation import Array, IntArray
from porthos.results.views import described

if TYPE_CHECKING:
    from porthos.results.trajectory import Trajectory


def beam_named(run: Trajectory, name: str) -> BeamView:
    """The beam, or an error that names those that there are."""
    beams: dict[str, dict[str, Any]] = {one["name"]: one for one in run.system.description.get("beams", [])}
    if not is_among(name, beams):
        known = nearest(str(name), beams) if beams else "It has no beams; model.beam(...) adds one."
        raise PorthosError(f"'{run.system.name}' has no beam '{name}'. {known}")
    return BeamView(run, beams[name])


class BeamView:
    """One beam of a run with n segments; every array has time as its first axis.

    Strains, forces and moments are those of segments, along and about their axes 1 (width), 2 (height), 3 (the beam).
    """

    def __init__(self, run: Trajectory, about: dict[str, Any]) -> None:
        self._run, self._about = run, about

    def __repr__(self) -> str:
        return described(self, "beam", self.name, self._run)

    @property
    def name(self) -> str:
        """Its name in the model."""
        return str(self._about["name"])

    @property
    def section(self) -> dict[str, Any]:
        """Type and sizes of its cross-section."""
        return dict(self._about["section"])

    @property
    def _nodes(self) -> IntArray:
        return np.array([self._run.system.body_index(name) for name in self._about["nodes"]], dtype=np.int64)

    @property
    def _segments(self) -> IntArray:
        return np.array([self._run.system.element_index(name) for name in self._about["segments"]], dtype=np.int64)

    @property
    def arc_length(self) -> Array:
        """Places of the nodes along the beam without load (n + 1,)."""
        return np.linspace(0.0, float(self._about["length"]), len(self._about["nodes"]))

    @property
    def position(self) -> Array:
        """The centre line (T, n + 1, 3)."""
        return self._run.raw.q[:][:, self._nodes, 0]

    @property
    def rotation(self) -> Array:
        """Axes of the cross-sections at the nodes, as columns (T, n + 1, 3, 3)."""
        views = [self._run[name].rotation for name in self._about["nodes"]]
        return np.stack(views, axis=1)

    @cached_property
    def _states(self) -> tuple[Array, Array]:
        """Measures and forces (T, n, 6) of the laws of all segments."""
        views = [self._run.element(name) for name in self._about["segments"]]
        return np.stack([view.measure for view in views], axis=1), np.stack([view.force for view in views], axis=1)

    @property
    def _lengths(self) -> float:
        return float(self._about["length"]) / len(self._about["segments"])

    @property
    def strain(self) -> Array:
        """Shear along 1 and 2 and stretch (T, n, 3)."""
        return (self._states[0] - np.asarray(self._about["rest"]))[:, :, :3] / self._lengths

    @property
    def curvature(self) -> Array:
        """Bending about 1 and 2 and twist in rad/m (T, n, 3), against those without load."""
        rest = np.arcsin(np.asarray(self._about["rest"])[:, 3:])
        return (np.arcsin(np.clip(self._states[0][:, :, 3:], -1.0, 1.0)) - rest) / self._lengths

    @property
    def force(self) -> Array:
        """Shear forces and axial force in N (T, n, 3); positive if they pull."""
        return self._states[1][:, :, :3]

    @property
    def moment(self) -> Array:
        """Bending moments and torque in N m (T, n, 3)."""
        sine = np.clip(self._states[0][:, :, 3:], -1.0, 1.0)
        return self._states[1][:, :, 3:] * np.sqrt(1.0 - sine**2)  # forces of laws belong to the sines of angles

    @property
    def energy(self) -> Array:
        """What it stores (T,)."""
        return self._run.element_energy[:, self._segments].sum(axis=1)

    @property
    def dissipated(self) -> Array:
        """Energy that its damping has taken since the start (T,)."""
        return np.cumsum(self._run.raw.loss[:][:, self._segments].sum(axis=1))

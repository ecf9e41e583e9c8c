"""Mechanisms in Porthos: ph.Model from the plain data, ph.simulate with the midpoint schemes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import porthos as ph
from benchmarks.case import Case, Code, Record
from benchmarks.models import GROUND, Mechanism
from porthos.integrate.scheme import Scheme


class PorthosCase(Case):
    """One mechanism with one scheme."""

    def __init__(self, mechanism: Mechanism, scheme: Scheme) -> None:
        self.setting = repr(scheme)
        self._scheme, self._system = scheme, _system(mechanism)

    def run(self, h: float, steps: int) -> None:
        """Simulate; only the last state is kept."""
        self._simulate(h, steps, every=steps)

    def record(self, h: float, steps: int, every: int) -> Record:
        """Simulate and keep every `every`-th state."""
        run = self._simulate(h, steps, every)
        return Record(run.q.reshape(run.t.size, -1, 12)[:, :, :3], run.energy, run.kinetic_energy)

    def _simulate(self, h: float, steps: int, every: int) -> ph.Trajectory:
        run = ph.simulate(self._system, self._scheme, step=h, end=h * steps, every=every, progress=False)
        self.iterations = float(run.iterations.sum()) / steps
        return run


@lru_cache(maxsize=1)
def _system(mechanism: Mechanism) -> ph.MechanicalSystem:
    """Assembled once for both schemes; values off the constraints are refused, since the other codes get the same."""
    return model(mechanism).assemble("refuse")


def model(mechanism: Mechanism) -> ph.Model:
    """The mechanism as a model of Porthos; body k has the name `k`."""
    result = ph.Model(mechanism.name, gravity=mechanism.gravity)
    for k, b in enumerate(mechanism.bodies):
        result.body(str(k), ph.Inertia(b.mass, b.moments), b.position, b.rotation, b.velocity, b.angular_velocity)
    for k, j in enumerate(mechanism.joints):
        a, b = (result.ground if part == GROUND else str(part) for part in (j.a, j.b))
        match j.kind:
            case "spherical":
                result.spherical(f"joint {k}", a, b, at=j.at)
            case "revolute":
                result.revolute(f"joint {k}", a, b, at=j.at, axis=j.axis)
            case "prismatic":
                result.prismatic(f"joint {k}", a, b, at=j.at, axis=j.axis)
            case "universal":
                result.universal(f"joint {k}", a, b, at=j.at, axis_a=j.axis, axis_b=j.axis_b)
            case _:
                raise ValueError(f"{mechanism.name}: the Porthos adapter has no joint of kind '{j.kind}'.")
    for k, s in enumerate(mechanism.springs):
        a, b = (result.ground if part == GROUND else str(part) for part in (s.a, s.b))
        result.spring(f"spring {k}", a, b, s.point_a, s.point_b, stiffness=s.stiffness, length=s.length)
    return result


def _code(label: str, scheme: Scheme) -> Code:
    def settings(mechanism: Mechanism) -> Iterator[Scheme]:
        del mechanism
        yield scheme

    return Code(label, settings, PorthosCase, ours=True)


MIDPOINT = _code("Porthos Midpoint", ph.Midpoint())
GGL = _code("Porthos MidpointGGL", ph.MidpointGGL())

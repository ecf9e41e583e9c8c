"""What of a run a study compares: q, v and lambda at its end, and how far it left what should stay.

Mechanisms and Lagrangians, in all their forms, have positions, velocities and multipliers, which are those that belong
to the accelerations unless a form was chosen, which has those of the method. Of other systems the states
with a rate take the place of positions, the algebraic ones that of multipliers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from porthos.integrate.adaptive_march import with_rate
from porthos.notation import Array
from porthos.results.lagrangian import LagrangianTrajectory
from porthos.results.states import StateTrajectory
from porthos.results.trajectory import Trajectory
from porthos.results.verdict import EXACT, TINY, momentum_sizes
from porthos.system.descriptor import Descriptor
from porthos.system.formulations import MechanicalForm
from porthos.system.lagrangian_system import IndexOneForm, LagrangianSystem
from porthos.system.mechanical import MechanicalSystem
from porthos.system.motion import motion_of

AnyRun = Trajectory | StateTrajectory
NONE = np.zeros(0)


class End(NamedTuple):
    """The last state of a run; parts that a system does not have are empty."""

    q: Array
    v: Array
    multipliers: Array


def end_of(run: AnyRun) -> End:
    """Positions, velocities and multipliers at the end; none of the last where joints repeat rows of others."""
    last = np.array([0, run.t.size - 1])
    if isinstance(run, Trajectory):
        both = run.thinned(last)
        return End(run.q[-1], run.v[-1], NONE if both.uniqueness.always else both.multipliers[-1])
    motion, x = _motion(run.system), run.x[-1]
    if motion is not None:
        q, v, own = np.split(x, [motion.n, 2 * motion.n])
        return End(q, v, run.thinned(last).multipliers[-1] if run.recomputes else own)
    moving = with_rate(run.system, run.x[0])
    return End(x[moving], NONE, x[~moving])


def gaps(run: AnyRun) -> tuple[float, float]:
    """The largest |g| and |G v| of all recorded states; NaN where there are none.

    Of systems without positions the first is the largest gap of their algebraic equations.
    """
    if isinstance(run, Trajectory):
        return float(run.position_error.max()), float(run.velocity_error.max())
    system, times = _motion(run.system), run.t.tolist()
    if system is None:
        if with_rate(run.system, run.x[0]).all():
            return np.nan, np.nan
        found = (run.system.algebraic_gap(*state) for state in zip(run.x, run.u, times, strict=True))
        return max(float(np.abs(gap).max()) for gap in found), np.nan
    if system.m == 0:
        return np.nan, np.nan
    motion, n = motion_of(system), system.n
    states = [(t, x[:n], x[n : 2 * n]) for t, x in zip(times, run.x, strict=True)]
    g = max(float(np.abs(motion.gap(t, q)).max()) for t, q, _ in states)
    return g, max(float(np.abs(motion.rate(*state)).max()) for state in states)


def energy_defect(run: AnyRun) -> float:
    """The largest gap of the energy balance, relative to the energy that moves."""
    H = run.energy if isinstance(run, Trajectory) else run.H
    size = max(TINY, float(np.abs(_moving_energy(run)).max()), float(np.ptp(H)))
    return float(np.abs(np.cumsum(run.power_balance)).max() / size)


def momenta(run: AnyRun) -> tuple[Array, Array]:
    """Linear and angular momentum, or dL/dv of Lagrangians (T, k), and the size of each (k,); empty elsewhere."""
    if isinstance(run, Trajectory):
        return np.hstack([run.linear_momentum, run.angular_momentum]), np.repeat(momentum_sizes(run), 3)
    if not isinstance(run.system, LagrangianSystem):
        return np.zeros((run.t.size, 0)), NONE
    if isinstance(run, LagrangianTrajectory):
        p = run.p
    else:
        states, terms = (run.system.split(x) for x in run.x), run.system.terms
        p = np.array([terms.Lv(q, v) for q, v, _ in states])
    return p, np.full(run.system.n, np.abs(p).max(initial=0.0))


def kept_momenta(run: AnyRun) -> NDArray[np.bool_]:
    """Which momenta a run keeps, within 1e-9 of their size."""
    values, sizes = momenta(run)
    return np.ptp(values, axis=0) <= EXACT * np.maximum(sizes, TINY)


def momentum_drift(run: AnyRun, kept: NDArray[np.bool_]) -> float:
    """The largest change of the momenta that should be kept, relative to their size; NaN if there are none."""
    values, sizes = momenta(run)
    drift = np.abs(values - values[0]).max(axis=0) / np.maximum(sizes, TINY)
    return float(drift[kept].max()) if kept.any() else np.nan


def _motion(system: Descriptor) -> MechanicalSystem | LagrangianSystem | None:
    """The mechanism or Lagrangian whose (q, v) the state begins with."""
    inner = system.system if isinstance(system, MechanicalForm | IndexOneForm) else system
    return inner if isinstance(inner, MechanicalSystem | LagrangianSystem) else None


def _moving_energy(run: AnyRun) -> Array:
    """Kinetic energy where there are velocities, v.dL/dv/2 of Lagrangians; else H."""
    if isinstance(run, Trajectory):
        return run.kinetic_energy
    system = _motion(run.system)
    if system is None:
        return run.H
    V, n = run.x[:, system.n : 2 * system.n], system.n
    if isinstance(system, MechanicalSystem):
        return np.einsum("ti,ti->t", V, (system.M @ V.T).T) / 2
    return np.array([system.terms.Lv(x[:n], v) @ v for x, v in zip(run.x, V, strict=True)]) / 2

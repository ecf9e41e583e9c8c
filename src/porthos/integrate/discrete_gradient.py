"""The midpoint rule with a discrete gradient: exact power balance of every pH-DAE, for any smooth Hamiltonian.

w = E (x1 - x0) + h r = h ((J - R) zbar + (B - P) u),   zbar = z + w (H1 - H0 - z.w)/(w.w),   all else in the middle:
zbar.w = H1 - H0, hence   H1 - H0 = h (y.u - (zbar, u)^T W (zbar, u)),   y = (B + P)^T zbar + (S - N) u
                                                                       (Gonzalez's discrete gradient, for descriptors).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from porthos.integrate.runge_kutta import stage_equations, stage_matrix
from porthos.integrate.scheme import ENERGY, POSITION, Needs
from porthos.integrate.state_scheme import INSTEAD, Begin, Equations, IncrementScheme, IncrementStep, Step
from porthos.integrate.tableaus import Tableau, gauss
from porthos.notation import Array
from porthos.system.descriptor import Descriptor, Matrix, dense
from porthos.system.phdae import PHDAE

ROUND_OFF = 2 * float(np.finfo(np.float64).eps)  # gap of the energy, relative to its terms, that is none
UNBALANCED = 1e-11  # defect of the power balance, relative to the energies of a step, that is more than round-off
NEGLIGIBLE = 1e-4  # part of the change of z below which Newton's matrix, then sparse, does without the correction a w


@dataclass(frozen=True)
class _Middle:
    """What the equations of a step see: E, z, w, and a (n,), zbar = z + a w: one number for each part that stores."""

    x: Array
    E: Matrix
    z: Array
    w: Array
    a: Array

    @property
    def zbar(self) -> Array:
        """The discrete costate, zbar.w = H1 - H0."""
        return self.z + self.a * self.w


@dataclass(frozen=True)
class DiscreteGradient(IncrementScheme):
    """Second order, symmetric, with the exact power balance of any pH-DAE whose H is smooth.

    For quadratic H it is the midpoint rule, Gauss(1), and keeps momenta as that does; for others its correction does
    not. Algebraic equations hold in the middle of a step. Where H depends on time itself, a step in which w passes
    through zero may have no solution: it ends as one that Newton's method cannot make, and a smaller one passes by.
    """

    tolerance: float = 0.0
    max_iterations: int = 50

    needs = Needs((PHDAE,), "pH-DAEs, which have a costate z and an energy", INSTEAD)
    preserves = frozenset({ENERGY, POSITION})

    @property
    def tableau(self) -> Tableau:
        """One stage in the middle."""
        return gauss(1)

    def _costate_of(self, system: Descriptor) -> PHDAE:
        self.require(system)
        assert isinstance(system, PHDAE)
        return system

    def advance(self, at: Begin) -> IncrementStep:
        """A step whose updates no longer shrink is one only if its power balance holds."""
        step = super().advance(at)
        if not step.converged or not _curved(at.system) or self._balanced(at, step):
            return step
        return replace(step, found=replace(step.found, converged=False))

    def _balanced(self, at: Begin, step: IncrementStep) -> bool:
        """Whether zbar times the residual, the defect of the power balance, is small beside the energies."""
        ph, middle, dx = at.system, at.t + at.h / 2, step.increments[0]
        here = _middle(ph, at.h, middle, at.x0, dx, _energies(ph, at.x0, at.t))
        residual, _ = self.equations(ph, at.h, at.x0, at.u, np.array([middle]))
        size = abs(ph.H(at.x0, at.t)) + abs(ph.H(step.x, at.t + at.h)) + np.abs(here.zbar) @ np.abs(here.w)
        return bool(abs(here.zbar @ residual(dx)) <= max(UNBALANCED, self.tolerance) * size)

    def equations(self, system: Descriptor, h: float, x0: Array, u: Array, times: Array) -> Equations:
        """The midpoint rule minus h (J - R) a w; the derivative of a is that of second order in the increment.

        Without energy that is not quadratic it is the midpoint rule.
        """
        ph, t = self._costate_of(system), float(times[0])
        if not _curved(ph):
            return stage_equations(ph, self.tableau.A, h, x0, u, times)
        z0, H0 = ph.z(x0, t - h / 2), _energies(ph, x0, t - h / 2)

        def residual(dx: Array) -> Array:
            at = _middle(ph, h, t, x0, dx, H0)
            gap = h * ph.residual(at.x, dx / h, u[0], t)
            return gap - h * ph.response(at.x, at.a * at.w, t) if at.a.any() else gap

        def matrix(dx: Array) -> Matrix:
            at = _middle(ph, h, t, x0, dx, H0)
            A = stage_matrix(ph, np.array([[0.5]]), h, at.x[None], dx[None], u, times)
            if not at.a.any():
                return A
            z1 = ph.z(x0 + dx, t + h / 2)
            if not np.abs(at.a * at.w).max() > NEGLIGIBLE * np.abs(z1 - z0).max():
                return A
            turn, E = dense(ph.J(at.x, t) - ph.R(at.x, t)), dense(at.E)
            A = dense(A) - h * (turn * at.a) @ E
            bend = 0.5 * (z0 + z1) - at.z - 2 * at.a * at.w
            for place, _ in _curved(ph):
                w = at.w[place]
                if at.a[place].any():  # w da/dx1
                    A -= h * np.outer(turn[:, place] @ w, E[place].T @ bend[place] / (w @ w))
            return A

        return residual, matrix

    def powers(self, system: Descriptor, h: float, t: float, x0: Array, u: Array, step: Step) -> tuple[Array, ...]:
        """Output, loss and inner powers with the discrete costate."""
        ph, middle, v = self._costate_of(system), t + h / 2, u[0]
        if not _curved(ph):
            return super().powers(system, h, t, x0, u, step)
        at = _middle(ph, h, middle, x0, step.increments[0], _energies(ph, x0, t))
        if not at.a.any():
            return super().powers(system, h, t, x0, u, step)
        y, lost = ph.output_by(at.x, at.zbar, v, middle), ph.loss_by(at.x, at.zbar, v, middle)
        return y[None], np.array([lost]), ph.inner_power(at.x, v, middle, at.zbar)[None]


def _curved(system: PHDAE) -> list[tuple[slice, PHDAE]]:
    """The parts that store, and whose z in the middle is no discrete gradient yet."""
    return [(place, part) for place, part in system.storages if not part.quadratic]


def _energies(system: PHDAE, x: Array, t: float) -> list[float]:
    """H of each of these parts."""
    return [part.H(x[place], t) for place, part in _curved(system)]


def _middle(system: PHDAE, h: float, t: float, x0: Array, dx: Array, H0: list[float]) -> _Middle:
    """The middle of the step from x0, where parts store H0, to x0 + dx; its middle is at time t."""
    x, x1 = x0 + dx / 2, x0 + dx
    E, z = system.E(x, t), system.z(x, t)
    w = E @ dx + h * system.r(x, t)
    a = np.zeros(x.size)
    for (place, _), before, after in zip(_curved(system), H0, _energies(system, x1, t + h / 2), strict=True):
        gap, size = after - before - z[place] @ w[place], abs(before) + abs(after) + np.abs(z[place]) @ np.abs(w[place])
        if abs(gap) > ROUND_OFF * size and w[place].any():
            a[place] = gap / (w[place] @ w[place])
    return _Middle(x, E, z, w, a)

"""Formulations of a mechanical system, and those that are no pH-DAE: constraints on position level (000, 4.4.1, 7.3).

index 3:  q' = v,            M v' = B~ u - grad V - C v - G^T lambda,   0 = g(q)
GGL:      q' = v + G^T mu,   M v' = B~ u - grad V - C v - G^T lambda,   0 = G v,   0 = g(q)   (stabilised index 2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from porthos.errors import PorthosError, nearest
from porthos.notation import Array
from porthos.system.constrained import weights_of_motion
from porthos.system.descriptor import ANALYTIC, Descriptor
from porthos.system.mechanical import MechanicalSystem


class MechanicalForm(Descriptor):
    """A mechanical system in other equations: states (q, v, lambda), then multipliers `more` of each constraint.

    The stabilised ones of `system/accelerations.py` are forms of Lagrangians too.
    """

    title: str
    index_of_equations: ClassVar[int]
    more: tuple[str, ...] = ()

    def __init__(self, system: Any) -> None:
        self.system = system
        self.name = f"{system.name} ({self.title})"

    @property
    def dimension(self) -> int:
        """Number of states."""
        return self.system.dimension + len(self.more) * self.system.m

    @property
    def ports(self) -> Mapping[str, slice]:
        """The ports of the mechanical system."""
        return self.system.ports

    @property
    def blocks(self) -> Mapping[str, slice]:
        """Parts of the state; further multipliers are one block each."""
        first, m = self.system.dimension, self.system.m
        places = {name: slice(first + k * m, first + (k + 1) * m) for k, name in enumerate(self.more)}
        return {**self.system.blocks, **places}

    @property
    def sources(self) -> Mapping[str, Any]:
        """The loads of the mechanical system."""
        return self.system.sources

    def weights(self, h: float) -> Array:
        """Velocities follow from positions with index 3, multipliers from both with index 2 and 3."""
        n, m = self.system.n, self.system.m
        return weights_of_motion(n, (1 + len(self.more)) * m, self.index_of_equations, h)

    def initial_state(self) -> Array:
        """The initial state of the mechanical system; further multipliers are zero."""
        return np.concatenate([self.system.initial_state(), np.zeros(len(self.more) * self.system.m)])

    def split(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """(q, v, lambda, further multipliers) of a state; the last are empty unless there are some."""
        n, m = self.system.n, self.system.m
        q, v, lam, more = np.split(self.as_state(x), [n, 2 * n, 2 * n + m])
        return q, v, lam, more

    def H(self, x: Array, t: float = 0.0) -> float:
        """Kinetic plus potential energy."""
        return self.system.H(self.as_state(x)[: self.system.dimension])

    def E(self, x: Array, t: float = 0.0) -> sparse.csr_array:
        """diag(I, M, 0)."""
        return self._E

    @cached_property
    def _E(self) -> sparse.csr_array:
        rest = np.zeros((1 + len(self.more)) * self.system.m)
        return sparse.csr_array(
            sparse.diags_array(np.concatenate([np.ones(self.system.n), self.system.mass_diagonal, rest]))
        )


class Index3Form(MechanicalForm):
    """x = (q, v, lambda) with the constraints g(q) = 0 themselves."""

    system: MechanicalSystem
    title, index_of_equations = "index 3", 3
    tangent_cost = ANALYTIC

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(v, B~ u - grad V - C v - G^T lambda, g)."""
        q, v, lam, _ = self.split(x)
        return np.concatenate([v, self._force(t, q, v, lam, u), self.system.motion.gap(t, q)])

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> sparse.csr_array:
        """-df/dx."""
        q, v, lam, _ = self.split(x)
        one, G = sparse.eye_array(self.system.n), self.system.motion.G(t, q)
        stiffness, damping = self._tangent(t, q, v, lam, u)
        return _matrix([[None, -one, None], [stiffness, damping, G.T], [-G, None, _zero(G)]])

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """Those of the mechanism."""
        return self.system.y(self.as_state(x)[: self.system.dimension], u, t)

    def dissipation(self, x: Array, u: Array, t: float = 0.0) -> float:
        """v^T C v."""
        return self.system.dissipation(self.as_state(x)[: self.system.dimension], u, t)

    def _tangent(self, t: float, q: Array, v: Array, lam: Array, u: Array) -> tuple[Any, Any]:
        """Derivatives of G^T lambda - f with respect to q and v."""
        by_q, by_v = self.system.force_tangent(q, v, u)
        return self.system.motion.stiffness(t, q, lam) - by_q, -by_v

    def _force(self, t: float, q: Array, v: Array, lam: Array, u: Array) -> Array:
        return self.system.force(q, v, u) - self.system.motion.G(t, q).T @ lam


class StabilisedForm(Index3Form):
    """x = (q, v, lambda, mu) with the constraints on both levels, after Gear, Gupta and Leimkuhler."""

    title, more, index_of_equations = "GGL, index 2", ("mu",), 2

    def flow(self, x: Array, u: Array, t: float = 0.0) -> Array:
        """(v + G^T mu, B~ u - grad V - C v - G^T lambda, G v + g_t, g)."""
        (q, v, lam, mu), motion = self.split(x), self.system.motion
        rate = v + motion.G(t, q).T @ mu
        return np.concatenate([rate, self._force(t, q, v, lam, u), motion.rate(t, q, v), motion.gap(t, q)])

    def tangent(self, x: Array, rate: Array, u: Array, t: float = 0.0) -> sparse.csr_array:
        """-df/dx."""
        (q, v, lam, mu), motion = self.split(x), self.system.motion
        one, G = sparse.eye_array(self.system.n), motion.G(t, q)
        return _matrix(
            [
                [-motion.stiffness(t, q, mu), -one, None, -G.T],
                [*self._tangent(t, q, v, lam, u), G.T, None],
                [-motion.rate_slope(t, q, v), -G, _zero(G), None],
                [-G, None, None, _zero(G)],
            ]
        )

    def y(self, x: Array, u: Array | None = None, t: float = 0.0) -> Array:
        """B~^T q', the velocity of the point of action; with G v = 0 it belongs to the work of the forces."""
        q, v, lam, mu = self.split(x)
        rate = v + self.system.motion.G(t, q).T @ mu
        return self.system.y(np.concatenate([q, rate, lam]), u, t)


def formulation_of(system: MechanicalSystem, name: str, **options: float) -> Descriptor:
    """The formulation named 'index 3', 'index 2' (24), 'GGL', 'index 1' (61), or one of accelerations."""
    known = {
        "index 3": lambda: Index3Form(system),
        "index 2": lambda: system,
        "GGL": lambda: StabilisedForm(system),
        "index 1": lambda: system.ggl,
    }
    return chosen_form(system, known, name, options)


def chosen_form(
    system: Any, known: Mapping[str, Callable[[], Descriptor]], name: str, options: Mapping[str, float]
) -> Descriptor:
    """One of the forms of a system, or one of accelerations: 'Baumgarte, index 2' (87), 'Baumgarte, index 1'."""
    from porthos.system.accelerations import AccelerationForm, BaumgarteForm  # they are forms of this module

    stabilised = {form.title: form for form in (BaumgarteForm, AccelerationForm)}
    if name in stabilised and set(options) <= {"alpha"}:
        return stabilised[name](system, **options)
    if name in known and not options:
        return known[name]()
    if name in known or name in stabilised:
        raise PorthosError(
            f"system '{system.name}', formulation '{name}': found options {dict(options)}. Only the forms of Baumgarte "
            "have one, alpha."
        )
    raise PorthosError(f"system '{system.name}' has no formulation '{name}'. {nearest(name, [*known, *stabilised])}")


def _zero(G: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array((G.shape[0], G.shape[0]))


def _matrix(rows: list[list[Any]]) -> sparse.csr_array:
    return sparse.csr_array(sparse.block_array(rows, format="csr"))

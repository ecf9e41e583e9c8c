"""Time of a step of `Livens` on Lagrangians with four coordinates: compiled, and in plain NumPy.

`python -m benchmarks.lagrangian` prints microseconds a step; the plain version gets the derivatives by hand.
"""

from __future__ import annotations

import time

import numpy as np
import sympy as sp

import porthos as ph
from porthos.notation import Array
from porthos.system.lagrangian_system import LagrangianSystem

LINKS, GRAVITY, STEP = 4, 9.81, 1e-3
START = (np.linspace(0.5, 1.5, LINKS), np.zeros(LINKS))


def chain() -> ph.Lagrangian:
    """Pendulum of four point masses in absolute angles: a full mass matrix M(q)."""
    q, v = sp.symbols(f"a:{LINKS}", real=True), sp.symbols(f"w:{LINKS}", real=True)
    pairs = [(i, j) for i in range(LINKS) for j in range(LINKS)]
    T = sum((LINKS - max(i, j)) * v[i] * v[j] * sp.cos(q[i] - q[j]) for i, j in pairs) / 2
    V = -sum((LINKS - i) * sp.Float(GRAVITY) * sp.cos(q[i]) for i in range(LINKS))
    return ph.Lagrangian(T - V, q, v, initial=START, name="chain of four")


def plain_chain() -> ph.NumericLagrangian:
    """The same with NumPy."""
    i = np.arange(LINKS)
    weight = (LINKS - np.maximum(i[:, None], i)).astype(float)

    def L(q: Array, v: Array) -> float:
        M = weight * np.cos(q[:, None] - q)
        return v @ M @ v / 2 + GRAVITY * np.sum((LINKS - i) * np.cos(q))

    def gradient(q: Array, v: Array) -> tuple[Array, Array]:
        turn = q[:, None] - q
        Lq = -v * (weight * np.sin(turn) @ v) - GRAVITY * (LINKS - i) * np.sin(q)
        return Lq, weight * np.cos(turn) @ v

    return ph.NumericLagrangian(L, [f"a{k}" for k in i], gradient=gradient, initial=START, name="chain of four")


def microseconds(system: LagrangianSystem, step: float, steps: int, rounds: int) -> float:
    """The fastest of several runs, a step."""
    best = np.inf
    for _ in range(rounds):
        began = time.perf_counter()
        ph.simulate(system, ph.Livens(), step, steps * step, every=steps, progress=False)
        best = min(best, time.perf_counter() - began)
    return best / steps * 1e6


def main() -> None:
    """Print the table."""
    for step in (1e-2, 1e-3):
        compiled, plain = microseconds(chain(), step, 20000, 15), microseconds(plain_chain(), step, 50, 5)
        print(
            f"h = {step:g}: compiled {compiled:.1f} us a step, plain NumPy {plain:.0f} us, ratio {plain / compiled:.0f}"
        )


if __name__ == "__main__":
    main()

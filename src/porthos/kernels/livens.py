"""The step (28) of 003 in compiled code, on functions that were generated from a Lagrangian.

With v1 = 2 d/h - v0, q1 = q0 + d and p1 = 2 D2 L - p0 the unknowns are d and mu = h^2 lambda/2 (with q1 - q0
velocities would be wrong by eps |q|/h):

h D2 L - h p0 - h^2/2 (D1 L - D vm + B~ u) + sum_k mu_k Dg_k = 0,   g(t1, q1) = 0,

where D1, D2 are the parts of a discrete derivative. Newton's matrix is that of the midpoint rule, at the guess.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from porthos.kernels.compile import frame, inner, signed
from porthos.kernels.generated import ARRAY, FUNCTION
from porthos.kernels.guess import ORDERS, Memory, best_guess, guess, keep, look_back
from porthos.kernels.livens_choices import ITOH_ABE, MEAN_VALUE, NODES, NOISE, WEIGHTS
from porthos.kernels.newton import CONVERGED, SINGULAR, STALLED
from porthos.notation import Array, IntArray

MEMORY = 0.99  # how fast the motion of earlier steps is forgotten, against which updates are measured
NEGLIGIBLE = 1e-3  # a coordinate that moves less than this part of the fastest is measured against that
FLOOR = 1e-16  # relative update that no iteration can improve
STUCK = 1e-8  # updates below this that do not shrink have met round-off
SLOW = 0.3  # ratio of updates above which they do not shrink
LEAST_PIVOT = 1e-14
LOW = 7  # orders of extrapolation; with more, coordinates were right before multipliers, which are not extrapolated


class Terms(NamedTuple):
    """Generated functions, and on which coordinates L and the constraints depend."""

    L: Any
    Lq: Any
    Lv: Any
    second: Any
    g: Any
    G: Any
    curvature: Any
    D: Any
    Bt: Any
    active: Array  # (1 + m, n)


class Options(NamedTuple):
    """Sizes and choices. Choices are numbers: numba compiles a function anew for a literal True."""

    n: int
    m: int
    k: int
    kind: int
    symmetric: int
    exact_v: int  # the derivative with respect to v at the midpoint is a discrete derivative
    iterations: int
    tolerance: float


class Leg(NamedTuple):
    """Memory for one discrete derivative."""

    x: Array  # (n,)
    slope: Array  # (max(1, m) n,)
    low: Array  # (max(1, m),)
    high: Array  # (max(1, m),)
    parameters: Array


class Scratch(NamedTuple):
    """Memory of a step."""

    leg: Leg
    q1: Array  # (n,)
    v1: Array  # (n,)
    vm: Array  # (n,)
    Dq: Array  # (n,)
    Dv: Array  # (n,)
    Dg: Array  # (m n,)
    force: Array  # (n,)
    D: Array  # (n n,)
    Bt: Array  # (n k,)
    more: Array  # (3 n n + m n + m,)
    A: Array  # ((n + m) (n + m),)
    r: Array  # (n + m,)
    pivot: IntArray  # (n + m,)


@frame
def _evaluate(f, of_q, t, x, other, parameters, out):  # type: ignore[no-untyped-def]
    if of_q:
        f(t, x, other, other, parameters, out)
    else:
        f(t, other, x, x, parameters, out)


@frame
def _mean(slope, rows, of_q, t, x0, x1, other, weight, memory, D):  # type: ignore[no-untyped-def]
    """The mean value along x0 -> x1."""
    n, x, df = x0.size, memory.x, memory.slope
    for j in range(NODES.size):
        for i in range(n):
            x[i] = x0[i] + NODES[j] * (x1[i] - x0[i])
        _evaluate(slope, of_q, t, x, other, memory.parameters, df)
        for i in range(rows * n):
            D[i] += weight * WEIGHTS[j] * df[i]


@inner
def _leg(kind, f, slope, rows, of_q, exact, t, x0, x1, other, weight, active, memory, D):  # type: ignore[no-untyped-def]
    """Add `weight` times the discrete derivative (rows, n) of f along x0 -> x1; the other argument stands still."""
    n, x, df, low, high, parameters = x0.size, memory.x, memory.slope, memory.low, memory.high, memory.parameters
    if kind == ITOH_ABE and not exact:
        for reverse in range(2):
            _steps(reverse, f, slope, rows, of_q, t, x0, x1, other, 0.5 * weight, memory, D)
        return
    if kind == MEAN_VALUE and not exact:
        _mean(slope, rows, of_q, t, x0, x1, other, weight, memory, D)
        return
    for i in range(n):
        x[i] = 0.5 * (x0[i] + x1[i])
    _evaluate(slope, of_q, t, x, other, parameters, df)
    for i in range(rows * n):
        D[i] += weight * df[i]
    if exact:
        return
    _evaluate(f, of_q, t, x0, other, parameters, low)
    _evaluate(f, of_q, t, x1, other, parameters, high)
    for k in range(rows):
        missing, size = high[k] - low[k], 0.0
        for i in range(n):
            d = (x1[i] - x0[i]) * (active[k, i] if of_q else 1.0)
            missing -= df[k * n + i] * d
            size += d * d
        if size > 0.0 and abs(missing) > NOISE * (abs(low[k]) + abs(high[k])):
            for i in range(n):
                D[k * n + i] += weight * missing / size * (x1[i] - x0[i]) * (active[k, i] if of_q else 1.0)


@frame
def _steps(reverse, f, slope, rows, of_q, t, x0, x1, other, weight, memory, D):  # type: ignore[no-untyped-def]
    """The same after Itoh and Abe: one coordinate after the other, from the first or from the last."""
    n, x, df, low, high, parameters = x0.size, memory.x, memory.slope, memory.low, memory.high, memory.parameters
    for i in range(n):
        x[i] = x0[i]
    _evaluate(f, of_q, t, x, other, parameters, low)
    for j in range(n):
        i = n - 1 - j if reverse else j
        d = x1[i] - x0[i]
        x[i] = 0.5 * (x0[i] + x1[i])
        _evaluate(slope, of_q, t, x, other, parameters, df)
        x[i] = x1[i]
        _evaluate(f, of_q, t, x, other, parameters, high)
        for k in range(rows):
            change, middle = high[k] - low[k], df[k * n + i]
            known = abs(change - middle * d) > NOISE * (abs(low[k]) + abs(high[k]))
            D[k * n + i] += weight * (change / d if known and d != 0.0 else middle)
            low[k] = high[k]


@frame
def _derivatives(o, terms, h, t, q0, v0, d, s):  # type: ignore[no-untyped-def]
    """q1, v1 and the discrete derivatives Dq, Dv of L and Dg of the constraints at the middle of the step.

    q moves before v, and in the second half of a symmetric step after it.
    """
    n, q1, v1 = o.n, s.q1, s.v1
    for i in range(n):
        q1[i], v1[i] = q0[i] + d[i], 2.0 * d[i] / h - v0[i]
        s.Dq[i] = s.Dv[i] = 0.0
    for i in range(o.m * n):
        s.Dg[i] = 0.0
    tm, halves = t + 0.5 * h, 2 if o.symmetric else 1
    for half in range(halves):
        part, q, v = 1.0 / halves, q1 if half == 0 else q0, v0 if half == 0 else v1
        _leg(o.kind, terms.L, terms.Lq, 1, 1, 0, tm, q0, q1, v, part, terms.active, s.leg, s.Dq)
        _leg(o.kind, terms.L, terms.Lv, 1, 0, o.exact_v, tm, v0, v1, q, part, terms.active, s.leg, s.Dv)
    if o.m > 0:
        _leg(o.kind, terms.g, terms.G, o.m, 1, 0, tm, q0, q1, v1, 1.0, terms.active[1:], s.leg, s.Dg)


@frame
def _forces(o, terms, h, t, q0, d, u, s):  # type: ignore[no-untyped-def]
    """vm, D (n, n), B~ (n, k) and the force B~ u - D vm at the middle of the step."""
    n, k = o.n, o.k
    for i in range(n):
        s.leg.x[i], s.vm[i], s.force[i] = q0[i] + 0.5 * d[i], d[i] / h, 0.0
    terms.D(t + 0.5 * h, s.leg.x, s.vm, s.vm, s.leg.parameters, s.D)
    if k > 0:
        terms.Bt(t + 0.5 * h, s.leg.x, s.vm, s.vm, s.leg.parameters, s.Bt)
    for i in range(n):
        for j in range(n):
            s.force[i] -= s.D[i * n + j] * s.vm[j]
        for j in range(k):
            s.force[i] += s.Bt[i * k + j] * u[j]


@inner
def _residual(o, terms, h, t, q0, v0, p0, u, d, mu, s):  # type: ignore[no-untyped-def]
    """The left-hand sides of the equations above in s.r."""
    n = o.n
    _forces(o, terms, h, t, q0, d, u, s)
    _derivatives(o, terms, h, t, q0, v0, d, s)
    for i in range(n):
        s.r[i] = h * (s.Dv[i] - p0[i]) - 0.5 * h * h * (s.Dq[i] + s.force[i])
        for k in range(o.m):
            s.r[i] += s.Dg[k * n + i] * mu[k]
    if o.m > 0:
        terms.g(t + h, s.q1, s.v1, s.v1, s.leg.parameters, s.r[n:])


@inner
def _matrix(o, terms, h, t, q0, d, mu, s):  # type: ignore[no-untyped-def]
    """[M + h/2 (Lqv^T - Lqv + D) - h^2/4 (Lqq - K), G^T; G, 0] in s.A, factorised; False if it is singular."""
    n, m, size, x, parameters = o.n, o.m, o.n + o.m, s.leg.x, s.leg.parameters
    for i in range(n):
        x[i], s.q1[i], s.vm[i] = q0[i] + 0.5 * d[i], q0[i] + d[i], d[i] / h
    terms.D(t + 0.5 * h, x, s.vm, s.vm, parameters, s.D)
    terms.second(t, x, s.vm, s.vm, parameters, s.more)
    for i in range(n):
        for j in range(n):
            Lqq, Lqv, Lvq = s.more[i * n + j], s.more[n * n + i * n + j], s.more[n * n + j * n + i]
            gyroscopic = 0.5 * h * (Lvq - Lqv + s.D[i * n + j])
            s.A[i * size + j] = s.more[2 * n * n + i * n + j] + gyroscopic - 0.25 * h * h * Lqq
    if m > 0:
        for k in range(m):
            s.leg.high[k] = 2.0 * mu[k] / (h * h)
        terms.curvature(t + 0.5 * h, x, s.vm, s.leg.high, parameters, s.more)
        terms.G(t + 0.5 * h, x, s.vm, s.vm, parameters, s.Dg)
        terms.G(t + h, s.q1, s.vm, s.vm, parameters, s.leg.slope)
        for i in range(n):
            for j in range(n):
                s.A[i * size + j] += 0.25 * h * h * s.more[m * n + i * n + j]
            for k in range(m):
                s.A[i * size + n + k], s.A[(n + k) * size + i] = s.Dg[k * n + i], s.leg.slope[k * n + i]
        for i in range(n, size):
            for j in range(n, size):
                s.A[i * size + j] = 0.0
    return _factorised(s.A, s.pivot, size)


@frame
def _factorised(A, pivot, size):  # type: ignore[no-untyped-def]
    """LU with rows exchanged, in place."""
    largest = 0.0
    for i in range(size * size):
        largest = max(largest, abs(A[i]))
    for j in range(size):
        best = j
        for i in range(j + 1, size):
            if abs(A[i * size + j]) > abs(A[best * size + j]):
                best = i
        pivot[j] = best
        if not abs(A[best * size + j]) > LEAST_PIVOT * largest:
            return False
        if best != j:
            for i in range(size):
                A[j * size + i], A[best * size + i] = A[best * size + i], A[j * size + i]
        for i in range(j + 1, size):
            factor = A[i * size + j] / A[j * size + j]
            A[i * size + j] = factor
            if factor != 0.0:
                for k in range(j + 1, size):
                    A[i * size + k] -= factor * A[j * size + k]
    return True


@frame
def _solved(A, pivot, r, size):  # type: ignore[no-untyped-def]
    """r <- A^-1 r."""
    for j in range(size):
        best = pivot[j]
        r[j], r[best] = r[best], r[j]
    for i in range(size):
        for j in range(i):
            r[i] -= A[i * size + j] * r[j]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            r[i] -= A[i * size + j] * r[j]
        r[i] /= A[i * size + i]


@frame
def _update(o, d, mu, scale, r):  # type: ignore[no-untyped-def]
    """Take r away from (d, mu); returns its size relative to the motion of this and earlier steps."""
    size, motion = 0.0, 1e-300
    for i in range(o.n):
        d[i] -= r[i]
        motion = max(motion, abs(d[i]), scale[i])
    for i in range(o.n):
        size = max(size, abs(r[i]) / max(abs(d[i]), scale[i], NEGLIGIBLE * motion))
    for k in range(o.m):
        mu[k] -= r[o.n + k]
    return size


@inner
def _step(o, terms, h, t, q0, v0, p0, u, d, mu, scale, s):  # type: ignore[no-untyped-def]
    """Newton's method from the guess (d, mu); returns how it ended and the number of iterations.

    The derivatives that it leaves in s are those at the solution.
    """
    last, stale, done, limit = np.nan, True, False, max(o.tolerance, FLOOR)  # nan: no update with this matrix yet
    for iteration in range(o.iterations + 1):
        if stale:
            if not _matrix(o, terms, h, t, q0, d, mu, s):
                return SINGULAR, iteration
            stale, last = False, np.nan
        _residual(o, terms, h, t, q0, v0, p0, u, d, mu, s)
        if done:
            return CONVERGED, iteration
        _solved(s.A, s.pivot, s.r, o.n + o.m)
        size = _update(o, d, mu, scale, s.r)
        if not size < np.inf:
            return STALLED, iteration + 1
        ratio = size / last
        done = size <= limit or (ratio < 1.0 and size * ratio <= limit) or (ratio > SLOW and size < STUCK)
        stale, last = not done and ratio > SLOW, size  # the matrix of the guess does not serve any longer
    return STALLED, o.iterations


@frame
def _book(o, h, row, opens, u, d, mu, s, lam, supply, lost):  # type: ignore[no-untyped-def]
    """Work of the ports, losses and multipliers of a step, for the interval that ends at row + 1."""
    n, k = o.n, o.k
    for i in range(n):
        for j in range(n):
            lost[row + 1] += h * s.vm[i] * s.D[i * n + j] * s.vm[j]
        for j in range(k):
            supply[row + 1, j] += h * s.vm[i] * s.Bt[i * k + j] * u[j]
    for j in range(o.m):
        value = 2.0 * mu[j] / (h * h)
        lam[row + 1, 0, j] = value
        if opens:
            lam[row, 1, j] = value
        if supply.shape[1] > k:
            for i in range(n):
                supply[row + 1, k] -= value * s.Dg[j * n + i] * d[i]


def _march(  # type: ignore[no-untyped-def]
    L, Lq, Lv, second, g, G, curvature, D, Bt, parameters, active, kind, symmetric, exact_v, iterations, tolerance,
    h, first, every, U, q, v, p, mu, past, errors, steps, scale, Q, V, P, lam, supply, lost, count,
):  # fmt: skip
    """Make len(U) steps from step `first` of a run; (how it ended, steps made).

    The guess extrapolates increments as the midpoint schemes do; their tables hold groups of six, so d is padded.
    """
    n, m, k = q.size, mu.size, U.shape[1]
    terms = Terms(L, Lq, Lv, second, g, G, curvature, D, Bt, active)
    o = Options(n, m, k, kind, symmetric, exact_v, iterations, tolerance)
    rows, size = max(1, m), n + m
    leg = Leg(np.empty(n), np.empty(rows * n), np.empty(rows), np.empty(rows), parameters)
    s = Scratch(
        leg, np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(m * n), np.empty(n),
        np.empty(n * n), np.empty(n * k), np.empty(3 * n * n + m * n + m), np.empty(size * size), np.empty(size),
        np.empty(size, dtype=np.int64),
    )  # fmt: skip
    memory, d, last = Memory(past, errors, steps, np.zeros((1, 2), np.int64)), np.zeros(past.shape[2]), np.empty(m)
    for step in range(U.shape[0]):
        at, status, used = first + step, STALLED, 0
        for j in range(m):
            last[j] = mu[j]
        for attempt in range(2):  # from increments extrapolated, and if that fails from the velocity
            guess(past, steps[0], 0, best_guess(memory, 0, 0, LOW, ORDERS), 0, d.size, d)
            if attempt > 0:
                for i in range(n):
                    d[i] = h * v[i]
            for j in range(m):
                mu[j] = last[j]
            status, more = _step(o, terms, h, at * h, q, v, p, U[step], d, mu, scale, s)
            used += more
            if status == CONVERGED:
                break
        if status != CONVERGED:
            return status, step
        row = at // every
        _book(o, h, row, at % every == 0, U[step], d, mu, s, lam, supply, lost)
        for i in range(n):
            scale[i] = max(abs(d[i]), MEMORY * scale[i])
            q[i], v[i], p[i] = s.q1[i], s.v1[i], 2.0 * s.Dv[i] - p[i]
            Q[row + 1, i], V[row + 1, i], P[row + 1, i] = q[i], v[i], p[i]
        keep(past, steps[0], 0, d, 0, d.size)
        memory.steps[0] += 1
        look_back(memory, 0, 0, d.size, memory.errors, 0, 0)
        count[row + 1] += used
    return CONVERGED, U.shape[0]


_TABLE = types.float64[:, ::1]
_CHOICES = [types.int64] * 4 + [types.float64] * 2 + [types.int64] * 2  # kind ... every
_BOX = types.float64[:, :, ::1]
_STATE = [ARRAY, ARRAY, ARRAY, ARRAY, _BOX, _TABLE, types.int64[::1], ARRAY]  # q ... scale
_TAPE = [_TABLE, _TABLE, _TABLE, _BOX, _TABLE, ARRAY, types.int64[::1]]
_RESULT = types.UniTuple(types.int64, 2)
march_livens: Any = signed(_RESULT(*[FUNCTION] * 9, ARRAY, _TABLE, *_CHOICES, _TABLE, *_STATE, *_TAPE))(_march)

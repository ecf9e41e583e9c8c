"""Force elements: joints that give way. Their multipliers obey a law instead of holding g_r(q) at zero.

A law is a force F(s) + c s' for a measure s of one or two rows, F = dU/ds:
  LENGTH  g = s^2/2:              lam = (F + c s') / s
  VALUE   g = s:                  lam = F + c s'
  TURN    (g, k) = (cos s, sin s): lam = (F + c s') (-k, g).
In a step F is the mean (U(s^1) - U(s^0))/(s^1 - s^0), s' is (s^1 - s^0)/h and, with means of s, g and k,
  LENGTH  lam = f / sbar,         TURN    lam = f ds/sin(ds) (-kbar, gbar),
so that lam . (g^1 - g^0) = U(s^1) - U(s^0) + c (s^1 - s^0)^2/h exactly, as rows are at most quadratic. With lam' =
h^2/2 lam the row of an element is h^2/2 f(g^1) - lam' = 0, its slope K dg - dlam': a stiff element becomes a joint.
Friction adds mu N s'/sqrt(s'^2 + v^2) to f, N from the multipliers of the joint in the step: what it takes is never
negative. How N changes with the motion is left out of the matrix.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.compile import entry, inner, stage
from porthos.kernels.pieces import energy_of_pieces, mean_over_pieces
from porthos.kernels.tables import ANGLE, INVERSE, LENGTH, POLYNOMIAL, TURN, Layout, Mechanism
from porthos.notation import Array, Records

SMALL = 0.05  # tangent below which an angle is its series
ROUND = 2.0 * np.pi


@inner
def mean_force(law: Records, piece: Array, s0: float, s1: float) -> tuple[float, float]:
    """(U(s1) - U(s0))/(s1 - s0) of a law, without a difference, and its derivative with respect to s1."""
    if law.form == INVERSE:
        force = law.force[0] / (s0 * s1)
        return force, -force / s1
    x0, x1 = s0 - law.rest, s1 - law.rest
    if law.form != POLYNOMIAL:
        return mean_over_pieces(piece, law.pieces[0], law.pieces[1], law.terms, x0, x1)
    force, slope = law.force[0], 0.0
    power, sums, rate = 1.0, 1.0, 0.0  # x0^k, sum_i x0^i x1^(k-i) and its derivative
    for k in range(1, law.terms):
        power *= x0
        rate = sums + x1 * rate
        sums = x1 * sums + power
        c = law.force[k] / (k + 1)
        force += c * sums
        slope += c * rate
    return force, slope


@stage
def set_grips(mech: Mechanism, h: float, z: Array, share: float, more: Array, grip: Array) -> None:
    """mu N of all laws with the multipliers 2/h^2 (z + share more), which stand behind the bodies."""
    first = 6 * (mech.body.size + 1)
    for n in range(mech.law.size):
        law, total = mech.law[n], 0.0
        if law.friction > 0.0:
            for r in range(first + law.pressing[0], first + law.pressing[1]):
                total += (z[r] + share * more[r]) ** 2
            grip[n] = law.friction * 2.0 / (h * h) * np.sqrt(total)


@inner
def rubbing(speed: float, rate: float) -> tuple[float, float]:
    """s'/sqrt(s'^2 + v^2) and its derivative; 0 where there is no friction, v = 0."""
    if speed == 0.0:
        return 0.0, 0.0
    root = np.sqrt(rate * rate + speed * speed)
    return rate / root, speed * speed / (root * root * root)


@inner
def turned(g0: float, k0: float, g1: float, k1: float) -> float:
    """The angle from (g0, k0) to (g1, k1)."""
    return np.arctan2(g0 * k1 - k0 * g1, g0 * g1 + k0 * k1)


@inner
def nearest_angle(g: float, k: float, about: float) -> float:
    """The angle with cosine g and sine k that is nearest to another one: rows do not know of whole turns."""
    s = np.arctan2(k, g)
    return s + ROUND * np.rint((about - s) / ROUND)


@stage
def length_law(mech: Mechanism, n: int, h: float, g0: float, g1: float) -> tuple[float, float]:
    """The multiplier of a law for lengths, and its derivative with respect to g1."""
    s0, s1 = np.sqrt(2.0 * g0), np.sqrt(2.0 * g1)
    mean, (F, slope), c = 0.5 * (s0 + s1), mean_force(mech.law[n], mech.piece, s0, s1), mech.law[n].damping / h
    lam = (F + c * (s1 - s0)) / mean
    return lam, ((slope + c) - 0.5 * lam) / (mean * s1)


@stage
def value_law(mech: Mechanism, n: int, h: float, mu: float, g0: float, g1: float) -> tuple[float, float]:
    """The same for a law of the row itself, with the grip mu of its friction."""
    (F, slope), c = mean_force(mech.law[n], mech.piece, g0, g1), mech.law[n].damping / h
    rub, rise = rubbing(mech.law[n].speed, (g1 - g0) / h)
    return F + c * (g1 - g0) + mu * rub, slope + c + mu * rise / h


@stage
def turn_law(
    mech: Mechanism, n: int, h: float, mu: float, g0: float, k0: float, g1: float, k1: float
) -> tuple[float, float]:
    """The factor of (-kbar, gbar) in lam, and its derivative with respect to the angle; mu is the grip of friction."""
    sine, cosine, s0 = g0 * k1 - k0 * g1, g0 * g1 + k0 * k1, mech.law[n].about
    if abs(sine) < SMALL * cosine:
        share = 1.0 / cosine
        t = (sine * share) ** 2
        ratio = share * (1.0 - t * (1 / 3 - t * (1 / 5 - t * (1 / 7 - t * (1 / 9 - t / 11)))))
        ds = sine * ratio
        rate = ds * (1 / 3 + 7 / 90 * ds * ds)
    else:
        ds = np.arctan2(sine, cosine)
        ratio, rate = ds / sine, (sine - ds * cosine) / (sine * sine)
    (F, slope), c = mean_force(mech.law[n], mech.piece, s0, s0 + ds), mech.law[n].damping / h
    rub, rise = rubbing(mech.law[n].speed, ds / h)
    f = F + c * ds + mu * rub
    return f * ratio, (slope + c + mu * rise / h) * ratio + f * rate


@stage
def scale_row(mech: Mechanism, layout: Layout, j: int, r: int, i: int, f: float, shift: Array, data: Array) -> None:
    """Multiply the slopes of row r (row i of element j) by f."""
    for s in range(2):
        b = mech.row[r].body[s]
        n = layout.body[b].stride
        turning, shifting = layout.joint[j].turn_columns[s] + i * n, layout.joint[j].shift_columns[s] + i * n
        for k in range(3):
            shift[r, s, k] *= f
            data[turning + k] *= f
            if layout.body[b].kept:
                data[shifting + k] *= f


@stage
def mix_rows(
    mech: Mechanism, layout: Layout, j: int, r: int, i: int, a: float, b: float, c: float, d: float, data: Array
) -> None:
    """Multiply the slopes of the rows r and r + 1 (row i of element j), which are angles, by [a b; c d]."""
    for s in range(2):
        n = layout.body[mech.row[r].body[s]].stride
        at = layout.joint[j].turn_columns[s] + i * n
        for k in range(at, at + 3):
            x, y = data[k], data[k + n]
            data[k], data[k + n] = a * x + b * y, c * x + d * y


@stage
def soften(
    mech: Mechanism, layout: Layout, j: int, h: float, slopes: bool, start: Array, grip: Array, shift: Array, z: Array,
    x: Array, data: Array,
) -> None:  # fmt: skip
    """Turn the rows g(q^1) of element j into h^2/2 f(g^1) - lam', and their slopes into those of that."""
    begin, f = mech.joint[j].first, 0.5 * h * h
    m, first = mech.joint[j].last - begin, 6 * (mech.body.size + 1)
    i = 0
    while i < m:
        r = begin + i
        n, row = mech.row[r].law, first + r
        if mech.law[n].measure == TURN:
            g0, k0, g1, k1 = start[r], start[r + 1], x[row], x[row + 1]
            mu, slope = turn_law(mech, n, h, grip[n], g0, k0, g1, k1)
            g, k = 0.5 * (g0 + g1), 0.5 * (k0 + k1)
            x[row], x[row + 1] = -f * mu * k - z[row], f * mu * g - z[row + 1]
            if slopes:
                half, by = 0.5 * f * mu, f * slope / (g1 * g1 + k1 * k1)
                by_g, by_k = -by * k1, by * g1
                mix_rows(mech, layout, j, r, i, -by_g * k, -by_k * k - half, by_g * g + half, by_k * g, data)
            i += 2
        else:
            if mech.law[n].measure == LENGTH:
                lam, slope = length_law(mech, n, h, start[r], x[row])
            else:
                lam, slope = value_law(mech, n, h, grip[n], start[r], x[row])
            x[row] = f * lam - z[row]
            if slopes:
                scale_row(mech, layout, j, r, i, f * slope, shift, data)
            i += 1
    if slopes:
        for i in range(m):
            data[layout.joint[j].diagonal + i * (m + 1)] -= 1.0


@stage
def row_value(mech: Mechanism, q: Array, r: int) -> float:
    """g_r(q)."""
    total, form = -mech.row[r].c, mech.form[r]
    a, b, angle = mech.row[r].body[0], mech.row[r].body[1], mech.row[r].kind == ANGLE
    for k in range(3):
        u, w = form.u0[k], form.w0[k]
        for i in range(1, 4):
            u += form.cu[0, i] * q[a, i, k]
            w += form.cw[1, i] * q[b, i, k]
        if not angle:
            u += form.cu[0, 0] * q[a, 0, k] + form.cu[1, 0] * q[b, 0, k]
            w += form.cw[0, 0] * q[a, 0, k] + form.cw[1, 0] * q[b, 0, k]
            for i in range(1, 4):
                u += form.cu[1, i] * q[b, i, k]
                w += form.cw[0, i] * q[a, i, k]
        total += u * w
    return total


@stage
def row_rate(mech: Mechanism, q: Array, v: Array, r: int) -> float:
    """The rate of g_r at q with velocities v."""
    total, form = 0.0, mech.form[r]
    a, b = mech.row[r].body[0], mech.row[r].body[1]
    for k in range(3):
        u, w, du, dw = form.u0[k], form.w0[k], 0.0, 0.0
        for i in range(4):
            u += form.cu[0, i] * q[a, i, k] + form.cu[1, i] * q[b, i, k]
            w += form.cw[0, i] * q[a, i, k] + form.cw[1, i] * q[b, i, k]
            du += form.cu[0, i] * v[a, i, k] + form.cu[1, i] * v[b, i, k]
            dw += form.cw[0, i] * v[a, i, k] + form.cw[1, i] * v[b, i, k]
        total += u * dw + du * w
    return total


@stage
def measured(mech: Mechanism, n: int, g: float, k: float) -> float:
    """The measure s of law n, whose rows have the values g and k."""
    if mech.law[n].measure == LENGTH:
        return np.sqrt(2.0 * g)
    return nearest_angle(g, k, mech.law[n].about) if mech.law[n].measure == TURN else g


@stage
def add_losses(mech: Mechanism, h: float, q: Array, start: Array, lam: Array, loss: Array) -> None:
    """Add what dampers and friction of each element take in the step from the rows `start` to the configuration q."""
    for n in range(mech.law.size):
        law = mech.law[n]
        if law.friction == 0.0 and law.damping == 0.0:
            continue
        r, pair = law.row, law.measure == TURN
        g1 = row_value(mech, q, r)
        k0, k1 = (start[r + 1], row_value(mech, q, r + 1)) if pair else (0.0, 0.0)
        if law.friction > 0.0:  # nothing is stored: all that its multipliers do
            loss[law.element] += lam[r] * (g1 - start[r])
            if pair:
                loss[law.element] += lam[r + 1] * (k1 - k0)
        else:
            if pair:
                change = turned(start[r], k0, g1, k1)
            else:
                change = measured(mech, n, g1, 0.0) - measured(mech, n, start[r], 0.0)
            loss[law.element] += law.damping * change * change / h


@inner
def energy_at(law: Records, piece: Array, s: float) -> float:
    """U(s) of a law: that of its pieces, else zero where x = 0, at infinity if it is INVERSE."""
    if law.form == INVERSE:
        return -law.force[0] / s
    if law.form == POLYNOMIAL:
        return mean_force(law, piece, law.rest, s)[0] * (s - law.rest)
    return energy_of_pieces(piece, law.pieces[0], law.pieces[1], law.terms, s - law.rest)


@stage
def set_bodies(values: Array, config: Array) -> None:
    """Copy values (N, 4, 3) to (N+1, 4, 3), whose last slot is the ground; as a slice this takes seconds to compile."""
    for b in range(values.shape[0]):
        for i in range(4):
            for k in range(3):
                config[b, i, k] = values[b, i, k]


@entry
def element_energies(mech: Mechanism, elements: int, q: Array, angle: Array, still: Array) -> Array:
    """The energy (T, E) that elements store at the states q (T, N, 4, 3), angles of laws nearest to `angle` (T, F)."""
    result, config = np.zeros((q.shape[0], elements)), still.copy()
    for t in range(q.shape[0]):
        set_bodies(q[t], config)
        for n in range(mech.law.size):
            r, pair = mech.law[n].row, mech.law[n].measure == TURN
            g, k = row_value(mech, config, r), row_value(mech, config, r + 1) if pair else 0.0
            s = nearest_angle(g, k, angle[t, n]) if pair else measured(mech, n, g, k)
            result[t, mech.law[n].element] += energy_at(mech.law[n], mech.piece, s)
    return result


@entry
def respond(mech: Mechanism, grips: Array, g: Array, rate: Array, lam: Array, by_g: Array, by_rate: Array) -> None:
    """Multipliers lam (R,) of rows g with rates g' and grips (F,), and their derivatives (R, 2) by rows and by rates.

    A row of an angle depends on both rows of it, any other on itself: column 0.
    """
    r = 0
    while r < g.size:
        n = mech.row[r].law
        law = mech.law[n]
        s = measured(mech, n, g[r], g[r + 1] if law.measure == TURN else 0.0)
        (F, half), c = mean_force(law, mech.piece, s, s), law.damping
        slope = 2.0 * half
        if law.measure == TURN:
            square = g[r] ** 2 + g[r + 1] ** 2  # 1, if the axes of both bodies are parallel
            x, y = g[r] / square, g[r + 1] / square  # the angle changes by x dk - y dg
            ds = x * rate[r + 1] - y * rate[r]
            rub, rise = rubbing(law.speed, ds)
            f, c = F + c * ds + grips[n] * rub, c + grips[n] * rise
            lam[r], lam[r + 1] = -f * y, f * x
            by_x = -slope * y + c * (rate[r + 1] / square - 2.0 * x * ds)  # of f
            by_y = slope * x - c * (rate[r] / square + 2.0 * y * ds)
            by_g[r, 0], by_g[r, 1] = -by_x * y + 2.0 * f * x * y, -by_y * y + f * (y * y - x * x)
            by_g[r + 1, 0], by_g[r + 1, 1] = by_x * x + f * (y * y - x * x), by_y * x - 2.0 * f * x * y
            by_rate[r, 0], by_rate[r, 1] = c * y * y, -c * x * y
            by_rate[r + 1, 0], by_rate[r + 1, 1] = -c * x * y, c * x * x
            r += 2
            continue
        ds, inner_slope = rate[r], 1.0
        if law.measure == LENGTH:
            ds, inner_slope = rate[r] / s, 1.0 / s
        rub, rise = rubbing(law.speed, ds)
        f, c = F + c * ds + grips[n] * rub, c + grips[n] * rise
        lam[r], by_rate[r, 0] = f * inner_slope, c * inner_slope * inner_slope
        by_g[r, 0] = slope
        if law.measure == LENGTH:
            by_g[r, 0] = (slope - (F + 2.0 * c * ds) / s) / (s * s)
        r += 1


@entry
def law_states(mech: Mechanism, q: Array, v: Array, grips: Array, angle: Array, still: Array) -> tuple[Array, Array]:
    """Measures s, angles nearest to `angle`, and forces (T, F) of all laws at q, v (T, N, 4, 3) with grips (T, F)."""
    s, f = np.zeros((q.shape[0], mech.law.size)), np.zeros((q.shape[0], mech.law.size))
    config, rate = still.copy(), np.zeros_like(still)
    for t in range(q.shape[0]):
        set_bodies(q[t], config)
        set_bodies(v[t], rate)
        for n in range(mech.law.size):
            r = mech.law[n].row
            g, dg = row_value(mech, config, r), row_rate(mech, config, rate, r)
            k, dk = 0.0, 0.0
            if mech.law[n].measure == TURN:
                k, dk = row_value(mech, config, r + 1), row_rate(mech, config, rate, r + 1)
            s[t, n] = nearest_angle(g, k, angle[t, n]) if mech.law[n].measure == TURN else measured(mech, n, g, k)
            ds = dg
            if mech.law[n].measure == LENGTH:
                ds = dg / s[t, n]
            elif mech.law[n].measure == TURN:
                ds = g * dk - k * dg
            f[t, n] = mean_force(mech.law[n], mech.piece, s[t, n], s[t, n])[0] + mech.law[n].damping * ds
            f[t, n] += grips[t, n] * rubbing(mech.law[n].speed, ds)[0]
    return s, f

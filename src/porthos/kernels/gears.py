"""Gears: rows g = sum_i r_i psi_i + (u . w - c) with angles of wheels. In a step, and at a node, each is u . w - c.

The angle psi = atan2(k, g) of a wheel is that of a vector y about its axis, (g, k) = (e . y, e' . y) with vectors e, e'
of its body. The share r psi of the row is replaced by m . y, with a vector m of the body,
  m = r f (-kbar e + gbar e'),
whose change and whose rate at both ends of a step, |(g, k)| being constant, are
  m . y |_0^1 = r (psi^1 - psi^0)      with f = (psi^1 - psi^0)/(g^0 k^1 - k^0 g^1),
  d/dt (m . y) = r psi'                with f = 2/(g^0 g^1 + k^0 k^1 + |(g^1, k^1)|^2).
So a multiplier of a row with the first f does no work if r psi add up to a constant, and one of the velocity level
with the second f does none if r psi' do; a step back undoes a step. No f does both. Both vectors are in one row:
  two wheels   u = m_A + m_B,  w = x_B - x_A = y,
  bevel gears  u = m_A + m_B,  w = n_A + n_B, of which each wheel sees the other axis, as m_A . n_A = 0,
  rack         u = t_B = y,    w = x_B - x_A + m_A.
How m changes with the motion is left out of the matrix; the slope r psi' of the row is in it. As angles are known up to
full turns, the value of a row is known up to a multiple of its pitch; the nearest to zero is fed back.
"""

from __future__ import annotations

import numpy as np

from porthos.kernels.compile import entry, inner, stage
from porthos.kernels.elements import row_value, turned
from porthos.kernels.newton import FEEDBACK
from porthos.kernels.pose import Pose, add_row_force
from porthos.kernels.tables import Mechanism
from porthos.kernels.vectors import Triple, combine3, dot3, row33, triple
from porthos.notation import Array, Records


@stage
def body_vector(a: Array, q: Array, b: int) -> Triple:
    """a_1 d_1 + a_2 d_2 + a_3 d_3 of body b."""
    return combine3(1.0, combine3(a[0], row33(q, b, 1), a[1], row33(q, b, 2)), a[2], row33(q, b, 3))


@stage
def faced(mech: Mechanism, i: int, q: Array) -> Triple:
    """The vector y that wheel i faces."""
    r = mech.wheel[i].row
    form, in_u = mech.form[r], mech.wheel[i].part == 0
    y = triple(form.w0) if in_u else triple(form.u0)
    for s in range(2):
        b, c = mech.row[r].body[s], form.cw[s] if in_u else form.cu[s]
        y = combine3(1.0, y, 1.0, combine3(c[0], row33(q, b, 0), 1.0, body_vector(c[1:], q, b)))
    return y


@stage
def sighted(mech: Mechanism, i: int, q: Array, y: Triple) -> tuple[float, float]:
    """(g, k) of wheel i."""
    wheel = mech.wheel[i]
    b = mech.row[wheel.row].body[wheel.side]
    return dot3(body_vector(wheel.ahead, q, b), y), dot3(body_vector(wheel.across, q, b), y)


@stage
def aim_wheels(mech: Mechanism, q0: Array, rates: bool, mid: Pose, end: Pose) -> None:
    """The markers of all wheels for the step from q0 to the end: the first f at the midpoint, or the second if `rates`.

    At the end it is always the second, as slopes are r psi'.
    """
    if mech.wheel.size > 0:
        aim_all(mech, q0, rates, mid, end)


@inner
def aim_all(mech: Mechanism, q0: Array, rates: bool, mid: Pose, end: Pose) -> None:
    """`aim_wheels` where there are some."""
    for i in range(mech.wheel.size):
        wheel = mech.wheel[i]
        b, n = mech.row[wheel.row].body[wheel.side], wheel.marker
        g0, k0 = sighted(mech, i, q0, faced(mech, i, q0))
        g1, k1 = sighted(mech, i, end.q, faced(mech, i, end.q))
        sine, g, k = g0 * k1 - k0 * g1, 0.5 * (g0 + g1), 0.5 * (k0 + k1)
        slope = wheel.radius * 2.0 / (g0 * g1 + k0 * k1 + g1 * g1 + k1 * k1)
        f = slope
        if not rates and sine != 0.0:
            f = wheel.radius * turned(g0, k0, g1, k1) / sine
        held, ahead = body_vector(wheel.held, mid.q, b), body_vector(wheel.ahead, mid.q, b)
        m = combine3(1.0, held, f, combine3(-k, ahead, g, body_vector(wheel.across, mid.q, b)))
        mid.marker[n, 0], mid.marker[n, 1], mid.marker[n, 2] = m
        held, ahead = body_vector(wheel.held, end.q, b), body_vector(wheel.ahead, end.q, b)
        m = combine3(1.0, held, slope, combine3(-k, ahead, g, body_vector(wheel.across, end.q, b)))
        end.marker[n, 0], end.marker[n, 1], end.marker[n, 2] = m


@stage
def pass_gears(mech: Mechanism, q0: Array, gam: Array, mid: Pose, end: Pose, x: Array) -> None:
    """Pass gam' of gears, which is part of mu in the rows of bodies, from the first f to the second."""
    first = 6 * (mech.body.size + 1)
    for n in range(mech.gear.size):
        r = mech.gear[n].row
        add_row_force(mech, r, mid, gam[first + r], x)
    aim_wheels(mech, q0, True, mid, end)
    for n in range(mech.gear.size):
        r = mech.gear[n].row
        add_row_force(mech, r, mid, -gam[first + r], x)


@inner
def gear_gap(mech: Mechanism, n: int, q: Array) -> tuple[float, float]:
    """The value of gear n at q that is nearest to zero, and the part u . w - c of it that has no angles."""
    gear, turns = mech.gear[n], 0.0
    rest, form = row_value(mech, q, gear.row), mech.form[gear.row]
    for i in range(gear.wheels[0], gear.wheels[1]):
        wheel, y = mech.wheel[i], faced(mech, i, q)
        b, c = mech.row[gear.row].body[wheel.side], form.cu[wheel.side] if wheel.part == 0 else form.cw[wheel.side]
        g, k = sighted(mech, i, q, y)
        turns += wheel.radius * np.arctan2(k, g)
        rest -= dot3(combine3(1.0, body_vector(c[1:], q, b), -1.0, body_vector(wheel.held, q, b)), y)
    total = turns + rest
    return total - gear.pitch * np.rint(total / gear.pitch), rest


@stage
def gear_rows(mech: Mechanism, q0: Array, feedback: Array) -> None:
    """What rows of gears begin with in a step: kappa g(q^0)."""
    for n in range(mech.gear.size):
        feedback[mech.gear[n].row] = FEEDBACK * gear_gap(mech, n, q0)[0]


@entry
def gear_gaps(mech: Mechanism, q: Array, still: Array) -> Array:
    """The values (T, gears) of all gears at the states q (T, N, 4, 3)."""
    result, config = np.zeros((q.shape[0], mech.gear.size)), still.copy()
    for t in range(q.shape[0]):
        config[: mech.body.size] = q[t]
        for n in range(mech.gear.size):
            result[t, n] = gear_gap(mech, n, config)[0]
    return result


@entry
def mesh(mech: Mechanism, q: Array, row: Records, form: Records) -> None:
    """Make the rows of gears in `row` and `form` what they are at q: f = 1/|(g, k)|^2, and c such that g is the gap."""
    for n in range(mech.gear.size):
        gear = mech.gear[n]
        r, (gap, rest) = gear.row, gear_gap(mech, n, q)
        row[r].c = mech.row[r].c + rest - gap
        for i in range(gear.wheels[0], gear.wheels[1]):
            wheel = mech.wheel[i]
            g, k = sighted(mech, i, q, faced(mech, i, q))
            f = wheel.radius / (g * g + k * k)
            for c in range(3):
                m = wheel.held[c] + f * (g * wheel.across[c] - k * wheel.ahead[c])
                if wheel.part == 0:
                    form[r].cu[wheel.side, 1 + c] = m
                else:
                    form[r].cw[wheel.side, 1 + c] = m

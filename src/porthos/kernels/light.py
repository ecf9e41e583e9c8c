"""Light force elements: their forces are in the momentum rows, but their stiffness S is not in the matrix A.

An update that solves A x = r misses that of (A + S) x = r by its echo A^-1 S x, and by echoes of that. With the first
one taken away updates shrink by the square of the ratio by which they shrank, for one more solve instead of an
iteration; they shrink further with the part of the others that the first one tells: of rho x echoes are rho^2 x, ...
"""

from __future__ import annotations

from porthos.kernels.blocks import OFFSET
from porthos.kernels.compile import stage
from porthos.kernels.elements import length_law, turn_law, value_law
from porthos.kernels.pose import Pose, add_row_force, row_change
from porthos.kernels.tables import LENGTH, TURN, Layout, Mechanism
from porthos.kernels.vectors import Triple, combine3, cross3, dot3, part3, row3, row33
from porthos.notation import Array


@stage
def line(mech: Mechanism, r: int, q: Array, marker: Array) -> tuple[Triple, Triple, Triple]:
    """The line w between the two points of row r at q, and the arms on both sides, which w contains."""
    a, b = mech.row[r].body[0], mech.row[r].body[1]
    ra, rb = row3(marker, mech.row[r].marker[0, 1]), row3(marker, mech.row[r].marker[1, 1])
    w = combine3(1.0, combine3(1.0, row33(q, b, 0), 1.0, rb), 1.0, combine3(-1.0, row33(q, a, 0), 1.0, ra))
    return w, ra, rb


@stage
def pull(x: Array, a: int, b: int, force: Triple, torque_a: Triple, torque_b: Triple) -> None:
    """Add a force between the bodies a and b and its torques to the momentum rows."""
    for k in range(3):
        x[6 * a + k] -= force[k]
        x[6 * b + k] += force[k]
        x[6 * a + 3 + k] += torque_a[k]
        x[6 * b + 3 + k] += torque_b[k]


@stage
def light_length(mech: Mechanism, r: int, h: float, mid: Pose, start: Array, give: Array, z: Array, x: Array) -> None:
    """The force of a light element along the line w between two points: g = |w|^2/2."""
    a, b, f = mech.row[r].body[0], mech.row[r].body[1], 0.5 * h * h
    w, ra, rb = line(mech, r, mid.q, mid.marker)
    ta, tb = cross3(ra, w), cross3(rb, w)
    gap = dot3(w, part3(z, 6 * b)) - dot3(w, part3(z, 6 * a)) + dot3(ta, part3(z, 6 * a + 3))
    gap += dot3(tb, part3(z, 6 * b + 3))
    lam, slope = length_law(mech, mech.row[r].law, h, start[r], start[r] + 2.0 * gap)
    lam, give[r, 0] = f * lam, f * slope
    pull(x, a, b, combine3(lam, w, 0.0, w), combine3(lam, ta, 0.0, ta), combine3(lam, tb, 0.0, tb))
    z[6 * (mech.body.size + 1) + r] = lam


@stage
def light_turn(mech: Mechanism, r: int, h: float, mid: Pose, start: Array, give: Array, z: Array, x: Array) -> None:
    """The torque of a light element about an axis e: (g, k) = (a . b, c . b), and e = -kbar a x b + gbar c x b.

    Beside its slope stands e, and mu of the torque mu e behind it.
    """
    A, B, f = 6 * mech.row[r].body[0] + 3, 6 * mech.row[r].body[1] + 3, 0.5 * h * h
    b = row3(mid.marker, mech.row[r].marker[1, 1])
    by_g = cross3(row3(mid.marker, mech.row[r].marker[0, 0]), b)
    by_k = cross3(row3(mid.marker, mech.row[r + 1].marker[0, 0]), b)
    turn = combine3(1.0, part3(z, A), -1.0, part3(z, B))
    g, k = start[r] + dot3(by_g, turn), start[r + 1] + dot3(by_k, turn)  # means
    mu, slope = turn_law(
        mech, mech.row[r].law, h, 0.0, start[r], start[r + 1], 2.0 * g - start[r], 2.0 * k - start[r + 1]
    )
    e, mu, at = combine3(-k, by_g, g, by_k), f * mu, 6 * (mech.body.size + 1) + r
    twist(x, A, B, mu, e)
    z[at], z[at + 1] = -mu * k, mu * g
    give[r, 0], give[r + 1, 0] = f * slope * (1.5 - 0.5 * dot3(e, e)), mu  # over |e|, which is hardly less than 1
    give[r, 1], give[r, 2], give[r, 3] = e


@stage
def twist(x: Array, A: int, B: int, f: float, torque: Triple) -> None:
    """Add f times a torque between two bodies to their momentum rows from A and B on."""
    for k in range(3):
        x[A + k] += f * torque[k]
        x[B + k] -= f * torque[k]


@stage
def light_rows(mech: Mechanism, j: int, h: float, mid: Pose, start: Array, give: Array, z: Array, x: Array) -> None:
    """The forces of a light element in the momentum rows, and their slopes; its own rows are empty. None rubs."""
    r, last, f, first = mech.joint[j].first, mech.joint[j].last, 0.5 * h * h, 6 * (mech.body.size + 1)
    while r < last:
        n = mech.row[r].law
        measure = mech.law[n].measure
        x[first + r] = 0.0
        if measure == LENGTH:
            light_length(mech, r, h, mid, start, give, z, x)
        elif measure == TURN:
            x[first + r + 1] = 0.0
            light_turn(mech, r, h, mid, start, give, z, x)
            r += 1
        else:
            lam, slope = value_law(mech, n, h, 0.0, start[r], start[r] + row_change(mech, r, mid, z))
            z[first + r], give[r, 0] = f * lam, f * slope
            add_row_force(mech, r, mid, z[first + r], x)
        r += 1


@stage
def add_length_change(mech: Mechanism, r: int, mid: Pose, slope: float, lam: float, x: Array, y: Array) -> None:
    """Add to y how the force lam w changes with the update x: along w, and because w and the arms turn."""
    a, b = mech.row[r].body[0], mech.row[r].body[1]
    w, ra, rb = line(mech, r, mid.q, mid.marker)
    sa, sb = cross3(part3(x, 6 * a + 3), ra), cross3(part3(x, 6 * b + 3), rb)
    move = combine3(1.0, combine3(1.0, part3(x, 6 * b), 1.0, sb), 1.0, combine3(-1.0, part3(x, 6 * a), 1.0, sa))
    force = combine3(slope * dot3(w, move), w, 0.5 * lam, move)  # the midpoint moves by half of the update
    torque_a = combine3(1.0, cross3(ra, force), 0.5 * lam, cross3(sa, w))
    pull(y, a, b, force, torque_a, combine3(1.0, cross3(rb, force), 0.5 * lam, cross3(sb, w)))


@stage
def add_turn_change(mech: Mechanism, r: int, give: Array, z: Array, x: Array, y: Array) -> None:
    """Add to y how the torque mu e changes with the update x: with the angle, and because e turns and shrinks.

    Where all turn about e, its length is that of three means: cos(alpha/2) cos(beta/2) cos((alpha - beta)/2).
    """
    A, B, half = 6 * mech.row[r].body[0] + 3, 6 * mech.row[r].body[1] + 3, 0.5 * give[r + 1, 0]
    e, by_A, by_B = (give[r, 1], give[r, 2], give[r, 3]), part3(x, A), part3(x, B)
    turn, by = combine3(1.0, part3(z, A), -1.0, part3(z, B)), combine3(1.0, by_A, -1.0, by_B)
    shrunk = dot3(part3(z, A), by_A) + dot3(part3(z, B), by_B) + dot3(turn, by)
    twist(y, A, B, 1.0, combine3(give[r, 0] * dot3(e, by) - half * shrunk, e, half, cross3(by_A, e)))


@stage
def light_changes(
    mech: Mechanism, layout: Layout, n: int, mid: Pose, give: Array, z: Array, x: Array, y: Array
) -> None:
    """Add S x to y: how the momentum rows change with the update x by the forces of light elements in leg n."""
    first, leg = 6 * (mech.body.size + 1), layout.portion.leg[n]
    for at in range(leg.joint[0] & OFFSET, leg.joint[1] & OFFSET):
        j = layout.portion.joint[at] & OFFSET
        r = mech.joint[j].first if layout.joint[j].light else mech.joint[j].last
        while r < mech.joint[j].last:
            measure = mech.law[mech.row[r].law].measure
            if measure == LENGTH:
                add_length_change(mech, r, mid, give[r, 0], z[first + r], x, y)
            elif measure == TURN:
                add_turn_change(mech, r, give, z, x, y)
                r += 1
            else:
                add_row_force(mech, r, mid, 0.5 * give[r, 0] * row_change(mech, r, mid, x), y)
            r += 1

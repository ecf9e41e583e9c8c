"""Arithmetic of the small dense blocks of a flat matrix.

Blocks of 3, 4 and 5 rows (a body or a ball joint, a universal joint, a hinge) have code of their own, written so that
entries stay in registers. `OFFSET` masks an offset: what is known not to be negative needs no test for an index that
counts from the end.
"""

from __future__ import annotations

from typing import Any

from porthos.kernels.compile import algebra, inner, stage
from porthos.notation import Array

OFFSET = (1 << 31) - 1
UNFIT = -1  # a block without clear pivots, left as it was
SHARP = 1e-6  # share of what it was that leaves a pivot clear: a smaller one could make round-off of others look clear


@inner
def best_pivot(data: Array, at: int, n: int, scale: Array, p: int, taken: int) -> int:
    """The diagonal entry, among those whose bit is not in `taken`, that lost least of the largest value it ever had."""
    best, most = -1, -1.0
    for k in range(n):
        share = abs(data[at + k * (n + 1)]) / scale[p + k] if scale[p + k] > 0.0 else 0.0
        if not taken >> k & 1 and not share <= most:
            best, most = k, share
    return best


@algebra
def invert_any(data: Array, at: int, n: int, scale: Array, p: int, floor: float, choose: bool) -> int:
    """Replace the n x n block at `at` by its inverse, in place (Gauss-Jordan); returns how many rows it skipped.

    The blocks are close to symmetric definite ones, so the diagonal entries serve as pivots: in their order, or the
    best one first if it is to `choose`. One below `floor` times the largest value it ever had, scale[p + k], is
    round-off: its row repeats others and gets a zero inverse. In their order a row that nearly repeats those before it
    would be kept, and others would be skipped that tell more.
    """
    skipped, taken = 0, 0
    for turn in range(n):
        k = best_pivot(data, at, n, scale, p, taken) if choose else turn
        taken |= 1 << k
        row = at + k * n
        pivot = data[row + k]
        if not abs(pivot) > floor * scale[p + k]:
            skipped += 1
            for i in range(n):
                data[row + i] = 0.0
                data[at + i * n + k] = 0.0
            continue
        inverse = 1.0 / pivot
        data[row + k] = 1.0
        for c in range(n):
            data[row + c] *= inverse
        for i in range(n):
            if i != k:
                f = data[at + i * n + k]
                data[at + i * n + k] = 0.0
                for c in range(n):
                    data[at + i * n + c] -= f * data[row + c]
    return skipped


@algebra
def invert_3(data: Array, at: int, scale: Array, p: int, floor: float) -> int:
    """`invert_any` for n = 3 by cofactors; the pivots of the elimination are ratios of leading minors."""
    at, p = at & OFFSET, p & OFFSET
    a, b, c = data[at], data[at + 1], data[at + 2]
    d, e, f = data[at + 3], data[at + 4], data[at + 5]
    g, h, i = data[at + 6], data[at + 7], data[at + 8]
    A, D, G = e * i - f * h, c * h - b * i, b * f - c * e
    minor, det = a * e - b * d, a * A + d * D + g * G
    if not (abs(a) > floor * scale[p] and abs(minor) > floor * scale[p + 1] * abs(a)
            and abs(det) > floor * scale[p + 2] * abs(minor)):  # fmt: skip
        return UNFIT
    r = 1.0 / det
    data[at], data[at + 1], data[at + 2] = r * A, r * D, r * G
    data[at + 3], data[at + 4], data[at + 5] = r * (f * g - d * i), r * (a * i - c * g), r * (c * d - a * f)
    data[at + 6], data[at + 7], data[at + 8] = r * (d * h - e * g), r * (b * g - a * h), r * minor
    return 0


@algebra
def invert_4(data: Array, at: int, scale: Array, p: int, floor: float) -> int:
    """`invert_any` for n = 4 by the inverses of the leading 2 x 2 block and of its complement."""
    at, p = at & OFFSET, p & OFFSET
    a, b, b0, b1 = data[at], data[at + 1], data[at + 2], data[at + 3]
    c, d, b2, b3 = data[at + 4], data[at + 5], data[at + 6], data[at + 7]
    c0, c1, c2, c3 = data[at + 8], data[at + 9], data[at + 12], data[at + 13]
    det = a * d - b * c
    r = 1.0 / det
    k0, k1, k2, k3 = r * d, -r * b, -r * c, r * a
    w0, w1, w2, w3 = k0 * b0 + k1 * b2, k0 * b1 + k1 * b3, k2 * b0 + k3 * b2, k2 * b1 + k3 * b3
    s, t = data[at + 10] - (c0 * w0 + c1 * w2), data[at + 11] - (c0 * w1 + c1 * w3)
    u, v = data[at + 14] - (c2 * w0 + c3 * w2), data[at + 15] - (c2 * w1 + c3 * w3)
    rest = s * v - t * u
    if not (abs(a) > floor * scale[p] and abs(det) > floor * scale[p + 1] * abs(a) and abs(s) > floor * scale[p + 2]
            and abs(rest) > floor * scale[p + 3] * abs(s)):  # fmt: skip
        return UNFIT
    q = 1.0 / rest
    s, t, u, v = q * v, -q * t, -q * u, q * s
    v0, v1, v2, v3 = c0 * k0 + c1 * k2, c0 * k1 + c1 * k3, c2 * k0 + c3 * k2, c2 * k1 + c3 * k3
    x0, x1, x2, x3 = w0 * s + w1 * u, w0 * t + w1 * v, w2 * s + w3 * u, w2 * t + w3 * v
    data[at], data[at + 1], data[at + 2], data[at + 3] = k0 + x0 * v0 + x1 * v2, k1 + x0 * v1 + x1 * v3, -x0, -x1
    data[at + 4], data[at + 5], data[at + 6], data[at + 7] = k2 + x2 * v0 + x3 * v2, k3 + x2 * v1 + x3 * v3, -x2, -x3
    data[at + 8], data[at + 9], data[at + 10], data[at + 11] = -(s * v0 + t * v2), -(s * v1 + t * v3), s, t
    data[at + 12], data[at + 13], data[at + 14], data[at + 15] = -(u * v0 + v * v2), -(u * v1 + v * v3), u, v
    return 0


@algebra
def invert_5(data: Array, at: int, scale: Array, p: int, floor: float) -> int:
    """`invert_any` for n = 5 by the inverses of the leading 3 x 3 block and of its complement (2 x 2)."""
    at, p = at & OFFSET, p & OFFSET
    a, b, c, b0, b1 = data[at], data[at + 1], data[at + 2], data[at + 3], data[at + 4]
    d, e, f, b2, b3 = data[at + 5], data[at + 6], data[at + 7], data[at + 8], data[at + 9]
    g, h, i, b4, b5 = data[at + 10], data[at + 11], data[at + 12], data[at + 13], data[at + 14]
    c0, c1, c2 = data[at + 15], data[at + 16], data[at + 17]
    c3, c4, c5 = data[at + 20], data[at + 21], data[at + 22]
    A, D, G = e * i - f * h, c * h - b * i, b * f - c * e
    minor, det = a * e - b * d, a * A + d * D + g * G
    r = 1.0 / det
    k0, k1, k2 = r * A, r * D, r * G
    k3, k4, k5 = r * (f * g - d * i), r * (a * i - c * g), r * (c * d - a * f)
    k6, k7, k8 = r * (d * h - e * g), r * (b * g - a * h), r * minor
    w0, w1 = k0 * b0 + k1 * b2 + k2 * b4, k0 * b1 + k1 * b3 + k2 * b5
    w2, w3 = k3 * b0 + k4 * b2 + k5 * b4, k3 * b1 + k4 * b3 + k5 * b5
    w4, w5 = k6 * b0 + k7 * b2 + k8 * b4, k6 * b1 + k7 * b3 + k8 * b5
    s, t = data[at + 18] - (c0 * w0 + c1 * w2 + c2 * w4), data[at + 19] - (c0 * w1 + c1 * w3 + c2 * w5)
    u, v = data[at + 23] - (c3 * w0 + c4 * w2 + c5 * w4), data[at + 24] - (c3 * w1 + c4 * w3 + c5 * w5)
    rest = s * v - t * u
    if not (abs(a) > floor * scale[p] and abs(minor) > floor * scale[p + 1] * abs(a)
            and abs(det) > floor * scale[p + 2] * abs(minor) and abs(s) > floor * scale[p + 3]
            and abs(rest) > floor * scale[p + 4] * abs(s)):  # fmt: skip
        return UNFIT
    q = 1.0 / rest
    s, t, u, v = q * v, -q * t, -q * u, q * s
    v0, v1, v2 = c0 * k0 + c1 * k3 + c2 * k6, c0 * k1 + c1 * k4 + c2 * k7, c0 * k2 + c1 * k5 + c2 * k8
    v3, v4, v5 = c3 * k0 + c4 * k3 + c5 * k6, c3 * k1 + c4 * k4 + c5 * k7, c3 * k2 + c4 * k5 + c5 * k8
    x0, x1, x2, x3, x4, x5 = (
        w0 * s + w1 * u,
        w0 * t + w1 * v,
        w2 * s + w3 * u,
        w2 * t + w3 * v,
        w4 * s + w5 * u,
        w4 * t + w5 * v,
    )
    data[at], data[at + 1], data[at + 2] = k0 + x0 * v0 + x1 * v3, k1 + x0 * v1 + x1 * v4, k2 + x0 * v2 + x1 * v5
    data[at + 5], data[at + 6], data[at + 7] = k3 + x2 * v0 + x3 * v3, k4 + x2 * v1 + x3 * v4, k5 + x2 * v2 + x3 * v5
    data[at + 10], data[at + 11], data[at + 12] = k6 + x4 * v0 + x5 * v3, k7 + x4 * v1 + x5 * v4, k8 + x4 * v2 + x5 * v5
    data[at + 3], data[at + 4], data[at + 8], data[at + 9], data[at + 13], data[at + 14] = -x0, -x1, -x2, -x3, -x4, -x5
    data[at + 15], data[at + 16], data[at + 17] = -(s * v0 + t * v3), -(s * v1 + t * v4), -(s * v2 + t * v5)
    data[at + 20], data[at + 21], data[at + 22] = -(u * v0 + v * v3), -(u * v1 + v * v4), -(u * v2 + v * v5)
    data[at + 18], data[at + 19], data[at + 23], data[at + 24] = s, t, u, v
    return 0


@stage
def invert(data: Array, at: int, n: int, scale: Array, p: int, floor: float, choose: bool) -> int:
    """Invert a block in place, with code made for the sizes that are common."""
    skipped, clear = UNFIT, max(floor, SHARP) if choose else floor
    if n == 3:
        skipped = invert_3(data, at, scale, p, clear)
    elif n == 4:
        skipped = invert_4(data, at, scale, p, clear)
    elif n == 5:
        skipped = invert_5(data, at, scale, p, clear)
    return invert_any(data, at, n, scale, p, floor, choose) if skipped == UNFIT else skipped


def _product_to_3(n: int) -> Any:
    """Block at `target` (rows x 3) -= left (rows x n) right (n x 3), n known to the compiler."""

    @algebra
    def product(data: Array, target: int, left: int, right: int, rows: int) -> None:
        target, left, right = target & OFFSET, left & OFFSET, right & OFFSET
        for _ in range(rows):
            s0, s1, s2 = 0.0, 0.0, 0.0
            for k in range(n):
                x, at = data[left + k], right + 3 * k
                s0 += x * data[at]
                s1 += x * data[at + 1]
                s2 += x * data[at + 2]
            s0, s1, s2 = data[target] - s0, data[target + 1] - s1, data[target + 2] - s2
            data[target], data[target + 1], data[target + 2] = s0, s1, s2
            left += n
            target += 3

    return product


def _product_to_4(n: int) -> Any:
    """Block at `target` (rows x 4) -= left (rows x n) right (n x 4), n known to the compiler."""

    @algebra
    def product(data: Array, target: int, left: int, right: int, rows: int) -> None:
        target, left, right = target & OFFSET, left & OFFSET, right & OFFSET
        for _ in range(rows):
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for k in range(n):
                x, at = data[left + k], right + 4 * k
                s0 += x * data[at]
                s1 += x * data[at + 1]
                s2 += x * data[at + 2]
                s3 += x * data[at + 3]
            data[target] -= s0
            data[target + 1] -= s1
            data[target + 2] -= s2
            data[target + 3] -= s3
            left += n
            target += 4

    return product


def _product_to_5(n: int) -> Any:
    """Block at `target` (rows x 5) -= left (rows x n) right (n x 5), two rows at a time."""

    @algebra
    def product(data: Array, target: int, left: int, right: int, rows: int) -> None:
        target, left, right = target & OFFSET, left & OFFSET, right & OFFSET
        for _ in range(rows >> 1):
            s0, s1, s2, s3, s4, t0, t1, t2, t3, t4 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(n):
                x, y, at = data[left + k], data[left + n + k], right + 5 * k
                b0, b1, b2, b3, b4 = data[at], data[at + 1], data[at + 2], data[at + 3], data[at + 4]
                s0, s1, s2, s3, s4 = s0 + x * b0, s1 + x * b1, s2 + x * b2, s3 + x * b3, s4 + x * b4
                t0, t1, t2, t3, t4 = t0 + y * b0, t1 + y * b1, t2 + y * b2, t3 + y * b3, t4 + y * b4
            data[target] -= s0
            data[target + 1] -= s1
            data[target + 2] -= s2
            data[target + 3] -= s3
            data[target + 4] -= s4
            data[target + 5] -= t0
            data[target + 6] -= t1
            data[target + 7] -= t2
            data[target + 8] -= t3
            data[target + 9] -= t4
            left += 2 * n
            target += 10
        if rows & 1:
            s0, s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(n):
                x, at = data[left + k], right + 5 * k
                b0, b1, b2, b3, b4 = data[at], data[at + 1], data[at + 2], data[at + 3], data[at + 4]
                s0, s1, s2, s3, s4 = s0 + x * b0, s1 + x * b1, s2 + x * b2, s3 + x * b3, s4 + x * b4
            data[target] -= s0
            data[target + 1] -= s1
            data[target + 2] -= s2
            data[target + 3] -= s3
            data[target + 4] -= s4

    return product


@stage
def product_33(data: Array, target: int, left: int, right: int, rows: int) -> None:
    """Block at `target` (rows x 3) -= left (rows x 3) right (3 x 3)."""
    target, left, right = target & OFFSET, left & OFFSET, right & OFFSET
    a0, a1, a2 = data[right], data[right + 1], data[right + 2]
    b0, b1, b2 = data[right + 3], data[right + 4], data[right + 5]
    c0, c1, c2 = data[right + 6], data[right + 7], data[right + 8]
    for _ in range(rows):
        x, y, z = data[left], data[left + 1], data[left + 2]
        data[target] -= x * a0 + y * b0 + z * c0
        data[target + 1] -= x * a1 + y * b1 + z * c1
        data[target + 2] -= x * a2 + y * b2 + z * c2
        left += 3
        target += 3


product_43, product_53 = _product_to_3(4), _product_to_3(5)
product_34, product_44, product_54 = _product_to_4(3), _product_to_4(4), _product_to_4(5)
product_35, product_45, product_55 = _product_to_5(3), _product_to_5(4), _product_to_5(5)


@algebra
def product_any(data: Array, target: int, left: int, right: int, rows: int, n: int, columns: int) -> None:
    """Block at `target` (rows x columns) -= block at `left` (rows x n) times block at `right` (n x columns)."""
    for r in range(rows):
        for c in range(columns):
            total = 0.0
            for k in range(n):
                total += data[left + r * n + k] * data[right + k * columns + c]
            data[target + r * columns + c] -= total


@stage
def subtract_product(data: Array, target: int, left: int, right: int, rows: int, n: int, columns: int) -> None:
    """Subtract a product of blocks, with code made for the sizes that are common."""
    if n == 5 and columns == 5:
        product_55(data, target, left, right, rows)
    elif n == 5 and columns == 3:
        product_53(data, target, left, right, rows)
    elif n == 5 and columns == 4:
        product_54(data, target, left, right, rows)
    elif n == 4 and columns == 3:
        product_43(data, target, left, right, rows)
    elif n == 4 and columns == 4:
        product_44(data, target, left, right, rows)
    elif n == 4 and columns == 5:
        product_45(data, target, left, right, rows)
    else:
        product_any(data, target, left, right, rows, n, columns)


@inner
def add_turning(data: Array, at: int, n: int, f: float, v0: float, v1: float, v2: float, r0: float, r1: float,
                r2: float) -> None:  # fmt: skip
    """Add f (r v^T - (v . r) I), the matrix of f (theta x r) x v, to the 3 x 3 block at `at` with rows of length n."""
    trace = v0 * r0 + v1 * r1 + v2 * r2
    data[at] += f * (r0 * v0 - trace)
    data[at + 1] += f * r0 * v1
    data[at + 2] += f * r0 * v2
    data[at + n] += f * r1 * v0
    data[at + n + 1] += f * (r1 * v1 - trace)
    data[at + n + 2] += f * r1 * v2
    data[at + 2 * n] += f * r2 * v0
    data[at + 2 * n + 1] += f * r2 * v1
    data[at + 2 * n + 2] += f * (r2 * v2 - trace)


@inner
def add_cross(data: Array, at: int, n: int, f: float, a0: float, a1: float, a2: float) -> None:
    """Add f skew(a) to the 3 x 3 block at `at` with rows of length n."""
    data[at + 1] -= f * a2
    data[at + 2] += f * a1
    data[at + n] += f * a2
    data[at + n + 2] -= f * a0
    data[at + 2 * n] -= f * a1
    data[at + 2 * n + 1] += f * a0

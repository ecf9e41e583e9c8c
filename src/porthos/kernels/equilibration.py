"""Rows and columns of a sparse matrix scaled to largest entries of one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from porthos.kernels.compile import loop
from porthos.notation import Array, IntArray


class Columns(NamedTuple):
    """A sparse matrix, column by column."""

    pointers: IntArray  # (n+1,) the entries of column j are pointers[j] to pointers[j + 1]
    rows: IntArray
    entries: Array


@loop
def equilibrate(A: Columns, out: Columns, row: Array, column: Array) -> bool:
    """out = diag(row) A diag(column), with the diagonal and all entries that are not zero; False if one is not finite.

    SuperLU reads beyond its arrays where it finds no row for a column. With the diagonal there always is one: if row r
    is taken for a column instead of its own row, that one inherits the columns of r. Rows of a column are sorted.
    """
    for i in range(row.size):
        row[i] = 0.0
    for e in range(A.entries.size):
        if not np.isfinite(A.entries[e]):
            return False
        row[A.rows[e]] = max(row[A.rows[e]], abs(A.entries[e]))
    for i in range(row.size):
        row[i] = 1.0 / row[i] if row[i] > 0.0 else 1.0
    end = 0
    out.pointers[0] = 0
    for j in range(column.size):
        begin, largest, missing = end, 0.0, True
        for e in range(A.pointers[j], A.pointers[j + 1]):
            i, a = A.rows[e], row[A.rows[e]] * A.entries[e]
            if missing and i > j:
                out.rows[end], out.entries[end], missing = j, 0.0, False
                end += 1
            if a != 0.0 or i == j:
                out.rows[end], out.entries[end] = i, a
                end += 1
            missing, largest = missing and i != j, max(largest, abs(a))
        if missing:
            out.rows[end], out.entries[end] = j, 0.0
            end += 1
        column[j] = 1.0 / largest if largest > 0.0 else 1.0
        for e in range(begin, end):
            out.entries[e] *= column[j]
        out.pointers[j + 1] = end
    return True

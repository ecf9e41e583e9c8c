"""Controllers in Python, asked from within a compiled loop before every step: y = B^T (v_P, omega), (F, tau) = B u."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from porthos.kernels.compile import inner
from porthos.kernels.forces import node_outputs
from porthos.kernels.tables import Mechanism
from porthos.notation import Array, IntArray

STOPPED = 4  # how a march ended: a controller failed, or does not want to go on; see kernels/newton.py for the others

QUESTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)  # step of the march -> 1: u is filled in, 0: stop


class Feedback(NamedTuple):
    """Controllers and the memory through which they are asked. Sizes below 6 are padded with zeros."""

    address: int  # of a function of type QUESTION that reads y and writes u
    terminal: IntArray  # (C,) loads that have a controller
    basis: Array  # (C, 6, 6) B
    y: Array  # (C, 6) outputs at the begin of the step
    u: Array  # (C, 6)


NOBODY = Feedback(0, np.zeros(0, dtype=np.int64), np.zeros((0, 6, 6)), np.zeros((0, 6)), np.zeros((0, 6)))


def call(address: int, n: int) -> int:
    """The function of type QUESTION at an address: a number, so that compiled code does not depend on the function."""
    return QUESTION(address)(n)


def _jump(context: Any, address: Any, n: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [word]).as_pointer())
        return builder.call(function, [arguments[1]])

    return types.int64(types.int64, types.int64), code


_jumped: Any = intrinsic(_jump)


@overload(call)
def _call(address: Any, n: Any) -> Any:
    def compiled(address: Any, n: Any) -> Any:
        return _jumped(address, n)

    return compiled


@inner
def asked(mech: Mechanism, n: int, substeps: int, wrench: Array, q: Array, v: Array, feedback: Feedback) -> bool:
    """Fill in the wrenches of all controllers for step n of the march and all its substeps; False if it shall stop."""
    for k in range(feedback.terminal.size):
        load = feedback.terminal[k]
        point, spin = node_outputs(mech, load, q, v)
        for j in range(6):
            feedback.y[k, j] = 0.0
            for i in range(3):
                feedback.y[k, j] += feedback.basis[k, i, j] * point[i] + feedback.basis[k, i + 3, j] * spin[i]
    if call(feedback.address, n) != 1:
        return False
    for k in range(feedback.terminal.size):
        for i in range(6):
            F = 0.0
            for j in range(6):
                F += feedback.basis[k, i, j] * feedback.u[k, j]
            for row in range(n * substeps, (n + 1) * substeps):
                wrench[row, feedback.terminal[k], i] = F
    return True

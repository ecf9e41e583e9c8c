"""Compiled functions of a symbolic Lagrangian: expressions with common parts -> a source file -> numba.

The file is named by the hash of its text and kept in the user's cache, so an equal Lagrangian with other parameters is
neither written nor compiled again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from porthos.errors import ModelError
from porthos.kernels.compile import cache_folder
from porthos.kernels.generated import compiled
from porthos.notation import Array
from porthos.system.symbolic import SymbolicLagrangian
from porthos.system.terms import Terms
from porthos.system.watching import called

HEADER = '"""Generated from a Lagrangian: f(t, q, v, w, p, out) fills out; p are the parameters."""\n\nimport math\n'


def source_of(of: SymbolicLagrangian) -> str:
    """The text of a module with one function for each set of terms."""
    import sympy as sp

    n, m, k = of.q.rows, of.g.rows, of.Bt.cols
    w = sp.Matrix(max(m, n + k), 1, lambda i, j: sp.Symbol(f"w[{i}]"))
    lam, a, u = w[:m, :], w[:n, :], w[n : n + k, :]
    reaction = (of.G.T * lam).applyfunc(sp.expand) if m else sp.zeros(n, 1)
    N, K = ([f.diff(x) for f in F for x in of.q] for F in (of.rate, reaction))
    Tq, Tv = of.tangent_of(a, u)
    outputs = {
        "L": [of.L],
        "Lq": of.Lq,
        "Lv": of.Lv,
        "second": [*of.Lqq, *of.Lqv, *of.M],
        "g": of.g,
        "G": of.G,
        "g_t": of.g_t,
        "curvature": [*N, *K, *of.rate.diff(of.t)],
        "D": of.D,
        "Bt": of.Bt,
        "tangent": [*Tq, *Tv],
    }
    places = {of.t: sp.Symbol("t")}
    for letter, symbols in (("q", of.q), ("v", of.v), ("p", of.parameters)):
        places |= {symbol: sp.Symbol(f"{letter}[{i}]") for i, symbol in enumerate(symbols)}
    parts = [_function(of.name, name, [e.xreplace(places) for e in outputs[name]]) for name in outputs]
    return "\n\n".join([HEADER, *parts])


def _function(lagrangian: str, name: str, expressions: list[Any]) -> str:
    """The text of one function; what its expressions have in common is computed once."""
    import sympy as sp
    from sympy.printing.codeprinter import PrintMethodNotImplementedError
    from sympy.printing.pycode import PythonCodePrinter

    class Printer(PythonCodePrinter):
        def _print_Float(self, number: Any) -> str:
            return repr(float(number))  # all digits; SymPy prints fifteen

    printer = Printer({"fully_qualified_modules": True, "strict": True})
    common, results = sp.cse([sp.sympify(e) for e in expressions], symbols=sp.numbered_symbols("c"))
    lines = [f"def {name}(t, q, v, w, p, out):"]
    try:
        lines += [f"    {symbol} = {printer.doprint(value)}" for symbol, value in common]
        lines += [f"    out[{i}] = {printer.doprint(value)}" for i, value in enumerate(results)]
    except PrintMethodNotImplementedError as error:
        found = str(error).splitlines()[0].rpartition(": ")[2]
        raise ModelError(
            f"Lagrangian '{lagrangian}': no code can be generated for '{found}' in {name}. Use elementary functions; "
            "abs and sign need real symbols, sympy.Symbol('x', real=True)."
        ) from error
    return "\n".join([*lines, "    return"] if len(lines) == 1 else lines) + "\n"


def loaded(source: str) -> ModuleType:
    """The module of a source text, from a file named by its hash in the user's cache."""
    name = f"porthos_lagrangian_{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    if name in sys.modules:
        return sys.modules[name]
    folder = cache_folder().parent / "lagrangians"
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text() != source:
        folder.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "w") as file:
            file.write(source)
        os.replace(part, path)  # whole or not at all, also when two processes write it
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # numba looks it up there, by its name
    spec.loader.exec_module(module)
    return module


class GeneratedTerms(Terms):
    """The terms of a symbolic Lagrangian; each function is compiled when it is first used."""

    analytic = True

    def __init__(self, of: SymbolicLagrangian) -> None:
        self._name, self.n, self.m, self.k = of.name, of.q.rows, of.g.rows, of.Bt.cols
        self.rheonomic, self.quadratic = of.rheonomic, of.quadratic
        self.active = np.array([[float(f.has(x)) for x in of.q] for f in [of.L, *of.g]])
        self.parameters = np.array(list(of.parameters.values()), dtype=np.float64)
        self.source = source_of(of)
        self._functions: dict[str, Any] = {}
        self._nothing = np.zeros(self.n)

    @cached_property
    def _module(self) -> ModuleType:
        return loaded(self.source)

    def function(self, name: str) -> Any:
        """A compiled function f(t, q, v, w, p, out) of the module."""
        if name not in self._functions:
            self._functions[name] = compiled(getattr(self._module, name))
        return self._functions[name]

    def _call(self, name: str, size: int, t: float, q: Array, v: Array, w: Array | None = None) -> Array:
        function, out = self.function(name), np.empty(size)

        def value(*at: Any) -> Array:
            function(*at, self.parameters, out)
            return out

        w = self._nothing if w is None else w
        return called(f"Lagrangian '{self._name}': {name}", value, t, *map(np.ascontiguousarray, (q, v, w)))

    def L(self, q: Array, v: Array) -> float:
        """The Lagrangian."""
        return float(self._call("L", 1, 0.0, q, v)[0])

    def Lq(self, q: Array, v: Array) -> Array:
        """dL/dq."""
        return self._call("Lq", self.n, 0.0, q, v)

    def Lv(self, q: Array, v: Array) -> Array:
        """dL/dv."""
        return self._call("Lv", self.n, 0.0, q, v)

    def second(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Lqq, Lqv, Lvv."""
        Lqq, Lqv, Lvv = self._call("second", 3 * self.n**2, 0.0, q, v).reshape(3, self.n, self.n)
        return Lqq, Lqv, Lvv

    def g(self, t: float, q: Array) -> Array:
        """The constraints."""
        return self._call("g", self.m, t, q, self._nothing)

    def G(self, t: float, q: Array) -> Array:
        """dg/dq."""
        return self._call("G", self.m * self.n, t, q, self._nothing).reshape(self.m, self.n)

    def g_t(self, t: float, q: Array) -> Array:
        """dg/dt."""
        return self._call("g_t", self.m, t, q, self._nothing)

    def curvature(self, t: float, q: Array, v: Array, lam: Array) -> tuple[Array, Array, Array]:
        """d(G v + g_t)/dq, d(G^T lambda)/dq and d(G v + g_t)/dt."""
        n, m = self.n, self.m
        N, K, drift = np.split(self._call("curvature", m * n + n * n + m, t, q, v, lam), [m * n, m * n + n * n])
        return N.reshape(m, n), K.reshape(n, n), drift

    def D(self, t: float, q: Array, v: Array) -> Array:
        """The damping matrix."""
        return self._call("D", self.n**2, t, q, v).reshape(self.n, self.n)

    def Bt(self, t: float, q: Array, v: Array) -> Array:
        """The input matrix."""
        return self._call("Bt", self.n * self.k, t, q, v).reshape(self.n, self.k)

    def tangent(self, t: float, q: Array, v: Array, a: Array, u: Array) -> tuple[Array, Array]:
        """The derivatives of Lvv a + Lvq v - Lq + D v - B~ u with respect to q and v."""
        T = self._call("tangent", 2 * self.n**2, t, q, v, np.concatenate([a, u]))
        Tq, Tv = T.reshape(2, self.n, self.n)
        return Tq, Tv

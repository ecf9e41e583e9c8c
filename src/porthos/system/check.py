"""Numerical tests of the structural properties of a pH-DAE, with a report that a person can read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from porthos.errors import StructureError
from porthos.notation import Array

if TYPE_CHECKING:
    from porthos.system.phdae import PHDAE

ALGEBRAIC_TOLERANCE = 1e-12
DIFFERENCE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Finding:
    """One property: how far it is violated (relative), what is allowed, and where it is violated most."""

    name: str
    defect: float
    tolerance: float
    where: str = ""

    @property
    def ok(self) -> bool:
        """Whether the property holds (a NaN never does)."""
        return bool(self.defect <= self.tolerance)


@dataclass(frozen=True)
class Report:
    """The findings of `check`."""

    system: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether every property holds."""
        return all(f.ok for f in self.findings)

    def __bool__(self) -> bool:
        return self.ok

    def __getitem__(self, name: str) -> Finding:
        return next(f for f in self.findings if f.name == name)

    def __str__(self) -> str:
        width = max(len(f.name) for f in self.findings)
        lines = [f"structure of '{self.system}': {'all properties hold' if self.ok else 'NOT a valid system'}"]
        for f in self.findings:
            mark = "ok  " if f.ok else "FAIL"
            place = f"   {f.where}" if f.where and not f.ok else ""
            lines.append(f"  {mark} {f.name:<{width}}  defect {f.defect:9.2e}  allowed {f.tolerance:.0e}{place}")
        return "\n".join(lines)

    def require(self) -> Report:
        """Raise a StructureError if a property fails."""
        if not self.ok:
            raise StructureError(str(self))
        return self


def check_structure(system: PHDAE, x: Array) -> Report:
    """J skew, R symmetric and >= 0, E^T z = grad H with the gradient by differences, shapes, and finite numbers."""
    J, R, E, B, z = system.J(x), system.R(x), system.E(x), system.B(x), system.z(x)
    findings = [
        _finite(system, {"E": E, "J": J, "R": R, "B": B, "z": sparse.csr_array(z[None, :])}),
        _largest(system, "J skew", sparse.csr_array(J + J.T), _norm(J)),
        _largest(system, "R symmetric", sparse.csr_array(R - R.T), _norm(R)),
        _semidefinite(R),
        _gradient(system, x, E.T @ z),
    ]
    return Report(system.name, tuple(findings))


def _norm(A: sparse.csr_array) -> float:
    return max(1.0, float(abs(A).max())) if A.nnz else 1.0


def _finite(system: PHDAE, matrices: dict[str, sparse.csr_array]) -> Finding:
    bad = [name for name, A in matrices.items() if not np.all(np.isfinite(A.data))]
    return Finding("finite numbers", float(len(bad)), 0.0, f"in {', '.join(bad)}")


def _largest(system: PHDAE, name: str, A: sparse.csr_array, scale: float) -> Finding:
    if A.nnz == 0:
        return Finding(name, 0.0, ALGEBRAIC_TOLERANCE)
    coo = A.tocoo()
    k = int(np.argmax(np.abs(coo.data)))
    i, j = int(coo.row[k]), int(coo.col[k])
    place = f"worst at ({i}, {j}), block ({system.block_of(i)}, {system.block_of(j)})"
    return Finding(name, float(abs(coo.data[k])) / scale, ALGEBRAIC_TOLERANCE, place)


def _semidefinite(R: sparse.csr_array) -> Finding:
    name = "R >= 0"
    if R.nnz == 0:
        return Finding(name, 0.0, ALGEBRAIC_TOLERANCE)
    used = np.unique(np.concatenate(R.nonzero()))
    small = R[used][:, used].toarray()
    lowest = float(np.linalg.eigvalsh((small + small.T) / 2)[0])
    return Finding(name, max(0.0, -lowest) / _norm(R), ALGEBRAIC_TOLERANCE, f"lowest eigenvalue {lowest:.3e}")


def _gradient(system: PHDAE, x: Array, claimed: Array) -> Finding:
    exact = difference_gradient(system.H, x)
    error = np.abs(exact - claimed)
    k = int(np.argmax(error))
    place = f"worst at x[{k}] ({system.block_of(k)}): E^T z = {claimed[k]:.6g}, difference of H = {exact[k]:.6g}"
    return Finding("E^T z = grad H", float(error[k]) / _scale(exact), DIFFERENCE_TOLERANCE, place)


def _scale(a: Array) -> float:
    return max(1e-300, float(np.abs(a).max(initial=0.0)), 1.0 if not np.any(a) else 0.0)


def difference_gradient(f: Callable[[Array], float], x: Array) -> Array:
    """Central differences with one Richardson step: exact for polynomials up to degree four, up to round-off."""
    result = np.empty(x.size)
    for k in range(x.size):
        d = 1e-3 * max(1.0, abs(x[k]))
        e = np.zeros(x.size)
        e[k] = d
        coarse = (f(x + e) - f(x - e)) / (2 * d)
        fine = (f(x + e / 2) - f(x - e / 2)) / d
        result[k] = (4 * fine - coarse) / 3
    return result


def difference_jacobian(f: Callable[[Array], Array], x: Array) -> Array:
    """Columns of df/dx by central differences; exact for quadratic f up to round-off."""
    columns = []
    for k in range(x.size):
        e = np.zeros(x.size)
        e[k] = 1e-3 * max(1.0, abs(x[k]))
        columns.append((f(x + e) - f(x - e)) / (2 * e[k]))
    return np.array(columns).T.reshape(-1, x.size)

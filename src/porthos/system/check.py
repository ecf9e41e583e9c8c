"""Numerical tests of the structural properties of a pH-DAE, with a report that a person can read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from porthos.errors import StructureError
from porthos.notation import Array
from porthos.system.ranks import LARGEST_DENSE, dependent_rows

if TYPE_CHECKING:
    from porthos.system.descriptor import Matrix
    from porthos.system.mechanical import MechanicalSystem
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


def check_structure(system: PHDAE, x: Array, t: float = 0.0) -> Report:
    """All conditions of 000, Definition 4.1, at one state and time; the gradients of H come from differences."""
    letters: dict[str, Callable[[Array, float], Matrix]] = {
        "E": system.E, "J": system.J, "R": system.R, "B": system.B, "P": system.P, "S": system.S, "N": system.N,
    }  # fmt: skip
    A = {letter: sparse.csr_array(matrix(x, t)) for letter, matrix in letters.items()}
    z, r = system.z(x, t), system.r(x, t)
    row = {"z": sparse.csr_array(z[None, :]), "r": sparse.csr_array(r[None, :])}
    findings = [
        _finite(A | row),
        _largest("J skew", sparse.csr_array(A["J"] + A["J"].T), _norm(A["J"]), system.block_of),
        _largest("N skew", sparse.csr_array(A["N"] + A["N"].T), _norm(A["N"]), system.port_of),
        _largest("R symmetric", sparse.csr_array(A["R"] - A["R"].T), _norm(A["R"]), system.block_of),
        _largest("S symmetric", sparse.csr_array(A["S"] - A["S"].T), _norm(A["S"]), system.port_of),
        _semidefinite("R >= 0", A["R"], system.block_of),
        _semidefinite("W >= 0", system.W(x, t), lambda k: _part_of(system, k)),
        _gradient(system, x, t, A["E"].T @ z),
        _time_flow(system, x, t, float(z @ r)),
    ]
    return Report(system.name, tuple(findings))


def worst_of(reports: list[Report]) -> Report:
    """For every property the finding that is furthest from what is allowed."""
    columns = zip(*(report.findings for report in reports), strict=True)
    worst = [max(column, key=lambda f: (not f.ok, np.nan_to_num(f.defect, nan=np.inf))) for column in columns]
    return Report(reports[0].system, tuple(worst))


def _norm(A: sparse.csr_array) -> float:
    return max(1.0, float(abs(A).max())) if A.nnz else 1.0


def _part_of(system: PHDAE, k: int) -> str:
    """What the k-th row of W belongs to."""
    n = system.dimension
    return system.block_of(k) if k < n else f"port '{system.port_of(k - n)}'"


def _finite(matrices: dict[str, sparse.csr_array]) -> Finding:
    bad = [name for name, A in matrices.items() if not np.all(np.isfinite(A.data))]
    return Finding("finite numbers", float(len(bad)), 0.0, f"in {', '.join(bad)}")


def _largest(name: str, A: sparse.csr_array, scale: float, part: Callable[[int], str]) -> Finding:
    if A.nnz == 0:
        return Finding(name, 0.0, ALGEBRAIC_TOLERANCE)
    coo = A.tocoo()
    k = int(np.argmax(np.abs(coo.data)))
    i, j = int(coo.row[k]), int(coo.col[k])
    place = f"worst at ({i}, {j}), block ({part(i)}, {part(j)}), off by {abs(coo.data[k]):.3g}"
    return Finding(name, float(abs(coo.data[k])) / scale, ALGEBRAIC_TOLERANCE, place)


def symmetric_finding(name: str, A: Array, part: Callable[[int], str]) -> Finding:
    """Whether a matrix is symmetric."""
    gap = sparse.csr_array(A - A.T)
    return _largest(name, gap, max(1.0, float(np.abs(A).max(initial=0.0))), part)


def _semidefinite(name: str, A: sparse.csr_array, part: Callable[[int], str]) -> Finding:
    if A.nnz == 0 or not np.all(np.isfinite(A.data)):
        return Finding(name, 0.0 if A.nnz == 0 else np.nan, ALGEBRAIC_TOLERANCE, "numbers that are not finite")
    used = np.unique(np.concatenate(A.nonzero()))
    small = A[used][:, used].toarray()
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    k = int(used[np.argmax(np.abs(vectors[:, 0]))])
    place = f"lowest eigenvalue {values[0]:.3e}, mostly in row {k} ({part(k)})"
    return Finding(name, max(0.0, -float(values[0])) / _norm(A), ALGEBRAIC_TOLERANCE, place)


def _gradient(system: PHDAE, x: Array, t: float, claimed: Array) -> Finding:
    exact = difference_gradient(lambda at: system.H(at, t), x)
    error = np.abs(exact - claimed)
    k = int(np.argmax(error))
    place = f"worst at x[{k}] ({system.block_of(k)}): E^T z = {claimed[k]:.6g}, difference of H = {exact[k]:.6g}"
    return Finding("E^T z = grad H", float(error[k]) / _scale(exact), DIFFERENCE_TOLERANCE, place)


def _time_flow(system: PHDAE, x: Array, t: float, claimed: float) -> Finding:
    exact = float(difference_gradient(lambda at: system.H(x, float(at[0])), np.array([t]))[0])
    place = f"z^T r = {claimed:.6g}, difference of H = {exact:.6g}"
    size = max(1.0, abs(exact), abs(system.H(x, t)))
    return Finding("z^T r = dH/dt", abs(exact - claimed) / size, DIFFERENCE_TOLERANCE, place)


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


def difference_jacobian(f: Callable[[Array], Array], x: Array, step: float = 1e-3) -> Array:
    """Columns of df/dx by central differences; exact for quadratic f up to round-off."""
    columns = []
    for k in range(x.size):
        e = np.zeros(x.size)
        e[k] = step * max(1.0, abs(x[k]))
        columns.append((f(x + e) - f(x - e)) / (2 * e[k]))
    return np.array(columns).T.reshape(-1, x.size)


def precise_jacobian(f: Callable[[Array], Array], x: Array) -> Array:
    """df/dx by central differences with one Richardson step: exact up to degree four, up to round-off."""
    return (4 * difference_jacobian(f, x, 5e-4) - difference_jacobian(f, x, 1e-3)) / 3


def mechanical_findings(system: MechanicalSystem, q: Array) -> tuple[Finding, ...]:
    """g(q) = 0, G = dg/dq by differences, and the rank of G."""
    g, G = system.g(q), system.G(q)
    offset = 2 * system.n
    k = int(np.argmax(np.abs(g))) if g.size else 0
    value = float(abs(g[k])) if g.size else 0.0
    size = max(1.0, system.length**2)
    findings = [Finding("g(q) = 0", value / size, 1e-10, f"worst in {system.block_of(offset + k)}")]
    if system.m == 0:
        return tuple(findings)
    if system.n <= LARGEST_DENSE:
        slopes = precise_jacobian if system.mech.gear.size else difference_jacobian  # other rows are quadratic
        error = np.abs(slopes(system.g, q) - G.toarray())
        i, j = np.unravel_index(int(np.argmax(error)), error.shape)
        place = f"worst at row {i} ({system.block_of(offset + int(i))}), column {j} ({system.block_of(int(j))})"
        findings.append(Finding("G = dg/dq", float(error[i, j]) / max(1.0, system.length), DIFFERENCE_TOLERANCE, place))
    if system.m <= LARGEST_DENSE:
        findings.append(_rank(system, G.toarray()))
    return tuple(findings)


def _rank(system: MechanicalSystem, G: Array) -> Finding:
    """Full row rank of G, rows scaled to length one; names the joint whose rows repeat the others."""
    rank, rows = dependent_rows(G)
    missing, where = system.m - rank, ""
    if missing:
        names = sorted({system.block_of(2 * system.n + int(r)) for r in rows})
        where = f"rank {rank} of {system.m} rows; dependent rows involve {', '.join(names)}"
    return Finding("G has full rank", float(missing), 0.0, where)

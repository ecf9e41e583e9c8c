"""Matrices put together from blocks, constraint rows in full coordinates, and solves with either kind of matrix."""

import numpy as np
import pytest
from scipy import sparse

import porthos as ph
from porthos.integrate.newton import LARGEST_DENSE, SMALLEST_SPARSE, factorised
from porthos.kernels.change import largest, relative_change
from porthos.kernels.equilibration import Columns, equilibrate
from porthos.system.blockwise import Term, blockwise, times_turned, turned
from porthos.system.constrained import Constrained


def random_sparse(rng, rows, columns, density=0.4):
    return sparse.random_array((rows, columns), density=density, rng=rng, format="csr")


def test_blocks_with_weights_are_kronecker_products():
    rng = np.random.default_rng(0)
    K, G, M = [random_sparse(rng, 5, 5) for _ in range(2)], [random_sparse(rng, 3, 5) for _ in range(2)], np.eye(5)
    A = np.array([[0.5, 0.0], [-2.0, 3.0]])
    terms = [
        Term(0, 0, A, K),
        Term(0, 0, np.eye(2), [M, M]),
        Term(0, 10, np.eye(2), G, turned=True),
        Term(10, 0, -A, [g.tocsc() for g in G]),
    ]
    blocks = [[A[i, j] * K[i].toarray() + (i == j) * M for j in range(2)] for i in range(2)]
    upper = np.block([[np.block(blocks), sparse.block_diag(G).toarray().T]])
    lower = np.block([[np.block([[-A[i, j] * G[i].toarray() for j in range(2)] for i in range(2)]), np.zeros((6, 6))]])
    assert blockwise(16, terms).toarray() == pytest.approx(np.vstack([upper, lower]), abs=1e-15)


def test_another_pattern_is_another_matrix():
    """Places are remembered for a pattern, not for the names of arrays: numbers of one never go to those of another."""
    rng, one = np.random.default_rng(1), np.ones((1, 1))
    for density in (0.2, 0.5, 0.2, 1.0):
        A, B = random_sparse(rng, 6, 6, density), random_sparse(rng, 4, 6, density)
        assert blockwise(6, [Term(0, 0, 2 * one, [A])]).toarray() == pytest.approx(2 * A.toarray())
        assert times_turned(A, B).toarray() == pytest.approx(A.toarray() @ B.toarray().T)
        A.data = A.data + 1.0
        assert times_turned(B, A).toarray() == pytest.approx(B.toarray() @ A.toarray().T)
        assert np.array_equal(turned(A).toarray(), A.toarray().T)


def test_rows_and_columns_are_scaled_to_one_and_zeros_left_out():
    """All zeros but those on the diagonal, where sparse factors need an entry."""
    A = sparse.csc_array(np.array([[4.0, 0.0, 1e-9], [0.0, 0.0, 2.0], [1e8, 5e7, 0.0]]))
    A.data[A.data == 1e-9] = 0.0
    row, column = np.empty(3), np.empty(3)
    out = Columns(np.empty_like(A.indptr), np.empty(A.nnz + 3, dtype=A.indices.dtype), np.empty(A.nnz + 3))
    assert equilibrate(Columns(A.indptr, A.indices, A.data), out, row, column)
    kept = out.pointers[-1]
    assert kept == A.nnz - 1 + 2
    scaled = sparse.csc_array((out.entries[:kept], out.rows[:kept], out.pointers), shape=(3, 3)).toarray()
    assert scaled == pytest.approx(np.diag(row) @ A.toarray() @ np.diag(column))
    assert np.abs(scaled).max(axis=0) == pytest.approx(np.ones(3))
    A.data[0] = np.inf
    assert not equilibrate(Columns(A.indptr, A.indices, A.data), out, row, column)


def saddle(rng, n, m, repeats):
    """[M G^T; G 0] with masses over six decades; the last rows of G repeat the first ones."""
    G = random_sparse(rng, m, n, 0.1).toarray() + np.eye(m, n)
    G[m - repeats :] = 3.0 * G[:repeats]
    A = np.block([[np.diag(10.0 ** rng.uniform(-3, 3, n)), G.T], [G, np.zeros((m, m))]])
    return A, A @ rng.normal(size=n + m)


@pytest.mark.parametrize("n", [SMALLEST_SPARSE // 3, LARGEST_DENSE // 4, LARGEST_DENSE])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_solves_with_dense_and_sparse_matrices(n, kind):
    A, b = saddle(np.random.default_rng(2), n, n // 2, 0)
    assert factorised(kind(A))(b) == pytest.approx(np.linalg.solve(A, b), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("n", [SMALLEST_SPARSE // 3, LARGEST_DENSE // 4])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_that_repeat_others_are_met(n, kind):
    """Multipliers of rows that repeat others are not unique, motions are; sparse factors alone would give neither."""
    A, b = saddle(np.random.default_rng(3), n, n // 2, 3)
    x = factorised(kind(A))(b)
    assert A @ x == pytest.approx(b, abs=1e-9 * np.abs(b).max())
    assert np.abs(x).max() < 1e6


@pytest.mark.parametrize("n", [LARGEST_DENSE // 2, 2 * LARGEST_DENSE])
def test_columns_without_rows_are_no_crash(n):
    """SuperLU alone reads beyond its arrays here: three rows have their entries in the same two columns."""
    A = sparse.lil_array((n, n))
    A.setdiag(np.arange(1.0, n + 1))
    A[:3] = 0.0
    A[0, :2], A[1, :2], A[2, :2] = 1.0, (1.0, 2.0), (3.0, 1.0)
    if n > LARGEST_DENSE:
        with pytest.raises(RuntimeError, match="singular"):
            factorised(A.tocsc())
    else:
        b = A @ np.ones(n)
        assert A @ factorised(A.tocsc())(b) == pytest.approx(b)


def test_a_matrix_that_is_not_finite_gives_no_numbers():
    A = np.eye(2 * SMALLEST_SPARSE)
    A[3, 4] = np.nan
    for kind in (np.asarray, sparse.csr_array):
        assert np.isnan(factorised(kind(A))(np.ones(len(A)))).all()


def mechanism():
    """A hinge, a ball joint, a slider on a point mass, a link, a spring and a port: every kind of entry of a row."""
    model = ph.Model("all rows", gravity=(0.0, 0.0, -9.81))
    arm = model.body("arm", ph.Box(1.5, (0.4, 0.1, 0.2)), (0.2, 0, 0))
    rod = model.body("rod", ph.Box(0.5, (0.1, 0.4, 0.1)), (0.4, 0.2, 0))
    ball = model.point_mass("ball", 0.3, (0.4, 0.4, 0.3))
    model.revolute("hinge", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0))
    model.spherical("joint", arm, rod, at=(0.4, 0, 0))
    model.distance("link", rod, ball, point_a=(0.4, 0.4, 0), point_b=(0.4, 0.4, 0.3))
    model.spring("spring", arm, ball, stiffness=20.0, damping=0.5, point_a=(0.2, 0, 0), point_b=(0.4, 0.4, 0.3))
    model.port("hand", ball, kind="force")
    return model.assemble()


def test_values_at_several_states_are_those_of_matrices():
    """Kernels for g, G v and G^T lambda against differences of g and against the matrices."""
    system, rng = mechanism(), np.random.default_rng(4)
    q = system.split(system.initial_state())[0]
    Q, V = q + rng.normal(size=(3, system.n)), rng.normal(size=(3, system.n))
    L, U = rng.normal(size=(3, system.m)), rng.normal(size=(3, system.width))
    assert system.rates(Q, V) == pytest.approx((system.gaps(Q + V) - system.gaps(Q - V)) / 2, abs=1e-12)  # quadratic
    assert system.rates(Q, V) == pytest.approx(Constrained.rates(system, Q, V), abs=1e-12)
    assert system.pulls(Q, L) == pytest.approx(Constrained.pulls(system, Q, L), abs=1e-12)
    assert system.forces(Q, V, U) == pytest.approx(Constrained.forces(system, Q, V, U), abs=1e-12)
    turned = (Constrained.pulls(system, Q + V, L) - Constrained.pulls(system, Q - V, L)) / 2
    assert np.array([system.G_stiffness(lam) @ v for lam, v in zip(L, V, strict=True)]) == pytest.approx(turned)
    slope = (system.rates(Q + V, V) - system.rates(Q - V, V)) / 2
    assert np.array([system.G_rate(v) @ v for v in V]) == pytest.approx(slope, abs=1e-12)


def test_residuals_of_all_stages_are_those_of_each():
    system, rng = mechanism(), np.random.default_rng(5)
    X = system.initial_state() + rng.normal(size=(3, system.dimension))
    rates, U, times = rng.normal(size=X.shape), rng.normal(size=(3, system.width)), np.zeros(3)
    each = [system.E(x) @ rate - system.flow(x, u) for x, rate, u in zip(X, rates, U, strict=True)]
    assert system.residuals(X, rates, U, times) == pytest.approx(np.array(each), abs=1e-12)
    plain = [ph.PHDAE.flow(system, x, u) for x, u in zip(X, U, strict=True)]  # (J - R) z + B u
    assert np.array([system.flow(x, u) for x, u in zip(X, U, strict=True)]) == pytest.approx(np.array(plain), abs=1e-10)
    assert system.dissipation(X[0], U[0]) == pytest.approx(ph.PHDAE.dissipation(system, X[0], U[0]), abs=1e-12)


def test_sizes_of_updates():
    rng = np.random.default_rng(3)
    x, w, d = rng.normal(size=5), rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    x[2], w[:, 2] = 0.0, 1e-9
    scale, room = np.maximum(np.abs(x), np.abs(w).max(axis=0)), np.empty(5)
    weight = np.array([1.0, 0.5, 0.25, 1.0, 0.0])
    expected = (weight * np.abs(d) / np.maximum(weight * scale, 1e-3 * (weight * scale).max())).max()
    assert relative_change(x, w.ravel(), d.ravel(), weight, 1e-3, room) == expected
    assert relative_change(np.zeros(5), np.zeros(5), np.zeros(5), weight, 1e-3, room) == 0.0
    assert largest(d.ravel()) == np.abs(d).max()
    assert largest(np.zeros(0)) == 0.0
    for bad in (x, w[1], d[0]):  # a step that leaves the numbers is no small one
        kept, bad[3] = bad[3], np.nan
        assert np.isnan(relative_change(x, w.ravel(), d.ravel(), weight, 1e-3, room))
        bad[3] = kept
    assert np.isnan(largest(np.array([1.0, np.nan, 2.0])))

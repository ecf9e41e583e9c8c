"""Small dense blocks of a flat matrix against NumPy."""

import numba
import numpy as np
import pytest

from porthos.kernels.blocks import invert, subtract_product

FLOOR = 1e-11


@numba.njit
def inverted(data, at, n, scale, choose):
    return invert(data, at, n, scale, 0, FLOOR, choose)


@numba.njit
def subtracted(data, target, left, right, rows, n, columns):
    subtract_product(data, target, left, right, rows, n, columns)


def definite(n: int, rng: np.random.Generator) -> np.ndarray:
    """Definite, not symmetric, as the blocks of a Newton matrix are."""
    a = rng.normal(size=(n, n))
    return a @ a.T + np.eye(n) + 0.1 * rng.normal(size=(n, n))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("choose", [False, True])
def test_inverse(n, sign, choose):
    rng = np.random.default_rng(n)
    block = sign * definite(n, rng)
    data = np.concatenate([[7.0, 7.0], block.ravel(), [7.0]])
    assert inverted(data, 2, n, np.abs(np.diag(block)).copy(), choose) == 0
    np.testing.assert_allclose(data[2:-1].reshape(n, n) @ block, np.eye(n), atol=1e-12)
    assert data[0] == data[1] == data[-1] == 7.0


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_rows_that_repeat_others_get_a_zero_inverse(n):
    rng = np.random.default_rng(n)
    for repeated in range(1, n):
        basis = rng.normal(size=(n, n))
        basis[repeated] = basis[0]
        block = basis @ basis.T
        data = block.ravel().copy()
        assert inverted(data, 0, n, np.abs(np.diag(block)).copy(), False) == 1
        inverse, rest = data.reshape(n, n), [k for k in range(n) if k != repeated]
        assert not inverse[repeated].any() and not inverse[:, repeated].any()
        part = np.linalg.inv(block[np.ix_(rest, rest)])
        np.testing.assert_allclose(inverse[np.ix_(rest, rest)], part, rtol=1e-6, atol=1e-9 * np.abs(part).max())


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_rows_that_tell_most_are_kept(n):
    """The second row nearly repeats the first one: the two that tell most stay, and the inverse is good."""
    rng = np.random.default_rng(n)
    basis = rng.normal(size=(n, 2))
    basis[1] = basis[0] + 1e-5 * rng.normal(size=2)
    basis /= np.linalg.norm(basis, axis=1, keepdims=True)
    block = basis @ basis.T
    data = block.ravel().copy()
    assert inverted(data, 0, n, np.ones(n), True) == n - 2
    inverse = data.reshape(n, n)
    np.testing.assert_allclose(block @ inverse @ block, block, atol=1e-13)
    assert np.abs(inverse).max() < 10.0


@pytest.mark.parametrize("n", [4, 5, 6])
@pytest.mark.parametrize("columns", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6])
def test_product(n, columns, rows):
    rng = np.random.default_rng(100 * n + 10 * columns + rows)
    target, left, right = rng.normal(size=(rows, columns)), rng.normal(size=(rows, n)), rng.normal(size=(n, columns))
    data = np.concatenate([target.ravel(), left.ravel(), right.ravel(), [7.0]])
    subtracted(data, 0, target.size, target.size + left.size, rows, n, columns)
    np.testing.assert_allclose(data[: target.size].reshape(rows, columns), target - left @ right, atol=1e-13)
    np.testing.assert_array_equal(data[target.size :], np.concatenate([left.ravel(), right.ravel(), [7.0]]))

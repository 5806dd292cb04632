"""Factorisations, solves and Fourier transforms of blocks: small backward errors, against float64, in native code."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from language import F32, S

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

EPS = np.finfo(np.float32).eps
MODES = pytest.mark.parametrize(
  "interpret", [False, True, pltpu.InterpretParams()], ids=["native", "portable", "simulated"]
)
SIZES = (1, 2, 5, 16)


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
  draw = np.random.default_rng(seed).normal
  return (draw(size=shape) + (1j * draw(size=shape) if np.dtype(dtype).kind == "c" else 0)).astype(dtype)


def definite(n: int, dtype: Any = np.float32) -> np.ndarray:
  a = numbers(n, n, dtype=dtype)
  return (a @ a.conj().T + n * np.eye(n)).astype(dtype)


def in_kernel(f: Any, *args: Any, interpret: Any = False) -> Any:
  """`f(*args)`, computed by a kernel."""
  outs, tree = jax.tree.flatten(jax.eval_shape(f, *args))

  def body(*refs: Any) -> None:
    for ref, value in zip(refs[len(args) :], jax.tree.leaves(f(*(ref[...] for ref in refs[: len(args)])))):
      ref[...] = value

  return jax.tree.unflatten(tree, pl.pallas_call(body, outs)(*args))


def exact(x: Any) -> np.ndarray:
  return np.asarray(x, np.complex128 if np.asarray(x).dtype.kind == "c" else np.float64)


def assert_product(found: np.ndarray, wanted: Any, *factors: Any, terms: int) -> None:
  """The bound of a backward stable algorithm: so many rounding errors, each as large as the product of the factors' magnitudes."""
  scale = np.max(np.linalg.multi_dot([np.abs(f) for f in factors])) if len(factors) > 1 else np.max(np.abs(factors[0]))
  assert np.max(np.abs(found - exact(wanted))) <= 4 * terms * EPS * scale


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n, dtype):
  a = definite(n, dtype)
  found = exact(in_kernel(jnp.linalg.cholesky, a))
  assert_product(found @ found.conj().T, a, found, found.conj().T, terms=n + 1)
  assert not np.triu(found, 1).any()


def test_cholesky_of_a_matrix_that_is_not_definite_is_nan():
  a = np.stack([2 * np.eye(3, dtype=np.float32), np.diag(np.array([1, -1, 1], np.float32))])
  found = in_kernel(jnp.linalg.cholesky, a)
  np.testing.assert_array_equal(np.isnan(found), np.isnan(jnp.linalg.cholesky(a)))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (6, 3), (3, 6), (2, 5, 5)])
def test_lu(shape, dtype):
  a = numbers(*shape, dtype=dtype)
  both, pivots, order = in_kernel(lax.linalg.lu, a)
  for own, factors, swaps, rows, wanted in zip(
    *(np.asarray(x).reshape(-1, *x.shape[len(shape) - 2 :]) for x in (a, both)),
    *(np.asarray(x).reshape(-1, x.shape[-1]) for x in (pivots, order)),
    np.asarray(lax.linalg.lu(a)[1]).reshape(-1, pivots.shape[-1]),
    strict=True,
  ):
    least = min(own.shape)
    lower, upper = exact(np.tril(factors, -1))[:, :least] + np.eye(own.shape[0], least), exact(np.triu(factors))[:least]
    assert_product(lower @ upper, own[rows], lower, upper, terms=least + 1)
    np.testing.assert_array_equal(swaps, wanted)


def test_lu_and_qr_of_singular_matrices():
  nothing, ones = np.zeros((3, 3), np.float32), np.ones((3, 3), np.float32)
  for a in (nothing, ones):
    for found, wanted in zip(in_kernel(lax.linalg.lu, a), lax.linalg.lu(a), strict=True):
      np.testing.assert_array_equal(found, wanted)
  for found, wanted in zip(in_kernel(jnp.linalg.qr, nothing), (np.eye(3), nothing), strict=True):
    np.testing.assert_array_equal(found, wanted)
  q, r = map(exact, in_kernel(jnp.linalg.qr, ones))
  assert_product(q @ r, ones, q, r, terms=24)


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (6, 3), (3, 6)])
def test_qr(shape, dtype, mode):
  a = numbers(*shape, dtype=dtype)
  f = lambda x: tuple(jnp.linalg.qr(x, mode=mode))
  q, r = map(exact, in_kernel(f, a))
  assert_product(q @ r, a, q, r, terms=8 * max(shape))
  assert_product(q.conj().T @ q, np.eye(q.shape[1]), q.conj().T, q, terms=8 * max(shape))
  assert not np.tril(r, -1).any()
  wanted = exact(f(a)[1])  # the signs of LAPACK
  np.testing.assert_allclose(np.diagonal(r), np.diagonal(wanted), atol=32 * max(shape) * EPS * np.max(np.abs(a)))


@pytest.mark.parametrize("unit_diagonal", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("left_side", [False, True])
def test_triangular_solve_reads_one_triangle(left_side, lower, transpose_a, unit_diagonal):
  n = 5
  triangle = (np.tril if lower else np.triu)(definite(n) / (10 * n if unit_diagonal else 1))
  outside = (np.triu if lower else np.tril)(np.full((n, n), np.nan), 1 if lower else -1)
  b = numbers(n, 3) if left_side else numbers(3, n)
  options = dict(left_side=left_side, lower=lower, transpose_a=transpose_a, unit_diagonal=unit_diagonal)
  f = lambda a, b: lax.linalg.triangular_solve(a, b, **options)
  x = exact(in_kernel(f, (triangle + outside).astype(np.float32), b))
  a = exact(triangle)
  if unit_diagonal:
    np.fill_diagonal(a, 1)
  a = a.T if transpose_a else a
  assert_product(a @ x if left_side else x @ a, b, *((a, x) if left_side else (x, a)), terms=n + 1)


@pytest.mark.parametrize("diagonal", [4.0, 0.1], ids=["dominant", "pivots"])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_tridiagonal_solve(n, diagonal):
  low, d, up, b = numbers(n), diagonal + diagonal * numbers(n, seed=1) / 8, numbers(n, seed=2), numbers(n, 2, seed=3)
  d = d.astype(np.float32)
  x = exact(in_kernel(lax.linalg.tridiagonal_solve, low, d, up, b))
  a = np.diag(exact(d)) + np.diag(exact(low[1:]), -1) + np.diag(exact(up[:-1]), 1)
  assert_product(a @ x, b, a, x, terms=8 * n)


@MODES
def test_solves_inverses_and_what_is_made_of_them(interpret):
  n = 4
  a, b = definite(n), numbers(n, 2)
  x = exact(in_kernel(jnp.linalg.solve, a, b, interpret=interpret))
  assert_product(exact(a) @ x, b, exact(a), x, terms=8 * n)
  inverse = exact(in_kernel(jnp.linalg.inv, a, interpret=interpret))
  assert_product(exact(a) @ inverse, np.eye(n), exact(a), inverse, terms=8 * n)
  conjugate_gradients = lambda a: jax.scipy.sparse.linalg.cg(lambda v: a @ v, jnp.ones(n, F32))[0]
  x = exact(in_kernel(conjugate_gradients, a, interpret=interpret))
  np.testing.assert_allclose(exact(a) @ x, 1, atol=1e-3)  # its own tolerance is 1e-5 of the right side's norm
  gradient = jax.grad(lambda a: jnp.sum(jnp.linalg.solve(a, jnp.ones(n, F32))))
  found = in_kernel(gradient, a, interpret=interpret)
  once = np.linalg.solve(exact(a), np.ones(n))
  np.testing.assert_allclose(found, -np.outer(np.linalg.solve(exact(a).T, np.ones(n)), once), atol=64 * n * EPS)


LENGTHS = (1, 2, 3, 8, 12, 17, 30, 64)


@pytest.mark.parametrize("n", LENGTHS)
def test_fourier_transforms(n):
  """One kernel for the four kinds; an error is a small multiple of n eps, of sums of n numbers of size 1."""
  z, x, half = numbers(3, n, dtype=np.complex64), numbers(3, n), numbers(3, n // 2 + 1, dtype=np.complex64)

  def f(z, x, half):
    return jnp.fft.fft(z), jnp.fft.ifft(z), jnp.fft.rfft(x), jnp.fft.irfft(half, n=n)

  found = in_kernel(f, z, x, half)
  bound = 4 * n * EPS * max(np.abs(v).max() for v in (z, x, half)) * 2
  wanted = np.fft.fft(exact(z)), np.fft.ifft(exact(z)), np.fft.rfft(exact(x)), np.fft.irfft(exact(half), n=n)
  for a, b in zip(found, wanted, strict=True):
    np.testing.assert_allclose(exact(a), b, rtol=0, atol=bound)


def test_fourier_transforms_of_several_dimensions():
  z, x = numbers(2, 4, 6, dtype=np.complex64), numbers(4, 6)
  for f, exactly, v in (
    (jnp.fft.fft2, np.fft.fft2, z),
    (jnp.fft.rfft2, np.fft.rfft2, x),
    (jnp.fft.irfft2, np.fft.irfft2, z),
  ):
    np.testing.assert_allclose(exact(in_kernel(f, v)), exactly(exact(v)), rtol=0, atol=4 * 24 * EPS * 4)


def test_a_transform_of_a_large_prime_length_says_what_to_do():
  with pytest.raises(errors.NativeCodeError, match="prime factor 1021"):
    pl.pallas_call(lambda x, o: o.__setitem__(..., jnp.fft.fft(x[...]).real), S((1021,), F32))(numbers(1021))

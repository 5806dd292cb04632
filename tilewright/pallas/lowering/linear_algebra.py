"""Factorisations and solves of small matrices, column by column, written with lax (see `expand`).

    cholesky, lu, qr, householder_product     one step of a loop for each column, which updates the whole matrix
    triangular_solve, tridiagonal_solve       substitution, row by row
    custom_linear_solve                       its `solve` function in place

Leading dimensions are a batch (vmap). Where a triangle of an operand does not count it is masked first, since it may hold NaN. Products
are sums of elementwise products, so that GPUs do not round their operands to tf32. Pivots, signs and what happens to singular matrices are
those of LAPACK, which XLA calls on the CPU.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas.lowering.expand import constant, expansion
from tilewright.pallas.lowering.table import Context, lower_jaxpr, rule
from tilewright.runtime import _jax
from tilewright.tile.ir import Value


def _batched(*ranks: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
  """A decorator: a function of arrays of these ranks takes more leading dimensions, the same for all of them."""

  def add(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def on_batches(*arrays: jax.Array, **params: Any) -> Any:
      own = functools.partial(f, **params)
      for _ in range(arrays[0].ndim - ranks[0]):
        own = jax.vmap(own)
      return own(*arrays)

    return on_batches

  return add


def _column(a: jax.Array, at: Any) -> jax.Array:
  return lax.dynamic_index_in_dim(a, at, 1, keepdims=False)


def _row(a: jax.Array, at: Any) -> jax.Array:
  return lax.dynamic_index_in_dim(a, at, 0, keepdims=False)


def _numbers(a: jax.Array) -> tuple[jax.Array, jax.Array]:
  """The numbers of the rows, as a column, and of the columns, as a row."""
  rows, columns = a.shape
  return lax.broadcasted_iota(jnp.int32, (rows, 1), 0), lax.broadcasted_iota(jnp.int32, (1, columns), 1)


# --- factorisations ----------------------------------------------------------------------------------------------


@expansion("cholesky")
@_batched(2)
def cholesky(a: jax.Array, **_: Any) -> jax.Array:
  """The lower factor, from the lower triangle. All of it is NaN if the matrix is not positive definite."""
  rows, columns = _numbers(a)
  own = jnp.where(rows >= columns, a, jnp.zeros((), a.dtype))

  def factor(j: Any, found: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    known, fine = found  # columns before j, zero from there on
    products = jnp.sum(known * jnp.conj(_row(known, j))[None, :], axis=1)
    rest = _column(own, j) - products
    square = jnp.real(lax.dynamic_index_in_dim(rest, j, 0, keepdims=False))
    fine = fine & (square > 0)
    pivot = lax.sqrt(square).astype(a.dtype)
    below = jnp.where(rows[:, 0] > j, rest / pivot, jnp.zeros((), a.dtype))
    new = jnp.where(rows[:, 0] == j, pivot, below)
    return jnp.where(columns == j, new[:, None], known), fine

  factors, fine = lax.fori_loop(0, a.shape[0], factor, (jnp.zeros_like(a), jnp.bool_(True)))
  return jnp.where(fine, factors, jnp.full((), jnp.nan, a.dtype))


@expansion("lu")
@_batched(2)
def lu(a: jax.Array, **_: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
  """P A = L U with partial pivoting: both factors in one matrix, the row swapped with each row, and the order of the rows."""
  rows, columns = _numbers(a)
  least = min(a.shape)

  def size(x: jax.Array) -> jax.Array:
    return jnp.abs(jnp.real(x)) + jnp.abs(jnp.imag(x)) if jnp.iscomplexobj(x) else jnp.abs(x)

  def eliminate(k: Any, found: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
    a, pivots, order = found
    at = jnp.argmax(jnp.where(rows[:, 0] >= k, size(_column(a, k)), -1)).astype(jnp.int32)
    upper, lower = _row(a, at), _row(a, k)
    a = jnp.where(rows == k, upper[None], jnp.where(rows == at, lower[None], a))
    first, second = (lax.dynamic_index_in_dim(order, i, 0, keepdims=False) for i in (at, k))
    order = jnp.where(rows[:, 0] == k, first, jnp.where(rows[:, 0] == at, second, order))
    pivots = jnp.where(lax.iota(jnp.int32, least) == k, at, pivots)
    pivot = lax.dynamic_index_in_dim(upper, k, 0, keepdims=False)
    divided = _column(a, k) / jnp.where(pivot == 0, jnp.ones((), a.dtype), pivot)
    factors = jnp.where(rows[:, 0] > k, divided, jnp.zeros((), a.dtype))
    updated = a - factors[:, None] * jnp.where(columns > k, upper[None], jnp.zeros((), a.dtype))
    return jnp.where((columns == k) & (rows > k), factors[:, None], updated), pivots, order

  start = (a, jnp.zeros(least, jnp.int32), lax.iota(jnp.int32, a.shape[0]))
  return lax.fori_loop(0, least, eliminate, start)


@expansion("lu_pivots_to_permutation")
@_batched(1)
def permutation_of_pivots(pivots: jax.Array, *, permutation_size: int, **_: Any) -> jax.Array:
  """The order of the rows after swapping row i with row pivots[i], in turn."""
  numbers = lax.iota(jnp.int32, permutation_size)

  def swap(i: Any, order: jax.Array) -> jax.Array:
    at = lax.dynamic_index_in_dim(pivots, i, 0, keepdims=False)
    first, second = (lax.dynamic_index_in_dim(order, j, 0, keepdims=False) for j in (at, i))
    return jnp.where(numbers == i, first, jnp.where(numbers == at, second, order))

  return lax.fori_loop(0, pivots.shape[0], swap, numbers)


@_batched(2)
def _reflections(a: jax.Array) -> tuple[jax.Array, jax.Array]:
  """R in the upper triangle, below it the vectors v of the reflections I - tau v v^H (their ones left out), and the taus."""
  rows, columns = _numbers(a)
  least = min(a.shape)

  def reflect(j: Any, found: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    a, taus = found
    column = _column(a, j)
    first = lax.dynamic_index_in_dim(column, j, 0, keepdims=False)
    below = jnp.where(rows[:, 0] > j, column, jnp.zeros((), a.dtype))
    largest = jnp.max(jnp.maximum(jnp.abs(below), jnp.abs(first)))
    scale = jnp.where(largest > 0, largest, 1)
    tail = jnp.sum(jnp.square(jnp.abs(below) / scale))
    norm = lax.sqrt(tail + jnp.square(jnp.abs(first) / scale)) * scale
    beta = jnp.where(jnp.real(first) >= 0, -norm, norm).astype(a.dtype)
    nothing = (tail == 0) & (jnp.imag(first) == 0)
    tau = jnp.where(nothing, jnp.zeros((), a.dtype), (beta - first) / jnp.where(nothing, 1, beta))
    v = jnp.where(rows[:, 0] == j, 1, below / jnp.where(nothing, 1, first - beta))
    products = jnp.sum(jnp.conj(v)[:, None] * a, axis=0)
    updated = a - jnp.where(columns > j, jnp.conj(tau) * v[:, None] * products[None], jnp.zeros((), a.dtype))
    ours = jnp.where(rows[:, 0] > j, v, jnp.where(rows[:, 0] == j, jnp.where(nothing, first, beta), column))
    taus = jnp.where(lax.iota(jnp.int32, least) == j, tau, taus)
    return jnp.where(columns == j, ours[:, None], updated), taus

  return lax.fori_loop(0, least, reflect, (a, jnp.zeros(least, a.dtype)))


@expansion("householder_product")
@_batched(2, 1)
def householder_product(a: jax.Array, taus: jax.Array, **_: Any) -> jax.Array:
  """The first columns of the product of the reflections whose vectors are below the diagonal."""
  rows, columns = _numbers(a)
  count = taus.shape[0]

  def apply(i: Any, q: jax.Array) -> jax.Array:
    j = count - 1 - i
    column = _column(a, j)
    v = jnp.where(rows[:, 0] > j, column, jnp.where(rows[:, 0] == j, 1, jnp.zeros((), a.dtype)))
    tau = lax.dynamic_index_in_dim(taus, j, 0, keepdims=False)
    return q - tau * v[:, None] * jnp.sum(jnp.conj(v)[:, None] * q, axis=0)[None]

  return lax.fori_loop(0, count, apply, (rows == columns).astype(a.dtype))


@expansion("qr")
def qr(a: jax.Array, *, pivoting: bool, full_matrices: bool, **_: Any) -> tuple[jax.Array, jax.Array]:
  if pivoting:
    raise errors.NativeCodeError(
      "A QR factorisation with pivoting cannot be compiled to native code. Pass interpret=True to run this kernel through the portable "
      "lowering."
    )
  m, n = a.shape[-2:]
  found, taus = _reflections(a)
  size = m if full_matrices else min(m, n)
  reflections = found[..., :size]
  if size > n:
    reflections = jnp.concatenate([reflections, jnp.zeros((*a.shape[:-1], size - n), a.dtype)], axis=-1)
  upper = found[..., :size, :]
  rows, columns = (lax.broadcasted_iota(jnp.int32, upper.shape, upper.ndim - d) for d in (2, 1))
  return householder_product(reflections, taus), jnp.where(rows <= columns, upper, jnp.zeros((), a.dtype))


# --- solves ------------------------------------------------------------------------------------------------------


@expansion("triangular_solve")
@_batched(2, 2)
def triangular_solve(
  a: jax.Array,
  b: jax.Array,
  *,
  left_side: bool,
  lower: bool,
  transpose_a: bool,
  conjugate_a: bool,
  unit_diagonal: bool,
  **_: Any,
) -> jax.Array:
  """x of op(a) x = b, or of x op(a) = b."""
  a = jnp.conj(a) if conjugate_a else a
  if transpose_a == left_side:  # x op(a) = b is op(a)^T x^T = b^T
    a, lower = a.T, not lower
  b = b if left_side else b.T
  rows, columns = _numbers(a)
  others = jnp.where(rows > columns if lower else rows < columns, a, jnp.zeros((), a.dtype))
  numbers = _numbers(b)[0]
  size = a.shape[0]

  def substitute(i: Any, x: jax.Array) -> jax.Array:
    at = i if lower else size - 1 - i
    rest = _row(b, at) - jnp.sum(_row(others, at)[:, None] * x, axis=0)
    if not unit_diagonal:
      rest = rest / lax.dynamic_index_in_dim(_row(a, at), at, 0, keepdims=False)
    return jnp.where(numbers == at, rest[None], x)

  x = lax.fori_loop(0, size, substitute, jnp.zeros_like(b))
  return x if left_side else x.T


@expansion("tridiagonal_solve")
@_batched(1, 1, 1, 2)
def tridiagonal_solve(lower: jax.Array, diagonal: jax.Array, upper: jax.Array, b: jax.Array, **_: Any) -> jax.Array:
  """Elimination with partial pivoting: a row is swapped with the next where that has the larger element, which fills a second diagonal."""
  size = diagonal.shape[0]
  numbers = lax.iota(jnp.int32, size)
  at = lambda x, i: lax.dynamic_index_in_dim(x, i, 0, keepdims=False)
  put = lambda x, i, y: jnp.where((numbers == i).reshape(-1, *[1] * (x.ndim - 1)), y, x)

  def eliminate(i: Any, found: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    d, u, second, x = found
    own = (at(d, i), at(u, i), at(second, i), at(x, i))
    after = (at(lower, i + 1), at(d, i + 1), at(u, i + 1), at(x, i + 1))
    swapped = jnp.abs(after[0]) > jnp.abs(own[0])
    first = [jnp.where(swapped, n, o) for o, n in zip(own, after)]
    last = [jnp.where(swapped, o, n) for o, n in zip(own, after)]
    factor = last[0] / first[0]
    rest = [n - factor * o for o, n in zip(first[1:], last[1:])]
    above = [put(a, i, v) for a, v in zip(found, first)]
    return put(above[0], i + 1, rest[0]), put(above[1], i + 1, rest[1]), above[2], put(above[3], i + 1, rest[2])

  upper = jnp.where(numbers < size - 1, upper, jnp.zeros((), upper.dtype))
  d, u, second, x = lax.fori_loop(0, size - 1, eliminate, (diagonal, upper, jnp.zeros_like(upper), b))

  def substitute(k: Any, found: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
    x, one, two = found  # `one` and `two` are the rows of the result that follow
    i = size - 1 - k
    new = (at(x, i) - at(u, i) * one - at(second, i) * two) / at(d, i)
    return put(x, i, new), new, one

  nothing = jnp.zeros_like(b[0])
  return lax.fori_loop(0, size, substitute, (x, nothing, nothing))[0]


@rule("custom_linear_solve")
def _custom_linear_solve(ctx: Context, *operands: Value, const_lengths: Any, jaxprs: Any, **_: Any) -> list[Value]:
  """The `solve` function of `lax.custom_linear_solve`: the others are for derivatives."""
  before = const_lengths.matvec + const_lengths.vecmat
  right = sum(n or 0 for n in const_lengths)
  jaxpr, consts = _jax.open_jaxpr(jaxprs.solve)
  args = [*operands[before : before + const_lengths.solve], *operands[right:]]
  return lower_jaxpr(ctx.builder, jaxpr, [constant(ctx, c) for c in consts], args)[: len(ctx.eqn.outvars)]

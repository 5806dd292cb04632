"""`tilewright demo`: a few kernels, compiled, run on the CPU and checked against float64.

The tolerance is derived, not tuned: each case bounds, element by element, how far float32 may be from the exact result.
u is the largest relative error of one rounding, and a sum of n products in any order is off by at most gamma(n) of the
sum of their magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.cli.table import duration, print_table, progress
from tilewright.pallas import tpu as pltpu

U = 2.0**-24
EXP = 8 * U  # exp is good to 4 ulp
RSQRT = 4 * U  # rsqrt to 2
SECOND_ORDER = 1.01  # one percent for the products of two errors, which the bounds below leave out

Arrays = tuple[np.ndarray, ...]
Exact = tuple[np.ndarray, np.ndarray]  # the result in float64, and how far float32 may be from it


def gamma(n: int) -> float:
  return n * U / (1 - n * U)


@dataclasses.dataclass(frozen=True)
class Case:
  """A kernel with its inputs, its exact result and its error bound."""

  name: str
  inputs: Callable[[np.random.Generator], Arrays]
  kernel: Callable[..., jax.Array]
  exact: Callable[..., Exact]


def _normal(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], Arrays]:
  return lambda rng: tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)


# --- vector add --------------------------------------------------------------------------------------------------


def add(x: jax.Array, y: jax.Array) -> jax.Array:
  def kernel(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
    o_ref[...] = x_ref[...] + y_ref[...]

  spec = pl.BlockSpec((512,), lambda i: (i,))
  grid = (pl.cdiv(x.size, 512),)
  return pl.pallas_call(
    kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), grid=grid, in_specs=[spec, spec], out_specs=spec
  )(x, y)


def add_exact(x: np.ndarray, y: np.ndarray) -> Exact:
  return x + y, U * np.abs(x + y)


# --- matrix product, the loop over k in the grid -----------------------------------------------------------------


def matmul(x: jax.Array, y: jax.Array, bm: int = 64, bn: int = 64, bk: int = 64) -> jax.Array:
  def kernel(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += jnp.dot(x_ref[...], y_ref[...], precision="highest")

  (m, k), (_, n) = x.shape, y.shape
  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((m, n), x.dtype),
    grid=(m // bm, n // bn, k // bk),
    in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
    out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)),
  )(x, y)


def matmul_exact(x: np.ndarray, y: np.ndarray) -> Exact:
  return x @ y, gamma(x.shape[1]) * (np.abs(x) @ np.abs(y))


# --- softmax and layer norm, row by row --------------------------------------------------------------------------


def softmax(x: jax.Array, block: int = 32) -> jax.Array:
  def kernel(x_ref: Any, o_ref: Any) -> None:
    e = jnp.exp(x_ref[...] - jnp.max(x_ref[...], axis=-1, keepdims=True))
    o_ref[...] = e / jnp.sum(e, axis=-1, keepdims=True)

  spec = pl.BlockSpec((block, x.shape[1]), lambda i: (i, 0))
  grid = (pl.cdiv(x.shape[0], block),)
  return pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype), grid=grid, in_specs=[spec], out_specs=spec)(x)


def softmax_exact(x: np.ndarray) -> Exact:
  shifted = x - x.max(axis=-1, keepdims=True)
  exact = np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)
  # Each exponential: the rounded difference moves it by |difference| u, and exp has its own error. Then the sum, a
  # division.
  one = np.abs(shifted).max(axis=-1, keepdims=True) * U + EXP
  return exact, SECOND_ORDER * (2 * one + gamma(x.shape[1]) + U) * exact


def layer_norm(x: jax.Array, scale: jax.Array, shift: jax.Array, block: int = 32) -> jax.Array:
  def kernel(x_ref: Any, scale_ref: Any, shift_ref: Any, o_ref: Any) -> None:
    centred = x_ref[...] - jnp.mean(x_ref[...], axis=-1, keepdims=True)
    variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
    o_ref[...] = centred * jax.lax.rsqrt(variance + 1e-5) * scale_ref[...] + shift_ref[...]

  rows = pl.BlockSpec((block, x.shape[1]), lambda i: (i, 0))
  parameter = pl.BlockSpec((x.shape[1],), lambda i: (0,))
  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct(x.shape, x.dtype),
    grid=(pl.cdiv(x.shape[0], block),),
    in_specs=[rows, parameter, parameter],
    out_specs=rows,
  )(x, scale, shift)


def layer_norm_exact(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> Exact:
  n = x.shape[-1]
  mean = functools.partial(np.mean, axis=-1, keepdims=True)
  centred = x - mean(x)
  rstd = 1 / np.sqrt(mean(centred**2) + 1e-5)
  scaled = centred * rstd * scale
  # Followed operation by operation; each line is the error of the value it is named after.
  of_centred = gamma(n) * mean(np.abs(x)) + U * np.abs(centred)
  of_variance = gamma(n + 1) * mean(centred**2) + 2 * mean(np.abs(centred) * of_centred)
  of_rstd = rstd * (of_variance * rstd**2 / 2 + U + RSQRT)
  of_scaled = (of_centred * rstd + np.abs(centred) * of_rstd) * np.abs(scale) + 2 * U * np.abs(scaled)
  return scaled + shift, SECOND_ORDER * (of_scaled + U * np.abs(scaled + shift))


# --- attention with an online softmax ----------------------------------------------------------------------------


def attention(q: jax.Array, k: jax.Array, v: jax.Array, block: int = 64) -> jax.Array:
  heads, length, depth = q.shape

  def kernel(q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any, m_ref: Any, l_ref: Any, acc_ref: Any) -> None:
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      m_ref[...] = jnp.full_like(m_ref, -1e30)
      l_ref[...] = jnp.zeros_like(l_ref)
      acc_ref[...] = jnp.zeros_like(acc_ref)

    scores = jnp.dot(q_ref[...], k_ref[...].T, precision="highest") * depth**-0.5
    m = jnp.maximum(m_ref[...], jnp.max(scores, axis=-1, keepdims=True))
    weights, shrink = jnp.exp(scores - m), jnp.exp(m_ref[...] - m)
    m_ref[...] = m
    l_ref[...] = l_ref[...] * shrink + jnp.sum(weights, axis=-1, keepdims=True)
    acc_ref[...] = acc_ref[...] * shrink + jnp.dot(weights, v_ref[...], precision="highest")

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _() -> None:
      o_ref[...] = acc_ref[...] / l_ref[...]

  of_queries = pl.BlockSpec((None, block, depth), lambda h, i, j: (h, i, 0))
  of_keys = pl.BlockSpec((None, block, depth), lambda h, i, j: (h, j, 0))
  column, rows = pltpu.VMEM((block, 1), jnp.float32), pltpu.VMEM((block, depth), jnp.float32)
  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct(q.shape, q.dtype),
    grid=(heads, length // block, length // block),
    in_specs=[of_queries, of_keys, of_keys],
    out_specs=of_queries,
    scratch_shapes=[column, column, rows],
  )(q, k, v)


def attention_exact(q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int = 64) -> Exact:
  length, depth = q.shape[1:]
  scores = np.einsum("hqd,hkd->hqk", q, k) * depth**-0.5
  magnitudes = np.einsum("hqd,hkd->hqk", np.abs(q), np.abs(k)) * depth**-0.5
  weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
  weights /= weights.sum(axis=-1, keepdims=True)
  # A weight: its score, the difference from the maximum, exp, and a product with such an exponential per block of keys.
  of_scores = gamma(depth + 2) * magnitudes.max(axis=-1, keepdims=True)
  per_block = 2 * np.abs(scores).max() * U + EXP + U
  one = of_scores + (length // block + 1) * per_block + gamma(length)
  return weights @ v, SECOND_ORDER * (2 * one + U) * (weights @ np.abs(v))


# --- a block-sparse matrix, its pattern known only at run time ---------------------------------------------------


def sparse_matmul(rows: jax.Array, columns: jax.Array, blocks: jax.Array, dense: jax.Array, bn: int = 64) -> jax.Array:
  size = blocks.shape[1]

  def kernel(rows_ref: Any, columns_ref: Any, blocks_ref: Any, dense_ref: Any, o_ref: Any) -> None:
    step = pl.program_id(1)

    @pl.when((step == 0) | (rows_ref[step] != rows_ref[jnp.maximum(step - 1, 0)]))
    def _() -> None:
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += jnp.dot(blocks_ref[...], dense_ref[...], precision="highest")

  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=2,
    grid=(dense.shape[1] // bn, blocks.shape[0]),
    in_specs=[
      pl.BlockSpec((None, size, size), lambda j, s, rows, columns: (s, 0, 0)),
      pl.BlockSpec((size, bn), lambda j, s, rows, columns: (columns[s], j)),
    ],
    out_specs=pl.BlockSpec((size, bn), lambda j, s, rows, columns: (rows[s], j)),
  )
  out = jax.ShapeDtypeStruct(dense.shape, dense.dtype)
  return pl.pallas_call(kernel, out, grid_spec=spec)(rows, columns, blocks, dense)


def sparse_inputs(rng: np.random.Generator, size: int = 32, count: int = 8, n: int = 128) -> Arrays:
  here = (rng.random((count, count)) < 0.3) | np.eye(count, dtype=bool)  # every row has a block
  rows, columns = (a.astype(np.int32) for a in np.nonzero(here))
  blocks, dense = rng.standard_normal((len(rows), size, size)), rng.standard_normal((count * size, n))
  return rows, columns, blocks.astype(np.float32), dense.astype(np.float32)


def sparse_exact(rows: np.ndarray, columns: np.ndarray, blocks: np.ndarray, dense: np.ndarray) -> Exact:
  size, count = blocks.shape[1], dense.shape[0] // blocks.shape[1]
  matrix = np.zeros((count, size, count, size))
  matrix[rows.astype(int), :, columns.astype(int), :] = blocks
  return matmul_exact(matrix.reshape(count * size, count * size), dense)


# --- the command -------------------------------------------------------------------------------------------------

CASES = (
  Case("vector add", _normal((10_000,), (10_000,)), add, add_exact),
  Case("matmul, k loop", _normal((256, 256), (256, 256)), matmul, matmul_exact),
  Case("softmax", _normal((200, 500)), softmax, softmax_exact),
  Case("layer norm", _normal((200, 500), (500,), (500,)), layer_norm, layer_norm_exact),
  Case("flash attention", _normal(*((2, 256, 64),) * 3), attention, attention_exact),
  Case("block-sparse matmul", sparse_inputs, sparse_matmul, sparse_exact),
)


@dataclasses.dataclass(frozen=True)
class Outcome:
  """What became of a case: the largest error, the bound where it is largest, and times in seconds."""

  shape: tuple[int, ...]
  error: float
  bound: float
  compile_time: float
  run_time: float
  ok: bool


def run_case(case: Case) -> Outcome:
  inputs = case.inputs(np.random.default_rng(0))
  cpu = jax.devices("cpu")[0]
  operands = [jax.device_put(x, cpu) for x in inputs]
  start = time.perf_counter()
  compiled = jax.jit(case.kernel).lower(*operands).compile()
  compile_time = time.perf_counter() - start
  result = jax.block_until_ready(compiled(*operands))
  times = []
  for _ in range(5):
    start = time.perf_counter()
    jax.block_until_ready(compiled(*operands))
    times.append(time.perf_counter() - start)
  exact, bound = case.exact(*(x.astype(np.float64) for x in inputs))
  error = np.abs(np.asarray(result, np.float64) - exact)
  ok = bool(np.all(error <= bound))  # false for NaN, too
  return Outcome(result.shape, float(error.max()), float(bound.max()), compile_time, sorted(times)[2], ok)


def run(arguments: argparse.Namespace) -> int:
  cases = [case for case in CASES if arguments.filter in case.name]
  if not cases:
    print(
      f"No kernel's name contains {arguments.filter!r}. There are: {', '.join(c.name for c in CASES)}.", file=sys.stderr
    )
    return 2
  rows, failed = [], []
  with progress(len(cases)) as begin:
    for case in cases:
      begin(case.name)
      try:
        o = run_case(case)
      except Exception as error:
        rows.append(
          [case.name, "-", f"{type(error).__name__}: {str(error).strip()}".splitlines()[0][:80], *"---", "FAILED"]
        )
        failed.append(case.name)
        continue
      state = "ok" if o.ok else "FAILED"
      times = duration(o.compile_time), duration(o.run_time)
      rows.append([case.name, "x".join(map(str, o.shape)), f"{o.error:.2e}", f"{o.bound:.2e}", *times, state])
      failed += [] if o.ok else [case.name]
  columns = ["kernel", "shape", "max error", "bound", "compile", "time", "ok"]
  print_table("tilewright demo: float32 kernels on the CPU, against float64", columns, rows, right=columns[2:6])
  if failed:
    print(f"Failed: {', '.join(failed)}.")
    return 1
  print(f"All {len(cases)} kernels are within their error bounds.")
  return 0

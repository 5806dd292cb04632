"""Kernels that mix layouts: products, transposes and reductions along every dimension, in one instance each, with what they compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gpu_programs import BF16, F32, S, in_one_block

from tilewright import layout
from tilewright import pallas as pl
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu


def _dot(a: Any, b: Any, contract: tuple[int, int] = (1, 0), dtype: Any = F32) -> Any:
  dims = (((contract[0],), (contract[1],)), ((), ()))
  return jax.lax.dot_general(a, b, dims, preferred_element_type=dtype)


def attention(q: Any, k: Any, v: Any) -> Any:
  """One block of attention: softmax(q k^T) v."""
  s = _dot(q, k, (1, 1)) * 0.125
  e = jnp.exp(s - s.max(1, keepdims=True))
  return _dot(e.astype(q.dtype), v) / e.sum(1, keepdims=True)


def online_attention(block: int) -> Callable[..., Any]:
  """Attention of a block of queries to all keys, a block of keys at a time, with everything carried in registers."""

  def body(q_ref: Any, k_ref: Any, v_ref: Any, o_ref: Any) -> None:
    q = q_ref[...]
    m, d = q.shape

    def step(i: Any, carried: Any) -> Any:
      top, total, out = carried
      k, v = (r[pl.ds(i * block, block), :] for r in (k_ref, v_ref))
      s = _dot(q, k, (1, 1)) * 0.125
      new = jnp.maximum(top, s.max(1))
      e = jnp.exp(s - new[:, None])
      scale = jnp.exp(top - new)
      return new, total * scale + e.sum(1), out * scale[:, None] + _dot(e.astype(q.dtype), v)

    start = (jnp.full((m,), -1e30, F32), jnp.zeros((m,), F32), jnp.zeros((m, d), F32))
    _, total, out = jax.lax.fori_loop(0, k_ref.shape[0] // block, step, start)
    o_ref[...] = (out / total[:, None]).astype(o_ref.dtype)

  def call(q: Any, k: Any, v: Any) -> Any:
    return pl.pallas_call(body, S(q.shape, F32), compiler_params=nvgpu.CompilerParams())(q, k, v)

  return call


def _attention_exactly(q: Any, k: Any, v: Any) -> Any:
  s = q @ k.T * 0.125
  e = np.exp(s - s.max(1, keepdims=True))
  return e @ v / e.sum(1, keepdims=True)


def scratch_matmul(a: Any, b: Any) -> Any:
  """A product added up in a scratch buffer by a loop inside of the kernel."""

  def kernel(a_ref: Any, b_ref: Any, o_ref: Any, total: Any) -> None:
    total[...] = jnp.zeros_like(total)

    def step(i: Any, _: Any) -> Any:
      total[...] += _dot(a_ref[:, pl.ds(i * 32, 32)], b_ref[pl.ds(i * 32, 32), :])
      return 0

    jax.lax.fori_loop(0, a_ref.shape[1] // 32, step, 0)
    o_ref[...] = jnp.maximum(total[...], 0)

  m, n = a.shape[0], b.shape[1]
  return pl.pallas_call(
    kernel, S((m, n), F32), scratch_shapes=[pltpu.VMEM((m, n), F32)], compiler_params=nvgpu.CompilerParams()
  )(a, b)


def from_scratch(a: Any, b: Any) -> Any:
  """A product of operands that lie in scratch memory, read in parts."""

  def kernel(a_ref: Any, b_ref: Any, o_ref: Any, left: Any, right: Any) -> None:
    left[...], right[...] = a_ref[...] * 2, b_ref[...]
    o_ref[...] = _dot(left[...], right[...]) + _dot(left[:, :16], right[:16, :])

  m, n = a.shape[0], b.shape[1]
  return pl.pallas_call(
    kernel,
    S((m, n), F32),
    scratch_shapes=[pltpu.SMEM(a.shape, BF16), pltpu.SMEM(b.shape, BF16)],
    compiler_params=nvgpu.CompilerParams(),
  )(a, b)


def carried(x: Any) -> Any:
  """A tile and its transpose, carried through a loop and exchanged."""

  def kernel(x_ref: Any, o_ref: Any) -> None:
    def step(i: Any, pair: Any) -> Any:
      a, b = pair
      return b.T + 1, a.T * 2

    a, b = jax.lax.fori_loop(0, 3, step, (x_ref[...], x_ref[...].T))
    o_ref[...] = a - b

  return pl.pallas_call(kernel, S(x.shape, F32), compiler_params=nvgpu.CompilerParams())(x)


def _carried_exactly(x: Any) -> Any:
  a, b = x, x.T
  for _ in range(3):
    a, b = b.T + 1, a.T * 2
  return a - b


def _one(body: Callable[..., Any], exactly: Callable[..., Any], out: Any, *args: Any) -> Any:
  call = in_one_block(body, out)
  return lambda *xs: call(*xs)[0], exactly, args


# Each warp has all rows of 32 columns, and a lane a column: sums of columns stay in threads.
COLUMNS = layout.blocked((64, 128), per_thread=(64, 1), lanes=(1, 32), warps=(1, 4))
_CUBE = S((8, 16, 64), F32)
_ROWS, _WIDE = S((64, 128), F32), S((64, 128), BF16)
_Q, _KV = S((64, 64), BF16), S((128, 64), BF16)

# The kernel, what it computes in float64, the arguments; results have float32 sums of bf16 products, or are exact in float32 but for order.
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
  "attention": _one(attention, _attention_exactly, S((64, 64), F32), _Q, _KV, _KV),
  "online_attention": (online_attention(64), _attention_exactly, (_Q, _KV, _KV)),
  "product": _one(_dot, lambda a, b: a @ b, S((64, 64), F32), S((64, 96), BF16), S((96, 64), BF16)),
  "product_nt": _one(
    lambda a, b: _dot(a, b, (1, 1)), lambda a, b: a @ b.T, S((64, 48), F32), S((64, 64), BF16), S((48, 64), BF16)
  ),
  "product_tn": _one(
    lambda a, b: _dot(a, b, (0, 0)), lambda a, b: a.T @ b, S((64, 32), F32), S((96, 64), BF16), S((96, 32), BF16)
  ),
  "product_of_sums": _one(
    lambda a, b: _dot((a + a).astype(BF16), (b * 2).T.astype(BF16)) + 1,
    lambda a, b: (2 * a) @ (2 * b).T + 1,
    S((64, 64), F32),
    _Q,
    _Q,
  ),
  "product_in_f16": _one(
    lambda a, b: _dot(a, b, dtype=jnp.float16),
    lambda a, b: a @ b,
    S((32, 32), jnp.float16),
    S((32, 32), jnp.float16),
    S((32, 32), jnp.float16),
  ),
  "scratch_matmul": (scratch_matmul, lambda a, b: np.maximum(a @ b, 0), (S((64, 96), BF16), S((96, 64), BF16))),
  "from_scratch": (
    from_scratch,
    lambda a, b: 2 * (a @ b + a[:, :16] @ b[:16]),
    (S((32, 48), BF16), S((48, 32), BF16)),
  ),
  "carried": (carried, _carried_exactly, (S((32, 32), F32),)),
  "transpose": _one(lambda x: x.T, lambda x: x.T, S((128, 64), BF16), _WIDE),
  "transpose_cube": _one(lambda x: x.transpose(2, 0, 1), lambda x: x.transpose(2, 0, 1), S((64, 8, 16), F32), _CUBE),
  "columns": _one(
    lambda x: x / jnp.exp(x).sum(0, keepdims=True), lambda x: x / np.exp(x).sum(0, keepdims=True), _ROWS, _ROWS
  ),
  "rows_and_columns": _one(
    lambda x: x - x.max(1, keepdims=True) + x.sum(0, keepdims=True),
    lambda x: x - x.max(1, keepdims=True) + x.sum(0, keepdims=True),
    _ROWS,
    _ROWS,
  ),
  "with_transpose": _one(
    lambda x: x + x.T * x.sum(0)[:, None], lambda x: x + x.T * x.sum(0)[:, None], S((64, 64), F32), S((64, 64), F32)
  ),
  "rotated": _one(
    lambda x: jnp.concatenate([x[:, 64:], -x[:, :64]], axis=1),
    lambda x: np.concatenate([x[:, 64:], -x[:, :64]], axis=1),
    _ROWS,
    _ROWS,
  ),
  **{
    f"cube_over_{''.join(map(str, axes))}": _one(
      lambda x, axes=axes: x - x.sum(axes, keepdims=True),
      lambda x, axes=axes: x - x.sum(axes, keepdims=True),
      _CUBE,
      _CUBE,
    )
    for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
  },
  "cast": _one(
    lambda x: nvgpu.layout_cast(x + 1, COLUMNS).sum(0) - x[0], lambda x: (x + 1).sum(0) - x[0], S((128,), F32), _ROWS
  ),
  "ragged_columns": _one(
    lambda x: x - x.max(0, keepdims=True), lambda x: x - x.max(0, keepdims=True), S((33, 20), F32), S((33, 20), F32)
  ),
}


def arguments(name: str) -> list[Any]:
  rng = np.random.default_rng(len(name))
  return [jnp.asarray(rng.standard_normal(a.shape), a.dtype) for a in PROGRAMS[name][2]]


def exactly(name: str, args: list[Any]) -> np.ndarray:
  return np.asarray(PROGRAMS[name][1](*(np.asarray(a, np.float64) for a in args)))


def tolerance(name: str, args: list[Any], wanted: np.ndarray) -> float:
  """Sums of up to 1024 numbers in float32; where probabilities are rounded to bf16 first, that much of the largest value."""
  eps = {"attention": 2.0**-8, "online_attention": 2.0**-8, "product_in_f16": 2.0**-10}.get(name, 2.0**-17)
  return float(eps * max(1.0, np.abs(wanted).max()))

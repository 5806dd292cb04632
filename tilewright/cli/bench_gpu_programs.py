"""GPU rows of kernels as users write them, without GPU-specific code: beside XLA's program for the same function.

sums along the grid    one output block as accumulator of all steps of a sequential grid: sums of columns, and of everything
copies in scratch      blocks copied explicitly into a ring of buffers, with DMA semaphores
large blocks           a megabyte per instance, more than registers and shared memory hold
f32 product            blocks of float32, accumulated along the grid
masked product         a loop over K in the kernel, with masked loads, at sizes that no block divides
max_pool, conv2d       shifted and strided slices of a block
interleaved rotary     even and odd elements of a block
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import pallas as pl
from tilewright.cli.bench import OURS, Call, Case
from tilewright.cli.bench_gpu_kernels import Values, device_time
from tilewright.cli.bench_random import check_agreement
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import triton as plt

F32, BF16 = jnp.float32, jnp.bfloat16
S = jax.ShapeDtypeStruct
_GOAL = 0.7
_ERROR = 1e-2  # of the norm: roundings to bf16


def _normal(*shape: int, dtype: Any = F32) -> Callable[[int], jax.Array]:
  return lambda seed: jax.random.normal(jax.random.key(seed), shape, F32).astype(dtype)


def _params(*semantics: str) -> Any:
  return nvgpu.CompilerParams(dimension_semantics=semantics or None)


def column_sums(x: jax.Array, block: int = 32) -> jax.Array:
  def kernel(x_ref: Any, o_ref: Any) -> None:
    @pl.when(pl.program_id(0) == 0)
    def _() -> None:
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)

  rows, columns = x.shape
  return pl.pallas_call(
    kernel,
    S((1, columns), F32),
    grid=(rows // block,),
    in_specs=[pl.BlockSpec((block, columns), lambda i: (i, 0))],
    out_specs=pl.BlockSpec((1, columns), lambda i: (0, 0)),
    compiler_params=_params(),
  )(x)


def total(x: jax.Array, block: int = 32) -> jax.Array:
  """The sum of all elements, as one writes it with a scalar in scratch memory."""

  def kernel(x_ref: Any, o_ref: Any, total_ref: Any) -> None:
    @pl.when(pl.program_id(0) == 0)
    def _() -> None:
      total_ref[...] = jnp.zeros_like(total_ref)

    total_ref[...] += jnp.sum(x_ref[...]).reshape(1, 1)

    @pl.when(pl.program_id(0) == pl.num_programs(0) - 1)
    def _() -> None:
      o_ref[...] = total_ref[...]

  rows, columns = x.shape
  return pl.pallas_call(
    kernel,
    S((1, 1), F32),
    grid=(rows // block,),
    in_specs=[pl.BlockSpec((block, columns), lambda i: (i, 0))],
    out_specs=pl.BlockSpec((1, 1), lambda i: (0, 0)),
    scratch_shapes=[pltpu.VMEM((1, 1), F32)],
    compiler_params=_params(),
  )(x)


def copied_by_hand(x: jax.Array, block: int = 8, part: int = 128) -> jax.Array:
  """sin(x): each instance takes `part` rows, which a ring of two buffers loads in blocks."""
  rows, columns = x.shape

  def kernel(x_ref: Any, o_ref: Any, buffers: Any, arrived: Any) -> None:
    start = pl.program_id(0) * part

    def copy(i: Any, slot: Any) -> Any:
      return pltpu.make_async_copy(x_ref.at[pl.ds(start + i * block, block)], buffers.at[slot], arrived.at[slot])

    copy(0, 0).start()

    @pl.loop(0, part // block)
    def _(i: Any) -> None:
      slot = lax.rem(i, 2)
      pl.when(i < part // block - 1)(lambda: copy(i + 1, 1 - slot).start())
      copy(i, slot).wait()
      o_ref[pl.ds(i * block, block)] = jnp.sin(buffers[slot])

  return pl.pallas_call(
    kernel,
    S(x.shape, x.dtype),
    grid=(rows // part,),
    in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
    out_specs=pl.BlockSpec((part, columns), lambda i: (i, 0)),
    scratch_shapes=[pltpu.VMEM((2, block, columns), x.dtype), pltpu.SemaphoreType.DMA((2,))],
    compiler_params=_params("parallel"),
  )(x)


def large_blocks(x: jax.Array, block: int = 64) -> jax.Array:
  """A softmax over rows, 64 rows of 4096 at a time."""

  def kernel(x_ref: Any, o_ref: Any) -> None:
    e = jnp.exp(x_ref[...] - jnp.max(x_ref[...], axis=1, keepdims=True))
    o_ref[...] = e / jnp.sum(e, axis=1, keepdims=True)

  spec = pl.BlockSpec((block, x.shape[1]), lambda i: (i, 0))
  return pl.pallas_call(
    kernel,
    S(x.shape, x.dtype),
    grid=(x.shape[0] // block,),
    in_specs=[spec],
    out_specs=spec,
    compiler_params=_params(),
  )(x)


def f32_product(x: jax.Array, y: jax.Array) -> jax.Array:
  bm, bn, bk = 128, 128, 32

  def kernel(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += jnp.dot(x_ref[...], y_ref[...])

  (m, k), n = x.shape, y.shape[1]
  return pl.pallas_call(
    kernel,
    S((m, n), F32),
    grid=(m // bm, n // bn, k // bk),
    in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
    out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)),
    compiler_params=_params("parallel", "parallel", "arbitrary"),
  )(x, y)


def masked_product(x: jax.Array, y: jax.Array) -> jax.Array:
  bm, bn, bk = 128, 128, 64
  (m, k), n = x.shape, y.shape[1]

  def kernel(x_ref: Any, y_ref: Any, o_ref: Any) -> None:
    rows = pl.program_id(0) * bm + jnp.arange(bm)
    columns = pl.program_id(1) * bn + jnp.arange(bn)

    def step(l: Any, acc: jax.Array) -> jax.Array:
      along = l * bk + jnp.arange(bk)
      left = plt.load(
        x_ref.at[pl.ds(pl.program_id(0) * bm, bm), pl.ds(l * bk, bk)],
        mask=(rows[:, None] < m) & (along[None] < k),
        other=0.0,
      )
      right = plt.load(
        y_ref.at[pl.ds(l * bk, bk), pl.ds(pl.program_id(1) * bn, bn)],
        mask=(along[:, None] < k) & (columns[None] < n),
        other=0.0,
      )
      return acc + jnp.dot(left, right, preferred_element_type=F32)

    acc = lax.fori_loop(0, pl.cdiv(k, bk), step, jnp.zeros((bm, bn), F32))
    plt.store(
      o_ref.at[pl.ds(pl.program_id(0) * bm, bm), pl.ds(pl.program_id(1) * bn, bn)],
      acc.astype(o_ref.dtype),
      mask=(rows[:, None] < m) & (columns[None] < n),
    )

  whole = pl.BlockSpec(memory_space=pl.ANY)
  return pl.pallas_call(
    kernel,
    S((m, n), x.dtype),
    grid=(pl.cdiv(m, bm), pl.cdiv(n, bn)),
    in_specs=[whole, whole],
    out_specs=whole,
    compiler_params=plt.CompilerParams(num_warps=4, num_stages=3),
  )(x, y)


def max_pool(x: jax.Array, rows: int = 8) -> jax.Array:
  """The maximum of each 2 x 2 window, images with channels last."""
  images, height, width, channels = x.shape

  def kernel(x_ref: Any, o_ref: Any) -> None:
    parts = [x_ref[i::2, j::2] for i in range(2) for j in range(2)]
    o_ref[...] = jnp.maximum(jnp.maximum(parts[0], parts[1]), jnp.maximum(parts[2], parts[3]))

  return pl.pallas_call(
    kernel,
    S((images, height // 2, width // 2, channels), x.dtype),
    grid=(images, height // rows),
    in_specs=[pl.BlockSpec((None, rows, width, channels), lambda n, i: (n, i, 0, 0))],
    out_specs=pl.BlockSpec((None, rows // 2, width // 2, channels), lambda n, i: (n, i, 0, 0)),
    compiler_params=_params(),
  )(x)


def conv2d(x: jax.Array, w: jax.Array, rows: int = 4) -> jax.Array:
  """A 3 x 3 convolution of padded images, channels last, as nine products of shifted slices."""
  images, height, width, channels = x.shape
  height, width, out = height - 2, width - 2, w.shape[3]

  def kernel(x_ref: Any, w_ref: Any, o_ref: Any) -> None:
    first = pl.program_id(1) * rows
    sums = jnp.zeros((rows * width, out), F32)
    for i in range(3):
      for j in range(3):
        part = x_ref[pl.ds(first + i, rows), pl.ds(j, width), :].reshape(rows * width, channels)
        sums += jnp.dot(part, w_ref[i, j], preferred_element_type=F32)
    o_ref[...] = sums.reshape(rows, width, out).astype(o_ref.dtype)

  return pl.pallas_call(
    kernel,
    S((images, height, width, out), x.dtype),
    grid=(images, height // rows),
    in_specs=[
      pl.BlockSpec((None, *x.shape[1:]), lambda n, i: (n, 0, 0, 0)),
      pl.BlockSpec(w.shape, lambda n, i: (0, 0, 0, 0)),
    ],
    out_specs=pl.BlockSpec((None, rows, width, out), lambda n, i: (n, i, 0, 0)),
    compiler_params=_params(),
  )(x, w)


def interleaved_rotary(x: jax.Array, cos: jax.Array, sin: jax.Array, rows: int = 16) -> jax.Array:
  """Neighbouring elements are rotated as pairs."""

  def kernel(x_ref: Any, cos_ref: Any, sin_ref: Any, o_ref: Any) -> None:
    a, b = x_ref[:, ::2].astype(F32), x_ref[:, 1::2].astype(F32)
    c, s = cos_ref[...], sin_ref[...]
    o_ref[:, ::2] = (a * c - b * s).astype(o_ref.dtype)
    o_ref[:, 1::2] = (a * s + b * c).astype(o_ref.dtype)

  spec = lambda width: pl.BlockSpec((rows, width), lambda i: (i, 0))
  width = x.shape[1]
  return pl.pallas_call(
    kernel,
    S(x.shape, x.dtype),
    grid=(x.shape[0] // rows,),
    in_specs=[spec(width), spec(width // 2), spec(width // 2)],
    out_specs=spec(width),
    compiler_params=_params(),
  )(x, cos, sin)


def _rotate(x: jax.Array, cos: jax.Array, sin: jax.Array) -> jax.Array:
  a, b = x[:, ::2].astype(F32), x[:, 1::2].astype(F32)
  return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape).astype(x.dtype)


def _max_pool(x: jax.Array) -> jax.Array:
  return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _conv2d(x: jax.Array, w: jax.Array) -> jax.Array:
  return lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _softmax(x: jax.Array) -> jax.Array:
  return jax.nn.softmax(x, axis=1)


Program = tuple[str, Callable[..., Any], Callable[..., Any], tuple[Callable[[int], jax.Array], ...]]

PROGRAMS: tuple[Program, ...] = (
  (
    "column sums along the grid 16384x4096",
    column_sums,
    lambda x: jnp.sum(x, 0, keepdims=True),
    (_normal(16384, 4096),),
  ),
  ("sum along the grid 16384x4096", total, lambda x: jnp.sum(x).reshape(1, 1), (_normal(16384, 4096),)),
  ("sin of blocks copied by hand 16384x2048", copied_by_hand, jnp.sin, (_normal(16384, 2048),)),
  ("softmax in large blocks 16384x4096", large_blocks, _softmax, (_normal(16384, 4096),)),
  ("f32 product in blocks 2048^3", f32_product, jnp.dot, (_normal(2048, 2048), _normal(2048, 2048))),
  (
    "masked product bf16 2000x1100x1500",
    masked_product,
    jnp.dot,
    (_normal(2000, 1500, dtype=BF16), _normal(1500, 1100, dtype=BF16)),
  ),
  ("max_pool by slices 32x128x128x64", max_pool, _max_pool, (_normal(32, 128, 128, 64, dtype=BF16),)),
  (
    "conv2d by slices 32x66x66x128",
    conv2d,
    _conv2d,
    (_normal(32, 66, 66, 128, dtype=BF16), _normal(3, 3, 128, 128, dtype=BF16)),
  ),
  (
    "interleaved rotary 32768x1024",
    interleaved_rotary,
    _rotate,
    (_normal(32768, 1024, dtype=BF16), _normal(32768, 512), _normal(32768, 512)),
  ),
)


def _case(name: str, ours: Any, xla: Any, makers: tuple[Callable[[int], jax.Array], ...]) -> Case:
  values: Values = lambda: tuple(make(seed) for seed, make in enumerate(makers))

  def build() -> Call:
    check_agreement(name, jax.jit(ours)(*values()), jax.jit(xla)(*values()), _ERROR)
    return device_time(ours, values)

  contenders = {OURS: build, "XLA": lambda: device_time(xla, values)}
  return Case(f"gpu program {name}", contenders, goals={"XLA": _GOAL})


CASES = tuple(_case(*program) for program in PROGRAMS)

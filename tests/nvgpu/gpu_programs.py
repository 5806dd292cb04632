"""Kernels in the kernel language, as a target without a device sees them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import ops
from tilewright import pallas as pl
from tilewright.cli import bench_gpu_kernels
from tilewright.cli.bench_gpu_kernels import transpose
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.tile.grid import Kernel
from tilewright.tile.native import NativeKernel

S = jax.ShapeDtypeStruct
BF16, F32 = jnp.bfloat16, jnp.float32


def by_rows(body: Callable[..., Any], rows: int = 1) -> Callable[..., Any]:
  """A kernel that applies `body` to blocks of rows, computed in float32."""

  def call(x: Any, *others: Any) -> Any:
    def kernel(*refs: Any) -> None:
      *inputs, out = refs
      out[...] = body(*(r[...].astype(F32) for r in inputs)).astype(out.dtype)

    own = pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0))
    specs = [own if y.ndim == 2 else pl.BlockSpec(y.shape, lambda i: (0,)) for y in (x, *others)]
    grid = (pl.cdiv(x.shape[0], rows),)
    return pl.pallas_call(
      kernel, S(x.shape, x.dtype), grid=grid, in_specs=specs, out_specs=own, compiler_params=nvgpu.CompilerParams()
    )(x, *others)

  return call


def softmax(x: Any) -> Any:
  e = jnp.exp(x - x.max(1, keepdims=True))
  return e / e.sum(1, keepdims=True)


def rms_norm(x: Any, w: Any) -> Any:
  return x * jax.lax.rsqrt(jnp.mean(x * x, 1, keepdims=True) + 1e-6) * w


def layer_norm(x: Any, w: Any, b: Any) -> Any:
  centred = x - jnp.mean(x, 1, keepdims=True)
  return centred * jax.lax.rsqrt(jnp.mean(centred * centred, 1, keepdims=True) + 1e-6) * w + b


def gelu_gate(x: Any, g: Any) -> Any:
  return jax.nn.gelu(x) * g


def cross_entropy(x: Any, labels: Any) -> Any:
  def kernel(x_ref: Any, l_ref: Any, o_ref: Any) -> None:
    x = x_ref[...].astype(F32)
    top = x.max(1, keepdims=True)
    total = top + jnp.log(jnp.exp(x - top).sum(1, keepdims=True))
    hit = jax.lax.broadcasted_iota(jnp.int32, x.shape, 1) == l_ref[...][:, None]
    o_ref[...] = (total - jnp.where(hit, x, 0.0).sum(1, keepdims=True))[:, 0]

  n, c = x.shape
  one = pl.BlockSpec((1,), lambda i: (i,))
  return pl.pallas_call(
    kernel,
    S((n,), F32),
    grid=(n,),
    in_specs=[pl.BlockSpec((1, c), lambda i: (i, 0)), one],
    out_specs=one,
    compiler_params=nvgpu.CompilerParams(),
  )(x, labels)


def matmul(a: Any, b: Any, blocks: tuple[int, int, int] = (128, 128, 64)) -> Any:
  return bench_gpu_kernels.matmul(a, b, blocks)


def natives(f: Callable[..., Any], *args: Any) -> list[tuple[Kernel, NativeKernel]]:
  """The kernels a function calls, lowered to the tile IR."""
  return list(native_kernels(f, *args))


_X, _W = S((64, 8192), BF16), S((8192,), BF16)
_SQUARE, _ODD = S((256, 256), BF16), S((33, 1000), F32)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
  "softmax": (by_rows(softmax), (_X,)),
  "softmax_ragged": (by_rows(softmax, rows=4), (_ODD,)),
  "rms_norm": (by_rows(rms_norm), (_X, _W)),
  "layer_norm": (by_rows(layer_norm), (_X, _W, _W)),
  "gelu_gate": (by_rows(gelu_gate), (_X, _X)),
  "cast": (by_rows(lambda x: x), (_X,)),
  "transpose": (transpose, (_SQUARE,)),
  "cross_entropy": (cross_entropy, (_X, S((64,), jnp.int32))),
  "rotary": (
    functools.partial(ops.rotary, native=True),
    (S((64, 64, 128), BF16), S((64, 64), F32), S((64, 64), F32)),
  ),
  "matmul": (matmul, (_SQUARE, _SQUARE)),
  "matmul_f32": (matmul, (S((256, 256), F32), S((256, 256), F32))),
}


def in_one_block(body: Callable[..., Any], *outs: Any) -> Callable[..., Any]:
  """A kernel over whole arrays."""

  def call(*arrays: Any) -> Any:
    def kernel(*refs: Any) -> None:
      results = body(*(r[...] for r in refs[: len(arrays)]))
      for ref, value in zip(refs[len(arrays) :], jax.tree.leaves(results), strict=True):
        ref[...] = value

    return pl.pallas_call(kernel, list(outs), compiler_params=nvgpu.CompilerParams())(*arrays)

  return call


_I32 = S((64,), jnp.int32)
PROGRAMS |= {
  "sort": (in_one_block(lambda x: jnp.sort(x, axis=-1), S((4, 100), F32)), (S((4, 100), F32),)),
  "take": (in_one_block(lambda x, i: x[i], S((64, 100), F32)), (S((50, 100), F32), _I32)),
  "scatter_add": (
    in_one_block(lambda x, i, y: x.at[i].add(y), S((50, 100), F32)),
    (S((50, 100), F32), _I32, S((64, 100), F32)),
  ),
  "random": (
    in_one_block(lambda k: jax.random.normal(jax.random.wrap_key_data(k), (8, 128)), S((8, 128), F32)),
    (S((2,), jnp.uint32),),
  ),
}


def double_buffered(x_ref, o_ref, buffer, arrived):
  """Twice each of four blocks, of which the next is on its way while one is computed with."""
  copies = [pltpu.make_async_copy(x_ref.at[i], buffer.at[i % 2], arrived.at[i % 2]) for i in range(4)]
  copies[0].start()
  for i in range(4):
    if i + 1 < 4:
      copies[i + 1].start()
    copies[i].wait()
    o_ref[i] = buffer[i % 2] * 2

"""Block-scaled products in the kernel language, in the form the GPU target turns into matrix instructions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import numerics
from tilewright import pallas as pl
from tilewright.numerics import dot as numerics_dot
from tilewright.numerics import words
from tilewright.numerics.formats import F4E2M1FN
from tilewright.numerics.launch import Execution
from tilewright.pallas import nvgpu

S = jax.ShapeDtypeStruct
BF16, F32, U8 = jnp.bfloat16, jnp.float32, jnp.uint8
E4M3, E8M0 = jnp.float8_e4m3fn, jnp.float8_e8m0fnu


def weights(x: Any, data: Any, scales: Any, bn: int = 32, warps: int = 8, f: Any = F4E2M1FN, block: int = 16) -> Any:
  """A few rows times packed weights (n, k)."""
  (m, k), n = x.shape, data.shape[0]
  per_byte = 8 // f.width

  def kernel(x_ref: Any, w_ref: Any, s_ref: Any, o_ref: Any) -> None:
    left = words.arranged(x_ref[...], f, block)
    right = words.decoded(w_ref[...], s_ref[...], f, block)
    axes = tuple(range(1, left.ndim))
    total = jax.lax.dot_general(left, right, ((axes, axes), ((), ())), preferred_element_type=F32)
    o_ref[...] = (total * F32(words.epilogue_factor(f, scales.dtype))).astype(o_ref.dtype)

  return pl.pallas_call(
    kernel,
    S((m, n), BF16),
    grid=(n // bn,),
    in_specs=[
      pl.BlockSpec((m, k), lambda j: (0, 0)),
      pl.BlockSpec((bn, k // per_byte), lambda j: (j, 0)),
      pl.BlockSpec((bn, k // block), lambda j: (j, 0)),
    ],
    out_specs=pl.BlockSpec((m, bn), lambda j: (0, j)),
    compiler_params=nvgpu.CompilerParams(num_warps=warps),
  )(x, data, scales)


def matmul(a: Any, b: Any, out_dtype: Any = F32) -> Any:
  """Two block-scaled matrices with k last, (m, k) and (n, k): blocks of both, added up along the last dimension of the grid."""
  numbers = (((1,), (1,)), ((), ()))
  return numerics_dot.contract(numbers, out_dtype, Execution("gpu"), a, b)


def quantised(shape: tuple[int, int], recipe: str) -> Any:
  """What a matrix of a shape is as a QArray."""
  return jax.eval_shape(lambda x: numerics.quantize(x, recipe), S(shape, F32))


def mxfp8_matmul(m: int = 256, n: int = 256, k: int = 512) -> tuple[Any, tuple[Any, ...]]:
  return matmul, (quantised((m, k), "mxfp8"), quantised((n, k), "mxfp8"))


def nvfp4_matmul(m: int = 256, n: int = 256, k: int = 512) -> tuple[Any, tuple[Any, ...]]:
  return matmul, (quantised((m, k), "nvfp4"), quantised((n, k), "nvfp4"))

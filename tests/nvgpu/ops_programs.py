"""The library's kernels as they are called on a GPU, forward and backward, on types instead of arrays.

kernels_of("rms_norm")      the kernels of ops.rms_norm and of its derivative, in the tile IR
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import ops
from tilewright.numerics import quantize
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.target.llvm.identity import identity
from tilewright.tile.native import NativeKernel

S = jax.ShapeDtypeStruct
BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32
ROWS, WIDTH = 512, 8192

_x, _w, _labels = S((ROWS, WIDTH), BF16), S((WIDTH,), BF16), S((ROWS,), I32)
_square, _heads = S((512, 512), BF16), S((2, 4, 512, 64), BF16)
_groups, _sizes = S((4, 512, 512), BF16), S((4,), I32)


def _quantised(shape: tuple[int, ...], axis: int) -> Any:
  return jax.eval_shape(lambda w: quantize(w, "mxfp8", axis=axis), S(shape, F32))


# What is called, and with which types. A name may say after a space what is special about a call.
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
  "attention": (functools.partial(ops.attention, causal=True), (_heads, _heads, _heads)),
  "cross_entropy": (ops.cross_entropy, (_x, _labels)),
  "cumsum": (ops.cumsum, (_x,)),
  "cumulative": (functools.partial(ops.cumulative, "max"), (_x,)),
  "embedding": (ops.embedding, (S((1000, WIDTH), BF16), _labels)),
  "gelu": (ops.gelu, (_x,)),
  "gelu exact": (functools.partial(ops.gelu, approximate=False), (_x,)),
  "gelu_mlp": (ops.gelu_mlp, (_square, _square, S((512,), BF16), _square)),
  "grouped_matmul": (ops.grouped_matmul, (_square, _groups, _sizes)),
  "layer_norm": (ops.layer_norm, (_x, _w, _w)),
  "layer_norm small": (ops.layer_norm, (S((256, 1024), F32), S((1024,), F32), S((1024,), F32))),
  "log_softmax": (ops.log_softmax, (_x,)),
  "matmul": (ops.matmul, (_square, _square)),
  "matmul f32": (ops.matmul, (S((300, 200), F32), S((200, 100), F32))),
  "rms_norm": (ops.rms_norm, (_x, _w)),
  "rotary": (ops.rotary, (S((ROWS, 64, 128), BF16), S((ROWS, 64), F32), S((ROWS, 64), F32))),
  "scaled_dot": (ops.scaled_dot, (_square, _quantised((512, 512), 0))),
  "scaled_grouped_matmul": (ops.scaled_grouped_matmul, (_square, _quantised((4, 512, 512), 1), _sizes)),
  "softmax": (ops.softmax, (_x,)),
  "softmax small": (ops.softmax, (S((256, 1024), F32),)),
  "swiglu": (ops.swiglu, (_x, _x)),
  "swiglu_mlp": (ops.swiglu_mlp, (_square, _square, _square, _square)),
  "top_k": (functools.partial(ops.top_k, k=8), (_x,)),
}
NO_DERIVATIVE = {"cumulative", "scaled_grouped_matmul", "top_k"}


def kernels_of(name: str, derivative: bool = True) -> list[NativeKernel]:
  """The kernels of a call and of its derivative, if there is one, towards the arguments of a float type."""
  f, args = CALLS[name]
  options = {} if name == "scaled_dot" else {"native": True}
  wanted = tuple(i for i, a in enumerate(args) if isinstance(a, S) and jnp.issubdtype(a.dtype, jnp.floating))

  def call(*values: Any) -> Any:
    return f(*values, **options)

  def both(*values: Any) -> Any:
    return call(*values), jax.grad(lambda *v: call(*v).astype(F32).sum(), wanted)(*values)

  found = native_kernels(both if derivative and name not in NO_DERIVATIVE else call, *args)
  return list({identity(native): native for _, native in found}.values())

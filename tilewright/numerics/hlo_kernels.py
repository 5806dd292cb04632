"""The kernels of this package, offered to the HLO pass `block_scaling`: each as a module that the pass puts in place of the call."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.hlo import Instruction, Module, parse
from tilewright.hlo.passes.block_scaling import register_kernel
from tilewright.numerics.dot import scaled_dot
from tilewright.numerics.formats import FORMATS, format_of
from tilewright.numerics.matmuls import given
from tilewright.numerics.qarray import QArray

_PLAIN = (jnp.float32, jnp.bfloat16, jnp.float16)  # what an operand that is not scaled may be
_KNOWN = frozenset(f.dtype for f in FORMATS.values() if f.dtype is not None)


@register_kernel("cpu", "block_scaled_dot")
def on_cpu(instruction: Instruction) -> Module | str:
  return block_scaled_dot(instruction, jax.devices("cpu")[0])


@register_kernel("cuda", "block_scaled_dot")
def on_gpu(instruction: Instruction) -> Module | str:
  """Native code is made for the GPU that is there."""
  try:
    device = jax.devices("cuda")[0]
  except RuntimeError:
    return "JAX sees no NVIDIA GPU to compile a kernel for"
  return block_scaled_dot(instruction, device)


def _swaps_last(x: Instruction) -> bool:
  """Whether a value is another one with its last two dimensions exchanged."""
  rank = x.shape.rank
  return x.opcode == "transpose" and tuple(x.attrs["dimensions"]) == (*range(rank - 2), rank - 1, rank - 2)


def block_scaled_dot(instruction: Instruction, device: Any) -> Module | str:
  """(lhs, rhs, lhs scales, rhs scales, global scale), the last two if given, by `scaled_dot`'s native kernel."""
  shapes = [operand.shape for operand in instruction.operands]
  unknown = [str(s) for s in shapes if np.dtype(s.dtype) not in _KNOWN]
  if unknown:
    return f"there is no number format for {', '.join(unknown)}"
  k = shapes[0].dimensions[-1]
  if any(k % s.dimensions[-1] for s in shapes[2:4]):
    return "scales do not divide K evenly"
  rank = shapes[0].rank
  if rank < 2:
    return "operands must be matrices or batches of them"

  def stack(x: Any) -> Any:
    return x.reshape(-1, *x.shape[-2:])

  def for_rows(scales: Any, x: Any) -> Any:
    """Scales for each row of elements, where one serves several."""
    for axis, (size, count) in enumerate(zip(x.shape[:-1], scales.shape)):
      if count != size:
        scales = jnp.repeat(scales, -(-size // count), axis=axis)[(slice(None),) * axis + (slice(size),)]
    return stack(scales)

  def in_bytes(x: Any) -> Any:
    """Elements below 8 bits in bytes of their own: the back ends have no cast from several to one after the stage of the pass."""
    f = format_of(x.dtype)
    return x if f.width >= 8 else x.astype(jnp.float8_e4m3fn if f.is_float else jnp.int8)

  def as_float(x: Any) -> Any:
    return x if x.dtype in _PLAIN else x.astype(jnp.float32)

  k_first = [_swaps_last(operand) for operand in instruction.operands[:2]]

  def side(number: int, x: Any, scales: Any) -> tuple[QArray, int]:
    """A scaled operand, and the dimension that is contracted. One that was transposed is taken as it was before."""
    q = given(("lhs", "rhs")[number], in_bytes(stack(x)), for_rows(scales, x), None)
    if not k_first[number]:
      return q, 2
    before = in_bytes(stack(jnp.swapaxes(x, -1, -2)))
    return dataclasses.replace(q, data=before, scales=jnp.swapaxes(q.scales, 1, 2), axis=-2), 1

  def call(x: Any, y: Any, x_scales: Any, *rest: Any) -> Any:
    left, contracted = side(0, x, x_scales)
    right, other = side(1, y, rest[0]) if rest else (as_float(stack(y)), 2)
    whole = rest[1].astype(jnp.float32) if len(rest) > 1 else None
    dot = functools.partial(scaled_dot, preferred_element_type=instruction.shape.dtype, global_scale=whole)
    batch = ((0,), (0,))
    # Of weights and a few rows, the rows come first: that is what decoding is made for.
    if rest:
      out = dot(left, right, (((contracted,), (other,)), batch))
    else:
      out = jnp.swapaxes(dot(right, left, (((other,), (contracted,)), batch)), 1, 2)
    return out.reshape(instruction.shape.dimensions)

  arguments = [jax.ShapeDtypeStruct(s.dimensions, np.dtype(s.dtype)) for s in shapes]
  try:
    with jax.default_device(device):
      lowered = jax.jit(call).lower(*arguments)
  except errors.TilewrightError as refused:
    return str(refused)
  return parse(lowered.compiler_ir(dialect="hlo").as_hlo_text())

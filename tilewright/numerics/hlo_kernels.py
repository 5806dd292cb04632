"""The kernels of this package, offered to the HLO pass `block_scaling`: each as a module that the pass puts in place of the call."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.hlo import Instruction, Module, parse
from tilewright.hlo.passes.block_scaling import register_kernel
from tilewright.numerics.dot import scaled_dot
from tilewright.numerics.formats import FORMATS
from tilewright.numerics.matmuls import given

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

  def as_float(x: Any) -> Any:
    return x if x.dtype in _PLAIN else x.astype(jnp.float32)

  def call(x: Any, y: Any, x_scales: Any, *rest: Any) -> Any:
    # The back ends have no cast from several elements to one after the stage at which the pass runs.
    left = given("lhs", stack(x), for_rows(x_scales, x), None, casts=False)
    right = given("rhs", stack(y), for_rows(rest[0], y), None, casts=False) if rest else as_float(stack(y))
    whole = rest[1].astype(jnp.float32) if len(rest) > 1 else None
    numbers = (((2,), (2,)), ((0,), (0,)))
    out = scaled_dot(left, right, numbers, preferred_element_type=instruction.shape.dtype, global_scale=whole)
    return out.reshape(instruction.shape.dimensions)

  arguments = [jax.ShapeDtypeStruct(s.dimensions, np.dtype(s.dtype)) for s in shapes]
  try:
    with jax.default_device(device):
      lowered = jax.jit(call).lower(*arguments)
  except errors.TilewrightError as refused:
    return str(refused)
  return parse(lowered.compiler_ir(dialect="hlo").as_hlo_text())

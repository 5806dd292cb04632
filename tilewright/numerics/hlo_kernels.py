"""The kernels of this package, registered with the HLO pass `block_scaling`: each as a module with which the pass replaces the call.

Elements below 8 bits that memory holds packed along k are bytes in those modules, so that kernels read and write them as they are.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.hlo import Instruction, Module, Shape, parse
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.block_scaling import register_kernel
from tilewright.numerics import hlo_quantize, packing
from tilewright.numerics.convert import encode
from tilewright.numerics.dot import scaled_dot
from tilewright.numerics.formats import F4E2M1FN, F32, FORMATS, INT2, INT4, Format, format_of
from tilewright.numerics.launch import execution
from tilewright.numerics.matmuls import given
from tilewright.numerics.qarray import QArray
from tilewright.numerics.words import has_words
from tilewright.runtime import cuda
from tilewright.runtime.tracing_platform import tracing_for

_PLAIN = (jnp.float32, jnp.bfloat16, jnp.float16)  # what an operand that is not scaled may be
_KNOWN = frozenset(f.dtype for f in FORMATS.values() if f.dtype is not None)

_PACKED_ON = ("cpu",)  # where XLA takes a cast from several elements to a byte after the stage of the pass

# What to compute, and from what.
Built: TypeAlias = tuple[Callable[..., Any], list[jax.ShapeDtypeStruct]]
Build: TypeAlias = Callable[[Instruction, str], Built | str]


def offered(operation: str) -> Callable[[Build], Build]:
  """Registers a function of a call and a platform, "cpu" or "cuda", that says what to compute and from what, or why not."""

  def add(build: Build) -> Build:
    @register_kernel("cpu", operation)
    def on_cpu(instruction: Instruction) -> Module | str:
      return _lowered(build, instruction, "cpu")

    @register_kernel("cuda", operation)
    def on_gpu(instruction: Instruction) -> Module | str:
      return _lowered(build, instruction, "cuda")

    return build

  return add


def _lowered(build: Build, instruction: Instruction, platform: str) -> Module | str:
  """Lower for the device of this machine, which native code requires."""
  if platform == "cuda" and not cuda.is_here():
    return "there is no NVIDIA GPU to compile a kernel for"
  unknown = [str(o.shape) for o in instruction.operands if np.dtype(o.shape.dtype) not in _KNOWN]
  if unknown:
    return f"there is no number format for {', '.join(unknown)}"
  try:
    with tracing_for(platform):
      found = build(instruction, platform)
      if isinstance(found, str):
        return found
      call, arguments = found
      lowered = jax.jit(call).trace(*arguments).lower(lowering_platforms=(platform,))
  except errors.TilewrightError as refused:
    return str(refused)
  module = parse(lowered.compiler_ir(dialect="hlo").as_hlo_text())
  run_passes(module, ["call_inliner"])
  return module


def packed_format(shape: Shape, platform: str) -> Format | None:
  """The format of elements that a kernel takes as bytes: memory holds several in one, along the last dimension and in whole bytes."""
  if (
    platform not in _PACKED_ON
    or shape.layout is None
    or not 0 < shape.layout.element_size_in_bits < 8
    or not shape.layout.is_descending
  ):
    return None
  f = format_of(np.dtype(shape.dtype))
  whole = shape.rank > 0 and shape.dimensions[-1] % packing.unit(f.width)[0] == 0
  return f if whole and f in (F4E2M1FN, INT4, INT2) else None


def _argument(shape: Shape, f: Format | None) -> jax.ShapeDtypeStruct:
  if f is None:
    return jax.ShapeDtypeStruct(shape.dimensions, np.dtype(shape.dtype))
  *outer, last = shape.dimensions
  return jax.ShapeDtypeStruct((*outer, packing.packed_size(last, f.width)), np.uint8)


# --- dots --------------------------------------------------------------------------------------------------------


def _swaps_last(x: Instruction) -> bool:
  """Whether a value is another one with its last two dimensions transposed."""
  rank = x.shape.rank
  return x.opcode == "transpose" and tuple(x.attrs["dimensions"]) == (*range(rank - 2), rank - 1, rank - 2)


def _stack(x: Any) -> Any:
  return x.reshape(-1, *x.shape[-2:])


def _for_rows(scales: Any, rows: Sequence[int]) -> Any:
  """Scales for each row of elements, where one serves several."""
  for axis, (size, count) in enumerate(zip(rows, scales.shape)):
    if count != size:
      scales = jnp.repeat(scales, -(-size // count), axis=axis)[(slice(None),) * axis + (slice(size),)]
  return _stack(scales)


def _in_bytes(x: Any) -> Any:
  """Elements below 8 bits in bytes of their own: the back ends have no cast from several to one after the stage of the pass."""
  f = format_of(x.dtype)
  return x if f.width >= 8 else x.astype(jnp.float8_e4m3fn if f.is_float else jnp.int8)


def _pack_bytes(x: Any, f: Format) -> Any:
  """Bytes of elements below 8 bits by arithmetic, where there is no cast: one more array, but no larger than they are."""
  bits = encode(x.astype(jnp.float32), f) if f.is_float else x.astype(jnp.int8).astype(jnp.uint8)
  return packing.pack(bits, f.width)


@offered("block_scaled_dot")
def block_scaled_dot(instruction: Instruction, platform: str) -> Built | str:
  """(lhs, rhs, lhs scales, rhs scales, global scale), the last two if given, by `scaled_dot`'s native kernel."""
  shapes = [operand.shape for operand in instruction.operands]
  k = shapes[0].dimensions[-1]
  if any(k % s.dimensions[-1] for s in shapes[2:4]):
    return "scales do not divide K evenly"
  if shapes[0].rank < 2:
    return "operands must be matrices or batches of them"
  is_scaled = len(shapes) > 2, len(shapes) > 3
  k_first = [_swaps_last(operand) for operand in instruction.operands[:2]]
  packed = [
    packed_format(s, platform) if scaled and not swapped else None
    for s, scaled, swapped in zip(shapes, is_scaled, k_first)
  ]

  def side(number: int, x: Any, scales: Any) -> tuple[QArray, int]:
    """A scaled operand, and the dimension that is contracted. One that was transposed is taken as it was before."""
    scales, f = _for_rows(scales, x.shape[:-1]), packed[number]
    if f is not None:
      return QArray(_stack(x), scales, None, f, k // scales.shape[-1], -1, k), 2
    f = format_of(x.dtype)
    if has_words(f) and not k_first[number] and k // scales.shape[-1] % packing.unit(f.width)[0] == 0:
      return QArray(_pack_bytes(_stack(x), f), scales, None, f, k // scales.shape[-1], -1, k), 2
    q = given(("lhs", "rhs")[number], _in_bytes(_stack(x)), scales, None)
    if not k_first[number]:
      return q, 2
    before = _in_bytes(_stack(jnp.swapaxes(x, -1, -2)))
    return dataclasses.replace(q, data=before, scales=jnp.swapaxes(q.scales, 1, 2), axis=-2), 1

  def plain(x: Any) -> Any:
    return _stack(x if x.dtype in _PLAIN else x.astype(jnp.float32))

  def call(x: Any, y: Any, x_scales: Any, *rest: Any) -> Any:
    left, contracted = side(0, x, x_scales)
    right, other = side(1, y, rest[0]) if rest else (plain(y), 2)
    whole = rest[1].astype(jnp.float32) if len(rest) > 1 else None
    dot = functools.partial(scaled_dot, preferred_element_type=instruction.shape.dtype, global_scale=whole)
    batch = ((0,), (0,))
    # Of weights and a few rows, the rows come first: that is what decoding is made for.
    if rest:
      out = dot(left, right, (((contracted,), (other,)), batch))
    else:
      out = jnp.swapaxes(dot(right, left, (((other,), (contracted,)), batch)), 1, 2)
    return out.reshape(instruction.shape.dimensions)

  return call, [_argument(s, f) for s, f in zip(shapes, [*packed, *(None,) * len(shapes)])]


# --- quantising --------------------------------------------------------------------------------------------------


@offered("quantize")
def quantize(instruction: Instruction, platform: str) -> Built | str:
  """x -> (data, scales)."""
  (x,), (data, scales) = [o.shape for o in instruction.operands], instruction.shape.tuple_shapes
  if x.dimensions != data.dimensions or scales.dimensions[:-1] != x.dimensions[:-1] or not x.num_elements:
    return f"{x} is not quantised in blocks of its last dimension to {data} and {scales}"
  if x.dimensions[-1] % scales.dimensions[-1]:
    return "scales do not divide the last dimension evenly"
  if not (np.dtype(x.dtype) in _PLAIN and {np.dtype(s.dtype) for s in (data, scales)} <= _KNOWN):
    return f"there is no kernel from {x} to {data} and {scales}"
  f, scale_format = (format_of(np.dtype(s.dtype)) for s in (data, scales))
  if not f.is_float:
    return f"elements of {data} are not floats"
  if platform == "cuda" and scale_format == F32:
    return "on GPUs, divisions by a float32 are not as exact as the call is defined"
  block = x.dimensions[-1] // scales.dimensions[-1]
  is_packed = packed_format(data, platform) is not None

  def call(x: Any) -> tuple[Any, Any]:
    found, found_scales = hlo_quantize.quantize(x, block, f, scale_format, is_packed, execution(None))
    return found if f.width >= 8 or is_packed else _from_bytes(found, f), found_scales

  return call, [_argument(x, None)]


def _from_bytes(x: Any, f: Format) -> Any:
  """Elements below 8 bits from bytes of one each: packed by XLA, which is faster on GPUs than packing them in the kernel."""
  return jax.lax.bitcast_convert_type(x.astype(f"uint{f.width}"), np.dtype(f.dtype))


@offered("dequantize")
def dequantize(instruction: Instruction, platform: str) -> Built | str:
  """(data, scales) -> each scale times its block."""
  data, scales = (o.shape for o in instruction.operands)
  out = instruction.shape
  if data.dimensions != out.dimensions or not out.num_elements or np.dtype(out.dtype) not in _PLAIN:
    return f"there is no kernel from {data} to {out}"
  if scales.dimensions[:-1] != data.dimensions[:-1] or data.dimensions[-1] % scales.dimensions[-1]:
    return "there is not a scale for each block of the last dimension"
  f, packed = format_of(np.dtype(data.dtype)), packed_format(data, platform)
  if f.width > 8 or not f.signed:
    return f"{f.name} is no format of elements"
  if np.dtype(scales.dtype) == np.float32 and np.dtype(out.dtype) != np.float32:
    return f"a product with a float32 would be rounded twice, to a float32 and to {out.element_type}"
  if f.width < 8 and packed is None:
    return f"elements of {data} are not packed in memory"
  block = data.dimensions[-1] // scales.dimensions[-1]
  call = lambda data, scales: hlo_quantize.dequantize(data, scales, block, f, np.dtype(out.dtype), execution(None))
  return call, [_argument(data, packed), _argument(scales, None)]

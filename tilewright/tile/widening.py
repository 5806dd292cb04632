"""A pass that replaces arithmetic on narrow formats by arithmetic on wider ones, between conversions.

No target computes in floats or integers of less than a byte, and the CPU in none of the small floats. So

    add(x, y) : f8_e4m3fn     becomes     convert(add(convert(x) : f32, convert(y) : f32)) : f8_e4m3fn

and what is left for narrow formats are conversions, bitcasts, selections, moves and memory. Each op is rounded, as in XLA: a chain of ops
gives what it would give one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from tilewright import errors
from tilewright.tile.formats import computed_in, is_small_integer, small_float, width
from tilewright.tile.ir import Op, Value
from tilewright.tile.ops import BINARY, COMPARE, UNARY
from tilewright.tile.rewrite import Rewriter, Rule

_BITS = ("shr_logical", "popcount", "clz")  # ops that read the bits above the value: those must be zero
_UNSIGNED = {2: ml_dtypes.uint2, 4: ml_dtypes.uint4}
_SIGNED = {2: ml_dtypes.int2, 4: ml_dtypes.int4}


def _convert(rw: Rewriter, v: Value, dtype: np.dtype) -> Value:
  return v if v.tile.dtype == dtype else rw.emit("convert", [v], dtype=dtype)


def _widened(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """An elementwise op, a reduction or a contraction."""
  wide = [computed_in(v.tile.dtype) for v in op.operands]
  result = op.result.tile.dtype
  target = computed_in(result)
  if target is None and not any(wide):
    return None
  args = [v if dtype is None else _convert(rw, v, dtype) for v, dtype in zip(op.operands, wide)]
  attrs = dict(op.attrs)
  if "dtype" in attrs and target is not None:
    attrs["dtype"] = target
  return [_convert(rw, rw.emit(op.name, args, **attrs), result)]


def _contracted(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """bf16 holds every small float but the least of float8_e8m0fnu, and some processors multiply it at twice the speed of f32."""
  exact = [small_float(v.tile.dtype) is not None and computed_in(v.tile.dtype) == np.float32 for v in op.operands]
  if not all(exact) or op.attrs["dtype"] == np.float64:
    return None
  target = np.dtype(np.float32) if small_float(op.attrs["dtype"]) is not None else op.attrs["dtype"]
  args = [_convert(rw, v, np.dtype(ml_dtypes.bfloat16)) for v in op.operands]
  attrs = {**op.attrs, "dtype": target, "was_widened": True}
  return [_convert(rw, rw.emit("dot", args, **attrs), op.result.tile.dtype)]


def _sorted(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """Sorted as wider numbers, in the same order."""
  wide = [computed_in(v.tile.dtype) for v in op.operands]
  if not any(wide):
    return None
  args = [v if dtype is None else _convert(rw, v, dtype) for v, dtype in zip(op.operands, wide)]
  results = rw.emit_all("sort", args, **op.attrs)
  return [_convert(rw, new, old.tile.dtype) for new, old in zip(results, op.results)]


def _as_unsigned(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """An op on the bits of a small integer, which are to be followed by zeros."""
  dtype = op.result.tile.dtype
  if not is_small_integer(dtype):
    return None
  unsigned, byte = np.dtype(_UNSIGNED[width(dtype)]), np.dtype(np.uint8)
  args = [_convert(rw, rw.emit("bitcast", [v], dtype=unsigned), byte) for v in op.operands]
  value = rw.emit(op.name, args)
  if op.name == "clz":
    value = rw.emit("sub", [value, rw.constant(np.asarray(8 - width(dtype)), value.tile)])
  return [rw.emit("bitcast", [_convert(rw, value, unsigned)], dtype=dtype)]


def _as_signed(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """An arithmetic shift copies the highest bit, of unsigned integers too."""
  dtype = op.result.tile.dtype
  if not is_small_integer(dtype):
    return None
  signed, byte = np.dtype(_SIGNED[width(dtype)]), np.dtype(np.int8)
  args = [_convert(rw, rw.emit("bitcast", [v], dtype=signed), byte) for v in op.operands]
  return [rw.emit("bitcast", [_convert(rw, rw.emit(op.name, args), signed)], dtype=dtype)]


def _high_product(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """The upper half of a product, which fits into a byte."""
  dtype = op.result.tile.dtype
  byte = computed_in(dtype)
  if byte is None:
    return None
  product = rw.emit("mul", [_convert(rw, v, byte) for v in op.operands])
  shift = rw.constant(np.asarray(width(dtype)), product.tile)
  name = "shr_arithmetic" if byte == np.int8 else "shr_logical"
  return [_convert(rw, rw.emit(name, [product, shift]), dtype)]


def _scattered(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """Elements that are replaced need no arithmetic; those that are combined do."""
  dtype = op.operands[1].tile.dtype
  wide = computed_in(dtype)
  if wide is None or op.attrs["kind"] == "set":
    return None
  if op.name == "scatter_store":
    raise errors.NativeCodeError(
      f"Combining {dtype} with memory at positions that are data, at {op.loc or '?'}, cannot be compiled yet. Pass interpret=True."
    )
  array, value, *positions = op.operands
  args = [_convert(rw, array, wide), _convert(rw, value, wide), *positions]
  return [_convert(rw, rw.emit("scatter", args, **op.attrs), dtype)]


RULES: dict[str, list[Rule]] = {
  **{name: [_widened] for name in (*UNARY, *BINARY, *COMPARE, "is_finite", "integer_pow")},
  **{name: [_widened] for name in ("reduce", "arg_reduce", "cumulative")},
  "dot": [_contracted, _widened],
  "sort": [_sorted],
  **{name: [_as_unsigned] for name in _BITS},
  "shr_arithmetic": [_as_signed],
  "mulhi": [_high_product],
  **{name: [_scattered] for name in ("scatter", "scatter_store")},
}

"""Constant folding of elementwise ops on scalars, only where every target computes the same result.

Integers are computed as Python ints and wrapped to their width. Floats are folded for ops that IEEE 754 rounds correctly
(addition, multiplication, square root, …), never for exp and the like, whose last bit depends on the target. Operations without
a defined result (division by zero, a shift past the width, the maximum of 0.0 and -0.0) are left to the target.

    fold("add", [int8(127), int8(1)], {}) -> int8(-128)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tilewright.tile.formats import width
from tilewright.tile.literal import bits, is_float, is_integer

Scalar = np.ndarray  # of no dimensions
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
  **{"eq": operator.eq, "ne": operator.ne, "lt": operator.lt},
  **{"le": operator.le, "gt": operator.gt, "ge": operator.ge},
}


# Ops by which indices and conditions are computed.
ON_NUMBERS = frozenset(
  {*_COMPARE, "and", "or", "xor", "not", "add", "sub", "mul", "div", "rem", "max", "min", "convert", "select"}
)


def wrap(number: int, dtype: np.dtype) -> Scalar:
  """An integer modulo the width of its dtype."""
  width = bits(dtype)
  number &= (1 << width) - 1
  if int(ml_dtypes.iinfo(dtype).min) < 0 and number >> (width - 1):
    number -= 1 << width
  return np.asarray(number).astype(dtype)


def fold(name: str, args: Sequence[Scalar], attrs: dict[str, Any]) -> Scalar | None:
  """The value of an elementwise op on scalars, or None where it is not to be folded."""
  if name == "convert":
    return _convert(args[0], np.dtype(attrs["dtype"]))
  if name == "bitcast":
    return _bitcast(args[0], np.dtype(attrs["dtype"]))
  if name == "select":
    return args[1] if args[0] else args[2]
  dtype = args[0].dtype
  if dtype.kind == "c":
    return None
  if name in _COMPARE:
    return _compare(name, *args)
  if dtype == np.bool_:
    return _bool(name, [bool(a) for a in args])
  if is_integer(dtype):
    return _integer(name, [int(a) for a in args], dtype, attrs)
  return _float(name, args, dtype) if is_float(dtype) else None


def _compare(name: str, a: Scalar, b: Scalar) -> Scalar:
  as_number = int if is_integer(a.dtype) or a.dtype == np.bool_ else float
  return np.asarray(_COMPARE[name](as_number(a), as_number(b)))


def _bool(name: str, args: list[bool]) -> Scalar | None:
  match name:
    case "not":
      return np.asarray(not args[0])
    case "and" | "min":
      return np.asarray(args[0] and args[1])
    case "or" | "max":
      return np.asarray(args[0] or args[1])
    case "xor":
      return np.asarray(args[0] != args[1])
  return None


# --- integers ----------------------------------------------------------------------------------------------------

_INTEGER: dict[str, Callable[..., int]] = {
  **{"add": operator.add, "sub": operator.sub, "mul": operator.mul, "max": max, "min": min},
  **{"and": operator.and_, "or": operator.or_, "xor": operator.xor, "not": operator.invert},
  **{"neg": operator.neg, "abs": abs, "sign": lambda x: (x > 0) - (x < 0)},
}


def _integer(name: str, args: list[int], dtype: np.dtype, attrs: dict[str, Any]) -> Scalar | None:
  width, first = bits(dtype), args[0]
  unsigned = first & ((1 << width) - 1)
  match name:
    case "div" | "rem":
      return _divide(name, first, args[1], dtype)
    case "shl" | "shr_logical" | "shr_arithmetic":
      if not 0 <= args[1] < width:
        return None
      if name == "shl":
        return wrap(first << args[1], dtype)
      signed = unsigned - (unsigned >> (width - 1) << width)
      return wrap((unsigned if name == "shr_logical" else signed) >> args[1], dtype)
    case "popcount":
      return wrap(unsigned.bit_count(), dtype)
    case "clz":
      return wrap(width - unsigned.bit_length(), dtype)
    case "integer_pow":
      return wrap(first ** attrs["y"], dtype) if 0 <= attrs["y"] <= 64 else None
  return wrap(_INTEGER[name](*args), dtype) if name in _INTEGER else None


def _divide(name: str, a: int, b: int, dtype: np.dtype) -> Scalar | None:
  """Rounds towards zero; what a processor may trap on is left alone."""
  lowest = int(ml_dtypes.iinfo(dtype).min)
  if b == 0 or (a == lowest and b == -1):
    return None
  quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
  return wrap(quotient if name == "div" else a - quotient * b, dtype)


# --- floats ------------------------------------------------------------------------------------------------------


def _round_away(x: float) -> float:
  whole = math.floor(abs(x) + 0.5) if abs(x) < 2.0**51 else abs(x)
  # 0.49999999999999994 + 0.5 rounds up to 1
  if whole - abs(x) > 0.5:
    whole -= 1
  return math.copysign(whole, x)


_ROUND: dict[str, Callable[[float], float]] = {
  "floor": lambda x: math.copysign(math.floor(x), x),
  "ceil": lambda x: math.copysign(math.ceil(x), x),
  "round": _round_away,
  "round_even": lambda x: math.copysign(round(x), x),
}
_IEEE: dict[str, Callable[[Any, Any], Any]] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def _float(name: str, args: Sequence[Scalar], dtype: np.dtype) -> Scalar | None:
  numbers = [float(a) for a in args]
  x = numbers[0]
  if name == "is_finite":
    return np.asarray(math.isfinite(x))
  if any(math.isnan(n) for n in numbers):
    return None  # which NaN results depends on the target
  with np.errstate(all="ignore"):
    result = _float_result(name, numbers, dtype)
  if result is None or np.isnan(result) or any(_is_subnormal(float(n), dtype) for n in (*args, result)):
    return None
  return result


def _is_subnormal(x: float, dtype: np.dtype) -> bool:
  """XLA's threads flush these to zero on the CPU; elsewhere they stay."""
  return 0 < abs(x) < float(ml_dtypes.finfo(dtype).smallest_normal)


def _float_result(name: str, numbers: list[float], dtype: np.dtype) -> Scalar | None:
  x = numbers[0]
  # Results of the small formats are those of f32, rounded: f32 has more than twice their digits, so there is no double rounding.
  wide = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)
  if name in _IEEE:
    exact = np.asarray(_IEEE[name](*(np.asarray(n).astype(wide) for n in numbers)))
    result = exact.astype(dtype)
    # The formats of eight bits and less disagree on what does not fit: saturate, infinity or NaN.
    return result if dtype.itemsize > 1 or float(exact) == float(result) else None
  if name == "sqrt" and x >= 0 and dtype.itemsize > 1:
    return np.asarray(np.sqrt(np.asarray(x).astype(wide))).astype(dtype)
  if name == "neg":
    return np.asarray(-x).astype(dtype)
  if name == "abs":
    return np.asarray(abs(x)).astype(dtype)
  if name in ("max", "min") and not (numbers[0] == numbers[1] == 0):
    return np.asarray(max(numbers) if name == "max" else min(numbers)).astype(dtype)
  if name == "sign" and x != 0:
    return np.asarray(math.copysign(1.0, x)).astype(dtype)
  if name in _ROUND:
    return np.asarray(_ROUND[name](x) if math.isfinite(x) else x).astype(dtype)
  return None


# --- conversions -------------------------------------------------------------------------------------------------


def _bitcast(x: Scalar, dtype: np.dtype) -> Scalar | None:
  # A bool is one bit in a byte; formats of less than eight bits, too, do not fill the byte that NumPy keeps them in.
  whole = all(d != np.bool_ and width(d) == 8 * d.itemsize for d in (x.dtype, dtype))
  return np.asarray(x).reshape(1).view(dtype).reshape(()) if whole else None


def _convert(x: Scalar, dtype: np.dtype) -> Scalar | None:
  """Exact conversions, wrapping ones between integers, and roundings that happen once."""
  source = x.dtype
  if source == dtype:
    return x
  if "c" in (source.kind, dtype.kind):
    return None
  if dtype == np.bool_:
    return np.asarray(bool(x != np.zeros((), source))) if not _is_nan(x) else np.asarray(True)
  whole = is_integer(source) or source == np.bool_
  if is_integer(dtype):
    if whole:
      return wrap(int(x), dtype)
    if not math.isfinite(float(x)):
      return None
    number, info = math.trunc(float(x)), ml_dtypes.iinfo(dtype)
    return np.asarray(number).astype(dtype) if int(info.min) <= number <= int(info.max) else None
  if _is_nan(x):
    return None
  with np.errstate(all="ignore"):
    result = np.asarray(int(x) if whole else float(x)).astype(dtype)
  exact = int(x) == float(result) if whole else float(x) == float(result)
  once = source == np.float32 or (source == np.float64 and dtype == np.float32)
  return result if exact or (once and np.isfinite(result) and dtype.itemsize > 1) else None


def _is_nan(x: Scalar) -> bool:
  return is_float(x.dtype) and math.isnan(float(x))


def holds_all(wide: np.dtype, narrow: np.dtype) -> bool:
  """Whether each value of `narrow` is one of `wide`, so that converting there and back changes nothing."""
  if is_integer(narrow) and is_integer(wide):
    a, b = ml_dtypes.iinfo(narrow), ml_dtypes.iinfo(wide)
    return int(b.min) <= int(a.min) and int(a.max) <= int(b.max)
  # Only IEEE's own formats: others lack infinities, negative zero or subnormals.
  order = [np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)]
  if narrow in order and wide in order:
    return order.index(wide) > max(order.index(narrow), 1)
  if is_integer(narrow) and wide in order[2:]:
    return bits(narrow) <= (24 if wide == np.float32 else 53)
  return narrow == np.bool_ and is_integer(wide) and bits(wide) > 2

"""Elementwise opcodes: one row each.

Arithmetic is done in the type of the operands (in float32 or int8 for narrower types). Functions are computed in
float64 and rounded once. Where C leaves something undefined HLO does not, and neither does this table: division by
zero gives all ones, INT_MIN / -1 gives INT_MIN, a shift by the width or more gives 0 (or the sign).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.hlo.evaluate import numbers
from tilewright.hlo.evaluate.numbers import UNSIGNED, WIDE, kind_of, narrow, total_order_key, widen
from tilewright.hlo.evaluate.table import elementwise
from tilewright.hlo.ir import Instruction

Unary = Callable[[np.ndarray], np.ndarray]
Binary = Callable[[np.ndarray, np.ndarray], np.ndarray]


def arithmetic(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
  """Computes in the compute type of the operands and stores in the instruction's type."""

  def apply(instruction: Instruction, *operands: np.ndarray) -> np.ndarray:
    dtype = operands[0].dtype
    if numbers.COMPUTE[dtype] is dtype or numbers.COMPUTE[dtype] == dtype:
      return np.asarray(function(*operands))
    return narrow(np.asarray(function(*(widen(x) for x in operands))), dtype)

  return apply


def math(real: Callable[..., np.ndarray], complex_: Unary | None = None) -> Callable[..., np.ndarray]:
  """Computes in float64 (complex128) and rounds once."""

  def apply(instruction: Instruction, *operands: np.ndarray) -> np.ndarray:
    dtype = operands[0].dtype
    function = real if complex_ is None or kind_of(dtype) != "complex" else complex_
    return narrow(np.asarray(function(*(x.astype(WIDE[dtype]) for x in operands))), dtype)

  return apply


# Integers.


def divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
  kind = kind_of(x.dtype)
  if kind in ("float", "complex"):
    return np.divide(x, y)
  zero, minus_one = y == 0, np.array(-1).astype(x.dtype)
  negated = (y == minus_one) if kind == "signed" else np.False_
  safe = np.where(zero | negated, np.ones_like(y), y)
  quotient = np.floor_divide(x, safe)
  if kind == "signed":  # towards zero, where numpy rounds down
    quotient = quotient + ((quotient < 0) & (quotient * safe != x)).astype(x.dtype)
  return np.where(zero, minus_one, np.where(negated, np.negative(x), quotient)).astype(x.dtype)


def remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
  """The sign of the dividend; x rem 0 = x for integers."""
  if kind_of(x.dtype) == "float":
    return np.fmod(x, y)
  trivial = y == 0
  if kind_of(x.dtype) == "signed":
    trivial_one = y == np.array(-1).astype(x.dtype)
    safe = np.where(trivial | trivial_one, np.ones_like(y), y)
    return np.where(trivial, x, np.where(trivial_one, np.zeros_like(x), np.fmod(x, safe))).astype(x.dtype)
  return np.where(trivial, x, np.fmod(x, np.where(trivial, np.ones_like(y), y))).astype(x.dtype)


def integer_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
  """By squaring, wrapping. A negative exponent gives 0, but ±1 for a base of ±1."""
  x, y = np.broadcast_arrays(x, y)
  result, base, exponent = np.ones_like(x), x.copy(), np.maximum(y, 0).astype(x.dtype)
  while np.any(exponent > 0):
    result = np.where(exponent & 1, result * base, result)
    base, exponent = base * base, exponent >> 1
  if kind_of(x.dtype) == "signed":
    odd_sign = np.where(y & 1, x, np.ones_like(x))
    unit = np.where((x == 1) | (x == -1), odd_sign, np.zeros_like(x))
    result = np.where(y < 0, unit, result)
  return result.astype(x.dtype)


def power(instruction: Instruction, x: np.ndarray, y: np.ndarray) -> np.ndarray:
  if kind_of(x.dtype) in ("signed", "unsigned"):
    return arithmetic(integer_power)(instruction, x, y)
  if kind_of(x.dtype) == "complex":
    return math(_complex_power)(instruction, x, y)
  return math(np.power)(instruction, x, y)


def _complex_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
  # 0^0 is 1 and 0^y is 0 for any y with a positive real part; numpy answers NaN to the latter.
  result = np.power(x, y)
  return np.where(x == 0, np.where(y == 0, 1.0, np.where(y.real > 0, 0.0, result)), result)


def _width(x: np.ndarray) -> int:
  return numbers.TYPE_OF[x.dtype].bits


def _unsigned(x: np.ndarray) -> np.ndarray:
  """The bits of integers in their own width, zero-extended to whole bytes."""
  bits = np.ascontiguousarray(x).reshape(x.shape).view(UNSIGNED[x.dtype.itemsize])
  return bits & np.array((1 << _width(x)) - 1, bits.dtype)


def _restore(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
  if numbers.TYPE_OF[dtype].bits < 8:
    return numbers.from_low_bits(bits, dtype)
  return np.asarray(bits).view(dtype)


def _shift(kind: str) -> Callable[..., np.ndarray]:
  def apply(instruction: Instruction, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    width, amount = _width(x), _unsigned(y)
    over = amount >= width
    safe = np.where(over, np.array(0, amount.dtype), amount)
    if kind == "arithmetic":
      wide = widen(x)
      last = np.array(width - 1, wide.dtype)
      return narrow(np.right_shift(wide, np.where(over, last, safe.astype(wide.dtype))), x.dtype)
    bits = _unsigned(x)
    moved = np.left_shift(bits, safe) if kind == "left" else np.right_shift(bits, safe)
    return _restore(np.asarray(np.where(over, np.array(0, bits.dtype), moved), bits.dtype), x.dtype)

  return apply


def _shift_right_arithmetic(instruction: Instruction, x: np.ndarray, y: np.ndarray) -> np.ndarray:
  if kind_of(x.dtype) == "signed":
    return _shift("arithmetic")(instruction, x, y)
  # The sign of an unsigned operand is its highest bit all the same.
  signed = np.dtype(x.dtype.str.replace("u", "i"))
  return _shift("arithmetic")(instruction, x.view(signed), y.view(signed)).view(x.dtype)


def population_count(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  return np.bitwise_count(_unsigned(x)).astype(numbers.COMPUTE[x.dtype]).astype(x.dtype)


def count_leading_zeros(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  bits = np.array(_unsigned(x))
  step = 1
  while step < _width(x):
    bits |= bits >> step
    step *= 2
  count = _width(x) - np.bitwise_count(bits).astype(np.int64)
  return count.astype(numbers.COMPUTE[x.dtype]).astype(x.dtype)


def bitwise_not(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  return np.logical_not(x) if x.dtype == np.bool_ else arithmetic(np.invert)(instruction, x)


def multiply_high(instruction: Instruction, x: np.ndarray, y: np.ndarray) -> np.ndarray:
  """The upper half of the product of twice the width."""
  width, dtype = _width(x), x.dtype
  if width < 64:
    product = x.astype(numbers.COMPUTE[dtype]).astype(np.int64) * y.astype(numbers.COMPUTE[dtype]).astype(np.int64)
    if width == 32 and kind_of(dtype) == "unsigned":
      product = (x.astype(np.uint64) * y.astype(np.uint64)).view(np.uint64)
    return (product >> product.dtype.type(width)).astype(numbers.COMPUTE[dtype]).astype(dtype)
  high = np.frompyfunc(lambda a, b: (int(a) * int(b)) >> 64, 2, 1)
  return np.asarray(high(x, y)).astype(dtype)


# Floats.


def sign(x: np.ndarray) -> np.ndarray:
  kind = kind_of(x.dtype)
  if kind == "complex":
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype)
  if kind == "float":
    return np.where((x == 0) | np.isnan(x), x, np.copysign(np.ones_like(x), x))
  return np.sign(x)


def round_half_away(x: np.ndarray) -> np.ndarray:
  whole = np.trunc(x)
  return np.copysign(whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1.0, x), 0.0), x)


def logistic(x: np.ndarray) -> np.ndarray:
  return 1.0 / (1.0 + np.exp(-x))


def erf(x: np.ndarray) -> np.ndarray:
  import scipy.special  # here, because most programs that import tilewright never need it

  return scipy.special.erf(x)


def absolute(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  if kind_of(x.dtype) == "complex":
    wide = x.astype(np.complex128)
    return np.asarray(np.hypot(wide.real, wide.imag)).astype(instruction.shape.dtype)
  return arithmetic(np.abs)(instruction, x)


def complex_log1p(x: np.ndarray) -> np.ndarray:
  """log|1 + x| without losing small x: |1 + x|² = 1 + (2a + a² + b²)."""
  a, b = x.real, x.imag
  return 0.5 * np.log1p(a * (2 + a) + b * b) + 1j * np.arctan2(b, 1 + a)


def complex_cbrt(x: np.ndarray) -> np.ndarray:
  return np.power(x, 1 / 3)


def _rsqrt(x: np.ndarray) -> np.ndarray:
  return 1.0 / np.sqrt(x)


def add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
  return np.logical_or(x, y) if x.dtype == np.bool_ else np.add(x, y)


def subtract(x: np.ndarray, y: np.ndarray) -> np.ndarray:
  return np.logical_xor(x, y) if x.dtype == np.bool_ else np.subtract(x, y)


# Comparison and choice.

COMPARISONS: dict[str, Binary] = {
  "EQ": np.equal,
  "NE": np.not_equal,
  "LT": np.less,
  "LE": np.less_equal,
  "GT": np.greater,
  "GE": np.greater_equal,
}


def is_total_order(instruction: Instruction) -> bool:
  """`type=TOTALORDER`, which jax 0.11 writes as `order=TOTAL`."""
  return instruction.attrs.get("type") == "TOTALORDER" or instruction.attrs.get("order") in ("TOTAL", "TOTALORDER")


def compare(instruction: Instruction, x: np.ndarray, y: np.ndarray) -> np.ndarray:
  key = total_order_key if is_total_order(instruction) else widen
  return COMPARISONS[instruction.attrs["direction"]](key(x), key(y))


def clamp(instruction: Instruction, low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
  return narrow(np.minimum(np.maximum(widen(x), widen(low)), widen(high)), x.dtype)


def select(instruction: Instruction, which: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
  return np.where(which, x, y)


def join_complex(instruction: Instruction, real: np.ndarray, imag: np.ndarray) -> np.ndarray:
  real, imag = np.broadcast_arrays(real, imag)
  result = np.empty(real.shape, instruction.shape.dtype)
  result.real, result.imag = real, imag  # real + 1j * imag would turn an infinite part into NaN
  return result


def imaginary(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  return np.ascontiguousarray(x.imag).reshape(x.shape) if kind_of(x.dtype) == "complex" else np.zeros_like(x)


def real_part(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  return np.ascontiguousarray(x.real).reshape(x.shape) if kind_of(x.dtype) == "complex" else x


def convert(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  return numbers.convert(x, instruction.shape.dtype)


def reduce_precision(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  return numbers.reduce_precision(x, instruction.attrs["exponent_bits"], instruction.attrs["mantissa_bits"])


def stochastic_convert(instruction: Instruction, x: np.ndarray, random: np.ndarray) -> np.ndarray:
  return numbers.stochastic_convert(x, random, instruction.shape.dtype)


TABLE: dict[str, Callable[..., np.ndarray]] = {
  "abs": absolute,
  "acos": math(np.arccos),
  "acosh": math(np.arccosh),
  "add": arithmetic(add),
  "and": arithmetic(np.bitwise_and),
  "asin": math(np.arcsin),
  "asinh": math(np.arcsinh),
  "atan2": math(np.arctan2),
  "atanh": math(np.arctanh),
  "cbrt": math(np.cbrt, complex_cbrt),
  "ceil": arithmetic(np.ceil),
  "clamp": clamp,
  "compare": compare,
  "complex": join_complex,
  "convert": convert,
  "cosine": math(np.cos),
  "cosh": math(np.cosh),
  "count-leading-zeros": count_leading_zeros,
  "divide": arithmetic(divide),
  "erf": math(erf),
  "exponential": math(np.exp),
  "exponential-minus-one": math(np.expm1),
  "floor": arithmetic(np.floor),
  "imag": imaginary,
  "is-finite": lambda instruction, x: np.isfinite(widen(x)),
  "log": math(np.log),
  "log-plus-one": math(np.log1p, complex_log1p),
  "logistic": math(logistic),
  "maximum": arithmetic(np.maximum),
  "minimum": arithmetic(np.minimum),
  "mulhi": multiply_high,
  "multiply": arithmetic(np.multiply),
  "negate": arithmetic(np.negative),
  "not": bitwise_not,
  "or": arithmetic(np.bitwise_or),
  "popcnt": population_count,
  "power": power,
  "real": real_part,
  "reduce-precision": reduce_precision,
  "remainder": arithmetic(remainder),
  "round-nearest-afz": arithmetic(round_half_away),
  "round-nearest-even": arithmetic(np.rint),
  "rsqrt": math(_rsqrt),
  "select": select,
  "shift-left": _shift("left"),
  "shift-right-arithmetic": _shift_right_arithmetic,
  "shift-right-logical": _shift("logical"),
  "sign": arithmetic(sign),
  "sine": math(np.sin),
  "sinh": math(np.sinh),
  "sqrt": math(np.sqrt),
  "stochastic-convert": stochastic_convert,
  "subtract": arithmetic(subtract),
  "tan": math(np.tan),
  "tanh": math(np.tanh),
  "xor": arithmetic(np.bitwise_xor),
}

for _opcode, _function in TABLE.items():
  elementwise(_opcode, _function)

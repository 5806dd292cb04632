"""Elementwise ops as LLVM instructions, on scalars and vectors alike. A table keyed by op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm import math
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.small_floats import decode, encode
from tilewright.target.llvm.types import constant, intrinsic, is_float, is_signed
from tilewright.tile.formats import computed_in, is_small_integer, small_float, width

Rule = Callable[[ir.IRBuilder, Any, list[ir.Value]], ir.Value]  # builder, op, operands -> result


def _dtype(op: Any) -> np.dtype:
  return op.operands[0].type.dtype


def compute(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  rule = RULES.get(op.name)
  if rule is not None:
    return rule(b, op, args)
  if op.name in math.FUNCTIONS and is_float(_dtype(op)):
    return math.emit(op.name, b, *args)
  raise errors.NativeCodeError(
    f"The CPU target does not compile '{op.name}' on {_dtype(op)} yet, at {op.loc}. Use interpret=True."
  )


# What cannot leave the numbers of its operands' format, or rounds by itself.
_EXACT = frozenset(
  ("neg", "abs", "sign", "max", "min", "floor", "ceil", "round", "round_even", "select", "convert", "bitcast")
)


def rounded(b: ir.IRBuilder, op: Any, value: ir.Value) -> ir.Value:
  """The result of an op as a number of its dtype: f16 and bf16 are computed in f32."""
  dtype = op.results[0].type.dtype
  return value if op.name in _EXACT or not ty.is_half(dtype) else ty.round_to(b, value, dtype)


def _choose(float_: str, signed: str, unsigned: str | None = None) -> Rule:
  def rule(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
    dtype = _dtype(op)
    name = float_ if is_float(dtype) else signed if is_signed(dtype) or unsigned is None else unsigned
    return getattr(b, name)(*args)

  return rule


def _compare(sign: str) -> Rule:
  def rule(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
    dtype = _dtype(op)
    if is_float(dtype):
      # Every comparison with NaN is false, except "not equal".
      return (b.fcmp_unordered if sign == "!=" else b.fcmp_ordered)(sign, *args)
    return (b.icmp_signed if is_signed(dtype) else b.icmp_unsigned)(sign, *args)

  return rule


def _extreme(float_: str, signed: str, unsigned: str) -> Rule:
  def rule(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
    dtype = _dtype(op)
    if not is_float(dtype):
      if dtype == np.bool_:
        return b.or_(*args) if "max" in signed else b.and_(*args)
      return intrinsic(b, signed if is_signed(dtype) else unsigned, args)
    return float_extreme(b, float_, *args)

  return rule


def float_extreme(b: ir.IRBuilder, which: str, x: ir.Value, y: ir.Value) -> ir.Value:
  """max or min that gives NaN if either is NaN, and takes -0 for less than +0, as XLA does.

  x86 has no such instruction: LLVM puts the operands in the order of x's sign first, so in a chain the last result is y.
  """
  return intrinsic(b, {"max": "maximum", "min": "minimum"}[which], [x, y])


def _divide(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  """Integers as in XLA: x / 0 is -1 (all ones), and the smallest / -1 is itself."""
  dtype, (x, y) = _dtype(op), args
  if is_float(dtype):
    return b.fdiv(x, y)
  zero = b.icmp_unsigned("==", y, constant(y.type, 0))
  if not is_signed(dtype):
    safe = b.select(zero, constant(y.type, 1), y)
    return b.select(zero, constant(x.type, -1), b.udiv(x, safe))
  overflow = _overflows(b, x, y)
  safe = b.select(b.or_(zero, overflow), constant(y.type, 1), y)
  quotient = b.sdiv(x, safe)  # with 1 for -1, the smallest stays itself
  return b.select(zero, constant(x.type, -1), quotient)


def _overflows(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
  smallest = constant(x.type, -(1 << (ty.element_type(x.type).width - 1)))
  return b.and_(b.icmp_signed("==", x, smallest), b.icmp_signed("==", y, constant(y.type, -1)))


def _remainder(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  dtype, (x, y) = _dtype(op), args
  if is_float(dtype):
    return math.emit("rem", b, x, y)
  zero = b.icmp_unsigned("==", y, constant(y.type, 0))
  special = b.or_(zero, _overflows(b, x, y)) if is_signed(dtype) else zero
  safe = b.select(special, constant(y.type, 1), y)
  plain = (b.srem if is_signed(dtype) else b.urem)(x, safe)
  return b.select(zero, x, plain)


def _negate(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  (x,) = args
  return b.fneg(x) if is_float(_dtype(op)) else b.sub(constant(x.type, 0), x)


def _absolute(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  (x,) = args
  if is_float(_dtype(op)):
    return intrinsic(b, "fabs", [x])
  if not is_signed(_dtype(op)):
    return x
  return b.select(b.icmp_signed("<", x, constant(x.type, 0)), b.sub(constant(x.type, 0), x), x)


def _sign(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  (x,) = args
  zero, one, minus = (constant(x.type, v) for v in (0, 1, -1))
  if is_float(_dtype(op)):
    # ±0 and NaN give themselves. Where subnormal numbers count as zero, they give ±0.
    itself = b.select(b.fcmp_unordered("uno", x, x), x, intrinsic(b, "copysign", [zero, x]))
    return b.select(b.fcmp_ordered(">", x, zero), one, b.select(b.fcmp_ordered("<", x, zero), minus, itself))
  positive = b.icmp_signed(">", x, zero) if is_signed(_dtype(op)) else b.icmp_unsigned("!=", x, zero)
  negative = b.icmp_signed("<", x, zero) if is_signed(_dtype(op)) else constant(positive.type, 0)
  return b.select(positive, one, b.select(negative, minus, zero))


def _shift(name: str, overflow: str) -> Rule:
  """Shifts by the width or more give 0, or the sign for an arithmetic shift, as in XLA."""

  def rule(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
    x, n = args
    width = ty.element_type(x.type).width
    too_far = b.icmp_unsigned(">=", n, constant(n.type, width))
    if overflow == "sign":
      return b.ashr(x, b.select(too_far, constant(n.type, width - 1), n))
    plain = getattr(b, name)(x, b.select(too_far, constant(n.type, 0), n))
    return b.select(too_far, constant(x.type, 0), plain)

  return rule


def _integer_power(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  (x,) = args
  y = op.attrs["y"]
  multiply = b.fmul if is_float(_dtype(op)) else b.mul
  result = None
  power, n = x, abs(y)
  while n:
    if n & 1:
      result = power if result is None else multiply(result, power)
    n >>= 1
    power = multiply(power, power) if n else power
  one = constant(x.type, 1)
  if result is None:
    return one
  return b.fdiv(one, result) if y < 0 else result


def convert(b: ir.IRBuilder, x: ir.Value, source: np.dtype, target: np.dtype) -> ir.Value:
  """Between dtypes as XLA does: float to int truncates and saturates, NaN becomes 0."""
  source, target = np.dtype(source), np.dtype(target)
  lanes = ty.lanes_of(x)
  result = ty.register_type(target, lanes)
  if source == target:
    return x
  if (form := small_float(source)) is not None:
    middle = computed_in(source) if target == np.bool_ else np.dtype(np.float64 if target == np.float64 else np.float32)
    assert middle is not None
    return convert(b, decode(b, x, form, ty.register_type(middle)), middle, target)
  if (form := small_float(target)) is not None:
    return encode(b, x if is_float(source) else convert(b, x, source, np.dtype(np.float32)), form)
  if is_small_integer(target):
    return _to_small_integer(b, x, source, target)
  if target == np.bool_:
    zero = constant(x.type, 0)
    return b.fcmp_unordered("!=", x, zero) if is_float(source) else b.icmp_unsigned("!=", x, zero)
  if is_float(source) and is_float(target):
    if x.type != result:
      wider = ty.element_type(result) == ty.F64
      x = b.fpext(x, result) if wider else b.fptrunc(x, result)
    return ty.round_to(b, x, target)
  if is_float(target):
    signed = is_signed(source)
    return ty.round_to(b, (b.sitofp if signed else b.uitofp)(x, result), target)
  if is_float(source):
    return _saturated(b, x, target)
  from_width, to_width = ty.element_type(x.type).width, ty.element_type(result).width
  if from_width == to_width:
    return x
  if from_width > to_width:
    return b.trunc(x, result)
  return (b.sext if is_signed(source) else b.zext)(x, result)


def _to_small_integer(b: ir.IRBuilder, x: ir.Value, source: np.dtype, target: np.dtype) -> ir.Value:
  """Through a byte: floats saturate, integers wrap."""
  if is_float(source):
    return _saturated(b, x, target)
  byte = computed_in(target)
  assert byte is not None
  return extended(b, convert(b, x, source, byte), target)


def _saturated(b: ir.IRBuilder, x: ir.Value, dtype: np.dtype) -> ir.Value:
  """Floats to integers; NaN becomes 0. LLVM's own saturating conversion takes the lanes of a vector one by one."""
  signed, bits, lanes = is_signed(dtype), width(dtype), ty.lanes_of(x)
  max_int = (1 << (bits - signed)) - 1
  min_int = -max_int - 1 if signed else 0
  result = ty.register_type(dtype, lanes)
  is_nan = b.fcmp_unordered("uno", x, x)
  if bits < 32:
    low, high = constant(x.type, min_int), constant(x.type, max_int)
    above = b.select(b.fcmp_ordered(">", x, low), x, low)
    inside = b.select(b.fcmp_ordered("<", above, high), above, high)
    number = b.select(is_nan, constant(x.type, 0), inside)
    return b.trunc(b.fptosi(number, ty.register_type(np.int32, lanes)), result)
  # The limit itself is a float, the largest integer is none. Where the conversion is undefined its result is not chosen.
  plain = (b.fptosi if signed else b.fptoui)(x, result)
  number = b.select(b.fcmp_ordered(">=", x, constant(x.type, float(max_int + 1))), constant(result, max_int), plain)
  number = b.select(b.fcmp_ordered("<", x, constant(x.type, float(min_int))), constant(result, min_int), number)
  return b.select(is_nan, constant(result, 0), number)


def extended(b: ir.IRBuilder, x: ir.Value, dtype: np.dtype) -> ir.Value:
  """The low bits of a byte as an element of less than eight bits is kept: the others repeat the sign, or are zero."""
  spare = 8 - width(dtype)
  if is_signed(dtype):
    return b.ashr(b.shl(x, constant(x.type, spare)), constant(x.type, spare))
  return b.and_(x, constant(x.type, 0xFF >> spare))


def _bitcast(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  (x,) = args
  source, target = _dtype(op), np.dtype(op.attrs["dtype"])
  lanes = ty.lanes_of(x)
  raw = ty.narrow(b, x, source)
  memory = ty.memory_type(target)
  same = b.bitcast(raw, memory if lanes == 1 else ir.VectorType(memory, lanes))
  return ty.widen(b, same if width(target) >= 8 else extended(b, same, target), target, lanes)


def _not(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  (x,) = args
  return b.xor(x, constant(x.type, -1 if ty.element_type(x.type).width > 1 else 1))


def _is_finite(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  magnitude = intrinsic(b, "fabs", [args[0]])
  return b.fcmp_ordered("<", magnitude, constant(magnitude.type, float("inf")))


def _square_root(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  return intrinsic(b, "sqrt", args)


def _reciprocal_root(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  root = intrinsic(b, "sqrt", args)
  return b.fdiv(constant(root.type, 1), root)


def _high_product(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  """The upper half of a product of twice the width."""
  bits = ty.element_type(args[0].type).width
  lanes = ty.lanes_of(args[0])
  wide = ir.IntType(2 * bits) if lanes == 1 else ir.VectorType(ir.IntType(2 * bits), lanes)
  x, y = ((b.sext if is_signed(_dtype(op)) else b.zext)(a, wide) for a in args)
  return b.trunc(b.lshr(b.mul(x, y), constant(wide, bits)), args[0].type)


def _rounding(name: str) -> Rule:
  return lambda b, op, args: intrinsic(b, name, args)


def _count(name: str) -> Rule:
  def rule(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
    extra = [ir.Constant(ty.I1, 0)] if name == "ctlz" else []
    return intrinsic(b, name, [*args, *extra], args[0].type, [args[0].type])

  return rule


# Threefry-2x32 with 20 rounds, from "Parallel random numbers: as easy as 1, 2, 3" (Salmon et al., 2011).
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def _threefry(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  k0, k1, x, y = args
  keys = (k0, k1, b.xor(b.xor(k0, k1), constant(k0.type, _PARITY)))
  x, y = b.add(x, k0), b.add(y, k1)
  for group in range(5):
    for bits in _ROTATIONS[group % 2]:
      x = b.add(x, y)
      y = b.xor(intrinsic(b, "fshl", [y, y, constant(y.type, bits)]), x)
    x = b.add(x, keys[(group + 1) % 3])
    y = b.add(b.add(y, keys[(group + 2) % 3]), constant(y.type, group + 1))
  return (x, y)[op.attrs["word"]]


RULES: dict[str, Rule] = {
  "add": _choose("fadd", "add"),
  "sub": _choose("fsub", "sub"),
  "mul": _choose("fmul", "mul"),
  "div": _divide,
  "rem": _remainder,
  "mulhi": _high_product,
  "max": _extreme("max", "smax", "umax"),
  "min": _extreme("min", "smin", "umin"),
  "neg": _negate,
  "abs": _absolute,
  "sign": _sign,
  "and": lambda b, op, args: b.and_(*args),
  "or": lambda b, op, args: b.or_(*args),
  "xor": lambda b, op, args: b.xor(*args),
  "not": _not,
  "shl": _shift("shl", "zero"),
  "shr_logical": _shift("lshr", "zero"),
  "shr_arithmetic": _shift("ashr", "sign"),
  "eq": _compare("=="),
  "ne": _compare("!="),
  "lt": _compare("<"),
  "le": _compare("<="),
  "gt": _compare(">"),
  "ge": _compare(">="),
  "select": lambda b, op, args: b.select(*args),
  "convert": lambda b, op, args: convert(b, args[0], _dtype(op), op.attrs["dtype"]),
  "bitcast": _bitcast,
  "integer_pow": _integer_power,
  "is_finite": _is_finite,
  "sqrt": _square_root,
  "rsqrt": _reciprocal_root,
  "floor": _rounding("floor"),
  "ceil": _rounding("ceil"),
  "round": _rounding("round"),
  "round_even": _rounding("roundeven"),
  "popcount": _count("ctpop"),
  "threefry": _threefry,
  "clz": _count("ctlz"),
}

# Ops whose result's elements are computed from operands' at the same index.
ELEMENTWISE = frozenset(RULES) | frozenset(math.FUNCTIONS)

# How much an op costs, to decide whether computing it again is cheaper than keeping it.
_CHEAP = 1
_COSTS = {"threefry": 60, "div": 4, "rem": 8, "sqrt": 4, "rsqrt": 6, "select": 1, "convert": 1}


def cost(name: str) -> int:
  if name in _COSTS:
    return _COSTS[name]
  return _CHEAP if name in RULES else 12

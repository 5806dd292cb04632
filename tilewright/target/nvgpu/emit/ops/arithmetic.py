"""Elementwise ops that the GPU computes in another way than the CPU, on scalars and vectors alike.

Everything else is shared (`target.llvm.arithmetic`, `target.llvm.math`). Errors are those of the PTX ISA: ex2.approx and
div.full are within two units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from llvmlite import ir
from llvmlite.ir.instructions import InsertElement, ShuffleVector

from tilewright.target.llvm import arithmetic, combining
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.types import F32, I32
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.ops import trigonometry
from tilewright.target.nvgpu.emit.units import small_floats
from tilewright.target.nvgpu.emit.units.inline_ptx import pure
from tilewright.tile.formats import small_float
from tilewright.tile.ir import Op, Value
from tilewright.tile.ops import BINARY, UNARY

_BFLOAT16 = np.dtype(jnp.bfloat16)
Rule = Callable[[ir.IRBuilder, list[ir.Value]], ir.Value]


def compute(b: ir.IRBuilder, op: Any, args: list[ir.Value], arch: Arch) -> ir.Value:
  dtype = op.operands[0].type.dtype
  if op.name in ("max", "min") and ty.is_float(dtype):
    return extreme(b, op.name, *args)
  if op.name == "convert":
    return convert(b, args[0], dtype, np.dtype(op.attrs["dtype"]), arch)
  if op.name in _FUSED and ty.element_type(args[0].type) == F32 and _is_of_a_product(op.result):
    return _FUSED[op.name](b, *args, flags=("contract",))
  if op.name == "or":
    chosen = _chosen_bits(b, *args)
    if chosen is not None:
      return chosen
  rule = F32_RULES.get(op.name)
  if op.name == "log" and op.result.tile.size <= _FEW:
    rule = None  # that of the CPU rounds as well, and no time is lost where there is one number a row
  if rule is not None and ty.element_type(args[0].type) == F32 and ty.is_float(dtype):
    if op.name == "exp" and is_below_maximum(op.operands[0]):
      rule = _EXP_BELOW_MAXIMUM
    if op.name == "exp2" and _is_coarse(op.operands[0]):
      rule = _EXP2_OF_COARSE
    if op.name == "logistic" and _is_all_coarse(op.operands[0]):
      rule = _logistic_of_coarse
    return rule(b, args)
  return arithmetic.compute(b, op, args)


_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))


def convert(b: ir.IRBuilder, x: ir.Value, source: np.dtype, target: np.dtype, arch: Arch) -> ir.Value:
  """Between dtypes as XLA does, by the conversions that the architecture has."""
  if source == target:
    return x
  small = small_floats.hardware(source, arch)
  if small is not None and ty.is_float(target) and target != np.float64 and small_float(target) is None:
    return ty.round_to(b, small_floats.decode(b, x, small), np.dtype(np.float32) if target == _BFLOAT16 else target)
  small = small_floats.hardware(target, arch)
  if small is not None and small.encodes and ty.is_float(source) and ty.element_type(x.type) == F32:
    return small_floats.encode(b, x, small)
  if target == _BFLOAT16 and ty.element_type(x.type) == F32 and ty.is_float(source):
    return round_to_bfloat16(b, x)
  if source in _BYTES and ty.is_float(target) and target.itemsize in (2, 4):
    floats, result = _floats_of_bytes(b, x, source == np.int8), ty.register_type(target, ty.lanes_of(x))
    return floats if floats.type == result else b.fptrunc(floats, result)
  return arithmetic.convert(b, x, source, target)


def _floats_of_bytes(b: ir.IRBuilder, x: ir.Value, is_signed: bool) -> ir.Value:
  """Integers of eight bits as floats, which have them all: 2^23 + n is a float whose lowest byte is n.

  That takes instructions of full rate. Those that convert integers run at an eighth of it."""
  lanes, sign = ty.lanes_of(x), 128 if is_signed else 0
  words = ty.register_type(np.int32, lanes)
  bits = b.xor(b.zext(x, words), ty.constant(words, 0x4B000000 + sign))
  floats = ty.register_type(np.float32, lanes)
  return b.fsub(b.bitcast(bits, floats), ty.constant(floats, 2.0**23 + sign))


def float_pair(b: ir.IRBuilder, kind: str, low: ir.Value, high: ir.Value) -> ir.Value:
  """Two floats rounded to nearest even, to bf16 or f16, as one register."""
  return pure(b, I32, f"cvt.rn.{kind}x2.f32 $0, $1, $2;", "=r,f,f", [high, low])


def bfloat16_pair(b: ir.IRBuilder, low: ir.Value, high: ir.Value) -> ir.Value:
  return float_pair(b, "bf16", low, high)


def round_to_bfloat16(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
  """Floats rounded to what bf16 holds, still as floats."""
  lanes = ty.lanes_of(value)
  parts = [value] if lanes == 1 else [b.extract_element(value, I32(n)) for n in range(lanes)]
  rounded: list[ir.Value] = []
  for low, high in zip(parts[::2], [*parts[1::2], parts[-1]]):
    rounded += _halves(b, bfloat16_pair(b, low, high))
  return rounded[0] if lanes == 1 else ty.joined(b, rounded[:lanes])


def bfloat16_of_pairs(b: ir.IRBuilder, words: ir.Value) -> ir.Value:
  """The floats that words of two bf16 each hold: an instruction for each. LLVM takes two to get at the upper half of a word."""
  count = ty.lanes_of(words)
  pairs = [words] if count == 1 else [b.extract_element(words, I32(n)) for n in range(count)]
  return ty.joined(b, [half for pair in pairs for half in _halves(b, pair)])


def _halves(b: ir.IRBuilder, pair: ir.Value) -> tuple[ir.Value, ir.Value]:
  return b.bitcast(b.shl(pair, I32(16)), F32), b.bitcast(b.and_(pair, I32(0xFFFF0000)), F32)


def _chosen_bits(b: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value | None:
  """`x & mask | y & ~mask` of words as one instruction, if it is that. LLVM would take it apart, as masks become simpler alone."""
  (u, mask), (v, rest) = (_masked(z) for z in (x, y))
  if mask is None or rest is None or mask ^ rest != 0xFFFFFFFF:
    return None
  choose = 0xCA  # the truth table of `p ? q : r`
  return pure(b, I32, f"lop3.b32 $0, $1, $2, $3, {choose};", "=r,r,r,r", [I32(mask), u, v])


def _masked(x: ir.Value) -> tuple[ir.Value, int | None]:
  """What a word is a part of, and which bits are in it."""
  if x.type == I32 and getattr(x, "opname", "") == "and":
    for part, mask in (x.operands, x.operands[::-1]):
      if isinstance(mask, ir.Constant) and isinstance(mask.constant, int):
        return part, mask.constant & 0xFFFFFFFF
  return x, None


def extreme(b: ir.IRBuilder, name: str, x: ir.Value, y: ir.Value) -> ir.Value:
  """max or min that gives NaN if either is NaN: one instruction."""
  return ty.intrinsic(b, "maximum" if name == "max" else "minimum", [x, y])


def combine(b: ir.IRBuilder, kind: str, dtype: Any, x: ir.Value, y: ir.Value) -> ir.Value:
  """One step of a reduction."""
  if kind in ("max", "min") and ty.is_float(dtype) and ty.element_type(x.type) == F32:
    return extreme(b, kind, x, y)
  return combining.combine(b, kind, dtype, x, y)


def horizontal(b: ir.IRBuilder, kind: str, dtype: Any, value: ir.Value) -> ir.Value:
  """Combine the lanes of a vector, each with the one half a vector away."""
  parts = [value] if ty.lanes_of(value) == 1 else [b.extract_element(value, I32(n)) for n in range(ty.lanes_of(value))]
  while len(parts) > 1:
    half = -(-len(parts) // 2)
    parts = [combine(b, kind, dtype, x, y) for x, y in zip(parts, parts[half:])] + parts[len(parts) - half : half]
  return parts[0]


def is_below_maximum(v: Value) -> bool:
  """Whether a value is `x - m`, where m is the maximum of x and perhaps more, and x comes from numbers of 16 bits or fewer."""
  op = v.owner
  if not isinstance(op, Op) or op.name != "sub":
    return False
  x, most = op.operands
  return _is_coarse(x) and _is_maximum(most, x)


def _is_maximum(v: Value, x: Value) -> bool:
  op = v.owner
  if not isinstance(op, Op):
    return False
  if op.name in ("broadcast", "reshape"):
    return _is_maximum(op.operands[0], x)
  if op.name == "max":
    return any(_is_maximum(o, x) for o in op.operands)
  return op.name == "reduce" and op.attrs["kind"] == "max" and op.operands[0] is x


def _is_coarse(v: Value) -> bool:
  """Whether a value was computed from numbers of 16 bits or fewer: their rounding error is more than a few units in the last place."""
  return _comes_from(v, ("convert", "dot"))


_FEW = 128  # elements
_LOOKED_AT = 32  # ops: this is asked of each op again


def _comes_from(v: Value, names: tuple[str, ...]) -> bool:
  """Whether a value was computed, by a few additions, products and selects, from the result of one of some ops on numbers of
  16 bits or fewer."""
  waiting = [v]
  seen: set[Op] = set()
  while waiting and len(seen) < _LOOKED_AT:
    op = waiting.pop().owner
    if not isinstance(op, Op) or op in seen:
      continue
    seen.add(op)
    if op.name in names:
      if all(o.tile.dtype.itemsize <= 2 for o in op.operands):
        return True
    elif op.name == "load":
      if "dot" in names and op.operands[0].ref.is_accumulator:  # tensor cores multiply nothing else
        return True
    elif op.name in ("mul", "select", "add", "sub"):
      waiting += op.operands
  return False


def _is_all_coarse(v: Value) -> bool:
  """Whether all that a value was computed from are numbers of 16 bits or fewer, and known ones."""
  waiting = [v]
  seen: set[Op] = set()
  while waiting:
    v = waiting.pop()
    if v.tile.dtype.itemsize <= 2 or v.owner in seen:
      continue
    op = v.owner
    if not isinstance(op, Op) or len(seen) == _LOOKED_AT:
      return False
    seen.add(op)
    if op.name == "select":
      waiting += op.operands[1:]
    elif op.name in _COMPUTED:
      waiting += op.operands
    elif op.name != "constant":
      return False
  return True


_COMPUTED = frozenset({*UNARY, *BINARY, "integer_pow", "convert", "dot", "reduce", "broadcast", "reshape"})

# Sums and products of tensor core results: a multiplication and an addition may be fused into one instruction, which rounds once.
_FUSED: dict[str, Callable[..., ir.Value]] = {
  "mul": ir.IRBuilder.fmul,
  "add": ir.IRBuilder.fadd,
  "sub": ir.IRBuilder.fsub,
}


def _is_of_a_product(v: Value) -> bool:
  """Whether a value was computed from a matrix product of numbers of 16 bits or fewer, whose summation order is unspecified."""
  return _comes_from(v, ("dot",))


def _each_lane(rule: Callable[..., ir.Value]) -> Rule:
  """An instruction that takes single numbers, on vectors."""

  def on_lanes(b: ir.IRBuilder, args: list[ir.Value]) -> ir.Value:
    lanes = ty.lanes_of(args[0])
    if lanes == 1:
      return rule(b, *args)
    return ty.joined(b, [rule(b, *(b.extract_element(a, I32(n)) for a in args)) for n in range(lanes)])

  return on_lanes


def _instruction(text: str, count: int) -> Callable[..., ir.Value]:
  asm = ir.InlineAsm(
    ir.FunctionType(F32, [F32] * count),
    f"{text} {', '.join(f'${i}' for i in range(count + 1))};",
    ",".join(["=f"] + ["f"] * count),
  )
  return lambda b, *args: b.call(asm, list(args))


_exp2 = _instruction("ex2.approx.f32", 1)
# These two give zero instead of a subnormal number, which saves four instructions to scale with.
_exp2_flushed = _instruction("ex2.approx.ftz.f32", 1)
_reciprocal_flushed = _instruction("rcp.approx.ftz.f32", 1)
_divide = _instruction("div.full.f32", 2)
_reciprocal_root = _instruction("rsqrt.approx.f32", 1)


def _exp(b: ir.IRBuilder, x: ir.Value, exp2: Callable[..., ir.Value] = _exp2) -> ir.Value:
  # Beyond these the result is 0 or infinity; the rounding error of an infinite product would be NaN.
  c = lambda v: ty.constant(F32, v)
  return _exp_inside(b, extreme(b, "min", extreme(b, "max", x, c(-105.0)), c(90.0)), exp2)


def _exp_inside(b: ir.IRBuilder, x: ir.Value, exp2: Callable[..., ir.Value]) -> ir.Value:
  """2^(x log2 e), where the product is kept to twice the precision: its rounding error becomes a factor near one.

  The factor is multiplied last, so that infinity stays infinity.
  """
  log2e = float(np.float32(math.log2(math.e)))
  rest = math.log2(math.e) - log2e
  c = lambda v: ty.constant(F32, v)
  high = b.fmul(x, c(log2e))
  low = ty.intrinsic(b, "fma", [x, c(log2e), b.fneg(high)])
  low = ty.intrinsic(b, "fma", [x, c(rest), low])
  return b.fmul(exp2(b, high), ty.intrinsic(b, "fma", [low, c(math.log(2.0)), c(1.0)]))


def _exp_below_maximum(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  """2^(x log2 e), x <= 0: off by |x| units in the last place, and 0 below 2^-126. That is negligible beside the rounding error of x."""
  return _exp2_flushed(b, b.fmul(x, ty.constant(F32, math.log2(math.e))))


def _logistic(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  power = _exp(b, b.fneg(x), _exp2_flushed)  # a subnormal number is negligible beside one
  return _reciprocal_flushed(b, b.fadd(ty.constant(F32, 1), power))


def _logistic_of_coarse(b: ir.IRBuilder, args: list[ir.Value]) -> ir.Value:
  """1 / (1 + 2^(-x log2 e)): off by |x| units in the last place where x is negative. A power of 0 or infinity gives 1 or 0."""
  x, factor = _without_factor(args[0])
  power = b.fmul(x, ty.constant(x.type, factor * -math.log2(math.e)))
  one = ty.constant(F32, 1)
  return _each_lane(lambda b, p: _reciprocal_flushed(b, b.fadd(one, _exp2_flushed(b, p))))(b, [power])


def _without_factor(x: ir.Value) -> tuple[ir.Value, float]:
  """A value as a product with a number of moderate size."""
  factor = 1.0
  while getattr(x, "opname", "") == "fmul" and (known := _known(x.operands[1])) is not None:
    if not 1e-18 < abs(factor * known) < 1e18:
      break
    x, factor = x.operands[0], factor * known
  return x, factor


def _known(x: ir.Value) -> float | None:
  """The number that a value is in each lane, if it is known."""
  if isinstance(x, ShuffleVector) and isinstance(x.operands[0], InsertElement):  # as `types.splat` makes it
    x = x.operands[0].operands[1]
  if not isinstance(x, ir.Constant) or ty.element_type(x.type) != F32:
    return None
  lanes = x.constant if isinstance(x.constant, list | tuple) else [x]
  return lanes[0].constant if all(lane.constant == lanes[0].constant for lane in lanes) else None


def _tanh(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  """1 - 2 / (e^2x + 1), and near zero, where that cancels, x + x^3 P(x^2) with the Taylor coefficients up to x^13.

  At |x| = 0.4 the first term left out, 929569/638512875 x^15, is below 4e-9 of x. Where the first way is taken, an error of 2x units in the
  last place of e^2x is at most half a unit of the result.
  """
  c = lambda v: ty.constant(F32, v)
  fma = lambda x, y, z: ty.intrinsic(b, "fma", [x, y, z])
  size = ty.intrinsic(b, "fabs", [x])
  double = b.fmul(extreme(b, "min", size, c(10.0)), c(2.0))  # beyond 10 it is one
  power = _exp2_flushed(b, b.fmul(double, c(math.log2(math.e))))
  far = fma(_reciprocal_flushed(b, b.fadd(power, c(1.0))), c(-2.0), c(1.0))
  far = ty.intrinsic(b, "copysign", [far, x], F32, [F32])
  square = b.fmul(x, x)
  terms = (21844 / 6081075, -1382 / 155925, 62 / 2835, -17 / 315, 2 / 15, -1 / 3)
  series = c(terms[0])
  for term in terms[1:]:
    series = fma(series, square, c(term))
  near = fma(b.fmul(square, series), x, x)
  return b.select(b.fcmp_ordered("<", size, c(0.4)), near, far)


def _erf(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  """As on the CPU, a polynomial up to 0.85 and beyond it 1 - exp(t P(t)): an error of a few units in the last place of the power, which is
  below a quarter, is less than one of the result."""
  c = lambda v: ty.constant(F32, v)
  size = ty.intrinsic(b, "fabs", [x])
  near = _fma(b, size, _polynomial(b, b.fmul(x, x), coefficients.ERF["f32"]), size)
  t = extreme(b, "min", size, c(4.0))  # erf is 1 from 3.92 on
  power = b.fmul(t, _polynomial(b, t, [math.log2(math.e) * p for p in coefficients.ERF_TAIL["f32"]]))
  far = b.fsub(c(1.0), _exp2_flushed(b, power))
  return ty.intrinsic(b, "copysign", [b.select(b.fcmp_ordered("<", size, c(0.85)), near, far), x], F32, [F32])


def _erfc(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  """As on the CPU, 1 - erf near zero, and exp(-t^2) P(u) / (1 + 2t) with u = (t - 2) / (t + 2) elsewhere."""
  c = lambda v: ty.constant(F32, v)
  log2e = float(np.float32(math.log2(math.e)))
  size = ty.intrinsic(b, "fabs", [x])
  near = b.fsub(c(1.0), _fma(b, x, _polynomial(b, b.fmul(x, x), coefficients.ERF["f32"]), x))
  t = extreme(b, "min", size, c(10.5))
  square = b.fmul(t, b.fneg(t))
  power = b.fmul(square, c(log2e))
  low = _fma(b, square, c(log2e), b.fneg(power))
  low = _fma(b, _fma(b, t, b.fneg(t), b.fneg(square)), c(log2e), low)
  low = _fma(b, square, c(math.log2(math.e) - log2e), low)
  decay = b.fmul(_exp2(b, power), _fma(b, low, c(math.log(2.0)), c(1.0)))
  u = b.fmul(b.fadd(t, c(-2.0)), _reciprocal_flushed(b, b.fadd(t, c(2.0))))
  factor = b.fmul(_polynomial(b, u, coefficients.ERFC_F32["f32"]), _reciprocal_flushed(b, _fma(b, t, c(2.0), c(1.0))))
  right = b.fmul(factor, decay)
  far = b.select(b.fcmp_ordered("<", x, c(0.0)), b.fsub(c(2.0), right), right)
  return b.select(b.fcmp_ordered("<", size, c(0.7)), near, far)


def _log(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  """k ln 2 + log(1 + f) for x = 2^k (1 + f), 2/3 <= 1 + f < 4/3, as on the CPU; ln 2 as a float is right to a twentieth of a unit."""
  c = lambda v: ty.constant(F32, v)
  is_denormal = b.fcmp_ordered("<", x, c(2.0**-126))
  bits = b.bitcast(b.select(is_denormal, b.fmul(x, c(2.0**23)), x), I32)
  exponent = b.and_(b.sub(bits, I32(0x3F2AAAAB)), I32(0xFF800000))
  k = _fma(b, b.sitofp(exponent, F32), c(2.0**-23), b.select(is_denormal, c(-23.0), c(0.0)))
  f = b.fadd(b.bitcast(b.sub(bits, exponent), F32), c(-1.0))
  series = _fma(b, b.fmul(f, f), _polynomial(b, f, (-0.5, *coefficients.LOG["f32"])), f)
  result = _fma(b, k, c(math.log(2.0)), series)
  is_usual = b.icmp_unsigned("<", b.bitcast(x, I32), I32(0x7F800000))
  # Infinity and NaN stay, what is negative is NaN
  result = b.select(is_usual, result, _fma(b, x, c(math.inf), c(math.inf)))
  return b.select(b.fcmp_ordered("==", x, c(0.0)), c(-math.inf), result)


def _fma(b: ir.IRBuilder, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
  return ty.intrinsic(b, "fma", [x, y, z])


def _polynomial(b: ir.IRBuilder, x: ir.Value, terms: Sequence[float]) -> ir.Value:
  """Horner's rule, lowest power first."""
  result = ty.constant(F32, terms[-1])
  for term in reversed(terms[:-1]):
    result = _fma(b, result, x, ty.constant(F32, term))
  return result


_EXP_BELOW_MAXIMUM = _each_lane(_exp_below_maximum)
_EXP2_OF_COARSE = _each_lane(_exp2_flushed)
F32_RULES: dict[str, Rule] = {
  "exp": _each_lane(_exp),
  "exp2": _each_lane(_exp2),
  "logistic": _each_lane(_logistic),
  "tanh": _each_lane(_tanh),
  "div": _each_lane(_divide),
  "rsqrt": _each_lane(_reciprocal_root),
  "erf": _each_lane(_erf),
  "erfc": _each_lane(_erfc),
  "log": _each_lane(_log),
  "sin": _each_lane(trigonometry.sin),
  "cos": _each_lane(trigonometry.cos),
  "tan": _each_lane(trigonometry.tan),
}

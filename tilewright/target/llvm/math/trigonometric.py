"""sin, cos and their relatives.

x = n pi/2 + r with |r| <= pi/4, and n mod 4 says which of ±sin(r), ±cos(r) is wanted. Up to a limit, pi/2 in three parts
subtracts n times exactly enough (Cody and Waite). Beyond it a lane needs bits of 2/pi that depend on its exponent (Payne
and Hanek): that code is out of line, scalar, and reached only if some lane of the vector is so large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.math import coefficients
from tilewright.target.llvm.math.lanes import FORMATS, INF, NAN, Lanes, define, fma, polynomial, where
from tilewright.target.llvm.types import F64, I32, I64, constant, element_type, intrinsic, lanes_of, suffix

# n pi/2 in three parts is wrong by n 2^-73 (2^-162), while |r| can be as small as 2^-31 (2^-62): far below half an ulp of r.
_LIMIT = {"f32": 1e5, "f64": 1e9}


Reduction = Callable[[Lanes], tuple[Lanes, Lanes]]


def _reduce(x: Lanes, of_large: Reduction) -> tuple[Lanes, Lanes]:
  """(r, n): the angle in [-pi/4, pi/4] and the quadrant, of which two bits count; what is large goes the other way."""
  form, kind, b = x.format, x.kind, x.b
  shifted = fma(x, 2 / math.pi, form.round_shift)
  n = shifted - form.round_shift
  first, second, third = coefficients.HALF_PI[kind]
  r = fma(n, -third, fma(n, -second, fma(n, -first, x)))
  quadrant = shifted.bits()

  large = abs(x) >= _LIMIT[kind]
  entry = b.block
  with b.if_then(large.any(), likely=False):
    slow_r, slow_quadrant = (where(large, slow, usual) for slow, usual in zip(of_large(x), (r, quadrant)))
    cold = b.block
  joined = []
  for usual, rare in ((r, slow_r), (quadrant, slow_quadrant)):
    phi = b.phi(usual.type)
    phi.add_incoming(usual.value, entry)
    phi.add_incoming(rare.value, cold)
    joined.append(Lanes(b, phi))
  return joined[0], joined[1]


def _out_of_line(x: Lanes) -> tuple[Lanes, Lanes]:
  slow = x.b.call(_large_angles(x.b.module, x.type), [x.value])
  return Lanes(x.b, x.b.extract_value(slow, 0)), Lanes(x.b, x.b.extract_value(slow, 1))


def _large_angles(module: ir.Module, ty: ir.Type) -> ir.Function:
  """A loop over the lanes that reduces each by the bits of 2/pi."""
  kind = suffix(element_type(ty))
  vector = ty if isinstance(ty, ir.VectorType) else None
  quadrants = ir.VectorType(FORMATS[kind].integer, vector.count) if vector is not None else FORMATS[kind].integer
  result = ir.LiteralStructType([ty, quadrants])

  def body(b: ir.IRBuilder, args: Any) -> ir.Value:
    (x,) = args
    if vector is None:
      return _pack(b, result, *_large_angle(b, x, kind))
    entry = b.block
    loop, done = b.append_basic_block("lane"), b.append_basic_block("done")
    b.branch(loop)
    b.position_at_end(loop)
    lane, rs, ns = b.phi(I32), b.phi(ty), b.phi(quadrants)
    r, n = _large_angle(b, b.extract_element(x, lane), kind)
    next_rs, next_ns = b.insert_element(rs, r, lane), b.insert_element(ns, n, lane)
    next_lane = b.add(lane, I32(1))
    for phi, first, following in (
      (lane, I32(0), next_lane),
      (rs, constant(ty, 0), next_rs),
      (ns, constant(quadrants, 0), next_ns),
    ):
      phi.add_incoming(first, entry)
      phi.add_incoming(following, loop)
    b.cbranch(b.icmp_unsigned("<", next_lane, I32(lanes_of(x))), loop, done)
    b.position_at_end(done)
    return _pack(b, result, next_rs, next_ns)

  return define(module, f"tilewright.large_angles.{suffix(ty)}", result, [ty], body, ("noinline", "cold"))


def _pack(b: ir.IRBuilder, ty: ir.Type, r: ir.Value, n: ir.Value) -> ir.Value:
  return b.insert_value(b.insert_value(ir.Constant(ty, ir.Undefined), r, 0), n, 1)


# Bits of 2/pi that matter at once: 53 of the product with x, 2 of the quadrant, 62 that may cancel, 64 that stay.
_WINDOW = 192
_LEADING_ZEROS = 64  # in front of the table, for arguments just beyond the limit
WIDE = ir.IntType(256)


def two_over_pi_words() -> list[int]:
  """2/pi to 1280 bits in words of 64, most significant first, after 64 zeros. pi by Machin's formula, in integers."""
  precision = 1280 + 192

  def arctan_inverse(q: int) -> int:
    total, power, k = 0, (1 << precision) // q, 0
    while power:
      total += power // (2 * k + 1) * (-1) ** k
      power //= q * q
      k += 1
    return total

  pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
  digits = (2 << (precision + 1280)) // pi
  return [0] + [(digits >> (1280 - 64 * (i + 1))) & (2**64 - 1) for i in range(20)]


def _table(module: ir.Module) -> ir.GlobalVariable:
  name = "tilewright.two_over_pi"
  known = module.globals.get(name)
  if known is not None:
    return known
  words = two_over_pi_words()
  ty = ir.ArrayType(I64, len(words))
  table = ir.GlobalVariable(module, ty, name)
  table.linkage, table.global_constant = "internal", True
  table.initializer = ir.Constant(ty, words)
  return table


def _large_angle(b: ir.IRBuilder, x: ir.Value, kind: str) -> tuple[ir.Value, ir.Value]:
  """Payne and Hanek for one number: x = m 2^(e - mantissa); of 2/pi the bits that give multiples of 4 are skipped."""
  form = FORMATS[kind]
  bits = b.zext(b.bitcast(x, form.integer), I64) if kind == "f32" else b.bitcast(x, I64)
  field = b.and_(b.lshr(bits, I64(form.mantissa)), I64(2 ** (form.width - 1 - form.mantissa) - 1))
  m = b.or_(b.and_(bits, I64(2**form.mantissa - 1)), I64(2**form.mantissa))
  # Bit j >= 1 of 2/pi weighs 2^-j. The first that is kept makes m 2^1: j = e - mantissa - 1.
  start = b.add(field, I64(-form.bias - form.mantissa - 1 + _LEADING_ZEROS - 1))
  start = b.select(b.icmp_signed("<", start, I64(0)), I64(0), start)  # a small lane among large ones: not used
  word = b.lshr(start, I64(6))
  window = ir.Constant(WIDE, 0)
  for i in range(4):
    pointer = b.gep(_table(b.module), [I64(0), b.add(word, I64(i))], source_etype=_table(b.module).value_type)
    part = b.zext(b.load(pointer, typ=I64), WIDE)
    window = b.or_(window, b.shl(part, ir.Constant(WIDE, 192 - 64 * i)))
  window = b.shl(window, b.zext(b.and_(start, I64(63)), WIDE))
  narrow = ir.IntType(_WINDOW)
  window = b.trunc(b.lshr(window, ir.Constant(WIDE, 256 - _WINDOW)), narrow)
  # The product modulo 2^192 is x 2/pi modulo 4, with two bits before the point.
  product = b.mul(window, b.zext(m, narrow))
  quadrant = b.trunc(
    b.lshr(b.add(product, ir.Constant(narrow, 1 << (_WINDOW - 3))), ir.Constant(narrow, _WINDOW - 2)), I64
  )
  # Signed, 2^-128.
  fraction = b.trunc(b.lshr(b.shl(product, ir.Constant(narrow, 2)), ir.Constant(narrow, 64)), ir.IntType(128))
  r = _fraction_to_angle(b, fraction)

  negative = b.icmp_signed("<", b.bitcast(x, form.integer), constant(form.integer, 0))
  r = b.select(negative, b.fneg(r), r)
  quadrant = b.select(negative, b.sub(I64(0), quadrant), quadrant)
  finite = b.fcmp_ordered("<", intrinsic(b, "fabs", [x]), constant(x.type, INF))
  r = b.select(finite, r, constant(F64, NAN))
  return (b.fptrunc(r, x.type), b.trunc(quadrant, I32)) if kind == "f32" else (r, quadrant)


def _fraction_to_angle(b: ir.IRBuilder, fraction: ir.Value) -> ir.Value:
  """fraction 2^-128 pi/2 as a double, from a signed integer of 128 bits with many leading zeros."""
  i128 = ir.IntType(128)
  negative = b.icmp_signed("<", fraction, ir.Constant(i128, 0))
  magnitude = b.select(negative, b.sub(ir.Constant(i128, 0), fraction), fraction)
  zeros = intrinsic(b, "ctlz", [magnitude, ir.Constant(ir.IntType(1), 0)], i128, [i128])
  normal = b.shl(magnitude, b.and_(zeros, ir.Constant(i128, 127)))
  high = b.trunc(b.lshr(normal, ir.Constant(i128, 75)), I64)  # 53 bits
  low = b.and_(b.trunc(b.lshr(normal, ir.Constant(i128, 22)), I64), I64(2**53 - 1))  # the next 53
  # high 2^-53 + low 2^-106 in [1/2, 1), times 2^-zeros.
  scale = b.bitcast(b.shl(b.sub(I64(1023), b.trunc(zeros, I64)), I64(52)), F64)
  first, second, _ = coefficients.HALF_PI["f64"]
  head = Lanes(b, b.sitofp(high, F64)) * 2.0**-53
  tail = Lanes(b, b.sitofp(low, F64)) * 2.0**-106
  angle = fma(head, first, fma(head, second, tail * first)) * Lanes(b, scale)
  return b.select(negative, b.fneg(angle.value), angle.value)


def _sine(r: Lanes, square: Lanes) -> Lanes:
  return fma(r * square, polynomial(square, coefficients.SIN[r.kind]), r)


def _cosine(square: Lanes) -> Lanes:
  return polynomial(square, (1.0, -0.5, *coefficients.COS[square.kind]))


def _wave(x: Lanes, ahead: int, of_large: Reduction) -> Lanes:
  """sin(x + ahead pi/2)."""
  form = x.format
  r, n = _reduce(x, of_large)
  n = n + ahead if ahead else n
  square = r * r
  value = where((n & 1).equals(0), _sine(r, square), _cosine(square))
  return (value.bits() ^ ((n & 2) << (form.width - 2))).floats(x.kind)


def sin(x: Lanes, of_large: Reduction = _out_of_line) -> Lanes:
  return where(x.equals(0.0), x, _wave(x, 0, of_large))


def cos(x: Lanes, of_large: Reduction = _out_of_line) -> Lanes:
  return _wave(x, 1, of_large)


def tan(x: Lanes, of_large: Reduction = _out_of_line) -> Lanes:
  """sin / cos, or -cos / sin in the odd quadrants."""
  r, n = _reduce(x, of_large)
  square = r * r
  sine, cosine = _sine(r, square), _cosine(square)
  even = (n & 1).equals(0)
  return where(x.equals(0.0), x, where(even, sine, -cosine).over(where(even, cosine, sine)))

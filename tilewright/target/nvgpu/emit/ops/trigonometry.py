"""sin, cos and tan of floats on a GPU: those of the CPU, except for the range reduction of large angles.

There a call would spill every thread's registers, and floats need fewer bits of 2/pi than doubles. So the reduction is inlined, as a few
multiplications of words: x = m 2^(e - 150), and of 2/pi 96 bits count, from the first that does not give multiples
of 4 on.
"""

from __future__ import annotations

import itertools
import math

from llvmlite import ir

from tilewright.target.llvm.math import trigonometric
from tilewright.target.llvm.math.lanes import Lanes
from tilewright.target.llvm.types import F32, F64, I32, I64, constant, intrinsic

_TABLE = "tilewright.two_over_pi.words"
_WORDS = 8  # of 32 bits, the first of them zero: what the largest float needs
_FIRST = 151  # the exponent, as it is stored, that needs the bits from the first in front of the point on


def _table(module: ir.Module) -> ir.GlobalVariable:
  if _TABLE in module.globals:
    return module.globals[_TABLE]
  long = trigonometric.two_over_pi_words()  # after 64 zeros
  words = [half for word in long for half in (word >> 32, word & 0xFFFFFFFF)][1 : 1 + _WORDS]
  table = ir.GlobalVariable(module, ir.ArrayType(I32, _WORDS), _TABLE)
  table.linkage, table.global_constant = "internal", True
  table.initializer = ir.Constant(table.value_type, words)
  return table


def _near_zero(x: Lanes) -> tuple[Lanes, Lanes]:
  """(r, n) with x = n pi/2 + r modulo 2 pi, for a float from 2^16 on; NaN if it is not finite."""
  b, table = x.b, _table(x.b.module)
  bits = x.bits().value
  exponent = b.and_(b.lshr(bits, I32(23)), I32(0xFF))
  m = b.zext(b.or_(b.and_(bits, I32(0x7FFFFF)), I32(0x800000)), I64)
  start = b.sub(exponent, I32(_FIRST - 31))  # a bit of the table
  word = b.zext(b.lshr(b.and_(start, I32(0xFF)), I32(5)), I64)
  places = [b.gep(table, [I64(0), b.add(word, I64(i))], source_etype=table.value_type) for i in range(4)]
  loaded = [b.load(place, typ=I32) for place in places]
  shifted = [intrinsic(b, "fshl", [high, low, start], I32, [I32]) for high, low in itertools.pairwise(loaded)]
  first, second, third = (b.mul(m, b.zext(part, I64)) for part in shifted)
  second = b.add(second, b.lshr(third, I64(32)))
  first = b.add(first, b.lshr(second, I64(32)))
  # The product modulo 2^96, without its last 32 bits: two bits of the quadrant, then its parts.
  product = b.or_(b.shl(first, I64(32)), b.and_(second, I64(0xFFFFFFFF)))
  quadrant = b.trunc(b.lshr(b.add(product, I64(1 << 61)), I64(62)), I32)
  part = b.sitofp(b.shl(product, I64(2)), F64)  # of a quadrant, signed, in units of 2^-64
  angle = b.fptrunc(b.fmul(part, constant(F64, math.pi / 2 * 2.0**-64)), F32)
  negative = b.icmp_signed("<", bits, I32(0))
  angle = b.select(negative, b.fneg(angle), angle)
  finite = b.icmp_unsigned("<", exponent, I32(0xFF))
  angle = b.select(finite, angle, constant(F32, math.nan))
  return Lanes(b, angle), Lanes(b, b.select(negative, b.neg(quadrant), quadrant))


def sin(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  return trigonometric.sin(Lanes(b, x), _near_zero).value


def cos(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  return trigonometric.cos(Lanes(b, x), _near_zero).value


def tan(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  return trigonometric.tan(Lanes(b, x), _near_zero).value

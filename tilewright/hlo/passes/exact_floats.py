"""Floats by integer arithmetic: HLO that gives the same bits on every back end.

XLA does not preserve float semantics exactly. On GPUs it drops conversions f32 -> f8 -> f32 (it allows excess precision), so the rounding
is lost, and a division is within two ulp; on the CPU subnormal numbers are flushed to zero. It preserves integers:

    mantissa, exponent = unpack(Array(b, bits) & 0x7FFFFFFF, float_type("f32"))          |x| = mantissa * 2^(exponent - 23)
    code = round_to(mantissa, 23, exponent - 3, float_type("f8e4m3fn"))                  |x| / 8, rounded to nearest even

Codes here are magnitudes, bits without the sign, in s32.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Instruction

MAGNITUDE, INFINITY = 0x7FFFFFFF, 0x7F800000  # of an f32


@dataclass(frozen=True)
class Array:
  """Integers, or truth values, with the operators of Python; numbers are as many as are needed. Shifts to the right are logical."""

  b: Builder
  x: Instruction

  def _of(self, value: Array | int) -> Instruction:
    if isinstance(value, Array):
      return value.x
    scalar = self.b.constant(np.asarray(value, self.x.shape.dtype))
    return self.b.broadcast(scalar, self.x.shape.dimensions) if self.x.shape.rank else scalar

  def _op(self, opcode: str, other: Array | int) -> Array:
    return Array(self.b, self.b.op(opcode, (self.x, self._of(other))))

  def _is(self, direction: str, other: Array | int) -> Array:
    return Array(self.b, self.b.compare(self.x, self._of(other), direction))

  def __add__(self, other: Array | int) -> Array:
    return self._op("add", other)

  def __sub__(self, other: Array | int) -> Array:
    return self._op("subtract", other)

  def __rsub__(self, other: int) -> Array:
    return self.full(other) - self

  def __mul__(self, other: Array | int) -> Array:
    return self._op("multiply", other)

  def __floordiv__(self, other: Array | int) -> Array:
    return self._op("divide", other)

  def __and__(self, other: Array | int) -> Array:
    return self._op("and", other)

  def __or__(self, other: Array | int) -> Array:
    return self._op("or", other)

  def __xor__(self, other: Array | int) -> Array:
    return self._op("xor", other)

  def __lshift__(self, other: Array | int) -> Array:
    return self._op("shift-left", other)

  def __rlshift__(self, other: int) -> Array:
    return self.full(other) << self

  def __rshift__(self, other: Array | int) -> Array:
    return self._op("shift-right-logical", other)

  def __lt__(self, other: Array | int) -> Array:
    return self._is("LT", other)

  def __gt__(self, other: Array | int) -> Array:
    return self._is("GT", other)

  def __ge__(self, other: Array | int) -> Array:
    return self._is("GE", other)

  def equals(self, other: Array | int) -> Array:
    return self._is("EQ", other)

  def at_least(self, other: Array | int) -> Array:
    return self._op("maximum", other)

  def at_most(self, other: Array | int) -> Array:
    return self._op("minimum", other)

  def chooses(self, yes: Array | int, no: Array) -> Array:
    """`yes` where this is true, `no` elsewhere."""
    return Array(self.b, self.b.select(self.x, no._of(yes), no.x))

  def full(self, value: int) -> Array:
    """A number for each of these."""
    return Array(self.b, self._of(value))

  def leading_zeros(self) -> Array:
    return Array(self.b, self.b.unary("count-leading-zeros", self.x))

  def to(self, element_type: str) -> Array:
    return self if self.x.shape.element_type == element_type else Array(self.b, self.b.convert(self.x, element_type))

  def reshaped(self, dimensions: tuple[int, ...]) -> Array:
    return Array(self.b, self.b.reshape(self.x, dimensions))

  def spread(self, size: int) -> Array:
    """So many along a new last dimension."""
    dimensions = self.x.shape.dimensions
    return Array(self.b, self.b.broadcast(self.x, (*dimensions, size), tuple(range(len(dimensions)))))


# --- formats -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FloatType:
  """A float: how many bits the mantissa has, and codes without the sign. `overflow` is what a number that is too large becomes."""

  bits: int
  mantissa: int
  bias: int
  one: int
  largest: int
  overflow: int
  nan: int  # all of its bits; where there is no NaN, what stands for it
  has_infinity: bool
  has_negative_zero: bool

  @property
  def exponent(self) -> int:
    """That of the largest number."""
    return (self.largest >> self.mantissa) - self.bias

  @property
  def sign(self) -> int:
    """The bit that says minus; 0 where there is none."""
    return 0 if not self.mantissa else 1 << (self.bits - 1)

  def magnitude(self, bits: Array) -> Array:
    return bits & ((1 << (self.bits - bool(self.sign))) - 1)

  def is_nan(self, bits: Array) -> Array:
    if self.nan == self.sign:  # in place of -0, or there is none
      return bits.equals(self.nan) if not self.has_negative_zero else bits < 0
    return self.magnitude(bits) > (self.overflow if self.has_infinity else self.largest)


@functools.cache
def float_type(element_type: str) -> FloatType:
  """What ml_dtypes knows of a float of at most 32 bits."""
  row = PRIMITIVE_TYPES[element_type]
  assert row.dtype is not None and row.kind == "float" and row.bits <= 32
  info = ml_dtypes.finfo(row.dtype)
  unsigned = np.dtype(f"u{row.dtype.itemsize}")

  def code(value: float) -> int:
    return int(np.asarray(value, np.float32).astype(row.dtype).view(unsigned))

  mantissa = int(info.nmant)
  bias = (1 if mantissa else 0) - int(info.minexp)  # a format of exponents alone has no subnormal numbers
  overflow, largest = code(math.inf), code(float(info.max))
  has_infinity = bool(np.isinf(np.asarray(math.inf, np.float32).astype(row.dtype).astype(np.float32)))
  return FloatType(
    row.bits,
    mantissa,
    bias,
    code(1.0),
    largest,
    overflow,
    code(math.nan),
    has_infinity,
    mantissa > 0 and code(-0.0) > 0,
  )


F32 = float_type("f32")


def bits_of_f32(b: Builder, x: Instruction) -> Array:
  """The bits of floats, each as an f32: s32. Nothing that a conversion may lose is converted."""
  match x.shape.element_type:
    case "f32":
      return Array(b, b.op("bitcast-convert", (x,), x.shape.with_element_type("s32")))
    case "bf16":
      return Array(b, b.op("bitcast-convert", (x,), x.shape.with_element_type("u16"))).to("s32") << 16
  return bits_of_f32(b, b.convert(x, "f32"))  # of a few bits: none is subnormal as an f32


def bits_of(b: Builder, x: Instruction) -> Array:
  """All bits of floats, as they are: s32."""
  bits = PRIMITIVE_TYPES[x.shape.element_type].bits
  word = "s32" if bits == 32 else f"u{bits}"
  return Array(b, b.op("bitcast-convert", (x,), x.shape.with_element_type(word))).to("s32")


def as_floats(codes: Array, element_type: str) -> Instruction:
  """Floats from all of their bits."""
  bits = PRIMITIVE_TYPES[element_type].bits
  words = codes if bits == 32 else codes.to(f"u{bits}")
  return codes.b.op("bitcast-convert", (words.x,), words.x.shape.with_element_type(element_type))


# --- arithmetic on magnitudes ------------------------------------------------------------------------------------


def unpack(code: Array, t: FloatType) -> tuple[Array, Array]:
  """(m, e) of m * 2^(e - mantissa) with a leading one in bit `mantissa` of m; m is 0 for zero."""
  if not t.mantissa:
    return code.full(1), code - t.bias
  field = code >> t.mantissa
  is_small = field.equals(0)
  up = is_small.chooses(code.leading_zeros() - (31 - t.mantissa), field)  # by how much a subnormal one is moved
  found = is_small.chooses(code << (up & 31), (code & ((1 << t.mantissa) - 1)) | (1 << t.mantissa))
  return found, is_small.chooses(1 - up, field) - t.bias


def round_to(mantissa: Array, leading: int, exponent: Array, t: FloatType) -> Array:
  """mantissa * 2^(exponent - leading), with a leading one in that bit (at most 27), to nearest even; `largest` + 1 if it is larger."""
  field = exponent + t.bias
  drop = ((1 - field).at_least(0) + (leading + 1 - t.mantissa)).at_most(30)
  doubled = mantissa << 1  # so that one bit is dropped at least
  odd = (doubled >> drop) & 1
  kept = (doubled + odd + ((1 << (drop - 1)) - 1)) >> drop
  code = kept + ((field.at_least(1) - 1) << t.mantissa)
  code = (field > (t.largest >> t.mantissa)).chooses(t.largest + 1, code.at_most(t.largest + 1))
  return mantissa.equals(0).chooses(0, code)


def divided_by_power(code: Array, exponent: int) -> Array:
  """An f32 over 2^exponent as an f32."""
  mantissa, own = unpack(code, F32)
  return (code >= INFINITY).chooses(code, round_to(mantissa, F32.mantissa, own - exponent, F32))


def encode(code: Array, t: FloatType) -> Array:
  """An f32 in another format, to nearest even; what is too large becomes infinite, or NaN, or the largest if there is neither."""
  if not t.mantissa:  # a power of two: of a tie, the larger one. 2^-127 is below the normal numbers of f32.
    small = (code >= (3 << 21)).to("s32")
    found = (code < (1 << 23)).chooses(small, (code + (1 << 22)) >> 23)
    return ((code >= INFINITY) | code.equals(0)).chooses(t.nan, found)
  found = code if t == F32 else round_to(*_leading(code), t)
  found = (found > t.largest).chooses(t.overflow, found)
  return (code > INFINITY).chooses(t.nan, found)


def _leading(code: Array) -> tuple[Array, int, Array]:
  mantissa, exponent = unpack(code, F32)
  return mantissa, F32.mantissa, exponent


def quotient(code: Array, divisor: tuple[Array, Array], of: FloatType, t: FloatType) -> Array:
  """An f32 over a number of the type `of`, unpacked, as an f32 that is rounded to t; `largest` is the most.

  *Rounding once or twice.* Let the divisor D have d bits, and the dividend X, 24 bits, be integers. X / D is below 2^(25 - d), where half
  a unit in the last place of an f32 is 2^-d at most. What lies in the middle between two numbers of t has 6 bits, and near X / D is an
  integer m if d <= 17: if X / D is not m, it is 1 / D > 2^-d away. So rounding to f32 first changes nothing then.
  """
  mantissa, leading, exponent = _leading(code)
  by, own = divisor
  exponent = exponent - own
  if of.mantissa:
    wide = "s32" if of.mantissa <= 4 else "s64"
    shifted, by = mantissa.to(wide) << (of.mantissa + 2), by.to(wide)
    whole = shifted // by  # the quotient of what lies in [1, 2), times 2^25: in (2^24, 2^26)
    inexact = (shifted - whole * by > 0).to("s32")
    mantissa, leading = (whole.to("s32") << 1) | inexact, 26
    is_less = mantissa < (1 << 26)
    mantissa, exponent = is_less.chooses(mantissa << 1, mantissa), exponent - is_less.to("s32")
  found = round_to(mantissa, leading, exponent, F32 if of.mantissa > 16 else t)
  if of.mantissa > 16:
    found = round_to(*_leading(found.at_most(F32.largest)), t)
  return found.at_most(t.largest)


def product(x: Array, t: FloatType, y: Array, u: FloatType, out: FloatType) -> Array:
  """All bits of x * y, rounded once, from all bits of both."""
  codes = t.magnitude(x), u.magnitude(y)
  (m, e), (n, f) = unpack(codes[0], t), unpack(codes[1], u)
  digits = t.mantissa + u.mantissa + 1  # the leading one of the product is in this bit, or in the one below
  wide = "s32" if digits <= 29 else "s64"
  whole = m.to(wide) * n.to(wide)
  is_large = whole >= (1 << digits)
  whole = is_large.chooses(whole, whole << 1)
  if digits > 27:
    lost = whole & ((1 << (digits - 27)) - 1)
    whole = (whole >> (digits - 27)) | lost.at_most(1)
  code = round_to(whole.to("s32") << max(0, 27 - digits), 27, e + f + is_large.to("s32"), out)
  is_over, is_nan = code > out.largest, t.is_nan(x) | u.is_nan(y)
  for v, own in ((t, codes[0]), (u, codes[1])):
    if v.has_infinity:
      is_infinite = own.equals(v.overflow)
      is_over, is_nan = is_over | is_infinite, is_nan | (is_infinite & (m.equals(0) | n.equals(0)))
  found = is_over.chooses(out.overflow, code)
  sign = (_sign(x, t) ^ _sign(y, u)) << (out.bits - 1)
  if not out.has_negative_zero:
    sign = found.equals(0).chooses(0, sign)
  return is_nan.chooses(out.nan, found | sign)


def _sign(bits: Array, t: FloatType) -> Array:
  return bits >> (t.bits - 1) if t.sign else bits.full(0)

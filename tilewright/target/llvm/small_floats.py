"""Small floats as LLVM IR: codes of eight bits to f32 or f64 and back, on vectors of any length.

No processor we compile for computes in these formats: they are integers of one byte in memory and in registers, converted where they are
computed with. `decode` and `encode` are written once, with integer operations and selects, driven by the table in `tile.formats`:

    decode(b, codes, SMALL_FLOATS["float8_e4m3fn"], F32)      exact
    encode(b, values, SMALL_FLOATS["float8_e4m3fn"])          from f32 or f64, rounded once, to nearest even

XLA's threads flush subnormals of f32 to zero. Nothing here depends on arithmetic with them: subnormals of the small formats are normal in
f32, and 2^-127, which float8_e8m0fnu has and which is subnormal in f32, only ever moves as bits.
"""

from __future__ import annotations

import dataclasses
import math

from llvmlite import ir

from tilewright.target.llvm.math.lanes import FORMATS, Lanes, where
from tilewright.target.llvm.types import I8, element_type, suffix
from tilewright.tile.formats import SmallFloat


@dataclasses.dataclass(frozen=True)
class _Wide:
  """f32 or f64, with the bits of some of its values."""

  kind: str

  @property
  def mantissa(self) -> int:
    return FORMATS[self.kind].mantissa

  @property
  def bias(self) -> int:
    return FORMATS[self.kind].bias

  @property
  def width(self) -> int:
    return FORMATS[self.kind].width

  def bits(self, number: float) -> int:
    """The bits of a power of two, of infinity or of NaN. They are computed with integers: code may be generated on a thread that flushes
    subnormals to zero, as XLA's do."""
    special = ((1 << (self.width - 1 - self.mantissa)) - 1) << self.mantissa
    if math.isinf(number) or math.isnan(number):
      return special | (math.isnan(number) << (self.mantissa - 1))
    fraction, exponent = math.frexp(number)
    if fraction != 0.5:
      raise ValueError(f"{number} is no power of two")
    exponent += self.bias - 1
    return exponent << self.mantissa if exponent > 0 else 1 << (self.mantissa - 1 + exponent)


def decode(b: ir.IRBuilder, codes: ir.Value, form: SmallFloat, element: ir.Type) -> ir.Value:
  """The floats, f32 or f64, that codes represent."""
  wide = _Wide(suffix(element))
  raw = Lanes(b, b.zext(codes, Lanes(b, codes).like(FORMATS[wide.kind].integer)))
  nan = wide.bits(float("nan"))
  if not form.signed:
    shifted = (raw + (wide.bias - form.bias)) << wide.mantissa
    # In f32 the first is subnormal: its exponent stays zero, and the leading one is part of the mantissa.
    first = where(raw.equals(0), wide.bits(2.0**-form.bias), shifted)
    return where(raw.equals(form.nan), nan, first).floats(wide.kind).value
  magnitude = raw & (form.sign - 1)
  normal = (magnitude << (wide.mantissa - form.mantissa)) + ((wide.bias - form.bias) << wide.mantissa)
  # A subnormal is its mantissa, as an integer, times the smallest step.
  subnormal = magnitude.to_float(wide.kind) * 2.0 ** (1 - form.bias - form.mantissa)
  bits = where(magnitude < (1 << form.mantissa), subnormal.bits(), normal)
  if form.has_infinity:
    bits = where(magnitude.equals(form.overflow), wide.bits(float("inf")), bits)
  last = form.overflow if form.has_infinity else form.largest
  if last < form.sign - 1:
    bits = where(magnitude > last, nan, bits)
  bits = bits | ((raw & form.sign) << (wide.width - form.width))
  if not form.has_negative_zero:
    bits = where(raw.equals(form.nan), nan, bits)
  return bits.floats(wide.kind).value


def encode(b: ir.IRBuilder, values: ir.Value, form: SmallFloat) -> ir.Value:
  """The codes of the nearest numbers of a format; of two that are equally near, the even one."""
  x = Lanes(b, values)
  wide = _Wide(suffix(element_type(values.type)))
  code = _encode_signed(x, form, wide) if form.signed else _encode_power(x, form, wide)
  return b.trunc(code.value, x.like(I8))


def _encode_signed(x: Lanes, form: SmallFloat, wide: _Wide) -> Lanes:
  raw = x.bits()
  magnitude = raw & ((1 << (wide.width - 1)) - 1)
  dropped = wide.mantissa - form.mantissa
  odd = magnitude.logical_shift_right(dropped) & 1
  rounded = (magnitude + odd + ((1 << (dropped - 1)) - 1)).logical_shift_right(dropped)
  normal = rounded - ((wide.bias - form.bias) << form.mantissa)
  # Adding a number whose last digit is worth the smallest step rounds a subnormal, and leaves it in the low bits.
  anchor = 2.0 ** (1 - form.bias - form.mantissa + wide.mantissa)
  subnormal = (abs(x) + anchor).bits() - wide.bits(anchor)
  code = where(magnitude < wide.bits(2.0 ** (1 - form.bias)), subnormal, normal)
  code = where(code > form.largest, form.overflow, code)
  code = where(magnitude > wide.bits(float("inf")), form.nan, code)
  signed = code | (raw.logical_shift_right(wide.width - form.width) & form.sign)
  return signed if form.has_negative_zero else where(code.equals(0), 0, signed)


def _encode_power(x: Lanes, form: SmallFloat, wide: _Wide) -> Lanes:
  """To powers of two, as ml_dtypes and XLA do it: halfway between two is rounded up, and so is all that lies between the smallest and the
  next; what is smaller becomes the smallest. What is not positive, or would be zero in f32, becomes NaN."""
  raw = x.bits()
  rounded = (raw + (1 << (wide.mantissa - 1))).logical_shift_right(wide.mantissa) - (wide.bias - form.bias)
  smallest = Lanes(x.b, x.b.zext((raw > wide.bits(2.0**-form.bias)).value, raw.type))
  code = where(raw < wide.bits(2.0 ** (1 - form.bias)), smallest, rounded)
  code = where(code > form.largest, form.overflow, code)
  nothing = 0 if wide.kind == "f32" else wide.bits(2.0**-150)
  return where(raw > nothing, code, form.nan)

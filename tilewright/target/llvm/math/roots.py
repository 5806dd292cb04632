"""sqrt, rsqrt, cbrt."""

from __future__ import annotations

from tilewright.target.llvm.math.lanes import INF, Lanes, where


def sqrt(x: Lanes) -> Lanes:
  return x.sqrt()


def rsqrt(x: Lanes) -> Lanes:
  return 1.0 / x.sqrt()


# A third of the bits of x, plus this, is a cube root to 3 percent: the logarithm of a float is nearly linear in its bits.
# It is two thirds of the bits of 1, lowered a little to balance the error.
_THIRD_OFFSET = {"f32": 0x2A5119F2, "f64": 0x2A9F7893782DA1CE}
_STEPS = {"f32": 2, "f64": 3}


def cbrt(x: Lanes) -> Lanes:
  """Halley's iteration triples the digits in each step; the last correction is small, and so are its errors."""
  form, kind = x.format, x.kind
  magnitude = abs(x)
  # Scaled where the terms of the iteration would be denormal or infinite.
  shift = 24 if kind == "f32" else 54
  tiny, huge = magnitude < form.smallest_normal * 2.0**shift, magnitude > form.largest * 2.0**-shift
  a = magnitude * where(tiny, x.const(2.0**shift), where(huge, x.const(2.0**-shift), 1.0))
  # The bits of a subnormal number are it times 2^lowest, as an integer. As a float it may be taken for zero by the processor.
  lowest = form.bias - 1 + form.mantissa
  extra = -lowest % 3
  subnormal = magnitude.bits() < (1 << form.mantissa)
  a = where(subnormal, magnitude.bits().to_float(kind) * 2.0**extra, a)
  bits = a.bits()
  third = Lanes(x.b, x.b.udiv(bits.value, bits.const(3).value))
  y = (third + _THIRD_OFFSET[kind]).floats(kind)
  for _ in range(_STEPS[kind]):
    cube = y * y * y
    y = y - y * (cube - a).over(cube + cube + a)
  back = where(tiny, x.const(2.0 ** -(shift // 3)), where(huge, x.const(2.0 ** (shift // 3)), 1.0))
  y = y * where(subnormal, x.const(2.0 ** (-(lowest + extra) // 3)), back)
  return where((magnitude < INF) & (magnitude.bits() > 0), y, magnitude).copysign(x)

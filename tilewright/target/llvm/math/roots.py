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
  bits = a.bits()
  third = Lanes(x.b, x.b.udiv(bits.value, bits.const(3).value))
  y = (third + _THIRD_OFFSET[kind]).floats(kind)
  for _ in range(_STEPS[kind]):
    cube = y * y * y
    y = y - y * (cube - a).over(cube + cube + a)
  y = y * where(tiny, x.const(2.0 ** -(shift // 3)), where(huge, x.const(2.0 ** (shift // 3)), 1.0))
  # Where the processor takes denormal numbers for zero, the iteration divides zero by zero for them.
  return where((magnitude > 0.0) & (magnitude < INF) & y.equals(y), y, magnitude).copysign(x)

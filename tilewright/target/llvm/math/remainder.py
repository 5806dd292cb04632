"""rem (C's fmod) and nextafter: exact functions."""

from __future__ import annotations

from tilewright.target.llvm.math.lanes import INF, NAN, Lanes, fma, power_of_two, where


def _exponent(x: Lanes) -> Lanes:
  """floor(log2 x) for a positive normal x, and less than that of any for zero and subnormal ones."""
  return x.bits().logical_shift_right(x.format.mantissa) - x.format.bias


def rem(x: Lanes, y: Lanes) -> Lanes:
  """Long division in the base of what fits in a mantissa; usually one digit is all.

  With d = |y| 2^k so large that |x| / d has fewer bits than a mantissa, q = trunc(|x| / d) is the next digit or one more
  than it, and |x| - q d is exact: a multiple of the last bit of d, and smaller than d.

  Where y is so small that a remainder may be subnormal, which the processor may take for zero, the last digits are found with all numbers
  scaled by 2^shift: x modulo |y| 2^shift comes first, and scaled too, that modulo |y| 2^shift again.
  """
  form = x.format
  shift = form.mantissa + 1
  size, divisor = abs(x), abs(y)
  sound = (size < INF) & (divisor > 0.0) & (divisor < INF)
  start = where(sound, size, 0.0)  # lanes with special values have nothing to divide
  divisor = where(sound, divisor, 1.0)
  small = divisor < form.smallest_normal * 2.0**shift
  scale = where(small, x.const(2.0**shift), 1.0)
  divisor = divisor * scale
  rest = _long_division(_long_division(start, divisor) * scale, divisor)

  # What is subnormal once it is scaled back is put together from its bits.
  below = small & (rest < form.smallest_normal * 2.0**shift)
  bits = (where(below, rest, 0.0) * 2.0 ** (form.bias - 1 + form.mantissa - shift)).to_integer()
  rest = where(below, bits.floats(x.kind), rest * where(small, x.const(2.0**-shift), 1.0))
  result = where(size < abs(y), size, rest).copysign(x)
  bad = x.is_nan() | y.is_nan() | size.equals(INF) | y.equals(0.0)
  return where(bad, NAN, where(abs(y).equals(INF), x, result))


def _long_division(start: Lanes, divisor: Lanes) -> Lanes:
  """The remainder of positive numbers, of which the divisor is no less than the smallest normal one."""
  b, form, kind = start.b, start.format, start.kind
  low = _exponent(divisor)
  before = b.block
  head, digit, done = (b.append_basic_block(name) for name in ("rem", "digit", "remainder"))
  b.branch(head)
  b.position_at_end(head)
  phi = b.phi(start.type)
  rest = Lanes(b, phi)
  b.cbranch((rest >= divisor).any(), digit, done)

  b.position_at_end(digit)
  k = _exponent(rest) - low - (form.mantissa - 2)
  k = where(k < 0, k.const(0), k)
  half = k.logical_shift_right(1)
  d = divisor * power_of_two(half, kind) * power_of_two(k - half, kind)  # one factor may be no float
  quotient = (rest / d).trunc()
  after = fma(-quotient, d, rest)
  after = where(after < 0.0, after + d, after)
  phi.add_incoming(start.value, before)
  phi.add_incoming(after.value, b.block)
  b.branch(head)

  b.position_at_end(done)
  return rest


def nextafter(x: Lanes, y: Lanes) -> Lanes:
  """Floats of one sign are ordered as their bits are, so the neighbour is one away.

  All comparisons are of bits: those of floats would take a subnormal number for zero where the processor flushes them.
  """
  form, kind = x.format, x.kind
  bits, sign = x.bits(), x.bits().const(1 << (form.width - 1))
  ordered = lambda b: where(b < 0, sign - b, b)  # as integers; both zeros are 0
  here, there = ordered(bits), ordered(y.bits())
  away = (here < there) ^ (bits < 0)  # from zero
  step = where(away, bits.const(1), bits.const(-1))
  tiny = bits.const(1) | (y.bits() & sign)
  moved = where(here.equals(0), tiny, bits + step).floats(kind)
  return where(x.is_nan() | y.is_nan(), NAN, where(here.equals(there), y, moved))

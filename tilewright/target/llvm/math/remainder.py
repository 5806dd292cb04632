"""rem (C's fmod) and nextafter: exact functions."""

from __future__ import annotations

from tilewright.target.llvm.math.lanes import INF, NAN, Lanes, fma, power_of_two, where


def _exponent(x: Lanes) -> Lanes:
  """floor(log2 x) for a positive x."""
  form = x.format
  denormal = x < form.smallest_normal
  bits = where(denormal, x * 2.0 ** (form.mantissa + 1), x).bits().logical_shift_right(form.mantissa) - form.bias
  return where(denormal, bits - (form.mantissa + 1), bits)


def rem(x: Lanes, y: Lanes) -> Lanes:
  """Long division in the base of what fits in a mantissa; usually one digit is all.

  With d = |y| 2^k so large that |x| / d has fewer bits than a mantissa, q = trunc(|x| / d) is the next digit or one more
  than it, and |x| - q d is exact: a multiple of the last bit of d, and smaller than d.
  """
  b, form, kind = x.b, x.format, x.kind
  divisor = abs(y)
  sound = (abs(x) < INF) & (divisor > 0.0) & (divisor < INF)
  start = where(sound, abs(x), 0.0)  # lanes with special values have nothing to divide
  divisor = where(sound, divisor, 1.0)
  low = _exponent(divisor)

  before = b.block
  head, digit, done = (b.append_basic_block(name) for name in ("rem", "digit", "remainder"))
  b.branch(head)
  b.position_at_end(head)
  phi = b.phi(x.type)
  rest = Lanes(b, phi)
  b.cbranch((rest >= divisor).any(), digit, done)

  b.position_at_end(digit)
  k = _exponent(where(rest > 0.0, rest, divisor)) - low - (form.mantissa - 2)
  k = where(k < 0, k.const(0), where(k > 2 * form.bias, k.const(2 * form.bias), k))  # two normal factors reach that far
  half = k.logical_shift_right(1)
  d = divisor * power_of_two(half, kind) * power_of_two(k - half, kind)
  quotient = (rest / d).trunc()
  after = fma(-quotient, d, rest)
  after = where(after < 0.0, after + d, after)
  phi.add_incoming(start.value, before)
  phi.add_incoming(after.value, b.block)
  b.branch(head)

  b.position_at_end(done)
  result = rest.copysign(x)
  bad = x.is_nan() | y.is_nan() | abs(x).equals(INF) | y.equals(0.0)
  return where(bad, NAN, where(abs(y).equals(INF), x, result))


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

"""Functions of complex numbers as formulas over their real and imaginary parts.

`Real` is a tile with operators: `x * y + 1.0` appends ops to a builder. A `Complex` is two of them, and a row of `FUNCTIONS` takes and
gives complex numbers, so that a formula reads as in a book:

    def _exp(z):  return Complex(exp(z.re) * cos(z.im), exp(z.re) * sin(z.im))

The formulas avoid cancellation, and overflow where the result is finite (Kahan's "Much ado about nothing's sign bit" for the inverse
functions); errors are a few units in the last place of the magnitude. Signed zeros choose the side of a branch cut.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Union

import ml_dtypes
import numpy as np

from tilewright.tile.ir import Builder, Value

Operand = Union["Real", float]


@dataclasses.dataclass(frozen=True)
class Real:
  """A tile of floats, or of bools, with operators."""

  b: Builder
  value: Value

  def _op(self, name: str, *others: Operand) -> Real:
    return Real(self.b, self.b.emit(name, [self.value, *(self.lift(o).value for o in others)]))

  def lift(self, x: Operand) -> Real:
    """A number as a tile like this one."""
    if isinstance(x, Real):
      return x
    tile = self.value.tile
    scalar = self.b.emit("constant", [], value=np.asarray(x, tile.dtype), dtype=tile.dtype)
    return Real(self.b, self.b.emit("broadcast", [scalar], shape=tile.shape, dims=()) if tile.shape else scalar)

  def __add__(self, other: Operand) -> Real:
    return self._op("add", other)

  def __sub__(self, other: Operand) -> Real:
    return self._op("sub", other)

  def __rsub__(self, other: float) -> Real:
    return self.lift(other) - self

  def __mul__(self, other: Operand) -> Real:
    return self._op("mul", other)

  def __truediv__(self, other: Operand) -> Real:
    return self._op("div", other)

  def __rtruediv__(self, other: float) -> Real:
    return self.lift(other) / self

  def __neg__(self) -> Real:
    return self._op("neg")

  def __abs__(self) -> Real:
    return self._op("abs")

  def __lt__(self, other: Operand) -> Real:
    return self._op("lt", other)

  def __gt__(self, other: Operand) -> Real:
    return self._op("gt", other)

  def __ge__(self, other: Operand) -> Real:
    return self._op("ge", other)

  def __and__(self, other: Real) -> Real:
    return self._op("and", other)

  def __or__(self, other: Real) -> Real:
    return self._op("or", other)

  def equals(self, other: Operand) -> Real:
    return self._op("eq", other)

  def differs(self, other: Operand) -> Real:
    return self._op("ne", other)

  def where(self, yes: Operand, no: Operand) -> Real:
    """A choice by a tile of bools."""
    like = yes if isinstance(yes, Real) else no
    assert isinstance(like, Real)
    return Real(self.b, self.b.emit("select", [self.value, like.lift(yes).value, like.lift(no).value]))

  def apply(self, name: str, *others: Operand) -> Real:
    """An elementwise op of the tile IR."""
    return self._op(name, *others)

  @property
  def is_infinite(self) -> Real:
    return abs(self).equals(math.inf)

  def with_sign_of(self, other: Real) -> Real:
    """This magnitude with another's sign, that of a zero included."""
    bits = np.dtype(f"i{other.value.tile.dtype.itemsize}")
    negative = Real(self.b, self.b.emit("bitcast", [other.value], dtype=bits)) < 0
    return negative.where(-abs(self), abs(self))


def _maximum(x: Real, y: Real) -> Real:
  return x.apply("max", y)


def _minimum(x: Real, y: Real) -> Real:
  return x.apply("min", y)


@dataclasses.dataclass(frozen=True)
class Complex:
  """Real and imaginary parts."""

  re: Real
  im: Real

  def __add__(self, other: Complex) -> Complex:
    return Complex(self.re + other.re, self.im + other.im)

  def __sub__(self, other: Complex) -> Complex:
    return Complex(self.re - other.re, self.im - other.im)

  def __neg__(self) -> Complex:
    return Complex(-self.re, -self.im)

  def __mul__(self, other: Complex) -> Complex:
    return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

  def __truediv__(self, other: Complex) -> Complex:
    return _divide(self, other)

  def number(self, re: float, im: float = 0.0) -> Complex:
    """A number as a tile like this one."""
    return Complex(self.re.lift(re), self.re.lift(im))

  def conj(self) -> Complex:
    return Complex(self.re, -self.im)

  def times_i(self) -> Complex:
    return Complex(-self.im, self.re)

  def over_i(self) -> Complex:
    return Complex(self.im, -self.re)

  def scaled(self, factor: Operand) -> Complex:
    return Complex(self.re * factor, self.im * factor)


def choose(condition: Real, yes: Complex, no: Complex) -> Complex:
  return Complex(condition.where(yes.re, no.re), condition.where(yes.im, no.im))


def _precedes(x: Complex, y: Complex) -> Real:
  """The order that XLA gives complex numbers: by their real parts, and by the imaginary ones where those are equal."""
  return (x.re < y.re) | (x.re.equals(y.re) & (x.im < y.im))


# --- arithmetic ----------------------------------------------------------------------------------------------------


def _divide(x: Complex, y: Complex) -> Complex:
  """Smith's method: the smaller part of the divisor is measured in the larger, so that no square overflows."""
  wide = abs(y.re) >= abs(y.im)
  large, small = wide.where(y.re, y.im), wide.where(y.im, y.re)
  ratio = small / large
  scale = large + small * ratio
  re = wide.where(x.re + x.im * ratio, x.re * ratio + x.im) / scale
  im = wide.where(x.im - x.re * ratio, x.im * ratio - x.re) / scale
  # Division by zero is done part by part; finite over infinite is zero.
  by_zero = y.re.equals(0.0) & y.im.equals(0.0)
  infinity = y.re.lift(math.inf).with_sign_of(y.re)
  re, im = by_zero.where(x.re * infinity, re), by_zero.where(x.im * infinity, im)
  vanishes = (y.re.is_infinite | y.im.is_infinite) & (abs(x.re) < math.inf) & (abs(x.im) < math.inf)
  re, im = vanishes.where(0.0, re), vanishes.where(0.0, im)
  # Infinite over finite is infinite, in the direction of the infinite parts.
  far = Complex(*(p.is_infinite.where(p.lift(1.0), 0.0).with_sign_of(p) for p in (x.re, x.im))) * y.conj()
  far = far.scaled(math.inf)
  limited = (abs(y.re) < math.inf) & (abs(y.im) < math.inf) & (y.re.differs(0.0) | y.im.differs(0.0))
  grows = limited & (x.re.is_infinite | x.im.is_infinite)
  return Complex(grows.where(far.re, re), grows.where(far.im, im))


def magnitude(z: Complex) -> Real:
  """The absolute value; infinite where a part is."""
  large, small = _maximum(abs(z.re), abs(z.im)), _minimum(abs(z.re), abs(z.im))
  ratio = small / large
  plain = large * (ratio * ratio + 1.0).apply("sqrt")
  plain = large.equals(0.0).where(0.0, plain)
  return (z.re.is_infinite | z.im.is_infinite).where(math.inf, plain)


def _sign(z: Complex) -> Complex:
  size = magnitude(z)
  return choose(size.equals(0.0), z, Complex(z.re / size, z.im / size))


def integer_power(z: Complex, n: int) -> Complex:
  """By repeated squaring."""
  result, power, left = None, z, abs(n)
  while left:
    if left & 1:
      result = power if result is None else result * power
    left >>= 1
    power = power * power if left else power
  if result is None:
    return z.number(1.0)
  return z.number(1.0) / result if n < 0 else result


# --- exponentials and logarithms -------------------------------------------------------------------------------------


def _exp(z: Complex) -> Complex:
  # Half of the exponent twice: the product with a small cosine may be finite where the exponential is not.
  half = (z.re * 0.5).apply("exp")
  plain = z.re.apply("exp")
  large = plain.is_infinite & (z.re < math.inf)

  def times(part: Real) -> Real:
    return large.where(half * part * half, plain * part)

  real = z.im.equals(0.0)  # exp(inf + 0i) has no part that is inf * 0
  return Complex(real.where(plain, times(z.im.apply("cos"))), real.where(z.im, times(z.im.apply("sin"))))


def _expm1(z: Complex) -> Complex:
  sine = (z.im * 0.5).apply("sin")
  grown = z.re.apply("expm1") * z.im.apply("cos") - sine * sine * 2.0
  real = z.im.equals(0.0)
  return Complex(real.where(z.re.apply("expm1"), grown), _exp(z).im)


def _log_magnitude(z: Complex) -> Real:
  """Near the unit circle from the distance of |z|^2 to 1, elsewhere from |z|, of halves where |z| may be infinite and log |z| is not."""
  large, small = _maximum(abs(z.re), abs(z.im)), _minimum(abs(z.re), abs(z.im))
  near = ((large - 1.0) * (large + 1.0) + small * small).apply("log1p") * 0.5
  huge = large > _largest(large) / 2
  size = magnitude(z.scaled(huge.where(0.5, large.lift(1.0))))
  return ((size > 0.5) & (size < 2.0)).where(near, size.apply("log") + huge.where(math.log(2), large.lift(0.0)))


def _log(z: Complex) -> Complex:
  return Complex(_log_magnitude(z), z.im.apply("atan2", z.re))


def _log1p(z: Complex) -> Complex:
  one_more = Complex(z.re + 1.0, z.im)
  small = (abs(z.re) < 0.5) & (abs(z.im) < 0.5)
  near = (z.re * 2.0 + (z.re * z.re + z.im * z.im)).apply("log1p") * 0.5
  return Complex(small.where(near, _log_magnitude(one_more)), z.im.apply("atan2", one_more.re))


def _logistic(z: Complex) -> Complex:
  one = z.number(1.0)
  return one / (one + _exp(-z))


def power(x: Complex, y: Complex) -> Complex:
  """exp(y log x); zero to a positive power is zero, and to the power of zero is one."""
  general = _exp(y * _log(x))
  zero = x.re.equals(0.0) & x.im.equals(0.0)
  of_zero = choose(y.re.equals(0.0) & y.im.equals(0.0), x.number(1.0), x.number(0.0))
  return choose(zero & (y.re >= 0.0), of_zero, general)


# --- roots -----------------------------------------------------------------------------------------------------------


def _largest(x: Real) -> float:
  return float(ml_dtypes.finfo(x.value.tile.dtype).max)


def _sqrt(z: Complex) -> Complex:
  """The root with a real part that is not negative. Large numbers are scaled down first, small ones up, by powers of four."""
  size = _maximum(abs(z.re), abs(z.im))
  big, tiny = size > _largest(z.re) / 16, size < 16 / _largest(z.re)
  down = big.where(2.0**-4, tiny.where(2.0**40, z.re.lift(1.0)))
  up = big.where(2.0**2, tiny.where(2.0**-20, z.re.lift(1.0)))
  x = z.scaled(down)
  root = ((abs(x.re) + magnitude(x)) * 0.5).apply("sqrt")
  other = abs(x.im) / (root * 2.0)
  right = z.re >= 0.0
  zero = size.equals(0.0)
  re = zero.where(0.0, right.where(root, other) * up)
  im = zero.where(z.im, (right.where(other, root) * up).with_sign_of(z.im))
  # Infinite parts: sqrt(x ± inf i) = inf ± inf i, sqrt(inf + y i) = inf + 0 i, sqrt(-inf + y i) = 0 + inf i.
  far = z.re.is_infinite
  re = z.im.is_infinite.where(math.inf, far.where(right.where(re.lift(math.inf), 0.0), re))
  im = z.im.is_infinite.where(z.im, far.where(right.where(z.im * 0.0, im.lift(math.inf).with_sign_of(z.im)), im))
  return Complex(re, im)


def _rsqrt(z: Complex) -> Complex:
  return z.number(1.0) / _sqrt(z)


# --- trigonometric and hyperbolic --------------------------------------------------------------------------------------


def _sinh(z: Complex) -> Complex:
  real = z.im.equals(0.0)
  re, im = z.re.apply("sinh") * z.im.apply("cos"), z.re.apply("cosh") * z.im.apply("sin")
  return Complex(real.where(z.re.apply("sinh"), re), real.where(z.im, im))


def _cosh(z: Complex) -> Complex:
  real = z.im.equals(0.0)
  re, im = z.re.apply("cosh") * z.im.apply("cos"), z.re.apply("sinh") * z.im.apply("sin")
  return Complex(real.where(z.re.apply("cosh"), re), real.where(z.re.apply("sign") * z.im, im))


def _tanh(z: Complex) -> Complex:
  """Kahan's: with t = tan y and s = sinh x, (1 + t^2) and s keep all terms positive; far out it is ±1."""
  tangent, sine = z.im.apply("tan"), z.re.apply("sinh")
  widened = tangent * tangent + 1.0
  grown = (sine * sine + 1.0).apply("sqrt")
  below = widened * sine * sine + 1.0
  near = Complex(widened * grown * sine / below, tangent / below)
  far = abs(z.re) > 20.0
  decay = (abs(z.re) * -2.0).apply("exp")
  real = z.im.equals(0.0)
  im = far.where(z.im.apply("sin") * z.im.apply("cos") * 4.0 * decay, near.im)
  im = z.re.is_infinite.where(0.0, im)
  re = far.where(z.re.lift(1.0).with_sign_of(z.re), near.re)
  return Complex(real.where(z.re.apply("tanh"), re), real.where(z.im, im))


def _asin(z: Complex) -> Complex:
  minus, plus = _sqrt(Complex(1.0 - z.re, -z.im)), _sqrt(Complex(z.re + 1.0, z.im))
  endless = z.re.is_infinite | z.im.is_infinite
  re = z.re.apply("atan2", endless.where(abs(z.im), (minus * plus).re))
  im = (minus.conj() * plus).im.apply("asinh")
  return Complex(re, endless.where(im.lift(math.inf).with_sign_of(z.im), im))


def _acos(z: Complex) -> Complex:
  minus, plus = _sqrt(Complex(1.0 - z.re, -z.im)), _sqrt(Complex(z.re + 1.0, z.im))
  return Complex(minus.re.apply("atan2", plus.re) * 2.0, (plus.conj() * minus).im.apply("asinh"))


def _acosh(z: Complex) -> Complex:
  minus, plus = _sqrt(Complex(z.re - 1.0, z.im)), _sqrt(Complex(z.re + 1.0, z.im))
  return Complex((minus.conj() * plus).re.apply("asinh"), minus.im.apply("atan2", plus.re) * 2.0)


def _atanh(z: Complex) -> Complex:
  size = abs(z.re)
  apart = 1.0 - size
  below = apart * apart + z.im * z.im
  re = ((size * 4.0 / below).apply("log1p") * 0.25).with_sign_of(z.re)
  im = (z.im * 2.0).apply("atan2", apart * (size + 1.0) - z.im * z.im) * 0.5
  # Far out 1 / z is what is left, and the squares above overflow.
  far = (abs(z.re) > 1e8) | (abs(z.im) > 1e8)
  inverse = z.number(1.0) / z
  quarter = z.im.lift(math.pi / 2).with_sign_of(z.im)
  return Complex(far.where(inverse.re, re), far.where(quarter + inverse.im, im))


def _of_i(f: Callable[[Complex], Complex], back: str) -> Callable[[Complex], Complex]:
  """f(iz) divided by i, or as it is: the trigonometric functions from the hyperbolic ones and the other way round."""
  return lambda z: f(z.times_i()).over_i() if back == "over i" else f(z.times_i())


FUNCTIONS: dict[str, Callable[[Complex], Complex]] = {
  "neg": lambda z: -z,
  "sign": _sign,
  "exp": _exp,
  "exp2": lambda z: _exp(z.scaled(math.log(2))),
  "expm1": _expm1,
  "log": _log,
  "log1p": _log1p,
  "logistic": _logistic,
  "sqrt": _sqrt,
  "rsqrt": _rsqrt,
  "sinh": _sinh,
  "cosh": _cosh,
  "tanh": _tanh,
  "sin": _of_i(_sinh, "over i"),
  "cos": _of_i(_cosh, "as it is"),
  "tan": _of_i(_tanh, "over i"),
  "asin": _asin,
  "acos": _acos,
  "acosh": _acosh,
  "atanh": _atanh,
  "asinh": _of_i(_asin, "over i"),
  "atan": _of_i(_atanh, "over i"),
}
BINARY: dict[str, Callable[[Complex, Complex], Any]] = {
  "add": lambda x, y: x + y,
  "sub": lambda x, y: x - y,
  "mul": lambda x, y: x * y,
  "div": lambda x, y: x / y,
  "pow": power,
  "max": lambda x, y: choose(_precedes(y, x), x, y),
  "min": lambda x, y: choose(_precedes(x, y), x, y),
}
COMPARE: dict[str, Callable[[Complex, Complex], Real]] = {
  "eq": lambda x, y: x.re.equals(y.re) & x.im.equals(y.im),
  "ne": lambda x, y: x.re.differs(y.re) | x.im.differs(y.im),
}

"""The formats, defined a second time with fractions: what a bit pattern stands for, and what a number rounds to."""

from __future__ import annotations

import bisect
import dataclasses
from fractions import Fraction

import numpy as np

INF, NAN = float("inf"), float("nan")


@dataclasses.dataclass(frozen=True)
class Definition:
  """Sign, exponent and mantissa bits; what the exponent counts from; and which patterns are special."""

  width: int
  exponent: int
  mantissa: int
  bias: int
  special: str  # "ieee", "fn", "fnuz", "finite", "int", "e8m0"


DEFINITIONS = {
  "f4e2m1fn": Definition(4, 2, 1, 1, "finite"),
  "f6e2m3fn": Definition(6, 2, 3, 1, "finite"),
  "f6e3m2fn": Definition(6, 3, 2, 3, "finite"),
  "f8e4m3fn": Definition(8, 4, 3, 7, "fn"),
  "f8e5m2": Definition(8, 5, 2, 15, "ieee"),
  "f8e4m3": Definition(8, 4, 3, 7, "ieee"),
  "f8e3m4": Definition(8, 3, 4, 3, "ieee"),
  "f8e4m3fnuz": Definition(8, 4, 3, 8, "fnuz"),
  "f8e5m2fnuz": Definition(8, 5, 2, 16, "fnuz"),
  "f8e4m3b11fnuz": Definition(8, 4, 3, 11, "fnuz"),
  "f8e8m0fnu": Definition(8, 8, 0, 127, "e8m0"),
  "bf16": Definition(16, 8, 7, 127, "ieee"),
  "f16": Definition(16, 5, 10, 15, "ieee"),
  "int8": Definition(8, 0, 7, 0, "int"),
  "int4": Definition(4, 0, 3, 0, "int"),
  "int2": Definition(2, 0, 1, 0, "int"),
}


def value(d: Definition, bits: int) -> Fraction | float:
  """What a pattern stands for: an exact number, or an infinity or NaN."""
  if d.special == "int":
    return Fraction(bits - (1 << d.width if bits >> (d.width - 1) else 0))
  if d.special == "e8m0":
    return NAN if bits == 255 else Fraction(2) ** (bits - 127)
  sign = -1 if bits >> (d.width - 1) else 1
  magnitude = bits & ((1 << (d.width - 1)) - 1)
  e, m = magnitude >> d.mantissa, magnitude & ((1 << d.mantissa) - 1)
  if d.special == "ieee" and e == (1 << d.exponent) - 1:
    return NAN if m else sign * INF
  if d.special == "fn" and magnitude == (1 << (d.width - 1)) - 1:
    return NAN
  if d.special == "fnuz" and sign < 0 and magnitude == 0:
    return NAN
  if e == 0:
    return sign * Fraction(m, 1 << d.mantissa) * Fraction(2) ** (1 - d.bias)
  return sign * (1 + Fraction(m, 1 << d.mantissa)) * Fraction(2) ** (e - d.bias)


class Grid:
  """The finite magnitudes of a format, in order, with their patterns."""

  def __init__(self, name: str):
    self.d = DEFINITIONS[name]
    found: dict[Fraction, int] = {}
    for bits in range(1 << self.d.width):
      v = value(self.d, bits)
      if isinstance(v, Fraction) and v not in found:
        found[v] = bits
    self.values = sorted(found)
    self.bits = [found[v] for v in self.values]

  def neighbours(self, x: Fraction) -> tuple[Fraction, Fraction]:
    """The representable numbers just below (or at) and above a number inside of the range."""
    i = bisect.bisect_right(self.values, x) - 1
    return self.values[i], self.values[min(i + 1, len(self.values) - 1)]

  def nearest(self, x: Fraction) -> Fraction | float:
    """Rounded once, ties to the even pattern (in e8m0: to the larger number); NaN or infinity where it overflows."""
    d = self.d
    low, high = self.values[0], self.values[-1]
    if x < low or x > high:
      edge = high if x > high else low
      step = abs(edge) - abs(self.values[-2] if x > high else self.values[1])
      if d.special == "e8m0":
        return low if 0 < x < low else NAN if x <= 0 or 2 * x >= 3 * high else high
      inside = abs(x) - abs(edge) < step / 2 or (abs(x) - abs(edge) == step / 2 and self._even(edge))
      if inside or d.special in ("finite", "int"):
        return edge
      return (INF if x > 0 else -INF) if d.special == "ieee" else NAN
    below, above = self.neighbours(x)
    if x - below != above - x:
      return below if x - below < above - x else above
    if d.special == "e8m0":
      return above
    return below if self._even(below) else above

  def _even(self, v: Fraction) -> bool:
    return self.bits[self.values.index(v)] % 2 == 0


def fraction(x: float) -> Fraction:
  return Fraction(float(x))


def decision_points(name: str) -> np.ndarray:
  """All float32s at which rounding may change: the representable numbers, the middles between them, and their neighbours."""
  grid = Grid(name)
  values = [np.float32(float(v)) for v in grid.values]
  middles = [np.float32(float((a + b) / 2)) for a, b in zip(grid.values, grid.values[1:])]
  top = grid.values[-1] + (grid.values[-1] - grid.values[-2]) / 2
  points = np.array([*values, *middles, np.float32(float(top)), np.float32(-float(top))], np.float32)
  around = [points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(-np.inf))]
  return np.unique(np.concatenate(around))

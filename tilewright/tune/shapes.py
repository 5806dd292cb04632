"""How far the shapes of two calls are apart, from the text of their arguments."""

from __future__ import annotations

import math
import re

_SHAPE = re.compile(r"\[([\d,]*)\]")


def distance(one: str, other: str) -> float | None:
  """The sum of |log2| of the ratios of sizes; None where anything else than sizes differs.

  `x=f32[512,512] y=f32[512,64]` and `x=f32[512,256] y=f32[256,64]` are 2 apart.
  """
  if _SHAPE.split(one)[::2] != _SHAPE.split(other)[::2]:
    return None
  total = 0.0
  for a, b in zip(_SHAPE.findall(one), _SHAPE.findall(other)):
    first, second = ([int(n) for n in text.split(",") if n] for text in (a, b))
    if len(first) != len(second):
      return None
    total += sum(abs(math.log2((m or 1) / (n or 1))) for m, n in zip(first, second))
  return total

"""How scales are chosen, as data: a recipe names the elements' format, how many share a scale, and the format and rule of the scales.

    MX (OCP Microscaling specification, version 1.0): blocks of 32, a power of two for each
    NVFP4: blocks of 16, an f8e4m3fn for each, and one float32 for the whole array

The rules, for a block whose largest magnitude is `amax` and elements up to `max` = 1.m * 2^emax:

- `floor`: 2^(floor(log2(amax)) - emax), the rule of the OCP specification. Elements above `max * scale` saturate.
- `ceil`: the smallest power of two for which nothing saturates. The rule NVIDIA recommends for training in MXFP8.
- `divide`: amax (/ global scale) / max, rounded to the scales' format. In NVFP4 the global scale is the array's largest magnitude
  / (448 * 6), so that the largest block's scale is the largest f8e4m3fn; elements are x (/ global scale) / the rounded scale. Each of these
  divisions is rounded to float32, as IEEE 754 has it.
"""

from __future__ import annotations

import dataclasses

from tilewright import errors
from tilewright.numerics import formats
from tilewright.numerics.formats import Format, format_of

RULES = ("floor", "ceil", "divide")


@dataclasses.dataclass(frozen=True)
class Recipe:
  """The defaults of `quantize`. A block of None is one scale for all of the axis."""

  name: str
  format: Format
  block: int | None
  scale_format: Format
  rule: str
  global_scale: bool = False


def _mx(name: str, format: Format) -> Recipe:
  return Recipe(name, format, 32, formats.F8E8M0FNU, "floor")


RECIPES: dict[str, Recipe] = {
  r.name: r
  for r in (
    _mx("mxfp8", formats.F8E4M3FN),
    _mx("mxfp8_e5m2", formats.F8E5M2),
    _mx("mxfp6_e2m3", formats.F6E2M3FN),
    _mx("mxfp6_e3m2", formats.F6E3M2FN),
    _mx("mxfp4", formats.F4E2M1FN),
    _mx("mxint8", formats.INT8),
    Recipe("nvfp4", formats.F4E2M1FN, 16, formats.F8E4M3FN, "divide", global_scale=True),
  )
}


def recipe_of(format: object) -> Recipe:
  """A recipe by its name; a format alone means one float32 scale along the axis."""
  if isinstance(format, Recipe):
    return format
  if isinstance(format, str) and format in RECIPES:
    return RECIPES[format]
  try:
    f = format_of(format)
  except errors.NumberFormatError:
    raise errors.NumberFormatError(
      f"format must be a recipe ({', '.join(RECIPES)}) or a number format ({', '.join(formats.FORMATS)}), got {format!r}."
    ) from None
  return Recipe(f.name, f, None, formats.F32, "divide")

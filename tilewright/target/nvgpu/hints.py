"""What users say about layouts, as it goes through the tile IR: text."""

from __future__ import annotations

from typing import Any

from tilewright import errors
from tilewright.layout.algebra import inverse
from tilewright.layout.value import LANE, LANES, REGISTER, WARP, Layout


def layout_text(layout: Any, shape: tuple[int, ...]) -> str:
  """The text of a layout that a tile of a shape can be held in; LayoutError says what is wrong with another."""
  if not isinstance(layout, Layout):
    raise errors.LayoutError(f"layout_cast: layout: expected a tilewright.layout.Layout, got {layout!r}.")
  if layout.shape != shape:
    raise errors.LayoutError(
      f"layout_cast: layout: expected one of a tile of shape {shape}, as x has, got one of shape {layout.shape}."
    )
  if set(layout.names) != {REGISTER, LANE, WARP} or layout.size(LANE) != LANES:
    raise errors.LayoutError(
      f"layout_cast: layout: expected one of registers, {LANES} lanes and warps, got {layout}. See tilewright.layout.build."
    )
  inverse(layout)  # every element has a place, or the error says which has not
  return str(layout)

"""Layouts of every family that there is, for one shape: what the properties of the algebra and of relayouts are tried on."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import strategies as st

from tests.layout.layouts import register_layouts
from tilewright import errors, layout
from tilewright.layout import fragments
from tilewright.layout.options import wgmma_accumulators, wgmma_left_registers

SHAPES = [(64, 32), (64, 64), (128, 16), (16, 64), (48, 24), (33, 20), (7, 5), (128,), (96,), (100,), (4, 16, 8)]


def _tensor_memory(n: int) -> Any:
  """What each way of reading an accumulator of 128 rows from tensor memory gives."""
  for shape in ("32x32b", "16x64b", "16x128b", "16x256b"):
    width = {"32x32b": 1, "16x64b": 2, "16x128b": 4, "16x256b": 8}[shape]
    if n % width == 0:
      access = fragments.tcgen05_access(shape, n // width)
      yield f"tcgen05 {shape}", fragments.read_from_tensor_memory(fragments.tensor_memory(128, n), access)


def _made(shape: tuple[int, ...], num_warps: int) -> Any:
  rank = len(shape)
  if layout.splat(shape, num_warps).num_registers <= 512:
    yield "splat", layout.splat(shape, num_warps)
  for vector in (1, 2, 8):
    with contextlib.suppress(errors.LayoutError):  # it cannot be dealt out evenly
      yield f"strided {vector}", layout.strided(shape, num_warps, vector)
    for order in (list(range(rank)), list(reversed(range(rank)))):
      for whole_rows in (False, True):
        yield f"blocked {vector} {order}", layout.blocked_for(shape, num_warps, vector, order, whole_rows)
  if rank != 2:
    return
  yield from (("wgmma accumulator", own) for own in wgmma_accumulators(shape, num_warps))
  for bits in (8, 16, 32):
    yield from (("wgmma lhs", own) for own in wgmma_left_registers(shape, bits, num_warps))
  ways = [(down, num_warps // down) for down in range(1, num_warps + 1) if num_warps % down == 0]
  for (bits, k), own in fragments.MMA.items():
    for name, fragment in (("a", own.a), ("b", own.b), ("c", own.c)):
      for warps in ways:
        for repeat_first in (False, True):
          yield f"mma {bits} {k} {name} {warps}", layout.repeated(fragment, shape, warps, repeat_first=repeat_first)
  if num_warps == 4 and shape[0] == 128:
    yield from _tensor_memory(shape[1])


_KNOWN: dict[Any, list[Any]] = {}


def made(shape: tuple[int, ...], num_warps: int) -> list[Any]:
  """All layouts of a shape that have a name, with their transposes, and with what a reduction or a broadcast makes of them."""
  key = shape, num_warps
  if key in _KNOWN:
    return _KNOWN[key]
  found = {str(own): (name, own) for name, own in reversed(list(_made(shape, num_warps)))}  # the first name of each
  if len(shape) == 2:
    turned = ((f"transposed {name}", layout.transposed(own, (1, 0))) for name, own in _made(shape[::-1], num_warps))
    found = {str(own): (name, own) for name, own in turned} | found
  if len(shape) == 1:
    for axis, whole in ((1, (*shape, 16)), (0, (16, *shape))):
      rows = ((f"reduced {name}", layout.projected(own, (axis,))) for name, own in _made(whole, num_warps))
      found = {str(own): (name, own) for name, own in rows} | found
  _KNOWN[key] = list(found.values())
  return _KNOWN[key]


@st.composite
def any_layout(draw: Any, shape: tuple[int, ...], num_warps: int) -> Any:
  """One of them, or one in which factors of the shape are dealt out at random."""
  if draw(st.integers(0, 3)) == 0:
    return draw(register_layouts(shape, num_warps))
  return draw(st.sampled_from(made(shape, num_warps)))[1]


@st.composite
def pairs(draw: Any) -> Any:
  shape, num_warps = draw(st.sampled_from(SHAPES)), draw(st.sampled_from([1, 2, 4, 8]))
  return draw(any_layout(shape, num_warps)), draw(any_layout(shape, num_warps))

"""Checks whether an op can be applied to tiles: the sizes of its operands' tiles against its own.

Each tile comes from its own map, so that sets of elements are right by construction; an op on tiles requires
more. A reshape needs a tile of as many elements, an elementwise op tiles of one shape. They differ where a window was
widened to a hull above a reshape, for example. Ops that find their elements by position (pads, concatenations,
windows, convolutions, updates, gathers) have no requirement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tilewright.hlo.ir import Instruction
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.tiling.region import TiledInstruction

_SAME = ELEMENTWISE | {"slice", "reverse", "dynamic-slice", "get-tuple-element", "opt-barrier", "map"}


def mismatch(i: Instruction, sizes: Sequence[int], operands: Sequence[TiledInstruction]) -> str | None:
  """Why the op does not apply to these tiles; None if it does."""
  if any(o.pointwise for o in operands) or len(operands) != len(i.operands):
    return None
  tiles = [o.sizes for o in operands]
  mine = tuple(sizes)
  if i.opcode in _SAME:
    if i.opcode == "bitcast-convert" and i.operands[0].shape.rank != i.shape.rank:
      return None
    fits = all(t == mine for t, o in zip(tiles, i.operands) if o.shape.rank == len(mine) and o.shape.rank)
  elif i.opcode == "broadcast":
    fits = tiles[0] == tuple(mine[d] for d in i.attrs.get("dimensions", ()))
  elif i.opcode == "transpose":
    fits = mine == tuple(tiles[0][d] for d in i.attrs["dimensions"])
  elif i.opcode in ("reshape", "bitcast"):
    fits = math.prod(tiles[0]) == math.prod(mine)
  elif i.opcode == "reduce":
    reduced = i.attrs["dimensions"]
    fits = mine == tuple(n for d, n in enumerate(tiles[0]) if d not in reduced)
  elif i.opcode == "dot":
    fits = mine == _dot_tile(i, tiles[0], tiles[1])
  else:
    return None
  return None if fits else f"tiles of {_text(tiles)} do not make a tile of {_text([mine])}"


def _dot_tile(i: Instruction, left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
  found = [left[d] for d in i.attrs.get("lhs_batch_dims", ())]
  for side, tile in (("lhs", left), ("rhs", right)):
    used = (*i.attrs.get(f"{side}_batch_dims", ()), *i.attrs.get(f"{side}_contracting_dims", ()))
    found += [n for d, n in enumerate(tile) if d not in used]
  return tuple(found)


def _text(tiles: Sequence[Sequence[int]]) -> str:
  return ", ".join("x".join(map(str, t)) or "one element" for t in tiles)

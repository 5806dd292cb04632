"""Tiled regions and the maps behind them as text.

grid 6x1, tile 16x128
%x.1     parameter  f32[96,128]  tile [o0 : 16] [0 : 128]        8.0 KiB  once
"""

from __future__ import annotations

from tilewright.hlo.ir import Computation
from tilewright.hlo.tiling.op_maps import CannotTile, operand_maps
from tilewright.hlo.tiling.predict import elements, runs, working_set
from tilewright.hlo.tiling.region import TiledInstruction, TiledRegion


def tile_text(tiled: TiledInstruction) -> str:
  """`[o0 : 16] [o1 * 2 + 1 : 8 : 2]`: offset, size and stride per dimension."""
  parts = []
  for e, size, stride in zip(tiled.offsets, tiled.sizes, tiled.strides):
    parts.append(f"[{e} : {size}" + (f" : {stride}]" if stride != 1 else "]"))
  text = " ".join(parts) or "scalar"
  return text + (f" per point of {', '.join(f'd{a}' for a in tiled.pointwise)}" if tiled.pointwise else "")


def recomputation(tiled: TiledInstruction, region: TiledRegion) -> float:
  """How many times each element is computed (or, of an input, read), on average over the array."""
  return runs(tiled, region) * elements(tiled, region) / max(tiled.instruction.shape.num_elements, 1)


def region_text(region: TiledRegion) -> str:
  """The grid, the axes, and a line per tiled instruction: its tile, the tile's bytes, how often each element is computed."""
  grid = "x".join(map(str, region.grid)) or "1"
  lines = [
    f"grid {grid}, tile {'x'.join(map(str, region.tile_sizes)) or 'scalar'}, working set {_size(working_set(region))}"
  ]
  for number, axis in enumerate(region.axes):
    where = f"index {axis.dimension} of %{axis.instruction.name}"
    if axis.kind == "loop":
      where = f"loop over reduced {where}"
    lines.append(f"  o{number}: {where}, {axis.size} in steps of {axis.tile}")
  rows = []
  for tiled in region.instructions:
    i = tiled.instruction
    if not i.shape.is_array:
      continue
    rows.append(
      (
        f"%{i.name}",
        i.opcode,
        str(i.shape.without_layout()),
        tile_text(tiled),
        _size(tiled.bytes),
        f"{recomputation(tiled, region):.2f} times" + ("" if tiled.exact else ", with elements not needed"),
      )
    )
  widths = [max(len(row[k]) for row in rows) for k in range(5)] if rows else []
  lines += ["  " + "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths)), row[5]]) for row in rows]
  return "\n".join(lines)


def maps_text(computation: Computation) -> str:
  """The indexing maps of each instruction, on its own."""
  lines = []
  for i in computation.topological_order():
    found = operand_maps(i)
    if isinstance(found, CannotTile):
      lines.append(str(found))
      continue
    for operand, maps in zip(i.operands, found):
      lines += [f"%{i.name} ({i.opcode}) <- %{operand.name}: {m}" for m in maps]
  return "\n".join(lines)


def _size(count: int) -> str:
  return f"{count / 1024:.1f} KiB" if count >= 1024 else f"{count} B"

"""`tilewright hlo FILE --tiling`: indexing maps, symbolic tiles, and the tiled fusions that the finder would make.

The entry computation is treated as one region, fusions opened, if that can be tiled: `--tile` gives the size of an
output tile, else the search picks one. If it cannot be tiled, the reason is printed, and the maps of each
instruction. With `--html`, the page shows which part of each operand an output tile needs.
"""

from __future__ import annotations

import pathlib

from tilewright import hlo
from tilewright.hlo import tiling
from tilewright.hlo.cost import Roofline
from tilewright.hlo.tiling.listing import maps_text, region_text


def run_tiling(module: hlo.Module, tile: str | None, device: str, page: str | None) -> int:
  """Prints, writes the page; returns 1 if the requested tile is not possible."""
  model = Roofline(device)
  budget = tiling.budget_for(model)
  drawn: list[tiling.TiledRegion] = []
  code = 0
  whole = _whole(module.entry)
  if isinstance(whole, tiling.CannotTile):
    print(f"the entry computation as one region: {whole}\n")
    print(maps_text(module.entry))
    code = 1 if tile is not None else 0
  else:
    print(f"the entry computation as one region:\n{whole}\n")
    tiled = _tile(whole, tile, model, budget)
    if isinstance(tiled, tiling.CannotTile):
      print(f"tile {tile or 'of any size'}: {tiled}")
      code = 1 if tile is not None else 0
    else:
      print(region_text(tiled))
      drawn.append(tiled)
  report = tiling.find(module, model, budget)
  print(f"\n{report.explain()}")
  drawn += [f.tiled for f in report.fusions]
  if page:
    from tilewright.viz.tiling_page import render

    notes = [] if drawn else ["nothing in this module can be tiled"]
    pathlib.Path(page).write_text(render(drawn, f"tiles of {module.name}", notes), encoding="utf-8")
  return code


def _whole(entry: hlo.Computation) -> tiling.TileAnalysis | tiling.CannotTile:
  members = [i for i in entry.instructions if i.opcode not in ("parameter", "tuple")]
  region = tiling.region_of(members)
  return region if isinstance(region, tiling.CannotTile) else tiling.tile_analysis(region)


def _tile(
  analysis: tiling.TileAnalysis, tile: str | None, model: Roofline, budget: tiling.Budget
) -> tiling.TiledRegion | tiling.CannotTile:
  if tile is not None:
    return analysis.tiled(parse_tile(tile))
  found = tiling.best_tile(analysis, model, budget)
  return found if isinstance(found, tiling.CannotTile) else found.tiled


def parse_tile(text: str) -> tuple[int, ...]:
  """`32,128` → (32, 128); an error names what is not a positive number."""
  sizes = []
  for part in text.split(",") if text else []:
    if not part.strip().isdecimal() or int(part) < 1:
      raise hlo.HloError(f"--tile takes positive sizes separated by commas, as 32,128; {part.strip()!r} is none")
    sizes.append(int(part))
  return tuple(sizes)

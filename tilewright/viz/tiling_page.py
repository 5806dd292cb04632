"""Drawings of tiles: which part of each operand one output tile needs.

    pathlib.Path("tiles.html").write_text(render([tiled_region]))
    drawing(tiled_region)                  # the same as a piece of HTML, for another page

Each array is drawn as its last two dimensions with the tile filled in; the text below shows the range along every
dimension. Sliders move the tile over the grid, along loops, and set offsets that are known only at run time. No
network, no libraries: it opens from a file.
"""

from __future__ import annotations

import html
import importlib.resources
import itertools
import json
from collections.abc import Sequence
from typing import Any

from tilewright.hlo.tiling import Expr, TiledRegion, Var
from tilewright.hlo.tiling.expr import FloorDiv
from tilewright.hlo.tiling.listing import tile_text

_numbers = itertools.count()
_FREE = ("constant", "tuple", "get-tuple-element")


def render(regions: Sequence[TiledRegion], title: str = "tiles", notes: Sequence[str] = ()) -> str:
  """A page with one drawing per region. `notes` are lines of text below the title."""
  parts = [f"<h2>{html.escape(_heading(r))}</h2>{drawing(r)}" for r in regions]
  lines = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
  head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title></head>'
  body = f"<h1>{html.escape(title)}</h1>{lines}{''.join(parts)}"
  return f'{head}<body style="margin:16px 20px;font-family:system-ui,sans-serif">{body}</body></html>\n'


def drawing(region: TiledRegion, everything: bool = False) -> str:
  """A piece of HTML: the region's operands and outputs, and with `everything` also the intermediate values."""
  data = {"axes": _axes(region), "arrays": _arrays(region, everything)}
  text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/").replace("<!--", "<\\!--")
  piece = importlib.resources.files(__package__).joinpath("tiling.html").read_text(encoding="utf-8")
  return piece.replace("@ID@", f"tiling{next(_numbers)}").replace("@DATA@", text)


def _heading(region: TiledRegion) -> str:
  roots = ", ".join(f"%{o.instruction.name}" for o in region.region.outputs)
  grid = "x".join(map(str, region.grid)) or "1"
  return f"{roots}: tile {'x'.join(map(str, region.tile_sizes)) or 'scalar'}, grid {grid}"


def _axes(region: TiledRegion) -> list[dict[str, Any]]:
  found: list[dict[str, Any]] = []
  for i, axis in enumerate(region.axes):
    what = "offset" if axis.kind == "parallel" else f"step of %{axis.instruction.name}"
    row = {"steps": axis.steps, "tile": axis.tile}
    found.append({"name": f"o{i}", "label": f"{what} o{i}", **row})
  for t, tiled in enumerate(region.instructions):
    for point in tiled.pointwise:
      label = f"d{point} of %{tiled.instruction.name}"
      found.append({"name": f"d{point}@{t}", "label": label, "steps": region.axes[point].size, "tile": 1})
    for i, r in enumerate(tiled.runtime):
      source = region.instructions[r.operand].instruction.name
      label = f"r{i} of %{tiled.instruction.name}, from %{source}"
      low, high = r.bounds
      found.append({"name": f"r{i}@{t}", "label": label, "steps": high - low + 1, "tile": 1, "low": low})
  return found


def _arrays(region: TiledRegion, everything: bool) -> list[dict[str, Any]]:
  found = []
  for k, tiled in enumerate(region.instructions):
    i = tiled.instruction
    role = "root" if k in region.roots else "input" if i.opcode == "parameter" else "mid"
    if not i.shape.is_array or i.opcode in _FREE or (role == "mid" and not everything):
      continue
    name = f"%{i.name} = {i.shape.without_layout()} {i.opcode}"
    dims = [
      {"extent": n, "offset": _json(e, k), "size": size, "stride": stride, "low": low, "high": high}
      for n, e, size, stride, (low, high) in zip(
        i.shape.dimensions, tiled.offsets, tiled.sizes, tiled.strides, tiled.bounds
      )
    ]
    found.append({"name": name, "role": role, "dims": dims, "how": tile_text(tiled)})
  return found[::-1]


def _json(e: Expr, place: int) -> list[Any]:
  terms: list[Any] = [e.constant]
  for atom, factor in e.terms:
    if isinstance(atom, Var):
      name = str(atom) if atom.kind == "o" else f"{atom}@{place}"
      terms.append([factor, name])
    else:
      terms.append([factor, ["//" if isinstance(atom, FloorDiv) else "%", _json(atom.of, place), atom.by]])
  return terms

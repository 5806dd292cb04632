"""An HLO module as one HTML page that needs no network and no libraries.

Each computation is drawn as layers, operands above their users. The page holds the positions and the text of every
instruction as JSON and draws the selected computation. Hovering shows the instruction in full, a click its operands and
users, a double click the computation it calls. The search covers names, opcodes, shapes and op names in all computations.

Positions come from three steps: an instruction's layer is one below its lowest operand; in each layer, instructions are ordered
by the mean place of their neighbours, in a few sweeps down and up; then they are placed side by side. An edge that spans several layers
has a place of its own in each of them (a *bend*), shared by all edges of its source, so that it runs between boxes and not below
them. Scalar constants are written into their users instead of being drawn.
"""

from __future__ import annotations

import html
import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.ir import Computation, Instruction, Module

_CHARACTER, _HEIGHT, _GAP, _LAYER = 7, 52, 14, 92  # pixels
_BEND = 6  # the width of a bend
_MAX_BENDS = 20_000  # of a computation; sources that would need more have straight edges
_SWEEPS = 4
_MAX_TEXT = 4000  # of one instruction: constants can be megabytes


def render(module: Module, title: str | None = None, marks: Mapping[str, tuple[str, str]] | None = None) -> str:
  """The page. `marks` gives instructions, by name, a colour and a note that a click shows."""
  place = {computation: i for i, computation in enumerate(module.computations)}
  computations = [_drawing(computation, place, marks or {}) for computation in module.computations]
  data = {"entry": place[module.entry], "computations": computations}
  text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/").replace("<!--", "<\\!--")
  name = html.escape(title or f"{module.name}: {module.instruction_count} instructions")
  page = importlib.resources.files(__package__).joinpath("hlo_graph.html").read_text(encoding="utf-8")
  return page.replace("@TITLE@", name).replace("@DATA@", text)


def _drawing(
  computation: Computation, place: dict[Computation, int], marks: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
  order = topological_order(computation)
  drawn = [i for i in order if not _is_small_constant(i) or i.is_root]
  number = {instruction: n for n, instruction in enumerate(drawn)}
  x, y, width, bends = layered(drawn)
  nodes = [
    {
      "n": i.name,
      "o": i.opcode,
      "s": str(i.shape),
      "x": round(x[i]),
      "y": y[i] * _LAYER,
      "w": width[i],
      "t": _noted(marks.get(i.name, ("", ""))[1], _short(i.to_text(), _MAX_TEXT)),
      "k": marks.get(i.name, ("", ""))[0],
      "r": int(i.is_root),
      "c": [place[c] for c in i.called_computations],
      "m": i.metadata.op_name if i.metadata is not None else "",
    }
    for i in drawn
  ]

  def edge(source: Instruction, target: Instruction) -> list[Any]:
    between = [round(place) for place in bends.get(source, [])[: max(0, y[target] - y[source] - 1)]]
    return [number[source], number[target], *([between] if between else [])]

  edges = [edge(o, i) for i in drawn for o in dict.fromkeys(i.operands) if o in number]
  waits = [edge(p, i) for i in drawn for p in i.control_predecessors if p in number]
  return {"n": computation.name, "f": int(computation.is_fusion), "v": nodes, "e": edges, "w": waits}


def _is_small_constant(instruction: Instruction) -> bool:
  return instruction.opcode == "constant" and instruction.shape.is_scalar


def _noted(note: str, text: str) -> str:
  return f"{note}\n{text}" if note else text


def _short(text: str, length: int) -> str:
  text = text.strip()
  return text if len(text) <= length else text[: length - 1] + "…"


def label_width(instruction: Instruction) -> int:
  longest = max(len(instruction.opcode) + 2, len(instruction.name) + 1, len(str(instruction.shape)))
  return min(longest, 28) * _CHARACTER + 16


@dataclass(eq=False)
class _Place:
  """A box or a bend in a layer, with its neighbours in the layers above and below."""

  width: int
  above: list[_Place] = field(default_factory=list)
  below: list[_Place] = field(default_factory=list)
  x: float = 0.0

  @property
  def centre(self) -> float:
    return self.x + self.width / 2


def layered(
  drawn: list[Instruction],
) -> tuple[dict[Instruction, float], dict[Instruction, int], dict[Instruction, int], dict[Instruction, list[float]]]:
  """Left edge, layer and width of every instruction, and for each source where its longer edges pass the layers below it. No two in
  one layer overlap; operands are in higher layers.
  """
  inside = set(drawn)
  needs = {i: [o for o in dict.fromkeys((*i.operands, *i.control_predecessors)) if o in inside] for i in drawn}
  layer: dict[Instruction, int] = {}
  last: dict[Instruction, int] = {}  # the lowest layer with a user
  for instruction in drawn:
    layer[instruction] = 1 + max((layer[o] for o in needs[instruction]), default=-1)
    for operand in needs[instruction]:
      last[operand] = max(last.get(operand, 0), layer[instruction])
  rows: list[list[_Place]] = [[] for _ in range(1 + max(layer.values(), default=-1))]
  boxes = {i: _Place(label_width(i)) for i in drawn}
  for instruction, box in boxes.items():
    rows[layer[instruction]].append(box)
  chains = _bends(boxes, layer, last, rows)
  for instruction, box in boxes.items():
    for operand in needs[instruction]:
      passed = chains.get(operand, [])[: layer[instruction] - layer[operand] - 1]
      _link(passed[-1] if passed else boxes[operand], box)
  _arrange(rows)
  left = min((place.x for row in rows for place in row), default=0)
  return (
    {i: box.x - left for i, box in boxes.items()},
    layer,
    {i: box.width for i, box in boxes.items()},
    {i: [bend.centre - left for bend in chain] for i, chain in chains.items()},
  )


def _bends(
  boxes: dict[Instruction, _Place],
  layer: dict[Instruction, int],
  last: dict[Instruction, int],
  rows: list[list[_Place]],
) -> dict[Instruction, list[_Place]]:
  """A place in every layer between a source and its lowest user."""
  chains: dict[Instruction, list[_Place]] = {}
  left = _MAX_BENDS
  for source, lowest in last.items():
    between = range(layer[source] + 1, lowest)
    if 0 < len(between) <= left:
      left -= len(between)
      chains[source] = [_Place(_BEND) for _ in between]
      for number, above, bend in zip(between, [boxes[source], *chains[source]], chains[source]):
        rows[number].append(bend)
        _link(above, bend)
  return chains


def _link(above: _Place, below: _Place) -> None:
  above.below.append(below)
  below.above.append(above)


def _arrange(rows: list[list[_Place]]) -> None:
  """Orders every row by the mean place of its neighbours, a few times down and up."""
  for row in rows:
    at = 0.0
    for place in row:
      place.x = at
      at += place.width + _GAP
  for sweep in range(_SWEEPS):
    for row in rows if sweep % 2 == 0 else reversed(rows):
      centre: dict[_Place, float] = {}
      for place in row:
        near = place.above if sweep % 2 == 0 else place.below
        centre[place] = sum(n.centre for n in near) / len(near) if near else place.centre
      row.sort(key=centre.__getitem__)
      _set_side_by_side(row, centre)


def _set_side_by_side(row: list[_Place], centre: dict[_Place, float]) -> None:
  """As near to the wished centres as the order allows: pushed right where they overlap, then the row as a whole back."""
  at = float("-inf")
  for place in row:
    place.x = max(at, centre[place] - place.width / 2)
    at = place.x + place.width + _GAP
  shift = sum(place.centre - centre[place] for place in row) / max(len(row), 1)
  for place in row:
    place.x -= shift

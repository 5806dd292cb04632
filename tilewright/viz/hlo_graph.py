"""An HLO module as one HTML page: no network, no libraries.

Each computation is drawn as layers, operands above their users. The page holds the positions and the text of every
instruction as JSON and draws the computation that is chosen; hovering shows the instruction in full, a click its operands and
users, a double click the computation it calls. The search finds names, opcodes, shapes and op names in all computations.

Positions come from three steps: an instruction's layer is one below its lowest operand; in each layer, instructions are ordered
by the mean place of their neighbours, a few times down and up; then they are set side by side. Scalar constants are written
into their users instead of being drawn.
"""

from __future__ import annotations

import html
import importlib.resources
import json
from collections.abc import Mapping
from typing import Any

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.ir import Computation, Instruction, Module

_CHARACTER, _HEIGHT, _GAP, _LAYER = 7, 38, 14, 72  # pixels
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
  x, y, width = layered(drawn)
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
  edges = [[number[o], number[i]] for i in drawn for o in dict.fromkeys(i.operands) if o in number]
  waits = [[number[p], number[i]] for i in drawn for p in i.control_predecessors if p in number]
  return {"n": computation.name, "f": int(computation.is_fusion), "v": nodes, "e": edges, "w": waits}


def _is_small_constant(instruction: Instruction) -> bool:
  return instruction.opcode == "constant" and instruction.shape.is_scalar


def _noted(note: str, text: str) -> str:
  return f"{note}\n{text}" if note else text


def _short(text: str, length: int) -> str:
  text = text.strip()
  return text if len(text) <= length else text[: length - 1] + "…"


def label_width(instruction: Instruction) -> int:
  longest = max(len(instruction.opcode) + 2, len(_short(instruction.name, 28)), len(_short(str(instruction.shape), 28)))
  return min(longest, 28) * _CHARACTER + 16


def layered(
  drawn: list[Instruction],
) -> tuple[dict[Instruction, float], dict[Instruction, int], dict[Instruction, int]]:
  """Left edge, layer and width of every instruction. No two in one layer overlap; operands are in higher layers."""
  inside = set(drawn)
  layer: dict[Instruction, int] = {}
  for instruction in drawn:
    needs = [o for o in (*instruction.operands, *instruction.control_predecessors) if o in inside]
    layer[instruction] = 1 + max((layer[o] for o in needs), default=-1)
  rows: list[list[Instruction]] = [[] for _ in range(1 + max(layer.values(), default=-1))]
  for instruction in drawn:
    rows[layer[instruction]].append(instruction)
  width = {i: label_width(i) for i in drawn}
  x = _side_by_side(rows, width)
  for sweep in range(_SWEEPS):
    for row in rows if sweep % 2 == 0 else reversed(rows):
      centre: dict[Instruction, float] = {}
      for i in row:
        near = [n for n in (i.operands if sweep % 2 == 0 else i.users) if n in inside]
        own = x[i] + width[i] / 2
        centre[i] = sum(x[n] + width[n] / 2 for n in near) / len(near) if near else own
      row.sort(key=centre.__getitem__)
      _place(row, centre, x, width)
  left = min(x.values(), default=0)
  return {i: x[i] - left for i in drawn}, layer, width


def _side_by_side(rows: list[list[Instruction]], width: dict[Instruction, int]) -> dict[Instruction, float]:
  x: dict[Instruction, float] = {}
  for row in rows:
    at = 0.0
    for instruction in row:
      x[instruction] = at
      at += width[instruction] + _GAP
  return x


def _place(
  row: list[Instruction], centre: dict[Instruction, float], x: dict[Instruction, float], width: dict[Instruction, int]
) -> None:
  """As near to the wished centres as the order allows: pushed right where they overlap, then the row as a whole back."""
  at = float("-inf")
  for i in row:
    x[i] = max(at, centre[i] - width[i] / 2)
    at = x[i] + width[i] + _GAP
  if row:
    shift = sum(x[i] + width[i] / 2 - centre[i] for i in row) / len(row)
    for i in row:
      x[i] -= shift

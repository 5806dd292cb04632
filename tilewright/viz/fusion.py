"""A drawing of a fused kernel: the kernel as a box, inside it the operations fused into it, around it
its operands and results.

    explanation = tilewright.fusing.explain_fusion(f, *args, kernel=ops.matmul)
    svg(explanation)      a drawing
    html(explanation)     a page with the drawing and the text

The page loads nothing from the network.
"""

from __future__ import annotations

import html as escape

from tilewright.pallas.fuser.into import Explanation, FusedPart, Operand

_WIDTH, _COLUMN, _ROW, _GAP = 1000, 300, 20, 14  # pixels
_ARRAY, _INSIDE, _KERNEL, _OUTSIDE = "#dbeafe", "#dcfce7", "#fef9c3", "#fee2e2"


def svg(explanation: Explanation) -> str:
  """The drawing: input arrays on the left, the kernel in the middle, output arrays on the right."""
  before = [p for p in explanation.pieces if p.place != "result"]
  after = [p for p in explanation.pieces if p.place == "result"]
  parts: list[str] = []
  y = 40
  for piece in before:
    y = _piece(parts, piece, y)
  parts.append(_box(350, y, _COLUMN, 34, _KERNEL, [f"{explanation.kernel}   grid {explanation.grid}"]))
  y += 34 + _GAP
  for piece in after:
    y = _piece(parts, piece, y)
  frame = f'<rect x="335" y="26" width="330" height="{y - 26 - _GAP // 2}" fill="none" stroke="#64748b" stroke-dasharray="4"/>'
  for out in explanation.outside:
    text = [f"outside: {out.operation.name} ({out.operation.type})", out.why[:90]]
    parts.append(_box(350, y, 640, 2 * _ROW + 6, _OUTSIDE, text))
    y += 2 * _ROW + 6 + _GAP
  title = _text(350, 18, f"one kernel; {explanation.saved_bytes:,} bytes less to write and read")
  style = "font: 12px ui-monospace, monospace"
  return (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y + 10}" style="{style}">'
    f"{frame}{title}{''.join(parts)}</svg>"
  )


def html(explanation: Explanation, title: str = "what was fused") -> str:
  """A page with the drawing and the same as text."""
  text = escape.escape(str(explanation))
  return (
    f"<!doctype html><html><head><meta charset='utf-8'><title>{escape.escape(title)}</title></head>"
    "<body style='font-family: "
    f"system-ui'><h1>{escape.escape(title)}</h1>{svg(explanation)}<pre>{text}</pre></body></html>"
  )


def _piece(parts: list[str], piece: FusedPart, y: int) -> int:
  """Draws a prologue or the epilogue; returns the y coordinate below it."""
  lines = [
    f"{piece.place}: saves {piece.saved_bytes:,} bytes",
    *(f"{o.name}: {o.type}" for o in piece.operations),
  ]
  height = len(lines) * _ROW + 8
  written = piece.arrays[-1:] if piece.place == "result" else ()
  read = piece.arrays[: len(piece.arrays) - len(written)]
  parts.append(_box(350, y, _COLUMN, height, _INSIDE, lines))
  side = y
  for array in read:
    parts.append(_array(10, side, array))
    parts.append(_arrow(310, side + 20, 350))
    side += 2 * _ROW + 8 + 6
  other = y
  for array in written:
    parts.append(_array(690, other, array))
    parts.append(_arrow(650, other + 20, 690))
    other += 2 * _ROW + 8 + 6
  return max(y + height, side, other) + _GAP


def _array(x: int, y: int, array: Operand) -> str:
  return _box(x, y, _COLUMN, 2 * _ROW + 6, _ARRAY, [array.type, array.cut])


def _box(x: int, y: int, width: int, height: int, fill: str, lines: list[str]) -> str:
  rect = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{fill}" stroke="#94a3b8"/>'
  return rect + "".join(_text(x + 8, y + 16 + i * _ROW, line) for i, line in enumerate(lines))


def _text(x: int, y: int, text: str) -> str:
  return f'<text x="{x}" y="{y}">{escape.escape(text)}</text>'


def _arrow(x0: int, y: int, x1: int) -> str:
  return f'<path d="M{x0} {y} H{x1} m-6 -4 l6 4 l-6 4" fill="none" stroke="#475569"/>'

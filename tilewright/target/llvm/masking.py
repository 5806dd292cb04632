"""Masked stores: `store(ref, select(mask, new, load(ref)))` writes only the elements where the mask holds.

The other elements are not written back, as another instance may have changed them since they were read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import Index
from tilewright.target.llvm.memory import Memory
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType


def written_where(code: Any, op: Op, memory: Memory) -> tuple[Value, Value] | None:
  """A mask and what a store writes where it holds; None if it writes all elements, or the ref has changed since the load."""
  ref, value, *starts = op.operands
  select = value.owner
  if not isinstance(select, Op) or select.name != "select" or value in code.env:
    return None
  mask, new, old = select.operands
  load = old.owner
  if not isinstance(load, Op) or load.name != ("window_load" if starts else "load") or load.operands != [ref, *starts]:
    return None
  if {**load.attrs, "cache": ""} != {**op.attrs, "cache": ""}:
    return None
  ops = code.current.ops
  if not isinstance(mask.type, TileType) or mask.type.shape != value.tile.shape or load not in ops:
    return None
  between = ops[ops.index(load) + 1 : ops.index(op)]
  return None if any(memory.base in code.bases_written(o) for o in between) else (mask, new)


def store_where(
  code: Any,
  memory: Memory,
  mask: Value,
  new: Value,
  write: Callable[[list[Index], ir.Value, ir.Value], None],
  **how: Any,
) -> None:
  """Write the elements that a mask chooses: `write(index, value, chosen)` does so for some of them; `how` is for `code.nest`."""
  for v in (mask, new):
    if memory.base in code.bases_read(v):
      code.materialise(v)

  def each(index: list[Index], lanes: int) -> None:
    value, chosen = (code.value_at(v, index, lanes) for v in (new, mask))
    write(index, value, chosen)

  code.nest(new.tile.shape, each, reads=[new, mask], **how)

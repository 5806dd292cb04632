"""Stores of some elements only: `store(ref, select(mask, new, load(ref)))`, the others of which are not touched.

What a mask leaves out is not written back, as another instance may have changed it since it was read.
"""

from __future__ import annotations

from typing import Any

from tilewright.target.llvm.memory import Memory
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType

_LOADS = {"store": "load", "window_store": "window_load"}


def written_where(code: Any, op: Op, memory: Memory) -> tuple[Value, Value] | None:
  """A mask and what a store writes where it holds; None if it writes all elements, or what stood there has changed since."""
  ref, value, *starts = op.operands
  select = value.owner
  if not isinstance(select, Op) or select.name != "select" or value in code.env:
    return None
  mask, new, old = select.operands
  load = old.owner
  if not isinstance(load, Op) or load.name != _LOADS[op.name] or load.operands != [ref, *starts]:
    return None
  if {**load.attrs, "cache": ""} != {**op.attrs, "cache": ""}:
    return None
  ops = code.current.ops
  if not isinstance(mask.type, TileType) or mask.type.shape != value.tile.shape or load not in ops:
    return None
  between = ops[ops.index(load) + 1 : ops.index(op)]
  return None if any(memory.base in code.bases_written(o) for o in between) else (mask, new)

"""Gathers and scatters by a CTA.

A gather is computed where its elements are needed, by the thread that needs them, once its array and its positions lie in memory. A scatter
is done by all threads, see `atomics`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.target.llvm import gather_scatter
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.ops import atomics, sorting, user_asm
from tilewright.tile.ir import Op
from tilewright.tile.types import RefType, TileType

Statement = Callable[[BlockCode, Op], None]


def _in_memory(code: BlockCode, op: Op) -> set[Any]:
  """Materialise an op's operands in memory; returns the memory it reads."""
  reads: set[Any] = set()
  for v in op.operands:
    if isinstance(v.type, TileType) and not v.type.is_scalar:
      behind = gather_scatter.memory_behind(code, v)
      reads.add((code.in_memory(v) if behind is None else behind).base)
    elif isinstance(v.type, RefType):
      view = views.view_of(code.memory_of(v))
      assert not view.has_edges, "such a block is copied, see `blocks`"
      reads.add(view.base)
  return reads


def gather(code: BlockCode, op: Op) -> None:
  """Prepare a gather's operands; its elements are computed where they are needed."""
  _in_memory(code, op)


def scatter(code: BlockCode, op: Op) -> None:
  result = op.results[0]
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  code.fill(memory, op.operands[0])
  atomics.scatter_into(code, op, memory)
  code.env[result] = memory
  if result.tile.is_scalar:
    code.sync({memory.base}, set())
    code.env[result] = code.load(memory, [], 1)


def scatter_store(code: BlockCode, op: Op) -> None:
  atomics.scatter_into(code, op, views.view_of(code.accessed(op)))


STATEMENTS: dict[str, Statement] = {
  "gather": gather,
  "gather_load": gather,
  "scatter": scatter,
  "scatter_store": scatter_store,
  "sort": sorting.sort,
  "top_k": sorting.top_k,
  "atomic": atomics.atomic,
  "barrier": lambda code, op: code.barrier(),
  "inline_asm": user_asm.inline_asm,
}

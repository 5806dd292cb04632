"""Gathers, scatters and sorts by a block of threads.

A gather is computed where its elements are needed, by the thread that needs them, once its array and its positions lie in memory. Scatters
and sorts go element after element in an order that matters, so one thread carries them out, as on the CPU, while the others wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright import errors
from tilewright.target.llvm import gathering, sorting
from tilewright.target.llvm.loops import if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import views
from tilewright.target.nvgpu.code import BlockCode
from tilewright.tile.ir import Op
from tilewright.tile.types import RefType, TileType

Statement = Callable[[BlockCode, Op], None]


def _in_memory(code: BlockCode, op: Op) -> set[Any]:
  """Put the tiles an op takes into memory; gives what it reads."""
  reads: set[Any] = set()
  for v in op.operands:
    if isinstance(v.type, TileType) and not v.type.is_scalar:
      behind = gathering.memory_behind(code, v)
      reads.add((code.in_memory(v) if behind is None else behind).base)
    elif isinstance(v.type, RefType):
      view = views.view_of(code.memory_of(v))
      assert not view.has_edges, "such a block is copied, see `blocks`"
      reads.add(view.base)
  return reads


def gather(code: BlockCode, op: Op) -> None:
  """Make ready what a gather reads; its elements are computed where they are needed."""
  _in_memory(code, op)


def _by_one_thread(rule: Callable[[Any, Op], None]) -> Statement:
  def statement(code: BlockCode, op: Op) -> None:
    if any(isinstance(r.type, TileType) and r.type.is_scalar for r in op.results):
      raise errors.NativeCodeError(
        f"The GPU target does not compile '{op.name}' of a scalar, at {op.loc}. Use interpret=True."
      )
    reads = _in_memory(code, op)
    writes = {code.memory_of(v).base for v in op.operands[:1] if isinstance(v.type, RefType)}
    code.sync(reads, writes)
    with if_then(code.b, code.b.icmp_unsigned("==", code.thread, I32(0))), code.scope(), code.alone():
      rule(code, op)
    code.written |= writes | {code.env[r].base for r in op.results}

  return statement


STATEMENTS: dict[str, Statement] = {
  "gather": gather,
  "gather_load": gather,
  "scatter": _by_one_thread(gathering.scatter),
  "scatter_store": _by_one_thread(gathering.scatter_store),
  "sort": _by_one_thread(sorting.sort),
}

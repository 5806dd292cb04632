"""Gathers, scatters and sorts by a block of threads.

A gather is computed where its elements are needed, by the thread that needs them, once its array and its positions lie in memory. A scatter
that combines is done by all threads, with atomic operations. One that replaces, and a sort, go element after element in an order that
matters, so one thread carries them out, as on the CPU, while the others wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.target.llvm import gathering, selecting, sorting
from tilewright.target.llvm.loops import if_then
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu import assembly, atomics, views
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
  """A rule for the CPU, which leaves its results in memory."""

  def statement(code: BlockCode, op: Op) -> None:
    reads = _in_memory(code, op)
    writes = {code.memory_of(v).base for v in op.operands[:1] if isinstance(v.type, RefType)}
    code.sync(reads, writes)
    with if_then(code.b, code.b.icmp_unsigned("==", code.thread, I32(0))), code.scope(), code.alone():
      rule(code, op)
    code.written |= writes | {code.env[r].base for r in op.results}
    _load_scalars(code, op)

  return statement


def _load_scalars(code: BlockCode, op: Op) -> None:
  for result in op.results:
    if result.tile.is_scalar:
      memory = code.memory_of(result)
      code.sync({memory.base}, set())
      code.env[result] = code.load(memory, [], 1)


def _replacing(code: Any, op: Op) -> None:
  result = op.results[0]
  code.env[result] = code.allocate(result.tile.shape, result.tile.dtype)
  gathering.scatter_to(code, op, code.env[result])


def scatter(code: BlockCode, op: Op) -> None:
  if op.attrs["kind"] == "set":
    _by_one_thread(_replacing)(code, op)
    return
  result = op.results[0]
  memory = code.allocate(result.tile.shape, result.tile.dtype)
  code.fill(memory, op.operands[0])
  atomics.scatter_into(code, op, memory)
  code.env[result] = memory
  _load_scalars(code, op)


def scatter_store(code: BlockCode, op: Op) -> None:
  if op.attrs["kind"] == "set":
    _by_one_thread(gathering.scatter_store)(code, op)
    return
  atomics.scatter_into(code, op, views.view_of(code.memory_of(op.operands[0])))


STATEMENTS: dict[str, Statement] = {
  "gather": gather,
  "gather_load": gather,
  "scatter": scatter,
  "scatter_store": scatter_store,
  "sort": _by_one_thread(sorting.sort),
  "top_k": _by_one_thread(selecting.top_k),
  "atomic": atomics.atomic,
  "barrier": lambda code, op: code.barrier(),
  "inline_asm": assembly.inline_asm,
}

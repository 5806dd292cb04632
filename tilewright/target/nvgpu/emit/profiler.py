"""The in-kernel profiler: one thread of each warpgroup records when spans of its code begin and end.

    with code.span("wait", "full barrier of stage", loc):      what is emitted inside is a span; nothing is emitted without a profiler
      mbarrier.wait(b, …)

Records lie behind the log and the scratch memory, for each CTA and each 128 threads (a *track*):

    header    globaltimer and clock at the begin, both at the end, number of records, SM     64 bytes
    record    2 * mark + (1 if the span ends), ticks of the SM's clock since the begin       8 bytes, `space` times

A record is one predicated store, so that a mark adds no control flow between asynchronous instructions. What finds no room is counted.
`%clock` counts cycles of one SM; `%globaltimer` is the same on all SMs and coarse. `host.profile` combines the two.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I8, I32, I64, PTR
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef
from tilewright.target.nvgpu.emit.units import system_scope, threads
from tilewright.target.nvgpu.emit.units.inline_ptx import effect
from tilewright.target.nvgpu.host.profile import HEADER_BYTES, RECORD_BYTES, Mark, Records
from tilewright.target.nvgpu.host.profile import TRACK_THREADS as TRACK
from tilewright.target.nvgpu.ir.ops import COPY_ASYNC, COPY_WAIT, MMA, MMA_WAIT, STORE_ASYNC
from tilewright.tile.ir import Op

NO_SPAN: contextlib.AbstractContextManager[None] = contextlib.nullcontext()

# The thread records if it has room: all but one of each track have none.
_RECORD = (
  "{ .reg .pred p; .reg .b32 t; mov.u32 t, %clock; sub.u32 t, t, $1; setp.lt.u32 p, $3, $4;"
  " @p st.global.v2.b32 [$0], {$2, t}; }"
)


class Profiler:
  """The marks of a kernel that is being emitted. `begin` and `end` enclose all of its code."""

  def __init__(self, b: ir.IRBuilder, space: int):
    """At the entry of the kernel."""
    self.b, self.space = b, space
    self.marks: dict[Mark, int] = {}
    self.room = b.alloca(PTR)  # the track's records; filled at the end, when it is known where they lie
    self.count = b.alloca(I32)
    b.store(I32(0), self.count)
    self.thread = threads.thread_id(b)
    self.records = b.icmp_unsigned("==", b.urem(self.thread, I32(TRACK)), I32(0))
    self.limit = b.select(self.records, I32(space), I32(0))
    self.entered: tuple[str, ...] = ()

  def begin(self) -> None:
    b = self.b
    self.started = system_scope.now(b), _read(b, I64, "clock64")
    self.ticks = b.trunc(self.started[1], I32)

  def end(self) -> None:
    b = self.b
    with if_then(b, self.records):
      ended = system_scope.now(b), _read(b, I64, "clock64")
      sm = b.zext(_read(b, I32, "smid"), I64)
      place = b.load(self.room, typ=PTR)
      for n, value in enumerate((*self.started, *ended, b.zext(b.load(self.count, typ=I32), I64), sm)):
        b.store(value, b.gep(place, [i64(n)], source_etype=I64), align=8)

  def records_of(self, num_threads: int) -> Records:
    return Records(tuple(self.marks), -(-num_threads // TRACK), self.space)

  def place(self, start: ir.Value, num_threads: int) -> None:
    """Say where the records of all CTAs begin: at the end of the entry."""
    b, found = self.b, self.records_of(num_threads)
    track = b.add(b.mul(threads.block_id(b), I32(found.tracks)), b.udiv(self.thread, I32(TRACK)))
    own = b.mul(b.zext(track, I64), i64(found.track_bytes))
    b.store(b.gep(start, [own], source_etype=I8), self.room)

  def record(self, mark: Mark, *, ends: bool = False) -> None:
    b = self.b
    number = self.marks.setdefault(mark, len(self.marks))
    count = b.load(self.count, typ=I32)
    offset = b.add(b.mul(b.zext(count, I64), i64(RECORD_BYTES)), i64(HEADER_BYTES))
    place = b.ptrtoint(b.gep(b.load(self.room, typ=PTR), [offset], source_etype=I8), I64)
    args = [place, self.ticks, I32(2 * number + ends), count, self.limit]
    effect(b, _RECORD, args)
    b.store(b.add(count, I32(1)), self.count)

  @contextlib.contextmanager
  def span(self, mark: Mark) -> Iterator[None]:
    self.record(mark)
    yield
    self.record(mark, ends=True)

  # --- scopes of the user (`jax.named_scope`) ----------------------------------------------------------------------

  @contextlib.contextmanager
  def scopes(self) -> Iterator[None]:
    """Around the ops of a block: scopes that begin inside end there."""
    outer, self.entered = self.entered, ()
    yield
    self.enter_scopes(())
    self.entered = outer

  def enter_scopes(self, wanted: tuple[str, ...]) -> None:
    """Leave the scopes of the block that do not hold the next op, and enter those that do."""
    shared = 0
    while self.entered[: shared + 1] == wanted[: shared + 1] and shared < min(len(self.entered), len(wanted)):
      shared += 1
    for name in reversed(self.entered[shared:]):
      self.record(Mark("scope", name), ends=True)
    for name in wanted[shared:]:
      self.record(Mark("scope", name))
    self.entered = wanted


def scopes_of(op: Op) -> tuple[str, ...]:
  """The scopes around an op in its block, outermost first."""
  return getattr(op.loc, "scopes", ())


# What an op that has a rule of its own does; others only compute addresses, or hold blocks.
_LANES = {
  **dict.fromkeys(("await", "meet", MMA_WAIT, COPY_WAIT), "wait"),
  **dict.fromkeys((COPY_ASYNC, "copy", "gather", "gather_load"), "load"),
  **dict.fromkeys((STORE_ASYNC, "scatter", "scatter_store"), "store"),
  **dict.fromkeys(
    ("reduce", "arg_reduce", "cumulative", "sort", "dot", MMA, "concatenate", "pad", "dynamic_update_slice"), "compute"
  ),
}


def lane_of(code: Any, op: Op) -> str | None:
  """What kind of work an op is. A store computes what it stores; it is one where that goes to global memory."""
  to = code.env.get(op.operands[0]) if op.operands else None
  if code.contraction is not None and (op.name == "dot" or isinstance(to, RegisterRef)):
    return None  # the step of a pipeline, which marks what it waits for and multiplies
  if op.name in ("store", "window_store"):
    return "store" if getattr(to, "in_global", False) else "compute"
  return _LANES.get(op.name)


def _read(b: ir.IRBuilder, kind: ir.IntType, register: str) -> ir.Value:
  return effect(b, f"mov.u{kind.width} $0, %{register};", [], kind, in_order=False)

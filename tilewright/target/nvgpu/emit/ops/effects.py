"""Semaphores, checks, printing and sleeping on the GPU.

All threads of a CTA take the same control flow through a body, so each keeps its own copy of every semaphore, and the copies agree without
a barrier. Where an index is static the copies are registers, and LLVM often sees that a wait never fails.

Prints and failed checks go to a log in global memory, which the launcher reads when the kernel is done (`device_log`): the numbers and
values of what is printed, and the number of the first check that failed with the instance it failed in. A CTA whose check fails ends.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import semaphores
from tilewright.target.llvm.loops import Index, for_range, i64, if_then
from tilewright.target.llvm.types import I8, I32, I64
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.ops.told import told_by_first
from tilewright.target.nvgpu.emit.units import system_scope, threads
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.host import device_log
from tilewright.target.nvgpu.host.device_log import Report
from tilewright.tile.ir import Op
from tilewright.tile.types import dense_strides

SharedCounters = TypeVar("SharedCounters", bound=View)

_UNROLLED = 64  # semaphores that are set to zero one by one
_NAP = 1_000_000  # nanoseconds that one instruction may sleep at most


class Log:
  """The log of a kernel that is being written: where it is, how much of it is used, and what its numbers mean."""

  def __init__(self, b: ir.IRBuilder, pointer: ir.Value, report: Report):
    self.pointer, self.report = pointer, report
    self.used, self.dropped = b.alloca(I64), b.alloca(I64)  # the same in all threads
    for slot in (self.used, self.dropped):
      b.store(i64(0), slot)

  def word(self, b: ir.IRBuilder, number: int) -> ir.Value:
    return b.gep(self.pointer, [i64(4 * number)], source_etype=I8)


# --- failing -----------------------------------------------------------------------------------------------------


def fail_unless(
  code: BlockCode, condition: ir.Value, message: str, shape: tuple[int, ...] = (), element: ir.Value | None = None
) -> None:
  """End the CTA if a condition does not hold; of several messages the launch's first one is kept.

  `element` is the number of the element of a shape for which it does not.
  """
  b, log = code.b, code.error
  with if_then(b, b.not_(condition), ends=True):
    with if_then(b, threads.is_first(b, code.thread)):
      failed = log.word(b, device_log.FAILED)
      before = b.cmpxchg(failed, I32(0), I32(1), "monotonic", "monotonic")
      with if_then(b, b.extract_value(before, 1)):
        position = code.instance.indices if code.instance is not None else ()
        words = [I32(log.report.message(message, shape)), element if element is not None else I32(0)]
        words += [I32(len(position)), *position]
        for number, word in enumerate(words[: device_log.HEADER_WORDS - device_log.MESSAGE]):
          b.store(word, log.word(b, device_log.MESSAGE + number), align=4)
    code.stop()


def _check(code: BlockCode, op: Op) -> None:
  condition, *element = (code.scalar(v) for v in op.operands)
  fail_unless(code, condition, op.attrs["message"], tuple(op.attrs.get("shape", ())), *element)


def counters(code: BlockCode, shape: tuple[int, ...]) -> View:
  """Semaphores, at zero."""
  count = max(1, math.prod(shape))
  with code.b.goto_entry_block():
    pointer = code.b.alloca(I32, size=count)
  memory = View(pointer, dense_strides(shape), np.dtype(np.int32), object())
  clear(code, memory, count)
  return memory


def shared_counter(
  code: BlockCode, op: Op, kind: type[SharedCounters]
) -> tuple[SharedCounters, ir.Value, list[ir.Value]] | None:
  """The memory of a semaphore of a kind, the pointer to its counter, and the amount that an op has; else the op is carried out as for
  semaphores that each thread counts for itself."""
  memory, rest = code.memory_of(op.operands[0]), op.operands[1:]
  if not isinstance(memory, kind):
    STATEMENTS[op.name](code, op)
    return None
  amount, index = ([], rest) if op.name == "read_semaphore" else (rest[:1], rest[1:])
  pointer = views.address(code.b, memory, [Index(code.scalar_index(i)) for i in index])[0]
  values = [(code.scalar(v), v) for v in amount]
  return memory, pointer, [own if own.type == I32 else code.b.trunc(code.scalar_index(v), I32) for own, v in values]


def clear(code: BlockCode, memory: View, count: int) -> None:
  """Set counters to zero."""
  flat = View(memory.pointer, (1,), memory.dtype, memory.base)
  if count <= _UNROLLED:
    for number in range(count):
      code.store(flat, [Index(number)], I32(0))
  else:
    with for_range(code.b, 0, count) as i:
      code.store(flat, [Index(i)], I32(0))


# --- the world ---------------------------------------------------------------------------------------------------


def _print(code: BlockCode, op: Op) -> None:
  """Append the values to the log, each at a multiple of sixteen bytes, behind the number of what is printed."""
  b, log = code.b, code.error
  site = log.report.print(op.attrs["fmt"], [v.tile for v in op.operands])
  values = [code.scalar(v) if v.tile.is_scalar else code.in_memory(v) for v in op.operands]
  code.sync({v.base for v in values if isinstance(v, View)}, set())
  total = device_log.record_bytes([v.tile for v in op.operands])
  used = b.load(log.used, typ=I64) if code.groups == 1 else _claim(code, total)
  fits = b.icmp_unsigned("<=", b.add(used, i64(total)), i64(device_log.RECORDS_BYTES))
  place = b.gep(log.pointer, [b.add(used, i64(device_log.HEADER_BYTES))], source_etype=I8)
  with if_then(b, fits), code.scope():
    with if_then(b, threads.is_first(b, code.thread)):
      b.store(I32(site), place, align=4)
    offset = device_log.ALIGNED
    for v, value in zip(op.operands, values):
      at = b.gep(place, [i64(offset)], source_etype=I8)
      target = View(at, dense_strides(v.tile.shape), v.tile.dtype, object(), align=16)
      offset += device_log.padded(v.tile)
      if isinstance(value, View):
        _copy(code, v.tile.shape, value, target)
      else:
        with if_then(b, threads.is_first(b, code.thread)):
          code.store(target, [], value)
  if code.groups > 1:
    return
  b.store(b.select(fits, b.add(used, i64(total)), used), log.used)
  b.store(b.add(b.load(log.dropped, typ=I64), b.zext(b.not_(fits), I64)), log.dropped)
  with if_then(b, threads.is_first(b, code.thread)):
    for number, slot in ((device_log.USED, log.used), (device_log.DROPPED, log.dropped)):
      b.store(b.trunc(b.load(slot, typ=I64), I32), log.word(b, number), align=4)


def _claim(code: BlockCode, total: int) -> ir.Value:
  """Claim room for a record in a log that several warpgroups share: how much was used before. Who finds no room gives back what it took;
  meanwhile nobody else finds any either, so that records follow each other."""
  b, log = code.b, code.error

  def claim() -> ir.Value:
    used = b.atomic_rmw("add", log.word(b, device_log.USED), I32(total), "monotonic")
    with if_then(b, b.icmp_unsigned(">", b.add(used, I32(total)), I32(device_log.RECORDS_BYTES))):
      b.atomic_rmw("sub", log.word(b, device_log.USED), I32(total), "monotonic")
      b.atomic_rmw("add", log.word(b, device_log.DROPPED), I32(1), "monotonic")
    return used

  return b.zext(told_by_first(code, claim), I64)


def _copy(code: BlockCode, shape: tuple[int, ...], source: View, target: View) -> None:
  if 0 not in shape:
    code.each_step(
      code.distribution(shape),
      lambda index, lanes, step: code.store(target, index, code.load(source, index, lanes)),
    )


def _print_layout(code: BlockCode, op: Op) -> None:
  """Say at once how a tile is held; the code does nothing."""
  print(op.attrs["fmt"].format(code.layout_of(op.operands[0]) or "in memory, row by row"))


def _delay(code: BlockCode, op: Op) -> None:
  """Sleep until the device's clock has moved on so far; one instruction sleeps for a millisecond at most."""
  b = code.b
  code.settle_memory()  # so that all threads are done sleeping before what follows
  end = b.add(system_scope.now(b), code.scalar_index(op.operands[0]))
  look, sleep, done = (b.append_basic_block(name) for name in ("delay", "delay.sleep", "delay.done"))
  b.branch(look)
  b.position_at_end(look)
  left = b.sub(end, system_scope.now(b))
  b.cbranch(b.icmp_signed(">", left, i64(0)), sleep, done)
  b.position_at_end(sleep)
  nap = b.select(b.icmp_signed("<", left, i64(_NAP)), left, i64(_NAP))
  system_scope.nap(b, b.trunc(nap, I32))
  b.branch(look)
  b.position_at_end(done)


STATEMENTS: dict[str, Any] = {
  **semaphores.statements(counters, fail_unless),
  "check": _check,
  "print": _print,
  "print_layout": _print_layout,
  "delay": _delay,
}

"""Semaphores as plain counters: all users of one run sequentially in one thread, so a wait is satisfied at once or never.

A target says what counters are and what it means to fail; the rest is here:

    STATEMENTS = {**semaphores.statements(new_counters, fail_unless), …}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.loops import Index
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import SemaphoreArrayType

NewCounters = Callable[[Any, tuple[int, ...]], Memory]  # int32, at zero
FailUnless = Callable[[Any, ir.Value, str], None]


def statements(new_counters: NewCounters, fail_unless: FailUnless) -> dict[str, Callable[[Any, Op], None]]:
  """The rows of a target's table."""

  def alloc(code: Any, op: Op) -> None:
    type_ = op.results[0].type
    assert isinstance(type_, SemaphoreArrayType)
    code.env[op.results[0]] = new_counters(code, type_.shape)

  def wait(code: Any, op: Op) -> None:
    semaphore, amount, *index = op.operands
    memory, place = _counter(code, semaphore, index)
    count, needed = code.load(memory, place, 1), _amount(code, amount)
    fail_unless(code, code.b.icmp_signed(">=", count, needed), op.attrs["message"])
    if op.attrs["decrement"]:
      code.store(memory, place, code.b.sub(count, needed))

  return {"alloc_semaphores": alloc, "signal": _signal, "wait": wait, "read_semaphore": _read}


def _counter(code: Any, semaphore: Value, index: list[Value]) -> tuple[Memory, list[Index]]:
  return code.memory_of(semaphore), [Index(code.scalar_index(i)) for i in index]


def _amount(code: Any, v: Value) -> ir.Value:
  value = code.scalar(v)
  return value if value.type == I32 else code.b.trunc(code.scalar_index(v), I32)


def _signal(code: Any, op: Op) -> None:
  semaphore, amount, *index = op.operands
  memory, place = _counter(code, semaphore, index)
  code.store(memory, place, code.b.add(code.load(memory, place, 1), _amount(code, amount)))


def _read(code: Any, op: Op) -> None:
  semaphore, *index = op.operands
  memory, place = _counter(code, semaphore, index)
  code.env[op.results[0]] = code.load(memory, place, 1)

"""Semaphores, checks, printing and sleeping.

An instance that fails leaves a message in the state of its call and returns; instances that have not begun do not begin, and the handler
gives XLA an error with that message. Semaphores are plain counters: whoever shares one runs in the same thread.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.runtime import printing
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Code, Memory
from tilewright.target.llvm.loops import Index, i64
from tilewright.target.llvm.types import I8, I32, I64, PTR, VOID
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.types import SemaphoreArrayType

_FAILING = frozenset({"wait", "check"})


def can_fail(block: Block) -> bool:
  return any(op.name in _FAILING for op in walk(block))


def text_pointer(module: ir.Module, text: str) -> ir.Value:
  """A zero-terminated string in the module's read-only data."""
  raw = bytearray(text.encode() + b"\0")
  data = ir.Constant(ir.ArrayType(I8, len(raw)), raw)
  variable = ir.GlobalVariable(module, data.type, module.get_unique_name("text"))
  variable.initializer, variable.global_constant, variable.linkage = data, True, "internal"
  return variable.bitcast(PTR)


def fail_unless(code: Code, condition: ir.Value, message: str) -> None:
  """Leave the instance if a condition does not hold; of several messages the call's first one stays."""
  b = code.b
  failed, on = b.append_basic_block("failed"), b.append_basic_block("on")
  b.cbranch(condition, on, failed)
  b.position_at_end(failed)
  address = b.ptrtoint(text_pointer(b.module, message), I64)
  b.cmpxchg(code.error, i64(0), address, "seq_cst", "seq_cst")
  b.ret_void()
  b.position_at_end(on)


def _check(code: Code, op: Op) -> None:
  fail_unless(code, code.scalar(op.operands[0]), op.attrs["message"])


# --- semaphores --------------------------------------------------------------------------------------------------


def semaphores(code: Code, ty_: SemaphoreArrayType) -> Memory:
  """Counters, at zero."""
  memory = code.allocate(ty_.shape, np.int32)
  code.nest(
    ty_.shape, lambda index, lanes: code.store(memory, index, ty.constant(ty.register_type(memory.dtype, lanes), 0))
  )
  return memory


def _alloc_semaphores(code: Code, op: Op) -> None:
  type_ = op.results[0].type
  assert isinstance(type_, SemaphoreArrayType)
  code.env[op.results[0]] = semaphores(code, type_)


def _counter(code: Code, semaphore: Value, index: list[Value]) -> tuple[Memory, list[Index]]:
  return code.memory_of(semaphore), [Index(code.scalar_index(i)) for i in index]


def _amount(code: Code, v: Value) -> ir.Value:
  value = code.scalar(v)
  return value if value.type == I32 else code.b.trunc(code.scalar_index(v), I32)


def _signal(code: Code, op: Op) -> None:
  semaphore, amount, *index = op.operands
  memory, place = _counter(code, semaphore, index)
  code.store(memory, place, code.b.add(code.load(memory, place, 1), _amount(code, amount)))


def _wait(code: Code, op: Op) -> None:
  semaphore, amount, *index = op.operands
  memory, place = _counter(code, semaphore, index)
  count, needed = code.load(memory, place, 1), _amount(code, amount)
  fail_unless(code, code.b.icmp_signed(">=", count, needed), op.attrs["message"])
  if op.attrs["decrement"]:
    code.store(memory, place, code.b.sub(count, needed))


def _read_semaphore(code: Code, op: Op) -> None:
  semaphore, *index = op.operands
  memory, place = _counter(code, semaphore, index)
  code.env[op.results[0]] = code.load(memory, place, 1)


# --- the world ---------------------------------------------------------------------------------------------------


def _external(code: Code, name: str, result: Any, args: list[Any]) -> ir.Function:
  found = code.b.module.globals.get(name)
  return found or ir.Function(code.b.module, ir.FunctionType(result, args), name)


def _print(code: Code, op: Op) -> None:
  """Call back into Python with what to print: how, and where the values are."""
  b = code.b
  values = []
  for v in op.operands:
    memory = code.allocate(v.tile.shape, v.tile.dtype)
    code.fill(memory, v)
    values.append(memory.pointer)
  pointers = code.allocate((len(values),), np.int64).pointer
  for position, pointer in enumerate(values):
    b.store(pointer, b.gep(pointers, [i64(position)], source_etype=PTR))
  types = [(v.tile.dtype.name, list(v.tile.shape)) for v in op.operands]
  text = text_pointer(b.module, json.dumps({"format": op.attrs["fmt"], "values": types}))
  b.call(_external(code, printing.symbol(), VOID, [PTR, PTR]), [text, pointers])


def _delay(code: Code, op: Op) -> None:
  b = code.b
  span = code.allocate((2,), np.int64).pointer
  nanoseconds = code.scalar_index(op.operands[0])
  second = i64(1_000_000_000)
  for position, value in enumerate((b.sdiv(nanoseconds, second), b.srem(nanoseconds, second))):
    b.store(value, b.gep(span, [i64(position)], source_etype=I64))
  # A negative span is refused by the system, and nothing is waited for.
  b.call(_external(code, "nanosleep", I32, [PTR, PTR]), [span, ir.Constant(PTR, None)])


STATEMENTS = {
  "alloc_semaphores": _alloc_semaphores,
  "signal": _signal,
  "wait": _wait,
  "read_semaphore": _read_semaphore,
  "check": _check,
  "print": _print,
  "delay": _delay,
}

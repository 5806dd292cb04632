"""Semaphores, checks, printing and sleeping.

An instance that fails stores a message in the state of its call and returns; instances that have not started are skipped, and the handler
returns an error with that message to XLA. All users of a semaphore run in the same thread.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.runtime import printing
from tilewright.target.llvm import semaphores as counting
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Code
from tilewright.target.llvm.frame import external, text_pointer
from tilewright.target.llvm.loops import i64
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32, I64, PTR, VOID
from tilewright.tile.control import NO_LAYOUT
from tilewright.tile.ir import Block, Op, walk

_FAILING = frozenset({"wait", "check", "await", "meet"})
_DIGITS = 11  # of a number, and its sign


def can_fail(block: Block) -> bool:
  return any(op.name in _FAILING for op in walk(block))


def fail_unless(
  code: Code, condition: ir.Value, message: str, shape: tuple[int, ...] = (), element: ir.Value | None = None
) -> None:
  """Return from the instance if a condition does not hold; of several messages the call's first one is kept.

  `element` is the number of the element of a shape for which it does not.
  """
  b = code.b
  failed, on = b.append_basic_block("failed"), b.append_basic_block("on")
  b.cbranch(condition, on, failed)
  b.position_at_end(failed)
  b.cmpxchg(code.error, i64(0), _failure_text(code, message, shape, element), "seq_cst", "seq_cst")
  b.ret_void()
  b.position_at_end(on)


def _failure_text(code: Code, message: str, shape: tuple[int, ...], element: ir.Value | None) -> ir.Value:
  """The address of a message, with the index of the failing element. Its memory is never freed: the call has failed."""
  b = code.b
  numbers: list[ir.Value] = []
  form = message.replace("%", "%%")
  if element is not None:
    for size in reversed(shape):
      numbers.insert(0, b.urem(element, I32(size)))
      element = b.udiv(element, I32(size))
    form += printing.ELEMENT.format(", ".join(["%d"] * len(shape)))
  if code.instance is not None and code.instance.indices:
    numbers += code.instance.indices
    form += printing.INSTANCE.format(", ".join(["%d"] * len(code.instance.indices)))
  if not numbers:
    return b.ptrtoint(text_pointer(b.module, message), I64)
  size = i64(len(form.encode()) + _DIGITS * len(numbers))
  buffer = b.call(_external(code, "malloc", PTR, [I64]), [size])
  write = external(b.module, "snprintf", I32, [PTR, I64, PTR], var_arg=True)
  b.call(write, [buffer, size, text_pointer(b.module, form), *numbers])
  return b.ptrtoint(buffer, I64)


def _check(code: Code, op: Op) -> None:
  condition, *element = (code.scalar(v) for v in op.operands)
  fail_unless(code, condition, op.attrs["message"], tuple(op.attrs.get("shape", ())), *element)


def semaphores(code: Code, shape: tuple[int, ...]) -> Memory:
  """Counters, initialised to zero."""
  memory = code.allocate(shape, np.int32)
  clear(code, memory, shape)
  return memory


def clear(code: Code, memory: Memory, shape: tuple[int, ...]) -> None:
  """Set counters to zero."""
  code.nest(
    shape, lambda index, lanes: code.store(memory, index, ty.constant(ty.register_type(memory.dtype, lanes), 0))
  )


# --- the world ---------------------------------------------------------------------------------------------------


def _external(code: Code, name: str, result: Any, args: list[Any]) -> ir.Function:
  found = code.b.module.globals.get(name)
  return found or ir.Function(code.b.module, ir.FunctionType(result, args), name)


def _print(code: Code, op: Op) -> None:
  """Call back into Python to print: passes the format and the addresses of the values."""
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
  **counting.statements(semaphores, fail_unless),
  "check": _check,
  "print": _print,
  "print_layout": lambda code, op: print(op.attrs["fmt"].format(NO_LAYOUT)),
  "delay": _delay,
}

"""Index tables: where each trip of a loop writes, as the value of an index in every trip, computed from the counter.

    j = select(i < 3, 4 - i, i)   over trips i = 0 … 4   →   [4, 3, 2, 3, 4]

Known are the counter, slots that start at a constant and never change or grow by a constant, integers that are constants, and integer
arithmetic on those.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.hlo.passes.while_loops import Counter, Loop, Value, is_invariant, step_of

_COMPARED: dict[str, Callable[..., np.ndarray]] = {
  "LT": np.less,
  "LE": np.less_equal,
  "GT": np.greater,
  "GE": np.greater_equal,
  "EQ": np.equal,
  "NE": np.not_equal,
}


def _truncated(a: np.ndarray, b: np.ndarray) -> np.ndarray:
  return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


_ARITHMETIC: dict[str, Callable[..., np.ndarray]] = {
  "add": np.add,
  "subtract": np.subtract,
  "multiply": np.multiply,
  "maximum": np.maximum,
  "minimum": np.minimum,
  "negate": np.negative,
  "abs": np.abs,
  "sign": np.sign,
  "and": np.bitwise_and,
  "or": np.bitwise_or,
  "xor": np.bitwise_xor,
  "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
  "select": np.where,
  "divide": _truncated,
  "remainder": lambda a, b: a - b * _truncated(a, b),
}
_SAME = frozenset({"convert", "reshape", "bitcast", "broadcast", "copy"})


def index_table(loop: Loop, value: Value, counter: Counter) -> np.ndarray | None:
  """The value of a single number in every trip; None where it does not follow from the counter."""
  instruction = value.instruction
  if instruction is loop.parameter and not value.frames and len(value.path) == 1:
    return _slot_table(loop, value.path[0], counter)
  constant = value.constant
  if constant is not None and constant.size == 1:
    return _number(constant)
  if value.path or not instruction.shape.is_array or instruction.shape.num_elements != 1:
    return None
  operands = [index_table(loop, value.operand(i), counter) for i in range(len(instruction.operands))]
  tables = [t for t in operands if t is not None]
  if len(tables) < len(operands) or not tables:
    return None
  opcode = instruction.opcode
  if opcode == "compare":
    return np.asarray(_COMPARED[str(instruction.attrs["direction"])](*tables)).astype(np.int64)
  if opcode == "not":
    return 1 - tables[0] if instruction.shape.kind == "pred" else _wrapped(~tables[0], instruction.shape.dtype)
  if opcode in _SAME:
    return _wrapped(tables[0], instruction.shape.dtype)
  if opcode in ("divide", "remainder") and not np.all(tables[1]):
    return None
  operation = _ARITHMETIC.get(opcode)
  if operation is None:
    return None
  return _wrapped(np.asarray(operation(*tables)), instruction.shape.dtype)


def _slot_table(loop: Loop, slot: int, counter: Counter) -> np.ndarray | None:
  if slot == counter.slot:
    return counter.values()
  initial = loop.initial(slot).constant
  start = None if initial is None or initial.size != 1 else _number(initial)
  if start is None or is_invariant(loop, slot):
    return start
  step = step_of(loop, slot)
  dtype = loop.instruction.shape.tuple_shapes[slot].dtype
  return None if step is None else _wrapped(start + step * np.arange(counter.trips, dtype=np.int64), dtype)


def _number(constant: np.ndarray) -> np.ndarray | None:
  """An integer; None for what is no integer, or above all signed ones."""
  if constant.dtype.kind not in "iub":
    return None
  return _wrapped(constant.reshape(()), constant.dtype)


def _wrapped(table: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
  kind = np.dtype(dtype).kind
  if kind == "b":
    return (table != 0).astype(np.int64)
  if kind not in "iu":
    return None
  wrapped = table.astype(dtype)
  return wrapped.astype(np.int64) if np.all(wrapped <= np.iinfo(np.int64).max) else None

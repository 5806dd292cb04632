"""Code of long chains of elementwise ops (`passes.elementwise_chains`): each element to the end before the next begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.passes.elementwise_chains import LOOPED, cost
from tilewright.tile.ir import Op, Value


def leaves(code: Any, v: Value) -> list[Value]:
  """What is at hand, or found in other ways, of all that a value of a chain is computed from."""
  return _unfolded(code, v)[1]


def is_looped(code: Any, v: Value) -> bool:
  """Whether a pass that computes a value from memory shall be a loop. What is so long has enough to do in each step, and written out for
  all of them it would be more than ptxas keeps apart, and than the cache for instructions holds."""
  if v not in code.chains.ops or v in code.env:
    return False
  ops, begins = _unfolded(code, v)
  return cost(ops) >= LOOPED and all(
    _is_uniform(code, o) or (o not in code.env and isinstance(o.owner, Op) and o.owner.name == "load") for o in begins
  )


def _unfolded(code: Any, v: Value) -> tuple[list[Op], list[Value]]:
  """The ops of a chain that are yet to be carried out, in order, and the values that they begin with."""
  ops: Mapping[Value, Op] = code.chains.ops
  order: dict[Op, None] = {}
  begins: dict[Value, None] = {}
  waiting = [(v, False)]
  while waiting:
    at, is_ready = waiting.pop()
    if at not in ops or at in code.env:
      begins[at] = None
    elif is_ready:
      order[ops[at]] = None
    elif ops[at] not in order:
      waiting.append((at, True))
      waiting += [(o, False) for o in reversed(ops[at].operands)]
  return list(order), list(begins)


def compute(code: Any, v: Value, index: Sequence[Index], lanes: int) -> ir.Value:
  """The elements of a value of a chain at an index, one after another."""
  b = code.b
  order, begins = _unfolded(code, v)
  given = {o: code.value_at(o, index, 1 if _is_uniform(code, o) else lanes) for o in begins}
  parts = []
  for n in range(lanes):
    own = {o: b.extract_element(x, I32(n)) if isinstance(x.type, ir.VectorType) else x for o, x in given.items()}
    for op in order:
      with code.marked(op):
        own[op.results[0]] = code.compute(op, [own[o] for o in op.operands])
    parts.append(own[v])
  return ty.joined(b, parts)


def _is_uniform(code: Any, v: Value) -> bool:
  """Whether all elements of a tile are the same: one is then asked for, a constant as such."""
  op = v.owner
  if v in code.env or not isinstance(op, Op):
    return False
  if op.name == "constant":
    value = np.asarray(op.attrs["value"])
    return bool(value.ndim == 0 or (value == value.flat[0]).all())
  return op.name == "broadcast" and op.operands[0].tile.is_scalar

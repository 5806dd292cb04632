"""Long chains of elementwise ops: each element is computed to the end before the next begins.

A thread has several vectors of a tile, of eight elements each. Computing op by op for all of them keeps one number per element live, for
each value that an op needs later, and a thread has few registers:

    x0 = ..., x1 = ..., y0 = f(x0), y1 = f(x1), z0 = g(x0, y0), z1 = g(x1, y1)      op by op
    x0 = ..., y0 = f(x0), z0 = g(x0, y0), x1 = ..., y1 = f(x1), z1 = g(x1, y1)      element by element

Nor is a value between the ops materialised for the whole tile where all its uses end in one pass: that pass has it in registers.
Very long chains are a loop over the vectors that a thread has. Short ones stay as they are: op by op leaves more to do at a time, and
packs conversions.

docs/benchmarks.md ("Choices of the GPU target") has the measurements.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from tilewright.target.llvm.math import FUNCTIONS
from tilewright.tile.ir import Block, Op, Value, users, walk
from tilewright.tile.ops import BINARY, COMPARE, UNARY

_ELEMENTWISE = frozenset({*UNARY, *BINARY, *COMPARE, "is_finite", "integer_pow", "select", "convert", "threefry"})
# Functions that are long polynomials: all but those for which there are instructions (`emit.ops.arithmetic`).
LENGTHY = FUNCTIONS.keys() - {"exp", "exp2", "logistic", "tanh", "rsqrt"}
_ENDS = frozenset({"store", "reduce"})  # ops that carry out one pass over what they take
# Instructions of an op, about.
_COSTS = {
  **dict.fromkeys(LENGTHY, 44),
  **{"pow": 130, "lgamma": 200, "digamma": 170, "threefry": 60, "expm1": 30, "nextafter": 25, "sqrt": 14, "convert": 0},
}
_COST = 2
_LONG = 44
LOOPED = 100  # instructions of a chain that is a loop


@dataclasses.dataclass(frozen=True)
class Chains:
  """The values of long chains, each with its op, and which of them, and of what they begin with, are needed in one pass only."""

  ops: Mapping[Value, Op] = dataclasses.field(default_factory=dict)
  passing: frozenset[Value] = frozenset()


def find(body: Block, num_threads: int) -> Chains:
  """The long chains of a kernel, of tiles of which a thread has several elements."""
  ops: dict[Value, Op] = {}
  for end in walk(body):
    if _is_link(end, num_threads):
      continue
    for root in end.operands:
      chain = {} if root in ops else _chain(root, num_threads)
      if cost(chain.values()) >= _LONG:
        ops.update(chain)
  begins = {o for op in ops.values() for o in op.operands if isinstance(o.owner, Op) and o.owner.name == "load"}
  return Chains(ops, frozenset(_passing(body, ops, begins.union(ops)) if ops else ()))


def cost(ops: Iterable[Op]) -> int:
  return sum(_COSTS.get(op.name, _COST) for op in ops)


def _is_link(op: Op, num_threads: int) -> bool:
  if op.name not in _ELEMENTWISE:
    return False
  tile = op.results[0].tile
  return tile.dtype.kind != "c" and tile.size > num_threads


def _chain(root: Value, num_threads: int) -> dict[Value, Op]:
  """The elementwise ops that a value is computed by, by their results."""
  found: dict[Value, Op] = {}
  waiting = [root]
  while waiting:
    v = waiting.pop()
    if v not in found and isinstance(v.owner, Op) and _is_link(v.owner, num_threads):
      found[v] = v.owner
      waiting += v.owner.operands
  return found


def _passing(body: Block, links: Mapping[Value, Op], candidates: set[Value]) -> set[Value]:
  """Those of some values with which all that is computed ends in one pass, in the block that they are defined in."""
  used = users(body)
  home = {op: block for block in (body, *(b for op in walk(body) for b in op.blocks)) for op in block.ops}
  ends: dict[Value, set[Op]] = {}
  found = set()
  for op in reversed(list(walk(body))):
    for v in candidates.intersection(op.results):
      ends[v] = set()
      for user in used.get(v, ()):
        continues = home[user] is home[op] and len(user.results) == 1 and user.results[0] in links
        ends[v] |= ends[user.results[0]] if continues else {user}
      if len(ends[v]) == 1 and all(end.name in _ENDS and home[end] is home[op] for end in ends[v]):
        found.add(v)
  return found

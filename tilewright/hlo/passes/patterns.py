"""Patterns over instructions, and rewriting with tables of them.

    ("subtract", "x", "x")              a subtract of one value from itself
    ("add", "x", zero)                  commutative opcodes match either way round
    ("transpose", ("transpose", "x"))   nested

A string binds whatever is at that position (the same string, the same instruction); a function is a condition on it; a tuple is an
opcode with its operands. A `Rule` pairs a pattern with a rewrite, `Match -> Instruction | None`: None refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.passes.tuple_simplifier import has_control_edges
from tilewright.hlo.passes.while_loops import remove_dead
from tilewright.hlo.shape import Layout, Shape

Pattern = str | Callable[[Instruction], bool] | tuple[Any, ...]
COMMUTATIVE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor", "mulhi"})


# Wider types hold every value of the narrower ones, so there and back is the identity.
HOLDS: dict[str, frozenset[str]] = {
  "f32": frozenset({"f16", "bf16", "f8e5m2", "f8e4m3fn", "s8", "u8", "s16", "u16", "pred"}),
  "f64": frozenset({"f32", "f16", "bf16", "s8", "u8", "s16", "u16", "s32", "u32", "pred"}),
  "s32": frozenset({"s16", "u16", "s8", "u8", "pred"}),
  "s64": frozenset({"s32", "u32", "s16", "u16", "s8", "u8", "pred"}),
  "u32": frozenset({"u16", "u8", "pred"}),
  "u64": frozenset({"u32", "u16", "u8", "pred"}),
  "s16": frozenset({"s8", "u8", "pred"}),
}


@dataclass(slots=True)
class Match:
  """What a pattern found: `match["x"]`, and `match.root`, the instruction that matched as a whole."""

  root: Instruction
  bound: dict[str, Instruction] = field(default_factory=dict)

  def __getitem__(self, name: str) -> Instruction:
    return self.bound[name]

  def new(self, opcode: str, operands: Sequence[Instruction], shape: Shape | None = None, **attrs: Any) -> Instruction:
    """An instruction in front of the root; the root's shape unless another is given."""
    computation = self.root.parent
    assert computation is not None
    made = Instruction(opcode, opcode, shape or self.root.shape, tuple(operands), attrs, self.root.metadata)
    return computation.insert(made, before=self.root)

  def constant(self, value: Any) -> Instruction:
    """A constant of the root's shape, every element `value`."""
    shape = self.root.shape
    scalar = Shape(shape.element_type, (), Layout())
    made = self.new("constant", (), scalar, literal=Literal(scalar, np.asarray(value).astype(shape.dtype)))
    return self.new("broadcast", (made,), dimensions=()) if shape.rank else made


@dataclass(frozen=True, slots=True)
class Rule:
  name: str
  pattern: Pattern
  rewrite: Callable[[Match], Instruction | None]


def match(pattern: Pattern, instruction: Instruction, found: Match) -> bool:
  """Whether the instruction fits; binds names in `found` as it goes."""
  if isinstance(pattern, str):
    return found.bound.setdefault(pattern, instruction) is instruction
  if callable(pattern):
    return pattern(instruction)
  opcode, *operands = pattern
  if instruction.opcode != opcode:
    return False
  if operands == [...]:  # any operands
    return True
  if len(instruction.operands) != len(operands):
    return False
  orders = [instruction.operands]
  if opcode in COMMUTATIVE and len(operands) == 2:
    orders.append(instruction.operands[::-1])
  for order in orders:
    before = dict(found.bound)
    if all(match(p, o, found) for p, o in zip(operands, order)):
      return True
    found.bound = before
  return False


def rewrite_module(module: Module, rules: Sequence[Rule], *, limit: int = 8) -> bool:
  """Applies the first rule that fits, to every instruction of every computation outside fusions, until none does; what only the
  replaced instructions used goes with them.
  """
  by_opcode: dict[str, list[Rule]] = {}
  for rule in rules:
    by_opcode.setdefault(rule.pattern[0] if isinstance(rule.pattern, tuple) else "", []).append(rule)
  changed = False
  for computation in module.computations:
    if computation.is_fusion:  # the back end chose what is in there
      continue
    for _ in range(limit):
      if not _rewrite_once(computation, by_opcode):
        break
      changed = True
  return changed


def _rewrite_once(computation: Computation, rules: dict[str, list[Rule]]) -> bool:
  changed = False
  for instruction in computation.topological_order():
    if instruction.parent is not computation or has_control_edges(instruction) or instruction.sharding is not None:
      continue
    for rule in rules.get(instruction.opcode, ()):
      found = Match(instruction)
      if not match(rule.pattern, instruction, found):
        continue
      new = rule.rewrite(found)
      if new is None or new is instruction:
        continue
      instruction.replace_all_uses_with(new)
      remove_dead(computation, [instruction])
      changed = True
      break
  return changed


# Predicates for patterns.


def splat(instruction: Instruction) -> Any:
  """The one value every element has, as a numpy scalar; None if there is none or it is not known."""
  while instruction.opcode == "broadcast":
    instruction = instruction.operands[0]
  if instruction.opcode != "constant" or not instruction.shape.is_array or instruction.literal.value is None:
    return None
  values = instruction.literal.value.reshape(-1)
  if not values.size or (values.size > 1 and values.tobytes() != values[:1].tobytes() * values.size):
    return None
  return values[0]


def is_integer(instruction: Instruction) -> bool:
  return instruction.shape.kind in ("signed", "unsigned")


def is_float(instruction: Instruction) -> bool:
  return instruction.shape.kind == "float"


def is_plain(*instructions: Instruction) -> bool:
  """Static arrays in row-major order without tiles or memory spaces: a logical rewrite is then also a physical one."""
  return all(
    i.shape.is_array
    and not i.shape.is_dynamic
    and (i.shape.layout is None or i.shape.layout == Layout.descending(i.shape.rank))
    for i in instructions
  )

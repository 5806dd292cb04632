"""The rule table: opcode → a small function from operand values to the result.

    @rule("negate")
    def negate(device, instruction, operands): ...

A rule is called with the simulated device, the instruction and the operand values, and returns the value. A value is a
numpy array indexed logically (layout only matters to `bitcast`), a tuple of values, or a `Token`. Values are shared,
never written to.

A *blocking* rule is a generator: it may yield a request (see `requests.py`) and is resumed with the answer. Control
flow and communication are written that way; everything else is a plain function. *Elementwise* opcodes are listed
apart, because a computation made of them can be applied to whole arrays at once.

A dynamic dimension is simply an array that is smaller than its bound: `f32[<=8]` with five elements in it has the
numpy shape (5,).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.hlo.ir import Instruction

if TYPE_CHECKING:
  from tilewright.hlo.evaluate.interpreter import Device


@dataclass(frozen=True, slots=True)
class Token:
  """The value of `token[]`: it orders effects and holds nothing."""


TOKEN = Token()

Value = Any  # np.ndarray | tuple[Value, ...] | Token: a recursive type would have to be cast at every use
Arrays = list[np.ndarray]
Rule = Callable[["Device", Instruction, Sequence[Value]], Value]
BlockingRule = Callable[["Device", Instruction, Sequence[Value]], Generator[Any, Any, Value]]

RULES: dict[str, Rule] = {}
BLOCKING_RULES: dict[str, BlockingRule] = {}
ELEMENTWISE: set[str] = set()


def rule(*opcodes: str) -> Callable[[Rule], Rule]:
  """Registers a function as the rule of these opcodes."""

  def register(function: Rule) -> Rule:
    for opcode in opcodes:
      RULES[opcode] = function
    return function

  return register


def blocking_rule(*opcodes: str) -> Callable[[BlockingRule], BlockingRule]:
  """Registers a generator function as the rule of these opcodes."""

  def register(function: BlockingRule) -> BlockingRule:
    for opcode in opcodes:
      BLOCKING_RULES[opcode] = function
    return function

  return register


def elementwise(opcode: str, function: Callable[..., np.ndarray]) -> None:
  """Registers an elementwise opcode: `function(instruction, *arrays)`, each array of any (broadcastable) shape."""
  ELEMENTWISE.add(opcode)

  def apply(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
    return function(instruction, *operands)

  RULES[opcode] = apply

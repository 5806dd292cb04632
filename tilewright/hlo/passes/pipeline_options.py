"""The options of `collective_pipeliner` as one object: what may be moved across the trips of a loop.

A *candidate* is a collective, or a copy between memory spaces (with `host_offload`), that `should_process` accepts. Candidates take
*formatting* along: instructions that move or convert elements, and elementwise arithmetic, that `acceptable_formatting` accepts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.hlo.alias import is_in_place_permute
from tilewright.hlo.cost.model import crosses_memories
from tilewright.hlo.ir import Instruction
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.shape import Shape

Predicate = Callable[[Instruction], bool]

COLLECTIVES = frozenset(
  {"all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all", "collective-broadcast"}
)
HOST_MOVES = frozenset({"MoveToHost", "MoveToDevice"})
# Markers of a run that is not the last one: they hold a moved value in its place, and pass it on as it is.
INSERTED, SUNK = "InsertedByPreviousStep", "SunkByPreviousStep"
MARKERS = frozenset({INSERTED, SUNK})

FORMATTING = frozenset(
  {"reshape", "transpose", "bitcast", "broadcast", "slice", "reverse", "pad", "concatenate", "iota", "reduce"}
) | (ELEMENTWISE - {"stochastic-convert"})
STRUCTURE = frozenset({"tuple", "get-tuple-element", "opt-barrier", "constant"})


def everything(instruction: Instruction) -> bool:
  return True


def accepts(choice: str | Predicate | None) -> Predicate:
  """A predicate from one, or from opcodes with `|` between them; everything is accepted if nothing is given."""
  if callable(choice):
    return choice
  if not choice:
    return everything
  opcodes = frozenset(part.strip() for part in choice.split("|"))
  return lambda instruction: instruction.opcode in opcodes


@dataclass(frozen=True)
class Moves:
  """Which instructions may move, and how barriers and control edges are treated."""

  min_bytes: int = 0
  max_bytes: int = 1 << 30
  should_process: Predicate = everything
  acceptable_formatting: Predicate = everything
  host_offload: bool = True
  loop_variants: bool = False
  split_barriers: bool = True
  most: int = 0  # candidates per loop; 0: all of them
  different_sizes: bool = True
  trees: bool = True

  def is_candidate(self, instruction: Instruction) -> bool:
    if not is_transfer(instruction, self.host_offload, self.min_bytes) or not self.should_process(instruction):
      return False
    if not self.different_sizes and _elements(instruction.shape) != sum(
      _elements(o.shape) for o in instruction.operands
    ):
      return False
    return self.trees or _is_linear(instruction)

  def is_formatting(self, instruction: Instruction, also: frozenset[str] = frozenset()) -> bool:
    """Formatting, structure, or a fusion of those; `also` names more opcodes."""
    from tilewright.hlo.passes.while_loops import has_effect

    opcode = instruction.opcode
    if opcode == "fusion":
      inside = instruction.called_computations[0].instructions
      plain = all(i.opcode == "parameter" or self.is_formatting(i, also) for i in inside)
      return plain and not has_effect(instruction)
    if is_marker(instruction) or opcode in STRUCTURE or opcode in also:
      return True
    if is_host_move(instruction) and not self.host_offload:
      return False
    if opcode == "reduce" and any(i.called_computations for i in instruction.called_computations[0].instructions):
      return False
    return opcode in FORMATTING and self.acceptable_formatting(instruction)


def is_marker(instruction: Instruction) -> bool:
  return instruction.opcode == "custom-call" and instruction.attrs.get("custom_call_target") in MARKERS


def is_host_move(instruction: Instruction) -> bool:
  """A copy between memory spaces, or the annotation that becomes one."""
  if instruction.opcode == "custom-call":
    return instruction.attrs.get("custom_call_target") in HOST_MOVES and len(instruction.operands) == 1
  return instruction.opcode == "copy" and crosses_memories(instruction)


def is_transfer(instruction: Instruction, host_offload: bool = True, min_bytes: int = 0) -> bool:
  """A collective of static arrays, one or several, whose results are read one by one; or a move to or from the host."""
  if instruction.opcode not in COLLECTIVES and not (host_offload and is_host_move(instruction)):
    return False
  if not instruction.operands or is_in_place_permute(instruction) or "slice_sizes" in instruction.attrs:
    return False
  shapes = [o.shape for o in instruction.operands] + [s for _, s in instruction.shape.leaves()]
  if not all(s.is_array and not s.is_dynamic for s in shapes):
    return False
  if instruction.shape.is_tuple and any(user.opcode != "get-tuple-element" for user in instruction.users):
    return False
  return sum(o.shape.byte_size for o in instruction.operands) >= min_bytes


def _elements(shape: Shape) -> int:
  return sum(leaf.num_elements for _, leaf in shape.leaves())


def _is_linear(instruction: Instruction) -> bool:
  """Whether one instruction uses its result, another one that instruction's, and so on up to a store or the body's result."""
  while instruction.opcode not in ("dynamic-update-slice", "tuple"):
    if instruction.user_count != 1:
      return False
    (instruction,) = instruction.users
  return True

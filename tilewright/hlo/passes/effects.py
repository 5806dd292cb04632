"""Side effects: which instructions do more than compute their value, and so may not be removed or merged.

The query also covers whole computations: a call, a loop or a fusion has the effects of its callees. Answers are cached
for the lifetime of one `Effects`; create a new one after editing.
"""

from __future__ import annotations

from tilewright.hlo.alias import is_in_place_permute
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.opcodes import COLLECTIVES, OPCODES, SIDE_EFFECTS

REMOVABLE_ATTRIBUTE = "xla_allow_dce_side_effecting_op"
# A collective that every device leaves out is missed by none: all of them run this same program.
REMOVABLE_COLLECTIVES = COLLECTIVES | {"all-gather-done", "all-reduce-done", "collective-permute-done"}
# Two of these with equal operands are still two things: buffers, states, points in time, or marks for the compiler.
_NOT_VALUES = frozenset(
  {
    "parameter",
    "custom-call",
    "rng",
    "rng-get-and-update-state",
    "opt-barrier",
    "after-all",
    "add-dependency",
    "domain",
    "copy-start",
    "copy-done",
    "async-start",
    "async-update",
    "async-done",
    "infeed",
    "outfeed",
    "send",
    "send-done",
    "recv",
    "recv-done",
    "partition-id",
    "replica-id",
  }
)


class Effects:
  """Queries about instructions, cached per computation."""

  def __init__(self) -> None:
    self._computations: dict[Computation, bool] = {}
    self._functions: dict[Computation, bool] = {}

  def of(self, instruction: Instruction) -> bool:
    """Whether removing the unused instruction would be observable."""
    opcode = instruction.opcode
    if opcode not in OPCODES:
      return True
    if opcode in REMOVABLE_COLLECTIVES:
      return False
    if opcode in SIDE_EFFECTS:
      return instruction.frontend_attributes.get(REMOVABLE_ATTRIBUTE) != "true"
    if opcode == "custom-call" and instruction.attrs.get("custom_call_has_side_effect"):
      return instruction.frontend_attributes.get(REMOVABLE_ATTRIBUTE) != "true"
    return any(self.of_computation(called) for called in instruction.called_computations)

  def of_computation(self, computation: Computation) -> bool:
    found = self._computations.get(computation)
    if found is None:
      self._computations[computation] = False  # HLO has no recursion; this ends one all the same
      found = self._computations[computation] = any(self.of(i) for i in computation.instructions)
    return found

  def is_value(self, instruction: Instruction) -> bool:
    """Whether the instruction is a function of its operands and attributes and nothing else."""
    opcode = instruction.opcode
    if opcode not in OPCODES or opcode in _NOT_VALUES or opcode in REMOVABLE_COLLECTIVES or self.of(instruction):
      return False
    return all(self._is_function(called) for called in instruction.called_computations)

  def is_function(self, instruction: Instruction) -> bool:
    """`is_value`, or a custom call or synchronous collective that gives equal results for equal operands, or a device's number."""
    opcode = instruction.opcode
    if opcode in ("partition-id", "replica-id"):
      return True
    if opcode == "custom-call":
      plain = instruction.operands and not self.of(instruction) and not instruction.called_computations
      return bool(plain) and not instruction.attrs.get("output_to_operand_aliasing")
    if opcode in COLLECTIVES and not opcode.endswith("-start"):
      return not instruction.attrs.get("constrain_layout") and not is_in_place_permute(instruction)
    return self.is_value(instruction)

  def _is_function(self, computation: Computation) -> bool:
    found = self._functions.get(computation)
    if found is None:
      found = all(i.opcode == "parameter" or self.is_value(i) for i in computation.instructions)
      self._functions[computation] = found
    return found

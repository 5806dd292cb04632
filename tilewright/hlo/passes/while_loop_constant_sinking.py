"""Constants that a loop carries unchanged are put into its body and condition, where they can be folded.

    while((0, x, 5.0))  body: s[2] · s[1]   →   body: 5.0 · s[1]

Precondition: the body returns the element as it is, and it starts from a constant (or a broadcast of one). *Proof.* The element has its
initial value in every trip.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.while_loop_simplifier import put_constant
from tilewright.hlo.passes.while_loops import Loop, edit_alone, is_invariant, loops_of, remove_dead


@register_pass("while_loop_constant_sinking")
@dataclass(frozen=True)
class WhileLoopConstantSinking(Pass):
  """Puts constants that loops carry into their bodies and conditions."""

  sink_broadcast_of_constants: bool = False
  sink_only_scalar_constants: bool = False

  def run(self, module: Module) -> bool:
    changed = False
    for loop in reversed(loops_of(module)):  # outer loops first: what they pass in sinks further
      for slot in range(loop.slots):
        if is_invariant(loop, slot):
          changed |= self._sink(loop, slot)
    return changed

  def _sink(self, loop: Loop, slot: int) -> bool:
    value = loop.initial(slot)
    source, shape = value.instruction, loop.instruction.shape.tuple_shapes[slot]
    if value.path or source.shape != shape or (self.sink_only_scalar_constants and not _is_scalar(source)):
      return False
    if source.opcode == "constant":
      changed = False
      while put_constant(loop, slot, source):
        changed = True
      return changed
    spread = source.opcode == "broadcast" and source.operands[0].opcode == "constant"
    if not self.sink_broadcast_of_constants or not spread:
      return False
    return edit_alone(loop, lambda: _put_broadcast(loop, slot, source))


def _is_scalar(source: Instruction) -> bool:
  return not (source.operands[0] if source.opcode == "broadcast" else source).shape.dimensions


def _put_broadcast(loop: Loop, slot: int, source: Instruction) -> bool:
  changed = False
  for computation in (loop.body, loop.condition):
    for user in computation.parameters[0].users:
      if user.opcode != "get-tuple-element" or user.attrs["index"] != slot or has_control_edges(user):
        continue
      others = [u for u in user.users if u is not loop.body.root]
      if not others:
        continue
      constant = computation.insert(clone_instruction(source.operands[0]), after=computation.parameters[0])
      spread = computation.insert(clone_instruction(source, (constant,)), after=constant)
      for other in others:
        other.replace_uses_of(user, spread)
      remove_dead(computation, [user])
      changed = True
  return changed

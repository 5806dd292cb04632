"""Loop-invariant code motion: a value that is the same in every trip is computed once, before the loop.

Precondition: an instruction of the body that is a pure function (no effects, no collectives, no control edges) of invariant elements,
constants and other such instructions. *Proof.* Invariant elements have their initial values in every trip, so the instruction has the
same value in each; before the loop it is computed from the initial values. With zero trips its value is not used.

Instructions that only rearrange (bitcast, broadcast, constant, iota, reshape, reverse, slice, transpose, tuple) do not justify a new
element of the state by themselves and are hoisted only with a dependent; `hoist_constants` and `hoist_reshapes` hoist those too. A result
larger than `hoist_size_inflation_ratio` times its operands, or than `max_bytes`, stays: it would be live through the whole loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.while_loops import (
  Loop,
  add_slots,
  copy_in,
  element,
  find_counter,
  is_invariant,
  loops_of,
  note_trips,
  own_computations,
  own_init,
  remove_dead,
)

# Not worth it by themselves.
_LIGHT = frozenset(
  {"bitcast", "broadcast", "constant", "iota", "reverse", "slice", "transpose", "tuple", "get-tuple-element"}
)


@register_pass("while_loop_invariant_code_motion")
@dataclass(frozen=True)
class WhileLoopInvariantCodeMotion(Pass):
  """Hoists loop-invariant instructions out of while loops."""

  hoist_constants: bool = False
  hoist_reshapes: bool = False
  hoist_other: bool = True
  hoist_size_inflation_ratio: float = 0.0  # of results to operands, above which they stay; 0: no limit
  max_bytes: int = 0  # of one result; 0: no limit

  def run(self, module: Module) -> bool:
    changed = False
    for loop in loops_of(module):
      changed |= self._hoist(loop, module)
    return changed

  def _hoist(self, loop: Loop, module: Module) -> bool:
    moved = self._invariant(loop)
    if not moved:
      return False
    body = loop.body
    own_computations(loop)
    if loop.body is not body:
      moved = self._invariant(loop)
    chosen = set(moved)
    kept = [i for i in moved if any(u not in chosen for u in i.users)]
    order = [i for i in topological_order(loop.body) if i in chosen]
    init = own_init(loop)
    builder = Builder(loop.computation, before=init, metadata=loop.instruction.metadata)
    known = {
      e: element(init, e.attrs["index"], builder)
      for e in loop.parameter.users
      if e.opcode == "get-tuple-element" and is_invariant(loop, e.attrs["index"])
    }
    constants = dict.fromkeys(o for i in order for o in i.operands if o.opcode == "constant" and o not in chosen)
    new = copy_in([*constants, *order], known, builder, module)
    counter = find_counter(loop)
    places = add_slots(loop, [new[value] for value in kept])
    for value, place in zip(kept, places):
      for user in value.users:
        if user not in chosen:
          user.replace_uses_of(value, place)
    remove_dead(loop.body, list(reversed(order)))
    note_trips(loop, counter)
    return True

  def _invariant(self, loop: Loop) -> list[Instruction]:
    """The hoisted instructions: invariant, and needed by one that is worth hoisting."""
    if any(u.opcode != "get-tuple-element" for u in loop.parameter.users) or loop.parameter.is_root:
      return []
    effects = Effects()
    same = {
      e
      for e in loop.parameter.users
      if is_invariant(loop, e.attrs["index"]) and e.shape.is_array and not has_control_edges(e)
    }
    elements = set(same)
    found: list[Instruction] = []
    for instruction in topological_order(loop.body):
      if (
        instruction in same
        or instruction.is_root
        or instruction.opcode == "parameter"
        or has_control_edges(instruction)
      ):
        continue
      if not instruction.shape.is_array or not effects.is_value(instruction):
        continue
      if not instruction.operands and instruction.opcode not in ("constant", "iota"):
        continue
      if all(o in same for o in instruction.operands) and self._fits(instruction):
        same.add(instruction)
        found.append(instruction)
    worth = [i for i in found if self._is_worth(i) and i.users]
    needed: set[Instruction] = set()
    work = list(worth)
    while work:
      top = work.pop()
      if top not in needed and top not in elements:
        needed.add(top)
        work += [o for o in top.operands if o.opcode != "constant" or self.hoist_constants]
    return [i for i in found if i in needed]

  def _is_worth(self, instruction: Instruction) -> bool:
    opcode = instruction.opcode
    if opcode == "constant":
      return self.hoist_constants
    if opcode == "reshape":
      return self.hoist_reshapes
    return self.hoist_other and opcode not in _LIGHT

  def _fits(self, instruction: Instruction) -> bool:
    size = instruction.shape.byte_size
    if self.max_bytes and size > self.max_bytes:
      return False
    if not self.hoist_size_inflation_ratio or instruction.opcode == "constant":
      return True
    return size <= self.hoist_size_inflation_ratio * sum(o.shape.byte_size for o in instruction.operands)

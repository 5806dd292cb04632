"""Small collectives of the same kind become one, because each costs its latency however little it moves.

    a = all-reduce(x)   b = all-reduce(y)        t = all-reduce(x, y)   a = t[0]   b = t[1]

Precondition: same opcode, groups, kind of ids, reducer, element type, dimension and options, in one computation; no control
edges. *Proof.* A collective of several operands is that collective of each. Merging nodes of a graph makes a cycle only if
a path leads from one to another: members are independent of one another, looked up anew after every merge, since a merge makes
new paths. All devices run this same program, so the members meet as before.

The sum of the operands' bytes stays within `max_bytes` and their number within `max_count`. A scheduled module is left
alone: its order is somebody's decision.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tilewright.hlo.analysis import Reachability
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges, participants_key, reducer
from tilewright.hlo.passes.while_loops import after
from tilewright.hlo.shape import Shape

MAX_BYTES = 30 << 20
OPCODES = frozenset({"all-reduce", "all-gather", "reduce-scatter"})


@register_pass("combine_collectives")
@dataclass(frozen=True)
class CombineCollectives(Pass):
  """Merges independent small collectives of the same kind into one of several operands."""

  max_bytes: int = MAX_BYTES
  max_count: int = 256  # operands of one collective

  def run(self, module: Module) -> bool:
    if module.is_scheduled:
      return False
    changed = False
    for computation in module.computations:
      if not computation.is_fusion:
        changed |= self._combine(computation)
    return changed

  def _combine(self, computation: Computation) -> bool:
    changed = False
    while True:
      bundle = self._next_bundle(computation)
      if bundle is None:
        return changed
      merge(bundle)
      changed = True

  def _next_bundle(self, computation: Computation) -> list[Instruction] | None:
    """The first set of at least two collectives that may become one."""
    keys: dict[Hashable, list[Instruction]] = {}
    for instruction in computation.topological_order():
      key = _key(instruction)
      if key is not None:
        keys.setdefault(key, []).append(instruction)
    if all(len(members) < 2 for members in keys.values()):
      return None
    reachable = Reachability(computation)
    for members in keys.values():
      for i, first in enumerate(members):
        bundle = [first]
        for other in members[i + 1 :]:
          if self._fits([*bundle, other]) and all(reachable.independent(other, one) for one in bundle):
            bundle.append(other)
        if len(bundle) > 1:
          return bundle
    return None

  def _fits(self, bundle: list[Instruction]) -> bool:
    operands = [operand for one in bundle for operand in one.operands]
    return len(operands) <= self.max_count and sum(o.shape.byte_size for o in operands) <= self.max_bytes


def _key(instruction: Instruction) -> Hashable:
  """Equal for collectives that may be merged; None for what is not one."""
  attrs = instruction.attrs
  if instruction.opcode not in OPCODES or has_control_edges(instruction) or instruction.backend_config:
    return None
  types = {operand.shape.element_type for operand in instruction.operands}
  operation = reducer(instruction)
  if len(types) != 1 or (instruction.opcode != "all-gather" and operation is None):
    return None
  others = tuple(sorted(instruction.frontend_attributes.items()))
  extra = attrs.get("dimensions"), bool(attrs.get("constrain_layout")), others
  return instruction.opcode, participants_key(instruction), operation, types.pop(), extra


def merge(bundle: list[Instruction]) -> Instruction:
  """One collective for all of them, in the place of the last."""
  computation = bundle[-1].parent
  assert computation is not None
  operands = [operand for one in bundle for operand in one.operands]
  shapes = [s for one in bundle for s in (one.shape.tuple_shapes if one.shape.is_tuple else (one.shape,))]
  merged = clone_instruction(bundle[0], operands, Shape.tuple_of(*shapes))
  merged.sharding = merged.origin = None
  builder = after(bundle[-1])
  computation.insert(merged, before=builder.before)
  position = 0
  for one in bundle:
    elements = [builder.element(merged, position + i) for i in range(len(one.operands))]
    position += len(elements)
    replace_results(one, elements)
  return merged


def replace_results(collective: Instruction, results: list[Instruction]) -> None:
  """Result i of a collective becomes results[i]; the collective goes."""
  computation = collective.parent
  assert computation is not None
  if not collective.shape.is_tuple:
    computation.replace(collective, results[0])
    return
  for user in collective.users:
    if user.opcode == "get-tuple-element" and not has_control_edges(user):
      user.replace_all_uses_with(results[user.attrs["index"]])
      computation.remove(user)
  if collective.users or collective.is_root or has_control_edges(collective):
    whole = after(max(results, key=computation.instructions.index)).make_tuple(*results)
    computation.replace(collective, whole)
  else:
    computation.remove(collective)

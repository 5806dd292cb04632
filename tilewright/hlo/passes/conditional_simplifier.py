"""Simplification of conditionals.

    the predicate is a constant, or there is one branch    →  the branch, in place
    a result that nothing reads                            →  is dropped from every branch
    a part of a branch's operand that the branch ignores   →  is not passed in
    a result that is the same operand in every branch      →  that operand

Preconditions: no control edges; results and operands read element by element where they change. *Proof.* An index outside of the branches
selects the last one, as the instruction does. Values without effects that nothing reads need not be computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.analysis import call_graph
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import copy_body, own_fusions
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.while_loops import element, remove_dead, trace, unshare
from tilewright.hlo.shape import Shape


@register_pass("conditional_simplifier")
@dataclass(frozen=True)
class ConditionalSimplifier(Pass):
  """Removes conditionals whose branch is known, and results and operands that nothing needs."""

  def run(self, module: Module) -> bool:
    changed = False
    if module.is_scheduled:
      return False
    for computation in call_graph(module).post_order:
      for instruction in [i for i in computation.topological_order() if i.opcode == "conditional"]:
        if not has_control_edges(instruction):
          changed |= _simplify(instruction, module)
    if changed:
      module.remove_unreachable_computations()
    return changed


def _simplify(conditional: Instruction, module: Module) -> bool:
  branches = conditional.called_computations
  known = 0 if len(branches) == 1 else _known_branch(conditional)
  if known is not None:
    _inline(conditional, known)
    return True
  if len(set(branches)) < len(branches) or any(len(call_graph(module).callers[b]) > 1 for b in branches):
    if not (_useless_results(conditional) or any(_ignored(conditional, n) for n in range(len(branches)))):
      return False
    unshare(module)
  changed = _forward_results(conditional)
  changed |= _drop_results(conditional)
  for number in range(len(branches)):
    changed |= _drop_operand_parts(conditional, number)
  return changed


def _known_branch(conditional: Instruction) -> int | None:
  value = trace(conditional.operands[0]).constant
  if value is None or value.size != 1:
    return None
  number, count = int(value.reshape(())), len(conditional.called_computations)
  if conditional.operands[0].shape.kind == "pred":
    return 0 if number else 1
  return number if 0 <= number < count else count - 1


def _inline(conditional: Instruction, number: int) -> None:
  computation, branch = conditional.parent, conditional.called_computations[number]
  assert computation is not None and computation.parent is not None
  copies, new = copy_body(branch, {branch.parameters[0]: conditional.operands[1 + number]})
  own_fusions(copies, computation.parent)
  for copy in copies:
    computation.insert(copy, before=conditional)
  operands = conditional.operands
  computation.replace(conditional, new[branch.root])
  remove_dead(computation, operands)


def _roots(conditional: Instruction) -> list[Instruction]:
  return [branch.root for branch in conditional.called_computations]


def _by_element(conditional: Instruction) -> bool:
  elements = all(u.opcode == "get-tuple-element" for u in conditional.users) and not conditional.is_root
  return elements and conditional.shape.is_tuple and all(r.opcode == "tuple" for r in _roots(conditional))


def _useless_results(conditional: Instruction) -> list[int]:
  """The results that nothing reads; at least one result stays."""
  if not _by_element(conditional):
    return []
  used = {u.attrs["index"] for u in conditional.users}
  unused = [i for i in range(len(conditional.shape.tuple_shapes)) if i not in used]
  return unused if used else unused[1:]


def _forward_results(conditional: Instruction) -> bool:
  """Results that are the same value of the caller in every branch."""
  if not _by_element(conditional) or conditional.parent is None:
    return False
  changed = False
  for user in conditional.users:
    sources = {_source(conditional, n, user.attrs["index"]) for n in range(len(_roots(conditional)))}
    (source, *others) = sources
    if (
      others
      or source is None
      or source.shape != user.shape
      or has_control_edges(user)
      or not (user.users or user.is_root)
    ):
      continue
    user.replace_all_uses_with(source)
    remove_dead(conditional.parent, [user])
    changed = True
  return changed


def _source(conditional: Instruction, number: int, index: int) -> Instruction | None:
  """The caller's instruction that a branch returns as it is."""
  branch = conditional.called_computations[number]
  value = trace(branch.root.operands[index])
  if value.instruction is not branch.parameters[0] or value.frames:
    return None
  found = trace(conditional.operands[1 + number], (), value.path)
  return (
    found.instruction
    if not found.frames and not found.path and found.instruction.parent is conditional.parent
    else None
  )


def _drop_results(conditional: Instruction) -> bool:
  unused = set(_useless_results(conditional))
  if not unused:
    return False
  kept = [i for i in range(len(conditional.shape.tuple_shapes)) if i not in unused]
  for branch in conditional.called_computations:
    root = branch.root
    operands = root.operands
    root.set_operands(operands[i] for i in kept)
    root.shape, root.sharding, root.origin = _subset(root.shape, kept), None, None
    remove_dead(branch, [operands[i] for i in unused])
  conditional.shape, conditional.sharding, conditional.origin = _subset(conditional.shape, kept), None, None
  for user in conditional.users:
    user.attrs["index"] = kept.index(user.attrs["index"])
  return True


def _subset(shape: Shape, kept: list[int]) -> Shape:
  return Shape.tuple_of(*(shape.tuple_shapes[i] for i in kept))


def _ignored(conditional: Instruction, number: int) -> list[int]:
  """The parts of a branch's operand that it does not read; at least one part stays."""
  parameter = conditional.called_computations[number].parameters[0]
  if not parameter.shape.is_tuple or parameter.is_root or any(u.opcode != "get-tuple-element" for u in parameter.users):
    return []
  read = {u.attrs["index"] for u in parameter.users}
  unread = [i for i in range(len(parameter.shape.tuple_shapes)) if i not in read]
  return unread if read else unread[1:]


def _drop_operand_parts(conditional: Instruction, number: int) -> bool:
  unread = set(_ignored(conditional, number))
  if not unread or conditional.parent is None:
    return False
  branch: Computation = conditional.called_computations[number]
  parameter, operand = branch.parameters[0], conditional.operands[1 + number]
  kept = [i for i in range(len(parameter.shape.tuple_shapes)) if i not in unread]
  builder = Builder(conditional.parent, before=conditional)
  conditional.replace_operand(1 + number, builder.make_tuple(*(element(operand, i, builder) for i in kept)))
  parameter.shape, parameter.sharding, parameter.origin = _subset(parameter.shape, kept), None, None
  for user in parameter.users:
    user.attrs["index"] = kept.index(user.attrs["index"])
  remove_dead(conditional.parent, [operand])
  return True

"""Scheduling groups that a scheduler can keep together: `_scheduling_group_id` is completed, and removed where it means nothing.

    a start or a done without its other half's group     →  joins it
    a value that leaves a group and comes back           →  what computes it joins the group (`propagate_annotation`)
    an instruction inside a fusion, or a group of one    →  leaves it (`keep_trivial_sync_annotation` keeps single collectives)

An instruction that would join two groups joins none: a scheduler then reports the group that cannot be contiguous. Annotations
of what costs nothing (parameters, constants, tuples and their elements) are removed unless they lie between two members.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.while_loops import SCHEDULING_GROUP

_FREE = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast"})


@register_pass("legalize_scheduling_annotations")
@dataclass(frozen=True)
class LegalizeSchedulingAnnotations(Pass):
  """Completes scheduling groups and removes annotations that no schedule can use."""

  propagate_annotation: bool = True
  keep_trivial_sync_annotation: bool = True
  remove_loop_iteration_annotation: bool = False  # `3:1` becomes `3`, `:1` goes

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      before = _groups(computation)
      if before:
        self._legalize(computation)
        changed |= _groups(computation) != before
    return changed

  def _legalize(self, computation: Computation) -> None:
    if computation.is_fusion:
      for instruction in computation.instructions:
        instruction.frontend_attributes.pop(SCHEDULING_GROUP, None)
      return
    if self.remove_loop_iteration_annotation:
      for instruction, group in _groups(computation).items():
        _set(instruction, group.partition(":")[0])
    for instruction in computation.instructions:
      if instruction.opcode in _FREE:
        instruction.frontend_attributes.pop(SCHEDULING_GROUP, None)
    _join_halves(computation)
    if self.propagate_annotation:
      _join_between(computation)
    members = list(_groups(computation).values())
    for instruction, group in _groups(computation).items():
      alone = members.count(group) == 1 and not group.startswith(":")
      talks = "replica_groups" in instruction.attrs or "source_target_pairs" in instruction.attrs
      if alone and not (talks and self.keep_trivial_sync_annotation):
        _set(instruction, "")


def _groups(computation: Computation) -> dict[Instruction, str]:
  found = {i: i.frontend_attributes.get(SCHEDULING_GROUP, "") for i in computation.instructions}
  return {i: group for i, group in found.items() if group and group != "noop"}


def _set(instruction: Instruction, group: str) -> None:
  if group:
    instruction.frontend_attributes[SCHEDULING_GROUP] = group
  else:
    instruction.frontend_attributes.pop(SCHEDULING_GROUP, None)


def _join_halves(computation: Computation) -> None:
  groups = _groups(computation)
  for done in computation.instructions:
    if not done.opcode.endswith("-done") or not done.operands:
      continue
    start = done.operands[0]
    for one, other in ((start, done), (done, start)):
      if one in groups and other not in groups:
        _set(other, groups[one])


def _join_between(computation: Computation) -> None:
  """What lies on a path between two members of a group joins it."""
  order = topological_order(computation)
  groups = _groups(computation)
  names = sorted(set(groups.values()))
  bit = {group: 1 << n for n, group in enumerate(names)}
  own = {i: bit[group] for i, group in groups.items()}
  above = _reaching(order, own, lambda i: (*i.operands, *i.control_predecessors))
  below = _reaching(order[::-1], own, lambda i: (*i.users, *i.control_successors))
  for instruction in order:
    between = above[instruction] & below[instruction]
    if between and instruction not in groups and between & (between - 1) == 0:
      _set(instruction, names[between.bit_length() - 1])


def _reaching(
  order: Sequence[Instruction], own: dict[Instruction, int], neighbours: Callable[[Instruction], Sequence[Instruction]]
) -> dict[Instruction, int]:
  """The groups with a member among those from which an instruction is reached, itself excluded."""
  found: dict[Instruction, int] = {}
  for instruction in order:
    found[instruction] = 0
    for other in neighbours(instruction):
      found[instruction] |= found[other] | own.get(other, 0)
  return found

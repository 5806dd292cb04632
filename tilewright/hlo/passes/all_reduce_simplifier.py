"""All-reduces, and other collectives, that a device can do alone.

    a collective of groups of one device                    →  its operand
    all-reduce of a value that is equal in each group: sum  →  value · group size
                                          min, max, and, or  →  value

A value is equal in each group if it is computed, by instructions without effects, from constants, from results of all-reduces and
all-gathers over the same or larger groups, from the number of the partition or replica if the group has one, and, in groups of
replicas of one partition, from what the program says to be the same on all replicas (`parameter_replication`). *Proof.* Those
values are the same on all members, and equal operands give equal values.
Sums of floats are exact where the size is a power of two; elsewhere they round once instead of size - 1 times (`exact=true` refuses
those).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.groups import Groups
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import groups_of, has_control_edges, reducer
from tilewright.hlo.passes.combine_collectives import replace_results
from tilewright.hlo.passes.device_values import device_groups
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.shape import Shape

_MAX_TRACED = 200  # instructions that a value is traced through
_ALONE = frozenset({"all-reduce", "all-gather", "reduce-scatter", "all-to-all"})
_SAME = frozenset({"minimum", "maximum", "and", "or"})


@register_pass("all_reduce_simplifier")
@dataclass(frozen=True)
class AllReduceSimplifier(Pass):
  """Replaces all-reduces of values that are equal on all members, and collectives of single devices."""

  exact: bool = False  # not where a float sum would round differently

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      for instruction in computation.topological_order():
        if instruction.opcode in _ALONE and instruction.parent is computation and not has_control_edges(instruction):
          changed |= self._simplify(instruction, module)
    return changed

  def _simplify(self, collective: Instruction, module: Module) -> bool:
    if not _has_known_groups(collective, module):
      return False
    groups = device_groups(collective, module)
    shapes = list(collective.shape.tuple_shapes) if collective.shape.is_tuple else [collective.shape]
    same = [o.shape for o in collective.operands] == shapes
    if groups and all(len(group) == 1 for group in groups) and same:
      replace_results(collective, list(collective.operands))
      return True
    sizes = {len(group) for group in groups}
    if collective.opcode != "all-reduce" or len(sizes) != 1 or not same:
      return False
    operation, (size,) = reducer(collective), sizes
    if not all(_is_equal(operand, groups, module) for operand in collective.operands):
      return False
    if operation in _SAME:
      replace_results(collective, list(collective.operands))
      return True
    if operation != "add" or not all(self._is_scalable(shape, size) for shape in shapes):
      return False
    builder = Builder(collective.parent or "", before=collective, metadata=collective.metadata)
    replace_results(collective, [_times(operand, size, builder) for operand in collective.operands])
    return True

  def _is_scalable(self, shape: Shape, size: int) -> bool:
    if shape.kind in ("signed", "unsigned"):
      return True
    if shape.kind not in ("float", "complex") or np.asarray(size, shape.dtype).astype(np.float64).real != size:
      return False
    return not self.exact or size & (size - 1) == 0


def _has_known_groups(collective: Instruction, module: Module) -> bool:
  """Whether the devices that meet are known: the module states its counts, or the groups list all devices by number."""
  return module.states_devices or bool(collective.attrs.get("use_global_device_ids") and groups_of(collective))


def _times(x: Instruction, size: int, builder: Builder) -> Instruction:
  scalar = Shape.array(x.shape.element_type)
  wrapped = np.asarray(size).astype(scalar.dtype)
  factor = builder.constant(Literal(scalar, wrapped))
  if x.shape.dimensions:
    factor = builder.op("broadcast", (factor,), x.shape, dimensions=())
  return builder.op("multiply", (x, factor), x.shape)


def _is_equal(value: Instruction, groups: Groups, module: Module) -> bool:
  """Whether a value is the same on all members of each group."""
  effects = Effects()
  wanted = [set(group) for group in groups]
  partitions = module.num_partitions
  one_partition = module.states_devices and all(len({d % partitions for d in group}) == 1 for group in groups)
  seen: set[Instruction] = set()
  todo = [value]
  while todo:
    top = todo.pop()
    if top in seen:
      continue
    seen.add(top)
    if len(seen) > _MAX_TRACED:
      return False
    if top.opcode in ("constant", "iota") or (top.opcode == "partition-id" and one_partition):
      continue
    if one_partition and _is_replicated(top):
      continue
    if (
      top.opcode == "replica-id"
      and module.states_devices
      and all(len({d // partitions for d in g}) == 1 for g in groups)
    ):
      continue
    if top.opcode in ("all-reduce", "all-gather"):
      if not _has_known_groups(top, module):
        return False
      given = [set(group) for group in device_groups(top, module)]
      if not all(any(group <= other for other in given) for group in wanted):
        return False
      continue
    if not top.operands or not effects.is_value(top):
      return False
    todo += top.operands
  return True


def _is_replicated(value: Instruction) -> bool:
  """Whether it is an array of an entry parameter that `parameter_replication` declares equal on all replicas."""
  path: list[int] = []
  while value.opcode == "get-tuple-element":
    path.insert(0, value.attrs["index"])
    (value,) = value.operands
  computation = value.parent
  if value.opcode != "parameter" or computation is None or computation.parent is None:
    return False
  if computation is not computation.parent.entry:
    return False
  declared = value.attrs.get("parameter_replication", ())
  leaves = [index for index, _ in value.shape.leaves()]
  if len(declared) != len(leaves):
    return False
  return all(flag for flag, index in zip(declared, leaves) if index[: len(path)] == tuple(path))

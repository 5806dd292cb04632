"""The rules of collectives: the participants, and the sizes that follow from them.

The meaning of the numbers in `replica_groups` follows from two attributes, as in XLA:

    channel_id   use_global_device_ids   the numbers are                        how many there must be
    no           no                      replicas                               replicas
    yes          no (all-reduce, …)      replicas                               replicas
    yes          absent (permute, …)     partitions                             partitions
    yes          yes                     devices: replica · partitions + part.  replicas · partitions

Every number from 0 to n - 1 is in exactly one group. Where the module states how many replicas and partitions there are, n is
that count; a module whose counts are both 1 (their default, and all that a proto holds) does not state it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator

from tilewright.hlo.groups import Groups, IotaGroups
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.shape import Shape

Problems = Iterator[str]

# They have no use_global_device_ids: a channel means partitions.
CHANNEL_MEANS_PARTITIONS = frozenset(
  ["all-to-all", "ragged-all-to-all", "collective-permute", "collective-permute-start", "collective-broadcast"]
)
_UNIFORM = frozenset(["all-gather", "all-gather-start", "all-to-all", "reduce-scatter"])  # groups of one size
_NOT_ALL = frozenset(["collective-broadcast"])  # some devices may take no part
MAX_DEVICES = 1 << 24  # more is a mistake in the text, and too many to list


def _expected(instruction: Instruction, module: Module) -> int | None:
  """How many numbers there are; None if the module does not say."""
  replicas, partitions = module.replica_count, module.num_partitions
  if replicas == partitions == 1:
    return None
  if instruction.attrs.get("use_global_device_ids"):
    return replicas * partitions
  if instruction.attrs.get("channel_id") and instruction.opcode in CHANNEL_MEANS_PARTITIONS:
    return partitions
  return replicas


def group_problems(instruction: Instruction) -> Problems:
  """Of `replica_groups`."""
  attrs, module = instruction.attrs, instruction.module
  if attrs.get("use_global_device_ids") and not attrs.get("channel_id"):
    yield "use_global_device_ids needs a channel_id"
  replica_groups = attrs.get("replica_groups")
  if replica_groups is None and attrs.get("use_global_device_ids"):
    yield "use_global_device_ids needs replica_groups that list the devices"
  if replica_groups is None or module is None:
    return
  if isinstance(replica_groups, IotaGroups) and math.prod(replica_groups.iota.reshape_dims) > MAX_DEVICES:
    yield f"replica_groups name {math.prod(replica_groups.iota.reshape_dims)} devices"
    return
  groups = replica_groups.groups()
  if not groups or groups == ((),):
    if attrs.get("use_global_device_ids"):
      yield "use_global_device_ids needs replica_groups that list the devices"
    return
  if not all(groups):
    yield "a replica group is empty"
  numbers = [number for group in groups for number in group]
  twice = [number for number, times in Counter(numbers).items() if times > 1]
  if twice:
    yield f"device {min(twice)} is in replica_groups more than once"
    return
  count = _expected(instruction, module)
  if instruction.opcode in _NOT_ALL:
    outside = [n for n in numbers if n < 0 or (count is not None and n >= count)]
    if outside:
      yield f"replica_groups name device {outside[0]} of {count}"
    return
  wanted = count if count is not None else len(numbers)
  if sorted(numbers) != list(range(wanted)):
    outside = [n for n in numbers if not 0 <= n < wanted]
    missing = sorted(set(range(wanted)) - set(numbers))
    what = f"device {outside[0]} does not exist" if outside else f"device {missing[0]} is missing"
    yield f"replica_groups must name each of 0 to {wanted - 1} once, but {what}"
  if instruction.opcode in _UNIFORM and len({len(group) for group in groups}) > 1:
    yield "replica_groups of different sizes"


def subgroup_size(instruction: Instruction) -> int | None:
  """How many devices participate; None if the module does not state it."""
  module, attrs = instruction.module, instruction.attrs
  if module is None:
    return None
  groups: Groups = attrs["replica_groups"].groups() if "replica_groups" in attrs else ()
  known = not module.replica_count == module.num_partitions == 1
  # A channel without global ids joins the groups of replicas over all their partitions.
  per_number = 1
  if (
    attrs.get("channel_id")
    and not attrs.get("use_global_device_ids")
    and instruction.opcode not in CHANNEL_MEANS_PARTITIONS
  ):
    per_number = module.num_partitions
  if any(groups):
    return len(groups[0]) * per_number
  expected = _expected(instruction, module)
  return expected * per_number if known and expected is not None else None


def _results(instruction: Instruction) -> list[Shape] | None:
  """One result shape for each operand."""
  shape = instruction.shape
  if instruction.opcode.endswith("-start"):
    if not shape.is_tuple or len(shape.tuple_shapes) < 2:
      return None
    shape = shape.tuple_shapes[1]
  results = list(shape.tuple_shapes) if shape.is_tuple else [shape]
  return results if len(results) == len(instruction.operands) else None


def _resized(grows: bool) -> Callable[[Instruction], Problems]:
  """all-gather (grows) and reduce-scatter: one dimension is as many times larger, or smaller, as devices meet."""

  def rule(instruction: Instruction) -> Problems:
    yield from group_problems(instruction)
    dimensions = instruction.attrs.get("dimensions")
    if not dimensions or len(dimensions) != 1:
      yield f"{instruction.opcode} needs the attribute dimensions with one dimension"
      return
    (axis,) = dimensions
    results = _results(instruction)
    if results is None:
      yield f"{instruction.shape} does not hold one result for each of {len(instruction.operands)} operands"
      return
    size = subgroup_size(instruction)
    for operand, result in zip(instruction.operands, results):
      small, large = (operand.shape, result) if grows else (result, operand.shape)
      if not 0 <= axis < operand.shape.rank:
        yield f"{operand.shape} has no dimension {axis}"
        continue
      if not small.is_array or not large.is_array or small.rank != large.rank:
        yield f"{operand.shape} cannot become {result}"
        continue
      if small.is_dynamic or large.is_dynamic:
        continue
      rest = [(a, b) for d, (a, b) in enumerate(zip(small.dimensions, large.dimensions)) if d != axis]
      if small.element_type != large.element_type or any(a != b for a, b in rest):
        yield f"{operand.shape} cannot become {result}: only dimension {axis} may change"
      elif size is not None and small.dimensions[axis] * size != large.dimensions[axis]:
        more = "larger" if grows else "smaller"
        yield f"{operand.shape} cannot become {result}: {size} devices meet, so dimension {axis} is {size} times {more}"
      elif large.dimensions[axis] % max(small.dimensions[axis], 1):
        yield f"{operand.shape} cannot become {result}: dimension {axis} is no multiple"

  return rule


def _all_to_all(instruction: Instruction) -> Problems:
  yield from group_problems(instruction)
  dimensions, size = instruction.attrs.get("dimensions"), subgroup_size(instruction)
  if not instruction.operands:
    yield "all-to-all takes operands"
  elif dimensions:
    (axis,) = dimensions
    shape = instruction.operands[0].shape
    if not 0 <= axis < shape.rank:
      yield f"{shape} has no dimension {axis}"
    elif size and shape.dimensions[axis] % size:
      yield f"dimension {axis} of {shape} cannot be cut into {size} parts"
    elif not shape.same_logical(instruction.shape):
      yield f"an all-to-all of {shape} gives {shape}, not {instruction.shape}"
  elif any(not o.shape.same_logical(instruction.operands[0].shape) for o in instruction.operands):
    yield f"operands of different shapes: {', '.join(str(o.shape) for o in instruction.operands)}"
  elif size and len(instruction.operands) != size:
    yield f"{len(instruction.operands)} operands for {size} devices that meet: one for each"


def _with_reducer(instruction: Instruction) -> Problems:
  yield from group_problems(instruction)
  if "to_apply" not in instruction.attrs:
    yield f"{instruction.opcode} needs the attribute to_apply"


def _reduce_scatter(instruction: Instruction) -> Problems:
  yield from _resized(grows=False)(instruction)
  if "to_apply" not in instruction.attrs:
    yield "reduce-scatter needs the attribute to_apply"


def _permute(instruction: Instruction) -> Problems:
  attrs, module = instruction.attrs, instruction.module
  if "source_target_pairs" not in attrs:
    yield f"{instruction.opcode} needs the attribute source_target_pairs"
    return
  pairs = attrs["source_target_pairs"]
  count = _expected(instruction, module) if module is not None else None
  for what, ids in (("source", [a for a, _ in pairs]), ("target", [b for _, b in pairs])):
    if len(set(ids)) != len(ids) and "slice_sizes" not in attrs:
      yield f"a {what} appears more than once in source_target_pairs"
    for number in ids:
      if number < 0 or (count is not None and number >= count):
        yield f"source_target_pairs name {what} {number}, but there are {count if count is not None else 'only'} devices"
        break


COLLECTIVE_RULES: dict[str, Callable[[Instruction], Problems]] = {
  "all-gather": _resized(grows=True),
  "all-gather-start": _resized(grows=True),
  "reduce-scatter": _reduce_scatter,
  "all-reduce": _with_reducer,
  "all-reduce-start": _with_reducer,
  "collective-reduce": _with_reducer,
  "all-to-all": _all_to_all,
  "ragged-all-to-all": group_problems,
  "collective-broadcast": group_problems,
  "collective-permute": _permute,
  "collective-permute-start": _permute,
}

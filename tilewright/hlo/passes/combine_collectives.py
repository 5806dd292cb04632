"""Combining: small collectives of the same kind are merged into one, because each costs its latency however little it moves.

    a = all-reduce(x)   b = all-reduce(y)        t = all-reduce(x, y)   a = t[0]   b = t[1]

Precondition: same opcode, groups (or pairs), kind of ids, reducer, element type, dimension and options, in one computation; no control
edges. *Proof.* A collective of several operands is that collective of each. Merging nodes of a graph makes a cycle only if
a path leads from one to another: members are independent of one another, and what depends on one member depends on all of them
from then on. All devices run this same program, so the members meet as before.

An all-to-all of several operands has another meaning in HLO, so those are laid out as rows, one for each member, and concatenated
into one array. With `combine_by_dim=false` all-gathers and reduce-scatters along different dimensions are merged too,
transposed so that they agree.

The sum of the results' bytes stays within `max_bytes` and their number within `max_count`. A scheduled module is left
alone, because its order was chosen deliberately.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilewright.hlo.alias import is_in_place_permute
from tilewright.hlo.analysis import topological_order
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import group_size, groups_of, has_control_edges, participants_key, reducer
from tilewright.hlo.passes.while_loops import after
from tilewright.hlo.shape import Layout, Shape

MAX_BYTES = 30 << 20
MAX_COUNT = 256
REDUCTIONS = frozenset({"all-reduce", "reduce-scatter"})
ALONG_DIMENSION = frozenset({"all-gather", "reduce-scatter"})
OPCODES = frozenset({"all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all"})


@register_pass("combine_collectives")
@dataclass(frozen=True)
class CombineCollectives(Pass):
  """Merges independent small collectives of the same kind into one of several operands."""

  max_bytes: int = MAX_BYTES
  max_count: int = MAX_COUNT  # operands of one collective
  combine_by_dim: bool = True  # otherwise also those along different dimensions
  combine_different_dtypes: bool = False
  combine_while_loops: bool = True  # also in the bodies of loops, where others may move them to other trips

  opcodes: ClassVar[frozenset[str]] = OPCODES

  def run(self, module: Module) -> bool:
    if module.is_scheduled:
      return False
    changed = False
    left = (
      set() if self.combine_while_loops else {i.attrs["body"] for i in module.instructions() if i.opcode == "while"}
    )
    for computation in module.computations:
      if not computation.is_fusion and computation not in left:
        changed |= self._combine(computation, module)
    return changed

  def _combine(self, computation: Computation, module: Module) -> bool:
    keys: dict[Hashable, list[Instruction]] = {}
    if sum(i.opcode in self.opcodes for i in computation.instructions) < 2:
      return False
    for instruction in computation.topological_order():
      key = self._key(instruction, module)
      if key is not None:
        keys.setdefault(key, []).append(instruction)
    members = [i for those in keys.values() if len(those) > 1 for i in those]
    if not members:
      return False
    paths = _Paths(computation, members)
    bundles: list[list[Instruction]] = []
    for those in keys.values():
      left = those if len(those) > 1 else []
      while len(left) > 1:
        bundle = self._bundle(left, paths)
        if len(bundle) > 1:
          paths.join(bundle)
          bundles.append(bundle)
        chosen = set(bundle)
        left = [i for i in left if i not in chosen]
    for bundle in bundles:
      merge(bundle)
    return bool(bundles)

  def _bundle(self, those: Sequence[Instruction], paths: _Paths) -> list[Instruction]:
    """The first of these with as many others as fit."""
    bundle = [those[0]]
    count, size = len(those[0].operands), _bytes(those[0])
    least = min(map(_bytes, those))
    for other in those[1:]:
      if count >= self.max_count or size + least > self.max_bytes:
        break
      more, larger = count + len(other.operands), size + _bytes(other)
      if more <= self.max_count and larger <= self.max_bytes and paths.independent(other, bundle):
        bundle.append(other)
        count, size = more, larger
    return bundle

  def _key(self, instruction: Instruction, module: Module) -> Hashable:
    """Equal for collectives that may be merged; None for what is not one."""
    opcode, attrs = instruction.opcode, instruction.attrs
    if opcode not in self.opcodes or has_control_edges(instruction):
      return None
    shapes = [operand.shape for operand in instruction.operands]
    types = {shape.element_type for shape in shapes}
    operation = reducer(instruction) if opcode in REDUCTIONS else None
    if opcode in REDUCTIONS and operation is None:
      return None
    if len(types) != 1 and not self.combine_different_dtypes:
      return None
    if any(not s.is_array or s.is_dynamic for s in shapes):
      return None
    if opcode == "collective-permute" and (is_in_place_permute(instruction) or "slice_sizes" in attrs):
      return None
    if opcode == "all-to-all" and (len(shapes) != 1 or "dimensions" not in attrs):
      return None
    # A reducer has one type; what only moves may move any.
    mixed = self.combine_different_dtypes and opcode not in REDUCTIONS and opcode != "all-to-all"
    kinds = None if mixed else tuple(sorted(types))
    dimension = attrs.get("dimensions")
    if opcode == "all-to-all" or (opcode in ALONG_DIMENSION and not self.combine_by_dim):
      dimension = None
    others = tuple(sorted(instruction.frontend_attributes.items()))
    pairs, constrained = attrs.get("source_target_pairs"), bool(attrs.get("constrain_layout"))
    extra = dimension, pairs, constrained, others, instruction.backend_config
    size = group_size_of(instruction, module) if opcode == "all-to-all" else None
    if opcode == "all-to-all" and size is None:
      return None
    return opcode, participants_key(instruction), operation, kinds, size, extra


@dataclass(frozen=True)
class _Combiner(CombineCollectives):
  """The same for one kind of collective, with XLA's names of the options."""

  combine_threshold_in_bytes: int = MAX_BYTES
  combine_threshold_count: int = MAX_COUNT

  def __post_init__(self) -> None:
    object.__setattr__(self, "max_bytes", min(self.max_bytes, self.combine_threshold_in_bytes))
    object.__setattr__(self, "max_count", min(self.max_count, self.combine_threshold_count))


@register_pass("all_reduce_combiner")
@dataclass(frozen=True)
class AllReduceCombiner(_Combiner):
  """Merges independent all-reduces of the same groups and reducer."""

  opcodes: ClassVar[frozenset[str]] = frozenset({"all-reduce"})


@register_pass("all_gather_combiner")
@dataclass(frozen=True)
class AllGatherCombiner(_Combiner):
  """Merges independent all-gathers of the same groups."""

  combine_different_dtypes: bool = True

  opcodes: ClassVar[frozenset[str]] = frozenset({"all-gather"})


@register_pass("reduce_scatter_combiner")
@dataclass(frozen=True)
class ReduceScatterCombiner(_Combiner):
  """Merges independent reduce-scatters of the same groups and reducer."""

  opcodes: ClassVar[frozenset[str]] = frozenset({"reduce-scatter"})


@register_pass("collective_permute_combiner")
@dataclass(frozen=True)
class CollectivePermuteCombiner(_Combiner):
  """Merges independent collective-permutes of the same pairs."""

  opcodes: ClassVar[frozenset[str]] = frozenset({"collective-permute"})


@register_pass("all_to_all_combiner")
@dataclass(frozen=True)
class AllToAllCombiner(_Combiner):
  """Merges independent all-to-alls of the same groups."""

  opcodes: ClassVar[frozenset[str]] = frozenset({"all-to-all"})


class _Paths:
  """Reachability between the given instructions, as bit sets over those instructions alone."""

  def __init__(self, computation: Computation, members: Sequence[Instruction]) -> None:
    self._bit = {instruction: 1 << n for n, instruction in enumerate(members)}
    self._needs: dict[Instruction, int] = {}
    needs: dict[Instruction, int] = {}
    for instruction in topological_order(computation):
      found = 0
      for operand in instruction.operands:
        found |= needs[operand]
      for predecessor in instruction.control_predecessors:
        found |= needs[predecessor]
      if instruction in self._bit:
        self._needs[instruction] = found
        found |= self._bit[instruction]
      needs[instruction] = found

  def independent(self, one: Instruction, bundle: Sequence[Instruction]) -> bool:
    mine, own = self._needs[one], self._bit[one]
    return not any(mine & self._bit[b] or self._needs[b] & own for b in bundle)

  def join(self, bundle: Sequence[Instruction]) -> None:
    """Merges these into one node: a dependent of one depends on all, and it depends on the dependencies of all."""
    own = needed = 0
    for b in bundle:
      own |= self._bit[b]
      needed |= self._needs[b]
    for b in bundle:
      self._needs[b] = needed
    for other, found in self._needs.items():
      if found & own:
        self._needs[other] = found | own | needed


def _bytes(collective: Instruction) -> int:
  """The bytes of the results, which is what XLA compares with its threshold."""
  return sum(shape.byte_size for _, shape in collective.shape.leaves())


def group_size_of(collective: Instruction, module: Module) -> int | None:
  """How many members an all-to-all has in each group, whose ids are partitions if it has a channel; None if that is not known."""
  if not module.states_devices and not groups_of(collective):
    return None
  if collective.attrs.get("channel_id") and "replica_groups" not in collective.attrs:
    return module.num_partitions
  groups = collective.attrs.get("replica_groups")
  found = tuple(g for g in groups.groups() if g) if groups is not None else ()
  if found:
    return len(found[0])
  return module.num_partitions if collective.attrs.get("channel_id") else group_size(collective, module)


def merge(bundle: list[Instruction]) -> Instruction:
  """One collective for all of them, in the place of the last."""
  if bundle[0].opcode == "all-to-all":
    return _merge_all_to_all(bundle)
  computation = bundle[-1].parent
  assert computation is not None
  builder = after(bundle[-1])
  common = _common_dimension(bundle)
  operands: list[Instruction] = []
  shapes: list[Shape] = []
  orders: list[tuple[int, ...] | None] = []
  for one in bundle:
    results = one.shape.tuple_shapes if one.shape.is_tuple else (one.shape,)
    for operand, result in zip(one.operands, results):
      order = _order_for(one, result.rank, common)
      orders.append(order)
      operands.append(operand if order is None else builder.transpose(operand, order))
      shapes.append(result if order is None else _transposed(result, order))
  merged = clone_instruction(bundle[0], operands, Shape.tuple_of(*shapes))
  merged.sharding = merged.origin = None
  if common is not None:
    merged.attrs["dimensions"] = (common,)
  computation.insert(merged, before=builder.before)
  position = 0
  for one in bundle:
    elements: list[Instruction] = []
    for i in range(len(one.operands)):
      part, order = builder.element(merged, position + i), orders[position + i]
      if order is not None:
        shape = one.shape.tuple_shapes[i] if one.shape.is_tuple else one.shape
        part = builder.op("transpose", (part,), shape, dimensions=tuple(order.index(d) for d in range(len(order))))
      elements.append(part)
    position += len(elements)
    replace_results(one, elements)
  return merged


def _common_dimension(bundle: Sequence[Instruction]) -> int | None:
  """The first dimension, if they do not agree on one: it is the slowest of what is transposed, as back ends want it."""
  found = {one.attrs["dimensions"][0] for one in bundle if one.attrs.get("dimensions")}
  return 0 if len(found) > 1 else None


def _order_for(one: Instruction, rank: int, common: int | None) -> tuple[int, ...] | None:
  """A permutation that moves the dimension of a collective to the common one."""
  if common is None or one.attrs["dimensions"][0] == common:
    return None
  order = list(range(rank))
  own = one.attrs["dimensions"][0]
  order[common], order[own] = order[own], order[common]
  return tuple(order)


def _transposed(shape: Shape, order: tuple[int, ...]) -> Shape:
  dims = tuple(shape.dimensions[d] for d in order)
  return Shape(shape.element_type, dims, None if shape.layout is None else Layout.descending(len(dims)))


def _merge_all_to_all(bundle: list[Instruction]) -> Instruction:
  """Each operand becomes one row per member; the concatenated rows of all operands are exchanged together."""
  computation = bundle[-1].parent
  assert computation is not None and computation.parent is not None
  members = group_size_of(bundle[0], computation.parent)
  assert members is not None
  builder = after(bundle[-1])
  rows: list[Instruction] = []
  for one in bundle:
    (x,), (d,) = one.operands, one.attrs["dimensions"]
    order = (d, *(i for i in range(x.shape.rank) if i != d))
    first = x if d == 0 else builder.transpose(x, order)
    rows.append(builder.reshape(first, (members, x.shape.num_elements // members)))
  width = sum(row.shape.dimensions[1] for row in rows)
  joined = builder.op("concatenate", rows, rows[0].shape.with_dimensions((members, width)), dimensions=(1,))
  merged = clone_instruction(bundle[0], (joined,), joined.shape)
  merged.sharding = merged.origin = None
  merged.attrs["dimensions"] = (0,)
  computation.insert(merged, before=builder.before)
  start = 0
  for one, row in zip(bundle, rows):
    (d,), dims = one.attrs["dimensions"], one.shape.dimensions
    end = start + row.shape.dimensions[1]
    part = builder.slice(merged, (0, members), (start, end))
    start = end
    order = (d, *(i for i in range(len(dims)) if i != d))
    part = builder.reshape(part, tuple(dims[i] for i in order))
    if d:
      part = builder.op("transpose", (part,), one.shape, dimensions=tuple(order.index(i) for i in range(len(dims))))
    replace_results(one, [part])
  return merged


def replace_results(collective: Instruction, results: list[Instruction]) -> None:
  """Result i of a collective becomes results[i]; the collective is removed."""
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

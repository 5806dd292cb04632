"""Windowed einsums: gathered operands and scattered products are processed part by part; the next part travels during a multiplication.

A gathered operand moves around a ring instead of being gathered (n devices, this one has rank r):

    g = all-gather(x)   y = dot(g, w)       x₀ = x      y[part r]     = dot(x₀, w)
                                            x₁ = permute(x₀)  y[part r+1] = dot(x₁, w)      from the right neighbour
                                            …

If the gathered dimension is contracting, parts of the other operand are sliced and the products added. A product that is reduced and
scattered moves around the ring as a partial sum:

    s = reduce-scatter(dot(x, w))           a₀ = dot(x[part r+1], w)
                                            a₁ = permute(a₀) + dot(x[part r+2], w)          to the left neighbour
                                            …                                               at last part r

No permute depends on the product beside it, so a scheduler may overlap them. Precondition: one operand; groups of one size of at least two
devices, whose ids are devices (or replicas without partitions); the dimension is not a batch dimension of the dot; the collective has no
other user; the reduction is an addition of floats or integers. *Proof.* Part (r+i) mod n is on this device after i permutes from the right;
a partial sum for part c that starts at rank c-1 and moves left ends at rank c after passing every rank once. Floats are added in another
order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import Channels, has_control_edges, reducer
from tilewright.hlo.passes.device_values import device_groups
from tilewright.hlo.passes.while_loops import remove_dead


@register_pass("windowed_einsum")
@dataclass(frozen=True)
class WindowedEinsum(Pass):
  """Turns dots of all-gathers and reduce-scatters of dots into rings of dots and permutes that can overlap."""

  min_bytes: int = 0  # of what the collective gathers or scatters
  max_parts: int = 32  # devices of a group: there is one dot for each

  def run(self, module: Module) -> bool:
    changed = False
    channels = Channels(module)
    for computation in module.computations:
      if computation.is_fusion:
        continue
      for instruction in list(computation.instructions):
        if instruction.parent is not computation:
          continue
        if instruction.opcode == "fusion" and (unwrapped := _only_dot(instruction)) is not None:
          instruction, changed = unwrapped, True
        if instruction.opcode == "dot":
          changed |= any(self._gathered(instruction, side, module, channels) for side in (0, 1))
        elif instruction.opcode == "reduce-scatter":
          for operand in instruction.operands:
            changed |= operand.opcode == "fusion" and _only_dot(operand) is not None
          changed |= self._scattered(instruction, module, channels)
    return changed

  def _ring(self, collective: Instruction, module: Module) -> _Ring | None:
    """The neighbours of each device, if the devices of a collective can form a ring."""
    by_device = bool(collective.attrs.get("use_global_device_ids")) and module.replica_count == 1
    by_replica = not collective.attrs.get("channel_id") and module.num_partitions == 1
    if not (by_device or by_replica) or len(collective.operands) != 1 or has_control_edges(collective):
      return None
    if collective.shape.is_dynamic or not collective.shape.is_array or collective.sharding is not None:
      return None
    groups = device_groups(collective, module)
    sizes = {len(g) for g in groups}
    if len(sizes) != 1 or not 2 <= (size := sizes.pop()) <= self.max_parts:
      return None
    everyone = sorted(d for g in groups for d in g)
    if everyone != list(range(max(len(everyone), module.replica_count * module.num_partitions))):
      return None
    return _Ring(groups, size, "partition-id" if by_device else "replica-id", by_device)

  def _gathered(self, dot: Instruction, side: int, module: Module, channels: Channels) -> bool:
    gather = dot.operands[side]
    if (
      dot.parent is None
      or gather.opcode != "all-gather"
      or gather.user_count != 1
      or gather.is_root
      or has_control_edges(dot)
    ):
      return False
    ring = self._ring(gather, module)
    if ring is None or gather.shape.byte_size < self.min_bytes or dot.sharding is not None:
      return False
    (dimension,) = gather.attrs["dimensions"]
    place = _place(dot, side, dimension)
    if place is None or not _can_add(dot):
      return False
    builder = Builder(dot.parent, before=dot, metadata=dot.metadata)
    rank = ring.rank(builder)
    (part,) = gather.operands
    other = dot.operands[1 - side]
    size = part.shape.dimensions[dimension]
    result: Instruction | None = None
    for step in range(ring.size):
      start = ring.offset(builder, rank, step, size)
      if place.is_contracted:
        cut = _part(builder, other, place.dimension, start, size)
        product = _dot(builder, dot, side, part, cut, dot.shape.dimensions)
        result = product if result is None else builder.add(result, product)
      else:
        dims = list(dot.shape.dimensions)
        dims[place.dimension] = size
        product = _dot(builder, dot, side, part, other, tuple(dims))
        if result is None:
          zero = builder.constant(np.zeros((), dot.shape.dtype), dot.shape.element_type)
          result = builder.broadcast(zero, dot.shape.dimensions)
        result = builder.dynamic_update_slice(result, product, _starts(builder, start, place.dimension, dot.shape.rank))
      if step < ring.size - 1:
        part = ring.permute(builder, part, channels, from_right=True)
    assert result is not None
    dot.parent.replace(dot, result)
    remove_dead(dot.parent if dot.parent is not None else builder.computation, [gather])
    return True

  def _scattered(self, scatter: Instruction, module: Module, channels: Channels) -> bool:
    if len(scatter.operands) != 1 or reducer(scatter) != "add" or scatter.parent is None:
      return False
    (dot,) = scatter.operands
    if dot.opcode != "dot" or dot.user_count != 1 or dot.is_root or has_control_edges(dot) or dot.sharding is not None:
      return False
    ring = self._ring(scatter, module)
    if ring is None or dot.shape.byte_size < self.min_bytes or not _can_add(dot):
      return False
    (dimension,) = scatter.attrs["dimensions"]
    found = _operand_of(dot, dimension)
    if found is None:
      return False
    side, own = found
    computation = scatter.parent
    builder = Builder(computation, before=scatter, metadata=dot.metadata)
    rank = ring.rank(builder)
    size = scatter.shape.dimensions[dimension]
    total: Instruction | None = None
    for step in range(ring.size):
      start = ring.offset(builder, rank, step + 1, size)
      cut = _part(builder, dot.operands[side], own, start, size)
      product = _dot(builder, dot, side, cut, dot.operands[1 - side], scatter.shape.dimensions)
      if total is None:
        total = product
      else:
        total = builder.add(ring.permute(builder, total, channels, from_right=True), product)
    assert total is not None
    computation.replace(scatter, total)
    remove_dead(computation, [dot])
    return True


def _only_dot(fusion: Instruction) -> Instruction | None:
  """The dot that a fusion is all of, in its place, where it meets a collective; on CPUs XLA wraps dots before passes see them."""
  inner, computation = fusion.called_computations[0], fusion.parent
  root = inner.root
  meets = any(o.opcode == "all-gather" for o in fusion.operands) or any(
    u.opcode == "reduce-scatter" for u in fusion.users
  )
  if root.opcode != "dot" or not meets or computation is None or has_control_edges(fusion):
    return None
  if any(o.opcode != "parameter" for o in root.operands) or len(inner.instructions) != 1 + len(inner.parameters):
    return None
  operands = [fusion.operands[o.attrs["parameter_number"]] for o in root.operands]
  dot = clone_instruction(root, operands, fusion.shape)
  dot.sharding = dot.origin = None
  computation.insert(dot, before=fusion)
  computation.replace(fusion, dot)
  return dot


@dataclass(frozen=True)
class _Ring:
  """Devices in a circle, group by group; each has the next one of its group to its right."""

  groups: tuple[tuple[int, ...], ...]
  size: int
  id_opcode: str
  has_channel: bool

  def rank(self, builder: Builder) -> Instruction:
    """The place of this device in its group."""
    table = np.zeros(sum(map(len, self.groups)), np.int32)
    for group in self.groups:
      for place, device in enumerate(group):
        table[device] = place
    number = builder.convert(builder.op(self.id_opcode), "s32")
    return builder.reshape(builder.dynamic_slice(builder.constant(table), [number], [1]), ())

  def offset(self, builder: Builder, rank: Instruction, step: int, size: int) -> Instruction:
    """Where the part of the member so many places to the right begins."""
    place = builder.op(
      "remainder", (builder.add(rank, builder.constant(np.int32(step))), builder.constant(np.int32(self.size)))
    )
    return builder.multiply(place, builder.constant(np.int32(size)))

  def permute(self, builder: Builder, x: Instruction, channels: Channels, *, from_right: bool) -> Instruction:
    """What the right neighbour has, which is what this one sends to the left."""
    pairs = tuple((group[(k + 1) % self.size], group[k]) for group in self.groups for k in range(self.size))
    channel: dict[str, Any] = {"channel_id": channels.take()} if self.has_channel else {}
    return builder.op("collective-permute", (x,), x.shape, source_target_pairs=pairs, **channel)


@dataclass(frozen=True)
class _DimensionRole:
  """The position of a dimension of one dot operand: a dimension of the result, or the contracting one of the other operand."""

  is_contracted: bool
  dimension: int


def _dims(dot: Instruction, side: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
  """The contracted and the batch dimensions of an operand."""
  name = ("lhs", "rhs")[side]
  return tuple(dot.attrs.get(f"{name}_contracting_dims", ())), tuple(dot.attrs.get(f"{name}_batch_dims", ()))


def _place(dot: Instruction, side: int, dimension: int) -> _DimensionRole | None:
  contracted, batch = _dims(dot, side)
  if dimension in batch:
    return None
  if dimension in contracted:
    return _DimensionRole(True, _dims(dot, 1 - side)[0][contracted.index(dimension)])
  return _DimensionRole(False, _free(dot, side).index(dimension) + _first_free(dot, side))


def _free(dot: Instruction, side: int) -> list[int]:
  contracted, batch = _dims(dot, side)
  return [d for d in range(dot.operands[side].shape.rank) if d not in contracted and d not in batch]


def _first_free(dot: Instruction, side: int) -> int:
  """The dimension of the result at which an operand's free dimensions begin."""
  batch = len(_dims(dot, 0)[1])
  return batch if side == 0 else batch + len(_free(dot, 0))


def _operand_of(dot: Instruction, dimension: int) -> tuple[int, int] | None:
  """The operand, and its dimension, that a dimension of the result comes from; None for a batch dimension."""
  for side in (0, 1):
    free, first = _free(dot, side), _first_free(dot, side)
    if first <= dimension < first + len(free):
      return side, free[dimension - first]
  return None


def _can_add(dot: Instruction) -> bool:
  """Dots with more than dimensions and a precision (sparsity, an algorithm with its own sums) are left alone."""
  known = {f"{side}_{kind}_dims" for side in ("lhs", "rhs") for kind in ("contracting", "batch")}
  return not set(dot.attrs) - known - {"operand_precision", "backend_config", "frontend_attributes"}


def _dot(
  builder: Builder, like: Instruction, side: int, part: Instruction, other: Instruction, dimensions: tuple[int, ...]
) -> Instruction:
  operands = (part, other) if side == 0 else (other, part)
  new = clone_instruction(like, operands, like.shape.with_dimensions(dimensions))
  new.sharding = new.origin = None
  return builder.computation.insert(new, before=builder.before)


def _part(builder: Builder, x: Instruction, dimension: int, start: Instruction, size: int) -> Instruction:
  sizes = [size if d == dimension else full for d, full in enumerate(x.shape.dimensions)]
  return builder.dynamic_slice(x, _starts(builder, start, dimension, x.shape.rank), sizes)


def _starts(builder: Builder, start: Instruction, dimension: int, rank: int) -> list[Instruction]:
  zero = builder.constant(np.int32(0))
  return [start if d == dimension else zero for d in range(rank)]

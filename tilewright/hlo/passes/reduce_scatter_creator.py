"""Creation of reduce-scatters: an all-reduce of which each device keeps its own part becomes a reduce-scatter.

    r = all-reduce(x)   y = dynamic-slice(r, part of this device)        y = reduce-scatter(x)

Precondition: the all-reduce has one operand and one user (through a reshape, if any), a dynamic-slice that cuts one dimension into as many
equal parts as its groups have members; member k of every group slices part k (`device_values.py` evaluates the offsets, however
they are computed from the device's number); no control edges, no constrained layout. *Proof.* Member k of a reduce-scatter's group
gets part k of what an all-reduce of the same groups would give.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.device_values import device_groups, per_device
from tilewright.hlo.passes.while_loops import remove_dead


@register_pass("reduce_scatter_creator")
@dataclass(frozen=True)
class ReduceScatterCreator(Pass):
  """Turns an all-reduce followed by a per-device dynamic-slice into a reduce-scatter."""

  min_bytes: int = 0  # of the all-reduce's operand

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      if computation.is_fusion:
        continue
      for instruction in list(computation.instructions):
        if instruction.opcode == "all-reduce" and instruction.parent is computation:
          changed |= self._rewrite(instruction, module)
    return changed

  def _rewrite(self, reduction: Instruction, module: Module) -> bool:
    piece = slice_of(reduction)
    if piece is None or reduction.operands[0].shape.byte_size < self.min_bytes:
      return False
    starts = part_numbers(piece, module)
    if starts is None:
      return False
    groups = device_groups(reduction, module)
    parts = piece.parts
    if any(len(g) != parts or [int(starts[d]) for d in g] != list(range(parts)) for g in groups):
      return False
    scatter(reduction, piece)
    return True


@dataclass(frozen=True, eq=False)
class OwnPart:
  """The part of an all-reduce's result that a device keeps."""

  cut: Instruction  # the dynamic-slice
  whole: Instruction  # what it cuts: the all-reduce, or a reshape of it
  dimension: int

  @property
  def size(self) -> int:
    return int(self.cut.shape.dimensions[self.dimension])

  @property
  def parts(self) -> int:
    return int(self.whole.shape.dimensions[self.dimension]) // self.size


def slice_of(reduction: Instruction) -> OwnPart | None:
  """The dynamic-slice that is the only use of an all-reduce, if it cuts one dimension into equal parts."""
  if len(reduction.operands) != 1 or not reduction.shape.is_array or reduction.shape.is_dynamic:
    return None
  if reduction.attrs.get("constrain_layout"):
    return None
  whole = reduction
  if whole.user_count == 1 and not whole.is_root and whole.users[0].opcode in ("reshape", "bitcast"):
    whole = whole.users[0]
    if whole.opcode == "bitcast" and not _keeps_order(whole):
      return None
  if whole.user_count != 1 or whole.is_root:
    return None
  (cut,) = whole.users
  if cut.opcode != "dynamic-slice" or cut.operands[0] is not whole or len(cut.operands) != 1 + whole.shape.rank:
    return None
  if any(has_control_edges(i) or i.sharding is not None for i in (reduction, whole, cut)):
    return None
  sizes = list(zip(whole.shape.dimensions, cut.shape.dimensions))
  shorter = [d for d, (full, part) in enumerate(sizes) if full != part]
  if len(shorter) != 1 or not sizes[shorter[0]][1] or sizes[shorter[0]][0] % sizes[shorter[0]][1]:
    return None
  return OwnPart(cut, whole, shorter[0])


def _keeps_order(bitcast: Instruction) -> bool:
  shapes = bitcast.operands[0].shape, bitcast.shape
  plain = all(s.layout is None or (s.layout.is_descending and not s.layout.tiles) for s in shapes)
  return plain and shapes[0].element_type == shapes[1].element_type


def part_numbers(piece: OwnPart, module: Module) -> np.ndarray | None:
  """Which part each device keeps; None if that is not known, or no whole part."""
  starts = per_device(piece.cut.operands[1 + piece.dimension], module)
  if starts is None:
    return None
  limit = piece.whole.shape.dimensions[piece.dimension] - piece.size
  starts = np.clip(starts.reshape(-1).astype(np.int64), 0, limit)
  return None if np.any(starts % piece.size) else starts // piece.size


def scatter(reduction: Instruction, piece: OwnPart) -> Instruction:
  computation = reduction.parent
  assert computation is not None
  builder = Builder(computation, before=piece.cut, metadata=reduction.metadata)
  (x,) = reduction.operands
  if piece.whole is not reduction:
    x = builder.op("reshape", (x,), piece.whole.shape)
  new = clone_instruction(reduction, (x,), piece.cut.shape, "reduce-scatter")
  new.opcode, new.sharding, new.origin = "reduce-scatter", None, None
  new.attrs["dimensions"] = (piece.dimension,)
  computation.insert(new, before=piece.cut)
  offsets = piece.cut.operands[1:]
  computation.replace(piece.cut, new)
  remove_dead(computation, [piece.whole, reduction, *offsets])
  return new

"""Collectives written with others: for back ends that lack them, and for passes that know the others better.

    reduce-scatter(x)        →   dynamic-slice(all-reduce(x), own position · rows)
    all-gather(x)            →   all-reduce(dynamic-update-slice(zeros, x, own position · rows))
    all-to-all(x), dim 0     →   concatenate(all-to-all(slice 0 of x, slice 1 of x, …))

*Proofs.* A member's part of a reduced array is what its reduce-scatter gives. Each element of a gathered array is one member's, and zero
on all others; adding zeros changes nothing (except that -0 becomes 0). An all-to-all of an array cuts it along its dimension, sends piece k
to member k, and joins what arrives, which is what one of several operands does with the pieces.

Left alone: groups of unknown or different sizes, and control edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import Channels, has_control_edges
from tilewright.hlo.passes.combine_collectives import group_size_of, replace_results
from tilewright.hlo.passes.device_values import own_entry, position_in_group
from tilewright.hlo.passes.while_loops import zeros
from tilewright.hlo.shape import Shape


@dataclass(frozen=True)
class _Decomposer(Pass):
  """Rewrites every collective of one kind that it can."""

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if not computation.is_fusion and not has_control_edges(instruction):
          changed |= self.rewrite(instruction, module)
    return changed

  def rewrite(self, instruction: Instruction, module: Module) -> bool:
    raise NotImplementedError


@register_pass("reduce_scatter_decomposer")
@dataclass(frozen=True)
class ReduceScatterDecomposer(_Decomposer):
  """Writes reduce-scatters as all-reduces of which each device keeps its part."""

  def rewrite(self, instruction: Instruction, module: Module) -> bool:
    positions = position_in_group(instruction, module) if instruction.opcode == "reduce-scatter" else None
    if positions is None or any(o.shape.is_dynamic for o in instruction.operands):
      return False
    builder = _before(instruction)
    axis = instruction.attrs["dimensions"][0]
    whole = clone_instruction(instruction, shape=_shape_of([o.shape for o in instruction.operands]), name="all-reduce")
    whole.opcode, whole.sharding, whole.origin = "all-reduce", None, None
    del whole.attrs["dimensions"]
    builder.computation.insert(whole, before=instruction)
    results: list[Instruction] = []
    parts = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
    for i, part in enumerate(parts):
      array = builder.element(whole, i) if instruction.shape.is_tuple else whole
      starts = _starts(part, axis, positions, builder, module)
      results.append(builder.op("dynamic-slice", (array, *starts), part, dynamic_slice_sizes=part.dimensions))
    replace_results(instruction, results)
    return True


@register_pass("all_gather_decomposer")
@dataclass(frozen=True)
class AllGatherDecomposer(_Decomposer):
  """Writes all-gathers as all-reduces of arrays that are zero but for the own part."""

  def rewrite(self, instruction: Instruction, module: Module) -> bool:
    if instruction.opcode != "all-gather":
      return False
    positions = position_in_group(instruction, module)
    if positions is None or any(not _is_summable(operand.shape) for operand in instruction.operands):
      return False
    builder = _before(instruction)
    channels = Channels(module)
    parts = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
    results: list[Instruction] = []
    for x, shape in zip(instruction.operands, parts, strict=True):
      starts = _starts(x.shape, instruction.attrs["dimensions"][0], positions, builder, module)
      own = builder.op("dynamic-update-slice", (zeros(builder, shape), x, *starts), shape)
      whole = clone_instruction(instruction, (own,), shape, name="all-reduce")
      whole.opcode, whole.origin = "all-reduce", None
      del whole.attrs["dimensions"]
      whole.attrs["to_apply"] = module.add_computation(_sum_of(x.shape.element_type))
      if len(parts) > 1:
        whole.sharding = None
      if results and whole.attrs.get("channel_id"):
        whole.attrs["channel_id"] = channels.take()
      results.append(builder.computation.insert(whole, before=instruction))
    replace_results(instruction, results)
    return True


@register_pass("all_to_all_decomposer")
@dataclass(frozen=True)
class AllToAllDecomposer(_Decomposer):
  """Writes all-to-alls of one array as all-to-alls of its pieces."""

  min_array_rank: int = 0  # arrays of fewer dimensions get more, of size 1 (back ends that want tiles)

  def rewrite(self, instruction: Instruction, module: Module) -> bool:
    if instruction.opcode != "all-to-all" or len(instruction.operands) != 1 or instruction.shape.is_tuple:
      return False
    size, (x,) = group_size_of(instruction, module), instruction.operands
    if not instruction.attrs.get("dimensions") or not size or x.shape.is_dynamic:
      return False
    (axis,) = instruction.attrs["dimensions"]
    step = x.shape.dimensions[axis] // size
    builder = _before(instruction)
    dims = tuple(step if d == axis else n for d, n in enumerate(x.shape.dimensions))
    wide = (*dims, *(1 for _ in range(self.min_array_rank - len(dims))))
    pieces: list[Instruction] = []
    for k in range(size):
      bounds = [(k * step, (k + 1) * step) if d == axis else (0, n) for d, n in enumerate(x.shape.dimensions)]
      piece = builder.slice(x, *bounds)
      pieces.append(piece if wide == dims else builder.reshape(piece, wide))
    exchanged = clone_instruction(instruction, pieces, Shape.tuple_of(*(p.shape for p in pieces)))
    exchanged.sharding = exchanged.origin = None
    del exchanged.attrs["dimensions"]
    builder.computation.insert(exchanged, before=instruction)
    arrived = [builder.element(exchanged, k) for k in range(size)]
    if wide != dims:
      arrived = [builder.reshape(piece, dims) for piece in arrived]
    value = builder.op("concatenate", arrived, instruction.shape, dimensions=(axis,))
    value.sharding = instruction.sharding
    replace_results(instruction, [value])
    return True


def _before(instruction: Instruction) -> Builder:
  assert instruction.parent is not None
  return Builder(instruction.parent, before=instruction, metadata=instruction.metadata)


def _shape_of(shapes: list[Shape]) -> Shape:
  return shapes[0] if len(shapes) == 1 else Shape.tuple_of(*shapes)


def _starts(part: Shape, axis: int, positions: np.ndarray, builder: Builder, module: Module) -> list[Instruction]:
  """Where a device's part begins: its position times the part's size along the axis, 0 along the others."""
  start = own_entry((positions * part.dimensions[axis]).astype(np.int32), builder, module)
  zero = builder.constant(np.int32(0))
  return [start if d == axis else zero for d in range(part.rank)]


def _is_summable(shape: Shape) -> bool:
  return shape.is_array and not shape.is_dynamic and shape.kind in ("pred", "signed", "unsigned", "float", "complex")


def _sum_of(element_type: str) -> Computation:
  """Adds one number to zeros: `or`, for pred."""
  builder = Builder(f"sum.{element_type}")
  both = builder.parameter(element_type), builder.parameter(element_type)
  return builder.finish(builder.op("or" if element_type == "pred" else "add", both))

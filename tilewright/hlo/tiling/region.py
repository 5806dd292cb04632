"""Regions of a program and their tiles: the data that the finder hands to code generation.

A `Region` is a part of one computation, with fusions opened, as a computation of its own:

    parent:  %f = fusion(x, g), calls=…   %r = reduce(%f, …)   %o = divide(%f, broadcast(%r))      members = (f, r, …, o)
    body:    parameters (x, g), all ops of the fusion and around it, root = the outputs            inputs = (x, g), outputs = (o,)

A `TiledRegion` cuts the work into a grid of tiles. Its axes are the indices of the main root (`parallel`: one grid
dimension each) and the reduced and contracted indices of the body (`loop`: walked inside of one grid point, in one
step unless `tile < size`). Axis i has a tile offset, the variable `o{i}`: `program id · tile` on parallel axes, `step
· tile` on loops. Each `TiledInstruction` says which part of its instruction's array is needed: element (j0, j1, …) of
the tile is the array's element `offsets[k] + strides[k] · jk`, where a stride may be negative (reverse) or more than
1 (slice). Elements outside of `bounds`, and those of an axis beyond its `size`, are not needed and must not be read:
they lie beyond the edge of the array or are masked (pad, concatenate, the last tile of an odd size).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.shape import Shape, ShapeIndex
from tilewright.hlo.tiling.expr import Expr, Interval


@dataclass(frozen=True, eq=False)
class RegionOutput:
  """A value of the parent that the region computes: leaf `index` of `instruction`, computed by `root` of the body."""

  instruction: Instruction
  index: ShapeIndex
  root: Instruction

  @property
  def shape(self) -> Shape:
    return self.instruction.shape.at(self.index)


@dataclass(frozen=True, eq=False)
class Region:
  """Part of `parent`. A member that is used outside of the region and is no output stays in the parent: it is computed twice."""

  parent: Computation
  members: tuple[Instruction, ...]  # of the parent, operands first
  inputs: tuple[Instruction, ...]  # of the parent; parameter i of the body is inputs[i]
  outputs: tuple[RegionOutput, ...]
  body: (
    Computation  # flat: no fusion, call, tuple or get-tuple-element but a root tuple where there are several outputs
  )

  @property
  def roots(self) -> tuple[Instruction, ...]:
    """Of the body, one per output."""
    return tuple(output.root for output in self.outputs)


@dataclass(frozen=True)
class RuntimeValue:
  """A variable `r{i}` of offsets: the element of a tiled instruction (an index operand) that is known when the kernel runs.

  `at` is the position in that instruction's array; `bounds` the interval to which the value is clamped, as dynamic-slice and gather do.
  """

  operand: int  # in TiledRegion.instructions
  at: tuple[Expr, ...]
  bounds: Interval


@dataclass(frozen=True, eq=False)
class TiledInstruction:
  """One instruction at one place. Offsets are expressions of `o{axis}` and of runtime values `r{i}`.

  `pointwise` lists the axes over which this tile is not one box but one box per point (the operand of a gather): offsets then name
  `d{axis}`, the index itself, for those axes.
  """

  instruction: Instruction  # of the body
  sizes: tuple[int, ...]
  strides: tuple[int, ...]
  offsets: tuple[Expr, ...]
  bounds: tuple[Interval, ...]  # per dimension of the array, both ends needed
  operands: tuple[int, ...] = ()  # in TiledRegion.instructions, one per operand of the instruction
  loops: tuple[int, ...] = ()  # axes of the loops that this instruction itself runs: its reduced or contracted indices
  pointwise: tuple[int, ...] = ()
  runtime: tuple[RuntimeValue, ...] = ()
  exact: bool = (
    True  # False: the tile holds elements that this output tile does not need (windows with gaps, dilated pads)
  )

  @property
  def elements(self) -> int:
    return math.prod(self.sizes)

  @property
  def bytes(self) -> int:
    shape = self.instruction.shape
    return 0 if not shape.is_array else -(-self.elements * shape.byte_size // max(shape.num_elements, 1))


@dataclass(frozen=True, eq=False)
class TilingAxis:
  """One axis of the iteration space. `instruction` and `dimension` say where it comes from: a dimension of the main root, or reduced
  index number `dimension` of a reduce or dot of the body."""

  kind: str  # parallel, loop
  size: int
  tile: int
  instruction: Instruction
  dimension: int

  @property
  def steps(self) -> int:
    return -(-self.size // self.tile)


@dataclass(frozen=True, eq=False)
class TiledRegion:
  """A region with tile sizes. `instructions` have operands before users; equal tiles of one instruction are there once."""

  region: Region
  axes: tuple[TilingAxis, ...]  # the parallel ones first
  instructions: tuple[TiledInstruction, ...]
  roots: tuple[int, ...]  # in `instructions`, one per output of the region

  @property
  def grid(self) -> tuple[int, ...]:
    return tuple(axis.steps for axis in self.axes if axis.kind == "parallel")

  @property
  def tile_sizes(self) -> tuple[int, ...]:
    return tuple(axis.tile for axis in self.axes if axis.kind == "parallel")


@dataclass(frozen=True, eq=False)
class TiledFusion:
  """The finder's result: compile `region` as one kernel with `tiled`, instead of XLA's own program."""

  region: Region
  tiled: TiledRegion
  kind: str  # elementwise, reduction, softmax, dot, attention, gather, window
  predicted_seconds: float
  predicted_xla_seconds: float
  reasons: tuple[str, ...] = field(default=())

  @property
  def roots(self) -> tuple[Instruction, ...]:
    return self.region.roots

  @property
  def tile_sizes(self) -> tuple[int, ...]:
    return self.tiled.tile_sizes

"""Sequential grid dimensions: which blocks come to shared memory ahead of time, by which engine, and which stay there.

An input whose block changes from step to step comes to shared memory a few steps ahead. One whose block stays the same while matrix
products read it is brought there once. Blocks that only `wgmma` reads have its swizzle. TMA copies the operands of products, where there is
TMA; threads copy everything else. An output whose block stays the same is kept in shared memory from the first step to the last, and
written once.

    grid (columns, rows), column sums: out[0, j] += x[i, j].sum(0)
      x     four stages: while rows i are added up, i + 1 to i + 3 are in flight
      out   a row in shared memory, written after the last i

`emit.pipeline.sequential_grid` writes the code of what is decided here.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from tilewright.layout.shared import SharedLayout, shared_for_matrix
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.units import tma
from tilewright.target.nvgpu.emit.units.tma import TensorMap
from tilewright.target.nvgpu.passes import staged_blocks, warpgroup_operands
from tilewright.target.nvgpu.passes.block_accesses import accessed_without_edges, is_only_loaded
from tilewright.target.nvgpu.passes.layouts.dot_kinds import is_for_warps
from tilewright.target.nvgpu.passes.layouts.hints import given_layout
from tilewright.target.nvgpu.passes.layouts.inference import Inferred
from tilewright.target.nvgpu.passes.plans import Staged
from tilewright.target.nvgpu.passes.staged_blocks import PaddedBlock, StagedBlock, SwizzledBlock, TiledBlock
from tilewright.tile.grid import Blocked, Squeezed
from tilewright.tile.ir import Value, users, walk
from tilewright.tile.native import NativeKernel, moving_dims
from tilewright.tile.pipeline import CP_ASYNC, TMA
from tilewright.tile.ranges import always_inside

_MAX_STAGES = 4
_SWIZZLED_STAGES = 2  # more take room from other CTAs: level or slower in attention on an H200
# Stages take at most this part of the shared memory that a CTA may allocate, so that several CTAs fit an SM.
_SHARE = 3
_PRODUCT_SHARE = 0.65  # but for two stages of what tensor cores multiply: those keep an SM busy alone
_MAX_SHARED_SHARE = 0.82  # with what stays, and scratch memory
_USUAL_SHARE = 0.5  # where no product reads stages in place
_KEPT_BYTES = 32 * 1024  # of an output's block
_MIN_STEPS = 4
_KINDS = {8: "u8", 16: "u16"}  # copies of bits
_SWIZZLES = (128, 64, 32)
_PIECE = 16  # bytes, of which rows in global memory are a multiple


@dataclasses.dataclass(frozen=True)
class Steps:
  """How the steps of a kernel are taken."""

  dims: tuple[int, ...]  # of the grid, the last fastest
  count: int
  inputs: tuple[StagedBlock, ...]
  stages: int
  outputs: tuple[int, ...]  # that are kept, by number
  held: tuple[StagedBlock, ...] = ()  # inputs that stay the same
  maps: Mapping[int, TensorMap] = dataclasses.field(default_factory=dict)  # of those that TMA copies, by position

  @property
  def stage_bytes(self) -> int:
    nbytes = sum(block.nbytes for block in self.inputs)
    return -(-nbytes // self.align) * self.align if self.swizzled else nbytes

  @property
  def swizzled(self) -> list[SwizzledBlock]:
    return [block for block in (*self.inputs, *self.held) if isinstance(block, SwizzledBlock)]

  @property
  def in_place(self) -> list[SwizzledBlock]:
    """Those that only products of warpgroups can read."""
    return [block for block in self.swizzled if not isinstance(block, TiledBlock)]

  @property
  def align(self) -> int:
    """Bytes to which stages are aligned."""
    return max((block.layout.swizzle.span for block in self.swizzled), default=128)

  @property
  def by_threads(self) -> list[StagedBlock]:
    return [block for block in (*self.inputs, *self.held) if block.position not in self.maps]

  @property
  def staged_bytes(self) -> int:
    return self.stages * self.stage_bytes + sum(block.nbytes for block in self.held)


def stage(
  kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...], inferred: Inferred | None, used_bytes: int
) -> Steps | None:
  """How the sequential dimensions of a kernel are taken, beside so many bytes of scratch memory, which comes first; None if there is
  nothing to bring ahead or to keep."""
  found = _candidates(kernel, arch, parallel)
  if found is None:
    return None
  found = _laid_out(kernel, arch, found, inferred, used_bytes)
  share = _MAX_SHARED_SHARE if found.swizzled or found.held else _USUAL_SHARE
  if used_bytes + found.staged_bytes > arch.shared_bytes * share:
    return dataclasses.replace(found, inputs=(), stages=0, held=())
  boxes = ((block.position, _box(kernel, block, arch)) for block in (*found.inputs, *found.held))
  maps = {position: own for position, own in boxes if own is not None}
  # Without one that changes from step to step, no step would wait for TMA.
  return dataclasses.replace(found, maps=maps) if any(block.position in maps for block in found.inputs) else found


def described(kernel: NativeKernel, steps: Steps) -> tuple[Staged, ...]:
  """What comes to shared memory, for people."""
  return tuple(
    Staged(
      kernel.mapping.block_mappings[block.position].origin,
      TMA if block.position in steps.maps else CP_ASYNC,
      stages,
      block.nbytes,
    )
    for own, stages in ((steps.inputs, steps.stages), (steps.held, 1))
    for block in own
  )


def _candidates(kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...]) -> Steps | None:
  """What can be staged or kept of a kernel's steps; None if nothing can, or there are few."""
  grid = kernel.mapping.grid
  dims = tuple(d for d in range(len(grid)) if d not in parallel)
  if None in grid or kernel.in_order or not dims:
    return None
  count = math.prod(int(grid[d]) for d in dims)
  if count < _MIN_STEPS:
    return None
  found = (_staged(kernel, position, dims) for position in range(kernel.mapping.num_inputs))
  inputs = tuple(block for block in found if block is not None)
  stages = 0
  while inputs:
    nbytes = sum(block.nbytes for block in inputs)
    stages = min(_MAX_STAGES, arch.shared_bytes // _SHARE // nbytes)
    if stages < 2 and all(_is_multiplied(kernel, block.position) for block in inputs):
      stages = 2 if 2 * nbytes <= arch.shared_bytes * _PRODUCT_SHARE else 0
    if stages >= 2:
      break
    inputs, stages = tuple(sorted(inputs, key=lambda block: block.nbytes))[:-1], 0
  outputs = tuple(n for n in range(kernel.mapping.num_outputs) if _is_kept(kernel, n, dims))
  found = (_held(kernel, position, dims) for position in range(kernel.mapping.num_inputs if inputs else 0))
  held = tuple(block for block in found if block is not None)
  return Steps(dims, count, inputs, stages, outputs, held) if inputs or outputs else None


def _staged(kernel: NativeKernel, position: int, dims: tuple[int, ...]) -> PaddedBlock | None:
  """How an input is staged: one that changes along the steps, and that the body only loads from."""
  index_map, param = kernel.index_maps[position], kernel.body.params[kernel.mapping.num_prefetch + position]
  if index_map is None or moving_dims(kernel, position).isdisjoint(dims) or not is_only_loaded(kernel, param):
    return None
  if kernel.mapping.num_prefetch + position in {into for into, _ in kernel.input_output_aliases}:
    return None
  if param in accessed_without_edges(kernel.body.body) or given_layout(param.ref) is not None:
    return None
  return staged_blocks.padded(kernel, position)


def _held(kernel: NativeKernel, position: int, dims: tuple[int, ...]) -> PaddedBlock | None:
  """How an input is kept in shared memory: one that stays the same along the steps, and that only matrix products read."""
  index_map, param = kernel.index_maps[position], kernel.body.params[kernel.mapping.num_prefetch + position]
  if index_map is None or not moving_dims(kernel, position).isdisjoint(dims) or not is_only_loaded(kernel, param):
    return None
  if kernel.mapping.num_prefetch + position in {into for into, _ in kernel.input_output_aliases}:
    return None
  if given_layout(param.ref) is not None:
    return None
  return staged_blocks.padded(kernel, position) if _is_multiplied(kernel, position) else None


def _is_multiplied(kernel: NativeKernel, position: int) -> bool:
  """Whether only products on tensor cores read an input, as a whole."""
  used, param = users(kernel.body.body), kernel.body.params[kernel.mapping.num_prefetch + position]

  def multiplied(v: Value) -> bool:
    own = used.get(v, [])
    return bool(own) and all(
      is_for_warps(op) if op.name == "dot" else op.name == "transpose" and multiplied(op.result) for op in own
    )

  return all(op.name == "load" and multiplied(op.result) for op in used[param])


def _is_kept(kernel: NativeKernel, number: int, dims: tuple[int, ...]) -> bool:
  """Whether an output's block stays the same along the steps, and is read too."""
  mapping = kernel.mapping
  m, position = mapping.output_mappings[number], mapping.num_inputs + number
  if kernel.index_maps[position] is None or not moving_dims(kernel, position).isdisjoint(dims):
    return False
  if any(out == number for _, out in kernel.input_output_aliases):
    return False
  if not all(isinstance(d, Blocked | Squeezed) for d in m.block_shape):
    return False
  param = kernel.body.params[mapping.num_prefetch + mapping.num_inputs + number]
  if given_layout(param.ref) is not None:
    return False
  is_read = any(op.name == "load" and op.operands[0] is param for op in walk(kernel.body.body))
  return is_read and math.prod(m.block_sizes) * np.dtype(m.array_aval.dtype).itemsize <= _KEPT_BYTES


# --- layouts of stages -------------------------------------------------------------------------------------------


def _laid_out(kernel: NativeKernel, arch: Arch, plan: Steps, inferred: Inferred | None, used_bytes: int) -> Steps:
  """The plan with blocks laid out for the products that read them: by warpgroups, or by warps where TMA copies the blocks."""
  used = users(kernel.body.body)

  def laid_out(block: StagedBlock) -> StagedBlock:
    index_map = kernel.index_maps[block.position]
    if inferred is None or index_map is None or not _is_multiplied(kernel, block.position):
      return block
    if not all(always_inside(kernel.mapping.grid, kernel.mapping.block_mappings[block.position], index_map)):
      return block
    loads = _loaded(kernel, block.position)
    found = {warpgroup_operands.shared_layout_for_products(inferred, used, v) for v in loads}
    layout = found.pop()
    if layout is not None and not found:
      return SwizzledBlock(block.position, layout)
    return _tiled(kernel, arch, block) or block

  inputs, held = ([laid_out(block) for block in own] for own in (plan.inputs, plan.held))
  inputs.sort(key=lambda block: -block.layout.swizzle.span if isinstance(block, SwizzledBlock) else 0)
  found = dataclasses.replace(plan, inputs=tuple(inputs), held=tuple(held))
  if not found.in_place:
    return found
  assert inferred is not None
  found = dataclasses.replace(found, stages=min(plan.stages, _SWIZZLED_STAGES))
  others = warpgroup_operands.room_of_others(inferred, read_in_stages(kernel, found))
  fits = others is not None and warpgroup_operands.fits(
    arch, used_bytes + found.staged_bytes + 2 * found.align + others
  )
  return found if fits else plan


def read_in_stages(kernel: NativeKernel, steps: Steps) -> set[Value]:
  """The loads of blocks that only products of warpgroups can read."""
  return {v for block in steps.in_place for v in _loaded(kernel, block.position)}


def _loaded(kernel: NativeKernel, position: int) -> list[Value]:
  param = kernel.body.params[kernel.mapping.num_prefetch + position]
  return [op.result for op in users(kernel.body.body)[param]]


def _box(kernel: NativeKernel, block: StagedBlock, arch: Arch) -> TensorMap | None:
  """The tensor map that copies a block into the layout that products require, if there is one: columns of a swizzle's
  bytes, each with all rows."""
  if not arch.has_tma or not isinstance(block, SwizzledBlock):
    return None
  layout, m = block.layout, kernel.mapping.block_mappings[block.position]
  swizzle, array = _swizzle(layout), m.array_aval
  if swizzle is None or len(array.shape) > tma.MAX_DIMS or array.shape[-1] * layout.bits // 8 % _PIECE:
    return None
  box = [d.block_size for d in m.block_shape[:-1]]
  row = max(d for d, dim in enumerate(m.block_shape[:-1]) if not isinstance(dim, Squeezed))
  box[row] = tma.most_rows(box[row])
  columns = swizzle * 8 // layout.bits
  number = kernel.mapping.num_prefetch + block.position
  return TensorMap(number, _KINDS[layout.bits], tuple(array.shape), tuple(box), row, columns, swizzle=swizzle)


def _tiled(kernel: NativeKernel, arch: Arch, block: StagedBlock) -> TiledBlock | None:
  """A block that products of warps read, as TMA writes it, if it can and there are no other readers."""
  if arch.has_wgmma or not isinstance(block, PaddedBlock) or len(block.shape) != 2 or block.dtype.itemsize != 2:
    return None
  rows, columns = block.shape
  swizzle = next((n for n in _SWIZZLES if columns * 2 % n == 0), None)
  if swizzle is None or rows % 8:
    return None
  found = TiledBlock(block.position, shared_for_matrix((rows, columns), 16, swizzle), block.dtype)
  return found if _box(kernel, found, arch) is not None else None


def _swizzle(layout: SharedLayout) -> int | None:
  """The bytes of the swizzle of a matrix in a layout that TMA writes."""
  if len(layout.shape) != 2 or layout.bits not in _KINDS or layout.shape[0] % 8:
    return None
  fitting = (n for n in _SWIZZLES if layout.shape[1] * layout.bits // 8 % n == 0)
  return next((n for n in fitting if shared_for_matrix(layout.shape, layout.bits, n) == layout), None)

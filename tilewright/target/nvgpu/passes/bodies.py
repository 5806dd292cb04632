"""The bodies of a kernel, and how each accesses its blocks of data.

A kernel has one body; a product along the grid has three, for its first step, the steps between, and the last. A block is

    in place   used where it lies in its array; the view of a block that may hang over the edge knows the edge
    copy       copied before the body and back after it: of elements at given numbers, or where it may hang over the edge and the body
               accesses it in a way that edges cannot follow (`block_accesses`)
    tiled      the same, in shared memory and in the user's layout
    staged     brought to shared memory ahead of time, or kept there (`passes.stage`)

Elements beyond the edge that the body writes belong to the block until another block replaces it, as in the VMEM of a TPU: such a copy
outlives the instance.
"""

from __future__ import annotations

from tilewright import errors
from tilewright.target.nvgpu.passes import grid_accumulation, symmetric_memory
from tilewright.target.nvgpu.passes.block_accesses import accessed_without_edges, kept_between_steps, written
from tilewright.target.nvgpu.passes.gpu_kernel import COPY, IN_PLACE, STAGED, TILED, WARPGROUPS, Access, Body, GpuKernel
from tilewright.tile.grid import BoundedSlice, Indirect
from tilewright.tile.ir import Block
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.ranges import always_inside


def bodies(k: GpuKernel) -> tuple[Body, ...]:
  """The bodies of a kernel of which all else is decided."""
  if k.pipeline is None:
    return (_body(k, k.kernel.body.body),)
  c = k.pipeline.contraction
  return tuple(_body(k, grid_accumulation.body_at(k.kernel, c, step)) for step in (0, None, c.num_steps - 1))


def inside(kernel: NativeKernel, position: int) -> tuple[bool, ...]:
  """For each dimension of a block, whether it never hangs over the edge of its array; none where the block is the array."""
  index_map = kernel.index_maps[position]
  if index_map is None:
    return ()
  return tuple(always_inside(kernel.mapping.grid, kernel.mapping.block_mappings[position], index_map))


def _body(k: GpuKernel, body: Block) -> Body:
  kernel, mapping = k.kernel, k.kernel.mapping
  refs = body.params[mapping.num_prefetch :]
  outlive = set[int]() if k.form == WARPGROUPS else kept_between_steps(kernel, parallel_dims(kernel))
  without_edges, changed = accessed_without_edges(body), written(body)
  if k.pipeline is not None and k.pipeline.contraction.output is not None:
    without_edges.discard(k.pipeline.contraction.accumulator)  # the body accesses registers, which have no edges
  staged = set[int]()
  if k.steps is not None:
    staged = {block.position for block in (*k.steps.inputs, *k.steps.held)}
    staged |= {mapping.num_inputs + number for number in k.steps.outputs}
  found = []
  for position in range(len(mapping.block_mappings)):
    ref, is_output = refs[position], position >= mapping.num_inputs or refs[position] in changed
    how = _how(kernel, position, ref in without_edges or position in outlive)
    if position in staged:
      how = STAGED
    elif k.inferred is not None and ref in k.inferred.shared:
      how = TILED
    found.append(Access(how, inside(kernel, position), is_output, position in outlive))
  _check_is_seen(kernel, found)
  return Body(body, tuple(found))


def _how(kernel: NativeKernel, position: int, without_edges: bool) -> str:
  """How a block is accessed that lies in its array, by a body that may need it without edges."""
  if kernel.index_maps[position] is None:
    return IN_PLACE
  dims = kernel.mapping.block_mappings[position].block_shape
  if any(isinstance(d, Indirect) for d in dims):
    return COPY
  hangs_over = not all(inside(kernel, position)) or any(isinstance(d, BoundedSlice) for d in dims)
  return COPY if without_edges and hangs_over else IN_PLACE


def _check_is_seen(kernel: NativeKernel, found: list[Access]) -> None:
  """Other devices see arrays, not the copies of their blocks that a body may have."""
  if not kernel.mesh:
    return
  for array, _ in symmetric_memory.plan(kernel).arrays:
    position = array.number - kernel.mapping.num_prefetch
    if position >= 0 and found[position].how != IN_PLACE:
      raise errors.NativeCodeError(
        f"The kernel '{kernel.name}': other devices access {kernel.mapping.block_mappings[position].origin}, of which the body needs a "
        "copy of each block here: it may hang over the edge of the array, or has elements at given numbers. Pass the whole array (pl.ANY)."
      )

"""Hand-written kernels whose CTAs cooperate in clusters: what they do to each other's shared memory.

    cluster_ref %x, %rank                         memory of another CTA, read and written by threads
    arrive %free, %slot {along=[1]}               at this barrier in all CTAs along dimension 1 of the grid
    copy_async %a, %tile, %full {along=[1]}       which all make the same copy: TMA brings each a part, for all of them

A wait at a barrier sees what its own CTA wrote. What others wrote it sees only if they release it to the whole cluster, which takes a
fence of all memory; so arrivals do that only in kernels that hand something over. A barrier behind which TMA writes again hands over
nothing: what was read has been read when threads arrive.
"""

from __future__ import annotations

import dataclasses
import math

from tilewright import errors
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.units.cluster import MAX_CLUSTER_BLOCKS
from tilewright.target.nvgpu.ir.ops import COPY_ASYNC, barrier_of
from tilewright.target.nvgpu.passes.layouts.hints import is_in_shared
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ops import OPS, refs_read, refs_written
from tilewright.tile.types import RefType, SemaphoreArrayType


@dataclasses.dataclass(frozen=True)
class Cooperation:
  """The clusters of a kernel: how many CTAs there are along each dimension of the grid from `first` on, and what they share."""

  sizes: tuple[int, ...]
  first: int
  barriers: frozenset[Value]  # at which other CTAs arrive, or what they bring
  hands_over: bool  # whether a CTA reads, or writes anew, what threads of another one wrote
  writes_there: bool  # whether threads write to the shared memory of other CTAs

  @property
  def size(self) -> int:
    return math.prod(self.sizes)

  def stride(self, dim: int) -> int:
    """How far apart in rank neighbours along a dimension of the grid are: the last dimension counts fastest."""
    return math.prod(self.sizes[dim - self.first + 1 :])

  def extent(self, dim: int) -> int:
    return self.sizes[dim - self.first]

  def ranks(self, dims: tuple[int, ...]) -> list[int]:
    """The ranks of all CTAs along some dimensions, relative to the first of them, in the order of their index along these."""
    found = [0]
    for dim in dims:
      found = [rank + n * self.stride(dim) for rank in found for n in range(self.extent(dim))]
    return found


def is_elsewhere(view: Value) -> bool:
  """Whether a view is of another CTA's memory."""
  while isinstance(op := view.owner, Op) and op.name in VIEWS:
    if op.name == "cluster_ref":
      return True
    view = op.operands[0]
  return False


def without_clusters(kernel: NativeKernel, arch: Arch) -> NativeKernel:
  """The kernel for an architecture without clusters: CTAs copy for themselves, and cannot access each other's memory."""
  for op in walk(kernel.body.body):
    if op.name == "cluster_ref":
      raise errors.UnsupportedFeatureError(
        f"The CTAs of a cluster access each other's shared memory at {op.attrs['where']} (ClusterBarrier, cluster_ref, async_store_smem), "
        f"which {arch.name} cannot do: clusters need a GPU of compute capability 9 or 10. Make the CTAs independent, and combine their "
        "results in a second kernel."
      )
    op.attrs = {name: value for name, value in op.attrs.items() if name != "along"}
  return dataclasses.replace(kernel, cluster=())


def find(kernel: NativeKernel) -> Cooperation | None:
  """How the CTAs of a kernel's clusters cooperate, after copies became ops; None if they do not. In place: what a warpgroup has for
  itself, no other CTA fills."""
  if not kernel.cluster:
    return None
  if math.prod(kernel.cluster) > MAX_CLUSTER_BLOCKS:
    raise errors.GridError(
      f"The kernel '{kernel.name}': cluster={kernel.cluster}: expected at most {MAX_CLUSTER_BLOCKS} CTAs that access each other's memory, "
      f"got {math.prod(kernel.cluster)}."
    )
  ops = list(walk(kernel.body.body))
  for op in ops:
    _check(op)
    if op.attrs.get("along") and not all(isinstance(base_of(v).owner, Block) for v in _shared_operands(op)):
      op.attrs = {name: value for name, value in op.attrs.items() if name != "along"}
  barriers = {base_of(_barrier(op)) for op in ops if op.attrs.get("along") or _arrives_elsewhere(op)}
  barriers |= {
    base_of(op.operands[0]) for op in ops if op.name == "cluster_ref" and not isinstance(op.result.type, RefType)
  }
  others = [op for op in ops if op.name == "cluster_ref" and isinstance(op.result.type, RefType)]
  if not barriers and not others:
    return None
  # The dimensions of the mesh, without the warpgroups' one
  own = len(kernel.mapping.grid) - kernel.mapping.num_vmapped - (kernel.warpgroups > 1)
  return Cooperation(
    kernel.cluster,
    own - len(kernel.cluster),
    frozenset(barriers),
    bool(others) or _hands_over(kernel, ops),
    any(is_elsewhere(ref) for op in ops if _accesses(op) for ref in refs_written(op)),
  )


def _barrier(op: Op) -> Value:
  return barrier_of(op)[0] if op.name == COPY_ASYNC else op.operands[0]


def _arrives_elsewhere(op: Op) -> bool:
  return op.name in ("arrive", COPY_ASYNC) and is_elsewhere(_barrier(op))


def _shared_operands(op: Op) -> list[Value]:
  """What must be memory of the whole CTA for other CTAs to fill it, or to arrive there."""
  return [op.operands[0], _barrier(op)] if op.name == COPY_ASYNC else [op.operands[0]]


def _accesses(op: Op) -> bool:
  return not OPS[op.name].is_pure and not op.blocks and op.name not in VIEWS


def _check(op: Op) -> None:
  """Other CTAs' barriers can be arrived at, and that is all."""
  if op.name in ("await", "read_semaphore", "signal", "wait") and is_elsewhere(op.operands[0]):
    raise errors.UnsupportedFeatureError(
      f"{op.loc or '?'}: a CTA can arrive at the barriers of another CTA of its cluster, and wait only at its own. Let the other CTA wait, "
      "and arrive at a barrier here."
    )
  kind = op.operands[0].type if op.name == "cluster_ref" else None
  if isinstance(kind, SemaphoreArrayType) and not kind.arrivals:
    raise errors.UnsupportedFeatureError(
      f"{op.attrs['where']}: a semaphore of another CTA of the cluster, which native code cannot access. Use plgpu.Barrier or "
      "plgpu.ClusterBarrier."
    )


def _hands_over(kernel: NativeKernel, ops: list[Op]) -> bool:
  """Whether CTAs may read arrays that they write, or bring each other what lies where threads wrote."""
  count = len(kernel.body.params) - len(kernel.scratch)
  arrays = {ref: number for number, ref in enumerate(kernel.body.params[:count])}
  same = {
    kernel.mapping.num_inputs + kernel.mapping.num_prefetch + out: into for into, out in kernel.input_output_aliases
  }
  filled = {base_of(op.operands[0]) for op in ops if op.name == COPY_ASYNC and op.attrs.get("along")}
  read, written = set[int](), set[int]()
  for op in ops:
    if not _accesses(op):
      continue
    for refs, known in ((refs_read(op), read), (refs_written(op), written)):
      known.update(same.get(arrays[base], arrays[base]) for base in map(base_of, refs) if base in arrays)
    if op.name != COPY_ASYNC and any(
      base_of(ref) in filled for ref in refs_written(op) if is_in_shared(base_of(ref).ref)
    ):
      return True
  return bool(read & written)

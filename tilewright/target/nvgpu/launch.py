"""A whole kernel as one GPU function: which block of threads runs which grid points, and where their blocks of data are.

Parallel grid dimensions are spread over the blocks of threads, one point each; the others are loops inside. A block of data is used where
it is. Where it may hang over an edge of its array, its view knows the edges (`views`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Position
from tilewright.target.llvm.loops import for_range, i64
from tilewright.target.llvm.types import I8, I32, I64, VOID
from tilewright.target.nvgpu import (
  blocks,
  choice,
  cp_async,
  effects,
  identities,
  pipeline,
  pipelined,
  threads,
  tma,
)
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.block_memory import SHARED
from tilewright.target.nvgpu.cluster import ALONE, Cluster
from tilewright.target.nvgpu.code import BlockCode
from tilewright.target.nvgpu.hints import given_layout
from tilewright.target.nvgpu.occupancy import choose_lanes, choose_threads, resident_blocks
from tilewright.target.nvgpu.points import Meetings, Points
from tilewright.target.nvgpu.registers import RegisterRef
from tilewright.target.nvgpu.reporting import Report
from tilewright.target.nvgpu.statements import STATEMENTS
from tilewright.target.nvgpu.symbols import KERNEL
from tilewright.target.nvgpu.tma import TensorMap
from tilewright.target.nvgpu.views import View
from tilewright.tile.ir import Block, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.ranges import always_inside
from tilewright.tile.rewrite import rewrite

_DYNAMIC_BLOCKS = 1024  # where the grid is dynamic; with scratch memory an eighth of them
_MOST_WORKSPACE = 16 << 30  # bytes of global memory that one launch may take for buffers
_MAP = "tensor_map."
_GLOBAL = 1  # LLVM's address space


@dataclasses.dataclass(frozen=True)
class Launch:
  """What it takes to start a kernel, besides its code."""

  num_threads: int
  shared_bytes: int
  scratch_bytes: int  # of global memory, for each block of threads
  parallel: tuple[int, ...]
  grid: tuple[Any, ...]
  maps: tuple[TensorMap, ...] = ()  # parameters after all others
  report: Report | None = None  # what the kernel may say; the log lies in front of the scratch memory
  workspace_param: int = 0  # the number of the parameter that points to both
  cluster: int = 1  # blocks of threads that run together
  exchanges_registers: bool = False  # some warpgroups need more than all would have alike
  resident: int | None = None  # blocks of threads that take all points of the grid, one after the other

  @property
  def log_bytes(self) -> int:
    return 0 if self.report is None else self.report.log_bytes

  @property
  def workspace_bytes(self) -> int:
    """Global memory for the log and all blocks of threads together."""
    return self.log_bytes + self.scratch_bytes * self.launched_blocks

  def without_silent_log(self, ptx: str) -> Launch:
    """Without the log, where LLVM has proven that nothing is ever said."""
    if self.report is None or self.scratch_bytes or f"{KERNEL}_param_{self.workspace_param}]" in ptx:
      return self
    return dataclasses.replace(self, report=None)

  @property
  def launched_blocks(self) -> int:
    """How many blocks of threads are launched. The points of a dynamic grid are taken in turn."""
    if self.num_blocks is not None:
      return self.num_blocks if self.resident is None else min(self.resident, self.num_blocks)
    return _DYNAMIC_BLOCKS // 8 if self.scratch_bytes else _DYNAMIC_BLOCKS

  @property
  def num_blocks(self) -> int | None:
    """How many blocks of threads there are; None where that is dynamic."""
    sizes = [self.grid[d] for d in self.parallel]
    return None if None in sizes else math.prod(sizes)


class _Frame:
  """A kernel function that is being written: its parameters, and what all ways to fill it begin with."""

  def __init__(self, kernel: NativeKernel, maps: tuple[TensorMap, ...] = ()):
    mapping = self.mapping = kernel.mapping
    self.kernel = kernel
    self.module = ir.Module("tilewright")
    self.count = mapping.num_prefetch + len(mapping.block_mappings)
    self.dynamic = [d for d, size in enumerate(mapping.grid) if size is None]
    pointer = ir.PointerType(addrspace=_GLOBAL)
    params = [pointer] * (self.count + 1 + len(self.dynamic)) + [ty.PTR] * len(maps)
    self.function = ir.Function(self.module, ir.FunctionType(VOID, params), KERNEL)
    self.function.calling_convention = "ptx_kernel"
    args = self.function.args
    aliased = {i for i, _ in kernel.input_output_aliases}
    for i in range(mapping.num_prefetch + mapping.num_inputs):
      if i not in aliased:  # what only is read may be read ahead of what is written
        args[i].add_attribute("noalias")
    self.maps = list(args[len(args) - len(maps) :]) if maps else []
    for number, tensor_map in enumerate(self.maps):
      tensor_map.name = f"{_MAP}{number}"
    self.shared = ir.GlobalVariable(self.module, ir.ArrayType(I8, 0), "shared", addrspace=SHARED)
    self.shared.linkage = "external"
    self.b = b = ir.IRBuilder(self.function.append_basic_block("entry"))
    self.arrays = [b.addrspacecast(a, ty.PTR) for a in args[: self.count + 1]]
    bounds = {d: b.load(p, typ=I32, align=4) for d, p in zip(self.dynamic, args[self.count + 1 :])}
    self.sizes = [b.zext(bounds[d], I64) if d in bounds else i64(int(size)) for d, size in enumerate(mapping.grid)]
    self.number = threads.block_id(b)
    self.report = Report() if effects.says_something(kernel.body.body) else None
    self.scratch = b.alloca(ty.PTR)  # filled at the end, when it is known how much each block of threads needs
    self.indices: list[Any] = [i64(0)] * len(mapping.grid)
    self.placed: dict[Value, View] = {}  # buffers of blocks that lie in shared memory as the user says

  def code(self, arch: Arch, num_threads: int, kind: type[BlockCode] = BlockCode) -> Any:
    b = self.b
    made = kind(
      b,
      arch,
      num_threads,
      choose_lanes(self.kernel, num_threads),
      b.addrspacecast(self.shared, ty.PTR),
      self.scratch,
      STATEMENTS,
    )
    made.whole, made.users = self.kernel.body.body, users(self.kernel.body.body)
    if self.report is not None:
      made.error = effects.Log(b, self.arrays[self.count], self.report)
    return made

  def begin(self, code: BlockCode) -> None:
    """The entry block keeps only stack slots and what is computed once; the addresses of buffers follow, then everything else."""
    self.buffers = self.b.append_basic_block("buffers")
    self.start = self.b.append_basic_block("start")
    code.buffers = ir.IRBuilder(self.buffers)
    self.b.position_at_end(self.start)

  def memory(self, code: BlockCode, known: Mapping[int, Any] = {}) -> list[Any]:
    """Scratch memory; what is `known`, by number, lies elsewhere already."""
    return blocks.scratch(code, self.kernel, parallel_dims(self.kernel), known)

  def prefetched(self, code: BlockCode) -> list[View]:
    count = self.mapping.num_prefetch
    return [blocks.prefetched(code, self.kernel, i, self.arrays[i], self.indices) for i in range(count)]

  def starts(self, code: BlockCode, position: int, prefetched: list[View]) -> list[Any]:
    """Where the block of an input or output begins, at the present indices."""
    return [place.start for place in self.block(code, position, prefetched, None).where]

  def view(self, code: BlockCode, position: int, prefetched: list[View], base: Any) -> View:
    """The block of an input or output, where it is, at the present indices."""
    return self.block(code, position, prefetched, base).in_place()

  def block(self, code: BlockCode, position: int, prefetched: list[View], base: Any) -> blocks.Block:
    array = self.arrays[self.mapping.num_prefetch + position]
    return blocks.Block.of(code, self.kernel, position, array, base, prefetched, self.indices)

  def stand(self, code: BlockCode) -> None:
    """Let a body know the present indices."""
    b, skip = code.b, self.mapping.num_vmapped
    code.instance = Position(
      tuple(b.trunc(i64(i), I32) for i in self.indices[skip:]), tuple(b.trunc(s, I32) for s in self.sizes[skip:])
    )

  def instance(
    self,
    code: BlockCode,
    memory: list[Any],
    body: Block,
    kept: tuple[Value, RegisterRef, Value] | None = None,
    staged: Mapping[int, Callable[[View], View]] = {},
  ) -> None:
    """Run the body, or a form of it, at the present indices. `kept` is an output whose block is in registers, and its other name;
    `staged` gives blocks that lie elsewhere, by position."""
    mapping, num_prefetch = self.mapping, self.mapping.num_prefetch
    self.stand(code)
    prefetched = self.prefetched(code)
    reshaped = blocks.seen_without_edges(body)
    views: list[Any] = []
    copies: list[blocks.Copy | blocks.Placed] = []
    for k, base in enumerate(blocks.bases(self.kernel)):
      block = self.block(code, k, prefetched, base)
      if k in staged:
        views.append(staged[k](block.in_place()))
        continue
      ref = body.params[num_prefetch + k]
      if code.inferred is not None and ref in code.inferred.shared:
        if ref not in self.placed:
          self.placed[ref] = code.allocate_ref(ref)
        copies.append(blocks.Placed(code, block, ref, self.placed[ref], is_output=k >= mapping.num_inputs))
        views.append(copies[-1].view)
        continue
      if not block.must_be_copied(ref in reshaped):
        views.append(block.in_place())
        continue
      copies.append(blocks.Copy(code, block, is_output=k >= mapping.num_inputs))
      views.append(copies[-1].view)
    for param, known in zip(body.params, [*prefetched, *views, *memory], strict=True):
      code.env[param] = known
    if kept is not None:
      ref, registers, output = kept
      code.env[output], code.env[ref] = code.env[ref], registers
    with code.scope():
      code.block(body)
    for copy in copies:
      copy.write_back()

  def finish(self, code: BlockCode, launch: Launch, num_blocks: int) -> str:
    b = self.b
    b.ret_void()
    self.shared.align = code.arena_align
    b.position_at_end(self.function.entry_basic_block)
    own = b.add(b.mul(b.zext(self.number, I64), i64(code.scratch_bytes)), i64(launch.log_bytes))
    b.store(b.gep(self.arrays[self.count], [own], source_etype=I8), self.scratch)
    b.branch(self.buffers)
    code.buffers.branch(self.start)
    if launch.workspace_bytes > _MOST_WORKSPACE:
      raise errors.ResourceExhaustedError(
        f"The kernel '{self.kernel.name}' exceeds available shared memory, {code.arch.shared_bytes} bytes on {code.arch.name}, and global "
        f"memory cannot take its place: {launch.launched_blocks} blocks of threads would need {launch.workspace_bytes} bytes of it. "
        f"Its buffers: {'; '.join(code.allocated)}. Use smaller blocks."
      )
    return _with_limits(str(self.module), launch.num_threads, num_blocks)


def emit_kernel(
  kernel: NativeKernel, arch: Arch, num_warps: int | None = None, cluster: tuple[int, ...] | None = None
) -> tuple[str, Launch]:
  """The LLVM IR of a kernel, and how to launch it.

  The parameters point to the arrays, scratch memory, then dynamic grid sizes; tensor maps follow, by value.
  """
  rewrite(kernel.body, identities.RULES)
  parallel = tuple(parallel_dims(kernel))
  if kernel.warpgroups > 1:
    return _emit_warpgroups(kernel, arch, parallel)
  wished = _cluster(kernel, parallel, cluster) if cluster is not None and arch.has_tma else ALONE
  plan = _pipeline(kernel, arch, num_warps, wished)
  if wished != ALONE and getattr(plan, "cluster", ALONE) != wished:
    raise errors.GridError(
      f"cluster: the blocks of the kernel '{kernel.name}' cannot share operands in clusters of {cluster} on {arch.name}. That takes a "
      "product that is added up along the last grid dimension by TMA and wgmma, operands that are the same along the dimensions of the "
      "cluster, and a grid that the cluster divides. Leave cluster out."
    )
  if plan is not None:
    return _emit_pipeline(kernel, arch, parallel, plan)
  return _emit_points(kernel, arch, parallel, choose_threads(kernel, num_warps, arch))


def _emit_points(kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...], num_threads: int) -> tuple[str, Launch]:
  """A kernel whose blocks of threads take one point of the parallel dimensions each."""
  frame = _Frame(kernel)
  code = frame.code(arch, num_threads)
  frame.begin(code)
  code.inferred = choice.choose(kernel, arch, num_threads // threads.WARP)
  resident = resident_blocks(kernel, arch, num_threads, parallel)
  points = Points(frame, code, parallel, resident)
  b = frame.b
  if frame.dynamic:
    total: Any = i64(1)
    for d in parallel:
      total = b.mul(total, frame.sizes[d])
    with for_range(b, b.zext(frame.number, I64), total, b.zext(threads.num_blocks(b), I64)) as number, code.scope():
      points.run(number)
      code.settle_memory()
  else:
    number = b.zext(frame.number, I64)
    points.ask_ahead(number)
    points.run(number)
    points.let_go(number)
  launch = Launch(
    num_threads,
    code.arena_bytes,
    code.scratch_bytes,
    parallel,
    kernel.mapping.grid,
    report=frame.report,
    workspace_param=frame.count,
  )
  return frame.finish(code, launch, resident), launch


def _emit_warpgroups(kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...]) -> tuple[str, Launch]:
  """A kernel of which several warpgroups run each instance, each its own way through the body: see `arrivals`."""
  if any(op.name == "print" for op in walk(kernel.body.body)):
    raise errors.UnsupportedFeatureError(
      f"The kernel '{kernel.name}': several warpgroups (num_threads={kernel.warpgroups}) cannot print on a GPU. Write what there is to "
      "see to an output, or run the kernel on the CPU."
    )
  frame = _Frame(kernel)
  code = frame.code(arch, threads.GROUP)
  code.divide(kernel.warpgroups)
  frame.begin(code)
  code.inferred = choice.choose(kernel, arch, threads.GROUP // threads.WARP)
  Meetings(frame, code, parallel).run(frame.b.zext(frame.number, I64))
  if code.on_their_way:  # no thread ends before what it asked for is there
    cp_async.commit(frame.b)
    cp_async.wait(frame.b, 0)
  launch = Launch(
    kernel.warpgroups * threads.GROUP,
    code.arena_bytes,
    code.scratch_bytes,
    parallel,
    kernel.mapping.grid,
    report=frame.report,
    workspace_param=frame.count,
  )
  return frame.finish(code, launch, 1), launch


def layouts_text(kernel: NativeKernel, arch: Arch, launch: Launch) -> str:
  """The layouts of a kernel in words, for those who look at how it was compiled."""
  num_warps = launch.num_threads // kernel.warpgroups // threads.WARP
  plan = _pipeline(kernel, arch, num_warps) if kernel.warpgroups == 1 else None
  if plan is not None:
    return f"{type(plan).__name__}: {plan.distribution}, {plan.stages} stages\n"
  found = choice.choose(kernel, arch, num_warps)
  return "Every tile is held in the ordinary layout of its shape.\n" if found is None else found.text(kernel.body)


def _pipeline(
  kernel: NativeKernel, arch: Arch, num_warps: int | None, cluster: Cluster = ALONE
) -> pipeline.Plan | None:
  """The pipeline of a kernel, if it has one that does all that the kernel says."""
  inside = lambda m, index_map: always_inside(kernel.mapping.grid, m, index_map)
  plan = pipeline.find(kernel, arch, inside, num_warps, cluster)
  if plan is None or effects.says_something(kernel.body.body) or not _honours(kernel, plan):
    return None
  return plan


def _honours(kernel: NativeKernel, plan: pipeline.Plan) -> bool:
  """Whether a pipeline does what the user says about layouts."""
  given = {position: given_layout(ref.ref) for position, ref in choice.given_blocks(kernel).items()}
  others = len(choice.given_refs(kernel)) - len(given) + len(choice.casts(kernel))
  own = pipeline.stage_layouts(plan)
  sums = [plan.contraction.accumulator]
  return (
    not others
    and all(own.get(p) == g for p, g in given.items())
    and all(a in sums for a in choice.accumulators(kernel))
  )


def _cluster(kernel: NativeKernel, parallel: tuple[int, ...], sizes: tuple[int, ...] | None) -> Cluster:
  """How the blocks of a cluster lie along the last two parallel dimensions of the grid."""
  if sizes is None or all(size == 1 for size in sizes):
    return ALONE
  grid, skip = kernel.mapping.grid, kernel.mapping.num_vmapped
  if len(sizes) != len(grid) - skip:
    raise errors.GridError(f"cluster: expected a size for each of {len(grid) - skip} grid dimensions, got {sizes}.")
  whole = (1,) * skip + tuple(sizes)
  rows, columns = parallel[-2:] if len(parallel) > 1 else (None, None)
  if rows is None or columns is None or any(size > 1 and d not in (rows, columns) for d, size in enumerate(whole)):
    raise errors.GridError(
      f"cluster: expected sizes above 1 only along the last two parallel dimensions of the grid, got {sizes}."
    )
  return Cluster(whole[rows], whole[columns])


def _emit_pipeline(
  kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...], plan: pipeline.Plan
) -> tuple[str, Launch]:
  """A kernel that brings the operands of a contraction into shared memory a few steps ahead: see `pipeline`."""
  stores = plan.stores if isinstance(plan, pipeline.WarpgroupPlan) else ()
  maps = (*plan.tensor_maps, *stores)
  frame = _Frame(kernel, maps)
  code = pipelined.emit(frame, arch, parallel, plan)
  launch = Launch(
    plan.num_threads,
    code.arena_bytes,
    code.scratch_bytes,
    parallel,
    kernel.mapping.grid,
    maps,
    cluster=plan.cluster.size if isinstance(plan, pipeline.WarpgroupPlan) else 1,
    exchanges_registers=isinstance(plan, pipeline.RegisterPlan),
    resident=plan.resident if isinstance(plan, pipeline.RegisterPlan) else None,
  )
  return frame.finish(code, launch, 1), launch


def _with_limits(text: str, num_threads: int, num_blocks: int) -> str:
  """Tell ptxas how many threads a block has and how many blocks shall fit a multiprocessor: that leaves so many registers for each."""
  lines = []
  for line in text.splitlines():
    if line.startswith(f'define ptx_kernel void @"{KERNEL}"('):
      by_value = f'ptr byval([{tma.MAP_BYTES} x i8]) align {tma.MAP_ALIGNMENT} "nvvm.grid_constant"'
      line = line.replace(f'ptr %"{_MAP}', f'{by_value} %"{_MAP}') + " #0"
    lines.append(line)
  limits = f'"nvvm.reqntid"="{num_threads}" "nvvm.minctasm"="{num_blocks}"'
  return "\n".join([*lines, f"attributes #0 = {{ {limits} }}", ""])

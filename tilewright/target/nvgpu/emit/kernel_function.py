"""The function of a kernel while it is emitted: its parameters, its blocks of data, and its launch configuration.

    frame = Frame(lowered)
    code = frame.code(num_threads)
    frame.begin(code)
    frame.indices[0] = …                          the grid indices of this CTA
    frame.instance(code, memory, body)            a body there, as often as need be
    text, launch = frame.finish(code, num_threads)

The parameters point to the arrays, scratch memory, then dynamic grid sizes; tensor maps follow, by value.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm import locations
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Position
from tilewright.target.llvm.loops import i64
from tilewright.target.llvm.types import I8, I32, I64, VOID
from tilewright.target.nvgpu.emit import blocks
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.ops import effects, peers
from tilewright.target.nvgpu.emit.profiler import Profiler
from tilewright.target.nvgpu.emit.register_tiles import RegisterRef
from tilewright.target.nvgpu.emit.statements import STATEMENTS
from tilewright.target.nvgpu.emit.units import shared_memory, threads, tma
from tilewright.target.nvgpu.emit.units.tma import TensorMap
from tilewright.target.nvgpu.emit.views import View
from tilewright.target.nvgpu.host.device_log import Report, may_log
from tilewright.target.nvgpu.host.profile import Records
from tilewright.target.nvgpu.host.symbols import KERNEL
from tilewright.target.nvgpu.ir.ops import COPY_ASYNC, STORE_ASYNC
from tilewright.target.nvgpu.passes import symmetric_memory
from tilewright.target.nvgpu.passes.gpu_kernel import COPY, STAGED, TILED, Access, Body, GpuKernel
from tilewright.target.nvgpu.passes.memory import MAX_WORKSPACE, SharedBuffer
from tilewright.target.nvgpu.passes.occupancy import choose_lanes
from tilewright.target.nvgpu.passes.plans import Plan
from tilewright.target.nvgpu.passes.symmetric_memory import Symmetric
from tilewright.tile.ir import Value, users
from tilewright.tile.parallel import parallel_dims

_DYNAMIC_BLOCKS = 1024  # where the grid is dynamic; with scratch memory an eighth of them
_MAX_GRID_BLOCKS = (
  1 << 31
) - 1  # of a launch along the first dimension (CUDA C programming guide, table of compute capabilities)
_RECORDS_ALIGNMENT = 64
_MAP = "tensor_map."
_GLOBAL = 1  # LLVM's address space


@dataclasses.dataclass(frozen=True)
class Launch:
  """The launch configuration of a kernel."""

  num_threads: int
  shared_bytes: int
  scratch_bytes: int  # of global memory, for each CTA
  parallel: tuple[int, ...]
  grid: tuple[Any, ...]
  maps: tuple[TensorMap, ...] = ()  # parameters after all others
  report: Report | None = None  # the messages that the kernel may log; the log is located before the scratch memory
  workspace_param: int = 0  # the number of the parameter that points to both
  cluster: int = 1  # CTAs that run together
  grid_bytes: int = 0  # behind the log: zero at first, and shared by all CTAs, which all run at the same time
  exchanges_registers: bool = False  # some warpgroups need more registers than an equal share (setmaxnreg)
  resident: int | None = None  # CTAs that take all points of the grid, one after the other
  profile: Records | None = None  # how the profiler's records lie, behind the scratch memory of all CTAs
  symmetric: Symmetric | None = None  # the memory that other devices access
  steps_ahead: int = dataclasses.field(
    default=1, compare=False, repr=False
  )  # whose blocks have a place in shared memory
  buffers: tuple[SharedBuffer, ...] = dataclasses.field(default=(), compare=False, repr=False)  # in shared memory
  plan: Plan | None = dataclasses.field(default=None, compare=False, repr=False)  # what was decided, in words
  lowered: GpuKernel | None = dataclasses.field(default=None, compare=False, repr=False)  # and as data

  @property
  def log_bytes(self) -> int:
    return 0 if self.report is None else self.report.log_bytes

  @property
  def workspace_bytes(self) -> int:
    """Global memory for the log and all CTAs together."""
    return self.profile_start + (0 if self.profile is None else self.profile.nbytes(self.launched_blocks))

  @property
  def profile_start(self) -> int:
    """Where the profiler's records begin in the workspace."""
    nbytes = self.log_bytes + self.grid_bytes + self.scratch_bytes * self.launched_blocks
    return nbytes if self.profile is None else -(-nbytes // _RECORDS_ALIGNMENT) * _RECORDS_ALIGNMENT

  def without_silent_log(self, ptx: str) -> Launch:
    """Without the log, where LLVM has proven that nothing is ever logged."""
    if self.report is None or self.scratch_bytes or self.grid_bytes or f"{KERNEL}_param_{self.workspace_param}]" in ptx:
      return self
    return dataclasses.replace(self, report=None)

  @property
  def launched_blocks(self) -> int:
    """How many CTAs are launched. The points of a dynamic grid are taken in turn."""
    if self.num_blocks is not None:
      return self.num_blocks if self.resident is None else min(self.resident, self.num_blocks)
    return _DYNAMIC_BLOCKS // 8 if self.scratch_bytes else _DYNAMIC_BLOCKS

  @property
  def num_blocks(self) -> int | None:
    """How many CTAs there are; None where that is dynamic."""
    sizes = [self.grid[d] for d in self.parallel]
    return None if None in sizes else math.prod(sizes)


class Frame:
  """A kernel function that is being emitted: its parameters, and the code that all forms of kernels begin with."""

  def __init__(self, lowered: GpuKernel, maps: tuple[TensorMap, ...] = (), profile: int | None = None):
    self.lowered, kernel = lowered, lowered.kernel
    mapping = self.mapping = kernel.mapping
    self.kernel = kernel
    self.module = ir.Module("tilewright")
    self.count = mapping.num_prefetch + len(mapping.block_mappings)
    self.dynamic = [d for d, size in enumerate(mapping.grid) if size is None]
    self.symmetric = symmetric_memory.plan(kernel) if kernel.mesh else None
    pointer = ir.PointerType(addrspace=_GLOBAL)
    params = [pointer] * (self.count + 1 + len(self.dynamic) + 2 * bool(kernel.mesh))
    self.function = ir.Function(self.module, ir.FunctionType(VOID, params), KERNEL)
    self.function.calling_convention = "ptx_kernel"
    args = self.function.args
    aliased = {i for i, _ in kernel.input_output_aliases}
    for i in range(mapping.num_prefetch + mapping.num_inputs):
      if i not in aliased and not kernel.mesh:  # loads of read-only arrays may be reordered before stores
        args[i].add_attribute("noalias")
    self.tensor_maps: dict[TensorMap, ir.Argument] = {}
    self.maps = [self.tensor_map(m) for m in maps]
    self.shared = ir.GlobalVariable(self.module, ir.ArrayType(I8, 0), "shared", addrspace=shared_memory.SPACE)
    self.shared.linkage = "external"
    self.b = b = ir.IRBuilder(self.function.append_basic_block("entry"))
    self.arrays = [b.addrspacecast(a, ty.PTR) for a in args[: self.count + 1]]
    bounds = {d: b.load(p, typ=I32, align=4) for d, p in zip(self.dynamic, args[self.count + 1 :])}
    # The table of heaps, and the number of the call; tensor maps follow.
    self.peers = (b.addrspacecast(args[-2], ty.PTR), b.ptrtoint(args[-1], I64)) if kernel.mesh else None
    self.sizes = [b.zext(bounds[d], I64) if d in bounds else i64(int(size)) for d, size in enumerate(mapping.grid)]
    self.number = threads.block_id(b)
    self.report = Report() if kernel.mesh or may_log(kernel.body.body) else None
    self.scratch = b.alloca(ty.PTR)  # filled at the end, when it is known how much each CTA needs
    self.grid_memory: Any = None  # the same for what all CTAs share
    self.profiler = None if profile is None else Profiler(b, profile)
    self.indices: list[Any] = [i64(0)] * len(mapping.grid)
    self.placed: dict[Value, View] = {}  # buffers of blocks in shared memory, in the user's layout
    self.last: dict[int, blocks.PreviousBlock] = {}  # of blocks whose copies outlive a step, by position

  def tensor_map(self, m: TensorMap) -> ir.Argument:
    """The parameter of a tensor map, after all others."""
    if m not in self.tensor_maps:
      made = ir.Argument(self.function, ty.PTR, f"{_MAP}{len(self.tensor_maps)}")
      self.function.args = (*self.function.args, made)
      self.tensor_maps[m] = made
    return self.tensor_maps[m]

  def code(self, num_threads: int, kind: type[BlockCode] = BlockCode) -> Any:
    b = self.b
    made = kind(
      b,
      self.lowered.arch,
      num_threads,
      choose_lanes(self.kernel, num_threads),
      b.addrspacecast(self.shared, ty.PTR),
      self.scratch,
      {**STATEMENTS, **peers.STATEMENTS} if self.kernel.mesh else STATEMENTS,
    )
    made.whole, made.users = self.kernel.body.body, users(self.kernel.body.body)
    if self.report is not None:
      made.error = effects.Log(b, self.arrays[self.count], self.report)
    made.profiler, made.streams, made.roles = self.profiler, self.lowered.streams, self.lowered.roles
    made.inferred, made.chains, made.cooperation = self.lowered.inferred, self.lowered.chains, self.lowered.cooperation
    made.direct, made.loops = self.lowered.direct, self.lowered.loops
    if self.kernel.grid_semaphores:
      self.grid_memory = made.grid_memory = b.alloca(ty.PTR)
    return made

  def begin(self, code: BlockCode) -> None:
    """The entry block holds only stack slots and values computed once; the addresses of buffers follow, then everything else."""
    self.buffers = self.b.append_basic_block("buffers")
    self.start = self.b.append_basic_block("start")
    code.buffers = ir.IRBuilder(self.buffers)
    assert self.lowered.arena is not None
    code.given = self.lowered.arena.copied()
    self.b.position_at_end(self.start)
    if self.profiler is not None:
      self.profiler.begin()

  def begin_steps(self, code: BlockCode) -> None:
    """Before the steps of a point of the parallel dimensions: no block has been loaded yet."""
    for k in (k for k, access in enumerate(self.lowered.bodies[0].accesses) if access.outlives):
      if k not in self.last:
        self.last[k] = blocks.PreviousBlock(code, self.mapping.block_mappings[k].block_shape)
      self.last[k].forget()

  def memory(self, code: BlockCode, known: Mapping[int, Any] = {}) -> list[Any]:
    """Scratch memory; buffers that are `known`, by number, are already allocated elsewhere."""
    return blocks.scratch(code, self.kernel, self.lowered.scratch, parallel_dims(self.kernel), known)

  def prefetched(self, code: BlockCode) -> list[View]:
    """The prefetched operands at the present indices."""
    count = self.mapping.num_prefetch
    return [blocks.prefetched(code, self.kernel, i, self.arrays[i], self.indices) for i in range(count)]

  def starts(self, code: BlockCode, position: int) -> list[Any]:
    """Where the block of an input or output begins, at the present indices."""
    return [place.start for place in self.block(code, position, None).where]

  def view(self, code: BlockCode, position: int, base: Any) -> View:
    """The block of an input or output, where it is, at the present indices."""
    return self.block(code, position, base).in_place()

  def block(self, code: BlockCode, position: int, base: Any, prefetched: Sequence[View] | None = None) -> blocks.Block:
    """The block of an input or output at the present indices, which also select among batched `prefetched` operands."""
    array = self.arrays[self.mapping.num_prefetch + position]
    own = self.prefetched(code) if prefetched is None else prefetched
    inside = self.lowered.bodies[0].accesses[position].inside
    return blocks.Block.of(code, self.kernel, position, inside, array, base, own, self.indices)

  def set_indices(self, code: BlockCode) -> None:
    """Set the current grid indices for a body."""
    b, skip = code.b, self.mapping.num_vmapped
    code.instance = Position(
      tuple(b.trunc(i64(i), I32) for i in self.indices[skip:]), tuple(b.trunc(s, I32) for s in self.sizes[skip:])
    )

  def instance(
    self,
    code: BlockCode,
    memory: list[Any],
    body: Body,
    register_output: tuple[Value, RegisterRef, Value] | None = None,
    staged: Mapping[int, Callable[[View], View]] = {},
  ) -> None:
    """Run a body at the present indices. `register_output` is an output whose block is in registers, and its second name; `staged`
    gives the blocks that are staged, by position."""
    self.set_indices(code)
    prefetched = self.prefetched(code)
    views: list[Any] = []
    copies: list[blocks.Copy | blocks.Placed] = []
    for k, (base, access) in enumerate(zip(blocks.bases(self.kernel), body.accesses, strict=True)):
      block = self.block(code, k, base, prefetched)
      if access.how in (COPY, TILED):
        copies.append(self._copied(code, k, block, access))
        views.append(copies[-1].view)
      else:
        views.append(staged[k](block.in_place()) if access.how == STAGED else block.in_place())
    for param, known in zip(body.block.params, [*prefetched, *views, *memory], strict=True):
      code.env[param] = known
    if register_output is not None:
      ref, registers, output = register_output
      code.env[output], code.env[ref] = code.env[ref], registers
    with code.scope():
      code.block(body.block)
    for copy in copies:
      if copy.is_output:
        with code.span("store", "write back"):
          copy.write_back()

  def _copied(self, code: BlockCode, k: int, block: blocks.Block, access: Access) -> blocks.Copy | blocks.Placed:
    """The copy of a block, in the user's layout or row by row."""
    origin, last, ref = (
      self.mapping.block_mappings[k].origin,
      self.last.get(k),
      self.kernel.body.params[self.mapping.num_prefetch + k],
    )
    if access.how == TILED and ref not in self.placed:
      code.location = f"the block of {origin} of the kernel '{self.kernel.name}'"
      self.placed[ref] = code.allocate_ref(ref)
      code.location = ""
    with code.span("load", origin):
      if access.how == TILED:
        return blocks.Placed(code, block, ref, self.placed[ref], is_output=access.is_written, last=last)
      return blocks.Copy(code, block, is_output=access.is_written, last=last)

  def finish(self, code: BlockCode, num_threads: int, **more: Any) -> tuple[str, Launch]:
    """The LLVM IR, and how to launch it. `more` is for `Launch`."""
    lowered, given = self.lowered, code.given
    launch = Launch(
      num_threads,
      given.used,
      given.used_of_global,
      lowered.parallel,
      self.mapping.grid,
      tuple(self.tensor_maps),
      report=self.report,
      grid_bytes=given.used_of_grid,
      workspace_param=self.count,
      steps_ahead=code.steps_ahead,
      buffers=tuple(given.buffers),
      symmetric=self.symmetric,
      plan=dataclasses.replace(lowered.plan(), notes=(*lowered.plan().notes, *_ways(code))),
      lowered=lowered,
      **more,
    )
    b = self.b
    if self.profiler is not None:
      self.profiler.end()
    b.ret_void()
    self.shared.align = given.align
    b.position_at_end(self.function.entry_basic_block)
    if self.profiler is not None:
      launch = dataclasses.replace(launch, profile=self.profiler.records_of(num_threads))
      self.profiler.place(b.gep(self.arrays[self.count], [i64(launch.profile_start)], source_etype=I8), num_threads)
    own = b.add(b.mul(b.zext(self.number, I64), i64(given.used_of_global)), i64(launch.log_bytes + launch.grid_bytes))
    b.store(b.gep(self.arrays[self.count], [own], source_etype=I8), self.scratch)
    if self.grid_memory is not None:
      b.store(b.gep(self.arrays[self.count], [i64(launch.log_bytes)], source_etype=I8), self.grid_memory)
    b.branch(self.buffers)
    code.buffers.branch(self.start)
    if launch.launched_blocks > _MAX_GRID_BLOCKS:
      raise errors.ResourceExhaustedError(
        f"The kernel '{self.kernel.name}' has {launch.launched_blocks} instances, which exceed available CTAs: a grid of a GPU"
        f" has at most {_MAX_GRID_BLOCKS}. Use larger blocks, or make a dimension of the grid a loop in the kernel."
      )
    if launch.workspace_bytes > MAX_WORKSPACE:
      raise errors.ResourceExhaustedError(
        f"The kernel '{self.kernel.name}' exceeds available shared memory, {code.arch.shared_bytes} bytes on {code.arch.name}, and global "
        f"memory cannot take its place: {launch.launched_blocks} CTAs would need {launch.workspace_bytes} bytes of it. "
        f"Its buffers: {'; '.join(given.allocated)}. Use smaller blocks."
      )
    locations.attach(self.module)
    return _with_limits(str(self.module), num_threads, lowered.resident), launch


def _ways(code: BlockCode) -> Iterator[str]:
  """How products and copies are carried out."""
  what = {COPY_ASYNC: "copy", STORE_ASYNC: "store"}
  yield from dict.fromkeys(
    f"{what.get(op.name, 'product')} at {str(op.loc or '?').rpartition('/')[2]}: {way}" for op, way in code.ways.items()
  )


def _with_limits(text: str, num_threads: int, num_blocks: int) -> str:
  """Set the number of threads of a CTA and the minimum of CTAs per SM (`reqntid`, `minctasm`), from which ptxas derives the registers."""
  lines = []
  for line in text.splitlines():
    if line.startswith(f'define ptx_kernel void @"{KERNEL}"('):
      by_value = f'ptr byval([{tma.MAP_BYTES} x i8]) align {tma.MAP_ALIGNMENT} "nvvm.grid_constant"'
      line = line.replace(f'ptr %"{_MAP}', f'{by_value} %"{_MAP}')
      head, metadata, rest = line.partition(" !dbg ")  # attributes precede metadata
      line = f"{head.rstrip()} #0{metadata}{rest}"
    lines.append(line)
  limits = f'"nvvm.reqntid"="{num_threads}" "nvvm.minctasm"="{num_blocks}"'
  return "\n".join([*lines, f"attributes #0 = {{ {limits} }}", ""])

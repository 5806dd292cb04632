"""A whole kernel as one GPU function: which block of threads runs which grid points, and where their blocks of data are.

Parallel grid dimensions are spread over the blocks of threads, one point each; the others are loops inside. A block of data is used where
it is. Where it may hang over an edge of its array, its view knows the edges (`views`).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.code import Position
from tilewright.target.llvm.loops import add, for_range, i64, mul
from tilewright.target.llvm.types import I8, I32, I64, VOID
from tilewright.target.nvgpu import pipeline, pipelined, threads, tma
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.code import SHARED, BlockCode
from tilewright.target.nvgpu.statements import STATEMENTS
from tilewright.target.nvgpu.symbols import KERNEL
from tilewright.target.nvgpu.tma import TensorMap
from tilewright.target.nvgpu.views import Edge, View, multiple
from tilewright.tile.grid import Blocked, BlockMapping, Element, Squeezed
from tilewright.tile.ir import Block, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.ranges import always_inside
from tilewright.tile.types import RefType, dense_strides

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

  @property
  def num_blocks(self) -> int | None:
    """How many blocks of threads there are; None where that is dynamic."""
    sizes = [self.grid[d] for d in self.parallel]
    return None if None in sizes else math.prod(sizes)


def choose_threads(kernel: NativeKernel, asked: int | None) -> int:
  """Enough threads that each has a few vectors of the largest block."""
  if asked is not None:
    return asked * threads.WARP
  largest = max((math.prod(_kept(m)) for m in kernel.mapping.block_mappings), default=1)
  for count in (512, 256):
    if largest >= count * 32:
      return count
  return 128


def _kept(m: BlockMapping) -> list[int]:
  return [d.block_size for d in m.block_shape if not isinstance(d, Squeezed)]


def choose_lanes(kernel: NativeKernel) -> int:
  """Elements of a vector: sixteen bytes of the widest of the largest blocks, so that neighbouring threads touch neighbouring memory."""
  blocks = [(math.prod(_kept(m)), np.dtype(m.array_aval.dtype).itemsize) for m in kernel.mapping.block_mappings]
  largest = max((size for size, _ in blocks), default=1)
  widest = max((width for size, width in blocks if size == largest), default=4)
  return max(4, min(8, 16 // widest))


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
    self.maps = list(args[len(args) - len(maps) :]) if maps else []
    for number, tensor_map in enumerate(self.maps):
      tensor_map.name = f"{_MAP}{number}"
    self.shared = ir.GlobalVariable(self.module, ir.ArrayType(I8, 0), "shared", addrspace=SHARED)
    self.shared.linkage, self.shared.align = "external", 128
    self.b = b = ir.IRBuilder(self.function.append_basic_block("entry"))
    self.arrays = [b.addrspacecast(a, ty.PTR) for a in args[: self.count + 1]]
    bounds = {d: b.load(p, typ=I32, align=4) for d, p in zip(self.dynamic, args[self.count + 1 :])}
    self.sizes = [b.zext(bounds[d], I64) if d in bounds else i64(int(size)) for d, size in enumerate(mapping.grid)]
    self.block = threads.block_id(b)
    self.scratch = b.alloca(ty.PTR)  # filled at the end, when it is known how much each block of threads needs
    self.indices: list[Any] = [i64(0)] * len(mapping.grid)

  def code(self, arch: Arch, num_threads: int, kind: type[BlockCode] = BlockCode) -> Any:
    b = self.b
    made = kind(
      b,
      arch,
      num_threads,
      choose_lanes(self.kernel),
      b.addrspacecast(self.shared, ty.PTR),
      self.scratch,
      STATEMENTS,
    )
    made.users = users(self.kernel.body.body)
    return made

  def begin(self, code: BlockCode) -> None:
    """The entry block keeps only stack slots and what is computed once; the addresses of buffers follow, then everything else."""
    self.buffers = self.b.append_basic_block("buffers")
    self.start = self.b.append_basic_block("start")
    code.buffers = ir.IRBuilder(self.buffers)
    self.b.position_at_end(self.start)

  def memory(self, code: BlockCode, kind: Any) -> View:
    """A scratch buffer."""
    return _scratch(code, self.kernel, kind)

  def prefetched(self, code: BlockCode) -> list[View]:
    return [_prefetched(code, self.kernel, i, self.arrays[i], self.indices) for i in range(self.mapping.num_prefetch)]

  def starts(self, code: BlockCode, position: int, prefetched: list[View]) -> list[Any]:
    """Where the block of an input or output begins, at the present indices."""
    return _block_starts(
      code, self.mapping.block_mappings[position], self.kernel.index_maps[position], prefetched, self.indices
    )

  def view(self, code: BlockCode, position: int, prefetched: list[View], base: Any) -> View:
    """The block of an input or output, at the present indices."""
    m, index_map = self.mapping.block_mappings[position], self.kernel.index_maps[position]
    shape = tuple(m.array_aval.shape)
    array = self.arrays[self.mapping.num_prefetch + position]
    whole = View(array, dense_strides(shape), np.dtype(m.array_aval.dtype), base, align=16)
    if index_map is None:
      return whole
    starts = self.starts(code, position, prefetched)
    return _cut(code, m, whole, shape, starts, always_inside(self.mapping.grid, m, index_map))

  def instance(self, code: BlockCode, memory: list[Any], body: Block) -> None:
    """Run the body, or a form of it, at the present indices."""
    b, skip = code.b, self.mapping.num_vmapped
    code.instance = Position(
      tuple(b.trunc(i64(i), I32) for i in self.indices[skip:]), tuple(b.trunc(s, I32) for s in self.sizes[skip:])
    )
    prefetched = self.prefetched(code)
    bases = _bases(self.kernel)
    blocks = [self.view(code, k, prefetched, base) for k, base in enumerate(bases)]
    for param, known in zip(body.params, [*prefetched, *blocks, *memory], strict=True):
      code.env[param] = known
    with code.scope():
      code.block(body)

  def finish(self, code: BlockCode, launch: Launch, num_blocks: int) -> str:
    b = self.b
    b.ret_void()
    b.position_at_end(self.function.entry_basic_block)
    own = b.mul(b.zext(self.block, I64), i64(code.scratch_bytes))
    b.store(b.gep(self.arrays[self.count], [own], source_etype=I8), self.scratch)
    b.branch(self.buffers)
    code.buffers.branch(self.start)
    if code.scratch_bytes and launch.num_blocks is None:
      raise errors.NativeCodeError(
        f"The kernel '{self.kernel.name}' needs more shared memory than the {code.arch.shared_bytes} bytes {code.arch.name} has, and "
        f"its grid is dynamic, so that global memory cannot take its place: {'; '.join(code.allocated)}. Use smaller blocks."
      )
    return _with_limits(str(self.module), launch.num_threads, num_blocks)


def emit_kernel(kernel: NativeKernel, arch: Arch, num_warps: int | None = None) -> tuple[str, Launch]:
  """The LLVM IR of a kernel, and how to launch it.

  The parameters point to the arrays, scratch memory, then dynamic grid sizes; tensor maps follow, by value.
  """
  parallel = tuple(parallel_dims(kernel))
  plan = pipeline.find(kernel, arch, lambda m, index_map: always_inside(kernel.mapping.grid, m, index_map), num_warps)
  if plan is not None:
    return _emit_pipeline(kernel, arch, parallel, plan)
  frame = _Frame(kernel)
  b, sizes, indices = frame.b, frame.sizes, frame.indices
  num_threads = choose_threads(kernel, num_warps)
  code = frame.code(arch, num_threads)
  frame.begin(code)
  memory = [_scratch(code, kernel, t) for t in kernel.scratch]
  sequential = [d for d in range(len(sizes)) if d not in parallel]

  def run(dims: list[int]) -> None:
    if dims:
      code.settle_memory()
      with for_range(b, 0, sizes[dims[0]]) as i, code.scope():
        indices[dims[0]] = i
        run(dims[1:])
        code.settle_memory()
      return
    frame.instance(code, memory, kernel.body.body)

  def point(number: Any) -> None:
    """One point of the parallel dimensions, with all of the others."""
    for d in reversed(parallel):
      indices[d] = b.urem(number, sizes[d])
      number = b.udiv(number, sizes[d])
    run(sequential)

  if frame.dynamic:
    points: Any = i64(1)
    for d in parallel:
      points = b.mul(points, sizes[d])
    with for_range(b, b.zext(frame.block, I64), points, b.zext(threads.num_blocks(b), I64)) as number, code.scope():
      point(number)
      code.settle_memory()
  else:
    point(b.zext(frame.block, I64))
  launch = Launch(num_threads, code.arena_bytes, code.scratch_bytes, parallel, kernel.mapping.grid)
  return frame.finish(code, launch, max(1, _resident_threads(kernel) // num_threads)), launch


def _resident_threads(kernel: NativeKernel) -> int:
  """How many threads of a multiprocessor shall have registers: more hide the latency of memory, fewer have room for more values.

  1024 leave 64 registers for each, which a kernel with one or two passes over its rows can do with; measured on an H200.
  """
  names = [op.name for op in walk(kernel.body.body)]
  if "dot" in names:
    return 1
  return 1024 if names.count("reduce") <= 2 else 768


def _emit_pipeline(
  kernel: NativeKernel, arch: Arch, parallel: tuple[int, ...], plan: pipeline.Plan
) -> tuple[str, Launch]:
  """A kernel that brings the operands of a contraction into shared memory a few steps ahead: see `pipeline`."""
  frame = _Frame(kernel, plan.maps)
  code = pipelined.emit(frame, arch, parallel, plan)
  launch = Launch(plan.num_threads, code.arena_bytes, code.scratch_bytes, parallel, kernel.mapping.grid, plan.maps)
  return frame.finish(code, launch, 1), launch


def _scratch(code: BlockCode, kernel: NativeKernel, kind: Any) -> View:
  if not isinstance(kind, RefType):
    raise errors.NativeCodeError(
      f"The GPU target does not compile semaphores yet; the kernel '{kernel.name}' has them as scratch. Use interpret=True."
    )
  return code.allocate(kind.shape, kind.dtype)


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


def _prefetched(code: BlockCode, kernel: NativeKernel, i: int, pointer: Any, indices: Any) -> View:
  b, mapping = code.b, kernel.mapping
  ref = kernel.body.params[i].type
  assert isinstance(ref, RefType)
  vmapped = mapping.prefetch_vmapped[i] if mapping.prefetch_vmapped else ()
  own = math.prod(ref.shape)
  for position, dim in enumerate(vmapped):
    inner = math.prod(mapping.grid[d] or 1 for d in vmapped[position + 1 :]) * own
    pointer = b.gep(pointer, [b.mul(i64(indices[dim]), i64(inner))], source_etype=ty.memory_type(ref.dtype))
  return View(pointer, ref.strides, ref.dtype, object())


def _bases(kernel: NativeKernel) -> list[Any]:
  """One object per piece of memory: operands that are aliased share theirs."""
  mapping = kernel.mapping
  bases: list[Any] = [object() for _ in mapping.block_mappings]
  for into, out in kernel.input_output_aliases:
    source = into - mapping.num_prefetch
    if source >= 0 and mapping.input_mappings[source].in_place and mapping.output_mappings[out].in_place:
      bases[mapping.num_inputs + out] = bases[source]
  return bases


def _block_starts(code: BlockCode, m: BlockMapping, index_map: Any, prefetched: Any, indices: Any) -> list[Any]:
  """The first element of the block along each dimension of the array."""
  for dim in m.block_shape:
    if not isinstance(dim, Blocked | Element | Squeezed):
      raise errors.NativeCodeError(f"The GPU target does not compile {dim} of {m.origin} yet. Use interpret=True.")
  count = len(indices)
  for param, i in zip(index_map.params[:count], indices):
    code.env[param] = code.b.trunc(i64(i), I32)
  for param, memory in zip(index_map.params[count:], prefetched):
    code.env[param] = memory
  with code.scope():
    code.block(index_map.body)
    entries = [code.scalar_index(v) for v in index_map.body.yielded]
  starts: list[Any] = []
  for dim, entry in zip(m.block_shape, entries):
    match dim:
      case Blocked(size):
        starts.append(mul(code.b, entry, size))
      case Element(_, (low, _)):
        starts.append(add(code.b, entry, -low))
      case Squeezed():
        starts.append(entry)
  return starts


def _cut(
  code: BlockCode, m: BlockMapping, whole: View, shape: tuple[int, ...], starts: list[Any], safe: list[bool]
) -> View:
  """The block at given starts, with edges where it may hang over."""
  b = code.b
  offset: Any = 0
  align = whole.align
  for start, stride in zip(starts, whole.strides):
    part = mul(b, start, stride)
    offset = add(b, offset, part)
    align = math.gcd(align, part if isinstance(part, int) else multiple(part))
  edges: list[Edge | None] = []
  inside = None
  kept = []
  for d, (start, dim, size) in enumerate(zip(starts, m.block_shape, shape)):
    edge = None if safe[d] else Edge(start, 1, size)
    if isinstance(dim, Squeezed):
      if edge is not None:
        ok = b.icmp_unsigned("<", i64(start), i64(size))
        inside = ok if inside is None else b.and_(inside, ok)
      continue
    edges.append(edge)
    kept.append(d)
  pointer = b.gep(whole.pointer, [i64(offset)], source_etype=ty.memory_type(whole.dtype))
  strides = tuple(whole.strides[d] for d in kept)
  return dataclasses.replace(
    whole, pointer=pointer, strides=strides, align=align, edges=tuple(edges), inside=inside, anchor=whole.pointer
  )

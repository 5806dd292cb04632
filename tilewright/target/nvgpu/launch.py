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
from tilewright.target.cpu.launch import Position
from tilewright.target.cpu.loops import add, for_range, i64, mul
from tilewright.target.cpu.parallel import parallel_dims
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import I8, I32, I64, VOID
from tilewright.target.nvgpu import threads
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.code import SHARED, BlockCode
from tilewright.target.nvgpu.views import Edge, View, multiple
from tilewright.tile.grid import Blocked, BlockMapping, Element, Squeezed
from tilewright.tile.ir import Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ranges import Bounds, Interval
from tilewright.tile.types import RefType, dense_strides

NAME = "kernel"
_RESIDENT = 768  # threads of a multiprocessor that hide the latency of memory; they leave 80 registers for each
_GLOBAL = 1  # LLVM's address space


@dataclasses.dataclass(frozen=True)
class Launch:
  """What it takes to start a kernel, besides its code."""

  num_threads: int
  shared_bytes: int
  scratch_bytes: int  # of global memory, for each block of threads
  parallel: tuple[int, ...]
  grid: tuple[Any, ...]

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
  """Elements of a vector: sixteen bytes of the narrowest float of the operands."""
  sizes = [np.dtype(m.array_aval.dtype).itemsize for m in kernel.mapping.block_mappings]
  return max(4, min(8, 16 // min([s for s in sizes if s > 1], default=4)))


def emit_kernel(kernel: NativeKernel, arch: Arch, num_warps: int | None = None) -> tuple[str, Launch]:
  """The LLVM IR of a kernel, and how to launch it. The parameters point to the arrays, scratch memory, then dynamic grid sizes."""
  mapping = kernel.mapping
  num_threads, lanes = choose_threads(kernel, num_warps), choose_lanes(kernel)
  module = ir.Module("tilewright")
  count = mapping.num_prefetch + len(mapping.block_mappings)
  dynamic = [d for d, size in enumerate(mapping.grid) if size is None]
  pointer = ir.PointerType(addrspace=_GLOBAL)
  function = ir.Function(module, ir.FunctionType(VOID, [pointer] * (count + 1 + len(dynamic))), NAME)
  function.calling_convention = "ptx_kernel"
  shared = ir.GlobalVariable(module, ir.ArrayType(I8, 0), "shared", addrspace=SHARED)
  shared.linkage, shared.align = "external", 128
  b = ir.IRBuilder(function.append_basic_block("entry"))
  arrays = [b.addrspacecast(a, ty.PTR) for a in function.args[: count + 1]]
  bounds = {d: b.load(p, typ=I32, align=4) for d, p in zip(dynamic, function.args[count + 1 :])}
  sizes = [b.zext(bounds[d], I64) if d in bounds else i64(int(size)) for d, size in enumerate(mapping.grid)]
  block = threads.block_id(b)
  scratch = b.alloca(ty.PTR)  # filled below, when it is known how much each block of threads needs
  code = BlockCode(b, arch, num_threads, lanes, b.addrspacecast(shared, ty.PTR), scratch)
  start = b.append_basic_block("start")
  b.position_at_end(start)
  code.users = users(kernel.body.body)
  parallel = tuple(parallel_dims(kernel))
  indices: list[Any] = [i64(0)] * len(mapping.grid)
  memory = [_scratch(code, kernel, t) for t in kernel.scratch]
  sequential = [d for d in range(len(mapping.grid)) if d not in parallel]

  def run(dims: list[int]) -> None:
    if dims:
      code.settle_memory()
      with for_range(b, 0, sizes[dims[0]]) as i, code.scope():
        indices[dims[0]] = i
        run(dims[1:])
        code.settle_memory()
      return
    _instance(code, kernel, arrays, memory, indices, sizes)

  def point(number: Any) -> None:
    """One point of the parallel dimensions, with all of the others."""
    for d in reversed(parallel):
      indices[d] = b.urem(number, sizes[d])
      number = b.udiv(number, sizes[d])
    run(sequential)

  if dynamic:
    points: Any = i64(1)
    for d in parallel:
      points = b.mul(points, sizes[d])
    with for_range(b, b.zext(block, I64), points, b.zext(threads.num_blocks(b), I64)) as number, code.scope():
      point(number)
      code.settle_memory()
  else:
    point(b.zext(block, I64))
  b.ret_void()
  b.position_at_end(function.entry_basic_block)
  own = b.mul(b.zext(block, I64), i64(code.scratch_bytes))
  b.store(b.gep(arrays[count], [own], source_etype=I8), scratch)
  b.branch(start)
  launch = Launch(num_threads, code.arena_bytes, code.scratch_bytes, parallel, mapping.grid)
  if code.scratch_bytes and launch.num_blocks is None:
    sizes_text = ", ".join(f"{n} bytes at {where or '?'}" for where, n in code.allocated)
    raise errors.NativeCodeError(
      f"The kernel '{kernel.name}' needs more shared memory than the {arch.shared_bytes} bytes {arch.name} has, and its grid is "
      f"dynamic, so that global memory cannot take its place: {sizes_text}. Use smaller blocks."
    )
  contracts = any(op.name == "dot" for op in walk(kernel.body.body))
  return _with_limits(str(module), num_threads, 1 if contracts else max(1, _RESIDENT // num_threads)), launch


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
    if line.startswith(f'define ptx_kernel void @"{NAME}"('):
      line += " #0"
    lines.append(line)
  limits = f'"nvvm.reqntid"="{num_threads}" "nvvm.minctasm"="{num_blocks}"'
  return "\n".join([*lines, f"attributes #0 = {{ {limits} }}", ""])


def _instance(code: BlockCode, kernel: NativeKernel, arrays: Any, scratch: Any, indices: Any, sizes: Any) -> None:
  b, mapping = code.b, kernel.mapping
  skip = mapping.num_vmapped
  code.instance = Position(
    tuple(b.trunc(i64(i), I32) for i in indices[skip:]), tuple(b.trunc(s, I32) for s in sizes[skip:])
  )
  refs: list[View] = []
  for i in range(mapping.num_prefetch):
    refs.append(_prefetched(code, kernel, i, arrays[i], indices))
  bases = _bases(kernel)
  for k, (m, index_map) in enumerate(zip(mapping.block_mappings, kernel.index_maps)):
    position = mapping.num_prefetch + k
    shape = tuple(m.array_aval.shape)
    whole = View(arrays[position], dense_strides(shape), np.dtype(m.array_aval.dtype), bases[k], align=16)
    if index_map is None:
      refs.append(whole)
      continue
    starts = _block_starts(code, m, index_map, refs[: mapping.num_prefetch], indices)
    refs.append(_cut(code, m, whole, shape, starts, _always_inside(kernel, m, index_map)))
  for param, memory in zip(kernel.body.params, [*refs, *scratch], strict=True):
    code.env[param] = memory
  with code.scope():
    code.block(kernel.body.body)


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
      case _:
        raise errors.NativeCodeError(f"The GPU target does not compile {dim} of {m.origin} yet. Use interpret=True.")
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


@dataclasses.dataclass(frozen=True)
class _GridBounds(Bounds):
  """The bounds of values of an index map, whose first parameters are the indices of the grid."""

  params: tuple[Any, ...] = ()

  def of(self, value: Value, depth: int = 8) -> Interval | None:
    if value in self.params:
      size = self.grid[self.params.index(value)]
      return None if size is None else Interval(0, max(0, size - 1))
    return super().of(value, depth)


def _always_inside(kernel: NativeKernel, m: BlockMapping, index_map: Any) -> list[bool]:
  """Along which dimensions the block lies inside of the array whatever the instance."""
  grid = kernel.mapping.grid
  bounds = _GridBounds({}, grid, tuple(index_map.params[: len(grid)]))
  found = []
  for dim, size, entry in zip(m.block_shape, m.array_aval.shape, index_map.body.yielded):
    known = bounds.of(entry)
    if known is None:
      found.append(False)
      continue
    scale, low = (
      (dim.block_size, 0) if isinstance(dim, Blocked) else (1, dim.padding[0] if isinstance(dim, Element) else 0)
    )
    found.append(known.low * scale >= low and known.high * scale - low + dim.block_size <= size)
  return found

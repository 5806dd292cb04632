"""A whole kernel as an XLA FFI handler: blocks, the grid, and the thread pool, all in LLVM.

    handler(frame)            what XLA calls: collects pointers, starts workers, waits
      worker(state)           takes chunks of parallel grid points until none is left
        point(args, arena, p) the sequential grid dimensions, in order
          instance            finds its blocks and runs the body

Blocks are used where they are. One that hangs over an edge of its array is copied to the arena first, surrounded by poison, and what lies
inside is copied back.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.cpu import effects, statements
from tilewright.target.cpu.code import Code, Memory
from tilewright.target.cpu.hosts import Host
from tilewright.target.cpu.initial import outputs_to_poison, scratch_to_poison
from tilewright.target.cpu.loops import Index, add, for_range, i64, if_then, mul
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import I32, I64, PTR, VOID
from tilewright.tile.grid import Blocked, BlockMapping, Element, Squeezed
from tilewright.tile.ir import users
from tilewright.tile.native import NativeKernel
from tilewright.tile.ranges import always_inside
from tilewright.tile.types import RefType, SemaphoreArrayType, Type, dense_strides


@dataclasses.dataclass(frozen=True)
class Position:
  """Where in the grid an instance is: i32 values for `program_id` and `num_programs`."""

  indices: tuple[ir.Value, ...]
  sizes: tuple[ir.Value, ...]


def emit_point(module: ir.Module, kernel: NativeKernel, host: Host, parallel: Sequence[int]) -> tuple[ir.Function, int]:
  """The function that runs one parallel grid point, and how many bytes of arena it needs."""
  function = ir.Function(module, ir.FunctionType(VOID, [PTR, PTR, PTR, I64]), "point")
  function.linkage = "internal"
  args, sizes_pointer, arena, number = function.args
  arena.add_attribute("noalias")
  b = ir.IRBuilder(function.append_basic_block("entry"))
  start = b.append_basic_block("start")  # the entry block keeps only stack slots
  grid = kernel.mapping.grid
  code = Code(b, host, arena, None)
  code.users = users(kernel.body.body)
  with b.goto_block(function.entry_basic_block):
    pass
  b.position_at_end(start)
  code.error = b.gep(args, [i64(-1)], source_etype=I64)  # it stands before the arrays in the state of the call
  if effects.can_fail(kernel.body.body):
    failed = b.load_atomic(code.error, "monotonic", 8, typ=I64)
    with if_then(b, b.icmp_unsigned("!=", failed, i64(0)), ends=True):
      b.ret_void()
  sizes = [b.load(b.gep(sizes_pointer, [i64(d)], source_etype=I64), typ=I64) for d in range(len(grid))]
  indices: list[Any] = [i64(0)] * len(grid)
  left: Any = number
  for d in reversed(parallel):
    indices[d] = b.urem(left, sizes[d])
    left = b.udiv(left, sizes[d])
  pointers = [b.load(b.gep(args, [i64(k)], source_etype=PTR), typ=PTR) for k in range(_num_arrays(kernel))]
  fresh = scratch_to_poison(kernel, parallel)
  scratch = [_scratch(code, t, poison=i in fresh) for i, t in enumerate(kernel.scratch)]
  sequential = [d for d in range(len(grid)) if d not in parallel]

  def run(dims: list[int]) -> None:
    if dims:
      with for_range(b, 0, sizes[dims[0]]) as i, code.scope():
        indices[dims[0]] = i
        run(dims[1:])
      return
    _instance(code, kernel, pointers, scratch, indices, sizes)

  run(sequential)
  b.ret_void()
  with b.goto_block(function.entry_basic_block):
    b.position_at_end(function.entry_basic_block)
    b.branch(start)
  return function, code.arena_bytes


def emit_poison(module: ir.Module, kernel: NativeKernel, host: Host) -> ir.Function | None:
  """`poison(arrays)`: fill the outputs that instances may leave unwritten, or None where there are none."""
  wanted = outputs_to_poison(kernel)
  if not wanted:
    return None
  function = ir.Function(module, ir.FunctionType(VOID, [PTR]), "poison")
  function.linkage = "internal"
  (arrays,) = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  code = Code(b, host, arrays, None)
  first = kernel.mapping.num_prefetch + kernel.mapping.num_inputs
  for i in wanted:
    aval = kernel.mapping.output_mappings[i].array_aval
    pointer = b.load(b.gep(arrays, [i64(first + i)], source_etype=PTR), typ=PTR)
    memory = Memory(pointer, (1,), np.dtype(aval.dtype), object())
    statements.poison(code, memory, (math.prod(aval.shape),))
  b.ret_void()
  return function


def _scratch(code: Code, ty_: Type, *, poison: bool) -> Memory:
  if isinstance(ty_, SemaphoreArrayType):
    return effects.semaphores(code, ty_)
  assert isinstance(ty_, RefType)
  memory = code.allocate(ty_.shape, ty_.dtype)
  if poison:
    statements.poison(code, memory, ty_.shape)
  return memory


def _num_arrays(kernel: NativeKernel) -> int:
  return kernel.mapping.num_prefetch + len(kernel.mapping.block_mappings)


def _instance(code: Code, kernel: NativeKernel, pointers: Any, scratch: Any, indices: Any, sizes: Any) -> None:
  b, mapping = code.b, kernel.mapping
  skip = mapping.num_vmapped
  code.instance = Position(
    tuple(b.trunc(i64(i), I32) for i in indices[skip:]), tuple(b.trunc(s, I32) for s in sizes[skip:])
  )
  num_prefetch = mapping.num_prefetch
  params = kernel.body.params
  bases = _bases(kernel)
  refs: list[Memory] = []
  for i in range(num_prefetch):
    ref = params[i].type
    assert isinstance(ref, RefType)
    pointer = pointers[i]
    vmapped = mapping.prefetch_vmapped[i] if mapping.prefetch_vmapped else ()
    own = math.prod(ref.shape)
    for position, dim in enumerate(vmapped):
      inner = math.prod(mapping.grid[d] or 1 for d in vmapped[position + 1 :]) * own
      pointer = b.gep(pointer, [b.mul(i64(indices[dim]), i64(inner))], source_etype=ty.memory_type(ref.dtype))
    refs.append(Memory(pointer, ref.strides, ref.dtype, bases[i]))
  writebacks = []
  for k, (m, index_map) in enumerate(zip(mapping.block_mappings, kernel.index_maps)):
    is_output = k >= mapping.num_inputs
    block = _Block(code, m, pointers[num_prefetch + k], bases[num_prefetch + k])
    if index_map is None:
      refs.append(block.whole())
      continue
    block.always_inside = always_inside(mapping.grid, m, index_map)
    memory, writeback = block.cut(_block_starts(code, m, index_map, refs[:num_prefetch], indices), is_output)
    refs.append(memory)
    if writeback is not None and is_output:
      writebacks.append(writeback)
  for param, memory in zip(params, [*refs, *scratch], strict=True):
    code.env[param] = memory
  with code.scope():
    code.block(kernel.body.body)
  for writeback in writebacks:
    writeback()


def _bases(kernel: NativeKernel) -> list[Any]:
  """One object per piece of memory: operands that are aliased share theirs."""
  mapping = kernel.mapping
  bases: list[Any] = [object() for _ in range(_num_arrays(kernel))]
  for into, out in kernel.input_output_aliases:
    source = into - mapping.num_prefetch
    if source < 0 or not (mapping.input_mappings[source].in_place and mapping.output_mappings[out].in_place):
      continue  # the output is a copy
    bases[mapping.num_prefetch + mapping.num_inputs + out] = bases[into]
  return bases


def _block_starts(code: Code, m: BlockMapping, index_map: Any, prefetched: Any, indices: Any) -> list[Any]:
  """The first element of the block along each dimension of the array."""
  count = len(indices)
  for param, i in zip(index_map.params[:count], indices):
    code.env[param] = code.b.trunc(i64(i), I32)
  for param, memory in zip(index_map.params[count:], prefetched):
    code.env[param] = memory
  with code.scope():
    code.block(index_map.body)
    entries = [code.scalar_index(v) for v in index_map.body.yielded]
  starts = []
  for dim, entry in zip(m.block_shape, entries):
    match dim:
      case Blocked(size):
        starts.append(mul(code.b, entry, size))
      case Element(_, (low, _)):
        starts.append(add(code.b, entry, -low))
      case Squeezed():
        starts.append(entry)
      case _:
        raise errors.NativeCodeError(f"The CPU target does not compile {dim} of {m.origin} yet. Use interpret=True.")
  return starts


class _Block:
  """How one operand's block is found."""

  def __init__(self, code: Code, m: BlockMapping, pointer: ir.Value, base: Any):
    self.code, self.m, self.pointer, self.base = code, m, pointer, base
    self.shape = tuple(m.array_aval.shape)
    self.strides = dense_strides(self.shape)
    self.dtype = np.dtype(m.array_aval.dtype)
    self.kept = [i for i, d in enumerate(m.block_shape) if not isinstance(d, Squeezed)]
    self.sizes = m.block_sizes
    self.always_inside = [False] * len(self.shape)

  def whole(self) -> Memory:
    return Memory(self.pointer, self.strides, self.dtype, self.base)

  def cut(self, starts: list[Any], is_output: bool) -> tuple[Memory, Any]:
    b = self.code.b
    inside = self._inside(starts)
    offset: Any = 0
    for start, stride in zip(starts, self.strides):
      offset = add(b, offset, mul(b, start, stride))
    direct = b.gep(self.pointer, [i64(offset)], source_etype=ty.memory_type(self.dtype))
    strides = tuple(self.strides[i] for i in self.kept)
    if inside is None:
      return Memory(direct, strides, self.dtype, self.base), None
    # At an edge the block is a copy: same shape, its own strides.
    copy = self.code.allocate([self.sizes[i] for i in self.kept], self.dtype)
    outside = b.not_(inside)
    with if_then(b, outside), self.code.scope():
      statements.poison(self.code, copy, [self.sizes[i] for i in self.kept])
      self._copy_valid(starts, copy, into_copy=True)
    pointer = b.select(inside, direct, copy.pointer)
    # The last dimension's neighbours are side by side in both, so only the others' strides depend on the case.
    mixed = tuple(s if s == c else b.select(inside, i64(s), i64(c)) for s, c in zip(strides, copy.strides))
    memory = Memory(pointer, mixed, self.dtype, self.base)

    def writeback() -> None:
      with if_then(b, outside), self.code.scope():
        self._copy_valid(starts, copy, into_copy=False)

    return memory, writeback

  def _inside(self, starts: list[Any]) -> ir.Value | None:
    """Whether the block lies inside of the array; None if it surely does."""
    b = self.code.b
    checks = []
    for start, size, d, known in zip(starts, self.sizes, self.shape, self.always_inside):
      if known or (isinstance(start, int) and 0 <= start <= d - size):
        continue
      if size == d and isinstance(start, ir.Constant) and start.constant == 0:
        continue
      start = i64(start)
      checks.append(b.icmp_unsigned("<=", start, i64(d - size)) if d >= size else ir.Constant(ty.I1, 0))
    if not checks:
      return None
    result = checks[0]
    for check in checks[1:]:
      result = b.and_(result, check)
    return result

  def _copy_valid(self, starts: list[Any], copy: Memory, *, into_copy: bool) -> None:
    """Copy the part of the block that lies inside of the array."""
    b, code = self.code.b, self.code
    lows, highs = [], []
    for start, size, d in zip(starts, self.sizes, self.shape):
      start = i64(start)
      low = b.select(b.icmp_signed("<", start, i64(0)), b.sub(i64(0), start), i64(0))
      room = b.sub(i64(d), start)
      highs.append(b.select(b.icmp_signed("<", room, i64(size)), room, i64(size)))
      lows.append(low)

    array = Memory(self.pointer, self.strides, self.dtype, self.base)
    source, target = (array, copy) if into_copy else (copy, array)

    def move(block_index: list[Any], lanes: int) -> None:
      *outer, last = block_index
      steps = [*(Index(i) for i in outer), Index(last, 1 if lanes > 1 else 0)]
      in_array = [Index(add(b, i64(s), i.base), i.step) for s, i in zip(starts, steps)]
      own = [steps[k] for k in self.kept]
      at, to = (in_array, own) if into_copy else (own, in_array)
      code.store(target, to, code.load(source, at, lanes))

    def run(dim: int, block_index: list[Any]) -> None:
      low, high = lows[dim], highs[dim]
      if dim < len(starts) - 1:
        with for_range(b, low, high) as i, code.scope():
          run(dim + 1, [*block_index, i])
        return
      # Whole vectors first, where neighbours are side by side on both sides.
      wide = code.host.lanes if dim in self.kept else 1
      vectors = b.and_(b.sub(high, low), i64(-wide))
      middle = b.select(b.icmp_signed(">", high, low), b.add(low, vectors), low)
      if wide > 1:
        with for_range(b, low, middle, wide) as i, code.scope():
          move([*block_index, i], wide)
      with for_range(b, middle if wide > 1 else low, high) as i, code.scope():
        move([*block_index, i], 1)

    run(0, [])

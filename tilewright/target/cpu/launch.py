"""A whole kernel as an XLA FFI handler: blocks, the grid, and the thread pool, all in LLVM.

    handler(frame)            XLA's entry point: collects pointers, starts workers, waits
      worker(state)           takes chunks of parallel grid points until none is left
        point(args, arena, p) the sequential grid dimensions, in order
          instance            finds its blocks and runs the body

Blocks are used in place. One that extends past an edge of its array is copied to the arena first, padded with poison, and its in-bounds
part is copied back. The copy of a block that is written is kept while the sequential dimensions stay in the block.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir

from tilewright.target.cpu import effects, remote_ops, statements, sub_byte, warpgroups
from tilewright.target.cpu.blocks import CutBlock, PreviousBlock
from tilewright.target.cpu.code import HostCode
from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.block_ranges import block_ranges
from tilewright.target.llvm.code import Code, Position
from tilewright.target.llvm.loops import Index, for_range, i64, if_then
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32, I64, PTR, VOID
from tilewright.tile.dead_code import accesses
from tilewright.tile.ir import users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ranges import always_inside
from tilewright.tile.types import RefType, SemaphoreArrayType, Type
from tilewright.tile.uninitialized import outputs_to_poison, scratch_to_poison

Run: TypeAlias = Callable[[Sequence[Any], Sequence[Any]], None]  # given the indices and sizes of the grid


def emit_point(module: ir.Module, kernel: NativeKernel, host: Host, parallel: Sequence[int]) -> tuple[ir.Function, int]:
  """The function that runs one parallel grid point, and the size in bytes of the arena it needs."""
  communicates = bool(kernel.mesh)
  kinds = [PTR, PTR, PTR, I64, *[PTR] * communicates]
  function = ir.Function(module, ir.FunctionType(VOID, kinds), "body_of_point" if communicates else "point")
  function.linkage = "internal"
  args, sizes_pointer, arena, number = function.args[:4]
  if not communicates:  # other devices write to this one's arena
    function.attributes.add("alwaysinline")
    arena.add_attribute("noalias")
  b = ir.IRBuilder(function.append_basic_block("entry"))
  start = b.append_basic_block("start")  # the entry block keeps only stack slots
  grid = kernel.mapping.grid
  code: HostCode
  if communicates:
    code = remote_ops.DeviceCode(b, host, arena, remote_ops.RendezvousScope(kernel, args, function.args[4], arena))
  else:
    code = HostCode(b, host, arena, statements.STATEMENTS)
  code.users = users(kernel.body.body)
  with b.goto_block(function.entry_basic_block):
    pass
  b.position_at_end(start)
  code.error = b.gep(args, [i64(-1)], source_etype=I64)  # located before the arrays in the state of the call
  if effects.can_fail(kernel.body.body):
    failed = b.load_atomic(code.error, "monotonic", 8, typ=I64)
    with if_then(b, b.icmp_unsigned("!=", failed, i64(0)), ends=True):
      b.ret_void()
  sizes = [b.load(b.gep(sizes_pointer, [i64(d)], source_etype=I64), typ=I64) for d in range(len(grid))]
  indices: list[Any] = [i64(0)] * len(grid)
  left: Any = number
  for d in reversed(parallel[1:]):
    indices[d] = b.urem(left, sizes[d])
    left = b.udiv(left, sizes[d])
  if parallel:
    indices[parallel[0]] = left  # a number is less than all sizes together
  several = kernel.warpgroups > 1
  restart = _no_restart
  if several:
    instance = _parallel_grid(module, kernel, host, code, args, sizes_pointer)
  else:
    instance, restart = _sequential_grid(code, kernel, args, parallel)
  if isinstance(code, remote_ops.DeviceCode):
    remote_ops.enter(code)
  sequential = [d for d in range(len(grid) - several) if d not in parallel]
  own = [d for d in sequential if d >= kernel.mapping.num_vmapped]

  def run(dims: list[int]) -> None:
    if dims == own != sequential:
      restart()
    if dims:
      with for_range(b, 0, sizes[dims[0]]) as i, code.scope():
        indices[dims[0]] = i
        run(dims[1:])
      return
    instance(indices, sizes)

  run(sequential)
  b.ret_void()
  with b.goto_block(function.entry_basic_block):
    b.position_at_end(function.entry_basic_block)
    b.branch(start)
  return remote_ops.emit_point(module, kernel, function) if communicates else function, code.arena_bytes


def _no_restart() -> None:
  """The warpgroups of a block have new semaphores in each instance."""


def _sequential_grid(
  code: Code, kernel: NativeKernel, args: ir.Value, parallel: Sequence[int]
) -> tuple[Run, Callable[[], None]]:
  """Instances that run one after another; and what comes before those of one element of a batch (vmap), which find semaphores at zero and
  other scratch memory with its initial value, as those of the element before did."""
  pointers = _arrays(code, kernel, args)
  fresh = scratch_to_poison(kernel, parallel)
  values = kernel.scratch_values or (None,) * len(kernel.scratch)
  kinds = zip(kernel.scratch, values, strict=True)
  scratch = [_scratch(code, t, value, poison=i in fresh) for i, (t, value) in enumerate(kinds)]
  last = _previous_blocks(code, kernel, parallel)

  def restart() -> None:
    for ty_, value, memory in zip(kernel.scratch, values, scratch, strict=True):
      if isinstance(ty_, SemaphoreArrayType) and not kernel.mesh:  # which another device may have signalled already
        effects.clear(code, memory, ty_.shape)
      _set(code, memory, value)

  return lambda indices, sizes: _instance(code, kernel, pointers, scratch, indices, sizes, last), restart


def _previous_blocks(code: Code, kernel: NativeKernel, parallel: Sequence[int]) -> dict[int, PreviousBlock]:
  """For each written operand, by number: the copy of its block is reused by the instances that follow."""
  mapping = kernel.mapping
  if len(parallel) == len(mapping.grid):
    return {}
  written = _written_blocks(kernel)
  found = {k: m for k, m in enumerate(mapping.block_mappings) if k in written and m.keeps_overhang}
  return {k: PreviousBlock(code, m.block_shape) for k, m in found.items()}


def _written_blocks(kernel: NativeKernel) -> set[int]:
  """The numbers of the outputs, and of the inputs that the body writes to."""
  mapping = kernel.mapping
  written = {base for op in walk(kernel.body.body) for base in accesses(op)[1]}
  inputs = kernel.body.params[mapping.num_prefetch : mapping.num_prefetch + mapping.num_inputs]
  outputs = range(mapping.num_inputs, len(mapping.block_mappings))
  return {*outputs, *(k for k, param in enumerate(inputs) if param in written)}


def _parallel_grid(
  module: ir.Module, kernel: NativeKernel, host: Host, code: HostCode, args: ir.Value, sizes_pointer: ir.Value
) -> Run:
  """Instances along the last dimension of the grid that run concurrently."""

  def instance(own: HostCode, args: ir.Value, scratch: Any, indices: Any, sizes: Any) -> None:
    _instance(own, kernel, _arrays(own, kernel, args), scratch, indices, sizes)

  block = warpgroups.Block(module, kernel, host, instance)
  shared = block.shared(code)
  for kind, memory in zip(kernel.scratch, shared):
    if isinstance(kind, RefType) and memory is not None:
      statements.poison(code, memory, kind.shape)
  return lambda indices, _: block.run(code, args, sizes_pointer, shared, indices)


def _arrays(code: Code, kernel: NativeKernel, args: ir.Value) -> list[ir.Value]:
  b = code.b
  return [b.load(b.gep(args, [i64(k)], source_etype=PTR), typ=PTR) for k in range(_num_arrays(kernel))]


def emit_poison(module: ir.Module, kernel: NativeKernel, host: Host) -> ir.Function | None:
  """`poison(arrays)`: fill the outputs that instances may leave unwritten, or None where there are none."""
  wanted = outputs_to_poison(kernel)
  if not wanted:
    return None
  function = ir.Function(module, ir.FunctionType(VOID, [PTR]), "poison")
  function.linkage = "internal"
  (arrays,) = function.args
  b = ir.IRBuilder(function.append_basic_block("entry"))
  code = HostCode(b, host, arrays, statements.STATEMENTS)
  first = kernel.mapping.num_prefetch + kernel.mapping.num_inputs
  for i in wanted:
    aval = kernel.mapping.output_mappings[i].array_aval
    pointer = b.load(b.gep(arrays, [i64(first + i)], source_etype=PTR), typ=PTR)
    if kernel.is_packed(kernel.mapping.num_inputs + i):
      sub_byte.poison(code, pointer, np.dtype(aval.dtype), math.prod(aval.shape))
      continue
    memory = Memory(pointer, (1,), np.dtype(aval.dtype), object())
    statements.poison(code, memory, (math.prod(aval.shape),))
  b.ret_void()
  return function


def _scratch(code: Code, ty_: Type, value: tuple[int, ...] | None, *, poison: bool) -> Memory:
  if isinstance(ty_, SemaphoreArrayType):
    return effects.semaphores(code, ty_.shape)
  assert isinstance(ty_, RefType)
  memory = code.allocate(ty_.shape, ty_.dtype)
  if poison and value is None:
    statements.poison(code, memory, ty_.shape)
  _set(code, memory, value)
  return memory


def _set(code: Code, memory: Memory, value: tuple[int, ...] | None) -> None:
  for i, number in enumerate(value or ()):
    flat = Memory(memory.pointer, (1,), memory.dtype, memory.base)
    code.store(flat, [Index(i)], ty.element(memory.dtype, number, 1))


def _num_arrays(kernel: NativeKernel) -> int:
  return kernel.mapping.num_prefetch + len(kernel.mapping.block_mappings)


def _instance(
  code: Code,
  kernel: NativeKernel,
  pointers: Any,
  scratch: Any,
  indices: Any,
  sizes: Any,
  previous_blocks: Mapping[int, PreviousBlock] = types.MappingProxyType({}),
) -> None:
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
  written = _written_blocks(kernel)
  for k, (m, index_map) in enumerate(zip(mapping.block_mappings, kernel.index_maps)):
    kind = sub_byte.PackedBlock if kernel.is_packed(k) else CutBlock
    block = kind(code, m, pointers[num_prefetch + k], bases[num_prefetch + k])
    if index_map is None:
      refs.append(block.whole())
      continue
    where = block_ranges(code, m, index_map, refs[:num_prefetch], indices, code.materialise)
    memory, writeback = block.cut(where, always_inside(mapping.grid, m, index_map), previous_blocks.get(k))
    refs.append(memory)
    if writeback is not None and k in written:
      writebacks.append(writeback)
  for param, memory in zip(params, [*refs, *scratch], strict=True):
    code.env[param] = memory
  with code.scope():
    code.block(kernel.body.body)
  for writeback in writebacks:
    writeback()


def _bases(kernel: NativeKernel) -> list[Any]:
  """One base object per distinct memory: aliased operands share theirs."""
  mapping = kernel.mapping
  bases: list[Any] = [object() for _ in range(_num_arrays(kernel))]
  for into, out in kernel.input_output_aliases:
    source = into - mapping.num_prefetch
    if source < 0 or not (mapping.input_mappings[source].in_place and mapping.output_mappings[out].in_place):
      continue  # the output is a copy
    bases[mapping.num_prefetch + mapping.num_inputs + out] = bases[into]
  return bases

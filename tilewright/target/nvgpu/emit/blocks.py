"""Blocks of data as the body accesses them, and the initial contents of scratch memory.

A block is used in place, or copied and copied back, as `passes.bodies` says. The view of a block that may extend past an edge of its
array, or has only some valid elements, tracks that (`views`). A copy that outlives the instance is filled from the array only if the block
differs from that of the previous step (`PreviousBlock`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.block_ranges import BlockRange, block_ranges
from tilewright.target.llvm.loops import Index, add, for_range, i64, if_then, mul, stack_slot
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I1, I64
from tilewright.target.nvgpu.emit.by_hand import warpgroup_barriers, warpgroup_semaphores
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.distribution import distribute
from tilewright.target.nvgpu.emit.ops import effects
from tilewright.target.nvgpu.emit.statements import poison
from tilewright.target.nvgpu.emit.views import Array, Edge, TiledAxis, View, is_inside, multiple, view_of, whole
from tilewright.target.nvgpu.passes.memory import RefPlace, scratch_refs
from tilewright.tile.grid import BlockDim, BlockMapping, Indirect, Squeezed
from tilewright.tile.ir import Value
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import RefType, SemaphoreArrayType, dense_strides
from tilewright.tile.uninitialized import scratch_to_poison

# --- scratch memory ----------------------------------------------------------------------------------------------


def scratch(
  code: BlockCode,
  kernel: NativeKernel,
  places: Sequence[RefPlace | None],
  parallel: Sequence[int],
  known: Mapping[int, Memory] = {},
) -> list[Memory]:
  """The scratch memory of a CTA at its places, with its initial value, else poison where it may be read before it is written.

  Buffers that are `known`, by number, lie elsewhere.
  """
  fresh = set(scratch_to_poison(kernel, parallel))
  values = kernel.scratch_values or (None,) * len(kernel.scratch)
  known = {**known, **_in_registers(code, kernel, places)}
  found: list[Memory] = []
  for number, (kind, own, value) in enumerate(zip(kernel.scratch, places, values, strict=True)):
    if number in known:
      found.append(known[number])
      continue
    if isinstance(kind, SemaphoreArrayType):
      found.append(effects.counters(code, kind.shape))
      continue
    assert isinstance(kind, RefType) and own is not None
    memory = code.memory_at(kind, own)
    if value is not None:
      _start_from(code, memory, kind.shape, value)
    elif number in fresh:
      poison(code, memory, kind.shape)
    found.append(memory)
  return found


def _in_registers(code: BlockCode, kernel: NativeKernel, places: Sequence[RefPlace | None]) -> dict[int, Memory]:
  """The scratch buffers that are registers, by number."""
  return {
    number: code.memory_at(ref.ref, own)
    for number, (ref, own) in enumerate(zip(scratch_refs(kernel), places))
    if own is not None and own.registers is not None
  }


def has_first_values(kernel: NativeKernel) -> bool:
  """Whether there is scratch memory with an initial value, semaphores among it."""
  semaphores = (isinstance(kind, SemaphoreArrayType) and not kind.arrivals for kind in kernel.scratch)
  return any(semaphores) or any(value is not None for value in kernel.scratch_values)


def restart(code: BlockCode, kernel: NativeKernel, memory: Sequence[Any]) -> None:
  """Before the instances of one element of a batch: set semaphores to zero, and scratch memory to its initial value if it has one."""
  values = kernel.scratch_values or (None,) * len(kernel.scratch)
  for kind, value, own in zip(kernel.scratch, values, memory, strict=True):
    if isinstance(kind, SemaphoreArrayType) and not kind.arrivals:
      effects.clear(code, own, max(1, math.prod(kind.shape)))
    elif value is not None:
      assert isinstance(kind, RefType)
      _start_from(code, own, kind.shape, value)


def _semaphores(code: BlockCode, kind: SemaphoreArrayType, own: RefPlace | None) -> Any:
  if own is None:
    return effects.counters(code, kind.shape)
  return warpgroup_barriers.at(code, kind, own) if kind.arrivals else warpgroup_semaphores.at(code, kind, own)


def shared_scratch(code: BlockCode, kernel: NativeKernel, places: Sequence[RefPlace | None]) -> list[Any]:
  """The scratch memory that several warpgroups share; accumulators are private to each. Its initial contents are unspecified."""
  found: list[Any] = []
  known, unions = _in_registers(code, kernel, places), dict[Value, Any]()
  for number, (ref, own) in enumerate(zip(scratch_refs(kernel), places)):
    if number in known:
      found.append(known[number])
      continue
    if isinstance(ref.type, SemaphoreArrayType):
      found.append(_semaphores(code, ref.type, own))
      continue
    assert own is not None
    base = None if own.union is None else unions.setdefault(own.union, object())
    found.append(code.memory_at(ref.ref, own, base))
    if own.is_for_all and code.roles is not None and code.roles.reads_only(ref):
      code.unawaited.add(found[-1].base)
  return found


def _start_from(code: BlockCode, memory: View, shape: tuple[int, ...], value: tuple[int, ...]) -> None:
  """Every thread writes the same few numbers."""
  for i, number in enumerate(value):
    place = np.unravel_index(i, shape) if shape else ()
    code.store(memory, [Index(int(p)) for p in place], ty.element(memory.dtype, number, 1))
  code.written.add(memory.base)


# --- blocks ------------------------------------------------------------------------------------------------------


def prefetched(code: BlockCode, kernel: NativeKernel, i: int, pointer: Any, indices: Any) -> View:
  """A prefetched operand as this instance sees it."""
  b, mapping = code.b, kernel.mapping
  ref = kernel.body.params[i].type
  assert isinstance(ref, RefType)
  vmapped = mapping.prefetch_vmapped[i] if mapping.prefetch_vmapped else ()
  own = math.prod(ref.shape)
  for position, dim in enumerate(vmapped):
    inner = math.prod(mapping.grid[d] or 1 for d in vmapped[position + 1 :]) * own
    pointer = b.gep(pointer, [b.mul(i64(indices[dim]), i64(inner))], source_etype=ty.memory_type(ref.dtype))
  return View(pointer, ref.strides, ref.dtype, object())


def bases(kernel: NativeKernel) -> list[Any]:
  """One base object for each distinct memory behind the blocks: aliased operands share theirs."""
  mapping = kernel.mapping
  found: list[Any] = [object() for _ in mapping.block_mappings]
  for into, out in kernel.input_output_aliases:
    source = into - mapping.num_prefetch
    if source >= 0 and mapping.input_mappings[source].in_place and mapping.output_mappings[out].in_place:
      found[mapping.num_inputs + out] = found[source]
  return found


@dataclasses.dataclass(frozen=True)
class Block:
  """A block of an array: its location along each dimension, and where it is statically in bounds. Without places it is the array itself."""

  code: BlockCode
  mapping: BlockMapping
  array: View
  where: tuple[BlockRange, ...] = ()
  inside: tuple[bool, ...] = ()

  @classmethod
  def of(
    cls,
    code: BlockCode,
    kernel: NativeKernel,
    position: int,
    inside: tuple[bool, ...],
    pointer: ir.Value,
    base: Any,
    prefetched: Sequence[Memory],
    indices: Sequence[Any],
  ) -> Block:
    """The block of an input or output at given indices of the grid; `inside` says along which dimensions it never hangs over."""
    m, index_map = kernel.mapping.block_mappings[position], kernel.index_maps[position]
    strides = dense_strides(tuple(m.array_aval.shape))
    policy = code.read_policy if position in code.streams else None
    array = View(pointer, strides, np.dtype(m.array_aval.dtype), base, align=16, in_global=True, policy=policy)
    if code.is_by_hand and code.arch.has_tma:  # the kernel's explicit copies use TMA
      array.home = Array(kernel.mapping.num_prefetch + position, tuple(m.array_aval.shape))
      array.along = whole(array.home)
    if index_map is None:
      return cls(code, m, array)
    where = block_ranges(code, m, index_map, prefetched, indices, code.in_memory)
    return cls(code, m, array, tuple(where), inside)

  @property
  def kept(self) -> list[int]:
    """The dimensions that the body sees."""
    return [d for d, dim in enumerate(self.mapping.block_shape) if not isinstance(dim, Squeezed)]

  def in_place(self) -> View:
    """The block in place, with edges where it may extend past its array."""
    if not self.where:
      return self.array
    b, array = self.code.b, self.array
    offset: Any = 0
    align = array.align
    for place, stride in zip(self.where, array.strides):
      part = mul(b, place.start, stride)
      offset = add(b, offset, part)
      align = math.gcd(align, part if isinstance(part, int) else multiple(part))
    edges = [self._edges(d) for d in range(len(self.where))]
    along = (TiledAxis(p.start, self.kept.index(d) if d in self.kept else None) for d, p in enumerate(self.where))
    inside = None
    for edge in (e for d in self.mapping.squeezed_dims for e in edges[d]):
      ok = is_inside(b, edge, Index(0), 1)
      inside = ok if inside is None else b.and_(inside, ok)
    return dataclasses.replace(
      array,
      pointer=b.gep(array.pointer, [i64(offset)], source_etype=ty.memory_type(array.dtype)),
      strides=tuple(array.strides[d] for d in self.kept),
      align=align,
      edges=tuple(edges[d] for d in self.kept),
      inside=inside,
      anchor=array.pointer,
      along=tuple(along) if array.along else (),
      home=None if any(edges) else array.home,
    )

  def _edges(self, d: int) -> tuple[Edge, ...]:
    """The edges of the array, and those of the valid elements."""
    b, place = self.code.b, self.where[d]
    found: list[Edge] = [] if self.inside[d] else [Edge(place.start, 1, self.mapping.array_aval.shape[d])]
    if place.count is not None:
      found.append(Edge(0, 1, b.select(b.icmp_signed("<", place.count, i64(0)), i64(0), place.count)))
    return tuple(found)


class PreviousBlock:
  """The location of the previous step's block, and the memory of its copy; every thread keeps the location in its own registers."""

  def __init__(self, code: BlockCode, block_shape: Sequence[BlockDim]):
    # Of each dimension the start and the count, or the numbers of the elements.
    self.code = code
    self.view: View | None = None
    self.sizes = [d.block_size if isinstance(d, Indirect) else 2 for d in block_shape]
    with code.b.goto_entry_block():
      self.slots = [code.b.alloca(I64, size=size) for size in self.sizes]
      self.exists = code.b.alloca(I1)
      self.same = code.b.alloca(I1)

  def forget(self) -> None:
    """Before the first step. The numbers are set too: ptxas takes a register that is read before it is written for equal to what it is
    compared with, in later steps as well."""
    b = self.code.b
    b.store(ir.Constant(I1, 0), self.exists)
    for slots, size in zip(self.slots, self.sizes, strict=True):
      with for_range(b, 0, size) as i:
        b.store(i64(0), b.gep(slots, [i64(i)]))

  def move(self, where: Sequence[BlockRange]) -> ir.Value:
    """Whether the block differs from that of the previous step; this one becomes the last one."""
    code, b = self.code, self.code.b
    b.store(b.load(self.exists, typ=I1), self.same)
    b.store(ir.Constant(I1, 1), self.exists)
    for place, slots in zip(where, self.slots, strict=True):
      if place.numbers is None:
        for at, number in enumerate((place.start, place.size if place.count is None else place.count)):
          self._note(slots, at, i64(number))
        continue
      code.sync({view_of(place.numbers).base}, set())
      with for_range(b, 0, place.size) as i, code.scope():
        self._note(slots, i, b.sext(code.load(place.numbers, [Index(i)], 1), I64))
    return b.not_(b.load(self.same, typ=I1))

  def _note(self, slots: ir.Value, at: Any, number: ir.Value) -> None:
    b = self.code.b
    slot = b.gep(slots, [i64(at)])
    agrees = b.icmp_signed("==", b.load(slot, typ=I64), number)
    b.store(b.and_(b.load(self.same, typ=I1), agrees), self.same)
    b.store(number, slot)


class Placed:
  """A block in shared memory, in the user's layout: copied there before the body runs, and back after it."""

  def __init__(
    self, code: BlockCode, block: Block, ref: Value, view: View, *, is_output: bool, last: PreviousBlock | None = None
  ):
    if any(place.numbers is not None for place in block.where):
      raise errors.UnsupportedFeatureError(
        f"{block.mapping.origin}: a block with an Indirect dimension cannot have transforms. Copy it to a scratch buffer that has them."
      )
    self.code, self.whole, self.is_output = code, block.in_place(), is_output
    self.shape, self.view = ref.ref.shape, view
    self._move(self.whole, self.view, None if last is None else last.move(block.where))

  def write_back(self) -> None:
    """Copy an output back after the body has run; out-of-bounds elements are dropped."""
    if self.is_output:
      self._move(self.view, self.whole)

  def _move(self, source: View, target: View, condition: ir.Value | None = None) -> None:
    code = self.code
    code.sync({source.base}, {target.base})
    with contextlib.nullcontext() if condition is None else if_then(code.b, condition), code.scope():
      code.each_step(
        code.distribution(self.shape),
        lambda index, lanes, step: code.store(target, index, code.load(source, index, lanes)),
      )


class Copy:
  """A block that is copied: elements that are invalid or out of bounds are poison, and are not copied back.

  What is in an output that is written before it is read (not `is_read`) does not matter. With a `last` place the copy holds what it held
  in the step before, if that had the same block.
  """

  def __init__(
    self, code: BlockCode, block: Block, *, is_output: bool, is_read: bool = True, last: PreviousBlock | None = None
  ):
    self.code, self.whole, self.where = code, block.array, block.where
    self.shape = tuple(block.mapping.array_aval.shape)
    self.kept, self.is_output = block.kept, is_output
    self.sizes = tuple(self.where[i].size for i in self.kept)
    known = None if last is None else last.view
    self.view = code.allocate(self.sizes, self.whole.dtype) if known is None else known
    if last is not None:
      last.view = self.view
    if is_read:
      is_new = None if last is None else last.move(self.where)
      self._each(self._read, reads=self.whole, writes=self.view, condition=is_new)

  def write_back(self) -> None:
    """Copy an output back after the body has run."""
    if not self.is_output or 0 in self.sizes:
      return
    last = {d: self._last_ones(p, self.shape[d]) for d, p in enumerate(self.where) if p.numbers is not None}
    self._each(lambda index: self._write(index, last), reads=self.view, writes=self.whole)

  def _each(
    self, visit: Callable[[list[Index]], None], reads: View, writes: View, condition: ir.Value | None = None
  ) -> None:
    """Call `visit` for each of the thread's elements of the block, perhaps on a condition that all threads agree on."""
    if 0 in self.sizes:
      return
    code = self.code
    numbers = {view_of(p.numbers).base for p in self.where if p.numbers is not None}
    code.sync({reads.base, *numbers}, {writes.base})
    one_by_one = distribute(self.sizes, 1, code.num_threads)
    with contextlib.nullcontext() if condition is None else if_then(code.b, condition), code.scope():
      code.each_step(one_by_one, lambda index, lanes, step: visit(index))

  def _place(self, index: list[Index]) -> tuple[list[Index], ir.Value]:
    """The location of an element in the array, and whether it is valid and in bounds."""
    b = self.code.b
    own = dict(zip(self.kept, index))
    found, inside = [], ir.Constant(I1, 1)
    for d, (place, size) in enumerate(zip(self.where, self.shape)):
      i = own[d].base if d in own else 0
      if place.numbers is None:
        at = i64(add(b, place.start, i))
      else:
        at = self._number(place.numbers, i, size)
      inside = b.and_(inside, b.icmp_unsigned("<", at, i64(size)))
      if place.count is not None:
        inside = b.and_(inside, b.icmp_signed("<", i64(i), place.count))
      found.append(Index(at))
    return found, inside

  def _number(self, numbers: Memory, i: Any, size: int) -> ir.Value:
    """The i-th number of an element, counted from the end where it is negative, as NumPy does."""
    b = self.code.b
    number = b.sext(self.code.load(numbers, [Index(i)], 1), I64)
    return b.select(b.icmp_signed("<", number, i64(0)), b.add(number, i64(size)), number)

  def _read(self, index: list[Index]) -> None:
    at, inside = self._place(index)
    view = dataclasses.replace(self.whole, inside=inside, anchor=self.whole.pointer)
    self.code.store(self.view, index, self.code.load(view, at, 1))

  def _write(self, index: list[Index], last: Mapping[int, View]) -> None:
    b = self.code.b
    at, inside = self._place(index)
    own = dict(zip(self.kept, index))
    for d, flags in last.items():
      inside = b.and_(inside, self.code.load(flags, [own[d]], 1))
    with if_then(b, inside), self.code.scope():
      self.code.store(self.whole, at, self.code.load(self.view, index, 1))

  def _last_ones(self, place: BlockRange, size: int) -> View:
    """For each number whether it is the last of its kind: where an element is named twice, the last one is written."""
    code, b = self.code, self.code.b
    numbers = place.numbers
    assert numbers is not None
    flags = code.allocate((place.size,), np.bool_)
    code.sync({view_of(numbers).base}, {flags.base})

    def each(index: list[Index], lanes: int, step: Any) -> None:
      (i,) = index
      own = self._number(numbers, i.base, size)
      slot = stack_slot(b, I1, ir.Constant(I1, 1))
      with for_range(b, b.add(i64(i.base), i64(1)), place.size) as j:
        differs = b.icmp_signed("!=", self._number(numbers, j, size), own)
        b.store(b.and_(b.load(slot, typ=I1), differs), slot)
      code.store(flags, [i], b.load(slot, typ=I1))

    code.each_step(distribute((place.size,), 1, code.num_threads), each)
    return flags

"""Blocks of operands as the body accesses them: in place, or as a copy in the arena.

A block that lies entirely inside its array is used in place. Any other block is copied and padded with poison, and its valid in-bounds
elements are copied back after the body has run:

    array  ........####            a block of 6 extends past the edge: 4 elements are copied, 2 are poison
                   ####xx

A block that the body writes to is copied in only if it differs from the block of the previous instance (`PreviousBlock`). The out-of-bounds
elements are then preserved while the block's index does not change, as in the VMEM of a TPU: a kernel may keep state in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.cpu import statements
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.block_ranges import BlockRange
from tilewright.target.llvm.code import Code
from tilewright.target.llvm.loops import Index, add, for_range, i64, if_then, mul
from tilewright.target.llvm.memory import Memory
from tilewright.tile.grid import BlockDim, BlockMapping, Indirect, Squeezed
from tilewright.tile.types import dense_strides


class PreviousBlock:
  """The location of the previous instance's block, for an operand whose copy outlives an instance."""

  def __init__(self, code: Code, block_shape: Sequence[BlockDim]):
    # Whether there was one; then for each dimension the start and the count, or the element numbers.
    words = sum(d.block_size if isinstance(d, Indirect) else 2 for d in block_shape)
    self.numbers = code.allocate((1 + words,), np.int64)
    code.store(self.numbers, [Index(0)], i64(0))

  def move(self, code: Code, where: list[BlockRange]) -> ir.Value:
    """Whether the block is at the same location as the last one; this one becomes the last one."""
    b = code.b
    with b.goto_entry_block():
      same = b.alloca(ty.I1)
    b.store(ir.Constant(ty.I1, 1), same)

    def note(at: Any, number: Any) -> None:
      agrees = b.icmp_signed("==", code.load(self.numbers, [Index(at)], 1), i64(number))
      b.store(b.and_(b.load(same, typ=ty.I1), agrees), same)
      code.store(self.numbers, [Index(at)], i64(number))

    note(0, 1)
    first = 1
    for place in where:
      if place.numbers is None:
        note(first, place.start)
        note(first + 1, place.size if place.count is None else place.count)
        first += 2
        continue
      with for_range(b, 0, place.size) as i, code.scope():
        note(b.add(i, i64(first)), b.sext(code.load(place.numbers, [Index(i)], 1), ty.I64))
      first += place.size
    return b.load(same, typ=ty.I1)


class CutBlock:
  """How one operand's block is found."""

  def __init__(self, code: Code, m: BlockMapping, pointer: ir.Value, base: Any):
    self.code, self.pointer, self.base = code, pointer, base
    self.shape = tuple(m.array_aval.shape)
    self.strides = dense_strides(self.shape)
    self.dtype = np.dtype(m.array_aval.dtype)
    self.kept = [i for i, d in enumerate(m.block_shape) if not isinstance(d, Squeezed)]

  def whole(self) -> Memory:
    return Memory(self.pointer, self.strides, self.dtype, self.base)

  def cut(
    self, where: list[BlockRange], always_inside: Sequence[bool], last: PreviousBlock | None
  ) -> tuple[Memory, Callable[[], None] | None]:
    """The block, and a function that copies it back to the array (None if the block is never a copy)."""
    b = self.code.b
    inside = self._inside(where, always_inside)
    offset: Any = 0
    for place, stride in zip(where, self.strides):
      offset = add(b, offset, mul(b, place.start, stride))
    direct = b.gep(self.pointer, [i64(offset)], source_etype=ty.memory_type(self.dtype))
    strides = tuple(self.strides[i] for i in self.kept)
    if inside is None:
      return Memory(direct, strides, self.dtype, self.base), None
    sizes = [where[i].size for i in self.kept]
    copy = self.code.allocate(sizes, self.dtype)
    outside = b.not_(inside)
    is_new = self._is_new(where, last)
    with if_then(b, outside if is_new is None else b.and_(outside, is_new)), self.code.scope():
      statements.poison(self.code, copy, sizes)
      self._copy_valid(where, copy, into_copy=True)
    pointer = b.select(inside, direct, copy.pointer)
    # The last dimension's neighbours are side by side in both, so only the others' strides depend on the case.
    mixed = tuple(s if s == c else b.select(inside, i64(s), i64(c)) for s, c in zip(strides, copy.strides))

    def writeback() -> None:
      with if_then(b, outside), self.code.scope():
        self._copy_valid(where, copy, into_copy=False)

    return Memory(pointer, mixed, self.dtype, self.base), writeback

  def _is_new(self, where: list[BlockRange], last: PreviousBlock | None) -> ir.Value | None:
    """Whether the copy does not hold the block yet; None if it statically does not."""
    if last is None:
      return None
    return self.code.b.not_(last.move(self.code, where))

  def _inside(self, where: list[BlockRange], always: Sequence[bool]) -> ir.Value | None:
    """Whether the block can be used in place; None if it statically can."""
    b = self.code.b
    if any(place.numbers is not None for place in where):
      return ir.Constant(ty.I1, 0)
    checks = []
    for place, d, known in zip(where, self.shape, always):
      if place.count is not None:
        checks.append(b.icmp_signed(">=", place.count, i64(place.size)))
      start, room = place.start, d - place.size
      if isinstance(start, ir.Constant):
        start = start.constant
      if known or (isinstance(start, int) and 0 <= start <= room):
        continue
      checks.append(b.icmp_unsigned("<=", i64(start), i64(room)) if room >= 0 else ir.Constant(ty.I1, 0))
    result = None
    for check in checks:
      result = check if result is None else b.and_(result, check)
    return result

  def _copy_valid(self, where: list[BlockRange], copy: Memory, *, into_copy: bool) -> None:
    """Copy the valid in-bounds elements between the array and the copy."""
    b, code = self.code.b, self.code
    source, target = (self.whole(), copy) if into_copy else (copy, self.whole())

    def move(in_array: list[Any], in_block: list[Any], i: Any, lanes: int) -> None:
      step = 1 if lanes > 1 else 0
      array, block = ([*map(Index, v[:-1]), *(Index(add(b, x, i), step) for x in v[-1:])] for v in (in_array, in_block))
      own = [block[k] for k in self.kept]
      at, to = (array, own) if into_copy else (own, array)
      code.store(target, to, code.load(source, at, lanes))

    def copy_run(in_array: list[Any], in_block: list[Any], count: Any) -> None:
      done: Any = 0
      if len(where) - 1 in self.kept and where[-1].numbers is None:
        # Whole vectors first: elements are contiguous on both sides.
        wide = code.lanes
        done = b.and_(count, i64(-wide))
        with for_range(b, 0, done, wide) as i, code.scope():
          move(in_array, in_block, i, wide)
      with for_range(b, done, count) as i, code.scope():
        move(in_array, in_block, i, 1)

    self._each_run(where, copy_run)

  def _each_run(self, where: list[BlockRange], visit: Callable[[list[Any], list[Any], Any], None]) -> None:
    """Call `visit(in array, in block, count)` for each run, along the last dimension, of valid in-bounds elements."""
    b, code = self.code.b, self.code

    def run(in_array: list[Any], in_block: list[Any]) -> None:
      dim = len(in_block)
      if dim == len(where):
        visit(in_array, in_block, i64(1))
        return
      place, size = where[dim], self.shape[dim]
      low, high = _range_inside(b, place, size)
      if place.numbers is None and dim == len(where) - 1:
        count = b.select(b.icmp_signed(">", high, low), b.sub(high, low), i64(0))
        visit([*in_array, add(b, i64(place.start), low)], [*in_block, low], count)
        return
      with for_range(b, low, high) as i, code.scope():
        if place.numbers is None:
          run([*in_array, add(b, i64(place.start), i)], [*in_block, i])
          return
        number = b.sext(code.load(place.numbers, [Index(i)], 1), ty.I64)
        negative = b.icmp_signed("<", number, i64(0))  # as NumPy counts: from the end
        number = b.select(negative, b.add(number, i64(size)), number)
        with if_then(b, b.icmp_unsigned("<", number, i64(size))), code.scope():
          run([*in_array, number], [*in_block, i])

    run([], [])


def _range_inside(b: ir.IRBuilder, place: BlockRange, size: int) -> tuple[Any, Any]:
  """The range of a block's elements, along one dimension of this size, that are valid and in bounds."""
  if place.numbers is not None:
    return 0, place.size
  start = i64(place.start)
  low = b.select(b.icmp_signed("<", start, i64(0)), b.sub(i64(0), start), i64(0))
  high = b.sub(i64(size), start)
  high = b.select(b.icmp_signed("<", high, i64(place.size)), high, i64(place.size))
  if place.count is not None:
    high = b.select(b.icmp_signed("<", place.count, high), place.count, high)
  return low, high

"""Memory as code sees it: a pointer and strides, and vectors of elements loaded from it and stored to it.

An index has a base and a step for each dimension, so lanes lie a fixed number of elements apart: for an f32[8, 128] with strides (128, 1),

    code.load(memory, [Index(i), Index(j, 1)], 8)       # lanes one apart: a vector load
    code.load(memory, [Index(i), Index(j)], 8)          # lanes at one place: a scalar load, broadcast
    code.load(memory, [Index(i, 1), Index(j)], 8)       # lanes 128 apart: one load for each

A window may hang over the edge of what it is part of: what lies outside is poison when it is loaded, and dropped when it is stored.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, add, i64, if_then, lane, mul, sub
from tilewright.tile.formats import computed_in, is_small_integer, poison_value
from tilewright.tile.ir import Op


@dataclasses.dataclass(eq=False)
class Memory:
  """A view of memory: pointer, strides in elements (ints, or i64s for operands at an edge), and what it is part of."""

  pointer: Any
  strides: tuple[Any, ...]
  dtype: np.dtype
  base: Any  # what may overlap: views with the same base
  origin: tuple[Any, ...] = ()  # the index of the first element, where that is not zero

  @property
  def has_hint(self) -> bool:
    """Whether the kernel says something about caches, which loads and stores have words for."""
    return False

  @property
  def is_plain(self) -> bool:
    """Whether every element is where pointer and strides say."""
    return True

  def seen_as(self, pointer: Any, strides: tuple[Any, ...]) -> Memory:
    """Another view of the same memory."""
    return dataclasses.replace(self, pointer=pointer, strides=strides)


class Accesses:
  """The part of emitting a function that loads, stores and allocates."""

  def __init__(self, b: ir.IRBuilder, arena: ir.Value):
    self.b = b
    self.arena = arena
    self.arena_bytes = 0
    self.constants: dict[Op, Memory] = {}

  # --- elements --------------------------------------------------------------------------------------------------

  def address(self, memory: Memory, index: Sequence[Index]) -> tuple[ir.Value, int | None]:
    """Where the first lane is, and how many elements apart the lanes are (None if that is not static)."""
    offset: Any = 0
    step: int | None = 0
    for axis, (i, stride) in enumerate(zip(index, memory.strides)):
      place = sub(self.b, i.base, memory.origin[axis]) if memory.origin else i.base
      offset = add(self.b, offset, mul(self.b, place, stride))
      if i.step:
        step = None if step is None or not isinstance(stride, int) else step + i.step * stride
    element = ty.memory_type(memory.dtype)
    return self.b.gep(memory.pointer, [i64(offset)], inbounds=True, source_etype=element), step

  def load(self, memory: Memory, index: Sequence[Index], lanes: int) -> ir.Value:
    pointer, step = self.address(memory, index)
    if lanes == 1 or step == 1:
      return ty.load_element(self.b, pointer, memory.dtype, lanes)
    if step == 0:
      return ty.splat(self.b, ty.load_element(self.b, pointer, memory.dtype, 1), lanes)
    if step == 2:
      return self._load_every_second(memory, pointer, lanes)
    result = ir.Constant(ty.register_type(memory.dtype, lanes), ir.Undefined)
    for number in range(lanes):
      place, _ = self.address(memory, [lane(self.b, i, number) for i in index])
      element = ty.load_element(self.b, place, memory.dtype, 1)
      result = self.b.insert_element(result, element, ty.I32(number))
    return result

  def _load_every_second(self, memory: Memory, pointer: ir.Value, lanes: int) -> ir.Value:
    """The real parts of complex numbers, or the imaginary ones: two vectors that end with the last lane's element, and a shuffle."""
    element = ty.memory_type(memory.dtype)
    end = self.b.gep(pointer, [i64(lanes - 1)], inbounds=True, source_etype=element)
    first, last = (ty.load_element(self.b, p, memory.dtype, lanes) for p in (pointer, end))
    # Element e is lane e of the first vector, or lane e - (lanes - 1) of the last.
    picks = [e if e < lanes else e + 1 for e in range(0, 2 * lanes, 2)]
    return self.b.shuffle_vector(first, last, ir.Constant(ir.VectorType(ty.I32, lanes), picks))

  def store(self, memory: Memory, index: Sequence[Index], value: ir.Value) -> None:
    lanes = ty.lanes_of(value)
    pointer, step = self.address(memory, index)
    if lanes == 1 or step == 1:
      ty.store_element(self.b, value, pointer, memory.dtype)
      return
    if step == 2 and memory.dtype.itemsize >= 4:  # a masked store of vectors, where processors have it
      spread = ir.Constant(ir.VectorType(ty.I32, 2 * lanes - 1), [k // 2 for k in range(2 * lanes - 1)])
      wide = self.b.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), spread)
      every_second = ir.Constant(ir.VectorType(ty.I1, 2 * lanes - 1), [1 - k % 2 for k in range(2 * lanes - 1)])
      raw, alignment = ty.narrow(self.b, wide, memory.dtype), ty.I32(memory.dtype.itemsize)
      ty.intrinsic(self.b, "masked.store", [raw, pointer, alignment, every_second], ty.VOID, [raw.type, ty.PTR])
      return
    for number in range(lanes):
      place, _ = self.address(memory, [lane(self.b, i, number) for i in index])
      ty.store_element(self.b, self.b.extract_element(value, ty.I32(number)), place, memory.dtype)

  def load_element(self, memory: Memory, pointer: ir.Value) -> ir.Value:
    """An element of memory by its address."""
    return ty.load_element(self.b, pointer, memory.dtype, 1)

  # --- some lanes only ----------------------------------------------------------------------------------------

  def lanes_inside(self, index: Sequence[Index], shape: Sequence[int], lanes: int) -> ir.Value | None:
    """Which lanes lie inside of a shape; None if all surely do."""
    b, inside = self.b, None
    for i, size in zip(index, shape):
      if i.is_static and i.base >= 0 and i.base + i.step * (lanes - 1) < size:
        continue
      place = i64(i.base)
      if lanes > 1:
        steps = ir.Constant(ir.VectorType(ty.I64, lanes), [i.step * n for n in range(lanes)])
        place = b.add(ty.splat(b, place, lanes), steps)
      ok = b.icmp_unsigned("<", place, ty.constant(place.type, size))  # a negative place is a large unsigned one
      inside = ok if inside is None else b.and_(inside, ok)
    return inside

  def load_window(self, memory: Memory, index: Sequence[Index], shape: Sequence[int], lanes: int) -> ir.Value:
    """Load elements of which some may lie outside of the ref: those are poison and not touched."""
    inside = self.lanes_inside(index, shape, lanes)
    return self.load(memory, index, lanes) if inside is None else self.load_masked(memory, index, inside, lanes)

  def load_masked(self, memory: Memory, index: Sequence[Index], inside: ir.Value, lanes: int) -> ir.Value:
    """Load the lanes that a mask chooses; the others are poison and not touched."""
    poison = ty.element(memory.dtype, poison_value(memory.dtype), lanes)
    pointer, step = self.address(memory, index)
    element = ty.memory_type(memory.dtype)
    if lanes > 1 and step == 1:
      vector = ir.VectorType(element, lanes)
      zero = ir.Constant(vector, None) if not isinstance(element, ir.IntType) else ty.constant(vector, 0)
      raw = ty.intrinsic(
        self.b,
        "masked.load",
        [pointer, ty.I32(max(1, memory.dtype.itemsize)), inside, zero],
        vector,
        [vector, ty.PTR],
      )
      return self.b.select(inside, ty.widen(self.b, raw, memory.dtype, lanes), poison)
    if lanes == 1:
      safe = [Index(self.b.select(inside, i64(i.base), i64(0))) for i in index]
      return self.b.select(inside, self.load(memory, safe, 1), poison)
    result = poison
    for number in range(lanes):
      own = [lane(self.b, i, number) for i in index]
      one = self.load_masked(memory, own, self._lane(inside, number, lanes), 1)
      result = self.b.insert_element(result, one, ty.I32(number))
    return result

  def _lane(self, mask: ir.Value, number: int, lanes: int) -> ir.Value:
    return mask if lanes == 1 else self.b.extract_element(mask, ty.I32(number))

  def store_window(self, memory: Memory, index: Sequence[Index], shape: Sequence[int], value: ir.Value) -> None:
    """Store elements of which some may lie outside of the ref: those are dropped."""
    inside = self.lanes_inside(index, shape, ty.lanes_of(value))
    if inside is None:
      self.store(memory, index, value)
    else:
      self.store_masked(memory, index, inside, value)

  def store_masked(self, memory: Memory, index: Sequence[Index], inside: ir.Value, value: ir.Value) -> None:
    """Store the lanes that a mask chooses."""
    lanes = ty.lanes_of(value)
    pointer, step = self.address(memory, index)
    if lanes > 1 and step == 1:
      raw = ty.narrow(self.b, value, memory.dtype)
      alignment = ty.I32(max(1, memory.dtype.itemsize))
      ty.intrinsic(self.b, "masked.store", [raw, pointer, alignment, inside], ty.VOID, [raw.type, ty.PTR])
      return
    for number in range(lanes):
      with if_then(self.b, self._lane(inside, number, lanes)):
        one = value if lanes == 1 else self.b.extract_element(value, ty.I32(number))
        self.store(memory, [lane(self.b, i, number) for i in index], one)

  # --- buffers ---------------------------------------------------------------------------------------------------

  def allocate(self, shape: Sequence[int], dtype: Any) -> Memory:
    """A buffer in this instance's part of the arena, aligned to a cache line."""
    dtype = np.dtype(dtype)
    nbytes = max(1, math.prod(shape)) * dtype.itemsize
    pointer = self.b.gep(self.arena, [i64(self.arena_bytes)], source_etype=ty.I8)
    self.arena_bytes += -(-nbytes // 64) * 64
    strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    return Memory(pointer, strides, dtype, object())

  def constant_memory(self, op: Op, value: np.ndarray) -> Memory:
    """A static array in the module's read-only data."""
    if op not in self.constants:
      if is_small_integer(value.dtype):
        value = value.astype(computed_in(value.dtype))
      raw = np.ascontiguousarray(value).view(np.uint8).reshape(-1)
      data = ir.Constant(ir.ArrayType(ty.I8, raw.size), bytearray(raw.tobytes()))
      variable = ir.GlobalVariable(self.b.module, data.type, self.b.module.get_unique_name("constant"))
      variable.initializer, variable.global_constant, variable.linkage, variable.align = data, True, "internal", 64
      strides = tuple(math.prod(value.shape[i + 1 :]) for i in range(value.ndim))
      self.constants[op] = Memory(variable, strides, value.dtype, object())
    return self.constants[op]

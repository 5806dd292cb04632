"""Tiles in registers: the elements of each thread, by a layout, and their lookup by index."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.layout.layout import Layout
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.distribution import Held
from tilewright.target.nvgpu.emit.raw_bits import integers, narrowed, widened
from tilewright.target.nvgpu.emit.views import View


@dataclasses.dataclass(eq=False)
class Registers:
  """A tile in registers: for each step of its distribution, the thread's vector, in a stack slot that LLVM turns into registers.

  f16 and bf16 are kept as memory has them, two in a register.
  """

  held: Held
  dtype: np.dtype
  slots: list[ir.Value]
  base: Any = None  # no memory that other threads could access

  @staticmethod
  def slot_type(dtype: Any, lanes: int) -> ir.Type:
    return integers(16, lanes) if ty.is_half(dtype) else ty.register_type(dtype, lanes)

  @property
  def layout(self) -> Layout:
    return self.held.layout

  def get(self, b: ir.IRBuilder, step: int) -> ir.Value:
    """The vector of a step, as the slot has it."""
    return b.load(self.slots[step], typ=self.slot_type(self.dtype, self.held.lanes))

  def vector(self, b: ir.IRBuilder, step: int) -> ir.Value:
    return self._value(b, self.get(b, step))

  def bits(self, b: ir.IRBuilder, step: int) -> ir.Value:
    return self._bits(b, self.get(b, step))

  def set(self, b: ir.IRBuilder, step: int, value: ir.Value) -> None:
    b.store(narrowed(b, value, self.dtype) if ty.is_half(self.dtype) else value, self.slots[step])

  def set_bits(self, b: ir.IRBuilder, step: int, bits: ir.Value) -> None:
    b.store(bits if ty.is_half(self.dtype) else widened(b, bits, self.dtype), self.slots[step])

  def at(self, b: ir.IRBuilder, places: list[tuple[int, int]]) -> ir.Value:
    """Some elements, each by step and lane, as a vector."""
    return self._value(b, self._gathered(b, places))

  def bits_at(self, b: ir.IRBuilder, places: list[tuple[int, int]]) -> ir.Value:
    return self._bits(b, self._gathered(b, places))

  def elements(self, b: ir.IRBuilder) -> list[ir.Value]:
    """The registers as the layout counts them, each the integer that memory would hold."""
    return elements(b, self.held, (self.bits(b, step) for step in range(self.held.steps)), 8 * self.dtype.itemsize)

  def set_elements(self, b: ir.IRBuilder, values: Sequence[ir.Value]) -> None:
    """The reverse of `elements`."""
    for step, group in enumerate(self.held.groups):
      parts = [values[r] for r in group]
      self.set_bits(b, step, ty.joined(b, parts))

  def _value(self, b: ir.IRBuilder, kept: ir.Value) -> ir.Value:
    return widened(b, kept, self.dtype) if ty.is_half(self.dtype) else kept

  def _bits(self, b: ir.IRBuilder, kept: ir.Value) -> ir.Value:
    return kept if ty.is_half(self.dtype) else narrowed(b, kept, self.dtype)

  def _gathered(self, b: ir.IRBuilder, places: list[tuple[int, int]]) -> ir.Value:
    if self.held.lanes == len(places) and places == [(places[0][0], n) for n in range(len(places))]:
      return self.get(b, places[0][0])
    vectors = {step: self.get(b, step) for step, _ in places}
    parts = [vectors[step] if self.held.lanes == 1 else b.extract_element(vectors[step], I32(n)) for step, n in places]
    return ty.joined(b, parts)


@dataclasses.dataclass(eq=False)
class RegisterRef(View):
  """A ref whose memory is registers: only ever read and written as a whole."""

  registers: Any = None

  @property
  def is_plain(self) -> bool:
    return False


def elements(b: ir.IRBuilder, held: Held, vectors: Iterable[ir.Value], bits: int) -> list[ir.Value]:
  """The registers of a layout one by one, of the vectors in which a thread has them; some number where it has none."""
  found: list[ir.Value] = [ir.Constant(ir.IntType(bits), ir.Undefined)] * held.layout.num_registers
  for group, vector in zip(held.groups, vectors):
    for n, register in enumerate(group):
      found[register] = vector if len(group) == 1 else b.extract_element(vector, I32(n))
  return found

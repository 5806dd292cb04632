"""Pairs of 16-bit floats in one register, as matrix instructions take them.

`pair_at(code, v, index)` gives the elements of a bf16 or f16 tile at an index and at its neighbour along the last dimension, the first in
the low half. Products, sums and differences of such tiles are one instruction for both (PTX ISA, fma.rn.bf16x2: rounded once, subnormals
kept); a word that the kernel cast to two floats is those floats; what does not change along the last dimension is one value twice.
Everything else is computed in f32, as always, and rounded together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from llvmlite import ir

from tilewright.target.llvm import operand_indices
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, add, shifted
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import F32, I16, I32
from tilewright.target.nvgpu.arch.tensor_cores import HALVES
from tilewright.target.nvgpu.emit import views
from tilewright.target.nvgpu.emit.ops.arithmetic import float_pair
from tilewright.target.nvgpu.emit.units import small_floats
from tilewright.target.nvgpu.emit.units.inline_ptx import pure
from tilewright.tile.ir import Op, Value

_POWERS = np.dtype(jnp.float8_e8m0fnu)

# As a * b + c, with the bits of c or b that leave the result alone: -0 is the zero that does.
_MINUS_ZEROS = 0x80008000
_ONES = {"bf16": 0x3F803F80, "f16": 0x3C003C00}


def pair_at(code: Any, v: Value, index: Sequence[Index]) -> ir.Value:
  """Two neighbours along the last dimension as an i32."""
  key = (v, "pair", tuple(i.key for i in index))
  for scope in reversed(code.memo):
    if key in scope:
      return scope[key]
  found = _pair(code, v, index)
  code.memo[-1][key] = found
  return found


def _pair(code: Any, v: Value, index: Sequence[Index]) -> ir.Value:
  kind, op = HALVES[v.tile.dtype], v.owner
  known = code.env.get(v)
  if isinstance(known, ir.Value):
    return float_pair(code.b, kind, known, known)
  if known is None and isinstance(op, Op):
    if op.name == "recast" and op.operands[0].tile.dtype.itemsize == 4 and index[-1].is_static:
      return code.b.bitcast(code.value_at(op.operands[0], index[:-1], 1), I32)
    elif op.name in ("mul", "add", "sub"):
      return _arithmetic(code.b, op.name, kind, *(pair_at(code, operand, index) for operand in op.operands))
    elif op.name in operand_indices.MOVES:
      return _moved(code, op, index)
    elif op.name == "convert" and op.operands[0].tile.dtype == np.float32:
      both = code.value_at(op.operands[0], [*index[:-1], _two(index[-1])], 2)
      return float_pair(code.b, kind, *(code.b.extract_element(both, I32(n)) for n in range(2)))
  view = _view(code, v)
  if view is not None:
    return _load(code, view, index)
  both = code.value_at(v, [*index[:-1], _two(index[-1])], 2)
  return float_pair(code.b, kind, *(code.b.extract_element(both, I32(n)) for n in range(2)))


def _view(code: Any, v: Value) -> views.View | None:
  """The memory a tile lies in as it is."""
  known, op = code.env.get(v), v.owner
  if known is None and isinstance(op, Op) and op.name == "load":
    known = code.memory_of(op.operands[0])
  return views.view_of(known) if type(known) in (Memory, views.View) else None


def _two(i: Index) -> Index:
  return Index(i.base, 1, 2)


def _arithmetic(b: ir.IRBuilder, name: str, kind: str, x: ir.Value, y: ir.Value) -> ir.Value:
  if name == "mul":
    args = [x, y, I32(_MINUS_ZEROS)]
  else:
    args = [x, I32(_ONES[kind]), b.xor(y, I32(_MINUS_ZEROS)) if name == "sub" else y]
  return pure(b, I32, f"fma.rn.{kind}x2 $0, $1, $2, $3;", "=r,r,r,r", args)


def _moved(code: Any, op: Op, index: Sequence[Index]) -> ir.Value:
  """Of an operand: a pair, one element twice, or two elements."""
  found = operand_indices.operand_indices(code, op, [*index[:-1], _two(index[-1])], 2)
  if found is not None:
    ((x, places),) = found
    if all(i.step == 0 for i in places):
      return _twice(code, x, places)
    if [i.step for i in places] == [0] * (len(places) - 1) + [1]:
      return pair_at(code, x, [*places[:-1], Index(places[-1].base, 0, places[-1].align)])
  second = [*index[:-1], shifted(code.b, index[-1], 1)]
  both = ir.Constant(ir.VectorType(I16, 2), ir.Undefined)
  for n, place in enumerate((index, second)):
    both = code.b.insert_element(both, _half(code, op.results[0], place), I32(n))
  return code.b.bitcast(both, I32)


def _twice(code: Any, v: Value, index: Sequence[Index]) -> ir.Value:
  kind, op = HALVES[v.tile.dtype], v.owner
  key = (v, "twice", tuple(i.key for i in index))
  for scope in reversed(code.memo):
    if key in scope:
      return scope[key]
  source = v
  if v not in code.env and isinstance(op, Op) and op.name == "convert" and op.operands[0].tile.dtype == np.float32:
    source = op.operands[0]  # rounded once, by what makes the pair
  exponents = _exponents(code, source) if kind == "bf16" else None
  if exponents is not None:
    found = _power_pair(code.b, _one_of_two(code, exponents, index))
  elif index and index[-1].origin is not None:
    found = _half_of_two(code, v, index)
  else:
    value = code.value_at(source, index, 1)
    found = float_pair(code.b, kind, value, value)
  code.memo[-1][key] = found
  return found


def _exponents(code: Any, v: Value) -> Value | None:
  """The powers of two, as eight bits of exponent, that a tile was converted from, where the hardware has no conversion."""
  op = v.owner
  if v in code.env or not isinstance(op, Op) or op.name != "convert" or small_floats.hardware(_POWERS, code.arch):
    return None
  (x,) = op.operands
  return x if x.tile.dtype == _POWERS else None


def _power_pair(b: ir.IRBuilder, exponent: ir.Value) -> ir.Value:
  """A float8_e8m0fnu as two bf16, exactly: what their exponents hold, but the least of them, which is subnormal, and NaN for infinity."""
  number = b.mul(b.zext(exponent, I32), I32(0x00800080))
  least = I32(0x00400040)
  found = b.select(b.icmp_unsigned(">", number, least), number, least)
  return pure(b, I32, "fma.rn.bf16x2 $0, $1, $2, $3;", "=r,r,r,r", [number, I32(0), found])


def _one_of_two(code: Any, v: Value, index: Sequence[Index]) -> ir.Value:
  """An element, computed together with its neighbour where that is known to be needed too: small floats are converted in pairs."""
  if not index or index[-1].origin is None:
    return code.value_at(v, index, 1)
  both = _of_two(code, v, index, "two", lambda first: code.value_at(v, [*index[:-1], _two(first)], 2))
  return code.b.extract_element(both, I32(index[-1].offset % 2))


def _of_two(code: Any, v: Value, index: Sequence[Index], name: str, make: Callable[[Index], ir.Value]) -> ir.Value:
  """What `make` gives for the first of two neighbours, for either of them."""
  last = index[-1]
  key = (v, name, tuple(i.key for i in index[:-1]), last.origin, last.offset // 2)
  for scope in reversed(code.memo):
    if key in scope:
      return scope[key]
  code.memo[-1][key] = found = make(shifted(code.b, last, -(last.offset % 2)))
  return found


def _half_of_two(code: Any, v: Value, index: Sequence[Index]) -> ir.Value:
  """An element twice, made together with its neighbour, which is known to be needed too. Instructions read a half twice at no cost."""
  both = _of_two(code, v, index, "pair of two", lambda first: pair_at(code, v, [*index[:-1], first]))
  halves, which = code.b.bitcast(both, ir.VectorType(I16, 2)), index[-1].offset % 2
  same = ir.Constant(ir.VectorType(I32, 2), [which, which])
  return code.b.bitcast(code.b.shuffle_vector(halves, halves, same), I32)


def _half(code: Any, v: Value, index: Sequence[Index]) -> ir.Value:
  """One element as the 16 bits that memory has; those that lie in memory are not looked at."""
  op = v.owner
  if v not in code.env and isinstance(op, Op) and op.name in operand_indices.MOVES:
    found = operand_indices.operand_indices(code, op, index, 1)
    assert found is not None
    ((x, places),) = found
    return _half(code, x, places)
  view = _view(code, v)
  if view is not None and not view.has_edges:
    pointer, _, align = views.address(code.b, view, index)
    return code.b.load(pointer, typ=I16, align=max(2, align))
  value = code.value_at(v, index, 1)
  return code.b.bitcast(ty.narrow(code.b, value, v.tile.dtype), I16) if value.type == F32 else value


def _load(code: Any, view: views.View, index: Sequence[Index]) -> ir.Value:
  places = [*index[:-1], _two(index[-1])]
  if not view.has_edges:
    pointer, step, align = views.address(code.b, view, places, 2)
    if step == 1 and align >= 4:
      return code.b.load(pointer, typ=I32, align=align)
  both = code.load(view, places, 2)
  return float_pair(code.b, HALVES[view.dtype], *(code.b.extract_element(both, I32(n)) for n in range(2)))


class Run:
  """Places along several dimensions of the elements `start * length + i`, for 0 <= i < length.

  What is known without arithmetic is a number, and one value is one index: what is computed for it is found again.

      Run(b, start, 32, (512, 2, 4, 2))[5]   ->   2 start, 0, 2, 1
  """

  def __init__(self, b: ir.IRBuilder, start: ir.Value, length: int, sizes: Sequence[int]):
    self.b, self.start, self.length, self.sizes = b, start, length, list(sizes)
    self.outer: dict[int, list[Index]] = {}

  def __getitem__(self, i: int) -> list[Index]:
    inner: list[Index] = []
    sizes, length = list(self.sizes), self.length
    while len(sizes) > 1 and length % sizes[-1] == 0 and length > 1:
      size = sizes.pop()
      inner.append(Index(i % size))
      i, length = i // size, length // size
    if i not in self.outer:
      self.outer[i] = self._outer(i, length, sizes)
    return [*self.outer[i], *inner[::-1]]

  def _outer(self, i: int, length: int, sizes: list[int]) -> list[Index]:
    b, found = self.b, list[Index]()
    const = lambda n: ir.Constant(self.start.type, n)
    base = add(b, self.start if length == 1 else b.mul(self.start, const(length)), i)
    if len(sizes) == 1:
      return [Index(base, origin=self.start if length % 2 == 0 else None, offset=i)]
    for size in reversed(sizes[1:]):
      found.append(Index(b.urem(base, const(size))))
      base = b.udiv(base, const(size))
    return [Index(base), *found[::-1]]

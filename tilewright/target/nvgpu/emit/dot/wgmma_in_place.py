"""Operands of warpgroups' products that lie in shared memory already, as the user laid them out: read where they are.

    a_smem = SMEM((stages, 128, 64), bfloat16, transforms=[TilingTransform((8, 64)), SwizzleTransform(128)])
    wgmma(acc, a_smem.at[slot, pl.ds(64 * wg, 64)], …)

A part of such a buffer that begins at multiples of its own size is laid out as a buffer of its size would be, further on: the digits of a
place are those of where the part begins and of where in the part it is, and a swizzle does not see how many times it has repeated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from llvmlite import ir

from tilewright.layout.shared import SWIZZLES, SharedLayout, Swizzle
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import i64
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.code import BlockCode
from tilewright.target.nvgpu.emit.dot.wgmma_operands import Placed
from tilewright.target.nvgpu.emit.symbolic import Number
from tilewright.target.nvgpu.emit.units.wgmma import Matrix
from tilewright.target.nvgpu.emit.views import View, multiple
from tilewright.target.nvgpu.passes.layouts.operand_layouts import behind_transposes
from tilewright.tile.ir import Op, Value

_SWIZZLES = (128, 64, 32)

# (axis, place, size, move): as terms of a layout, those of an axis in order.
Digits = tuple[tuple[int, int, int, int], ...]


def find(code: BlockCode, value: Value, contracted: int) -> Placed | None:
  """An operand, perhaps transposed, that is loaded from memory in which it lies as a matrix of wgmma does, if nothing has changed it.

  Dimension `contracted` is k."""
  loaded, permutation = behind_transposes(value)
  load = loaded.owner
  if not isinstance(load, Op) or load.name != "load" or loaded in code.env:
    return None
  view = code.env.get(load.operands[0])
  if not isinstance(view, View) or view.tiled is None or view.has_edges or view.is_elsewhere or loaded.tile.rank != 2:
    return None
  tiled, shape = view.tiled, loaded.tile.shape
  digits = digits_of_part(view, tiled, shape)
  matrix = None if digits is None else matrix_of(digits, shape, tiled.bits, tiled.swizzle, permutation[contracted])
  if matrix is None:
    return None
  return Placed(tiled, dataclasses.replace(view, pointer=start(code.b, view)), matrix=matrix)


def load_of(value: Value) -> Op:
  """The load of an operand that was found in memory."""
  load = behind_transposes(value)[0].owner
  assert isinstance(load, Op)
  return load


def matrix_of(digits: Digits, shape: tuple[int, ...], bits: int, swizzle: Swizzle, contracted: int) -> Matrix | None:
  """A matrix whose digits are known as wgmma sees it, if it can: rows of a swizzle's width, eight of them one below the other."""
  width, size = next((n for n in _SWIZZLES if SWIZZLES[n] == swizzle), 0), bits // 8
  wide = width // size
  for last in (1, 0):
    down = 1 - last
    if not wide or shape[last] % wide or shape[down] % 8:
      continue
    rows, columns = shape[down] // 8, shape[last] // wide
    eight = _moved(digits, down, 8) if rows > 1 else 8 * wide
    column = _moved(digits, last, wide) if columns > 1 else shape[down] * wide
    wanted = [(last, 1, wide, 1), (down, 1, 8, wide), (down, 8, rows, eight), (last, wide, columns, column)]
    if _merged(wanted) == digits and not any(n * size % swizzle.span for n in (eight, column)):
      return Matrix(width, last == contracted, size, eight * size, column * size)
  return None


def _moved(digits: Digits, axis: int, place: int) -> int:
  """How many elements further on a place along an axis lies, if a digit begins or goes on there; else 0."""
  own = (
    place // at * move for a, at, size, move in digits if a == axis and at <= place < at * size and place % at == 0
  )
  return next(own, 0)


def digits_of_part(view: View, tiled: SharedLayout, shape: tuple[int, ...]) -> Digits | None:
  """The digits of a part of a buffer, by the dimensions of the part, if it is laid out as a buffer of its size."""
  found = []
  extents = [1 if a.dim is None else shape[a.dim] for a in view.along]
  for axis, place, size, move in _digits(tiled):
    own, extent = view.along[axis], extents[axis]
    if own.scale != 1 or multiple(own.start) % extent or (place < extent and extent % place):
      return None
    if place * size > extent:  # where the part begins, counts: the swizzle must not see it
      step = max(extent // place, 1) * move * tiled.bits // 8
      if step % tiled.swizzle.span and multiple(own.start) != 0:
        return None
    if place < extent:
      assert own.dim is not None
      found.append((own.dim, place, min(size, extent // place), move))
  return _merged(found)


def digits_of(shared: SharedLayout) -> Digits:
  """The digits of a whole buffer."""
  return _merged(_digits(shared))


def _digits(shared: SharedLayout) -> list[tuple[int, int, int, int]]:
  return [(int(t.input), t.place, t.size, t.moves[0]) for t in shared.offset_terms]


def _merged(digits: Iterable[tuple[int, int, int, int]]) -> Digits:
  """Digits of which one goes on where the other ends, as one."""
  found: list[tuple[int, int, int, int]] = []
  for axis, place, size, move in sorted(d for d in digits if d[2] > 1):
    if found:
      *before, last = found
      if last[0] == axis and place == last[1] * last[2] and move == last[3] * last[2]:
        found = [*before, (axis, last[1], last[2] * size, last[3])]
        continue
    found.append((axis, place, size, move))
  return tuple(found)


def start(b: ir.IRBuilder, view: View) -> ir.Value:
  """Where a part begins."""
  assert view.tiled is not None
  places: list[Any] = []
  for axis, a in enumerate(view.along):
    places.append(a.start if isinstance(a.start, int) else Number(b, b.trunc(a.start, I32), view.tiled.shape[axis]))
  offset = view.tiled.address(places)
  at = i64(offset) if isinstance(offset, int) else b.zext(offset.value, ty.I64)
  return b.gep(view.pointer, [at], source_etype=ty.I8)

"""Index maps of ops: for each op, the index into its operands that an index into its result depends on.

Three tables: `MOVES` are the ops whose result is an operand's element as it is, `SOURCES` those that make elements out of nothing, and
everything else computes elementwise from operands at the same index.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.layout.algebra import matching_dims
from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import ZERO, Index, add, div_rem, i64, mul, scaled, shifted
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import TileType

Indices = list[tuple[Value, list[Index]]]
MoveRule = Callable[[Any, Op, Sequence[Index], int], Indices | None]


def _shape(v: Value) -> tuple[int, ...]:
  assert isinstance(v.type, TileType)
  return v.type.shape


def operand_indices(code: Any, op: Op, index: Sequence[Index], lanes: int) -> Indices | None:
  """The operands' elements that the result's elements at `index` are made of; None if lane by lane is the only way."""
  if op.name in MOVES:
    return MOVES[op.name](code, op, index, lanes)
  return [(operand, list(index)) for operand in op.operands]


def _broadcast(code: Any, op: Op, index: Sequence[Index], lanes: int) -> Indices:
  (x,) = op.operands
  return [(x, [ZERO if size == 1 else index[d] for d, size in zip(op.attrs["dims"], _shape(x))])]


def _transpose(code: Any, op: Op, index: Sequence[Index], lanes: int) -> Indices:
  (x,) = op.operands
  source: list[Any] = [None] * len(index)
  for i, p in enumerate(op.attrs["permutation"]):
    source[p] = index[i]
  return [(x, source)]


def _slice(code: Any, op: Op, index: Sequence[Index], lanes: int) -> Indices:
  (x,) = op.operands
  moved = [
    shifted(code.b, scaled(code.b, i, step), start)
    for i, start, step in zip(index, op.attrs["starts"], op.attrs["strides"])
  ]
  return [(x, moved)]


def _reverse(code: Any, op: Op, index: Sequence[Index], lanes: int) -> Indices:
  (x,) = op.operands
  axes = op.attrs["axes"]
  return [
    (
      x,
      [
        shifted(code.b, scaled(code.b, i, -1), d - 1) if a in axes else i
        for a, (i, d) in enumerate(zip(index, _shape(x)))
      ],
    )
  ]


def _layout_cast(code: Any, op: Op, index: Sequence[Index], lanes: int) -> Indices:
  return [(op.operands[0], list(index))]


def _dynamic_slice(code: Any, op: Op, index: Sequence[Index], lanes: int) -> Indices:
  x, *starts = op.operands
  return [
    (x, [shifted(code.b, i, s) for i, s in zip(index, clamped_starts(code, starts, _shape(x), op.attrs["sizes"]))])
  ]


def clamped_starts(code: Any, starts: Sequence[Value], shape: Sequence[int], sizes: Sequence[int]) -> list[ir.Value]:
  """Dynamic starts moved so that the part fits, as XLA does."""
  found = []
  for start, d, size in zip(starts, shape, sizes):
    s = code.scalar_index(start)
    low = code.b.select(code.b.icmp_signed("<", s, i64(0)), i64(0), s)
    found.append(code.b.select(code.b.icmp_signed(">", low, i64(d - size)), i64(d - size), low))
  return found


def _reshape(code: Any, op: Op, index: Sequence[Index], lanes: int) -> Indices | None:
  """Dimensions are grouped where the sizes of both shapes multiply up to the same number; each group is renumbered."""
  (x,) = op.operands
  source: list[Index] = []
  for outs, ins in matching_dims(op.results[0].tile.shape, _shape(x)):
    part = [index[i] for i in outs]
    sizes = [_shape(x)[i] for i in ins]
    renumbered = _renumber(code.b, part, [op.results[0].tile.shape[i] for i in outs], sizes, lanes)
    if renumbered is None:
      return None
    source += renumbered
  return [(x, source)]


def _renumber(
  b: ir.IRBuilder, index: list[Index], sizes: list[int], target: list[int], lanes: int
) -> list[Index] | None:
  if [s for s in sizes if s > 1] == [s for s in target if s > 1]:
    kept = iter([i for i, s in zip(index, sizes) if s > 1])
    return [next(kept) if s > 1 else ZERO for s in target]
  base: Any = 0
  step, align = 0, 0
  for k, i in enumerate(index):
    stride = math.prod(sizes[k + 1 :])
    base = add(b, base, mul(b, i.base, stride))
    step += i.step * stride
    align = math.gcd(align, i.align * stride if not i.is_static else i.base * stride)
  if step:
    # Lanes stay together in the last dimension if they cannot cross its end.
    inner = target[-1]
    if step != 1 or inner % lanes or (align or inner) % lanes:
      return None
  result: list[Index] = []
  for k in reversed(range(len(target))):
    base, left = div_rem(b, base, target[k]) if k else (0, base)
    result.append(Index(left, step if k == len(target) - 1 else 0, lanes if step and k == len(target) - 1 else 1))
  return result[::-1]


MOVES: dict[str, MoveRule] = {
  "broadcast": _broadcast,
  "transpose": _transpose,
  "slice": _slice,
  "reverse": _reverse,
  "layout_cast": _layout_cast,
  "dynamic_slice": _dynamic_slice,
  "reshape": _reshape,
}


# --- elements out of nothing -------------------------------------------------------------------------------------


def _constant(code: Any, op: Op, index: Sequence[Index], lanes: int) -> ir.Value:
  value = np.asarray(op.attrs["value"])
  dtype = np.dtype(op.attrs["dtype"])
  if value.ndim == 0 or (value == value.flat[0]).all():
    return ty.element(dtype, value.flat[0], lanes)
  return code.load(code.constant_memory(op, value.astype(dtype)), index, lanes)


def _iota(code: Any, op: Op, index: Sequence[Index], lanes: int) -> ir.Value:
  i = index[op.attrs["axis"]]
  b = code.b
  base = i64(i.base)
  if lanes > 1:
    steps = ir.Constant(ir.VectorType(ty.I64, lanes), [i.step * n for n in range(lanes)])
    base = b.add(ty.splat(b, base, lanes), steps)
  return arithmetic.convert(b, base, np.dtype(np.int64), np.dtype(op.attrs["dtype"]))


def window_index(code: Any, op: Op, index: Sequence[Index], starts: Sequence[Any]) -> list[Index]:
  """Where in the ref the elements of a window are."""
  own = iter(index)
  found = []
  for axis, start in enumerate(starts):
    if axis in op.attrs["dropped"]:
      found.append(Index(start))
    else:
      found.append(shifted(code.b, scaled(code.b, next(own), op.attrs["steps"][axis]), start))
  return found


def _window_load(code: Any, op: Op, index: Sequence[Index], lanes: int) -> ir.Value:
  ref, *starts = op.operands
  where = window_index(code, op, index, [code.scalar_index(s) for s in starts])
  return code.load_window(code.accessed(op), where, ref.type.shape, lanes)


def _program_id(code: Any, op: Op, index: Sequence[Index], lanes: int) -> ir.Value:
  return code.instance.indices[op.attrs["axis"]]


def _num_programs(code: Any, op: Op, index: Sequence[Index], lanes: int) -> ir.Value:
  return code.instance.sizes[op.attrs["axis"]]


SOURCES: dict[str, Callable[[Any, Op, Sequence[Index], int], ir.Value]] = {
  "constant": _constant,
  "iota": _iota,
  "window_load": _window_load,
  "program_id": _program_id,
  "num_programs": _num_programs,
}

# Of these sources, what a loop needs in every iteration if it does not change along the loop.
HOISTABLE: dict[str, Callable[[Op, Sequence[Index]], Indices]] = {}

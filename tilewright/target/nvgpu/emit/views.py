"""Views of memory on the GPU: their alignment, and which of their elements are in bounds of the array.

A block may extend past the edges of its array, and a window past those of its block. Element i of dimension d of a view is in bounds if
`0 <= offset + scale * i < size` for each edge of the dimension. Out-of-bounds elements are poison when read, and dropped when written.

Memory of the block may be tiled and swizzled (`tilewright.layout.shared`): then the address of an element is what the layout says, and a
view knows where in the whole buffer its elements are.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from llvmlite import ir

from tilewright.layout.shared import SharedLayout
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.loops import Index, add, i64, if_then, lane, mul
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.ops import cache_modifiers
from tilewright.target.nvgpu.emit.ops.arithmetic import bfloat16_of_pairs, bfloat16_pair
from tilewright.target.nvgpu.emit.symbolic import Number
from tilewright.target.nvgpu.emit.units import l2
from tilewright.target.nvgpu.passes.layouts.hints import one_of
from tilewright.tile.formats import poison_value

_ALIGNED = 16  # bytes: as far as alignment matters to loads and stores
_BFLOAT16 = np.dtype(jnp.bfloat16)


@dataclasses.dataclass(frozen=True)
class Edge:
  """Element i lies inside if 0 <= offset + scale * i < size."""

  offset: Any  # an int or an i64
  scale: int
  size: Any  # an int or an i64 that is not negative


@dataclasses.dataclass(frozen=True)
class TiledAxis:
  """Where a view lies along a dimension of a tiled buffer: element i of the view's dimension `dim` is at `start + scale * i`."""

  start: Any = 0  # an int or an i64
  dim: int | None = None  # None if the dimension is gone
  scale: int = 1


@dataclasses.dataclass(frozen=True)
class Array:
  """One of the kernel's arrays in global memory, by its position among them."""

  number: int
  shape: tuple[int, ...]


def whole(memory: SharedLayout | Array) -> tuple[TiledAxis, ...]:
  """The view of all of a buffer or an array."""
  return tuple(TiledAxis(0, axis) for axis in range(len(memory.shape)))


@dataclasses.dataclass(eq=False)
class View(Memory):
  """A view with its static properties. `align`: the view's first element is this many elements from an aligned one, or a multiple of it."""

  align: int = 1
  edges: tuple[tuple[Edge, ...], ...] = ()  # for each dimension, or for none
  inside: Any = None  # an i1: whether the dimensions that are gone lie inside; None if they surely do
  anchor: Any = None  # a pointer that may always be read, where there are edges
  in_global: bool = False  # surely in global memory
  policy: Any = None  # an i64: the L2 eviction policy of loads (`passes.l2_hints`); None: the default
  cache: str = ""  # the kernel's cache hints (`cache_modifiers`)
  is_elsewhere: bool = False  # in the shared memory of another CTA of the cluster
  is_staged: bool = False  # in shared memory, in rows that begin at multiples of sixteen bytes
  tiled: SharedLayout | None = None  # of a buffer, which `pointer` is the start of, that strides do not describe
  along: tuple[TiledAxis, ...] = ()  # for each dimension of such a buffer, or of `home`
  # What it is a part of, if TMA can know: an array, or a buffer whose rows follow
  home: Array | SharedLayout | None = None
  exchange: Any = None  # where the pieces of a row lie, if not in order: `exchange(b, view, index)` gives an address as `address` does

  @property
  def has_hint(self) -> bool:
    return bool(self.cache)

  @property
  def is_plain(self) -> bool:
    return not self.has_edges and self.tiled is None and self.exchange is None

  def seen_as(self, pointer: Any, strides: tuple[Any, ...]) -> View:
    return View(pointer, strides, self.dtype, self.base)

  @property
  def has_edges(self) -> bool:
    return self.inside is not None or any(self.edges)


@dataclasses.dataclass(eq=False)
class SwizzledView(View):
  """A matrix in shared memory that only products read, laid out for them."""

  layout: Any = None  # a SharedLayout

  @property
  def is_plain(self) -> bool:
    return False


@dataclasses.dataclass(eq=False)
class SummedView(View):
  """Read-only floats, each the sum of several partial sums at a constant stride: they are added up when loaded."""

  terms: int = 1
  apart: int = 0

  @property
  def is_plain(self) -> bool:
    return False


def view_of(memory: Memory) -> View:
  if isinstance(memory, View):
    return memory
  return View(memory.pointer, memory.strides, memory.dtype, memory.base, align=_ALIGNED)


def element_of_stack(b: ir.IRBuilder, view: View, starts: Sequence[Any], shape: tuple[int, ...]) -> View | None:
  """A tile of a whole buffer that is an array of them, one behind the other: a buffer for itself. `starts` say which one it is."""
  part = None if view.tiled is None or view.along != whole(view.tiled) else one_of(view.tiled, shape)
  if part is None or view.has_edges:
    return None
  offset: Any = 0
  for axis, start in enumerate(starts):
    offset = add(b, offset, mul(b, start, view.strides[axis] * view.dtype.itemsize))
  pointer = b.gep(view.pointer, [i64(offset)], source_etype=ty.I8)
  strides = view.strides[len(starts) :]
  return View(
    pointer,
    strides,
    view.dtype,
    view.base,
    tiled=part,
    along=whole(part),
    is_elsewhere=view.is_elsewhere,
  )


def subview(b: ir.IRBuilder, view: View, starts: Sequence[Any], steps: Sequence[int], dropped: Sequence[int]) -> View:
  """Part of a view from dynamic starts on."""
  offset: Any = 0
  align = view.align
  for start, stride in zip(starts, view.strides):
    part = mul(b, start, stride)
    offset = add(b, offset, part)
    align = math.gcd(align, part if isinstance(part, int) else stride * multiple(start))
  edges, inside = [], view.inside
  for d, start in enumerate(starts):
    own = []
    for edge in view.edges[d] if view.edges else ():
      moved = Edge(add(b, edge.offset, mul(b, start, edge.scale)), edge.scale * steps[d], edge.size)
      if d in dropped:
        ok = is_inside(b, moved, Index(0), 1)
        inside = ok if inside is None else b.and_(inside, ok)
      own.append(moved)
    edges.append(tuple(own))
  kept = [d for d in range(len(starts)) if d not in dropped]
  along = tuple(
    a if a.dim is None else _moved(b, a, starts[a.dim], steps[a.dim], kept.index(a.dim) if a.dim in kept else None)
    for a in view.along
  )
  return View(
    view.pointer
    if view.tiled is not None
    else b.gep(view.pointer, [i64(offset)], source_etype=ty.memory_type(view.dtype)),
    tuple(view.strides[d] * steps[d] for d in kept),
    view.dtype,
    view.base,
    align=align,
    edges=tuple(edges[d] for d in kept),
    inside=inside,
    anchor=view.anchor,
    in_global=view.in_global,
    policy=view.policy,
    tiled=view.tiled,
    along=along,
    home=view.home,
    is_elsewhere=view.is_elsewhere,
  )


def _moved(b: ir.IRBuilder, along: TiledAxis, start: Any, step: int, dim: int | None) -> TiledAxis:
  return TiledAxis(add(b, along.start, mul(b, start, along.scale)), dim, along.scale * step)


def transposed(view: View, order: Sequence[int]) -> View:
  """A view with its dimensions in another order."""
  edges = tuple(view.edges[p] for p in order) if view.edges else ()
  along = tuple(a if a.dim is None else dataclasses.replace(a, dim=list(order).index(a.dim)) for a in view.along)
  return dataclasses.replace(view, strides=tuple(view.strides[p] for p in order), edges=edges, along=along)


def with_edges(view: View, shape: Sequence[int]) -> View:
  """A view of this shape of which accesses may lie outside."""
  own = view.edges or ((),) * len(shape)
  edges = tuple((*e, Edge(0, 1, d)) for e, d in zip(own, shape))
  return dataclasses.replace(view, edges=edges, anchor=view.anchor if view.anchor is not None else view.pointer)


def multiple(value: Any) -> int:
  """A number that surely divides a value."""
  if isinstance(value, int):
    return value
  if isinstance(value, ir.Constant):
    return int(value.constant)
  if isinstance(value, ir.Instruction) and value.opname in ("mul", "shl"):
    x, y = value.operands
    if value.opname == "mul":
      return multiple(x) * multiple(y)
    return multiple(x) << int(y.constant) if isinstance(y, ir.Constant) else 1
  if isinstance(value, ir.Instruction) and value.opname == "add":
    return math.gcd(*(multiple(x) for x in value.operands))
  if isinstance(value, ir.CastInstr) and value.opname in ("sext", "zext"):
    return multiple(value.operands[0])
  return 1


def is_inside(b: ir.IRBuilder, edge: Edge, index: Index, lanes: int) -> ir.Value:
  """Which lanes lie inside of an edge."""
  place = i64(add(b, edge.offset, mul(b, index.base, edge.scale)))
  if lanes > 1 and index.step:
    steps = ir.Constant(ir.VectorType(I64, lanes), [index.step * edge.scale * n for n in range(lanes)])
    place = b.add(ty.splat(b, place, lanes), steps)
  known = isinstance(edge.size, int)
  size = ty.constant(place.type, edge.size) if known else ty.splat(b, edge.size, ty.lanes_of(place))
  return b.icmp_unsigned("<", place, size)  # a negative place is a large unsigned one


def pointer_to(b: ir.IRBuilder, view: View, index: Sequence[Index]) -> tuple[ir.Value, ir.Value | None]:
  """Where an element is, and whether it lies inside (None: surely)."""
  return address(b, view, index)[0], _mask(b, view, index, 1)[0]


def _mask(b: ir.IRBuilder, view: View, index: Sequence[Index], lanes: int) -> tuple[ir.Value | None, bool]:
  """Whether the elements lie inside (None: surely), and whether that is one answer for all lanes."""
  mask, shared = view.inside, True
  for edge, i in ((e, i) for own, i in zip(view.edges, index) for e in own):
    together = lanes == 1 or not i.step or _moves_together(edge, i, lanes)
    ok = is_inside(b, edge, Index(i.base) if together else i, lanes)
    if mask is None:
      mask = ok
    else:
      if shared != together:
        mask, ok = (ty.splat(b, mask, lanes), ok) if shared else (mask, ty.splat(b, ok, lanes))
      mask = b.and_(mask, ok)
    shared = shared and together
  return mask, shared


def _moves_together(edge: Edge, index: Index, lanes: int) -> bool:
  """Whether lanes lie inside all or none: the edge falls between vectors."""
  return (
    edge.scale == 1
    and index.step == 1
    and not any(n % lanes for n in (multiple(edge.offset), index.align, multiple(edge.size)))
  )


def address(b: ir.IRBuilder, view: View, index: Sequence[Index], lanes: int = 1) -> tuple[ir.Value, int | None, int]:
  """Where the first lane is, how many elements apart the lanes are (None if they are not evenly), and its alignment in bytes."""
  if view.tiled is not None:
    return _tiled_address(b, view, view.tiled, index, lanes)
  if view.exchange is not None:
    return view.exchange(b, view, index)
  offset: Any = 0
  step: int | None = 0
  align = view.align
  for i, stride in zip(index, view.strides):
    offset = add(b, offset, mul(b, i.base, stride))
    if not isinstance(stride, int):
      align, step = 1, None if i.step else step
      continue
    align = math.gcd(align, (i.base if isinstance(i.base, int) else max(i.align, multiple(i.base))) * stride)
    if i.step:
      step = None if step is None else step + i.step * stride
  pointer = b.gep(view.pointer, [i64(offset)], source_etype=ty.memory_type(view.dtype))
  size = view.dtype.itemsize
  return pointer, step, math.gcd(align * size, _ALIGNED) if align else _ALIGNED


def _tiled_address(
  b: ir.IRBuilder, view: View, tiled: SharedLayout, index: Sequence[Index], lanes: int
) -> tuple[ir.Value, int | None, int]:
  """The same in a buffer that is tiled and swizzled: lanes lie side by side if they are a vector of a row of a tile."""
  places: list[Number | int] = []
  step: int | None = 0
  first: Any = 0  # bytes to the slot of a ring: by itself, so that what is left is the same in every round of a loop
  for axis, a in enumerate(view.along):
    own = index[a.dim] if a.dim is not None else Index(0)
    if a.dim is None and not isinstance(a.start, int) and (apart := _bytes_apart(tiled, axis)) is not None:
      first = add(b, first, mul(b, a.start, apart))
      places.append(0)
      continue
    place = add(b, a.start, mul(b, own.base, a.scale))
    places.append(place if isinstance(place, int) else Number(b, b.trunc(place, I32), tiled.shape[axis]))
    if own.step and lanes > 1:
      align = math.gcd(
        multiple(a.start), (own.base if isinstance(own.base, int) else max(own.align, multiple(own.base))) * a.scale
      )
      together = own.step * a.scale == 1 and align % lanes == 0 and _run(tiled, axis) % lanes == 0
      step = 1 if together and step == 0 else None
  offset = tiled.address(places)
  start = view.pointer if isinstance(first, int) else b.gep(view.pointer, [i64(first)], source_etype=ty.I8)
  pointer = b.gep(start, [i64(offset) if isinstance(offset, int) else b.zext(offset.value, I64)], source_etype=ty.I8)
  size = view.dtype.itemsize
  return pointer, step, math.gcd(size * lanes, _ALIGNED) if step == 1 else size


def _bytes_apart(tiled: SharedLayout, axis: int) -> int | None:
  """How many bytes further on the next element along a dimension lies, if that is the same everywhere and the swizzle repeats there."""
  terms = [t for t in tiled.offset_terms if t.input == str(axis)]
  nbytes = terms[0].moves[0] * tiled.bits // 8 if len(terms) == 1 and terms[0].place == 1 else 0
  return nbytes if nbytes and nbytes % tiled.swizzle.span == 0 else None


def _run(tiled: SharedLayout, axis: int) -> int:
  """How many neighbours along a dimension lie side by side, aligned, wherever they begin."""
  first = next((t for t in tiled.offset_terms if t.input == str(axis)), None)
  if first is None or first.moves[0] != 1:
    return 1
  return math.gcd(first.size, max(1, min(tiled.swizzle.grain, _ALIGNED) // (tiled.bits // 8)))


def is_in_pieces(view: View, nbytes: int) -> bool:
  """Whether every piece of so many bytes along the last dimension, from a multiple of its length on, lies side by side and is aligned."""
  lanes = nbytes // view.dtype.itemsize
  if view.tiled is None:
    if view.exchange is not None or not all(isinstance(stride, int) for stride in view.strides):
      return False
    return view.strides[-1] == 1 and math.gcd(view.align, *view.strides[:-1]) % lanes == 0
  last = len(view.strides) - 1
  axis = next((axis for axis, a in enumerate(view.along) if a.dim == last), None)
  if axis is None:
    return False
  own = view.along[axis]
  return own.scale == 1 and multiple(own.start) % lanes == 0 and _run(view.tiled, axis) % lanes == 0


def swizzled_address(b: ir.IRBuilder, view: View, index: Sequence[Index]) -> tuple[ir.Value, int | None, int]:
  """An `exchange`: swizzled rows of 128 bytes as TMA writes them. Row r has its sixteen-byte piece p in the place of piece p ^ (r % 8).

  What is known of the place within a piece comes last, so that neighbours are seen to be neighbours.
  """
  row, column = index
  size = view.dtype.itemsize
  width = _ALIGNED // size  # elements of a piece
  dynamic, known = _parted(b, column.base)
  start, inner = known // width * width, known % width
  piece, step = i64(add(b, dynamic, start)), None if row.step else column.step
  if multiple(dynamic) % width:
    piece, inner, step = (
      b.and_(i64(column.base), i64(-width)),
      b.and_(i64(column.base), i64(width - 1)),
      column.step and None,
    )
  turn = b.mul(b.and_(i64(row.base), i64(7)), i64(width))
  place = b.add(b.mul(i64(row.base), i64(view.strides[0])), b.xor(piece, turn))
  memory = ty.memory_type(view.dtype)
  pointer = b.gep(b.gep(view.pointer, [place], source_etype=memory), [i64(inner)], source_etype=memory)
  return pointer, step, math.gcd(inner * size, _ALIGNED) if isinstance(inner, int) else size


def _parted(b: ir.IRBuilder, place: Any) -> tuple[Any, int]:
  """A place as a sum: of what is not known, or zero, and of a number."""
  if isinstance(place, int):
    return 0, place
  if (
    isinstance(place, ir.Instruction) and place.opname in ("add", "mul") and isinstance(place.operands[1], ir.Constant)
  ):
    (dynamic, known), number = _parted(b, place.operands[0]), int(place.operands[1].constant)
    if place.opname == "add":
      return dynamic, known + number
    if known:
      return mul(b, dynamic, number), known * number
  return place, 0


def load(b: ir.IRBuilder, view: View, index: Sequence[Index], lanes: int) -> ir.Value:
  """The elements at an index; poison where they lie outside."""
  if isinstance(view, SummedView):
    return _sum(b, view, index, lanes)
  mask, shared = _mask(b, view, index, lanes)
  if mask is None:
    return _load_inside(b, view, index, lanes)
  if not shared:
    return _each_lane(b, view, index, lanes)
  pointer, step, align = address(b, view, index, lanes)
  if lanes > 1 and not (step == 0 or (step == 1 and _is_one_access(view, lanes, align))):
    return _each_lane(b, view, index, lanes)
  safe = b.select(mask, pointer, view.anchor)
  value = load_vector(b, view, safe, lanes if step == 1 else 1, align)
  poison = ty.element(view.dtype, poison_value(view.dtype), ty.lanes_of(value))
  value = b.select(mask, value, poison)
  return value if ty.lanes_of(value) == lanes else ty.splat(b, value, lanes)


def _each_lane(b: ir.IRBuilder, view: View, index: Sequence[Index], lanes: int) -> ir.Value:
  result = ir.Constant(ty.register_type(view.dtype, lanes), ir.Undefined)
  for n in range(lanes):
    result = b.insert_element(result, load(b, view, [lane(b, i, n) for i in index], 1), I32(n))
  return result


def _load_inside(b: ir.IRBuilder, view: View, index: Sequence[Index], lanes: int) -> ir.Value:
  pointer, step, align = address(b, view, index, lanes)
  if lanes == 1 or (step == 1 and _is_one_access(view, lanes, align)):
    return load_vector(b, view, pointer, lanes, align)
  if step == 0:
    return ty.splat(b, load_vector(b, view, pointer, 1, align), lanes)
  return _each_lane(b, view, index, lanes)


def _is_one_access(view: View, lanes: int, align: int) -> bool:
  """Whether one access of so many elements side by side says what the kernel says about caches."""
  itemsize = view.dtype.itemsize
  return not view.cache or cache_modifiers.can_access(lanes * itemsize, max(align, itemsize))


def _sum(b: ir.IRBuilder, view: SummedView, index: Sequence[Index], lanes: int) -> ir.Value:
  total: Any = None
  for n in range(view.terms):
    start = b.gep(view.pointer, [i64(n * view.apart)], source_etype=ty.memory_type(view.dtype))
    term = load(b, View(start, view.strides, view.dtype, view.base, align=view.align), index, lanes)
    total = term if total is None else b.fadd(total, term)
  return total


def load_vector(b: ir.IRBuilder, view: View, pointer: ir.Value, lanes: int, align: int) -> ir.Value:
  dtype, align = view.dtype, max(align, view.dtype.itemsize)
  nbytes = lanes * dtype.itemsize
  in_pairs = dtype == _BFLOAT16 and lanes % 2 == 0 and align >= 4
  memory, count = (I32, lanes // 2) if in_pairs else (ty.memory_type(dtype), lanes)
  kind = memory if count == 1 else ir.VectorType(memory, count)
  if view.cache:
    raw = b.bitcast(cache_modifiers.load(b, pointer, nbytes, view.cache), kind)
  elif view.policy is not None and l2.can_load(nbytes, align):
    raw = b.bitcast(l2.load(b, pointer, nbytes, view.policy), kind)
  else:
    raw = b.load(pointer, typ=kind, align=align)
  return bfloat16_of_pairs(b, raw) if in_pairs else ty.widen(b, raw, dtype, lanes)


def store(b: ir.IRBuilder, view: View, index: Sequence[Index], value: ir.Value) -> None:
  """Write elements; those that lie outside are dropped."""
  lanes = ty.lanes_of(value)
  mask, shared = _mask(b, view, index, lanes)
  pointer, step, align = address(b, view, index, lanes)
  if lanes > 1 and (step != 1 or not shared or not _is_one_access(view, lanes, align)):
    for n in range(lanes):
      store(b, view, [lane(b, i, n) for i in index], b.extract_element(value, I32(n)))
    return
  raw, align = narrow(b, value, view.dtype), max(align, view.dtype.itemsize)
  with contextlib.nullcontext() if mask is None else if_then(b, mask):
    if view.cache:
      cache_modifiers.store(b, pointer, lanes * view.dtype.itemsize, view.cache, raw)
    else:
      b.store(raw, pointer, align=align)


def store_where(b: ir.IRBuilder, view: View, index: Sequence[Index], value: ir.Value, chosen: ir.Value) -> None:
  """Write the elements that a mask chooses: together where it chooses all, else one by one."""
  lanes = ty.lanes_of(value)
  if lanes == 1:
    with if_then(b, chosen):
      store(b, view, index, value)
    return
  bits = ir.IntType(lanes)
  with b.if_else(b.icmp_unsigned("==", b.bitcast(chosen, bits), ir.Constant(bits, -1))) as (all_of_them, some):
    with all_of_them:
      store(b, view, index, value)
    with some:
      for n in range(lanes):
        with if_then(b, b.extract_element(chosen, I32(n))):
          store(b, view, [lane(b, i, n) for i in index], b.extract_element(value, I32(n)))


def narrow(b: ir.IRBuilder, value: ir.Value, dtype: np.dtype) -> ir.Value:
  """From registers to memory; pairs of bf16 are rounded by one instruction."""
  lanes = ty.lanes_of(value)
  if dtype != _BFLOAT16 or lanes % 2:
    return ty.narrow(b, value, dtype)
  pairs = ir.Constant(ir.VectorType(I32, lanes // 2), ir.Undefined)
  for n in range(lanes // 2):
    low, high = (b.extract_element(value, I32(2 * n + k)) for k in range(2))
    pairs = b.insert_element(pairs, bfloat16_pair(b, low, high), I32(n))
  return b.bitcast(pairs, ir.VectorType(ty.I16, lanes))

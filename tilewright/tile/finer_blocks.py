"""Large blocks in smaller ones, where rows of a block have nothing to do with each other.

    grid (256,)     x block (64, 4096)  →  e = exp(x - max(x, 1))  →  o block (64, 4096) = e / sum(e, 1)
    grid (4096,)    x block (4, 4096)   →  the same ops on 4 rows  →  o block (4, 4096)

A row is an index along one axis of an output's block, which a grid dimension counts in the index maps. From each store the body is written
anew, op by op, for fewer rows: what an op computes of them must need those rows of its operands only, or operands that are the same for all
rows. The number of the first row is added where a body counts rows (`iota`), and what else the grid's index is used for gets the index that
it had. Kernels in which that does not hold for some op keep their blocks.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.tile.grid import Blocked, BlockMapping
from tilewright.tile.ir import Block, Builder, Function, Op, Value, copied, walk
from tilewright.tile.native import NativeKernel, index_entries
from tilewright.tile.ops import BINARY, COMPARE, OPS, UNARY
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.types import RefType, TileType

_ELEMENTWISE = frozenset(
  {*UNARY, *BINARY, *COMPARE, "is_finite", "integer_pow", "select", "convert", "bitcast", "threefry"}
)


class _RowsMeet(Exception):
  """An op needs other rows too, or is not known."""


def refine(kernel: NativeKernel, largest: int, wanted: int) -> NativeKernel:
  """The kernel with blocks of so many rows that no tile has more than `wanted` elements, or of one row; as it is where no tile has more
  than `largest`, or where rows are not independent."""
  size = _largest_tile(kernel)
  if size <= largest or not _may_be_refined(kernel):
    return kernel
  first = _first_output(kernel)
  for axis, rows in enumerate(kernel.body.params[first].ref.shape):
    fewer = _divisor(rows, wanted * rows // size)
    if fewer < rows:
      try:
        found = _Attempt(kernel, rows, fewer).kernel_of(axis)
      except _RowsMeet:
        continue
      if _largest_tile(found) <= largest:
        return found
  return kernel


def _largest_tile(kernel: NativeKernel) -> int:
  tiles = (v.type for op in walk(kernel.body.body) for v in op.results)
  return max((t.size for t in tiles if isinstance(t, TileType)), default=0)


def _divisor(n: int, most: int) -> int:
  return max((d for d in range(1, max(1, most) + 1) if n % d == 0), default=1)


def _first_output(kernel: NativeKernel) -> int:
  return kernel.mapping.num_prefetch + kernel.mapping.num_inputs


def _may_be_refined(kernel: NativeKernel) -> bool:
  grid = kernel.mapping.grid
  return (
    kernel.warpgroups == 1
    and not (kernel.are_cores or kernel.mesh or kernel.in_order or kernel.has_side_effects or kernel.scratch)
    and not kernel.input_output_aliases
    and None not in grid
    and kernel.mapping.num_outputs > 0
    and len(parallel_dims(kernel)) == len(grid)
  )


class _Attempt:
  """The body written anew, with `fewer` rows where a block has `rows`."""

  def __init__(self, kernel: NativeKernel, rows: int, fewer: int):
    self.kernel, self.rows, self.fewer = kernel, rows, fewer
    self.old = kernel.body.body
    self.new = Block([], [])
    self.b = Builder(self.new)
    self.params = {p: Value(p.type) for p in self.old.params}
    self.axes: dict[Value, int] = {}  # of the refs that have fewer rows
    self.wholes: set[Value] = set()  # and those that are read whole
    self.values: dict[tuple[Value, int | None], Value] = {}
    self.dim = -1  # the dimension of the grid that counts blocks of rows

  def kernel_of(self, axis: int) -> NativeKernel:
    outputs = self.old.params[_first_output(self.kernel) :]
    stores = [op for op in self.old.ops if op.name == "store"]
    if any(op not in stores and not (OPS[op.name].is_pure or op.name in ("load", "subview")) for op in walk(self.old)):
      raise _RowsMeet
    self._find_dim(outputs[0], axis)
    for op in stores:
      with self.b.at(op.loc):
        base = _base(op.operands[0])
        own = axis if base is outputs[0] else self._axis_of(base)
        if len(op.operands) != 2 or base not in outputs:
          raise _RowsMeet
        ref, at = self._ref(op.operands[0], own)
        self.b.emit_all("store", [ref, self._value(op.operands[1], at)], **op.attrs)
    if {_base(op.operands[0]) for op in stores} != set(outputs) or self.wholes & set(self.axes):
      raise _RowsMeet
    self.new.params = [self.params[p] for p in self.old.params]
    for p in self.new.params:
      p.owner = self.new
    return self._finished()

  # --- blocks ------------------------------------------------------------------------------------------------------

  def _position(self, ref: Value) -> int:
    position = self.old.params.index(ref) - self.kernel.mapping.num_prefetch
    if position < 0:
      raise _RowsMeet
    return position

  def _entry(self, ref: Value, axis: int) -> tuple[int, tuple[Value, ...], Function]:
    """The dimension of the array that an axis of a block is, and what the index map gives for it."""
    position = self._position(ref)
    m, index_map = self.kernel.mapping.block_mappings[position], self.kernel.index_maps[position]
    d = _kept(m)[axis]
    if index_map is None or not isinstance(m.block_shape[d], Blocked) or m.array_aval.shape[d] % self.rows:
      raise _RowsMeet
    return d, index_entries(m, index_map)[d], index_map

  def _find_dim(self, output: Value, axis: int) -> None:
    _, entry, index_map = self._entry(output, axis)
    if len(entry) != 1 or entry[0] not in index_map.params[: len(self.kernel.mapping.grid)]:
      raise _RowsMeet
    self.dim = index_map.params.index(entry[0])

  def _axis_of(self, ref: Value) -> int:
    """The axis of another output along which its blocks have rows."""
    for axis, size in enumerate(ref.ref.shape):
      if size == self.rows:
        _, entry, index_map = self._entry(ref, axis)
        if entry == (index_map.params[self.dim],):
          return axis
    raise _RowsMeet

  def _ref(self, ref: Value, axis: int) -> tuple[Value, int]:
    """A ref, or a part of one, with fewer rows along an axis of its base; and which axis of the part that is."""
    if not isinstance(ref.owner, Op):
      if ref.ref.shape[axis] != self.rows or self.axes.setdefault(ref, axis) != axis:
        raise _RowsMeet
      _, entry, index_map = self._entry(ref, axis)
      if entry != (index_map.params[self.dim],):
        raise _RowsMeet
      self.params[ref].type = dataclasses.replace(ref.ref, shape=self._shape(ref.ref.shape, axis))
      return self.params[ref], axis
    op = ref.owner
    if op.name != "subview":
      raise _RowsMeet
    inner, at = self._ref(op.operands[0], axis)
    sizes, steps, dropped = (tuple(op.attrs[n]) for n in ("sizes", "steps", "dropped"))
    start = op.operands[1 + at].owner
    is_zero = isinstance(start, Op) and start.name == "constant" and not np.any(start.attrs["value"])
    if at in dropped or (sizes[at], steps[at]) != (self.rows, 1) or not is_zero:
      raise _RowsMeet
    starts = [self._value(v, None) for v in op.operands[1:]]
    attrs = {**op.attrs, "sizes": self._shape(sizes, at)}
    return self.b.emit("subview", [inner, *starts], **attrs), at - sum(d < at for d in dropped)

  def _whole_ref(self, ref: Value) -> Value:
    if not isinstance(ref.owner, Op):
      self.wholes.add(ref)
      return self.params[ref]
    op = ref.owner
    operands = [self._whole_ref(op.operands[0]), *(self._value(v, None) for v in op.operands[1:])]
    return self.b.emit(op.name, operands, **op.attrs)

  def _shape(self, shape: Sequence[int], axis: int) -> tuple[int, ...]:
    return tuple(self.fewer if a == axis else n for a, n in enumerate(shape))

  # --- values ------------------------------------------------------------------------------------------------------

  def _value(self, v: Value, axis: int | None) -> Value:
    """A value with fewer rows along an axis, or as it is."""
    if (v, axis) not in self.values:
      op = v.owner
      if (
        not isinstance(op, Op)
        or op.blocks
        or len(op.results) != 1
        or (axis is not None and v.tile.shape[axis] != self.rows)
      ):
        raise _RowsMeet
      with self.b.at(op.loc):
        self.values[v, axis] = self._same(op) if axis is None else self._fewer(op, axis)
    return self.values[v, axis]

  def _same(self, op: Op) -> Value:
    if op.name == "load":
      if (
        any(_base(op.operands[0]) is p for p in self.old.params[_first_output(self.kernel) :]) or len(op.operands) != 1
      ):
        raise _RowsMeet
      return self.b.emit("load", [self._whole_ref(op.operands[0])], **op.attrs)
    if op.name == "program_id" and op.attrs["axis"] == self.dim - self.kernel.mapping.num_vmapped:
      return self.b.emit("div", [self._index(), self._number(self.rows // self.fewer)])
    return self.b.emit(op.name, [self._value(o, None) for o in op.operands], **op.attrs)

  def _index(self) -> Value:
    if self.dim < self.kernel.mapping.num_vmapped:
      raise _RowsMeet
    return self.b.emit("program_id", axis=self.dim - self.kernel.mapping.num_vmapped)

  def _number(self, number: int, dtype: Any = np.int32) -> Value:
    return self.b.emit("constant", value=number, dtype=np.dtype(dtype))

  def _fewer(self, op: Op, axis: int) -> Value:
    b, shape = self.b, self._shape(op.result.tile.shape, axis)
    if op.name in _ELEMENTWISE:
      return b.emit(op.name, [self._value(o, axis) for o in op.operands], **op.attrs)
    match op.name:
      case "load" if len(op.operands) == 1:
        return self._load(op, axis)
      case "constant":
        value = np.asarray(op.attrs["value"])
        if value.size != 1 and np.unique(value).size != 1:
          raise _RowsMeet
        return b.emit("constant", value=np.full(shape, value.ravel()[0], value.dtype), dtype=op.attrs["dtype"])
      case "iota":
        return self._iota(op, axis, shape)
      case "broadcast":
        (x,), dims = op.operands, tuple(op.attrs["dims"])
        own = dims.index(axis) if axis in dims and x.tile.shape[dims.index(axis)] == self.rows else None
        return b.emit("broadcast", [self._value(x, own)], **{**op.attrs, "shape": shape})
      case "reshape":
        source = op.operands[0].tile.shape
        before = math.prod(op.result.tile.shape[:axis])
        own = next((a for a, n in enumerate(source) if n == self.rows and math.prod(source[:a]) == before), None)
        if own is None:
          raise _RowsMeet
        return b.emit("reshape", [self._value(op.operands[0], own)], **{**op.attrs, "shape": shape})
      case "transpose":
        return b.emit("transpose", [self._value(op.operands[0], op.attrs["permutation"][axis])], **op.attrs)
      case "reduce":
        kept = [a for a in range(op.operands[0].tile.rank) if a not in op.attrs["axes"]]
        return b.emit("reduce", [self._value(op.operands[0], kept[axis])], **op.attrs)
      case "cumulative" | "reverse" if axis not in (op.attrs.get("axis"), *op.attrs.get("axes", ())):
        return b.emit(op.name, [self._value(op.operands[0], axis)], **op.attrs)
      case "slice":
        starts, stops, strides = (tuple(op.attrs[n]) for n in ("starts", "stops", "strides"))
        if (starts[axis], stops[axis], strides[axis]) != (0, self.rows, 1):
          raise _RowsMeet
        return b.emit("slice", [self._value(op.operands[0], axis)], **{**op.attrs, "stops": self._shape(stops, axis)})
      case "pad":
        if any(op.attrs[n][axis] for n in ("low", "high", "interior")):
          raise _RowsMeet
        return b.emit("pad", [self._value(op.operands[0], axis), self._value(op.operands[1], None)], **op.attrs)
      case "concatenate" if op.attrs["axis"] != axis:
        return b.emit("concatenate", [self._value(o, axis) for o in op.operands], **op.attrs)
    raise _RowsMeet

  def _load(self, op: Op, axis: int) -> Value:
    """Of a ref, or of a part whose axes are mapped back to those of the block."""
    ref, at = op.operands[0], axis
    while isinstance(ref.owner, Op) and ref.owner.name == "subview":
      dropped = set(ref.owner.attrs["dropped"])
      at = [d for d in range(ref.owner.operands[0].ref.rank) if d not in dropped][at]
      ref = ref.owner.operands[0]
    if ref in self.old.params[_first_output(self.kernel) :]:
      raise _RowsMeet
    found, own = self._ref(op.operands[0], at)
    if own != axis:
      raise _RowsMeet
    return self.b.emit("load", [found], **op.attrs)

  def _iota(self, op: Op, axis: int, shape: tuple[int, ...]) -> Value:
    b, dtype = self.b, op.result.tile.dtype
    counted = b.emit("iota", **{**op.attrs, "shape": shape})
    if op.attrs["axis"] != axis:
      return counted
    if dtype != np.int32:
      raise _RowsMeet
    part = b.emit("rem", [self._index(), self._number(self.rows // self.fewer)])
    first = b.emit("mul", [part, self._number(self.fewer)])
    return b.emit("add", [counted, b.emit("broadcast", [first], dims=(), shape=shape)])

  # --- the kernel --------------------------------------------------------------------------------------------------

  def _finished(self) -> NativeKernel:
    kernel, mapping, factor = self.kernel, self.kernel.mapping, self.rows // self.fewer
    blocks, maps = list(mapping.block_mappings), list(kernel.index_maps)
    for position, index_map in enumerate(kernel.index_maps):
      if index_map is None:
        continue
      axis = self.axes.get(self.old.params[mapping.num_prefetch + position])
      d = None if axis is None else _kept(blocks[position])[axis]
      entry = None if d is None else sum(len(e) for e in index_entries(blocks[position], index_map)[:d])
      maps[position] = _refined_map(index_map, self.dim, factor, entry)
      if d is not None:
        shape = list(blocks[position].block_shape)
        shape[d] = Blocked(self.fewer)
        blocks[position] = dataclasses.replace(blocks[position], block_shape=tuple(shape))
    grid = tuple(n * factor if d == self.dim else n for d, n in enumerate(mapping.grid))
    return dataclasses.replace(
      kernel,
      body=Function(kernel.body.name, self.new),
      index_maps=tuple(maps),
      mapping=dataclasses.replace(mapping, grid=grid, block_mappings=tuple(blocks)),
    )


def _kept(m: BlockMapping) -> list[int]:
  """The dimensions of the array that the body sees."""
  return [d for d in range(len(m.block_shape)) if d not in m.squeezed_dims]


def _base(ref: Value) -> Value:
  while isinstance(ref.owner, Op) and isinstance(ref.type, RefType):
    ref = ref.owner.operands[0]
  return ref


def _refined_map(index_map: Function, dim: int, factor: int, entry: int | None) -> Function:
  """An index map of the finer grid: it sees the index that it had, and gives the finer one as the entry of the rows."""
  made = copied(index_map)
  body, index = made.body, made.params[dim]
  start = Block([], [])
  b = Builder(start)
  coarse = b.emit("div", [index, b.emit("constant", value=factor, dtype=np.dtype(np.int32))])
  given = body.ops[-1]
  for op in walk(body):
    op.operands = [coarse if v is index else v for v in op.operands]
  if entry is not None:
    given.operands[entry] = index
  body.ops = [*start.ops, *body.ops]
  return made

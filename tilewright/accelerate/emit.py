"""A region with its tiling as a kernel of the tile IR: a table from opcodes to tile ops.

Arrays are seen by atoms, in the order in which they lie in memory, so that neither reshapes nor layouts cost anything: an array of XLA's
layout {0,1} is a matrix that the kernel reads transposed. Tiles have a dimension for each atom of their value, but for those that the
grid cuts into single elements.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tilewright.accelerate.axes import Atom, Axes, expand
from tilewright.accelerate.graph import BINARY, DIRECTIONS, UNARY, Graph, Node, Refused, laid_out, physical_order
from tilewright.accelerate.tiles import Tiling, partial_sizes, shows, tile_shape
from tilewright.hlo import Shape
from tilewright.tile.grid import BlockDim, Blocked, BlockMapping, GridMapping, Squeezed
from tilewright.tile.ir import Block, Builder, Function, Value
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import INDEX, RefType, dense_strides


@dataclasses.dataclass(frozen=True)
class Array:
  """An operand or result of the kernel: its atoms in the order of memory, and for a sum the parts in front."""

  atoms: tuple[Atom, ...]
  parts: tuple[Atom, ...]
  dtype: np.dtype
  name: str


def emit(graph: Graph, axes: Axes, tiling: Tiling, name: str, reused: Sequence[tuple[int, int]] = ()) -> NativeKernel:
  """The kernel of a region. It takes the leaves, and returns the outputs; a sum over cut atoms has its parts in front.

  `reused` are pairs of a leaf and an output, by number, that have one buffer.
  """
  inputs = [Array(_memory_order(axes, n, _shape(n)), (), n.dtype, f"operand {k}") for k, n in enumerate(graph.leaves)]
  outputs = [
    Array(
      _memory_order(axes, o.node, o.shape) if k not in tiling.partial_sums else axes.of(o.node),
      tiling.partial_sums[k].over if k in tiling.partial_sums else (),
      o.node.dtype,
      f"result {k}",
    )
    for k, o in enumerate(graph.outputs)
  ]
  shared = {n for into, k in reused for n in (into, len(inputs) + k)}
  blocks = [_block(a, tiling, k - len(inputs), k in shared) for k, a in enumerate((*inputs, *outputs))]
  body = Function(name, Block.of([b.ref for b in blocks]))
  emitter = _Emitter(Builder(body.body), axes, tiling)
  for node, ref in zip(graph.leaves, body.params):
    value = emitter.b.emit("load", [ref])
    order = emitter.order(node, physical_order(_shape(node)))
    emitter.values[node] = emitter.transposed(value, [order.index(i) for i in range(len(order))])
  for node in graph.nodes:
    if node.opcode != "leaf":
      emitter.emit(node)
  for k, (output, ref) in enumerate(zip(graph.outputs, body.params[len(inputs) :])):
    value = emitter.values[output.node]
    if k in tiling.partial_sums:
      emitter.add(ref, value)
    else:
      order = emitter.order(output.node, physical_order(output.shape))
      emitter.b.emit_all("store", [ref, emitter.transposed(value, order)])
  grid = [tiling.count(a) for a in tiling.grid] or [1]
  if tiling.steps > 1:
    grid[-1:] = [grid[-1] // tiling.steps, tiling.steps]
  mapping = GridMapping(
    grid=tuple(grid),
    grid_names=None,
    block_mappings=tuple(b.mapping for b in blocks),
    num_prefetch=0,
    num_inputs=len(inputs),
    num_outputs=len(outputs),
    num_scratch=0,
  )
  index_maps = tuple(b.index_map for b in blocks)
  # Tiles have every element of every output; a part of a sum is read before, too, at the step that begins it.
  return NativeKernel(name, body, index_maps, mapping, tuple(reused), (), writes_all=True)


def _shape(node: Node) -> Shape:
  assert node.source is not None
  return node.source.shape


def _memory_order(axes: Axes, node: Node, shape: Shape) -> tuple[Atom, ...]:
  return tuple(a for d in physical_order(shape) for a in axes.dim(node, d))


@dataclasses.dataclass(frozen=True)
class _Cut:
  ref: RefType
  mapping: BlockMapping
  index_map: Function


def _block(array: Array, tiling: Tiling, output: int, is_shared: bool) -> _Cut:
  """How an instance sees an array. Parts of a sum are in front, one for each group of instances."""
  sizes = [a.size for a in array.atoms]
  kinds: list[BlockDim] = [Blocked(tiling.size(a)) if shows(tiling, a) else Squeezed() for a in array.atoms]
  if array.parts:
    sizes[:0] = partial_sizes(tiling, output)
    kinds[:0] = [Squeezed() for _ in array.parts]
  dense = dense_strides(tuple(sizes))
  kept = [i for i, kind in enumerate(kinds) if not isinstance(kind, Squeezed)]
  ref = RefType(tuple(kinds[i].block_size for i in kept), array.dtype, "any", tuple(dense[i] for i in kept))
  count = max(1, len(tiling.grid)) + (tiling.steps > 1)
  function = Function(f"index_map of {array.name}", Block.of([INDEX] * count))
  b = Builder(function.body)
  entries = [_entry(b, function.params, tiling, a, is_part=True) for a in array.parts]
  entries += [_entry(b, function.params, tiling, a, is_part=False) for a in array.atoms]
  b.emit_all("yield", entries)
  aval = jax.core.ShapedArray(tuple(sizes), array.dtype)
  return _Cut(ref, BlockMapping(tuple(kinds), function, None, aval, None, array.name, in_place=is_shared), function)


def _entry(b: Builder, indices: Sequence[Value], tiling: Tiling, atom: Atom, is_part: bool) -> Value:
  if atom not in tiling.grid:
    return b.emit("constant", value=0, dtype=INDEX.dtype)
  d = tiling.grid.index(atom)
  if tiling.steps > 1 and d == len(tiling.grid) - 1 and not is_part:
    steps = b.emit("constant", value=tiling.steps, dtype=INDEX.dtype)
    return b.emit("add", [b.emit("mul", [indices[d], steps]), indices[d + 1]])
  return indices[d]


class _Emitter:
  """Appends the ops of nodes; `values` has the tile of each."""

  def __init__(self, b: Builder, axes: Axes, tiling: Tiling):
    self.b, self.axes, self.tiling = b, axes, tiling
    self.values: dict[Node, Value] = {}

  def emit(self, node: Node) -> None:
    operands = [self.values[o] for o in node.operands]
    if node.opcode in UNARY:
      made = self.b.emit(UNARY[node.opcode], operands)
    elif node.opcode in BINARY:
      made = self.b.emit(BINARY[node.opcode], operands)
    else:
      made = _RULES[node.opcode](self, node, operands)
    if made.tile.shape != self.shape(node) or made.tile.dtype != node.dtype:
      raise Refused(f"{node.opcode} made {made.tile}, not {node.dtype}{self.shape(node)}")
    self.values[node] = made

  def shape(self, node: Node) -> tuple[int, ...]:
    return tile_shape(self.axes, self.tiling, node)

  def shown(self, atoms: Sequence[Atom]) -> list[Atom]:
    return [a for a in expand(atoms) if shows(self.tiling, a)]

  def dim_shape(self, node: Node) -> tuple[int, ...]:
    """The tile's elements along each dimension of the value."""
    return tuple(math.prod(self.tiling.size(a) for a in self.axes.dim(node, i)) for i in range(len(node.dims)))

  def positions(self, node: Node, dims: Sequence[int]) -> list[int]:
    """The dimensions of the tile that belong to some dimensions of the value."""
    found: list[int] = []
    at = 0
    for i in range(len(node.dims)):
      count = len(self.shown(self.axes.dims[node][i]))
      if i in dims:
        found += range(at, at + count)
      at += count
    return found

  def order(self, node: Node, dims: Sequence[int]) -> list[int]:
    return [p for d in dims for p in self.positions(node, [d])]

  def transposed(self, value: Value, permutation: Sequence[int]) -> Value:
    if list(permutation) == list(range(len(permutation))):
      return value
    return self.b.emit("transpose", [value], permutation=tuple(permutation))

  def reshaped(self, value: Value, shape: Sequence[int]) -> Value:
    return value if value.tile.shape == tuple(shape) else self.b.emit("reshape", [value], shape=tuple(shape))

  def constant(self, value: Any, dtype: Any) -> Value:
    return self.b.emit("constant", value=np.asarray(value).astype(dtype)[()], dtype=np.dtype(dtype))

  def spread(self, value: Value, shape: Sequence[int]) -> Value:
    return self.b.emit("broadcast", [value], shape=tuple(shape), dims=()) if shape else value

  def index(self, atom: Atom) -> Value:
    """Which tile along an atom this instance has."""
    d = self.tiling.grid.index(atom)
    own = self.b.emit("program_id", axis=d)
    if self.tiling.steps > 1 and d == len(self.tiling.grid) - 1:
      own = self.b.emit("mul", [own, self.constant(self.tiling.steps, np.int32)])
      own = self.b.emit("add", [own, self.b.emit("program_id", axis=d + 1)])
    return own

  def add(self, ref: Value, value: Value) -> None:
    """Add to a part of a sum; the first step begins it."""
    if self.tiling.steps == 1:
      self.b.emit_all("store", [ref, value])
      return
    step = self.b.emit("program_id", axis=len(self.tiling.grid))
    is_first = self.b.emit("eq", [step, self.constant(0, np.int32)])
    shape, dtype = value.tile.shape, value.tile.dtype
    before = self.b.emit("load", [ref])
    zero = self.spread(self.constant(0, dtype), shape)
    start = self.b.emit("select", [self.spread(is_first, shape), zero, before])
    self.b.emit_all("store", [ref, self.b.emit("add", [start, value])])


def _constant(e: _Emitter, node: Node, _: Sequence[Value]) -> Value:
  return e.b.emit("constant", value=np.frombuffer(node.attrs["value"], node.dtype)[0], dtype=node.dtype)


def _iota(e: _Emitter, node: Node, _: Sequence[Value]) -> Value:
  """The index along a dimension: that of each of its atoms, times how far apart its values are."""
  axis = node.attrs["axis"]
  shape, atoms = e.shape(node), e.axes.dim(node, axis)
  total: Value | None = None
  places = e.positions(node, [axis])
  stride, position = 1, places[-1] + 1 if places else 0
  for atom in reversed(atoms):
    part: Value | None = None
    if shows(e.tiling, atom):
      position -= 1
      part = e.b.emit("iota", shape=shape, dtype=np.dtype(np.int32), axis=position)
    if atom in e.tiling.grid:
      first = e.index(atom)
      if e.tiling.size(atom) > 1:
        first = e.b.emit("mul", [first, e.constant(e.tiling.size(atom), np.int32)])
      first = e.spread(first, shape)
      part = first if part is None else e.b.emit("add", [part, first])
    assert part is not None
    if stride > 1:
      part = e.b.emit("mul", [part, e.spread(e.constant(stride, np.int32), shape)])
    total = part if total is None else e.b.emit("add", [total, part])
    stride *= atom.size
  if total is None:
    total = e.spread(e.constant(0, np.int32), shape)
  return total if node.dtype == np.int32 else e.b.emit("convert", [total], dtype=node.dtype)


def _broadcast(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  at = node.attrs["dimensions"]
  source = node.operands[0]
  order = sorted(range(len(at)), key=lambda i: at[i])
  value = e.transposed(operands[0], e.order(source, order))
  shape = e.shape(node)
  if value.tile.shape == shape:
    return value
  dims = e.positions(node, at)
  return e.b.emit("broadcast", [value], shape=shape, dims=tuple(dims))


def _transpose(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  return e.transposed(operands[0], e.order(node.operands[0], node.attrs["permutation"]))


def _reshape(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  return operands[0]  # the same atoms


def _reduce(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  (source,), (value,) = node.operands, operands
  axes = e.positions(source, node.attrs["dimensions"])
  if not axes:
    return value
  for axis in axes:
    value = _within(e, value, e.shown(e.axes.of(source))[axis], axis)
  return e.b.emit("reduce", [value], kind=node.attrs["kind"], axes=tuple(axes))


def _within(e: _Emitter, value: Value, atom: Atom, axis: int) -> Value:
  """Zero where a tile of a sum extends past the last element of an atom that the grid cuts."""
  size = e.tiling.size(atom)
  if atom.size % size == 0:
    return value
  shape = value.tile.shape
  first = e.b.emit("mul", [e.index(atom), e.constant(size, np.int32)])
  left = e.b.emit("sub", [e.constant(atom.size, np.int32), first])
  numbers = e.b.emit("iota", shape=shape, dtype=np.dtype(np.int32), axis=axis)
  is_inside = e.b.emit("lt", [numbers, e.spread(left, shape)])
  return e.b.emit("select", [is_inside, value, e.spread(e.constant(0, value.tile.dtype), shape)])


def _compare(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  return e.b.emit(DIRECTIONS[node.attrs["direction"]], operands)


def _select(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  return e.b.emit("select", operands)


def _clamp(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  low, x, high = operands
  return e.b.emit("min", [e.b.emit("max", [low, x]), high])


def _convert(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  return operands[0] if node.dtype == operands[0].tile.dtype else e.b.emit("convert", operands, dtype=node.dtype)


def _bits(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  return operands[0] if node.dtype == operands[0].tile.dtype else e.b.emit("bitcast", operands, dtype=node.dtype)


def _by_dims(e: _Emitter, node: Node, operands: Sequence[Value], op: str, **attrs: Any) -> Value:
  """An op on dimensions as XLA has them, each made of all its atoms."""
  seen = [e.reshaped(v, e.dim_shape(o)) for v, o in zip(operands, node.operands)]
  return e.reshaped(e.b.emit(op, seen, **attrs), e.shape(node))


def _slice(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  have = e.dim_shape(node.operands[0])
  sizes = node.operands[0].dims
  cuts = [c if c != (0, sizes[i], 1) else (0, have[i], 1) for i, c in enumerate(node.attrs["cuts"])]
  starts, stops, strides = zip(*cuts)
  return _by_dims(e, node, operands, "slice", starts=starts, stops=stops, strides=strides)


def _pad(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  x, fill = operands
  low, high, interior = zip(*node.attrs["padding"])
  made = e.b.emit("pad", [e.reshaped(x, e.dim_shape(node.operands[0])), fill], low=low, high=high, interior=interior)
  return e.reshaped(made, e.shape(node))


def _concatenate(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  return _by_dims(e, node, operands, "concatenate", axis=node.attrs["axis"])


def _reverse(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  return _by_dims(e, node, operands, "reverse", axes=node.attrs["axes"])


def _dot(e: _Emitter, node: Node, operands: Sequence[Value]) -> Value:
  (lc, rc), (lb, rb) = node.attrs["contract"], node.attrs["batch"]
  left, right = node.operands
  contract = (tuple(e.order(left, lc)), tuple(e.order(right, rc)))
  batch = (tuple(e.order(left, lb)), tuple(e.order(right, rb)))
  return e.b.emit("dot", operands, contract=contract, batch=batch, dtype=node.dtype)


_RULES: dict[str, Callable[[_Emitter, Node, Sequence[Value]], Value]] = {
  "constant": _constant,
  "iota": _iota,
  "broadcast": _broadcast,
  "transpose": _transpose,
  "reshape": _reshape,
  "reduce": _reduce,
  "compare": _compare,
  "select": _select,
  "clamp": _clamp,
  "convert": _convert,
  "bitcast-convert": _bits,
  "slice": _slice,
  "pad": _pad,
  "concatenate": _concatenate,
  "reverse": _reverse,
  "dot": _dot,
}


def result_shapes(graph: Graph, tiling: Tiling) -> list[Shape]:
  """The shapes of what the kernel gives: those of the outputs, or of the parts of a sum."""
  found = []
  for k, output in enumerate(graph.outputs):
    shape = laid_out(output.shape)
    if k in tiling.partial_sums:
      shape = Shape.array(shape.element_type, (*partial_sizes(tiling, k), *shape.dimensions))
    found.append(shape)
  return found

"""The indexing maps of each HLO op: from an element of its output to the elements of each operand that it needs.

    operand_maps(dot)     ((batch…, m, n)[k] -> (batch…, m, k),), ((batch…, m, n)[k] -> (batch…, k, n),)

One row per family of opcodes. A row answers with one set of maps per operand: none where the operand is not read
(another element of a tuple), several where a fusion reads it in several places. Where there is no map, the answer is
a `CannotTile` with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.shape import Shape
from tilewright.hlo.tiling import expr
from tilewright.hlo.tiling.expr import Expr
from tilewright.hlo.tiling.indexing_map import (
  REDUCED,
  WHOLE,
  WINDOW,
  Constraint,
  IndexingMap,
  RangeVar,
  RuntimeVar,
  compose,
  identity,
  make_map,
)
from tilewright.hlo.values import WindowDim


@dataclass(frozen=True, slots=True)
class CannotTile:
  """Why there is no tile: `cannot tile because …`."""

  reason: str
  instruction: Instruction | None = None

  def __str__(self) -> str:
    where = f"%{self.instruction.name} ({self.instruction.opcode}): " if self.instruction is not None else ""
    return f"{where}cannot tile because {self.reason}"


OperandMaps = tuple[tuple[IndexingMap, ...], ...]
Rule = Callable[[Instruction, int], OperandMaps | CannotTile]


def leaf_shape(instruction: Instruction, leaf: int = 0) -> Shape:
  """The array that leaf number `leaf` of the instruction's value is."""
  shape = instruction.shape
  return [s for _, s in shape.leaves()][leaf] if shape.is_tuple else shape


def operand_maps(instruction: Instruction, leaf: int = 0) -> OperandMaps | CannotTile:
  """For each operand the maps from the elements of this instruction's array (of leaf `leaf`, if it makes a tuple) to the operand's."""
  shapes = [s for _, s in instruction.shape.leaves()] + [s for o in instruction.operands for _, s in o.shape.leaves()]
  for shape in shapes:
    if shape.is_array and any(shape.dynamic):
      return CannotTile(f"{shape} has a dynamic dimension", instruction)
    if not shape.is_array:
      return CannotTile(f"{shape} is no array", instruction)
    if shape.layout is not None and shape.layout.tiles:
      return CannotTile(f"the layout of {shape} is tiled", instruction)
  if instruction.opcode in ELEMENTWISE:
    return _elementwise(instruction, leaf)
  rule = _RULES.get(instruction.opcode)
  if rule is None:
    return CannotTile(
      _NO_TILES.get(instruction.opcode, f"there is no indexing map for `{instruction.opcode}`"), instruction
    )
  return rule(instruction, leaf)


def _one(*maps: IndexingMap) -> OperandMaps:
  return tuple((m,) for m in maps)


def _d(i: int) -> Expr:
  return expr.var("d", i)


def _s(i: int) -> Expr:
  return expr.var("s", i)


def _scalar(dims: Sequence[int]) -> IndexingMap:
  return IndexingMap(tuple(dims), ())


# Elementwise and movement.


def _elementwise(instruction: Instruction, leaf: int) -> OperandMaps | CannotTile:
  shape = leaf_shape(instruction)
  if instruction.opcode == "bitcast-convert" and instruction.operands[0].shape.rank != shape.rank:
    return _bitcast_convert(instruction)
  same, maps = identity(shape.dimensions), []
  for operand in instruction.operands:  # clamp and select may take scalars
    maps.append(same if operand.shape.dimensions == shape.dimensions else _scalar(shape.dimensions))
  return _one(*maps)


def _bitcast_convert(instruction: Instruction) -> OperandMaps:
  """Elements of another width: the last dimension counts the parts."""
  dims, operand = instruction.shape.dimensions, instruction.operands[0].shape
  if operand.rank < len(dims):
    return _one(make_map(dims, [_d(i) for i in range(operand.rank)]))
  part = RangeVar(operand.dimensions[-1], instruction, 0, WHOLE)
  return _one(make_map(dims, [*(_d(i) for i in range(len(dims))), _s(0)], [part]))


def _no_operands(instruction: Instruction, leaf: int) -> OperandMaps:
  return ()


def _broadcast(instruction: Instruction, leaf: int) -> OperandMaps:
  return _one(make_map(instruction.shape.dimensions, [_d(i) for i in instruction.attrs.get("dimensions", ())]))


def _transpose(instruction: Instruction, leaf: int) -> OperandMaps:
  permutation = instruction.attrs["dimensions"]
  return _one(make_map(instruction.shape.dimensions, [_d(permutation.index(i)) for i in range(len(permutation))]))


def _slice(instruction: Instruction, leaf: int) -> OperandMaps:
  parts = instruction.attrs["slice"]
  results = [expr.shift(expr.scale(_d(i), p.stride), p.start) for i, p in enumerate(parts)]
  return _one(make_map(instruction.shape.dimensions, results))


def _reverse(instruction: Instruction, leaf: int) -> OperandMaps:
  dims, reversed_dims = instruction.shape.dimensions, instruction.attrs["dimensions"]
  results = [expr.shift(expr.scale(_d(i), -1), n - 1) if i in reversed_dims else _d(i) for i, n in enumerate(dims)]
  return _one(make_map(dims, results))


def _pad(instruction: Instruction, leaf: int) -> OperandMaps:
  dims, operand = instruction.shape.dimensions, instruction.operands[0].shape.dimensions
  domain = identity(dims).domain
  results, constraints = [], []
  for i, (n, p) in enumerate(zip(operand, instruction.attrs["padding"])):
    place = expr.shift(_d(i), -p.low)
    step = p.interior + 1
    index = expr.floordiv(place, step, domain)
    results.append(index)
    if step > 1:
      constraints.append(Constraint(expr.mod(place, step, domain), 0, 0))
    constraints.append(Constraint(index, 0, n - 1))
  return _one(make_map(dims, results, constraints=constraints), _scalar(dims))


def _concatenate(instruction: Instruction, leaf: int) -> OperandMaps:
  dims, axis = instruction.shape.dimensions, instruction.attrs["dimensions"][0]
  maps, start = [], 0
  for operand in instruction.operands:
    size = operand.shape.dimensions[axis]
    index = expr.shift(_d(axis), -start)
    results = [index if i == axis else _d(i) for i in range(len(dims))]
    maps.append(make_map(dims, results, constraints=[Constraint(index, 0, size - 1)]))
    start += size
  return _one(*maps)


def reshape_results(to: Sequence[int], of: Sequence[int], index: Sequence[Expr]) -> list[Expr]:
  """Where element `index` of an array of dimensions `to` is in one of dimensions `of` with the same order of elements.

  Dimensions are matched in the smallest groups of equal size; a group's position is linearised and taken apart again.
  """
  domain = identity(to).domain
  results: list[Expr] = []
  i = j = 0
  while i < len(to) or j < len(of):
    a, b = i, j
    left = right = 1
    if i < len(to):
      left, i = to[i], i + 1
    if j < len(of):
      right, j = of[j], j + 1
    while left != right:
      if (left < right and i < len(to)) or j >= len(of):
        left, i = left * to[i], i + 1
      else:
        right, j = right * of[j], j + 1
    position = expr.ZERO
    for k in range(a, i):
      position = expr.add(expr.scale(position, to[k]), index[k] if to[k] > 1 else expr.ZERO)
    sizes = of[b:j]
    for k, n in enumerate(sizes):
      place = expr.floordiv(position, math.prod(sizes[k + 1 :]), domain)
      results.append(expr.mod(place, n, domain) if k else place)
  return results


def _reshape(instruction: Instruction, leaf: int) -> OperandMaps | CannotTile:
  to, of = instruction.shape.dimensions, instruction.operands[0].shape.dimensions
  if 0 in to or 0 in of:
    return CannotTile("the array has no elements", instruction)
  return _one(make_map(to, reshape_results(to, of, [_d(i) for i in range(len(to))])))


def _bitcast(instruction: Instruction, leaf: int) -> OperandMaps | CannotTile:
  """Elements in the order in which memory holds them."""
  shape, operand = instruction.shape, instruction.operands[0].shape
  if 0 in shape.dimensions or 0 in operand.dimensions:
    return CannotTile("the array has no elements", instruction)
  widths = [PRIMITIVE_TYPES[s.element_type].bits for s in (shape, operand)]
  if widths[0] != widths[1] or shape.num_elements != operand.num_elements:
    return CannotTile(f"it reinterprets {operand} as elements of another width, {shape}", instruction)
  to, of = _major_to_minor(shape), _major_to_minor(operand)
  physical = reshape_results_under(shape.dimensions, to, operand.dimensions, of)
  return _one(make_map(shape.dimensions, physical))


def _major_to_minor(shape: Shape) -> list[int]:
  return list(range(shape.rank)) if shape.layout is None else list(reversed(shape.layout.minor_to_major))


def reshape_results_under(
  to_dims: Sequence[int], to_order: Sequence[int], of_dims: Sequence[int], of_order: Sequence[int]
) -> list[Expr]:
  """A reshape between arrays that memory holds in orders of their own (dimensions from the slowest to the fastest)."""
  # In physical order the variables are renamed d0, d1, …; afterwards they get their logical names back.
  physical_to, physical_of = [to_dims[d] for d in to_order], [of_dims[d] for d in of_order]
  found = reshape_results(physical_to, physical_of, [_d(i) for i in range(len(physical_to))])
  names = {expr.Var("d", i): _d(d) for i, d in enumerate(to_order)}
  domain = identity(to_dims).domain
  named = [expr.substitute(e, names, domain) for e in found]
  return [named[list(of_order).index(d)] for d in range(len(of_dims))]


# Reductions and contractions.


def _reduce(instruction: Instruction, leaf: int) -> OperandMaps:
  dims, reduced = leaf_shape(instruction).dimensions, tuple(instruction.attrs["dimensions"])
  count = len(instruction.operands) // 2
  operand = instruction.operands[0].shape.dimensions
  ranges = [RangeVar(operand[d], instruction, k, REDUCED) for k, d in enumerate(reduced)]
  results, kept = [], 0
  for d in range(len(operand)):
    if d in reduced:
      results.append(_s(reduced.index(d)))
    else:
      results.append(_d(kept))
      kept += 1
  maps = [make_map(dims, results, ranges)] * count + [_scalar(dims)] * count
  return _one(*maps)


def _window_index(
  out: Expr, inside: Expr, w: WindowDim, size: int, domain: expr.Domain
) -> tuple[Expr, list[Constraint]]:
  place = expr.shift(expr.add(expr.scale(out, w.stride), expr.scale(inside, w.window_dilation)), -w.padding_low)
  index = expr.floordiv(place, w.base_dilation, domain)
  constraints = [Constraint(index, 0, size - 1)]
  if w.base_dilation > 1:
    constraints.append(Constraint(expr.mod(place, w.base_dilation, domain), 0, 0))
  return index, constraints


def _reduce_window(instruction: Instruction, leaf: int) -> OperandMaps:
  dims = leaf_shape(instruction).dimensions
  operand = instruction.operands[0].shape.dimensions
  window = tuple(instruction.attrs["window"]) if "window" in instruction.attrs else (WindowDim(1),) * len(dims)
  ranges = [RangeVar(w.size, instruction, i, WINDOW) for i, w in enumerate(window)]
  domain = IndexingMap(dims, (), tuple(ranges)).domain
  results, constraints = [], []
  for i, (n, w) in enumerate(zip(operand, window)):
    index, limits = _window_index(_d(i), expr.ZERO if w.size == 1 else _s(i), w, n, domain)
    results.append(index)
    constraints += limits
  count = len(instruction.operands) // 2
  maps = [make_map(dims, results, ranges, constraints=constraints)] * count + [_scalar(dims)] * count
  return _one(*maps)


def _dot(instruction: Instruction, leaf: int) -> OperandMaps | CannotTile:
  if instruction.attrs.get("sparsity") or len(instruction.operands) != 2:
    return CannotTile("it is sparse", instruction)
  dims = instruction.shape.dimensions
  sides = []
  batch_count = len(instruction.attrs.get("lhs_batch_dims", ()))
  free = batch_count
  ranges: list[RangeVar] = []
  for side, operand in zip(("lhs", "rhs"), instruction.operands):
    batch = tuple(instruction.attrs.get(f"{side}_batch_dims", ()))
    contracting = tuple(instruction.attrs.get(f"{side}_contracting_dims", ()))
    if side == "lhs":
      ranges = [RangeVar(operand.shape.dimensions[d], instruction, k) for k, d in enumerate(contracting)]
    results = []
    for d in range(operand.shape.rank):
      if d in batch:
        results.append(_d(batch.index(d)))
      elif d in contracting:
        results.append(_s(contracting.index(d)))
      else:
        results.append(_d(free))
        free += 1
    sides.append(make_map(dims, results, ranges))
  return _one(*sides)


def _convolution(instruction: Instruction, leaf: int) -> OperandMaps | CannotTile:
  """A dot whose left operand is gathered: the window's positions and the input features are contracted."""
  if (
    instruction.attrs.get("sparsity_config")
    or instruction.attrs.get("block_scaling_config")
    or len(instruction.operands) != 2
  ):
    return CannotTile("it is sparse or block-scaled", instruction)
  labels, dims = instruction.attrs["dim_labels"], instruction.shape.dimensions
  x, kernel = (o.shape.dimensions for o in instruction.operands)
  window = tuple(instruction.attrs["window"]) if "window" in instruction.attrs else ()
  window = window or (WindowDim(1),) * len(labels.input_spatial)
  groups, batch_groups = instruction.attrs.get("feature_group_count", 1), instruction.attrs.get("batch_group_count", 1)
  features = kernel[labels.kernel_input_feature]
  ranges = [RangeVar(w.size, instruction, i, WINDOW) for i, w in enumerate(window)]
  ranges.append(RangeVar(features, instruction, len(window), REDUCED))
  domain = IndexingMap(dims, (), tuple(ranges)).domain
  batch, out_feature, channel = _d(labels.output_batch), _d(labels.output_feature), _s(len(window))
  group = expr.floordiv(out_feature, dims[labels.output_feature] // max(groups, batch_groups), domain)
  if dims[labels.output_feature] % max(groups, batch_groups):
    return CannotTile("its output features do not divide into its groups", instruction)
  left: dict[int, Expr] = {
    labels.input_batch: batch
    if batch_groups == 1
    else expr.add(batch, expr.scale(group, x[labels.input_batch] // batch_groups)),
    labels.input_feature: channel if groups == 1 else expr.add(channel, expr.scale(group, features)),
  }
  right: dict[int, Expr] = {labels.kernel_input_feature: channel, labels.kernel_output_feature: out_feature}
  constraints: list[Constraint] = []
  for i, w in enumerate(window):
    inside = expr.ZERO if w.size == 1 else _s(i)
    index, limits = _window_index(_d(labels.output_spatial[i]), inside, w, x[labels.input_spatial[i]], domain)
    left[labels.input_spatial[i]] = index
    constraints += limits
    right[labels.kernel_spatial[i]] = expr.shift(expr.scale(inside, -1), w.size - 1) if w.reversal else inside
  return _one(
    make_map(dims, [left[d] for d in range(len(x))], ranges, constraints=constraints),
    make_map(dims, [right[d] for d in range(len(kernel))], ranges),
  )


# Places that are known when the program runs.


def _starts(indices: Sequence[Instruction], sizes: Sequence[int], limits: Sequence[int]) -> list[RuntimeVar]:
  """Of dynamic-slice and dynamic-update-slice: scalars, or one vector; clamped so that the slice lies inside."""
  vector = len(indices) == 1 and indices[0].shape.rank == 1
  found = []
  for i, (size, limit) in enumerate(zip(sizes, limits)):
    at = (expr.constant(i),) if vector else ()
    found.append(RuntimeVar(indices[0] if vector else indices[i], at, (0, limit - size)))
  return found


def _index_maps(dims: Sequence[int], indices: Sequence[Instruction]) -> list[IndexingMap]:
  vector = len(indices) == 1 and indices[0].shape.rank == 1
  if not vector:
    return [_scalar(dims)] * len(indices)
  return [make_map(dims, [_s(0)], [RangeVar(indices[0].shape.dimensions[0], indices[0], 0, WHOLE)])]


def _dynamic_slice(instruction: Instruction, leaf: int) -> OperandMaps:
  dims = instruction.shape.dimensions
  x, *indices = instruction.operands
  runtime = _starts(indices, dims, x.shape.dimensions)
  moved = [expr.add(_d(i), expr.var("r", i)) if r.bounds[1] > 0 else _d(i) for i, r in enumerate(runtime)]
  return _one(make_map(dims, moved, runtime=runtime), *_index_maps(dims, indices))


def _dynamic_update_slice(instruction: Instruction, leaf: int) -> OperandMaps:
  dims = instruction.shape.dimensions
  _, update, *indices = instruction.operands
  sizes = update.shape.dimensions
  runtime = _starts(indices, sizes, dims)
  moved = [
    expr.add(_d(i), expr.scale(expr.var("r", i), -1)) if r.bounds[1] > 0 else _d(i) for i, r in enumerate(runtime)
  ]
  constraints = [Constraint(e, 0, n - 1) for e, n in zip(moved, sizes)]
  into = make_map(dims, moved, runtime=runtime, constraints=constraints)
  return _one(identity(dims), into, *_index_maps(dims, indices))


def _gather(instruction: Instruction, leaf: int) -> OperandMaps | CannotTile:
  a, dims = instruction.attrs, instruction.shape.dimensions
  x, indices = instruction.operands
  sizes, vector_dim = a["slice_sizes"], a["index_vector_dim"]
  index_map = tuple(a.get("start_index_map", ()))
  batching = tuple(a.get("operand_batching_dims", ()))
  index_batching = tuple(a.get("start_indices_batching_dims", ()))
  dropped = {*a.get("collapsed_slice_dims", ()), *batching}
  offset_dims = tuple(a.get("offset_dims", ()))
  batch_dims = [d for d in range(len(dims)) if d not in offset_dims]
  if any(n > limit for n, limit in zip(sizes, x.shape.dimensions)):
    return CannotTile("a slice is larger than the operand", instruction)
  # The position in the indices: batch dimensions of the output in order, with the index vector put in between.
  place: list[Expr] = [_d(d) for d in batch_dims]
  has_vector = vector_dim < indices.shape.rank
  runtime: list[RuntimeVar] = []
  start_of: dict[int, Expr] = {}
  for number, d in enumerate(index_map):
    limit = x.shape.dimensions[d] - sizes[d]
    at = [*place[:vector_dim], expr.constant(number), *place[vector_dim:]] if has_vector else list(place)
    if limit > 0:
      start_of[d] = expr.var("r", len(runtime))
      runtime.append(RuntimeVar(indices, tuple(at), (0, limit)))
  for d, index_dim in zip(batching, index_batching):
    start_of[d] = place[index_dim if index_dim < vector_dim else index_dim - 1]
  results, window = [], iter(offset_dims)
  for d in range(x.shape.rank):
    inside = expr.ZERO if d in dropped else _d(next(window))
    results.append(expr.add(inside, start_of.get(d, expr.ZERO)))
  components = [RangeVar(indices.shape.dimensions[vector_dim], instruction, 0, WHOLE)] if has_vector else []
  looked_up = [*place[:vector_dim], _s(0), *place[vector_dim:]] if has_vector else place
  return _one(make_map(dims, results, runtime=runtime), make_map(dims, looked_up, components))


# Tuples and computations.


def _tuple(instruction: Instruction, leaf: int) -> OperandMaps:
  maps: list[tuple[IndexingMap, ...]] = []
  first = 0
  for operand in instruction.operands:
    count = sum(1 for _ in operand.shape.leaves())
    inside = first <= leaf < first + count
    maps.append((identity(leaf_shape(operand, leaf - first).dimensions),) if inside else ())
    first += count
  return tuple(maps)


def _same_leaf(instruction: Instruction, leaf: int) -> OperandMaps:
  return _one(identity(leaf_shape(instruction, leaf).dimensions))


def element_leaf(instruction: Instruction, leaf: int) -> int:
  """Which leaf of its operand leaf `leaf` of a get-tuple-element is."""
  parts = instruction.operands[0].shape.tuple_shapes
  return sum(sum(1 for _ in part.leaves()) for part in parts[: instruction.attrs["index"]]) + leaf


def _called(instruction: Instruction, leaf: int) -> OperandMaps | CannotTile:
  """Composed through the computation of a fusion or call."""
  inside = instruction.called_computations[0]
  found = parameter_maps(inside, leaf)
  if isinstance(found, CannotTile):
    return found
  outer = {p: instruction.operands[p.parameter_number] for p in inside.parameters}
  return tuple(tuple(_outside(m, outer) for m in maps) for maps in found)


def _outside(m: IndexingMap, outer: dict[Instruction, Instruction]) -> IndexingMap:
  runtime = tuple(RuntimeVar(outer.get(r.instruction, r.instruction), r.at, r.bounds) for r in m.runtime)
  return IndexingMap(m.dims, m.results, m.ranges, runtime, m.constraints)


def parameter_maps(computation: Computation, leaf: int = 0) -> OperandMaps | CannotTile:
  """From leaf `leaf` of a computation's root to each of its parameters."""
  root = computation.root
  state: dict[tuple[Instruction, int], dict[IndexingMap, None]] = {
    (root, leaf): {identity(leaf_shape(root, leaf).dimensions): None}
  }
  order = computation.topological_order()
  for instruction in reversed(order):
    for number in range(sum(1 for _ in instruction.shape.leaves())):
      here = state.get((instruction, number))
      if here is None or instruction.opcode == "parameter":
        continue
      maps = operand_maps(instruction, number)
      if isinstance(maps, CannotTile):
        return maps
      for operand, inner in zip(instruction.operands, maps):
        to = operand_leaf(instruction, operand, number)
        for m in inner:
          at = state.setdefault((operand, to), {})
          for outer in here:
            at[compose(outer, m)] = None
          if len(at) > 256:
            return CannotTile(f"%{operand.name} is read in more than 256 places", instruction)
  return tuple(
    tuple(m for number in range(sum(1 for _ in p.shape.leaves())) for m in state.get((p, number), ()))
    for p in computation.parameters
  )


def operand_leaf(instruction: Instruction, operand: Instruction, leaf: int) -> int:
  """Which leaf of `operand` leaf `leaf` of an instruction reads."""
  match instruction.opcode:
    case "get-tuple-element":
      return element_leaf(instruction, leaf)
    case "opt-barrier":
      return leaf
    case "tuple":
      first = 0
      for other in instruction.operands:
        if other is operand and leaf < first + sum(1 for _ in other.shape.leaves()):
          return leaf - first
        first += sum(1 for _ in other.shape.leaves())
  return 0


_RULES: dict[str, Rule] = {
  **dict.fromkeys(("parameter", "constant", "iota", "partition-id", "replica-id"), _no_operands),
  "map": lambda i, leaf: _one(*(identity(o.shape.dimensions) for o in i.operands)),
  "broadcast": _broadcast,
  "transpose": _transpose,
  "slice": _slice,
  "reverse": _reverse,
  "pad": _pad,
  "concatenate": _concatenate,
  "reshape": _reshape,
  "bitcast": _bitcast,
  "reduce": _reduce,
  "reduce-window": _reduce_window,
  "dot": _dot,
  "convolution": _convolution,
  "dynamic-slice": _dynamic_slice,
  "dynamic-update-slice": _dynamic_update_slice,
  "gather": _gather,
  "tuple": _tuple,
  "get-tuple-element": _same_leaf,
  "opt-barrier": _same_leaf,
  "fusion": _called,
  "call": _called,
}

_NO_TILES = {
  "sort": "sort orders whole rows: each output may be any input",
  "topk": "topk orders whole rows: each output may be any input",
  "scatter": "scatter writes at places known only at run time: no output tile knows its updates",
  "select-and-scatter": "select-and-scatter writes where its windows' winners are",
  "while": "a loop carries values from trip to trip",
  "conditional": "which branch runs is known only at run time",
  "custom-call": "a custom call is opaque",
  "fft": "every output of an FFT needs every input",
  "cholesky": "every output of a factorisation needs all before it",
  "triangular-solve": "every output of a solve needs all before it",
  "ragged-dot": "the groups of a ragged dot are known only at run time",
  "rng": "its numbers follow from a state, not from an index",
  "rng-bit-generator": "its numbers follow from a state, not from an index",
}

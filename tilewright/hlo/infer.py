"""The result shape an instruction must have, from its opcode, operands and attributes.

One small rule per family of opcodes. The parser applies them where the text omits the shape, the builder where the caller
does, and the verifier to compare. An opcode without a rule takes the shape its author gives (`None` from `rule_for`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.hlo.errors import HloShapeError
from tilewright.hlo.ir import Instruction
from tilewright.hlo.opcodes import ARITY, ELEMENTWISE_BINARY, ELEMENTWISE_UNARY
from tilewright.hlo.shape import UNBOUNDED, Layout, Shape

Attrs = dict[str, Any]
Rule = Callable[[Sequence[Shape], Attrs], Shape]


def _need(condition: bool, message: str) -> None:
  if not condition:
    raise HloShapeError(message)


def _attr(attrs: Attrs, name: str) -> Any:
  if name not in attrs:
    raise HloShapeError(f"the attribute {name} is missing")
  return attrs[name]


def _array(shape: Shape, dims: Sequence[int], dynamic: Sequence[bool] = (), element_type: str = "") -> Shape:
  dims = tuple(dims)
  flags = tuple(dynamic) if any(dynamic) else ()
  return Shape(element_type or shape.element_type, dims, Layout.descending(len(dims)), flags)


def _is_array(shape: Shape, what: str) -> None:
  _need(shape.is_array, f"{what} is {shape}, not an array")


def _flags(shape: Shape) -> tuple[bool, ...]:
  return shape.dynamic or (False,) * shape.rank


def _merged(shapes: Sequence[Shape], element_type: str = "") -> Shape:
  """The common shape of elementwise operands: equal dimensions, dynamic where any of them is."""
  first = shapes[0]
  for shape in shapes:
    _is_array(shape, "an operand")
    same = len(shape.dimensions) == len(first.dimensions) and all(
      a == b or UNBOUNDED in (a, b) for a, b in zip(shape.dimensions, first.dimensions)
    )
    _need(same, f"operands of different dimensions: {first} and {shape}")
  if not any(s.dynamic for s in shapes):
    return first if not element_type or first.element_type == element_type else first.with_element_type(element_type)
  dims = [next((d for d in column if d != UNBOUNDED), UNBOUNDED) for column in zip(*(s.dimensions for s in shapes))]
  dynamic = [any(column) for column in zip(*(_flags(s) for s in shapes))]
  return _array(first, dims, dynamic, element_type)


def _unary(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return shapes[0]


def _real_part(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return _merged(shapes, {"c64": "f32", "c128": "f64"}.get(shapes[0].element_type, shapes[0].element_type))


def _binary(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  _need(
    shapes[0].element_type == shapes[1].element_type,
    f"operands of different types: {shapes[0].element_type} and {shapes[1].element_type}",
  )
  return _merged(shapes)


def _shift(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return _binary(shapes, attrs)


def _predicate(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return _merged(shapes, "pred")


def _complex(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return _merged(shapes, {"f32": "c64", "f64": "c128"}.get(shapes[0].element_type, "c64"))


def _select(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  _need(shapes[0].element_type == "pred", f"the predicate of a select is {shapes[0]}")
  _need(shapes[1].compatible(shapes[2]), f"select between {shapes[1]} and {shapes[2]}")
  return shapes[1]


def _clamp(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return shapes[1]


def _tuple(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return Shape.tuple_of(*shapes)


def _element(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  index = _attr(attrs, "index")
  _need(shapes[0].is_tuple and 0 <= index < len(shapes[0].tuple_shapes), f"{shapes[0]} has no element {index}")
  return shapes[0].tuple_shapes[index]


def _transpose(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  perm = _attr(attrs, "dimensions")
  shape = shapes[0]
  _need(sorted(perm) == list(range(shape.rank)), f"dimensions={perm} is not a permutation of {shape.rank} dimensions")
  flags = _flags(shape)
  return _array(shape, [shape.dimensions[i] for i in perm], [flags[i] for i in perm])


def _concatenate(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  (axis,) = _attr(attrs, "dimensions")
  first = shapes[0]
  _need(0 <= axis < first.rank, f"{first} has no dimension {axis}")
  for shape in shapes:
    rest = shape.dimensions[:axis] + shape.dimensions[axis + 1 :]
    _need(
      shape.element_type == first.element_type and rest == first.dimensions[:axis] + first.dimensions[axis + 1 :],
      f"cannot concatenate {first} and {shape} along dimension {axis}",
    )
  dims = list(first.dimensions)
  dims[axis] = sum(shape.dimensions[axis] for shape in shapes)
  return _array(first, dims, [any(column) for column in zip(*(_flags(s) for s in shapes))])


def _slice(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  slices = _attr(attrs, "slice")
  shape = shapes[0]
  _need(len(slices) == shape.rank, f"{len(slices)} slices of {shape}")
  dims: list[int] = []
  for part, size in zip(slices, shape.dimensions):
    _need(
      0 <= part.start <= part.limit <= size and part.stride > 0,
      f"the slice [{part.start}:{part.limit}:{part.stride}] is outside {shape}",
    )
    dims.append(-(-(part.limit - part.start) // part.stride))
  return _array(shape, dims)


def _dynamic_slice(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  sizes = _attr(attrs, "dynamic_slice_sizes")
  _need(len(sizes) == shapes[0].rank, f"dynamic_slice_sizes={sizes} of {shapes[0]}")
  _need(all(0 <= s <= d for s, d in zip(sizes, shapes[0].dimensions)), f"a slice of {sizes} is outside {shapes[0]}")
  return _array(shapes[0], sizes)


def _pad(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  padding = _attr(attrs, "padding")
  _need(len(padding) == shapes[0].rank, f"{len(padding)} paddings of {shapes[0]}")
  dims: list[int] = []
  for part, size in zip(padding, shapes[0].dimensions):
    padded = size + part.low + part.high + max(size - 1, 0) * part.interior
    _need(padded >= 0 and part.interior >= 0, f"padding {part.low}_{part.high}_{part.interior} of {size} elements")
    dims.append(padded)
  return _array(shapes[0], dims, _flags(shapes[0]))


def _reduce(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  axes = _attr(attrs, "dimensions")
  count = len(shapes) // 2
  _need(count > 0 and len(shapes) % 2 == 0, "reduce takes as many initial values as inputs")
  first = shapes[0]
  _need(len(set(axes)) == len(axes) and all(0 <= a < first.rank for a in axes), f"{first} has no dimensions {axes}")
  kept = [i for i in range(first.rank) if i not in axes]
  flags = _flags(first)
  results = [_array(init, [first.dimensions[i] for i in kept], [flags[i] for i in kept]) for init in shapes[count:]]
  return results[0] if count == 1 else Shape.tuple_of(*results)


def windowed(dims: Sequence[int], window: Any) -> list[int]:
  """How many places a window has along each dimension."""
  result: list[int] = []
  for size, w in zip(dims, window):
    _need(w.size > 0 and w.stride > 0 and w.window_dilation > 0 and w.base_dilation > 0, "a window with no size")
    padded = (max(size - 1, 0) * w.base_dilation + min(size, 1)) + w.padding_low + w.padding_high
    reach = (w.size - 1) * w.window_dilation + 1
    result.append(0 if padded < reach else (padded - reach) // w.stride + 1)
  return result


def _reduce_window(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  window = _attr(attrs, "window")
  count = len(shapes) // 2
  _need(count > 0 and len(shapes) % 2 == 0, "reduce-window takes as many initial values as inputs")
  _need(len(window) == shapes[0].rank, f"a window of {len(window)} dimensions over {shapes[0]}")
  results = [_array(init, windowed(shapes[0].dimensions, window)) for init in shapes[count:]]
  return results[0] if count == 1 else Shape.tuple_of(*results)


def _dot(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  lhs, rhs = shapes[0], shapes[1]
  lb, rb = attrs.get("lhs_batch_dims", ()), attrs.get("rhs_batch_dims", ())
  lc, rc = attrs.get("lhs_contracting_dims", ()), attrs.get("rhs_contracting_dims", ())
  for shape, dims in ((lhs, lb + lc), (rhs, rb + rc)):
    _need(len(set(dims)) == len(dims) and all(0 <= d < shape.rank for d in dims), f"{shape} has no dimensions {dims}")
  _need(len(lb) == len(rb) and len(lc) == len(rc), "batch and contracting dimensions must pair up")
  for a, b in (*zip(lb, rb), *zip(lc, rc)):
    _need(lhs.dimensions[a] == rhs.dimensions[b], f"dimension {a} of {lhs} does not fit dimension {b} of {rhs}")
  dims = [lhs.dimensions[i] for i in lb]
  dims += [d for i, d in enumerate(lhs.dimensions) if i not in lb + lc]
  dims += [d for i, d in enumerate(rhs.dimensions) if i not in rb + rc]
  return _array(lhs, dims)


def _convolution(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  d, window = _attr(attrs, "dim_labels"), attrs.get("window", ())
  lhs, rhs = shapes[0], shapes[1]
  _need(lhs.rank == rhs.rank == len(d.input_spatial) + 2, f"dim_labels do not fit {lhs} and {rhs}")
  _need(len(window) == len(d.input_spatial), "the window does not fit dim_labels")
  dims = [0] * lhs.rank
  dims[d.output_batch] = lhs.dimensions[d.input_batch] // attrs.get("batch_group_count", 1)
  dims[d.output_feature] = rhs.dimensions[d.kernel_output_feature]
  for place, size in zip(d.output_spatial, windowed([lhs.dimensions[i] for i in d.input_spatial], window)):
    dims[place] = size
  return _array(lhs, dims)


def _called(attribute: str) -> Rule:
  def rule(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
    computation = _attr(attrs, attribute)
    shape: Shape = computation.root.shape
    return shape

  return rule


def _conditional(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  computation = attrs["true_computation"] if "true_computation" in attrs else _attr(attrs, "branch_computations")[0]
  shape: Shape = computation.root.shape
  return shape


def _map(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return _array(shapes[0], shapes[0].dimensions, _flags(shapes[0]), _attr(attrs, "to_apply").root.shape.element_type)


def _same_or_tuple(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return shapes[0] if len(shapes) == 1 else Shape.tuple_of(*shapes)


def _gather(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  operand, indices = shapes[0], shapes[1]
  offset = _attr(attrs, "offset_dims")
  gone = attrs.get("collapsed_slice_dims", ()) + attrs.get("operand_batching_dims", ())
  sizes = _attr(attrs, "slice_sizes")
  vector = _attr(attrs, "index_vector_dim")
  _need(len(sizes) == operand.rank, f"slice_sizes={sizes} of {operand}")
  batch = [d for i, d in enumerate(indices.dimensions) if i != vector]
  window = [d for i, d in enumerate(sizes) if i not in gone]
  _need(len(window) == len(offset), f"{len(window)} window dimensions but offset_dims={offset}")
  rest, inside = iter(batch), iter(window)
  rank = len(batch) + len(window)
  _need(all(0 <= o < rank for o in offset), f"offset_dims={offset} of a result with {rank} dimensions")
  return _array(operand, [next(inside) if i in offset else next(rest) for i in range(rank)])


def _scatter(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  count = len(shapes) // 2
  _need(len(shapes) % 2 == 1 and count > 0, "scatter takes inputs, indices, and as many updates")
  return shapes[0] if count == 1 else Shape.tuple_of(*shapes[:count])


def _set_size(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  (axis,) = _attr(attrs, "dimensions")
  _need(0 <= axis < shapes[0].rank, f"{shapes[0]} has no dimension {axis}")
  return _array(shapes[0], shapes[0].dimensions, [f or i == axis for i, f in enumerate(_flags(shapes[0]))])


def _get_size(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return Shape.array("s32")


def _token(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return Shape.token()


def _id(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return Shape.array("u32")


def _fft(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  kind, lengths, shape = _attr(attrs, "fft_type"), _attr(attrs, "fft_length"), shapes[0]
  if kind == "RFFT" and lengths:
    dims = (*shape.dimensions[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)
    return _array(shape, dims, (), "c128" if shape.element_type == "f64" else "c64")
  if kind == "IRFFT" and lengths:
    return _array(shape, (*shape.dimensions[:-1], lengths[-1]), (), "f64" if shape.element_type == "c128" else "f32")
  return shape


def _triangular_solve(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return shapes[1]


def _copy_start(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  return Shape.tuple_of(shapes[0], shapes[0], Shape.array("u32"))


def _done(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  _need(shapes[0].is_tuple and len(shapes[0].tuple_shapes) > 1, f"{shapes[0]} is not what a start returns")
  return shapes[0].tuple_shapes[1]


def _copy_done(shapes: Sequence[Shape], attrs: Attrs) -> Shape:
  _need(shapes[0].is_tuple and len(shapes[0].tuple_shapes) > 0, f"{shapes[0]} is not what a start returns")
  return shapes[0].tuple_shapes[0]


RULES: dict[str, Rule] = {
  **{op: _unary for op in ELEMENTWISE_UNARY - {"convert", "bitcast-convert", "is-finite", "real", "imag"}},
  **{op: _binary for op in ELEMENTWISE_BINARY - {"compare", "complex", "stochastic-convert"}},
  "abs": _real_part,
  "real": _real_part,
  "imag": _real_part,
  "is-finite": _predicate,
  "compare": _predicate,
  "complex": _complex,
  "select": _select,
  "clamp": _clamp,
  "tuple": _tuple,
  "get-tuple-element": _element,
  "opt-barrier": _unary,
  "reverse": _unary,
  "cholesky": _unary,
  "add-dependency": _unary,
  "domain": _unary,
  "dynamic-update-slice": _unary,
  "select-and-scatter": _unary,
  "while": _unary,
  "all-reduce-done": _unary,
  "async-update": _unary,
  "transpose": _transpose,
  "concatenate": _concatenate,
  "slice": _slice,
  "dynamic-slice": _dynamic_slice,
  "pad": _pad,
  "reduce": _reduce,
  "reduce-window": _reduce_window,
  "dot": _dot,
  "convolution": _convolution,
  "call": _called("to_apply"),
  "fusion": _called("calls"),
  "conditional": _conditional,
  "map": _map,
  "sort": _same_or_tuple,
  "all-reduce": _same_or_tuple,
  "all-reduce-start": _same_or_tuple,
  "collective-broadcast": _same_or_tuple,
  "collective-permute": _unary,
  "gather": _gather,
  "scatter": _scatter,
  "set-dimension-size": _set_size,
  "get-dimension-size": _get_size,
  "after-all": _token,
  "outfeed": _token,
  "partition-id": _id,
  "replica-id": _id,
  "fft": _fft,
  "triangular-solve": _triangular_solve,
  "copy-start": _copy_start,
  "copy-done": _copy_done,
  "async-done": _done,
  "all-gather-done": _done,
  "collective-permute-done": _done,
}


def rule_for(opcode: str) -> Rule | None:
  return RULES.get(opcode)


def infer_shape(opcode: str, operands: Sequence[Instruction], attrs: Attrs) -> Shape:
  """The result shape; `HloShapeError` if operands and attributes do not fit, or if the opcode leaves the shape open."""
  arity = ARITY.get(opcode)
  if arity is not None and len(operands) != arity:
    raise HloShapeError(f"{opcode} takes {arity} operand(s), not {len(operands)}")
  rule = RULES.get(opcode)
  if rule is None:
    raise HloShapeError(f"a {opcode} needs an explicit shape")
  if not operands and opcode not in (
    "tuple",
    "after-all",
    "partition-id",
    "replica-id",
    "call",
    "fusion",
    "conditional",
  ):
    raise HloShapeError(f"{opcode} takes operands")
  try:
    return rule([operand.shape for operand in operands], attrs)
  except (IndexError, ValueError, TypeError, AttributeError) as error:
    if isinstance(error, HloShapeError):
      raise
    raise HloShapeError(f"{opcode} cannot take these operands and attributes ({error})") from None

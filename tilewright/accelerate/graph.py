"""Regions of an HLO computation as one graph of values, with XLA's own fusions opened.

A region is a set of instructions of one computation. XLA's fusions among them are opened: their parameters are the values that the fusion
is called with, so that what XLA computes in several fusions, or several times in one, is one node here:

    fusion(x, m) = exp(x - m)                 nodes  x, m: leaves
    fusion(x, m) = sum(exp(x - m))                   subtract, exponential (one, though two fusions have it), reduce

Values are logical: a node knows nothing of layouts. A `bitcast`, which reads the same memory in another order, is written as the
transpositions and the reshape that it means.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from tilewright.accelerate import gemm_calls, loop_invariants
from tilewright.hlo import Computation, Instruction, Shape

REDUCTIONS = {
  "add": "sum",
  "multiply": "prod",
  "maximum": "max",
  "minimum": "min",
  "and": "and",
  "or": "or",
}


class Refused(Exception):
  """Why something cannot be computed by a tiled kernel."""


class Incomplete(Refused):
  """A region that may be computed together with what makes its operands."""


@dataclasses.dataclass(eq=False)
class Node:
  """A value: what computes it, and from what. A `leaf` is computed outside of the region, by `source`."""

  opcode: str
  dtype: np.dtype
  dims: tuple[int, ...]
  operands: tuple[Node, ...] = ()
  attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
  source: Instruction | None = None

  @property
  def size(self) -> int:
    return math.prod(self.dims)

  def __repr__(self) -> str:
    return f"<{self.opcode} {self.dtype}{list(self.dims)}>"


@dataclasses.dataclass(frozen=True)
class Output:
  """A value that leaves the region: that of an instruction, or of one element of its tuple."""

  source: Instruction
  index: int | None
  node: Node

  @property
  def shape(self) -> Shape:
    return self.source.shape if self.index is None else self.source.shape.tuple_shapes[self.index]


@dataclasses.dataclass(frozen=True)
class Graph:
  """The nodes of a region in topological order, its leaves, and what is used outside of it."""

  nodes: tuple[Node, ...]
  leaves: tuple[Node, ...]
  outputs: tuple[Output, ...]

  def users(self) -> dict[Node, list[Node]]:
    found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
    for node in self.nodes:
      for operand in dict.fromkeys(node.operands):
        found.setdefault(operand, []).append(node)
    return found


@dataclasses.dataclass(frozen=True)
class Blocked:
  """What a value is the first step of: a reduction of `source`, of blocks along some dimensions."""

  source: Node
  kind: str
  dimensions: tuple[int, ...]


class Builder:
  """Makes nodes, equal ones once."""

  def __init__(self) -> None:
    self.nodes: list[Node] = []
    self.blocked: dict[Node, Blocked] = {}
    self._known: dict[Any, Node] = {}

  def make(
    self,
    opcode: str,
    dtype: np.dtype,
    dims: Sequence[int],
    operands: Sequence[Node] = (),
    source: Instruction | None = None,
    **attrs: Any,
  ) -> Node:
    own = source if opcode == "leaf" else None
    key = (opcode, np.dtype(dtype), tuple(dims), tuple(map(id, operands)), repr(sorted(attrs.items())), id(own))
    if key not in self._known:
      node = Node(opcode, np.dtype(dtype), tuple(dims), tuple(operands), attrs, source)
      self._known[key] = node
      self.nodes.append(node)
    return self._known[key]

  def transposed(self, x: Node, permutation: Sequence[int]) -> Node:
    if tuple(permutation) == tuple(range(len(x.dims))):
      return x
    dims = [x.dims[p] for p in permutation]
    return self.make("transpose", x.dtype, dims, [x], permutation=tuple(permutation))

  def reshaped(self, x: Node, dims: Sequence[int]) -> Node:
    return x if x.dims == tuple(dims) else self.make("reshape", x.dtype, dims, [x])


# Whether layouts are final, which bitcasts show. On GPUs a module may have none; calls then ask for row-major arrays.
layouts_are_settled: ContextVar[bool] = ContextVar("layouts_are_settled", default=True)


def physical_order(shape: Shape) -> tuple[int, ...]:
  """The dimensions of an array from the slowest varying to the fastest."""
  if shape.layout is None or not layouts_are_settled.get():
    return tuple(range(shape.rank))
  layout = shape.layout
  if layout.tiles or layout.element_size_in_bits or layout.memory_space or layout.physical_shape is not None:
    raise Refused(f"the layout of {shape} is tiled, not only an order of dimensions")
  return tuple(reversed(layout.minor_to_major))


def laid_out(shape: Shape) -> Shape:
  """The shape of an operand or result of a call: as XLA has it. Where layouts are not final, it must be row-major already.

  XLA would change a layout that is not final to what the call asks for; one that is final it would not, and the call would read other
  elements. A module does not say which of the two it has, so other layouts are refused.
  """
  if layouts_are_settled.get():
    return shape
  plain = Shape.array(shape.element_type, shape.dimensions)
  if shape.layout is not None and tuple(shape.layout.minor_to_major) != tuple(reversed(range(shape.rank))):
    raise Refused(f"the layout of {shape} is not row-major, and may be final")
  return plain


def is_row_major(shape: Shape) -> bool:
  return shape.layout is None or shape.layout.is_descending


def unsettled(shape: Shape) -> Shape:
  """The shape that a value has for kernels: row-major where a module does not say whether its layouts are final."""
  return shape if layouts_are_settled.get() else Shape.array(shape.element_type, shape.dimensions)


def element_type(shape: Shape) -> np.dtype:
  if not shape.is_array or shape.is_dynamic:
    raise Refused(f"{shape} is not an array of static shape")
  try:
    return np.dtype(shape.dtype)
  except TypeError:
    raise Refused(f"no native element type for {shape}") from None


def build(region: Iterable[Instruction]) -> Graph:
  """The graph of a region; `Refused` where an instruction is none that tiles can be computed of."""
  inside = dict.fromkeys(region)
  builder = Builder()
  values: dict[Instruction, Any] = {}

  def leaf(instruction: Instruction) -> Node:
    shape = instruction.shape
    if instruction.opcode == "constant" and shape.is_array and shape.num_elements == 1 and not shape.is_dynamic:
      value = np.asarray(instruction.literal.value)
      node = builder.make("constant", element_type(shape), (), value=value.reshape(()).tobytes())
      return builder.reshaped(node, shape.dimensions)
    return builder.make("leaf", element_type(shape), shape.dimensions, source=instruction)

  for instruction in inside:
    if instruction.control_predecessors or instruction.control_successors:
      raise Refused(f"%{instruction.name} is ordered by control edges")
    if instruction.sharding is not None:
      raise Refused(f"%{instruction.name} has a sharding")
    operands = [values[o] if o in inside else leaf(o) for o in instruction.operands]
    if instruction.opcode == "fusion":
      values[instruction] = _inlined(builder, instruction, operands)
    else:
      values[instruction] = _node(builder, instruction, operands)
  outputs = list(_outputs(inside, values))
  needed = _reachable([o.node for o in outputs])
  nodes = tuple(n for n in builder.nodes if n in needed)
  return Graph(nodes, tuple(n for n in nodes if n.opcode == "leaf"), tuple(outputs))


@dataclasses.dataclass(frozen=True)
class View:
  """A whole computation, opened: its nodes in topological order, and the instruction whose value each node is, if there is one."""

  nodes: tuple[Node, ...]
  home: dict[Node, Instruction]
  within: dict[Node, Instruction]  # the first instruction that computes a node, perhaps on its way to its own value


def view(computation: Computation) -> View:
  """Every value of a computation; what has no rule is a leaf."""
  builder = Builder()
  values: dict[Instruction, Any] = {}
  home: dict[Node, Instruction] = {}
  within: dict[Node, Instruction] = {}
  static = {k: i for k, i in loop_invariants.invariants(computation).items() if loop_invariants.is_static(i)}
  for instruction in computation.topological_order():
    operands = [values[o] for o in instruction.operands]
    try:
      if instruction.opcode == "get-tuple-element" and instruction.operands[0].opcode == "parameter":
        if instruction.attrs["index"] not in static:
          raise Refused("an element of a parameter")
        outer = static[instruction.attrs["index"]]
        value = loop_invariants.value_outside(outer, functools.partial(_value, builder))
      else:
        value = _value(builder, instruction, operands)
    except Refused:
      try:
        value = builder.make("leaf", element_type(instruction.shape), instruction.shape.dimensions, source=instruction)
      except Refused:
        value = None
    values[instruction] = value
    if isinstance(value, Node):
      home.setdefault(value, instruction)
    for node in builder.nodes[len(within) :]:
      within[node] = instruction
  return View(tuple(builder.nodes), home, within)


def _value(builder: Builder, instruction: Instruction, operands: Sequence[Any]) -> Any:
  if any(o is None for o in operands):
    raise Refused("an operand is not an array")
  if instruction.opcode == "fusion":
    return _inlined(builder, instruction, operands)
  return _node(builder, instruction, operands)


def _outputs(inside: dict[Instruction, None], values: dict[Instruction, Any]) -> Iterable[Output]:
  for instruction in inside:
    value = values[instruction]
    outer = [u for u in instruction.users if u not in inside]
    if isinstance(value, Node):
      if outer or instruction.is_root:
        yield Output(instruction, None, value)
      continue
    if instruction.is_root or any(u.opcode != "get-tuple-element" for u in outer):
      raise Refused(f"the tuple of %{instruction.name} is used as a whole")
    for index in sorted({u.attrs["index"] for u in outer}):
      yield Output(instruction, index, value[index])


def _reachable(roots: Iterable[Node]) -> set[Node]:
  found: set[Node] = set()
  left = list(roots)
  while left:
    node = left.pop()
    if node not in found:
      found.add(node)
      left += node.operands
  return found


def _inlined(builder: Builder, fusion: Instruction, operands: Sequence[Any]) -> Any:
  values: dict[Instruction, Any] = {}
  body = fusion.called_computations[0]
  for instruction in body.topological_order():
    if instruction.opcode == "parameter":
      values[instruction] = operands[instruction.parameter_number]
    elif instruction.opcode == "fusion":
      values[instruction] = _inlined(builder, instruction, [values[o] for o in instruction.operands])
    else:
      values[instruction] = _node(builder, instruction, [values[o] for o in instruction.operands])
  return values[body.root]


# --- what an instruction means -----------------------------------------------------------------------------------

# Elementwise opcodes, and the ops of the tile IR that they are.
UNARY = {
  "abs": "abs",
  "acos": "acos",
  "acosh": "acosh",
  "asin": "asin",
  "asinh": "asinh",
  "atanh": "atanh",
  "cbrt": "cbrt",
  "ceil": "ceil",
  "cosine": "cos",
  "cosh": "cosh",
  "erf": "erf",
  "exponential": "exp",
  "exponential-minus-one": "expm1",
  "floor": "floor",
  "log": "log",
  "log-plus-one": "log1p",
  "logistic": "logistic",
  "negate": "neg",
  "not": "not",
  "round-nearest-afz": "round",
  "round-nearest-even": "round_even",
  "rsqrt": "rsqrt",
  "sign": "sign",
  "sine": "sin",
  "sinh": "sinh",
  "sqrt": "sqrt",
  "tan": "tan",
  "tanh": "tanh",
  "is-finite": "is_finite",
  "count-leading-zeros": "clz",
  "popcnt": "popcount",
}
BINARY = {
  "add": "add",
  "subtract": "sub",
  "multiply": "mul",
  "divide": "div",
  "maximum": "max",
  "minimum": "min",
  "power": "pow",
  "remainder": "rem",
  "atan2": "atan2",
  "and": "and",
  "or": "or",
  "xor": "xor",
  "shift-left": "shl",
  "shift-right-arithmetic": "shr_arithmetic",
  "shift-right-logical": "shr_logical",
}
DIRECTIONS = {"EQ": "eq", "NE": "ne", "LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}
ELEMENTWISE = frozenset({*UNARY, *BINARY, "compare", "select", "clamp", "convert", "bitcast-convert"})

# What native code computes with. Others are left to XLA.
DTYPES = frozenset(
  np.dtype(t)
  for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
) | {np.dtype("float16")}


def known_dtype(dtype: np.dtype) -> bool:
  return dtype in DTYPES or dtype.name == "bfloat16"


def is_float(dtype: np.dtype) -> bool:
  return dtype.kind == "f" or dtype.name == "bfloat16"


def _node(b: Builder, instruction: Instruction, operands: Sequence[Any]) -> Any:
  opcode, shape = instruction.opcode, instruction.shape
  if opcode == "tuple":
    return tuple(operands)
  if opcode == "get-tuple-element":
    found = None if isinstance(operands[0], Node) else operands[0][instruction.attrs["index"]]
    if found is None:
      raise Refused("an element of a tuple computed outside of the region")
    return found
  if gemm_calls.is_gemm(instruction):
    return _gemm_call(b, instruction, operands)
  if any(not isinstance(o, Node) for o in operands):
    raise Refused(f"%{instruction.name} takes a tuple")
  dtype, dims = element_type(shape), shape.dimensions
  for found in (dtype, *(o.dtype for o in operands)):
    if not known_dtype(found):
      raise Refused(f"{found} has no native code")
  if 0 in dims or any(0 in o.dims for o in operands):
    raise Refused("the array is empty")
  rule = RULES.get(opcode)
  if rule is None:
    if opcode not in ELEMENTWISE:
      raise Refused(f"{opcode} has no rule")
    return _elementwise(b, instruction, operands, dtype, dims)
  return rule(b, instruction, operands, dtype, dims)


def _elementwise(
  b: Builder, instruction: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]
) -> Node:
  opcode, attrs = instruction.opcode, {}
  if opcode == "compare":
    if instruction.attrs.get("type", "") == "TOTALORDER":
      raise Refused("a comparison in total order")
    attrs["direction"] = instruction.attrs["direction"]
  if opcode in ("select", "clamp"):
    operands = [b.make("broadcast", o.dtype, dims, [o], dimensions=()) if o.dims != dims else o for o in operands]
  if any(o.dims != dims for o in operands):
    raise Refused(f"{opcode} of different shapes")
  if opcode == "bitcast-convert" and (operands[0].dtype.itemsize != dtype.itemsize or dtype == np.bool_):
    raise Refused("bitcast-convert to another width")
  if opcode in ("and", "or", "xor", "not") and is_float(dtype):
    raise Refused(f"{opcode} of floats")
  return b.make(opcode, dtype, dims, operands, instruction, **attrs)


def _constant(b: Builder, i: Instruction, _: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  value = np.asarray(i.literal.value)
  if value.size == 1:
    return b.reshaped(b.make("constant", dtype, (), value=value.reshape(()).tobytes()), dims)
  raise Refused("an array of constants")


def _parameter(b: Builder, i: Instruction, _: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  raise Refused("a parameter is not computed")


def _iota(b: Builder, i: Instruction, _: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  return b.make("iota", dtype, dims, axis=i.attrs.get("iota_dimension", 0))


def _broadcast(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  at = tuple(i.attrs.get("dimensions", ()))
  if operands[0].dims == dims and at == tuple(range(len(dims))):
    return operands[0]
  if operands[0].opcode == "iota":  # an index of its own for each use: two of them may belong to different dimensions
    return b.make("iota", dtype, dims, axis=at[operands[0].attrs["axis"]])
  return b.make("broadcast", dtype, dims, operands, i, dimensions=at)


def _reshape(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  return b.reshaped(operands[0], dims)


def _transpose(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  return b.transposed(operands[0], i.attrs["dimensions"])


def _bitcast(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  """The same memory: the operand's elements in the order in which they lie there, cut anew, and seen in the result's order."""
  (x,) = operands
  if x.dtype != dtype:
    raise Refused("a bitcast to another type")
  if not layouts_are_settled.get():
    raise Refused("a bitcast before layouts are assigned")
  before, after = physical_order(i.operands[0].shape), physical_order(i.shape)
  flat = b.transposed(x, before)
  cut = b.reshaped(flat, [dims[d] for d in after])
  return b.transposed(cut, [after.index(d) for d in range(len(dims))])


def _copy(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  return operands[0]


def _reduce(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  if len(operands) != 2:
    raise Refused("a reduction of several arrays")
  kind = reduction_kind(i)
  x, init = operands
  over = tuple(i.attrs["dimensions"])
  whole = b.blocked.get(x)
  if whole is not None and whole.kind == kind and set(whole.dimensions) <= set(over):
    x = whole.source  # the second step of a sum in two
  found = b.make("reduce", dtype, dims, [x], i, kind=kind, dimensions=over) if over else x
  if is_identity(kind, init):
    return found
  combine = next(opcode for opcode, name in REDUCTIONS.items() if name == kind)
  start = b.make("broadcast", dtype, dims, [init], dimensions=()) if dims else init
  return b.make(combine, dtype, dims, [found, start])


def _reduce_window(
  b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]
) -> Node:
  """Windows side by side, XLA's first step of a long reduction: a dimension is cut in two, and the inner one reduced."""
  if len(operands) != 2:
    raise Refused("a reduction of several arrays")
  x, init = operands
  kind, windows = reduction_kind(i), i.attrs["window"]
  for w in windows:
    is_plain = w.stride == w.size and w.window_dilation == w.base_dilation == 1 and not w.reversal
    if not is_plain or w.padding_low < 0 or w.padding_high < 0:
      raise Refused("reduce-window with windows that overlap")
  if not is_identity(kind, init):
    raise Refused("reduce-window whose initial value is not the identity")
  over = tuple(d for d, w in enumerate(windows) if w.size > 1)
  padded = x
  if any(w.padding_low or w.padding_high for w in windows):
    sizes = [n + w.padding_low + w.padding_high for n, w in zip(x.dims, windows)]
    edges = tuple((w.padding_low, w.padding_high, 0) for w in windows)
    padded = b.make("pad", dtype, sizes, [x, init], i, padding=edges)
  cut, inner = [], []
  for count, w in zip(dims, windows):
    cut.append(count)
    if w.size > 1:
      inner.append(len(cut))
      cut.append(w.size)
  if math.prod(cut) != padded.size:
    raise Refused("reduce-window that skips elements")
  found = b.make("reduce", dtype, dims, [b.reshaped(padded, cut)], i, kind=kind, dimensions=tuple(inner))
  b.blocked[found] = Blocked(x, kind, over)
  return found


def reduction_kind(i: Instruction) -> str:
  """How a reduction combines two elements, if that is one operation of both."""
  root = i.attrs["to_apply"].root
  if _rounds(root) and root.operands[0].operands[0].opcode in ("add", "multiply"):
    root = root.operands[0].operands[0]
  if root.opcode not in REDUCTIONS or {o.opcode for o in root.operands} != {"parameter"}:
    raise Refused("a reduction by more than one operation")
  if len({o.parameter_number for o in root.operands}) != 2 or root.shape.element_type != i.shape.element_type:
    raise Refused("a reduction by more than one operation")
  return REDUCTIONS[root.opcode]


def _rounds(i: Instruction) -> bool:
  """To a narrower float and back: XLA's sums of bfloat16 do so at each step. A kernel's are rounded once, at the end."""
  is_pair = i.opcode == "convert" and i.operands[0].opcode == "convert"
  return is_pair and i.operands[0].operands[0].shape.element_type == i.shape.element_type


def constant_value(node: Node) -> Any | None:
  """The number that a node is, if it is one."""
  while node.opcode in ("reshape", "broadcast"):
    node = node.operands[0]
  return np.frombuffer(node.attrs["value"], node.dtype)[0] if node.opcode == "constant" else None


def is_identity(kind: str, init: Node) -> bool:
  value = constant_value(init)
  if value is None:
    return False
  if kind in ("max", "min"):
    lowest = kind == "max"
    if is_float(init.dtype):
      return bool(value == (-np.inf if lowest else np.inf))
    if init.dtype == np.bool_:
      return bool(value) != lowest
    limits = np.iinfo(init.dtype)
    return bool(value == (limits.min if lowest else limits.max))
  if kind == "and":
    return bool(value) if init.dtype == np.bool_ else bool(value == np.array(-1).astype(init.dtype))
  return bool(value == {"sum": 0, "prod": 1, "or": 0}[kind])


def _slice(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  cuts = tuple((s.start, s.limit, s.stride) for s in i.attrs["slice"])
  return b.make("slice", dtype, dims, operands, i, cuts=cuts)


def _pad(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  padding = tuple((p.low, p.high, p.interior) for p in i.attrs["padding"])
  return b.make("pad", dtype, dims, operands, i, padding=padding)


def _concatenate(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  (axis,) = i.attrs["dimensions"]
  return operands[0] if len(operands) == 1 else b.make("concatenate", dtype, dims, operands, i, axis=axis)


def _reverse(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  return b.make("reverse", dtype, dims, operands, i, axes=tuple(i.attrs["dimensions"]))


def _positions(indices: Node, rows: Sequence[int]) -> Node | None:
  """Of start indices (row numbers, something) for each row, the something: rows are counted along their dimensions, one after the other."""
  node = _origin(indices)
  if node.opcode != "concatenate" or node.attrs["axis"] != len(node.dims) - 1 or len(node.operands) != len(rows) + 1:
    return None
  *numbers, others = node.operands
  for k, number in enumerate(map(_origin, numbers)):
    if number.opcode != "iota" or number.size != math.prod(rows):
      return None
    axis = number.attrs["axis"]
    step, own = math.prod(number.dims[axis + 1 :]), math.prod(rows[k + 1 :])
    if number.dims[axis] != rows[k] or (step != own and rows[k] != 1):
      return None
  return others if others.size == math.prod(rows) else None


def _origin(node: Node) -> Node:
  while node.opcode == "reshape":
    node = node.operands[0]
  return node


def _one_of_each_row(b: Builder, i: Instruction, x: Node, indices: Node, size: int) -> Node:
  """The column that a gather or scatter touches in each row, along the last dimension, of so many elements; `Refused` if it does more."""
  *rows, columns = x.dims
  if size != math.prod(rows):
    raise Refused(f"{i.opcode} of more than one element of each row")
  if _has_rows_as_batch(i, len(rows)):
    column = indices if list(indices.dims[: len(rows)]) == rows and indices.size == size else None
  elif _touches_single_elements(i, len(x.dims)):
    column = _positions(indices, rows)
    if column is None and _origin(indices).opcode == "leaf":
      raise Incomplete(f"{i.opcode} with indices computed outside of the region")
  else:
    column = None
  if column is None:
    raise Refused(f"{i.opcode} of more than one element of each row")
  if not 0 < columns <= np.iinfo(np.int32).max or column.dtype not in (np.dtype(np.int32), np.dtype(np.uint32)):
    raise Refused(f"{i.opcode} with indices of another type")
  return b.reshaped(column, rows)


_INDEXED, _BATCH = ("start_index_map", "scatter_dims_to_operand_dims"), ("operand_batching_dims", "input_batching_dims")
_BATCH_OF_INDICES = ("start_indices_batching_dims", "scatter_indices_batching_dims")


def _dims_named(i: Instruction, names: Sequence[str]) -> tuple[int, ...]:
  return next((tuple(i.attrs[name]) for name in names if i.attrs.get(name)), ())


def _has_rows_as_batch(i: Instruction, rows: int) -> bool:
  """Whether rows of a gather or scatter are a batch: each has an index of its own, of a column."""
  batch = tuple(range(rows))
  return _dims_named(i, _INDEXED) == (rows,) and _dims_named(i, _BATCH) == _dims_named(i, _BATCH_OF_INDICES) == batch


def _touches_single_elements(i: Instruction, rank: int) -> bool:
  return _dims_named(i, _INDEXED) == tuple(range(rank)) and not _dims_named(i, _BATCH)


def _gather(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  """`x[row, column[row]]`, as `take_along_axis` writes it: XLA clamps the column."""
  x, indices = operands
  if len(x.dims) < 2 or set(i.attrs["slice_sizes"]) != {1}:
    raise Refused("gather of more than single elements of rows")
  column = _one_of_each_row(b, i, x, indices, math.prod(dims))
  rows = column.dims
  last = b.make("constant", column.dtype, (), value=np.array(x.dims[-1] - 1, column.dtype).tobytes())
  zero = b.make("constant", column.dtype, (), value=np.array(0, column.dtype).tobytes())
  low, high = (b.make("broadcast", column.dtype, rows, [c], dimensions=()) for c in (zero, last))
  column = b.make("clamp", column.dtype, rows, [low, column, high])
  hits = _hits(b, column, x.dims)
  filler = b.make("constant", dtype, (), value=np.zeros((), dtype).tobytes())
  filler = b.make("broadcast", dtype, x.dims, [filler], dimensions=())
  chosen = b.make("select", dtype, x.dims, [hits, x, filler])
  return b.reshaped(b.make("reduce", dtype, rows, [chosen], i, kind="sum", dimensions=(len(rows),)), dims)


def _hits(b: Builder, column: Node, dims: tuple[int, ...]) -> Node:
  rows = len(dims) - 1
  numbers = b.make("iota", column.dtype, dims, axis=rows)
  wanted = b.make("broadcast", column.dtype, dims, [column], dimensions=tuple(range(rows)))
  return b.make("compare", np.dtype(np.bool_), dims, [numbers, wanted], direction="EQ")


def _scatter(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  """One element of each row combined with an update: rows whose column is outside are left alone."""
  if len(operands) != 3 or len(dims) < 2:
    raise Refused("scatter of several arrays, or into a vector")
  x, indices, updates = operands
  column = _one_of_each_row(b, i, x, indices, updates.size)
  if column.dtype != np.int32:
    raise Refused("scatter with indices of another type")
  root = i.attrs["to_apply"].root
  hits = _hits(b, column, dims)
  update = b.make(
    "broadcast", dtype, dims, [b.reshaped(updates, column.dims)], dimensions=tuple(range(len(column.dims)))
  )
  if root.opcode == "parameter" and root.parameter_number == 1:
    combined = update
  else:
    kind = reduction_kind(i)
    combine = next(opcode for opcode, name in REDUCTIONS.items() if name == kind)
    combined = b.make(combine, dtype, dims, [x, update])
  return b.make("select", dtype, dims, [hits, combined, x], i)


def _dot(b: Builder, i: Instruction, operands: Sequence[Node], dtype: np.dtype, dims: tuple[int, ...]) -> Node:
  keys = ("lhs_contracting_dims", "rhs_contracting_dims", "lhs_batch_dims", "rhs_batch_dims")
  lc, rc, lb, rb = (tuple(i.attrs.get(key, ())) for key in keys)
  if i.attrs.get("sparsity") or (
    operands[0].dtype != operands[1].dtype and not all(is_float(o.dtype) for o in operands)
  ):
    raise Refused("a product of different types")
  return b.make("dot", dtype, dims, operands, i, contract=(lc, rc), batch=(lb, rb), precision=_precision(i))


def _precision(i: Instruction) -> str:
  """The lower one of both operands'."""
  order = ("default", "high", "highest")
  return order[min((order.index(p) for p in i.attrs.get("operand_precision", ()) if p in order), default=0)]


def _gemm_call(b: Builder, i: Instruction, operands: Sequence[Any]) -> Any:
  """cuBLAS' product, and a workspace that nothing reads."""
  gemm = gemm_calls.read(i)
  if gemm is None or any(not isinstance(o, Node) or not known_dtype(o.dtype) for o in operands):
    raise Refused("cuBLAS computes more than a product")
  shape = i.shape.tuple_shapes[0] if i.shape.is_tuple else i.shape
  dtype, dims = element_type(shape), shape.dimensions
  precision = "highest" if set(gemm.precision) == {"highest"} else "default"
  made = b.make("dot", dtype, dims, operands, i, contract=gemm.contract, batch=gemm.batch, precision=precision)
  if gemm.alpha != 1.0:
    factor = b.make("constant", dtype, (), value=np.asarray(gemm.alpha, dtype).tobytes())
    made = b.make("multiply", dtype, dims, [made, b.make("broadcast", dtype, dims, [factor], dimensions=())])
  return (made, None) if i.shape.is_tuple else made


RULES = {
  "constant": _constant,
  "parameter": _parameter,
  "iota": _iota,
  "broadcast": _broadcast,
  "reshape": _reshape,
  "transpose": _transpose,
  "bitcast": _bitcast,
  "copy": _copy,
  "reduce": _reduce,
  "reduce-window": _reduce_window,
  "slice": _slice,
  "pad": _pad,
  "concatenate": _concatenate,
  "reverse": _reverse,
  "gather": _gather,
  "scatter": _scatter,
  "dot": _dot,
}

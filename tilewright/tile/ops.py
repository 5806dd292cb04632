"""The ops of the tile IR, as data: the operands, results and effects of each.

Adding an op is adding a row to `OPS`. A row's `infer` checks operands and attributes and returns the result types; `effects` lists the
op's side effects on memory and beyond. An op without effects is pure: it may be moved, duplicated, or dropped when it is unused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from tilewright import errors
from tilewright.tile.formats import width
from tilewright.tile.ir import Op, Value
from tilewright.tile.types import RefType, TileType, Type, dense_strides

READ, WRITE, ALLOC, SYNC, WORLD, CONTROL = "read", "write", "alloc", "sync", "world", "control"


@dataclasses.dataclass(frozen=True)
class OpDef:
  """A row of the table."""

  name: str
  infer: Callable[[Op], Sequence[Type]]
  effects: frozenset[str] = frozenset()
  doc: str = ""
  # The operands through which it reads memory, and those through which it writes; None: perhaps through all its refs
  reads: tuple[int, ...] | None = None
  writes: tuple[int, ...] | None = None
  fills: bool = False  # whether it writes all of its first operand, a view
  is_choice: bool = False  # whether it runs one of its blocks

  @property
  def is_pure(self) -> bool:
    return not self.effects


OPS: dict[str, OpDef] = {}


def define(
  name: str,
  infer: Callable[[Op], Sequence[Type]],
  *effects: str,
  doc: str = "",
  reads: tuple[int, ...] | None = None,
  writes: tuple[int, ...] | None = None,
  fills: bool = False,
  is_choice: bool = False,
) -> None:
  OPS[name] = OpDef(name, infer, frozenset(effects), doc, reads, writes, fills, is_choice)


def refs_read(op: Op) -> list[Value]:
  """The refs through which an op itself, without what is nested in it, may read memory."""
  return _through(op, OPS[op.name].reads)


def refs_written(op: Op) -> list[Value]:
  """Those through which it may write."""
  return _through(op, OPS[op.name].writes)


def surely_written(op: Op) -> list[Value]:
  """The refs through which it writes, if the table says so."""
  return [] if OPS[op.name].writes is None else refs_written(op)


def _through(op: Op, places: tuple[int, ...] | None) -> list[Value]:
  if places is None:
    return [v for v in op.operands if isinstance(v.type, RefType)]
  return [op.operands[i] for i in places]


def expect(condition: bool, message: str) -> None:
  if not condition:
    raise errors.TileError(message)


def tile_of(op: Op, i: int) -> TileType:
  ty = op.operands[i].type
  expect(isinstance(ty, TileType), f"operand {i} must be a tile, got {ty}")
  assert isinstance(ty, TileType)
  return ty


def ref_of(op: Op, i: int = 0) -> RefType:
  ty = op.operands[i].type
  expect(isinstance(ty, RefType), f"operand {i} must be a ref, got {ty}")
  assert isinstance(ty, RefType)
  return ty


# --- elementwise -------------------------------------------------------------------------------------------------

UNARY = (
  *("neg", "abs", "sign", "floor", "ceil", "round", "round_even", "not", "popcount", "clz"),
  *("exp", "exp2", "expm1", "log", "log1p", "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan"),
  *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "logistic", "erf", "erfc", "erf_inv", "lgamma", "digamma"),
)
BINARY = (
  *("add", "sub", "mul", "div", "rem", "max", "min", "pow", "atan2", "nextafter", "mulhi"),
  *("and", "or", "xor", "shl", "shr_logical", "shr_arithmetic"),
)
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


def _same_types(op: Op, count: int) -> TileType:
  expect(len(op.operands) == count, f"takes {count} operands")
  first = tile_of(op, 0)
  for i in range(1, count):
    expect(tile_of(op, i) == first, f"operands differ: {first} and {tile_of(op, i)}")
  return first


def _part(op: Op) -> list[Type]:
  """The type of a complex tile's parts."""
  source = _same_types(op, 1)
  expect(source.dtype.kind == "c", f"takes complex numbers, got {source}")
  return [source.with_dtype(np.dtype(f"f{source.dtype.itemsize // 2}"))]


def _complex(op: Op) -> list[Type]:
  part = _same_types(op, 2)
  expect(part.dtype in (np.float32, np.float64), f"takes f32 or f64, got {part}")
  return [part.with_dtype(np.dtype(f"c{part.dtype.itemsize * 2}"))]


for _name in UNARY:
  define(_name, lambda op: [_same_types(op, 1)], doc="elementwise")
define("abs", lambda op: _part(op) if tile_of(op, 0).dtype.kind == "c" else [_same_types(op, 1)], doc="elementwise")
define("real", _part, doc="the real part of complex numbers")
define("imag", _part, doc="the imaginary part of complex numbers")
define("complex", _complex, doc="complex numbers from their parts")
define("conj", lambda op: [_same_types(op, 1)], doc="the conjugate of complex numbers")
for _name in BINARY:
  define(_name, lambda op: [_same_types(op, 2)], doc="elementwise")
for _name in COMPARE:
  define(_name, lambda op: [_same_types(op, 2).with_dtype(np.bool_)], doc="elementwise comparison")
define("is_finite", lambda op: [_same_types(op, 1).with_dtype(np.bool_)], doc="elementwise")


def _integer_pow(op: Op) -> list[Type]:
  expect(isinstance(op.attrs.get("y"), int), "the attribute y must be an int")
  return [_same_types(op, 1)]


define("integer_pow", _integer_pow, doc="x to a static integer power")


def _inline_asm(op: Op) -> list[Type]:
  """`inline_asm(*args)`: PTX `text` with LLVM's `constraints`, on `pack` elements of each operand at a time; one result for each dtype."""
  shapes = {tile_of(op, i).shape for i in range(len(op.operands))} | {tuple(op.attrs["shape"])}
  expect(len(shapes) == 1, f"operands and results have different shapes: {sorted(shapes)}")
  expect(op.attrs["pack"] > 0, f"pack must be positive, got {op.attrs['pack']}")
  return [TileType(tuple(op.attrs["shape"]), np.dtype(d)) for d in op.attrs["dtypes"]]


define("inline_asm", _inline_asm, doc="assembly, on a few elements at a time")


def _threefry(op: Op) -> list[Type]:
  """`threefry(key0, key1, x0, x1)`: one of the two words that Threefry-2x32 with 20 rounds makes of (x0, x1)."""
  expect(op.attrs["word"] in (0, 1), "word must be 0 or 1")
  ty = _same_types(op, 4)
  expect(ty.dtype == np.uint32, f"takes uint32, got {ty}")
  return [ty]


define("threefry", _threefry, doc="random bits of a counter under a key")


def _select(op: Op) -> list[Type]:
  """`select(condition, if_true, if_false)`"""
  expect(len(op.operands) == 3, "takes 3 operands")
  condition, a, b = (tile_of(op, i) for i in range(3))
  expect(condition.dtype == np.bool_, "the condition must be bool")
  expect(a == b, f"the choices differ: {a} and {b}")
  expect(condition.shape == a.shape, f"the condition has shape {condition.shape}, the choices {a.shape}")
  return [a]


define("select", _select, doc="elementwise choice")
define("convert", lambda op: [tile_of(op, 0).with_dtype(op.attrs["dtype"])], doc="to another dtype, as XLA converts")


def _bitcast(op: Op) -> list[Type]:
  source, target = tile_of(op, 0), np.dtype(op.attrs["dtype"])
  expect(width(source.dtype) == width(target), f"{source.dtype} and {target} have different widths")
  return [source.with_dtype(target)]


define("bitcast", _bitcast, doc="the same bits as another dtype of the same width")


def _recast(op: Op) -> list[Type]:
  """A wider element becomes a last dimension of narrower ones, the low bits first; narrower ones become one wider element."""
  source, target = tile_of(op, 0), np.dtype(op.attrs["dtype"])
  wide, narrow = source.dtype.itemsize, target.itemsize
  if wide > narrow:
    expect(wide % narrow == 0, f"{source.dtype} is not a number of {target}")
    return [TileType((*source.shape, wide // narrow), target)]
  expect(
    source.rank > 0 and source.shape[-1] * wide == narrow, f"the last dimension of {source} must make up one {target}"
  )
  return [TileType(source.shape[:-1], target)]


define("recast", _recast, doc="the same bits as a dtype of another width")

# --- making and moving elements ----------------------------------------------------------------------------------


def _constant(op: Op) -> list[Type]:
  value = op.attrs["value"]
  return [TileType(tuple(np.shape(value)), np.dtype(op.attrs["dtype"]))]


define("constant", _constant, doc="a static value")
define(
  "iota",
  lambda op: [TileType(tuple(op.attrs["shape"]), np.dtype(op.attrs["dtype"]))],
  doc="the index along a dimension",
)


def _broadcast(op: Op) -> list[Type]:
  """`dims[i]` is the dimension of the result that dimension i of the operand becomes."""
  source, shape, dims = tile_of(op, 0), tuple(op.attrs["shape"]), tuple(op.attrs["dims"])
  expect(len(dims) == source.rank, f"dims {dims} must name a dimension for each of {source.shape}")
  expect(list(dims) == sorted(set(dims)), f"dims {dims} must increase")
  for d, size in zip(dims, source.shape):
    expect(size in (1, shape[d]), f"size {size} does not broadcast to {shape[d]}")
  return [source.with_shape(shape)]


define("broadcast", _broadcast, doc="repeat along new dimensions or dimensions of size one")


def _reshape(op: Op) -> list[Type]:
  source, shape = tile_of(op, 0), tuple(op.attrs["shape"])
  expect(source.size == int(np.prod(shape)), f"{source.shape} and {shape} have different sizes")
  return [source.with_shape(shape)]


define("reshape", _reshape, doc="the same elements in row-major order")


def _transpose(op: Op) -> list[Type]:
  source, perm = tile_of(op, 0), tuple(op.attrs["permutation"])
  expect(sorted(perm) == list(range(source.rank)), f"{perm} is not a permutation of {source.rank} dimensions")
  return [source.with_shape(tuple(source.shape[p] for p in perm))]


define("transpose", _transpose, doc="dimensions in another order")


def _slice(op: Op) -> list[Type]:
  source = tile_of(op, 0)
  starts, stops, strides = (tuple(op.attrs[k]) for k in ("starts", "stops", "strides"))
  shape = tuple(-(-(e - s) // t) for s, e, t in zip(starts, stops, strides))
  expect(len(shape) == source.rank, "one start, stop and stride for each dimension")
  for s, e, d in zip(starts, stops, source.shape):
    expect(0 <= s <= e <= d, f"slice {s}:{e} is outside of a dimension of size {d}")
  return [source.with_shape(shape)]


define("slice", _slice, doc="a static part")


def _pad(op: Op) -> list[Type]:
  """`pad(x, fill)` by `low`, `high` and `interior` elements along each dimension."""
  source, fill = tile_of(op, 0), tile_of(op, 1)
  expect(fill.is_scalar and fill.dtype == source.dtype, "the fill must be a scalar of the same dtype")
  shape = tuple(
    d + low + high + max(d - 1, 0) * inside
    for d, low, high, inside in zip(source.shape, op.attrs["low"], op.attrs["high"], op.attrs["interior"])
  )
  expect(all(d >= 0 for d in shape), f"negative padding leaves the shape {shape}")
  return [source.with_shape(shape)]


define("pad", _pad, doc="surround with a value")


def _concatenate(op: Op) -> list[Type]:
  axis, first = op.attrs["axis"], tile_of(op, 0)
  total = 0
  for i in range(len(op.operands)):
    part = tile_of(op, i)
    others = [d for a, d in enumerate(part.shape) if a != axis]
    expect(others == [d for a, d in enumerate(first.shape) if a != axis], "shapes differ besides the axis")
    expect(part.dtype == first.dtype, "dtypes differ")
    total += part.shape[axis]
  return [first.with_shape((*first.shape[:axis], total, *first.shape[axis + 1 :]))]


define("concatenate", _concatenate, doc="one after another along an axis")
define("reverse", lambda op: [tile_of(op, 0)], doc="backwards along `axes`")
define(
  "layout_cast", lambda op: [tile_of(op, 0)], doc="the same elements, held as `layout` says where a target has layouts"
)


def _dynamic_slice(op: Op) -> list[Type]:
  source, sizes = tile_of(op, 0), tuple(op.attrs["sizes"])
  expect(len(op.operands) == 1 + source.rank, "one start for each dimension")
  expect(all(s <= d for s, d in zip(sizes, source.shape)), f"sizes {sizes} exceed {source.shape}")
  return [source.with_shape(sizes)]


define("dynamic_slice", _dynamic_slice, doc="a part at dynamic starts, clamped so that it fits")


def _dynamic_update_slice(op: Op) -> list[Type]:
  source, update = tile_of(op, 0), tile_of(op, 1)
  expect(len(op.operands) == 2 + source.rank, "one start for each dimension")
  expect(update.rank == source.rank and update.dtype == source.dtype, "the update must match in rank and dtype")
  return [source]


define("dynamic_update_slice", _dynamic_update_slice, doc="replace a part at dynamic starts, clamped so that it fits")

# --- combining elements ------------------------------------------------------------------------------------------

REDUCTIONS = ("sum", "prod", "max", "min", "and", "or", "xor")


def _without(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
  return tuple(d for i, d in enumerate(shape) if i not in axes)


def _reduce(op: Op) -> list[Type]:
  source = tile_of(op, 0)
  expect(op.attrs["kind"] in REDUCTIONS, f"unknown kind {op.attrs['kind']!r}")
  return [source.with_shape(_without(source.shape, op.attrs["axes"]))]


define("reduce", _reduce, doc="over `axes`, by `kind`")


def _arg_reduce(op: Op) -> list[Type]:
  source = tile_of(op, 0)
  expect(op.attrs["kind"] in ("max", "min"), "kind must be max or min")
  return [TileType(_without(source.shape, (op.attrs["axis"],)), np.dtype(op.attrs["dtype"]))]


define("arg_reduce", _arg_reduce, doc="the position of the first extreme along an axis")
define("cumulative", lambda op: [tile_of(op, 0)], doc="running `kind` along `axis`, backwards if `reverse`")


def _sort(op: Op) -> list[Type]:
  """The first `keys` operands decide, the first of them first. Equal elements stay in order.

  Among floats -0 equals 0 and every NaN comes last; in a `total` order each bit pattern has its place, -NaN before all, NaN after all.
  """
  types = [tile_of(op, i) for i in range(len(op.operands))]
  expect(0 < op.attrs["keys"] <= len(types), f"the number of keys must be from 1 to {len(types)}")
  expect(all(t.shape == types[0].shape for t in types), "the operands have different shapes")
  expect(0 <= op.attrs["axis"] < types[0].rank, f"axis {op.attrs['axis']} is outside of a rank of {types[0].rank}")
  return list(types)


define("sort", _sort, doc="lines along `axis` in the order of the first `keys` operands, backwards if `descending`")


def _top_k(op: Op) -> list[Type]:
  """The first `k` elements of each line along `axis`, in the order of `sort`, and their indices."""
  source, axis, k = tile_of(op, 0), op.attrs["axis"], op.attrs["k"]
  expect(0 <= axis < source.rank, f"axis {axis} is outside of a rank of {source.rank}")
  expect(0 < k <= source.shape[axis], f"there are not {k} elements along axis {axis} of {source}")
  result = source.with_shape((*source.shape[:axis], k, *source.shape[axis + 1 :]))
  return [result, result.with_dtype(np.int32)]


define("top_k", _top_k, doc="the first `k` of each line along `axis`, and where they are")


def _dot(op: Op) -> list[Type]:
  """Contract `contract` of both sides, keep `batch` in front: [batch, lhs free, rhs free]."""
  lhs, rhs = tile_of(op, 0), tile_of(op, 1)
  (lc, rc), (lb, rb) = op.attrs["contract"], op.attrs["batch"]
  for a, b in (*zip(lc, rc), *zip(lb, rb)):
    expect(lhs.shape[a] == rhs.shape[b], f"dimension {a} of {lhs} and {b} of {rhs} differ")
  shape = (
    *(lhs.shape[a] for a in lb),
    *_without(lhs.shape, (*lc, *lb)),
    *_without(rhs.shape, (*rc, *rb)),
  )
  return [TileType(shape, np.dtype(op.attrs["dtype"]))]


define("dot", _dot, doc="contraction, accumulated in `dtype`")

# --- memory ------------------------------------------------------------------------------------------------------


def _subview(op: Op) -> list[Type]:
  """`subview(ref, start, …)`: from dynamic starts, `sizes` elements with `steps`; dimensions in `dropped` go."""
  ref = ref_of(op)
  sizes, steps, dropped = tuple(op.attrs["sizes"]), tuple(op.attrs["steps"]), tuple(op.attrs["dropped"])
  expect(len(op.operands) == 1 + ref.rank == 1 + len(sizes), "one start and size for each dimension")
  kept = [i for i in range(ref.rank) if i not in dropped]
  strides = tuple(ref.strides[i] * steps[i] for i in kept)
  return [RefType(tuple(sizes[i] for i in kept), ref.dtype, ref.space, strides)]


define("subview", _subview, doc="part of a ref; the starts must lie inside")


def _reshape_ref(op: Op) -> list[Type]:
  ref, shape = ref_of(op), tuple(op.attrs["shape"])
  expect(ref.is_dense, "only a dense ref can be reshaped")
  expect(ref.size == int(np.prod(shape)), f"{ref.shape} and {shape} have different sizes")
  return [RefType(shape, ref.dtype, ref.space, dense_strides(shape))]


define("reshape_ref", _reshape_ref, doc="a dense ref with another shape")


def _transpose_ref(op: Op) -> list[Type]:
  ref, perm = ref_of(op), tuple(op.attrs["permutation"])
  return [RefType(tuple(ref.shape[p] for p in perm), ref.dtype, ref.space, tuple(ref.strides[p] for p in perm))]


define("transpose_ref", _transpose_ref, doc="a ref with its dimensions in another order")


def _bitcast_ref(op: Op) -> list[Type]:
  ref, dtype = ref_of(op), np.dtype(op.attrs["dtype"])
  expect(width(ref.dtype) == width(dtype), f"{ref.dtype} and {dtype} have different widths")
  return [dataclasses.replace(ref, dtype=dtype)]


define("bitcast_ref", _bitcast_ref, doc="a ref to the same bits as another dtype of the same width")
define("load", lambda op: [ref_of(op).tile], READ, doc="the value of a view", reads=(0,), writes=())


def _store(op: Op) -> list[Type]:
  ref, value = ref_of(op), tile_of(op, 1)
  expect(ref.tile == value, f"cannot store {value} to {ref}")
  return []


define("store", _store, READ, WRITE, doc="replace the value of a view", reads=(), writes=(0,), fills=True)
define(
  "alloc",
  lambda op: [
    RefType(tuple(op.attrs["shape"]), np.dtype(op.attrs["dtype"]), op.attrs["space"], dense_strides(op.attrs["shape"]))
  ],
  ALLOC,
  doc="memory for as long as the enclosing block runs",
)


def _window(op: Op, first: int) -> TileType:
  """A part of a ref that may extend past its edges: dynamic starts, static sizes and steps, some dimensions dropped."""
  ref = ref_of(op)
  sizes, dropped = tuple(op.attrs["sizes"]), tuple(op.attrs["dropped"])
  expect(len(op.operands) == first + ref.rank == first + len(sizes), "one start and size for each dimension")
  return TileType(tuple(s for i, s in enumerate(sizes) if i not in dropped), ref.dtype)


def _window_store(op: Op) -> list[Type]:
  window, value = _window(op, 2), tile_of(op, 1)
  expect(window == value, f"cannot store {value} to a window of {window}")
  return []


define(
  "window_load",
  lambda op: [_window(op, 1)],
  READ,
  doc="`window_load(ref, start…)`: poison outside of the ref",
  reads=(0,),
  writes=(),
)
define(
  "window_store",
  _window_store,
  READ,
  WRITE,
  doc="`window_store(ref, value, start…)`: dropped outside of the ref",
  reads=(),
  writes=(0,),
)


define(
  "copy",
  lambda op: [],
  READ,
  WRITE,
  doc="copy between refs of one shape and dtype: `copy(source, destination)`",
  reads=(0,),
  writes=(1,),
)

from tilewright.tile import control as _control  # noqa: E402, F401  the rows for control flow, semaphores and the world
from tilewright.tile import gather_scatter as _gather_scatter  # noqa: E402, F401  the rows for gathers and scatters

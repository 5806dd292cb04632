"""What the tile IR means, in NumPy: the oracle of the rewrite rules, and of the lowering.

Tiles are arrays. Refs are arrays too: a view of a ref is a view of the array, so stores show wherever the memory is seen. Memory
that was never written, and what lies outside of a ref, is poison: NaN, the least integer, or false.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.literal import canonical, is_float, is_integer
from tilewright.tile.types import RefType, TileType

Array = np.ndarray
EVALUATE: dict[str, Callable[..., Any]] = {}


def evaluate(
  function: Function, args: Sequence[Array], position: Sequence[int] = (), grid: Sequence[int] = ()
) -> list[Array]:
  """Run a function on arrays, which are its memory, at a position of a grid; gives what it yields."""
  machine = Machine(tuple(position), tuple(grid))
  machine.values.update(zip(function.params, args))
  with np.errstate(all="ignore"):
    return machine.block(function.body)


def poison(shape: Sequence[int], dtype: np.dtype) -> Array:
  if dtype == np.bool_:
    return np.zeros(shape, dtype)
  return np.full(shape, np.nan if not is_integer(dtype) else int(ml_dtypes.iinfo(dtype).min), dtype)


class Machine:
  """The values so far, and what was printed."""

  def __init__(self, position: tuple[int, ...], grid: tuple[int, ...]):
    self.values: dict[Value, Any] = {}
    self.position, self.grid = position, grid
    self.printed: list[Any] = []

  def block(self, block: Block, *args: Any) -> list[Any]:
    self.values.update(zip(block.params, args))
    for op in block.ops:
      operands = [self.values[v] for v in op.operands]
      if op.name == "yield":
        return operands
      results = EVALUATE[op.name](self, op, *operands)
      results = [] if results is None else results if isinstance(results, list) else [results]
      assert len(results) == len(op.results), op.name
      for v, x in zip(op.results, map(np.asarray, results)):
        assert isinstance(x, np.ndarray) and (x.shape, x.dtype) == (v.type.shape, v.type.dtype), (op.name, v.type, x)
        self.values[v] = x
    return []


def op(*names: str) -> Callable[[Any], Any]:
  def add(f: Any) -> Any:
    EVALUATE.update(dict.fromkeys(names, f))
    return f

  return add


# --- elementwise -------------------------------------------------------------------------------------------------


def _elementwise(name: str, f: Callable[..., Any]) -> None:
  def run(m: Machine, op: Op, *args: Array) -> Array:
    return np.asarray(f(*args)).astype(op.result.type.dtype).reshape(op.result.type.shape)

  EVALUATE[name] = run


def _wide(f: Callable[..., Any]) -> Callable[..., Any]:
  """Compute formats that NumPy has no functions for in f32, and round."""
  return lambda *args: f(*(a.astype(np.float32) if is_float(a.dtype) and a.dtype.itemsize < 4 else a for a in args))


def _by_ints(f: Callable[..., int]) -> Callable[..., Array]:
  """Element by element on Python ints, wrapped to the dtype."""

  def run(*args: Array) -> Array:
    dtype = args[0].dtype
    width = int(ml_dtypes.iinfo(dtype).bits)
    out = np.zeros(args[0].shape, dtype)
    for i in np.ndindex(out.shape):
      number = f(width, *(int(a[i]) for a in args)) % (1 << width)
      signed = int(ml_dtypes.iinfo(dtype).min) < 0
      out[i] = number - (1 << width) if signed and number >= 1 << (width - 1) else number
    return out

  return run


def _arithmetic(on_floats: Callable[..., Any], on_ints: Callable[..., int]) -> Callable[..., Any]:
  return lambda *args: _by_ints(on_ints)(*args) if is_integer(args[0].dtype) else _wide(on_floats)(*args)


def _quotient(a: int, b: int) -> int:
  return -1 if b == 0 else int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b))


def _round_away(x: Array) -> Array:
  return np.where(np.abs(x - np.trunc(x)) >= 0.5, np.trunc(x) + np.copysign(1, x), np.copysign(np.trunc(x), x))


_elementwise("add", _arithmetic(np.add, lambda w, a, b: a + b))
_elementwise("sub", _arithmetic(np.subtract, lambda w, a, b: a - b))
_elementwise("mul", _arithmetic(np.multiply, lambda w, a, b: a * b))
_elementwise("div", _arithmetic(np.divide, lambda w, a, b: _quotient(a, b)))
_elementwise("rem", _arithmetic(np.fmod, lambda w, a, b: a if b == 0 else a - _quotient(a, b) * b))
_elementwise("neg", _arithmetic(np.negative, lambda w, a: -a))
_elementwise("abs", _arithmetic(np.abs, lambda w, a: abs(a)))
_elementwise("sign", _arithmetic(lambda x: np.where(x == 0, x, np.sign(x)), lambda w, a: (a > 0) - (a < 0)))
_elementwise("popcount", _by_ints(lambda w, a: (a % (1 << w)).bit_count()))
_elementwise("clz", _by_ints(lambda w, a: w - (a % (1 << w)).bit_length()))
_elementwise("shl", _by_ints(lambda w, a, b: a << b if 0 <= b < w else 0))
_elementwise("shr_logical", _by_ints(lambda w, a, b: (a % (1 << w)) >> b if 0 <= b < w else 0))
_elementwise("shr_arithmetic", _by_ints(lambda w, a, b: _signed(a, w) >> (b if 0 <= b < w else w - 1)))
_elementwise("and", lambda a, b: a & b if a.dtype == np.bool_ else _by_ints(lambda w, x, y: x & y)(a, b))
_elementwise("or", lambda a, b: a | b if a.dtype == np.bool_ else _by_ints(lambda w, x, y: x | y)(a, b))
_elementwise("xor", lambda a, b: a ^ b if a.dtype == np.bool_ else _by_ints(lambda w, x, y: x ^ y)(a, b))
_elementwise("not", lambda a: ~a if a.dtype == np.bool_ else _by_ints(lambda w, x: ~x)(a))
_elementwise("round", _wide(_round_away))
for _name, _f in {
  **{"max": np.maximum, "min": np.minimum, "floor": np.floor, "ceil": np.ceil, "round_even": np.rint, "exp": np.exp},
  **{
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "sin": np.sin,
  },
  **{"cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh},
  **{"cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "pow": np.power},
  **{"atan2": np.arctan2, "is_finite": np.isfinite, "rsqrt": lambda x: 1 / np.sqrt(x)},
  **{"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal},
}.items():
  _elementwise(_name, _wide(_f))
for _name in ("logistic", "erf", "erfc", "erf_inv", "lgamma", "digamma", "nextafter"):
  _elementwise(_name, lambda *args, name=_name: np.asarray(getattr(jax.lax, name)(*map(jnp.asarray, args))))


def _signed(a: int, width: int) -> int:
  a %= 1 << width
  return a - (1 << width) if a >> (width - 1) else a


@op("integer_pow")
def _integer_pow(m: Machine, op: Op, x: Array) -> Array:
  y = op.attrs["y"]
  power = _by_ints(lambda w, a: a ** abs(y)) if is_integer(x.dtype) else _wide(lambda v: v ** float(y))
  return np.asarray(power(x)).astype(x.dtype)


@op("select")
def _select(m: Machine, op: Op, condition: Array, a: Array, b: Array) -> Array:
  return np.where(condition, a, b).astype(a.dtype)


@op("convert")
def _convert(m: Machine, op: Op, x: Array) -> Array:
  """As XLA does: floats saturate to integers, NaN becomes 0, integers wrap."""
  dtype = np.dtype(op.attrs["dtype"])
  if dtype == np.bool_:
    return np.asarray(x != np.zeros((), x.dtype))
  if not is_integer(dtype):
    return x.astype(dtype)
  if is_float(x.dtype):
    info = ml_dtypes.iinfo(dtype)
    return np.asarray(
      np.vectorize(lambda v: _to_int(float(v), int(info.min), int(info.max)), otypes=[object])(x)
    ).astype(dtype)
  width = int(ml_dtypes.iinfo(dtype).bits)
  out = np.zeros(x.shape, dtype)
  for i in np.ndindex(x.shape):
    number = int(x[i]) % (1 << width)
    out[i] = _signed(number, width) if int(ml_dtypes.iinfo(dtype).min) < 0 else number
  return out


def _to_int(x: float, low: int, high: int) -> int:
  return 0 if math.isnan(x) else low if x <= low else high if x >= high else int(x)


@op("bitcast")
def _bitcast(m: Machine, op: Op, x: Array) -> Array:
  return np.ascontiguousarray(x).reshape(-1).view(op.attrs["dtype"]).reshape(x.shape)


# --- making and moving elements ----------------------------------------------------------------------------------


@op("constant")
def _constant(m: Machine, op: Op) -> Array:
  return canonical(op.attrs["value"], np.dtype(op.attrs["dtype"]))


@op("iota")
def _iota(m: Machine, op: Op) -> Array:
  shape, axis = tuple(op.attrs["shape"]), op.attrs["axis"]
  column = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
  return np.broadcast_to(column, shape).astype(op.attrs["dtype"])


@op("broadcast")
def _broadcast(m: Machine, op: Op, x: Array) -> Array:
  shape, dims = tuple(op.attrs["shape"]), tuple(op.attrs["dims"])
  sizes = dict(zip(dims, x.shape))
  return np.broadcast_to(x.reshape([sizes.get(d, 1) for d in range(len(shape))]), shape).copy()


@op("reshape")
def _reshape(m: Machine, op: Op, x: Array) -> Array:
  return x.reshape(op.attrs["shape"]).copy()


@op("transpose")
def _transpose(m: Machine, op: Op, x: Array) -> Array:
  return x.transpose(op.attrs["permutation"]).copy()


@op("slice")
def _slice(m: Machine, op: Op, x: Array) -> Array:
  return x[tuple(map(slice, op.attrs["starts"], op.attrs["stops"], op.attrs["strides"]))].copy()


@op("pad")
def _pad(m: Machine, op: Op, x: Array, fill: Array) -> Array:
  return np.asarray(jax.lax.pad(x, fill, list(zip(op.attrs["low"], op.attrs["high"], op.attrs["interior"]))))


@op("concatenate")
def _concatenate(m: Machine, op: Op, *xs: Array) -> Array:
  return np.concatenate(xs, op.attrs["axis"])


@op("layout_cast")
def _layout_cast(m: Machine, op: Op, x: Array) -> Array:
  return x


@op("reverse")
def _reverse(m: Machine, op: Op, x: Array) -> Array:
  return np.array(np.flip(x, tuple(op.attrs["axes"])))


def _clamped(starts: Sequence[Array], sizes: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
  at = [min(max(int(s), 0), d - n) for s, n, d in zip(starts, sizes, shape)]
  return tuple(slice(s, s + n) for s, n in zip(at, sizes))


@op("dynamic_slice")
def _dynamic_slice(m: Machine, op: Op, x: Array, *starts: Array) -> Array:
  return x[_clamped(starts, op.attrs["sizes"], x.shape)].copy()


@op("dynamic_update_slice")
def _dynamic_update_slice(m: Machine, op: Op, x: Array, update: Array, *starts: Array) -> Array:
  out = x.copy()
  out[_clamped(starts, update.shape, x.shape)] = update
  return out


# --- combining elements ------------------------------------------------------------------------------------------

_REDUCE: dict[str, Any] = {
  **{"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum},
  **{"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor},
}


def _accumulator(x: Array) -> Array:
  return x.astype(np.float32) if is_float(x.dtype) and x.dtype.itemsize < 4 else x


@op("reduce")
def _reduce(m: Machine, op: Op, x: Array) -> Array:
  f = _REDUCE[op.attrs["kind"]]
  return np.asarray(f.reduce(_accumulator(x), axis=tuple(op.attrs["axes"]), dtype=_accumulator(x).dtype)).astype(
    x.dtype
  )


@op("arg_reduce")
def _arg_reduce(m: Machine, op: Op, x: Array) -> Array:
  f = np.argmax if op.attrs["kind"] == "max" else np.argmin
  return np.asarray(f(x, op.attrs["axis"])).astype(op.attrs["dtype"])


@op("cumulative")
def _cumulative(m: Machine, op: Op, x: Array) -> Array:
  axis = op.attrs["axis"]
  source = np.flip(_accumulator(x), axis) if op.attrs["reverse"] else _accumulator(x)
  out = _REDUCE[op.attrs["kind"]].accumulate(source, axis, dtype=source.dtype)
  return (np.flip(out, axis) if op.attrs["reverse"] else out).astype(x.dtype)


@op("dot")
def _dot(m: Machine, op: Op, lhs: Array, rhs: Array) -> Array:
  dimensions = (op.attrs["contract"], op.attrs["batch"])
  exact = np.int64 if is_integer(lhs.dtype) else np.float64
  with jax.enable_x64(True):
    return np.asarray(jax.lax.dot_general(lhs.astype(exact), rhs.astype(exact), dimensions)).astype(op.attrs["dtype"])


# --- memory ------------------------------------------------------------------------------------------------------


def _window(op: Op, ref: Array, starts: Sequence[Array]) -> tuple[Any, ...]:
  """The elements along each dimension, some of which may not exist."""
  sizes, steps = op.attrs["sizes"], op.attrs["steps"]
  return tuple(int(s) + np.arange(n) * t for s, n, t in zip(starts, sizes, steps))


@op("subview")
def _subview(m: Machine, op: Op, ref: Array, *starts: Array) -> Array:
  index: list[Any] = []
  for axis, places in enumerate(_window(op, ref, starts)):
    assert places.size == 0 or (places[0] >= 0 and places[-1] < ref.shape[axis]), "a view outside of its ref"
    first, step = int(starts[axis]), op.attrs["steps"][axis]
    index.append(first if axis in op.attrs["dropped"] else slice(first, first + len(places) * step, step))
  return ref[(*index, ...)]


@op("reshape_ref")
def _reshape_ref(m: Machine, op: Op, ref: Array) -> Array:
  view = ref.view()
  view.shape = tuple(op.attrs["shape"])  # fails rather than copies
  return view


@op("transpose_ref")
def _transpose_ref(m: Machine, op: Op, ref: Array) -> Array:
  return ref.transpose(op.attrs["permutation"])


@op("bitcast_ref")
def _bitcast_ref(m: Machine, op: Op, ref: Array) -> Array:
  return ref.view(op.attrs["dtype"])


@op("alloc")
def _alloc(m: Machine, op: Op) -> Array:
  return poison(op.attrs["shape"], np.dtype(op.attrs["dtype"]))


@op("load")
def _load(m: Machine, op: Op, ref: Array) -> Array:
  return ref.copy()


@op("store")
def _store(m: Machine, op: Op, ref: Array, value: Array) -> None:
  ref[...] = value


@op("copy")
def _copy(m: Machine, op: Op, source: Array, target: Array) -> None:
  target[...] = source.copy()


@op("window_load")
def _window_load(m: Machine, op: Op, ref: Array, *starts: Array) -> Array:
  window = _window(op, ref, starts)
  out = poison(op.attrs["sizes"], ref.dtype)
  for i in np.ndindex(out.shape):
    place = tuple(int(w[k]) for w, k in zip(window, i))
    if all(0 <= p < d for p, d in zip(place, ref.shape)):
      out[i] = ref[place]
  return out.reshape(op.result.type.shape)


@op("window_store")
def _window_store(m: Machine, op: Op, ref: Array, value: Array, *starts: Array) -> None:
  window, source = _window(op, ref, starts), value.reshape(op.attrs["sizes"])
  for i in np.ndindex(source.shape):
    place = tuple(int(w[k]) for w, k in zip(window, i))
    if all(0 <= p < d for p, d in zip(place, ref.shape)):
      ref[place] = source[i]


# --- position, control, the world --------------------------------------------------------------------------------


@op("program_id")
def _program_id(m: Machine, op: Op) -> Array:
  return np.asarray(m.position[op.attrs["axis"]], np.int32)


@op("num_programs")
def _num_programs(m: Machine, op: Op) -> Array:
  return np.asarray(m.grid[op.attrs["axis"]], np.int32)


@op("for")
def _for(m: Machine, op: Op, lower: Array, upper: Array, *carried: Array) -> list[Array]:
  state = list(carried)
  for i in range(int(lower), int(upper)):
    state = m.block(op.blocks[0], np.asarray(i, lower.dtype), *state)
  return state


@op("while")
def _while(m: Machine, op: Op, *carried: Array) -> list[Array]:
  state = list(carried)
  while m.block(op.blocks[0], *state)[0]:
    state = m.block(op.blocks[1], *state)
  return state


@op("switch")
def _switch(m: Machine, op: Op, index: Array) -> list[Array]:
  return m.block(op.blocks[min(max(int(index), 0), len(op.blocks) - 1)])


@op("print")
def _print(m: Machine, op: Op, *values: Array) -> None:
  m.printed.append((op.attrs, values))


def arguments(function: Function, seed: int = 0) -> list[Array]:
  """Memory for each parameter of a function, filled with small numbers."""
  random = np.random.default_rng(seed)
  made = []
  for p in function.params:
    assert isinstance(p.type, RefType | TileType)
    values = random.integers(-8, 8, p.type.shape)
    made.append(np.asarray(np.abs(values) if np.dtype(p.type.dtype).kind == "u" else values).astype(p.type.dtype))
  return made


def same(a: Array, b: Array) -> bool:
  """Equal to the bit, but for which NaN a NaN is."""
  if a.dtype != b.dtype or a.shape != b.shape:
    return False
  if is_float(a.dtype):
    nan = np.isnan(a)
    return bool(np.array_equal(nan, np.isnan(b)) and a[~nan].tobytes() == b[~nan].tobytes())
  return a.tobytes() == b.tobytes()

"""The rewrite rules: identities that hold exactly, for every value of the type.

Floats keep their signed zeros, NaNs and roundings: `x + 0.0` stays (it turns -0.0 into 0.0), `x * 1.0` goes. Integers wrap, so
sums and products of constants may be regrouped. A tile that repeats one known element counts as that constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np

from tilewright.tile.folding import fold, holds_all, wrap
from tilewright.tile.formats import computed_in, is_small_integer, small_float
from tilewright.tile.ir import Block, Op, Value
from tilewright.tile.literal import bits, is_float, is_integer
from tilewright.tile.ops import BINARY, COMPARE, UNARY
from tilewright.tile.rewrite import Rewriter, Rule
from tilewright.tile.types import RefType, TileType

RULES: dict[str, list[Rule]] = {}
Found = Sequence[Value] | None


def rule(*names: str) -> Callable[[Rule], Rule]:
  """Add a row for each op name. Rules of one op are tried in the order of this file."""

  def add(f: Rule) -> Rule:
    for name in names:
      RULES.setdefault(name, []).append(f)
    return f

  return add


def _tile(value: Value) -> TileType:
  assert isinstance(value.type, TileType)
  return value.type


# --- known values ------------------------------------------------------------------------------------------------


@rule(*UNARY, *BINARY, *COMPARE, "is_finite", "integer_pow", "convert", "bitcast")
def fold_constants(rw: Rewriter, op: Op) -> Found:
  args = [rw.splat(v) for v in op.operands]
  known = [a for a in args if a is not None]
  value = fold(op.name, known, op.attrs) if len(known) == len(args) else None
  return None if value is None else [rw.constant(value, _tile(op.result))]


@rule("select")
def select_known(rw: Rewriter, op: Op) -> Found:
  condition, a, b = op.operands
  if a is b:
    return [a]
  known = rw.splat(condition)
  if known is not None:
    return [a if known else b]
  if (negated := rw.made_by(condition, "not")) is not None:
    return [rw.emit("select", [negated.operands[0], b, a])]
  return None


@rule("lt", "le", "gt", "ge", "eq", "ne")
def compare_ranges(rw: Rewriter, op: Op) -> Found:
  """A comparison that the ranges of both sides decide: a loop's index is never negative, and a mask of rows in bounds is true."""
  a, b = (rw.bounds.of_elements(v) for v in op.operands)
  if a is None or b is None:
    return None
  if op.name in ("gt", "ge"):
    a, b = b, a
  match op.name:
    case "lt" | "gt":
      always, never = a.high < b.low, a.low >= b.high
    case "le" | "ge":
      always, never = a.high <= b.low, a.low > b.high
    case _:
      apart, one = a.high < b.low or b.high < a.low, a.low == a.high == b.low == b.high
      always, never = (one, apart) if op.name == "eq" else (apart, one)
  return [rw.constant(np.asarray(always), _tile(op.result))] if always or never else None


@rule("lt", "ge")
def places_inside(rw: Rewriter, op: Op) -> Found:
  """Places that all lie before the end of an array, `start + iota < size`, or behind its begin, where the op stands."""
  if _tile(op.result).is_scalar:
    return None
  bounds = rw.bounds.inside(rw.blocks[op])
  places, limit = (bounds.of_elements(v) for v in op.operands)
  if places is None or limit is None:
    return None
  is_inside = places.high < limit.low if op.name == "lt" else places.low >= limit.high
  return [rw.constant(np.asarray(True), _tile(op.result))] if is_inside else None


@rule("and")
def rounds_down(rw: Rewriter, op: Op) -> Found:
  """`sign(x) != 1 and x % n != 0`, where a quotient is to be rounded down further, never holds of an x that is not negative."""
  for one, other in (op.operands, op.operands[::-1]):
    compared = [rw.made_by(v, "ne") for v in (one, other)]
    sign, rest = (None if c is None else rw.made_by(c.operands[0], n) for c, n in zip(compared, ("sign", "rem")))
    if sign is None or rest is None or sign.operands[0] is not rest.operands[0]:
      continue
    known = [rw.splat(c.operands[1]) for c in compared if c is not None]
    least = rw.bounds.of(sign.operands[0])
    if _is(known[0], 1) and _is(known[1], 0) and least is not None and least.low >= 0:
      return [rw.constant(np.asarray(False), _tile(op.result))]
  return None


@rule("program_id", "num_programs", "min", "max", "sign")
def known_position(rw: Rewriter, op: Op) -> Found:
  """Along a dimension of one instance, the size of a static grid, and what is computed from them and is invariant."""
  found = rw.bounds.of(op.result)
  if found is None or found.low != found.high:
    return None
  return [rw.constant(np.asarray(found.low), _tile(op.result))]


# --- identities --------------------------------------------------------------------------------------------------

_COMMUTATIVE = ("add", "mul", "and", "or", "xor", "max", "min")


def _is(value: np.ndarray | None, number: float) -> bool:
  """Whether a constant is this number; zeros must have the same sign."""
  if value is None or value.dtype.kind == "c":
    return False
  own = float(value)
  return own == number and np.signbit(own) == np.signbit(number)


@rule(*_COMMUTATIVE)
def constant_last(rw: Rewriter, op: Op) -> Found:
  """Canonicalise a constant to the right operand, so that the other rules match one form."""
  a, b = op.operands
  if rw.splat(a) is None or rw.splat(b) is not None:
    return None
  return [rw.emit(op.name, [b, a])]


@rule("add", "sub", "mul", "div", "and", "or", "xor", "shl", "shr_logical", "shr_arithmetic")
def neutral_element(rw: Rewriter, op: Op) -> Found:
  x, y = op.operands
  c, dtype = rw.splat(y), _tile(x).dtype
  if is_float(dtype):
    # x - 0.0 and x + -0.0 are x for both zeros; x + 0.0 is not.
    same = {"add": _is(c, -0.0), "sub": _is(c, 0.0), "mul": _is(c, 1.0), "div": _is(c, 1.0)}.get(op.name, False)
  elif is_integer(dtype) or dtype == np.bool_:
    if op.name in ("mul", "div"):
      same = is_integer(dtype) and _is(c, 1)
    elif op.name == "and":
      same = c is not None and int(c) == (1 if dtype == np.bool_ else int(wrap(-1, dtype)))
    else:
      same = _is(c, 0)
  else:
    same = False
  return [x] if same else None


@rule("mul", "and")
def integer_zero(rw: Rewriter, op: Op) -> Found:
  dtype = _tile(op.operands[0]).dtype
  zero = (is_integer(dtype) or dtype == np.bool_) and _is(rw.splat(op.operands[1]), 0)
  return [op.operands[1]] if zero else None


@rule("sub", "xor")
def integer_with_itself(rw: Rewriter, op: Op) -> Found:
  dtype = _tile(op.operands[0]).dtype
  if op.operands[0] is not op.operands[1] or not (is_integer(dtype) or dtype == np.bool_):
    return None
  return [rw.constant(np.zeros((), dtype), _tile(op.result))]


@rule("and", "or", "max", "min")
def idempotent(rw: Rewriter, op: Op) -> Found:
  return [op.operands[0]] if op.operands[0] is op.operands[1] and _tile(op.result).dtype.kind != "c" else None


@rule("neg", "not")
def involution(rw: Rewriter, op: Op) -> Found:
  inner = rw.made_by(op.operands[0], op.name)
  return None if inner is None else [inner.operands[0]]


@rule("integer_pow")
def first_power(rw: Rewriter, op: Op) -> Found:
  return [op.operands[0]] if op.attrs["y"] == 1 else None


@rule("add", "sub", "mul")
def integer_chain(rw: Rewriter, op: Op) -> Found:
  """(x + a) + b = x + (a + b), and so on: wrapping integers are a ring."""
  x, last = op.operands[0], rw.splat(op.operands[1])
  ty = _tile(op.result)
  if last is None or not is_integer(ty.dtype):
    return None
  b = int(last)
  if op.name == "mul":
    if (inner := rw.made_by(x, "mul")) is None or (a := rw.splat(inner.operands[1])) is None:
      return None
    return [rw.emit("mul", [inner.operands[0], rw.constant(wrap(int(a) * b, ty.dtype), ty)])]
  if (inner := rw.made_by(x, "add", "sub")) is None:
    return None
  offset = b if op.name == "add" else -b
  left, right = (rw.splat(v) for v in inner.operands)
  if right is not None:  # (x ± a) ± b
    total = offset + (int(right) if inner.name == "add" else -int(right))
    return [rw.emit("add", [inner.operands[0], rw.constant(wrap(total, ty.dtype), ty)])]
  if left is not None and inner.name == "sub":  # (a - x) ± b
    return [rw.emit("sub", [rw.constant(wrap(int(left) + offset, ty.dtype), ty), inner.operands[1]])]
  return None


# --- conversions -------------------------------------------------------------------------------------------------


@rule("convert", "bitcast")
def to_own_dtype(rw: Rewriter, op: Op) -> Found:
  return [op.operands[0]] if op.operands[0].type == op.result.type else None


@rule("convert")
def lossless_round_trip(rw: Rewriter, op: Op) -> Found:
  """A conversion through a dtype that holds every value of the first."""
  inner = rw.made_by(op.operands[0], "convert")
  if inner is None:
    return None
  first, middle, last = (_tile(v).dtype for v in (inner.operands[0], inner.result, op.result))
  if first == last and holds_all(middle, first):
    return [inner.operands[0]]
  widening = holds_all(middle, first) and holds_all(last, middle)
  integers = all(is_integer(d) for d in (first, middle, last)) and bits(last) <= bits(middle)
  return [rw.emit("convert", [inner.operands[0]], dtype=last)] if widening or integers else None


@rule("bitcast")
def bitcast_of_bitcast(rw: Rewriter, op: Op) -> Found:
  inner = rw.made_by(op.operands[0], "bitcast")
  return None if inner is None else [rw.emit("bitcast", [inner.operands[0]], dtype=_tile(op.result).dtype)]


# Processors multiply these faster than the accumulator's dtype, and every product is exact.
_MULTIPLIED_AS = {np.dtype(np.float32): np.dtype(ml_dtypes.bfloat16), np.dtype(np.int32): np.dtype(np.int8)}


@rule("dot")
def product_of_narrow_numbers(rw: Rewriter, op: Op) -> Found:
  """A contraction of widened operands: the narrow operands are multiplied directly, with the same accumulator."""
  narrow = _MULTIPLIED_AS.get(np.dtype(op.attrs["dtype"]))
  inner = [rw.made_by(v, "convert") for v in op.operands]
  if narrow is None or any(_tile(v).dtype != op.attrs["dtype"] for v in op.operands):
    return None
  sources = [c.operands[0] for c in inner if c is not None and _fits(_tile(c.operands[0]).dtype, narrow)]
  if len(sources) < 2:
    return None
  args = [v if _tile(v).dtype == narrow else rw.emit("convert", [v], dtype=narrow) for v in sources]
  return [rw.emit("dot", args, **op.attrs)]


def _fits(source: np.dtype, narrow: np.dtype) -> bool:
  """Whether a dtype is `narrow`, or a narrower one all of whose values it holds."""
  small = small_float(source) is not None and computed_in(source) == np.float32 and is_float(narrow)
  return source == narrow or small or (is_small_integer(source) and is_integer(narrow))


# --- shapes ------------------------------------------------------------------------------------------------------


@rule("reshape", "broadcast")
def same_shape(rw: Rewriter, op: Op) -> Found:
  """Same type, and dims that increase: nothing is repeated."""
  return [op.operands[0]] if op.operands[0].type == op.result.type else None


@rule("reshape")
def reshape_of_reshape(rw: Rewriter, op: Op) -> Found:
  inner = rw.made_by(op.operands[0], "reshape")
  return None if inner is None else [rw.emit("reshape", [inner.operands[0]], shape=tuple(op.attrs["shape"]))]


@rule("transpose")
def transpose_of_transpose(rw: Rewriter, op: Op) -> Found:
  perm = tuple(op.attrs["permutation"])
  if perm == tuple(range(len(perm))):
    return [op.operands[0]]
  inner = rw.made_by(op.operands[0], "transpose")
  if inner is None:
    return None
  first = tuple(inner.attrs["permutation"])
  return [rw.emit("transpose", [inner.operands[0]], permutation=tuple(first[p] for p in perm))]


@rule("broadcast")
def broadcast_of_broadcast(rw: Rewriter, op: Op) -> Found:
  inner = rw.made_by(op.operands[0], "broadcast")
  if inner is None:
    return None
  dims = tuple(op.attrs["dims"][d] for d in inner.attrs["dims"])
  return [rw.emit("broadcast", [inner.operands[0]], shape=tuple(op.attrs["shape"]), dims=dims)]


@rule("reshape", "transpose", "slice", "reverse")
def move_of_splat(rw: Rewriter, op: Op) -> Found:
  """However equal elements are moved, they stay equal."""
  known = rw.splat(op.operands[0])
  return None if known is None else [rw.constant(known, _tile(op.result))]


@rule("slice")
def whole_slice(rw: Rewriter, op: Op) -> Found:
  return [op.operands[0]] if op.operands[0].type == op.result.type else None


@rule("slice")
def slice_of_slice(rw: Rewriter, op: Op) -> Found:
  inner = rw.made_by(op.operands[0], "slice")
  if inner is None or 0 in _tile(op.result).shape:
    return None
  starts, stops, strides = [], [], []
  for axis, size in enumerate(_tile(op.result).shape):
    step = inner.attrs["strides"][axis] * op.attrs["strides"][axis]
    start = inner.attrs["starts"][axis] + op.attrs["starts"][axis] * inner.attrs["strides"][axis]
    starts.append(start)
    stops.append(start + (size - 1) * step + 1)
    strides.append(step)
  attrs = {"starts": tuple(starts), "stops": tuple(stops), "strides": tuple(strides)}
  return [rw.emit("slice", [inner.operands[0]], **attrs)]


@rule("reverse")
def reverse_of_reverse(rw: Rewriter, op: Op) -> Found:
  if not op.attrs["axes"]:
    return [op.operands[0]]
  inner = rw.made_by(op.operands[0], "reverse")
  if inner is None:
    return None
  axes = tuple(sorted(set(op.attrs["axes"]) ^ set(inner.attrs["axes"])))
  return [rw.emit("reverse", [inner.operands[0]], axes=axes)]


@rule("concatenate")
def one_part(rw: Rewriter, op: Op) -> Found:
  return [op.operands[0]] if len(op.operands) == 1 else None


# --- memory and control ------------------------------------------------------------------------------------------


@rule("window_load", "window_store")
def window_inside(rw: Rewriter, op: Op) -> Found:
  """A window that surely lies inside of its ref is a view of it, with no edge to check."""
  ref, first = op.operands[0], 2 if op.name == "window_store" else 1
  assert isinstance(ref.type, RefType)
  bounds = rw.bounds.inside(rw.blocks[op])
  for axis, start in enumerate(op.operands[first:]):
    span = (op.attrs["sizes"][axis] - 1) * op.attrs["steps"][axis]
    at = bounds.of(start)
    if at is None or at.low < 0 or at.high + span >= ref.type.shape[axis]:
      return None
  attrs = {key: op.attrs[key] for key in ("sizes", "steps", "dropped")}
  view = rw.emit("subview", [ref, *op.operands[first:]], **attrs)
  if op.name == "window_load":
    return [rw.emit("load", [view])]
  rw.emit_all("store", [view, op.operands[1]])
  return []


@rule("check")
def check_holds(rw: Rewriter, op: Op) -> Found:
  """A condition that is known to hold needs no check."""
  return [] if _is(rw.splat(op.operands[0]), 1) else None


@rule("switch")
def known_case(rw: Rewriter, op: Op) -> Found:
  index = rw.splat(op.operands[0])
  if index is None and len(op.blocks) > 1:
    return None
  chosen = 0 if index is None else min(max(int(index), 0), len(op.blocks) - 1)
  return rw.inline(op.blocks[chosen], [])


@rule("for")
def few_rounds(rw: Rewriter, op: Op) -> Found:
  """A loop of zero iterations yields its initial values; one of a single iteration is inlined."""
  lower, upper = (rw.splat(v) for v in op.operands[:2])
  if lower is None or upper is None:
    return None
  rounds = int(upper) - int(lower)
  if rounds <= 0:
    return op.operands[2:]
  return rw.inline(op.blocks[0], [op.operands[0], *op.operands[2:]]) if rounds == 1 else None


@rule("for")
def carried_unchanged(rw: Rewriter, op: Op) -> Found:
  """A carried value that every iteration passes on unchanged is its initial value; one that counts along is the index."""
  (body,) = op.blocks
  changed = False
  for start, param, after, result in zip(op.operands[2:], body.params[1:], body.yielded, op.results):
    if not rw.users.get(param):
      continue
    if after is param:
      rw.replace(param, start)
      rw.replace(result, start)
    elif _counts(rw, start, op.operands[0], param, after, body):
      rw.replace(param, body.params[0])
    else:
      continue
    changed = True
  return op.results if changed else None


def _counts(rw: Rewriter, start: Value, lower: Value, param: Value, after: Value, body: Block) -> bool:
  """Whether a carried value starts at the lower bound and is incremented by one each iteration."""
  step = rw.made_by(after, "add")
  if step is None or step.operands[0] is not param or param.type != body.params[0].type:
    return False
  first, begin = rw.splat(start), rw.splat(lower)
  same = start is lower or (first is not None and begin is not None and int(first) == int(begin))
  return same and _is(rw.splat(step.operands[1]), 1)


from tilewright.tile import gathers_to_slices as _neighbours  # noqa: E402, F401  the rows for gathers and scatters of gathers_to_slices

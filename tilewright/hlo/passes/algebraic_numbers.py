"""Arithmetic identities, as rows of (pattern, rewrite): chains of constants, order, powers of two, and XLA's inexact float rules.

`RULES` are exact, bit for bit. Integers wrap around, so they obey the laws of a ring: constants of a chain are combined, common
factors are factored out, and signs move. For floats only signs move: a + (-b) is a - b by definition.

`INEXACT` are the rows that XLA applies too and that round differently, or lose the sign of a zero: x + 0 → x keeps a -0
that would become 0, x² is rounded once where a power function rounds differently, exp(a) · exp(b) → exp(a + b) rounds at another point.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Instruction
from tilewright.hlo.passes.patterns import Match, Rule, is_float, is_integer, is_plain, splat

_INVERSE = {"EQ": "NE", "NE": "EQ", "LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}
_JOINED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
  "add": np.add,
  "multiply": np.multiply,
  "and": np.bitwise_and,
  "or": np.bitwise_or,
  "xor": np.bitwise_xor,
  "maximum": np.maximum,
  "minimum": np.minimum,
}


def _number(instruction: Instruction) -> bool:
  return splat(instruction) is not None


def _float_splat(value: float) -> Callable[[Instruction], bool]:
  return lambda i: is_float(i) and _number(i) and float(splat(i)) == value


def _joined_constants(of: Callable[[Instruction], bool]) -> Callable[[Match], Instruction | None]:
  def rewrite(m: Match) -> Instruction | None:
    if not of(m.root) or not is_plain(m.root) or _number(m["x"]):
      return None
    with np.errstate(all="ignore"):
      value = _JOINED[m.root.opcode](np.asarray(splat(m["c"])), np.asarray(splat(m["d"])))
    return m.new(m.root.opcode, (m["x"], m.constant(value.astype(m.root.shape.dtype))))

  return rewrite


def _chain(opcode: str, of: Callable[[Instruction], bool], label: str) -> Rule:
  """op(op(x, c), d) → op(x, op(c, d))."""

  def rewrite(m: Match) -> Instruction | None:
    inner, last = m.root.operands if _number(m.root.operands[1]) else m.root.operands[::-1]
    if inner.opcode != opcode or not _number(last) or inner.user_count != 1:
      return None
    x, c = inner.operands if _number(inner.operands[1]) else inner.operands[::-1]
    if not _number(c):
      return None
    m.bound.update(x=x, c=c, d=last)
    return _joined_constants(of)(m)

  return Rule(f"{opcode} of constants, {label}", (opcode, ...), rewrite)


def _integer_or_bool(i: Instruction) -> bool:
  return is_integer(i) or i.shape.kind == "pred"


def _of(opcode: str, *operands: str) -> Callable[[Match], Instruction | None]:
  return lambda m: m.new(opcode, [m[o] for o in operands])


def _negate(m: Match) -> Instruction | None:
  return m.new("negate", (m["x"],)) if is_integer(m.root) else None


def _add_negative(m: Match) -> Instruction | None:
  value = splat(m["c"])
  if value is None or _number(m["x"]) or not is_plain(m.root) or not (is_integer(m.root) or is_float(m.root)):
    return None
  if not value or m.root.shape.element_type not in ("s8", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"):
    return None
  with np.errstate(all="ignore"):
    return m.new("add", (m["x"], m.constant(-np.asarray(value))))


def _factored(m: Match) -> Instruction | None:
  """a · c + b · c → (a + b) · c"""
  left, right = m.root.operands
  if not is_integer(m.root) or left is right or left.user_count != 1 or right.user_count != 1:
    return None
  for common in left.operands:
    if common in right.operands:
      a = left.operands[1] if left.operands[0] is common else left.operands[0]
      b = right.operands[1] if right.operands[0] is common else right.operands[0]
      return m.new("multiply", (m.new(m.root.opcode, (a, b)), common))
  return None


def _inverse_compare(m: Match) -> Instruction | None:
  (compare,) = m.root.operands
  direction, kind = compare.attrs["direction"], compare.operands[0].shape.kind
  if compare.user_count != 1 or (kind in ("float", "complex") and direction not in ("EQ", "NE")):
    return None
  return m.new("compare", compare.operands, **{**compare.attrs, "direction": _INVERSE[direction]})


def _unsigned_order(m: Match) -> Instruction | None:
  """No unsigned number is below 0, and all are at least 0."""
  x, y = m.root.operands
  if x.shape.kind != "unsigned" or not is_plain(m.root):
    return None
  direction = m.root.attrs["direction"]
  if _number(y) and not int(splat(y)) and direction in ("LT", "GE"):
    return m.constant(direction == "GE")
  if _number(x) and not int(splat(x)) and direction in ("GT", "LE"):
    return m.constant(direction == "LE")
  return None


def _clamped(m: Match) -> Instruction | None:
  low, high = splat(m["low"]), splat(m["high"])
  if low is None or high is None or not is_integer(m.root) or int(low) > int(high):
    return None
  return m.new("clamp", (m["low"], m["x"], m["high"]))


def _of_extreme(m: Match) -> Instruction | None:
  if not is_integer(m.root) or not _number(m["c"]):
    return None
  bits, signed = PRIMITIVE_TYPES[m.root.shape.element_type].bits, m.root.shape.kind == "signed"
  least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
  neutral, winner = (least, most) if m.root.opcode == "maximum" else (most, least)
  value = int(splat(m["c"]))
  if value == neutral and m["x"].shape == m.root.shape:
    return m["x"]
  return m["c"] if value == winner and m["c"].shape == m.root.shape and m["c"] is not m["x"] else None


def _chosen_extreme(m: Match) -> Instruction | None:
  """select(a > b, a, b) is the larger one; floats have NaN and two zeros."""
  condition, a, b = m.root.operands
  if not is_integer(a) or condition.shape.dimensions != m.root.shape.dimensions:
    return None
  direction = condition.attrs["direction"]
  if condition.operands == (b, a):
    direction = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}.get(direction, "")
  elif condition.operands != (a, b):
    return None
  opcode = {"GT": "maximum", "GE": "maximum", "LT": "minimum", "LE": "minimum"}.get(direction)
  return m.new(opcode, (a, b)) if opcode else None


def _chosen_bool(m: Match) -> Instruction | None:
  condition, a, b = m.root.operands
  if m.root.shape.kind != "pred" or condition.shape != m.root.shape:
    return None
  first, second = (None if not _number(o) else bool(splat(o)) for o in (a, b))
  if first is False and second is True:
    return m.new("not", (condition,))
  if second is False:
    return m.new("and", (condition, a))
  return m.new("or", (condition, b)) if first is True else None


def _power_of_two(i: Instruction) -> int | None:
  value = int(splat(i)) if i.shape.kind == "unsigned" and _number(i) else 0
  return value.bit_length() - 1 if value > 1 and not value & (value - 1) else None


def _shifted(m: Match) -> Instruction | None:
  exponent = _power_of_two(m["c"])
  return (
    m.new("shift-right-logical", (m["x"], m.constant(exponent))) if exponent is not None and is_plain(m.root) else None
  )


def _masked(m: Match) -> Instruction | None:
  exponent = _power_of_two(m["c"])
  return m.new("and", (m["x"], m.constant((1 << exponent) - 1))) if exponent is not None and is_plain(m.root) else None


def _small_iota(m: Match) -> Instruction | None:
  """The remainder of numbers that are all smaller than the divisor."""
  iota = m.root.operands[0]
  value = splat(m["c"])
  if value is None or not is_integer(m.root) or iota.shape != m.root.shape:
    return None
  return iota if int(value) >= iota.shape.dimensions[iota.attrs["iota_dimension"]] else None


def _square_is_positive(m: Match) -> Instruction | None:
  return m.root.operands[0] if is_float(m.root) and m.root.operands[0].shape == m.root.shape else None


def _cast_of_cast(m: Match) -> Instruction | None:
  if m["x"].shape == m.root.shape:
    return m["x"]
  return m.new("bitcast-convert", (m["x"],)) if is_plain(m.root, m["x"]) else None


_PRECISION = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def _full_precision(m: Match) -> Instruction | None:
  own = m.root.attrs["exponent_bits"], m.root.attrs["mantissa_bits"]
  x = m.root.operands[0]
  return x if _PRECISION.get(x.shape.element_type) == own and x.shape == m.root.shape else None


RULES: list[Rule] = [
  *(_chain(op, is_integer, "integers") for op in ("add", "multiply", "maximum", "minimum")),
  *(_chain(op, _integer_or_bool, "bits") for op in ("and", "or", "xor")),
  Rule("a + (-b)", ("add", "a", ("negate", "b")), _of("subtract", "a", "b")),
  Rule("a - (-b)", ("subtract", "a", ("negate", "b")), _of("add", "a", "b")),
  Rule("0 - x", ("subtract", lambda i: is_integer(i) and _number(i) and not int(splat(i)), "x"), _negate),
  Rule("x - constant", ("subtract", "x", "c"), _add_negative),
  Rule(
    "x · (-1)",
    ("multiply", "x", lambda i: i.shape.kind in ("signed", "float") and _number(i) and float(splat(i)) == -1),
    _of("negate", "x"),
  ),
  Rule("a · c + b · c", ("add", ("multiply", "a", "b"), ("multiply", "c", "d")), _factored),
  Rule("a · c - b · c", ("subtract", ("multiply", "a", "b"), ("multiply", "c", "d")), _factored),
  Rule("x ^ 0", ("power", "x", _float_splat(0)), lambda m: m.constant(1) if is_plain(m.root) else None),
  Rule("¬(a < b)", ("not", ("compare", "a", "b")), _inverse_compare),
  Rule("unsigned < 0", ("compare", "x", "y"), _unsigned_order),
  Rule("min(max(x, low), high)", ("minimum", ("maximum", "x", "low"), "high"), _clamped),
  Rule("max of the least", ("maximum", "x", "c"), _of_extreme),
  Rule("min of the most", ("minimum", "x", "c"), _of_extreme),
  Rule("a > b ? a : b", ("select", ("compare", "x", "y"), "a", "b"), _chosen_extreme),
  Rule("c ? a : false", ("select", "c", "a", "b"), _chosen_bool),
  Rule("unsigned / 2^n", ("divide", "x", "c"), _shifted),
  Rule("unsigned mod 2^n", ("remainder", "x", "c"), _masked),
  Rule("iota mod more", ("remainder", ("iota",), "c"), _small_iota),
  Rule("|x · x|", ("abs", ("multiply", "x", "x")), _square_is_positive),
  Rule("bits as themselves", ("bitcast-convert", "x"), lambda m: m["x"] if m["x"].shape == m.root.shape else None),
  Rule("bits there and back", ("bitcast-convert", ("bitcast-convert", "x")), _cast_of_cast),
  Rule("full precision", ("reduce-precision", "x"), _full_precision),
]


def _inexact(rewrite: Callable[[Match], Instruction | None]) -> Callable[[Match], Instruction | None]:
  return lambda m: rewrite(m) if is_float(m.root) and is_plain(m.root) else None


def _by_number(m: Match) -> Instruction | None:
  """x / c → x · (1 / c)"""
  value = splat(m["c"])
  if value is None or not np.isfinite(float(value)) or not float(value) or _number(m["x"]):
    return None
  return m.new("multiply", (m["x"], m.constant(1.0 / float(value))))


def _nested(*plan: str) -> Callable[[Match], Instruction | None]:
  """An instruction from names and opcodes in postfix order: `a b add exponential`."""
  arity = {"exponential": 1, "negate": 1, "sqrt": 1, "rsqrt": 1, "log": 1, "abs": 1}

  def rewrite(m: Match) -> Instruction | None:
    stack: list[Instruction] = []
    for word in plan:
      if word in m.bound:
        stack.append(m[word])
      elif word == "one":
        stack.append(m.constant(1))
      else:
        count = arity.get(word, 2)
        stack[-count:] = [m.new(word, stack[-count:])]
    return stack[0]

  return _inexact(rewrite)


INEXACT: list[Rule] = [
  Rule("x + 0, any zero", ("add", "x", _float_splat(0)), lambda m: m["x"] if m["x"].shape == m.root.shape else None),
  Rule(
    "x - 0, any zero", ("subtract", "x", _float_splat(0)), lambda m: m["x"] if m["x"].shape == m.root.shape else None
  ),
  Rule("0 - x, any zero", ("subtract", _float_splat(0), "x"), _nested("x", "negate")),
  *(_chain(op, is_float, "floats") for op in ("add", "multiply")),
  Rule("x / constant", ("divide", "x", "c"), _inexact(_by_number)),
  Rule("x ^ 2", ("power", "x", _float_splat(2)), _nested("x", "x", "multiply")),
  Rule("x ^ -1", ("power", "x", _float_splat(-1)), _nested("one", "x", "divide")),
  Rule("x ^ 0.5", ("power", "x", _float_splat(0.5)), _nested("x", "sqrt")),
  Rule("x ^ -0.5", ("power", "x", _float_splat(-0.5)), _nested("x", "rsqrt")),
  Rule("log exp x", ("log", ("exponential", "x")), lambda m: m["x"] if m["x"].shape == m.root.shape else None),
  Rule("log x^y", ("log", ("power", "x", "y")), _nested("x", "log", "y", "multiply")),
  Rule(
    "exp a · exp b", ("multiply", ("exponential", "a"), ("exponential", "b")), _nested("a", "b", "add", "exponential")
  ),
  Rule("a / exp b", ("divide", "a", ("exponential", "b")), _nested("a", "b", "negate", "exponential", "multiply")),
  Rule("(exp a)^b", ("power", ("exponential", "a"), "b"), _nested("a", "b", "multiply", "exponential")),
  Rule("a / sqrt b", ("divide", "a", ("sqrt", "b")), _nested("a", "b", "rsqrt", "multiply")),
  Rule(
    "√x · √x", ("multiply", ("sqrt", "x"), ("sqrt", "x")), lambda m: m["x"] if m["x"].shape == m.root.shape else None
  ),
  Rule("(a / b) / c", ("divide", ("divide", "a", "b"), "c"), _nested("a", "b", "c", "multiply", "divide")),
  Rule("a / (b / c)", ("divide", "a", ("divide", "b", "c")), _nested("a", "c", "multiply", "b", "divide")),
]

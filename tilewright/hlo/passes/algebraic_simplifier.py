"""Algebraic identities, as tables of (pattern, rewrite): here, in `algebraic_numbers.py` and in `algebraic_shapes.py`.

Every row is exact, bit for bit; `exact=false` adds those of XLA's that are not. Precondition: static shapes; a value stands for
another only if their shapes agree with layout; instructions with control edges, a sharding of their own, and the insides of
fusions are left alone. Proof: row by row, below.

Floats obey fewer laws than numbers do, and only those are used here. x + (-0) is x for every x, but x + 0 is not: -0 + 0 = 0.
x · 0 is not 0 for infinities and NaN; x - x is not 0 and x / x is not 1 for those either. x · 1, x / 1 and x - 0 are x. Division by a
power of two is multiplication by its inverse where the inverse is normal. HLO does not define signs and payloads of NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes import algebraic_numbers, algebraic_shapes
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.patterns import HOLDS, Match, Rule, is_float, is_integer, is_plain, rewrite_module, splat
from tilewright.hlo.values import SliceDim


@register_pass("algebraic_simplifier")
@dataclass(frozen=True)
class AlgebraicSimplifier(Pass):
  """Applies algebraic identities, by default those that are exact to the bit."""

  exact: bool = True  # otherwise also rows that round floats differently or lose the sign of a zero, as XLA's pass does

  def run(self, module: Module) -> bool:
    changed = algebraic_shapes.fill_empty(module)
    changed |= algebraic_shapes.narrow_barriers(module)
    rules = RULES if self.exact else [*RULES, *algebraic_numbers.INEXACT, *algebraic_shapes.INEXACT]
    return rewrite_module(module, rules) or changed


# Conditions.


def _is(value: float, *, sign: int = 0) -> Callable[[Instruction], bool]:
  """An integer or float whose every element is `value`; of a float zero, with this sign (1 or -1)."""

  def holds(instruction: Instruction) -> bool:
    found = splat(instruction)
    if found is None or instruction.shape.kind not in ("signed", "unsigned", "float"):
      return False
    number = float(found)
    return number == value and (value != 0 or is_integer(instruction) or math.copysign(1, number) == sign)

  return holds


def _integer(value: int) -> Callable[[Instruction], bool]:
  return lambda i: is_integer(i) and splat(i) is not None and int(splat(i)) == value


def _no_bits(i: Instruction) -> bool:
  value = splat(i)
  return value is not None and (i.shape.kind == "pred" or is_integer(i)) and not int(value)


def _all_bits(i: Instruction) -> bool:
  value = splat(i)
  if value is None or not (i.shape.kind == "pred" or is_integer(i)):
    return False
  bits = 1 if i.shape.kind == "pred" else PRIMITIVE_TYPES[i.shape.element_type].bits
  return int(value) in (-1, (1 << bits) - 1) if i.shape.kind != "pred" else bool(value)


def _true(i: Instruction) -> bool:
  return i.shape.kind == "pred" and splat(i) is not None and bool(splat(i))


def _false(i: Instruction) -> bool:
  return i.shape.kind == "pred" and splat(i) is not None and not bool(splat(i))


# Rewrites. Each returns None where the row does not apply after all.


def _take(name: str) -> Callable[[Match], Instruction | None]:
  """The bound value itself, if it has the same shape."""

  def rewrite(m: Match) -> Instruction | None:
    return m[name] if m[name].shape == m.root.shape and not m.root.shape.is_dynamic else None

  return rewrite


def _fill(
  value: int, condition: Callable[[Instruction], bool] = lambda _: True
) -> Callable[[Match], Instruction | None]:
  def rewrite(m: Match) -> Instruction | None:
    usable = condition(m.root) and is_plain(m.root)
    return m.constant(value) if usable else None

  return rewrite


def _bits_zero(m: Match) -> Instruction | None:
  return _fill(0)(m)


def _compare_self(m: Match) -> Instruction | None:
  if is_float(m["x"]) or m["x"].shape.kind == "complex":
    return None  # NaN differs from itself
  return _fill(int(m.root.attrs["direction"] in ("EQ", "LE", "GE")))(m)


def _compare_true(m: Match) -> Instruction | None:
  return _take("x")(m) if m.root.attrs["direction"] == "EQ" and m["x"].shape.kind == "pred" else None


def _compare_false(m: Match) -> Instruction | None:
  return _take("x")(m) if m.root.attrs["direction"] == "NE" and m["x"].shape.kind == "pred" else None


def _swap_select(m: Match) -> Instruction | None:
  if not m.root.shape.is_array:
    return None
  return m.new("select", (m["c"], m["b"], m["a"]))


def _same_type(m: Match) -> Instruction | None:
  return _take("x")(m) if m["x"].shape.element_type == m.root.shape.element_type else None


def _round_trip_convert(m: Match) -> Instruction | None:
  wide = m.root.operands[0].shape.element_type
  narrow = m["x"].shape.element_type
  return _take("x")(m) if narrow in HOLDS.get(wide, ()) else None


def _divide_by_power(m: Match) -> Instruction | None:
  divisor = splat(m.root.operands[1])
  if divisor is None or m.root.shape.element_type not in ("f16", "bf16", "f32", "f64") or not is_plain(m.root):
    return None
  number = float(divisor)
  mantissa, exponent = math.frexp(number) if math.isfinite(number) and number else (0.0, 0)
  # 2^-(e-1) must be normal, and so must its inverse: 14 covers f16, the narrowest of them.
  if abs(mantissa) != 0.5 or number == 1 or abs(exponent - 1) > 14:
    return None
  return m.new("multiply", (m["x"], m.constant(1.0 / number)))


def _reshape_of_reshape(m: Match) -> Instruction | None:
  return m.new("reshape", (m["x"],)) if is_plain(m.root, m.root.operands[0], m["x"]) else None


def _transpose_identity(m: Match) -> Instruction | None:
  return _take("x")(m) if m.root.attrs["dimensions"] == tuple(range(m.root.shape.rank)) else None


def _transpose_of_transpose(m: Match) -> Instruction | None:
  inner = m.root.operands[0]
  composed = tuple(inner.attrs["dimensions"][d] for d in m.root.attrs["dimensions"])
  if composed == tuple(sorted(composed)) and m["x"].shape == m.root.shape:
    return _take("x")(m)  # whatever the layout between
  if not is_plain(m.root, inner, m["x"]):
    return None
  return m.new("transpose", (m["x"],), dimensions=composed)


def _broadcast_identity(m: Match) -> Instruction | None:
  return _take("x")(m) if m.root.attrs.get("dimensions", ()) == tuple(range(m.root.shape.rank)) else None


def _broadcast_of_broadcast(m: Match) -> Instruction | None:
  inner = m.root.operands[0]
  if not is_plain(m.root, inner, m["x"]):
    return None
  outer_dims = m.root.attrs.get("dimensions", ())
  return m.new("broadcast", (m["x"],), dimensions=tuple(outer_dims[d] for d in inner.attrs.get("dimensions", ())))


def _scalar_everywhere(m: Match) -> Instruction | None:
  """A reshape, transpose, slice or reverse of a scalar broadcast is a scalar broadcast."""
  inner = m.root.operands[0]
  if not m["x"].shape.is_scalar or not is_plain(m.root, inner, m["x"]):
    return None
  return m.new("broadcast", (m["x"],), dimensions=()) if m.root.shape.rank else _take("x")(m)


def _whole_slice(m: Match) -> Instruction | None:
  return _take("x")(m)  # a slice as large as its operand is all of it


def _slice_of_slice(m: Match) -> Instruction | None:
  inner = m.root.operands[0]
  if not is_plain(m.root, inner, m["x"]):
    return None
  parts = []
  for outer, first, size in zip(m.root.attrs["slice"], inner.attrs["slice"], m.root.shape.dimensions):
    stride = first.stride * outer.stride
    start = first.start + outer.start * first.stride
    parts.append(SliceDim(start, start + (size - 1) * stride + 1 if size else start, stride))
  return m.new("slice", (m["x"],), slice=tuple(parts))


def _no_padding(m: Match) -> Instruction | None:
  return _take("x")(m) if all(p.low == p.high == p.interior == 0 for p in m.root.attrs["padding"]) else None


def _reverse_of_nothing(m: Match) -> Instruction | None:
  return _take("x")(m) if all(m.root.shape.dimensions[d] == 1 for d in m.root.attrs["dimensions"]) else None


def _dimension_size(m: Match) -> Instruction | None:
  (axis,) = m.root.attrs["dimensions"]
  return None if m["x"].shape.is_dynamic else m.constant(m["x"].shape.dimensions[axis])


def _iota_of_one(m: Match) -> Instruction | None:
  axis = m.root.attrs["iota_dimension"]
  return _fill(0)(m) if m.root.shape.dimensions[axis] == 1 and m.root.shape.kind != "complex" else None


def _whole_dynamic_slice(m: Match) -> Instruction | None:
  x = m.root.operands[0]
  return x if x.shape == m.root.shape and not x.shape.is_dynamic else None


def _static_slice(m: Match) -> Instruction | None:
  """Constant starts are clamped as at run time."""
  x, *starts = m.root.operands
  if not is_plain(m.root, x) or not all(s.shape.is_scalar for s in starts):
    return None
  parts = []
  for start, size, bound in zip(starts, m.root.attrs["dynamic_slice_sizes"], x.shape.dimensions):
    value = splat(start)
    if value is None:
      return None
    first = max(0, min(int(value), bound - size))
    parts.append(SliceDim(first, first + size))
  return m.new("slice", (x,), slice=tuple(parts))


def _whole_update(m: Match) -> Instruction | None:
  x, update = m.root.operands[:2]
  return update if update.shape == m.root.shape == x.shape else None


def _join(m: Match) -> Instruction | None:
  """Empty parts contribute nothing; a single part is the whole."""
  (axis,) = m.root.attrs["dimensions"]
  if m.root.shape.is_dynamic or any(o.shape.is_dynamic for o in m.root.operands):
    return None
  parts = [o for o in m.root.operands if o.shape.dimensions[axis]]
  if len(parts) == 1:
    return parts[0] if parts[0].shape == m.root.shape else None
  if not parts or len(parts) == len(m.root.operands):
    return None
  return m.new("concatenate", parts, dimensions=(axis,))


def _known_branch(m: Match) -> Instruction | None:
  which = m.root.operands[0]
  if splat(which) is None or not which.shape.is_scalar:
    return None
  branches = m.root.called_computations
  if which.shape.kind == "pred":
    chosen = 0 if bool(splat(which)) else 1
  else:
    chosen = int(splat(which)) if 0 <= int(splat(which)) < len(branches) else len(branches) - 1
  return m.new("call", (m.root.operands[1 + chosen],), to_apply=branches[chosen])


def _pieces_of_complex(m: Match) -> Instruction | None:
  real, imag = m.root.operands
  return _take("z")(m) if (real.opcode, imag.opcode) == ("real", "imag") else None


RULES: list[Rule] = [
  # Sums and differences.
  Rule("x + -0", ("add", "x", _is(0, sign=-1)), _take("x")),  # for integers: x + 0
  Rule("x - 0", ("subtract", "x", _is(0, sign=1)), _take("x")),
  Rule("x - x", ("subtract", "x", "x"), _fill(0, is_integer)),
  Rule("-(-x)", ("negate", ("negate", "x")), _take("x")),
  # Products and quotients.
  Rule("x · 1", ("multiply", "x", _is(1)), _take("x")),
  Rule("x · 0", ("multiply", "x", _integer(0)), _bits_zero),
  Rule("x / 1", ("divide", "x", _is(1)), _take("x")),
  Rule("x / 2^n", ("divide", "x", "d"), _divide_by_power),
  Rule("x mod 1", ("remainder", "x", _integer(1)), _bits_zero),
  Rule("x ^ 1", ("power", "x", _is(1)), _take("x")),
  # Bits.
  Rule("x & 1…", ("and", "x", _all_bits), _take("x")),
  Rule("x & 0", ("and", "x", _no_bits), _bits_zero),
  Rule("x & x", ("and", "x", "x"), _take("x")),
  Rule("x | 0", ("or", "x", _no_bits), _take("x")),
  Rule("x | x", ("or", "x", "x"), _take("x")),
  Rule("x ⊕ 0", ("xor", "x", _no_bits), _take("x")),
  Rule("x ⊕ x", ("xor", "x", "x"), _bits_zero),
  Rule("¬¬x", ("not", ("not", "x")), _take("x")),
  *(
    Rule(f"{shift} by 0", (shift, "x", _integer(0)), _take("x"))
    for shift in ("shift-left", "shift-right-logical", "shift-right-arithmetic")
  ),
  # Order and choice.
  Rule("max(x, x)", ("maximum", "x", "x"), _take("x")),
  Rule("min(x, x)", ("minimum", "x", "x"), _take("x")),
  Rule(
    "||x||", ("abs", ("abs", "x")), lambda m: m.root.operands[0] if m.root.operands[0].shape == m.root.shape else None
  ),
  Rule("x ≤ x", ("compare", "x", "x"), _compare_self),
  Rule("p = true", ("compare", "x", _true), _compare_true),
  Rule("p ≠ false", ("compare", "x", _false), _compare_false),
  Rule("true ? a : b", ("select", _true, "a", "b"), _take("a")),
  Rule("false ? a : b", ("select", _false, "a", "b"), _take("b")),
  Rule("c ? a : a", ("select", "c", "a", "a"), _take("a")),
  Rule("¬c ? a : b", ("select", ("not", "c"), "a", "b"), _swap_select),
  Rule("c ? true : false", ("select", "c", _true, _false), _take("c")),
  # Types.
  Rule("convert to itself", ("convert", "x"), _same_type),
  Rule("convert there and back", ("convert", ("convert", "x")), _round_trip_convert),
  Rule("re(a + bi)", ("real", ("complex", "a", "b")), _take("a")),
  Rule("im(a + bi)", ("imag", ("complex", "a", "b")), _take("b")),
  Rule("re z + im z i", ("complex", ("real", "z"), ("imag", "z")), _pieces_of_complex),
  # Shapes.
  Rule("reshape to itself", ("reshape", "x"), _take("x")),
  Rule("reshape of reshape", ("reshape", ("reshape", "x")), _reshape_of_reshape),
  Rule("transpose by nothing", ("transpose", "x"), _transpose_identity),
  Rule("transpose of transpose", ("transpose", ("transpose", "x")), _transpose_of_transpose),
  Rule("broadcast to itself", ("broadcast", "x"), _broadcast_identity),
  Rule("broadcast of broadcast", ("broadcast", ("broadcast", "x")), _broadcast_of_broadcast),
  *(
    Rule(f"{op} of a scalar's broadcast", (op, ("broadcast", "x")), _scalar_everywhere)
    for op in ("reshape", "transpose", "slice", "reverse")
  ),
  Rule("the whole slice", ("slice", "x"), _whole_slice),
  Rule("slice of slice", ("slice", ("slice", "x")), _slice_of_slice),
  Rule("pad by nothing", ("pad", "x", "value"), _no_padding),
  Rule("reverse of one element", ("reverse", "x"), _reverse_of_nothing),
  Rule("a known size", ("get-dimension-size", "x"), _dimension_size),
  Rule("iota of one", ("iota",), _iota_of_one),
  # Any number of operands.
  Rule("the whole dynamic-slice", ("dynamic-slice", ...), _whole_dynamic_slice),
  Rule("dynamic-slice at constants", ("dynamic-slice", ...), _static_slice),
  Rule("update of everything", ("dynamic-update-slice", ...), _whole_update),
  Rule("join of one", ("concatenate", ...), _join),
  Rule("a known branch", ("conditional", ...), _known_branch),
  *algebraic_numbers.RULES,
  *algebraic_shapes.RULES,
]

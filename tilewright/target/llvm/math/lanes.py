"""Values with operators, so that a mathematical function reads like its formula.

`Lanes` wraps an LLVM value, a scalar or a vector of any length: `x * x + 1.0` appends the instructions to the builder. Floats,
integers and masks share the class; the element type decides which instruction an operator means. Nothing is contracted or
reordered behind our back: a fused multiply-add is there exactly where the code says `fma`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from llvmlite import ir

from tilewright.target.llvm.types import F32, F64, I1, I32, I64, constant, element_type, intrinsic, lanes_of, suffix

Operand = Union["Lanes", float, int]


class Lanes:
  """An LLVM value and the builder that its operators append to."""

  __slots__ = ("b", "value")

  def __init__(self, b: ir.IRBuilder, value: ir.Value) -> None:
    self.b = b
    self.value = value

  # What it is.

  @property
  def type(self) -> ir.Type:
    return self.value.type

  @property
  def kind(self) -> str:
    """The key of the coefficient tables: "f32" or "f64"."""
    return suffix(element_type(self.type))

  @property
  def format(self) -> Format:
    return FORMATS[self.kind]

  @property
  def _is_float(self) -> bool:
    return not isinstance(element_type(self.type), ir.IntType)

  def like(self, element: ir.Type) -> ir.Type:
    """The type with as many lanes as this and another element."""
    count = lanes_of(self.value)
    return ir.VectorType(element, count) if isinstance(self.type, ir.VectorType) else element

  def const(self, value: float | int) -> Lanes:
    return Lanes(self.b, constant(self.type, value))

  def _lift(self, other: Operand) -> ir.Value:
    return other.value if isinstance(other, Lanes) else constant(self.type, other)

  def _binary(self, float_: str, integer: str, other: Operand, swap: bool = False) -> Lanes:
    x, y = self.value, self._lift(other)
    if swap:
      x, y = y, x
    return Lanes(self.b, getattr(self.b, float_ if self._is_float else integer)(x, y))

  # Arithmetic.

  def __add__(self, other: Operand) -> Lanes:
    return self._binary("fadd", "add", other)

  def __radd__(self, other: Operand) -> Lanes:
    return self._binary("fadd", "add", other, swap=True)

  def __sub__(self, other: Operand) -> Lanes:
    return self._binary("fsub", "sub", other)

  def __rsub__(self, other: Operand) -> Lanes:
    return self._binary("fsub", "sub", other, swap=True)

  def __mul__(self, other: Operand) -> Lanes:
    return self._binary("fmul", "mul", other)

  def __rmul__(self, other: Operand) -> Lanes:
    return self._binary("fmul", "mul", other, swap=True)

  def __truediv__(self, other: Operand) -> Lanes:
    return self._binary("fdiv", "sdiv", other)

  def __rtruediv__(self, other: Operand) -> Lanes:
    return self._binary("fdiv", "sdiv", other, swap=True)

  def over(self, other: Operand) -> Lanes:
    """The quotient by a number below 2^126. A GPU may be two units in the last place off, for a tenth of the instructions."""
    return Lanes(self.b, self.b.fdiv(self.value, self._lift(other), flags=("afn",)))

  def __neg__(self) -> Lanes:
    return Lanes(self.b, self.b.fneg(self.value)) if self._is_float else 0 - self

  # Bits and masks.

  def __and__(self, other: Operand) -> Lanes:
    return Lanes(self.b, self.b.and_(self.value, self._lift(other)))

  def __or__(self, other: Operand) -> Lanes:
    return Lanes(self.b, self.b.or_(self.value, self._lift(other)))

  def __xor__(self, other: Operand) -> Lanes:
    return Lanes(self.b, self.b.xor(self.value, self._lift(other)))

  def __invert__(self) -> Lanes:
    return self ^ (1 if element_type(self.type) == I1 else -1)

  def __lshift__(self, other: Operand) -> Lanes:
    return Lanes(self.b, self.b.shl(self.value, self._lift(other)))

  def __rshift__(self, other: Operand) -> Lanes:
    """Arithmetic: the sign is copied."""
    return Lanes(self.b, self.b.ashr(self.value, self._lift(other)))

  def logical_shift_right(self, other: Operand) -> Lanes:
    return Lanes(self.b, self.b.lshr(self.value, self._lift(other)))

  # Comparisons: false for NaN.

  def _compare(self, sign: str, other: Operand) -> Lanes:
    compare = self.b.fcmp_ordered if self._is_float else self.b.icmp_signed
    return Lanes(self.b, compare(sign, self.value, self._lift(other)))

  def __lt__(self, other: Operand) -> Lanes:
    return self._compare("<", other)

  def __le__(self, other: Operand) -> Lanes:
    return self._compare("<=", other)

  def __gt__(self, other: Operand) -> Lanes:
    return self._compare(">", other)

  def __ge__(self, other: Operand) -> Lanes:
    return self._compare(">=", other)

  def equals(self, other: Operand) -> Lanes:
    return self._compare("==", other)

  def is_nan(self) -> Lanes:
    return Lanes(self.b, self.b.fcmp_unordered("uno", self.value, self.value))

  # Conversions.

  def bits(self) -> Lanes:
    """The same bits as integers of the same width."""
    return Lanes(self.b, self.b.bitcast(self.value, self.like(self.format.integer)))

  def floats(self, kind: str) -> Lanes:
    return Lanes(self.b, self.b.bitcast(self.value, self.like(FORMATS[kind].element)))

  def to_float(self, kind: str) -> Lanes:
    """Signed integers to floats by value."""
    return Lanes(self.b, self.b.sitofp(self.value, self.like(FORMATS[kind].element)))

  def to_integer(self) -> Lanes:
    """Floats to signed integers of the same width by value, without a fraction."""
    return Lanes(self.b, self.b.fptosi(self.value, self.like(self.format.integer)))

  def to_f64(self) -> Lanes:
    return self if self.kind == "f64" else Lanes(self.b, self.b.fpext(self.value, self.like(F64)))

  def to_f32(self) -> Lanes:
    return self if self.kind == "f32" else Lanes(self.b, self.b.fptrunc(self.value, self.like(F32)))

  # One instruction on every target we have.

  def __abs__(self) -> Lanes:
    return Lanes(self.b, intrinsic(self.b, "fabs", [self.value]))

  def sqrt(self) -> Lanes:
    return Lanes(self.b, intrinsic(self.b, "sqrt", [self.value]))

  def floor(self) -> Lanes:
    return Lanes(self.b, intrinsic(self.b, "floor", [self.value]))

  def trunc(self) -> Lanes:
    return Lanes(self.b, intrinsic(self.b, "trunc", [self.value]))

  def copysign(self, other: Lanes) -> Lanes:
    return Lanes(self.b, intrinsic(self.b, "copysign", [self.value, other.value]))

  def at_most(self, limit: Operand) -> Lanes:
    """The smaller; NaN stays NaN. The order of the comparison makes it one minps on x86."""
    bound = Lanes(self.b, self._lift(limit))
    return where(bound < self, bound, self)

  def at_least(self, limit: Operand) -> Lanes:
    bound = Lanes(self.b, self._lift(limit))
    return where(bound > self, bound, self)

  def any(self) -> ir.Value:
    """Whether any lane of a mask is set, as one bit."""
    if not isinstance(self.type, ir.VectorType):
      return self.value
    return intrinsic(self.b, "vector.reduce.or", [self.value], I1)


class Format:
  """What the algorithms need to know of a floating-point format."""

  def __init__(self, element: ir.Type, integer: ir.Type, mantissa: int, bias: int) -> None:
    self.element = element
    self.integer = integer
    self.mantissa = mantissa  # stored bits
    self.bias = bias
    self.width = integer.width
    self.smallest_normal = 2.0 ** (1 - bias)
    self.largest = (2.0 - 2.0**-mantissa) * 2.0**bias
    # Adding it rounds to an integer, which is then found in the low bits of the sum.
    self.round_shift = 1.5 * 2.0**mantissa


FORMATS = {"f32": Format(F32, I32, 23, 127), "f64": Format(F64, I64, 52, 1023)}

INF = float("inf")
NAN = float("nan")


def fma(x: Lanes, y: Operand, z: Operand) -> Lanes:
  """x * y + z, rounded once."""
  return Lanes(x.b, intrinsic(x.b, "fma", [x.value, x._lift(y), x._lift(z)]))


def where(mask: Lanes, x: Operand, y: Operand) -> Lanes:
  known = x if isinstance(x, Lanes) else y
  assert isinstance(known, Lanes), "one of the two choices gives the type"
  return Lanes(mask.b, mask.b.select(mask.value, known._lift(x), known._lift(y)))


def polynomial(x: Lanes, coefficients: Sequence[float]) -> Lanes:
  """Horner's rule, lowest power first. Loops over arrays have enough independent chains to hide its latency."""
  result = x.const(coefficients[-1])
  for c in reversed(coefficients[:-1]):
    result = fma(result, x, c)
  return result


def power_of_two(n: Lanes, kind: str) -> Lanes:
  """2^n for integers n in the range of normal exponents."""
  form = FORMATS[kind]
  return ((n + form.bias) << form.mantissa).floats(kind)


def define(
  module: ir.Module,
  name: str,
  result: ir.Type,
  arguments: Sequence[ir.Type],
  body: Callable[[ir.IRBuilder, Any], Any],
  attributes: Sequence[str] = ("alwaysinline",),
) -> ir.Function:
  """The function of that name in the module, written when it is first asked for."""
  known = module.globals.get(name)
  if known is not None:
    return known
  function = ir.Function(module, ir.FunctionType(result, arguments), name)
  function.linkage = "internal"
  for attribute in (*attributes, "nounwind"):
    function.attributes.add(attribute)
  b = ir.IRBuilder(function.append_basic_block("entry"))
  b.ret(body(b, function.args))
  return function

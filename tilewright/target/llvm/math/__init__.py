"""Mathematical functions as LLVM IR: on floats and doubles, and on vectors of any number of them.

`emit("exp", builder, x)` appends a call to `@tilewright.exp.v16f32`, an internal function written into the module when it is
first asked for, and inlined by the optimiser. Every lane is computed alike, by selects and without libm, so a lane does
not change with its neighbours or with the length of the vector. docs/math.md lists what each is measured to deliver.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from llvmlite import ir

from tilewright.target.llvm.math import (
  error_function,
  exponential,
  hyperbolic,
  inverse_trigonometric,
  logarithm,
  powers,
  remainder,
  roots,
  special,
  trigonometric,
)
from tilewright.target.llvm.math.lanes import Lanes, define
from tilewright.target.llvm.types import element_type, suffix


@dataclasses.dataclass(frozen=True)
class MathFunction:
  """A function, and the error it promises in units in the last place, by element type."""

  name: str
  arity: int
  implementation: Callable[..., Lanes]
  ulp: dict[str, float]
  note: str = ""


def _table(*rows: MathFunction) -> dict[str, MathFunction]:
  return {row.name: row for row in rows}


FUNCTIONS: dict[str, MathFunction] = _table(
  MathFunction("exp", 1, exponential.exp, {"f32": 1, "f64": 1}),
  MathFunction("exp2", 1, exponential.exp2, {"f32": 1, "f64": 1}),
  MathFunction("expm1", 1, exponential.expm1, {"f32": 1.5, "f64": 2}),
  MathFunction("logistic", 1, exponential.logistic, {"f32": 1.7, "f64": 1.5}),
  MathFunction("log", 1, logarithm.log, {"f32": 1, "f64": 1}),
  MathFunction("log1p", 1, logarithm.log1p, {"f32": 1.7, "f64": 1}),
  MathFunction("sin", 1, trigonometric.sin, {"f32": 1.6, "f64": 1.6}, "any finite argument"),
  MathFunction("cos", 1, trigonometric.cos, {"f32": 1.6, "f64": 1.6}, "any finite argument"),
  MathFunction("tanh", 1, hyperbolic.tanh, {"f32": 1.4, "f64": 1.5}),
  MathFunction("erf", 1, error_function.erf, {"f32": 1.2, "f64": 1.2}),
  MathFunction("erfc", 1, error_function.erfc, {"f32": 4, "f64": 3}),
  MathFunction("erf_inv", 1, error_function.erf_inv, {"f32": 3, "f64": 3}),
  MathFunction("tan", 1, trigonometric.tan, {"f32": 4, "f64": 4}, "any finite argument"),
  MathFunction("asin", 1, inverse_trigonometric.asin, {"f32": 1.7, "f64": 1.8}),
  MathFunction("acos", 1, inverse_trigonometric.acos, {"f32": 1.2, "f64": 1.5}),
  MathFunction("atan", 1, inverse_trigonometric.atan, {"f32": 1.5, "f64": 1.5}),
  MathFunction("atan2", 2, inverse_trigonometric.atan2, {"f32": 1.7, "f64": 1.7}, "all special cases of C"),
  MathFunction("sinh", 1, hyperbolic.sinh, {"f32": 1.7, "f64": 1.7}),
  MathFunction("cosh", 1, hyperbolic.cosh, {"f32": 1.4, "f64": 1.5}),
  MathFunction("asinh", 1, hyperbolic.asinh, {"f32": 2, "f64": 2}),
  MathFunction("acosh", 1, hyperbolic.acosh, {"f32": 2.5, "f64": 2.5}),
  MathFunction("atanh", 1, hyperbolic.atanh, {"f32": 2.5, "f64": 2.5}),
  MathFunction("sqrt", 1, roots.sqrt, {"f32": 0.5, "f64": 0.5}, "exact"),
  MathFunction("rsqrt", 1, roots.rsqrt, {"f32": 1.5, "f64": 1.5}),
  MathFunction("cbrt", 1, roots.cbrt, {"f32": 1, "f64": 1}),
  MathFunction("pow", 2, powers.pow, {"f32": 1.2, "f64": 1.2}, "all special cases of IEEE 754"),
  MathFunction(
    "lgamma",
    1,
    special.lgamma,
    {"f32": 0.6, "f64": 4},
    "log of the absolute value; f64 for x < 0: 4 ulp of the larger term; f32 is computed in f64",
  ),
  MathFunction(
    "digamma",
    1,
    special.digamma,
    {"f32": 0.6, "f64": 8},
    "NaN at the poles; f64 for x < 0: 8 ulp of the larger term; f32 is computed in f64",
  ),
  MathFunction("rem", 2, remainder.rem, {"f32": 0, "f64": 0}, "exact; C's fmod"),
  MathFunction("nextafter", 2, remainder.nextafter, {"f32": 0, "f64": 0}, "exact"),
)


def emit(name: str, builder: ir.IRBuilder, *args: ir.Value) -> ir.Value:
  """The value of the function, lane by lane."""
  function = FUNCTIONS[name]
  assert len(args) == function.arity, f"{name} takes {function.arity} arguments, not {len(args)}"
  ty = args[0].type
  assert all(a.type == ty for a in args), f"{name} of {[str(a.type) for a in args]}"
  assert suffix(element_type(ty)) in function.ulp, f"{name} has no implementation for {ty}"

  def body(b: ir.IRBuilder, parameters: list[ir.Value]) -> ir.Value:
    return function.implementation(*(Lanes(b, p) for p in parameters)).value

  callee = define(builder.module, f"tilewright.{name}.{suffix(ty)}", ty, [a.type for a in args], body)
  return builder.call(callee, args)

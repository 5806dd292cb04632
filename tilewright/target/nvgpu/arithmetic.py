"""Elementwise ops that the GPU computes in another way than the CPU, on scalars and vectors alike.

Everything else is shared (`target.cpu.arithmetic`, `target.llvm.math`). Errors are those of the PTX ISA: ex2.approx and div.full are within
two units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.cpu import arithmetic
from tilewright.target.cpu import reductions as cpu_reductions
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import F32, I32

Rule = Callable[[ir.IRBuilder, list[ir.Value]], ir.Value]


def compute(b: ir.IRBuilder, op: Any, args: list[ir.Value]) -> ir.Value:
  dtype = op.operands[0].type.dtype
  if op.name in ("max", "min") and ty.is_float(dtype):
    return extreme(b, op.name, *args)
  rule = F32_RULES.get(op.name)
  if rule is not None and ty.element_type(args[0].type) == F32 and ty.is_float(dtype):
    return rule(b, args)
  return arithmetic.compute(b, op, args)


def extreme(b: ir.IRBuilder, name: str, x: ir.Value, y: ir.Value) -> ir.Value:
  """max or min that gives NaN if either is NaN: one instruction."""
  return ty.intrinsic(b, "maximum" if name == "max" else "minimum", [x, y])


def combine(b: ir.IRBuilder, kind: str, dtype: Any, x: ir.Value, y: ir.Value) -> ir.Value:
  """One step of a reduction."""
  if kind in ("max", "min") and ty.is_float(dtype) and ty.element_type(x.type) == F32:
    return extreme(b, kind, x, y)
  return cpu_reductions.combine(b, kind, dtype, x, y)


def horizontal(b: ir.IRBuilder, kind: str, dtype: Any, value: ir.Value) -> ir.Value:
  """Combine the lanes of a vector, each with the one half a vector away."""
  parts = [value] if ty.lanes_of(value) == 1 else [b.extract_element(value, I32(n)) for n in range(ty.lanes_of(value))]
  while len(parts) > 1:
    half = -(-len(parts) // 2)
    parts = [combine(b, kind, dtype, x, y) for x, y in zip(parts, parts[half:])] + parts[len(parts) - half : half]
  return parts[0]


def _each_lane(rule: Callable[..., ir.Value]) -> Rule:
  """An instruction that takes single numbers, on vectors."""

  def on_lanes(b: ir.IRBuilder, args: list[ir.Value]) -> ir.Value:
    lanes = ty.lanes_of(args[0])
    if lanes == 1:
      return rule(b, *args)
    result = ir.Constant(args[0].type, ir.Undefined)
    for n in range(lanes):
      result = b.insert_element(result, rule(b, *(b.extract_element(a, I32(n)) for a in args)), I32(n))
    return result

  return on_lanes


def _instruction(text: str, count: int) -> Callable[..., ir.Value]:
  asm = ir.InlineAsm(
    ir.FunctionType(F32, [F32] * count),
    f"{text} {', '.join(f'${i}' for i in range(count + 1))};",
    ",".join(["=f"] + ["f"] * count),
  )
  return lambda b, *args: b.call(asm, list(args))


_exp2 = _instruction("ex2.approx.f32", 1)
_divide = _instruction("div.full.f32", 2)
_reciprocal_root = _instruction("rsqrt.approx.f32", 1)


def _exp(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  """2^(x log2 e), where the product is kept to twice the precision: its rounding error becomes a factor near one."""
  log2e = float(np.float32(math.log2(math.e)))
  rest = math.log2(math.e) - log2e
  c = lambda v: ty.constant(F32, v)
  # Beyond these the result is 0 or infinity; the rounding error of infinity would be NaN.
  x = extreme(b, "min", extreme(b, "max", x, c(-105.0)), c(90.0))
  high = b.fmul(x, c(log2e))
  low = ty.intrinsic(b, "fma", [x, c(log2e), b.fneg(high)])
  low = ty.intrinsic(b, "fma", [x, c(rest), low])
  power = _exp2(b, high)
  return ty.intrinsic(b, "fma", [power, b.fmul(low, c(math.log(2.0))), power])


def _logistic(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
  one = ty.constant(F32, 1)
  return _divide(b, one, b.fadd(one, _exp(b, b.fneg(x))))


F32_RULES: dict[str, Rule] = {
  "exp": _each_lane(_exp),
  "exp2": _each_lane(_exp2),
  "logistic": _each_lane(_logistic),
  "div": _each_lane(_divide),
  "rsqrt": _each_lane(_reciprocal_root),
}

"""Reductions: the identity of each kind, and how it combines two values, or the lanes of a vector."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from llvmlite import ir

from tilewright.target.llvm import arithmetic
from tilewright.target.llvm import types as ty
from tilewright.tile.types import TileType


def identity(kind: str, dtype: Any) -> Any:
  """The identity of a reduction."""
  dtype = np.dtype(dtype)
  if kind in ("sum", "or", "xor"):
    return 0
  if kind == "prod":
    return 1
  if kind == "and":
    return -1 if dtype != np.bool_ else 1
  if ty.is_float(dtype):
    return -np.inf if kind == "max" else np.inf
  if dtype == np.bool_:
    return kind == "min"
  info = jnp.iinfo(dtype)
  return info.min if kind == "max" else info.max


def combine(b: ir.IRBuilder, kind: str, dtype: Any, x: ir.Value, y: ir.Value) -> ir.Value:
  name = {"sum": "add", "prod": "mul"}.get(kind, kind)
  if ty.is_float(dtype) and name in ("max", "min"):
    return arithmetic.float_extreme(b, name, y, x)  # x is the result so far

  class _Typed:
    """A stand-in for an op: only its operands' dtype is looked at."""

    operands = [type("_Operand", (), {"type": TileType((), np.dtype(dtype))})]
    attrs: dict[str, Any] = {}

  return arithmetic.RULES[name](b, _Typed, [x, y])


def horizontal(b: ir.IRBuilder, kind: str, dtype: Any, value: ir.Value) -> ir.Value:
  """Combine the lanes of a vector, half with half."""
  lanes = ty.lanes_of(value)
  while lanes > 1:
    half = lanes // 2
    odd = b.extract_element(value, ty.I32(lanes - 1)) if lanes % 2 else None
    undefined = ir.Constant(value.type, ir.Undefined)
    low = b.shuffle_vector(value, undefined, ir.Constant(ir.VectorType(ty.I32, half), list(range(half))))
    high = b.shuffle_vector(value, undefined, ir.Constant(ir.VectorType(ty.I32, half), list(range(half, 2 * half))))
    if half == 1:
      low, high = (b.extract_element(v, ty.I32(0)) for v in (low, high))
    value = combine(b, kind, dtype, low, high)
    if odd is not None:
      value = combine(b, kind, dtype, value, odd) if half == 1 else add_to_first(b, kind, dtype, value, odd)
    lanes = half
  return value


def add_to_first(b: ir.IRBuilder, kind: str, dtype: Any, vector: ir.Value, extra: ir.Value) -> ir.Value:
  first = combine(b, kind, dtype, b.extract_element(vector, ty.I32(0)), extra)
  return b.insert_element(vector, first, ty.I32(0))

"""How dtypes are kept in memory and in registers.

In memory each element has the width JAX gives it; bool, and what has less than eight bits, is a byte. In registers bool is one bit; bf16
and f16 are f32: they are widened when loaded, and rounded to nearest even when stored or converted. The floats of eight bits and less stay
integers, which only conversions look into (see `small_floats`); small integers are sign- or zero-extended to a byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from llvmlite import ir

from tilewright import errors
from tilewright.tile.formats import is_small_integer, small_float

I1, I8, I16, I32, I64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()
PTR = ir.PointerType()
VOID = ir.VoidType()

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_FLOATS = {np.dtype(np.float32): F32, np.dtype(np.float64): F64, np.dtype(np.float16): F16}


def memory_type(dtype: Any) -> ir.Type:
  """The LLVM type of an element in memory."""
  dtype = np.dtype(dtype)
  if dtype in _FLOATS:
    return _FLOATS[dtype]
  if dtype == np.bool_ or small_float(dtype) is not None or is_small_integer(dtype):
    return I8
  if dtype == _BFLOAT16:
    return I16
  if jnp.issubdtype(dtype, jnp.integer) and dtype.name.lstrip("uint") in ("8", "16", "32", "64"):
    return ir.IntType(dtype.itemsize * 8)
  raise errors.NativeCodeError(f"The CPU target does not compile {dtype} yet. Use interpret=True.")


def register_type(dtype: Any, lanes: int = 1) -> ir.Type:
  """The LLVM type of a value, or of several side by side."""
  dtype = np.dtype(dtype)
  if dtype == np.bool_:
    element: ir.Type = I1
  elif dtype in (_BFLOAT16, np.dtype(np.float16)):
    element = F32
  else:
    element = memory_type(dtype)
  return element if lanes == 1 else ir.VectorType(element, lanes)


def is_float(dtype: Any) -> bool:
  return bool(jnp.issubdtype(np.dtype(dtype), jnp.floating))


def is_half(dtype: Any) -> bool:
  """Whether a dtype is computed in f32 and rounded."""
  return np.dtype(dtype) in (_BFLOAT16, np.dtype(np.float16))


def is_signed(dtype: Any) -> bool:
  return bool(jnp.issubdtype(np.dtype(dtype), jnp.signedinteger))


def lanes_of(value: ir.Value) -> int:
  return value.type.count if isinstance(value.type, ir.VectorType) else 1


def element_type(ty: ir.Type) -> ir.Type:
  return ty.element if isinstance(ty, ir.VectorType) else ty


class _Splat(ir.Constant):
  """The same number in every lane, written once: an IR of vectors has more text for constants than for all else."""

  def __init__(self, ty: ir.VectorType, scalar: ir.Constant):
    self.type, self.constant = ty, [scalar] * ty.count

  def _get_reference(self) -> str:
    return f"splat ({self.constant[0]})"


def constant(ty: ir.Type, value: Any) -> ir.Constant:
  """A scalar constant, or a vector with the same value in every lane."""
  element = element_type(ty)
  if isinstance(element, ir.IntType):
    value = int(value) & ((1 << element.width) - 1) if element.width > 1 else int(bool(value))
  else:
    value = float(value)
  scalar = ir.Constant(element, value)
  return _Splat(ty, scalar) if isinstance(ty, ir.VectorType) else scalar


def element(dtype: Any, value: Any, lanes: int = 1) -> ir.Constant:
  """A number of a dtype as a constant in registers, in every lane."""
  dtype = np.dtype(dtype)
  if small_float(dtype) is not None:
    value = np.asarray(value).astype(dtype).view(np.uint8)
  return constant(register_type(dtype, lanes), value)


def splat(b: ir.IRBuilder, value: ir.Value, lanes: int) -> ir.Value:
  """The same value in every lane."""
  if lanes == 1:
    return value
  vector = ir.VectorType(value.type, lanes)
  first = b.insert_element(ir.Constant(vector, ir.Undefined), value, I32(0))
  return b.shuffle_vector(first, ir.Constant(vector, ir.Undefined), constant(ir.VectorType(I32, lanes), 0))


def joined(b: ir.IRBuilder, parts: Sequence[ir.Value]) -> ir.Value:
  """A vector of numbers; one is itself."""
  if len(parts) == 1:
    return parts[0]
  result = ir.Constant(ir.VectorType(parts[0].type, len(parts)), ir.Undefined)
  for n, part in enumerate(parts):
    result = b.insert_element(result, part, I32(n))
  return result


def suffix(ty: ir.Type) -> str:
  """How a type is spelled in the name of an intrinsic."""
  if isinstance(ty, ir.VectorType):
    return f"v{ty.count}{suffix(ty.element)}"
  if isinstance(ty, ir.IntType):
    return f"i{ty.width}"
  if isinstance(ty, ir.PointerType):
    return "p0"
  return {F16: "f16", F32: "f32", F64: "f64"}[ty]


def intrinsic(
  b: ir.IRBuilder, name: str, args: list[ir.Value], result: ir.Type | None = None, types: Any = None
) -> ir.Value:
  """Call `llvm.name.types`; by default overloaded on the first argument and returning its type."""
  result = args[0].type if result is None else result
  spelled = ".".join(suffix(t) for t in (types if types is not None else [args[0].type]))
  full = f"llvm.{name}" + (f".{spelled}" if spelled else "")
  module = b.module
  function = module.globals.get(full)
  if function is None:
    function = ir.Function(module, ir.FunctionType(result, [a.type for a in args]), full)
  return b.call(function, args)


def load_element(b: ir.IRBuilder, pointer: ir.Value, dtype: Any, lanes: int) -> ir.Value:
  """Load `lanes` neighbours and widen them to their register type."""
  memory = memory_type(dtype)
  ty = memory if lanes == 1 else ir.VectorType(memory, lanes)
  raw = b.load(pointer, typ=ty, align=max(1, np.dtype(dtype).itemsize))
  return widen(b, raw, dtype, lanes)


def widen(b: ir.IRBuilder, raw: ir.Value, dtype: Any, lanes: int) -> ir.Value:
  dtype = np.dtype(dtype)
  target = register_type(dtype, lanes)
  if dtype == np.bool_:
    return b.icmp_unsigned("!=", raw, constant(raw.type, 0))
  if dtype == _BFLOAT16:
    bits = register_type(np.uint32, lanes)
    return b.bitcast(b.shl(b.zext(raw, bits), constant(bits, 16)), target)
  if dtype == np.float16:
    return b.fpext(raw, target)
  return raw


def store_element(b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, dtype: Any) -> None:
  b.store(narrow(b, value, dtype), pointer, align=max(1, np.dtype(dtype).itemsize))


def narrow(b: ir.IRBuilder, value: ir.Value, dtype: Any) -> ir.Value:
  """From the register type to the memory type."""
  dtype = np.dtype(dtype)
  lanes = lanes_of(value)
  memory = memory_type(dtype)
  target = memory if lanes == 1 else ir.VectorType(memory, lanes)
  if dtype == np.bool_:
    return b.zext(value, target)
  if dtype == _BFLOAT16:
    bits = register_type(np.uint32, lanes)
    return b.trunc(b.lshr(_rounded_bf16_bits(b, value, bits), constant(bits, 16)), target)
  if dtype == np.float16:
    return b.fptrunc(value, target)
  return value


def _rounded_bf16_bits(b: ir.IRBuilder, value: ir.Value, bits: ir.Type) -> ir.Value:
  """The f32 bits after rounding to bf16, to nearest even; a NaN stays one, and as it is where bf16 can hold it."""
  raw = b.bitcast(value, bits)
  odd = b.and_(b.lshr(raw, constant(bits, 16)), constant(bits, 1))
  rounded = b.add(raw, b.add(odd, constant(bits, 0x7FFF)))
  is_nan = b.fcmp_unordered("uno", value, value)
  exact = b.icmp_unsigned("==", b.and_(raw, constant(bits, 0xFFFF)), constant(bits, 0))
  quiet = b.select(exact, raw, b.or_(raw, constant(bits, 0x00400000)))
  return b.select(is_nan, quiet, rounded)


def round_to(b: ir.IRBuilder, value: ir.Value, dtype: Any) -> ir.Value:
  """A register value rounded to what a small float can hold, still in its register type."""
  dtype = np.dtype(dtype)
  if dtype == _BFLOAT16:
    bits = register_type(np.uint32, lanes_of(value))
    kept = b.and_(_rounded_bf16_bits(b, value, bits), constant(bits, 0xFFFF0000))
    return b.bitcast(kept, value.type)
  if dtype == np.float16:
    half = F16 if lanes_of(value) == 1 else ir.VectorType(F16, lanes_of(value))
    return b.fpext(b.fptrunc(value, half), value.type)
  return value

"""Conversions of small floats that the hardware has, two numbers at a time (PTX ISA, cvt).

    sm_89 and later    e4m3, e5m2 <-> f16 and from f32
    sm_100a and later  e2m1 <-> f16 and from f32, powers of two (ue8m0) -> bf16

The instructions saturate; XLA does not. Above the largest number the code of infinity, or NaN, is chosen afterwards.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import F16, F32, I8, I16, I32
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.emit.units.inline_ptx import pure
from tilewright.tile.formats import SMALL_FLOATS, SmallFloat


@dataclasses.dataclass(frozen=True)
class Hardware:
  """How instructions name a format, and from which capability on there are any."""

  name: str
  form: SmallFloat
  since: tuple[int, int]
  encodes: bool = True

  @property
  def is_nibble(self) -> bool:
    return self.form.width == 4


_FORMATS = {
  "float8_e4m3fn": Hardware("e4m3x2", SMALL_FLOATS["float8_e4m3fn"], (8, 9)),
  "float8_e5m2": Hardware("e5m2x2", SMALL_FLOATS["float8_e5m2"], (8, 9)),
  "float4_e2m1fn": Hardware("e2m1x2", SMALL_FLOATS["float4_e2m1fn"], (10, 0)),
  "float8_e8m0fnu": Hardware("ue8m0x2", SMALL_FLOATS["float8_e8m0fnu"], (10, 0), encodes=False),
}

_FIRST_PTX = {(8, 9): 81}  # sm_89 is older than the PTX that lets it convert


def hardware(dtype: Any, arch: Arch) -> Hardware | None:
  """The conversions an architecture has for a dtype."""
  found = _FORMATS.get(np.dtype(dtype).name)
  if found is None or arch.capability < found.since or arch.ptx < _FIRST_PTX.get(arch.capability, 0):
    return None
  return found


def decode(b: ir.IRBuilder, codes: ir.Value, small: Hardware) -> ir.Value:
  """The f32s that codes, one in each byte, stand for."""
  lanes = ty.lanes_of(codes)
  parts = [codes] if lanes == 1 else [b.extract_element(codes, I32(n)) for n in range(lanes)]
  found: list[ir.Value] = []
  for low, high in zip(parts[::2], [*parts[1::2], I8(0)]):
    found += _decode_pair(b, small, low, high)
  return ty.joined(b, found[:lanes])


def _decode_pair(b: ir.IRBuilder, small: Hardware, low: ir.Value, high: ir.Value) -> list[ir.Value]:
  if small.is_nibble:
    byte = b.or_(b.and_(low, I8(15)), b.shl(high, I8(4)))
    text = "{ .reg .b8 byte; mov.b16 {byte, _}, $1; cvt.rn.f16x2.e2m1x2 $0, byte; }"
    halves = pure(b, I32, text, "=r,h", [b.zext(byte, I16)])
  else:
    codes = b.or_(b.zext(low, I16), b.shl(b.zext(high, I16), I16(8)))
    kind = "f16x2" if small.form.signed else "bf16x2"
    halves = pure(b, I32, f"cvt.rn.{kind}.{small.name} $0, $1;", "=r,h", [codes])
  if not small.form.signed:  # bf16 is the upper half of an f32
    return [b.bitcast(b.shl(halves, I32(16)), F32), b.bitcast(b.and_(halves, I32(0xFFFF0000)), F32)]
  pair = b.bitcast(halves, ir.VectorType(F16, 2))
  return [b.fpext(b.extract_element(pair, I32(n)), F32) for n in range(2)]


def encode(b: ir.IRBuilder, values: ir.Value, small: Hardware) -> ir.Value:
  """The codes, one in each byte, of f32s rounded to nearest even."""
  lanes = ty.lanes_of(values)
  parts = [values] if lanes == 1 else [b.extract_element(values, I32(n)) for n in range(lanes)]
  found: list[ir.Value] = []
  for low, high in zip(parts[::2], [*parts[1::2], parts[-1]]):
    codes = _encode_pair(b, small, low, high)
    found += [_special(b, small.form, x, code) for x, code in zip((low, high), codes)]
  return ty.joined(b, found[:lanes])


def _encode_pair(b: ir.IRBuilder, small: Hardware, low: ir.Value, high: ir.Value) -> list[ir.Value]:
  if small.is_nibble:
    text = "{ .reg .b8 byte; cvt.rn.satfinite.e2m1x2.f32 byte, $1, $2; mov.b16 $0, {byte, 0}; }"
    both = pure(b, I16, text, "=h,f,f", [high, low])
    return [b.and_(b.trunc(b.lshr(both, I16(shift)), I8), I8(15)) for shift in (0, 4)]
  both = pure(b, I16, f"cvt.rn.satfinite.{small.name}.f32 $0, $1, $2;", "=h,f,f", [high, low])
  return [b.trunc(b.lshr(both, I16(shift)), I8) for shift in (0, 8)]


def _special(b: ir.IRBuilder, form: SmallFloat, x: ir.Value, code: ir.Value) -> ir.Value:
  """What is too large is not the largest number, unless the format has nothing else."""
  raw = b.bitcast(x, I32)
  sign = b.and_(b.trunc(b.lshr(raw, I32(32 - form.width)), I8), I8(form.sign))
  if form.overflow != form.largest:
    size = ty.intrinsic(b, "fabs", [x])
    most = ty.constant(F32, _limit(form))
    # Halfway to the number that would follow, the even code is taken.
    fits = b.fcmp_ordered("<=" if form.largest % 2 == 0 else "<", size, most)
    code = b.select(fits, code, b.or_(sign, I8(form.overflow)))
  if form.nan != form.overflow:
    code = b.select(b.fcmp_unordered("uno", x, x), b.or_(sign, I8(form.nan)), code)
  return code


def _limit(form: SmallFloat) -> float:
  """Halfway between the largest number and the one that would follow it."""
  exponent, mantissa = form.largest >> form.mantissa, form.largest & ((1 << form.mantissa) - 1)
  return (2 * ((1 << form.mantissa) + mantissa) + 1) * 2.0 ** (exponent - form.bias - form.mantissa - 1)

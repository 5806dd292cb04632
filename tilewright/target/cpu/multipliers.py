"""How a micro-kernel multiplies: `sums += element of A, broadcast * vector of B`, as a table keyed by dtypes and processor features.

Both operands are packed in units. A unit is one element; or as many small elements side by side along K as fill 32 bits, where the
processor has an instruction that multiplies and adds them at once:

    fma        1 element       any float
    bf16       2 elements      vdpbf16ps (AVX-512), bfdot (NEON): both products are added to a float of 32 bits
    int8       4 elements      vpdpbusd (VNNI), sdot (NEON): exact in 32 bits
    AMX        2 or 4          tdpbf16ps, tdpbssd: 16 x 16 accumulators from 16 units of 16 rows and 16 columns (`amx`)

vpdpbusd multiplies unsigned by signed bytes. The left operand is therefore packed with 128 added to each element (its top bit flipped), and
the sums start at -128 times the sum of the right operand's column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import ml_dtypes
import numpy as np
from llvmlite import ir

from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm import types as ty

_BF16, _I8, _F32, _I32 = (np.dtype(t) for t in (ml_dtypes.bfloat16, np.int8, np.float32, np.int32))

MultiplyAdd = Callable[[ir.IRBuilder, ir.Value, ir.Value, ir.Value], ir.Value]  # builder, a, b, sums -> sums


class _BFloat(ir.types.Type):
  """LLVM's bfloat, which llvmlite has no name for."""

  def _to_string(self) -> str:
    return "bfloat"

  def __eq__(self, other: object) -> bool:
    return isinstance(other, _BFloat)

  def __hash__(self) -> int:
    return hash(_BFloat)


@dataclasses.dataclass(frozen=True)
class Multiplier:
  """A way to multiply: the dtype operands are packed as, how many of them make a unit, and the instruction."""

  dtype: np.dtype
  group: int
  multiply_add: MultiplyAdd
  flipped: int = 0  # bits of each element of A that are flipped when it is packed
  tile: str | None = None  # the AMX intrinsic that multiplies whole tiles, instead of `multiply_add`

  @property
  def unit(self) -> np.dtype:
    """What a unit is in memory: the element itself, or 32 bits."""
    return self.dtype if self.group == 1 else _I32


@dataclasses.dataclass(frozen=True)
class _Row:
  """One instruction of one family of processors."""

  operands: np.dtype
  sums: np.dtype
  features: frozenset[str]
  vector_bytes: int
  group: int
  intrinsic: str
  element: ir.Type  # of the instruction's operands
  flipped: int = 0


_ROWS = (
  _Row(_BF16, _F32, frozenset({"avx512bf16"}), 64, 2, "llvm.x86.avx512bf16.dpbf16ps.512", _BFloat()),
  _Row(_BF16, _F32, frozenset({"neon", "bf16"}), 16, 2, "llvm.aarch64.neon.bfdot.v4f32.v8bf16", _BFloat()),
  _Row(_I8, _I32, frozenset({"avx512vnni"}), 64, 4, "llvm.x86.avx512.vpdpbusd.512", ty.I8, flipped=0x80),
  _Row(_I8, _I32, frozenset({"avxvnni"}), 32, 4, "llvm.x86.avx512.vpdpbusd.256", ty.I8, flipped=0x80),
  _Row(_I8, _I32, frozenset({"neon", "dotprod"}), 16, 4, "llvm.aarch64.neon.sdot.v4i32.v16i8", ty.I8),
)


# AMX multiplies whole tiles: operands and accumulators, the feature, how many elements make a unit, and the intrinsic.
_AMX_ROWS = (
  (_BF16, _F32, "amx-bf16", 2, "llvm.x86.tdpbf16ps"),
  (_I8, _I32, "amx-int8", 4, "llvm.x86.tdpbssd"),
)
_AMX_LEAST_ROWS = 8  # of A: with fewer, most of a tile is idle, and a vector unit is as fast


def choose(host: Host, lhs: np.dtype, rhs: np.dtype, sums: np.dtype, rows: int = 1) -> Multiplier:
  """The best way to multiply operands of these dtypes on a processor, A of so many rows; one element at a time if there is no better."""
  if rows >= _AMX_LEAST_ROWS and "amx-tile" in host.features and host.vector_bytes == 64:
    for operands, accumulator, feature, group, intrinsic in _AMX_ROWS:
      if operands == lhs == rhs and accumulator == sums and feature in host.features:
        return Multiplier(operands, group, _separate, tile=intrinsic)
  for row in _ROWS:
    fits = row.operands == lhs == rhs and row.sums == sums
    if fits and row.vector_bytes == host.vector_bytes and row.features <= host.features:
      return Multiplier(row.operands, row.group, _grouped(row), row.flipped)
  return single(sums)


def single(sums: np.dtype) -> Multiplier:
  """One element at a time, in the dtype of the sums."""
  return Multiplier(sums, 1, _fused if ty.is_float(sums) else _separate)


def _fused(b: ir.IRBuilder, x: ir.Value, y: ir.Value, sums: ir.Value) -> ir.Value:
  return ty.intrinsic(b, "fma", [x, y, sums])


def _separate(b: ir.IRBuilder, x: ir.Value, y: ir.Value, sums: ir.Value) -> ir.Value:
  return b.add(b.mul(x, y), sums)


def _grouped(row: _Row) -> MultiplyAdd:
  """One instruction over units: operands are vectors of 32-bit units, seen as vectors of elements."""

  def multiply_add(b: ir.IRBuilder, x: ir.Value, y: ir.Value, sums: ir.Value) -> ir.Value:
    vector = ir.VectorType(row.element, x.type.count * row.group)
    function = b.module.globals.get(row.intrinsic)
    if function is None:
      function = ir.Function(b.module, ir.FunctionType(sums.type, [sums.type, vector, vector]), row.intrinsic)
    return b.call(function, [sums, b.bitcast(x, vector), b.bitcast(y, vector)])

  return multiply_add

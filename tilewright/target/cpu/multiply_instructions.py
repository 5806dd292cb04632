"""How a micro-kernel multiplies: `accumulators += element of A, broadcast * vector of B`, as a table keyed by dtypes and features.

Both operands are packed in units. A unit is one element; or as many small elements side by side along K as an instruction multiplies and
adds at once:

    fma        1 element       any float
    bf16       2 elements      vdpbf16ps (AVX-512), bfdot (NEON, SVE): both products are added to a float of 32 bits
    int8       4 elements      vpdpbusd (VNNI), sdot (NEON, SVE): exact in 32 bits
    matrix     4 or 8          bfmmla, smmla (NEON, SVE): 2 x 2 accumulators from units of two rows and of two columns (`matrix_units`)
    AMX        2 or 4          tdpbf16ps, tdpbssd: 16 x 16 accumulators from 16 units of 16 rows and 16 columns (`amx`)

vpdpbusd multiplies unsigned by signed bytes. The left operand is therefore packed with 128 added to each element (its top bit flipped), and
the accumulators start at -128 times the sum of the right operand's column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import ml_dtypes
import numpy as np
from llvmlite import ir

from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm import types as ty

_BF16, _I8, _F32, _I32, _I64 = (np.dtype(t) for t in (ml_dtypes.bfloat16, np.int8, np.float32, np.int32, np.int64))

MultiplyAdd = Callable[
  [ir.IRBuilder, ir.Value, ir.Value, ir.Value], ir.Value
]  # builder, a, b, accumulators -> accumulators


class _BFloat(ir.types.Type):
  """LLVM's bfloat, which llvmlite has no name for."""

  def _to_string(self) -> str:
    return "bfloat"

  def __eq__(self, other: object) -> bool:
    return isinstance(other, _BFloat)

  def __hash__(self) -> int:
    return hash(_BFloat)


class _Scalable(ir.types.Type):
  """A vector of SVE, as long as the processor's: a multiple of 128 bits."""

  def __init__(self, element: ir.Type, count: int):
    self.element, self.count = element, count

  def _to_string(self) -> str:
    return f"<vscale x {self.count} x {self.element}>"

  def __eq__(self, other: object) -> bool:
    return isinstance(other, _Scalable) and (self.element, self.count) == (other.element, other.count)

  def __hash__(self) -> int:
    return hash((_Scalable, self.element, self.count))


@dataclasses.dataclass(frozen=True)
class Multiplier:
  """A way to multiply: the dtype operands are packed as, how many of them make a unit, and the instruction."""

  dtype: np.dtype
  group: int
  multiply_add: MultiplyAdd
  flipped: int = 0  # bits of each element of A that are flipped when it is packed
  tile: str | None = None  # the AMX intrinsic that multiplies whole tiles, instead of `multiply_add`
  is_matrix: bool = False  # whether `multiply_add` multiplies two rows by two columns

  @property
  def unit(self) -> np.dtype:
    """What a unit is in memory: the element itself, or 32 or 64 bits."""
    if self.group == 1:
      return self.dtype
    return _I64 if self.group * self.dtype.itemsize == 8 else _I32


@dataclasses.dataclass(frozen=True)
class _Row:
  """One instruction of one family of processors."""

  operands: np.dtype
  accumulators: np.dtype
  features: frozenset[str]
  vector_bytes: int
  group: int
  intrinsic: str
  element: ir.Type  # of the instruction's operands
  flipped: int = 0
  is_matrix: bool = False

  def fits(self, host: Host, operands: tuple[np.dtype, np.dtype], accumulators: np.dtype) -> bool:
    # An instruction of SVE has vectors of any length, and `vector_bytes` is 0.
    long_enough = self.vector_bytes == host.vector_bytes if self.vector_bytes else host.vscale > 0
    return (
      (self.operands, self.operands) == operands
      and self.accumulators == accumulators
      and long_enough
      and self.features <= host.features
    )


_SVE = 0
_ROWS = (
  _Row(_BF16, _F32, frozenset({"neon", "bf16"}), 16, 4, "llvm.aarch64.neon.bfmmla", _BFloat(), is_matrix=True),
  _Row(_I8, _I32, frozenset({"neon", "i8mm"}), 16, 8, "llvm.aarch64.neon.smmla.v4i32.v16i8", ty.I8, is_matrix=True),
  _Row(_BF16, _F32, frozenset({"sve", "bf16"}), _SVE, 4, "llvm.aarch64.sve.bfmmla", _BFloat(), is_matrix=True),
  _Row(_I8, _I32, frozenset({"sve", "i8mm"}), _SVE, 8, "llvm.aarch64.sve.smmla.nxv4i32", ty.I8, is_matrix=True),
  _Row(_BF16, _F32, frozenset({"sve", "bf16"}), _SVE, 2, "llvm.aarch64.sve.bfdot", _BFloat()),
  _Row(_I8, _I32, frozenset({"sve"}), _SVE, 4, "llvm.aarch64.sve.sdot.nxv4i32", ty.I8),
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
_AMX_MIN_ROWS = 8  # of A: with fewer, most of a tile is idle, and a vector unit is as fast
_MATRIX_MIN_ROWS = 3  # with one row half of the accumulators are idle; two are no faster than without


def choose(host: Host, lhs: np.dtype, rhs: np.dtype, accumulators: np.dtype, rows: int = 1) -> Multiplier:
  """The best way to multiply operands of these dtypes on a processor, A of so many rows; one element at a time if there is no better."""
  if rows >= _AMX_MIN_ROWS and "amx-tile" in host.features and host.vector_bytes == 64:
    for operands, accumulator, feature, group, intrinsic in _AMX_ROWS:
      if operands == lhs == rhs and accumulator == accumulators and feature in host.features:
        return Multiplier(operands, group, _separate, tile=intrinsic)
  for row in _ROWS:
    if row.fits(host, (lhs, rhs), accumulators) and (rows >= _MATRIX_MIN_ROWS or not row.is_matrix):
      return Multiplier(row.operands, row.group, _grouped(row), row.flipped, is_matrix=row.is_matrix)
  return single(accumulators)


def single(accumulators: np.dtype) -> Multiplier:
  """One element at a time, in the dtype of the accumulators."""
  return Multiplier(accumulators, 1, _fused if ty.is_float(accumulators) else _separate)


def _fused(b: ir.IRBuilder, x: ir.Value, y: ir.Value, accumulators: ir.Value) -> ir.Value:
  return ty.intrinsic(b, "fma", [x, y, accumulators])


def _separate(b: ir.IRBuilder, x: ir.Value, y: ir.Value, accumulators: ir.Value) -> ir.Value:
  return b.add(b.mul(x, y), accumulators)


def _grouped(row: _Row) -> MultiplyAdd:
  """One instruction over units: operands are vectors of units, seen as vectors of elements."""

  def multiply_add(b: ir.IRBuilder, x: ir.Value, y: ir.Value, accumulators: ir.Value) -> ir.Value:
    vector = ir.VectorType(row.element, x.type.count * row.group)
    operands = [accumulators, b.bitcast(x, vector), b.bitcast(y, vector)]
    if row.vector_bytes != _SVE:
      return _call(b, row.intrinsic, operands, accumulators.type)
    scaled = [_as_scalable(b, v) for v in operands]
    result, name = _call(b, row.intrinsic, scaled, scaled[0].type), _scalable_name(accumulators.type)
    return _call(
      b, f"llvm.vector.extract.{ty.suffix(accumulators.type)}.{name}", [result, ty.I64(0)], accumulators.type
    )

  return multiply_add


def _call(b: ir.IRBuilder, name: str, operands: list[ir.Value], result: ir.Type) -> ir.Value:
  function = b.module.globals.get(name)
  if function is None:
    function = ir.Function(b.module, ir.FunctionType(result, [v.type for v in operands]), name)
  return b.call(function, operands)


def _bits(element: ir.Type) -> int:
  return 16 if isinstance(element, _BFloat) else 32 if element == ty.F32 else element.width


def _suffix(element: ir.Type) -> str:
  return "bf16" if isinstance(element, _BFloat) else ty.suffix(element)


def _scalable_name(vector: ir.VectorType) -> str:
  return f"nxv{128 // _bits(vector.element)}{_suffix(vector.element)}"


def _as_scalable(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
  """A vector that is exactly as long as SVE's."""
  kind = _Scalable(value.type.element, 128 // _bits(value.type.element))
  name = f"llvm.vector.insert.{_scalable_name(value.type)}.v{value.type.count}{_suffix(value.type.element)}"
  return _call(b, name, [ir.Constant(kind, ir.Undefined), value, ty.I64(0)], kind)

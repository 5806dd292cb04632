"""HLO's primitive types, and the numpy (ml_dtypes) type each one is held in.

Types narrower than a byte take one byte per element, in numpy and in XLA's protos.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True)
class PrimitiveType:
  name: str
  enum: int  # xla.PrimitiveType
  bits: int  # 0 for what has no elements (tuple, token, opaque, buffer)
  dtype: np.dtype | None
  kind: str  # pred, signed, unsigned, float, complex, other
  literal_field: int  # of LiteralProto, 0 where there is none


def _rows() -> list[PrimitiveType]:
  m = ml_dtypes
  rows: list[tuple[str, int, int, Any, str, int]] = [
    ("pred", 1, 8, np.bool_, "pred", 2),
    ("s1", 30, 1, m.int1, "signed", 30),
    ("s2", 26, 2, m.int2, "signed", 26),
    ("s4", 21, 4, m.int4, "signed", 21),
    ("s8", 2, 8, np.int8, "signed", 15),
    ("s16", 3, 16, np.int16, "signed", 17),
    ("s32", 4, 32, np.int32, "signed", 4),
    ("s64", 5, 64, np.int64, "signed", 5),
    ("u1", 31, 1, m.uint1, "unsigned", 31),
    ("u2", 27, 2, m.uint2, "unsigned", 27),
    ("u4", 22, 4, m.uint4, "unsigned", 22),
    ("u8", 6, 8, np.uint8, "unsigned", 3),
    ("u16", 7, 16, np.uint16, "unsigned", 16),
    ("u32", 8, 32, np.uint32, "unsigned", 6),
    ("u64", 9, 64, np.uint64, "unsigned", 7),
    ("f16", 10, 16, np.float16, "float", 11),
    ("f32", 11, 32, np.float32, "float", 8),
    ("bf16", 16, 16, m.bfloat16, "float", 13),
    ("f64", 12, 64, np.float64, "float", 9),
    ("f8e5m2", 19, 8, m.float8_e5m2, "float", 19),
    ("f8e4m3", 28, 8, m.float8_e4m3, "float", 28),
    ("f8e4m3fn", 20, 8, m.float8_e4m3fn, "float", 20),
    ("f8e4m3b11fnuz", 23, 8, m.float8_e4m3b11fnuz, "float", 23),
    ("f8e3m4", 29, 8, m.float8_e3m4, "float", 29),
    ("f8e5m2fnuz", 24, 8, m.float8_e5m2fnuz, "float", 24),
    ("f8e4m3fnuz", 25, 8, m.float8_e4m3fnuz, "float", 25),
    ("f4e2m1fn", 32, 4, m.float4_e2m1fn, "float", 32),
    ("f8e8m0fnu", 33, 8, m.float8_e8m0fnu, "float", 33),
    ("f6e3m2fn", 35, 6, m.float6_e3m2fn, "float", 35),
    ("f6e2m3fn", 36, 6, m.float6_e2m3fn, "float", 36),
    ("c64", 15, 64, np.complex64, "complex", 12),
    ("c128", 18, 128, np.complex128, "complex", 18),
    ("tuple", 13, 0, None, "other", 0),
    ("opaque", 14, 0, None, "other", 0),
    ("token", 17, 0, None, "other", 0),
    ("buffer", 34, 0, None, "other", 0),
  ]
  return [PrimitiveType(n, e, b, None if t is None else np.dtype(t), k, f) for n, e, b, t, k, f in rows]


PRIMITIVE_TYPES: dict[str, PrimitiveType] = {row.name: row for row in _rows()}
BY_ENUM: dict[int, PrimitiveType] = {row.enum: row for row in PRIMITIVE_TYPES.values()}
_BY_DTYPE: dict[np.dtype, str] = {row.dtype: row.name for row in PRIMITIVE_TYPES.values() if row.dtype is not None}


def element_type_of(dtype: np.typing.DTypeLike) -> str:
  """The HLO name of a numpy or ml_dtypes type: `element_type_of(np.float32) == "f32"`."""
  found = _BY_DTYPE.get(np.dtype(dtype))
  if found is None:
    raise TypeError(f"HLO has no element type for numpy's {np.dtype(dtype)}")
  return found

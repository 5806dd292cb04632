"""Processor descriptions for the code generator: a table keyed by LLVM's feature names.

    of({"avx512f", "avx512bf16", ...})  ->  Host(vector_bytes=64, num_registers=32, panel_vectors=2, features=...)

A contraction keeps `rows x panel_vectors` vectors of accumulators in registers. Besides them it needs `panel_vectors` for a row of the
right operand and one or two for elements of the left one: 14 x 2 of the 32 registers of AVX-512, 6 x 2 of the 16 of AVX2, 8 x 3 of the 32
of NEON and SVE. The length of SVE's vectors is not part of its name; the feature `sve-bits-256` is ours. Vectors of 128 bits are NEON's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Host:
  """A processor's vector unit: register width, number of registers, and features."""

  vector_bytes: int = 64
  num_registers: int = 32
  panel_vectors: int = 2
  l2_bytes: int = 1 << 20  # L2 of one core of this kind
  vscale: int = 0  # how many times 128 bits SVE's vectors have, where they are used
  features: frozenset[str] = frozenset()

  @property
  def lanes(self) -> int:
    """How many elements of 32 bits a vector has."""
    return self.vector_bytes // 4

  def lanes_of(self, dtype: np.dtype) -> int:
    """How many elements are computed side by side: those of fewer than 32 bits are spread out."""
    return self.vector_bytes // max(4, dtype.itemsize)

  def panel_width(self, rows: int) -> int:
    """How many vectors wide a panel for so many rows is: where they are few, it is wider, and memory is read in longer runs."""
    vectors = 8
    while vectors > self.panel_vectors and vectors * (rows + 1) + 2 > self.num_registers:
      vectors //= 2
    return max(vectors, self.panel_vectors)

  def panel_rows(self, vectors: int) -> int:
    """How many rows of accumulators, each of some vectors, fit the registers: an even number where there are two."""
    rows = (self.num_registers - 2 - vectors) // vectors
    return max(1, rows // 2 * 2)


SVE_BITS = "sve-bits-"

# The first row whose features a processor has is its own.
_VECTORS: tuple[tuple[frozenset[str], Host], ...] = (
  (frozenset({"avx512f"}), Host(vector_bytes=64, num_registers=32, panel_vectors=2)),
  (frozenset({"avx2", "fma"}), Host(vector_bytes=32, num_registers=16, panel_vectors=2, l2_bytes=1 << 19)),
  (frozenset({"sve", f"{SVE_BITS}512"}), Host(vector_bytes=64, num_registers=32, panel_vectors=3, vscale=4)),
  (frozenset({"sve", f"{SVE_BITS}256"}), Host(vector_bytes=32, num_registers=32, panel_vectors=3, vscale=2)),
  (frozenset({"neon"}), Host(vector_bytes=16, num_registers=32, panel_vectors=3)),
  (frozenset(), Host(vector_bytes=16, num_registers=16, panel_vectors=2, l2_bytes=1 << 18)),
)


def of(features: Iterable[str]) -> Host:
  """The row of the table for a processor with these features."""
  present = frozenset(features)
  return next(dataclasses.replace(host, features=present) for needed, host in _VECTORS if needed <= present)

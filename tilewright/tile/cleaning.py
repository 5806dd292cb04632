"""From a kernel as it was lowered to one that targets make code of."""

from __future__ import annotations

from tilewright.tile import complex_parts, widening
from tilewright.tile.native import NativeKernel
from tilewright.tile.rewrite import rewrite, simplify


def clean(kernel: NativeKernel) -> NativeKernel:
  """A kernel as code is made of it: complex numbers as pairs, narrow formats computed in wider ones, and its functions simplified, in
  place; what is known about the grid decides comparisons and bounds checks."""
  kernel = complex_parts.split(kernel)
  mapping = kernel.mapping
  rewrite(kernel.body, widening.RULES)
  simplify(kernel.body, grid=mapping.grid[mapping.num_vmapped :])
  for index_map in kernel.index_maps:
    if index_map is not None:
      rewrite(index_map, widening.RULES)
      simplify(index_map)
  return kernel

"""The pass pipeline from a freshly lowered kernel to the form from which targets generate code."""

from __future__ import annotations

from tilewright.tile import complex_parts, widening
from tilewright.tile.native import NativeKernel
from tilewright.tile.rewrite import rewrite, simplify


def clean(kernel: NativeKernel) -> NativeKernel:
  """The kernel ready for code generation: complex numbers become pairs, narrow formats are computed in wider ones, and the functions are
  simplified in place; known grid sizes decide comparisons and bounds checks."""
  kernel = complex_parts.split(kernel)
  mapping = kernel.mapping
  rewrite(kernel.body, widening.RULES)
  simplify(kernel.body, grid=mapping.grid[mapping.num_vmapped :])
  for index_map in kernel.index_maps:
    if index_map is not None:
      rewrite(index_map, widening.RULES)
      simplify(index_map)
  return kernel

"""Results in the shape of the caller's array, without a copy.

    reshaped(rows, (687, 1, 202))      rows.reshape(687, 1, 202), in row-major order

A kernel computes rows; its caller's array may have more dimensions. Where one of those is 1, several orders of dimensions mean the same
bytes. XLA:CPU gives such a reshape of a kernel's result a different layout than the program's result has, and inserts a copy from one to
the other, which costs as much as a memory-bound kernel. So the layout is given explicitly. Exported programs, and other platforms, do
not need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.experimental.layout import Layout, with_layout_constraint

from tilewright.runtime import _jax

row_major_p = _jax.core.Primitive("row_major")
row_major_p.def_impl(lambda x: x)
row_major_p.def_abstract_eval(lambda x: x)
_jax.ad.deflinear2(row_major_p, lambda cotangent, _: [cotangent])
_jax.batching.defvectorized(row_major_p)


def _constrained(x: jax.Array) -> jax.Array:
  return with_layout_constraint(x, Layout(major_to_minor=tuple(range(x.ndim))))


def _lower(ctx: Any, x: Any) -> Any:
  module = ctx.module_context
  if module.lowering_parameters.for_export or tuple(module.platforms) != ("cpu",):
    return [x]
  return _jax.mlir.lower_fun(_constrained, multiple_results=False)(ctx, x)


_jax.mlir.register_lowering(row_major_p, _lower)


def reshaped(x: jax.Array, shape: Sequence[int]) -> jax.Array:
  """A kernel's result, reshaped."""
  result = x.reshape(shape)
  is_ambiguous = 1 in result.shape[1:] and result.size > 0
  return row_major_p.bind(result) if is_ambiguous else result

"""`layout_cast`: a layout constraint that fixes which thread holds which element of a tile."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.pallas import effects
from tilewright.pallas.primitives import Primitive, not_differentiable
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.tile.control import NO_LAYOUT

layout_cast_p = Primitive("layout_cast")
layout_cast_p.def_abstract_eval(lambda x, *, layout: x)
layout_cast_p.def_impl(lambda x, *, layout: x)
not_differentiable(layout_cast_p)
xla.register(layout_cast_p)(lambda ctx, x, *, layout: x)
_jax.mlir.register_lowering(layout_cast_p, lambda ctx, x, *, layout: [x])


print_layout_p = Primitive("print_layout")
print_layout_p.multiple_results = True
print_layout_p.def_effectful_abstract_eval(lambda x, *, fmt: ([], {effects.debug_effect}))
not_differentiable(print_layout_p)


@xla.register(print_layout_p)
def _(ctx: xla.Context, x: Any, *, fmt: str) -> list[Any]:
  print(fmt.format(NO_LAYOUT))
  return []


def _batched(args: Any, dims: Any, *, layout: str) -> Any:
  raise errors.LayoutError(
    f"layout_cast under vmap inside of a kernel: {layout} has no place for the mapped dimension."
  )


_jax.batching.primitive_batchers[layout_cast_p] = _batched


def layout_cast(x: jax.Array, layout: Any) -> jax.Array:
  """The tile `x`, held as `layout` (a `tilewright.layout.Layout`) says from here on; on targets without layouts, `x`.

      rows = tilewright.layout.blocked((64, 128), per_thread=(1, 8), lanes=(2, 16), warps=(4, 1))
      y = nvgpu.layout_cast(x_ref[...], rows)

  A hard constraint: inference chooses all other layouts so that this one holds, and converts tiles that have another layout. The kernel has
  as many warps as the layout, unless its `CompilerParams` say otherwise, which is an error.
  """
  from tilewright.target.nvgpu.passes.layouts import hints  # few programs need layouts, and all import this module

  x = jnp.asarray(x)
  return layout_cast_p.bind(x, layout=hints.layout_text(layout, tuple(x.shape)))


def print_layout(fmt: str, x: jax.Array) -> None:
  """Print, when the kernel is compiled, which layout the compiler chose for the tile `x`: `print_layout("x: {}", x)`."""
  print_layout_p.bind(jnp.asarray(x), fmt=fmt)

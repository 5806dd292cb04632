"""The named axes in scope and their sizes, in the order by which devices are numbered.

JAX's axis environment is a set of names: environments with equal names and sizes are one object, so that in a mesh (x, stage) it may have
the order of a mesh (stage, x) that is still in use. The order comes from the mesh itself; axes that are not of a mesh (those of `vmap`)
follow.
"""

from __future__ import annotations

from typing import Any

import jax

from tilewright.runtime import _jax


def named_axes() -> dict[Any, int]:
  """All axes that `jax.lax.axis_index` knows here."""
  sizes = _jax.core.get_axis_env().axis_sizes
  ordered = [axis for axis in jax.sharding.get_abstract_mesh().axis_names if axis in sizes]
  return {axis: sizes[axis] for axis in dict.fromkeys([*ordered, *sizes])}


__all__ = ["named_axes"]

"""Uninitialised arrays and refs."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from tilewright.pallas.primitives import AbstractRef, TransformedRef
from tilewright.runtime import _jax


def empty(shape: Any, dtype: Any, *, out_sharding: Any = None) -> jax.Array:
  """An array of a shape and dtype with unspecified values, sharded over devices according to `out_sharding`."""
  return lax.empty(shape, dtype, out_sharding=out_sharding)


def empty_like(x: object) -> Any:
  """A tree of arrays with the shapes and dtypes of the leaves of `x`, whose values are unspecified."""
  return jax.tree.map(lambda leaf: empty(leaf.shape, leaf.dtype), x)


def empty_ref_like(x: object) -> Any:
  """A tree of fresh refs with the shapes, dtypes and, where they have one, memory spaces of the leaves of `x`."""

  def allocate(leaf: Any) -> Any:
    if hasattr(leaf, "get_ref_aval"):
      aval = leaf.get_ref_aval()
      return jax.new_ref(empty(aval.shape, aval.dtype), memory_space=aval.memory_space)
    space = leaf.memory_space if isinstance(leaf, AbstractRef | TransformedRef) else None
    return jax.new_ref(empty(leaf.shape, leaf.dtype), memory_space=space)

  return jax.tree.map(allocate, x, is_leaf=lambda leaf: hasattr(leaf, "get_ref_aval"))


def run_state(f: Any) -> Any:
  """Turn `f`, a function of a tree of refs, into a function from the refs' initial values to their final values."""
  return _jax.discharge.run_state(f)

"""Programs over meshes of CPU devices."""

from __future__ import annotations

import jax
import numpy as np
from jax.sharding import PartitionSpec as P

N = 8


def mesh_of(**axes):
  devices = np.array(jax.devices()[: int(np.prod(list(axes.values())))]).reshape(*axes.values())
  return jax.sharding.Mesh(devices, tuple(axes))


def on(f, *xs, mesh=None, check_vma=False):
  """Run on parts of arrays whose first dimension is one of devices; gives the results with such a dimension."""
  mesh = mesh or mesh_of(x=N)
  spec = P(tuple(mesh.axis_names))
  whole = jax.shard_map(
    lambda *xs: jax.tree.map(lambda y: y[None], f(*(x[0] for x in xs))),
    mesh=mesh,
    in_specs=spec,
    out_specs=spec,
    check_vma=check_vma,
  )
  return jax.tree.map(np.asarray, jax.jit(whole)(*xs))


def numbers(shape, dtype, seed=0):
  rng = np.random.default_rng(seed)
  if dtype == np.bool_:
    return rng.integers(0, 2, shape).astype(bool)
  low, high = (0, 3) if np.dtype(dtype).kind == "u" or "uint" in np.dtype(dtype).name else (-2, 3)
  return rng.integers(low, high, shape).astype(dtype)

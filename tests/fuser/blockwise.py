"""The oracle of the fuser's tests: compute a function block by block, the way a kernel would, and put the blocks
together.

What lies outside of an array is poison (NaN, or the smallest integer), so that a block that depends on it shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import fuser


def poison(shape: Sequence[int], dtype: Any) -> np.ndarray:
  if dtype == np.bool_:
    return np.zeros(shape, dtype)
  if jnp.issubdtype(dtype, jnp.integer):
    return np.full(shape, jnp.iinfo(dtype).min, dtype)
  return np.full(shape, np.nan, dtype)


def window(spec: pl.BlockSpec, index: Sequence[Any]) -> tuple[list[int], list[int], list[bool]]:
  """First element, size and visibility of each dimension of a block."""
  starts, sizes, kept = [], [], []
  for dim, i in zip(spec.block_shape, index, strict=True):
    squeezed = dim is None or isinstance(dim, pl.Squeezed)
    size = 1 if squeezed else getattr(dim, "block_size", dim)
    match dim:
      case pl.Element(_, (low, _)):
        start = int(i) - low
      case pl.BoundedSlice():
        start, size = int(i.start), size
      case _:
        start = int(i) * size
    starts.append(start)
    sizes.append(size)
    kept.append(not squeezed)
  return starts, sizes, kept


def read(x: Any, spec: Any, point: Sequence[int], scalars: Sequence[Any] = ()) -> Any:
  """What a kernel would get of an array."""
  if spec is pl.no_block_spec or spec.block_shape is None:
    return x
  x = np.asarray(x)
  starts, sizes, kept = window(spec, spec.index_map(*point, *scalars))
  block = poison(sizes, x.dtype)
  inside = tuple(slice(max(s, 0), min(s + n, d)) for s, n, d in zip(starts, sizes, x.shape))
  into = tuple(slice(w.start - s, w.stop - s) for w, s in zip(inside, starts))
  if all(w.start < w.stop for w in inside):
    block[into] = x[inside]
  return jnp.asarray(block.reshape([n for n, k in zip(sizes, kept) if k]))


def write(y: np.ndarray, spec: pl.BlockSpec, point: Sequence[int], block: Any) -> None:
  starts, sizes, _ = window(spec, spec.index_map(*point))
  block = np.asarray(block).reshape(sizes)
  inside = tuple(slice(max(s, 0), min(s + n, d)) for s, n, d in zip(starts, sizes, y.shape))
  y[inside] = block[tuple(slice(w.start - s, w.stop - s) for w, s in zip(inside, starts))]


def compute(
  f: Callable[..., Any], args: Sequence[Any], specs: Any, grid: Sequence[int], *, strict: bool = True
) -> list[np.ndarray]:
  """The leaves of f(*args), computed in blocks."""
  types = [jax.eval_shape(lambda a=a: a) for a in args]
  fn, values, scalars = fuser.get_fusion_values(f, *types)
  scalars = tuple(jnp.asarray(s)[None] for s in scalars)
  pull = fuser.pull_block_spec(fn, specs, grid_len=len(grid), strict_mode=strict, consistent_random=True)
  block_fn, (value_specs, *arg_specs), _ = pull(values, *types)
  leaves = jax.tree.leaves(jax.eval_shape(f, *types))
  flat_specs = jax.tree.leaves(specs, is_leaf=lambda s: isinstance(s, pl.BlockSpec))
  outs = [poison(t.shape, t.dtype) for t in leaves]
  for point in itertools.product(*map(range, grid)):
    blocks = [read(x, s, point, scalars) for x, s in zip(args, arg_specs)]
    inner = tuple(read(v, s, point, scalars) for v, s in zip(values, value_specs))
    found = jax.tree.leaves(block_fn(point, scalars, inner, *blocks))
    for y, spec, block in zip(outs, flat_specs, found, strict=True):
      write(y, spec, point, block)
  return outs


def check(
  f: Callable[..., Any], args: Sequence[Any], specs: Any, grid: Sequence[int], *, strict: bool = True, ulps: int = 0
) -> None:
  """Computing block by block gives what computing the whole does: bit for bit, or within some units in the last place."""
  wanted = [np.asarray(x) for x in jax.tree.leaves(jax.jit(f)(*args) if ulps else f(*args))]
  for got, want in zip(compute(f, args, specs, grid, strict=strict), wanted, strict=True):
    assert got.dtype == want.dtype and got.shape == want.shape
    if ulps:
      np.testing.assert_array_max_ulp(got, want, ulps)
    else:
      np.testing.assert_array_equal(got, want)


def blocks_of(shape: Sequence[int], block: Sequence[Any]) -> tuple[pl.BlockSpec, tuple[int, ...]]:
  """The spec that goes over an array in blocks, one grid dimension for each of its own, and that grid."""
  size = lambda d: 1 if d is None else getattr(d, "block_size", d)
  grid = tuple(-(-n // size(d)) for n, d in zip(shape, block))

  def index_map(*point: Any) -> tuple[Any, ...]:
    found = []
    for i, d, n in zip(point, block, shape):
      match d:
        case pl.Element(s, _):
          found.append(i * s)
        case pl.BoundedSlice(s):
          found.append(pl.ds(i * s, jnp.minimum(s, n - i * s)))
        case _:
          found.append(i)
    return tuple(found)

  return pl.BlockSpec(tuple(block), index_map), grid

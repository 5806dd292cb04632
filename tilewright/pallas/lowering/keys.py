"""PRNG keys as arrays of their words.

The tile IR has only numeric types: an array of keys of shape (4,) is a tile of shape (4, 2) of uint32, if a key has two words. So the
parameters of data-movement primitives get trailing dimensions, and a kernel on keys becomes a kernel on arrays of words.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from tilewright.pallas.lowering.table import KEYED, RULES, Context, physical
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked, BlockMapping, Kernel
from tilewright.tile.ir import Value


def words_of(aval: Any) -> tuple[int, ...]:
  """The dimensions of a key's words; none for numbers."""
  return physical(aval).shape[len(aval.shape) :]


# --- rules -------------------------------------------------------------------------------------------------------


def _keyed(name: str) -> Any:
  def add(f: Any) -> Any:
    def lower(ctx: Context, *args: Value, **params: Any) -> Any:
      return f(ctx, words_of(ctx.eqn.outvars[0].aval), *args, **params)

    KEYED[name] = lower
    return f

  return add


@_keyed("broadcast_in_dim")
def _broadcast_in_dim(
  ctx: Context, words: Any, x: Value, *_: Value, shape: Any, broadcast_dimensions: Any, **__: Any
) -> Value:
  last = tuple(range(len(shape), len(shape) + len(words)))
  return ctx.emit("broadcast", x, shape=(*shape, *words), dims=(*broadcast_dimensions, *last))


@_keyed("transpose")
def _transpose(ctx: Context, words: Any, x: Value, *, permutation: Any) -> Value:
  rank = len(permutation)
  return ctx.emit("transpose", x, permutation=(*permutation, *range(rank, rank + len(words))))


@_keyed("slice")
def _slice(ctx: Context, words: Any, x: Value, *, start_indices: Any, limit_indices: Any, strides: Any) -> Value:
  none, steps = (0,) * len(words), (1,) * len(words)
  return RULES["slice"](
    ctx,
    x,
    start_indices=(*start_indices, *none),
    limit_indices=(*limit_indices, *words),
    strides=None if strides is None else (*strides, *steps),
  )


def _zeros(ctx: Context, words: Any) -> list[Value]:
  return [ctx.constant(0, np.int32) for _ in words]


@_keyed("dynamic_slice")
def _dynamic_slice(ctx: Context, words: Any, x: Value, *starts: Value, slice_sizes: Any) -> Value:
  return ctx.emit("dynamic_slice", x, *starts, *_zeros(ctx, words), sizes=(*slice_sizes, *words))


@_keyed("dynamic_update_slice")
def _dynamic_update_slice(ctx: Context, words: Any, x: Value, update: Value, *starts: Value) -> Value:
  return ctx.emit("dynamic_update_slice", x, update, *starts, *_zeros(ctx, words))


@_keyed("select_n")
def _select_n(ctx: Context, words: Any, which: Value, *cases: Value) -> Value:
  which = ctx.emit("broadcast", which, shape=ctx.out.shape, dims=tuple(range(which.tile.rank)))
  return RULES["select_n"](ctx, which, *cases)


@_keyed("gather")
def _gather(
  ctx: Context, words: Any, x: Value, indices: Value, *, dimension_numbers: Any, slice_sizes: Any, **params: Any
) -> Value:
  rank = len(ctx.eqn.outvars[0].aval.shape)
  numbers = dimension_numbers._replace(offset_dims=(*dimension_numbers.offset_dims, *range(rank, rank + len(words))))
  params["fill_value"] = None
  return RULES["gather"](ctx, x, indices, dimension_numbers=numbers, slice_sizes=(*slice_sizes, *words), **params)


@_keyed("get")
def _get(ctx: Context, words: Any, ref: Value, *flat: Value, tree: Any) -> Value:
  from tilewright.pallas.lowering import memory

  return memory.read(ctx, ref, with_words(memory.transforms(tree, flat), words))


@_keyed("swap")
def _swap(ctx: Context, words: Any, ref: Value, value: Value, *flat: Value, tree: Any) -> Value:
  from tilewright.pallas.lowering import memory

  return memory.exchange(ctx, ref, value, with_words(memory.transforms(tree, flat), words))


def with_words(transforms: Sequence[Any], words: tuple[int, ...]) -> list[Any]:
  """Indices of keys as indices of their words: all of them."""
  found = []
  for t in transforms:
    if not isinstance(t, _jax.indexing.NDIndexer):
      raise NotImplementedError(f"keys seen through {t}")
    every = tuple(_jax.indexing.Slice(0, n, 1) for n in words)
    found.append(_jax.indexing.NDIndexer((*t.indices, *every), (*t.shape, *words), t.int_indexer_shape))
  return found


# --- kernels -----------------------------------------------------------------------------------------------------


def on_words(kernel: Kernel) -> Kernel:
  """The kernel with blocks of words in place of blocks of keys. Its body and index maps are as they were."""
  mapping = kernel.grid_mapping
  mappings = tuple(map(_block_of_words, mapping.block_mappings))
  return kernel.replace(grid_mapping=dataclasses.replace(mapping, block_mappings=mappings))


def _block_of_words(m: BlockMapping) -> BlockMapping:
  words = words_of(m.array_aval)
  if not words:
    return m
  array = physical(m.array_aval)
  shape = (*m.block_shape, *map(Blocked, words))
  return dataclasses.replace(m, block_shape=shape, array_aval=_jax.core.ShapedArray(array.shape, array.dtype))


def unwrapped(operands: Sequence[Any]) -> list[Any]:
  return [jax.random.key_data(x) if jax.numpy.issubdtype(x.dtype, jax.dtypes.prng_key) else x for x in operands]


def wrapped(kernel: Kernel, results: Sequence[Any]) -> list[Any]:
  """The results, with words wrapped as keys where the kernel returns keys."""
  found = []
  for x, m in zip(results, kernel.grid_mapping.output_mappings):
    dtype = m.array_aval.dtype
    found.append(jax.random.wrap_key_data(x, impl=dtype._impl) if words_of(m.array_aval) else x)
  return found

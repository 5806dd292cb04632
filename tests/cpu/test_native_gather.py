"""Gathers and scatters of values in native kernels give what the portable lowering gives, to the bit."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from tests.cpu.native import computes_the_same

DTYPES = ("float32", "bfloat16", "float16", "int8", "uint16", "int32", "bool")
examples = lambda n: settings(max_examples=n, deadline=None, database=None, derandomize=True)


def numbers(*shape, dtype="float32"):
  """Numbers that are all different where the dtype has that many."""
  return (jnp.arange(math.prod(shape)) * 7 % 251 - 60).reshape(shape).astype(dtype)


@st.composite
def windows(draw):
  """An array, a window of it, the axes that positions are given for, and positions of which some lie outside."""
  shape = tuple(draw(st.lists(st.integers(1, 20), min_size=1, max_size=3)))
  sizes = tuple(draw(st.sampled_from(sorted({1, d, draw(st.integers(1, d))}))) for d in shape)
  axes = tuple(draw(st.permutations(range(len(shape))))[: draw(st.integers(1, len(shape)))])
  dropped = tuple(a for a in range(len(shape)) if sizes[a] == 1 and draw(st.booleans()))
  batch = tuple(draw(st.lists(st.sampled_from([1, 3, 17]), max_size=2)))
  rank = len(batch) + len(shape) - len(dropped)
  kept = tuple(sorted(draw(st.permutations(range(rank)))[: rank - len(batch)]))
  seed = draw(st.integers(0, 99))
  positions = np.random.default_rng(seed).integers(-3, max(shape) + 2, (*batch, len(axes))).astype(np.int32)
  return shape, sizes, axes, dropped, kept, positions


@given(windows(), st.sampled_from(["clip", "fill", "promise_in_bounds"]), st.sampled_from(DTYPES))
@examples(20)
def test_gather(case, mode, dtype):
  shape, sizes, axes, dropped, kept, positions = case
  if mode == "promise_in_bounds":
    positions = np.clip(positions, 0, [shape[a] - sizes[a] for a in axes])
  numbers_ = lax.GatherDimensionNumbers(offset_dims=kept, collapsed_slice_dims=dropped, start_index_map=axes)
  computes_the_same(
    lambda x, i: lax.gather(x, i, numbers_, sizes, mode=mode), numbers(*shape, dtype=dtype), jnp.asarray(positions)
  )


SCATTERS = (lax.scatter, lax.scatter_add, lax.scatter_mul, lax.scatter_min, lax.scatter_max)


@given(st.sampled_from(SCATTERS), windows(), st.sampled_from(["clip", "drop"]), st.sampled_from(DTYPES[:-1]))
@examples(20)
def test_scatter(scatter, case, mode, dtype):
  shape, sizes, axes, dropped, kept, positions = case
  numbers_ = lax.ScatterDimensionNumbers(
    update_window_dims=kept, inserted_window_dims=dropped, scatter_dims_to_operand_dims=axes
  )
  window = iter([d for a, d in enumerate(sizes) if a not in dropped])
  batch = iter(positions.shape[:-1])
  rank = positions.ndim - 1 + len(kept)
  updates = numbers(*(next(window) if d in kept else next(batch) for d in range(rank)), dtype=dtype)
  computes_the_same(
    lambda x, i, u: scatter(x, i, u, numbers_, mode=mode), numbers(*shape, dtype=dtype), jnp.asarray(positions), updates
  )


PROGRAMS = {
  "take rows": lambda x, i: jnp.take(x, i, axis=0),
  "take columns": lambda x, i: jnp.take(x, i, axis=1, mode="clip"),
  "take along an axis": lambda x, i: jnp.take_along_axis(x, jnp.tile(i[:, None], (1, x.shape[1])), axis=0, mode="fill"),
  "index": lambda x, i: x[i, ::2],
  "set": lambda x, i: x.at[i].set(-x[: len(i)]),
  "add where indices repeat": lambda x, i: x.at[:, i % 3].add(x[:, : len(i)]),
  "subtract": lambda x, i: x.at[i].subtract(1),
  "apply": lambda x, i: x.at[i, 3].apply(lambda v: v * 2 + 1),
  "apply to rows": lambda x, i: x.at[i].apply(lambda v: v * v),
  "slices at dynamic starts": lambda x, i: jax.vmap(lambda r, j: lax.dynamic_slice(r, (j,), (5,)))(x[: len(i)], i),
  "updates at dynamic starts": lambda x, i: jax.vmap(lambda r, j: lax.dynamic_update_slice(r, r[:4] * 2, (j,)))(
    x[: len(i)], i
  ),
  "a histogram": lambda x, i: jnp.zeros(8, jnp.int32).at[i & 7].add(1),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_programs(name, dtype):
  positions = jnp.array([3, -1, 0, 30, -40, 9, 9], jnp.int32)
  computes_the_same(PROGRAMS[name], numbers(12, 37, dtype=dtype), positions)


def test_positions_may_be_of_any_integer_type():
  for dtype in (jnp.int8, jnp.uint8, jnp.uint32):
    computes_the_same(lambda x, i: x[i], numbers(100, 4), jnp.array([3, 99, 130, 0]).astype(dtype))


def test_nothing_is_gathered_from_nothing():
  computes_the_same(lambda x, i: jnp.take(x, i, axis=0), numbers(0, 4), jnp.zeros((0,), jnp.int32))
  computes_the_same(lambda x, i: x.at[i].set(1.0), numbers(5, 4), jnp.zeros((0,), jnp.int32))

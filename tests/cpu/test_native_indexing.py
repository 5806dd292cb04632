"""Refs indexed by arrays and seen through transforms, natively: what the portable lowering reads and writes, to the bit."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import agrees
from tilewright import pallas as pl
from tilewright.pallas import triton as plgpu

S = jax.ShapeDtypeStruct
SHAPE = (6, 9, 20)
ROWS = jnp.array([3, -1, 7, -9], jnp.int32)  # some count from the end, some lie outside
COLUMNS = jnp.array([[0], [11], [-2]], jnp.int32)


def numbers(shape, dtype=jnp.float32):
  return jnp.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def counted(shape):
  """Different numbers, made inside of a kernel."""
  return sum(lax.broadcasted_iota(jnp.int32, shape, d) * 31**d for d in range(len(shape))).astype(jnp.float32)


VIEWS = {
  "rows": lambda r, i, j: r.at[i[...]],
  "along the middle": lambda r, i, j: r.at[:, i[...]],
  "along the last": lambda r, i, j: r.at[:, :, i[...]],
  "two arrays side by side": lambda r, i, j: r.at[i[...], j[...]],
  "two arrays with a slice between": lambda r, i, j: r.at[i[...], :, j[...]],
  "an array and a scalar": lambda r, i, j: r.at[i[...], 2],
  "an array and a dynamic scalar": lambda r, i, j: r.at[i[...], :, i[0]],
  "an array and a strided slice": lambda r, i, j: r.at[i[...], pl.ds(1, 4, 2)],
  "an array and a slice over the edge": lambda r, i, j: r.at[i[...], pl.ds(i[2], 5)],
  "a strided slice over the edge": lambda r, i, j: r.at[1, pl.ds(i[2], 5, 2)],
  "an index of an index": lambda r, i, j: r.at[i[0]].at[pl.ds(i[2], 5)],
  "an array of an index": lambda r, i, j: r.at[i[0]].at[i[...]],
  "a reshaped slice": lambda r, i, j: r.at[pl.ds(i[0], 2)].reshape(18, 20),
  "a reshaped part": lambda r, i, j: r.at[:, 2].reshape(120),
  "an array of a reshaped ref": lambda r, i, j: r.reshape(54, 20).at[i[...]],
  "a transposed ref": lambda r, i, j: r.transpose((2, 0, 1)).at[i[...]],
  "bits": lambda r, i, j: r.bitcast(jnp.int32).at[i[...]],
  "halves": lambda r, i, j: r.bitcast(jnp.int16).at[:, i[...]],
  "pairs": lambda r, i, j: r.at[:, :8].bitcast(jnp.uint16).at[i[...]],
}


@functools.cache  # as the kernel is: it is traced once
def view_type(name):
  """Shape and dtype of a view, found by tracing a kernel up to it."""
  found = []

  def kernel(x_ref, i_ref, j_ref, o_ref):
    seen = VIEWS[name](x_ref, i_ref, j_ref)
    found.append((seen.shape, seen.dtype))
    o_ref[0] = 0.0

  pl.pallas_call(kernel, S((1,), jnp.float32), interpret=True)(numbers(SHAPE), ROWS, COLUMNS)
  return found[0]


@pytest.mark.parametrize("name", VIEWS)
def test_reads(name):
  shape, dtype = view_type(name)

  def kernel(x_ref, i_ref, j_ref, o_ref):
    o_ref[...] = VIEWS[name](x_ref, i_ref, j_ref)[...]

  agrees(kernel, S(shape, dtype), numbers(SHAPE), ROWS, COLUMNS)


@pytest.mark.parametrize("name", VIEWS)
def test_writes(name):
  shape, dtype = view_type(name)

  def kernel(x_ref, i_ref, j_ref, o_ref, old_ref):
    o_ref[...] = x_ref[...]
    old_ref[...] = pl.swap(VIEWS[name](o_ref, i_ref, j_ref), (), counted(shape).astype(dtype))

  agrees(kernel, [S(SHAPE, jnp.float32), S(shape, dtype)], numbers(SHAPE), ROWS, COLUMNS)


@pytest.mark.parametrize("name", [n for n in VIEWS if n not in ("halves", "pairs", "bits")])
def test_accumulation_counts_every_index(name):
  shape, _ = view_type(name)

  def kernel(x_ref, i_ref, j_ref, o_ref):
    o_ref[...] = x_ref[...]
    plgpu.atomic_add(VIEWS[name](o_ref, i_ref, j_ref), (), counted(shape))

  for positions in (ROWS, jnp.array([2, 2, 1, 2], jnp.int32)):
    agrees(kernel, S(SHAPE, jnp.float32), numbers(SHAPE), positions, COLUMNS)


@pytest.mark.parametrize("kind", ["add", "max", "min", "and", "or", "xor", "xchg"])
@pytest.mark.parametrize("masked", [False, True])
def test_atomics_with_repeated_indices(kind, masked):
  atomic = getattr(plgpu, f"atomic_{kind}")
  positions = jnp.array([3, 3, -1, 20, 3, 0, 0, 1], jnp.int32)
  mask = jnp.array([1, 0, 1, 1, 1, 0, 1, 1], bool)

  def kernel(x_ref, i_ref, m_ref, o_ref, old_ref):
    o_ref[...] = x_ref[...]
    values = jnp.arange(8, dtype=jnp.int32) * 13 % 29
    old_ref[...] = atomic(o_ref, (i_ref[...],), values, mask=m_ref[...] if masked else None)
    atomic(o_ref, (pl.ds(5, 8),), values, mask=m_ref[...] if masked else None)

  agrees(kernel, [S((16,), jnp.int32), S((8,), jnp.int32)], numbers((16,), jnp.int32) % 7, positions, mask)


def test_compare_and_swap():
  def kernel(x_ref, o_ref, old_ref):
    o_ref[...] = x_ref[...]
    old_ref[0] = plgpu.atomic_cas(o_ref.at[3], x_ref[3], 70)
    old_ref[1] = plgpu.atomic_cas(o_ref.at[4], x_ref[4] + 1, 70)

  agrees(kernel, [S((8,), jnp.int32), S((2,), jnp.int32)], numbers((8,), jnp.int32))


def test_masked_access_by_arrays():
  positions, mask = jnp.array([3, 7, -1, 20], jnp.int32), jnp.array([1, 0, 1, 0], bool)

  def kernel(x_ref, i_ref, m_ref, o_ref, y_ref):
    o_ref[...] = pl.load(x_ref, (i_ref[...],), mask=m_ref[...], other=-5) + pl.load(
      x_ref, (pl.ds(i_ref[0], 4),), mask=m_ref[...], other=9
    )
    y_ref[...] = x_ref[...]
    pl.store(y_ref, (i_ref[...],), o_ref[...], mask=m_ref[...])

  out = [S((4,), jnp.int32), S((8,), jnp.int32)]
  agrees(kernel, out, numbers((8,), jnp.int32), positions, mask)


def test_a_scatter_sees_what_was_there_before_it():
  """The value that is written is read from the same ref, at places that the write changes."""

  def kernel(x_ref, i_ref, o_ref):
    o_ref[...] = x_ref[...]
    o_ref[i_ref[...]] = o_ref[pl.ds(0, 4)]
    o_ref[pl.ds(0, 4)] = o_ref[i_ref[...]] + o_ref[pl.ds(1, 4)]

  agrees(kernel, S((8, 5), jnp.float32), numbers((8, 5)), jnp.array([1, 2, 3, 0], jnp.int32))

"""Refs are indexed like NumPy arrays: what a kernel reads, writes and accumulates is what NumPy would."""

from __future__ import annotations

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from language import F32, I32, S, arange, cropped, examples, numbers, padded, poison, run, same

from tilewright import pallas as pl

DTYPES = (np.float32, np.int32, np.int8, np.uint8, np.bool_, jnp.bfloat16)
OFFSET = 16  # further than any index here reaches


@dataclasses.dataclass(frozen=True)
class Entry:
  """One entry of an index: how NumPy writes it for the padded array, and how a kernel writes it.

  `in_kernel` gets the scalars that are only known when the kernel runs, and the index arrays passed to it.
  """

  numpy: object
  in_kernel: object
  scalars: tuple[int, ...] = ()
  array: object = None


def whole(dim):
  return Entry(slice(OFFSET, OFFSET + dim), lambda s, a: slice(None))


def wrap(i, dim):
  return (i + dim if i < 0 else i) + OFFSET


def strided(start, size, stride):
  return slice(OFFSET + start, OFFSET + start + (size - 1) * stride + 1, stride)


@st.composite
def entries_of(draw, dim, array_shape, *, outside):
  """An entry for a dimension. With `outside` it may leave the array, as only dynamic indices may."""
  reach = 6 if outside else 0
  kinds = ["int", "dynamic int", "slice", "ds", "dynamic ds", "whole"]
  if array_shape is not None:
    kinds += ["array", "array", "iota"]
  kind = draw(st.sampled_from(kinds))
  scalar = st.integers(-dim - reach, dim - 1 + reach)
  if kind == "int":
    i = draw(st.integers(-dim, dim - 1))
    return Entry(wrap(i, dim), lambda s, a: i)
  if kind == "dynamic int":
    i = draw(scalar)
    return Entry(wrap(i, dim), lambda s, a: s[0], (i,))
  if kind == "slice":
    start = draw(st.integers(0, dim - 1))
    stop = draw(st.integers(start + 1, dim))
    step = draw(st.integers(1, 3))
    size = len(range(start, stop, step))
    negative = draw(st.booleans())
    return Entry(strided(start, size, step), lambda s, a: slice(start - dim * negative, stop, step))
  if kind in ("ds", "dynamic ds"):
    stride = draw(st.integers(1, 3))
    size = draw(st.integers(1, (dim - 1) // stride + 1))
    reach = reach if kind == "dynamic ds" else 0
    start = draw(st.integers(-reach, dim - 1 - (size - 1) * stride + reach))
    if kind == "ds":
      return Entry(strided(start, size, stride), lambda s, a: pl.ds(start, size, stride))
    return Entry(strided(start, size, stride), lambda s, a: pl.ds(s[0], size, stride), (start,))
  if kind == "whole":
    return whole(dim)
  if kind == "iota":
    size = array_shape[-1]
    values = np.arange(size) % dim
    return Entry(values + OFFSET, lambda s, a: lax.rem(lax.iota(I32, size), I32(dim)))
  count = math.prod(array_shape)
  values = np.array(draw(st.lists(scalar, min_size=count, max_size=count))).reshape(array_shape)
  return Entry(np.vectorize(lambda i: wrap(i, dim))(values), lambda s, a: a, (), values.astype(np.int32))


@st.composite
def indexed_arrays(draw, *, outside=False, dtypes=DTYPES):
  shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
  dtype = draw(st.sampled_from(dtypes))
  array_shape = draw(st.sampled_from([None, None, (2,), (3,), (2, 3)]))
  entries = [draw(entries_of(d, array_shape, outside=outside)) for d in shape]
  hidden = draw(st.integers(0, len(shape)))  # an Ellipsis hides a run of whole dimensions
  at = draw(st.integers(0, len(shape) - hidden)) if hidden else None
  if at is not None:
    entries[at : at + hidden] = [whole(d) for d in shape[at : at + hidden]]
  return numbers(shape, dtype), entries, None if at is None else (at, hidden)


def numpy_index(entries):
  return tuple(e.numpy for e in entries)


def operands(entries):
  """The scalars and index arrays of all entries, as operands of a kernel."""
  scalars = np.array([s for e in entries for s in e.scalars] or [0], np.int32)
  return (scalars, *(e.array for e in entries if e.array is not None))


def kernel_index(entries, ellipsis, scalar_ref, array_refs):
  index, arrays, at = [], iter(array_refs), 0
  for e in entries:
    own = [scalar_ref[at + i] for i in range(len(e.scalars))]
    at += len(e.scalars)
    index.append(e.in_kernel(own, next(arrays)[...] if e.array is not None else None))
  if ellipsis is not None:
    start, count = ellipsis
    index[start : start + count] = [...]
  return tuple(index)


@given(indexed_arrays())
@examples(25)
def test_reading_is_numpy_indexing(case):
  array, entries, ellipsis = case
  expected = padded(array, OFFSET)[numpy_index(entries)]

  def kernel(s_ref, *refs):
    *array_refs, x_ref, o_ref = refs
    o_ref[...] = x_ref[kernel_index(entries, ellipsis, s_ref, array_refs)]

  same(run(kernel, *operands(entries), array, out=S(expected.shape, expected.dtype)), expected)


@given(indexed_arrays(outside=True))
@examples(25)
def test_reading_outside_gives_poison(case):
  array, entries, ellipsis = case
  expected = padded(array, OFFSET)[numpy_index(entries)]

  def kernel(s_ref, *refs):
    *array_refs, x_ref, o_ref = refs
    o_ref[...] = x_ref[kernel_index(entries, ellipsis, s_ref, array_refs)]

  same(run(kernel, *operands(entries), array, out=S(expected.shape, expected.dtype)), expected)


@given(indexed_arrays(outside=True))
@examples(25)
def test_writing_is_numpy_assignment_and_nothing_is_written_outside(case):
  array, entries, ellipsis = case
  sea = padded(array, OFFSET)
  places = np.arange(sea.size).reshape(sea.shape)[numpy_index(entries)]
  if len(np.unique(places)) != places.size:
    return  # which of two values for one element wins is not said
  new = numbers(places.shape, array.dtype, seed=1)
  before = np.array(sea[numpy_index(entries)])
  sea[numpy_index(entries)] = new

  def kernel(s_ref, *refs):
    *array_refs, x_ref, v_ref, o_ref, old_ref = refs
    o_ref[...] = x_ref[...]
    old_ref[...] = pl.swap(o_ref, kernel_index(entries, ellipsis, s_ref, array_refs), v_ref[...])

  out = (S(array.shape, array.dtype), S(before.shape, before.dtype))
  after, old = run(kernel, *operands(entries), array, new, out=out)
  same(after, cropped(sea, OFFSET))
  same(old, before)


@given(indexed_arrays(outside=True, dtypes=(np.float32, np.int32)))
@examples(20)
def test_accumulating_adds_up_even_where_an_index_repeats(case):
  array, entries, ellipsis = case
  sea = padded(array.astype(np.float64), OFFSET)
  update = numbers(sea[numpy_index(entries)].shape, array.dtype, seed=2)
  np.add.at(sea, numpy_index(entries), update)

  def kernel(s_ref, *refs):
    *array_refs, x_ref, v_ref, o_ref, atomic_ref = refs
    o_ref[...] = x_ref[...]
    atomic_ref[...] = x_ref[...]
    index = kernel_index(entries, ellipsis, s_ref, array_refs)
    jax.ref.addupdate(o_ref, index, v_ref[...])
    pl.atomic_add(atomic_ref, index, v_ref[...])

  added, atomic = run(kernel, *operands(entries), array, update, out=(S(array.shape, array.dtype),) * 2)
  same(added, cropped(sea, OFFSET).astype(array.dtype))
  same(atomic, cropped(sea, OFFSET).astype(array.dtype))


@given(indexed_arrays(outside=True, dtypes=(np.float32, np.int32)), st.integers(0, 2**20))
@examples(15)
def test_a_masked_load_gives_other_where_the_mask_is_false(case, seed):
  array, entries, ellipsis = case
  read = padded(array, OFFSET)[numpy_index(entries)]
  mask = np.random.default_rng(seed).integers(0, 2, read.shape).astype(bool)

  def kernel(s_ref, *refs):
    *array_refs, x_ref, m_ref, o_ref, p_ref = refs
    index = kernel_index(entries, ellipsis, s_ref, array_refs)
    o_ref[...] = pl.load(x_ref, index, mask=m_ref[...], other=7)
    p_ref[...] = pl.load(x_ref, index, mask=m_ref[...])

  with_other, without = run(kernel, *operands(entries), array, mask, out=(S(read.shape, read.dtype),) * 2)
  same(with_other, np.where(mask, read, 7).astype(read.dtype))
  same(without, np.where(mask, read, poison(read.dtype)).astype(read.dtype))


@given(indexed_arrays(outside=True, dtypes=(np.float32, np.int8)), st.integers(0, 2**20))
@examples(15)
def test_a_masked_store_writes_where_the_mask_is_true(case, seed):
  array, entries, ellipsis = case
  sea = padded(array, OFFSET)
  index = numpy_index(entries)
  places = np.arange(sea.size).reshape(sea.shape)[index]
  if len(np.unique(places)) != places.size:
    return
  mask = np.random.default_rng(seed).integers(0, 2, places.shape).astype(bool)
  new = numbers(places.shape, array.dtype, seed=1)
  sea[index] = np.where(mask, new, sea[index])

  def kernel(s_ref, *refs):
    *array_refs, x_ref, v_ref, m_ref, o_ref = refs
    o_ref[...] = x_ref[...]
    pl.store(o_ref, kernel_index(entries, ellipsis, s_ref, array_refs), v_ref[...], mask=m_ref[...])

  same(run(kernel, *operands(entries), array, new, mask, out=S(array.shape, array.dtype)), cropped(sea, OFFSET))


@st.composite
def transform_chains(draw):
  """A chain of ref transforms with static indices, as functions of a ref and of an array alike."""
  shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
  steps = []
  now = shape
  for _ in range(draw(st.integers(1, 4))):
    kind = draw(st.sampled_from(["at", "reshape", "transpose", "bitcast"]))
    if kind == "at" and now:
      parts = tuple(
        slice(a, draw(st.integers(a + 1, d)), draw(st.integers(1, 2)))
        for d in now
        for a in [draw(st.integers(0, d - 1))]
      )
      steps.append(("at", parts))
      now = np.empty(now)[parts].shape
    elif kind == "reshape":
      now = (int(np.prod(now)),) if len(now) > 1 or draw(st.booleans()) else (now[0], 1) if now else (1,)
      steps.append(("reshape", now))
    elif kind == "transpose" and len(now) > 1:
      order = tuple(draw(st.permutations(range(len(now)))))
      steps.append(("transpose", order))
      now = tuple(now[i] for i in order)
    elif kind == "bitcast" and len(now) > 1:  # a vector cannot be bitcast: rows are what is packed
      steps.append(("bitcast", draw(st.sampled_from([np.int32, np.float32, np.uint32]))))
  return shape, steps


def transformed(x, steps, *, is_ref):
  for kind, what in steps:
    match kind:
      case "at":
        x = x.at[what] if is_ref else x[what]
      case "reshape":
        x = x.reshape(what)
      case "transpose":
        x = x.transpose(what)
      case "bitcast":
        x = x.bitcast(what) if is_ref else x.view(what)
  return x


@given(transform_chains())
@examples(25)
def test_transformed_refs_read_and_write_like_transformed_arrays(case):
  shape, steps = case
  array = numbers(shape, np.float32)
  read = transformed(array, steps, is_ref=False)
  # Which element of `array` each element of the view is: writing through the view changes those.
  places = transformed(
    np.arange(array.size, dtype=np.int32).reshape(shape), [s for s in steps if s[0] != "bitcast"], is_ref=False
  )
  new = numbers(read.shape, np.int32, seed=3).view(read.dtype)
  expected = array.copy()
  expected.reshape(-1)[places.reshape(-1)] = new.reshape(-1).view(np.float32)

  def kernel(x_ref, v_ref, r_ref, w_ref):
    r_ref[...] = transformed(x_ref, steps, is_ref=True)[...]
    w_ref[...] = x_ref[...]
    transformed(w_ref, steps, is_ref=True)[...] = v_ref[...]

  got, written = run(kernel, array, new, out=(S(read.shape, read.dtype), S(shape, array.dtype)))
  same(got, read)
  same(written, expected)


@pytest.mark.parametrize("wide, narrow", [(jnp.int32, jnp.int8), (jnp.float32, jnp.bfloat16), (jnp.int16, jnp.uint8)])
def test_a_bitcast_to_narrower_elements_splits_rows_and_back(wide, narrow):
  # Rows are packed: `ratio` rows of narrow elements share a row of wide ones.
  ratio = jnp.dtype(wide).itemsize // jnp.dtype(narrow).itemsize
  narrow_values = numbers((2 * ratio, 4), narrow)

  def kernel(x_ref, o_ref, back_ref):
    wide_view = x_ref.bitcast(wide)
    assert wide_view.shape == (2, 4)
    o_ref[...] = wide_view[...]
    back_ref.bitcast(wide)[...] = wide_view[...]

  out = (S((2, 4), wide), S((2 * ratio, 4), narrow))
  packed, back = run(kernel, jnp.asarray(narrow_values), out=out)
  same(back, narrow_values)
  words = np.asarray(packed).reshape(2, 1, 4).copy().view(jnp.dtype(f"uint{8 * jnp.dtype(wide).itemsize}"))
  parts = [(words[:, 0] >> (8 * jnp.dtype(narrow).itemsize * r)) for r in range(ratio)]
  bits = narrow_values.view(jnp.dtype(f"uint{8 * jnp.dtype(narrow).itemsize}"))
  same(np.stack(parts, 1).reshape(2 * ratio, 4).astype(bits.dtype), bits)


def test_views_of_views_index_what_the_first_view_left():
  x = arange(4, 6)

  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.zeros_like(o_ref)
    o_ref.at[1:3].at[:, pl.ds(2, 2)].at[1][...] = x_ref.at[0:2].at[1][0:2]

  expected = np.zeros((4, 6), np.float32)
  expected[2, 2:4] = x[1, 0:2]
  same(run(kernel, x), expected)


@pytest.mark.parametrize("start", [-1, 0, 2, 3])
def test_a_slice_of_a_slice_with_starts_that_are_computed(start):
  """Elements of the second that lie outside of the first are poison to a load, and left alone by a store."""

  def body(start_ref, x_ref, o_ref, read_ref):
    at = start_ref[0]
    o_ref[...] = jnp.full_like(o_ref, -1.0)
    o_ref.at[pl.ds(at + 2, 4)].at[pl.ds(at, 2), pl.ds(1, 3)][...] = x_ref[0:2, 0:3]
    o_ref.at[pl.ds(8, 3)].at[at][...] = x_ref[7]
    read_ref[...] = x_ref.at[pl.ds(at + 2, 4)].at[pl.ds(at, 2)].at[:, pl.ds(at + 1, 2)][...]

  x = np.arange(80, dtype=np.float32).reshape(10, 8)
  out = [jax.ShapeDtypeStruct((12, 8), np.float32), jax.ShapeDtypeStruct((2, 2), np.float32)]
  found, read = pl.pallas_call(body, out_shape=out)(np.array([start], np.int32), x)
  wanted, wanted_read = np.full((12, 8), -1, np.float32), np.full((2, 2), np.nan, np.float32)
  for row in (row for row in range(2) if 0 <= start + row < 4):
    wanted[2 * start + 2 + row, 1:4] = x[row, :3]
    wanted_read[row] = x[2 * start + 2 + row, start + 1 : start + 3]
  if -3 <= start < 3:
    wanted[8 + start % 3] = x[7]
  np.testing.assert_array_equal(found, wanted)
  np.testing.assert_array_equal(read, wanted_read)


def test_swapping_through_a_ref_gives_what_stood_there():
  def kernel(x_ref, o_ref, old_ref):
    o_ref[...] = x_ref[...]
    old_ref[...] = jax.ref.swap(o_ref, (pl.ds(1, 2),), jnp.zeros(2, F32))

  after, old = run(kernel, arange(4), out=(S((4,), F32), S((2,), F32)))
  same(after, np.array([0, 0, 0, 3], np.float32))
  same(old, np.array([1, 2], np.float32))


@pytest.mark.parametrize("dtype", [jnp.int8, jnp.uint8, jnp.int16, jnp.uint32, jnp.int32])
def test_an_index_may_have_any_integer_dtype(dtype):
  """Also when the dimension is larger than the dtype can count."""
  x = arange(300)

  def kernel(i_ref, x_ref, o_ref, s_ref, w_ref):
    o_ref[...] = x_ref[i_ref[...]]
    s_ref[...] = x_ref[i_ref[1]]
    w_ref[...] = x_ref[pl.ds(i_ref[2], 3)]

  indices = jnp.array([1, 120, 7], dtype)
  gathered, scalar, window = run(kernel, indices, x, out=(S((3,), F32), S((), F32), S((3,), F32)))
  same(gathered, np.array([1, 120, 7], np.float32))
  same(scalar, np.float32(120))
  same(window, np.array([7, 8, 9], np.float32))


def test_a_python_number_takes_the_dtype_of_the_ref():
  def kernel(f_ref, i_ref):
    f_ref[0] = 1.5
    f_ref[1] = jnp.bfloat16(2)
    i_ref[0] = 3
    i_ref[1] = 4

  floats, ints = run(kernel, out=(S((2,), jnp.bfloat16), S((2,), jnp.int8)))
  same(floats, np.array([1.5, 2], jnp.bfloat16))
  same(ints, np.array([3, 4], np.int8))


def test_indices_of_64_bits_do_not_wrap_around():
  def kernel(i_ref, x_ref, o_ref, g_ref):
    o_ref[...] = x_ref[pl.ds(i_ref[0], 2)]
    g_ref[...] = x_ref[i_ref[...]]

  with jax.enable_x64(True):
    far = jnp.array([2**32], jnp.int64)
    window, gathered = run(kernel, far, arange(8), out=(S((2,), F32), S((1,), F32)))
  same(window, np.full(2, np.nan, np.float32))
  same(gathered, np.full(1, np.nan, np.float32))

"""Aliased operands: one array gives the same numbers as a copy, and nothing is copied where each element is read before it is written."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

ROWS, COLUMNS = 64, 128
X = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS) % 251


def in_place(body, *, grid=(), rows=ROWS, size=ROWS, index=None, index_out=None):
  """A kernel over blocks of rows whose output has the memory of its input."""
  index = index or (lambda *i: (i[0] if i else 0, 0))
  given, made = (pl.BlockSpec((rows, COLUMNS), f) for f in (index, index_out or index))
  shape = jax.ShapeDtypeStruct((size, COLUMNS), jnp.float32)
  return pl.pallas_call(body, shape, grid=grid, in_specs=[given], out_specs=made, input_output_aliases={0: 0})


def add_one(x_ref, o_ref):
  o_ref[...] = x_ref[...] + 1


def keep_some(x_ref, o_ref):
  o_ref[:3] = x_ref[:3] * 2


def in_branches(x_ref, o_ref):
  def add():
    o_ref[...] = x_ref[...] + 1

  def reverse():
    o_ref[...] = x_ref[...][::-1]

  lax.cond(pl.program_id(0) % 2 == 0, add, reverse)


def never_read(x_ref, o_ref):
  o_ref[pl.ds(1, 2)] = jnp.full((2, COLUMNS), 7.0)


def read_later(x_ref, o_ref):
  o_ref[...] = jnp.zeros_like(x_ref)
  o_ref[...] += x_ref[...][::-1]


def shifted_in_a_loop(x_ref, o_ref):
  def step(i, _):
    o_ref[pl.ds(i + 1, 1)] = x_ref[pl.ds(i, 1)]

  lax.fori_loop(0, x_ref.shape[0] - 1, step, None)


def reversed_rows(x_ref, o_ref):
  o_ref[...] = x_ref[...][::-1] + o_ref[...]


BODIES = (add_one, keep_some, in_branches, never_read, read_later, shifted_in_a_loop, reversed_rows)
ONE_ARRAY = (add_one, keep_some, in_branches, never_read, reversed_rows)


def expected(body, x, rows):
  """What a kernel gives whose input keeps its values, a block at a time."""
  out = x.copy()
  for i in range(-(-len(x) // rows)):
    part = slice(i * rows, (i + 1) * rows)
    block, made = x[part], x[part].copy()
    if body is add_one or (body is in_branches and i % 2 == 0):
      made = block + 1
    elif body is keep_some:
      made[:3] = block[:3] * 2
    elif body is in_branches or body is read_later:
      made = block[::-1]
    elif body is never_read:
      made[1:3] = 7
    elif body is shifted_in_a_loop:
      made[1:] = block[:-1]
    else:
      made = block[::-1] + block
    out[part] = made
  return out


@pytest.mark.parametrize("rows", [8, ROWS])
@pytest.mark.parametrize("body", BODIES)
def test_the_input_keeps_its_values_while_the_output_changes(body, rows):
  call = in_place(body, grid=(ROWS // rows,), rows=rows)
  np.testing.assert_array_equal(jax.jit(call)(X), expected(body, X, rows))
  np.testing.assert_array_equal(jax.jit(call, donate_argnums=0)(jnp.array(X)), expected(body, X, rows))


def test_blocks_beyond_the_edge():
  x = X[:51]
  np.testing.assert_array_equal(in_place(add_one, grid=(4,), rows=16, size=51)(x), x + 1)
  np.testing.assert_array_equal(in_place(keep_some, grid=(4,), rows=16, size=51)(x), expected(keep_some, x, 16))


def test_instances_that_read_blocks_of_others():
  """Each instance reads the block that the next one writes, or the one before."""
  for k in (1, 3):
    call = in_place(add_one, grid=(4,), rows=16, index=lambda i, k=k: ((i + k) % 4, 0), index_out=lambda i: (i, 0))
    np.testing.assert_array_equal(call(X), np.roll(X, -16 * k, axis=0) + 1)


def test_a_block_that_several_instances_update():
  def body(x_ref, o_ref):
    o_ref[...] += x_ref[...]

  call = in_place(body, grid=(4, 3), rows=16, index=lambda i, k: (i, 0))
  np.testing.assert_array_equal(call(X), 4 * X)  # and not 8 X, as if the sums were read


def test_operands_that_are_one_array():
  def body(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...][::-1]

  spec = pl.BlockSpec((16, COLUMNS), lambda i: (i, 0))
  last = pl.BlockSpec((16, COLUMNS), lambda i: (3 - i, 0))
  shape = jax.ShapeDtypeStruct(X.shape, jnp.float32)
  call = pl.pallas_call(body, shape, grid=(4,), in_specs=[spec, last], out_specs=spec, input_output_aliases={0: 0})
  np.testing.assert_array_equal(jax.jit(lambda x: call(x, x))(X), X + X[::-1])


def test_under_vmap():
  x = np.stack([X, X + 1, X * 2])
  call = in_place(add_one, grid=(4,), rows=16)
  np.testing.assert_array_equal(jax.vmap(call)(x), x + 1)


@pytest.fixture
def copies_in_a_loop(pytestconfig):
  if pytestconfig.getoption("--platform") == "emulated":
    pytest.skip("callbacks, which stand for a GPU, do not share memory")
  return _copies_in_a_loop


def _copies_in_a_loop(call):
  f = jax.jit(lambda x: lax.fori_loop(0, 5, lambda _, x: call(x), x), donate_argnums=0)
  text = f.lower(X).compile().as_text()
  return re.findall(rf"= f32\[{ROWS},{COLUMNS}\]\S* copy(?:-start)?\(", text)


@pytest.mark.usual_xla
@pytest.mark.parametrize("rows", [8, ROWS])
@pytest.mark.parametrize("body", BODIES)
def test_loops_copy_only_what_is_read_after_it_is_written(body, rows, copies_in_a_loop):
  found = copies_in_a_loop(in_place(body, grid=(ROWS // rows,), rows=rows))
  assert (found == []) == (body in ONE_ARRAY), found


@pytest.mark.usual_xla
def test_a_cache_is_updated_in_place(copies_in_a_loop):
  def body(i_ref, new_ref, cache_ref, out_ref):
    out_ref[...] = new_ref[...]

  grid = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(2,),
    in_specs=[
      pl.BlockSpec((8, COLUMNS), lambda g, i: (g, 0)),
      pl.BlockSpec((8, COLUMNS), lambda g, i: (i[g], 0)),
    ],
    out_specs=pl.BlockSpec((8, COLUMNS), lambda g, i: (i[g], 0)),
  )
  shape = jax.ShapeDtypeStruct(X.shape, jnp.float32)
  call = pl.pallas_call(body, shape, grid_spec=grid, input_output_aliases={2: 0})
  places, new = jnp.array([5, 2]), np.full((16, COLUMNS), -1.0, np.float32)
  wanted = X.copy()
  wanted[40:48] = wanted[16:24] = -1
  np.testing.assert_array_equal(call(places, new, X), wanted)
  assert copies_in_a_loop(lambda x: call(places, new, x)) == []

"""What a function closes over: arrays become arguments, numbers that say where something lies are prefetched."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from blockwise import blocks_of, check
from jax import lax

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import fuser

X = jnp.arange(96.0).reshape(8, 12)
W = jnp.arange(384.0).reshape(4, 8, 12)
I = jnp.array(2)


def test_arrays_become_values_and_indices_scalars():
  fn, values, scalars = fuser.get_fusion_values(lambda x: x * W[I] + X, jax.ShapeDtypeStruct((8, 12), jnp.float32))
  assert [v.shape for v in values] == [(4, 8, 12), (8, 12)]
  assert [s.shape for s in scalars] == [()]
  np.testing.assert_array_equal(fn(values, X), X * W[2] + X)


def test_a_number_that_is_only_a_value_is_not_prefetched():
  _, values, scalars = fuser.get_fusion_values(lambda: jnp.where(I > 1, X, X * I))
  assert [v.shape for v in values] == [(), (8, 12)] and scalars == ()


def test_an_array_that_is_closed_over_must_become_an_argument():
  with pytest.raises(errors.FusionError, match="get_fusion_values"):
    fuser.pull_block_spec(lambda x: x + X, pl.BlockSpec((4, 4), lambda i, j: (i, j)))(X)


def test_a_block_lies_where_the_prefetched_scalar_says():
  fn, values, _ = fuser.get_fusion_values(lambda: W[I])
  spec = pl.BlockSpec((4, 4), lambda i, j, *_: (i, j))
  _, ((w_spec,),), _ = fuser.pull_block_spec(fn, spec, grid_len=2)(values)
  assert w_spec.block_shape == (None, 4, 4)
  assert tuple(map(int, w_spec.index_map(1, 2, jnp.array([3])))) == (3, 1, 2)


def test_the_handler_finds_the_scalars_of_one_fusion():
  fn, values, _ = fuser.get_fusion_values(lambda: W[I])
  spec = pl.BlockSpec((4, 4), lambda i, j, *_: (i, j))
  handler = fuser.make_scalar_prefetch_handler(1, "w")
  _, ((w_spec,),), _ = fuser.pull_block_spec(fn, spec, scalar_prefetch_handler=handler, grid_len=2)(values)
  assert int(w_spec.index_map(1, 2, "others", {"w": (jnp.array([3]),)})[0]) == 3


@pytest.mark.parametrize("block", [(1, 4), (None, 4), (2, 4), (3, 5), (pl.Element(2), 4)])
def test_dynamic_slices_are_exact_for_any_start(block):
  """A start that is not a multiple of the block size is read element by element."""
  spec, grid = blocks_of((5, 12), block)
  check(lambda: lax.dynamic_slice(X, (I + 1, 0), (5, 12)), (), spec, grid)


def test_scalars_may_be_computed_and_come_from_small_arrays():
  table = jnp.array([3, 1, 0, 2])
  spec, grid = blocks_of((8, 12), (4, 4))
  check(lambda: W[table[I] * 2 % 3] + X, (), spec, grid)


def test_a_prefetched_scalar_may_also_be_a_value():
  spec, grid = blocks_of((8, 12), (4, 4))
  check(lambda: W[I] * I, (), spec, grid)


def test_two_reads_through_one_scalar_are_the_same():
  spec, grid = blocks_of((8, 12), (4, 4))
  check(lambda: W[I] + W[I] * 2, (), spec, grid)


# --- refs --------------------------------------------------------------------------------------------------------


def test_refs_need_the_stateful_functions():
  ref = jax.new_ref(X)
  with pytest.raises(errors.FusionError, match="get_stateful_input_fusion_values"):
    fuser.get_fusion_values(lambda: ref[...] * 2)


def test_a_ref_that_is_read_is_a_value():
  ref = jax.new_ref(X)
  fn, values, scalars = fuser.get_stateful_input_fusion_values(lambda: ref[...] * 2 + W[0])
  assert values[0] is ref and scalars == ()
  np.testing.assert_array_equal(fn((X, W)), X * 2 + W[0])


def test_input_fusions_leave_writes_out():
  ref = jax.new_ref(X)

  def f(z):
    ref[...] = z
    return z + 1

  fn, values, _ = fuser.get_stateful_input_fusion_values(f, X)
  assert values == ()
  np.testing.assert_array_equal(fn((), X), X + 1)


def test_output_fusions_return_what_they_write_and_say_over_what():
  old, log = jax.new_ref(X), jax.new_ref(X)

  def f(z):
    log[...] = z * old[...]
    return z + 1

  fn, values, _, aliases = fuser.get_stateful_output_fusion_values(f, X)
  assert list(values) == [old, log] and aliases == {1: 1}
  result, (written,) = fn((X, X), X)
  np.testing.assert_array_equal(result, X + 1)
  np.testing.assert_array_equal(written, X * X)


def test_a_stateful_fusion_is_cut_like_any_other():
  log = jax.new_ref(X)

  def f(z):
    log[...] += z
    return z * 2

  fn, _, _, _ = fuser.get_stateful_output_fusion_values(f, X)
  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  block_fn, ((log_spec,), z_spec), _ = fuser.pull_block_spec(fn, (spec, spec), grid_len=2)((X,), X)
  assert log_spec.block_shape == z_spec.block_shape == (4, 4)
  doubled, (added,) = block_fn((0, 0), (), (X[:4, :4],), X[:4, :4])
  np.testing.assert_array_equal(doubled, X[:4, :4] * 2)
  np.testing.assert_array_equal(added, X[:4, :4] * 2)

"""Arrays of more than 2^31 elements: every element has a number of its own. Only the pages that are touched take memory."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.large_arrays import (
  BODIES,
  I32,
  LAST,
  ONE_ELEMENT,
  SMEM,
  SPECS,
  N,
  S,
  check_every_block_is_found,
  check_every_element_is_found,
  put,
  read,
)
from tilewright import errors
from tilewright import pallas as pl


@pytest.mark.parametrize("name", BODIES)
def test_every_element_is_found(name):
  check_every_element_is_found(name)


@pytest.mark.parametrize("name", SPECS)
def test_every_block_is_found(name):
  check_every_block_is_found(name)


def refused(call, match):
  with pytest.raises(errors.UnsupportedFeatureError, match=match):
    call()


@pytest.mark.parametrize("name", BODIES)
def test_the_portable_lowering_is_right_or_says_that_it_cannot_count_so_far(name):
  body, scalars = BODIES[name]
  if scalars[:1] == (4082,) or name in ("a static window", "from the end"):  # all that is counted is known or small
    expected = LAST if name not in ONE_ELEMENT else np.full(16, 63)
    np.testing.assert_array_equal(read(body, *scalars, interpret=True), expected)
  else:
    refused(lambda: read(body, *scalars, interpret=True), f"has {N} elements.*interpret=False")


@pytest.mark.parametrize("name", SPECS)
def test_the_portable_lowering_refuses_blocks_that_it_cannot_count(name):
  call = lambda: read(lambda x, o: put(o, x[...]), spec=SPECS[name], interpret=True)
  refused(call, rf"Dimension 0 of args\[0\] has {N} elements.*interpret=False")


def test_an_int_that_does_not_fit_says_what_to_write():
  with pytest.raises(OverflowError, match=r"test_large_arrays.py:\d+\. Beyond element 2\^31 index with a slice"):
    read(lambda x, o: put(o, x[N - 1]))
  spec = pl.BlockSpec((pl.Element(16),), lambda: (1 << 32,))
  with pytest.raises(errors.IndexMapError, match=r"args\[0\] gives 4294967296 for dimension 0.*32 bits"):
    read(lambda x, o: put(o, x[...]), spec=spec)


def test_positions_of_64_bits_are_not_cut_to_32():
  """2^32 + 3 lies outside of a small array, and is no other name for element 3."""

  def kernel(x_ref, i_ref, o_ref):
    o_ref[...] = x_ref[i_ref[0] + jnp.arange(4)]

  with jax.enable_x64(True):
    call = pl.pallas_call(kernel, S((4,), I32), in_specs=[pl.BlockSpec(), SMEM])
    x = jnp.arange(1, 17, dtype=I32)
    np.testing.assert_array_equal(call(x, jnp.asarray([3])), np.arange(4, 8))
    np.testing.assert_array_equal(call(x, jnp.asarray([(1 << 32) + 3])), np.full(4, np.iinfo(np.int32).min))

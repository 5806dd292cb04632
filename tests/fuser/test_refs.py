"""Functions that read and write refs, computed block by block, give and leave what the function does."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import core
from jax._src.state import types as state_types

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import cpu, fuser

X = jnp.arange(96.0).reshape(8, 12)
REF = jnp.arange(288.0).reshape(3, 8, 12) * 2 - 7


def swap(ref, index, value):
  old = ref[index]
  ref[index] = value
  return old


def write_and_return(ref, x):
  ref[...] = x * 2
  return x


def write_and_read(ref, x):
  ref[...] = x * 2
  return ref[...] + 1


def accumulate(ref, x):
  ref[...] += x
  return ref[...] * 2


def write_row(ref, x):
  ref[1] = x + 3
  return x - 1


# name: function of a ref and an array, contents of the ref
CASES = {
  "read": (lambda ref, x: ref[...] + x, REF[0]),
  "read transposed": (lambda ref, x: ref[...].T + x, REF[0].T),
  "read one of three": (lambda ref, x: ref[1] * x, REF),
  "read in the middle": (lambda ref, x: ref[:, 2] - x, REF.transpose(1, 0, 2)),
  "read a part": (lambda ref, x: ref[3:11] + x, REF.reshape(24, 12)),
  "read in two ways": (lambda ref, x: ref[0] + ref[2] + x, REF),
  "write": (write_and_return, REF[0]),
  "write, then read": (write_and_read, REF[0]),
  "write a row": (write_row, REF),
  "accumulate": (accumulate, REF[0]),
  "exchange": (lambda ref, x: swap(ref, ..., x) * 3, REF[0]),
  "exchange twice": (lambda ref, x: swap(ref, ..., swap(ref, ..., x) + 1), REF[0]),
}


def wanted(f, contents):
  ref = jax.new_ref(contents)
  result = f(ref, X)
  return result, ref[...]


@pytest.mark.parametrize("closed_over", [False, True])
@pytest.mark.parametrize("block", [(4, 4), (None, 6)])
@pytest.mark.parametrize("name", CASES)
def test_a_function_of_a_ref_is_computed_block_by_block(name, block, closed_over):
  f, contents = CASES[name]
  spec = pl.BlockSpec(block, lambda i, j: (i, j))
  x_type = jax.ShapeDtypeStruct(X.shape, X.dtype)

  def pull(ref):
    if closed_over:
      block_fn, _, _ = fuser.pull_block_spec(lambda x: f(ref, x), spec, grid_len=2)(x_type)
      return block_fn
    ref_type = state_types.AbstractRef(core.ShapedArray(contents.shape, contents.dtype))
    block_fn, _, _ = fuser.pull_block_spec(f, spec, grid_len=2)(ref_type, x_type)
    return lambda grid, scalars, x: block_fn(grid, scalars, ref, x)

  def kernel(x_ref, _, o_ref, ref):
    o_ref[...] = pull(ref)((pl.program_id(0), pl.program_id(1)), (), x_ref[...])

  whole = pl.BlockSpec(memory_space=pl.ANY)
  got, left = pl.pallas_call(
    kernel,
    out_shape=(X, contents),
    grid=tuple(n // (b or 1) for n, b in zip(X.shape, block)),
    in_specs=[spec, whole],
    out_specs=[spec, whole],
    input_output_aliases={1: 1},
    compiler_params=cpu.CompilerParams(),
  )(X, contents)
  want, want_left = wanted(f, contents)
  np.testing.assert_array_equal(got, want)
  np.testing.assert_array_equal(left, want_left)


def test_refs_outside_of_kernels():
  ref = jax.new_ref(REF[0])
  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  block_fn, (x_spec,), _ = fuser.pull_block_spec(lambda x: accumulate(ref, x), spec, grid_len=2)(X)
  assert x_spec.block_shape == (4, 4)
  np.testing.assert_array_equal(block_fn((1, 2), (), X[4:, 8:]), (REF[0] + X)[4:, 8:] * 2)
  np.testing.assert_array_equal(ref[...], REF[0].at[4:, 8:].add(X[4:, 8:]))


def test_the_spec_of_a_ref_is_the_part_that_a_block_uses():
  ref_type = state_types.AbstractRef(core.ShapedArray(REF.shape, REF.dtype))
  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  _, (ref_spec, _), _ = fuser.pull_block_spec(lambda ref, x: ref[2].T.T + x, spec, grid_len=2)(ref_type, X)
  assert ref_spec.block_shape == (pl.squeezed, 4, 4) and ref_spec.index_map(1, 2) == (2, 1, 2)


@pytest.mark.parametrize(
  "f, said",
  [
    (lambda ref, x: ref[...].sum(0) + write_and_return(ref, x), "another part of the same ref"),
    (lambda ref, x: ref[...][::-1] + write_and_return(ref, x), "another part of the same ref"),
    (lambda ref, x: (swap(ref, (slice(0, 2),), x[:2]), x)[1], "do not follow from the outputs"),
    (lambda ref, x: (jax.debug.print("{}", x.sum()), x)[1], "effect"),
  ],
)
def test_what_would_depend_on_the_order_of_blocks_is_refused(f, said):
  ref = jax.new_ref(REF[0])
  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  pull = fuser.pull_block_spec(lambda x: f(ref, x), spec, grid_len=2)
  with pytest.raises(errors.UnsupportedFusionError, match=said) as caught:
    pull(X)
  assert "test_refs.py" in str(caught.value)


def test_blocks_that_reach_past_the_end_of_a_ref_are_refused():
  ref = jax.new_ref(REF[0])
  spec = pl.BlockSpec((3, 4), lambda i, j: (i, j))
  with pytest.raises(errors.UnsupportedFusionError, match="divisor of 8"):
    fuser.pull_block_spec(lambda x: ref[...] + x, spec, grid_len=2)(X)

"""Parts of a ref that are computed from other parts of it: XLA must not read what it has overwritten."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import triton as pltriton

X = np.random.default_rng(0).integers(0, 99, (8, 16)).astype(np.int32)


def shifted(s):
  s[1:8, 0:9] = s[0:7, 1:10]


def shifted_from_a_computed_place(s):
  start = pl.program_id(0) * 0
  s[1:8, pl.ds(start, 9)] = s[pl.ds(start, 7), 1:10]


def reversed_in_place(s):
  s[1:8, 0:7] = s[1:8, 0:7][::-1]


def transposed_in_place(s):
  s[1:8, 0:7] = s[1:8, 0:7].T


def rolled(s):
  s[1:8] = jnp.roll(s[...], 1, 0)[1:8] + 1


def swapped(s):
  first = s[0:4]
  s[0:4] = s[4:8]
  s[4:8] = first


def copied(s):
  pltpu.sync_copy(s.at[0:7], s.at[1:8])


def added_up(s):
  for i in range(1, 8):
    s[i : i + 1] = s[i : i + 1] + s[i - 1 : i]


def incremented(s):
  s[1:8, 0:7] = s[1:8, 0:7] + 1


def shifted_rows_added(s):
  jax.ref.addupdate(s, (slice(1, 8),), s[0:7])


def shifted_rows_added_atomically(s):
  pltriton.atomic_add(s, (pl.ds(1, 7), slice(None)), s[0:7])


def shifted_by_a_mask(s):
  pltriton.store(s.at[1:8], s[0:7], mask=jnp.ones((7, 16), jnp.bool_))


def shifted_in_a_branch(s):
  rows = s[0:7]

  @pl.when(pl.program_id(0) >= 0)
  def _():
    s[1:8] = rows


def shifted_in_an_inner_jit(s):
  @jax.jit
  def write(rows):
    s[1:8] = rows

  write(s[0:7])


def shifted_through_scratch(s):
  def body(t):
    t[...] = s[0:7]
    s[1:8] = t[...]

  pl.run_scoped(body, pltpu.VMEM((7, 16), jnp.int32))


def shifted_in_a_copy(s):
  def body(t):
    t[...] = s[...]
    t[1:8] = s[0:7]
    s[...] = t[...]

  pl.run_scoped(body, pltpu.VMEM((8, 16), jnp.int32))


def shifted_in_a_loop_of_one_step(s):
  rows = s[0:7]

  def body(_, carry):
    s[1:8] = carry
    return rows

  jax.lax.fori_loop(0, 1, body, rows)


def shifted_by_a_carry(s, unroll=True):
  def body(_, rows):
    s[1:8] = rows
    return s[0:7]

  jax.lax.fori_loop(0, 2, body, s[0:7], unroll=unroll)


def shifted_by_a_carry_of_pairs_of_steps(s):
  shifted_by_a_carry(s, unroll=2)


def overwritten_between(s):
  rows = s[0:4]
  s[2:6] = jnp.full((4, 16), 7, jnp.int32)
  s[0:4] = rows + 1


UPDATES = (
  *(shifted, shifted_from_a_computed_place, reversed_in_place, transposed_in_place, rolled, swapped, copied, added_up),
  *(incremented, shifted_rows_added, shifted_rows_added_atomically, shifted_by_a_mask, shifted_in_a_branch),
  *(shifted_in_an_inner_jit, shifted_through_scratch, shifted_in_a_copy, shifted_in_a_loop_of_one_step),
  *(shifted_by_a_carry, shifted_by_a_carry_of_pairs_of_steps, overwritten_between),
)


def expected(update):
  want = X.copy()
  if update in (shifted_rows_added, shifted_rows_added_atomically):
    want[1:8] += X[0:7]
  elif update in (shifted_by_a_carry, shifted_by_a_carry_of_pairs_of_steps):
    want[2:8], want[1] = X[0:6], X[0]
  elif update is overwritten_between:
    want[2:6], want[0:4] = 7, X[0:4] + 1
  elif update in (shifted, shifted_from_a_computed_place):
    want[1:8, 0:9] = X[0:7, 1:10]
  elif update is reversed_in_place:
    want[1:8, 0:7] = X[1:8, 0:7][::-1]
  elif update is transposed_in_place:
    want[1:8, 0:7] = X[1:8, 0:7].T
  elif update is rolled:
    want[1:8] = X[0:7] + 1
  elif update is swapped:
    want = np.concatenate([X[4:], X[:4]])
  elif update is copied or update.__name__.startswith("shifted"):
    want[1:8] = X[0:7]
  elif update is added_up:
    want = np.cumsum(X, axis=0)
  else:
    want[1:8, 0:7] += 1
  return np.stack([want] * 2)


@pytest.mark.parametrize("in_a_pipeline, in_a_slot", [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("update", UPDATES, ids=lambda f: f.__name__)
def test_parts_of_a_ref_made_of_other_parts(update, in_a_pipeline, in_a_slot):
  def body(x_ref, o_ref, s_ref):
    s = s_ref.at[0] if in_a_slot else s_ref
    s[...] = x_ref[...]
    update(s)
    o_ref[...] = s[...][None]

  ins, outs = pl.BlockSpec((8, 16), lambda i: (0, 0)), pl.BlockSpec((1, 8, 16), lambda i: (i, 0, 0))
  scratch = [pltpu.VMEM((1, 8, 16) if in_a_slot else (8, 16), jnp.int32)]
  out = jax.ShapeDtypeStruct((2, 8, 16), jnp.int32)
  if in_a_pipeline:
    in_steps = lambda x, o, s: pltpu.emit_pipeline(
      lambda a, b: body(a, b, s), grid=(2,), in_specs=[ins], out_specs=[outs]
    )(x, o)
    spec = pl.BlockSpec(memory_space=pl.ANY)
    call = pl.pallas_call(in_steps, out, grid=(1,), in_specs=[spec], out_specs=spec, scratch_shapes=scratch)
  else:
    call = pl.pallas_call(body, out, grid=(2,), in_specs=[ins], out_specs=outs, scratch_shapes=scratch)
  np.testing.assert_array_equal(jax.jit(call)(X), expected(update))


def _in_a_loop(call):
  def stacked(x):
    put = lambda i, found: jax.lax.dynamic_update_slice(found, call(x)[None], (i, 0, 0))
    return jax.lax.fori_loop(0, 2, put, jnp.zeros((2, 8, 16), jnp.int32))

  return jax.jit(stacked)


@pytest.mark.parametrize("memory_space", [None, pl.ANY])
def test_an_aliased_output_made_of_parts_of_another_input_with_equal_contents(memory_space):
  def body(_, b_ref, o_ref):
    o_ref[1:8] = b_ref[0:7]

  spec = pl.BlockSpec(memory_space=memory_space)
  out = jax.ShapeDtypeStruct((8, 16), jnp.int32)
  call = pl.pallas_call(body, out, in_specs=[spec] * 2, out_specs=spec, input_output_aliases={0: 0})
  for doubled in (lambda x: call(x * 2, x * 2), lambda x: call(x, x) * 2):
    np.testing.assert_array_equal(_in_a_loop(doubled)(X), 2 * expected(shifted_in_a_branch))


def test_a_block_of_an_aliased_output_that_is_another_block_of_the_input():
  def body(x_ref, o_ref):
    o_ref[...] = x_ref[...]

  at_row = lambda row: pl.BlockSpec((pl.Element(4), 16), lambda i: (row, 0))
  out = jax.ShapeDtypeStruct((8, 16), jnp.int32)
  call = pl.pallas_call(body, out, grid=(1,), in_specs=[at_row(0)], out_specs=at_row(2), input_output_aliases={0: 0})
  want = np.concatenate([X[:2], X[:4], X[6:]])
  np.testing.assert_array_equal(_in_a_loop(call)(X), np.stack([want] * 2))


@pytest.mark.parametrize("index", [0, 1])
def test_an_aliased_input_that_is_a_part_of_an_array_that_is_used_later(index):
  def body(x_ref, o_ref):
    o_ref[1:8] = x_ref[0:7] + 1

  out = jax.ShapeDtypeStruct((8, 16), jnp.int32)
  call = pl.pallas_call(body, out, input_output_aliases={0: 0})
  want = np.concatenate([X[:1], X[:7] + 1])

  def from_a_part(xs, i):
    found = call(jax.lax.dynamic_index_in_dim(xs, i, keepdims=False))
    return found, call(xs[index]), xs + 1

  stack = np.stack([X] * 2)
  for found, expected_ in zip(jax.jit(from_a_part)(stack, index), (want, want, stack + 1)):
    np.testing.assert_array_equal(found, expected_)

  of_each = jax.jit(lambda xs: (jax.lax.scan(lambda carry, x: (carry + call(x), call(x)), X, xs), xs + 1))
  (total, found), later = of_each(stack)
  np.testing.assert_array_equal(total, X + 2 * want)
  np.testing.assert_array_equal(found, np.stack([want] * 2))
  np.testing.assert_array_equal(later, stack + 1)

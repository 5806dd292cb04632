"""Parts of a ref that are computed from other parts of it: XLA must not read what it has overwritten."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

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


UPDATES = (
  *(shifted, shifted_from_a_computed_place, reversed_in_place, transposed_in_place, rolled, swapped, copied, added_up),
  incremented,
)


def expected(update):
  want = X.copy()
  if update in (shifted, shifted_from_a_computed_place):
    want[1:8, 0:9] = X[0:7, 1:10]
  elif update is reversed_in_place:
    want[1:8, 0:7] = X[1:8, 0:7][::-1]
  elif update is transposed_in_place:
    want[1:8, 0:7] = X[1:8, 0:7].T
  elif update is rolled:
    want[1:8] = X[0:7] + 1
  elif update is swapped:
    want = np.concatenate([X[4:], X[:4]])
  elif update is copied:
    want[1:8] = X[0:7]
  elif update is added_up:
    want = np.cumsum(X, axis=0)
  else:
    want[1:8, 0:7] += 1
  return np.stack([want] * 2)


@pytest.mark.parametrize("in_a_slot", [False, True])
@pytest.mark.parametrize("in_a_pipeline", [False, True])
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

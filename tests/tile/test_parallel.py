"""Which grid dimensions are proven to be parallel: outputs are told apart, and scratch memory carries nothing between their indices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.tile.parallel import parallel_dims

S = jax.ShapeDtypeStruct
F32 = jnp.float32


def matmul(a, b, order=(0, 1, 2), first=0, last=None, params=None):
  """A plain contraction into scratch memory, with the grid (i, j, k) in some order; it begins at step `first` of k."""
  at = lambda *ids: tuple(ids[order.index(d)] for d in range(3))
  sizes = (a.shape[0] // 8, b.shape[1] // 8, a.shape[1] // 8)
  last = sizes[2] - 1 if last is None else last

  def kernel(a_ref, b_ref, o_ref, total):
    k = pl.program_id(order.index(2))

    @pl.when(k == first)
    def _():
      total[...] = jnp.zeros_like(total)

    total[...] += a_ref[...] @ b_ref[...]

    @pl.when(k == last)
    def _():
      o_ref[...] = total[...]

  return pl.pallas_call(
    kernel,
    S((a.shape[0], b.shape[1]), F32),
    grid=tuple(sizes[d] for d in order),
    in_specs=[
      pl.BlockSpec((8, 8), lambda *ids: (at(*ids)[0], at(*ids)[2])),
      pl.BlockSpec((8, 8), lambda *ids: (at(*ids)[2], at(*ids)[1])),
    ],
    out_specs=pl.BlockSpec((8, 8), lambda *ids: at(*ids)[:2]),
    scratch_shapes=[pltpu.VMEM((8, 8), F32)],
    compiler_params=params,
  )(a, b)


def dims(f, *args):
  ((_, native),) = native_kernels(f, *args)
  return parallel_dims(native)


A, B = S((16, 24), F32), S((24, 32), F32)


def test_a_contraction_that_begins_anew_is_parallel_along_its_outputs():
  assert dims(matmul, A, B) == [0, 1]


def test_scratch_that_is_carried_keeps_the_order():
  assert dims(lambda a, b: matmul(a, b, first=1), A, B) == []  # at step 0 it holds what was there before
  assert dims(lambda a, b: matmul(a, b, first=7), A, B) == []  # it is never written first


@pytest.mark.parametrize("order, expected", [((0, 2, 1), [0]), ((2, 0, 1), []), ((1, 0, 2), [0, 1])])
def test_only_dimensions_before_the_contraction_are_parallel(order, expected):
  """With k outside, scratch memory goes from one index of j to the next."""
  assert dims(lambda a, b: matmul(a, b, order), A, B) == expected


def test_what_the_user_says_counts():
  params = pltpu.CompilerParams(dimension_semantics=("arbitrary", "parallel", "arbitrary"))
  assert dims(lambda a, b: matmul(a, b, params=params), A, B) == [1]


def test_semaphores_keep_the_order():
  def kernel(x_ref, o_ref, sem):
    o_ref[...] = x_ref[...]

  call = pl.pallas_call(
    kernel,
    S((16, 8), F32),
    grid=(2,),
    in_specs=[pl.BlockSpec((8, 8), lambda i: (i, 0))],
    out_specs=pl.BlockSpec((8, 8), lambda i: (i, 0)),
    scratch_shapes=[pltpu.SemaphoreType.REGULAR],
  )
  assert dims(call, S((16, 8), F32)) == []


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2)])
def test_instances_that_run_at_the_same_time_have_scratch_memory_of_their_own(order):
  rng = np.random.default_rng(0)
  a, b = (jnp.asarray(rng.integers(-4, 5, s.shape), F32) for s in (A, B))
  np.testing.assert_array_equal(matmul(a, b, order), np.asarray(a) @ np.asarray(b))

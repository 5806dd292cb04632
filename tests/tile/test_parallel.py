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


def recurrence(x, when=lambda t: t == 0):
  """A running sum along the last dimension of the grid, which tells blocks of the output apart as the others do."""

  def kernel(x_ref, o_ref, total):
    @pl.when(when(pl.program_id(1)))
    def _():
      total[...] = jnp.zeros_like(total)

    total[...] += x_ref[...]
    o_ref[...] = total[...]

  spec = pl.BlockSpec((None, 8), lambda i, t: (i, t))
  return pl.pallas_call(
    kernel, S(x.shape, F32), grid=(4, 3), in_specs=[spec], out_specs=spec, scratch_shapes=[pltpu.VMEM((8,), F32)]
  )(x)


def test_a_recurrence_is_parallel_along_the_dimensions_before_it():
  assert dims(recurrence, S((4, 24), F32)) == [0]


def test_a_condition_may_hold_elsewhere_too():
  """As in a product with sparse blocks, where sums begin anew with every row."""
  x = S((4, 24), F32)
  assert dims(lambda x: recurrence(x, lambda t: (t == 0) | (t == 2)), x) == [0]
  assert dims(lambda x: recurrence(x, lambda t: jnp.where(t == 0, True, t % 2 == 1)), x) == [0]
  assert dims(lambda x: recurrence(x, lambda t: (t == 1) | (t == 2)), x) == []


def seen_as_a_whole(body, shape, grid=(4,), aliased=False):
  """The parallel dimensions of a kernel of which every instance sees the whole output, and of one that also reads it through an input."""
  out = S(shape, F32)
  call = pl.pallas_call(
    body,
    out,
    grid=grid,
    in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
    out_specs=pl.BlockSpec(memory_space=pl.ANY),
    input_output_aliases={0: 0} if aliased else {},
  )
  return dims(call, out)


@pytest.mark.parametrize(
  "place",
  [
    lambda i: (i, slice(None)),
    lambda i: (pl.ds(2 * i, 2), pl.ds(0, 8)),
    lambda i: (pl.ds(i * 2 + 1, 1), slice(None)),
    lambda i: (i + jnp.zeros(8, jnp.int32), jnp.arange(8)),
    lambda i: (2 * i + jnp.arange(2), slice(None)),
  ],
)
def test_instances_that_write_parts_of_their_own_are_parallel(place):
  """As programs for Triton do it: every instance has the whole array, and computes where it writes."""

  def kernel(x_ref, o_ref):
    o_ref[place(pl.program_id(0))] = x_ref[place(pl.program_id(0))] + 1

  assert seen_as_a_whole(kernel, (8, 8)) == [0]


def test_a_part_may_be_written_step_by_step_and_read_again():
  def kernel(x_ref, o_ref):
    i = pl.program_id(0)

    def step(j, total):
      o_ref[pl.ds(i * 12 + 4 * j, 4)] = x_ref[pl.ds(4 * j, 4)]
      return total + o_ref[i * 12 + j]

    o_ref[i * 12] = jax.lax.fori_loop(0, 3, step, 0.0)

  assert seen_as_a_whole(kernel, (48,)) == [0]


def test_two_dimensions_tell_parts_apart():
  def kernel(x_ref, o_ref):
    i, j = pl.program_id(0), pl.program_id(1)
    o_ref[pl.ds((i * 3 + j) * 4, 4)] = x_ref[pl.ds(0, 4)]

  assert seen_as_a_whole(kernel, (48,), (4, 3)) == [0, 1]


@pytest.mark.parametrize(
  "place",
  [
    lambda i: 0,
    lambda i: pl.ds(i, 2),  # shares an element with the next
    lambda i: i // 2,
    lambda i: 7 - i,
    lambda i: i * i,
    lambda i: (2 * i) % 4,
    lambda i: i.astype(jnp.int8) * jnp.int8(64),  # wraps around
    lambda i: jnp.where(i > 1, i, 0),
  ],
)
def test_instances_that_may_share_an_element_keep_the_order(place):
  def kernel(x_ref, o_ref):
    o_ref[place(pl.program_id(0))] = x_ref[place(pl.program_id(0))]

  assert seen_as_a_whole(kernel, (8,)) == []


def test_instances_that_read_what_others_write_keep_the_order():
  def from_the_output(x_ref, o_ref):
    i = pl.program_id(0)
    o_ref[i + 1] = o_ref[i] + 1

  def from_the_input(x_ref, o_ref):
    i = pl.program_id(0)
    o_ref[i + 1] = x_ref[i] + 1

  assert seen_as_a_whole(from_the_output, (8,)) == []
  assert seen_as_a_whole(from_the_input, (8,)) == [0]
  assert seen_as_a_whole(from_the_input, (8,), aliased=True) == []


def test_every_output_must_be_told_apart():
  def kernel(x_ref, o_ref, total_ref):
    i = pl.program_id(0)
    o_ref[i] = x_ref[i]
    total_ref[0] = x_ref[i]

  assert dims(pl.pallas_call(kernel, (S((8,), F32), S((1,), F32)), grid=(8,)), S((8,), F32)) == []


def said_parallel(index_map, grid=(4, 3), block=(8, 8), memory_space=None, table=False):
  """The parallel dimensions of a kernel that says both are, with an output cut in some way beside one that the grid tells apart."""

  def kernel(*refs):
    whole, own = refs[-2:]
    whole[...] = jnp.zeros_like(whole)
    own[...] = jnp.zeros_like(own)

  spec = pl.BlockSpec(None if index_map is None else block, index_map, memory_space=memory_space)
  call = pl.pallas_call(
    kernel,
    [S((256, 8), F32), S((256, 256), F32)],
    grid_spec=pltpu.PrefetchScalarGridSpec(
      int(table), grid, [], [spec, pl.BlockSpec((8, 8), lambda i, j, *_: (i, j))], ()
    ),
    compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
  )
  return dims(call, *[S((64,), jnp.int32)] * table)


@pytest.mark.parametrize(
  "index_map, expected",
  [
    (lambda i, j: (0, 0), []),  # memory of a core
    (lambda i, j: (i, 0), [0]),
    (lambda i, j: (j + 1, 0), [1]),
    (lambda i, j: (i * 3 + j, 0), [0, 1]),
    (lambda i, j: (i * 2 + j, 0), []),  # 0, 2 and 1, 0
    (lambda i, j: (i + j, 0), []),
    (lambda i, j: (i // 2, 0), []),
    (lambda i, j: (i // 2 * 2 + i % 2, j), [0, 1]),
    (lambda i, j: (jnp.where(j > 0, i, 0), 0), []),
    (lambda i, j: (3 - i, j // 2), [0]),
    (lambda i, j: ((i * 128).astype(jnp.uint8), j), [1]),  # 0, 128, 0, 128
  ],
)
def test_what_is_said_to_be_parallel_keeps_its_order_where_blocks_are_shared(index_map, expected):
  assert said_parallel(index_map) == expected


def test_an_index_that_wraps_around_names_a_block_again():
  by_bytes = lambda i, j: (i.astype(jnp.uint8), j)
  assert said_parallel(by_bytes, grid=(300, 3)) == [1]
  call = pl.pallas_call(
    lambda o_ref: o_ref.__setitem__(..., jnp.zeros((8, 8))),
    S((2048, 24), F32),
    grid=(300, 3),
    out_specs=pl.BlockSpec((8, 8), by_bytes),
  )
  assert dims(call) == [1]


def test_what_is_said_to_be_parallel_of_other_outputs():
  assert said_parallel(lambda i, j, t: (t[i], 0), table=True) == [0]  # only the user can know
  assert said_parallel(lambda i, j: (i // 2, 0), grid=(1 << 20, 3)) == []  # looked at in a corner of the grid
  assert said_parallel(lambda i, j: (i % 20000, 0), grid=(30000, 3)) == []  # blocks far apart in the grid
  assert said_parallel(lambda i, j: (i, 0), block=(pl.Element(8), 8)) == []  # blocks overlap
  assert said_parallel(lambda i, j: (i * 8, 0), block=(pl.Element(8), 8)) == [0]
  assert said_parallel(None) == []  # each instance writes all of it


def test_an_output_that_serves_as_memory_of_a_core():
  """As in kernels of attention that keep running sums in outputs nobody reads: threads must not share the block."""

  def kernel(x_ref, total, o_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
      total[...] = jnp.zeros_like(total)

    total[...] += x_ref[...]
    o_ref[...] = total[...]

  call = pl.pallas_call(
    kernel,
    (S((8, 128), F32), S((64, 128), F32)),
    grid=(8, 4),
    in_specs=[pl.BlockSpec((8, 128), lambda i, j: (i * 4 + j, 0))],
    out_specs=(pl.BlockSpec((8, 128), lambda i, j: (0, 0)), pl.BlockSpec((8, 128), lambda i, j: (i, 0))),
    compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
  )
  x = np.random.default_rng(0).integers(0, 9, (8, 4, 8, 128)).astype(np.float32)
  total, sums = call(x.reshape(-1, 128))
  np.testing.assert_array_equal(sums.reshape(8, 8, 128), x.sum(1))
  np.testing.assert_array_equal(total, x[-1].sum(0))


@pytest.mark.parametrize("declared", [None, ("parallel",)])
@pytest.mark.parametrize(
  "block, index_map, expected",
  [(None, None, []), (8, lambda i: (0,), []), (8, lambda i: (i // 2,), []), (8, lambda i: (i,), [0])],
)
def test_an_input_that_is_written_carries_its_contents(declared, block, index_map, expected):
  """An input that is aliased to an output may be written: later instances see that."""

  def kernel(x_ref, o_ref):
    x_ref[...] = x_ref[...] + 1
    o_ref[...] = x_ref[...][:8]

  call = pl.pallas_call(
    kernel,
    S((64,), F32),
    grid=(8,),
    in_specs=[pl.BlockSpec() if block is None else pl.BlockSpec((block,), index_map)],
    out_specs=pl.BlockSpec((8,), lambda i: (i,)),
    input_output_aliases={0: 0},
    compiler_params=None if declared is None else pltpu.CompilerParams(dimension_semantics=declared),
  )
  assert dims(call, S((64,), F32)) == expected

"""Cases of kernels over rows, of steps of a grid, of the language's statements, and of hints."""

from __future__ import annotations

from unittest import mock

import jax
import jax.numpy as jnp
import layout_programs
import mosaic_programs
import numpy as np
import stepwise
import triton_programs
from cases import BF16, F32, I32, Answer, case, exact, normal, numbers, softmax_of
from gpu_programs import S, double_buffered, in_one_block

from tilewright import ops
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import triton as plt
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.passes import l2_hints

# --- rows ----------------------------------------------------------------------------------------------------------


@case
def softmax() -> Answer:
  x = normal(96, 320)
  return jax.jit(ops.softmax)(x), softmax_of(exact(x)), 2.0**-8


@case
def softmax_over_an_edge() -> Answer:
  x = normal(33, 1001, dtype=F32)
  return jax.jit(ops.softmax)(x), softmax_of(exact(x)), 2.0**-20


@case
def layer_norm_and_its_derivative() -> Answer:
  x, w, b = normal(64, 1024, dtype=F32), normal(1024, dtype=F32, seed=1), normal(1024, dtype=F32, seed=2)
  got, back = jax.jit(lambda *a: jax.vjp(ops.layer_norm, *a))(x, w, b)
  y, z = exact(x), exact(x)
  z = (z - z.mean(1, keepdims=True)) / np.sqrt(z.var(1, keepdims=True) + 1e-6)
  dx, dw, db = jax.jit(back)(np.ones_like(x))
  assert np.isfinite(exact(dx)).all() and y.shape == dx.shape
  np.testing.assert_allclose(dw, z.sum(0), atol=1e-3)
  np.testing.assert_allclose(db, 64.0)
  return got, z * exact(w) + exact(b), 1e-3


@case
def rows_that_pass_by() -> Answer:
  """As of arrays larger than the cache: blocks are asked for ahead of time, and lines are given back."""
  x = normal(512, 2048)
  with mock.patch.multiple(l2_hints, _LARGE=1 << 20, _LAST=1 << 19, _AHEAD=1 << 30):
    return jax.jit(ops.softmax)(x), softmax_of(exact(x)), 2.0**-8


@case
def cross_entropy_and_its_derivative() -> Answer:
  x, labels = normal(40, 3000, dtype=F32), np.random.default_rng(0).integers(0, 3000, 40).astype(I32)
  got, slope = jax.jit(
    lambda x: (ops.cross_entropy(x, labels), jax.grad(lambda x: ops.cross_entropy(x, labels).sum())(x))
  )(x)
  wanted = softmax_of(exact(x)) - np.eye(3000)[labels]
  np.testing.assert_allclose(slope, wanted, atol=1e-5)
  return got, -np.log(softmax_of(exact(x))[np.arange(40), labels]), 1e-4


@case
def scans_and_selections() -> Answer:
  x = numbers(64, 300, dtype=F32)
  np.testing.assert_array_equal(jax.jit(lambda x: ops.top_k(x, 4)[0])(x), -np.sort(-x, 1)[:, :4])
  return jax.jit(ops.cumsum)(x), np.cumsum(x, 1), 0


@case
def rows_of_a_table() -> Answer:
  table, ids = normal(100, 264), np.random.default_rng(0).integers(0, 100, 40).astype(I32)
  return jax.jit(ops.embedding)(table, ids), exact(table)[ids], 0


@case
def rotated_pairs() -> Answer:
  x, angles = numbers(20, 3, 64), np.random.default_rng(0).uniform(0, 6, (20, 32)).astype(F32)
  (left, right), c, s = np.split(exact(x), 2, -1), np.cos(exact(angles))[:, None], np.sin(exact(angles))[:, None]
  got = jax.jit(ops.rotary)(x, np.cos(angles), np.sin(angles))
  return got, np.concatenate([left * c - right * s, right * c + left * s], -1), 0.05


@case
def turned_blocks() -> Answer:
  x = numbers(96, 200)

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...].T

  specs = pl.BlockSpec((32, 64), lambda i, j: (i, j)), pl.BlockSpec((64, 32), lambda i, j: (j, i))
  call = pl.pallas_call(kernel, S((200, 96), BF16), grid=(3, 4), in_specs=[specs[0]], out_specs=specs[1])
  return jax.jit(call)(x), exact(x).T, 0


# --- one step after the other, and at the same time -----------------------------------------------------------------


@case
def steps_that_add_up() -> Answer:
  x = numbers(96, 200, dtype=F32)
  return jax.jit(stepwise.column_sums)(x), exact(x).sum(0, keepdims=True), 0


@case
def steps_that_carry() -> Answer:
  x = normal(13, 1000, dtype=F32)
  return jax.jit(stepwise.log_sum_exp)(x), np.log(np.exp(exact(x)).sum(1, keepdims=True)), 1e-4


@case
def steps_without_the_copy_engine() -> Answer:
  """The code for sm_80: blocks come by `cp.async`."""
  with mock.patch.object(
    architectures, "families", lambda *_: ((architectures.Family((0,), architectures.named("sm_80")),), {})
  ):
    return steps_that_carry()


@case
def counts_together() -> Answer:
  x = np.random.default_rng(0).integers(0, 10, 4096).astype(I32)
  return jax.jit(lambda x: triton_programs.histogram(x, 10, 256))(x), np.bincount(x, minlength=10), 0


@case
def atomic_operations() -> Answer:
  for dtype in (I32, np.int8, F32, BF16):
    old, values = (np.random.default_rng(i).integers(0, 100, 300).astype(dtype) for i in range(2))
    for name, (operation, wanted) in triton_programs.OPERATIONS.items():
      if np.dtype(dtype).kind == "i" or name in triton_programs.OF_FLOATS:
        got = jax.jit(lambda a, b, f=operation: triton_programs.changed(f, a, b))(old, values)[0]
        np.testing.assert_array_equal(exact(got), exact(wanted(old, values)))
  return 0, 0, 0


@case
def one_at_a_time() -> Answer:
  """Not compiled as a whole: where zeros are constants, `initcheck` does not see XLA write them."""
  return triton_programs.counted_under_a_lock(40), 40, 0


@case
def a_vector_across_warps() -> Answer:
  """Reductions along each dimension, sums of scans, and an argmax, each of which needs all threads."""
  x = numbers(48, 256, dtype=F32)

  def kernel(x_ref, r_ref, c_ref, s_ref):
    x = x_ref[...]
    r_ref[...], c_ref[...] = x.sum(0), x.max(1) + jnp.argmax(x, 1)
    s_ref[...] = jnp.cumsum(x, 1) + x.sum()

  shapes = (S((256,), F32), S((48,), F32), S((48, 256), F32))
  rows, columns, sums = jax.jit(pl.pallas_call(kernel, shapes))(x)
  np.testing.assert_array_equal(rows, x.sum(0))
  np.testing.assert_array_equal(columns, x.max(1) + x.argmax(1))
  return sums, np.cumsum(x, 1) + x.sum(), 0


@case
def sorted_and_scattered() -> Answer:
  x, ids = numbers(8, 300, dtype=F32), np.random.default_rng(0).integers(0, 50, 200).astype(I32)
  rows = numbers(200, 64, dtype=F32)
  wanted = np.zeros((50, 64))
  np.add.at(wanted, ids, rows)

  def body(x, ids, rows):
    return jnp.sort(x, axis=-1), jnp.zeros((50, 64), F32).at[ids].add(rows)

  first, second = jax.jit(in_one_block(body, S(x.shape, F32), S((50, 64), F32)))(x, ids, rows)
  np.testing.assert_array_equal(first, np.sort(x, -1))
  return second, wanted, 0


@case
def copies_and_semaphores() -> Answer:
  x = numbers(4, 8, 128, dtype=F32)

  def kernel(x_ref, o_ref, buffer, arrived, ready):
    double_buffered(x_ref, o_ref, buffer, arrived)
    for i in range(4):
      pl.semaphore_signal(ready, i + 1)
      pl.semaphore_wait(ready, i + 1)

  call = pl.pallas_call(
    kernel,
    S(x.shape, F32),
    in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
    scratch_shapes=[pltpu.VMEM((2, 8, 128), F32), pltpu.SemaphoreType.DMA((2,)), pltpu.SemaphoreType.REGULAR],
  )
  return jax.jit(call)(x), 2 * x, 0


@case
def random_numbers() -> Answer:
  key = np.asarray([1, 2], np.uint32)
  call = in_one_block(lambda k: [jax.random.bits(jax.random.wrap_key_data(k), (8, 128))], S((8, 128), np.uint32))
  return jax.jit(call)(key)[0], jax.jit(lambda k: jax.random.bits(jax.random.wrap_key_data(k), (8, 128)))(key), 0


# --- statements ----------------------------------------------------------------------------------------------------


@case
def branches_and_loops() -> Answer:
  """A tile and its transpose are exchanged, every other time."""
  x = numbers(64, 64, dtype=F32)

  def kernel(x_ref, o_ref):
    def step(i, pair):
      a, b = pair
      return jax.lax.cond(i % 2 == 0, lambda: (b, a + 1), lambda: (a * 2, b))

    a, b = jax.lax.fori_loop(0, 5, step, (x_ref[...], x_ref[...].T))
    o_ref[...] = a - b

  a, b = exact(x), exact(x).T
  for i in range(5):
    a, b = (b, a + 1) if i % 2 == 0 else (a * 2, b)
  return jax.jit(pl.pallas_call(kernel, S(x.shape, F32)))(x), a - b, 0


@case
def mixed_layouts() -> Answer:
  for name, (program, *_) in layout_programs.PROGRAMS.items():
    args = layout_programs.arguments(name)
    wanted = layout_programs.exactly(name, args)
    got = exact(jax.jit(program)(*args))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=layout_programs.tolerance(name, args, wanted), err_msg=name)
  return 0, 0, 0


@case
def tiles_larger_than_shared_memory() -> Answer:
  x = numbers(512, 512, dtype=F32)

  def kernel(x_ref, o_ref):
    y = jnp.cumsum(x_ref[...], axis=0)
    o_ref[...] = y - y.T

  total = np.cumsum(x, 0)
  return jax.jit(pl.pallas_call(kernel, S(x.shape, F32)))(x), total - total.T, 0


@case
def as_many_blocks_as_are_asked_for() -> Answer:
  """A grid whose size is known at run time, of blocks whose numbers are; the others are left as they were."""
  x, order = numbers(64, 128, dtype=F32), np.asarray([5, 0, 7], I32)

  def kernel(order_ref, x_ref, _, o_ref):
    o_ref[...] = 2 * x_ref[...] + order_ref[pl.program_id(0)]

  spec = pl.BlockSpec((8, 128), lambda i, order: (order[i], 0))
  call = lambda count, order, x: pl.pallas_call(
    kernel,
    S(x.shape, F32),
    grid_spec=pltpu.PrefetchScalarGridSpec(1, (count,), in_specs=[spec, spec], out_specs=spec),
    input_output_aliases={2: 0},
  )(order, x, x)
  wanted = exact(x)
  for n in order:
    wanted[8 * n : 8 * n + 8] = 2 * wanted[8 * n : 8 * n + 8] + n
  return jax.jit(call)(3, order, x), wanted, 0


@case
def what_is_said() -> Answer:
  """Values that are printed, checks that hold, and a pause."""
  x = numbers(4, 128, dtype=F32)

  def kernel(x_ref, o_ref):
    pl.debug_print("block {}", pl.program_id(0))
    pl.debug_check(jnp.all(x_ref[...] < 5), "small numbers")
    pl.delay(100)
    o_ref[...] = x_ref[...] + 1

  row = pl.BlockSpec((1, 128), lambda i: (i, 0))
  with pl.enable_debug_checks(True):
    return jax.jit(pl.pallas_call(kernel, S(x.shape, F32), grid=(4,), in_specs=[row], out_specs=row))(x), x + 1, 0


@case
def a_piece_of_assembly() -> Answer:
  x = np.random.default_rng(0).integers(-128, 128, 1001).astype(np.int8)
  return jax.jit(lambda x: triton_programs.assembled(*triton_programs.NOT_BYTES, x)[0])(x), ~x, 0


@case
def masked_vectors() -> Answer:
  """Of loads, what is masked has another value; of stores, what is masked stays."""
  x = numbers(1000, dtype=F32)

  def kernel(x_ref, o_ref):
    start = 256 * pl.program_id(0)
    at = pl.ds(start, 256)
    inside = start + jnp.arange(256) < 1000
    value = plt.load(x_ref.at[at], mask=inside, other=0.0)
    plt.store(o_ref.at[at], value + plt.load(x_ref.at[pl.ds(0, 256)]).sum(), mask=inside)

  whole = pl.BlockSpec(memory_space=pl.ANY)
  call = pl.pallas_call(kernel, S(x.shape, F32), grid=(4,), in_specs=[whole], out_specs=whole)
  return jax.jit(call)(x), x + x[:256].sum(), 0


# --- hints ---------------------------------------------------------------------------------------------------------


@case
def transforms_of_shared_memory() -> Answer:
  x = numbers(64, 64)

  def kernel(x_ref, o_ref, scratch):
    scratch[...] = x_ref[...]
    o_ref[...] = scratch[...].T + scratch[8:24, 0:32].sum()

  own = plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)
  call = pl.pallas_call(kernel, S((64, 64), BF16), scratch_shapes=[plgpu.SMEM((64, 64), BF16, transforms=own)])
  return jax.jit(call)(x), exact(x).T + exact(x)[8:24, :32].sum(), 1.0


@case
def copies_by_hand() -> Answer:
  x = numbers(128, 64, dtype=F32)
  return jax.jit(mosaic_programs.by_hand)(x), 2 * x, 0


@case
def products_by_hand() -> Answer:
  a, b = numbers(128, 320), numbers(320, 128, seed=1)
  return jax.jit(mosaic_programs.matmul)(a, b), exact(a) @ exact(b), 1.0


@case
def warpgroups_that_hand_over() -> Answer:
  x = numbers(320, 64, dtype=F32)
  return jax.jit(mosaic_programs.handed_over)(x), 2 * x, 0


@case
def warpgroups_that_meet() -> Answer:
  x = numbers(3, 2, 64, dtype=F32)
  return jax.jit(mosaic_programs.exchanged)(x), x[:, ::-1], 0


@case
def a_pipeline_of_warpgroups() -> Answer:
  a, b = numbers(256, 320), numbers(320, 128, seed=1)
  return jax.jit(mosaic_programs.pipelined_matmul)(a, b), exact(a) @ exact(b), 0


@case
def layouts_by_name() -> Answer:
  x = numbers(128, 64, dtype=F32)

  def kernel(x_ref, o_ref):
    x = plgpu.layout_cast(x_ref[...], plgpu.Layout.WGMMA)
    y = plgpu.layout_cast(x + 1, plgpu.Layout.TCGEN05_TMEM_NATIVE)
    z = plgpu.layout_cast(y * 2, plgpu.Layout.MMA_ACC)
    o_ref[...] = plgpu.layout_cast(z, plgpu.Layout.WG_STRIDED((128, 64), vec_size=4))

  return jax.jit(pl.pallas_call(kernel, S(x.shape, F32)))(x), 2 * x + 2, 0


@case
def an_accumulator() -> Answer:
  a, b = numbers(64, 128), numbers(128, 64, seed=1)

  def kernel(a_ref, b_ref, o_ref, total):
    total[...] = jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)
    total[...] = jnp.maximum(total[...], 0)
    o_ref[...] = total[...]

  call = pl.pallas_call(kernel, S((64, 64), F32), scratch_shapes=[plgpu.ACC((64, 64), F32)])
  return jax.jit(call)(a, b), np.maximum(exact(a) @ exact(b), 0), 0

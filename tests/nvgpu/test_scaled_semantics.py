"""Block-scaled products as the GPU target's code computes them, on the CPU (`block_on_cpu`), against float64."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import natives
from scaled_programs import matmul

from tilewright import numerics
from tilewright import pallas as pl
from tilewright.numerics import dot, gpu_dot
from tilewright.numerics.launch import Execution
from tilewright.target import nvgpu
from tilewright.target.nvgpu.emit.units.threads import GROUP
from tilewright.target.nvgpu.passes import matmul_plans

BF16, F32 = jnp.bfloat16, jnp.float32


def normal(*shape, seed=0, dtype=F32):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def members(x):
  """What a kernel is given of an operand."""
  if not isinstance(x, numerics.QArray):
    return [x]
  return [x.data, x.scales]


def exact(x):
  return np.asarray(numerics.dequantize(x) if isinstance(x, numerics.QArray) else x, np.float64)


def lowered(a, b, axis=1):
  numbers = (((1,), (axis,)), ((), ()))
  (found,) = natives(lambda a, b: dot.contract(numbers, F32, Execution("gpu"), a, b), a, b)
  return found


def holds(a, b, axis=1, warps=None, kernels=None):
  """The kernel's result is within (k + 8) roundings of the sum of magnitudes; operands need no work before the kernel."""
  kernel, native = kernels or lowered(a, b, axis)
  scales = [x.global_scale for x in (a, b) if isinstance(x, numerics.QArray) and x.global_scale is not None]
  whole = [np.asarray(np.prod([np.float32(s) for s in scales]), np.float32).reshape(1, 1)] if scales else []
  warps = warps or kernel.compiler_params.num_warps
  (got,) = run(native, *members(a), *members(b), *whole, arch="sm_90a", num_warps=warps)
  left, right = exact(a), exact(b) if axis == 1 else exact(b).T
  bound = (left.shape[1] + 8) * 2.0**-24 * (np.abs(left) @ np.abs(right).T)
  assert (np.abs(got.reshape(left.shape[0], -1) - left @ right.T) <= bound).all()


@pytest.mark.parametrize(
  "recipe, m, n, k", [("nvfp4", 1, 32, 512), ("nvfp4", 9, 20, 256), ("mxfp4", 9, 20, 256), ("mxfp8", 1, 32, 256)]
)
def test_a_few_rows_times_packed_weights(recipe, m, n, k):
  holds(normal(m, k, dtype=BF16), numerics.quantize(normal(n, k, seed=1), recipe))


def test_matrices_of_a_stack_have_global_scales_of_their_own():
  x, w = normal(2, 256, dtype=BF16), normal(2, 16, 256, seed=1) * jnp.asarray([1.0, 100.0])[:, None, None]
  q = jax.vmap(lambda w: numerics.quantize(w, "nvfp4"))(w)
  contract = lambda x, q: dot.contract((((1,), (2,)), ((), ())), F32, Execution("gpu"), x, q)
  ((kernel, native),) = natives(contract, x, q)
  rows = [np.asarray(z).reshape(32, -1) for z in members(q)]
  scales = np.repeat(q.global_scale, 16)[None]
  (got,) = run(native, x, *rows, scales, arch="sm_90a", num_warps=kernel.compiler_params.num_warps)
  left, right = exact(x), exact(q).reshape(32, 256)
  assert (np.abs(got.reshape(2, 32) - left @ right.T) <= (256 + 8) * 2.0**-24 * (np.abs(left) @ np.abs(right).T)).all()


def test_scales_for_blocks_of_any_size():
  """A lane's part of k does not begin with a block, nor end with one."""
  w = numerics.quantize(normal(16, 768, seed=1), "f4e2m1fn", block=48, scale_format="f8e4m3fn")
  holds(normal(3, 768, dtype=BF16), w)


@pytest.mark.parametrize("k, warps", [(9216, None), (1024, 1)])
def test_rounds_ahead_are_taken_in_order(k, warps):
  """More rounds than there are places for them: nine of each warp, one after the other, and eight of one warp, four at once."""
  holds(normal(2, k, dtype=BF16), numerics.quantize(normal(16, k, seed=1), "nvfp4"), warps=warps)


@pytest.mark.parametrize(
  "recipe, m, n, k, warps",
  [
    ("nvfp4", 16, 32, 2048, 1),  # sixteen rounds, eight at once
    ("nvfp4", 15, 64, 512, 2),
    ("nvfp4", 9, 32, 512, 1),  # one row more than two fours
    ("mxfp4", 10, 32, 512, 1),
    ("nvfp4", 11, 32, 256, 1),
    ("nvfp4", 13, 32, 256, 1),
    ("nvfp4", 14, 32, 256, 1),
    ("int4", 16, 32, 256, 1),
    ("nvfp4", 16, 32, 384, 1),  # three rounds: one at a time, through stages
    ("nvfp4", 16, 40, 256, 2),  # rows that do not exist
    ("nvfp4", 16, 40, 2048, 2),  # in eight rounds
  ],
)
def test_weights_go_straight_to_registers_where_most_of_a_round_is_x(recipe, m, n, k, warps, monkeypatch):
  monkeypatch.setattr(gpu_dot, "few_blocks", lambda *_: (32, 1))
  execution = {"block": 32, "scale_format": "f8e4m3fn"} if recipe == "int4" else {}
  x, w = normal(m, k, dtype=BF16), numerics.quantize(normal(n, k, seed=1), recipe, **execution)
  kernels = lowered(x, w)
  is_straight = "ld.global.L1::no_allocate" in nvgpu.compile_ptx(kernels[1], "sm_90a", warps)[0]
  assert is_straight == (k != 384 and n != 40)
  holds(x, w, warps=warps, kernels=kernels)


def product_of_few_rows(after, times=1, m=10, n=32, k=1024):
  """What `after` makes of a product of x and w, so many times."""

  def kernel(x_ref, w_ref, o_ref):
    def step(i, total):
      got = jax.lax.dot_general(x_ref[i], w_ref[i], (((1,), (1,)), ((), ())), preferred_element_type=F32)
      return total + after(got)

    if times == 1:
      o_ref[...] = after(jax.lax.dot_general(x_ref[0], w_ref[0], (((1,), (1,)), ((), ())), preferred_element_type=F32))
    else:
      o_ref[...] = jax.lax.fori_loop(0, times, step, jnp.zeros((m, n), F32))

  x, w = (np.random.default_rng(i).integers(-4, 5, (times, r, k)).astype(BF16) for i, r in ((0, m), (1, n)))
  call = lambda x, w: pl.pallas_call(kernel, jax.ShapeDtypeStruct((m, n), F32))(x, w)
  ((_, native),) = natives(call, x, w)
  exact = sum(np.asarray(after(np.float64(x[i]) @ np.float64(w[i]).T)) for i in range(times))
  return native, (x, w), exact


@pytest.mark.parametrize("times", [1, 3])
def test_what_reads_a_product_once_adds_up_its_sums(times):
  """Also where the next product of a loop goes through the memory that they lie in."""
  native, operands, exact = product_of_few_rows(lambda z: z * 2, times)
  (got,) = run(native, *operands, arch="sm_90a", num_warps=4)
  assert (got == exact).all()


def test_sums_that_are_read_once_take_one_barrier():
  barriers = [
    nvgpu.compile_ptx(product_of_few_rows(after)[0], "sm_90a", 4)[0].count("bar.sync")
    for after in (lambda z: z * 2, lambda z: z * z.sum())
  ]
  assert barriers[0] == 1 < barriers[1]


@pytest.mark.parametrize("way", ["reversed", "numbered", "one row", "exchanged in eights"])
def test_a_few_rows_times_what_is_computed_of_other_places(way):
  """Columns from the other end, columns that know their number, and one row for all: not what lies at the same place."""
  m, n, k = 2, 16, 1024
  x, w = (
    np.random.default_rng(i).integers(-4, 5, (r, k)).astype(BF16)
    for i, r in ((0, m), (1, 1 if way == "one row" else n))
  )

  def seen(w):
    match way:
      case "reversed":
        return w[:, ::-1]
      case "numbered":
        return w + (jax.lax.broadcasted_iota(jnp.int32, (n, k), 1) // 256).astype(BF16)
      case "one row":
        return jnp.broadcast_to(w, (n, k))
    return w.reshape(n, k // 8, 2, 2, 2).swapaxes(2, 3).reshape(n, k)

  def kernel(x_ref, w_ref, o_ref):
    o_ref[...] = jax.lax.dot_general(x_ref[...], seen(w_ref[...]), (((1,), (1,)), ((), ())), preferred_element_type=F32)

  call = lambda x, w: pl.pallas_call(kernel, jax.ShapeDtypeStruct((m, n), F32))(x, w)
  ((_, native),) = natives(call, x, w)
  assert ("cp.async" in nvgpu.compile_ptx(native, "sm_90a", 2)[0]) == (way != "reversed")
  (got,) = run(native, x, w, arch="sm_90a", num_warps=2)
  assert (got == np.float64(x) @ np.asarray(seen(jnp.asarray(w)), np.float64).T).all()


def test_weights_with_k_first_are_multiplied_as_they_lie():
  holds(normal(3, 512, dtype=BF16), numerics.quantize(normal(512, 64, seed=1), "nvfp4", axis=0), axis=0)


@pytest.mark.parametrize("recipe", ["nvfp4", "mxfp8"])
def test_both_sides_scaled(recipe):
  holds(numerics.quantize(normal(20, 128), recipe), numerics.quantize(normal(17, 128, seed=1), recipe))


@pytest.mark.parametrize(
  "recipe, count, n, k",
  [("nvfp4", 1, 70, 512), ("mxfp8", 1, 70, 384), ("mxfp8_e5m2", 1, 20, 512), ("mxfp4", 132, 70, 512)],
)
def test_both_sides_scaled_in_blocks_of_128_rows(recipe, count, n, k, monkeypatch):
  """The left operand is decoded in registers; blocks hang over on both sides. With one SM, a CTA takes both
  points of the grid: what it fetches for the second is not taken for the first one's. Scales of MXFP8 come together in four steps, and
  threads copy them in three."""
  monkeypatch.setattr(matmul_plans, "_NUM_SMS", count)
  # No two scales alike.
  far = lambda rows: 2.0 ** np.random.default_rng(2).integers(-9, 9, (rows, k // 32)).repeat(32, 1)
  holds(*(numerics.quantize(normal(rows, k, seed=rows) * far(rows), recipe) for rows in (130, n)))


@pytest.mark.parametrize("recipe, size", [("mxfp8", 4096), ("mxfp8", 256), ("nvfp4", 4096)])
def test_no_two_warpgroups_write_the_same_stage_and_words_are_read_as_words(recipe, size):
  """They take slices in turn, and stages in turn: with as many for each, always the same. No word is put together from bytes."""
  quantised = jax.eval_shape(lambda x: numerics.quantize(x, recipe), jax.ShapeDtypeStruct((size, size), F32))
  ((_, native),) = natives(matmul, quantised, quantised)
  ptx, launch = nvgpu.compile_ptx(native, "sm_90a")
  assert "bfi.b32" not in ptx
  plan = launch.lowered.pipeline
  groups = plan.producers // GROUP
  assert groups == 2 and plan.stages % groups == plan.slices % groups == 0


def test_scales_kept_in_scratch_memory():
  """Which is registers, of other threads than those that put the operand together."""
  m, n, k = 64, 16, 256

  def kernel(x_ref, s_ref, y_ref, o_ref, scales):
    scales[...] = 2 * s_ref[...]
    factors = jnp.broadcast_to(scales[...][:, :, None], (m, k // 32, 32)).reshape(m, k)
    o_ref[...] = jnp.dot((x_ref[...] * factors).astype(BF16), y_ref[...], preferred_element_type=F32)

  x, s, y = (
    np.random.default_rng(i).integers(-4, 5, shape).astype(dtype)
    for i, (shape, dtype) in enumerate([((m, k), F32), ((m, k // 32), F32), ((k, n), BF16)])
  )
  scratch = [jax.ShapeDtypeStruct(s.shape, F32)]
  call = lambda *args: pl.pallas_call(kernel, jax.ShapeDtypeStruct((m, n), F32), scratch_shapes=scratch)(*args)
  ((_, native),) = natives(call, x, s, y)
  (got,) = run(native, x, s, y, arch="sm_80", num_warps=1)
  assert (got == np.float64(x) * np.repeat(2 * np.float64(s), 32, 1) @ np.float64(y)).all()


def test_far_scales_and_nans_come_through_registers():
  """As far as all elements times scales are normal numbers."""
  low, high = 2.0**-117, 2.0**100
  a, b = (numerics.quantize(normal(128, 256, seed=seed), "mxfp8") for seed in range(2))
  a = dataclasses.replace(a, scales=a.scales.at[1].set(low).at[2].set(high).at[3, 5].set(jnp.nan))
  b = dataclasses.replace(b, scales=b.scales.at[4].set(high).at[5].set(low).at[6, 2].set(jnp.nan))
  ((_, native),) = natives(lambda a, b: dot.contract((((1,), (1,)), ((), ())), F32, Execution("gpu"), a, b), a, b)
  (got,) = run(native, *members(a), *members(b), arch="sm_90a")
  left, right = (np.asarray(q.data, np.float64) * np.repeat(np.asarray(q.scales, np.float64), 32, 1) for q in (a, b))
  size = np.abs(left) @ np.abs(right).T
  is_nan = (np.arange(128) == 3)[:, None] | (np.arange(128) == 6)
  fits = ~is_nan & (size < 2.0**127) & (size > 2.0**-126)
  assert fits.sum() == 127 * 127 - 2 and np.isnan(got[is_nan]).all() and not np.isnan(got[fits]).any()
  assert (np.abs(got - left @ right.T)[fits] <= (256 + 8) * 2.0**-24 * size[fits]).all()


def test_a_nan_scale_reaches_its_own_column_only():
  w = numerics.quantize(normal(16, 256, seed=1).at[5, 20].set(jnp.nan), "nvfp4", global_scale=None)
  ((kernel, native),) = natives(
    lambda x, w: dot.contract((((1,), (1,)), ((), ())), F32, Execution("gpu"), x, w), jnp.ones((1, 256), BF16), w
  )
  warps = kernel.compiler_params.num_warps
  (got,) = run(native, np.ones((1, 256), BF16), w.data, w.scales, arch="sm_90a", num_warps=warps)
  assert np.isnan(got.ravel()[5]) and np.isfinite(np.delete(got.ravel(), 5)).all()


def test_floats_are_taken_apart_into_bfloat16s_that_add_up_to_them():
  from tilewright.numerics.gpu_dot import parts_of

  for dtype in (jnp.float32, jnp.float16):
    x = normal(4096, dtype=dtype) * jnp.asarray(2.0 ** np.linspace(-3, 3, 4096), dtype)
    x = x.at[:4].set(jnp.asarray([np.inf, -np.inf, jnp.finfo(dtype).max, jnp.finfo(dtype).min], dtype))
    parts = jax.jit(parts_of)(x)
    assert all(p.dtype == BF16 for p in parts)
    np.testing.assert_array_equal(sum(np.asarray(p, np.float64) for p in parts), np.asarray(x, np.float64))


def test_every_power_of_two_is_a_scale():
  """The least is subnormal, and the last code is NaN."""
  codes, k = jnp.arange(256, dtype=jnp.uint8), 128
  data = jnp.zeros((256, k), jnp.float8_e4m3fn).at[:, 5].set(-1.5)
  scales = jnp.broadcast_to(codes[:, None], (256, k // 32)).view(jnp.float8_e8m0fnu)
  w = numerics.QArray(data, scales, None, numerics.formats.F8E4M3FN, 32, -1, k)
  x = jnp.ones((1, k), BF16)
  ((kernel, native),) = natives(lambda a, b: dot.contract((((1,), (1,)), ((), ())), F32, Execution("gpu"), a, b), x, w)
  (got,) = run(native, x, data, scales, arch="sm_90a", num_warps=kernel.compiler_params.num_warps)
  wanted = np.where(np.arange(256) == 255, np.nan, -1.5 * 2.0 ** (np.arange(256) - 127.0))
  np.testing.assert_array_equal(np.asarray(got, np.float64).reshape(-1), wanted.astype(np.float32))

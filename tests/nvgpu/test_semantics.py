"""What the code of the GPU target computes, against float64: its threads run on the CPU, see `block_on_cpu`."""

from __future__ import annotations

import contractions
import jax
import jax.numpy as jnp
import layout_programs
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import (
  BF16,
  F32,
  by_rows,
  cross_entropy,
  in_one_block,
  layer_norm,
  matmul,
  natives,
  rms_norm,
  softmax,
  transpose,
)

from tilewright import ops
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.target import nvgpu
from tilewright.target.nvgpu.passes import l2_hints

EPS = {BF16: 2.0**-8, F32: 2.0**-23}


def normal(*shape, dtype=F32, seed=0):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def on_cpu(f, *args, arch="sm_80", num_warps=None):
  ((_, native),) = natives(f, *args)
  return run(native, *args, arch=arch, num_warps=num_warps)


def close(got, wanted, dtype):
  """Within a few units in the last place of the largest value: sums are computed in float32 and rounded once."""
  wanted = np.asarray(wanted, np.float64)
  np.testing.assert_allclose(np.asarray(got, np.float64), wanted, rtol=0, atol=4 * EPS[dtype] * np.abs(wanted).max())


def exactly(body, *args):
  with jax.enable_x64(True):
    return np.asarray(body(*(jnp.asarray(np.asarray(a, np.float64)) for a in args)))


@pytest.mark.parametrize("rows, shape", [(1, (2, 2048)), (4, (7, 130)), (8, (16, 64))])
@pytest.mark.parametrize("dtype", [BF16, F32], ids=["bf16", "f32"])
@pytest.mark.parametrize("body, others", [(softmax, 0), (rms_norm, 1), (layer_norm, 2)])
def test_kernels_over_rows(body, others, dtype, rows, shape):
  args = [normal(*shape, dtype=dtype), *(normal(shape[1], dtype=dtype, seed=i + 1) for i in range(others))]
  (got,) = on_cpu(by_rows(body, rows), *args)
  close(got, exactly(body, *args), dtype)


@pytest.mark.parametrize("dtype", [BF16, jnp.int16], ids=["bf16", "i16"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_products_without_a_dimension_to_contract(dtype, arch):
  """Of every element with every other, and of elements of one batch."""
  x, y = (jnp.arange(n).reshape(shape).astype(dtype) for n, shape in ((48, (16, 3)), (16, (16,))))
  wide = jnp.float32 if dtype == BF16 else jnp.int32

  def body(x, y):
    every = jax.lax.dot_general(x, y, (((), ()), ((), ())), preferred_element_type=wide)
    return every, jax.lax.dot_general(x, y, (((), ()), ((0,), (0,))), preferred_element_type=wide)

  outs = [jax.ShapeDtypeStruct(s, wide) for s in ((16, 3, 16), (16, 3))]
  every, batched = on_cpu(in_one_block(body, *outs), x, y, arch=arch)
  x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
  np.testing.assert_array_equal(every, x[:, :, None] * y)
  np.testing.assert_array_equal(batched, x * y[:, None])


def test_half_of_one_plus_tanh_keeps_its_digits():
  """Where tanh is near -1 the sum would cancel. An exponential is off by two units in the last place, the rest by one each."""
  x = jnp.linspace(-40, 40, 256, dtype=F32)[None]
  exact = 1 / (1 + np.exp(-2 * np.asarray(x, np.float64)))
  for body, factor in ((lambda x: 0.5 * (1 + jnp.tanh(x)), 1), (lambda x: 3 * (1 + jnp.tanh(x)), 6)):
    (got,) = on_cpu(by_rows(body), x, num_warps=1)
    np.testing.assert_allclose(got, factor * exact, rtol=6 * EPS[F32])


def test_gelu_of_bf16_is_off_by_little_more_than_its_last_rounding():
  """With no step that keeps an exponent in range: what leaves it comes out as 0 or x."""
  x = jnp.concatenate([jnp.linspace(-9, 9, 250), jnp.array([-1e30, -100, -0.0, 100, 1e30, jnp.inf])]).astype(BF16)
  exact = np.asarray(x, np.float64)
  with np.errstate(over="ignore"):
    wanted = exact / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (exact + 0.044715 * exact**3)))
  (got,) = on_cpu(by_rows(jax.nn.gelu), x[None], num_warps=1)
  np.testing.assert_allclose(np.asarray(got, np.float64)[0], wanted, rtol=2.0**-8 * (1 + 2.0**-5), atol=2.0**-126)
  (got,) = on_cpu(by_rows(jax.nn.gelu), jnp.full((1, 64), jnp.nan, BF16), num_warps=1)
  assert np.isnan(np.asarray(got, np.float64)).all()


def test_long_chains_of_ops_are_no_deep_recursions():
  """Hundreds of ops, each of which uses the one before, here and on this CPU."""

  def kernel(x_ref, o_ref):
    x = y = x_ref[...]
    for _ in range(120):
      y = (y + x) * 0.5
    o_ref[...] = y

  x = normal(4, 64)
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, F32))
  for got in (on_cpu(call, x, num_warps=1)[0], call(x)):
    np.testing.assert_allclose(got, x, rtol=2.0**-22)


def test_what_is_used_twice_by_each_op_is_looked_at_once():
  """Forty times y = y + y * y, which has 3**40 paths: as an operand of a product, computed for it, and of a reduction."""

  def doubled(x):
    for _ in range(40):
      x = x + x * x
    return x

  x = jax.ShapeDtypeStruct((64, 64), F32)
  rounded = lambda x: doubled(x).astype(BF16)
  pipeline = contractions.contraction("nn", (64, 64, 64), dtype=F32, prologues=(rounded, rounded))
  for call, args in (
    (pipeline, (x, x)),
    (in_one_block(lambda x: [doubled(x).sum(0)], jax.ShapeDtypeStruct((64,), F32)), (x,)),
  ):
    ((_, native),) = natives(call, *args)
    assert "fma" in nvgpu.compile_ptx(native, "sm_90a")[0]


def test_what_one_case_computes_another_does_not_find():
  """The transpose needs a copy of the tile in shared memory, which is not there where the other case runs."""

  def kernel(which_ref, x_ref, o_ref):
    cases = [lambda x: x.T.reshape(x.shape), lambda x: x[::-1]]
    o_ref[...] = jax.lax.switch(which_ref[0], cases, x_ref[...])

  x = normal(4, 32)
  (got,) = on_cpu(pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, F32)), jnp.ones(1, jnp.int32), x, num_warps=1)
  np.testing.assert_array_equal(got, x[::-1])


def test_what_a_loop_yields_may_be_gathered_in_it():
  def kernel(x_ref, o_ref):
    backwards = 15 - jnp.arange(16)
    o_ref[...] = jax.lax.fori_loop(0, 3, lambda _, x: x[backwards], x_ref[...])

  x = normal(16, 16)
  (got,) = on_cpu(pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, F32)), x, num_warps=1)
  np.testing.assert_array_equal(got, x[::-1])


def test_an_array_is_gathered_from_though_it_has_the_shape_of_the_result():
  x, points = normal(40), normal(2, 40, seed=1)
  points = points.at[0].set(jnp.sort(points[0]))
  body = lambda x, points: [jnp.interp(x, points[0], points[1])]
  (got,) = on_cpu(in_one_block(body, jax.ShapeDtypeStruct(x.shape, F32)), x, points)
  np.testing.assert_allclose(got, np.interp(x, *points), rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [jnp.float8_e4m3fn, jnp.float8_e5m2], ids=["e4m3fn", "e5m2"])
def test_instructions_that_saturate_round_to_eight_bits_as_defined(dtype):
  """What is too large is no number, though the instruction would give the largest."""
  largest = float(jnp.finfo(dtype).max)
  x = jnp.concatenate(
    [normal(100) * 2.0 ** jnp.arange(-20, 30, 0.5), largest * jnp.array([1, 1.03, 1.07, -2, jnp.inf, jnp.nan])]
  )
  body = lambda x: [jax.lax.bitcast_convert_type(x.astype(dtype), jnp.uint8)]
  (got,) = on_cpu(in_one_block(body, jax.ShapeDtypeStruct(x.shape, jnp.uint8)), x, arch="sm_90a", num_warps=1)
  np.testing.assert_array_equal(got, np.asarray(x).astype(dtype).view(np.uint8))


def test_a_product_is_added_to_a_part_of_a_ref_that_is_named_after_it():
  """One that registers do not hold cannot be added up as it is computed then: that part is not there yet."""

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = jnp.ones_like(o_ref)
    product = jnp.matmul(a_ref[...], b_ref[...], preferred_element_type=F32)
    o_ref.at[1][...] = o_ref.at[1][...] + product

  a, b = (jnp.round(4 * normal(*shape)) for shape in ((128, 8), (8, 64)))
  (got,) = on_cpu(pl.pallas_call(kernel, jax.ShapeDtypeStruct((2, 128, 64), F32)), a, b, num_warps=1)
  np.testing.assert_array_equal(got, np.stack([np.ones((128, 64)), 1 + np.matmul(a, b)]))


def test_what_has_no_elements_is_padded_and_added_up():
  x = jnp.zeros((0, 4))
  outs = [jax.ShapeDtypeStruct(shape, F32) for shape in [(2, 6), (4,)]]
  padded, total = on_cpu(in_one_block(lambda x: [jnp.pad(x, 1, constant_values=3), x.sum(0)], *outs), x)
  assert (padded == 3).all() and (total == 0).all()


def test_a_tile_in_registers_is_reshaped_transposed_and_reshaped():
  x = normal(16, 16)
  body = lambda x: x.reshape(4, 64).T.reshape(16, 16) + 0.5 * x
  (got,) = on_cpu(in_one_block(lambda x: [body(x)], jax.ShapeDtypeStruct(x.shape, F32)), x, num_warps=1)
  np.testing.assert_array_equal(got, body(np.asarray(x)))


@pytest.mark.parametrize("rows, shape", [(1, (12, 2048)), (4, (8, 192))])
@pytest.mark.parametrize("dtype", [BF16, F32], ids=["bf16", "f32"])
def test_rows_of_arrays_that_are_said_to_pass_by_once(monkeypatch, dtype, rows, shape):
  monkeypatch.setattr(l2_hints, "_LARGE", 0)
  x = normal(*shape, dtype=dtype)
  ((_, native),) = natives(by_rows(softmax, rows), x)
  text = nvgpu.compile_ptx(native, "sm_90a")[0]
  assert all(word in text for word in ("L2::cache_hint", "prefetch", "applypriority"))
  (got,) = run(native, x, arch="sm_90a")
  close(got, exactly(softmax, x), dtype)


@pytest.mark.parametrize("block", [(64, 64), (64, 128), (128, 64)])
def test_a_transpose_of_an_array_that_is_said_to_pass_by_once(monkeypatch, block):
  monkeypatch.setattr(l2_hints, "_LARGE", 0)
  x, (m, n) = normal(384, 256, dtype=BF16), block
  call = pl.pallas_call(
    lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...].T),
    jax.ShapeDtypeStruct(x.shape[::-1], BF16),
    grid=(384 // m, 256 // n),
    in_specs=[pl.BlockSpec(block, lambda i, j: (i, j))],
    out_specs=pl.BlockSpec(block[::-1], lambda i, j: (j, i)),
  )
  ((_, native),) = natives(call, x)
  text = nvgpu.compile_ptx(native, "sm_90a")[0]
  assert all(word in text for word in ("L2::cache_hint", "applypriority")) and "prefetch" not in text
  np.testing.assert_array_equal(run(native, x, arch="sm_90a")[0], np.asarray(x).T)


def test_tables_that_go_with_an_array_that_is_said_to_pass_by_once(monkeypatch):
  monkeypatch.setattr(l2_hints, "_LARGE", 0)
  monkeypatch.setattr(l2_hints, "_AWAY", 0)
  x, cos, sin = normal(6, 16, 128, dtype=BF16), normal(6, 64, seed=1), normal(6, 64, seed=2)
  ((_, native),) = natives(lambda *args: ops.rotary(*args, native=True), x, cos, sin)
  assert nvgpu.compile_ptx(native, "sm_90a")[0].count("bulk.prefetch") == 2
  (got,) = run(native, x.reshape(1, 6, 16, 2, 64), cos, sin, arch="sm_90a")
  a, b = np.split(np.asarray(x, np.float64), 2, -1)
  c, s = (np.asarray(t, np.float64)[:, None] for t in (cos, sin))
  close(np.reshape(got, x.shape), np.concatenate([a * c - b * s, b * c + a * s], -1), BF16)


@pytest.mark.parametrize("dtype", [BF16, F32], ids=["bf16", "f32"])
def test_matmul(dtype):
  a, b = normal(64, 96, dtype=dtype), normal(96, 64, dtype=dtype, seed=1)
  with jax.default_matmul_precision("highest"):
    (got,) = on_cpu(lambda a, b: matmul(a, b, (32, 32, 32)), a, b)
  close(got, np.asarray(a, np.float64) @ np.asarray(b, np.float64), dtype)


def test_transpose_and_cross_entropy():
  x = normal(64, 128, dtype=BF16)
  (got,) = on_cpu(lambda x: transpose(x, 64), x)
  np.testing.assert_array_equal(got, np.asarray(x).T)
  labels = jnp.arange(64, dtype=jnp.int32)
  exact = np.asarray(x, np.float64)
  (got,) = on_cpu(cross_entropy, x, labels)
  close(got, np.log(np.exp(exact).sum(1)) - exact[np.arange(64), np.arange(64)], F32)


@pytest.mark.parametrize("name", layout_programs.PROGRAMS)
def test_kernels_that_mix_layouts(name):
  args = layout_programs.arguments(name)
  wanted = layout_programs.exactly(name, args)
  (got,) = on_cpu(layout_programs.PROGRAMS[name][0], *args)
  np.testing.assert_allclose(
    np.asarray(got, np.float64), wanted, rtol=0, atol=layout_programs.tolerance(name, args, wanted)
  )


@pytest.mark.parametrize("name", ["online_attention", "product_nt", "transpose"])
def test_kernels_that_mix_layouts_with_stmatrix(name):
  args = layout_programs.arguments(name)
  wanted = layout_programs.exactly(name, args)
  (got,) = on_cpu(layout_programs.PROGRAMS[name][0], *args, arch="sm_90a")
  np.testing.assert_allclose(
    np.asarray(got, np.float64), wanted, rtol=0, atol=layout_programs.tolerance(name, args, wanted)
  )


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("function", [jnp.argmax, jnp.argmin])
@pytest.mark.parametrize("dtype", [BF16, F32, jnp.int8], ids=["bf16", "f32", "int8"])
def test_the_first_extreme_of_long_rows(dtype, function, rows):
  values = np.random.default_rng(0).integers(-100, 100, (4, 2048)).astype(np.float32)
  if dtype != jnp.int8:
    values[1, [700, 900]], values[2, ::2], values[2, 1::2], values[3] = np.nan, -0.0, 0.0, np.inf
  x = jnp.asarray(values).astype(dtype)

  def kernel(x_ref, o_ref):
    o_ref[...] = function(x_ref[...], 1, keepdims=True)

  call = pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((4, 1), jnp.int32),
    grid=(4 // rows,),
    in_specs=[pl.BlockSpec((rows, 2048), lambda i: (i, 0))],
    out_specs=pl.BlockSpec((rows, 1), lambda i: (i, 0)),
  )
  (got,) = on_cpu(call, x)
  np.testing.assert_array_equal(got, function(x, 1, keepdims=True))


@pytest.mark.parametrize("transforms", [(), (plgpu.TilingTransform((8, 16)), plgpu.SwizzleTransform(64))])
def test_what_is_written_beyond_the_edge_stays_while_the_block_does(transforms):
  """Block 1 of two hangs over by half. It is seen in steps 0 to 3 and 6 to 9, and its last row, outside of the array, counts them."""

  def kernel(o_ref, seen_ref):
    step = pl.program_id(0)
    fresh = (step % 6 == 0) | (step % 6 == 4)  # another block than in the step before
    count = jnp.where(fresh, 0.0, o_ref[...]) + 1.0
    o_ref[...] = count
    seen_ref[...] = count[None, -1, :]

  block = lambda i: ((i % 6 < 4).astype(jnp.int32), 0)
  call = pl.pallas_call(
    kernel,
    (jax.ShapeDtypeStruct((12, 16), F32), jax.ShapeDtypeStruct((12, 16), F32)),
    grid=(12,),
    out_specs=(plgpu.BlockSpec((8, 16), block, transforms=transforms), pl.BlockSpec((1, 16), lambda i: (i, 0))),
  )
  _, seen = on_cpu(call)
  np.testing.assert_array_equal(seen[:, 0], [1, 2, 3, 4, 1, 2] * 2)

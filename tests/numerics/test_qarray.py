"""A quantised array under JAX's transformations, in kernels, and printed."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec

from tilewright import errors
from tilewright import pallas as pl
from tilewright.numerics import (
  QArray,
  QType,
  box,
  dequantize,
  dequantize_value,
  partition_specs,
  prepare,
  quantize,
  scaled_dot,
  unbox,
)
from tilewright.pallas import cpu


def normal(*shape, seed=0):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def same(a, b):
  np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_it_prints_what_it_is():
  q = quantize(normal(64, 256), "nvfp4")
  assert repr(q) == (
    "QArray(f4e2m1fn[64x256], f8e4m3fn scale per 16 along axis -1, global scale, 9,220 bytes, 7.1x smaller than f32)"
  )
  assert repr(jax.eval_shape(lambda: q)).startswith("QArray(f4e2m1fn[64x256]")
  assert repr(jax.tree.map(lambda x: x.ndim, q)) == "QArray(f4e2m1fn, 2, 2)"
  assert repr(jax.tree.map(lambda x: np.int32(x.ndim), q)).startswith("QArray(f4e2m1fn, ")


def test_jit_and_eval_shape():
  x = normal(8, 64)
  q = jax.jit(lambda x: quantize(x, "mxfp4"))(x)
  assert isinstance(q, QArray) and q.shape == x.shape
  shapes = jax.eval_shape(lambda x: quantize(x, "mxfp4"), x)
  assert jax.tree.map(lambda a: (a.shape, a.dtype), shapes) == jax.tree.map(lambda a: (a.shape, a.dtype), q)


def test_an_exported_program_with_one_is_kept_as_bytes():
  pytest.importorskip("flatbuffers", reason="jax.export needs it for that")
  from jax import export

  x, w = normal(3, 50), normal(8, 50, seed=1)
  f = lambda x, q: scaled_dot(x, q, (((1,), (1,)), ((), ())))
  for q in (quantize(w, "nvfp4"), quantize(w, "mxfp6_e2m3"), prepare(quantize(w, "mxfp8"))):
    kept = export.export(jax.jit(f))(x, q).serialize()
    np.testing.assert_allclose(export.deserialize(kept).call(x, q), f(x, q), rtol=1e-5, atol=1e-5)


def test_vmap_over_leading_dimensions():
  x = normal(3, 4, 64)
  q = jax.vmap(lambda x: quantize(x, "nvfp4"))(x)
  assert q.shape == (3, 4, 64) and q.global_scale.shape == (3,)
  one_by_one = [dequantize(quantize(x[i], "nvfp4")) for i in range(3)]
  same(jax.vmap(dequantize)(q), jnp.stack(one_by_one))
  same(dequantize(q), jnp.stack(one_by_one))
  same(dequantize(q[1]), one_by_one[1])


def test_shard_map():
  mesh = Mesh(np.array(jax.devices()[:2]), ("x",))
  q, x = quantize(normal(8, 64), "mxfp8"), normal(3, 64, seed=1)
  rows, whole = PartitionSpec("x"), PartitionSpec()
  f = jax.shard_map(
    lambda x, q: scaled_dot(x, q, interpret=True),
    mesh=mesh,
    in_specs=(whole, rows),
    out_specs=PartitionSpec(None, "x"),
    check_vma=False,
  )
  same(jax.jit(f)(x, q), scaled_dot(x, q, interpret=True))


@pytest.mark.devices(4)
@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map_without_jit_and_its_derivative(check_vma):
  q, x = quantize(normal(64, 8), "nvfp4", axis=0), normal(4, 64, seed=1)
  mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
  rows, same_q = jax.sharding.PartitionSpec("d"), jax.sharding.PartitionSpec()
  f = jax.shard_map(scaled_dot, mesh=mesh, in_specs=(rows, same_q), out_specs=rows, check_vma=check_vma)
  same(f(x, q), scaled_dot(x, q))
  weights = np.asarray(dequantize(q), np.float64)
  got = jax.grad(lambda x: jnp.sum(f(x, q)))(x)
  assert (np.abs(got - weights.sum(1)) <= 8 * 2.0**-23 * np.abs(weights).sum(1)).all()  # eight terms each


@pytest.mark.devices(4)
@pytest.mark.parametrize("name", ["mxfp8", "nvfp4"])
def test_shard_map_cuts_rows_and_blocks(name):
  """Along the scaled axis too, and derivatives towards what all devices share are summed."""
  q, x = quantize(normal(8, 256), name), normal(4, 256, seed=1)
  mesh = jax.make_mesh((2, 2), ("r", "k"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
  P = PartitionSpec
  dot = lambda x, q: jax.lax.psum(scaled_dot(x, q, interpret=True), "k")
  want = np.asarray(x, np.float64) @ np.asarray(dequantize(q), np.float64).T
  for given in (q, box(q)):
    specs = P(None, "k"), partition_specs(given, P("r", "k"))
    f = jax.jit(jax.shard_map(dot, mesh=mesh, in_specs=specs, out_specs=P(None, "r")))
    np.testing.assert_allclose(f(x, given), want, rtol=0, atol=264 * 2.0**-24 * 256 * 16)
  gradient = jax.grad(lambda x: jnp.sum(f(x, box(q))))(x)
  np.testing.assert_allclose(gradient, jnp.broadcast_to(dequantize(q).sum(0), x.shape), rtol=0, atol=2.0**-18)


@pytest.mark.devices(4)
def test_quantising_under_shard_map_gives_the_whole_array():
  x = normal(8, 256)
  mesh = jax.make_mesh((4,), ("k",), axis_types=(jax.sharding.AxisType.Auto,))
  specs = partition_specs(quantize(x, "mxfp4"), PartitionSpec(None, "k"))
  f = jax.shard_map(lambda x: quantize(x, "mxfp4"), mesh=mesh, in_specs=PartitionSpec(None, "k"), out_specs=specs)
  got = f(x)
  assert got.shape == x.shape
  same(dequantize(got), dequantize(quantize(x, "mxfp4")))


def test_a_padded_axis_is_not_cut():
  with pytest.raises(errors.ShapeMismatchError, match="padded from 250 to 256"):
    partition_specs(quantize(normal(8, 250), "mxfp8"), PartitionSpec(None, "k"))


def test_values_are_made_and_scanned_under_jit():
  x, layers = normal(2, 32), jax.vmap(lambda w: quantize(w, "mxfp8"))(normal(3, 32, 32, seed=1))
  step = lambda x, w: (scaled_dot(x, w, interpret=True), None)
  want, _ = jax.lax.scan(step, x, layers)
  made = jax.jit(lambda layers: box(layers))(layers)
  got, _ = jax.jit(lambda x, v: jax.lax.scan(step, x, v, length=3))(x, made)
  same(got, want)
  each = jax.jit(jax.vmap(lambda w: dequantize_value(box(quantize(w, "mxfp8", interpret=True)))))
  same(each(normal(3, 32, 32, seed=1)), dequantize(layers))


def test_an_array_with_prepared_scales_prints_and_reads_as_before():
  q = quantize(normal(8, 64), "mxfp8")
  for swizzled, word in ((True, "swizzled"), (False, "padded")):
    ready = prepare(q, swizzled=swizzled)
    assert f"f8e4m3fn[8x64], {word} f8e8m0fnu scale per 32" in str(ready)
    same(dequantize(ready), dequantize(q))


def test_checkpointing_keeps_the_packed_array():
  q, x = quantize(normal(64, 8), "mxfp8", axis=0), normal(3, 64, seed=1)
  f = lambda x: jnp.sum(jnp.tanh(scaled_dot(x, q)))
  np.testing.assert_allclose(jax.grad(jax.checkpoint(f))(x), jax.grad(f)(x), rtol=1e-6)


def test_scan_over_layers():
  w = normal(5, 32, 32) / 6
  layers = quantize(w, "mxfp8", axis=1)
  x = normal(2, 32, seed=1)
  got, _ = jax.lax.scan(lambda x, q: (jnp.tanh(scaled_dot(x, q)), None), x, layers)
  want = x
  for i in range(5):
    want = jnp.tanh(scaled_dot(want, layers[i]))
  np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


def test_stacks_with_a_global_scale_are_mapped_over():
  """It is that of the whole stack, and each matrix has it."""
  w, x = normal(3, 32, 32) / 6, normal(2, 32, seed=1)
  layers = quantize(w, "nvfp4", axis=1)
  assert (
    layers.global_scale.shape == (3,)
    and (layers.global_scale == quantize(w.reshape(-1, 32), "nvfp4").global_scale).all()
  )
  got, _ = jax.lax.scan(lambda x, q: (scaled_dot(x, q), None), x, layers)
  want = x
  for q in layers:
    want = scaled_dot(want, q)
  np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
  same(jax.vmap(scaled_dot, (None, 0))(x, layers), jnp.stack([scaled_dot(x, q) for q in layers]))


def test_transposing_moves_the_scales_along():
  q = quantize(normal(16, 64), "nvfp4")
  same(dequantize(q.T), dequantize(q).T)
  assert q.T.axis == -2


def test_a_kernel_gets_refs_to_its_members():
  q = quantize(normal(8, 64), "mxfp8")

  def kernel(q_ref, o_ref):
    data, scales = q_ref.data[...], q_ref.scales[...]
    o_ref[...] = dequantize(QArray(data, scales, None, q.format, q.block, q.axis, q.size))

  f = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(q.shape, jnp.float32), interpret=True)
  same(f(q), dequantize(q))


# --- as one value ------------------------------------------------------------------------------------------------


PORTABLE, NATIVE = {"interpret": True}, {"compiler_params": cpu.CompilerParams()}


def kernel_of_values(q_ref, o_ref):
  o_ref[...] = dequantize_value(q_ref[...])


@pytest.mark.parametrize("name, axis, options", [("mxfp8", 1, PORTABLE), ("nvfp4", 1, NATIVE), ("int4", 0, NATIVE)])
def test_a_value_is_cut_into_blocks_of_elements(name, axis, options):
  q = quantize(normal(64, 64), name, axis=axis, block=32 if name == "int4" else None, global_scale=None)
  spec = pl.BlockSpec((32, 32), lambda i, j: (i, j))
  f = pl.pallas_call(
    kernel_of_values,
    jax.ShapeDtypeStruct((64, 64), jnp.float32),
    grid=(2, 2),
    in_specs=[spec],
    out_specs=spec,
    **options,
  )
  same(jax.jit(f)(box(q)), dequantize(q))


def test_a_block_of_several_matrices_has_their_global_scales():
  q = jax.vmap(lambda x: quantize(x, "nvfp4"))(normal(4, 2, 32) * jnp.asarray([1.0, 10, 100, 1e-3])[:, None, None])
  spec = pl.BlockSpec((2, 2, 32), lambda i: (i, 0, 0))
  f = pl.pallas_call(
    kernel_of_values, jax.ShapeDtypeStruct(q.shape, jnp.float32), grid=(2,), in_specs=[spec], out_specs=spec, **PORTABLE
  )
  same(jax.jit(f)(box(q)), dequantize(q))


def test_a_value_is_one_variable_of_a_program():
  v = box(quantize(normal(4, 64), "nvfp4"))
  jaxpr = jax.make_jaxpr(dequantize_value)(v)
  assert [type(a.aval) for a in jaxpr.jaxpr.invars] == [QType]
  assert "f4e2m1fn[4,64]" in str(jaxpr)
  same(jax.jit(dequantize_value)(v), dequantize(v.array))
  same(jax.jit(lambda v: dequantize(v, jnp.bfloat16))(v), dequantize(v.array, jnp.bfloat16))


def test_a_value_that_is_dequantised_is_a_constant_of_derivatives():
  x, q = normal(3, 64), quantize(normal(64, 5), "mxfp8", axis=0, interpret=True)
  slope = jax.jit(jax.grad(lambda x, v: jnp.sum(x @ dequantize(v))))(x, box(q))
  want = jax.grad(lambda x: jnp.sum(x @ dequantize(q)))(x)
  np.testing.assert_allclose(slope, want, rtol=1e-6)
  np.testing.assert_allclose(jax.grad(lambda x: jnp.sum(x @ dequantize_value(box(q))))(x), want, rtol=1e-6)


def test_a_value_is_an_operand_of_a_dot():
  q, x = quantize(normal(64, 8), "nvfp4", axis=0), normal(3, 64, seed=1)
  v, want = box(q), jax.jit(scaled_dot)(x, q)
  same(scaled_dot(x, v), want)
  same(jax.jit(scaled_dot)(x, v), want)
  derivative = jax.jit(jax.grad(lambda x, q: jnp.sum(scaled_dot(x, q))))
  same(derivative(x, v), derivative(x, q))
  same(jax.jit(lambda v: dequantize(unbox(v)))(v), dequantize(q))


@pytest.mark.parametrize("name, axis, options", [("mxfp8", 2, PORTABLE), ("nvfp4", 1, PORTABLE), ("mxfp8", 1, NATIVE)])
def test_a_block_of_a_value_may_be_all_of_a_padded_axis(name, axis, options):
  q = quantize(normal(3, 70, 6) if axis == 1 else normal(3, 6, 70), name, axis=axis)
  spec = pl.BlockSpec((None, *q.shape[1:]), lambda i: (i, 0, 0))
  out = jax.ShapeDtypeStruct(q.shape, jnp.float32)
  f = pl.pallas_call(kernel_of_values, out, grid=(3,), in_specs=[spec], out_specs=spec, **options)
  same(f(box(q)), dequantize(q))


@pytest.mark.parametrize(
  "change", [box, unbox, dequantize_value, prepare, lambda x: partition_specs(x, PartitionSpec())]
)
def test_what_is_no_quantised_array_is_named(change):
  with pytest.raises(errors.NumberFormatError, match=r"must be a (QArray|quantised array).*got"):
    change("weights")
  with pytest.raises(errors.NumberFormatError, match=r"spec must be a jax.sharding.PartitionSpec, got str"):
    partition_specs(quantize(normal(4, 64), "mxfp8"), "x")


def test_blocks_hold_whole_scale_blocks():
  v = box(quantize(normal(64, 64), "mxfp8"))
  spec = pl.BlockSpec((32, 16), lambda i, j: (i, j))
  with pytest.raises(errors.BlockSpecError, match="must hold whole scale blocks: a multiple of 32, got 16"):
    pl.pallas_call(
      kernel_of_values, jax.ShapeDtypeStruct((64, 64), jnp.float32), grid=(2, 4), in_specs=[spec], out_specs=spec
    )(v)


def test_it_is_a_sequence_of_rows_and_no_array():
  q = quantize(normal(3, 64), "nvfp4")
  assert len(q) == 3
  same(jnp.stack([dequantize(row) for row in q]), dequantize(q))
  for use in (np.asarray, jnp.asarray, lambda q: normal(2, 64) @ q):
    with pytest.raises(TypeError):
      use(q)


def test_only_leading_dimensions_are_indexed():
  with pytest.raises(errors.ShapeMismatchError, match="before the scaled axis"):
    quantize(normal(4, 64), "mxfp8", axis=0)[1]


def test_indexing_takes_scales_and_global_scales_along():
  whole = quantize(normal(3, 4, 64), "mxfp8", global_scale=np.float32([1, 2, 4]))
  shared = dataclasses.replace(whole, scales=whole.scales[:1])
  read = jax.jit(dequantize)
  for q in (whole, shared, prepare(whole)):
    want = read(q)
    same(read(q[1:]), want[1:])
    same(read(q[1, 2]), want[1, 2])
  same(read(prepare(whole)[2]), read(whole)[2])
  same(read(prepare(whole).swap_last()), jnp.swapaxes(read(whole), 1, 2))


def test_it_is_equal_to_one_with_the_same_bits():
  x = normal(4, 70).at[0, 0].set(jnp.nan)
  q = quantize(x, "nvfp4")
  assert q == quantize(x, "nvfp4") and q != quantize(2 * x, "nvfp4") and q != quantize(x, "mxfp4") and q != 3
  specs = [partition_specs(q, PartitionSpec("x", *rest)) for rest in ((), (None,))]
  assert specs[0] == specs[1] and len(set(specs)) == 1


@pytest.mark.parametrize("name", ["mxfp8", "int4"])
def test_vmap_over_what_is_no_leading_dimension_is_an_error(name):
  """The axis counts from the end: without a dimension behind it, it would be another one."""
  q = quantize(normal(3, 64, 5), name, axis=1)
  with pytest.raises(errors.ShapeMismatchError, match=r"its scales must have shape .* vmap and indexing"):
    jax.vmap(dequantize, in_axes=2)(q)
  with pytest.raises(errors.ShapeMismatchError, match=r"b holds .* vmap and indexing"):
    jax.vmap(lambda q: scaled_dot(jnp.ones((2, q.shape[0])), q, (((1,), (0,)), ((), ()))), in_axes=2)(q)


@pytest.mark.parametrize("recipe", ["mxfp8", "nvfp4", "mxfp6_e2m3"])
def test_an_array_of_nothing_is_nothing(recipe):
  assert dequantize(quantize(jnp.zeros((2, 0)), recipe)).shape == (2, 0)


def test_vmap_over_values():
  q = quantize(normal(3, 4, 64), "mxfp8")
  same(jax.vmap(dequantize_value)(box(q)), dequantize(q))
  same(jax.vmap(dequantize_value, in_axes=1, out_axes=1)(box(q)), dequantize(q))
  x, rows = normal(2, 64), (((1,), (1,)), ((), ()))
  same(jax.vmap(lambda w: scaled_dot(x, w, rows))(box(q)), jax.vmap(lambda w: scaled_dot(x, w, rows))(q))
  with pytest.raises(errors.ShapeMismatchError, match=r"packed along axis 2"):
    jax.vmap(dequantize_value, in_axes=2)(box(q))


@pytest.mark.parametrize(
  "use",
  [
    lambda x, q: x @ q,
    lambda x, q: q @ x.T,
    lambda x, q: q + 1,
    lambda x, q: 2 * q,
    lambda x, q: x - q.T,
    lambda x, q: q / 2,
  ],
)
def test_arithmetic_says_what_to_take_instead(use):
  with pytest.raises(TypeError, match=r"is not an array. Take q.dequantize\(\), or scaled_dot for a product"):
    use(jnp.ones((32, 64)), quantize(jnp.ones((64, 32)), "mxfp8", axis=0))


def test_an_index_behind_the_scaled_axis_says_what_to_do():
  with pytest.raises(errors.ShapeMismatchError, match=r"Take q.dequantize\(\) and index that"):
    quantize(jnp.ones((64, 32)), "mxfp8", axis=0)[:, 3]


def test_a_product_along_an_axis_without_scales_says_along_which_they_are():
  with pytest.raises(errors.ShapeMismatchError, match=r"scaled axis of b \(64, 32\), which is 1, .*axis of quantize"):
    scaled_dot(jnp.ones((2, 64)), quantize(jnp.ones((64, 32)), "mxfp8", axis=1))

"""The drop-ins for jax.nn.scaled_matmul and jax.nn.scaled_dot_general."""

from __future__ import annotations

import dataclasses
import inspect

import exact_numbers as oracle
import jax
import jax.numpy as jnp
import jax_nn
import numpy as np
import pytest

from tilewright import errors, numerics
from tilewright.numerics import get_scaled_dot_general_config, prepare, quantize, scaled_dot_general, scaled_matmul

ROWS = (((1,), (1,)), ((), ()))


def normal(*shape, seed=0):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


@pytest.mark.parametrize("name", ["scaled_matmul", "scaled_dot_general", "get_scaled_dot_general_config"])
def test_parameters_are_those_of_jax(name):
  theirs = list(inspect.signature(getattr(jax.nn, name)).parameters)
  ours = inspect.signature(getattr(numerics, name)).parameters
  assert list(ours)[: len(theirs)] == theirs
  assert all(p.kind is p.KEYWORD_ONLY for p in list(ours.values())[len(theirs) :])


def test_the_example_of_jax():
  a, b = (jnp.array(x).reshape(1, 1, 3) for x in ([1, 2, 3], [4, 5, 6]))
  half = jnp.array([0.5]).reshape(1, 1, 1)
  np.testing.assert_array_equal(scaled_matmul(a, b, half, half), [[[8.0]]])


@pytest.mark.parametrize(
  "dtype, scale, block, k",
  [
    (jnp.float8_e4m3fn, jnp.float8_e8m0fnu, 32, 64),
    (jnp.float4_e2m1fn, jnp.float8_e4m3fn, 16, 64),
    (jnp.float4_e2m1fn, jnp.float8_e4m3fn, 11, 33),
  ],
)
def test_elements_and_scales_as_jax_documents_them(dtype, scale, block, k):
  a, b = normal(2, 5, k).astype(dtype), normal(2, 7, k, seed=1).astype(dtype)
  s, t = (jnp.abs(normal(2, n, k // block, seed=n)).astype(scale) for n in (5, 7))
  got = np.asarray(jax.jit(scaled_matmul)(a, b, s, t), np.float64)

  def value(x, scales):
    return np.asarray(x).astype(np.float64) * np.repeat(oracle.scale_values(scales), block, axis=-1)

  want = np.einsum("bmk,bnk->bmn", value(a, s), value(b, t))
  size = np.einsum("bmk,bnk->bmn", np.abs(value(a, s)), np.abs(value(b, t)))
  assert (np.abs(got - want) <= (64 + 8) * oracle.UNIT * size).all()


@pytest.mark.parametrize("swizzled", [True, False])
def test_prepared_scales_are_taken(swizzled):
  q = quantize(normal(1, 9, 96), "mxfp8")
  ready = prepare(q, swizzled=swizzled)
  want = scaled_matmul(q.data, q.data, q.scales, q.scales)
  np.testing.assert_array_equal(scaled_matmul(q.data, q.data, ready.scales, ready.scales, block_size=32), want)
  if not swizzled:
    padded = ready.scales.scales
    np.testing.assert_array_equal(scaled_matmul(q.data, q.data, padded, padded, block_size=32), want)
    with pytest.raises(errors.ShapeMismatchError, match="pass block_size"):
      scaled_matmul(q.data[..., :95], q.data[..., :95], padded, padded)


@pytest.mark.parametrize("rows, k", [(128, 64), (256, 96), (128, 32), (1, 40)])
def test_padded_scales_are_taken_where_the_rows_need_no_padding(rows, k):
  q = quantize(normal(2, rows, k), "mxfp8")
  padded = prepare(q, swizzled=False).scales.scales
  data = q.data[..., :k]
  want = scaled_matmul(data, data, q.scales, q.scales, block_size=32)
  np.testing.assert_array_equal(scaled_matmul(data, data, padded, padded, block_size=32), want)


def test_blocks_that_do_not_end_with_a_byte():
  x = jnp.asarray(np.random.default_rng(3).integers(-6, 7, (1, 4, 8)), jnp.float32).astype(jnp.float4_e2m1fn)
  scales = 2.0 ** jnp.arange(12).reshape(1, 4, 3)
  value = np.asarray(x).astype(np.float64) * np.repeat(np.asarray(scales), 3, axis=-1)[..., :8]
  np.testing.assert_array_equal(scaled_matmul(x, x, scales, scales, block_size=3)[0], value[0] @ value[0].T)


@pytest.mark.parametrize("configs", [["mxfp8", "mxfp8", None], ["nvfp4"] * 3], ids=str)
def test_training_follows_the_quantised_dots(configs):
  x, w, g = normal(6, 64), normal(10, 64, seed=1), normal(6, 10, seed=2)
  y, pull = jax.vjp(lambda x, w: scaled_dot_general(x, w, ROWS, configs=configs), x, w)
  rule = "ceil" if configs[0] == "mxfp8" else None  # that of jax.nn
  oracle.check(y, quantize(x, configs[0], rule=rule), quantize(w, configs[1], rule=rule))
  dx, dw = pull(g)
  if configs[2] is not None:
    oracle.check(dx, quantize(g, configs[2]), quantize(w.T, configs[2]))
    oracle.check(dw, quantize(g.T, configs[2]), quantize(x.T, configs[2]))
  else:
    exact = np.asarray(g, np.float64) @ np.asarray(w, np.float64)
    size = np.abs(np.asarray(g, np.float64)) @ np.abs(np.asarray(w, np.float64))
    assert (np.abs(dx - exact) <= 2 * 2.0**-8 * size).all()


@pytest.mark.parametrize("configs", [["mxfp8"] * 3, ["mxfp8", "mxfp8", None]], ids=str)
def test_derivatives_have_derivatives(configs):
  """Those of a dot that is linear in either operand, straight through the rounding."""
  x, w = normal(4, 32), normal(6, 32, seed=1)
  f = lambda x, w: jnp.sum(scaled_dot_general(x, w, ROWS, configs=configs, interpret=True) ** 2)
  exact = lambda x, w: jnp.sum((x @ w.T) ** 2)
  twice = lambda f: jax.grad(lambda x, w: sum(jnp.sum(g * g) for g in jax.grad(f, (0, 1))(x, w)), (0, 1))
  for got, want in zip(jax.jit(twice(f))(x, w), twice(exact)(x, w), strict=True):
    # Six roundings to three bits behind the point
    assert np.linalg.norm(got - want) <= 6 * 2.0**-4 * np.linalg.norm(want)


def jax_configs(mode, scale):
  return [jax.nn.get_scaled_dot_general_config(mode, None if scale is None else jnp.array([scale], jnp.float32))] * 3


@pytest.mark.parametrize("mode, scale", [("mxfp8", None), ("nvfp4", None), ("nvfp4", 0.5), ("nvfp4", 0.37)])
@pytest.mark.parametrize("dtypes", [("float16", "bfloat16"), ("bfloat16", "float32")], ids="-".join)
def test_a_config_gives_what_the_program_of_jax_gives(mode, scale, dtypes):
  """Within the roundings of the sum, so that every element and scale is the same one.

  Among bfloat16s many lie in the middle between two elements: divided by the scales as IEEE 754 has it they are ties.
  """
  x, w = normal(24, 64).astype(dtypes[0]), normal(32, 64, seed=1).astype(dtypes[1])
  configs = jax_configs(mode, scale)
  want, got = (
    np.asarray(run(lambda x, w: f(x, w, ROWS, configs=configs), x, w))
    for run, f in ((jax_nn.evaluate, jax.nn.scaled_dot_general), (lambda f, *a: f(*a), scaled_dot_general))
  )
  size = np.sum(np.abs(np.asarray(x, np.float32)), axis=1)[:, None] * float(jnp.max(jnp.abs(w)))
  slack = (64 + 8) * oracle.UNIT * size * 1.1  # quantised, numbers are a little larger than they were
  assert (np.abs(got - want) <= slack).all()


@pytest.mark.parametrize("mode, scale", [("mxfp8", None), ("nvfp4", None), ("nvfp4", 2.0**-11)])
def test_derivatives_by_a_config_are_those_of_the_program_of_jax(mode, scale):
  """Those of NVFP4 are products of floats there, and 0 towards numbers that saturate: with the small scale above 1.3."""
  x, w, g = normal(32, 64), normal(32, 64, seed=1), normal(32, 32, seed=2)
  configs = jax_configs(mode, scale)
  pull = lambda f: lambda x, w, g: jax.vjp(lambda x, w: f(x, w, ROWS, configs=configs), x, w)[1](g)
  want = jax_nn.evaluate(pull(jax.nn.scaled_dot_general), x, w, g)
  got = pull(scaled_dot_general)(x, w, g)
  for a, b, size in zip(got, want, (np.abs(g) @ np.abs(w), np.abs(g).T @ np.abs(x))):
    assert (np.abs(np.asarray(a) - np.asarray(b)) <= 2 * (32 + 8) * oracle.UNIT * size).all()
  if scale is not None:
    assert (np.asarray(got[0])[np.abs(x) > 448 * 6 * scale] == 0).all()


def test_operands_keep_their_configs_backwards():
  """The usual pair for 8 bits: precise elements for operands, a wide range for derivatives."""
  x, w, g = normal(6, 64), normal(10, 64, seed=1), normal(6, 10, seed=2)
  configs = ["mxfp8", "mxfp4", "mxfp8_e5m2"]
  _, pull = jax.vjp(lambda x, w: scaled_dot_general(x, w, ROWS, configs=configs), x, w)
  dx, dw = pull(g)
  oracle.check(dx, quantize(g, configs[2], rule="ceil"), quantize(w.T, configs[1], rule="ceil"))
  oracle.check(dw, quantize(g.T, configs[2], rule="ceil"), quantize(x.T, configs[0], rule="ceil"))


def test_what_a_config_says_of_blocks_and_types_holds():
  x, w = normal(4, 64), normal(3, 64, seed=1)
  config = dataclasses.replace(
    jax.nn.get_scaled_dot_general_config("mxfp8"), block_size=16, data_type=jnp.float8_e5m2, scale_type=jnp.bfloat16
  )
  y = scaled_dot_general(x, w, ROWS, configs=[config] * 3)
  oracle.check(y, *(quantize(z, "f8e5m2", 16, scale_format="bf16") for z in (x, w)))
  strange = dataclasses.replace(config, data_type=jnp.complex64)
  with pytest.raises(errors.NumberFormatError, match="the data_type of a config must be a number format"):
    scaled_dot_general(x, w, ROWS, configs=[strange] * 3)


def test_a_config_that_is_none_of_them_is_named():
  with pytest.raises(errors.NumberFormatError, match=r"mode of a config must be one of mxfp8, .*got 1"):
    scaled_dot_general(normal(4, 64), normal(8, 64), ROWS, configs=[1, 2, 3])


@pytest.mark.parametrize(
  "numbers, configs, message",
  [
    ((((5,), (1,)), ((), ())), ["mxfp8"] * 3, r"different dimensions of lhs, between -2 and 1, got \(5,\)"),
    ((((1,), (1,)), ((1,), (0,))), ["mxfp8"] * 3, r"different dimensions of lhs"),
    (((1, 1), (0, 0)), ["mxfp8"] * 3, r"dimension_numbers must be"),
    (ROWS, "mxfp8", r"configs must be three"),
    (ROWS, [get_scaled_dot_general_config("nvfp4", jnp.ones(3))] * 3, r"global_scale of a config must be one number"),
  ],
)
def test_arguments_of_dots_that_quantise_are_named(numbers, configs, message):
  with pytest.raises((errors.ShapeMismatchError, errors.NumberFormatError), match=message):
    scaled_dot_general(normal(4, 64), normal(8, 64), numbers, configs=configs)


def test_configs_of_jax_are_taken():
  x, w = normal(4, 32), normal(3, 32, seed=1)
  theirs, ours = (f("mxfp8") for f in (jax.nn.get_scaled_dot_general_config, get_scaled_dot_general_config))
  same = [scaled_dot_general(x, w, ROWS, configs=[c] * 3) for c in (theirs, ours, "mxfp8")]
  np.testing.assert_array_equal(same[0], same[1])
  np.testing.assert_array_equal(same[0], same[2])
  np.testing.assert_array_equal(scaled_dot_general(x, w, ROWS), jax.lax.dot_general(x, w, ROWS))


def test_what_jax_takes_is_taken():
  """Flags as elements, integers as results, no elements at all; dimensions from the end and integers for dots that quantise."""
  ones = jnp.ones((1, 2, 4), jnp.bool_)
  scales = jnp.ones((1, 2, 1))
  got = scaled_matmul(ones, ones, scales, scales, jnp.int32)
  assert got.dtype == jnp.int32 and (got == 4).all()
  none = jnp.ones((1, 2, 0), jnp.float8_e4m3fn)
  assert not scaled_matmul(none, none, scales[..., :0], scales[..., :0]).any()
  whole = jnp.ones((2, 3, 32), jnp.int32)
  got = scaled_dot_general(whole, whole, (((-1,), (-1,)), ((0,), (0,))), configs=["mxfp8"] * 3)
  assert got.dtype == jnp.float32 and (got == 32).all()
  small = whole.astype(jnp.float8_e5m2)
  np.testing.assert_array_equal(
    scaled_dot_general(small, whole, (((2,), (2,)), ((0,), (0,))), configs=["mxfp8"] * 3), got
  )


@pytest.mark.parametrize("given", [("mxfp8",), ("nvfp4",), ("nvfp4", 0.25), ("mxfp8", 0.25)])
def test_a_config_says_what_jax_s_says(given):
  ours, theirs = (f(*given) for f in (get_scaled_dot_general_config, jax.nn.get_scaled_dot_general_config))
  for field in ("mode", "block_size", "data_type", "scale_type", "global_scale", "infer_only"):
    assert getattr(ours, field) == getattr(theirs, field), field


def test_dtypes_and_sizes_of_blocks_that_are_none_are_named():
  x = jnp.ones((1, 3, 64))
  with pytest.raises(errors.NumberFormatError, match=r"rhs must be an array of floats up to float32, .* got complex64"):
    scaled_dot_general(x[0], x[0].astype(jnp.complex64), ROWS, configs=["mxfp8"] * 3)
  for size in (0, "32"):
    with pytest.raises(errors.NumberFormatError, match="block_size must be an integer of at least 1, got"):
      scaled_matmul(x, x, x[..., :2], x[..., :2], block_size=size)


@pytest.mark.parametrize("shape", [(2, 3, 64), (1, 3, 32)])
def test_operands_that_do_not_fit_are_named(shape):
  a, b = jnp.ones((1, 3, 64)), jnp.ones(shape)
  with pytest.raises(errors.ShapeMismatchError, match="lhs and rhs"):
    scaled_matmul(a, b, a[..., :2], b[..., :2])
  with pytest.raises(errors.ShapeMismatchError, match=r"of lhs .* of rhs .* same sizes"):
    scaled_dot_general(a, b, (((2,), (2,)), ((0,), (0,))), configs=["mxfp8"] * 3)

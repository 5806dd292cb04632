"""Groups of rows with quantised weights of their own."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import errors, ops
from tilewright.numerics import box, prepare, quantize


def normal(*shape, seed=0):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


@pytest.mark.parametrize("native", [False, True], ids=["portable", "native"])
@pytest.mark.parametrize("name, axis", [("nvfp4", 1), ("mxfp8", 2), ("int4", 2)])
def test_each_group_meets_its_own_weights(name, axis, native):
  x, w = normal(22, 70), normal(3, 70, 9, seed=1)
  q = quantize(w if axis == 1 else w.transpose(0, 2, 1), name, axis=axis, block=32 if name == "int4" else None)
  sizes = jnp.array([5, 0, 13], jnp.int32)  # four rows are left over
  got = np.asarray(jax.jit(lambda *a: ops.scaled_grouped_matmul(*a, native=native))(x, q, sizes), np.float64)
  value = np.asarray(q.dequantize(), np.float64)
  value = value if axis == 1 else value.transpose(0, 2, 1)
  a = np.asarray(x, np.float64)
  for rows, group in ((slice(0, 5), 0), (slice(5, 18), 2)):
    size = np.abs(a[rows]) @ np.abs(value[group])
    assert (np.abs(got[rows] - a[rows] @ value[group]) <= (70 + 8) * 2.0**-24 * size).all()
  assert (got[18:] == 0).all()


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="tensor cores multiply weights that are bf16s or float32s")
@pytest.mark.parametrize("native", [False, True], ids=["portable", "native"])
def test_scales_for_which_weights_would_be_infinite(native):
  """Small rows make up for them: 2^-100 times 2^127 times elements up to 448."""
  q = quantize(normal(2, 8, 64, seed=1), "mxfp8")
  codes = jax.lax.bitcast_convert_type(q.scales, jnp.uint8).at[1, :, 1].set(254)
  q = dataclasses.replace(q, scales=jax.lax.bitcast_convert_type(codes, jnp.float8_e8m0fnu))
  x, sizes = normal(6, 64) * 2.0**-100, jnp.array([4, 2], jnp.int32)
  got = np.asarray(ops.scaled_grouped_matmul(x, q, sizes, interpret=not native, native=native), np.float64)
  scales = np.repeat(np.exp2(np.asarray(codes, np.float64) - 127), 32, axis=-1)
  value, a = np.asarray(q.data).astype(np.float64) * scales, np.asarray(x, np.float64)
  for rows, group in ((slice(0, 4), 0), (slice(4, 6), 1)):
    size = np.abs(a[rows]) @ np.abs(value[group].T)
    assert (np.abs(got[rows] - a[rows] @ value[group].T) <= (64 + 8) * 2.0**-24 * size).all()


def test_a_global_scale_for_each_group():
  w = normal(2, 32, 8)
  q = jax.vmap(lambda w: quantize(w, "nvfp4", axis=0))(w * jnp.array([1.0, 100.0])[:, None, None])
  x, sizes = normal(6, 32, seed=1), jnp.array([4, 2], jnp.int32)
  got = ops.scaled_grouped_matmul(x, q, sizes, interpret=True)
  value = q.dequantize()
  want = jnp.concatenate([x[:4] @ value[0], x[4:] @ value[1]])
  np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * float(jnp.max(jnp.abs(want))))


@pytest.mark.parametrize("name, native", [("int8", False), ("int8", True), ("int4", True)])
def test_one_scale_for_all_groups_or_for_each(name, native):
  x, w, sizes = normal(6, 32), normal(2, 32, 8, seed=1), jnp.array([4, 2], jnp.int32)
  turned = (lambda z: jnp.swapaxes(z, -1, -2)) if name == "int4" else lambda z: z
  scaled = lambda w: quantize(turned(w), name, axis=None)
  for q in (scaled(w), jax.vmap(scaled)(w * jnp.array([1.0, 100.0])[:, None, None])):
    value = turned(q.dequantize())
    want = jnp.concatenate([x[:4] @ value[0], x[4:] @ value[1]])
    got = ops.scaled_grouped_matmul(x, q, sizes, interpret=not native, native=native)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * float(jnp.max(jnp.abs(want))))


def test_boxed_and_prepared_weights_are_taken():
  x, q, sizes = normal(6, 32), quantize(normal(2, 8, 32, seed=1), "mxfp8"), jnp.array([4, 2], jnp.int32)
  dot = jax.jit(lambda q: ops.scaled_grouped_matmul(x, q, sizes, interpret=True))
  for same in (box(q), prepare(q)):
    np.testing.assert_array_equal(dot(same), dot(q))


def test_plain_weights_are_refused():
  with pytest.raises(errors.ShapeMismatchError, match="weights must be a QArray of three dimensions"):
    ops.scaled_grouped_matmul(normal(4, 8), normal(2, 8, 3), jnp.array([2, 2]))
  q = quantize(normal(2, 8, 3), "int8", axis=1)
  for sizes, message in (
    (jnp.array([2.0, 2.0]), "must be integers, got float32"),
    (None, "must be an array, got NoneType"),
  ):
    with pytest.raises((errors.ShapeMismatchError, errors.KernelTypeError), match=f"group_sizes {message}"):
      ops.scaled_grouped_matmul(normal(4, 8), q, sizes)

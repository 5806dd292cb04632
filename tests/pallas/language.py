"""What the tests of the kernel language share: short names, a NumPy model of poison, and how many examples a property gets."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import HealthCheck, settings

from tilewright import pallas as pl

F32, I32 = jnp.float32, jnp.int32
S = jax.ShapeDtypeStruct


def examples(count: int) -> settings:
  """Each example compiles a kernel, so properties get few of them, and the same ones in every run."""
  return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def run(kernel, *args, out=None, **options):
  """One kernel call; by default the output is like the first argument."""
  out = jax.tree.map(lambda a: S(jnp.shape(a), jnp.asarray(a).dtype), args[0]) if out is None else out
  return pl.pallas_call(kernel, out, **options)(*args)


def pointwise(f):
  """The kernel that applies `f` to what it sees of its one operand."""

  def kernel(x_ref, o_ref):
    o_ref[...] = f(x_ref[...])

  return kernel


def arange(*shape: int, dtype=F32) -> jax.Array:
  return jnp.arange(np.prod(shape), dtype=dtype).reshape(shape)


def numbers(shape, dtype, seed: int = 0) -> np.ndarray:
  """Distinct-looking numbers that every dtype holds exactly."""
  values = np.random.default_rng(seed).integers(1, 100, shape)
  if dtype == np.bool_:
    return np.asarray(values % 2 == 0)
  return np.asarray(values).astype(dtype)


def poison(dtype):
  if dtype == np.bool_:
    return False
  return jnp.iinfo(dtype).min if jnp.issubdtype(dtype, jnp.integer) else np.nan


def padded(array: np.ndarray, by: int) -> np.ndarray:
  """The array in a sea of poison: element i stands at i + by."""
  return np.pad(array, by, constant_values=poison(array.dtype))


def cropped(array: np.ndarray, by: int) -> np.ndarray:
  return array[tuple(slice(by, d - by) for d in array.shape)]


def same(actual, expected) -> None:
  """Equal, NaN in the same places included."""
  actual, expected = np.asarray(actual), np.asarray(expected)
  assert actual.shape == expected.shape, (actual.shape, expected.shape)
  assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
  if actual.dtype.kind == "V" or actual.dtype.name.startswith("bfloat"):  # NumPy does not know that these have NaN
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
  np.testing.assert_array_equal(actual, expected)

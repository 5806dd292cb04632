"""Float64 oracles, and what an op that computes in float32 may differ from them.

A tolerance is counted in roundings: `steps` of them in float32 relative to `size`, the largest magnitude that is added up, plus one to the
dtype of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

EPS32 = float(np.finfo(np.float32).eps)
NATIVE = {"native": {}, "portable": {"interpret": True}}


def random(seed: int, *shape: int, dtype: Any = jnp.float32) -> jax.Array:
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def exact(x: Any) -> np.ndarray:
  return np.asarray(x, np.float64)


def close(found: Any, expected: np.ndarray, *, steps: float, size: Any = 1.0) -> None:
  """`steps` roundings of float32 at magnitude `size` (a number, or one for each element), and one of the result's dtype."""
  dtype_eps = float(jnp.finfo(found.dtype).eps)
  allowed = steps * EPS32 * np.asarray(size) + dtype_eps * np.abs(expected)
  error = np.abs(exact(found) - expected)
  assert found.shape == expected.shape
  assert np.all(error <= allowed), f"error {np.max(error - allowed):.3g} above what {steps} roundings allow"


def gradient64(f: Callable[..., Any], *args: Any) -> tuple[np.ndarray, ...]:
  """The derivatives of sum(f) in float64, by JAX."""
  with jax.enable_x64(True):
    wide = [jnp.asarray(exact(a), jnp.float64) for a in args]
    found = jax.jit(jax.grad(lambda *xs: jnp.sum(f(*xs)), tuple(range(len(args)))))(*wide)
    return tuple(np.asarray(g) for g in found)


def value64(f: Callable[..., Any], *args: Any) -> np.ndarray:
  with jax.enable_x64(True):
    return np.asarray(jax.jit(f)(*(jnp.asarray(exact(a), jnp.float64) for a in args)))

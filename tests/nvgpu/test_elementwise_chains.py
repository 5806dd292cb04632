"""Long chains of elementwise ops: right, and without memory for what lies between the ops."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import by_rows, natives

from tilewright.target.nvgpu import compile_ptx

S = jax.ShapeDtypeStruct
F32 = jnp.float32


def gelu(x):
  return jax.nn.gelu(x, approximate=False)


def kept_and_stored(x):
  """What a sum needs, and the store after it again."""
  y = jnp.exp(jax.lax.erf(x)) * jnp.log1p(x * x)
  return y / y.sum(-1, keepdims=True)


BODIES = {
  "gelu": gelu,
  "kept_and_stored": kept_and_stored,
  "i0e": jax.lax.bessel_i0e,
  "sincos": lambda x: jnp.sin(x) * jnp.cos(x),
  "chosen": lambda x: jnp.where(x > 0, jnp.log(jnp.abs(x) + 1), jax.lax.erf(x)) * x,
}


@pytest.mark.parametrize("name, shape", [*((name, (1, 2048)) for name in BODIES), ("kept_and_stored", (3, 130))])
def test_every_element_is_computed_as_it_is_alone(name, shape):
  x = jnp.asarray(np.random.default_rng(0).standard_normal(shape) * 3, F32)
  ((_, native),) = natives(by_rows(BODIES[name]), x)
  (got,) = run(native, x, arch="sm_90a")
  with jax.enable_x64(True):
    wanted = np.asarray(BODIES[name](jnp.asarray(np.asarray(x, np.float64))))
  np.testing.assert_allclose(got, wanted, rtol=2e-6, atol=2e-6)


def test_what_lies_between_the_ops_of_a_large_block_takes_no_memory():
  ((_, native),) = natives(by_rows(jax.lax.bessel_i0e, rows=64), S((1024, 8192), F32))
  _, launch = compile_ptx(native, "sm_90a")
  assert launch.shared_bytes == launch.scratch_bytes == 0

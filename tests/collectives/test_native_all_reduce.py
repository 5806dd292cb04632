"""The HLO pass that calls kernels for small all-reduces: what programs compute with it, and what it leaves alone."""

from __future__ import annotations

import logging

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

import tilewright.collectives  # noqa: F401  offers its kernels
from tilewright import hlo

pytestmark = pytest.mark.skipif(jax.device_count() < 8, reason="needs 8 devices: set XLA_FLAGS before JAX starts")


def compiled(f, *xs, options="", **axes):
  """A function of one device's part, for shard_map, compiled with the pass."""
  devices = np.array(jax.devices()[: int(np.prod(list(axes.values())))]).reshape(*axes.values())
  mesh = jax.sharding.Mesh(devices, tuple(axes))
  spec = P(tuple(axes))
  whole = jax.shard_map(lambda *xs: f(*(x[0] for x in xs))[None], mesh=mesh, in_specs=spec, out_specs=spec)
  with hlo.install([f"native_all_reduce{options}"]):
    return jax.jit(whole).lower(*xs).compile()


def calls(program) -> int:
  return program.as_text().count('custom_call_target="tilewright_cpu"')


def numbers(n, *shape, dtype=np.float32):
  return np.random.default_rng(0).integers(-4, 5, (n, *shape)).astype(dtype)


def varying(x, axis="x"):
  return lax.pcast(x, axis, to="varying")


@pytest.mark.parametrize("dtype", [np.float32, np.int32, jnp.bfloat16], ids=lambda d: np.dtype(d).name)
def test_reductions_are_kernels_and_give_the_same(dtype):
  x = numbers(8, 5, 7, dtype=dtype)
  program = compiled(lambda x: varying(lax.psum(x, "x")), x, x=8)
  assert calls(program) == 1 and " all-reduce(" not in program.as_text()
  np.testing.assert_array_equal(np.asarray(program(x)), np.stack([x.sum(0)] * 8))


def test_several_reductions_over_axes_of_a_mesh():
  x = numbers(8, 3, 4)

  def step(x):
    return varying(lax.psum(x, "a"), "a") + varying(lax.pmax(x, ("a", "b")), ("a", "b"))

  program = compiled(step, x, a=2, b=4)
  assert calls(program) == 2
  by_mesh = x.reshape(2, 4, 3, 4)
  expected = (by_mesh.sum(0, keepdims=True) + by_mesh.max((0, 1), keepdims=True)) * np.ones((2, 1, 1, 1), np.float32)
  np.testing.assert_array_equal(np.asarray(program(x)), expected.reshape(8, 3, 4))


def test_reductions_in_a_loop_and_in_a_derivative():
  x = numbers(4, 6)

  def step(x):
    loss = lambda x: lax.psum(jnp.sum(x * x), "x")
    body = lambda _, x: x - 0.25 * jax.grad(loss)(x) + varying(lax.psum(x, "x"))
    return lax.fori_loop(0, 3, body, x)

  program = compiled(step, x, x=4)
  assert calls(program) >= 1
  expected = x.astype(np.float64)
  for _ in range(3):
    expected = expected / 2 + expected.sum(0)
  np.testing.assert_array_equal(np.asarray(program(x)), expected)  # small integers over 8: exact


def test_what_stays_is_explained(caplog):
  x = numbers(2, 64, 64)
  with caplog.at_level(logging.INFO, "tilewright.hlo.native_all_reduce"):
    program = compiled(lambda x: varying(lax.psum(x, "x")), x, options="{max_bytes=1024}", x=2)
  assert calls(program) == 0 and " all-reduce(" in program.as_text()
  assert "16,384 bytes, and max_bytes is 1,024" in caplog.text
  np.testing.assert_array_equal(np.asarray(program(x)), np.stack([x.sum(0)] * 2))


def test_nothing_is_replaced_unless_the_pass_is_installed():
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("x",))
  f = jax.jit(jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
  assert calls(f.lower(numbers(2, 8)).compile()) == 0

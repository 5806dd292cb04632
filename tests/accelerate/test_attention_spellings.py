"""Attention as people write it becomes a library kernel, with its derivative, and is as exact as XLA's."""

from __future__ import annotations

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright
from tests.support.attention_spellings import CASES, DEPTH, LENGTH, scaled_queries
from tilewright import hlo

RNG = np.random.default_rng(0)
EPS = {"float32": 2.0**-23, "bfloat16": 2.0**-7, "float16": 2.0**-10}


pytestmark = pytest.mark.usefixtures("all_regions_are_worth_it")


@pytest.mark.parametrize("name", CASES)
def test_attention_and_its_derivative_become_library_kernels(name):
  f, shapes, dtype = CASES[name]
  args = [np.asarray(RNG.normal(size=s), jnp.dtype(dtype)) for s in shapes]
  args.append(np.asarray(RNG.normal(size=jax.eval_shape(f, *args).shape), args[0].dtype))

  def step(*args):
    def loss(q, k, v, weights):
      out = f(q, k, v)
      return (out.astype(jnp.promote_types(out.dtype, jnp.float32)) * weights).sum(), out

    (_, out), slopes = jax.value_and_grad(loss, (0, 1, 2), has_aux=True)(*args)
    return out, *slopes

  plain = jax.jit(lambda *a: step(*a))(*args)
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(lambda *a: step(*a))(*args)
  found = [d for r in acceleration.reports for d in r.taken if d.kind == "attention"]
  assert found and "derivatives" in found[0].tile, acceleration.explain()
  with jax.enable_x64(True):
    exact = jax.jit(lambda *a: step(*a))(*(a.astype(np.float64) for a in args))
  for a, b, c in zip(ours, plain, exact):
    a, b, c = (np.asarray(x, np.float64) for x in (a, b, c))
    bound = 4 * np.abs(b - c).max() + 16 * EPS[dtype] * np.abs(c).max()
    assert np.abs(a - c).max() <= bound


def test_a_refused_attention_leaves_nothing_behind(monkeypatch):
  """What was put into the module before the refusal is taken out again: it would be computed for nobody."""
  from tilewright.accelerate import attention_calls
  from tilewright.accelerate.graph import Refused

  def refuse(*_):
    raise Refused("it was asked to")

  monkeypatch.setattr(attention_calls.Rewrite, "_plan", refuse)
  x = RNG.normal(size=(LENGTH, DEPTH)).astype(np.float32)
  modules = []
  with (
    tilewright.accelerate() as acceleration,
    hlo.install([lambda module: modules.append(module.to_text()) is not None], stage="pre_scheduler"),
  ):
    out = jax.jit(lambda x: scaled_queries(x, x, x))(x)
  assert "it was asked to" in acceleration.explain()
  assert not any("operand_of" in text for text in modules)
  np.testing.assert_allclose(out, scaled_queries(x, x, x), rtol=1e-4, atol=1e-5)


def _pairs(dtype=jnp.int32):
  positions = jnp.arange(LENGTH, dtype=dtype)
  return positions[:, None], positions[None]


def _wrapped(s):  # later keys are so far away that the window hides them
  q, k = _pairs(jnp.uint32)
  return jnp.where(q - k < 8, s, -1e30)


def _steep(s):
  q, k = _pairs()
  return s - 1e9 * jnp.maximum(k - q, 0).astype(s.dtype)


def _far(s):  # nothing for the first few positions
  q, k = _pairs()
  return s - 0.5 * jnp.maximum(jnp.abs(q - k) - 10, 0).astype(s.dtype)


def _late(s):
  return s + 0.1 * jnp.maximum(jnp.arange(LENGTH) - 20, 0).astype(s.dtype)


def _bytes(s):
  position = (jnp.arange(LENGTH) + 230).astype(jnp.uint8)
  return jnp.where(position[:, None] >= position[None], s, -1e30)


def _either(s):
  q, k = _pairs()
  return jnp.where(q >= LENGTH // 2, jnp.where(q >= k, s, -1e30), jnp.where(q <= k, s, -1e30))


@pytest.mark.parametrize("bias", [_wrapped, _steep, _far, _late, _bytes, _either])
def test_what_depends_on_positions_in_other_ways_than_a_band_is_no_attention(bias):
  def f(q, k, v):
    return jax.nn.softmax(bias(q @ k.T * DEPTH**-0.5)) @ v

  q, k, v = (RNG.normal(size=(LENGTH, DEPTH)).astype(np.float32) for _ in range(3))
  plain = jax.jit(lambda *a: f(*a))(q, k, v)
  with warnings.catch_warnings(), tilewright.accelerate() as acceleration:
    warnings.simplefilter("error", hlo.HloPassWarning)
    ours = jax.jit(lambda *a: f(*a))(q, k, v)
  decisions = [d for r in acceleration.reports for d in r.decisions]
  assert not [d for d in decisions if d.kind == "attention" and d.taken], acceleration.explain()
  assert [d for d in decisions if d.kind == "tiles" and d.taken], acceleration.explain()
  with jax.enable_x64(True):
    exact = np.asarray(f(*(x.astype(np.float64) for x in (q, k, v))))
  bound = 4 * np.abs(plain - exact).max() + 16 * EPS["float32"] * np.abs(exact).max()
  assert np.abs(ours - exact).max() <= bound

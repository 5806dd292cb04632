"""Attention as people write it becomes a library kernel, with its derivative, and is as exact as XLA's."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright
from tilewright import hlo

RNG = np.random.default_rng(0)
EPS = {"float32": 2.0**-23, "bfloat16": 2.0**-7, "float16": 2.0**-10}
BATCH, LENGTH, KEYS, HEADS, DEPTH = 2, 24, 40, 4, 16
Q, K = (BATCH, LENGTH, HEADS, DEPTH), (BATCH, KEYS, HEADS, DEPTH)
GROUPED, FEW = (BATCH, LENGTH, 2, 2, DEPTH), (BATCH, LENGTH, 2, DEPTH)
ONE = (BATCH, LENGTH, DEPTH)


pytestmark = pytest.mark.usefixtures("all_regions_are_worth_it")


def causal(s):
  return jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, jnp.finfo(s.dtype).min)


def heads_inside(q, k, v):
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(causal(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4)), v)


def wide_softmax(q, k, v):
  s = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.promote_types(q.dtype, jnp.float32)) / 4
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s).astype(q.dtype), v)


def added_mask(q, k, v):
  hidden = 1 - jnp.tril(jnp.ones((LENGTH, LENGTH), q.dtype))
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4 - 1e9 * hidden), v)


def grouped(q, k, v):
  return jnp.einsum("bhgqk,bkhd->bqhgd", jax.nn.softmax(causal(jnp.einsum("bqhgd,bkhd->bhgqk", q, k) / 4)), v)


def one_head_of_keys(q, k, v):
  return jnp.einsum("bhqk,bkd->bqhd", jax.nn.softmax(causal(jnp.einsum("bqhd,bkd->bhqk", q, k) / 4)), v)


def keys_first(q, k, v):
  return jnp.einsum("kq,kd->qd", jax.nn.softmax(jnp.einsum("kd,qd->kq", k, q) / 4, 0), v)


def scaled_queries(q, k, v):
  return jax.nn.softmax((q * DEPTH**-0.5) @ k.T) @ v


def later_queries(q, k, v):
  sees = jnp.arange(LENGTH)[:, None] + 7 >= jnp.arange(KEYS)[None]
  s = jnp.where(sees, jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4, -jnp.inf)
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)


CASES = {
  "bfloat16, causal": (heads_inside, (Q, Q, Q), "bfloat16"),
  "bfloat16, softmax in float32": (wide_softmax, (Q, K, K), "bfloat16"),
  "a mask that is added": (added_mask, (Q, Q, Q), "float32"),
  "groups of heads share keys": (grouped, (GROUPED, FEW, FEW), "float32"),
  "all heads share keys": (one_head_of_keys, (Q, ONE, ONE), "float32"),
  "scores by keys": (keys_first, ((LENGTH, DEPTH), (KEYS, DEPTH), (KEYS, DEPTH)), "float16"),
  "queries are scaled": (scaled_queries, ((LENGTH, DEPTH), (KEYS, DEPTH), (KEYS, DEPTH)), "float32"),
  "queries begin later": (later_queries, (Q, K, K), "float32"),
  "JAX's own": (jax.nn.dot_product_attention, (Q, FEW, FEW), "float32"),
}


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

"""Products fused with collectives, experts spread over devices, attention over a ring: against the same without devices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.support.device_meshes import mesh_of, on
from tilewright import collectives, errors

N = 4
pytestmark = pytest.mark.skipif(jax.device_count() < N, reason="needs 4 devices: set XLA_FLAGS before JAX starts")
FUSED = {
  "all_gather_matmul": lambda x, w: lax.all_gather(x, "x", tiled=True) @ w,
  "matmul_reduce_scatter": lambda x, w: lax.psum_scatter(x @ w, "x", tiled=True),
  "matmul_all_reduce": lambda x, w: lax.psum(x @ w, "x"),
}


def integers(*shape, dtype=np.float32, seed=0):
  return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def run(f, *xs, check_vma=False):
  return on(f, *xs, mesh=mesh_of(x=N), check_vma=check_vma)


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16])
@pytest.mark.parametrize("name", FUSED)
def test_fused_products_are_exact(name, dtype):
  x, w = integers(N, 8, 12, dtype=dtype), integers(N, 12, 20, dtype=dtype, seed=1)
  found = run(lambda x, w: getattr(collectives, name)(x, w, "x"), x, w)
  wide = [a.astype(np.float64) for a in (x, w)]
  expected = {
    "all_gather_matmul": lambda x, w: np.stack([x.reshape(-1, 12) @ w[d] for d in range(N)]),
    "matmul_reduce_scatter": lambda x, w: (x @ w).sum(0).reshape(N, 2, 20),
    "matmul_all_reduce": lambda x, w: np.stack([(x @ w).sum(0)] * N),
  }[name](*wide)
  np.testing.assert_array_equal(found.astype(np.float64), expected.astype(dtype).astype(np.float64))


@pytest.mark.parametrize("check_vma", [False, True])
def test_derivatives_of_fused_products(check_vma):
  x, w = integers(N, 8, 6), integers(N, 6, 4, seed=1)

  def gradients(f):
    return lambda x, w: jax.grad(lambda x, w: jnp.sum(jnp.sin(f(x, w) * 0.1)), argnums=(0, 1))(x, w)

  for name, twin in FUSED.items():
    ours = run(gradients(lambda x, w: getattr(collectives, name)(x, w, "x")), x, w, check_vma=check_vma)
    theirs = run(gradients(twin), x, w, check_vma=check_vma)
    for a, b in zip(ours, theirs):
      np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5, err_msg=name)


def stacked(f):
  """Two products under `vmap` along dimensions that are not the first, and as many under forward derivatives."""

  def all_ways(x, w):  # (2, m, k), (2, k, n)
    moved = jnp.moveaxis(w, 0, 2)
    return (
      jax.vmap(f, (0, 2), 1)(x, moved),
      jax.vmap(f, (0, None))(x, w[0]),
      jax.vmap(f, (None, 2), 2)(x[0], moved),
      jax.jvp(f, (x[0], w[0]), (x[1], w[1])),
      jax.grad(lambda x: jnp.sum(jnp.sin(jax.vmap(f, (0, None))(x, w[0]) * 0.1)))(x),
    )

  return all_ways


@pytest.mark.parametrize("name", FUSED)
def test_vmap_and_forward_derivatives_of_fused_products(name):
  x, w = integers(N, 2, 8, 7), integers(N, 2, 7, 5, seed=1)
  ours = run(stacked(lambda x, w: getattr(collectives, name)(x, w, "x")), x, w)
  theirs = run(stacked(FUSED[name]), x, w)
  jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), ours, theirs)


def test_groups_and_rows_that_do_not_divide():
  x, w = integers(N, 7, 5), integers(N, 5, 9, seed=1)
  groups = [[0, 2], [3, 1]]
  found = run(lambda x, w: collectives.matmul_all_reduce(x, w, "x", axis_index_groups=groups), x, w)
  for group in groups:
    for device in group:
      np.testing.assert_array_equal(found[device], (x[group] @ w[group]).sum(0))
  with pytest.raises(errors.ShapeMismatchError, match="multiple of the 4 members"):
    run(lambda x, w: collectives.matmul_reduce_scatter(x, w, "x"), x, w)


def test_tokens_find_their_experts_and_come_back():
  tokens, d, f, own, k = 6, 8, 10, 2, 2
  rng = np.random.default_rng(0)
  x = rng.standard_normal((N, tokens, d)).astype(np.float32)
  ids = rng.integers(0, N * own, (N, tokens, k)).astype(np.int32)
  gates = rng.random((N, tokens, k)).astype(np.float32)
  w_in = rng.standard_normal((N, own, d, f)).astype(np.float32)
  w_out = rng.standard_normal((N, own, f, d)).astype(np.float32)
  found = run(lambda *a: collectives.moe(*a, "x"), x, ids, gates, w_in, w_out)

  def reference(x, gates, w_in, w_out):
    w1, w2 = w_in.reshape(-1, d, f)[ids], w_out.reshape(-1, f, d)[ids]
    hidden = jax.nn.silu(jnp.einsum("ntd,ntkdf->ntkf", x, w1))
    return jnp.einsum("ntkf,ntkfd,ntk->ntd", hidden, w2, gates)

  np.testing.assert_allclose(found, reference(x, gates, w_in, w_out), rtol=1e-4, atol=1e-4)
  loss = lambda x, ids, gates, a, b: jax.grad(
    lambda x, a: jnp.sum(collectives.moe(x, ids, gates, a, b, "x") ** 2), (0, 1)
  )(x, a)
  to_x, to_w = run(loss, x, ids, gates, w_in, w_out)
  expected = jax.grad(lambda x, a: jnp.sum(reference(x, gates, a, w_out) ** 2), (0, 1))(x, w_in)
  np.testing.assert_allclose(to_x, expected[0], rtol=1e-3, atol=1e-3)
  np.testing.assert_allclose(to_w, expected[1], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_over_a_ring(causal):
  batch, length, heads, kv_heads, d = 2, 6, 4, 2, 8
  rng = np.random.default_rng(0)
  q = rng.standard_normal((N, batch, length, heads, d)).astype(np.float32)
  k, v = (rng.standard_normal((N, batch, length, kv_heads, d)).astype(np.float32) for _ in range(2))
  whole = lambda a: jnp.asarray(a).transpose(1, 0, 2, 3, 4).reshape(batch, N * length, -1, d)

  def reference(q, k, v):
    out = jax.nn.dot_product_attention(whole(q), whole(k), whole(v), is_causal=causal)
    return out.reshape(batch, N, length, heads, d).transpose(1, 0, 2, 3, 4)

  ring = lambda q, k, v: collectives.ring_attention(q, k, v, "x", causal=causal)
  np.testing.assert_allclose(run(ring, q, k, v), reference(q, k, v), rtol=2e-5, atol=2e-5)
  if not causal:
    return
  gradients = jax.grad(lambda *a: jnp.sum(jnp.sin(reference(*a))), argnums=(0, 1, 2))(q, k, v)
  found = run(jax.grad(lambda *a: jnp.sum(jnp.sin(ring(*a))), argnums=(0, 1, 2)), q, k, v)
  for a, b in zip(found, gradients):
    np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)

"""Collectives along axes that `vmap` names: each axis of the mesh may be one of a vmap instead, and nothing changes."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

from tests.support.device_meshes import N, mesh_of, numbers, on
from tilewright import collectives, errors

pytestmark = pytest.mark.skipif(jax.device_count() < N, reason="needs 8 devices: set XLA_FLAGS before JAX starts")

SIZES = {"a": 2, "b": 2, "c": 2}


def run(f, x, batched):
  """f of parts of x, whose first dimensions are `SIZES`: over a mesh, but for the axes of `batched`."""
  axes = [axis for axis in SIZES if axis not in batched]
  x = jnp.moveaxis(x, [list(SIZES).index(axis) for axis in batched], range(len(batched)))
  for axis in reversed(batched):
    f = jax.vmap(f, axis_name=axis, axis_size=SIZES[axis])
  if axes:
    inner = f
    put = lambda y: (
      y.reshape(*(1 for _ in axes), *y.shape) if not batched else jnp.expand_dims(y, _behind(batched, axes))
    )
    take = lambda y: y.reshape(*y.shape[: len(batched)], *y.shape[len(batched) + len(axes) :])
    spec = P(*(None for _ in batched), *axes)
    f = jax.shard_map(
      lambda x: jax.tree.map(put, inner(take(x))),
      mesh=mesh_of(**{axis: SIZES[axis] for axis in axes}),
      in_specs=spec,
      out_specs=spec,
      check_vma=False,
    )
  back = lambda y: np.moveaxis(np.asarray(y), range(len(batched)), [list(SIZES).index(axis) for axis in batched])
  return jax.tree.map(back, jax.jit(f)(x))


def _behind(batched, axes):
  return tuple(range(len(batched), len(batched) + len(axes)))


def all_kinds(axes, n):
  def f(x):  # (n, 3)
    found = [collectives.all_reduce(x, axes, op=op) for op in ("sum", "max", "min")]
    found += [collectives.all_gather(x, axes, axis=1), collectives.reduce_scatter(x, axes)]
    found += [collectives.reduce_scatter(x, axes, op="max"), collectives.all_to_all(x, axes, 0, 1)]
    found += [collectives.permute(x, axes, [(i, (3 * i + 1) % n) for i in range(n - 1)])]
    found += [collectives.broadcast(x, axes, n - 1), collectives.all_reduce(jnp.float32(2), axes)]
    return found

  return f


@pytest.mark.parametrize("axes", [("b",), ("b", "a"), ("a", "c", "b")], ids="".join)
def test_an_axis_of_a_vmap_is_like_one_of_the_mesh(axes):
  n = int(np.prod([SIZES[axis] for axis in axes]))
  x = numbers((*SIZES.values(), n, 3), np.float32)
  expected = run(all_kinds(axes, n), x, ())
  for batched in itertools.chain.from_iterable(itertools.permutations(SIZES, k) for k in (1, 2, 3)):
    if not set(batched) & set(axes) or (len(batched) == 2 and batched[0] > batched[1]):
      continue
    for found, one in zip(run(all_kinds(axes, n), x, batched), expected, strict=True):
      np.testing.assert_array_equal(found, one)


def test_small_floats_are_rounded_once():
  x = numbers((2, 2, 2, 3), jnp.bfloat16) + jnp.asarray([0.0078125, 1, 3], jnp.bfloat16)
  f = lambda x: collectives.all_reduce(x, ("a", "b", "c"))
  np.testing.assert_array_equal(run(f, x, ("b",)).astype(np.float32), run(f, x, ()).astype(np.float32))


def test_derivatives_along_an_axis_of_a_vmap():
  x = numbers((2, 2, 2, 4, 3), np.float32)

  def loss(x):
    axes = ("a", "b")
    index = lax.axis_index(axes).astype(jnp.float32)
    found = [collectives.all_reduce(x, axes), collectives.all_gather(x, axes), collectives.reduce_scatter(x, axes)]
    found += [collectives.all_to_all(x, axes, 0, 1), collectives.permute(x, axes, [(0, 2), (3, 1)])]
    found += [collectives.broadcast(x, axes, 3)]
    return sum(jnp.sum(jnp.sin(y * 0.1 + index)) for y in found)

  f = jax.grad(loss)
  np.testing.assert_allclose(run(f, x, ("b",)), run(f, x, ()), rtol=1e-5, atol=1e-5)


def test_fused_products_along_an_axis_of_a_vmap():
  x = numbers((2, 2, 2, 8, 4), np.float32)

  def f(x):
    products = (collectives.all_gather_matmul, collectives.matmul_reduce_scatter, collectives.matmul_all_reduce)
    return [g(x, x[:4] + 1, ("b", "c")) for g in products]

  for found, one in zip(run(f, x, ("c",)), run(f, x, ()), strict=True):
    np.testing.assert_array_equal(found, one)


def test_values_that_the_vmap_does_not_batch():
  f = lambda x: (collectives.all_reduce(jnp.float32(3), "i"), collectives.all_reduce(jnp.int32(3), "x") + x[0])
  found = on(jax.vmap(f, axis_name="i"), numbers((N, 2, 1), np.float32) * 0)
  assert (found[0] == 6).all() and (found[1] == 3 * N).all()


def test_groups_along_an_axis_of_a_vmap_are_refused():
  f = jax.vmap(lambda x: collectives.all_reduce(x, "i", axis_index_groups=[[0], [1]]), axis_name="i")
  with pytest.raises(errors.UnsupportedFeatureError, match="axis_index_groups along the axis 'i' of a vmap"):
    f(np.zeros((2, 3), np.float32))


def test_numbers_of_python_stay_numbers():
  def f(x):
    n = collectives.all_reduce(1, "x")
    assert type(n) is int and collectives.all_reduce(2.5, "x", op="max") == 2.5
    return sum((collectives.permute(x, "x", [(i, (i + k) % n) for i in range(n)]) for k in range(n)), 0)

  x = numbers((N, 3), np.float32)
  np.testing.assert_array_equal(on(f, x), np.stack([x.sum(0)] * N))


def test_empty_sums_are_the_same_everywhere():
  f = lambda x: collectives.all_reduce(x[:, :0], "x")
  found = jax.jit(jax.shard_map(f, mesh=mesh_of(x=N), in_specs=P("x"), out_specs=P()))(np.zeros((N, 3), np.float32))
  assert found.shape == (1, 0)


def test_random_keys_travel():
  def f(x):
    key = jax.random.fold_in(jax.random.key(1), lax.axis_index("x"))
    moved = collectives.permute(key, "x", [(i, (i + 1) % N) for i in range(N)])
    gathered = collectives.all_gather(key, "x")
    return jax.random.key_data(moved), jax.random.key_data(gathered), jax.random.key_data(key)

  moved, gathered, keys = on(f, np.zeros((N, 1), np.float32))
  np.testing.assert_array_equal(moved, np.roll(keys, 1, 0))
  np.testing.assert_array_equal(gathered, np.stack([keys] * N))
  with pytest.raises(errors.CollectiveError, match="can be gathered and sent, not combined"):
    on(lambda x: collectives.all_reduce(jax.random.key(0), "x"), np.zeros((N, 1), np.float32))


def test_ring_attention_of_float64_is_computed_in_it():
  with jax.enable_x64(True):
    q, k, v = np.random.default_rng(0).normal(size=(3, N, 1, 4, 2, 8))
    found = on(lambda q, k, v: collectives.ring_attention(q, k, v, "x"), q, k, v)
    permuted = jax.vmap(lambda x: collectives.permute(x, "i", [(0, 1)]), axis_name="i")(q[:2])
  assert not permuted[0].any() and (permuted[1] == q[0]).all()
  whole = [np.moveaxis(x, 0, 1).reshape(1, N * 4, 2, 8) for x in (q, k, v)]
  scores = np.exp(np.einsum("bqhd,bkhd->bhqk", *whole[:2]) / np.sqrt(8))
  expected = np.einsum("bhqk,bkhd->bqhd", scores / scores.sum(-1, keepdims=True), whole[2])
  # 32 keys of scores up to about 10: a few hundred roundings of 1.1e-16.
  np.testing.assert_allclose(np.moveaxis(found, 0, 1).reshape(expected.shape), expected, rtol=1e-12, atol=1e-12)

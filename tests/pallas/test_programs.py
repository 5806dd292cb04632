"""Whole programs of the kind people write, each against plain JAX."""

from __future__ import annotations

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from language import F32, I32, S, arange, pointwise, run, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

VMEM, SMEM = pltpu.VMEM, pltpu.SMEM


def attention(q, k, v):
  """Flash attention: one pass over the keys, with running maximum and sum."""

  def kernel(q_ref, k_ref, v_ref, o_ref, m_ref, l_ref, acc_ref):
    j = pl.program_id(1)

    @pl.when(j == 0)
    def _():
      m_ref[...] = jnp.full_like(m_ref, -jnp.inf)
      l_ref[...] = jnp.zeros_like(l_ref)
      acc_ref[...] = jnp.zeros_like(acc_ref)

    scores = q_ref[...] @ k_ref[...].T
    m = jnp.maximum(m_ref[...], scores.max(-1, keepdims=True))
    p, scale = jnp.exp(scores - m), jnp.exp(m_ref[...] - m)
    l_ref[...] = l_ref[...] * scale + p.sum(-1, keepdims=True)
    acc_ref[...] = acc_ref[...] * scale + p @ v_ref[...]
    m_ref[...] = m

    @pl.when(j == pl.num_programs(1) - 1)
    def _():
      o_ref[...] = acc_ref[...] / l_ref[...]

  rows = pl.BlockSpec((4, 8), lambda i, j: (i, 0))
  keys = pl.BlockSpec((4, 8), lambda i, j: (j, 0))
  scratch = [VMEM((4, 1), F32), VMEM((4, 1), F32), VMEM((4, 8), F32)]
  return run(kernel, q, k, v, grid=(4, 4), in_specs=[rows, keys, keys], out_specs=rows, scratch_shapes=scratch)


def test_flash_attention_and_its_gradient_over_a_batch():
  q, k, v = (jnp.asarray(np.random.default_rng(i).normal(size=(2, 16, 8)), F32) for i in range(3))
  model = lambda q, k, v: jax.nn.softmax(q @ k.T) @ v
  np.testing.assert_allclose(jax.vmap(attention)(q, k, v), jax.vmap(model)(q, k, v), rtol=1e-5, atol=1e-5)
  loss = lambda f: lambda *args: jnp.sum(jnp.sin(jax.vmap(f)(*args)))
  found = jax.jit(jax.grad(loss(attention), (0, 1, 2)))(q, k, v)
  expected = jax.grad(loss(model), (0, 1, 2))(q, k, v)
  for a, b in zip(found, expected):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_a_ragged_sum_and_its_gradient():
  lengths = np.array([3, 0, 6, 1], np.int32)
  x = arange(4, 6)

  def kernel(length_ref, x_ref, o_ref):
    inside = lax.iota(I32, 6) < length_ref[pl.program_id(0)]
    o_ref[0] = jnp.sum(pl.load(x_ref, (), mask=inside, other=0.0))

  grid_spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=4,
    in_specs=[pl.BlockSpec((None, 6), lambda i, n: (i, 0))],
    out_specs=pl.BlockSpec((1,), lambda i, n: i),
  )
  f = pl.pallas_call(kernel, S((4,), F32), grid_spec=grid_spec)
  inside = np.arange(6) < lengths[:, None]
  same(f(lengths, x), np.sum(x * inside, axis=1, dtype=np.float32))
  same(jax.grad(lambda x: f(lengths, x).sum())(x), inside.astype(np.float32))


def test_a_ring_buffer_in_scratch():
  def kernel(x_ref, o_ref, ring):
    i = pl.program_id(0)

    @pl.when(i == 0)
    def _():
      ring[...] = jnp.zeros_like(ring)

    ring[lax.rem(i, 3)] = x_ref[...]
    o_ref[...] = ring[...].sum(0)

  x = arange(5, 2)
  row = pl.BlockSpec((None, 2), lambda i: (i, 0))
  out = run(kernel, x, grid=5, in_specs=[row], out_specs=row, scratch_shapes=[VMEM((3, 2), F32)])
  same(out, np.stack([np.asarray(x)[max(0, i - 2) : i + 1].sum(0) for i in range(5)]))


def test_sub_byte_and_eight_bit_numbers_are_indexed():
  def kernel(i_ref, x_ref, o_ref):
    o_ref[...] = x_ref[i_ref[...]].astype(F32) + x_ref[pl.ds(i_ref[0], 2)].astype(F32)

  for dtype in (jnp.int4, jnp.uint4, jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.bfloat16):
    x = jnp.arange(8).astype(dtype)
    same(run(kernel, np.array([3, 1], np.int32), x, out=S((2,), F32)), np.array([6, 5], np.float32))


def test_everything_works_with_64_bits():
  with jax.enable_x64(True):
    x = jnp.arange(8.0)

    def kernel(i_ref, x_ref, o_ref, sem):
      pl.semaphore_signal(sem, 1)
      o_ref[...] = x_ref[...]

      @pl.loop(0, 3)
      def _(j):
        o_ref[j] = x_ref[j + i_ref[0]] * 2

      o_ref[pl.ds(4, 3)] = x_ref[pl.ds(i_ref[0], 3)]
      pltpu.sync_copy(x_ref.at[pl.ds(0, i_ref[0])], o_ref.at[pl.ds(7, i_ref[0])])
      pl.semaphore_wait(sem, 1)

    out = run(kernel, jnp.array([1]), x, out=S((8,), jnp.float64), grid=1, scratch_shapes=[pltpu.SemaphoreType.REGULAR])
    same(out, np.array([2, 4, 6, 3, 1, 2, 3, 0], np.float64))
    spec = pl.BlockSpec((3,), lambda i: i)
    f = lambda n, x: run(pointwise(lambda x: x + 1), x, grid=(n,), in_specs=[spec], out_specs=spec)
    same(f(3, x), x + 1)
    same(jax.jit(f)(3, x), x + 1)
    same(jax.vmap(f, (None, 0))(3, jnp.stack([x, x])), jnp.stack([x, x]) + 1)


def test_keys_of_the_random_number_generator():
  def kernel(key_ref, o_ref):
    a, b = jax.random.split(key_ref[0])
    o_ref[0] = jax.random.uniform(a, (3,)) + jax.random.normal(b, (3,))

  def model(key):
    a, b = jax.random.split(key)
    return jax.random.uniform(a, (3,)) + jax.random.normal(b, (3,))

  keys = jax.random.split(jax.random.key(0), 4)
  spec, row = pl.BlockSpec((1,), lambda i: i), pl.BlockSpec((1, 3), lambda i: (i, 0))
  out = run(kernel, keys, out=S((4, 3), F32), grid=4, in_specs=[spec], out_specs=row)
  np.testing.assert_allclose(out, jax.vmap(model)(keys), rtol=1e-6)
  batched = jax.vmap(lambda k: run(kernel, k[None], out=S((1, 3), F32)))(keys)
  np.testing.assert_allclose(batched[:, 0], jax.vmap(model)(keys), rtol=1e-6)


def test_complex_numbers_in_scratch_have_derivatives():
  def kernel(x_ref, o_ref):
    def body(t):
      t[...] = x_ref[...] * x_ref[...]
      o_ref[...] = t[...]

    pl.run_scoped(body, VMEM((3,), jnp.complex64))

  z = jnp.array([1 + 2j, 3 - 1j, 2j], jnp.complex64)
  np.testing.assert_allclose(run(kernel, z), z * z, rtol=1e-6)
  np.testing.assert_allclose(jax.jvp(lambda z: run(kernel, z), (z,), (z,))[1], 2 * z * z, rtol=1e-6)


def test_a_donated_buffer_is_used_for_the_output():
  f = jax.jit(lambda x: run(pointwise(lambda x: x + 1), x, input_output_aliases={0: 0}), donate_argnums=0)
  x = arange(4) * 1
  same(f(x), arange(4) + 1)
  assert x.is_deleted()


def test_operands_may_be_python_numbers_and_empty_trees():
  def kernel(a_ref, n_ref, nothing, none, o_ref):
    assert nothing == {} and none is None
    o_ref[...] = a_ref[...] * n_ref[...]

  same(run(kernel, 2.5, 2, {}, None, out=S((), F32)), np.float32(5))
  assert pl.pallas_call(lambda x_ref: None, ())(arange(3)) == ()


def test_outputs_may_be_a_named_tuple():
  Pair = collections.namedtuple("Pair", "plus minus")

  def kernel(x_ref, plus_ref, minus_ref):
    plus_ref[...] = x_ref[...]
    minus_ref[...] = -x_ref[...]

  out = pl.pallas_call(kernel, Pair(S((3,), F32), S((3,), F32)))(arange(3))
  assert isinstance(out, Pair)
  same(out.minus, -arange(3))


def test_a_kernel_calls_a_kernel():
  row = pl.BlockSpec((1, 3), lambda i: (i, 0))

  def inner(x_ref, o_ref):
    o_ref[...] = x_ref[...] + pl.program_id(0)

  def outer(x_ref, o_ref):
    o_ref[...] = run(inner, x_ref[...], grid=2, in_specs=[row], out_specs=row) * (1 + pl.program_id(0))

  pair = pl.BlockSpec((2, 3), lambda i: (i, 0))
  x = arange(4, 3)
  expected = (x + np.array([[0], [1]] * 2)) * np.array([[1], [1], [2], [2]])
  same(run(outer, x, grid=2, in_specs=[pair], out_specs=pair), expected.astype(F32))


def test_derivatives_and_vmap_inside_a_kernel():
  def kernel(x_ref, o_ref):
    slope = jax.grad(lambda x: jnp.sum(x**3))(x_ref[...])
    rows = jax.vmap(lambda i: x_ref[i])(lax.iota(I32, 4))
    o_ref[...] = slope + rows

  x = arange(4, 3)
  same(run(kernel, x), 3 * x**2 + x)


@pytest.mark.target("portable")
def test_a_kernel_calls_python():
  def kernel(x_ref, o_ref):
    o_ref[...] = jax.pure_callback(lambda x: x + 1, S((4,), F32), x_ref[...])

  same(run(kernel, arange(4)), arange(4) + 1)


def test_vmap_of_every_kind_of_block():
  x = arange(2, 10)
  row = pl.BlockSpec((None, 4), lambda i: (i, 0))
  kinds = {
    "bounded": pl.BlockSpec((pl.BoundedSlice(4),), lambda i: (pl.ds(3 * i, 2 + i),)),
    "element": pl.BlockSpec((pl.Element(4, (1, 1)),), lambda i: 5 * i),
    "indirect": pl.BlockSpec((pl.Indirect(4),), lambda i: (2 * lax.iota(I32, 4) + i,)),
  }
  for spec in kinds.values():
    f = lambda x: run(pointwise(lambda x: x), x, out=S((2, 4), F32), grid=2, in_specs=[spec], out_specs=row)
    same(jax.vmap(f)(x), jnp.stack([f(r) for r in x]))


def test_vmap_over_nothing():
  f = jax.vmap(lambda x: run(pointwise(lambda x: x + 1), x))
  assert f(jnp.zeros((0, 3))).shape == (0, 3)


@pytest.mark.devices(4)
def test_a_replicated_operand_gets_the_sum_of_the_devices_gradients():
  mesh = Mesh(np.array(jax.devices()[:4]), ("d",))
  spec = PartitionSpec("d")

  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] * y_ref[...]

  f = jax.shard_map(lambda x, y: run(kernel, x, y), mesh=mesh, in_specs=(spec, PartitionSpec()), out_specs=spec)
  x = arange(4, 3)
  same(jax.jit(f)(x, x[1:2]), x * x[1])
  same(jax.grad(lambda y: f(x, y).sum())(x[1:2]), x.sum(0)[None])


def test_a_boolean_array_is_no_index():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[x_ref[...] > 1]

  with pytest.raises(errors.ShapeMismatchError, match=r"indexed by booleans.*pl.load and pl.store with a mask"):
    run(kernel, arange(4))


def test_a_grid_may_have_more_points_than_an_int32_counts():
  def kernel(o_ref):
    o_ref[0] = 1

  jax.jit(lambda: run(kernel, out=S((1,), I32), grid=(2**16, 2**16))).lower()


@pytest.mark.parametrize("interpret", [False, True])
def test_an_approximate_reciprocal_is_rounded_once(interpret):
  x = jnp.linspace(0.1, 50.0, 64)
  found = run(pointwise(lambda x: pl.reciprocal(x, approx=True, full_range=False)), x, interpret=interpret)
  exact = 1 / np.asarray(x, np.float64)
  on_gpu = jax.default_backend() == "gpu" and not interpret
  error = 2.0**-22 if on_gpu else 2.0**-24  # two units in the last place (div.full), as XLA; half a unit
  assert np.all(np.abs(found - exact) <= error * exact * (1 + 2.0**-20))

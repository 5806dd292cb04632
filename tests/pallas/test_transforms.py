"""JAX's transformations of a kernel call: what they give is what they give for the same mathematics in plain JAX."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from language import F32, I32, S, arange, examples, numbers, pointwise, run, same

from tilewright import pallas as pl
from tilewright.pallas import specs
from tilewright.pallas import tpu as pltpu
from tilewright.tile.memory import TpuMemorySpace

VMEM, SMEM = TpuMemorySpace.VMEM, TpuMemorySpace.SMEM


def add(x_ref, y_ref, o_ref):
  o_ref[...] = 2 * x_ref[...] + y_ref[...] + pl.program_id(0) * pl.num_programs(0)


def blocked_add(x, y):
  spec = pl.BlockSpec((2,), lambda i: i)
  return run(add, x, y, grid=2, in_specs=[spec, spec], out_specs=spec)


def model_add(x, y):
  return 2 * x + y + np.array([0, 0, 2, 2], x.dtype)


# --- vmap --------------------------------------------------------------------------------------------------------


@given(st.sampled_from([0, 1, None]), st.sampled_from([0, 1, None]), st.sampled_from([0, 1]), st.booleans())
@examples(12)
def test_vmap_maps_any_axes(x_axis, y_axis, out_axis, jitted):
  if x_axis is None and y_axis is None:
    return

  def operand(axis, seed):
    shape = {None: (4,), 0: (3, 4), 1: (4, 3)}[axis]
    return numbers(shape, np.float32, seed)

  x, y = operand(x_axis, 0), operand(y_axis, 1)
  f = jax.vmap(blocked_add, (x_axis, y_axis), out_axis)
  expected = jax.vmap(model_add, (x_axis, y_axis), out_axis)(x, y)
  same((jax.jit(f) if jitted else f)(x, y), expected)


def test_vmaps_nest():
  x, y = numbers((3, 2, 4), np.float32), numbers((2, 4), np.float32)
  same(jax.vmap(jax.vmap(blocked_add), (0, None))(x, y), model_add(x, y[None]))
  same(jax.vmap(jax.vmap(blocked_add, (None, 0)), (0, None))(x[:, 0], y), model_add(x[:, :1], y[None]))


def test_vmap_adds_a_grid_dimension_and_does_not_copy_what_is_not_batched():
  x, y = numbers((3, 4), np.float32), numbers((4,), np.float32)
  jaxpr = jax.make_jaxpr(jax.vmap(blocked_add, (0, None)))(x, y)
  (eqn,) = jaxpr.eqns
  assert eqn.params["grid_mapping"].grid == (3, 2)
  assert [v.aval.shape for v in eqn.invars] == [(3, 4), (4,)]


def test_program_id_and_num_programs_do_not_see_the_batch():
  def kernel(o_ref):
    o_ref[0] = 10 * pl.program_id(0) + pl.num_programs(0) + 0 * lax.axis_index("i")

  def f(_):
    return run(kernel, out=S((3,), I32), grid=(("i", 3),), out_specs=pl.BlockSpec((1,), lambda i: i))

  same(jax.vmap(lambda x: f(x) + x)(jnp.arange(2)), np.array([[3, 13, 23], [4, 14, 24]], np.int32))

  def with_operand(x_ref, o_ref):
    kernel(o_ref)
    o_ref[0] += x_ref[...]

  g = lambda x: run(with_operand, x, out=S((3,), I32), grid=(("i", 3),), out_specs=pl.BlockSpec((1,), lambda i: i))
  same(jax.vmap(g)(jnp.arange(2, dtype=I32)), np.array([[3, 13, 23], [4, 14, 24]], np.int32))


def gather_rows(table, x):
  def kernel(table_ref, x_ref, o_ref):
    o_ref[...] = x_ref[...] + table_ref[0]

  grid_spec = specs.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=table.shape[0],
    in_specs=[pl.BlockSpec((None, 3), lambda i, t: (t[i], 0))],
    out_specs=pl.BlockSpec((None, 3), lambda i, t: (i, 0)),
  )
  return pl.pallas_call(kernel, S((table.shape[0], 3), x.dtype), grid_spec=grid_spec)(table, x)


def test_vmap_of_prefetched_scalars():
  x = numbers((2, 4, 3), np.int32)
  tables = np.array([[3, 0], [1, 1], [2, 3]], np.int32)
  one = lambda t, x: x[t] + t[0]
  same(jax.vmap(gather_rows, (0, None))(tables, x[0]), np.stack([one(t, x[0]) for t in tables]))
  same(jax.vmap(gather_rows, (None, 0))(tables[0], x), np.stack([one(tables[0], a) for a in x]))
  same(jax.vmap(gather_rows)(tables[:2], x), np.stack([one(t, a) for t, a in zip(tables, x)]))
  nested = jax.vmap(jax.vmap(gather_rows, (0, None)), (None, 0))(tables, x)
  same(nested, np.stack([[one(t, a) for t in tables] for a in x]))
  deep = jax.vmap(jax.vmap(gather_rows, (0, None)), (1, None))(np.stack([tables, tables[::-1]]).swapaxes(0, 1), x[0])
  same(deep, np.stack([[one(t, x[0]) for t in ts] for ts in np.stack([tables, tables[::-1]])]))


def test_vmap_of_a_dynamic_grid():
  def f(n, x):
    spec = pl.BlockSpec((1,), lambda i: i)
    return run(pointwise(lambda x: x + 1), x, grid=(n,), in_specs=[spec], out_specs=spec, input_output_aliases={0: 0})

  x = numbers((3, 4), np.int32)
  n = np.array([0, 2, 4], np.int32)
  expected = x + (np.arange(4) < n[:, None])
  same(jax.vmap(f)(n, x), expected.astype(np.int32))
  same(jax.vmap(f, (None, 0))(np.int32(2), x), (x + (np.arange(4) < 2)).astype(np.int32))
  same(jax.jit(jax.vmap(f, (0, None)))(n, x[0]), (x[0] + (np.arange(4) < n[:, None])).astype(np.int32))


def test_vmap_of_aliases_and_scratch():
  def kernel(x_ref, y_ref, o_ref, acc):
    @pl.when(pl.program_id(0) == 0)
    def _():
      acc[...] = jnp.zeros_like(acc)

    acc[...] += y_ref[...]
    o_ref[0] = acc[0]

  def f(x, y):
    spec = pl.BlockSpec((1,), lambda i: i)
    return run(
      kernel, x, y, grid=3, in_specs=[None, spec], input_output_aliases={0: 0}, scratch_shapes=[VMEM((1,), F32)]
    )

  x, y = numbers((2,), np.float32), numbers((4, 3), np.float32)
  same(jax.vmap(f, (None, 0))(x, y), np.stack([[r.sum(), x[1]] for r in y]))


def test_vmap_of_a_captured_scalar():
  f = lambda s, x: run(pointwise(lambda x: x * s), x)
  same(jax.vmap(f, (0, None))(jnp.array([2.0, 3.0]), arange(3)), np.outer([2, 3], np.arange(3)).astype(np.float32))


# --- derivatives -------------------------------------------------------------------------------------------------


def sum_over_grid(x):
  """The sum over rows of x², accumulated in an output that every instance sees."""

  def kernel(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...] * x_ref[...]

  return run(kernel, x, out=S((3,), x.dtype), grid=4, in_specs=[pl.BlockSpec((None, 3), lambda i: (i, 0))])


def scoped(x):
  def kernel(x_ref, o_ref):
    def body(t, u):
      t[...] = jnp.sin(x_ref[...])
      u[...] = t[...] * x_ref[...]
      o_ref[...] = u[...] + t[...]

    pl.run_scoped(body, VMEM(x.shape, x.dtype), VMEM(x.shape, x.dtype))

  return run(kernel, x)


def looped(x):
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

    def body(i, carry):
      o_ref[i] = o_ref[i] * carry[0]
      return jnp.cos(carry) + x_ref[i]

    last = lax.fori_loop(0, 4, body, x_ref[0])

    @pl.when(x_ref[0, 0] > -100)
    def _():
      o_ref[3] = o_ref[3] + last

  return run(kernel, x)


def looped_model(x):
  out, carry = x, x[0]
  for i in range(4):
    out = out.at[i].set(out[i] * carry[0])
    carry = jnp.cos(carry) + x[i]
  return out.at[3].add(carry)


def masked(x):
  def kernel(x_ref, o_ref):
    rows = lax.broadcasted_iota(I32, (4, 3), 0)
    value = pl.load(x_ref, (...,), mask=rows < 3, other=x_ref[0] * 5)
    o_ref[...] = jnp.zeros_like(o_ref)
    pl.store(o_ref, (...,), value * value, mask=rows > 0)

  return run(kernel, x)


def masked_model(x):
  rows = jnp.arange(4)[:, None]
  value = jnp.where(rows < 3, x, x[0] * 5)
  return jnp.where(rows > 0, value * value, 0)


def gathered(x):
  def kernel(i_ref, x_ref, o_ref):
    o_ref[...] = x_ref[i_ref[...]] * x_ref[pl.ds(i_ref[1], 2)]

  return run(kernel, np.array([3, 1], np.int32), x, out=S((2, 3), x.dtype))


def aliased(x):
  def kernel(x_ref, o_ref):
    o_ref[1] = x_ref[0] * o_ref[1]

  return run(kernel, x, input_output_aliases={0: 0})


def two_outputs(x):
  def kernel(x_ref, a_ref, n_ref):
    a_ref[...] = jnp.exp(x_ref[...] / 8)
    n_ref[...] = jnp.argmax(x_ref[...], axis=0).astype(I32)

  return run(kernel, x, out=(S(x.shape, x.dtype), S((3,), I32)))[0]


PROGRAMS = {
  "sum over a grid": (sum_over_grid, lambda x: (x * x).sum(0)),
  "scoped memory": (scoped, lambda x: jnp.sin(x) * x + jnp.sin(x)),
  "loop and branch": (looped, looped_model),
  "masks": (masked, masked_model),
  "gather": (gathered, lambda x: x[jnp.array([3, 1])] * x[1:3]),
  "alias": (aliased, lambda x: x.at[1].multiply(x[0])),
  "integer output": (two_outputs, lambda x: jnp.exp(x / 8)),
}


@pytest.fixture
def x64():
  with jax.enable_x64(True):
    yield


def derivatives(f, x, dx):
  """What JAX makes of a function: forward, backward, both ways twice, batched, in one program."""
  scalar = lambda x: jnp.sum(jnp.sin(f(x)))
  batch = jnp.stack([x, 2 * x])
  return {
    "forward": jax.jvp(f, (x,), (dx,)),
    "backward": jax.grad(scalar)(x),
    "with values computed again": jax.grad(jax.checkpoint(scalar))(x),
    "all directions": jax.jacfwd(f)(x),
    "forward over backward": jax.jvp(jax.grad(scalar), (x,), (dx,))[1],
    "backward over backward": jax.grad(lambda x: jax.grad(scalar)(x).sum())(x),
    "batched": jax.vmap(jax.grad(scalar))(batch),
    "through a batch": jax.grad(lambda b: jax.vmap(scalar)(b).sum())(batch),
  }


@functools.cache
def expected_derivatives(name):
  x, dx = (jnp.asarray(np.random.default_rng(seed).normal(size=(4, 3))) for seed in (0, 1))
  model = PROGRAMS[name][1]
  return x, dx, jax.device_get((model(x), jax.jit(functools.partial(derivatives, model))(x, dx)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_those_of_the_mathematics(name, x64):
  x, dx, expected = expected_derivatives(name)
  kernel = PROGRAMS[name][0]
  found = kernel(x), jax.jit(functools.partial(derivatives, kernel))(x, dx)
  assert found[0].dtype == jnp.float64
  # A few roundings of float64.
  jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12), found, expected)


@pytest.mark.parametrize("name", ["sum over a grid", "loop and branch", "alias"])
def test_derivatives_need_no_jit(name, x64):
  x, dx, (_, expected) = expected_derivatives(name)
  kernel = PROGRAMS[name][0]
  forward = jax.jvp(kernel, (x,), (dx,))
  backward = jax.grad(lambda x: jnp.sum(jnp.sin(kernel(x))))(x)
  close = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12)
  jax.tree.map(close, (forward, backward), (expected["forward"], expected["backward"]))


def test_a_block_at_the_edge_has_no_derivative_beyond_it():
  spec = pl.BlockSpec((4,), lambda i: i)
  f = lambda x: run(pointwise(jnp.square), x, grid=2, in_specs=[spec], out_specs=spec)
  same(jax.grad(lambda x: f(x).sum())(arange(6)), 2 * arange(6))
  same(jax.jvp(f, (arange(6),), (arange(6),))[1], 2 * arange(6) ** 2)


def scaled_logarithms(x, w):
  """Rows that hang over the edge meet weights that all blocks share; sums along the grid leave these rows out."""

  def kernel(x_ref, w_ref, o_ref, sum_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
      sum_ref[...] = jnp.zeros_like(sum_ref)

    o_ref[...] = jnp.log(x_ref[...]) * w_ref[...]
    inside = pl.program_id(0) * 4 + lax.broadcasted_iota(jnp.int32, (4, 1), 0) < len(x)
    sum_ref[...] += jnp.sum(jnp.where(inside, x_ref[...] * w_ref[...] ** 2, 0), 0, keepdims=True)

  rows, whole = pl.BlockSpec((4, 3), lambda i: (i, 0)), pl.BlockSpec((1, 3), lambda i: (0, 0))
  shapes = S(x.shape, F32), S(w.shape, F32)
  return run(kernel, x, w, out=shapes, grid=3, in_specs=[rows, whole], out_specs=(rows, whole))


@pytest.mark.parametrize("around", ["grad", "checkpoint", "shard_map"])
def test_what_is_dropped_beyond_an_edge_does_not_reach_shared_weights(around):
  """A cotangent of zero times NaN, which stands beyond the edge, would."""
  x, w = jnp.linspace(1, 2, 30, dtype=F32).reshape(10, 3), jnp.asarray([[1.0, 2.0, 3.0]], F32)

  def loss(x, w, f=scaled_logarithms):
    y, sums = f(x, w)
    return jnp.sum(y**2) + jnp.sum(sums)

  gradient = jax.grad(jax.checkpoint(loss) if around == "checkpoint" else loss, (0, 1))
  if around == "shard_map":
    nothing = PartitionSpec()
    mesh = Mesh(np.asarray(jax.devices()[:1]), "d")
    gradient = jax.shard_map(gradient, mesh=mesh, in_specs=(nothing, nothing), out_specs=(nothing, nothing))
  model = lambda x, w: (jnp.log(x) * w, jnp.sum(x * w**2, 0, keepdims=True))
  expected = jax.grad(functools.partial(loss, f=model), (0, 1))(x, w)
  for found, e in zip(jax.jit(gradient)(x, w), expected):
    np.testing.assert_allclose(found, e, rtol=40 * 2.0**-23)  # sums of ten


def test_a_result_that_depends_on_what_is_beyond_an_edge_shows_it_in_value_and_grad():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.sum(x_ref[...]).reshape(1)

  def f(x):
    return jnp.sum(
      run(
        kernel,
        x,
        out=S((2,), F32),
        grid=2,
        in_specs=[pl.BlockSpec((4,), lambda i: i)],
        out_specs=pl.BlockSpec((1,), lambda i: i),
      )
    )

  assert np.isnan(jax.value_and_grad(f)(jnp.ones(6, F32))[0])


def test_complex_and_low_precision_kernels_have_derivatives():
  z = jnp.array([1 + 2j, 3 - 1j], jnp.complex64)
  f = lambda z: run(pointwise(lambda z: z * z), z)
  np.testing.assert_allclose(jax.jvp(f, (z,), (z,))[1], 2 * z * z, rtol=1e-6)
  np.testing.assert_allclose(jax.grad(lambda z: f(z).sum(), holomorphic=True)(z), 2 * z, rtol=1e-6)
  same(
    jax.grad(lambda x: run(pointwise(lambda x: x * x), x).sum())(arange(3, dtype=jnp.bfloat16)),
    2 * arange(3, dtype=jnp.bfloat16),
  )


# --- everything around a call ------------------------------------------------------------------------------------


def test_eval_shape_needs_no_values():
  out = jax.eval_shape(blocked_add, S((4,), F32), S((4,), F32))
  assert (out.shape, out.dtype) == ((4,), F32)


@pytest.mark.devices(4)
@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map_runs_the_kernel_on_each_device(check_vma):
  mesh = Mesh(np.array(jax.devices()[:4]), ("d",))

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + lax.axis_index("d").astype(F32)

  f = jax.shard_map(
    lambda x: run(kernel, x), mesh=mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec("d"), check_vma=check_vma
  )
  same(jax.jit(f)(arange(8)), arange(8) + np.repeat(np.arange(4, dtype=np.float32), 2))
  same(jax.grad(lambda x: f(x).sum())(arange(8)), np.ones(8, np.float32))


@pytest.mark.devices(2)
@pytest.mark.parametrize("check_vma, steps", [(True, 2), (False, 1)])
def test_a_kernel_that_copies_has_derivatives_under_shard_map(check_vma, steps):
  """Also where an operand is the same on all devices: its cotangents are added up."""

  def kernel(x_ref, w_ref, o_ref, buffer, sem):
    def step(_, total):
      copy = pltpu.make_async_copy(x_ref.at[pl.ds(pl.program_id(0) * 2, 2)], buffer, sem)
      copy.start()
      copy.wait()
      return total + buffer[...] * jnp.sin(buffer[...]) * w_ref[0]

    o_ref[...] = lax.fori_loop(0, steps, step, jnp.zeros((2,), F32))

  def local(x, w):
    return run(
      *(kernel, x, w),
      grid=(2,),
      in_specs=[pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec()],
      out_specs=pl.BlockSpec((2,), lambda i: i),
      scratch_shapes=[pltpu.VMEM((2,), F32), pltpu.SemaphoreType.DMA],
    )

  split, whole = PartitionSpec("d"), PartitionSpec()
  mesh = Mesh(np.array(jax.devices()[:2]), ("d",))
  f = jax.shard_map(local, mesh=mesh, in_specs=(split, whole), out_specs=split, check_vma=check_vma)
  plain = lambda x, w: steps * x * jnp.sin(x) * w
  x, w = jnp.linspace(0.0, 2.0, 8), jnp.full((1,), 3.0)
  total = lambda g: lambda x, w: jnp.sum(g(x, w))

  def derivatives(g):
    return {
      "forward": jax.jvp(g, (x, w), (w * x, 2 * w))[1],
      "backward": jax.grad(total(g), argnums=(0, 1))(x, w),
      "with values computed again": jax.grad(total(jax.checkpoint(g)))(x, w),
      "forward over backward": jax.jvp(jax.grad(total(g)), (x, w), (x, w))[1],
      "all directions": jax.jacfwd(g)(x, w),
    }

  close = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-6)
  jax.tree.map(close, jax.jit(lambda: derivatives(f))(), jax.jit(lambda: derivatives(plain))())


@pytest.mark.parametrize("block", ["whole", "blocked", "symbolic"])
def test_export_with_symbolic_shapes(block):
  def f(x):
    if block == "whole":
      return run(pointwise(lambda x: x * 2), x)
    spec = pl.BlockSpec((4 if block == "blocked" else x.shape[0],), lambda i: i)
    grid = pl.cdiv(x.shape[0], 4) if block == "blocked" else 1
    return run(pointwise(lambda x: x * 2), x, grid=grid, in_specs=[spec], out_specs=spec)

  exported = jax.export.export(jax.jit(f))(S(jax.export.symbolic_shape("n"), F32))
  for n in (3, 4, 11):
    same(exported.call(arange(n)), 2 * arange(n))


def test_a_call_works_inside_every_control_flow_of_the_program():
  double = lambda x: run(pointwise(lambda x: 2 * x), x)

  def f(x):
    x = lax.scan(lambda c, _: (double(c), None), x, None, length=2)[0]
    x = lax.while_loop(lambda x: x[1] < 10, double, x)
    return lax.cond(x[1] > 100, lambda x: x, double, x)

  same(f(arange(3)), 32 * arange(3))
  same(jax.jit(f)(arange(3)), 32 * arange(3))
  with jax.disable_jit():
    same(f(arange(3)), 32 * arange(3))


@pytest.mark.parametrize("interpret", [False, True])
def test_a_forward_derivative_of_a_custom_vjp_function_is_an_error(interpret):
  @jax.custom_vjp
  def sine(x):
    return jnp.sin(x)

  sine.defvjp(lambda x: (sine(x), x), lambda x, g: (7 * g,))
  f = lambda x: run(pointwise(sine), x, interpret=interpret)
  same(jax.grad(lambda x: f(x).sum())(arange(8)), jnp.full(8, 7.0))
  with pytest.raises(TypeError, match="can't apply forward-mode autodiff"):
    jax.jvp(f, (arange(8),), (jnp.ones(8),))

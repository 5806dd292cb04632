"""What a review of the language found: each test is a small program that did not do what its user would expect."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import _jax

FLOATS = jax.ShapeDtypeStruct((8,), jnp.float32)


def copy(x_ref, o_ref):
  o_ref[...] = x_ref[...]


@pytest.mark.parametrize(
  "mistake, error",
  [
    (dict(in_specs=[pl.BlockSpec((4, 4), lambda i: (i, 0))], grid=(2,)), errors.BlockRankError),
    (dict(in_specs=[pl.BlockSpec(memory_space="nowhere")]), errors.MemorySpaceError),
    (dict(in_specs=[pl.BlockSpec(), pl.BlockSpec()]), errors.TreeMismatchError),
    (dict(input_output_aliases={0: 3}), errors.AliasError),
  ],
)
def test_a_mistake_in_what_is_said_about_operands_names_the_line_of_the_kernel(mistake, error):
  with pytest.raises(error, match=rf"pallas_call copy at .*test_review.py:{copy.__code__.co_firstlineno}"):
    pl.pallas_call(copy, FLOATS, **mistake)(jnp.zeros(8))


def test_a_grid_of_something_else_than_numbers_is_a_grid_error():
  with pytest.raises(errors.GridError, match="tuple of integers"):
    pl.pallas_call(copy, FLOATS, grid=("rows",))(jnp.zeros(8))


@pytest.mark.parametrize("checks", [False, True])
def test_reverse_derivatives_inside_of_shard_map_with_checked_types(checks):
  """The weights are the same on each device: their derivative is the sum over devices."""

  def kernel(x_ref, w_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += jnp.sin(x_ref[...]) @ (w_ref[...] * 2)

  devices = jax.device_count()
  x = np.arange(devices * 16, dtype=np.float32).reshape(2 * devices, 8) / 64
  w = np.arange(64, dtype=np.float32).reshape(8, 8) / 64
  call = pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((2, 8), jnp.float32),
    grid=(2,),
    in_specs=[pl.BlockSpec((2, 4), lambda i: (0, i)), pl.BlockSpec((4, 8), lambda i: (i, 0))],
    out_specs=pl.BlockSpec((2, 8), lambda i: (0, 0)),
  )
  mesh = jax.make_mesh((devices,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
  sharded = jax.shard_map(call, mesh=mesh, in_specs=(PartitionSpec("d"), PartitionSpec()), out_specs=PartitionSpec("d"))
  with _jax.config.enable_checks(checks):
    ours = jax.jit(jax.grad(lambda x, w: (sharded(x, w) ** 2).sum(), (0, 1)))(x, w)
  plain = jax.grad(lambda x, w: ((jnp.sin(x) @ (w * 2)) ** 2).sum(), (0, 1))(x, w)
  for mine, expected in zip(ours, plain):
    np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.target("portable")
def test_a_kernel_said_to_have_side_effects_keeps_its_body():
  def double(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

  def unused(x, has_side_effects):
    params = pltpu.CompilerParams(has_side_effects=has_side_effects)
    pl.pallas_call(double, FLOATS, compiler_params=params)(x)
    return x

  lowered = jax.jit(unused, static_argnums=1).lower
  assert "multiply" in lowered(jnp.zeros(8), True).as_text()
  assert "multiply" not in lowered(jnp.zeros(8), False).as_text()


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("interpret", [False, True, pltpu.InterpretParams()], ids=["native", "portable", "simulated"])
def test_loops_of_a_kernel_inside_of_shard_map_with_checked_types(interpret, checks):
  def kernel(x_ref, o_ref):
    o_ref[...] = jax.lax.fori_loop(0, 3, lambda _, c: jnp.sin(c) * 2.0, x_ref[...])

  def plain(x):
    return jnp.sin(jnp.sin(jnp.sin(x) * 2) * 2) * 2

  devices = jax.device_count()
  x = np.arange(devices * 8, dtype=np.float32) / 8
  mesh = jax.make_mesh((devices,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
  spec = PartitionSpec("d")
  sharded = jax.shard_map(pl.pallas_call(kernel, FLOATS, interpret=interpret), mesh=mesh, in_specs=spec, out_specs=spec)
  with _jax.config.enable_checks(checks):
    np.testing.assert_allclose(jax.jit(sharded)(x), plain(x), rtol=1e-5, atol=1e-6)
    gradient = jax.jit(jax.grad(lambda x: sharded(x).sum()))(x)
  np.testing.assert_allclose(gradient, jax.grad(lambda x: plain(x).sum())(x), rtol=1e-4, atol=1e-5)

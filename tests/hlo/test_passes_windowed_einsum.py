"""Dots of gathered operands and scattered dots as rings: the same numbers on every device, and permutes instead of collectives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

from tests.hlo.collective_checks import ADD, count, transformed
from tilewright import hlo

GROUPS = "channel_id=1, replica_groups={%s}, use_global_device_ids=true"


def program(body: str, header: str = "num_partitions=4") -> str:
  return f"HloModule m, {header}\n{ADD}\nENTRY e {{\n{body}\n}}"


def gathered(dims: str, shape: str, dot: str, other: str, groups: str = "{0,1,2,3}") -> str:
  return program(f"""
    x = {shape} parameter(0)
    w = {other} parameter(1)
    g = {dims} all-gather(x), {GROUPS % groups}
    ROOT d = {dot}""")


CASES = {
  "rows of the left": gathered(
    "f32[8,6]", "f32[2,6]", "f32[8,5] dot(g, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[6,5]"
  ),
  "columns of the right": gathered(
    "f32[6,8]", "f32[6,2]", "f32[5,8] dot(w, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[5,6]"
  ),
  "contracted": gathered(
    "f32[3,8]", "f32[3,2]", "f32[3,5] dot(g, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[8,5]"
  ),
  "in two groups": gathered(
    "f32[4,6]",
    "f32[2,6]",
    "f32[4,5] dot(g, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "f32[6,5]",
    "{0,2},{3,1}",
  ),
  "with a batch": gathered(
    "f32[3,8,6]",
    "f32[3,2,6]",
    "f32[3,8,5] dot(g, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
    "f32[3,6,5]",
  ),
}
DIMENSION = {"columns of the right": 1, "contracted": 1, "with a batch": 1}


@pytest.mark.parametrize("name", CASES)
def test_a_gathered_operand_goes_round(name):
  text = CASES[name].replace(
    "use_global_device_ids=true", f"use_global_device_ids=true, dimensions={{{DIMENSION.get(name, 0)}}}"
  )
  module = transformed(text, "windowed_einsum")
  assert count(module, "all-gather") == 0
  parts = 2 if "groups" in name else 4
  assert count(module, "dot") == parts and count(module, "collective-permute") == parts - 1


@pytest.mark.parametrize("dimension", [0, 1])
def test_a_scattered_product_goes_round_as_a_sum(dimension):
  part = "f32[2,12]" if dimension == 0 else "f32[8,3]"
  text = program(f"""
    x = f32[8,6] parameter(0)
    w = f32[6,12] parameter(1)
    d = f32[8,12] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    ROOT s = {part} reduce-scatter(d), {GROUPS % "{0,1,2,3}"}, dimensions={{{dimension}}}, to_apply=add""")
  module = transformed(text, "windowed_einsum")
  assert count(module, "reduce-scatter") == 0 and count(module, "dot") == 4 and count(module, "collective-permute") == 3


def test_replicas_are_devices_too():
  text = program(
    """
    x = f32[2,6] parameter(0)
    w = f32[6,5] parameter(1)
    g = f32[8,6] all-gather(x), replica_groups={}, dimensions={0}
    ROOT d = f32[8,5] dot(g, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}""",
    "replica_count=4",
  )
  assert count(transformed(text, "windowed_einsum"), "collective-permute") == 3


def test_what_does_not_fit_is_left_alone():
  batch = gathered(
    "f32[8,3,6]",
    "f32[2,3,6]",
    "f32[8,3,5] dot(g, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
    "f32[8,6,5]",
  ).replace("use_global_device_ids=true", "use_global_device_ids=true, dimensions={0}")
  transformed(batch, "windowed_einsum", changes=False)
  used_twice = program(f"""
    x = f32[2,6] parameter(0)
    w = f32[6,5] parameter(1)
    g = f32[8,6] all-gather(x), {GROUPS % "{0,1,2,3}"}, dimensions={{0}}
    d = f32[8,5] dot(g, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    ROOT t = (f32[8,5], f32[8,6]) tuple(d, g)""")
  transformed(used_twice, "windowed_einsum", changes=False)
  small = CASES["rows of the left"].replace("use_global_device_ids=true", "use_global_device_ids=true, dimensions={0}")
  transformed(small, "windowed_einsum{min_bytes=1048576}", changes=False)
  maximum = program(f"""
    x = f32[8,6] parameter(0)
    w = f32[6,12] parameter(1)
    d = f32[8,12] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    ROOT s = f32[2,12] reduce-scatter(d), {GROUPS % "{0,1,2,3}"}, dimensions={{0}}, to_apply=max""")
  transformed(maximum, "windowed_einsum", changes=False)


@pytest.mark.skipif(jax.device_count() < 4, reason="needs 4 devices: set XLA_FLAGS before JAX starts")
def test_a_program_compiled_with_the_pass_computes_the_same():
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))

  def f(x, w):
    y = lax.all_gather(x, "x", tiled=True) @ w
    return lax.psum_scatter(y @ w.T, "x", tiled=True)

  run = jax.shard_map(f, mesh=mesh, in_specs=(P("x"), P(None, "x")), out_specs=P("x"), check_vma=False)
  x, w = (jnp.asarray(np.random.default_rng(s).integers(-3, 4, (16, 16)).astype(np.float32)) for s in (0, 1))
  expected = jax.jit(run)(x, w)
  with hlo.install(["windowed_einsum"]):
    compiled = jax.jit(run).lower(x, w).compile()
  assert "collective-permute" in compiled.as_text() and "all-gather(" not in compiled.as_text()
  np.testing.assert_array_equal(compiled(x, w), expected)

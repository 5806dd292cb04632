"""What functions and kernels cost: operations, transcendental operations and bytes."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from language import F32, S, arange, pointwise, run

from tilewright import pallas as pl
from tilewright.tile.grid import Kernel


def cost(f, *shapes, dtype=F32):
  found = pl.estimate_cost(f, *(S(s, dtype) for s in shapes))
  return found.flops, found.transcendentals, found.bytes_accessed


def test_elementwise_operations_count_once_for_each_element():
  assert cost(lambda x, y: x + y * x, (8, 4), (8, 4)) == (64, 0, 3 * 32 * 4)
  assert cost(lambda x: jnp.sin(x) + jnp.exp(x), (8,)) == (8, 16, 64)


def test_a_product_of_matrices_counts_two_operations_for_each_term():
  assert cost(lambda a, b: a @ b, (8, 16), (16, 4)) == (2 * 8 * 16 * 4, 0, 4 * (8 * 16 + 16 * 4 + 8 * 4))


@pytest.mark.parametrize("power, multiplications", [(1, 0), (2, 1), (3, 2), (4, 2), (-1, 1), (-3, 3)])
def test_a_power_counts_the_multiplications_it_takes(power, multiplications):
  flops, _, _ = cost(lambda x: lax.integer_pow(x, power), (8,))
  assert flops >= 8 * multiplications
  assert flops <= 8 * 2 * max(multiplications, 0) + (8 if power not in (0, 1) else 0)


def test_a_loop_counts_as_often_as_it_runs():
  assert cost(lambda x: lax.fori_loop(0, 5, lambda i, x: x * x, x), (8,))[0] >= 40
  assert cost(lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=7)[0], (8,))[1] == 56


def test_a_branch_counts_as_its_most_expensive_arm():
  f = lambda x: lax.cond(x[0] > 0, lambda x: x + x * x, lambda x: x, x)
  assert cost(f, (8,))[0] == 16


STRAIGHT_LINE = {
  "reductions": lambda x: jnp.max(x, 0) + jnp.sum(x),
  "softmax": jax.nn.softmax,
  "variance": lambda x: (x - x.mean()) * lax.rsqrt(x.var() + 1e-5),
  "gelu": lambda x: x * (1 + lax.erf(x)),
  "powers": lambda x: x**7 + jnp.power(x, 1.5) + lax.rem(x, x) + lax.exp2(x),
  "attention": lambda x: jax.nn.softmax(x @ x.T) @ x,
  "nested": jax.jit(lambda x: x + jax.jit(jnp.exp)(x)),
}


@pytest.mark.parametrize("name", STRAIGHT_LINE)
def test_straight_line_programs_cost_what_they_cost_in_jax(name):
  from jax.experimental import pallas as original

  found, expected = (m.estimate_cost(STRAIGHT_LINE[name], S((8, 4), F32)) for m in (pl, original))
  for field in ("flops", "transcendentals", "bytes_accessed", "remote_bytes_transferred"):
    assert getattr(found, field) == getattr(expected, field), field


def test_the_work_of_an_instance_counts_reductions():
  from tilewright.pallas.cost import instance_work

  (eqn,) = jax.make_jaxpr(lambda x: run(pointwise(lambda x: x + jnp.sum(x) + lax.erf(x)), x))(arange(8)).eqns
  work = instance_work(Kernel(**eqn.params))
  assert (work.flops, work.transcendentals) == (3 * 8, 8)


def test_bytes_follow_the_dtype():
  assert cost(lambda x: x + x, (8,), dtype=jnp.bfloat16)[2] == 32


def test_a_kernel_counts_for_every_instance_or_as_it_says():
  spec = pl.BlockSpec((2,), lambda i: i)
  f = lambda x, **kw: run(pointwise(lambda x: x * x), x, grid=4, in_specs=[spec], out_specs=spec, **kw)
  assert pl.estimate_cost(f, arange(8)).flops == 8
  said = pl.CostEstimate(flops=123, transcendentals=4, bytes_accessed=5)
  assert pl.estimate_cost(lambda x: f(x, cost_estimate=said), arange(8)).flops == 123
  (eqn,) = jax.make_jaxpr(lambda x: f(x, cost_estimate=said))(arange(8)).eqns
  assert eqn.params["cost_estimate"] == said
  (eqn,) = jax.make_jaxpr(jax.vmap(lambda x: f(x, cost_estimate=said)))(arange(3, 8)).eqns
  assert eqn.params["cost_estimate"].flops == 3 * 123


def test_keyword_arguments_that_are_not_arrays_stay_as_they_are():
  def f(x, *, twice, scale, mode, bias):
    assert mode == "add" and isinstance(scale, float)
    return x * scale + bias if twice else x

  found = pl.estimate_cost(f, S((8,), jnp.float32), twice=True, scale=2.0, mode="add", bias=S((8,), jnp.float32))
  assert (found.flops, found.bytes_accessed) == (16, 3 * 32)


def test_an_estimate_is_written_as_json():
  assert json.loads(pl.CostEstimate(1, 2, 3).to_json()) == {
    "flops": 1,
    "transcendentals": 2,
    "bytes_accessed": 3,
    "remote_bytes_transferred": 0,
  }


def test_names_and_metadata_stay_with_the_call():
  (eqn,) = jax.make_jaxpr(lambda x: run(pointwise(jnp.sin), x, name="wave", metadata={"k": "v"}))(arange(3)).eqns
  assert eqn.params["name"] == "wave"
  assert dict(eqn.params["metadata"]) == {"k": "v"}


def test_helpers_for_sizes():
  assert [pl.cdiv(7, 2), pl.align_to(7, 4), pl.next_power_of_2(5), pl.next_power_of_2(0)] == [4, 8, 8, 1]
  assert pl.strides_from_shape((2, 3, 4)) == (12, 4, 1)
  assert int(pl.cdiv(jnp.int32(7), 2)) == 4

"""Search spaces: what they contain, and what they refuse."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilewright as tw
from tilewright import errors
from tilewright.pallas import cpu, nvgpu
from tilewright.tune.budget import Budget
from tilewright.tune.space import Space, product, split

DOMAINS = st.one_of(
  st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True).map(lambda values: tw.choice(*values)),
  st.tuples(st.integers(0, 3), st.integers(4, 8)).map(lambda ends: tw.range(*ends)),
  st.just(tw.power_of_two(2, 16)),
)


@given(domains=st.lists(DOMAINS, min_size=1, max_size=4), limit=st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_candidates_are_the_product_less_what_constraints_exclude(domains, limit):
  names = [f"p{n}" for n in range(len(domains))]
  parameters = dict(zip(names, domains))
  below = Space.of(parameters, [lambda **config: sum(config.values()) <= limit])
  early = Space.of(parameters, [lambda p0: p0 != 2])
  every = list(Space.of(parameters).candidates({}))
  assert len(every) == Space.of(parameters).size_at_most
  assert list(below.candidates({})) == [c for c in every if sum(c.values()) <= limit]
  assert list(early.candidates({})) == [c for c in every if c["p0"] != 2]
  for config in every:
    assert below.holds(config, {}) == (sum(config.values()) <= limit)
    assert below.from_json(below.to_json(config)) == config


def test_ranges_are_pythons_and_powers_of_two_include_both_ends():
  assert tw.range(2, 6).values == (2, 3, 4, 5)
  assert tw.range(2, 9, 3).values == (2, 5, 8)
  assert tw.power_of_two(16, 256).values == (16, 32, 64, 128, 256)
  assert tw.power_of_two(3, 9).values == (4, 8)


def test_a_conditional_parameter_has_one_value_elsewhere():
  space = Space.of({"tma": tw.choice(True, False), "stages": tw.range(2, 5).when(lambda tma: tma, otherwise=1)})
  found = [(c["tma"], c["stages"]) for c in space.candidates({})]
  assert found == [(True, 2), (True, 3), (True, 4), (False, 1)]
  assert not space.holds({"tma": False, "stages": 2}, {})


def test_constraints_see_the_types_of_arguments():
  @tw.tune(block=tw.power_of_two(8, 64), where=lambda block, x: x.shape[0] % block == 0)
  def f(x, *, block):
    return x * block

  call = f.bound((jax.ShapeDtypeStruct((48,), jnp.float32),), {})
  assert [c["block"] for c in call.space.candidates(call.bound.names)] == [8, 16]


def test_parameters_of_the_compiler_can_be_left_open():
  space = Space.of(
    {
      "gpu": tw.build(nvgpu.CompilerParams, num_warps=tw.choice(None, 4, 8), cluster=tw.choice(None, (2, 1))),
      "cpu": tw.build(cpu.CompilerParams, dimension_semantics=tw.choice(None, ("parallel",))),
    }
  )
  configs = list(space.candidates({}))
  assert len(configs) == 12
  made = space.arguments(configs[-1])
  assert made["gpu"] == nvgpu.CompilerParams(num_warps=8, cluster=(2, 1))
  assert made["cpu"] == cpu.CompilerParams(dimension_semantics=("parallel",))
  assert space.from_json(space.to_json(configs[-1])) == configs[-1]


def test_an_explicit_list_is_the_space():
  configs = [{"m": 64, "n": 64}, {"m": 128, "n": 64}, {"m": 128, "n": 256}]
  space = Space.explicit(configs)
  assert list(space.candidates({})) == configs
  assert not space.holds({"m": 64, "n": 256}, {})


def test_spaces_of_several_kernels_are_one():
  both = product({"a": Space.of({"x": tw.choice(1, 2)}), "b": Space.of({"x": tw.choice(3, 4)})})
  assert [split(c) for c in both.candidates({})][-1] == {"a": {"x": 2}, "b": {"x": 4}}


@pytest.mark.parametrize(
  "make",
  [
    lambda: tw.choice(),
    lambda: tw.choice(1, 1),
    lambda: tw.range(5, 2),
    lambda: tw.power_of_two(0, 8),
    lambda: tw.tune(block=64)(lambda x, *, block: x),
    lambda: tw.tune()(lambda x: x),
    lambda: tw.tune(lambda x: x),
    lambda: tw.tune(other=tw.choice(1, 2))(lambda x, *, block: x),
    lambda: tw.tune([{"a": 1}, {"b": 2}])(lambda x, *, a: x),
    lambda: tw.tuning("sometimes"),
    lambda: list(Space.of({"a": tw.choice(1, 2)}, [lambda b: b]).candidates({})),
    lambda: Budget.of("soon"),
    lambda: Budget.of(-1),
  ],
)
def test_mistakes_are_errors_of_their_own(make):
  with pytest.raises(errors.TuningError):
    make()


def test_budgets():
  assert Budget.of("60s") == Budget(60.0) == Budget.of(60)
  assert Budget.of("1.5min") == Budget(90.0)
  assert Budget.of("200 trials") == Budget(None, 200)
  assert Budget.of("10s, 50 trials") == Budget(10.0, 50)

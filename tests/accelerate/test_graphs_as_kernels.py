"""A few random graphs as kernels; `python -m tests.accelerate.random_graphs` checks thousands."""

from __future__ import annotations

import jax

from tests.accelerate.random_graphs import Checker
from tilewright.accelerate import tiles


def test_random_graphs_give_the_values_of_the_evaluator():
  checker = Checker(tiles.host())
  with jax.default_device(jax.devices("cpu")[0]):
    for seed in range(5000, 5024):
      checker.check(seed)
  assert checker.counts["kernels"] > 16
  assert checker.counts["elements without a bound"] < checker.counts["elements"] / 2

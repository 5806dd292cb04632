"""A few thousand accidents per test run; `python -m tests.hlo.fuzz` does as many as you like."""

from __future__ import annotations

from tests.hlo.fuzz import SEEDS, run
from tilewright import hlo


def test_the_seeds_are_modules() -> None:
  assert len(SEEDS) > 1
  for seed in SEEDS:
    assert hlo.parse(seed).entry.instructions


def test_mutated_texts_give_a_module_or_an_error() -> None:
  results = [result for result, _ in run(3000, seed=1, corpus=[], protos=[])]
  assert results.count("module") > 50 and results.count("error") > 1000


def test_mutated_protos_give_a_module_or_an_error() -> None:
  protos = [hlo.parse(SEEDS[0]).to_proto()]
  results = [result for result, _ in run(1000, seed=2, corpus=[], protos=protos)]
  assert results.count("module") > 10 and results.count("error") > 100

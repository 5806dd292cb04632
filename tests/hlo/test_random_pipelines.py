"""A few of the random loops of `python -m tests.hlo.random_pipelines`."""

from __future__ import annotations

from tests.hlo.random_pipelines import check


def test_pipelined_loops_compute_the_same_and_nearly_all_of_them_change() -> None:
  counts = [check(seed) for seed in range(31, 61)]
  assert sum(moved for _, moved in counts) >= 0.9 * sum(should for should, _ in counts) > 30

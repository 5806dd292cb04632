"""Whether a relayout moves every element to its place."""

from __future__ import annotations

from tests.layout.machine import held, run


def check(plan):
  got, wanted = run(plan, held(plan.source)), held(plan.target)
  assert got.shape == wanted.shape
  assert (got[wanted >= 0] == wanted[wanted >= 0]).all(), str(plan)

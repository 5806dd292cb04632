"""The table of rules: users add, drop and reorder, and the reasons change with it."""

from __future__ import annotations

import pytest
from gpu_modules import data_parallel

from tilewright import hlo
from tilewright.hlo import schedule
from tilewright.hlo.schedule import RULES, Rule, before, without


def order_of(rules: tuple[Rule, ...]) -> list[str]:
  result = schedule.schedule_module(hlo.parse(data_parallel(5)), rules=rules, budget=0)
  return [i.name for i in result.order()]


def test_a_rule_of_the_users_comes_first_and_is_the_reason() -> None:
  mine = Rule("last layer first", lambda c, s: "update.4" in c.name, "the user wants it so")
  result = schedule.schedule_module(hlo.parse(data_parallel(5)), rules=[mine, *RULES], budget=0)
  plain = order_of(RULES)
  changed = [i.name for i in result.order()]
  assert changed.index("update.4") <= plain.index("update.4")
  late = Rule("no updates", lambda c, s: not c.name.startswith("update"), "updates can wait")
  assert order_of((late, *RULES)) != plain


def test_the_reason_is_the_rule_that_decided() -> None:
  mine = Rule("back first", lambda c, s: c.name.startswith("back"), "the chain to the end goes through it")
  result = schedule.schedule_module(hlo.parse(data_parallel(5)), rules=[mine, *RULES], budget=0)
  reasons = [result.explain(f"back.{i}") for i in range(5)]
  assert any(text.startswith("back first: the chain to the end") for text in reasons)


def test_dropping_and_inserting() -> None:
  assert [r.name for r in without(RULES, "start delay")] == [r.name for r in RULES if r.name != "start delay"]
  mine = Rule("mine", lambda c, s: 0, "")
  names = [r.name for r in before(RULES, "critical path", mine)]
  assert names.index("mine") == names.index("critical path") - 1
  with pytest.raises(schedule.HloScheduleError, match="no rule called 'nonsense'; there are: fits"):
    without(RULES, "nonsense")


def test_without_any_rule_the_list_is_still_an_order() -> None:
  module = hlo.parse(data_parallel(3))
  schedule.schedule_module(module, rules=[], budget=0).apply()
  hlo.verify(module)

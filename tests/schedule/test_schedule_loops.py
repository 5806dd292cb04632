"""Loops: bodies are scheduled for the trips that repeat, and count as often as they run."""

from __future__ import annotations

import pytest
from gpu_modules import carried_receive, pipelined_loop

from tilewright import hlo
from tilewright.hlo import schedule
from tilewright.hlo.schedule.scheduler import ComputationSchedule


def body_of(result: schedule.Schedule) -> ComputationSchedule:
  return next(c for c in result.computations.values() if c.computation.name == "body")


def test_the_transfer_of_a_trip_is_hidden_behind_its_computation() -> None:
  result = schedule.schedule_module(hlo.parse(pipelined_loop()))
  names = [i.name for i in body_of(result).instructions]
  assert names.index("send-start") < names.index("made") < names.index("send-done")


def test_a_loop_takes_its_trips() -> None:
  few, many = (schedule.schedule_module(hlo.parse(pipelined_loop(trips))) for trips in (4, 8))
  assert body_of(few).trips == 4 and body_of(many).trips == 8
  body = body_of(few).outcome.seconds
  condition = next(c for c in few.computations.values() if c.computation.name == "condition").outcome.seconds
  assert many.seconds - few.seconds == pytest.approx(4 * (body + condition))


def test_what_the_trip_before_has_started_is_under_way() -> None:
  result = schedule.schedule_module(hlo.parse(carried_receive()))
  body = body_of(result)
  p = body.lowered.problem
  assert [(p.names[done], p.names[start]) for done, start in p.carried] == [("landed", "flight")]
  transfer = p.cost[p.names.index("flight")]
  work = sum(c for c, role in zip(p.cost, p.role) if role == 0)
  # Back to back the trip would take transfer + work; in the steady state the receive runs beside the product.
  assert body.outcome.seconds < transfer + work
  assert body.outcome.seconds >= max(transfer, work) * (1 - 1e-12)


def test_a_loop_with_collectives_inside_does_not_overlap_one_outside() -> None:
  shape = "f32[2048,2048]{1,0}"
  text = pipelined_loop().replace(
    "  ROOT %result",
    f"""  %s = ({shape}, {shape}) collective-permute-start(%x), channel_id=5, source_target_pairs={{{{0,1}}}}
  %d = {shape} collective-permute-done(%s)
  %use = {shape} add(%d, %y)
  ROOT %result""",
  )
  element = f"{shape} get-tuple-element(%loop), index=2"
  text = text.replace(
    f"ROOT %result = {element}", f"%r = {element}\n  ROOT %result = ({shape}, {shape}) tuple(%use, %r)"
  )
  module = hlo.parse(text)
  result = schedule.schedule_module(module)
  names = [i.name for i in result.order()]
  assert not names.index("s") < names.index("loop") < names.index("d")
  result.apply()
  hlo.verify(module)

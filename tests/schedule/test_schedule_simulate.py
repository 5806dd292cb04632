"""The simulator agrees with the timing of a schedule, and goes on where that ends: many devices, stragglers, shared links."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_modules import ADD, NAMES, data_parallel, groups, load, pipelined_loop

from tilewright import hlo
from tilewright.hlo import schedule


@pytest.mark.parametrize("name", [n for n in NAMES if n != "carried receive"])
@pytest.mark.parametrize("original", [False, True], ids=["scheduled", "before"])
def test_equal_devices_take_what_the_schedule_says(name: str, original: bool) -> None:
  result = schedule.schedule_module(load(name), headroom=1.5)
  simulated = schedule.simulate(result, original=original)
  outcome = result.original if original else result.entry.outcome
  assert simulated.seconds == pytest.approx(outcome.seconds, rel=1e-6)
  assert simulated.exposed == pytest.approx(outcome.exposed, rel=1e-6, abs=1e-12)


def test_a_straggler_delays_everyone_it_meets() -> None:
  result = schedule.schedule_module(hlo.parse(data_parallel(6)), devices=64)
  plain = schedule.simulate(result, 64)
  slow = schedule.simulate(result, 64, stragglers={5: 2.0})
  assert np.ptp(plain.finish) == pytest.approx(0, abs=1e-12)
  assert slow.seconds > plain.seconds
  assert slow.waited[5] <= slow.waited[6]  # the others wait for it
  assert slow.utilisation < plain.utilisation


def test_groups_that_a_straggler_is_not_in_do_not_wait() -> None:
  text = data_parallel(4).replace(groups(8), "replica_groups={{0,1,2,3},{4,5,6,7}}, use_global_device_ids=true")
  result = schedule.schedule_module(hlo.parse(text))
  slow = schedule.simulate(result, stragglers={0: 3.0})
  assert slow.finish[:4].min() > slow.finish[4:].max()
  assert slow.finish[4:].max() == pytest.approx(schedule.simulate(result).seconds)


def shared_link(both: bool) -> str:
  """Two permutes at once, on links of the same devices or of different ones."""
  shape = "f32[4096,4096]{1,0}"
  pairs = ("{{0,1}}", "{{1,0}}" if both else "{{2,3}}")
  lines = [f"%x = {shape} parameter(0)"]
  for i in range(2):
    start = f"collective-permute-start(%x), channel_id={i + 1}, source_target_pairs={pairs[i]}"
    lines.append(f"%s{i} = ({shape}, {shape}) {start}")
  lines += [f"%d{i} = {shape} collective-permute-done(%s{i})" for i in range(2)]
  body = "\n".join(lines)
  return f"HloModule links, is_scheduled=true, num_partitions=4\n{ADD}\nENTRY %main {{\n{body}\nROOT %r = {shape} add(%d0, %d1)\n}}\n"


def test_transfers_on_one_port_share_its_bandwidth() -> None:
  limits = schedule.Limits(collectives=2)
  times = []
  for both in (False, True):
    result = schedule.schedule_module(hlo.parse(shared_link(both)), limits=limits, budget=0)
    times.append(schedule.simulate(result, original=True).seconds)
  alone = result.entry.lowered.problem.cost[0]
  assert times[1] - times[0] == pytest.approx(alone, rel=0.05)


def test_loops_go_on_as_they_have_begun() -> None:
  short, long = (schedule.schedule_module(hlo.parse(pipelined_loop(trips))) for trips in (3, 300))
  a, b = schedule.simulate(short), schedule.simulate(long)
  trip = (b.seconds - a.seconds) / 297
  assert b.seconds == pytest.approx(long.seconds, rel=1e-6)
  assert trip * 3 == pytest.approx(short.seconds, rel=0.2)
  assert b.utilisation == pytest.approx(1 - b.exposed / b.seconds, rel=1e-6)


def test_thousands_of_devices_and_equal_seeds() -> None:
  result = schedule.schedule_module(hlo.parse(data_parallel(3)), devices=2048)
  runs = [schedule.simulate(result, 2048, jitter=0.1, seed=seed) for seed in (1, 1, 2)]
  assert runs[0].devices == 2048
  np.testing.assert_array_equal(runs[0].finish, runs[1].finish)
  assert runs[2].seconds != runs[0].seconds


def test_watched_devices_have_timelines() -> None:
  result = schedule.schedule_module(hlo.parse(data_parallel(3)))
  spans = schedule.simulate(result, watch=(0, 7)).spans
  assert set(spans) == {0, 7}
  assert {s.name for s in spans[0] if s.kind >= 0} == {f"reduce-start.{i}" for i in range(3)}
  assert all(s.end >= s.begin for s in spans[7])


def test_factors_for_devices_that_do_not_exist_are_an_error() -> None:
  result = schedule.schedule_module(hlo.parse(data_parallel(1)))
  with pytest.raises(schedule.HloScheduleError, match="there are devices 0 to 7"):
    schedule.simulate(result, stragglers={8: 2.0})


def test_protos_do_not_say_how_many_devices_but_groups_do() -> None:
  module = hlo.from_proto(hlo.parse(data_parallel(3)).to_proto())
  assert module.num_partitions == 1
  result = schedule.schedule_module(module)
  simulated = schedule.simulate(result)
  assert simulated.devices == 8 and simulated.seconds == pytest.approx(result.seconds)

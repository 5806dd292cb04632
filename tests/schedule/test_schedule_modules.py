"""Whole modules: never worse than the order they came with, much less exposed, legal, explained, deterministic."""

from __future__ import annotations

import math

import pytest
from gpu_modules import NAMES, data_parallel, load, many, offload, two_axes

from tilewright import hlo
from tilewright.hlo import schedule

HEADROOM = 1.5


@pytest.mark.parametrize("name", NAMES)
def test_never_worse_than_the_order_it_came_with(name: str) -> None:
  module = load(name)
  result = schedule.schedule_module(module, headroom=HEADROOM)
  assert result.seconds <= result.original.seconds
  assert result.peak <= result.memory_limit <= HEADROOM * result.original.peak
  assert all(c.outcome.broken == 0 or c.order == c.original_order for c in result.computations.values())
  result.apply()
  hlo.verify(module)


def test_a_tenth_less_is_exposed_on_the_geometric_mean() -> None:
  results = [schedule.schedule_module(load(name), headroom=HEADROOM) for name in NAMES]
  ratios = [max(r.exposed / r.original.exposed, 0.01) for r in results if r.original.exposed > 0]
  assert len(ratios) >= 9
  assert math.exp(sum(map(math.log, ratios)) / len(ratios)) <= 0.9


def test_values_stay_the_same() -> None:
  import numpy as np

  module = hlo.parse(data_parallel(3, size=8, partitions=2))
  values = np.random.default_rng(0).standard_normal((2, 4, 8, 8)).astype(np.float32)
  before = hlo.evaluate_devices(module.clone(), [list(v) for v in values])
  schedule.schedule_module(module).apply()
  after = hlo.evaluate_devices(module, [list(v) for v in values])
  for old, new in zip(before, after):
    for a, b in zip(old, new):
      np.testing.assert_array_equal(a, b)


def test_every_instruction_has_a_reason() -> None:
  result = schedule.schedule_module(hlo.parse(data_parallel(4)))
  rules = {rule.name for rule in schedule.RULES} | {"only choice", "search", "kept", "start earlier", "done later"}
  for instruction in result.module.entry.instructions:
    text = result.explain(instruction.name)
    assert text.split(":")[0] in rules or "takes no time" in text


def test_twice_the_same() -> None:
  texts = set()
  for _ in range(2):
    module = hlo.parse(offload(6))
    schedule.schedule_module(module, headroom=1.3).apply()
    texts.add(module.to_text())
  assert len(texts) == 1


def test_an_order_that_cannot_be_improved_is_left_alone() -> None:
  module = hlo.parse(data_parallel(4))
  schedule.schedule_module(module).apply()
  assert not schedule.schedule_module(module).apply()


@pytest.mark.slow
def test_large_modules() -> None:
  module = hlo.parse(many(12_000))
  result = schedule.schedule_module(module, budget=1)
  assert module.instruction_count >= 12_000 and result.seconds < result.original.seconds
  result.apply()
  assert all(hlo.is_ordered(c.instructions) for c in module.computations)


def test_an_unscheduled_module_becomes_a_scheduled_one() -> None:
  module = hlo.parse(data_parallel(2).replace("is_scheduled=true, ", ""))
  assert schedule.schedule_module(module).apply() and module.is_scheduled
  hlo.verify(module)


def test_collectives_whose_groups_share_one_device_overlap_if_the_limit_allows() -> None:
  module = hlo.parse(two_axes())
  one = schedule.schedule_module(module)
  two = schedule.schedule_module(module, limits=schedule.Limits(collectives=2))
  assert two.seconds < one.seconds
  same = hlo.parse(data_parallel(6, 1024))
  assert schedule.schedule_module(same, limits=schedule.Limits(collectives=2)).seconds == pytest.approx(
    schedule.schedule_module(same).seconds, rel=0.02
  )


def test_collectives_inside_nodes_can_have_a_limit_of_their_own() -> None:
  # Rows stay inside a node, columns do not.
  module, device = hlo.parse(two_axes()), hlo.cost.device("h100").replace(node=4)
  together = schedule.schedule_module(module, device=device)
  apart = schedule.schedule_module(module, device=device, limits=schedule.Limits(scale_up=1))
  assert apart.seconds < together.seconds
  assert {"scale-up collective 1", "collective 1"} <= {
    line.split("  ")[0] for line in schedule.chart(apart.entry).splitlines()
  }


def test_asynchronous_computation_takes_the_main_streams_time_unless_the_device_has_room_for_both() -> None:
  module = load("xla_gpu_second_stream")
  shared = schedule.schedule_module(module, device="h200")
  assert shared.order() == module.entry.instructions  # measured on an H200: products beside other kernels gain nothing
  apart = schedule.schedule_module(module, device=hlo.cost.device("h200").replace(shared_compute=0.0))
  assert apart.seconds < shared.seconds and apart.exposed < apart.original.exposed


def test_it_is_a_pass() -> None:
  module = hlo.parse(data_parallel(4))
  report = hlo.run_passes(module, ["schedule{device=a100,collectives=2}"], verify=True)
  assert report.changed


def test_a_constant_may_wait_for_something() -> None:
  text = """HloModule m, replica_count=4
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[512,512] parameter(0) y = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  start = f32[512,512] all-reduce-start(x), replica_groups={{0,1,2,3}}, to_apply=add
  done = f32[512,512] all-reduce-done(start) n = f32[512,512] negate(done)
  late = f32[] constant(1), control-predecessors={y} all = f32[512,512] broadcast(late), dimensions={}
  z = f32[512,512] add(all, y) ROOT t = (f32[512,512], f32[512,512]) tuple(n, z) }"""
  module = hlo.parse(text)
  result = schedule.schedule_module(module, device="h100")
  result.apply()
  hlo.verify(module)
  assert [i.name for i in module.entry.instructions].index("y") < [i.name for i in module.entry.instructions].index(
    "late"
  )

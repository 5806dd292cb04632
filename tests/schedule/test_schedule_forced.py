"""Wishes about order, loops that hold transfers, the host's thread, shares of the device, and what kernels say they cost."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_modules import data_parallel

from tilewright import hlo
from tilewright import pallas as pl
from tilewright.hlo import cost, schedule
from tilewright.hlo.schedule.problem import lower

TYPE = "f32[1024,1024]"


def ordered(module: hlo.Module, **options: object) -> list[str]:
  schedule.schedule_module(module, **options).apply()  # type: ignore[arg-type]
  hlo.verify(module)
  return [i.name for i in module.entry.instructions]


def chain(attributes: dict[str, str]) -> hlo.Module:
  """Two independent chains a1 → a2 → a3 and b1 → b2 → b3."""
  lines = [f"x = {TYPE} parameter(0)"]
  for c in "ab":
    for i in (1, 2, 3):
      name = f"{c}{i}"
      more = f", frontend_attributes={{{attributes[name]}}}" if name in attributes else ""
      lines.append(f"{name} = {TYPE} negate({'x' if i == 1 else c + str(i - 1)}){more}")
  lines.append(f"ROOT t = ({TYPE}, {TYPE}) tuple(a3, b3)")
  return hlo.parse("HloModule m, is_scheduled=true\nENTRY e {\n" + "\n".join(lines) + "\n}")


@pytest.mark.parametrize("name", ["_scheduling_force_delay", "_xla_force_delay", "force_delay"])
def test_a_delayed_instruction_comes_after_all_that_does_not_need_it(name: str) -> None:
  order = ordered(chain({"a1": f'{name}="true"'}))
  assert order.index("a1") > order.index("b3") and order.index("a1") < order.index("a2")


def test_an_early_instruction_comes_before_all_that_it_does_not_need() -> None:
  order = ordered(chain({"b2": 'force_early="true"'}))
  assert order.index("b1") < order.index("b2") < order.index("a1")
  module = chain({})
  module.find_instruction("b1").backend_config = '{"force_earliest_schedule":true}'
  order = ordered(module)
  assert order.index("b1") < order.index("a1")


def test_delayed_and_early_together_keep_dependencies() -> None:
  order = ordered(chain({"a2": 'force_delay="true"', "b1": 'force_early="true"', "b3": 'force_delay="true"'}))
  assert order.index("b1") < order.index("a1") < order.index("a2") < order.index("a3")


def test_the_original_order_is_kept_among_those_that_ask_for_it() -> None:
  text = data_parallel(4)
  module = hlo.parse(text)
  backs = [f"back.{i}" for i in range(4)]
  came = [i.name for i in module.entry.instructions if i.name in backs or i.name.startswith("reduce-start")]
  for name in came:
    module.find_instruction(name).frontend_attributes["_scheduling_keep_order"] = "true"
  order = [n for n in ordered(module) if n in came]
  assert order == came


def test_starts_as_soon_and_as_late_as_possible() -> None:
  soon, late = hlo.parse(data_parallel(5)), hlo.parse(data_parallel(5))
  first = schedule.schedule_module(soon, starts="asap")
  last = schedule.schedule_module(late, starts="alap")
  assert last.seconds == pytest.approx(first.seconds, rel=0.05)
  first.apply()
  last.apply()

  def distance(module: hlo.Module) -> int:
    place = {i.name: n for n, i in enumerate(module.entry.instructions)}
    return sum(place[f"reduce-done.{i}"] - place[f"reduce-start.{i}"] for i in range(5))

  assert distance(soon) >= distance(late)
  with pytest.raises(schedule.HloScheduleError, match="none of"):
    schedule.schedule_module(soon, starts="never")


LOOP = f"""HloModule m, num_partitions=8
add {{ l = f32[] parameter(0) r = f32[] parameter(1) ROOT s = f32[] add(l, r) }}
body {{
  p = (s32[], {TYPE}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = {TYPE} get-tuple-element(p), index=1
  one = s32[] constant(1)
  i1 = s32[] add(i, one)
  s = {TYPE} all-reduce-start(a), channel_id=1, replica_groups={{{{0,1}},{{2,3}},{{4,5}},{{6,7}}}}, use_global_device_ids=true, to_apply=add
  d = {TYPE} all-reduce-done(s)
  ROOT t = (s32[], {TYPE}) tuple(i1, d)
}}
cond {{
  q = (s32[], {TYPE}) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  n = s32[] constant(10)
  ROOT lt = pred[] compare(j, n), direction=LT
}}
ENTRY e {{
  x = {TYPE} parameter(0)
  z = s32[] constant(0)
  init = (s32[], {TYPE}) tuple(z, x)
  go = {TYPE} all-reduce-start(x), channel_id=2, replica_groups={{{{0,2,4,6}},{{1,3,5,7}}}}, use_global_device_ids=true, to_apply=add
  w = (s32[], {TYPE}) while(init), condition=cond, body=body
  got = {TYPE} all-reduce-done(go)
  e2 = {TYPE} get-tuple-element(w), index=1
  ROOT r = ({TYPE}, {TYPE}) tuple(got, e2)
}}"""


def test_a_transfer_overlaps_a_loop_that_holds_another_where_the_limit_allows() -> None:
  module = hlo.parse(LOOP)
  alone = schedule.schedule_module(module, limits=schedule.Limits(collectives=1))
  both = schedule.schedule_module(hlo.parse(LOOP), limits=schedule.Limits(collectives=2))
  assert both.seconds < alone.seconds
  both.apply()
  names = [i.name for i in both.module.entry.instructions]
  assert names.index("go") < names.index("w") < names.index("got")


HOST = f"""HloModule m
work {{ a = {TYPE} parameter(0) ROOT b = {TYPE} exponential(a) }}, execution_thread="THREAD"
ENTRY e {{
  x = {TYPE} parameter(0)
  s = (({TYPE}), {TYPE}) async-start(x), calls=work, async_execution_thread="THREAD"
  n = {TYPE} negate(x)
  d = {TYPE} async-done(s)
  ROOT r = {TYPE} add(n, d)
}}"""


def test_work_on_the_host_takes_the_hosts_time_and_nothing_of_the_device() -> None:
  module = hlo.parse(HOST.replace("THREAD", "host"))
  model = cost.Roofline("h100")
  start = module.find_instruction("s")
  assert model.cost(start).bound == "host"
  p = lower(module.entry, module, model, schedule.Limits(), {}, "entry").problem
  assert p.main == [0.0] * p.size
  other = hlo.parse(HOST.replace("THREAD", "parallel"))
  assert model.cost(other.find_instruction("s")).seconds < model.cost(start).seconds
  q = lower(other.entry, other, model, schedule.Limits(), {}, "entry").problem
  assert max(q.main) > 0


def test_collectives_may_take_a_share_of_the_device() -> None:
  free, busy = cost.Roofline("h100"), cost.Roofline(cost.device("h100").replace(collective_share=0.15))
  times = [schedule.schedule_module(hlo.parse(data_parallel(5)), model=model).seconds for model in (free, busy)]
  assert times[0] < times[1] < 1.15 * times[0]


def test_switches_that_reduce_and_two_shot_reductions() -> None:
  group, h100 = (tuple(range(8)),), cost.device("h100")
  plain = cost.collective_time("all-reduce", 1e9, group, h100)
  switch = cost.collective_time("all-reduce", 1e9, group, h100.replace(multicast=True))
  assert "nvls" in switch.how and switch.seconds < 0.7 * plain.seconds
  assert "two shot" in cost.collective_time("all-reduce", 4e6, group, h100).how


@pytest.mark.parametrize("name", ["b300", "gb300", "rtx-pro-6000"])
def test_newer_devices_are_known(name: str) -> None:
  device = cost.device(name)
  assert device.matmul_rate("f4e2m1fn") > device.matmul_rate("bf16") > 0
  assert device.name == name and device.memory >= 96e9


def test_the_cost_of_a_kernel_reaches_hlo_and_the_cost_model() -> None:
  said = pl.CostEstimate(flops=10**12, transcendentals=0, bytes_accessed=10**6)

  def kernel(x_ref: object, o_ref: object) -> None:
    o_ref[...] = x_ref[...] * 2.0  # type: ignore[index]

  call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), cost_estimate=said)
  text = jax.jit(call).lower(np.zeros((8, 128), np.float32)).compile().as_text()
  module = hlo.parse(text)
  (found,) = [i for i in module.instructions() if i.opcode == "custom-call"]
  assert json.loads(found.frontend_attributes["cost_estimate"])["flops"] == 10**12
  h100 = cost.Roofline("h100")
  assert h100.cost(found).seconds == pytest.approx(1e12 / h100.device.matmul_rate("f32"))


def test_a_memory_limit_is_a_number_of_bytes():
  with pytest.raises(schedule.HloScheduleError, match=r"memory_limit must be a number of bytes, as 60e9, got '10GB'"):
    schedule.Options(memory_limit="10GB")

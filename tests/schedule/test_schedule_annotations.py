"""Annotated groups stay together, within the limits, or are an error that says why not."""

from __future__ import annotations

import pytest
from gpu_modules import data_parallel

from tilewright import hlo
from tilewright.hlo import schedule
from tilewright.hlo.schedule import Annotation, annotation


def annotated(layers: int, groups: dict[str, str]) -> hlo.Module:
  module = hlo.parse(data_parallel(layers))
  for name, text in groups.items():
    module.find_instruction(name).frontend_attributes["_scheduling_group_id"] = text
  return module


def places(result: schedule.Schedule) -> dict[str, int]:
  """Of instructions that take time or a resource."""
  names = [result.entry.nodes[v].name for v in result.entry.order]
  return {name: i for i, name in enumerate(names)}


@pytest.mark.parametrize(
  ("text", "expected"),
  [("3", Annotation(3)), ("3:1", Annotation(3, 1)), ("3:", Annotation(3)), (":1", None), ("", None), ("noop", None)],
)
def test_group_and_iteration_may_each_be_missing(text: str, expected: Annotation | None) -> None:
  module = annotated(1, {"grad.0": text})
  assert annotation(module.find_instruction("grad.0")) == expected


def test_what_is_not_a_number_is_an_error_that_names_the_instruction() -> None:
  with pytest.raises(schedule.HloScheduleError, match=r'%grad.0: _scheduling_group_id="x:1"'):
    annotation(annotated(1, {"grad.0": "x:1"}).find_instruction("grad.0"))


def test_members_stand_side_by_side() -> None:
  group = ["reduce-start.1", "back.1", "reduce-done.1"]
  module = annotated(5, dict.fromkeys(group, "7"))
  result = schedule.schedule_module(module)
  where = sorted(places(result)[name] for name in group)
  assert where == list(range(where[0], where[0] + 3))
  result.apply()
  hlo.verify(module)


def test_iterations_of_a_group_are_groups_of_their_own() -> None:
  members = {f"{name}.{i}": f"7:{i}" for i in (0, 3) for name in ("reduce-start", "back", "reduce-done")}
  result = schedule.schedule_module(annotated(5, members))
  for i in (0, 3):
    where = sorted(places(result)[f"{name}.{i}"] for name in ("reduce-start", "back", "reduce-done"))
    assert where == list(range(where[0], where[0] + 3))


def test_more_pairs_than_may_be_open_are_an_error() -> None:
  members = dict.fromkeys(["reduce-start.0", "reduce-done.0", "reduce-start.1", "reduce-done.1", "back.1"], "2")
  with pytest.raises(schedule.HloScheduleError, match=r"group 2 holds 2 pairs of kind collective .* and 1 may be open"):
    schedule.schedule_module(annotated(3, members))


def test_a_value_that_leaves_the_group_and_comes_back_is_an_error() -> None:
  with pytest.raises(schedule.HloScheduleError, match="group 4 cannot be kept together"):
    schedule.schedule_module(annotated(4, {"back.0": "4", "back.2": "4"}))


@pytest.mark.parametrize("on_done", [True, False])
def test_transfers_of_a_group_run_beside_its_computation(on_done: bool) -> None:
  """Whatever it costs: here the computation would rather run before the transfer, which nothing else needs to wait for."""
  text = """HloModule m, num_partitions=4, is_scheduled=true
    ENTRY e {
      x = f32[1024,1024] parameter(0)
      y = f32[1024,1024] parameter(1)
      a = f32[1024,1024] negate(x)
      s = (f32[1024,1024], f32[4096,1024]) all-gather-start(a), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0},
        use_global_device_ids=true, frontend_attributes={_scheduling_group_id="1"}
      d = f32[4096,1024] all-gather-done(s)DONE
      m = f32[1024,1024] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, frontend_attributes={_scheduling_group_id="1"}
      n = f32[1024,1024] exponential(m), frontend_attributes={_scheduling_group_id="1"}
      ROOT t = (f32[4096,1024], f32[1024,1024]) tuple(d, n)
    }"""
  attribute = ', frontend_attributes={_scheduling_group_id="1"}' if on_done else ""
  module = hlo.parse(text.replace("DONE", attribute))
  result = schedule.schedule_module(module)
  result.apply()
  hlo.verify(module)
  order = [i.name for i in module.entry.instructions]
  assert order.index("s") < order.index("m") < order.index("n") < order.index("d")


GAP = """HloModule m, is_scheduled=true, num_partitions=2
ENTRY e {{
  x = f32[512,512] parameter(0)
  s = (f32[512,512], f32[1024,512]) all-gather-start(x), channel_id=1, replica_groups={{{{0,1}}}}, dimensions={{0}},
    use_global_device_ids=true{group}
  d = f32[1024,512] all-gather-done(s)
  a = f32[512,512] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{group}
  b = f32[512,512] tanh(a)
  c = f32[512,512] dot(b, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{group}
  n = f32[512,512] negate(x), frontend_attributes={{_scheduling_group_id="9"}}
  ROOT t = (f32[1024,512], f32[512,512], f32[512,512]) tuple(d, c, n)
}}"""


def test_groups_are_completed_so_that_they_can_be_kept_together() -> None:
  text = GAP.format(group=', frontend_attributes={_scheduling_group_id="4"}')
  with pytest.raises(hlo.HloError):
    schedule.schedule_module(hlo.parse(text), device="h100")
  module = hlo.parse(text)
  assert hlo.make_pass("legalize-scheduling-annotations").run(module)
  groups = {i.name: i.frontend_attributes.get("_scheduling_group_id") for i in module.entry.instructions}
  assert {name for name, group in groups.items() if group == "4"} == {"s", "d", "a", "b", "c"}
  assert groups["n"] is None
  result = schedule.schedule_module(module, device="h100")
  result.apply()
  order = [i.name for i in module.entry.instructions if groups.get(i.name)]
  assert order[0] == "s" and order[-1] == "d"
  assert not hlo.make_pass("legalize_scheduling_annotations").run(module)


def test_iterations_of_groups_can_be_dropped() -> None:
  module = hlo.parse(GAP.format(group=', frontend_attributes={_scheduling_group_id="4:2"}'))
  hlo.make_pass("legalize_scheduling_annotations{remove_loop_iteration_annotation=true}").run(module)
  assert {i.frontend_attributes.get("_scheduling_group_id") for i in module.entry.instructions} == {None, "4"}

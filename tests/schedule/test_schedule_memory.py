"""Live ranges through aliases, orders that keep shared buffers right, limits that are kept, and errors that name what is live."""

from __future__ import annotations

import re

import pytest
from gpu_modules import activations_out_and_in, offload, pipelined_loop

from tilewright import hlo
from tilewright.hlo import schedule
from tilewright.hlo.schedule.problem import Lowered, lower
from tilewright.hlo.schedule.timing import keeps_dependencies, measure, memory_profile

ARRAY = 1024 * 1024 * 4
TYPE = "f32[1024,1024]{1,0}"


def lowered(body: str, header: str = "", before: str = "", is_scheduled: bool = True) -> Lowered:
  module = hlo.parse(f"HloModule m{header}\n{before}\nENTRY %main {{\n{body}\n}}\n")
  module.is_scheduled = is_scheduled
  hlo.verify(module)
  return lower(module.entry, module, hlo.cost.Roofline("h100"), schedule.Limits(), {}, "entry")


def profile(low: Lowered) -> dict[str, int]:
  """Live arrays while each instruction runs, parameters left out."""
  p = low.problem
  return {p.names[v]: round((m - p.always) / ARRAY) for v, m in enumerate(memory_profile(p, range(p.size)))}


def test_a_value_is_live_from_its_writer_to_its_last_reader() -> None:
  low = lowered(f"""
    %x = {TYPE} parameter(0)
    %a = {TYPE} negate(%x)
    %b = {TYPE} add(%a, %a)
    ROOT %c = {TYPE} multiply(%b, %b)""")
  assert profile(low) == {"a": 1, "b": 2, "c": 2}
  assert low.problem.always == ARRAY


def test_tuples_and_elements_keep_what_they_hold_alive() -> None:
  low = lowered(f"""
    %x = {TYPE} parameter(0)
    %a = {TYPE} negate(%x)
    %t = ({TYPE}, {TYPE}) tuple(%a, %x)
    %b = {TYPE} exponential(%x)
    %e = {TYPE} get-tuple-element(%t), index=0
    ROOT %c = {TYPE} add(%b, %e)""")
  assert profile(low)["b"] == 2 and profile(low)["c"] == 3


def test_a_start_holds_its_operand_and_its_result_until_the_done() -> None:
  low = lowered(
    f"""
    %x = {TYPE} parameter(0)
    %a = {TYPE} negate(%x)
    %s = ({TYPE}, {TYPE}) collective-permute-start(%a), channel_id=1, source_target_pairs={{{{0,1}}}}
    %b = {TYPE} exponential(%x)
    %d = {TYPE} collective-permute-done(%s)
    ROOT %c = {TYPE} add(%b, %d)""",
    ", num_partitions=2",
  )
  assert profile(low) == {"a": 1, "s": 2, "b": 3, "d": 3, "c": 3}


def test_in_place_updates_take_no_new_buffer_and_wait_for_readers() -> None:
  low = lowered(f"""
    %x = {TYPE} parameter(0)
    %zero = s32[] constant(0)
    %one = f32[1,1]{{1,0}} constant({{{{1}}}})
    %a = {TYPE} negate(%x)
    %r = {TYPE} exponential(%a)
    %u = {TYPE} dynamic-update-slice(%a, %one, %zero, %zero)
    ROOT %c = {TYPE} add(%r, %u)""")
  p = low.problem
  assert profile(low) == {"a": 1, "r": 2, "u": 2, "c": 3}
  number = {name: v for v, name in enumerate(p.names)}
  assert number["r"] in p.preds[number["u"]]  # data flow alone would allow u before r
  swapped = [number[n] for n in ("a", "u", "r", "c")]
  assert not keeps_dependencies(p, swapped)


def test_a_permute_of_slices_writes_into_its_destination_and_waits_for_its_readers() -> None:
  shapes = f"{TYPE}, {TYPE}"
  for start in (f"({shapes})", f"({shapes}, u32[], u32[])"):
    low = lowered(
      f"""
      %x = {TYPE} parameter(0)
      %zero = s32[] constant(0)
      %at = (s32[], s32[]) tuple(%zero, %zero)
      %a = {TYPE} negate(%x)
      %y = {TYPE} cosine(%x)
      %r = {TYPE} exponential(%y)
      %s = {start} collective-permute-start(%a, %y, %at, %at), channel_id=1, source_target_pairs={{{{0,1}}}}, slice_sizes={{{{8,8}}}}
      %d = {TYPE} collective-permute-done(%s)
      ROOT %c = {TYPE} add(%r, %d)""",
      ", num_partitions=2",
    )
    p = low.problem
    number = {name: v for v, name in enumerate(p.names)}
    assert number["r"] in p.preds[number["s"]]  # it would read what has been received already
    assert profile(low)["s"] == 3 and profile(low)["d"] == 3  # a, y and r: no fourth buffer


def test_a_result_goes_into_the_donated_parameter_only_after_it_was_read() -> None:
  header = ", input_output_alias={ {0}: (0, {}, must-alias) }"
  low = lowered(
    f"""
    %x = {TYPE} parameter(0)
    %y = {TYPE} parameter(1)
    %read = {TYPE} exponential(%x)
    %new = {TYPE} negate(%y)
    ROOT %out = ({TYPE}, {TYPE}) tuple(%new, %read)""",
    header,
  )
  p = low.problem
  number = {name: v for v, name in enumerate(p.names)}
  assert number["read"] in p.preds[number["new"]]
  assert profile(low)["new"] == 1  # its own buffer is the parameter's


def test_a_loop_state_is_one_buffer() -> None:
  module = hlo.parse(pipelined_loop())
  result = schedule.schedule_module(module)
  entry = result.entry.lowered
  body = next(c for c in result.computations.values() if c.computation.name == "body")
  names = set(entry.problem.buffer_name)
  assert {"x.copy", "y.copy"} <= names and not any(name.startswith("loop") for name in names)
  place = {i.name: n for n, i in enumerate(body.instructions)}
  # `again` is written where `ready` was, and `ready` is read until the transfer has ended.
  assert place["send-done"] < place["again"]


@pytest.mark.parametrize("headroom", [1.0, 1.2, 1.5, 2.5])
def test_the_limit_is_kept_and_more_memory_is_never_slower(headroom: float) -> None:
  module = hlo.parse(offload(5))
  result = schedule.schedule_module(module, device="h200", headroom=headroom)
  free = schedule.schedule_module(module, device="h200")
  assert result.peak <= result.original.peak * headroom
  assert free.seconds <= result.seconds <= result.original.seconds


def test_a_limit_that_binds_still_hides_copies() -> None:
  module = hlo.parse(activations_out_and_in())
  free = schedule.schedule_module(module, device="h200")
  tight = schedule.schedule_module(module, device="h200", headroom=1.25)
  assert tight.peak <= tight.memory_limit < free.peak or free.peak <= tight.memory_limit
  assert tight.seconds < 0.7 * tight.original.seconds


def test_an_impossible_limit_names_what_is_live() -> None:
  module = hlo.parse(offload(3))
  with pytest.raises(schedule.HloMemoryError) as caught:
    schedule.schedule_module(module, device="h200", memory_limit=400e6)
  text = str(caught.value)
  assert "memory_limit=400000000" in text and "parameters" in text and "remat=True" in text
  assert caught.value.live and caught.value.live[0][0] in text
  assert caught.value.live == sorted(caught.value.live, key=lambda row: -row[1])


REMAT = f"""
    %x = {TYPE} parameter(0)
    %s = f32[] parameter(1)
    %wide = {TYPE} broadcast(%s), dimensions={{}}
    %a = {TYPE} add(%x, %wide)
    %b = {TYPE} dot(%a, %x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    %c = {TYPE} dot(%b, %a), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    ROOT %d = {TYPE} multiply(%c, %wide)"""


def test_cheap_values_are_computed_twice_where_that_saves_memory() -> None:
  text = f"HloModule m, is_scheduled=true\nENTRY %main {{\n{REMAT}\n}}\n"
  module = hlo.parse(text)
  need = schedule.schedule_module(module).peak
  limit = need - ARRAY
  with pytest.raises(schedule.HloMemoryError):
    schedule.schedule_module(module, memory_limit=limit)
  result = schedule.schedule_module(module, memory_limit=limit, remat=True)
  assert result.peak <= limit and result.entry.recomputed == ["wide.again"]
  result.apply()
  hlo.verify(module)
  import numpy as np

  small = text.replace("1024", "8")
  again = re.sub("1024", "8", module.to_text())
  arguments = [np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32), np.float32(2)]
  np.testing.assert_array_equal(hlo.evaluate(hlo.parse(small), *arguments), hlo.evaluate(hlo.parse(again), *arguments))


def test_a_module_that_recomputation_does_not_help_is_as_it_was() -> None:
  module = hlo.parse(f"HloModule m, is_scheduled=true\nENTRY %main {{\n{REMAT}\n}}\n")
  before = module.to_text()
  with pytest.raises(schedule.HloMemoryError, match="donate or shrink"):
    schedule.schedule_module(module, memory_limit=ARRAY, remat=True)
  assert module.to_text() == before


def test_host_memory_is_not_counted() -> None:
  low = lower(
    (module := hlo.parse(offload(2))).entry, module, hlo.cost.Roofline("h200"), schedule.Limits(), {}, "entry"
  )
  assert low.problem.always == 2 * 8192 * 8192 * 2
  assert measure(low.problem, range(low.problem.size)).peak > low.problem.always


def test_readers_of_a_destination_come_before_the_permute_wherever_they_stand() -> None:
  low = lowered(
    f"""
    %x = {TYPE} parameter(0)
    %zero = s32[] constant(0)
    %at = (s32[], s32[]) tuple(%zero, %zero)
    %a = {TYPE} negate(%x)
    %y = {TYPE} cosine(%x)
    %s = ({TYPE}, {TYPE}) collective-permute-start(%a, %y, %at, %at), channel_id=1, source_target_pairs={{{{0,1}}}}, slice_sizes={{{{8,8}}}}
    %d = {TYPE} collective-permute-done(%s)
    %half = {TYPE} sine(%x)
    %r = {TYPE} multiply(%half, %y)
    %after = {TYPE} subtract(%d, %y)
    ROOT %c = ({TYPE}, {TYPE}) tuple(%r, %after)""",
    ", num_partitions=2",
    is_scheduled=False,
  )
  p = low.problem
  number = {name: v for v, name in enumerate(p.names)}
  assert number["r"] in p.preds[number["s"]]
  assert number["s"] not in p.preds[number["half"]] and number["s"] < number["after"]  # it needs what arrives

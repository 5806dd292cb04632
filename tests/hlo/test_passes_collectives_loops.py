"""Reading while loops: counters and trip counts against the evaluator, invariants, values seen through what hides them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright import hlo
from tilewright.hlo.passes.while_loops import (
  Loop,
  always_reached,
  find_counter,
  is_invariant,
  is_zero,
  loops_of,
  slots_read,
  trace,
  trip_count,
  unshare,
)


def counting(
  start: int, limit: int, step: int, direction: str, element_type: str = "s32", swap: bool = False, opcode: str = "add"
) -> str:
  order = "n, ci" if swap else "ci, n"
  return f"""HloModule counting
  body {{ p = ({element_type}[], s32[]) parameter(0) i = {element_type}[] get-tuple-element(p), index=0
    c = s32[] get-tuple-element(p), index=1 one = s32[] constant(1) c1 = s32[] add(c, one)
    step = {element_type}[] constant({step}) i1 = {element_type}[] {opcode}(i, step)
    ROOT t = ({element_type}[], s32[]) tuple(i1, c1) }}
  cond {{ cp = ({element_type}[], s32[]) parameter(0) ci = {element_type}[] get-tuple-element(cp), index=0
    cc = s32[] get-tuple-element(cp), index=1
    n = {element_type}[] constant({limit}) go = pred[] compare({order}), direction={direction} most = s32[] constant(400)
    few = pred[] compare(cc, most), direction=LT {{root}} }}
  ENTRY main {{ s = {element_type}[] constant({start}) z = s32[] constant(0)
    init = ({element_type}[], s32[]) tuple(s, z) w = ({element_type}[], s32[]) while(init), condition=cond, body=body
    ROOT r = s32[] get-tuple-element(w), index=1 }}"""


def the_loop(text: str) -> Loop:
  (loop,) = loops_of(hlo.parse(text))
  return loop


@settings(max_examples=300, deadline=None)
@given(
  st.integers(-60, 60),
  st.integers(-60, 60),
  st.integers(-7, 7),
  st.sampled_from(["LT", "LE", "GT", "GE", "NE", "EQ"]),
  st.sampled_from(["s32", "s8"]),
  st.booleans(),
  st.sampled_from(["add", "subtract"]),
)
def test_a_known_trip_count_is_the_number_of_trips(
  start: int, limit: int, step: int, direction: str, element_type: str, swap: bool, opcode: str
) -> None:
  text = counting(start, limit, step, direction, element_type, swap, opcode)
  counter = find_counter(the_loop(text.replace("{root}", "ROOT same = pred[] copy(go)")))
  # The evaluated loop also stops after 400 trips, so that it ends whatever the numbers are.
  bounded = hlo.parse(text.replace("{root}", "ROOT both = pred[] and(go, few)"))
  trips = int(hlo.evaluate(bounded))
  if counter is not None:
    assert counter.trips == trips
    assert counter.start == start and counter.step == (step if opcode == "add" else -step)
    assert len(counter.values()) == trips
  elif trips < 20 and element_type == "s32" and step:
    raise AssertionError(f"a loop of {trips} trips was not recognised")


@pytest.mark.parametrize(
  ("old", "new"),
  [
    ("constant(5)", 'constant(5), metadata={op_name="n"}'),
    ("compare(ci, n), direction=LT", "fusion(ci, n), kind=kLoop, calls=less"),
    ("add(i, step)", "fusion(i, step), kind=kLoop, calls=plus"),
    ("parameter(0) i = s32[] get", "parameter(0) i0 = s32[] get"),
  ],
)
def test_counters_are_seen_through_fusions_and_copies(old: str, new: str) -> None:
  text = counting(0, 5, 1, "LT").replace("{root}", "ROOT same = pred[] copy(go)").replace(old, new)
  text = text.replace("index=0\n    c = s32[]", "index=0 i = s32[] copy(i0)\n    c = s32[]") if "i0" in new else text
  helpers = """less { la = s32[] parameter(0) lb = s32[] parameter(1) ROOT lc = pred[] compare(la, lb), direction=LT }
  plus { pa = s32[] parameter(0) pb = s32[] parameter(1) ROOT pc = s32[] add(pa, pb) }"""
  text = text.replace("HloModule counting\n", f"HloModule counting\n{helpers}\n")
  counter = find_counter(the_loop(text))
  assert counter is not None and counter.trips == 5


def test_a_limit_may_be_an_invariant_slot() -> None:
  text = """HloModule m
  body { p = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] get-tuple-element(p), index=1
    one = s32[] constant(1) i1 = s32[] add(one, i) ROOT t = (s32[], s32[]) tuple(i1, n) }
  cond { cp = (s32[], s32[]) parameter(0) ci = s32[] get-tuple-element(cp), index=0 cn = s32[] get-tuple-element(cp), index=1
    ROOT lt = pred[] compare(ci, cn), direction=LT }
  ENTRY main { z = s32[] constant(0) n = s32[] constant(7) init = (s32[], s32[]) tuple(z, n)
    ROOT w = (s32[], s32[]) while(init), condition=cond, body=body }"""
  loop = the_loop(text)
  assert trip_count(loop) == 7 and is_invariant(loop, 1) and not is_invariant(loop, 0)
  assert slots_read(loop.condition) == {0, 1}
  changed = text.replace("tuple(i1, n) }", "tuple(i1, i1) }")
  assert trip_count(the_loop(changed)) is None


def test_what_xla_noted_is_believed() -> None:
  text = counting(0, 5, 1, "LT").replace("{root}", "ROOT both = pred[] and(go, few)")
  assert trip_count(the_loop(text)) is None
  noted = text.replace("body=body", 'body=body, backend_config={"known_trip_count":{"n":"5"}}')
  assert trip_count(the_loop(noted)) == 5


def test_zero_is_recognised_through_formatting() -> None:
  module = hlo.parse("""HloModule m
  fill { f = f32[] parameter(0) ROOT b = f32[4] broadcast(f), dimensions={} }
  ENTRY main { z = f32[] constant(0) o = f32[] constant(1) a = f32[4] fusion(z), kind=kLoop, calls=fill c = f32[4] copy(a)
    d = f32[2,2] reshape(c) e = f32[4] broadcast(o), dimensions={} x = f32[4] parameter(0)
    ROOT t = (f32[2,2], f32[4], f32[4]) tuple(d, e, x) }""")
  assert [is_zero(o) for o in module.entry.root.operands] == [True, False, False]


def test_values_are_traced_through_tuples_barriers_and_calls() -> None:
  module = hlo.parse("""HloModule m
  swap { p = f32[] parameter(0) q = f32[] parameter(1) ROOT t = (f32[], f32[]) tuple(q, p) }
  ENTRY main { x = f32[] parameter(0) y = f32[] parameter(1) s = (f32[], f32[]) call(x, y), to_apply=swap
    b = (f32[], f32[]) opt-barrier(s) e = f32[] get-tuple-element(b), index=0 ROOT c = f32[] copy(e) }""")
  value = trace(module.entry.root)
  assert value.instruction.name == "y" and not value.frames and not value.path


def test_what_stands_in_a_conditional_or_an_endless_loop_may_not_be_reached() -> None:
  text = counting(0, 5, 1, "LT").replace("{root}", "ROOT same = pred[] copy(go)")
  loop = the_loop(text)
  assert always_reached(loop.computation) and always_reached(loop.body)
  loop = the_loop(text.replace("ROOT same = pred[] copy(go)", "ROOT both = pred[] and(go, few)"))
  assert not always_reached(loop.body)


def test_shared_computations_are_copied_apart() -> None:
  module = hlo.parse("""HloModule m
  inner { v = f32[] parameter(0) ROOT n = f32[] negate(v) }
  outer { o = f32[] parameter(0) ROOT f = f32[] fusion(o), kind=kLoop, calls=inner }
  ENTRY main { x = f32[] parameter(0) a = f32[] call(x), to_apply=outer ROOT b = f32[] call(a), to_apply=outer }""")
  unshare(module)
  hlo.verify(module)
  called = [c for i in module.instructions() for c in i.called_computations]
  assert len(called) == len(set(called)) == 4
  assert hlo.evaluate(module, np.float32(3)) == 3

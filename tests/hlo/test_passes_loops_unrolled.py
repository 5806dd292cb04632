"""Unrolling, double buffering, notes on trips, and constants that sink into loops."""

from __future__ import annotations

import json

import pytest

from tests.hlo.collective_checks import ADD, count, executed, transformed
from tilewright import hlo


def loop(trips: int, body: str, step: int = 1, root: str = "(s32[], f32[4], f32[4]) tuple(j, u, w)") -> str:
  """The state is (counter, v, w); the body sets `u`."""
  state = "(s32[], f32[4], f32[4])"
  return f"""HloModule m, replica_count=4
{ADD}
body {{ s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant({step})
  j = s32[] add(i, one)
  v = f32[4] get-tuple-element(s), index=1
  w = f32[4] get-tuple-element(s), index=2
  {body}
  ROOT t = {root} }}
condition {{ c = {state} parameter(0)
  k = s32[] get-tuple-element(c), index=0
  ROOT l = pred[] compare(k, s32[] constant({trips * step})), direction=LT }}
ENTRY e {{ x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  t0 = {state} tuple(s32[] constant(0), x, y)
  loop = {state} while(t0), condition=condition, body=body
  r1 = f32[4] get-tuple-element(loop), index=1
  r2 = f32[4] get-tuple-element(loop), index=2
  r0 = s32[] get-tuple-element(loop), index=0
  ROOT r = (f32[4], f32[4], s32[]) tuple(r1, r2, r0) }}"""


SUM = "a = f32[4] all-reduce(v), channel_id=3, replica_groups={{0,1,2,3}}, to_apply=add\n f = f32[] constant(0.25)\n"
SUM += "q = f32[4] broadcast(f), dimensions={}\n u = f32[4] multiply(a, q)"
SWAP = "u = f32[4] add(v, w)"
SWAPPED = "(s32[], f32[4], f32[4]) tuple(j, w, u)"
BODIES = {"sums": (SUM, None), "swaps": (SWAP, SWAPPED)}


def text_of(name: str, trips: int, step: int = 1) -> str:
  body, root = BODIES[name]
  return loop(trips, body, step) if root is None else loop(trips, body, step, root)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("trips, step", [(1, 1), (2, 1), (5, 3), (8, 1)])
def test_all_trips_one_after_another(name: str, trips: int, step: int) -> None:
  for item in ("while-loop-unroller", "double_buffer_loop_unrolling{strategy=full_unroll}"):
    module = transformed(text_of(name, trips, step), item, tolerance=1e-6)
    assert count(module, "while") == 0
    channels = [i.attrs["channel_id"] for i in module.instructions() if i.opcode == "all-reduce"]
    assert len(set(channels)) == len(channels) == (trips if name == "sums" else 0)


@pytest.mark.parametrize("option", ["max_trips=4", "max_instructions=5", "max_expanded=30"])
def test_loops_beyond_the_limits_stay(option: str) -> None:
  transformed(text_of("sums", 5), f"while_loop_unroller{{{option}}}", changes=False)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("trips, step", [(2, 1), (3, 1), (7, 2), (8, 1)])
def test_two_trips_in_one(name: str, trips: int, step: int) -> None:
  module = transformed(text_of(name, trips, step), "loop-double-buffer-transformer", tolerance=1e-6)
  (after,) = (i for i in module.instructions() if i.opcode == "while")
  assert count(module, "all-reduce", after.attrs["body"].name) == (2 if name == "sums" else 0)
  assert executed(module, "while") == 1
  annotated = transformed(module.to_text(), "while_loop_trip_count_annotator", tolerance=0)
  (after,) = (i for i in annotated.instructions() if i.opcode == "while")
  start = str(step * (trips % 2))
  assert json.loads(after.backend_config) == {
    "known_trip_count": {"n": str(trips // 2)},
    "known_init_step": {"init": start, "step": str(2 * step)},
    "known_induction_variable": {"tuple_index": "0"},
  }


def test_a_noted_number_of_trips_is_halved() -> None:
  text = loop(6, SWAP).replace("body=body", 'body=body, backend_config={"known_trip_count":{"n":"6"},"other":1}')
  module = transformed(text, "double_buffer_loop_unrolling", tolerance=1e-6)
  (after,) = (i for i in module.instructions() if i.opcode == "while")
  assert json.loads(after.backend_config) == {"known_trip_count": {"n": "3"}, "other": 1}


def test_only_loops_with_collectives_are_doubled_on_auto() -> None:
  transformed(text_of("sums", 4), "double_buffer_loop_unrolling{strategy=auto}")
  transformed(text_of("swaps", 4), "double_buffer_loop_unrolling{strategy=auto}", changes=False)


@pytest.mark.parametrize("trips", [14, 15])
def test_the_trips_in_which_a_permute_is_valid_follow(trips: int) -> None:
  valid = "{" + ",".join(f"{{{i},{i + 7}}}" for i in range(4)) + "}"
  permute = "u = f32[4] collective-permute(v), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}, "
  text = loop(trips, permute + f'frontend_attributes={{_xla_send_recv_validation="{valid}"}}')
  module = transformed(text, "double_buffer_loop_unrolling", tolerance=0)
  found = [i for i in module.instructions() if i.opcode == "collective-permute"]
  noted = sorted(i.frontend_attributes["_xla_send_recv_validation"] for i in found)
  even = ["{{0,3},{0,3},{1,4},{1,4}}", "{{0,3},{1,4},{1,4},{2,5}}"]
  odd = ["{{0,0},{1,0},{1,0},{1,0}}", "{{0,2},{0,3},{0,3},{1,4}}", "{{0,3},{0,3},{1,4},{1,4}}"]
  assert noted == sorted(odd if trips % 2 else even)


def test_scheduling_groups_of_copies_are_their_own() -> None:
  body = SUM.replace("to_apply=add", 'to_apply=add, frontend_attributes={_scheduling_group_id="5"}')
  body = body.replace("multiply(a, q)", 'multiply(a, q), frontend_attributes={_scheduling_group_id="5"}')
  module = transformed(loop(4, body), "double_buffer_loop_unrolling", tolerance=1e-6)
  groups = [i.frontend_attributes.get("_scheduling_group_id") for i in module.instructions()]
  assert sorted(g for g in groups if g) == ["5", "5", "6", "6"]


def test_effects_stay_in_order() -> None:
  log = 'z = token[] custom-call(v), custom_call_target="log", custom_call_has_side_effect=true\n u = f32[4] add(v, w)'
  text = loop(2, log)
  module = hlo.parse(text)
  assert hlo.make_pass("while_loop_unroller").run(module)
  first, second = (i for i in module.entry.topological_order() if i.opcode == "custom-call")
  assert second.control_predecessors == (first,)


def test_constants_sink_into_loops() -> None:
  text = loop(3, "u = f32[4] multiply(v, w)")
  text = text.replace("y = f32[4] parameter(1)", "y = f32[4] constant({1,2,3,0.5})")
  module = transformed(text, "while-loop-constant-sinking", tolerance=0)
  (product,) = (i for i in module.instructions() if i.opcode == "multiply")
  assert product.operands[1].opcode == "constant"
  transformed(text, "while_loop_constant_sinking{sink_only_scalar_constants=true}", changes=False)
  spread = text.replace("constant({1,2,3,0.5})", "broadcast(f32[] constant(2)), dimensions={}")
  transformed(spread, "while_loop_constant_sinking", changes=False)
  module = transformed(spread, "while_loop_constant_sinking{sink_broadcast_of_constants=true}", tolerance=0)
  (product,) = (i for i in module.instructions() if i.opcode == "multiply")
  assert product.operands[1].opcode == "broadcast"


def test_trips_that_only_running_tells_are_noted() -> None:
  text = loop(9, SWAP).replace("direction=LT", "direction=LT").replace("add(i, one)", "multiply(i, two)")
  text = text.replace("one = s32[] constant(1)", "two = s32[] constant(2)").replace(
    "s32[] constant(0)", "s32[] constant(1)"
  )
  module = transformed(text, "while_loop_trip_count_annotator", tolerance=0)
  (after,) = (i for i in module.instructions() if i.opcode == "while")
  assert json.loads(after.backend_config) == {"known_trip_count": {"n": "4"}}


def test_collectives_of_loops_are_not_combined_where_that_is_asked_for() -> None:
  body = "a = f32[4] all-reduce(v), to_apply=add\n b = f32[4] all-reduce(w), to_apply=add\n u = f32[4] add(a, b)"
  transformed(loop(3, body), "all_reduce_combiner{combine_while_loops=false}", changes=False)
  module = transformed(loop(3, body), "all-reduce-combiner", tolerance=1e-6)
  assert count(module, "all-reduce") == 1


STATE = "(f32[4], u32[], token[])"
PAIRS = "channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}"
OPEN = f"""HloModule m, num_partitions=4
body {{ p = (s32[], f32[4], {STATE}, {STATE}) parameter(0) i = s32[] get-tuple-element(p), index=0 one = s32[] constant(1)
  j = s32[] add(i, one) r = {STATE} get-tuple-element(p), index=2 v = {STATE} get-tuple-element(p), index=3
  rd = (f32[4], token[]) recv-done(r), channel_id=1 sd = token[] send-done(v), channel_id=1
  x = f32[4] get-tuple-element(rd), index=0 n = f32[4] sine(x) k = token[] after-all() rn = {STATE} recv(k), {PAIRS}
  sn = {STATE} send(n, k), {PAIRS}, control-predecessors={{rn}} ROOT t = (s32[], f32[4], {STATE}, {STATE}) tuple(j, n, rn, sn) }}
condition {{ p = (s32[], f32[4], {STATE}, {STATE}) parameter(0) i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(TRIPS) ROOT l = pred[] compare(i, n), direction=LT }}
ENTRY e {{ x = f32[4] parameter(0) z = s32[] constant(0) k = token[] after-all() r = {STATE} recv(k), {PAIRS}
  v = {STATE} send(x, k), {PAIRS}, control-predecessors={{r}} t = (s32[], f32[4], {STATE}, {STATE}) tuple(z, x, r, v)
  w = (s32[], f32[4], {STATE}, {STATE}) while(t), condition=condition, body=body rr = {STATE} get-tuple-element(w), index=2
  vv = {STATE} get-tuple-element(w), index=3 rd = (f32[4], token[]) recv-done(rr), channel_id=1
  sd = token[] send-done(vv), channel_id=1 ROOT g = f32[4] get-tuple-element(rd), index=0 }}"""


@pytest.mark.parametrize("trips", [2, 3])
@pytest.mark.parametrize(
  "name",
  ["while_loop_unroller", "double_buffer_loop_unrolling", "double_buffer_loop_unrolling{strategy=full_unroll}"],
)
def test_transfers_that_end_a_trip_later_keep_their_channel(name: str, trips: int) -> None:
  module = transformed(OPEN.replace("TRIPS", str(trips)), name, tolerance=0)
  assert {i.attrs["channel_id"] for i in module.instructions() if i.opcode in ("send", "recv-done")} == {1}


def test_a_transfer_that_leaves_an_inlined_callee_keeps_its_channel() -> None:
  text = f"""HloModule m, num_partitions=4
begin {{ a = f32[4] parameter(0) k = token[] after-all() r = {STATE} recv(k), {PAIRS}
  v = {STATE} send(a, k), {PAIRS}, control-predecessors={{r}} ROOT t = ({STATE}, {STATE}) tuple(r, v) }}
end {{ t = ({STATE}, {STATE}) parameter(0) r = {STATE} get-tuple-element(t), index=0 v = {STATE} get-tuple-element(t), index=1
  rd = (f32[4], token[]) recv-done(r), channel_id=1 sd = token[] send-done(v), channel_id=1
  ROOT g = f32[4] get-tuple-element(rd), index=0 }}
ENTRY e {{ x = f32[4] parameter(0) a = ({STATE}, {STATE}) call(x), to_apply=begin b = f32[4] call(a), to_apply=end
  c = ({STATE}, {STATE}) call(b), to_apply=begin ROOT d = f32[4] call(c), to_apply=end }}"""
  module = transformed(text, "call_inliner", tolerance=0)
  assert {i.attrs["channel_id"] for i in module.instructions() if i.opcode in ("send", "recv-done")} == {1}

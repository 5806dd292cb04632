"""Collectives that move across trips with arithmetic, in company, with control edges, barriers, marks and host copies."""

from __future__ import annotations

import pytest
from collective_checks import ADD, count, executed, transformed

from tests.support.pipelined_loops import AR, BACKWARD, FORWARD, SINK, Layers, store, trips
from tilewright import hlo
from tilewright.hlo import schedule
from tilewright.hlo.passes.collective_pipeliner import CollectivePipeliner
from tilewright.hlo.passes.while_loops import loops_of

CHAINS = [
  "a = f32[4] multiply(r, r) b = f32[4] sine(a) u = f32[1,4] reshape(b)",
  "c = f32[] constant(3) d = f32[4] broadcast(c), dimensions={} a = f32[4] add(r, d) u = f32[1,4] reshape(a)",
  "a = f32[4] add(r, h) u = f32[1,4] reshape(a)",  # with a value of the trip
  "w1 = f32[1,4] slice(w), slice={[2:3],[0:4]} a = f32[1,4] reshape(r) u = f32[1,4] subtract(a, w1)",
  "c = pred[] constant(true) a = f32[4] negate(r) b = f32[4] select(c, a, r) u = f32[1,4] reshape(b)",
  "n = s32[] constant(2) c = pred[] compare(i, n), direction=LT a = f32[4] negate(r) b = f32[4] select(c, a, r) "
  "u = f32[1,4] reshape(b)",
  "c = f32[] constant(0.5) a = f32[6] pad(r, c), padding=1_1 b = f32[4] slice(a), slice={[1:5]} u = f32[1,4] reshape(b)",
  "a = f32[8] concatenate(r, h), dimensions={0} b = f32[4] slice(a), slice={[2:6]} u = f32[1,4] reshape(b)",
  "c = f32[] constant(0) s = f32[] reduce(r, c), dimensions={0}, to_apply=add u = f32[1,4] broadcast(s), dimensions={}",
]


@pytest.mark.parametrize("item", [FORWARD, SINK], ids=lambda p: p.direction)
@pytest.mark.parametrize("chain", CHAINS)
def test_arithmetic_behind_a_collective_moves_along(chain: str, item: CollectivePipeliner) -> None:
  module = transformed(str(Layers(store(chain))), item)
  assert executed(module, "all-reduce") == (1 if item is SINK else 5)


@pytest.mark.parametrize(
  "chain",
  [
    "b = f32[4] multiply(a, a) c = f32[4] tanh(b)",
    "k = f32[] constant(2) d = f32[4] broadcast(k), dimensions={} c = f32[4] power(a, d)",
    "f = f32[] convert(i) d = f32[4] broadcast(f), dimensions={} c = f32[4] add(a, d)",
  ],
)
def test_arithmetic_before_a_collective_is_fetched_ahead(chain: str) -> None:
  body = f"""x = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={{1,4}} a = f32[4] reshape(x) {chain}
  g = f32[4] all-reduce(c), {AR} h1 = f32[4] multiply(h, g) buf1 = f32[5,4] copy(buf)"""
  module = transformed(str(Layers(body)), BACKWARD)
  assert trips(module) == 4 and executed(module, "all-reduce") == 5


def test_what_is_computed_of_a_fetch_and_read_by_the_trip_is_carried() -> None:
  body = f"""x = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={{1,4}} a = f32[4] reshape(x) g = f32[4] all-reduce(a), {AR}
  v = f32[4] tanh(g) q = f32[4] all-reduce(v), {AR} s = f32[4] add(v, q) h1 = f32[4] multiply(h, s) buf1 = f32[5,4] copy(buf)"""
  module = transformed(str(Layers(body)), BACKWARD)
  assert trips(module) == 4 and executed(module, "all-reduce") == 10


TWO = f"""h1 = f32[4] sine(h) r = f32[4] all-reduce(h1), {AR} u = f32[1,4] reshape(r)
  buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)
  q = f32[4] cosine(h) g = f32[4] collective-permute(q), source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}
  v = f32[1,4] reshape(g)"""


def test_several_collectives_move_in_one_rotation() -> None:
  body = TWO + " e = f32[5,4] dynamic-update-slice(buf1, v, zero, zero)"
  module = transformed(
    str(Layers(body.replace("buf1 =", "b1 =").replace("(buf1,", "(b1,").replace("e =", "buf1 ="))), FORWARD
  )
  assert trips(module) == 4  # one trip is peeled, not one for each
  (loop,) = loops_of(module)
  moved = [i for i in loop.body.instructions if i.opcode in ("all-reduce", "collective-permute")]
  assert len(moved) == 2 and all(i.operands[0].opcode == "get-tuple-element" for i in moved)


TUPLE = f"""h1 = f32[4] sine(h) q = f32[4] cosine(h) ar = (f32[4], f32[4]) all-reduce(h1, q), {AR}
  r = f32[4] get-tuple-element(ar), index=0 g = f32[4] get-tuple-element(ar), index=1
  s = f32[4] add(r, g) u = f32[1,4] reshape(s) buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)"""


def test_a_combined_collective_moves_forward_and_sinks() -> None:
  assert trips(transformed(str(Layers(TUPLE)), FORWARD)) == 4
  assert executed(transformed(str(Layers(TUPLE)), SINK), "all-reduce") == 1
  gathers = """h1 = f32[4] sine(h) q = f32[4] cosine(h) ar = (f32[16], f32[16]) all-gather(h1, q), replica_groups={{0,1,2,3}},
  dimensions={0} r = f32[16] get-tuple-element(ar), index=0 g = f32[16] get-tuple-element(ar), index=1
  s = f32[16] add(r, g) v = f32[4] slice(s), slice={[3:7]} u = f32[1,4] reshape(v)
  buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)"""
  assert executed(transformed(str(Layers(gathers)), SINK), "all-gather") == 1


def test_a_combined_collective_is_fetched_ahead() -> None:
  body = f"""x = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={{1,4}} a = f32[4] reshape(x) b = f32[4] negate(a)
  ar = (f32[4], f32[4]) all-reduce(a, b), {AR} r = f32[4] get-tuple-element(ar), index=0 g = f32[4] get-tuple-element(ar), index=1
  d = f32[4] subtract(r, g) h1 = f32[4] multiply(h, d) buf1 = f32[5,4] copy(buf)"""
  module = transformed(str(Layers(body)), BACKWARD)
  assert trips(module) == 4 and executed(module, "all-reduce") == 5


INDICES = [
  "m = s32[] negate(i) k = s32[] constant(4) j = s32[] add(m, k)",
  "c2 = s32[] constant(2) lt = pred[] compare(i, c2), direction=LT k = s32[] constant(1) a1 = s32[] subtract(k, i) "
  "j = s32[] select(lt, a1, i)",
  "k = s32[] constant(3) a1 = s32[] add(i, k) five = s32[] constant(5) j = s32[] remainder(a1, five)",
  "top = s32[] constant(4) j = s32[] clamp(zero, i, top)",
]


@pytest.mark.parametrize("index", INDICES)
def test_indices_through_arithmetic(index: str) -> None:
  for item in (FORWARD, SINK):
    transformed(str(Layers(f"{index} " + store(index="j, zero"))), item)
  body = f"""{index} x = f32[1,4] dynamic-slice(w, j, zero), dynamic_slice_sizes={{1,4}} a = f32[4] reshape(x)
  g = f32[4] all-reduce(a), {AR} h1 = f32[4] multiply(h, g) buf1 = f32[5,4] copy(buf)"""
  assert trips(transformed(str(Layers(body)), BACKWARD)) == 4


def test_an_index_from_an_invariant_slot() -> None:
  text = str(Layers(store(index="j, zero", compute="j = s32[] subtract(last, i) h1 = f32[4] sine(h)")))
  text = text.replace("f32[5,4])", "f32[5,4], s32[])").replace(
    "one =", "last = s32[] get-tuple-element(p), index=4\n  one ="
  )
  text = text.replace("h1, w)", "h1, w, last)").replace("z = s32[]", "four = s32[] constant(4)\n  z = s32[]")
  text = text.replace("h0, w0)", "h0, w0, four)")
  assert executed(transformed(text, SINK), "all-reduce") == 1
  transformed(text, FORWARD)


@pytest.mark.parametrize(("start", "step", "count_"), [(0, 1, 3), (1, 1, 4), (3, -1, 4), (4, -1, 3)])
def test_sink_keeps_what_no_trip_writes(start: int, step: int, count_: int) -> None:
  module = transformed(str(Layers(store(), trips=count_, start=start, step=step)), SINK)
  assert executed(module, "all-reduce") == 1


def test_sink_joins_parts_of_several_rows() -> None:
  body = f"""h1 = f32[4] sine(h) r = f32[4] all-reduce(h1), {AR} u = f32[2,2] reshape(r) two = s32[] constant(2)
  j = s32[] multiply(i, two) buf1 = f32[11,2] dynamic-update-slice(buf, u, j, zero)"""
  assert executed(transformed(str(Layers(body, buf="f32[11,2]")), SINK), "all-reduce") == 1


@pytest.mark.parametrize("item", [FORWARD, SINK], ids=lambda p: p.direction)
def test_control_edges_that_the_order_of_trips_keeps(item: CollectivePipeliner) -> None:
  body = store().replace(AR, AR + ", control-predecessors={h1}")
  transformed(str(Layers(body)), item)
  late = store() + " late = f32[4] negate(h), control-predecessors={r}"
  transformed(str(Layers(late)), CollectivePipeliner(item.direction, should_allow_control_dependencies=True))


@pytest.mark.parametrize("item", [FORWARD, SINK], ids=lambda p: p.direction)
def test_a_control_edge_of_a_barrier_belongs_to_all_of_its_values(item: CollectivePipeliner) -> None:
  body = store(
    """bt = (f32[4], f32[4]) tuple(r, h) bar = (f32[4], f32[4]) opt-barrier(bt) e = f32[4] get-tuple-element(bar), index=0
    u = f32[1,4] reshape(e) j = s32[] add(i, zero), control-predecessors={bar}""",
    index="j, zero",
  )
  transformed(str(Layers(body)), item, changes=False)  # the index waits for the collective
  transformed(str(Layers(body.replace(", control-predecessors={bar}", ""))), item)


@pytest.mark.parametrize("item", [FORWARD, SINK], ids=lambda p: p.direction)
def test_a_value_of_a_barrier_takes_its_control_edges_along(item: CollectivePipeliner) -> None:
  body = store(
    """bt = (f32[4], f32[4]) tuple(r, h) bar = (f32[4], f32[4]) opt-barrier(bt) e = f32[4] get-tuple-element(bar), index=0
    o = f32[4] get-tuple-element(bar), index=1 n = f32[4] negate(e), control-predecessors={e} u = f32[1,4] reshape(n)"""
  )
  transformed(str(Layers(body)), item)


def test_backward_with_control_edges() -> None:
  body = f"""x = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={{1,4}} a = f32[4] reshape(x)
  g = f32[4] all-reduce(a), {AR}, control-predecessors={{x}} h1 = f32[4] multiply(h, g)
  late = f32[4] negate(h), control-predecessors={{g}} buf1 = f32[5,4] copy(buf)"""
  assert trips(transformed(str(Layers(body)), BACKWARD)) == 4


@pytest.mark.parametrize("move", ['custom-call(h1), custom_call_target="MoveToHost"', "copy(h1)"])
def test_copies_to_the_host_move(move: str) -> None:
  result = "f32[4]{0:S(5)}" if move.startswith("copy") else "f32[4]"
  body = f"""h1 = f32[4] sine(h) r = {result} {move} u = f32[1,4] reshape(r)
  buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)"""
  transformed(str(Layers(body)), FORWARD)
  transformed(str(Layers(body)), CollectivePipeliner(host_offload=False), changes=False)


@pytest.mark.parametrize("move", ['custom-call(a), custom_call_target="MoveToHost"', "copy(a)"])
def test_what_goes_to_the_host_is_not_collected_on_the_device(move: str) -> None:
  """Neither alone nor behind a collective; without `host_offload` the copy stays in its trip, and so does the collective."""
  result = "f32[4]{0:S(5)}" if move.startswith("copy") else "f32[4]"
  for before in ("a = f32[4] negate(h1)", f"a = f32[4] all-reduce(h1), {AR}"):
    body = f"""h1 = f32[4] sine(h) {before} r = {result} {move} u = f32[1,4] reshape(r)
    buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)"""
    transformed(str(Layers(body)), SINK, changes=False)
    transformed(str(Layers(body)), FORWARD)
    transformed(str(Layers(body)), CollectivePipeliner(host_offload=False), changes=False)


def test_copies_from_the_host_are_fetched_ahead() -> None:
  body = """x = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={1,4} a = f32[4] reshape(x)
  g = f32[4] custom-call(a), custom_call_target="MoveToDevice" h1 = f32[4] multiply(h, g) buf1 = f32[5,4] copy(buf)"""
  module = transformed(str(Layers(body)), BACKWARD)
  assert trips(module) == 4 and executed(module, "custom-call") == 5


BARRIER = f"""h1 = f32[4] sine(h) bt = (f32[5,4], f32[4]) tuple(buf, h1) bar = (f32[5,4], f32[4]) opt-barrier(bt)
  bb = f32[5,4] get-tuple-element(bar), index=0 bh = f32[4] get-tuple-element(bar), index=1
  r = f32[4] all-reduce(bh), {AR} u = f32[1,4] reshape(r) buf1 = f32[5,4] dynamic-update-slice(bb, u, i, zero)"""


def test_barriers_are_split_or_kept() -> None:
  transformed(str(Layers(BARRIER)), FORWARD)
  kept = store("bt = (f32[4], f32[4]) tuple(r, h) bar = (f32[4], f32[4]) opt-barrier(bt) "
    "a = f32[4] get-tuple-element(bar), index=0 u = f32[1,4] reshape(a)")  # fmt: skip
  module = transformed(str(Layers(kept)), CollectivePipeliner(barriers="keep"))
  (loop,) = loops_of(module)
  assert all(len(i.shape.tuple_shapes) == 2 for i in loop.body.instructions if i.opcode == "opt-barrier")
  with pytest.raises(hlo.HloError, match="none of split, keep"):
    CollectivePipeliner(barriers="drop").run(hlo.parse(str(Layers(store()))))


def test_predicates_choose() -> None:
  text = str(Layers(store("a = f32[4] sine(r) u = f32[1,4] reshape(a)")))
  transformed(text, CollectivePipeliner(should_process="all-gather|all-to-all"), changes=False)
  transformed(text, "collective_pipeliner{should_process=all-gather|all-reduce}")
  transformed(text, CollectivePipeliner(should_process=lambda i: i.name != "r"), changes=False)
  transformed(text, CollectivePipeliner(acceptable_formatting=lambda i: i.opcode != "sine"), changes=False)
  transformed(text, "collective_pipeliner{acceptable_formatting=sine|reshape}")


NESTED = f"""HloModule nested, replica_count=4
{ADD}
inner {{
  p = (s32[], f32[3,4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  buf = f32[3,4] get-tuple-element(p), index=1
  h = f32[4] get-tuple-element(p), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  i1 = s32[] add(i, one)
  h1 = f32[4] sine(h)
  r = f32[4] all-reduce(h1), {AR}
  u = f32[1,4] reshape(r)
  buf1 = f32[3,4] dynamic-update-slice(buf, u, i, zero)
  ROOT t = (s32[], f32[3,4], f32[4]) tuple(i1, buf1, h1)
}}
icond {{
  cp = (s32[], f32[3,4], f32[4]) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(ci, n), direction=LT
}}
outer {{
  p = (s32[], f32[2,3,4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  buf = f32[2,3,4] get-tuple-element(p), index=1
  h = f32[4] get-tuple-element(p), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  f0 = f32[] constant(0)
  i1 = s32[] add(i, one)
  b0 = f32[3,4] broadcast(f0), dimensions={{}}
  init = (s32[], f32[3,4], f32[4]) tuple(zero, b0, h)
  loop = (s32[], f32[3,4], f32[4]) while(init), condition=icond, body=inner
  b = f32[3,4] get-tuple-element(loop), index=1
  h1 = f32[4] get-tuple-element(loop), index=2
  u = f32[1,3,4] reshape(b)
  buf1 = f32[2,3,4] dynamic-update-slice(buf, u, i, zero, zero)
  ROOT t = (s32[], f32[2,3,4], f32[4]) tuple(i1, buf1, h1)
}}
ocond {{
  cp = (s32[], f32[2,3,4], f32[4]) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  n = s32[] constant(2)
  ROOT lt = pred[] compare(ci, n), direction=LT
}}
ENTRY main {{
  b0 = f32[2,3,4] parameter(0)
  h0 = f32[4] parameter(1)
  z = s32[] constant(0)
  init = (s32[], f32[2,3,4], f32[4]) tuple(z, b0, h0)
  ROOT loop = (s32[], f32[2,3,4], f32[4]) while(init), condition=ocond, body=outer
}}"""


def test_levels_and_marks_between_runs() -> None:
  sink = "collective_pipeliner{direction=forward_sink,level_to_operate_on=%d,last_run=%s}"
  transformed(NESTED, sink % (1, "true"), changes=False)
  module = transformed(NESTED, sink % (0, "false"))
  assert executed(module, "all-reduce") == 2
  assert [i.attrs["custom_call_target"] for i in module.instructions() if i.opcode == "custom-call"] == [
    "SunkByPreviousStep"
  ]
  module = transformed(NESTED, [sink % (0, "false"), sink % (1, "true")])
  assert executed(module, "all-reduce") == 1 and not count(module, "custom-call")
  module = transformed(NESTED, ["collective_pipeliner{level_to_operate_on=0,last_run=false}"])
  assert count(module, "custom-call") == 1
  assert not count(transformed(module.to_text(), ["collective_pipeliner{level_to_operate_on=7}"]), "custom-call")


def test_a_peeled_scheduling_group_is_renumbered_or_left() -> None:
  group = ', frontend_attributes={_scheduling_group_id="%d"}'
  body = store(compute=f"h2 = f32[4] sine(h){group % 3} h1 = f32[4] cosine(h2){group % 3}").replace(AR, AR + group % 4)
  body = body.replace("u = f32[1,4] reshape(r)", f"u = f32[1,4] reshape(r){group % 5}").replace(
    "i, zero)", f"i, zero){group % 6}"
  )
  module = transformed(str(Layers(body)), FORWARD)
  main = [i.frontend_attributes.get("_scheduling_group_id") for i in module.entry.instructions]
  assert sorted(g for g in main if g) == ["7", "7"]  # both of group 3; the others are alone where they are now
  schedule.schedule_module(module)


SHIFT = """after = token[] after-all()
  got = (f32[4], u32[], token[]) recv(after), channel_id=1,
    frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2},{2,3},{3,0}}"}
  put = (f32[4], u32[], token[]) send(h, after), channel_id=1, control-predecessors={got},
    frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2},{2,3},{3,0}}"}
  gotten = (f32[4], token[]) recv-done(got), channel_id=1
  sent = token[] send-done(put), channel_id=1
  g = f32[4] get-tuple-element(gotten), index=0
  x = f32[4] sine(h)
  h1 = f32[4] add(x, g)
  buf1 = f32[5,4] copy(buf)"""


def test_sends_and_receives_are_started_one_trip_ahead() -> None:
  module = transformed(str(Layers(SHIFT, header="num_partitions=4")), BACKWARD)
  assert trips(module) == 4 and executed(module, "recv") == 5 and executed(module, "send") == 5
  assert count(module, "recv", "main") == 1
  channels = [i.attrs["channel_id"] for i in module.instructions() if i.opcode == "send"]
  assert len(set(channels)) == len(channels)
  assert not BACKWARD.run(module)
  transformed(
    str(Layers(SHIFT, header="num_partitions=4")), CollectivePipeliner("backward", send_recv=False), changes=False
  )


def test_sink_into_two_buffers_where_the_first_reader_follows_the_loop() -> None:
  body = f"""x = f32[4] reshape(s) y = f32[4] sine(x) r = f32[4] all-reduce(y), {AR} u = f32[1,4] reshape(r)
  q = f32[4] negate(r) v = f32[1,4] reshape(q) buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)
  h1 = f32[5,4] dynamic-update-slice(h, v, i, zero)"""
  text = str(Layers("s = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={1,4} " + body, h="f32[5,4]"))
  text = text.replace("ROOT loop =", "loop =").replace(
    "condition=cond, body=body\n}",
    "condition=cond, body=body\n  ROOT read = f32[5,4] get-tuple-element(loop), index=1\n}",
  )
  module = transformed(text, SINK)
  assert executed(module, "all-reduce") == 1 and module.entry.root.opcode != "get-tuple-element"

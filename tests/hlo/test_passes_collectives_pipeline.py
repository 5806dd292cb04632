"""Collectives that move across the trips of a loop: what changes, what does not, and what is refused."""

from __future__ import annotations

import pytest
from collective_checks import count, executed, transformed
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.pipelined_loops import AR, BACKWARD, FORWARD, SINK, Layers, fetch, store, trips
from tilewright import hlo
from tilewright.hlo.passes.collective_pipeliner import CollectivePipeliner
from tilewright.hlo.passes.while_loops import loops_of

# Forward.


def test_forward_delays_a_collective_by_one_trip() -> None:
  module = transformed(str(Layers(store())), FORWARD)
  assert trips(module) == 4 and executed(module, "all-reduce") == 5
  (loop,) = loops_of(module)
  (reduction,) = [i for i in loop.body.instructions if i.opcode == "all-reduce"]
  assert reduction.operands[0].opcode == "get-tuple-element"  # it does not wait for this trip's work
  assert count(module, "all-reduce", "main") == 1


def test_forward_twice_changes_nothing_more() -> None:
  once = transformed(str(Layers(store())), FORWARD)
  assert not FORWARD.run(once)


@pytest.mark.parametrize(
  "chain",
  [
    "a = f32[4] copy(r) u = f32[1,4] reshape(a)",
    "a = bf16[4] convert(r) b = f32[4] convert(a) u = f32[1,4] reshape(b)",
    "a = f32[2,2] reshape(r) b = f32[2,2] transpose(a), dimensions={1,0} u = f32[1,4] reshape(b)",
    "a = f32[2] slice(r), slice={[1:3]} b = f32[2,2] broadcast(a), dimensions={1} u = f32[1,4] reshape(b)",
    "a = f32[2] dynamic-slice(r, i), dynamic_slice_sizes={2} b = f32[2,2] broadcast(a), dimensions={1} u = f32[1,4] reshape(b)",
    "a = f32[4] opt-barrier(r) u = f32[1,4] reshape(a)",
    "a = f32[4] reverse(r), dimensions={0} u = f32[1,4] reshape(a)",
  ],
)
def test_forward_takes_formatting_along(chain: str) -> None:
  assert trips(transformed(str(Layers(store(chain))), FORWARD)) == 4


@pytest.mark.parametrize(
  "collective",
  [
    "r = f32[4] collective-permute(h1), source_target_pairs={{0,1},{1,2},{3,0}} u = f32[1,4] reshape(r)",
    "g = f32[16] all-gather(h1), replica_groups={{0,1,2,3}}, dimensions={0} r = f32[4] slice(g), slice={[4:8]} "
    "u = f32[1,4] reshape(r)",
    "r = f32[1] reduce-scatter(h1), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add "
    "b = f32[4,1] broadcast(r), dimensions={1} u = f32[1,4] reshape(b)",
    "r = f32[4] all-to-all(h1), replica_groups={{0,1,2,3}}, dimensions={0} u = f32[1,4] reshape(r)",
  ],
)
def test_forward_moves_every_kind_of_collective(collective: str) -> None:
  body = f"h1 = f32[4] sine(h) {collective} buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)"
  assert trips(transformed(str(Layers(body)), FORWARD)) == 4


@pytest.mark.parametrize(("start", "step"), [(0, 1), (2, 1), (0, 2), (7, -1), (-3, 3)])
def test_forward_counts_from_anywhere_by_any_step(start: int, step: int) -> None:
  assert trips(transformed(str(Layers(store(), start=start, step=step)), FORWARD)) == 4


def test_forward_keeps_the_order_of_stores_to_one_place() -> None:
  transformed(str(Layers(store(index="zero, zero"))), FORWARD)


def test_forward_moves_two_stores_into_one_buffer_together() -> None:
  body = f"""h1 = f32[4] sine(h) r = f32[4] all-reduce(h1), {AR} u = f32[1,4] reshape(r)
  c = f32[4] cosine(h) q = f32[4] all-reduce(c), {AR} v = f32[1,4] reshape(q) two = s32[] constant(2)
  b = f32[5,4] dynamic-update-slice(buf, u, i, zero) buf1 = f32[5,4] dynamic-update-slice(b, v, two, zero)"""
  module = transformed(str(Layers(body)), FORWARD)
  assert count(module, "all-reduce", "main") == 2


def test_forward_looks_through_a_barrier_between_parameter_and_update() -> None:
  body = f"""h1 = f32[4] sine(h) bt = (f32[5,4], f32[4], f32[4]) tuple(buf, h1, h)
  bar = (f32[5,4], f32[4], f32[4]) opt-barrier(bt) bb = f32[5,4] get-tuple-element(bar), index=0
  bh = f32[4] get-tuple-element(bar), index=1 r = f32[4] all-reduce(bh), {AR} u = f32[1,4] reshape(r)
  buf1 = f32[5,4] dynamic-update-slice(bb, u, i, zero)"""
  module = transformed(str(Layers(body)), FORWARD)
  (loop,) = loops_of(module)
  assert trips(module) == 4 and count(module, "opt-barrier", loop.body.name) == 2


def test_forward_looks_through_a_barrier_behind_the_collective() -> None:
  body = f"""hs = f32[4] sine(h) r = f32[4] all-reduce(hs), {AR}
  bt1 = (f32[4], f32[4]) tuple(r, hs) bar = (f32[4], f32[4]) opt-barrier(bt1)
  rr = f32[4] get-tuple-element(bar), index=0 h1 = f32[4] get-tuple-element(bar), index=1 u = f32[1,4] reshape(rr)
  buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)"""
  assert trips(transformed(str(Layers(body)), FORWARD)) == 4


def test_forward_takes_a_store_inside_a_fusion() -> None:
  extra = """put { b = f32[5,4] parameter(0) v = f32[4] parameter(1) k = s32[] parameter(2) kz = s32[] constant(0)
  kv = f32[1,4] reshape(v) ROOT d = f32[5,4] dynamic-update-slice(b, kv, k, kz) }"""
  body = f"h1 = f32[4] sine(h) r = f32[4] all-reduce(h1), {AR} buf1 = f32[5,4] fusion(buf, r, i), kind=kLoop, calls=put"
  module = transformed(str(Layers(body, extra=extra)), FORWARD)
  called = [i.attrs["calls"] for i in module.instructions() if i.opcode == "fusion"]
  assert len(called) == len(set(called)) == 2  # each fusion has its own computation


def test_forward_gives_copies_their_own_channels() -> None:
  attrs = "channel_id=3, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add"
  body = f"""g = f32[4] all-reduce(h), {attrs.replace("=3", "=9")} h1 = f32[4] sine(g) r = f32[4] all-reduce(h1), {attrs}
  u = f32[1,4] reshape(r) buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)"""
  module = transformed(str(Layers(body, header="num_partitions=4")), FORWARD)
  channels = [i.attrs["channel_id"] for i in module.instructions() if i.opcode == "all-reduce"]
  assert len(channels) == len(set(channels)) == 4


@pytest.mark.parametrize(
  "layers",
  [
    Layers(store(), trips=1),
    Layers(store(), trips=0),
    Layers(store(compute="b0 = f32[1,4] slice(buf), slice={[0:1],[0:4]} h2 = f32[4] reshape(b0) h1 = f32[4] sine(h2)")),
    Layers(
      store().replace("h1 = f32[4] sine(h)", "h0 = f32[4] sine(h)").replace("(h1)", "(h0)") + " h1 = f32[4] copy(r)"
    ),
    Layers(
      store(
        "a = f32[2,2] reshape(r) b = f32[2,2] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
        "u = f32[1,4] reshape(b)"
      )
    ),  # work, not formatting
    Layers(store().replace("buf1 =", "b1 =") + " buf1 = f32[5,4] add(b1, b1)"),
    Layers(store(compute="h1 = f32[4] sine(h)") + " late = f32[4] negate(h), control-predecessors={r}"),
    Layers(
      store(), condition="k = s32[] multiply(ci, ci) n = s32[] constant(9) ROOT lt = pred[] compare(k, n), direction=LT"
    ),
  ],
)
def test_forward_refuses(layers: Layers) -> None:
  transformed(str(layers), FORWARD, changes=False)


def test_forward_refuses_a_buffer_that_the_condition_reads() -> None:
  condition = """n = s32[] constant(5) lt = pred[] compare(ci, n), direction=LT e = f32[1,1] slice(cbuf), slice={[0:1],[0:1]}
  f = f32[] reshape(e) big = f32[] constant(1e9) ok = pred[] compare(f, big), direction=LT ROOT both = pred[] and(lt, ok)"""
  transformed(str(Layers(store(), condition=condition)), FORWARD, changes=False)


@pytest.mark.parametrize("item", [FORWARD, BACKWARD, SINK], ids=lambda p: p.direction)
def test_a_scheduled_module_stays_in_order(item: CollectivePipeliner) -> None:
  body = fetch() if item is BACKWARD else store()
  transformed(str(Layers(body, header="is_scheduled=true, replica_count=4")), item)


@pytest.mark.parametrize("item", [FORWARD, BACKWARD], ids=lambda p: p.direction)
def test_a_body_with_effects_is_not_peeled(item: CollectivePipeliner) -> None:
  body = (fetch() if item is BACKWARD else store()) + " state = u64[1] rng-get-and-update-state(), delta=1"
  assert not item.run(hlo.parse(str(Layers(body))))


def test_small_collectives_are_not_worth_it() -> None:
  transformed(str(Layers(store())), CollectivePipeliner(min_bytes=17), changes=False)


def test_an_unknown_direction_is_an_error() -> None:
  with pytest.raises(hlo.HloError, match="none of forward"):
    CollectivePipeliner("sideways").run(hlo.parse(str(Layers(store()))))


# Sink.


def test_sink_leaves_one_collective_behind_the_loop() -> None:
  module = transformed(str(Layers(store())), SINK)
  assert executed(module, "all-reduce") == 1 and trips(module) == 5


@pytest.mark.parametrize(
  "chain",
  [
    "a = f32[4] copy(r) u = f32[1,4] reshape(a)",
    "a = bf16[4] convert(r) b = f32[4] convert(a) u = f32[1,4] reshape(b)",
    "a = f32[2,2] reshape(r) b = f32[2,2] transpose(a), dimensions={1,0} u = f32[1,4] reshape(b)",
    "a = f32[2] slice(r), slice={[1:3]} b = f32[2,2] broadcast(a), dimensions={1} u = f32[1,4] reshape(b)",
    "a = f32[4] opt-barrier(r) u = f32[1,4] reshape(a)",
    "a = f32[4] reverse(r), dimensions={0} u = f32[1,4] reshape(a)",
    "u = f32[1,4] bitcast(r)",
  ],
)
def test_sink_takes_formatting_along(chain: str) -> None:
  assert executed(transformed(str(Layers(store(chain))), SINK), "all-reduce") == 1


@pytest.mark.parametrize(
  ("opcode", "collective"),
  [
    (
      "collective-permute",
      "r = f32[4] collective-permute(h1), source_target_pairs={{0,1},{1,2},{3,0}} u = f32[1,4] reshape(r)",
    ),
    (
      "all-gather",
      "g = f32[16] all-gather(h1), replica_groups={{0,1,2,3}}, dimensions={0} r = f32[4] slice(g), slice={[4:8]} "
      "u = f32[1,4] reshape(r)",
    ),
    (
      "reduce-scatter",
      "r = f32[1] reduce-scatter(h1), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add "
      "b = f32[4,1] broadcast(r), dimensions={1} u = f32[1,4] reshape(b)",
    ),
    ("all-to-all", "r = f32[4] all-to-all(h1), replica_groups={{0,1,2,3}}, dimensions={0} u = f32[1,4] reshape(r)"),
  ],
)
def test_sink_moves_every_kind_of_collective(opcode: str, collective: str) -> None:
  body = f"h1 = f32[4] sine(h) {collective} buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)"
  assert executed(transformed(str(Layers(body)), SINK), opcode) == 1


def test_sink_stores_from_the_end_and_in_the_last_dimension() -> None:
  body = f"""h1 = f32[4] sine(h) r = f32[4] all-reduce(h1), {AR} u = f32[4,1] reshape(r) m = s32[] constant(4)
  j = s32[] subtract(m, i) buf1 = f32[4,5] dynamic-update-slice(buf, u, zero, j)"""
  assert executed(transformed(str(Layers(body, buf="f32[4,5]")), SINK), "all-reduce") == 1


def test_sink_feeds_several_buffers() -> None:
  body = f"""hs = f32[4] sine(q) r = f32[4] all-reduce(hs), {AR} u = f32[1,4] reshape(r) n = f32[4] reverse(r), dimensions={{0}}
  v = f32[4,1] reshape(n) buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)
  h1 = f32[4,5] dynamic-update-slice(h, v, zero, i)"""
  body = "w0s = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={1,4} q = f32[4] reshape(w0s) " + body
  assert executed(transformed(str(Layers(body, h="f32[4,5]")), SINK), "all-reduce") == 1


def test_sink_looks_through_a_barrier_between_parameter_and_update() -> None:
  body = f"""h1 = f32[4] sine(h) bt = (f32[5,4], f32[4]) tuple(buf, h1) bar = (f32[5,4], f32[4]) opt-barrier(bt)
  bb = f32[5,4] get-tuple-element(bar), index=0 bh = f32[4] get-tuple-element(bar), index=1
  r = f32[4] all-reduce(bh), {AR} u = f32[1,4] reshape(r) buf1 = f32[5,4] dynamic-update-slice(bb, u, i, zero)"""
  module = transformed(str(Layers(body)), SINK)
  assert executed(module, "all-reduce") == 1
  (loop,) = loops_of(module)
  assert count(module, "opt-barrier", loop.body.name) >= 1  # what the barrier holds back stays held back


def test_sink_takes_a_fused_store_apart() -> None:
  extra = """put { b = f32[5,4] parameter(0) v = f32[4] parameter(1) k = s32[] parameter(2) kz = s32[] constant(0)
  kv = f32[1,4] reshape(v) ROOT d = f32[5,4] dynamic-update-slice(b, kv, k, kz) }"""
  body = f"h1 = f32[4] sine(h) r = f32[4] all-reduce(h1), {AR} buf1 = f32[5,4] fusion(buf, r, i), kind=kLoop, calls=put"
  assert executed(transformed(str(Layers(body, extra=extra)), SINK), "all-reduce") == 1
  other = body.replace("h1 = f32[4] sine(h) r = f32[4] all-reduce(h1)", "hs = f32[4] sine(h) r = f32[4] all-reduce(hs)")
  transformed(str(Layers(other + " h1 = f32[4] negate(r)", extra=extra)), SINK, changes=False)


@pytest.mark.parametrize(
  "layers",
  [
    Layers(store(index="zero, zero")),
    Layers(store(index="k, zero", compute="two = s32[] constant(2) k = s32[] divide(i, two) h1 = f32[4] sine(h)")),
    Layers(
      store(
        "a = f32[2] dynamic-slice(r, i), dynamic_slice_sizes={2} b = f32[2,2] broadcast(a), dimensions={1} "
        "u = f32[1,4] reshape(b)"
      )
    ),
    Layers(
      store().replace("h1 = f32[4] sine(h)", "h0 = f32[4] sine(h)").replace("(h1)", "(h0)") + " h1 = f32[4] copy(r)"
    ),
    Layers(store(compute="b0 = f32[1,4] slice(buf), slice={[0:1],[0:4]} h2 = f32[4] reshape(b0) h1 = f32[4] sine(h2)")),
    Layers(store() + " late = f32[4] negate(h), control-predecessors={r}"),
  ],
)
def test_sink_refuses(layers: Layers) -> None:
  transformed(str(layers), SINK, changes=False)


def test_sink_has_a_limit() -> None:
  transformed(str(Layers(store())), CollectivePipeliner("forward_sink", max_bytes=79), changes=False)
  transformed(str(Layers(store())), CollectivePipeliner("forward_sink", max_bytes=80))


# Backward.


def test_backward_fetches_one_trip_ahead() -> None:
  module = transformed(str(Layers(fetch())), BACKWARD)
  assert trips(module) == 4 and executed(module, "all-reduce") == 5
  (loop,) = loops_of(module)
  (reduction,) = [i for i in loop.body.instructions if i.opcode == "all-reduce"]
  assert reduction.users == (loop.body.root,)
  assert not BACKWARD.run(module)


@pytest.mark.parametrize(
  "more",
  [
    "b = f32[4] copy(a)",
    "b0 = bf16[4] convert(a) b = f32[4] convert(b0)",
    "b0 = f32[2,2] reshape(a) b1 = f32[2,2] transpose(b0), dimensions={1,0} b = f32[4] reshape(b1)",
    "b = f32[4] opt-barrier(a)",
    "bt = (f32[4], f32[4]) tuple(a, h) bar = (f32[4], f32[4]) opt-barrier(bt) b = f32[4] get-tuple-element(bar), index=0 "
    "hb = f32[4] get-tuple-element(bar), index=1",
  ],
)
def test_backward_looks_through_formatting_and_barriers(more: str) -> None:
  use = "h1 = f32[4] multiply(hb, g)" if "hb" in more else "h1 = f32[4] multiply(h, g)"
  assert trips(transformed(str(Layers(fetch("b", more, use))), BACKWARD)) == 4


@pytest.mark.parametrize(("start", "step"), [(0, 1), (2, 1), (0, 2), (4, -1), (-3, 3)])
def test_backward_counts_from_anywhere_by_any_step(start: int, step: int) -> None:
  assert trips(transformed(str(Layers(fetch(), start=start, step=step)), BACKWARD)) == 4


def test_backward_moves_several_collectives_at_once() -> None:
  more = "d = f32[4] reverse(a), dimensions={0} e = f32[16] all-gather(d), replica_groups={{0,1,2,3}}, dimensions={0} "
  more += "e4 = f32[4] slice(e), slice={[2:6]}"
  module = transformed(str(Layers(fetch("a", more, "h0 = f32[4] multiply(h, g) h1 = f32[4] add(h0, e4)"))), BACKWARD)
  (loop,) = loops_of(module)
  assert loop.slots == 6


def test_backward_indexes_by_arithmetic_on_the_counter() -> None:
  body = fetch().replace("dynamic-slice(w, i, zero)", "dynamic-slice(w, j, zero)")
  body = "four = s32[] constant(4) j = s32[] subtract(four, i) " + body
  assert trips(transformed(str(Layers(body)), BACKWARD)) == 4


def test_backward_takes_a_slice_inside_a_fusion() -> None:
  extra = """get { v = f32[5,4] parameter(0) k = s32[] parameter(1) kz = s32[] constant(0)
  kv = f32[1,4] dynamic-slice(v, k, kz), dynamic_slice_sizes={1,4} ROOT d = f32[4] reshape(kv) }"""
  body = f"""a = f32[4] fusion(w, i), kind=kLoop, calls=get g = f32[4] all-reduce(a), {AR} h1 = f32[4] multiply(h, g)
  buf1 = f32[5,4] copy(buf)"""
  module = transformed(str(Layers(body, extra=extra)), BACKWARD)
  called = [i.attrs["calls"] for i in module.instructions() if i.opcode == "fusion"]
  assert trips(module) == 4 and len(called) == len(set(called))


@pytest.mark.parametrize(
  "layers",
  [
    Layers(fetch(), trips=1),
    Layers(fetch("h")),  # what the trip before computed
    Layers(fetch("b", "b = f32[4] multiply(a, h)")),
    Layers(
      fetch(
        "b",
        "c = f32[2,2] reshape(a) d = f32[2,2] dot(c, c), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
        "b = f32[4] reshape(d)",
      )
    ),  # work, not formatting
    Layers("late = f32[4] negate(h) " + fetch().replace(AR, AR + ", control-predecessors={late}")),
    Layers(
      fetch("b", "b0 = f32[1,4] dynamic-slice(buf, i, zero), dynamic_slice_sizes={1,4} b = f32[4] reshape(b0)").replace(
        "copy(buf)", "negate(buf)"
      )
    ),
    Layers(
      fetch(), condition="k = s32[] multiply(ci, ci) n = s32[] constant(9) ROOT lt = pred[] compare(k, n), direction=LT"
    ),
    Layers(fetch(), i1="ii = s32[] multiply(i, one) i1 = s32[] add(ii, one)"),
  ],
)
def test_backward_refuses(layers: Layers) -> None:
  transformed(str(layers), BACKWARD, changes=False)


# All directions, one after another, on generated loops.


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_generated_loops_survive_every_direction(data: st.DataObject) -> None:
  lines = ["row = f32[1,4] dynamic-slice(w, i, zero), dynamic_slice_sizes={1,4}", "a = f32[4] reshape(row)"]
  values = ["h", "a"]
  ops = [
    "v{n} = f32[4] all-reduce({x}), replica_groups={{{{0,1,2,3}}}}, to_apply=add",
    "v{n} = f32[4] collective-permute({x}), source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}",
    "v{n} = f32[4] tanh({x})",
    "v{n} = f32[4] add({x}, {y})",
    "v{n} = f32[4] reverse({x}), dimensions={{0}}",
    "v{n} = f32[4] opt-barrier({x})",
  ]
  for n in range(data.draw(st.integers(1, 6))):
    x, y = data.draw(st.sampled_from(values)), data.draw(st.sampled_from(values))
    lines.append(data.draw(st.sampled_from(ops)).format(n=n, x=x, y=y))
    values.append(f"v{n}")
  stored = data.draw(st.sampled_from(values))
  if data.draw(st.integers(0, 3)):  # most of the time a collective of its own
    lines.append(f"own = f32[4] all-reduce({stored}), {AR}")
    stored = "own"
  lines.append(f"h1 = f32[4] tanh({data.draw(st.sampled_from(values))})")
  lines.append(f"u = f32[1,4] reshape({stored})")
  lines.append("buf1 = f32[5,4] dynamic-update-slice(buf, u, i, zero)")
  everything = data.draw(st.booleans())  # fills the buffer
  start, trips = (0, 5) if everything else (data.draw(st.integers(-1, 2)), data.draw(st.integers(1, 5)))
  layers = Layers("\n  ".join(lines), trips=trips, start=start)
  directions = data.draw(st.permutations(["forward", "backward", "forward_sink"]))
  passes = [CollectivePipeliner(direction) for direction in directions]
  probe = hlo.parse(str(layers))
  changes = any([item.run(probe) for item in passes])
  transformed(str(layers), passes, changes=changes)


def test_peeled_trips_leave_the_scheduling_group() -> None:
  module = hlo.parse(str(Layers(store())))
  for instruction in module.instructions():
    if instruction.opcode in ("all-reduce", "all-gather", "reduce-scatter"):
      instruction.frontend_attributes["_scheduling_group_id"] = "1"
  assert hlo.run_passes(module, [CollectivePipeliner("forward")], verify=True).changed
  marked = [i.parent for i in module.instructions() if "_scheduling_group_id" in i.frontend_attributes]
  assert marked and all(parent is not None and not parent.is_entry for parent in marked)

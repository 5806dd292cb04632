"""Start/done pairs, combining, splitting, reduce-scatter + all-gather, and send/recv: evaluated before and after."""

from __future__ import annotations

import pytest
from collective_checks import count, transformed
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.collective_programs import ALL, COLLECTIVES, HALVES, PARTITIONS, permute, program
from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.collective_permute_to_send_recv import break_cycles

# Start/done pairs.


@pytest.mark.parametrize("name", COLLECTIVES)
def test_a_collective_becomes_a_pair_and_comes_back(name: str) -> None:
  text = program(COLLECTIVES[name])
  plain = hlo.parse(text).entry.root.opcode
  module = transformed(text, "async_collectives", tolerance=0)
  assert count(module, plain, "main") == 0 and module.entry.root.opcode.endswith("-done")
  back = transformed(text, ["async_collectives", "sync_collectives{everything=true}"], tolerance=0)
  assert back.entry.root.opcode == plain and len(back.computations) <= len(hlo.parse(text).computations)


def test_control_edges_go_to_the_start_and_leave_from_the_done() -> None:
  body = f"""early = f32[8,4] sine(y) r = f32[8,4] all-reduce(x), {ALL}, to_apply=add, control-predecessors={{early}}
  late = f32[8,4] cosine(y), control-predecessors={{r}} ROOT t = (f32[8,4], f32[8,4], f32[8,4]) tuple(r, late, early)"""
  module = transformed(program(body), "async_collectives")
  (start,) = [i for i in module.entry.instructions if i.opcode == "all-reduce-start"]
  (done,) = start.users
  assert [p.name for p in start.control_predecessors] == ["early"] and not start.control_successors
  assert [s.name for s in done.control_successors] == ["late"] and not done.control_predecessors


def test_small_collectives_stay() -> None:
  transformed(program(COLLECTIVES["all-reduce"]), "async_collectives{min_bytes=129}", changes=False)
  transformed(program(COLLECTIVES["all-reduce"]), "async_collectives{min_bytes=128}")


def test_copies_between_memories_become_pairs_others_do_not() -> None:
  body = "c = f32[8,4]{1,0} copy(x) h = f32[8,4]{1,0:S(5)} copy(c) ROOT b = f32[8,4]{1,0} copy(h)"
  module = transformed(program(body), "async_collectives")
  assert count(module, "copy-start") == 2 and count(module, "copy") == 1
  assert count(transformed(program(body), "async_collectives{all_copies=true}"), "copy-start") == 3
  transformed(program(body), "async_collectives{copies=false}", changes=False)


def scheduled(between: str) -> str:
  body = f"""st = f32[8,4] all-reduce-start(x), {ALL}, to_apply=add {between}
  r = f32[8,4] all-reduce-done(st) ROOT t = (f32[8,4], f32[8,4]) tuple(r, z)"""
  return program(body, "is_scheduled=true, replica_count=4")


def test_a_pair_with_nothing_between_becomes_one_instruction() -> None:
  module = transformed(scheduled("z = f32[8,4] bitcast(y)"), "sync_collectives")
  assert count(module, "all-reduce") == 1 and count(module, "all-reduce-start") == 0


def test_a_pair_with_work_between_stays() -> None:
  transformed(scheduled("z = f32[8,4] sine(y)"), "sync_collectives", changes=False)


def test_without_a_schedule_nobody_knows_what_overlaps() -> None:
  text = scheduled("z = f32[8,4] bitcast(y)").replace("is_scheduled=true, ", "")
  transformed(text, "sync_collectives", changes=False)


def test_a_start_with_two_dones_or_control_edges_stays() -> None:
  body = f"""st = f32[8,4] all-reduce-start(x), {ALL}, to_apply=add
  r = f32[8,4] all-reduce-done(st) q = f32[8,4] all-reduce-done(st) ROOT t = (f32[8,4], f32[8,4]) tuple(r, q)"""
  transformed(program(body, "is_scheduled=true, replica_count=4"), "sync_collectives", changes=False)
  text = scheduled("z = f32[8,4] bitcast(y), control-predecessors={st}")
  transformed(text, "sync_collectives", changes=False)


def test_pairs_inside_loops_and_branches() -> None:
  loop = f"""
  body {{ p = (s32[], f32[8,4]) parameter(0) i = s32[] get-tuple-element(p), index=0 v = f32[8,4] get-tuple-element(p), index=1
    one = s32[] constant(1) i1 = s32[] add(i, one) r = f32[8,4] all-reduce(v), {ALL}, to_apply=add
    ROOT t = (s32[], f32[8,4]) tuple(i1, r) }}
  cond {{ cp = (s32[], f32[8,4]) parameter(0) ci = s32[] get-tuple-element(cp), index=0 n = s32[] constant(3)
    ROOT lt = pred[] compare(ci, n), direction=LT }}"""
  body = "z = s32[] constant(0) init = (s32[], f32[8,4]) tuple(z, x) "
  body += "ROOT w = (s32[], f32[8,4]) while(init), condition=cond, body=body"
  module = transformed(program(body, extra=loop), "async_collectives")
  assert count(module, "all-reduce-start", "body") == 1


# Combining.


def two(a: str, b: str) -> str:
  return program(f"{a} {b} ROOT t = (f32[8,4], f32[8,4]) tuple(p, q)")


P = f"p = f32[8,4] all-reduce(x), {ALL}, to_apply=add"


def test_independent_all_reduces_become_one() -> None:
  module = transformed(two(P, f"q = f32[8,4] all-reduce(y), {ALL}, to_apply=add"), "combine_collectives", tolerance=0)
  assert count(module, "all-reduce") == 1


def test_a_combined_collective_takes_in_another() -> None:
  body = f"""{P} c = (f32[8,4], f32[8,4]) all-reduce(y, x), {ALL}, to_apply=add
  ROOT t = (f32[8,4], (f32[8,4], f32[8,4])) tuple(p, c)"""
  module = transformed(program(body), "combine_collectives", tolerance=0)
  assert count(module, "all-reduce") == 1


@pytest.mark.parametrize(
  "other",
  [
    f"q = f32[8,4] all-reduce(y), {HALVES}, to_apply=add",
    f"q = f32[8,4] all-reduce(y), {ALL}, to_apply=max",
    f"q = f32[8,4] all-reduce(p), {ALL}, to_apply=add",
    f"s = f32[8,4] sine(p) q = f32[8,4] all-reduce(s), {ALL}, to_apply=add",
    f"q = f32[8,4] all-reduce(y), {ALL}, to_apply=add, control-predecessors={{p}}",
    f"h = bf16[8,4] convert(y) g = bf16[8,4] all-reduce(h), {ALL}, to_apply=hadd q = f32[8,4] convert(g)",
  ],
)
def test_what_differs_or_depends_is_not_combined(other: str) -> None:
  transformed(two(P, other), "combine_collectives", changes=False)


def test_merges_that_would_close_a_cycle_together_are_not_both_made() -> None:
  """a1 → b1 and b2 → a2: either pair may become one, not both."""
  body = f"""a1 = f32[8,4] all-reduce(x), {ALL}, to_apply=add b1 = f32[8,4] all-reduce(a1), {ALL}, to_apply=max
  b2 = f32[8,4] all-reduce(y), {ALL}, to_apply=max a2 = f32[8,4] all-reduce(b2), {ALL}, to_apply=add
  ROOT t = (f32[8,4], f32[8,4]) tuple(b1, a2)"""
  module = transformed(program(body), "combine_collectives", tolerance=0)
  assert count(module, "all-reduce") == 3


def test_limits_of_bytes_and_count_are_kept() -> None:
  lines = [f"r{i} = f32[8,4] all-reduce(x), {ALL}, to_apply=add" for i in range(6)]
  names = ", ".join(f"r{i}" for i in range(6))
  body = " ".join(lines) + f" ROOT t = ({', '.join(['f32[8,4]'] * 6)}) tuple({names})"
  assert count(transformed(program(body), "combine_collectives{max_bytes=256}"), "all-reduce") == 3
  assert count(transformed(program(body), "combine_collectives{max_count=4}"), "all-reduce") == 2
  assert count(transformed(program(body), "combine_collectives"), "all-reduce") == 1


def test_all_gathers_and_reduce_scatters_combine_along_the_same_dimension_only() -> None:
  gather = "{n} = f32[{a},{b}] all-gather({x}), replica_groups={{}}, dimensions={{{d}}}"
  same = gather.format(n="p", a=32, b=4, x="x", d=0) + " " + gather.format(n="q", a=32, b=4, x="y", d=0)
  module = transformed(
    program(same + " ROOT t = (f32[32,4], f32[32,4]) tuple(p, q)"), "combine_collectives", tolerance=0
  )
  assert count(module, "all-gather") == 1
  other = gather.format(n="p", a=32, b=4, x="x", d=0) + " " + gather.format(n="q", a=8, b=16, x="y", d=1)
  transformed(program(other + " ROOT t = (f32[32,4], f32[8,16]) tuple(p, q)"), "combine_collectives", changes=False)
  scatter = f"""p = f32[2,4] reduce-scatter(x), {ALL}, dimensions={{0}}, to_apply=add
  q = f32[2,4] reduce-scatter(y), {ALL}, dimensions={{0}}, to_apply=add ROOT t = (f32[2,4], f32[2,4]) tuple(p, q)"""
  assert count(transformed(program(scatter), "combine_collectives", tolerance=0), "reduce-scatter") == 1


def test_a_schedule_is_left_as_it_is() -> None:
  text = two(P, f"q = f32[8,4] all-reduce(y), {ALL}, to_apply=add").replace("m,", "m, is_scheduled=true,", 1)
  transformed(text, "combine_collectives", changes=False)


def test_channels_stay_unique() -> None:
  attrs = "replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add"
  body = f"""p = f32[8,4] all-reduce(x), channel_id=1, {attrs} q = f32[8,4] all-reduce(y), channel_id=2, {attrs}
  ROOT t = (f32[8,4], f32[8,4]) tuple(p, q)"""
  module = transformed(program(body, PARTITIONS), "combine_collectives", tolerance=0)
  assert [i.attrs["channel_id"] for i in module.entry.instructions if i.opcode == "all-reduce"] == [1]


# Splitting.


@pytest.mark.parametrize("name", ["all-reduce", "all-gather", "collective-permute", "reduce-scatter"])
@pytest.mark.parametrize("limit", [64, 40])
def test_a_large_collective_is_cut(name: str, limit: int) -> None:
  module = transformed(program(COLLECTIVES[name]), f"split_collectives{{max_bytes={limit}}}", tolerance=0)
  parts = [i for i in module.entry.instructions if i.opcode == name]
  assert len(parts) == -(-128 // limit) and all(p.operands[0].shape.byte_size <= 64 for p in parts)


def test_several_operands_are_parted_first() -> None:
  module = transformed(program(COLLECTIVES["all-reduce of two"]), "split_collectives{max_bytes=128}", tolerance=0)
  assert count(module, "all-reduce") == 2 and count(module, "slice") == 0


def test_the_gathered_dimension_is_not_cut() -> None:
  body = f"z = f32[32] reshape(x) ROOT r = f32[128] all-gather(z), {ALL}, dimensions={{0}}"
  transformed(program(body), "split_collectives{max_bytes=16}", changes=False)


def test_what_is_small_or_ordered_by_control_edges_is_not_cut() -> None:
  transformed(program(COLLECTIVES["all-reduce"]), "split_collectives{max_bytes=128}", changes=False)
  body = f"s = f32[8,4] sine(y) ROOT r = f32[8,4] all-reduce(x), {ALL}, to_apply=add, control-predecessors={{s}}"
  transformed(program(body), "split_collectives{max_bytes=16}", changes=False)


def test_parts_get_channels_of_their_own() -> None:
  body = f"ROOT r = f32[8,4] all-reduce(x), channel_id=4, {ALL}, use_global_device_ids=true, to_apply=add"
  module = transformed(program(body, PARTITIONS), "split_collectives{max_bytes=32}", tolerance=0)
  channels = [i.attrs["channel_id"] for i in module.entry.instructions if i.opcode == "all-reduce"]
  assert len(channels) == len(set(channels)) == 4


# Reduce-scatter and all-gather.


@pytest.mark.parametrize(
  ("body", "header"),
  [
    (COLLECTIVES["all-reduce"], "replica_count=4"),
    (COLLECTIVES["all-reduce of two"], "replica_count=4"),
    (f"ROOT r = f32[8,4] all-reduce(x), {ALL}, to_apply=max", "replica_count=4"),
    ("ROOT r = f32[8,4] all-reduce(x), replica_groups={}, to_apply=add", "replica_count=4"),
    ("ROOT r = f32[8,4] all-reduce(x), replica_groups={{0,2},{3,1}}, to_apply=add", "replica_count=4"),
    (f"ROOT r = f32[8,4] all-reduce(x), channel_id=1, {ALL}, use_global_device_ids=true, to_apply=add", PARTITIONS),
    ("ROOT r = f32[8,4] all-reduce(x), channel_id=1, replica_groups={{0}}, to_apply=add", PARTITIONS),
    (f"z = f32[2,16] reshape(x) ROOT r = f32[2,16] all-reduce(z), {ALL}, to_apply=add", "replica_count=4"),
    (f"ROOT r = f32[8,4]{{0,1}} all-reduce(x), {ALL}, to_apply=add", "replica_count=4"),
  ],
)
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(body: str, header: str) -> None:
  module = transformed(program(body, header), "decompose_all_reduce{min_bytes=0}", tolerance=0)
  assert count(module, "all-reduce") == 0 and count(module, "reduce-scatter") == count(module, "all-gather") > 0


@pytest.mark.parametrize(
  "body",
  [
    f"z = f32[3,2] slice(x), slice={{[0:3],[0:2]}} ROOT r = f32[3,2] all-reduce(z), {ALL}, to_apply=add",  # 6 in 4 parts
    "ROOT r = f32[8,4] all-reduce(x), replica_groups={{0,1,2},{3}}, to_apply=add",  # unequal groups
    "ROOT r = f32[8,4] all-reduce(x), replica_groups={{0},{1},{2},{3}}, to_apply=add",  # nobody to share with
    f"ROOT r = f32[8,4] all-reduce(x), constrain_layout=true, {ALL}, to_apply=add",
    f"s = f32[8,4] sine(y) ROOT r = f32[8,4] all-reduce(x), {ALL}, to_apply=add, control-predecessors={{s}}",
  ],
)
def test_what_cannot_be_shared_evenly_stays(body: str) -> None:
  transformed(program(body), "decompose_all_reduce{min_bytes=0}", changes=False)


def test_small_all_reduces_stay_whole() -> None:
  transformed(program(COLLECTIVES["all-reduce"]), "decompose_all_reduce", changes=False)


# Send and receive.


@pytest.mark.parametrize(
  ("pairs", "transfers"),
  [
    ("{{0,1},{1,2},{2,3}}", 1),
    ("{{0,1},{1,2},{2,3},{3,0}}", 2),
    ("{{0,1},{1,0},{2,3},{3,2}}", 2),
    ("{{0,0},{1,2}}", 2),
    ("{{0,0},{1,1}}", 1),
    ("{{3,1}}", 1),
    ("{{0,2},{2,0},{1,3}}", 2),
  ],
)
def test_a_permute_becomes_transfers_without_cycles(pairs: str, transfers: int) -> None:
  module = transformed(permute(pairs), "collective_permute_to_send_recv", tolerance=0)
  assert count(module, "send") == count(module, "recv") == transfers
  channels = [i.attrs["channel_id"] for i in module.entry.instructions if i.opcode == "send"]
  assert len(set(channels)) == transfers


def test_scalars_can_be_sent() -> None:
  body = """z = f32[1,1] slice(x), slice={[0:1],[0:1]} e = f32[] reshape(z)
  ROOT r = f32[] collective-permute(e), channel_id=1, source_target_pairs={{0,1},{1,0}}"""
  transformed(program(body, PARTITIONS), "collective_permute_to_send_recv", tolerance=0)


def test_permutes_between_replicas_or_below_the_limit() -> None:
  module = transformed(program(COLLECTIVES["collective-permute"]), "collective_permute_to_send_recv", tolerance=0)
  assert count(module, "send") == 1 and not any(i.attrs.get("channel_id") for i in module.instructions())
  text = permute("{{0,1},{1,0}}")
  transformed(text, "collective_permute_to_send_recv{min_bytes=129}", changes=False)
  transformed(permute("{{0,1},{1,2}}"), "collective_permute_to_send_recv{cycles_only=true}", changes=False)
  transformed(text, "collective_permute_to_send_recv{cycles_only=true}", tolerance=0)


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)))
def test_broken_cycles_leave_paths(targets: list[int], silent: set[int]) -> None:
  pairs = tuple((s, t) for s, t in enumerate(targets) if s not in silent)
  paths, closing = break_cycles(pairs)
  assert sorted((*paths, *closing)) == sorted(pairs)
  for part in (paths,):
    following = dict(part)
    for start in following:
      device, steps = start, 0
      while device in following:
        device, steps = following[device], steps + 1
        assert steps <= len(part), f"{part} still holds a cycle"


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(4)), st.sets(st.integers(0, 3), max_size=3))
def test_every_permute_gives_the_same_through_messages(targets: list[int], silent: set[int]) -> None:
  pairs = ",".join(f"{{{s},{t}}}" for s, t in enumerate(targets) if s not in silent)
  transformed(permute(f"{{{pairs}}}"), "collective_permute_to_send_recv", tolerance=0)


# All of them, one after another.


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_graphs_survive_every_rewrite(data: st.DataObject) -> None:
  kinds = [
    "v{n} = f32[8,4] all-reduce({a}), replica_groups={{{{0,1,2,3}}}}, to_apply=add",
    "v{n} = f32[8,4] all-reduce({a}), replica_groups={{{{0,1}},{{2,3}}}}, to_apply=max",
    "v{n} = f32[8,4] collective-permute({a}), source_target_pairs={{{{0,1}},{{1,2}},{{2,0}}}}",
    "v{n} = f32[8,4] add({a}, {b})",
    "v{n} = f32[8,4] all-to-all({a}), replica_groups={{{{0,1,2,3}}}}, dimensions={{0}}",
  ]
  values, lines = ["x", "y"], []
  for n in range(data.draw(st.integers(2, 9))):
    choose = st.sampled_from(values)
    lines.append(data.draw(st.sampled_from(kinds)).format(n=n, a=data.draw(choose), b=data.draw(choose)))
    values.append(f"v{n}")
  body = "\n  ".join(lines) + f"\n  ROOT t = ({', '.join(['f32[8,4]'] * len(values))}) tuple({', '.join(values)})"
  passes = data.draw(
    st.permutations(
      [
        "combine_collectives",
        "split_collectives{max_bytes=64}",
        "decompose_all_reduce{min_bytes=0}",
        "async_collectives",
      ]
    )
  )
  text = program(body)
  changes = run_passes(hlo.parse(text), passes).changed
  transformed(text, passes, changes=changes, tolerance=1e-6)


def test_transfers_that_share_devices_are_ordered_and_keep_frontend_attributes() -> None:
  text = """HloModule m, num_partitions=4
ENTRY e { x = f32[4] parameter(0)
 a = f32[4] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2}}, frontend_attributes={k="v"}
 b = f32[4] collective-permute(x), channel_id=2, source_target_pairs={{2,3},{3,0}}
 ROOT c = f32[4] add(a, b) }"""
  module = hlo.parse(text)
  hlo.run_passes(module, ["collective_permute_to_send_recv"], verify=True)
  first, second = ([i for i in module.entry.instructions if i.opcode == o] for o in ("send", "recv"))
  assert hlo.Reachability(module.entry).dominates(first[0], second[1])
  assert first[0].frontend_attributes["k"] == second[0].frontend_attributes["k"] == "v"


def test_a_device_that_sends_to_itself_is_no_cycle() -> None:
  text = """HloModule m, num_partitions=2
ENTRY e { x = f32[4] parameter(0)
 ROOT a = f32[4] collective-permute(x), channel_id=1, source_target_pairs={{0,0},{1,1}} }"""
  report = hlo.run_passes(hlo.parse(text), ["collective_permute_to_send_recv{cycles_only=true}"])
  assert not report.changed


def test_both_ends_of_a_pair_are_in_the_scheduling_group() -> None:
  text = """HloModule m, replica_count=2
add { p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT r = f32[] add(p, q) }
ENTRY e { x = f32[4] parameter(0)
 a = f32[4] all-reduce(x), replica_groups={}, to_apply=add, frontend_attributes={_scheduling_group_id="3"}
 ROOT s = f32[2] reduce-scatter(a), replica_groups={}, dimensions={0}, to_apply=add,
   frontend_attributes={_scheduling_group_id="4"} }"""
  module = hlo.parse(text)
  hlo.run_passes(module, ["async_collectives"], verify=True)
  ends = [i for i in module.entry.instructions if i.opcode.endswith(("-start", "-done"))]
  assert [i.frontend_attributes.get("_scheduling_group_id") for i in ends] == ["3", "3", "4", "4"]

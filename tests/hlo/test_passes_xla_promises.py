"""What XLA promises of its passes over collectives: defaults, thresholds, what is kept and what is left alone."""

from __future__ import annotations

import re

import numpy as np
import pytest
from collective_checks import ADD, count, transformed

from tests.support.pipelined_loops import Layers, fetch, store
from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.base import HloPassError, make_pass

FOUR, PARTS = "HloModule m, replica_count=4\n", "HloModule m, num_partitions=4\n"
ALL = "replica_groups={{0,1,2,3}}"


def entry(body: str, header: str = FOUR) -> str:
  return f"{header}{ADD}ENTRY e {{ {body} }}"


def lines_of(module: hlo.Module, opcode: str) -> list[str]:
  return [line for line in module.to_text().splitlines() if re.search(rf" {opcode}\(", line)]


# Combiners.

GATHERS = f"""p = f32[8] parameter(0) q = f32[8] parameter(1) a = f32[32] all-gather(p), {ALL}, dimensions={{0}}
  b = f32[32] all-gather(q), {ALL}, dimensions={{0}} ROOT t = (f32[32], f32[32]) tuple(a, b)"""
SCATTERS = f"""p = f32[8] parameter(0) q = f32[8] parameter(1) a = f32[2] reduce-scatter(p), {ALL}, dimensions={{0}}, to_apply=add
  b = f32[2] reduce-scatter(q), {ALL}, dimensions={{0}}, to_apply=add ROOT t = (f32[2], f32[2]) tuple(a, b)"""


def test_the_threshold_of_a_combiner_counts_results() -> None:
  transformed(entry(GATHERS), "all-gather-combiner{combine_threshold_in_bytes=255}", changes=False)
  assert count(transformed(entry(GATHERS), "all-gather-combiner{combine_threshold_in_bytes=256}"), "all-gather") == 1
  transformed(entry(SCATTERS), "reduce-scatter-combiner{combine_threshold_in_bytes=15}", changes=False)
  assert (
    count(transformed(entry(SCATTERS), "reduce-scatter-combiner{combine_threshold_in_bytes=16}"), "reduce-scatter") == 1
  )


def test_all_gathers_of_different_types_are_combined_by_default() -> None:
  text = entry(GATHERS.replace("q = f32", "q = s32").replace("b = f32", "b = s32").replace("f32[32])", "s32[32])"))
  assert count(transformed(text, "all-gather-combiner"), "all-gather") == 1
  transformed(text, "all-gather-combiner{combine_different_dtypes=false}", changes=False)
  transformed(text, "combine_collectives", changes=False)


def test_a_combined_collective_keeps_what_its_members_agree_on() -> None:
  config = 'backend_config={"is_sync":true}'
  body = f"""p = f32[8] parameter(0) q = f32[9] parameter(1)
  a = f32[8] all-reduce(p), {ALL}, to_apply=add, metadata={{op_name="first"}}, {config}
  b = f32[9] all-reduce(q), {ALL}, to_apply=add, metadata={{op_name="second"}}, {config}
  ROOT t = (f32[8], f32[9]) tuple(a, b)"""
  (line,) = lines_of(transformed(entry(body), "all-reduce-combiner"), "all-reduce")
  assert '"is_sync"' in line and 'op_name="first"' in line
  transformed(entry(body.replace(f'"second"}}, {config}', '"second"}')), "all-reduce-combiner", changes=False)


# all_reduce_simplifier


@pytest.mark.parametrize("reducer", ["add", "max"])
def test_parameters_that_are_declared_equal_are_reduced_locally(reducer: str) -> None:
  body = (
    f"p = f32[8] parameter(0), parameter_replication={{true}} ROOT a = f32[8] all-reduce(p), {ALL}, to_apply={reducer}"
  )
  before, after = hlo.parse(entry(body)), hlo.parse(entry(body))
  assert run_passes(after, ["all-reduce-simplifier"], verify=True).changed and not count(after, "all-reduce")
  x = np.arange(8, dtype=np.float32)
  wanted = hlo.evaluate_devices(before, [[x]] * 4)
  for a, b in zip(wanted, hlo.evaluate_devices(after, [[x]] * 4), strict=True):
    np.testing.assert_array_equal(a, b)


def test_parameters_are_declared_leaf_by_leaf_and_for_replicas_only() -> None:
  body = f"""p = (f32[8], f32[8]) parameter(0), parameter_replication={{true,false}} x = f32[8] get-tuple-element(p), index=0
  y = f32[8] get-tuple-element(p), index=1 a = f32[8] all-reduce(x), {ALL}, to_apply=max
  b = f32[8] all-reduce(y), {ALL}, to_apply=max ROOT t = (f32[8], f32[8]) tuple(a, b)"""
  module = hlo.parse(entry(body))
  run_passes(module, ["all-reduce-simplifier"], verify=True)
  assert count(module, "all-reduce") == 1
  body = "p = f32[8] parameter(0), parameter_replication={true} ROOT a = f32[8] all-reduce(p), "
  body += "replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true, to_apply=max"
  transformed(entry(body, PARTS), "all-reduce-simplifier", changes=False)
  transformed(entry(body.replace("{true}", "{false}"), PARTS), "all-reduce-simplifier", changes=False)


def test_device_numbers_are_equal_in_groups_that_share_them() -> None:
  header = "HloModule m, replica_count=2, num_partitions=2\n"
  body = """id = u32[] partition-id() x = f32[] convert(id)
  ROOT a = f32[] all-reduce(x), replica_groups=GROUPS, channel_id=1, use_global_device_ids=true, to_apply=max"""
  for number, groups, changes in (
    ("partition-id", "{{0,2},{1,3}}", True),
    ("partition-id", "{{0,1},{2,3}}", False),
    ("replica-id", "{{0,1},{2,3}}", True),
    ("replica-id", "{{0,2},{1,3}}", False),
  ):
    text = entry(body.replace("GROUPS", groups).replace("partition-id", number), header)
    transformed(text, "all-reduce-simplifier", changes=changes)


# all_reduce_folder


def test_ids_of_replicas_with_all_their_partitions_are_not_folded() -> None:
  body = """x = f32[4] parameter(0) a = f32[4] all-reduce(x), replica_groups={{0,1}}, channel_id=1, to_apply=add
  ROOT b = f32[4] all-reduce(a), replica_groups={{0},{1}}, channel_id=2, to_apply=add"""
  transformed(entry(body, "HloModule m, replica_count=2, num_partitions=2\n"), "all-reduce-folder", changes=False)
  alone = entry(body, "HloModule m, replica_count=2\n")
  assert count(transformed(alone, "all-reduce-folder", devices=2), "all-reduce") == 1


# Decomposers.


def test_gathers_of_several_arrays_and_of_truth_values_are_decomposed() -> None:
  body = f"p = f32[8] parameter(0) q = pred[2,3] parameter(1) ROOT a = (f32[32], pred[8,3]) all-gather(p, q), {ALL}, dimensions={{0}}"
  module = transformed(entry(body), "all-gather-decomposer", tolerance=0)
  assert count(module, "all-reduce") == 2 and not count(module, "all-gather")


def test_the_wrap_around_edge_of_a_cycle_stands_alone_in_both_directions() -> None:
  for pairs, closing, rest in (
    ("{{0,1},{1,2},{2,3},{3,0}}", "{{3,0}}", "{{0,1},{1,2},{2,3}}"),
    ("{{0,3},{1,0},{2,1},{3,2}}", "{{0,3}}", "{{1,0},{2,1},{3,2}}"),
  ):
    body = f"p = f32[8] parameter(0) ROOT a = f32[8] collective-permute(p), channel_id=1, source_target_pairs={pairs}"
    lines = lines_of(
      transformed(entry(body, PARTS), "collective-permute-cycle-decomposer", tolerance=0), "collective-permute"
    )
    assert f"source_target_pairs={closing}" in lines[0] and f"source_target_pairs={rest}" in lines[1]


def loop(permutes: str, header: str = PARTS) -> str:
  state = "(u32[], f32[2])"
  return f"""{header}
c {{ s = {state} parameter(0) i = u32[] get-tuple-element(s), index=0 n = u32[] constant(3) ROOT l = pred[] compare(i, n), direction=LT }}
b {{ s = {state} parameter(0) i = u32[] get-tuple-element(s), index=0 d = f32[2] get-tuple-element(s), index=1
  one = u32[] constant(1) j = u32[] add(i, one) {permutes} ROOT t = {state} tuple(j, r) }}
ENTRY e {{ x = f32[2] parameter(0) z = u32[] constant(0) t = {state} tuple(z, x) ROOT w = {state} while(t), condition=c, body=b }}"""


def stages(module: hlo.Module) -> list[str]:
  return [i.frontend_attributes.get("_xla_send_recv_pipeline", "") for i in module.instructions() if i.opcode == "recv"]


def test_transfers_of_carried_values_are_marked_for_pipelining() -> None:
  one = "r = f32[2] collective-permute(d), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3}}"
  module = transformed(loop(one), "collective-permute-decomposer", tolerance=0)
  assert stages(module) == ["0"]
  marked = [i for i in module.instructions() if "_xla_send_recv_pipeline" in i.frontend_attributes]
  assert sorted(i.opcode for i in marked) == ["recv", "recv-done", "send", "send-done"]
  computed = f"e = f32[2] negate(d) {one.replace('(d)', '(e)')}"
  assert stages(transformed(loop(computed), "collective-permute-decomposer", tolerance=0)) == [""]
  two = """q = f32[2] collective-permute(d), channel_id=1, source_target_pairs={{3,0}}
  v = f32[2] collective-permute(d), channel_id=2, source_target_pairs={{0,1},{1,2},{2,3}} id = u32[] partition-id()
  z = u32[] constant(0) k = pred[] compare(id, z), direction=EQ kb = pred[2] broadcast(k), dimensions={} r = f32[2] select(kb, q, v)"""
  assert stages(transformed(loop(two), "collective-permute-decomposer", tolerance=0)) == ["0", "1"]
  ring = "r = f32[2] collective-permute(d), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
  assert sorted(stages(transformed(loop(ring), "collective_permute_to_send_recv", tolerance=0))) == ["0", "1"]


def test_permutes_between_replicas_become_transfers_between_replicas() -> None:
  body = "p = f32[8] parameter(0) ROOT a = f32[8] collective-permute(p), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
  module = transformed(entry(body), "collective_permute_to_send_recv", tolerance=0)
  assert count(module, "replica-id") == 1 and not count(module, "partition-id")


# reduce_scatter_creator


def test_offsets_may_come_from_an_iota_and_a_constrained_layout_stays() -> None:
  body = f"""p = f32[16,8] parameter(0) a = f32[16,8] all-reduce(p), {ALL}, to_apply=add
  table = s32[4] iota(), iota_dimension=0 id = u32[] replica-id() o = s32[1] dynamic-slice(table, id), dynamic_slice_sizes={{1}}
  k = s32[] reshape(o) n = s32[] constant(4) m = s32[] multiply(k, n) z = s32[] constant(0)
  ROOT d = f32[4,8] dynamic-slice(a, m, z), dynamic_slice_sizes={{4,8}}"""
  assert count(transformed(entry(body), "reduce-scatter-creator"), "reduce-scatter") == 1
  constrained = body.replace("to_apply=add", "to_apply=add, constrain_layout=true")
  transformed(entry(constrained), "reduce-scatter-creator", changes=False)


# sync_collectives


def test_pairs_that_overlap_only_one_another_become_plain() -> None:
  start = f"all-reduce-start(p), {ALL}, to_apply=add"
  header = "HloModule m, is_scheduled=true, replica_count=4\n"
  for order in (
    "d = f32[8] all-reduce-done(s) f = f32[8] all-reduce-done(u)",
    "f = f32[8] all-reduce-done(u) d = f32[8] all-reduce-done(s)",
  ):
    body = (
      f"p = f32[8] parameter(0) s = f32[8] {start} u = f32[8] {start} {order} ROOT t = (f32[8], f32[8]) tuple(d, f)"
    )
    assert count(transformed(entry(body, header), "convert-async-collectives-to-sync"), "all-reduce") == 2
  body = f"""p = f32[8] parameter(0) s = f32[8] {start} u = f32[8] {start} d = f32[8] all-reduce-done(s) n = f32[8] negate(d)
  f = f32[8] all-reduce-done(u) ROOT t = (f32[8], f32[8]) tuple(n, f)"""
  module = transformed(entry(body, header), "convert-async-collectives-to-sync")
  assert count(module, "all-reduce") == 1 and count(module, "all-reduce-start") == 1


# Names and options.


@pytest.mark.parametrize(
  ("text", "field", "value"),
  [
    ("collective-pipeliner{pipelining_direction=kBackward}", "direction", "backward"),
    ("collective-pipeliner{pipelining_direction=kForwardSink}", "direction", "forward_sink"),
    ("collective-pipeliner{collective_size_threshold_to_stop_sinking=64}", "max_bytes", 64),
    ("while-loop-all-reduce-code-motion", "reduce_scatter", False),
    ("while-loop-all-reduce-code-motion{enable_reduce_scatter=true}", "reduce_scatter", True),
    ("all-reduce-reassociate{reassociate_converted_ar=true}", "converts", True),
    (
      "legalize-scheduling-annotations{remove_loop_iteration_annotation_only=true}",
      "remove_loop_iteration_annotation",
      True,
    ),
    ("windowed-einsum-handler", "min_bytes", 0),
  ],
)
def test_names_and_options_of_xla(text: str, field: str, value: object) -> None:
  assert getattr(make_pass(text), field) == value


def test_results_of_another_size_and_of_several_users_stay_on_request() -> None:
  gathered = store("s0 = f32[4] slice(r), slice={[0:4]} u = f32[1,4] reshape(s0)").replace(
    "r = f32[4] all-reduce(h1), replica_groups={{0,1,2,3}}, to_apply=add",
    "r = f32[16] all-gather(h1), replica_groups={{0,1,2,3}}, dimensions={0}",
  )
  transformed(str(Layers(gathered)), "collective_pipeliner")
  transformed(str(Layers(gathered)), "collective_pipeliner{process_different_sized_ops=false}", changes=False)
  transformed(str(Layers(store())), "collective_pipeliner{process_different_sized_ops=false}")
  branching = store("a = f32[4] negate(r) b = f32[4] multiply(r, a) u = f32[1,4] reshape(b)")
  transformed(str(Layers(branching)), "collective_pipeliner")
  transformed(str(Layers(branching)), "collective_pipeliner{pipeline_use_tree=false}", changes=False)
  transformed(str(Layers(fetch())), "collective_pipeliner{direction=backward,pipeline_use_tree=false}")
  with pytest.raises(HloPassError, match="direction=kSideways"):
    make_pass("collective_pipeliner{pipelining_direction=kSideways}").run(hlo.parse(str(Layers(store()))))

"""Passes that simplify, split or rewrite collectives: what they change, what they refuse, and equal values on every device."""

from __future__ import annotations

import pytest

from tests.hlo.collective_checks import ADD, count, transformed
from tilewright import hlo


def program(body: str, header: str = "replica_count=4", parameters: str = "x = f32[4,8] parameter(0)") -> str:
  return f"HloModule m, {header}\n{ADD}ENTRY e {{ {parameters}\n {body} }}"


TWO = "x = f32[4,8] parameter(0)\n y = f32[4,8] parameter(1)"
PARTITIONS = "num_partitions=4"


def pairs(module: hlo.Module) -> list[tuple[tuple[int, int], ...]]:
  return sorted(i.attrs["source_target_pairs"] for i in module.instructions() if i.opcode == "collective-permute")


# Permutes.


@pytest.mark.parametrize("channel, header", [("channel_id=7, ", PARTITIONS), ("", "replica_count=4")])
@pytest.mark.parametrize("forward", [True, False])
def test_a_cycle_becomes_two_permutes_without(channel: str, header: str, forward: bool) -> None:
  edges = [(i, (i + 1) % 4) if forward else ((i + 1) % 4, i) for i in range(4)]
  text = ",".join(f"{{{a},{b}}}" for a, b in edges)
  permute = f"ROOT p = f32[4,8] collective-permute(x), {channel}source_target_pairs={{{text}}}, "
  trips = "{" + ",".join(f"{{{i},{i + 7}}}" for i in range(4)) + "}"
  named = f'{permute}frontend_attributes={{_xla_send_recv_validation="{trips}",a="b"}}, metadata={{op_name="q"}}'
  module = transformed(program(named, header), "collective-permute-cycle-decomposer", tolerance=0)
  found = [i for i in module.instructions() if i.opcode == "collective-permute"]
  assert sorted(len(i.attrs["source_target_pairs"]) for i in found) == [1, 3]
  assert sorted(p for i in found for p in i.attrs["source_target_pairs"]) == sorted(edges)
  assert all(i.frontend_attributes["a"] == "b" and i.metadata and i.metadata.op_name == "q" for i in found)
  for i in found:
    valid = [f"{{{edges.index(p)},{edges.index(p) + 7}}}" for p in i.attrs["source_target_pairs"]]
    assert i.frontend_attributes["_xla_send_recv_validation"] == "{" + ",".join(valid) + "}"
  channels = [i.attrs.get("channel_id") for i in found]
  assert len(set(channels)) == 2 if channel else not any(channels)


@pytest.mark.parametrize("edges", ["{0,1},{1,2},{2,3}", "{0,0},{1,2}"])
def test_permutes_without_cycles_stay_whole(edges: str) -> None:
  body = f"ROOT p = f32[4,8] collective-permute(x), source_target_pairs={{{edges}}}"
  transformed(program(body), "collective_permute_cycle_decomposer", changes=False)


def test_small_permutes_stay_whole() -> None:
  body = "ROOT p = f32[4,8] collective-permute(x), source_target_pairs={{0,1},{1,0}}"
  transformed(program(body), "collective_permute_cycle_decomposer{threshold_in_bytes=129}", changes=False)
  transformed(program(body), "collective_permute_cycle_decomposer{threshold_in_bytes=128}")


@pytest.mark.parametrize(
  "condition",
  [
    "c = pred[] compare(n, zero), direction=EQ\n w = pred[4,8] broadcast(c), dimensions={}",
    "m = u32[4,8] broadcast(n), dimensions={}\n k = u32[4,8] broadcast(zero), dimensions={}\n"
    " w = pred[4,8] compare(m, k), direction=EQ",
  ],
)
@pytest.mark.parametrize("edges, kept", [("{0,1}", "x"), ("{1,2},{2,3},{3,0}", "y"), ("{0,1},{1,2}", None)])
def test_a_select_that_all_sources_decide_alike_is_folded(condition: str, edges: str, kept: str | None) -> None:
  body = (
    f"n = u32[] partition-id()\n zero = u32[] constant(0)\n {condition}\n s = f32[4,8] select(w, x, y)\n"
    f" ROOT p = f32[4,8] collective-permute(s), channel_id=1, source_target_pairs={{{edges}}}"
  )
  changes = kept is not None
  module = transformed(program(body, PARTITIONS, TWO), "collective_select_folder", changes=changes, tolerance=0)
  if changes:
    assert module.entry.root.operands[0].name == kept and count(module, "select") == 0


def test_a_select_by_data_is_not_folded() -> None:
  body = (
    "w = pred[4,8] compare(x, y), direction=LT\n s = f32[4,8] select(w, x, y)\n"
    " ROOT p = f32[4,8] collective-permute(s), source_target_pairs={{0,1}}"
  )
  transformed(program(body, parameters=TWO), "collective_select_folder", changes=False)


# All-gathers.


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("places", ["{1}", "{0,2}", "{}"])
def test_gathering_comes_before_broadcasting(axis: int, places: str) -> None:
  source = {"{1}": "f32[4]", "{0,2}": "f32[2,3]", "{}": "f32[]"}[places]
  dims = [2, 4, 3]
  dims[axis] *= 2
  shape = ",".join(map(str, dims))
  body = (
    f"b = f32[2,4,3] broadcast(x), dimensions={places}\n"
    f" ROOT g = f32[{shape}] all-gather(b), replica_groups={{{{0,1}},{{3,2}}}}, dimensions={{{axis}}}"
  )
  text = program(body, parameters=f"x = {source} parameter(0)")
  module = transformed(text, "all-gather-broadcast-reorder", tolerance=0)
  (gather,) = (i for i in module.instructions() if i.opcode == "all-gather")
  assert gather.shape.num_elements <= 2 * gather.operands[0].shape.num_elements < 24


def test_a_broadcast_that_repeats_nothing_stays() -> None:
  body = (
    "b = f32[1,4,8] broadcast(x), dimensions={1,2}\n"
    " ROOT g = f32[1,16,8] all-gather(b), replica_groups={{0,1,2,3}}, dimensions={1}"
  )
  transformed(program(body), "all_gather_broadcast_reorder", changes=False)


OWN = "n = u32[] partition-id()\n four = u32[] constant(4)\n at = u32[] multiply(n, four)\n z = u32[] constant(0)\n"
TABLE = (
  "n = u32[] partition-id()\n t = s32[4] constant({4,0,12,8})\n p = s32[1] dynamic-slice(t, n), dynamic_slice_sizes={1}\n"
  " at = s32[] reshape(p)\n z = s32[] constant(0)\n"
)
GATHER = (
  "g = f32[16,8] all-gather(x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true\n"
)
CUT = "ROOT y = f32[4,8] dynamic-slice(g, at, z), dynamic_slice_sizes={4,8}"


def test_the_own_part_of_a_gathered_array_is_the_operand() -> None:
  module = transformed(program(OWN + GATHER + CUT, PARTITIONS), "all_gather_dynamic_slice_simplifier", tolerance=0)
  assert module.entry.root.opcode == "parameter" and len(module.entry.instructions) == 1
  shaped = "r = f32[16,2,4] reshape(g)\n ROOT y = f32[4,2,4] dynamic-slice(r, at, z, z), dynamic_slice_sizes={4,2,4}"
  module = transformed(program(OWN + GATHER + shaped, PARTITIONS), "all_gather_dynamic_slice_simplifier", tolerance=0)
  assert count(module, "all-gather") == 0


def test_the_part_of_another_member_comes_by_a_permute() -> None:
  text = program(TABLE + GATHER + CUT, PARTITIONS)
  transformed(text, "all_gather_dynamic_slice_simplifier", changes=False)
  module = transformed(text, "all_gather_dynamic_slice_permuted_offset_simplifier", tolerance=0)
  assert count(module, "all-gather") == 0 and pairs(module) == [((0, 1), (1, 0), (2, 3), (3, 2))]


@pytest.mark.parametrize(
  "old, new",
  [
    ("constant({4,0,12,8})", "constant({4,2,12,8})"),  # no whole part
    ("constant({4,0,12,8})", "constant({4,4,12,8})"),  # one part kept twice
    ("dynamic_slice_sizes={4,8}", "dynamic_slice_sizes={4,4}"),
  ],
)
def test_other_slices_of_gathered_arrays_stay(old: str, new: str) -> None:
  cut = CUT.replace("f32[4,8]", "f32[4,4]") if "4,4}" in new else CUT
  text = program((TABLE + GATHER + cut).replace(old, new), PARTITIONS)
  names = ["all_gather_dynamic_slice_simplifier", "all_gather_dynamic_slice_permuted_offset_simplifier"]
  transformed(text, names, changes=False)


def test_a_gathered_array_with_other_readers_stays_unless_allowed() -> None:
  more = GATHER + CUT.replace("ROOT ", "") + "\n ROOT o = (f32[4,8], f32[16,8]) tuple(y, g)"
  text = program(OWN + more, PARTITIONS)
  transformed(text, "all_gather_dynamic_slice_simplifier", changes=False)
  transformed(text, "all_gather_dynamic_slice_simplifier{allow_multiple_users=true}", tolerance=0)


@pytest.mark.parametrize("operation, result", [("add(a, b)", "f32"), ("compare(a, b), direction=LT", "pred")])
def test_arithmetic_comes_before_gathering(operation: str, result: str) -> None:
  groups = "replica_groups={{0,1},{2,3}}, dimensions={1}"
  body = f"a = f32[4,16] all-gather(x), {groups}\n b = f32[4,16] all-gather(y), {groups}\n ROOT r = {result}[4,16] {operation}"
  module = transformed(program(body, parameters=TWO), "all_gather_optimizer", tolerance=0)
  assert count(module, "all-gather") == 1
  transformed(
    program(body.replace("dimensions={1}", "dimensions={0}").replace("4,16]", "8,8]"), parameters=TWO),
    "all_gather_optimizer",
  )
  other = program(
    body.replace("gather(y), replica_groups={{0,1},{2,3}}", "gather(y), replica_groups={{0,2},{1,3}}"), parameters=TWO
  )
  transformed(other, "all_gather_optimizer", changes=False)


# All-reduces and reduce-scatters.


def test_an_all_reduce_of_what_is_equal_everywhere_is_local() -> None:
  body = (
    "a = f32[4,8] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add\n t = f32[4,8] tanh(a)\n"
    " b = f32[4,8] all-reduce(t), replica_groups={{0,1},{2,3}}, to_apply=add\n"
    " ROOT c = f32[4,8] all-reduce(b), replica_groups={{0,2},{1,3}}, to_apply=max"
  )
  module = transformed(program(body), "all-reduce-simp")
  assert count(module, "all-reduce") == 1 and count(module, "multiply") == 1


def test_an_all_reduce_of_what_is_equal_in_smaller_groups_only_stays() -> None:
  body = (
    "a = f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add\n"
    " ROOT b = f32[4,8] all-reduce(a), replica_groups={{0,1,2,3}}, to_apply=add"
  )
  transformed(program(body), "all_reduce_simplifier", changes=False)


@pytest.mark.parametrize("opcode", ["all-reduce", "reduce-scatter", "all-gather"])
def test_a_collective_of_single_devices_is_its_operand(opcode: str) -> None:
  attributes = {
    "all-reduce": "to_apply=add",
    "reduce-scatter": "to_apply=add, dimensions={0}",
    "all-gather": "dimensions={0}",
  }
  groups = "replica_groups={{0},{1},{2},{3}}"
  module = transformed(
    program(f"ROOT a = f32[4,8] {opcode}(x), {groups}, {attributes[opcode]}"), "all_reduce_simplifier"
  )
  assert module.entry.root.opcode == "parameter"


def test_sums_that_would_round_differently_stay_on_request() -> None:
  body = "c = f32[4] constant({0.1,0.2,0.3,0.4})\n ROOT a = f32[4] all-reduce(c), to_apply=add"
  transformed(program(body, "replica_count=3", ""), "all_reduce_simplifier{exact=true}", changes=False, devices=3)
  transformed(program(body, "replica_count=3", ""), "all_reduce_simplifier", devices=3)
  transformed(program(body, "replica_count=4", ""), "all_reduce_simplifier{exact=true}", tolerance=0)


def test_all_reduces_over_crossing_groups_are_one() -> None:
  body = (
    "a = f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3},{4,5},{6,7}}, to_apply=add\n"
    " ROOT b = f32[4,8] all-reduce(a), replica_groups={{0,2},{1,3},{4,6},{5,7}}, to_apply=add"
  )
  module = transformed(program(body, "replica_count=8"), "all_reduce_folder", devices=8)
  (folded,) = (i for i in module.instructions() if i.opcode == "all-reduce")
  assert folded.attrs["replica_groups"].groups() == ((0, 1, 2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize(
  "groups, reducer",
  [("{{0,1},{2,3}}", "add"), ("{{0,2},{1,3}}", "max"), ("{{0,1,2,3}}", "add")],
)
def test_all_reduces_over_other_groups_stay_two(groups: str, reducer: str) -> None:
  body = (
    "a = f32[4,8] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add\n"
    f" ROOT b = f32[4,8] all-reduce(a), replica_groups={groups}, to_apply={reducer}"
  )
  transformed(program(body), "all_reduce_folder", changes=False)


def test_sums_of_reduce_scatters_are_reduce_scatters_of_sums() -> None:
  attributes = "replica_groups={{0,1,2,3}}, dimensions={0}, to_apply"
  body = (
    f"a = f32[1,8] reduce-scatter(x), {attributes}=add\n b = f32[1,8] reduce-scatter(y), {attributes}=add\n"
    " ROOT s = f32[1,8] add(a, b)"
  )
  module = transformed(program(body, parameters=TWO), "reduce_scatter_reassociate")
  assert count(module, "reduce-scatter") == 1
  transformed(program(body.replace("=add", "=max"), parameters=TWO), "reduce_scatter_reassociate", changes=False)


@pytest.mark.parametrize("step", ["pad", "dynamic-slice"])
def test_reassociation_looks_through_equal_pads_and_dynamic_slices(step: str) -> None:
  n = "n = u32[] replica-id()\n z = u32[] constant(0)\n o = f32[] constant(0)\n"
  line = {
    "pad": "f32[6,8] pad({}, o), padding=1_1x0_0",
    "dynamic-slice": "f32[1,8] dynamic-slice({}, n, z), dynamic_slice_sizes={{1,8}}",
  }
  shape = "f32[6,8]" if step == "pad" else "f32[1,8]"
  body = (
    f"{n} a = f32[4,8] all-reduce(x), to_apply=add\n b = f32[4,8] all-reduce(y), to_apply=add\n"
    f" c = {line[step].format('a')}\n d = {line[step].format('b')}\n ROOT r = {shape} add(c, d)"
  )
  module = transformed(program(body, parameters=TWO), "all_reduce_reassociate")
  assert count(module, "all-reduce") == 1


def test_reassociation_refuses_pads_that_the_sum_would_change() -> None:
  body = (
    "o = f32[] constant(1)\n a = f32[4,8] all-reduce(x), to_apply=add\n b = f32[4,8] all-reduce(y), to_apply=add\n"
    " c = f32[6,8] pad(a, o), padding=1_1x0_0\n d = f32[6,8] pad(b, o), padding=1_1x0_0\n ROOT r = f32[6,8] add(c, d)"
  )
  transformed(program(body, parameters=TWO), "all_reduce_reassociate", changes=False)


def test_all_reduces_of_several_arrays_are_laid_out_as_one() -> None:
  body = "ROOT a = (f32[4,8], f32[3]) all-reduce(x, y), to_apply=add"
  text = program(body, parameters="x = f32[4,8] parameter(0)\n y = f32[3] parameter(1)")
  module = transformed(text, "all_reduce_contiguous")
  (reduction,) = (i for i in module.instructions() if i.opcode == "all-reduce")
  assert reduction.shape.dimensions == (35,)


def test_narrow_all_reduces_run_in_a_wider_type() -> None:
  parameters = "x = bf16[4,8] parameter(0)\n y = s16[8] parameter(1)"
  header = "w { wa = s16[] parameter(0)\n wb = s16[] parameter(1)\n ROOT wr = s16[] add(wa, wb) }\n"
  text = (
    f"HloModule m, replica_count=4\n{ADD}{header}ENTRY e {{ {parameters}\n"
    " a = bf16[4,8] all-reduce(x), to_apply=hadd\n b = s16[2] reduce-scatter(y), dimensions={0}, to_apply=w\n"
    " ROOT t = (bf16[4,8], s16[2]) tuple(a, b) }"
  )
  module = transformed(text, "all_reduce_promotion", tolerance=0.02)
  types = {i.opcode: i.shape.element_type for i in module.instructions()}
  assert (types["all-reduce"], types["reduce-scatter"]) == ("f32", "s32")


@pytest.mark.parametrize("several", [False, True])
def test_an_all_reduce_across_hosts_leaves_them_with_a_part_only(several: bool) -> None:
  body = (
    "ROOT a = (f32[4,8], f32[6]) all-reduce(x, y), to_apply=add"
    if several
    else "ROOT a = f32[4,8] all-reduce(x), to_apply=add"
  )
  text = program(body, parameters="x = f32[4,8] parameter(0)\n y = f32[6] parameter(1)")
  module = transformed(text, "all_reduce_blueconnect{num_devices_per_host=2}")
  groups = {i.opcode: i.attrs["replica_groups"].groups() for i in module.instructions() if "replica_groups" in i.attrs}
  assert groups == {
    "reduce-scatter": ((0, 1), (2, 3)),
    "all-reduce": ((0, 2), (1, 3)),
    "all-gather": ((0, 1), (2, 3)),
  }
  transformed(text, "all_reduce_blueconnect{num_devices_per_host=4}", changes=False)
  transformed(text, "all_reduce_blueconnect{num_devices_per_host=3}", changes=False)


# Collectives written with others.


@pytest.mark.parametrize(
  "attributes, header",
  [
    ("replica_groups={{1,0},{2,3}}", "replica_count=4"),
    ("channel_id=1, replica_groups={{1,0},{2,3}}, use_global_device_ids=true", PARTITIONS),
    ("channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true", "replica_count=2, num_partitions=2"),
    ("replica_groups={{0,1}}", "replica_count=2, num_partitions=2"),
  ],
)
@pytest.mark.parametrize("opcode", ["reduce-scatter", "all-gather"])
def test_scattering_and_gathering_by_all_reduces(opcode: str, attributes: str, header: str) -> None:
  shape, more = ("f32[4,4]", ", to_apply=add") if opcode == "reduce-scatter" else ("f32[4,16]", "")
  body = f"ROOT a = {shape} {opcode}(x), {attributes}, dimensions={{1}}{more}"
  module = transformed(program(body, header), opcode.replace("-", "_") + "_decomposer")
  assert count(module, opcode) == 0 and count(module, "all-reduce") == 1


@pytest.mark.parametrize("rank", [0, 4])
def test_an_all_to_all_of_an_array_is_one_of_pieces(rank: int) -> None:
  body = "ROOT a = f32[4,8] all-to-all(x), replica_groups={{1,0},{2,3}}, dimensions={1}"
  module = transformed(program(body), f"all_to_all_decomposer{{min_array_rank={rank}}}", tolerance=0)
  (exchange,) = (i for i in module.instructions() if i.opcode == "all-to-all")
  assert len(exchange.operands) == 2 and exchange.operands[0].shape.rank == (rank or 2)


# Conversions around what only moves elements.

QUARTER = "q = f32[] constant(0.25)\n w = f32[16,8] broadcast(q), dimensions={}\n l = f32[] constant(-1)\n h = f32[] constant(1)\n"


@pytest.mark.parametrize(
  "steps",
  [
    "ROOT r = bf16[16,8] convert(g)",
    "d = f32[16,8] multiply(g, w)\n ROOT r = f8e4m3fn[16,8] convert(d)",
    "d = f32[16,8] divide(g, w)\n c = f32[16,8] clamp(l, d, h)\n ROOT r = f8e5m2[16,8] convert(c)",
  ],
)
def test_conversions_to_narrower_types_come_before_gathering(steps: str) -> None:
  body = QUARTER + "g = f32[16,8] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={0}\n" + steps
  module = transformed(program(body), "collective_quantizer", tolerance=0)
  (gather,) = (i for i in module.instructions() if i.opcode == "all-gather")
  assert gather.shape.element_type != "f32" and gather.is_root


@pytest.mark.parametrize(
  "steps",
  [
    "ROOT r = f64[16,8] convert(g)",
    "c = bf16[16,8] convert(g)\n ROOT r = (f32[16,8], bf16[16,8]) tuple(g, c)",
    "i = u32[] replica-id()\n f = f32[] convert(i)\n w = f32[16,8] broadcast(f), dimensions={}\n d = f32[16,8] multiply(g, w)\n"
    " ROOT r = bf16[16,8] convert(d)",  # another factor on every device
  ],
)
def test_conversions_that_save_nothing_or_differ_between_devices_stay(steps: str) -> None:
  body = "g = f32[16,8] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={0}\n" + steps
  transformed(program(body), "collective_quantizer", changes=False)


@pytest.mark.parametrize(
  "collective",
  [
    "all-gather(c), replica_groups={{0,1}}, dimensions={1}",
    "all-to-all(c), replica_groups={{0,1,2,3}}, dimensions={0}",
    "collective-permute(c), source_target_pairs={{0,1},{1,2}}",
  ],
)
def test_conversions_to_wider_types_come_after_moving(collective: str) -> None:
  shape = "[4,16]" if "gather" in collective else "[4,8]"
  header = "replica_count=2" if "gather" in collective else "replica_count=4"
  body = f"c = f32[4,8] convert(x)\n ROOT r = f32{shape} {collective}"
  text = program(body, header, "x = bf16[4,8] parameter(0)")
  module = transformed(text, "collective-quantizer", devices=int(header[-1]), tolerance=0)
  assert module.entry.root.opcode == "convert" and module.entry.root.operands[0].shape.element_type == "bf16"


def test_what_a_permute_leaves_zero_is_not_computed_with() -> None:
  body = (
    "p = f32[4,8] collective-permute(x), source_target_pairs={{0,1}}\n q = f32[] constant(1)\n"
    " w = f32[4,8] broadcast(q), dimensions={}\n a = f32[4,8] add(p, w)\n ROOT r = bf16[4,8] convert(a)"
  )
  transformed(program(body), "collective_quantizer", changes=False)


def test_the_decomposer_of_xlas_name_leaves_cycles_and_pairs_are_made_of_chosen_collectives() -> None:
  body = (
    "a = f32[4,8] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}\n"
    " ROOT b = f32[4,8] collective-permute(a), channel_id=2, source_target_pairs={{0,1},{1,2}}"
  )
  module = transformed(program(body, PARTITIONS), "collective-permute-decomposer", tolerance=0)
  assert count(module, "send") == count(module, "collective-permute") == 1
  both = body.replace("ROOT b", "b") + "\n ROOT g = f32[4,8] all-reduce(b), to_apply=add"
  module = transformed(program(both, PARTITIONS), "async_collectives{opcodes=all-reduce|all-gather}")
  assert count(module, "all-reduce-start") == 1 and count(module, "collective-permute") == 2


# Modules read from protos, which do not hold the counts of devices.


@pytest.mark.parametrize(
  "body, name",
  [
    ("ROOT a = f32[4,8] all-reduce(x), channel_id=1, replica_groups={{0}}, to_apply=add", "all_reduce_simplifier"),
    ("ROOT a = f32[4,8] all-reduce(x), replica_groups={}, to_apply=add", "all_reduce_simplifier"),
    ("ROOT a = f32[4,8] all-reduce(x), channel_id=1, replica_groups={{0}}, to_apply=add", "algebraic_simplifier"),
    ("ROOT a = f32[4,8] all-reduce(x), replica_groups={}, to_apply=add", "algebraic_simplifier"),
    ("ROOT a = f32[4,8] all-to-all(x), channel_id=1, dimensions={1}", "all_to_all_decomposer"),
    (OWN + GATHER + CUT, "all_gather_dynamic_slice_simplifier"),
    (
      "n = u32[] partition-id()\n z = u32[] constant(0)\n c = pred[] compare(n, z), direction=EQ\n m = f32[4,8] negate(x)\n"
      " w = pred[4,8] broadcast(c), dimensions={}\n s = f32[4,8] select(w, x, m)\n"
      " ROOT p = f32[4,8] collective-permute(s), channel_id=1, source_target_pairs={{0,1},{1,2}}",
      "collective_select_folder",
    ),
    (
      "at = u32[] partition-id()\n z = u32[] constant(0)\n r = f32[4,8] all-reduce(x), channel_id=1,"
      " replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add\n"
      " ROOT y = f32[1,8] dynamic-slice(r, at, z), dynamic_slice_sizes={1,8}",
      "reduce_scatter_creator",
    ),
  ],
)
def test_nothing_is_concluded_from_counts_that_a_proto_does_not_hold(body: str, name: str) -> None:
  module = hlo.from_proto(hlo.parse(program(body, PARTITIONS)).to_proto())
  assert not hlo.make_pass(name).run(module)

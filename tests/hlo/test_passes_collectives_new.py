"""Passes that make reduce-scatters, split and join all-reduces, combine collectives of all kinds, and place their buffers."""

from __future__ import annotations

import pytest
from collective_checks import ADD, count, transformed

from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.base import HloPassError

FOUR = "replica_groups={{0,1,2,3}}"


def program(body: str, header: str = "replica_count=4", parameters: str = "x = f32[8,4] parameter(0)") -> str:
  return f"HloModule m, {header}\n{ADD}\nENTRY main {{\n  {parameters}\n  {body}\n}}"


# reduce_scatter_creator

OFFSETS = [
  "id = u32[] replica-id() two = u32[] constant(2) at = u32[] multiply(id, two) z = u32[] constant(0)",
  "id = u32[] replica-id() t = u32[4] constant({0,2,4,6}) e = u32[1] dynamic-slice(t, id), dynamic_slice_sizes={1} "
  "at = u32[] reshape(e) z = u32[] constant(0)",
  "id = u32[] replica-id() i = s32[] convert(id) two = s32[] constant(2) m = s32[] multiply(i, two) hi = s32[] constant(6) "
  "z = s32[] constant(0) at = s32[] clamp(z, m, hi)",
]


@pytest.mark.parametrize("offset", OFFSETS)
def test_an_all_reduce_of_which_devices_keep_parts_is_a_reduce_scatter(offset: str) -> None:
  body = f"r = f32[8,4] all-reduce(x), {FOUR}, to_apply=add {offset} ROOT y = f32[2,4] dynamic-slice(r, at, z), dynamic_slice_sizes={{2,4}}"
  module = transformed(program(body), "reduce_scatter_creator")
  assert count(module, "reduce-scatter") == 1 and not count(module, "all-reduce") and not count(module, "dynamic-slice")


def test_reduce_scatter_below_a_reshape_and_between_partitions() -> None:
  body = """r = f32[8,4] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add
  f = f32[32] reshape(r) id = u32[] partition-id() two = u32[] constant(2) m = u32[] remainder(id, two)
  n = u32[] constant(16) at = u32[] multiply(m, n) ROOT y = f32[16] dynamic-slice(f, at), dynamic_slice_sizes={16}"""
  module = transformed(program(body, "num_partitions=4"), "reduce_scatter_creator")
  (made,) = [i for i in module.instructions() if i.opcode == "reduce-scatter"]
  assert made.attrs["dimensions"] == (0,) and made.attrs["channel_id"] == 1


@pytest.mark.parametrize(
  "change",
  [
    ("multiply(id, two)", "subtract(two, id)"),  # not part k for member k
    ("{{0,1,2,3}}", "{{1,0,2,3}}"),
    ("ROOT y", "n = f32[8,4] negate(r) ROOT y"),  # another user
    ("u32[] constant(2)", "u32[] constant(1)"),
    ("replica-id()", "parameter(1)"),
  ],
)
def test_what_is_no_reduce_scatter_stays(change: tuple[str, str]) -> None:
  body = f"r = f32[8,4] all-reduce(x), {FOUR}, to_apply=add {OFFSETS[0]} "
  body += "ROOT y = f32[2,4] dynamic-slice(r, at, z), dynamic_slice_sizes={2,4}"
  assert change[0] in body
  transformed(program(body.replace(*change)), "reduce_scatter_creator", changes=False)


# all_reduce_splitter

SPLIT = """r = f32[8,4] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add id = u32[] replica-id() two = u32[] constant(2)
  m = u32[] remainder(id, two) four = u32[] constant(4) at = u32[] multiply(m, four) z = u32[] constant(0)
  y = f32[4,4] dynamic-slice(r, at, z), dynamic_slice_sizes={4,4}
  other = f32[8,4] all-reduce(x), replica_groups={{0,2},{1,3}}, to_apply=add ROOT t = (f32[4,4], f32[8,4]) tuple(y, other)"""


def test_an_all_reduce_is_split_where_its_slice_allows() -> None:
  module = transformed(program(SPLIT), ["all_reduce_splitter", "reduce_scatter_creator"])
  assert count(module, "reduce-scatter") == 1 and count(module, "all-reduce") == 2
  moved = [i for i in module.instructions() if i.opcode == "all-reduce" and i.operands[0].opcode == "reduce-scatter"]
  assert len(moved) == 1 and moved[0].shape.dimensions == (4, 4)
  transformed(program(SPLIT.replace("{0,2},{1,3}", "{0,1},{2,3}")), "all_reduce_splitter", changes=False)
  transformed(program(SPLIT.replace("{0,2},{1,3}", "{0,1},{2,3}")), "all_reduce_splitter{only_known_groups=false}")


# all_reduce_reassociate

TWO = "x = f32[8,4] parameter(0) y = f32[8,4] parameter(1) w = f32[8,4] parameter(2)"


def test_sums_of_all_reduces_are_all_reduces_of_sums() -> None:
  body = f"""p = f32[8,4] all-reduce(x), {FOUR}, to_apply=add q = f32[8,4] all-reduce(y), {FOUR}, to_apply=add
  s = f32[8,4] add(p, q) u = f32[8,4] all-reduce(w), {FOUR}, to_apply=add ROOT t = f32[8,4] add(s, u)"""
  module = transformed(program(body, parameters=TWO), "all_reduce_reassociate")
  assert count(module, "all-reduce") == 1
  most = body.replace("to_apply=add", "to_apply=max").replace("add(", "maximum(")
  assert (
    count(transformed(program(most, parameters=TWO), "all_reduce_reassociate{exact=true}", tolerance=0), "all-reduce")
    == 1
  )
  transformed(program(body, parameters=TWO), "all_reduce_reassociate{exact=true}", changes=False)


def test_reassociation_looks_through_equal_formatting() -> None:
  body = f"""p = f32[8,4] all-reduce(x), {FOUR}, to_apply=add q = f32[8,4] all-reduce(y), {FOUR}, to_apply=add
  pt = f32[4,8] transpose(p), dimensions={{1,0}} qt = f32[4,8] transpose(q), dimensions={{1,0}}
  pr = f32[32] reshape(pt) qr = f32[32] reshape(qt) ROOT t = f32[32] add(pr, qr)"""
  assert count(transformed(program(body, parameters=TWO), "all_reduce_reassociate"), "all-reduce") == 1
  wide = """p = bf16[8,4] all-reduce(hx), replica_groups={{0,1,2,3}}, to_apply=hadd
  q = bf16[8,4] all-reduce(hy), replica_groups={{0,1,2,3}}, to_apply=hadd pc = f32[8,4] convert(p) qc = f32[8,4] convert(q)
  ROOT t = f32[8,4] add(pc, qc)"""
  parameters = "hx = bf16[8,4] parameter(0) hy = bf16[8,4] parameter(1)"
  converted = "all-reduce-reassociate{reassociate_converted_ar=true}"
  module = transformed(program(wide, parameters=parameters), converted, tolerance=3e-2)
  assert count(module, "all-reduce") == 1
  transformed(program(wide, parameters=parameters), "all_reduce_reassociate", changes=False)


@pytest.mark.parametrize(
  "other",
  [
    "q = f32[8,4] all-reduce(y), replica_groups={{0,1},{2,3}}, to_apply=add",
    f"q = f32[8,4] all-reduce(y), {FOUR}, to_apply=max",
    f"q = f32[8,4] all-reduce(y), {FOUR}, to_apply=add n = f32[8,4] negate(q)",
  ],
)
def test_all_reduces_that_differ_stay_apart(other: str) -> None:
  body = f"p = f32[8,4] all-reduce(x), {FOUR}, to_apply=add {other} ROOT t = f32[8,4] add(p, q)"
  transformed(program(body, parameters=TWO), "all_reduce_reassociate", changes=False)


# Combiners


@pytest.mark.parametrize("name", ["combine_collectives", "collective_permute_combiner"])
def test_permutes_of_the_same_pairs_are_combined(name: str) -> None:
  pairs = "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
  body = f"""p = f32[8,4] collective-permute(x), {pairs} q = f32[8,4] collective-permute(y), {pairs}
  o = f32[8,4] collective-permute(w), source_target_pairs={{{{0,3}},{{3,0}}}}
  ROOT t = (f32[8,4], f32[8,4], f32[8,4]) tuple(p, q, o)"""
  assert count(transformed(program(body, parameters=TWO), name, tolerance=0), "collective-permute") == 2


def test_all_to_alls_are_combined() -> None:
  body = f"""p = f32[8,4] all-to-all(x), {FOUR}, dimensions={{0}} q = f32[8,4] all-to-all(y), {FOUR}, dimensions={{1}}
  v = f32[32] reshape(w) o = f32[32] all-to-all(v), {FOUR}, dimensions={{0}}
  ROOT t = (f32[8,4], f32[8,4], f32[32]) tuple(p, q, o)"""
  assert count(transformed(program(body, parameters=TWO), "all_to_all_combiner", tolerance=0), "all-to-all") == 1


def test_gathers_and_scatters_along_different_dimensions_are_combined_on_request() -> None:
  body = f"""p = f32[32,4] all-gather(x), {FOUR}, dimensions={{0}} q = f32[8,16] all-gather(y), {FOUR}, dimensions={{1}}
  o = f32[32,4] all-gather(w), {FOUR}, dimensions={{0}} ROOT t = (f32[32,4], f32[8,16], f32[32,4]) tuple(p, q, o)"""
  text = program(body, parameters=TWO)
  assert count(transformed(text, "all_gather_combiner", tolerance=0), "all-gather") == 2
  assert count(transformed(text, "all_gather_combiner{combine_by_dim=false}", tolerance=0), "all-gather") == 1
  body = f"""p = f32[2,4] reduce-scatter(x), {FOUR}, dimensions={{0}}, to_apply=add
  q = f32[8,1] reduce-scatter(y), {FOUR}, dimensions={{1}}, to_apply=add ROOT t = (f32[2,4], f32[8,1]) tuple(p, q)"""
  text = program(body, parameters=TWO)
  assert count(transformed(text, "reduce_scatter_combiner{combine_by_dim=false}"), "reduce-scatter") == 1


def test_thresholds_and_kinds_of_the_combiners() -> None:
  body = f"""p = f32[8,4] all-reduce(x), {FOUR}, to_apply=add q = f32[8,4] all-reduce(y), {FOUR}, to_apply=add
  ROOT t = (f32[8,4], f32[8,4]) tuple(p, q)"""
  text = program(body, parameters=TWO)
  transformed(text, "all_gather_combiner", changes=False)
  transformed(text, "all_reduce_combiner{combine_threshold_in_bytes=255}", changes=False)
  transformed(text, "all_reduce_combiner{combine_threshold_count=1}", changes=False)
  assert count(transformed(text, "all_reduce_combiner{combine_threshold_in_bytes=256}"), "all-reduce") == 1


def test_combining_makes_no_cycle_between_kinds() -> None:
  body = f"""p = f32[8,4] all-reduce(x), {FOUR}, to_apply=add g = f32[8,4] collective-permute(p), source_target_pairs={{{{0,1}}}}
  h = f32[8,4] collective-permute(y), source_target_pairs={{{{0,1}}}} q = f32[8,4] all-reduce(h), {FOUR}, to_apply=add
  ROOT t = (f32[8,4], f32[8,4]) tuple(g, q)"""
  module = transformed(program(body, parameters=TWO), "combine_collectives", tolerance=0)
  assert count(module, "all-reduce") + count(module, "collective-permute") == 3


# Streams and memory spaces


def test_calls_with_a_stream_become_pairs() -> None:
  text = """HloModule m
f { a = f32[4] parameter(0) ROOT s = f32[4] sine(a) }
ENTRY main { x = f32[4] parameter(0) y = f32[4] call(x), to_apply=f, frontend_attributes={_xla_stream_annotation="1"}
  z = f32[4] call(x), to_apply=f ROOT t = f32[4] add(y, z) }"""
  module = transformed(text, "explicit_stream_annotation_async_wrapper", devices=1, tolerance=0)
  (start,) = [i for i in module.instructions() if i.opcode == "async-start"]
  assert start.frontend_attributes == {"_xla_stream_annotation": "1"} == start.users[0].frontend_attributes
  assert start.called_computations[0].execution_thread == "explicit"
  assert not run_passes(module, ["explicit_stream_annotation_async_wrapper"]).changed


def test_collectives_work_in_their_memory_space() -> None:
  body = f"""n = f32[8,4] negate(x) p = f32[8,4] all-reduce(n), {FOUR}, to_apply=add
  q = f32[8,4] all-reduce(y), {FOUR}, to_apply=add a = f32[8,4] add(p, q) ROOT t = (f32[8,4], f32[8,4]) tuple(a, q)"""
  module = transformed(program(body, parameters=TWO), "collective_memory_space")
  space = lambda i: i.shape.layout.memory_space
  for reduction in [i for i in module.instructions() if i.opcode == "all-reduce"]:
    assert space(reduction) == space(reduction.operands[0]) == 1
  assert module.entry.find("p").operands[0].opcode == "negate"  # made there
  assert module.entry.find("q").operands[0].opcode == "copy"  # a parameter
  assert all(space(o) == 0 for o in module.entry.root.operands)
  assert not run_passes(module, ["collective_memory_space"]).changed


def test_two_owners_of_a_buffer_are_an_error() -> None:
  body = f"n = f32[8,4]{{1,0:S(2)}} negate(x) ROOT p = f32[8,4] all-reduce(n), {FOUR}, to_apply=add"
  with pytest.raises(HloPassError, match=r"%n lies in memory space 2, and a collective wants it in 1"):
    hlo.PASSES["collective_memory_space"]().run(hlo.parse(program(body)))

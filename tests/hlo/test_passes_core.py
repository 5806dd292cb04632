"""Dead code, inlining, tuples, CSE and constant folding: every rule and every refusal. Values are compared by the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.core_passes import after, all_opcodes, folded, opcodes
from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.base import make_pass
from tilewright.hlo.passes.call_inliner import joined_name

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"


# Dead code.


def test_dead_instructions_and_computations_go():
  module = after(
    ADD
    + """ENTRY e { x = f32[4] parameter(0)
      z = f32[] constant(0)
      dead = f32[] reduce(x, z), dimensions={0}, to_apply=add
      deader = f32[] negate(dead)
      ROOT y = f32[4] negate(x) }""",
    "dce",
  )
  assert opcodes(module) == ["parameter", "negate"]
  assert [c.name for c in module.computations] == ["e"]


@pytest.mark.parametrize(
  ("attributes", "stays"),
  [
    ("", False),
    (", custom_call_has_side_effect=true", True),
    (', custom_call_has_side_effect=true, frontend_attributes={xla_allow_dce_side_effecting_op="true"}', False),
    (', custom_call_has_side_effect=true, frontend_attributes={xla_allow_dce_side_effecting_op="false"}', True),
  ],
)
def test_custom_calls_with_effects_stay_unless_they_are_marked(attributes, stays):
  text = f"""ENTRY e {{ x = f32[4] parameter(0)
    c = f32[4] custom-call(x), custom_call_target="effect"{attributes}
    ROOT y = f32[4] negate(x) }}"""
  assert ("custom-call" in opcodes(after(text, "dce"))) == stays


def test_an_effect_inside_a_call_keeps_the_call():
  text = """f { p = f32[4] parameter(0)
    ROOT c = f32[4] custom-call(p), custom_call_target="effect", custom_call_has_side_effect=true }
  ENTRY e { x = f32[4] parameter(0)
    dead = f32[4] call(x), to_apply=f
    ROOT y = f32[4] negate(x) }"""
  assert "call" in opcodes(after(text, "dce"))


def test_unused_collectives_go_on_every_device():
  text = (
    "HloModule m, replica_count=2\n"
    + ADD
    + """ENTRY e { x = f32[4] parameter(0)
    dead = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add
    ROOT y = f32[4] negate(x) }"""
  )
  assert opcodes(after(text, "dce")) == ["parameter", "negate"]


def test_infeed_and_random_state_stay():
  module = hlo.parse("""ENTRY e { x = f32[4] parameter(0)
    t = token[] after-all()
    i = (f32[2], token[]) infeed(t)
    r = u64[1] rng-get-and-update-state(), delta=1
    ROOT y = f32[4] negate(x) }""")
  assert not run_passes(module, ["dce"], strict=True).changed


def test_what_something_waits_for_stays():
  text = """ENTRY e { x = f32[4] parameter(0)
    a = f32[4] exponential(x)
    ROOT y = f32[4] negate(x), control-predecessors={a} }"""
  assert "exponential" in opcodes(after(text, "dce"))


def test_a_chain_of_dead_waits_goes():
  text = """ENTRY e { x = f32[4] parameter(0)
    a = f32[4] exponential(x)
    b = f32[4] negate(x), control-predecessors={a}
    ROOT y = f32[4] abs(x) }"""
  assert opcodes(after(text, "dce")) == ["parameter", "abs"]


FUSION = """fused {{ p = f32[4] parameter(0)
    q = f32[4] parameter(1)
    n = f32[4] negate(p)
    e = f32[4] abs(q)
    {third}
    ROOT t = (f32[4], f32[4], f32[4]) tuple(n, e, s) }}
  ENTRY e {{ x = f32[4] parameter(0)
    y = f32[4] abs(x)
    f = (f32[4], f32[4], f32[4]) fusion(x, y), kind={kind}, calls=fused
    a = f32[4] get-tuple-element(f), index=0
    {use}
    ROOT r = {root} }}"""
SINE = "s = f32[4] sine(p)"


def test_unused_outputs_and_parameters_of_a_fusion_go():
  text = FUSION.format(
    third=SINE,
    kind="kLoop",
    use="c = f32[4] get-tuple-element(f), index=2",
    root="(f32[4], f32[4]) tuple(a, c)",
  )
  module = after(text, "dce")
  fusion = module.entry.find("f")
  assert len(fusion.shape.tuple_shapes) == 2 and len(fusion.operands) == 1
  assert module.entry.find("c").attrs["index"] == 1


def test_a_fusion_with_one_output_left_is_no_tuple():
  module = after(FUSION.format(third=SINE, kind="kLoop", use="", root="f32[4] negate(a)"), "dce")
  assert module.entry.find("f").shape.is_array
  assert "get-tuple-element" not in opcodes(module)


def test_custom_fusions_keep_their_signature():
  module = after(FUSION.format(third=SINE, kind="kCustom", use="", root="f32[4] negate(a)"), "dce")
  assert len(module.entry.find("f").shape.tuple_shapes) == 3


def test_an_output_with_an_effect_stays():
  third = 's = f32[4] custom-call(p), custom_call_target="effect", custom_call_has_side_effect=true'
  module = after(FUSION.format(third=third, kind="kLoop", use="", root="f32[4] negate(a)"), "dce")
  assert len(module.entry.find("f").shape.tuple_shapes) == 2


LOOP = """body {{ s = (s32[], f32[4], f32[4], f32[4]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    a = f32[4] get-tuple-element(s), index=1
    b = f32[4] get-tuple-element(s), index=2
    c = f32[4] get-tuple-element(s), index=3
    one = s32[] constant(1)
    j = s32[] add(i, one)
    a2 = f32[4] add(a, {feeds})
    b2 = f32[4] multiply(b, b)
    {extra}
    ROOT t = (s32[], f32[4], f32[4], f32[4]) tuple(j, a2, b2, c) }}
  cond {{ s = (s32[], f32[4], f32[4], f32[4]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(3)
    ROOT l = pred[] compare(i, n), direction=LT }}
  ENTRY e {{ x = f32[4] parameter(0)
    z = s32[] constant(0)
    init = (s32[], f32[4], f32[4], f32[4]) tuple(z, x, x, x)
    w = (s32[], f32[4], f32[4], f32[4]) while(init), condition=cond, body=body{config}
    ROOT r = f32[4] get-tuple-element(w), index=1 }}"""


def loop(feeds: str = "a", extra: str = "", config: str = "") -> str:
  return LOOP.format(feeds=feeds, extra=extra, config=config)


def test_elements_of_a_loop_that_only_feed_themselves_go():
  module = after(loop(), "dce")
  assert len(module.entry.find("w").shape.tuple_shapes) == 2
  assert "multiply" not in all_opcodes(module)


def test_an_element_that_feeds_a_live_one_stays():
  module = after(loop(feeds="b"), "dce")
  assert len(module.entry.find("w").shape.tuple_shapes) == 3


def test_an_element_that_feeds_an_effect_stays():
  effect = 'k = f32[4] custom-call(b), custom_call_target="effect", custom_call_has_side_effect=true'
  assert len(after(loop(extra=effect), "dce").entry.find("w").shape.tuple_shapes) == 3


def test_what_is_known_about_a_loop_is_renumbered_or_the_loop_left_alone():
  known = ', backend_config={"known_trip_count":{"n":"3"},"known_induction_variable":{"tuple_index":"0"}}'
  module = after(loop(feeds="c", config=known), "dce")
  assert module.entry.find("w").backend_config_json["known_induction_variable"] == {"tuple_index": "0"}
  assert len(module.entry.find("w").shape.tuple_shapes) == 3
  unknown = after(loop(config=', backend_config={"something":{"tuple_index":"2"}}'), "dce")
  assert len(unknown.entry.find("w").shape.tuple_shapes) == 4


def test_a_loop_that_is_the_result_keeps_its_shape():
  text = loop().replace("ROOT r = f32[4] get-tuple-element(w), index=1", "g = f32[4] get-tuple-element(w), index=1")
  module = hlo.parse(text.replace("    w = (s32", "    ROOT w = (s32"))
  run_passes(module, ["dce"], strict=True)
  assert len(module.entry.root.shape.tuple_shapes) == 4


# Inlining.

CALLS = """HloModule m
FileNames
1 "a.py"
FunctionNames
1 "f"
2 "g"
FileLocations
1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=0 end_column=1}
2 {file_name_id=1 function_name_id=2 line=2 end_line=2 column=0 end_column=1}
StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

f { p = f32[4] parameter(0)
  n = f32[4] negate(p), metadata={op_name="/op/" stack_frame_id=2}
  ROOT a = f32[4] abs(n), metadata={op_name="jit(g)/call/abs"} }
ENTRY e { x = f32[4] parameter(0)
  c = f32[4] call(x), to_apply=f, metadata={op_name="jit(g)/call/" stack_frame_id=1}
  MORE
  ROOT y = f32[4] sine(c) }
"""


def test_a_call_becomes_what_it_calls_and_names_say_so():
  module = after(CALLS.replace("MORE", ""), "call_inliner")
  assert opcodes(module) == ["parameter", "negate", "abs", "sine"] and len(module.computations) == 1
  negate, absolute = module.entry.instructions[1:3]
  assert negate.metadata.op_name == "jit(g)/call/op"
  assert absolute.metadata.op_name == "jit(g)/call/abs"  # not twice
  frames = module.stack_frames.stack_frames
  joined = frames[negate.metadata.stack_frame_id - 1]
  assert joined.file_location_id == 2 and joined.parent_frame_id == 1
  assert absolute.metadata.stack_frame_id == 1


def test_two_calls_get_two_copies():
  text = CALLS.replace("MORE", "d = f32[4] call(c), to_apply=f").replace("sine(c)", "add(c, d)")
  module = after(text, "call_inliner")
  assert opcodes(module).count("negate") == 2 and len(module.computations) == 1


def test_names_do_not_grow_for_ever():
  assert joined_name("/a/b/", "/c/") == "a/b/c"
  assert joined_name("a", "a/b") == "a/b" and joined_name("a", "ab") == "a/ab"
  assert joined_name("", "b") == "b" and joined_name("a", "") == "a"
  assert joined_name("a" * 600, "b" * 422) == "a" * 600 + "/" + "b" * 422  # 1,023 characters
  assert joined_name("a" * 600, "b" * 423) == "b" * 423


def test_loops_and_branches_inside_are_renamed_but_reductions_are_not():
  text = (
    ADD.replace("add(a, b)", 'add(a, b), metadata={op_name="sum"}')
    + """body { q = (s32[], f32[4]) parameter(0)
      i = s32[] get-tuple-element(q), index=0
      v = f32[4] get-tuple-element(q), index=1
      one = s32[] constant(1)
      j = s32[] add(i, one), metadata={op_name="step"}
      w = f32[4] negate(v)
      ROOT t = (s32[], f32[4]) tuple(j, w) }
    cond { q = (s32[], f32[4]) parameter(0)
      i = s32[] get-tuple-element(q), index=0
      n = s32[] constant(3)
      ROOT l = pred[] compare(i, n), direction=LT, metadata={op_name="test"} }
    f { p = f32[4] parameter(0)
      z = s32[] constant(0)
      t = (s32[], f32[4]) tuple(z, p)
      w = (s32[], f32[4]) while(t), condition=cond, body=body
      g = f32[4] get-tuple-element(w), index=1
      k = f32[] constant(0)
      ROOT r = f32[] reduce(g, k), dimensions={0}, to_apply=add }
    ENTRY e { x = f32[4] parameter(0)
      c = f32[] call(x), to_apply=f, metadata={op_name="outer"}
      d = f32[] call(x), to_apply=f, metadata={op_name="second"}
      ROOT y = f32[] add(c, d) }"""
  )
  module = after(text, "call_inliner")
  names = [i.metadata.op_name for i in module.instructions() if i.metadata is not None]
  assert {"outer/step", "outer/test", "second/step", "second/test", "sum"} <= set(names)
  loops = [i for i in module.entry.instructions if i.opcode == "while"]
  assert loops[0].attrs["body"] is not loops[1].attrs["body"]


@pytest.mark.parametrize(
  "attribute",
  ['frontend_attributes={inlineable="false"}', 'frontend_attributes={_xla_compute_type="host"}', 'backend_config="x"'],
)
def test_calls_that_ask_for_something_stay(attribute):
  text = CALLS.replace("MORE", "").replace("to_apply=f,", f"to_apply=f, {attribute},")
  assert not run_passes(hlo.parse(text), ["call_inliner"], strict=True).changed


def test_composites_stay_if_asked():
  text = CALLS.replace("MORE", "").replace("to_apply=f,", "to_apply=f, is_composite=true,")
  assert not run_passes(hlo.parse(text), ["call_inliner{preserve_composites=true}"], strict=True).changed
  assert run_passes(hlo.parse(text), ["call_inliner"], strict=True).changed


def test_what_a_call_waits_for_its_parts_wait_for():
  text = CALLS.replace("MORE", "").replace(
    "c = f32[4] call(x), to_apply=f", "w = f32[4] cosine(x)\n  c = f32[4] call(x), to_apply=f, control-predecessors={w}"
  )
  module = after(text, "call_inliner")
  assert [w.opcode for w in module.entry.find("n").control_predecessors] == ["cosine"]


# Tuples.


def test_elements_are_taken_from_where_they_come():
  text = """ENTRY e { x = f32[4] parameter(0)
    n = f32[4] negate(x)
    t = (f32[4], f32[4]) tuple(x, n)
    g = f32[4] get-tuple-element(t), index=1
    ROOT y = f32[4] abs(g) }"""
  assert opcodes(after(text, "tuple_simplifier", "dce")) == ["parameter", "negate", "abs"]


PAIR = """ENTRY e {{ x = f32[4] parameter(0)
    s = (f32[4], s32[4]) custom-call(x), custom_call_target="two"
    a = f32[4] get-tuple-element(s), index={first}
    b = s32[4] get-tuple-element(s), index={second}
    t = (f32[4], s32[4]) tuple(a, b){more}
    ROOT r = f32[4] custom-call(t), custom_call_target="one" }}"""


def test_a_tuple_put_together_again_is_the_tuple():
  module = hlo.parse(PAIR.format(first=0, second=1, more=""))
  assert run_passes(module, ["tuple_simplifier", "dce"], strict=True).changed
  assert opcodes(module) == ["parameter", "custom-call", "custom-call"]


def test_a_tuple_in_another_order_or_with_waits_stays():
  swapped = "ENTRY e { p = (f32[4], f32[4]) parameter(0)\n a = f32[4] get-tuple-element(p), index=1\n"
  swapped += "b = f32[4] get-tuple-element(p), index=0\n t = (f32[4], f32[4]) tuple(a, b)\n"
  swapped += 'ROOT r = f32[4] custom-call(t), custom_call_target="one" }'
  waits = PAIR.format(first=0, second=1, more=", control-predecessors={x}")
  for text in (swapped, waits):
    assert not run_passes(hlo.parse(text), ["tuple_simplifier"], strict=True).changed


# Common subexpressions.


def test_equal_values_are_computed_once():
  text = (
    ADD
    + ADD.replace("add {", "add2 {").replace("a =", "c =").replace("(a, b)", "(c, b)")
    + """ENTRY e { x = f32[4] parameter(0)
    z = f32[] constant(0)
    z2 = f32[] constant(0)
    s = f32[] reduce(x, z), dimensions={0}, to_apply=add
    t = f32[] reduce(x, z2), dimensions={0}, to_apply=add2
    ROOT r = (f32[], f32[]) tuple(s, t) }"""
  )
  assert opcodes(after(text, "cse")) == ["parameter", "constant", "reduce", "tuple"]


@pytest.mark.parametrize(
  ("first", "second"),
  [
    ("f32[] constant(0)", "f32[] constant(-0)"),
    ("f32[4] slice(x), slice={[0:4]}", "f32[3] slice(x), slice={[0:3]}"),
    ("f32[4] negate(x)", "f32[4] abs(x)"),
    (
      'f32[4] custom-call(x), custom_call_target="effect", custom_call_has_side_effect=true',
      'f32[4] custom-call(x), custom_call_target="effect", custom_call_has_side_effect=true',
    ),
    (
      'f32[4] custom-call(x), custom_call_target="pure", backend_config="1"',
      'f32[4] custom-call(x), custom_call_target="pure", backend_config="2"',
    ),
    ("f32[4] opt-barrier(x)", "f32[4] opt-barrier(x)"),
    ("f32[4] negate(x), sharding={replicated}", "f32[4] negate(x), sharding={maximal device=0}"),
    ("f32[4] negate(x), control-predecessors={x}", "f32[4] negate(x)"),
    ('f32[4] negate(x), frontend_attributes={k="1"}', "f32[4] negate(x)"),
  ],
)
def test_what_differs_or_is_not_a_value_is_not_merged(first, second):
  types = [s.split("]")[0] + "]" for s in (first, second)]
  text = f"ENTRY e {{ x = f32[4] parameter(0)\n a = {first}\n b = {second}\n ROOT t = ({types[0]}, {types[1]}) tuple(a, b) }}"
  assert not run_passes(hlo.parse(text), ["cse"], strict=True).changed


@pytest.mark.parametrize(
  "line",
  [
    'f32[4] custom-call(x), custom_call_target="pure", backend_config="1"',
    "f32[4] all-reduce(x), channel_id={n}, replica_groups={{{{0,1}}}}, use_global_device_ids=true, to_apply=add",
    "f32[8] all-gather(x), channel_id={n}, replica_groups={{{{0,1}}}}, use_global_device_ids=true, dimensions={{0}}",
    "u32[] partition-id()",
  ],
)
def test_pure_custom_calls_and_collectives_that_differ_in_their_channel_are_merged(line):
  shape = line.split("]")[0] + "]"
  text = f"""HloModule m, num_partitions=2
    {ADD}
    ENTRY e {{ x = f32[4] parameter(0)
    a = {line.format(n=1)}
    b = {line.format(n=2)}
    ROOT t = ({shape}, {shape}) tuple(a, b) }}"""
  module = after(text, "cse")
  assert len(set(module.entry.root.operands)) == 1
  if "replica_groups" in line:
    pinned = text.replace("use_global", "constrain_layout=true, use_global")
    assert not run_passes(hlo.parse(pinned), ["cse"], strict=True).changed


def test_reducers_with_operands_the_other_way_round_are_equal():
  other = ADD.replace("add {", "add2 {").replace("add(a, b)", "add(b, a)")
  text = f"""{ADD}{other}ENTRY e {{ x = f32[4] parameter(0)
    z = f32[] constant(0)
    s = f32[] reduce(x, z), dimensions={{0}}, to_apply=add
    t = f32[] reduce(x, z), dimensions={{0}}, to_apply=add2
    ROOT r = (f32[], f32[]) tuple(s, t) }}"""
  assert opcodes(after(text, "cse")).count("reduce") == 1


LAYOUTS = """fused { q = f32[2,2] parameter(0)
    m = f32[2,2] negate(q)
    n = f32[2,2] negate(q)
    ROOT s = f32[2,2] add(m, n) }
  ENTRY e { x = f32[4] parameter(0)
    a = f32[2,2]{1,0} constant({{1,2},{3,4}})
    b = f32[2,2]{0,1} constant({{1,2},{3,4}})
    c = f32[] constant(1)
    d = f32[] constant(1)
    y = f32[2,2] fusion(a), kind=kLoop, calls=fused
    ROOT r = (f32[2,2], f32[2,2], f32[], f32[], f32[2,2]) tuple(a, b, c, d, y) }"""


@pytest.mark.parametrize(
  ("options", "constants", "negations"),
  [
    ("", 3, 1),
    ("{is_layout_sensitive=false}", 2, 1),
    ("{only_fusion_computations=true}", 4, 1),
    ("{only_scalars=true}", 3, 2),
  ],
)
def test_what_is_merged_can_be_narrowed_and_widened(options, constants, negations):
  module = after(LAYOUTS, "cse" + options)
  assert opcodes(module).count("constant") == constants
  assert [i.opcode for i in module.instructions()].count("negate") == negations


def test_scheduled_modules_are_not_merged():
  text = (
    "HloModule m, is_scheduled=true\nENTRY e { x = f32[4] parameter(0)\n a = f32[4] negate(x)\n b = f32[4] negate(x)\n"
  )
  text += "ROOT t = (f32[4], f32[4]) tuple(a, b) }"
  assert not run_passes(hlo.parse(text), ["cse"], strict=True).changed
  assert run_passes(hlo.parse(text.replace("HloModule m, is_scheduled=true", "")), ["cse"], strict=True).changed


# Constant folding.


def test_what_depends_on_constants_becomes_one():
  module = folded("""a = f32[2] constant({1, 2})
    b = f32[2] constant({3, 4})
    c = f32[2] multiply(a, b)
    s = f32[1] slice(c), slice={[1:2]}
    k = f32[] reshape(s)
    w = f32[4] broadcast(k), dimensions={}
    ROOT r = f32[4] add(x, w)""")
  assert module.entry.root.operands[1].operands[0].literal.value == np.float32(8)


@pytest.mark.parametrize(
  "body",
  [
    "a = f32[] constant(1)\n b = f32[512] broadcast(a), dimensions={}\n ROOT r = f32[512] copy(b)",  # would only grow
    "a = f32[4] constant({...})\n b = f32[4] negate(a)\n ROOT r = f32[4] add(x, b)",  # elements unknown
    'a = f32[4] constant({1,2,3,4})\n b = f32[4] custom-call(a), custom_call_target="pure"\n ROOT r = f32[4] add(x, b)',
    "a = f32[] constant(0)\n b = f32[] constant(1)\n c = f32[4] rng(a, b), distribution=rng_uniform\n ROOT r = f32[4] add(x, c)",
    "a = f32[4] constant({1,2,3,4})\n b = f32[4] negate(a), control-predecessors={x}\n ROOT r = f32[4] add(x, b)",
  ],
)
def test_what_must_not_be_folded_is_not(body):
  module = hlo.parse(f"ENTRY e {{ x = f32[4] parameter(0)\n {body} }}")
  assert not run_passes(module, ["constant_folding"], strict=True).changed


def test_size_and_work_are_bounded():
  body = "a = f32[8,8] constant({" + ",".join(["{" + ",".join(["1"] * 8) + "}"] * 8) + "})\n"
  body += "b = f32[8,8] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n ROOT r = f32[8,8] negate(b)"
  text = f"ENTRY e {{ x = f32[4] parameter(0)\n {body} }}"
  assert run_passes(hlo.parse(text), ["constant_folding"]).changed
  assert not run_passes(hlo.parse(text), ["constant_folding{max_work=100}"]).changed
  assert not run_passes(hlo.parse(text), ["constant_folding{max_bytes=100}"]).changed


# Control edges of narrowed fusions, copies of loops and channels.


def test_what_waits_for_the_only_output_of_a_narrowed_fusion_waits_for_the_fusion():
  module = after(
    """fused { p = f32[4] parameter(0)
      a = f32[4] negate(p)
      b = f32[4] sine(p)
      ROOT t = (f32[4], f32[4]) tuple(a, b) }
    ENTRY e { x = f32[4] parameter(0)
      f = (f32[4], f32[4]) fusion(x), kind=kLoop, calls=fused
      g = f32[4] get-tuple-element(f), index=0
      later = f32[4] cosine(x), control-predecessors={g}
      ROOT r = f32[4] add(g, later) }""",
    "dce",
  )
  fusion = module.find_instruction("f")
  assert fusion.shape.is_array and module.find_instruction("later").control_predecessors == (fusion,)


def test_loops_and_channels_of_a_callee_that_is_inlined_twice_twice():
  module = hlo.parse(
    """sum { left = s32[] parameter(0)
      right = s32[] parameter(1)
      ROOT both = s32[] add(left, right) }
    cond { c = (s32[]) parameter(0)
      g = s32[] get-tuple-element(c), index=0
      ROOT l = pred[] compare(g, s32[] constant(3)), direction=LT }
    body { d = (s32[]) parameter(0)
      g2 = s32[] get-tuple-element(d), index=0
      n = s32[] add(g2, s32[] constant(1))
      ROOT t = (s32[]) tuple(n) }
    inner { p = (s32[]) parameter(0)
      k = s32[] get-tuple-element(p), index=0
      ar = s32[] all-reduce(k), channel_id=1, replica_groups={}, to_apply=sum
      start = (s32[]) tuple(ar)
      ROOT w = (s32[]) while(start), condition=cond, body=body }
    mid { q = (s32[]) parameter(0)
      c1 = (s32[]) call(q), to_apply=inner
      ROOT c2 = (s32[]) call(c1), to_apply=inner }
    ENTRY e { z = (s32[]) parameter(0)
      m1 = (s32[]) call(z), to_apply=mid
      ROOT m2 = (s32[]) call(m1), to_apply=mid }"""
  )
  run_passes(module, ["call_inliner"], strict=True)
  channels = [i.attrs["channel_id"] for i in module.instructions() if i.opcode == "all-reduce"]
  bodies = [i.attrs["body"] for i in module.instructions() if i.opcode == "while"]
  assert len(channels) == len(set(channels)) == len(bodies) == len(set(bodies)) == 4


# Options and names as XLA has them.


def test_an_element_of_a_constant_tuple_is_a_constant_and_constants_that_are_used_up_go():
  text = """ENTRY e { x = f32[4] parameter(0)
    t = (f32[], s32[]) constant((1, 2))
    a = s32[] get-tuple-element(t), index=1
    b = s32[] constant(3)
    ROOT r = s32[] add(a, b) }"""
  module = after(text, "constant_folding")
  assert opcodes(module) == ["parameter", "constant"] and module.entry.root.literal.value == 5


TWICE = """f { p = f32[4] parameter(0)
  ROOT q = f32[4] sine(p) }
g { p2 = f32[4] parameter(0)
  ROOT q2 = f32[4] cosine(p2) }
ENTRY e { x = f32[4] parameter(0)
  a = f32[4] call(x), to_apply=f
  b = f32[4] call(a), to_apply=f
  ROOT c = f32[4] call(b), to_apply=g, is_composite=true,
    frontend_attributes={composite.name="foo.bar", _scheduling_group_id="7"} }"""


def test_calls_that_are_inlined_are_chosen_by_option():
  assert opcodes(after(TWICE, "call_inliner")) == ["parameter", "sine", "sine", "cosine"]
  assert opcodes(after(TWICE, "call_inliner{single_call_site=true}")) == ["parameter", "call", "call", "cosine"]
  assert opcodes(after(TWICE, "call_inliner{preserve_composites=true}")) == ["parameter", "sine", "sine", "call"]


def test_what_is_inlined_stays_in_the_scheduling_group_of_the_call():
  (cosine,) = [i for i in after(TWICE, "call_inliner").instructions() if i.opcode == "cosine"]
  assert cosine.frontend_attributes == {"_scheduling_group_id": "7"}


@pytest.mark.parametrize(
  ("theirs", "ours"),
  [
    ("algsimp", "algebraic_simplifier"),
    ("all-reduce-combiner{max_bytes=8}", "all_reduce_combiner{max_bytes=8}"),
    ("collective-pipeliner-forwardsink{max_bytes=8}", "collective_pipeliner{direction=forward_sink,max_bytes=8}"),
    (
      "collective-permute-decomposer{threshold_in_bytes=9}",
      "collective_permute_to_send_recv{min_bytes=9,split_cycles=false}",
    ),
    ("collective-pipeliner-backward", "collective_pipeliner{direction=backward}"),
    ("latency-hiding-scheduler{device=cpu}", "schedule{device=cpu}"),
  ],
)
def test_passes_answer_to_the_names_xla_has_for_them(theirs, ours):
  assert make_pass(theirs) == make_pass(ours)

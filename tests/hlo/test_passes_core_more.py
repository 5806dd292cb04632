"""Dead parameters, commutative operands, equal outputs of fusions, and folding of calls, iotas, broadcasts and tuples."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.core_passes import X, after, all_opcodes, folded, opcodes
from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.base import compiling_for


def test_unused_parameters_and_outputs_of_calls_go() -> None:
  text = """f { a = f32[4] parameter(0) b = f32[4] parameter(1) n = f32[4] negate(a) s = f32[4] sine(b)
    ROOT t = (f32[4], f32[4]) tuple(n, s) }
    ENTRY e { x = f32[4] parameter(0) c = f32[4] cosine(x) y = (f32[4], f32[4]) call(x, c), to_apply=f
    ROOT r = f32[4] get-tuple-element(y), index=0 }"""
  module = after(text, "dce")
  assert "cosine" not in all_opcodes(module) and "sine" not in all_opcodes(module)
  (call,) = [i for i in module.entry.instructions if i.opcode == "call"]
  assert len(call.operands) == 1 and call.shape.is_array
  composite = text.replace("to_apply=f", 'to_apply=f, is_composite=true, frontend_attributes={composite.name="f"}')
  assert "cosine" in all_opcodes(after(composite, "dce"))


def test_dead_parameters_of_the_entry_go_on_request() -> None:
  text = """HloModule m, input_output_alias={ {}: (2, {}, may-alias) },
    entry_computation_layout={(f32[4], f32[3], f32[4])->f32[4]}
    ENTRY e { a = f32[4] parameter(0) b = f32[3] parameter(1) c = f32[4] parameter(2) ROOT r = f32[4] negate(c) }"""
  module = hlo.parse(text)
  assert not run_passes(module, ["dce"]).changed
  assert run_passes(module, ["dce{remove_dead_parameters_from_entry_computation=true}"], verify=True).changed
  assert [p.name for p in module.entry.parameters] == ["c"] and module.input_output_alias[0].parameter == 0
  np.testing.assert_array_equal(hlo.evaluate(module, X), -X)
  assert hlo.parse(module.to_text()).to_text() == module.to_text()


@pytest.mark.parametrize("opcode", ["add", "multiply", "maximum", "minimum"])
def test_operands_of_commutative_operations_may_change_places(opcode: str) -> None:
  text = f"""ENTRY e {{ x = f32[4] parameter(0) s = f32[4] sine(x) a = f32[4] {opcode}(x, s) b = f32[4] {opcode}(s, x)
    ROOT t = (f32[4], f32[4]) tuple(a, b) }}"""
  assert opcodes(after(text, "cse")).count(opcode) == 1
  assert opcodes(after(text.replace(opcode, "subtract"), "cse")).count("subtract") == 2


def test_comparisons_for_equality_commute_and_others_do_not() -> None:
  text = """ENTRY e { x = f32[4] parameter(0) s = f32[4] sine(x) a = pred[4] compare(x, s), direction=EQ
    b = pred[4] compare(s, x), direction=EQ ROOT t = (pred[4], pred[4]) tuple(a, b) }"""
  assert opcodes(after(text, "cse")).count("compare") == 1
  assert opcodes(after(text.replace("EQ", "LT"), "cse")).count("compare") == 2


def test_equal_outputs_of_a_fusion_are_one() -> None:
  text = """f { a = f32[4] parameter(0) n = f32[4] negate(a) m = f32[4] negate(a) s = f32[4] sine(a)
    ROOT t = (f32[4], f32[4], f32[4]) tuple(n, m, s) }
    ENTRY e { x = f32[4] parameter(0) y = (f32[4], f32[4], f32[4]) fusion(x), kind=kLoop, calls=f
    a = f32[4] get-tuple-element(y), index=0 b = f32[4] get-tuple-element(y), index=1
    c = f32[4] get-tuple-element(y), index=2 d = f32[4] add(a, b) ROOT r = f32[4] multiply(d, c) }"""
  module = after(text, "cse", "cse", "dce")
  (fusion,) = [i for i in module.entry.instructions if i.opcode == "fusion"]
  assert len(fusion.shape.tuple_shapes) == 2


@pytest.mark.parametrize(
  "body",
  [
    "i = s32[4] iota(), iota_dimension=0 k = s32[] constant(2) b = s32[4] broadcast(k), dimensions={} "
    "m = s32[4] multiply(i, b) c = f32[4] convert(m) ROOT r = f32[4] add(x, c)",
    "i = f32[8] iota(), iota_dimension=0 s = f32[4] slice(i), slice={[2:6]} ROOT r = f32[4] add(x, s)",
  ],
)
def test_iotas_and_broadcasts_are_folded_into_what_uses_them(body: str) -> None:
  module = folded(body)
  assert set(opcodes(module)) == {"parameter", "constant", "add"}


def test_what_spreads_too_far_stays() -> None:
  body = "i = s32[65536] iota(), iota_dimension=0 j = s32[65536] negate(i) ROOT r = (f32[4], s32[65536]) tuple(x, j)"
  text = f"ENTRY e {{ x = f32[4] parameter(0) {body} }}"
  assert not run_passes(hlo.parse(text), ["constant_folding"]).changed
  assert run_passes(hlo.parse(text), ["constant_folding{max_spread_bytes=262144}"]).changed


def test_calls_and_tuples_of_results_are_folded() -> None:
  text = """f { a = f32[4] parameter(0) b = f32[4] sine(a) c = f32[4] negate(a) ROOT t = (f32[4], f32[4]) tuple(b, c) }
    ENTRY e { x = f32[4] parameter(0) k = f32[4] constant({1,2,3,4}) y = (f32[4], f32[4]) call(k), to_apply=f
    a = f32[4] get-tuple-element(y), index=0 b = f32[4] get-tuple-element(y), index=1 c = f32[4] add(a, b)
    ROOT r = f32[4] add(x, c) }"""
  module = after(text, "constant_folding", "tuple_simplifier", "constant_folding", "dce")
  assert set(opcodes(module)) == {"parameter", "constant", "add"} and opcodes(module).count("add") == 1
  effect = text.replace("f32[4] sine(a)", 'f32[4] custom-call(a), custom_call_target="effect"')
  assert not run_passes(hlo.parse(effect), ["constant_folding"]).changed


def test_what_only_a_replaced_instruction_used_goes_with_it() -> None:
  text = """ENTRY e { x = f32[4,8] parameter(0)
  t = f32[8,4] transpose(x), dimensions={1,0}
  ROOT r = f32[4,8] transpose(t), dimensions={1,0} }"""
  module = hlo.parse(text)
  assert hlo.make_pass("algebraic_simplifier").run(module)
  assert [i.name for i in module.entry.instructions] == ["x"]


def test_a_rebuilt_parameter_is_the_parameter_at_the_entrys_root_and_the_entry_can_be_left_out() -> None:
  text = """ENTRY e { q = (f32[4], f32[8]) parameter(0)
  a = f32[4] get-tuple-element(q), index=0
  b = f32[8] get-tuple-element(q), index=1
  ROOT t = (f32[4], f32[8]) tuple(a, b) }"""
  module = hlo.parse(text)
  assert not hlo.make_pass("tuple-simplifier{exclude_entry_computation=true}").run(module)
  assert hlo.make_pass("tuple_simplifier").run(module)
  assert [i.name for i in module.entry.instructions] == ["q"]


def test_what_a_callee_computes_for_nobody_is_not_inlined() -> None:
  text = """f { p = f32[4] parameter(0)
    dead = f32[4] sine(p)
    ROOT q = f32[4] cosine(p) }
  ENTRY e { x = f32[4] parameter(0)
    a = f32[4] call(x), to_apply=f
    ROOT b = f32[4] call(a), to_apply=f }"""
  assert opcodes(after(text, "call_inliner")) == ["parameter", "cosine", "cosine"]


def test_equal_copies_are_merged_where_the_back_end_inserts_its_own_afterwards() -> None:
  text = """ENTRY e { x = f32[4] parameter(0)
    a = f32[4] copy(x)
    b = f32[4] copy(x)
    ROOT t = (f32[4], f32[4]) tuple(a, b) }"""
  assert opcodes(after(text, "cse")) == ["parameter", "copy", "tuple"]
  assert opcodes(after(text, "algebraic_simplifier")) == ["parameter", "tuple"]
  with compiling_for("cpu"):  # its copies are there for buffers
    assert not run_passes(hlo.parse(text), ["cse", "algebraic_simplifier"], strict=True).changed
  scheduled = "HloModule m, is_scheduled=true\n" + text
  assert not run_passes(hlo.parse(scheduled), ["cse", "algebraic_simplifier"], strict=True).changed


def test_a_pad_of_constants_is_folded_until_it_grows_too_much() -> None:
  text = """ENTRY e { x = f32[SIZE] parameter(0)
    a = f32[2] constant({1, 2})
    z = f32[] constant(0)
    b = f32[SIZE] pad(a, z), padding=0_MORE
    ROOT r = f32[SIZE] add(x, b) }"""
  small = hlo.parse(text.replace("SIZE", "6").replace("MORE", "4"))
  run_passes(small, ["constant_folding"], strict=True)
  assert "pad" not in opcodes(small)
  np.testing.assert_array_equal(hlo.evaluate(small, np.ones(6, np.float32)), [2, 3, 1, 1, 1, 1])
  large = hlo.parse(text.replace("SIZE", "100002").replace("MORE", "100000"))
  assert not run_passes(large, ["constant_folding"], strict=True).changed

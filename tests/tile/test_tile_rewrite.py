"""Rewrites keep what a function means, and reach a fixed point that the verifier accepts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.tile import evaluate
from tests.tile.evaluate import arguments, same
from tests.tile.programs import examples, texts
from tilewright import errors
from tilewright.tile.cse_licm import hoist_invariants, merge_common
from tilewright.tile.dead_code import eliminate_dead_code
from tilewright.tile.parser import parse
from tilewright.tile.printer import to_text
from tilewright.tile.rewrite import rewrite, simplify
from tilewright.tile.verify import verify

GRID, POSITION = (3, 1), (2, 0)


def outputs(function, seed):
  machine = evaluate.Machine(POSITION, GRID)
  args = arguments(function, seed)
  machine.values.update(zip(function.params, args))
  with np.errstate(all="ignore"):
    machine.block(function.body)
  return args, machine.printed


def same_meaning(before, after, seed=0):
  (a, printed_a), (b, printed_b) = outputs(before, seed), outputs(after, seed)
  return (
    all(same(x, y) for x, y in zip(a, b, strict=True))
    and len(printed_a) == len(printed_b)
    and all(same(x, y) for (_, xs), (_, ys) in zip(printed_a, printed_b) for x, y in zip(xs, ys))
  )


PASSES = {
  "rules": lambda f: rewrite(f, grid=GRID),
  "common subexpressions": merge_common,
  "invariants": hoist_invariants,
  "dead code": eliminate_dead_code,
  "everything": lambda f: simplify(f, GRID),
}


@pytest.mark.parametrize("name", PASSES)
@given(text=texts())
@examples(60)
def test_a_pass_keeps_the_meaning(name, text):
  function = parse(text)
  PASSES[name](function)
  verify(function, "cleaned" if name == "everything" else "lowered")
  assert same_meaning(parse(text), function), f"{text}\n{to_text(function)}"


@given(texts())
@examples(50)
def test_simplifying_twice_changes_nothing(text):
  function = parse(text)
  once = to_text(simplify(function))
  assert to_text(simplify(function)) == once


# --- one rule at a time ------------------------------------------------------------------------------------------


def simplified(lines: str, params: str = "%x: s32, %y: s32, %f: f32, %r: ref<8xf32, any>", gives: str = "%z") -> str:
  """The ops that are left, on one line, before the yield."""
  body = "\n".join(f"  {line.strip()}" for line in lines.strip().splitlines())
  function = simplify(parse(f"func @f({params}) {{\n{body}\n  yield {gives}\n}}\n"), GRID)
  verify(function, "cleaned")
  return "; ".join(line.strip() for line in to_text(function).splitlines()[1:-1])


@pytest.mark.parametrize(
  ("lines", "left"),
  [
    ("%c = constant 0 : s32 \n %z = add %x, %c : s32", "yield %0"),
    ("%c = constant 0 : s32 \n %z = add %c, %x : s32", "yield %0"),
    ("%c = constant 0.0 : f32 \n %z = add %f, %c : f32", "%4 = constant 0.0 : f32; %5 = add %2, %4 : f32; yield %5"),
    ("%c = constant -0.0 : f32 \n %z = add %f, %c : f32", "yield %2"),
    ("%c = constant 0.0 : f32 \n %z = sub %f, %c : f32", "yield %2"),
    ("%c = constant 1.0 : f32 \n %z = mul %c, %f : f32", "yield %2"),
    ("%c = constant 0.0 : f32 \n %z = mul %f, %c : f32", "%4 = constant 0.0 : f32; %5 = mul %2, %4 : f32; yield %5"),
    ("%c = constant 0 : s32 \n %z = mul %x, %c : s32", "%4 = constant 0 : s32; yield %4"),
    ("%z = sub %x, %x : s32", "%4 = constant 0 : s32; yield %4"),
    ("%z = sub %f, %f : f32", "%4 = sub %2, %2 : f32; yield %4"),
    ("%n = neg %f : f32 \n %z = neg %n : f32", "yield %2"),
    (
      "%a = constant 3 : s32 \n %b = constant 5 : s32 \n %s = add %x, %a : s32 \n %z = sub %s, %b : s32",
      "%4 = constant -2 : s32; %5 = add %0, %4 : s32; yield %5",
    ),
    (
      "%a = constant 100000 : s32 \n %s = mul %x, %a : s32 \n %z = mul %s, %a : s32",
      "%4 = constant 1410065408 : s32; %5 = mul %0, %4 : s32; yield %5",
    ),
    (
      "%a = constant 3 : s32 \n %s = sub %a, %x : s32 \n %z = add %s, %a : s32",
      "%4 = constant 6 : s32; %5 = sub %4, %0 : s32; yield %5",
    ),
    ("%z = convert %x {dtype=s32} : s32", "yield %0"),
    ("%w = convert %x {dtype=s64} : s64 \n %z = convert %w {dtype=s32} : s32", "yield %0"),
    (
      "%w = convert %x {dtype=s8} : s8 \n %z = convert %w {dtype=s32} : s32",
      "%4 = convert %0 {dtype=s8} : s8; %5 = convert %4 {dtype=s32} : s32; yield %5",
    ),
    ("%c = constant true : i1 \n %z = select %c, %x, %y : s32", "yield %0"),
    ("%c = lt %x, %y : i1 \n %z = select %c, %x, %x : s32", "yield %0"),
    ("%c = constant 2.0 : f32 \n %z = exp %c : f32", "%4 = constant 2.0 : f32; %5 = exp %4 : f32; yield %5"),
    ("%c = constant 2.25 : f32 \n %z = sqrt %c : f32", "%4 = constant 1.5 : f32; yield %4"),
    ("%c = constant 0 : s32 \n %d = constant 7 : s32 \n %z = div %d, %c : s32", None),
    ("%z = num_programs {axis=0} : s32", "%4 = constant 3 : s32; yield %4"),
    ("%z = program_id {axis=1} : s32", "%4 = constant 0 : s32; yield %4"),
    ("%z = program_id {axis=0} : s32", "%4 = program_id {axis=0} : s32; yield %4"),
  ],
)
def test_a_rule(lines, left):
  found = simplified(lines)
  if left is None:
    assert "div" in found
  else:
    assert found == left


@pytest.mark.parametrize(
  ("lines", "left"),
  [
    ("%a = reshape %t {shape=[6]} : 6xf32 \n %z = reshape %a {shape=[2, 3]} : 2x3xf32", "yield %0"),
    (
      "%a = transpose %t {permutation=[1, 0]} : 3x2xf32 \n %z = transpose %a {permutation=[1, 0]} : 2x3xf32",
      "yield %0",
    ),
    ("%z = slice %t {starts=[0, 0], stops=[2, 3], strides=[1, 1]} : 2x3xf32", "yield %0"),
    ("%z = broadcast %t {dims=[0, 1], shape=[2, 3]} : 2x3xf32", "yield %0"),
    (
      "%a = broadcast %t {dims=[1, 2], shape=[4, 2, 3]} : 4x2x3xf32 \n"
      "%z = broadcast %a {dims=[0, 2, 3], shape=[4, 5, 2, 3]} : 4x5x2x3xf32",
      "%1 = broadcast %0 {dims=[2, 3], shape=[4, 5, 2, 3]} : 4x5x2x3xf32; yield %1",
    ),
    (
      "%a = slice %t {starts=[0, 1], stops=[2, 3], strides=[1, 1]} : 2x2xf32 \n"
      "%z = slice %a {starts=[1, 1], stops=[2, 2], strides=[1, 1]} : 1x1xf32",
      "%1 = slice %0 {starts=[1, 2], stops=[2, 3], strides=[1, 1]} : 1x1xf32; yield %1",
    ),
    ("%a = reverse %t {axes=[0, 1]} : 2x3xf32 \n %z = reverse %a {axes=[1, 0]} : 2x3xf32", "yield %0"),
    (
      "%a = exp %t : 2x3xf32 \n %b = exp %t : 2x3xf32 \n %z = mul %a, %b : 2x3xf32",
      "%1 = exp %0 : 2x3xf32; %2 = mul %1, %1 : 2x3xf32; yield %2",
    ),
  ],
)
def test_a_rule_of_shapes(lines, left):
  assert simplified(lines, "%t: 2x3xf32") == left


def test_a_window_that_lies_inside_is_a_view():
  left = simplified("%c = constant 2 : s32 \n %z = window_load %r, %c {dropped=[], sizes=[6], steps=[1]} : 6xf32")
  assert "window" not in left and "subview" in left
  assert "window" in simplified(
    "%c = constant 3 : s32 \n %z = window_load %r, %c {dropped=[], sizes=[6], steps=[1]} : 6xf32"
  )


@pytest.mark.parametrize(
  "condition, is_inside",
  [
    ("%c = lt %i, %n : i1", True),
    ("%c = ne %i, %n : i1", True),
    ("%d = eq %i, %n : i1\n %c = not %d : i1", True),
    ("%d = ge %i, %n : i1\n %c = not %d : i1", True),
    ("%c = le %i, %n : i1", False),
    ("%c = gt %i, %n : i1", False),
    ("%c = ge %i, %n : i1", False),
  ],
)
def test_a_window_that_a_condition_keeps_inside_is_a_view(condition, is_inside):
  """Four of eight elements, from four times the number of one of three instances on."""
  lines = f"""
    %i = program_id {{axis=0}} : s32
    %n = constant 2 : s32
    {condition}
    %s = convert %c {{dtype=s32}} : s32
    %zero = constant 0.0 : f32
    %nothing = broadcast %zero {{dims=[], shape=[4]}} : 4xf32
    %z = switch %s : 4xf32 () {{
      yield %nothing
    }} () {{
      %four = constant 4 : s32
      %at = mul %i, %four : s32
      %w = window_load %r, %at {{dropped=[], sizes=[4], steps=[1]}} : 4xf32
      yield %w
    }}
  """
  assert ("subview" in simplified(lines)) == is_inside


def test_a_quotient_of_what_is_never_negative_is_not_rounded_down_further():
  """As `//` of an index would be: sign(i) != 1 and i % 2 != 0."""
  lines = """
    %i = program_id {axis=0} : s32
    %n = constant 2 : s32
    %one = constant 1 : s32
    %zero = constant 0 : s32
    %q = div %i, %n : s32
    %s = sign %i : s32
    %a = ne %s, %one : i1
    %m = rem %i, %n : s32
    %b = ne %m, %zero : i1
    %c = and %a, %b : i1
    %less = sub %q, %one : s32
    %z = select %c, %less, %q : s32
  """
  left = simplified(lines)
  assert "div" in left and not any(name in left for name in ("sign", "select", "rem"))


def test_numbers_that_were_widened_for_a_contraction_are_multiplied_as_they_were():
  lines = """
    %a = convert %x {dtype=f32} : 2x3xf32
    %b = convert %y {dtype=f32} : 3x4xf32
    %z = dot %a, %b {batch=[[], []], contract=[[1], [0]], dtype=f32} : 2x4xf32
  """
  narrow = simplified(lines, "%x: 2x3xbf16, %y: 3x4xf8_e4m3fn")
  assert "3x4xbf16" in narrow and "dot %0, %2" in narrow
  # f16 has more digits than bf16.
  assert "2x3xf32" in simplified(lines, "%x: 2x3xf16, %y: 3x4xbf16")


def test_a_rule_that_makes_no_progress_is_named():
  def back_and_forth(rw, op):
    return [rw.emit("add", [op.operands[1], op.operands[0]])]

  function = parse("func @f(%x: f32, %y: f32) {\n  %z = add %x, %y : f32  // k.py:3\n  yield %z\n}\n")
  with pytest.raises(errors.TileError, match=r"back_and_forth for add at k\.py:3 makes no progress"):
    rewrite(function, {"add": [back_and_forth]})


# --- dead code ---------------------------------------------------------------------------------------------------


def cleaned(text: str) -> str:
  function = parse(text)
  eliminate_dead_code(function)
  verify(function, "cleaned")
  return to_text(function)


def test_stores_to_memory_that_is_never_read_go():
  text = """\
func @f(%0: ref<4xf32, any>) {
  %1 = alloc {dtype=f32, shape=[4], space="scratch"} : ref<4xf32, scratch>
  %2 = load %0 : 4xf32
  store %1, %2
  copy %0, %1
  LAST
}
"""
  assert "alloc" not in cleaned(text.replace("LAST", "// end"))
  kept = cleaned(text.replace("LAST", "copy %1, %0"))
  assert "alloc" in kept and "store" in kept


def test_a_carried_value_that_only_feeds_itself_goes():
  text = """\
func @f(%0: ref<f32, any>) {
  %1 = constant 0 : s32
  %2 = constant 4 : s32
  %3 = load %0 : f32
  %4, %5 = for %1, %2, %3, %3 : f32, f32 (%6: s32, %7: f32, %8: f32) {
    %9 = mul %7, %7 : f32
    %10 = exp %8 : f32
    yield %9, %10
  }
  store %0, %4
}
"""
  assert "exp" not in cleaned(text) and "mul" in cleaned(text)
  assert "for" not in cleaned(text.replace("store %0, %4", "// nothing"))


def test_effects_stay():
  text = """\
func @f(%0: s32) {
  switch %0 () {
    yield
  } () {
    print %0 {fmt="here"}
    yield
  }
  %1 = while %0 : s32 (%2: s32) {
    %3 = lt %2, %0 : i1
    yield %3
  } (%4: s32) {
    yield %4
  }
}
"""
  assert "print" in cleaned(text) and "while" not in cleaned(text)


def test_hoisting_leaves_the_cases_of_a_switch_alone():
  text = """\
func @f(%0: ref<f32, any>, %1: f32, %2: s32) {
  for %2, %2 (%3: s32) {
    %4 = exp %1 : f32
    store %0, %4
    switch %3 () {
      %5 = sin %1 : f32
      store %0, %5
      yield
    }
    yield
  }
}
"""
  function = parse(text)
  assert hoist_invariants(function) == 1
  assert [op.name for op in function.body.ops] == ["exp", "for"]


def test_long_chains_need_no_deep_stack():
  chain = "\n".join(f"  %{n} = exp %{n - 1} : f32" for n in range(3, 3000))
  text = f"func @f(%1: f32, %2: f32) {{\n{chain}\n  %c = constant true : i1\n  %z = select %c, %1, %2999 : f32\n  yield %z\n}}\n"
  assert len(simplify(parse(text)).body.ops) == 1

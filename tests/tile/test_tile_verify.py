"""The verifier takes what is well formed and refuses each kind of damage, naming the op, its line and the problem."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import errors
from tilewright.tile.ir import Block, Function, Op, Value
from tilewright.tile.parser import parse
from tilewright.tile.types import INDEX, TileType
from tilewright.tile.verify import verify

GOOD = """\
func @f(%0: ref<4x8xf32, any>, %1: ref<4x8xf32, any>) {
  %2 = load %0 : 4x8xf32  // k.py:1
  %3 = constant 0 : s32
  %4 = constant 4 : s32
  %5 = for %3, %4, %2 : 4x8xf32 (%6: s32, %7: 4x8xf32) {  // k.py:2
    %8 = add %7, %2 : 4x8xf32  // k.py:3
    %9 = subview %1, %6, %3 {dropped=[0], sizes=[1, 8], steps=[1, 1]} : ref<8xf32, any>  // k.py:4
    %10 = load %9 : 8xf32
    store %9, %10
    yield %8
  }
  store %1, %5  // k.py:5
}
"""


def refuses(text_or_function, message: str, stage: str = "lowered", **options) -> None:
  function = parse(text_or_function) if isinstance(text_or_function, str) else text_or_function
  with pytest.raises(errors.TileError) as caught:
    verify(function, stage, **options)
  assert message in str(caught.value), str(caught.value)


@pytest.mark.parametrize("stage", ["lowered", "cleaned", "native"])
def test_a_good_function_passes(stage):
  verify(parse(GOOD), stage)


def test_an_unknown_stage():
  refuses(GOOD, "there is no stage 'fast'; the stages are lowered, cleaned, native", "fast")


def test_the_message_names_op_line_and_problem():
  refuses(
    GOOD.replace("add %7, %2 : 4x8xf32", "add %7, %2 : 4x8xf16"),
    "add(4x8xf32, 4x8xf32) at k.py:3 in f: gives (4x8xf16), but its operands make it (4x8xf32)",
  )


@pytest.mark.parametrize(
  ("old", "new", "message"),
  [
    ("yield %8", "yield %10", "the block must yield the carried values"),
    ("    yield %8\n", "", "a block inside does not end with yield"),
    (
      "    %10 = load %9 : 8xf32\n",
      "    yield %7\n    %10 = load %9 : 8xf32\n",
      "yield is not the last op of its block",
    ),
    ("(%6: s32, %7: 4x8xf32)", "(%6: s32, %7: 4x8xf32, %17: s32)", "block 0 takes (s32, 4x8xf32, s32)"),
    ("(%6: s32,", "(%6: s64,", "block 0 takes (s64, 4x8xf32), must take (s32, 4x8xf32)"),
    ("yield %8", "yield %9", "must not leave its block"),
    ("dropped=[0], ", "", "the attribute dropped is missing"),
    ("dropped=[0], ", "dropped=[2], ", "axis 2 of dropped [2] is outside of a rank of 2"),
    ("store %1, %5", "store %1, %3", "cannot store s32"),
    ("add %7, %2", "shl %7, %2", "takes integers, got float32"),
    ("add %7, %2", "and %7, %2", "takes integers or bools, got float32"),
    ("add %7, %2", "add %7", "takes 2 operands"),
    ("%4 = constant 4 : s32", "%4 = constant 4.0 : f32", "the bounds differ"),
    ("load %0", "load %0, %1", "takes 1 operands, got 2"),
    ("subview %1, %6, %3", "subview %1, %6, %2", "operand 2 must be an integer scalar, got 4x8xf32"),
  ],
)
def test_damage_in_the_text(old, new, message):
  assert old in GOOD
  refuses(GOOD.replace(old, new), message)


@pytest.mark.parametrize(
  ("line", "message"),
  [
    ('%2 = reduce %1 {axes=[3], kind="sum"} : 4x8xf32', "axis 3 of axes [3]"),
    ('%2 = reduce %1 {axes=[0], kind="xor"} : 8xf32', "xor takes integers or bools"),
    ('%2 = reduce %1 {axes=[0], kind="mean"} : 8xf32', "unknown kind 'mean'"),
    ("%2 = reduce %1 {axes=[0]} : 8xf32", "the attribute kind is missing"),
    ("%2 = transpose %1 {permutation=[0, 0]} : 4x4xf32", "is not a permutation"),
    ("%2 = reshape %1 {shape=[5]} : 5xf32", "have different sizes"),
    ("%2 = broadcast %1 {dims=[1, 0], shape=[8, 4]} : 8x4xf32", "must increase"),
    ("%2 = slice %1 {starts=[0, 0], stops=[5, 8], strides=[1, 1]} : 5x8xf32", "is outside of a dimension of size 4"),
    ("%2 = concatenate %1, %1 {axis=2} : 4x8xf32", "axis 2 of axis [2] is outside of a rank of 2"),
    ("%2 = iota {axis=1, dtype=f32, shape=[4]} : 4xf32", "axis 1 of axis [1]"),
    (
      "%2 = dot %1, %1 {batch=[[], []], contract=[[0, 0], [0, 0]], dtype=f32} : 8x8xf32",
      "lhs dimensions [0, 0] repeat",
    ),
    ('%2 = cumulative %1 {axis=0, kind="mean", reverse=false} : 4x8xf32', "unknown kind 'mean'"),
    ("%2 = program_id {axis=-1} : s32", "axis must be an int from 0 on"),
    ("%2 = sin %1 () {\n    yield\n  }", "sin has 0 result types"),
  ],
)
def test_operands_and_attributes_make_sense(line, message):
  text = f"func @f(%0: ref<4x8xf32, any>) {{\n  %1 = load %0 : 4x8xf32\n  {line}\n}}\n"
  try:
    function = parse(text)
  except errors.TileError as e:
    assert message in str(e)
    return
  refuses(function, message)


def test_blocks_where_none_belong():
  function = parse(GOOD)
  function.body.ops[0].blocks.append(Block.of([]))
  function.body.ops[0].blocks[0].ops.append(Op("yield", [], {}, [], []))
  refuses(function, "has 1 blocks, must have 0")


def test_a_name_that_is_no_op():
  function = parse(GOOD)
  function.body.ops[0].name = "loadd"
  refuses(function, "there is no tile op 'loadd'")


def test_use_before_definition():
  function = parse(GOOD)
  ops = function.body.ops
  ops[0], ops[3] = ops[3], ops[0]
  refuses(function, "is used before it is defined or outside of its block")


def test_use_outside_of_the_block():
  function = parse(GOOD)
  inner = function.body.ops[3].blocks[0].ops[0].result
  function.body.ops[-1].operands[1] = inner
  refuses(
    function,
    "store(ref<4x8xf32, any>, 4x8xf32) at k.py:5 in f: operand 1 is used before it is defined or outside of its block",
  )


def test_a_block_cannot_see_the_results_of_its_op():
  function = parse(GOOD)
  loop = function.body.ops[3]
  loop.blocks[0].ops[0].operands[0] = loop.result
  refuses(function, "before it is defined or outside of its block")


def test_a_value_that_nothing_defines():
  function = parse(GOOD)
  function.body.ops[-1].operands[1] = Value(TileType((4, 8), np.dtype(np.float32)))
  refuses(function, "no op defines it")


def test_a_value_defined_twice():
  function = parse(GOOD)
  function.body.ops[2].results = function.body.ops[1].results
  refuses(function, "is defined twice")


def test_a_value_with_another_owner():
  function = parse(GOOD)
  function.body.ops[1].result.owner = function.body.ops[2]
  refuses(function, "names another owner")


def test_an_op_in_two_places():
  function = parse(GOOD)
  function.body.ops.append(function.body.ops[-1])
  refuses(function, "the op is in two blocks")


def test_a_block_in_two_places():
  function = parse("func @f(%0: s32) {\n  switch %0 () {\n    yield\n  } () {\n    yield\n  }\n}\n")
  switch = function.body.ops[0]
  switch.blocks[1] = switch.blocks[0]
  refuses(function, "is in two places")


def test_a_parameter_without_a_type():
  refuses(Function("f", Block([Value(None)], [])), "which is none")  # type: ignore[arg-type]


CONDITION = """\
func @f(%0: s32, %1: ref<s32, any>) {
  %2 = while %0 : s32 (%3: s32) {
    %4 = alloc {dtype=s32, shape=[], space="scratch"} : ref<s32, scratch>
    store %4, %3
    WRITE
    %5 = lt %3, %0 : i1
    yield %5
  } (%6: s32) {
    yield %6
  }
}
"""


def test_a_condition_must_not_write_outside():
  verify(parse(CONDITION.replace("WRITE", "// nothing")), "lowered")
  refuses(CONDITION.replace("WRITE", "store %1, %3"), "the condition of a while loop must not write")


def test_an_index_map_must_not_write():
  text = "func @m(%0: s32, %1: ref<s32, any>) {\n  store %1, %0\n  yield %0\n}\n"
  refuses(text, "an index map must not write")
  refuses(text.replace("store %1, %0", 'print %0 {fmt="x"}'), "an index map must not have effects")


def test_nothing_dead_after_cleaning():
  text = GOOD.replace("  store %1, %5", "  %20 = load %0 : 4x8xf32  // k.py:9\n  store %1, %5")
  verify(parse(text), "lowered")
  refuses(text, "load(ref<4x8xf32, any>) at k.py:9 in f: nothing uses it", "cleaned")


def test_a_native_target_takes_what_it_has_code_for():
  known = {"load", "constant", "for", "add", "subview", "store"}
  verify(parse(GOOD), "native", known)
  refuses(GOOD, "the target has no code for this op", "native", known=known - {"add"})


def test_static_views_lie_inside():
  text = GOOD.replace("subview %1, %6, %3", "subview %1, %4, %3")
  verify(parse(text), "lowered")
  refuses(text, "elements 4 to 4 of dimension 0 are outside of ref<4x8xf32, any>", "native")


def test_negative_strides_are_not_native():
  text = "func @f(%0: ref<4xf32, any, strides=[-1]>) {\n  %1 = load %0 : 4xf32\n  store %0, %1\n}\n"
  refuses(text, "must have one stride, not negative", "native")


def test_the_index_type():
  assert str(INDEX) == "s32"

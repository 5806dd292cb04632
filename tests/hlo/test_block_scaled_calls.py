"""Calls of block scaling that are not what they must be: the error names the call, what was expected and what was found."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.manager import PassFailed

X, Y, SX, SY, G = "f8e4m3fn[2,5,64]", "f8e4m3fn[2,7,64]", "f8e8m0fnu[2,5,2]", "f8e8m0fnu[2,7,2]", "f32[]"
DOT, QUANTIZE, DEQUANTIZE = "__op$block_scaled_dot", "__op$quantize", "__op$dequantize"
OUT = "f32[2,5,7]"
Q = "(f8e4m3fn[4,64], f8e8m0fnu[4,2])"


def call(target, operands, result, more=""):
  parameters = "\n".join(f"  p{n} = {shape} parameter({n})" for n, shape in enumerate(operands))
  names = ", ".join(f"p{n}" for n in range(len(operands)))
  return f'ENTRY e {{\n{parameters}\n  ROOT c = {result} custom-call({names}), custom_call_target="{target}"{more} }}'


@pytest.mark.parametrize(
  "target, operands, result, message",
  [
    (QUANTIZE, [], Q, r"expected 1 operands \(x\), found 0"),
    (QUANTIZE, ["s32[4,64]"], Q, "expected x of one of .*f32.*, found s32"),
    (QUANTIZE, ["f32[4,64]"], "f8e4m3fn[4,64]", r"expected a result \(data, scales\), found f8e4m3fn"),
    (QUANTIZE, ["f32[4,64]"], "(f8e8m0fnu[4,64], f8e8m0fnu[4,2])", "expected data of one of .*, found f8e8m0fnu"),
    (QUANTIZE, ["f32[4,64]"], "(f8e4m3fn[4,64], s8[4,2])", "expected scales of one of .*, found s8"),
    (QUANTIZE, ["f32[4,32]"], Q, r"expected data of the dimensions of x, \[4, 32\], found \[4, 64\]"),
    (QUANTIZE, ["f32[4,64]"], "(f8e4m3fn[4,64], f8e8m0fnu[2])", r"but for the last dimension, found \[2\]"),
    (QUANTIZE, ["f32[4,64]"], "(f8e4m3fn[4,64], f8e8m0fnu[4,3])", "divides the last dimension of x, 64, found 3"),
    (DEQUANTIZE, ["f8e4m3fn[4,64]"], "f32[4,64]", r"expected 2 operands \(data, scales\), found 1"),
    (DEQUANTIZE, ["f8e4m3fn[4,64]", "f32[2]"], "f32[4,64]", r"scales for whole blocks of data, \[4, 64\].*found \[2\]"),
    (
      DEQUANTIZE,
      ["f8e4m3fn[4,64]", "f32[128,4]"],
      "f32[4,64]",
      r"found \[128, 4\] \(padded ones are to be cut first\)",
    ),
    (DEQUANTIZE, ["f8e4m3fn[4,64]", "f32[4,2]"], "s8[4,64]", "expected the result of one of .*, found s8"),
    (DEQUANTIZE, ["f8e4m3fn[4,64]", "f32[4,2]"], "f32[4,32]", r"dimensions of data, \[4, 64\], found \[4, 32\]"),
    (DEQUANTIZE, ["(f32[4])", "f32[4,2]"], "f32[4,64]", "expected an array of static size as data, found"),
    (DOT, [X, Y], OUT, r"expected 3 to 5 operands \(lhs, rhs, lhs scales, .*\), found 2"),
    (DOT, [X, Y, SX, SY, G, G], OUT, "expected 3 to 5 operands .*, found 6"),
    (DOT, ["f8e4m3fn[64]", Y, SX], OUT, r"the same rank, .* found \[64\] and \[2, 7, 64\]"),
    (DOT, ["f8e4m3fn[3,5,64]", Y, "f32[3,5,2]"], "f32[3,5,7]", r"the same batch dimensions, \[3\], found \[2\]"),
    (DOT, [X, "f8e4m3fn[2,7,32]", SX, SY], OUT, "same last dimension, 64, which is contracted, found 32"),
    (DOT, [X, Y, "s8[2,5,2]", SY], OUT, "expected lhs scales of one of .*, found s8"),
    (
      DOT,
      [X, Y, SX, "f8e8m0fnu[2,128,4]"],
      OUT,
      r"expected rhs scales for whole blocks of rhs, .* found \[2, 128, 4\]",
    ),
    (DOT, [X, Y, SX, SY, "f32[7]"], OUT, r"expected one float as the global scale, found f32\[7\]"),
    (DOT, [X, Y, SX, SY], "f32[2,7,5]", r"expected a result of the dimensions \[2, 5, 7\], found \[2, 7, 5\]"),
  ],
)
def test_a_call_that_is_wrong_is_refused_with_what_was_expected_and_found(target, operands, result, message):
  module = hlo.parse(call(target, operands, result))
  with pytest.raises(PassFailed, match=rf"%c, a call of {target.replace('$', '.')}: .*{message}"):
    run_passes(module, ["block_scaling"], strict=True)


def test_attributes_are_refused():
  text = call(QUANTIZE, ["f32[4,64]"], Q, ", api_version=API_VERSION_TYPED_FFI, backend_config={block = 32 : i64}")
  with pytest.raises(PassFailed, match=r"expected no attributes, .* found {block = 32 : i64}"):
    run_passes(hlo.parse(text), ["block_scaling"], strict=True)


def test_a_wrong_call_that_a_dot_uses_is_refused_too():
  text = """ENTRY e {
    w = f8e4m3fn[6,64] parameter(0)
    x = f32[5,64] parameter(1)
    d = f32[6,64] custom-call(w), custom_call_target="__op$dequantize"
    ROOT r = f32[5,6] dot(x, d), lhs_contracting_dims={1}, rhs_contracting_dims={1} }"""
  with pytest.raises(PassFailed, match=r"%d, a call of __op.dequantize: expected 2 operands"):
    run_passes(hlo.parse(text), ["block_scaling"], strict=True)


def test_the_evaluator_refuses_a_wrong_call_in_the_same_words():
  module = hlo.parse(call(DOT, ["f32[3,4]", "f32[5,4]"], "f32[3,5]"))
  with pytest.raises(hlo.HloError, match=r"%c, a call of .*: expected 3 to 5 operands"):
    hlo.evaluate(module, np.zeros((3, 4), np.float32), np.zeros((5, 4), np.float32))


def test_the_evaluator_takes_a_global_scale_of_any_rank():
  sizes = ["f32[3,4]", "f32[5,4]", "f32[3,1]", "f32[5,1]", "f32[1,1,1]"]
  ones = [np.ones(shape, np.float32) for shape in ((3, 4), (5, 4), (3, 1), (5, 1))]
  found = hlo.evaluate(hlo.parse(call(DOT, sizes, "f32[3,5]")), *ones, np.full((1, 1, 1), 2, np.float32))
  np.testing.assert_array_equal(found, np.full((3, 5), 8, np.float32))


@pytest.mark.parametrize("sizes, scales", [((2, 0), (2, 0)), ((0, 32), (0, 1)), ((2, 0), (2, 3))])
def test_the_evaluator_quantises_no_elements(sizes, scales):
  listed = lambda shape: ",".join(map(str, shape))
  text = call(QUANTIZE, [f"f32[{listed(sizes)}]"], f"(f8e4m3fn[{listed(sizes)}], f8e8m0fnu[{listed(scales)}])")
  found = hlo.evaluate(hlo.parse(text), np.zeros(sizes, np.float32))
  assert [x.shape for x in found] == [sizes, scales]

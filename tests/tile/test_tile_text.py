"""What is printed reads back: the same text, the same meaning, to the last bit of a constant."""

from __future__ import annotations

import contextlib

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tile.programs import examples, texts
from tilewright import errors
from tilewright.tile.ir import Block, Builder, Function, Value, copied, walk
from tilewright.tile.literal import same_bits
from tilewright.tile.parser import parse
from tilewright.tile.printer import to_text
from tilewright.tile.types import INDEX, RefType, SemaphoreArrayType, TileType, dense_strides
from tilewright.tile.verify import verify

DTYPES = (
  *(
    "bool_",
    "int2",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint2",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
  ),
  *(
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "float4_e2m1fn",
    "float8_e3m4",
    "float8_e4m3",
  ),
  *("float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)


@given(texts())
@examples(50)
def test_a_copy_says_the_same_and_shares_nothing_that_changes(text):
  function = parse(text)
  own = copied(function)
  assert to_text(own) == text and not {*walk(own.body)} & {*walk(function.body)}
  verify(own, "lowered")
  for op in walk(own.body):
    op.operands.clear()
    op.attrs.clear()
  assert to_text(function) == text


@given(texts())
@examples(80)
def test_print_parse_print(text):
  again = parse(text)
  assert to_text(again) == text
  verify(again, "lowered")


def constant(array: np.ndarray) -> Function:
  function = Function("f", Block.of([]))
  builder = Builder(function.body)
  builder.emit_all("yield", [builder.emit("constant", value=array, dtype=array.dtype)])
  return function


def read_back(array: np.ndarray) -> np.ndarray:
  return parse(to_text(constant(array))).body.ops[0].attrs["value"]


@pytest.mark.parametrize("name", DTYPES)
@given(data=st.data())
@examples(25)
def test_constants_are_exact(name, data):
  """Any bits that a dtype can have: subnormals, infinities, every NaN."""
  dtype = np.dtype(getattr(jnp, name))
  shape = data.draw(st.sampled_from([(), (1,), (3,), (2, 0), (0, 3), (2, 1, 2), (5, 7), (40,)]))
  size = int(np.prod(shape))
  whole = dtype.kind in "iufc" or dtype.name.startswith(("bfloat16", "float8"))
  high = 255 if whole else 1 if dtype == np.bool_ else 3 if dtype.name.endswith("int2") else 15
  raw = data.draw(st.lists(st.integers(0, high), min_size=size * dtype.itemsize, max_size=size * dtype.itemsize))
  if not whole and dtype.name.startswith("int"):  # NumPy keeps the sign of a small integer in the whole byte
    array = (np.asarray(raw, np.int64) - (high + 1) // 2).astype(dtype).reshape(shape)
  else:
    array = np.asarray(raw, np.uint8).view(dtype).reshape(shape)
  assert same_bits(read_back(array), array)


@pytest.mark.parametrize("name", [n for n in DTYPES if n.startswith("float8")])
def test_every_value_of_a_format_of_eight_bits(name):
  array = np.arange(256, dtype=np.uint8).view(np.dtype(getattr(jnp, name)))
  assert all(same_bits(read_back(x), np.asarray(x)) for x in array)


def test_constants_are_short():
  def text(x: np.ndarray) -> str:
    return to_text(constant(x)).splitlines()[1].split("= ")[1]

  assert text(np.float32(0.1)) == "constant 0.1 : f32"
  assert text(np.zeros((64, 64), jnp.bfloat16)) == "constant 0.0 : 64x64xbf16"
  assert text(np.asarray([1, -2], np.int8)) == "constant [1, -2] : 2xs8"
  assert text(np.asarray([True])) == "constant [true] : 1xi1"
  assert text(np.complex64(1 - 0j)) == "constant (1.0, 0.0) : c64"
  assert text(np.arange(33, dtype=np.uint8)).startswith('constant hex"000102')


def test_types_and_attributes_read_back():
  types = [
    RefType((4, 8), np.dtype(np.float32), "any", (8, 1)),
    RefType((4,), np.dtype(np.int8), "scratch", (16,)),
    RefType((), np.dtype(jnp.bfloat16), "vmem", ()),
    SemaphoreArrayType((2, 3), "dma"),
    SemaphoreArrayType((), "regular"),
    TileType((0, 4), np.dtype(jnp.float8_e4m3fn)),
    INDEX,
  ]
  function = Function("index map of args[0]", Block.of(types))
  builder = Builder(function.body)
  attrs = {
    "a": -3,
    "b": (1, (2, ()), [True, None]),
    "c": 'say "//"\n{é}',
    "d": np.dtype(np.bool_),
    "e": 0.1,
    "f": float("-inf"),
    "g": np.asarray([1.5, np.nan], np.float32),
    "h": np.int64(7),
    "i": 1e300,
  }
  builder.loc = "/home/me/kernel with space.py:12:4 (f.<locals>.g)"
  builder.emit_all("print", [function.params[-1]], **attrs)
  text = to_text(function)
  again = parse(text)
  assert to_text(again) == text
  assert [p.type for p in again.params] == types
  assert again.name == function.name
  (op,) = again.body.ops
  assert op.loc == builder.loc
  assert same_bits(op.attrs.pop("g"), attrs.pop("g"))
  assert op.attrs == {**attrs, "b": (1, (2, ()), (True, None))}


def test_attributes_are_sorted_and_numbering_follows_the_text():
  text = """\
func @f(%0: ref<4xf32, any>) {
  %1 = constant 0 : s32
  %2 = load %0 : 4xf32  // k.py:1
  %3, %4 = for %1, %1, %2, %1 : 4xf32, s32 (%5: s32, %6: 4xf32, %7: s32) {  // k.py:2
    %8 = reverse %6 {axes=[0]} : 4xf32
    yield %8, %5
  }
  %9 = while %4 : s32 (%10: s32) {
    %11 = lt %10, %1 : i1
    yield %11
  } (%12: s32) {
    yield %12
  }
  store %0, %3
}
"""
  assert to_text(parse(text)) == text
  renamed = text.replace("%8", "%reversed").replace("axes=[0]", "axes = [ 0 ]")
  assert to_text(parse("// a note\n\n" + renamed)) == text


def test_a_damaged_function_prints_too():
  function = Function("f", Block.of([]))
  Builder(function.body).emit_all("yield", [Value(INDEX)])
  assert "yield %undefined<s32>" in to_text(function)


def test_an_attribute_without_text_is_named():
  function = Function("f", Block.of([]))
  Builder(function.body).emit_all("delay", [], how=object())
  with pytest.raises(errors.TileError, match="the attribute how of delay"):
    to_text(function)


@pytest.mark.parametrize(
  ("line", "column", "message"),
  [
    ("%1 = addd %0, %0 : f32", 8, "there is no tile op 'addd'"),
    ("%1 = add %0, %7 : f32", 16, "%7 is not defined here"),
    ("%0 = add %0, %0 : f32", 3, "%0 is defined already"),
    ("%1 = add %0, %0 : f33", 21, "'f33' is not the name of a dtype"),
    ("%1 = add %0, %0", 8, "add has 0 result types for 1 results"),
    ("%1 = constant [1, 2] : 3xs32", 17, "3xs32 has 3 elements, 2 are given"),
    ('%1 = constant hex"00" : s32', 17, "s32 has 4 bytes, 1 are given"),
    ("%1 = constant 300 : s8", 17, "300 does not fit into int8"),
    ("%1 = constant 1.5 : s8", 17, "1.5 is not an integer"),
    ("%1 = constant 1 : i1", 17, "1 is neither true nor false"),
    ("%1 = constant 1.0 : c64", 17, "a complex number is written as"),
    ("%1 = iota {axis=0, axis=1} : 4xf32", 22, "the attribute axis is given twice"),
    ("%1 = iota {axis=@} : 4xf32", 19, "expected a value of an attribute, found '@'"),
    ("%1 = add %0 %0 : f32", 15, "expected the end of the line"),
    ("store %0,", 12, "expected a value such as %0, found the end of the line"),
  ],
)
def test_an_error_points_at_the_place(line, column, message):
  text = f"func @f(%0: f32) {{\n  {line}\n}}\n"
  with pytest.raises(errors.TileError) as caught:
    parse(text)
  first, shown, caret = str(caught.value).split("\n")
  assert first.startswith(f"2:{column}: ") and message in first
  assert shown == f"  {line}"
  assert caret == " " * (column - 1) + "^"


@given(st.text("func@(){}%0123=:,xf \n", max_size=60))
@examples(80)
def test_any_text_gives_a_tile_error_or_a_function(text):
  with contextlib.suppress(errors.TileError):
    parse(text)


@given(texts(), st.data())
@examples(50)
def test_cut_text_gives_a_tile_error(text, data):
  at = data.draw(st.integers(0, len(text) - 3))
  with pytest.raises(errors.TileError):
    parse(text[:at])


def test_dense_refs_need_no_strides():
  assert str(RefType((2, 3), np.dtype(np.float32), "any", dense_strides((2, 3)))) == "ref<2x3xf32, any>"

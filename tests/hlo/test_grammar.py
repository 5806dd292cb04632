"""Each feature of the grammar: what the text means as Python values, and that it prints as text with the same meaning."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tilewright import hlo
from tilewright.hlo.groups import AxisRef, Iota, IotaGroups, ListGroups, Mesh, MeshGroups
from tilewright.hlo.shape import COMBINE
from tilewright.hlo.values import (
  BlockScaling,
  ConvDims,
  OriginalArray,
  PaddingDim,
  SliceDim,
  Sparsity,
  TensorScale,
  TensorSparsity,
)

SUM = "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"


def root(line: str, before: str = "", computations: str = SUM) -> hlo.Instruction:
  """The root of an entry with `x: f32[4]` and `line`; it has been through the printer once."""
  text = f"HloModule m\n{computations}ENTRY e {{\n x = f32[4] parameter(0)\n{before}\n ROOT {line}\n}}"
  first = hlo.parse(text)
  again = hlo.parse(first.to_text())
  assert again.to_text() == first.to_text()
  return again.entry.root


def shape(text: str) -> hlo.Shape:
  found = root(f'y = {text} custom-call(x), custom_call_target="f"').shape
  return found


def test_shapes() -> None:
  assert shape("f32[4,8]{0,1}").layout == hlo.Layout((0, 1))
  assert shape("f32[4,8]").layout == hlo.Layout((1, 0))
  assert shape("f32[<=4,?]").dynamic == (True, True)
  assert shape("f32[<=4,?]").dimensions == (4, hlo.UNBOUNDED)
  assert shape("(s32[], (f32[2]{0}, token[]))").at((1, 1)).is_token
  assert shape("b(f32[4])").tuple_shapes[0].dimensions == (4,)
  assert shape("opaque[]").element_type == "opaque"
  assert shape("()").tuple_shapes == ()


def test_layout_suffixes() -> None:
  layout = shape("f32[4,8]{1,0:T(8,128)(2,1)L(2)#(u32)*(u16)E(32)S(3)SC(0:1,2)M(4)}").layout
  assert layout == hlo.Layout(
    (1, 0),
    tiles=((8, 128), (2, 1)),
    tail_padding_alignment=2,
    index_type="u32",
    pointer_type="u16",
    element_size_in_bits=32,
    memory_space=3,
    split_configs=(layout.split_configs[0],),  # type: ignore[union-attr]
    dynamic_shape_metadata_prefix_bytes=4,
  )
  assert layout.split_configs[0].indices == (1, 2)  # type: ignore[union-attr]
  star = shape("f32[4,8]{1,0:T(*,128)}").layout
  assert star is not None and star.tiles == ((COMBINE, 128),)
  physical = shape("f32[4]{0:D(C)P((s32[2]{0}, f32[4]{0}))}").layout
  assert physical is not None and physical.dim_level_types == ("C",) and physical.physical_shape is not None


@pytest.mark.parametrize(
  ("text", "dtype", "values"),
  [
    ("pred[3] constant({1, 0, true})", np.bool_, [1, 0, 1]),
    ("s32[2,2] constant({ {1, -2}, {3, 4} })", np.int32, [[1, -2], [3, 4]]),
    ("u64[1] constant({18446744073709551615})", np.uint64, [2**64 - 1]),
    ("s4[2] constant({-8, 7})", ml_dtypes.int4, [-8, 7]),
    ("f32[3] constant({1.5, -inf, 1e-40})", np.float32, [1.5, -np.inf, 1e-40]),
    ("f8e4m3fn[2] constant({448, -0.5})", ml_dtypes.float8_e4m3fn, [448, -0.5]),
    ("f4e2m1fn[2] constant({6, -0.5})", ml_dtypes.float4_e2m1fn, [6, -0.5]),
    ("f8e8m0fnu[2] constant({0.5, 2})", ml_dtypes.float8_e8m0fnu, [0.5, 2]),
    ("c64[1] constant({(1, -2)})", np.complex64, [1 - 2j]),
    ("f32[2,0] constant({ {}, {} })", np.float32, [[], []]),
    ("f32[] constant(7)", np.float32, 7),
    ("s32[3] constant({/*i0=0*/1, 2, /* */ 3})", np.int32, [1, 2, 3]),
    ("s32[2,3] constant(1, 2, 3, /*i=3*/ 4, 5, -6)", np.int32, [[1, 2, 3], [4, 5, -6]]),
    ("f32[1] constant(2)", np.float32, [2]),
    ("f32[2,2] constant(1)", np.float32, [[1, 0], [0, 0]]),  # as XLA reads it
  ],
)
def test_literals(text: str, dtype: Any, values: Any) -> None:
  value = root(f"y = {text}").literal.value
  assert value is not None and value.dtype == np.dtype(dtype)
  np.testing.assert_array_equal(value, np.array(values).astype(dtype))


def test_nan_payloads_keep_their_bits() -> None:
  value = root("y = f32[4] constant({nan, -nan, nan(0x123), -nan(0x7fffff)})").literal.value
  assert value is not None
  assert [hex(v) for v in value.view(np.uint32).tolist()] == ["0x7fc00000", "0xffc00000", "0x7f800123", "0xffffffff"]


def test_tuple_and_elided_literals() -> None:
  literal = root("y = (s32[], f32[2]) constant((1, {2, 3}))").literal
  assert [part.value.tolist() for part in literal.elements] == [1, [2.0, 3.0]]  # type: ignore[union-attr]
  elided = root("y = f32[2,2] constant({...})").literal
  assert elided.is_elided
  with pytest.raises(ValueError, match="elided"):
    elided.to_numpy()


def test_replica_groups() -> None:
  def groups(text: str) -> Any:
    return root(f"y = f32[4] all-reduce(x), replica_groups={text}, to_apply=sum").attrs["replica_groups"]

  assert groups("{{0,1},{2,3}}") == ListGroups(((0, 1), (2, 3)))
  assert groups("{}").groups() == ()
  iota = groups("[2,4]<=[4,2]T(1,0)")
  assert iota == IotaGroups(2, 4, Iota((4, 2), (1, 0)))
  assert iota.groups() == ((0, 2, 4, 6), (1, 3, 5, 7))
  assert groups("[2,4]<=[8]").groups() == ((0, 1, 2, 3), (4, 5, 6, 7))
  mesh = groups('mesh["x"=2,"y"=4] {"x"}')
  assert mesh == MeshGroups(Mesh((("x", 2), ("y", 4))), (AxisRef(0),))
  assert mesh.groups() == ((0, 4), (1, 5), (2, 6), (3, 7))
  assert groups('mesh["x"=2,"y"=4] {"y":(2)2}').groups() == ((0, 1), (2, 3), (4, 5), (6, 7))
  assert groups('mesh["x"=2,"y"=2], device_ids=(3,2,1,0) {"y"}').groups() == ((3, 2), (1, 0))


@pytest.mark.parametrize(
  "text",
  [
    "{replicated}",
    "{maximal device=3}",
    "{manual}",
    "{unknown}",
    "{unreduced}",
    "{devices=[4]0,2,1,3}",
    "{devices=[2,2]<=[4] last_tile_dim_replicate}",
    "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={manual, replicated}}",
    '{devices=[4]<=[4] shard_as 3 metadata={op_name="x" source_line=3}}',
    "{replicated shard_like 5}",
    '{mesh["x"=2,"y"=4], [{"x", ?}], replicated={"y":(1)2}, unreduced={"y":(2)2}}',
    '{mesh["x"=2,"y"=4], [{"x"}], manual={"y"}}',
    '{mesh["x"=2,"y"=4], replicated}',
    '{mesh["x"=2,"y"=4], manual}',
    '{mesh["x"=2,"y"=4], device_ids=([4,2]T(1,0)), [{"x"}]}',
    "{maximal_mesh[device_id=5]}",
    "{mesh[], replicated}",
  ],
)
def test_shardings_print_as_they_are_written(text: str) -> None:
  assert str(root(f"y = f32[4] copy(x), sharding={text}").sharding) == text


def test_a_single_sharding_of_a_tuple_stands_for_its_leaves() -> None:
  sharding = root("y = (f32[4], f32[4]) tuple(x, x), sharding={replicated}").sharding
  assert sharding is not None and [s.kind for s in sharding.elements] == ["replicated", "replicated"]


def test_windows_labels_padding_slices() -> None:
  before = " i = f32[2,8,8,3] parameter(1)\n k = f32[3,3,3,4] parameter(2)"
  window = "{size=3x3 stride=2x1 pad=1_1x0_0 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1}"
  conv = root(
    f"y = f32[2,3,13,4] convolution(i, k), window={window}, dim_labels=b01f_01io->b01f, feature_group_count=1", before
  )
  first, second = conv.attrs["window"]
  assert (first.size, first.stride, first.padding_low, first.window_dilation) == (3, 2, 1, 2)
  assert (second.base_dilation, second.reversal) == (2, True)
  assert conv.attrs["dim_labels"] == ConvDims(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2))
  pad = root("y = f32[8] pad(x, z), padding=0_1_1", " z = f32[] constant(0)")
  assert pad.attrs["padding"] == (PaddingDim(0, 1, 1),)
  assert root("y = f32[2] slice(x), slice={[0:4:2]}").attrs["slice"] == (SliceDim(0, 4, 2),)


def test_strings_and_backend_configs() -> None:
  call = root(r'y = f32[4] custom-call(x), custom_call_target="f\"oo\n\\\001", backend_config="a=b\xff"')
  assert call.attrs["custom_call_target"] == 'f"oo\n\\\x01'
  assert call.backend_config.encode("utf-8", "surrogateescape") == b"a=b\xff"
  call = root('y = f32[4] custom-call(x), custom_call_target=\'f\', backend_config={"a":{"b":[1,"x}"]}}')
  assert call.backend_config_json == {"a": {"b": [1, "x}"]}}


def test_common_attributes() -> None:
  y = root(
    'y = f32[4] negate(x), metadata={op_name="a/b" source_file="f.py" source_line=3 stack_frame_id=7}, '
    'frontend_attributes={k="v",raw={n = 1 : i32}}, control-predecessors={%c}, origin={{"v" {0}}}, '
    "statistics={visualizing_index=1,stat-1=33.4}",
    " c = f32[4] copy(x)",
  )
  assert y.metadata == hlo.OpMetadata(op_name="a/b", source_file="f.py", source_line=3, stack_frame_id=7)
  assert y.frontend_attributes == {"k": "v", "raw": "{n = 1 : i32}"}
  assert [p.name for p in y.control_predecessors] == ["c"]
  assert y.origin is not None and y.origin.elements == (((), OriginalArray("v", (0,))),)
  assert y.statistics is not None and y.statistics.values == (("stat-1", 33.4),)


def test_result_accuracy_and_aliasing() -> None:
  y = root("y = f32[4] exponential(x), result_accuracy={tolerance={atol=0.5,rtol=0.25,ulps=2}}")
  assert y.attrs["result_accuracy"].tolerance == (0.5, 0.25, 2)
  assert root("y = f32[4] exponential(x), result_accuracy={mode=highest}").attrs["result_accuracy"].mode == "highest"
  y = root('y = (f32[4]) custom-call(x), custom_call_target="f", output_to_operand_aliasing={{0}: (0, {})}')
  assert y.attrs["output_to_operand_aliasing"] == (hlo.OutputAlias((0,), 0, ()),)


def test_compact_elements_and_nested_instructions() -> None:
  y = root("y = tuple(add(sqrt(x), x), %t#1#0, %t#1#0)", " t = (f32[4], (s32[], f32[2])) parameter(1)")
  assert str(y.shape) == "(f32[4]{0}, s32[], s32[])"
  assert y.operands[0].opcode == "add" and y.operands[0].operands[0].opcode == "sqrt"
  assert y.operands[1] is y.operands[2] and y.operands[1].attrs["index"] == 0


def test_operands_with_shapes_and_inline_computations() -> None:
  y = root("y = f32[4] fusion(f32[4]{0} %x), kind=kLoop, calls={ p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }")
  assert y.attrs["calls"].is_fusion and y.attrs["calls"].root.opcode == "negate"


def test_async_sugar_becomes_a_wrapped_computation() -> None:
  before = """ s = ((f32[4]), f32[4], s32[]) custom-call-start(x), custom_call_target="foo", async_execution_thread="thr"
 u = ((f32[4]), f32[4], s32[]) custom-call-update(s)"""
  done = root("d = f32[4] custom-call-done(u)", before)
  update = done.operands[0]
  start = update.operands[0]
  assert [done.opcode, update.opcode, start.opcode] == ["async-done", "async-update", "async-start"]
  wrapped = start.attrs["calls"]
  assert wrapped.execution_thread == "thr" and wrapped.root.attrs["custom_call_target"] == "foo"


def test_header() -> None:
  module = hlo.parse(
    """HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias), {1}: (1, {}) },
    buffer_donor={ (1, {}) }, alias_passthrough_params=true, entry_computation_layout={(f32[4]{0}, f32[4]{0})->(f32[4]{0},
    f32[4]{0})}, replica_count=2, num_partitions=4, frontend_attributes={a="b",m={mesh = #sdy<["x"=2]>}},
    allow_spmd_sharding_propagation_to_parameters={false,true}, allow_spmd_sharding_propagation_to_output={true}
    FileNames
    1 "a.py"
    FunctionNames
    1 "f"
    FileLocations
    1 {file_name_id=1 function_name_id=1 line=12 end_line=13 column=2 end_column=4}
    StackFrames
    1 {file_location_id=1 parent_frame_id=1}
    2 {file_location_id=1 parent_frame_id=2}
    ENTRY e { p = f32[4] parameter(0)
      q = f32[4] parameter(1)
      ROOT t = (f32[4], f32[4]) tuple(p, q) }"""
  )
  for m in (module, hlo.parse(module.to_text())):
    assert m.is_scheduled and m.alias_passthrough_params and (m.replica_count, m.num_partitions) == (2, 4)
    assert [a.kind for a in m.input_output_alias] == ["must-alias", "may-alias"]
    assert m.buffer_donor == (hlo.BufferDonor(1, ()),)
    assert m.frontend_attributes == {"a": "b", "m": '{mesh = #sdy<["x"=2]>}'}
    assert m.allow_spmd_sharding_propagation_to_parameters == (False, True)
    assert [f.parent_frame_id for f in m.stack_frames.stack_frames] == [0, 1]
    assert m.stack_frames.file_locations[0].end_line == 13


def test_headerless_modules_and_single_instructions() -> None:
  module = hlo.parse("a { ROOT x = f32[] parameter(0) }\nb { ROOT y = f32[] parameter(0) }")
  assert module.entry.name == "b"
  single = hlo.parse("r = f32[4] add(f32[4] x, f32[4] y)")
  assert [p.name for p in single.entry.parameters] == ["x", "y"]


def test_names_are_unique_across_computations() -> None:
  module = hlo.parse(f"HloModule m\n{SUM}ENTRY e {{ a = f32[] parameter(0)\n ROOT r = f32[] negate(a) }}")
  names = [i.name for i in module.instructions()]
  assert len(set(names)) == len(names) and "a.1" in names


@pytest.mark.parametrize(
  ("text", "where", "reason"),
  [
    (
      "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] add(x, z)\n}",
      "5:26",
      "no instruction %z",
    ),
    ("HloModule m\nENTRY e { ROOT y = f32[4] addd() }", "2:27", "not an opcode"),
    ("HloModule m, foo=1\nENTRY e { ROOT y = f32[] parameter(0) }", "1:13", "not an attribute of a module"),
    ("ENTRY e { ROOT y = f32[4] constant({1, 2, 3}) }", "1:36", "3 elements"),
    ("ENTRY e { ROOT y = f8e4m3fn[] constant(1000) }", "1:40", "out of the range"),
    ("ENTRY e { ROOT y = s8[] constant(200) }", "1:34", "out of the range"),
    ("ENTRY e { ROOT y = f32[2]{1} parameter(0) }", "1:26", "permutation"),
    ("ENTRY e { s8 = f32[2] parameter(0) }", "1:11", "reserved"),
    ('ENTRY e { ROOT y = f32[] parameter(0), metadata={op_name="a }', "1:50", "takes a string"),
    ("ENTRY e { ROOT y = f32[] parameter(0), foo=1 }", "1:40", "not an attribute of parameter"),
    ("ENTRY e { ROOT y = f32[] parameter(1) }", "1:10", "not numbered"),
    ("ENTRY e {", "1:10", "not closed"),
    ("", "1:1", "expected"),
  ],
)
def test_errors_say_where_and_why(text: str, where: str, reason: str) -> None:
  with pytest.raises(hlo.HloParseError, match=reason) as caught:
    hlo.parse(text)
  error = caught.value
  assert f"{error.line}:{error.column}" == where
  assert isinstance(error, ValueError)
  message, source, caret = str(error).split("\n")
  assert caret.index("^") - 2 == min(error.column - 1, 80), (message, source, caret)


@pytest.mark.parametrize("piece", ["add(", "(", "(f32[2], ", "tuple("])
def test_deep_nesting_is_an_error_not_a_crash(piece: str) -> None:
  with pytest.raises(hlo.HloParseError):
    hlo.parse("ENTRY e { ROOT y = " + piece * 20_000)


def test_sparse_and_scaled_convolutions() -> None:
  before = " a = f16[8,8] parameter(1)\n b = f16[8,8] parameter(2)"
  line = "c = f16[8,8] convolution(a, b), window={}, dim_labels=bf_io->bf"
  sparse = root(f"{line}, sparsity_config={{rhs={{sparsity=2x4 dimension=1 stride=1 idx=2}}}}", before)
  assert sparse.attrs["sparsity_config"] == Sparsity(None, TensorSparsity(2, 4, 1, 1, 2))
  scaled = root(f"{line}, block_scaling_config={{lhs={{scale_idx=2}} rhs={{scale_idx=3}}}}", before)
  assert scaled.attrs["block_scaling_config"] == BlockScaling(TensorScale(2), TensorScale(3))
  backward = root(f"{line}, convolution_kind=dgrad", before)
  assert backward.attrs["convolution_kind"] == "dgrad"
  for instruction in (sparse, scaled, backward):
    module = instruction.parent.parent
    assert hlo.from_proto(module.to_proto()).to_text() == module.to_text()
  for wrong in (
    "sparsity_config={lhs={sparsity=3}}",
    "sparsity_config={lhs={} lhs={}}",
    "block_scaling_config={idx=1}",
  ):
    with pytest.raises(hlo.HloParseError):
      root(f"{line}, {wrong}", before)


@pytest.mark.parametrize(
  "text",
  [
    "HloModule m:\n\ne: {\n  ROOT c = f32[] constant(0)\n}\n",
    "HloModule m:, is_scheduled=true\n\nENTRY e {\n  ROOT c = f32[] constant(0)\n}\n",
    "HloModule m\n\nENTRY e (f32[2], (s32[], f32[]), named: f32[2]) -> f32[2] {\n  p = f32[2] parameter(0)\n"
    "  q = (s32[], f32[]) parameter(1)\n  r = f32[2] parameter(2)\n  ROOT c = f32[2] add(p, r)\n}\n",
    "HloModule m\n\nENTRY e {\n  p = bf16[2,128] {0,1} parameter(0)\n"
    "  ROOT c = (bf16[2,128]  {0,1}, bf16[2,128]) tuple(bf16[2,128] {0,1} p, p)\n}\n",
    "HloModule m, num_partitions=4\n\nENTRY e {\n"
    "  ROOT p = f32[8,8] parameter(0), sharding={mesh['x'=2,'y'=2] [{'x'}, {'y'}]}\n}\n",
  ],
)
def test_spellings_that_xla_accepts_besides_its_own(text: str) -> None:
  module = hlo.parse(text)
  hlo.verify(module)
  assert hlo.parse(module.to_text()).to_text() == module.to_text()
  for instruction in module.instructions():
    if "{0,1}" in text and instruction.name == "p":
      assert instruction.shape.layout is not None and instruction.shape.layout.minor_to_major == (0, 1)


COMMENT = "/*i=5*/"


@pytest.mark.parametrize(
  ("line", "meaning"),
  [
    (f"devices=[8]0,1,2,3,4,{COMMENT}5,6,7", "devices=[8]0,1,2,3,4,5,6,7"),
    (f"devices=[8]{COMMENT}0,1,2,3,4,{COMMENT} 5,6,7", "devices=[8]0,1,2,3,4,5,6,7"),
    (
      f"devices=[1,{COMMENT}8]<=[2,{COMMENT}4]T(1,{COMMENT}0) last_tile_dims={{manual}}",
      "devices=[1,8]<=[2,4]T(1,0) last_tile_dims={manual}",
    ),
  ],
)
def test_comments_split_lists_of_shardings(line: str, meaning: str) -> None:
  found = [root(f"y = f32[4] negate(x), sharding={{{text}}}").sharding for text in (line, meaning)]
  assert found[0] == found[1] is not None


def test_comments_split_lists_of_groups() -> None:
  line = "y = f32[4] all-reduce(x), replica_groups=[2,{0}4]<=[2,{0}4]T(1,{0}0), to_apply=sum"
  found = [root(line.format(comment)).attrs["replica_groups"] for comment in (COMMENT, "")]
  assert found[0] == found[1] and found[0].groups() == ((0, 4, 1, 5), (2, 6, 3, 7))


def test_an_instruction_without_a_name_is_a_module() -> None:
  assert hlo.parse("f32[4] negate(f32[4] %x)").entry.root.opcode == "negate"
  assert hlo.parse("(f32[], s32[]) tuple(f32[] %x, s32[] %y)").entry.root.shape.is_tuple

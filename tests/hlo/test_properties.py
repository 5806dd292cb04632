"""Random modules: print, parse and serialise are inverse to one another."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from tilewright import hlo
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.float_bits import bits_dtype

ARRAY_TYPES = [name for name, row in PRIMITIVE_TYPES.items() if row.dtype is not None]
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.\-]{0,8}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def shapes(draw: st.DrawFn, depth: int = 2) -> hlo.Shape:
  if depth and draw(st.booleans()) and draw(st.booleans()):
    return hlo.Shape.tuple_of(*draw(st.lists(shapes(depth=depth - 1), max_size=3)))
  if draw(st.integers(0, 15)) == 0:
    return hlo.Shape.token()
  dims = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
  order = tuple(draw(st.permutations(range(len(dims)))))
  dynamic = tuple(draw(st.lists(st.booleans(), min_size=len(dims), max_size=len(dims))))
  layout = hlo.Layout(
    order,
    tiles=tuple(draw(st.lists(st.lists(st.integers(1, 128), min_size=1, max_size=2).map(tuple), max_size=2))),
    element_size_in_bits=draw(st.sampled_from([0, 4, 32])),
    memory_space=draw(st.integers(0, 5)),
  )
  return hlo.Shape(draw(st.sampled_from(ARRAY_TYPES)), dims, layout, dynamic if any(dynamic) else ())


@st.composite
def literals(draw: st.DrawFn) -> hlo.Literal:
  """Any bits a type can hold."""
  element_type = draw(st.sampled_from(ARRAY_TYPES))
  row = PRIMITIVE_TYPES[element_type]
  assert row.dtype is not None
  dims = draw(st_numpy.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
  order = tuple(draw(st.permutations(range(len(dims)))))
  count = int(np.prod(dims))
  if row.kind == "complex":
    parts = draw(st.lists(st.floats(width=32, allow_nan=False), min_size=2 * count, max_size=2 * count))
    array = np.array(parts, np.float32 if element_type == "c64" else np.float64).view(row.dtype)
  elif row.kind == "pred":
    array = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)
  else:
    bits = draw(st.lists(st.integers(0, (1 << row.bits) - 1), min_size=count, max_size=count))
    raw = np.array(bits, bits_dtype(element_type))
    if row.bits < 8 and row.kind in ("signed", "unsigned"):
      signed = row.kind == "signed"
      array = (raw.astype(np.int8) - (1 << (row.bits - 1)) if signed else raw).astype(row.dtype)
    else:
      array = raw.view(row.dtype)
  return hlo.Literal(hlo.Shape(element_type, dims, hlo.Layout(order)), array.reshape(dims))


@st.composite
def modules(draw: st.DrawFn) -> hlo.Module:
  """A straight line of custom calls, tuples and constants with every common attribute, in a few computations."""
  module = hlo.Module(draw(NAMES))
  for _ in range(draw(st.integers(1, 2))):
    computation = hlo.Computation(draw(NAMES))
    pool: list[hlo.Instruction] = []
    for number in range(draw(st.integers(1, 2))):
      attrs = {"parameter_number": number}
      pool.append(hlo.Instruction(draw(NAMES), "parameter", draw(shapes()), attrs=attrs))
    for _ in range(draw(st.integers(0, 4))):
      if draw(st.booleans()):
        literal = draw(literals())
        pool.append(hlo.Instruction(draw(NAMES), "constant", literal.shape, attrs={"literal": literal}))
        continue
      operands = tuple(draw(st.lists(st.sampled_from(pool), max_size=3)))
      call = hlo.Instruction(draw(NAMES), "custom-call", draw(shapes()), operands, {"custom_call_target": draw(TEXTS)})
      call.backend_config = draw(TEXTS)
      call.frontend_attributes = draw(st.dictionaries(NAMES, TEXTS, max_size=2))
      call.metadata = draw(st.none() | st.builds(hlo.OpMetadata, op_name=TEXTS, source_line=st.integers(0, 2**31 - 1)))
      if module.computations and draw(st.booleans()):
        call.attrs["called_computations"] = tuple(
          draw(st.lists(st.sampled_from(module.computations), min_size=1, max_size=2))
        )
      if draw(st.booleans()):
        call.add_control_predecessor(draw(st.sampled_from(pool)))
      pool.append(call)
    computation.instructions = pool
    computation.root = draw(st.sampled_from(pool))
    for instruction in pool:
      instruction.parent = computation
    names: set[str] = set()
    for instruction in pool:  # unique before the module makes them so
      while instruction.name in names:
        instruction.name += "_"
      names.add(instruction.name)
    module.add_computation(computation)
  module.entry = module.computations[-1]
  module.frontend_attributes = draw(st.dictionaries(NAMES, TEXTS, max_size=2))
  return module


quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(modules())
def test_parse_undoes_print(module: hlo.Module) -> None:
  text = module.to_text()
  again = hlo.parse(text)
  assert again.to_text() == text
  for before, after in zip(module.instructions(), again.instructions()):
    assert (before.name, before.opcode, before.shape) == (after.name, after.opcode, after.shape)
    assert before.backend_config == after.backend_config and before.frontend_attributes == after.frontend_attributes


@quick
@given(modules())
def test_from_proto_undoes_to_proto(module: hlo.Module) -> None:
  again = hlo.from_proto(module.to_proto())
  assert again.to_text() == module.to_text()
  assert again.to_proto() == module.to_proto()


@quick
@given(literals())
def test_literals_keep_their_bits(literal: hlo.Literal) -> None:
  constant = hlo.Instruction("c", "constant", literal.shape, attrs={"literal": literal})
  module = hlo.Module("m")
  module.add_computation(hlo.Computation("e", [constant], constant))
  constant.parent, module.entry = module.computations[0], module.computations[0]
  for again in (hlo.parse(module.to_text()), hlo.from_proto(module.to_proto())):
    assert again.entry.root.literal.identical(literal), module.to_text()


@quick
@given(shapes())
def test_shapes_read_back(shape: hlo.Shape) -> None:
  module = hlo.parse(f"ENTRY e {{ ROOT p = {shape} parameter(0) }}")
  assert module.entry.root.shape == shape

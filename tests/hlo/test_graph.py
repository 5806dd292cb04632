"""Editing, orders, aliases and the verifier."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import hlo

LOOP = """HloModule loop
cond { c = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(i, n), direction=LT }
body { c = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[4] get-tuple-element(c), index=1
  y = f32[4] add(x, x)
  ROOT t = (s32[], f32[4]) tuple(next, y) }
ENTRY e { x = f32[4] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[4]) tuple(zero, x)
  w = (s32[], f32[4]) while(init), condition=cond, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1 }
"""


def diamond() -> tuple[hlo.Module, list[hlo.Instruction]]:
  b = hlo.Builder("main")
  p = b.parameter("f32", (4,))
  left, right = b.unary("negate", p), b.unary("abs", p)
  top = b.add(left, right)
  return b.module(top), [p, left, right, top]


def test_the_builder_makes_legal_modules() -> None:
  module, (p, left, right, top) = diamond()
  hlo.verify(module)
  assert p.users == (left, right) and top.operands == (left, right) and top.is_root
  assert hlo.parse(module.to_text()).to_text() == module.to_text()


def test_builder_infers_shapes() -> None:
  b = hlo.Builder()
  x, y = b.parameter("bf16", (2, 3, 4)), b.parameter("bf16", (2, 4, 5))
  assert b.dot(x, y, contracting=((2,), (1,)), batch=((0,), (0,))).shape.dimensions == (2, 3, 5)
  assert b.transpose(x, (2, 0, 1)).shape.dimensions == (4, 2, 3)
  assert b.pad(x, b.constant(0, "bf16"), (0, 1, 1), (1, 1), (0, 0)).shape.dimensions == (4, 5, 4)
  assert b.element(b.make_tuple(x, y), 1).shape == y.shape
  with pytest.raises(hlo.HloShapeError, match="does not fit"):
    b.dot(x, y, contracting=((2,), (2,)))


def test_replacing_and_removing() -> None:
  module, (p, left, right, top) = diamond()
  with pytest.raises(hlo.HloGraphError, match="uses it"):
    module.entry.remove(left)
  left.replace_all_uses_with(right)
  assert top.operands == (right, right) and left.is_dead
  module.entry.remove(left)
  assert p.users == (right,)
  new = hlo.Builder(module.entry, before=top).unary("exponential", right)
  module.entry.replace(top, new)
  assert module.entry.root is new and module.entry.instructions[-1] is new
  hlo.verify(module)


def test_control_edges_survive_removal_of_what_is_between() -> None:
  module, (p, left, right, _) = diamond()
  middle = hlo.Builder(module.entry).unary("sine", p)
  middle.add_control_predecessor(left)
  right.add_control_predecessor(middle)
  module.entry.remove(middle)
  assert right.control_predecessors == (left,) and left.control_successors == (right,)
  hlo.verify(module)


def test_printing_sorts_what_is_out_of_order() -> None:
  module, (p, left, right, top) = diamond()
  module.entry.instructions = [top, right, left, p]
  assert not hlo.is_ordered(module.entry.instructions)
  assert hlo.is_ordered(module.entry.topological_order())
  hlo.verify(hlo.parse(module.to_text()))


def test_cycles_are_found() -> None:
  module, (_, left, _, top) = diamond()
  left.add_control_predecessor(top)
  with pytest.raises(hlo.HloGraphError, match="cycle"):
    module.entry.topological_order()
  assert any("cycle" in problem for problem in hlo.problems(module))


def test_dominance_is_dependence() -> None:
  module, (p, left, right, top) = diamond()
  reach = hlo.Reachability(module.entry)
  assert reach.dominates(p, top) and reach.independent(left, right) and not reach.dominates(top, p)
  right.add_control_predecessor(left)
  assert hlo.Reachability(module.entry).dominates(left, right)


def test_call_graph() -> None:
  module = hlo.parse(LOOP)
  graph = hlo.call_graph(module)
  assert [c.name for c in graph.post_order] == ["body", "cond", "e"]
  assert graph.called_once(module.find("body")) and graph.callers[module.entry] == ()
  module.find_instruction("w").attrs["body"] = module.find("cond")
  assert module.remove_unreachable_computations() == 1


def test_recursion_is_refused() -> None:
  module = hlo.parse(LOOP)
  body = module.find("body")
  hlo.Builder(body).call(body, body.parameters[0])
  assert any("calls itself" in problem for problem in hlo.problems(module))


def test_inlining_by_copying_a_body() -> None:
  b = hlo.Builder("callee")
  x = b.parameter("f32", (4,))
  callee = b.finish(b.add(x, x))
  main = hlo.Builder("main")
  p = main.parameter("f32", (4,))
  call = main.call(callee, p)
  module = main.module(call)
  copies, new = hlo.copy_body(callee, {callee.parameters[0]: p})
  for copy in copies:
    module.entry.insert(copy, before=call)
  module.entry.replace(call, new[callee.root])
  module.remove_computation(callee)
  hlo.verify(module)
  assert [i.opcode for i in module.entry] == ["parameter", "add"]


def test_aliases() -> None:
  module = hlo.parse(LOOP)
  loop = module.find_instruction("w")
  assert hlo.Alias((1,), 0, (1,)) in hlo.must_alias(loop)
  assert hlo.buffer_source(module.entry.root) == (module.entry.parameters[0], ())
  b = hlo.Builder()
  x, u, i = b.parameter("f32", (4,)), b.parameter("f32", (2,)), b.parameter("s32")
  update = b.dynamic_update_slice(x, u, [i])
  assert hlo.must_alias(update) == [hlo.Alias((), 0, ())] and hlo.may_alias(update) == []
  total = b.add(x, x)
  assert hlo.may_alias(total) == [hlo.Alias((), 0, ()), hlo.Alias((), 1, ())]
  text = "HloModule m, input_output_alias={ {}: (0, {}, must-alias) }, buffer_donor={ (1, {}) }\n"
  parsed = hlo.parse(text + "ENTRY e { p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] add(p, q) }")
  aliases = hlo.module_aliases(parsed)
  assert aliases.must == (((), 0, ()),) and aliases.donors == ((1, ()),)


@pytest.mark.parametrize(
  ("line", "problem"),
  [
    ("ROOT y = f32[5] add(x, x)", "has the shape"),
    ("ROOT y = f32[4] add(x, i)", "different"),
    ("ROOT y = f32[4] negate(x, x)", "takes 1 operand"),
    ("ROOT y = f32[2,3] reshape(x)", "cannot become"),
    ("ROOT y = f32[4,2] broadcast(x), dimensions={1}", "does not fit"),
    ("ROOT y = pred[4] compare(x, x), direction=XX", "direction"),
    ("ROOT y = f32[2] slice(x), slice={[3:9]}", "outside"),
    ("ROOT y = f32[] get-tuple-element(x), index=0", "no element 0"),
    ("ROOT y = s32[4] while(i), condition=c, body=c", "the condition"),
    ("ROOT y = f32[2] call(x), to_apply=c", "the callee"),
    ("ROOT y = f32[] reduce(x, z), dimensions={0}, to_apply=c", "takes 1 parameter"),
    ("ROOT y = f32[4] all-reduce-done(x)", "not a all-reduce-start"),
    ("ROOT y = f32[4] dynamic-update-slice(x, v, i)", "does not fit into"),
    ("ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{2,1}}", "a target appears more than once"),
  ],
)
def test_the_verifier_names_the_rule(line: str, problem: str) -> None:
  module = hlo.parse(
    "HloModule m\nc { ROOT p = f32[4] parameter(0) }\n"
    "ENTRY e { x = f32[4] parameter(0)\n i = s32[] constant(0)\n z = f32[] constant(0)\n v = f32[8] parameter(1)\n"
    f"{line} }}"
  )
  with pytest.raises(hlo.HloVerifyError, match=problem):
    hlo.verify(module)


def test_a_schedule_must_be_an_order() -> None:
  module, (p, left, right, top) = diamond()
  module.is_scheduled = True
  hlo.verify(module)
  module.entry.instructions = [left, p, right, top]
  with pytest.raises(hlo.HloVerifyError, match="schedule"):
    hlo.verify(module)


def test_a_schedule_survives_the_proto() -> None:
  module, (p, left, right, top) = diamond()
  module.is_scheduled = True
  module.entry.instructions = [p, right, left, top]
  again = hlo.from_proto(module.to_proto())
  assert again.is_scheduled and [i.opcode for i in again.entry] == ["parameter", "abs", "negate", "add"]


def test_large_constants_go_through_the_proto_without_being_printed() -> None:
  b = hlo.Builder()
  values = np.random.default_rng(0).integers(-(2**31), 2**31, (1000, 1000)).astype(np.int32)
  constant = b.constant(values)
  module = hlo.from_proto(b.module(constant).to_proto())
  np.testing.assert_array_equal(module.entry.root.literal.value, values)


def test_a_literal_is_stored_in_the_order_of_its_layout() -> None:
  text = "ENTRY e { ROOT c = s32[2,3]{0,1} constant({ {1, 2, 3}, {4, 5, 6} }) }"
  module = hlo.parse(text)
  proto = module.to_proto()
  assert bytes([1, 4, 2, 5, 3, 6]) in proto
  assert hlo.from_proto(proto).entry.root.literal.identical(module.entry.root.literal)

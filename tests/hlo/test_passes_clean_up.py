"""Clean-up passes: conditionals, maps, arrays without elements, shared computations."""

from __future__ import annotations

import pytest

from tests.hlo.collective_checks import ADD, count, transformed

BRANCH = """{name} {{ p{name} = (f32[4], f32[4], s32[]) parameter(0)
  a{name} = f32[4] get-tuple-element(p{name}), index=0
  b{name} = f32[4] get-tuple-element(p{name}), index=1
  c{name} = f32[4] {op}(a{name}, a{name})
  d{name} = f32[4] negate(a{name})
  ROOT t{name} = (f32[4], f32[4], f32[4]) tuple(c{name}, d{name}, {third}) }}
"""


def conditional(predicate: str, read: tuple[int, ...] = (0, 1, 2), third: str = "b{}", branches: str = "f, g") -> str:
  names = [n.strip() for n in branches.split(",")]
  text = "HloModule m\n" + "".join(
    BRANCH.format(name=n, op=op, third=third.format(n)) for n, op in zip(names, ("add", "multiply", "maximum"))
  )
  operands = ", ".join("o" for _ in names)
  reads = "".join(f"  r{i} = f32[4] get-tuple-element(q), index={i}\n" for i in read)
  shape = ", ".join("f32[4]" for _ in read)
  return (
    text + "ENTRY e { x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n  n = s32[] parameter(2)\n"
    f"  k = {predicate}\n  o = (f32[4], f32[4], s32[]) tuple(x, y, n)\n"
    f"  q = (f32[4], f32[4], f32[4]) conditional(k, {operands}), branch_computations={{{branches}}}\n"
    f"{reads}  ROOT z = ({shape}) tuple({', '.join(f'r{i}' for i in read)}) }}"
  )


@pytest.mark.parametrize("number, opcode", [(0, "add"), (1, "multiply"), (7, "multiply"), (-1, "multiply")])
def test_a_known_branch_takes_the_conditionals_place(number: int, opcode: str) -> None:
  module = transformed(conditional(f"s32[] constant({number})"), "simplify-conditional", devices=1, tolerance=0)
  assert count(module, "conditional") == 0 and count(module, opcode) == 1 and len(module.computations) == 1


def test_a_single_branch_needs_no_conditional() -> None:
  module = transformed(conditional("s32[] copy(n)", branches="f"), "conditional_simplifier", devices=1, tolerance=0)
  assert count(module, "conditional") == 0


def test_what_nothing_reads_is_not_computed_or_passed_in() -> None:
  module = transformed(
    conditional("s32[] copy(n)", (0,), third="c{}"), "conditional_simplifier", devices=1, tolerance=0
  )
  (left,) = (i for i in module.instructions() if i.opcode == "conditional")
  assert len(left.shape.tuple_shapes) == 1 and count(module, "negate") == 0
  assert [len(o.shape.tuple_shapes) for o in left.operands[1:]] == [2, 2]
  module = transformed(module.to_text(), ["dce", "conditional_simplifier"], devices=1, tolerance=0)
  (left,) = (i for i in module.instructions() if i.opcode == "conditional")
  assert [len(o.shape.tuple_shapes) for o in left.operands[1:]] == [1, 1]


def test_a_result_that_is_passed_through_is_the_operand() -> None:
  module = transformed(conditional("s32[] copy(n)"), "conditional_simplifier", devices=1, tolerance=0)
  (left,) = (i for i in module.instructions() if i.opcode == "conditional")
  assert module.entry.root.operands[2].name == "y" and len(left.shape.tuple_shapes) == 2


def test_branches_that_are_shared_are_copied_before_they_change() -> None:
  text = conditional("s32[] copy(n)", (1,)).replace("branch_computations={f, g}", "branch_computations={f, f}")
  module = transformed(text, "conditional_simplifier", devices=1, tolerance=0)
  (left,) = (i for i in module.instructions() if i.opcode == "conditional")
  assert len(set(left.called_computations)) == 2


MAP = """HloModule m
f { a = f32[] parameter(0)
  b = f32[] parameter(1)
  two = f32[] constant(2)
  ab = f32[] multiply(a, b)
  ROOT r = f32[] add(ab, two) }
ENTRY e { x = f32[4,3] parameter(0)
  y = f32[4,3] parameter(1)
  ROOT z = f32[4,3] map(x, y), dimensions={0,1}, to_apply=f, metadata={op_name="q"} }"""


def test_maps_become_elementwise() -> None:
  module = transformed(MAP, "map-inline", devices=1)
  assert count(module, "map") == 0 and len(module.computations) == 1
  assert module.entry.root.metadata and module.entry.root.metadata.op_name == "q"
  first = MAP.replace("ROOT r = f32[] add(ab, two)", "s = f32[] add(ab, two)").replace(
    "a = f32[] parameter(0)", "ROOT a = f32[] parameter(0)"
  )
  assert transformed(first, "map_inliner", devices=1, tolerance=0).entry.root.name == "x"


def test_arrays_without_elements_are_constants() -> None:
  text = """HloModule m
ENTRY e { x = f32[0,3] parameter(0)
  y = f32[2,3] parameter(1)
  a = f32[0,3] tanh(x)
  b = f32[2,3] concatenate(a, y), dimensions={0}
  c = f32[0,3] slice(y), slice={[1:1], [0:3]}
  ROOT r = (f32[2,3], f32[0,3]) tuple(b, c) }"""
  module = transformed(text, "zero-sized-hlo-elimination", devices=1, tolerance=0)
  assert count(module, "tanh") == count(module, "slice") == 0 and count(module, "constant") == 2
  transformed(module.to_text(), "zero_sized_hlo_elimination", changes=False, devices=1)


def test_every_caller_gets_a_computation_of_its_own() -> None:
  text = """HloModule m
f { a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a) }
g { b = f32[4] parameter(0)
  c = f32[4] call(b), to_apply=f
  ROOT s = f32[4] call(c), to_apply=f }
ENTRY e { x = f32[4] parameter(0)
  y = f32[4] call(x), to_apply=g
  ROOT z = f32[4] call(y), to_apply=g }"""
  module = transformed(text, "flatten-call-graph", devices=1, tolerance=0)
  called = [c for i in module.instructions() for c in i.called_computations]
  assert len(called) == len(set(called)) == 6
  transformed(module.to_text(), "flatten_call_graph", changes=False, devices=1)


SHARED = """HloModule m
f {{ p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  n = f32[4] negate(p)
  ROOT s = f32[4] {root} }}
ENTRY e {{ x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  z = f32[4] sine(y)
  c = f32[4] call(x, z), to_apply=f
  d = f32[4] call(y, x), to_apply=f{more}
  ROOT r = f32[4] add(c, d) }}"""


def test_parameters_that_a_shared_computation_does_not_read_are_not_passed() -> None:
  module = transformed(SHARED.format(root="abs(n)", more=""), "dce", devices=1, tolerance=0)
  assert count(module, "sine") == 0 and all(len(i.operands) == 1 for i in module.instructions() if i.opcode == "call")


@pytest.mark.parametrize(
  ("root", "more"), [("add(n, q)", ""), ("abs(n)", ', frontend_attributes={_xla_compute_type="host"}')]
)
def test_parameters_that_are_read_or_belong_to_someone_are_passed(root: str, more: str) -> None:
  module = transformed(SHARED.format(root=root, more=more), "dce", devices=1, tolerance=0, changes=False)
  assert count(module, "sine") == 1


def test_a_pair_without_elements_keeps_its_end() -> None:
  text = f"""HloModule m, replica_count=4
{ADD}ENTRY e {{ x = f32[0,4] parameter(0)
  s = f32[0,4] all-reduce-start(x), replica_groups={{}}, to_apply=add
  d = f32[0,4] all-reduce-done(s)
  ROOT n = f32[0,4] negate(d) }}"""
  module = transformed(text, "zero_sized_hlo_elimination", tolerance=0)
  assert count(module, "all-reduce-done") == 1 and not count(module, "negate")

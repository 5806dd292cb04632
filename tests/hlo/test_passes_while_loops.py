"""Loops that are simplified, and what is moved out of them."""

from __future__ import annotations

import numpy as np
import pytest
from collective_checks import count, transformed

from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.while_loops import loops_of

ONE = {"devices": 1, "tolerance": 0}


def loop(
  body: str,
  state: str = "(s32[], f32[4], f32[4])",
  next_: str = "i1, a1, b1",
  trips: int = 3,
  condition: str = "",
  init: str = "z, x, y",
  result: str = "ROOT r = f32[4] get-tuple-element(w), index=1",
  before: str = "",
) -> str:
  test = condition or f"n = s32[] constant({trips}) ROOT lt = pred[] compare(ci, n), direction=LT"
  return f"""HloModule m
body {{
  p = {state} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = f32[4] get-tuple-element(p), index=1
  b = f32[4] get-tuple-element(p), index=2
  one = s32[] constant(1)
  i1 = s32[] add(i, one)
  {body}
  ROOT t = {state} tuple({next_})
}}
cond {{
  cp = {state} parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  {test}
}}
ENTRY main {{
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  z = s32[] constant(0)
  {before}
  init = {state} tuple({init})
  w = {state} while(init), condition=cond, body=body
  {result}
}}"""


PLAIN = "a1 = f32[4] add(a, b) b1 = f32[4] copy(b)"


@pytest.mark.parametrize(("trips", "left"), [(0, 0), (1, 0), (2, 1)])
def test_loops_of_no_trip_and_of_one_go(trips: int, left: int) -> None:
  module = transformed(loop(PLAIN, trips=trips), "while_loop_simplifier", changes=not left, **ONE)
  assert count(module, "while") == left


@pytest.mark.parametrize(
  ("condition", "left"),
  [
    ("ROOT c = pred[] constant(false)", 0),
    (
      "n = s32[] constant(5) k = s32[] multiply(ci, n) m = s32[] constant(4) ROOT c = pred[] compare(k, m), direction=LT",
      0,
    ),
    (
      "n = s32[] constant(5) k = s32[] multiply(ci, n) m = s32[] constant(6) ROOT c = pred[] compare(k, m), direction=LT",
      1,
    ),
  ],
)
def test_trips_are_counted_by_running_the_condition(condition: str, left: int) -> None:
  module = transformed(loop(PLAIN, condition=condition), "while_loop_simplifier", changes=not left, **ONE)
  assert count(module, "while") == left


def test_elements_that_are_passed_on_or_dead_are_dropped() -> None:
  state = "(s32[], f32[4], f32[4], f32[4], f32[4])"
  body = "a1 = f32[4] add(a, b) c = f32[4] get-tuple-element(p), index=3 d = f32[4] get-tuple-element(p), index=4 d1 = f32[4] sine(d)"
  result = """ra = f32[4] get-tuple-element(w), index=1 rc = f32[4] get-tuple-element(w), index=3
  rb = f32[4] get-tuple-element(w), index=2 s = f32[4] add(ra, rc) ROOT r = f32[4] subtract(s, rb)"""
  text = loop(body, state, "i1, a1, b, c, d1", init="z, x, y, x, y", result=result)
  module = transformed(text, "while_loop_simplifier", **ONE)
  (found,) = loops_of(module)
  assert found.slots == 3  # the counter, a and b: c is passed on and not read, d is read by itself only


def test_constants_go_into_the_body_and_the_condition() -> None:
  state = "(s32[], f32[4], f32[4], s32[])"
  condition = "n = s32[] get-tuple-element(cp), index=3 ROOT lt = pred[] compare(ci, n), direction=LT"
  body = "a1 = f32[4] add(a, b) n1 = s32[] get-tuple-element(p), index=3"
  text = loop(body, state, "i1, a1, b, n1", condition=condition, init="z, x, y, k", before="k = s32[] constant(3)")
  module = transformed(text, "while_loop_simplifier", **ONE)
  (found,) = loops_of(module)
  assert found.slots == 3 and any(i.opcode == "constant" for i in found.condition.instructions)


def test_equal_elements_are_merged() -> None:
  body = "a1 = f32[4] sine(a)"
  result = """ra = f32[4] get-tuple-element(w), index=1 rb = f32[4] get-tuple-element(w), index=2 ROOT r = f32[4] add(ra, rb)"""
  module = transformed(loop(body, next_="i1, a1, a1", init="z, x, x", result=result), "while_loop_simplifier", **ONE)
  (found,) = loops_of(module)
  assert found.slots == 2


def test_comparisons_that_the_counter_decides_become_constants() -> None:
  body = """n = s32[] constant(9) lt = pred[] compare(i, n), direction=LT lb = pred[4] broadcast(lt), dimensions={}
  s = f32[4] sine(a) a1 = f32[4] select(lb, s, b)"""
  module = transformed(loop(body, next_="i1, a1, b"), "while_loop_simplifier", **ONE)
  assert "compare" not in body_opcodes(module)
  sometimes = loop(body.replace("constant(9)", "constant(2)"), next_="i1, a1, b")
  transformed(sometimes, "while_loop_simplifier", changes=False, **ONE)
  transformed(
    loop(body, next_="i1, a1, b"), "while_loop_simplifier{simplify_compare_instrs=false}", changes=False, **ONE
  )


def test_nested_tuples_are_flattened() -> None:
  text = """HloModule m
body {
  p = (s32[], (f32[4], (f32[4], s32[]))) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  q = (f32[4], (f32[4], s32[])) get-tuple-element(p), index=1
  a = f32[4] get-tuple-element(q), index=0
  o = (f32[4], s32[]) get-tuple-element(q), index=1
  b = f32[4] get-tuple-element(o), index=0
  k = s32[] get-tuple-element(o), index=1
  i1 = s32[] add(i, k)
  a1 = f32[4] add(a, b)
  b1 = f32[4] sine(a)
  o1 = (f32[4], s32[]) tuple(b1, k)
  q1 = (f32[4], (f32[4], s32[])) tuple(a1, o1)
  ROOT t = (s32[], (f32[4], (f32[4], s32[]))) tuple(i1, q1)
}
cond {
  cp = (s32[], (f32[4], (f32[4], s32[]))) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(ci, n), direction=LT
}
ENTRY main {
  x = f32[4] parameter(0)
  z = s32[] constant(0)
  one = s32[] constant(1)
  o = (f32[4], s32[]) tuple(x, one)
  q = (f32[4], (f32[4], s32[])) tuple(x, o)
  init = (s32[], (f32[4], (f32[4], s32[]))) tuple(z, q)
  ROOT w = (s32[], (f32[4], (f32[4], s32[]))) while(init), condition=cond, body=body
}"""
  module = transformed(text, "while_loop_simplifier", **ONE)
  (found,) = loops_of(module)
  shapes = found.instruction.shape.tuple_shapes
  assert len(shapes) >= 3 and all(s.is_array for s in shapes)


def test_control_edges_keep_a_loop() -> None:
  text = loop(PLAIN, trips=1).replace("condition=cond", "control-predecessors={x}, condition=cond")
  assert not run_passes(hlo.parse(text), ["while_loop_simplifier"]).changed


# Invariant code


def body_opcodes(module: hlo.Module) -> set[str]:
  (found,) = loops_of(module)
  return {i.opcode for i in found.body.instructions}


ICM = "while_loop_invariant_code_motion"


def test_what_is_the_same_in_every_trip_is_computed_before() -> None:
  body = "s = f32[4] sine(b) k = f32[4] exponential(s) q = f32[4] multiply(k, a) a1 = f32[4] add(q, s)"
  text = loop(body, next_="i1, a1, b")
  module = transformed(text, ICM, **ONE)
  assert not {"sine", "exponential"} & body_opcodes(module)
  (found,) = loops_of(module)
  assert found.slots == 5 and not run_passes(module, [ICM]).changed
  assert count(transformed(loop(body, next_="i1, a1, b", trips=0), ICM, **ONE), "while") == 1


def test_light_instructions_move_only_with_others() -> None:
  body = "v = f32[2,2] reshape(b) c = f32[] constant(2) d = f32[4] broadcast(c), dimensions={} e = f32[4] reshape(v) "
  text = loop(body + "f = f32[4] multiply(d, a) a1 = f32[4] add(f, e)", next_="i1, a1, b")
  transformed(text, ICM, changes=False, **ONE)
  module = transformed(text, ICM + "{hoist_reshapes=true}", **ONE)
  assert "reshape" not in body_opcodes(module) and "broadcast" in body_opcodes(module)
  heavy = loop(body + "g = f32[4] multiply(d, e) a1 = f32[4] add(a, g)", next_="i1, a1, b")
  assert not {"reshape", "broadcast", "multiply"} & body_opcodes(transformed(heavy, ICM, **ONE))


def test_results_that_are_too_large_stay() -> None:
  body = "o = f32[4,4] dot(b, b), lhs_contracting_dims={}, rhs_contracting_dims={} c = f32[] constant(0) " \
    "s = f32[4] reduce(o, c), dimensions={0}, to_apply=add a1 = f32[4] add(a, s)"  # fmt: skip
  text = loop(body, next_="i1, a1, b").replace(
    "HloModule m", "HloModule m\nadd { l = f32[] parameter(0) r = f32[] parameter(1) ROOT s = f32[] add(l, r) }"
  )
  rounded = {"devices": 1, "tolerance": 1e-6}
  assert "dot" not in body_opcodes(transformed(text, ICM, **rounded))
  transformed(text, ICM + "{hoist_size_inflation_ratio=1}", changes=False, **rounded)
  transformed(text, ICM + "{max_bytes=63}", changes=False, **rounded)
  assert "dot" not in body_opcodes(transformed(text, ICM + "{max_bytes=64,hoist_size_inflation_ratio=2}", **rounded))


def test_effects_and_control_edges_stay_in_the_loop() -> None:
  body = "s = f32[4] sine(b) k = f32[4] cosine(b), control-predecessors={s} q = f32[4] add(s, k) a1 = f32[4] add(a, q)"
  transformed(loop(body, next_="i1, a1, b"), ICM, changes=False, **ONE)


def test_the_number_of_trips_survives() -> None:
  text = loop("s = f32[4] sine(b) a1 = f32[4] add(a, s)", next_="i1, a1, b").replace(
    "body=body", 'body=body, backend_config={"known_trip_count":{"n":"3"}}'
  )
  module = transformed(text, ICM, **ONE)
  (found,) = loops_of(module)
  assert found.instruction.backend_config_json["known_trip_count"] == {"n": "3"}
  assert np.isfinite(hlo.evaluate(module, np.ones(4, np.float32), np.ones(4, np.float32))).all()


def test_a_loop_of_which_only_an_initial_value_is_read_goes() -> None:
  text = loop("b1 = f32[4] multiply(b, b)", next_="i1, a, b1")
  module = transformed(text, "while_loop_simplifier", **ONE)
  assert not count(module, "while") and module.entry.root.opcode == "parameter"


NUMBER = """HloModule m
body {{ p = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT n = s32[] add(p, one) }}
cond {{ q = s32[] parameter(0)
  last = s32[] constant({last})
  ROOT lt = pred[] compare(q, last), direction=LT }}
ENTRY main {{ z = s32[] constant(3)
  ROOT w = s32[] while(z), condition=cond, body=body }}"""


@pytest.mark.parametrize(("last", "left"), [(2, 0), (3, 0), (4, 0), (5, 1), (9, 1)])
def test_loops_over_one_number(last: int, left: int) -> None:
  module = transformed(NUMBER.format(last=last), "while_loop_simplifier", changes=not left, **ONE)
  assert count(module, "while") == left


SHARED = """HloModule m
b { s = (s32[], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 x = f32[4] get-tuple-element(s), index=1
  y = f32[4] get-tuple-element(s), index=2 one = s32[] constant(1) j = s32[] add(i, one) z = f32[4] sine(y)
  ROOT t = (s32[], f32[4], f32[4]) tuple(j, z, x) }
c { s = (s32[], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[4] parameter(0) y = f32[4] parameter(1) k = s32[] constant(0) t = (s32[], f32[4], f32[4]) tuple(k, x, y)
  w = (s32[], f32[4], f32[4]) while(t), condition=c, body=b a = f32[4] get-tuple-element(w), index=1
  v = (s32[], f32[4], f32[4]) tuple(k, a, a) u = (s32[], f32[4], f32[4]) while(v), condition=c, body=b
  ROOT r = f32[4] get-tuple-element(u), index=1 }"""


@pytest.mark.parametrize(
  "name",
  [
    "while_loop_simplifier",
    "while_loop_constant_sinking{sink_broadcast_of_constants=true}",
    "double_buffer_loop_unrolling{strategy=auto}",
    "while_loop_unroller{max_trips=2}",
  ],
)
def test_shared_computations_that_nothing_changes_stay_shared(name: str) -> None:
  module = hlo.parse(SHARED)
  assert not run_passes(module, [name], strict=True).changed
  assert len(module.computations) == 3

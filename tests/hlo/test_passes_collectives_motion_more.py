"""All-reduces that leave loops: other reducers, sums into slices, choices, factors, and reduce-scatters that are converted."""

from __future__ import annotations

import pytest
from collective_checks import executed, transformed

from tests.support.motion_loops import AR, MOVE, LoopText, moved, refused

MORE = """
mul { pa = f32[] parameter(0) pb = f32[] parameter(1) ROOT ps = f32[] multiply(pa, pb) }
least { qa = f32[] parameter(0) qb = f32[] parameter(1) ROOT qs = f32[] minimum(qa, qb) }
"""
EVERY = "replica_groups={{0,1,2,3}}"


def stored(to_apply: str, chain: str = "u = f32[1,4] reshape(r)") -> LoopText:
  body = f"""f = f32[] convert(i) fb = f32[4] broadcast(f), dimensions={{}} y = f32[4] add(x, fb) s = f32[4] sine(y)
  r = f32[4] all-reduce(s), {EVERY}, to_apply={to_apply} {chain} z = s32[] constant(0)
  next = f32[5,4] dynamic-update-slice(acc, u, i, z)"""
  return LoopText(body, acc="f32[5,4]", extra=MORE)


@pytest.mark.parametrize("to_apply", ["add", "max", "least", "mul"])
def test_stored_results_of_any_reducer_are_reduced_at_once(to_apply: str) -> None:
  assert executed(moved(stored(to_apply)), "all-reduce") == 1


def test_arithmetic_on_a_maximum_stays() -> None:
  refused(stored("max", "n = f32[4] negate(r) u = f32[1,4] reshape(n)"))
  refused(stored("max", "n = f32[4] add(r, r) u = f32[1,4] reshape(n)"))
  refused(LoopText(f"s = f32[4] sine(x) r = f32[4] all-reduce(s), {EVERY}, to_apply=max next = f32[4] add(acc, r)"))


SLICES = """f = f32[] convert(i) fb = f32[4] broadcast(f), dimensions={} y = f32[4] multiply(x, fb) z = s32[] constant(0)
  two = s32[] constant(2) k = s32[] remainder(i, two) early = pred[] compare(i, two), direction=LT
  kept = pred[] copy(early) truth = s32[] convert(kept) sum = s32[] add(truth, truth)"""


@pytest.mark.parametrize("index", ["i", "z", "k", "truth", "sum"])
def test_a_sum_into_a_slice_is_a_sum_of_the_buffer(index: str) -> None:
  body = f"""{SLICES} r = f32[4] all-reduce(y), {AR} u = f32[1,4] reshape(r)
  old = f32[1,4] dynamic-slice(acc, {index}, z), dynamic_slice_sizes={{1,4}} new = f32[1,4] add(old, u)
  next = f32[5,4] dynamic-update-slice(acc, new, {index}, z)"""
  assert executed(moved(LoopText(body, acc="f32[5,4]")), "all-reduce") == 1
  flat = body.replace(
    "new = f32[1,4] add(old, u)", "o = f32[4] reshape(old) n = f32[4] add(r, o) new = f32[1,4] reshape(n)"
  )
  assert executed(moved(LoopText(flat, acc="f32[5,4]")), "all-reduce") == 1


def test_a_slice_that_is_written_elsewhere_or_used_twice_is_refused() -> None:
  body = f"""{SLICES} r = f32[4] all-reduce(y), {AR} u = f32[1,4] reshape(r)
  old = f32[1,4] dynamic-slice(acc, i, z), dynamic_slice_sizes={{1,4}} new = f32[1,4] add(old, u)
  next = f32[5,4] dynamic-update-slice(acc, new, k, z)"""
  refused(LoopText(body, acc="f32[5,4]"))
  doubled = body.replace("add(old, u)", "add(old, old)").replace("new, k", "new, i")
  refused(LoopText(doubled, acc="f32[5,4]"))
  own = body.replace("(acc, i, z)", "(acc, d, z)").replace("new, k", "new, d")
  refused(LoopText("id = u32[] replica-id() d = s32[] convert(id) " + own, acc="f32[5,4]"))


def test_a_choice_between_a_result_and_zero() -> None:
  body = f"""two = s32[] constant(2) lt = pred[] compare(i, two), direction=LT pb = pred[4] broadcast(lt), dimensions={{}}
  s = f32[4] sine(x) r = f32[4] all-reduce(s), {AR} zf = f32[] constant(0) zb = f32[4] broadcast(zf), dimensions={{}}
  c = f32[4] select(pb, r, zb) next = f32[4] add(acc, c)"""
  assert executed(moved(LoopText(body)), "all-reduce") == 1
  assert executed(moved(LoopText(body.replace("select(pb, r, zb)", "select(pb, zb, r)"))), "all-reduce") == 1
  refused(LoopText(body.replace("constant(0) zb", "constant(1) zb")))
  own = body.replace("compare(i, two)", "compare(q, two)")
  refused(LoopText("id = u32[] replica-id() q = s32[] convert(id) " + own))
  whole = body.replace(
    "c = f32[4] select(pb, r, zb) next = f32[4] add(acc, c)", "c = f32[4] add(acc, r) next = f32[4] select(pb, c, acc)"
  )
  assert executed(moved(LoopText(whole)), "all-reduce") == 1


def test_an_all_reduced_number_as_a_factor() -> None:
  body = f"""one = f32[1] slice(x), slice={{[0:1]}} n = f32[] reshape(one) g = f32[] all-reduce(n), {AR}
  gb = f32[4] broadcast(g), dimensions={{}} s = f32[4] sine(x) r = f32[4] all-reduce(s), {AR} c = f32[4] multiply(r, gb)
  next = f32[4] add(acc, c)"""
  assert executed(transformed(str(LoopText(body)), MOVE), "all-reduce") == 6  # the factor in every trip, the sum once
  other = body.replace(f"all-reduce(n), {AR}", "all-reduce(n), replica_groups={{0,1},{2,3}}, to_apply=add")
  refused(LoopText(other))


@pytest.mark.parametrize(
  ("steps", "acc"),
  [
    ("v = f32[4,2] transpose(r), dimensions={1,0}", "f32[4,2]"),
    ("v = f32[8] reshape(r)", "f32[8]"),
    ("q = f32[4,2] transpose(r), dimensions={1,0} v = f32[8] reshape(q)", "f32[8]"),
  ],
)
def test_a_reduce_scatter_that_is_moved_about(steps: str, acc: str) -> None:
  body = f"s = f32[8,4] sine(x) r = f32[2,4] reduce-scatter(s), {AR}, dimensions={{0}} {steps} next = {acc} add(acc, v)"
  assert executed(moved(LoopText(body, acc=acc, x="f32[8,4]")), "reduce-scatter") == 1


def test_a_reduce_scatter_that_is_converted() -> None:
  body = f"""h = bf16[8,4] convert(x) r = bf16[2,4] reduce-scatter(h), {EVERY}, to_apply=hadd, dimensions={{0}}
  c = f32[2,4] convert(r) v = f32[4,2] transpose(c), dimensions={{1,0}} next = f32[4,2] add(acc, v)"""
  module = transformed(str(LoopText(body, acc="f32[4,2]", x="f32[8,4]")), MOVE, tolerance=2e-2)  # rounded less
  (made,) = [i for i in module.entry.instructions if i.opcode == "reduce-scatter"]
  assert made.shape.element_type == "f32"

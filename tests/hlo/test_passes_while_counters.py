"""Values that follow from the counter of a loop: comparisons, second counters, and places that those choose."""

from __future__ import annotations

import pytest
from collective_checks import count, executed, transformed

from tests.support.pipelined_loops import FORWARD, SINK, Layers, store, trips
from tilewright import hlo
from tilewright.hlo.passes.while_loops import loops_of


def choice(left: str, right: str, direction: str) -> str:
  """A loop that works with one of two values, by a comparison."""
  body = f"""left = {left} right = {right} p0 = pred[] compare(left, right), direction={direction} a = f32[4] negate(h)
  b = f32[4] sine(h) h1 = f32[4] select(p0, a, b) buf1 = f32[5,4] copy(buf)"""
  return str(Layers(body))


@pytest.mark.parametrize(
  ("left", "right", "direction"),
  [
    ("f32[] constant(2.5)", "f32[] constant(2)", "GT"),
    ("f32[] constant(-0.5)", "f32[] constant(0)", "EQ"),
    ("f32[] constant(nan)", "f32[] constant(2)", "NE"),
    ("u64[] constant(18446744073709551615)", "u64[] constant(2)", "GT"),
  ],
)
def test_comparisons_of_other_numbers_than_integers_stay(left: str, right: str, direction: str) -> None:
  assert count(transformed(choice(left, right, direction), "while_loop_simplifier"), "compare", "body") == 1


def test_comparisons_with_the_bits_of_unsigned_numbers() -> None:
  text = choice("u32[] constant(5) inverse = u32[] not(left)", "u32[] constant(4)", "GT")
  module = transformed(text.replace("compare(left", "compare(inverse"), "while_loop_simplifier")
  assert not count(module, "compare", "body")


def second(kind: str, start: int, update: str, use: str, step: int = 1) -> str:
  """A loop with a second counter."""
  body = f"{use} buf1 = f32[5,4] copy(buf)"
  text = str(Layers(body, start=2, step=step))
  text = text.replace("f32[5,4])", f"f32[5,4], {kind}[])").replace(
    "one =", f"e = {kind}[] get-tuple-element(p), index=4\n  {update}\n  one ="
  )
  text = text.replace("h1, w)", "h1, w, e1)").replace("z = s32[]", f"ez = {kind}[] constant({start})\n  z = s32[]")
  return (
    text.replace("h0, w0)", "h0, w0, ez)")
    .replace("ROOT loop = ", "loop = ")
    .replace(
      "body=body\n}",
      f"body=body\n  l2 = f32[4] get-tuple-element(loop), index=2\n  l4 = {kind}[] get-tuple-element(loop), index=4\n"
      f"  ROOT r = (f32[4], {kind}[]) tuple(l2, l4)\n}}",
    )
  )


USE = "f = f32[] convert(e) fb = f32[4] broadcast(f), dimensions={} h1 = f32[4] add(h, fb)"


@pytest.mark.parametrize("step", [1, -1, 2])
@pytest.mark.parametrize(
  ("kind", "start", "more"),
  [("s32", 2, 1), ("s32", 7, 2), ("s32", -3, -2), ("s64", 5, 4), ("u8", 250, 2), ("s16", 32766, 2), ("u32", 0, 2)],
)
def test_a_second_counter_is_computed_from_the_first(kind: str, start: int, more: int, step: int) -> None:
  opcode = "add" if more > 0 else "subtract"
  update = f"m = {kind}[] constant({abs(more)}) e1 = {kind}[] {opcode}(e, m)"
  merges = more % step == 0
  options = "while_loop_simplifier"
  module = transformed(second(kind, start, update, USE, step), options)
  (loop,) = loops_of(module)
  assert [s.element_type for s in loop.instruction.shape.tuple_shapes].count(kind) == (kind == "s32") + (not merges)
  kept = transformed(second(kind, start, update, USE, step), "while_loop_simplifier{merge_induction_variables=false}")
  (loop,) = loops_of(kept)
  assert loop.slots == len(loops_of(module)[0].instruction.shape.tuple_shapes) + merges


def test_what_the_condition_reads_or_starts_anywhere_stays() -> None:
  text = second("s32", 7, "m = s32[] constant(2) e1 = s32[] add(e, m)", USE)
  unknown = text.replace("ez = s32[] constant(7)", "ez = s32[] parameter(3)")
  module = transformed(unknown, "while_loop_simplifier")
  assert loops_of(module)[0].slots == 3  # counter, h, and the second counter is still there
  grows = text.replace("m = s32[] constant(2)", "m = s32[] add(e, e)")
  module = transformed(grows, "while_loop_simplifier")
  assert loops_of(module)[0].slots == 3


@pytest.mark.parametrize("item", [FORWARD, SINK], ids=lambda p: p.direction)
def test_a_second_counter_chooses_the_place_of_a_store(item: hlo.Pass) -> None:
  text = str(Layers(store(index="e, zero", compute="e1 = s32[] add(e, one) h1 = f32[4] sine(h)"), start=3))
  text = text.replace("f32[5,4])", "f32[5,4], s32[])").replace(
    "one =", "e = s32[] get-tuple-element(p), index=4\n  one ="
  )
  text = text.replace("h1, w)", "h1, w, e1)").replace("z = s32[]", "ez = s32[] constant(0)\n  z = s32[]")
  module = transformed(text.replace("h0, w0)", "h0, w0, ez)"), item)
  assert executed(module, "all-reduce") == (1 if item is SINK else 5)
  assert trips(module) == (5 if item is SINK else 4)

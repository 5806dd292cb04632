"""All-reduces that a loop only sums up or stores: one rule or one refusal per test, and generated loops."""

from __future__ import annotations

import numpy as np
import pytest
from collective_checks import ADD, count, executed, transformed, with_own_fusions
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.motion_loops import AR, MOVE, STORE, SUM, TWO, LoopText, moved, refused, store
from tilewright import hlo
from tilewright.hlo.passes.all_reduce_code_motion import AllReduceCodeMotion

# Sums.


def test_a_sum_of_all_reduces_becomes_one_after_the_loop() -> None:
  loop = LoopText(SUM)
  assert executed(hlo.parse(str(loop)), "all-reduce") == 5
  assert executed(moved(loop), "all-reduce") == 1


def test_an_accumulator_that_starts_at_zero_needs_no_addition_after_the_loop() -> None:
  module = moved(LoopText(SUM, init="z = f32[] constant(0) acc0 = f32[4] broadcast(z), dimensions={}"))
  assert count(module, "add", "main") == 0


def test_integers_are_equal_bit_for_bit() -> None:
  body = "r = s32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=iadd next = s32[4] add(r, acc)"
  moved(LoopText(body, acc="s32[4]", x="s32[4]"), exact=True)


def test_floats_are_refused_where_the_order_of_addition_must_stay() -> None:
  refused(LoopText(SUM), exact=True)


@pytest.mark.parametrize(
  "chain",
  [
    "m = f32[4] multiply(r, k4)",
    "m = f32[4] multiply(k4, r)",
    "m = f32[4] divide(r, k4)",
    "m = f32[4] negate(r)",
    "m = f32[4] reverse(r), dimensions={0}",
    "m0 = f32[2,2] reshape(r) m1 = f32[2,2] transpose(m0), dimensions={1,0} m = f32[4] reshape(m1)",
    "m = f32[4] copy(r)",
    "m = f32[4] opt-barrier(r)",
    "m0 = (f32[4], f32[4]) tuple(r, x) m1 = (f32[4], f32[4]) opt-barrier(m0) m = f32[4] get-tuple-element(m1), index=0",
    "m0 = f32[1] slice(r), slice={[2:3]} m1 = f32[] reshape(m0) m = f32[4] broadcast(m1), dimensions={}",
    "m0 = f32[2] slice(r), slice={[0:2]} m1 = f32[2] slice(r), slice={[2:4]} m = f32[4] concatenate(m1, m0), dimensions={0}",
    "f = f32[] convert(i) fb = f32[4] broadcast(f), dimensions={} m = f32[4] multiply(r, fb)",
    "m0 = f32[4] add(r, r) m = f32[4] subtract(m0, r)",
    "m0 = f32[2] dynamic-slice(r, i), dynamic_slice_sizes={2} m = f32[4] concatenate(m0, m0), dimensions={0}",
  ],
)
def test_linear_functions_between_the_reduction_and_the_sum_are_kept_in_the_loop(chain: str) -> None:
  k = "k = f32[] constant(0.25) k4 = f32[4] broadcast(k), dimensions={}"
  moved(LoopText(f"{k} r = f32[4] all-reduce(x), {AR} {chain} next = f32[4] add(acc, m)"))


@pytest.mark.parametrize(
  "chain",
  [
    "m = f32[4] multiply(r, x)",  # differs between devices
    "m = f32[4] multiply(r, r)",
    "m = f32[4] divide(k4, r)",
    "m = f32[4] sine(r)",
    "m = f32[4] add(r, k4)",  # not homogeneous
    "m = f32[4] maximum(r, k4)",
    "m0 = bf16[4] convert(r) m = f32[4] convert(m0)",  # narrows
    "m = f32[4] reduce-precision(r), exponent_bits=8, mantissa_bits=7",
    "d = u32[] replica-id() e = f32[] convert(d) f = f32[4] broadcast(e), dimensions={} m = f32[4] multiply(r, f)",
    "d = u32[] replica-id() m0 = f32[2] dynamic-slice(r, d), dynamic_slice_sizes={2} "
    "m = f32[4] concatenate(m0, m0), dimensions={0}",
    "q = pred[4] compare(r, k4), direction=LT m = f32[4] select(q, r, k4)",
  ],
)
def test_what_is_not_linear_stays(chain: str) -> None:
  k = "k = f32[] constant(0.25) k4 = f32[4] broadcast(k), dimensions={}"
  refused(LoopText(f"{k} r = f32[4] all-reduce(x), {AR} {chain} next = f32[4] add(acc, m)"))


def test_division_of_integers_rounds_and_stays() -> None:
  body = """r = s32[4] all-reduce(x), replica_groups={}, to_apply=iadd k = s32[] constant(3)
  k4 = s32[4] broadcast(k), dimensions={} m = s32[4] divide(r, k4) next = s32[4] add(acc, m)"""
  refused(LoopText(body, acc="s32[4]", x="s32[4]"))


def test_subtraction_from_the_accumulator() -> None:
  moved(LoopText(f"r = f32[4] all-reduce(x), {AR} next = f32[4] subtract(acc, r)"))


def test_subtracting_the_accumulator_is_refused() -> None:
  refused(LoopText(f"r = f32[4] all-reduce(x), {AR} next = f32[4] subtract(r, acc)"))


def test_a_conversion_to_a_wider_float_is_looked_through() -> None:
  body = f"h = bf16[4] convert(x) r = bf16[4] all-reduce(h), {AR.replace('=add', '=hadd')} "
  loop = LoopText(body + "m = f32[4] convert(r) next = f32[4] add(acc, m)")
  before = hlo.parse(str(loop))
  module = hlo.parse(str(loop))
  assert AllReduceCodeMotion().run(module)
  args = [[np.full(4, 1 / 3 + d, np.float32), np.zeros(4, np.float32)] for d in range(4)]
  for a, b in zip(hlo.evaluate_devices(before, args), hlo.evaluate_devices(module, args)):
    np.testing.assert_allclose(b[1], a[1], rtol=2.0**-8)  # the reduction itself is no longer rounded to bf16


def test_the_collective_after_the_loop_has_a_reducer_of_its_type() -> None:
  body = f"h = bf16[4] convert(x) r = bf16[4] all-reduce(h), {AR.replace('=add', '=hadd')} "
  module = hlo.parse(str(LoopText(body + "m = f32[4] convert(r) next = f32[4] add(acc, m)")))
  assert AllReduceCodeMotion().run(module)
  (reduction,) = [i for i in module.entry.instructions if i.opcode == "all-reduce"]
  assert reduction.attrs["to_apply"].root.shape.element_type == reduction.shape.element_type == "f32"
  hlo.verify(module)


def test_narrowed_results_move_on_request() -> None:
  """Mixed precision as XLA writes it: gradients are rounded to bf16 and added in f32."""
  body = f"r = f32[4] all-reduce(x), {AR} n = bf16[4] convert(r) m = f32[4] convert(n) next = f32[4] add(acc, m)"
  refused(LoopText(body))
  before, module = hlo.parse(str(LoopText(body))), hlo.parse(str(LoopText(body)))
  assert AllReduceCodeMotion(narrowing=True).run(module) and executed(module, "all-reduce") == 1
  args = [[np.full(4, 1 / 3 + d, np.float32), np.zeros(4, np.float32)] for d in range(4)]
  for a, b in zip(hlo.evaluate_devices(before, args), hlo.evaluate_devices(module, args)):
    np.testing.assert_allclose(b[1], a[1], rtol=2.0**-7)  # 2⁻⁸ for rounding the sum, 2⁻⁸ for rounding its parts


def test_a_result_in_another_layout_than_its_operand_is_refused() -> None:
  body = f"r = f32[4,2]{{0,1}} all-reduce(x), {AR} next = f32[4,2]{{0,1}} add(acc, r)"
  refused(LoopText(body, acc="f32[4,2]{0,1}", x="f32[4,2]{1,0}"))
  moved(LoopText(body, acc="f32[4,2]{0,1}", x="f32[4,2]{0,1}"))


def test_integers_that_widen_would_wrap_elsewhere() -> None:
  extra = "badd { ba = s8[] parameter(0) bb = s8[] parameter(1) ROOT bs = s8[] add(ba, bb) }"
  body = """h = s8[4] convert(x) r = s8[4] all-reduce(h), replica_groups={}, to_apply=badd
  m = s32[4] convert(r) next = s32[4] add(acc, m)"""
  refused(LoopText(body, acc="s32[4]", x="s32[4]", extra=extra))


def test_the_sum_and_the_chain_may_stand_in_fusions_and_calls() -> None:
  extra = """
  accumulate {
    fa = f32[4] parameter(0) fr = f32[4] parameter(1) fk = f32[] constant(2) fk4 = f32[4] broadcast(fk), dimensions={}
    fm = f32[4] multiply(fr, fk4) ROOT fs = f32[4] add(fa, fm)
  }
  outer { oa = f32[4] parameter(0) ox = f32[4] parameter(1) ROOT oc = f32[4] call(oa, ox), to_apply=accumulate }
  """
  for user in ("fusion(acc, r), kind=kLoop, calls=accumulate", "call(acc, r), to_apply=outer"):
    moved(LoopText(f"r = f32[4] all-reduce(x), {AR} next = f32[4] {user}", extra=extra))


def test_two_reductions_of_the_same_groups_in_one_sum() -> None:
  body = f"""r = f32[4] all-reduce(x), {AR} s = f32[4] sine(x) q = f32[4] all-reduce(s), {AR}
  a = f32[4] add(acc, r) next = f32[4] add(a, q)"""
  assert count(moved(LoopText(body)), "all-reduce", "main") == 1


def test_different_groups_in_one_sum_are_refused() -> None:
  other = "replica_groups={{0,1},{2,3}}, to_apply=add"
  refused(
    LoopText(f"""r = f32[4] all-reduce(x), {AR} q = f32[4] all-reduce(x), {other}
  a = f32[4] add(acc, r) next = f32[4] add(a, q)""")
  )


def test_a_reduction_of_a_reduction_moves_in_two_steps() -> None:
  rows, columns = "replica_groups={{0,1},{2,3}}, to_apply=add", "replica_groups={{0,2},{1,3}}, to_apply=add"
  body = f"q = f32[4] all-reduce(x), {rows} r = f32[4] all-reduce(q), {columns} next = f32[4] add(acc, r)"
  assert count(moved(LoopText(body)), "all-reduce", "main") == 2


def test_groups_written_differently_are_the_same() -> None:
  body = """r = f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add
  q = f32[4] all-reduce(x), replica_groups=[2,2]<=[4], to_apply=add
  a = f32[4] add(acc, r) next = f32[4] add(a, q)"""
  assert count(moved(LoopText(body)), "all-reduce", "main") == 1


def test_a_term_without_a_reduction_is_refused() -> None:
  refused(LoopText(f"r = f32[4] all-reduce(x), {AR} a = f32[4] add(acc, r) next = f32[4] add(a, x)"))


# Refusals.


def test_other_reducers_are_refused() -> None:
  refused(LoopText("r = f32[4] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=max next = f32[4] add(acc, r)"))
  refused(LoopText("r = f32[4] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=max next = f32[4] maximum(acc, r)"))


def test_a_reducer_that_is_not_one_addition_is_refused() -> None:
  extra = "twice { ta = f32[] parameter(0) tb = f32[] parameter(1) ts = f32[] add(ta, tb) ROOT tr = f32[] add(ts, tb) }"
  refused(
    LoopText(
      "r = f32[4] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=twice next = f32[4] add(acc, r)", extra=extra
    )
  )


def test_pred_adds_by_or_and_is_refused() -> None:
  extra = "por { ba = pred[] parameter(0) bb = pred[] parameter(1) ROOT bs = pred[] add(ba, bb) }"
  body = "r = pred[4] all-reduce(x), replica_groups={}, to_apply=por next = pred[4] add(acc, r)"
  refused(LoopText(body, acc="pred[4]", x="pred[4]", extra=extra))


def test_a_multiplied_accumulator_is_refused() -> None:
  refused(LoopText(f"d = f32[4] add(acc, acc) r = f32[4] all-reduce(x), {AR} next = f32[4] add(d, r)"))
  refused(LoopText(f"r = f32[4] all-reduce(x), {AR} next = f32[4] multiply(acc, r)"))


def test_an_accumulator_that_the_body_reads_is_refused() -> None:
  refused(LoopText(f"s = f32[4] sine(acc) r = f32[4] all-reduce(s), {AR} next = f32[4] add(acc, r)"))


def test_an_accumulator_that_the_condition_reads_is_refused() -> None:
  condition = """n = s32[] constant(5) lt = pred[] compare(ci, n), direction=LT one = f32[1] slice(cacc), slice={[0:1]}
  e = f32[] reshape(one) big = f32[] constant(1e9) ok = pred[] compare(e, big), direction=LT ROOT both = pred[] and(lt, ok)"""
  refused(LoopText(SUM, condition=condition))


def test_a_result_that_is_used_elsewhere_is_refused() -> None:
  state = "(s32[], f32[4], f32[4])"
  text = str(LoopText(SUM)).replace(f"ROOT t = {state} tuple(i1, next, x)", f"ROOT t = {state} tuple(i1, next, r)")
  transformed(text, MOVE, changes=False)


def test_a_sum_that_is_used_in_the_body_is_refused() -> None:
  state = "(s32[], f32[4], f32[4])"
  text = str(LoopText(SUM)).replace(f"ROOT t = {state} tuple(i1, next, x)", f"ROOT t = {state} tuple(i1, next, next)")
  transformed(text, MOVE, changes=False)


def test_a_sum_that_ends_in_another_slot_is_refused() -> None:
  state = "(s32[], f32[4], f32[4])"
  text = str(LoopText(SUM)).replace(f"ROOT t = {state} tuple(i1, next, x)", f"ROOT t = {state} tuple(i1, x, next)")
  transformed(text, MOVE, changes=False)


def test_a_sum_that_an_effect_sees_is_refused() -> None:
  body = SUM + " tok = token[] after-all() o = token[] outfeed(next, tok), outfeed_shape=f32[4]"
  module = hlo.parse(str(LoopText(body)))
  assert not AllReduceCodeMotion().run(module)


def test_control_dependencies_are_refused() -> None:
  refused(
    LoopText(f"s = f32[4] sine(x) r = f32[4] all-reduce(x), {AR}, control-predecessors={{s}} next = f32[4] add(acc, r)")
  )
  refused(
    LoopText(f"r = f32[4] all-reduce(x), {AR} s = f32[4] sine(x), control-predecessors={{r}} next = f32[4] add(acc, r)")
  )


def test_constrained_layouts_are_refused() -> None:
  refused(LoopText(f"r = f32[4] all-reduce(x), constrain_layout=true, {AR} next = f32[4] add(acc, r)"))


def test_a_loop_of_one_trip_or_none_is_left_alone() -> None:
  refused(LoopText(SUM, trips=1))
  refused(LoopText(SUM, trips=0))


def test_a_loop_of_unknown_length_keeps_its_value_even_with_no_trips() -> None:
  """The length comes from the data; in the entry, every device gets behind the loop."""
  for start in (100, 3):
    condition = f"n = s32[] constant({start}) k = s32[] multiply(n, ci) lim = s32[] constant(300) "
    condition += "ROOT lt = pred[] compare(k, lim), direction=LT"
    module = moved(LoopText(SUM, start=start, condition=condition))
    assert executed(module, "all-reduce") == 1


def test_a_loop_of_unknown_length_in_a_conditional_is_refused() -> None:
  """Were it empty, devices of the other branch would be waited for in vain."""
  text = str(
    LoopText(
      SUM, condition="k = s32[] multiply(ci, ci) n = s32[] constant(9) ROOT lt = pred[] compare(k, n), direction=LT"
    )
  )
  text = text.replace("ENTRY main", "branch").replace(
    "x0 = f32[4] parameter(0)", "a = (f32[4], f32[4]) parameter(0) x0 = f32[4] get-tuple-element(a), index=0"
  )
  text = text.replace("acc0 = f32[4] parameter(1)", "acc0 = f32[4] get-tuple-element(a), index=1")
  text += """
other { oa = (f32[4], f32[4]) parameter(0) oi = s32[] constant(7) ox = f32[4] get-tuple-element(oa), index=1
  ROOT ot = (s32[], f32[4]) tuple(oi, ox) }
ENTRY main { mx = f32[4] parameter(0) ma = f32[4] parameter(1) mt = (f32[4], f32[4]) tuple(mx, ma) q = pred[] constant(true)
  ROOT c = (s32[], f32[4]) conditional(q, mt, mt), true_computation=branch, false_computation=other }"""
  transformed(text, MOVE, changes=False)
  known = text.replace(
    "k = s32[] multiply(ci, ci) n = s32[] constant(9) ROOT lt = pred[] compare(k, n)",
    "n = s32[] constant(3) ROOT lt = pred[] compare(ci, n)",
  )
  transformed(known, MOVE, changes=True)


def test_an_async_reduction_is_left_alone() -> None:
  body = f"st = f32[4] all-reduce-start(x), {AR} r = f32[4] all-reduce-done(st) next = f32[4] add(acc, r)"
  refused(LoopText(body))


# Channels, several slots, nesting, sharing.


def test_channel_and_global_ids_come_along() -> None:
  body = (
    "r = f32[4] all-reduce(x), channel_id=7, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add "
  )
  module = moved(LoopText(body + "next = f32[4] add(acc, r)", header="replica_count=1, num_partitions=4"))
  (reduction,) = [i for i in module.find("main").instructions if i.opcode == "all-reduce"]
  assert reduction.attrs["channel_id"] == 7 and reduction.attrs["use_global_device_ids"]


def test_ids_of_different_kinds_are_different_groups() -> None:
  body = """r = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add
  q = f32[4] all-reduce(x), channel_id=3, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add
  a = f32[4] add(acc, r) next = f32[4] add(a, q)"""
  refused(LoopText(body, header="replica_count=2, num_partitions=2"))


def test_several_accumulators_of_one_reduction_share_one_after_the_loop() -> None:
  module = transformed(TWO.format(ADD=ADD, b="b1 = f32[2] add(b, r1)"), MOVE)
  assert count(module, "all-reduce", "body") == 0 and count(module, "all-reduce", "main") == 1


def test_a_reduction_of_which_one_result_must_stay_is_split_and_gets_another_channel() -> None:
  module = transformed(TWO.format(ADD=ADD, b="b1 = f32[2] multiply(b, r1)"), MOVE)
  (inside,) = [i for i in module.find("body").instructions if i.opcode == "all-reduce"]
  (behind,) = [i for i in module.find("main").instructions if i.opcode == "all-reduce"]
  assert len(inside.operands) == 1 and inside.attrs["channel_id"] != behind.attrs["channel_id"]


def test_sums_of_different_types_are_reduced_apart() -> None:
  """One all-reduce of bf16 feeds a sum in bf16 and one in f32."""
  text = TWO.format(ADD=ADD, b="w1 = f32[2] convert(r1) b1 = f32[2] add(b, w1)")
  for name in ("x", "r", "r0", "a", "a1", "y", "r1"):
    text = text.replace(f"  {name} = f32", f"  {name} = bf16")
  text = text.replace("(f32[4], f32[2]) all-reduce", "(bf16[4], bf16[2]) all-reduce").replace(
    "to_apply=add", "to_apply=hadd"
  )
  text = text.replace("(s32[], f32[4], f32[2], f32[4])", "(s32[], bf16[4], f32[2], bf16[4])")
  text = text.replace("x0 = f32", "x0 = bf16").replace("a0 = f32", "a0 = bf16")
  module = transformed(text, MOVE, tolerance=0.1)
  types = [i.shape.element_type for i in module.find("main").instructions if i.opcode == "all-reduce"]
  channels = [i.attrs["channel_id"] for i in module.find("main").instructions if i.opcode == "all-reduce"]
  assert sorted(types) == ["bf16", "f32"] and len(set(channels)) == 2


def test_one_result_in_two_sums() -> None:
  b = "h = f32[2] slice(r0), slice={[0:2]} b0 = f32[2] add(b, r1) b1 = f32[2] add(b0, h)"
  module = transformed(TWO.format(ADD=ADD, b=b), MOVE)
  assert count(module, "all-reduce", "body") == 0


def test_nested_loops_move_the_reduction_out_of_both() -> None:
  inner = str(LoopText(SUM, trips=3))
  text = inner.replace(
    "ENTRY main {\n  x0 = f32[4] parameter(0)\n  acc0 = f32[4] parameter(1)",
    """outer_body {
  op = (s32[], f32[4], f32[4]) parameter(0) oi = s32[] get-tuple-element(op), index=0
  acc0 = f32[4] get-tuple-element(op), index=1 x0 = f32[4] get-tuple-element(op), index=2
  oone = s32[] constant(1) oi1 = s32[] add(oi, oone)""",
  )
  text = text.replace(
    "ROOT r = (s32[], f32[4]) tuple(wi, wacc)", "ROOT ot = (s32[], f32[4], f32[4]) tuple(oi1, wacc, x0)"
  )
  text += """
outer_cond { ocp = (s32[], f32[4], f32[4]) parameter(0) oci = s32[] get-tuple-element(ocp), index=0 on = s32[] constant(4)
  ROOT olt = pred[] compare(oci, on), direction=LT }
ENTRY main { ex = f32[4] parameter(0) ea = f32[4] parameter(1) ez = s32[] constant(0)
  einit = (s32[], f32[4], f32[4]) tuple(ez, ea, ex)
  ROOT ew = (s32[], f32[4], f32[4]) while(einit), condition=outer_cond, body=outer_body }"""
  assert executed(hlo.parse(text), "all-reduce") == 12
  module = transformed(text, MOVE)
  assert executed(module, "all-reduce") == 1


def test_a_body_that_two_loops_share_is_copied_first() -> None:
  text = str(LoopText(SUM)).replace(
    "ROOT r = (s32[], f32[4]) tuple(wi, wacc)",
    """xx = f32[4] cosine(x0)
  init2 = (s32[], f32[4], f32[4]) tuple(zero, wacc, xx) w2 = (s32[], f32[4], f32[4]) while(init2), condition=cond, body=body
  ROOT wacc2 = f32[4] get-tuple-element(w2), index=1""",
  )
  assert executed(transformed(text, MOVE), "all-reduce") == 2


def test_a_result_nobody_reads_is_not_reduced() -> None:
  text = str(LoopText(SUM)).replace("ROOT r = (s32[], f32[4]) tuple(wi, wacc)", "ROOT r = (s32[], s32[]) tuple(wi, wi)")
  assert executed(transformed(text, MOVE), "all-reduce") == 0


def test_a_scheduled_module_stays_in_order() -> None:
  moved(LoopText(SUM, header="is_scheduled=true, replica_count=4"))


def test_a_reduce_scatter_is_summed_in_full_and_scattered_once() -> None:
  body = """r = f32[2] reduce-scatter(x), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add
  next = f32[2] add(acc, r)"""
  module = moved(LoopText(body, acc="f32[2]", x="f32[8]"))
  assert executed(module, "reduce-scatter") == 1


def test_a_reduce_scatter_that_is_scaled_or_subtracted_is_refused() -> None:
  start = "r = f32[2] reduce-scatter(x), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add "
  for end in (
    "n = f32[2] negate(r) next = f32[2] add(acc, n)",
    "next = f32[2] subtract(acc, r)",
    "a = f32[2] add(acc, r) next = f32[2] add(a, r)",
  ):
    refused(LoopText(start + end, acc="f32[2]", x="f32[8]"))
  refused(LoopText(start + "next = f32[2] add(acc, r)", acc="f32[2]", x="f32[8]"), reduce_scatter=False)


# Stores.


def test_slices_stored_by_the_counter_are_reduced_at_once() -> None:
  module = moved(LoopText(store("i, z"), acc=STORE))
  assert executed(module, "all-reduce") == 1


def test_slices_stored_from_the_end() -> None:
  moved(LoopText(store("j, z", "m = s32[] constant(4) j = s32[] subtract(m, i)"), acc=STORE))


def test_only_what_is_written_is_reduced() -> None:
  """Trips 0 to 2 write rows 1 to 3; the others keep what they held."""
  module = moved(LoopText(store("j, z", "m = s32[] constant(1) j = s32[] add(m, i)"), acc=STORE, trips=3))
  assert count(module, "slice", "main") == 1


def test_indices_are_clamped_as_the_instruction_does() -> None:
  moved(LoopText(store("j, z", "m = s32[] constant(3) j = s32[] add(m, i)"), acc=STORE))


def test_one_place_stored_in_every_trip_keeps_the_last() -> None:
  moved(LoopText(store("z, z"), acc=STORE))


def test_a_wrapped_negative_index_is_followed() -> None:
  more = """n5 = s32[] constant(5) k = s32[] constant(-5) m = s32[] add(i, k) neg = pred[] compare(m, z), direction=LT
  w = s32[] add(m, n5) j = s32[] select(neg, w, m)"""
  moved(LoopText(store("j, z", more), acc=STORE))


def test_stores_with_gaps_are_refused() -> None:
  refused(LoopText(store("j, z", "m = s32[] constant(2) j = s32[] multiply(m, i)"), acc=STORE, trips=3))


def test_stores_at_places_that_differ_between_devices_are_refused() -> None:
  refused(LoopText(store("j, z", "d = u32[] replica-id() j = s32[] convert(d)"), acc=STORE))


def test_a_diagonal_is_refused() -> None:
  more = "ub = f32[1,1] slice(u), slice={[0:1],[0:1]}"
  refused(LoopText(store("i, i", more, "ub"), acc=STORE, trips=4))


def test_stores_beyond_the_limit_are_refused() -> None:
  loop = LoopText(store("i, z"), acc=STORE)
  moved(loop, max_bytes=5 * 16)
  refused(loop, max_bytes=5 * 16 - 1)


def test_a_buffer_that_is_read_is_refused() -> None:
  body = store("i, z").replace("sine(x)", "sine(row)")
  body = f"row0 = f32[1,4] slice(acc), slice={{[0:1],[0:4]}} row = f32[4] reshape(row0) {body}"
  refused(LoopText(body, acc=STORE))


def test_a_buffer_that_something_else_is_stored_in_is_refused() -> None:
  body = (
    store("i, z").replace("next =", "n0 =")
    + f" xr = f32[1,4] reshape(x) next = {STORE} dynamic-update-slice(n0, xr, z, z)"
  )
  refused(LoopText(body, acc=STORE))


def test_two_stores_side_by_side_become_one_reduction() -> None:
  body = f"""r = f32[4] all-reduce(x), {AR} u = f32[1,4] reshape(r) z = s32[] constant(0) two = s32[] constant(2)
  ua = f32[1,2] slice(u), slice={{[0:1],[0:2]}} ub = f32[1,2] slice(u), slice={{[0:1],[2:4]}}
  n0 = {STORE} dynamic-update-slice(acc, ua, i, z) next = {STORE} dynamic-update-slice(n0, ub, i, two)"""
  module = moved(LoopText(body, acc=STORE))
  assert count(module, "all-reduce", "main") == 1 and count(module, "slice", "main") == 0


def test_stores_that_overlap_in_part_are_refused() -> None:
  body = f"""r = f32[4] all-reduce(x), {AR} u = f32[1,4] reshape(r) z = s32[] constant(0) one = s32[] constant(1)
  ua = f32[1,2] slice(u), slice={{[0:1],[0:2]}} ub = f32[1,2] slice(u), slice={{[0:1],[2:4]}}
  n0 = {STORE} dynamic-update-slice(acc, ua, i, z) next = {STORE} dynamic-update-slice(n0, ub, i, one)"""
  refused(LoopText(body, acc=STORE))


def test_stores_in_a_loop_of_unknown_length_are_refused() -> None:
  """With no trip at all, what lies in the buffer must not be reduced."""
  condition = "k = s32[] multiply(ci, ci) n = s32[] constant(9) ROOT lt = pred[] compare(k, n), direction=LT"
  refused(LoopText(store("z, z"), acc=STORE, condition=condition))


def test_stores_inside_a_fusion() -> None:
  extra = f"""put {{ b = {STORE} parameter(0) v = f32[4] parameter(1) k = s32[] parameter(2) kz = s32[] constant(0)
  kv = f32[1,4] reshape(v) ROOT d = {STORE} dynamic-update-slice(b, kv, k, kz) }}"""
  body = f"r = f32[4] all-reduce(x), {AR} next = {STORE} fusion(acc, r, i), kind=kLoop, calls=put"
  moved(LoopText(body, acc=STORE, extra=extra))


# Generated loops: sums of functions of collectives, most of them linear, most of them used for nothing else.

LINEAR = [
  "{v} = f32[4] negate({a})",
  "{v} = f32[4] copy({a})",
  "{v} = f32[4] multiply({a}, k4)",
  "{v} = f32[4] multiply(i4, {a})",
  "{v} = f32[4] reverse({a}), dimensions={{0}}",
  "{v} = f32[4] opt-barrier({a})",
  "{v} = f32[4] add({a}, {a})",
  "{v} = f32[4] fusion({a}), kind=kLoop, calls=double",
]
OTHERS = [
  "{v} = f32[4] add({a}, k4)",
  "{v} = f32[4] multiply({a}, x)",
  "{v} = f32[4] multiply({a}, {a})",
  "{v} = f32[4] maximum({a}, k4)",
  "{v} = f32[4] all-reduce({a}), replica_groups={{{{0,2}},{{1,3}}}}, to_apply=add",
]
EXTRA = """double { dx = f32[4] parameter(0) dc = f32[] constant(2) db = f32[4] broadcast(dc), dimensions={}
  ROOT dm = f32[4] multiply(dx, db) }"""
HEAD = """k = f32[] constant(0.5) k4 = f32[4] broadcast(k), dimensions={} fi = f32[] convert(i)
  i4 = f32[4] broadcast(fi), dimensions={} z = s32[] constant(0)"""


def mostly(draw: st.DrawFn, usual: list[str], rare: list[str]) -> str:
  return draw(st.sampled_from(rare if rare and draw(st.integers(0, 14)) == 0 else usual))


@st.composite
def terms(draw: st.DrawFn, name: str) -> tuple[list[str], str]:
  """Lines that compute a function of a collective, and the value they end in."""
  groups = mostly(draw, ["{{0,1,2,3}}"], ["{{0,1},{2,3}}", "{}"])
  operand = draw(st.sampled_from(["x", "k4", "i4"]))
  reducer = mostly(draw, ["add"], ["max"])
  lines = [
    f"{name}s = f32[4] multiply({operand}, x)",
    f"{name} = f32[4] all-reduce({name}s), replica_groups={groups}, to_apply={reducer}",
  ]
  value = name
  for n in range(draw(st.integers(0, 3))):
    lines.append(mostly(draw, LINEAR, OTHERS).format(v=f"{name}v{n}", a=value))
    value = f"{name}v{n}"
  return lines, value


@st.composite
def sums(draw: st.DrawFn) -> str:
  lines, total = [HEAD], "acc"
  for n in range(draw(st.integers(1, 3))):
    more, value = draw(terms(f"r{n}"))
    lines += [*more, f"t{n} = f32[4] {mostly(draw, ['add', 'subtract'], ['multiply'])}({total}, {value})"]
    total = f"t{n}"
  if draw(st.integers(0, 14)) == 0:
    lines.append(f"end = f32[4] add({total}, {draw(st.sampled_from(['x', 'acc', 'r0']))})")
    total = "end"
  return "\n  ".join([*lines, f"next = f32[4] copy({total})"])


@st.composite
def stores(draw: st.DrawFn) -> str:
  lines, buffer = [HEAD, "one = s32[] constant(1)", "m = s32[] constant(4)", "j = s32[] subtract(m, i)"], "acc"
  lines.append("i1x = s32[] add(i, one)")
  for n in range(draw(st.integers(1, 2))):
    more, value = draw(terms(f"r{n}"))
    index = draw(st.sampled_from(["i", "j", "z", "one", "i1x"]))
    lines += [*more, f"row{n} = f32[1,4] reshape({value})"]
    lines.append(f"t{n} = f32[5,4] dynamic-update-slice({buffer}, row{n}, {index}, z)")
    buffer = f"t{n}"
  return "\n  ".join([*lines, f"next = f32[5,4] copy({buffer})"])


def check_generated(loop: LoopText) -> None:
  text = with_own_fusions(str(loop))
  before, after = hlo.parse(text), hlo.parse(text)
  AllReduceCodeMotion().run(after)
  hlo.verify(after)
  rng = np.random.default_rng(0)
  # Small integers as floats: sums of these loops are exact, so the results are equal, not just near.
  shapes = [p.shape for p in before.entry.parameters]
  args = [[rng.integers(-2, 3, s.dimensions).astype(np.float32) for s in shapes] for _ in range(4)]
  for a, b in zip(hlo.evaluate_devices(before, args), hlo.evaluate_devices(after, args)):
    np.testing.assert_allclose(b[1], a[1], rtol=1e-6)


@settings(max_examples=120, deadline=None)
@given(sums(), st.integers(0, 4), st.integers(-2, 2))
def test_generated_sums_compute_the_same(body: str, trips: int, start: int) -> None:
  check_generated(LoopText(body, trips=trips, start=start, extra=EXTRA))


@settings(max_examples=120, deadline=None)
@given(stores(), st.integers(0, 6), st.integers(-2, 2))
def test_generated_stores_compute_the_same(body: str, trips: int, start: int) -> None:
  check_generated(LoopText(body, acc="f32[5,4]", trips=trips, start=start, extra=EXTRA))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_most_generated_loops_do_change(data: st.DataObject) -> None:
  """The generator is worth something: with no rare choices, everything moves."""
  body = f"{HEAD} r = f32[4] all-reduce(x), {AR}"
  value = "r"
  for n in range(data.draw(st.integers(0, 4))):
    body += " " + data.draw(st.sampled_from(LINEAR)).format(v=f"v{n}", a=value)
    value = f"v{n}"
  moved(with_own_fusions(str(LoopText(f"{body} next = f32[4] add(acc, {value})", extra=EXTRA))))

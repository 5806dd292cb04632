"""A relayout plan, run on a brute-force CTA, puts every element where the target layout says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.layout.families import pairs
from tests.layout.layouts import examples, register_layouts
from tests.layout.machine import held
from tests.support.relayouts import check
from tilewright import errors, layout
from tilewright.layout.atoms import common_slots
from tilewright.layout.costs import memory_cost, relayout_cost
from tilewright.layout.fragments import MMA, wgmma_accumulator
from tilewright.layout.plan import relayout
from tilewright.layout.shared import fewest_wavefronts
from tilewright.layout.steps import Exchange, Permute, Rename
from tilewright.layout.through_shared_memory import Trip


@given(st.data())
@examples(200)
def test_any_layout_becomes_any_other(data):
  source = data.draw(register_layouts())
  target = data.draw(register_layouts(source.shape, source.num_warps))
  check(relayout(source, target, data.draw(st.sampled_from([8, 16, 32, 64])), data.draw(st.booleans())))


@given(st.data())
@examples(100)
def test_what_stays_in_warps_needs_no_shared_memory_if_that_is_cheaper(data):
  source = data.draw(register_layouts((8, 16), 1))
  target = data.draw(register_layouts((8, 16), 1))
  plan = relayout(source, target, 16)
  check(plan)
  assert plan.cost < 1000


@given(st.data())
@examples(80)
def test_the_estimate_is_near_the_cost_of_the_plan(data):
  """Inference compares estimates: they are zero together with the cost, and a small factor away otherwise."""
  source = data.draw(register_layouts())
  target = data.draw(register_layouts(source.shape, source.num_warps))
  bits = data.draw(st.sampled_from([8, 16, 32]))
  plan, estimate = relayout(source, target, bits), relayout_cost(source, target, bits)
  assert (plan.cost == 0) == (estimate == 0)
  assert plan.cost / 4 <= estimate <= plan.cost * 4


@pytest.mark.parametrize("shape", [(48, 96), (100, 40), (7, 5), (1000,)])
def test_padded_layouts_travel_too(shape):
  source = layout.blocked_for(shape, 4, 8)
  order = list(range(len(shape)))
  for target in (
    layout.blocked_for(shape, 4, 1, order),
    layout.blocked_for(shape, 4, 4, order),
    layout.splat(shape, 4),
  ):
    check(relayout(source, target, 16))
    check(relayout(target, source, 16))


def test_equal_layouts_need_nothing():
  of = layout.blocked_for((64, 64), 4, 8)
  assert relayout(of, of, 16).steps == () and relayout(of, of, 16).cost == 0


def test_an_accumulator_becomes_the_next_left_operand_for_free():
  """Attention's P: two 16 x 8 accumulators are one 16 x 16 operand of mma.sync."""
  m = MMA[16, 16]
  assert layout.repeated(m.c, (16, 64), (1, 1)) == layout.repeated(m.a, (16, 64), (1, 1))


def test_renaming_registers_is_free():
  of = layout.register_layout((4, 32), register=[(4, (1, 0))], lane=[(32, (0, 1))])
  other = layout.register_layout((4, 32), register=[(2, (2, 0)), (2, (1, 0))], lane=[(32, (0, 1))])
  plan = relayout(of, other, 32)
  assert [type(s) for s in plan.steps] == [Rename] and plan.cost == 0
  check(plan)


def test_an_accumulator_becomes_an_8_bit_operand_by_shuffles():
  m = MMA[8, 32]
  plan = relayout(layout.repeated(m.c, (16, 32), (1, 1)), layout.repeated(m.a, (16, 32), (1, 1)), 8)
  assert [type(s) for s in plan.steps] == [Exchange, Permute, Rename]
  check(plan)


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize("n", [64, 96, 128, 256])
def test_an_accumulator_goes_through_shared_memory_without_conflicts(n, bits):
  source = layout.repeated(wgmma_accumulator(n), (128, n), (2, 1))
  target = layout.blocked_for((128, n), 8, 128 // bits)
  plan = relayout(source, target, bits)
  check(plan)
  (step,) = plan.steps
  assert isinstance(step, Trip)
  fewest = 128 * n * bits // 8 // 128
  assert step.store.wavefronts == step.load.wavefronts == fewest


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_a_transposition_through_shared_memory_is_free_of_conflicts(bits):
  source = layout.blocked_for((64, 64), 4, 128 // bits)
  target = layout.transposed(source, (1, 0))
  plan = relayout(source, target, bits)
  check(plan)
  (step,) = plan.steps
  assert isinstance(step, Trip)
  for access in (step.store, step.load):
    if access.kind == "vector":
      assert access.wavefronts <= fewest_wavefronts(access.instructions * 4, access.width)


def test_a_tile_of_another_shape_or_number_of_warps_is_refused():
  a = layout.blocked_for((64,), 4)
  with pytest.raises(errors.LayoutError, match="shape"):
    relayout(a, layout.blocked_for((32,), 4), 32)
  for part in (
    layout.register_layout((64, 64), [(16, (0, 1))], lane=[(32, (1, 0))], warp=[(4, (0, 16))]),
    layout.register_layout((64, 64), [(64, (0, 1)), (2, (32, 0))], lane=[(32, (1, 1))], warp=[(4, (0, 0))]),
  ):
    assert not part.holds_all
    with pytest.raises(errors.LayoutError, match="must hold every element"):
      relayout(part, layout.blocked_for((64, 64), 4, 8), 16)
    relayout(layout.blocked_for((64, 64), 4, 8), part, 16)  # it holds what it holds
  for wrong in (None, 3, layout.shared_tiled((64, 64), None, 16)):
    with pytest.raises(errors.LayoutError, match="source of a relayout must be a layout of registers"):
      relayout(wrong, layout.blocked_for((64, 64), 4, 8), 16)
  with pytest.raises(errors.LayoutError, match="warps"):
    relayout(a, layout.blocked_for((64,), 2), 32)


def test_coalesced_vectors_are_the_cheapest_way_to_memory():
  rows = layout.blocked_for((64, 64), 4, 8)
  lines = 64 * 64 * 2 // 128  # each line once, by instructions that move 512 bytes each
  assert memory_cost(rows, (64, 1), 16) == 4 * lines + lines // 4
  for other in (
    layout.blocked_for((64, 64), 4, 2),
    layout.transposed(rows, (1, 0)),
    layout.repeated(MMA[16, 16].c, (64, 64), (4, 1)),
  ):
    assert memory_cost(other, (64, 1), 16) > memory_cost(rows, (64, 1), 16)
  assert memory_cost(layout.transposed(rows, (1, 0)), (1, 64), 16) == memory_cost(rows, (64, 1), 16)


def test_registers_of_the_model_are_what_the_layout_says():
  of = layout.strided((256,), 4, 2)
  assert np.array_equal(held(of)[:, 3, 2], [(2 * 32 + 3) * 2, (2 * 32 + 3) * 2 + 1])


@given(pairs(), st.sampled_from([8, 16, 32]))
@examples(40)
def test_the_estimate_is_near_the_cost_where_layouts_do_not_fit_together(case, bits):
  """Layouts that cut the tile at places that do not fit together go element by element, and are not taken for cheap."""
  source, target = case
  assume(max(source.num_registers, target.num_registers) <= 256)
  cost, estimate = relayout(source, target, bits).cost, relayout_cost(source, target, bits)
  assert (cost == 0) == (estimate == 0)
  if common_slots(source, target) is None:
    assert cost / 3 <= estimate <= 3 * cost

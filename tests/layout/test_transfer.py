"""Any place of a tile is reached from any other, by steps that continue each other and do what their instructions can."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.layout import machine
from tests.layout.layouts import examples
from tilewright import errors, layout
from tilewright.layout import (
  Move,
  Plan,
  TensorMove,
  blocked,
  blocked_for,
  fragments,
  relayout,
  repeated,
  shared_for_matrix,
  shared_tiled,
  transfer,
)
from tilewright.layout.algebra import trimmed, without_register_copies

SHAPE, WARPS = (128, 64), 4
PLACES = {
  "coalesced": blocked_for(SHAPE, WARPS, 8),
  "columns": blocked_for(SHAPE, WARPS, 2, order=(0, 1)),
  "wgmma": repeated(fragments.wgmma_accumulator(64), SHAPE, (1, 1)),
  "copies": blocked(SHAPE, (2, 16), (8, 4), (1, WARPS)),  # in every warp
  "row-major": shared_tiled(SHAPE, None, 16),
  "swizzled": shared_for_matrix(SHAPE, 16, 128),
  "transposed": shared_for_matrix(SHAPE, 16, 64, transposed=True),
  "tensor memory": fragments.tensor_memory(128, 64),
  "packed": fragments.tensor_memory(128, 64, 16),
}


def follow(source, way):
  """Where a tile is after the steps, each of which begins where the one before ended."""
  place = source
  for step in way.steps:
    match step:
      case Plan():
        assert step.source == place
        machine.run(step, machine.held(place))
        place = step.target
      case Move():
        warps = range(WARPS)
        if step.is_store:
          assert without_register_copies(place) == step.registers
          copies = [t for t in step.registers.owner_terms if t.input == "warp"]
          warps = [w for w in warps if all(w // t.place % t.size == 0 for t in copies)]
        else:
          assert place == step.shared
        at, inside = machine.addresses(step.registers, step.shared)
        assert machine.spent(step.access, at, inside, list(warps)) == step.access.wavefronts
        place = step.shared if step.is_store else step.registers
      case TensorMove():
        assert place == (step.registers if step.is_store else step.memory)
        one = fragments.tcgen05_access(step.shape, step.repeat, step.memory.size("cell"))
        rows, columns, packed = one.shape
        access = layout.repeated(one, (rows, columns * step.times, packed), (1, 1, 1))
        assert step.registers == trimmed(fragments.read_from_tensor_memory(step.memory, access))
        place = step.memory if step.is_store else step.registers
  return place


@given(st.sampled_from(list(itertools.product(PLACES, PLACES))), st.booleans())
@examples(25)
def test_any_place_is_reached_from_any_other(names, matrices):
  source, target = (PLACES[name] for name in names)
  way = transfer(source, target, 16, matrices=matrices)
  end = follow(source, way)
  assert end == target or end == without_register_copies(target)
  assert way.cost == sum(step.cost for step in way.steps) and (way.cost > 0) == (source != target)
  assert "stmatrix" not in str(way) or matrices


def test_between_registers_it_is_a_relayout():
  source, target = PLACES["coalesced"], PLACES["wgmma"]
  assert transfer(source, target, 16).steps == (relayout(source, target, 16),)


def test_the_instruction_that_fits_is_taken():
  assert "stmatrix" in str(transfer(PLACES["wgmma"], PLACES["swizzled"], 16))
  assert "16 bytes" in str(transfer(PLACES["swizzled"], PLACES["coalesced"], 16))
  sums = fragments.tensor_memory(64, 64)
  assert str(transfer(sums, fragments.wgmma_accumulator(64), 32)).startswith("tcgen05.ld.16x256b.x8 (")


@pytest.mark.parametrize("columns, text", [(512, "x128 4 times"), (96, "x32 3 times"), (128, "x128 ->")])
def test_what_is_wider_than_an_instruction_is_read_by_several(columns, text):
  memory = fragments.tensor_memory(128, columns)
  target = layout.blocked_for((128, columns), WARPS, 4)
  way = transfer(memory, target, 32)
  assert str(way).startswith(f"tcgen05.ld.32x32b.{text}") and follow(memory, way) == target


@pytest.mark.parametrize("name", ["tensor memory", "packed"])
def test_each_four_of_more_warps_take_their_share_of_the_columns_of_tensor_memory(name):
  memory, target = PLACES[name], blocked_for(SHAPE, 8, 8)
  way = transfer(memory, target, 16)
  (first, then), held = way.steps, way.steps[0].registers
  assert isinstance(first, TensorMove) and isinstance(then, Plan) and (then.source, then.target) == (held, target)
  assert held.num_warps == 8 and held.holds_all and not held.is_replicated
  lane, warp = np.meshgrid(np.arange(32), np.arange(8), indexing="ij")
  for register in range(held.num_registers):
    rows, columns = held.coordinates(register=register, lane=lane, warp=warp)
    assert (rows // 32 == warp % 4).all(), "a warp sees 32 rows, by its number modulo four"
    assert (columns // 32 == warp // 4).all()
  assert isinstance(transfer(target, memory, 16).steps[-1], TensorMove)
  with pytest.raises(errors.LayoutError, match="2 warps cannot divide"):
    transfer(memory, blocked_for(SHAPE, 2, 8), 16)


@pytest.mark.parametrize("bits", [8, 32, 64, 128])
def test_elements_of_any_width_go_to_shared_memory_and_back(bits):
  shared = shared_tiled(SHAPE, None, bits, 128)
  for way in (transfer(PLACES["wgmma"], shared, bits), transfer(shared, PLACES["columns"], bits)):
    assert len(way.steps) == 1 and way.cost > 0


def test_places_of_other_tiles_are_refused():
  with pytest.raises(errors.LayoutError, match=r"bits: the source, shared<.* holds elements of 16 bits, got 32"):
    transfer(PLACES["row-major"], PLACES["coalesced"], 32)
  with pytest.raises(errors.LayoutError, match="bits: 2 elements of 32 bits do not fit a cell of the target"):
    transfer(PLACES["coalesced"], PLACES["packed"], 32)
  with pytest.raises(errors.LayoutError, match="target: expected a layout"):
    transfer(PLACES["coalesced"], None, 16)
  with pytest.raises(errors.LayoutError, match="source: expected a layout that holds every element"):
    transfer(layout.register_layout(SHAPE, lane=[(32, (1, 0))], warp=[(4, (0, 1))]), PLACES["swizzled"], 16)
  with pytest.raises(errors.LayoutError, match="cannot be laid out"):
    transfer(PLACES["coalesced"], shared_tiled((64, 64), None, 16), 16)
  with pytest.raises(errors.LayoutError, match="registers, shared memory or tensor memory"):
    transfer(PLACES["row-major"].elements, PLACES["coalesced"], 16)

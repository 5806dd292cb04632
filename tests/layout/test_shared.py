"""Shared memory: swizzles are permutations, addresses and elements are inverse, conflicts are what a count by hand gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.layout.layouts import examples, register_layouts
from tests.layout.machine import addresses, spent
from tilewright import errors, layout
from tilewright.layout.access import accesses, bank_conflicts, best_access
from tilewright.layout.build import repeated
from tilewright.layout.fragments import MMA
from tilewright.layout.shared import (
  SWIZZLES,
  SharedLayout,
  Swizzle,
  shared_for_matrix,
  shared_tiled,
  wavefronts,
)


@pytest.mark.parametrize("size", [32, 64, 128])
def test_a_swizzle_moves_16_byte_chunks_by_the_number_of_their_line(size):
  """As TMA does: chunk ^= line % (size / 16), where lines have 128 bytes, counted for narrower swizzles in units that repeat."""
  for address in range(0, 4096, 4):
    chunk, line = address // 16 % 8, address // 128 % 8
    expected = address // 128 * 128 + (chunk ^ (line % (size // 16))) * 16 + address % 16
    assert SWIZZLES[size](address) == expected


@given(st.permutations(range(12)), st.integers(0, 6))
@examples(60)
def test_a_swizzle_is_its_own_inverse(bits, count):
  swizzle = Swizzle(tuple(zip(bits[:count], bits[6 : 6 + count])))
  at = np.arange(4096)
  assert np.array_equal(swizzle(swizzle(at)), at)
  by_hand = [
    sum(((a >> b & 1) ^ sum(a >> s & 1 for s, t in swizzle.bits if t == b) % 2) << b for b in range(12))
    for a in at[::37]
  ]
  assert np.array_equal(swizzle(at[::37]), by_hand)


def test_swizzles_are_equal_if_they_do_the_same():
  assert Swizzle(((9, 6), (7, 4), (8, 5))) == SWIZZLES[128]


def test_a_swizzle_must_not_feed_itself():
  with pytest.raises(errors.LayoutError, match="swizzle"):
    Swizzle(((7, 4), (4, 2)))


@given(
  st.sampled_from([(8, 64), (16, 128), (64, 64), (24, 96)]),
  st.sampled_from([0, 32, 64, 128]),
  st.sampled_from([8, 16, 32]),
  st.booleans(),
)
@examples(40)
def test_addresses_and_elements_are_inverse(shape, swizzle, bits, columns_first):
  shared = shared_tiled(shape, (8, 32), bits, swizzle, order=(0, 1) if columns_first else None)
  seen = set()
  for at in itertools.product(*map(range, shape)):
    address = shared.address(at)
    assert shared.coordinates(address) == at
    seen.add(address)
  assert len(seen) == shape[0] * shape[1] and max(seen) < shared.nbytes


def test_a_tma_box_of_bf16_is_a_column_of_128_byte_rows():
  """Element (r, c) lies in box c / 64, row r, chunk (c / 8) ^ r: what hopper kernels compute by hand."""
  shared = shared_for_matrix((128, 256), 16, 128)
  for r, c in itertools.product(range(0, 128, 3), range(0, 256, 5)):
    box, chunk, inside = c // 64, c % 64 // 8, c % 8
    assert shared.address((r, c)) == box * 128 * 128 + r * 128 + (chunk ^ (r % 8)) * 16 + inside * 2
  assert shared_tiled((128, 256), (8, 64), 16, 128, order=(0, 1)) == shared


def test_a_transposed_operand_is_contiguous_along_its_first_dimension():
  shared = shared_for_matrix((128, 32), 16, 128, transposed=True)
  other = shared_for_matrix((32, 128), 16, 128)
  for r, c in itertools.product(range(0, 128, 7), range(32)):
    assert shared.address((r, c)) == other.address((c, r))
  with pytest.raises(errors.LayoutError, match="multiple"):
    shared_for_matrix((8, 24), 16, 128)


@pytest.mark.parametrize(
  "addresses, width, expected",
  [
    (np.arange(32) * 4, 4, 1),
    (np.zeros(32, int), 4, 1),  # one word for all lanes: broadcast
    (np.arange(32) * 128, 4, 32),
    (np.arange(32) * 8, 4, 2),
    (np.arange(32) * 8, 8, 2),
    (np.arange(32) * 16, 16, 4),
    (np.arange(32) * 132, 4, 1),  # a padded column
    (np.arange(32) * 2, 2, 1),
    (np.arange(32) * 128, 16, 32),
  ],
)
def test_wavefronts_by_hand(addresses, width, expected):
  assert wavefronts(addresses[None], width) == expected


def test_a_column_conflicts_without_a_swizzle_and_not_with_one():
  column = layout.register_layout((64, 64), register=[(64, (0, 1))], lane=[(32, (1, 0))], warp=[(2, (32, 0))])
  plain = best_access(column, shared_tiled((64, 64), None, 16), matrices=False)
  swizzled = best_access(column, shared_tiled((64, 64), None, 16, 128), matrices=False)
  assert plain.width == swizzled.width == 16
  assert plain.wavefronts == 8 * swizzled.wavefronts == 8 * (64 * 64 * 2 // 128)
  at, _ = addresses(column, shared_tiled((64, 64), None, 16))
  assert bank_conflicts(np.moveaxis(at[::8], 1, 2), 16) == plain.wavefronts - swizzled.wavefronts
  assert bank_conflicts(column, shared_tiled((64, 64), None, 16)) == plain.wavefronts - swizzled.wavefronts
  assert bank_conflicts(column, shared_tiled((64, 64), None, 16, 128)) == 0


@pytest.mark.parametrize("swizzle, times", [(0, 8), (32, 4), (64, 2), (128, 1)])
def test_a_fragment_is_read_by_ldmatrix_with_as_many_conflicts_as_rows_share_banks(swizzle, times):
  """32 matrices of 8 rows that lie 128 bytes apart: without a swizzle each row is a wavefront of its own."""
  fragment, memory = repeated(MMA[16, 16].a, (32, 64), (1, 1)), shared_tiled((32, 64), None, 16, swizzle)
  assert best_access(fragment, memory).kind == "matrix"
  assert bank_conflicts(fragment, memory) == (times - 1) * 32


@given(st.data())
@examples(80)
def test_accesses_are_what_the_instructions_do(data):
  """Any register layout, tiling and swizzle: alignment, neighbours and wavefronts as counted element by element."""
  shape = data.draw(st.sampled_from([(16, 16), (8, 48), (32, 8)]))
  of = data.draw(register_layouts(shape, 2))
  bits = data.draw(st.sampled_from([8, 16, 32]))
  tile = data.draw(st.sampled_from([None, (8, 8)]))
  shared = shared_tiled(shape, tile, bits, data.draw(st.sampled_from([0, 32, 64, 128])))
  at, inside = addresses(of, shared)
  for access in accesses(of, shared):
    assert sorted(r for g in access.groups for r in g) == list(range(of.num_registers))
    assert spent(access, at, inside, [0, 1]) == access.wavefronts


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_ldmatrix_reads_the_left_operand_of_mma(bits):
  m = MMA[bits, 256 // bits]
  shape = (64, 2 * 256 // bits)
  of = layout.repeated(m.a, shape, (4, 1))
  found = {a.kind: a for a in accesses(of, shared_tiled(shape, None, bits, 64))}
  assert found["matrix"].wavefronts == 64 * 64 // 128
  assert found["matrix"].instructions == of.num_registers * bits // 32 // 4


def test_ldmatrix_trans_reads_a_right_operand_that_lies_row_major():
  m = MMA[16, 16]
  of = layout.repeated(m.b, (32, 64), (1, 4))
  kinds = {a.kind: a for a in accesses(of, shared_tiled((32, 64), None, 16, 128))}
  assert "matrix" not in kinds and kinds["transposed"].wavefronts == 32 * 64 * 2 // 128
  columns = layout.layout((32, 64), {"offset": [(32, (1, 0)), (64, (0, 1))]})
  column_major = {a.kind for a in accesses(of, SharedLayout(columns, 16, SWIZZLES[64]))}
  assert "matrix" in column_major


def test_a_tile_has_one_shape():
  with pytest.raises(errors.LayoutError, match="shape"):
    best_access(layout.splat((8,), 1), shared_tiled((16,), None, 32))

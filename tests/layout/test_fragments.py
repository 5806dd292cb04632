"""The fragments are those of the PTX ISA. The formulas here are copied from its text, one by one, not derived from ours."""

from __future__ import annotations

import itertools

import pytest

from tilewright import errors, layout
from tilewright.layout import fragments
from tilewright.layout.algebra import trimmed
from tilewright.layout.fragments import MMA, MMA_F64_M8N8K4, wgmma_accumulator, wgmma_lhs


def elements(of: layout.Layout, lane: int, warp: int = 0):
  return [of.coordinates(register=i, lane=lane, warp=warp) for i in range(of.num_registers)]


# (bits, k) -> A: row and column of a_i, B: row and column of b_i; g is groupID = lane >> 2, t is threadID_in_group = lane % 4.
# "Matrix Fragments for mma.m16n8k8", "… m16n8k16 with floating point type", "… with integer type", and so on.
A = {
  (16, 8): lambda i, g, t: (g if i < 2 else g + 8, t * 2 + (i & 1)),
  (16, 16): lambda i, g, t: (
    g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
    t * 2 + (i & 1) if i < 4 else t * 2 + (i & 1) + 8,
  ),
  (32, 4): lambda i, g, t: (g if i == 0 else g + 8, t),
  (32, 8): lambda i, g, t: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
  (8, 16): lambda i, g, t: (g if i < 4 else g + 8, t * 4 + (i & 3)),
  (8, 32): lambda i, g, t: (
    g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
    t * 4 + (i & 3) if i < 8 else t * 4 + (i & 3) + 16,
  ),
  (4, 32): lambda i, g, t: (g if i < 8 else g + 8, t * 8 + (i & 7)),
  (4, 64): lambda i, g, t: (
    g if 0 <= i < 8 or 16 <= i < 24 else g + 8,
    t * 8 + (i & 7) if i < 16 else t * 8 + (i & 7) + 32,
  ),
  (1, 128): lambda i, g, t: (g if i < 32 else g + 8, t * 32 + (i & 0x1F)),
  (1, 256): lambda i, g, t: (
    g if 0 <= i < 32 or 64 <= i < 96 else g + 8,
    t * 32 + (i & 0x1F) if i < 64 else t * 32 + (i & 0x1F) + 128,
  ),
  (64, 4): lambda i, g, t: (g if i == 0 else g + 8, t),
  (64, 8): lambda i, g, t: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
  (64, 16): lambda i, g, t: (g if i % 2 == 0 else g + 8, i // 2 * 4 + t),
}
B = {
  (16, 8): lambda i, g, t: (t * 2 + i, g),
  (16, 16): lambda i, g, t: (t * 2 + (i & 1) if i < 2 else t * 2 + (i & 1) + 8, g),
  (32, 4): lambda i, g, t: (t, g),
  (32, 8): lambda i, g, t: (t if i == 0 else t + 4, g),
  (8, 16): lambda i, g, t: (t * 4 + i, g),
  (8, 32): lambda i, g, t: (t * 4 + (i & 3) if i < 4 else t * 4 + (i & 3) + 16, g),
  (4, 32): lambda i, g, t: (t * 8 + (i & 7), g),
  (4, 64): lambda i, g, t: (t * 8 + (i & 7) if i < 8 else t * 8 + (i & 7) + 32, g),
  (1, 128): lambda i, g, t: (t * 32 + i, g),
  (1, 256): lambda i, g, t: (t * 32 + (i & 0x1F) if i < 32 else t * 32 + (i & 0x1F) + 128, g),
  (64, 4): lambda i, g, t: (t, g),
  (64, 8): lambda i, g, t: (t if i == 0 else t + 4, g),
  (64, 16): lambda i, g, t: (t + 4 * i, g),
}


@pytest.mark.parametrize("key", MMA)
def test_mma_sync(key):
  own = MMA[key]
  for lane in range(32):
    g, t = lane >> 2, lane % 4
    assert elements(own.a, lane) == [A[key](i, g, t) for i in range(own.a.num_registers)]
    assert elements(own.b, lane) == [B[key](i, g, t) for i in range(own.b.num_registers)]
    assert elements(own.c, lane) == [(g if i < 2 else g + 8, t * 2 + (i & 1)) for i in range(4)]
  assert own.shape == (16, 8, key[1])
  assert own.name == f"m16n8k{key[1]}"


def test_every_thread_of_mma_sync_holds_what_the_operand_has():
  for own in MMA.values():
    for of in (own.a, own.b, own.c):
      assert of.extents == of.shape and of.num_registers * 32 == of.shape[0] * of.shape[1]


def test_mma_sync_f64_m8n8k4():
  for lane in range(32):
    assert elements(MMA_F64_M8N8K4.a, lane) == [(lane >> 2, lane % 4)]
    assert elements(MMA_F64_M8N8K4.b, lane) == [(lane % 4, lane >> 2)]
    assert elements(MMA_F64_M8N8K4.c, lane) == [(lane >> 2, lane % 4 * 2 + i) for i in range(2)]


@pytest.mark.parametrize("n", [8, 24, 128, 256])
def test_the_accumulator_of_wgmma(n):
  """ "Register fragment layout for accumulator matrix D": row and column of d_i in a thread of the warpgroup."""
  of = wgmma_accumulator(n)
  for thread in range(128):
    for i, at in enumerate(elements(of, thread % 32, thread // 32)):
      row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (i // 2 % 2)
      column = 8 * (i // 4) + 2 * (thread % 4) + i % 2
      assert at == (row, column)
  assert of.num_registers == n // 2


@pytest.mark.parametrize("bits, k", [(1, 256), (8, 32), (16, 16), (32, 8)])
def test_the_left_operand_of_wgmma_in_registers(bits, k):
  of = wgmma_lhs(bits)
  assert of.shape == (64, k)
  for warp, lane in itertools.product(range(4), range(32)):
    mine = [A[bits, k](i, lane >> 2, lane % 4) for i in range(of.num_registers)]
    assert elements(of, lane, warp) == [(16 * warp + row, column) for row, column in mine]


def test_wgmma_has_no_other_sizes():
  with pytest.raises(errors.LayoutError, match="steps of 8"):
    wgmma_accumulator(12)
  with pytest.raises(errors.LayoutError, match="1, 8, 16 or 32 bits"):
    wgmma_lhs(64)


# tcgen05.ld: (row, column) of register i of a lane, for .x1, as drawn in "Data Movement Shape" of the PTX ISA.
TCGEN05 = {
  "32x32b": (1, lambda i, lane: (lane, 0)),
  "16x64b": (1, lambda i, lane: (lane // 4 + 8 * (lane // 2 % 2), lane % 2)),
  "16x128b": (2, lambda i, lane: (lane // 4 + 8 * i, lane % 4)),
  "16x256b": (4, lambda i, lane: (lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2)),
}


@pytest.mark.parametrize("shape", TCGEN05)
@pytest.mark.parametrize("repeat", [1, 4])
def test_tcgen05_loads(shape, repeat):
  count, place = TCGEN05[shape]
  of = fragments.tcgen05_access(shape, repeat)
  width = of.shape[1] // repeat
  halves = 1 if shape == "32x32b" else 2
  assert of.num_registers == count * repeat * halves
  for lane, warp in itertools.product(range(32), range(4)):
    for half, n, i in itertools.product(range(halves), range(repeat), range(count)):
      row, column = place(i, lane)
      register = i + count * (n + repeat * half)
      expected = (32 * warp + 16 * half + row, column + n * width, 0)
      assert of.coordinates(register=register, lane=lane, warp=warp) == expected


@pytest.mark.parametrize("shape, most", [("32x32b", 128), ("16x64b", 128), ("16x128b", 64), ("16x256b", 32)])
def test_tcgen05_loads_are_repeated_up_to_128_registers(shape, most):
  """The table of `.num` in "tcgen05.ld" of the PTX ISA."""
  assert fragments.tcgen05_repeats(shape) == tuple(n for n in (1, 2, 4, 8, 16, 32, 64, 128) if n <= most)
  for repeat in (0, 3, 2 * most):
    with pytest.raises(errors.LayoutError, match="repeat: "):
      fragments.tcgen05_access(shape, repeat)


def test_tcgen05_16x32bx2_reads_two_halves():
  of = fragments.tcgen05_access("16x32bx2", 4, split=32)
  for lane in range(32):
    assert of.coordinates(register=3, lane=lane) == (lane % 16, 3 + 32 * (lane // 16), 0)
  with pytest.raises(errors.LayoutError, match="split"):
    fragments.tcgen05_access("16x32bx2", 4)
  with pytest.raises(errors.LayoutError, match="no shape"):
    fragments.tcgen05_access("64x64b", 4)


def test_an_accumulator_of_64_rows_in_tensor_memory_is_read_as_a_wgmma_accumulator():
  """Its 16 rows of each warp stand in the lower half of the warp's 32, and 16x256b reads them as wgmma holds them."""
  memory = fragments.tensor_memory(64, 64)
  of = fragments.read_from_tensor_memory(memory, fragments.tcgen05_access("16x256b", 8))
  assert trimmed(of) == wgmma_accumulator(64)


@pytest.mark.parametrize("shape, repeat", [("32x32b", 64), ("16x64b", 32), ("16x128b", 16), ("16x256b", 8)])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_any_tcgen05_load_reads_the_whole_accumulator(shape, repeat, bits):
  packed = 32 // bits
  memory = fragments.tensor_memory(128, 64 * packed, bits)
  of = fragments.read_from_tensor_memory(memory, fragments.tcgen05_access(shape, repeat, packed))
  assert of.shape == of.extents == (128, 64 * packed)
  assert of.num_registers * 128 == 128 * 64 * packed


def test_an_accumulator_shared_by_two_blocks_folds_its_columns():
  memory = fragments.tensor_memory(128, 64, two_blocks=True)
  assert memory.coordinates(row=63, column=5) == (63, 5)
  assert memory.coordinates(row=64, column=5) == (0, 37)

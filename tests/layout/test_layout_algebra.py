"""Layouts are functions from places to elements; every operation on them is what it is on those functions."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.layout.layouts import examples, factors, holders, register_layouts
from tilewright import errors, layout
from tilewright.layout import algebra, fragments
from tilewright.viz import layout as picture


def places(of: layout.Layout):
  return itertools.product(*(range(of.size(name)) for name in of.names))


@given(register_layouts())
@examples(60)
def test_the_table_is_the_function(of):
  table = of.table()
  for place in itertools.islice(places(of), 0, None, 7):
    assert of.coordinates(**dict(zip(of.names, place))) == tuple(table[place])


@given(register_layouts())
@examples(60)
def test_every_element_has_a_place_and_nothing_is_padding(of):
  assert not of.is_padded and of.extents == of.shape
  assert set(holders(of).ravel()) == set(range(int(np.prod(of.shape))))


@given(st.data())
@examples(150)
def test_equality_is_equality_of_functions(data):
  """Splitting digits does not matter; exchanging any two that differ does."""
  of = data.draw(register_layouts())
  split = {
    name: [(f, tuple(m * p for m in d.moves)) for d in digits for f, p in _split(data, d.size)]
    for name, digits in of.inputs
  }
  assert layout.layout(of.shape, split) == of
  other = data.draw(register_layouts(of.shape, of.num_warps))
  same = of.table().shape == other.table().shape and np.array_equal(of.table(), other.table())
  assert (of == other) == same
  assert not same or hash(of) == hash(other)


def _split(data, size):
  place = 1
  for factor in data.draw(st.permutations(factors(size))):
    yield factor, place
    place *= factor


@given(register_layouts())
@examples(80)
def test_the_inverse_gives_the_owner_of_each_element(of):
  back = layout.inverse(of)
  for at in itertools.islice(itertools.product(*map(range, of.shape)), 0, None, 5):
    place = back.coordinates(**{str(axis): x for axis, x in enumerate(at)})
    index = dict(zip(of.names, place))
    assert of.coordinates(**index) == at
    assert all(index[t.input] // t.place % t.size == 0 for t in of.owner_terms)


@given(register_layouts())
@examples(60)
def test_a_layout_after_its_inverse_is_the_identity(of):
  unit = np.eye(of.rank, dtype=int)
  identity = layout.layout(of.shape, {str(a): [(n, tuple(unit[a]))] for a, n in enumerate(of.shape)})
  assert layout.compose(of, layout.inverse(of)) == identity


@given(st.data())
@examples(150)
def test_composition_is_composition_of_functions(data):
  inner = data.draw(register_layouts(num_warps=2))
  sizes = inner.shape
  outer_shape = (48, 32)
  digits = {}
  for axis, size in enumerate(sizes):
    own, place = [], 1
    for factor in data.draw(st.permutations(factors(size))):
      own.append((factor, (data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5)))))
      place *= factor
    digits[f"in{axis}"] = own
  outer = layout.layout(outer_shape, digits)
  try:
    both = layout.compose(outer, inner)
  except errors.LayoutError:
    assume(False)
  middle = inner.table()
  expected = outer.coordinates(**{f"in{axis}": middle[..., axis] for axis in range(len(sizes))})
  for axis in range(2):
    assert np.array_equal(both.table()[..., axis], np.broadcast_to(expected[axis], middle.shape[:-1]))


@given(st.data())
@examples(150)
def test_a_reshape_moves_nothing(data):
  of = data.draw(register_layouts())
  shape = tuple(data.draw(st.permutations(factors(int(np.prod(of.shape))))))
  if len(shape) > 2 and data.draw(st.booleans()):
    shape = (shape[0] * shape[1], *shape[2:])
  try:
    new = layout.reshaped(of, shape)
  except errors.LayoutError:
    assume(False)
  assert new.shape == shape and np.array_equal(holders(new), holders(of))


@pytest.mark.parametrize(
  "old, new", [((64, 128), (8192,)), ((8192,), (64, 128)), ((16, 4, 8), (64, 8)), ((8, 4), (2, 4, 4)), ((32, 1), (32,))]
)
def test_common_reshapes_of_strided_layouts_work(old, new):
  of = layout.blocked_for(old, 2, 4)
  assert np.array_equal(holders(layout.reshaped(of, new)), holders(of))


def test_padding_stays_padding_in_a_reshape_that_leaves_its_dimension_alone():
  of = layout.blocked((8, 5), (1, 1), (4, 8), (2, 1))
  assert of.is_padded
  new = layout.reshaped(of, (2, 4, 5))
  for at, after in zip(of.table().reshape(-1, 2), new.table().reshape(-1, 3)):
    if at[1] < 5:
      assert at[0] * 5 + at[1] == after[0] * 20 + after[1] * 5 + after[2]
    else:
      assert after[2] >= 5
  with pytest.raises(errors.LayoutError, match="carries"):
    layout.reshaped(of, (40,))


@given(st.data())
@examples(60)
def test_a_transpose_permutes_coordinates(data):
  of = data.draw(register_layouts())
  perm = data.draw(st.permutations(range(of.rank)))
  new = layout.transposed(of, perm)
  assert new.shape == tuple(of.shape[p] for p in perm)
  assert np.array_equal(new.table(), of.table()[..., list(perm)])


@given(st.data())
@examples(60)
def test_a_projection_forgets_dimensions_and_drops_registers_that_became_copies(data):
  of = data.draw(register_layouts())
  axes = data.draw(st.lists(st.integers(0, of.rank - 1), unique=True))
  new = layout.projected(of, axes)
  kept = [a for a in range(of.rank) if a not in axes]
  before, after = of.table()[..., kept], new.table()
  for lane, warp in itertools.product(range(0, 32, 5), range(of.num_warps)):
    held = sorted({tuple(x) for x in before[:, lane, warp]})
    assert held == sorted(tuple(x) for x in after[:, lane, warp])


@given(st.data())
@examples(60)
def test_projecting_undoes_expanding(data):
  of = data.draw(register_layouts())
  shape, dims = list(of.shape), list(range(of.rank))
  for _ in range(data.draw(st.integers(0, 2))):
    at = data.draw(st.integers(0, len(shape)))
    shape.insert(at, data.draw(st.sampled_from([1, 2, 6])))
    dims = [d + (d >= at) for d in dims]
  wide = layout.expanded(of, shape, dims)
  assert wide.extents == wide.shape == tuple(shape)
  new = [a for a in range(len(shape)) if a not in dims]
  assert layout.projected(wide, new) == algebra.without_register_copies(of)


@given(st.data())
@examples(150)
def test_a_part_is_a_choice_of_registers_or_is_refused(data):
  """Refused only if threads differ in which registers hold it, or if digits that are no powers of two are cut elsewhere."""
  of = data.draw(register_layouts())
  axis = data.draw(st.integers(0, of.rank - 1))
  count = data.draw(st.sampled_from([n for n in (1, 2, 3, 4) if of.shape[axis] % n == 0]))
  size = of.shape[axis] // count
  shape = tuple(size if a == axis else n for a, n in enumerate(of.shape))
  starts = tuple(size * data.draw(st.integers(0, count - 1)) if a == axis else 0 for a in range(of.rank))
  inside = (of.table()[..., axis] // size * size == starts[axis]).reshape(of.num_registers, -1)
  try:
    part = layout.sliced(of, starts, shape)
  except errors.LayoutError:
    assert not (inside == inside[:, :1]).all() or of.shape[axis] & (of.shape[axis] - 1)
    return
  assert (inside == inside[:, :1]).all()
  registers = layout.part_registers(of, part, starts)
  assert sorted(registers) == [r for r in range(of.num_registers) if inside[r, 0]]
  assert np.array_equal(part.table(), of.table()[list(registers)] - np.asarray(starts))


@given(st.data())
@examples(60)
def test_every_part_of_a_whole_that_is_made_of_parts_has_their_layout(data):
  part = data.draw(register_layouts())
  counts = [data.draw(st.sampled_from([1, 2, 3])) for _ in part.shape]
  whole = layout.unsliced(part, tuple(n * c for n, c in zip(part.shape, counts)))
  starts = tuple(n * data.draw(st.integers(0, c - 1)) for n, c in zip(part.shape, counts))
  assert layout.sliced(whole, starts, part.shape) == part


@given(register_layouts(), st.integers(0, 2))
@examples(100)
def test_vectors_are_aligned_neighbours_in_every_thread(of, axis):
  axis %= of.rank
  width = layout.vector_width(of, axis)
  groups = layout.vectors(of, axis)
  assert sorted(r for g in groups for r in g) == list(range(of.num_registers))
  table = of.table()
  for group in groups:
    first = table[group[0]]
    assert (first[..., axis] % width == 0).all()
    for step, register in enumerate(group):
      move = np.zeros(of.rank, int)
      move[axis] = step
      assert np.array_equal(table[register], first + move)


@pytest.mark.parametrize(
  "shape", [(128, 64), (48, 96), (100, 200), (7,), (1000,), (5, 3), (1, 8192), (16, 1), (), (2, 3, 40)]
)
@pytest.mark.parametrize("num_warps", [1, 3, 4])
@pytest.mark.parametrize("vector", [1, 8])
def test_a_blocked_layout_covers_any_shape(shape, num_warps, vector):
  of = layout.blocked_for(shape, num_warps, vector)
  table = of.table().reshape(of.num_registers * 32 * num_warps, len(shape))
  inside = {tuple(x) for x in table if (x < np.asarray(shape, int)).all()}
  assert inside == set(itertools.product(*map(range, shape)))
  assert of.size("lane") == 32 and of.num_warps == num_warps


def test_a_strided_layout_deals_vectors_to_neighbouring_threads():
  of = layout.strided((64, 128), num_warps=4, vector=8)
  flat = holders(of)
  for warp, lane, register in itertools.product(range(4), range(32), range(8)):
    assert flat[register, lane, warp] == (warp * 32 + lane) * 8 + register


def test_a_splat_is_held_by_every_thread():
  of = layout.splat((2, 3), num_warps=2)
  assert (holders(of) == np.arange(6)[:, None, None]).all()


def test_mistakes_are_named():
  with pytest.raises(errors.LayoutError, match="does not fit a tile"):
    layout.layout((4,), {"lane": [(4, (1, 1))]})
  with pytest.raises(errors.LayoutError, match="no input"):
    layout.splat((2,), 1).coordinates(row=0)
  with pytest.raises(errors.LayoutError, match="32 lanes"):
    layout.register_layout((64,), lane=[(64, (1,))])
  with pytest.raises(errors.LayoutError, match="dealt"):
    layout.strided((100,), 4)


OF = layout.blocked_for((64, 32), 4, 4)


def test_the_order_in_which_inputs_are_written_does_not_matter():
  digits = {"register": [(2, (0, 1)), (2, (8, 0))], "lane": [(4, (0, 2)), (8, (1, 0))], "warp": [(2, (16, 0))]}
  written = {str(layout.layout((32, 8), dict(own))) for own in itertools.permutations(digits.items())}
  made = [layout.layout((32, 8), dict(own)) for own in itertools.permutations(digits.items())]
  assert len(written) == len({*made}) == 1 and made[0].names == ("register", "lane", "warp")


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), max_size=4), st.integers(1, 24))
@examples(100)
def test_a_layout_holds_all_if_its_table_has_every_element(digits, size):
  of = layout.layout((size, 2), {"register": [(2, (0, 1))], "lane": [(n, (move, 0)) for n, move in digits]})
  assert of.holds_all == ({x for x, _ in of.table().reshape(-1, 2)} >= {*range(size)})


@pytest.mark.parametrize(
  "ask, message",
  [
    (lambda: layout.layout((4,), {"lane": [(4, (-1,))]}), "does not fit a tile"),
    (lambda: layout.splat((0, 4), 1), "no elements"),
    (lambda: layout.blocked_for((0, 4), 1), "no elements"),
    (lambda: layout.blocked_for((4, 4), 0), "num_warps: expected 1 or more"),
    (lambda: layout.strided((64,), 1, 0), "vector: expected 1 or more"),
    (lambda: layout.blocked((8, 8), (1,), (4, 8), (1, 1)), "per_thread: expected a number for each"),
    (lambda: layout.blocked((8, 8), (1, 1), (4, 8), (1, 1), (0, 0)), "order: expected each dimension"),
    (lambda: layout.repeated(OF, (64,), (1,)), "warps: expected a number for each"),
    (lambda: layout.transposed(OF, (0, 0)), "no permutation"),
    (lambda: layout.projected(OF, (2,)), "no dimensions"),
    (lambda: layout.expanded(OF, (64, 64), (0, 1)), "does not become"),
    (lambda: layout.sliced(OF, (64, 0), (32, 32)), "not a whole part"),
    (lambda: layout.vector_width(OF, 2), "no dimension 2"),
    (lambda: layout.vectors(OF, 1, 3), "a divisor of 4"),
    (lambda: layout.relayout(OF, layout.shared_tiled((64, 32), None, 16), 16), "a layout of registers"),
    (lambda: layout.shared_tiled((8, 64), None, 16, 48), "swizzle: expected"),
    (lambda: layout.shared_tiled((8, 64), (0, 64), 16), "do not divide"),
    (lambda: layout.bank_conflicts(np.arange(33), 4), "32 lanes"),
    (lambda: layout.bank_conflicts(layout.splat((2,), 1), 4), "a layout and one of shared memory"),
    (lambda: fragments.tensor_memory(128, 7, 16), "whole cells"),
    (lambda: fragments.tensor_memory(128, 1024), "which has 512"),
    (lambda: layout.blocked_for((8, -1), 1), "no elements"),
    (lambda: layout.blocked_for((8, 8), 1, order=(0, 0)), "order: expected each dimension"),
    (lambda: layout.repeated(OF, (64, 32), (0, 1)), "warps: expected a number for each"),
    (lambda: layout.relayout(OF, OF, 24), "bits: expected"),
    (lambda: layout.print_layout(3), "of: expected a layout"),
    (lambda: picture.svg(3), "of: expected a layout"),
    (lambda: layout.splat((4.0, 4), 1), "shape: expected a sequence of integers"),
    (lambda: layout.strided(64, 1), "shape: expected a sequence of integers"),
    (lambda: layout.splat((4,), 1.5), "num_warps: expected 1 or more"),
    (lambda: layout.blocked((8, 8), (1, 1), (-4, -8), (1, 1)), "lanes: expected a number for each"),
    (lambda: layout.bank_conflicts(OF, OF), "where: expected a layout of shared memory"),
    (lambda: layout.best_access(OF, OF), "a layout of registers and one of shared memory"),
    (lambda: layout.shared_tiled((8, 64), None, 0), "bits: expected"),
    (lambda: layout.shared_tiled((8, 64), None, 24), "bits: expected"),
    (lambda: layout.shared_tiled((8, 64), None, 4), "pack them first"),
    (lambda: layout.Swizzle(((7, -1),)), "counted from 0"),
    (lambda: fragments.tcgen05_repeats("64x64b"), "no shape"),
    (lambda: fragments.tcgen05_access("32x32b", 4, packed=3), "packed: "),
    (lambda: fragments.tcgen05_access("16x32bx2", 4, split=-1), "split=…, got -1"),
  ],
)
def test_what_has_no_layout_is_an_error_that_says_so(ask, message):
  with pytest.raises(errors.LayoutError, match=message):
    ask()


def test_dimensions_may_be_counted_from_the_end():
  assert layout.projected(OF, (-1,)) == layout.projected(OF, (1,))
  assert layout.vector_width(OF, -2) == layout.vector_width(OF, 0)


@pytest.mark.parametrize("of", [layout.blocked_for((64, 48), 4, 8), layout.shared_tiled((64, 64), (8, 64), 16, 128)])
def test_a_layout_that_is_written_down_is_the_same_value_in_another_process(of):
  """The hash is not written: those of strings differ from process to process."""
  text = pickle.dumps(of)
  assert b"_hash" not in text
  assert pickle.loads(text) == of and hash(pickle.loads(text)) == hash(of)

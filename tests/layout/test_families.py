"""Properties of the algebra and of relayouts for layouts of every family, against tables of all threads."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.layout.families import SHAPES, any_layout, made, pairs
from tests.layout.layouts import examples
from tests.layout.machine import addresses, spent
from tests.support.relayouts import check
from tilewright import layout
from tilewright.layout.access import accesses
from tilewright.layout.costs import reduction_cost, relayout_cost, work_cost
from tilewright.layout.plan import relayout


def test_there_are_layouts_of_every_family():
  names = {name.split()[0] for shape, warps in itertools.product(SHAPES, (1, 4)) for name, _ in made(shape, warps)}
  assert {"splat", "strided", "blocked", "mma", "wgmma", "tcgen05", "transposed", "reduced"} <= names


@given(pairs())
@examples(100)
def test_layouts_are_equal_if_their_tables_are(pair):
  a, b = pair
  assert (a == b) == (a.table().shape == b.table().shape and np.array_equal(a.table(), b.table()))


@given(pairs())
@examples(60)
def test_every_element_has_a_place_and_the_inverse_finds_it(pair):
  of, _ = pair
  inside = {tuple(x) for x in of.table().reshape(-1, of.rank) if (x < np.asarray(of.shape)).all()}
  assert inside == set(itertools.product(*map(range, of.shape))) and of.holds_all
  back = layout.inverse(of)
  for at in itertools.islice(itertools.product(*map(range, of.shape)), 0, None, 11):
    place = back.coordinates(**{str(axis): x for axis, x in enumerate(at)})
    assert of.coordinates(**dict(zip(of.names, place))) == at


@given(pairs())
@examples(80)
def test_the_vector_width_is_the_widest_that_every_thread_has(pair):
  """By brute force: registers that are neighbours in every thread, aligned, and none of them wider by a factor of two."""
  of, _ = pair
  table = of.table().reshape(of.num_registers, -1, of.rank)
  held = {own.tobytes() for own in table}
  for axis in range(of.rank):
    width = layout.vector_width(of, axis)

    def is_held(width: int, axis: int = axis) -> bool:
      """Whether every aligned run of this width, that some thread has one of, is one that it has all of, in the same registers."""
      for own in table:
        first = own.copy()
        offset = own[:, axis] % width
        if (offset != offset[0]).any():
          return False
        first[:, axis] -= offset
        for step in range(width):
          moved = first.copy()
          moved[:, axis] += step
          if moved.tobytes() not in held:
            return False
      return True

    assert is_held(width)
    assert of.shape[axis] % (2 * width) or not is_held(2 * width)


@given(pairs(), st.sampled_from([8, 16, 32, 64]), st.booleans(), st.booleans())
@examples(150)
def test_any_layout_becomes_any_other(pair, bits, matrices, piecewise):
  """Run on a model of all threads: by shuffles or through shared memory, with and without stmatrix."""
  check(relayout(*pair, bits, matrices, piecewise))


@given(pairs(), st.sampled_from([8, 16, 32]))
@examples(150)
def test_the_estimate_is_near_the_cost_of_the_plan(pair, bits):
  plan, estimate = relayout(*pair, bits), relayout_cost(*pair, bits)
  assert (plan.cost == 0) == (estimate == 0)
  assert plan.cost / 6 <= estimate <= plan.cost * 6


@given(st.sampled_from([s for s in SHAPES if len(s) == 2]), st.sampled_from([1, 4]), st.data())
@examples(60)
def test_accesses_of_swizzled_memory_are_what_a_count_of_words_gives(shape, num_warps, data):
  of = data.draw(any_layout(shape, num_warps))
  bits = data.draw(st.sampled_from([8, 16, 32]))
  shared = layout.shared_tiled(shape, None, bits, data.draw(st.sampled_from([0, 32, 64, 128])))
  at, inside = addresses(of, shared)
  found = list(accesses(of, shared))
  assert found
  for access in found:
    assert spent(access, at, inside, list(range(num_warps))) == access.wavefronts


@given(pairs())
@examples(60)
def test_costs_are_those_of_all_warps(pair):
  of, _ = pair
  assert work_cost(of) == of.num_registers * of.num_warps
  for axis in range(of.rank):
    assert reduction_cost(of, (axis,)) >= work_cost(of)

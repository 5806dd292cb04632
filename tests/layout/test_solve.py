"""Inference: the solution holds, nothing cheaper does, and what cannot be is explained."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.layout.layouts import examples
from tests.support.constraint_systems import cost, holds
from tilewright import errors, layout
from tilewright.layout.conflict import smallest
from tilewright.layout.constraints import (
  BitwidthLimit,
  Broadcast,
  Equal,
  FitsMma,
  FitsWgmmaAccumulator,
  FitsWgmmaLhs,
  FitsWgmmaRhs,
  Hint,
  Located,
  MemoryAccess,
  OneOf,
  Reduced,
  RelayoutAllowed,
  Reshaped,
  SharedAccess,
  Soft,
  Stacked,
  TmaTransferable,
  Transposed,
  Variable,
)
from tilewright.layout.fragments import wgmma_accumulator, wgmma_lhs
from tilewright.layout.shared import shared_for_matrix, shared_tiled
from tilewright.layout.solve import Solution, solve

SQUARE = (32, 32)
CHOICES = [
  layout.blocked_for(SQUARE, 1, 4),
  layout.blocked_for(SQUARE, 1, 1),
  layout.transposed(layout.blocked_for(SQUARE, 1, 4), (1, 0)),
  layout.transposed(layout.blocked_for(SQUARE, 1, 1), (1, 0)),
]


def located(*constraints):
  return [Located(c, f"kernel.py:{i + 1}", "op") for i, c in enumerate(constraints)]


def variables(count, shape=SQUARE, bits=16):
  return [Variable(i, shape, bits, f"%{i}") for i in range(count)]


@st.composite
def systems(draw):
  """Squares linked in every way, each with some listed layouts."""
  own = variables(draw(st.integers(2, 5)))
  found = []
  for v in own:
    listed = draw(st.lists(st.sampled_from(CHOICES), min_size=1, max_size=3, unique=True))
    prices = tuple(draw(st.integers(0, 3000)) for _ in listed)
    found.append(OneOf((v,), tuple((c,) for c in listed), f"{v} is listed", prices))
  pairs = list(itertools.combinations(own, 2))
  for a, b in draw(st.lists(st.sampled_from(pairs), max_size=6)):
    kind = draw(st.sampled_from(["equal", "transposed", "relayout", "relayout", "together"]))
    if kind == "equal":
      found.append(Equal(a, b))
    elif kind == "transposed":
      found.append(Transposed(a, b, (1, 0)))
    elif kind == "relayout":
      found.append(RelayoutAllowed(a, b, draw(st.integers(1, 3))))
    else:
      both = draw(st.lists(st.tuples(st.sampled_from(CHOICES), st.sampled_from(CHOICES)), min_size=1, max_size=6))
      found.append(OneOf((a, b), tuple(both), f"{a} and {b} together"))
  if draw(st.booleans()):
    found.append(MemoryAccess(own[0], (32, 1)))
  return own, located(*found)


def by_hand(own, system):
  """The cheapest of all assignments."""
  best = None
  for places in itertools.product(CHOICES, repeat=len(own)):
    known = dict(zip(own, places))
    if holds(system, known) and (best is None or cost(system, known) < best):
      best = cost(system, known)
  return best


@given(systems())
@examples(150)
def test_the_solution_is_the_cheapest_assignment(case):
  own, system = case
  best = by_hand(own, system)
  if best is None:
    with pytest.raises(errors.LayoutConflictError):
      solve(system)
    return
  found = solve(system)
  assert holds(system, found.places)
  assert found.cost == cost(system, found.places) == best


def fulfilled(own, hard):
  """Which constraints each assignment fulfils, by number."""
  every = itertools.product(range(len(CHOICES)), repeat=len(own))
  holding = []  # for each constraint: the positions of its variables, and what they may have together
  for c in hard:
    at = [own.index(v) for v in c.constraint.variables]
    some = itertools.product(range(len(CHOICES)), repeat=len(at))
    fit = {x for x in some if c.constraint.holds({own[i]: CHOICES[j] for i, j in zip(at, x)})}
    holding.append((at, fit))
  return {
    frozenset(n for n, (at, fit) in enumerate(holding) if tuple(chosen[i] for i in at) in fit) for chosen in every
  }


@given(systems())
@examples(100)
def test_a_conflict_is_a_smallest_one(case):
  own, system = case
  hard = [c for c in system if not isinstance(c.constraint, Soft)]
  ways = fulfilled(own, hard)

  def is_possible(numbers):
    return any(way >= set(numbers) for way in ways)

  assume(not is_possible(range(len(hard))))
  with pytest.raises(errors.LayoutConflictError) as raised:
    solve(system)
  core = [next(i for i, c in enumerate(hard) if c is own_constraint) for own_constraint in raised.value.conflict]
  assert not is_possible(core)
  assert all(is_possible(fewer) for fewer in itertools.combinations(range(len(hard)), len(core) - 1))
  assert all(hard[i].loc in str(raised.value) for i in core)


def test_a_search_for_a_smaller_conflict_that_takes_too_long_gives_the_first():
  x, y = variables(2)
  lists = [OneOf((v,), ((c,),), "") for v, c in zip((x, y, x), CHOICES)]
  system = located(Equal(x, y), *lists)
  conflicts = [{1, 3}, {0, 1, 2}, {0, 2, 3}]

  def is_possible(part):
    return not any(own <= {system.index(c) for c in part} for own in conflicts)

  assert smallest(system, is_possible) == [system[1], system[3]]
  assert smallest(system, is_possible, budget=1) == system[:3]


def test_fewer_candidates_than_the_first_attempt_had_are_no_proof(monkeypatch):
  """What is found with all candidates stays, whatever a narrower attempt says."""
  found = Solution({}, 5, 1, is_cheapest=False)
  attempts = iter([found, None, None])
  monkeypatch.setattr("tilewright.layout.solve.attempt", lambda *_: next(attempts))
  assert solve([]) is found


def test_holds_says_yes_no_or_not_yet():
  a, b = variables(2)
  first, second = CHOICES[0], CHOICES[2]
  assert Equal(a, b).holds({a: first}) is None
  assert Equal(a, b).holds({a: first, b: first}) is True
  assert Equal(a, b).holds({a: first, b: second}) is False
  assert Transposed(a, b, (1, 0)).holds({a: first, b: second}) is True
  assert Transposed(a, b, (1, 0)).holds({b: second}) is None
  assert Hint(a, first).holds({}) is None
  assert Hint(a, first).holds({a: second}) is False
  together = OneOf((a, b), ((first, second),), "")
  assert together.holds({b: first}) is False  # whatever a is
  assert together.holds({b: second}) is None


def test_reductions_broadcasts_and_reshapes_hold_where_nothing_moves():
  x, m, flat = Variable("x", (32, 32)), Variable("m", (32,)), Variable("flat", (1024,))
  own = CHOICES[0]
  row = layout.projected(own, (1,))
  for constraint in (Reduced(x, m, (1,)), Broadcast(m, x, (0,))):
    assert constraint.holds({x: own, m: row}) is True
    assert constraint.holds({x: own, m: layout.projected(own, (0,))}) is False
  assert Reshaped(x, flat).holds({x: own, flat: layout.reshaped(own, (1024,))}) is True
  assert Reshaped(x, flat).holds({x: CHOICES[2], flat: layout.reshaped(own, (1024,))}) is False


def test_widths_are_limited():
  v = Variable("v", SQUARE, 16)
  assert BitwidthLimit(v, 1, most=64).holds({v: CHOICES[0]}) is True
  assert BitwidthLimit(v, 1, most=32).holds({v: CHOICES[0]}) is False
  assert BitwidthLimit(v, 0, most=128, least=32).holds({v: CHOICES[0]}) is False
  listed = OneOf((v,), tuple((c,) for c in CHOICES), "v is listed")
  found = solve(located(listed, BitwidthLimit(v, 1, most=16), BitwidthLimit(v, 0, most=512, least=512)))
  assert layout.vector_width(found.places[v], 1) == 1 and layout.vector_width(found.places[v], 0) == 32
  with pytest.raises(errors.LayoutConflictError) as raised:
    solve(located(listed, BitwidthLimit(v, 1, most=8)))
  assert len(raised.value.conflict) == 2


def test_a_limit_on_what_nothing_lists_is_no_conflict():
  """The layouts of x that are proposed exceed the limit; but x may have others, as long as nothing says which."""
  x, y = variables(2)
  listed, limit = OneOf((x,), ((CHOICES[0],),), "x is listed"), BitwidthLimit(x, 1, most=8)
  for system in itertools.permutations([listed, limit, OneOf((y,), ((CHOICES[0],),), "y is listed")]):
    with pytest.raises(errors.LayoutConflictError) as raised:
      solve(located(*system))
    assert {c.constraint for c in raised.value.conflict} == {listed, limit}


def test_instructions_list_their_fragments():
  acc, lhs, rhs = Variable("acc", (64, 64), 32), Variable("lhs", (64, 16), 16), Variable("rhs", (16, 64), 16)
  assert FitsWgmmaAccumulator(acc, 4).holds({acc: wgmma_accumulator(64)}) is True
  assert FitsWgmmaLhs(lhs, 4).holds({lhs: wgmma_lhs(16)}) is True
  assert FitsWgmmaLhs(lhs, 4).holds({lhs: shared_for_matrix((64, 16), 16, 32)}) is True
  assert FitsWgmmaRhs(rhs).holds({rhs: shared_for_matrix((16, 64), 16, 128)}) is True
  assert FitsWgmmaRhs(rhs).holds({rhs: shared_tiled((16, 64), None, 16)}) is False
  assert FitsWgmmaAccumulator(acc, 3).options == () == FitsWgmmaRhs(Variable("f64", (16, 64), 64)).options
  for m, k, n in itertools.product((16, 64), (16, 48), (8, 64)):
    mma = FitsMma(Variable("a", (m, k), 16), Variable("b", (k, n), 16), Variable("c", (m, n), 32), 4)
    for a, b, c in mma.options:
      assert a.extents == (m, k) and b.extents == (k, n) and c.extents == (m, n)
      assert a.num_warps == b.num_warps == c.num_warps == 4
  assert FitsMma(Variable("a", (24, 16), 16), rhs, acc, 4).options == ()


@pytest.mark.parametrize("num_warps", [4, 8])
def test_the_operands_of_mma_are_where_the_accumulator_needs_them(num_warps):
  """Each warp holds the rows of A and the columns of B that its part of C is made of."""
  m, k, n = 64, 32, 64
  mma = FitsMma(Variable("a", (m, k), 16), Variable("b", (k, n), 16), Variable("c", (m, n), 32), num_warps)
  assert len(mma.options) >= 3
  for a, b, c in mma.options:
    for warp in range(num_warps):
      rows, columns = ({int(x) for x in c.table()[:, :, warp, axis].ravel()} for axis in range(2))
      assert {int(x) for x in a.table()[:, :, warp, 0].ravel()} == rows
      assert {int(x) for x in b.table()[:, :, warp, 1].ravel()} == columns


def test_registers_and_shared_memory_are_found_together():
  """An operand that wgmma reads from shared memory, that TMA fills, and that one warp also loads to registers."""
  ref, operand, x = Variable("ref", (64, 64), 16), Variable("operand", (64, 64), 16), Variable("x", (64, 64), 16)
  system = located(
    TmaTransferable(ref),
    FitsWgmmaRhs(operand),
    SharedAccess(operand, ref, 8),
    SharedAccess(x, ref),
    OneOf((x,), ((layout.blocked_for((64, 64), 4, 8, (0, 1)),), (layout.blocked_for((64, 64), 4, 8),)), "x is listed"),
  )
  found = solve(system)
  assert found.places[ref] == found.places[operand] == shared_for_matrix((64, 64), 16, 128)
  assert found.places[x] == layout.blocked_for((64, 64), 4, 8)


def test_the_stages_of_a_pipeline_are_laid_out_alike():
  stack, tile = Variable("stack", (3, 64, 64), 16), Variable("tile", (64, 64), 16)
  found = solve(located(Stacked(stack, tile), FitsWgmmaRhs(tile)))
  one, all_of_them = found.places[tile], found.places[stack]
  for at in itertools.product(range(3), range(0, 64, 9), range(0, 64, 7)):
    assert all_of_them.address(at) == at[0] * one.nbytes + one.address(at[1:])


def test_a_wish_of_the_user_spreads_to_what_must_agree_with_it():
  x, m = Variable("x", (32, 32), 16), Variable("m", (32,), 16)
  wish = layout.blocked_for((32,), 1, 2)
  found = solve(located(Reduced(x, m, (1,)), Hint(m, wish)))
  assert found.places[m] == wish
  assert layout.projected(found.places[x], (1,)) == wish


def test_a_conflict_names_lines_and_proposes_a_cast():
  x, y, acc = (Variable(name, (64, 64), 32, name) for name in ("x", "y", "acc"))
  wish = layout.blocked_for((64, 64), 4, 4)
  other = Variable("other", (64, 64), 32, "other")
  system = located(
    MemoryAccess(other, (64, 1)),
    Hint(x, wish),
    Equal(other, x),
    Equal(x, y),
    Equal(y, acc),
    FitsWgmmaAccumulator(acc, 4),
  )
  with pytest.raises(errors.LayoutConflictError) as raised:
    solve(system, lambda v: [wish])
  text = str(raised.value)
  assert {own.loc for own in raised.value.conflict} == {f"kernel.py:{i}" for i in (2, 4, 5, 6)}
  assert "acc must be an accumulator of wgmma" in text and "x is given the layout" in text
  assert "layout_cast(x to" in text and "kernel.py:4" in raised.value.proposal


def test_memory_is_not_proposed_to_be_cast():
  """A ref with transforms, and a transposed view of it that is read row by row."""
  ref, view = Variable("ref", (64, 32), 16, "ref"), Variable("view", (32, 64), 16, "view")
  rows = OneOf((view,), ((shared_tiled((32, 64), None, 16),),), "view must lie row by row")
  with pytest.raises(errors.LayoutConflictError) as raised:
    solve(located(Hint(ref, shared_for_matrix((64, 32), 16, 64)), Transposed(ref, view, (1, 0)), rows))
  assert len(raised.value.conflict) == 3 and "cast" not in raised.value.proposal
  assert "leave ref without transforms" in raised.value.proposal


def test_running_out_of_budget_is_another_error():
  own = variables(6)
  together = [OneOf((a, b), tuple(itertools.product(CHOICES, CHOICES)), "") for a, b in itertools.combinations(own, 2)]
  with pytest.raises(errors.LayoutBudgetError, match="there may be a solution"):
    solve(located(*together), budget=500)
  assert solve(located(*together)).spent > 500


def test_long_chains_take_a_number_of_steps_that_grows_with_their_length():
  """No global rescans: twice the length is twice the work."""

  def steps(count):
    own = variables(count)
    links = [RelayoutAllowed(a, b) for a, b in itertools.pairwise(own)]
    ends = [OneOf((own[0],), ((CHOICES[0],),), ""), OneOf((own[-1],), ((CHOICES[2],),), "")]
    return solve(located(*ends, *links)).spent

  assert steps(400) <= 2.1 * steps(200)

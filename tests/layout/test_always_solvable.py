"""Without hints there always are layouts, and the search has some whenever it ends."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.layout.kernels import kernels
from tests.layout.layouts import examples
from tests.support.constraint_systems import cost, holds
from tilewright import errors
from tilewright.layout.constraints import Hint, RelayoutAllowed, Soft
from tilewright.layout.solve import solve
from tilewright.target.nvgpu.arch import ARCHS, named
from tilewright.target.nvgpu.passes.layouts.choice import search_budget
from tilewright.target.nvgpu.passes.layouts.constraints import constrain_function
from tilewright.target.nvgpu.passes.layouts.system import System
from tilewright.tile.ir import walk


def system_of(function, arch, num_warps, **more):
  made = System(function, named(arch), num_warps, **more)
  constrain_function(made)
  return made


@given(kernels(("any", "smem")), st.sampled_from(list(ARCHS)), st.sampled_from([1, 2, 4, 8]), st.booleans())
@examples(150)
def test_kernels_without_hints_have_layouts_within_the_compilers_budget(function, arch, num_warps, is_plain):
  system = system_of(function, arch, num_warps, is_plain=is_plain)
  found = solve(system.constraints, system.seeds, search_budget(len(list(walk(function.body)))))
  assert holds(system.constraints, found.places)
  assert found.cost == cost(system.constraints, found.places)


@given(kernels(("any", "smem"), most=60), st.data())
@examples(40)
def test_a_search_that_is_cut_short_gives_what_it_has(function, data):
  """Whatever the budget: a solution that holds and is no cheaper than the cheapest, or the error that says that there was no time."""
  system = system_of(function, "sm_90a", 4)
  exact = solve(system.constraints, system.seeds)
  budget = data.draw(st.integers(exact.spent // 20, exact.spent))
  try:
    found = solve(system.constraints, system.seeds, budget)
  except errors.LayoutBudgetError as e:
    assert "ran out of its budget" in str(e)
    return
  assert holds(system.constraints, found.places)
  assert found.cost == cost(system.constraints, found.places)
  assert not exact.is_cheapest or found.cost >= exact.cost


@given(kernels(("any", "smem")), st.data())
@examples(60)
def test_one_wish_for_a_tile_is_always_granted(function, data):
  """A value goes to its uses by relayouts, so that any layout will do for a tile that is loaded."""
  system = system_of(function, "sm_90a", 4)
  moved = [c.constraint.source for c in system.constraints if isinstance(c.constraint, RelayoutAllowed)]
  listed = {v for c in system.constraints if not isinstance(c.constraint, Soft) for v in c.constraint.variables}
  free = [v for v in dict.fromkeys(moved) if v not in listed]
  assume(free)
  own = data.draw(st.sampled_from(free))
  wish = data.draw(st.sampled_from(system.seeds(own)))
  system.op = None
  system.require(Hint(own, wish))
  assert solve(system.constraints, system.seeds).places[own] == wish

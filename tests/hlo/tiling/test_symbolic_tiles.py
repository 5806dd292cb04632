"""Indexing maps, symbolic tiles and tiled regions say which elements an output tile needs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.hlo.tiling import needs, random_tilings
from tilewright import hlo
from tilewright.hlo import tiling
from tilewright.hlo.tiling import expr
from tilewright.hlo.tiling.expr import Var
from tilewright.hlo.tiling.symbolic_tile import SizeCondition

D = {Var("d", 0): (0, 3), Var("d", 1): (0, 7), Var("d", 2): (0, 2)}


def entry(body: str, result: str = "x") -> hlo.Computation:
  text = f"HloModule m\n%sum {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }}\nENTRY %main {{\n{body}\n}}"
  return hlo.parse(text).entry


def map_of(body: str, operand: int = 0) -> str:
  found = tiling.operand_maps(entry(body).root)
  assert not isinstance(found, tiling.CannotTile), found
  (only,) = found[operand]
  return str(only)


def test_expressions_simplify_with_the_domain() -> None:
  d0, d1, d2 = (expr.var("d", i) for i in range(3))
  line = expr.add(expr.scale(d0, 24), expr.scale(d1, 3), d2)
  assert str(expr.floordiv(line, 24, D)) == "d0"
  assert str(expr.mod(expr.floordiv(line, 3, D), 8, D)) == "d1"
  assert str(expr.mod(line, 3, D)) == "d2"
  assert str(expr.floordiv(line, 6, D)) == "d0 * 4 + (d1 floordiv 2)"
  whole = expr.add(expr.scale(expr.floordiv(d1, 3, D), 3), expr.mod(d1, 3, D))
  assert whole == d1


def test_simplified_expressions_keep_their_values() -> None:
  rng = random.Random(0)
  points = np.indices((4, 8, 3)).reshape(3, -1)
  values = {Var("d", i): points[i] for i in range(3)}
  for _ in range(300):
    e, reference = expr.ZERO, np.zeros(points.shape[1], int)
    for _ in range(rng.randint(1, 4)):
      i, factor = rng.randrange(3), rng.choice((-4, -1, 1, 2, 3, 6, 8, 12))
      e, reference = expr.add(e, expr.scale(expr.var("d", i), factor)), reference + factor * points[i]
      e, reference = expr.shift(e, 5), reference + 5
      by = rng.choice((1, 2, 3, 4, 6, 8))
      if rng.random() < 0.5:
        e, reference = expr.floordiv(e, by, D), reference // by
      elif rng.random() < 0.5:
        e, reference = expr.add(expr.mod(e, by, D), expr.var("d", 1)), reference % by + points[1]
    np.testing.assert_array_equal(np.broadcast_to(e.evaluate(values), reference.shape), reference, err_msg=str(e))
    low, high = expr.interval(e, D)
    assert low <= reference.min() and reference.max() <= high


@pytest.mark.parametrize(
  ("body", "operand", "expected"),
  [
    ("p = f32[4,8] parameter(0)\nROOT r = f32[32] reshape(p)", 0, "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]"),
    ("p = f32[32] parameter(0)\nROOT r = f32[4,8] reshape(p)", 0, "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]"),
    ("p = f32[9] parameter(0)\nROOT r = f32[4] slice(p), slice={[1:9:2]}", 0, "(d0) -> (d0 * 2 + 1), domain: d0 in [0, 3]"),
    ("p = f32[9] parameter(0)\nROOT r = f32[9] reverse(p), dimensions={0}", 0, "(d0) -> (-d0 + 8), domain: d0 in [0, 8]"),
    (
      "p = f32[4] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[9] pad(p, z), padding=1_1_1",
      0,
      "(d0) -> (((d0 + 1) floordiv 2) - 1), domain: d0 in [0, 8], where (d0 + 1) mod 2 in [0, 0], (d0 + 1) floordiv 2 in [1, 4]",
    ),
    (
      "p = f32[5,3,7] parameter(0)\nq = f32[5,7,2] parameter(1)\nROOT r = f32[5,3,2] dot(p, q), lhs_batch_dims={0}, "
      "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
      1,
      "(d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 1], s0 in [0, 6]",
    ),
    (
      "p = f32[9] parameter(0)\ni = s32[] parameter(1)\nROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}",
      0,
      "(d0){r0 = %i[] in [0, 5]} -> (d0 + r0), domain: d0 in [0, 3]",
    ),
    (
      "p = f32[4,6]{0,1} parameter(0)\nROOT r = f32[6,4]{1,0} bitcast(p)",
      0,
      "(d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3]",
    ),
  ],
)  # fmt: skip
def test_maps_print(body: str, operand: int, expected: str) -> None:
  assert map_of(body, operand) == expected


def test_a_map_evaluates_at_points() -> None:
  (m,), _ = tiling.operand_maps(
    entry("p = f32[9] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[11] pad(p, z), padding=2_0").root
  )
  assert m.evaluate([5]) == ((3,), True)
  assert m.evaluate([1])[1] is False


def tile_of(body: str) -> tiling.SymbolicTile:
  (m,), *_ = tiling.operand_maps(entry(body).root)
  found = tiling.symbolic_tile(m)
  assert not isinstance(found, tiling.CannotTile), found
  return found


def test_a_reshape_constrains_tile_sizes() -> None:
  tile = tile_of("p = f32[4,8] parameter(0)\nROOT r = f32[32] reshape(p)")
  assert [str(c) for c in tile.constraints] == [
    "t0 divides 8 or t0 is a multiple of 8 (for d0 floordiv 8)",
    "t0 divides 8 or t0 is a multiple of 8 (for d0 mod 8)",
  ]
  for t, sizes in ((4, (1, 4)), (8, (1, 8)), (16, (2, 8))):
    at = tile.at({Var("t", 0): t})
    assert not isinstance(at, tiling.CannotTile) and at.sizes == sizes
  refused = tile.at({Var("t", 0): 12})
  assert isinstance(refused, tiling.CannotTile) and "t0 = 12, but t0 divides 8" in str(refused)


def test_a_tile_without_whole_rows_is_refused_where_rows_are_cut_again() -> None:
  """A tile of one element has no whole row of 2, so it divides nothing."""
  condition = SizeCondition("divides", expr.var("t", 0), 3)
  assert [condition.holds(rows) for rows in (0, 1, 2, 3)] == [False, True, False, True]
  assert random_tilings.check(4410013234278) == "single elements"


def test_a_reverse_has_a_negative_stride_and_keeps_the_order() -> None:
  tile = tile_of("p = f32[9] parameter(0)\nROOT r = f32[9] reverse(p), dimensions={0}")
  assert (str(tile.offsets[0]), str(tile.sizes[0]), tile.strides) == ("-o0 + 8", "t0", (-1,))


def test_a_place_known_at_run_time_is_not_aligned() -> None:
  """A whole index of 6 elements, moved by r0, does not begin where a row of 2 begins."""
  computation = entry(
    "p = f32[6,2] parameter(0)\ni = s32[] parameter(1)\nq = f32[12] reshape(p)\n"
    "d = f32[6] dynamic-slice(q, i), dynamic_slice_sizes={6}\nROOT o = f32[2,3] reshape(d)"
  )
  analysis = tiling.tile_analysis(computation)
  assert isinstance(analysis, tiling.TileAnalysis)
  assert isinstance(analysis.tiled((2, 3)), tiling.CannotTile)
  assert isinstance(analysis.tiled((1, 1)), tiling.TiledRegion)


def test_windows_overlap() -> None:
  tile = tile_of(
    "p = f32[16] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[7] reduce-window(p, z), window={size=4 stride=2}, to_apply=%sum"
  )
  assert (str(tile.offsets[0]), str(tile.sizes[0]), tile.strides) == ("o0 * 2", "t0 * 2 + 2", (1,))


def test_what_cannot_be_tiled_says_why() -> None:
  found = tiling.tile_analysis(entry("p = f32[8] parameter(0)\nROOT o = f32[8] sort(p), dimensions={0}, to_apply=%sum"))
  assert isinstance(found, tiling.CannotTile)
  assert str(found) == "%o (sort): cannot tile because sort orders whole rows: each output may be any input"


SOFTMAX = """p = f32[6,10] parameter(0)
z = f32[] constant(0)
e = f32[6,10] exponential(p)
s = f32[6] reduce(e, z), dimensions={1}, to_apply=%sum
b = f32[6,10] broadcast(s), dimensions={0}
ROOT x = f32[6,10] divide(e, b)"""


def test_equal_tiles_of_one_instruction_are_shared() -> None:
  analysis = tiling.tile_analysis(entry(SOFTMAX))
  assert isinstance(analysis, tiling.TileAnalysis)
  for sizes, count in (((2, 10), 1), ((2, 5), 2)):
    region = analysis.tiled(sizes)
    assert isinstance(region, tiling.TiledRegion)
    tiles = [t for t in region.instructions if t.instruction.name == "e"]
    assert len(tiles) == count
    assert region.grid == (3, 10 // sizes[1])
    assert {t.sizes for t in tiles} == {(2, 10)} | {sizes}


def test_a_loop_cuts_a_reduced_index() -> None:
  analysis = tiling.tile_analysis(entry(SOFTMAX))
  assert isinstance(analysis, tiling.TileAnalysis)
  ((loop, size),) = analysis.loops
  assert size == 10
  region = analysis.tiled((2, 10), {loop: 4})
  assert isinstance(region, tiling.TiledRegion)
  (sum_,) = [t for t in region.instructions if t.instruction.name == "s"]
  operand = region.instructions[sum_.operands[0]]
  assert sum_.loops == (2,) and operand.sizes == (2, 4) and [str(o) for o in operand.offsets] == ["o0", "o2"]


def test_region_of_opens_fusions() -> None:
  module = hlo.parse("""HloModule m
%sum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
%f { x = f32[6,10] parameter(0)
 e = f32[6,10] exponential(x)
 z = f32[] constant(0)
 ROOT s = f32[6] reduce(e, z), dimensions={1}, to_apply=%sum }
%g { y = f32[6,10] parameter(0)
 t = f32[6] parameter(1)
 e = f32[6,10] exponential(y)
 b = f32[6,10] broadcast(t), dimensions={0}
 d = f32[6,10] divide(e, b)
 ROOT both = (f32[6,10], f32[6,10]) tuple(d, e) }
ENTRY %main { p = f32[6,10] parameter(0)
 u = f32[6] fusion(p), kind=kLoop, calls=%f
 v = (f32[6,10], f32[6,10]) fusion(p, u), kind=kLoop, calls=%g
 w = f32[6,10] get-tuple-element(v), index=0
 ROOT n = f32[6,10] negate(w) }""")
  main = module.entry
  region = tiling.region_of([main.find("u"), main.find("v")])
  assert isinstance(region, tiling.Region)
  assert [i.name for i in region.inputs] == ["p"]
  assert [(o.instruction.name, o.index) for o in region.outputs] == [("w", ())]
  assert sorted(i.opcode for i in region.body.instructions) == [
    "broadcast", "constant", "divide", "exponential", "parameter", "reduce",
  ]  # fmt: skip
  analysis = tiling.tile_analysis(region)
  assert isinstance(analysis, tiling.TileAnalysis) and analysis.dims == (6, 10)


def test_several_roots_share_a_grid() -> None:
  body = SOFTMAX.replace("ROOT x", "x") + "\nROOT t = (f32[6,10], f32[6]) tuple(x, s)"
  analysis = tiling.tile_analysis(entry(body))
  assert isinstance(analysis, tiling.TileAnalysis)
  region = analysis.tiled((3, 10))
  assert isinstance(region, tiling.TiledRegion)
  assert [region.instructions[k].sizes for k in region.roots] == [(3, 10), (3,)]


def test_a_second_root_is_not_written_beyond_the_edge() -> None:
  """(d0, d1) of f32[4,3] is element 3·d0 + d1 of the other root: where a tile hangs over d1, that is another row's element."""
  body = (
    "p = f32[12] parameter(0)\nn = f32[12] negate(p)\nr = f32[4,3] reshape(n)\nROOT t = (f32[4,3], f32[12]) tuple(r, n)"
  )
  analysis = tiling.tile_analysis(entry(body))
  assert isinstance(analysis, tiling.TileAnalysis)
  refused = analysis.tiled((1, 2))
  assert isinstance(refused, tiling.CannotTile) and "written beyond it" in str(refused)
  assert isinstance(analysis.tiled((2, 3)), tiling.TiledRegion)


@pytest.mark.parametrize("seed", range(4))
def test_random_tilings_hold_what_is_needed(seed: int) -> None:
  outcomes = [random_tilings.check(1_000_003 * (100 + seed) + i) for i in range(40)]
  assert outcomes.count("tiled") > 25


def test_random_graphs_computed_tile_by_tile_have_the_evaluator_s_values() -> None:
  outcomes = [random_tilings.check_values(1_000_003 * 200 + i) for i in range(60)]
  assert outcomes.count("same") > 35


def test_a_variadic_reduce_is_one_tile() -> None:
  analysis = tiling.tile_analysis(
    entry(
      "p = f32[6,10] parameter(0)\nz = f32[] constant(0)\nn = f32[6,10] negate(p)\n"
      "s = (f32[6], f32[6]) reduce(p, n, z, z), dimensions={1}, to_apply=%sum\n"
      "u = f32[6] get-tuple-element(s), index=0\nv = f32[6] get-tuple-element(s), index=1\nROOT w = f32[6] add(u, v)"
    )
  )
  assert isinstance(analysis, tiling.TileAnalysis)
  region = analysis.tiled((2,))
  assert isinstance(region, tiling.TiledRegion)
  assert [t.instruction.name for t in region.instructions].count("s") == 1


def test_the_check_notices_a_tile_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
  real = random_tilings.held

  def smaller(tiled: tiling.TiledInstruction, *rest: object) -> np.ndarray:
    mask = real(tiled, *rest)
    if tiled.instruction.opcode == "parameter" and mask.ndim:
      mask[-1] = False
    return mask

  monkeypatch.setattr(random_tilings, "held", smaller)
  with pytest.raises(AssertionError, match=r"missing|not covered"):
    for i in range(20):
      random_tilings.check(i)


def test_needs_follow_a_dot() -> None:
  computation = entry(
    "p = f32[2,3] parameter(0)\nq = f32[3,2] parameter(1)\nROOT r = f32[2,2] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
  )
  found = needs.all_needs(computation, {})[computation.root]
  p, q = computation.parameters
  assert np.flatnonzero(found[p][1, 0]).tolist() == [3, 4, 5]
  assert np.flatnonzero(found[q][1, 0]).tolist() == [0, 2, 4]

"""Tile size search: the sizes that a region can have, within a budget, by predicted time.

Candidates along each index of the main root are 1, powers of two, divisors that constraints name, and the whole; a
few of their products are tried, small working sets first. A size that a user or a tuner recorded (`tuned`) is taken
as it is.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.hlo.cost.model import CostModel
from tilewright.hlo.ir import Computation
from tilewright.hlo.literal import Literal
from tilewright.hlo.tiling.analysis import TileAnalysis
from tilewright.hlo.tiling.expr import Var
from tilewright.hlo.tiling.op_maps import CannotTile
from tilewright.hlo.tiling.predict import Budget, Prediction, predict
from tilewright.hlo.tiling.region import Region, TiledRegion
from tilewright.hlo.tiling.tiler import Loop

_STEP = 256  # of a long contracted index, where it is not taken whole
Tuned = Mapping[str, Sequence[int]]


@dataclass(frozen=True, eq=False)
class Choice:
  tiled: TiledRegion
  prediction: Prediction
  tried: int
  why: str


def region_key(region: Region) -> str:
  """Equal for regions with the same ops on the same shapes: what a tuned entry is kept under."""
  number = {i: n for n, i in enumerate(region.body.topological_order())}
  lines = []
  for i in number:
    attributes = {k: v for k, v in i.attrs.items() if not isinstance(v, Computation | Literal)}
    lines.append(f"{i.opcode} {i.shape} {[number[o] for o in i.operands]} {sorted(attributes.items(), key=str)}")
  lines.append(str([number[root] for root in region.roots]))
  return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:20]


def best_tile(
  analysis: TileAnalysis, model: CostModel, budget: Budget, *, max_candidates: int = 48, tuned: Tuned | None = None
) -> Choice | CannotTile:
  """The choice with the least predicted time whose working set and recomputation fit; or why none does."""
  recorded = (tuned or {}).get(region_key(analysis.region)) if tuned else None
  if recorded is not None:
    tiled = analysis.tiled(tuple(recorded))
    if isinstance(tiled, TiledRegion):
      return Choice(tiled, predict(tiled, model, budget), 1, "a tuned entry")
  best: tuple[tuple[float, int], TiledRegion, Prediction] | None = None
  refused: CannotTile | None = None
  tried = 0
  for sizes, loops in _candidates(analysis, budget, max_candidates):
    tiled = analysis.tiled(sizes, loops)
    tried += 1
    if isinstance(tiled, CannotTile):
      refused = tiled if refused is None else refused
      continue
    found = predict(tiled, model, budget)
    if found.working_set > budget.tile_bytes:
      refused = CannotTile(
        f"a tile of {_text(sizes)} needs {found.working_set >> 10} KiB, and {budget.tile_bytes >> 10} KiB are allowed"
      )
      continue
    if found.recomputation > budget.recomputation:
      refused = CannotTile(
        f"a tile of {_text(sizes)} computes {found.recomputation:.1f} times as much, and {budget.recomputation:g} is allowed"
      )
      continue
    key = (found.seconds, found.working_set)
    if best is None or key < best[0]:
      best = (key, tiled, found)
  if best is None:
    return CannotTile("there is no tile size to try") if refused is None else refused
  return Choice(best[1], best[2], tried, f"the best of {tried} tile sizes")


def _text(sizes: Sequence[int]) -> str:
  return "x".join(map(str, sizes)) or "one element"


def _named_sizes(analysis: TileAnalysis) -> dict[int, set[int]]:
  """Sizes that constraints require, by index of the main root."""
  found: dict[int, set[int]] = {}
  for _, constraint in analysis.constraints:
    for alternative in constraint.alternatives:
      for condition in alternative:
        for v in condition.size.variables():
          if isinstance(v, Var) and v.kind == "t":
            found.setdefault(v.index, set()).add(condition.value)
  return found


def _candidates(
  analysis: TileAnalysis, budget: Budget, max_candidates: int
) -> list[tuple[tuple[int, ...], dict[Loop, int]]]:
  dims, named = analysis.dims, _named_sizes(analysis)
  per_dim: list[list[int]] = []
  for i, n in enumerate(dims):
    last = i == len(dims) - 1
    powers = [1 << k for k in range(12) if 1 << k < n]
    if last:
      powers = [p for p in powers if p >= 16] or powers[-1:]
    elif i < len(dims) - 2:
      powers = powers[:1]
    sizes = {*powers, n} if last or n <= 4096 else set(powers) | {n}
    sizes |= {v for v in named.get(i, ()) if 0 < v <= n}
    per_dim.append(sorted(sizes))
  everything = (
    list(itertools.product(*per_dim)) if math.prod(map(len, per_dim)) <= 4096 else list(_leading_ones(per_dim))
  )

  # Rows that are reduced and used again are best taken whole.
  rows = any(loop[0].opcode == "reduce" and dims and n == dims[-1] for loop, n in analysis.loops)

  # Enough grid points to keep the device busy, and tiles neither tiny nor huge, come first.
  def rank(sizes: tuple[int, ...]) -> tuple[float, ...]:
    grid = math.prod(-(-n // t) for n, t in zip(dims, sizes))
    size = math.prod(sizes)
    return (
      0.0 if grid >= min(budget.units, math.prod(dims) // 64 or 1) else 1.0,
      0.0 if not rows or not sizes or sizes[-1] == dims[-1] else 1.0,
      abs(math.log2(max(size, 1)) - 12),
      abs(math.log2(sizes[-1] / sizes[-2]) - 1) if len(sizes) > 1 else 0.0,
    )

  everything.sort(key=rank)
  half = [s for s in everything if not s or s[-1] != dims[-1]]
  chosen = list(dict.fromkeys([*everything[: max_candidates - max_candidates // 3], *half[: max_candidates // 3]]))
  products = {loop: _STEP for loop, n in analysis.loops if loop[0].opcode == "dot" and n >= 2 * _STEP}
  found: list[tuple[tuple[int, ...], dict[Loop, int]]] = [(sizes, {}) for sizes in chosen]
  return found + [(sizes, products) for sizes in chosen[: max_candidates // 2] if products]


def _leading_ones(per_dim: list[list[int]]) -> list[tuple[int, ...]]:
  """For many dimensions: the leading ones 1, the last two free."""
  leading = [sizes[:1] for sizes in per_dim[:-2]]
  return list(itertools.product(*leading, *per_dim[-2:]))

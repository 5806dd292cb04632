"""Symbolic tiles: the part of an operand that an output tile needs, as a function of the output tile.

An output tile has an offset o_i and a size t_i along each output index d_i: d_i runs over o_i, o_i + 1, …, o_i + t_i
- 1, and o_i is a multiple of t_i. Reduced indices s_j run over p_j … p_j + u_j - 1 in the same way (all of them,
unless a loop cuts them). Put into a result of an indexing map, this gives an arithmetic progression, if there is one:
its offset, its size and its stride are the operand's tile.

    2·d0 + 3            offset 2·o0 + 3,  size t0,  stride 2
    n - 1 - d0          offset n - 1 - o0, size t0, stride -1         (element j of the tile is still output j: the order is kept)
    d0·8 + d1           d1 whole (t1 = 8): offset o0·8, size t0·8, stride 1;  t0 = 1: offset o0·8 + o1, size t1;  else none
    d0 floordiv 8       t0 divides 8: offset o0 floordiv 8, size 1;  t0 a multiple of 8: offset o0 floordiv 8, size t0 floordiv 8
    d0 mod 8            t0 divides 8: offset o0 mod 8, size t0;      t0 a multiple of 8: offset 0, size 8
    d0·2 + s0           s0 in a window: the windows' hull, offset o0·2, size 2·(t0 - 1) + window

So a dimension of a tile is a list of cases, each with conditions on tile sizes; a tile size is possible where each
dimension has a case that holds. Where no case can ever hold, or only by luck, the answer is a `CannotTile`.

`phase` is what makes alignment decidable: in units of the stride, an offset is a multiple of gcd(size, phase) (phase
0: of the size). That of `d0 + 3` is 3, so `(d0 + 3) floordiv 6` is constant in a tile whose size divides 3, and never
a whole number of blocks.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.hlo.tiling import expr
from tilewright.hlo.tiling.expr import Expr, FloorDiv, Interval, Mod, Var
from tilewright.hlo.tiling.indexing_map import REDUCED, WINDOW, IndexingMap
from tilewright.hlo.tiling.op_maps import CannotTile

_OFFSET = {"d": "o", "s": "p"}
_SIZE = {"d": "t", "s": "u"}
_ONE = expr.constant(1)


@dataclass(frozen=True, slots=True)
class SizeCondition:
  """`size` (an expression of tile sizes) equals, divides or is a multiple of `value`."""

  kind: str  # equals, divides, multiple
  size: Expr
  value: int

  def holds(self, size: int) -> bool:
    match self.kind:
      case "equals":
        return size == self.value
      case "divides":
        return size != 0 and self.value % size == 0
    return size % self.value == 0

  def __str__(self) -> str:
    words = {"equals": "=", "divides": "divides", "multiple": "is a multiple of"}
    return f"{self.size} {words[self.kind]} {self.value}"


@dataclass(frozen=True, slots=True)
class Case:
  """One dimension of a tile where `conditions` hold: offset + stride · (0 … size - 1)."""

  conditions: tuple[SizeCondition, ...]
  offset: Expr
  size: Expr
  stride: int
  phase: int = 0
  exact: bool = True
  window: bool = False  # made of window indices only

  def __str__(self) -> str:
    text = f"offset {self.offset}, size {self.size}, stride {self.stride}"
    return text + (f" if {' and '.join(map(str, self.conditions))}" if self.conditions else "")


@dataclass(frozen=True, slots=True)
class TileConstraint:
  """One of the alternatives must hold; each is a conjunction. `of` is the index expression that requires it."""

  alternatives: tuple[tuple[SizeCondition, ...], ...]
  of: Expr

  def __str__(self) -> str:
    return " or ".join(" and ".join(map(str, a)) for a in self.alternatives) + f" (for {self.of})"


@dataclass(frozen=True, slots=True)
class ConcreteTile:
  """A tile for given tile sizes: offsets are still expressions of o, p and r (and d where it is pointwise)."""

  offsets: tuple[Expr, ...]
  sizes: tuple[int, ...]
  strides: tuple[int, ...]
  exact: bool
  pointwise: tuple[Var, ...] = ()


@dataclass(frozen=True, slots=True)
class SymbolicTile:
  """The tile of an operand. `pointwise` are the variables over which it is one box per point, because a place is looked up (gather)."""

  map: IndexingMap
  dims: tuple[tuple[Case, ...], ...]
  bounds: tuple[Interval, ...]
  pointwise: tuple[Var, ...] = ()

  @property
  def constraints(self) -> tuple[TileConstraint, ...]:
    """On the sizes of output tiles (t) and of loop steps (u); empty where every size is possible."""
    found: dict[TileConstraint, None] = {}
    for of, cases in zip(self.map.results, self.dims):
      if all(c.conditions for c in cases):
        found[TileConstraint(tuple(c.conditions for c in cases), of)] = None
    return tuple(found)

  @property
  def depends_on(self) -> list[int]:
    """Output indices whose tile size or place makes a difference."""
    named = {v.index for e in self.map.results for v in e.variables() if v.kind == "d"}
    return sorted(named | {v.index for v in self.pointwise if v.kind == "d"})

  @property
  def offsets(self) -> tuple[Expr, ...]:
    """Of the first case of each dimension."""
    return tuple(cases[0].offset for cases in self.dims)

  @property
  def sizes(self) -> tuple[Expr, ...]:
    return tuple(cases[0].size for cases in self.dims)

  @property
  def strides(self) -> tuple[int, ...]:
    return tuple(cases[0].stride for cases in self.dims)

  def at(self, sizes: Mapping[Var, int]) -> ConcreteTile | CannotTile:
    """For sizes of all t and u variables (those of dimensions that are left out are whole)."""
    known = self._sizes(sizes)
    chosen: list[Case] = []
    for of, cases in zip(self.map.results, self.dims):
      found = next((c for c in cases if all(k.holds(k.size.evaluate(known)) for k in c.conditions)), None)
      if found is None:
        wanted = TileConstraint(tuple(c.conditions for c in cases), of)
        given = {v for c in cases for k in c.conditions for v in k.size.variables()}
        text = ", ".join(f"{v} = {known[v]}" for v in sorted(given))
        return CannotTile(f"{text}, but {wanted}")
      chosen.append(found)
    pointwise = tuple(v for v in self.pointwise if known[Var(_SIZE[v.kind], v.index)] > 1)
    domain = self._offset_domain(known)
    values = {v: expr.var(_OFFSET[v.kind], v.index) for v in self.pointwise if v not in pointwise}
    values |= {v: expr.ZERO for v, (low, high) in domain.items() if v.kind in "op" and low == high == 0}
    concrete = tuple(int(c.size.evaluate(known)) for c in chosen)
    return ConcreteTile(
      tuple(expr.substitute(c.offset, values, domain) for c in chosen),
      concrete,
      tuple(c.stride if n > 1 else 1 for c, n in zip(chosen, concrete)),
      all(c.exact for c in chosen) and not _overlapping(self.map.results),
      pointwise,
    )

  def _sizes(self, sizes: Mapping[Var, int]) -> dict[Var, int]:
    known = {Var("t", i): n for i, n in enumerate(self.map.dims)}
    known |= {Var("u", i): r.size for i, r in enumerate(self.map.ranges)}
    return known | {v: n for v, n in sizes.items() if v in known}

  def _offset_domain(self, known: Mapping[Var, int]) -> dict[Var, Interval]:
    domain = tile_domain(self.map)
    for v, (_, high) in list(domain.items()):
      if v.kind in _OFFSET.values():
        kind = "t" if v.kind == "o" else "u"
        size = known[Var(kind, v.index)]
        domain[v] = (0, (high // size) * size)
    return domain

  def __str__(self) -> str:
    if not self.dims:
      return "scalar"
    lines = []
    for k, (of, cases, (low, high)) in enumerate(zip(self.map.results, self.dims, self.bounds)):
      lines.append(f"dimension {k} ({of}), within [{low}, {high}]: " + "; ".join(map(str, cases)))
    if self.pointwise:
      lines.append("one box per point of " + ", ".join(map(str, self.pointwise)))
    return "\n".join(lines)


def tile_domain(m: IndexingMap) -> dict[Var, Interval]:
  """Intervals of the variables of tiles: offsets, sizes, runtime values, and the indices themselves."""
  domain = dict(m.domain)
  for i, n in enumerate(m.dims):
    domain[Var("o", i)], domain[Var("t", i)] = (0, n - 1), (1, n)
  for i, r in enumerate(m.ranges):
    domain[Var("p", i)], domain[Var("u", i)] = (0, r.size - 1), (1, r.size)
  return domain


def symbolic_tile(m: IndexingMap, operand_dims: Sequence[int] | None = None) -> SymbolicTile | CannotTile:
  """The tile that a map needs. `operand_dims` bounds what may be read."""
  if any(n == 0 for n in m.dims) or any(r.size == 0 for r in m.ranges):
    return CannotTile("the array has no elements")
  pointwise: dict[Var, None] = {}
  looked_up = expr.in_order(m.results, "r")
  for r in looked_up:  # grows: an index may itself be looked up
    for v in sorted({v for e in m.runtime[r.index].at for v in e.variables()}):
      if v.kind in "ds":
        pointwise[v] = None
      elif v not in looked_up:
        looked_up.append(v)
  boxes = _Boxes(m, frozenset(pointwise))
  dims: list[tuple[Case, ...]] = []
  for k, e in enumerate(m.results):
    if operand_dims is not None and operand_dims[k] == 1:  # whatever lies beside the only element is not needed
      dims.append((Case((), expr.ZERO, _ONE, 1),))
      continue
    cases = boxes.of(e)
    if isinstance(cases, CannotTile):
      return cases
    dims.append(tuple(cases))
  return SymbolicTile(m, tuple(dims), _bounds(m, operand_dims), tuple(pointwise))


def _bounds(m: IndexingMap, operand_dims: Sequence[int] | None) -> tuple[Interval, ...]:
  domain = dict(m.domain)
  limits: dict[Expr, Interval] = {}
  for c in m.constraints:
    limits[c.of] = (c.low, c.high)
    v, factor = c.of.terms[0] if len(c.of.terms) == 1 else (None, 0)
    if isinstance(v, Var):
      low, high = (-(-c.low // factor), c.high // factor) if factor > 0 else (-(c.high // -factor), -c.low // -factor)
      domain[v] = (max(domain[v][0], low), min(domain[v][1], high))
  found = []
  for k, e in enumerate(m.results):
    low, high = expr.interval(e, domain)
    plain = expr.shift(e, -e.constant)
    if plain in limits:
      low, high = max(low, limits[plain][0] + e.constant), min(high, limits[plain][1] + e.constant)
    if operand_dims is not None:
      low, high = max(low, 0), min(high, operand_dims[k] - 1)
    found.append((low, high))
  return tuple(found)


def _overlapping(results: Sequence[Expr]) -> bool:
  """Whether two dimensions depend on one variable other than as different digits of it: their box has elements that are not needed."""
  for a, b in itertools.combinations(results, 2):
    if a.variables() & b.variables():
      x, y = _digits(a), _digits(b)
      if x is None or y is None or x[0] != y[0] or not (x[2] <= y[1] or y[2] <= x[1]):
        return True
  return False


def _digits(e: Expr) -> tuple[Expr, float, float] | None:
  """(x, low, high): e is the digits of x from weight low to below weight high."""
  if len(e.terms) != 1 or e.terms[0][1] != 1 or isinstance(e.terms[0][0], Var):
    return None
  atom = e.terms[0][0]
  if isinstance(atom, FloorDiv):
    return atom.of, atom.by, math.inf
  inner = _digits(atom.of)
  if inner is not None and inner[2] == math.inf:
    return inner[0], inner[1], inner[1] * atom.by
  return atom.of, 1, atom.by


class _Boxes:
  """The progressions of the expressions of one map."""

  def __init__(self, m: IndexingMap, pointwise: frozenset[Var]) -> None:
    self.map = m
    self.pointwise = pointwise
    self.domain = tile_domain(m)
    self.exact_quotients = {
      (c.of.terms[0][0].of, c.of.terms[0][0].by)
      for c in m.constraints
      if c.low == c.high == 0 and len(c.of.terms) == 1 and isinstance(c.of.terms[0][0], Mod)
    }

  def of(self, e: Expr) -> list[Case] | CannotTile:
    parts: list[list[Case]] = []
    for atom, factor in e.terms:
      match atom:
        case Var():
          cases: list[Case] | CannotTile = [self._variable(atom)]
        case FloorDiv(of, by):
          cases = self._atom(of, functools.partial(self._quotient, of, by))
        case Mod(of, by):
          cases = self._atom(of, functools.partial(self._remainder, by))
      if isinstance(cases, CannotTile):
        return cases
      parts.append([replace(c, offset=expr.scale(c.offset, factor), stride=c.stride * factor) for c in cases])
    found: dict[tuple[SizeCondition, ...], Case] = {}
    for combination in itertools.product(*parts):
      for case in self._sum(combination, e.constant):
        settled = self._settled(case)
        if settled is not None:
          found.setdefault(settled.conditions, settled)
    if not found:
      return CannotTile(f"`{e}` is no arithmetic progression for any tile size")
    free = found.get(())
    return [free] if free is not None else list(found.values())

  def _atom(self, of: Expr, rule: Callable[[Case], list[Case]]) -> list[Case] | CannotTile:
    inner = self.of(of)
    if isinstance(inner, CannotTile):
      return inner
    return [case for c in inner for case in rule(c)]

  def _variable(self, v: Var) -> Case:
    if v.kind == "r" or v in self.pointwise:
      return Case((), Expr(((v, 1),)), _ONE, 1, 1)
    low, high = self.domain[v]
    if low == high:
      return Case((), expr.constant(low), _ONE, 1, 0)
    if v.kind == "s" and self.map.ranges[v.index].kind != REDUCED:
      window = self.map.ranges[v.index].kind == WINDOW
      return Case((), expr.ZERO, expr.constant(high + 1), 1, 0, window=window)
    return Case((), expr.var(_OFFSET[v.kind], v.index), expr.var(_SIZE[v.kind], v.index), 1, 0)

  # Sums.

  def _sum(self, parts: Sequence[Case], constant: int) -> list[Case]:
    if not parts:
      return [Case((), expr.constant(constant), _ONE, 1)]
    found: list[Case] | None = None
    for part in sorted(parts, key=lambda c: (c.size != _ONE, abs(c.stride))):
      found = [part] if found is None else [c for minor in found for c in self._merge(minor, part)]
    assert found is not None
    return [self._shifted(c, constant) for c in found]

  def _shifted(self, c: Case, constant: int) -> Case:
    edge = constant + abs(c.stride) if c.stride < 0 else constant  # going down, a tile ends where a block begins
    return replace(c, offset=expr.shift(c.offset, constant), phase=math.gcd(c.phase, _in_units(edge, c.stride)))

  def _merge(self, minor: Case, major: Case) -> list[Case]:
    both = tuple(dict.fromkeys(minor.conditions + major.conditions))
    offset, exact = expr.add(minor.offset, major.offset), minor.exact and major.exact
    if minor.size == _ONE:
      phase = math.gcd(major.phase, _phase_of(minor.offset, major.stride))
      return [replace(major, conditions=both, offset=offset, phase=phase, exact=exact)]
    if major.size == _ONE:
      phase = math.gcd(minor.phase, _phase_of(major.offset, minor.stride))
      return [replace(minor, conditions=both, offset=offset, phase=phase, exact=exact)]
    if minor.window or major.window:
      return [self._hull(minor, major, both)]
    found = []
    largest = expr.interval(minor.size, self.domain)[1]
    ratio, rest = divmod(major.stride, minor.stride)
    if rest == 0 and ratio > 1 and largest >= ratio:
      whole = SizeCondition("equals", minor.size, ratio)
      # A minor tile that is all there is has no offset of its own, only what was added to it.
      added = minor.phase if largest == ratio else math.gcd(ratio, minor.phase)
      phase = math.gcd(ratio * major.phase, added)
      found.append(Case((*both, whole), offset, expr.scale(major.size, ratio), minor.stride, phase, exact))
    for kept, single in ((minor, major), (major, minor)):
      phase = math.gcd(kept.phase, _phase_of(single.offset, kept.stride))
      found.append(Case((*both, SizeCondition("equals", single.size, 1)), offset, kept.size, kept.stride, phase, exact))
    return found

  def _hull(self, a: Case, b: Case, conditions: tuple[SizeCondition, ...]) -> Case:
    """Windows of neighbouring outputs, together."""
    step = math.gcd(a.stride, b.stride)
    main = b if a.window else a
    down = main.stride < 0
    length, offset = expr.ZERO, expr.ZERO
    for c in (a, b):
      span = expr.scale(expr.shift(c.size, -1), abs(c.stride))
      length = expr.add(length, expr.scale(expr.shift(c.size, -1), abs(c.stride) // step))
      against = (c.stride < 0) != down
      offset = expr.add(offset, c.offset, expr.scale(span, (1 if down else -1)) if against else expr.ZERO)
    fine, coarse = sorted((a, b), key=lambda c: abs(c.stride))
    lowest = expr.interval(fine.size, self.domain)[0]
    filled = abs(fine.stride) == step and lowest * abs(fine.stride) >= abs(coarse.stride)
    exact = a.exact and b.exact and filled
    stride = -step if down else step
    return Case(conditions, offset, expr.shift(length, 1), stride, 1, exact, a.window and b.window)

  # Quotients and remainders.

  def _quotient(self, of: Expr, by: int, c: Case) -> list[Case]:
    offset = expr.floordiv(c.offset, by, self.domain)
    if (of, by) in self.exact_quotients and c.size != _ONE:
      return [self._dilated(c, by)]
    if (of, by) in self.exact_quotients:  # the nearest element, needed or not
      return [replace(c, offset=expr.ceildiv(c.offset, by, self.domain), stride=1, phase=1, exact=False)]
    if c.size == _ONE:
      return [replace(c, offset=offset, stride=1, phase=1)]
    if c.stride % by == 0:
      return [replace(c, offset=offset, stride=c.stride // by)]
    if by % abs(c.stride):
      return [self._constant(c, offset, SizeCondition("equals", c.size, 1))]
    block = by // abs(c.stride)
    found = [self._constant(c, offset, SizeCondition("divides", c.size, math.gcd(block, c.phase)))]
    if c.phase % block == 0:
      found.append(
        Case(
          (*c.conditions, SizeCondition("multiple", c.size, block)),
          offset,
          expr.floordiv(c.size, block, self.domain),
          1 if c.stride > 0 else -1,
          c.phase // block,
          c.exact,
        )
      )
    return found

  def _constant(self, c: Case, offset: Expr, condition: SizeCondition) -> Case:
    return Case((*c.conditions, condition), offset, _ONE, 1, 1, c.exact)

  def _dilated(self, c: Case, by: int) -> Case:
    """Only multiples of `by` are needed: those between the first and the last element."""
    span = expr.scale(expr.shift(c.size, -1), abs(c.stride))
    size = expr.shift(expr.floordiv(span, by, self.domain), 1)
    if c.stride < 0:
      return Case(c.conditions, expr.floordiv(c.offset, by, self.domain), size, -1, 1, False)
    return Case(c.conditions, expr.ceildiv(c.offset, by, self.domain), size, 1, 1, False)

  def _remainder(self, by: int, c: Case) -> list[Case]:
    offset = expr.mod(c.offset, by, self.domain)
    if c.size == _ONE:
      return [replace(c, offset=offset, stride=1, phase=1)]
    if c.stride % by == 0:
      return [Case(c.conditions, offset, _ONE, 1, 1, c.exact)]
    if by % abs(c.stride):
      return [self._constant(c, offset, SizeCondition("equals", c.size, 1))]
    block = by // abs(c.stride)
    inside = SizeCondition("divides", c.size, math.gcd(block, c.phase))
    found = [Case((*c.conditions, inside), offset, c.size, c.stride, math.gcd(block, c.phase), c.exact)]
    if c.phase % block == 0:
      around = SizeCondition("multiple", c.size, block)
      found.append(Case((*c.conditions, around), offset, expr.constant(block), c.stride, 0, c.exact))
    return found

  # Conditions.

  def _settled(self, case: Case) -> Case | None:
    """Without conditions that always hold; None if one never does."""
    kept: dict[SizeCondition, None] = {}
    for condition in case.conditions:
      low, high = expr.interval(condition.size, self.domain)
      if low == high:
        if not condition.holds(low):
          return None
        continue
      if condition.kind == "divides" and condition.value == 1:
        condition = SizeCondition("equals", condition.size, 1)
      if condition.kind != "divides" and high < condition.value:
        return None
      kept[condition] = None
    exact_sizes = {c.size: c.value for c in kept if c.kind == "equals"}
    for condition in list(kept):
      if condition.size in exact_sizes:
        if not condition.holds(exact_sizes[condition.size]):
          return None
        if condition.kind != "equals":
          del kept[condition]
    return replace(case, conditions=tuple(kept))


def _in_units(value: int, stride: int) -> int:
  """|value| in strides; 1 (nothing is known) where it is no multiple."""
  return abs(value // stride) if value % stride == 0 else 1


def _phase_of(offset: Expr, stride: int) -> int:
  edge = offset.constant
  return math.gcd(*(_in_units(c, stride) for _, c in offset.terms), _in_units(edge, stride))

"""Indexing maps: which element of an operand an output element needs.

    (d0, d1)[s0] -> (d0 * 4 + s0, d1 floordiv 8), domain: d0 in [0, 31], d1 in [0, 63], s0 in [0, 3]

Output element (d0, d1) needs the operand's elements at all values of the range variables s that satisfy the
constraints. Runtime variables r stand for values that are known when the program runs: the start of a dynamic-slice,
an index of a gather. `at` says which element of which instruction such a value is, as a function of the output index,
so that `table[index[d0, s0], d1]` is a map, too:

    (d0, d1)[s0]{r0 = %index[d0, s0] in [0, 999]} -> (r0, d1)

Maps compose: from the root of a computation to an operand of an operand of it, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.hlo.ir import Instruction
from tilewright.hlo.tiling import expr
from tilewright.hlo.tiling.expr import Expr, Interval, Var

REDUCED = "reduced"  # an index that a reduce, dot or convolution sums over: all of it or in steps
WINDOW = "window"  # an index within a window: neighbouring outputs see overlapping parts
WHOLE = "whole"  # any other index that is never cut: the parts of an element, the components of an index vector


@dataclass(frozen=True, slots=True)
class RangeVar:
  """Reduced index number `number` of `instruction`."""

  size: int
  instruction: Instruction | None = None
  number: int = 0
  kind: str = REDUCED


@dataclass(frozen=True, slots=True)
class RuntimeVar:
  """Element `at` of `instruction`, clamped to `bounds`. `at` may name runtime variables with smaller numbers."""

  instruction: Instruction
  at: tuple[Expr, ...]
  bounds: Interval


@dataclass(frozen=True, slots=True)
class Constraint:
  """The operand is needed only where `low ≤ of ≤ high`."""

  of: Expr
  low: int
  high: int

  def __str__(self) -> str:
    return f"{self.of} in [{self.low}, {self.high}]"


@dataclass(frozen=True, slots=True)
class IndexingMap:
  dims: tuple[int, ...]  # of the output: d_i in [0, dims[i] - 1]
  results: tuple[Expr, ...]  # one per dimension of the operand
  ranges: tuple[RangeVar, ...] = ()
  runtime: tuple[RuntimeVar, ...] = ()
  constraints: tuple[Constraint, ...] = ()

  @property
  def domain(self) -> dict[Var, Interval]:
    found = {Var("d", i): (0, n - 1) for i, n in enumerate(self.dims)}
    found |= {Var("s", i): (0, r.size - 1) for i, r in enumerate(self.ranges)}
    found |= {Var("r", i): r.bounds for i, r in enumerate(self.runtime)}
    return found

  @property
  def is_empty(self) -> bool:
    """No output element needs anything: a constraint that never holds, or no elements."""
    domain = self.domain
    if any(low > high for low, high in domain.values()):
      return True
    for c in self.constraints:
      low, high = expr.interval(c.of, domain)
      if high < c.low or low > c.high:
        return True
    return False

  @property
  def is_identity(self) -> bool:
    plain = not (self.ranges or self.runtime or self.constraints) and len(self.results) == len(self.dims)
    return plain and all(e == expr.var("d", i) for i, e in enumerate(self.results))

  def evaluate(
    self, dims: Sequence[Any], ranges: Sequence[Any] = (), values: Callable[[Instruction], Any] | None = None
  ) -> tuple[tuple[Any, ...], Any]:
    """The operand's index at a point, and whether it is needed there. Points may be arrays of equal shape.

    `values` gives the array of an instruction that runtime variables read.
    """
    point = self._point(dims, ranges, values)
    needed: Any = True
    for c in self.constraints:
      value = c.of.evaluate(point)
      needed = needed & (value >= c.low) & (value <= c.high)
    return tuple(e.evaluate(point) for e in self.results), needed

  def _point(
    self, dims: Sequence[Any], ranges: Sequence[Any], values: Callable[[Instruction], Any] | None
  ) -> Mapping[Var, Any]:
    point: dict[Var, Any] = {Var("d", i): value for i, value in enumerate(dims)}
    point |= {Var("s", i): value for i, value in enumerate(ranges)}
    for i, r in enumerate(self.runtime):
      if values is None:
        raise ValueError(f"this map reads %{r.instruction.name} at run time; pass `values`")
      found = values(r.instruction)[tuple(e.evaluate(point) for e in r.at)]
      low, high = r.bounds
      point[Var("r", i)] = found.clip(low, high) if hasattr(found, "clip") else min(max(found, low), high)
    return point

  def __str__(self) -> str:
    head = "(" + ", ".join(f"d{i}" for i in range(len(self.dims))) + ")"
    if self.ranges:
      head += "[" + ", ".join(f"s{i}" for i in range(len(self.ranges))) + "]"
    if self.runtime:
      head += "{" + ", ".join(_runtime_text(i, r) for i, r in enumerate(self.runtime)) + "}"
    text = f"{head} -> ({', '.join(map(str, self.results))})"
    limits = [f"{v} in [{low}, {high}]" for v, (low, high) in self.domain.items() if v.kind != "r"]
    if limits:
      text += ", domain: " + ", ".join(limits)
    if self.constraints:
      text += ", where " + ", ".join(map(str, self.constraints))
    return text


def _runtime_text(i: int, r: RuntimeVar) -> str:
  return f"r{i} = %{r.instruction.name}[{', '.join(map(str, r.at))}] in [{r.bounds[0]}, {r.bounds[1]}]"


def identity(dims: Sequence[int]) -> IndexingMap:
  return IndexingMap(tuple(dims), tuple(expr.var("d", i) for i in range(len(dims))))


def make_map(
  dims: Sequence[int],
  results: Sequence[Expr],
  ranges: Sequence[RangeVar] = (),
  runtime: Sequence[RuntimeVar] = (),
  constraints: Sequence[Constraint] = (),
) -> IndexingMap:
  """A simplified map: variables that nothing names are dropped, constraints that always hold too."""
  return _normal(IndexingMap(tuple(dims), tuple(results), tuple(ranges), tuple(runtime), tuple(constraints)))


def compose(outer: IndexingMap, inner: IndexingMap) -> IndexingMap:
  """From `outer`'s output to `inner`'s operand, where `inner`'s output is `outer`'s operand."""
  if len(outer.results) != len(inner.dims):
    raise ValueError(f"a map to rank {len(outer.results)} does not compose with one from rank {len(inner.dims)}")
  if inner.is_identity and 1 not in inner.dims:
    return outer
  ranges, runtime = len(outer.ranges), len(outer.runtime)
  both = IndexingMap(outer.dims, (), outer.ranges + inner.ranges, outer.runtime)
  # A dimension of one element is at 0 wherever it is needed, even if the outer map also names places beside it.
  values: dict[Var, Expr] = {Var("d", i): e if inner.dims[i] > 1 else expr.ZERO for i, e in enumerate(outer.results)}
  values |= {Var("s", i): expr.var("s", ranges + i) for i in range(len(inner.ranges))}
  values |= {Var("r", i): expr.var("r", runtime + i) for i in range(len(inner.runtime))}
  domain = both.domain | {Var("r", runtime + i): r.bounds for i, r in enumerate(inner.runtime)}

  def put(e: Expr) -> Expr:
    return expr.substitute(e, values, domain)

  more = tuple(RuntimeVar(r.instruction, tuple(map(put, r.at)), r.bounds) for r in inner.runtime)
  constraints = tuple(Constraint(put(c.of), c.low, c.high) for c in inner.constraints)
  return _normal(
    IndexingMap(
      outer.dims,
      tuple(map(put, inner.results)),
      both.ranges,
      outer.runtime + more,
      outer.constraints + constraints,
    )
  )


def _normal(m: IndexingMap) -> IndexingMap:
  """Constraints that say something, once each; runtime variables and ranges that something names, in the order of their use."""
  domain = m.domain
  constraints: dict[Constraint, None] = {}
  for c in m.constraints:
    low, high = expr.interval(c.of, domain)
    if low < c.low or high > c.high:
      constraints[Constraint(expr.shift(c.of, -c.of.constant), c.low - c.of.constant, c.high - c.of.constant)] = None
  named = [*m.results, *(c.of for c in constraints)]
  used: list[Var] = expr.in_order(named, "r")
  for v in used:  # grows: an index may itself be looked up
    for other in expr.in_order(m.runtime[v.index].at, "r"):
      if other not in used:
        used.append(other)
  order = sorted(used)
  named += [e for v in order for e in m.runtime[v.index].at]
  ranges = expr.in_order(named, "s")
  if len(ranges) == len(m.ranges) and len(order) == len(m.runtime) and all(v.index == i for i, v in enumerate(ranges)):
    if len(constraints) == len(m.constraints) and all(a is b for a, b in zip(constraints, m.constraints)):
      return m
    return IndexingMap(m.dims, m.results, m.ranges, m.runtime, tuple(constraints))
  names: dict[Var, Expr] = {v: expr.var("s", i) for i, v in enumerate(ranges)}
  names |= {v: expr.var("r", i) for i, v in enumerate(order)}
  renamed = {v: (0, m.ranges[v.index].size - 1) for v in ranges}
  fresh: dict[Var, Interval] = {Var("d", i): (0, n - 1) for i, n in enumerate(m.dims)}
  fresh |= {Var("s", i): renamed[v] for i, v in enumerate(ranges)}
  fresh |= {Var("r", i): m.runtime[v.index].bounds for i, v in enumerate(order)}

  def put(e: Expr) -> Expr:
    return expr.substitute(e, names, fresh)

  return IndexingMap(
    m.dims,
    tuple(map(put, m.results)),
    tuple(m.ranges[v.index] for v in ranges),
    tuple(
      RuntimeVar(m.runtime[v.index].instruction, tuple(map(put, m.runtime[v.index].at)), m.runtime[v.index].bounds)
      for v in order
    ),
    tuple(Constraint(put(c.of), c.low, c.high) for c in constraints),
  )

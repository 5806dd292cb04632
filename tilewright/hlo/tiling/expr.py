"""Affine expressions with floor division and remainder over bounded integer variables.

An `Expr` is a sum `c0 + c1·a1 + c2·a2 + …`; an atom `a` is a variable, `e floordiv c` or `e mod c` (c a positive
constant). Expressions are built by `add`, `scale`, `floordiv` and `mod`, which simplify with the intervals of the
variables:

    with d0 in [0, 3], d1 in [0, 7]      (d0 * 8 + d1) floordiv 8  →  d0        (d0 * 8 + d1) mod 8  →  d1

The rules behind it, for 0 ≤ Y < g and g dividing c:

    (c·A + B) floordiv c = A + B floordiv c          (g·X + Y) floordiv c = X floordiv (c/g)
    (c·A + B) mod c      = B mod c                   (g·X + Y) mod c      = g·(X mod (c/g)) + Y
    (x floordiv a) floordiv b = x floordiv (a·b)     (x floordiv c)·c + x mod c = x

Two expressions that are equal after simplification are the same value; the converse does not hold.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Interval = tuple[int, int]  # both ends belong to it; empty where the first exceeds the second


@dataclass(frozen=True, slots=True, order=True)
class Var:
  """`d0`: kind and number.

  In indexing maps `d` is an index of the output, `s` a range variable (a reduced or contracted index) and `r` a runtime variable. In
  tiles `o` is the offset and `t` the size of the tile along an output index, `p` and `u` those along a range variable.
  """

  kind: str
  index: int

  def __str__(self) -> str:
    return f"{self.kind}{self.index}"


@dataclass(frozen=True, slots=True)
class FloorDiv:
  of: Expr
  by: int

  def __str__(self) -> str:
    return f"{_operand(self.of)} floordiv {self.by}"


@dataclass(frozen=True, slots=True)
class Mod:
  of: Expr
  by: int

  def __str__(self) -> str:
    return f"{_operand(self.of)} mod {self.by}"


Atom = Var | FloorDiv | Mod
Domain = Mapping[Var, Interval]


@dataclass(frozen=True, slots=True)
class Expr:
  """`constant + Σ coefficient · atom`; each atom once, in the order of their texts, no coefficient 0."""

  terms: tuple[tuple[Atom, int], ...] = ()
  constant: int = 0
  _hash: int = field(init=False, repr=False, compare=False)  # expressions are looked up far more often than made

  def __post_init__(self) -> None:
    object.__setattr__(self, "_hash", hash((self.terms, self.constant)))

  def __hash__(self) -> int:
    return self._hash

  @property
  def is_constant(self) -> bool:
    return not self.terms

  @property
  def as_var(self) -> Var | None:
    """The variable, if the expression is one."""
    if self.constant == 0 and len(self.terms) == 1 and self.terms[0][1] == 1 and isinstance(self.terms[0][0], Var):
      return self.terms[0][0]
    return None

  def variables(self) -> frozenset[Var]:
    found: set[Var] = set()
    for atom, _ in self.terms:
      if isinstance(atom, Var):
        found.add(atom)
      else:
        found |= atom.of.variables()
    return frozenset(found)

  def evaluate(self, values: Mapping[Var, Any]) -> Any:
    """The value at a point; integers or integer arrays."""
    total: Any = self.constant
    for atom, factor in self.terms:
      match atom:
        case Var():
          value = values[atom]
        case FloorDiv(of, by):
          value = of.evaluate(values) // by
        case Mod(of, by):
          value = of.evaluate(values) % by
      total = total + factor * value
    return total

  def __str__(self) -> str:
    parts: list[str] = []
    for atom, factor in self.terms:
      text = str(atom)
      if abs(factor) != 1:
        text = f"{text if isinstance(atom, Var) else f'({text})'} * {abs(factor)}"
      elif len(self.terms) + (self.constant != 0) > 1 and not isinstance(atom, Var):
        text = f"({text})"
      sign = "-" if factor < 0 else "+"
      parts.append(f"{sign} {text}" if parts else ("-" if factor < 0 else "") + text)
    if self.constant or not parts:
      sign = "-" if self.constant < 0 else "+"
      parts.append(f"{sign} {abs(self.constant)}" if parts else str(self.constant))
    return " ".join(parts)


ZERO = Expr()


def _operand(of: Expr) -> str:
  text = str(of)
  return text if of.as_var is not None or of.is_constant else f"({text})"


def constant(value: int) -> Expr:
  return Expr((), value)


def var(kind: str, index: int) -> Expr:
  return Expr(((Var(kind, index), 1),))


def _of_atom(atom: Atom) -> Expr:
  return Expr(((atom, 1),))


@functools.lru_cache(maxsize=65536)
def _text(atom: Atom) -> str:
  return str(atom)


def _canonical(terms: dict[Atom, int], value: int) -> Expr:
  kept = [(atom, factor) for atom, factor in terms.items() if factor]
  kept.sort(key=lambda term: (_text(term[0]), term[1]))
  return Expr(tuple(kept), value)


# Building.


def add(*parts: Expr) -> Expr:
  terms: dict[Atom, int] = {}
  value = 0
  for part in parts:
    value += part.constant
    for atom, factor in part.terms:
      terms[atom] = terms.get(atom, 0) + factor
  return _joined(terms, value)


def scale(e: Expr, factor: int) -> Expr:
  return Expr(tuple((atom, c * factor) for atom, c in e.terms), e.constant * factor) if factor else ZERO


def shift(e: Expr, value: int) -> Expr:
  return Expr(e.terms, e.constant + value)


def subtract(a: Expr, b: Expr) -> Expr:
  return add(a, scale(b, -1))


def _joined(terms: dict[Atom, int], value: int) -> Expr:
  """Puts the quotient and the remainder of one expression together again."""
  changed = True
  while changed:
    changed = False
    for atom, factor in list(terms.items()):
      if not isinstance(atom, Mod) or not factor:
        continue
      whole = _whole(atom)
      if whole is None:
        continue
      quotient, result = whole
      if terms.get(quotient) == factor * atom.by:
        del terms[atom], terms[quotient]
        value += result.constant * factor
        for other, c in result.terms:
          terms[other] = terms.get(other, 0) + c * factor
        changed = True
        break
      # a·((x floordiv a) mod b) + x mod a = x mod (a·b)
      if (
        len(atom.of.terms) == 1
        and atom.of.constant == 0
        and atom.of.terms[0][1] == 1
        and isinstance(atom.of.terms[0][0], FloorDiv)
        and factor % atom.of.terms[0][0].by == 0
      ):
        inner = atom.of.terms[0][0]
        rest = Mod(inner.of, inner.by)
        if terms.get(rest) == factor // inner.by:
          joined = Mod(inner.of, inner.by * atom.by)
          small = terms.pop(rest)
          del terms[atom]
          terms[joined] = terms.get(joined, 0) + small
          changed = True
          break
  return _canonical(terms, value)


def _whole(atom: Mod) -> tuple[Atom, Expr] | None:
  """For `x mod c`: the atom of `x floordiv c`, and x."""
  of = atom.of
  if len(of.terms) == 1 and of.constant == 0 and of.terms[0][1] == 1 and isinstance(of.terms[0][0], FloorDiv):
    inner = of.terms[0][0]
    return FloorDiv(inner.of, inner.by * atom.by), of
  return FloorDiv(of, atom.by), of


# Intervals.


def interval(e: Expr, domain: Domain) -> Interval:
  """The smallest and the largest value the expression can take (a bound: atoms are taken as independent)."""
  low = high = e.constant
  for atom, factor in e.terms:
    a, b = _atom_interval(atom, domain)
    low += factor * (a if factor > 0 else b)
    high += factor * (b if factor > 0 else a)
  return low, high


def _atom_interval(atom: Atom, domain: Domain) -> Interval:
  if isinstance(atom, Var):
    return domain[atom]
  low, high = interval(atom.of, domain)
  if isinstance(atom, FloorDiv):
    return low // atom.by, high // atom.by
  if low // atom.by == high // atom.by:
    return low % atom.by, high % atom.by
  return 0, atom.by - 1


# Division.


def _split(e: Expr, by: int) -> tuple[Expr, Expr]:
  """e = by·A + B, with 0 ≤ the constant of B < by."""
  outer = Expr(tuple((atom, c // by) for atom, c in e.terms if c % by == 0), e.constant // by)
  inner = Expr(tuple((atom, c) for atom, c in e.terms if c % by), e.constant % by)
  return outer, inner


def _small_part(e: Expr, by: int, domain: Domain) -> tuple[int, Expr, Expr] | None:
  """(g, X, Y) with e = g·X + Y, 0 ≤ Y < g, 1 < g < by and g dividing `by`; None if there is none."""
  for g in sorted({math.gcd(c, by) for _, c in e.terms}, reverse=True):
    if not 1 < g < by:
      continue
    x, y = _split(e, g)
    low, high = interval(y, domain)
    if low >= 0 and high < g:
      return g, x, y
  return None


def floordiv(e: Expr, by: int, domain: Domain) -> Expr:
  assert by > 0, by
  if by == 1:
    return e
  outer, inner = _split(e, by)
  low, high = interval(inner, domain)
  if low // by == high // by:
    return shift(outer, low // by)
  small = _small_part(inner, by, domain)
  if small is not None:
    return add(outer, floordiv(small[1], by // small[0], domain))
  nested = _single(inner)
  if nested is not None and isinstance(nested[0], FloorDiv):
    atom, k = nested
    return add(outer, floordiv(shift(atom.of, k * atom.by), atom.by * by, domain))
  return add(outer, _of_atom(FloorDiv(inner, by)))


def mod(e: Expr, by: int, domain: Domain) -> Expr:
  assert by > 0, by
  if by == 1:
    return ZERO
  _, inner = _split(e, by)
  low, high = interval(inner, domain)
  if low // by == high // by:
    return shift(inner, -(low // by) * by)
  small = _small_part(inner, by, domain)
  if small is not None:
    return add(scale(mod(small[1], by // small[0], domain), small[0]), small[2])
  flat: dict[Atom, int] = {}
  changed = False
  extra = inner.constant
  for atom, c in inner.terms:
    if isinstance(atom, Mod) and (atom.by * c) % by == 0:  # c·(x mod a) and c·x differ by a multiple of c·a
      changed = True
      extra += atom.of.constant * c
      for other, factor in atom.of.terms:
        flat[other] = flat.get(other, 0) + factor * c
    else:
      flat[atom] = flat.get(atom, 0) + c
  if changed:
    return mod(_canonical(flat, extra), by, domain)
  return _of_atom(Mod(inner, by))


def _single(e: Expr) -> tuple[Any, int] | None:
  """(atom, constant) if e = atom + constant."""
  return (e.terms[0][0], e.constant) if len(e.terms) == 1 and e.terms[0][1] == 1 else None


def ceildiv(e: Expr, by: int, domain: Domain) -> Expr:
  return floordiv(shift(e, by - 1), by, domain)


# Substitution.


def substitute(e: Expr, values: Mapping[Var, Expr], domain: Domain) -> Expr:
  """Puts expressions for variables and simplifies in `domain`, that of the variables the result has."""
  return add(constant(e.constant), *(scale(_substitute_atom(a, values, domain), c) for a, c in e.terms))


def _substitute_atom(atom: Atom, values: Mapping[Var, Expr], domain: Domain) -> Expr:
  match atom:
    case Var():
      return values.get(atom, _of_atom(atom))
    case FloorDiv(of, by):
      return floordiv(substitute(of, values, domain), by, domain)
    case Mod(of, by):
      return mod(substitute(of, values, domain), by, domain)


def simplify(e: Expr, domain: Domain) -> Expr:
  return substitute(e, {}, domain)


def in_order(exprs: Iterable[Expr], kind: str) -> list[Var]:
  """The variables of one kind, in the order in which the expressions name them."""
  found: dict[Var, None] = {}

  def visit(e: Expr) -> None:
    for atom, _ in e.terms:
      if isinstance(atom, Var):
        if atom.kind == kind:
          found[atom] = None
      else:
        visit(atom.of)

  for e in exprs:
    visit(e)
  return list(found)

"""The axes of a region: which dimensions of its values are the same index, and which of them a kernel may cut into tiles.

Each dimension of each value is a sequence of *atoms*, row-major. Ops unify them: an elementwise op has the same atoms on both sides, a
reshape cuts atoms into smaller ones until both shapes are made of the same.

    x: f32[4,6,8]  ->  reshape f32[24,8]  ->  reduce over 1  ->  broadcast f32[24,8]       atoms a=4, b=6, c=8;  24 = (a, b)

In terms of atoms a reshape does nothing, a broadcast adds atoms, a reduction removes some. An atom that no op mixes (by a reduction
whose result is used in the region, a product, a slice or a concatenation along it) may be cut: each instance of a kernel computes its
own part of it, of all values. The others are `whole`: an instance has all of their elements.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Sequence

from tilewright.accelerate.graph import ELEMENTWISE, Graph, Node, Refused


@dataclasses.dataclass(eq=False)
class Atom:
  """An index with so many values. `parts` are what it was cut into, `same` is what it was unified with."""

  size: int
  whole: str = ""  # why it may not be cut
  parts: tuple[Atom, ...] = ()
  same: Atom | None = None

  def __repr__(self) -> str:
    return f"{self.size}{'!' if self.whole else ''}"


Dim = tuple[Atom, ...]


def expand(atoms: Iterable[Atom]) -> list[Atom]:
  """The smallest atoms that these are made of now."""
  found: list[Atom] = []
  for atom in atoms:
    while atom.same is not None:
      atom = atom.same
    found += expand(atom.parts) if atom.parts else [atom]
  return found


def unify(left: Iterable[Atom], right: Iterable[Atom]) -> None:
  """Make two sequences of atoms, of as many elements, the same."""
  a, b = expand(left), expand(right)
  while a and b:
    x, y = a[0], b[0]
    if x is y:
      a, b = expand(a[1:]), expand(b[1:])
    elif x.size == y.size:
      y.same = x
      x.whole = x.whole or y.whole
      a, b = expand(a[1:]), expand(b[1:])
    elif x.size % y.size == 0:
      _cut(x, y.size)
      a, b = expand(a), expand(b)
    elif y.size % x.size == 0:
      _cut(y, x.size)
      a, b = expand(a), expand(b)
    else:
      raise Refused(f"a reshape cuts {x.size} elements and {y.size} at places of their own")
  if a or b:
    raise Refused("a reshape changes the number of elements")


def _cut(atom: Atom, size: int) -> None:
  atom.parts = (Atom(size, atom.whole), Atom(atom.size // size, atom.whole))


def keep_whole(atoms: Iterable[Atom], why: str) -> None:
  for atom in expand(atoms):
    atom.whole = atom.whole or why


@dataclasses.dataclass(frozen=True)
class Axes:
  """The atoms of each dimension of each node."""

  dims: dict[Node, tuple[Dim, ...]]

  def of(self, node: Node) -> tuple[Atom, ...]:
    """All atoms of a node, the slowest varying first."""
    return tuple(atom for dim in self.dims[node] for atom in expand(dim))

  def dim(self, node: Node, i: int) -> tuple[Atom, ...]:
    return tuple(expand(self.dims[node][i]))


def _fresh(sizes: Sequence[int]) -> tuple[Dim, ...]:
  return tuple((Atom(size),) if size != 1 else () for size in sizes)


def analyse(graph: Graph, given: Collection[Node] = ()) -> Axes:
  """The axes of a region. Of nodes that are `given`, it does not matter what they are computed from."""
  dims: dict[Node, tuple[Dim, ...]] = {}
  users = graph.users()
  for node in graph.nodes:
    if node in given:
      dims[node] = _fresh(node.dims)
    elif node.opcode in ELEMENTWISE:
      dims[node] = dims[node.operands[0]]
      for other in node.operands[1:]:
        for x, y in zip(dims[node], dims[other]):
          unify(x, y)
    else:
      rule = _RULES.get(node.opcode)
      if rule is None:
        raise Refused(f"{node.opcode} has no axes")
      dims[node] = rule(node, [dims[o] for o in node.operands])
    if node.opcode == "reduce" and users[node]:
      inner = [d for i, d in enumerate(dims[node.operands[0]]) if i in node.attrs["dimensions"]]
      keep_whole([a for d in inner for a in d], "its reduction is used in the kernel")
  axes = Axes(dims)
  for node in graph.nodes:
    atoms = axes.of(node)
    if len(set(atoms)) < len(atoms):
      keep_whole([a for a in atoms if atoms.count(a) > 1], "an array is combined with its transpose")
  return axes


def _new(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  return _fresh(node.dims)


def _broadcast(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  at = node.attrs["dimensions"]
  own = list(_fresh(node.dims))
  for i, d in enumerate(at):
    own[d] = operands[0][i]
  return tuple(own)


def _transpose(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  return tuple(operands[0][p] for p in node.attrs["permutation"])


def _reshape(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  own = _fresh(node.dims)
  unify((a for d in operands[0] for a in d), (a for d in own for a in d))
  return own


def _reduce(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  return tuple(d for i, d in enumerate(operands[0]) if i not in node.attrs["dimensions"])


def _rearranged(node: Node, operands: Sequence[tuple[Dim, ...]], moved: Iterable[int], why: str) -> tuple[Dim, ...]:
  """Dimensions in `moved` are whole, with atoms of their own; the others are those of the operand."""
  changed = set(moved)
  own = _fresh(node.dims)
  for i in changed:
    keep_whole(own[i], why)
    for dims in operands:
      keep_whole(dims[i], why)
  result = tuple(own[i] if i in changed else operands[0][i] for i in range(len(node.dims)))
  for dims in operands[1:]:
    for i, d in enumerate(dims):
      if i not in changed:
        unify(result[i], d)
  return result


def _slice(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  sizes = node.operands[0].dims
  moved = [i for i, (start, limit, step) in enumerate(node.attrs["cuts"]) if (start, limit, step) != (0, sizes[i], 1)]
  return _rearranged(node, operands, moved, "it is sliced")


def _pad(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  moved = [i for i, p in enumerate(node.attrs["padding"]) if p[:2] != (0, 0) or (p[2] and node.operands[0].dims[i] > 1)]
  return _rearranged(node, operands[:1], moved, "it is padded")


def _concatenate(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  return _rearranged(node, operands, [node.attrs["axis"]], "arrays are concatenated along it")


def _reverse(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  return _rearranged(node, operands, node.attrs["axes"], "it is reversed")


def _dot(node: Node, operands: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
  left, right = operands
  (lc, rc), (lb, rb) = node.attrs["contract"], node.attrs["batch"]
  for i, j in (*zip(lb, rb), *zip(lc, rc)):
    unify(left[i], right[j])
  keep_whole((a for i in lc for a in left[i]), "it is contracted")
  keep_whole((a for i in rc for a in right[i]), "it is contracted")
  return (
    *(left[i] for i in lb),
    *(d for i, d in enumerate(left) if i not in (*lb, *lc)),
    *(d for i, d in enumerate(right) if i not in (*rb, *rc)),
  )


_RULES: dict[str, Callable[[Node, Sequence[tuple[Dim, ...]]], tuple[Dim, ...]]] = {
  "leaf": _new,
  "constant": _new,
  "iota": _new,
  "broadcast": _broadcast,
  "transpose": _transpose,
  "reshape": _reshape,
  "reduce": _reduce,
  "slice": _slice,
  "pad": _pad,
  "concatenate": _concatenate,
  "reverse": _reverse,
  "dot": _dot,
}


def elements(atoms: Iterable[Atom]) -> int:
  return math.prod(a.size for a in atoms)

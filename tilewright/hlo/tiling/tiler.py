"""From symbolic to concrete tiles: a `TiledRegion` for given tile sizes.

A search requests many sizes of one region, and a node's tile depends on few of them: results for a node are
cached under the sizes that it depends on. Equal tiles of one instruction get one number, so that each is
present once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.hlo.ir import Instruction
from tilewright.hlo.tiling import expr
from tilewright.hlo.tiling.expr import Expr, Interval, Var
from tilewright.hlo.tiling.indexing_map import REDUCED, IndexingMap
from tilewright.hlo.tiling.matching_tiles import mismatch
from tilewright.hlo.tiling.op_maps import CannotTile
from tilewright.hlo.tiling.region import Region, RuntimeValue, TiledInstruction, TiledRegion, TilingAxis
from tilewright.hlo.tiling.symbolic_tile import ConcreteTile, SymbolicTile

Loop = tuple[Instruction, int]  # a reduced index: the instruction and the index's number


@dataclass(frozen=True, eq=False)
class SymbolicNode:
  """One instruction (one leaf of it) at one map from the main root's indices."""

  instruction: Instruction
  leaf: int
  tile: SymbolicTile
  operands: tuple[int, ...]

  @property
  def map(self) -> IndexingMap:
    return self.tile.map


@dataclass(frozen=True, slots=True)
class _Lookup:
  """A runtime value: of which instruction, where (in variables of axes, and in those of the node's map), and its bounds."""

  instruction: Instruction
  at: tuple[Expr, ...]
  in_map: tuple[Expr, ...]
  bounds: Interval


@dataclass(frozen=True, slots=True)
class _AxisTile:
  """A tile in the variables of axes. Equal ones have the same number."""

  number: int
  concrete: ConcreteTile
  offsets: tuple[Expr, ...]
  pointwise: tuple[int, ...]
  lookups: tuple[_Lookup, ...]


class Tiler:
  """Makes tiled regions of one analysed region."""

  def __init__(
    self,
    region: Region,
    main: int,
    nodes: Sequence[SymbolicNode],
    roots: Sequence[int],
    loops: Sequence[tuple[Loop, int]],
  ) -> None:
    self.region, self.main, self.nodes, self.roots, self.loops = region, region.roots[main], nodes, roots, loops
    self.dims = self.main.shape.dimensions
    self.axis_of: dict[Loop, int] = {loop: len(self.dims) + k for k, (loop, _) in enumerate(loops)}
    self.names = [self._axis_names(node.map) for node in nodes]
    self.depends = [node.tile.depends_on for node in nodes]
    kinds: dict[SymbolicTile, int] = {}  # most nodes share their map, and so their tile, with others
    self.kind = [kinds.setdefault(node.tile, len(kinds)) for node in nodes]
    self.placed: dict[tuple[object, ...], _AxisTile | CannotTile] = {}
    self.numbers: dict[tuple[object, ...], int] = {}

  def _axis_names(self, m: IndexingMap) -> list[int | None]:
    """The axis of each range variable; None where it is always whole."""
    return [
      self.axis_of.get((r.instruction, r.number)) if r.kind == REDUCED and r.instruction is not None else None
      for r in m.ranges
    ]

  def tiled(self, tile_sizes: Sequence[int] | None, loop_sizes: Mapping[Loop, int]) -> TiledRegion | CannotTile:
    sizes = tuple(self.dims if tile_sizes is None else tile_sizes)
    if len(sizes) != len(self.dims):
      return CannotTile(f"the output has {len(self.dims)} dimensions and the tile {len(sizes)}")
    if any(t < 1 for t in (*sizes, *loop_sizes.values())):
      return CannotTile(f"tile sizes {sizes} are not all positive")
    sizes = tuple(min(t, n) for t, n in zip(sizes, self.dims))
    axes = [TilingAxis("parallel", n, t, self.main, i) for i, (n, t) in enumerate(zip(self.dims, sizes))]
    for (instruction, number), n in self.loops:
      axes.append(TilingAxis("loop", n, min(loop_sizes.get((instruction, number), n), n), instruction, number))
    found: list[TiledInstruction] = []
    maps: list[IndexingMap] = []
    known: dict[tuple[Instruction, int, int], int] = {}
    place: list[int] = []
    for k, node in enumerate(self.nodes):
      placed = self._place(k, node, sizes, axes)
      if isinstance(placed, CannotTile):
        return CannotTile(placed.reason, node.instruction)
      # A variadic reduce makes all its leaves at once.
      leaf = node.leaf if node.instruction.opcode in ("tuple", "opt-barrier") else 0
      same = (node.instruction, leaf, placed.number)
      if same not in known:
        tiled = self._instruction(node, placed, [place[o] for o in node.operands], found, maps)
        if isinstance(tiled, CannotTile):
          return tiled
        known[same] = len(found)
        found.append(tiled)
        maps.append(node.map)
      place.append(known[same])
    for k in self.roots:
      uneven = self._uneven(self.nodes[k].map, sizes)
      if uneven is not None:
        why = f"the last tile along d{uneven} is not whole, and %{self.nodes[k].instruction.name} would be written beyond it"
        return CannotTile(why, self.nodes[k].instruction)
    return TiledRegion(self.region, tuple(axes), tuple(found), tuple(place[k] for k in self.roots))

  def _uneven(self, m: IndexingMap, sizes: Sequence[int]) -> int | None:
    """An index with a last tile that hangs over, which a root's dimension mixes with others: its bounds do not cut off the rest."""
    for e in m.results:
      if e.as_var is None:
        for v in e.variables():
          if v.kind == "d" and self.dims[v.index] % sizes[v.index]:
            return v.index
    return None

  def _place(
    self, k: int, node: SymbolicNode, sizes: Sequence[int], axes: Sequence[TilingAxis]
  ) -> _AxisTile | CannotTile:
    steps = tuple(0 if axis is None else axes[axis].tile for axis in self.names[k])
    key = (self.kind[k], tuple(sizes[i] for i in self.depends[k]), steps)
    if key not in self.placed:
      given = {Var("t", i): t for i, t in enumerate(sizes)}
      given |= {Var("u", j): t for j, t in enumerate(steps) if t}
      concrete = node.tile.at(given)
      renamed = concrete if isinstance(concrete, CannotTile) else self._renamed(node.tile, concrete, self.names[k])
      self.placed[key] = renamed
    return self.placed[key]

  def _renamed(self, tile: SymbolicTile, concrete: ConcreteTile, names: Sequence[int | None]) -> _AxisTile | CannotTile:
    """Offsets in the variables of axes instead of those of one map."""
    m = tile.map
    values: dict[Var, Expr] = {}
    for j, axis in enumerate(names):
      if axis is not None:
        values[Var("p", j)], values[Var("s", j)] = expr.var("o", axis), expr.var("d", axis)
    pointwise = []
    for v in concrete.pointwise:
      axis = v.index if v.kind == "d" else names[v.index]
      if axis is None:
        return CannotTile("a place is looked up for each position in a window")
      pointwise.append(axis)
    # Runtime variables that offsets name, and those that these are looked up with; what only masks elements is left out.
    used = sorted({v.index for e in concrete.offsets for v in e.variables() if v.kind == "r"})
    for k in used:
      used += [v.index for e in m.runtime[k].at for v in e.variables() if v.kind == "r" and v.index not in used]
    used = sorted(set(used))
    values |= {Var("r", k): expr.var("r", number) for number, k in enumerate(used)}
    single = {
      v: expr.var("o", v.index) if v.kind == "d" else expr.var("p", v.index)
      for v in tile.pointwise
      if v not in concrete.pointwise
    }
    lookups = tuple(
      _Lookup(r.instruction, tuple(_put(_put(e, single), values) for e in r.at), r.at, r.bounds)
      for r in (m.runtime[k] for k in used)
    )
    offsets = tuple(_put(e, values) for e in concrete.offsets)
    same = (offsets, concrete.sizes, concrete.strides, tile.bounds, tuple(pointwise), lookups)
    number = self.numbers.setdefault(same, len(self.numbers))
    return _AxisTile(number, concrete, offsets, tuple(pointwise), lookups)

  def _instruction(
    self,
    node: SymbolicNode,
    placed: _AxisTile,
    operands: Sequence[int],
    found: Sequence[TiledInstruction],
    maps: Sequence[IndexingMap],
  ) -> TiledInstruction | CannotTile:
    i, concrete = node.instruction, placed.concrete
    wrong = mismatch(i, concrete.sizes, [found[k] for k in operands])
    if wrong is not None:
      return CannotTile(wrong, i)
    runtime = []
    for lookup in placed.lookups:
      source = _source(lookup.instruction, lookup.in_map, found, maps)
      if source is None:
        return CannotTile(f"the index %{lookup.instruction.name} is not computed along with it", i)
      runtime.append(RuntimeValue(source, lookup.at, lookup.bounds))
    return TiledInstruction(
      i,
      concrete.sizes,
      concrete.strides,
      placed.offsets,
      node.tile.bounds,
      tuple(operands),
      tuple(axis for (instruction, _), axis in self.axis_of.items() if instruction is i),
      placed.pointwise,
      tuple(runtime),
      concrete.exact,
    )


def _put(e: Expr, values: Mapping[Var, Expr]) -> Expr:
  """Another name for variables; nothing is simplified, since the intervals stay what they were."""
  terms = []
  for atom, factor in e.terms:
    if isinstance(atom, Var):
      new = values.get(atom)
      terms.append(expr.scale(new if new is not None else Expr(((atom, 1),)), factor))
    else:
      terms.append(Expr(((type(atom)(_put(atom.of, values), atom.by), factor),)))
  return expr.add(expr.constant(e.constant), *terms)


def _source(
  instruction: Instruction, at: Sequence[Expr], found: Sequence[TiledInstruction], maps: Sequence[IndexingMap]
) -> int | None:
  """The tile of an index operand that holds element `at`."""
  for k, tiled in enumerate(found):
    if tiled.instruction is instruction:
      same = all(
        mine == e or (mine.as_var is not None and mine.as_var.kind == "s") for mine, e in zip(maps[k].results, at)
      )
      if same:
        return k
  return None

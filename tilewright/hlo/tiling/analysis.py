"""The tiles of a whole computation, relative to its roots.

`tile_analysis` walks from the roots to the operands and composes indexing maps, so that each instruction has its map
from the indices of the main root, and from the map a symbolic tile. An instruction that is used in several ways has
several:

    softmax:  %e = exp(x - max(x))  at (d0, d1), for the quotient, and at (d0)[s0] -> (d0, s0), for the sum

For concrete tile sizes the two are often the same tile (here: if t1 is the whole row), and `TileAnalysis.tiled` makes
them one. The axes of a `TiledRegion` are the indices of the main root and the reduced indices that the maps name.

Several roots share one grid. The main one gives its indices; another root is tiled along with it if it is an operand
of the main root that is wholly covered, or if its indices correspond to the main root's through something both are
computed from; an index that corresponds to none is taken whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.tiling import expr
from tilewright.hlo.tiling.expr import Expr, Var
from tilewright.hlo.tiling.indexing_map import REDUCED, WHOLE, IndexingMap, RangeVar, compose, identity, make_map
from tilewright.hlo.tiling.matching_tiles import mismatch
from tilewright.hlo.tiling.op_maps import CannotTile, leaf_shape, operand_leaf, operand_maps
from tilewright.hlo.tiling.region import Region, RegionOutput, RuntimeValue, TiledInstruction, TiledRegion, TilingAxis
from tilewright.hlo.tiling.symbolic_tile import ConcreteTile, SymbolicTile, TileConstraint, symbolic_tile

MAX_NODES = 4000
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


@dataclass(frozen=True, eq=False)
class TileAnalysis:
  """Symbolic tiles of everything the roots need. `nodes` have operands before users."""

  region: Region
  main: int  # which output gives the parallel axes
  nodes: tuple[SymbolicNode, ...]
  roots: tuple[int, ...]  # in nodes, one per output
  loops: tuple[tuple[Loop, int], ...]  # reduced indices and their sizes
  constraints: tuple[tuple[Instruction, TileConstraint], ...]
  # Tiles that were asked for before, by node and by the sizes that the node depends on: a search asks often.
  _known: dict[tuple[object, ...], ConcreteTile | CannotTile] = field(default_factory=dict, repr=False)

  @property
  def dims(self) -> tuple[int, ...]:
    return self.region.roots[self.main].shape.dimensions

  def tiles_of(self, instruction: Instruction) -> list[SymbolicTile]:
    return [node.tile for node in self.nodes if node.instruction is instruction]

  def tiled(
    self, tile_sizes: Sequence[int] | None = None, loop_sizes: Mapping[Loop, int] | None = None
  ) -> TiledRegion | CannotTile:
    """For tile sizes of the main root and, where a reduced index is not to be taken whole, of steps along it."""
    return _tiled(self, tile_sizes, loop_sizes or {})

  def __str__(self) -> str:
    lines = []
    for node in self.nodes:
      lines.append(f"%{node.instruction.name} = {node.instruction.shape.without_layout()} {node.instruction.opcode}")
      lines.append(f"  map  {node.map}")
      lines += [f"  tile {line}" for line in str(node.tile).splitlines()]
    lines += [f"%{instruction.name} requires {constraint}" for instruction, constraint in self.constraints]
    return "\n".join(lines)


def as_region(computation: Computation, roots: Sequence[Instruction] | None = None) -> Region:
  """A computation as a region of its own: its parameters are inputs, its root (or the parts of a root tuple) outputs."""
  if roots is None:
    root = computation.root
    roots = root.operands if root.opcode == "tuple" else (root,)
  outputs = tuple(RegionOutput(root, (), root) for root in roots)
  members = tuple(i for i in computation.topological_order() if i.opcode != "parameter")
  return Region(computation, members, computation.parameters, outputs, computation)


def tile_analysis(of: Computation | Region, roots: Sequence[Instruction] | None = None) -> TileAnalysis | CannotTile:
  """Symbolic tiles of a computation relative to its roots, or why there are none."""
  region = as_region(of, roots) if isinstance(of, Computation) else of
  outputs = region.roots
  if not outputs:
    return CannotTile("there is no output")
  order = sorted(range(len(outputs)), key=lambda k: (-outputs[k].shape.rank, -outputs[k].shape.num_elements, k))
  reason: CannotTile | None = None
  for main in order:
    found = _analysis(region, main)
    if isinstance(found, TileAnalysis):
      return found
    reason = found if reason is None else reason
  assert reason is not None
  return reason


def _analysis(region: Region, main: int) -> TileAnalysis | CannotTile:
  outputs = region.roots
  walk = _Walk()
  start = identity(outputs[main].shape.dimensions)
  first = walk.visit(outputs[main], 0, start)
  if isinstance(first, CannotTile):
    return first
  roots = []
  for k, root in enumerate(outputs):
    at = start if k == main else _aligned(root, walk, start)
    node = walk.visit(root, 0, at)
    if isinstance(node, CannotTile):
      return node
    roots.append(node)
  loops: dict[Loop, int] = {}
  constraints: dict[tuple[Instruction, TileConstraint], None] = {}
  for seen in walk.nodes:
    for r in seen.map.ranges:
      if r.kind == REDUCED and r.instruction is not None:
        loops[r.instruction, r.number] = r.size
    for constraint in seen.tile.constraints:
      constraints[seen.instruction, constraint] = None
  return TileAnalysis(region, main, tuple(walk.nodes), tuple(roots), tuple(loops.items()), tuple(constraints))


@dataclass
class _Walk:
  nodes: list[SymbolicNode] = field(default_factory=list)
  known: dict[tuple[Instruction, int, IndexingMap], int] = field(default_factory=dict)
  maps: dict[tuple[Instruction, int], tuple[tuple[IndexingMap, ...], ...]] = field(default_factory=dict)

  def visit(self, root: Instruction, leaf: int, at: IndexingMap) -> int | CannotTile:
    """Depth first with a stack of its own: programs are deeper than Python's."""
    stack: list[tuple[Instruction, int, IndexingMap, list[tuple[Instruction, int, IndexingMap]] | None]]
    stack = [(root, leaf, at, None)]
    while stack:
      instruction, number, m, needs = stack.pop()
      key = (instruction, number, m)
      if key in self.known:
        continue
      if needs is None:
        wanted = self._needs(instruction, number, m)
        if isinstance(wanted, CannotTile):
          return wanted
        stack.append((instruction, number, m, wanted))
        # The last operand comes first: the indices of a gather before what they look up.
        stack += [(*need, None) for need in wanted if need not in self.known]
        continue
      tile = symbolic_tile(m, leaf_shape(instruction, number).dimensions)
      if isinstance(tile, CannotTile):
        return CannotTile(tile.reason, instruction)
      if len(self.nodes) >= MAX_NODES:
        return CannotTile(f"there are more than {MAX_NODES} tiles", instruction)
      operands = tuple(self.known[need] for need in needs)
      self.known[key] = len(self.nodes)
      self.nodes.append(SymbolicNode(instruction, number, tile, operands))
    return self.known[root, leaf, at]

  def _needs(
    self, instruction: Instruction, leaf: int, m: IndexingMap
  ) -> list[tuple[Instruction, int, IndexingMap]] | CannotTile:
    key = (instruction, leaf)
    if key not in self.maps:
      found = operand_maps(instruction, leaf)
      if isinstance(found, CannotTile):
        return found
      self.maps[key] = found
    needs = []
    for operand, inner in zip(instruction.operands, self.maps[key]):
      needs += [(operand, operand_leaf(instruction, operand, leaf), compose(m, one)) for one in inner]
    return needs


# Several roots.


def _aligned(root: Instruction, walk: _Walk, start: IndexingMap) -> IndexingMap:
  """How another root's indices follow from the main root's."""
  for node in walk.nodes:
    if node.instruction is root and _covers(node.map, root.shape.dimensions):
      return node.map
  if root.shape.dimensions == start.dims:
    return start
  shared = {(node.instruction, node.leaf): node.map for node in reversed(walk.nodes) if not node.map.ranges}
  own = _Walk()
  found: dict[int, Expr] = {}
  if not isinstance(own.visit(root, 0, identity(root.shape.dimensions)), CannotTile):
    for node in own.nodes:
      other = shared.get((node.instruction, node.leaf))
      if other is None or node.instruction.opcode == "constant":
        continue
      for mine, theirs in zip(node.map.results, other.results):
        index, given = mine.as_var, theirs.as_var
        if index is None or given is None or index.kind != "d" or given.kind != "d" or index.index in found:
          continue
        if root.shape.dimensions[index.index] == start.dims[given.index] and theirs not in found.values():
          found[index.index] = theirs
  results: list[Expr] = []
  whole: list[RangeVar] = []
  for i, n in enumerate(root.shape.dimensions):
    if i in found:
      results.append(found[i])
    elif n == 1:
      results.append(expr.ZERO)
    else:
      results.append(expr.var("s", len(whole)))
      whole.append(RangeVar(n, root, i, WHOLE))
  return make_map(start.dims, results, whole)


def _covers(m: IndexingMap, dims: Sequence[int]) -> bool:
  """Whether the tiles of all grid points together are the whole array: each element is the image of some index."""
  if m.ranges or m.runtime or m.constraints:
    return False
  variables: set[Var] = set()
  for e, n in zip(m.results, dims):
    if expr.interval(e, m.domain) != (0, n - 1):
      return False
    used = e.variables()
    if e.as_var is None and n > 1 and (used & variables or _points(m, used) != n):
      return False
    if used & variables:
      return False
    variables |= used
  return True


def _points(m: IndexingMap, variables: frozenset[Var]) -> int:
  count = 1
  for v in variables:
    count *= m.dims[v.index]
  return count


# Concrete tiles.


def _tiled(
  analysis: TileAnalysis, tile_sizes: Sequence[int] | None, loop_sizes: Mapping[Loop, int]
) -> TiledRegion | CannotTile:
  dims = analysis.dims
  sizes = tuple(dims if tile_sizes is None else tile_sizes)
  if len(sizes) != len(dims):
    return CannotTile(f"the output has {len(dims)} dimensions and the tile {len(sizes)}")
  if any(t < 1 for t in (*sizes, *loop_sizes.values())):
    return CannotTile(f"tile sizes {sizes} are not all positive")
  sizes = tuple(min(t, n) for t, n in zip(sizes, dims))
  main = analysis.region.roots[analysis.main]
  axes = [TilingAxis("parallel", n, t, main, i) for i, (n, t) in enumerate(zip(dims, sizes))]
  axis_of: dict[Loop, int] = {}
  for (instruction, number), n in analysis.loops:
    axis_of[instruction, number] = len(axes)
    axes.append(TilingAxis("loop", n, min(loop_sizes.get((instruction, number), n), n), instruction, number))
  base = {Var("t", i): t for i, t in enumerate(sizes)}
  found: list[TiledInstruction] = []
  maps: list[IndexingMap] = []
  known: dict[tuple[object, ...], int] = {}
  place: list[int] = []
  for number, node in enumerate(analysis.nodes):
    m = node.map
    names = _axis_names(m, axis_of)
    steps = {Var("u", j): axes[names[j]].tile for j in range(len(m.ranges)) if names[j] is not None}  # type: ignore[index]
    asked = (number, tuple(sizes[i] for i in node.tile.depends_on), tuple(steps.values()))
    if asked not in analysis._known:
      analysis._known[asked] = node.tile.at(base | steps)
    concrete = analysis._known[asked]
    if isinstance(concrete, CannotTile):
      return CannotTile(concrete.reason, node.instruction)
    renamed = _renamed(node, concrete, names, found, maps)
    if isinstance(renamed, CannotTile):
      return renamed
    offsets, pointwise, runtime = renamed
    operands = tuple(place[k] for k in node.operands)
    leaf = (
      node.leaf if node.instruction.opcode in ("tuple", "opt-barrier") else 0
    )  # a variadic reduce makes all at once
    key = (node.instruction, leaf, offsets, concrete.sizes, concrete.strides, node.tile.bounds, pointwise, runtime)
    if key not in known:
      wrong = mismatch(node.instruction, concrete.sizes, [found[k] for k in operands])
      if wrong is not None:
        return CannotTile(wrong, node.instruction)
      known[key] = len(found)
      own = tuple(a for (instruction, _), a in axis_of.items() if instruction is node.instruction)
      found.append(
        TiledInstruction(
          node.instruction,
          concrete.sizes,
          concrete.strides,
          offsets,
          node.tile.bounds,
          operands,
          own,
          pointwise,
          runtime,
          concrete.exact,
        )
      )
      maps.append(m)
    place.append(known[key])
  return TiledRegion(analysis.region, tuple(axes), tuple(found), tuple(place[k] for k in analysis.roots))


def _axis_names(m: IndexingMap, axis_of: Mapping[Loop, int]) -> list[int | None]:
  """The axis of each range variable; None where it is always whole."""
  return [
    axis_of.get((r.instruction, r.number)) if r.kind == REDUCED and r.instruction is not None else None
    for r in m.ranges
  ]


def _renamed(
  node: SymbolicNode,
  concrete: ConcreteTile,
  names: Sequence[int | None],
  found: Sequence[TiledInstruction],
  maps: Sequence[IndexingMap],
) -> tuple[tuple[Expr, ...], tuple[int, ...], tuple[RuntimeValue, ...]] | CannotTile:
  """Offsets in the variables of axes instead of those of one map."""
  m = node.map
  values: dict[Var, Expr] = {}
  for j, axis in enumerate(names):
    if axis is not None:
      values[Var("p", j)], values[Var("s", j)] = expr.var("o", axis), expr.var("d", axis)
  pointwise = []
  for v in concrete.pointwise:
    axis = v.index if v.kind == "d" else names[v.index]
    if axis is None:
      return CannotTile("a place is looked up for each position in a window", node.instruction)
    pointwise.append(axis)
  used = {v.index for e in concrete.offsets for v in e.variables() if v.kind == "r"}
  if not used:
    return tuple(_put(e, values) for e in concrete.offsets), (), ()
  runtime = []
  single = {
    v: expr.var("o", v.index) if v.kind == "d" else expr.var("p", v.index)
    for v in node.tile.pointwise
    if v not in concrete.pointwise
  }
  for r in m.runtime:
    at = tuple(_put(_put(e, single), values) for e in r.at)
    source = _source(r.instruction, r.at, found, maps)
    if source is None:
      return CannotTile(f"the index %{r.instruction.name} is not computed along with it", node.instruction)
    runtime.append(RuntimeValue(source, at, r.bounds))
  return tuple(_put(e, values) for e in concrete.offsets), tuple(pointwise), tuple(runtime)


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

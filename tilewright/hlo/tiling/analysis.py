"""The tiles of a whole computation, relative to its roots.

`tile_analysis` walks from the roots to the operands and composes indexing maps, so that each instruction has its map
from the indices of the main root, and from the map a symbolic tile. An instruction that is used in several ways has
several:

    softmax:  %e = exp(x - max(x))  at (d0, d1), for the quotient, and at (d0)[s0] -> (d0, s0), for the sum

For concrete tile sizes the two are often the same tile (here: if t1 is the whole row), and `TileAnalysis.tiled` makes
them one. The axes of a `TiledRegion` are the indices of the main root and the reduced indices that the maps name.

Several roots share one grid. The main one gives its indices. Another root is tiled along with it if it is an operand
of the main root that is wholly covered, or if its indices correspond to the main root's through a common
ancestor; an index that corresponds to none is taken whole.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.tiling import expr
from tilewright.hlo.tiling.expr import Expr, Var
from tilewright.hlo.tiling.indexing_map import REDUCED, WHOLE, IndexingMap, RangeVar, compose, identity, make_map
from tilewright.hlo.tiling.op_maps import CannotTile, leaf_shape, operand_leaf, operand_maps
from tilewright.hlo.tiling.region import Region, RegionOutput, TiledRegion
from tilewright.hlo.tiling.symbolic_tile import SymbolicTile, TileConstraint, symbolic_tile
from tilewright.hlo.tiling.tiler import Loop, SymbolicNode, Tiler

MAX_NODES = 4000
_MAX_MAINS = 3  # outputs that are tried as the one that gives the grid


@dataclass(frozen=True, eq=False)
class TileAnalysis:
  """Symbolic tiles of everything the roots need. `nodes` have operands before users."""

  region: Region
  main: int  # which output gives the parallel axes
  nodes: tuple[SymbolicNode, ...]
  roots: tuple[int, ...]  # in nodes, one per output
  loops: tuple[tuple[Loop, int], ...]  # reduced indices and their sizes
  constraints: tuple[tuple[Instruction, TileConstraint], ...]

  @property
  def dims(self) -> tuple[int, ...]:
    return self.region.roots[self.main].shape.dimensions

  def tiles_of(self, instruction: Instruction) -> list[SymbolicTile]:
    return [node.tile for node in self.nodes if node.instruction is instruction]

  def tiled(
    self, tile_sizes: Sequence[int] | None = None, loop_sizes: Mapping[Loop, int] | None = None
  ) -> TiledRegion | CannotTile:
    """For tile sizes of the main root and, where a reduced index is not to be taken whole, of steps along it."""
    return self._tiler.tiled(tile_sizes, loop_sizes or {})

  @functools.cached_property
  def _tiler(self) -> Tiler:
    return Tiler(self.region, self.main, self.nodes, self.roots, self.loops)

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
  for main in order[:_MAX_MAINS]:
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
  tiles: dict[tuple[IndexingMap, tuple[int, ...]], SymbolicTile | CannotTile] = field(default_factory=dict)

  def visit(self, root: Instruction, leaf: int, at: IndexingMap) -> int | CannotTile:
    """Depth first with an explicit stack: programs are deeper than Python's recursion limit."""
    stack: list[tuple[Instruction, int, IndexingMap, list[tuple[Instruction, int, IndexingMap]] | None]]
    stack = [(root, leaf, at, None)]
    while stack:
      instruction, number, m, needs = stack.pop()
      key = (instruction, number, m)
      if key in self.known:
        continue
      if needs is None:
        wanted = self.needs(instruction, number, m)
        if isinstance(wanted, CannotTile):
          return wanted
        stack.append((instruction, number, m, wanted))
        # The last operand comes first: the indices of a gather before what they look up.
        stack += [(*need, None) for need in wanted if need not in self.known]
        continue
      tile = self._tile(m, leaf_shape(instruction, number).dimensions)
      if isinstance(tile, CannotTile):
        return CannotTile(tile.reason, instruction)
      if len(self.nodes) >= MAX_NODES:
        return CannotTile(f"there are more than {MAX_NODES} tiles", instruction)
      operands = tuple(self.known[need] for need in needs)
      self.known[key] = len(self.nodes)
      self.nodes.append(SymbolicNode(instruction, number, tile, operands))
    return self.known[root, leaf, at]

  def _tile(self, m: IndexingMap, dims: tuple[int, ...]) -> SymbolicTile | CannotTile:
    if (m, dims) not in self.tiles:
      self.tiles[m, dims] = symbolic_tile(m, dims)
    return self.tiles[m, dims]

  def needs(
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
  found = _corresponding(root, walk, start)
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


def _corresponding(root: Instruction, walk: _Walk, start: IndexingMap) -> dict[int, Expr]:
  """The main root's index for each index of another root: both are the same index of a common ancestor.

  Searches from `root` upwards, the nearest instructions first, until each index has one.
  """
  shared = {(node.instruction, node.leaf): node.map for node in reversed(walk.nodes) if not node.map.ranges}
  dims = root.shape.dimensions
  wanted = {i for i, n in enumerate(dims) if n > 1}
  found: dict[int, Expr] = {}
  queue: list[tuple[Instruction, int, IndexingMap]] = [(root, 0, identity(dims))]
  seen: set[tuple[Instruction, int]] = set()
  for instruction, leaf, m in queue:  # grows
    if (instruction, leaf) in seen or wanted <= found.keys():
      continue
    seen.add((instruction, leaf))
    other = shared.get((instruction, leaf))
    if other is not None:
      for mine, theirs in zip(m.results, other.results):
        index, given = mine.as_var, theirs.as_var
        if index is None or given is None or index.kind != "d" or given.kind != "d" or index.index in found:
          continue
        if dims[index.index] == start.dims[given.index] and theirs not in found.values():
          found[index.index] = theirs
    needs = walk.needs(instruction, leaf, m)
    if not isinstance(needs, CannotTile):
      queue += needs
  return found


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

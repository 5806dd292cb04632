"""Tile sizes of a region: which atoms a kernel's grid cuts, and into pieces of what size.

An atom can be cut if no op needs all of it and each output either has it or is a sum over it: sums over cut atoms are computed as
partial sums, one per group of instances, which XLA adds up. Atoms that are not cut are in every tile, so the tile of one *row* (all cut
atoms at one value) must fit the cache; as many rows go into a tile as stay in L1 over the passes that reductions make.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
from collections.abc import Sequence

from tilewright.accelerate.axes import Atom, Axes, elements
from tilewright.accelerate.graph import Graph, Incomplete, Node, Output, Refused
from tilewright.ops.tiling import divisor_near, host_caches

_GROUPS, _GPU_GROUPS = 16, 264  # of instances that add up a sum over cut atoms
_ELEMENTWISE = 8192  # elements of a tile of a kernel without reductions
_GPU_ROW, _GPU_TILE, _GPU_ELEMENTWISE = 16384, 4096, 2048  # elements
MAX_RANK = 5


@dataclasses.dataclass(frozen=True)
class Machine:
  """What tiles are chosen for."""

  platform: str  # "cpu" or "cuda"
  l1: int
  l2: int
  threads: int
  adds_rows: bool = True  # whether kernels add rows up, in parts

  @property
  def is_gpu(self) -> bool:
    return self.platform != "cpu"


@functools.cache
def host() -> Machine:
  caches = host_caches()
  threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
  return Machine("cpu", caches.l1, caches.l2, threads)


def gpu(processors: int, adds_rows: bool = False) -> Machine:
  """`adds_rows` where measurements decide: an instance that adds many rows up, one after another, is not known to be faster than XLA."""
  return Machine("cuda", 64 << 10, 64 << 10, processors, adds_rows)


@dataclasses.dataclass(frozen=True)
class PartialSum:
  """How an output that is a sum over cut atoms is added up: `over` are these atoms."""

  over: tuple[Atom, ...]


@dataclasses.dataclass(frozen=True)
class Tiling:
  """The size of each atom's part in a tile. The grid has the atoms of `grid`; where there are sums, the last is walked in `steps`."""

  sizes: dict[Atom, int]
  grid: tuple[Atom, ...]
  partial_sums: dict[int, PartialSum]  # by the number of the output
  steps: int = 1

  def size(self, atom: Atom) -> int:
    return self.sizes.get(atom, atom.size)

  def count(self, atom: Atom) -> int:
    """How many tiles an atom is cut into."""
    return -(-atom.size // self.size(atom))

  @property
  def instances(self) -> int:
    return math.prod(self.count(a) for a in self.grid)

  def text(self) -> str:
    cut = [f"{self.size(a)} of {a.size}" for a in self.grid]
    return " x ".join(cut) or "all"


def cuttable(graph: Graph, axes: Axes, with_sums: bool = True) -> tuple[list[Atom], dict[int, PartialSum]]:
  """The atoms that may be cut, slowest varying first as in the largest output, and the outputs that are sums."""
  users = graph.users()
  leaving = [o.node for o in graph.outputs] if with_sums else []
  partial_sums: dict[int, tuple[Atom, ...]] = {}
  for number, output in enumerate(graph.outputs):
    node = output.node
    if node.opcode == "reduce" and not users[node] and leaving.count(node) == 1 and node.attrs["kind"] == "sum":
      kept = axes.of(node)
      partial_sums[number] = tuple(a for a in axes.of(node.operands[0]) if a not in kept)
  order = sorted(
    graph.outputs, key=lambda o: -elements((*axes.of(o.node), *partial_sums.get(graph.outputs.index(o), ())))
  )
  found: list[Atom] = []
  for output in order:
    number = graph.outputs.index(output)
    source = output.node.operands[0] if number in partial_sums else output.node
    found += [a for a in axes.of(source) if not a.whole and a not in found]
  shared = [
    a
    for a in found
    if all(a in axes.of(o.node) or a in partial_sums.get(number, ()) for number, o in enumerate(graph.outputs))
  ]
  return shared, {n: PartialSum(tuple(a for a in over if a in shared)) for n, over in partial_sums.items()}


WHOLE = Tiling({}, (), {})  # one tile has all


def choose(graph: Graph, axes: Axes, machine: Machine) -> Tiling:
  """Tile sizes for a region; `Refused` where none fits."""
  atoms, partial_sums = cuttable(graph, axes, with_sums=machine.adds_rows)
  if not atoms:
    raise Incomplete("no dimension can be tiled: each is reduced, or missing in an output")
  row = max(_whole(axes, node, atoms) for node in graph.nodes)
  has_rows = any(n.opcode in ("reduce", "dot") for n in graph.nodes)
  inputs = sum(1 for n in graph.leaves if n.size > 1)
  if machine.is_gpu:
    if row > _GPU_ROW:
      raise Refused(f"a row of {row} elements is too long for one thread block")
    target = max(1, (_GPU_TILE if has_rows else _GPU_ELEMENTWISE) // row)
  else:
    if 4 * row * 2 > machine.l2:
      raise Refused(f"a row of {row} elements does not fit L2")
    passes = 2 if inputs <= 1 else 3
    target = max(1, machine.l1 // passes // (4 * row)) if has_rows else max(1, _ELEMENTWISE // row)
  sizes = _grown(atoms, target, machine)
  _shrink_for_parallelism(atoms, sizes, 1 if machine.is_gpu else 2 * machine.threads)
  grid = [a for a in atoms if sizes[a] < a.size] or [atoms[0]]
  own = {n: PartialSum(tuple(a for a in s.over if a in grid)) for n, s in partial_sums.items()}
  own = {n: s for n, s in own.items() if s.over}
  steps = 1
  if own:
    steps, last = _steps(grid, sizes, own, _GPU_GROUPS if machine.is_gpu else _GROUPS)
    if last is not None:
      grid = [a for a in grid if a is not last] + [last]
  tiling = Tiling({a: s for a, s in sizes.items() if a in grid}, tuple(grid), own, steps)
  for node in graph.nodes:
    if len(tile_shape(axes, tiling, node)) > MAX_RANK:
      raise Refused("a tile has too many dimensions")
  return tiling


def _whole(axes: Axes, node: Node, cut: Sequence[Atom]) -> int:
  return elements(a for a in axes.of(node) if a not in cut)


def _grown(atoms: Sequence[Atom], rows: int, machine: Machine) -> dict[Atom, int]:
  """Sizes whose product is about `rows`, the fastest varying atoms first."""
  sizes = dict.fromkeys(atoms, 1)
  left = rows
  for atom in reversed(atoms):
    if left <= 1:
      break
    if machine.is_gpu:
      sizes[atom] = min(1 << (left.bit_length() - 1), 1 << (atom.size - 1).bit_length() if atom.size > 1 else 1)
      sizes[atom] = min(sizes[atom], atom.size) if atom.size <= left else sizes[atom]
    else:
      sizes[atom] = min(divisor_near(atom.size, left), atom.size)
    left //= sizes[atom]
  return sizes


def _shrink_for_parallelism(atoms: Sequence[Atom], sizes: dict[Atom, int], wanted: int) -> None:
  """Smaller tiles along the slowest atoms, where there are fewer than threads could take."""
  for atom in atoms:
    others = math.prod(-(-a.size // sizes[a]) for a in atoms if a is not atom)
    if others * -(-atom.size // sizes[atom]) >= wanted:
      return
    sizes[atom] = min(sizes[atom], max(1, atom.size * others // wanted))


_CANDIDATES = 256  # tile sizes that are tried for the atom along which parts of sums are added


def _steps(
  grid: Sequence[Atom], sizes: dict[Atom, int], partial_sums: dict[int, PartialSum], groups: int
) -> tuple[int, Atom | None]:
  """How many tiles in a row add to the same part of a sum, along one atom that all sums are over.

  Each part has as many tiles, so the size of a tile, which may be less than was chosen, decides how many parts there can be. 1009 rows are
  127 tiles of 8, which only 127 parts have in equal numbers; or 145 of 7, which are 29 parts of 5. The last tile has fewer rows.
  """
  shared = [a for a in grid if all(a in s.over for s in partial_sums.values())]
  if not shared:
    return 1, None
  atom = shared[-1]
  others = math.prod(-(-a.size // sizes[a]) for a in grid if a is not atom)

  def cost(size: int) -> float:
    count = -(-atom.size // size)
    parts = count * others / _most_steps(count, others, groups)
    return max(1.0, parts / groups) * math.sqrt(sizes[atom] / size) * (1.0 if atom.size % size == 0 else 1.05)

  least = max(1, sizes[atom] // 2)
  tried = range(least, sizes[atom] + 1, 1 + (sizes[atom] - least) // _CANDIDATES)
  near = divisor_near(atom.size, sizes[atom])
  sizes[atom] = min(
    {*tried, sizes[atom], *([near] if near <= sizes[atom] else [])}, key=lambda size: (cost(size), -size)
  )
  return _most_steps(-(-atom.size // sizes[atom]), others, groups), atom


def _most_steps(count: int, others: int, groups: int) -> int:
  """The largest divisor of a number of tiles that leaves enough groups for all threads."""
  wanted = max(1, count * others // groups)
  return next(d for d in range(min(count, wanted), 0, -1) if count % d == 0)


def tile_shape(axes: Axes, tiling: Tiling, node: Node) -> tuple[int, ...]:
  """The shape of a node's tile: its atoms, but those that the grid cuts into single elements."""
  return tuple(tiling.size(a) for a in axes.of(node) if shows(tiling, a))


def shows(tiling: Tiling, atom: Atom) -> bool:
  return not (atom in tiling.sizes and tiling.sizes[atom] == 1)


def partial_sizes(tiling: Tiling, output: int) -> tuple[int, ...]:
  """How many parts of a sum there are, along each atom that it is over."""
  over = tiling.partial_sums[output].over
  return tuple(tiling.count(a) // (tiling.steps if a is tiling.grid[-1] else 1) for a in over)


def moved_bytes(graph: Graph) -> int:
  """What a kernel of a region reads and writes."""
  return sum(n.size * n.dtype.itemsize for n in graph.leaves) + sum(_bytes(o) for o in graph.outputs)


def _bytes(output: Output) -> int:
  return output.node.size * output.node.dtype.itemsize

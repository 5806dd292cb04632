"""Random graphs and tiles: the tiles of the analysis hold what their output tile needs, and nothing else where they say so.

    python -m tests.hlo.tiling.random_tilings --count 5000 --seed 0

A graph is a few random ops of random, mostly odd sizes. For random tile sizes and several places of the grid, the elements of each
instruction that the analysis gives are compared with those that are really needed (`needs`), found by enumeration; and for each
tile, that its operands' tiles hold all that it reads. Then the graph is computed tile by tile (`tile_values`) and compared with the
evaluator, and so is the program that the fusion finder makes of it.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tests.hlo.tiling import needs, tile_values
from tests.hlo.tiling.outline import outline
from tilewright.hlo import Builder, Computation, HloShapeError, Instruction, Shape, evaluate, verify
from tilewright.hlo.cost import Roofline, device
from tilewright.hlo.shape import Layout
from tilewright.hlo.tiling import Budget, CannotTile, TiledInstruction, TiledRegion, find_fusions, tile_analysis
from tilewright.hlo.tiling.expr import Var
from tilewright.hlo.values import ConvDims, PaddingDim, SliceDim, Window, WindowDim

MAX_ELEMENTS = 160
EAGER = Budget(tile_bytes=1 << 30, units=1, recomputation=1e9, min_saving=-1e9)  # everything is worth a kernel
CHEAP_LAUNCH = Roofline(device("cpu").replace(launch=1e-9, memory_bandwidth=1e9))
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12)


@dataclass
class Graph:
  """A computation, and the values of its index parameters."""

  builder: Builder
  rng: random.Random
  pool: list[Instruction] = field(default_factory=list)
  values: dict[Instruction, np.ndarray] = field(default_factory=dict)

  def pick(self, rank: int = 0) -> Instruction:
    """A value of at least this rank, mostly a late one."""
    fit = [v for v in self.pool if v.shape.rank >= rank]
    if not fit or self.rng.random() < 0.15:
      return self.parameter(self.dims(max(rank, self.rng.randint(1, 3))))
    return fit[-1] if self.rng.random() < 0.6 else self.rng.choice(fit)

  def dims(self, rank: int) -> tuple[int, ...]:
    while True:
      found = tuple(self.rng.choice(SIZES) for _ in range(rank))
      if math.prod(found) <= MAX_ELEMENTS:
        return found

  def parameter(self, dims: tuple[int, ...]) -> Instruction:
    return self.builder.parameter("f32", dims)

  def index(self, dims: tuple[int, ...], limit: int) -> Instruction:
    """An index operand, now and then out of bounds."""
    found = self.builder.parameter("s32", dims)
    self.values[found] = np.array([self.rng.randint(-2, limit + 1) for _ in range(math.prod(dims))], np.int32).reshape(
      dims
    )
    return found


def sum_of(count: int = 1) -> Computation:
  b = Builder("sum")
  left = [b.parameter("f32") for _ in range(count)]
  right = [b.parameter("f32") for _ in range(count)]
  sums = [b.add(x, y) for x, y in zip(left, right)]
  return b.finish(sums[0] if count == 1 else b.make_tuple(*sums))


def elementwise(g: Graph) -> Instruction:
  x = g.pick()
  same = [v for v in g.pool if v.shape.dimensions == x.shape.dimensions]
  match g.rng.randint(0, 3):
    case 0:
      return g.builder.unary("negate", x)
    case 1:
      y = g.rng.choice(same or [x])
      return g.builder.select(g.builder.compare(x, y, "LT"), y, x)
    case 2:
      return g.builder.convert(g.builder.convert(x, "bf16"), "f32")
  return g.builder.add(x, g.rng.choice(same or [x]))


def broadcast(g: Graph) -> Instruction:
  x = g.pick()
  rank = x.shape.rank + g.rng.randint(0, 2)
  at = sorted(g.rng.sample(range(rank), x.shape.rank))
  dims = [g.rng.choice(SIZES[:5]) for _ in range(rank)]
  for d, place in enumerate(at):
    dims[place] = x.shape.dimensions[d]
  return g.builder.broadcast(x, tuple(dims), at)


def transpose(g: Graph) -> Instruction:
  x = g.pick()
  return g.builder.transpose(x, g.rng.sample(range(x.shape.rank), x.shape.rank))


def other_dims(g: Graph, total: int) -> tuple[int, ...]:
  """Dimensions with this many elements."""
  dims, left = [], total
  while left > 1 and len(dims) < 3:
    divisors = [d for d in range(2, left + 1) if left % d == 0]
    dims.append(g.rng.choice(divisors))
    left //= dims[-1]
  dims += [left] if left > 1 else []
  if g.rng.random() < 0.2:
    dims.insert(g.rng.randint(0, len(dims)), 1)
  return tuple(dims)


def reshape(g: Graph) -> Instruction:
  x = g.pick()
  return g.builder.reshape(x, other_dims(g, x.shape.num_elements))


def bitcast(g: Graph) -> Instruction:
  """With layouts of both sides at random."""
  x = g.pick()
  order = g.rng.sample(range(x.shape.rank), x.shape.rank)
  copied = g.builder.op("copy", (x,), x.shape.with_layout(Layout(tuple(order))))
  dims = other_dims(g, x.shape.num_elements)
  target = Shape("f32", dims, Layout(tuple(g.rng.sample(range(len(dims)), len(dims)))))
  return g.builder.op("bitcast", (copied,), target)


def slice_(g: Graph) -> Instruction:
  x = g.pick()
  parts = []
  for n in x.shape.dimensions:
    start = g.rng.randint(0, n - 1)
    parts.append(SliceDim(start, g.rng.randint(start + 1, n), g.rng.choice((1, 1, 2, 3))))
  return g.builder.op("slice", (x,), slice=tuple(parts))


def pad(g: Graph) -> Instruction:
  x = g.pick()
  parts = [
    PaddingDim(g.rng.randint(-1, 3), g.rng.randint(-1, 3), g.rng.choice((0, 0, 0, 1, 2))) for _ in x.shape.dimensions
  ]
  return g.builder.op("pad", (x, g.builder.constant(np.float32(0))), padding=tuple(parts))


def concatenate(g: Graph) -> Instruction:
  x = g.pick(1)
  axis = g.rng.randrange(x.shape.rank)
  more = []
  for _ in range(g.rng.randint(1, 2)):
    fit = [
      v
      for v in g.pool
      if v.shape.rank == x.shape.rank
      and all(d == axis or m == n for d, (m, n) in enumerate(zip(v.shape.dimensions, x.shape.dimensions)))
    ]
    sizes = tuple(g.rng.choice(SIZES[:5]) if d == axis else n for d, n in enumerate(x.shape.dimensions))
    more.append(g.rng.choice(fit) if fit and g.rng.random() < 0.5 else g.parameter(sizes))
  return g.builder.op("concatenate", (x, *more), dimensions=(axis,))


def reverse(g: Graph) -> Instruction:
  x = g.pick(1)
  return g.builder.op(
    "reverse", (x,), dimensions=tuple(sorted(g.rng.sample(range(x.shape.rank), g.rng.randint(1, x.shape.rank))))
  )


def reduce(g: Graph) -> Instruction:
  x = g.pick(1)
  dims = tuple(sorted(g.rng.sample(range(x.shape.rank), g.rng.randint(1, x.shape.rank))))
  zero = g.builder.constant(np.float32(0))
  if g.rng.random() < 0.3:
    y = g.builder.unary("negate", x)
    both = g.builder.op("reduce", (x, y, zero, zero), dimensions=dims, to_apply=sum_of(2))
    return g.builder.element(both, g.rng.randint(0, 1))
  return g.builder.reduce(x, zero, dims, sum_of())


def window_dim(g: Graph, size: int, dilations: bool = True) -> WindowDim:
  return WindowDim(
    min(g.rng.choice((1, 2, 3)), size),
    g.rng.choice((1, 1, 2, 3)),
    g.rng.randint(0, 2),
    g.rng.randint(0, 2),
    g.rng.choice((1, 1, 2)) if dilations else 1,
    g.rng.choice((1, 1, 1, 2)) if dilations else 1,
  )


def reduce_window(g: Graph) -> Instruction:
  x = g.pick(1)
  window = Window(tuple(window_dim(g, n) for n in x.shape.dimensions))
  return g.builder.op("reduce-window", (x, g.builder.constant(np.float32(0))), window=window, to_apply=sum_of())


def dot(g: Graph) -> Instruction:
  x = g.pick(1)
  places = g.rng.sample(range(x.shape.rank), x.shape.rank)
  contracted = places[: g.rng.randint(1, min(2, len(places)))]
  batch = [d for d in places[len(contracted) :] if g.rng.random() < 0.4]
  free = [g.rng.choice(SIZES[:6]) for _ in range(g.rng.randint(0, 1))]
  mine = (
    [("b", i) for i in range(len(batch))]
    + [("k", i) for i in range(len(contracted))]
    + [("f", i) for i in range(len(free))]
  )
  g.rng.shuffle(mine)
  sizes = {"b": [x.shape.dimensions[d] for d in batch], "k": [x.shape.dimensions[d] for d in contracted], "f": free}
  y = g.parameter(tuple(sizes[kind][i] for kind, i in mine))
  return g.builder.dot(
    x,
    y,
    contracting=(contracted, [mine.index(("k", i)) for i in range(len(contracted))]),
    batch=(batch, [mine.index(("b", i)) for i in range(len(batch))]),
  )


def convolution(g: Graph) -> Instruction:
  spatial = g.rng.randint(1, 2)
  groups = g.rng.choice((1, 1, 2, 3))
  batch_groups = g.rng.choice((1, 2)) if groups == 1 else 1
  channels, features = g.rng.randint(1, 2), g.rng.randint(1, 2) * groups * batch_groups
  batch = g.rng.randint(1, 2) * batch_groups
  roles = g.rng.sample(range(spatial + 2), spatial + 2)
  kernel_roles = g.rng.sample(range(spatial + 2), spatial + 2)
  out_roles = g.rng.sample(range(spatial + 2), spatial + 2)
  labels = ConvDims(
    roles[0], roles[1], tuple(roles[2:]), kernel_roles[0], kernel_roles[1], tuple(kernel_roles[2:]), out_roles[0],
    out_roles[1], tuple(out_roles[2:]),
  )  # fmt: skip
  places = [g.rng.randint(2, 5) for _ in range(spatial)]
  dims = [window_dim(g, n) for n in places]
  if g.rng.random() < 0.3:
    dims = [
      WindowDim(w.size, w.stride, w.padding_low, w.padding_high, w.window_dilation, w.base_dilation, True) for w in dims
    ]
  x_dims, k_dims = [0] * (spatial + 2), [0] * (spatial + 2)
  x_dims[labels.input_batch], x_dims[labels.input_feature] = batch, channels * groups
  k_dims[labels.kernel_input_feature], k_dims[labels.kernel_output_feature] = channels, features
  for i in range(spatial):
    x_dims[labels.input_spatial[i]], k_dims[labels.kernel_spatial[i]] = places[i], dims[i].size
  x, k = g.parameter(tuple(x_dims)), g.parameter(tuple(k_dims))
  x = g.builder.unary("negate", x)
  return g.builder.op(
    "convolution", (x, k), window=Window(tuple(dims)), dim_labels=labels, feature_group_count=groups,
    batch_group_count=batch_groups,
  )  # fmt: skip


def dynamic_slice(g: Graph) -> Instruction:
  x = g.pick()
  sizes = [g.rng.randint(1, n) for n in x.shape.dimensions]
  return g.builder.dynamic_slice(x, [g.index((), n) for n in x.shape.dimensions], sizes)


def dynamic_update_slice(g: Graph) -> Instruction:
  x = g.pick()
  update = g.parameter(tuple(g.rng.randint(1, n) for n in x.shape.dimensions))
  update = g.builder.unary("negate", update)
  return g.builder.dynamic_update_slice(x, update, [g.index((), n) for n in x.shape.dimensions])


def gather(g: Graph) -> Instruction:
  x = g.pick(1)
  rank = x.shape.rank
  mapped = g.rng.sample(range(rank), g.rng.randint(1, min(2, rank)))
  batch = [g.rng.choice(SIZES[:5]) for _ in range(g.rng.randint(0, 2))]
  batching = [d for d in range(rank) if d not in mapped and g.rng.random() < 0.2]
  batch += [x.shape.dimensions[d] for d in batching]
  index_batching = [len(batch) - len(batching) + i for i in range(len(batching))]
  collapsed = [d for d in range(rank) if d not in batching and (d in mapped and g.rng.random() < 0.7)]
  sizes = [
    1 if d in collapsed or d in batching else g.rng.randint(1, n) if d in mapped else n
    for d, n in enumerate(x.shape.dimensions)
  ]
  vector = g.rng.randint(0, len(batch))
  indices = g.index((*batch[:vector], len(mapped), *batch[vector:]), max(x.shape.dimensions[d] for d in mapped))
  window = rank - len(collapsed) - len(batching)
  offset_dims = sorted(g.rng.sample(range(window + len(batch)), window))
  kept = [n for d, n in enumerate(sizes) if d not in collapsed and d not in batching]
  where, rest = iter(kept), iter(batch)
  dims = tuple(next(where) if d in offset_dims else next(rest) for d in range(window + len(batch)))
  return g.builder.op(
    "gather",
    (x, indices),
    Shape.array("f32", dims),
    offset_dims=tuple(offset_dims),
    collapsed_slice_dims=tuple(collapsed),
    start_index_map=tuple(mapped),
    operand_batching_dims=tuple(batching),
    start_indices_batching_dims=tuple(i if i < vector else i + 1 for i in index_batching),
    index_vector_dim=vector,
    slice_sizes=tuple(sizes),
  )


def iota(g: Graph) -> Instruction:
  x = g.pick(1)
  return g.builder.add(x, g.builder.iota("f32", x.shape.dimensions, g.rng.randrange(x.shape.rank)))


def fusion(g: Graph) -> Instruction:
  """Something that is read in two ways, in a computation of its own."""
  x = g.pick(1)
  inner = Graph(Builder("fused"), g.rng)
  p = inner.parameter(x.shape.dimensions)
  inner.pool = [p]
  y = inner.builder.op("reverse", (p,), dimensions=(0,))
  inner.pool = [inner.builder.add(p, y)]
  turned = [reverse, transpose, slice_][g.rng.randint(0, 2)]
  inner.rng = random.Random(1)  # what it picks is what is there
  inner.rng.random = lambda: 0.5  # type: ignore[method-assign]
  result = turned(inner)
  computation = inner.builder.finish(result)
  return g.builder.op("fusion", (x,), result.shape, kind="kLoop", calls=computation)


OPS = {
  f.__name__: f
  for f in (
    elementwise, broadcast, transpose, reshape, bitcast, slice_, pad, concatenate, reverse, reduce, reduce_window, dot, convolution,
    dynamic_slice, dynamic_update_slice, gather, iota, fusion,
  )
}  # fmt: skip


def random_graph(rng: random.Random) -> tuple[Graph, list[Instruction]]:
  """A graph and its roots: the last value, now and then others."""
  g = Graph(Builder("main"), rng)
  while len(g.pool) < rng.randint(1, 5):
    try:
      made = OPS[rng.choice(list(OPS))](g)
    except HloShapeError:  # padding that leaves less than nothing, a window larger than its array
      continue
    if 0 < made.shape.num_elements <= MAX_ELEMENTS:
      g.pool.append(made)
  roots = [g.pool[-1]]
  if rng.random() < 0.3:
    roots += [v for v in g.pool[:-1] if rng.random() < 0.4]
  g.builder.finish(roots[0] if len(roots) == 1 else g.builder.make_tuple(*roots))
  return g, roots


# Checking.


def random_tile(rng: random.Random, n: int) -> int:
  choices = [1, n, rng.randint(1, n), rng.choice([d for d in range(1, n + 1) if n % d == 0])]
  return rng.choice(choices)


def held(
  tiled: TiledInstruction, region: TiledRegion, offsets: dict[int, int], values: dict[Instruction, np.ndarray]
) -> np.ndarray:
  """The elements of a tile at one point of the grid (and one step of each loop), as a mask over the array."""
  dims = tiled.instruction.shape.dimensions
  mask = np.zeros(dims, bool)
  spans = []
  for axis in tiled.pointwise:
    whole = region.axes[axis]
    spans.append(range(offsets[axis], min(offsets[axis] + whole.tile, whole.size)))
  for point in itertools.product(*spans):
    env = {Var("o", i): o for i, o in offsets.items()} | {Var("d", a): v for a, v in zip(tiled.pointwise, point)}
    for i, r in enumerate(tiled.runtime):
      array = values[region.instructions[r.operand].instruction]
      at = tuple(e.evaluate(env) for e in r.at)
      if not all(0 <= i < n for i, n in zip(at, array.shape)):
        break  # behind the edge
      env[Var("r", i)] = min(max(int(array[at]), r.bounds[0]), r.bounds[1])
    else:
      index = []
      for e, size, stride, (low, high) in zip(tiled.offsets, tiled.sizes, tiled.strides, tiled.bounds):
        run = e.evaluate(env) + stride * np.arange(size)
        index.append(run[(run >= low) & (run <= high)])
      if dims:
        mask[np.ix_(*index)] = True
      else:
        mask[()] = True
  return mask


def grid_points(region: TiledRegion, rng: random.Random, most: int) -> list[tuple[int, ...]]:
  points = list(itertools.product(*(range(n) for n in region.grid)))
  return points if len(points) <= most else rng.sample(points, most)


def loop_steps(region: TiledRegion) -> Iterator[dict[int, int]]:
  loops = [i for i, a in enumerate(region.axes) if a.kind == "loop"]
  for steps in itertools.product(*(range(region.axes[i].steps) for i in loops)):
    yield {i: k * region.axes[i].tile for i, k in zip(loops, steps)}


def check(seed: int) -> str:
  """`tiled` or why not; an AssertionError says what is wrong."""
  rng = random.Random(seed)
  g, roots = random_graph(rng)
  computation = g.builder.computation
  analysis = tile_analysis(computation)
  if isinstance(analysis, CannotTile):
    return "cannot"
  dims = analysis.dims
  sizes = [random_tile(rng, n) for n in dims]
  loops = {loop: random_tile(rng, n) for loop, n in analysis.loops if rng.random() < 0.2}
  region = analysis.tiled(sizes, loops)
  if isinstance(region, CannotTile):
    region = analysis.tiled([1] * len(dims))
    if isinstance(region, CannotTile):
      return "not even single elements"
    outcome = "single elements"
  else:
    outcome = "tiled"
  if math.prod(a.steps for a in region.axes if a.kind == "loop") > 64:
    return "long loop"
  really = needs.all_needs(computation, g.values)
  masked = partly_needed(computation)
  covered = [np.zeros(root.shape.dimensions, bool) for root in roots]
  points = grid_points(region, rng, 6)
  everything = len(points) == math.prod(region.grid)
  for point in points:
    offsets = {i: k * a.tile for i, (k, a) in enumerate(zip(point, region.axes))}
    masks = [[held(t, region, offsets | steps, g.values) for t in region.instructions] for steps in loop_steps(region)]
    for k, place in enumerate(region.roots):
      covered[k] |= masks[0][place]
    found: dict[Instruction, np.ndarray] = {}
    exact: dict[Instruction, bool] = {}
    for place, t in enumerate(region.instructions):
      union = np.logical_or.reduce([step[place] for step in masks])
      found[t.instruction] = found.get(t.instruction, False) | union
      exact[t.instruction] = exact.get(t.instruction, True) and t.exact
    inside = all(
      offsets[i] + a.tile <= a.size if a.kind == "parallel" else a.size % a.tile == 0 for i, a in enumerate(region.axes)
    )
    wanted: dict[Instruction, np.ndarray] = {}
    for instruction, have in found.items():
      if not instruction.shape.is_array:
        continue
      want = np.zeros(instruction.shape.num_elements, bool)
      for place in region.roots:
        root = region.instructions[place].instruction
        want |= really[root][instruction][masks[0][place]].any(0)
      wanted[instruction] = want.reshape(have.shape)
      missing = wanted[instruction] & ~have
      assert not missing.any(), (
        f"{describe(g, sizes)}\n%{instruction.name} at {point}: {np.argwhere(missing)[:4].tolist()} missing"
      )
      more = have & ~wanted[instruction]
      if more.any() and inside and exact[instruction] and instruction not in masked:
        raise AssertionError(
          f"{describe(g, sizes)}\n%{instruction.name} at {point}: {np.argwhere(more)[:4].tolist()} not needed"
        )
    for k, t in enumerate(region.instructions):
      if len(roots) > 1 and t.instruction in masked:
        continue  # a tile for one root may hold elements that only another root needs
      _check_operands(g, t, k, masks[0], wanted, f"{describe(g, sizes)} at {point}")
  if everything:
    for root, whole in zip(roots, covered):
      assert whole.all(), f"{describe(g, sizes)}: %{root.name} is not covered"
  return outcome


def check_values(seed: int) -> str:
  """Computes a random graph tile by tile and compares with the evaluator: `same`, or why that is not possible."""
  rng = random.Random(seed)
  g, roots = random_graph(rng)
  computation = g.builder.computation
  analysis = tile_analysis(computation)
  if isinstance(analysis, CannotTile):
    return "cannot"
  sizes = [random_tile(rng, n) for n in analysis.dims]
  cut = [(loop, n) for loop, n in analysis.loops if loop[0].opcode in ("reduce", "dot") and rng.random() < 0.3]
  region = analysis.tiled(sizes, {loop: random_tile(rng, n) for loop, n in cut})
  if isinstance(region, CannotTile):
    return "cannot"
  numbers = np.random.default_rng(seed)
  inputs = {
    p: g.values[p].astype(float) if p in g.values else numbers.integers(-3, 4, p.shape.dimensions).astype(float)
    for p in computation.parameters
  }
  module = g.builder.module(computation.root, "random")
  arguments = [inputs[p].astype(p.shape.dtype) for p in computation.parameters]
  expected = evaluate(module, *arguments)
  outputs = [np.asarray(e, float) for e in (expected if isinstance(expected, tuple) else (expected,))]
  found = [np.full(o.shape, np.nan) for o in outputs]
  for point in itertools.product(*(range(n) for n in region.grid)):
    env = {Var("o", i): k * a.tile for i, (k, a) in enumerate(zip(point, region.axes))}
    env |= {Var("o", i): 0 for i, a in enumerate(region.axes) if a.kind == "loop"}
    runner = tile_values.Runner(region, inputs)
    for k, place in enumerate(region.roots):
      try:
        tile = runner.tile(place, env)
      except tile_values.Unsupported:
        return "not run"
      inside = [np.flatnonzero(i) for i in tile.inside]
      if found[k].ndim:
        found[k][np.ix_(*(run[i] for run, i in zip(tile.at, inside)))] = tile.values[np.ix_(*inside)]
      else:
        found[k][()] = tile.values
  for root, have, want in zip(roots, found, outputs):
    np.testing.assert_array_equal(have, want, err_msg=f"{describe(g, sizes)} at %{root.name}")
  return "same"


def check_fusions(seed: int) -> str:
  """Everything that can be joined is, and the program with the regions as calls computes what it did."""
  g, _ = random_graph(random.Random(seed))
  module = g.builder.module(g.builder.computation.root, "random")
  numbers = np.random.default_rng(seed)
  arguments = [
    g.values[p] if p in g.values else numbers.integers(-3, 4, p.shape.dimensions).astype(p.shape.dtype)
    for p in module.entry.parameters
  ]
  before = evaluate(module, *arguments)
  fusions = find_fusions(module, CHEAP_LAUNCH, EAGER)
  outline(fusions)
  verify(module)
  after = evaluate(module, *arguments)
  for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (before, after)), strict=True):
    np.testing.assert_array_equal(a, b, err_msg=module.to_text())
  return "joined" if any(len(f.region.members) > 1 for f in fusions) else "alone" if fusions else "nothing"


def partly_needed(computation: Computation) -> set[Instruction]:
  """What stands above a masked operand (pad, concatenate, a window, an update): which part is needed depends on the place."""
  found: set[Instruction] = set()
  for i in reversed(computation.topological_order()):
    if i in found or i.opcode in ("pad", "concatenate", "dynamic-update-slice", "reduce-window", "convolution"):
      found.update(i.operands)
  return found


def _check_operands(
  g: Graph,
  t: TiledInstruction,
  place: int,
  masks: list[np.ndarray],
  wanted: dict[Instruction, np.ndarray],
  where: str,
) -> None:
  """The operands' tiles hold what the needed elements of this tile read of them, in the first step of loops upstream of it."""
  instruction = t.instruction
  if not t.operands or t.loops or not instruction.shape.is_array or len(t.operands) != len(instruction.operands):
    return
  if any(not o.shape.is_array for o in instruction.operands):
    return
  for k, (operand, at) in enumerate(zip(instruction.operands, t.operands)):
    n = operand.shape.num_elements
    bits = [[np.zeros((*o.shape.dimensions, n), bool)] for o in instruction.operands]
    bits[k] = [needs.own(operand)]
    reads = needs.step(instruction, bits, g.values)[0][masks[place] & wanted[instruction]].any(0)
    missing = reads.reshape(operand.shape.dimensions) & ~masks[at]
    if missing.any():
      raise AssertionError(
        f"{where}\n%{instruction.name} reads {np.argwhere(missing)[:4].tolist()} of %{operand.name}, outside its tile"
      )


def describe(g: Graph, sizes: list[int]) -> str:
  return f"{g.builder.computation.to_text()}\ntile {sizes}"


def main(arguments: list[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--count", type=int, default=1000)
  parser.add_argument("--seed", type=int, default=0)
  given = parser.parse_args(arguments)
  outcomes: Counter[str] = Counter()
  computed: Counter[str] = Counter()
  joined: Counter[str] = Counter()
  failed = 0
  for i in range(given.count):
    seed = given.seed * 1_000_003 + i
    try:
      outcomes[check(seed)] += 1
      computed[check_values(seed)] += 1
      joined[check_fusions(seed)] += 1
    except AssertionError as error:
      failed += 1
      print(f"seed {seed}: {error}", flush=True)
      if failed > 5:
        break
    except Exception:
      print(f"seed {seed}", flush=True)
      raise
  print(
    f"{sum(outcomes.values())} checked, {failed} wrong: {dict(outcomes)}; tile by tile: {dict(computed)}; fusions: {dict(joined)}"
  )
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())

"""A tiled region, run tile by tile in NumPy: the values must be those of the whole program.

Ops are applied to tiles as code generation would: a reshape reshapes the tile, a slice, a reverse and a dynamic-slice
do nothing (offset and stride of their operand's tile did it), a reduce reduces the tile. Elements outside of a tile's
bounds are NaN, so that a result that depends on one shows. Masked ops (pads, concatenations, windows, convolutions,
updates) and gathers look their elements up by position.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from tilewright.hlo.ir import Instruction
from tilewright.hlo.tiling import TiledInstruction, TiledRegion
from tilewright.hlo.tiling.expr import Var

Values = dict[Instruction, np.ndarray]


class Unsupported(Exception):
  """Not run tile by tile here: fusions that were not opened."""


class Tile:
  """The values of one tile, and where they stand along each dimension of the array."""

  def __init__(self, tiled: TiledInstruction, at: list[np.ndarray]) -> None:
    self.tiled, self.at = tiled, at
    self.inside = [(run >= low) & (run <= high) for run, (low, high) in zip(at, tiled.bounds)]
    self.values = np.zeros(tiled.sizes)
    self.parts: list[np.ndarray] = []  # of a tuple

  def read(self, array: np.ndarray) -> None:
    self.values = np.full(self.tiled.sizes, np.nan)
    inside = np.ix_(*(np.flatnonzero(i) for i in self.inside))
    self.values[inside] = array[np.ix_(*(run[i] for run, i in zip(self.at, self.inside)))] if self.at else array

  def look_up(self, index: tuple[int, ...]) -> float:
    """The value at an index of the array; NaN if that is not in the tile, which may be where the reader is not needed itself."""
    place = []
    for run, i in zip(self.at, index):
      found = np.flatnonzero(run == i)
      if not len(found):
        return math.nan
      place.append(found[0])
    return float(self.values[tuple(place)])


class Boxes:
  """A pointwise tile: one box per point. What is looked up is in one of them."""

  def __init__(self, boxes: list[Tile]) -> None:
    self.boxes, self.values = boxes, np.zeros(())

  def look_up(self, index: tuple[int, ...]) -> float:
    for box in self.boxes:
      if all(i in run for run, i in zip(box.at, index)):
        value = box.look_up(index)
        if not np.isnan(value):
          return value
    return math.nan


Env = dict[Var, int]


class Runner:
  """Computes tiles on demand. An environment has the offsets of the axes and, within a pointwise tile, the point."""

  def __init__(self, region: TiledRegion, inputs: Values) -> None:
    self.region, self.inputs = region, inputs
    self.known: dict[tuple[int, frozenset[tuple[Var, int]]], Tile] = {}

  def tile(self, k: int, env: Env) -> Tile:
    key = (k, frozenset(env.items()))
    if key not in self.known:
      self.known[key] = self._compute(k, env)
    return self.known[key]

  def _positions(self, tiled: TiledInstruction, env: Env) -> list[np.ndarray]:
    env = dict(env)
    for i, r in enumerate(tiled.runtime):
      array = self.inputs[self.region.instructions[r.operand].instruction]
      at = tuple(min(max(int(e.evaluate(env)), 0), n - 1) for e, n in zip(r.at, array.shape))
      env[Var("r", i)] = min(max(int(array[at]), r.bounds[0]), r.bounds[1])
    return [e.evaluate(env) + stride * np.arange(n) for e, n, stride in zip(tiled.offsets, tiled.sizes, tiled.strides)]

  def _operand(self, k: int, env: Env) -> Tile | Boxes:
    """The tile, or all boxes of it where the environment has no point for it yet."""
    missing = [a for a in self.region.instructions[k].pointwise if Var("d", a) not in env]
    if not missing:
      return self.tile(k, env)
    spans = []
    for a in missing:
      axis = self.region.axes[a]
      spans.append(range(env[Var("o", a)], min(env[Var("o", a)] + axis.tile, axis.size)))
    points = itertools.product(*spans)
    return Boxes([self.tile(k, env | {Var("d", a): i for a, i in zip(missing, point)}) for point in points])

  def _compute(self, k: int, env: Env) -> Tile:
    tiled = self.region.instructions[k]
    tile = Tile(tiled, self._positions(tiled, env))
    if tiled.instruction.opcode == "fusion":
      raise Unsupported
    if tiled.instruction.opcode in ("reduce", "dot"):
      return self._accumulated(tile, env)
    compute(tile, [self._operand(o, env) for o in tiled.operands], self.inputs)
    return tile

  def _accumulated(self, tile: Tile, env: Env) -> Tile:
    """A reduce or dot, step by step along its loops; what lies behind the end of a loop counts nothing."""
    i, axes = tile.tiled.instruction, tile.tiled.loops
    total: list[np.ndarray] | None = None
    for steps in itertools.product(*(range(self.region.axes[a].steps) for a in axes)):
      here = env | {Var("o", a): n * self.region.axes[a].tile for a, n in zip(axes, steps)}
      operands = [self._operand(o, here) for o in tile.tiled.operands]
      arrays = [o.values for o in operands]
      for a in axes:
        axis = self.region.axes[a]
        kept = max(0, min(axis.tile, axis.size - here[Var("o", a)]))
        for side, (array, _) in enumerate(zip(arrays, i.operands)):
          d = _reduced_dimension(i, side, axis.dimension)
          if d is not None and array.ndim and array.shape[d] > kept:
            arrays[side] = np.take(array, range(kept), d)
      parts = reduced(i, arrays)
      total = parts if total is None else [x + y for x, y in zip(total, parts)]
    assert total is not None
    tile.parts, tile.values = total, total[0]
    return tile


def _reduced_dimension(i: Instruction, side: int, number: int) -> int | None:
  """Which dimension of an operand reduced index `number` is."""
  if i.opcode == "reduce":
    return int(i.attrs["dimensions"][number]) if side < len(i.operands) // 2 else None
  return int(i.attrs[("lhs", "rhs")[side] + "_contracting_dims"][number])


def reduced(i: Instruction, arrays: list[np.ndarray]) -> list[np.ndarray]:
  if i.opcode == "dot":
    return [_dot(i, arrays[0], arrays[1])]
  return [array.sum(tuple(i.attrs["dimensions"])) for array in arrays[: len(arrays) // 2]]


def compute(tile: Tile, operands: list[Tile | Boxes], inputs: Values) -> None:
  i, sizes = tile.tiled.instruction, tile.tiled.sizes
  x = operands[0].values if operands else np.zeros(())
  match i.opcode:
    case "parameter":
      tile.read(inputs[i])
    case "constant":
      tile.read(np.asarray(i.literal.to_numpy(), float))
    case "iota":
      tile.values = np.broadcast_to(
        tile.at[i.attrs["iota_dimension"]].reshape(
          [-1 if d == i.attrs["iota_dimension"] else 1 for d in range(len(sizes))]
        ),
        sizes,
      ).astype(float)
    case "negate":
      tile.values = -x
    case "add":
      tile.values = x + operands[1].values
    case "compare":
      tile.values = (x < operands[1].values).astype(float)
    case "select":
      tile.values = np.where(x != 0, operands[1].values, operands[2].values)
    case "convert" | "copy" | "slice" | "reverse" | "dynamic-slice":
      tile.values = x
    case "get-tuple-element":
      whole = operands[0]
      assert isinstance(whole, Tile)
      tile.values = whole.parts[i.attrs["index"]]
    case "broadcast":
      shape = [1] * len(sizes)
      for d, place in enumerate(i.attrs.get("dimensions", ())):
        shape[place] = x.shape[d]
      tile.values = np.broadcast_to(x.reshape(shape), sizes)
    case "transpose":
      tile.values = x.transpose(i.attrs["dimensions"])
    case "reshape":
      tile.values = x.reshape(sizes)
    case "bitcast":
      source, target = i.operands[0].shape.layout, i.shape.layout
      assert source is not None and target is not None
      order = list(reversed(target.minor_to_major))
      flat = x.transpose(list(reversed(source.minor_to_major))).reshape([sizes[d] for d in order])
      tile.values = flat.transpose(np.argsort(order).tolist())
    case _:
      tile.values = np.full(sizes, np.nan)
      for place in np.ndindex(*sizes):
        index = tuple(int(run[k]) for run, k in zip(tile.at, place))
        if all(ok[k] for ok, k in zip(tile.inside, place)):
          tile.values[place] = _element(i, index, operands)
  assert tile.values.shape == tuple(sizes) or i.shape.is_tuple, f"%{i.name}: {tile.values.shape} for a tile of {sizes}"


def _dot(i: Instruction, x: np.ndarray, y: np.ndarray) -> np.ndarray:
  names = iter("abcdefghijklmnopqrstuvw")
  batch = [next(names) for _ in i.attrs.get("lhs_batch_dims", ())]
  contracted = [next(names) for _ in i.attrs["lhs_contracting_dims"]]
  parts, free = [], []
  for side, array in (("lhs", x), ("rhs", y)):
    word = [""] * array.ndim
    for d, n in [
      *zip(i.attrs.get(f"{side}_batch_dims", ()), batch),
      *zip(i.attrs[f"{side}_contracting_dims"], contracted),
    ]:
      word[d] = n
    for d in range(array.ndim):
      if not word[d]:
        word[d] = next(names)
        free.append(word[d])
    parts.append("".join(word))
  return np.einsum(f"{parts[0]},{parts[1]}->{''.join([*batch, *free])}", x, y)


def _element(i: Instruction, index: tuple[int, ...], operands: list[Tile | Boxes]) -> float:
  a, dims = i.attrs, i.operands[0].shape.dimensions
  match i.opcode:
    case "pad":
      source = []
      for k, p, n in zip(index, a["padding"], dims):
        place, rest = divmod(k - p.low, p.interior + 1)
        if rest or not 0 <= place < n:
          return float(operands[1].values)
        source.append(place)
      return operands[0].look_up(tuple(source))
    case "concatenate":
      axis, k = a["dimensions"][0], index[a["dimensions"][0]]
      for operand, o in zip(operands, i.operands):
        if k < o.shape.dimensions[axis]:
          return operand.look_up((*index[:axis], k, *index[axis + 1 :]))
        k -= o.shape.dimensions[axis]
    case "reduce-window":
      total = 0.0
      for inside in np.ndindex(*(w.size for w in a["window"])):
        places = [_seen(k, w, j, n) for k, w, j, n in zip(index, a["window"], inside, dims)]
        if None not in places:
          total += operands[0].look_up(tuple(p for p in places if p is not None))
      return total
    case "convolution":
      return _convolved(i, index, operands)
    case "dynamic-update-slice":
      starts = []
      for k, (n, size) in enumerate(zip(i.shape.dimensions, i.operands[1].shape.dimensions)):
        starts.append(min(max(int(operands[2 + k].values), 0), n - size))
      moved = tuple(k - s for k, s in zip(index, starts))
      if all(0 <= k < n for k, n in zip(moved, i.operands[1].shape.dimensions)):
        return operands[1].look_up(moved)
      return operands[0].look_up(index)
    case "gather":
      return _gathered(i, index, operands)
  raise Unsupported(i.opcode)


def _seen(place: int, w: object, inside: int, n: int) -> int | None:
  at, rest = divmod(place * w.stride + inside * w.window_dilation - w.padding_low, w.base_dilation)  # type: ignore[attr-defined]
  return at if not rest and 0 <= at < n else None


def _convolved(i: Instruction, index: tuple[int, ...], operands: list[Tile | Boxes]) -> float:
  a, labels = i.attrs, i.attrs["dim_labels"]
  x, k = (o.shape.dimensions for o in i.operands)
  groups, batch_groups = a["feature_group_count"], a["batch_group_count"]
  group = index[labels.output_feature] // (i.shape.dimensions[labels.output_feature] // max(groups, batch_groups))
  total = 0.0
  for channel in range(k[labels.kernel_input_feature]):
    for inside in np.ndindex(*(w.size for w in a["window"])):
      left, right = [0] * len(x), [0] * len(k)
      left[labels.input_batch] = index[labels.output_batch] + (
        group * (x[labels.input_batch] // batch_groups) if batch_groups > 1 else 0
      )
      left[labels.input_feature] = channel + (group * k[labels.kernel_input_feature] if groups > 1 else 0)
      right[labels.kernel_input_feature], right[labels.kernel_output_feature] = channel, index[labels.output_feature]
      valid = True
      for d, w in enumerate(a["window"]):
        at = _seen(index[labels.output_spatial[d]], w, inside[d], x[labels.input_spatial[d]])
        valid &= at is not None
        left[labels.input_spatial[d]] = at or 0
        right[labels.kernel_spatial[d]] = w.size - 1 - inside[d] if w.reversal else inside[d]
      if valid:
        total += operands[0].look_up(tuple(left)) * operands[1].look_up(tuple(right))
  return total


def _gathered(i: Instruction, index: tuple[int, ...], operands: list[Tile | Boxes]) -> float:
  a = i.attrs
  vector, rank = a["index_vector_dim"], i.operands[1].shape.rank
  batch = [k for d, k in enumerate(index) if d not in a["offset_dims"]]
  start = [0] * i.operands[0].shape.rank
  for number, d in enumerate(a["start_index_map"]):
    at = tuple([*batch[:vector], number, *batch[vector:]] if vector < rank else batch)
    limit = i.operands[0].shape.dimensions[d] - a["slice_sizes"][d]
    found = operands[1].look_up(at)
    if math.isnan(found):
      return math.nan
    start[d] = min(max(int(found), 0), limit)
  for d, index_dim in zip(a["operand_batching_dims"], a["start_indices_batching_dims"]):
    start[d] = batch[index_dim if index_dim < vector else index_dim - 1]
  dropped = {*a["collapsed_slice_dims"], *a["operand_batching_dims"]}
  for d, k in zip([d for d in range(len(start)) if d not in dropped], (index[d] for d in a["offset_dims"])):
    start[d] += k
  return operands[0].look_up(tuple(start))

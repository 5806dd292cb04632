"""Reductions: reduce, reduce-window, select-and-scatter, map, scan.

The computation is applied to whole arrays. A reduction over n elements folds neighbours, n → n/2 → … → 1, which keeps
their order (HLO asks for associativity only). Where the computation is one of the usual monoids (`a + b`, `max(a, b)`,
…) numpy's own reduction does it; sums and products of floats are then taken in float64 and rounded once.

A window is walked position by position: for each offset inside the window, the outputs that see an element there form
a box, and the whole box is folded at once. Padding takes no part: it is not an element, and the initial value is folded
in once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tilewright.hlo.evaluate.interpreter import Device
from tilewright.hlo.evaluate.numbers import COMPUTE, WIDE, narrow
from tilewright.hlo.evaluate.table import Arrays, Value, rule
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.values import Window, WindowDim

Fold = Callable[[Sequence[np.ndarray]], Arrays]  # (accumulators…, elements…) → accumulators

UFUNCS: dict[str, np.ufunc] = {
  "add": np.add,
  "multiply": np.multiply,
  "maximum": np.maximum,
  "minimum": np.minimum,
  "and": np.bitwise_and,
  "or": np.bitwise_or,
  "xor": np.bitwise_xor,
}
PRED_UFUNCS = {"add": np.logical_or, "multiply": np.logical_and, "maximum": np.logical_or, "minimum": np.logical_and}


def monoid_opcode(computation: Computation) -> str | None:
  """`add` for `(a, b) → a + b`, and so on; None for anything else."""
  root, parameters = computation.root, computation.parameters
  if root.opcode not in UFUNCS or len(parameters) != 2 or len(root.operands) != 2:
    return None
  return root.opcode if set(root.operands) == set(parameters) and root.shape.is_scalar else None


def monoid(computation: Computation) -> np.ufunc | None:
  opcode = monoid_opcode(computation)
  if opcode is None:
    return None
  table = PRED_UFUNCS if computation.root.shape.element_type == "pred" else UFUNCS
  return table.get(opcode, UFUNCS[opcode])


def accumulator_type(dtype: np.dtype, ufunc: np.ufunc) -> np.dtype:
  return WIDE[dtype] if ufunc in (np.add, np.multiply) else COMPUTE[dtype]


def untuple(instruction: Instruction, results: Arrays) -> Value:
  return tuple(results) if instruction.shape.is_tuple else results[0]


@rule("reduce")
def reduce(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  count = len(operands) // 2
  inputs, inits = operands[:count], operands[count:]
  axes = tuple(sorted(instruction.attrs["dimensions"]))
  ufunc = monoid(instruction.attrs["to_apply"]) if count == 1 else None
  if ufunc is not None:
    dtype = inputs[0].dtype
    wide = accumulator_type(dtype, ufunc)
    initial = inits[0].astype(wide)[()]
    total = ufunc.reduce(inputs[0].astype(wide), axis=axes, dtype=wide, initial=initial)
    return narrow(np.asarray(total), dtype)
  function = device.scalar_function(instruction.attrs["to_apply"])
  rows = [_reduced_first(x, axes) for x in inputs]
  kept = rows[0].shape[1:]
  results = fold(function, rows, [np.broadcast_to(init, kept) for init in inits])
  return untuple(instruction, results)


def _reduced_first(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
  kept = [d for d in range(x.ndim) if d not in axes]
  return x.transpose([*axes, *kept]).reshape(-1, *(x.shape[d] for d in kept))


def fold(function: Fold, rows: Arrays, inits: Arrays) -> Arrays:
  """Folds along the first axis, neighbours first, then the initial value in front."""
  length = rows[0].shape[0]
  if length == 0:
    return list(inits)
  while length > 1:
    half = length // 2
    left, right = [x[0 : 2 * half : 2] for x in rows], [x[1 : 2 * half : 2] for x in rows]
    joined = [np.broadcast_to(y, x.shape) for x, y in zip(left, function([*left, *right]))]
    rest = [x[2 * half :] for x in rows]
    rows = [np.concatenate(pair) for pair in zip(joined, rest)] if length % 2 else joined
    length = rows[0].shape[0]
  shape = rows[0].shape[1:]
  return [np.broadcast_to(x, shape) for x in function([*inits, *(x[0] for x in rows)])]


# Windows.


def window_output_size(size: int, dim: WindowDim) -> int:
  dilated = 0 if size == 0 else (size - 1) * dim.base_dilation + 1
  padded = dilated + dim.padding_low + dim.padding_high
  reach = (dim.size - 1) * dim.window_dilation + 1
  return max(0, (padded - reach) // dim.stride + 1) if padded >= reach else 0


def window_boxes(
  device: Device, instruction: Instruction, window: Window, sizes: tuple[int, ...], out: tuple[int, ...]
) -> Iterator[tuple[tuple, tuple]]:
  """For each position in the window, in order: (index into the outputs, index into the inputs) of the box it covers."""
  budget = device.program.budget
  budget.steps(instruction, math.prod(dim.size for dim in window))
  per_dim: list[list[tuple[np.ndarray, np.ndarray]]] = []
  for dim, size, count in zip(window, sizes, out):
    rows = []
    for offset in range(dim.size):
      budget.step(instruction)
      place = np.arange(count) * dim.stride + offset * dim.window_dilation - dim.padding_low
      seen = (place >= 0) & (place < (size - 1) * dim.base_dilation + 1) & (place % dim.base_dilation == 0)
      outputs = np.flatnonzero(seen)
      rows.append((outputs, place[outputs] // dim.base_dilation))
    per_dim.append(rows)
  for combination in itertools.product(*per_dim):
    budget.step(instruction)
    if all(outputs.size for outputs, _ in combination):
      yield tuple(_as_slice(o) for o, _ in combination), tuple(_as_slice(i) for _, i in combination)


def _as_slice(places: np.ndarray) -> slice:
  """Equally spaced places, which those of one window position always are, as a slice: a view instead of a copy."""
  step = int(places[1] - places[0]) if places.size > 1 else 1
  return slice(int(places[0]), int(places[-1]) + 1, step)


@rule("reduce-window")
def reduce_window(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  count = len(operands) // 2
  inputs, inits = operands[:count], operands[count:]
  window = instruction.attrs.get("window", Window(()))
  sizes = inputs[0].shape
  out = tuple(window_output_size(n, d) for n, d in zip(sizes, window))
  if not sizes:  # a scalar sees itself once
    return untuple(instruction, device.scalar_function(instruction.attrs["to_apply"])([*inits, *inputs]))
  ufunc = monoid(instruction.attrs["to_apply"]) if count == 1 else None
  if ufunc is not None:
    dtype = inputs[0].dtype
    wide = accumulator_type(dtype, ufunc)
    total, x = np.full(out, inits[0].astype(wide)), inputs[0].astype(wide)
    for outputs, elements in window_boxes(device, instruction, window, sizes, out):
      total[outputs] = ufunc(total[outputs], x[elements])
    return narrow(total, dtype)
  function = device.scalar_function(instruction.attrs["to_apply"])
  totals = [np.array(np.broadcast_to(init, out)) for init in inits]
  for outputs, elements in window_boxes(device, instruction, window, sizes, out):
    parts = function([*(t[outputs] for t in totals), *(x[elements] for x in inputs)])
    for total, part in zip(totals, parts):
      total[outputs] = part
  return untuple(instruction, totals)


@rule("select-and-scatter")
def select_and_scatter(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  """Each window elects one of its elements by pairwise `select`; each source value is folded into the elected place."""
  x, source, init = operands
  prefers = device.scalar_function(instruction.attrs["select"])
  positions = np.arange(x.size).reshape(x.shape)
  best, chosen = np.zeros(source.shape, x.dtype), np.full(source.shape, -1)
  for outputs, elements in window_boxes(device, instruction, instruction.attrs["window"], x.shape, source.shape):
    old, new, where = best[outputs], x[elements], chosen[outputs]
    (keeps,) = prefers([old, new])
    keep = np.asarray(keeps) & (where >= 0)
    best[outputs] = np.where(keep, old, new)
    chosen[outputs] = np.where(keep, where, positions[elements])
  result = np.full(x.size, init)
  elected = chosen.reshape(-1)
  inside = elected >= 0
  fold_at(device, instruction.attrs["scatter"], [result], elected[inside], [source.reshape(-1)[inside]])
  return result.reshape(x.shape)


def fold_at(device: Device, computation: Computation, targets: Arrays, where: np.ndarray, updates: Arrays) -> None:
  """`targets[where] = computation(targets[where], updates)` for flat arrays, one after another where places repeat.

  The k-th update of every place is applied in round k, so that a round touches no place twice.
  """
  if where.size == 0:
    return
  ufunc = monoid(computation) if len(targets) == 1 else None
  if ufunc is not None and COMPUTE[targets[0].dtype] == targets[0].dtype:
    return ufunc.at(targets[0], where, updates[0])
  function = device.scalar_function(computation)
  order = np.argsort(where, kind="stable")
  ordered = where[order]
  starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
  counts = np.diff(np.r_[starts, ordered.size])
  for turn in range(int(counts.max())):
    now = order[starts[counts > turn] + turn]
    places = where[now]
    parts = function([*(t[places] for t in targets), *(u[now] for u in updates)])
    for target, part in zip(targets, parts):
      target[places] = part


@rule("map")
def map_(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  (result,) = device.scalar_function(instruction.attrs["to_apply"])(operands)
  shape = operands[0].shape if operands else instruction.shape.dimensions
  return np.broadcast_to(result, shape)


@rule("scan")
def scan(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  """Inputs, then initial carries; the computation maps (input slices…, carries…) to (output slices…, carries…)."""
  carries_count = instruction.attrs["num_carries"]
  inputs, carries = operands[: len(operands) - carries_count], list(operands[len(operands) - carries_count :])
  axis = instruction.attrs["dimensions"][0]
  length = inputs[0].shape[axis]
  order = range(length - 1, -1, -1) if instruction.attrs.get("is_reverse") else range(length)
  shapes = [leaf for _, leaf in instruction.shape.leaves()]
  outputs = [np.zeros(shape.dimensions, shape.dtype) for shape in shapes[: len(shapes) - carries_count]]
  for i in order:
    at = (slice(None),) * axis + (i,)
    value = device.call(instruction.attrs["to_apply"], [*(x[at] for x in inputs), *carries])
    parts = value if isinstance(value, tuple) else (value,)
    for output, part in zip(outputs, parts):
      output[at] = part
    carries = list(parts[len(outputs) :])
  return untuple(instruction, [*outputs, *carries])

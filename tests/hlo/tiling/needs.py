"""Which elements each output element needs, by running NumPy's versions of the ops on sets of elements.

An array of sets is a boolean array with one more axis: `bits[i, j, e]` says that element (i, j) needs element e. Ops that move data move
sets; ops that combine elements join them. Nothing here knows indexing maps.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.opcodes import ELEMENTWISE

Bits = np.ndarray


def own(instruction: Instruction) -> Bits:
  """Each element needs itself."""
  dims = instruction.shape.dimensions
  n = math.prod(dims)
  return np.eye(n, dtype=bool).reshape(*dims, n)


def step(
  instruction: Instruction, operands: Sequence[list[Bits]], values: Mapping[Instruction, np.ndarray]
) -> list[Bits]:
  """The sets of each leaf of an instruction, from those of the leaves of its operands."""
  opcode, a = instruction.opcode, instruction.attrs
  dims = instruction.shape.dimensions
  if opcode == "tuple":
    return [leaf for operand in operands for leaf in operand]
  if opcode == "get-tuple-element":
    return [operands[0][a["index"]]]
  if opcode == "fusion":
    return through(instruction.called_computations[0], operands, values, instruction)
  x = operands[0][0] if operands else None
  if opcode in ELEMENTWISE:
    return [np.logical_or.reduce([np.broadcast_to(o[0], (*dims, o[0].shape[-1])) for o in operands])]
  assert x is not None, opcode
  count = x.shape[-1]
  match opcode:
    case "broadcast":
      places = list(a.get("dimensions", ()))
      shape = [1] * len(dims)
      for d, place in enumerate(places):
        shape[place] = x.shape[d]
      turned = x.transpose([*np.argsort(places, kind="stable").tolist(), x.ndim - 1])
      return [np.broadcast_to(turned.reshape(*shape, count), (*dims, count))]
    case "transpose":
      return [x.transpose([*a["dimensions"], x.ndim - 1])]
    case "reshape":
      return [x.reshape(*dims, count)]
    case "bitcast":
      source, target = instruction.operands[0].shape.layout, instruction.shape.layout
      assert source is not None and target is not None
      flat = x.transpose([*reversed(source.minor_to_major), x.ndim - 1]).reshape(-1, count)
      order = list(reversed(target.minor_to_major))
      physical = flat.reshape(*(dims[d] for d in order), count)
      return [physical.transpose([*np.argsort(order).tolist(), len(dims)])]
    case "slice":
      return [x[tuple(slice(s.start, s.limit, s.stride) for s in a["slice"])]]
    case "reverse":
      return [np.flip(x, tuple(a["dimensions"]))]
    case "pad":
      result = np.array(np.broadcast_to(operands[1][0], (*dims, count)))
      for at in np.ndindex(*x.shape[:-1]):
        to = tuple(i * (p.interior + 1) + p.low for i, p in zip(at, a["padding"]))
        if all(0 <= i < n for i, n in zip(to, dims)):
          result[to] = x[at]
      return [result]
    case "concatenate":
      return [np.concatenate([o[0] for o in operands], a["dimensions"][0])]
    case "reduce":
      arrays = [o[0] for o in operands[: len(operands) // 2]]
      joined = np.logical_or.reduce(arrays).any(tuple(a["dimensions"]))
      return [functools.reduce(np.logical_or, [joined, *(o[0] for o in operands[len(arrays) :])])] * len(arrays)
    case "reduce-window":
      return [_windows(x, list(a["window"]), dims) | operands[1][0]]
    case "dot":
      return [_dot(instruction, x, operands[1][0])]
    case "convolution":
      return [_convolution(instruction, x, operands[1][0])]
    case "dynamic-slice":
      starts = _starts(instruction.operands[1:], values, dims, x.shape[:-1])
      indices = np.logical_or.reduce([o[0] for o in operands[1:]]) if dims else np.zeros(count, bool)
      return [x[tuple(slice(i, i + n) for i, n in zip(starts, dims))] | indices]
    case "dynamic-update-slice":
      update = operands[1][0]
      starts = _starts(instruction.operands[2:], values, update.shape[:-1], dims)
      result = np.array(x)
      result[tuple(slice(i, i + n) for i, n in zip(starts, update.shape))] = update
      return [functools.reduce(np.logical_or, [result, *(o[0] for o in operands[2:])])]
    case "gather":
      return [_gather(instruction, x, operands[1][0], values[instruction.operands[1]])]
  raise NotImplementedError(opcode)


def through(
  computation: Computation,
  operands: Sequence[list[Bits]],
  values: Mapping[Instruction, np.ndarray],
  caller: Instruction,
) -> list[Bits]:
  found: dict[Instruction, list[Bits]] = {}
  count = operands[0][0].shape[-1]
  inside = dict(values)
  for i in computation.topological_order():
    if i.opcode == "parameter":
      found[i] = operands[i.parameter_number]
      outer = caller.operands[i.parameter_number]
      if outer in values:
        inside[i] = values[outer]
    elif not i.operands:
      found[i] = [np.zeros((*i.shape.dimensions, count), bool)]
    else:
      found[i] = step(i, [found[o] for o in i.operands], inside)
  return found[computation.root]


def _starts(
  indices: Sequence[Instruction],
  values: Mapping[Instruction, np.ndarray],
  sizes: Sequence[int],
  limits: Sequence[int],
) -> list[int]:
  return [int(min(max(values[i], 0), limit - n)) for i, n, limit in zip(indices, sizes, limits)]


def _seen(place: int, dim: object, inside: int, size: int) -> int | None:
  """The input's position that a window at `place` sees at its position `inside`."""
  at = place * dim.stride + inside * dim.window_dilation - dim.padding_low  # type: ignore[attr-defined]
  if at % dim.base_dilation:  # type: ignore[attr-defined]
    return None
  at //= dim.base_dilation  # type: ignore[attr-defined]
  return at if 0 <= at < size else None


def _windows(x: Bits, window: list, dims: Sequence[int]) -> Bits:
  result = np.zeros((*dims, x.shape[-1]), bool)
  for place in np.ndindex(*dims):
    for inside in np.ndindex(*(w.size for w in window)):
      at = [_seen(p, w, i, n) for p, w, i, n in zip(place, window, inside, x.shape)]
      if None not in at:
        result[place] |= x[tuple(at)]
  return result


def _dot(instruction: Instruction, x: Bits, y: Bits) -> Bits:
  a, dims = instruction.attrs, instruction.shape.dimensions
  result = np.zeros((*dims, x.shape[-1]), bool)
  batch = len(a.get("lhs_batch_dims", ()))
  used = batch
  for side, bits in (("lhs", x), ("rhs", y)):
    shared, contracted = list(a.get(f"{side}_batch_dims", ())), tuple(a[f"{side}_contracting_dims"])
    free = [d for d in range(bits.ndim - 1) if d not in shared and d not in contracted]
    rows = bits.any(contracted, keepdims=True)
    rows = rows.transpose([*shared, *free, *contracted, bits.ndim - 1])
    shape = [1] * len(dims)
    for i, d in enumerate(shared):
      shape[i] = bits.shape[d]
    for d in free:
      shape[used] = bits.shape[d]
      used += 1
    result |= rows.reshape(*shape, x.shape[-1])
  return result


def _convolution(instruction: Instruction, x: Bits, k: Bits) -> Bits:
  labels, a, dims = instruction.attrs["dim_labels"], instruction.attrs, instruction.shape.dimensions
  window = list(a["window"])
  groups, batch_groups = a.get("feature_group_count", 1), a.get("batch_group_count", 1)
  per_group = dims[labels.output_feature] // max(groups, batch_groups)
  result = np.zeros((*dims, x.shape[-1]), bool)
  for place in np.ndindex(*dims):
    group = place[labels.output_feature] // per_group
    for channel in range(k.shape[labels.kernel_input_feature]):
      for inside in np.ndindex(*(w.size for w in window)):
        left, right = [0] * (x.ndim - 1), [0] * (k.ndim - 1)
        left[labels.input_batch] = place[labels.output_batch]
        if batch_groups > 1:
          left[labels.input_batch] += group * (x.shape[labels.input_batch] // batch_groups)
        left[labels.input_feature] = channel + (group * k.shape[labels.kernel_input_feature] if groups > 1 else 0)
        right[labels.kernel_input_feature], right[labels.kernel_output_feature] = channel, place[labels.output_feature]
        inside_x = True
        for d, w in enumerate(window):
          at = _seen(place[labels.output_spatial[d]], w, inside[d], x.shape[labels.input_spatial[d]])
          inside_x &= at is not None
          left[labels.input_spatial[d]] = at or 0
          right[labels.kernel_spatial[d]] = w.size - 1 - inside[d] if w.reversal else inside[d]
        if inside_x:
          result[place] |= x[tuple(left)]
        result[place] |= k[tuple(right)]
  return result


def _gather(instruction: Instruction, x: Bits, indices: Bits, values: np.ndarray) -> Bits:
  """Element by element, as the op is defined."""
  a, dims = instruction.attrs, instruction.shape.dimensions
  vector, offset_dims = a["index_vector_dim"], a["offset_dims"]
  batching, index_batching = a.get("operand_batching_dims", ()), a.get("start_indices_batching_dims", ())
  result = np.zeros((*dims, x.shape[-1]), bool)
  for place in np.ndindex(*dims):
    batch = [place[d] for d in range(len(dims)) if d not in offset_dims]
    window = [place[d] for d in offset_dims]
    start = [0] * (x.ndim - 1)
    for number, d in enumerate(a["start_index_map"]):
      at = tuple([*batch[:vector], number, *batch[vector:]] if vector < values.ndim else batch)
      start[d] = int(min(max(values[at], 0), x.shape[d] - a["slice_sizes"][d]))
      result[place] |= indices[at]
    for d, index_dim in zip(batching, index_batching):
      start[d] = batch[index_dim if index_dim < vector else index_dim - 1]
    kept = [d for d in range(x.ndim - 1) if d not in a["collapsed_slice_dims"] and d not in batching]
    for d, i in zip(kept, window):
      start[d] += i
    result[place] |= x[tuple(start)]
  return result


def all_needs(
  computation: Computation, values: Mapping[Instruction, np.ndarray]
) -> dict[Instruction, dict[Instruction, Bits]]:
  """`found[root][instruction]`: for each element of each array-valued root-side instruction the elements of `instruction` it needs."""
  order = [i for i in computation.topological_order()]
  arrays = [i for i in order if i.shape.is_array]
  starts = dict(zip(arrays, itertools.accumulate([0, *(i.shape.num_elements for i in arrays)])))
  total = sum(i.shape.num_elements for i in arrays)
  found: dict[Instruction, list[Bits]] = {}
  for i in order:
    leaves = (
      step(i, [found[o] for o in i.operands], values)
      if i.operands
      else [np.zeros((*s.dimensions, total), bool) for _, s in i.shape.leaves()]
    )
    if i in starts:
      mine = np.array(leaves[0])
      mine[..., starts[i] : starts[i] + i.shape.num_elements] |= own(i)
      leaves = [mine]
    found[i] = leaves
  return {
    root: {i: found[root][0][..., starts[i] : starts[i] + i.shape.num_elements] for i in arrays} for root in arrays
  }

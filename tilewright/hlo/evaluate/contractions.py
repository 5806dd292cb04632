"""dot, ragged-dot, scaled-dot and convolution.

All of them are batches of matrix products. Floats are multiplied and summed in float64 and rounded once to the result
type; integers are exact modulo the width of the result. A dot `algorithm` that names a narrower operand type rounds the
operands to it first, and one with several terms (`dot_bf16_bf16_f32_x3`) splits them accordingly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np

from tilewright.hlo.evaluate import numbers
from tilewright.hlo.evaluate.interpreter import Device, evaluate_error
from tilewright.hlo.evaluate.numbers import C128, F64, kind_of
from tilewright.hlo.evaluate.table import Value, rule
from tilewright.hlo.ir import Instruction
from tilewright.hlo.values import Window, WindowDim


def multiply_type(x: np.dtype, y: np.dtype, result: np.dtype, terms: int) -> np.dtype:
  """The type to multiply in: float64 where its sums are exact or it is wide enough, else 64-bit integers."""
  kinds = {kind_of(x), kind_of(y), kind_of(result)}
  if "complex" in kinds:
    return C128
  if "float" in kinds:
    return F64
  bits = numbers.TYPE_OF[x].bits + numbers.TYPE_OF[y].bits + max(terms, 1).bit_length()
  return F64 if bits <= 53 else np.dtype(np.int64)


def matmul(x: np.ndarray, y: np.ndarray, result: np.dtype) -> np.ndarray:
  """np.matmul in a type that loses nothing the result type can represent."""
  if kind_of(result) == "pred":
    return np.matmul(x.astype(F64), y.astype(F64)) != 0
  wide = multiply_type(x.dtype, y.dtype, result, x.shape[-1])
  product = np.matmul(_to(x, wide), _to(y, wide))
  if kind_of(result) in ("signed", "unsigned"):
    return product.astype(np.int64).astype(numbers.COMPUTE[result]).astype(result)
  return numbers.convert(product, result)


def _to(x: np.ndarray, wide: np.dtype) -> np.ndarray:
  return x.astype(numbers.COMPUTE[x.dtype]).astype(wide)


# Algorithms.

Rounding = Callable[[np.ndarray], np.ndarray]

_BF16 = np.dtype(ml_dtypes.bfloat16)


def _round_tf32(x: np.ndarray) -> np.ndarray:
  return numbers.reduce_precision(x.astype(np.float32), 8, 10)


def _round_to(dtype: np.typing.DTypeLike) -> Rounding:
  return lambda x: x.astype(np.float32).astype(dtype).astype(np.float32)


_OPERAND_ROUNDING: dict[str, Rounding] = {
  "dot_f16_f16_f16": _round_to(np.float16),
  "dot_f16_f16_f32": _round_to(np.float16),
  "dot_bf16_bf16_bf16": _round_to(_BF16),
  "dot_bf16_bf16_f32": _round_to(_BF16),
  "dot_tf32_tf32_f32": _round_tf32,
}
# (part of the left operand, part of the right one): which products of the split operands are added up.
_SPLIT_TERMS: dict[str, tuple[int, tuple[tuple[int, int], ...]]] = {
  "dot_bf16_bf16_f32_x3": (2, ((0, 1), (1, 0), (0, 0))),
  "dot_bf16_bf16_f32_x6": (3, ((1, 1), (0, 2), (2, 0), (0, 1), (1, 0), (0, 0))),
  "dot_bf16_bf16_f32_x9": (3, tuple((i, j) for i in (2, 1, 0) for j in (2, 1, 0))),
  "dot_tf32_tf32_f32_x3": (2, ((0, 1), (1, 0), (0, 0))),
}


def _split(x: np.ndarray, parts: int, algorithm: str) -> list[np.ndarray]:
  round_ = _round_tf32 if "tf32" in algorithm else _round_to(_BF16)
  found, rest = [], x.astype(np.float32)
  for _ in range(parts):
    found.append(round_(rest))
    rest = rest - found[-1]
  return found


def matmul_with_algorithm(x: np.ndarray, y: np.ndarray, result: np.dtype, algorithm: str) -> np.ndarray:
  if kind_of(x.dtype) == "float" and algorithm in _OPERAND_ROUNDING:
    round_ = _OPERAND_ROUNDING[algorithm]
    return matmul(round_(x), round_(y), result)
  if x.dtype == numbers.F32 and algorithm in _SPLIT_TERMS:
    parts, terms = _SPLIT_TERMS[algorithm]
    xs, ys = _split(x, parts, algorithm), _split(y, parts, algorithm)
    total = sum(np.matmul(xs[i].astype(F64), ys[j].astype(F64)) for i, j in terms)
    return numbers.convert(np.asarray(total), result)
  return matmul(x, y, result)


# dot.


def _arranged(x: np.ndarray, batch: tuple[int, ...], contracting: tuple[int, ...], contract_last: bool) -> np.ndarray:
  """[batch, free, contracting] (or [batch, contracting, free]), each group of dimensions joined into one."""
  free = [d for d in range(x.ndim) if d not in batch and d not in contracting]
  groups = (batch, free, contracting) if contract_last else (batch, contracting, free)
  sizes = [math.prod(x.shape[d] for d in group) for group in groups]
  return x.transpose([d for group in groups for d in group]).reshape(sizes)


def _free_sizes(x: np.ndarray, *used: Sequence[int]) -> list[int]:
  taken = {d for group in used for d in group}
  return [n for d, n in enumerate(x.shape) if d not in taken]


def dot_general(
  x: np.ndarray,
  y: np.ndarray,
  batch: tuple[tuple[int, ...], tuple[int, ...]],
  contracting: tuple[tuple[int, ...], tuple[int, ...]],
  result: np.dtype,
  algorithm: str = "",
) -> np.ndarray:
  left = _arranged(x, batch[0], contracting[0], contract_last=True)
  right = _arranged(y, batch[1], contracting[1], contract_last=False)
  product = matmul_with_algorithm(left, right, result, algorithm)
  sizes = [x.shape[d] for d in batch[0]]
  return product.reshape(sizes + _free_sizes(x, batch[0], contracting[0]) + _free_sizes(y, batch[1], contracting[1]))


def _dims(instruction: Instruction, which: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
  return tuple(instruction.attrs.get(f"lhs_{which}", ())), tuple(instruction.attrs.get(f"rhs_{which}", ()))


@rule("dot")
def dot(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  if instruction.attrs.get("sparsity"):
    raise evaluate_error(instruction, "the evaluator does not know sparse dots; expand the operand first")
  batch, contracting = _dims(instruction, "batch_dims"), _dims(instruction, "contracting_dims")
  contracted = math.prod(operands[0].shape[d] for d in contracting[0])
  device.program.budget.operations(instruction, 2.0 * instruction.shape.num_elements * contracted)
  algorithm = instruction.attrs.get("algorithm", "")
  return dot_general(operands[0], operands[1], batch, contracting, instruction.shape.dtype, algorithm)


@rule("scaled-dot")
def scaled_dot(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  """(lhs, rhs, lhs scale, rhs scale): each scale covers a block of its operand; a scalar scale covers all of it."""
  x, y, x_scale, y_scale = operands
  batch, contracting = _dims(instruction, "batch_dims"), _dims(instruction, "contracting_dims")
  return dot_general(rescaled(x, x_scale), rescaled(y, y_scale), batch, contracting, instruction.shape.dtype)


def rescaled(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
  """x times its scale in float64, each scale repeated over its block."""
  wide = numbers.widen(scale).astype(F64)
  if scale.ndim == x.ndim:
    for axis, (full, blocks) in enumerate(zip(x.shape, scale.shape)):
      if blocks and blocks != full:
        wide = np.repeat(wide, -(-full // blocks), axis=axis)
    wide = wide[tuple(slice(n) for n in x.shape)]
  return numbers.widen(x).astype(F64) * wide


@rule("ragged-dot")
def ragged_dot(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  """A dot in which one dimension of the left operand is cut into groups of the given sizes.

  If that dimension is free, each group meets its own slice of the right operand; if it is contracted, each group gives
  its own slice of the result; if it is a batch dimension, the groups only say how far the data reaches.
  """
  x, y, sizes = operands
  batch, contracting = _dims(instruction, "batch_dims"), _dims(instruction, "contracting_dims")
  ragged = instruction.attrs["lhs_ragged_dims"][0]
  group_dims = tuple(instruction.attrs.get("rhs_group_dims", ()))
  if sizes.ndim > 1:
    raise evaluate_error(instruction, "the evaluator takes one list of group sizes; batch the dot outside instead")
  ends = np.cumsum(sizes.astype(np.int64))
  spans = list(zip(ends - sizes, ends))
  dtype = instruction.shape.dtype

  def cut(a: np.ndarray, dimension: int, low: int, high: int) -> np.ndarray:
    return a[tuple(slice(low, high) if d == dimension else slice(None) for d in range(a.ndim))]

  if ragged in batch[0]:
    return dot_general(x, y, batch, contracting, dtype)
  if ragged in contracting[0]:
    other = contracting[1][contracting[0].index(ragged)]
    pieces = [(cut(x, ragged, a, b), cut(y, other, a, b)) for a, b in spans]
    return np.stack([dot_general(p, q, batch, contracting, dtype) for p, q in pieces])
  (group_dim,) = group_dims
  shifted = (
    tuple(d - (d > group_dim) for d in batch[1]),
    tuple(d - (d > group_dim) for d in contracting[1]),
  )
  free = [d for d in range(x.ndim) if d not in batch[0] and d not in contracting[0]]
  axis = len(batch[0]) + free.index(ragged)
  result = np.zeros(instruction.shape.dimensions, dtype)
  for group, (a, b) in enumerate(spans):
    part = dot_general(
      cut(x, ragged, a, b),
      np.take(y, group, axis=group_dim),
      (batch[0], shifted[0]),
      (contracting[0], shifted[1]),
      dtype,
    )
    result[tuple(slice(a, b) if d == axis else slice(None) for d in range(result.ndim))] = part
  return result


# Convolution.


@rule("convolution")
def convolution(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  """One matrix product per position in the kernel: the input elements that this position sees, times its weights."""
  x, kernel = operands
  labels, attrs = instruction.attrs["dim_labels"], instruction.attrs
  groups, batch_groups = attrs.get("feature_group_count", 1), attrs.get("batch_group_count", 1)
  window = tuple(attrs.get("window", Window(())))
  window = window or tuple(WindowDim(1) for _ in labels.input_spatial)
  x = x.transpose([labels.input_batch, labels.input_feature, *labels.input_spatial])
  kernel = kernel.transpose([labels.kernel_output_feature, labels.kernel_input_feature, *labels.kernel_spatial])
  dtype = instruction.shape.dtype
  terms = math.prod(kernel.shape[1:])
  wide = multiply_type(x.dtype, kernel.dtype, dtype, terms)
  budget = device.program.budget
  budget.reserve(instruction, math.prod([*x.shape[:2], *map(_spread_size, x.shape[2:], window)]) * wide.itemsize)
  x, kernel = _spread(_to(x, wide), window), _to(kernel, wide)
  reversed_axes = tuple(2 + i for i, dim in enumerate(window) if dim.reversal)
  kernel = np.flip(kernel, reversed_axes)
  # The kernel's output features are cut by either kind of group; the input's features or batch go with them.
  count = max(groups, batch_groups)
  weights = kernel.reshape(count, kernel.shape[0] // count, *kernel.shape[1:])
  batch, features = x.shape[:2]
  if batch_groups > 1:
    x = x.reshape(count, batch // count, features, *x.shape[2:])
  else:
    x = np.moveaxis(x.reshape(batch, count, features // count, *x.shape[2:]), 1, 0)
  out = tuple(_output_size(n, dim) for n, dim in zip(x.shape[3:], window))
  total = np.zeros((count, x.shape[1], math.prod(out), weights.shape[1]), wide)
  budget.steps(instruction, math.prod(dim.size for dim in window))
  budget.operations(instruction, 2.0 * total.size * terms)
  for position in np.ndindex(*(dim.size for dim in window)):
    budget.step(instruction)
    box: tuple = (..., *(_seen(p, dim, n) for p, dim, n in zip(position, window, out)))
    seen = x[box]
    rows = np.moveaxis(seen, 2, -1).reshape(count, x.shape[1], math.prod(out), x.shape[2])
    taps = weights[(slice(None), slice(None), slice(None), *position)]
    total += np.matmul(rows, taps.transpose(0, 2, 1)[:, None])
  # [group, batch, places, features in the group] → batch, features, places.
  ordered = total.transpose(1, 0, 3, 2).reshape(x.shape[1], count * weights.shape[1], *out)
  if kind_of(dtype) in ("signed", "unsigned"):
    stored = ordered.astype(np.int64).astype(numbers.COMPUTE[dtype]).astype(dtype)
  else:
    stored = numbers.convert(ordered, dtype)
  places = [labels.output_batch, labels.output_feature, *labels.output_spatial]
  return stored.transpose(np.argsort(places, kind="stable").tolist())


def _spread(x: np.ndarray, window: tuple[WindowDim, ...]) -> np.ndarray:
  """Base dilation and padding (negative padding cuts off) of [batch, features, spatial…]."""
  for axis, dim in enumerate(window, start=2):
    size, full = x.shape[axis], _spread_size(x.shape[axis], dim)
    place = np.arange(size) * dim.base_dilation + dim.padding_low
    inside = np.flatnonzero((place >= 0) & (place < full))
    spread = np.zeros((*x.shape[:axis], full, *x.shape[axis + 1 :]), x.dtype)
    before: tuple = (slice(None),) * axis
    spread[(*before, place[inside])] = x[(*before, inside)]
    x = spread
  return x


def _spread_size(size: int, dim: WindowDim) -> int:
  dilated = 0 if size == 0 else (size - 1) * dim.base_dilation + 1
  return max(0, dilated + dim.padding_low + dim.padding_high)


def _output_size(padded: int, dim: WindowDim) -> int:
  reach = (dim.size - 1) * dim.window_dilation + 1
  return (padded - reach) // dim.stride + 1 if padded >= reach else 0


def _seen(position: int, dim: WindowDim, count: int) -> slice:
  start = position * dim.window_dilation
  return slice(start, start + max(0, count - 1) * dim.stride + (1 if count else 0), dim.stride)

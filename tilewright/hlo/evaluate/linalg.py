"""cholesky, triangular-solve, fft and the batch normalisations, computed in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tilewright.hlo.evaluate.interpreter import Device
from tilewright.hlo.evaluate.numbers import WIDE
from tilewright.hlo.evaluate.table import Value, rule
from tilewright.hlo.ir import Instruction


def _wide(x: np.ndarray) -> np.ndarray:
  return x.astype(WIDE[x.dtype])


def cholesky_factor(x: np.ndarray, lower: bool) -> np.ndarray:
  """Of a batch; reads one triangle only, and gives NaN for a matrix that is not positive definite."""
  triangle = np.tril(x) if lower else np.conj(np.swapaxes(np.triu(x), -1, -2))
  diagonal = np.einsum("...ii->...i", triangle).real
  full = triangle + np.conj(np.swapaxes(np.tril(triangle, -1), -1, -2))
  result = np.empty_like(full)
  for position in np.ndindex(x.shape[:-2]):
    try:
      if not np.all(np.isfinite(diagonal[position])):
        raise np.linalg.LinAlgError
      result[position] = np.linalg.cholesky(full[position])
    except np.linalg.LinAlgError:
      result[position] = np.nan
  return result if lower else np.conj(np.swapaxes(result, -1, -2))


@rule("cholesky")
def cholesky(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  (x,) = operands
  return cholesky_factor(_wide(x), bool(instruction.attrs.get("lower", False))).astype(x.dtype)


def solve_triangular(
  a: np.ndarray, b: np.ndarray, left_side: bool, lower: bool, unit_diagonal: bool, transpose: str
) -> np.ndarray:
  """op(a) · x = b, or x · op(a) = b, by substitution; division by a zero pivot gives infinities, not an error."""
  triangle = np.tril(a) if lower else np.triu(a)
  if transpose != "NO_TRANSPOSE":
    triangle, lower = np.swapaxes(triangle, -1, -2), not lower
    triangle = np.conj(triangle) if transpose == "ADJOINT" else triangle
  if not left_side:  # x · t = b  is  tᵀ · xᵀ = bᵀ
    transposed = np.swapaxes(triangle, -1, -2)
    return np.swapaxes(_substitute(transposed, np.swapaxes(b, -1, -2), not lower, unit_diagonal), -1, -2)
  return _substitute(triangle, b, lower, unit_diagonal)


def _substitute(triangle: np.ndarray, b: np.ndarray, lower: bool, unit_diagonal: bool) -> np.ndarray:
  size = triangle.shape[-1]
  x = np.array(b)
  for i in range(size) if lower else range(size - 1, -1, -1):
    known = slice(0, i) if lower else slice(i + 1, size)
    rest = b[..., i, :] - np.matmul(triangle[..., i : i + 1, known], x[..., known, :])[..., 0, :]
    x[..., i, :] = rest if unit_diagonal else rest / triangle[..., i, i][..., None]
  return x


@rule("triangular-solve")
def triangular_solve(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  a, b = operands
  attrs = instruction.attrs
  solution = solve_triangular(
    _wide(a),
    _wide(b),
    bool(attrs.get("left_side", False)),
    bool(attrs.get("lower", False)),
    bool(attrs.get("unit_diagonal", False)),
    attrs.get("transpose_a", "NO_TRANSPOSE"),
  )
  return solution.astype(b.dtype)


@rule("fft")
def fft(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  (x,) = operands
  lengths = instruction.attrs["fft_length"]
  axes = tuple(range(x.ndim - len(lengths), x.ndim))
  functions: dict[str, Callable[..., np.ndarray]] = {
    "FFT": np.fft.fftn,
    "IFFT": np.fft.ifftn,
    "RFFT": np.fft.rfftn,
    "IRFFT": np.fft.irfftn,
  }
  result = functions[instruction.attrs["fft_type"]](_wide(x), s=lengths, axes=axes)
  return result.astype(instruction.shape.dtype)


# Batch normalisation: everything but the feature dimension is reduced.


def _along_feature(v: np.ndarray, rank: int, feature: int) -> np.ndarray:
  return _wide(v).reshape([-1 if d == feature else 1 for d in range(rank)])


def _other_axes(x: np.ndarray, feature: int) -> tuple[int, ...]:
  return tuple(d for d in range(x.ndim) if d != feature)


@rule("batch-norm-training")
def batch_norm_training(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  x, scale, offset = operands
  feature = instruction.attrs["feature_index"]
  axes, wide = _other_axes(x, feature), _wide(x)
  mean, variance = wide.mean(axes), wide.var(axes)
  at = lambda v: _along_feature(v, x.ndim, feature)
  normal = (wide - at(mean)) / np.sqrt(at(variance) + instruction.attrs["epsilon"])
  result = normal * at(scale) + at(offset)
  return result.astype(x.dtype), mean.astype(scale.dtype), variance.astype(scale.dtype)


@rule("batch-norm-inference")
def batch_norm_inference(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  x, *rest = operands
  feature = instruction.attrs["feature_index"]
  scale, offset, mean, variance = (_along_feature(v, x.ndim, feature) for v in rest)
  return ((_wide(x) - mean) / np.sqrt(variance + instruction.attrs["epsilon"]) * scale + offset).astype(x.dtype)


@rule("batch-norm-grad")
def batch_norm_grad(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  """(operand, scale, mean, variance, gradient of the output) → gradients of operand, scale and offset."""
  x, scale, mean, variance, grad = operands
  feature = instruction.attrs["feature_index"]
  axes = _other_axes(x, feature)
  count = x.size / max(1, x.shape[feature])
  at = lambda v: _along_feature(v, x.ndim, feature)
  inverse = 1.0 / np.sqrt(at(variance) + instruction.attrs["epsilon"])
  normal, wide = (_wide(x) - at(mean)) * inverse, _wide(grad)
  grad_offset = wide.sum(axes, keepdims=True)
  grad_scale = (wide * normal).sum(axes, keepdims=True)
  grad_x = at(scale) * inverse / count * (count * wide - grad_offset - normal * grad_scale)
  flat = lambda v: v.reshape(-1).astype(scale.dtype)
  return grad_x.astype(x.dtype), flat(grad_scale), flat(grad_offset)

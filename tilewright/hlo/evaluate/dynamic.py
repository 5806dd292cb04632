"""Dynamic shapes. A value of shape `f32[<=8]` is an array of at most 8 elements; these opcodes read and set how many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.hlo.evaluate.interpreter import Device, evaluate_error
from tilewright.hlo.evaluate.table import Value, rule
from tilewright.hlo.ir import Instruction


@rule("get-dimension-size")
def get_dimension_size(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  return np.array(operands[0].shape[instruction.attrs["dimensions"][0]], instruction.shape.dtype)


@rule("set-dimension-size")
def set_dimension_size(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  x, size = operands
  dimension = instruction.attrs["dimensions"][0]
  return resized(x, dimension, int(size), instruction)


def resized(x: np.ndarray, dimension: int, size: int, instruction: Instruction) -> np.ndarray:
  """Cut to `size`, or extended by zeros (HLO leaves those elements open)."""
  bound = instruction.shape.dimensions[dimension]
  if size < 0 or 0 <= bound < size:
    raise evaluate_error(instruction, f"size {size} for dimension {dimension} is not within 0…{bound}")
  if size <= x.shape[dimension]:
    return x[tuple(slice(size) if d == dimension else slice(None) for d in range(x.ndim))]
  extra = list(x.shape)
  extra[dimension] = size - x.shape[dimension]
  return np.concatenate([x, np.zeros(extra, x.dtype)], axis=dimension)


@rule("dynamic-reshape")
def dynamic_reshape(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  x, *sizes = operands
  return x.reshape([int(n) for n in sizes])


def pad_to_static(instruction: Instruction, operands: Sequence[Value]) -> Value:
  """The custom call `PadToStatic`: the array in its full bounds, then its actual sizes."""
  (x,) = operands
  shape = instruction.shape.tuple_shapes[0]
  padded = np.zeros(shape.dimensions, x.dtype)
  padded[tuple(slice(n) for n in x.shape)] = x
  sizes = (np.array(n, part.dtype) for n, part in zip(x.shape, instruction.shape.tuple_shapes[1:]))
  return (padded, *sizes)


def slice_to_dynamic(instruction: Instruction, operands: Sequence[Value]) -> Value:
  """The custom call `SliceToDynamic`: the reverse."""
  x, *sizes = operands
  return x[tuple(slice(int(n)) for n in sizes)]

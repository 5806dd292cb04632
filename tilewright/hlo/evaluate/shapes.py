"""Opcodes that move elements without computing: broadcast, reshape, transpose, bitcast, iota, copies and tuples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tilewright.hlo.evaluate import numbers
from tilewright.hlo.evaluate.interpreter import Device, evaluate_error
from tilewright.hlo.evaluate.table import TOKEN, Value, elementwise, rule
from tilewright.hlo.ir import Instruction
from tilewright.hlo.shape import Layout, Shape


@rule("broadcast")
def broadcast(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  (x,) = operands
  sizes = list(instruction.shape.dimensions)
  placed = [1] * len(sizes)
  for size, dimension in zip(x.shape, instruction.attrs.get("dimensions", ())):
    placed[dimension] = size
    if instruction.shape.is_dynamic_dimension(dimension):
      sizes[dimension] = size
  order = np.argsort(instruction.attrs.get("dimensions", ()), kind="stable")
  return np.broadcast_to(x.transpose(tuple(order)).reshape(placed), sizes)


@rule("reshape")
def reshape(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  return operands[0].reshape(actual_sizes(instruction.shape, operands[0].size))


def actual_sizes(shape: Shape, elements: int) -> tuple[int, ...]:
  """The sizes of a value of this shape with so many elements: one dynamic dimension takes what is left."""
  dynamic = [i for i in range(shape.rank) if shape.is_dynamic_dimension(i)]
  if len(dynamic) != 1:
    return shape.dimensions
  sizes = list(shape.dimensions)
  rest = math.prod(n for i, n in enumerate(sizes) if i != dynamic[0])
  sizes[dynamic[0]] = elements // rest if rest else 0
  return tuple(sizes)


@rule("transpose")
def transpose(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  return operands[0].transpose(instruction.attrs["dimensions"])


@rule("concatenate")
def concatenate(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  return np.concatenate(operands, axis=instruction.attrs["dimensions"][0])


@rule("reverse")
def reverse(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  return np.flip(operands[0], axis=tuple(instruction.attrs.get("dimensions", ())))


@rule("iota")
def iota(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  shape, dimension = instruction.shape, instruction.attrs["iota_dimension"]
  counts = numbers.convert(np.arange(shape.dimensions[dimension], dtype=np.int64), shape.dtype)
  placed = [1] * shape.rank
  placed[dimension] = -1
  return np.broadcast_to(counts.reshape(placed), shape.dimensions)


def _bitcast_convert(instruction: Instruction, x: np.ndarray) -> np.ndarray:
  return numbers.bitcast_convert(x, instruction.shape.dtype)


# Vectorised computations are scalar, and there the width cannot change: it is elementwise.
elementwise("bitcast-convert", _bitcast_convert)


@rule("bitcast")
def bitcast(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  """The same bytes under another shape: read in the order of the operand's layout, write in that of the result's."""
  (x,) = operands
  source, target = instruction.operands[0].shape, instruction.shape
  if not source.is_array or not target.is_array:
    return x
  for shape in (source, target):
    if shape.layout is not None and shape.layout.tiles and not source.same_logical(target):
      raise evaluate_error(
        instruction, "the evaluator reads bitcasts of untiled layouts only; use a layout without tiles"
      )
  memory = x.transpose(_major_to_minor(source)).reshape(-1)
  if memory.dtype != target.dtype:
    memory = _reinterpret(memory, target.dtype)
  order = _major_to_minor(target)
  if source.is_dynamic or target.is_dynamic:
    return memory.reshape(actual_sizes(target, memory.size))
  physical = memory.reshape([target.dimensions[d] for d in order])
  return physical.transpose(np.argsort(order, kind="stable").tolist())


def _major_to_minor(shape: Shape) -> tuple[int, ...]:
  layout = shape.layout or Layout.descending(shape.rank)
  minor_to_major = layout.minor_to_major or Layout.descending(shape.rank).minor_to_major
  return tuple(reversed(minor_to_major))


def _reinterpret(memory: np.ndarray, dtype: np.dtype) -> np.ndarray:
  old, new = numbers.TYPE_OF[memory.dtype].bits, numbers.TYPE_OF[dtype].bits
  if old < new:
    memory = memory.reshape(-1, new // old)
  return numbers.bitcast_convert(memory, dtype).reshape(-1)


@rule("copy", "optimization-barrier", "opt-barrier", "domain", "add-dependency")
def pass_through(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  """The (first) operand, unchanged: effects on memory or order are invisible in values."""
  return operands[0]


@rule("copy-start")
def copy_start(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return (operands[0], operands[0], np.zeros((), np.uint32))[: len(instruction.shape.tuple_shapes)]


@rule("copy-done")
def copy_done(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return operands[0][0]


@rule("tuple")
def make_tuple(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return tuple(operands)


@rule("get-tuple-element")
def get_tuple_element(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return operands[0][instruction.attrs["index"]]


@rule("after-all", "create-token")
def after_all(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return TOKEN

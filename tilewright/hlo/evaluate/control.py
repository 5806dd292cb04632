"""Control flow: call, fusion, while, conditional, and async pairs.

An async start runs its computation at once and keeps the result; the done returns it. Overlap is invisible
in values.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from tilewright.hlo.evaluate.interpreter import Device
from tilewright.hlo.evaluate.requests import Request
from tilewright.hlo.evaluate.table import TOKEN, Value, blocking_rule, rule
from tilewright.hlo.ir import Instruction
from tilewright.hlo.shape import Shape

Run = Generator[Request, Value, Value]


@blocking_rule("call", "fusion")
def call(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  return (yield from device.run(instruction.called_computations[0], operands))


@blocking_rule("while")
def while_(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  (state,) = operands
  condition, body = instruction.attrs["condition"], instruction.attrs["body"]
  while (yield from device.run(condition, (state,))):
    device.program.budget.step(instruction)  # body and condition may have no steps of their own
    state = yield from device.run(body, (state,))
  return state


@blocking_rule("conditional")
def conditional(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  """A pred takes branch 0 when true; an index out of range takes the last branch."""
  which, *arguments = operands
  attrs = instruction.attrs
  if "branch_computations" in attrs:
    branches = attrs["branch_computations"]
  else:
    branches = (attrs["true_computation"], attrs["false_computation"])
  if which.dtype == np.bool_:
    chosen = 0 if which else 1
  else:
    chosen = int(which) if 0 <= int(which) < len(branches) else len(branches) - 1
  return (yield from device.run(branches[chosen], (arguments[chosen],)))


@blocking_rule("async-start")
def async_start(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Run:
  """((operands…), result, context…)."""
  result = yield from device.run(instruction.called_computations[0], operands)
  context = tuple(zeros(shape) for shape in instruction.shape.tuple_shapes[2:])
  return (tuple(operands), result, *context)


@rule("async-update")
def async_update(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return operands[0]


@rule("async-done")
def async_done(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  return operands[0][1]


def zeros(shape: Shape) -> Value:
  """A placeholder of this shape that is never read: contexts of async pairs, results of a device that does not participate."""
  if shape.is_tuple:
    return tuple(zeros(part) for part in shape.tuple_shapes)
  if shape.is_buffer:
    return zeros(shape.tuple_shapes[0])
  return np.zeros(shape.dimensions, shape.dtype) if shape.is_array else TOKEN

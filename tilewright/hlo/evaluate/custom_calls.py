"""Custom calls: a table from target to a function of the instruction and its operand values.

    @custom_call("my_target")
    def my_target(instruction, operands): return operands[0] + 1

or, for one evaluation, `evaluate(module, x, custom_calls={"my_target": my_target})`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np

from tilewright.hlo import block_scaled_calls
from tilewright.hlo.evaluate.contractions import dot_general, rescaled
from tilewright.hlo.evaluate.control import zeros
from tilewright.hlo.evaluate.dynamic import pad_to_static, slice_to_dynamic
from tilewright.hlo.evaluate.interpreter import CustomCall, Device, evaluate_error
from tilewright.hlo.evaluate.numbers import F64, convert
from tilewright.hlo.evaluate.sorting import top_k
from tilewright.hlo.evaluate.table import Value, rule
from tilewright.hlo.ir import Instruction

CUSTOM_CALLS: dict[str, CustomCall] = {}


def custom_call(*targets: str) -> Callable[[CustomCall], CustomCall]:
  """Registers a function for custom calls of these targets, for every evaluation from now on."""

  def register(function: CustomCall) -> CustomCall:
    for target in targets:
      CUSTOM_CALLS[target] = function
    return function

  return register


@rule("custom-call")
def run_custom_call(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  target = instruction.attrs["custom_call_target"]
  function = device.program.custom_calls.get(target) or CUSTOM_CALLS.get(target)
  if function is None:
    reason = f'the evaluator does not know the custom call "{target}"; say what it computes with '
    reason += f'evaluate(…, custom_calls={{"{target}": function}}) or @hlo.custom_call("{target}")'
    raise evaluate_error(instruction, reason)
  if target in block_scaled_calls.TARGETS:
    block_scaled_calls.check(instruction)
  return function(instruction, operands)


# Targets that XLA and JAX emit themselves.


@custom_call(
  "Sharding",
  "SPMDFullToShardShape",
  "SPMDShardToFullShape",
  "MoveToHost",
  "MoveToDevice",
  "annotate_device_placement",
  "LayoutConstraint",
  "Pin",
  "Unpin",
  "xla.sdy.FuncResultSharding",
  "xla.sdy.PropagationBarrier",
  "InsertedByPreviousStep",
  "SunkByPreviousStep",
)
def unchanged(instruction: Instruction, operands: Sequence[Value]) -> Value:
  """Annotations, and moves between memories: the value is unchanged."""
  return operands[0] if len(operands) == 1 else tuple(operands)


@custom_call("xla.sdy.ShardingGroup")
def sharding_group(instruction: Instruction, operands: Sequence[Value]) -> Value:
  """An annotation of values that are to be sharded alike; it returns nothing."""
  return () if instruction.shape.is_tuple else zeros(instruction.shape)


@custom_call("AllocateBuffer", "CreateBuffer")
def allocate(instruction: Instruction, operands: Sequence[Value]) -> Value:
  return operands[0] if operands else zeros(instruction.shape)


@custom_call("TopK", "__gpu$TopK")
def top_k_call(instruction: Instruction, operands: Sequence[Value]) -> Value:
  k = instruction.shape.tuple_shapes[0].dimensions[-1]
  return top_k(operands[0], k, largest=True)


custom_call("PadToStatic")(pad_to_static)
custom_call("SliceToDynamic")(slice_to_dynamic)


@custom_call("__op$dequantize")
def dequantize(instruction: Instruction, operands: Sequence[Value]) -> Value:
  """(data, scales): each scale times its block, rounded once."""
  found, dtype = rescaled(operands[0], operands[1]), np.dtype(instruction.shape.dtype)
  return convert(found if dtype.itemsize > 2 else _last_bit_odd(found), dtype)


def _last_bit_odd(x: np.ndarray) -> np.ndarray:
  """The float32 next to each float64, the odd one of two if it lies between them: rounding that further is rounding once."""
  near = x.astype(np.float32)
  between = (near != x) & (near.view(np.uint32) % 2 == 0)
  return np.where(between, np.nextafter(near, np.where(x > near, np.float32(np.inf), np.float32(-np.inf))), near)


@custom_call("__op$block_scaled_dot")
def block_scaled_dot(instruction: Instruction, operands: Sequence[Value]) -> Value:
  """(lhs, rhs, lhs scales, rhs scales, global scale), the last two if given; contracting dimension minor, batch major."""
  x, y, x_scale, *rest = operands
  block = block_scaled_calls.block_size(instruction)
  left = rescaled(x, _scale_each(x, x_scale, block))
  right = rescaled(y, _scale_each(y, rest[0], block)) if rest else y
  batch = tuple(range(x.ndim - 2))
  product = dot_general(left, right, (batch, batch), ((x.ndim - 1,), (y.ndim - 1,)), F64)
  if len(rest) > 1:
    product = product * rest[1].astype(F64).reshape(())  # of any rank
  return convert(product, instruction.shape.dtype)


def _scale_each(x: np.ndarray, scales: np.ndarray, block: int | None) -> np.ndarray:
  """Scales without padding, one for each element of the last dimension, where the block size is written out."""
  if block is None:
    return scales
  return np.repeat(scales, block, axis=-1)[..., : x.shape[-2], : x.shape[-1]]


@custom_call("__op$quantize")
def quantize(instruction: Instruction, operands: Sequence[Value]) -> Value:
  """x -> (data, scales): a scale is the largest magnitude of its block / 2^(overflow exponent - 1), rounded to nearest; the data are
  x / scale, saturated. Where a format has no zero, the scale of zeros is 1; where it has no NaN, that is -0 as in XLA.
  """
  data, scales = instruction.shape.tuple_shapes
  x = operands[0].astype(np.float32)
  info = ml_dtypes.finfo(data.dtype)
  blocks = scales.dimensions[-1]
  apart = x.reshape(*x.shape[:-1], blocks, x.shape[-1] // max(1, blocks))
  exponent = int(np.floor(np.log2(float(info.max))))
  amax = np.max(np.abs(apart), axis=-1, initial=0)
  wanted = amax * np.float32(2.0**-exponent)
  if scales.element_type == "f8e8m0fnu":  # has no zero; ml_dtypes rounds all that is above its smallest number upwards
    wanted = np.where(wanted == 0, np.float32(1), wanted)
    wanted = np.where(wanted < np.float32(1.5 * 2.0**-127), np.float32(2.0**-127), wanted)
  found = convert(wanted, scales.dtype)
  divisor = found.astype(np.float32)
  ratio = apart / np.where(divisor == 0, np.float32(1), divisor)[..., None]
  ratio = np.where(np.isnan(ratio), np.float32(np.nan), ratio)  # of either sign
  most = np.float32(float(info.max))
  return convert(np.clip(ratio, -most, most).reshape(x.shape), data.dtype), found

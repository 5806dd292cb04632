"""Random bits. rng-bit-generator is a pure function of its state, and defined to the bit; `rng` is not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tilewright.hlo.evaluate.interpreter import Device, evaluate_error
from tilewright.hlo.evaluate.numbers import convert
from tilewright.hlo.evaluate.table import Value, rule
from tilewright.hlo.ir import Instruction

_MASK128 = (1 << 128) - 1


@rule("rng")
def rng(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  generator = device.host.generator
  if generator is None:
    raise evaluate_error(instruction, "rng draws from a hidden state: pass evaluate(…, seed=0) to choose one")
  shape, (a, b) = instruction.shape, operands
  if instruction.attrs["distribution"] == "rng_normal":
    return convert(generator.normal(float(a), float(b), shape.dimensions), shape.dtype)
  if shape.kind in ("signed", "unsigned", "pred"):
    return generator.integers(int(a), int(b), shape.dimensions).astype(shape.dtype)
  return convert(generator.uniform(float(a), float(b), shape.dimensions), shape.dtype)


@rule("rng-get-and-update-state")
def rng_get_and_update_state(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  """A 128-bit counter of the device, high half first."""
  state = device.host.state
  device.host.state = (state + int(instruction.attrs["delta"])) & _MASK128
  return np.array([state >> 64, state & 0xFFFFFFFFFFFFFFFF], np.uint64)


@rule("rng-bit-generator")
def rng_bit_generator(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  raise evaluate_error(instruction, f"TODO {math.pi}")

"""Depthwise convolutions of XLA's module as calls of the library's kernel (`ops.depthwise`).

XLA's library multiplies channels of one group with matrices, of which a depthwise convolution has none: a group is one channel. An
instruction is taken if it is nothing but such a convolution, alone or as the only op of a fusion, with channels last in memory. Along one
dimension (`b0f`), windows move over rows of one column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from tilewright.accelerate import library
from tilewright.accelerate.calls import Codes, remove_dead, replace
from tilewright.accelerate.graph import Refused
from tilewright.hlo import Instruction
from tilewright.hlo.values import WindowDim
from tilewright.ops import calling
from tilewright.ops.depthwise import Window, depthwise


@dataclass(frozen=True)
class Depthwise:
  """A depthwise convolution: the instruction with its value, the op itself, and its operands outside."""

  home: Instruction
  op: Instruction
  x: Instruction
  w: Instruction

  @property
  def multiplications(self) -> int:
    return self.home.shape.num_elements * math.prod(d.size for d in self.op.attrs["window"])


def find(instructions: Iterable[Instruction]) -> list[Depthwise]:
  """The depthwise convolutions among instructions."""
  found = []
  for home in instructions:
    body = home.called_computations[0] if home.opcode == "fusion" else None
    op = home if body is None else body.root
    if op.opcode != "convolution" or op.attrs.get("feature_group_count", 1) == 1:
      continue
    if body is not None and (any(o.opcode != "parameter" for o in op.operands) or len(body.instructions) > 3):
      continue
    outer = op.operands if body is None else tuple(home.operands[o.parameter_number] for o in op.operands)
    if op.shape.dimensions == home.shape.dimensions and op.attrs["feature_group_count"] == home.shape.dimensions[-1]:
      found.append(Depthwise(home, op, *outer))
  return found


def rewrite(found: Depthwise, platform: str, codes: Codes) -> list[str]:
  """Put the call in; returns the names of its code."""
  op, dims, window = found.op, found.op.attrs["dim_labels"], tuple(found.op.attrs["window"])
  spatial = len(window)
  is_last = (dims.input_batch, dims.output_batch) == (0, 0) and dims.input_feature == dims.output_feature == spatial + 1
  order = tuple(range(1, spatial + 1))
  if not is_last or dims.input_spatial != order or dims.output_spatial != order:
    raise Refused("a convolution whose channels are not the last dimension")
  kernel = (*dims.kernel_spatial, dims.kernel_input_feature, dims.kernel_output_feature)
  if spatial not in (1, 2) or kernel != tuple(range(spatial + 2)):
    raise Refused(f"a convolution of {spatial} dimensions, or with its windows in another order")
  channels = found.x.shape.dimensions[-1]
  if found.w.shape.dimensions[-2:] != (1, channels) or op.attrs.get("batch_group_count", 1) != 1:
    raise Refused("a depthwise convolution with several outputs for each channel")
  if any(d.base_dilation != 1 or min(d.padding_low, d.padding_high) < 0 for d in window):
    raise Refused("a convolution with input dilation or negative padding")
  if len({i.shape.element_type for i in (found.x, found.w, found.home)}) > 1:
    raise Refused("a convolution of operands of different types")
  if jnp.dtype(found.x.shape.dtype) not in calling.FLOATS:
    raise Refused(f"a convolution of {found.x.shape.element_type}")
  for i in (found.x, found.w, found.home):
    layout = i.shape.layout
    if layout is not None and tuple(layout.minor_to_major) != tuple(reversed(range(i.shape.rank))):
      raise Refused("a convolution of arrays in another order than row-major")
  for d, size in zip(window, found.x.shape.dimensions[1:]):
    if d.padding_low >= size or d.padding_high >= size:
      raise Refused("a convolution with more zeros than elements")
  flipped = tuple(slice(None, None, -1 if d.reversal else 1) for d in window)
  rows = _window(window[0])
  columns = _window(window[1]) if spatial == 2 else Window()

  def call(x: Any, w: Any) -> Any:
    w = w[(*flipped, 0)]
    if spatial == 2:
      return depthwise(x, w, rows, columns)
    return depthwise(x[:, :, None], w[:, None], rows, columns)[:, :, 0]

  (value,), names = library.call(call, [found.x, found.w], found.home, platform, codes)
  replace(found.home, None, value, {})
  remove_dead([found.home])
  return names


def _window(d: WindowDim) -> Window:
  return Window(d.padding_low, d.padding_high, d.stride, d.window_dilation)

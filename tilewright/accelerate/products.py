"""Products of bfloat16 and int8 matrices of XLA's module as calls of the library's kernel (`ops.matmul`).

XLA:CPU multiplies bfloat16 as float32: each operand is converted to an array of its own first. On processors that multiply and add two
bfloat16 or four int8 at once, the kernel reads operands as they are. An instruction is taken if it is nothing but a product of two
row-major matrices, alone or as the only op of a fusion:

    convert(x: bf16) -> f32      convert(w: bf16) -> f32      dot -> f32            matmul(x, w) -> f32

Sums are in float32 (of int8: in int32, exactly), as XLA's are. Processors with AMX are left to XLA, whose library uses it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from tilewright.accelerate import library
from tilewright.accelerate.calls import Codes, remove_dead, replace
from tilewright.accelerate.graph import Refused, is_row_major
from tilewright.hlo import Instruction, Shape
from tilewright.ops.matmul import matmul
from tilewright.runtime import jit

# By element type: what the processor needs, the type of the result, and the least size of a dimension that the kernel was measured at.
_FEATURES = {"bf16": ("avx512bf16", "f32"), "s8": ("avx512vnni", "s32")}
_LEAST = 64


@dataclass(frozen=True)
class NarrowProduct:
  """A product: the instruction with its value, the type that is multiplied, the matrices, and which of them are given transposed.

  A matrix may be wider than that type, if what computes it has rounded it.
  """

  home: Instruction
  element_type: str
  x: Instruction
  y: Instruction
  transpose_x: bool
  transpose_y: bool
  is_widened: bool  # whether XLA multiplies wider numbers

  @property
  def multiplications(self) -> int:
    return self.home.shape.num_elements * self.x.shape.dimensions[0 if self.transpose_x else 1]


@functools.cache
def _types() -> frozenset[str]:
  """The element types whose products this processor has instructions for."""
  features = jit.host_features()
  if any(f.startswith("amx") for f in features):
    return frozenset()
  return frozenset(t for t, (needed, _) in _FEATURES.items() if needed in features)


def find(instructions: Iterable[Instruction]) -> list[NarrowProduct]:
  """The products among instructions that the kernel can compute."""
  found = []
  for home in instructions:
    body = home.called_computations[0] if home.opcode == "fusion" else None
    op = home if body is None else body.root
    if op.opcode != "dot" or (body is not None and {i.opcode for i in body.instructions} != {"dot", "parameter"}):
      continue
    outer = op.operands if body is None else tuple(home.operands[o.parameter_number] for o in op.operands)
    pairs = [_narrow(o) for o in outer]
    operands, kinds = [o for o, _ in pairs], {kind for _, kind in pairs}
    if len(outer) != 2 or any(o.shape.rank != 2 or not is_row_major(o.shape) for o in (*operands, *outer, home)):
      continue
    if len(kinds) > 1 or not kinds <= _types() or home.shape.element_type != _FEATURES[min(kinds)][1]:
      continue
    left, right = (tuple(op.attrs.get(f"{side}_contracting_dims", ())) for side in ("lhs", "rhs"))
    sizes = [*operands[0].shape.dimensions, *operands[1].shape.dimensions]
    if len(left) == len(right) == 1 and min(sizes) >= _LEAST and not op.attrs.get("sparsity"):
      is_widened = any(o.shape.element_type != min(kinds) for o in outer)
      found.append(NarrowProduct(home, min(kinds), operands[0], operands[1], left == (0,), right == (1,), is_widened))
  return found


def _narrow(value: Instruction) -> tuple[Instruction, str]:
  """What a value is converted from, element by element, and the type of its numbers; or the value itself, where a fusion rounds it."""
  fusion, op = value, value
  if value.opcode == "get-tuple-element" and value.operands[0].opcode == "fusion":
    fusion = value.operands[0]
    root = fusion.called_computations[0].root
    op = root.operands[value.attrs["index"]] if root.opcode == "tuple" else value
  elif value.opcode == "fusion":
    op = value.called_computations[0].root
  own = value.shape.element_type if value.shape.is_array else ""
  if op.opcode != "convert" or (op.operands[0].shape.element_type, own) not in (("bf16", "f32"), ("s8", "s32")):
    return value, own
  kind = op.operands[0].shape.element_type
  if op is value:
    return op.operands[0], kind
  if op.operands[0].opcode == "parameter":
    return fusion.operands[op.operands[0].parameter_number], kind
  return value, kind


def rewrite(found: NarrowProduct, platform: str, codes: Codes) -> list[str]:
  """Put the call in; returns the names of its code."""
  if found.home.control_predecessors or found.home.control_successors or found.home.sharding is not None:
    raise Refused("a product with control edges or a sharding")
  out = jnp.float32 if found.home.shape.element_type == "f32" else jnp.int32

  def call(x: Any, y: Any) -> Any:
    return matmul(x, y, transpose_x=found.transpose_x, transpose_y=found.transpose_y, out_dtype=out)

  operands = [_converted(o, found) for o in (found.x, found.y)]
  (value,), names = library.call(call, operands, found.home, platform, codes)
  replace(found.home, None, value, {})
  remove_dead([found.home])
  return names


def _converted(value: Instruction, found: NarrowProduct) -> Instruction:
  """A value in the type that is multiplied: of numbers that this type has."""
  if value.shape.element_type == found.element_type:
    return value
  assert found.home.parent is not None
  shape = Shape.array(found.element_type, value.shape.dimensions)
  return found.home.parent.insert(Instruction("narrow", "convert", shape, (value,)), before=found.home)

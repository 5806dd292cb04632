"""The library's block-scaled dot: when it can be called, and how its operands are prepared.

Rows are padded to 128 and scale columns to 4, with scales in the order of `swizzled` (`tilewright.numerics.swizzle` has the same).
"""

from __future__ import annotations

import numpy as np

from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction
from tilewright.hlo.passes.block_scaling_expand import builder_at, repeated
from tilewright.hlo.passes.block_scaling_facts import LIBRARY_SINCE, Facts
from tilewright.hlo.shape import Shape

TARGET = "__cudnn$blockScaledDot"
_ROWS, _COLUMNS, _ORDER = 128, 4, (0, 1, 4, 3, 2, 5)

# Formats of both operands' elements, of the scales, and the block: the pairs the library has. Two f8e5m2 it does not have.
SUPPORTED: frozenset[tuple[str, str, str, int]] = frozenset(
  {
    ("f8e4m3fn", "f8e4m3fn", "f8e8m0fnu", 32),
    ("f8e4m3fn", "f8e5m2", "f8e8m0fnu", 32),
    ("f8e5m2", "f8e4m3fn", "f8e8m0fnu", 32),
    ("f4e2m1fn", "f4e2m1fn", "f8e4m3fn", 16),
  }
)

RESULTS = ("f32", "bf16", "f16")
_GLOBAL_SCALE = "global scale inside"


def refuses(instruction: Instruction, facts: Facts) -> str | None:
  """Why the library cannot be called; None if it can."""
  if facts.platform != "cuda":
    return f"cuDNN is for CUDA, this is {facts}"
  if facts.compute_capability < 10.0:
    return f"cuDNN's block-scaled dot needs compute capability 10.0, this is {facts}"
  if not facts.library_has("block-scaled dot"):
    return f"cuDNN 9.10 or later is needed, this is {facts.cudnn or 'none'}"
  if len(instruction.operands) < 4:
    return "both operands must be scaled"
  x, y, sx, sy = instruction.operands[:4]
  if instruction.shape.element_type not in RESULTS:
    return f"cuDNN's results are {', '.join(RESULTS)}, not {instruction.shape.element_type}"
  if not all(z.shape.num_elements for z in (x, y, sx, sy)):
    return "cuDNN has no dot of no elements"
  k = x.shape.dimensions[-1]
  if k % sx.shape.dimensions[-1] or k % sy.shape.dimensions[-1]:
    return "scales do not divide K evenly"
  blocks = {k // s.shape.dimensions[-1] for s in (sx, sy)}
  kinds = {s.shape.element_type for s in (sx, sy)}
  found = (x.shape.element_type, y.shape.element_type, min(kinds), min(blocks))
  if len(blocks) > 1 or len(kinds) > 1 or found not in SUPPORTED:
    return f"cuDNN has no block-scaled dot of {found[0]} and {found[1]} with {found[2]} scales for {found[3]} elements"
  return None


def where_the_global_scale_is(facts: Facts) -> str:
  """For the log."""
  since = ".".join(map(str, LIBRARY_SINCE[_GLOBAL_SCALE]))
  if facts.library_has(_GLOBAL_SCALE):
    return f"the global scale is inside of cuDNN's dot (from {since} on, this is {facts.cudnn})"
  return f"the global scale is multiplied after cuDNN's dot, which has it inside from {since} on, this is {facts.cudnn}"


def rewrite(instruction: Instruction, facts: Facts) -> Instruction:
  b = builder_at(instruction)
  x, y, sx, sy, *rest = instruction.operands
  rank = x.shape.rank
  batch = x.shape.dimensions[:-2]
  # One row of scales may serve several of elements; the library wants one for each.
  sx, sy = (repeated(b, s, (*z.shape.dimensions[:-1], s.shape.dimensions[-1])) for z, s in ((x, sx), (y, sy)))
  stacked = [_stack(b, z) for z in (x, y, sx, sy)]
  rows = [z.shape.dimensions[1] for z in stacked[:2]]
  padded = [_pad_rows(b, z) for z in stacked[:2]]
  scales = [swizzled(b, z) for z in stacked[2:]]
  m, n = (z.shape.dimensions[1] for z in padded)
  inside = bool(rest) and facts.library_has(_GLOBAL_SCALE)
  dtype = instruction.shape.element_type
  afterwards = bool(rest) and not inside
  # The global scale is a float32, and what it multiplies is rounded only afterwards.
  result = Shape.array("f32" if afterwards else dtype, (padded[0].shape.dimensions[0], m, n))
  operands = (*padded, *scales, *(rest if inside else ()))
  # XLA's form of it: the result, and a workspace whose size its compiler fills in.
  both = b.op("custom-call", operands, Shape.tuple_of(result, Shape.array("u8", (0,))), custom_call_target=TARGET)
  found = b.element(both, 0)
  if (m, n) != tuple(rows):
    found = b.slice(found, (0, found.shape.dimensions[0]), (0, rows[0]), (0, rows[1]))
  if rank != 3:
    found = b.reshape(found, (*batch, *rows))
  if afterwards:
    whole = rest[0] if rest[0].shape.element_type == "f32" else b.convert(rest[0], "f32")
    found = b.multiply(found, b.broadcast(b.reshape(whole, ()), found.shape.dimensions))
  return found if found.shape.element_type == dtype else b.convert(found, dtype)


def _stack(b: Builder, x: Instruction) -> Instruction:
  """Batch dimensions as one."""
  *batch, rows, columns = x.shape.dimensions
  return x if len(batch) == 1 else b.reshape(x, (int(np.prod(batch)), rows, columns))


def _pad_rows(b: Builder, x: Instruction) -> Instruction:
  more = -x.shape.dimensions[1] % _ROWS
  if not more:
    return x
  zero = b.constant(np.zeros((), x.shape.dtype))
  return b.pad(x, zero, (0, 0), (0, more), (0, 0))


def swizzled(b: Builder, scales: Instruction) -> Instruction:
  """Scales padded, and in the order in which tensor cores read them."""
  count, rows, columns = scales.shape.dimensions
  more = -rows % _ROWS, -columns % _COLUMNS
  if any(more):
    one = b.constant(np.ones((), np.float32).astype(scales.shape.dtype))
    scales = b.pad(scales, one, (0, 0), (0, more[0]), (0, more[1]))
  rows, columns = rows + more[0], columns + more[1]
  apart = b.reshape(scales, (count, rows // _ROWS, 4, 32, columns // _COLUMNS, _COLUMNS))
  return b.reshape(b.transpose(apart, _ORDER), (count, rows, columns))

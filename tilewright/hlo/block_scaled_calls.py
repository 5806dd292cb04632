"""The custom calls of block scaling and the form each must have: `check` reports what is wrong with one.

x -> (data, scales)                          __op$quantize            the last dimension in blocks, a scale for each
data, scales -> values                       __op$dequantize          scales may be fewer along any dimension
lhs, rhs, lhs scales[, rhs scales[, whole]]  __op$block_scaled_dot    batch dimensions first, the contracting one last

Block sizes follow from the shapes. A block-scaled dot may state its block size explicitly (`block_size` in the backend config); its
scales may then be padded, in rows and columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.errors import HloShapeError
from tilewright.hlo.ir import Instruction
from tilewright.hlo.shape import Shape

TARGETS = QUANTIZE, DEQUANTIZE, DOT = "__op$quantize", "__op$dequantize", "__op$block_scaled_dot"

_HAVE_NO_INTEGERS = ("f6e2m3fn", "f6e3m2fn")  # of their width, in XLA
_FLOATS = tuple(
  t.name for t in PRIMITIVE_TYPES.values() if t.kind == "float" and t.bits <= 32 and t.name not in _HAVE_NO_INTEGERS
)
_INTEGERS = tuple(t.name for t in PRIMITIVE_TYPES.values() if t.kind in ("signed", "unsigned") and 1 < t.bits <= 16)
_SCALES = tuple(name for name in _FLOATS if PRIMITIVE_TYPES[name].bits >= 8)
_SMALL = tuple(name for name in _FLOATS if PRIMITIVE_TYPES[name].bits <= 8 and name != "f8e8m0fnu")
# What `jax.ffi.ffi_call` writes for keyword arguments; JSON is what XLA itself adds.
_ATTRIBUTES = re.compile(r"\{\s*[\w.]+\s*=")
_BLOCK_ATTRIBUTE = re.compile(r"\{\s*block_size\s*=\s*(-?\d+)\s*(?::\s*\w+\s*)?\}")


def block_size(instruction: Instruction) -> int | None:
  """The explicit block size of a block-scaled dot, from an attribute or anywhere in its JSON config; None if the shapes imply it."""
  if instruction.attrs.get("custom_call_target") != DOT or not instruction.backend_config:
    return None
  written = _BLOCK_ATTRIBUTE.fullmatch(instruction.backend_config.strip())
  if written:
    return int(written[1])
  return _number(instruction.backend_config_json)


def _number(config: Any) -> int | None:
  for key, value in config.items() if isinstance(config, dict) else ():
    found = value if key in ("block_size", "blockSize") else _number(value)
    try:
      if found is not None and int(found):
        return int(found)
    except (TypeError, ValueError):
      return None
  return None


def check(instruction: Instruction) -> None:
  """Raises if the call is not one of the three in the form above."""
  wrong = next((why for why in _problems_of(instruction) if why), None)
  if wrong is not None:
    expected, found = wrong
    target = instruction.attrs["custom_call_target"]
    raise HloShapeError(f"%{instruction.name}, a call of {target}: expected {expected}, found {found}")


Wrong = tuple[str, str] | None  # what was expected, and what was found
_Rule = Callable[[Instruction], list[Wrong]]


def _problems_of(instruction: Instruction) -> list[Wrong]:
  target = instruction.attrs["custom_call_target"]
  counts = _OPERANDS[target]
  if len(instruction.operands) not in counts:
    some = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return [(f"{some} operands ({_NAMES[target]})", f"{len(instruction.operands)}")]
  block = block_size(instruction)
  if block is not None and block < 1:
    return [("a block size of at least 1", str(block))]
  if block is None and _ATTRIBUTES.match(instruction.backend_config):
    return [("no attributes, except block_size, as sizes of blocks follow from the shapes", instruction.backend_config)]
  for name, operand in zip(_NAMES[target].split(", "), instruction.operands):
    if not operand.shape.is_array or operand.shape.is_dynamic:
      return [(f"an array of static size as {name}", f"{operand.shape}")]
  return _RULES[target](instruction)


def _quantize(instruction: Instruction) -> list[Wrong]:
  x, result = instruction.operands[0].shape, instruction.shape
  if not result.is_tuple or len(result.tuple_shapes) != 2 or not all(s.is_array for s in result.tuple_shapes):
    return [("a result (data, scales)", f"{result}")]
  data, scales = result.tuple_shapes
  blocked = scales.rank == x.rank > 0 and scales.dimensions[:-1] == x.dimensions[:-1]
  k, blocks = (x.dimensions[-1], scales.dimensions[-1]) if blocked else (0, 0)
  divides = k == 0 or (blocks > 0 and k % blocks == 0)
  return [
    _is_one_of("x", x, _FLOATS),
    _is_one_of("data", data, _SMALL),
    _is_one_of("scales", scales, _SCALES),
    (f"data of the dimensions of x, {_sizes(x)}", _sizes(data)) if data.dimensions != x.dimensions else None,
    (f"scales as x ({_sizes(x)}) but for the last dimension", _sizes(scales)) if not blocked else None,
    (f"a number of scales that divides the last dimension of x, {k}", f"{blocks}") if not divides else None,
  ]


def _dequantize(instruction: Instruction) -> list[Wrong]:
  (data, scales), result = (o.shape for o in instruction.operands), instruction.shape
  if not result.is_array:
    return [("an array as the result", f"{result}")]
  return [
    _is_one_of("data", data, (*_FLOATS, *_INTEGERS)),
    _is_one_of("scales", scales, _SCALES),
    _is_one_of("the result", result, _FLOATS),
    _fits("scales", scales, "data", data),
    (f"a result of the dimensions of data, {_sizes(data)}", _sizes(result))
    if result.dimensions != data.dimensions
    else None,
  ]


def _dot(instruction: Instruction) -> list[Wrong]:
  (x, y, x_scales, *rest), result = (o.shape for o in instruction.operands), instruction.shape
  if min(x.rank, y.rank) < 2 or x.rank != y.rank:
    return [("lhs and rhs of the same rank, matrices or batches of them", f"{_sizes(x)} and {_sizes(y)}")]
  block = block_size(instruction)
  *batch, m, k = x.dimensions
  *others, n, other_k = y.dimensions
  wanted = (*batch, m, n)
  return [
    *(_is_one_of(name, s, (*_FLOATS, *_INTEGERS)) for name, s in (("lhs", x), ("rhs", y))),
    *(_is_one_of(name, s, _SCALES) for name, s in zip(("lhs scales", "rhs scales"), (x_scales, *rest[:1]))),
    (f"lhs and rhs of the same batch dimensions, {batch}", f"{others}") if batch != others else None,
    (f"lhs and rhs of the same last dimension, {k}, which is contracted", f"{other_k}") if k != other_k else None,
    _fits("lhs scales", x_scales, "lhs", x, block),
    _fits("rhs scales", rest[0], "rhs", y, block) if rest else None,
    ("one float as the global scale", f"{rest[1]}")
    if len(rest) > 1 and (rest[1].num_elements != 1 or rest[1].kind != "float")
    else None,
    _is_one_of("the result", result, _FLOATS) if result.is_array else ("an array as the result", f"{result}"),
    (f"a result of the dimensions {list(wanted)}", _sizes(result)) if result.dimensions != wanted else None,
  ]


def _sizes(shape: Shape) -> str:
  return f"{list(shape.dimensions)}"


def _is_one_of(name: str, shape: Shape, types: tuple[str, ...]) -> Wrong:
  return None if shape.element_type in types else (f"{name} of one of {', '.join(types)}", shape.element_type)


def _fits(name: str, scales: Shape, of: str, data: Shape, block: int | None = None) -> Wrong:
  """There are as many scales as blocks along each dimension; the last block may be shorter. With an explicit block size, there may
  be more scales than blocks along the last two dimensions.
  """
  if block is not None and scales.rank == data.rank >= 2:
    columns = -(-data.dimensions[-1] // block)
    if scales.dimensions[-1] < columns:
      return f"{name} with at least {columns} columns for blocks of {block}", _sizes(scales)
    rows = min(scales.dimensions[-2], data.dimensions[-2])
    scales = scales.with_dimensions((*scales.dimensions[:-2], rows, 1))
    data = data.with_dimensions((*data.dimensions[:-1], 1))
  fits = scales.rank == data.rank and all(
    size == 0 or (count > 0 and (count - 1) * -(-size // count) < size)
    for size, count in zip(data.dimensions, scales.dimensions)
  )
  expected = f"{name} for whole blocks of {of}, {_sizes(data)}, along each dimension"
  return None if fits else (expected, f"{_sizes(scales)} (padded ones are to be cut first)")


_OPERANDS: dict[str, tuple[int, ...]] = {QUANTIZE: (1,), DEQUANTIZE: (2,), DOT: (3, 4, 5)}
_NAMES = {QUANTIZE: "x", DEQUANTIZE: "data, scales", DOT: "lhs, rhs, lhs scales, rhs scales, global scale"}
_RULES: dict[str, _Rule] = {QUANTIZE: _quantize, DEQUANTIZE: _dequantize, DOT: _dot}

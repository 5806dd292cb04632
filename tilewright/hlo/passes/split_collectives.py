"""Splitting of large collectives, so that the first part can be used, or overlapped, while the next is in flight.

    y = all-reduce(x)        y = concatenate(all-reduce(x[0:n]), all-reduce(x[n:2n]), …)

Precondition: an all-reduce, collective-permute, all-gather or reduce-scatter whose operands exceed `max_bytes`, no control
edges, static shapes. *Proof.* These work on each element by itself, apart from the dimension that is gathered or scattered:
cutting along any other dimension and joining the results again gives the same array, bit for bit. A collective of several
operands is first cut between them. Parts after the first get channels of their own. Cuts go along the longest dimension that
may be cut, in the units of the layout's slowest dimension first, because those parts are contiguous.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import Channels, has_control_edges
from tilewright.hlo.passes.combine_collectives import replace_results
from tilewright.hlo.shape import Shape

OPCODES = frozenset({"all-reduce", "collective-permute", "all-gather", "reduce-scatter"})


@register_pass("split_collectives")
@dataclass(frozen=True)
class SplitCollectives(Pass):
  """Cuts large collectives into parts of at most `max_bytes`."""

  max_bytes: int = 256 << 20
  max_parts: int = 16

  def run(self, module: Module) -> bool:
    changed = False
    channels = Channels(module)
    for computation in module.computations:
      for instruction in list(computation.instructions):
        if instruction.opcode in OPCODES and not computation.is_fusion:
          changed |= self._split(instruction, channels)
    return changed

  def _split(self, instruction: Instruction, channels: Channels) -> bool:
    if has_control_edges(instruction) or any(o.shape.is_dynamic for o in instruction.operands):
      return False
    if instruction.opcode == "collective-permute" and len(instruction.operands) != 1:
      return False
    if sum(o.shape.byte_size for o in instruction.operands) <= self.max_bytes:
      return False
    shapes = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
    cuts = [self._cut(instruction, operand.shape) for operand in instruction.operands]
    if len(cuts) == 1 and cuts[0] is None:
      return False
    builder = Builder(instruction.parent or "", before=instruction, metadata=instruction.metadata)
    first = True
    results: list[Instruction] = []
    for operand, shape, cut in zip(instruction.operands, shapes, cuts):
      parts: list[Instruction] = []
      for piece, piece_shape in _pieces(builder, operand, shape, cut):
        part = clone_instruction(instruction, (piece,), piece_shape)
        part.sharding = part.origin = None
        if not first and part.attrs.get("channel_id"):
          part.attrs["channel_id"] = channels.take()
        parts.append(builder.computation.insert(part, before=instruction))
        first = False
      joined = parts[0] if cut is None else builder.op("concatenate", parts, shape, dimensions=(cut[0],))
      results.append(joined)
    replace_results(instruction, results)
    return True

  def _cut(self, instruction: Instruction, shape: Shape) -> tuple[int, list[int]] | None:
    """The dimension to cut and the places to cut at; None if this operand stays whole."""
    if shape.byte_size <= self.max_bytes:
      return None
    fixed = instruction.attrs.get("dimensions", ()) if instruction.opcode in ("all-gather", "reduce-scatter") else ()
    order = reversed(shape.layout.minor_to_major) if shape.layout is not None else range(shape.rank)
    candidates = [d for d in order if d not in fixed and shape.dimensions[d] > 1]
    wanted = min(-(-shape.byte_size // self.max_bytes), self.max_parts)
    dimension = next((d for d in candidates if shape.dimensions[d] >= wanted), None)
    if dimension is None:
      dimension = max(candidates, key=lambda d: shape.dimensions[d], default=None)
    if dimension is None:
      return None
    size = shape.dimensions[dimension]
    parts = min(wanted, size)
    return dimension, [size * i // parts for i in range(parts + 1)]


def _pieces(
  builder: Builder, operand: Instruction, result: Shape, cut: tuple[int, list[int]] | None
) -> list[tuple[Instruction, Shape]]:
  """The parts of an operand, with the shape of the result of each."""
  if cut is None:
    return [(operand, result)]
  dimension, places = cut
  found: list[tuple[Instruction, Shape]] = []
  for start, limit in itertools.pairwise(places):
    box = [(start, limit) if d == dimension else (0, size) for d, size in enumerate(operand.shape.dimensions)]
    piece = builder.slice(operand, *box)
    piece.shape = piece.shape.with_layout(operand.shape.layout)
    sizes = tuple(limit - start if d == dimension else size for d, size in enumerate(result.dimensions))
    found.append((piece, result.with_dimensions(sizes).with_layout(result.layout)))
  return found

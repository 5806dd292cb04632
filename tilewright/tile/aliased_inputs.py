"""Reads of aliased inputs become reads of the outputs, where nobody can tell, so that XLA need not copy the array.

The blocks of an input aliased to an output (`input_output_aliases`) keep their values while blocks of the output change. In general that
takes two arrays: the output begins as a copy. One is enough if each element is read before it is written:

- each instance reads and writes the same block, and no other instance has that block: the index maps are equal, and every grid dimension
  tells blocks apart;
- no read of an instance may follow a write of its own.

    o_ref[...] = x_ref[...] + 1            %2 = load %x; store %o, ...    →    %2 = load %o; store %o, ...

An input that the body does not use after this shares the memory of its output (`llvm.calling`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tilewright.tile.dead_code import VIEWS, accesses, base_of
from tilewright.tile.grid import Blocked, Squeezed
from tilewright.tile.ir import Block, Function, Op, Value, copied, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ops import OPS
from tilewright.tile.parallel import has_distinct_blocks
from tilewright.tile.printer import to_text
from tilewright.tile.types import RefType

_LOADS = ("load", "window_load", "gather_load")
_Place = tuple[
  tuple[int, Op, int], ...
]  # the number of an op in its block, the op, and the number of a block in it, from outside in


def read_through_outputs(kernel: NativeKernel) -> NativeKernel:
  """The kernel with reads of aliased inputs through their outputs, wherever each element is read before it is written."""
  pairs = [(into, out) for into, out in kernel.input_output_aliases if _is_one_block(kernel, into, out)]
  if not pairs or kernel.warpgroups > 1 or kernel.mesh:
    return kernel
  first_output = kernel.mapping.num_prefetch + kernel.mapping.num_inputs
  params = kernel.body.params
  instead = {
    into: first_output + out
    for into, out in pairs
    if _reads_come_first(kernel, params[into], params[first_output + out])
  }
  if not instead:
    return kernel
  body = copied(kernel.body)
  through = {body.params[into]: body.params[out] for into, out in instead.items()}
  for op in walk(body.body):
    op.operands = [through.get(v, v) for v in op.operands]
  return dataclasses.replace(kernel, body=body)


def is_used(kernel: NativeKernel, number: int) -> bool:
  """Whether the body uses one of its parameters."""
  param = kernel.body.params[number]
  return any(param in op.operands for op in walk(kernel.body.body))


def _is_one_block(kernel: NativeKernel, into: int, out: int) -> bool:
  """Whether each instance sees the same block through an input and through an output, and no other instance sees any of it."""
  mapping, source = kernel.mapping, into - kernel.mapping.num_prefetch
  if source < 0:
    return False
  given, result = mapping.input_mappings[source], mapping.output_mappings[out]
  first, second = kernel.index_maps[source], kernel.index_maps[mapping.num_inputs + out]
  if given.block_shape != result.block_shape or given.array_aval.shape != result.array_aval.shape:
    return False
  if kernel.body.params[into].type != kernel.body.params[mapping.num_prefetch + mapping.num_inputs + out].type:
    return False
  dims = [d for d, size in enumerate(mapping.grid) if size != 1]
  if first is None or second is None:
    return first is second and not dims
  kinds = all(isinstance(kind, Blocked | Squeezed) for kind in result.block_shape)
  return (
    kinds and _computation(first) == _computation(second) and all(has_distinct_blocks(result, second, d) for d in dims)
  )


def _computation(index_map: Function) -> str:
  return to_text(Function("index_map", index_map.body), locations=False)


def _reads_come_first(kernel: NativeKernel, into: Value, out: Value) -> bool:
  """Whether the body only loads from one ref, and never after it accessed the other in a way that may write."""
  reads: list[_Place] = []
  writes: list[_Place] = []
  for place, op in _places(kernel.body.body):
    if op.name not in VIEWS and into in (base_of(v) for v in op.operands if isinstance(v.type, RefType)):
      if op.name not in _LOADS:
        return False
      reads.append(place)
    if out in accesses(op)[1]:
      writes.append(place)
  return all(_is_before(read, write) for read in reads for write in writes)


def _places(block: Block, around: _Place = ()) -> Iterator[tuple[_Place, Op]]:
  for number, op in enumerate(block.ops):
    yield (*around, (number, op, -1)), op
    for k, inner in enumerate(op.blocks):
      yield from _places(inner, (*around, (number, op, k)))


def _is_before(read: _Place, write: _Place) -> bool:
  """Whether an op never runs after another one in the same instance."""
  for (i, op, case), (j, _, other) in zip(read, write):
    if i != j:
      return i < j
    if not OPS[op.name].is_choice:
      return False  # a loop: the read of a round comes after the write of the one before
    if case != other:
      return True
  return False

"""Arrays of a kernel that other devices access: where they do not see XLA's memory, a copy takes an array's place while the kernel runs."""

from __future__ import annotations

import dataclasses

from tilewright.tile.dead_code import base_of
from tilewright.tile.formats import width
from tilewright.tile.ir import Block, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import is_one_memory
from tilewright.tile.uninitialized import outputs_to_poison


@dataclasses.dataclass(frozen=True)
class Staged:
  """An array that other devices access: while the kernel runs, it is replaced by a copy in memory that they see."""

  number: int
  nbytes: int
  same_as: int  # the number of an earlier one that is the same memory, or -1
  is_read: bool  # what it holds before
  is_written: bool


def staged(kernel: NativeKernel) -> list[Staged]:
  """The arrays that the bodies of a kernel access on other devices, and their aliases."""
  mapping = kernel.mapping
  first, inputs = mapping.num_prefetch, mapping.num_inputs
  count = first + len(mapping.block_mappings)
  seen: set[int] = set()
  for op in walk(kernel.body.body):
    base = base_of(op.operands[0]) if op.name == "remote" else None
    if base is not None and isinstance(base.owner, Block) and kernel.body.params.index(base) < count:
      seen.add(kernel.body.params.index(base))
  source_of = {
    first + inputs + out: into for into, out in kernel.input_output_aliases if is_one_memory(kernel, into, out)
  }
  for out, into in source_of.items():
    if out in seen or into in seen:
      seen |= {out, into}
  filled = {first + inputs + i for i in (*outputs_to_poison(kernel), *(out for _, out in kernel.input_output_aliases))}
  return [
    Staged(k, array_bytes(kernel, k), source_of.get(k, -1), k < first + inputs or k in filled, k >= first + inputs)
    for k in sorted(seen)
  ]


def array_bytes(kernel: NativeKernel, number: int) -> int:
  """The bytes of an operand's whole array."""
  first = kernel.mapping.num_prefetch
  if number < first:
    ref = kernel.body.params[number].ref
    return int(ref.size * ref.dtype.itemsize)
  aval = kernel.mapping.block_mappings[number - first].array_aval
  return -(-int(aval.size) * max(8, width(aval.dtype)) // 8)


def number_of_devices(kernel: NativeKernel) -> int:
  count = 1
  for _, size in kernel.mesh:
    count *= size
  return count

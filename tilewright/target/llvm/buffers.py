"""The buffers of a kernel, by the user's names: to reject sizes that exceed the machine's memory, and for error messages.

scratch_shapes[0]: f32[1000000, 1000000] (3.6 TiB)
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.tile.ir import walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import RefType

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


@dataclasses.dataclass(frozen=True)
class Buffer:
  """Memory that instances of a kernel may need: a block, scratch memory, or what `run_scoped` gives."""

  name: str
  shape: tuple[int, ...]
  dtype: Any

  @property
  def nbytes(self) -> int:
    return math.prod(self.shape) * np.dtype(self.dtype).itemsize

  def __str__(self) -> str:
    return f"{self.name}: {np.dtype(self.dtype).name}[{', '.join(map(str, self.shape))}] ({size_text(self.nbytes)})"


def size_text(nbytes: int) -> str:
  """A number of bytes for people."""
  power = min(len(_UNITS) - 1, max(0, nbytes.bit_length() - 1) // 10)
  return f"{nbytes} bytes" if power == 0 else f"{nbytes / 1024**power:.1f} {_UNITS[power]}"


def buffers(kernel: NativeKernel) -> Iterator[Buffer]:
  mapping = kernel.mapping
  for m in mapping.block_mappings:
    if not m.is_whole_array:
      yield Buffer(f"the block of {m.origin}", tuple(m.block_sizes), m.array_aval.dtype)
  for i, ty in enumerate(kernel.scratch):
    if isinstance(ty, RefType):
      name = f"scratch_shapes[{i}]" if i < mapping.num_scratch else "a global ref"
      yield Buffer(name, ty.shape, ty.dtype)
  for op in walk(kernel.body.body):
    if op.name == "alloc":
      yield Buffer(
        f"a buffer of run_scoped{f' at {op.loc}' if op.loc else ''}", op.result.ref.shape, op.result.ref.dtype
      )


def largest(kernel: NativeKernel) -> Buffer | None:
  return max(buffers(kernel), key=lambda own: own.nbytes, default=None)


def host_memory() -> int:
  """The bytes of memory that this machine has."""
  return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check(kernel: NativeKernel, limit: int, owner: str) -> None:
  """Refuse a kernel with a buffer larger than the memory that it would be in."""
  for own in buffers(kernel):
    if own.nbytes > limit:
      raise errors.ResourceExhaustedError(
        f"The kernel '{kernel.name}' needs more memory than there is: {own}, and {owner} has {size_text(limit)}. Use "
        "smaller blocks or scratch shapes."
      )


def check_total(kernel: NativeKernel, nbytes: int, limit: int, owner: str) -> None:
  """Refuse a kernel whose buffers, those of its intermediate values included, are larger together."""
  if nbytes > limit:
    raise errors.ResourceExhaustedError(
      f"The kernel '{kernel.name}' needs more memory than there is: an instance takes {size_text(nbytes)}, and {owner} has "
      f"{size_text(limit)}. {_description(kernel)} Use smaller blocks."
    )


def no_memory(kernel: NativeKernel, nbytes: int) -> str:
  """What to say when a thread gets no memory for the buffers of an instance."""
  return f"There is no memory for the buffers of the kernel '{kernel.name}': each thread needs {size_text(nbytes)}. {_description(kernel)}"


def _description(kernel: NativeKernel) -> str:
  found = largest(kernel)
  return "They are for intermediate values." if found is None else f"Its largest is {found}."

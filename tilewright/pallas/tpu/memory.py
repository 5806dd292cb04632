"""The memories of a TPU, by name.

A space called with a shape and a dtype describes an allocation: `VMEM((8, 128), jnp.float32)`. Off a TPU the names keep their
meaning for sharing: VMEM, SMEM and semaphores belong to a core, HBM to the device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from tilewright.tile.memory import MemoryRef, SemaphoreType, TpuMemorySpace, dma_semaphore, memory_ref
from tilewright.tile.memory import MemorySpace as CommonMemorySpace

MemorySpace = TpuMemorySpace

VMEM = MemorySpace.VMEM
VMEM_SHARED = MemorySpace.VMEM_SHARED
SMEM = MemorySpace.SMEM
CMEM = MemorySpace.CMEM
HBM = MemorySpace.HBM
SEMAPHORE = MemorySpace.SEMAPHORE
KEY = CommonMemorySpace.KEY


@dataclasses.dataclass(frozen=True)
class AccMemorySpace:
  """The accumulators of one matrix unit, as a memory space: `ACC(0)((8, 128), jnp.float32)`."""

  mxu_id: int

  # Tells the checks of block specs that this class, which is not one of the enums, is a memory space.
  is_tilewright_memory_space = True

  def __str__(self) -> str:
    return f"acc{self.mxu_id}"

  def __call__(self, shape: Sequence[int], dtype: Any) -> MemoryRef:
    return memory_ref(shape, dtype, self)

  def from_type(self, ty: Any) -> MemoryRef:
    return MemoryRef(ty, self)


ACC = AccMemorySpace

__all__ = [
  "ACC",
  "CMEM",
  "HBM",
  "KEY",
  "SEMAPHORE",
  "SMEM",
  "VMEM",
  "VMEM_SHARED",
  "AccMemorySpace",
  "CommonMemorySpace",
  "MemorySpace",
  "SemaphoreType",
  "dma_semaphore",
]

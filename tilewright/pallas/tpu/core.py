"""The names that programs reach through `pltpu.core`: memories, semaphores, meshes and parameters."""

from tilewright.pallas.specs import PrefetchScalarGridSpec
from tilewright.pallas.tpu.memory import MemorySpace, SemaphoreType, dma_semaphore
from tilewright.pallas.tpu.mesh import CoreType, TensorCoreMesh, create_tensorcore_mesh
from tilewright.pallas.tpu.params import CompilerParams, DimensionSemantics, GridDimensionSemantics, SideEffectType

__all__ = [
  "CompilerParams",
  "CoreType",
  "DimensionSemantics",
  "GridDimensionSemantics",
  "MemorySpace",
  "PrefetchScalarGridSpec",
  "SemaphoreType",
  "SideEffectType",
  "TensorCoreMesh",
  "create_tensorcore_mesh",
  "dma_semaphore",
]

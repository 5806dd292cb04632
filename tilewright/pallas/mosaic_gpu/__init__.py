"""Names that users of `jax.experimental.pallas.mosaic_gpu` expect: what there is to say about memory and layouts in a kernel.

    x_spec = plgpu.BlockSpec((64, 64), lambda i: (i, 0), transforms=[plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)])
    scratch = [plgpu.SMEM((64, 64), jnp.bfloat16, transforms=[plgpu.SwizzleTransform(128)]), plgpu.ACC((64, 64))]
    y = plgpu.layout_cast(x_ref[...], plgpu.Layout.WGMMA)

On NVIDIA GPUs these are hard constraints: the compiler chooses all other layouts so that they hold, or says which of them exclude each
other. Elsewhere they mean nothing, and the kernel computes the same.
"""

from tilewright.layout.transforms import Swizzle as SwizzleTransform
from tilewright.layout.transforms import Tiling as TilingTransform
from tilewright.layout.transforms import Transform
from tilewright.layout.transforms import Transpose as TransposeTransform
from tilewright.pallas.mosaic_gpu.atomics import atomic_add, atomic_and, atomic_max, atomic_min, atomic_or, atomic_xor
from tilewright.pallas.mosaic_gpu.layouts import (
  Layout,
  ParameterizedLayout,
  ReducedLayout,
  broadcasted_iota,
  find_swizzle,
  layout_cast,
  load,
)
from tilewright.pallas.mosaic_gpu.memory import ACC, GMEM, REGS, SMEM, TMEM, MemorySpace, WGMMAAccumulatorRef
from tilewright.pallas.mosaic_gpu.missing import lookup as __getattr__
from tilewright.pallas.mosaic_gpu.specs import BlockSpec, CompilerParams

__all__ = [
  "ACC",
  "GMEM",
  "REGS",
  "SMEM",
  "TMEM",
  "BlockSpec",
  "CompilerParams",
  "Layout",
  "MemorySpace",
  "ParameterizedLayout",
  "ReducedLayout",
  "SwizzleTransform",
  "TilingTransform",
  "Transform",
  "TransposeTransform",
  "WGMMAAccumulatorRef",
  "atomic_add",
  "atomic_and",
  "atomic_max",
  "atomic_min",
  "atomic_or",
  "atomic_xor",
  "broadcasted_iota",
  "find_swizzle",
  "layout_cast",
  "load",
]

"""The names of `jax.experimental.pallas.mosaic_gpu`: memory, layouts, copies, barriers and matrix products of GPU kernels.

    x_spec = plgpu.BlockSpec((64, 64), lambda i: (i, 0), transforms=[plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)])
    scratch = [plgpu.SMEM((64, 64), jnp.bfloat16, transforms=[plgpu.SwizzleTransform(128)]), plgpu.ACC((64, 64))]
    y = plgpu.layout_cast(x_ref[...], plgpu.Layout.WGMMA)

    plgpu.kernel(body, out_type=…, grid=(4,), grid_names=("i",), scratch_types=[plgpu.SMEM((64, 64), jnp.bfloat16), plgpu.Barrier()])

On NVIDIA GPUs the given layouts are hard constraints: the compiler chooses all other layouts to satisfy them, or reports which of them
conflict. On other targets they have no effect, and the kernel computes the same.
"""

from tilewright.layout.transforms import Swizzle as SwizzleTransform
from tilewright.layout.transforms import Tiling as TilingTransform
from tilewright.layout.transforms import Transform
from tilewright.layout.transforms import Transpose as TransposeTransform
from tilewright.pallas.mosaic_gpu.atomics import atomic_add, atomic_and, atomic_max, atomic_min, atomic_or, atomic_xor
from tilewright.pallas.mosaic_gpu.barriers import Barrier, barrier_arrive, barrier_test, barrier_wait
from tilewright.pallas.mosaic_gpu.clusters import (
  ClusterBarrier,
  TryClusterCancelResult,
  async_store_smem,
  cluster_ref,
  query_cluster_cancel,
  try_cluster_cancel,
)
from tilewright.pallas.mosaic_gpu.copies import (
  async_prefetch,
  commit_smem,
  commit_smem_to_gmem_group,
  copy_gmem_to_smem,
  copy_smem_to_gmem,
  griddepcontrol_launch_dependents,
  griddepcontrol_wait,
  set_max_registers,
  wait_gmem_to_smem,
  wait_smem_to_gmem,
)
from tilewright.pallas.mosaic_gpu.devices import (
  PeerMemRef,
  multicast_ref,
  multimem_load_reduce,
  multimem_store,
  remote_ref,
  semaphore_signal_multicast,
)
from tilewright.pallas.mosaic_gpu.foreign import RefType, ShapeDtypeStruct, as_torch_kernel, inline_mgpu
from tilewright.pallas.mosaic_gpu.interpret import (
  InterpretGPUParams,
  force_gpu_interpret_mode,
  interpret_error,
  interpret_races,
  reset_gpu_interpret_mode_state,
  set_gpu_interpret_mode,
)
from tilewright.pallas.mosaic_gpu.layouts import (
  Layout,
  ParameterizedLayout,
  ReducedLayout,
  broadcasted_iota,
  find_swizzle,
  layout_cast,
  load,
  print_layout,
)
from tilewright.pallas.mosaic_gpu.loops import (
  NDLoopInfo,
  dynamic_scheduling_loop,
  emit_pipeline,
  nd_loop,
  planar_snake,
)
from tilewright.pallas.mosaic_gpu.memory import (
  ACC,
  GMEM,
  REGS,
  SMEM,
  TMEM,
  MemorySpace,
  RefUnion,
  TMEMLayout,
  WGMMAAccumulatorRef,
  transform_ref,
  transpose_ref,
)
from tilewright.pallas.mosaic_gpu.meshes import Mesh, kernel
from tilewright.pallas.mosaic_gpu.partition import CopyPartition
from tilewright.pallas.mosaic_gpu.products import mma, wgmma, wgmma_accumulator_load, wgmma_wait
from tilewright.pallas.mosaic_gpu.semaphores import (
  SemaphoreSignal,
  SemaphoreType,
  semaphore_signal,
  semaphore_signal_parallel,
  semaphore_wait,
)
from tilewright.pallas.mosaic_gpu.specialized import PipelinePipeline, emit_pipeline_warp_specialized
from tilewright.pallas.mosaic_gpu.specs import BlockSpec, CompilerParams, LoweringSemantics, OOBFillMode, TraceScope
from tilewright.pallas.mosaic_gpu.tensor_memory import (
  async_copy_scales_to_tmem,
  async_copy_smem_to_tmem,
  async_copy_sparse_metadata_to_tmem,
  async_load_tmem,
  async_store_tmem,
  commit_tmem,
  format_tcgen05_sparse_metadata,
  tcgen05_commit_arrive,
  tcgen05_mma,
  wait_load_tmem,
)
from tilewright.pallas.mosaic_gpu.tiling import Replicated, Tiling
from tilewright.pallas.mosaic_gpu.warps import WarpMesh, warp_map

__all__ = [
  "ACC",
  "GMEM",
  "REGS",
  "SMEM",
  "TMEM",
  "Barrier",
  "BlockSpec",
  "ClusterBarrier",
  "CompilerParams",
  "CopyPartition",
  "InterpretGPUParams",
  "Layout",
  "LoweringSemantics",
  "MemorySpace",
  "Mesh",
  "NDLoopInfo",
  "OOBFillMode",
  "ParameterizedLayout",
  "PeerMemRef",
  "PipelinePipeline",
  "ReducedLayout",
  "RefType",
  "RefUnion",
  "Replicated",
  "SemaphoreSignal",
  "SemaphoreType",
  "ShapeDtypeStruct",
  "SwizzleTransform",
  "TMEMLayout",
  "Tiling",
  "TilingTransform",
  "TraceScope",
  "Transform",
  "TransposeTransform",
  "TryClusterCancelResult",
  "WGMMAAccumulatorRef",
  "WarpMesh",
  "as_torch_kernel",
  "async_copy_scales_to_tmem",
  "async_copy_smem_to_tmem",
  "async_copy_sparse_metadata_to_tmem",
  "async_load_tmem",
  "async_prefetch",
  "async_store_smem",
  "async_store_tmem",
  "atomic_add",
  "atomic_and",
  "atomic_max",
  "atomic_min",
  "atomic_or",
  "atomic_xor",
  "barrier_arrive",
  "barrier_test",
  "barrier_wait",
  "broadcasted_iota",
  "cluster_ref",
  "commit_smem",
  "commit_smem_to_gmem_group",
  "commit_tmem",
  "copy_gmem_to_smem",
  "copy_smem_to_gmem",
  "dynamic_scheduling_loop",
  "emit_pipeline",
  "emit_pipeline_warp_specialized",
  "find_swizzle",
  "force_gpu_interpret_mode",
  "format_tcgen05_sparse_metadata",
  "griddepcontrol_launch_dependents",
  "griddepcontrol_wait",
  "inline_mgpu",
  "interpret_error",
  "interpret_races",
  "kernel",
  "layout_cast",
  "load",
  "mma",
  "multicast_ref",
  "multimem_load_reduce",
  "multimem_store",
  "nd_loop",
  "planar_snake",
  "print_layout",
  "query_cluster_cancel",
  "remote_ref",
  "reset_gpu_interpret_mode_state",
  "semaphore_signal",
  "semaphore_signal_multicast",
  "semaphore_signal_parallel",
  "semaphore_wait",
  "set_gpu_interpret_mode",
  "set_max_registers",
  "tcgen05_commit_arrive",
  "tcgen05_mma",
  "transform_ref",
  "transpose_ref",
  "try_cluster_cancel",
  "wait_gmem_to_smem",
  "wait_load_tmem",
  "wait_smem_to_gmem",
  "warp_map",
  "wgmma",
  "wgmma_accumulator_load",
  "wgmma_wait",
]

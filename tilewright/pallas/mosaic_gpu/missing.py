"""Names of `jax.experimental.pallas.mosaic_gpu` that are not here, and what to write instead.

Most of them say by hand what this compiler finds by itself: when threads wait, what is copied ahead of time, which warps do what. A kernel
with blocks and products gets all of that.
"""

from __future__ import annotations

from typing import Any

from tilewright import errors

_PIPELINES = (
  "write the kernel with pl.pallas_call, a grid and BlockSpecs: blocks are brought to shared memory ahead of time"
)
_WAITING = "threads wait where one needs what another wrote, without being told"
_SEMAPHORES = "use pl.semaphore_signal and pl.semaphore_wait, with pltpu.SemaphoreType.REGULAR for scratch memory"
_COPYING = "read and write refs: copies to shared memory, by TMA where there is one, follow from BlockSpecs"
_PRODUCTS = (
  "write jnp.dot(a, b, preferred_element_type=jnp.float32), which becomes wgmma or mma.sync, and add it to an ACC"
)
_TENSOR_MEMORY = "there are no refs to tensor memory; jnp.dot becomes mma.sync on such GPUs"
_DEVICES = "memory of other devices is reached by pltpu.make_async_remote_copy"
_CLUSTERS = "clusters are asked for by nvgpu.CompilerParams(cluster=…), and share what they read by themselves"

_INSTEAD = {
  _PIPELINES: "CopyPartition Mesh NDLoopInfo OOBFillMode PipelinePipeline WarpMesh dynamic_scheduling_loop emit_pipeline "
  "emit_pipeline_warp_specialized kernel nd_loop planar_snake set_max_registers warp_map griddepcontrol_launch_dependents "
  "griddepcontrol_wait LoweringSemantics",
  _WAITING: "Barrier ClusterBarrier barrier_arrive barrier_test barrier_wait commit_smem",
  _SEMAPHORES: "SemaphoreSignal SemaphoreType semaphore_signal semaphore_signal_multicast semaphore_signal_parallel semaphore_wait",
  _COPYING: "async_prefetch async_store_smem commit_smem_to_gmem_group copy_gmem_to_smem copy_smem_to_gmem wait_gmem_to_smem "
  "wait_smem_to_gmem RefUnion",
  _PRODUCTS: "mma wgmma wgmma_accumulator_load wgmma_wait",
  _TENSOR_MEMORY: "TMEMLayout async_copy_scales_to_tmem async_copy_smem_to_tmem async_copy_sparse_metadata_to_tmem async_load_tmem "
  "async_store_tmem commit_tmem format_tcgen05_sparse_metadata tcgen05_commit_arrive tcgen05_mma wait_load_tmem",
  _DEVICES: "PeerMemRef multicast_ref multimem_load_reduce multimem_store remote_ref",
  _CLUSTERS: "TryClusterCancelResult cluster_ref query_cluster_cancel try_cluster_cancel",
  "TILEWRIGHT_DUMP=folder writes the layouts of every kernel, and layout.print_layout prints one": "print_layout TraceScope",
  "give transforms where a ref is made, SMEM(…, transforms=…), and use ref.transpose(…) or ref.reshape(…)": "transform_ref transpose_ref",
  "give a layout of tilewright.layout": "Replicated Tiling RefType ShapeDtypeStruct inline_mgpu",
  "kernels run on any machine with interpret=True": "InterpretGPUParams force_gpu_interpret_mode set_gpu_interpret_mode",
  "call the kernel from JAX": "as_torch_kernel",
}
ADVICE = {name: advice for advice, names in _INSTEAD.items() for name in names.split()}


def lookup(name: str) -> Any:
  """The `__getattr__` of the package."""
  known = f"module 'tilewright.pallas.mosaic_gpu' has no attribute {name!r}"
  if name not in ADVICE:
    raise AttributeError(known)
  raise errors.MissingNameError(f"{known}, which Mosaic GPU has. Instead: {ADVICE[name]}.")

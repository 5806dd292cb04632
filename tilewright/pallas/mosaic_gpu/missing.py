"""Names of `jax.experimental.pallas.mosaic_gpu` that are not here, and what to write instead.

Most of them say by hand what this compiler finds by itself: which warps do what, what is copied ahead of time, what blocks of a cluster
share. A kernel with blocks and products gets all of that.
"""

from __future__ import annotations

from typing import Any

from tilewright import errors

_PIPELINES = (
  "write the kernel with pl.pallas_call, a grid and BlockSpecs: blocks are brought to shared memory ahead of time"
)
_WARPS = "write what one warp or warpgroup would do for all of them: the compiler deals the work out"
_WAITING = "threads wait where one needs what another wrote, without being told"
_TENSOR_MEMORY = (
  "there are no scales or sparse operands in tensor memory; see tilewright.numerics for block-scaled products"
)
_DEVICES = "memory of other devices is reached by pltpu.make_async_remote_copy"
_CLUSTERS = "clusters are asked for by nvgpu.CompilerParams(cluster=…), and share what they read by themselves"

_INSTEAD = {
  _PIPELINES: "PipelinePipeline emit_pipeline_warp_specialized",
  _WARPS: "WarpMesh warp_map barrier_test",
  _WAITING: "ClusterBarrier",
  _TENSOR_MEMORY: "TMEMLayout async_copy_scales_to_tmem async_copy_sparse_metadata_to_tmem format_tcgen05_sparse_metadata",
  _DEVICES: "PeerMemRef multicast_ref multimem_load_reduce multimem_store remote_ref semaphore_signal_multicast",
  _CLUSTERS: "CopyPartition TryClusterCancelResult async_store_smem cluster_ref query_cluster_cancel try_cluster_cancel",
  "TILEWRIGHT_DUMP=folder writes the layouts of every kernel, and layout.print_layout prints one": "print_layout",
  "give transforms where a ref is made, SMEM(…, transforms=…), and use ref.transpose(…) or ref.reshape(…)": "transform_ref",
  "give a layout of tilewright.layout": "Replicated Tiling RefType ShapeDtypeStruct inline_mgpu",
  "call the kernel from JAX": "as_torch_kernel",
}
ADVICE = {name: advice for advice, names in _INSTEAD.items() for name in names.split()}


def lookup(name: str) -> Any:
  """The `__getattr__` of the package."""
  known = f"module 'tilewright.pallas.mosaic_gpu' has no attribute {name!r}"
  if name not in ADVICE:
    raise AttributeError(known)
  raise errors.MissingNameError(f"{known}, which Mosaic GPU has. Instead: {ADVICE[name]}.")

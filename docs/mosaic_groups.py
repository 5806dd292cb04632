"""What each group of names of `plgpu` does, on which target: the table at the head of that section of docs/api.md."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
  """Names that belong together, and what they do on NVIDIA GPUs and elsewhere (the CPU, `interpret=`)."""

  title: str
  names: str
  on_gpus: str
  elsewhere: str


GROUPS = [
  Group(
    "kernels and meshes",
    "kernel Mesh CompilerParams LoweringSemantics TraceScope",
    "a grid of CTAs, launched in clusters where those cooperate; warpgroups (`num_threads`) share scratch "
    "memory. A profile is a folder of traces; parameters for barriers and reductions mean nothing",
    "instances of a grid; warpgroups take turns (CPU) or are threads of the simulated machine",
  ),
  Group(
    "memory",
    "GMEM SMEM TMEM REGS MemorySpace ACC WGMMAAccumulatorRef RefUnion TMEMLayout BlockSpec OOBFillMode ShapeDtypeStruct "
    "RefType transpose_ref transform_ref",
    "SMEM is shared memory, ACC registers of a warpgroup; TMEM is ordinary memory or registers, on every architecture; "
    "trees of a RefUnion in SMEM take turns in one memory",
    "ordinary memory",
  ),
  Group(
    "layouts and transforms",
    "Layout Tiling Replicated layout_cast load broadcasted_iota print_layout find_swizzle TilingTransform SwizzleTransform "
    "Transform",
    "hard constraints on where tiles are held and how refs lie in shared memory",
    "checked, and without effect",
  ),
  Group(
    "copies",
    "copy_gmem_to_smem copy_smem_to_gmem async_prefetch wait_gmem_to_smem wait_smem_to_gmem commit_smem "
    "commit_smem_to_gmem_group CopyPartition",
    "among several warpgroups, on sm_90a and later, by TMA where boxes fit: to shared memory until the "
    "barrier, to global memory until `wait_smem_to_gmem`. Where none fits, and before sm_90, to shared memory by `cp.async` "
    "until the barrier; all others are loads and stores that are done when the call returns. What CTAs of a cluster copy "
    "together (`collective_axes`), TMA brings each a part of, for all of them, on sm_90 and sm_100; prefetches do nothing",
    "done when the call returns",
  ),
  Group(
    "barriers",
    "Barrier barrier_arrive barrier_wait barrier_test ClusterBarrier",
    "mbarriers among several warpgroups; with one, nothing to wait for. At a `ClusterBarrier` the CTAs of a cluster arrive "
    "at each other's, on sm_90 and sm_100",
    "counted; a wait that cannot end is a `DeadlockError`. `barrier_test` and `ClusterBarrier` are for `interpret=`",
  ),
  Group(
    "products",
    "wgmma wgmma_wait wgmma_accumulator_load mma",
    "wgmma on sm_90a where shapes fit, else mma.sync; done when the call returns, but in loops of several warpgroups "
    "`wgmma_wait(n)` leaves up to n of them running",
    "a product of matrices, accumulated in the accumulator's dtype",
  ),
  Group(
    "tensor memory",
    "tcgen05_mma tcgen05_commit_arrive async_load_tmem async_store_tmem async_copy_smem_to_tmem async_copy_scales_to_tmem "
    "async_copy_sparse_metadata_to_tmem format_tcgen05_sparse_metadata commit_tmem wait_load_tmem",
    "no tcgen05 instruction: products, with scales or without, become mma.sync or wgmma, and copies loads and stores, done "
    "when the call returns. Sparse operands, and two blocks together, are refused",
    "the same arithmetic",
  ),
  Group(
    "loops and pipelines",
    "nd_loop NDLoopInfo planar_snake dynamic_scheduling_loop emit_pipeline emit_pipeline_warp_specialized PipelinePipeline "
    "try_cluster_cancel query_cluster_cancel TryClusterCancelResult",
    "loops in the kernel; a block never takes the work of another, so that a request for that finds none. `emit_pipeline` "
    "reads its inputs in place, or copies them step by step; in a warp-specialised one, a warpgroup copies ahead of the "
    "others",
    "the same loops",
  ),
  Group(
    "atomics and semaphores",
    "atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor SemaphoreType SemaphoreSignal semaphore_signal "
    "semaphore_signal_parallel semaphore_signal_multicast semaphore_wait",
    "atomic instructions; a semaphore belongs to one instance, or is signalled by other devices of the host; one of `pl.get_global` "
    "belongs to all CTAs, which then run at the same time",
    "instances that use atomics run in order (CPU); devices run side by side with `interpret=`",
  ),
  Group(
    "warps, clusters and devices",
    "WarpMesh warp_map cluster_ref async_store_smem remote_ref PeerMemRef multicast_ref multimem_load_reduce multimem_store",
    "`warp_map` and `WarpMesh` run one warp after another, if they do not wait for each other; the memory of other devices is reached "
    "on the CPU, and on GPUs of one host; CTAs of a cluster access each other's shared memory on sm_90 and sm_100",
    "the same; blocks of a cluster reach for each other with `interpret=`",
  ),
  Group(
    "the rest",
    "set_max_registers griddepcontrol_launch_dependents griddepcontrol_wait inline_mgpu as_torch_kernel InterpretGPUParams "
    "force_gpu_interpret_mode set_gpu_interpret_mode",
    "`set_max_registers` is `setmaxnreg` among several warpgroups on sm_90a and later, else nothing; launches are the "
    "compiler's. `inline_mgpu` is an error; tensors of PyTorch are passed without a copy",
    "the same; the interpreter is the simulated machine of `pltpu`",
  ),
]

"""Programs for `tilewright.pallas.mosaic_gpu`."""

from __future__ import annotations

import contextlib
import io

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from uses import count, run, same, use


@use("plgpu", "BlockSpec TilingTransform SwizzleTransform Transform SMEM CompilerParams find_swizzle")
def _shared_memory():
  transforms = [plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(plgpu.find_swizzle(64 * 16))]
  assert all(isinstance(t, plgpu.Transform) for t in transforms)
  block = plgpu.BlockSpec((64, 64), lambda i: (i, 0), transforms=transforms)

  def kernel(x_ref, o_ref, kept):
    kept[...] = x_ref[...] + 1
    o_ref[...] = kept[...]

  call = pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((128, 64), jnp.bfloat16),
    grid=(2,),
    in_specs=[block],
    out_specs=block,
    scratch_shapes=[plgpu.SMEM((64, 64), jnp.bfloat16, transforms=transforms)],
    compiler_params=plgpu.CompilerParams(dimension_semantics=["parallel"]),
  )
  same(call(jnp.ones((128, 64), jnp.bfloat16)), np.full((128, 64), 2))


@use("plgpu", "GMEM MemorySpace")
def _global_memory():
  assert plgpu.GMEM is plgpu.MemorySpace.GMEM
  whole = pl.BlockSpec(memory_space=plgpu.GMEM)
  same(run(lambda x_ref, o_ref: o_ref.__setitem__(0, x_ref[3]), count(), shape=(1,), in_specs=[whole]), [3])


@use(
  "plgpu",
  "TMEM tcgen05_mma tcgen05_commit_arrive async_load_tmem async_store_tmem async_copy_smem_to_tmem commit_tmem wait_load_tmem",
)
def _tensor_memory():
  def kernel(x_ref, o_ref, total, copied, ready):
    plgpu.tcgen05_mma(total, x_ref, x_ref, ready, accumulate=False)
    plgpu.tcgen05_commit_arrive(ready)
    plgpu.async_copy_smem_to_tmem(x_ref, copied)
    plgpu.async_store_tmem(copied, 2 * plgpu.async_load_tmem(copied))
    plgpu.commit_tmem()
    plgpu.tcgen05_mma(total, copied, x_ref)
    sums, largest = plgpu.async_load_tmem(total, layout=plgpu.Layout.TCGEN05, reduce="max")
    plgpu.wait_load_tmem()
    o_ref[...] = sums + largest[:, None]

  ones, shape = jnp.ones((128, 128), jnp.bfloat16), (128, 128)
  scratch = [plgpu.TMEM(shape, jnp.float32), plgpu.TMEM(shape, jnp.bfloat16, packed=True), plgpu.Barrier()]
  same(run(kernel, ones, shape=shape, scratch_shapes=scratch), np.full(shape, 768))


@use("plgpu", "REGS")
def _registers():
  plgpu.REGS((8,), jnp.float32)


@use("plgpu", "ACC WGMMAAccumulatorRef")
def _accumulators():
  assert isinstance(plgpu.ACC((64, 64)), plgpu.WGMMAAccumulatorRef)

  def kernel(x_ref, o_ref, total):
    total[...] = jnp.dot(x_ref[...], x_ref[...], preferred_element_type=jnp.float32)
    o_ref[...] = total[...]

  ones = jnp.ones((64, 64), jnp.bfloat16)
  same(run(kernel, ones, shape=(64, 64), scratch_shapes=[plgpu.ACC((64, 64))]), np.full((64, 64), 64))


@use("plgpu", "Layout layout_cast load broadcasted_iota")
def _layouts():
  def kernel(x_ref, o_ref):
    rows = plgpu.broadcasted_iota(jnp.float32, (64, 64), 0, layout=plgpu.Layout.WGMMA)
    o_ref[...] = plgpu.layout_cast(plgpu.load(x_ref, layout=plgpu.Layout.WGMMA) + rows, plgpu.Layout.WGMMA)

  same(run(kernel, jnp.ones((64, 64)), shape=(64, 64)), 1 + np.arange(64.0)[:, None] + np.zeros(64))


@use("plgpu", "Tiling Replicated")
def _tiled_layouts():
  rows = plgpu.Tiling(((64, 8), (16, 8)))
  assert rows.tile_shape((128, 8)) == (2, 1, 4, 1, 16, 8) and rows.untile_shape((2, 1, 4, 1, 16, 8)) == (128, 8)
  every = plgpu.Layout.TILED(
    plgpu.Tiling(((16,), (4,))), warp_dims=(-2,), lane_dims=(plgpu.Replicated(32),), vector_dim=-1
  )

  def kernel(x_ref, o_ref):
    o_ref[...] = plgpu.layout_cast(2 * x_ref[...], every)

  same(run(kernel, count(16), shape=(16,)), 2 * np.arange(16))


@use("plgpu", "print_layout")
def _printed_layouts():
  def kernel(x_ref, o_ref):
    plgpu.print_layout("x: {}", x_ref[...])
    plgpu.print_layout("ref: {}", x_ref)
    o_ref[...] = x_ref[...]

  said = io.StringIO()
  with contextlib.redirect_stdout(said):
    same(run(kernel, count()), np.arange(8))
  assert "x: " in said.getvalue() and "ref: " in said.getvalue()


@use("plgpu", "RefType ShapeDtypeStruct inline_mgpu")
def _foreign_operations():
  result = plgpu.ShapeDtypeStruct((8,), jnp.float32, layout=plgpu.Layout.WG_STRIDED((8,), vec_size=1))

  @plgpu.inline_mgpu(arg_types=(plgpu.RefType(),), return_type=result)
  def double(ctx, ref): ...

  run(lambda x_ref, o_ref: o_ref.__setitem__(..., double(x_ref)), count())


@use("plgpu", "as_torch_kernel")
def _from_torch():
  try:
    import torch
  except ImportError:
    double = plgpu.as_torch_kernel(lambda x: 2 * x)
    assert callable(double)
  else:
    double = plgpu.as_torch_kernel(lambda x: run(lambda x_ref, o_ref: o_ref.__setitem__(..., 2 * x_ref[...]), x))
    assert torch.equal(double(torch.arange(8.0)), 2 * torch.arange(8.0))


@use("plgpu", "atomic_add atomic_max atomic_min")
def _atomics():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    plgpu.atomic_add(o_ref.at[0], 10)
    plgpu.atomic_max(o_ref.at[1], 5)
    plgpu.atomic_min(o_ref.at[2], 0)

  same(run(kernel, count(dtype=jnp.int32), dtype=jnp.int32), [10, 5, 0, 3, 4, 5, 6, 7])


@use("plgpu", "atomic_and atomic_or atomic_xor")
def _atomics_on_bits():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    plgpu.atomic_and(o_ref.at[7], 3)
    plgpu.atomic_or(o_ref.at[1], 6)
    plgpu.atomic_xor(o_ref.at[2], 3)

  same(run(kernel, count(dtype=jnp.int32), dtype=jnp.int32), [0, 7, 1, 3, 4, 5, 6, 3])


@use(
  "plgpu",
  "kernel Mesh Barrier RefUnion OOBFillMode async_prefetch copy_gmem_to_smem copy_smem_to_gmem barrier_arrive barrier_wait commit_smem "
  "commit_smem_to_gmem_group wait_gmem_to_smem wait_smem_to_gmem set_max_registers LoweringSemantics TraceScope "
  "griddepcontrol_wait griddepcontrol_launch_dependents",
)
def _copies():
  params = plgpu.CompilerParams(
    lowering_semantics=plgpu.LoweringSemantics.Warpgroup, profile_trace_scope=plgpu.TraceScope.WARP
  )
  scratch = dict(buffers=plgpu.RefUnion(plgpu.SMEM((4,), jnp.float32)), arrived=plgpu.Barrier(num_barriers=2))
  assert plgpu.Mesh(grid=(2,), grid_names=("i",)).shape == {"i": 2}

  @plgpu.kernel(
    out_type=jax.ShapeDtypeStruct((8,), jnp.float32),
    grid=(2,),
    grid_names=("i",),
    scratch_types=scratch,
    compiler_params=params,
  )
  def double(x_ref, o_ref, buffers, arrived):
    (buffer,) = buffers
    plgpu.griddepcontrol_wait()
    part = pl.ds(4 * jax.lax.axis_index("i"), 4)
    plgpu.set_max_registers(40, action="decrease")
    plgpu.async_prefetch(x_ref.at[part])
    plgpu.copy_gmem_to_smem(x_ref.at[part], buffer, arrived.at[0], oob_mode=plgpu.OOBFillMode.ZEROS)
    plgpu.barrier_wait(arrived.at[0])
    buffer[...] = 2 * buffer[...]
    plgpu.barrier_arrive(arrived.at[1])
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(buffer, o_ref.at[part], commit_group=False)
    plgpu.commit_smem_to_gmem_group()
    plgpu.wait_smem_to_gmem(0, wait_read_only=True)
    plgpu.wait_gmem_to_smem(0)
    plgpu.griddepcontrol_launch_dependents()

  same(double(count()), 2 * np.arange(8))


@use("plgpu", "CopyPartition TryClusterCancelResult try_cluster_cancel query_cluster_cancel")
def _clusters():
  parts = plgpu.CopyPartition.PARTITIONED(0)

  @plgpu.kernel(
    out_type=jax.ShapeDtypeStruct((8,), jnp.float32),
    cluster=(2,),
    cluster_names=("c",),
    scratch_types=[plgpu.SMEM((4,), jnp.float32), plgpu.TryClusterCancelResult(), plgpu.Barrier(num_barriers=2)],
  )
  def double(x_ref, o_ref, mine, more, arrived):
    plgpu.copy_gmem_to_smem(x_ref, mine, arrived.at[0], collective_axes="c", leader_tracked=parts)
    plgpu.barrier_wait(arrived.at[0])
    plgpu.try_cluster_cancel(more, arrived.at[1])
    plgpu.barrier_wait(arrived.at[1])
    _, is_more = plgpu.query_cluster_cancel(more, ("c",))
    part = pl.ds(4 * jax.lax.axis_index("c"), 4)
    o_ref[part] = 2 * mine[...] + is_more.astype(jnp.float32)

  same(double(count()), 2 * np.arange(8))


@use("plgpu", "warp_map")
def _warps():
  def kernel(x_ref, o_ref):
    @plgpu.warp_map
    def _(warp):
      o_ref[warp], o_ref[warp + 4] = 2 * x_ref[warp], x_ref[warp]

  same(run(kernel, count()), [0, 2, 4, 6, 0, 1, 2, 3])


@use("plgpu", "WarpMesh")
def _mesh_of_warps():
  def kernel(x_ref, o_ref):
    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
      warp = jax.lax.axis_index("warp")

      @pl.when(warp < 3)
      def _():
        o_ref[jax.lax.axis_index("warp")] = 2 * x_ref[warp] + jax.lax.axis_size("warp")

  same(run(kernel, count())[:3], [4, 6, 8])


@use("plgpu", "ClusterBarrier cluster_ref async_store_smem")
def _blocks_of_a_cluster():
  """Each block writes its half to the memory of the other, and reads what that has for itself."""
  half = plgpu.SMEM((4,), jnp.float32)
  scratch = [half, half, plgpu.Barrier(), plgpu.ClusterBarrier(collective_axes=("c",))]

  def kernel(x_ref, o_ref, own, other, arrived, meet):
    c = jax.lax.axis_index("c")
    half = pl.ds(4 * c, 4)
    own[...] = x_ref[half]
    plgpu.barrier_arrive(meet)
    plgpu.barrier_wait(meet)
    plgpu.async_store_smem(x_ref[half], other, arrived, cluster_idx=1 - c, cluster_dim="c")
    plgpu.barrier_wait(arrived)
    o_ref[half] = other[...] + plgpu.cluster_ref(own, {"c": 1 - c})[...]

  eight = jax.ShapeDtypeStruct((8,), jnp.float32)
  call = plgpu.kernel(kernel, eight, scratch_types=scratch, cluster=(2,), cluster_names=("c",), interpret=True)
  same(call(count()), [8, 10, 12, 14, 0, 2, 4, 6])


@use("plgpu", "PeerMemRef semaphore_signal_multicast remote_ref multicast_ref multimem_load_reduce multimem_store")
def _devices():
  assert plgpu.PeerMemRef(1, pl.DeviceIdType.LOGICAL).device_id == 1

  def kernel(x_ref, o_ref, sem):
    plgpu.semaphore_signal_multicast(sem, 3, collective_axes="d")
    plgpu.semaphore_wait(sem, 3)
    plgpu.multimem_store(plgpu.multimem_load_reduce(x_ref, collective_axes="d", reduction_op="add"), o_ref, "d")
    plgpu.multicast_ref(o_ref, "d")[0:4] = plgpu.remote_ref(x_ref, (0,))[4:8]

  call = lambda x: run(kernel, x, scratch_shapes=[plgpu.SemaphoreType.REGULAR], interpret=True)
  mesh = jax.make_mesh((1,), ("d",))
  found = jax.shard_map(call, mesh=mesh, in_specs=jax.P(), out_specs=jax.P(), check_vma=False)(count())
  same(found, [4, 5, 6, 7, 4, 5, 6, 7])


@use("plgpu", "TMEMLayout async_copy_scales_to_tmem")
def _scales():
  """Blocks of 32 elements along k, each with a scale: 2 for the left operand, 1/4 for the right one."""

  def kernel(x_ref, a_ref, b_ref, o_ref, total, a_scale, b_scale):
    plgpu.async_copy_scales_to_tmem(a_ref, a_scale)
    plgpu.async_copy_scales_to_tmem(b_ref, b_scale)
    plgpu.tcgen05_mma(total, x_ref, x_ref, a_scale=a_scale, b_scale=b_scale, accumulate=False)
    o_ref[...] = plgpu.async_load_tmem(total)

  e8m0, shape = jnp.float8_e8m0fnu, (128, 128)
  a, b = (jnp.full((1, 1, 32, 16), scale, e8m0) for scale in (2, 0.25))
  scales = plgpu.TMEM((128, 4), e8m0, layout=plgpu.TMEMLayout.SCALES_LAYOUT)
  scratch = [plgpu.TMEM(shape, jnp.float32), scales, scales]
  same(run(kernel, jnp.ones(shape, jnp.float8_e4m3fn), a, b, shape=shape, scratch_shapes=scratch), np.full(shape, 64))


@use("plgpu", "wgmma wgmma_wait wgmma_accumulator_load mma transpose_ref")
def _products():
  def kernel(x_ref, o_ref):
    def scoped(total):
      plgpu.wgmma(total, x_ref, plgpu.transpose_ref(x_ref, (1, 0)))
      plgpu.wgmma_wait(0)
      return plgpu.mma(plgpu.wgmma_accumulator_load(total), x_ref[...], x_ref[...])

    o_ref[...] = pl.run_scoped(scoped, plgpu.ACC((64, 64)))

  same(run(kernel, jnp.ones((64, 64), jnp.bfloat16), shape=(64, 64)), np.full((64, 64), 128))


@use("plgpu", "nd_loop NDLoopInfo dynamic_scheduling_loop emit_pipeline planar_snake")
def _loops():
  spec = pl.BlockSpec((2,), lambda i: (i,))

  @plgpu.kernel(out_type=[jax.ShapeDtypeStruct((8,), jnp.float32)] * 2, grid=(2,), grid_names=("i",))
  def kernel(x_ref, o_ref, y_ref):
    @plgpu.nd_loop((2, 4), collective_axes="i")
    def _(info):
      assert isinstance(info, plgpu.NDLoopInfo)
      at = 4 * info.index[0] + info.index[1]
      o_ref[at] = x_ref[at] + info.local_index

    @plgpu.dynamic_scheduling_loop(("i",))
    def _(info):
      @pl.when(info.index[0] == 1)
      def _():
        double = lambda _, x_block, y_block: y_block.__setitem__(..., 2 * x_block[...])
        plgpu.emit_pipeline(double, grid=(4,), in_specs=[spec], out_specs=[spec])(x_ref, y_ref)

  sums, twice = kernel(count())
  same(sums, np.arange(8) + np.arange(8) // 2)
  same(twice, 2 * np.arange(8))
  same(plgpu.planar_snake(jnp.int32(5), (4, 4), 0, 2), (1, 2))


@use("plgpu", "emit_pipeline_warp_specialized PipelinePipeline")
def _pipelines_of_warpgroups():
  spec = plgpu.BlockSpec((2,), lambda i: (i,))

  @plgpu.kernel(out_type=jax.ShapeDtypeStruct((8,), jnp.float32), num_threads=2, thread_name="wg")
  def kernel(x_ref, o_ref):
    plgpu.emit_pipeline_warp_specialized(
      lambda _, x_block, o_block: o_block.__setitem__(..., 2 * x_block[...]),
      grid=(4,),
      in_specs=[spec],
      out_specs=[spec],
      memory_registers=40,
      wg_axis="wg",
      num_compute_wgs=1,
      pipeline_state=plgpu.PipelinePipeline.START,
    )(x_ref, o_ref)

  same(kernel(count()), 2 * np.arange(8))


@use("plgpu", "SemaphoreType SemaphoreSignal semaphore_signal semaphore_signal_parallel semaphore_wait")
def _semaphores():
  def kernel(x_ref, o_ref, sem):
    plgpu.semaphore_signal(sem, 2, memory_scope="gpu")
    plgpu.semaphore_signal_parallel(plgpu.SemaphoreSignal(sem, device_id=None, inc=1))
    plgpu.semaphore_wait(sem, 3, decrement=False)
    o_ref[...] = x_ref[...] + pl.semaphore_read(sem).astype(jnp.float32)

  same(run(kernel, count(), scratch_shapes=[plgpu.SemaphoreType.REGULAR]), np.arange(8) + 3)


@use("plgpu", "InterpretGPUParams force_gpu_interpret_mode set_gpu_interpret_mode")
def _simulated():
  def kernel(x_ref, o_ref):
    o_ref[...] = 2 * x_ref[...]

  params = plgpu.InterpretGPUParams(detect_races=True, num_tma_threads_per_device=2)
  same(run(kernel, count(), interpret=params), 2 * np.arange(8))
  plgpu.reset_gpu_interpret_mode_state()
  assert not plgpu.interpret_races() and plgpu.interpret_error() is None
  with plgpu.force_gpu_interpret_mode(params):
    same(run(kernel, count()), 2 * np.arange(8))
  plgpu.set_gpu_interpret_mode(None)


@use("plgpu", "barrier_test")
def _asked():
  def kernel(o_ref, barrier):
    plgpu.barrier_arrive(barrier)
    o_ref[0] = plgpu.barrier_test(barrier).astype(jnp.float32)

  call = plgpu.kernel(
    kernel, out_type=jax.ShapeDtypeStruct((1,), jnp.float32), scratch_types=[plgpu.Barrier()], interpret=True
  )
  same(call(), np.ones(1))


@use("plgpu", "transform_ref")
def _transformed():
  def kernel(x_ref, o_ref):
    o_ref[...] = plgpu.transform_ref(x_ref, plgpu.TilingTransform((4,)))[1]

  same(run(kernel, count(), shape=(4,)), np.arange(4, 8))

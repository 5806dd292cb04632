"""Programs for `tilewright.pallas.tpu`: memory, copies, semaphores, pipelines, several cores."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from uses import count, run, same, use

WHOLE = pl.BlockSpec(memory_space=pl.ANY)


def copy_kernel(x_ref, o_ref):
  o_ref[...] = x_ref[...]


# --- memory spaces and parameters --------------------------------------------------------------------------------


@use("pltpu", "VMEM SMEM CMEM HBM VMEM_SHARED MemorySpace")
def _memory_spaces():
  def through_scratch(x_ref, o_ref, scratch_ref):
    scratch_ref[...] = x_ref[...]
    o_ref[...] = scratch_ref[...]

  for space in (pltpu.VMEM, pltpu.SMEM, pltpu.CMEM, pltpu.HBM, pltpu.VMEM_SHARED):
    assert isinstance(space, pltpu.MemorySpace)
    same(run(through_scratch, count(), scratch_shapes=[space((8,), jnp.float32)]), count())


@use("pltpu", "KEY")
def _key():
  assert pltpu.KEY is pl.MemorySpace.KEY


@use("pltpu", "ANY HOST")
def _older_memory_spaces():
  assert pltpu.ANY is pl.ANY
  assert pltpu.HOST is pl.HOST


@use("pltpu", "SEMAPHORE SemaphoreType dma_semaphore")
def _semaphore_types():
  semaphore = pltpu.SemaphoreType.DMA((2,))
  assert semaphore.memory_space is pltpu.SEMAPHORE
  assert jnp.issubdtype(semaphore.dtype, pltpu.dma_semaphore)
  assert not jnp.issubdtype(pltpu.SemaphoreType.REGULAR((2,)).dtype, pltpu.dma_semaphore)


@use(
  "pltpu",
  "CompilerParams GridDimensionSemantics PARALLEL ARBITRARY CORE_PARALLEL SUBCORE_PARALLEL SideEffectType Tiling",
)
def _parameters():
  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  x = count(64).reshape(8, 8)
  for semantics in ((pltpu.PARALLEL, pltpu.ARBITRARY), ("parallel", "arbitrary")):
    params = pltpu.CompilerParams(dimension_semantics=semantics, vmem_limit_bytes=2**20)
    options = dict(grid=(2, 2), in_specs=[spec], out_specs=spec, compiler_params=params)
    same(run(copy_kernel, x, shape=(8, 8), **options), x)
  assert {pltpu.CORE_PARALLEL, pltpu.SUBCORE_PARALLEL} <= set(pltpu.GridDimensionSemantics)
  assert len(pltpu.SideEffectType) and len(pltpu.Tiling)


@use("pltpu", "PrefetchScalarGridSpec")
def _prefetch():
  def kernel(order_ref, x_ref, o_ref):
    o_ref[...] = x_ref[...]

  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(4,),
    in_specs=[pl.BlockSpec((2,), lambda i, order: (order[i],))],
    out_specs=pl.BlockSpec((2,), lambda i, order: (i,)),
  )
  same(run(kernel, jnp.array([3, 1, 0, 2], jnp.int32), count(), grid_spec=spec), [6, 7, 2, 3, 0, 1, 4, 5])


@use("pltpu", "with_memory_space_constraint")
def _constraint():
  same(jax.jit(lambda x: run(copy_kernel, pltpu.with_memory_space_constraint(x, pltpu.VMEM)))(count()), count())


# --- copies and semaphores ---------------------------------------------------------------------------------------


@use("pltpu", "make_async_copy async_copy sync_copy")
def _copies():
  def kernel(x_ref, o_ref, sem):
    first = pltpu.make_async_copy(x_ref.at[pl.ds(0, 4)], o_ref.at[pl.ds(4, 4)], sem)
    first.start()
    first.wait()
    pltpu.async_copy(x_ref.at[pl.ds(4, 2)], o_ref.at[pl.ds(0, 2)], sem).wait()
    pltpu.sync_copy(x_ref.at[pl.ds(6, 2)], o_ref.at[pl.ds(2, 2)])

  options = dict(in_specs=[WHOLE], out_specs=WHOLE, scratch_shapes=[pltpu.SemaphoreType.DMA(())])
  same(run(kernel, count(), **options), [4, 5, 6, 7, 0, 1, 2, 3])


@use("pltpu", "make_async_remote_copy async_remote_copy")
def _remote_copies():
  def kernel(x_ref, o_ref, sems):
    right = (jax.lax.axis_index("x") + 1) % jax.lax.axis_size("x")
    copy = pltpu.make_async_remote_copy(
      x_ref.at[pl.ds(0, 1)], o_ref.at[pl.ds(0, 1)], sems.at[0], sems.at[1], {"x": right}
    )
    copy.start()
    copy.wait()
    pltpu.async_remote_copy(
      x_ref.at[pl.ds(1, 1)], o_ref.at[pl.ds(1, 1)], sems.at[0], sems.at[1], right, pl.DeviceIdType.LOGICAL
    ).wait()

  def shift(x):
    options = dict(in_specs=[WHOLE], out_specs=WHOLE, scratch_shapes=[pltpu.SemaphoreType.DMA((2,))])
    return run(kernel, x, shape=(2,), interpret=True, **options)  # native code does not talk to other devices yet

  devices = len(jax.devices())
  mesh = jax.make_mesh((devices,), ("x",), axis_types=(AxisType.Auto,))
  x = count(2 * devices)
  out = jax.jit(jax.shard_map(shift, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))(x)
  same(out, np.roll(np.asarray(x), 2))


@use("pltpu", "get_barrier_semaphore")
def _barrier():
  def kernel(x_ref, o_ref):
    sem = pltpu.get_barrier_semaphore()
    pl.semaphore_signal(sem, 1)
    pl.semaphore_wait(sem, 1)
    o_ref[...] = x_ref[...]

  same(run(kernel, count(), compiler_params=pltpu.CompilerParams(collective_id=0)), count())


@use("pltpu", "semaphore_signal semaphore_wait semaphore_read DeviceIdType")
def _deprecated_semaphores():
  def kernel(o_ref, sem):
    pltpu.semaphore_signal(sem, 2)
    pltpu.semaphore_wait(sem, 1)
    o_ref[0] = pltpu.semaphore_read(sem)

  same(run(kernel, shape=(1,), dtype=jnp.int32, scratch_shapes=[pltpu.SemaphoreType.REGULAR]), [1])
  assert pltpu.DeviceIdType is pl.DeviceIdType


# --- pipelines ---------------------------------------------------------------------------------------------------


def _inner(x_ref, o_ref):
  o_ref[...] = x_ref[...] + 1


_BLOCK = pl.BlockSpec((4,), lambda i: (i,))


@use("pltpu", "emit_pipeline")
def _pipeline():
  def kernel(x_ref, o_ref):
    pltpu.emit_pipeline(_inner, grid=(4,), in_specs=[_BLOCK], out_specs=[_BLOCK])(x_ref, o_ref)

  same(run(kernel, count(16), shape=(16,), in_specs=[WHOLE], out_specs=WHOLE), np.arange(16) + 1)


@use("pltpu", "emit_pipeline_with_allocations")
def _pipeline_with_allocations():
  def kernel(x_ref, o_ref):
    pipeline, allocate = pltpu.emit_pipeline_with_allocations(_inner, grid=(4,), in_specs=[_BLOCK], out_specs=[_BLOCK])

    def body(allocations):
      pipeline(x_ref, o_ref, allocations=allocations)

    pl.run_scoped(body, allocate(x_ref, o_ref))

  same(run(kernel, count(16), shape=(16,), in_specs=[WHOLE], out_specs=WHOLE), np.arange(16) + 1)


@use("pltpu", "emit_pipeline_with_async_prefetch")
def _pipeline_with_prefetch():
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=1)

  def kernel(x_ref, o_ref):
    pipeline, prefetch = pltpu.emit_pipeline_with_async_prefetch(
      _inner, grid=(4,), in_specs=[_BLOCK], out_specs=[_BLOCK], mesh=mesh
    )
    started = prefetch(x_ref)
    pipeline(x_ref, o_ref, allocations=started)

  same(run(kernel, count(16), shape=(16,), in_specs=[WHOLE], out_specs=WHOLE), np.arange(16) + 1)


@use("pltpu", "BufferedRef BufferedRefBase BufferType")
def _buffered_refs():
  def kernel(x_ref, o_ref):
    def body(x_buffer, o_buffer):
      pltpu.emit_pipeline(_inner, grid=(4,), in_specs=[_BLOCK], out_specs=[_BLOCK])(
        x_ref, o_ref, allocations=(x_buffer, o_buffer)
      )

    block = jax.ShapeDtypeStruct((16,), jnp.float32)
    pl.run_scoped(
      body, pltpu.BufferedRef.input(_BLOCK, block, grid_rank=1), pltpu.BufferedRef.output(_BLOCK, block, grid_rank=1)
    )

  assert issubclass(pltpu.BufferedRef, pltpu.BufferedRefBase)
  assert {"INPUT", "OUTPUT", "INPUT_OUTPUT"} <= {t.name for t in pltpu.BufferType}
  same(run(kernel, count(16), shape=(16,), in_specs=[WHOLE], out_specs=WHOLE), np.arange(16) + 1)


# --- several cores -----------------------------------------------------------------------------------------------


@use("pltpu", "TensorCoreMesh CoreType run_on_first_core")
def _cores():
  def body(x_ref, o_ref):
    core = jax.lax.axis_index("core")
    o_ref[core] = x_ref[core] + 1

    @pltpu.run_on_first_core("core")
    def _():
      o_ref[2] = x_ref[2]

  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
  assert mesh.core_type is pltpu.CoreType.TC
  same(pl.kernel(body, jax.ShapeDtypeStruct((3,), jnp.float32), mesh=mesh)(count(3)), [1, 2, 2])


@use("pltpu", "create_tensorcore_mesh")
def _older_mesh():
  assert pltpu.create_tensorcore_mesh("core", num_cores=2) == pltpu.TensorCoreMesh(axis_name="core", num_cores=2)


@use("pltpu", "core_barrier InterpretParams")
def _core_barrier():
  def body(x_ref, o_ref, shared_ref, sem):
    core = jax.lax.axis_index("core")
    shared_ref[core] = x_ref[core]
    pltpu.core_barrier(sem, core_axis_name="core")
    o_ref[core] = shared_ref[1 - core]

  pair = jax.ShapeDtypeStruct((2,), jnp.float32)
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)
  options = dict(scratch_types=[pltpu.SemaphoreType.REGULAR], interpret=pltpu.InterpretParams())
  same(pl.kernel(body, [pair, pair], mesh=mesh, **options)(count(2))[0], [1, 0])


@use("pltpu", "force_tpu_interpret_mode set_tpu_interpret_mode reset_tpu_interpret_mode_state")
def _interpret_mode():
  with pltpu.force_tpu_interpret_mode(pltpu.InterpretParams()):
    same(run(copy_kernel, count()), count())
  pltpu.set_tpu_interpret_mode(pltpu.InterpretParams())
  try:
    same(run(copy_kernel, count()), count())
  finally:
    pltpu.set_tpu_interpret_mode(None)
    pltpu.reset_tpu_interpret_mode_state()

"""Programs for `tilewright.pallas`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from uses import count, run, same, use

# --- grids and blocks --------------------------------------------------------------------------------------------


@use("pl", "pallas_call BlockSpec GridSpec cdiv program_id num_programs")
def _grid():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * pl.num_programs(0) + pl.program_id(0)

  spec = pl.BlockSpec((4,), lambda i: (i,))
  grid_spec = pl.GridSpec(grid=(pl.cdiv(10, 4),), in_specs=[spec], out_specs=spec)
  out = pl.pallas_call(kernel, jax.ShapeDtypeStruct((10,), jnp.float32), grid_spec=grid_spec)(count(10))
  same(out, np.arange(10) * 3 + np.arange(10) // 4)


@use("pl", "Blocked Squeezed squeezed BlockDim")
def _block_dimensions():
  def kernel(x_ref, y_ref, o_ref):
    assert x_ref.shape == y_ref.shape == (4,)
    o_ref[...] = x_ref[...] + y_ref[...]

  x = count(16).reshape(4, 4)
  one = pl.BlockSpec((pl.Squeezed(), pl.Blocked(4)), lambda i: (i, 0))
  two = pl.BlockSpec((pl.squeezed, 4), lambda i: (i, 0))
  same(run(kernel, x, x, shape=(4, 4), grid=(4,), in_specs=[one, two], out_specs=one), 2 * x)
  assert all(isinstance(d, pl.BlockDim) for d in (pl.Blocked(4), pl.squeezed, pl.Element(3)))


@use("pl", "Element")
def _element():
  def kernel(x_ref, o_ref):
    o_ref[0] = x_ref[0] + x_ref[1]  # a stencil: blocks that overlap

  spec = pl.BlockSpec((pl.Element(2),), lambda i: (i,))
  out = run(kernel, count(), shape=(7,), grid=(7,), in_specs=[spec], out_specs=pl.BlockSpec((1,), lambda i: (i,)))
  same(out, 2 * np.arange(7) + 1)


@use("pl", "BoundedSlice ds dslice Slice")
def _bounded_slice():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1

  spec = pl.BlockSpec((pl.BoundedSlice(4),), lambda i: (pl.ds(i * 3, 3),))
  same(run(kernel, count(6), shape=(6,), grid=(2,), in_specs=[spec], out_specs=spec), np.arange(6) + 1)
  assert pl.ds(2, 3) == pl.dslice(2, 3) == pl.Slice(2, 3)


@use("pl", "Indirect")
def _indirect():
  def kernel(index_ref, x_ref, o_ref):
    o_ref[...] = x_ref[...]

  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(2,),
    in_specs=[pl.BlockSpec((pl.Indirect(3), 4), lambda i, index: (index[pl.ds(i * 3, 3)], 0))],
    out_specs=pl.BlockSpec((3, 4), lambda i, index: (i, 0)),
  )
  x, index = count(32).reshape(8, 4), jnp.array([7, 0, 3, 3, 1, 2], jnp.int32)
  same(run(kernel, index, x, shape=(6, 4), grid_spec=spec), np.asarray(x)[np.asarray(index)])


@use("pl", "Buffered RevisitMode CompilerParams CostEstimate no_block_spec")
def _hints():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

  spec = pl.BlockSpec((4,), lambda i: (i,), pipeline_mode=pl.Buffered(2, revisit=pl.RevisitMode.ANY))
  cost = pl.CostEstimate(flops=0, transcendentals=0, bytes_accessed=64)
  same(run(kernel, count(), grid=(2,), in_specs=[spec], out_specs=spec, cost_estimate=cost), count())
  same(run(kernel, count(), in_specs=pl.no_block_spec), count())
  params: pl.CompilerParams = pltpu.CompilerParams()
  same(run(kernel, count(), compiler_params=params), count())


# --- memory ------------------------------------------------------------------------------------------------------


@use("pl", "ANY HOST MemorySpace MemoryRef")
def _memory_spaces():
  def kernel(x_ref, o_ref, scratch_ref):
    scratch_ref[...] = x_ref[...]
    o_ref[...] = scratch_ref[...]

  spec = pl.BlockSpec(memory_space=pl.ANY)
  scratch = pl.MemorySpace.DEFAULT((8,), jnp.float32)
  assert isinstance(scratch, pl.MemoryRef) and scratch.shape == (8,)
  same(run(kernel, count(), in_specs=[spec], out_specs=spec, scratch_shapes=[scratch]), count())
  assert pl.HOST is pl.MemorySpace.HOST


@use("pl", "load store swap")
def _masked_access():
  def kernel(x_ref, o_ref):
    mask = jax.lax.iota(jnp.int32, 8) < 5
    pl.store(o_ref, (pl.ds(0, 8),), jnp.full(8, -1.0))
    old = pl.swap(o_ref, (pl.ds(0, 8),), pl.load(x_ref, (pl.ds(0, 8),), mask=mask, other=0.0), mask=mask)
    pl.store(o_ref, (pl.ds(7, 1),), old[:1] - 1)

  same(run(kernel, count()), [0, 1, 2, 3, 4, -1, -1, -2])


@use("pl", "atomic_add atomic_max atomic_min atomic_xchg")
def _atomics():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    pl.atomic_add(o_ref, (0,), 10.0)
    pl.atomic_max(o_ref, (1,), 5.0)
    pl.atomic_min(o_ref, (2,), 0.0)
    pl.atomic_xchg(o_ref, (3,), pl.atomic_add(o_ref, (4,), 1.0))

  same(run(kernel, count()), [10, 5, 0, 4, 5, 5, 6, 7])


@use("pl", "atomic_and atomic_or atomic_xor atomic_cas")
def _atomics_on_bits():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    pl.atomic_and(o_ref, (7,), 3)
    pl.atomic_or(o_ref, (1,), 6)
    pl.atomic_xor(o_ref, (2,), 3)
    pl.atomic_cas(o_ref.at[3], 3, 30)
    pl.atomic_cas(o_ref.at[4], 0, 30)

  same(run(kernel, count(dtype=jnp.int32), dtype=jnp.int32), [0, 7, 1, 30, 4, 5, 6, 3])


@use("pl", "run_scoped with_scoped")
def _scoped():
  def kernel(x_ref, o_ref):
    def through(scratch_ref):
      scratch_ref[...] = x_ref[...] + 1
      return scratch_ref[...]

    scratch = pltpu.VMEM((8,), jnp.float32)
    o_ref[...] = pl.run_scoped(through, scratch) + pl.with_scoped(scratch)(through)()

  same(run(kernel, count()), 2 * (np.arange(8) + 1))


@use("pl", "empty empty_like empty_ref_like run_state")
def _allocation():
  assert pl.empty((2, 3), jnp.int32).shape == pl.empty_like(jnp.ones((2, 3))).shape == (2, 3)
  assert pl.empty_ref_like(jnp.ones(4)).shape == (4,)

  def step(refs):
    x_ref, y_ref = refs
    y_ref[...] = x_ref[...] * 2

  same(pl.run_state(step)((count(), jnp.zeros(8)))[1], 2 * np.arange(8))


@use("pl", "get_global")
def _global():
  def kernel(o_ref):
    total_ref = pl.get_global(pltpu.VMEM((1,), jnp.float32))

    @pl.when(pl.program_id(0) == 0)
    def _():
      total_ref[...] = jnp.zeros(1)

    total_ref[...] += 1
    o_ref[...] = total_ref[...]

  same(run(kernel, grid=(4,), shape=(4,), out_specs=pl.BlockSpec((1,), lambda i: (i,))), [1, 2, 3, 4])


@use("pl", "select_ref")
def _select_ref():
  def kernel(x_ref, y_ref, o_ref, sem):
    pltpu.async_copy(pl.select_ref(pl.program_id(0), x_ref, y_ref), o_ref, sem).wait()

  whole = pl.BlockSpec((8,), lambda i: (0,))
  options = dict(grid=(2,), in_specs=[whole, whole], out_specs=pl.BlockSpec((None, 8), lambda i: (i, 0)))
  out = run(kernel, count(), -count(), shape=(2, 8), scratch_shapes=[pltpu.SemaphoreType.DMA(())], **options)
  same(out, np.stack([np.arange(8), -np.arange(8)]))


# --- control flow and arithmetic ---------------------------------------------------------------------------------


@use("pl", "when loop")
def _control_flow():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.zeros(8)

    @pl.loop(0, 8, step=2)
    def _(i):
      @pl.when(i != 4)
      def _():
        o_ref[i] = x_ref[i]

  same(run(kernel, count()), [0, 0, 2, 0, 0, 0, 6, 0])


@use("pl", "dot reciprocal broadcast_to multiple_of")
def _arithmetic():
  def kernel(x_ref, o_ref):
    start = pl.multiple_of(pl.program_id(0) * 8, 8)
    o_ref[...] = pl.dot(x_ref[pl.ds(start, 8)], pl.reciprocal(pl.broadcast_to(2.0, (8, 8))))

  x = count(64).reshape(8, 8)
  same(run(kernel, x, shape=(8, 8), grid=(1,)), np.broadcast_to(np.asarray(x).sum(1, keepdims=True) / 2, (8, 8)))


@use("pl", "align_to next_power_of_2 strides_from_shape")
def _sizes():
  assert (pl.align_to(10, 8), pl.next_power_of_2(10), pl.strides_from_shape((2, 3, 4))) == (16, 16, (12, 4, 1))


# --- semaphores --------------------------------------------------------------------------------------------------


@use("pl", "semaphore semaphore_signal semaphore_wait semaphore_read DeviceIdType")
def _semaphores():
  def kernel(o_ref, sem):
    assert jnp.issubdtype(sem.dtype, pl.semaphore)
    pl.semaphore_signal(sem, 3)
    pl.semaphore_wait(sem, 2)
    o_ref[0] = pl.semaphore_read(sem)

  same(run(kernel, shape=(1,), dtype=jnp.int32, scratch_shapes=[pltpu.SemaphoreType.REGULAR]), [1])
  assert {t.name for t in pl.DeviceIdType} >= {"MESH", "LOGICAL"}


# --- debugging ---------------------------------------------------------------------------------------------------


@use("pl", "debug_print debug_check enable_debug_checks delay")
def _debugging():
  def kernel(x_ref, o_ref):
    pl.debug_check(jnp.all(x_ref[...] >= 0), "x must not be negative")
    pl.delay(1)
    o_ref[...] = x_ref[...]

  with pl.enable_debug_checks(True):
    same(run(kernel, count()), count())
    try:
      jax.block_until_ready(run(kernel, -count()))
    except Exception as error:
      assert "x must not be negative" in str(error)
    else:
      raise AssertionError("the check did not fail")

  def printing(x_ref, o_ref):
    pl.debug_print("")
    o_ref[...] = x_ref[...]

  jax.eval_shape(lambda x: run(printing, x), count())


@use("pl", "enable_poison_buffers")
def _poison():
  def kernel(o_ref, scratch_ref):
    o_ref[...] = scratch_ref[...]

  with pl.enable_poison_buffers(True):
    assert np.isnan(run(kernel, scratch_shapes=[pltpu.VMEM((8,), jnp.float32)])).all()


# --- whole programs ----------------------------------------------------------------------------------------------


def _copy(x):
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

  return run(kernel, x)


@use("pl", "estimate_cost")
def _estimate_cost():
  cost = pl.estimate_cost(jnp.dot, jnp.ones((4, 8)), jnp.ones((8, 2)))
  assert cost.flops == 2 * 4 * 8 * 2


@use("pl", "lower_as_mlir pallas_export_experimental pallas_call_p")
def _lowering():
  assert "func.func public @main" in pl.lower_as_mlir(_copy, count())
  with pl.pallas_export_experimental(dynamic_shapes=True):
    assert any(eqn.primitive is pl.pallas_call_p for eqn in jax.make_jaxpr(_copy)(count()).eqns)


@use("pl", "kernel core_map")
def _mesh_kernels():
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)

  def body(x_ref, o_ref):
    core = jax.lax.axis_index("core")
    o_ref[core] = x_ref[core] + core

  same(pl.kernel(body, jax.ShapeDtypeStruct((2,), jnp.float32), mesh=mesh)(count(2)), [0, 2])

  @jax.jit
  def twice(x):
    ref = jax.new_ref(x)

    @pl.core_map(mesh)
    def _():
      core = jax.lax.axis_index("core")
      ref[core] = 2 * ref[core]

    return ref[...]

  same(twice(count(2)), [0, 2])

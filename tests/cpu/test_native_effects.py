"""What native kernels do besides computing: semaphores, copies, refs, printing, checks, cores. The portable lowering is the oracle."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jax import lax
from native import agrees

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import cpu
from tilewright.pallas import tpu as pltpu
from tilewright.pallas.lowering import lower_kernel
from tilewright.tile.grid import Kernel
from tilewright.tile.standard_passes import clean
from tilewright.tile.uninitialized import outputs_to_poison

F32, I32 = jnp.float32, jnp.int32
S = jax.ShapeDtypeStruct
REGULAR, DMA = pltpu.SemaphoreType.REGULAR, pltpu.SemaphoreType.DMA


@pytest.fixture(autouse=True)
def _verified(monkeypatch):
  """The tile IR of every kernel here is verified after each stage."""
  monkeypatch.setenv("TILEWRIGHT_VERIFY", "1")


def native(kernel, out, *args, **options):
  return pl.pallas_call(kernel, out, compiler_params=cpu.CompilerParams(), **options)(*args)


def arange(*shape):
  return jnp.arange(np.prod(shape), dtype=F32).reshape(shape)


def fails(match, kernel, *args, **options):
  """The call raises an error of XLA with this message, and a call after it works: nothing is left over."""
  with pytest.raises(jax.errors.JaxRuntimeError, match=match):
    jax.block_until_ready(native(kernel, S((4,), F32), *args, **options))


# --- semaphores --------------------------------------------------------------------------------------------------


def test_semaphores_count_over_instances_and_start_at_zero_in_each_call():
  def kernel(o_ref, sems):
    i = pl.program_id(0)
    pl.semaphore_signal(sems.at[1], i + 2)
    pl.semaphore_wait(sems.at[1], 1)
    o_ref[0, i] = pl.semaphore_read(sems.at[1])
    o_ref[1, i] = pl.semaphore_read(sems.at[0])

  options = {"grid": (4,), "scratch_shapes": [REGULAR((2,))]}
  agrees(kernel, S((2, 4), I32), **options)
  agrees(kernel, S((2, 4), I32), **options)


def test_a_wait_may_leave_the_count():
  def kernel(o_ref, sem):
    pl.semaphore_signal(sem, 5)
    pl.semaphore_wait(sem, 2, decrement=False)
    o_ref[...] = jnp.full((1,), pl.semaphore_read(sem))

  agrees(kernel, S((1,), I32), scratch_shapes=[REGULAR])


@pytest.mark.parametrize("grid", [(), (3,)])
def test_a_wait_that_can_never_end_fails_with_kernel_and_line(grid):
  def waits_for_ever(x_ref, o_ref, sem):
    pl.semaphore_signal(sem, 1)
    pl.semaphore_wait(sem, 2)
    o_ref[...] = x_ref[...]

  found = r"DeadlockError: The wait at .*test_native_effects.py:\d+.*in kernel 'waits_for_ever' can never end"
  fails(found, waits_for_ever, arange(4), grid=grid, scratch_shapes=[REGULAR])


def test_one_of_many_threads_may_fail():
  def kernel(x_ref, o_ref):
    with pl.enable_debug_checks(True):
      pl.debug_check(x_ref[0] < 300_000, "too large")
    o_ref[...] = x_ref[...]

  spec = pl.BlockSpec((1024,), lambda i: (i,))
  call = pl.pallas_call(
    kernel, S((1 << 19,), F32), grid=(512,), in_specs=[spec], out_specs=spec, compiler_params=cpu.CompilerParams()
  )
  with pytest.raises(jax.errors.JaxRuntimeError, match=r"DebugCheckError.*too large"):
    jax.block_until_ready(call(arange(1 << 19)))
  np.testing.assert_array_equal(call(jnp.zeros(1 << 19)), np.zeros(1 << 19))


def test_there_is_no_semaphore_outside_of_the_array():
  def kernel(x_ref, o_ref, sems):
    pl.semaphore_signal(sems.at[x_ref[3].astype(I32)], 1)
    o_ref[...] = x_ref[...]

  fails("OutOfBoundsError: There is no semaphore", kernel, arange(4), scratch_shapes=[REGULAR((3,))])


# --- copies ------------------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(start=st.integers(-1, 6), other=st.integers(-1, 6), size=st.integers(1, 2), add=st.booleans())
def test_copies_between_views_are_those_of_the_portable_lowering(start, other, size, add):
  def kernel(at_ref, x_ref, o_ref, buffer, sem):
    o_ref[...] = jnp.ones_like(o_ref)
    buffer[...] = -x_ref[...]
    source, target = pl.ds(at_ref[0], size), pl.ds(at_ref[1], size)
    copy = pltpu.make_async_copy(x_ref.at[1, source], o_ref.at[target, 2], sem)
    copy.start(priority=1, add=add)
    copy.wait()
    pltpu.sync_copy(buffer.at[:, target], o_ref.at[pl.ds(0, 4), source])

  at = jnp.array([start, other])
  agrees(kernel, S((6, 6), F32), at, arange(4, 6), scratch_shapes=[pltpu.VMEM((4, 6), F32), DMA])


def test_a_copy_of_dynamic_size_moves_as_much_as_is_asked_for():
  def kernel(n_ref, x_ref, o_ref, sem):
    o_ref[...] = jnp.zeros_like(o_ref)
    rows = pl.ds(2, n_ref[0])
    copy = pltpu.make_async_copy(x_ref.at[rows], o_ref.at[rows], sem)
    copy.start()
    copy.wait()

  for n in (0, 1, 5):
    agrees(kernel, S((8, 5), F32), jnp.array([n]), arange(8, 5), scratch_shapes=[DMA])


def test_a_wait_for_a_copy_that_was_not_started_fails():
  def kernel(x_ref, o_ref, sem):
    pltpu.make_async_copy(x_ref, o_ref, sem).wait()

  fails("DeadlockError", kernel, arange(4), scratch_shapes=[DMA])


def test_select_ref_chooses_source_and_target():
  def kernel(i_ref, a_ref, b_ref, o_ref, p_ref):
    o_ref[...] = jnp.zeros_like(o_ref)
    p_ref[...] = jnp.zeros_like(p_ref)
    pltpu.sync_copy(pl.select_ref(i_ref[0], a_ref, b_ref), pl.select_ref(i_ref[1], o_ref, p_ref))

  for i in range(4):
    agrees(kernel, [S((4,), F32)] * 2, jnp.array([i % 2, i // 2]), arange(4), -arange(4))


def test_a_pipeline_with_blocks_over_the_edge():
  def kernel(x_ref, o_ref):
    def body(a_ref, b_ref):
      b_ref[...] = a_ref[...] * 2 + pl.program_id(0).astype(F32)

    block = pl.BlockSpec((3, 8), lambda i, j: (i, j))
    pltpu.emit_pipeline(body, grid=(3, 2), in_specs=[block], out_specs=[block])(x_ref, o_ref)

  spaces = {"in_specs": [pl.BlockSpec(memory_space=pl.ANY)], "out_specs": pl.BlockSpec(memory_space=pl.ANY)}
  agrees(kernel, S((8, 13), F32), arange(8, 13), **spaces)


# --- refs that a body makes --------------------------------------------------------------------------------------


def test_scoped_refs_nest_and_start_as_poison():
  def kernel(x_ref, o_ref):
    def outer(a):
      a[...] = x_ref[...]

      def inner(b, sem):
        pl.semaphore_signal(sem, 2)
        fresh = b[...]
        b[...] = a[...] + pl.semaphore_read(sem).astype(F32)
        a[...] = b[...] * 2
        return fresh

      fresh = pl.run_scoped(inner, pltpu.VMEM((4,), F32), REGULAR)
      o_ref[0] = a[...]
      o_ref[1] = fresh

    pl.run_scoped(outer, pltpu.VMEM((4,), F32))

  agrees(kernel, S((2, 4), F32), arange(4))


def test_refs_made_from_values_and_run_state():
  def kernel(x_ref, o_ref):
    ref = jax.new_ref(x_ref[...])
    ref[1] = 7.0
    kept = jax.freeze(ref)

    def body(refs):
      a, b = refs
      a[...] += b[...]
      lax.fori_loop(0, 3, lambda i, _: b.__setitem__(i, a[i]), None)

    a, b = pl.run_state(body)((kept, x_ref[...]))
    o_ref[0], o_ref[1] = a, b

  agrees(kernel, S((2, 4), F32), arange(4))


def test_a_global_ref_lives_as_long_as_the_call():
  def kernel(x_ref, o_ref):
    total = pl.get_global(pltpu.SMEM((1,), F32))
    i = pl.program_id(0)
    pl.when(i == 0)(lambda: total.__setitem__(0, 0.0))
    total[0] += x_ref[i]
    o_ref[i] = total[0]

  agrees(kernel, S((6,), F32), arange(6), grid=(6,))


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(i=st.integers(-5, 5), j=st.integers(-4, 4))
def test_views_of_views_stay_inside_of_each_view(i, j):
  def kernel(at_ref, x_ref, o_ref):
    first, second = at_ref[0], at_ref[1]
    rows = x_ref.at[pl.ds(first, 3)]
    o_ref[...] = jnp.zeros_like(o_ref)
    o_ref[0] = rows.at[pl.ds(second, 3, 2)][:, 1]
    o_ref[1] = x_ref.at[:, 2].at[pl.ds(1, 4)][pl.ds(second, 3)]
    o_ref.at[pl.ds(2, 2)].at[second][pl.ds(0, 2)] = jnp.full((2,), 9.0)

  agrees(kernel, S((6, 3), F32), jnp.array([i, j]), arange(6, 4))


def test_a_block_is_seen_in_another_shape_and_written_through_it():
  def kernel(x_ref, o_ref):
    flat = x_ref.reshape(32)
    o_ref[...] = jnp.zeros_like(o_ref)
    o_ref.reshape(2, 16)[1, pl.ds(3, 5)] = flat[pl.ds(7, 5)]

  block = pl.BlockSpec((4, 8), lambda i: (0, i))
  agrees(kernel, S((4, 24), F32), arange(4, 24), grid=(3,), in_specs=[block], out_specs=block)


# --- atomics, cores ----------------------------------------------------------------------------------------------


def test_atomics_of_parallel_instances_lose_nothing():
  def kernel(x_ref, o_ref):
    pl.when(pl.program_id(0) == 0)(lambda: o_ref.__setitem__(..., jnp.zeros_like(o_ref)))
    old = pl.atomic_add(o_ref, (0,), x_ref[0])
    pl.atomic_max(o_ref, (1,), old)

  params = cpu.CompilerParams(dimension_semantics=["parallel"])
  spec = pl.BlockSpec((1024,), lambda i: (i,))
  agrees(kernel, S((2,), F32), jnp.ones(1 << 17), grid=(128,), in_specs=[spec], params=params)


def test_every_core_of_a_mesh_runs_its_body():
  def kernel(interpret):
    def body(x_ref, o_ref):
      core = lax.axis_index("core")
      o_ref[core] = x_ref[core] * (core + 1)

    mesh = pltpu.create_tensorcore_mesh("core", num_cores=3)
    params = None if interpret else cpu.CompilerParams()
    return pl.kernel(body, S((3, 4), F32), mesh=mesh, interpret=interpret, compiler_params=params)(arange(3, 4))

  np.testing.assert_array_equal(kernel(False), kernel(True))


def test_different_bodies_run_on_their_own_meshes():
  first, second = (pltpu.create_tensorcore_mesh(name, num_cores=n) for name, n in (("a", 2), ("b", 3)))

  def on_first(x_ref, o_ref):
    i = lax.axis_index("a")
    o_ref[i] = x_ref[i]

  def on_second(x_ref, o_ref):
    i = lax.axis_index("b")
    o_ref[2 + i] = x_ref[2 + i] * lax.axis_size("b")

  def run(**options):
    return pl.kernel([on_first, on_second], S((5,), F32), mesh=[first, second], **options)(arange(5))

  np.testing.assert_array_equal(run(compiler_params=cpu.CompilerParams()), run(interpret=True))


def test_access_to_another_device_needs_a_mesh_of_devices():
  def kernel(x_ref, o_ref, sem):
    pl.semaphore_signal(sem, 1, device_id=0, device_id_type=pl.DeviceIdType.LOGICAL)
    o_ref[...] = x_ref[...]

  with pytest.raises(errors.OutsideKernelError, match="shard_map"):
    native(kernel, S((4,), F32), arange(4), scratch_shapes=[REGULAR])


# --- the world ---------------------------------------------------------------------------------------------------


def test_printing_is_that_of_the_portable_lowering(capfd):
  def kernel(x_ref, o_ref):
    pl.debug_print("at {} {:.3f} {}", pl.program_id(0), x_ref[1], x_ref[...] > 1)
    pl.debug_print("braces {} and", x_ref[...].astype(jnp.bfloat16))
    pl.debug_print("plain")
    pl.when(pl.program_id(0) == 1)(lambda: pl.debug_print("sum", jnp.sum(x_ref[...])))
    o_ref[...] = x_ref[...]

  def printed(**options):
    call = lambda x: pl.pallas_call(kernel, S((3,), F32), grid=(2,), **options)(x)
    jax.jit(lambda x: (call(x), x)[1])(arange(3))
    jax.effects_barrier()
    return sorted(capfd.readouterr().out.splitlines())

  ours = printed(compiler_params=cpu.CompilerParams())
  assert ours == printed(interpret=True) and "at 1 1.000 [False False  True]" in ours


def test_what_jax_debug_prints_is_that_of_the_portable_lowering(capfd):
  """The call stays though nobody uses its outputs, and instances keep their order."""

  def kernel(x_ref, o_ref):
    x = x_ref[...]
    jax.debug.print("{0} {{{named:.2f}}} {0.shape} {1!r:>7}", x, "text", named=x[1])
    jax.debug.print("plain")
    jax.debug.print("{} at {where}", pl.program_id(0), where=("no", "array"))
    o_ref[...] = x

  def printed(**options):
    call = lambda x: pl.pallas_call(kernel, S((3,), F32), grid=(2,), **options)(x)
    jax.jit(lambda x: (call(x), x)[1])(arange(3))
    jax.effects_barrier()
    return capfd.readouterr().out.splitlines()

  ours = printed()
  assert ours[::3] == ["[0. 1. 2.] {1.00} (3,)  'text'"] * 2 and ours[2] == "0 at ('no', 'array')"
  assert sorted(ours) == sorted(printed(interpret=True))

  def tree(x_ref, o_ref):
    jax.debug.print("{}", {"x": x_ref[...]})

  with pytest.raises(errors.NativeCodeError, match="Print each array"):
    pl.pallas_call(tree, S((3,), F32))(arange(3))


def test_a_delay_lasts_and_changes_nothing():
  def kernel(x_ref, o_ref):
    pl.delay(1000)
    o_ref[...] = x_ref[...] + 1

  agrees(kernel, S((4,), F32), arange(4))


def test_a_check_that_fails_names_its_element_and_its_instance():
  def kernel(x_ref, o_ref):
    with pl.enable_debug_checks(True):
      pl.debug_check(x_ref[...] < 100, "beyond 100%")
    o_ref[...] = x_ref[...]

  part = pl.BlockSpec((2, 8), lambda i, j: (i, j))
  options = {"grid": (8, 2), "in_specs": [part], "out_specs": part}
  said = r"beyond 100% \(at .*test_native_effects.py:\d+.*\) The first element is \[0, 4\]. In the instance \(3, 0\)"
  x = np.zeros((16, 16), np.float32)
  x[6, 4] = x[7, 1] = 100
  with pytest.raises(jax.errors.JaxRuntimeError, match=said):
    jax.block_until_ready(native(kernel, S((16, 16), F32), jnp.asarray(x), **options))


def test_messages_of_errors_may_hold_any_text():
  def kernel(x_ref, o_ref):
    with pl.enable_debug_checks(True):
      pl.debug_check(x_ref[...] < 3, 'not "quoted" {} \\ über')
    o_ref[...] = x_ref[...]

  fails(re.escape('not "quoted" {} \\ über'), kernel, arange(4))


# --- memory that nobody wrote ------------------------------------------------------------------------------------


def test_what_nobody_writes_is_poison():
  rows = pl.BlockSpec((1, 4), lambda i: (i, 0))
  options = {"grid": (4,), "in_specs": [rows], "out_specs": rows, "scratch_shapes": [pltpu.VMEM((2, 4), F32)]}

  def kernel(x_ref, o_ref, scratch):
    i = pl.program_id(0)
    pl.when(i != 2)(lambda: o_ref.__setitem__(..., x_ref[...]))
    pl.when(i == 1)(lambda: scratch.__setitem__(0, x_ref[0]))
    pl.when(i == 3)(lambda: o_ref.__setitem__(..., scratch[...][:1] + scratch[...][1:]))

  agrees(kernel, S((6, 4), F32), arange(4, 4), **options)


def test_an_output_written_at_the_first_or_last_visit_is_written_whole():
  def kernel(x_ref, first_ref, last_ref, acc):
    k = pl.program_id(1)

    @pl.when(k == 0)
    def _():
      first_ref[...] = jnp.zeros_like(first_ref)
      acc[...] = jnp.ones_like(acc)

    first_ref[...] += x_ref[...]
    acc[...] *= x_ref[...]
    pl.when(k == pl.num_programs(1) - 1)(lambda: last_ref.__setitem__(..., acc[...]))

  out = pl.BlockSpec((2, 5), lambda i, k: (i, 0))
  agrees(
    kernel,
    [S((5, 5), F32)] * 2,
    arange(5, 15),
    grid=(3, 3),
    in_specs=[pl.BlockSpec((2, 5), lambda i, k: (i, k))],
    out_specs=[out, out],
    scratch_shapes=[pltpu.VMEM((2, 5), F32)],
  )


def test_only_outputs_that_may_stay_unwritten_are_filled():
  """The proof is not too weak: kernels as people write them need no filling."""

  def filled(kernel, out_specs, grid):
    x = S((8, 8), F32)
    call = pl.pallas_call(
      kernel, x, grid=grid, in_specs=[out_specs], out_specs=out_specs, compiler_params=cpu.CompilerParams()
    )
    (eqn,) = jax.make_jaxpr(call)(x).eqns
    return outputs_to_poison(clean(lower_kernel(Kernel(**eqn.params))))

  def whole(x_ref, o_ref):
    o_ref[...] = x_ref[...]

  def guarded(x_ref, o_ref):
    pl.when(pl.program_id(1) == 0)(lambda: o_ref.__setitem__(..., x_ref[...]))
    o_ref[...] += 1.0

  def partly(x_ref, o_ref):
    o_ref[0] = x_ref[0]

  def in_parts(x_ref, o_ref):
    o_ref[0, :3] = x_ref[0, :3]
    o_ref[:, 3:] = x_ref[:, 3:]
    o_ref[1] = x_ref[1]

  def with_a_gap(x_ref, o_ref):
    o_ref[0, :3] = x_ref[0, :3]
    o_ref[:, 4:] = x_ref[:, 4:]
    o_ref[1] = x_ref[1]

  rows = pl.BlockSpec((2, 8), lambda i, k: (i, 0))
  assert filled(whole, rows, (4, 2)) == filled(guarded, rows, (4, 2)) == filled(in_parts, rows, (4, 2)) == []
  assert filled(with_a_gap, rows, (4, 2)) == [0]
  assert filled(whole, rows, (3, 2)) == filled(partly, rows, (4, 2)) == [0]
  assert filled(guarded, pl.BlockSpec((2, 4), lambda i, k: (i, k)), (4, 2)) == [0]
  assert filled(whole, pl.BlockSpec((2, 8), lambda i, k: (i // 2 * 2, 0)), (4, 2)) == [0]


# --- kernels in kernels, devices ---------------------------------------------------------------------------------


def test_a_kernel_may_call_a_kernel():
  def inner(x_ref, o_ref):
    o_ref[...] = x_ref[...] * (1 + pl.program_id(0)).astype(F32)

  rows = pl.BlockSpec((1, 3), lambda i: (i, 0))

  def kernel(x_ref, o_ref):
    call = pl.pallas_call(inner, S((4, 3), F32), grid=(4,), in_specs=[rows], out_specs=rows)
    o_ref[...] = call(x_ref[...] + 1)

  agrees(kernel, S((4, 3), F32), arange(4, 3))


@pytest.mark.devices(4)
def test_a_kernel_knows_its_device():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + lax.axis_index("d").astype(F32)

  mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("d",))
  spec = jax.sharding.PartitionSpec("d")
  call = jax.shard_map(lambda x: native(kernel, S((2,), F32), x), mesh=mesh, in_specs=spec, out_specs=spec)
  np.testing.assert_array_equal(jax.jit(call)(jnp.zeros(8)), np.repeat(np.arange(4.0), 2))

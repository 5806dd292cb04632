"""Kernels that access other GPUs, as the CPU runs their code: several devices of one process, at the same time, and their failures."""

from __future__ import annotations

import contextlib
import re

import emulated
import emulated_peers
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

from tests.collectives.gpu_kernels import added_up, neighbours_rows
from tests.support.communicating_kernels import DMA, REGULAR, VMEM, call, permute_right, ring_sum
from tilewright import collectives, errors
from tilewright import pallas as pl
from tilewright.pallas import semaphores
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import ptxas
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu import compile_ptx
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel
from tilewright.target.nvgpu.host import peer_memory
from tilewright.tile.native import copied_kernel

N = 2
LOGICAL = semaphores.DeviceIdType.LOGICAL


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
  """Kernels for GPUs run on CPU devices; gives those that were compiled."""
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "30")
  emulated_peers.install(monkeypatch.setattr)
  found = []

  def recorded(kernel, machine, *wishes):
    found.append(copied_kernel(kernel))
    return emit_kernel(kernel, machine, *wishes)

  monkeypatch.setattr(emulated, "emit_kernel", recorded)
  return found


def run(f, x, mesh_shape=(N,), axes=("x",)):
  """`f` of each device's part of x, on all devices."""
  mesh = jax.sharding.Mesh(np.array(jax.devices()[: int(np.prod(mesh_shape))]).reshape(mesh_shape), axes)
  spec = P(axes)
  of_device = jax.shard_map(lambda x: f(x[0])[None], mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
  try:
    return np.asarray(jax.jit(of_device)(x))
  finally:
    with contextlib.suppress(Exception):  # the errors of the other devices
      jax.effects_barrier()


def values(n=N, shape=(8, 16)):
  return np.random.default_rng(0).integers(-3, 4, (n, *shape)).astype(np.float32)


# --- programs ----------------------------------------------------------------------------------------------------


def test_a_remote_copy_to_the_right():
  x = values()
  np.testing.assert_array_equal(run(lambda x: permute_right(x, N), x), np.roll(x, 1, 0))


def test_a_ring_of_partial_sums_in_scratch_memory():
  x = values(3)
  np.testing.assert_array_equal(run(lambda x: ring_sum(x, 3), x, (3,)), np.broadcast_to(x.sum(0), x.shape))


def test_remote_refs_and_device_ids_by_dict():
  x = values()
  np.testing.assert_array_equal(run(lambda x: neighbours_rows(x, N), x), x + x[::-1])


def test_additions_of_several_devices_to_one_buffer():
  x = values(3)
  np.testing.assert_array_equal(run(lambda x: added_up(x, 3), x, (3,)), np.broadcast_to(x.sum(0), x.shape))


def test_coordinates_along_one_of_two_axes():
  def body(x):
    def kernel(x_ref, o_ref, send, receive):
      other = 1 - lax.axis_index("y")
      copy = pltpu.make_async_remote_copy(x_ref, o_ref, send, receive, device_id={"y": other})
      copy.start()
      copy.wait()

    return call(kernel, x, [DMA(()), DMA(())])

  x = values(4)
  expected = x.reshape(2, 2, 8, 16)[:, ::-1].reshape(x.shape)
  np.testing.assert_array_equal(run(body, x, (2, 2), ("x", "y")), expected)


def test_calls_follow_each_other_in_a_loop():
  x = values()
  found = run(lambda x: lax.fori_loop(0, 3, lambda _, y: permute_right(y, N) + 1, x), x)
  np.testing.assert_array_equal(found, x[::-1] + 3)


def test_a_value_loaded_before_a_signal_is_the_value_before_it():
  """After the signal the other device overwrites what was loaded."""

  def body(x):
    def kernel(x_ref, o_ref, buffer, filled, read, sent, received):
      other = 1 - lax.axis_index("x")
      buffer[...] = x_ref[...]
      pl.semaphore_signal(filled, 1, device_id=(other,))
      pl.semaphore_wait(filled, 1)  # both buffers are filled
      before = buffer[...]
      pl.semaphore_signal(read, 1, device_id=(other,))
      pl.semaphore_wait(read, 1)
      pl.semaphore_signal(read, 3)
      own = pl.semaphore_read(read)
      pl.semaphore_wait(read, 3)
      copy = pltpu.make_async_remote_copy(x_ref, buffer, sent, received, device_id=(other,))
      copy.start()
      copy.wait()
      o_ref[...] = 10 * before + buffer[...] + own

    return call(kernel, x, [VMEM((8, 16), jnp.float32), REGULAR(()), REGULAR(()), DMA(()), DMA(())])

  x = values()
  np.testing.assert_array_equal(run(body, x), 10 * x + x[::-1] + 3)


@pytest.mark.parametrize("algorithm", ["one_shot", "two_shot", "ring"])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.int8])
def test_all_reduce(algorithm, dtype):
  x = values(3, (5000,))
  found = run(lambda x: collectives.all_reduce(x.astype(dtype), "x", algorithm=algorithm).astype(jnp.float32), x, (3,))
  np.testing.assert_array_equal(found, np.broadcast_to(x.sum(0), x.shape))


def test_other_collectives_in_one_program():
  n, x = 4, values(4, (4, 6))
  groups = [[0, 1, 2], [], [3]]

  def body(x):
    found = [
      collectives.all_gather(x, "x").sum(0),
      collectives.reduce_scatter(x, "x") + x * 0,
      collectives.all_to_all(x, "x", 0, 0),
      collectives.permute(x, "x", [(0, 3)]),
      collectives.broadcast(x, "x", 1),
      collectives.all_reduce(x, "x", op="max", axis_index_groups=groups),
    ]
    return jnp.stack(found)

  found = run(body, x, (n,))
  for d in range(n):
    group = next(g for g in groups if d in g)
    expected = [x.sum(0), x[:, d].sum(0) + x[d] * 0, x[:, d], x[0] * (d == 3), x[1], x[group].max(0)]
    np.testing.assert_array_equal(found[d], expected)


def test_fused_products():
  x = values(N, (4, 8))

  def body(x):
    gathered = collectives.all_gather_matmul(x, x.T, "x")
    return jnp.concatenate([gathered, collectives.matmul_all_reduce(x, x.T, "x")])

  found = run(body, x)
  for d in range(N):
    expected = [x.reshape(-1, 8) @ x[d].T, sum(x[r] @ x[r].T for r in range(N))]
    np.testing.assert_array_equal(found[d], np.concatenate(expected))


def test_a_kernel_that_needs_more_memory_gets_a_larger_heap():
  small, large = values(N, (8, 16)), values(N, (1 << 21,))
  permute = lambda x: collectives.permute(x[: 1 << 10], "x", [(0, 1), (1, 0)])
  gather = lambda x: collectives.all_to_all(x.reshape(N, -1), "x", 0, 0).reshape(-1)[: 1 << 10]
  run(permute, small.reshape(N, -1))
  found = run(gather, large)
  np.testing.assert_array_equal(found[0], large[0, : 1 << 10])
  (domain,) = peer_memory._domains.values()
  assert [heap.nbytes for heap in domain.heaps] == [4 << 20, 10 << 20]


# --- errors ------------------------------------------------------------------------------------------------------


def test_a_device_that_fails_takes_the_others_with_it():
  def body(x):
    def kernel(x_ref, o_ref, semaphore):
      me = lax.axis_index("x")
      pl.semaphore_signal(semaphore, 1, device_id=5 * me, device_id_type=LOGICAL)  # there is no device 5
      pl.semaphore_wait(semaphore, 1)
      o_ref[...] = x_ref[...]

    return call(kernel, x, [REGULAR])

  x = values()
  with pytest.raises(Exception, match=r"There is no device of the number used at|Device 1 has failed"):
    run(body, x)
  np.testing.assert_array_equal(run(lambda x: permute_right(x, N), x), np.roll(x, 1, 0))  # what comes next works


def test_a_wait_that_nobody_ends_is_an_error_with_its_line(monkeypatch, caplog):
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "3")

  def body(x):
    def kernel(x_ref, o_ref, semaphore):
      pl.semaphore_signal(semaphore, 1, device_id=(1 - lax.axis_index("x"),))
      pl.semaphore_wait(semaphore, 2)
      o_ref[...] = x_ref[...]

    return call(kernel, x, [REGULAR])

  x = values()
  with pytest.raises(
    Exception, match="DeadlockError"
  ):  # of the one that is first to give up, or of the one that sees it
    run(body, x)
  assert re.search(r"waited for 3000 ms at .*test_peer_kernels.py:\d+.* for a semaphore with 1 of 2", caplog.text)
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "30")
  np.testing.assert_array_equal(run(lambda x: permute_right(x, N), x), np.roll(x, 1, 0))


def test_what_gpus_lack_is_refused():
  def body(x):
    def kernel(x_ref, o_ref):
      there = pl_remote(x_ref, 1 - lax.axis_index("x"))
      again = pl_remote(there, lax.axis_index("x"))
      o_ref[...] = again[...]

    return call(kernel, x)

  from tilewright.pallas.remote import remote_ref as pl_remote

  with pytest.raises(errors.NativeCodeError, match="cannot be sent on to a third"):
    run(body, values())


# --- code --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(ptxas.find() is None, reason="there is no ptxas")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_ptxas_assembles_them(kernels, arch):
  x = values()
  run(lambda x: ring_sum(added_up(neighbours_rows(permute_right(x, N), N), N), N), x)
  run(lambda x: collectives.all_reduce(x, "x"), x)
  for kernel in kernels:
    ptx, launch = compile_ptx(copied_kernel(kernel), arch)
    assert launch.symmetric is not None and "fence.acq_rel.sys" in ptx and "ld.acquire.sys" in ptx
    resources = ptxas.resources(ptx, architectures.named(arch).name)
    assert resources.spilled_bytes == 0 and resources.stack_bytes == 0


def test_loads_of_arrays_that_others_write_may_not_be_cached_as_constant(kernels):
  x = values()
  run(lambda x: permute_right(x, N), x)
  for kernel in kernels:
    assert "ld.global.nc" not in compile_ptx(copied_kernel(kernel), "sm_90a")[0]


def test_instances_run_side_by_side_only_where_they_say_so_and_none_waits(kernels):
  x = values(N, (5000,))
  run(lambda x: collectives.all_reduce(x, "x", algorithm="one_shot"), x)
  run(lambda x: collectives.all_reduce(x, "x", algorithm="ring"), x)
  blocks = [emit_kernel(k, architectures.named("sm_90a"))[1].launched_blocks for k in kernels]
  assert blocks == [4, 1]

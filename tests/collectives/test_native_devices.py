"""Native kernels of several CPU devices that copy to each other's memory and signal each other."""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src import dispatch
from jax.sharding import PartitionSpec as P

from tests.support.communicating_kernels import (
  DMA,
  F32,
  REGULAR,
  VMEM,
  call,
  permute_right,
  ring_sum,
)
from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import _jax

NATIVE, PORTABLE, SIMULATED = False, True, pltpu.InterpretParams()

pytestmark = pytest.mark.skipif(jax.device_count() < 8, reason="needs 8 devices: set XLA_FLAGS before JAX starts")


@pytest.fixture(autouse=True)
def no_stale_errors():
  """JAX keeps the tokens of effects, and raises their errors again at the next barrier of effects."""
  yield
  dispatch.runtime_tokens.clear()


def on_devices(f, **axes):
  devices = np.array(jax.devices()[: int(np.prod(list(axes.values())))]).reshape(*axes.values())
  mesh = jax.sharding.Mesh(devices, tuple(axes))
  spec = P(tuple(axes))
  return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))


def data(n, rows=8):
  return jnp.arange(n * rows * 128, dtype=F32).reshape(n * rows, 128)


def message_of(run):
  with pytest.raises((jax.errors.JaxRuntimeError, ValueError)) as caught:
    jax.block_until_ready(run())
  return str(caught.value)


def test_barrier_semaphores_are_refs_where_jax_checks_jaxprs():
  with _jax.config.enable_checks(True):
    found = on_devices(lambda x: permute_right(x, 2), x=2)(data(2))
  np.testing.assert_array_equal(found, np.roll(data(2), 8, axis=0))


# --- what arrives -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 8])
def test_every_device_sends_to_its_right(n):
  f = on_devices(lambda x: permute_right(x, n), x=n)
  for _ in range(5):
    np.testing.assert_array_equal(f(data(n)), np.roll(data(n), 8, axis=0))


def test_a_ring_sums_over_all_devices():
  n = 4
  total = np.asarray(data(n)).reshape(n, 8, 128).sum(0)  # sums of integers below 2**24: exact
  np.testing.assert_array_equal(on_devices(lambda x: ring_sum(x, n), x=n)(data(n)), np.tile(total, (n, 1)))


def test_kernels_follow_each_other_in_one_program_and_in_loops():
  n = 4

  def f(x):
    z = ring_sum(permute_right(x, n), n)
    w = lax.fori_loop(0, 5, lambda _, w: permute_right(w, n), z + x)
    return w + permute_right(x * 2, n) * 0

  total = np.asarray(data(n)).reshape(n, 8, 128).sum(0)
  expected = np.roll(np.tile(total, (n, 1)) + data(n), 40, axis=0)
  run = on_devices(f, x=n)
  for found in [run(data(n)) for _ in range(4)]:
    np.testing.assert_array_equal(found, expected)


def test_devices_that_wait_do_not_keep_xla_from_computing_for_others():
  n = 8

  def f(x):
    total = jnp.zeros((8, 128))
    for k in range(3):
      y = jnp.tanh((x * k @ jnp.ones((128, 512))) @ jnp.ones((512, 128)))
      z = permute_right(y, n)
      total += ring_sum((z @ jnp.ones((128, 128)))[:8] * 0 + k, n) + permute_right(z, n)[:8] * 0
    return total

  run = on_devices(f, x=n)
  for found in [run(data(n, rows=256)) for _ in range(3)]:
    np.testing.assert_array_equal(found, np.full((64, 128), n * (0 + 1 + 2)))


@pytest.mark.parametrize("kind", ["mesh", "logical", "dict", "several"])
def test_a_device_has_coordinates_and_a_number(kind):
  def kernel(x, o, send, receive):
    i, j = lax.axis_index("a"), lax.axis_index("b")
    to = lax.rem(i + 1, 2)
    where = {
      "mesh": dict(device_id=(to, j)),
      "logical": dict(device_id=to * 4 + j, device_id_type=pl.DeviceIdType.LOGICAL),
      "dict": dict(device_id={"a": to}),
      "several": dict(device_id={("a", "b"): to * 4 + j}),
    }[kind]
    copy = pltpu.make_async_remote_copy(x, o, send, receive, **where)
    copy.start()
    copy.wait()

  f = on_devices(lambda x: call(kernel, x, [DMA(()), DMA(())]), a=2, b=4)
  np.testing.assert_array_equal(f(data(8)), np.roll(data(8), 32, axis=0))


def test_one_device_may_send_while_the_others_receive():
  n = 4

  def kernel(x, o, send, receive):
    @pl.when(lax.axis_index("x") == 0)
    def _():
      for other in range(1, n):
        copy = pltpu.make_async_remote_copy(x, o, send, receive, device_id=(other,))
        copy.start()
        copy.wait_send()
      pltpu.sync_copy(x, o)

    @pl.when(lax.axis_index("x") > 0)
    def _():
      pltpu.make_async_remote_copy(x, o, send, receive, device_id=(0,)).wait_recv()

  f = on_devices(lambda x: call(kernel, x, [DMA(()), DMA(())]), x=n)
  np.testing.assert_array_equal(f(data(n)), np.tile(data(n)[:8], (n, 1)))


def test_all_devices_may_add_to_one():
  n = 8

  def kernel(x, o, total, send, receive):
    total[...] = jnp.zeros_like(total)
    meet_all(n)
    copy = pltpu.make_async_remote_copy(x, total, send, receive, device_id=(0,))
    copy.start(add=True)
    copy.wait_send()

    @pl.when(lax.axis_index("x") == 0)
    def _():
      for _ in range(n):
        copy.wait_recv()

    o[...] = total[...]

  def meet_all(n):
    barrier = pltpu.get_barrier_semaphore()
    for other in range(n):
      pl.semaphore_signal(barrier, 1, device_id=(other,))
    pl.semaphore_wait(barrier, n)

  f = on_devices(lambda x: call(kernel, x, [VMEM((8, 128), F32), DMA(()), DMA(())]), x=n)
  np.testing.assert_array_equal(f(data(n))[:8], np.asarray(data(n)).reshape(n, 8, 128).sum(0))


def test_memory_of_a_scope_is_reached_before_its_owner_is_in_it():
  n = 4

  def kernel(x, o):
    me = lax.axis_index("x")

    @pl.when(me == 0)
    def _():
      pl.delay(20_000_000)

    @pl.loop(0, 3)
    def _(step):
      def scope(buffer, send, receive):
        copy = pltpu.make_async_remote_copy(x, buffer, send, receive, device_id=(lax.rem(me + 1, n),))
        copy.start()
        copy.wait()
        o[...] = buffer[...] + step.astype(F32)

      pl.run_scoped(scope, VMEM((8, 128), F32), DMA(()), DMA(()))

  np.testing.assert_array_equal(on_devices(lambda x: call(kernel, x), x=n)(data(n)), np.roll(data(n), 8, axis=0) + 2)


@pytest.mark.parametrize("interpret", [NATIVE, PORTABLE, SIMULATED], ids=["native", "portable", "simulated"])
@pytest.mark.parametrize("checks", [False, True])
def test_a_ref_of_another_device_is_read_and_written(interpret, checks):
  n = 4

  def kernel(x, o):
    me = lax.axis_index("x")
    o[0] = plgpu.remote_ref(x.at[0], (lax.rem(me + 1, n),))[...]
    plgpu.remote_ref(o, {"x": lax.rem(me + 2, n)})[1] = x[1]
    plgpu.multimem_store(x[2] * 0 + 5, o.at[2], "x")
    o[3:] = plgpu.multimem_load_reduce(x.at[3:], collective_axes="x", reduction_op="max")

  with _jax.config.enable_checks(checks):
    found = on_devices(lambda x: call(kernel, x, interpret=interpret), x=n)(data(n)).reshape(n, 8, 128)
  x = np.asarray(data(n)).reshape(n, 8, 128)
  np.testing.assert_array_equal(found[:, 0], np.roll(x[:, 0], -1, axis=0))
  np.testing.assert_array_equal(found[:, 1], np.roll(x[:, 1], 2, axis=0))
  np.testing.assert_array_equal(found[:, 2], np.full((n, 128), 5))
  np.testing.assert_array_equal(found[:, 3:], np.tile(x[:, 3:].max(0), (n, 1, 1)))


def across_cores(x, n, interpret=False, waits=1):
  """Core c of a device sends to the other core of the device to the right."""

  def kernel(x_ref, o_ref, buffer, send, receive, extra):
    me, core = lax.axis_index("x"), lax.axis_index("core")
    there = {"x": lax.rem(me + 1, n), "core": 1 - core}
    copy = pltpu.make_async_remote_copy(x_ref.at[core], buffer, send, receive, device_id=there)
    copy.start()
    copy.wait()
    pl.semaphore_signal(extra, 1, device_id=there)
    pl.semaphore_wait(extra, waits)
    pltpu.sync_copy(buffer, o_ref.at[core])

  return pl.kernel(
    kernel,
    jax.ShapeDtypeStruct(x.shape, x.dtype),
    mesh=pltpu.TensorCoreMesh(axis_name="core", num_cores=2),
    scratch_types=[VMEM(x.shape[1:], F32), DMA, DMA, REGULAR],
    interpret=interpret,
  )(x)


@pytest.mark.parametrize("interpret", [NATIVE, SIMULATED], ids=["native", "simulated"])
def test_cores_of_one_device_reach_for_cores_of_another(interpret):
  n = 4
  x = jnp.arange(n * 2 * 8 * 128, dtype=F32).reshape(n * 2, 8, 128)
  expected = np.roll(np.asarray(x).reshape(n, 2, 8, 128)[:, ::-1], 1, axis=0).reshape(x.shape)
  f = on_devices(lambda x: across_cores(x, n, interpret), x=n)
  for _ in range(3):
    np.testing.assert_array_equal(f(x), expected)


def test_cores_that_wait_for_ever_are_found():
  x = jnp.zeros((4, 8, 128), F32)
  message = message_of(lambda: on_devices(lambda x: across_cores(x, 2, waits=2), x=2)(x))
  assert (
    "DeadlockError" in message
    and "device 0 waits with all its cores" in message
    and "test_native_devices.py:" in message
  )


# --- what goes wrong ----------------------------------------------------------------------------------------------


def test_a_deadlock_between_devices_says_where_every_device_waits():
  def kernel(x, o, sem):
    @pl.when(lax.axis_index("x") == 0)
    def _():
      pl.semaphore_signal(sem, 1, device_id=(1,))

    pl.semaphore_wait(sem, 1)
    o[...] = x[...]

  start = time.time()
  message = message_of(lambda: on_devices(lambda x: call(kernel, x, [REGULAR]), x=4)(data(4)))
  assert time.time() - start < 30
  assert "DeadlockError" in message and message.count("test_native_devices.py:") >= 3
  for device in (0, 2, 3):
    assert f"device {device} waits at " in message
  assert "device 1 has ended the kernel" in message


def test_an_error_on_one_device_stops_all_and_the_next_kernel_works():
  def kernel(x, o, sem):
    me = lax.axis_index("x")
    pl.debug_check(me != 2, "not here")
    pl.semaphore_signal(sem, 1, device_id=(lax.rem(me + 1, 4),))
    pl.semaphore_wait(sem, 1)
    o[...] = x[...]

  with pl.enable_debug_checks(True):
    assert "not here" in message_of(lambda: on_devices(lambda x: call(kernel, x, [REGULAR]), x=4)(data(4)))
  run = on_devices(lambda x: permute_right(x, 4), x=4)
  np.testing.assert_array_equal(run(data(4)), np.roll(data(4), 8, axis=0))


def test_a_device_that_never_comes_is_named(monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "1")

  def f(x):
    return lax.cond(lax.axis_index("x") < 3, lambda x: permute_right(x, 4), lambda x: x, x)

  message = message_of(lambda: on_devices(f, x=4)(data(4)))
  assert "DeadlockError" in message and "device 3 has not come" in message


def test_a_device_outside_of_the_mesh_is_an_error():
  def kernel(x, o, sem):
    pl.semaphore_signal(sem, 1, device_id=(lax.axis_index("x") + 1,))
    o[...] = x[...]

  message = message_of(lambda: on_devices(lambda x: call(kernel, x, [REGULAR]), x=2)(data(2)))
  assert "GridError" in message and "axis 'x' of size 2" in message and "test_native_devices.py:" in message


def test_communication_outside_of_shard_map_is_an_error():
  def kernel(x, o, sem):
    pl.semaphore_signal(sem, 1, device_id=(0,))
    o[...] = x[...]

  with pytest.raises(errors.OutsideKernelError, match="shard_map"):
    call(kernel, data(1), [REGULAR])

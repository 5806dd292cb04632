"""Loops that read semaphores until another device or core has signalled them; those that can never end are errors."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src import dispatch

from tests.support.communicating_kernels import REGULAR, call
from tests.support.device_meshes import N, mesh_of, numbers, on
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

pytestmark = pytest.mark.skipif(jax.device_count() < N, reason="needs 8 devices: set XLA_FLAGS before JAX starts")

DEVICES = 4


@pytest.fixture(autouse=True)
def no_stale_errors():
  """JAX keeps the tokens of effects, and raises their errors again at the next barrier of effects."""
  yield
  dispatch.runtime_tokens.clear()


def me():
  return lax.axis_index("x")


def signal(semaphore, device, count=1):
  pl.semaphore_signal(semaphore, count, device_id=jnp.mod(device, DEVICES), device_id_type=pl.DeviceIdType.LOGICAL)


def in_the_condition(semaphore):
  """The number of trips is of no use."""
  lax.while_loop(lambda n: pl.semaphore_read(semaphore) < 1, lambda n: n + 1, jnp.int32(0))


def in_the_body(semaphore):
  lax.while_loop(lambda count: count < 1, lambda _: pl.semaphore_read(semaphore), jnp.int32(0))


def at_most_so_often(semaphore):
  def is_waiting(n):
    return (pl.semaphore_read(semaphore) < 1) & (n < 2**30)

  lax.while_loop(is_waiting, lambda n: n + 1, jnp.int32(0))


LOOPS = [in_the_condition, in_the_body, at_most_so_often]


def run(body, scratch=1):
  def kernel(x, o, semaphore):
    body(semaphore)
    o[...] = x[...] + lax.convert_element_type(me(), jnp.float32)

  x = numbers((DEVICES, 8), np.float32)
  found = on(lambda x: call(kernel, x, [REGULAR((scratch,))]), x, mesh=mesh_of(x=DEVICES))
  np.testing.assert_array_equal(found, x + np.arange(DEVICES)[:, None])


@pytest.mark.parametrize("poll", LOOPS)
def test_a_device_polls_what_its_neighbour_signals(poll):
  def body(semaphore):
    signal(semaphore.at[0], me() + 1)
    poll(semaphore.at[0])
    pl.semaphore_wait(semaphore.at[0], 1)

  run(body)


@pytest.mark.parametrize("poll", LOOPS)
def test_a_device_polls_while_another_takes_its_time(poll):
  def body(semaphore):
    @pl.when(me() == 0)
    def _():
      pl.delay(300_000_000)
      for device in range(1, DEVICES):
        signal(semaphore.at[0], device)

    pl.when(me() != 0)(lambda: poll(semaphore.at[0]))
    pl.semaphore_wait(semaphore.at[0], jnp.minimum(me(), 1))

  run(body)


def test_messages_are_received_in_any_order():
  """The loop takes what has come, until all have."""

  def body(semaphore):
    for other in range(1, DEVICES):
      signal(semaphore.at[other], me() + other)

    def receive(received):
      for other in range(1, DEVICES):
        has_come = pl.semaphore_read(semaphore.at[other]) > 0
        pl.when(has_come)(lambda other=other: pl.semaphore_wait(semaphore.at[other], 1))
        received += lax.convert_element_type(has_come, jnp.int32)
      return received

    lax.while_loop(lambda received: received < DEVICES - 1, receive, jnp.int32(0))

  run(body, scratch=DEVICES)


@pytest.mark.parametrize("poll", LOOPS)
@pytest.mark.parametrize("others", ["end", "wait", "poll"])
def test_polling_in_vain_is_an_error(monkeypatch, poll, others):
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "2")

  def body(semaphore):
    signal(semaphore.at[1], me() + 1)

    @pl.when(me() == 1)
    def _():
      poll(semaphore.at[0])
      signal(semaphore.at[0], me() + 1)

    if others == "wait":
      pl.when(me() != 1)(lambda: pl.semaphore_wait(semaphore.at[0], 1))
    elif others == "poll":
      pl.when(me() != 1)(lambda: poll(semaphore.at[0]))

  with pytest.raises(jax.errors.JaxRuntimeError) as caught:
    run(body, scratch=2)
  assert "DeadlockError" in str(caught.value) and "device 1 polls a semaphore at" in str(caught.value)
  run(lambda semaphore: None)  # and the next kernel works


def test_an_error_on_one_device_ends_the_polling_of_others():
  def body(semaphore):
    pl.debug_check(me() != 2, "not here")
    signal(semaphore.at[0], me() + 1)
    in_the_condition(semaphore.at[0])

  with pl.enable_debug_checks(True), pytest.raises(jax.errors.JaxRuntimeError, match="not here"):
    run(body)


@pytest.mark.parametrize("poll", LOOPS[:2])
def test_polling_alone_is_an_error(poll):
  def kernel(o, semaphore):
    poll(semaphore)
    o[...] = jnp.zeros(8)

  f = pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), jnp.float32), scratch_shapes=[REGULAR])
  with pytest.raises(jax.errors.JaxRuntimeError, match=r"DeadlockError.*test_polling\.py"):
    jax.block_until_ready(jax.jit(f)())


@pytest.mark.parametrize("poll, signalled", [*((poll, True) for poll in LOOPS), *((poll, False) for poll in LOOPS[:2])])
def test_cores_poll_each_other(poll, signalled):
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=2)

  def body(o, semaphore):
    core = lax.axis_index("core")

    @pl.when(core == 0)
    def _():
      poll(semaphore)
      o[0] = jnp.ones(8)

    @pl.when(core == 1)
    def _():
      o[1] = jnp.ones(8)
      if signalled:
        pl.semaphore_signal(semaphore, 1, device_id={"core": 0})

  f = pl.kernel(body, jax.ShapeDtypeStruct((2, 8), jnp.float32), mesh=mesh, scratch_types=[REGULAR])
  if signalled:
    np.testing.assert_array_equal(jax.jit(f)(), np.ones((2, 8)))
  else:
    with pytest.raises(jax.errors.JaxRuntimeError, match="DeadlockError"):
      jax.block_until_ready(jax.jit(f)())

"""The simulated machine on several devices and on meshes of cores: kernels that talk to each other."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

from tests.support.communicating_kernels import meet_neighbours, ring_sum_kernel, ring_sum_scratch
from tilewright import pallas as pl
from tilewright.pallas import dma
from tilewright.pallas.tpu import interpret as sim
from tilewright.tile.memory import MemorySpace, SemaphoreType, TpuMemorySpace

Params = sim.InterpretParams
VMEM, SMEM, ANY = TpuMemorySpace.VMEM, TpuMemorySpace.SMEM, MemorySpace.ANY
DMA, REGULAR = SemaphoreType.DMA, SemaphoreType.REGULAR
F32 = jnp.float32
WHOLE = pl.BlockSpec(memory_space=ANY)

pytestmark = pytest.mark.skipif(jax.device_count() < 8, reason="needs 8 devices: set XLA_FLAGS before JAX starts")


@pytest.fixture(autouse=True)
def fresh_machine():
  sim.reset_tpu_interpret_mode_state()
  yield
  sim.reset_tpu_interpret_mode_state()


class Collective:
  """Compiler parameters with a collective id."""

  collective_id = 7


COLLECTIVE = Collective()


def out(shape, dtype=F32):
  return jax.ShapeDtypeStruct(shape, dtype)


def mesh_of(**axes):
  devices = np.array(jax.devices()[: int(np.prod(list(axes.values())))]).reshape(*axes.values())
  return jax.sharding.Mesh(devices, tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))


def on_devices(f, **axes):
  spec = P(tuple(axes))
  return jax.jit(jax.shard_map(f, mesh=mesh_of(**axes), in_specs=spec, out_specs=spec, check_vma=False))


def data(n, rows=8):
  return jnp.arange(n * rows * 128, dtype=F32).reshape(n * rows, 128)


def message_of(call):
  with pytest.raises((jax.errors.JaxRuntimeError, ValueError)) as caught:
    jax.block_until_ready(call())
  return str(caught.value)


# --- collectives --------------------------------------------------------------------------------------------------

MODES = [
  pytest.param(dict(dma_execution_mode=mode, detect_races=races), id=f"{mode}{'-races' if races else ''}")
  for mode in ("eager", "on_wait")
  for races in (False, True)
]


def permute_right(x, n, params, with_barrier=True):
  def kernel(x, o, send, receive):
    if with_barrier:
      meet_neighbours(n)
    right = lax.rem(lax.axis_index("x") + 1, n)
    copy = dma.make_async_remote_copy(x, o, send, receive, device_id=(right,))
    copy.start()
    copy.wait()

  call = pl.pallas_call(
    kernel,
    out(x.shape),
    in_specs=[WHOLE],
    out_specs=WHOLE,
    scratch_shapes=[DMA(()), DMA(())],
    compiler_params=COLLECTIVE,
    interpret=params,
  )
  return call(x)


@pytest.mark.parametrize("n", [4, 8])
@pytest.mark.parametrize("params", MODES)
def test_every_device_sends_to_its_right(n, params):
  f = on_devices(lambda x: permute_right(x, n, Params(**params)), x=n)
  np.testing.assert_array_equal(f(data(n)), np.roll(data(n), 8, axis=0))
  assert sim.interpret_races() == ()


def all_gather(x, n, params):
  def kernel(x, o, send, receive):
    meet_neighbours(n)
    me = lax.axis_index("x")
    right = lax.rem(me + 1, n)
    dma.sync_copy(x, o.at[me])

    @pl.loop(0, n - 1)
    def _(step):
      slot = lax.rem(me + n - step, n)
      copy = dma.make_async_remote_copy(o.at[slot], o.at[slot], send, receive.at[step], device_id=(right,))
      copy.start()
      copy.wait()

  call = pl.pallas_call(
    kernel,
    out((n, *x.shape)),
    in_specs=[WHOLE],
    out_specs=WHOLE,
    scratch_shapes=[DMA(()), DMA((n - 1,))],
    compiler_params=COLLECTIVE,
    interpret=params,
  )
  return call(x)


@pytest.mark.parametrize("n", [4, 8])
@pytest.mark.parametrize("params", MODES)
def test_a_ring_gathers_everything_everywhere(n, params):
  f = on_devices(lambda x: all_gather(x, n, Params(**params)).reshape(-1, 128), x=n)
  np.testing.assert_array_equal(f(data(n)), np.tile(data(n), (n, 1)))
  assert sim.interpret_races() == ()


def all_reduce(x, n, params):
  call = pl.pallas_call(
    ring_sum_kernel(n),
    out(x.shape),
    scratch_shapes=ring_sum_scratch(x),
    compiler_params=COLLECTIVE,
    interpret=params,
  )
  return call(x)


@pytest.mark.parametrize("n", [4, 8])
@pytest.mark.parametrize("params", MODES)
def test_a_ring_sums_over_all_devices(n, params):
  f = on_devices(lambda x: all_reduce(x, n, Params(**params)), x=n)
  total = np.asarray(data(n)).reshape(n, 8, 128).sum(0)  # sums of integers below 2**24: exact
  np.testing.assert_array_equal(f(data(n)), np.tile(total, (n, 1)))
  assert sim.interpret_races() == ()


def test_kernels_follow_each_other_in_one_program_and_in_loops():
  n = 4

  def f(x):
    y = permute_right(x, n, Params())
    z = all_reduce(y, n, Params())
    w = lax.fori_loop(0, 3, lambda _, w: permute_right(w, n, Params()), z + x)
    return w + permute_right(x * 2, n, Params()) * 0

  run = on_devices(f, x=n)
  total = np.asarray(data(n)).reshape(n, 8, 128).sum(0)
  expected = np.roll(np.tile(total, (n, 1)) + data(n), 24, axis=0)
  for _ in range(2):
    np.testing.assert_array_equal(run(data(n)), expected)


def test_kernels_that_do_not_depend_on_each_other_wait_without_blocking_the_program():
  """XLA computes for all devices on a pool of few threads: a device that waits must not hold one of them."""
  n = 8

  def f(x):
    total = jnp.zeros((8, 128))
    for k in range(4):
      y = x * k
      for _ in range(2):
        y = jnp.tanh((y @ jnp.ones((128, 512))) @ jnp.ones((512, 128)))
      z = permute_right(y, n, Params())
      total += all_reduce((z @ jnp.ones((128, 128)))[:8] * 0 + k, n, Params()) + permute_right(z, n, Params())[:8] * 0
    return total

  run = on_devices(f, x=n)
  for found in [run(data(n, rows=512)) for _ in range(3)]:
    np.testing.assert_array_equal(found, np.full((64, 128), n * (0 + 1 + 2 + 3)))


def test_pure_loops_and_jitted_helpers_inside_of_shard_map_are_compiled():
  def kernel(x, o):
    halve = lambda _, v: jnp.where(v > 0, jnp.sort(v, axis=-1), v) * 0.5
    o[...] = lax.fori_loop(0, 3, halve, x[...]) + lax.scan(lambda c, v: (c + v, c), 0.0, jnp.arange(3.0))[0]

  def f(interpret):
    return on_devices(lambda x: pl.pallas_call(kernel, out(x.shape), interpret=interpret)(x), x=4)(data(4))

  np.testing.assert_array_equal(f(Params()), f(True))


def test_an_array_spread_over_devices_outside_of_shard_map_is_one_array():
  def kernel(x, o):
    o[...] = x[...] - x[0, 0]

  sharded = jax.device_put(data(4), jax.sharding.NamedSharding(mesh_of(x=4), P("x")))
  found = jax.jit(pl.pallas_call(kernel, out((32, 128)), interpret=Params()))(sharded)
  np.testing.assert_array_equal(found, data(4))


@pytest.mark.parametrize("kind", ["mesh", "logical", "dict"])
def test_a_device_has_coordinates_and_a_number(kind):
  def kernel(x, o, send, receive):
    i, j = lax.axis_index("a"), lax.axis_index("b")
    to = lax.rem(i + 1, 2)
    if kind == "mesh":
      where = dict(device_id=(to, j))
    elif kind == "logical":
      where = dict(device_id=to * 4 + j, device_id_type=pl.DeviceIdType.LOGICAL)
    else:
      where = dict(device_id={"a": to})
    copy = dma.make_async_remote_copy(x, o, send, receive, **where)
    copy.start()
    copy.wait()

  def f(x):
    return pl.pallas_call(
      kernel, out(x.shape), in_specs=[WHOLE], out_specs=WHOLE, scratch_shapes=[DMA(()), DMA(())], interpret=Params()
    )(x)

  np.testing.assert_array_equal(on_devices(f, a=2, b=4)(data(8)), np.roll(data(8), 32, axis=0))


def test_devices_may_take_different_ways():
  """One device sends to each of the others in turn; they only receive."""
  n = 4

  def kernel(x, o, send, receive):
    me = lax.axis_index("x")

    @pl.when(me == 0)
    def _():
      for other in range(1, n):
        copy = dma.make_async_remote_copy(x, o, send, receive, device_id=(other,))
        copy.start()
        copy.wait_send()
      dma.sync_copy(x, o)

    @pl.when(me > 0)
    def _():
      dma.make_async_remote_copy(x, o, send, receive, device_id=(0,)).wait_recv()

  def f(x):
    return pl.pallas_call(
      kernel, out(x.shape), in_specs=[WHOLE], out_specs=WHOLE, scratch_shapes=[DMA(()), DMA(())], interpret=Params()
    )(x)

  np.testing.assert_array_equal(on_devices(f, x=n)(data(n)), np.tile(data(n)[:8], (n, 1)))


def test_a_kernel_that_stays_on_its_device_need_not_be_called_by_all():
  def kernel(x, o):
    o[...] = x[...] + lax.axis_index("x").astype(F32)

  def f(x):
    call = pl.pallas_call(kernel, out(x.shape), interpret=Params())
    return lax.cond(lax.axis_index("x") == 1, call, lambda x: x * 0, x)

  expected = np.concatenate([np.zeros((8, 128)), data(2)[8:] + 1])
  np.testing.assert_array_equal(on_devices(f, x=2)(data(2)), expected)


# --- what goes wrong ----------------------------------------------------------------------------------------------


def test_a_deadlock_between_devices_names_every_device_that_waits():
  def kernel(x, o, sem):
    @pl.when(lax.axis_index("x") == 0)
    def _():
      pl.semaphore_signal(sem, 1, device_id=(1,))

    pl.semaphore_wait(sem, 1)
    o[...] = x[...]

  def f(x):
    return pl.pallas_call(kernel, out(x.shape), scratch_shapes=[REGULAR], interpret=Params())(x)

  message = message_of(lambda: on_devices(f, x=4)(data(4)))
  assert "DeadlockError" in message and "test_simulator_devices.py:" in message
  for device in (0, 2, 3):
    assert f"device {device}, core 0 waits for scratch 0 (device {device}, core 0): is 0, needs 1" in message
  assert "device 1, core 0 waits" not in message


def test_an_error_on_one_device_stops_all_and_the_next_kernel_works():
  def kernel(x, o, sem):
    me = lax.axis_index("x")

    @pl.when(me == 2)
    def _():
      o[me + 100, 0] = jnp.float32(0)

    pl.semaphore_signal(sem, 1, device_id=(lax.rem(me + 1, 4),))
    pl.semaphore_wait(sem, 1)
    o[...] = x[...]

  def f(x):
    return pl.pallas_call(kernel, out(x.shape), scratch_shapes=[REGULAR], interpret=Params())(x)

  assert "Out-of-bounds write" in message_of(lambda: on_devices(f, x=4)(data(4)))
  sim.reset_tpu_interpret_mode_state()
  run = on_devices(lambda x: permute_right(x, 4, Params()), x=4)
  np.testing.assert_array_equal(run(data(4)), np.roll(data(4), 8, axis=0))


def test_a_device_that_failed_before_does_not_keep_the_others_waiting():
  def local(x, o):
    @pl.when(lax.axis_index("x") == 1)
    def _():
      o[lax.axis_index("x") + 100, 0] = jnp.float32(0)

    o[...] = x[...]

  def f(x):
    x = pl.pallas_call(local, out(x.shape), interpret=Params())(x)
    return permute_right(x, 4, Params())

  run = on_devices(f, x=4)
  message = message_of(lambda: run(data(4)))
  assert "Out-of-bounds write" in message
  sim.reset_tpu_interpret_mode_state()
  again = on_devices(lambda x: permute_right(x, 4, Params()), x=4)
  np.testing.assert_array_equal(again(data(4)), np.roll(data(4), 8, axis=0))


@pytest.mark.parametrize("mode", ["eager", "on_wait"])
@pytest.mark.parametrize("waits", [False, True])
def test_a_copy_into_memory_that_its_owner_uses_is_a_race_unless_they_meet(mode, waits):
  def kernel(x, o, buffer, send, receive):
    me = lax.axis_index("x")
    other = 1 - me
    buffer[...] = x[...]
    if waits:
      meet_neighbours(2)
    copy = dma.make_async_remote_copy(x, buffer, send, receive, device_id=(other,))
    copy.start()
    copy.wait()
    o[...] = buffer[...]

  def f(x):
    return pl.pallas_call(
      kernel,
      out(x.shape),
      in_specs=[WHOLE],
      scratch_shapes=[VMEM((8, 128), F32), DMA(()), DMA(())],
      compiler_params=COLLECTIVE,
      interpret=Params(dma_execution_mode=mode, detect_races=True),
    )(x)

  jax.block_until_ready(on_devices(f, x=2)(data(2)))
  races = sim.interpret_races()
  if waits:
    assert races == ()
  else:
    assert races
    assert all("scratch 0" in race.buffer and "a copy" in str(race) for race in races)


# --- meshes of cores ----------------------------------------------------------------------------------------------


class Cores:
  """A mesh of cores, as `pl.kernel` takes it."""

  def __init__(self, **shape):
    self.shape = shape

  def __eq__(self, other):
    return isinstance(other, Cores) and self.shape == other.shape

  def __hash__(self):
    return hash(tuple(self.shape.items()))


def test_the_cores_of_a_mesh_run_side_by_side():
  """Each core hands its number to the next, which could not work one after another."""

  def body(o, mine, sem):
    core = lax.axis_index("core")
    mine[0] = core

    @pl.when(core != 2)
    def _():
      pl.semaphore_signal(sem, 1, core_index=lax.rem(core + 1, 3))

    @pl.when(core == 2)
    def _():
      pl.semaphore_signal(sem, 1, core_index=0)

    pl.semaphore_wait(sem, 1)
    o[core] = mine[0] * 10

  call = pl.kernel(
    body,
    out((3,), jnp.int32),
    mesh=Cores(core=3),
    scratch_types=[SMEM((1,), jnp.int32), REGULAR],
    interpret=Params(detect_races=True),
  )
  np.testing.assert_array_equal(call(), [0, 10, 20])
  assert sim.interpret_races() == ()


def test_a_core_waits_in_vain_for_one_that_has_finished():
  def body(o, sem):
    @pl.when(lax.axis_index("core") == 1)
    def _():
      pl.semaphore_wait(sem, 1)

    o[0] = jnp.int32(0)

  call = pl.kernel(body, out((1,), jnp.int32), mesh=Cores(core=2), scratch_types=[REGULAR], interpret=Params())
  message = message_of(call)
  assert "device 0, core 1 waits for" in message and "core 0 waits" not in message


def test_cores_that_touch_one_element_race_unless_a_semaphore_orders_them():
  def body(ordered, o, sem):
    core = lax.axis_index("core")

    @pl.when(core == 0)
    def _():
      o[0] = jnp.int32(1)
      pl.semaphore_signal(sem, 1, core_index=1)

    @pl.when(core == 1)
    def _():
      if ordered:
        pl.semaphore_wait(sem, 1)
      o[0] = jnp.int32(2)
      if not ordered:
        pl.semaphore_wait(sem, 1)

  for ordered in (True, False):
    sim.reset_tpu_interpret_mode_state()
    call = pl.kernel(
      functools.partial(body, ordered),
      out((1,), jnp.int32),
      mesh=Cores(core=2),
      scratch_types=[REGULAR],
      interpret=Params(detect_races=True),
    )
    jax.block_until_ready(call())
    assert len(sim.interpret_races()) == (0 if ordered else 1)


def test_different_bodies_run_on_different_cores_and_share_refs():
  """A producer on one mesh, a consumer on another, a semaphore between them."""

  def producer(x, o, sem):
    o[...] = x[...] * 2
    pl.semaphore_signal(sem, 1, core_index=1)

  def consumer(x, o, sem):
    pl.semaphore_wait(sem, 1)
    o[...] = o[...] + 1

  call = pl.kernel(
    [producer, consumer],
    out((8,)),
    mesh=[Cores(a=1), Cores(b=1)],
    scratch_types=[REGULAR],
    interpret=Params(detect_races=True),
  )
  np.testing.assert_array_equal(call(jnp.arange(8.0)), np.arange(8.0) * 2 + 1)
  assert sim.interpret_races() == ()

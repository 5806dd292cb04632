"""Kernels of users on a part of the mesh: the devices that communicate meet, whatever the others do meanwhile."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src import dispatch

from tests.support.communicating_kernels import DMA, PARAMS, REGULAR, WHOLE, call
from tests.support.device_meshes import N, mesh_of, numbers, on
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.tile import device_parties

pytestmark = pytest.mark.skipif(jax.device_count() < N, reason="needs 8 devices: set XLA_FLAGS before JAX starts")

STAGES, SIZE = 2, 4


@pytest.fixture(autouse=True)
def no_stale_errors():
  """JAX keeps the tokens of effects, and raises their errors again at the next barrier of effects."""
  yield
  dispatch.runtime_tokens.clear()


WHOLE_MESH = ()
BY_STAGE = (0, 0, 0, 0, 4, 4, 4, 4)


def me(axis="x"):
  return lax.axis_index(axis)


def to_the_right(x, **device):
  """Every device sends what it has, after a barrier with its neighbours."""

  def kernel(x, o, send, receive):
    barrier = pltpu.get_barrier_semaphore()
    for other in (me() + 1, me() - 1):
      pl.semaphore_signal(barrier, 1, device_id={"x": jnp.mod(other, SIZE)})
    pl.semaphore_wait(barrier, 2)
    copy = pltpu.make_async_remote_copy(x, o, send, receive, device_id=(me("stage"), lax.rem(me() + 1, SIZE)))
    copy.start()
    copy.wait()

  return call(kernel, x, [DMA(()), DMA(())])


def parties_of(monkeypatch, device_id, *extra):
  """The parties of a kernel that signals one device, given its id."""
  found = []
  analysed = device_parties.parties

  def record(kernel):
    found.append(analysed(kernel))
    return found[-1]

  monkeypatch.setattr(device_parties, "parties", record)

  def kernel(x, *rest):
    o, semaphore = rest[-2:]
    for n, device in enumerate(device_id(*rest[:-2])):
      kind = pl.DeviceIdType.LOGICAL if not isinstance(device, tuple | dict) else pl.DeviceIdType.MESH
      pl.semaphore_signal(semaphore.at[n], 1, device_id=device, device_id_type=kind)
    o[...] = x[...]

  def step(x):
    specs = [pl.BlockSpec(memory_space=pltpu.SMEM)] * len(extra)
    return pl.pallas_call(
      kernel,
      jax.ShapeDtypeStruct(x.shape, x.dtype),
      in_specs=[WHOLE, *specs],
      out_specs=WHOLE,
      scratch_shapes=[REGULAR((8,))],
      compiler_params=PARAMS,
    )(x, *extra)

  x = numbers((N, 8), np.float32)
  np.testing.assert_array_equal(on(step, x, mesh=mesh_of(stage=STAGES, x=SIZE)), x)
  (parties,) = found
  return parties


KNOWN = {
  "coordinates": (lambda: [{"x": jnp.mod(me() + 1, SIZE)}], BY_STAGE),
  "all coordinates": (lambda: [(me("stage"), lax.rem(me() + 3, SIZE))], BY_STAGE),
  "across stages": (lambda: [{"stage": 1 - me("stage")}], (0, 1, 2, 3, 0, 1, 2, 3)),
  "numbers": (lambda: [me("stage") * SIZE + (me() ^ 1)], (0, 0, 2, 2, 4, 4, 6, 6)),
  "itself": (lambda: [{"x": me()}], tuple(range(N))),
  "one for all": (lambda: [{"stage": 0, "x": 0}], WHOLE_MESH),
  "two kinds": (lambda: [{"x": me() ^ 1}, {"x": me() ^ 2}], BY_STAGE),
}


@pytest.mark.parametrize("case", KNOWN)
def test_parties_follow_from_device_ids(monkeypatch, case):
  device_id, expected = KNOWN[case]
  assert parties_of(monkeypatch, device_id) == expected


def test_an_unknown_coordinate_is_one_of_its_axis(monkeypatch):
  """Its position along the axis is loaded, the one along the other axis is this device's."""
  assert parties_of(monkeypatch, lambda table: [{"x": table[0]}], jnp.array([2])) == BY_STAGE


def test_an_unknown_number_may_be_any_device(monkeypatch):
  assert parties_of(monkeypatch, lambda table: [table[0]], jnp.array([2])) == WHOLE_MESH


def test_a_number_is_that_of_the_branch_that_a_device_runs(monkeypatch):
  def device_id():
    return [lax.cond(me("stage") == 0, lambda: jnp.int32(1), lambda: me("stage") * SIZE + me())]

  assert parties_of(monkeypatch, device_id) == (0, 0, 0, 0, 4, 5, 6, 7)


@pytest.mark.parametrize("next_one", [lambda i, d: lax.rem(d + 1, SIZE), lambda i, d: lax.rem(me() + i, SIZE)])
def test_loops_that_walk_around_a_ring(monkeypatch, next_one):
  def device_id():
    return [{"x": lax.fori_loop(0, 3, next_one, me())}]

  assert parties_of(monkeypatch, device_id) == BY_STAGE


def test_stages_run_kernels_of_their_own_without_waiting_for_each_other():
  def step(x):
    rounds = lambda n: lambda x: lax.fori_loop(0, n, lambda i, x: to_the_right(x), x)
    return lax.switch(me("stage"), [rounds(1), rounds(30)], x)

  x = numbers((N, 8), np.float32)
  mesh = mesh_of(stage=STAGES, x=SIZE)
  on(step, x, mesh=mesh)
  found = on(step, x, mesh=mesh).reshape(STAGES, SIZE, 8)
  by_stage = x.reshape(STAGES, SIZE, 8)
  np.testing.assert_array_equal(found[0], np.roll(by_stage[0], 1, 0))
  np.testing.assert_array_equal(found[1], np.roll(by_stage[1], 30 % SIZE, 0))


def test_messages_are_of_the_devices_that_communicate(monkeypatch):
  monkeypatch.setenv("TILEWRIGHT_TIMEOUT", "2")
  inside = lambda: (me("stage") == 1) & (me() != 2)
  step = lambda x: lax.cond(inside(), to_the_right, lambda x: x, x)
  with pytest.raises(jax.errors.JaxRuntimeError) as caught:
    on(step, numbers((N, 8), np.float32), mesh=mesh_of(stage=STAGES, x=SIZE))
  assert "device 0" not in str(caught.value) and "device 3" not in str(caught.value)


@pytest.mark.parametrize("kind", ["numbers", "coordinates"])
@pytest.mark.parametrize("interpret", [False, True, pltpu.InterpretParams()], ids=["native", "portable", "simulated"])
def test_meshes_that_differ_in_the_order_of_their_axes_only(kind, interpret):
  """JAX's axis environments of equal names are one object, in the order of the mesh that was first."""

  def kernel(x, o, send, receive):
    to = lax.rem(me() + 1, SIZE)
    number, coordinates = to * STAGES + me("stage"), (to, me("stage"))
    logical = kind == "numbers"
    device_id_type = pl.DeviceIdType.LOGICAL if logical else pl.DeviceIdType.MESH
    device_id = number if logical else coordinates
    copy = pltpu.make_async_remote_copy(x, o, send, receive, device_id=device_id, device_id_type=device_id_type)
    copy.start()
    copy.wait()

  x = numbers((N, 8), np.float32)
  first = lambda x: lax.cond(me("stage") == 1, to_the_right, lambda x: x, x)
  on(first, x, mesh=mesh_of(stage=STAGES, x=SIZE))
  found = on(lambda x: call(kernel, x, [DMA(()), DMA(())], interpret=interpret), x, mesh=mesh_of(x=SIZE, stage=STAGES))
  np.testing.assert_array_equal(found, np.roll(x.reshape(SIZE, STAGES, 8), 1, 0).reshape(x.shape))

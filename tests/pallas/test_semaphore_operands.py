"""Semaphores that kernels give and take: one kernel starts, a later one waits."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from language import F32, I32, S, arange, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

ANY, SEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.SEMAPHORE)
REGULAR, DMA = pltpu.SemaphoreType.REGULAR, pltpu.SemaphoreType.DMA
MODES = pytest.mark.parametrize(
  "interpret", [False, True, pltpu.InterpretParams()], ids=["native", "portable", "simulated"]
)


def copy_start(x, interpret):
  def kernel(x_ref, same_x_ref, o_ref, sem):
    pltpu.make_async_copy(x_ref, o_ref, sem).start()

  return pl.pallas_call(
    kernel,
    (S(x.shape, x.dtype), S(x.shape, x.dtype), DMA(())),
    in_specs=[ANY],
    out_specs=(ANY, ANY, SEM),
    input_output_aliases={0: 0},
    interpret=interpret,
  )(x)


def copy_done(x, out, sem, interpret):
  def kernel(x_ref, in_ref, sem, o_ref):
    pltpu.make_async_copy(x_ref, o_ref, sem).wait()

  return pl.pallas_call(
    kernel,
    S(x.shape, x.dtype),
    in_specs=[ANY, ANY, SEM],
    out_specs=ANY,
    input_output_aliases={1: 0},
    interpret=interpret,
  )(x, out, sem)


@MODES
def test_one_kernel_starts_a_copy_and_another_waits_for_it(interpret):
  @jax.jit
  def f(x):
    x, out, sem = copy_start(x, interpret)
    between = jnp.sin(x)
    return copy_done(x, out, sem, interpret), between

  x = arange(8, 128)
  copied, between = f(x)
  same(copied, x)
  np.testing.assert_allclose(between, np.sin(x), rtol=1e-5, atol=1e-6)


@MODES
def test_waiting_for_more_than_was_started_is_a_deadlock(interpret):
  @jax.jit
  def f(x):
    x, out, sem = copy_start(x, interpret)
    return copy_done(jnp.concatenate([x, x]), jnp.concatenate([out, out]), sem, interpret)

  with pytest.raises(Exception, match=r"Deadlock|can never end"):
    jax.block_until_ready(f(arange(8, 128)))


@MODES
@pytest.mark.parametrize("mesh", [False, True], ids=["pallas_call", "kernel"])
def test_counts_go_through_loops_and_meshes(interpret, mesh):
  """A semaphore of several, one of which a kernel signals in each round of a loop; of the last, the counts are read."""
  cores = pltpu.TensorCoreMesh(axis_name="core", num_cores=1)

  def call(body, out, *args, specs, aliases=None):
    if mesh:
      return pl.kernel(body, out, mesh=cores, interpret=interpret)(*args)
    out_specs = SEM if isinstance(out, type(REGULAR((2,)))) else pl.BlockSpec(memory_space=pltpu.SMEM)
    return pl.pallas_call(
      body, out, in_specs=specs, out_specs=out_specs, input_output_aliases=aliases or {}, interpret=interpret
    )(*args)

  def begin(n_ref, sems):
    pl.semaphore_signal(sems.at[0], n_ref[0])

  def go_on(before, sems):
    pl.semaphore_signal(sems.at[0], pl.semaphore_read(before.at[0]))
    if mesh:  # not the same semaphores: what was there is copied by hand
      pl.semaphore_signal(sems.at[0], 1)
    else:
      pl.semaphore_signal(sems.at[1], 1)

  def end(sems, o_ref):
    o_ref[0], o_ref[1] = pl.semaphore_read(sems.at[0]), pl.semaphore_read(sems.at[1])
    pl.semaphore_wait(sems.at[0], pl.semaphore_read(sems.at[0]))

  smem = pl.BlockSpec(memory_space=pltpu.SMEM)

  @jax.jit
  def f(n):
    sems = call(begin, REGULAR((2,)), n, specs=[smem])
    sems = lax.fori_loop(0, 3, lambda _, s: call(go_on, REGULAR((2,)), s, specs=[SEM], aliases={0: 0}), sems)
    return call(end, S((2,), I32), sems, specs=[SEM])

  # Aliased, what is read is added to what is there: it doubles.
  same(f(jnp.array([5], jnp.int32)), np.array([8, 0] if mesh else [40, 3], np.int32))


@pytest.mark.parametrize("interpret", [False, True, pltpu.InterpretParams()], ids=["native", "portable", "simulated"])
def test_a_copy_to_another_device_is_started_and_awaited(interpret):
  if jax.device_count() < 2:
    pytest.skip("needs two devices")
  mesh = Mesh(np.array(jax.devices()[:2]), ("d",))

  def start(x_ref, o_ref, sent, arrived):
    to = 1 - lax.axis_index("d")
    pltpu.make_async_remote_copy(x_ref, o_ref, sent, arrived, device_id={"d": to}).start()

  def done(x_ref, in_ref, sent, arrived, o_ref):
    pltpu.make_async_remote_copy(x_ref, o_ref, sent, arrived, device_id={"d": 1 - lax.axis_index("d")}).wait()

  def swap(x):
    out, sent, arrived = pl.pallas_call(
      start, (S(x.shape, F32), DMA(()), DMA(())), in_specs=[ANY], out_specs=(ANY, SEM, SEM), interpret=interpret
    )(x)
    return pl.pallas_call(
      done,
      S(x.shape, F32),
      in_specs=[ANY, ANY, SEM, SEM],
      out_specs=ANY,
      input_output_aliases={1: 0},
      interpret=interpret,
    )(x, out, sent, arrived)

  x = arange(4, 8)
  f = jax.jit(jax.shard_map(swap, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False))
  same(f(x), np.concatenate([x[2:], x[:2]]))


def test_a_semaphore_does_not_leave_the_program():
  with pytest.raises(errors.UnsupportedFeatureError, match="in one function under"):
    copy_start(arange(8, 128), True)

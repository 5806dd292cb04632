"""Kernels that access the memory of other devices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

F32 = jnp.float32
ANY, VMEM = pl.ANY, pltpu.VMEM
DMA, REGULAR = pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR
WHOLE = pl.BlockSpec(memory_space=ANY)
PARAMS = pltpu.CompilerParams(collective_id=7)


def call(kernel, x, scratch=(), out_shape=None, interpret=False, **options):
  shape = jax.ShapeDtypeStruct(x.shape if out_shape is None else out_shape, x.dtype)
  options.setdefault("in_specs", [WHOLE])
  options.setdefault("out_specs", WHOLE)
  return pl.pallas_call(
    kernel, shape, scratch_shapes=list(scratch), compiler_params=PARAMS, interpret=interpret, **options
  )(x)


def meet_neighbours(n, axis="x"):
  me = lax.axis_index(axis)
  barrier = pltpu.get_barrier_semaphore()
  for other in (lax.rem(me + 1, n), lax.rem(me + n - 1, n)):
    pl.semaphore_signal(barrier, 1, device_id=(other,))
  pl.semaphore_wait(barrier, 2)


def permute_right(x, n, interpret=False):
  def kernel(x, o, send, receive):
    meet_neighbours(n)
    right = lax.rem(lax.axis_index("x") + 1, n)
    copy = pltpu.make_async_remote_copy(x, o, send, receive, device_id=(right,))
    copy.start()
    copy.wait()

  return call(kernel, x, [DMA(()), DMA(())], interpret=interpret)


def ring_sum_kernel(n):
  """A ring all-reduce: the partial sum travels on; two buffers, and a semaphore that says that the right one's is free."""

  def kernel(x, o, buffers, send, receive, free):
    meet_neighbours(n)
    me = lax.axis_index("x")
    right, left = lax.rem(me + 1, n), lax.rem(me + n - 1, n)
    buffers[0] = x[...]
    o[...] = x[...]

    @pl.loop(0, n - 1)
    def _(step):
      here, there = lax.rem(step, 2), lax.rem(step + 1, 2)

      @pl.when(step > 0)
      def _():
        pl.semaphore_wait(free, 1)

      copy = pltpu.make_async_remote_copy(
        buffers.at[here], buffers.at[there], send.at[here], receive.at[there], device_id=(right,)
      )
      copy.start()
      copy.wait()
      o[...] += buffers[there]

      @pl.when(step < n - 2)
      def _():
        pl.semaphore_signal(free, 1, device_id=(left,))

  return kernel


def ring_sum_scratch(x):
  return [VMEM((2, *x.shape), F32), DMA((2,)), DMA((2,)), REGULAR]


def ring_sum(x, n, interpret=False):
  return call(ring_sum_kernel(n), x, ring_sum_scratch(x), interpret=interpret)

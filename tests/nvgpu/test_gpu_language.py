"""What the language can say about blocks, grids and memory, as GPU code that runs on the CPU. The portable lowering is the oracle.

All of the language's tests run so with `pytest --platform emulated`; these are a few of each kind.
"""

from __future__ import annotations

import emulated
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tilewright import pallas as pl
from tilewright.pallas import targets
from tilewright.pallas import tpu as pltpu

F32, I32 = jnp.float32, jnp.int32
S = jax.ShapeDtypeStruct
ROWS = pl.BlockSpec((8, 128), lambda i: (i, 0))
X = jnp.arange(20 * 128, dtype=F32).reshape(20, 128)


def double(x_ref, o_ref, *_):
  o_ref[...] = x_ref[...] * 2


def bounded(x):
  spec = pl.BlockSpec((pl.BoundedSlice(8), 128), lambda i: (pl.ds(7 * i, jnp.minimum(7, 20 - 7 * i)), 0))
  return pl.pallas_call(double, S(x.shape, F32), grid=(3,), in_specs=[spec], out_specs=spec)(x)


def indirect(x):
  """Row 3 is written twice: the last one stays."""
  numbers = lambda i: (jnp.where(jnp.arange(4) == 2, 3, 4 * i + jnp.arange(4)), 0)
  taken = pl.BlockSpec((pl.Indirect(4), 128), lambda i: (19 - 4 * i - jnp.arange(4), 0))
  put = pl.BlockSpec((pl.Indirect(4), 128), numbers)
  return pl.pallas_call(double, S(x.shape, F32), grid=(5,), in_specs=[taken], out_specs=put)(x)


def padded(x):
  spec = pl.BlockSpec((pl.Element(10, (1, 1)), 128), lambda i: (8 * i, 0))

  def kernel(x_ref, o_ref):
    inside = jnp.where(jnp.isnan(x_ref[...]), 0, x_ref[...])
    o_ref[...] = inside[:-2] + inside[2:]

  return pl.pallas_call(kernel, S(x.shape, F32), grid=(3,), in_specs=[spec], out_specs=ROWS)(x)


def squeezed(x):
  spec = pl.BlockSpec((None, 128), lambda i: (i, 0))
  return pl.pallas_call(double, S(x.shape, F32), grid=(20,), in_specs=[spec], out_specs=spec)(x)


def prefetched(x):
  grid_spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(3,),
    in_specs=[pl.BlockSpec((8, 128), lambda i, order: (order[i], 0))],
    out_specs=pl.BlockSpec((8, 128), lambda i, order: (i, 0)),
  )
  kernel = lambda order_ref, x_ref, o_ref: double(x_ref, o_ref)
  return pl.pallas_call(kernel, S((24, 128), F32), grid_spec=grid_spec)(jnp.asarray([1, 0, 1], I32), x)[:16]


def dynamic(x):
  return jax.jit(lambda n, x: pl.pallas_call(double, S(x.shape, F32), grid=(n,), in_specs=[ROWS], out_specs=ROWS)(x))(
    2, x
  )


def aliased(x):
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1

  spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
  return pl.pallas_call(
    kernel, S(x.shape, F32), grid=(1,), in_specs=[spec], out_specs=spec, input_output_aliases={0: 0}
  )(x)


def batched(x):
  call = lambda x: pl.pallas_call(double, S(x.shape, F32), grid=(1,), in_specs=[ROWS], out_specs=ROWS)(x)
  return jax.vmap(call, in_axes=1, out_axes=1)(x[:8, :, None].repeat(3, 2).transpose(0, 2, 1))


def carried_in_scratch(x):
  def kernel(x_ref, o_ref, total):
    @pl.when(pl.program_id(0) == 0)
    def _():
      total[...] = jnp.zeros_like(total)

    total[...] += x_ref[...].sum(0, keepdims=True)
    o_ref[...] = jnp.broadcast_to(total[...], (4, 128))

  spec = pl.BlockSpec((4, 128), lambda i: (i, 0))
  return pl.pallas_call(
    kernel, S(x.shape, F32), grid=(5,), in_specs=[spec], out_specs=spec, scratch_shapes=[pltpu.VMEM((1, 128), F32)]
  )(x)


def scoped(x):
  def kernel(x_ref, o_ref):
    def body(buffer, arrived):
      def step(i, _):
        copy = pltpu.make_async_copy(x_ref.at[i], buffer.at[i % 2], arrived.at[i % 2])
        copy.start()
        copy.wait()
        o_ref[i] = buffer[i % 2] + i

      lax.fori_loop(0, 5, step, None)

    pl.run_scoped(body, pltpu.VMEM((2, 4, 128), F32), pltpu.SemaphoreType.DMA((2,)))

  anywhere = pl.BlockSpec(memory_space=pl.ANY)
  y = x.reshape(5, 4, 128)
  return pl.pallas_call(kernel, S(y.shape, F32), in_specs=[anywhere], out_specs=pl.BlockSpec())(y)


def scalars(x):
  def kernel(x_ref, o_ref):
    o_ref[0] = x_ref[3, 5] + pl.program_id(0).astype(F32)

  whole = pl.BlockSpec((20, 128), lambda i: (0, 0))
  one = pl.BlockSpec((1,), lambda i: (i,))
  return pl.pallas_call(kernel, S((4,), F32), grid=(4,), in_specs=[whole], out_specs=one)(x)


def without_elements(x):
  return pl.pallas_call(double, S((0, 3), F32))(x[:0, :3])


def unwritten(x):
  def kernel(x_ref, o_ref):
    o_ref[0] = x_ref[0]

  return pl.pallas_call(kernel, S((8, 128), F32), in_specs=[pl.BlockSpec((8, 128), lambda: (0, 0))])(x)


PROGRAMS = [
  *(bounded, indirect, padded, squeezed, prefetched, dynamic, aliased, batched),
  *(carried_in_scratch, scoped, scalars, without_elements, unwritten),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gpu_code_computes_what_the_portable_lowering_does(monkeypatch, program):
  with targets.forced_interpret(True):
    wanted = program(X)
  monkeypatch.setitem(targets.NATIVE, "cpu", emulated.run)
  np.testing.assert_array_equal(program(X), wanted)

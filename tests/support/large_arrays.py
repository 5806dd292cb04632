"""None"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

S = jax.ShapeDtypeStruct
U8, I32 = jnp.uint8, jnp.int32
N = (1 << 31) + 4096
LAST = np.arange(48, 64)  # the last elements
ANY, SMEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.SMEM)


@functools.cache
def large() -> jax.Array:
  """Zeros, then 0 to 63. JAX takes an array that is aligned as it is."""
  memory = np.zeros(N + 64, np.uint8)
  start = -memory.ctypes.data % 64
  memory[start + N - 64 : start + N] = np.arange(64)
  return jax.device_put(memory[start : start + N])


def read(kernel, *scalars, spec=ANY, interpret=False):
  """What a kernel reads of the large array, given int32 scalars."""
  numbers = [jnp.asarray(n, I32) for n in ([scalars] if scalars else [])]
  return pl.pallas_call(kernel, S((16,), U8), in_specs=[spec, *[SMEM] * len(numbers)], interpret=interpret)(
    large(), *numbers
  )


def put(o_ref, value):
  o_ref[...] = jnp.broadcast_to(value, (16,))


BODIES = {
  "a static window": (lambda x, o: put(o, x[pl.ds(N - 16, 16)]), ()),
  "an unsigned scalar": (lambda x, o: put(o, x[np.uint32(N - 1)]), ()),
  "from the end": (lambda x, o: put(o, x[-1]), ()),
  "from the end, dynamically": (lambda x, i, o: put(o, x[i[0]]), (-1,)),
  "a window of a static view": (lambda x, i, o: put(o, x.at[pl.ds((1 << 31) - 2, 4098)][pl.ds(i[0], 16)]), (4082,)),
  "a window of a dynamic view": (
    lambda x, i, o: put(o, x.at[pl.ds(i[0], 1 << 31)][pl.ds(i[1], 16)]),
    (4096, (1 << 31) - 16),
  ),
  "a scalar of a dynamic view": (lambda x, i, o: put(o, x.at[pl.ds(i[0], 1 << 31)][i[1]]), (4096, -1)),
  "an unsigned window": (lambda x, i, o: put(o, x[pl.ds(i[0].astype(jnp.uint32) + jnp.uint32(1 << 31), 16)]), (4080,)),
  "a gather": (
    lambda x, i, o: put(o, x[jnp.arange(16, dtype=jnp.uint32) + i[0].astype(jnp.uint32)]),
    (N - 16 - 2**32,),
  ),
  "a gather from the end": (lambda x, i, o: put(o, x[jnp.arange(16, dtype=I32) + i[0]]), (-16,)),
}


ONE_ELEMENT = {"an unsigned scalar", "from the end", "from the end, dynamically", "a scalar of a dynamic view"}


def check_every_element_is_found(name):
  body, scalars = BODIES[name]
  np.testing.assert_array_equal(read(body, *scalars), LAST if name not in ONE_ELEMENT else np.full(16, 63))


SPECS = {
  "blocks": pl.BlockSpec((16,), lambda: (N // 16 - 1,)),
  "elements": pl.BlockSpec((pl.Element(16),), lambda: (N - 16,)),
  "unsigned elements": pl.BlockSpec((pl.Element(16),), lambda: (jnp.uint32(N - 16),)),
  "a bounded slice": pl.BlockSpec((pl.BoundedSlice(16),), lambda: (pl.ds(N - 16, 16),)),
}


def check_every_block_is_found(name):
  np.testing.assert_array_equal(read(lambda x, o: put(o, x[...]), spec=SPECS[name]), LAST)

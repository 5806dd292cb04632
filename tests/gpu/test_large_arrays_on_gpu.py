"""Arrays of more than 2^31 elements or 4 GiB on an NVIDIA GPU: blocks, windows, copies, TMA and gathers find what is near the end."""

from __future__ import annotations

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

import gpu_programs as programs
import mosaic_programs

from tests.support import large_arrays as flat
from tilewright import ops
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

pytestmark = pytest.mark.gpu
S = jax.ShapeDtypeStruct
F32, BF16, I32, U8 = jnp.float32, jnp.bfloat16, jnp.int32, jnp.uint8
TAIL = 64  # rows that are looked at


def counted(rows: int, columns: int, dtype) -> jax.Array:
  """Small numbers that tell rows and columns apart, made without an index beyond 32 bits."""
  row = jax.lax.broadcasted_iota(I32, (rows, columns), 0)
  column = jax.lax.broadcasted_iota(I32, (rows, columns), 1)
  return ((row * 7 + column * 3) % 61).astype(dtype)


make = jax.jit(counted, static_argnums=(0, 1, 2))


def wanted(rows: int, columns: int) -> np.ndarray:
  """The last rows."""
  return (np.arange(rows - TAIL, rows)[:, None] * 7 + np.arange(columns) * 3) % 61


@pytest.mark.parametrize("name", [*flat.BODIES])
def test_every_element_is_found(name):
  flat.check_every_element_is_found(name)


@pytest.mark.parametrize("name", [*flat.SPECS])
def test_every_block_is_found(name):
  flat.check_every_block_is_found(name)


@pytest.mark.parametrize("rows, columns, dtype", [(786432 + 64, 4096, U8), (262144 + 64, 4096, F32)])
def test_blocks_over_all_of_an_array(rows, columns, dtype):
  """Written and read: of bytes there are more than 3 * 2^30, of floats more than 4 GiB."""
  x = make(rows, columns, dtype)
  spec = pl.BlockSpec((8, columns), lambda i: (i, 0))
  body = lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...] + 1)
  out = pl.pallas_call(body, S(x.shape, dtype), grid=(rows // 8,), in_specs=[spec], out_specs=spec)(x)
  np.testing.assert_array_equal(out[-TAIL:], wanted(rows, columns) + 1)
  np.testing.assert_array_equal(out[:2], x[:2] + 1)


def test_copies_and_gathers_near_the_end():
  rows, columns = 786432 + 64, 4096
  x = make(rows, columns, U8)

  def kernel(x_hbm, i_ref, copied, gathered, window, buffer, sem):
    copy = pltpu.make_async_copy(x_hbm.at[pl.ds(i_ref[0], 8), pl.ds(128, 128)], buffer, sem)
    copy.start()
    copy.wait()
    copied[...] = buffer[...]
    gathered[...] = x_hbm[i_ref[0] + 2 * jnp.arange(4, dtype=I32)]
    window[...] = x_hbm[pl.ds(i_ref[0], 8), :]

  outs = [S((8, 128), U8), S((4, columns), U8), S((8, columns), U8)]
  anywhere, scalars = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.SMEM)
  scratch = [pltpu.VMEM((8, 128), U8), pltpu.SemaphoreType.DMA(())]
  call = pl.pallas_call(kernel, outs, in_specs=[anywhere, scalars], scratch_shapes=scratch)
  copied, gathered, window = call(x, jnp.asarray([rows - 8], I32))
  last = wanted(rows, columns)[-8:]
  np.testing.assert_array_equal(copied, last[:, 128:256])
  np.testing.assert_array_equal(gathered, last[::2])
  np.testing.assert_array_equal(window, last)


def test_tma_near_the_end():
  rows, columns = (1 << 25) + 64, 64  # bf16: 4 GiB and 8 KiB
  out = mosaic_programs.by_hand(make(rows, columns, BF16))
  np.testing.assert_array_equal(np.asarray(out[-TAIL:], np.float64), 2 * wanted(rows, columns))


def test_products_near_the_end():
  rows, k = (1 << 20) + 128, 2048  # bf16: 4 GiB and 512 KiB
  a, b = make(rows, k, BF16), make(k, 128, BF16)
  exact = wanted(rows, k).astype(np.float64) @ np.asarray(b, np.float64)
  for product in (ops.matmul, programs.matmul):
    got = np.asarray(product(a, b)[-TAIL:], np.float64)
    np.testing.assert_allclose(got, exact, rtol=2.0**-8)


def test_rows_near_the_end():
  rows, columns = 262144 + 64, 4096
  got = ops.softmax(make(rows, columns, F32))[-TAIL:]
  e = np.exp(wanted(rows, columns) - 60.0)
  np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-4, atol=1e-9)

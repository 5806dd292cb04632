"""Kernels that need many registers: each thread gets as many as it fills, and keeps nothing in memory for want of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from gpu_programs import by_rows, layer_norm, natives, softmax

from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.runtime import ptxas
from tilewright.target.nvgpu import compile_ptx

pytestmark = pytest.mark.skipif(ptxas.find() is None, reason=ptxas.ADVICE)
S = jax.ShapeDtypeStruct
BF16 = jnp.bfloat16


def derivative_of_softmax(y, g):
  return y * (g - (y * g).sum(1, keepdims=True))


FUNCTIONS = {
  "gelu": lambda x: jax.nn.gelu(x, approximate=False),
  "sin": jnp.sin,
  "i0e": jax.lax.bessel_i0e,
  "lgamma": jax.lax.lgamma,
}
ROWS = {
  "softmax of 32000": (softmax, (32000,)),
  "softmax of 14336": (softmax, (14336,)),
  "layer_norm of 12288": (layer_norm, (12288, None, None)),
  "derivative of 12288": (derivative_of_softmax, (12288, 12288)),
}


def spilled(function, *args):
  ((_, native),) = natives(by_rows(function), *args)
  ptx, _ = compile_ptx(native, "sm_90a")
  return ptxas.resources(ptx, "sm_90a").spilled_bytes


@pytest.mark.parametrize("name", FUNCTIONS)
def test_long_functions_fit_the_registers(name):
  assert spilled(FUNCTIONS[name], S((16384, 8192), BF16)) == 0


@pytest.mark.parametrize("name", ROWS)
def test_long_rows_fit_the_registers(name):
  body, (width, *others) = ROWS[name]
  arrays = [S((4096, width) if size is not None else (width,), BF16) for size in (width, *others)]
  assert spilled(body, *arrays) == 0


@pytest.mark.parametrize("layout", [plgpu.Layout.WGMMA, plgpu.Layout.TCGEN05_TMEM_NATIVE, plgpu.Layout.WGMMA.reduce(1)])
def test_tiles_that_are_held_as_the_user_says_fit_the_registers(layout):
  """Of 128 x 128 numbers, four warps have 128 in each thread."""

  def body(x_ref, o_ref):
    x = x_ref[...]
    sums = plgpu.layout_cast(x.sum(1) if isinstance(layout, plgpu.ReducedLayout) else x, layout)
    o_ref[...] = x * sums[:, None] if sums.ndim == 1 else sums + 1

  ((_, native),) = natives(plgpu.kernel(body, S((128, 128), jnp.float32)), S((128, 128), jnp.float32))
  ptx, _ = compile_ptx(native, "sm_90a")
  assert ptxas.resources(ptx, "sm_90a").spilled_bytes == 0

"""Hand-written kernels whose CTAs cooperate in clusters, on a GPU that has them, again and again: exact numbers every time.

Between two calls the memory of outputs is filled with something else, and other work keeps some of the SMs busy."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.nvgpu.cluster_programs import CASES
from tests.support.mosaic_gpu_kernels import BF16, F16, close, exact, module, random

pytestmark = pytest.mark.gpu
_TIMES = 50


@pytest.fixture(autouse=True)
def hopper():
  if jax.devices()[0].compute_capability not in ("9.0", "10.0", "10.3"):
    pytest.skip("the GPU has no clusters")


def again(program, *args, times=_TIMES):
  """The results of many calls, of which the memory held other numbers before."""
  call = jax.jit(program)
  noise = jax.jit(lambda x: (x @ x) * 0 + jnp.nan)
  square = jnp.ones((1024, 1024), jnp.float32)
  for n in range(times):
    square_of = noise(square) if n % 2 else None
    out = call(*args)
    poison = jax.tree.map(lambda x: jnp.full(x.shape, 7, x.dtype), out)
    yield out
    del out, poison, square_of


@pytest.mark.parametrize("name", CASES)
def test_the_ctas_of_a_cluster_cooperate(name):
  program, args, wanted = CASES[name]
  for found in again(program, *args):
    np.testing.assert_array_equal(np.asarray(found).astype(np.float32), np.asarray(wanted, np.float32))


@pytest.mark.parametrize("cluster", [0, 1])
@pytest.mark.parametrize("dtype", [BF16, F16])
@pytest.mark.parametrize("wg", [0, 1])
def test_the_public_matmul_in_clusters(cluster, dtype, wg):
  m = module("hopper_matmul")
  config = m.TuningConfig(
    tile_m=128,
    tile_n=64,
    tile_k=64,
    max_concurrent_steps=4,
    wg_dimension=m.MatmulDimension(wg),
    cluster_dimension=m.MatmulDimension(cluster),
    grid_tile_width=4,
  )
  a, b = random(1024, 768, dtype=dtype), random(768, 1024, dtype=dtype, seed=1)
  wanted, first = exact(a) @ exact(b), None
  for found in again(functools.partial(m.matmul, c=None, config=config), a, b):
    if first is None:
      close(found, wanted, dtype, 1.5)
      first = np.asarray(found)
    np.testing.assert_array_equal(np.asarray(found), first)

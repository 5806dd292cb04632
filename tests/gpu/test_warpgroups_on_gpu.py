"""Products of warpgroups on a GPU that has them: outside of the matmul pipeline, from stages, in clusters; against exact numbers."""

from __future__ import annotations

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

import contractions
from gpu_programs import BF16, F32, S, in_one_block
from mosaic_programs import refilled
from warpgroup_programs import dot, of_shapes, small_integers, stepwise_attention, summed

from tilewright.pallas import nvgpu

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("contract", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [BF16, jnp.float16, jnp.float8_e4m3fn, jnp.int8], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("m, n, k", [(64, 96, 96), (128, 256, 128)])
def test_products_in_every_orientation(m, n, k, dtype, contract):
  kind = jnp.int32 if np.dtype(dtype).kind in "iu" else F32
  a, b = (small_integers(shape, dtype, i) for i, shape in enumerate(of_shapes(m, n, k, contract)))
  (got,) = in_one_block(lambda a, b: dot(a, b, contract, kind), S((m, n), kind))(a, b)
  exact = np.tensordot(np.asarray(a, np.float64), np.asarray(b, np.float64), (contract[:1], contract[1:]))
  np.testing.assert_array_equal(np.asarray(got, np.float64), exact)


@pytest.mark.parametrize("rounds", [lambda i: 5, lambda i: 4 * i + 1], ids=["5", "1_5"])
def test_operands_of_a_loop_arrive_ahead_of_time(rounds):
  a, b = (small_integers((64, 80), BF16, i) for i in range(2))
  got = summed(a, b, rounds)
  for i in range(2):
    x, y = (np.asarray(v, np.float64)[:, : 16 * rounds(i)] for v in (a, b))
    np.testing.assert_array_equal(got[i], x @ y.T)


def test_blocks_along_the_grid_are_read_where_they_arrive():
  rng = np.random.default_rng(0)
  q, k, v = (jnp.asarray(rng.standard_normal((rows, 64)), BF16) for rows in (64, 640, 640))
  got = stepwise_attention(q, k, v)
  q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
  e = np.exp(q @ k.T * 0.125)
  np.testing.assert_allclose(got, e @ v / e.sum(1, keepdims=True), rtol=0, atol=2.0**-8)  # weights are rounded to bf16


@pytest.mark.parametrize("cluster", [(2, 1, 1), (1, 2, 1), (2, 2, 1), (4, 2, 1)], ids=str)
@pytest.mark.parametrize("orientation", ["nn", "tt"])
def test_blocks_of_a_cluster_bring_each_other_what_they_share(orientation, cluster):
  if jax.devices()[0].compute_capability != "9.0":
    pytest.skip("pipelines of other devices have no clusters")
  m, n, k = 512, 512, 448
  a = small_integers((k, m) if orientation[0] == "t" else (m, k), BF16, 0)
  b = small_integers((n, k) if orientation[1] == "t" else (k, n), BF16, 1)
  params = nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"), cluster=cluster)
  got = contractions.contraction(orientation, (128, 128, 64), dtype=F32, params=params)(a, b)
  x, y = (np.asarray(v, np.float64) for v in (a, b))
  np.testing.assert_array_equal(got, (x.T if orientation[0] == "t" else x) @ (y.T if orientation[1] == "t" else y))


@pytest.mark.parametrize("by", [0, 1])
def test_a_copy_does_not_overtake_reads_of_what_it_replaces(by):
  x = small_integers((132, 4, 128, 128), jnp.int32, 0)
  kernel, wanted = jax.jit(lambda x: refilled(x, by)), np.asarray(x).transpose(0, 1, 3, 2) + 1
  for _ in range(20):
    np.testing.assert_array_equal(kernel(x), wanted)

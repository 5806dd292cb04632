"""Steps that one CTA takes one after the other, on an NVIDIA GPU, against float64."""

from __future__ import annotations

import pathlib
import sys

import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

from stepwise import column_sums, log_sum_exp

from tilewright.cli.bench_gpu_programs import column_sums as column_sums_along_the_grid
from tilewright.cli.bench_gpu_programs import large_blocks, total

pytestmark = pytest.mark.gpu


def normal(shape, dtype):
  return jnp.asarray(np.random.default_rng(0).standard_normal(shape), dtype)


@pytest.mark.parametrize(
  "shape, blocks", [((4096, 1024), (32, 128)), ((1024, 1000), (64, 256)), ((96, 200), (16, 128))]
)
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32])
def test_sums_over_blocks_of_rows(shape, blocks, dtype):
  x = normal(shape, dtype)
  wanted = np.asarray(x, np.float64).sum(0, keepdims=True)
  np.testing.assert_allclose(column_sums(x, *blocks), wanted, rtol=0, atol=shape[0] * 2.0**-23 * np.abs(wanted).max())


@pytest.mark.parametrize("shape, blocks", [((512, 8192), (8, 512)), ((13, 1000), (8, 64)), ((9, 260), (4, 128))])
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32])
def test_what_is_carried_over_blocks_of_columns(shape, blocks, dtype):
  x = normal(shape, dtype)
  wanted = np.log(np.exp(np.asarray(x, np.float64)).sum(1, keepdims=True))
  np.testing.assert_allclose(log_sum_exp(x, *blocks), wanted, rtol=0, atol=2.0**-19 * np.abs(wanted).max())


@pytest.mark.parametrize(
  "program, exact", [(column_sums_along_the_grid, lambda x: x.sum(0, keepdims=True)), (total, np.sum)]
)
def test_sums_in_parts_are_the_same_each_time(program, exact):
  """The grid is cut into parts that run at the same time, and these are added up in one order."""
  x = normal((8192, 1024), jnp.float32)
  found = np.asarray(program(x))
  wanted = exact(np.asarray(x, np.float64))
  np.testing.assert_allclose(found, wanted, rtol=0, atol=x.size * 2.0**-32 * np.abs(x).max())
  for _ in range(20):
    np.testing.assert_array_equal(program(x), found)


def test_blocks_of_more_rows_than_registers_hold():
  x = normal((2048, 4096), jnp.float32)
  exact = np.exp(np.asarray(x, np.float64) - np.asarray(x, np.float64).max(1, keepdims=True))
  found = large_blocks(x)
  np.testing.assert_allclose(found, exact / exact.sum(1, keepdims=True), rtol=2.0**-18, atol=0)

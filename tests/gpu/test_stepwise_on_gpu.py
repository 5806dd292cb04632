"""Steps that one CTA takes one after the other, on an NVIDIA GPU, against float64."""

from __future__ import annotations

import pathlib
import sys

import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

from stepwise import column_sums, log_sum_exp

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

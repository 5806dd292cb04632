"""Clusters: CTAs that share operands of a product. What they compute, on the CPU, and how they are launched."""

from __future__ import annotations

import contractions
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, S, natives

from tests.support.fake_targets import targets
from tilewright import errors
from tilewright.pallas import nvgpu as pallas_nvgpu
from tilewright.runtime import ptxas
from tilewright.target import nvgpu


def operands(orientation, m, n, k):
  rng = np.random.default_rng(0)
  shapes = (k, m) if orientation[0] == "t" else (m, k), (n, k) if orientation[1] == "t" else (k, n)
  return [jnp.asarray(rng.integers(-4, 5, shape), BF16) for shape in shapes]


@pytest.mark.parametrize("orientation, cluster", [("nn", (2, 1, 1)), ("tt", (1, 2, 1)), ("nt", (2, 2, 1))])
def test_blocks_of_a_cluster_bring_each_other_what_they_share(orientation, cluster):
  a, b = operands(orientation, 128, 256, 192)
  ((_, native),) = natives(contractions.contraction(orientation, (64, 128, 64), dtype=jnp.float32), a, b)
  text, launch = nvgpu.compile_ptx(native, "sm_90a", cluster=cluster)
  assert ".multicast::cluster" in text and launch.cluster == np.prod(cluster)
  (got,) = run(native, a, b, arch="sm_90a", cluster=cluster)
  x, y = (np.asarray(v, np.float64) for v in (a, b))
  np.testing.assert_array_equal(got, (x.T if orientation[0] == "t" else x) @ (y.T if orientation[1] == "t" else y))


def matmul(a, b, cluster):
  params = pallas_nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"), cluster=cluster)
  return contractions.contraction("nn", (64, 64, 64), params=params)(a, b)


def test_a_launch_says_which_blocks_run_together(driver):
  (name,) = targets(lambda a, b: matmul(a, b, (2, 1, 1)), S((128, 128), BF16), S((128, 128), BF16))
  assert driver.launch(name, [0x100, 0x200], [0x300], 4) is None
  (launched,) = driver.launches
  assert launched.grid == (4, 1, 1) and launched.cluster == (2, 1, 1) and launched.params == [0x100, 0x200, 0x300, 0]


@pytest.mark.parametrize(
  "cluster, message",
  [((2,), "a size for each of 3 grid"), ((1, 1, 2), "last two parallel dimensions"), ((4, 1, 1), "cannot share")],
)
def test_clusters_that_cannot_be_are_errors(cluster, message):
  a = b = S((128, 128), BF16)
  ((_, native),) = natives(lambda a, b: matmul(a, b, None), a, b)
  with pytest.raises(errors.GridError, match=message):
    nvgpu.compile_ptx(native, "sm_90a", cluster=cluster)
  assert "multicast" not in nvgpu.compile_ptx(native, "sm_80", cluster=(2, 1, 1))[0]


@pytest.mark.parametrize("cluster", [(4, 4), (0, 1), (2.0, 1)])
def test_a_cluster_has_one_to_eight_blocks(cluster):
  with pytest.raises(errors.GridError, match="at most 8 in all"):
    pallas_nvgpu.CompilerParams(cluster=cluster)


@pytest.mark.skipif(ptxas.find() is None, reason=f"there is no ptxas here: {ptxas.ADVICE}")
def test_ptxas_assembles_it():
  a, b = (S((256, 256), BF16) for _ in range(2))
  ((_, native),) = natives(lambda a, b: matmul(a, b, None), a, b)
  assert ptxas.resources(nvgpu.compile_ptx(native, "sm_90a", cluster=(2, 2, 1))[0], "sm_90a").spilled_bytes == 0

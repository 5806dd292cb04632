"""Contractions along the grid on an NVIDIA GPU, by warpgroups and by warps, with TMA and without, against float64."""

from __future__ import annotations

import dataclasses
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

from contractions import ORIENTATIONS, block_scaled, contraction

from tilewright.runtime import cuda, jit
from tilewright.target.nvgpu import arch as architectures

pytestmark = pytest.mark.gpu
F32, BF16 = jnp.float32, jnp.bfloat16


@pytest.fixture(params=["own", "without wgmma", "sm_80"])
def arch(request, monkeypatch):
  """The device's architecture, that without warpgroups' products, as later ones are, or one whose code it runs too."""
  ((family, *_), _) = architectures.families(cuda.capabilities(), cuda.driver_version(), jit.llvm_version())
  known = {
    "own": family.arch,
    "without wgmma": dataclasses.replace(family.arch, has_wgmma=False),
    "sm_80": architectures.named("sm_80"),
  }
  chosen = dataclasses.replace(family, arch=known[request.param])
  monkeypatch.setattr(architectures, "families", lambda *_: ((chosen,), {}))
  jax.clear_caches()
  yield request.param
  jax.clear_caches()


def operands(orientation, m, n, k, dtype=BF16, batch=()):
  rng = np.random.default_rng(0)
  a, b = (jnp.asarray(rng.standard_normal((*batch, *shape)), dtype) for shape in ((m, k), (k, n)))
  exact = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
  return [x.swapaxes(-1, -2) if c == "t" else x for x, c in zip((a, b), orientation)], exact


def close(got, wanted, dtype=BF16):
  tolerance = 4 * float(jnp.finfo(dtype).eps) * np.abs(wanted).max()
  np.testing.assert_allclose(np.asarray(got, np.float64), wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("blocks", [(128, 256, 64), (128, 128, 64), (64, 64, 128), (128, 128, 32), (32, 48, 16)])
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_either_operand_may_be_stored_transposed(arch, orientation, blocks):
  m, n, k = blocks
  args, wanted = operands(orientation, 8 * m, 3 * n, 9 * k)
  close(contraction(orientation, blocks)(*args), wanted)


@pytest.mark.parametrize("blocks", [(128, 256, 64), (64, 64, 64)])
def test_edges_batches_and_epilogues(arch, blocks):
  m, n, k = blocks
  args, product = operands("nt", 3 * m - 35, 2 * n - 19, 4 * k, batch=(3,))
  rng = np.random.default_rng(1)
  bias, rest = (jnp.asarray(rng.standard_normal(s), BF16) for s in ((product.shape[-1],), product.shape))
  f = contraction("nt", blocks, epilogue=lambda t, b, r: jnp.maximum(t + b.astype(F32), 0) * r.astype(F32))
  wanted = np.maximum(product + np.asarray(bias, np.float64), 0) * np.asarray(rest, np.float64)
  close(f(*args, bias, rest), wanted)


@pytest.mark.parametrize("steps", [1, 2, 3, 64])
def test_any_number_of_steps(arch, steps):
  args, wanted = operands("nn", 256, 256, steps * 64, jnp.float16)
  close(contraction("nn", (128, 256, 64), dtype=F32)(*args), wanted, jnp.float16)


def _rounded(x):
  return x.astype(BF16)


@pytest.mark.parametrize("blocks", [(128, 128, 128), (128, 256, 64), (64, 64, 64)])
@pytest.mark.parametrize(
  "prologues", [(_rounded, None), (None, _rounded), (_rounded, _rounded)], ids=["left", "right", "both"]
)
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_operands_may_be_computed_from_blocks(orientation, prologues, blocks):
  m, n, k = blocks
  (a, b), wanted = operands(orientation, 2 * m, 2 * n, 5 * k)
  a, b = (x.astype(F32) if f else x for x, f in zip((a, b), prologues))
  close(contraction(orientation, blocks, prologues=prologues, dtype=BF16)(a, b), wanted)


@pytest.mark.parametrize("blocks", [(128, 128, 128), (128, 256, 128)])
def test_blocks_that_share_a_scale(blocks):
  rng = np.random.default_rng(0)
  args, exact = [], []
  for rows in (512, 768):
    x = jnp.asarray(rng.standard_normal((rows, 1024)), jnp.float8_e4m3fn)
    scales = jnp.asarray(2.0 ** rng.integers(-3, 4, (rows, 32)), jnp.float8_e8m0fnu)
    args += [x, scales]
    exact.append(np.asarray(x, np.float64) * np.repeat(np.asarray(scales, np.float64), 32, 1))
  close(block_scaled(blocks)(*args), exact[0] @ exact[1].T)

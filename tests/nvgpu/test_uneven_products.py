"""Matrix products at sizes that no block divides: copies bring zeros past the ends, and K is cut where the result has few blocks."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import natives

from tilewright import pallas as pl
from tilewright.ops import calling, matmul_gpu, tiling
from tilewright.ops.matmul import Plan, blocked
from tilewright.ops.tiling import MatmulBlocks
from tilewright.pallas import nvgpu as nvgpu_language
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.passes import matmul_plans
from tilewright.tile.ranges import always_inside

BF16, F32 = jnp.bfloat16, jnp.float32
HOW = calling.Execution(False, True, True)


def operands(m, n, k, dtype, turned=(False, False)):
  rng = np.random.default_rng(0)
  x, y = rng.standard_normal((m, k)), rng.standard_normal((k, n))
  return jnp.asarray(x.T if turned[0] else x, dtype), jnp.asarray(y.T if turned[1] else y, dtype)


def plan_of(f, *args, arch):
  ((_, native),) = natives(f, *args)
  inside = lambda m, index_map: always_inside(native.mapping.grid, m, index_map)
  problem = matmul_plans.problem_of(native, architectures.named(arch), inside)
  return None if problem is None else matmul_plans.find(problem)


def emulated(f, *args, arch):
  ((_, native),) = natives(f, *args)
  return run(native, *args, arch=arch)[0]


def exact(x, y, turned=(False, False)):
  x, y = (np.asarray(z, np.float64).T if t else np.asarray(z, np.float64) for z, t in zip((x, y), turned))
  return x @ y, np.abs(x) @ np.abs(y)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("dtype, turned", [(BF16, (False, False)), (BF16, (True, True)), (F32, (False, True))])
def test_blocks_hang_over_every_edge(arch, dtype, turned):
  m, n, k = 72, 136, 104
  x, y = operands(m, n, k, dtype, turned)
  plan = Plan(HOW, *turned, None, np.dtype(F32))
  f = lambda x, y: blocked(plan, x, y, None, None, (m, n, k), MatmulBlocks(64, 64, 64))
  found = plan_of(f, x, y, arch=arch)
  assert found is not None and [side.position for side in found.contraction.sides] == [0, 1]
  wanted, sizes = exact(x, y, turned)
  lost = 2 * 2.0**-10 if dtype == F32 else 0.0  # of tf32; products of halves are exact
  assert (np.abs(emulated(f, x, y, arch=arch) - wanted) <= (lost + k * 2.0**-23) * sizes).all()


@pytest.mark.parametrize("splits", [2, 3])
def test_parts_of_k_add_up(splits):
  m, n, k = 40, 72, 456  # eight blocks along K, of which the last hangs over, or a whole one is too much
  x, y = operands(m, n, k, BF16)
  f = lambda x, y: blocked(Plan(HOW, out_dtype=BF16), x, y, None, None, (m, n, k), MatmulBlocks(64, 64, 64), splits)
  found = plan_of(f, x, y, arch="sm_90a")
  assert found is not None and [side.position for side in found.contraction.sides] == [0, 1]
  parts = emulated(f, x, y, arch="sm_90a")
  wanted, sizes = exact(x, y)
  assert parts.shape == (splits, m, n)
  assert (np.abs(parts.sum(0) - wanted) <= k * 2.0**-23 * sizes).all()


def masked(x, y, limit, step=32):
  """A product whose left operand is masked at a place, which need not be its array's end."""
  (m, k), n = x.shape, y.shape[1]

  def kernel(x_ref, y_ref, o_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    place = pl.program_id(2) * step + jax.lax.broadcasted_iota(jnp.int32, (64, step), 1)
    o_ref[...] += jnp.dot(jnp.where(place < limit, x_ref[...], 0), y_ref[...], preferred_element_type=F32)

  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct((m, n), F32),
    grid=(m // 64, n // 64, k // step),
    in_specs=[pl.BlockSpec((64, step), lambda i, j, l: (i, l)), pl.BlockSpec((step, 64), lambda i, j, l: (l, j))],
    out_specs=pl.BlockSpec((64, 64), lambda i, j, l: (i, j)),
    compiler_params=nvgpu_language.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
  )(x, y)


@pytest.mark.parametrize("limit", [96, 80])
def test_a_mask_that_is_not_the_end_of_the_array_is_kept(limit):
  x, y = operands(64, 64, 96, BF16)
  found = emulated(lambda x, y: masked(x, y, limit), x, y, arch="sm_80")
  wanted, sizes = exact(x[:, :limit], y[:limit])
  assert (np.abs(found - wanted) <= 96 * 2.0**-23 * sizes).all()


def test_all_points_of_an_uneven_grid_are_taken():
  """Eleven rows of blocks are taken in groups of eight and three."""
  x, y = operands(11 * 16, 3 * 16, 32, BF16)
  f = lambda x, y: blocked(Plan(HOW, out_dtype=F32), x, y, None, None, (176, 48, 32), MatmulBlocks(16, 16, 16))
  wanted, sizes = exact(x, y)
  assert (np.abs(emulated(f, x, y, arch="sm_80") - wanted) <= 32 * 2.0**-23 * sizes).all()


def test_rows_are_padded_to_whole_pieces():
  x = jnp.ones((3, 13), BF16)
  assert matmul_gpu.in_whole_rows(x).shape == (3, 16)
  assert float(matmul_gpu.in_whole_rows(x).sum()) == 39
  assert matmul_gpu.in_whole_rows(jnp.ones((3, 16), BF16)).shape == (3, 16)


def test_products_with_few_blocks_are_cut_along_k():
  assert tiling.gpu_product(4096, 4096, 4096, 2).splits == 1
  assert tiling.gpu_product(128, 128, 16384, 2).splits > 1
  assert tiling.gpu_product(128, 128, 64, 2).splits == 1


def test_what_is_exact_has_no_such_blocks():
  x, y = jnp.ones((64, 64)), jnp.ones((64, 64))
  assert matmul_gpu.cut(Plan(HOW), x, y) is not None
  for precision in (jax.lax.Precision.HIGHEST, jax.lax.DotAlgorithmPreset.BF16_BF16_F32_X3):
    assert matmul_gpu.cut(Plan(HOW, precision=precision), x, y) is None

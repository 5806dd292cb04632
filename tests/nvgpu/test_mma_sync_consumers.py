"""Contractions along the grid where there is TMA and no wgmma: TMA brings boxes, `ldmatrix` reads them through their swizzle."""

from __future__ import annotations

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from contractions import ORIENTATIONS, contraction
from gpu_programs import BF16, F32, S, matmul, natives

from tests.support.compiled_ptx import ptx
from tests.support.ptxas_marks import needs_ptxas
from tilewright import pallas as pl
from tilewright.pallas import nvgpu as params
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import ptxas
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.emit.units import tma
from tilewright.target.nvgpu.passes import lowering
from tilewright.target.nvgpu.passes.matmul_plans import BoxedWarpPlan, WarpPlan

ARCHS = ("sm_100a", "sm_103a", "sm_120a", "sm_121a")
_ARRAY = S((512, 512), BF16)
_BOX = r"cp\.async\.bulk\.tensor\.\dd\.shared::cta\.global"


def operands(orientation, m, n, k, batch=()):
  """Both operands as they are stored, small integers of which all sums are exact, and their product."""
  rng = np.random.default_rng(0)
  a, b = (rng.integers(-4, 5, (*batch, *shape)) for shape in ((m, k), (k, n)))
  turned = [x.swapaxes(-1, -2) if c == "t" else x for x, c in zip((a, b), orientation)]
  return [jnp.asarray(x, BF16) for x in turned], a @ b


def check(f, args, wanted, arch):
  ((kernel, native),) = natives(f, *args)
  (got,) = run(native, *args, arch=arch, num_warps=kernel.compiler_params.num_warps)
  np.testing.assert_array_equal(got, wanted)


def plan_of(f, args, arch="sm_100a"):
  ((kernel, native),) = natives(f, *args)
  wishes = lowering.Wishes(kernel.compiler_params.num_warps)
  return lowering.lower(native, architectures.named(arch), wishes, until="pipeline").pipeline


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize(
  "blocks", [(32, 64, 16), (64, 32, 48), (32, 96, 32), (32, 64, 64), (64, 16, 128)], ids=lambda b: "x".join(map(str, b))
)
def test_rows_of_any_width(orientation, blocks):
  """Boxes of 32, 64 and 128 bytes, and several side by side, with more steps than stages."""
  m, n, k = blocks
  args, wanted = operands(orientation, m, n, 9 * k)
  check(contraction(orientation, blocks, dtype=F32), args, wanted, "sm_100a")


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_blocks_may_hang_over_where_the_copy_engine_fills_with_zeros(orientation):
  args, wanted = operands(orientation, 40, 72, 96)
  check(contraction(orientation, (32, 64, 32), dtype=F32), args, wanted, "sm_100a")


@pytest.mark.parametrize("orientation", ["nn", "tt"])
def test_a_stage_may_have_a_part_of_a_step(orientation):
  """Where whole steps leave room for fewer than three stages beside another CTA."""
  f = contraction(orientation, (64, 64, 320), dtype=F32)
  args, wanted = operands(orientation, 64, 64, 640)
  plan = plan_of(f, args, "sm_120a")
  assert plan.depth == 32 and plan.stages >= 3
  check(f, args, wanted, "sm_120a")


@pytest.mark.parametrize("orientation, arch", [("nn", "sm_100a"), ("nt", "sm_100a")])
def test_a_box_has_no_more_rows_than_the_copy_engine_copies(orientation, arch):
  f = contraction(orientation, (512, 16, 16), dtype=F32)
  args, wanted = operands(orientation, 512, 16, 64)
  assert plan_of(f, args, arch).maps[0].box == (tma.MAX_BOX_ROWS,)
  check(f, args, wanted, arch)


@pytest.mark.parametrize("orientation", ["nn", "tt"])
def test_so_it_has_where_warpgroups_multiply(orientation):
  """k of an operand may run down 320 rows."""
  f = contraction(orientation, (64, 64, 320), dtype=F32)
  args, wanted = operands(orientation, 64, 64, 640)
  assert all(max(m.box) <= tma.MAX_BOX_ROWS for m in plan_of(f, args, "sm_90a").maps)
  check(f, args, wanted, "sm_90a")


def test_blocks_may_be_chosen_by_prefetched_numbers():
  """And dimensions that are squeezed, between those that are not."""
  m, n, k, steps = 32, 64, 32, 5
  rng = np.random.default_rng(0)
  a, b = (rng.integers(-4, 5, shape) for shape in ((4 * m, k * steps), (k * steps, 3, n)))
  chosen = jnp.asarray([2, 0, 3], jnp.int32)

  def kernel(which, a_ref, b_ref, o_ref, total):
    @pl.when(pl.program_id(1) == 0)
    def _():
      total[...] = jnp.zeros_like(total)

    total[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)

    @pl.when(pl.program_id(1) == steps - 1)
    def _():
      o_ref[...] = total[...]

  f = lambda which, a, b: pl.pallas_call(
    kernel,
    S((3, m, n), F32),
    grid_spec=pltpu.PrefetchScalarGridSpec(
      num_scalar_prefetch=1,
      grid=(3, steps),
      in_specs=[
        pl.BlockSpec((m, k), lambda i, s, which: (which[i], s)),
        pl.BlockSpec((k, None, n), lambda i, s, which: (s, i, 0)),
      ],
      out_specs=pl.BlockSpec((None, m, n), lambda i, s, which: (i, 0, 0)),
      scratch_shapes=[pltpu.VMEM((m, n), F32)],
    ),
    compiler_params=params.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
  )(which, a, b)
  wanted = np.stack([a[which * m :][:m] @ b[:, i] for i, which in enumerate(np.asarray(chosen))])
  args = chosen, jnp.asarray(a, BF16), jnp.asarray(b, BF16)
  assert isinstance(plan_of(f, args), BoxedWarpPlan)
  check(f, args, wanted, "sm_100a")


def test_arrays_of_more_dimensions_than_a_tensor_map_has_come_by_cp_async():
  batch = (1, 2, 1, 1)
  args, wanted = operands("nn", 32, 64, 96, batch=batch)
  f = contraction("nn", (32, 64, 32), dtype=F32)
  assert isinstance(plan_of(f, args), WarpPlan)
  check(f, args, wanted, "sm_100a")


def test_rows_that_no_tensor_map_describes_are_read_by_loads():
  """Of 90 bytes: neither TMA nor `cp.async` of sixteen bytes can begin where they do."""
  args, wanted = operands("nn", 32, 45, 64)
  f = contraction("nn", (32, 64, 32), dtype=F32)
  assert not re.search(_BOX, ptx(f, args, "sm_100a"))
  check(f, args, wanted, "sm_100a")


@pytest.mark.parametrize("num_warps", [1, 8])
def test_any_number_of_warps(num_warps):
  args, wanted = operands("nt", 64, 128, 160)
  f = contraction("nt", (64, 64, 32), dtype=F32, num_warps=num_warps)
  assert plan_of(f, args).num_threads == 32 * num_warps
  check(f, args, wanted, "sm_100a")


# --- what is emitted ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ARCHS)
def test_operands_come_by_tma_and_ldmatrix(arch):
  """Of 128 x 128 x 64, a warp multiplies 64 x 64: 4 x 8 products of 16 x 8 and eight loads of four matrices for each 16 along k."""
  text = ptx(matmul, (_ARRAY, _ARRAY), arch)
  forms, parts = 3, 4  # the first step, the last, and those between; 64 / 16
  assert text.count("mma.sync.aligned.m16n8k16") == forms * parts * 32
  assert text.count("ldmatrix.sync.aligned.m8n8.x4") == forms * parts * 8
  assert re.search(_BOX, text) and "mbarrier.try_wait.parity" in text
  assert "cp.async.cg" not in text and "cp.async.wait_group" not in text
  assert "ld.shared" not in text and "st.shared" not in text and "ld.global" not in text


def test_warps_do_not_wait_for_each_other():
  """But for what arrives in stages, from the first product to the last."""
  text = ptx(matmul, (_ARRAY, _ARRAY), "sm_100a")
  steps = text[text.index("ldmatrix") : text.rindex("mma.sync")]
  assert "mbarrier.try_wait.parity" in steps and "bar.sync" not in steps


@needs_ptxas
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
  "orientation, blocks", [("nn", (128, 128, 64)), ("tt", (128, 256, 64)), ("nt", (128, 128, 128))]
)
def test_nothing_spills(orientation, blocks, arch):
  gelu = lambda t, b: jax.nn.gelu(t + b.astype(F32))
  f = contraction(orientation, blocks, epilogue=gelu)
  assert isinstance(plan_of(f, (_ARRAY, _ARRAY, S((512,), BF16)), arch), BoxedWarpPlan)
  assert ptxas.resources(ptx(f, (_ARRAY, _ARRAY, S((512,), BF16)), arch), arch).stack_bytes == 0


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("blocks", [(32, 64, 16), (64, 64, 64), (128, 128, 64), (128, 256, 64), (128, 256, 128)])
def test_there_are_as_many_stages_as_fit(blocks, arch):
  """Beside the neighbours for whose sums there are registers."""
  plan = plan_of(functools.partial(matmul, blocks=blocks), (_ARRAY, _ARRAY), arch)
  room = architectures.named(arch).shared_bytes
  neighbours = room // (plan.shared_bytes + 1024)
  assert plan.stages >= 3 and neighbours >= 1
  with_one_more = plan.shared_bytes + plan.stage_bytes + 16 + 2048
  assert plan.stages == 8 or with_one_more > room // neighbours


@pytest.mark.parametrize("blocks, neighbours", [((64, 64, 64), 4), ((64, 128, 64), 3), ((128, 128, 64), 2)])
def test_small_blocks_leave_room_for_others(blocks, neighbours):
  plan = plan_of(functools.partial(matmul, blocks=blocks), (_ARRAY, _ARRAY), "sm_100a")
  assert architectures.named("sm_100a").shared_bytes // (plan.shared_bytes + 1024) == neighbours

"""Contractions along the grid: blocks arrive in shared memory ahead of time, sums stay in registers, and the numbers are right."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from contractions import ORIENTATIONS, block_scaled, contraction
from gpu_programs import BF16, F32, S, matmul, natives

from tests.support.compiled_ptx import ptx
from tests.support.ptxas_marks import needs_ptxas
from tilewright import ops
from tilewright import pallas as pl
from tilewright.pallas import nvgpu as params
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import ptxas

ARCHS = ("sm_80", "sm_90a", "sm_100a")
SMALL = {"sm_80": (32, 64, 32), "sm_90a": (64, 64, 64), "sm_100a": (32, 64, 32)}  # blocks


def operands(orientation, m, n, k, dtype=BF16, batch=()):
  """Both operands as they are stored, and their product in float64."""
  rng = np.random.default_rng(0)
  a, b = (jnp.asarray(rng.standard_normal((*batch, *shape)), dtype) for shape in ((m, k), (k, n)))
  exact = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
  turned = [x.swapaxes(-1, -2) if c == "t" else x for x, c in zip((a, b), orientation)]
  return turned, exact


def check(f, args, wanted, arch, dtype=BF16):
  """Run by the threads of this process: within a few units in the last place of the largest value."""
  ((_, native),) = natives(f, *args)
  (got,) = run(native, *args, arch=arch)
  tolerance = 4 * float(jnp.finfo(dtype).eps) * np.abs(wanted).max()
  np.testing.assert_allclose(np.asarray(got, np.float64), wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_either_operand_may_be_stored_transposed(orientation, arch):
  m, n, k = SMALL[arch]
  args, wanted = operands(orientation, m, 2 * n, 3 * k)
  check(contraction(orientation, (m, n, k)), args, wanted, arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_blocks_may_hang_over_the_edges_of_the_result(arch):
  m, n, k = SMALL[arch]
  args, wanted = operands("nt", m + 9, n - 21, 2 * k)
  check(contraction("nt", (m, n, k)), args, wanted, arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_batches_are_dimensions_of_the_grid(arch):
  m, n, k = SMALL[arch]
  args, wanted = operands("nn", m, n, 2 * k, jnp.float16, batch=(2,))
  check(contraction("nn", (m, n, k)), args, wanted, arch, jnp.float16)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_any_number_of_steps(steps, arch):
  """Fewer than there are stages, and more."""
  m, n, k = SMALL[arch]
  args, wanted = operands("nn", m, n, steps * k)
  check(contraction("nn", (m, n, k), dtype=F32), args, wanted, arch, F32)


@pytest.mark.parametrize("arch", ARCHS)
def test_the_last_step_may_compute_anything_from_the_sums(arch):
  m, n, k = SMALL[arch]
  args, product = operands("nt", m, n, 3 * k)
  bias, rest = (jnp.asarray(np.random.default_rng(1).standard_normal(s), BF16) for s in ((n,), (m, n)))
  f = contraction("nt", (m, n, k), epilogue=lambda t, b, r: jnp.maximum(t + b.astype(F32), 0) * r.astype(F32))
  wanted = np.maximum(product + np.asarray(bias, np.float64), 0) * np.asarray(rest, np.float64)
  check(f, [*args, bias, rest], wanted, arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_a_contraction_may_be_added_up_in_its_output(arch):
  """As `ops.matmul` does for float32: the product stands before the accumulator is set, and nothing is done in the last step."""
  m, n, k = SMALL[arch]
  args, wanted = operands("nn", m + 8, n, 3 * k)
  f = lambda a, b: ops.matmul(a, b, blocks=(m, n, k), out_dtype=F32, native=True)
  check(f, args, wanted, arch, F32)
  text = ptx(f, args, arch)
  assert "st.global.v2.b32" in text and "ld.global" not in text


def test_what_hangs_over_along_the_contraction_may_be_masked():
  m, n, k = SMALL["sm_90a"]
  args, wanted = operands("nn", m, n, 2 * k + 40)
  f = lambda a, b: ops.matmul(a, b, blocks=(m, n, k), native=True)
  check(f, args, wanted, "sm_90a")
  assert "wgmma" in ptx(f, args, "sm_90a")


# --- operands that are computed ----------------------------------------------------------------------------------


def _rounded(x):
  return x.astype(BF16)


def _doubled(x):
  return (x.astype(F32) * 2).astype(BF16)


@pytest.mark.parametrize(
  "orientation, prologues", [("nn", (None, _rounded)), ("nt", (_rounded, _doubled)), ("tt", (_doubled, None))]
)
def test_operands_may_be_computed_from_blocks(orientation, prologues):
  (a, b), product = operands(orientation, 64, 128, 256)
  a, b = (x.astype(F32) if f else x for x, f in zip((a, b), prologues))
  f = contraction(orientation, (64, 64, 128), prologues=prologues, dtype=BF16)
  check(f, [a, b], product * 2 ** sum(f is _doubled for f in prologues), "sm_90a")


@pytest.mark.parametrize("dtype", [jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3, jnp.float8_e3m4])
def test_every_float_of_eight_bits_is_decoded_exactly(dtype):
  """Each is multiplied by one, and by zeros."""
  codes = np.zeros((256, 128), np.uint8)
  codes[np.arange(256), np.arange(256) % 128] = np.arange(256)
  a, ones = jnp.asarray(codes.view(dtype)), jnp.ones((64, 128), BF16)
  f = contraction("nt", (64, 64, 64), prologues=(_rounded, None), dtype=F32)
  ((_, native),) = natives(f, a, ones)
  (got,) = run(native, a, ones, arch="sm_90a")
  np.testing.assert_array_equal(got[:, 0], np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32))


@pytest.mark.parametrize("rows, steps", [(64, 2), (128, 2), (256, 3), (128, 5)])
def test_blocks_that_share_a_scale(rows, steps):
  """Of 64 rows, both operands come from shared memory; of more, the left one is computed in registers."""
  rng = np.random.default_rng(0)
  args, exact = [], []
  for size in (rows, 64):
    x = jnp.asarray(rng.standard_normal((size, 128 * steps)), jnp.float8_e4m3fn)
    scales = jnp.asarray(2.0 ** rng.integers(-3, 4, (size, 4 * steps)), jnp.float8_e8m0fnu)
    args += [x, scales]
    exact.append(np.asarray(x, np.float64) * np.repeat(np.asarray(scales, np.float64), 32, 1))
  f = block_scaled((rows, 64, 128))
  check(f, args, exact[0] @ exact[1].T, "sm_90a")
  assert _takes_left_from_registers(f, args) == (rows >= 128)


def _takes_left_from_registers(f, args):
  """Whether the left operand of a product is four registers in braces, after the sums."""
  return re.search(r"wgmma\.mma_async[^;]*\}, *\{[^;]*;", ptx(f, args, "sm_90a")) is not None


@pytest.mark.parametrize("side", ["left", "right"])
def test_every_float_of_eight_bits_is_decoded_exactly_on_either_side(side):
  """Each is multiplied by one, and added to zeros."""
  dtype = jnp.float8_e4m3fn
  values, ones = jnp.asarray(np.diag(np.arange(256, dtype=np.uint8)).view(dtype)), jnp.ones((128, 256), dtype)
  f = contraction("nt", (128, 64, 128), prologues=(_rounded, _rounded), dtype=F32)
  args = (values, ones) if side == "left" else (ones, values)
  ((_, native),) = natives(f, *args)
  (got,) = run(native, *args, arch="sm_90a")
  assert _takes_left_from_registers(f, args)
  wanted = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
  np.testing.assert_array_equal(got[:, 0] if side == "left" else got[0], wanted)


@pytest.mark.parametrize(
  "change", [lambda x: jnp.flip(x, 1), lambda x: x.reshape(-1, 2, 64).swapaxes(1, 2).reshape(-1, 128)]
)
def test_an_operand_in_registers_may_have_its_columns_in_any_order(change):
  rng = np.random.default_rng(0)
  a, b = (jnp.asarray(rng.standard_normal((128, 256)), jnp.float8_e4m3fn) for _ in range(2))
  f = contraction("nt", (128, 64, 128), prologues=(lambda x: change(x).astype(BF16), _rounded), dtype=F32)
  moved = np.concatenate([np.asarray(change(part), np.float64) for part in (a[:, :128], a[:, 128:])], 1)
  check(f, [a, b], moved @ np.asarray(b, np.float64).T, "sm_90a", F32)
  assert _takes_left_from_registers(f, [a, b])


def test_rows_that_hang_over_are_not_stored_where_the_left_operand_is_in_registers():
  rng = np.random.default_rng(0)
  a, b = (jnp.asarray(rng.standard_normal((rows, 256)), jnp.float8_e4m3fn) for rows in (131, 50))
  f = contraction("nt", (128, 64, 128), prologues=(_rounded, _rounded), dtype=F32)
  check(f, [a, b], np.asarray(a, np.float64) @ np.asarray(b, np.float64).T, "sm_90a", F32)


# --- what is emitted ---------------------------------------------------------------------------------------------

_ARRAY = S((512, 512), BF16)
# No TMA there; what is emitted where there is TMA and no wgmma: test_mma_sync_consumers.
_COPIED = ("sm_80", "sm_86", "sm_89")


@pytest.mark.parametrize("arch", _COPIED)
def test_without_a_copy_engine_operands_come_by_cp_async_and_ldmatrix(arch):
  """Of 128 x 128 x 64, a warp multiplies 64 x 64: 4 x 8 products of 16 x 8 and eight loads of four matrices for each 16 along k."""
  text = ptx(matmul, (_ARRAY, _ARRAY), arch)
  forms, parts = 3, 4  # the first step, the last, and those between; 64 / 16
  assert text.count("mma.sync.aligned.m16n8k16") == forms * parts * 32
  assert text.count("ldmatrix.sync.aligned.m8n8.x4") == forms * parts * 8
  assert "cp.async.cg.shared.global" in text and "cp.async.wait_group" in text
  assert "ld.shared" not in text and "st.shared" not in text and "ld.global" not in text


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_operands_are_transposed_by_ldmatrix_where_k_runs_down(orientation):
  text = ptx(contraction(orientation), (_ARRAY, _ARRAY), "sm_80")
  turned = text.count("ldmatrix.sync.aligned.m8n8.x4.trans")
  assert turned == {"nn": 48, "nt": 0, "tn": 96, "tt": 48}[orientation]


def test_products_are_started_while_the_last_ones_run():
  """Between the first step and the last, one group of products is left running."""
  text = ptx(lambda a, b: matmul(a, b, (128, 256, 64)), (_ARRAY, _ARRAY), "sm_90a")
  assert text.count("wgmma.wait_group.sync.aligned 1") == 2 and text.count("wgmma.wait_group.sync.aligned 0") == 1


def test_results_of_sixteen_bits_are_stored_in_sixteen_bytes():
  text = ptx(matmul, (_ARRAY, _ARRAY), "sm_80")
  assert "st.global.v4.b32" in text and "st.global.b" not in text and "st.global.v2" not in text


_STORED = "cp.async.bulk.tensor.2d.global.shared::cta"


def test_the_copy_engine_writes_results_of_sixteen_bits():
  """A box of 64 columns for each of two warpgroups and two halves of the columns, from matrices that stmatrix has put there."""
  text = ptx(matmul, (_ARRAY, _ARRAY), "sm_90a")
  assert text.count(_STORED) == 2 and "stmatrix" in text and "st.global" not in text


def test_what_is_written_while_stages_are_in_use_is_written_by_threads():
  def kernel(a_ref, b_ref, o_ref, last_ref, total):
    step = pl.program_id(2)

    @pl.when(step == 3)
    def _():
      o_ref[...] = total[...].astype(BF16)  # before the last product

    total[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)

    @pl.when(step == 3)
    def _():
      last_ref[...] = total[...].astype(BF16)

  spec = pl.BlockSpec((128, 128), lambda i, j, k: (i, j))
  f = lambda a, b: pl.pallas_call(
    kernel,
    [S((256, 256), BF16)] * 2,
    grid=(2, 2, 4),
    in_specs=[pl.BlockSpec((128, 64), lambda i, j, k: (i, k)), pl.BlockSpec((64, 128), lambda i, j, k: (k, j))],
    out_specs=[spec, spec],
    scratch_shapes=[pltpu.VMEM((128, 128), F32)],
    compiler_params=params.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
  )(a, b)
  text = ptx(f, (S((256, 256), BF16), S((256, 256), BF16)), "sm_90a")
  assert text.count(_STORED) == 2 and "st.global.v4.b32" in text


def test_a_kernel_that_reads_its_sums_at_every_step_waits_for_them():
  def peeking(a, b):
    def kernel(a_ref, b_ref, o_ref, total):
      total[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)
      o_ref[...] = total[...]

    return pl.pallas_call(
      kernel,
      S((128, 128), F32),
      grid=(1, 1, 4),
      in_specs=[pl.BlockSpec((128, 64), lambda i, j, k: (0, k)), pl.BlockSpec((64, 128), lambda i, j, k: (k, 0))],
      out_specs=pl.BlockSpec((128, 128), lambda i, j, k: (0, 0)),
      scratch_shapes=[pltpu.VMEM((128, 128), F32)],
      compiler_params=params.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
    )(a, b)

  text = ptx(peeking, (S((128, 256), BF16), S((256, 128), BF16)), "sm_90a")
  assert "wgmma.wait_group.sync.aligned 0" in text and "wgmma.wait_group.sync.aligned 1" not in text


_SCALED = (S((256, 512), jnp.float8_e4m3fn), S((256, 16), jnp.float8_e8m0fnu)) * 2


def test_scaled_operands_are_decoded_two_at_a_time():
  """A slice of the right operand has 128 rows of 32 pairs, which a lane each decodes and stores; of the left one, a thread has 16. Each
  multiplication is one of a pair by its scale; one more makes a scale, of which there are four and two."""
  text = ptx(block_scaled(), _SCALED, "sm_90a")
  slices, forms = 2, 4  # the first step, the last, and two between, for each of two stages
  right, left = slices * 32, forms * slices * 16
  assert text.count("cvt.rn.f16x2.e4m3x2") == right + left
  assert text.count("fma.rn.bf16x2") == right + left + slices * 4 + forms * slices * 2
  assert text.count("st.shared.v4.b32") == right // 4 and "ld.global" not in text
  assert text.count("ld.shared.v4") == (right + left) // 8  # sixteen bytes at a time


@needs_ptxas
@pytest.mark.parametrize(
  "arch, blocks", [("sm_80", (128, 128, 32)), ("sm_86", (128, 256, 64)), ("sm_90a", (128, 256, 64))]
)
@pytest.mark.parametrize("orientation", ["nn", "tt"])
def test_nothing_spills(orientation, arch, blocks):
  gelu = lambda t, b: jax.nn.gelu(t + b.astype(F32))
  f = contraction(orientation, blocks, epilogue=gelu)
  assert ptxas.resources(ptx(f, (_ARRAY, _ARRAY, S((512,), BF16)), arch), arch).spilled_bytes == 0


@needs_ptxas
@pytest.mark.parametrize("columns", [128, 256])
def test_nothing_spills_where_operands_are_computed(columns):
  text = ptx(block_scaled((128, columns, 128)), _SCALED, "sm_90a")
  assert ptxas.resources(text, "sm_90a").spilled_bytes == 0

"""Code that uses inferred layouts: what stays in registers, what goes through shared memory, and who waits."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import F32, S, in_one_block, natives
from hypothesis import given
from layout_programs import COLUMNS, PROGRAMS

from tests.layout.layouts import register_layouts
from tilewright import errors, layout
from tilewright import pallas as pl
from tilewright.layout.layout import read_layout
from tilewright.pallas import nvgpu as nvgpu_names
from tilewright.runtime import ptxas
from tilewright.target import nvgpu
from tilewright.target.nvgpu.arch import ARCHS

needs_ptxas = pytest.mark.skipif(ptxas.find() is None, reason=f"there is no ptxas here: {ptxas.ADVICE}")


def ptx_of(name: str, arch: str = "sm_90a") -> str:
  f, _, args = PROGRAMS[name]
  ((_, native),) = natives(f, *args)
  return nvgpu.compile_ptx(native, arch)[0]


def test_probabilities_never_leave_registers():
  """From the first product of attention to its last there are shuffles for the maxima and sums of rows; only v goes to shared memory."""
  text = ptx_of("online_attention", "sm_80")
  found = re.findall(r"mma\.sync|shfl\.sync|st\.shared|bar\.sync", text)
  first, last = found.index("mma.sync"), len(found) - found[::-1].index("mma.sync")
  inside = found[first:last]
  assert inside.count("shfl.sync") == 8  # four lanes have a row, and each has two: the maximum and the sum
  assert inside.count("st.shared") == 4 and inside.count("bar.sync") <= 2  # 64 x 64 in sixteen bytes of 128 threads


@pytest.mark.parametrize("axes", ["0", "1", "2", "02"])
def test_reductions_inside_of_warps_wait_for_no_one(axes):
  text = ptx_of(f"cube_over_{axes}")
  assert "bar.sync" not in text and "shared" not in text


def test_a_transpose_of_bf16_moves_matrices_and_widens_nothing():
  text = ptx_of("transpose")
  assert text.count("stmatrix.sync.aligned.m8n8.x4.trans") == 4 and "bf16x2" not in text
  assert "ldmatrix.sync.aligned.m8n8.x4.trans" in ptx_of("transpose", "sm_80")


def test_an_accumulator_in_scratch_lives_in_registers():
  """The loop adds to the sums of the tensor cores: no add of its own, and no trip of the accumulator through memory."""
  text = ptx_of("scratch_matmul", "sm_80")
  assert "mma.sync" in text and "add.rn.f32" not in text and "add.f32" not in text


def test_operands_in_scratch_are_read_where_they_lie():
  """The swizzle of the buffers is found together with the fragments: ldmatrix reads them as they are, and nothing is written twice."""
  for arch in ("sm_80", "sm_90a"):
    text = ptx_of("from_scratch", arch)
    assert text.count("ldmatrix.sync") >= 4 and "stmatrix" not in text
    assert len(re.findall(r"st\.shared", text)) <= 6 and text.count("bar.sync") <= 2


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", ["online_attention", "with_transpose", "rotated"])
def test_kernels_that_mix_layouts_compile_everywhere(name, arch):
  text = ptx_of(name, arch)
  assert f".target {arch}" in text and ".local" not in text


# --- what users say ----------------------------------------------------------------------------------------------


def test_a_cast_holds():
  """A thread has whole columns, so their sums need neither shuffles nor shared memory; the kernel has as many warps as the layout."""
  text = ptx_of("cast")
  assert "shfl" not in text and ".reqntid 128" in text
  assert text.count("st.shared") == 0


def test_a_cast_is_nothing_on_targets_without_layouts():
  *_, args = PROGRAMS["cast"]
  x = np.random.default_rng(0).standard_normal(args[0].shape).astype(np.float32)
  call = lambda x: nvgpu_names.layout_cast(x, COLUMNS) * 2
  np.testing.assert_array_equal(jax.jit(call)(x), x * 2)


@pytest.mark.parametrize(
  "given, message",
  [
    (COLUMNS.shape, "expected a tilewright.layout.Layout"),
    (layout.blocked_for((32, 32), 4), "as x has, got one of shape"),
    (layout.layout((64, 128), {"offset": [(8192, (0, 1))]}), "registers, 32 lanes and warps"),
    (layout.blocked((64, 128), (1, 1), (1, 32), (64, 1)), "at most 32 warps.*got one of 64"),
    (layout.register_layout((64, 128), lane=[(32, (1, 0))]), "layout_cast: layout: .*holds 32 of 64 along dimension 0"),
  ],
)
def test_a_cast_to_something_else_is_an_error(given, message):
  with pytest.raises(errors.LayoutError, match=message):
    nvgpu_names.layout_cast(jnp.zeros((64, 128)), given)


def test_a_cast_for_other_warps_than_the_kernel_has_is_an_error():
  f, _, args = PROGRAMS["cast"]
  ((_, native),) = natives(f, *args)
  with pytest.raises(errors.LayoutError, match=r"layout_programs\.py.*for 4 warps, but the kernel has 8"):
    nvgpu.compile_ptx(native, "sm_90a", 8)


def test_casts_for_different_numbers_of_warps_are_an_error_that_names_both():
  def body(x):
    four, eight = (nvgpu_names.layout_cast(x, layout.blocked_for((64, 64), count)) for count in (4, 8))
    return four + eight

  ((_, native),) = natives(in_one_block(body, S((64, 64), F32)), S((64, 64), F32))
  places = r"test_layouts\.py:\d+.* is for 4 warps, and that at .*test_layouts\.py:\d+.* for 8"
  with pytest.raises(errors.LayoutError, match=places):
    nvgpu.compile_ptx(native, "sm_90a")


def test_a_cast_that_no_thread_has_registers_for_is_an_error():
  whole = layout.splat((32, 32), 4)
  ((_, native),) = natives(
    in_one_block(lambda x: nvgpu_names.layout_cast(x, whole), S((32, 32), F32)), S((32, 32), F32)
  )
  with pytest.raises(errors.LayoutError, match=r"test_layouts\.py.*1024 elements"):
    nvgpu.compile_ptx(native, "sm_90a")


@given(register_layouts())
def test_layouts_read_back(of):
  assert read_layout(str(of)) == of


@needs_ptxas
@pytest.mark.parametrize("name", ["attention", "online_attention", "transpose", "rows_and_columns", "scratch_matmul"])
def test_ptxas_assembles_it_without_spills(name):
  assert ptxas.resources(ptx_of(name), "sm_90a").spilled_bytes == 0


def test_what_branches_and_loops_combine_element_by_element_stays_in_registers():
  def kernel(x_ref, o_ref):
    y = x_ref[...] * 2
    for i in range(4):
      y = jax.lax.cond(x_ref[0, i] > 0, lambda v: v * 2, lambda v: v - 1, y)
    o_ref[...] = jax.lax.fori_loop(0, 3, lambda i, total: jnp.where(total > y, total, total + y), y)

  x = np.arange(32 * 64, dtype=np.float32).reshape(32, 64) % 11 - 5
  ((_, native),) = natives(pl.pallas_call(kernel, S(x.shape, F32)), x)
  assert nvgpu.compile_ptx(native, "sm_90a")[1].shared_bytes == 0
  wanted = np.asarray(pl.pallas_call(kernel, S(x.shape, F32), interpret=True)(x))
  np.testing.assert_array_equal(run(native, x)[0], wanted)

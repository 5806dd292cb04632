"""Code that uses inferred layouts: what stays in registers, what goes through shared memory, and who waits."""

from __future__ import annotations

import re

import pytest
from gpu_programs import natives
from layout_programs import PROGRAMS

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


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", ["online_attention", "with_transpose", "rotated"])
def test_kernels_that_mix_layouts_compile_everywhere(name, arch):
  text = ptx_of(name, arch)
  assert f".target {arch}" in text and ".local" not in text


@needs_ptxas
@pytest.mark.parametrize("name", ["attention", "online_attention", "transpose", "rows_and_columns", "scratch_matmul"])
def test_ptxas_assembles_it_without_spills(name):
  assert ptxas.resources(ptx_of(name), "sm_90a").spilled_bytes == 0

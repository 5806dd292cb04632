"""Kernels after each pass to the GPU level, against files that show what a change changes.

    python -m tests.nvgpu.test_gpu_golden     writes the files anew

A file has the tile IR as it comes, then the difference that each pass makes.
"""

from __future__ import annotations

import difflib
import functools
import pathlib
import re

import pytest

from tests.nvgpu import gpu_programs
from tests.nvgpu.gpu_level_programs import KERNELS
from tilewright.pallas.nvgpu import report
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.passes import lowering
from tilewright.target.nvgpu.passes.gpu_kernel import GpuKernel

GOLDEN = pathlib.Path(__file__).parent / "golden" / "gpu_level"
REGENERATE = "If the change is meant: python -m tests.nvgpu.test_gpu_golden"


def _plain(text: str) -> str:
  """Without what depends on where this repository lies, and on lines of tests."""
  return re.sub(r'  // .*|(message|where)="[^"]*"', "", text)


@functools.cache
def stages_of(name: str) -> dict[str, str]:
  function, types = KERNELS[name]
  ((_, native),) = gpu_programs.natives(function, *types)
  before = _plain(GpuKernel(native, ARCHS["sm_90a"]).text())
  found = {"tile": before + "\n"}
  for stage, text in lowering.stages(native, ARCHS["sm_90a"]).items():
    after = _plain(text)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    found[stage] = "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@"))) + "\n"
    before = after
  return found


def text_of(name: str) -> str:
  return "\n".join(f"== {stage} ==\n{text}" for stage, text in stages_of(name).items())


@pytest.mark.parametrize("name", KERNELS)
def test_the_stages_are_the_recorded_ones(name):
  assert (GOLDEN / f"{name}.txt").read_text() == text_of(name), REGENERATE


def test_every_pass_does_something_to_some_kernel():
  seen = {stage for name in KERNELS for stage in stages_of(name)}
  assert set(lowering.PASSES) - {"check"} <= seen


@pytest.mark.parametrize("name", ["multiplied", "column_sums"])
def test_a_report_has_the_text_after_each_pass(name):
  function, types = KERNELS[name]
  (found,) = report(function, *types, archs="sm_90a", assemble=False)
  before, *after = re.split(r"// after \w+\n", found.gpu_passes)
  stages = [stage for stage in stages_of(name) if stage != "tile"]
  assert not before and re.findall(r"// after (\w+)\n", found.gpu_passes) == stages
  assert found.gpu.strip() == after[-1].strip()
  if name == "multiplied":
    assert [stage for stage, text in zip(stages, after) if "copy_async" in text] == stages
    assert "mma_wait" not in after[stages.index("async_copies")] and "mma_wait" in after[-1]


def test_dumps_have_the_text_after_each_pass(tmp_path, monkeypatch):
  from tilewright.target.nvgpu import compile_ptx

  monkeypatch.setenv("TILEWRIGHT_DUMP", str(tmp_path))
  function, types = KERNELS["multiplied"]
  ((_, native),) = gpu_programs.natives(function, *types)
  compile_ptx(native, "sm_90a")
  found = {path.name.partition("-")[2] for path in tmp_path.rglob("*.txt")}
  assert {f"gpu-{name}.txt" for name in stages_of("multiplied") if name != "tile"} <= found


if __name__ == "__main__":
  GOLDEN.mkdir(exist_ok=True)
  for each in KERNELS:
    (GOLDEN / f"{each}.txt").write_text(text_of(each))

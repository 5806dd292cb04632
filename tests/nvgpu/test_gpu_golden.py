"""Kernels by hand after each pass to the GPU level, against files that show what a change changes.

    python -m tests.nvgpu.test_gpu_golden     writes the files anew

A file has the tile IR as it comes, then the difference that each pass makes.
"""

from __future__ import annotations

import difflib
import functools
import pathlib
import re
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

from tests.nvgpu import gpu_programs, mosaic_programs
from tilewright.pallas.nvgpu import report
from tilewright.target.llvm.prepared import kernel_text
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.passes import hand_written
from tilewright.tile.native import copied_kernel

GOLDEN = pathlib.Path(__file__).parent / "golden" / "gpu_level"
REGENERATE = "If the change is meant: python -m tests.nvgpu.test_gpu_golden"
BF16, F32, S = jnp.bfloat16, jnp.float32, gpu_programs.S
_a, _b, _x = S((128, 192), BF16), S((192, 64), BF16), S((64, 128), F32)

KERNELS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
  "handed_over": (mosaic_programs.handed_over, (S((40, 128), F32),)),
  "added_up": (mosaic_programs.added_up, (_x,)),
  "multiplied": (mosaic_programs.multiplied, (_a, _b)),
  "exchanged": (mosaic_programs.exchanged, (S((2, 128), F32),)),
  "pipelined_matmul": (mosaic_programs.pipelined_matmul, (_a, _b)),
  "pipelined_matmul_running": (
    functools.partial(mosaic_programs.pipelined_matmul, running=1, max_concurrent_steps=2),
    (_a, _b),
  ),
  "pipelined_matmul_row_by_row": (functools.partial(mosaic_programs.pipelined_matmul, transforms=()), (_a, _b)),
  "pipelines_in_sequence": (mosaic_programs.pipelines_in_sequence, (_x,)),
  "carried": (functools.partial(mosaic_programs.carried, block=(8, 64)), (S((16, 64), BF16),)),
  "carried_swizzled": (
    functools.partial(mosaic_programs.carried, block=(8, 64), transforms=mosaic_programs.TILED),
    (S((16, 64), BF16),),
  ),
  "persistent_matmul": (mosaic_programs.persistent_matmul, (S((256, 192), BF16), _b)),
}


def _plain(text: str) -> str:
  """Without what depends on where this repository lies, and on lines of tests."""
  return re.sub(r'  // .*|message="[^"]*"', "", text)


@functools.cache
def stages_of(name: str) -> dict[str, str]:
  function, types = KERNELS[name]
  ((_, native),) = gpu_programs.natives(function, *types)
  before = _plain(kernel_text(copied_kernel(native)))
  found = {"tile": before + "\n"}
  for stage, text in hand_written.stages(native, ARCHS["sm_90a"]).items():
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
  for stage in hand_written.PASSES:
    assert any(stages_of(name)[stage].strip() for name in KERNELS), stage


def test_a_report_has_the_text_after_each_pass():
  function, types = KERNELS["multiplied"]
  (found,) = report(function, *types, archs="sm_90a", assemble=False)
  before, *after = re.split(r"// after \w+\n", found.gpu_passes)
  assert not before and len(after) == len(hand_written.PASSES)
  assert ["copy_async" in text for text in after] == [True] * 5
  assert ["mma_wait" in text for text in after] == [False, False, True, True, True]


def test_dumps_have_the_text_after_each_pass(tmp_path, monkeypatch):
  from tilewright.target.nvgpu import compile_ptx

  monkeypatch.setenv("TILEWRIGHT_DUMP", str(tmp_path))
  function, types = KERNELS["multiplied"]
  ((_, native),) = gpu_programs.natives(function, *types)
  compile_ptx(native, "sm_90a")
  found = {path.name.partition("-")[2] for path in tmp_path.rglob("*.txt")}
  assert {f"gpu-{name}.txt" for name in hand_written.PASSES} <= found


if __name__ == "__main__":
  GOLDEN.mkdir(exist_ok=True)
  for each in KERNELS:
    (GOLDEN / f"{each}.txt").write_text(text_of(each))

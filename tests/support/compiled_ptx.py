"""The PTX of a kernel."""

from __future__ import annotations

from tests.nvgpu.gpu_programs import natives
from tilewright.target import nvgpu


def ptx(f, args, arch):
  ((kernel, native),) = natives(f, *args)
  return nvgpu.compile_ptx(native, arch, kernel.compiler_params.num_warps)[0]

"""Comparing code before and after a change: kernels that are kept become the same code, and names of registers do not count."""

from __future__ import annotations

import pytest

from tests.nvgpu import gpu_programs, mosaic_programs, same_code

S = gpu_programs.S
PROGRAMS = {
  "softmax": gpu_programs.PROGRAMS["softmax"],
  "sort": gpu_programs.PROGRAMS["sort"],
  "multiplied": (mosaic_programs.multiplied, (S((64, 128), gpu_programs.BF16), S((128, 64), gpu_programs.BF16))),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("arch", same_code.NAMES)
def test_a_kernel_that_is_kept_becomes_the_same_code(name, arch):
  function, args = PROGRAMS[name]
  ((_, native),) = gpu_programs.natives(function, *args)
  case = native, (None, None)
  found = same_code.llvm_of(case, arch)
  assert "define" in found and found == same_code.llvm_of(same_code.loaded(same_code.dumped(case)), arch)


def test_names_of_registers_do_not_count():
  one = "mov.b32 %r7, %r1; // a\nadd.s32 %r8, %r7, %r1;\n$L__BB0_3:\n"
  other = "mov.b32 %r9, %r4;\nadd.s32 %r2, %r9, %r4;\n$L__BB0_1:\n"
  swapped = "mov.b32 %r9, %r4;\nadd.s32 %r2, %r4, %r9;\n$L__BB0_1:\n"
  plain = same_code.normalised
  assert [line.rstrip() for line in plain(one).splitlines()] == plain(other).splitlines()
  assert plain(other) != plain(swapped)

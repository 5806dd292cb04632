"""From LLVM IR to PTX. Needs no GPU and no toolchain: LLVM's own back end writes PTX for any architecture."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import llvmlite.binding as llvm

from tilewright.runtime import jit
from tilewright.target.nvgpu.arch import Arch

_TRIPLE = "nvptx64-nvidia-cuda"
# The first PTX with instructions that are newer than the first architecture they run on.
_NEWER = {"mbarrier.test_wait.parity": 71}


@functools.cache
def _machine(arch: Arch) -> Any:
  llvm.set_option("", "--nvptx-fma-level=2")  # a multiplication and an addition are fused, as in XLA
  llvm.initialize_all_targets()
  llvm.initialize_all_asmprinters()
  target = llvm.Target.from_triple(_TRIPLE)
  return target.create_target_machine(cpu=arch.name, features=f"+ptx{arch.ptx}", opt=3)


def _machine_for(text: str, arch: Arch) -> Any:
  needed = max((version for name, version in _NEWER.items() if name in text), default=0)
  return _machine(arch if arch.ptx >= needed else dataclasses.replace(arch, ptx=needed))


def optimised(text: str, arch: Arch) -> Any:
  """A module after LLVM's passes."""
  with jit.lock:
    machine = _machine_for(text, arch)
    module = llvm.parse_assembly(text)
    module.triple = _TRIPLE
    module.data_layout = str(machine.target_data)
    module.verify()
    jit.optimise(module, machine, level=3)
    return module


def to_ptx(text: str, arch: Arch, module: Any = None) -> str:
  """Write LLVM IR as PTX, from a module that was optimised already if there is one: that one is left as it is."""
  with jit.lock:
    module = optimised(text, arch) if module is None else module.clone()
    return with_single_adds(_machine_for(text, arch).emit_assembly(module))


_SUM_OF_TWO = re.compile(r"add\.([su]16)x2\s+(%\w+), (\S+), (\S+);")


def with_single_adds(ptx: str) -> str:
  """PTX in which each packed addition of two 16-bit integers (`add.s16x2`) is two instructions.

  The ptxas of CUDA 13.0, which is in drivers of that version, takes the wrong half of a constant where only the high half of such a sum is
  used. Here it adds 0 (`VIADD.16x2 R0, R0, 0x0`), and that of 13.4 adds 1:

      mov.b32 %r2, 65536;    add.s16x2 %r3, %r1, %r2;    mov.b32 {_, %rs1}, %r3;
  """

  def halves(found: re.Match[str]) -> str:
    kind, result, x, y = found.groups()
    return (
      f"{{ .reg .b32 x, y; .reg .b16 x0, x1, y0, y1; mov.b32 x, {x}; mov.b32 y, {y}; mov.b32 {{x0, x1}}, x; mov.b32 {{y0, y1}}, y; "
      f"add.{kind} x0, x0, y0; add.{kind} x1, x1, y1; mov.b32 {result}, {{x0, x1}}; }}"
    )

  return _SUM_OF_TWO.sub(halves, ptx)

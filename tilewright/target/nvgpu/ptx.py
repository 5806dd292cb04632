"""From LLVM IR to PTX. Needs no GPU and no toolchain: LLVM's own back end writes PTX for any architecture."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import llvmlite.binding as llvm

from tilewright.runtime import jit
from tilewright.target.nvgpu.arch import Arch

_TRIPLE = "nvptx64-nvidia-cuda"
# The first PTX with instructions that are newer than the first architecture they run on.
_NEWER = {"mbarrier.test_wait.parity": 71}


@functools.cache
def _machine(arch: Arch) -> Any:
  llvm.set_option("", "--nvptx-fma-level=2")  # a product that is added to becomes one instruction, as XLA has it
  llvm.initialize_all_targets()
  llvm.initialize_all_asmprinters()
  target = llvm.Target.from_triple(_TRIPLE)
  return target.create_target_machine(cpu=arch.name, features=f"+ptx{arch.ptx}", opt=3)


def to_ptx(text: str, arch: Arch) -> str:
  """Optimise a module and write it as PTX."""
  needed = max((version for name, version in _NEWER.items() if name in text), default=0)
  with jit.lock:
    machine = _machine(arch if arch.ptx >= needed else dataclasses.replace(arch, ptx=needed))
    module = llvm.parse_assembly(text)
    module.triple = _TRIPLE
    module.data_layout = str(machine.target_data)
    module.verify()
    jit.optimise(module, machine, level=3)
    return machine.emit_assembly(module)

"""The LLVM JIT: LLVM modules to machine code for this processor.

`object_code(text)` compiles, and `environment()` is everything that the result depends on besides the text: code that is cached on disk
under both can be linked (`runtime.linking`) by another process. LLVM is loaded lazily, at the first compilation: loading takes longer than
everything else in a process whose code is on disk.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import importlib.util
import pathlib
import platform
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tilewright import __version__
from tilewright.runtime import cache

if TYPE_CHECKING:
  import llvmlite.binding as llvm
else:

  class _Lazily:
    """LLVM, loaded at the first attribute access."""

    def __getattr__(self, name: str) -> Any:
      import llvmlite.binding

      return getattr(llvmlite.binding, name)

  llvm = _Lazily()

LONG = 6000  # lines of LLVM IR from which on passes that take quadratic time are left out
lock = threading.RLock()  # LLVM's global state is not thread-safe


@functools.cache
def host_machine(level: int = 3) -> Any:
  """The target machine that compiles for this processor. It is never handed to anything that would dispose of it."""
  return new_host_machine(level)


def new_host_machine(level: int = 3) -> Any:
  """A target machine for this processor, with everything it can do; level 0 compiles in a fifth of the time."""
  llvm.initialize_native_target()
  llvm.initialize_native_asmprinter()
  features = ",".join([llvm.get_host_cpu_features().flatten(), *(f"+{f}" for f in _arm_features(_arm_words()))])
  return llvm.Target.from_default_triple().create_target_machine(
    cpu=llvm.get_host_cpu_name(), features=features, opt=level, codemodel="jitdefault", jit=True
  )


@functools.cache
def host_features() -> frozenset[str]:
  """The features of this processor that this process may use, by LLVM's names."""
  present = frozenset(name for name, present in llvm.get_host_cpu_features().items() if present)
  present |= {*_arm_features(_arm_words()), *sve_length()}
  return present if tile_registers_permitted() else frozenset(f for f in present if not f.startswith("amx"))


# ARM features that LLVM does not detect on Linux and that the processor's name need not imply: Linux's name, then LLVM's.
_ARM_FEATURES = {
  **{"asimd": "neon", "asimdhp": "fullfp16", "asimddp": "dotprod", "asimdfhm": "fp16fml"},
  **{"bf16": "bf16", "i8mm": "i8mm", "sve": "sve", "sve2": "sve2", "atomics": "lse"},
}
_PR_SVE_GET_VL, _PR_SVE_VL_LEN = 51, 0xFFFF  # of Linux: linux/prctl.h


def _arm_features(words: Iterable[str]) -> list[str]:
  return [_ARM_FEATURES[word] for word in words if word in _ARM_FEATURES]


def _arm_words() -> list[str]:
  return next((f.partition(":")[2].split() for f in _processor() if f.startswith("Features:")), [])


@functools.cache
def sve_length() -> tuple[str, ...]:
  """How long SVE's vectors are, as a feature; nothing where there are none."""
  if "sve" not in _arm_words() or sys.platform != "linux":
    return ()
  length = ctypes.CDLL(None, use_errno=True).prctl(_PR_SVE_GET_VL, 0, 0, 0, 0)
  return (f"sve-bits-{8 * (length & _PR_SVE_VL_LEN)}",) if length > 0 else ()


_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18  # of Linux on x86-64: asm/prctl.h, asm/fpu/types.h


@functools.cache
def tile_registers_permitted() -> bool:
  """Whether the process may use AMX's tile registers: Linux requires one request first, since they enlarge the state of each thread."""
  if not (sys.platform == "linux" and platform.machine() == "x86_64" and _reports_amx()):
    return False
  return ctypes.CDLL(None, use_errno=True).syscall(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0


def _reports_amx() -> bool:
  return any(field.startswith("flags:") and "amx_tile" in field.split() for field in _processor())


@functools.cache
def llvm_version() -> int:
  """LLVM's major version: as it was when a process with this very library asked it, else by asking."""
  name = cache.key("version", *_library())
  known = cache.get("llvm", name)
  if known is None:
    known = str(llvm.llvm_version_info[0]).encode()
    cache.put("llvm", name, known)
  return int(known)


@functools.cache
def _library() -> tuple[str, ...]:
  """Which LLVM there is, without loading it: the version of llvmlite, and the sizes of its libraries."""
  found = importlib.util.find_spec("llvmlite")
  folders = (found.submodule_search_locations or []) if found else []
  libraries = sorted(path for folder in folders for path in pathlib.Path(folder, "binding").glob("*llvmlite*.*"))
  return (importlib.metadata.version("llvmlite"), *(f"{path.name} {path.stat().st_size}" for path in libraries))


# What Linux says of a processor that instructions depend on: on x86, then on ARM.
_X86_FIELDS = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
_ARM_FIELDS = ("Features", "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision")


@functools.cache
def _processor() -> tuple[str, ...]:
  """The properties of this processor that its code depends on."""
  try:
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
      lines = []
      for line in file:  # the first processor's
        if not line.strip():
          break
        lines.append(line)
  except OSError:
    lines = []
  cpuinfo = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
  known = [f"{name}: {cpuinfo[name]}" for name in (*_X86_FIELDS, *_ARM_FIELDS) if name in cpuinfo]
  if not ("flags" in cpuinfo or "Features" in cpuinfo):
    known += [llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
  return (platform.system(), platform.machine(), *known)


@functools.cache
def environment() -> tuple[str, ...]:
  """Everything besides the IR that machine code depends on."""
  return (__version__, *_library(), *_processor(), f"tile registers: {tile_registers_permitted()}", *sve_length())


def optimise(module: Any, machine: Any, level: int = 1) -> None:
  """Run LLVM's passes of a level. For the CPU higher ones take a third longer, and give code of the same speed."""
  options = llvm.create_pipeline_tuning_options(speed_level=level)
  # The code generator has vectorised already, with the layout of the data in mind.
  options.loop_vectorization = False
  options.slp_vectorization = False
  options.loop_unrolling = True
  builder = llvm.create_pass_builder(machine, options)
  builder.getModulePassManager().run(module, builder)


def _simplify(module: Any, machine: Any) -> None:
  """The passes whose time is linear in a function's size: for long ones."""
  passes = llvm.create_new_module_pass_manager()
  for _ in range(2):
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_loop_rotate_pass()
  passes.add_dead_code_elimination_pass()
  passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))


def _optimised(text: str, machine: Any = None, is_launcher: bool = False) -> Any:
  machine = machine or host_machine()
  module = llvm.parse_assembly(text)
  module.triple = machine.triple
  module.data_layout = str(machine.target_data)
  module.verify()
  if is_launcher or text.count("\n") > LONG:
    _simplify(module, machine)
  else:
    optimise(module, machine)
  return module


def optimised_text(text: str) -> str:
  """LLVM IR after optimisation, for reading."""
  with lock:
    return str(_optimised(text))


def assembly(text: str) -> str:
  """The machine code of LLVM IR as assembly, for reading."""
  with lock:
    return host_machine().emit_assembly(_optimised(text))


def object_code(text: str, *, is_launcher: bool = False) -> bytes:
  """Compile LLVM IR text for this processor; glue has no loops over data, and is compiled as fast as can be."""
  with lock:
    machine = host_machine(0) if is_launcher else host_machine()
    return machine.emit_object(_optimised(text, machine, is_launcher))

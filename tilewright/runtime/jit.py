"""LLVM modules to machine code in this process.

`object_code(text)` compiles, `link(code)` makes the result callable, and `environment()` is what it depends on besides the text: code that
was kept on disk under all of that can be linked by another process.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from tilewright import __version__

lock = threading.RLock()  # LLVM's global state is not ours to share between threads
_engines: list[Any] = []  # compiled code lives as long as the process: XLA keeps its addresses


@functools.cache
def host_machine() -> Any:
  """A target machine for this processor, with everything it can do."""
  llvm.initialize_native_target()
  llvm.initialize_native_asmprinter()
  features = llvm.get_host_cpu_features().flatten()
  return llvm.Target.from_default_triple().create_target_machine(
    cpu=llvm.get_host_cpu_name(), features=features, opt=3, codemodel="jitdefault", jit=True
  )


@functools.cache
def host_features() -> frozenset[str]:
  return frozenset(name for name, present in llvm.get_host_cpu_features().items() if present)


def llvm_version() -> int:
  """LLVM's major version."""
  return int(llvm.llvm_version_info[0])


@functools.cache
def environment() -> tuple[str, ...]:
  """Everything besides the IR that machine code depends on."""
  version = ".".join(map(str, llvm.llvm_version_info))
  features = llvm.get_host_cpu_features().flatten()
  return (__version__, llvmlite.__version__, version, llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


def optimise(module: Any, machine: Any, level: int = 1) -> None:
  """Run LLVM's passes of a level. For the CPU higher ones take a third longer, and give code of the same speed."""
  options = llvm.create_pipeline_tuning_options(speed_level=level)
  # The code generator has vectorised already, with the layout of the data in mind.
  options.loop_vectorization = False
  options.slp_vectorization = False
  options.loop_unrolling = True
  builder = llvm.create_pass_builder(machine, options)
  builder.getModulePassManager().run(module, builder)


def _optimised(text: str) -> Any:
  machine = host_machine()
  module = llvm.parse_assembly(text)
  module.triple = machine.triple
  module.data_layout = str(machine.target_data)
  module.verify()
  optimise(module, machine)
  return module


def optimised_text(text: str) -> str:
  """LLVM IR after optimisation, for people."""
  with lock:
    return str(_optimised(text))


def assembly(text: str) -> str:
  """The machine code of LLVM IR as assembly, for people."""
  with lock:
    return host_machine().emit_assembly(_optimised(text))


def object_code(text: str) -> bytes:
  """Compile LLVM IR text for this processor."""
  with lock:
    return host_machine().emit_object(_optimised(text))


def define(name: str, address: int) -> None:
  """Let code that is linked from now on call the function at an address by a name."""
  with lock:
    llvm.add_symbol(name, address)


def link(code: bytes) -> Any:
  """An engine whose functions, in `object_code`'s result, have addresses."""
  with lock:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), host_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return engine

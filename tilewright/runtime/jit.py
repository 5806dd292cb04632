"""LLVM modules to machine code in this process.

Machine code is kept on disk (`cache`), keyed by the LLVM IR, or what that is made of, the versions of this package and of LLVM, and the
processor: a second process that builds the same kernel only links it.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from tilewright import __version__
from tilewright.runtime import cache

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


@functools.cache
def _environment() -> tuple[str, ...]:
  """Everything besides the IR that machine code depends on."""
  version = ".".join(map(str, llvm.llvm_version_info))
  features = llvm.get_host_cpu_features().flatten()
  return (__version__, llvmlite.__version__, version, llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


def optimise(module: Any, machine: Any) -> None:
  options = llvm.create_pipeline_tuning_options(speed_level=3)
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


def compile_host(text: str, identity: str | None = None) -> Any:
  """Compile LLVM IR text for this processor; gives an engine whose functions have addresses.

  `identity` is what the machine code is kept under on disk; by default the text itself.
  """
  with lock:
    found = load_host(text if identity is None else identity)
    if found is not None:
      return found
    engine = llvm.create_mcjit_compiler(_optimised(text), host_machine())
    made: list[bytes] = []
    engine.set_object_cache(lambda _, contents: made.append(contents))
    engine.finalize_object()
    if made:
      cache.put("cpu", _entry(text if identity is None else identity), made[0])
    _engines.append(engine)
    return engine


def load_host(identity: str) -> Any:
  """An engine with the machine code that is kept on disk under a name, or None."""
  with lock:
    known = cache.get("cpu", _entry(identity))
    if known is None:
      return None
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), host_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(known))
    engine.finalize_object()
    _engines.append(engine)
    return engine


def _entry(identity: str) -> str:
  return cache.key(identity, *_environment())

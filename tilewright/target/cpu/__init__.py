"""The CPU target: a kernel in the tile IR becomes vector code, called by XLA without any Python.

`run(native_kernel, *operands)` compiles (once per kernel) and calls it.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from typing import Any

from tilewright.runtime import dump, ffi, jit
from tilewright.target.cpu import hosts
from tilewright.target.cpu.hosts import Host
from tilewright.target.cpu.identity import identity
from tilewright.target.llvm.calling import call
from tilewright.tile.cleaning import clean
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims

_SMALL = 1 << 15  # elements: less work than this is not worth a second thread


@functools.cache
def host() -> Host:
  """What this processor's vectors are like."""
  return hosts.of(jit.host_features())


def to_llvm(kernel: NativeKernel, machine: Host, symbol: str = "handler") -> str:
  """The LLVM IR of a kernel's handler."""
  # Imported here: a process that finds all its code on disk generates none.
  from llvmlite import ir

  from tilewright.target.cpu.effects import can_fail
  from tilewright.target.cpu.handler import emit_handler, emit_worker
  from tilewright.target.cpu.launch import emit_point, emit_poison
  from tilewright.target.cpu.packed import packed_bytes

  mapping = kernel.mapping
  module = ir.Module("tilewright")
  parallel = parallel_dims(kernel)
  point, arena_bytes = emit_point(module, kernel, machine, parallel)
  num_arrays = mapping.num_prefetch + len(mapping.block_mappings)
  worker = emit_worker(module, point, num_arrays, arena_bytes)
  emit_handler(
    module,
    worker,
    num_operands=mapping.num_dynamic_bounds + mapping.num_prefetch + mapping.num_inputs,
    num_bounds=mapping.num_dynamic_bounds,
    result_bytes=[
      packed_bytes(m.array_aval.dtype, m.array_aval.size)
      if kernel.is_packed(mapping.num_inputs + i)
      else m.array_aval.size * m.array_aval.dtype.itemsize
      for i, m in enumerate(mapping.output_mappings)
    ],
    grid=mapping.grid,
    parallel=parallel,
    name=symbol,
    inline=not parallel or _total_elements(kernel) < _SMALL,
    can_fail=can_fail(kernel.body.body),
    prepare=emit_poison(module, kernel, machine),
  )
  return str(module)


def _total_elements(kernel: NativeKernel) -> int:
  """How much data the kernel touches at least."""
  return sum(m.array_aval.size for m in kernel.mapping.block_mappings)


_compiled: dict[str, str] = {}
_lock = threading.Lock()


def compile_kernel(kernel: NativeKernel) -> str:
  """The name under which XLA can call a kernel as it was lowered. The same code is compiled once per process, and kept on disk."""
  said = identity(kernel)
  if said is not None and not dump.directory():
    with _lock:
      digest = hashlib.sha256(said.encode()).hexdigest()
      if digest in _compiled or (engine := jit.load_host(said)) is None:
        found = _compiled.get(digest)
      else:
        found = _register(digest, engine)
    if found is not None:
      return found
  _verify(kernel, "lowered")
  kernel = clean(kernel)
  _verify(kernel, "cleaned")
  text = to_llvm(kernel, host())
  stages = dump.Dump(kernel.name, text)
  stages.stage("tile.txt", lambda: "\n\n".join(str(f) for f in (*kernel.index_maps, kernel.body) if f is not None))
  stages.stage("llvm.ll", lambda: text)
  stages.stage("optimised.ll", lambda: jit.optimised_text(text))
  stages.stage("assembly.s", lambda: jit.assembly(text))
  digest = hashlib.sha256((text if said is None else said).encode()).hexdigest()
  with _lock:
    if digest in _compiled:
      return _compiled[digest]
    return _register(digest, jit.compile_host(text, said))


def _verify(kernel: NativeKernel, stage: str) -> None:
  """Check the functions of a kernel at a stage, where `TILEWRIGHT_VERIFY` or dumps ask for it."""
  if not dump.wants_checks():
    return
  from tilewright.tile.verify import verify

  for function in (kernel.body, *kernel.index_maps):
    if function is not None:
      verify(function, stage)


def _register(digest: str, engine: Any) -> str:
  """Let XLA call compiled code; gives the name for that."""
  name = f"tilewright_cpu_{digest[:24]}"
  ffi.register(name, engine.get_function_address("handler"), "cpu")
  _compiled[digest] = name
  return name


def run(kernel: NativeKernel, *operands: Any) -> list[Any]:
  """Call a kernel on its dynamic bounds, prefetched scalars and inputs; gives its outputs."""
  packed = [kernel.is_packed(i) for i in range(len(kernel.mapping.block_mappings))]
  return call(kernel, compile_kernel(kernel), operands, packed)

"""The CPU target: a kernel in the tile IR becomes vector code, called by XLA without any Python.

`run(native_kernel, *operands)` compiles (once per kernel) and calls it.
"""

from __future__ import annotations

import functools
from typing import Any

from tilewright.runtime import cache, dump, ffi, jit
from tilewright.target.cpu import hosts
from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm.calling import call
from tilewright.target.llvm.identity import identity
from tilewright.target.llvm.kept import Kept
from tilewright.target.llvm.prepared import kernel_text, prepared
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


def _load(name: str, code: bytes) -> str:
  """Let XLA call compiled code; gives the name for that."""
  target = f"tilewright_cpu_{name[:24]}"
  ffi.register(target, jit.link(code).get_function_address("handler"), "cpu")
  return target


_kept = Kept("cpu", _load)


def compile_kernel(kernel: NativeKernel) -> str:
  """The name under which XLA can call a kernel as it was lowered. The same code is compiled once per process, and kept on disk."""
  said = identity(kernel, "target/cpu")
  if said is not None and not dump.directory():
    found = _kept.find(cache.key(said, *jit.environment()))
    if found is not None:
      return found
  kernel = prepared(kernel)
  text = to_llvm(kernel, host())
  stages = dump.Dump(kernel.name, text)
  stages.stage("tile.txt", lambda: kernel_text(kernel))
  stages.stage("llvm.ll", lambda: text)
  stages.stage("optimised.ll", lambda: jit.optimised_text(text))
  stages.stage("assembly.s", lambda: jit.assembly(text))
  name = cache.key(text if said is None else said, *jit.environment())
  return _kept.make(name, lambda: jit.object_code(text))


def run(kernel: NativeKernel, *operands: Any) -> list[Any]:
  """Call a kernel on its dynamic bounds, prefetched scalars and inputs; gives its outputs."""
  packed = [kernel.is_packed(i) for i in range(len(kernel.mapping.block_mappings))]
  return call(kernel, compile_kernel(kernel), operands, packed)

"""The CPU target: a kernel in the tile IR becomes vector code, called by XLA without any Python.

`run(native_kernel, *operands)` compiles (once per kernel) and calls it.
"""

from __future__ import annotations

import functools
from typing import Any

from tilewright.runtime import cache, dump, ffi, garbage, jit
from tilewright.target.cpu import hosts
from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm.calling import call
from tilewright.target.llvm.identity import code_version, identity
from tilewright.target.llvm.kept import Kept
from tilewright.target.llvm.prepared import kernel_text, prepared
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims

_SMALL = 1 << 15  # elements: less work than this is not worth a second thread
_HANDLER = "handler"  # what XLA calls, in the code of each kernel
_LAUNCH = "tilewright_cpu_launch"  # what handlers call


@functools.cache
def host() -> Host:
  """What this processor's vectors are like."""
  return hosts.of(jit.host_features())


@garbage.postponed()
def to_llvm(kernel: NativeKernel, machine: Host) -> str:
  """The LLVM IR of a kernel, with the handler that XLA calls."""
  # Imported here: a process that finds all its code on disk generates none.
  from llvmlite import ir

  from tilewright.target.cpu.handler import Facts, emit_handler
  from tilewright.target.cpu.launch import emit_point, emit_poison
  from tilewright.target.cpu.packed import packed_bytes

  mapping = kernel.mapping
  module = ir.Module("tilewright")
  parallel = parallel_dims(kernel)
  point, arena_bytes = emit_point(module, kernel, machine, parallel)
  facts = Facts(
    point=point,
    prepare=emit_poison(module, kernel, machine),
    arena_bytes=arena_bytes,
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
    inline=not parallel or _total_elements(kernel) < _SMALL,
  )
  emit_handler(module, facts, _HANDLER, _LAUNCH)
  return str(module)


def _total_elements(kernel: NativeKernel) -> int:
  """How much data the kernel touches at least."""
  return sum(m.array_aval.size for m in kernel.mapping.block_mappings)


def _load(name: str, code: bytes) -> str:
  """Let XLA call compiled code; gives the name for that."""
  _provide_launcher()
  target = f"tilewright_cpu_{name[:24]}"
  ffi.register(target, jit.link(code).get_function_address(_HANDLER), "cpu")
  return target


@functools.cache
def _provide_launcher() -> None:
  """Let the code of kernels find the function that all of them share."""

  def build() -> bytes:
    from tilewright.target.cpu import handler

    return jit.object_code(handler.launcher(_LAUNCH))

  kept = Kept("cpu", lambda _, code: jit.define(_LAUNCH, jit.link(code).get_function_address(_LAUNCH)))
  kept.make(cache.key("launcher", code_version("target/cpu"), *jit.environment()), build)


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

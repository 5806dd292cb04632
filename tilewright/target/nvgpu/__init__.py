"""The NVIDIA target: a kernel in the tile IR becomes PTX, launched by XLA on its own stream without any Python.

`run(native_kernel, *operands)` compiles (once per kernel) and calls it. `compile_ptx` needs no GPU.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
from typing import Any

import llvmlite.binding as llvm

from tilewright.runtime import cuda, ffi, jit
from tilewright.runtime.dump import Dump
from tilewright.target.llvm.calling import call
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu import handler
from tilewright.target.nvgpu.launch import NAME, Launch, emit_kernel
from tilewright.target.nvgpu.ptx import to_ptx
from tilewright.tile.cleaning import clean
from tilewright.tile.native import NativeKernel

_lock = threading.Lock()
_compiled: dict[str, tuple[str, Launch]] = {}


def compile_ptx(kernel: NativeKernel, arch: str, num_warps: int | None = None) -> tuple[str, Launch]:
  """The PTX of a kernel for an architecture by name, and how to launch it."""
  machine = architectures.named(arch)
  text, launch = emit_kernel(kernel, machine, num_warps)
  ptx = to_ptx(text, machine)
  dump = Dump(kernel.name, text)
  dump.stage("tile.txt", lambda: "\n\n".join(str(f) for f in (*kernel.index_maps, kernel.body) if f is not None))
  dump.stage("llvm.ll", lambda: text)
  dump.stage("ptx", lambda: ptx)
  return ptx, launch


def compile_kernel(kernel: NativeKernel, num_warps: int | None) -> tuple[str, Launch]:
  """The name under which XLA can call a kernel, and how it is launched. The same code is compiled once per process."""
  machine = architectures.for_capability(*cuda.capability())
  kernel = clean(kernel)
  ptx, launch = compile_ptx(kernel, machine.name, num_warps)
  mapping = kernel.mapping
  num_operands = mapping.num_dynamic_bounds + mapping.num_prefetch + mapping.num_inputs
  host = handler.to_llvm(num_operands, mapping.num_outputs, launch)
  digest = hashlib.sha256((ptx + host).encode()).hexdigest()[:24]
  with _lock:
    if digest not in _compiled:
      handle = cuda.load(cuda.assemble(ptx, machine.name), NAME, launch.shared_bytes)
      for symbol in ("cuLaunchKernel", "cuTensorMapEncodeTiled"):
        llvm.add_symbol(symbol, cuda.function_address(symbol))
      engine = jit.compile_host(host)
      ctypes.c_uint64.from_address(engine.get_global_value_address(handler.HANDLE)).value = handle
      name = f"tilewright_cuda_{digest}"
      ffi.register(name, engine.get_function_address("handler"), "CUDA")
      _compiled[digest] = name, launch
    return _compiled[digest]


def run(kernel: NativeKernel, *operands: Any, num_warps: int | None = None) -> list[Any]:
  """Call a kernel on its dynamic bounds, prefetched scalars and inputs; gives its outputs."""
  name, launch = compile_kernel(kernel, num_warps)
  packed = [False] * len(kernel.mapping.block_mappings)
  return call(kernel, name, operands, packed, launch.scratch_bytes * (launch.num_blocks or 0))

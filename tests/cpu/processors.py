"""Native kernels as code for other processors than this one: older x86 ones in this process, AArch64 ones under qemu.

    with processors.pretend("avx2"):
      pl.pallas_call(kernel, out, compiler_params=cpu.CompilerParams())(x)

`pytest --platform neon tests/cpu tests/pallas` runs the tests of what kernels compute that way.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import jax
import llvmlite.binding as llvm
import numpy as np
import pytest
from jax.experimental import io_callback

from tests.cpu import aarch64_machine
from tilewright.pallas import targets
from tilewright.pallas.lowering import device_axes, lower_kernel
from tilewright.runtime import jit
from tilewright.target import cpu
from tilewright.target.cpu import hosts
from tilewright.target.llvm import buffers, calling
from tilewright.target.llvm.prepared import prepared
from tilewright.tile.formats import width
from tilewright.tile.grid import Kernel
from tilewright.tile.native import NativeKernel

_SSE = ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt")
_AVX2 = (*_SSE, "avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt")
X86 = {
  "sse": _SSE,
  "avx2": _AVX2,
  "avxvnni": (*_AVX2, "avxvnni"),
  "avx512": (*_AVX2, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}
ARM = {processor.name: processor for processor in aarch64_machine.PROCESSORS}
NAMES = (*X86, *ARM)


def why_not(name: str) -> str:
  """Why code for a processor cannot run here; empty if it can."""
  if name in ARM:
    return "" if aarch64_machine.QEMU else aarch64_machine.WHY_NOT
  if not llvm.get_default_triple().startswith("x86_64"):
    return "this is no x86-64 processor"
  missing = [f for f in X86[name] if f not in jit.host_features()]
  return f"this processor has no {', '.join(missing)}" if missing else ""


@contextlib.contextmanager
def pretend(name: str) -> Iterator[None]:
  """Kernels are compiled for a processor, and run as that code."""
  if reason := why_not(name):
    pytest.skip(reason)
  with contextlib.ExitStack() as stack:
    for owner, attribute, value in _changes(name):
      stack.enter_context(mock.patch.object(owner, attribute, value))
    native = functools.partial(_under_qemu, ARM[name]) if name in ARM else targets.NATIVE["cpu"]
    stack.enter_context(mock.patch.dict(targets.NATIVE, cpu=native))
    jax.clear_caches()
    yield
  jax.clear_caches()


def _changes(name: str) -> list[tuple[Any, str, Any]]:
  if name in ARM:
    return []
  features, environment = X86[name], jit.environment()
  return [
    (cpu, "host", lambda: hosts.of(features)),
    (jit, "host_machine", functools.cache(functools.partial(_x86_machine, features))),
    (jit, "environment", lambda: (*environment, f"as {name}")),
  ]


def _x86_machine(features: Sequence[str], level: int = 3) -> Any:
  llvm.initialize_native_target()
  llvm.initialize_native_asmprinter()
  return llvm.Target.from_default_triple().create_target_machine(
    cpu="x86-64", features=",".join(f"+{f}" for f in features), opt=level, codemodel="jitdefault", jit=True
  )


# --- qemu --------------------------------------------------------------------------------------------------------


def _under_qemu(processor: aarch64_machine.Processor, given: Kernel, native: NativeKernel, *operands: Any) -> list[Any]:
  if native.mesh or native.warpgroups > 1:
    pytest.skip("devices and warpgroups that wait for each other need a C library")
  native = lower_kernel(given, device_axes(given.jaxpr))
  packed = [native.is_packed(i) for i in range(len(native.mapping.block_mappings))]
  buffers.check(native, buffers.host_memory(), "this machine")
  kernel = prepared(native)
  text = cpu.to_llvm(kernel, processor.host)
  needed = set(re.findall(r'^declare .*@"?([\w.]+)"?\(', text, re.MULTILINE))
  missing = {name for name in needed if not name.startswith("llvm.")} - set(aarch64_machine.SYSTEM_NAMES)
  if missing:
    pytest.skip(f"the stand-in for a C library has no {', '.join(sorted(missing))}")

  def call_on(
    _: str, results: Sequence[Any], *, input_output_aliases: Any, has_side_effect: bool
  ) -> Callable[..., Any]:
    def execute(*arrays: Any) -> list[np.ndarray]:
      arrays = [np.asarray(x) for x in arrays]
      shared = {out: arrays[i] for i, out in input_output_aliases.items()}
      # What results hold before is nothing anyone should see.
      before = [
        _in_memory(shared.get(i, np.full(r.shape, _JUNK, np.uint8).astype(r.dtype))) for i, r in enumerate(results)
      ]
      out = aarch64_machine.run(kernel, [_in_memory(x) for x in arrays], before, processor, shared=input_output_aliases)
      return [_as_array(x, r) for x, r in zip(out, results)]

    return lambda *arrays, **_: io_callback(execute, list(results), *arrays)

  with mock.patch.object(jax.ffi, "ffi_call", call_on):
    return calling.call(native, "", operands, packed)


_JUNK = 0xAB & 0x3


def _in_memory(x: np.ndarray) -> np.ndarray:
  """The bytes of an array as XLA has them: elements of less than a byte are packed, the first in the lowest bits."""
  x = np.ascontiguousarray(x)
  bits = width(x.dtype)
  if bits >= 8:
    return x.reshape(-1).view(np.uint8)
  flat = x.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
  per_byte = 8 // bits
  flat = np.concatenate([flat, np.zeros(-flat.size % per_byte, np.uint8)]).reshape(-1, per_byte)
  return sum((flat[:, i] << (bits * i) for i in range(per_byte)), np.zeros(flat.shape[0], np.uint8)).astype(np.uint8)


def _as_array(raw: np.ndarray, like: Any) -> np.ndarray:
  bits, dtype = width(like.dtype), np.dtype(like.dtype)
  if bits >= 8:
    return raw.view(dtype).reshape(like.shape)
  per_byte = 8 // bits
  flat = np.stack([raw >> (bits * i) & ((1 << bits) - 1) for i in range(per_byte)], 1).reshape(-1)
  flat = flat[: int(np.prod(like.shape))].astype(np.uint8)
  if dtype.name.startswith("int"):
    flat = ((flat.astype(np.int8) ^ (1 << (bits - 1))) - (1 << (bits - 1))).astype(np.int8)
  return flat.view(dtype).reshape(like.shape)

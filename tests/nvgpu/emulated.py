"""Kernels of the language run as the GPU target's code, on the CPU: `pytest --platform emulated tests/pallas/test_programs.py`.

Every kernel that would become native code for the CPU goes through `block_on_cpu` instead, with its log and its poison. Slow: a test takes
about a second.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from block_on_cpu import execute, execute_at
from jax.experimental import io_callback

from tilewright.pallas import semaphores
from tilewright.pallas.lowering import device_axes, lower_kernel
from tilewright.runtime import printing
from tilewright.target.llvm import calling
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel
from tilewright.target.nvgpu.host import device_log, peer_memory
from tilewright.target.nvgpu.passes.layouts.choice import casts
from tilewright.tile.formats import is_small_integer, poison_value, width
from tilewright.tile.grid import Kernel
from tilewright.tile.native import NativeKernel
from tilewright.tile.standard_passes import clean
from tilewright.tile.uninitialized import outputs_to_poison

arch = "sm_80"  # of which code is made; from sm_90 on a CTA is a warpgroup, as hand-written kernels have it


def run(kernel: Kernel, given: NativeKernel, *operands: Any) -> list[Any]:
  if given.mesh:
    return run_on_device(kernel, given, *operands)
  native = lower_kernel(kernel, device_axes(kernel.jaxpr), for_gpu=True)
  avals = [m.array_aval for m in native.mapping.output_mappings]  # complex numbers are pairs only after cleaning
  native = clean(native)
  mapping = native.mapping
  num_warps = None if casts(native) or arch != "sm_80" else 1
  text, launch = emit_kernel(native, architectures.named(arch), num_warps)
  results = [jax.ShapeDtypeStruct(a.shape, calling._unpacked_dtype(a.dtype)) for a in avals]

  def call(*arrays: Any) -> list[np.ndarray]:
    arrays = [np.array(x, order="C") for x in arrays]
    bounds, own = arrays[: mapping.num_dynamic_bounds], arrays[mapping.num_dynamic_bounds :]
    outputs = [np.full(math.prod(r.shape) * np.dtype(r.dtype).itemsize, 0xAB, np.uint8) for r in results]
    outputs = [o.view(r.dtype).reshape(r.shape) for o, r in zip(outputs, results)]
    for number in outputs_to_poison(native):
      outputs[number][...] = _poison(avals[number].dtype, outputs[number].dtype)
    for source, target in native.input_output_aliases:
      in_place = source >= mapping.num_prefetch and mapping.input_mappings[source - mapping.num_prefetch].in_place
      if in_place and mapping.output_mappings[target].in_place:
        outputs[target] = own[source]
      else:
        outputs[target][...] = own[source]
    workspace = np.zeros(max(16, launch.workspace_bytes), np.uint8)
    execute(text, launch, [*own, *outputs], bounds, workspace)
    if launch.report is not None:
      start = workspace.ctypes.data
      report = launch.report.to_json().encode()
      message = printing._print_records(report, start, start + device_log.HEADER_BYTES)
      if message is not None:
        raise RuntimeError(ctypes.string_at(message).decode())
    return outputs

  unpacked = [calling._unpacked(x) for x in operands]
  outputs = io_callback(call, results, *unpacked)
  return [calling._packed(x, a.dtype) for x, a in zip(outputs, avals)]


def run_on_device(kernel: Kernel, given: NativeKernel, *operands: Any) -> list[Any]:
  """The same for a kernel that accesses other devices: on the devices of this process, and of others that share memory with it."""
  mesh = semaphores.device_axes()
  axes = [*mesh, *(axis for axis in device_axes(kernel.jaxpr) if axis not in mesh)]
  native = lower_kernel(kernel, axes, mesh, for_gpu=True)
  avals = [m.array_aval for m in native.mapping.output_mappings]  # complex numbers are pairs only after cleaning
  native = clean(native)
  text, launch = emit_kernel(native, architectures.named("sm_90a"), 2)
  assert launch.symmetric is not None
  found = calling.program()
  heap, site = peer_memory.heap_of(found, launch.symmetric.nbytes), len(found.keepalives)
  calling.keep(native)
  results = [jax.ShapeDtypeStruct(a.shape, calling._unpacked_dtype(a.dtype)) for a in avals]

  def call(device: Any, *arrays: Any) -> list[np.ndarray]:
    arrays = [np.array(x, order="C") for x in arrays]
    outputs = [np.full(math.prod(r.shape) * np.dtype(r.dtype).itemsize, 0xAB, np.uint8) for r in results]
    outputs = [o.view(r.dtype).reshape(r.shape) for o, r in zip(outputs, results)]
    for number in outputs_to_poison(native):
      outputs[number][...] = _poison(avals[number].dtype, outputs[number].dtype)
    for source, target in native.input_output_aliases:
      outputs[target][...] = arrays[source]
    own = number_here(int(device))
    places = {i: a.ctypes.data for i, a in enumerate([*arrays, *outputs])}
    for array, offset in launch.symmetric.arrays:
      start = heap.starts[own] + offset
      if array.is_read and array.same_as < 0:
        ctypes.memmove(start, places[array.number], array.nbytes)
      places[array.number] = start
    workspace = np.zeros(max(16, launch.workspace_bytes), np.uint8)
    execute_at(text, launch, [*places.values(), workspace.ctypes.data, heap.tables[own], site])
    for array, _ in launch.symmetric.arrays:
      if array.is_written:
        ctypes.memmove([*arrays, *outputs][array.number].ctypes.data, places[array.number], array.nbytes)
    start = workspace.ctypes.data
    message = printing._print_records(launch.report.to_json().encode(), start, start + device_log.HEADER_BYTES)
    if message is not None:
      raise RuntimeError(ctypes.string_at(message).decode())
    return outputs

  place = jnp.asarray(semaphores.own_device_id(mesh), jnp.int32)
  outputs = io_callback(call, results, place, *map(calling._unpacked, operands))
  return [calling._packed(x, a.dtype) for x, a in zip(outputs, avals)]


def number_here(device: int) -> int:
  """The number in its process of a device of the mesh, which has all devices in their order."""
  return int(jax.devices()[device].local_hardware_id)


def _poison(dtype: Any, unpacked: Any) -> Any:
  value = complex(np.nan, np.nan) if np.dtype(dtype).kind == "c" else poison_value(dtype)
  return value if width(dtype) >= 8 or is_small_integer(dtype) else np.asarray(value, dtype).view(unpacked)

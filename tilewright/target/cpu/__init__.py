"""The CPU target: a kernel in the tile IR becomes vector code, called by XLA without any Python.

`run(native_kernel, *operands)` compiles (once per kernel) and calls it.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.runtime import cache, dump, garbage, jit, linking, progress
from tilewright.target.cpu import call_numbers, deadlocks, hosts, lifetime, processes
from tilewright.target.cpu.hosts import Host
from tilewright.target.cpu.lifetime import Hold, Launcher, Resident
from tilewright.target.llvm import buffers, calling
from tilewright.target.llvm.calling import call, keep
from tilewright.target.llvm.code_cache import CodeCache
from tilewright.target.llvm.identity import code_version, identity
from tilewright.target.llvm.prepared import kernel_text, prepared
from tilewright.tile import device_parties, split_sums
from tilewright.tile.native import NativeKernel
from tilewright.tile.parallel import parallel_dims

_HERE = "this machine"
_SMALL = 1 << 15  # elements: fewer are not worth a second thread, where no better estimate of the work exists


@functools.cache
def host() -> Host:
  """The vector unit of this processor: width, number of registers, instruction set extensions."""
  return hosts.of(jit.host_features())


@garbage.postponed()
def to_llvm(kernel: NativeKernel, machine: Host) -> str:
  """The LLVM IR of a kernel, with the facts that the launcher needs."""
  # Imported here: a process that finds all its code on disk generates none.
  from llvmlite import ir

  from tilewright.target.cpu.handler import Facts, emit_facts
  from tilewright.target.cpu.launch import emit_point, emit_poison
  from tilewright.target.cpu.sub_byte import packed_bytes
  from tilewright.target.llvm import locations

  mapping = kernel.mapping
  module = ir.Module("tilewright")
  parallel = parallel_dims(kernel)
  point, arena_bytes = emit_point(module, kernel, machine, parallel)
  buffers.check_total(kernel, arena_bytes, buffers.host_memory(), _HERE)
  facts = Facts(
    point=point,
    prepare=emit_poison(module, kernel, machine),
    arena_bytes=arena_bytes,
    no_memory=buffers.no_memory(kernel, arena_bytes),
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
    threads=_threads(kernel, machine, parallel),
    **_device_facts(module, kernel),
  )
  emit_facts(module, facts, lifetime.FACTS)
  if machine.vscale:
    for function in module.functions:
      # LLVM then knows how long SVE's vectors are, and uses them for vectors of that length. llvmlite has no name for the attribute.
      set.add(function.attributes, f"vscale_range({machine.vscale},{machine.vscale})")
  locations.attach(module)
  return str(module)


def _threads(kernel: NativeKernel, machine: Host, parallel: Sequence[int]) -> int:
  """How many threads are worth working on a call."""
  from tilewright.target.cpu import cost

  if not parallel or kernel.mesh:
    return 1
  time = cost.nanoseconds(kernel, machine.lanes)
  if math.isinf(time):  # loops of unknown length: as much as there is data
    return 1 if _total_elements(kernel) < _SMALL else cost.ANY
  return cost.threads(time)


def _device_facts(module: Any, kernel: NativeKernel) -> dict[str, Any]:
  """The facts of a kernel that accesses other devices."""
  if not kernel.mesh:
    return {}
  from tilewright.target.cpu import call_state, remote_ops

  if kernel.across_processes:
    return {"communication": call_state.WAITING, "staged": remote_ops.emit_staged(module, kernel)}
  if not remote_ops.is_gang(kernel):
    return {"communication": call_state.WAITING}
  return {
    "communication": call_state.GANG,
    "device_id": remote_ops.emit_device_id(module, kernel),
    "devices": remote_ops.number_of_devices(kernel),
    "is_large": _total_elements(kernel) >= _SMALL,
  }


def _total_elements(kernel: NativeKernel) -> int:
  """A lower bound on the number of elements that the kernel touches."""
  return sum(m.array_aval.size for m in kernel.mapping.block_mappings)


_kept_launcher = CodeCache("cpu", lambda _, code: Launcher(linking.link(code)), Launcher.register)


@functools.cache
def _launcher() -> Launcher:
  """The functions that all kernels share."""

  def build() -> bytes:
    from tilewright.target.cpu import handler

    return jit.object_code(handler.launcher(), is_launcher=True)

  deadlocks.define()
  return _kept_launcher.make(cache.key("launcher", code_version("target/cpu"), *jit.environment()), build)


def _link(name: str, code: bytes) -> Resident:
  return Resident(_launcher(), name, linking.link(code))


_code_cache = CodeCache("cpu", _link, Resident.publish, Resident.hold, Resident.free)


def compile_kernel(kernel: NativeKernel) -> Hold:
  """Compiles a lowered kernel and holds its code in memory, where XLA finds it by name. Code is cached on disk, too."""
  buffers.check(kernel, buffers.host_memory(), _HERE)
  key_text = identity(kernel, "target/cpu")
  if key_text is not None and not dump.directory():
    found = _code_cache.find(cache.key(key_text, *jit.environment()))
    if found is not None:
      return found
  with progress.announced(f"compiling the kernel {kernel.name!r} for the CPU"):
    return _compile(kernel, key_text)


def _compile(kernel: NativeKernel, key_text: str | None) -> Hold:
  kernel = prepared(kernel)
  text = to_llvm(kernel, host())
  stages = dump.Dump(kernel.name, text)
  stages.stage("tile.txt", lambda: kernel_text(kernel))
  stages.stage("llvm.ll", lambda: text)
  stages.stage("optimised.ll", lambda: jit.optimised_text(text))
  stages.stage("assembly.s", lambda: jit.assembly(text))
  name = cache.key(text if key_text is None else key_text, *jit.environment())
  return _code_cache.make(name, lambda: jit.object_code(text))


_INSTANCES = (
  32  # that may run at the same time where a sequential grid is split: on any machine, so that results are the same
)


def run(
  kernel: NativeKernel, *operands: Any, title: str = "", only_gangs: bool = False, parties: tuple[int, ...] = ()
) -> list[Any]:
  """Call a kernel on its dynamic bounds, prefetched scalars and inputs; returns its outputs. The title appears in messages of kernels
  that access other devices; `only_gangs` says that devices of this program wait for each other in no other way (`threads`); `parties`, for
  each device of the mesh, with which of them it meets (unless said, with those that its body communicates with). A sum along a sequential
  grid becomes two kernels (`tile.split_sums`)."""
  if (found := split_sums.split(kernel, _INSTANCES)) is not None:
    return run(found.finish, *operands, *found.totals(run(found.parts, *operands)))
  program = calling.program()
  world = processes.world_of(processes.of_program(program)) if kernel.mesh else None
  if world is not None:
    kernel = dataclasses.replace(kernel, across_processes=True)
  packed = [kernel.is_packed(i) for i in range(len(kernel.mapping.block_mappings))]
  code = compile_kernel(kernel)
  if kernel.mesh:
    deadlocks.watch_gangs()
    parties = parties or device_parties.parties(kernel)
  keep(code)
  attributes: dict[str, Any] = {lifetime.ATTRIBUTE: code.name}
  if kernel.mesh:
    attributes[lifetime.TITLE] = title or kernel.name
  if world is not None:
    _launcher().in_world(world)
    call_numbers.watch()
    attributes[lifetime.WORLD] = call_numbers.attribute(world.domain, len(program.keepalives), parties)
  elif kernel.mesh and (only_gangs or parties):
    attributes[lifetime.WORLD] = np.array([0, 0, only_gangs, *parties], np.int64)
  return call(kernel, lifetime.TARGET, operands, packed, attributes=attributes)

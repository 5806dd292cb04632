"""The NVIDIA target: a kernel in the tile IR becomes PTX, launched by XLA on its own stream without any Python.

`run(native_kernel, *operands)` compiles (once per kernel) and calls it. `compile_ptx` needs no GPU.

    tile IR kernel (grid, block mappings, body)      hand-written kernel (copies, barriers, wgmma, roles)
            │ simplify                                        │ async_copies … roles: copies, products and roles are ops (`ir`)
            │ blocks, grid, pipeline, split, occupancy        │ grid
            │ layouts, fuse, memory, stage                    │ layouts, memory
            ▼                                                 ▼
    passes.lowering: one function for each, from a `GpuKernel` to a `GpuKernel`, and a verifier behind each
            │
            ▼
    emit    whole_kernel writes LLVM: points of a grid, a pipeline, or warpgroups by hand
            code, statements, ops, dot, pipeline, by_hand; units are the instructions
            │ emit.ptx
            ▼
    PTX     host: assembled by the driver, kept on disk, launched by a handler of XLA's FFI

Folders:

    arch      descriptions of the architectures, as data
    ir        the GPU level: its ops, a verifier, and which products are in flight
    passes    decisions, before code is emitted
    emit      LLVM
    host      the launcher, the driver, devices of several architectures, lifetime of code
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright import errors
from tilewright.runtime import dump, garbage, progress, ptxas
from tilewright.target.llvm.calling import call, keep, program
from tilewright.target.llvm.prepared import kernel_text
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.host import peer_memory
from tilewright.target.nvgpu.host.compiled import compile_kernel, profiled
from tilewright.target.nvgpu.host.profile import Recording, deliver
from tilewright.tile import split_sums
from tilewright.tile.native import NativeKernel
from tilewright.tile.pipeline import Pipeline
from tilewright.tile.remote_arrays import number_of_devices

# What generates code is imported where that is done: a process that finds all its code on disk generates none.
if TYPE_CHECKING:
  from tilewright.target.nvgpu.emit.kernel_function import Launch

_INSTANCES = 128  # that run at the same time where a sequential grid is split: about as many as there are SMs


def in_parts(
  kernel: NativeKernel, cluster: tuple[int, ...] | None = None, pipeline: Pipeline | None = None
) -> split_sums.SplitSums | None:
  """The two kernels that a sum along a sequential grid becomes; None for other kernels, and where a user says how it is to be compiled."""
  return None if cluster is not None or pipeline is not None else split_sums.split(kernel, _INSTANCES)


def compile_ptx(
  kernel: NativeKernel,
  arch: str | Arch,
  num_warps: int | None = None,
  cluster: tuple[int, ...] | None = None,
  pipeline: Pipeline | None = None,
  profile: int | None = None,
) -> tuple[str, Launch]:
  """The PTX of a kernel for an architecture, and how to launch it; `profile` as in `emit_kernel`."""
  from tilewright.target.nvgpu.emit.ptx import to_ptx
  from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel, layouts_text
  from tilewright.target.nvgpu.passes import lowering

  machine = architectures.named(arch) if isinstance(arch, str) else arch
  tile, passes = "", {}
  if dump.directory() is not None:  # making code changes the body
    tile = kernel_text(kernel)
    passes = lowering.stages(kernel, machine, lowering.Wishes(num_warps, cluster, pipeline))
  with garbage.postponed():
    text, launch = emit_kernel(kernel, machine, num_warps, cluster, pipeline, profile)
  ptx = to_ptx(text, machine)
  launch = launch.without_silent_log(ptx)
  stages = dump.Dump(kernel.name, text)
  stages.stage("tile.txt", lambda: tile)
  for name, own in passes.items():
    stages.stage(f"gpu-{name}.txt", lambda own=own: own)  # type: ignore[misc]
  stages.stage("layouts.txt", lambda: "" if launch.lowered is None else layouts_text(launch.lowered))
  stages.stage("llvm.ll", lambda: text)
  stages.stage("ptx", lambda: ptx)
  stages.stage("plan.txt", lambda: f"{launch.plan}\n")
  if stages.folder is not None and (tool := ptxas.find()):
    stages.stage("resources.txt", lambda: f"{ptxas.resources(ptx, machine.name, tool)}\n{launch}\n")
  return ptx, launch


def run(kernel: NativeKernel, *operands: Any, **options: Any) -> list[Any]:
  """Call a kernel on its dynamic bounds, prefetched scalars and inputs; returns its outputs. The options are those of `_run`.

  A sum along a sequential grid becomes two kernels (`tile.split_sums`)."""
  said = {name: options.pop(name, None) for name in ("cluster", "pipeline", "recording")}
  found = None if said["recording"] is not None else in_parts(kernel, said["cluster"], said["pipeline"])
  if found is None:
    return _run(kernel, *operands, **options, **said)
  partial = _run(found.parts, *operands, **options)
  return _run(found.finish, *operands, *found.totals(partial), **options)


def _run(
  kernel: NativeKernel,
  *operands: Any,
  num_warps: int | None = None,
  cluster: tuple[int, ...] | None = None,
  pipeline: Pipeline | None = None,
  writes_all: bool = False,
  recording: Recording | None = None,
) -> list[Any]:
  """Call one kernel. `writes_all`: see `nvgpu.CompilerParams`; `recording` asks for a profile of each call."""
  with progress.announced(f"compiling the kernel {kernel.name!r} for the GPU"):
    space = None if recording is None else recording.space
    code = compile_kernel(kernel, num_warps, cluster, writes_all, pipeline, space)
  attributes: dict[str, Any] = {}
  if kernel.mesh:
    found = program()
    heap, number = peer_memory.heap_of(found, code.symmetric_bytes), len(getattr(found, "keepalives", ()))
    _check_mesh(kernel, len(heap.domain))
    attributes[peer_memory.ATTRIBUTE] = np.array([heap.number, number], np.int64)
  keep(code)
  packed = [False] * len(kernel.mapping.block_mappings)
  given = call(
    kernel,
    code.name,
    operands,
    packed,
    code.workspace_bytes,
    code.poisoned,
    fenced=True,
    attributes=attributes,
    returns_scratch=recording is not None,
  )
  if recording is None:
    return given
  *outputs, workspace = given
  deliver(recording, profiled(code.name), kernel.name, workspace)
  return outputs


def _check_mesh(kernel: NativeKernel, devices: int) -> None:
  if number_of_devices(kernel) != devices:
    raise errors.GridError(
      f"The kernel '{kernel.name}' accesses other devices, and sees {number_of_devices(kernel)} of the {devices} that run the program. Let "
      "jax.shard_map be manual along all axes of the mesh (axis_names), and run the program on the devices of that mesh."
    )

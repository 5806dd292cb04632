"""Reports of the code generated for a function's kernels on NVIDIA GPUs, on any machine.

    for r in nvgpu.report(softmax, jax.ShapeDtypeStruct((1024, 8192), jnp.bfloat16), archs=["sm_80", "sm_90a"]):
      print(r.kernel, r.arch, r.resources.registers, r.shared_bytes)

The function is traced as if for a GPU and is not executed. Registers and spills are reported by ptxas, where it is installed.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax

from tilewright import errors
from tilewright.runtime import ptxas
from tilewright.runtime.ptxas import Resources
from tilewright.tile.grid import Kernel
from tilewright.tile.native import NativeKernel, copied_kernel

# Code generation is imported by the functions below, when it is needed: the parameters beside this module are part of every program.


@dataclasses.dataclass(frozen=True)
class Report:
  """One kernel for one architecture: its launch configuration, resource usage, and code at each stage."""

  kernel: str
  arch: str
  num_threads: int  # per CTA
  num_blocks: int | None  # None where a grid is dynamic
  shared_bytes: int  # per CTA
  scratch_bytes: int  # per CTA, in global memory
  tensor_columns: int  # of tensor memory per CTA: 128 cells of 32 bits each
  resources: Resources | None  # None where ptxas was not run or is not installed
  tile: str
  llvm: str
  ptx: str
  gpu: str = ""  # the kernel at the GPU level: all that was decided before code was written
  gpu_passes: str = ""  # the same after each pass on the way there that changed something
  plan: str = ""  # what was decided: roles, stages, engines, products


def report(
  function: Callable[..., Any], *args: Any, archs: str | Iterable[str] | None = None, assemble: bool = True
) -> list[Report]:
  """What each kernel that `function(*args)` calls becomes on each architecture, or on the one that is named; left out, on all of them.

  Types (`jax.ShapeDtypeStruct`) do for arrays. Kernels that are the same are reported once. `assemble` says whether ptxas is
  asked for registers and spills, where there is one.
  """
  from tilewright.target.nvgpu.arch import ARCHS, named

  machines = [named(arch) for arch in (ARCHS if archs is None else [archs] if isinstance(archs, str) else archs)]
  found = list(native_kernels(function, *args))
  if not found:
    own = function.func if isinstance(function, functools.partial) else function
    raise errors.KernelTypeError(
      f"report: expected a function that calls kernels, but {getattr(own, '__name__', own)!r} calls none of them."
    )
  reports = [
    _report(*own, machine, assemble) for pair in found for machine in machines for own in _forms(*pair, machine.name)
  ]
  return list({(r.kernel, r.arch, r.ptx): r for r in reports}.values())


def _forms(kernel: Kernel, native: NativeKernel, arch: str) -> list[tuple[Kernel, NativeKernel]]:
  """The kernels that compute a kernel on an architecture: itself, or those written for that."""
  if kernel.on_hopper is None or arch != "sm_90a":
    return _in_parts(kernel, native)
  operands = [jax.ShapeDtypeStruct(m.array_aval.shape, m.array_aval.dtype) for m in kernel.grid_mapping.input_mappings]
  return list(native_kernels(kernel.on_hopper, *operands))


def _in_parts(kernel: Kernel, native: NativeKernel) -> list[tuple[Kernel, NativeKernel]]:
  """A kernel, or the two that a sum along a sequential grid becomes."""
  from tilewright.target import nvgpu

  found = nvgpu.in_parts(native, *(getattr(kernel.compiler_params, name, None) for name in ("cluster", "pipeline")))
  if found is None:
    return [(kernel, native)]
  return [(kernel.replace(name=own.name), own) for own in (found.parts, found.finish)]


def native_kernels(
  function: Callable[..., Any], *args: Any, for_gpu: bool = True
) -> Iterator[tuple[Kernel, NativeKernel]]:
  """The kernels that a function calls on a GPU, or on the CPU, and what code is made of: the tile IR, simplified."""
  from tilewright.pallas.lowering import device_axes, lower_kernel
  from tilewright.tile.standard_passes import clean

  with jax.default_device("gpu" if for_gpu else "cpu"):  # only tracing happens under it
    traced = jax.make_jaxpr(function)(*args)
  for kernel in _kernels(traced.jaxpr):
    yield kernel, clean(lower_kernel(kernel, device_axes(kernel.jaxpr), for_gpu=for_gpu))


def _kernels(jaxpr: Any) -> Iterator[Kernel]:
  from tilewright.target.xla.evaluate import subjaxprs

  for eqn in jaxpr.eqns:
    if eqn.primitive.name == "pallas_call":
      yield Kernel(**eqn.params)
    else:
      for inner in subjaxprs(eqn):
        yield from _kernels(inner)


def _report(kernel: Kernel, native: NativeKernel, machine: Any, assemble: bool) -> Report:
  from tilewright.target.nvgpu.emit.ptx import to_ptx
  from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel
  from tilewright.target.nvgpu.passes import lowering

  wishes = [getattr(kernel.compiler_params, name, None) for name in ("num_warps", "cluster", "pipeline")]
  native = copied_kernel(native)  # making code for one architecture changes it
  tile = "\n".join(str(f) for f in (*native.index_maps, native.body) if f is not None)
  passes = lowering.stages(native, machine, lowering.Wishes(*wishes))
  text, launch = emit_kernel(native, machine, *wishes)
  ptx = to_ptx(text, machine)
  tool = ptxas.find() if assemble else None
  return Report(
    kernel.name,
    machine.name,
    launch.num_threads,
    launch.num_blocks,
    launch.shared_bytes,
    launch.scratch_bytes,
    tensor_columns(ptx),
    ptxas.resources(ptx, machine.name, tool) if tool else None,
    tile,
    text,
    ptx,
    "" if launch.lowered is None else launch.lowered.text(),
    "\n".join(f"// after {name}\n{own}" for name, own in passes.items()),
    str(launch.plan),
  )


def tensor_columns(ptx: str) -> int:
  """The columns of tensor memory that a kernel in PTX allocates, as in `tcgen05.alloc.…b32 [address], 128;`."""
  return sum(int(count) for count in re.findall(r"tcgen05\.alloc\S*\s+\[[^\]]*\],\s*(\d+)\s*;", ptx))

"""Target selection: decides whether a kernel runs as native code, on the simulator, or through the portable lowering."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import cores, effects, semaphore_operands, semaphores
from tilewright.pallas.cpu import CompilerParams as CpuParams
from tilewright.pallas.foreign import own_interpret
from tilewright.pallas.nvgpu import CompilerParams as NvgpuParams
from tilewright.runtime import _jax, cuda
from tilewright.target import xla
from tilewright.tile.grid import Kernel
from tilewright.tile.native import NativeKernel

forced_interpret = _jax.config.string_or_object_state(
  name="jax_tilewright_interpret",
  default=None,
  help="If set, every kernel traced runs with this value of `interpret`. Set by force_tpu_interpret_mode.",
  validator=lambda value: None,
  include_in_jit_key=True,
  include_in_trace_context=True,
)


def effective_interpret(interpret: Any) -> Any:
  """The effective `interpret` argument: an enclosing `force_tpu_interpret_mode` overrides a call's own."""
  forced = forced_interpret.value
  return own_interpret(interpret if forced is None else forced)


def own_errors() -> contextlib.AbstractContextManager[None]:
  """A context in which the error that stops a simulated kernel is raised unwrapped, if the program runs in it."""
  from tilewright.target import simulator

  return simulator.own_errors()


class ForcedInterpretation:
  """A context manager: kernels traced inside it run with `interpret=params` (None changes nothing), and the error that stops a kernel run
  inside it is raised unwrapped."""

  def __init__(self, params: Any):
    self._params = params
    self._stack = contextlib.ExitStack()

  def __enter__(self) -> None:
    with contextlib.ExitStack() as stack:
      stack.enter_context(own_errors())
      stack.enter_context(forced_interpret(self._params))
      self._stack = stack.pop_all()

  def __exit__(self, *exc: Any) -> bool | None:
    return self._stack.__exit__(*exc)


# Target-specific parameters: a kernel that has them compiles to native code of that platform, or is an error.
_REQUESTED_TARGETS: dict[type, tuple[str, str]] = {CpuParams: ("cpu", "cpu"), NvgpuParams: ("cuda", "nvgpu")}


def native_platform(kernel: Kernel, platforms: Sequence[str], *, for_export: bool) -> str | None:
  """The platform for which a kernel compiles to native code in a program for these platforms; None if it does not.

  `interpret` decides first: anything but False selects the portable lowering or the simulator. Then the platform: native code is generated
  for the device that it will run on. A program that is exported, or lowered for several platforms at once or for GPUs that this machine
  does not have, contains the portable lowering, which has the same semantics everywhere.
  """
  if kernel.interpret or for_export:
    return None
  requested, package = _REQUESTED_TARGETS.get(type(kernel.compiler_params), (None, ""))
  if requested is not None:
    if tuple(platforms) != (requested,):
      raise errors.NativeCodeError(
        f"The kernel '{kernel.name}' requests native {_NAMES[requested]} code (compiler_params={package}.CompilerParams()) but is compiled "
        f"for {', '.join(platforms)}. Leave compiler_params out, or run it on the {_NAMES[requested]}."
      )
    return requested
  is_known = len(platforms) == 1 and platforms[0] in NATIVE and (platforms[0] != "cuda" or cuda.is_here())
  return platforms[0] if is_known else None


def is_for_hopper(platform: str) -> bool:
  """Whether native code of a platform runs on Hopper GPUs only."""
  return platform == "cuda" and set(cuda.capabilities()) == {(9, 0)}


def run_native(platform: str, kernel: Kernel, *operands: Any) -> list[Any]:
  """Run a kernel as native code of a platform."""
  from tilewright.pallas.lowering import device_axes, keys, lower_kernel

  if kernel.on_hopper is not None and is_for_hopper(platform):
    return list(jax.tree.leaves(kernel.on_hopper(*operands)))
  mesh: dict[Any, int] = {}
  if any(isinstance(e, effects.CommsEffect) for e in kernel.jaxpr.effects):
    mesh = semaphores.device_axes()
  operands, given = tuple(semaphore_operands.counts_of(operands)), kernel
  kernel = semaphore_operands.on_counts(kernel, math.prod(mesh.values()))
  axes = [*mesh, *(axis for axis in device_axes(kernel.jaxpr) if axis not in mesh)]
  positions = [jnp.asarray(lax.axis_index(axis), jnp.int32) for axis in axes]
  native = lower_kernel(kernel, axes, mesh, for_gpu=platform == "cuda")
  results = keys.wrapped(kernel, NATIVE[platform](kernel, native, *keys.unwrapped(operands), *positions))
  return semaphore_operands.with_semaphores(given, results)


def _run_cpu(kernel: Kernel, native: NativeKernel, *operands: Any) -> list[Any]:
  from tilewright.target import cpu

  said = {
    name: getattr(kernel.compiler_params, name)
    for name in ("title", "only_gangs", "parties")
    if hasattr(kernel.compiler_params, name)
  }
  return cpu.run(native, *operands, **said)


def _run_cuda(kernel: Kernel, native: NativeKernel, *operands: Any) -> list[Any]:
  from tilewright.target import nvgpu
  from tilewright.target.nvgpu.host import profile

  wishes = {name: getattr(kernel.compiler_params, name, None) for name in ("num_warps", "cluster", "pipeline")}
  recording = profile.wanted()
  if folder := getattr(kernel.compiler_params, "profile_dir", ""):
    recording = profile.into_folder(folder, kernel.compiler_params.profile_space)
  writes_all = getattr(kernel.compiler_params, "writes_all", False)
  return nvgpu.run(native, *operands, **wishes, writes_all=writes_all, recording=recording)


NATIVE: dict[str, Callable[..., list[Any]]] = {"cpu": _run_cpu, "cuda": _run_cuda}
_NAMES = {"cpu": "CPU", "cuda": "GPU"}


def run(kernel: Kernel, *operands: Any) -> list[Any]:
  """Run a kernel according to its `interpret`; see `_run_portably`."""
  return semaphore_operands.with_semaphores(kernel, _run_portably(kernel, *semaphore_operands.counts_of(operands)))


def _run_portably(kernel: Kernel, *operands: Any) -> list[Any]:
  """Run a kernel on the simulator or through the portable lowering, according to its `interpret`.

  The portable lowering runs instances sequentially, so instances that wait for each other or share memory run on the simulator:
  warpgroups, warps that wait, and cores or CTAs that signal each other or have collective allocations.
  """
  is_plain = isinstance(kernel.interpret, bool | None)
  together = (
    kernel.warpgroups > 1
    or cores.run_together(kernel)
    or cores.allocate_together(kernel)
    or cores.has_warps_side_by_side(kernel)
  )
  if is_plain and not together:
    return xla.run(kernel, *operands)
  from tilewright.pallas import simulated  # noqa: F401  registers the rules
  from tilewright.target import simulator

  if is_plain:
    kernel = kernel.replace(interpret=simulator.Options())
  if not isinstance(kernel.interpret, simulator.Options):
    raise errors.KernelTypeError(
      f"interpret: expected False, True or pltpu.InterpretParams(...), got {kernel.interpret!r} for kernel '{kernel.name}'."
    )
  communicates = any(isinstance(e, effects.CommsEffect) for e in kernel.jaxpr.effects)
  return simulator.run(kernel, *operands, communicates=communicates)

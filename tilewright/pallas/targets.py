"""Which target runs a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import effects
from tilewright.pallas.cpu import CompilerParams as CpuParams
from tilewright.pallas.nvgpu import CompilerParams as NvgpuParams
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.tile.grid import Kernel

forced_interpret = _jax.config.string_or_object_state(
  name="jax_tilewright_interpret",
  default=None,
  help="If set, every kernel traced runs with this value of `interpret`. Set by force_tpu_interpret_mode.",
  validator=lambda value: None,
  include_in_jit_key=True,
  include_in_trace_context=True,
)


def effective_interpret(interpret: Any) -> Any:
  """The `interpret` argument in force: a surrounding `force_tpu_interpret_mode` wins over a call's own."""
  forced = forced_interpret.value
  return interpret if forced is None else forced


def is_native(kernel: Kernel, platforms: Sequence[str], *, for_export: bool) -> bool:
  """Whether the kernel is to become native code when a program is compiled for these platforms.

  `interpret` decides first: anything but False is the portable lowering or the simulator. Then the platform: native code is made for the
  CPU that it will run on. A program that is exported, or lowered for several platforms at once, holds the portable lowering, which means
  the same everywhere.
  """
  if kernel.interpret or for_export:
    return False
  if isinstance(kernel.compiler_params, CpuParams) and tuple(platforms) != ("cpu",):
    raise errors.NativeCodeError(
      f"The kernel '{kernel.name}' asks for native CPU code (compiler_params=cpu.CompilerParams()) but is compiled for "
      f"{', '.join(platforms)}. Leave compiler_params out, or run it on the CPU."
    )
  return tuple(platforms) == ("cpu",) and not isinstance(kernel.compiler_params, NvgpuParams)


def run_native(kernel: Kernel, *operands: Any) -> list[Any]:
  """Run a kernel as native code of the CPU."""
  from tilewright.pallas.lowering import device_axes, keys, lower_kernel
  from tilewright.target import cpu

  axes = device_axes(kernel.jaxpr)
  positions = [jnp.asarray(lax.axis_index(axis), jnp.int32) for axis in axes]
  return keys.wrapped(kernel, cpu.run(lower_kernel(kernel, axes), *keys.unwrapped(operands), *positions))


def is_native_gpu(kernel: Kernel) -> bool:
  """Whether the kernel is to become native code for an NVIDIA GPU."""
  return not kernel.interpret and isinstance(kernel.compiler_params, NvgpuParams)


def run(kernel: Kernel, *operands: Any) -> list[Any]:
  """Run a kernel on the GPU, on the simulator or through the portable lowering, as its parameters and `interpret` say."""
  if is_native_gpu(kernel):
    from tilewright.pallas.lowering import lower_kernel
    from tilewright.target import nvgpu
    from tilewright.target.cpu import clean

    return nvgpu.run(clean(lower_kernel(kernel)), *operands, num_warps=kernel.compiler_params.num_warps)
  if isinstance(kernel.interpret, bool) or kernel.interpret is None:
    return xla.run(kernel, *operands)
  from tilewright.pallas import simulated  # noqa: F401  registers the rules
  from tilewright.target import simulator

  if not isinstance(kernel.interpret, simulator.Options):
    raise errors.KernelTypeError(
      f"interpret: expected False, True or pltpu.InterpretParams(...), got {kernel.interpret!r} for kernel '{kernel.name}'."
    )
  communicates = any(isinstance(e, effects.CommsEffect) for e in kernel.jaxpr.effects)
  return simulator.run(kernel, *operands, communicates=communicates)

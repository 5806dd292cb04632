"""Which target runs a kernel."""

from __future__ import annotations

from typing import Any

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


def is_native(kernel: Kernel) -> bool:
  """Whether the kernel is to become native code for the CPU."""
  return not kernel.interpret and isinstance(kernel.compiler_params, CpuParams)


def is_native_gpu(kernel: Kernel) -> bool:
  """Whether the kernel is to become native code for an NVIDIA GPU."""
  return not kernel.interpret and isinstance(kernel.compiler_params, NvgpuParams)


def run(kernel: Kernel, *operands: Any) -> list[Any]:
  """Run a kernel on its target.

  `interpret` decides first: True for the portable lowering, parameters for the simulator. Then the compiler parameters: those of the CPU
  target ask for native code. Everything else takes the portable lowering.
  """
  if is_native(kernel):
    from tilewright.pallas.lowering import lower_kernel
    from tilewright.target import cpu

    return cpu.run(lower_kernel(kernel), *operands)
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

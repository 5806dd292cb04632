"""Running kernels on the simulated machine instead of a GPU: `interpret=plgpu.InterpretGPUParams(...)`.

with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams(detect_races=True)):
  y = my_kernel(x)
for race in plgpu.interpret_races():
  print(race)

It is the machine of `pltpu.InterpretParams`, with the names that programs for GPUs have for it.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from tilewright import errors
from tilewright.pallas import targets
from tilewright.pallas.tpu.interpret import interpret_error, interpret_races
from tilewright.target import simulator


@dataclasses.dataclass(frozen=True, kw_only=True)
class InterpretGPUParams(simulator.Options):
  """What the simulated machine is like, and what it should look for: see `pltpu.InterpretParams`.

  It has no limits of hardware: a block may have any number of warpgroups (`num_threads`).

  Attributes:
    num_tma_threads_per_device: accepted for programs that set it: copies are done when their calls return.
    inline_mgpu: what calling a function of `plgpu.inline_mgpu` does, whose operations only Mosaic's compiler knows: "error", or "ignore",
      which leaves it out and gives uninitialised values.
  """

  num_tma_threads_per_device: int = 5
  inline_mgpu: Literal["error", "ignore"] = "error"

  def __post_init__(self) -> None:
    super().__post_init__()
    if self.inline_mgpu not in ("error", "ignore"):
      raise errors.KernelTypeError(
        f"InterpretGPUParams: inline_mgpu: expected 'error' or 'ignore', got {self.inline_mgpu!r}."
      )
    if self.num_tma_threads_per_device < 1:
      raise errors.KernelTypeError(
        f"InterpretGPUParams: num_tma_threads_per_device: expected 1 or more, got {self.num_tma_threads_per_device}."
      )


class force_gpu_interpret_mode(targets.ForcedInterpretation):
  """A context manager: kernels traced inside of it run with `interpret=params` (None changes nothing)."""

  def __init__(self, params: InterpretGPUParams | None = InterpretGPUParams()):
    super().__init__(params)


def set_gpu_interpret_mode(params: InterpretGPUParams | None = InterpretGPUParams()) -> None:
  """Let every kernel traced from now on run with `interpret=params`; None ends that."""
  targets.forced_interpret.set_global(params)


def reset_gpu_interpret_mode_state() -> None:
  """Forget what the simulated machine keeps between kernels: semaphores that outlive calls, races found, failures."""
  simulator.reset()


__all__ = [
  "InterpretGPUParams",
  "force_gpu_interpret_mode",
  "interpret_error",
  "interpret_races",
  "reset_gpu_interpret_mode_state",
  "set_gpu_interpret_mode",
]

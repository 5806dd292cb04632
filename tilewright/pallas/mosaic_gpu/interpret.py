"""Running kernels on the simulated machine instead of a GPU: `interpret=plgpu.InterpretGPUParams(...)`.

    with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams(detect_races=True)):
      y = my_kernel(x)

It is the machine of `pltpu.InterpretParams`, with the names that programs for GPUs have for it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tilewright.pallas import targets
from tilewright.target import simulator


@dataclasses.dataclass(frozen=True, kw_only=True)
class InterpretGPUParams(simulator.Options):
  """What the simulated machine is like, and what it should look for: see `pltpu.InterpretParams`.

  `num_tma_threads_per_device` and `inline_mgpu` mean nothing: copies are done at once, and there is no assembly of Mosaic's.
  """

  num_tma_threads_per_device: int = 5
  inline_mgpu: str = "error"


class force_gpu_interpret_mode:
  """A context manager: kernels traced inside of it run with `interpret=params` (None changes nothing)."""

  def __init__(self, params: InterpretGPUParams | None = InterpretGPUParams()):  # noqa: B008  frozen
    self._context = targets.forced_interpret(params)

  def __enter__(self) -> None:
    self._context.__enter__()

  def __exit__(self, *exc: Any) -> None:
    self._context.__exit__(*exc)


def set_gpu_interpret_mode(params: InterpretGPUParams | None = InterpretGPUParams()) -> None:  # noqa: B008  frozen
  """Let every kernel traced from now on run with `interpret=params`; None ends that."""
  targets.forced_interpret.set_global(params)

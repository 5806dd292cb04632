"""Which target the kernels of this package run on: native code on the CPU and on NVIDIA GPUs, the portable lowering elsewhere."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from tilewright.pallas import cpu, nvgpu
from tilewright.runtime import pretend


@dataclasses.dataclass(frozen=True)
class Execution:
  """How a kernel is run; static under `jit` and in the rules of derivatives."""

  target: str  # "cpu", "gpu" or "portable"

  @property
  def native(self) -> bool:
    return self.target != "portable"

  def options(self, *semantics: str, num_warps: int | None = None) -> dict[str, Any]:
    """Arguments for `pallas_call`; `semantics` names the grid dimensions as parallel or arbitrary."""
    if self.target == "cpu":
      return {"compiler_params": cpu.CompilerParams(dimension_semantics=semantics or None)}
    if self.target == "gpu":
      return {"compiler_params": nvgpu.CompilerParams(dimension_semantics=semantics or None, num_warps=num_warps)}
    return {"interpret": True}


_TARGETS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu"}  # by platform


def execution(interpret: bool | None) -> Execution:
  return Execution("portable" if interpret else _TARGETS.get(platform(), "portable"))


def platform() -> str:
  """Where a program that is traced now will run, unless its inputs say otherwise."""
  chosen = jax.config.jax_default_device
  if chosen is None:
    return pretend.real_backend()
  return chosen if isinstance(chosen, str) else chosen.platform

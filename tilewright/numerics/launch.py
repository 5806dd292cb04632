"""Which target the kernels of this package run on: native code where the program runs on the CPU, the portable lowering elsewhere."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from tilewright.pallas import cpu


@dataclasses.dataclass(frozen=True)
class How:
  """How a kernel is run; static under `jit` and in the rules of derivatives."""

  native: bool

  def options(self, *semantics: str) -> dict[str, Any]:
    """Arguments for `pallas_call`; `semantics` names the grid dimensions as parallel or arbitrary."""
    if self.native:
      return {"compiler_params": cpu.CompilerParams(dimension_semantics=semantics or None)}
    return {"interpret": True}


def how(interpret: bool | None) -> How:
  return How(not interpret and platform() == "cpu")


def platform() -> str:
  """Where a program that is traced now will run, unless its inputs say otherwise."""
  chosen = jax.config.jax_default_device
  if chosen is None:
    return jax.default_backend()
  return chosen if isinstance(chosen, str) else chosen.platform

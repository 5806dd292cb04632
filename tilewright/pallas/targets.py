"""Which target runs a kernel."""

from __future__ import annotations

from typing import Any

from tilewright.target import xla
from tilewright.tile.grid import Kernel

_forced_interpret: list[Any] = []


def effective_interpret(interpret: Any) -> Any:
  """The `interpret` argument in force: a surrounding `force_tpu_interpret_mode` wins over a call's own."""
  for forced in reversed(_forced_interpret):
    if forced is not None:
      return forced
  return interpret


def run(kernel: Kernel, *operands: Any) -> list[Any]:
  """Run a kernel on the target its `interpret` names: the simulator for parameters, else the portable lowering."""
  if kernel.interpret is not False and kernel.interpret is not True and kernel.interpret is not None:
    from tilewright.target import simulator

    return simulator.run(kernel, *operands)
  return xla.run(kernel, *operands)

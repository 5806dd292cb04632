"""The list of passes that pays most, or none: what passes cost and save is for the cost model of the platform to say.

    fastest{device=h100}
    fastest{lists=collective_pipeliner{direction=backward}+dce|all_reduce_code_motion+dce,device=h100}

Where collectives run beside computation, passes that move them across trips pay; where each is waited for, as on the CPU, the same passes
only add copies and slices. Each list runs on a copy of the module, whose time is that of the order that the scheduler's list gives it. The
list with the least time runs on the module if that saves at least `worth` of the time as it is, and if the copy fits into the memory of
the device or needs no more than before. Precondition and proof are those of the passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tilewright.hlo.cost import device as device_named
from tilewright.hlo.ir import Module
from tilewright.hlo.passes.base import HloPassError, Pass, PassLike, register_pass
from tilewright.hlo.passes.manager import run_passes
from tilewright.hlo.schedule.scheduler import schedule_module

# Fetches one trip ahead; stores one trip late besides; sums after loops; fewer and smaller collectives.
_USUAL = (
  "collective_pipeliner{direction=backward}+dce",
  "collective_pipeliner{direction=backward}+collective_pipeliner+dce",
  "all_reduce_code_motion+collective_pipeliner{direction=forward_sink}+dce",
  "reduce_scatter_creator+all_reduce_reassociate+combine_collectives+dce",
)
_OF_MEMORY = 0.76  # what schedules may use
_WITHOUT_OVERLAP = frozenset({"cpu"})  # devices whose collectives are waited for where they stand


@register_pass("fastest")
@dataclass(frozen=True)
class Fastest(Pass):
  """Runs that one of several lists of passes after which the cost model finds the module fastest; none if none pays."""

  lists: str | Sequence[str | Sequence[PassLike]] = _USUAL  # in text: | between lists, + between passes
  device: str = "h100"  # a name in the table, or a JSON file
  devices: int = 0  # 0: as many as the module was made for
  worth: float = 0.01

  def run(self, module: Module) -> bool:
    lists = [_passes(one) for one in (self.lists.split("|") if isinstance(self.lists, str) else self.lists)]
    if not any(lists):
      raise HloPassError("fastest: lists names no passes; write lists=a+b|c")
    before, peak = self._cost(module.clone())
    room = max(peak, _OF_MEMORY * device_named(self.device).memory)
    best, chosen = before * (1 - self.worth), None
    for passes in filter(None, lists):
      copy = module.clone()
      if not run_passes(copy, passes).changed:
        continue
      seconds, peak = self._cost(copy)
      if seconds < best and peak <= room:
        best, chosen = seconds, passes
    return chosen is not None and run_passes(module, chosen).changed

  def _cost(self, copy: Module) -> tuple[float, float]:
    """Predicted seconds and peak memory of a module, which is changed."""
    copy.is_scheduled = False
    if self.device not in _WITHOUT_OVERLAP and not any(i.opcode.endswith("-start") for i in copy.instructions()):
      run_passes(copy, ["async_collectives"])
    result = schedule_module(copy, device=self.device, devices=self.devices or None, budget=0)
    return result.seconds, result.peak


def _passes(one: str | Iterable[PassLike]) -> list[PassLike]:
  return [part.strip() for part in one.split("+") if part.strip()] if isinstance(one, str) else list(one)

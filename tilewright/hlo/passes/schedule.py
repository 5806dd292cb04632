"""The scheduler as a pass: `schedule{device=h100}`.

Precondition: every computation is a graph without cycles. Proof: an order that keeps data and control dependencies, the order
among side effects, and the order of reads and writes of every shared buffer as the module had it (`schedule/memory.py`), computes
the same values. `tilewright.hlo.schedule` holds the scheduler.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilewright.hlo.cost.model import CostModel
from tilewright.hlo.ir import Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.schedule.limits import Limits
from tilewright.hlo.schedule.rules import RULES, Rule
from tilewright.hlo.schedule.scheduler import Options, Schedule, schedule_module


@register_pass("schedule")
@dataclass(frozen=True)
class ScheduleInstructions(Pass):
  """Schedules instructions so that transfers overlap with computation."""

  device: str = "h100"  # a name in the table, or a JSON file
  devices: int = 0  # 0: as many as the module was made for
  memory_limit: float = 0.0  # bytes; 0: 76% of the device
  headroom: float = 0.0  # with no limit: this times what the module's own order needs; 0: off
  collectives: int = 1
  p2p: int = 4
  async_compute: int = 2
  copies: int = 2
  budget: int = 300_000
  worth: float = 0.002  # the least gain for which a legal order is changed; negative: the rules decide alone
  starts: str = ""  # asap: as soon as possible, alap: as late as possible
  rules: tuple[Rule, ...] = field(default=RULES, repr=False)
  model: CostModel | None = field(default=None, repr=False)  # instead of the device's roofline
  results: list[Schedule] = field(default_factory=list, repr=False, compare=False)  # what it did, latest last
  keep: int = 0  # how many results are kept

  def run(self, module: Module) -> bool:
    limits = Limits(collectives=self.collectives, p2p=self.p2p, async_compute=self.async_compute, copies=self.copies)
    options = Options(
      limits,
      self.rules,
      self.memory_limit or None,
      self.headroom or None,
      self.budget,
      worth=self.worth if self.worth >= 0 else None,
      starts=self.starts,
    )
    result = schedule_module(
      module, device=self.device, devices=self.devices or None, model=self.model, options=options
    )
    if self.keep:
      self.results.append(result)
      del self.results[: -self.keep]
    return result.apply()

"""A latency-hiding scheduler that reports the reason for each of its decisions.

from tilewright import hlo
from tilewright.hlo import schedule

result = schedule.schedule_module(module, device="h100", memory_limit=60e9)
print(result, result.explain("all-reduce-start.3"))
result.apply()
"""

from __future__ import annotations

from tilewright.hlo.schedule.annotations import Annotation, HloScheduleError, annotation
from tilewright.hlo.schedule.chart import chart
from tilewright.hlo.schedule.install import Installed, caveats, device_name, install
from tilewright.hlo.schedule.limits import KINDS, Limits, may_overlap
from tilewright.hlo.schedule.rules import RULES, Candidate, Rule, State, before, without
from tilewright.hlo.schedule.scheduler import ComputationSchedule, HloMemoryError, Options, Schedule, schedule_module
from tilewright.hlo.schedule.simulate import Simulation, simulate
from tilewright.hlo.schedule.timing import Outcome

__all__ = [
  "KINDS",
  "RULES",
  "Annotation",
  "Candidate",
  "ComputationSchedule",
  "HloMemoryError",
  "HloScheduleError",
  "Installed",
  "Limits",
  "Options",
  "Outcome",
  "Rule",
  "Schedule",
  "Simulation",
  "State",
  "annotation",
  "before",
  "caveats",
  "chart",
  "device_name",
  "install",
  "may_overlap",
  "schedule_module",
  "simulate",
  "without",
]

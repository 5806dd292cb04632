"""The scheduler installed through the hook, so that XLA runs our order.

    with schedule.install(headroom=1.1) as installed:
      step = jax.jit(train_step).lower(*arguments).compile()
    print(installed.schedules[-1])
    print(installed.caveats())

The hook's stage after scheduling is the one place where an order survives: on the CPU and on the GPU XLA executes the order it gets
back there. Some of it may still be undone later, which `caveats` reports:

  * GPU: a pair with nothing that takes time between start and done becomes one synchronous instruction; rematerialisation may
    add copies of instructions if XLA, which counts memory more exactly, runs out of it.
  * CPU: instructions that do not depend on each other may run at the same time, in any order; there are no pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tilewright.hlo.cost.model import CostModel
from tilewright.hlo.schedule.limits import Limits
from tilewright.hlo.schedule.problem import COMPUTE, START
from tilewright.hlo.schedule.rules import RULES, Rule
from tilewright.hlo.schedule.scheduler import Schedule

if TYPE_CHECKING:
  from tilewright.hlo.hook import Hook  # which imports the passes, and they us

_KEPT = 100


@dataclass(eq=False)
class Installed:
  """The installed scheduler. `schedules` holds its results for the latest modules."""

  hook: Hook
  schedules: list[Schedule]
  platform: str

  def uninstall(self) -> None:
    self.hook.uninstall()

  def __enter__(self) -> Installed:
    return self

  def __exit__(self, *exception: object) -> None:
    self.uninstall()

  def caveats(self) -> list[str]:
    """Parts of the schedule XLA may not execute as scheduled, for the latest module."""
    return caveats(self.schedules[-1], self.platform) if self.schedules else []


def install(
  *,
  device: str | None = None,
  memory_limit: float | None = None,
  headroom: float | None = None,
  limits: Limits | None = None,
  rules: Sequence[Rule] = RULES,
  model: CostModel | None = None,
  budget: int = 300_000,
  worth: float = 0.002,
  only: str | None = None,
  platforms: str | Sequence[str] | None = None,
) -> Installed:
  """Schedules every module that is compiled from now on. `device` is found from JAX's first device if it is not given."""
  import jax

  from tilewright.hlo.hook import install as install_passes
  from tilewright.hlo.passes.schedule import ScheduleInstructions

  first = jax.devices()[0]
  platform = "cpu" if first.platform == "cpu" else "gpu"
  name = device if device is not None else device_name(first)
  chosen = limits or Limits()
  step = ScheduleInstructions(
    device=name,
    memory_limit=memory_limit or 0.0,
    headroom=headroom or 0.0,
    collectives=chosen.collectives,
    p2p=chosen.p2p,
    async_compute=chosen.async_compute,
    copies=chosen.copies,
    budget=budget,
    worth=worth,
    rules=tuple(rules),
    model=model,
    keep=_KEPT,
  )
  # The results are no part of what the pass does; rules and models of the user's are code that has no name across processes.
  fingerprint = f"schedule:{step!r}" if tuple(rules) == RULES and model is None else None
  hook = install_passes(step, stage="post_scheduler", platforms=platforms, only=only, fingerprint=fingerprint)
  return Installed(hook, step.results, platform)


def device_name(device: Any) -> str:
  """The row of the device table for a JAX device."""
  from tilewright.hlo.cost.devices import DEVICES, HloDeviceError

  kind = str(device.device_kind).lower()
  for name in sorted(DEVICES, key=len, reverse=True):
    if name in kind.replace(" ", ""):
      return name
  if device.platform == "cpu":
    return "cpu"
  raise HloDeviceError(
    f"the device table has no row for {device.device_kind!r}; pass device= one of {', '.join(DEVICES)}, or a JSON file of your own"
  )


def caveats(schedule: Schedule, platform: str) -> list[str]:
  """Parts of this schedule that XLA may undo."""
  found: list[str] = []
  for result in schedule.computations.values():
    p, order = result.lowered.problem, result.order
    place = {v: i for i, v in enumerate(order)}
    for v in order:
      if p.role[v] != START or p.pair[v] < 0:
        continue
      between = order[place[v] + 1 : place[p.pair[v]]]
      if not any(p.role[u] == COMPUTE and p.cost[u] > 0 for u in between):
        found.append(f"%{p.names[v]}: nothing runs between its start and its done, so XLA makes it synchronous")
  if platform == "cpu":
    found.append("on the CPU, instructions that do not depend on each other may run at the same time, in any order")
  return found

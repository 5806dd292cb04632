"""Race detection with vector clocks.

Every core has an entry in each clock, and so has every copy in flight (copies share the entries that are left). Entry i of a
core's clock is the latest moment of agent i that this core knows to have passed: it learns of others by waiting on a semaphore,
which carries the clocks of all who signalled it. For each element of a buffer we keep the moment of its last write and of the
last read by each agent. An access is a race if it conflicts with one whose moment the accessing agent does not know to have
passed:

    core 0: write x (moment 0:1); signal s        core 1: wait s → knows 0:1; read x     ordered
    core 0: write x (moment 0:1)                  core 1: knows 0:0;          read x     race
"""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

import numpy as np

log = logging.getLogger("tilewright.simulator")


@dataclasses.dataclass(frozen=True)
class Site:
  """An access to memory: by which agent, of which kind, at which line."""

  agent: str
  action: str
  where: str

  def __str__(self) -> str:
    return f"{self.action} by {self.agent} at {self.where}"


@dataclasses.dataclass(frozen=True)
class Race:
  """Two accesses to one buffer that nothing orders; at least one of them writes."""

  kernel: str
  buffer: str
  elements: int
  first: Site
  second: Site

  def __str__(self) -> str:
    return (
      f"Race in kernel '{self.kernel}' on {self.elements} element(s) of {self.buffer}: {self.first}, and {self.second}. Nothing "
      "orders the two: let one wait on a semaphore that the other signals when it is done."
    )


@dataclasses.dataclass(frozen=True)
class Epoch:
  """When an access happens: whose entry and value it has, and what the agent knows of the others."""

  agent: int
  clock: np.ndarray

  @property
  def time(self) -> int:
    return int(self.clock[self.agent])


class History:
  """The last accesses to each element of one buffer."""

  def __init__(self, size: int):
    self.size = size
    self.write_agent = np.zeros(size, np.int32)
    self.write_time = np.zeros(size, np.int64)
    self.read_times: dict[int, np.ndarray] = {}  # for each agent that has read, when it did
    self.sites: dict[tuple[int, int, bool], Site] = {}

  def access(self, elements: Any, moment: Epoch, site: Site, *, writes: bool) -> list[tuple[Site, int]]:
    """Note an access to these elements; returns the earlier ones that it races with, and on how many of them."""
    found = self._unknown(self.write_agent[elements], self.write_time[elements], moment, writes=True)
    if writes:
      for agent, times in self.read_times.items():
        if agent != moment.agent:
          found += self._unknown(agent, times[elements], moment, writes=False)
      self.write_agent[elements] = moment.agent
      self.write_time[elements] = moment.time
    else:
      if moment.agent not in self.read_times:
        self.read_times[moment.agent] = np.zeros(self.size, np.int64)
      self.read_times[moment.agent][elements] = moment.time
    self.sites[moment.agent, moment.time, writes] = site
    return found

  def _unknown(self, agents: Any, times: np.ndarray, moment: Epoch, *, writes: bool) -> list[tuple[Site, int]]:
    """The accesses by these agents at these times that an agent at `moment` does not know to have passed."""
    unknown = times > moment.clock[agents]
    if not unknown.any():
      return []
    agents = np.broadcast_to(agents, times.shape)
    pairs, counts = np.unique(np.stack([agents[unknown], times[unknown]]), axis=1, return_counts=True)
    return [(self.sites[agent, time, writes], count) for (agent, time), count in zip(pairs.T.tolist(), counts.tolist())]


class Clocks:
  """The clocks of all agents of one kernel call on all its devices, and the races found."""

  def __init__(self, num_cores: int, size: int):
    self.num_cores = num_cores
    self.size = size
    self.cores = [np.zeros(size, np.int64) for _ in range(num_cores)]
    for core, clock in enumerate(self.cores):
      clock[core] = 1
    self.copy_times = np.zeros(size, np.int64)
    self.next_copy = num_cores

  def of_core(self, core: int) -> Epoch:
    return Epoch(core, self.cores[core])

  def tick(self, core: int) -> None:
    """Start a new moment: what this core does from now on is not known to who learns its clock now."""
    self.cores[core][core] += 1

  def merge_clock(self, core: int, clock: np.ndarray | None) -> None:
    if clock is not None:
      np.maximum(self.cores[core], clock, out=self.cores[core])

  def meet(self) -> None:
    """All cores have finished what they did: from now on each knows of it."""
    latest = np.maximum.reduce(self.cores)
    for core in range(self.num_cores):
      self.merge_clock(core, latest)
      self.tick(core)

  def start_copy(self, core: int) -> tuple[Epoch, Epoch]:
    """The moments at which a copy started by this core reads and writes."""
    agent = self.next_copy
    self.next_copy = self.num_cores + (agent + 1 - self.num_cores) % (self.size - self.num_cores)
    moments = []
    for _ in range(2):
      clock = self.cores[core].copy()
      self.copy_times[agent] += 1
      clock[agent] = self.copy_times[agent]
      moments.append(Epoch(agent, clock))
    self.tick(core)
    return moments[0], moments[1]


def report(races: list[Race], race: Race) -> None:
  """Keep a race and tell the user of it, once for each pair of lines."""
  if any(r.first == race.first and r.second == race.second and r.buffer == race.buffer for r in races):
    return
  races.append(race)
  log.warning("%s", race)


def joined(clock: np.ndarray | None, other: np.ndarray) -> Any:
  return other.copy() if clock is None else np.maximum(clock, other)

"""The rules of the list scheduler: a table of (name, condition, reason), applied in order.

At every step the list has some candidates. The first rule keeps those with the highest value of its condition (a bool or a number),
the next rule chooses among these, and so on until one is left. The rule that decided is the reason that timelines show. To change
the scheduler, change the table:

    mine = Rule("embedding first", lambda c, s: "embed" in c.name, "its gradient has the longest way to go")
    schedule_module(module, rules=[mine, *RULES])                     # add
    schedule_module(module, rules=without(RULES, "start delay"))      # drop
    schedule_module(module, rules=before(RULES, "critical path", mine))

A condition sees the candidate `c` (one instruction, and the effect of placing it now) and the state `s` of the list. The list
also runs from the end to the beginning, where starts and dones exchange roles; `backward` is the reason reported then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilewright.hlo.ir import Instruction
from tilewright.hlo.schedule.annotations import HloScheduleError


@dataclass(slots=True)
class Candidate:
  """An instruction that could come next."""

  node: int
  name: str
  instruction: Instruction | None  # None in problems constructed without a module
  is_start: bool
  is_done: bool
  seconds: float  # its time on the main stream
  stall: float  # how long the main stream would stall for it
  to_end: float  # the longest path from here to the end, in seconds
  memory: int  # bytes more (or less) once it has run
  excess: float  # bytes above the limit while it runs
  is_free: bool  # costs neither time nor memory
  in_open_group: bool
  can_wait: bool  # a start whose resource is busy longer than the next computation takes
  leaves_room: bool  # within the memory limit, the next computation fits beside it


@dataclass(slots=True)
class State:
  """The state of the list."""

  time: float = 0.0
  memory: int = 0
  memory_limit: float = float("inf")
  pressed: bool = False  # memory is scarce: above `Options.pressure` of the limit
  backward: bool = False


Condition = Callable[[Candidate, State], float]


@dataclass(frozen=True)
class Rule:
  """One row of the table."""

  name: str
  condition: Condition
  reason: str
  backward: str = ""

  def says(self, backward: bool) -> str:
    return self.backward if backward and self.backward else self.reason


RULES: tuple[Rule, ...] = (
  Rule("fits", lambda c, s: -c.excess, "what else was ready does not fit the memory limit"),
  Rule("together", lambda c, s: c.in_open_group, "its annotated group has begun, and groups stay together"),
  Rule("free", lambda c, s: c.is_free, "it costs neither time nor memory"),
  Rule(
    "frees memory",
    lambda c, s: -c.memory if s.pressed and (not c.leaves_room or (c.memory < 0 and c.stall <= 0)) else 0,
    "memory is scarce, and this leaves more of it",
  ),
  Rule(
    "done in time",
    lambda c, s: c.is_done and c.stall <= 0,
    "the transfer has ended by now: waiting for it costs nothing and frees its resource",
    "started here, the transfer ends just when it is waited for",
  ),
  Rule(
    "start early",
    lambda c, s: c.is_start and not c.can_wait,
    "its resource is free: from here on the transfer is hidden behind the computation that follows",
    "waited for as late as this, the transfer is hidden behind the computation before",
  ),
  Rule(
    "start delay",
    lambda c, s: not (c.is_start and c.can_wait),
    "the start that was ready as well would only queue: its resource is busy for longer than this takes",
  ),
  Rule("no stall", lambda c, s: -c.stall, "the main stream would have to wait for what else was ready"),
  Rule(
    "critical path",
    lambda c, s: c.to_end,
    "the longest chain of work to the end begins here",
    "the longest chain of work from the beginning ends here",
  ),
  Rule("less memory", lambda c, s: -c.memory, "it leaves more memory free than what else was ready"),
  Rule("original order", lambda c, s: -c.node, "nothing tells it apart from what else was ready: the order before"),
)  # fmt: skip
ONLY = Rule("only choice", lambda c, s: 0, "nothing else was ready")
SEARCH = Rule("search", lambda c, s: 0, "moved by the search, because the whole became faster or smaller")
KEPT = Rule("kept", lambda c, s: 0, "the order the module came with could not be improved here")
START_EARLIER = Rule(
  "start earlier", lambda c, s: 0, "moved up so that there is more computation to hide the transfer behind"
)
START_LATER = Rule(
  "start later",
  lambda c, s: 0,
  "moved down as far as what follows still hides the transfer: its buffers are held for less time",
)
DONE_LATER = Rule(
  "done later", lambda c, s: 0, "moved down so that there is more computation to hide the transfer behind"
)


def without(rules: Sequence[Rule], name: str) -> tuple[Rule, ...]:
  """The table without a rule."""
  _find(rules, name)
  return tuple(rule for rule in rules if rule.name != name)


def before(rules: Sequence[Rule], name: str, new: Rule) -> tuple[Rule, ...]:
  """The table with a rule in front of another one."""
  place = _find(rules, name)
  return (*rules[:place], new, *rules[place:])


def _find(rules: Sequence[Rule], name: str) -> int:
  for i, rule in enumerate(rules):
    if rule.name == name:
      return i
  raise HloScheduleError(f"there is no rule called {name!r}; there are: {', '.join(rule.name for rule in rules)}")

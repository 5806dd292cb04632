"""Notes what is known of loops where XLA's later passes look for it: trips, counter, and where the counter starts.

    backend_config={"known_trip_count":{"n":"10"},"known_init_step":{"init":"0","step":"1"},"known_induction_variable":{"tuple_index":"0"}}

The counter is found as in `while_loops.py`. Where the condition depends on a few numbers that start from constants otherwise, it is run to
count the trips (at most `max_trips`), and only those are noted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.while_loop_simplifier import count_trips
from tilewright.hlo.passes.while_loops import find_counter, loops_of


@register_pass("while_loop_trip_count_annotator")
@dataclass(frozen=True)
class WhileLoopTripCountAnnotator(Pass):
  """Notes known trip counts and counters on loops."""

  max_trips: int = 128  # that are run to count them, where there is no plain counter

  def run(self, module: Module) -> bool:
    changed = False
    for loop in loops_of(module):
      counter = find_counter(loop)
      facts: dict[str, Any] = {}
      trips = counter.trips if counter is not None else count_trips(loop, self.max_trips)
      if trips is not None:
        facts["known_trip_count"] = {"n": str(trips)}
      if counter is not None:
        facts["known_init_step"] = {"init": str(counter.start), "step": str(counter.step)}
        facts["known_induction_variable"] = {"tuple_index": str(counter.slot)}
      changed |= bool(facts) and _note(loop.instruction, facts)
    return changed


def _note(loop: Instruction, facts: dict[str, Any]) -> bool:
  before = loop.backend_config_json
  if before is None and loop.backend_config:
    return False  # it is not JSON: not ours to change
  after = {**(before or {}), **facts}
  if after == before:
    return False
  loop.backend_config = json.dumps(after, separators=(",", ":"))
  return True

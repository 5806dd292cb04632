"""Forced placement: instructions that their author wants early, late, or in their original order.

    frontend_attributes={_scheduling_force_delay="true"}     as late as its users allow
    frontend_attributes={_scheduling_force_early="true"}     as early as its operands allow (also `force_earliest_schedule` of the config)
    frontend_attributes={_scheduling_keep_order="true"}      in the original order among all instructions with this attribute

They become edges of the problem: everything that does not depend on a delayed instruction precedes it, everything that an early one
does not depend on follows it. List and search then have no choice. The names without the prefix, and with XLA's `_xla_`, mean the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from tilewright.hlo.ir import Instruction
from tilewright.hlo.schedule.grouping import grouped_order, renumber
from tilewright.hlo.schedule.problem import Problem

_PREFIXES = ("_scheduling_", "_xla_", "xla_", "")
_YES = frozenset({"true", "1", "True"})
DELAY = ("force_delay",)
EARLY = ("force_early", "force_earliest_schedule")
KEEP = ("keep_order", "keep_original_sequence_order_in_group", "keep_original_order")


def has_attribute(instruction: Instruction, names: Sequence[str]) -> bool:
  """Whether an attribute of one of these names is set."""
  if instruction.frontend_attributes:
    for name in names:
      if any(instruction.frontend_attributes.get(prefix + name) in _YES for prefix in _PREFIXES):
        return True
  if instruction.backend_config and any(name in instruction.backend_config for name in names):
    config = instruction.backend_config_json
    return isinstance(config, dict) and any(config.get(name) is True for name in names)
  return False


def add_forced(p: Problem, nodes: list[Instruction]) -> list[Instruction]:
  """Adds the edges to a problem that is numbered in the original order; returns the instructions in their new numbering."""
  edges = len(p._edges)
  kept = [v for v, instruction in enumerate(nodes) if has_attribute(instruction, KEEP)]
  for a, b in itertools.pairwise(kept):
    if a not in _reached(p.succs, b):
      p.add_edge(a, b)
  late = {v for v, instruction in enumerate(nodes) if has_attribute(instruction, DELAY)}
  for v in sorted(late, reverse=True):
    _push(p, v, late, p.succs, lambda u, v=v: p.add_edge(u, v))  # type: ignore[misc]
  early = {v for v, instruction in enumerate(nodes) if has_attribute(instruction, EARLY)} - late
  for v in sorted(early):
    _push(p, v, early | late, p.preds, lambda u, v=v: p.add_edge(v, u))  # type: ignore[misc]
  if len(p._edges) == edges:
    return nodes
  order = grouped_order(p)
  renumber(p, order)
  return [nodes[v] for v in order]


def _push(p: Problem, v: int, others: set[int], onward: Sequence[Sequence[int]], tie: Callable[[int], None]) -> None:
  """Ties `v` behind (or, mirrored, in front of) every independent node; only the ends of chains need an edge."""
  own = _reached(onward, v)
  outside = [u for u in range(p.size) if u not in own and u not in others]
  for u in outside:
    if all(w in own or w in others for w in onward[u]):
      tie(u)


def _reached(edges: Sequence[Sequence[int]], start: int) -> set[int]:
  found, work = {start}, [start]
  while work:
    for u in edges[work.pop()]:
      if u not in found:
        found.add(u)
        work.append(u)
  return found

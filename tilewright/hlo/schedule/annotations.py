"""Scheduling annotations: groups of instructions that the user wants scheduled together.

    with jax.experimental.xla_metadata.set_xla_metadata(_scheduling_group_id="3:1"): ...

The frontend attribute `_scheduling_group_id` holds `group` or `group:iteration`, either half of which may be missing.
Instructions with equal group and equal iteration form a group, which is kept contiguous: no instruction that takes time is placed
between its members, and its transfers overlap its computation. A done belongs to the group of its start. A group can
begin when all outside dependencies of its members have been placed, so a value that leaves a group and re-enters
it is an error; so is a group with more pairs of a kind than may be open at once, because the members of a group overlap by
definition. An iteration without a group is a note, not a group.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.errors import HloError
from tilewright.hlo.ir import Instruction

ATTRIBUTE = "_scheduling_group_id"


class HloScheduleError(HloError, ValueError):
  """A schedule that cannot exist: annotations, limits or memory that cannot be met together."""


@dataclass(frozen=True, slots=True, order=True)
class Annotation:
  group: int
  iteration: int = -1  # -1: none given

  def __str__(self) -> str:
    return f"{self.group}:{self.iteration}" if self.iteration >= 0 else str(self.group)


def annotation(instruction: Instruction) -> Annotation | None:
  """The group an instruction belongs to, if any."""
  text = instruction.frontend_attributes.get(ATTRIBUTE)
  if not text or text == "noop":
    return None
  group, _, iteration = text.strip().strip('"').partition(":")
  try:
    return Annotation(int(group), int(iteration) if iteration else -1) if group else None
  except ValueError:
    raise HloScheduleError(
      f'%{instruction.name}: {ATTRIBUTE}="{text}" is not `group`, `group:iteration` or `:iteration` in whole numbers'
    ) from None

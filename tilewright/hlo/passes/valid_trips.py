"""`_xla_send_recv_validation`: for each pair of a permute, the trips of its loop in which the pair's data is used, ends included.

    frontend_attributes={_xla_send_recv_validation={{0,7},{1,8}}}     the first pair in trips 0 to 7, the second in 1 to 8

Passes that change which trips an instruction runs in rewrite it (`after_peeling`, `every_second`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tilewright.hlo.ir import Instruction

VALIDATION = "_xla_send_recv_validation"
Trips = list[tuple[int, int]]
NEVER = (1, 0)


def read_trips(instruction: Instruction) -> Trips | None:
  """The trips of each pair; None without the attribute, or where it holds something else."""
  text = instruction.frontend_attributes.get(VALIDATION, "").replace(" ", "")
  if not re.fullmatch(r"\{\{\d+,\d+\}(,\{\d+,\d+\})*\}", text):
    return None
  return [(int(a), int(b)) for a, b in re.findall(r"\{(\d+),(\d+)\}", text)]


def write_trips(trips: Sequence[tuple[int, int]]) -> str:
  return "{" + ",".join(f"{{{a},{b}}}" for a, b in trips) + "}"


def of_trip(trips: Trips, number: int) -> Trips:
  """For a copy that runs as a loop's trip `number`, outside of it: trip 0 or never."""
  return [(0, 0) if a <= number <= b else NEVER for a, b in trips]


def every_second(trips: Trips, offset: int) -> Trips:
  """For a copy whose trip k is the trip 2k + offset of before."""
  found: Trips = []
  for a, b in trips:
    first, last = max(0, -((offset - a) // 2)), (b - offset) // 2
    found.append((first, last) if first <= last else NEVER)
  return found

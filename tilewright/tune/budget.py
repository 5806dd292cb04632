"""The budget of a search: seconds, trials, or both."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from tilewright import errors

_UNITS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0, "m": 60.0, "min": 60.0, "minutes": 60.0, "h": 3600.0}
_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Budget:
  """The search ends at whichever comes first; None is without limit."""

  seconds: float | None = 60.0
  trials: int | None = None

  @classmethod
  def of(cls, given: Any) -> Budget:
    """`"60s"`, `"5min"`, `"200 trials"`, `"60s 200 trials"`, a number of seconds, or a Budget."""
    if isinstance(given, Budget):
      return given
    if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
      return cls(float(given))
    if isinstance(given, str):
      seconds, trials, rest = None, None, given.replace(",", " ")
      while match := _TEXT.match(rest):
        number, unit = float(match[1]), match[2].lower()
        if unit in ("trial", "trials") and number >= 1:
          trials = int(number)
        elif (unit or "s") in _UNITS and number > 0:
          seconds = number * _UNITS[unit or "s"]
        else:
          break
        rest = rest[match.end() :]
      if not rest.strip() and (seconds or trials):
        return cls(seconds, trials)
    raise errors.TuningError(
      f"budget: expected a time as '60s' or '5min', a count as '200 trials', or both, got {given!r}."
    )

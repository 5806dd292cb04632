"""The error classes of HLO: text that does not parse, protos that do not decode, modules that are not legal."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from tilewright.errors import TilewrightError, TilewrightWarning


class HloError(TilewrightError):
  """Base of every error of `tilewright.hlo`."""


class HloParseError(HloError, ValueError):
  """HLO text that is not HLO. The message holds `line:column`, the line itself and a caret below the place."""

  def __init__(self, message: str, line: int = 0, column: int = 0, source_line: str = "") -> None:
    self.reason = message
    self.line = line
    self.column = column
    if not line:
      super().__init__(message)
      return
    # A line of HLO may be megabytes long (constants): show a window of it around the place.
    start = max(0, column - 1 - 80)
    shown = source_line[start : start + 160].replace("\t", " ")
    super().__init__(f"{line}:{column}: {message}\n  {shown}\n  {' ' * (column - 1 - start)}^")


class HloProtoError(HloError, ValueError):
  """Bytes that are not a serialised HloModuleProto, or objects that cannot be written as one."""


class HloShapeError(HloError, ValueError):
  """Operands and attributes that do not fit together, or a result shape that they do not give."""


class HloVerifyError(HloError, ValueError):
  """A module that breaks a rule of HLO. `problems` lists every broken rule, one sentence each."""

  def __init__(self, problems: list[str]) -> None:
    self.problems = problems
    shown = "\n".join(f"  - {problem}" for problem in problems[:20])
    more = f"\n  … and {len(problems) - 20} more" if len(problems) > 20 else ""
    super().__init__(f"the module breaks {len(problems)} rule(s) of HLO:\n{shown}{more}")


class HloGraphError(HloError, ValueError):
  """An edit that would break the graph: removing what is used, a cycle, a foreign operand."""


class HloNameError(HloError, KeyError):
  """A name that nothing in the module has. The message lists similar names."""

  def __init__(self, what: str, name: str, module: str, names: Iterable[str]) -> None:
    near = ", ".join(f"%{n}" for n in difflib.get_close_matches(name, list(names)))
    super().__init__(f"module {module} has no {what} %{name}" + (f"; did you mean one of {near}?" if near else ""))

  def __str__(self) -> str:  # a KeyError would show it in quotes
    return str(self.args[0])


class HloEvaluateError(HloError, RuntimeError):
  """An instruction that the evaluator cannot compute. The message names it, its computation, and what to do."""


class HloPassWarning(TilewrightWarning, RuntimeWarning):
  """An installed pass failed inside XLA's compilation. The module was compiled without it; the message names a reproducer."""

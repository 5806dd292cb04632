"""The line of the user's program that an error is about.

Messages about what happens inside a kernel name the line of its body (`pallas.trace_context`). The arguments of a call are checked
before the body is traced: such a message names the line of the call.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tilewright import errors
from tilewright.runtime import _jax

P = ParamSpec("P")
T = TypeVar("T")
_HAS_LINE = re.compile(r"\.py:\d+|<stdin>:\d+|<ipython-input|This is at ")
_DEFINITION = re.compile(r"in the pallas_call \S+ at \S+:\d+")  # where the body begins, which is not where it is called


def calling_line() -> str | None:
  """The file and line of the user's own code that is nearest on the stack."""
  frame = sys._getframe(1)
  while frame is not None:
    if _jax.is_user_file(frame.f_code.co_filename):
      return f"{frame.f_code.co_filename}:{frame.f_lineno}"
    frame = frame.f_back  # type: ignore[assignment]
  return None


def names_line(f: Callable[P, T]) -> Callable[P, T]:
  """The same function, whose errors name the user's line."""

  @functools.wraps(f)
  def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
    try:
      return f(*args, **kwargs)
    except errors.TilewrightError as e:
      text = e.args[0] if len(e.args) == 1 else None
      if (
        isinstance(text, str)
        and not _HAS_LINE.search(_DEFINITION.sub("", text))
        and (line := calling_line()) is not None
      ):
        where = "The call is at" if _DEFINITION.search(text) else "This is at"
        e.args = (f"{text.rstrip()}{'' if text.rstrip().endswith(('.', '?', '!')) else '.'} {where} {line}.",)
      raise

  return wrapper

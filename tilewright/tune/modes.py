"""What a tuned function does when it is called: search, look into the tables, or neither.

    with tilewright.tuning("search"): step(x)      tunes each call that has no entry
    tilewright.tuning("strict")                    for the rest of the process: a missing entry is an error
    TILEWRIGHT_TUNING=off python train.py          the same from outside

`cached` is the default: an entry of a table is used, and where there is none the kernel's heuristic, with one warning. `strict` is `cached`
with an error in the place of the warning. `off` looks at no table.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any

from tilewright import errors

MODES = ("search", "cached", "strict", "off")
VARIABLE = "TILEWRIGHT_TUNING"


@dataclasses.dataclass(frozen=True)
class Mode:
  """How a call is configured. `is_quiet`: a missing entry causes no warning, as in the processes that measure."""

  name: str = "cached"
  budget: Any = "60s"
  nearest: bool = False
  seed: int = 0
  is_quiet: bool = False


def _named(name: str, strict: bool) -> str:
  if name not in MODES:
    raise errors.TuningError(f"tuning: expected one of {', '.join(MODES)}, got {name!r}.")
  if strict and name not in ("cached", "strict"):
    raise errors.TuningError(f"tuning: strict goes with 'cached', not with {name!r}.")
  return "strict" if strict else name


def _from_environment() -> Mode:
  return Mode(_named(os.environ.get(VARIABLE) or "cached", False))


_for_process: list[Mode] = []
_here: contextvars.ContextVar[Mode | None] = contextvars.ContextVar("tilewright_tuning", default=None)
# Configurations that are being tried, by contents and arguments of kernels; and where calls are noted that have no entry.
_overrides: contextvars.ContextVar[Mapping[tuple[str, str], Mapping[str, Any]]] = contextvars.ContextVar(
  "tilewright_tuning_overrides",
  default={},  # noqa: B039 (nobody writes to it)
)
_noted: contextvars.ContextVar[list[Any] | None] = contextvars.ContextVar("tilewright_tuning_noted", default=None)


def current() -> Mode:
  here = _here.get()
  if here is not None:
    return here
  if not _for_process:
    _for_process.append(_from_environment())
  return _for_process[0]


class tuning(contextlib.AbstractContextManager[None]):
  """Say how tuned functions behave: within a `with` block, or, without one, for the rest of the process.

  Args:
    mode: "search", "cached", "strict" or "off".
    strict: with "cached", the same as "strict".
    budget: of each search, as "60s", "5min" or "200 trials".
    nearest: whether a missing entry may be replaced by that of the nearest shapes; a warning says so.
    seed: of searches.
  """

  def __init__(
    self, mode: str = "cached", *, strict: bool = False, budget: Any = "60s", nearest: bool = False, seed: int = 0
  ) -> None:
    self.mode = Mode(_named(mode, strict), budget, nearest, seed)
    self._before = current()
    self._tokens: list[contextvars.Token[Mode | None]] = []
    _for_process[:] = [self.mode]

  def __enter__(self) -> None:
    _for_process[:] = [self._before]
    self._tokens.append(_here.set(self.mode))

  def __exit__(self, *_: object) -> None:
    _here.reset(self._tokens.pop())


@contextlib.contextmanager
def quietly() -> Iterator[None]:
  """Tables are used, without warnings about missing entries."""
  token = _here.set(Mode("cached", is_quiet=True))
  try:
    yield
  finally:
    _here.reset(token)


@contextlib.contextmanager
def overriding(configs: Mapping[tuple[str, str], Mapping[str, Any]]) -> Iterator[None]:
  """Kernels take these configurations, by the contents and the arguments of a call."""
  token = _overrides.set({**_overrides.get(), **configs})
  try:
    yield
  finally:
    _overrides.reset(token)


def override(content: str, arguments: str) -> Mapping[str, Any] | None:
  return _overrides.get().get((content, arguments))


@contextlib.contextmanager
def noting() -> Iterator[list[Any]]:
  """A list of the calls of tuned functions within; they run with their heuristics, without warnings."""
  noted: list[Any] = []
  token, quiet = _noted.set(noted), _here.set(Mode("cached", is_quiet=True))
  try:
    yield noted
  finally:
    _noted.reset(token)
    _here.reset(quiet)


def note(call: Any) -> None:
  noted = _noted.get()
  if noted is not None:
    noted.append(call)

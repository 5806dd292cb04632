"""Arity checks of user functions: a function is checked against the arguments it will get before it is called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright import errors


def name_of(f: Any) -> str:
  """The description of a function in messages: its name, and the file and line where it is defined."""
  while isinstance(f, functools.partial):
    f = f.func
  code = getattr(f, "__code__", None)
  name = getattr(f, "__name__", repr(f))
  return f"{name} at {code.co_filename}:{code.co_firstlineno}" if code is not None else name


def check_takes(
  f: Callable[..., Any],
  what: str,
  gets: str,
  args: Sequence[Any],
  kwargs: Mapping[str, Any] = {},
  error: type[errors.TilewrightError] = errors.KernelTypeError,
) -> None:
  """Reject a function that does not take these arguments. `what` (what it is) and `gets` (what it is passed) appear in the message."""
  if not callable(f):
    raise error(f"{what} must be a function, got {f!r}.")
  try:
    signature = inspect.signature(f)
  except (TypeError, ValueError):  # builtins and C extensions may have no signature
    return
  try:
    signature.bind(*args, **kwargs)
  except TypeError as e:
    named = f" and the keywords {sorted(kwargs)}" if kwargs else ""
    raise error(
      f"{what} {name_of(f)} takes {signature}, but is called with {len(args)} arguments{named} ({gets}): "
      f"{_words_of_python(f, signature, args, kwargs) or e}. Give it one parameter for each of them."
    ) from None


def _words_of_python(
  f: Callable[..., Any], signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str:
  """Python's own error message for such a call, obtained by calling an empty function with the same parameters."""
  plain = [
    p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None)
    for p in signature.parameters.values()
  ]
  stub = eval(f"lambda {str(inspect.Signature(plain))[1:-1]}: None")
  stub.__qualname__ = getattr(f, "__qualname__", type(f).__name__)
  try:
    stub(*args, **kwargs)
  except TypeError as e:
    return str(e)
  return ""


def describe_value(value: Any) -> str:
  """The description of a value in messages; for an array, which may be large, its type."""
  if hasattr(value, "shape") and hasattr(value, "dtype"):
    return f"an array of type {value.dtype}{list(value.shape)}"
  return repr(value)

"""Names that JAX has deprecated: they still work, and warn the first time each is used.

A module lists them in a table, name -> (replacement, value), which its `__getattr__` searches for names it does not define.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from tilewright.errors import DeprecatedNameWarning

_warned: set[tuple[str, str]] = set()


def lookup(module: str, alias: str, names: Mapping[str, tuple[str, Any]]) -> Callable[[str], Any]:
  """The `__getattr__` of a module called `module`, which users import as `alias`."""

  def find(name: str) -> Any:
    if name not in names:
      raise AttributeError(f"module {module!r} has no attribute {name!r}")
    instead, value = names[name]
    if (alias, name) not in _warned:
      _warned.add((alias, name))
      warnings.warn(f"{alias}.{name} is deprecated, use {instead} instead.", DeprecatedNameWarning, stacklevel=2)
    return value

  return find

"""One exception class per kind of mistake.

Every message says which argument or line is meant, what was expected, what was found, and what to do about it. The classes
also derive from the built-in exception a JAX user would expect (`ValueError`, `TypeError`, …), so existing handlers work.
"""

from __future__ import annotations


class TilewrightError(Exception):
  """Base of every error this package raises on purpose."""


class TilewrightWarning(UserWarning):
  """Base of every warning this package gives on purpose."""

"""Tracing for a platform that need not be this process' default, nor have a device here."""

from __future__ import annotations

import contextlib
from typing import Any

import jax


def tracing_for(platform: str) -> contextlib.AbstractContextManager[Any]:
  """What is traced inside is for a platform, where functions choose by the default device."""
  try:
    return jax.default_device(jax.devices(platform)[0])
  except RuntimeError:  # compiled here, for a device elsewhere
    return contextlib.nullcontext()

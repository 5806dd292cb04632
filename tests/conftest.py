"""Eight CPU devices for every test, and no GPU test where there is no GPU."""

from __future__ import annotations

import functools
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import pytest


@functools.cache
def gpu_is_here() -> bool:
  try:
    return bool(jax.devices("gpu"))
  except RuntimeError:  # JAX has no such backend
    return False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
  for item in items:
    if item.get_closest_marker("gpu") and not gpu_is_here():
      item.add_marker(pytest.mark.skip(reason="JAX sees no GPU here"))

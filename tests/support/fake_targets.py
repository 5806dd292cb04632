"""Fixtures: a driver that only records, and kernels that are compiled for it."""

from __future__ import annotations

import re

import jax
import pytest

from tests.nvgpu.fake_driver import FakeDriver

S = jax.ShapeDtypeStruct


@pytest.fixture
def driver(monkeypatch, tmp_path):
  monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
  monkeypatch.delenv("TILEWRIGHT_DUMP", raising=False)
  return FakeDriver(monkeypatch)


def targets(f, *args) -> list[str]:
  """The handlers that a program calls on a GPU."""
  text = jax.jit(lambda *a: f(*a)).trace(*args).lower(lowering_platforms=("cuda",)).as_text()
  return re.findall(r"tilewright_cuda_\w+", text)

"""Tests on a GPU compare float32 products with exact ones: those that are about tf32 say so."""

from __future__ import annotations

import jax
import pytest


@pytest.fixture(autouse=True)
def exact_products():
  with jax.default_matmul_precision("highest"):
    yield

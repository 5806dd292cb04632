"""A few random programs of remote copies and semaphores; `python -m tests.collectives.random_programs` draws more."""

from __future__ import annotations

import jax
import pytest

from tests.collectives import random_programs


@pytest.mark.skipif(jax.device_count() < 4, reason="needs 4 devices: set XLA_FLAGS before JAX starts")
def test_random_programs_equal_the_simulator():
  assert random_programs.check(3, seed=20) == 0

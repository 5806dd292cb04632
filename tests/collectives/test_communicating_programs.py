"""A few random programs of remote copies and semaphores; `python -m tests.collectives.random_programs` draws more."""

from __future__ import annotations

import jax
import pytest

from tests.collectives import random_programs

pytestmark = pytest.mark.skipif(jax.device_count() < 4, reason="needs 4 devices: set XLA_FLAGS before JAX starts")


def test_random_programs_equal_the_simulator():
  assert random_programs.check(3, seed=20) == 0


def test_random_programs_that_are_data_equal_the_simulator():
  assert random_programs.check(12, seed=21, as_data=True, axes=(("a", 2), ("b", 2))) == 0

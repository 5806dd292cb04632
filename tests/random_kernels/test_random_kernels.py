"""A few random kernels; `python -m tests.random_kernels --count 1000 --seed S` runs as many fresh ones as there is time for."""

from __future__ import annotations

import numpy as np
import pytest

from .check import check
from .generated_kernels import generate
from .numbers import difference, exact, rounded


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 6, 7, 9, 11, 31, 32, 33, 36])  # quick to compile
def test_native_and_portable_code_give_the_numbers_of_the_oracle(seed):
  assert check(seed, size=4) is None, generate(seed, 4)


def test_the_comparison_finds_one_wrong_bit():
  expected = exact(np.arange(4), "int32")
  assert difference(np.arange(4, dtype=np.int32), expected) is None
  assert "first at (2,)" in difference(np.asarray([0, 1, 3, 3], np.int32), expected)
  third = rounded(np.asarray([1 / 3]), np.zeros(1), "float32")
  assert difference(np.asarray([1 / 3], np.float32), third) is None
  assert difference(np.asarray([0.33334], np.float32), third)
  assert difference(np.asarray([np.nan], np.float32), third)

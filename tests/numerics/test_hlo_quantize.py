"""The arithmetic of the kernels that quantise: right however a processor divides."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from tilewright.numerics import hlo_quantize
from tilewright.numerics.convert import encode
from tilewright.numerics.formats import F4E2M1FN, F8E3M4, F8E4M3FN


class Inexact(np.ndarray):
  """Numbers whose quotients are off by so many units in the last place, as those of a GPU may be."""

  off = 0

  def __truediv__(self, other):
    found = np.asarray(self) / np.asarray(other)
    return (found.view(np.int32) + self.off).view(np.float32)


@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("f", [F4E2M1FN, F8E4M3FN, F8E3M4], ids=lambda f: f.name)
def test_a_quotient_rounds_as_the_exact_one_though_the_division_is_inexact(f, off):
  rng = np.random.default_rng(0)
  by = rng.integers(1 << 10, 1 << 11, 4096).astype(np.float32)  # of 11 bits
  middles = rng.integers(1, 64, 4096).astype(np.float32) * np.float32(2.0**-3)  # and what is next to them
  x = ((middles * by).view(np.int32) + rng.integers(-2, 3, 4096)).astype(np.int32).view(np.float32)
  Inexact.off = off
  found = hlo_quantize._to_odd_quotient(x.view(Inexact), by)
  exact = x.astype(np.float64) / by
  np.testing.assert_array_equal(
    encode(jnp.minimum(jnp.asarray(found), np.float32(f.max)), f), encode(np.minimum(exact, f.max), f)
  )

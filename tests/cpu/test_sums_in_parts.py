"""Sums along a sequential grid dimension, natively on the CPU: in parts that threads share out."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from tests.support.sums_along_grids import PROGRAMS
from tilewright.target import cpu
from tilewright.tile import split_sums


@pytest.mark.parametrize("least", [0, split_sums._LEAST_BYTES])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_sums_along_the_grid(program, least, monkeypatch):
  monkeypatch.setattr(split_sums, "_LEAST_BYTES", least)
  compiled, compile_kernel = [], cpu.compile_kernel
  monkeypatch.setattr(cpu, "compile_kernel", lambda kernel: compiled.append(kernel.name) or compile_kernel(kernel))
  args, wanted = PROGRAMS[program]
  found = jax.tree.leaves(jax.jit(lambda *a: program(*a))(*args))
  assert compiled == (["kernel"] if least else ["kernel_parts", "kernel_finish"])
  for one, other in zip(found, wanted, strict=True):
    np.testing.assert_array_equal(one, other.astype(one.dtype))

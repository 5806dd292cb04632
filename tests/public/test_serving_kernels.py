"""Kernels of the kind that serving libraries ship agree with float64 on every target."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from serving_kernels import PROGRAMS

from tilewright.pallas import tpu as pltpu

TARGETS = {"native": False, "portable": True, "simulator": pltpu.InterpretParams()}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_agrees_with_float64(program, target):
  operands = program.operands(np.random.default_rng(11))
  wide = [x.astype(np.float64) if x.dtype == np.float32 else x for x in operands]
  with jax.default_matmul_precision("highest"):
    found = jax.jit(program.run, static_argnames="interpret")(*map(jnp.asarray, operands), interpret=TARGETS[target])
  for f, e in zip(jax.tree.leaves(found), jax.tree.leaves(program.reference(*wide)), strict=True):
    # Sums of at most 64 products, and functions of them that have slopes of about one.
    np.testing.assert_allclose(f, e, rtol=0, atol=64 * 2.0**-23 * np.abs(e).max())

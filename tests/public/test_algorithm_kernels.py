"""Textbook algorithms agree with float64 natively and portably."""

from __future__ import annotations

import algorithm_linear_algebra  # noqa: F401  (each adds its programs to the list)
import algorithm_selection  # noqa: F401
import algorithm_sequences  # noqa: F401
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from algorithm_programs import PROGRAMS

FULL_SIZE = [p for p in PROGRAMS if p.dtype.itemsize == 4]


def is_float(x):
  return jnp.issubdtype(x.dtype, jnp.floating)


@pytest.mark.parametrize(
  "program, interpret", [*((p, False) for p in PROGRAMS), *((p, True) for p in FULL_SIZE)], ids=str
)
def test_agrees_with_float64(program, interpret):
  operands = program.operands(np.random.default_rng(5))
  wide = [np.asarray(x).astype(np.float64) if is_float(x) else x for x in operands]
  with jax.default_matmul_precision("highest"):
    found = jax.jit(program.run, static_argnames="interpret")(*map(jnp.asarray, operands), interpret=interpret)
  eps = float(jnp.finfo(program.dtype).eps) if jnp.issubdtype(program.dtype, jnp.floating) else 0.0
  for f, e in zip(jax.tree.leaves(found), jax.tree.leaves(program.reference(*wide)), strict=True):
    np.testing.assert_allclose(np.asarray(f, np.float64), e, rtol=0, atol=program.roundings * eps * np.abs(e).max())

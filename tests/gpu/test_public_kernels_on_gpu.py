"""JAX's public kernels, and kernels of the kind that serving libraries ship, as native code on an NVIDIA GPU."""

from __future__ import annotations

import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "public"))

from public_kernels import CASES, RECORD, check, digest, our_module, run
from serving_kernels import PROGRAMS

pytestmark = pytest.mark.gpu
RESULTS = json.loads(RECORD.read_text())


@pytest.mark.parametrize("case", [case for case in CASES if case.native and not case.fails_on_gpu], ids=str)
def test_gives_what_the_original_gives(case):
  with jax.default_matmul_precision("highest"):
    found = run(case, our_module(case.module))
  if case.reference is None:
    expected = RESULTS[case.name]
  else:
    values = case.reference(*case.operands(np.random.default_rng(0)))
    expected = [{**digest(np.asarray(e)), "type": digest(f)["type"]} for f, e in zip(found, jax.tree.leaves(values))]
  for f, e in zip(map(digest, found), expected, strict=True):
    check(f, e, case.tolerance)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_agrees_with_float64(program):
  operands = program.operands(np.random.default_rng(11))
  wide = [x.astype(np.float64) if x.dtype == np.float32 else x for x in operands]
  with jax.default_matmul_precision("highest"):
    found = jax.jit(program.run, static_argnames="interpret")(*map(jnp.asarray, operands), interpret=False)
  for f, e in zip(jax.tree.leaves(found), jax.tree.leaves(program.reference(*wide)), strict=True):
    np.testing.assert_allclose(f, e, rtol=0, atol=64 * 2.0**-23 * np.abs(e).max())

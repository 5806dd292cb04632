"""Cases of kernels that others wrote: those that come with JAX, imports changed, and those of the kind that libraries ship."""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from cases import CASES, Answer

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "public"))

import public_kernels
import serving_kernels

from tests.support import mosaic_gpu_kernels as mosaic_gpu

RIGHT: Answer = (0.0, 0.0, 0.0)  # of a case that compares for itself


def add(name: str, check: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
  def run() -> Answer:
    with jax.default_matmul_precision("highest"), mock.patch.object(jax.Device, "core_count", 2, create=True):
      check(*args, **kwargs)
    return RIGHT

  CASES[f"public_{name}"] = run


def like_the_original(case: public_kernels.Case) -> None:
  found = public_kernels.run(case, public_kernels.our_module(case.module))
  if case.reference is None:
    expected = json.loads(public_kernels.RECORD.read_text())[case.name]
    for f, e in zip(map(public_kernels.digest, found), expected, strict=True):
      public_kernels.check(f, e, case.tolerance)
    return
  values = case.reference(*case.operands(np.random.default_rng(0)))
  for f, e in zip(found, jax.tree.leaves(values), strict=True):
    np.testing.assert_allclose(np.asarray(f, np.float64), e, rtol=0, atol=case.tolerance * np.abs(e).max())


def like_float64(program: serving_kernels.Program) -> None:
  operands = program.operands(np.random.default_rng(11))
  wide = [x.astype(np.float64) if x.dtype == np.float32 else x for x in operands]
  found = jax.jit(program.run, static_argnames="interpret")(*map(jnp.asarray, operands), interpret=False)
  for f, e in zip(jax.tree.leaves(found), jax.tree.leaves(program.reference(*wide)), strict=True):
    np.testing.assert_allclose(f, e, rtol=0, atol=64 * 2.0**-23 * np.abs(e).max())


for each in public_kernels.CASES:
  if each.native and not each.fails_on_gpu:
    add(each.name, like_the_original, each)
for program in serving_kernels.PROGRAMS:
  add(program.name, like_float64, program)
for number, config in enumerate(mosaic_gpu.MATMULS):
  add(f"hopper_matmul_{config.replace(' ', '_')}", mosaic_gpu.check_hopper_matmul, config, has_c=number % 2 == 0)
add("hopper_mixed_type_matmul", mosaic_gpu.check_hopper_mixed_type_matmul, jnp.bfloat16, jnp.bfloat16)
add("hopper_attention", mosaic_gpu.check_attention, causal=False, kv_heads=2, is_simulated=False)
add("hopper_attention_causal", mosaic_gpu.check_attention, causal=True, kv_heads=1, is_simulated=False)
add("hopper_attention_pipelined", mosaic_gpu.check_attention_with_the_pipeline_emitter)
add("hopper_attention_derivatives", mosaic_gpu.check_derivatives_of_attention)
add("hopper_ragged_dot", mosaic_gpu.check_ragged_dot, jnp.float16, transpose_rhs=False)
add("hopper_transposed_ragged_dot", mosaic_gpu.check_transposed_ragged_dot, is_simulated=False)

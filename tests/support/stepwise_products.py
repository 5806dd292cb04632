"""Kernels with products in steps."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from tests.nvgpu.gpu_programs import BF16, natives
from tests.nvgpu.warpgroup_programs import stepwise_attention


def stepwise(width, batch=(), block=64):
  """Attention along the grid for a batch: its arguments, its kernel and what it gives."""
  rng = np.random.default_rng(0)
  args = [jnp.asarray(rng.standard_normal((*batch, rows, width)), BF16) for rows in (64, 320, 320)]
  f = functools.reduce(lambda g, _: jax.vmap(g), batch, functools.partial(stepwise_attention, block=block))
  ((_, native),) = natives(f, *args)
  q, k, v = (np.asarray(a, np.float64) for a in args)
  e = np.exp(q @ k.swapaxes(-1, -2) * 0.125)
  return args, native, e @ v / e.sum(-1, keepdims=True)

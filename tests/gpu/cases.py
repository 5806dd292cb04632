"""Kernels with exact answers, for those who watch what kernels do besides: `sanitize.py` runs every one of them under the tools.

@case
def softmax() -> Answer:
  x = normal(96, 320)
  return jax.jit(ops.softmax)(x), softmax_of(exact(x)), 2.0**-8
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

BF16, F32, I32 = ml_dtypes.bfloat16, np.float32, np.int32
Answer = tuple[Any, Any, float]  # what was computed, what is right, and how far apart they may be
CASES: dict[str, Callable[[], Answer]] = {}


def case(f: Callable[[], Answer]) -> Callable[[], Answer]:
  CASES[f.__name__] = f
  return f


def numbers(*shape: int, dtype: Any = BF16, seed: int = 0) -> np.ndarray:
  """Integers from -4 to 4."""
  return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def normal(*shape: int, dtype: Any = BF16, seed: int = 0) -> np.ndarray:
  return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def exact(x: Any) -> np.ndarray:
  return np.asarray(x).astype(np.float64)


def softmax_of(x: np.ndarray) -> np.ndarray:
  e = np.exp(x - x.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)

"""What the examples share: both ways to run a program, timed and compared."""

from __future__ import annotations

import statistics
import time
from typing import Any

import jax
import numpy as np

import tilewright


def normal(key: Any, *shape: int) -> jax.Array:
  """A matrix whose products keep the size of their operands."""
  return jax.random.normal(key, shape) * shape[0] ** -0.5


def seconds(f: Any, args: Any, rounds: int = 7) -> float:
  jax.block_until_ready(f(*args))
  times = []
  for _ in range(rounds):
    begun = time.perf_counter()
    jax.block_until_ready(f(*args))
    times.append(time.perf_counter() - begun)
  return statistics.median(times)


def largest_difference(a: Any, b: Any) -> float:
  """Between the leaves of two results, relative to the largest element of each."""
  worst = 0.0
  for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    worst = max(worst, float(np.max(np.abs(x - y), initial=0.0)) / (float(np.max(np.abs(x), initial=0.0)) or 1.0))
  return worst


def both(f: Any, args: Any) -> tuple[Any, Any, Any]:
  """A program compiled by XLA alone, and with kernels; and what was decided."""
  plain = jax.jit(lambda *a: f(*a)).lower(*args).compile()
  with tilewright.accelerate() as acceleration:
    ours = jax.jit(lambda *a: f(*a)).lower(*args).compile()
  return plain, ours, acceleration


def compare(name: str, f: Any, args: Any, tolerance: float = 1e-3) -> Any:
  """Run a program both ways: prints the times and fails if the results differ."""
  print(f"{name}: compiling both ways …", flush=True)
  plain, ours, acceleration = both(f, args)
  print(f"{name}: running both ways …", flush=True)
  expected, found = plain(*args), ours(*args)
  difference = largest_difference(expected, found)
  kernels = sum(len(r.taken) for r in acceleration.reports)
  theirs, own = seconds(plain, args), seconds(ours, args)
  print(
    f"{name}: {theirs * 1e3:.2f} ms with XLA alone, {own * 1e3:.2f} ms with {kernels} kernels "
    f"({theirs / own:.2f} times as fast); largest difference {difference:.1e}"
  )
  assert difference <= tolerance, f"{name}: results differ by {difference}"
  return found

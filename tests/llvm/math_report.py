"""`python tests/llvm/math_report.py` measures every function and writes docs/math.md; `--dense N` looks at every N-th float."""

from __future__ import annotations

import argparse
import sys

import math_oracles
import numpy as np
import ulp

from tilewright.target.llvm import math


def worst_f32(name: str, stride: int, lanes: int = 16) -> tuple[float, list[float]]:
  """The largest error over the sampled floats, and where it is."""
  if math.FUNCTIONS[name].arity == 2:
    inputs = math_oracles.pairs(name, "f32", max(20_000, 2**30 // stride))
    return _worst(name, "f32", inputs, lanes, chunk=1 << 20)
  return _worst(
    name, "f32", (math_oracles.f32_inputs(stride * (24 if name == "erf_inv" else 1)),), lanes, chunk=1 << 20
  )


def worst_f64(name: str, count: int, lanes: int = 8) -> tuple[float, list[float]]:
  if math.FUNCTIONS[name].arity == 2:
    return _worst(name, "f64", math_oracles.pairs(name, "f64", count), lanes, chunk=1 << 20)
  return _worst(name, "f64", (math_oracles.f64_inputs(name, count),), lanes, chunk=1 << 20)


def _worst(name: str, kind: str, inputs: tuple[np.ndarray, ...], lanes: int, chunk: int) -> tuple[float, list[float]]:
  run = ulp.compiled(name, kind, lanes)
  worst, place = -1.0, [0.0]
  for start in range(0, inputs[0].size, chunk):
    part = [a[start : start + chunk] for a in inputs]
    with np.errstate(all="ignore"):
      if kind == "f32":
        exact = math_oracles.WIDE[name](*(a.astype(np.float64) for a in part))
      else:
        exact = math_oracles.exact_f64(name, *part)
    error = ulp.errors(run(*part), exact, kind)
    at = int(np.argmax(error))
    if error[at] > worst:
      worst, place = float(error[at]), [float(a[at]) for a in part]
  return worst, place


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("--stride", type=int, default=1021)
  parser.add_argument("--count", type=int, default=1000)
  parser.add_argument("--only", nargs="*")
  options = parser.parse_args()
  for name in options.only or math_oracles.WIDE:
    f32, at32 = worst_f32(name, options.stride)
    f64, at64 = worst_f64(name, options.count) if options.count else (0.0, [])
    print(f"{name:10} f32 {f32:8.4f} at {at32}   f64 {f64:8.4f} at {at64}")
    sys.stdout.flush()


if __name__ == "__main__":
  main()

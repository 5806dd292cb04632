"""Measures the functions of `target.llvm.math` and writes docs/math.md.

`python tests/llvm/math_report.py` writes the page from the numbers in measured.json, which are renewed by
`--errors` (mpmath for f64, random pairs for functions of two arguments), `--throughput`, and `exhaustive.py` (all floats).
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import time
from collections.abc import Callable
from typing import Any

import math_oracles
import numpy as np
import ulp

from tilewright.target.llvm import math

MEASURED = pathlib.Path(__file__).with_name("measured.json")
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "math.md"
TIMED = ["exp", "log", "tanh", "erf", "logistic", "sin"]


def worst_f32(name: str, stride: int, lanes: int = 16) -> tuple[float, list[float]]:
  """The largest error over the sampled floats, and where it is."""
  if math.FUNCTIONS[name].arity == 2:
    return _worst(name, "f32", math_oracles.pairs(name, "f32", max(20_000, 2**30 // stride)), lanes)
  return _worst(name, "f32", (math_oracles.f32_inputs(stride * (24 if name == "erf_inv" else 1)),), lanes)


def worst_f64(name: str, count: int, lanes: int = 8) -> tuple[float, list[float]]:
  if math.FUNCTIONS[name].arity == 2:
    return _worst(name, "f64", math_oracles.pairs(name, "f64", count), lanes)
  return _worst(name, "f64", (math_oracles.f64_inputs(name, count),), lanes)


def _worst(
  name: str, kind: str, inputs: tuple[np.ndarray, ...], lanes: int, chunk: int = 1 << 20
) -> tuple[float, list[float]]:
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


def record(section: str, name: str, value: Any) -> None:
  """Keep a measurement for the page."""
  known = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
  known.setdefault(section, {})[name] = value
  MEASURED.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def measure_errors(count: int, names: list[str]) -> None:
  for name in names:
    error, at = worst_f64(name, count)
    record("f64", name, {"error": round(error, 3), "at": at})
    print(f"{name:10} f64 {error:.3f} ulp at {at}", flush=True)
    if name in ("pow", "atan2", "lgamma", "digamma"):
      error, at = worst_f32(name, 257)
      record("f32", name, {"error": round(error, 3), "at": at})
      print(f"{name:10} f32 {error:.3f} ulp at {at}", flush=True)


def _best(run: Callable[[], Any], seconds: float = 1.5) -> float:
  run()
  best, end = float("inf"), time.perf_counter() + seconds
  while time.perf_counter() < end:
    began = time.perf_counter()
    run()
    best = min(best, time.perf_counter() - began)
  return best


def measure_throughput() -> None:
  """ns per element of 1M floats, all on one core: ours, NumPy or SciPy, and XLA, which must not see the others when it starts."""
  os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
  import jax
  import jax.numpy as jnp

  programs = {"exp": jnp.exp, "log": jnp.log, "tanh": jnp.tanh, "sin": jnp.sin}
  programs |= {"erf": jax.scipy.special.erf, "logistic": jax.nn.sigmoid}
  n = 1 << 20
  x = np.random.default_rng(0).uniform(0.1, 5, n).astype(np.float32)
  y = np.empty_like(x)
  for name in TIMED:
    ours, compiled, on_device = ulp.compiled(name, "f32", 16).raw, jax.jit(programs[name]), jnp.asarray(x)  # type: ignore[attr-defined]
    row = {
      "ours": _best(lambda: ours(x.ctypes.data, y.ctypes.data, n)),
      "numpy": _best(lambda: math_oracles.WIDE[name](x, out=y)),
      "xla": _best(lambda: compiled(on_device).block_until_ready()),
    }
    row = {key: round(value / n * 1e9, 3) for key, value in row.items()}
    exact = math_oracles.WIDE[name](x.astype(np.float64))
    ours(x.ctypes.data, y.ctypes.data, n)
    for key, result in (("ours", y), ("numpy", math_oracles.WIDE[name](x)), ("xla", np.asarray(compiled(on_device)))):
      row[f"{key} error"] = round(float(ulp.errors(result, exact, "f32").max()), 2)
    record("throughput", name, row)
    print(name, row, flush=True)
  copy = _best(lambda: np.copyto(y, x))
  record("throughput", "copy", {"numpy": round(copy / n * 1e9, 3)})
  record("machine", "cpu", f"{_cpu()}, {time.strftime('%Y-%m-%d')}, NumPy {np.__version__}, jax {jax.__version__}")


def _cpu() -> str:
  from llvmlite import binding

  return f"{binding.get_host_cpu_name()} ({platform.machine()})"


def page(measured: dict[str, Any]) -> str:
  lines = [
    "# Mathematical functions",
    "",
    "<!-- Written by tests/llvm/math_report.py; do not edit. -->",
    "",
    "`tilewright.target.llvm.math` writes these as LLVM IR, for scalars and vectors of f32 and f64, without libm. The bound is what the",
    "tests hold each function to, in units in the last place of the exact result. Measured is the largest error seen: for f32 over",
    "all 2^32 inputs (\\*: sampled), for f64 against mpmath on random numbers from the whole range and from where it is hard.",
    "bf16 and f16 are computed as f32 and rounded. NaN, infinities, signed zeros and denormals are as in IEEE 754 and C.",
    "",
    "| function | f32 bound | f32 measured | f64 bound | f64 measured | notes |",
    "|---|---|---|---|---|---|",
  ]
  for name, function in sorted(math.FUNCTIONS.items()):
    cells = []
    for kind in ("f32", "f64"):
      row = measured.get(kind, {}).get(name)
      sampled = "\\*" if kind == "f32" and row and not row.get("all") else ""
      cells += [
        f"{function.ulp[kind]:g}",
        f"{row['error']:.2f}{sampled}" if row else "exact" if function.ulp[kind] <= 0.5 else "not measured",
      ]
    lines.append(f"| `{name}` | {' | '.join(cells)} | {function.note} |")
  lines += [
    "",
    "## Throughput",
    "",
    f"Nanoseconds per element over 2^20 f32 in [0.1, 5), the best of many runs, on one core of {measured['machine']['cpu']}.",
    f"NumPy is SciPy for erf and logistic, XLA is `jax.jit`. Copying takes {measured['throughput']['copy']['numpy']:.2f}.",
    "",
    "| function | ours | NumPy | XLA | errors on these numbers, in ulp |",
    "|---|---|---|---|---|",
  ]
  for name in TIMED:
    row = measured["throughput"][name]
    times = " | ".join(f"{row[key]:.2f}" for key in ("ours", "numpy", "xla"))
    found = ", ".join(f"{row[f'{key} error']:.1f}" for key in ("ours", "numpy", "xla"))
    lines.append(f"| `{name}` | {times} | {found} |")
  return "\n".join(lines) + "\n"


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--errors", type=int, metavar="COUNT", help="numbers per range for f64")
  parser.add_argument("--only", nargs="*", default=sorted(math_oracles.WIDE))
  parser.add_argument("--throughput", action="store_true")
  options = parser.parse_args()
  if options.errors:
    measure_errors(options.errors, options.only)
  if options.throughput:
    measure_throughput()
  PAGE.write_text(page(json.loads(MEASURED.read_text())))


if __name__ == "__main__":
  main()

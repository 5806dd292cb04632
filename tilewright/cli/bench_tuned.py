"""Rows "tuned / default": library kernels with the configurations of the tables, beside the same kernels with their heuristics.

    tilewright bench cpu --filter tuned
    python -m tilewright.cli.bench_tuned --budget 60s       tunes what the rows of this machine's device measure, into the user's table

Matrix products at twelve shapes (square, skinny, ragged, batched), attention at six, norms at four. Without an entry both contenders are
the same program, and a row shows the measurement noise.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import ops
from tilewright.cli.bench import OURS, Call, Case
from tilewright.tune import keys, steps, table, tuning
from tilewright.tune.modes import quietly

DEFAULT = "default"
S = jax.ShapeDtypeStruct
Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Row:
  """A library kernel and the types of its arguments."""

  name: str
  function: Callable[..., Any]
  types: tuple[jax.ShapeDtypeStruct, ...]

  def values(self) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return tuple(jnp.asarray(rng.standard_normal(t.shape, np.float32), t.dtype) for t in self.types)


def _matmul(m: int, k: int, n: int, dtype: Any, batch: int = 0) -> Row:
  lead = (batch,) if batch else ()
  name = f"matmul {np.dtype(dtype).name} {f'{batch} of ' if batch else ''}{m}x{k}x{n}"
  return Row(name, ops.matmul, (S((*lead, m, k), dtype), S((*lead, k, n), dtype)))


def _attention(shape: Shape, causal: bool, dtype: Any) -> Row:
  name = f"attention {np.dtype(dtype).name} {'x'.join(map(str, shape))}{', causal' * causal}"
  return Row(name, functools.partial(ops.attention, causal=causal), (S(shape, dtype),) * 3)


def _norm(function: Callable[..., Any], rows: int, columns: int, dtype: Any) -> Row:
  return Row(
    f"{function.__name__} {np.dtype(dtype).name} {rows}x{columns}",
    function,
    (S((rows, columns), dtype), S((columns,), dtype)),
  )


F32, BF16 = jnp.float32, jnp.bfloat16
CPU_ROWS = (
  *(_matmul(n, n, n, F32) for n in (256, 512, 1024)),
  _matmul(512, 512, 512, BF16),
  *(_matmul(m, k, n, F32) for m, k, n in ((1, 2048, 2048), (16, 1024, 1024), (2048, 512, 64), (64, 4096, 256))),
  *(_matmul(m, k, n, F32) for m, k, n in ((333, 129, 517), (1000, 1030, 1100))),
  _matmul(256, 256, 256, F32, batch=8),
  _matmul(64, 128, 64, F32, batch=32),
  *(
    _attention((heads, n, d), causal, F32)
    for heads, n, d in ((8, 512, 64), (4, 1024, 128), (16, 200, 64))
    for causal in (False, True)
  ),
  *(_norm(f, m, n, F32) for f in (ops.rms_norm, ops.layer_norm) for m, n in ((4096, 1024), (512, 8192))),
)
GPU_ROWS = (
  *(_matmul(n, n, n, BF16) for n in (512, 1024, 2048, 4096)),
  *(_matmul(m, k, n, BF16) for m, k, n in ((64, 4096, 4096), (256, 8192, 2048), (8192, 2048, 128), (4096, 256, 4096))),
  *(_matmul(m, k, n, BF16) for m, k, n in ((1000, 1032, 1104), (4000, 2056, 3000))),
  _matmul(512, 512, 512, BF16, batch=16),
  _matmul(128, 256, 128, BF16, batch=64),
  *(
    _attention((1, 16, n, d), causal, BF16) for n, d in ((2048, 64), (2048, 128), (512, 64)) for causal in (False, True)
  ),
  *(_norm(f, m, n, BF16) for f in (ops.rms_norm, ops.layer_norm) for m, n in ((16384, 8192), (4096, 1024))),
)


def by_heuristic(function: Callable[..., Any]) -> Callable[..., Any]:
  """A function traced without any table."""

  def call(*args: Any) -> Any:
    with tuning("off"):
      return function(*args)

  return call


def by_table(function: Callable[..., Any]) -> Callable[..., Any]:
  def call(*args: Any) -> Any:
    with quietly():
      return function(*args)

  return call


def _case(row: Row, timed: Callable[..., Call], prefix: str) -> Case:
  contenders: dict[str, Callable[[], Call]] = {
    OURS: lambda: timed(by_table(row.function), row.values),
    DEFAULT: lambda: timed(by_heuristic(row.function), row.values),
  }
  return Case(f"{prefix}tuned {row.name}", contenders, disturbs=not prefix, rounds=25, goals={DEFAULT: 1.0})


def _running(function: Callable[..., Any], values: Callable[[], tuple[Any, ...]]) -> Call:
  compiled, arrays = jax.jit(function), values()
  jax.block_until_ready(compiled(*arrays))
  return lambda: compiled(*arrays)


def _on_device(function: Callable[..., Any], values: Callable[[], tuple[Any, ...]]) -> Call:
  from tilewright.cli.bench_gpu_kernels import device_time

  return device_time(function, values)


CPU_CASES = tuple(_case(row, _running, "") for row in CPU_ROWS)
GPU_CASES = tuple(_case(row, _on_device, "gpu ") for row in GPU_ROWS)


def _place(name: str, words: Sequence[str]) -> int:
  """The first of some words that a name contains; their number if it contains none."""
  return next((n for n, word in enumerate(words) if word in name), len(words))


def main() -> None:
  parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
  parser.add_argument("--budget", default="60s", help="of each row (default: %(default)s)")
  parser.add_argument(
    "--filter", action="append", help="only rows whose name contains this; more than once: one of these"
  )
  parser.add_argument("--out", help="write the user's whole table there at the end")
  parser.add_argument("--log", help="append every trial as a line of JSON")
  arguments = parser.parse_args()
  words = arguments.filter or [""]
  rows = GPU_ROWS if keys.platform() == "gpu" else CPU_ROWS
  for row in sorted(rows, key=lambda row: _place(row.name, words)):
    if _place(row.name, words) < len(words):
      try:
        result = steps.search_step(row.function, *row.types, budget=arguments.budget, log=arguments.log)
        print(f"{row.name}: {dict(result.config)} {result.summary()}", flush=True)
      except Exception as error:  # one row must not keep the others from being tuned
        print(f"{row.name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
      if arguments.out:
        table.write_file(arguments.out, table.read().entries)


if __name__ == "__main__":
  main()

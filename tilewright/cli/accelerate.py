"""`tilewright accelerate PROGRAM.py [ARGUMENT...]`: run a program with and without acceleration, and show what that changed and why.

    tilewright accelerate train.py --steps 10
    tilewright accelerate --html page.html --no-measure model.py

The program runs twice in this process, as `python PROGRAM.py` would run it: unchanged, then with `tilewright.accelerate(measure=True)`.
For each program that XLA compiled, a table lists the regions that became kernels and those that did not: the estimate and the measured
time of XLA and of the kernel, and the reason for each refusal. Then come the times of both runs, without compilation, and the largest
difference between the arrays among the program's global variables at the end. Exit code: the program's own, or 1 if the results differ.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

DIFFERENT = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
  parser.add_argument("--exact", action="store_true", help="only kernels that give the same bits as XLA")
  parser.add_argument("--no-measure", action="store_true", help="do not time kernels against XLA: estimates decide")
  parser.add_argument("--html", metavar="FILE", help="write a page with the graph, coloured by kernel")
  parser.add_argument("--all", action="store_true", help="also list modules in which nothing became a kernel")
  parser.add_argument(
    "--tolerance",
    type=float,
    default=1e-3,
    help="largest difference, relative to the largest element (default: %(default)s)",
  )
  parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM ...", help="a file, and its arguments")


def run(arguments: argparse.Namespace) -> int:
  if not arguments.program:
    print("tilewright accelerate: expected a program, as in `tilewright accelerate train.py`.", file=sys.stderr)
    return 2
  if not pathlib.Path(arguments.program[0]).is_file():
    print(f"tilewright accelerate: there is no file {arguments.program[0]!r}.", file=sys.stderr)
    return 2
  if not arguments.tolerance >= 0:
    print(f"tilewright accelerate: --tolerance must be a number from 0 on, not {arguments.tolerance}.", file=sys.stderr)
    return 2
  if arguments.html and not pathlib.Path(arguments.html).absolute().parent.is_dir():
    print(f"tilewright accelerate: --html {arguments.html}: there is no such directory.", file=sys.stderr)
    return 2
  from tilewright.accelerate import accelerate

  print("without:", flush=True)
  plain = _Run.of(arguments.program)
  if plain.code:
    return plain.code
  print("with:", flush=True)
  with accelerate(exact=arguments.exact, measure=not arguments.no_measure) as acceleration:
    ours = _Run.of(arguments.program)
  if ours.code:
    return ours.code
  _print_tables(acceleration.reports, arguments.all)
  if arguments.html:
    acceleration.write_html(arguments.html)
    print(f"The graphs are in {arguments.html}.")
  found = sum(report.seconds for report in acceleration.reports)
  print(
    f"The program took {plain.seconds:.2f} s without and {ours.seconds:.2f} s with, apart from compilation: "
    f"{plain.seconds / max(ours.seconds, 1e-9):.2f} times as fast. "
    f"Compilation took {plain.compiling:.2f} s and {ours.compiling:.2f} s, of which {found:.2f} s went into kernels and measurements."
  )
  return _compare(plain.variables, ours.variables, arguments.tolerance)


@dataclass(frozen=True)
class _Run:
  """One run of a program: its exit code, how long it took, how long of it JAX compiled, and its global variables."""

  code: int
  seconds: float
  compiling: float
  variables: dict[str, Any]

  @staticmethod
  def of(argv: Sequence[str]) -> _Run:
    import jax

    from tilewright.cli.run import execute

    spent: list[tuple[float, float]] = []

    def listen(event: str, duration: float, **_: Any) -> None:
      if "/compile/" in event:
        now = time.perf_counter()
        spent.append((now - duration, now))

    jax.monitoring.register_event_duration_secs_listener(listen)
    begun = time.perf_counter()
    code, variables = execute(argv, is_module=False)
    jax.block_until_ready([v for v in jax.tree.leaves(_arrays(variables))])
    jax.effects_barrier()
    total = time.perf_counter() - begun
    compiling = _covered(spent)
    spent.clear()
    return _Run(code, max(total - compiling, 0.0), compiling, variables)


def _covered(intervals: Sequence[tuple[float, float]]) -> float:
  """The length of the union of intervals: tracing one function is part of tracing another."""
  total, reached = 0.0, float("-inf")
  for start, end in sorted(intervals):
    total += max(0.0, end - max(start, reached))
    reached = max(reached, end)
  return total


def _arrays(variables: dict[str, Any]) -> dict[str, Any]:
  """The global variables that are arrays, or trees of them."""
  import jax
  import numpy as np

  found = {}
  for name, value in variables.items():
    try:
      leaves = jax.tree.leaves(value)
    except Exception:  # something that only looks like a tree
      continue
    if not name.startswith("__") and leaves and all(isinstance(x, jax.Array | np.ndarray) for x in leaves):
      found[name] = value
  return found


def _print_tables(reports: Sequence[Any], everything: bool) -> None:
  from tilewright.accelerate.report import COLUMNS, RIGHT
  from tilewright.cli.table import print_table

  shown = [r for r in reports if r.taken or everything]
  for report in shown:
    title = (
      f"{report.module} ({report.platform}): {len(report.taken)} of {len(report.decisions)} regions became kernels"
    )
    print_table(title, COLUMNS, [row for _, row in report.rows()], right=RIGHT)
  if not shown:
    print("No region became a kernel. --all lists the reasons.")


def _compare(plain: dict[str, Any], ours: dict[str, Any], tolerance: float) -> int:
  import jax

  a, b = _arrays(plain), _arrays(ours)
  worst, where, count = 0.0, "", 0
  for name in sorted(a.keys() & b.keys()):
    left, right = jax.tree.leaves(a[name]), jax.tree.leaves(b[name])
    for x, y in zip(left, right) if len(left) == len(right) else [(left, right)]:
      difference = _difference(x, y)
      if difference is None:
        continue
      count += 1
      if difference > worst:
        worst, where = difference, name
  if not count:
    print("The program leaves no arrays in global variables to compare.")
    return 0
  size = (
    "infinite (another shape or type, or finite in one only)"
    if math.isinf(worst)
    else f"{worst:.1e} of the largest element"
  )
  print(f"The largest difference among {count} arrays is {size}{f', in {where}' if where else ''}.")
  return 0 if worst <= tolerance else DIFFERENT


def _difference(x: Any, y: Any) -> float | None:
  """Between two arrays, relative to the largest element; infinite if shapes or types differ, or what is finite."""
  import jax.numpy as jnp
  import numpy as np

  if getattr(x, "dtype", None) != getattr(y, "dtype", None) or np.shape(x) != np.shape(y):
    return math.inf
  if not (jnp.issubdtype(x.dtype, jnp.number) or x.dtype == np.bool_):
    return None  # keys of jax.random have no numbers to subtract
  wide = np.complex128 if jnp.issubdtype(x.dtype, jnp.complexfloating) else np.float64
  left, right = np.asarray(x).astype(wide), np.asarray(y).astype(wide)
  finite = np.isfinite(left)
  if not np.array_equal(left[~finite], right[~finite], equal_nan=True) or not np.isfinite(right[finite]).all():
    return math.inf
  largest = float(np.max(np.abs(left[finite]), initial=0.0))
  return float(np.max(np.abs(left[finite] - right[finite]), initial=0.0)) / (largest or 1.0)

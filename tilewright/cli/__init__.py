"""The command `tilewright`.

    tilewright doctor      what is here, and what to do about what is missing
    tilewright run PROGRAM.py   run a program written for jax.experimental.pallas, unchanged
    tilewright accelerate PROGRAM.py   run a plain JAX program with and without kernels that are found in it
    tilewright demo        compile and run a few kernels, and check them
    tilewright bench cpu   time kernels beside their peers
    tilewright ptx MODULE:FUNCTION TYPE...   what a function's kernels become on NVIDIA GPUs
    tilewright explain FILE.py:FUNCTION TYPE...   a page: source, tile IR, assembly, layouts, timeline of a function's kernels
    tilewright hlo FILE    run passes over an HLO module, compare, draw
    tilewright schedule FILE   order an HLO module's instructions, and say what that gains and why
    tilewright tune FILE.py:FUNCTION TYPE...   choose parameters of kernels by measurement; list, merge, export, import, check tables
    tilewright cache info  what is kept on disk; `clear` removes it

Each command is a module with a function `run(arguments) -> exit code`. It is imported when the command is invoked, so that
`doctor` works where JAX does not.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import tilewright


def parser() -> argparse.ArgumentParser:
  top = argparse.ArgumentParser(prog="tilewright", description="A kernel compiler for JAX users.")
  top.add_argument("--version", action="version", version=f"tilewright {tilewright.__version__}")
  commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

  commands.add_parser(
    "doctor", help="say what is here: versions, CPU, GPU, libraries, caches; and what to do about the rest"
  )

  from tilewright.cli import run

  run.add_arguments(
    commands.add_parser("run", help="run a program written for jax.experimental.pallas, unchanged, with our kernels")
  )

  from tilewright.cli import accelerate

  accelerate.add_arguments(
    commands.add_parser(
      "accelerate", help="run a JAX program with and without kernels that are found in it, and say why"
    )
  )

  demo = commands.add_parser("demo", help="compile and run a few kernels on the CPU and check them against float64")
  demo.add_argument("--filter", metavar="SUBSTRING", default="", help="only kernels whose name contains this")

  bench = commands.add_parser("bench", help="time kernels beside their peers")
  bench.add_argument("target", choices=["cpu", "gpu"], help="where to run")
  bench.add_argument(
    "--filter",
    metavar="SUBSTRING",
    action="append",
    help="only rows whose name contains this; more than once: one of these",
  )
  bench.add_argument("--list", action="store_true", help="print the names of the rows and stop")
  bench.add_argument("--json", metavar="FILE", help="also write the rows, with machine and versions, to FILE")
  bench.add_argument(
    "--random", metavar="N", type=_count, help="N cases of ops at random sizes instead; --filter names ops"
  )
  bench.add_argument("--seed", type=int, default=0, help="of the random sizes (default: %(default)s)")
  bench.add_argument(
    "--seconds",
    type=_positive,
    default=2.0,
    help="timing of each case, besides compiling it, and five rounds at least (default: %(default)s)",
  )

  ptx = commands.add_parser("ptx", help="what a function's kernels become on NVIDIA GPUs: registers, memory, PTX")
  ptx.add_argument("function", metavar="MODULE:FUNCTION", help="package.module:function or file.py:function")
  ptx.add_argument("types", metavar="TYPE", nargs="*", help="of each argument, as bf16[16,128]")
  ptx.add_argument("--arch", metavar="A,B", default="", help="architectures, as sm_90a (default: all)")
  ptx.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a keyword argument")
  ptx.add_argument(
    "--show", choices=["tile", "gpu", "gpu_passes", "plan", "llvm", "ptx"], help="print this code instead of the table"
  )

  from tilewright.cli.explain_arguments import add_arguments as add_explain_arguments

  add_explain_arguments(
    commands.add_parser("explain", help="a page: source beside tile IR and assembly, layouts, timeline, roofline")
  )

  hlo = commands.add_parser(
    "hlo", help="run passes over an HLO module, compare values before and after, draw the graph"
  )
  hlo.add_argument(
    "file", metavar="FILE", nargs="?", help="HLO text or a serialised HloModuleProto; - for standard input"
  )
  hlo.add_argument("--passes", metavar="A,B", default="", help="names, name{option=value}, or file.py:function")
  hlo.add_argument("--fixed-point", action="store_true", help="repeat the passes until nothing changes")
  hlo.add_argument("--evaluate", action="store_true", help="compare values before and after, on random arguments")
  hlo.add_argument("--seed", type=int, default=0, help="of the random arguments (default: %(default)s)")
  hlo.add_argument("--out", metavar="FILE", help="write the module as text (as a proto if the name ends in .pb)")
  hlo.add_argument("--html", metavar="FILE", help="draw the module as a page")
  hlo.add_argument(
    "--tiling", action="store_true", help="print indexing maps, tiles and tiled fusions; --html draws them"
  )
  hlo.add_argument("--tile", metavar="32,128", help="the output tile that --tiling shows (default: the best by search)")
  hlo.add_argument("--device", default="cpu", help="whose cost model --tiling uses (default: %(default)s)")
  hlo.add_argument("--diff", action="store_true", help="print what each pass changed")
  hlo.add_argument("--list", action="store_true", help="print the passes there are and stop")

  cache = commands.add_parser("cache", help="the compiled code that is kept on disk")
  cache.add_argument("action", choices=["info", "clear"], help="say what there is, or remove it")

  from tilewright.cli.tune_arguments import add_arguments as add_tune_arguments

  add_tune_arguments(commands.add_parser("tune", help="choose parameters of kernels by measurement, and remember them"))

  from tilewright.cli.schedule_arguments import add_arguments

  collectives = commands.add_parser(
    "collectives", help="predict all-reduces and products beside collectives, on machines that are not here"
  )
  collectives.add_argument("--bytes", metavar="N", type=_count, help="explain an all-reduce of so many bytes instead")
  collectives.add_argument("--devices", metavar="N", type=_count, default=8, help="(default: %(default)s)")
  collectives.add_argument(
    "--hardware", default="h100", help="a device of the cost model, or cpu (default: %(default)s)"
  )

  add_arguments(commands.add_parser("schedule", help="order the instructions of an HLO module, and show why"))
  return top


def _positive(text: str) -> float:
  value = float(text)
  if not value > 0:
    raise argparse.ArgumentTypeError(f"must be a positive number, got {text}")
  return value


def _count(text: str) -> int:
  value = int(text)
  if value < 1:
    raise argparse.ArgumentTypeError(f"must be a positive number, got {text}")
  return value


def main(argv: Sequence[str] | None = None) -> int:
  """Runs the command line; returns the exit code."""
  arguments = parser().parse_args(argv)
  try:
    code = importlib.import_module(f"tilewright.cli.{arguments.command}").run(arguments)
    sys.stdout.flush()
  except BrokenPipeError:  # whoever read the output, `head` for example, has seen enough
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python still flushes at the end
    return 1
  except KeyboardInterrupt:
    print("Stopped.", file=sys.stderr)
    return 130
  return code


__all__ = ["main", "parser"]

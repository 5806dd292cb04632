"""The arguments of `tilewright schedule`, apart from it so that showing them imports nothing else."""

from __future__ import annotations

import argparse

DEVICES = ("a100", "h100", "h200", "b200", "gb200", "b300", "gb300", "rtx-pro-6000", "cpu")  # of `hlo.cost.DEVICES`


def bytes_of(text: str) -> float:
  """`60GB`, `1.5e9`, `512MiB`."""
  units = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 2.0**10, "MIB": 2.0**20, "GIB": 2.0**30, "B": 1.0}
  upper, factor = text.strip().upper(), 1.0
  for unit in sorted(units, key=len, reverse=True):
    if upper.endswith(unit):
      upper, factor = upper.removesuffix(unit), units[unit]
      break
  try:
    value = float(upper) * factor
  except ValueError:
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes such as 60GB") from None
  if not value > 0:
    raise argparse.ArgumentTypeError(f"must be positive, got {text}")
  return value


def count(text: str) -> int:
  value = int(text)
  if value < 1:
    raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
  return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
  parser.add_argument(
    "file", metavar="FILE", nargs="?", help="HLO text or a serialised HloModuleProto; - for standard input"
  )
  parser.add_argument(
    "--device",
    help=f"{', '.join(DEVICES)}, or a JSON file (default: cpu for modules of XLA's CPU back end, else h100)",
  )
  parser.add_argument("--devices", type=count, metavar="N", help="how many run it, if more than it was made for")
  parser.add_argument("--profile", metavar="DIR", help="a JAX profile whose times are used where it has any")
  parser.add_argument(
    "--memory-limit", type=bytes_of, metavar="BYTES", help="such as 60GB; an error if it cannot be met"
  )
  parser.add_argument("--headroom", type=float, metavar="X", help="without a limit: X times what the given order needs")
  parser.add_argument("--remat", action="store_true", help="compute cheap values twice if memory does not suffice")
  parser.add_argument(
    "--async", dest="make_async", action="store_true", help="make pairs of collectives and copies first"
  )
  parser.add_argument(
    "--collectives", type=count, default=1, metavar="N", help="how many may be open at once (%(default)s)"
  )
  parser.add_argument("--scale-up", type=count, metavar="N", help="of those inside a node, if counted apart")
  parser.add_argument("--p2p", type=count, default=4, metavar="N", help="sends and receives (%(default)s)")
  parser.add_argument(
    "--async-compute", type=count, default=2, metavar="N", help="asynchronous computations (%(default)s)"
  )
  parser.add_argument("--copies", type=count, default=2, metavar="N", help="host copies, each way (%(default)s)")
  parser.add_argument(
    "--starts", choices=("asap", "alap"), default="", help="start transfers as soon, or as late, as they stay hidden"
  )
  parser.add_argument("--jitter", type=float, default=0.0, help="relative spread of simulated devices' speeds")
  parser.add_argument(
    "--explain", metavar="NAME", action="append", default=[], help="say why an instruction was placed where it is"
  )
  parser.add_argument("--html", metavar="FILE", help="write the timelines, before and after, as a page")
  parser.add_argument("--trace", metavar="FILE", help="write them as a Chrome trace")
  parser.add_argument("--out", metavar="FILE", help="write the scheduled module (as a proto if the name ends in .pb)")
  parser.add_argument("--rules", action="store_true", help="print the table of rules and stop")
  parser.add_argument("--calibrate", metavar="FILE", help="measure this machine, write it as a device, and stop")

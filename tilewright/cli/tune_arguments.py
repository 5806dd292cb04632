"""The arguments of `tilewright tune`, apart from what they do, so that the command line is read without JAX."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
  parser.add_argument(
    "what",
    metavar="FILE.py[:FUNCTION]|list|merge|export|import|check",
    help="what to tune, or what to do with the table",
  )
  parser.add_argument("rest", metavar="TYPE|FILE", nargs="*", help="types of the arguments, as bf16[16,128]; or files")
  parser.add_argument("--budget", default="60s", help="of each search: 60s, 5min, 200 trials (default: %(default)s)")
  parser.add_argument("--device", choices=["cpu", "gpu"], help="where to measure (default: JAX's)")
  parser.add_argument("--log", metavar="FILE", help="append every trial as a line of JSON")
  parser.add_argument(
    "--html", metavar="FILE", help="write a page: trials over time, parameters, the best few, failures"
  )
  parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a keyword argument")
  parser.add_argument(
    "--seed", type=int, default=0, help="of the search and of random arguments (default: %(default)s)"
  )
  parser.add_argument("--out", metavar="FILE", help="with merge: write the merged table there, instead of to your own")

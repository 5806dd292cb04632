"""The arguments of `tilewright explain`, apart from what it does, so that the command line is read without JAX."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
  parser.add_argument("function", metavar="FILE.py:FUNCTION", help="file.py:function or package.module:function")
  parser.add_argument("types", metavar="TYPE", nargs="*", help="of each argument, as bf16[16,128]")
  parser.add_argument(
    "--arch", metavar="A,B", default="cpu", help="cpu, or architectures as sm_90a (default: %(default)s)"
  )
  parser.add_argument("--device", metavar="NAME", help="whose figures predictions use, as h100 (default: by --arch)")
  parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a keyword argument")
  parser.add_argument(
    "--measure",
    action="store_true",
    help="also run here: on a GPU, to draw what its warpgroups did; with --arch cpu, to time the function",
  )
  parser.add_argument("--html", metavar="FILE", help="where the page goes (default: FUNCTION.html)")

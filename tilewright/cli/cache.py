"""`tilewright cache info|clear`: what is kept on disk between processes."""

from __future__ import annotations

import argparse
import sys

from tilewright.cli.table import print_table
from tilewright.runtime import cache


def run(arguments: argparse.Namespace) -> int:
  found = cache.clear() if arguments.action == "clear" else cache.info()
  if found.refused is not None:
    print(f"{found.directory} {found.refused}. It is not used.", file=sys.stderr)
    return 1
  if arguments.action == "clear":
    print(f"Removed {found.entries} entries ({_mib(found.nbytes)} MiB) from {found.directory}.")
    return 0
  rows = [(kind, str(count), _mib(nbytes)) for kind, (count, nbytes) in sorted(found.kinds.items())]
  rows.append(("all", str(found.entries), _mib(found.nbytes)))
  print(found.directory)
  print_table(
    f"at most {found.limit >> 20} MiB (TILEWRIGHT_CACHE_MIB)",
    ["kind", "entries", "MiB"],
    rows,
    right=["entries", "MiB"],
  )
  return 0


def _mib(nbytes: int) -> str:
  return f"{nbytes / 2**20:.1f}"

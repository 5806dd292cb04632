"""`tilewright collectives`: what collectives and products beside them would take on machines that are not here, by the cost model."""

from __future__ import annotations

import argparse

from tilewright import errors


def run(arguments: argparse.Namespace) -> int:
  """Print one all-reduce with reasons, or the tables of docs/collectives.md."""
  from tilewright.collectives import cost, predictions

  try:
    if arguments.bytes is None:
      print(predictions.tables())
    else:
      print(cost.explain(arguments.bytes, arguments.devices, arguments.hardware))
  except errors.CollectiveError as refused:
    print(refused)
    return 2
  return 0


__all__ = ["run"]

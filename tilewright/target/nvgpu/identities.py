"""Rewrite rules that hold for real numbers, and whose result is rounded no worse than what they replace.

(1 + tanh u) / 2   ->   logistic(2 u)      as in gelu: one exponential instead of two ways to compute tanh, and nothing cancels
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.tile.ir import Op, Value
from tilewright.tile.rewrite import Rewriter, Rule


def _one_plus_tanh(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """1 + tanh u = 2 logistic(2 u), which keeps its digits where tanh is near -1."""
  x, one = op.operands
  tanh, known = rw.made_by(x, "tanh"), rw.splat(one)
  if tanh is None or known is None or known != 1 or op.result.tile.dtype != np.float32:
    return None
  two = rw.constant(np.asarray(2.0), op.result.tile)
  double = rw.emit("mul", [tanh.operands[0], two])
  return [rw.emit("mul", [rw.emit("logistic", [double]), two])]


def _twice_logistic(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """A known factor of `2 logistic(x)`: multiplying by two rounds nothing, so that the factors can be one."""
  x, factor = op.operands
  double, known = rw.made_by(x, "mul"), rw.splat(factor)
  if double is None or known is None or op.result.tile.dtype != np.float32 or abs(known) > 1:
    return None
  logistic, two = double.operands
  if rw.made_by(logistic, "logistic") is None or (other := rw.splat(two)) is None or other != 2:
    return None
  if known == 0.5:
    return [logistic]
  return [rw.emit("mul", [logistic, rw.constant(2 * known, op.result.tile)])]


RULES: dict[str, list[Rule]] = {"add": [_one_plus_tanh], "mul": [_twice_logistic]}

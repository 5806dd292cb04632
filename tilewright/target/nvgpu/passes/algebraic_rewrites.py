"""Rewrite rules that hold for real numbers, and whose result is rounded no worse than what they replace.

(1 + tanh u) / 2   ->   logistic(2 u)                  as in gelu: one exponential instead of two ways to compute tanh, nothing cancels
argmax(x)          ->   min(where(x == max(x), i, n))  along long rows
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.tile.ir import Op, Value
from tilewright.tile.rewrite import Rewriter, Rule

_LONG_ROW = 512  # elements: of shorter ones each warp takes several


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


def _first_extreme(rw: Rewriter, op: Op) -> Sequence[Value] | None:
  """The first place of what a reduction finds: all threads work on both, with whole vectors, while rows are kept in registers."""
  (x,), axis, kind = op.operands, op.attrs["axis"], op.attrs["kind"]
  tile = x.tile
  if tile.shape[axis] < _LONG_ROW or tile.dtype == np.bool_:
    return None
  best = rw.emit("reduce", [x], kind=kind, axes=(axis,))
  dims = tuple(a for a in range(tile.rank) if a != axis)
  found = rw.emit("eq", [x, rw.emit("broadcast", [best], shape=tile.shape, dims=dims)])
  if not np.issubdtype(tile.dtype, np.integer):
    found = rw.emit("or", [found, rw.emit("ne", [x, x])])  # if there is a NaN, that is the extreme
  place = rw.emit("iota", [], shape=tile.shape, dtype=np.dtype(np.int32), axis=axis)
  nowhere = rw.constant(np.asarray(tile.shape[axis]), place.tile)
  first = rw.emit("reduce", [rw.emit("select", [found, place, nowhere])], kind="min", axes=(axis,))
  wanted = np.dtype(op.attrs["dtype"])
  return [first if wanted == np.int32 else rw.emit("convert", [first], dtype=wanted)]


RULES: dict[str, list[Rule]] = {"add": [_one_plus_tanh], "mul": [_twice_logistic], "arg_reduce": [_first_extreme]}

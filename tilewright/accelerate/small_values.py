"""Values of a part of a graph on small arrays: each atom is a few elements long, and floats are float64.

Two ways to compute something that agree on random small arrays agree on all: ops of a graph do not depend on the sizes of its dimensions,
except for what is computed of positions (`iota`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.accelerate.axes import Atom, Axes, analyse
from tilewright.accelerate.graph import Graph, Node, Refused, constant_value, is_float


def small_axes(nodes: Sequence[Node], given: Sequence[Node]) -> tuple[Axes, dict[Atom, int]]:
  """Axes of a slice, and a small size for each atom."""
  axes = analyse(Graph(tuple(nodes), (), ()), set(given) - set(_inside(given)))
  sizes: dict[Atom, int] = {}
  for node in nodes:
    for atom in axes.of(node):
      sizes.setdefault(atom, min(atom.size, 4 + len(sizes) % 4))
  scores = given[0]
  if len(scores.dims) < 2 or any(math.prod(sizes[a] for a in axes.dim(scores, d)) < 4 for d in (-1, -2)):
    raise Refused("there are few queries or keys")
  return axes, sizes


def _inside(given: Sequence[Node]) -> list[Node]:
  """Masks keep what they are computed of, for `band_of`; their values are given all the same."""
  return [n for n in given if n.opcode != "dot"]


def spread(x: np.ndarray, atoms: Sequence[Atom], order: Sequence[Atom], sizes: dict[Atom, int]) -> np.ndarray:
  if any(a not in order for a in atoms):
    raise Refused("a mask has other dimensions than the scores")
  kept = [a for a in order if a in atoms]
  x = reordered(x, atoms, kept)
  shape = [sizes[a] if a in atoms else 1 for a in order]
  return np.broadcast_to(x.reshape(shape), [sizes[a] for a in order])


def reordered(x: np.ndarray, now: Sequence[Atom], wanted: Sequence[Atom]) -> np.ndarray:
  if len(set(now)) < len(now):
    raise Refused("a value has one index twice")
  if sorted(map(id, now)) != sorted(map(id, wanted)):
    raise Refused("a value has other dimensions than the scores")
  return np.transpose(x, [list(now).index(a) for a in wanted])


_NUMPY: dict[str, Any] = {
  "add": np.add,
  "subtract": np.subtract,
  "multiply": np.multiply,
  "divide": np.divide,
  "maximum": np.maximum,
  "minimum": np.minimum,
  "negate": np.negative,
  "exponential": np.exp,
  "log": np.log,
  "abs": np.abs,
  "sqrt": np.sqrt,
  "rsqrt": lambda x: 1 / np.sqrt(x),
  "tanh": np.tanh,
  "and": np.logical_and,
  "or": np.logical_or,
  "not": np.logical_not,
  "select": np.where,
  "is-finite": np.isfinite,
}
_COMPARE = {
  "EQ": np.equal,
  "NE": np.not_equal,
  "LT": np.less,
  "LE": np.less_equal,
  "GT": np.greater,
  "GE": np.greater_equal,
}
_REDUCE: dict[str, Any] = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod, "and": np.all, "or": np.any}


def evaluate(
  nodes: Sequence[Node], axes: Axes, sizes: dict[Atom, int], given: dict[Node, Any]
) -> dict[Node, np.ndarray]:
  """The values of nodes, with each atom as long as `sizes` says."""
  values: dict[Node, Any] = {}
  with np.errstate(all="ignore"):
    for node in nodes:
      values[node] = given[node] if node in given else _value(node, [values[o] for o in node.operands], axes, sizes)
  return values


def _value(node: Node, x: Sequence[Any], axes: Axes, sizes: dict[Atom, int]) -> Any:
  shape = [sizes[a] for a in axes.of(node)]
  match node.opcode:
    case "constant":
      return np.asarray(constant_value(node)).astype(np.float64 if is_float(node.dtype) else node.dtype)
    case "iota":
      atoms = axes.dim(node, node.attrs["axis"])
      own = np.arange(math.prod(sizes[a] for a in atoms)).reshape([sizes[a] for a in atoms])
      return spread(own, atoms, axes.of(node), sizes)
    case "broadcast":
      order = [
        a
        for d in sorted(
          range(len(x[0].shape) and len(node.attrs["dimensions"])), key=lambda i: node.attrs["dimensions"][i]
        )
        for a in axes.dim(node.operands[0], d)
      ]
      own = reordered(x[0], axes.of(node.operands[0]), order) if order else x[0]
      places = [1] * len(shape)
      at = 0
      for d in range(len(node.dims)):
        count = len(axes.dim(node, d))
        if d in node.attrs["dimensions"]:
          places[at : at + count] = shape[at : at + count]
        at += count
      return np.broadcast_to(own.reshape(places), shape)
    case "reshape":
      return x[0].reshape(shape)
    case "transpose":
      order = [a for p in node.attrs["permutation"] for a in axes.dim(node.operands[0], p)]
      return reordered(x[0], axes.of(node.operands[0]), order)
    case "convert":
      return (
        x[0]
        if is_float(node.dtype) and is_float(node.operands[0].dtype)
        else x[0].astype(np.float64 if is_float(node.dtype) else node.dtype)
      )
    case "compare":
      return _COMPARE[node.attrs["direction"]](*x)
    case "reduce":
      over: list[int] = []
      at = 0
      for d in range(len(node.operands[0].dims)):
        count = len(axes.dim(node.operands[0], d))
        if d in node.attrs["dimensions"]:
          over += range(at, at + count)
        at += count
      return _REDUCE[node.attrs["kind"]](x[0], axis=tuple(over))
  if node.opcode not in _NUMPY:
    raise Refused(f"{node.opcode} between the products is not supported")
  return _NUMPY[node.opcode](*x)

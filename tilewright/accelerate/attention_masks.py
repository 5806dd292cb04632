"""Masks of attention: booleans that are computed from positions, and the band of keys around each query that they leave."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tilewright.accelerate.axes import Atom, Axes
from tilewright.accelerate.graph import Node, Refused, constant_value, is_float


@dataclasses.dataclass(frozen=True)
class Band:
  """Which keys a query sees: from `query - left` to `query + right`, None without limit."""

  left: int | None = None
  right: int | None = None


def masks_of(nodes: Sequence[Node]) -> list[Node]:
  """The largest booleans that are computed of indices alone."""
  static: set[Node] = set()
  for node in nodes:
    if node.opcode not in ("leaf", "dot") and all(o in static for o in node.operands):
      static.add(node)
  booleans = [n for n in nodes if n in static and n.dtype == np.bool_ and constant_value(n) is None]
  inner = {o for n in booleans for o in n.operands if n.opcode in ("and", "or", "not", "xor", "broadcast", "reshape")}
  return [n for n in booleans if n not in inner]


def check_positions(root: Node, given: Collection[Node]) -> None:
  """That a value depends on positions by its masks alone.

  Small arrays have the first few positions only: a bias like max(q - k - 100, 0) is zero there.
  """
  left, seen = [root], set(given)
  while left:
    node = left.pop()
    if node not in seen:
      seen.add(node)
      if node.opcode == "iota":
        raise Refused("the scores depend on positions by more than a mask")
      left += node.operands


def random_mask(random: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
  """Some true and some false in each row and column, at least two of both where there is room."""
  if shape and shape[-1] < 4:
    raise Refused("the mask has too few positions")
  mask = random.random(tuple(shape)) < 0.5
  flat = mask.reshape(-1, shape[-1]) if shape else mask
  for i, row in enumerate(flat):
    row[[i % len(row), (i + 1) % len(row)]] = True
    row[[(i + 2) % len(row), (i + 3) % len(row)]] = False
  return mask


@dataclasses.dataclass(frozen=True)
class _Affine:
  """query · a + key · b + c."""

  query: int
  key: int
  constant: int


def band_of(masks: Mapping[Node, bool], axes: Axes, key: Atom, query: Atom, queries: int, keys: int) -> Band:
  """Which keys the masks leave; of each mask it is known whether keys are seen where it is true."""
  band = Band()
  for mask, seen in masks.items():
    for f, bound in _conditions(mask, seen):
      affine = f(axes, key, query)
      if (affine.query, affine.key) not in ((1, -1), (-1, 1)):
        raise Refused("the mask is not a band of keys around each query")
      # affine >= bound: query - key + c >= bound, or key - query + c >= bound
      reach = affine.constant - bound
      if affine.query == 1:
        band = dataclasses.replace(band, right=reach if band.right is None else min(band.right, reach))
      else:
        band = dataclasses.replace(band, left=reach if band.left is None else min(band.left, reach))
  is_blind = band.left is not None and (band.left < 0 or queries - band.left > keys)
  if is_blind or (band.right is not None and band.right < 0):
    raise Refused("some queries attend to no key")
  return band


def _conditions(node: Node, seen: bool) -> Iterable[tuple[Any, int]]:
  """The comparisons that must hold, each as (affine of query and key) >= bound."""
  if node.opcode in ("broadcast", "reshape"):
    yield from _conditions(node.operands[0], seen)
  elif node.opcode == "not":
    yield from _conditions(node.operands[0], not seen)
  elif (node.opcode == "and" and seen) or (node.opcode == "or" and not seen):
    for operand in node.operands:
      yield from _conditions(operand, seen)
  elif node.opcode == "compare":
    direction = node.attrs["direction"]
    if not seen:
      direction = {"GE": "LT", "GT": "LE", "LE": "GT", "LT": "GE"}.get(direction, "")
    x, y = node.operands
    if direction in ("LE", "LT"):
      x, y, direction = y, x, {"LE": "GE", "LT": "GT"}[direction]
    if direction not in ("GE", "GT"):
      raise Refused("the mask is not a band of keys around each query")
    bound = 0 if direction == "GE" else 1
    yield lambda axes, key, query: _difference(_affine(x, axes, key, query), _affine(y, axes, key, query)), bound
  else:
    raise Refused("the mask is not computed by comparing positions")


def _difference(x: _Affine, y: _Affine) -> _Affine:
  return _Affine(x.query - y.query, x.key - y.key, x.constant - y.constant)


def _affine(node: Node, axes: Axes, key: Atom, query: Atom) -> _Affine:
  """An integer as a function of the positions of a query and a key; its type must have all of its values."""
  found = _unbounded(node, axes, key, query)
  ends = [found.query * (query.size - 1), found.key * (key.size - 1)]
  least, most = (found.constant + sum(pick(0, end) for end in ends) for pick in (min, max))
  limits = np.iinfo(node.dtype)
  if least < limits.min or most > limits.max:
    raise Refused(f"positions of the mask wrap around in {node.dtype}")
  return found


def _unbounded(node: Node, axes: Axes, key: Atom, query: Atom) -> _Affine:
  if is_float(node.dtype) or node.dtype == np.bool_:
    raise Refused("the mask is not computed by comparing positions")
  value = constant_value(node)
  if value is not None:
    return _Affine(0, 0, int(value))
  if node.opcode == "iota":
    if node in axes.dims:
      atoms = axes.dim(node, node.attrs["axis"])
      if atoms == (query,):
        return _Affine(1, 0, 0)
      if atoms == (key,):
        return _Affine(0, 1, 0)
  elif node.opcode in ("broadcast", "reshape", "convert"):
    return _affine(node.operands[0], axes, key, query)
  elif node.opcode in ("add", "subtract"):
    x, y = (_affine(o, axes, key, query) for o in node.operands)
    return (
      _difference(x, y)
      if node.opcode == "subtract"
      else _Affine(x.query + y.query, x.key + y.key, x.constant + y.constant)
    )
  raise Refused("the mask is not computed by comparing positions")

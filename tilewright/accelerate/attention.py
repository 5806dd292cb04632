"""Attention in XLA's module: two products with a softmax between, and their derivatives, found by what they compute.

However it is written, attention is a product S = q kᵀ, weights W that are computed of S alone, and a product of W with values. Whether
W is softmax(scale · S), over keys that a mask leaves, is tested, not matched: the operations between the products are evaluated on small
random arrays in float64, and compared. What a program's derivative makes of it is found the same way: with P = g vᵀ, the slopes that are
multiplied with k and q must be scale · W (P - sum(W P)).

    S = dot(q, k)   W(S)   dot(W, v) = out      dot(W, g) = dv      P = dot(g, v)   Y(S, P)   dot(Y, k) = dq   dot(Y, q) = dk

The kernels of `ops.attention` compute all of these without the arrays W, P and Y, which are as large as all pairs of queries and keys.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tilewright.accelerate.axes import Atom, Axes, analyse
from tilewright.accelerate.graph import Graph, Node, Refused, View, constant_value, is_float

_CLOSE = 1e-9


@dataclasses.dataclass(frozen=True)
class Band:
  """Which keys a query sees: from `query - left` to `query + right`, None without limit."""

  left: int | None = None
  right: int | None = None


@dataclasses.dataclass(frozen=True)
class Use:
  """A product with one operand that is computed of scores: `side` is the number of that operand."""

  dot: Node
  side: int

  @property
  def other(self) -> Node:
    return self.dot.operands[1 - self.side]


@dataclasses.dataclass(frozen=True)
class Match:
  """An attention. `keys_last` says whether scores have keys as their last dimension, or queries."""

  scores: Node
  keys_last: bool
  scale: float
  band: Band
  out: Use | None
  dv: Use | None = None
  dp: Node | None = None
  dq: Use | None = None
  dk: Use | None = None

  @property
  def pairs(self) -> int:
    return self.scores.size

  @property
  def has_slopes(self) -> bool:
    return self.dq is not None or self.dk is not None or self.dv is not None


def free_dims(dot: Node, side: int) -> list[int]:
  taken = (*dot.attrs["contract"][side], *dot.attrs["batch"][side])
  return [i for i in range(len(dot.operands[side].dims)) if i not in taken]


def _is_simple(node: Node) -> bool:
  """A product of matrices, or of batches of them."""
  if node.opcode != "dot" or not is_float(node.dtype):
    return False
  one = all(len(free_dims(node, side)) == 1 for side in (0, 1))
  return one and len(node.attrs["contract"][0]) == 1


@dataclasses.dataclass(frozen=True)
class _Slice:
  """What a value is computed of, down to products and leaves."""

  nodes: tuple[Node, ...]
  dots: frozenset[Node]
  leaves: frozenset[Node]


def _slice(root: Node, most: int = 200) -> _Slice:
  nodes: dict[Node, None] = {}
  dots: set[Node] = set()
  leaves: set[Node] = set()

  def visit(node: Node) -> None:
    if node in nodes or len(nodes) > most:
      return
    if node.opcode == "dot":
      dots.add(node)
    elif node.opcode == "leaf":
      leaves.add(node)
    else:
      for operand in node.operands:
        visit(operand)
    nodes[node] = None

  visit(root)
  if len(nodes) > most:
    leaves.add(root)
  return _Slice(tuple(nodes), frozenset(dots), frozenset(leaves))


def find(view: View) -> list[Match | tuple[Node, str]]:
  """Every attention of a computation; of scores that might be one but are not, why."""
  dots = [n for n in view.nodes if _is_simple(n)]
  slices = {Use(d, side): _slice(d.operands[side]) for d in dots for side in (0, 1)}
  found: list[Match | tuple[Node, str]] = []
  for scores in dots:
    weights = [u for u, s in slices.items() if s.dots == {scores} and not s.leaves]
    slopes = [u for u, s in slices.items() if scores in s.dots and len(s.dots) == 2 and not s.leaves]
    if not any(_has_exponential(slices[u]) for u in weights):
      continue
    try:
      found.append(_match(scores, weights, slopes, slices))
    except Refused as why:
      found.append((scores, str(why)))
  return found


def _has_exponential(s: _Slice) -> bool:
  return any(n.opcode == "exponential" for n in s.nodes)


def _match(scores: Node, weights: Sequence[Use], slopes: Sequence[Use], slices: dict[Use, _Slice]) -> Match:
  out: Use | None = None
  dv: Use | None = None
  first: _Weights | None = None
  for use in weights:
    if not _has_exponential(slices[use]):
      continue
    test = _Weights(scores, use, slices[use])
    if first is not None and not first.agrees(test):
      raise Refused("two different sets of weights are computed of the same scores")
    first = first or test
    if test.contracts_keys:
      if out is not None and out != use:
        raise Refused("weights are multiplied with several arrays of values")
      out = use
    else:
      if dv is not None:
        raise Refused("weights are multiplied with several arrays")
      dv = use
  if first is None:
    raise Refused("the weights are no softmax of scores")
  dq: Use | None = None
  dk: Use | None = None
  dp: Node | None = None
  for use in slopes:
    if not _has_exponential(slices[use]):
      continue
    (other,) = slices[use].dots - {scores}
    if dp not in (None, other):
      raise Refused("slopes are computed of several products")
    dp = other
    if _slopes_contract_keys(first, use, slices[use], other):
      dq = _once(dq, use)
    else:
      dk = _once(dk, use)
  band = _band(first)
  scale = float(np.float32(first.scale))  # as the program has it
  match = Match(scores, first.keys_last, scale, band, out, dv, dp, dq, dk)
  _check(match)
  return match


def _once(before: Use | None, use: Use) -> Use:
  if before is not None:
    raise Refused("slopes are multiplied with several arrays")
  return use


def _check(match: Match) -> None:
  """That the same arrays are in all places of an attention."""
  if match.out is None and match.dv is None:
    raise Refused("the weights are not multiplied with values")
  if not match.has_slopes:
    return
  if match.dp is None or match.dv is None or match.dq is None or match.dk is None:
    raise Refused("only a part of the derivative is computed")
  q_side, k_side = (0, 1) if match.keys_last else (1, 0)
  q, k = (operand_place(match.scores, side, False) for side in (q_side, k_side))
  for use, wanted in ((match.dq, k), (match.dk, q)):
    if not same_array(operand_place(use.dot, 1 - use.side, True), wanted):
      raise Refused("the derivative multiplies with other arrays than the scores")
  g = operand_place(match.dv.dot, 1 - match.dv.side, True)
  side = next((i for i in (0, 1) if same_array(operand_place(match.dp, i, False), g)), None)
  if side is None:
    raise Refused("the derivative of the weights is of another output")
  if match.out is not None:
    v = operand_place(match.out.dot, 1 - match.out.side, True)
    if not same_array(operand_place(match.dp, 1 - side, False), v):
      raise Refused("the derivative of the weights is of other values")


# --- arrays as the kernels see them ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Place:
  """A value as (batch, length, depth): `order` is the permutation of its dimensions that makes it so."""

  node: Node
  order: tuple[int, ...]
  sizes: tuple[int, int, int]


def operand_place(dot: Node, side: int, contracts_length: bool) -> Place:
  x = dot.operands[side]
  batch, (contracted,), (free,) = dot.attrs["batch"][side], dot.attrs["contract"][side], free_dims(dot, side)
  length, depth = (contracted, free) if contracts_length else (free, contracted)
  return Place(x, (*batch, length, depth), (math.prod(x.dims[d] for d in batch), x.dims[length], x.dims[depth]))


def result_place(use: Use) -> Place:
  """The result of a product has batches, then the free dimension of the left operand, then that of the right one."""
  dims = use.dot.dims
  batch = tuple(range(len(dims) - 2))
  length, depth = (len(dims) - 2, len(dims) - 1) if use.side == 0 else (len(dims) - 1, len(dims) - 2)
  return Place(use.dot, (*batch, length, depth), (math.prod(dims[d] for d in batch), dims[length], dims[depth]))


def base_of(node: Node) -> Node:
  """What a node is a transposition or reshape of."""
  while node.opcode in ("transpose", "reshape"):
    node = node.operands[0]
  return node


def same_array(a: Place, b: Place) -> bool:
  """Whether two values are the same array (batch, length, depth), though moved in other ways."""
  base = base_of(a.node)
  if base is not base_of(b.node) or a.sizes != b.sizes:
    return False
  chains: dict[Node, None] = {base: None}
  for node in (a.node, b.node):
    chain = []
    while node is not base:
      chain.append(node)
      node = node.operands[0]
    chains.update(dict.fromkeys(reversed(chain)))
  try:
    axes = analyse(Graph(tuple(chains), (), ()), {base})
  except Refused:
    return False
  one, two = ([x for d in place.order for x in axes.dim(place.node, d)] for place in (a, b))
  return one == two


# --- what the weights are ----------------------------------------------------------------------------------------


class _Weights:
  """The operations from scores to one operand of a product, tested to be softmax(scale · scores) where a mask leaves them."""

  def __init__(self, scores: Node, use: Use, part: _Slice):
    self.scores, self.use = scores, use
    root = use.dot.operands[use.side]
    self.masks = _masks(part.nodes)
    self.axes, self.sizes = _axes(part.nodes, [scores, *self.masks])
    self.order = self.axes.of(scores)
    self.random = np.random.default_rng(1)
    s = self.random.normal(size=[self.sizes[a] for a in self.order])
    given: dict[Node, Any] = {scores: s}
    for mask in self.masks:
      given[mask] = _random_mask(self.random, [self.sizes[a] for a in self.axes.of(mask)])
    w = _evaluate(part.nodes, self.axes, self.sizes, given)[root]
    w = _reordered(w, self.axes.of(root), self.order)
    if not np.all(np.isfinite(w)) or np.any(w < 0):
      raise Refused("the weights are no softmax of scores")
    last = np.allclose(w.sum(-1), 1.0, atol=_CLOSE)
    if not last and not np.allclose(w.sum(-2), 1.0, atol=_CLOSE):
      raise Refused("the weights of a query do not add up to one")
    self.keys_last = last
    if not last:
      w, s = np.swapaxes(w, -1, -2), np.swapaxes(s, -1, -2)
    self.seen = w > 0
    self.scale = _scale(w, s, self.seen)
    expected = softmax(self.scale * s, self.seen)
    if not np.allclose(w, expected, atol=_CLOSE):
      raise Refused("the weights are no softmax of scaled scores")
    self.given_masks = {m: given[m] for m in self.masks}
    self.contracts_keys = self._contracted(use, root)

  def _contracted(self, use: Use, root: Node) -> bool:
    return contracts_keys(self.axes, self.order, use, root, self.keys_last)

  def agrees(self, other: _Weights) -> bool:
    return (
      self.keys_last == other.keys_last
      and math.isclose(self.scale, other.scale, rel_tol=1e-12)
      and set(self.masks) == set(other.masks)
    )


def contracts_keys(axes: Axes, order: Sequence[Atom], use: Use, root: Node, keys_last: bool) -> bool:
  """Whether a product adds up over keys, or over queries; its batches must be those of the scores."""
  (contracted,) = use.dot.attrs["contract"][use.side]
  keys, queries = (order[-1], order[-2]) if keys_last else (order[-2], order[-1])
  atoms = axes.dim(root, contracted)
  batch = [a for d in use.dot.attrs["batch"][use.side] for a in axes.dim(root, d)]
  if batch != list(order[:-2]):
    raise Refused("a product has batches in another order than the scores")
  if atoms == (keys,):
    return True
  if atoms == (queries,):
    return False
  raise Refused("a product of the weights is over more than keys or queries")


def softmax(s: np.ndarray, seen: np.ndarray) -> np.ndarray:
  e = np.where(seen, np.exp(s - s.max(-1, keepdims=True)), 0.0)
  return e / e.sum(-1, keepdims=True)


def _scale(w: np.ndarray, s: np.ndarray, seen: np.ndarray) -> float:
  """The factor of the scores: from two weights of one query."""
  for row in np.ndindex(*w.shape[:-1]):
    places = np.flatnonzero(seen[row])
    if len(places) > 1:
      a, b = places[:2]
      return float((math.log(w[row][a]) - math.log(w[row][b])) / (s[row][a] - s[row][b]))
  raise Refused("a query sees only one key")


def _slopes_contract_keys(first: _Weights, use: Use, part: _Slice, dp: Node) -> bool:
  """Tests that slopes are scale · w (p - sum(w p)); gives whether their product is over keys."""
  scores, root = first.scores, use.dot.operands[use.side]
  masks = _masks(part.nodes)
  if not set(masks) <= set(first.masks):
    raise Refused("the derivative has another mask")
  axes, sizes = _axes(part.nodes, [scores, dp, *masks])
  order = axes.of(scores)
  s = first.random.normal(size=[sizes[a] for a in order])
  p = first.random.normal(size=[sizes[a] for a in axes.of(dp)])
  given: dict[Node, Any] = {scores: s, dp: p}
  hidden = np.zeros(s.shape, bool)
  for mask in masks:
    own = _random_mask(first.random, [sizes[a] for a in axes.of(mask)])
    given[mask] = own
    hidden = hidden | _spread(~own if first_polarity(first, mask) else own, axes.of(mask), order, sizes)
  y = _reordered(_evaluate(part.nodes, axes, sizes, given)[root], axes.of(root), order)
  p = _reordered(p, axes.of(dp), order)
  seen = ~hidden
  if not first.keys_last:
    y, s, p, seen = (np.swapaxes(x, -1, -2) for x in (y, s, p, seen))
  w = softmax(first.scale * s, seen)
  expected = first.scale * w * (p - (w * p).sum(-1, keepdims=True))
  if not np.allclose(y, expected, atol=_CLOSE):
    raise Refused("the slopes are not those of softmax")
  return contracts_keys(axes, order, use, root, first.keys_last)


def first_polarity(first: _Weights, mask: Node) -> bool:
  """Whether keys are seen where a mask is true."""
  own = first.given_masks[mask]
  spread = _spread(own, first.axes.of(mask), first.order, first.sizes)
  if not first.keys_last:
    spread = np.swapaxes(spread, -1, -2)
  return not bool(np.any(first.seen & ~spread))


# --- masks -------------------------------------------------------------------------------------------------------


def _masks(nodes: Sequence[Node]) -> list[Node]:
  """The largest booleans that are computed of indices alone."""
  static: set[Node] = set()
  for node in nodes:
    if node.opcode not in ("leaf", "dot") and all(o in static for o in node.operands):
      static.add(node)
  booleans = [n for n in nodes if n in static and n.dtype == np.bool_ and constant_value(n) is None]
  inner = {o for n in booleans for o in n.operands if n.opcode in ("and", "or", "not", "xor", "broadcast", "reshape")}
  return [n for n in booleans if n not in inner]


def _random_mask(random: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
  """Some true and some false in each row and column, at least two of both where there is room."""
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


def _band(weights: _Weights) -> Band:
  """Which keys the masks leave."""
  band = Band()
  keys, queries = (-1, -2) if weights.keys_last else (-2, -1)
  for mask in weights.masks:
    seen = first_polarity(weights, mask)
    for condition in _conditions(mask, seen):
      f, bound = condition
      affine = f(weights.axes, weights.order[keys], weights.order[queries])
      if (affine.query, affine.key) not in ((1, -1), (-1, 1)):
        raise Refused("a mask is no band of keys around each query")
      # affine >= bound: query - key + c >= bound, or key - query + c >= bound
      if affine.query == 1:
        right = affine.constant - bound
        band = dataclasses.replace(band, right=right if band.right is None else min(band.right, right))
      else:
        left = affine.constant - bound
        band = dataclasses.replace(band, left=left if band.left is None else min(band.left, left))
  sizes = weights.scores.dims[-2:] if weights.keys_last else weights.scores.dims[-2:][::-1]
  if (band.right is not None and band.right < 0) or (
    band.left is not None and (band.left < 0 or sizes[0] - band.left > sizes[1])
  ):
    raise Refused("some queries see no key")
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
      raise Refused("a mask is no band of keys around each query")
    bound = 0 if direction == "GE" else 1
    yield lambda axes, key, query: _difference(_affine(x, axes, key, query), _affine(y, axes, key, query)), bound
  else:
    raise Refused("a mask is computed in another way than by comparing positions")


def _difference(x: _Affine, y: _Affine) -> _Affine:
  return _Affine(x.query - y.query, x.key - y.key, x.constant - y.constant)


def _affine(node: Node, axes: Axes, key: Atom, query: Atom) -> _Affine:
  """An integer as a function of the positions of a query and a key."""
  value = constant_value(node)
  if value is not None and not is_float(node.dtype):
    return _Affine(0, 0, int(value))
  if node.opcode == "iota" and not is_float(node.dtype):
    if node in axes.dims:
      atoms = axes.dim(node, node.attrs["axis"])
      if atoms == (query,):
        return _Affine(1, 0, 0)
      if atoms == (key,):
        return _Affine(0, 1, 0)
  elif node.opcode in ("broadcast", "reshape", "convert") and not is_float(node.dtype):
    return _affine(node.operands[0], axes, key, query)
  elif node.opcode in ("add", "subtract") and not is_float(node.dtype):
    x, y = (_affine(o, axes, key, query) for o in node.operands)
    return (
      _difference(x, y)
      if node.opcode == "subtract"
      else _Affine(x.query + y.query, x.key + y.key, x.constant + y.constant)
    )
  raise Refused("a mask is computed in another way than by comparing positions")


# --- evaluation on small arrays ----------------------------------------------------------------------------------


def _axes(nodes: Sequence[Node], given: Sequence[Node]) -> tuple[Axes, dict[Atom, int]]:
  """Axes of a slice, and a small size for each atom."""
  axes = analyse(Graph(tuple(nodes), (), ()), set(given) - set(_inside(given)))
  sizes: dict[Atom, int] = {}
  for node in nodes:
    for atom in axes.of(node):
      sizes.setdefault(atom, min(atom.size, 4 + len(sizes) % 4))
  scores = axes.of(given[0])
  if (
    len(scores) < 2 or any(sizes[a] < 4 for a in scores[-2:]) or any(len(axes.dim(given[0], d)) != 1 for d in (-1, -2))
  ):
    raise Refused("there are few queries or keys, or their positions are reshaped")
  return axes, sizes


def _inside(given: Sequence[Node]) -> list[Node]:
  """Masks keep what they are computed of, for `_band`; their values are given all the same."""
  return [n for n in given if n.opcode != "dot"]


def _spread(x: np.ndarray, atoms: Sequence[Atom], order: Sequence[Atom], sizes: dict[Atom, int]) -> np.ndarray:
  if any(a not in order for a in atoms):
    raise Refused("a mask has other dimensions than the scores")
  kept = [a for a in order if a in atoms]
  x = _reordered(x, atoms, kept)
  shape = [sizes[a] if a in atoms else 1 for a in order]
  return np.broadcast_to(x.reshape(shape), [sizes[a] for a in order])


def _reordered(x: np.ndarray, now: Sequence[Atom], wanted: Sequence[Atom]) -> np.ndarray:
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


def _evaluate(
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
      return _spread(own, atoms, axes.of(node), sizes)
    case "broadcast":
      order = [
        a
        for d in sorted(
          range(len(x[0].shape) and len(node.attrs["dimensions"])), key=lambda i: node.attrs["dimensions"][i]
        )
        for a in axes.dim(node.operands[0], d)
      ]
      own = _reordered(x[0], axes.of(node.operands[0]), order) if order else x[0]
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
      return _reordered(x[0], axes.of(node.operands[0]), order)
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
    raise Refused(f"{node.opcode} stands between the products")
  return _NUMPY[node.opcode](*x)

"""Recognition of attention in XLA's module: two products with a softmax between, and their derivatives, found by their semantics.

However it is written, attention is a product S = q kᵀ, weights W that are computed from S alone, and a product of W with values. Whether W
is softmax(scale · S), over keys that a mask leaves, is tested numerically, not pattern-matched: the operations between the products are
evaluated on small random arrays in float64, and compared. What a program's derivative makes of it is found the same way: with P = g vᵀ, the
slopes that are multiplied with k and q must be scale · W (P - sum(W P)).

    S = dot(q, k)   W(S)   dot(W, v) = out      dot(W, g) = dv      P = dot(g, v)   Y(S, P)   dot(Y, k) = dq   dot(Y, q) = dk

The kernels of `ops.attention` compute all of these without the arrays W, P and Y, which are as large as all pairs of queries and keys.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.accelerate.attention_masks import Band, band_of, check_positions, masks_of, random_mask
from tilewright.accelerate.axes import Axes, analyse
from tilewright.accelerate.graph import Graph, Node, Refused, View, is_float
from tilewright.accelerate.small_values import evaluate, reordered, small_axes, spread

_CLOSE = 1e-9
_LARGER = (30.0, 1000.0)  # scores and slopes are tested at these sizes too, where a limit on them would show


@dataclasses.dataclass(frozen=True)
class ScoreProduct:
  """A product with one operand that is computed of scores: `side` is the number of that operand."""

  dot: Node
  side: int

  @property
  def other(self) -> Node:
    return self.dot.operands[1 - self.side]


Rows = tuple[int, int, int]


@dataclasses.dataclass(frozen=True)
class Match:
  """An attention. `keys_last` says whether scores have keys as their last dimension, or queries.

  The dimension of queries may hold more than positions: heads that share a head of keys. `rows` are its sizes before the positions, of the
  positions, and after them; for the products of weights they may be in another order than for the scores.
  """

  scores: Node
  keys_last: bool
  scale: float
  band: Band
  rows: dict[Node, Rows]  # of each product
  out: ScoreProduct | None
  dv: ScoreProduct | None = None
  dp: Node | None = None
  dq: ScoreProduct | None = None
  dk: ScoreProduct | None = None

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


def _slice(root: Node, max_nodes: int = 200) -> _Slice:
  nodes: dict[Node, None] = {}
  dots: set[Node] = set()
  leaves: set[Node] = set()

  def visit(node: Node) -> None:
    if node in nodes or len(nodes) > max_nodes:
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
  if len(nodes) > max_nodes:
    leaves.add(root)
  return _Slice(tuple(nodes), frozenset(dots), frozenset(leaves))


def find(view: View) -> list[Match | tuple[Node, str]]:
  """Every attention of a computation; of scores that might be one but are not, why."""
  dots = [n for n in view.nodes if _is_simple(n)]
  slices = {ScoreProduct(d, side): _slice(d.operands[side]) for d in dots for side in (0, 1)}
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
    except Exception as e:  # a fault of ours must not take acceleration of the rest away
      found.append((scores, f"it cannot be recognised ({type(e).__name__}: {e})"))
  return found


def _has_exponential(s: _Slice) -> bool:
  return any(n.opcode == "exponential" for n in s.nodes)


def _match(
  scores: Node, weights: Sequence[ScoreProduct], slopes: Sequence[ScoreProduct], slices: dict[ScoreProduct, _Slice]
) -> Match:
  out: ScoreProduct | None = None
  dv: ScoreProduct | None = None
  first: _Weights | None = None
  orders: dict[Node, tuple[int, ...]] = {}
  for use in weights:
    if not _has_exponential(slices[use]):
      continue
    test = _Weights(scores, use, slices[use])
    if first is not None and not first.is_consistent_with(test):
      raise Refused("two different sets of weights are computed from the same scores")
    first = first or test
    orders[use.dot] = test.row_order
    if test.contracts_keys:
      if out is not None and out != use:
        raise Refused("the weights multiply several arrays of values")
      out = use
    else:
      if dv is not None:
        raise Refused("the weights multiply several arrays")
      dv = use
  if first is None:
    raise Refused("the weights are not a softmax of scores")
  orders[scores] = tuple(range(len(first.queries)))
  dq: ScoreProduct | None = None
  dk: ScoreProduct | None = None
  dp: Node | None = None
  for use in slopes:
    if not _has_exponential(slices[use]):
      continue
    (other,) = slices[use].dots - {scores}
    if dp not in (None, other):
      raise Refused("the gradient of the scores comes from several products")
    dp = other
    is_over_keys, orders[use.dot] = _slopes_contract_keys(first, use, slices[use], other)
    if is_over_keys:
      dq = _once(dq, use)
    else:
      dk = _once(dk, use)
  band, position = _band(first)
  sizes = [a.size for a in first.queries]
  rows = {dot: _rows(order, sizes, position) for dot, order in orders.items()}
  scale = float(np.float32(first.scale))  # as the program has it
  match = Match(scores, first.keys_last, scale, band, rows, out, dv, dp, dq, dk)
  _check(match)
  return match


def _band(first: _Weights) -> tuple[Band, int]:
  """The keys that the masks leave, and which part of the dimension of queries are positions."""
  polarity = {mask: first_polarity(first, mask) for mask in first.masks}
  left = np.ones_like(first.seen)
  for mask, seen in polarity.items():
    left &= _seen_by(first, mask) == seen
  if not np.array_equal(left, first.seen):
    raise Refused("keys are hidden by more than masks that all must leave them")
  queries, (key,) = first.queries, first.keys
  if not polarity:
    return Band(), max(range(len(queries)), key=lambda i: queries[i].size)
  problem: Refused | None = None
  for i, query in enumerate(queries):
    try:
      return band_of(polarity, first.axes, key, query, query.size, key.size), i
    except Refused as why:
      problem = problem or why
  raise problem or Refused("there are no queries")


def _rows(order: Sequence[int], sizes: Sequence[int], position: int) -> Rows:
  """What comes before the positions and after them, if heads are in the order of the scores."""
  if len(order) != len(sizes) or [i for i in order if i != position] != [i for i in range(len(sizes)) if i != position]:
    raise Refused("heads that share keys are in different orders")
  at = list(order).index(position)
  before, after = ([sizes[i] for i in part] for part in (order[:at], order[at + 1 :]))
  return math.prod(before), sizes[position], math.prod(after)


def _once(before: ScoreProduct | None, use: ScoreProduct) -> ScoreProduct:
  if before is not None:
    raise Refused("the gradient of the scores multiplies several arrays")
  return use


def _check(match: Match) -> None:
  """That the same arrays are in all places of an attention."""
  if match.out is None and match.dv is None:
    raise Refused("the weights do not multiply values")
  if not match.has_slopes:
    return
  if match.dp is None or match.dv is None or match.dq is None or match.dk is None:
    raise Refused("only a part of the derivative is computed")
  q_side, k_side = (0, 1) if match.keys_last else (1, 0)
  q, k = (operand_place(match.scores, side, False) for side in (q_side, k_side))
  for use, wanted in ((match.dq, k), (match.dk, q)):
    if not same_array(operand_place(use.dot, 1 - use.side, True), wanted):
      raise Refused("the derivative multiplies other arrays than the scores do")
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
class BatchedView:
  """A value as (batch, length, depth): `order` is the permutation of its dimensions that makes it so."""

  node: Node
  order: tuple[int, ...]
  sizes: tuple[int, int, int]


def operand_place(dot: Node, side: int, contracts_length: bool) -> BatchedView:
  x = dot.operands[side]
  batch, (contracted,), (free,) = dot.attrs["batch"][side], dot.attrs["contract"][side], free_dims(dot, side)
  length, depth = (contracted, free) if contracts_length else (free, contracted)
  return BatchedView(x, (*batch, length, depth), (math.prod(x.dims[d] for d in batch), x.dims[length], x.dims[depth]))


def result_place(use: ScoreProduct) -> BatchedView:
  """The result of a product has batches, then the free dimension of the left operand, then that of the right one."""
  dims = use.dot.dims
  batch = tuple(range(len(dims) - 2))
  length, depth = (len(dims) - 2, len(dims) - 1) if use.side == 0 else (len(dims) - 1, len(dims) - 2)
  return BatchedView(use.dot, (*batch, length, depth), (math.prod(dims[d] for d in batch), dims[length], dims[depth]))


def base_of(node: Node) -> Node:
  """What a node is a transposition or reshape of, or a conversion that keeps every number."""
  while node.opcode in ("transpose", "reshape") or widens(node):
    node = node.operands[0]
  return node


def widens(node: Node) -> bool:
  """Whether a node has the floats of its operand in a type that has them all."""
  return (
    node.opcode == "convert"
    and is_float(node.dtype)
    and is_float(node.operands[0].dtype)
    and (node.operands[0].dtype.itemsize < node.dtype.itemsize)
  )


def same_array(a: BatchedView, b: BatchedView) -> bool:
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

  def __init__(self, scores: Node, use: ScoreProduct, part: _Slice):
    self.scores, self.use = scores, use
    root = use.dot.operands[use.side]
    self.masks = masks_of(part.nodes)
    check_positions(root, [scores, *self.masks])
    self.axes, self.sizes = small_axes(part.nodes, [scores, *self.masks])
    self.order = self.axes.of(scores)
    self.random = np.random.default_rng(1)
    s = self.random.normal(size=[self.sizes[a] for a in self.order])
    given: dict[Node, Any] = {scores: s}
    for mask in self.masks:
      given[mask] = random_mask(self.random, [self.sizes[a] for a in self.axes.of(mask)])
    w = evaluate(part.nodes, self.axes, self.sizes, given)[root]
    w, s = matrices(w, root, scores, self.axes), matrices(s, scores, scores, self.axes)
    if not np.all(np.isfinite(w)) or np.any(w < 0):
      raise Refused("the weights are not a softmax of scores")
    last = np.allclose(w.sum(-1), 1.0, atol=_CLOSE)
    if not last and not np.allclose(w.sum(-2), 1.0, atol=_CLOSE):
      raise Refused("the weights of a query do not add up to one")
    self.keys_last = last
    left, right = (self.axes.dim(scores, d) for d in (-2, -1))
    self.queries, self.keys = (left, right) if last else (right, left)
    if len(self.keys) != 1:
      raise Refused("positions of keys are reshaped")
    if not last:
      w, s = np.swapaxes(w, -1, -2), np.swapaxes(s, -1, -2)
    self.seen = w > 0
    self.scale = _scale(w, s, self.seen)
    expected = softmax(self.scale * s, self.seen)
    if not np.allclose(w, expected, atol=_CLOSE):
      raise Refused("the weights are not a softmax of scaled scores")
    for factor in _LARGER:
      large = evaluate(part.nodes, self.axes, self.sizes, given | {scores: factor * given[scores]})[root]
      large = matrices(large, root, scores, self.axes)
      if not np.allclose(
        large if last else np.swapaxes(large, -1, -2), softmax(self.scale * factor * s, self.seen), atol=_CLOSE
      ):
        raise Refused("the weights are not a softmax of large scores")
    self.given_masks = {m: given[m] for m in self.masks}
    self.contracts_keys, self.row_order = contracts_keys(self.axes, scores, use, root, last)

  def is_consistent_with(self, other: _Weights) -> bool:
    return (
      self.keys_last == other.keys_last
      and math.isclose(self.scale, other.scale, rel_tol=1e-12)
      and set(self.masks) == set(other.masks)
    )


def contracts_keys(
  axes: Axes, scores: Node, use: ScoreProduct, root: Node, keys_last: bool
) -> tuple[bool, tuple[int, ...]]:
  """Whether a product adds up over keys, or over queries, and the order in which it has the parts of queries.

  Its batches must be those of the scores.
  """
  (contracted,), (free,) = use.dot.attrs["contract"][use.side], free_dims(use.dot, use.side)
  queries, keys = (axes.dim(scores, d) for d in ((-2, -1) if keys_last else (-1, -2)))
  batch = [a for d in use.dot.attrs["batch"][use.side] for a in axes.dim(root, d)]
  if batch != [a for d in range(len(scores.dims) - 2) for a in axes.dim(scores, d)]:
    raise Refused("a product has batches in another order than the scores")
  over, left = axes.dim(root, contracted), axes.dim(root, free)
  is_over_keys = over == keys
  rows = left if is_over_keys else over
  if (over if is_over_keys else left) != keys or sorted(map(id, rows)) != sorted(map(id, queries)):
    raise Refused("a product of the weights contracts more than keys or queries")
  return is_over_keys, tuple(queries.index(a) for a in rows)


def matrices(x: np.ndarray, node: Node, scores: Node, axes: Axes) -> np.ndarray:
  """Small values of a node as scores have them: batches, and the two last dimensions as they are."""
  x = reordered(x, axes.of(node), axes.of(scores))
  counts = [len(axes.dim(scores, d)) for d in (-2, -1)]
  split = x.ndim - sum(counts)
  left, right = x.shape[split : split + counts[0]], x.shape[split + counts[0] :]
  return x.reshape(*x.shape[:split], math.prod(left), math.prod(right))


def softmax(s: np.ndarray, seen: np.ndarray) -> np.ndarray:
  s = np.where(seen, s, -np.inf)
  e = np.exp(s - np.where(seen.any(-1, keepdims=True), s.max(-1, keepdims=True), 0.0))
  with np.errstate(invalid="ignore"):  # queries that see nothing
    return e / e.sum(-1, keepdims=True)


def _scale(w: np.ndarray, s: np.ndarray, seen: np.ndarray) -> float:
  """The factor of the scores: from two weights of one query."""
  for row in np.ndindex(*w.shape[:-1]):
    places = np.flatnonzero(seen[row])
    if len(places) > 1:
      a, b = places[:2]
      return float((math.log(w[row][a]) - math.log(w[row][b])) / (s[row][a] - s[row][b]))
  raise Refused("a query attends to one key only")


def _slopes_contract_keys(first: _Weights, use: ScoreProduct, part: _Slice, dp: Node) -> tuple[bool, tuple[int, ...]]:
  """Tests that slopes are scale · w (p - sum(w p)); returns whether their product is over keys, and its order of rows."""
  scores, root = first.scores, use.dot.operands[use.side]
  masks = masks_of(part.nodes)
  check_positions(root, [scores, dp, *masks])
  if not set(masks) <= set(first.masks):
    raise Refused("the derivative has another mask")
  axes, sizes = small_axes(part.nodes, [scores, dp, *masks])
  order = axes.of(scores)
  s = first.random.normal(size=[sizes[a] for a in order])
  p = first.random.normal(size=[sizes[a] for a in axes.of(dp)])
  given: dict[Node, Any] = {scores: s, dp: p}
  hidden = np.zeros(s.shape, bool)
  for mask in masks:
    own = random_mask(first.random, [sizes[a] for a in axes.of(mask)])
    given[mask] = own
    hidden = hidden | spread(~own if first_polarity(first, mask) else own, axes.of(mask), order, sizes)

  def transposed(x: np.ndarray, node: Node) -> np.ndarray:
    found = matrices(x, node, scores, axes)
    return found if first.keys_last else np.swapaxes(found, -1, -2)

  s, p, seen = transposed(s, scores), transposed(p, dp), transposed(~hidden, scores)
  for factor in (1.0, *_LARGER):
    larger = given | {scores: factor * given[scores], dp: factor * given[dp]}
    y = transposed(evaluate(part.nodes, axes, sizes, larger)[root], root)
    w, slope = softmax(first.scale * factor * s, seen), factor * p
    expected = first.scale * w * (slope - (w * slope).sum(-1, keepdims=True))
    if not np.allclose(y, expected, rtol=1e-7, atol=_CLOSE * factor):
      raise Refused("the gradient is not that of softmax")
  return contracts_keys(axes, scores, use, root, first.keys_last)


def first_polarity(first: _Weights, mask: Node) -> bool:
  """Whether keys are seen where a mask is true."""
  return not bool(np.any(first.seen & ~_seen_by(first, mask)))


def _seen_by(first: _Weights, mask: Node) -> np.ndarray:
  """The small values of a mask, for each query and key."""
  own = spread(first.given_masks[mask], first.axes.of(mask), first.order, first.sizes)
  own = matrices(own, first.scores, first.scores, first.axes)
  return own if first.keys_last else np.swapaxes(own, -1, -2)

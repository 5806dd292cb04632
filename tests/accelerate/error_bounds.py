"""How far the values of a region may be from exact ones: a running error analysis.

Each node has its value in float64 and, per element, a bound on how far any evaluation may be from it that rounds each operation to a few
units in the last place, adds up sums in any order, and may keep products before they are
added. A comparison whose sides are closer than their bounds may go either way: what depends on it has no bound.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.accelerate.graph import Graph, Node, is_float

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "bfloat16": 2.0**-7, "float16": 2.0**-10}
ULPS = 8  # of one operation


def bounds(graph: Graph, leaves: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
  """The value and the bound of each output."""
  found: dict[Node, tuple[np.ndarray, np.ndarray]] = {}
  for leaf, value in zip(graph.leaves, leaves):
    exact = np.asarray(value, np.float64) if is_float(leaf.dtype) else np.asarray(value)
    found[leaf] = exact, np.zeros(exact.shape)
  with np.errstate(all="ignore"):
    for node in graph.nodes:
      if node not in found:
        value, error = _value(node, [found[o] for o in node.operands])
        if is_float(node.dtype):
          error = error + ULPS * EPS[node.dtype.name] * np.abs(value) + 1e-37
        found[node] = value, error
  return [found[o.node] for o in graph.outputs]


def _value(node: Node, x: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
  a = node.attrs
  values, errors = [v for v, _ in x], [e for _, e in x]
  moved = _MOVED.get(node.opcode)
  if moved is not None:
    return moved(node, values), moved(node, errors)
  match node.opcode:
    case "constant":
      value = np.frombuffer(a["value"], node.dtype)[0]
      return np.asarray(value, np.float64 if is_float(node.dtype) else node.dtype), np.zeros(())
    case "iota":
      line = np.arange(node.dims[a["axis"]]).astype(np.float64 if is_float(node.dtype) else node.dtype)
      shape = [d if i == a["axis"] else 1 for i, d in enumerate(node.dims)]
      return np.broadcast_to(line.reshape(shape), node.dims), np.zeros(node.dims)
    case "convert":
      target = np.float64 if is_float(node.dtype) else node.dtype
      return values[0].astype(target), errors[0]
    case "compare":
      compare = {
        "EQ": np.equal,
        "NE": np.not_equal,
        "LT": np.less,
        "LE": np.less_equal,
        "GT": np.greater,
        "GE": np.greater_equal,
      }
      close = (
        is_float(node.operands[0].dtype) & (np.abs(values[0] - values[1]) <= errors[0] + errors[1]) & (sum(errors) > 0)
      )
      return compare[a["direction"]](*values), np.where(close, np.inf, 0.0)
    case "select":
      either = np.maximum(errors[1], errors[2])
      chosen = np.where(values[0], errors[1], errors[2])
      return np.where(*values), np.where(errors[0] > 0, np.inf + either, chosen)
    case "reduce":
      return _reduced(node, values[0], errors[0])
    case "dot":
      subscripts = _subscripts(node)
      size = np.einsum(subscripts, np.abs(values[0]), np.abs(values[1]))
      count = math.prod(node.operands[0].dims[i] for i in a["contract"][0])
      error = np.einsum(subscripts, np.abs(values[0]), errors[1]) + np.einsum(subscripts, errors[0], np.abs(values[1]))
      return np.einsum(subscripts, *values), error + count * EPS[node.dtype.name] * size
  if not is_float(node.dtype):
    whole = {
      "add": np.add,
      "subtract": np.subtract,
      "multiply": np.multiply,
      "maximum": np.maximum,
      "minimum": np.minimum,
    }
    bits = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert, "negate": np.negative}
    return (whole | bits)[node.opcode](*values), sum(errors)
  return _FLOATS[node.opcode](values, errors)


def _slope(f, slope):
  def of(v, e):
    near = np.maximum(slope(v[0]), np.maximum(slope(v[0] - e[0]), slope(v[0] + e[0])))
    return f(v[0]), np.where(e[0] > 0, near * e[0], 0.0)

  return of


_FLOATS = {
  "add": lambda v, e: (v[0] + v[1], e[0] + e[1] + 4 * 2.0**-23 * (np.abs(v[0]) + np.abs(v[1]))),
  "subtract": lambda v, e: (v[0] - v[1], e[0] + e[1] + 4 * 2.0**-23 * (np.abs(v[0]) + np.abs(v[1]))),
  "multiply": lambda v, e: (v[0] * v[1], np.abs(v[0]) * e[1] + np.abs(v[1]) * e[0] + e[0] * e[1]),
  "divide": lambda v, e: (
    v[0] / v[1],
    (e[0] + np.abs(v[0] / v[1]) * e[1]) / np.maximum(np.abs(v[1]) - e[1], 1e-30),
  ),
  "maximum": lambda v, e: (np.maximum(*v), np.maximum(*e)),
  "minimum": lambda v, e: (np.minimum(*v), np.minimum(*e) * 0 + np.maximum(*e)),
  "negate": lambda v, e: (-v[0], e[0]),
  "abs": lambda v, e: (np.abs(v[0]), e[0]),
  "exponential": _slope(np.exp, np.exp),
  "tanh": _slope(np.tanh, lambda x: np.ones_like(x)),
  "logistic": _slope(lambda x: 1 / (1 + np.exp(-x)), lambda x: np.full_like(x, 0.25)),
  "sine": _slope(np.sin, lambda x: np.ones_like(x)),
}


def _reduced(node: Node, value: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  axes, kind = node.attrs["dimensions"], node.attrs["kind"]
  if kind in ("max", "min"):
    return getattr(value, kind)(axis=axes), error.max(axis=axes)
  if not is_float(node.dtype):
    return value.sum(axis=axes, dtype=node.dtype), error.sum(axis=axes)
  count = math.prod(node.operands[0].dims[i] for i in axes)
  size = (np.abs(value) + error).sum(axis=axes)
  return value.sum(axis=axes), error.sum(axis=axes) + count * EPS[node.dtype.name] * size


def _subscripts(node: Node) -> str:
  (lc, rc), (lb, rb) = node.attrs["contract"], node.attrs["batch"]
  letters = iter("abcdefghijklmnop")
  left = [next(letters) for _ in node.operands[0].dims]
  right = [next(letters) for _ in node.operands[1].dims]
  for i, j in (*zip(lc, rc), *zip(lb, rb)):
    right[j] = left[i]
  free = [left[i] for i in range(len(left)) if i not in (*lc, *lb)] + [
    right[j] for j in range(len(right)) if j not in (*rc, *rb)
  ]
  return f"{''.join(left)},{''.join(right)}->{''.join([left[i] for i in lb] + free)}"


def _broadcast(node: Node, x: list[np.ndarray]) -> np.ndarray:
  at = node.attrs["dimensions"]
  order = sorted(range(len(at)), key=lambda i: at[i])
  shape = [node.dims[d] if d in at else 1 for d in range(len(node.dims))]
  return np.broadcast_to(np.transpose(x[0], order).reshape(shape), node.dims)


def _pad(node: Node, x: list[np.ndarray]) -> np.ndarray:
  out = np.full(node.dims, x[1])
  cut = tuple(
    slice(low, low + (d - 1) * (inner + 1) + 1, inner + 1)
    for (low, _, inner), d in zip(node.attrs["padding"], x[0].shape)
  )
  out[cut] = x[0]
  return out


_MOVED = {
  "broadcast": _broadcast,
  "reshape": lambda node, x: x[0].reshape(node.dims),
  "transpose": lambda node, x: np.transpose(x[0], node.attrs["permutation"]),
  "slice": lambda node, x: x[0][tuple(slice(*c) for c in node.attrs["cuts"])],
  "pad": _pad,
  "concatenate": lambda node, x: np.concatenate(x, node.attrs["axis"]),
  "reverse": lambda node, x: np.flip(x[0], node.attrs["axes"]),
}

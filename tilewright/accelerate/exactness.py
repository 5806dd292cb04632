"""Which kernels give the same bits as XLA's instructions.

With `exact=True` only regions are taken in which every op is exact in both: IEEE arithmetic on single operations, comparisons, selections,
conversions, moved data, and reductions by maximum, minimum, and, or, which have one result in any order. Sums of floats depend on
their order, functions such as exp on their approximation, and a product that is added may be rounded once (fused multiply-add) or
twice: regions with one of these are left to XLA. So are quotients and roots on GPUs, which XLA approximates there.
"""

from __future__ import annotations

import numpy as np

from tilewright.accelerate.graph import Graph, Node, is_float

_APPROXIMATE = frozenset(
  {
    *("acos", "acosh", "asin", "asinh", "atanh", "cbrt", "cosine", "cosh", "erf", "exponential", "log", "power"),
    *(
      "exponential-minus-one",
      "log-plus-one",
      "logistic",
      "rsqrt",
      "sine",
      "sinh",
      "tan",
      "tanh",
      "atan2",
      "remainder",
    ),
  }
)
_APPROXIMATE_ON_GPU = frozenset({"divide", "sqrt"})
_ADDS = frozenset({"add", "subtract"})
_ORDERED = frozenset({"sum", "prod"})


# What hands a product on: a compiler may move the addition over these.
_PASSES_ON = frozenset(
  {"select", "negate", "broadcast", "reshape", "transpose", "slice", "pad", "concatenate", "reverse", "convert", "abs"}
)


def _is_product(node: Node) -> bool:
  left, seen = [node], {node}
  while left:
    node = left.pop()
    if node.opcode == "multiply":
      return True
    if node.opcode in _PASSES_ON:
      left += [o for o in node.operands if o not in seen]
      seen.update(node.operands)
  return False


def inexact(graph: Graph, *, on_gpu: bool = False) -> str:
  """What may differ in its bits from XLA's, or nothing."""
  approximate = _APPROXIMATE | _APPROXIMATE_ON_GPU if on_gpu else _APPROXIMATE
  for node in graph.nodes:
    if node.opcode == "leaf" or not (is_float(node.dtype) or any(is_float(o.dtype) for o in node.operands)):
      continue
    if node.opcode in approximate:
      return f"{node.opcode} is approximated"
    if node.opcode == "dot":
      return "a product is added up in another order"
    if node.opcode == "reduce" and node.attrs["kind"] in _ORDERED:
      return "a sum is added up in another order"
    if node.opcode in _ADDS and any(map(_is_product, node.operands)):
      return "a product that is added may be rounded once or twice"
    if (
      node.dtype not in (np.dtype(np.float32), np.dtype(np.float64))
      and is_float(node.dtype)
      and node.opcode
      in (
        "multiply",
        "divide",
        *_ADDS,
      )
    ):
      return f"{node.dtype} may be computed in more precision"
  return ""

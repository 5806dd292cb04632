"""Cost estimates: the flops, transcendental operations and bytes of a function, counted in its jaxpr.

Bytes are those of the inputs and outputs, as if all intermediates stayed on chip. A loop body counts once per iteration where the trip
count is known; a branch counts as its most expensive arm.

`estimate_cost` leaves out what JAX's estimate leaves out (`_UNCOUNTED`: reductions, and functions such as erf), so that XLA's scheduler
is told the same of a program as by JAX. `instance_work`, which is for people, counts everything.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import jax

from tilewright.runtime import _jax
from tilewright.tile.grid import CostEstimate, Kernel


@dataclasses.dataclass(frozen=True)
class _Count:
  flops: int = 0
  transcendentals: int = 0
  remote_bytes: int = 0

  def __add__(self, other: _Count) -> _Count:
    return _Count(
      self.flops + other.flops, self.transcendentals + other.transcendentals, self.remote_bytes + other.remote_bytes
    )

  def __mul__(self, times: int) -> _Count:
    return _Count(self.flops * times, self.transcendentals * times, self.remote_bytes * times)


def _size(atom: Any) -> int:
  return math.prod(getattr(atom.aval, "shape", ()))


_FLOP_PER_ELEMENT = {
  *(
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "max",
    "min",
    "neg",
    "floor",
    "ceil",
    "round",
    "and",
    "or",
    "xor",
    "not",
    "square",
  ),
  *("add_any", "nextafter"),
}
_TRANSCENDENTAL = {
  *(
    "exp",
    "exp2",
    "log",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "tan",
    "tanh",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "asinh",
  ),
  *(
    "acosh",
    "atanh",
    "logistic",
    "erf",
    "erfc",
    "erf_inv",
    "sqrt",
    "rsqrt",
    "cbrt",
    "pow",
    "atan2",
    "lgamma",
    "digamma",
  ),
}
_REDUCTIONS = {
  *(
    "reduce_sum",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "argmax",
    "argmin",
  ),
  *("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"),
}


def _dot(eqn: Any) -> _Count:
  (lhs_contract, _), _ = eqn.params["dimension_numbers"]
  k = math.prod(eqn.invars[0].aval.shape[d] for d in lhs_contract)
  return _Count(flops=2 * k * _size(eqn.outvars[0]))


# Primitives that cost nothing in JAX's `estimate_cost`.
_UNCOUNTED = _REDUCTIONS | {
  *(
    "exp2",
    "log1p",
    "expm1",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "erf_inv",
    "rsqrt",
    "cbrt",
    "lgamma",
    "digamma",
  ),
  *("pow", "atan2", "square", "rem", "nextafter"),
}


def _integer_pow(eqn: Any) -> _Count:
  y = abs(eqn.params["y"])
  # Repeated squaring: one multiplication per bit after the first, and one per bit that is set; a division where y is negative.
  times = 0 if eqn.params["y"] in (0, 1) else y.bit_length() - 1 + y.bit_count() + (eqn.params["y"] < 0)
  return _Count(flops=times * _size(eqn.outvars[0]))


_Rule = Callable[[Any, Mapping[str, Any]], _Count]


def _scan(eqn: Any, rules: Mapping[str, Any]) -> _Count:
  return _count(eqn.params["jaxpr"], rules) * int(eqn.params["length"])


def _cond(eqn: Any, rules: Mapping[str, Any]) -> _Count:
  return max((_count(b, rules) for b in eqn.params["branches"]), key=lambda c: (c.flops, c.transcendentals))


def _while(eqn: Any, rules: Mapping[str, Any]) -> _Count:
  return _count(eqn.params["body_jaxpr"], rules) + _count(eqn.params["cond_jaxpr"], rules)


def _kernel(eqn: Any, rules: Mapping[str, Any]) -> _Count:
  kernel = Kernel(**eqn.params)
  if (own := kernel.cost_estimate) is not None:
    return _Count(own.flops, own.transcendentals, own.remote_bytes_transferred)
  return _count(kernel.jaxpr, rules) * (kernel.grid_mapping.num_points or 1)


_RULES: dict[str, _Rule] = {
  "dot_general": lambda eqn, _: _dot(eqn),
  "integer_pow": lambda eqn, _: _integer_pow(eqn),
  "scan": _scan,
  "cond": _cond,
  "while": _while,
  "pallas_call": _kernel,
  **{name: lambda eqn, _: _Count(flops=_size(eqn.outvars[0])) for name in _FLOP_PER_ELEMENT},
  **{name: lambda eqn, _: _Count(transcendentals=_size(eqn.outvars[0])) for name in _TRANSCENDENTAL},
  **{name: lambda eqn, _: _Count(flops=_size(eqn.invars[0])) for name in _REDUCTIONS},
}
_RULES_OF_JAX = {name: rule for name, rule in _RULES.items() if name not in _UNCOUNTED}


def _count(jaxpr: Any, rules: Mapping[str, Any]) -> _Count:
  total = _Count()
  for eqn in _jax.open_jaxpr(jaxpr)[0].eqns:
    rule = rules.get(eqn.primitive.name)
    if rule is not None:
      total += rule(eqn, rules)
      continue
    for name in ("jaxpr", "call_jaxpr"):
      if name in eqn.params:
        total += _count(eqn.params[name], rules)
  return total


def _nbytes(aval: Any) -> int:
  return math.prod(aval.shape) * aval.dtype.itemsize


def estimate_cost(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> CostEstimate:
  """Estimate the cost of `fun(*args, **kwargs)`.

  Args:
    fun: a JAX function.
    *args: arrays or `jax.ShapeDtypeStruct`s.
    **kwargs: the same; any other value, such as a bool or a float, is passed to `fun` unchanged.
  """
  leaves, tree = jax.tree.flatten(kwargs)
  traced = {i: leaf for i, leaf in enumerate(leaves) if hasattr(leaf, "shape") and hasattr(leaf, "dtype")}

  def call(args: Any, traced: dict[int, Any]) -> Any:
    return fun(*args, **jax.tree.unflatten(tree, [traced.get(i, leaf) for i, leaf in enumerate(leaves)]))

  closed = jax.make_jaxpr(call)(args, traced)
  count = _count(closed, _RULES_OF_JAX)
  moved = sum(_nbytes(a) for a in (*closed.in_avals, *closed.out_avals))
  return CostEstimate(count.flops, count.transcendentals, moved, count.remote_bytes)


@dataclasses.dataclass(frozen=True)
class Work:
  """The work of one kernel instance: matrix-product operations by operand dtype, other operations, and transcendental operations."""

  products: tuple[tuple[Any, int], ...]
  flops: int
  transcendentals: int


def instance_work(kernel: Kernel) -> Work:
  """The work of one instance, counted in the kernel's body. A branch counts as its most expensive arm."""
  products: dict[Any, int] = {}
  _add_products(kernel.jaxpr, 1, products)
  count = _count(kernel.jaxpr, _RULES)
  return Work(tuple(products.items()), max(0, count.flops - sum(products.values())), count.transcendentals)


def _add_products(jaxpr: Any, times: int, found: dict[Any, int]) -> None:
  from tilewright.target.xla.evaluate import subjaxprs

  for eqn in _jax.open_jaxpr(jaxpr)[0].eqns:
    if eqn.primitive.name == "dot_general":
      dtype = eqn.invars[0].aval.dtype
      found[dtype] = found.get(dtype, 0) + times * _dot(eqn).flops
      continue
    rounds = int(eqn.params["length"]) if eqn.primitive.name == "scan" else 1
    arms: list[dict[Any, int]] = []
    for inner in subjaxprs(eqn):
      arms.append({})
      _add_products(inner, times * rounds, arms[-1])
    if eqn.primitive.name == "cond":
      arms = [max(arms, key=lambda arm: sum(arm.values()))]
    for dtype, flops in (item for arm in arms for item in arm.items()):
      found[dtype] = found.get(dtype, 0) + flops

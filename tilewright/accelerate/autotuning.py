"""Autotuning of a region: XLA's program, from the region written with `jax.lax`, timed against our kernel.

Measurements are cached on disk under the name of the kernel's code, which covers everything they depend on except the machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.accelerate.calls import Code
from tilewright.accelerate.emit import result_shapes
from tilewright.accelerate.graph import Graph, Node, is_float
from tilewright.accelerate.tiles import Tiling, partial_sizes
from tilewright.accelerate.timing import Comparison, Sample, compare
from tilewright.runtime import cache, jit

_QUEUED_SECONDS, _MOST_QUEUED = 5e-3, 100
_KIND = "accelerate"

_UNARY: dict[str, Callable[..., Any]] = {
  "abs": lax.abs,
  "acos": lax.acos,
  "acosh": lax.acosh,
  "asin": lax.asin,
  "asinh": lax.asinh,
  "atanh": lax.atanh,
  "cbrt": lax.cbrt,
  "ceil": lax.ceil,
  "cosine": lax.cos,
  "cosh": lax.cosh,
  "erf": lax.erf,
  "exponential": lax.exp,
  "exponential-minus-one": lax.expm1,
  "floor": lax.floor,
  "log": lax.log,
  "log-plus-one": lax.log1p,
  "logistic": lax.logistic,
  "negate": lax.neg,
  "not": lax.bitwise_not,
  "round-nearest-afz": lax.round,
  "round-nearest-even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
  "rsqrt": lax.rsqrt,
  "sign": lax.sign,
  "sine": lax.sin,
  "sinh": lax.sinh,
  "sqrt": lax.sqrt,
  "tan": lax.tan,
  "tanh": lax.tanh,
  "is-finite": lax.is_finite,
  "count-leading-zeros": lax.clz,
  "popcnt": lax.population_count,
}
_BINARY: dict[str, Callable[..., Any]] = {
  "add": lax.add,
  "subtract": lax.sub,
  "multiply": lax.mul,
  "divide": lax.div,
  "maximum": lax.max,
  "minimum": lax.min,
  "power": lax.pow,
  "remainder": lax.rem,
  "atan2": lax.atan2,
  "and": lax.bitwise_and,
  "or": lax.bitwise_or,
  "xor": lax.bitwise_xor,
  "shift-left": lax.shift_left,
  "shift-right-arithmetic": lax.shift_right_arithmetic,
  "shift-right-logical": lax.shift_right_logical,
}
_COMPARE = {"EQ": lax.eq, "NE": lax.ne, "LT": lax.lt, "LE": lax.le, "GT": lax.gt, "GE": lax.ge}
_REDUCE: dict[str, Callable[..., Any]] = {
  "sum": jnp.sum,
  "prod": jnp.prod,
  "max": jnp.max,
  "min": jnp.min,
  "and": jnp.all,
  "or": jnp.any,
}


def as_function(graph: Graph) -> Callable[..., list[Any]]:
  """A region as a JAX function of its leaves."""

  def call(*leaves: Any) -> list[Any]:
    values: dict[Node, Any] = dict(zip(graph.leaves, leaves))
    for node in graph.nodes:
      if node not in values:
        values[node] = _value(node, [values[o] for o in node.operands])
    return [values[o.node] for o in graph.outputs]

  return call


def _value(node: Node, x: Sequence[Any]) -> Any:
  a = node.attrs
  if node.opcode in _UNARY:
    return _UNARY[node.opcode](*x)
  if node.opcode in _BINARY:
    return _BINARY[node.opcode](*x)
  match node.opcode:
    case "constant":
      return jnp.asarray(np.frombuffer(a["value"], node.dtype)[0])
    case "iota":
      return lax.broadcasted_iota(node.dtype, node.dims, a["axis"])
    case "broadcast":
      return lax.broadcast_in_dim(x[0], node.dims, a["dimensions"])
    case "transpose":
      return lax.transpose(x[0], a["permutation"])
    case "reshape":
      return lax.reshape(x[0], node.dims)
    case "reduce":
      return _REDUCE[a["kind"]](x[0], axis=a["dimensions"]).astype(node.dtype)
    case "compare":
      return _COMPARE[a["direction"]](*x)
    case "select":
      return lax.select(*x)
    case "clamp":
      return lax.clamp(*x)
    case "convert":
      return lax.convert_element_type(x[0], node.dtype)
    case "bitcast-convert":
      return lax.bitcast_convert_type(x[0], node.dtype)
    case "slice":
      starts, stops, strides = zip(*a["cuts"])
      return lax.slice(x[0], starts, stops, strides)
    case "pad":
      return lax.pad(x[0], x[1], a["padding"])
    case "concatenate":
      return lax.concatenate(x, a["axis"])
    case "reverse":
      return lax.rev(x[0], a["axes"])
    case "dot":
      return lax.dot_general(*x, (a["contract"], a["batch"]), preferred_element_type=node.dtype)
  raise AssertionError(node.opcode)


def as_call(code: Code, graph: Graph, tiling: Tiling) -> Callable[..., list[Any]]:
  """The kernel of a region as a JAX function of its leaves."""
  results = [jax.ShapeDtypeStruct(s.dimensions, s.dtype) for s in result_shapes(graph, tiling)]
  count = len(results)
  if code.workspace_bytes:
    results.append(jax.ShapeDtypeStruct((code.workspace_bytes,), jnp.uint8))
  own = code.attributes.strip("{}")
  attributes = {own.split(" = ")[0]: own.split(" = ")[1].strip('"')} if own else {}

  def call(*leaves: Any) -> list[Any]:
    found = jax.ffi.ffi_call(code.target, results)(*leaves, **attributes)[:count]
    return [
      x.sum(tuple(range(len(partial_sizes(tiling, k))))) if k in tiling.partial_sums else x for k, x in enumerate(found)
    ]

  return call


def random_leaves(graph: Graph, seed: int = 0) -> list[Any]:
  rng = np.random.default_rng(seed)
  found = []
  for leaf in graph.leaves:
    if leaf.dtype == np.bool_:
      value = rng.integers(0, 2, leaf.dims).astype(np.bool_)
    elif is_float(leaf.dtype):
      value = (rng.random(leaf.dims, np.float32) + np.float32(0.25)).astype(leaf.dtype)
    else:
      value = rng.integers(0, 100, leaf.dims).astype(leaf.dtype)
    found.append(jnp.asarray(value))
  return found


def measure(code: Code, graph: Graph, tiling: Tiling, is_gpu: bool) -> Comparison:
  """XLA's program and our kernel for a region, compared. What batches disagreed about is measured again the next time."""
  entry = cache.key("compared", code.key or code.target, *jit.environment())
  if code.key and (kept := cache.get(_KIND, entry)) is not None:
    return Comparison.from_json(json.loads(kept))
  leaves = random_leaves(graph)
  contenders = [jax.jit(as_function(graph)), jax.jit(as_call(code, graph, tiling))]
  for f in contenders:
    jax.block_until_ready(f(*leaves))
  sampler = _queued if is_gpu else _alone
  theirs, ours = (sampler(f, leaves) for f in contenders)
  found = compare(theirs, ours)
  if code.key and found.agrees:
    cache.put(_KIND, entry, json.dumps(found.to_json()).encode())
  return found


def _alone(f: Callable[..., Any], leaves: Sequence[Any]) -> Callable[[], Sample]:
  """One call on the processor, from its begin to its end."""

  def sample() -> Sample:
    spent, start = time.process_time(), time.perf_counter()
    jax.block_until_ready(f(*leaves))
    return Sample(time.perf_counter() - start, time.process_time() - spent)

  return sample


def _queued(f: Callable[..., Any], leaves: Sequence[Any]) -> Callable[[], Sample]:
  """One of many calls that a GPU has in its queue: launching them and noticing their end takes longer than most of them."""
  start = time.perf_counter()
  jax.block_until_ready(f(*leaves))
  count = max(4, min(_MOST_QUEUED, round(_QUEUED_SECONDS / (time.perf_counter() - start))))

  def sample() -> Sample:
    start = time.perf_counter()
    for _ in range(count):
      found = f(*leaves)
    jax.block_until_ready(found)
    return Sample((time.perf_counter() - start) / count)

  return sample

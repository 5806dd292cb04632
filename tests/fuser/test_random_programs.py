"""Random programs over the rule table, cut at random: block by block they compute what the whole does, bit for bit."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
from blockwise import blocks_of, check
from hypothesis import given, settings
from jax import lax

from tilewright import errors
from tilewright import pallas as pl

SIZES = (1, 2, 3, 4, 6, 8)


def exact(*shape):
  """Small integers as floats: sums and products of them are exact in any order."""
  return jnp.asarray((np.arange(int(np.prod(shape))).reshape(shape) * 7 % 5 - 2).astype(np.float32))


def reshapes(shape):
  """Shapes with as many elements, by splitting or merging neighbours."""
  found = []
  for d, n in enumerate(shape):
    found += [(*shape[:d], k, n // k, *shape[d + 1 :]) for k in (2, 3, 4) if n % k == 0]
    if d + 1 < len(shape):
      found.append((*shape[:d], n * shape[d + 1], *shape[d + 2 :]))
  return [s for s in found if 0 < len(s) <= 3] or [tuple(shape)]


@st.composite
def operations(draw, shape):
  """An operation on an array of a shape: its name and a function."""
  rank = len(shape)
  axis = draw(st.integers(0, rank - 1))
  n = shape[axis]
  kind = draw(st.sampled_from(KINDS))
  at = (slice(None),) * axis
  match kind:
    case "elementwise":
      return draw(st.sampled_from([lambda x: x + 1, lambda x: x * 2, jnp.abs, lambda x: jnp.maximum(x, 0.0), jnp.sign]))
    case "binary":
      return lambda x: x + exact(*shape)
    case "row":
      return lambda x: x * exact(shape[-1])
    case "where":
      return lambda x: jnp.where(x > 0, x, -exact(*shape))
    case "twice":
      return lambda x: x * 2 + jnp.abs(x)
    case "transpose":
      order = draw(st.permutations(range(rank)))
      return lambda x: x.transpose(order)
    case "reshape":
      new = draw(st.sampled_from(reshapes(shape)))
      return lambda x: x.reshape(new)
    case "expand":
      return (lambda x: jnp.expand_dims(x, axis)) if rank < 3 else (lambda x: x + 1)
    case "broadcast":
      return lambda x: jnp.broadcast_to(x[at][(*at, slice(0, 1))], shape)
    case "slice":
      start, stride = draw(st.integers(0, n - 1)), draw(st.sampled_from([1, 1, 2, 3]))
      return lambda x: x[(*at, slice(start, None, stride))]
    case "concatenate":
      return lambda x: jnp.concatenate([x, exact(*shape)], axis)
    case "pad":
      low, high = draw(st.integers(0, 4)), draw(st.integers(0, 4))
      widths = [(low, high) if d == axis else (0, 0) for d in range(rank)]
      return lambda x: jnp.pad(x, widths, constant_values=3.0)
    case "rev":
      return lambda x: lax.rev(x, (axis,))
    case "iota":
      return lambda x: x + lax.broadcasted_iota(jnp.float32, shape, axis)
    case "reduce":
      f = draw(st.sampled_from([jnp.sum, jnp.max, jnp.min]))
      return (lambda x: f(x, axis)) if rank > 1 else (lambda x: x - f(x, axis, keepdims=True))
    case "norm":
      return lambda x: x - jnp.max(x, axis, keepdims=True)
    case "cumsum":
      return lambda x: jnp.cumsum(x, axis)
    case "dot":
      return lambda x: lax.dot_general(x, exact(n, 3), (((axis,), (0,)), ((), ())))
    case "take":
      places = jnp.asarray(draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6)), jnp.int32)
      return lambda x: jnp.take(x, places, axis)
    case "dynamic_slice":
      start, size = jnp.int32(draw(st.integers(0, n))), draw(st.integers(1, n))
      return lambda x: lax.dynamic_slice_in_dim(x, start, size, axis)
    case "update":
      start, size = jnp.int32(draw(st.integers(0, n))), draw(st.integers(1, n))
      part = [size if d == axis else m for d, m in enumerate(shape)]
      return lambda x: lax.dynamic_update_slice_in_dim(x, exact(*part), start, axis)
    case "split":
      return (lambda x: sum(jnp.split(x, 2, axis))) if n % 2 == 0 else (lambda x: x - 1)
    case "tile":
      return (lambda x: jnp.tile(x, [2 if d == axis else 1 for d in range(rank)])) if n < 8 else (lambda x: x - 1)
    case _:
      return lambda x: lax.fori_loop(0, 3, lambda i, c: c + x, x)


KINDS = [
  "elementwise",
  "binary",
  "row",
  "where",
  "twice",
  "transpose",
  "reshape",
  "expand",
  "broadcast",
  "slice",
  "concatenate",
  "pad",
  "rev",
  "iota",
  "reduce",
  "norm",
  "cumsum",
  "dot",
  "take",
  "dynamic_slice",
  "update",
  "split",
  "tile",
  "loop",
]


@st.composite
def block_dims(draw, n):
  size = draw(st.sampled_from(sorted({1, 2, 3, 4, n, (n + 1) // 2})))
  kinds = [size, pl.Blocked(size), pl.Element(size)] + ([None] if size == 1 else [])
  return draw(st.sampled_from(kinds))


@st.composite
def cases(draw):
  shape = tuple(draw(st.lists(st.sampled_from(SIZES), min_size=1, max_size=3)))
  steps = []
  now = shape
  for _ in range(draw(st.integers(1, 4))):
    step = draw(operations(now))
    now = jax.eval_shape(step, jax.ShapeDtypeStruct(now, jnp.float32)).shape
    steps.append(step)
    if not now or int(np.prod(now)) > 400:
      break
  hypothesis.assume(now and 0 not in now and int(np.prod(now)) <= 400)
  block = [draw(block_dims(n)) for n in now]
  return shape, steps, now, block


@given(cases(), st.booleans())
@settings(max_examples=30, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_block_by_block_is_the_whole(case, strict):
  shape, steps, out_shape, block = case
  spec, grid = blocks_of(out_shape, block)
  hypothesis.assume(int(np.prod(grid)) <= 12)

  def f(x):
    for step in steps:
      x = step(x)
    return x

  try:
    check(f, (exact(*shape),), spec, grid, strict=strict)
  except errors.FusionError:  # refused, with a reason: the other property is that what is not refused is right
    hypothesis.event("refused")
    hypothesis.reject()

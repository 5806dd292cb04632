"""Random programs over a table of operations: before and after XLA's optimisations, our result is JAX's.

Integers must agree bit for bit. For floats every generated value carries a bound on its size and on its error, derived
operation by operation (first-order rounding analysis with unit roundoff u), and that bound is the tolerance. XLA may
fuse and reassociate; neither leaves the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from against_jax import result_and_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from tilewright import hlo

SHAPE = (4, 4)
FUNCTION_ULPS = 16  # XLA's elementary functions (see test_evaluate_elementwise.py)


@dataclass(frozen=True)
class Bound:
  size: float  # of the largest value
  error: float  # of either evaluation against exact arithmetic


@dataclass(frozen=True)
class Op:
  arity: int
  apply: Callable[..., jax.Array]
  bound: Callable[..., Bound]  # (unit roundoff, operand bounds…) → of the result


def _sum(u: float, *parts: Bound) -> Bound:
  size = sum(p.size for p in parts)
  return Bound(size, sum(p.error for p in parts) + len(parts) * u * size)


def _product(u: float, a: Bound, b: Bound, terms: int = 1) -> Bound:
  size = terms * a.size * b.size
  return Bound(size, terms * (a.size * b.error + b.size * a.error + a.error * b.error) + (terms + 1) * u * size)


def _lipschitz_one(size: Callable[[Bound], float]) -> Callable[..., Bound]:
  """A function that does not spread errors, computed to FUNCTION_ULPS."""
  return lambda u, a: Bound(size(a), a.error + FUNCTION_ULPS * 2 * u * max(1.0, size(a)))


_same = lambda u, a: a
_either = lambda u, a, b: Bound(max(a.size, b.size), max(a.error, b.error))
_rows = lambda u, a: Bound(4 * a.size, 4 * a.error + 16 * u * a.size)

FLOAT_OPS: dict[str, Op] = {
  "add": Op(2, lax.add, _sum),
  "sub": Op(2, lax.sub, _sum),
  "mul": Op(2, lax.mul, _product),
  "neg": Op(1, lax.neg, _same),
  "abs": Op(1, lax.abs, _same),
  "max": Op(2, lax.max, _either),
  "min": Op(2, lax.min, _either),
  "tanh": Op(1, lax.tanh, _lipschitz_one(lambda a: 1.0)),
  "sin": Op(1, lambda x: lax.sin(lax.clamp(-3.0, x, 3.0).astype(x.dtype)), _lipschitz_one(lambda a: 1.0)),
  "logistic": Op(1, lax.logistic, _lipschitz_one(lambda a: 1.0)),
  "erf": Op(1, lambda x: lax.erf(x) * 0.5, _lipschitz_one(lambda a: 1.0)),  # the slope of erf is 1.13
  "transpose": Op(1, jnp.transpose, _same),
  "reverse": Op(1, lambda x: lax.rev(x, (1,)), _same),
  "roll": Op(1, lambda x: jnp.roll(x, 1, 0), _same),
  "reshape": Op(1, lambda x: x.reshape(2, 8).T.reshape(SHAPE), _same),
  "pad": Op(1, lambda x: lax.pad(x, jnp.zeros((), x.dtype), ((1, -1, 0), (-1, 1, 0))), _same),
  "slice": Op(1, lambda x: jnp.concatenate([x[::2], x[1::2]], 0), _same),
  "row sum": Op(1, lambda x: jnp.broadcast_to(x.sum(1, keepdims=True, dtype=x.dtype), SHAPE), _rows),
  "column max": Op(1, lambda x: jnp.broadcast_to(x.max(0), SHAPE), _same),
  "cumsum": Op(1, lambda x: jnp.cumsum(x, 1, dtype=x.dtype), _rows),
  "dot": Op(2, lambda x, y: x @ y, lambda u, a, b: _product(u, a, b, 4)),
  "loop": Op(1, lambda x: lax.fori_loop(0, 3, lambda i, s: s + x, x), lambda u, a: _sum(u, a, a, a, a)),
  "dynamic slice": Op(1, lambda x: lax.dynamic_update_slice(x, x[:2, :2], (1, 3)), _same),
  "gather": Op(1, lambda x: x[jnp.array([3, 0, 0, 2])], _same),
  "scatter": Op(
    1, lambda x: x.at[jnp.array([1, 1, 3])].add(x[:3]), lambda u, a: Bound(3 * a.size, 3 * a.error + 8 * u * a.size)
  ),
}

INTEGER_OPS: dict[str, Op] = {
  name: Op(op.arity, op.apply, op.bound)
  for name, op in FLOAT_OPS.items()
  if name not in ("tanh", "sin", "logistic", "erf")
} | {
  "div": Op(2, lax.div, _either),
  "rem": Op(2, lax.rem, _either),
  "and": Op(2, lax.bitwise_and, _either),
  "xor": Op(2, lax.bitwise_xor, _either),
  "not": Op(1, lax.bitwise_not, _same),
  "shl": Op(2, lax.shift_left, _either),
  "shr": Op(2, lax.shift_right_logical, _either),
  "popcount": Op(1, lax.population_count, _same),
  "sort": Op(1, lambda x: jnp.sort(x, 1), _same),
  "argmax": Op(1, lambda x: jnp.broadcast_to(jnp.argmax(x, 1), SHAPE).astype(x.dtype), _same),
  "select": Op(2, lambda x, y: jnp.where(x < y, x, y + 1), _either),
  "small": Op(1, lambda x: x.astype(jnp.int8).astype(x.dtype), _same),
}


@st.composite
def programs(draw: st.DrawFn, table: dict[str, Op]) -> list[tuple[str, tuple[int, ...]]]:
  """Operations with the positions of their operands; positions 0 and 1 are the arguments."""
  steps: list[tuple[str, tuple[int, ...]]] = []
  for position in range(2, 2 + draw(st.integers(1, 10))):
    name = draw(st.sampled_from(sorted(table)))
    operands = tuple(draw(st.integers(0, position - 1)) for _ in range(table[name].arity))
    steps.append((name, operands))
  return steps


def build(table: dict[str, Op], steps: list[tuple[str, tuple[int, ...]]]) -> Callable[..., list[jax.Array]]:
  def program(*args: jax.Array) -> list[jax.Array]:
    values = list(args)
    for name, operands in steps:
      values.append(table[name].apply(*(values[i] for i in operands)))
    return values[2:]

  return program


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_float_programs(dtype: Any) -> None:
  @settings(max_examples=25, deadline=None, derandomize=True)
  @given(programs(FLOAT_OPS), st.integers(0, 2**32 - 1))
  def run(steps: list[tuple[str, tuple[int, ...]]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(-1, 1, SHAPE).astype(dtype) for _ in range(2))
    u = float(np.finfo(dtype).eps)  # twice the unit roundoff, once for each of the two evaluations
    bounds = [Bound(1.0, 0.0), Bound(1.0, 0.0)]
    for name, operands in steps:
      bounds.append(FLOAT_OPS[name].bound(u, *(bounds[i] for i in operands)))
    program = build(FLOAT_OPS, steps)
    with jax.enable_x64(dtype is np.float64):
      want, texts = result_and_texts(program, x, y)
    for text in texts.values():
      for got, expected, bound in zip(jax.tree.leaves(hlo.evaluate(hlo.parse(text), x, y)), want, bounds[2:]):
        assert np.all(np.abs(got - np.asarray(expected)) <= bound.error + np.finfo(dtype).tiny)

  run()


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint8], ids=["s32", "u32", "s64", "u8"])
def test_integer_programs(dtype: Any) -> None:
  table = (
    INTEGER_OPS if np.issubdtype(dtype, np.signedinteger) else {k: v for k, v in INTEGER_OPS.items() if k != "abs"}
  )

  @settings(max_examples=15, deadline=None, derandomize=True)
  @given(programs(table), st.integers(0, 2**32 - 1))
  def run(steps: list[tuple[str, tuple[int, ...]]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, SHAPE, dtype, endpoint=True)
    y = rng.integers(0, 12, SHAPE).astype(dtype)
    program = build(table, steps)
    with jax.enable_x64(True):
      want, texts = result_and_texts(program, x, y)
    for text in texts.values():
      for got, expected in zip(jax.tree.leaves(hlo.evaluate(hlo.parse(text), x, y)), want):
        np.testing.assert_array_equal(got, np.asarray(expected))

  run()

"""The forms that ops take on a GPU, against float64. Here they run as native code for the CPU, which is told that it is a GPU; with
`--platform emulated` as the code for one.

Weights of attention are rounded to the dtype of the inputs before they are multiplied: with bfloat16, each by at most 2^-9 of itself.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from float64_oracle import EPS32, exact, gradient64, random, value64
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.attention_cases import CASES, attention64
from tilewright import ops
from tilewright.ops import calling, grouped_matmul_gpu
from tilewright.ops.attention_gpu import Band
from tilewright.ops.calling import Execution

BF16, F32 = jnp.bfloat16, jnp.float32
dtypes = pytest.mark.parametrize("dtype", [BF16, F32], ids=lambda d: d.__name__)


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
  monkeypatch.setattr(calling, "platform", lambda: "gpu")


def within(found, expected, dtype, size, roundings):
  """So many roundings to `dtype` of numbers below `size`, with products of float32 counted as 100."""
  eps = float(jnp.finfo(dtype).eps) if dtype != F32 else 100 * EPS32
  np.testing.assert_array_less(np.abs(exact(found) - expected), roundings * eps / 2 * size + 1e-30)


def attention_case(name, dtype, *, group=1):
  heads, key_heads, queries, keys, options = CASES[name]
  shapes = (1, heads, queries, 32), (1, key_heads, keys, 32), (1, key_heads, keys, 16)
  return [random(n, *shape, dtype=dtype) for n, shape in enumerate(shapes)], options


@dtypes
@pytest.mark.parametrize("name", CASES)
def test_attention(name, dtype):
  (q, k, v), options = attention_case(name, dtype)
  found = ops.attention(q, k, v, **options, blocks=(32, 16))
  # Weights add up to one: an output's error is that of a weight times the largest value, and its own rounding.
  within(found, value64(lambda *a: attention64(*a, **options), q, k, v), dtype, np.abs(exact(v)).max(), 2)


@dtypes
@pytest.mark.parametrize("name", [[*CASES][n] for n in (1, 3, 6)])
def test_derivatives_of_attention(name, dtype):
  (q, k, v), options = attention_case(name, dtype)
  w = random(3, *q.shape[:-1], v.shape[-1], dtype=dtype)
  found = jax.vjp(lambda *a: ops.attention(*a, **options, blocks=(32, 16)), q, k, v)[1](w)
  expected = gradient64(lambda *a: exact(w) * attention64(*a, **options), q, k, v)
  # A slope is a weight times a difference of two products of 16 terms; what is added up of them has at most as many terms as queries.
  for d, e in zip(found, expected, strict=True):
    assert d.dtype == dtype
    within(d, e, dtype, 4 * np.abs(e).max(), 4)


def test_blocks_are_chosen_where_none_are_given():
  q, k, v = (random(n, 1, 2, 70, 64, dtype=BF16) for n in range(3))
  found, slopes = jax.vjp(lambda *a: ops.attention(*a, causal=True), q, k, v)
  within(found, value64(lambda *a: attention64(*a, causal=True), q, k, v), BF16, np.abs(exact(v)).max(), 2)
  expected = gradient64(lambda *a: attention64(*a, causal=True), q, k, v)
  for d, e in zip(slopes(jnp.ones(found.shape, BF16)), expected):
    within(d, e, BF16, 4 * max(1, np.abs(e).max()), 4)


@given(
  st.integers(1, 40), st.integers(1, 40), st.integers(1, 9), *[st.none() | st.integers(-50, 50)] * 2, st.integers(1, 9)
)
@settings(max_examples=200, deadline=None)
def test_a_block_meets_the_blocks_from_the_first_to_the_last(own, other, count, before, after, blocks):
  band = Band(own, other, count, before, after)
  for i in range(blocks):
    first, last = band.range(i)
    traced = band.range(jnp.int32(i))
    assert (first, last) == tuple(int(x) for x in traced)
    positions = range(i * own, (i + 1) * own)
    met = [
      j
      for j in range(count)
      if any(
        (before is None or k >= p - before) and (after is None or k <= p + after)
        for p in positions
        for k in (j * other, (j + 1) * other - 1, min(max(p, j * other), (j + 1) * other - 1))
      )
    ]
    assert set(met) <= set(range(first, last + 1))
    assert last - first + 1 <= band.steps(blocks)


# --- groups ------------------------------------------------------------------------------------------------------


_tiles = jax.jit(grouped_matmul_gpu.tiles_of_groups, static_argnums=(1, 2))


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4), st.sampled_from([1, 4, 7, 32]))
@settings(max_examples=100, deadline=None)
def test_every_row_is_in_one_tile_which_is_of_its_group(cuts, block):
  ends = sorted(cuts)
  sizes = np.diff([0, *ends])
  found = [-1] * 30
  for group, first, rows in zip(*(np.asarray(t) for t in _tiles(jnp.asarray(sizes, jnp.int32), 30, block))):
    assert 0 <= rows <= block
    for row in range(first, first + rows):
      assert found[row] == -1
      found[row] = group
  assert found == [g for g, size in enumerate([*sizes, 30 - ends[-1]]) for _ in range(size)]


@dtypes
@pytest.mark.parametrize("transpose", [False, True], ids=["kn", "nk"])
@pytest.mark.parametrize("sizes", [(3, 90, 7), (0, 40, 0)], ids=str)
def test_grouped_matmul_and_its_derivatives(sizes, transpose, dtype):
  m, k, n = 100, 40, 72
  x, w, g = random(0, m, k, dtype=dtype), random(1, len(sizes), k, n, dtype=dtype), random(2, m, n, dtype=dtype)
  given_w = w.swapaxes(1, 2) if transpose else w
  op = lambda x, w: ops.grouped_matmul(x, w, jnp.asarray(sizes, jnp.int32), transpose_weights=transpose)
  found, slopes = jax.vjp(op, x, given_w)
  dx, dw = slopes(g)
  ends = np.cumsum(sizes)
  y, ex, ew = np.zeros((m, n)), np.zeros((m, k)), np.zeros(w.shape)
  for i, (end, size) in enumerate(zip(ends, sizes)):
    own = slice(end - size, end)
    y[own], ex[own] = exact(x)[own] @ exact(w)[i], exact(g)[own] @ exact(w)[i].T
    ew[i] = exact(x)[own].T @ exact(g)[own]
  # Products are exact in float32; sums of up to 100 of them are off by less than the rounding of the result.
  within(found, y, dtype, np.abs(y).max(), 2)
  within(dx, ex, dtype, np.abs(ex).max(), 2)
  within(dw, ew.swapaxes(1, 2) if transpose else ew, dtype, np.abs(ew).max(), 2)


@dtypes
def test_the_gated_product_multiplies_by_what_the_gate_gives(dtype):
  x, gate, up, down = (random(n, *s, dtype=dtype) for n, s in enumerate([(40, 64), (64, 48), (64, 48), (48, 64)]))
  found = ops.swiglu_mlp(x, gate, up, down)
  x, gate, up, down = map(exact, (x, gate, up, down))
  hidden = x @ gate / (1 + np.exp(-x @ gate)) * (x @ up)
  # The gate and the hidden values are rounded: three roundings of what is added up in the last product.
  within(found, hidden @ down, dtype, (np.abs(hidden) @ np.abs(down)).max(), 4)


@dtypes
@pytest.mark.parametrize("width", [37, 64])
def test_the_derivative_of_embedding_adds_up_rows_in_their_order(width, dtype):
  table, indices = random(0, 9, width, dtype=dtype), jnp.asarray(np.random.default_rng(1).integers(0, 7, 40))
  g = random(1, 40, width, dtype=dtype)
  (found,) = jax.vjp(lambda t: ops.embedding(t, indices), table)[1](g)
  expected = np.zeros((9, width), np.float32)
  for i, row in zip(np.asarray(indices), np.asarray(g, np.float32)):
    expected[i] += row
  np.testing.assert_array_equal(np.asarray(found), expected.astype(dtype))


@dtypes
def test_sums_over_rows_are_those_of_all_groups(dtype):
  x, w, g = random(0, 700, 40, dtype=dtype), random(1, 40, dtype=dtype), random(2, 700, 40, dtype=dtype)
  (_, found) = jax.vjp(ops.rms_norm, x, w)[1](g)
  scaled = exact(x) / np.sqrt(np.mean(exact(x) ** 2, axis=1, keepdims=True) + 1e-6)
  terms = np.abs(exact(g) * scaled).sum(0).max()
  within(found, (exact(g) * scaled).sum(0), dtype, terms, 2)


def test_a_program_for_other_platforms_holds_the_portable_lowering_of_the_same_kernel():
  execution = Execution(interpret=True, native=None, on_gpu=True)
  x, w, sizes = random(0, 20, 32), random(1, 2, 32, 16), jnp.array([5, 9], jnp.int32)
  found = grouped_matmul_gpu.grouped(execution, False, x, w, sizes)
  expected = np.concatenate([exact(x)[:5] @ exact(w)[0], exact(x)[5:14] @ exact(w)[1], np.zeros((6, 16))])
  within(found, expected, F32, np.abs(expected).max(), 2)

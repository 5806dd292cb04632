"""Matrix products, plain, grouped and in feed-forward layers, against float64."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from float64_oracle import NATIVE, close, exact, gradient64, random, value64

from tilewright import errors, ops
from tilewright.ops import tiling

targets = pytest.mark.parametrize("target", NATIVE.values(), ids=NATIVE.keys())


def bound(x, y):
  """What the roundings of a sum of products are relative to: the sum of their magnitudes."""
  return np.abs(exact(x)) @ np.abs(exact(y))


@targets
@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("transpose_y", [False, True])
def test_any_transposition_with_edges_on_all_sides(target, transpose_x, transpose_y):
  x, y, bias = random(0, 37, 70), random(1, 70, 45), random(2, 45)
  found = ops.matmul(
    x.T if transpose_x else x,
    y.T if transpose_y else y,
    bias,
    transpose_x=transpose_x,
    transpose_y=transpose_y,
    blocks=(16, 32, 24),
    **target,
  )
  # A sum of k products in any order: k roundings, of sums that stay below the sum of magnitudes.
  close(found, exact(x) @ exact(y) + exact(bias), steps=72, size=bound(x, y) + np.abs(exact(bias)))


@targets
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("blocks", [None, (8, 16, 32)])
def test_small_floats_are_added_up_in_float32(target, dtype, blocks):
  x, y = random(3, 20, 96, dtype=dtype), random(4, 96, 33, dtype=dtype)
  found = ops.matmul(x, y, blocks=blocks, **target)
  assert found.dtype == dtype
  close(found, exact(x) @ exact(y), steps=96, size=bound(x, y))
  wide = ops.matmul(x, y, out_dtype=jnp.float32, blocks=blocks, **target)
  close(wide, exact(x) @ exact(y), steps=96, size=bound(x, y))


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("rows", [1, 2, 5, 16])
def test_few_rows_go_through_a_large_matrix_in_long_pieces_of_its_rows(rows, dtype, monkeypatch):
  monkeypatch.setattr(tiling, "host_caches", lambda: tiling.Caches(l2=1 << 14, l3=1 << 10))
  x, y, bias = random(3, rows, 160, dtype=dtype), random(4, 160, 1500, dtype=dtype), random(5, 1500, dtype=dtype)
  blocks = tiling.few_rows_blocks(rows, 1500, 160, y.dtype.itemsize)
  assert blocks is not None and blocks.n >= 256 and blocks.k <= 40
  expected = exact(x) @ exact(y) + exact(bias)
  close(ops.matmul(x, y, bias, native=True), expected, steps=162, size=bound(x, y) + np.abs(exact(bias)))


def test_blocks_are_larger_where_a_matrix_stays_in_the_cache_or_there_are_many_rows(monkeypatch):
  monkeypatch.setattr(tiling, "host_caches", tiling.Caches)  # the third of 8 MiB
  assert tiling.few_rows_blocks(1, 1024, 2048, 4) is not None
  assert tiling.few_rows_blocks(1, 1024, 1024, 4) is None
  assert tiling.few_rows_blocks(17, 1024, 2048, 4) is None
  assert tiling.few_rows_blocks(1, 1024, 2053, 4) is None  # a prime number: every block would be masked


@targets
def test_int8_is_exact(target):
  rng = np.random.default_rng(0)
  x, y = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((19, 90), (90, 21)))
  found = ops.matmul(x, y, blocks=(16, 16, 32), **target)
  assert found.dtype == jnp.int32
  np.testing.assert_array_equal(found, x.astype(np.int32) @ y.astype(np.int32))


@pytest.mark.parametrize("activation", ["gelu", "gelu_exact", "silu", "relu", "tanh"])
def test_bias_and_activation_with_their_derivatives(activation):
  target = NATIVE["portable" if activation == "silu" else "native"]
  x, y, bias, w = random(5, 23, 40), random(6, 40, 35) / 6, random(7, 35), random(8, 23, 35)
  apply = {
    "gelu": jax.nn.gelu,
    "gelu_exact": lambda x: jax.nn.gelu(x, approximate=False),
    "silu": jax.nn.silu,
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
  }[activation]
  reference = lambda x, y, bias: apply(x @ y + bias)
  op = lambda *a: ops.matmul(*a, activation=activation, blocks=(16, 16, 24), **target)
  size = 2 + bound(x, y)
  close(op(x, y, bias), value64(reference, x, y, bias), steps=60, size=size)
  expected = gradient64(lambda *a: exact(w) * reference(*a), x, y, bias)
  found = jax.grad(lambda *a: jnp.sum(w * op(*a)), (0, 1, 2))(x, y, bias)
  for d, e in zip(found, expected):
    close(d, e, steps=100, size=size.max() * 10)


@pytest.mark.parametrize("transpose_x, transpose_y", [(True, False), (False, True), (True, True)])
def test_derivatives_of_transposed_products(transpose_x, transpose_y):
  target = NATIVE["native"]
  x, y = random(9, 12, 9), random(10, 9, 7)
  a, b = (x.T if transpose_x else x), (y.T if transpose_y else y)
  op = lambda a, b: ops.matmul(a, b, transpose_x=transpose_x, transpose_y=transpose_y, **target)
  reference = lambda a, b: jnp.sin((a.T if transpose_x else a) @ (b.T if transpose_y else b))
  found = jax.grad(lambda a, b: jnp.sum(jnp.sin(op(a, b))), (0, 1))(a, b)
  for d, e in zip(found, gradient64(reference, a, b)):
    close(d, e, steps=60, size=30)


@targets
def test_leading_dimensions_and_vmap(target):
  x, y, ys = random(11, 2, 3, 10, 8), random(12, 8, 6), random(13, 2, 3, 8, 6)
  close(ops.matmul(x, y, **target), exact(x) @ exact(y), steps=9, size=30)
  close(ops.matmul(x, ys, **target), exact(x) @ exact(ys), steps=9, size=30)
  over_second = jax.vmap(jax.vmap(lambda a, b: ops.matmul(a, b, **target)), in_axes=(1, 1), out_axes=1)
  close(over_second(x, ys), exact(x) @ exact(ys), steps=9, size=30)


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 3, 0)])
def test_products_without_elements(shape):
  m, k, n = shape
  found = ops.matmul(jnp.ones((m, k)), jnp.ones((k, n)), jnp.ones((n,)))
  np.testing.assert_array_equal(found, np.ones((m, n)) if k == 0 else np.ones((m, k)) @ np.ones((k, n)) + 1)


# --- groups ------------------------------------------------------------------------------------------------------


def grouped64(x, weights, sizes):
  ends = np.cumsum(sizes)
  rows = [x[e - s : e] @ weights[g] for g, (s, e) in enumerate(zip(sizes, ends))]
  rows.append(jnp.zeros((x.shape[0] - int(ends[-1]), weights.shape[2]), x.dtype))
  return jnp.concatenate(rows)


@targets
@pytest.mark.parametrize("sizes", [[50, 0, 130, 3, 100], [0, 0, 0, 0, 300], [0, 0, 0, 0, 0], [128, 0, 1, 0, 0]])
def test_grouped_products(target, sizes):
  x, weights = random(14, 300, 24), random(15, 5, 24, 33)
  op = jax.jit(lambda x, weights, sizes: ops.grouped_matmul(x, weights, sizes, **target))
  found = op(x, weights, jnp.asarray(sizes))
  close(found, value64(lambda x, w: grouped64(x, w, sizes), x, weights), steps=25, size=60)


@pytest.mark.parametrize("target, transpose", [("native", False), ("native", True), ("portable", False)])
def test_derivatives_of_grouped_products(target, transpose):
  target = NATIVE[target]
  sizes = np.array([50, 0, 130, 3, 100])
  x, weights = random(16, 300, 24), random(17, 5, 24, 33)
  given = weights.swapaxes(1, 2) if transpose else weights
  op = lambda x, w: ops.grouped_matmul(x, w, jnp.asarray(sizes), transpose_weights=transpose, **target)
  dx, dw = jax.grad(lambda *a: jnp.sum(jnp.sin(op(*a))), (0, 1))(x, given)
  ex, ew = gradient64(lambda x, w: jnp.sin(grouped64(x, w, sizes)), x, weights)
  close(dx, ex, steps=100, size=100)
  close(dw, ew.swapaxes(1, 2) if transpose else ew, steps=200, size=100)


# --- layers ------------------------------------------------------------------------------------------------------


@targets
def test_feed_forward_layers(target):
  x, w_in, w_up, w_out = random(18, 2, 9, 20), random(19, 20, 33) / 4, random(20, 20, 33) / 4, random(21, 33, 20) / 5
  b_in, b_out = random(22, 33), random(23, 20)
  swiglu = lambda x, g, u, d: (jax.nn.silu(x @ g) * (x @ u)) @ d
  close(ops.swiglu_mlp(x, w_in, w_up, w_out, **target), value64(swiglu, x, w_in, w_up, w_out), steps=80, size=40)
  gelu = lambda x, w, b, v, c: jax.nn.gelu(x @ w + b) @ v + c
  arguments = (x, w_in, b_in, w_out, b_out)
  close(ops.gelu_mlp(*arguments, **target), value64(gelu, *arguments), steps=80, size=40)
  found = jax.grad(lambda *a: jnp.sum(ops.swiglu_mlp(*a, **target)), (0, 1, 2, 3))(x, w_in, w_up, w_out)
  for d, e in zip(found, gradient64(swiglu, x, w_in, w_up, w_out)):
    close(d, e, steps=200, size=60)


# --- blocks and mistakes -----------------------------------------------------------------------------------------


def test_a_block_size_divides_its_dimension_where_it_can():
  assert tiling.divisor_near(1000, 128) == 125
  assert tiling.divisor_near(1024, 256, 32) == 256
  assert tiling.divisor_near(96, 128) == 96
  assert tiling.divisor_near(1009, 128) == 128  # a prime number
  assert tiling.rows_per_block(7, 1 << 30) == 1
  for shape in ((1, 1, 1), (1, 5000, 3), (4096, 4096, 4096), (1000, 1100, 1030)):
    blocks = tiling.matmul_blocks(*shape)
    assert all(1 <= b <= d for b, d in zip((blocks.m, blocks.n, blocks.k), shape))


def test_threads_have_several_blocks_where_these_cost_little(monkeypatch):
  monkeypatch.setattr(tiling, "num_threads", lambda: 2)
  for m, n, k in ((1024, 1024, 1024), (1000, 1100, 1030), (512, 2048, 2048), (4096, 256, 1024), (64, 8192, 1024)):
    small, large = (tiling.matmul_blocks.__wrapped__(m, n, k, on_the_way) for on_the_way in (True, False))
    assert all(m % blocks.m == n % blocks.n == 0 for blocks in (small, large))
    assert m * n >= 8 * small.m * small.n and m * n >= 2 * large.m * large.n
    assert small.m >= 64 and small.m <= large.m


def test_mistakes_are_named():
  x, y = jnp.zeros((4, 8)), jnp.zeros((8, 5))
  for call, words in (
    (lambda: ops.matmul(x, y.T), "pass transpose_x or transpose_y"),
    (lambda: ops.matmul(x, y, jnp.zeros(4)), r"bias must have shape \(5,\)"),
    (lambda: ops.matmul(x, y, activation="swish"), "activation must be one of gelu"),
    (lambda: ops.matmul(x, y.astype(jnp.bfloat16)), "one dtype"),
    (lambda: ops.matmul(x[0], y), "x must have at least 2 dimensions"),
    (lambda: ops.matmul(x.astype(int), y.astype(int)), "got int32"),
    (lambda: ops.matmul(x, y, blocks=(0, 1, 1)), "three positive sizes"),
    (lambda: ops.matmul(jnp.zeros((3, 4, 8)), jnp.zeros((2, 8, 5))), "leading dimensions"),
    (lambda: ops.grouped_matmul(x, y, jnp.zeros(1, int)), r"weights \(groups, k, n\)"),
    (lambda: ops.grouped_matmul(x, y[None], jnp.zeros(2, int)), r"group_sizes must have shape \(1,\)"),
  ):
    with pytest.raises(errors.ShapeMismatchError, match=words):
      call()

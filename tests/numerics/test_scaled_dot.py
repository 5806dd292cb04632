"""Dots of quantised arrays against exact arithmetic."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re

import exact_numbers as oracle
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import errors
from tilewright.numerics import (
  FORMATS,
  QArray,
  packing,
  prepare,
  quantize,
  scaled_dot,
  swizzle_scales,
  unswizzle_scales,
)

FORMS = ["f4e2m1fn", "f6e2m3fn", "f6e3m2fn", "f8e4m3fn", "f8e5m2", "f8e3m4", "f8e4m3fnuz", "int8", "int4", "int2"]
ROWS = (((1,), (1,)), ((), ()))  # (m, k) times (n, k)


@functools.cache
def dot(numbers=ROWS, interpret=None, dtype=jnp.float32):
  return jax.jit(lambda a, b: scaled_dot(a, b, numbers, preferred_element_type=dtype, interpret=interpret))


def random_bits(rng, name, shape, *, finite=True):
  """Elements of a format with every pattern in it (but NaNs and infinities, unless asked for)."""
  f = FORMATS[name]
  bits = rng.integers(0, 1 << f.width, shape).astype(np.uint8)
  if finite and f.has_nan:
    magnitude = bits & ((1 << (f.width - 1)) - 1)
    bits = np.where((magnitude > f.max_bits) | (bits == f.nan_bits), 0, bits).astype(np.uint8)
  return bits


def random_q(seed, name, rows, k, block=32, scale="e8m0", low=100, high=150, finite=True):
  """A QArray of random patterns: data and scales need not come from any array."""
  rng = np.random.default_rng(seed)
  f = FORMATS[name]
  count = -(-k // block)
  bits = random_bits(rng, name, (rows, count * block), finite=finite)
  bits[:, k:] = 0
  data = packing.pack(jnp.asarray(bits), f.width) if f.width < 8 else jnp.asarray(bits.view(f.storage))
  if scale == "e8m0":
    scales = jnp.asarray(rng.integers(low, high, (rows, count)).astype(np.uint8).view(jnp.float8_e8m0fnu))
  elif scale == "e4m3":
    scales = jnp.asarray(random_bits(rng, "f8e4m3fn", (rows, count)).view(jnp.float8_e4m3fn))
  else:
    scales = jnp.asarray(rng.standard_normal((rows, count)), jnp.float32)
  return QArray(data, scales, None, f, block, -1, k)


@pytest.mark.parametrize("left", FORMS)
def test_every_format_with_others(left):
  """With itself, the next one and one of another width: operands are decoded each by itself, and both sides alike."""
  a, place = random_q(1, left, 3, 70), FORMS.index(left)
  for right in {FORMS[(place + further) % len(FORMS)] for further in (0, 1, 5 if place < 5 else 0)}:
    b = random_q(2, right, 5, 70, block=16 if right == "f4e2m1fn" else 32)
    oracle.check(dot(interpret=True)(a, b), a, b)


@pytest.mark.parametrize(
  "left, right", [("f8e4m3fn", "f8e4m3fn"), ("f4e2m1fn", "f4e2m1fn"), ("f6e3m2fn", "f8e5m2"), ("int8", "int4")]
)
def test_native_code_for_pairs_of_formats(left, right):
  a, b = random_q(3, left, 3, 96), random_q(4, right, 5, 96, scale="f32")
  oracle.check(dot()(a, b), a, b)


@pytest.mark.parametrize(
  "name, native", [*((name, False) for name in FORMS), *((name, True) for name in ("f4e2m1fn", "f6e2m3fn", "int4"))]
)
def test_weights_alone(name, native):
  x = jnp.asarray(np.random.default_rng(5).standard_normal((2, 70)), jnp.float32)
  w = random_q(6, name, 19, 70, block=16, scale="e4m3")
  oracle.check(dot(interpret=None if native else True)(x, w), x, w)


@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (65, 7, 33), (1, 300, 257)])
@pytest.mark.parametrize("native", [False, True], ids=["portable", "native"])
def test_odd_sizes(m, n, k, native):
  a, b = random_q(7, "f8e4m3fn", m, k), random_q(8, "f4e2m1fn", n, k, block=16, scale="e4m3")
  oracle.check(dot(interpret=None if native else True)(a, b), a, b)


@pytest.mark.parametrize(
  "left, block, right", [("int8", 1, "f4e2m1fn"), ("f8e5m2", 3, "f6e3m2fn"), ("f4e2m1fn", 2, "int2")]
)
def test_blocks_smaller_than_what_shares_bytes(left, block, right):
  a, b = random_q(9, left, 3, 34, block=block), random_q(10, right, 5, 34)
  oracle.check(dot(interpret=True)(a, b), a, b)


@pytest.mark.parametrize(
  "own, others",
  [((0, 30), (210, 255)), ((200, 255), (0, 50)), ((254, 255), (0, 1)), ((0, 1), (127, 128)), ((0, 255), (0, 140))],
  ids=str,
)
@pytest.mark.parametrize("native", [False, True], ids=["portable", "native"])
def test_extreme_scales(own, others, native):
  """The scales of one side make up for those of the other, though elements times either of them are too large or too small."""
  for left, right in (("f8e4m3fn", "f8e4m3fn"), ("f4e2m1fn", "f8e5m2")):
    a = random_q(9, left, 4, 64, low=own[0], high=own[1])
    b = random_q(10, right, 3, 64, block=16 if right == "f8e5m2" else 32, low=others[0], high=others[1])
    oracle.check(dot(interpret=None if native else True)(a, b), a, b)


@pytest.mark.parametrize("native", [False, True], ids=["portable", "native"])
@pytest.mark.parametrize("code, name", [(254, "mxfp8"), (254, "mxint8"), (0, "mxfp4")])
def test_extreme_scales_of_weights_alone(code, name, native):
  x = jnp.asarray(np.random.default_rng(47).standard_normal((3, 64)) * (2.0**-100 if code else 2.0**100), jnp.float32)
  q = quantize(jnp.asarray(np.random.default_rng(48).standard_normal((5, 64)), jnp.float32), name)
  codes = oracle.raw(q.scales).copy()
  codes[:, 1] = code
  w = dataclasses.replace(q, scales=jnp.asarray(codes.view(jnp.float8_e8m0fnu)))
  oracle.check(dot(interpret=None if native else True)(x, w), x, w)
  oracle.check(dot(None, None if native else True)(x, w.T), x, w)


def test_extreme_scales_of_a_long_sum():
  """In several steps and parts, of which one has such scales; the result has another dtype."""
  a, b = random_q(49, "f8e4m3fn", 2, 8192), random_q(50, "f8e4m3fn", 3, 8192, low=120, high=130)
  codes = oracle.raw(a.scales).copy()
  codes[:, 100] = 254
  a = dataclasses.replace(a, scales=jnp.asarray(codes.view(jnp.float8_e8m0fnu)))
  there = oracle.raw(b.scales).copy()
  there[:, 100] = 0
  b = dataclasses.replace(b, scales=jnp.asarray(there.view(jnp.float8_e8m0fnu)))
  oracle.check(dot()(a, b), a, b)
  np.testing.assert_array_equal(dot(dtype=jnp.bfloat16)(a, b), dot()(a, b).astype(jnp.bfloat16))


@pytest.mark.parametrize("native", [False, True], ids=["portable", "native"])
def test_blocks_of_zeros_infinities_and_nans(native):
  a = random_q(11, "f8e5m2", 6, 64)
  bits = oracle.raw(a.data).copy()
  bits[0], bits[1, 3], bits[2, 40], bits[3] = 0, 0x7C, 0x7E, 0x80
  codes = oracle.raw(a.scales).copy()
  codes[4, 1] = 0xFF
  a = dataclasses.replace(
    a, data=jnp.asarray(bits.view(jnp.float8_e5m2)), scales=jnp.asarray(codes.view(jnp.float8_e8m0fnu))
  )
  b = random_q(12, "f8e4m3fn", 3, 64)
  ones = jnp.asarray(np.full((3, 64), 0x38, np.uint8).view(jnp.float8_e4m3fn))
  b = dataclasses.replace(b, data=ones)
  got = np.asarray(dot(interpret=None if native else True)(a, b))
  assert (got[0] == 0).all() and (got[3] == 0).all()
  assert np.isposinf(got[1]).all()
  assert np.isnan(got[2]).all() and np.isnan(got[4]).all()
  oracle.check(got[5:], jax.tree.map(lambda x: x[5:], a), b)


def test_global_scales_multiply_the_result():
  x = jnp.asarray(np.random.default_rng(13).standard_normal((5, 48)), jnp.float32)
  w = jnp.asarray(np.random.default_rng(14).standard_normal((48, 9)), jnp.float32)
  a, b = quantize(x, "nvfp4"), quantize(w.T, "nvfp4")
  assert a.global_scale is not None
  oracle.check(dot()(a, b), a, b)
  np.testing.assert_allclose(scaled_dot(a, b, ROWS, global_scale=4.0), 4 * dot()(a, b), rtol=2.0**-22)


@pytest.mark.parametrize("sizes", [(1e-18, 1e-18), (1e-38, 1e30), (1e22, 1e12), (1e35, 1e-30)], ids=str)
def test_the_product_of_global_scales_may_be_out_of_range(sizes):
  """Small blocks and large scales, or the other way round: the results are float32s."""
  rng = np.random.default_rng(51)
  a, b = (quantize(jnp.asarray(rng.standard_normal((n, 48)) * s, jnp.float32), "nvfp4") for n, s in zip((5, 9), sizes))
  oracle.check(dot(interpret=True)(a, b), a, b)
  whole = jnp.float32(2.0**40 if sizes[0] < 1 else 2.0**-40)
  np.testing.assert_array_equal(
    scaled_dot(a, b, ROWS, global_scale=whole, interpret=True), dot(interpret=True)(a, b) * whole
  )


@pytest.mark.parametrize("native", [False, True], ids=["portable", "native"])
def test_matrices_with_the_contracted_dimension_first(native):
  x = jnp.asarray(np.random.default_rng(15).standard_normal((3, 64)), jnp.float32)
  w = random_q(16, "f4e2m1fn", 21, 64, block=16, scale="e4m3")
  oracle.check(dot(None, None if native else True)(x, w.T), x, w)


def test_batches_and_other_orders_of_dimensions():
  rng = np.random.default_rng(17)
  x, w = rng.standard_normal((4, 3, 64)).astype(np.float32), rng.standard_normal((3, 64, 2, 5)).astype(np.float32)
  q = quantize(w, "mxfp8", axis=1)
  got = jax.jit(lambda x, q: scaled_dot(x, q, (((2,), (1,)), ((1,), (0,)))))(x, q)  # batch 3, free 4 and (2, 5)
  assert got.shape == (3, 4, 2, 5)
  want = np.einsum("abk,bkcd->bacd", x.astype(np.float64), np.asarray(q.dequantize(), np.float64))
  size = np.einsum("abk,bkcd->bacd", np.abs(x, dtype=np.float64), np.abs(np.asarray(q.dequantize(), np.float64)))
  assert (np.abs(got - want) <= (64 + 8) * oracle.UNIT * size).all()


@pytest.mark.parametrize(
  "spec, x, w, scaled, name",
  [
    ("mhk,hkn->mn", (2, 3, 40), (3, 40, 5), 1, "nvfp4"),
    ("bmkh,hbkn->bmn", (2, 3, 7, 2), (2, 2, 7, 5), 2, "int4"),
    ("mkh,nhk->mn", (2, 4, 3), (5, 3, 4), None, "int8"),
  ],
)
def test_several_dimensions_are_contracted(spec, x, w, scaled, name):
  rng = np.random.default_rng(40)
  x, w = (jnp.asarray(rng.standard_normal(shape), jnp.float32) for shape in (x, w))
  q = quantize(w, name, axis=scaled)
  (left, right), out = (part.split(",") if "," in part else part for part in spec.split("->"))
  letters = [c for c in left if c in right]
  pairs = [
    tuple(zip(*((left.index(c), right.index(c)) for c in letters if (c in out) == kept))) for kept in (False, True)
  ]
  numbers = tuple(pair or ((), ()) for pair in pairs)
  f = lambda x: scaled_dot(x, q, numbers, interpret=True)
  value = np.asarray(q.dequantize(), np.float64)
  want, size = (np.einsum(spec, *(g(np.float64(z)) for z in (x, value))) for g in (np.asarray, np.abs))
  assert (np.abs(f(x) - want) <= (w.size + 8) * oracle.UNIT * size).all()
  slope = jax.grad(lambda x: f(x).sum())(x)
  np.testing.assert_allclose(
    slope, jax.grad(lambda x: jnp.einsum(spec, x, q.dequantize()).sum())(x), rtol=1e-5, atol=1e-5
  )


@pytest.mark.parametrize(
  "shape, numbers, native",
  [
    ((5, 32), (((2,), (1,)), ((), ())), True),  # rows of the result
    ((5, 3, 32), (((0, 2), (1, 2)), ((), ())), False),  # what is contracted
  ],
)
def test_global_scales_of_leading_indices_need_no_batch(shape, numbers, native):
  rng = np.random.default_rng(41)
  normal = lambda *shape: jnp.asarray(rng.standard_normal(shape), jnp.float32)
  q = jax.vmap(lambda x: quantize(x, "nvfp4"))(normal(3, 4, 32) * jnp.asarray([1.0, 1e-3, 30.0])[:, None, None])
  value, x = np.asarray(q.dequantize(), np.float64), normal(*shape)
  want, size = (np.tensordot(f(value), f(np.float64(x)), numbers[0]) for f in (np.asarray, np.abs))
  (lc, rc), batch = numbers
  ways = (
    scaled_dot(q, x, numbers, interpret=None if native else True),
    scaled_dot(x, q, ((rc, lc), batch), interpret=True),
  )
  for got in (ways[0].reshape(-1, 5), ways[1].reshape(5, -1).T):
    assert (np.abs(got - want.reshape(-1, 5)) <= (96 + 8) * oracle.UNIT * size.reshape(-1, 5)).all()


def test_arrays_with_one_scale_each_are_contracted_over_their_number():
  x = jnp.asarray(np.random.default_rng(43).standard_normal((4, 9)), jnp.float32)
  q = jax.vmap(lambda x: quantize(x, "int8", axis=None))(x * jnp.asarray([1.0, 10, 100, 1e-3])[:, None])
  v = jnp.asarray(np.random.default_rng(44).standard_normal((2, 4)), jnp.float32)
  value = np.asarray(q.dequantize(), np.float64)
  got = scaled_dot(v, q, (((1,), (0,)), ((), ())), interpret=True)
  assert (np.abs(got - np.float64(v) @ value) <= 12 * oracle.UNIT * (np.abs(np.float64(v)) @ np.abs(value))).all()


def test_one_scale_may_serve_all_blocks_of_an_axis_that_is_padded():
  """The other operand's blocks of 48 pad 64 elements to 96; the blocks that are there keep their scale."""
  a, b = random_q(16, "f8e4m3fn", 3, 64), random_q(17, "int8", 5, 64, block=48, scale="f32")
  shared = dataclasses.replace(a, scales=a.scales[:, :1])
  full = dataclasses.replace(a, scales=jnp.broadcast_to(a.scales[:, :1], a.scales.shape))
  np.testing.assert_array_equal(dot()(shared, b), dot()(full, b))


def test_scales_shared_by_rows():
  q = random_q(18, "int8", 6, 64, scale="f32")
  shared = dataclasses.replace(q, scales=q.scales[:1])
  full = dataclasses.replace(q, scales=jnp.broadcast_to(q.scales[:1], q.scales.shape))
  x = jnp.asarray(np.random.default_rng(19).standard_normal((2, 64)), jnp.float32)
  np.testing.assert_array_equal(dot()(x, shared), dot()(x, full))


@pytest.mark.parametrize("k", [64, 17])
@pytest.mark.parametrize("name", ["int8", "mxfp8", "mxfp4"])
def test_one_scale_for_the_array(name, k):
  x = jnp.asarray(np.random.default_rng(20).standard_normal((4, k)), jnp.float32)
  a, b = quantize(x, name, axis=None), quantize(x, "int8")
  assert a.nbytes <= (x.size + 4 * (k % 2)) * a.format.width // 8 + 4  # no more padding than whole bytes need
  oracle.check(dot()(a, b), a, b)
  oracle.check(dot()(x, a), x, a)


@pytest.mark.parametrize("left", ["mxfp8", "int8", None])
def test_one_scale_for_an_array_that_is_contracted_along_its_first_dimension(left):
  x, w = (jnp.asarray(np.random.default_rng(22).standard_normal(s), jnp.float32) for s in ((4, 17), (17, 33)))
  a, b = x if left is None else quantize(x, left), quantize(w, "int8", axis=None)
  got, q = dot((((1,), (0,)), ((), ())))(a, b), np.asarray(b.dequantize(), np.float64)
  value = np.asarray(x if left is None else a.dequantize(), np.float64)
  assert (np.abs(got - value @ q) <= (17 + 8) * oracle.UNIT * (abs(value) @ abs(q))).all()


@pytest.mark.parametrize("native", [False, True], ids=["portable", "native"])
def test_scales_shared_by_batches(native):
  """One scale for the array, or for its leading dimension, on either side."""
  x = jnp.asarray(np.random.default_rng(21).standard_normal((3, 5, 64)), jnp.float32)
  batched = dot((((2,), (2,)), ((0,), (0,))), None if native else True)
  whole, rows = quantize(x, "int8", axis=None), quantize(x, "mxfp8")
  shared = dataclasses.replace(rows, scales=rows.scales[:1])
  for q in (whole, shared):
    value = np.asarray(q.dequantize(), np.float64)
    for got, other in ((batched(x, q), np.asarray(x, np.float64)), (batched(q, q), value)):
      want, size = np.einsum("bmk,bnk->bmn", other, value), np.einsum("bmk,bnk->bmn", abs(other), abs(value))
      assert (np.abs(got - want) <= (64 + 8) * oracle.UNIT * size).all()


@pytest.mark.parametrize("swizzled", [True, False])
def test_prepared_scales_give_the_same(swizzled):
  x = jnp.asarray(np.random.default_rng(21).standard_normal((2, 70)), jnp.float32)
  w = random_q(22, "f4e2m1fn", 130, 70, block=16, scale="e4m3")
  ready = prepare(w, swizzled=swizzled)
  assert ready.scales.scales.shape == (256, 8)
  np.testing.assert_array_equal(dot()(x, ready), dot()(x, w))


def test_swizzled_scales_are_in_the_documented_order():
  w = random_q(23, "f8e4m3fn", 256, 256)
  plain, moved = oracle.raw(w.scales), oracle.raw(prepare(w).scales.scales).reshape(-1)
  assert plain.shape == (256, 8)
  for row, column in ((0, 0), (5, 3), (37, 1), (200, 6), (255, 7)):
    tile, inside, rest = row // 128, row % 128, column % 4
    at = (tile * 2 + column // 4) * 512 + (inside % 32) * 16 + (inside // 32) * 4 + rest
    assert moved[at] == plain[row, column]
  for change in (swizzle_scales, functools.partial(unswizzle_scales, rows=3, columns=3)):
    with pytest.raises(errors.ShapeMismatchError, match=r"must have shape \(\.\.\., rows.*got \(3,\)"):
      change(jnp.ones(3))


def test_a_long_sum_for_few_results_is_split():
  x = jnp.asarray(np.random.default_rng(24).standard_normal((1, 16384)), jnp.float32)
  w = random_q(25, "int4", 2, 16384, block=64, scale="f32")
  oracle.check(dot()(x, w), x, w)


def test_results_in_other_dtypes_are_rounded_once():
  x = jnp.asarray(np.random.default_rng(26).standard_normal((3, 64)), jnp.bfloat16)
  w = random_q(27, "f8e4m3fn", 5, 64)
  np.testing.assert_array_equal(dot(dtype=jnp.bfloat16)(x, w), dot()(x, w).astype(jnp.bfloat16))


def test_the_derivative_towards_the_plain_operand():
  x = jnp.asarray(np.random.default_rng(28).standard_normal((3, 64)), jnp.float32)
  q = quantize(jnp.asarray(np.random.default_rng(29).standard_normal((64, 5)), jnp.float32), "mxfp8", axis=0)
  g = jnp.asarray(np.random.default_rng(30).standard_normal((3, 5)), jnp.float32)
  ours = np.asarray(jax.vjp(lambda x: scaled_dot(x, q), x)[1](g)[0], np.float64)
  w = np.asarray(q.dequantize(), np.float64)
  want, size = np.asarray(g, np.float64) @ w.T, np.abs(np.asarray(g, np.float64)) @ np.abs(w.T)
  assert (np.abs(ours - want) <= (5 + 2) * oracle.UNIT * size).all()


@pytest.mark.parametrize("side", [0, 1])
def test_derivatives_of_every_kind(side):
  """Forward, reverse, by columns and rows of the Jacobian, and one of the other, against the dot of what is dequantised."""
  rng = np.random.default_rng(51)
  plain, other, change = (jnp.asarray(rng.standard_normal(s), jnp.float32) for s in ((3, 32), (5, 32), (3, 32)))
  q, scale = quantize(other, "mxfp8"), jnp.float32(0.5)

  ordered = lambda x, w: (x, w) if side == 0 else (w, x)
  ours = lambda x, s: scaled_dot(*ordered(x, q), ROWS, global_scale=s, interpret=True)
  plainly = lambda x, s: jax.lax.dot_general(*ordered(x, q.dequantize()), ROWS, precision="highest") * s
  cubed = lambda f: lambda x, s: (f(x, s) ** 3).sum()
  kinds = (
    lambda f: jax.jvp(f, (plain, scale), (change, jnp.float32(2))),
    lambda f: jax.jacfwd(f, (0, 1))(plain, scale),
    lambda f: jax.jacrev(f, (0, 1))(plain, scale),
    lambda f: jax.jvp(jax.grad(cubed(f), (0, 1)), (plain, scale), (change, jnp.float32(2))),
    lambda f: jax.grad(lambda s: jax.grad(cubed(f))(plain, s).sum())(scale),
    lambda f: jax.vmap(jax.grad(cubed(f)), (0, None))(jnp.stack([plain, change]), scale),
  )
  for kind in kinds if side == 0 else kinds[:1]:
    both = (jax.tree.leaves(jax.jit(lambda: kind(f))()) for f in (ours, plainly))
    for got, want in zip(*both, strict=True):
      np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())


@pytest.mark.parametrize("wrapped", [lambda f: f, jax.jit, jax.checkpoint], ids=["plain", "jit", "checkpoint"])
def test_a_derivative_that_is_refused_leaves_the_others_as_they_were(wrapped):
  x, q = jnp.ones((3, 64)), quantize(jnp.ones((64, 5)), "nvfp4", axis=0)
  f = wrapped(lambda x, q: scaled_dot(x, q).sum())
  before = jax.grad(f)(x, q)
  with pytest.raises(errors.NumberFormatError, match=r"a quantised array has no derivative"):
    jax.grad(f, argnums=1, allow_int=True)(x, q)
  np.testing.assert_array_equal(jax.grad(f)(x, q), before)


def test_a_global_scale_beyond_float16_does_not_get_lost_in_derivatives():
  x = jnp.asarray(np.random.default_rng(45).standard_normal((3, 64)), jnp.float32)
  q = quantize(jnp.asarray(np.random.default_rng(46).standard_normal((64, 5)), jnp.float32), "mxfp8", axis=0)
  f = lambda x, s: scaled_dot(x * 2.0**30, q, preferred_element_type=jnp.float16, global_scale=s).sum()
  slope, of_scale = jax.grad(f, (0, 1))(x, jnp.full((1, 1, 1), 2.0**-30))
  want = np.broadcast_to(np.asarray(q.dequantize(), np.float64).sum(1), x.shape)
  np.testing.assert_allclose(slope, want, rtol=2.0**-10, atol=2.0**-10)
  assert of_scale.shape == (1, 1, 1)


def test_mistakes_are_named():
  x, q = jnp.ones((2, 64)), quantize(jnp.ones((64, 64)), "mxfp8", axis=0)
  with pytest.raises(errors.ShapeMismatchError, match=r"b is scaled along axis 0, but axis 1 is contracted"):
    scaled_dot(x, q, ROWS)
  with pytest.raises(
    errors.ShapeMismatchError, match=r"last dimension of a \(2, 32\) and the scaled axis of b .* same size"
  ):
    scaled_dot(x[:, :32], q)
  with pytest.raises(errors.NumberFormatError, match=r"a quantised array has no derivative"):
    jax.grad(lambda q: scaled_dot(x, q).sum(), allow_int=True)(q)
  with pytest.raises(errors.ShapeMismatchError, match=r"different dimensions of a, between -2 and 1, got \(3,\)"):
    scaled_dot(x, q, (((3,), (0,)), ((), ())))
  with pytest.raises(errors.ShapeMismatchError, match=r"dimension_numbers must be .*got \(1, 0\)"):
    scaled_dot(x, q, (1, 0))
  with pytest.raises(errors.ShapeMismatchError, match=r"must contract at least one dimension"):
    scaled_dot(x, q, (((), ()), ((), ())))
  with pytest.raises(errors.NumberFormatError, match=r"a must be an array, got str"):
    scaled_dot("x", q)
  with pytest.raises(errors.NumberFormatError, match=r"preferred_element_type must be a dtype, got 'f33'"):
    scaled_dot(x, q, preferred_element_type="f33")
  with pytest.raises(errors.ShapeMismatchError, match=r"global_scale must be one number, got shape \(2,\)"):
    scaled_dot(x, q, global_scale=jnp.ones(2))


@pytest.mark.skipif(
  not pathlib.Path("/proc/self/clear_refs").exists(), reason="needs Linux's record of a process's peak memory"
)
def test_weights_are_never_dequantised_in_memory():
  """Beside its operands, a product with packed weights takes its output and less than 16 MiB; dequantised they would take 64."""
  rng = np.random.default_rng(31)
  data = jnp.asarray(rng.integers(0, 256, (2048, 4096)).astype(np.uint8))
  scales = jnp.asarray(rng.integers(100, 120, (256, 4096)).astype(np.uint8).view(jnp.float8_e4m3fn))
  w = QArray(data, scales, None, FORMATS["f4e2m1fn"], 16, -2, 4096)
  x = jnp.asarray(rng.standard_normal((4, 4096)), jnp.float32)
  jax.block_until_ready(dot(None)(x, w))  # compiled, and its threads are there

  def memory(line):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{line}:\s+(\d+) kB", status)[1]) * 1024

  pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from what is in use
  before = memory("VmRSS")
  out = jax.block_until_ready(dot(None)(x, w))
  assert memory("VmHWM") - before < out.nbytes + (16 << 20)

"""JAX programs: our evaluator on their HLO, before and after XLA's optimisations, against JAX's own result.

Sums are compared relative to the sum of magnitudes they are made of (`scale`), with the usual bound n·eps on rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from against_jax import assert_close, check
from jax import lax

from tilewright import hlo

RNG = np.random.default_rng(7)
X = RNG.normal(size=(4, 6)).astype(np.float32)
IMAGE = RNG.normal(size=(2, 9, 8, 4)).astype(np.float32)
KERNEL = RNG.normal(size=(3, 2, 4, 6)).astype(np.float32)
INTS = RNG.integers(-9, 9, (5, 7)).astype(np.int32)
INDICES = RNG.integers(-3, 9, (6, 2)).astype(np.int32)
POSITIVE = (lambda a: a @ a.T + 6 * np.eye(6, dtype=np.float32))(RNG.normal(size=(6, 6)).astype(np.float32))


def convolve(**options: Any) -> Callable:
  names = ("NHWC", "HWIO", "NHWC")
  return lambda x, k: lax.conv_general_dilated(x, k, dimension_numbers=names, **options)


# name: (function, arguments, ulps, scale)
PROGRAMS: dict[str, tuple[Callable, tuple, float, float]] = {
  "dot": (lambda x: x @ x.T, (X,), 16, 10),
  "dot batch": (lambda x: jnp.einsum("bij,bkj->kbi", x, x), (IMAGE[:, :, :, 0],), 16, 10),
  "dot int8": (lambda x: lax.dot(x, x.T, preferred_element_type=jnp.int32), (INTS.astype(np.int8),), 0, 0),
  "dot int32": (lambda x: x @ x.T, (INTS * 400_000,), 0, 0),
  "dot bf16": (lambda x: x @ x.T, (X.astype(ml_dtypes.bfloat16),), 2, 10),
  "dot bf16 to f32": (
    lambda x: lax.dot(x, x.T, preferred_element_type=jnp.float32),
    (X.astype(ml_dtypes.bfloat16),),
    16,
    10,
  ),
  "dot fp8": (
    lambda x: lax.dot(x, x.T, preferred_element_type=jnp.float32),
    (X.astype(ml_dtypes.float8_e4m3fn),),
    16,
    10,
  ),
  "dot complex": (lambda x: x @ x.T, ((X + 1j * X[::-1]).astype(np.complex64),), 32, 20),
  "conv": (convolve(window_strides=(1, 1), padding="SAME"), (IMAGE, KERNEL), 32, 30),
  "conv stride": (convolve(window_strides=(2, 3), padding=((1, 2), (-1, 3))), (IMAGE, KERNEL), 32, 30),
  "conv dilated": (
    convolve(window_strides=(2, 1), padding=((1, 2), (2, 1)), lhs_dilation=(1, 2), rhs_dilation=(2, 3)),
    (IMAGE, KERNEL),
    32,
    30,
  ),
  "conv groups": (
    convolve(window_strides=(1, 1), padding="VALID", feature_group_count=2),
    (IMAGE, KERNEL[:, :, :2]),
    32,
    30,
  ),
  "conv batch groups": (
    convolve(window_strides=(1, 1), padding="VALID", batch_group_count=2),
    (IMAGE, KERNEL),
    32,
    30,
  ),
  "conv gradient": (
    jax.grad(lambda x, k: jnp.sin(convolve(window_strides=(2, 1), padding="SAME")(x, k)).sum(), (0, 1)),
    (IMAGE, KERNEL),
    256,
    100,
  ),
  "conv int": (
    convolve(window_strides=(1, 1), padding="SAME"),
    (INTS[None, :, :, None], INTS[None, :2, :1, None]),
    0,
    0,
  ),
  "reduce": (lambda x: [x.sum(0), x.max(1), x.min(), x.prod(1), (x > 0).any(0), (x > 0).all(1)], (X,), 8, 10),
  "reduce int": (lambda x: [x.sum(0), x.max(1), x.prod(), jnp.bitwise_xor.reduce(x)], (INTS,), 0, 0),
  "reduce bf16": (lambda x: [x.sum(0), x.max(1)], (X.astype(ml_dtypes.bfloat16),), 2, 10),
  "argmax": (lambda x: [jnp.argmax(x), jnp.argmin(x, 1), jnp.argmax(x, 0)], (X,), 0, 0),
  "argmax nan": (lambda x: jnp.argmax(x), (np.array([1, np.nan, 3, np.nan], np.float32),), 0, 0),
  "reduce computation": (
    lambda x: lax.reduce(x, np.float32(1), lambda a, b: a * b + a + b, (1,)),
    (X * 0.5,),
    64,
    20,
  ),
  "cumulative": (lambda x: [jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 1, reverse=True)], (X,), 16, 10),
  "pool": (
    lambda x: [
      lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 1, 1), "SAME"),
      lax.reduce_window(
        x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 2, 1), ((0, 0), (1, 3), (2, 0), (0, 0)), (1, 2, 1, 1), (1, 1, 2, 1)
      ),
    ],
    (IMAGE,),
    8,
    10,
  ),
  "pool gradient": (
    jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum()),
    (IMAGE,),
    8,
    10,
  ),
  "sort": (lambda x: [jnp.sort(x, 0), jnp.sort(x, 1, descending=True), jnp.argsort(x, 1)], (X,), 0, 0),
  "sort special": (
    lambda x: [jnp.sort(x), jnp.argsort(x)],
    (np.array([1, np.nan, -0.0, 0.0, np.inf, -np.inf, -1, np.nan, 0.0], np.float32),),
    0,
    0,
  ),
  "sort two keys": (lambda x, y: lax.sort((x, y, x * y), num_keys=2), (INTS % 3, INTS), 0, 0),
  "top k": (lambda x: [lax.top_k(x, 3), lax.top_k(-x, 1)], (INTS,), 0, 0),
  "top k special": (
    lambda x: lax.top_k(x, 9),
    (np.array([1, np.nan, -0.0, 0.0, np.inf, -np.inf, -1, np.nan, 0.0], np.float32),),
    0,
    0,
  ),
  "quantile": (lambda x: jnp.quantile(x, 0.3, axis=1), (X,), 8, 2),
  "segment sum": (lambda x, i: jax.ops.segment_sum(x, i, 4), (X, np.array([0, 2, -1, 2], np.int32)), 8, 4),
  "unique": (lambda x: jnp.unique(x, size=8), (INTS,), 0, 0),
  "resize": (lambda x: jax.image.resize(x, (7, 5), "bilinear"), (X,), 16, 2),
  "gather": (
    lambda x, i: [x[i], x[i[:, 0], i[:, 1]], x[:, i[:, 0]], jnp.take(x, i, axis=1, mode="clip")],
    (X, INDICES),
    0,
    0,
  ),
  "gather batched": (lambda x, i: jnp.take_along_axis(x, i, axis=1), (INTS, np.abs(INTS) % 7), 0, 0),
  "gather vmap": (jax.vmap(lambda x, i: lax.dynamic_slice(x, i, (2, 3))), (IMAGE[..., 0], INDICES[:2]), 0, 0),
  "scatter": (
    lambda x, i: [
      x.at[i[:, 0], i[:, 1]].add(1.5, mode="drop"),
      x.at[i[:, 0]].set(2.0),
      x.at[i[:, 0]].mul(2.0),
      x.at[:, i[:, 1]].max(0.5),
      x.at[i[:, 0], i[:, 1]].apply(jnp.sin),
    ],
    (X, INDICES),
    16,
    2,
  ),
  "scatter windows": (
    lambda x, i: lax.scatter_add(x, i, jnp.ones((6, 2, 3), x.dtype), lax.ScatterDimensionNumbers((1, 2), (), (0, 1))),
    (X, INDICES),
    8,
    10,
  ),
  "scatter vmap": (jax.vmap(lambda x, i, v: x.at[i].add(v)), (INTS, np.abs(INTS) % 8, INTS), 0, 0),
  "dynamic slices": (
    lambda x, i: [lax.dynamic_slice(x, (i, i + 1), (2, 3)), lax.dynamic_update_slice(x, x[:2, :2], (i, -i))],
    (X, np.int32(3)),
    0,
    0,
  ),
  "pad": (
    lambda x: [
      lax.pad(x, np.float32(9), ((1, 2, 1), (-1, 0, 2))),
      lax.pad(x, np.float32(0), ((-2, -1, 0), (0, -7, 1))),
    ],
    (X,),
    0,
    0,
  ),
  "shapes": (
    lambda x: [
      x.T.reshape(3, 8),
      x[::-1, ::2],
      jnp.tile(x, (2, 1)),
      jnp.stack([x, x], 1),
      jnp.roll(x, 2, 1),
      x[1:3, 4:],
    ],
    (X,),
    0,
    0,
  ),
  "iota": (lambda: [lax.iota(t, 5) for t in (jnp.int8, jnp.uint32, jnp.float32, jnp.bfloat16)], (), 0, 0),
  "fft": (
    lambda x: [
      jnp.fft.fft(x),
      jnp.fft.ifft2(x),
      jnp.fft.rfft2(x),
      jnp.fft.irfft(x.astype(jnp.complex64)),
      jnp.fft.rfft(x, 5),
    ],
    (X,),
    32,
    20,
  ),
  "cholesky": (jnp.linalg.cholesky, (POSITIVE,), 64, 10),
  "solve": (lambda a: [jnp.linalg.solve(a, a.T), jnp.linalg.inv(a), jnp.linalg.det(a)], (POSITIVE,), 2000, 100),
  "triangular": (
    lambda a: [
      lax.linalg.triangular_solve(a, a, left_side=left, lower=lower, transpose_a=turned, unit_diagonal=unit)
      for left, lower, turned, unit in [
        (True, True, False, False),
        (False, True, True, False),
        (True, False, True, True),
      ]
    ],
    (POSITIVE,),
    20000,
    1000,
  ),
  "qr": (lambda a: jnp.linalg.qr(a), (POSITIVE,), 256, 20),
  "eigh": (lambda a: jnp.linalg.eigh(a)[0], (POSITIVE,), 256, 20),
  "svd": (lambda a: jnp.linalg.svd(a, compute_uv=False), (POSITIVE,), 256, 20),
  "random": (
    lambda: [jax.random.bits(jax.random.key(3), (5, 3)), jax.random.permutation(jax.random.key(1), 17)],
    (),
    0,
    0,
  ),
  "random normal": (lambda: jax.random.normal(jax.random.key(3), (50,)), (), 64, 1),
  "random rbg": (lambda: jax.random.bits(jax.random.key(3, impl="rbg"), (5, 3)), (), 0, 0),
  "softmax": (lambda x: jax.nn.softmax(x), (X,), 16, 1),
  "layer norm": (lambda x: (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5), (X,), 64, 3),
  "attention gradient": (
    jax.grad(lambda x: (jax.nn.softmax(x @ x.T / 2.0) @ x).sum()),
    (X,),
    512,
    30,
  ),
  "gelu": (lambda x: [jax.nn.gelu(x), jax.nn.gelu(x, approximate=False), jax.nn.silu(x)], (X,), 16, 1),
  "barrier": (lambda x: lax.optimization_barrier((x + 1, x * 2)), (X,), 0, 0),
  "bits": (lambda x: [lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8)], (X,), 0, 0),
  "map": (lambda x: lax.map(lambda row: row * row.sum(), x), (X,), 16, 30),
  "ragged dot over the contraction": (
    lambda x, y, n: lax.ragged_dot_general(x, y, n, lax.RaggedDotDimensionNumbers((([0], [0]), ([], [])), [0], [])),
    (X, X[:, :3], np.array([1, 0, 2], np.int32)),
    16,
    20,
  ),
  "ragged dot": (
    lambda x, w, n: lax.ragged_dot(x, w, n),
    (X, RNG.normal(size=(3, 6, 5)).astype(np.float32), np.array([1, 0, 3], np.int32)),
    16,
    20,
  ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
  function, args, ulps, scale = PROGRAMS[name]
  check(function, *args, ulps=ulps, scale=scale)


def test_a_cholesky_that_fails_is_nan() -> None:
  text = """HloModule m
  ENTRY e {
    x = f32[2,2] parameter(0)
    ROOT c = f32[2,2] cholesky(x), lower=true
  }"""
  result = hlo.evaluate(hlo.parse(text), np.array([[1, 2], [2, 1]], np.float32))
  assert np.isnan(result[1, 1])


@pytest.mark.parametrize(
  "algorithm", ["BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9", "TF32_TF32_F32"]
)
def test_dot_algorithms_have_the_precision_they_name(algorithm: str) -> None:
  x = RNG.normal(size=(8, 64)).astype(np.float32)
  text = f"""HloModule m
  ENTRY e {{
    x = f32[8,64] parameter(0)
    ROOT d = f32[8,8] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}, algorithm=dot_{algorithm.lower()}
  }}"""
  got = hlo.evaluate(hlo.parse(text), x)
  exact = x.astype(np.float64) @ x.T.astype(np.float64)
  bound = {"BF16_BF16_F32": 2.0**-8, "BF16_BF16_F32_X3": 2.0**-15, "TF32_TF32_F32": 2.0**-10}.get(algorithm, 2.0**-22)
  magnitude = np.abs(x.astype(np.float64)) @ np.abs(x.T.astype(np.float64))
  error = np.abs(got - exact) / magnitude
  assert error.max() <= 2 * bound
  if algorithm == "BF16_BF16_F32":
    rounded = x.astype(ml_dtypes.bfloat16).astype(np.float64)
    assert_close(got, (rounded @ rounded.T).astype(np.float32), 1, 10)

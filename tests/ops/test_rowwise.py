"""Softmax, norms, cross-entropy and activations against float64, natively and portably."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from float64_oracle import NATIVE, close, exact, gradient64, random, value64

from tilewright import errors, ops

targets = pytest.mark.parametrize("target", NATIVE.values(), ids=NATIVE.keys())
DTYPES = (jnp.float32, jnp.bfloat16, jnp.float16)


def layer_norm64(x, scale, shift):
  centred = x - jnp.mean(x, -1, keepdims=True)
  return centred / jnp.sqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-5) * scale + shift


def rms_norm64(x, scale):
  return x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6) * scale


def loss64(x, labels):
  return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1)[:, 0]


@targets
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_softmax_of_odd_sizes(target, dtype):
  x = random(0, 37, 131, dtype=dtype) * 3
  # exp: 2 roundings and one of its argument, which is below 30; the sum of n terms: n in the worst case, but each is small beside it.
  close(ops.softmax(x, **target), value64(jax.nn.softmax, x), steps=40)
  close(ops.log_softmax(x, **target), value64(jax.nn.log_softmax, x), steps=8, size=30)


@targets
def test_softmax_along_another_dimension_and_of_huge_values(target):
  x = random(1, 5, 33, 7)
  close(ops.softmax(x, axis=1, **target), value64(lambda x: jax.nn.softmax(x, 1), x), steps=40)
  huge = jnp.array([[3e38, 3e38, -3e38], [-3e38, -3e38, -3e38]], jnp.float32)
  close(ops.softmax(huge, **target), np.array([[0.5, 0.5, 0], [1 / 3] * 3]), steps=4)


@targets
def test_derivatives_of_softmax(target):
  x, w = random(2, 19, 70), random(3, 19, 70)
  (dx,) = gradient64(lambda x: exact(w) * jax.nn.softmax(x), x)
  close(jax.grad(lambda x: jnp.sum(w * ops.softmax(x, **target)))(x), dx, steps=60)
  (dx,) = gradient64(lambda x: exact(w) * jax.nn.log_softmax(x), x)
  close(jax.grad(lambda x: jnp.sum(w * ops.log_softmax(x, **target)))(x), dx, steps=70, size=4)


@targets
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_norms_of_odd_sizes(target, dtype):
  x, scale, shift = random(4, 2, 19, 77, dtype=dtype), random(5, 77, dtype=dtype), random(6, 77, dtype=dtype)
  expected = value64(layer_norm64, x, scale, shift)
  close(ops.layer_norm(x, scale, shift, **target), expected, steps=80, size=1 + np.abs(expected))
  expected = value64(rms_norm64, x, scale)
  close(ops.rms_norm(x, scale, **target), expected, steps=80, size=1 + np.abs(expected))
  close(ops.layer_norm(x, **target), value64(lambda x: layer_norm64(x, 1.0, 0.0), x), steps=80, size=4)


@targets
@pytest.mark.parametrize("rows", [5, 8300])
def test_derivatives_of_norms(target, rows):
  """The sums over rows are right with one block of rows as well as with several groups of blocks, the last of them short."""
  x, scale, shift, w = random(7, rows, 33), random(8, 33), random(9, 33), random(10, rows, 33)
  expected = gradient64(lambda *a: exact(w) * layer_norm64(*a), x, scale, shift)
  found = jax.grad(lambda *a: jnp.sum(w * ops.layer_norm(*a, **target)), (0, 1, 2))(x, scale, shift)
  for d, e in zip(found, expected):
    close(d, e, steps=100 + rows, size=20)
  expected = gradient64(lambda *a: exact(w) * rms_norm64(*a), x, scale)
  for d, e in zip(jax.grad(lambda *a: jnp.sum(w * ops.rms_norm(*a, **target)), (0, 1))(x, scale), expected):
    close(d, e, steps=100 + rows, size=20)


@targets
def test_cross_entropy_and_its_derivative(target):
  x, labels = random(11, 41, 203) * 3, jnp.asarray(np.random.default_rng(0).integers(0, 203, 41))
  close(ops.cross_entropy(x, labels, **target), value64(lambda x: loss64(x, labels), x), steps=12, size=20)
  (dx,) = gradient64(lambda x: loss64(x, labels), x)
  close(jax.grad(lambda x: jnp.sum(ops.cross_entropy(x, labels, **target)))(x), dx, steps=60)


@targets
def test_a_label_outside_of_the_classes_is_ignored(target):
  x, labels = random(12, 6, 10), jnp.array([3, -1, 0, 10, 9, -100])
  loss, dx = jax.value_and_grad(lambda x: jnp.sum(ops.cross_entropy(x, labels, **target)))(x)
  kept = jnp.array([0, 2, 4])
  assert float(loss) == pytest.approx(float(value64(lambda x: loss64(x, labels[kept]), x[kept]).sum()), rel=1e-6)
  assert not np.asarray(dx)[np.array([1, 3, 5])].any()


@pytest.mark.parametrize("approximate", [True, False])
@pytest.mark.parametrize("target, dtype", [*(("native", d) for d in DTYPES), ("portable", jnp.float32)])
def test_gelu(target, approximate, dtype):
  target = NATIVE[target]
  x = jnp.concatenate([random(13, 5000, dtype=dtype) * 4, jnp.array([0.0, 60, -60, 300, -300], dtype)])
  reference = lambda x: jax.nn.gelu(x, approximate=approximate)
  close(ops.gelu(x, approximate=approximate, **target), value64(reference, x), steps=12, size=1 + np.abs(exact(x)))
  (dx,) = gradient64(reference, x)
  found = jax.grad(lambda x: jnp.sum(ops.gelu(x, approximate=approximate, **target).astype(jnp.float32)))(x)
  close(found, dx, steps=60, size=1 + np.abs(exact(x)))


@targets
def test_swiglu(target):
  gate, x = random(14, 3, 301) * 3, random(15, 3, 301)
  reference = lambda gate, x: jax.nn.silu(gate) * x
  close(ops.swiglu(gate, x, **target), value64(reference, gate, x), steps=20, size=10)
  found = jax.grad(lambda *a: jnp.sum(ops.swiglu(*a, **target)), (0, 1))(gate, x)
  for d, e in zip(found, gradient64(reference, gate, x)):
    close(d, e, steps=40, size=10)


@targets
def test_under_jit_and_vmap(target):
  x = random(16, 4, 9, 50)
  expected = value64(jax.nn.softmax, x)
  close(jax.jit(jax.vmap(lambda x: ops.softmax(x, **target)))(x), expected, steps=40)
  along_first = jax.vmap(lambda x: ops.softmax(x, axis=0, **target), in_axes=2, out_axes=2)
  close(along_first(x), value64(lambda x: jax.nn.softmax(x, 0), x), steps=40)
  w = random(17, 4, 9, 50)
  grads = jax.vmap(jax.grad(lambda x, w: jnp.sum(w * ops.rms_norm(x, **target))))(x, w)
  (expected,) = gradient64(lambda x: exact(w) * rms_norm64(x, 1.0), x)
  close(grads, expected, steps=100, size=10)


def test_arrays_without_elements():
  assert ops.softmax(jnp.zeros((0, 5))).shape == (0, 5)
  assert ops.softmax(jnp.zeros((5, 0))).shape == (5, 0)
  assert ops.gelu(jnp.zeros((0,))).shape == (0,)
  assert ops.layer_norm(jnp.zeros((3, 0))).shape == (3, 0)


def test_mistakes_are_named():
  x = jnp.zeros((4, 8))
  for call, words in (
    (lambda: ops.softmax(x.astype(jnp.int32)), "softmax: x must be float32, bfloat16 or float16, got int32"),
    (lambda: ops.softmax(x, axis=2), "axis must be between -2 and 1"),
    (lambda: ops.layer_norm(x, jnp.ones(7)), r"scale must have shape \(8,\)"),
    (lambda: ops.rms_norm(x, eps=-1.0), "eps must not be negative"),
    (lambda: ops.cross_entropy(x, jnp.zeros((4,))), "labels must be integers"),
    (lambda: ops.cross_entropy(x, jnp.zeros((5,), int)), r"labels must have shape \(4,\)"),
    (lambda: ops.swiglu(x, x[:2]), r"x must have shape \(4, 8\)"),
    (lambda: ops.gelu("x"), "x must be an array"),
  ):
    with pytest.raises((errors.ShapeMismatchError, errors.KernelTypeError), match=words):
      call()
  with pytest.raises(errors.KernelTypeError, match="Leave one of them out"):
    ops.softmax(x, interpret=True, native=True)

"""Plain programs that become kernels under `tilewright.accelerate`: a function and its arguments."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(0)


def normal(*shape):
  return jnp.asarray(RNG.normal(size=shape), jnp.float32)


def layer_norm(x, g, b):
  mean = x.mean(-1, keepdims=True)
  var = ((x - mean) ** 2).mean(-1, keepdims=True)
  return (x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b


def cross_entropy(x, labels):
  return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean()


X, G = normal(24, 40), normal(40)
LABELS = jnp.asarray(RNG.integers(0, 40, 24), jnp.int32)
PROGRAMS = {
  "softmax": (jax.nn.softmax, (X,)),
  "softmax along the first dimension": (lambda x: jax.nn.softmax(x, 0), (X,)),
  "softmax, derivative": (jax.grad(lambda x: (jax.nn.softmax(x) ** 2).sum()), (X,)),
  "layer norm": (layer_norm, (X, G, G)),
  "layer norm, derivative": (jax.grad(lambda *a: (layer_norm(*a) ** 2).sum(), (0, 1, 2)), (X, G, G)),
  "layer norm of many rows, derivative": (
    jax.grad(lambda *a: (layer_norm(*a) ** 2).sum(), (0, 1, 2)),
    (normal(1200, 2048), normal(2048), normal(2048)),
  ),
  "rms norm of odd sizes": (lambda x: x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6), (normal(7, 3, 13),)),
  "gated gelu": (lambda x, y: jax.nn.gelu(x) * y, (X, X[::-1])),
  "cross entropy, derivative": (jax.value_and_grad(cross_entropy), (X, LABELS)),
  "cross entropy of sequences, derivative": (
    jax.value_and_grad(lambda x, y: -jnp.take_along_axis(jax.nn.log_softmax(x), y[..., None], -1).mean()),
    (normal(3, 8, 40), LABELS.reshape(3, 8)),
  ),
  "dropout": (
    lambda x: jnp.where(jax.random.uniform(jax.random.key(0), x.shape) < 0.5, jax.nn.softmax(x) * 2, 0.0),
    (X,),
  ),
  "transposed": (lambda x: jnp.tanh(x).T * 2 + x.T.sum(-1, keepdims=True), (X,)),
  "rows of a reshaped array": (lambda x: jax.nn.softmax(x.reshape(4, 6, 40) + 1).reshape(24, 40), (X,)),
}

"""A gated recurrent network in plain JAX: `scan` over time with normalised gates, and the derivative of a loss.

python examples/accelerate/recurrent.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from harness import compare, normal


def normalised(x):
  return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def cell(p, h, x):
  z, r, n = jnp.split(normalised(x @ p["x"] + p["b"]), 3, -1)
  hz, hr, hn = jnp.split(h @ p["h"], 3, -1)
  z, r = jax.nn.sigmoid(z + hz), jax.nn.sigmoid(r + hr)
  return (1 - z) * jnp.tanh(n + r * hn) + z * h


def program(batch: int = 128, length: int = 16, width: int = 128):
  key = jax.random.key(0)
  p = {
    "x": normal(jax.random.fold_in(key, 1), width, 3 * width),
    "h": normal(jax.random.fold_in(key, 2), width, 3 * width),
  }
  p["b"] = jnp.zeros(3 * width)
  xs = jax.random.normal(key, (length, batch, width))

  def step(p, xs):
    def loss(p):
      def one(h, x):
        h = cell(p, h, x)
        return h, (h**2).mean()

      _, losses = jax.lax.scan(one, jnp.zeros(xs.shape[1:]), xs)
      return losses.mean()

    return jax.value_and_grad(loss)(p)

  return step, (p, xs)


if __name__ == "__main__":
  results = compare("recurrent", *program())

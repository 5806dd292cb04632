"""Two residual blocks with batch normalisation in plain JAX, and the derivative of a loss.

python examples/accelerate/resnet.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from harness import compare, normal


def convolution(x, w, stride=1):
  return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(x, g, b):
  mean = x.mean((0, 1, 2))
  var = ((x - mean) ** 2).mean((0, 1, 2))
  return (x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b


def block(x, p):
  h = jax.nn.relu(batch_norm(convolution(x, p["w1"]), p["g1"], p["b1"]))
  h = batch_norm(convolution(h, p["w2"]), p["g2"], p["b2"])
  return jax.nn.relu(x + h)


def program(batch: int = 4, side: int = 32, channels: int = 32, blocks: int = 2):
  key = jax.random.key(0)
  one = jnp.ones(channels)

  def parameters(k):
    w = lambda i: normal(jax.random.fold_in(k, i), 9 * channels, channels).reshape(3, 3, channels, channels)
    return {"w1": w(1), "w2": w(2), "g1": one, "b1": 0 * one, "g2": one, "b2": 0 * one}

  params = [parameters(jax.random.fold_in(key, i)) for i in range(blocks)]
  x = jax.random.normal(key, (batch, side, side, channels))

  def step(params, x):
    def loss(params):
      y = x
      for p in params:
        y = block(y, p)
      return (y.mean((1, 2)) ** 2).mean()

    return jax.value_and_grad(loss)(params)

  return step, (params, x)


if __name__ == "__main__":
  results = compare("resnet", *program())

"""A small UNet in plain JAX: group normalisation, convolutions down and up with a skip connection, and the derivative of a loss.

python examples/accelerate/unet.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from harness import compare, normal
from resnet import convolution


def group_norm(x, g, b, groups=4):
  batch, height, width, channels = x.shape
  y = x.reshape(batch, height, width, groups, channels // groups)
  mean = y.mean((1, 2, 4), keepdims=True)
  var = ((y - mean) ** 2).mean((1, 2, 4), keepdims=True)
  return ((y - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(x.shape) * g + b


def stage(x, p):
  return jax.nn.silu(group_norm(convolution(x, p["w"]), p["g"], p["b"]))


def unet(x, p):
  down = stage(x, p["in"])
  half = jax.lax.reduce_window(down, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
  deep = stage(half, p["deep"])
  up = jnp.repeat(jnp.repeat(deep, 2, 1), 2, 2)
  return convolution(stage(jnp.concatenate([down, up], -1), p["up"]), p["out"])


def program(batch: int = 2, side: int = 32, channels: int = 16):
  key = jax.random.key(0)

  def weights(i, inputs, outputs):
    w = normal(jax.random.fold_in(key, i), 9 * inputs, outputs).reshape(3, 3, inputs, outputs)
    return {"w": w, "g": jnp.ones(outputs), "b": jnp.zeros(outputs)}

  p = {"in": weights(1, 4, channels), "deep": weights(2, channels, channels), "up": weights(3, 2 * channels, channels)}
  p["out"] = weights(4, channels, 4)["w"]
  x = jax.random.normal(key, (batch, side, side, 4))
  step = lambda p, x: jax.value_and_grad(lambda p: jnp.mean((unet(x, p) - x) ** 2))(p)
  return step, (p, x)


if __name__ == "__main__":
  results = compare("unet", *program())

"""A small vision transformer in plain JAX: patches, two layers without a mask, and a classifier's loss with its derivative.

python examples/accelerate/vision_transformer.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from harness import compare, normal
from transformer import layer_norm


def layer(x, p, heads):
  batch, length, width = x.shape
  h = layer_norm(x, p["g1"], p["b1"])
  q, k, v = jnp.moveaxis((h @ p["qkv"]).reshape(batch, length, 3, heads, width // heads), 2, 0)
  weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5)
  x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, width) @ p["o"]
  h = layer_norm(x, p["g2"], p["b2"])
  return x + jax.nn.gelu(h @ p["up"], approximate=False) @ p["down"]


def program(batch: int = 4, side: int = 64, patch: int = 4, width: int = 128, heads: int = 4, layers: int = 2):
  key = jax.random.key(0)

  def one(k):
    shapes = {"qkv": (width, 3 * width), "o": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    p = {n: normal(jax.random.fold_in(k, i), *s) for i, (n, s) in enumerate(shapes.items())}
    return p | {"g1": jnp.ones(width), "b1": jnp.zeros(width), "g2": jnp.ones(width), "b2": jnp.zeros(width)}

  params = {
    "embed": normal(jax.random.fold_in(key, 1), patch * patch * 3, width),
    "head": normal(jax.random.fold_in(key, 2), width, 100),
    "layers": [one(jax.random.fold_in(key, 10 + i)) for i in range(layers)],
  }
  images = jax.random.normal(jax.random.fold_in(key, 3), (batch, side, side, 3))
  labels = jnp.asarray(np.arange(batch) % 100, jnp.int32)

  def step(params, images, labels):
    def loss(params):
      count = side // patch
      x = images.reshape(batch, count, patch, count, patch, 3).transpose(0, 1, 3, 2, 4, 5)
      x = x.reshape(batch, count * count, -1) @ params["embed"]
      for p in params["layers"]:
        x = layer(x, p, heads)
      logits = jax.nn.log_softmax(x.mean(1) @ params["head"])
      return -jnp.take_along_axis(logits, labels[:, None], 1).mean()

    return jax.value_and_grad(loss)(params)

  return step, (params, images, labels)


if __name__ == "__main__":
  results = compare("vision transformer", *program())

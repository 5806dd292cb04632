"""One training step of a transformer block in plain JAX, with and without `tilewright.accelerate`.

python examples/accelerate/transformer.py
tilewright accelerate examples/accelerate/transformer.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from harness import compare, normal


def layer_norm(x, g, b):
  mean = x.mean(-1, keepdims=True)
  var = ((x - mean) ** 2).mean(-1, keepdims=True)
  return (x - mean) * jax.lax.rsqrt(var + 1e-5) * g + b


def attention(x, p, heads):
  batch, length, width = x.shape
  q, k, v = ((x @ p[name]).reshape(batch, length, heads, width // heads) for name in ("q", "k", "v"))
  scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width // heads)
  scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
  out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
  return out.reshape(batch, length, width) @ p["o"]


def block(x, p, heads):
  x = x + attention(layer_norm(x, p["g1"], p["b1"]), p, heads)
  h = layer_norm(x, p["g2"], p["b2"])
  return x + jax.nn.gelu(h @ p["up"]) @ p["down"]


def parameters(key, width):
  names = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width)}
  names |= {"up": (width, 4 * width), "down": (4 * width, width)}
  p = {n: normal(jax.random.fold_in(key, i), *shape) for i, (n, shape) in enumerate(names.items())}
  return p | {"g1": jnp.ones(width), "b1": jnp.zeros(width), "g2": jnp.ones(width), "b2": jnp.zeros(width)}


def program(width: int = 256, length: int = 512, heads: int = 4):
  key = jax.random.key(0)
  p = parameters(key, width)
  x, y = (jax.random.normal(jax.random.fold_in(key, 10 + i), (1, length, width)) for i in range(2))

  def step(p, x, y):
    loss, slopes = jax.value_and_grad(lambda p: jnp.mean((block(x, p, heads) - y) ** 2))(p)
    return loss, jax.tree.map(lambda a, g: a - 0.1 * g, p, slopes)

  return step, (p, x, y)


if __name__ == "__main__":
  results = compare("transformer", *program())

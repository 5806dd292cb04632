"""One denoising step of a diffusion model with a transformer (as in DiT) in plain JAX: modulation by time, attention, guidance, update.

python examples/accelerate/diffusion.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from harness import compare, normal


def embedding(t, width):
  frequencies = jnp.exp(-np.log(10000.0) * jnp.arange(width // 2) / (width // 2))
  angles = t[:, None] * frequencies
  return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)


def modulated(x, shift, scale):
  mean = x.mean(-1, keepdims=True)
  y = (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-6)
  return y * (1 + scale[:, None]) + shift[:, None]


def block(x, c, p, heads):
  batch, length, width = x.shape
  s1, k1, g1, s2, k2, g2 = jnp.split(jax.nn.silu(c) @ p["modulation"], 6, -1)
  h = modulated(x, s1, k1)
  q, k, v = ((h @ p[n]).reshape(batch, length, heads, width // heads) for n in ("q", "k", "v"))
  weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width // heads))
  x = x + g1[:, None] * (jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, width) @ p["o"])
  h = modulated(x, s2, k2)
  return x + g2[:, None] * (jax.nn.gelu(h @ p["up"]) @ p["down"])


def program(batch: int = 2, length: int = 512, width: int = 128, heads: int = 4, layers: int = 2):
  key = jax.random.key(0)
  shapes = {"modulation": (width, 6 * width), "q": (width, width), "k": (width, width), "v": (width, width)}
  shapes |= {"o": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
  one = lambda k: {n: normal(jax.random.fold_in(k, i), *s) for i, (n, s) in enumerate(shapes.items())}
  params = [one(jax.random.fold_in(key, i)) for i in range(layers)]
  x = jax.random.normal(key, (batch, length, width))
  t = jnp.linspace(0.1, 0.9, batch) * 1000

  def step(params, x, t):
    c = embedding(t, width)
    y = x
    for p in params:
      y = block(y, c, p, heads)
    alpha = jnp.cos(t / 1000 * np.pi / 2)[:, None, None] ** 2
    clean = jnp.clip((x - jnp.sqrt(1 - alpha) * y) / jnp.sqrt(alpha + 1e-3), -3, 3)
    return jnp.sqrt(alpha) * clean + jnp.sqrt(1 - alpha) * y

  return step, (params, x, t)


if __name__ == "__main__":
  results = compare("diffusion", *program())

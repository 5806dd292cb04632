"""A selective state space layer (as in Mamba) in plain JAX: gates, an associative scan along the sequence, and the derivative of a loss.

python examples/accelerate/mamba.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from harness import compare, normal


def layer(x, p):
  h, gate = jnp.split(x @ p["in"], 2, -1)
  h = jax.nn.silu(h)
  step = jax.nn.softplus(h @ p["step"] + p["bias"])
  b, c = jnp.split(h @ p["bc"], 2, -1)
  decay = jnp.exp(-jnp.exp(p["a"]) * step[..., None])
  drive = (step * h)[..., None] * b[:, :, None, :]

  def join(left, right):
    return left[0] * right[0], right[0] * left[1] + right[1]

  _, state = jax.lax.associative_scan(join, (decay, drive), axis=1)
  y = (state * c[:, :, None, :]).sum(-1) + p["d"] * h
  return x + (y * jax.nn.silu(gate)) @ p["out"]


def program(batch: int = 1, length: int = 128, width: int = 64, states: int = 8):
  key = jax.random.key(0)
  shapes = {"in": (width, 2 * width), "step": (width, width), "bc": (width, 2 * states), "out": (width, width)}
  p = {n: normal(jax.random.fold_in(key, i), *s) for i, (n, s) in enumerate(shapes.items())}
  p |= {
    "bias": jnp.full(width, -1.0),
    "a": jnp.log(jnp.tile(jnp.arange(1.0, states + 1), (width, 1))),
    "d": jnp.ones(width),
  }
  x = jax.random.normal(key, (batch, length, width))
  step = lambda p, x: jax.value_and_grad(lambda p: jnp.mean((layer(x, p) - x) ** 2))(p)
  return step, (p, x)


if __name__ == "__main__":
  results = compare("mamba", *program())

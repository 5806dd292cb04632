"""A mixture of experts in plain JAX: a router's softmax, the two best experts of each token, their gated MLPs, and the derivative.

python examples/accelerate/mixture_of_experts.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from harness import compare, normal


def experts(x, p, best):
  weights = jax.nn.softmax(x @ p["router"])
  top, chosen = jax.lax.top_k(weights, best)
  gates = (jax.nn.one_hot(chosen, weights.shape[-1]) * (top / top.sum(-1, keepdims=True))[..., None]).sum(1)
  hidden = jax.nn.silu(jnp.einsum("td,edf->tef", x, p["gate"])) * jnp.einsum("td,edf->tef", x, p["up"])
  return jnp.einsum("tef,efd,te->td", hidden, p["down"], gates), weights


def program(tokens: int = 512, width: int = 128, hidden: int = 256, count: int = 4):
  key = jax.random.key(0)
  shapes = {
    "router": (width, count),
    "gate": (count, width, hidden),
    "up": (count, width, hidden),
    "down": (count, hidden, width),
  }
  p = {n: normal(jax.random.fold_in(key, i), *s) for i, (n, s) in enumerate(shapes.items())}
  x = jax.random.normal(jax.random.fold_in(key, 9), (tokens, width))

  def step(p, x):
    def loss(p):
      y, weights = experts(x, p, 2)
      balance = (weights.mean(0) ** 2).sum() * weights.shape[-1]
      return jnp.mean((y - x) ** 2) + 0.01 * balance

    return jax.value_and_grad(loss)(p)

  return step, (p, x)


if __name__ == "__main__":
  results = compare("mixture of experts", *program())

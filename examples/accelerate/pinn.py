"""A physics-informed network in plain JAX: the residual of Burgers' equation from derivatives of a network, and its training step.

python examples/accelerate/pinn.py
"""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
from harness import compare, normal


def network(params, x, t):
  h = jnp.stack([x, t])
  for w, b in params[:-1]:
    h = jnp.tanh(h @ w + b)
  w, b = params[-1]
  return (h @ w + b)[0]


def residual(params, x, t):
  u = lambda x, t: network(params, x, t)
  slope = jax.grad(u, 0)
  return jax.grad(u, 1)(x, t) + u(x, t) * slope(x, t) - 0.01 * jax.grad(slope, 0)(x, t)


def program(points: int = 2048, width: int = 32, layers: int = 3):
  key = jax.random.key(0)
  sizes = [2, *[width] * layers, 1]
  params = [
    (normal(jax.random.fold_in(key, i), a, b), jnp.zeros(b)) for i, (a, b) in enumerate(itertools.pairwise(sizes))
  ]
  x, t = jax.random.uniform(key, (2, points))

  def step(params, x, t):
    loss = lambda params: jnp.mean(jax.vmap(residual, (None, 0, 0))(params, x, t) ** 2)
    return jax.value_and_grad(loss)(params)

  return step, (params, x, t)


if __name__ == "__main__":
  results = compare("physics-informed network", *program())

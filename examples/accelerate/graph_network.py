"""A graph attention network in plain JAX: messages gathered along edges, a softmax over each node's edges by segments, scatter-added.

python examples/accelerate/graph_network.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from harness import compare, normal


def layer(x, p, source, target, nodes):
  h = x @ p["w"]
  score = jax.nn.leaky_relu((h @ p["left"])[source] + (h @ p["right"])[target])
  score = jnp.exp(score - jax.ops.segment_max(score, target, nodes)[target])
  weight = score / jax.ops.segment_sum(score, target, nodes)[target]
  out = jax.ops.segment_sum(weight[:, None] * h[source], target, nodes)
  norm = jnp.sqrt((out * out).sum(-1, keepdims=True) + 1e-6)
  return jax.nn.elu(out / norm)


def program(nodes: int = 1024, edges: int = 8192, width: int = 64, layers: int = 2):
  key = jax.random.key(0)
  random = np.random.default_rng(0)
  source = jnp.asarray(np.concatenate([np.arange(nodes), random.integers(0, nodes, edges - nodes)]), jnp.int32)
  target = jnp.asarray(np.concatenate([np.arange(nodes), random.integers(0, nodes, edges - nodes)]), jnp.int32)
  one = lambda k: {
    "w": normal(jax.random.fold_in(k, 1), width, width),
    "left": normal(jax.random.fold_in(k, 2), width),
    "right": normal(jax.random.fold_in(k, 3), width),
  }
  params = [one(jax.random.fold_in(key, i)) for i in range(layers)]
  x = jax.random.normal(key, (nodes, width))

  def step(params, x):
    def loss(params):
      y = x
      for p in params:
        y = layer(y, p, source, target, nodes)
      return jnp.mean((y - x) ** 2)

    return jax.value_and_grad(loss)(params)

  return step, (params, x)


if __name__ == "__main__":
  results = compare("graph network", *program())

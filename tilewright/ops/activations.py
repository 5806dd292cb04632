"""Activations as functions of values, for epilogues and elementwise kernels. A table keyed by name.

They are ordinary JAX functions, traced inside of kernels; so are their derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp

from tilewright import errors

Activation = Callable[[jax.Array], jax.Array]


def gelu_tanh(x: jax.Array) -> jax.Array:
  """x * Φ(x) with Φ approximated through tanh, written as x * sigmoid(2u), which needs one exponential."""
  u = x * (math.sqrt(2 / math.pi) + math.sqrt(2 / math.pi) * 0.044715 * x * x)
  return x * jax.lax.logistic(2.0 * u)


def gelu_exact(x: jax.Array) -> jax.Array:
  """x * Φ(x)."""
  return 0.5 * x * (1.0 + jax.lax.erf(x * math.sqrt(0.5)))


def silu(x: jax.Array) -> jax.Array:
  """x * sigmoid(x)."""
  return x * jax.lax.logistic(x)


def relu(x: jax.Array) -> jax.Array:
  return jnp.maximum(x, 0.0)


@jax.custom_jvp
def tanh(x: jax.Array) -> jax.Array:
  """tanh, with a slope made of products only."""
  return jnp.tanh(x)


@tanh.defjvp
def _(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
  y = jnp.tanh(*primals)
  return y, tangents[0] * (1.0 - y * y)


ACTIVATIONS: dict[str, Activation] = {
  "gelu": gelu_tanh,
  "gelu_exact": gelu_exact,
  "silu": silu,
  "relu": relu,
  "tanh": tanh,
}


def activation_of(op: str, name: str | None) -> Activation | None:
  """An activation by its name."""
  if name is None:
    return None
  if name not in ACTIVATIONS:
    raise errors.ShapeMismatchError(f"{op}: activation must be one of {', '.join(ACTIVATIONS)}, got {name!r}.")
  return ACTIVATIONS[name]


def derivative(activation: Activation, x: jax.Array, g: jax.Array) -> jax.Array:
  """g times the activation's slope at x; traced where it is called, inside a kernel as well."""
  return jax.vjp(activation, x)[1](g)[0]

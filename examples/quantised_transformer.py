"""A small transformer in small numbers: trained with MXFP8 products, then served with quantised weights.

Training: every product of activations with weights goes through `scaled_dot_general`. Both operands are cut into blocks of 32 along the
contracted dimension, each with a scale that is a power of two, and their elements become 8-bit floats; the derivatives are computed from
operands that are quantised anew, along the dimension *they* contract. Weights, normalisation and the optimiser stay in float32, so
the loss follows that of bfloat16 closely.

Serving: `quantize` packs the trained weights once. NVFP4 keeps 4 bits for each and a scale for every 16, an eighth of float32's size, and
`scaled_dot` multiplies with them as they are.

The example trains the same network from the same start both ways on a toy text, prints the losses side by side, and compares the loss of
the trained network with that of its quantised weights.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import numerics

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS, BATCH, STEPS = 64, 32, 64, 4, 1, 16, 20
RATE = 0.03
TEXT = "the quick brown fox jumps over the lazy dog. " * 40

Params = dict[str, Any]


def initial(seed: int) -> Params:
  rng = np.random.default_rng(seed)

  def matrix(rows: int, columns: int) -> jax.Array:
    return jnp.asarray(rng.standard_normal((rows, columns)) / rows**0.5, jnp.float32)

  layer = lambda: {
    **{name: matrix(WIDTH, WIDTH) for name in ("query", "key", "value", "out")},
    "up": matrix(WIDTH, 2 * WIDTH),
    "down": matrix(2 * WIDTH, WIDTH),
  }
  return {
    "embedding": matrix(VOCABULARY, WIDTH) * VOCABULARY**0.5,
    "layers": [layer() for _ in range(LAYERS)],
    "head": matrix(WIDTH, VOCABULARY),
  }


# --- three ways to multiply activations (…, k) with weights (k, n) -------------------------------------------------


def in_bfloat16(x: jax.Array, w: jax.Array) -> jax.Array:
  return jnp.dot(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


def in_mxfp8(x: jax.Array, w: jax.Array) -> jax.Array:
  numbers = (((x.ndim - 1,), (0,)), ((), ()))
  return numerics.scaled_dot_general(x, w, numbers, configs=["mxfp8"] * 3)


def with_packed_weights(x: jax.Array, w: numerics.QArray) -> jax.Array:
  return numerics.scaled_dot(x, w)


# --- the network -------------------------------------------------------------------------------------------------


def normalised(x: jax.Array) -> jax.Array:
  return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def attention(x: jax.Array, layer: Params, multiply: Any) -> jax.Array:
  batch, length, _ = x.shape
  heads = lambda z: z.reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3)
  q, k, v = (heads(multiply(x, layer[name])) for name in ("query", "key", "value"))
  scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
  scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
  mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)
  return multiply(mixed.transpose(0, 2, 1, 3).reshape(x.shape), layer["out"])


def loss(params: Params, tokens: jax.Array, multiply: Any) -> jax.Array:
  """The mean surprise at the next token."""
  x = params["embedding"][tokens[:, :-1]]
  for layer in params["layers"]:
    x = x + attention(normalised(x), layer, multiply)
    x = x + multiply(jax.nn.gelu(multiply(normalised(x), layer["up"])), layer["down"])
  logits = multiply(normalised(x), params["head"])
  chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)
  return -jnp.mean(chosen)


@functools.partial(jax.jit, static_argnums=2)
def step(params: Params, tokens: jax.Array, multiply: Any) -> tuple[Params, jax.Array]:
  value, slopes = jax.value_and_grad(loss)(params, tokens, multiply)
  # Steps of one length: the sign of the slope, for a toy as good as Adam.
  return jax.tree.map(lambda p, g: p - RATE * 0.1 * jnp.sign(g), params, slopes), value


def batches() -> list[jax.Array]:
  letters = sorted(set(TEXT))
  text = np.array([letters.index(c) for c in TEXT])
  rng = np.random.default_rng(1)
  starts = rng.integers(0, len(text) - LENGTH - 1, (STEPS, BATCH))
  return [jnp.asarray(np.stack([text[s : s + LENGTH + 1] for s in row])) for row in starts]


def train(multiply: Any) -> tuple[Params, list[float]]:
  params, losses = initial(0), []
  print(f"training {multiply.__name__}: compiling …", flush=True)
  for n, tokens in enumerate(batches()):
    params, value = step(params, tokens, multiply)
    losses.append(float(value))
    if n % 10 == 0:
      print(f"  step {n} of {STEPS}: loss {losses[-1]:.3f}", flush=True)
  return params, losses


def packed(params: Params, recipe: str) -> Params:
  """Every matrix that activations are multiplied with, quantised along the contracted dimension."""
  quantise = lambda w: numerics.quantize(w, recipe, axis=0)
  return {
    "embedding": params["embedding"],
    "layers": [{name: quantise(w) for name, w in layer.items()} for layer in params["layers"]],
    "head": quantise(params["head"]),
  }


def main() -> int:
  _, plain = train(in_bfloat16)
  params, small = train(in_mxfp8)
  print("step   loss in bfloat16   in MXFP8")
  for n in (*range(0, STEPS, 5), STEPS - 1):
    print(f"{n:4}   {plain[n]:16.3f}   {small[n]:8.3f}")
  gap = abs(np.mean(small[-5:]) - np.mean(plain[-5:]))

  tokens = batches()[0]
  trained = float(jax.jit(loss, static_argnums=2)(params, tokens, in_bfloat16))
  print(f"\nserving the trained network: {trained:.3f} with bfloat16 weights")
  served = {}
  for recipe in ("mxfp8", "nvfp4"):
    q = packed(params, recipe)
    served[recipe] = float(jax.jit(loss, static_argnums=2)(q, tokens, with_packed_weights))
    matrices = [w for layer in q["layers"] for w in layer.values()]
    size = sum(w.nbytes for w in matrices) / sum(4 * np.prod(w.shape) for w in matrices)
    print(f"  {recipe}: {served[recipe]:.3f}, weights at {size:.0%} of float32's size")

  learns = small[-1] < 0.6 * small[0]
  close = gap < 0.1 * plain[0] and abs(served["mxfp8"] - trained) < 0.1 and abs(served["nvfp4"] - trained) < 0.5
  print(f"quantised transformer: {'ok' if learns and close else 'WRONG'}")
  return 0 if learns and close else 1


if __name__ == "__main__":
  sys.exit(main())

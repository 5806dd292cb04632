"""Rules for special functions and for reductions with a custom reducer: each expands into JAX's operations (see `expand`).

The incomplete gamma and beta functions and i0e are JAX's own implementations, the ones that XLA compiles too. zeta, polygamma and i1e, for
which JAX has none, are here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.pallas.lowering.expand import expansion
from tilewright.runtime import _jax


def _in_f32(f: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
  """A function of numbers of one shape and dtype; floats of less than 32 bits are computed in f32."""

  def lifted(*args: jax.Array, **_: Any) -> jax.Array:
    shape = jnp.broadcast_shapes(*(a.shape for a in args))
    dtype = args[0].dtype
    wide = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)
    return f(*(jnp.broadcast_to(a, shape).astype(wide) for a in args)).astype(dtype)

  return lifted


def _of_jax(name: str) -> Callable[..., jax.Array]:
  implementation = getattr(_jax.special, name)
  return _in_f32(lambda *args: implementation(*args, dtype=args[0].dtype))


expansion("igamma")(_of_jax("igamma_impl"))
expansion("igammac")(_of_jax("igammac_impl"))
expansion("igamma_grad_a")(_of_jax("igamma_grad_a_impl"))
expansion("regularized_incomplete_beta")(_of_jax("regularized_incomplete_beta_impl"))
expansion("bessel_i0e")(_in_f32(lambda x: _jax.special.bessel_i0e_impl(x)))


@expansion("log2")
def _log2(x: jax.Array, **_: Any) -> jax.Array:
  return jnp.log(x) * np.asarray(1 / math.log(2), x.dtype)


@expansion("bessel_i1e")
@_in_f32
def _i1e(x: jax.Array) -> jax.Array:
  """exp(-|x|) I1(x): the power series, all of whose terms have one sign, and far out the asymptotic one.

  The first is sum (x/2)^(2k + 1) / (k! (k + 1)!); its terms grow up to k = x/2, so some 2x of them are needed. The second has the terms
  prod (4 - (2j - 1)^2) / (8 j x); its error is at most the first term left out, and smallest near exp(-2x).
  """
  near, terms, far_terms = (12.0, 28, 10) if x.dtype == np.float32 else (30.0, 64, 18)
  size = jnp.abs(x)
  inside = jnp.minimum(size, near)
  square = inside * inside * 0.25
  series = jnp.ones_like(x)
  for k in range(terms, 0, -1):
    series = 1.0 + series * square / (k * (k + 1))
  series = series * inside * 0.5 * jnp.exp(-inside)
  outside = jnp.maximum(size, near)
  tail = jnp.ones_like(x)
  for j in range(far_terms, 0, -1):
    tail = 1.0 - tail * (4 - (2 * j - 1) ** 2) / (8.0 * j * outside)
  tail = tail * lax.rsqrt(outside) * (1 / math.sqrt(2 * math.pi))  # 2 pi x may be infinite
  return jnp.where(size < near, series, tail) * jnp.sign(x)


# B(2k) / (2k)!, the coefficients of the Euler-Maclaurin formula
_BERNOULLI = [
  *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000),
  *(1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000),
]


@expansion("zeta")
@_in_f32
def _zeta(x: jax.Array, q: jax.Array) -> jax.Array:
  """Hurwitz's zeta, sum (q + k)^-x: ten terms, and the rest as an integral with the corrections of Euler and Maclaurin."""
  total = jnp.zeros_like(x)
  for k in range(10):
    total = total + lax.pow(q + k, -x)
  a = q + 10
  power = lax.pow(a, -x)
  total = total + power * a / (x - 1) + power * 0.5
  factor, term = x, power / a
  for k, coefficient in enumerate(_BERNOULLI):
    total = total + coefficient * factor * term
    factor = factor * (x + 2 * k + 1) * (x + 2 * k + 2)
    term = term / (a * a)
  total = jnp.where((x < 1) | (q <= 0) & (jnp.floor(x) != x), jnp.nan, total)
  # Where the terms on both sides of it have one sign, the sum is an infinity, as in XLA.
  pole = (q <= 0) & (jnp.floor(q) == q)
  total = jnp.where(pole, jnp.where(x % 2 == 0, jnp.inf, jnp.nan), total)
  return jnp.where(x == 1, jnp.inf, total)


@expansion("polygamma")
@_in_f32
def _polygamma(n: jax.Array, x: jax.Array) -> jax.Array:
  """The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x)."""
  sign = jnp.where(n % 2 == 0, -1.0, 1.0).astype(x.dtype)
  series = sign * jnp.exp(lax.lgamma(n + 1)) * lax.zeta(n + 1, x)
  whole = (n >= 0) & (jnp.floor(n) == n)
  return jnp.where(n == 0, lax.digamma(x), jnp.where(whole, series, jnp.nan))


@expansion("reduce")
def _reduce(*operands: jax.Array, jaxpr: Any, dimensions: Any, **_: Any) -> list[jax.Array]:
  """Reduce with a custom function, a jaxpr of scalars: sequential along the reduced dimensions, vectorised over the others."""
  half = len(operands) // 2
  arrays, starts = operands[:half], operands[half:]
  shape = arrays[0].shape
  kept = [d for d in range(len(shape)) if d not in dimensions]
  rest = [shape[d] for d in kept]
  count = math.prod(shape[d] for d in dimensions)
  rows = [lax.transpose(a, (*dimensions, *kept)).reshape(count, math.prod(rest)) for a in arrays]
  body, consts = _jax.open_jaxpr(jaxpr)
  combine = jax.vmap(lambda *scalars: _jax.core.eval_jaxpr(body, consts, *scalars))

  def step(i: Any, so_far: list[jax.Array]) -> list[jax.Array]:
    return combine(*so_far, *(lax.dynamic_index_in_dim(r, i, 0, keepdims=False) for r in rows))

  first = [jnp.broadcast_to(s, (math.prod(rest),)) for s in starts]
  return [r.reshape(rest) for r in (lax.fori_loop(0, count, step, first) if count else first)]

"""Fourier transforms, as products with small matrices (see `expand`).

A transform of length n = p * q is q transforms of length p, a product with the twiddle factors exp(-2 pi i k l / n), and p transforms of
length q (Cooley and Tukey). Lengths without a small factor are one product with the matrix exp(-2 pi i k l / n). Factors are tabulated in
float64.

    fft, ifft      complex to complex; the inverse is the transform of the conjugate, conjugated and divided by n
    rfft           of a real array, without the half that is the conjugate of the other
    irfft          of such a half, to a real array
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import errors
from tilewright.pallas.lowering.expand import expansion

_LARGEST = 512  # a transform of this length is one product with a matrix, if it has no small factor
_SMALL = 8


def _factor(n: int) -> int:
  """A divisor of n for which transforms are cheap: the largest small one, else n itself."""
  return next((p for p in range(_SMALL, 1, -1) if n % p == 0), n)


def _roots(rows: int, columns: int, n: int) -> np.ndarray:
  """exp(-2 pi i k l / n)."""
  exponents = np.outer(np.arange(rows), np.arange(columns)) % n
  return np.exp(-2j * math.pi * exponents / n)


def _transform(x: jax.Array) -> jax.Array:
  """The transform along the last dimension of a complex array."""
  n = x.shape[-1]
  p = _factor(n)
  if p == n:
    if n > _LARGEST:
      raise errors.NativeCodeError(
        f"A Fourier transform with the prime factor {n} in its length cannot be compiled to native code (at most {_LARGEST}). Pad it, or "
        "pass interpret=True to run this kernel through the portable lowering."
      )
    return _times(x, _roots(n, n, n))
  q = n // p
  # Element a * q + b of the input, c + p * d of the output: of each b a transform over a, to c; then of each c one over b, to d.
  first = _times(jnp.swapaxes(x.reshape(*x.shape[:-1], p, q), -1, -2), _roots(p, p, p))
  turned = jnp.swapaxes(first * jnp.asarray(_roots(q, p, n), x.dtype), -1, -2)
  return jnp.swapaxes(_transform(turned), -1, -2).reshape(x.shape)


def _times(x: jax.Array, matrix: np.ndarray) -> jax.Array:
  """The product along the last dimension, as a sum: GPUs would round the operands of a dot to tf32."""
  columns = jnp.asarray(matrix, x.dtype)
  if matrix.shape[0] <= _SMALL:
    return sum(x[..., k, None] * columns[k] for k in range(matrix.shape[0]))
  return jnp.sum(x[..., :, None] * columns, axis=-2)


def _along(x: jax.Array, axis: int, *, inverse: bool) -> jax.Array:
  x = jnp.moveaxis(x, axis, -1)
  n = x.shape[-1]
  y = jnp.conj(_transform(jnp.conj(x))) / n if inverse else _transform(x)
  return jnp.moveaxis(y, -1, axis)


@expansion("fft")
def fft(x: jax.Array, *, fft_type: Any, fft_lengths: Sequence[int], **_: Any) -> jax.Array:
  kind = getattr(fft_type, "name", str(fft_type)).upper().rpartition(".")[2]
  axes = [x.ndim - len(fft_lengths) + i for i in range(len(fft_lengths))]
  if kind == "RFFT":
    x = lax.complex(x, jnp.zeros_like(x))
  inverse = kind in ("IFFT", "IRFFT")
  for axis in axes[:-1]:
    x = _along(x, axis, inverse=inverse)
  n = fft_lengths[-1]
  if kind == "IRFFT":
    half = x[..., : n // 2 + 1]
    mirrored = jnp.conj(x[..., 1 : (n + 1) // 2][..., ::-1])
    return jnp.real(_along(jnp.concatenate([half, mirrored], axis=-1), -1, inverse=True))
  y = _along(x, -1, inverse=inverse)
  return y[..., : n // 2 + 1] if kind == "RFFT" else y

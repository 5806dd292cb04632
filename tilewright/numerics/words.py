"""Operands of a block-scaled dot as pairs of bfloat16s, decoded by arithmetic on whole 32-bit words: for tensor cores.

A word holds eight 4-bit elements. Shifted and masked, it holds two of them as bfloat16s: the sign and the three bits of magnitude moved
apart. Each is the value times a power of two, for which the scale compensates.

    seeM (a nibble of each half)  ->  s000 000e eM00 0000     = value * 2^-126

    0x000B                        ->  0x80C0                  = -1.5 * 2^-126

Signs are at the right place in one shifted word, magnitudes in another. One that has the signs of two neighbours from the first and
everything else from the second serves both of them, so that eight elements take three masks for each two pairs:

    half of a word       sEEM tFFN ---- ----     s, t: signs; EEM, FFN: magnitudes
    six to the right     ---- --sE EMtF FN--     of which the bits of s and t in the half itself replace two:
    both                 s--- t-sE EMtF FN--     & 0x81C0: the first;   << 4, then & 0x81C0: the second

A dot may add its terms in any order, so the order is not restored: k is seen as (blocks, words, halves, nibbles, pair), and `arranged`
puts an operand that is not packed in the same order. Every multiplication is exact: elements times scales have at most 8 significant bits
(`exact_in_bfloat16`).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright.numerics.formats import F4E2M1FN, F8E4M3FN, INT4, Format

_U32 = jnp.uint32
_FREE = 118  # scales of four exponent bits times 2^118 are still numbers


def has_words(f: Format) -> bool:
  """Whether a format's elements are decoded by words."""
  return f in (F4E2M1FN, INT4)


def epilogue_factor(f: Format, scale_dtype: Any) -> float:
  """What results are to be multiplied by, besides global scales."""
  return 2.0 ** (126 - _FREE) if _folds_into_scales(f, scale_dtype) else 1.0


def _folds_into_scales(f: Format, scale_dtype: Any) -> bool:
  """Whether the power of two of the elements is taken up by the scales."""
  return f == F4E2M1FN and np.dtype(scale_dtype) == F8E4M3FN.dtype


def _iota(shape: tuple[int, ...], axis: int) -> Any:
  return jax.lax.broadcasted_iota(_U32, shape, axis)


def decoded(data: Any, scales: Any, f: Format, block: int, scaling: Any = jnp.float32) -> Any:
  """Elements times scales, (rows, blocks, …) with all of k in the order of `arranged`, from blocks of rows with k last.

  Scales are multiplied by powers of two as numbers of type `scaling`: as pairs of bfloat16 where two at a time are requested.
  """
  scale = scales.astype(jnp.float32).astype(scaling)
  if _folds_into_scales(f, scales.dtype):
    scale = scale * np.asarray(2.0**_FREE, scaling)
  if has_words(f):
    values = _words(data, f, block, folded=_folds_into_scales(f, scales.dtype))
  else:
    values = data.reshape(data.shape[0], -1, block).astype(jnp.bfloat16)
  rows, blocks = values.shape[:2]
  scale = jnp.broadcast_to(scale.astype(jnp.bfloat16), (rows, blocks))
  return values * jax.lax.broadcast_in_dim(scale, values.shape, (0, 1))


def _words(data: Any, f: Format, block: int, *, folded: bool) -> Any:
  rows, num_bytes = data.shape
  words = jax.lax.bitcast_convert_type(data.reshape(rows, 2 * num_bytes // block, block // 8, 4), _U32)
  half = jax.lax.broadcast_in_dim(words, (*words.shape, 2), (0, 1, 2))
  if f == INT4:
    # Eight more than the value as the last digits of 128, then 136 less.
    byte = half >> (_iota(half.shape, 3) * _U32(8))
    nibble = jax.lax.broadcast_in_dim(byte, (*byte.shape, 2), (0, 1, 2, 3))
    bits = ((nibble >> (_iota(nibble.shape, 4) * _U32(4))) & _U32(0x000F000F)) ^ _U32(0x43084308)
    return jax.lax.bitcast_convert_type(bits, jnp.bfloat16) - jnp.bfloat16(136)
  # Signs from one place and magnitudes from another, so that both are right for the second nibble, and four too low for the first.
  is_low = _iota(half.shape, 3) == 0
  signs, magnitudes = jnp.where(is_low, half << _U32(8), half), jnp.where(is_low, half << _U32(2), half >> _U32(6))
  mask = _U32(0x88008800)
  fields = (signs & mask) | (magnitudes & ~mask)
  nibble = jax.lax.broadcast_in_dim(fields, (*fields.shape, 2), (0, 1, 2, 3))
  bits = (nibble << ((_U32(1) - _iota(nibble.shape, 4)) * _U32(4))) & _U32(0x81C081C0)
  pairs = jax.lax.bitcast_convert_type(bits, jnp.bfloat16)
  return pairs if folded else pairs * jnp.bfloat16(2.0**126)


def arranged(x: Any, f: Format, block: int) -> Any:
  """Rows of plain elements with k in the order in which `decoded` has it."""
  rows, k = x.shape
  if not has_words(f):
    return x.reshape(rows, k // block, block)
  apart = x.reshape(rows, k // block, block // 8, 2, 2, 2)
  return apart.transpose(0, 1, 2, 4, 5, 3)

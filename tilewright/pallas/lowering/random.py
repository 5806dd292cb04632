"""Rules for random bits: Threefry, keys, XLA's generator, and the generator with hidden state of `pltpu`.

A key is represented by its words: an array of keys is an array of uint32 with trailing dimensions (see `keys`). Operations on keys are
traced from the key's PRNG implementation.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright.pallas.lowering.expand import expand, expansion
from tilewright.pallas.lowering.table import Context, rule
from tilewright.tile.ir import Value


@rule("threefry2x32")
def _threefry2x32(ctx: Context, *args: Value, **_: Any) -> list[Value]:
  words = [ctx.broadcast(v, ctx.out.shape) for v in args]
  return [ctx.emit("threefry", *words, word=word) for word in (0, 1)]


@rule("iota_2x32_shape")
def _iota_2x32_shape(ctx: Context, *, shape: Any) -> list[Value]:
  """The row-major linear index of each element, as two words, the high one first."""
  if math.prod(shape) > 2**32:
    raise ValueError(f"A tile of shape {shape} has more than 2**32 elements.")
  numbers = ctx.emit("iota", shape=(math.prod(shape),), axis=0, dtype=np.dtype(np.uint32))
  high = ctx.broadcast_scalar(ctx.constant(0, np.uint32), shape)
  return [high, ctx.emit("reshape", numbers, shape=tuple(shape))]


# --- keys --------------------------------------------------------------------------------------------------------


@rule("random_wrap", "random_unwrap", "random_clone")
def _same_words(ctx: Context, x: Value, **_: Any) -> Value:
  return x


def _keys(ctx: Context) -> tuple[Any, int]:
  """The implementation of the first operand's keys, and how many dimensions the array of keys has."""
  aval = ctx.eqn.invars[0].aval
  return aval.dtype._impl, aval.ndim


def _for_each(f: Any, dimensions: int) -> Any:
  for _ in range(dimensions):
    f = jax.vmap(f)
  return f


@rule("random_bits")
def _random_bits(ctx: Context, keys: Value, *, bit_width: int, shape: Any) -> Value:
  impl, ndim = _keys(ctx)
  return expand(ctx, _for_each(lambda key: impl.random_bits(key, bit_width, tuple(shape)), ndim), keys)[0]


@rule("random_split")
def _random_split(ctx: Context, keys: Value, *, shape: Any) -> Value:
  impl, ndim = _keys(ctx)
  return expand(ctx, _for_each(lambda key: impl.split(key, tuple(shape)), ndim), keys)[0]


@rule("random_fold_in")
def _random_fold_in(ctx: Context, keys: Value, numbers: Value, **_: Any) -> Value:
  impl, ndim = _keys(ctx)
  shared = ctx.eqn.outvars[0].aval.ndim
  words = len(impl.key_shape)

  def fold(keys: Any, numbers: Any) -> Any:
    shape = ctx.eqn.outvars[0].aval.shape
    keys = jnp.broadcast_to(keys, (*shape, *keys.shape[ndim:])) if shape else keys
    return _for_each(impl.fold_in, shared)(keys, jnp.broadcast_to(numbers, shape))

  assert keys.tile.rank == ndim + words
  return expand(ctx, fold, keys, numbers)[0]


@rule("random_seed")
def _random_seed(ctx: Context, seeds: Value, *, impl: Any) -> Value:
  return expand(ctx, _for_each(impl.seed, seeds.tile.rank), seeds)[0]


@rule("random_gamma")
def _random_gamma(ctx: Context, keys: Value, shapes: Value, *, log_space: bool) -> Value:
  """One sample for each key: JAX's own definition, for all of them at once."""
  (impl, _), define = _keys(ctx), ctx.eqn.primitive.impl

  def sample(words: Any, a: Any) -> Any:
    return define(jax.random.wrap_key_data(words, impl=impl), a, log_space=log_space, use_vmap=True)

  return expand(ctx, sample, keys, shapes)[0]


# --- XLA's generator ---------------------------------------------------------------------------------------------


@expansion("rng_bit_generator")
def _rng_bit_generator(state: Any, *, shape: Any, dtype: Any, algorithm: Any, **_: Any) -> Any:
  """Bits = cipher(key, counter); the returned state has its counter advanced. XLA's default on the CPU is Philox."""
  words = state.reshape(-1)
  if words.dtype == jnp.uint64:
    words = lax.bitcast_convert_type(words, jnp.uint32).reshape(-1)
  width = 8 * jnp.dtype(dtype).itemsize
  generate = _three_fry if algorithm == lax.RandomAlgorithm.RNG_THREE_FRY else _philox
  moved, bits = generate(list(words), tuple(shape), width == 64)
  new = jnp.stack(moved)
  if state.dtype == jnp.uint64:
    new = lax.bitcast_convert_type(new.reshape(-1, 2), jnp.uint64)
  unsigned = jnp.dtype(f"uint{width}")
  return new.reshape(state.shape), lax.bitcast_convert_type(bits.astype(unsigned), dtype)


def _plus(low: Any, high: Any, numbers: Any) -> tuple[Any, Any]:
  """The sum of a two-word number and another number."""
  sums = low + numbers
  return sums, high + (sums < numbers).astype(jnp.uint32)


def _count(n: int) -> Any:
  return lax.iota(jnp.uint32, n)


def _three_fry(words: list[Any], shape: tuple[int, ...], wide: bool) -> tuple[list[Any], Any]:
  """One counter gives 64 bits: one element, or two neighbours along the dimension that is split in half (the first of even size, else
  the largest one, rounded up)."""
  half, axis = list(shape) or [1], 0
  if not wide:
    even = [d for d, n in enumerate(half) if n % 2 == 0]
    axis = even[0] if even else int(np.argmax(half))
    half[axis] = (half[axis] + 1) // 2
  count = math.prod(half)
  low, high = _plus(words[2], words[3], _count(count))
  first, second = (x.reshape(half) for x in _threefry_words(jnp.broadcast_arrays(words[0], words[1], low, high)))
  moved = [*words[:2], *_plus(words[2], words[3], jnp.uint32(count))]
  if wide:
    return moved, _join(first, second).reshape(shape)
  full = list(half)
  full[axis] *= 2
  pairs = jnp.stack([first, second], axis=axis + 1).reshape(full)
  return moved, pairs[tuple(slice(n) for n in (shape or (1,)))].reshape(shape)


def _threefry_words(words: Any) -> Any:
  return jax.extend.random.threefry2x32_p.bind(*words)


def _join(low: Any, high: Any) -> Any:
  return low.astype(jnp.uint64) | (high.astype(jnp.uint64) << jnp.uint64(32))


def _philox(words: list[Any], shape: tuple[int, ...], wide: bool) -> tuple[list[Any], Any]:
  """One counter gives 128 bits: four elements in a row, or two of 64 bits. With a state of two words of 64 bits, the key is the upper half
  of the counter too."""
  elements = math.prod(shape)
  count = -(-elements // (2 if wide else 4))
  upper = words[4:6] if len(words) > 4 else words[:2]
  low, high = _plus(words[2], words[3], _count(count))
  carry = ((high < words[3]) | ((high == words[3]) & (low < words[2]))).astype(jnp.uint32)
  third, fourth = _plus(upper[0], upper[1], carry)
  a, b, c, d = jnp.broadcast_arrays(low, high, third, fourth)
  k0, k1 = words[:2]
  for _ in range(10):
    low0, high0 = _multiply(a, 0xD2511F53)
    low1, high1 = _multiply(c, 0xCD9E8D57)
    a, b, c, d = high1 ^ b ^ k0, low1, high0 ^ d ^ k1, low0
    k0, k1 = k0 + jnp.uint32(0x9E3779B9), k1 + jnp.uint32(0xBB67AE85)
  end_low, end_high = _plus(words[2], words[3], jnp.uint32(count))
  moved = [*words[:2], end_low, end_high]
  if len(words) > 4:
    over = ((end_high < words[3]) | ((end_high == words[3]) & (end_low < words[2]))).astype(jnp.uint32)
    moved += _plus(upper[0], upper[1], over)
  parts = [_join(a, b), _join(c, d)] if wide else [a, b, c, d]
  return moved, jnp.stack(parts, axis=1).reshape(-1)[:elements].reshape(shape)


def _multiply(x: Any, factor: int) -> tuple[Any, Any]:
  """The low and the high word of a product, by half words: 64 bits may not be enabled."""
  mask, sixteen = jnp.uint32(0xFFFF), jnp.uint32(16)
  x0, x1 = x & mask, x >> sixteen
  f0, f1 = jnp.uint32(factor & 0xFFFF), jnp.uint32(factor >> 16)
  middle = x1 * f0 + ((x0 * f0) >> sixteen)
  cross = x0 * f1 + (middle & mask)
  return x * jnp.uint32(factor), x1 * f1 + (middle >> sixteen) + (cross >> sixteen)


# --- the generator with hidden state -----------------------------------------------------------------------------


@rule("prng_seed")
def _prng_seed(ctx: Context, *words: Value) -> list[Value]:
  from tilewright.pallas.tpu import random

  (state,) = expand(ctx, lambda *words: random.mix_seeds(words), *words)
  ctx.builder.emit_all("store", [ctx.builder.globals[random.STATE_KEY], state])
  return []


@rule("prng_random_bits")
def _prng_random_bits(ctx: Context, *, shape: Any) -> Value:
  from tilewright.pallas.tpu import random

  ref = ctx.builder.globals[random.STATE_KEY]
  bits, state = expand(ctx, lambda state: random.draw(state, shape), ctx.emit("load", ref))
  bits = ctx.emit("bitcast", bits, dtype=np.dtype(np.int32))
  ctx.builder.emit_all("store", [ref, state])
  return bits

"""Rules of PRNG keys and random bits. Keys are never cut, and inside a block function they are their data (see
`table`): no kernel sees a value of a key type.

There are two ways to draw a block of `jax.random.bits(key, shape)`:

- By default each block has a key of its own, the key with the block's indices folded in, one after the other; this is
  what `jax.experimental.pallas.fuser` draws. It works for every generator. The numbers depend on the block shape.
- With `consistent_random` a block is the block of what the whole array would be. The default generator makes the bits
  of element n from the key and n alone, threefry(key, (high word of n, low word of n)), so a block needs the key and the
  places of its elements. `fuse_into` draws this way: a fused program computes what the program computes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.inlining import evaluate_equation
from tilewright.pallas.fuser.table import MOVING_KEYS, Blocks, Site, cut_to, define, first_used
from tilewright.pallas.fuser.views import View

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA  # of the Skein key schedule


def threefry(key: tuple[Any, Any], x: Any, y: Any) -> tuple[Any, Any]:
  """The Threefry-2x32 block function with 20 rounds (Salmon et al. 2011), on arrays of two words each."""
  rotate = lambda v, by: (v << jnp.uint32(by)) | (v >> jnp.uint32(32 - by))
  schedule = (key[0], key[1], key[0] ^ key[1] ^ jnp.uint32(_PARITY))
  x, y = x + schedule[0], y + schedule[1]
  for i in range(5):
    for by in _ROTATIONS[i % 2]:
      x = x + y
      y = rotate(y, by) ^ x
    x = x + schedule[(i + 1) % 3]
    y = y + schedule[(i + 2) % 3] + jnp.uint32(i + 1)
  return x, y


def _is_threefry(key_type: Any) -> bool:
  """Whether keys are of the generator that is written out here, which kernels can compute."""
  return key_type.dtype._impl.name == "threefry2x32" and bool(jax.config.jax_threefry_partitionable)


def _words(keys: Any) -> tuple[Any, Any]:
  """The two words of each key."""
  first, second = (lax.slice_in_dim(keys, i, i + 1, axis=-1) for i in range(2))
  return lax.squeeze(first, (keys.ndim - 1,)), lax.squeeze(second, (keys.ndim - 1,))


def _joined(words: tuple[Any, Any]) -> Any:
  return lax.concatenate([w[..., None] for w in words], words[0].ndim)


def _each(f: Any, times: int) -> Any:
  """A function of one key, mapped over leading dimensions."""
  for _ in range(times):
    f = jax.vmap(f)
  return f


def _fold_in(key_type: Any, keys: Any, numbers: Any) -> Any:
  numbers = jnp.broadcast_to(jnp.asarray(numbers, jnp.uint32), keys.shape[:-1])
  if _is_threefry(key_type):
    return _joined(threefry(_words(keys), jnp.zeros_like(numbers), numbers))
  return _each(key_type.dtype._impl.fold_in, numbers.ndim)(keys, numbers)


def _places(shape: Sequence[int], block: Sequence[int], starts: Sequence[Any]) -> Any:
  """The number of each element of a block in row-major order of the whole array."""
  place = jnp.zeros(block, jnp.uint32)
  for d, start in enumerate(starts):
    along = lax.broadcasted_iota(jnp.uint32, block, d) + jnp.asarray(start, jnp.uint32)
    place = place + along * jnp.uint32(math.prod(shape[d + 1 :]))
  return place


# --- random_bits -------------------------------------------------------------------------------------------------


def _pull_bits(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  view: View = first_used(out_views)
  keys = site.in_avals[0]
  if keys.ndim:
    raise site.refuse(view, "it draws for an array of keys", "Draw for each key separately.")
  if site.consistent_random:
    name = keys.dtype._impl.name
    if not _is_threefry(keys):
      raise site.refuse(
        view,
        f"the generator {name!r} does not compute the bits of an element from its position alone",
        "Use jax.random.key(seed, impl='threefry2x32') with jax_threefry_partitionable, or draw outside of the fused "
        "function.",
      )
    if site.params["bit_width"] == 64:
      raise site.refuse(view, "it draws 64 bits for each element", "Draw 32 bits.")
    if math.prod(site.out_avals[0].shape) >= 1 << 32:
      raise site.refuse(view, "the array has more than 2**32 elements", "Draw it in parts.")
  return [views.whole(keys, view)]


def _evaluate_bits(blocks: Blocks, key: Any) -> list[Any]:
  key_type, width = blocks.site.in_avals[0], blocks.params["bit_width"]
  key, block = key.reshape(-1), blocks.out_sizes()
  if blocks.site.consistent_random:
    return [_threefry_bits(key, _places(blocks.site.out_avals[0].shape, block, blocks.out_starts()), width)]
  for index in blocks.out_indices[0] or ():
    key = _fold_in(key_type, key, getattr(index, "start", index))
  if _is_threefry(key_type) and width != 64:
    return [_threefry_bits(key, _places(block, block, (0,) * len(block)), width)]
  return [key_type.dtype._impl.random_bits(key, width, block)]


def _threefry_bits(key: Any, places: Any, width: int) -> Any:
  first, second = threefry(_words(key), jnp.zeros_like(places), places)
  bits = first ^ second
  return bits if width == 32 else bits.astype(jnp.dtype(f"uint{width}"))


# --- keys from keys ----------------------------------------------------------------------------------------------


def _pull_whole(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  return [views.whole(a) for a in site.in_avals]


def _evaluate_fold_in(blocks: Blocks, keys: Any, numbers: Any) -> list[Any]:
  keys = jnp.broadcast_to(keys, (*blocks.site.out_avals[0].shape, keys.shape[-1]))
  return [_fold_in(blocks.site.in_avals[0], keys, numbers)]


def _evaluate_split(blocks: Blocks, keys: Any) -> list[Any]:
  key_type, rank = blocks.site.in_avals[0], blocks.site.in_avals[0].ndim
  shape = tuple(blocks.site.out_avals[0].shape[rank:])
  if _is_threefry(key_type):
    places = _places(shape, shape, (0,) * len(shape))
    split = lambda key: _joined(threefry(_words(key), jnp.zeros_like(places), places))
  else:
    split = lambda key: key_type.dtype._impl.split(key, shape)
  return [_each(split, rank)(keys)]


def _evaluate_seed(blocks: Blocks, seeds: Any) -> list[Any]:
  seeds = jnp.asarray(seeds)
  return [_each(blocks.params["impl"].seed, seeds.ndim)(seeds)]


def _evaluate_each_word(blocks: Blocks, *args: Any) -> list[Any]:
  """An operation that moves keys around, on one word of them after the other."""
  axes = [-1 if views.is_key(a) else None for a in blocks.site.in_avals]
  f = lambda *words: evaluate_equation(blocks.eqn, words)
  return list(jax.vmap(f, in_axes=axes, out_axes=-1)(*args))


# --- keys and their data -----------------------------------------------------------------------------------------


def _pull_wrap(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  data = site.in_avals[0]
  return [View(None, lambda *_: None) if data.ndim == 1 else views.whole(data)]


def _evaluate_unwrap(blocks: Blocks, data: Any) -> list[Any]:
  shape, view = blocks.site.out_avals[0].shape, blocks.out_views[0]
  return [cut_to(data, view, blocks.out_indices[0], views.whole(blocks.site.out_avals[0]), shape)]


def _same_data(blocks: Blocks, data: Any) -> list[Any]:
  return [data]


define("random_bits", pull=_pull_bits, evaluate=_evaluate_bits)
define("random_fold_in", pull=_pull_whole, evaluate=_evaluate_fold_in)
define("random_split", pull=_pull_whole, evaluate=_evaluate_split)
define("random_seed", pull=_pull_whole, evaluate=_evaluate_seed)
define("random_clone", pull=_pull_whole, evaluate=_same_data)
define("random_wrap", pull=_pull_wrap, evaluate=_same_data)
define("random_unwrap", pull=_pull_whole, evaluate=_evaluate_unwrap)
define(MOVING_KEYS, pull=_pull_whole, evaluate=_evaluate_each_word)

"""Rules of random bits: each block draws what the whole array would have drawn there.

JAX's default generator makes the bits of element n from a key and the number n alone: threefry(key, (high word of n,
low word of n)). So a block needs the key and the places of its elements in the whole array, nothing else. Blocks of
keys are their data (see `table`), so no value of a key type is left inside a kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright.pallas.fuser import views
from tilewright.pallas.fuser.table import Blocks, Site, define, first_used
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


def _check(site: Site, view: View) -> None:
  keys = site.in_avals[0]
  name = keys.dtype._impl.name
  if name != "threefry2x32" or not jax.config.jax_threefry_partitionable:
    raise site.refuse(
      view,
      f"the generator {name!r} does not make the bits of an element from its place alone",
      "Use jax.random.key(seed, impl='threefry2x32') with jax_threefry_partitionable, or draw outside of the fused "
      "function.",
    )
  if keys.ndim:
    raise site.refuse(view, "it draws for an array of keys", "Draw for each key separately.")
  if site.params["bit_width"] == 64:
    raise site.refuse(view, "it draws 64 bits for each element", "Draw 32 bits.")


def _pull_bits(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  view: View = first_used(out_views)
  _check(site, view)
  return [views.whole(site.in_avals[0], view)]


def _evaluate_bits(blocks: Blocks, key: Any) -> list[Any]:
  shape = blocks.site.out_avals[0].shape
  width = blocks.params["bit_width"]
  block = blocks.out_sizes()
  if math.prod(shape) >= 1 << 32:
    raise blocks.site.refuse(blocks.out_views[0], "the array has more than 2**32 elements", "Draw it in parts.")
  place = jnp.zeros(block, jnp.uint32)
  for d, start in enumerate(blocks.out_starts()):
    stride = math.prod(shape[d + 1 :])
    along = lax.broadcasted_iota(jnp.uint32, block, d) + jnp.asarray(start, jnp.uint32)
    place = place + along * jnp.uint32(stride)
  pair = key.reshape(-1)
  words = (lax.squeeze(lax.slice_in_dim(pair, i, i + 1), (0,)) for i in range(2))
  first, second = threefry(tuple(words), jnp.zeros(block, jnp.uint32), place)
  bits = first ^ second
  return [bits if width == 32 else bits.astype(jnp.dtype(f"uint{width}"))]


def _pull_key_data(site: Site, out_views: Sequence[Any]) -> Sequence[Any]:
  """From data to keys, or back: the words of a key are never parted."""
  view: View = first_used(out_views)
  operand = site.in_avals[0]
  if view.block_shape is None or not views.is_key(operand) or operand.ndim == 0:
    return [View(None, lambda *_: None) if not views.is_key(operand) else views.whole(operand, view)]
  return [view.then(tuple(view.block_shape)[:-1], lambda i: tuple(i)[:-1])]


def _evaluate_key_data(blocks: Blocks, data: Any) -> list[Any]:
  return [data]


define("random_bits", pull=_pull_bits, evaluate=_evaluate_bits)
define("random_wrap", "random_unwrap", pull=_pull_key_data, evaluate=_evaluate_key_data)

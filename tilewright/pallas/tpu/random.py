"""Random bits in kernels: a generator with hidden state, and keys that need none.

The state is a key of two words and a counter. Seeding mixes the seeds into the key and sets the counter to zero; each draw hashes
(counter, element number) under the key, then counts on:

    prng_seed(s)                    key = mix(s), counter = 0
    prng_random_bits((2, 2))        threefry(key, [counter] x [0, 1, 2, 3]); counter += 1

So a seed fixes all bits that follow, whatever the target. A *Pallas key* holds such a key: `jax.random` functions take it, and
`jax.random.bits(key, shape)` gives what the first draw after `prng_seed(key)` would.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import random as jex_random

from tilewright import errors
from tilewright.pallas import effects
from tilewright.pallas.primitives import Primitive, ShapedArray, not_differentiable, program_id
from tilewright.pallas.trace_context import current_frame
from tilewright.runtime import _jax
from tilewright.target import xla
from tilewright.tile.memory import TpuMemorySpace

# --- the generator, as pure functions ----------------------------------------------------------------------------


def _hash(key: Any, high: Any, low: Any) -> tuple[Any, Any]:
  """Threefry-2x32 of the pairs (high, low) under a key of two words."""
  words = jnp.broadcast_arrays(*(jnp.asarray(w, jnp.uint32) for w in (*key, high, low)))
  # Under vmap all four are to be batched, or none.
  zero = functools.reduce(operator.or_, [w & jnp.uint32(0) for w in words])
  first, second = jex_random.threefry2x32_p.bind(*(w | zero for w in words))
  return first, second


def mix_seeds(words: Sequence[Any]) -> Any:
  """The first state after seeding: two words of key, and the counter."""
  key: tuple[Any, Any] = (jnp.uint32(len(words)), jnp.uint32(0x9E3779B9))  # the golden ratio: far from any likely seed
  for position, word in enumerate(words):
    key = _hash(key, position, word)
  return jnp.stack([*key, jnp.uint32(0)])


def draw(state: Any, shape: Sequence[int]) -> tuple[Any, Any]:
  """Uniform 32-bit words of this shape, and the state after them."""
  numbers = lax.iota(jnp.uint32, math.prod(shape)).reshape(tuple(shape))
  high, low = _hash((state[0], state[1]), state[2], numbers)
  return high ^ low, state.at[2].add(jnp.uint32(1))


# --- the stateful generator --------------------------------------------------------------------------------------

STATE_KEY = "prng_state"
_STATE_AVAL = _jax.state_types.AbstractRef(ShapedArray((3,), jnp.dtype("uint32")), TpuMemorySpace.SMEM)

prng_seed_p = Primitive("prng_seed")
prng_seed_p.multiple_results = True
prng_seed_p.def_effectful_abstract_eval(lambda *words: ([], {effects.prng_effect}))
not_differentiable(prng_seed_p)

prng_random_bits_p = Primitive("prng_random_bits")
prng_random_bits_p.def_effectful_abstract_eval(
  lambda *, shape: (ShapedArray(shape, jnp.dtype("int32")), {effects.prng_effect})
)
not_differentiable(prng_random_bits_p)


def prng_seed(*seeds: int | jax.Array) -> None:
  """Seed the generator of this core with one or more integers, or with a Pallas key."""
  what = "pltpu.prng_seed"
  current_frame(what)
  if not seeds:
    raise errors.ShapeMismatchError(f"{what}: give at least one seed.")
  words: list[Any] = []
  for seed in seeds:
    seed = jnp.asarray(seed)
    if jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
      words.extend(jax.random.key_data(seed).reshape(-1))
    elif seed.shape == () and jnp.issubdtype(seed.dtype, jnp.integer):
      words.append(seed)
    else:
      raise errors.ShapeMismatchError(
        f"{what}: seeds must be integer scalars or a key, got {seed.dtype}{list(seed.shape)}. Read a scalar "
        "from SMEM first."
      )
  prng_seed_p.bind(*(_as_word(w) for w in words))


def _as_word(x: Any) -> Any:
  return lax.convert_element_type(x, jnp.uint32)


def prng_random_bits(shape: Sequence[int]) -> jax.Array:
  """Uniform random bits as int32 of this shape. Each call gives new ones."""
  current_frame("pltpu.prng_random_bits")
  return prng_random_bits_p.bind(shape=tuple(int(d) for d in shape))


@xla.register_globals(prng_seed_p)
@xla.register_globals(prng_random_bits_p)
def _(eqn: Any) -> Any:
  # A kernel that never seeds starts as if it had seeded with 0.
  return [xla.GlobalRef(STATE_KEY, _STATE_AVAL, lambda: mix_seeds([jnp.uint32(0)]))]


@xla.register(prng_seed_p)
def _(ctx: xla.Context, *words: Any) -> list[Any]:
  ctx.instance.globals[STATE_KEY].value = mix_seeds(words)
  return []


@xla.register(prng_random_bits_p)
def _(ctx: xla.Context, *, shape: tuple[int, ...]) -> Any:
  cell = ctx.instance.globals[STATE_KEY]
  bits, cell.value = draw(cell.value, shape)
  return lax.bitcast_convert_type(bits, jnp.int32)


# --- keys --------------------------------------------------------------------------------------------------------

_KEY_SHAPE = (1, 2)


def _key_words(data: Any) -> list[Any]:
  return [data[0, 0], data[0, 1]]


def _key_of(state: Any) -> Any:
  return state[:2].reshape(_KEY_SHAPE)


def _key_seed(seed: Any) -> Any:
  seed = jnp.asarray(seed)
  wide = seed.astype(jnp.uint64) if seed.dtype.itemsize > 4 else None
  high = jnp.uint32(0) if wide is None else (wide >> jnp.uint64(32)).astype(jnp.uint32)
  return _key_of(mix_seeds([_as_word(seed), high]))


def _key_split(data: Any, shape: tuple[int, ...]) -> Any:
  first, second = _hash(_key_words(data), jnp.uint32(0xFFFFFFFF), lax.iota(jnp.uint32, math.prod(shape)).reshape(shape))
  return jnp.stack([first, second], axis=-1).reshape(*shape, *_KEY_SHAPE)


def _key_fold_in(data: Any, number: Any) -> Any:
  return jnp.stack(_hash(_key_words(data), jnp.uint32(0xFFFFFFFE), _as_word(number))).reshape(_KEY_SHAPE)


def _key_bits(data: Any, bit_width: int, shape: tuple[int, ...]) -> Any:
  state = mix_seeds(_key_words(data))
  if bit_width == 64:
    words, _ = draw(state, (*shape, 2))
    return (words[..., 0].astype(jnp.uint64) << jnp.uint64(32)) | words[..., 1].astype(jnp.uint64)
  words, _ = draw(state, shape)
  return words.astype(jnp.dtype(f"uint{bit_width}"))


key_impl = jex_random.define_prng_impl(
  key_shape=_KEY_SHAPE,
  seed=_key_seed,
  split=_key_split,
  random_bits=_key_bits,
  fold_in=_key_fold_in,
  name="tilewright_tpu",
  tag="tw",
)


def to_pallas_key(key: jax.Array) -> jax.Array:
  """A Pallas key made from any key of `jax.random`: cheap to keep in SMEM, and a seed for `prng_seed`."""
  if not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
    key = jax.random.wrap_key_data(key)
  if jax.random.key_impl(key) == key_impl:
    return key
  make: Callable[..., Any] = lambda k: jax.random.bits(k, _KEY_SHAPE, jnp.uint32)
  for _ in range(key.ndim):
    make = jax.vmap(make)
  return jax.random.wrap_key_data(make(key), impl=key_impl)


# --- samplers ----------------------------------------------------------------------------------------------------


def _stateful(name: str, sampler: Callable[..., Any], summary: str) -> Callable[..., Any]:
  def sample(*args: Any, **kwargs: Any) -> jax.Array:
    words = lax.bitcast_convert_type(prng_random_bits(_KEY_SHAPE), jnp.uint32)
    return sampler(jax.random.wrap_key_data(words, impl=key_impl), *args, **kwargs)

  sample.__name__ = sample.__qualname__ = name
  sample.__doc__ = (
    f"{summary}, from the state that `prng_seed` set. Takes what `jax.random.{sampler.__name__}` takes, but no key."
  )
  return sample


stateful_bits = _stateful("stateful_bits", jax.random.bits, "Uniform bits as unsigned integers")
stateful_uniform = _stateful("stateful_uniform", jax.random.uniform, "Floats that are uniform in [minval, maxval)")
stateful_normal = _stateful("stateful_normal", jax.random.normal, "Floats that are normal with mean 0 and variance 1")
stateful_bernoulli = _stateful("stateful_bernoulli", jax.random.bernoulli, "Bools that are true with probability p")


def sample_block(
  sampler_fn: Any,
  global_key: jax.Array,
  block_size: tuple[int, ...],
  tile_size: tuple[int, ...],
  total_size: tuple[int, ...],
  block_index: tuple[Any, ...] | None = None,
  **kwargs: Any,
) -> jax.Array:
  """The samples of one block of an array whose values do not depend on how it is cut into blocks.

  The array consists of tiles; each is sampled with a key folded from its number. Any block shape that is a multiple of the tile
  therefore gives the same array.

  Args:
    sampler_fn: takes a key and a shape, such as `jax.random.uniform`.
    global_key: the key of the whole array.
    block_size: the shape of a block.
    tile_size: the shape of a tile; divides every block shape that is to give the same values.
    total_size: the shape of the whole array.
    block_index: which block; by default the position in the grid.
    **kwargs: more arguments for `sampler_fn`.
  """
  if not len(block_size) == len(tile_size) == len(total_size):
    raise errors.ShapeMismatchError(
      f"sample_block: block_size, tile_size and total_size must have the same rank, got {block_size}, {tile_size}, {total_size}."
    )
  if any(b % t for b, t in zip(block_size, tile_size)):
    raise errors.ShapeMismatchError(f"sample_block: tile_size {tile_size} must divide block_size {block_size}.")
  if block_index is None:
    block_index = tuple(program_id(axis) for axis in range(len(block_size)))
  if len(block_index) != len(block_size):
    raise errors.ShapeMismatchError(
      f"sample_block: block_index {block_index} needs one entry for each dimension of block_size {block_size}."
    )
  keys = _jax.blocked_sampler.blocked_fold_in(global_key, total_size, block_size, tile_size, block_index)
  return _jax.blocked_sampler.sample_block(sampler_fn, keys, block_size, tile_size, **kwargs)

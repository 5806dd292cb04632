"""Random bits. rng-bit-generator is a pure function of its state, and defined to the bit; `rng` is not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tilewright.hlo.evaluate.interpreter import Device, evaluate_error
from tilewright.hlo.evaluate.numbers import convert
from tilewright.hlo.evaluate.table import Value, rule
from tilewright.hlo.ir import Instruction

_MASK128 = (1 << 128) - 1


@rule("rng")
def rng(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  generator = device.host.generator
  if generator is None:
    raise evaluate_error(instruction, "rng draws from a hidden state: pass evaluate(…, seed=0) to choose one")
  shape, (a, b) = instruction.shape, operands
  if instruction.attrs["distribution"] == "rng_normal":
    return convert(generator.normal(float(a), float(b), shape.dimensions), shape.dtype)
  if shape.kind in ("signed", "unsigned", "pred"):
    return generator.integers(int(a), int(b), shape.dimensions).astype(shape.dtype)
  return convert(generator.uniform(float(a), float(b), shape.dimensions), shape.dtype)


@rule("rng-get-and-update-state")
def rng_get_and_update_state(device: Device, instruction: Instruction, operands: Sequence[Value]) -> np.ndarray:
  """A 128-bit counter of the device, high half first."""
  state = device.host.state
  device.host.state = (state + int(instruction.attrs["delta"])) & _MASK128
  return np.array([state >> 64, state & 0xFFFFFFFFFFFFFFFF], np.uint64)


# Counter-based generators: bits = cipher(key, counter), and the state that comes back is the counter, moved on.


@rule("rng-bit-generator")
def rng_bit_generator(device: Device, instruction: Instruction, operands: Sequence[Value]) -> Value:
  """The state is u64[2]: key and counter. (Philox also takes u64[3]: its counter has 128 bits.) A state of u32 words is
  the same, low words first. XLA's default on CPU and GPU is Philox.
  """
  (state,) = operands
  shape = instruction.shape.tuple_shapes[1]
  words = [int(w) for w in np.ascontiguousarray(state).view(np.uint64)]
  width = 8 * shape.dtype.itemsize
  algorithm = instruction.attrs.get("algorithm", "rng_default")
  if algorithm not in ("rng_default", "rng_philox", "rng_three_fry"):
    raise evaluate_error(
      instruction, f"there is no algorithm {algorithm}; there are rng_default, rng_philox and rng_three_fry"
    )
  generate = _three_fry_bits if algorithm == "rng_three_fry" else _philox_bits
  counter, bits = generate(words, shape.dimensions, width == 64)
  words[1:] = counter[: len(words) - 1]
  unsigned = np.dtype(f"u{shape.dtype.itemsize}")
  new_state = np.array(words, np.uint64).view(state.dtype)
  return new_state, bits.astype(unsigned).view(shape.dtype)


def _halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  return (x & np.uint64(0xFFFFFFFF)).astype(np.uint32), (x >> np.uint64(32)).astype(np.uint32)


def _join(low: np.ndarray, high: np.ndarray) -> np.ndarray:
  return low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))


def three_fry(key: tuple[int, int], x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Threefry-2x32 with 20 rounds."""
  keys = [np.uint32(key[0]), np.uint32(key[1]), np.uint32(key[0] ^ key[1] ^ 0x1BD11BDA)]
  x, y = x + keys[0], y + keys[1]
  for turn in range(5):
    for rotation in ((13, 15, 26, 6), (17, 29, 16, 24))[turn % 2]:
      x = x + y
      y = ((y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))) ^ x
    x, y = x + keys[(turn + 1) % 3], y + keys[(turn + 2) % 3] + np.uint32(turn + 1)
  return x, y


def _three_fry_bits(words: list[int], sizes: tuple[int, ...], wide: bool) -> tuple[list[int], np.ndarray]:
  """One counter gives 64 bits: one element, or two neighbours along the dimension that is split in half (the first of
  even size, else the largest one, rounded up).
  """
  key, start = (words[0] & 0xFFFFFFFF, words[0] >> 32), words[1]
  half, axis = list(sizes) or [1], 0
  if not wide:
    even = [d for d, n in enumerate(half) if n % 2 == 0]
    axis = even[0] if even else int(np.argmax(half))
    half[axis] = (half[axis] + 1) // 2
  count = math.prod(half)
  counters = np.arange(count, dtype=np.uint64) + np.uint64(start)
  x, y = (part.reshape(half) for part in three_fry(key, *_halves(counters)))
  counter = [(start + count) & 0xFFFFFFFFFFFFFFFF]
  if wide:
    return counter, _join(x, y).reshape(sizes)
  full = list(half)
  full[axis] *= 2
  pairs = np.stack([x, y], axis=axis + 1).reshape(full)
  kept = pairs[tuple(slice(n) for n in (sizes or (1,)))]
  return counter, kept.reshape(sizes)


def philox(counter: list[np.ndarray], key: tuple[int, int]) -> list[np.ndarray]:
  """Philox-4x32 with 10 rounds."""
  a, b, c, d = counter
  k0, k1 = key
  for _ in range(10):
    low0, high0 = _halves(a.astype(np.uint64) * np.uint64(0xD2511F53))
    low1, high1 = _halves(c.astype(np.uint64) * np.uint64(0xCD9E8D57))
    a, b, c, d = high1 ^ b ^ np.uint32(k0), low1, high0 ^ d ^ np.uint32(k1), low0
    k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
  return [a, b, c, d]


def _philox_bits(words: list[int], sizes: tuple[int, ...], wide: bool) -> tuple[list[int], np.ndarray]:
  """One counter gives 128 bits: four elements in a row, or two of 64 bits. With a state of two words, the key is the
  upper half of the counter too.
  """
  key = (words[0] & 0xFFFFFFFF, words[0] >> 32)
  low, high = words[1], words[2] if len(words) > 2 else words[0]
  elements = math.prod(sizes)
  count = -(-elements // (2 if wide else 4))
  lows = np.arange(count, dtype=np.uint64) + np.uint64(low)
  highs = np.uint64(high) + (lows < np.uint64(low)).astype(np.uint64)
  four = philox([*_halves(lows), *_halves(highs)], key)
  moved = (low | high << 64) + count
  counter = [moved & 0xFFFFFFFFFFFFFFFF, (moved >> 64) & 0xFFFFFFFFFFFFFFFF]
  flat = np.stack([_join(four[0], four[1]), _join(four[2], four[3])] if wide else four, axis=1).reshape(-1)
  return counter, flat[:elements].reshape(sizes)

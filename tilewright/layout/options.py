"""Lists of the layouts that instructions take: mma.sync, wgmma from registers and shared memory, TMA.

A list is empty where the shape, the width of the elements or the number of warps does not fit the instruction.
"""

from __future__ import annotations

import dataclasses
import functools

from tilewright.layout import fragments
from tilewright.layout.build import repeated
from tilewright.layout.layout import WARP, Layout, layout
from tilewright.layout.shared import SharedLayout, shared_for_matrix, shared_tiled


@functools.lru_cache(maxsize=1024)
def mma_options(
  lhs: tuple[int, ...], rhs: tuple[int, ...], bits: int, num_warps: int
) -> tuple[tuple[Layout, Layout, Layout], ...]:
  """The layouts of (m, k), (k, n) and (m, n) for mma.sync with warps over m and n in every way; none if the shapes do not fit."""
  (m, k), (_, n) = lhs, rhs
  own = next((f for (b, depth), f in sorted(fragments.MMA.items(), reverse=True) if b == bits and k % depth == 0), None)
  if own is None or m % 16 or n % 8:
    return ()
  found = []
  for across in (w for w in range(1, num_warps + 1) if num_warps % w == 0):
    down = num_warps // across
    if m % (16 * down) or n % (8 * across):
      continue
    # warps that differ along n hold copies of the left operand, and the other way round
    a = _over_one_direction(own.a, (m, k), (down, across), 0)
    b = _over_one_direction(own.b, (k, n), (down, across), 1)
    c = repeated(own.c, (m, n), (down, across))
    found.append((max(m // down, n // across), (a, b, c)))
  return tuple(option for _, option in sorted(found, key=lambda item: item[0]))


def _over_one_direction(fragment: Layout, shape: tuple[int, int], warps: tuple[int, int], axis: int) -> Layout:
  """A fragment of an operand that only one of the two directions of warps divides; `repeated` counts the last one fastest."""
  own = tuple(w if a == axis else 1 for a, w in enumerate(warps))
  zero = (0,) * len(shape)
  once = repeated(fragment, shape, own)
  copies = (warps[1 - axis], zero)
  digits = {name: [(d.size, d.moves) for d in ds] for name, ds in once.inputs}
  digits[WARP] = [copies, *digits[WARP]] if axis == 0 else [*digits[WARP], copies]
  return layout(shape, digits)


@dataclasses.dataclass(frozen=True)
class Warpgroups:
  """How warpgroups lie on the accumulator of wgmma: `down` x `across`, each with neighbouring fragments of `width` columns."""

  down: int
  across: int
  width: int
  accumulator: Layout


@functools.lru_cache(maxsize=1024)
def wgmma_variants(shape: tuple[int, ...], num_warps: int, integers: bool = False) -> tuple[Warpgroups, ...]:
  """Every way in which warpgroups can lie on an accumulator of floats, or of integers, of which instructions have fewer widths."""
  if len(shape) != 2 or num_warps % 4:
    return ()
  m, n = shape
  groups = num_warps // 4
  found: dict[Layout, Warpgroups] = {}
  for across in (g for g in range(1, groups + 1) if groups % g == 0):
    down = groups // across
    if m % (64 * down) or n % (8 * across):
      continue
    widths = fragments.WGMMA_N_INTEGERS if integers else fragments.WGMMA_N
    width = max(w for w in widths if (n // across) % w == 0)
    layout = repeated(fragments.wgmma_accumulator(width), (m, n), (down, across), repeat_first=True)
    found.setdefault(layout, Warpgroups(down, across, width, layout))
  return tuple(found.values())


def wgmma_accumulators(shape: tuple[int, ...], num_warps: int) -> tuple[Layout, ...]:
  return tuple(way.accumulator for way in wgmma_variants(shape, num_warps))


@functools.lru_cache(maxsize=1024)
def wgmma_left_registers(shape: tuple[int, ...], bits: int, num_warps: int) -> tuple[Layout, ...]:
  if len(shape) != 2 or num_warps % 4 or bits not in (8, 16, 32):
    return ()
  m, k = shape
  groups = num_warps // 4
  if m % (64 * groups) or k % fragments.wgmma_k(bits):
    return ()
  return (repeated(fragments.wgmma_lhs(bits), (m, k), (groups, 1), repeat_first=True),)


@functools.lru_cache(maxsize=1024)
def wgmma_shared(shape: tuple[int, ...], bits: int, contracted: int) -> tuple[SharedLayout, ...]:
  """Operands of wgmma in shared memory: contiguous along the contracted dimension, or along the other one for 16-bit types."""
  if len(shape) != 2 or bits not in (8, 16, 32) or shape[contracted] % fragments.wgmma_k(bits):
    return ()
  found = []
  for contiguous in (contracted, 1 - contracted):
    if contiguous != contracted and bits != 16:
      continue  # "transpose of A and B is supported for .f16 and .bf16 only"
    for swizzle in (128, 64, 32, 0):
      if shape[contiguous] * bits // 8 % (swizzle or 16) == 0 and shape[1 - contiguous] % 8 == 0:
        found.append(shared_for_matrix(shape, bits, swizzle, transposed=contiguous == 0))
  return tuple(found)


@functools.lru_cache(maxsize=1024)
def tma_layouts(shape: tuple[int, ...], bits: int, swizzles: tuple[int, ...]) -> tuple[SharedLayout, ...]:
  """Boxes of a swizzle's width; without one, boxes of 16 bytes or whole rows."""
  if not shape or bits % 8 or shape[-1] * bits // 8 % 16:
    return ()
  found = [shared_for_matrix(shape, bits, s) for s in swizzles if shape[-1] * bits // 8 % (s or 16) == 0]
  return tuple(dict.fromkeys([*found, *([shared_tiled(shape, None, bits)] if 0 in swizzles else [])]))

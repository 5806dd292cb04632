"""How the threads of a CTA read or write a tile in shared memory: which instruction, how wide, how many wavefronts.

    vector      ld.shared / st.shared of 1 to 16 bytes: registers that are contiguous in memory move together
    matrix      ldmatrix / stmatrix: 8 rows of 16 bytes, of which lane l holds 4 bytes of row l / 4, at byte 4 (l % 4)
    transposed  ldmatrix.trans / stmatrix.trans, 16-bit elements: lane l holds column l / 4 of rows 2 (l % 4) and 2 (l % 4) + 1

Which of them apply is derived from the addresses, so this works for any register layout, tiling and swizzle.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TypeAlias, overload

import numpy as np

from tilewright import errors
from tilewright.layout.layout import LANE, LANES, WARP, Layout
from tilewright.layout.shared import AnyShared, address_conflicts, fewest_wavefronts, wavefronts

VECTOR, MATRIX, TRANSPOSED = "vector", "matrix", "transposed"
WORD_BYTES = 4


@dataclasses.dataclass(frozen=True)
class Access:
  """One way to move a tile between registers and shared memory."""

  kind: str
  width: int  # bytes that a lane moves with one register group: vectors up to 16, matrices 4
  groups: tuple[tuple[int, ...], ...]  # registers (elements) that move together, in the order of memory
  instructions: int  # for one warp
  wavefronts: int  # for all warps


@functools.lru_cache(maxsize=4096)
def accesses(registers: Layout, shared: AnyShared, owners_only: bool = False) -> tuple[Access, ...]:
  """The ways to move a tile, the cheapest first: the widest vector, and matrices where the addresses allow them.

  With `owners_only`, of warps that hold copies only the first moves them, as when storing.
  """
  if not isinstance(shared, AnyShared) or not isinstance(registers, Layout) or registers.size(LANE) != LANES:
    raise errors.LayoutError(f"expected a layout of registers and one of shared memory, got {registers} and {shared}")
  if registers.shape != shared.shape:
    raise errors.LayoutError(f"a tile of shape {registers.shape} is not one of shape {shared.shape}")
  at, inside = _addresses(registers, shared)
  if owners_only:
    copies = [t for t in registers.owner_terms if t.input == WARP]
    owners = [w for w in range(registers.num_warps) if all(w // t.place % t.size == 0 for t in copies)]
    at, inside = at[..., owners], inside[..., owners]
  groups = _grouped(at, inside, shared.bits // 8)
  found = [_vector(at, groups, shared)]
  if shared.bits <= 32 and inside.all():
    found += _matrices(at, groups.get(WORD_BYTES), shared.bits // 8)
  return tuple(sorted(found, key=lambda a: (a.wavefronts, a.instructions)))


def best_access(registers: Layout, shared: AnyShared, matrices: bool = True, owners_only: bool = False) -> Access:
  """The cheapest of the `accesses` of a tile, including those by matrices only if `matrices` is set."""
  return next(a for a in accesses(registers, shared, owners_only) if matrices or a.kind == VECTOR)


@overload
def bank_conflicts(held: Layout, where: AnyShared) -> int: ...
@overload
def bank_conflicts(held: np.ndarray, where: int) -> int: ...
def bank_conflicts(held: Layout | np.ndarray, where: AnyShared | int) -> int:
  """Wavefronts beyond the minimum for that many bytes; zero if an access is conflict-free.

  bank_conflicts(registers, shared)       all warps move a tile by its best access
  bank_conflicts(addresses, width)        each row of `addresses` (accesses, 32 lanes) is an instruction, `width` bytes a lane
  """
  if isinstance(held, Layout) == isinstance(where, int):
    raise errors.LayoutError(
      f"expected a layout and one of shared memory, or addresses and a width, got {held} and {where}"
    )
  if isinstance(where, int):
    return address_conflicts(np.asarray(held), where)
  assert isinstance(held, Layout)
  if not isinstance(where, AnyShared):
    raise errors.LayoutError(f"where: expected a layout of shared memory, got {where}")
  way = best_access(held, where)
  width = way.width if way.kind == VECTOR else WORD_BYTES  # a wavefront takes a matrix: 4 bytes of each lane
  parts = max(where.bits // 8 // 16, 1)
  return max(way.wavefronts - parts * fewest_wavefronts(len(way.groups) * held.num_warps, width), 0)


def _addresses(registers: Layout, shared: AnyShared) -> tuple[np.ndarray, np.ndarray]:
  """Byte addresses (register, lane, warp), and which of them are elements of the tile rather than padding."""
  if not registers.is_padded:
    parts = _parts(registers)
    if shared.adds_up(tuple(tuple(map(_bits_of, own)) for own in parts)):
      sizes = [registers.size(name) for name in registers.names]
      offsets = np.ix_(*(np.broadcast_to(shared.offset(own), size) for own, size in zip(parts, sizes)))
      return shared.at_offset(functools.reduce(np.add, offsets)), np.broadcast_to(True, sizes)
  table = registers.table()
  inside = np.asarray((table < np.asarray(registers.shape, np.int64)).all(-1))
  clamped = np.minimum(table, np.asarray(registers.shape, np.int64) - 1)
  at = shared.at_offset(shared.offset([clamped[..., axis] for axis in range(registers.rank)]))
  return np.broadcast_to(at, table.shape[:-1]), inside


@functools.lru_cache(maxsize=4096)
def _parts(registers: Layout) -> tuple[tuple[np.ndarray, ...], ...]:
  """How far each register, lane and warp by itself is along each dimension: the coordinates are the sums."""
  found = []
  for name in registers.names:
    numbers = np.arange(registers.size(name))
    found.append(tuple(np.broadcast_to(x, numbers.shape) for x in registers.coordinates(**{name: numbers})))
  return tuple(found)


def _bits_of(coordinates: np.ndarray) -> int:
  return int(np.bitwise_or.reduce(coordinates))


Groups: TypeAlias = list[tuple[int, ...]]


def _grouped(at: np.ndarray, inside: np.ndarray, size: int) -> dict[int, Groups]:
  """By width in bytes, up to the widest: groups of registers that are neighbours in memory, in every thread."""
  width = size
  found: dict[int, Groups] = {size: [(r,) for r in range(len(at))]}
  while width < 16 and (wider := _paired(at, inside, found[width], width)) is not None:
    width *= 2
    found[width] = wider
  return found


def _vector(at: np.ndarray, by_width: dict[int, Groups], shared: AnyShared) -> Access:
  """The widest groups."""
  widest, groups = max(by_width.items())
  first = at[[g[0] for g in groups]]
  rows = np.moveaxis(first, 1, 2).reshape(-1, 32)
  width = min(widest, 16)
  parts = max(shared.bits // 8 // 16, 1)  # elements wider than 16 bytes take several instructions
  return Access(VECTOR, width, tuple(groups), len(groups) * parts, parts * wavefronts(rows, width))


def _paired(at: np.ndarray, inside: np.ndarray, groups: Groups, width: int) -> Groups | None:
  """Groups joined two by two, if every one has its neighbour, aligned to both, in every thread."""
  first = [group[0] for group in groups]
  starts = [int(x) for x in at[first, 0, 0]]
  waiting: dict[int, list[int]] = {}
  for number, start in enumerate(starts):
    if start % (2 * width):
      waiting.setdefault(start, []).append(number)
  pairs = []
  for number, start in enumerate(starts):
    if start % (2 * width) == 0:
      if not waiting.get(start + width):
        return None
      pairs.append((number, waiting[start + width].pop(0)))
  if 2 * len(pairs) != len(groups):
    return None
  low, high = ([first[pair[side]] for pair in pairs] for side in range(2))
  fits = (at[low] % (2 * width) == 0) & (at[high] == at[low] + width) & (inside[low] == inside[high])
  return [(*groups[a], *groups[b]) for a, b in pairs] if fits.all() else None


_ROW, _WORD = np.arange(32) // 4, np.arange(32) % 4  # of a lane: its row of a matrix, and which 4 bytes of that


def _matrices(at: np.ndarray, words: Groups | None, size: int) -> list[Access]:
  """ldmatrix and stmatrix, plain and transposed, if the addresses are theirs; `words` are registers that are 4 bytes together."""
  found = []
  if words is not None:
    first = at[[g[0] for g in words]]  # (group, lane, warp)
    if _are_rows(first[:1], 4 * _ROW, WORD_BYTES * _WORD) and _are_rows(first, 4 * _ROW, WORD_BYTES * _WORD):
      found.append(_matrix_access(MATRIX, words, first[:, ::4]))
  if size == 2 and len(at) % 2 == 0 and _are_rows(at[:2], _WORD, size * _ROW) and _are_rows(at, _WORD, size * _ROW):
    # lane t holds rows 2t and 2t + 1 in registers r and r + 1
    pairs: Groups = [(r, r + 1) for r in range(0, len(at), 2)]
    rows = at[:, :4].reshape(len(pairs), 2, 4, -1)
    found.append(_matrix_access(TRANSPOSED, pairs, np.moveaxis(rows, 1, 2).reshape(len(pairs), 8, -1)))
  return found


def _are_rows(at: np.ndarray, begins: np.ndarray, further: np.ndarray) -> bool:
  """Whether each lane's address is so many bytes further than that of the lane where its row begins, at 16 bytes."""
  rows = at[:, begins]
  return bool((rows % 16 == 0).all() and (at == rows + further[:, None]).all())


def _matrix_access(kind: str, groups: Groups, rows: np.ndarray) -> Access:
  """`rows` are the addresses of the 8 rows of each matrix: (group, 8, warp). A wavefront takes one matrix."""
  count = len(groups)
  per_instruction = next(n for n in (4, 2, 1) if count % n == 0)
  moved = np.moveaxis(rows, 1, 2).reshape(-1, 8)
  padded = np.repeat(moved, 4, axis=0).reshape(-1, 32)  # as quarter warps of 16-byte accesses, each four times over
  return Access(kind, WORD_BYTES, tuple(groups), count // per_instruction, wavefronts(padded, 16) // 4)

"""Memory of a CTA: where each buffer begins, as data.

Shared memory is given out from its beginning. What has no room there lies in global memory that belongs to the CTA, unless the user wants
it in shared memory: then it is an error that names the other buffers.

    arena = Arena(arch)
    arena.take((64, 64), float32)          Place(offset=0, nbytes=16384)
    arena.take_own(1024, align=1024)       Place(offset=16384, nbytes=1024)

Scratch memory is placed by a pass (`scratch`), what else a body needs while its code is written. Trees of a union lie one above the other:
a buffer begins where the first of its tree does.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright import errors
from tilewright.layout.layout import Layout
from tilewright.layout.shared import SharedLayout, shared_tiled
from tilewright.target.nvgpu.arch import Arch
from tilewright.target.nvgpu.passes import unions
from tilewright.target.nvgpu.passes.layouts.hints import given_layout, is_accumulator, is_in_shared
from tilewright.tile.ir import Value
from tilewright.tile.native import NativeKernel
from tilewright.tile.types import RefType, SemaphoreArrayType

if TYPE_CHECKING:
  from tilewright.target.nvgpu.passes.layouts.inference import Inferred

_SLACK = 1024  # bytes of shared memory that are never given out
_ROW = 128  # bytes of the banks, and what TMA's addresses are a multiple of
_PIECE = 16  # bytes that buffers are a multiple of
MAX_WORKSPACE = 16 << 30  # bytes of global memory that one launch may take for buffers


@dataclasses.dataclass(frozen=True)
class SharedBuffer:
  """A part of a CTA's shared memory: where it begins, its size, and the line that it is for."""

  name: str
  offset: int
  nbytes: int
  location: str = ""


@dataclasses.dataclass(frozen=True)
class Place:
  """Where a buffer begins, in shared memory or in the CTA's part of global memory."""

  offset: int
  nbytes: int
  in_global: bool = False
  apart: int = 0  # bytes to the same buffer of the next warpgroup, where each has its own
  of_grid: bool = False  # in the part of global memory that all CTAs share


@dataclasses.dataclass(frozen=True)
class RefPlace:
  """What a ref is: registers, or a buffer, laid out in some way or row by row."""

  registers: Layout | None = None
  place: Place | None = None
  tiled: SharedLayout | None = None
  is_box: bool = False  # whether TMA can access it, row by row
  union: Value | None = None  # the first ref of the union that it is in
  is_for_all: bool = False  # whether all warpgroups share it

  def __str__(self) -> str:
    if self.place is None:
      return f"registers, {self.registers}"
    where = "global" if self.place.in_global else "shared"
    how = "" if self.tiled is None else f", {self.tiled}"
    return f"{self.place.nbytes:,} bytes of {where} memory at {self.place.offset:,}{how}"


class Arena:
  """What is given out of the memory of a CTA whose instances are run by so many warpgroups, each with its own control flow."""

  def __init__(self, arch: Arch, groups: int = 1, is_by_hand: bool = False):
    self.arch, self.groups, self.is_by_hand = arch, groups, is_by_hand
    self.used, self.used_of_global = 0, 0  # bytes
    self.used_of_grid = 0  # of global memory that all CTAs share, and that is zero when they begin
    self.align = _ROW  # of which the start of shared memory is a multiple
    self.promised = 0  # bytes of shared memory that are kept for later
    self.is_sharing = False  # whether what is given out is for all warpgroups
    self.buffers: list[SharedBuffer] = []  # for those who look at how a kernel was compiled
    self.allocated: list[str] = []  # for the error that names the buffers

  def copied(self) -> Arena:
    found = copy.copy(self)
    found.buffers, found.allocated = list(self.buffers), list(self.allocated)
    return found

  @contextlib.contextmanager
  def sharing(self) -> Iterator[None]:
    """What is given out inside is shared by all warpgroups."""
    self.is_sharing = True
    try:
      yield
    finally:
      self.is_sharing = False

  @property
  def free_bytes(self) -> int:
    return self.arch.shared_bytes - _SLACK - self.used - self.promised

  def promise(self, nbytes: int) -> None:
    """Keep room for so many bytes of later buffers, until it is given up (less than nothing) in front of these."""
    self.promised += self.room_for(nbytes)

  def room_for(self, nbytes: int) -> int:
    """How many bytes buffers take that together have so many: each warpgroup has its own."""
    return nbytes if self.is_sharing else nbytes * self.groups

  def reserve(self, parts: Sequence[tuple[str, int]]) -> None:
    """Take the beginning of shared memory for parts of so many bytes, one after another."""
    for name, nbytes in parts:
      self.buffers.append(SharedBuffer(name, self.used, nbytes))
      self.used += nbytes

  def take(
    self, shape: Sequence[int], dtype: Any, is_shared: bool = False, name: str = "", location: str = ""
  ) -> Place:
    """A buffer: in shared memory while there is room, else in global memory, unless the user requires it to be `is_shared`."""
    dtype = np.dtype(dtype)
    nbytes = -(-max(1, math.prod(shape)) * dtype.itemsize // _PIECE) * _PIECE
    own = f"{dtype.name}[{','.join(map(str, shape))}] of {nbytes} bytes"
    self.allocated.append(f"{own} ({location or 'for values that are kept'})")
    room, apart = self.room_for(nbytes), 0 if self.is_sharing or self.groups == 1 else nbytes
    if room <= self.free_bytes:
      place = Place(self.used, nbytes, apart=apart)
      self.buffers.append(SharedBuffer(name or f"{dtype.name}{list(shape)}", self.used, room, location))
      self.used += room
    elif is_shared:
      raise self._exceeds(dtype, shape, nbytes, "", self.allocated[:-1], location)
    else:
      place = Place(self.used_of_global, nbytes, True, apart)
      self.used_of_global += room
    return place

  def take_of_grid(self, nbytes: int) -> Place:
    """Memory that all CTAs share, in words."""
    place = Place(self.used_of_grid, -(-nbytes // _PIECE) * _PIECE, in_global=True, of_grid=True)
    self.used_of_grid += place.nbytes
    return place

  def take_rows(self, kind: RefType, location: str = "") -> tuple[Place, bool]:
    """A buffer that the user places in shared memory, row-major; and whether TMA can access it, as it begins at a multiple of 128 bytes."""
    nbytes = kind.size * kind.dtype.itemsize
    is_box = self.is_by_hand and self.arch.has_tma and bool(nbytes) and (nbytes % _ROW == 0 or self.is_sharing)
    if is_box:
      self.used = -(-self.used // _ROW) * _ROW
    return self.take(kind.shape, kind.dtype, is_shared=True, location=location), is_box

  def has_room(self, tiled: SharedLayout) -> bool:
    """Whether a buffer that is laid out in some way fits shared memory."""
    align = max(tiled.swizzle.span, _ROW)
    return -self.used % align + self.room_for(self._padded(tiled.nbytes, align)) <= self.free_bytes

  def _padded(self, nbytes: int, align: int) -> int:
    """The bytes from a warpgroup's buffer to that of the next."""
    return nbytes if self.groups == 1 else -(-nbytes // align) * align

  def take_as(self, tiled: SharedLayout, dtype: Any, location: str = "") -> Place:
    """A buffer in shared memory, in the user's layout."""
    nbytes, align = tiled.nbytes, max(tiled.swizzle.span, _ROW)
    if not self.has_room(tiled):
      raise self._exceeds(dtype, tiled.shape, nbytes, " with transforms", self.allocated, location)
    self.used, self.align = -(-self.used // align) * align, max(self.align, align)
    name = f"{np.dtype(dtype).name}{list(tiled.shape)}, {tiled}"
    return self.take((self._padded(nbytes, align),), np.uint8, name=name, location=location)

  def take_own(self, nbytes: int, align: int = _ROW, name: str = "", location: str = "") -> Place | None:
    """A buffer in shared memory, aligned at least to a row of its banks; None if there is no room."""
    ahead, nbytes = -self.used % align, self._padded(nbytes, align)
    if ahead + self.room_for(nbytes) > self.free_bytes:
      return None
    self.used, self.align = self.used + ahead, max(self.align, align)
    return self.take((nbytes,), np.uint8, name=name, location=location)

  def _exceeds(
    self, dtype: Any, shape: Sequence[int], nbytes: int, how: str, others: Sequence[str], location: str
  ) -> errors.ResourceExhaustedError:
    """The error for a buffer that must be in shared memory, besides `others`, but has no room there."""
    return errors.ResourceExhaustedError(
      f"{location or 'A buffer'}: {np.dtype(dtype).name}{list(shape)} of {nbytes} bytes{how} exceeds "
      f"available shared memory, {self.arch.shared_bytes} bytes on {self.arch.name}. Other buffers: "
      f"{'; '.join(others) or 'none'}. Use smaller ones."
    )


def place(arena: Arena, inferred: Inferred | None, ref: Value, location: str = "") -> RefPlace:
  """The place of a ref, as inference says: registers, shared memory laid out in some way, or a buffer."""
  kind, registers = ref.ref, _registers(inferred, ref)
  if registers is not None:
    return RefPlace(registers=registers)
  tiled = inferred.shared.get(ref) if inferred is not None else None
  is_free = tiled is None or tiled == shared_tiled(kind.shape, None, tiled.bits)
  if tiled is not None and not is_free and (given_layout(kind) is not None or arena.has_room(tiled)):
    return RefPlace(place=arena.take_as(tiled, kind.dtype, location), tiled=tiled)
  if is_in_shared(kind):
    found, is_box = arena.take_rows(kind, location)
    return RefPlace(place=found, is_box=is_box)
  return RefPlace(place=arena.take(kind.shape, kind.dtype, location=location))


def _registers(inferred: Inferred | None, ref: Value) -> Layout | None:
  """The layout of a ref that inference keeps in registers, if a thread has enough."""
  found = None if inferred is None else inferred.refs.get(ref)
  return found if inferred is not None and found is not None and inferred.fits(found) else None


# --- scratch memory ----------------------------------------------------------------------------------------------


def scratch_name(kernel: NativeKernel, number: int) -> str:
  """What messages call a scratch buffer."""
  return f"scratch buffer {number} of the kernel '{kernel.name}'"


def scratch_refs(kernel: NativeKernel) -> list[Value]:
  return kernel.body.params[len(kernel.body.params) - len(kernel.scratch) :]


def scratch(
  kernel: NativeKernel, arena: Arena, inferred: Inferred | None, elsewhere: Collection[int] = ()
) -> tuple[RefPlace | None, ...]:
  """The places of the scratch memory that all threads of a CTA use together; None for semaphores, which are registers, and for what lies
  `elsewhere`."""
  return tuple(
    None
    if number in elsewhere or isinstance(ref.type, SemaphoreArrayType)
    else place(arena, inferred, ref, scratch_name(kernel, number))
    for number, ref in enumerate(scratch_refs(kernel))
  )


def shared_scratch(kernel: NativeKernel, arena: Arena, inferred: Inferred | None) -> tuple[RefPlace | None, ...]:
  """The places of the scratch memory that several warpgroups share, barriers and semaphores among it; accumulators are private to each."""
  refs = scratch_refs(kernel)
  in_unions, open_unions, found = unions.find(refs), dict[Value, _Union](), list[RefPlace | None]()
  for number, ref in enumerate(refs):
    name = scratch_name(kernel, number)
    if isinstance(ref.type, SemaphoreArrayType) and number in kernel.grid_semaphores:
      found.append(RefPlace(place=arena.take_of_grid(4 * max(1, math.prod(ref.type.shape))), is_for_all=True))
    elif isinstance(ref.type, SemaphoreArrayType):
      with arena.sharing():
        found.append(_semaphores(arena, ref.type, name))
    elif is_accumulator(ref.ref) or _registers(inferred, ref) is not None:
      found.append(place(arena, inferred, ref, name))
    else:
      with arena.sharing():
        if ref in in_unions:
          first, tree = in_unions[ref]
          own = open_unions.setdefault(first, _Union(arena)).place(inferred, ref, tree, name)
          found.append(dataclasses.replace(own, union=first, is_for_all=True))
        else:
          found.append(dataclasses.replace(place(arena, inferred, ref, name), is_for_all=True))
  return tuple(found)


def barriers(arena: Arena, kind: SemaphoreArrayType, location: str = "") -> RefPlace:
  """The place of barriers: eight bytes each."""
  found = arena.take((max(1, math.prod(kind.shape)),), np.int64, is_shared=True, location=location)
  return RefPlace(place=found, is_for_all=arena.is_sharing)


def _semaphores(arena: Arena, kind: SemaphoreArrayType, location: str) -> RefPlace | None:
  """The place of barriers, or of semaphores that several warpgroups share; those of one are registers."""
  if kind.arrivals:
    return barriers(arena, kind, location)
  if arena.groups == 1:
    return None
  return RefPlace(place=arena.take(kind.shape, np.int32, is_shared=True, location=location), is_for_all=True)


class _Union:
  """A part of shared memory in which the trees of a union lie one above the other."""

  def __init__(self, arena: Arena):
    self.arena, self.start = arena, arena.used
    self.tree, self.at, self.end = 0, self.start, self.start

  def place(self, inferred: Inferred | None, ref: Value, tree: int, location: str) -> RefPlace:
    arena = self.arena
    arena.used = self.at if tree == self.tree else self.start
    made = place(arena, inferred, ref, location)
    self.tree, self.at, self.end = tree, arena.used, max(self.end, arena.used)
    arena.used = self.end
    return made

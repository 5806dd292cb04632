"""Blocks of arrays in shared memory: where their rows lie there, and what brings them.

SharedBlock     rows for `ldmatrix`, copied by threads: sixteen-byte pieces that are swizzled within eight rows, so that reading eight rows
                at the same place touches all banks of shared memory once; else rows are padded
PaddedBlock     rows an odd number of pieces apart, copied by threads: any code finds their elements
SwizzledBlock   a matrix as `wgmma` reads it; TiledBlock: as TMA writes it for `ldmatrix`
BoxedBlock      rows as TMA writes them, of what an operand is computed from; BoxedMatrix: of an operand, for `ldmatrix`
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tilewright.layout.shared import SharedLayout, shared_tiled
from tilewright.target.nvgpu.emit.units import cp_async, tma
from tilewright.target.nvgpu.emit.units.tma import SWIZZLE_BYTES, TensorMap
from tilewright.tile.grid import Blocked, BoundedSlice, Squeezed
from tilewright.tile.ir import users
from tilewright.tile.native import NativeKernel

PIECE = 16  # bytes
BANKS = 8  # pieces that lie side by side in the banks
BOX_ALIGNMENT = 1024  # bytes, after which a swizzle repeats


@dataclasses.dataclass(frozen=True)
class SharedBlock:
  """Where the pieces of a matrix's rows lie in shared memory, for `ldmatrix`."""

  rows: int
  pieces: int  # in a row

  piece = PIECE

  @property
  def is_exchanged(self) -> bool:
    return self.pieces % BANKS == 0 or self.pieces in (1, 2, 4)

  @property
  def pitch(self) -> int:
    """Bytes from a row to the next; an odd number of pieces, where they are not swizzled."""
    return PIECE * (self.pieces if self.is_exchanged else self.pieces | 1)

  @property
  def nbytes(self) -> int:
    return -(-self.rows * self.pitch // 128) * 128

  def layout(self, columns: int) -> SharedLayout | None:
    """The same as a layout of rows of so many elements; None if its swizzle is none of the hardware's."""
    if self.pieces not in (1, 2, 4, BANKS):
      return None
    row_bytes = self.pieces * PIECE
    return shared_tiled((self.rows, columns), None, 8 * row_bytes // columns, row_bytes if self.pieces > 1 else 0)


@dataclasses.dataclass(frozen=True)
class PaddedBlock:
  """A block of an input in shared memory, with its row pitch an odd number of sixteen bytes: lanes with a row each have no bank
  conflicts."""

  position: int  # among the inputs
  shape: tuple[int, ...]
  dtype: np.dtype
  piece: int  # bytes that one copy brings

  @property
  def rows(self) -> int:
    return math.prod(self.shape[:-1])

  @property
  def row_bytes(self) -> int:
    return self.shape[-1] * self.dtype.itemsize

  @property
  def pieces(self) -> int:
    return self.row_bytes // self.piece

  @property
  def pitch(self) -> int:
    return self.row_bytes if self.row_bytes % PIECE or self.rows == 1 else PIECE * (self.row_bytes // PIECE | 1)

  @property
  def nbytes(self) -> int:
    return -(-self.rows * self.pitch // PIECE) * PIECE


@dataclasses.dataclass(frozen=True)
class SwizzledBlock:
  """A matrix that is a block of an input in shared memory, laid out for the products of warpgroups that read it there."""

  position: int  # among the inputs
  layout: SharedLayout

  piece = PIECE

  @property
  def rows(self) -> int:
    return self.layout.shape[0]

  @property
  def width(self) -> int:
    """Elements of a piece."""
    return 8 * PIECE // self.layout.bits

  @property
  def pieces(self) -> int:
    return self.layout.shape[1] // self.width

  @property
  def nbytes(self) -> int:
    return self.layout.nbytes


@dataclasses.dataclass(frozen=True)
class TiledBlock(SwizzledBlock):
  """As that, for the products of warps, which read it by `ldmatrix`. Any other code finds its elements too."""

  dtype: np.dtype


StagedBlock = PaddedBlock | SwizzledBlock


@dataclasses.dataclass(frozen=True)
class BoxedBlock:
  """A block of an input in shared memory as TMA writes it: rows of 128 bytes, pieces swizzled within eight of them; or rows of
  sixteen bytes, which may be those of several steps."""

  position: int  # among the inputs
  shape: tuple[int, int]
  dtype: np.dtype
  tensor_map: TensorMap  # of pairs of bytes
  steps: int = 1  # whose blocks, side by side in their array, are copied together

  @property
  def nbytes(self) -> int:
    return -(-self.tensor_map.box_bytes // BOX_ALIGNMENT) * BOX_ALIGNMENT

  @property
  def step_bytes(self) -> int:
    """Of a row, in a step."""
    return self.shape[1] * self.dtype.itemsize


@dataclasses.dataclass(frozen=True)
class BoxedMatrix:
  """A matrix in shared memory as TMA writes it, for `ldmatrix`: columns of `width` bytes, each with all rows below one another,
  and with its pieces swizzled. It starts at a multiple of 1024 bytes."""

  rows: int
  width: int  # 128, 64 or 32


def is_wide(kernel: NativeKernel, block: PaddedBlock) -> bool:
  """Whether TMA stages an input's blocks in rows of 128 bytes."""
  found = boxed(kernel, block)
  return found is not None and found.tensor_map.is_swizzled


def boxed(kernel: NativeKernel, block: PaddedBlock, steps: int = 1) -> BoxedBlock | None:
  """How TMA stages an input's blocks, if it can: matrices of up to 256 rows, of 128 bytes or of sixteen in so many steps."""
  row_bytes = steps * block.row_bytes
  if len(block.shape) != 2 or row_bytes not in (PIECE, SWIZZLE_BYTES) or (steps == 1 and block.piece != PIECE):
    return None
  m = kernel.mapping.block_mappings[block.position]
  array, outer = m.array_aval, m.block_shape[:-1]
  if len(array.shape) > tma.MAX_DIMS or block.shape[0] > tma.MAX_BOX_ROWS or block.shape[0] % BANKS:
    return None
  shape = (*array.shape[:-1], array.shape[-1] * block.dtype.itemsize // 2)
  row = max(d for d, dim in enumerate(outer) if isinstance(dim, Blocked))
  box = tuple(d.block_size for d in outer)
  tensor_map = TensorMap(kernel.mapping.num_prefetch + block.position, "bf16", shape, box, row, row_bytes // 2)
  return BoxedBlock(block.position, block.shape, block.dtype, tensor_map, steps)


def padded(kernel: NativeKernel, position: int) -> PaddedBlock | None:
  """How an input's blocks are staged, if they can be: rows that begin at multiples of at least four bytes."""
  m = kernel.mapping.block_mappings[position]
  dims, dtype = m.block_shape, np.dtype(m.array_aval.dtype)
  if kernel.index_maps[position] is None or not dims or not isinstance(dims[-1], Blocked):
    return None
  if not all(isinstance(d, Blocked | BoundedSlice | Squeezed) for d in dims):
    return None
  shape = tuple(d.block_size for d in dims if not isinstance(d, Squeezed))
  sizes = (shape[-1] * dtype.itemsize, m.array_aval.shape[-1] * dtype.itemsize)
  piece = next((n for n in cp_async.SIZES if not any(size % n for size in sizes)), None)
  return None if piece is None else PaddedBlock(position, shape, dtype, piece)


def steps_together(kernel: NativeKernel, block: PaddedBlock, num_steps: int) -> int:
  """Of how many steps the rows are sixteen bytes, if their blocks lie side by side and steps come in that number; else one."""
  m, index_map = kernel.mapping.block_mappings[block.position], kernel.index_maps[block.position]
  assert index_map is not None
  steps, is_whole = PIECE // block.row_bytes, PIECE % block.row_bytes == 0
  step = index_map.params[len(kernel.mapping.grid) - 1]
  *others, last = index_map.body.yielded
  is_used = step in others or any(op.name != "yield" for op in users(index_map.body).get(step, []))
  if steps < 2 or not is_whole or last is not step or is_used or num_steps % steps:
    return 1
  return steps if m.array_aval.shape[-1] == num_steps * block.shape[-1] else 1

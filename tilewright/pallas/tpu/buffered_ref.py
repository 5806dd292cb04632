"""The buffers of one operand of a pipeline.

An operand in HBM is accessed through a window on chip, a ring buffer of several blocks. Blocks are numbered in the order in which the
pipeline visits them; block k is in slot k modulo the number of slots, and four counters track the progress:

    copy_in_slot    blocks whose copy to the window has started      wait_in_slot    blocks the body is done reading
    copy_out_slot   blocks whose copy to HBM has started             wait_out_slot   blocks whose copy to HBM is done

A block at the edge of the array may hang over it: then only the part inside is copied, in slices of dynamic size.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tilewright import errors
from tilewright.pallas import dma
from tilewright.pallas.primitives import AbstractRef, TransformedRef
from tilewright.pallas.specs import BlockSpec, canonical_block_dim
from tilewright.pallas.tpu.block_window import dim_slices, is_static, known_or_int32, minimum, whole_block
from tilewright.pallas.tpu.params import Tiling
from tilewright.runtime import _jax
from tilewright.tile.grid import BoundedSlice, Indirect, Squeezed
from tilewright.tile.memory import MemorySpace, SemaphoreType, TpuMemorySpace, memory_ref

Slice = _jax.indexing.Slice


class BufferType(enum.Enum):
  """What a pipeline does with an operand: fetch its blocks, write them back, both, or leave that to the body."""

  INPUT = 1
  OUTPUT = 2
  INPUT_OUTPUT = 3
  MANUAL = 4

  @property
  def is_input(self) -> bool:
    return self in (BufferType.INPUT, BufferType.INPUT_OUTPUT)

  @property
  def is_output(self) -> bool:
    return self in (BufferType.OUTPUT, BufferType.INPUT_OUTPUT)


class BufferedRefBase:
  """What a pipeline asks of an operand's buffers. `BufferedRef` is the usual implementation."""

  @property
  def spec(self) -> BlockSpec:
    raise NotImplementedError

  @property
  def buffer_type(self) -> BufferType:
    raise NotImplementedError

  @property
  def is_buffered(self) -> bool:
    """Whether there is a window to copy to; otherwise the body sees the operand itself."""
    return False

  @property
  def has_allocated_buffer(self) -> bool:
    return False

  @property
  def is_trivial_windowing(self) -> bool:
    """Whether the one block is the whole array, so that there is nothing to overlap."""
    return False

  @property
  def prefetched_count(self) -> int:
    return 0

  @property
  def await_prefetch(self) -> bool:
    return False

  @property
  def is_input(self) -> bool:
    return self.buffer_type.is_input

  @property
  def is_output(self) -> bool:
    return self.buffer_type.is_output

  @property
  def is_input_output(self) -> bool:
    return self.buffer_type is BufferType.INPUT_OUTPUT

  @property
  def is_manual(self) -> bool:
    return self.buffer_type is BufferType.MANUAL

  @property
  def block_shape(self) -> tuple[Any, ...] | None:
    return None if self.spec.block_shape is None else tuple(self.spec.block_shape)

  @property
  def has_indirect(self) -> bool:
    return any(isinstance(d, Indirect) for d in self.block_shape or ())

  @property
  def compute_index(self) -> Callable[..., tuple[Any, ...]]:
    """The index map: from grid indices to one entry for each dimension, ints where they are known."""

    def index(*grid_indices: Any) -> tuple[Any, ...]:
      return self._entries(grid_indices, None)

    return index

  def _dims(self, rank: int | None) -> tuple[Any, ...] | None:
    if self.spec.block_shape is None:
      return None
    dims = tuple(canonical_block_dim(d, "a pipeline operand") for d in self.spec.block_shape)
    if rank is not None and len(dims) != rank:
      raise errors.BlockRankError(
        f"emit_pipeline: the block shape {self.block_shape} must have the same number of dimensions as its operand, "
        f"which has {rank}."
      )
    return dims

  def _entries(self, grid_indices: Sequence[Any], rank: int | None) -> tuple[Any, ...]:
    dims = self._dims(rank)
    if dims is None:
      return ()
    result = (0,) * len(dims) if self.spec.index_map is None else self.spec.index_map(*grid_indices)
    result = tuple(result) if isinstance(result, tuple | list) else (result,)
    if len(result) != len(dims):
      raise errors.IndexMapError(
        f"emit_pipeline: the index map must return {len(dims)} values to match block_shape={self.block_shape}, got "
        f"{len(result)}: {result}."
      )
    return tuple(self._entry(e, d) for e, d in zip(result, dims))

  def _entry(self, entry: Any, dim: Any) -> Any:
    if isinstance(dim, BoundedSlice):
      if isinstance(entry, slice):
        start = entry.start or 0
        entry = Slice(start, dim.block_size if entry.stop is None else entry.stop - start)
      if not isinstance(entry, Slice):
        raise errors.IndexMapError(
          f"emit_pipeline: a pl.BoundedSlice needs pl.ds(start, size) from its index map, got {entry}."
        )
      return Slice(known_or_int32(entry.start), minimum(known_or_int32(entry.size), dim.block_size))
    if isinstance(dim, Indirect):
      is_view = isinstance(entry, TransformedRef) or isinstance(_jax.core.typeof(entry), AbstractRef)
      return jnp.asarray(entry[...] if is_view else entry, jnp.int32)
    if isinstance(entry, Slice | slice):
      raise errors.IndexMapError(
        f"emit_pipeline: the index map returns a slice for {dim}. Use pl.BoundedSlice in the block shape."
      )
    return known_or_int32(entry)

  def get_dma_slice(self, src_ty: Any, grid_indices: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The indices of a block in the array and in one slot of the window: the part of it that lies inside of the array."""
    shape = tuple(src_ty.shape)
    dims = self._dims(len(shape))
    if dims is None:
      return (), ()
    entries = self._entries(grid_indices, len(shape))
    pairs = [dim_slices(*parts) for parts in zip(dims, shape, entries)]
    return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)

  def bind_existing_ref(self, window_ref: Any, indices: Sequence[Any]) -> Any:
    """The block as a view of the operand itself, for one that is already where the body wants it."""
    dims = self._dims(len(window_ref.shape))
    if dims is None:
      return window_ref
    return window_ref.at[tuple(whole_block(d, e) for d, e in zip(dims, self._entries(indices, len(dims))))]

  # What a pipeline does with buffers besides. All of it gives new buffers: these are values.

  def with_spec(self, spec: BlockSpec) -> Any:
    raise NotImplementedError

  def unbind_refs(self) -> Any:
    """The same without refs: what may be carried through a loop."""
    raise NotImplementedError

  def initialize_slots(self) -> Any:
    """All counters at zero."""
    raise NotImplementedError

  def advance_copy_in_slot(self, predicate: Any = True) -> Any:
    raise NotImplementedError

  def advance_wait_in_slot(self, predicate: Any = True) -> Any:
    raise NotImplementedError

  def advance_copy_out_slot(self, predicate: Any = True) -> Any:
    raise NotImplementedError

  def advance_wait_out_slot(self, predicate: Any = True) -> Any:
    raise NotImplementedError


# --- the usual buffers -------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class BufferedRef(BufferedRefBase):
  """A window of several slots on chip, the semaphores of its copies, and how far they are.

  Before allocation `window_ref` and the semaphores are types: pass a BufferedRef to `pl.run_scoped` or among `scratch_shapes` to
  get one that holds refs. Without a window the operand is used where it is.
  """

  _spec: BlockSpec
  _buffer_type: BufferType
  _buffer_count: int
  _grid_rank: int | None
  window_ref: Any
  copy_in_slot: Any
  wait_in_slot: Any
  copy_out_slot: Any
  wait_out_slot: Any
  next_fetch: Any
  sem_recvs: Any
  sem_sends: Any
  tiling: Tiling | None
  is_trivial_windowing: bool = False
  has_allocated_buffer: bool = False
  prefetched_count: int = 0
  await_prefetch: bool = False

  @classmethod
  def create(
    cls,
    spec: BlockSpec,
    dtype_or_type: Any,
    buffer_type: BufferType,
    buffer_count: int,
    grid_rank: int | None = None,
    use_lookahead: bool = False,
    source_memory_space: Any = MemorySpace.ANY,
    tiling: Tiling | None = None,
    is_trivial_windowing: bool = False,
    prefetched_count: int = 0,
  ) -> BufferedRef:
    """Describe the buffers for an operand with this spec, dtype (or type) and memory space."""
    has_type = hasattr(dtype_or_type, "shape") and hasattr(dtype_or_type, "dtype")
    dtype = dtype_or_type.dtype if has_type else dtype_or_type
    if spec.block_shape is not None:
      block = tuple(canonical_block_dim(d, "a pipeline operand").block_size for d in spec.block_shape)
    elif has_type:
      block = tuple(dtype_or_type.shape)
    else:
      raise errors.BlockSpecError(
        "BufferedRef: without a block shape in its spec it needs the operand's type, not only its dtype."
      )
    space = spec.memory_space or TpuMemorySpace.VMEM
    if use_lookahead and grid_rank is None:
      raise errors.GridError("BufferedRef: use_lookahead needs grid_rank, the number of dimensions of the grid.")
    if _same_memory(space, source_memory_space):
      count, window = 0, None
    else:
      slots = () if is_trivial_windowing else (buffer_count,)
      count, window = buffer_count, memory_ref((*slots, *block), dtype, space)
    semaphores = None if window is None or buffer_type is BufferType.MANUAL else SemaphoreType.DMA((count,))
    return cls(
      _spec=spec,
      _buffer_type=buffer_type,
      _buffer_count=count,
      _grid_rank=grid_rank if use_lookahead else None,
      window_ref=window,
      copy_in_slot=None,
      wait_in_slot=None,
      copy_out_slot=None,
      wait_out_slot=None,
      next_fetch=None,
      sem_recvs=semaphores if buffer_type.is_input else None,
      sem_sends=semaphores if buffer_type.is_output else None,
      tiling=tiling,
      is_trivial_windowing=is_trivial_windowing,
      has_allocated_buffer=window is not None,
      prefetched_count=prefetched_count,
    )

  @classmethod
  def input(cls, spec: BlockSpec, dtype_or_type: Any, buffer_count: int = 2, **kwargs: Any) -> BufferedRef:
    return cls.create(spec, dtype_or_type, BufferType.INPUT, buffer_count, **kwargs)

  @classmethod
  def output(cls, spec: BlockSpec, dtype_or_type: Any, buffer_count: int = 2, **kwargs: Any) -> BufferedRef:
    return cls.create(spec, dtype_or_type, BufferType.OUTPUT, buffer_count, **kwargs)

  @classmethod
  def input_output(cls, spec: BlockSpec, dtype_or_type: Any, buffer_count: int = 2, **kwargs: Any) -> BufferedRef:
    return cls.create(spec, dtype_or_type, BufferType.INPUT_OUTPUT, buffer_count, **kwargs)

  # --- what it is

  @property
  def spec(self) -> BlockSpec:
    return self._spec

  @property
  def buffer_type(self) -> BufferType:
    return self._buffer_type

  @property
  def buffer_count(self) -> int:
    """The requested number of buffers; 0 for an operand that is used in place."""
    return self._buffer_count

  @property
  def num_slots(self) -> int:
    """The number of slots of the window. A window for the one block that is the whole array is that block itself."""
    return min(1, self._buffer_count) if self.is_trivial_windowing else self._buffer_count

  def _in_window(self, slot: Any, index: tuple[Any, ...]) -> Any:
    """The part of a slot at an index."""
    place = index if self.is_trivial_windowing else (slot, *index)
    return self.window_ref.at[place] if place else self.window_ref

  @property
  def is_buffered(self) -> bool:
    return self._buffer_count > 0

  @property
  def use_lookahead(self) -> bool:
    """Whether the next block that differs is fetched as soon as a slot is free, however far ahead it is."""
    return self._grid_rank is not None

  def _replace(self, **changes: Any) -> BufferedRef:
    return dataclasses.replace(self, **changes)

  def with_spec(self, spec: BlockSpec) -> BufferedRef:
    return self._replace(_spec=spec)

  def with_window_ref(self, window_ref: Any) -> BufferedRef:
    return self._replace(window_ref=window_ref)

  def with_next_fetch(self, next_fetch: Any = None) -> BufferedRef:
    return self._replace(next_fetch=next_fetch)

  def unbind_refs(self) -> BufferedRef:
    """The same without refs: what may be carried through a loop."""
    return self._replace(window_ref=None, sem_recvs=None, sem_sends=None)

  # --- how far it is

  def initialize_slots(self) -> BufferedRef:
    """All counters at zero."""
    return self.with_slot_index(0, 0, 0, 0)

  def with_slot_index(
    self, copy_in_slot: Any = None, copy_out_slot: Any = None, wait_in_slot: Any = None, wait_out_slot: Any = None
  ) -> BufferedRef:
    """With the counters that are given."""
    given = {
      "copy_in_slot": copy_in_slot,
      "copy_out_slot": copy_out_slot,
      "wait_in_slot": wait_in_slot,
      "wait_out_slot": wait_out_slot,
    }
    return self._replace(**{name: value for name, value in given.items() if value is not None})

  def _advance(self, name: str, predicate: Any) -> BufferedRef:
    return self._replace(**{name: add_if(getattr(self, name) or 0, predicate)})

  def advance_copy_in_slot(self, predicate: Any = True) -> BufferedRef:
    return self._advance("copy_in_slot", predicate)

  def advance_wait_in_slot(self, predicate: Any = True) -> BufferedRef:
    return self._advance("wait_in_slot", predicate)

  def advance_copy_out_slot(self, predicate: Any = True) -> BufferedRef:
    return self._advance("copy_out_slot", predicate)

  def advance_wait_out_slot(self, predicate: Any = True) -> BufferedRef:
    return self._advance("wait_out_slot", predicate)

  @property
  def cumulative_copy_in(self) -> Any:
    return self.copy_in_slot

  @property
  def cumulative_wait_in(self) -> Any:
    return self.wait_in_slot

  @property
  def cumulative_copy_out(self) -> Any:
    return self.copy_out_slot

  @property
  def cumulative_wait_out(self) -> Any:
    return self.wait_out_slot

  def _slot(self, counter: Any) -> Any:
    count = self.num_slots
    if counter is None or count <= 1:
      return 0
    return counter % count if is_static(counter) else lax.rem(counter, jnp.int32(count))

  @property
  def current_copy_in_slot(self) -> Any:
    return self._slot(self.copy_in_slot)

  @property
  def current_wait_in_slot(self) -> Any:
    return self._slot(self.wait_in_slot)

  @property
  def current_copy_out_slot(self) -> Any:
    return self._slot(self.copy_out_slot)

  @property
  def current_wait_out_slot(self) -> Any:
    return self._slot(self.wait_out_slot)

  @property
  def next_fetch_indices(self) -> Any:
    """The grid indices to fetch next, with lookahead."""
    if not self.use_lookahead:
      raise errors.GridError("BufferedRef.next_fetch_indices: these buffers were made without use_lookahead.")
    return self.next_fetch

  def advance_next_fetch(self, grid: Sequence[Any]) -> BufferedRef:
    """Move the indices to fetch next on by one point of the grid."""
    carry: Any = 1
    indices = []
    for index, size in reversed(list(zip(self.next_fetch_indices, grid))):
      total = index + carry
      wraps = total >= size
      indices.append(0 if wraps is True else jnp.where(wraps, 0, total) if not isinstance(wraps, bool) else total)
      carry = int(wraps) if isinstance(wraps, bool) else wraps.astype(jnp.int32)
    return self.with_next_fetch(tuple(reversed(indices)))

  # --- what it does

  @property
  def current_ref(self) -> Any:
    """The slot the body works on, without squeezed dimensions."""
    if not self.is_buffered:
      return self.window_ref
    slot = self.current_copy_out_slot if self.is_output else self.current_wait_in_slot
    return self._in_window(slot, tuple(0 if isinstance(d, Squeezed) else slice(None) for d in self._dims(None) or ()))

  def compute_slice(self, grid_indices: Sequence[Any]) -> tuple[Any, ...]:
    """The index of the block in the array, as if it did not hang over the edge."""
    dims = self._dims(None) or ()
    return tuple(whole_block(d, e) for d, e in zip(dims, self._entries(grid_indices, None)))

  def _copy(self, ref: Any, grid_indices: Sequence[Any], slot: Any, *, out: bool) -> dma.AsyncCopyDescriptor:
    in_array, in_slot = self.get_dma_slice(ref, grid_indices)
    array = ref.at[in_array] if in_array else ref
    window = self._in_window(slot, in_slot)
    if out:
      return dma.make_async_copy(window, array, self.sem_sends.at[slot])
    return dma.make_async_copy(array, window, self.sem_recvs.at[slot])

  def copy_in(self, src_ref: Any, grid_indices: Sequence[Any]) -> None:
    """Start the copy of a block from the array to the current slot."""
    self._copy(src_ref, grid_indices, self.current_copy_in_slot, out=False).start()

  def wait_in(self, src_ref: Any, grid_indices: Sequence[Any]) -> None:
    """Wait for the copy of the block that the body needs next."""
    self._copy(src_ref, grid_indices, self.current_wait_in_slot, out=False).wait()

  def copy_out(self, dst_ref: Any, grid_indices: Sequence[Any]) -> None:
    """Start the copy of the current slot to its place in the array."""
    self._copy(dst_ref, grid_indices, self.current_copy_out_slot, out=True).start()

  def wait_out(self, dst_ref: Any, grid_indices: Sequence[Any]) -> None:
    """Wait for the copy of an earlier slot to the array."""
    self._copy(dst_ref, grid_indices, self.current_wait_out_slot, out=True).wait()


_LEAVES = (
  "window_ref",
  "copy_in_slot",
  "wait_in_slot",
  "copy_out_slot",
  "wait_out_slot",
  "next_fetch",
  "sem_recvs",
  "sem_sends",
)
jax.tree_util.register_dataclass(
  BufferedRef,
  data_fields=list(_LEAVES),
  meta_fields=[f.name for f in dataclasses.fields(BufferedRef) if f.name not in _LEAVES],
)


def add_if(counter: Any, predicate: Any) -> Any:
  """`counter + 1` where the predicate holds; stays an int if both are known."""
  if isinstance(predicate, bool):
    return counter + int(predicate)
  return counter + predicate.astype(jnp.int32)


# Memories that hold arrays as a whole: an operand in one of them is copied, unless the body asks for it in place.
_FAR = (MemorySpace.ANY, MemorySpace.HOST, TpuMemorySpace.HBM, TpuMemorySpace.HOST)


def _same_memory(wanted: Any, source: Any) -> bool:
  if wanted in _FAR:
    return wanted is source or MemorySpace.ANY in (wanted, source) or source not in _FAR
  return source not in _FAR

"""Views: which block of a value is needed, as a function of which blocks of the program's outputs are wanted.

A program is cut by saying how its outputs are cut. Every value inside it is then needed only in part, and the part
follows from the block of the outputs that is being computed:

    def f(x): return x.T * 2          the output is cut into (64, 128), block (i, j)
                                      x.T   is needed as (64, 128), block (i, j)
                                      x     is needed as (128, 64), block (j, i)

A `BlockIndexTransform` holds the shape of the part and the function from the block indices of *all* outputs to the
indices of the part, one entry for each dimension with the meaning that the kind of the block dimension gives it
(`pl.Blocked`: a block number, `pl.Element`: an element number, ...). Rules build the view of an operand from the view
of a result; the composition of index maps is the composition of functions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from tilewright.pallas.specs import BlockSpec
from tilewright.runtime import _jax
from tilewright.tile.grid import Blocked, BoundedSlice, Buffered, Element, Squeezed
from tilewright.tile.memory import MemorySpace

Slice = _jax.Slice


def _no_index(*_: Any) -> Any:
  return None


@dataclasses.dataclass(frozen=True)
class BlockIndexTransform:
  """The part of a value that is needed.

  Args:
    block_shape: one entry for each dimension, as in `pl.BlockSpec`; None for the whole value.
    block_index_transform: takes the block indices of every output of the program, a tuple for each, and gives those of
      the part.
    memory_space: where the block is wanted.
    pipeline_mode: how many buffers a pipeline keeps for the block.
  """

  block_shape: Sequence[Any] | None
  block_index_transform: Callable[..., Any] = _no_index
  memory_space: Any = dataclasses.field(kw_only=True, default=None)
  pipeline_mode: Buffered | None = dataclasses.field(kw_only=True, default=None)

  def replace(self, **changes: Any) -> BlockIndexTransform:
    return dataclasses.replace(self, **changes)

  def then(self, block_shape: Sequence[Any] | None, change: Callable[[tuple[Any, ...]], Any]) -> BlockIndexTransform:
    """The view whose indices are `change` of this one's."""
    inner = self.block_index_transform
    return self.replace(
      block_shape=None if block_shape is None else tuple(block_shape),
      block_index_transform=lambda *outs: change(inner(*outs)),
    )


View = BlockIndexTransform


@dataclasses.dataclass(frozen=True)
class NoBlockIndexTransform:
  """Stands for the view of a value that is not needed at all."""

  def __repr__(self) -> str:
    return "NoBlockIndexTransform"


UNUSED = NoBlockIndexTransform()


class BlockIndices(tuple[Any, ...]):
  """The block indices of one output, with the prefetched scalars that some views read besides (see `pull.Prefetched`)."""

  prefetched: Any = None

  @classmethod
  def of(cls, indices: Any, prefetched: Any) -> BlockIndices:
    found = cls(indices)
    found.prefetched = prefetched
    return found


# --- block dimensions --------------------------------------------------------------------------------------------


def is_squeezed(dim: Any) -> bool:
  return dim is None or isinstance(dim, Squeezed)


def is_blocked(dim: Any) -> bool:
  """Whether an index of this dimension counts blocks."""
  return isinstance(dim, Blocked) or (dim is not None and not hasattr(dim, "block_size"))


def size_of(dim: Any) -> int:
  """How many elements of the dimension a block has; one where the kernel does not see it."""
  return 1 if is_squeezed(dim) else int(getattr(dim, "block_size", dim))


def resized(dim: Any, size: int) -> Any:
  """A dimension of the same kind with another size, spelled the way the user spelled his."""
  match dim:
    case Blocked():
      return Blocked(size)
    case Element():
      return Element(size)
    case BoundedSlice():
      return BoundedSlice(size)
    case _ if is_squeezed(dim):
      return dim if size == 1 else size
    case _:
      return size


def start_of(dim: Any, index: Any) -> Any:
  """The first element of a block."""
  match dim:
    case Element(_, (low, _)):
      return index - low if low else index
    case BoundedSlice():
      return index.start if hasattr(index, "start") else index
    case _ if is_squeezed(dim):
      return index
    case _:
      size = size_of(dim)
      return index if size == 1 else index * size


def covers(dim: Any, length: int) -> bool:
  """Whether every block is the whole dimension."""
  if length == 1:
    return size_of(dim) == 1 and not isinstance(dim, BoundedSlice) and not any(getattr(dim, "padding", ()))
  return is_blocked(dim) and size_of(dim) == length


def sizes(view: View, shape: Sequence[int]) -> tuple[int, ...]:
  """The shape of a block with squeezed dimensions kept, as ones: the form blocks have while they are evaluated."""
  return tuple(shape) if view.block_shape is None else tuple(size_of(d) for d in view.block_shape)


def kept_sizes(view: View, shape: Sequence[int]) -> tuple[int, ...]:
  """The shape of a block as a kernel sees it."""
  if view.block_shape is None:
    return tuple(shape)
  return tuple(size_of(d) for d in view.block_shape if not is_squeezed(d))


def starts(view: View, indices: Any, rank: int) -> tuple[Any, ...]:
  """The first element of a block along each dimension."""
  if view.block_shape is None:
    return (0,) * rank
  return tuple(start_of(d, i) for d, i in zip(view.block_shape, indices, strict=True))


def whole(aval: Any, like: View | None = None) -> View:
  """The view that sees all of a value, whatever block is computed."""
  shape = tuple(Blocked(n) for n in aval.shape)
  zeros = (0,) * len(shape)
  view = View(shape, lambda *_: zeros)
  return view if like is None else view.replace(pipeline_mode=like.pipeline_mode)


def with_dim(view: View, axis: int, dim: Any, change: Callable[[Any], Any]) -> View:
  """A view with another block dimension in one place, whose index is `change` of the old one."""
  assert view.block_shape is not None
  shape = [dim if d == axis else x for d, x in enumerate(view.block_shape)]
  return view.then(shape, lambda i: tuple(change(x) if d == axis else x for d, x in enumerate(i)))


def repeated(view: View, shape: Sequence[int], out: Sequence[int], dims: Sequence[int]) -> View:
  """The view of an operand whose dimension d becomes dimension dims[d] of the result, where it is repeated if its size
  is one."""
  if view.block_shape is None:
    return View(tuple(Blocked(n) for n in shape), lambda *_: (0,) * len(shape), pipeline_mode=view.pipeline_mode)
  once = [n == 1 != out[o] for n, o in zip(shape, dims)]
  of_one = lambda dim: 1 if isinstance(dim, BoundedSlice) else resized(dim, 1)
  dims_ = [of_one(view.block_shape[o]) if r else view.block_shape[o] for o, r in zip(dims, once)]
  return view.then(dims_, lambda i: tuple(0 if r else i[o] for o, r in zip(dims, once)))


# --- specs of the outside ----------------------------------------------------------------------------------------


def is_key(aval: Any) -> bool:
  """Whether a value is an array of PRNG keys."""
  return isinstance(getattr(aval, "dtype", None), _jax.prng.KeyTy)


def from_spec(spec: Any, position: int, aval: Any) -> View:
  """The view of an output, from what the user said about it."""
  if not isinstance(spec, BlockSpec) or spec.block_shape is None:
    return whole(aval)
  # Where the output lies says nothing about where the blocks from which it is computed do.
  return View(spec.block_shape, lambda *outs: outs[position], pipeline_mode=spec.pipeline_mode)


KEY_SPEC = BlockSpec(memory_space=MemorySpace.KEY)

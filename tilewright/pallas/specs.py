"""Block specs and grid specs: the user's description of how arrays are split into blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import jax

from tilewright import errors
from tilewright.runtime.user_line import names_line
from tilewright.tile.grid import BlockDim, Blocked, BoundedSlice, Buffered, Element, Indirect, Squeezed, squeezed
from tilewright.tile.memory import MemorySpace, TpuMemorySpace


@runtime_checkable
class CompilerParams(Protocol):
  """What the parameters of every target have in common: they are dataclasses."""

  __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class NoBlockSpec:
  """The marker of an omitted spec."""

  def __repr__(self) -> str:
    return "NoBlockSpec"


no_block_spec = NoBlockSpec()


@dataclasses.dataclass(unsafe_hash=True)
class BlockSpec:
  """How an array is split into blocks, one for each kernel instance.

  `block_shape` has one entry for each dimension of the array: an int (that many elements, and the index map counts blocks),
  None (one element, and the kernel does not see the dimension), or a `BlockDim`. `index_map` takes the grid indices, then
  the prefetched scalars, and returns one entry for each dimension. Without a block shape the kernel sees the whole array.

  Args:
    block_shape: the shape of a block, or None for the whole array.
    index_map: maps an instance to its block; by default the first one.
    pipeline_mode: the number of pipeline buffers of the block.
    memory_space: the memory space of the kernel's ref.
  """

  block_shape: Sequence[BlockDim | int | None] | None = None
  index_map: Callable[..., Any] | None = None
  memory_space: Any = dataclasses.field(kw_only=True, default=None)
  pipeline_mode: Buffered | None = None

  @names_line
  def __post_init__(self) -> None:
    for field in ("block_shape", "index_map"):
      value = getattr(self, field)
      if isinstance(value, MemorySpace | TpuMemorySpace) or getattr(value, "is_tilewright_memory_space", False):
        raise errors.BlockSpecError(
          f"BlockSpec: {field} got the memory space {value}. Name the argument, as in BlockSpec(memory_space=pl.ANY)."
        )
    if callable(self.block_shape):
      raise errors.BlockSpecError(
        "BlockSpec: block_shape must be a sequence, got a function. The order is BlockSpec(block_shape, index_map)."
      )
    if self.index_map is not None and not callable(self.index_map):
      raise errors.IndexMapError(
        f"BlockSpec: index_map must be a function of the grid indices, got {self.index_map!r}."
      )
    if self.block_shape is not None and not hasattr(self.block_shape, "__iter__"):
      raise errors.BlockSpecError(
        f"BlockSpec: block_shape must be a sequence with an entry for each dimension, got {self.block_shape!r}."
      )
    if self.block_shape is not None:
      self.block_shape = tuple(self.block_shape)

  def replace(self, **changes: Any) -> BlockSpec:
    return dataclasses.replace(self, **changes)

  def to_block_mapping(
    self,
    origin: str,
    array_aval: Any,
    *,
    index_map_avals: Sequence[Any],
    index_map_tree: Any,
    grid: Sequence[Any],
    vmapped_dims: Sequence[int] = (),
    debug: bool = False,
    allow_captured_consts: bool = False,
  ) -> Any:
    """The blocks of an array of this type, as data.

    Args:
      origin: what messages call the array.
      array_aval: its type.
      index_map_avals, index_map_tree: the arguments of the index map, of which the first ones are the indices of `grid`.
      vmapped_dims: must be empty: dimensions that vmap adds are part of a kernel, not of a spec.
      debug, allow_captured_consts: without effect; an index map may never capture arrays.
    """
    from tilewright.pallas import block_mapping

    if vmapped_dims:
      raise errors.UnsupportedFeatureError(
        "BlockSpec.to_block_mapping: vmapped_dims must be empty. Use jax.vmap on the kernel."
      )
    args, _ = jax.tree.unflatten(index_map_tree, index_map_avals)
    prefetched, prefetch_tree = jax.tree.flatten(tuple(args[len(grid) :]))
    return block_mapping.make_block_mapping(
      self, array_aval, origin, num_grid_dims=len(grid), prefetch_avals=prefetched, prefetch_tree=prefetch_tree
    )


def canonical_block_dim(dim: Any, origin: str) -> BlockDim:
  """The block dimension that a user's entry denotes."""
  if dim is None:
    return squeezed
  if isinstance(dim, Blocked | Squeezed | Element | BoundedSlice | Indirect):
    return dim
  if hasattr(dim, "scope"):  # a symbolic dimension stays as it is
    return Blocked(dim)
  if hasattr(dim, "__index__") and not isinstance(dim, bool):
    return Blocked(dim.__index__())
  raise errors.BlockSpecError(
    f"Unsupported block dimension type: {type(dim)} in the block shape for {origin}. Allowed types: `pl.Squeezed`, "
    "`pl.Blocked`, `pl.Element`, `pl.BoundedSlice`, `pl.Indirect`, `int`, `None`."
  )


def canonical_grid(grid: Any) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
  """Sizes and, for a named grid, names of the dimensions of what a user wrote as `grid`."""
  if grid is None:
    return (), None
  if not isinstance(grid, tuple | list):
    grid = (grid,)
  grid = tuple(grid)
  named = [isinstance(d, tuple) for d in grid]
  if not any(named):
    return grid, None
  if not all(named) or any(len(d) != 2 for d in grid):
    raise errors.GridError(
      f"grid: either every dimension is named, as in (('i', 4), ('j', 2)), or none is; got {grid}."
    )
  names = tuple(d[0] for d in grid)
  if len(set(names)) != len(names):
    raise errors.GridError(f"grid: the names of its dimensions must differ, got {names}.")
  return tuple(d[1] for d in grid), names


@dataclasses.dataclass(init=False, unsafe_hash=True)
class GridSpec:
  """The grid of a kernel with the block specs of its operands; see `pallas_call` for the fields.

  `scratch_shapes` may be a sequence, whose refs follow the outputs as positional arguments, or a dict, whose refs are passed
  by keyword.
  """

  num_scalar_prefetch = 0  # no field: a grid spec with prefetched scalars is of another class

  grid: tuple[Any, ...]
  grid_names: tuple[Any, ...] | None
  in_specs: Any
  out_specs: Any
  scratch_shapes: Any = ()

  @names_line
  def __init__(
    self, grid: Any = (), in_specs: Any = no_block_spec, out_specs: Any = no_block_spec, scratch_shapes: Any = ()
  ) -> None:
    self.grid, self.grid_names = canonical_grid(grid)
    self.in_specs = _as_tuple(in_specs)
    self.out_specs = _as_tuple(out_specs)
    self.scratch_shapes = _as_tuple(scratch_shapes)


def _as_tuple(parts: Any) -> Any:
  return tuple(parts) if isinstance(parts, list) else parts


@dataclasses.dataclass(init=False, unsafe_hash=True)
class PrefetchScalarGridSpec(GridSpec):
  """A grid spec whose first `num_scalar_prefetch` operands are known before the kernel starts.

  Index maps get them as refs after the grid indices, and the kernel gets them first.
  """

  num_scalar_prefetch: int = 0

  @names_line
  def __init__(
    self,
    num_scalar_prefetch: int,
    grid: Any = (),
    in_specs: Any = no_block_spec,
    out_specs: Any = no_block_spec,
    scratch_shapes: Any = (),
  ) -> None:
    super().__init__(grid, in_specs, out_specs, scratch_shapes)
    if not hasattr(num_scalar_prefetch, "__index__") or num_scalar_prefetch < 0:
      raise errors.GridError(
        f"PrefetchScalarGridSpec: num_scalar_prefetch must be the number of operands that are prefetched, got {num_scalar_prefetch!r}."
      )
    self.num_scalar_prefetch = num_scalar_prefetch

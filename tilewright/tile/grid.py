"""The grid and the block mappings of a kernel, as data.

A kernel runs once for each point of its grid, the last dimension fastest. For each operand, an index map (a small jaxpr of
the grid indices and of the prefetched scalars) says which block of the array this instance sees:

    grid (2, 3), block (8, 128), index map (i, j) -> (i, j): instance (1, 2) sees rows 8..15 and columns 256..383.

How an entry of the index map is read depends on the kind of its block dimension:

| dimension        | the index map gives   | elements seen                            |
|------------------|-----------------------|------------------------------------------|
| Blocked(n)       | a block number b      | b*n … b*n + n - 1                        |
| Element(n, pad)  | an element number e   | e … e + n - 1 of the array padded by pad |
| Squeezed()       | an element number e   | e, and the dimension is dropped          |
| BoundedSlice(n)  | ds(start, size <= n)  | start … start + size - 1                 |
| Indirect(n)      | n element numbers     | these, in this order                     |
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import math
from collections.abc import Hashable, Iterator
from contextvars import ContextVar
from typing import Any, TypeAlias

import jax
import numpy as np

from tilewright.runtime import _jax


class RevisitMode(enum.Enum):
  """Whether an output block may be visited again only at the next step, or at any later one."""

  IMMEDIATE = "immediate"
  ANY = "any"


@dataclasses.dataclass(frozen=True)
class Buffered:
  """How many buffers a pipeline keeps for a block, and how it fetches and revisits them."""

  buffer_count: int
  use_lookahead: bool = False
  revisit: RevisitMode | None = None
  prefetched_count: int = 0

  def __post_init__(self) -> None:
    if self.buffer_count < 1:
      raise ValueError(f"Buffered: buffer_count must be at least 1, got {self.buffer_count}.")


@dataclasses.dataclass(frozen=True)
class Squeezed:
  """A dimension of size one that the kernel does not see."""

  block_size = 1


squeezed = Squeezed()


@dataclasses.dataclass(frozen=True, eq=False)
class Blocked:
  """The default: the index map gives block numbers. A plain int means the same, and is equal to it."""

  block_size: int

  def __eq__(self, other: object) -> bool:
    return self.block_size == (other.block_size if isinstance(other, Blocked) else other)

  def __hash__(self) -> int:
    return hash(self.block_size)

  def __str__(self) -> str:
    return f"Blocked({self.block_size})"


@dataclasses.dataclass(frozen=True)
class Element:
  """The index map gives the number of the first element; the array may be padded virtually on both sides."""

  block_size: int
  padding: tuple[int, int] = (0, 0)

  def __str__(self) -> str:
    return f"Element({self.block_size}, padding={self.padding})"


@dataclasses.dataclass(frozen=True)
class BoundedSlice:
  """The index map gives a slice `pl.ds(start, size)` whose dynamic size is at most `block_size`."""

  block_size: int

  def __repr__(self) -> str:
    return f"BoundedSlice({self.block_size})"


@dataclasses.dataclass(frozen=True)
class Indirect:
  """The index map gives an array of element numbers: a gather for inputs, a scatter for outputs."""

  block_size: int

  def __repr__(self) -> str:
    return f"Indirect({self.block_size})"


BlockDim: TypeAlias = Blocked | Squeezed | Element | BoundedSlice | Indirect


@dataclasses.dataclass(frozen=True)
class CostEstimate:
  """What a kernel costs: operations, transcendental operations, bytes moved, bytes sent to other devices."""

  flops: int
  transcendentals: int
  bytes_accessed: int
  remote_bytes_transferred: int = 0

  def to_json(self) -> bytes:
    fields = dataclasses.asdict(self)
    return ("{" + ", ".join(f'"{k}": {int(v)}' for k, v in fields.items()) + "}").encode()


@dataclasses.dataclass(frozen=True)
class BlockMapping:
  """Which block of one array each instance sees.

  `index_map` takes the grid indices, then the prefetched scalars as refs, and returns the leaves of `index_tree`: one entry
  per dimension of the array. `block_aval` is the ref the kernel gets. With `index_map` None the kernel sees the whole array.
  """

  block_shape: tuple[BlockDim, ...]
  index_map: Any
  index_tree: Any
  array_aval: Any
  block_aval: Any
  origin: str
  pipeline_mode: Buffered | None = None
  in_place: bool = False  # the kernel sees the memory of the array itself, so aliased operands are one ref

  def __repr__(self) -> str:
    return f"BlockMapping(block_shape={self.block_shape})"

  def replace(self, **changes: Any) -> BlockMapping:
    return dataclasses.replace(self, **changes)

  # JAX's names for the same facts.

  @property
  def index_map_jaxpr(self) -> Any:
    return self.index_map

  @property
  def index_map_out_tree(self) -> Any:
    return self.index_tree

  @property
  def ref_aval(self) -> Any:
    return self.block_aval

  @property
  def transformed_block_aval(self) -> Any:
    return self.block_aval

  @property
  def transforms(self) -> tuple[Any, ...]:
    return getattr(self.memory_space, "transforms", ())

  @property
  def memory_space(self) -> Any:
    return self.block_aval.memory_space

  @property
  def is_whole_array(self) -> bool:
    """Whether every instance sees the array itself rather than a block of it."""
    return self.index_map is None

  @property
  def keeps_overhang(self) -> bool:
    """Whether a block may have out-of-bounds or unused elements, which persist while consecutive instances see the block.

    They persist in the block's own buffer, that is, where the kernel does not see the memory of the array itself.
    """
    if self.is_whole_array or self.in_place:
      return False
    return any(
      not isinstance(dim, Blocked | Squeezed) or not isinstance(d, int) or d % dim.block_size != 0
      for dim, d in zip(self.block_shape, self.array_aval.shape)
    )

  @property
  def block_sizes(self) -> tuple[int, ...]:
    return tuple(d.block_size for d in self.block_shape)

  @property
  def squeezed_dims(self) -> tuple[int, ...]:
    return tuple(i for i, d in enumerate(self.block_shape) if isinstance(d, Squeezed))


@dataclasses.dataclass(frozen=True)
class GridMapping:
  """The grid, and one block mapping for each input and output.

  The kernel's jaxpr takes: prefetched scalars, inputs, outputs, scratch. `grid` has None where a bound is dynamic; those come
  first among the operands of the call. The first `num_vmapped` dimensions were added by vmap and are invisible to
  `program_id`; `prefetch_vmapped[i]` lists which of them index the leading dimensions of the i-th prefetched operand.
  """

  grid: tuple[Any, ...]
  grid_names: tuple[Hashable, ...] | None
  block_mappings: tuple[BlockMapping, ...]
  num_prefetch: int
  num_inputs: int
  num_outputs: int
  num_scratch: int
  num_vmapped: int = 0
  prefetch_vmapped: tuple[tuple[int, ...], ...] = ()

  def __repr__(self) -> str:
    return f"GridMapping(grid={self.grid}, block_mappings={self.block_mappings})"

  def replace(self, **changes: Any) -> GridMapping:
    return dataclasses.replace(self, **changes)

  @property
  def num_dynamic_bounds(self) -> int:
    return sum(b is None for b in self.grid)

  @property
  def input_mappings(self) -> tuple[BlockMapping, ...]:
    return self.block_mappings[: self.num_inputs]

  @property
  def output_mappings(self) -> tuple[BlockMapping, ...]:
    return self.block_mappings[self.num_inputs :]

  @property
  def num_index_operands(self) -> int:
    return self.num_prefetch

  @property
  def num_scratch_operands(self) -> int:
    return self.num_scratch

  @property
  def num_dynamic_grid_bounds(self) -> int:
    return self.num_dynamic_bounds

  @property
  def block_mappings_output(self) -> tuple[BlockMapping, ...]:
    return self.output_mappings

  @property
  def static_grid(self) -> tuple[int, ...]:
    if self.num_dynamic_bounds:
      raise ValueError(f"The grid {self.grid} has dynamic bounds (None).")
    return self.grid

  @property
  def vmapped_dims(self) -> tuple[int, ...]:
    return tuple(range(self.num_vmapped))

  @property
  def index_map_avals(self) -> tuple[Any, ...]:
    """The types of what index maps take: the grid indices, then the prefetched scalars."""
    with_map = (m.index_map for m in self.block_mappings if m.index_map is not None)
    found = next(with_map, None)
    if found is None:
      return tuple(_jax.core.ShapedArray((), np.dtype("int32")) for _ in self.grid)
    return tuple(found.in_avals)

  @property
  def slice_index_ops(self) -> slice:
    """Where the prefetched scalars are among the operands of the body."""
    return slice(0, self.num_prefetch)

  @property
  def slice_block_ops(self) -> slice:
    return slice(self.num_prefetch, self.num_prefetch + self.num_inputs + self.num_outputs)

  @property
  def slice_scratch_ops(self) -> slice:
    return slice(-self.num_scratch, None) if self.num_scratch else slice(0, 0)

  @property
  def out_shapes(self) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(m.array_aval.shape, m.array_aval.dtype) for m in self.output_mappings)

  @property
  def num_points(self) -> int | None:
    """How many instances run, or None where that is not known."""
    return None if any(b is None for b in self.grid) else math.prod(self.grid)

  def with_bounds(self, bounds: list[Any]) -> tuple[Any, ...]:
    """The grid with its dynamic bounds substituted, in order."""
    left = iter(bounds)
    return tuple(next(left) if b is None else b for b in self.grid)


@dataclasses.dataclass(frozen=True)
class Kernel:
  """Everything a target needs to run a kernel: its body, its grid, and what else the user said about it."""

  jaxpr: Any
  grid_mapping: GridMapping
  out_avals: tuple[Any, ...]
  input_output_aliases: tuple[tuple[int, int], ...]
  name: str
  interpret: Any = False
  compiler_params: Any = None
  cost_estimate: CostEstimate | None = None
  debug: bool = False
  metadata: _jax.FrozenDict | None = None
  mesh: Any = None  # for a kernel over cores: one mesh per body
  # A function of the operands that computes the same where native code is for Hopper GPUs (sm_90a), by a kernel written for these.
  on_hopper: Any = None

  def replace(self, **changes: Any) -> Kernel:
    """A kernel that differs in some fields: no longer one that `on_hopper` computes."""
    return dataclasses.replace(self, **{"on_hopper": None, **changes})

  @property
  def warpgroups(self) -> int:
    """The number of warpgroups of each CTA; if several, they are the last dimension of the grid."""
    if self.mesh is None or len(self.mesh) != 1:
      return 1
    return getattr(self.mesh[0], "num_threads", None) or 1


_into_library: ContextVar[bool] = ContextVar("tilewright_lines_of_library", default=False)


@contextlib.contextmanager
def lines_of_library() -> Iterator[None]:
  """Within this context, equations of library kernels keep their own source lines instead of the line of the call."""
  token = _into_library.set(True)
  try:
    yield
  finally:
    _into_library.reset(token)


class Line(str):
  """A line of the user's, with the names of the `jax.named_scope`s around it, outermost first."""

  scopes: tuple[str, ...] = ()


def source_line(eqn: Any) -> str:
  """The user's file and line of an equation, for errors."""
  found = (_jax.innermost_line if _into_library.get() else _jax.source_info_util.summarize)(eqn.source_info)
  if not (names := str(eqn.source_info.name_stack)):
    return found
  line = Line(found)
  line.scopes = tuple(names.split("/"))
  return line

"""The memory spaces of a GPU, and the memory layout of refs.

`SMEM((64, 64), jnp.bfloat16, transforms=[…])` describes a buffer in shared memory that is tiled and swizzled by the transforms, and
`ACC((64, 64))` an accumulator of the tensor cores, in registers.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.layout.fragments import TENSOR_COLUMNS, TENSOR_ROWS
from tilewright.layout.transforms import Swizzle, Tiling, Transform, Transpose, transformed
from tilewright.runtime import _jax
from tilewright.target.nvgpu.passes.layouts.hints import SHARED_MEMORY, InUnion, space_text
from tilewright.tile.formats import width
from tilewright.tile.memory import AbstractRef, MemoryRef, memory_ref
from tilewright.tile.types import ACCUMULATOR

TransformedRef = _jax.state_types.TransformedRef


class MemorySpace(enum.Enum):
  """Global memory, shared memory, tensor memory and registers."""

  GMEM = "gmem"
  SMEM = "smem"
  TMEM = "tmem"
  REGS = "regs"

  @property
  def is_tilewright_memory_space(self) -> bool:
    return True

  @property
  def holds_arrays(self) -> bool:
    """Whether a ref of a whole operand here is the array's own memory, so that an output aliased to it is the same ref."""
    return self is MemorySpace.GMEM

  @property
  def tile_space(self) -> str:
    """The name in the tile IR; what is not shared memory is where the target finds it best."""
    return SHARED_MEMORY if self is MemorySpace.SMEM else "any"

  def __str__(self) -> str:
    return self.value

  def __call__(
    self,
    shape: Sequence[int],
    dtype: Any,
    *,
    transforms: Sequence[Transform] = (),
    packed: bool | None = None,
    collective: bool | None = None,
    layout: Any = None,
  ) -> MemoryRef:
    """Memory of a CTA. `transforms` are for SMEM; `packed`, `collective` and `layout` are for TMEM, where they have no effect."""
    if self is MemorySpace.REGS:
      raise errors.UnsupportedFeatureError(
        "REGS: registers cannot be allocated by kernels. Use a tile, SMEM, or ACC for an accumulator."
      )
    if self is not MemorySpace.TMEM and any(given is not None for given in (packed, collective, layout)):
      raise errors.MemorySpaceError(f"packed, collective and layout are for TMEM, got them for {self.name}.")
    if self is MemorySpace.TMEM:
      _check_tensor_memory(tuple(shape), dtype)
    if isinstance(transforms, Swizzle | Tiling | Transpose):
      raise errors.LayoutError(f"{self.name}: transforms: expected a sequence of transforms, got {transforms}.")
    if not transforms:
      return memory_ref(shape, dtype, self)
    if self is not MemorySpace.SMEM:
      raise errors.MemorySpaceError(
        f"transforms: only refs in SMEM have them, got {tuple(transforms)} for {self.name}."
      )
    space = SharedMemory(tuple(transforms))
    space.check_ref(shape, dtype)
    return memory_ref(shape, dtype, space)

  def from_type(self, ty: Any) -> MemoryRef:
    return MemoryRef(ty, self)

  def like(self, shape_dtype_like: Any) -> MemoryRef:
    """Memory for what has this shape and dtype."""
    return self(shape_dtype_like.shape, shape_dtype_like.dtype)


def _columns(shape: tuple[int, ...], dtype: Any) -> int:
  """Of tensor memory, of 32 bits each."""
  return -(-shape[1] * width(dtype) // 32)


def _check_tensor_memory(shape: tuple[int, ...], dtype: Any) -> None:
  if len(shape) != 2:
    raise errors.MemorySpaceError(f"TMEM: shape: expected (rows, columns), a 2D shape, got {shape}.")
  rows, columns = shape[0], _columns(shape, dtype)
  if rows > TENSOR_ROWS or columns > TENSOR_COLUMNS:
    raise errors.ResourceExhaustedError(
      f"TMEM: {jnp.dtype(dtype).name}{list(shape)} exceeds available tensor memory: it would take {rows} rows and {columns} columns of 32 "
      f"bits, an SM has {TENSOR_ROWS} and {TENSOR_COLUMNS}. Use smaller blocks, or SMEM."
    )


GMEM, SMEM, TMEM, REGS = MemorySpace.GMEM, MemorySpace.SMEM, MemorySpace.TMEM, MemorySpace.REGS


@dataclasses.dataclass(frozen=True)
class SharedMemory:
  """Shared memory in which a ref lies as transforms say."""

  transforms: tuple[Transform, ...]
  union: InUnion | None = None

  is_tilewright_memory_space = True

  def check_ref(self, shape: Sequence[int], dtype: Any, origin: str = "SMEM") -> None:
    """LayoutError says which transform does not fit a ref."""
    try:
      transformed(tuple(shape), 8 * jnp.dtype(dtype).itemsize, self.transforms)  # int4 takes a byte there
    except errors.LayoutError as e:
      raise errors.LayoutError(f"{origin}: {e}") from None

  def shown(self, ref: Any) -> Any:
    """A ref as the body of a kernel gets it: behind what undoes its transforms."""
    return untransformed(self.transforms, ref)

  @property
  def tile_space(self) -> str:
    return space_text(self.transforms, self.union)

  def __str__(self) -> str:
    return self.tile_space


@jax.tree_util.register_pytree_node_class
class Whole(_jax.indexing.NDIndexer):
  """An index of everything, among the `transforms` of a ref, which tell bodies how the ref lies in memory.

  Refs have the shape that the kernel sees, whatever their transforms, so that what undoes a transform changes nothing.
  """

  __slots__ = ("description",)
  is_whole = True  # code generators leave it out

  def __init__(self, shape: tuple[int, ...], description: Any = None):
    super().__init__(tuple(_jax.indexing.Slice(0, size) for size in shape), shape, ())
    self.description = description

  def __repr__(self) -> str:
    return f"{type(self).__name__}({self.description})"

  def tree_flatten(self) -> tuple[tuple[()], Any]:
    return (), (self.shape, self.description)

  @classmethod
  def tree_unflatten(cls, data: Any, _: Any) -> Whole:
    return cls(*data)


@jax.tree_util.register_pytree_node_class
class UntilingTransform(Whole):
  """Undoes a `TilingTransform`."""

  __slots__ = ()
  tiling = property(lambda self: self.description)


@jax.tree_util.register_pytree_node_class
class UntransposeTransform(Whole):
  """Undoes a `TransposeTransform`."""

  __slots__ = ()
  permutation = property(lambda self: self.description)


@jax.tree_util.register_pytree_node_class
class UnswizzleRef(Whole):
  """Undoes a `SwizzleTransform`."""

  __slots__ = ()
  swizzle = property(lambda self: self.description)


def untransformed(transforms: Sequence[Transform], ref: Any) -> Any:
  """A ref, or a view of one, behind what undoes transforms: the last one first."""
  undone: list[Whole] = []
  shape = tuple(ref.shape)
  for own in reversed(transforms):
    match own:
      case Tiling(tiling):
        undone.append(UntilingTransform(shape, tiling))
      case Transpose(permutation):
        undone.append(UntransposeTransform(shape, permutation))
      case Swizzle(swizzle):
        undone.append(UnswizzleRef(shape, swizzle))
  if isinstance(ref, TransformedRef):
    return TransformedRef(ref.ref, (*ref.transforms, *undone))
  return TransformedRef(ref, tuple(undone)) if undone else ref


@dataclasses.dataclass(frozen=True)
class _Accumulator:
  """The memory space of tensor core accumulators: registers."""

  is_tilewright_memory_space = True
  tile_space = ACCUMULATOR

  def __str__(self) -> str:
    return ACCUMULATOR


@dataclasses.dataclass(frozen=True)
class WGMMAAccumulatorRef:
  """An accumulator of matrix products, `ACC((64, 128), jnp.float32)`: a buffer that is read and written as a whole, `acc[...]`, and is
  located in registers, in the accumulator layout of the GPU's tensor cores. It is initially zero: in `plgpu.kernel` and `pl.run_scoped`,
  and among the scratch memory of a `pallas_call` at the first step along its dimensions that are not parallel, unless the body writes it
  first.
  """

  shape: tuple[int, int]
  dtype: Any = jnp.float32
  _init: Any = None

  def __post_init__(self) -> None:
    object.__setattr__(self, "shape", tuple(self.shape))
    object.__setattr__(self, "dtype", jnp.dtype(self.dtype))
    if len(self.shape) != 2:
      raise errors.LayoutError(f"ACC: shape: expected (m, n), got {self.shape}.")

  @staticmethod
  def init(array: Any) -> WGMMAAccumulatorRef:
    """An accumulator that begins with values: `pl.run_state(lambda acc: …)(plgpu.ACC.init(x))` gives what it holds at the end."""
    return WGMMAAccumulatorRef(array.shape, array.dtype, array)

  def get_array_aval(self) -> Any:
    return _jax.core.ShapedArray(self.shape, self.dtype)

  def get_ref_aval(self) -> Any:
    return AbstractRef(self.get_array_aval(), _Accumulator())

  def begin(self, ref: Any) -> None:
    ref[...] = jnp.zeros(self.shape, self.dtype) if self._init is None else self._init


def _first_value(acc: WGMMAAccumulatorRef) -> tuple[Any, Any]:
  return acc.get_ref_aval(), jnp.zeros(acc.shape, acc.dtype) if acc._init is None else acc._init


_jax.register_ref_type(WGMMAAccumulatorRef, _first_value)

ACC = WGMMAAccumulatorRef


@dataclasses.dataclass(frozen=True, init=False)
class RefUnion:
  """Trees of scratch buffers that are not used at the same time: `a, [b, c] = union` in the kernel.

  On GPUs trees share the same memory, in kernels of several warpgroups or with barriers; elsewhere each has its
  own. What was written through one tree must not be read through another.
  """

  refs: tuple[Any, ...]

  def __init__(self, *refs: Any):
    object.__setattr__(self, "refs", refs)
    spaces = {_space(ref) for ref in self._leaves(refs)}
    if spaces not in ({"smem"}, {"tmem"}):
      raise errors.UnsupportedFeatureError(
        f"RefUnion: All aliased Refs must have the same memory space (SMEM or TMEM), got {sorted(spaces) or 'none'}."
      )

  @staticmethod
  def _leaves(tree: Any) -> list[Any]:
    return jax.tree.leaves(tree, is_leaf=lambda x: hasattr(x, "get_ref_aval"))

  @property
  def shape(self) -> tuple[int, ...]:
    """So many bytes of shared memory as the largest tree has, or columns of tensor memory."""
    leaves = [self._leaves(tree) for tree in self.refs]
    if _space(leaves[0][0]) == "tmem":
      return TENSOR_ROWS, max(sum(ref.shape[-1] for ref in own) for own in leaves)
    return (max(sum(-(-math.prod(ref.shape) * width(ref.dtype) // 8) for ref in own) for own in leaves),)

  @property
  def dtype(self) -> Any:
    return jnp.dtype(jnp.int32 if _space(self._leaves(self.refs)[0]) == "tmem" else jnp.int8)


def check_scratch(scratch: Any) -> None:
  """Refuse scratch buffers that take more of tensor memory together than there is; those of a union share memory."""

  def taken(tree: Any) -> tuple[int, list[str]]:
    total = 0
    named: list[str] = []
    for ref in jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, RefUnion) or hasattr(x, "get_ref_aval")):
      if isinstance(ref, RefUnion):
        columns, names = max((taken(own) for own in ref.refs), key=lambda found: found[0])
        total, named = total + columns, named + names
      elif hasattr(ref, "get_ref_aval") and _space(ref) == "tmem":
        columns = _columns(ref.shape, ref.dtype)
        total += columns
        named.append(f"{jnp.dtype(ref.dtype).name}{list(ref.shape)} of {columns} columns")
    return total, named

  total, named = taken(scratch)
  if total > TENSOR_COLUMNS:
    raise errors.ResourceExhaustedError(
      f"TMEM: the scratch buffers {', '.join(named)} exceed available tensor memory: together they take {total} columns of 32 bits, and an "
      f"SM has {TENSOR_COLUMNS}. Use smaller blocks, SMEM, or a RefUnion of those that are not used at the same time."
    )


def _space(ref: Any) -> str:
  space = getattr(ref.get_ref_aval(), "memory_space", None)
  return "smem" if isinstance(space, SharedMemory) else str(space)


def _numbered(union: RefUnion) -> tuple[Any, ...]:
  """The trees, whose buffers in shared memory know their place in the union."""
  every = RefUnion._leaves(union.refs)
  if _space(every[0]) != "smem":
    return union.refs
  numbers = iter(range(len(every)))

  def placed(ref: Any, tree: int) -> MemoryRef:
    own = ref.memory_space.transforms if isinstance(ref.memory_space, SharedMemory) else ()
    return dataclasses.replace(ref, memory_space=SharedMemory(own, InUnion(tree, next(numbers), len(every))))

  is_ref = lambda x: hasattr(x, "get_ref_aval")
  return tuple(
    jax.tree.map(lambda ref, tree=tree: placed(ref, tree), own, is_leaf=is_ref) for tree, own in enumerate(union.refs)
  )


jax.tree_util.register_pytree_node(RefUnion, lambda union: (_numbered(union), None), lambda _, refs: tuple(refs))


class TMEMLayout(enum.Enum):
  """How scales and the like would lie in tensor memory. It is ordinary memory here, so that these mean nothing."""

  SCALES_LAYOUT = enum.auto()
  SPARSE_METADATA_LAYOUT = enum.auto()
  M64_COLLECTIVE_LAYOUT = enum.auto()
  SCALES_M64_COLLECTIVE_LAYOUT = enum.auto()


def transpose_ref(ref: Any, permutation: Sequence[int]) -> Any:
  """A view of a ref with its dimensions in another order."""
  return ref.transpose(tuple(permutation))


def transform_ref(ref: Any, transforms: Transform | Sequence[Transform]) -> Any:
  """A view of a ref as transforms show it, one after another: its dimensions in another order (`TransposeTransform`), or cut into tiles
  (`TilingTransform`): of shape (64, 64) by (8, 64), one of shape (8, 1, 8, 64). A swizzle changes no element's index."""
  for own in (transforms,) if isinstance(transforms, Transform) else tuple(transforms):
    match own:
      case Transpose():
        ref = ref.transpose(tuple(own.permutation))
      case Tiling():
        ref = _tiled_view(ref, own.tiling)
      case Swizzle():
        pass
      case _:
        raise errors.LayoutError(f"plgpu.transform_ref: transforms: expected plgpu's transforms, got {own!r}.")
  return ref


def _tiled_view(ref: Any, tile: Sequence[int]) -> Any:
  shape, rank = tuple(ref.shape), len(tile)
  lead, last = shape[: len(shape) - rank], shape[len(shape) - rank :]
  if len(shape) < rank or any(n % t for n, t in zip(last, tile)):
    raise errors.LayoutError(f"plgpu.transform_ref: a tiling {tuple(tile)} does not divide a ref of shape {shape}.")
  split = [part for n, t in zip(last, tile) for part in (n // t, t)]
  outer = [len(lead) + 2 * k for k in range(rank)]
  order = (*range(len(lead)), *outer, *(k + 1 for k in outer))
  return ref.reshape((*lead, *split)).transpose(order)

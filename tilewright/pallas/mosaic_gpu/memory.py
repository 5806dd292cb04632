"""The memories of a GPU, by name, and what a ref says about how it lies there.

`SMEM((64, 64), jnp.bfloat16, transforms=[…])` describes a buffer in shared memory that is tiled and swizzled as the transforms say, and
`ACC((64, 64))` one in the registers of the tensor cores.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tilewright import errors
from tilewright.layout.transforms import Transform, transformed
from tilewright.runtime import _jax
from tilewright.target.nvgpu.hints import ACCUMULATOR, SHARED_MEMORY, space_text
from tilewright.tile.memory import AbstractRef, MemoryRef, memory_ref


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
    """Memory of a block of threads. `transforms` are for SMEM; `packed`, `collective` and `layout` for TMEM, where they mean nothing."""
    if self is MemorySpace.REGS:
      raise errors.UnsupportedFeatureError(
        "REGS: registers cannot be allocated by kernels. Use a tile, SMEM, or ACC for what products are added up in."
      )
    if self is not MemorySpace.TMEM and any(given is not None for given in (packed, collective, layout)):
      raise errors.MemorySpaceError(f"packed, collective and layout are for TMEM, got them for {self.name}.")
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


GMEM, SMEM, TMEM, REGS = MemorySpace.GMEM, MemorySpace.SMEM, MemorySpace.TMEM, MemorySpace.REGS


@dataclasses.dataclass(frozen=True)
class SharedMemory:
  """Shared memory in which a ref lies as transforms say."""

  transforms: tuple[Transform, ...]

  is_tilewright_memory_space = True

  def check_ref(self, shape: Sequence[int], dtype: Any, origin: str = "SMEM") -> None:
    """LayoutError says which transform does not fit a ref."""
    try:
      transformed(tuple(shape), 8 * jnp.dtype(dtype).itemsize, self.transforms)
    except errors.LayoutError as e:
      raise errors.LayoutError(f"{origin}: {e}") from None

  @property
  def tile_space(self) -> str:
    return space_text(self.transforms)

  def __str__(self) -> str:
    return self.tile_space


@dataclasses.dataclass(frozen=True)
class _Accumulator:
  """The registers in which tensor cores add up products."""

  is_tilewright_memory_space = True
  tile_space = ACCUMULATOR

  def __str__(self) -> str:
    return ACCUMULATOR


@dataclasses.dataclass(frozen=True)
class WGMMAAccumulatorRef:
  """An accumulator of matrix products, `ACC((64, 128), jnp.float32)`: a buffer that is read and written as a whole, `acc[...]`, and that
  lies in registers, laid out as the tensor cores of the GPU add up products. It begins as zero in `plgpu.kernel` and `pl.run_scoped`;
  among the scratch memory of a `pallas_call`, which goes from one instance to the next, without values.
  """

  shape: tuple[int, int]
  dtype: Any = jnp.float32

  def __post_init__(self) -> None:
    object.__setattr__(self, "shape", tuple(self.shape))
    object.__setattr__(self, "dtype", jnp.dtype(self.dtype))
    if len(self.shape) != 2:
      raise errors.LayoutError(f"ACC: shape: expected (m, n), got {self.shape}.")

  def get_array_aval(self) -> Any:
    return _jax.core.ShapedArray(self.shape, self.dtype)

  def get_ref_aval(self) -> Any:
    return AbstractRef(self.get_array_aval(), _Accumulator())

  def begin(self, ref: Any) -> None:
    ref[...] = jnp.zeros(self.shape, self.dtype)


ACC = WGMMAAccumulatorRef


def RefUnion(*refs: Any) -> tuple[Any, ...]:
  """Trees of scratch buffers that are not used at the same time: `a, [b, c] = union` in the kernel. Each has memory of its own here."""
  return refs


def transpose_ref(ref: Any, permutation: Sequence[int]) -> Any:
  """A view of a ref with its dimensions in another order."""
  return ref.transpose(tuple(permutation))

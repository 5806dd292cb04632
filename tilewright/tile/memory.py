"""Memory spaces, semaphores, and the types of scratch memory.

A memory space called with a shape and a dtype describes an allocation: `VMEM((8, 128), jnp.float32)`. A semaphore is an
array of counters with a dtype of its own, so that it can be neither read nor written as numbers.
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
from tilewright.runtime import _jax

AbstractRef = _jax.state_types.AbstractRef


class semaphore_dtype(jax.dtypes.extended):
  """Scalar type above all kinds of semaphores, for `jnp.issubdtype`; never instantiated."""


class semaphore(semaphore_dtype):
  """Scalar type of a regular semaphore: a counter that is signalled and waited for."""


class barrier_semaphore(semaphore_dtype):
  """Scalar type of the semaphore on which the devices of one collective kernel meet."""


class dma_semaphore(semaphore_dtype):
  """Scalar type of a semaphore that counts the bytes of finished asynchronous copies."""


class block_barrier(semaphore_dtype):
  """Scalar type of a barrier on which the warpgroups of a block meet."""


class _SemaphoreRules:
  """What JAX asks of an extended dtype: how it is stored."""

  @staticmethod
  def physical_element_aval(dtype: Any) -> Any:
    return _jax.core.ShapedArray((), jnp.dtype("int32"))

  @staticmethod
  def global_sharded_result_handler(aval: Any, out_sharding: Any, committed: bool) -> Any:
    raise errors.UnsupportedFeatureError(
      "A compiled program returns a semaphore, which exists only between the kernels of one program. Call the kernel that gives "
      "it and the one that "
      "takes it in one function under jax.jit."
    )


@dataclasses.dataclass(frozen=True)
class _SemaphoreDType(_jax.dtypes.ExtendedDType):
  _rules = _SemaphoreRules
  itemsize = 4
  name = "semaphore"
  scalar = semaphore_dtype

  @property
  def type(self) -> type:
    return self.scalar

  def __repr__(self) -> str:
    return self.name

  __str__ = __repr__


class RegularSemaphore(_SemaphoreDType):
  name, scalar = "semaphore", semaphore


class BarrierSemaphore(_SemaphoreDType):
  name, scalar = "barrier_semaphore", barrier_semaphore


class DMASemaphore(_SemaphoreDType):
  name, scalar = "dma_sem", dma_semaphore


@dataclasses.dataclass(frozen=True)
class BlockBarrier(_SemaphoreDType):
  """A barrier of warpgroups: a phase of it ends with so many arrivals, from each block of a cluster along some axes."""

  arrivals: int = 1
  axes: tuple[str, ...] = ()
  of_leader: bool = False  # they all arrive at the barrier of the first block
  # Whether it says only that what collective copies fill is free: where each block copies for itself, each has a barrier of its own
  guards_copies: bool = False

  name, scalar = "barrier", block_barrier

  def __repr__(self) -> str:
    return f"barrier({self.arrivals})"

  __str__ = __repr__


def is_semaphore(dtype: Any) -> bool:
  return isinstance(dtype, _SemaphoreDType)


def bytes_per_element(dtype: Any) -> int:
  """How many bytes a copy counts for an element: at least one, and for a PRNG key those of its words."""
  if isinstance(dtype, _jax.prng.KeyTy):
    return 4 * math.prod(dtype._impl.key_shape)
  return max(1, jnp.dtype(dtype).itemsize)


@dataclasses.dataclass(frozen=True)
class MemoryRef:
  """Like `jax.ShapeDtypeStruct`, with a memory space: the type of a ref that is yet to be allocated."""

  inner_aval: Any
  memory_space: Any

  @property
  def shape(self) -> tuple[int, ...]:
    return self.inner_aval.shape

  @property
  def dtype(self) -> Any:
    return self.inner_aval.dtype

  @property
  def ndim(self) -> int:
    return len(self.shape)

  @property
  def transforms(self) -> tuple[Any, ...]:
    """The layout transforms of the ref, if its memory space has any."""
    return getattr(self.memory_space, "transforms", ())

  def get_array_aval(self) -> Any:
    return self.inner_aval

  def get_ref_aval(self) -> Any:
    return AbstractRef(self.inner_aval, getattr(self.memory_space, "space", self.memory_space))

  def __matmul__(self, mesh: Any) -> MemoryRef:
    return MemoryRef(self.inner_aval, CoreMemorySpace(self.memory_space, mesh))

  def __repr__(self) -> str:
    return f"MemoryRef(inner_aval={self.inner_aval!r}, memory_space={self.memory_space!r})"


def memory_ref(shape: Sequence[int], dtype: Any, memory_space: Any) -> MemoryRef:
  if isinstance(shape, int):
    shape = (shape,)
  if any(isinstance(d, float | str) or (isinstance(d, int) and d < 0) for d in shape):
    raise errors.MemorySpaceError(f"{memory_space}: the shape of memory must be ints of 0 or more, got {tuple(shape)}.")
  if not isinstance(dtype, _jax.dtypes.ExtendedDType):
    try:
      dtype = jnp.dtype(dtype)
    except TypeError as e:
      raise errors.KernelTypeError(f"{memory_space}: {dtype!r} is not a dtype. Give one such as jnp.float32.") from e
  return MemoryRef(_jax.core.ShapedArray(tuple(shape), dtype), memory_space)


@dataclasses.dataclass(frozen=True)
class CoreMemorySpace:
  """A memory of the cores of one mesh, `VMEM @ mesh`, among several meshes that a kernel runs on."""

  space: Any
  mesh: Any

  def __post_init__(self) -> None:
    if self.space not in getattr(self.mesh, "supported_memory_spaces", ()):
      raise errors.MemorySpaceError(f"The memory space {self.space} is not one of the cores of {self.mesh!r}.")

  def __call__(self, shape: Sequence[int], dtype: Any) -> MemoryRef:
    return memory_ref(shape, dtype, self)

  def __str__(self) -> str:
    return f"{self.space}@{self.mesh.core_type}"


class _Space(enum.Enum):
  """What the members of every memory-space enum share: printing, and being called to describe an allocation."""

  def __matmul__(self, mesh: Any) -> CoreMemorySpace:
    return CoreMemorySpace(self, mesh)

  def __str__(self) -> str:
    return self.value

  def __call__(self, shape: Sequence[int], dtype: Any) -> MemoryRef:
    return memory_ref(shape, dtype, self)

  @property
  def memory_kind(self) -> str:
    """What XLA calls the memory in which an array of this space is."""
    return "pinned_host" if self.name == "HOST" else "device"

  def from_type(self, ty: Any) -> MemoryRef:
    return MemoryRef(ty, self)

  def like(self, shape_dtype_like: Any) -> MemoryRef:
    """Memory for what has this shape and dtype."""
    return self(shape_dtype_like.shape, shape_dtype_like.dtype)


class MemorySpace(_Space):
  """Memory spaces that every target knows. Each target maps them to its own memories."""

  ANY = "any"  # wherever the array already is
  ERROR = "error"  # the checkify error state
  INDEX = "index"  # scalars known before the kernel starts
  KEY = "key"  # PRNG keys
  HOST = "host"  # the host's memory
  DEFAULT = "default"  # the target's fastest memory for blocks


class TpuMemorySpace(_Space):
  """The memories a TPU kernel names. Off a TPU they say how far a ref is shared: a core, a device, everyone."""

  VMEM = "vmem"
  VMEM_SHARED = "vmem_shared"
  SMEM = "smem"
  CMEM = "cmem"
  HBM = "hbm"
  SEMAPHORE = "semaphore_mem"
  HOST = "host"

  def __repr__(self) -> str:
    return self.name


# Memories that the cores of a device share.
SHARED_SPACES = (MemorySpace.ANY, MemorySpace.HOST, TpuMemorySpace.HBM, TpuMemorySpace.HOST, TpuMemorySpace.VMEM_SHARED)


class SemaphoreType(enum.Enum):
  """Kinds of semaphores. Used as a scratch type, bare or called with a shape."""

  REGULAR = "regular"
  DMA = "dma"
  BARRIER = "barrier"

  def __matmul__(self, mesh: Any) -> MemoryRef:
    return self(()) @ mesh

  def __call__(self, shape: Sequence[int]) -> MemoryRef:
    dtype = {"regular": RegularSemaphore, "dma": DMASemaphore, "barrier": BarrierSemaphore}[self.value]()
    return memory_ref(tuple(shape), dtype, TpuMemorySpace.SEMAPHORE)

  def get_array_aval(self) -> Any:
    return self(()).get_array_aval()

  def get_ref_aval(self) -> Any:
    return self(()).get_ref_aval()

  @property
  def dtype(self) -> Any:
    return self(()).dtype

  @property
  def shape(self) -> tuple[int, ...]:
    return ()

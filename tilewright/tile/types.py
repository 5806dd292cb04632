"""Types of the tile IR.

A tile is a small array value; with no dimensions it is a scalar. A ref is a view of memory: where it lives, its shape, and how far
apart in memory (in elements) its neighbours are. Semaphores are counters, which can only be signalled and waited for.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

ACCUMULATOR = "acc"  # the memory of accumulators


@dataclasses.dataclass(frozen=True)
class TileType:
  """A value: shape and dtype."""

  shape: tuple[int, ...]
  dtype: np.dtype

  @property
  def rank(self) -> int:
    return len(self.shape)

  @property
  def size(self) -> int:
    return math.prod(self.shape)

  @property
  def is_scalar(self) -> bool:
    return not self.shape

  @property
  def nbytes(self) -> int:
    return self.size * self.dtype.itemsize

  def with_shape(self, shape: tuple[int, ...]) -> TileType:
    return TileType(tuple(shape), self.dtype)

  def with_dtype(self, dtype: np.dtype | type) -> TileType:
    return TileType(self.shape, np.dtype(dtype))

  def __str__(self) -> str:
    return "x".join([*map(str, self.shape), dtype_name(self.dtype)])


@dataclasses.dataclass(frozen=True)
class RefType:
  """A view of memory. Strides are in elements."""

  shape: tuple[int, ...]
  dtype: np.dtype
  space: str
  strides: tuple[int, ...]

  @property
  def rank(self) -> int:
    return len(self.shape)

  @property
  def size(self) -> int:
    return math.prod(self.shape)

  @property
  def is_accumulator(self) -> bool:
    """Whether it is an accumulator of products, which is private to a warpgroup."""
    return self.space == ACCUMULATOR

  @property
  def tile(self) -> TileType:
    """What a load of the whole view gives."""
    return TileType(self.shape, self.dtype)

  @property
  def is_dense(self) -> bool:
    return self.strides == dense_strides(self.shape)

  def __str__(self) -> str:
    body = "x".join([*map(str, self.shape), dtype_name(self.dtype)])
    strides = "" if self.is_dense else f", strides={list(self.strides)}"
    return f"ref<{body}, {self.space}{strides}>"


@dataclasses.dataclass(frozen=True)
class SemaphoreArrayType:
  """An array of counters of one kind. With `arrivals`, they are barriers: a phase of each ends after that many arrivals, from each of
  `ctas` CTAs of a cluster."""

  shape: tuple[int, ...]
  kind: str
  arrivals: int = 0
  ctas: int = 1

  def __str__(self) -> str:
    arrivals = f", arrivals={self.arrivals}" if self.arrivals else ""
    arrivals += f", ctas={self.ctas}" if self.ctas > 1 else ""
    return f"semaphore<{'x'.join([*map(str, self.shape), self.kind])}{arrivals}>"


Type: TypeAlias = TileType | RefType | SemaphoreArrayType


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
  """Strides of a dense row-major array."""
  return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


# Short names, as in HLO and LLVM: the kind of number, then its width.
_SHORT = {
  "bool": "i1",
  "bfloat16": "bf16",
  "float16": "f16",
  "float32": "f32",
  "float64": "f64",
  "complex64": "c64",
  "complex128": "c128",
}
_LONG = {short: long for long, short in _SHORT.items()}


def dtype_name(dtype: np.dtype) -> str:
  name = np.dtype(dtype).name
  if name in _SHORT:
    return _SHORT[name]
  if name.startswith("uint"):
    return "u" + name[4:]
  if name.startswith("int"):
    return "s" + name[3:]
  return name.replace("float", "f")


def dtype_named(name: str) -> np.dtype:
  """The dtype with a short name."""
  if name in _LONG:
    return np.dtype(getattr(jnp, _LONG[name] + ("_" if name == "i1" else "")))
  if name[0] in "us" and name[1:].isdigit() and hasattr(jnp, "uint" + name[1:]):
    return np.dtype(getattr(jnp, ("uint" if name[0] == "u" else "int") + name[1:]))
  if name[0] == "f" and hasattr(jnp, "float" + name[1:]):
    return np.dtype(getattr(jnp, "float" + name[1:]))
  raise ValueError(f"{name!r} is not the name of a dtype")


def scalar(dtype: np.dtype | type) -> TileType:
  return TileType((), np.dtype(dtype))


INDEX = scalar(np.int32)
BOOL = scalar(np.bool_)

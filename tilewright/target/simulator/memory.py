"""The memory of the simulated machine: buffers and semaphores, by name.

A memory is named by (device, core, key). Devices run the same program, so the same key on another device is the same variable
of the kernel there: that is how a copy or a signal finds its way. Memory shared by the cores of a device has the core None.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import errors
from tilewright.runtime import _jax
from tilewright.target.simulator import clocks, indexing
from tilewright.target.simulator.options import Options
from tilewright.target.xla.refs import poison_value
from tilewright.tile.memory import bytes_per_element, is_semaphore


@dataclasses.dataclass(frozen=True)
class Address:
  """Where a memory is: on which device, of which core (None if its cores share it), under which name."""

  device: int
  core: int | None
  key: Hashable


@dataclasses.dataclass(frozen=True)
class Part:
  """The name of one element of a batched array that is used in place: the array's name, and an index in each squeezed dimension."""

  whole: Hashable
  at: tuple[int | None, ...]


def is_key(dtype: Any) -> bool:
  return bool(jnp.issubdtype(dtype, jax.dtypes.prng_key))


@dataclasses.dataclass(eq=False)
class Buffer:
  """A ref: an array in the machine's memory. Keys of random numbers are kept as their bits."""

  address: Address
  aval: Any
  array: np.ndarray
  label: str
  fill: Any
  history: clocks.History | None = None

  @property
  def dtype(self) -> Any:
    return self.aval.dtype

  @property
  def shape(self) -> tuple[int, ...]:
    return tuple(self.aval.shape)

  def __str__(self) -> str:
    where = f"device {self.address.device}" + (f", core {self.address.core}" if self.address.core is not None else "")
    return f"{self.label} ({where})"

  def read(self, transforms: Sequence[Any]) -> Any:
    found = indexing.read(self.array, transforms, self.fill)
    return _jax.prng.random_wrap(found, impl=self.dtype._impl) if is_key(self.dtype) else found

  def write(self, transforms: Sequence[Any], new: Any, mask: Any = None) -> None:
    """Put `new` where the transforms point; where integer indices repeat, what a mask leaves out does not count."""
    values = jax.random.key_data(new) if is_key(self.dtype) else np.asarray(new)
    elements = None if mask is None or is_key(self.dtype) else indexing.elements_of(self.array.shape, transforms)
    if elements is None:
      indexing.write(self.array, transforms, values)
    else:
      chosen = np.asarray(mask) & (elements >= 0)
      self.array[np.unravel_index(elements[chosen], self.array.shape)] = np.broadcast_to(values, chosen.shape)[chosen]


@dataclasses.dataclass(eq=False)
class Semaphores:
  """An array of counters, with the clocks of those who signalled them and the copies that are going to."""

  address: Address
  aval: Any
  counts: np.ndarray
  label: str
  clocks: dict[int, np.ndarray] = dataclasses.field(default_factory=dict)
  pending: dict[int, list[Any]] = dataclasses.field(default_factory=dict)
  # Of barriers: how many phases an agent has waited for, by agent, number of the barrier, and warp if it is one.
  phases: dict[tuple[int, int, int | None], int] = dataclasses.field(default_factory=dict)
  # And the axes of a cluster along which the first block waits for the arrivals of all, by number of the barrier.
  leader_axes: dict[int, tuple[Any, ...]] = dataclasses.field(default_factory=dict)

  @property
  def dtype(self) -> Any:
    return self.aval.dtype

  @property
  def shape(self) -> tuple[int, ...]:
    return tuple(self.aval.shape)

  @property
  def array(self) -> np.ndarray:
    """The counts, as a program around the kernel has them."""
    return self.counts.astype(np.int32)

  @property
  def is_result(self) -> bool:
    key = self.address.key.whole if isinstance(self.address.key, Part) else self.address.key
    return isinstance(key, tuple) and key[0] == "output"

  def position(self, transforms: Sequence[Any], where: str) -> int:
    """The number of the one semaphore that the transforms pick."""
    found = indexing.elements_of(self.counts.shape, transforms)
    if found is None or found.size != 1 or int(found.reshape(-1)[0]) < 0:
      raise errors.OutOfBoundsError(
        f"{where}: {self.label}{indexing.describe(transforms)} is outside of the semaphore array of shape {self.counts.shape}."
      )
    return int(found.reshape(-1)[0])

  def name(self, position: int) -> str:
    index = "" if self.counts.ndim == 0 else str([int(i) for i in np.unravel_index(position, self.counts.shape)])
    where = f"device {self.address.device}" + (f", core {self.address.core}" if self.address.core is not None else "")
    return f"{self.label}{index} ({where})"


def uninitialized_value(dtype: Any, options: Options) -> Any:
  if options.uninitialized_memory == "zero" or is_key(dtype):
    return 0
  if jnp.issubdtype(dtype, jnp.integer):
    return np.asarray(jnp.iinfo(dtype).max).astype(dtype)  # as the documentation of InterpretParams says
  return np.asarray(poison_value(dtype)).astype(dtype)


def allocate(address: Address, aval: Any, label: str, options: Options, initial: Any = None) -> Buffer | Semaphores:
  """A fresh memory: semaphores at zero, buffers with `initial` or with what uninitialised memory holds."""
  shape = tuple(int(d) for d in aval.shape)
  if is_semaphore(aval.dtype):
    counts = np.zeros(shape, np.int64) if initial is None else np.array(initial, np.int64)
    return Semaphores(address, aval, counts, label)
  fill = uninitialized_value(aval.dtype, options)
  if initial is not None:
    return Buffer(address, aval, np.array(initial), label, fill)
  if is_key(aval.dtype):
    bits = _jax.core.physical_aval(_jax.core.ShapedArray(shape, aval.dtype))
    return Buffer(address, aval, np.zeros(bits.shape, bits.dtype), label, fill)
  return Buffer(address, aval, np.full(shape, fill, aval.dtype), label, fill)


def part(address: Address, whole: Buffer | Semaphores, aval: Any) -> Buffer | Semaphores:
  """The memory that an element of a batched array is."""
  assert isinstance(address.key, Part)
  at = tuple(slice(None) if i is None else i for i in address.key.at) + (...,)  # never a copy
  if isinstance(whole, Semaphores):
    return Semaphores(address, aval, whole.counts[at], whole.label)
  return Buffer(address, aval, whole.array[at], whole.label, whole.fill)


def padded_shape(shape: Sequence[int], dtype: Any) -> tuple[int, ...]:
  """The shape rounded up to the tiles in which vector memory holds an array: 128 lanes, 32 bytes of rows."""
  if not shape:
    return ()
  itemsize = max(1, np.dtype(dtype).itemsize) if not is_key(dtype) else 4
  tiles = [1] * (len(shape) - 2) + [max(1, 32 // itemsize)] * (len(shape) > 1) + [128]
  return tuple(math.ceil(d / t) * t for d, t in zip(shape, tiles))


def resolve(view: Any) -> tuple[Any, tuple[Any, ...]]:
  """The memory under a view, and the transforms on the way to it; of several refs, the one that is chosen."""
  if isinstance(view, Buffer | Semaphores):
    return view, ()
  if view.multiref:
    base, transforms = resolve(view.ref[int(view.transforms[0].idx)])
    return base, transforms
  base, transforms = resolve(view.ref)
  return base, (*transforms, *view.transforms)


def size_in_bytes(view: Any) -> int:
  """How many bytes a view shows."""
  found, transforms = resolve(view)
  dtype = next((t.dtype for t in reversed(transforms) if isinstance(t, _jax.state_types.BitcastTransform)), found.dtype)
  shown = indexing.shape_of(found.shape, np.bool_ if is_key(found.dtype) else found.dtype, transforms)
  return num_bytes(shown, dtype)


def num_bytes(shape: Sequence[int], dtype: Any) -> int:
  return math.prod(shape) * bytes_per_element(dtype)

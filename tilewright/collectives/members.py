"""What kernels of collectives know of the members of their group, and how they reduce."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tilewright import pallas as pl
from tilewright.collectives.groups import Table
from tilewright.pallas import remote, semaphores
from tilewright.tile.formats import width as bits_of

LOGICAL = semaphores.DeviceIdType.LOGICAL
OPS: dict[str, Callable[[Any, Any], Any]] = {
  "sum": jnp.add,
  "max": jnp.maximum,
  "min": jnp.minimum,
  "and": jnp.bitwise_and,
  "or": jnp.bitwise_or,
}
_UNROLLED = 16  # members of a group whose inputs are read in one loop


def wide(dtype: Any, op: str) -> Any:
  """What a reduction is computed in: float32 for smaller floats, int32 for integers of less than a byte."""
  dtype = np.dtype(dtype)
  if jnp.issubdtype(dtype, jnp.floating) and dtype.itemsize < 4:
    return jnp.float32
  return jnp.int32 if jnp.issubdtype(dtype, jnp.integer) and bits_of(dtype) < 8 else dtype


class Member:
  """The devices of this one's group, as a kernel sees them."""

  def __init__(self, table_ref: Any, table: Table):
    self.table = table
    me = semaphores.own_device_id(semaphores.device_axes())
    self.row = table_ref.at[me]
    self.rank = jnp.clip(self.row[table.width + 1], 0, table.width - 1)  # so that the compiler knows its range
    self.size = table.sizes[0] if table.is_even else self.row[table.width]

  @property
  def is_unrolled(self) -> bool:
    return self.table.is_even and self.table.width <= _UNROLLED

  def number(self, rank: Any) -> Any:
    return self.row[rank]

  def refs(self, ref: Any) -> Callable[[Any], Any]:
    """From a rank to that member's ref, found before loops where there are few."""
    of = lambda rank: remote.remote_ref(ref, self.number(rank), LOGICAL)
    return [of(rank) for rank in range(self.table.width)].__getitem__ if self.is_unrolled else of

  def each(self, body: Callable[[Any], None]) -> None:
    """For each member of the group."""
    if self.is_unrolled:
      for rank in range(self.table.width):
        body(rank)
    else:
      pl.loop(0, self.size)(body)

  def reduced(self, part: Callable[[Any], Any], op: str) -> Any:
    """What all members have, combined in order of their ranks."""
    if self.is_unrolled:
      return functools.reduce(OPS[op], [part(rank) for rank in range(self.table.width)])
    return lax.fori_loop(1, self.size, lambda rank, total: OPS[op](total, part(rank)), part(0))

  def rows_of_member(self, count: int) -> tuple[Any, Any]:
    """The rows from one to another that this member works on."""
    return self.rank * count // self.size, (self.rank + 1) * count // self.size

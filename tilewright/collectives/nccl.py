"""NCCL by way of nccl4py: communicators of processes, and splits of them.

    unique = nccl.get_unique_id()                     # in one process; sent to the others, by jax.distributed say
    everyone = nccl.init(processes, rank, unique)
    mine = everyone.split(color=rank % 2, key=rank)   # None for a process that is in no part
    everyone.all_reduce(x, y)

Arrays are of JAX, on the process's GPU. Names and arguments are those of nccl4py 0.6. What the
installed version lacks (symmetric windows, registration) is an error that says so. Needs
the extra `tilewright[nccl]`, and more than one GPU to be of use; it was not run on several.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tilewright import errors
from tilewright.collectives import engines

_OPS = {"sum": "SUM", "max": "MAX", "min": "MIN"}


def get_unique_id() -> Any:
  """What the processes of a communicator must agree on."""
  module = engines.require("nccl")
  return engines.require_member(module, "get_unique_id", "nccl")()


def init(ranks: int, rank: int, unique_id: Any) -> Communicator:
  """A communicator of so many processes, of which this is one. All call it."""
  if not 0 <= rank < ranks:
    raise errors.CollectiveError(f"collectives.nccl.init: rank {rank} is outside of {ranks} ranks.")
  module = engines.require("nccl")
  make = engines.require_member(module, "Communicator.init", "nccl")
  return Communicator(make(nranks=ranks, rank=rank, unique_id=unique_id), ranks, rank)


@dataclasses.dataclass(frozen=True)
class Communicator:
  """A communicator of NCCL."""

  handle: Any
  ranks: int
  rank: int

  def split(self, color: int | None, key: int = 0) -> Communicator | None:
    """The part of the processes with this color, in order of their keys; None for a process whose color is None, which all may be."""
    engines.require("nccl")
    part = _member(self.handle, "split")(color, key)
    if color is None:
      return None  # what NCCL gives is a communicator of nobody
    return Communicator(part, int(part.nranks), int(part.rank))

  def all_reduce(self, send: Any, receive: Any, op: str = "sum", stream: Any = None) -> None:
    """Combine `send` of all into `receive`. They may be the same array."""
    if op not in _OPS:
      raise errors.CollectiveError(f"collectives.nccl: op: expected one of {sorted(_OPS)}, got {op!r}.")
    combine = engines.require_member(engines.require("nccl"), _OPS[op], "nccl")
    _member(self.handle, "allreduce")(send, receive, combine, stream=stream)

  def register(self, array: Any) -> Any:
    """Let NCCL use an array's memory without a copy of its own. The handle keeps the registration."""
    return _member(self.handle, "register_buffer")(array)

  def window(self, array: Any) -> Any:
    """Make an array's memory part of a symmetric window. All call it."""
    return _member(self.handle, "register_window")(array)

  def close(self) -> None:
    _member(self.handle, "destroy")()


def _member(handle: Any, name: str) -> Any:
  found = getattr(handle, name, None)
  if found is None:
    raise engines.EngineError(
      f"tilewright.collectives.nccl: a communicator of nccl4py {engines.version('nccl')} has no {name}. Install a newer version."
    )
  return found

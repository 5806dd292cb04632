"""NVSHMEM by way of nvshmem4py: memory that every process has at the same place.

    nvshmem.init(rank, ranks, unique_id)       # unique_id from nvshmem.get_unique_id() of rank 0
    buffer = nvshmem.buffer(1 << 20)           # bytes, on every process; collective
    theirs = nvshmem.peer(buffer, rank)        # the same memory of another one
    nvshmem.barrier()
    nvshmem.free(buffer)                       # collective; before close

Names and arguments are those of nvshmem4py 0.4. Needs the extra `tilewright[nvshmem]`, NVSHMEM's own library and a GPU; it was not run on
one.
"""

from __future__ import annotations

import importlib
from typing import Any

from tilewright import errors
from tilewright.collectives import engines


def _function(path: str) -> Any:
  return engines.require_member(engines.require("nvshmem"), path, "nvshmem")


def get_unique_id() -> Any:
  """What the processes must agree on: made by one, sent to the others."""
  return _function("get_unique_id")()


def init(rank: int, ranks: int, unique_id: Any, device: Any = None) -> None:
  """Join so many processes as one of them. All call it. `device` is a `cuda.core.Device`, or the current one."""
  if not 0 <= rank < ranks:
    raise errors.CollectiveError(f"collectives.nvshmem.init: rank {rank} is outside of {ranks} ranks.")
  _function("init")(device=device, uid=unique_id, rank=rank, nranks=ranks, initializer_method="uid")


def rank() -> int:
  return int(_function("my_pe")())


def ranks() -> int:
  return int(_function("n_pes")())


def buffer(nbytes: int) -> Any:
  """Symmetric memory of so many bytes. All call it."""
  return _function("buffer")(nbytes)


def peer(memory: Any, rank: int) -> Any:
  """The memory that `memory` is on another process, if it is mapped here."""
  return _function("get_peer_buffer")(memory, rank)


def free(memory: Any) -> None:
  """Give symmetric memory back. All call it, before `close`."""
  _function("free")(memory)


def barrier(stream: Any = None) -> None:
  """Wait for all processes: on a stream (a `cuda.core.Stream`), or here, if there is none."""
  own = importlib.import_module("cuda.core").Device().default_stream if stream is None else stream
  _function("barrier")(_function("Teams.TEAM_WORLD"), own)
  if stream is None:
    own.sync()


def close() -> None:
  _function("finalize")()

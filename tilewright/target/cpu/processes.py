"""Shared memory between the processes of one host whose devices communicate, and the detection of a process that ends.

    world = processes.world_of((0, 1, 2, 3))       # in each of them, when it lowers a program that communicates; None with one process

The processes coordinate through the key-value store of `jax.distributed`. The first creates a segment (`segments`) at an address that is
free in all of them, the others map it, and all report the result: either every process maps the memory, or none uses it. It begins with a
domain (`rendezvous_layout`), followed by its heaps: that of the rendezvous, and one for each process.

A thread in each process sleeps until another process ends, which the OS reports at once (pidfd). It marks the domain as broken: all waits
end, and calls in progress fail with an error that names the process.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import json
import os
import zlib
from collections.abc import Callable
from typing import Any

import jax

from tilewright.runtime import meeting, segments
from tilewright.runtime.meeting import Exchange, NotSharedError
from tilewright.target.cpu import rendezvous_layout

_MEETINGS_BYTES = 1 << 28
_FIRST_ADDRESS, _STEP, _PLACES = 1 << 44, 1 << 40, 64  # far from heaps, libraries and stacks
_NOTHING = "nothing"
_ROUNDS = 4  # addresses that are tried
_FULL = (
  "UnsupportedFeatureError: The memory that processes share is full. Run fewer kernels at once that access other devices, or pass "
  "smaller arrays."
)


@dataclasses.dataclass(frozen=True)
class World:
  """The processes that share a domain, and its address."""

  processes: tuple[int, ...]
  own: int
  domain: int
  pids: tuple[int, ...]

  @property
  def heap(self) -> int:
    """Where this process's heap is, behind the domain's start."""
    return _heap(self.own)

  @property
  def ended(self) -> str:
    """The message about a process that has ended; empty while all are running."""
    if not ctypes.c_int64.from_address(self.domain + rendezvous_layout.BROKEN).value:
      return ""
    return ctypes.string_at(self.domain + rendezvous_layout.ENDED_MESSAGE).decode(errors="replace")

  def watch(self) -> None:
    """Mark the domain when a process ends."""
    meeting.watch({n: pid for n, pid in zip(self.processes, self.pids) if n != self.own}, self._broken)

  def _broken(self, number: int, pid: int) -> None:
    text = (
      f"DeadlockError: Process {number} (pid {pid}) has ended, and the others cannot go on without it. Look at its own output for the "
      "reason, and start all processes again."
    )
    if not ctypes.c_int64.from_address(self.domain + rendezvous_layout.BROKEN).value:
      _write_text(self.domain + rendezvous_layout.ENDED_MESSAGE, text)
      ctypes.c_int64.from_address(self.domain + rendezvous_layout.BROKEN).value = 1


def _write_text(address: int, text: str) -> None:
  raw = text.encode()[: rendezvous_layout.ENDED_MESSAGE_BYTES - 1] + b"\0"
  ctypes.memmove(address, raw, len(raw))


def of_program(program: Any) -> tuple[int, ...]:
  """The processes whose devices run a program, given JAX's context of its module."""
  if jax.process_count() == 1 or program is None:
    return (jax.process_index(),)
  devices = meeting.devices_of_program(program)
  if devices is None:
    return tuple(range(jax.process_count()))
  return tuple(sorted({d.process_index for d in devices}))


def world_of(processes: tuple[int, ...]) -> World | None:
  """The memory that processes share; None for this one alone. It raises `NotSharedError`, in all of them, where they share none."""
  if processes == (jax.process_index(),):
    return None
  found = _connected(processes)
  if isinstance(found, str):
    raise NotSharedError(
      f"The processes {', '.join(map(str, processes))} do not share memory: {found}. Kernels that access devices of other processes "
      "need all of them on one Linux host, under one user."
    )
  return found


@functools.cache
def _connected(processes: tuple[int, ...]) -> World | str:
  """The world, or why there is none."""
  if jax.process_index() not in processes:
    return f"this process, {jax.process_index()}, has no device among theirs"
  if processes[-1] >= rendezvous_layout.MAX_PROCESSES:
    return f"there are more than {rendezvous_layout.MAX_PROCESSES}"
  prefix = f"tilewright/memory/{'-'.join(map(str, processes))}"
  return connect(processes, jax.process_index(), functools.partial(meeting.exchange, prefix, processes))


def connect(processes: tuple[int, ...], own: int, exchange: Exchange) -> World | str:
  """Map one segment in all processes. All call it, and all get a world, or all a text that says why there is none."""
  share = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
  nbytes = (1 << 20) + _MEETINGS_BYTES + share * len(processes)
  pids = [int(pid) for pid in exchange("pid", str(os.getpid()))]
  proposals: list[str] = []
  for attempt in range(_ROUNDS):
    place = (zlib.crc32(repr(processes).encode()) + attempt) % _PLACES
    segment, offer = None, _NOTHING
    problem: dict[str, Any] = {}
    if own == processes[0]:
      segment, problem = _attempt(lambda: segments.create(nbytes, _FIRST_ADDRESS + place * _STEP))
      if segment is not None:
        _begin(segment, processes, share)
        offer = segment.offer
    offer = exchange(f"offer{attempt}", offer)[0]
    if own != processes[0] and offer != _NOTHING:
      segment, problem = _attempt(lambda: segments.join(offer))
    answers = [json.loads(text) for text in exchange(f"mapped{attempt}", json.dumps(problem))]
    if segment is not None:
      segment.close()
    if not any(answers) and segment is not None:
      world = World(processes, own, segment.start, tuple(pids))
      world.watch()
      return world
    if segment is not None:
      segment.unmap()
    proposals = [f"process {p}: {a['why']}" for p, a in zip(processes, answers) if a]
    if not all(a["again"] for a in answers if a):
      break
  return "; ".join(proposals)


def _attempt(make: Callable[[], segments.Segment]) -> tuple[segments.Segment | None, dict[str, Any]]:
  try:
    return make(), {}
  except (segments.SegmentError, OSError) as e:
    return None, {"why": str(e), "again": isinstance(e, segments.AddressTaken)}


def _heap(process: int) -> int:
  """Where the heap of a process is, behind the domain's start."""
  return rendezvous_layout.HEAPS + rendezvous_layout.HEAP_BYTES * (1 + process)


def _begin(segment: segments.Segment, processes: tuple[int, ...], share: int) -> None:
  """The domain and its heaps, in fresh memory."""
  domain = segment.start
  _write_text(domain + rendezvous_layout.ENDED_MESSAGE, _FULL)
  start = -(-(domain + rendezvous_layout.DOMAIN_BYTES) // 4096) * 4096
  for heap, size in (
    (domain + rendezvous_layout.HEAPS, _MEETINGS_BYTES),
    *((domain + _heap(p), share) for p in processes),
  ):
    end = min(start + size, segment.address + segment.nbytes)
    ctypes.c_int64.from_address(heap + rendezvous_layout.HEAP_NEXT).value = start
    ctypes.c_int64.from_address(heap + rendezvous_layout.HEAP_END).value = end
    start = end


__all__ = ["NotSharedError", "World", "connect", "of_program", "world_of"]

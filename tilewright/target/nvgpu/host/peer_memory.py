"""Symmetric memory of GPUs, in one process or in several on one host: a heap on each device, which all of them map.

    heap = peer_memory.heap_of(program, nbytes)     when a program with a kernel that accesses other devices is lowered, in all processes
    heap.number                                     what a call carries, for its launcher to find the heap

The devices of a program share a *domain*, and a domain has heaps: a kernel that needs more memory than the last one has lets all processes
allocate another, at least twice as large. Which heap a call uses is decided when it is lowered, in all processes alike, and a heap is kept
as long as the process: a peer may have it mapped. So all heaps together take less than four times what the largest kernel needs.

The host tells kernels two things. A table in each device's memory has the addresses at which it sees all heaps, and how long to wait. And a
word of host memory, which kernels look at while they wait, says which process has ended.

Allocating and mapping is the business of a `Driver`: CUDA's (`runtime.cuda_memory`), or that of tests, whose devices are on the CPU.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import jax

from tilewright import errors
from tilewright.runtime import cuda_memory, meeting
from tilewright.runtime.meeting import NotSharedError
from tilewright.target.nvgpu.passes import symmetric_memory as layout

# A record, which launchers read: a lock that one call at a time holds, where the heap and the table are, and the heap's size.
LOCK, HEAP, TABLE, NBYTES = (8 * i for i in range(4))
RECORD_BYTES = 32
ATTRIBUTE = "peers"  # of a call: the number of its heap, and which call of its program it is
_MOST_HEAPS = 512
_FIRST_BYTES = 4 << 20
_ROUNDED = 2 << 20

Exchange = Callable[[str, str], list[str]]  # a name for the step and this process's text, to the texts of all processes


class Driver(Protocol):
  """What the heaps of a domain need of a driver. Devices are numbered as in this process; addresses are as a device sees them."""

  def allocate(self, device: int, nbytes: int) -> int:
    """Memory that is zero."""
    ...

  def offer(self, device: int, address: int) -> str:
    """What other processes need to map memory that was allocated."""
    ...

  def open(self, device: int, offer: str) -> int:
    """Map what another process offers."""
    ...

  def reach(self, device: int, other: int) -> None:
    """Let a device access the memory of another one of this process."""
    ...

  def write(self, device: int, address: int, data: bytes) -> None: ...

  def host_word(self, device: int) -> tuple[int, int]:
    """A word of 64 bits that is zero: where the host sees it, and where the device does."""
    ...


@dataclasses.dataclass(frozen=True)
class Place:
  """A device: its process, and its number among all devices. Processes know the driver's numbers of their own devices only."""

  process: int
  number: int


@dataclasses.dataclass(eq=False)
class Heap:
  """One heap on each device of a domain; `tables` by the number of this process's devices."""

  domain: tuple[Place, ...]
  number: int
  nbytes: int
  tables: dict[int, int]
  starts: dict[int, int]
  patience: float

  def records(self, devices: int) -> Any:
    """For each device of this process, the address of its record; the array stays where it is."""
    found = (ctypes.c_uint64 * max(devices, 1 + max(self.tables)))()
    for device, table in self.tables.items():
      record = (ctypes.c_uint64 * (RECORD_BYTES // 8))(0, self.starts[device], table, self.nbytes)
      _kept.append(record)
      found[device] = ctypes.addressof(record)
    _kept.append(found)
    return found


_kept: list[Any] = []  # what launchers have the addresses of
_lock = threading.Lock()


class Domain:
  """The devices of a program, those of one process or of several. `name` is the same in all of them; `here` are the devices of this
  process `own` as the driver numbers them, by place."""

  def __init__(
    self, name: str, places: Sequence[Place], own: int, here: Mapping[Place, int], exchange: Exchange, driver: Driver
  ):
    self.name, self.places, self.own, self.here = name, tuple(places), own, dict(here)
    self.exchange, self.driver = exchange, driver
    self.heaps: list[Heap] = []
    self._words: dict[
      int, tuple[int, int]
    ] = {}  # for each own device, where the host and where the device see the word
    self._problem = ""

  def heap(self, nbytes: int) -> Heap:
    """A heap of at least so many bytes. All processes ask for the same, in the same order."""
    if self._problem:
      raise NotSharedError(self._problem)
    if not self.heaps or self.heaps[-1].nbytes < nbytes:
      least = 2 * self.heaps[-1].nbytes if self.heaps else _FIRST_BYTES
      self.heaps.append(self._grow(max(least, -(-nbytes // _ROUNDED) * _ROUNDED), nbytes))
    found = self.heaps[-1]
    if found.patience != meeting.timeout():
      found.patience = meeting.timeout()
      for device, table in found.tables.items():
        self.driver.write(device, table + 8 * layout.PATIENCE, struct.pack("<Q", int(found.patience * 1e9)))
    return found

  def _grow(self, nbytes: int, wanted: int) -> Heap:
    generation = len(self.heaps)
    own: dict[int, int] = {}
    offers: dict[str, str] = {}
    said: dict[str, Any] = {"wanted": wanted, "pid": os.getpid(), "host": _host(), "namespace": _namespace()}
    try:
      for place, device in self.here.items():
        own[device] = self.driver.allocate(device, nbytes)
        if len(self.here) < len(self.places):
          offers[str(place.number)] = self.driver.offer(device, own[device])
        if device not in self._words:
          self._words[device] = self.driver.host_word(device)
    except errors.TilewrightError as e:
      said["why"] = str(e)
    said["offers"] = offers
    everyone = {int(s["process"]): s for s in self._tell(f"heap{generation}", said)}
    self._refuse(self._why_not(everyone))
    bases: dict[int, list[int]] = {}
    problem = ""
    try:
      for device in self.here.values():
        bases[device] = [self._address(device, place, own, everyone) for place in self.places]
    except errors.TilewrightError as e:
      problem = str(e)
    mapped = self._tell(f"mapped{generation}", {"why": problem})
    self._refuse("; ".join(f"process {s['process']}: {s['why']}" for s in mapped if s["why"]))
    if not generation:
      self._watch(everyone)
    tables = {device: self._table(place, device, bases[device]) for place, device in self.here.items()}
    return Heap(self.places, _number(f"{self.name} {generation}"), nbytes, tables, own, meeting.timeout())

  def _tell(self, step: str, said: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(text) for text in self.exchange(step, json.dumps(said | {"process": self.own}))]

  def _refuse(self, why: str) -> None:
    """All processes return the same answer."""
    if why:
      self._problem = (
        f"The devices {', '.join(f'{p.number} of process {p.process}' for p in self.places)} do not share memory: {why}. Kernels that "
        "access other GPUs need all of them on one host, with peer access, under one user."
      )
      raise NotSharedError(self._problem)

  def _why_not(self, everyone: dict[int, dict[str, Any]]) -> str:
    failed = "; ".join(f"process {p}: {s['why']}" for p, s in everyone.items() if s.get("why"))
    if failed:
      return failed
    if len({s["host"] for s in everyone.values()}) > 1:
      return "they are on several hosts"
    if len({s["wanted"] for s in everyone.values()}) > 1:
      asked = ", ".join(f"process {p} for {s['wanted']:,} bytes" for p, s in everyone.items())
      return f"the processes run different programs: their kernels ask for different memory ({asked})"
    return ""

  def _address(self, device: int, place: Place, own: dict[int, int], everyone: dict[int, Any]) -> int:
    """Where a device of this process sees the heap of a place."""
    if place.process != self.own:
      return self.driver.open(device, everyone[place.process]["offers"][str(place.number)])
    if self.here[place] != device:
      self.driver.reach(device, self.here[place])
    return own[self.here[place]]

  def _table(self, place: Place, device: int, bases: list[int]) -> int:
    words = [0] * (layout.TABLE_BYTES // 8)
    words[layout.OWN_SLOT] = self.places.index(place)
    words[layout.NUM_SLOTS], words[layout.PATIENCE] = len(bases), int(meeting.timeout() * 1e9)
    words[layout.HOST_WORD] = self._words[device][1]
    words[layout.HEAPS : layout.HEAPS + len(bases)] = bases
    address = self.driver.allocate(device, layout.TABLE_BYTES)
    self.driver.write(device, address, struct.pack(f"<{len(words)}Q", *words))
    return address

  def _watch(self, everyone: dict[int, dict[str, Any]]) -> None:
    """Notice processes that end, where their numbers mean the same to all."""
    here = {p: s["pid"] for p, s in everyone.items() if p != self.own and s["namespace"] == _namespace()}
    if here:
      meeting.watch(here, self._ended)

  def _ended(self, process: int, pid: int) -> None:
    for host, _ in self._words.values():
      ctypes.c_uint64.from_address(host).value = (process + 1) << 32 | pid


def _host() -> str:
  try:
    return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
  except OSError:
    return os.uname().nodename


def _namespace() -> str:
  try:
    return os.readlink("/proc/self/ns/pid")
  except OSError:
    return ""


def _number(text: str) -> int:
  """The number of what a text names: not zero."""
  return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1 | 1


# --- of programs -------------------------------------------------------------------------------------------------

_domains: dict[tuple[Place, ...], Domain] = {}
_renewals = [0]
_directory = (
  ctypes.c_uint64 * (2 * _MOST_HEAPS + 2)
)()  # numbers of heaps, each with the address of its records; then zeros
_used: list[int] = []


def directory() -> int:
  """The address of the list in which launchers look for a heap."""
  return ctypes.addressof(_directory)


def publish(heap: Heap) -> None:
  """Let launchers find a heap."""
  if heap.number in _used:
    return
  if len(_used) == _MOST_HEAPS:
    raise errors.ResourceExhaustedError(
      f"There are {_MOST_HEAPS} heaps of symmetric memory already, and no room for another."
    )
  at = 2 * len(_used)
  _directory[at + 1] = ctypes.addressof(heap.records(_number_of_devices()))
  _directory[at] = heap.number
  _used.append(heap.number)


def _number_of_devices() -> int:
  from tilewright.runtime import cuda

  return len(cuda.capabilities())


def domain_of(program: Any) -> Domain:
  """The domain of a program's devices, given JAX's context of its module."""
  devices = meeting.devices_of_program(program)
  if devices is None:
    devices = tuple(jax.devices("cuda"))
  places = tuple(sorted({Place(d.process_index, d.id) for d in devices}, key=dataclasses.astuple))
  if len(places) < len(devices) or len(places) > layout.MAX_DEVICES:
    raise NotSharedError(
      f"A program of {len(devices)} devices has {len(places)} that can be told apart, and kernels that access others may have up to "
      f"{layout.MAX_DEVICES}."
    )
  with _lock:
    if places not in _domains:
      processes = sorted({p.process for p in places})
      name = f"tilewright/gpu-memory/{_renewals[0]}/{'-'.join(f'{p.process}.{p.number}' for p in places)}"
      everyone: Exchange = functools.partial(meeting.exchange, name, processes)
      alone: Exchange = lambda step, mine: [mine]
      exchange = everyone if len(processes) > 1 else alone
      own = jax.process_index()
      here = {Place(own, d.id): _ordinal(d) for d in devices if d.process_index == own}
      _domains[places] = Domain(name, places, own, here, exchange, cuda_memory.Cuda())
    return _domains[places]


def _ordinal(device: Any) -> int:
  """A device of this process as the driver numbers it."""
  number = device.local_hardware_id
  return jax.local_devices().index(device) if number is None or number < 0 else int(number)


def renew() -> None:
  """Forget all domains, of which one may be broken: programs that are lowered from now on get new ones. All processes call it."""
  with _lock:
    _domains.clear()
    _renewals[0] += 1


def heap_of(program: Any, nbytes: int) -> Heap:
  """The heap that the calls of a program use. It raises `NotSharedError`, in all processes, where devices share no memory."""
  domain = domain_of(program)
  with _lock:
    found = domain.heap(nbytes)
    publish(found)
  return found


__all__ = ["ATTRIBUTE", "Domain", "Driver", "Heap", "Place", "directory", "domain_of", "heap_of", "publish", "renew"]

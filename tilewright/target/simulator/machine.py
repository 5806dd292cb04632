"""The machine: devices with cores that run concurrently, their memories, semaphores and DMA engines.

A `World` is one kernel call on all participating devices. Every core is a thread; one lock guards all memory, and every change of a
semaphore wakes all waiting threads. A deadlock is detected when a wait begins (or when a core finishes):

    every core that has not finished waits, no semaphore waited for is high enough, and no pending copy would signal one.

Then nothing can ever happen again, so all cores stop with an error that lists what each of them waits for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from tilewright import errors
from tilewright.target.simulator import clocks, indexing, memory
from tilewright.target.simulator.clocks import Clocks, Epoch, Race, Site
from tilewright.target.simulator.memory import Address, Buffer, Part, Semaphores
from tilewright.target.simulator.options import Options
from tilewright.tile.memory import BlockBarrier

_OUTLIVING = ("global", "portable", "core semaphore")  # the keys of memory that outlives an instance


class Stopped(Exception):
  """Another core has failed; this one ends too. Never reaches the user."""


@dataclasses.dataclass(eq=False)
class Core:
  """One core of one device: a thread of the kernel."""

  world: World
  device: int
  index: int
  visits: dict[Any, int] = dataclasses.field(default_factory=dict)  # of scopes whose memory is shared
  warp: int | None = None  # of a warpgroup whose warps run side by side

  @property
  def agent(self) -> int:
    return (self.device - self.world.first) * self.world.num_cores + self.index

  def __str__(self) -> str:
    return f"device {self.device}, core {self.index}" + ("" if self.warp is None else f", warp {self.warp}")


@dataclasses.dataclass(frozen=True)
class Join:
  """That a core waits for its warps to end."""

  can_end = False

  def __str__(self) -> str:
    return "its warps"


@dataclasses.dataclass(frozen=True)
class Wait:
  """What a core waits for."""

  semaphores: Semaphores
  position: int
  value: int
  where: str

  @property
  def can_end(self) -> bool:
    return bool(self.semaphores.counts.flat[self.position] >= self.value or self.semaphores.pending.get(self.position))

  def __str__(self) -> str:
    count = int(self.semaphores.counts.flat[self.position])
    return f"{self.semaphores.name(self.position)}: is {count}, needs {self.value}, at {self.where}"


@dataclasses.dataclass(eq=False)
class Copy:
  """A copy that has started: it reads, signals that the data has left, writes, and signals that it has arrived."""

  source: tuple[Buffer, tuple[Any, ...]]
  destination: tuple[Buffer, tuple[Any, ...]]
  left: tuple[Semaphores, int] | None
  arrived: tuple[Semaphores, int]
  add: bool
  where: str
  moments: tuple[Epoch, Epoch] | None
  data: np.ndarray | None = None
  written: bool = False


class World:
  """One kernel call on all devices that take part."""

  def __init__(
    self,
    name: str,
    num_devices: int,
    num_cores: int,
    options: Options,
    races: list[Race],
    first: int = 0,
    *,
    keeps_counts: bool = True,
  ):
    self.name = name
    self.keeps_counts = keeps_counts  # whether the next kernel finds the counts of semaphores that this one leaves
    self.first = first  # the number of the first device
    self.num_devices = num_devices
    self.devices = range(first, first + num_devices)
    self.num_cores = num_cores
    self.options = options
    self.races = races
    self.changed = threading.Condition(threading.RLock())
    self.memories: dict[Address, Buffer | Semaphores] = {}
    self._left: dict[Address, int] = {}  # how many cores have left a memory that they share
    self.cores = [[Core(self, d, c) for c in range(num_cores)] for d in self.devices]
    self.running = {core for device in self.cores for core in device}
    self.waiting: dict[Core, Wait | Join] = {}
    self.error: BaseException | None = None
    total = num_devices * num_cores
    self.clocks = Clocks(total, options.clock_size(total)) if options.detect_races else None

  # --- memory ----------------------------------------------------------------------------------------------------

  def allocate(self, address: Address, aval: Any, label: str, initial: Any = None) -> Any:
    """The memory at an address; made now unless another device has already reached for it."""
    with self.changed:
      found = self.memories.get(address)
      if found is None:
        if isinstance(address.key, Part):
          found = memory.part(address, self.memories[dataclasses.replace(address, key=address.key.whole)], aval)
        else:
          found = memory.allocate(address, aval, label, self.options, initial)
        self.memories[address] = found
        if self.clocks is not None and isinstance(found, Buffer):
          found.history = clocks.History(max(1, int(np.prod(found.shape))))
      return found

  def adopt(self, address: Address, found: Buffer | Semaphores) -> Any:
    """Make a memory that outlives this call known under an address of it."""
    with self.changed:
      if address not in self.memories and isinstance(found, Semaphores):
        found.clocks.clear()  # clocks of an earlier call mean nothing in this one
      return self.memories.setdefault(address, found)

  def leave(self, address: Address, sharers: int) -> None:
    """A core no longer uses a memory that so many share; the last one frees it."""
    with self.changed:
      self._left[address] = self._left.get(address, 0) + 1
      if self._left[address] == sharers:
        del self._left[address]
        self.free(address)

  def free(self, address: Address) -> None:
    with self.changed:
      self._report_leftovers(self.memories.pop(address, None))

  def on_device(self, found: Any, device: int, core: int | None = None) -> Any:
    """The memory of the same name on another device (and core)."""
    if device not in self.devices:
      raise errors.GridError(
        f"The device {device} does not take part: kernel '{self.name}' runs on the devices {list(self.devices)}. A kernel that "
        "accesses other devices is called inside of jax.shard_map over all of them."
      )
    own = found.address
    if core is not None and not 0 <= core < self.num_cores:
      raise errors.GridError(f"core_index {core} does not exist: each device has {self.num_cores} core(s).")
    core = own.core if core is None or own.core is None else core
    if (device, core) == (own.device, own.core):
      return found
    address = Address(device, core, own.key)
    persistent = _persistent.get(address)
    return (
      self.adopt(address, persistent) if persistent is not None else self.allocate(address, found.aval, found.label)
    )

  def read(self, core: Core, view: Any, where: str, mask: Any = None) -> Any:
    found, transforms = memory.resolve(view)
    with self.changed:
      self._check(found, transforms, where, "read", mask)
      self._note(found, transforms, self._moment(core), str(core), where, writes=False)
      return found.read(transforms)

  def update(
    self, core: Core, view: Any, where: str, new: Callable[[Any], Any], mask: Any = None, *, atomic: bool = False
  ) -> Any:
    """Atomic read-modify-write of a view by a function; returns the old contents.

    An atomic update never races with another one, so it is not watched.
    """
    found, transforms = memory.resolve(view)
    with self.changed:
      self._check(found, transforms, where, "write", mask)
      if not atomic:
        self._note(found, transforms, self._moment(core), str(core), where, writes=True)
      old = found.read(transforms)
      found.write(transforms, new(old), mask)
      return old

  def accumulate(
    self,
    core: Core,
    view: Any,
    where: str,
    update: Any,
    combine: np.ufunc = np.add,
    mask: Any = None,
    *,
    atomic: bool = False,
  ) -> Any:
    """Add to a view, or combine with it otherwise, repeated indices several times; returns the old contents."""
    found, transforms = memory.resolve(view)
    with self.changed:
      self._check(found, transforms, where, "write", mask)
      if not atomic:
        self._note(found, transforms, self._moment(core), str(core), where, writes=True)
      old = found.read(transforms)
      indexing.accumulate(found.array, transforms, np.asarray(update), combine, mask)
      return old

  def fetch(self, core: Core, found: Buffer, parts: Sequence[indexing.Part], where: str) -> np.ndarray:
    """A block of an array, as the pipeline around a kernel reads it: out-of-bounds elements are uninitialised."""
    with self.changed:
      self._note_block(core, found, parts, where, writes=False)
      return np.array(indexing.take(found.array, parts, found.fill))

  def deposit(self, core: Core, found: Buffer, parts: Sequence[indexing.Part], new: np.ndarray, where: str) -> None:
    """Write a block back: out-of-bounds elements are dropped."""
    with self.changed:
      self._note_block(core, found, parts, where, writes=True)
      indexing.put(found.array, parts, new)

  def _note_block(self, core: Core, found: Buffer, parts: Sequence[indexing.Part], where: str, *, writes: bool) -> None:
    if self.clocks is None:
      return
    elements = np.asarray(indexing.take(indexing.numbered(found.shape), parts, -1))
    self._note_elements(found, elements, self._moment(core), Site(str(core), "write" if writes else "read", where))

  def _moment(self, core: Core) -> Epoch | None:
    return None if self.clocks is None else self.clocks.of_core(core.agent)

  def _check(self, found: Buffer, transforms: Sequence[Any], where: str, action: str, mask: Any) -> None:
    bounds = memory.padded_shape(found.shape, found.dtype) if self.options.buffer_bounds == "padded" else found.shape
    outside = indexing.first_outside(transforms, bounds)
    if outside is None or (action == "read" and self.options.out_of_bounds_reads == "uninitialized"):
      return
    if mask is not None and not np.any(np.asarray(mask) & ~indexing.is_inside(found.shape, transforms)):
      return
    if len(transforms) > 1 and indexing.is_inside(bounds, transforms).all():
      return  # a view may extend past the edge, if the accessed elements do not
    axis, _, dim = outside
    advice = (
      " Mask it, clamp the index, or use out_of_bounds_reads='uninitialized'."
      if action == "read"
      else " Mask it or clamp the index."
    )
    raise errors.OutOfBoundsError(
      f"Out-of-bounds {action} of {found} at {where}: index {indexing.describe(transforms)} of a buffer of shape {found.shape}; "
      f"dimension {axis} goes from 0 to {dim - 1}." + advice
    )

  def _note(
    self, found: Buffer, transforms: Sequence[Any], moment: Epoch | None, agent: str, where: str, *, writes: bool
  ) -> None:
    if moment is None or found.history is None:
      return
    elements = indexing.elements_of(found.shape, transforms)
    self._note_elements(found, elements, moment, Site(agent, "write" if writes else "read", where))

  def _note_elements(self, found: Buffer, elements: np.ndarray | None, moment: Epoch | None, site: Site) -> None:
    if moment is None or found.history is None:
      return
    which: Any = slice(None)
    if elements is not None and not indexing.is_everything(elements, found.shape):
      which = elements[elements >= 0]
    for earlier, count in found.history.access(which, moment, site, writes=site.action == "write"):
      clocks.report(self.races, Race(self.name, str(found), count, earlier, site))

  # --- semaphores ------------------------------------------------------------------------------------------------

  def signal(self, core: Core, semaphores: Semaphores, position: int, amount: int) -> None:
    with self.changed:
      self.stop_if_failed()
      semaphores.counts.flat[position] += amount
      if self.clocks is not None:
        own = self.clocks.of_core(core.agent).clock
        semaphores.clocks[position] = clocks.joined(semaphores.clocks.get(position), own)
        self.clocks.tick(core.agent)
      self.changed.notify_all()

  def wait(
    self, core: Core, semaphores: Semaphores, position: int, value: int, where: str, *, decrement: bool = True
  ) -> None:
    wait = Wait(semaphores, position, value, where)
    with self.changed:
      while semaphores.counts.flat[position] < value:
        self.stop_if_failed()
        if self._advance(semaphores, position):
          continue
        self.waiting[core] = wait
        try:
          self._stop_if_stuck()
          self.changed.wait()
        finally:
          del self.waiting[core]
      if decrement:
        semaphores.counts.flat[position] -= value
      if self.clocks is not None:
        self.clocks.merge_clock(core.agent, semaphores.clocks.get(position))

  # --- copies ----------------------------------------------------------------------------------------------------

  def start_copy(
    self,
    core: Core,
    source: Any,
    destination: tuple[Buffer, tuple[Any, ...]],
    left: tuple[Semaphores, int] | None,
    arrived: tuple[Semaphores, int],
    where: str,
    *,
    add: bool,
  ) -> None:
    with self.changed:
      self.stop_if_failed()
      moments = None if self.clocks is None else self.clocks.start_copy(core.agent)
      copy = Copy(memory.resolve(source), destination, left, arrived, add, where, moments)
      self._check(*copy.source, where, "read", None)
      self._check(*copy.destination, where, "write", None)
      for semaphores, position in [arrived] if left is None else [left, arrived]:
        semaphores.pending.setdefault(position, []).append(copy)
      if self.options.dma_execution_mode == "eager":
        self._write(copy)
      self.changed.notify_all()

  def _advance(self, semaphores: Semaphores, position: int) -> bool:
    """Do the part of the oldest pending copy that signals this semaphore."""
    pending = semaphores.pending.get(position)
    if not pending:
      return False
    copy = pending[0]
    if copy.left == (semaphores, position) and copy.data is None:
      self._read(copy)
    else:
      self._write(copy)
    return True

  def _read(self, copy: Copy) -> None:
    moment = None if copy.moments is None else copy.moments[0]
    self._note(*copy.source, moment, "a copy", copy.where, writes=False)
    copy.data = copy.source[0].read(copy.source[1])
    if copy.left is not None:
      self._signal_copy(copy, copy.left, moment)

  def _write(self, copy: Copy) -> None:
    if copy.data is None:
      self._read(copy)
    moment = None if copy.moments is None else copy.moments[1]
    found, transforms = copy.destination
    self._note(found, transforms, moment, "a copy", copy.where, writes=True)
    new = copy.data if not copy.add else found.read(transforms) + copy.data
    found.write(transforms, new)
    copy.written = True
    self._signal_copy(copy, copy.arrived, moment)

  def _signal_copy(self, copy: Copy, target: tuple[Semaphores, int], moment: Epoch | None) -> None:
    semaphores, position = target
    semaphores.pending[position].remove(copy)
    assert copy.data is not None
    semaphores.counts.flat[position] += memory.num_bytes(copy.data.shape, copy.data.dtype)
    if moment is not None:
      semaphores.clocks[position] = clocks.joined(semaphores.clocks.get(position), moment.clock)
    self.changed.notify_all()

  # --- the end ---------------------------------------------------------------------------------------------------

  def finish(self, core: Core) -> None:
    """This core has reached the end of the kernel: others may now wait in vain."""
    with self.changed:
      self.running.discard(core)
      with contextlib.suppress(errors.DeadlockError, Stopped):  # waiting cores get the error; this core itself is done
        self._stop_if_stuck()
      if not self.running:
        self._finish_copies()
        for found in self.memories.values():
          self._report_leftovers(found)
      self.changed.notify_all()

  def begin_anew(self) -> None:
    """Between two elements of a batch, all cores having finished the first: reset semaphores, and forget what outlives an instance."""
    with self.changed:
      self.running = {core for device in self.cores for core in device}
      for address, found in list(self.memories.items()):
        kind = address.key[0] if isinstance(address.key, tuple) else None
        if kind in _OUTLIVING:
          del self.memories[address]
        elif kind == "scratch" and isinstance(found, Semaphores):
          for position in list(found.pending):
            while self._advance(found, position):
              pass
          found.counts[...] = 0
          found.clocks.clear()
          found.phases.clear()
      if self.clocks is not None:
        self.clocks.meet()

  def fork(self, core: Core, count: int) -> list[Core]:
    """The warps of a warpgroup, which run while it waits for them. They are one agent, and have one memory."""
    warps = [Core(self, core.device, core.index, core.visits, warp) for warp in range(count)]
    with self.changed:
      self.stop_if_failed()
      self.running.update(warps)
      self.waiting[core] = Join()
    return warps

  def join(self, core: Core, warp: Core, others: Sequence[Core]) -> None:
    """A warp has ended; with the last of them, its warpgroup continues."""
    with self.changed:
      self.running.discard(warp)
      if self.running.isdisjoint(others):
        del self.waiting[core]
      with contextlib.suppress(errors.DeadlockError, Stopped):
        self._stop_if_stuck()
      self.changed.notify_all()

  def _finish_copies(self) -> None:
    """Do the copies that a later kernel waits for."""
    for found in list(self.memories.values()):
      if isinstance(found, Semaphores) and found.is_result and self.error is None:
        for position in list(found.pending):
          while self._advance(found, position):
            pass

  def _report_leftovers(self, found: Buffer | Semaphores | None) -> None:
    """A correct kernel waits for all copies and signals that it starts: else the next user of the semaphore continues too early."""
    if not isinstance(found, Semaphores) or isinstance(found.dtype, BlockBarrier) or self.error is not None:
      return
    if found.is_result or not self.keeps_counts:
      return
    unfinished = {position for position, copies in found.pending.items() if copies}
    for position in sorted({*np.flatnonzero(found.counts).tolist(), *unfinished}):
      what = "a copy that no one waited for" if position in unfinished else f"the count {found.counts.flat[position]}"
      clocks.log.warning("Kernel '%s' leaves %s on %s.", self.name, what, found.name(position))

  def fail(self, error: BaseException) -> None:
    with self.changed:
      if self.error is None and not isinstance(error, Stopped):
        self.error = error
      self.changed.notify_all()

  def stop_if_failed(self) -> None:
    if self.error is not None:
      raise Stopped

  def _stop_if_stuck(self) -> None:
    self.stop_if_failed()
    if not self.running or len(self.waiting) < len(self.running) or any(w.can_end for w in self.waiting.values()):
      return
    lines = "\n".join(f"  {core} waits for {wait}" for core, wait in self.waiting.items())
    error = errors.DeadlockError(
      f"Deadlock in kernel '{self.name}': every core that has not finished waits for a semaphore, and nothing is left that would "
      f"signal one:\n{lines}\nSignal each semaphore as often as it is waited for, or start the copy before waiting for it."
    )
    self.fail(error)
    raise error


# --- memory that outlives a call ---------------------------------------------------------------------------------

_persistent: dict[Address, Semaphores] = {}
_persistent_lock = threading.Lock()


def persistent(core: Core, key: Hashable, aval: Any, label: str) -> Any:
  """The semaphores of this name that all kernels of this core and device share, across calls."""
  with _persistent_lock:
    for device in core.world.devices:
      address = Address(device, core.index, ("persistent", key))
      if address not in _persistent:
        _persistent[address] = memory.allocate(address, aval, label, core.world.options)  # type: ignore[assignment]
  own = Address(core.device, core.index, ("persistent", key))
  return core.world.adopt(own, _persistent[own])


def forget_persistent() -> None:
  with _persistent_lock:
    _persistent.clear()

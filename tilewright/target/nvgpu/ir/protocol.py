"""Races and deadlocks of warpgroups, found before code is emitted by simulating their synchronisation for one CTA, or one cluster.

Loops, conditions, slots and barriers that depend on numbers alone are computed; tiles are not. Each warpgroup has a vector clock, and each
queue of asynchronous work has an entry in it: copies that arrive at a barrier, products, copies to global memory.

    wg 1   copy → a[0], arrives at full[0]                    the queue of full[0]: 1
    wg 0   await full[0]                                      knows: queue of full[0] is at 1
           mma reads a[0]                                     the queue of its products: 1
           arrive empty[0]                                    tells wg 1 nothing of that product: no mma_wait
    wg 1   await empty[0], copy → a[0]                        a race: does not know that the product is done

Two accesses race if they share an element, one writes, and the second does not know of the first. Then no order of the warpgroups matters:
a race that is found is one in every run. A value that is not static (a slot that is read from memory, a trip count given by an operand)
ends the simulation of that warpgroup, and what follows is not checked. Nor is what comes after `_MAX_OPS` ops: rings wrap around long
before.

Where the CTAs of a cluster cooperate, all of the first cluster are simulated: arrivals at each other's barriers, accesses to each other's
memory, and copies of which each brings a part to all (a phase then ends when all parts have come, too).

A wait is for a phase by its parity. So a barrier must not end a phase before all waiters have observed the previous one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from tilewright import errors
from tilewright.target.nvgpu.ir import in_flight
from tilewright.target.nvgpu.ir.ops import (
  COPY_ASYNC,
  COPY_COMMIT,
  COPY_WAIT,
  MMA,
  MMA_WAIT,
  STORE_ASYNC,
  WARPS,
  barrier_of,
)
from tilewright.target.nvgpu.passes import cooperation
from tilewright.target.nvgpu.passes.layouts.hints import is_in_shared
from tilewright.tile.boxes import Box
from tilewright.tile.dead_code import VIEWS, base_of
from tilewright.tile.folding import ON_NUMBERS, fold
from tilewright.tile.ir import Block, Op, Value, users, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.ops import OPS, refs_read, refs_written
from tilewright.tile.types import SemaphoreArrayType, TileType

_MAX_OPS = 4000  # of all warpgroups of a CTA together: some tens of milliseconds
_MAX_CTAS = 4  # that add their own to that
_EVERY_PART = (0, 1 << 30)  # of what CTAs copy together
# Other accesses are of parts that are not known, or atomic.
_TRACKED = ("load", "window_load", "store", "window_store", "copy")
_LOADS = ("load", "window_load")
_SYNCHRONISING = {"arrive", "await", "meet", COPY_ASYNC, STORE_ASYNC, COPY_COMMIT, COPY_WAIT, MMA, MMA_WAIT}
_FOREIGN = {"wait", "read_semaphore", "remote", "lock_device"}  # what other CTAs and devices do is not known here

Agent: TypeAlias = Hashable  # a warpgroup's number, or a queue
Clock: TypeAlias = dict[Agent, int]


class _Lost(Exception):
  """What a warpgroup does next depends on what is not known."""


@dataclasses.dataclass(frozen=True)
class Access:
  """An access to a part of a buffer: its kind, its agent, and the agent's tick."""

  op: Op
  is_write: bool
  agent: Agent
  tick: int

  @property
  def what(self) -> str:
    if isinstance(self.agent, int):
      return "the write" if self.is_write else "the read"
    return {"copy": "the copy_gmem_to_smem", "mma": "the wgmma", "store": "the copy_smem_to_gmem"}[self.agent[0]]  # type: ignore[index]

  @property
  def advice(self) -> str:
    """What lets others know that an access is done."""
    kind = "thread" if isinstance(self.agent, int) else self.agent[0]  # type: ignore[index]
    return {
      "copy": "Call plgpu.barrier_wait for the copy first.",
      "mma": "Call plgpu.wgmma_wait before that part is released, or release it later (delay_release).",
      "store": "Call plgpu.wait_smem_to_gmem first.",
      "thread": "Arrive at a barrier behind the first, and wait at it before the second.",
    }[kind]


@dataclasses.dataclass
class _Barrier:
  """One barrier: the arrivals of its present phase, what those know who wait for each phase that has ended, and who waited when."""

  needed: int
  arrived: int = 0
  missing: int = 0  # parts of copies that other CTAs bring: what is expected, without what has come
  clock: Clock = dataclasses.field(default_factory=dict)
  phases: list[tuple[Clock, Op]] = dataclasses.field(default_factory=list)  # with the arrival that ended it
  waits: dict[int, list[tuple[int, Op]]] = dataclasses.field(default_factory=dict)  # by warpgroup: its tick, and the op


def _join(clock: Clock, other: Clock) -> None:
  for agent, tick in other.items():
    if clock.get(agent, 0) < tick:
      clock[agent] = tick


def check(kernel: NativeKernel) -> None:
  """Raise an error for the first race, or for a wait that can never end."""
  if not kernel.are_cores and not kernel.mesh:  # who are told by other means
    follow(kernel)


def follow(kernel: NativeKernel) -> _Run:
  """Run the warpgroups of a CTA: whether to the end, the result says (`is_complete`)."""
  run = _Run(kernel)
  run.run()
  return run


class _Run:
  """The warpgroups of one CTA, the first of the grid, or of its cluster, each run until it waits.

  They are numbered through the cluster: `wg` is the number of a CTA in it, times that of warpgroups, and the number in the CTA."""

  def __init__(self, kernel: NativeKernel):
    self.kernel, body = kernel, kernel.body.body
    grid, skip = kernel.mapping.grid, kernel.mapping.num_vmapped
    self.axis = len(grid) - 1 - skip if kernel.warpgroups > 1 else None
    self.sizes = grid[skip:]
    self.params = set(kernel.body.params)
    # Ops whose access is that of a queue, or of some elements
    self.silent = {*_loads_of_queues(body), *_masked(body)}
    self.cooperation = cooperation.find(kernel)
    self.ctas = 1 if self.cooperation is None else self.cooperation.size
    self.count = self.ctas * kernel.warpgroups
    self.clocks: list[Clock] = [{wg: 1} for wg in range(self.count)]
    self.counts: Clock = {}  # of the queues: how much has been asked of each
    self.barriers: dict[Hashable, _Barrier] = {}
    self.accesses: dict[Hashable, dict[Box, list[Access]]] = {}
    self.at_barrier: dict[int, Op] = {}
    self.left, self.is_complete = _MAX_OPS * min(self.ctas, _MAX_CTAS), True

  def run(self) -> None:
    waiting = {wg: self._warpgroup(wg) for wg in range(self.count)}
    stuck: dict[int, Op] = {}
    while waiting:
      moved = False
      for wg, steps in list(waiting.items()):
        before = self.left
        try:
          stuck[wg] = next(steps)
        except StopIteration:
          del waiting[wg]
          moved = True
        except _Lost:
          self.is_complete = False
          del waiting[wg]
        moved |= self.left != before
      if self.left <= 0:
        self.is_complete = False
        return
      if not moved:
        break
    self._check_phases()
    if waiting and self.is_complete:
      self._deadlock([stuck[wg] for wg in waiting])

  # --- a warpgroup -------------------------------------------------------------------------------------------------

  def _warpgroup(self, wg: int) -> Iterator[Op]:
    return self._block(self.kernel.body.body, wg, {})

  def _block(self, block: Block, wg: int, env: dict[Value, np.ndarray]) -> Iterator[Op]:
    """Run a block; yields the op at which the warpgroup waits, until it need not."""
    for op in block.ops:
      self.left -= 1
      if self.left <= 0:
        raise _Lost
      match op.name:
        case "yield":
          return
        case "for":
          yield from self._for(op, wg, env)
        case "while":
          yield from self._while(op, wg, env)
        case "switch" | "warps":
          yield from self._switch(op, wg, env)
        case "await":
          yield from self._await(op, wg, env)
        case "meet":
          yield from self._meet(op, wg)
        case "arrive" | "copy_async":
          self._arrive(op, wg, env)
        case name if name in _FOREIGN:
          raise _Lost
        case name if OPS[name].is_pure:
          self._compute(op, wg, env)
        case _:
          self._act(op, wg, env)

  def _compute(self, op: Op, wg: int, env: dict[Value, np.ndarray]) -> None:
    """The value of a number, if it is known."""
    if len(op.results) != 1 or not isinstance(t := op.result.type, TileType) or t.rank:
      return
    env.pop(op.result, None)
    if op.name == "constant":
      env[op.result] = np.asarray(op.attrs["value"]).reshape(()).astype(t.dtype)
    elif op.name == "program_id":
      env[op.result] = np.asarray(self._index(op.attrs["axis"], wg), t.dtype)
    elif op.name == "num_programs":
      if (size := self.sizes[op.attrs["axis"]]) is not None:
        env[op.result] = np.asarray(size, t.dtype)
    elif op.name in ON_NUMBERS and all(v in env for v in op.operands):
      found = fold(op.name, [env[v] for v in op.operands], op.attrs)
      if found is not None:
        env[op.result] = found

  def _index(self, axis: int, wg: int) -> int:
    """The place of a warpgroup along a dimension of the grid."""
    cta, own = divmod(wg, self.kernel.warpgroups)
    if axis == self.axis:
      return own
    known = self.cooperation
    is_in_cluster = known is not None and known.first <= axis < known.first + len(known.sizes)
    return cta // known.stride(axis) % known.extent(axis) if known is not None and is_in_cluster else 0

  def _for(self, op: Op, wg: int, env: dict[Value, np.ndarray]) -> Iterator[Op]:
    if not _matters(op):
      return
    low, high = (self._number(v, env) for v in op.operands[:2])
    (body,) = op.blocks
    _bind(env, body.params[1:], op.operands[2:])
    for i in range(low, high):
      env[body.params[0]] = np.asarray(i, body.params[0].tile.dtype)
      yield from self._block(body, wg, env)
      _bind(env, body.params[1:], body.yielded)
    _bind(env, op.results, body.params[1:])

  def _while(self, op: Op, wg: int, env: dict[Value, np.ndarray]) -> Iterator[Op]:
    if not _matters(op):
      return
    condition, body = op.blocks
    _bind(env, condition.params, op.operands)
    while True:
      yield from self._block(condition, wg, env)
      if not self._number(condition.yielded[0], env):
        break
      _bind(env, body.params, condition.params)
      yield from self._block(body, wg, env)
      _bind(env, condition.params, body.yielded)
    _bind(env, op.results, condition.params)

  def _switch(self, op: Op, wg: int, env: dict[Value, np.ndarray]) -> Iterator[Op]:
    if not _matters(op) and op.operands[0] not in env:
      return
    if op.name == WARPS:
      own = wg % self.kernel.warpgroups
      number = next(n for n, groups in enumerate(op.attrs["groups"]) if own in groups)
    else:
      number = min(max(self._number(op.operands[0], env), 0), len(op.blocks) - 1)
    block = op.blocks[number]
    yield from self._block(block, wg, env)
    _bind(env, op.results, block.yielded)

  def _number(self, v: Value, env: dict[Value, np.ndarray]) -> int:
    if v not in env:
      raise _Lost
    return int(env[v])

  # --- barriers ----------------------------------------------------------------------------------------------------

  def _place(
    self, named: Sequence[Value], wg: int, env: dict[Value, np.ndarray], cta: int | None = None
  ) -> tuple[Hashable, _Barrier]:
    """A barrier, in a CTA of the cluster, or where its view says."""
    barrier, kind = base_of(named[0]), named[0].type
    if not isinstance(kind, SemaphoreArrayType) or not kind.arrivals:
      raise _Lost
    owner = None if barrier in self.params else wg  # what is allocated inside each warpgroup has for itself
    where = self._cta(named[0], wg, env) if cta is None else cta
    place = (barrier, where, owner, *(self._number(v, env) for v in named[1:]))
    needed = kind.arrivals * (kind.ctas if self.cooperation is not None else 1)
    return place, self.barriers.setdefault(place, _Barrier(needed))

  def _cta(self, view: Value, wg: int, env: dict[Value, np.ndarray]) -> int:
    """The CTA of the cluster in whose memory a view is."""
    while isinstance(op := view.owner, Op) and op.name in VIEWS:
      if op.name == "cluster_ref":
        return self._number(op.operands[1], env)
      view = op.operands[0]
    return wg // self.kernel.warpgroups

  def _along(self, op: Op, wg: int) -> list[int]:
    """The CTAs at whose barriers an op arrives, or to which all of them copy together; nothing if that is its own alone."""
    if self.cooperation is None or not op.attrs.get("along"):
      return []
    dims, known = op.attrs["along"], self.cooperation
    own = wg // self.kernel.warpgroups
    first = own - sum(self._index(dim, wg) * known.stride(dim) for dim in dims)
    return [first + rank for rank in known.ranks(dims)]

  def _arrive(self, op: Op, wg: int, env: dict[Value, np.ndarray]) -> None:
    if op.name == COPY_ASYNC:
      self._copy(op, wg, env)
    else:
      ctas: list[int | None] = [*self._along(op, wg)]
      for cta in ctas or [None]:
        _, own = self._place(op.operands, wg, env, cta)
        _join(own.clock, self.clocks[wg])
        own.arrived += 1
        _may_end(own, op)
    self.clocks[wg][wg] += 1

  def _copy(self, op: Op, wg: int, env: dict[Value, np.ndarray]) -> None:
    """Start a copy, or a part of one for all CTAs along some dimensions: each expects what the others bring."""
    ctas = self._along(op, wg)
    here = self._cta(barrier_of(op)[0], wg, env)
    place, _ = self._place(barrier_of(op), wg, env, here)
    queue = ("copy", wg, place)
    tick = self.counts[queue] = self.counts.get(queue, 0) + 1
    for cta in ctas or [here]:
      _, own = self._place(barrier_of(op), wg, env, cta)
      own.clock[queue] = tick
      part = (ctas.index(here), ctas.index(here) + 1) if ctas else _EVERY_PART
      self._access(Access(op, True, queue, tick), op.operands[0], wg, env, cta=cta if ctas else None, part=part)
      if cta == here:
        _join(own.clock, self.clocks[wg])
        own.arrived += 1
        own.missing += max(len(ctas) - 1, 0)
      else:
        own.missing -= 1
      _may_end(own, op)

  def _await(self, op: Op, wg: int, env: dict[Value, np.ndarray]) -> Iterator[Op]:
    _, own = self._place(op.operands, wg, env)
    waits = own.waits.setdefault(wg, [])
    while len(own.phases) <= len(waits):
      yield op
    _join(self.clocks[wg], own.phases[len(waits)][0])
    waits.append((self.clocks[wg][wg], op))

  def _meet(self, op: Op, wg: int) -> Iterator[Op]:
    """All warpgroups of the CTA, or of the cluster if the barriers are of all of it, wait for each other."""
    self.at_barrier[wg] = op
    own, known = wg // self.kernel.warpgroups, self.cooperation
    every = range(self.count)
    if known is None or known.barriers.isdisjoint(op.operands):
      every = range(own * self.kernel.warpgroups, (own + 1) * self.kernel.warpgroups)
    if all(self.at_barrier.get(other) is op for other in every):
      self._check_phases()
      for other in every:
        _join(self.clocks[wg], self.clocks[other])
      for other in every:
        _join(self.clocks[other], self.clocks[wg])
        del self.at_barrier[other]
      ctas = {other // self.kernel.warpgroups for other in every}
      self.barriers = {
        place: barrier
        for place, barrier in self.barriers.items()
        if place[0] not in op.operands or place[1] not in ctas  # type: ignore[index]
      }
      return
    while wg in self.at_barrier:
      yield op

  def _check_phases(self) -> None:
    """No phase may end before those who wait for the one before it have seen that."""
    for own in self.barriers.values():
      for wg, waits in own.waits.items():
        for (tick, wait), (clock, arrival) in zip(waits, own.phases[1:]):
          if clock.get(wg, 0) < tick:
            raise errors.RaceError(
              f"The kernel '{self.kernel.name}': the arrival at {_line(arrival)} may end the next phase of a barrier before the "
              f"barrier_wait at {_line(wait)} has seen the last one, which then waits for ever. Arrive only after every "
              "warpgroup has passed the barrier_wait."
            )

  def _deadlock(self, ops: Sequence[Op]) -> None:
    op = next((op for op in ops if op.name == "await"), ops[0])
    raise errors.DeadlockError(
      f"The kernel '{self.kernel.name}': the {'barrier_wait' if op.name == 'await' else 'end of the scope'} at {_line(op)} can never "
      "end, as no warpgroup is left to arrive. Check num_arrivals of the barrier, and that each round arrives as often as others wait."
    )

  # --- memory ------------------------------------------------------------------------------------------------------

  def _act(self, op: Op, wg: int, env: dict[Value, np.ndarray]) -> None:
    clock = self.clocks[wg]
    if op.name == MMA:
      queue = ("mma", wg)
      self.counts[queue] = self.counts.get(queue, 0) + 1
      for view in in_flight.operands(op):
        self._access(Access(op, False, queue, self.counts[queue]), view, wg, env)
    elif op.name == MMA_WAIT:
      _join(clock, {("mma", wg): self.counts.get(("mma", wg), 0) - op.attrs["pending"]})
    elif op.name == STORE_ASYNC:
      queue, load = ("store", wg), op.operands[1].owner
      if isinstance(load, Op) and load.name in _LOADS:
        self._access(Access(op, False, queue, self.counts.get(queue, 0) + 1), load.operands[0], wg, env, load)
    elif op.name == COPY_COMMIT:
      queue = ("store", wg)
      self.counts[queue] = self.counts.get(queue, 0) + 1
    elif op.name == COPY_WAIT:
      _join(clock, {("store", wg): self.counts.get(("store", wg), 0) - op.attrs["pending"]})
    elif op.name in _TRACKED and op not in self.silent:
      for is_write, refs in ((False, refs_read(op)), (True, refs_written(op))):
        for ref in refs:
          self._access(Access(op, is_write, wg, clock[wg]), ref, wg, env, op)

  def _access(
    self,
    access: Access,
    view: Value,
    wg: int,
    env: dict[Value, np.ndarray],
    window: Op | None = None,
    *,
    cta: int | None = None,
    part: tuple[int, int] = _EVERY_PART,
  ) -> None:
    """Note an access to shared memory, after a look at those before it; through a `window` of the view, if that op has one. It is in
    another `cta` if that is given, and of one `part` of those into which a copy is divided."""
    buffer = base_of(view)
    if not is_in_shared(buffer.ref) or (box := _box(view, env, window)) is None:
      return
    box = (*box, part)
    clock = self.clocks[wg]
    where = self._cta(view, wg, env) if cta is None else cta
    known = self.accesses.setdefault((buffer, where, None if buffer in self.params else wg), {})
    for other, list_of in known.items():
      if all(a < d and c < b for (a, b), (c, d) in zip(box, other)):
        for before in list_of:
          if (access.is_write or before.is_write) and clock.get(before.agent, 0) < before.tick:
            self._race(before, access)
    earlier = known.setdefault(box, [])
    if access.is_write:
      earlier.clear()  # all are known here, and so to whoever knows of this one
    else:
      earlier[:] = [a for a in earlier if a.is_write or a.agent != access.agent]
    earlier.append(access)

  def _race(self, before: Access, access: Access) -> None:
    does = "overwrites" if access.is_write else "reads"
    still = "may still write" if before.is_write else "may still read"
    raise errors.RaceError(
      f"The kernel '{self.kernel.name}': {access.what} at {_line(access.op)} {does} a part of shared memory that {before.what} at "
      f"{_line(before.op)} {still}. {before.advice}"
    )


def _may_end(barrier: _Barrier, op: Op) -> None:
  """End the phase of a barrier if this was the last arrival of it."""
  if barrier.arrived == barrier.needed and not barrier.missing:
    barrier.arrived = 0
    barrier.phases.append((dict(barrier.clock), op))


def _line(op: Op) -> str:
  return op.loc or "?"


def _bind(env: dict[Value, np.ndarray], params: Sequence[Value], values: Sequence[Value]) -> None:
  found = [env.get(v) for v in values]
  for param, value in zip(params, found, strict=True):
    if value is None:
      env.pop(param, None)
    else:
      env[param] = value


def _matters(op: Op) -> bool:
  """Whether anything inside control flow is said to others, or done to shared memory."""
  return any(
    own.name in _SYNCHRONISING
    or own.name in _FOREIGN
    or (own.name in _TRACKED and any(is_in_shared(base_of(v).ref) for v in (*refs_read(own), *refs_written(own))))
    for inner in op.blocks
    for own in walk(inner)
  )


def _box(view: Value, env: dict[Value, np.ndarray], window: Op | None) -> Box | None:
  """The part of a buffer that a view is, or a window of it, if that is a box at a known place."""
  box, dims = _box_and_dims(view, env)
  if box is None or window is None or window.name not in ("window_load", "window_store"):
    return box
  moved = window.result if window.name == "window_load" else window.operands[1]
  starts = window.operands[1 if window.name == "window_load" else 2 :]
  sizes = iter(moved.tile.shape)
  return _narrowed(
    box, dims, starts, [1 if d in window.attrs["dropped"] else next(sizes) for d in range(len(dims))], window, env
  )


def _box_and_dims(view: Value, env: dict[Value, np.ndarray]) -> tuple[Box | None, list[int]]:
  op = view.owner
  if not isinstance(op, Op) or op.name not in VIEWS:
    return tuple((0, size) for size in view.ref.shape), list(range(view.ref.rank))
  box, dims = _box_and_dims(op.operands[0], env)
  if op.name == "cluster_ref":
    return box, dims
  if box is None or op.name != "subview":
    return None, []
  found = _narrowed(box, dims, op.operands[1:], op.attrs["sizes"], op, env)
  return found, [dim for axis, dim in enumerate(dims) if axis not in op.attrs["dropped"]]


def _narrowed(
  box: Box, dims: Sequence[int], starts: Sequence[Value], sizes: Sequence[int], op: Op, env: dict[Value, np.ndarray]
) -> Box | None:
  """A part of a box, along some of its dimensions, if it is known where that begins."""
  if any(v not in env for v in starts) or any(step != 1 for step in op.attrs["steps"]):
    return None
  found = list(box)
  for dim, v, size in zip(dims, starts, sizes, strict=True):
    low = found[dim][0] + int(env[v])
    found[dim] = (low, low + size)
  return tuple(found)


def _masked(body: Block) -> Iterator[Op]:
  """Stores of the elements that a mask chooses, and the loads that stand for all others: which elements those are is not known."""
  for op in walk(body):
    select = op.operands[1].owner if op.name in ("store", "window_store") else None
    load = select.operands[2].owner if isinstance(select, Op) and select.name == "select" else None
    if isinstance(load, Op) and load.name in _LOADS and load.operands[0] is op.operands[0]:
      yield from (op, load)


def _loads_of_queues(body: Block) -> Iterator[Op]:
  """The loads that stand for operands of products, or for what copies read, and for nothing else."""
  used = users(body)
  products = {op.operands[1].owner for op in walk(body) if op.name == MMA}

  def is_operand(value: Value) -> bool:
    return all(
      user in products or user.name == STORE_ASYNC or (user.name == "transpose" and is_operand(user.result))
      for user in used.get(value, ())
    )

  for op in walk(body):
    if op.name in _LOADS and used.get(op.result) and is_operand(op.result):
      yield op

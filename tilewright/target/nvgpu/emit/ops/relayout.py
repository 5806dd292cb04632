"""Code for a relayout: the plan of `tilewright.layout` on the registers of a thread.

    registers = emit(plan, registers, Device(builder, lane, warp, buffer))

A tile of less than 32 bits an element is shuffled in packed words. After a round trip through shared memory some threads may still be
loading: a barrier precedes the next store to the buffer (`before_store`). `Device` is the hardware; any object with the same methods
works, such as the model of a CTA in the tests.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from llvmlite import ir

from tilewright.layout import access
from tilewright.layout.algebra import without_register_copies
from tilewright.layout.layout import LANE, REGISTER, WARP, Layout
from tilewright.layout.plan import Plan
from tilewright.layout.shared import AnyShared
from tilewright.layout.steps import Choose, Exchange, Gather, Permute, Rename
from tilewright.layout.through_shared_memory import Trip
from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.symbolic import Number, value_of
from tilewright.target.nvgpu.emit.units import threads
from tilewright.target.nvgpu.emit.units.inline_ptx import effect, parts, several


class Machine(Protocol):
  """What a relayout needs of the hardware. Values are integers of the tile's width; words have 32 bits."""

  builder: Any
  lane: Number
  warp: Number

  def pack(self, values: Sequence[Any], bits: int) -> Any:
    """Some values as one word, the first lowest; a single value of 32 or more bits stays."""

  def unpack(self, word: Any, count: int, bits: int) -> list[Any]: ...

  def butterfly(self, word: Any, mask: int) -> Any:
    """The word of the lane whose number differs by a mask."""

  def from_lane(self, word: Any, lane: Any) -> Any:
    """The word of a lane."""

  def before_store(self) -> None:
    """Wait until all threads have read the buffer."""

  def before_load(self) -> None:
    """Wait until all have written it."""

  def store(self, address: Any, values: Sequence[Any], bits: int) -> None: ...

  def load(self, address: Any, count: int, bits: int) -> list[Any]: ...

  def store_matrices(self, address: Any, words: Sequence[Any], transposed: bool) -> None: ...

  def load_matrices(self, address: Any, count: int, transposed: bool) -> list[Any]: ...


def emit(plan: Plan, registers: Sequence[Any], machine: Machine) -> list[Any]:
  """The registers of the target layout, from those of the source."""
  found = list(registers)
  for step in plan.steps:
    match step:
      case Rename(source):
        found = [found[r] for r in source]
      case Choose():
        found = _choose(step, found, machine)
      case Exchange():
        found = _exchange(step, found, plan.bits, machine)
      case Gather():
        found = _gather(step, found, plan.bits, machine)
      case Permute(source):
        lane = value_of(machine.builder, _moved_bits(machine.lane, source))
        found = _by_words(found, plan.bits, machine, lambda word: machine.from_lane(word, lane))
      case Trip():
        found = _travel(plan, step, found, machine)
  return found


# --- inside of a warp --------------------------------------------------------------------------------------------


def _is(machine: Machine, number: Number | int, wanted: int) -> Any:
  return machine.builder.icmp_unsigned("==", value_of(machine.builder, number), ir.Constant(I32, wanted))


def _bit(machine: Machine, mask: int) -> Any:
  """Whether the lane has a bit."""
  return machine.builder.icmp_unsigned("!=", value_of(machine.builder, machine.lane & mask), ir.Constant(I32, 0))


def _choose(step: Choose, registers: list[Any], machine: Machine) -> list[Any]:
  own = machine.lane if step.input != WARP else machine.warp
  digit = own // step.place % len(step.choices[0])
  conditions = [_is(machine, digit, d) for d in range(1, len(step.choices[0]))]
  found = []
  for choice in step.choices:
    value = registers[choice[0]]
    for condition, other in zip(conditions, choice[1:]):
      value = machine.builder.select(condition, registers[other], value)
    found.append(value)
  return found


def _exchange(step: Exchange, registers: list[Any], bits: int, machine: Machine) -> list[Any]:
  b, bit, found = machine.builder, _bit(machine, step.mask), list(registers)
  sent = [b.select(bit, found[low], found[high]) for low, high in step.pairs]
  got = _by_words(sent, bits, machine, lambda word: machine.butterfly(word, step.mask))
  for (low, high), value in zip(step.pairs, got):
    found[low], found[high] = b.select(bit, value, found[low]), b.select(bit, found[high], value)
  return found


def _gather(step: Gather, registers: list[Any], bits: int, machine: Machine) -> list[Any]:
  bit = _bit(machine, step.mask)
  other = _by_words(registers, bits, machine, lambda word: machine.butterfly(word, step.mask))
  pick = {0: lambda r: (other[r], registers[r]), 1: lambda r: (registers[r], other[r])}
  return [machine.builder.select(bit, *pick[wanted](r)) for r, wanted in step.source]


def _moved_bits(lane: Number, source: tuple[int, ...]) -> Number | int:
  """The lane to read from: a table that moves bits, so it is the sum of what each bit alone gives."""
  total: Number | int = 0
  for position in range(len(source).bit_length() - 1):
    if source[1 << position]:
      total = total + (lane // (1 << position) % 2) * source[1 << position]
  return total


def _by_words(values: list[Any], bits: int, machine: Machine, move: Callable[[Any], Any]) -> list[Any]:
  """Move values as words of 32 bits."""
  each = max(32 // bits, 1)
  found: list[Any] = []
  for first in range(0, len(values), each):
    group = values[first : first + each]
    found += machine.unpack(move(machine.pack(group, bits)), len(group), bits)
  return found


# --- through shared memory ---------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def _without_carry(layout: Layout, shared: AnyShared) -> tuple[int, tuple[int, ...]] | None:
  """Where each element's place is that of its thread and that of its register, added without carry: the bits that places of threads have,
  and the places of registers."""
  table = layout.table().transpose(*(layout.names.index(name) for name in (REGISTER, LANE, WARP)), -1)
  found = np.broadcast_to(shared.address([table[..., axis] for axis in range(layout.rank)]), table.shape[:-1])
  own = found[:, 0, 0]
  if (found != own[:, None, None] ^ found[0]).any():
    return None
  return int(np.bitwise_or.reduce(found[0], axis=None)), tuple(own.tolist())


class BufferAddresses:
  """Addresses in a buffer. Mostly what depends on the thread need not be computed for each register again:

  address = (the thread's ^ some bits of the register's) + its other bits, which become part of the instruction
  """

  def __init__(self, shared: AnyShared, layout: Layout, machine: Machine):
    self.shared, self.layout, self.machine = shared, layout, machine
    self.known = _without_carry(layout, shared)
    self._made: dict[Any, Any] = {}  # what is computed once

  def of(self, register: int) -> Number | int:
    """Where this thread has a register."""
    if self.known is None:
      return self._address(self.machine.lane, register)
    bits, own = self.known
    return _moved(self._once("own", lambda: self._address(self.machine.lane)), own[register], bits)

  def rows(self, groups: Sequence[Sequence[int]], transposed: bool) -> Number:
    """The address of the row of some matrices that this lane gives: row l % 8 of matrix l / 8."""
    row = self.machine.lane % 8
    # Row r starts with what lane 4r holds; transposed, rows 2t and 2t + 1 with what lane t holds, in one register each.
    lane, count = (row // 2, 2) if transposed else (row * 4, 1)
    if self.known is None:
      b = self.machine.builder
      return self._choice([[value_of(b, self._address(lane, r)) for r in group[:count]] for group in groups])
    bits, own = self.known
    first = own[groups[0][0]]
    further = tuple(tuple(own[r] ^ first for r in group[:count]) for group in groups)
    bits = functools.reduce(operator.or_, (x for pair in further for x in pair), bits)
    thread = self._once("row", lambda: self._address(lane))
    start = self._once(
      further, lambda: self._choice([[ir.Constant(I32, x) for x in pair] for pair in further]) ^ thread
    )
    return _moved(start, first, bits)

  def _address(self, lane: Number | int, register: int = 0) -> Number | int:
    return self.shared.address(self.layout.coordinates(register=register, lane=lane, warp=self.machine.warp))

  def _choice(self, values: Sequence[Sequence[Any]]) -> Number:
    """Of the values of each matrix, that of this lane; where there are two, the second is for odd rows."""
    b, found = self.machine.builder, None
    for n, own in enumerate(values):
      value = own[0] if len(own) == 1 else b.select(_is(self.machine, self.machine.lane % 2, 1), own[1], own[0])
      found = value if found is None else b.select(_is(self.machine, self.machine.lane // 8, n), value, found)
    return Number(b, found, self.shared.nbytes)

  def _once(self, key: Any, make: Callable[[], Any]) -> Any:
    if key not in self._made:
      self._made[key] = make()
    return self._made[key]


def _moved(thread: Any, place: int, bits: int) -> Any:
  return (thread ^ (place & bits)) + (place & ~bits)


def _travel(plan: Plan, trip: Trip, registers: list[Any], machine: Machine) -> list[Any]:
  store(plan.source, trip.shared, trip.store, registers, plan.bits, machine)
  machine.before_load()
  target = without_register_copies(plan.target)
  loaded = load(target, trip.shared, trip.load, plan.bits, machine)
  at = {offset: r for r, offset in enumerate(target.register_offsets)}
  return [loaded[at[offset]] for offset in plan.target.register_offsets]


def store(
  layout: Layout, shared: AnyShared, way: access.Access, registers: Sequence[Any], bits: int, machine: Machine
) -> None:
  """The first half of a round trip: store the tile to the buffer."""
  source = without_register_copies(layout)
  copies = {offset: r for r, offset in reversed(list(enumerate(layout.register_offsets)))}
  kept = [registers[copies[offset]] for offset in source.register_offsets]
  machine.before_store()
  with _only_owners(source, machine):
    _store(shared, way, source, kept, bits, machine)


class Loader:
  """The second half of a round trip, piece by piece: words of the target's registers, each loaded at its first use."""

  def __init__(self, plan: Plan, trip: Trip, machine: Machine):
    self.trip, self.bits, self.machine = trip, plan.bits, machine
    self.target = without_register_copies(plan.target)
    self.places = BufferAddresses(trip.shared, self.target, machine)
    self.together = len(trip.load.groups) // trip.load.instructions if trip.load.kind != access.VECTOR else 1
    self.number = {r: n // self.together for n, group in enumerate(trip.load.groups) for r in group}
    self.known: dict[int, Any] = {}  # words by their first register, where they come as such; else elements
    each = max(32 // self.bits, 1)
    in_words = all(g[n] == g[n - n % each] + n % each for g in trip.load.groups for n in range(len(g)))
    self.has_words = in_words and len(trip.load.groups[0]) % each == 0

  def word(self, register: int) -> Any:
    """The 32 bits that begin with a register."""
    each = 32 // self.bits
    if register not in self.known:
      for number in dict.fromkeys(self.number[register + i] for i in range(each)):
        self._fetch(number)
    if self.has_words:
      return self.known[register]
    return self.machine.pack([self.known[register + i] for i in range(each)], self.bits)

  def _fetch(self, number: int) -> None:
    way, first = self.trip.load, number * self.together
    groups = way.groups[first : first + self.together]
    if way.kind == access.VECTOR:
      each = 32 // self.bits if self.has_words else 1
      loaded = self.machine.load(self.places.of(groups[0][0]), len(groups[0]) // each, self.bits * each)
      self.known.update(zip(groups[0][::each], loaded))
      return
    address = self.places.rows(groups, way.kind == access.TRANSPOSED)
    words = self.machine.load_matrices(address, len(groups), way.kind == access.TRANSPOSED)
    for group, word in zip(groups, words):
      if self.has_words:
        self.known[group[0]] = word
      else:
        self.known.update(zip(group, self.machine.unpack(word, len(group), self.bits)))


def _only_owners(layout: Layout, machine: Machine) -> Any:
  """Of warps that hold copies, the first stores."""
  condition = None
  for term in layout.owner_terms:
    if term.input == WARP:
      own = _is(machine, machine.warp // term.place % term.size, 0)
      condition = own if condition is None else machine.builder.and_(condition, own)
  return contextlib.nullcontext() if condition is None else machine.builder.if_then(condition)


def _inside(layout: Layout, register: int, machine: Machine) -> Any:
  """Where some places of a layout are padding: only if this one is not."""
  padded = [axis for axis, (extent, size) in enumerate(zip(layout.extents, layout.shape)) if extent > size]
  if not padded:
    return contextlib.nullcontext()
  at = layout.coordinates(register=register, lane=machine.lane, warp=machine.warp)
  own = [_is_below(machine, at[axis], layout.shape[axis]) for axis in padded]
  return machine.builder.if_then(functools.reduce(machine.builder.and_, own))


def _is_below(machine: Machine, number: Number | int, limit: int) -> Any:
  return machine.builder.icmp_unsigned("<", value_of(machine.builder, number), ir.Constant(I32, limit))


def _store(
  shared: AnyShared, way: access.Access, layout: Layout, registers: list[Any], bits: int, machine: Machine
) -> None:
  places = BufferAddresses(shared, layout, machine)
  if way.kind == access.VECTOR:
    for group in way.groups:
      address = places.of(group[0])
      with _inside(layout, group[0], machine):
        machine.store(address, [registers[r] for r in group], bits)
    return
  for groups in _together(way):
    words = [machine.pack([registers[r] for r in group], bits) for group in groups]
    transposed = way.kind == access.TRANSPOSED
    machine.store_matrices(places.rows(groups, transposed), words, transposed)


def load(layout: Layout, shared: AnyShared, way: access.Access, bits: int, machine: Machine) -> list[Any]:
  """The second half of a round trip: load the registers of a tile from the buffer, except those that are copies."""
  found: dict[int, Any] = {}
  places = BufferAddresses(shared, layout, machine)
  if way.kind == access.VECTOR:
    for group in way.groups:
      found.update(zip(group, machine.load(places.of(group[0]), len(group), bits)))
  else:
    for groups in _together(way):
      transposed = way.kind == access.TRANSPOSED
      words = machine.load_matrices(places.rows(groups, transposed), len(groups), transposed)
      for group, word in zip(groups, words):
        found.update(zip(group, machine.unpack(word, len(group), bits)))
  return [found[r] for r in range(layout.num_registers)]


def _together(way: access.Access) -> Iterator[tuple[tuple[int, ...], ...]]:
  """Up to four matrices at a time."""
  count = len(way.groups) // way.instructions
  for first in range(0, len(way.groups), count):
    yield way.groups[first : first + count]


# --- the hardware ------------------------------------------------------------------------------------------------


class Device:
  """A thread of the GPU. `buffer` points to shared memory (address space 3), aligned as the swizzle asks."""

  def __init__(self, builder: ir.IRBuilder, lane: Number, warp: Number, buffer: ir.Value | None = None):
    self.builder, self.lane, self.warp, self.buffer = builder, lane, warp, buffer

  def pack(self, values: Sequence[ir.Value], bits: int) -> ir.Value:
    if bits >= 32:
      return values[0]
    word = self.builder.zext(values[0], I32)
    for i, value in enumerate(values[1:], 1):
      word = self.builder.or_(word, self.builder.shl(self.builder.zext(value, I32), I32(i * bits)))
    return word

  def unpack(self, word: ir.Value, count: int, bits: int) -> list[ir.Value]:
    if bits >= 32:
      return [word]
    narrow = ir.IntType(bits)
    return [self.builder.trunc(self.builder.lshr(word, I32(i * bits)), narrow) for i in range(count)]

  def butterfly(self, word: ir.Value, mask: int) -> ir.Value:
    return threads.exchange(self.builder, word, mask)

  def from_lane(self, word: ir.Value, lane: ir.Value) -> ir.Value:
    return threads.from_lane(self.builder, word, lane)

  def before_store(self) -> None:
    threads.barrier(self.builder)

  def before_load(self) -> None:
    threads.barrier(self.builder)

  def _pointer(self, address: Number | int) -> ir.Value:
    assert self.buffer is not None, "a trip through shared memory needs a buffer"
    return self.builder.gep(self.buffer, [value_of(self.builder, address)], source_etype=ir.IntType(8))

  def _word_address(self, address: Number | int) -> ir.Value:
    """An address in shared memory as inline assembly takes it, in 32 bits."""
    return self.builder.ptrtoint(self._pointer(address), I32)

  def store(self, address: Number | int, values: Sequence[ir.Value], bits: int) -> None:
    vector = ir.Constant(ir.VectorType(ir.IntType(bits), len(values)), ir.Undefined)
    for i, value in enumerate(values):
      vector = self.builder.insert_element(vector, value, I32(i))
    self.builder.store(vector, self._pointer(address), align=len(values) * bits // 8)

  def load(self, address: Number | int, count: int, bits: int) -> list[ir.Value]:
    kind = ir.VectorType(ir.IntType(bits), count)
    vector = self.builder.load(self._pointer(address), align=count * bits // 8, typ=kind)
    return [self.builder.extract_element(vector, I32(i)) for i in range(count)]

  def store_matrices(self, address: Number | int, words: Sequence[ir.Value], transposed: bool) -> None:
    operands = ", ".join(f"${i + 1}" for i in range(len(words)))
    text = f"stmatrix.sync.aligned.m8n8.x{len(words)}{'.trans' if transposed else ''}.shared.b16 [$0], {{{operands}}};"
    effect(self.builder, text, [self._word_address(address), *words])

  def load_matrices(self, address: Number | int, count: int, transposed: bool) -> list[ir.Value]:
    operands = ", ".join(f"${i}" for i in range(count))
    text = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}.shared.b16 {{{operands}}}, [${count}];"
    return parts(self.builder, effect(self.builder, text, [self._word_address(address)], several(I32, count)))

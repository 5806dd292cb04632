"""Forward-sink: a loop that only stores results of a collective collects the operands instead; one collective follows the loop.

    body:   buf = dynamic_update_slice(buf, format(collective(x), y), n)
    →       xs = dynamic_update_slice(xs, x, n)   ys = …         and after the loop      buf = format*(collective*(xs), ys)

where the star is the same instruction with one more dimension, the trips, in front.

Precondition: known trips; each trip fills its own part of the buffer along one dimension, and the parts of all trips are adjacent; nothing
else reads the buffer's slot, in the body or the condition; between collective and store there are only instructions
that have a form with one more dimension. *Proof.* These collectives and instructions treat the new dimension as a batch: row n of
collective*(xs) is the collective of row n of xs, which is the x of the trip that stored there. Unwritten elements keep
the initial value of the buffer. Several stores of one collective, in several slots, are each rebuilt in the same way.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.passes.pipeline_chains import (
  chain_after,
  elements_of,
  is_recomputable,
  reached_by,
  unfuse_stores,
)
from tilewright.hlo.passes.pipeline_forward import movable, sources_of
from tilewright.hlo.passes.pipeline_index import index_table
from tilewright.hlo.passes.pipeline_options import Moves, is_marker
from tilewright.hlo.passes.while_loops import (
  Counter,
  Loop,
  add_slots,
  after,
  copy_in,
  remove_dead,
  set_output,
  trace,
  zeros,
)
from tilewright.hlo.shape import Layout, Shape
from tilewright.hlo.values import PaddingDim, SliceDim

_COLLECTIVES_WITH_DIMENSION = frozenset({"all-gather", "reduce-scatter", "all-to-all"})
_PASSED = frozenset({"tuple", "get-tuple-element", "opt-barrier"})
_LIFTED = (
  frozenset({"reshape", "bitcast", "transpose", "broadcast", "slice", "reverse", "pad", "concatenate", "reduce"})
  | _PASSED
  | (ELEMENTWISE - {"bitcast-convert", "stochastic-convert"})
)


@dataclass(frozen=True, eq=False)
class Store:
  """A dynamic-update-slice that fills `size` places of one dimension in each trip, from `base` on."""

  update: Instruction
  dimension: int
  size: int
  base: int
  direct: bool  # the index is the row: places of one element that fill all of the dimension, in any order
  descending: bool
  rows: tuple[int, ...]  # the row of each trip

  @property
  def index(self) -> Instruction:
    return self.update.operands[2 + self.dimension]


def sink(loop: Loop, counter: Counter, module: Module, moves: Moves) -> list[Instruction]:
  """Moves every collective of the loop that can sink; returns the values after the loop that are computed from them."""
  unfuse_stores(loop.body, moves)
  stores = {slot: store for slot in range(loop.slots) if (store := read_store(loop, slot, counter)) is not None}
  fits = [
    i
    for i in topological_order(loop.body)
    if moves.is_candidate(i) and counter.trips * sum(o.shape.byte_size for o in i.operands) <= moves.max_bytes
  ]
  updates = {store.update for store in stores.values()}

  def allowed(instruction: Instruction) -> bool:
    if instruction in updates or moves.is_candidate(instruction):
      return True
    return moves.is_formatting(instruction) and _can_lift(loop, instruction, updates)

  candidates, slots = movable(loop, moves, set(stores), fits, allowed)
  made: list[Instruction] = []
  for those, into in _components(loop, moves, candidates, slots):
    if len({stores[slot].rows for slot in into}) == 1 and len({stores[slot].direct for slot in into}) == 1:
      made += _sink(loop, those, {slot: stores[slot] for slot in into}, counter, module, moves)
  return made


def _components(
  loop: Loop, moves: Moves, candidates: list[Instruction], slots: list[int]
) -> list[tuple[list[Instruction], list[int]]]:
  """Candidates and slots that must move together, because a chain connects them."""
  sources = {c: 1 << n for n, c in enumerate(candidates)}
  for n, slot in enumerate(slots):
    sources |= dict.fromkeys(elements_of(loop, slot), 1 << (len(candidates) + n))
  reached = reached_by(loop.body, sources, moves.split_barriers)
  groups: list[int] = []
  for bits in {b for i, b in reached.items() if b and i is not loop.body.root} | {
    reached[loop.outputs[slot]] | 1 << (len(candidates) + n) for n, slot in enumerate(slots)
  }:
    joined = bits
    for group in [g for g in groups if g & bits]:
      joined |= group
      groups.remove(group)
    groups.append(joined)
  found = [
    (
      [c for n, c in enumerate(candidates) if g >> n & 1],
      [s for n, s in enumerate(slots) if g >> len(candidates) + n & 1],
    )
    for g in groups
  ]
  return sorted((g for g in found if g[0] and g[1]), key=lambda g: g[1])


def _can_lift(loop: Loop, instruction: Instruction, updates: set[Instruction]) -> bool:
  opcode, shape = instruction.opcode, instruction.shape
  if is_marker(instruction) or opcode in _PASSED:
    return True
  if opcode not in _LIFTED or not shape.is_array or shape.is_dynamic:
    return False
  if opcode == "bitcast":
    before = instruction.operands[0].shape
    return before.element_type == shape.element_type and _is_plain(before) and _is_plain(shape)
  if opcode in ("reduce", "pad"):  # their second operand stays a scalar
    return len(instruction.operands) == 2 and is_recomputable(loop, instruction.operands[1])
  return True


def _is_plain(shape: Shape) -> bool:
  return shape.layout is None or (shape.layout.is_descending and not shape.layout.tiles)


def read_store(loop: Loop, slot: int, counter: Counter) -> Store | None:
  """The one update of a slot's buffer in each trip, if the parts of all trips lie side by side."""
  value = trace(loop.outputs[slot])
  update = value.instruction
  if update.opcode != "dynamic-update-slice" or value.frames or value.path or not loop.is_slot(value.operand(0), slot):
    return None
  whole, part = update.operands[0].shape.dimensions, update.operands[1].shape.dimensions
  if len(update.operands) != 2 + len(whole):
    return None
  for d in range(len(whole)):
    if all(part[i] == whole[i] for i in range(len(whole)) if i != d) and part[d] * counter.trips <= whole[d]:
      store = _read_places(loop, update, d, counter)
      if store is not None:
        return store
  return None


def _read_places(loop: Loop, update: Instruction, dimension: int, counter: Counter) -> Store | None:
  trips = counter.trips
  whole = update.shape.dimensions[dimension]
  size = update.operands[1].shape.dimensions[dimension]
  table = index_table(loop, trace(update.operands[2 + dimension]), counter)
  if table is None or not size:
    return None
  starts = np.clip(np.broadcast_to(table, (trips,)), 0, whole - size)
  steps = np.arange(trips)
  if size == 1 and whole == trips and np.array_equal(np.sort(starts), steps):
    return Store(update, dimension, 1, 0, True, False, tuple(starts.tolist()))
  for descending, rows in ((False, steps), (True, steps[::-1])):
    base = int(starts.min())
    if np.array_equal(starts, base + size * rows):
      return Store(update, dimension, size, base, False, descending, tuple(steps.tolist()))
  return None


def _sink(
  loop: Loop,
  candidates: list[Instruction],
  stores: dict[int, Store],
  counter: Counter,
  module: Module,
  moves: Moves,
) -> list[Instruction]:
  trips, body = counter.trips, loop.body
  buffers = [e for slot in stores for e in elements_of(loop, slot)]
  inside = chain_after(body, [*candidates, *buffers], moves.split_barriers)
  of_buffers = chain_after(body, buffers, moves.split_barriers)  # the buffers themselves, up to their updates
  order = [i for i in topological_order(body) if i in inside and i not in of_buffers]
  needs = [o for i in order for o in i.operands]
  needs += [store.update.operands[1] for store in stores.values()]
  needs = [o for o in dict.fromkeys(needs) if o not in order]
  same = [o for o in needs if is_recomputable(loop, o)]
  stacked = [o for o in needs if o not in same]

  # The loop stacks what varies, where it stored the results.
  before = Builder(loop.computation, before=loop.instruction)
  held = add_slots(loop, [zeros(before, _with_trips(x.shape, trips)) for x in stacked])
  first = loop.slots - len(held)
  readers = {slot: [u for u in loop.instruction.users if u.attrs.get("index") == slot] for slot in stores}
  some = next(iter(stores.values()))
  builder = Builder(body, before=body.root, metadata=some.update.metadata)
  row = some.index if some.direct else _trip_number(loop, counter, builder)
  zero = builder.constant(0, row.shape.element_type)
  for position, (x, place) in enumerate(zip(stacked, held)):
    one = builder.op("reshape", (x,), _with_trips(x.shape, 1))
    update = builder.op("dynamic-update-slice", (place, one, row, *[zero] * x.shape.rank), place.shape)
    set_output(loop, first + position, update)

  # After it, collectives, formatting and stores work on all trips at once.
  builder = after(loop.instruction)
  lifted = {x: builder.element(loop.instruction, first + position) for position, x in enumerate(stacked)}
  unchanging = sources_of(same, loop)
  known = {
    v: builder.element(loop.instruction, v.attrs["index"]) for v in unchanging if v.opcode == "get-tuple-element"
  }
  plain = copy_in(unchanging, known, builder, module)
  for value in same:
    lifted[value] = _repeat(plain[value], trips, builder)
  for instruction in order:
    lifted[instruction] = _lift(instruction, lifted, plain, trips, builder)
    for predecessor in instruction.control_predecessors:
      if predecessor in order:
        lifted[instruction].add_control_predecessor(lifted[predecessor])
  made: list[Instruction] = []
  for slot, store in stores.items():
    final = _joined(loop, slot, lifted[store.update.operands[1]], store, trips, builder)
    made.append(final)
    for reader in readers[slot]:
      reader.replace_all_uses_with(final)
  remove_dead(
    loop.computation, [reader for found in readers.values() for reader in found]
  )  # the builder stands before one
  inner = Builder(body, before=body.root)
  ends = [loop.outputs[slot] for slot in stores]
  for slot in stores:
    set_output(loop, slot, inner.element(loop.parameter, slot))
  for instruction in reversed(order):
    for other in instruction.control_predecessors:
      instruction.remove_control_predecessor(other)
  remove_dead(body, [*ends, *reversed(order)])
  return made


def _trip_number(loop: Loop, counter: Counter, builder: Builder) -> Instruction:
  """0 in the first trip, 1 in the second, …"""
  number = builder.element(loop.parameter, counter.slot)
  kind = number.shape.element_type
  if counter.start:
    number = builder.subtract(number, builder.constant(counter.start, kind))
  if counter.step != 1:
    number = builder.op("divide", (number, builder.constant(counter.step, kind)))
  return number


def _with_trips(shape: Shape, trips: int) -> Shape:
  """The same with the trips in front, as the slowest dimension."""
  dims = (trips, *shape.dimensions)
  if shape.layout is None:
    return Shape(shape.element_type, dims)
  layout = Layout((*(d + 1 for d in shape.layout.minor_to_major), 0))
  return Shape(shape.element_type, dims, dataclasses.replace(layout, memory_space=shape.layout.memory_space))


def _repeat(value: Instruction, trips: int, builder: Builder) -> Instruction:
  """A value that is the same in every trip, once for each."""
  dims = tuple(range(1, 1 + value.shape.rank))
  return builder.op("broadcast", (value,), _with_trips(value.shape, trips), dimensions=dims)


def _lift(
  instruction: Instruction,
  lifted: dict[Instruction, Instruction],
  plain: dict[Instruction, Instruction],
  trips: int,
  builder: Builder,
) -> Instruction:
  """The same instruction with the trips as a new first dimension."""
  opcode, attrs = instruction.opcode, instruction.attrs
  operands = [lifted[o] for o in instruction.operands]
  if opcode == "tuple":
    return builder.make_tuple(*operands)
  if opcode == "get-tuple-element":
    return builder.element(operands[0], attrs["index"])
  if opcode in _COLLECTIVES_WITH_DIMENSION and "dimensions" in attrs:
    return _lift_collective(instruction, operands, trips, builder)
  if instruction.shape.is_tuple:
    shape = Shape.tuple_of(*(_with_trips(s, trips) for s in instruction.shape.tuple_shapes))
  else:
    shape = _with_trips(instruction.shape, trips)
  if opcode in ("reduce", "pad"):
    operands[1] = plain[instruction.operands[1]]
  elif opcode in ELEMENTWISE:  # select and clamp take scalars, which differ between the trips now
    operands = [
      x
      if x.shape.rank == shape.rank
      else builder.op("broadcast", (x,), shape.with_element_type(x.shape.element_type), dimensions=(0,))
      for x in operands
    ]
  new = clone_instruction(instruction, operands, shape)
  new.sharding = new.origin = None
  if opcode == "bitcast":
    new.opcode = "reshape"
  elif opcode in ("broadcast", "transpose"):
    new.attrs["dimensions"] = (0, *(d + 1 for d in attrs.get("dimensions", ())))
  elif opcode in ("reverse", "concatenate", "reduce"):
    new.attrs["dimensions"] = tuple(d + 1 for d in attrs["dimensions"])
  elif opcode == "slice":
    new.attrs["slice"] = (SliceDim(0, trips), *attrs["slice"])
  elif opcode == "pad":
    new.attrs["padding"] = (PaddingDim(0, 0), *attrs["padding"])
  return builder.computation.insert(new, before=builder.before)


def _lift_collective(
  instruction: Instruction, operands: list[Instruction], trips: int, builder: Builder
) -> Instruction:
  """A collective joins or cuts blocks of memory, so its dimension stays the slowest one, before the trips: transposed, moved,
  transposed back. Layouts have been assigned by the time this runs, and back ends rely on them (`verify_platform.py`).
  """
  (axis,) = instruction.attrs["dimensions"]
  results = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
  shapes = [_with_trips(s, trips) for s in results]
  orders = [(axis + 1, *(d for d in range(s.rank) if d != axis + 1)) for s in shapes]
  firsts = [builder.transpose(x, order) for x, order in zip(operands, orders)]
  moved_shapes = [
    Shape(s.element_type, tuple(s.dimensions[d] for d in order), Layout.descending(s.rank))
    for s, order in zip(shapes, orders)
  ]
  shape = Shape.tuple_of(*moved_shapes) if instruction.shape.is_tuple else moved_shapes[0]
  moved = clone_instruction(instruction, firsts, shape)
  moved.sharding = moved.origin = None
  moved.attrs["dimensions"] = (0,)
  builder.computation.insert(moved, before=builder.before)
  parts = [builder.element(moved, i) for i in range(len(shapes))] if instruction.shape.is_tuple else [moved]
  backs = [
    builder.op("transpose", (part,), s, dimensions=tuple(order.index(d) for d in range(s.rank)))
    for part, s, order in zip(parts, shapes, orders)
  ]
  return builder.make_tuple(*backs) if instruction.shape.is_tuple else backs[0]


def _joined(loop: Loop, slot: int, update: Instruction, store: Store, trips: int, builder: Builder) -> Instruction:
  """The whole buffer from the updates of all trips: their dimension goes in front of the one that each trip filled a part of."""
  d, rank = store.dimension, store.update.shape.rank
  if store.descending:
    update = builder.op("reverse", (update,), update.shape, dimensions=(0,))
  order = (*range(1, d + 1), 0, *range(d + 1, rank + 1))
  moved = builder.transpose(update, order) if d else update
  dims = tuple(
    trips * store.size if i == d else size for i, size in enumerate(store.update.operands[1].shape.dimensions)
  )
  whole = store.update.shape
  if dims == whole.dimensions:
    return builder.op("reshape", (moved,), whole)
  filled = builder.reshape(moved, dims)
  starts = [builder.constant(store.base if i == d else 0, "s32") for i in range(rank)]
  return builder.op("dynamic-update-slice", (builder.element(loop.instruction, slot), filled, *starts), whole)

"""Forward-sink: a loop that only stores what a collective gives collects the operands instead; one collective follows the loop.

    body:   buf = dynamic_update_slice(buf, format(collective(x)), n)
    →       xs = dynamic_update_slice(xs, x, n)         and after the loop      buf = format*(collective*(xs))

where the star is the same instruction with one more dimension, the trips, in front.

Precondition: known trips; each trip fills its own place along one dimension of the buffer, and all places get filled; the rest of
the buffer's slot is read by nobody, in the body or the condition; between collective and store there is only formatting that
has a form with one more dimension. *Proof.* These collectives and formatting instructions treat the new dimension as a batch:
row n of collective*(xs) is the collective of row n of xs, which is the x of the trip that stored there. Every place of the
buffer is written, so nothing of its first content is left, and the whole is format*(collective*(xs)). Several stores of one
collective, in several slots, are each rebuilt in the same way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction
from tilewright.hlo.passes.pipeline_chains import (
  chain_after,
  elements_of,
  is_collective,
  strip_formatting,
  unfuse_stores,
)
from tilewright.hlo.passes.while_loops import (
  Counter,
  Loop,
  Value,
  add_slots,
  after,
  remove_dead,
  set_output,
  slots_read,
  trace,
  zeros,
)
from tilewright.hlo.shape import Layout, Shape
from tilewright.hlo.values import SliceDim

_COLLECTIVES_WITH_DIMENSION = frozenset({"all-gather", "reduce-scatter", "all-to-all"})
_LIFTED = frozenset({"reshape", "bitcast", "convert", "copy", "transpose", "broadcast", "slice", "reverse"})
_PASSED = frozenset({"tuple", "get-tuple-element", "opt-barrier"})


def sink(loop: Loop, counter: Counter, min_bytes: int, max_bytes: int) -> bool:
  """Moves every collective of the loop that can sink; whether any did."""
  moved = False
  unfuse_stores(loop.body)
  for collective in [i for i in topological_order(loop.body) if is_collective(i, min_bytes)]:
    if collective.parent is not loop.body or counter.trips * collective.operands[0].shape.byte_size > max_bytes:
      continue
    stores = _stores(loop, collective, counter)
    if stores:
      _sink(loop, collective, stores, counter)
      moved = True
  return moved


def _stores(loop: Loop, collective: Instruction, counter: Counter) -> dict[int, Instruction]:
  """Slot → the dynamic-update-slice that stores the collective there; empty if it cannot sink."""
  found: dict[int, Instruction] = {}
  for slot in range(loop.slots):
    store = trace(loop.outputs[slot])
    if store.instruction.opcode != "dynamic-update-slice" or store.frames or store.path:
      continue
    if strip_formatting(store.operand(1)) == Value(collective) and loop.is_slot(store.operand(0), slot):
      found[slot] = store.instruction
  if not found or slots_read(loop.condition) & found.keys():
    return {}
  inside = chain_after(loop.body, [collective, *(e for slot in found for e in elements_of(loop, slot))])
  for i in inside:
    known = i is collective or i in found.values() or i.opcode in _PASSED or (i.opcode in _LIFTED and _can_lift(i))
    if not known or any(user not in inside and user is not loop.body.root for user in i.users):
      return {}
  if {slot for slot, output in enumerate(loop.outputs) if output in inside} != found.keys():
    return {}
  tables = [_places(loop, store, counter) for store in found.values()]
  first = tables[0]
  same = first is not None and all(t is not None and np.array_equal(t, first) for t in tables)
  return found if same else {}


def _can_lift(instruction: Instruction) -> bool:
  if not instruction.shape.is_array or instruction.shape.is_dynamic:
    return False
  if instruction.opcode != "bitcast":
    return True
  before, after = instruction.operands[0].shape, instruction.shape
  return before.element_type == after.element_type and _is_plain(before) and _is_plain(after)


def _is_plain(shape: Shape) -> bool:
  return shape.layout is None or (shape.layout.is_descending and not shape.layout.tiles)


def stacked_dimension(store: Instruction, trips: int) -> int | None:
  """The dimension along which each trip fills one place, if all others are filled at once."""
  whole, part = store.operands[0].shape.dimensions, store.operands[1].shape.dimensions
  if len(store.operands) != 2 + len(whole):
    return None
  candidates = [d for d in range(len(whole)) if part[d] == 1 and whole[d] == trips]
  for d in candidates:
    others = [i for i in range(len(whole)) if i != d]
    zero = [trace(store.operands[2 + i]).constant for i in others]
    if all(part[i] == whole[i] for i in others) and all(z is not None and not np.any(z) for z in zero):
      return d
  return None


def _places(loop: Loop, store: Instruction, counter: Counter) -> np.ndarray | None:
  """Where each trip stores; None unless every place is filled exactly once."""
  d = stacked_dimension(store, counter.trips)
  if d is None:
    return None
  places = _table(loop, trace(store.operands[2 + d]), counter)
  if places is None:
    return None
  places = np.clip(np.broadcast_to(places, (counter.trips,)), 0, counter.trips - 1)
  return places if np.array_equal(np.sort(places), np.arange(counter.trips)) else None


_ARITHMETIC: dict[str, Callable[..., np.ndarray]] = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}


def _table(loop: Loop, value: Value, counter: Counter) -> np.ndarray | None:
  """The value of an index in every trip, where that follows from the counter."""
  if loop.is_slot(value, counter.slot):
    return counter.values()
  constant = value.constant
  if constant is not None and constant.size == 1:
    return constant.reshape(()).astype(np.int64)
  operation = _ARITHMETIC.get(value.instruction.opcode)
  if operation is None or value.path:
    return None
  tables = [_table(loop, value.operand(i), counter) for i in range(2)]
  return None if tables[0] is None or tables[1] is None else np.asarray(operation(*tables))


def _sink(loop: Loop, collective: Instruction, stores: dict[int, Instruction], counter: Counter) -> None:
  trips, x = counter.trips, collective.operands[0]
  chain = chain_after(loop.body, [collective])
  order = [i for i in topological_order(loop.body) if i in chain]
  stacked = _with_trips(x.shape, trips)

  # The loop stacks the operands where it stored the results.
  (held,) = add_slots(loop, [zeros(Builder(loop.computation, before=loop.instruction), stacked)])
  place = loop.slots - 1
  store = next(iter(stores.values()))
  dimension = stacked_dimension(store, trips)
  assert dimension is not None
  index = store.operands[2 + dimension]
  builder = Builder(loop.body, before=loop.body.root, metadata=store.metadata)
  zero = builder.constant(0, index.shape.element_type)
  row = builder.op("reshape", (x,), _with_trips(x.shape, 1))
  update = builder.op("dynamic-update-slice", (held, row, index, *[zero] * x.shape.rank), stacked)
  set_output(loop, place, update)

  # After it, collective, formatting and stores work on all trips at once.
  builder = after(loop.instruction)
  lifted = {x: builder.element(loop.instruction, place)}
  for instruction in order:
    if instruction not in stores.values():
      lifted[instruction] = _lift(instruction, [lifted[o] for o in instruction.operands], trips, builder)
  for slot, store in stores.items():
    final = _joined(lifted[store.operands[1]], store, trips, builder)
    for user in loop.instruction.users:
      if user.attrs.get("index") == slot:
        user.replace_all_uses_with(final)
        remove_dead(loop.computation, [user])
  ends = [loop.outputs[slot] for slot in stores]
  inside = Builder(loop.body, before=loop.body.root)
  for slot in stores:
    set_output(loop, slot, inside.element(loop.parameter, slot))
  remove_dead(loop.body, ends)


def _with_trips(shape: Shape, trips: int) -> Shape:
  """The same with the trips in front, as the slowest dimension."""
  dims = (trips, *shape.dimensions)
  if shape.layout is None:
    return Shape(shape.element_type, dims)
  return Shape(shape.element_type, dims, Layout((*(d + 1 for d in shape.layout.minor_to_major), 0)))


def _lift(instruction: Instruction, operands: list[Instruction], trips: int, builder: Builder) -> Instruction:
  """The same instruction with the trips as a new first dimension."""
  opcode = instruction.opcode
  if opcode in _PASSED:
    shape = operands[0].shape
    if opcode == "tuple":
      shape = Shape.tuple_of(*(o.shape for o in operands))
    elif opcode == "get-tuple-element":
      shape = operands[0].shape.tuple_shapes[instruction.attrs["index"]]
  else:
    shape = _with_trips(instruction.shape, trips)
  if opcode in _COLLECTIVES_WITH_DIMENSION:
    return _lift_collective(instruction, operands[0], shape, builder)
  new = clone_instruction(instruction, operands, shape)
  new.sharding = new.origin = None
  if opcode == "bitcast":
    new.opcode = "reshape"
  elif opcode in ("broadcast", "transpose"):
    lead = (0,)
    new.attrs["dimensions"] = (*lead, *(d + 1 for d in instruction.attrs["dimensions"]))
  elif opcode == "reverse":
    new.attrs["dimensions"] = tuple(d + 1 for d in instruction.attrs["dimensions"])
  elif opcode == "slice":
    new.attrs["slice"] = (SliceDim(0, trips), *instruction.attrs["slice"])
  return builder.computation.insert(new, before=builder.before)


def _lift_collective(instruction: Instruction, operand: Instruction, shape: Shape, builder: Builder) -> Instruction:
  """A collective joins or cuts blocks of memory, so its dimension stays the slowest one, before the trips: transposed, moved,
  transposed back. Layouts have been assigned by the time this runs, and back ends rely on them (`verify_platform.py`).
  """
  (axis,) = instruction.attrs["dimensions"]
  order = (axis + 1, *(d for d in range(shape.rank) if d != axis + 1))
  first = builder.transpose(operand, order)
  dims = tuple(shape.dimensions[d] for d in order)
  moved = clone_instruction(instruction, [first], Shape(shape.element_type, dims, Layout.descending(shape.rank)))
  moved.sharding = moved.origin = None
  moved.attrs["dimensions"] = (0,)
  builder.computation.insert(moved, before=builder.before)
  back = tuple(order.index(d) for d in range(shape.rank))
  return builder.op("transpose", (moved,), shape, dimensions=back)


def _joined(update: Instruction, store: Instruction, trips: int, builder: Builder) -> Instruction:
  """The whole buffer from the updates of all trips: their dimension goes where each trip filled one place."""
  d = stacked_dimension(store, trips)
  assert d is not None
  rank = store.shape.rank
  order = (*range(1, d + 1), 0, *range(d + 1, rank + 1))
  moved = builder.transpose(update, order) if d else update
  return builder.op("reshape", (moved,), store.shape)

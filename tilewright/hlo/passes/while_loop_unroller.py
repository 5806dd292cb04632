"""Unrolling of loops: all trips one after another, or two trips in one.

    while_loop_unroller             A A A A              the loop is gone
    double_buffer_loop_unrolling    A | A A | A A        an odd number of trips is made even by running the first before the loop

With two trips in a body, each has buffers of its own, and transfers of one overlap the work of the other.

*Proof.* The number of trips is known, so the condition holds before each trip that is run, and not after the last one. A copy of the body
starts from what the body before returned. Instructions with effects of one trip precede those of the next by control edges.

Copies get channels and scheduling groups of their own, and `_xla_send_recv_validation` is rewritten for the trips they run in
(`valid_trips.py`). Left alone: scheduled modules, state used as a whole, control edges on the loop, conditions with effects; for
full unrolling also what would grow beyond the limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.passes.base import HloPassError, Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.pipeline_chains import elements_of, reads_by_element
from tilewright.hlo.passes.valid_trips import VALIDATION, every_second, of_trip, read_trips, write_trips
from tilewright.hlo.passes.while_loop_simplifier import count_trips
from tilewright.hlo.passes.while_loops import (
  SCHEDULING_GROUP,
  Counter,
  Loop,
  copy_in,
  element,
  find_counter,
  loops_of,
  note_trips,
  own_computations,
  own_init,
  set_initial,
  trip_count,
  unshare,
  whole_groups,
)

FULL, DOUBLE, AUTO = "full_unroll", "double_buffer", "auto"
_COUNTED = 128  # trips that are run to count them, where there is no plain counter


@register_pass("while_loop_unroller")
@dataclass(frozen=True)
class WhileLoopUnroller(Pass):
  """Replaces loops of a known, small number of trips by their trips."""

  unroll_factor: int = -1  # all trips
  max_trips: int = 64
  max_instructions: int = 800  # of a body
  max_expanded: int = 10_000  # trips · instructions

  def run(self, module: Module) -> bool:
    if self.unroll_factor != -1:
      raise HloPassError(f"while_loop_unroller: unroll_factor={self.unroll_factor}, but only -1 (all trips) is known")
    return _unroll_all(module, FULL, (self.max_trips, self.max_instructions, self.max_expanded))


@register_pass("double_buffer_loop_unrolling")
@dataclass(frozen=True)
class DoubleBufferLoopUnrolling(Pass):
  """Puts two trips of a loop into one, so that each has buffers of its own."""

  strategy: str = DOUBLE  # or full_unroll, or auto: double_buffer for loops with collectives

  def run(self, module: Module) -> bool:
    if self.strategy not in (FULL, DOUBLE, AUTO):
      raise HloPassError(f"double_buffer_loop_unrolling: strategy={self.strategy} is none of {FULL}, {DOUBLE}, {AUTO}")
    return _unroll_all(module, self.strategy, None)


def _unroll_all(module: Module, strategy: str, limits: tuple[int, int, int] | None) -> bool:
  changed = False
  if module.is_scheduled:
    return False
  for loop in loops_of(module):
    if loop.instruction.parent is None or loop.instruction.parent.parent is None or not _is_plain(loop):
      continue
    counter = find_counter(loop)
    trips = counter.trips if counter is not None else trip_count(loop)
    if trips is None:
      trips = count_trips(loop, _COUNTED)
    if trips is None or trips < 1:
      continue
    if strategy == AUTO and not any(_talks(i) for i in loop.body.instructions):
      continue
    if strategy == FULL:
      if limits is None or _fits(loop, trips, limits):
        own_computations(loop)
        _unroll(loop, trips, module)
        changed = True
    elif trips >= 2:
      own_computations(loop)
      _double(loop, trips, counter, module)
      changed = True
  if changed:
    module.remove_unreachable_computations()
    unshare(module)
  return changed


def _is_plain(loop: Loop) -> bool:
  effects = Effects()
  quiet = not any(effects.of(i) for i in loop.condition.instructions)
  return quiet and reads_by_element(loop) and not has_control_edges(loop.instruction)


def _fits(loop: Loop, trips: int, limits: tuple[int, int, int]) -> bool:
  count = len(loop.body.instructions)
  return trips <= limits[0] and count <= limits[1] and trips * count <= limits[2]


def _talks(instruction: Instruction) -> bool:
  return "replica_groups" in instruction.attrs or "source_target_pairs" in instruction.attrs


def _body_of(loop: Loop) -> list[Instruction]:
  """What a copy of a trip consists of, in order."""
  reads = {e for slot in range(loop.slots) for e in elements_of(loop, slot)}
  skipped = {loop.body.root, loop.parameter}
  return [i for i in topological_order(loop.body) if i not in reads and i not in skipped]


def _copy(
  loop: Loop, body: list[Instruction], state: Sequence[Instruction], builder: Builder, module: Module
) -> dict[Instruction, Instruction]:
  known = {e: state[slot] for slot in range(loop.slots) for e in elements_of(loop, slot)}
  groups = whole_groups(body, module)
  new = copy_in(body, known, builder, module)
  for old in body:
    group = old.frontend_attributes.get(SCHEDULING_GROUP)
    if group is not None:
      new[old].frontend_attributes.pop(SCHEDULING_GROUP, None)
      if group in groups:
        new[old].frontend_attributes[SCHEDULING_GROUP] = groups[group]
  return new


def _order_effects(before: Sequence[Instruction], after: Sequence[Instruction]) -> None:
  for later in after:
    for earlier in before:
      later.add_control_predecessor(earlier)


def _unroll(loop: Loop, trips: int, module: Module) -> None:
  body, effects = _body_of(loop), Effects()
  acting = [i for i in body if effects.of(i)]
  init = loop.instruction.operands[0]
  builder = Builder(loop.computation, before=loop.instruction, metadata=loop.instruction.metadata)
  state = [element(init, slot, builder) for slot in range(loop.slots)]
  last: list[Instruction] = []
  for trip in range(trips):
    new = _copy(loop, body, state, builder, module)
    for old in body:
      valid = read_trips(old)
      if valid is not None:
        new[old].frontend_attributes[VALIDATION] = write_trips(of_trip(valid, trip))
    _order_effects(last, [new[i] for i in acting])
    last = [new[i] for i in acting]
    state = [new[o] for o in loop.outputs]
  whole = builder.make_tuple(*state)
  loop.computation.replace(loop.instruction, whole)


def _double(loop: Loop, trips: int, counter: Counter | None, module: Module) -> None:
  body, effects = _body_of(loop), Effects()
  acting = [i for i in body if effects.of(i)]
  valid = {i: trips_of for i in body if (trips_of := read_trips(i)) is not None}
  peeled = trips % 2
  if peeled:
    init = own_init(loop)
    before = Builder(loop.computation, before=init, metadata=loop.instruction.metadata)
    new = _copy(loop, body, list(init.operands), before, module)
    for slot, output in enumerate(loop.outputs):
      set_initial(loop, slot, new[output])
    if counter is not None:
      kind = loop.instruction.shape.tuple_shapes[counter.slot].element_type
      start = before.constant(counter.start + counter.step, kind)
      set_initial(loop, counter.slot, before.op("copy", (start,)))
    for old, those in valid.items():
      new[old].frontend_attributes[VALIDATION] = write_trips(of_trip(those, 0))
    acted = [new[i] for i in acting]
    _order_effects(acted, [loop.instruction] if acted else [])
  builder = Builder(loop.body, before=loop.body.root)
  new = _copy(loop, body, loop.outputs, builder, module)
  _order_effects(acting, [new[i] for i in acting])
  for old, those in valid.items():
    old.frontend_attributes[VALIDATION] = write_trips(every_second(those, peeled))
    new[old].frontend_attributes[VALIDATION] = write_trips(every_second(those, peeled + 1))
  loop.body.root.set_operands([new[o] for o in loop.outputs])
  half = (trips - peeled) // 2
  if counter is not None:
    step = counter.step
    note_trips(loop, Counter(counter.slot, counter.start + peeled * step, 2 * step, half))
  else:
    note_trips(loop, Counter(0, 0, 1, half))

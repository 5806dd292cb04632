"""Code motion of all-reduces: those a loop only accumulates (or only stores) are executed once, after it.

    acc = acc + all_reduce(x)                    acc = acc + x                   … after the loop: init + all_reduce(acc)
    buf = dynamic_update_slice(buf, all_reduce(x), i)   buf = dynamic_update_slice(buf, x, i)   … all_reduce(written part)

*Accumulators.* Write A for the all-reduce of one group: a linear function of the values of all its devices. A trip adds L(A(x)),
where L is linear and the same on every device (reshapes, uniform factors and choices, conversions to a wider float). L and A
commute, so Σ L(A(xₙ)) = A(Σ L(xₙ)): the loop accumulates L(xₙ) from zero, and the result is init + A(accumulator). Zero trips
give init + A(0) = init. Integers are equal bit for bit, floats up to the order of addition (`exact=true` refuses those).
Accumulation into a slice (`buf[n] += all_reduce(x)`) accumulates the whole buffer. A value all-reduced over the same devices is the
same on all of them, and may be a factor.

*Stores.* The places written are the same on every device and nothing reads the buffer in the loop. The last trip to write
a place is the same everywhere, so A of the value stored there is what would have been stored, whether A adds, multiplies or takes the
minimum or maximum. At least one trip must be known to run, and trips · bytes must be within `max_bytes`, because the slices are
reduced at once.

Refused: other reducers, pred and small floats; any other use of the accumulator or of the result (in the
condition, in another slot); results narrowed before they are added (unless `narrowing=true`); factors that differ between
devices; different groups in one accumulator; control dependencies; constrained layouts; a loop some devices of a group might not
reach. A reduce-scatter is moved when it is added directly or after conversion, transposition and reshaping, with the accumulator held in
its operand's larger shape. Nested loops: inner ones are processed first, and their results are accumulated by the enclosing loop.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import (
  has_control_edges,
  next_channel,
  participants_key,
  reducer,
  scalar_type,
)
from tilewright.hlo.passes.linear_flow import Box, Carry, Flow, Linear, Meaning, Parts, Source, Window, is_uniform
from tilewright.hlo.passes.while_loops import (
  Counter,
  Loop,
  add_slots,
  after,
  always_reached,
  find_counter,
  is_zero,
  loops_of,
  own_computations,
  read_by_element,
  remove_dead,
  set_initial,
  set_output,
  slots_read,
  trip_count,
  zeros,
)
from tilewright.hlo.shape import Shape

MAX_STORED_BYTES = 10_240
REDUCERS = ("add", "maximum", "minimum", "multiply")  # values that are only stored may be reduced by any of them


@register_pass("all_reduce_code_motion")
@dataclass(frozen=True)
class AllReduceCodeMotion(Pass):
  """Moves all-reduces whose results a loop only accumulates or stores behind the loop."""

  max_bytes: int = MAX_STORED_BYTES  # of the stores of one all-reduce, over all trips
  reduce_scatter: bool = True
  exact: bool = False  # integers only: floats would be added in another order
  narrowing: bool = False  # also results rounded to a narrower float first: each device then rounds its own part

  def run(self, module: Module) -> bool:
    changed = False
    while True:
      again = [self._move_from(loop, module) for loop in loops_of(module)]
      if not any(again):
        return changed
      changed = True

  def _move_from(self, loop: Loop, module: Module) -> bool:
    plan = self._plan(loop)
    if not plan:
      return False
    own_computations(loop)
    # The plan names instructions of the body: if that was shared, it is a copy now.
    _Mover(loop, self._plan(loop) or {}, module).move()
    return True

  def _plan(self, loop: Loop) -> dict[int, Carry] | None:
    """The slots to change, with the body's effect on them; None or empty if there is nothing to move."""
    trips = trip_count(loop)
    sources = {(i, n) for i in loop.body.instructions if self._is_candidate(i) for n in range(len(i.operands))}
    if not sources or (trips is not None and trips < 2):
      return None
    if trips is None and not always_reached(loop.computation):
      return None  # with zero trips, a device could wait after the loop for one that never gets there
    counter = find_counter(loop)
    read = slots_read(loop.condition)
    slots = {i for i, s in enumerate(loop.instruction.shape.tuple_shapes) if i not in read and _is_summable(s)}
    uniform = _uniform_slots(loop, counter)
    while sources:
      flow = Flow(loop, counter, sources, slots, uniform, self.narrowing)
      outputs = flow.run()
      moved = self._accept(flow, outputs, trips, counter)
      if not flow.spoiled_sources and not flow.spoiled_slots:
        return moved
      sources = sources - flow.spoiled_sources
      slots = slots - flow.spoiled_slots
    return None

  def _is_candidate(self, instruction: Instruction) -> bool:
    if instruction.opcode != "all-reduce" and not (instruction.opcode == "reduce-scatter" and self.reduce_scatter):
      return False
    allowed = REDUCERS if instruction.opcode == "all-reduce" else ("add",)
    if (
      reducer(instruction) not in allowed or instruction.attrs.get("constrain_layout") or has_control_edges(instruction)
    ):
      return False
    results = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
    if instruction.opcode == "all-reduce" and any(o.shape != r for o, r in zip(instruction.operands, results)):
      return False  # the result has another layout than the operand that would take its place
    return all(_is_summable(o.shape) and not (self.exact and _is_inexact(o.shape)) for o in instruction.operands)

  def _accept(
    self, flow: Flow, outputs: tuple[Meaning, ...], trips: int | None, counter: Counter | None
  ) -> dict[int, Carry]:
    """The slots that may change. Spoils whatever ends in a place where it may not."""
    moved: dict[int, Carry] = {}
    for slot, meaning in enumerate(outputs):
      if isinstance(meaning, (Linear, Parts, Window)) or (isinstance(meaning, Carry) and meaning.slot != slot):
        flow.invalidate([meaning])
      elif isinstance(meaning, Carry) and meaning.sources:
        keys = {_key(collective) for collective, _ in meaning.sources}
        stores_fit = not meaning.writes or (trips and _regions(meaning) and self._fits(meaning, trips))
        if len(keys) > 1 or not stores_fit:
          flow.invalidate([meaning])
        else:
          moved[slot] = meaning
    return moved

  def _fits(self, meaning: Carry, trips: int) -> bool:
    return all(trips * collective.operands[i].shape.byte_size <= self.max_bytes for collective, i in meaning.sources)


def _is_summable(shape: Shape) -> bool:
  """An array whose addition is a sum: pred adds by or; floats below 16 bits lose whole terms."""
  if not shape.is_array or shape.is_dynamic or shape.element_type == "pred":
    return False
  return shape.kind != "float" or PRIMITIVE_TYPES[shape.element_type].bits >= 16


def _is_inexact(shape: Shape) -> bool:
  return shape.kind in ("float", "complex")


def _key(instruction: Instruction) -> Hashable:
  return instruction.opcode, participants_key(instruction), instruction.attrs.get("dimensions"), reducer(instruction)


def _uniform_slots(loop: Loop, counter: Counter | None) -> set[int]:
  """Slots whose value is uniform across devices in every trip: constants at first, and functions of such slots later."""
  found = {slot for slot in range(loop.slots) if loop.initial(slot).constant is not None}
  while found:
    outputs = Flow(loop, counter, set(), set(), found).run()
    kept = {slot for slot in found if is_uniform(outputs[slot])}
    if kept == found:
      break
    found = kept
  return found


def _regions(meaning: Carry) -> list[Box] | None:
  """The boxes written, without overlap: equal ones once, neighbours that fill a box together as that box; None if two
  overlap in part.
  """
  boxes = list(dict.fromkeys(box for box, _ in meaning.writes))
  for i, a in enumerate(boxes):
    for b in boxes[:i]:
      if all(max(x[0], y[0]) < min(x[1], y[1]) for x, y in zip(a, b)):
        return None
  hull = tuple((min(s for s, _ in dim), max(e for _, e in dim)) for dim in zip(*boxes))
  return [hull] if sum(map(_volume, boxes)) == _volume(hull) else boxes


def _volume(box: Box) -> int:
  total = 1
  for start, end in box:
    total *= end - start
  return total


class _Mover:
  """Changes one loop according to a plan."""

  def __init__(self, loop: Loop, plan: dict[int, Carry], module: Module) -> None:
    self.loop, self.plan, self.module = loop, plan, module
    order = {instruction: i for i, instruction in enumerate(topological_order(loop.body))}
    sources = {source for meaning in plan.values() for source in meaning.sources}
    self.sources: list[Source] = sorted(sources, key=lambda s: (order[s[0]], s[1]))
    self.local = {(collective, i): collective.operands[i] for collective, i in self.sources}
    # Of reduce-scatters: their results, and what follows them, kept before they go.
    self.results = {slot: _result_shape(next(iter(meaning.sources))) for slot, meaning in plan.items()}
    self.steps = {slot: [clone_instruction(s, ()) for s in meaning.steps] for slot, meaning in plan.items()}

  def move(self) -> None:
    loop = self.loop
    read_by_element(loop.instruction)
    groups: dict[tuple[Hashable, str], list[int]] = {}
    templates: dict[tuple[Hashable, str], Instruction] = {}
    for slot, meaning in sorted(self.plan.items()):
      collective = next(c for c, i in self.sources if (c, i) in meaning.sources)
      key = _key(collective), loop.instruction.shape.tuple_shapes[slot].element_type
      groups.setdefault(key, []).append(slot)
      # What the collective after the loop takes over, copied before the one inside goes.
      templates.setdefault(key, clone_instruction(collective, ()))
    initial = {slot: self._start_from_zero(slot) for slot in sorted(self.plan)}
    places = {slot: self._widen(slot) for slot in sorted(self.plan)}
    self._use_local_values()
    for key, slots in groups.items():
      self._reduce_after(templates[key], slots, initial, places)

  def _start_from_zero(self, slot: int) -> Instruction | None:
    """Makes an accumulating slot start at zero; returns its previous initial value, None if that was zero."""
    loop = self.loop
    if self.plan[slot].writes:
      return None
    builder = Builder(loop.computation, before=loop.instruction)
    init = loop.instruction.operands[0]
    before = init.operands[slot] if init.opcode == "tuple" else builder.element(init, slot)
    if is_zero(before):
      return None
    set_initial(loop, slot, zeros(builder, loop.instruction.shape.tuple_shapes[slot]))
    return before

  def _widen(self, slot: int) -> int:
    """The slot that holds the local accumulator: the same one, or for a reduce-scatter a new one of its operand's shape."""
    loop, meaning = self.loop, self.plan[slot]
    sources = [s for s in self.sources if s in meaning.sources]
    if sources[0][0].opcode != "reduce-scatter":
      return slot
    builder = Builder(loop.computation, before=loop.instruction)
    local = [self.local[source] for source in sources]
    element_type = loop.instruction.shape.tuple_shapes[slot].element_type
    shape = local[0].shape.with_element_type(element_type).with_layout(local[0].shape.layout)
    (total,) = add_slots(loop, [zeros(builder, shape)])
    place = loop.slots - 1
    inside = Builder(loop.body, before=loop.body.root)
    for x in local:
      wide = x if x.shape.element_type == element_type else inside.op("convert", (x,), shape)
      total = inside.op("add", (total, wide), shape)
    set_output(loop, place, total)
    old = loop.outputs[slot]
    set_output(loop, slot, inside.element(loop.parameter, slot))
    remove_dead(loop.body, [old])
    return place

  def _use_local_values(self) -> None:
    """Every moved result becomes the operand it was computed from. A collective with other results keeps those."""
    by_collective: dict[Instruction, set[int]] = {}
    for collective, i in self.sources:
      if collective.opcode == "all-reduce":
        by_collective.setdefault(collective, set()).add(i)
    for collective, moved in by_collective.items():
      builder = after(collective)
      if not collective.shape.is_tuple:
        collective.replace_all_uses_with(collective.operands[0])
      else:
        kept = [i for i in range(len(collective.operands)) if i not in moved and _element_is_used(collective, i)]
        values = {i: collective.operands[i] for i in range(len(collective.operands))}
        if kept:
          values |= self._keep_in_loop(collective, kept, builder)
        _replace_elements(collective, values, builder)
      remove_dead(self.loop.body, [collective])

  def _keep_in_loop(self, collective: Instruction, kept: list[int], builder: Builder) -> dict[int, Instruction]:
    operands = [collective.operands[i] for i in kept]
    shapes = [collective.shape.tuple_shapes[i] for i in kept]
    shape = shapes[0] if len(kept) == 1 else Shape.tuple_of(*shapes)
    smaller = clone_instruction(collective, operands, shape)
    smaller.sharding = smaller.origin = None
    builder.computation.insert(smaller, before=builder.before)
    if len(kept) == 1:
      return {kept[0]: smaller}
    return {i: builder.element(smaller, position) for position, i in enumerate(kept)}

  def _reduce_after(
    self,
    template: Instruction,
    slots: list[int],
    initial: dict[int, Instruction | None],
    places: dict[int, int],
  ) -> None:
    """One collective after the loop for all slots with the same participants and type."""
    loop = self.loop
    readers = {slot: [r for r in _readers(loop, slot) if not r.is_dead] for slot in slots}
    slots = [slot for slot in slots if readers[slot]]
    if not slots:
      return
    builder = after(loop.instruction)
    totals = {slot: builder.element(loop.instruction, places[slot]) for slot in slots}
    pieces: list[tuple[int, Box | None, Instruction]] = []
    for slot in slots:
      regions = _regions(self.plan[slot]) if self.plan[slot].writes else None
      whole = tuple((0, d) for d in totals[slot].shape.dimensions)
      for region in regions or [whole]:
        part = totals[slot] if region == whole else builder.slice(totals[slot], *region)
        part.shape = part.shape.with_layout(totals[slot].shape.layout)
        pieces.append((slot, None if region == whole else region, part))
    # A slot that is cut keeps its parts' shapes; one that is scattered gives back the shape it had in the loop.
    scattered = template.opcode == "reduce-scatter"
    shapes = [self._scattered_shape(slot) if scattered else part.shape for slot, _, part in pieces]
    reduced = self._collective(template, [part for _, _, part in pieces], shapes, builder)
    reduced = [self._stepped(slot, value, builder) for (slot, _, _), value in zip(pieces, reduced)]
    final: dict[int, Instruction] = {}
    for (slot, box, _), value in zip(pieces, reduced):
      if box is not None:
        starts = [builder.constant(start, "s32") for start, _ in box]
        value = builder.dynamic_update_slice(final.get(slot, totals[slot]), value, starts)
      start = initial[slot]
      final[slot] = value if start is None else builder.op("add", (start, value), value.shape)
    for slot in slots:
      for reader in readers[slot]:
        reader.replace_all_uses_with(final[slot])
        remove_dead(loop.computation, [reader])

  def _scattered_shape(self, slot: int) -> Shape:
    """The result of a reduce-scatter after the loop: as inside, in the element type of the accumulator."""
    own: Shape = self.results[slot]
    element_type = self.loop.instruction.shape.tuple_shapes[slot].element_type
    return own if own.element_type == element_type else own.with_element_type(element_type).with_layout(own.layout)

  def _stepped(self, slot: int, value: Instruction, builder: Builder) -> Instruction:
    """The transpositions and reshapes between a reduce-scatter and its accumulation, once more."""
    for step in self.steps[slot]:
      if step.opcode != "convert":
        shape = step.shape.with_element_type(value.shape.element_type).with_layout(step.shape.layout)
        copy = clone_instruction(step, (value,), shape)
        copy.sharding = copy.origin = None
        value = builder.computation.insert(copy, before=builder.before)
    return value

  def _collective(
    self,
    template: Instruction,
    operands: list[Instruction],
    shapes: list[Shape],
    builder: Builder,
  ) -> list[Instruction]:
    shape = shapes[0] if len(shapes) == 1 else Shape.tuple_of(*shapes)
    collective = clone_instruction(template, operands, shape)
    collective.sharding = collective.origin = None
    channel = template.attrs.get("channel_id")
    if channel and any(i.attrs.get("channel_id") == channel for i in self.module.instructions()):
      collective.attrs["channel_id"] = next_channel(self.module)  # the one inside the loop is still there
    if scalar_type(template) != operands[0].shape.element_type:
      collective.attrs["to_apply"] = self._reducer(template, operands[0].shape.element_type)
    builder.computation.insert(collective, before=builder.before)
    if len(operands) == 1:
      return [collective]
    return [builder.element(collective, i) for i in range(len(operands))]

  def _reducer(self, template: Instruction, element_type: str) -> Computation:
    operation = reducer(template) or "add"
    builder = Builder(f"{operation}_{element_type}")
    x, y = builder.parameter(element_type), builder.parameter(element_type)
    return self.module.add_computation(builder.finish(builder.op(operation, (x, y))))


def _result_shape(source: Source) -> Shape:
  collective, i = source
  return collective.shape.tuple_shapes[i] if collective.shape.is_tuple else collective.shape


def _readers(loop: Loop, slot: int) -> list[Instruction]:
  return [user for user in loop.instruction.users if user.attrs.get("index") == slot]


def _element_is_used(collective: Instruction, i: int) -> bool:
  if any(user.opcode != "get-tuple-element" for user in collective.users):
    return True
  return any(user.attrs["index"] == i and not user.is_dead for user in collective.users)


def _replace_elements(collective: Instruction, values: dict[int, Instruction], builder: Builder) -> None:
  """Element i of the collective becomes values[i], for every user."""
  for user in collective.users:
    if user.opcode == "get-tuple-element":
      user.replace_all_uses_with(values[user.attrs["index"]])
      remove_dead(builder.computation, [user])
  if collective.users:
    collective.replace_all_uses_with(builder.make_tuple(*(values[i] for i in range(len(values)))))

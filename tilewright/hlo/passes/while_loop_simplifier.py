"""Simplification of while loops: removes trips, state and comparisons that are not needed.

    known to make no trip            →  its initial state
    known to make one trip           →  its body, in place
    an element that is forwarded     →  its initial value after the loop; constants move into body and condition
    a dead element                   →  is dropped from the state
    two elements that are always equal  →  one
    an element that grows by a constant in every trip   →  the counter, multiplied and added to
    a comparison of the counter with the same result in every trip  →  a constant
    a state with tuples inside       →  one flat tuple

Preconditions: no control edges on the loop; state read element by element where it changes. *Proofs.* With no trip a loop returns
its initial state, with one the body applied to it. An invariant element has its initial value in every trip and afterwards.
Elements that start from the same value and are updated by the same value are equal in every trip. In trip n the counter is
k + n·s and an element that starts at e and grows by m·s is e + n·m·s = m · counter + (e - m·k), modulo 2 to the power of its bits.
Liveness is in `dce.py`. Trips are counted by the counter (`while_loops.py`) or,
where the condition depends on a few scalars that start from constants,
by running condition and updates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.hlo.analysis import call_graph, topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_computation, clone_instruction, copy_body, own_fusions
from tilewright.hlo.errors import HloError
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.dce import remove_dead as remove_unused
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.narrow import narrow_while
from tilewright.hlo.passes.pipeline_index import index_table
from tilewright.hlo.passes.while_loops import (
  Loop,
  Value,
  edit_alone,
  element,
  find_counter,
  is_invariant,
  own_computations,
  own_init,
  read_loop,
  remove_dead,
  step_of,
  trace,
)
from tilewright.hlo.shape import Shape

_TRANSFERS = frozenset({"send", "recv", "send-done", "recv-done"})
_TABULATED = 1 << 16  # trips up to which the values of counters are tabulated
_CONE = 64  # instructions of a condition and its updates that are run to count trips


@register_pass("while_loop_simplifier")
@dataclass(frozen=True)
class WhileLoopSimplifier(Pass):
  """Removes while loops with a trip count of 0 or 1, and loop state that is invariant, constant, duplicate or dead."""

  flatten: bool = True  # tuples inside the state
  simplify_compare_instrs: bool = True  # comparisons of the counter that come out the same in every trip
  merge_induction_variables: bool = True  # elements that grow by a constant

  def run(self, module: Module) -> bool:
    changed = False
    again = True
    while again:
      again = False
      for computation in call_graph(module).post_order:
        for instruction in [i for i in computation.topological_order() if i.opcode == "while"]:
          if instruction.parent is not computation or has_control_edges(instruction):
            continue
          if self._simplify(instruction, module):
            again = True
            inside = instruction.called_computations if instruction.parent is computation else ()
            for part in (*inside, computation):  # what the state no longer holds
              remove_unused(part)
      changed |= again
    return module.remove_unreachable_computations() > 0 or changed

  def _simplify(self, instruction: Instruction, module: Module) -> bool:
    changed = self.flatten and _flatten(instruction)
    loop = read_loop(instruction)
    trips = _trips_of_number(Loop(instruction)) if loop is None else count_trips(loop, 1)
    if trips == 0:
      _replace(instruction, instruction.operands[0])
      return True
    if trips == 1 and not any(i.opcode in _TRANSFERS for i in Loop(instruction).body.instructions):
      _inline(Loop(instruction), module)
      return True
    if loop is None:
      return changed
    changed |= _use_initial_values(loop)
    if instruction.parent is None:  # nobody needed more than its initial values
      return True
    if self.simplify_compare_instrs and edit_alone(loop, lambda: _decide_comparisons(loop)):
      changed = True
    if _may_narrow(loop) and edit_alone(loop, lambda: self._merge_and_narrow(loop)):
      return True
    return changed

  def _merge_and_narrow(self, loop: Loop) -> bool:
    merged = self.merge_induction_variables and _merge_counters(loop)
    return merged | _merge_equal(loop) | _narrow(loop)


def _narrow(loop: Loop) -> bool:
  return narrow_while(loop.instruction, Effects())


def _may_narrow(loop: Loop) -> bool:
  parameters = (loop.instruction, loop.parameter, loop.condition.parameters[0])
  return all(u.opcode == "get-tuple-element" for p in parameters for u in p.users) and not loop.instruction.is_root


def count_trips(loop: Loop, max_trips: int) -> int | None:
  """The number of trips, if it is known, from the counter or by running the condition; at most `max_trips` + 1 of those."""
  counter = find_counter(loop)
  if counter is not None:
    return counter.trips
  slots = _scalars_of_condition(loop)
  if slots is None:
    return None
  values = [loop.initial(slot).constant for slot in slots]
  known = [v for v in values if v is not None]
  if len(known) < len(values):
    return None
  step = _step_module(loop, slots)
  if step is None:
    return None
  from tilewright.hlo.evaluate import EvaluateLimits, evaluate

  limits = EvaluateLimits(bytes=2.0**20, steps=10_000, seconds=10)
  for trips in range(max_trips + 1):
    try:
      continues, *known = evaluate(step, *known, limits=limits)
    except HloError:
      return None
    if not bool(np.asarray(continues)):
      return trips
  return None


def _trips_of_number(loop: Loop) -> int | None:
  """The number of trips of a loop whose state is one number that starts from a constant; None if it is unknown or above 1."""
  (start,) = loop.instruction.operands
  small = len(loop.body.instructions) + len(loop.condition.instructions) <= _CONE
  if start.opcode != "constant" or not start.shape.is_scalar or loop.body is loop.condition or not small:
    return None
  effects = Effects()
  inside = [i for c in (loop.body, loop.condition) for i in c.instructions if i.opcode != "parameter"]
  if not all(map(effects.is_value, inside)):
    return None
  from tilewright.hlo.evaluate import EvaluateLimits, evaluate

  limits = EvaluateLimits(bytes=2.0**20, steps=10_000, seconds=10)
  known, trips = start.literal.value, 0
  try:
    while trips < 2 and bool(np.asarray(evaluate(_as_module(loop.condition), known, limits=limits))):
      known, trips = np.asarray(evaluate(_as_module(loop.body), known, limits=limits)), trips + 1
  except HloError:
    return None
  return trips if trips < 2 else None


def _as_module(computation: Computation) -> Module:
  """A module that computes what a computation does."""
  entry = clone_computation(computation)
  called = dict.fromkeys(c for i in entry.instructions for c in i.called_computations)
  module = Module(entry.name, [*called, entry], entry)
  entry.parent = module
  return module


def _scalars_of_condition(loop: Loop) -> list[int] | None:
  """The slots the condition depends on, through their updates, if they are few numbers."""
  parameter = loop.condition.parameters[0]
  if any(u.opcode != "get-tuple-element" for u in (*parameter.users, *loop.parameter.users)) or parameter.is_root:
    return None
  todo = [u.attrs["index"] for u in parameter.users]
  found: dict[int, None] = {}
  size = len(loop.condition.instructions)
  effects = Effects()
  if any(i.opcode != "parameter" and not effects.is_value(i) for i in loop.condition.instructions):
    return None
  while todo:
    slot = todo.pop()
    if slot in found:
      continue
    found[slot] = None
    shape = loop.instruction.shape.tuple_shapes[slot]
    if not shape.is_array or shape.num_elements != 1:
      return None
    for need in _backward_slice(loop.outputs[slot], loop.parameter):
      size += 1
      if size > _CONE or not need.shape.is_array or not effects.is_value(need):
        return None
      if need.opcode == "get-tuple-element":
        if need.operands[0] is not loop.parameter:
          return None
        todo.append(need.attrs["index"])
  return sorted(found)


def _backward_slice(value: Instruction, parameter: Instruction) -> list[Instruction]:
  found: dict[Instruction, None] = {}
  work = [value]
  while work and len(found) <= _CONE:
    top = work.pop()
    if top is not parameter and top not in found:
      found[top] = None
      work += top.operands
  return list(found)


def _step_module(loop: Loop, slots: list[int]) -> Module | None:
  """(slots) → (condition, slots after a trip), as a module."""
  builder = Builder("step")
  shapes = loop.instruction.shape.tuple_shapes
  inputs = {slot: builder.parameter(shapes[slot].with_layout(shapes[slot].layout)) for slot in slots}
  new: dict[Instruction, Instruction] = {}
  seen = loop.condition.parameters[0]
  for user in (*seen.users, *loop.parameter.users):
    if user.attrs["index"] in inputs:
      new[user] = inputs[user.attrs["index"]]
  wanted = [loop.condition.root, *(loop.outputs[slot] for slot in slots)]
  needed = {n for w in wanted for n in _backward_slice(w, loop.parameter if w is not loop.condition.root else seen)}
  for source in (loop.condition, loop.body):
    for instruction in topological_order(source):
      if instruction in needed and instruction not in new:
        if any(o not in new for o in instruction.operands):
          return None
        copy = clone_instruction(instruction, [new[o] for o in instruction.operands])
        new[instruction] = builder.computation.insert(copy)
  root = builder.make_tuple(*(new[w] for w in wanted))
  computation = builder.finish(root)
  called = dict.fromkeys(c for i in computation.instructions for c in i.called_computations)
  module = Module("step", [*called, computation], computation)
  computation.parent = module
  return module


def _replace(loop: Instruction, value: Instruction) -> None:
  assert loop.parent is not None
  loop.parent.replace(loop, value)


def _inline(loop: Loop, module: Module) -> None:
  computation, instruction = loop.computation, loop.instruction
  copies, new = copy_body(loop.body, {loop.parameter: instruction.operands[0]})
  own_fusions(copies, module)
  for copy in copies:
    computation.insert(copy, before=instruction)
  _replace(instruction, new[loop.body.root])


def _use_initial_values(loop: Loop) -> bool:
  """Readers of invariant elements read the initial value instead; constants are put into body and condition."""
  changed = False
  computation = loop.computation
  for slot in range(loop.slots):
    if not is_invariant(loop, slot):
      continue
    readers = [u for u in loop.instruction.users if u.opcode == "get-tuple-element" and u.attrs["index"] == slot]
    readers = [u for u in readers if (u.users or u.is_root) and not has_control_edges(u)]
    if readers:
      initial = element(own_init(loop), slot, Builder(computation, before=loop.instruction))
      for reader in readers:
        if reader.shape == initial.shape:
          reader.replace_all_uses_with(initial)
          remove_dead(computation, [reader])
          changed = True
      if loop.instruction.parent is None:
        return True
    value = loop.initial(slot)
    if value.constant is not None and value.instruction.shape == loop.instruction.shape.tuple_shapes[slot]:
      changed |= put_constant(loop, slot, value.instruction)
  return changed


def _decide_comparisons(loop: Loop) -> bool:
  """Comparisons in the body that the counter decides alike in every trip become constants."""
  counter = find_counter(loop)
  if counter is None or not 0 < counter.trips <= _TABULATED:
    return False
  changed = False
  for instruction in list(loop.body.instructions):
    if instruction.opcode != "compare" or instruction.shape.dimensions or has_control_edges(instruction):
      continue
    if instruction.is_root or not instruction.users:
      continue
    table = index_table(loop, Value(instruction), counter)
    if table is None or len(np.unique(table)) != 1:
      continue
    answer = Builder(loop.body, before=instruction).constant(np.bool_(table.reshape(-1)[0]))
    loop.body.replace(instruction, answer)
    changed = True
  return changed


def put_constant(loop: Loop, slot: int, constant: Instruction) -> bool:
  """Body and condition read a constant instead of an element that always holds it."""
  changed = False
  for computation in (loop.body, loop.condition):
    parameter = computation.parameters[0]
    for user in parameter.users:
      if user.opcode != "get-tuple-element" or user.attrs["index"] != slot or has_control_edges(user):
        continue
      others = [u for u in user.users if u is not computation.root or computation is loop.condition]
      if not others and not (user.is_root and computation is loop.condition):
        continue
      own_computations(loop)
      if computation not in (loop.body, loop.condition):
        return True  # it was shared, and is a copy now: the next round sees that
      copy = computation.insert(clone_instruction(constant), after=parameter)
      for other in others:
        other.replace_uses_of(user, copy)
      if user.is_root:
        computation.root = copy
      remove_dead(computation, [user])
      changed = True
  return changed


def _merge_equal(loop: Loop) -> bool:
  """Of two elements that start from the same and are updated to the same, one serves for both."""
  first: dict[tuple[object, Instruction], int] = {}
  changed = False
  for slot in range(loop.slots):
    start, update = loop.initial(slot), loop.outputs[slot]
    if not loop.instruction.shape.tuple_shapes[slot].is_array or is_invariant(loop, slot):
      continue
    same = first.setdefault((start, update), slot)
    if same == slot:
      continue
    for parameter in (loop.parameter, loop.condition.parameters[0], loop.instruction):
      for user in parameter.users:
        if user.attrs["index"] == slot and (user.users or user.is_root):
          user.attrs["index"] = same
          changed = True
  return changed


def _merge_counters(loop: Loop) -> bool:
  """Elements that start at a constant and grow by a multiple of the counter's step are computed from the counter."""
  counter = find_counter(loop)
  if counter is None or not counter.trips:
    return False
  changed = False
  for slot in range(loop.slots):
    shape, start = loop.instruction.shape.tuple_shapes[slot], loop.initial(slot).constant
    if slot == counter.slot or not shape.is_array or shape.dimensions or start is None or start.dtype.kind not in "iu":
      continue
    step = step_of(loop, slot)
    inside = [u for u in loop.parameter.users if u.attrs["index"] == slot]
    outside = [u for u in loop.instruction.users if u.attrs["index"] == slot]
    in_condition = any(u.attrs["index"] == slot for u in loop.condition.parameters[0].users)
    if not step or step % counter.step or in_condition or any(map(has_control_edges, (*inside, *outside))):
      continue
    if not outside and all(_only_grows(u, loop) for u in inside):
      continue  # dead
    kind, first = shape.element_type, int(start)
    times = step // counter.step
    for user in inside:
      builder = Builder(loop.body, before=user)
      value = element(loop.parameter, counter.slot, builder)
      if value.shape.element_type != kind:
        value = builder.convert(value, kind)
      if times != 1:
        value = builder.multiply(value, _wrapped_constant(builder, times, shape))
      if first != times * counter.start:
        value = builder.add(value, _wrapped_constant(builder, first - times * counter.start, shape))
      loop.body.replace(user, value)
    for user in outside:
      builder = Builder(loop.computation, before=user)
      loop.computation.replace(user, _wrapped_constant(builder, first + step * counter.trips, shape))
    changed = True
  return changed


def _only_grows(value: Instruction, loop: Loop) -> bool:
  """Whether nothing but next values of elements is computed from an element, by sums."""
  seen, todo = {value}, [value]
  while todo:
    users = [u for u in todo.pop().users if u is not loop.body.root and u not in seen]
    if any(u.opcode not in ("add", "subtract") for u in users):
      return False
    seen.update(users)
    todo += users
  return True


def _wrapped_constant(builder: Builder, value: int, shape: Shape) -> Instruction:
  dtype = shape.dtype
  bits = np.iinfo(dtype).bits
  value %= 1 << bits
  if shape.kind == "signed" and value >> (bits - 1):
    value -= 1 << bits
  return builder.constant(np.asarray(value, dtype))


def _flatten(instruction: Instruction) -> bool:
  """A state with tuples inside becomes a flat one."""
  state = instruction.shape
  if not state.is_tuple or not any(s.is_tuple for s in state.tuple_shapes) or instruction.sharding is not None:
    return False
  loop = Loop(instruction)
  if loop.body is loop.condition:
    return False
  own_computations(loop)
  paths = [path for path, _ in state.leaves()]
  flat = Shape.tuple_of(*(leaf for _, leaf in state.leaves()))
  for computation in (loop.body, loop.condition):
    parameter = computation.parameters[0]
    builder = Builder(computation)
    old_users, is_root = parameter.users, parameter.is_root
    place = computation.instructions.index(parameter) + 1
    builder.before = computation.instructions[place] if place < len(computation.instructions) else None
    parameter.shape, parameter.sharding, parameter.origin = flat, None, None
    nested = _nest(builder, [builder.element(parameter, i) for i in range(len(paths))], state)
    for user in old_users:
      user.replace_uses_of(parameter, nested)
    if is_root:
      computation.root = nested
  builder = Builder(loop.body)
  root = loop.body.root
  loop.body.root = builder.make_tuple(*(_at(builder, root, path) for path in paths))
  builder = Builder(loop.computation, before=instruction)
  init = builder.make_tuple(*(_at(builder, instruction.operands[0], path) for path in paths))
  instruction.set_operands((init,))
  instruction.shape, instruction.origin, instruction.backend_config = flat, None, ""
  users, is_root = instruction.users, instruction.is_root
  place = loop.computation.instructions.index(instruction) + 1
  following = loop.computation.instructions[place] if place < len(loop.computation.instructions) else None
  builder = Builder(loop.computation, before=following)
  nested = _nest(builder, [builder.element(instruction, i) for i in range(len(paths))], state)
  for user in users:
    user.replace_uses_of(instruction, nested)
  if is_root:
    loop.computation.root = nested
  for computation in (loop.body, loop.computation):
    _simplify_tuples(computation)
  _simplify_tuples(loop.condition)
  return True


def _at(builder: Builder, value: Instruction, path: tuple[int, ...]) -> Instruction:
  for index in path:
    value = element(value, index, builder)
  return value


def _nest(builder: Builder, leaves: list[Instruction], shape: Shape) -> Instruction:
  todo = list(leaves)

  def build(part: Shape) -> Instruction:
    return builder.make_tuple(*(build(p) for p in part.tuple_shapes)) if part.is_tuple else todo.pop(0)

  return build(shape)


def _simplify_tuples(computation: Computation) -> None:
  for instruction in computation.topological_order():
    if instruction.opcode != "get-tuple-element" or has_control_edges(instruction):
      continue
    value = trace(instruction)
    source = instruction.operands[0]
    if source.opcode == "tuple" and not value.frames:
      instruction.replace_all_uses_with(source.operands[instruction.attrs["index"]])
  remove_dead(
    computation, [i for i in reversed(computation.instructions) if i.opcode in ("get-tuple-element", "tuple")]
  )

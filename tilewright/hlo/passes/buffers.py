"""Buffer protection: inserts the copies that XLA will no longer insert itself.

Late in XLA's pipeline every in-place operation (a loop's state, a dynamic-update-slice, a donated parameter) has been proven
safe, or been given a copy, and is not checked again. A pass that runs after that point may invalidate a proof: two loops that started
from two zeros and now, after CSE, start from one; a loop element that is no longer overwritten last. So:

    uses = BufferUses(module)      # before the passes: the users of the buffer at each in-place position, and their order
    …passes…
    uses.protect(module)           # afterwards: a copy wherever that has changed and is not provably safe

A position is an operand that is (or may be) overwritten, a loop body's result, which shares a buffer with the body's parameter,
or a result of the entry or of a branch. It is trusted if the same instruction still overwrites the buffer of the same source,
with the same other users, of which the same ones are ordered before it. Otherwise it is safe if the source is a buffer of its
own and this is its only use. Otherwise it gets a copy. A result's copy waits for all readers of the buffer it goes to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tilewright.hlo.alias import Alias, forwards, fusion_in_place, must_alias
from tilewright.hlo.analysis import call_graph
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.shape import Shape, ShapeIndex

Value = tuple[Instruction, ShapeIndex]
Use = tuple[Instruction, int, ShapeIndex]  # user, operand number, part of the operand
Record = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Position:
  """Where a buffer is written. For a result, `written` is the parameter whose buffer it goes to, if any."""

  instruction: Instruction
  operand: int
  path: ShapeIndex
  is_result: bool = False
  written: Value | None = None

  @property
  def key(self) -> tuple[object, ...]:
    assert self.instruction.parent is not None
    if not self.is_result:
      return (self.instruction.name, self.operand, self.path)
    return (self.instruction.parent.name, "ROOT", self.path if self.operand < 0 else (self.operand, *self.path))

  @property
  def now(self) -> Position:
    """The same place after the root was taken apart."""
    root = self.instruction.parent.root if self.instruction.parent is not None else self.instruction
    if self.operand >= 0 or root is self.instruction or not self.path:
      return self
    return replace(self, instruction=root, operand=self.path[0], path=self.path[1:])


class BufferUses:
  """The uses that made each in-place position safe."""

  def __init__(self, module: Module) -> None:
    self._records = {position.key: _record(position) for position in _positions(module)}

  def protect(self, module: Module) -> int:
    """Adds the copies that have become necessary; returns the number of instructions added."""
    before = module.instruction_count
    positions = list(_positions(module))
    for position in positions:
      if not position.is_result and not self._holds(position):
        _copy_operand(position)
    # Elements that move to another place are read before anything is written, so that two can change places.
    for position in positions:
      if position.is_result and position.written is not None and not self._holds(position):
        _read_early(position)
    for position in positions:
      if position.is_result and not self._holds(position.now):
        _copy_result(position.now)
    return module.instruction_count - before

  def _holds(self, position: Position) -> bool:
    return self._records.get(position.key) == _record(position) or _is_safe(position)


def _positions(module: Module) -> Iterator[Position]:
  graph = call_graph(module)
  for computation in graph.post_order:
    if computation.is_fusion:
      continue
    for instruction in computation.instructions:
      for operand, path in dict.fromkeys(_overwritten(instruction)):
        yield Position(instruction, operand, path)
    callers = graph.callers[computation]
    if computation is module.entry:
      yield from _entry_results(module)
    elif any(c.opcode == "while" and c.attrs["body"] is computation for c in callers):
      parameter = computation.parameters[0]
      yield from _results(computation, {path: (parameter, path) for path, _ in parameter.shape.leaves()})
    elif any(c.opcode in ("conditional", "call", "async-start") for c in callers):
      yield from _results(computation, {})


def _entry_results(module: Module) -> Iterator[Position]:
  parameters = module.entry.parameters
  written: dict[ShapeIndex, Value] = {
    a.output_index: (parameters[a.parameter], a.parameter_index) for a in module.input_output_alias
  }
  yield from _results(module.entry, written)


def _results(computation: Computation, written: dict[ShapeIndex, Value]) -> Iterator[Position]:
  root = computation.root
  for path, leaf in root.shape.leaves():
    if not leaf.is_array:
      continue
    if root.opcode == "tuple" and path:
      yield Position(root, path[0], path[1:], True, written.get(path))
    else:
      yield Position(root, -1, path, True, written.get(path))


def _overwritten(instruction: Instruction) -> Iterator[tuple[int, ShapeIndex]]:
  """Operands whose buffers the instruction writes, or may write through a computation it calls."""
  for alias in must_alias(instruction):
    yield alias.operand, alias.operand_index
  if instruction.opcode in ("call", "conditional", "async-start"):
    for i, operand in enumerate(instruction.operands):
      yield from ((i, path) for path, leaf in operand.shape.leaves() if leaf.is_array)
  if instruction.opcode == "fusion":
    for alias in fusion_in_place(instruction):
      yield alias.operand, alias.operand_index


# Values and their uses, through instructions that only pass buffers on.


def _source(instruction: Instruction, path: ShapeIndex) -> Value:
  while True:
    for alias in forwards(instruction):
      if alias.output_index == path:
        instruction, path = instruction.operands[alias.operand], alias.operand_index
        break
    else:
      return instruction, path


def _uses(value: Value) -> dict[Use, None]:
  """All readers and writers of this value; the root of the computation counts as a user of its parts."""
  return _follow(value)[0]


def _uses_of_buffer(value: Value, last: Instruction | None = None) -> dict[Use, None]:
  """The same for every value that overwrites this one: a loop forwards the buffer of its state, an update the buffer it updates.
  What `last` writes is not followed.
  """
  return _follow(value, in_place=True, last=last)[0]


def _in_place(instruction: Instruction) -> list[Alias]:
  return [*must_alias(instruction), *(fusion_in_place(instruction) if instruction.opcode == "fusion" else ())]


def _follow(
  value: Value, in_place: bool = False, last: Instruction | None = None
) -> tuple[dict[Use, None], set[Value]]:
  """Uses of a value, and the values that alias it or overwrite it."""
  found: dict[Use, None] = {}
  work = [value]
  seen: set[Value] = set()
  while work:
    instruction, path = work.pop()
    if (instruction, path) in seen:
      continue
    seen.add((instruction, path))
    if instruction.is_root:
      found[instruction, -1, path] = None
    for user in instruction.users:
      through = forwards(user)
      for i, operand in enumerate(user.operands):
        if operand is not instruction:
          continue
        passed = [a for a in through if a.operand == i and a.operand_index == path]
        if not through:
          found[user, i, path] = None
          if in_place and user is not last:
            passed = [a for a in _in_place(user) if a.operand == i and a.operand_index == path]
        work += [(user, a.output_index) for a in passed]
  return found, seen


def _of(position: Position) -> Value:
  if position.operand < 0:
    return _source(position.instruction, position.path)
  return _source(position.instruction.operands[position.operand], position.path)


def _before(instruction: Instruction) -> set[Instruction]:
  """Everything that is finished when the instruction starts."""
  found: set[Instruction] = set()
  work = [instruction]
  while work:
    for need in (*work[-1].operands, *work.pop().control_predecessors):
      if need not in found:
        found.add(need)
        work.append(need)
  return found


def _record(position: Position) -> Record:
  source, path = _of(position)
  writer = source if position.is_result else position.instruction
  buffer = position.written if position.is_result else (source, path)
  others = _uses_of_buffer(buffer, writer) if buffer is not None else {}
  earlier = _before(writer) if len(others) > 1 else set()
  users = frozenset((user.name, user.opcode, i, user in earlier or user is writer) for user, i, _ in others)
  shared = frozenset((u.name, i) for u, i, _ in _uses((source, path))) if position.is_result else None
  return (source.name, source.opcode, path, users, shared)


def _is_safe(position: Position) -> bool:
  source, path = _of(position)
  uses = _uses((source, path))
  if not position.is_result:
    if source.opcode == "constant" or len(uses) > 1:
      return False
    return source.opcode != "parameter" or _is_loop_state(source)
  if position.written == (source, path):
    return True  # the element is passed on as it is
  if source.opcode in ("parameter", "constant") or sum(i < 0 for _, i, _ in uses) > 1:
    return False
  if position.written is None or (source, path) in _follow(position.written, in_place=True)[1]:
    return True  # a buffer of its own, or written in place into the right one
  earlier = _before(source)
  readers = [user for user, _, _ in _uses_of_buffer(position.written)]
  return all(user in earlier or (user is source and _may_reuse(source)) for user in readers)


def _is_loop_state(parameter: Instruction) -> bool:
  assert parameter.parent is not None and parameter.parent.parent is not None
  callers = call_graph(parameter.parent.parent).callers[parameter.parent]
  return bool(callers) and all(c.opcode == "while" and c.attrs["body"] is parameter.parent for c in callers)


def _may_reuse(instruction: Instruction) -> bool:
  """Whether the result may be written over an operand while it is computed: element by element, nothing else is read."""
  if instruction.opcode in ELEMENTWISE:
    return instruction.opcode not in ("bitcast-convert", "convert") and instruction.shape.is_array
  if instruction.opcode != "fusion" or instruction.attrs.get("kind") != "kLoop" or not instruction.shape.is_array:
    return False
  dims = instruction.shape.dimensions
  return all(
    i.opcode in ("parameter", "constant") or (i.opcode in ELEMENTWISE and i.shape.dimensions == dims)
    for i in instruction.called_computations[0].instructions
  )


# Copies.


def _copy_operand(position: Position) -> None:
  user = position.instruction
  new = _with_copy(user.operands[position.operand], position.path, user)
  user.replace_operand(position.operand, new)


def _with_copy(value: Instruction, path: ShapeIndex, before: Instruction) -> Instruction:
  """The value with the part at `path` copied, made just in front of `before`."""
  computation = before.parent
  assert computation is not None
  if not path:
    copy = Instruction("copy", "copy", value.shape, (value,), metadata=value.metadata)
    return computation.insert(copy, before=before)
  parts: list[Instruction] = []
  for i, shape in enumerate(value.shape.tuple_shapes):
    if value.opcode == "tuple":
      part = value.operands[i]
    else:
      part = Instruction("get-tuple-element", "get-tuple-element", shape, (value,), {"index": i}, value.metadata)
      computation.insert(part, before=before)
    parts.append(_with_copy(part, path[1:], before) if i == path[0] else part)
  rebuilt = Instruction("tuple", "tuple", value.shape, tuple(parts), metadata=value.metadata)
  return computation.insert(rebuilt, before=before)


def _read_early(position: Position) -> None:
  root, (source, _) = position.instruction, _of(position)
  if root.opcode == "tuple" and source.opcode == "parameter":
    root.replace_operand(position.operand, _with_copy(root.operands[position.operand], position.path, _last(root)))


def _last(root: Instruction) -> Instruction:
  """The root, moved to the end: results are written last."""
  computation = root.parent
  assert computation is not None
  if not root.users:
    computation.instructions.remove(root)
    computation.instructions.append(root)
  return root


def _copy_result(position: Position) -> None:
  root = position.instruction
  computation = root.parent
  assert computation is not None
  if root.opcode == "tuple":
    copied = _with_copy(root.operands[position.operand], position.path, _last(root))
    root.replace_operand(position.operand, copied)
  else:  # one part, or a tuple that has to be taken apart
    end = computation.insert(Instruction("end", "after-all", Shape.token()))  # a place to insert before
    copied = computation.root = _with_copy(root, position.path, end)
    computation.remove(end)
  made = _source(copied, position.path)[0]
  earlier = _before(made)
  for reader, i, _ in _uses_of_buffer(position.written) if position.written is not None else ():
    if i >= 0 and reader is not made and reader not in earlier and made not in _before(reader):
      made.add_control_predecessor(reader)

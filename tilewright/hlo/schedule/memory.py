"""The buffers of a computation: which nodes touch each, and which orders keep values apart that share one.

A *value* is what one instruction writes at one leaf of its shape. Tuples, elements, bitcasts and barriers forward values; so do starts
and dones, which hold their operands until the transfer has ended. An in-place operation (a loop, a dynamic-update-slice, a scatter,
an all-reduce-start, a fusion that ends in an update) writes a new value into the *buffer* of an existing one.

    b = broadcast(zero)           value 1, buffer A
    r = negate(b)                 reads value 1
    u = dynamic-update-slice(b…)  value 2, buffer A: `r` must come before `u`, although no data dependency requires it

A buffer is live from the first instruction that touches it to the last. Buffers the caller holds (parameters and results of a loop's
body, of a branch) are not counted here. Parameters and constants of the entry are live throughout: parameters count as
`Memory.always`, constants are not counted, as in XLA. Host memory is not counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.hlo.alias import forwards, fusion_in_place, is_in_place_permute, must_alias
from tilewright.hlo.cost.work import FREE
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.shape import Shape, ShapeIndex

# Their outputs are their operands (until the done), not overwritten ones.
_PASSING = frozenset(
  {
    "all-gather-start",
    "collective-permute-start",
    "async-start",
    "async-update",
    "async-done",
    "all-gather-done",
    "all-reduce-done",
    "collective-permute-done",
    "copy-start",
    "copy-done",
    "send",
    "recv-done",
  }
)
_SILENT = FREE - {"async-update"}  # forwarding a value is not a use


@dataclass(slots=True)
class Value:
  """What `writer` put into a buffer, and its readers."""

  buffer: int
  writer: Instruction
  users: dict[Instruction, None] = field(default_factory=dict)


@dataclass(slots=True)
class Buffer:
  """Memory of `size` bytes. `values` in the order in which they are written."""

  size: int
  values: list[int] = field(default_factory=list)
  live_in: bool = False  # from before the first instruction
  live_out: bool = False  # until after the last
  name: str = ""

  @property
  def is_held_outside(self) -> bool:
    return self.live_in and self.live_out


@dataclass(slots=True)
class Memory:
  """The buffers of one computation."""

  values: list[Value]
  buffers: list[Buffer]
  always: int  # bytes that are live throughout

  def touched(self) -> Iterator[tuple[int, Buffer, dict[Instruction, None]]]:
    """Every buffer with a bounded live range, with the instructions that touch it, writers first."""
    for number, buffer in enumerate(self.buffers):
      if not buffer.size or buffer.is_held_outside:
        continue
      touched: dict[Instruction, None] = {}
      for value in buffer.values:
        touched[self.values[value].writer] = None
      for value in buffer.values:
        touched |= self.values[value].users
      yield number, buffer, touched

  def waits(self, position: Mapping[Instruction, int]) -> Iterator[tuple[Instruction, Instruction]]:
    """(reader, writer): the reader of an old value before the writer of the next one, as in the order given."""
    for buffer in self.buffers:
      ordered = sorted(buffer.values, key=lambda v: position[self.values[v].writer])
      for old, new in itertools.pairwise(ordered):
        writer = self.values[new].writer
        before = self.values[old]
        for reader in (before.writer, *before.users):
          if reader is not writer and position[reader] < position[writer]:
            yield reader, writer


def memory_of(
  computation: Computation,
  order: Sequence[Instruction],
  host_space: int,
  owner: str,
  donated: Mapping[ShapeIndex, tuple[int, ShapeIndex]],
) -> Memory:
  """The buffers of a computation whose instructions are in `order`.

  `owner` is the holder of parameters and results: "entry" itself, or a caller: "body" of a loop (results go where parameters were)
  or "branch". `donated` maps results of the entry to the parameters whose buffers they take.
  """
  values: list[Value] = []
  buffers: list[Buffer] = []
  parts: dict[Instruction, dict[ShapeIndex, int]] = {}
  always = 0

  def new_buffer(shape: Shape, instruction: Instruction, path: ShapeIndex) -> int:
    on_host = shape.layout is not None and shape.layout.memory_space == host_space
    place = f"{instruction.name}{{{','.join(map(str, path))}}}" if path else instruction.name
    buffers.append(Buffer(0 if on_host else shape.byte_size, name=place))
    return len(buffers) - 1

  for instruction in order:
    passed, written = _aliases(instruction)
    own: dict[ShapeIndex, int] = {}
    for path, shape in instruction.shape.leaves():
      source = passed.get(path)
      if source is not None:
        found = parts[instruction.operands[source[0]]].get(source[1])
        if found is not None:
          own[path] = found
          continue
      if not shape.is_array:
        continue
      target = written.get(path)
      into = parts[instruction.operands[target[0]]].get(target[1]) if target is not None else None
      buffer = values[into].buffer if into is not None else new_buffer(shape, instruction, path)
      if instruction.opcode in ("parameter", "constant"):
        kept = buffers[buffer]
        kept.live_in = kept.live_out = True
        if instruction.opcode == "parameter" and owner == "entry":
          always += kept.size
        kept.size = 0
      own[path] = len(values)
      values.append(Value(buffer, instruction))
      buffers[buffer].values.append(len(values) - 1)
    parts[instruction] = own
    if instruction.opcode not in _SILENT:
      for operand in instruction.operands:
        for value in parts[operand].values():
          values[value].users[instruction] = None
  _results(computation, owner, donated, parts, values, buffers)
  return Memory(values, buffers, always)


def _aliases(
  instruction: Instruction,
) -> tuple[dict[ShapeIndex, tuple[int, ShapeIndex]], dict[ShapeIndex, tuple[int, ShapeIndex]]]:
  """Output path → (operand, path): of forwarded values, and of buffers that are written in place."""
  passed = {a.output_index: (a.operand, a.operand_index) for a in forwards(instruction)}
  pairs = {a.output_index: (a.operand, a.operand_index) for a in must_alias(instruction)}
  if instruction.opcode in _PASSING:
    written: dict[ShapeIndex, tuple[int, ShapeIndex]] = {}
    if is_in_place_permute(instruction):  # the source is held, the destination is written
      written = {path: target for path, target in pairs.items() if target[0] == 1}
    return passed | {path: source for path, source in pairs.items() if path not in written}, written
  if instruction.opcode == "fusion":
    pairs |= {a.output_index: (a.operand, a.operand_index) for a in fusion_in_place(instruction)}
  return passed, pairs


def _results(
  computation: Computation,
  owner: str,
  donated: Mapping[ShapeIndex, tuple[int, ShapeIndex]],
  parts: dict[Instruction, dict[ShapeIndex, int]],
  values: list[Value],
  buffers: list[Buffer],
) -> None:
  """Results are live out; those written to a parameter's buffer are written after it was read."""
  parameters = computation.parameters
  for path, number in parts[computation.root].items():
    buffer = buffers[values[number].buffer]
    target: int | None = None
    if owner == "body":
      target = parts[parameters[0]].get(path)
    elif path in donated:
      parameter, part = donated[path]
      target = parts[parameters[parameter]].get(part)
    buffer.live_out = True
    if owner != "entry" or target is not None:
      buffer.size = 0
    if target is not None and values[target].buffer != values[number].buffer and not buffer.live_in:
      home = values[target].buffer
      moved, buffer.values = buffer.values, []
      for value in moved:
        values[value].buffer = home
      buffers[home].values += moved


def readers_first(order: Sequence[Instruction]) -> list[Instruction]:
  """The order with those who read the destination of an asynchronous permute of slices before its start, where nothing forbids it.

  A later reader would need a copy of the destination. A reader that follows from the start stays, and so does one that
  needs something that is written in place itself.
  """
  order = list(order)
  for start in [i for i in order if i.opcode == "collective-permute-start" and is_in_place_permute(i)]:
    place = order.index(start)
    following = set(order[place + 1 :])
    for reader in [i for i in start.operands[1].users if i in following]:
      needed: set[Instruction] = set()
      todo = [reader]
      while todo:
        top = todo.pop()
        if top not in needed:
          needed.add(top)
          todo += [n for n in (*top.operands, *top.control_predecessors) if n in following or n is start]
      if start in needed or any(must_alias(i) for i in needed):
        continue
      moved = [i for i in order[place + 1 :] if i in needed]
      order[place:] = [*moved, *(i for i in order[place:] if i not in needed)]
      place += len(moved)
      following -= needed
  return order

"""Rules of starts and dones: what each holds, who follows whom, and what both ends of a transfer agree on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tilewright.hlo.alias import is_in_place_permute
from tilewright.hlo.ir import Instruction
from tilewright.hlo.shape import Shape
from tilewright.hlo.verify_operands import Rule

Problems = Iterator[str]


def _is_u32(shape: Shape) -> bool:
  return shape.element_type == "u32" and not shape.rank


def _one_consumer(instruction: Instruction) -> Problems:
  """A start has exactly one done."""
  users = instruction.users
  if len(users) != 1:
    yield f"the {instruction.opcode} needs one consumer, its done, and has {len(users)}"


def _copy_start(instruction: Instruction) -> Problems:
  parts, (x,) = instruction.shape.tuple_shapes, instruction.operands
  good = len(parts) == 3 and parts[0].compatible(x.shape) and parts[1].compatible(x.shape) and _is_u32(parts[2])
  if not good:
    yield f"a copy-start of {x.shape} gives ({x.shape}, {x.shape}, u32[]), not {instruction.shape}"


def _copy_done(instruction: Instruction) -> Problems:
  yield from _gives(instruction, instruction.operands[0].shape, 0)


def _second(instruction: Instruction) -> Problems:
  yield from _gives(instruction, instruction.operands[0].shape, 1)


def _gives(done: Instruction, start: Shape, index: int) -> Problems:
  if not start.is_tuple or len(start.tuple_shapes) <= index:
    yield f"its operand has the shape {start}, which has no element {index}"
  elif not start.tuple_shapes[index].compatible(done.shape):
    yield f"a {done.opcode} of {start} gives {start.tuple_shapes[index]}, not {done.shape}"


def _forwards_operands(instruction: Instruction) -> Problems:
  """all-gather-start and collective-permute-start: `(operands, results)`, and what a back end adds."""
  shape, given = instruction.shape, [o.shape for o in instruction.operands]
  if is_in_place_permute(instruction) or "slice_sizes" in instruction.attrs:
    return
  if not shape.is_tuple or len(shape.tuple_shapes) < 2:
    yield f"a {instruction.opcode} gives (operands, results), not {shape}"
    return
  wanted = given[0] if len(given) == 1 else Shape.tuple_of(*given)
  if not shape.tuple_shapes[0].compatible(wanted):
    yield f"the first element of its result is {shape.tuple_shapes[0]}, its operands are {wanted}"
  if instruction.opcode == "collective-permute-start" and not shape.tuple_shapes[1].compatible(wanted):
    yield f"a permute of {wanted} gives {wanted}, not {shape.tuple_shapes[1]}"


def _async_start(instruction: Instruction) -> Problems:
  called, shape = instruction.called_computations, instruction.shape
  if len(called) != 1 or not shape.is_tuple or len(shape.tuple_shapes) < 2:
    return
  held, result = shape.tuple_shapes[0], shape.tuple_shapes[1]
  given = [o.shape for o in instruction.operands]
  wanted = [p.shape for p in called[0].parameters]
  if len(given) != len(wanted) or not all(a.compatible(b) for a, b in zip(given, wanted)):
    yield f"%{called[0].name} takes {', '.join(map(str, wanted))}, not {', '.join(map(str, given))}"
  elif not held.compatible(Shape.tuple_of(*wanted)):
    yield f"the first element of its result is {held}, its operands are {', '.join(map(str, given))}"
  if not called[0].root.shape.compatible(result):
    yield f"%{called[0].name} returns {called[0].root.shape}, not {result}"


def _async_update(instruction: Instruction) -> Problems:
  before = instruction.operands[0].shape
  if not before.compatible(instruction.shape):
    yield f"an async-update of {before} gives {before}, not {instruction.shape}"


def _tokens(*which: int) -> Rule:
  def rule(instruction: Instruction) -> Problems:
    for number in which:
      if -len(instruction.operands) <= number < len(instruction.operands):
        shape = instruction.operands[number].shape
        if not shape.is_token:
          yield f"{instruction.opcode} waits for a token, not for {shape}"

  return rule


def _half(instruction: Instruction) -> Problems:
  """send and recv: (data, context, token)."""
  parts = instruction.shape.tuple_shapes
  if len(parts) != 3 or not parts[2].is_token:
    yield f"a {instruction.opcode} gives (data, u32[], token), not {instruction.shape}"
  elif instruction.opcode == "send" and not parts[0].compatible(instruction.operands[0].shape):
    yield f"a send of {instruction.operands[0].shape} gives it in its result, not {parts[0]}"


def _end_of(half: str, other: str, wanted: Callable[[Shape], Shape]) -> Rule:
  def rule(instruction: Instruction) -> Problems:
    begin = instruction.operands[0]
    if begin.opcode == other:
      yield f"its operand is a {other}"
    if begin.opcode != half:
      return  # it comes from an earlier trip of a loop
    to_host, channel = (
      [i.attrs.get(name) for i in (begin, instruction)] for name in ("is_host_transfer", "channel_id")
    )
    if bool(to_host[0]) != bool(to_host[1]):
      yield f"is_host_transfer is {bool(to_host[1])} here, and {bool(to_host[0])} at the {half}"
    if channel[1] and channel[1] != channel[0]:
      yield f"channel_id is {channel[1]} here, and {channel[0]} at the {half}"
    if len(begin.shape.tuple_shapes) == 3 and not wanted(begin.shape).compatible(instruction.shape):
      yield f"a {instruction.opcode} of {begin.shape} gives {wanted(begin.shape)}, not {instruction.shape}"

  return rule


PAIR_RULES: dict[str, tuple[Rule, ...]] = {
  "all-reduce-start": (_one_consumer,),
  **dict.fromkeys(("all-gather-start", "collective-permute-start"), (_forwards_operands, _one_consumer)),
  **dict.fromkeys(("all-gather-done", "collective-permute-done", "async-done"), (_second,)),
  "copy-start": (_copy_start, _one_consumer),
  "copy-done": (_copy_done,),
  "async-start": (_async_start, _one_consumer),
  "async-update": (_async_update,),
  "send": (_tokens(1), _half),
  "recv": (_tokens(0), _half),
  "recv-done": (_end_of("recv", "send", lambda s: Shape.tuple_of(s.tuple_shapes[0], s.tuple_shapes[2])),),
  "send-done": (_end_of("send", "recv", lambda s: s.tuple_shapes[2]),),
  "infeed": (_tokens(0),),
  "outfeed": (_tokens(-1),),
  "add-dependency": (_tokens(1),),
}

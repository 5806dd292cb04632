"""Which instructions of a loop belong to a collective: the chain behind it, the chain before it, and barriers between.

The passes that move collectives across trips look through *formatting*: instructions that only move or convert elements, and
fusions of such instructions. An optimization barrier over several values is looked through value by value. If some
of them move to another trip, the barrier is split: those that move get a barrier of their own, the others keep theirs.
A barrier keeps values apart from the optimizer; it computes nothing, so two barriers mean what one did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tilewright.hlo.analysis import topological_order
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import copy_body
from tilewright.hlo.ir import Computation, Instruction
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.while_loops import Loop, Value, has_effect, remove_dead, trace

COLLECTIVES = frozenset({"all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all"})
FORMATTING = frozenset({"reshape", "transpose", "convert", "bitcast", "copy", "broadcast", "slice", "reverse", "pad"})
STRUCTURE = frozenset({"tuple", "get-tuple-element", "opt-barrier", "constant"})
# Index arithmetic, which may go along with a dynamic-slice or a dynamic-update-slice.
INDEX = frozenset(
  {"add", "subtract", "multiply", "compare", "select", "clamp", "maximum", "minimum", "remainder", "divide"}
)


def is_collective(instruction: Instruction, min_bytes: int = 0) -> bool:
  """One that may be moved: a plain one, of arrays, that nothing orders by control edges."""
  if instruction.opcode not in COLLECTIVES or has_control_edges(instruction) or instruction.shape.is_dynamic:
    return False
  if len(instruction.operands) != 1 or not instruction.shape.is_array or "slice_sizes" in instruction.attrs:
    return False
  return instruction.operands[0].shape.byte_size >= min_bytes


def is_cheap(instruction: Instruction, also: frozenset[str] = frozenset()) -> bool:
  """Formatting, structure, arithmetic on single numbers, or a fusion of those; `also` names more opcodes."""
  if has_control_edges(instruction):
    return False
  if instruction.opcode == "fusion":
    inside = instruction.called_computations[0].instructions
    return not has_effect(instruction) and all(i.opcode == "parameter" or is_cheap(i, also) for i in inside)
  if instruction.opcode in INDEX:
    return instruction.shape.is_array and instruction.shape.num_elements == 1
  return instruction.opcode in FORMATTING | STRUCTURE | also


def strip_formatting(value: Value, also: frozenset[str] = frozenset()) -> Value:
  """What a value is before formatting; `also` names more opcodes to look through to their first operand."""
  while value.instruction.opcode in (FORMATTING - {"pad"}) | also and not value.path:
    value = value.operand(0)
  return value


def chain_after(body: Computation, starts: Iterable[Instruction]) -> set[Instruction]:
  """Everything that depends on `starts`, with them, without the root. Barriers are split where only some values do."""
  return _separate(body, set(starts), lambda instruction, inside: any(o in inside for o in instruction.operands))


def chain_before(
  body: Computation, leaves: Iterable[Instruction], also: frozenset[str] = frozenset()
) -> set[Instruction]:
  """Everything that is computed from `leaves` and constants by cheap instructions, with them. Barriers are split likewise."""

  def joins(instruction: Instruction, inside: set[Instruction]) -> bool:
    if instruction.opcode == "constant":
      return True
    return bool(instruction.operands) and is_cheap(instruction, also) and all(o in inside for o in instruction.operands)

  return _separate(body, set(leaves), joins)


def _separate(
  body: Computation, inside: set[Instruction], joins: Callable[[Instruction, set[Instruction]], bool]
) -> set[Instruction]:
  for instruction in topological_order(body):
    if instruction in inside or instruction is body.root or instruction.opcode == "parameter":
      continue
    if instruction.opcode == "opt-barrier" and instruction.operands[0].opcode == "tuple":
      inside |= _split_barrier(instruction, inside)
    elif (
      instruction.opcode == "tuple" and instruction.users and all(u.opcode == "opt-barrier" for u in instruction.users)
    ):
      continue  # its elements speak for themselves
    elif joins(instruction, inside):
      inside.add(instruction)
  return inside


def _split_barrier(barrier: Instruction, inside: set[Instruction]) -> set[Instruction]:
  """Parts a barrier by whether its values are inside; gives the new instructions that are."""
  (source,) = barrier.operands
  chosen = [i for i, value in enumerate(source.operands) if value in inside]
  if not chosen:
    return set()
  if len(chosen) == len(source.operands):
    return {source, barrier}
  if barrier.is_root or any(user.opcode != "get-tuple-element" for user in barrier.users):
    return set()  # used as a whole: what it holds stays where it is
  assert barrier.parent is not None
  builder = Builder(barrier.parent, before=barrier, metadata=barrier.metadata)
  moved: set[Instruction] = set()
  for group in (chosen, [i for i in range(len(source.operands)) if i not in chosen]):
    values = builder.make_tuple(*(source.operands[i] for i in group))
    new = builder.op("opt-barrier", (values,))
    elements = {i: builder.element(new, position) for position, i in enumerate(group)}
    for user in barrier.users:
      if user.attrs["index"] in elements:
        user.replace_all_uses_with(elements[user.attrs["index"]])
        remove_dead(builder.computation, [user])
    if group is chosen:
      moved = {values, new, *elements.values()}
  remove_dead(builder.computation, [barrier])
  return moved


def unfuse_stores(body: Computation) -> None:
  """Takes apart the fusions that only format and store what a collective gives, so that each part can be seen."""
  for fusion in [i for i in body.instructions if i.opcode == "fusion"]:
    reads = any(trace(operand).instruction.opcode in COLLECTIVES for operand in fusion.operands)
    if not reads or not is_cheap(fusion, frozenset({"dynamic-update-slice", "dynamic-slice"})):
      continue
    inner = fusion.called_computations[0]
    copies, new = copy_body(inner, dict(zip(inner.parameters, fusion.operands)))
    for copy in copies:
      body.insert(copy, before=fusion)
    body.replace(fusion, new[inner.root])


def elements_of(loop: Loop, slot: int) -> list[Instruction]:
  """The get-tuple-elements of a slot inside the body."""
  return [u for u in loop.parameter.users if u.opcode == "get-tuple-element" and u.attrs["index"] == slot]


def reads_by_element(loop: Loop) -> bool:
  """Whether body and condition only look at single slots."""
  parameters = (loop.parameter, loop.condition.parameters[0])
  return all(u.opcode == "get-tuple-element" for p in parameters for u in p.users) and not any(
    p.is_root for p in parameters
  )

"""Collectives and copies as start/done pairs, so that a scheduler may place work between the two; and the inverse.

    y = all-reduce(x)        s = all-reduce-start(x)    y = all-reduce-done(s)

*Into pairs.* A pair has the value of the instruction it replaces: the start does the work, the done returns the result. Predecessors of
the instruction precede the start, successors follow the done. An opcode without start and done of
its own (reduce-scatter, all-to-all, …) is wrapped in an async computation. Copies are converted where they cross memory spaces.

*The inverse.* In a scheduled module, if everything between a start and its done costs nothing (parameters, constants, tuples,
bitcasts) or belongs to another pair of a collective, no computation overlaps and the pair only costs a stream change: it becomes the
plain instruction, in the done's position. Its operands are still live and the result is not read earlier. Left alone: pairs with
control edges between, updates, results shared by several dones, prefetches across programs. `everything=true` converts every such
pair, in any module.

XLA's GPU back end runs pairs; its CPU back end has no thunks for them and refuses the program, so in a compilation for the CPU
no pair is created.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.alias import is_in_place_permute
from tilewright.hlo.builder import Builder
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import Pass, compiled_platform, register_pass
from tilewright.hlo.shape import Shape

GROUP = "_scheduling_group_id"
OWN_PAIRS = frozenset({"all-reduce", "all-gather", "collective-permute"})
WRAPPED = frozenset({"reduce-scatter", "all-to-all", "collective-broadcast", "ragged-all-to-all"})
FREE = frozenset(
  {"parameter", "constant", "bitcast", "tuple", "get-tuple-element", "after-all", "partition-id", "replica-id"}
)


@register_pass("async_collectives")
@dataclass(frozen=True)
class AsyncCollectives(Pass):
  """Turns collectives, and copies between memory spaces, into start/done pairs."""

  min_bytes: int = 0  # of the operands; smaller ones stay
  copies: bool = True
  all_copies: bool = False  # also within one memory space
  opcodes: str = ""  # which collectives, with | between them; empty: all

  def run(self, module: Module) -> bool:
    if compiled_platform() == "cpu":
      return False  # it has no thunks for them
    changed = False
    for computation in _bodies(module):
      for instruction in list(computation.instructions):
        if self._is_wanted(instruction):
          _make_async(instruction, module)
          changed = True
    return changed

  def _is_wanted(self, instruction: Instruction) -> bool:
    if instruction.opcode == "copy":
      return self.copies and (self.all_copies or _crosses_memories(instruction)) and self._is_large(instruction)
    wanted = frozenset(part.strip() for part in self.opcodes.split("|")) if self.opcodes else OWN_PAIRS | WRAPPED
    return instruction.opcode in wanted & (OWN_PAIRS | WRAPPED) and self._is_large(instruction)

  def _is_large(self, instruction: Instruction) -> bool:
    return sum(operand.shape.byte_size for operand in instruction.operands) >= self.min_bytes


def _bodies(module: Module) -> list[Computation]:
  """Computations that may contain an async pair: not fusions, not reducers, not the body of another pair."""
  applied = {
    called
    for instruction in module.instructions()
    for called in instruction.called_computations
    if instruction.opcode not in ("while", "conditional", "call")
  }
  return [c for c in module.computations if not c.is_fusion and c not in applied]


def _crosses_memories(copy: Instruction) -> bool:
  before, after = copy.operands[0].shape.layout, copy.shape.layout
  return before is not None and after is not None and before.memory_space != after.memory_space


def _make_async(instruction: Instruction, module: Module) -> None:
  opcode, computation = instruction.opcode, instruction.parent
  assert computation is not None
  if opcode in WRAPPED:
    start = _wrapped_start(instruction, module)
    done = Instruction(f"{opcode}-done", "async-done", instruction.shape, (start,), {"calls": start.attrs["calls"]})
  else:
    start = clone_instruction(instruction, shape=_start_shape(instruction), name=f"{opcode}-start")
    start.opcode, start.sharding, start.origin = f"{opcode}-start", None, None
    done = Instruction(f"{opcode}-done", f"{opcode}-done", instruction.shape, (start,))
  done.metadata = start.metadata = instruction.metadata
  if GROUP in instruction.frontend_attributes:  # both ends belong to it
    done.frontend_attributes[GROUP] = start.frontend_attributes[GROUP] = instruction.frontend_attributes[GROUP]
  computation.insert(start, before=instruction)
  computation.insert(done, before=instruction)
  for predecessor in instruction.control_predecessors:
    start.add_control_predecessor(predecessor)
    instruction.remove_control_predecessor(predecessor)
  computation.replace(instruction, done)


def _start_shape(instruction: Instruction) -> Shape:
  result, operands = instruction.shape, [operand.shape for operand in instruction.operands]
  if instruction.opcode == "all-reduce":
    return result
  if instruction.opcode == "copy":
    return Shape.tuple_of(result, operands[0], Shape.array("u32"))
  if is_in_place_permute(instruction):  # the destination is the result
    return Shape.tuple_of(operands[0], operands[1])
  return Shape.tuple_of(operands[0] if len(operands) == 1 else Shape.tuple_of(*operands), result)


def _wrapped_start(instruction: Instruction, module: Module) -> Instruction:
  builder = Builder(f"async_{instruction.opcode.replace('-', '_')}")
  parameters = [builder.parameter(operand.shape) for operand in instruction.operands]
  inner = builder.computation.insert(clone_instruction(instruction, parameters))
  wrapper = module.add_computation(builder.finish(inner))
  shape = Shape.tuple_of(Shape.tuple_of(*(o.shape for o in instruction.operands)), instruction.shape)
  return Instruction(
    f"{instruction.opcode}-start", "async-start", shape, instruction.operands, {"calls": wrapper}, instruction.metadata
  )


@register_pass("sync_collectives")
@dataclass(frozen=True)
class SyncCollectives(Pass):
  """Turns start/done pairs that nothing overlaps back into plain instructions."""

  everything: bool = False  # also pairs that something does overlap, and modules without a schedule

  def run(self, module: Module) -> bool:
    if not module.is_scheduled and not self.everything:
      return False
    changed = False
    for computation in module.computations:
      starts = [i for i in computation.instructions if i.opcode.endswith("-start")]
      pairs = [(start, done) for start in starts if (done := _only_done(start)) is not None]
      for start, done in [p for p in pairs if self.everything or _nothing_between(computation, *p)]:
        _make_sync(start, done)
        changed = True
    if changed:
      module.remove_unreachable_computations()
    return changed


def _only_done(start: Instruction) -> Instruction | None:
  """The one done of a start that may become a plain instruction."""
  if start.is_root or start.user_count != 1 or "cross_program_prefetch_index" in start.attrs:
    return None
  (done,) = start.users
  if done.opcode != start.opcode.removesuffix("-start") + "-done" or start.control_successors:
    return None
  if done.control_predecessors:
    return None
  if start.opcode == "async-start":
    wrapper = start.called_computations[0]
    plain = all(i.opcode == "parameter" or i is wrapper.root for i in wrapper.instructions)
    if not plain or [o.opcode for o in wrapper.root.operands] != ["parameter"] * len(wrapper.root.operands):
      return None
  return done


def _nothing_between(computation: Computation, start: Instruction, done: Instruction) -> bool:
  first, last = computation.instructions.index(start), computation.instructions.index(done)
  return all(i.opcode in FREE or _is_half(i) for i in computation.instructions[first + 1 : last])


def _is_half(instruction: Instruction) -> bool:
  """Whether it is the start or the done of a collective."""
  opcode = instruction.opcode
  if opcode in ("async-start", "async-done"):
    return instruction.called_computations[0].root.opcode in OWN_PAIRS | WRAPPED
  return opcode.endswith(("-start", "-done")) and opcode.rpartition("-")[0] in OWN_PAIRS


def _make_sync(start: Instruction, done: Instruction) -> None:
  computation = start.parent
  assert computation is not None
  if start.opcode == "async-start":
    inner = start.called_computations[0].root
    plain = clone_instruction(inner, [start.operands[o.parameter_number] for o in inner.operands], done.shape)
  else:
    opcode = start.opcode.removesuffix("-start")
    plain = clone_instruction(start, shape=done.shape, name=opcode)
    plain.opcode = opcode
  computation.insert(plain, before=done)
  for predecessor in start.control_predecessors:
    plain.add_control_predecessor(predecessor)
    start.remove_control_predecessor(predecessor)
  computation.replace(done, plain)
  computation.remove(start)

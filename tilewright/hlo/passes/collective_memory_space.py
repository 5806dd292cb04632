"""Buffers of collectives in the memory space that the network reads and writes directly.

    y = f32[8]{0} all-reduce(f32[8]{0} x)     →     y = f32[8]{0:S(1)} all-reduce(f32[8]{0:S(1)} x)

Colour 0 is the default, 1 collective memory, 2 temporary memory. An operand of a collective is allocated in its colour if it is an
instruction of the same computation with its own buffer; parameters, constants, and values that share a buffer (tuples, loops, in-place
updates) are copied into it. The result has the colour, and is copied out where it would escape through such a shared buffer. A value that
already has another colour is an error: two owners want it in two places. *Proof.* A colour says where a value is located, not what it
is; copies change only the location.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from tilewright.hlo.alias import forwards, fusion_in_place, is_in_place_permute, must_alias
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.passes.base import HloPassError, Pass, register_pass
from tilewright.hlo.shape import Layout, Shape

OPCODES = frozenset(
  {"all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all", "collective-broadcast"}
)
DEFAULT, COLLECTIVE, TEMPORARY = 0, 1, 2


@register_pass("collective_memory_space")
@dataclass(frozen=True)
class CollectiveMemorySpace(Pass):
  """Assigns collective memory to the buffers of collectives, with copies where a buffer has other owners."""

  memory_space: int = COLLECTIVE
  opcodes: str = ""  # with | between them; empty: all collectives

  def run(self, module: Module) -> bool:
    wanted = frozenset(part.strip() for part in self.opcodes.split("|")) if self.opcodes else OPCODES
    unknown = wanted - OPCODES
    if unknown:
      raise HloPassError(
        f"collective_memory_space: {', '.join(sorted(unknown))} is none of {', '.join(sorted(OPCODES))}"
      )
    changed = False
    for computation in module.computations:
      if computation.is_fusion:
        continue
      for instruction in list(computation.instructions):
        if instruction.opcode in wanted and not is_in_place_permute(instruction):
          changed |= self._colour(instruction, computation)
    return changed

  def _colour(self, collective: Instruction, computation: Computation) -> bool:
    changed = False
    for number, operand in enumerate(collective.operands):
      if _space(operand.shape) == self.memory_space:
        continue
      _check(operand, operand.shape, self.memory_space)
      if _has_own_buffer(operand) and not operand.is_root:
        operand.shape = _in_space(operand.shape, self.memory_space)
      else:
        copy = Instruction(
          "copy", "copy", _in_space(operand.shape, self.memory_space), (operand,), {}, operand.metadata
        )
        collective.replace_operand(number, computation.insert(copy, before=collective))
      changed = True
    parts = collective.shape.tuple_shapes if collective.shape.is_tuple else (collective.shape,)
    if all(_space(part) == self.memory_space for part in parts):
      return changed
    for part in parts:
      _check(collective, part, self.memory_space)
    old = collective.shape
    new = [_in_space(part, self.memory_space) for part in parts]
    collective.shape = Shape.tuple_of(*new) if collective.shape.is_tuple else new[0]
    values = [collective]
    if collective.shape.is_tuple:
      values = [user for user in collective.users if user.opcode == "get-tuple-element"]
      for value in values:
        value.shape = collective.shape.tuple_shapes[value.attrs["index"]]
    for value in values:
      self._copy_out(value, computation)
    if collective.shape.is_tuple and (
      collective.is_root or any(u.opcode != "get-tuple-element" for u in collective.users)
    ):
      collective.shape = old  # it leaves as a whole
      for value in values:
        value.shape = old.tuple_shapes[value.attrs["index"]]
    return True

  def _copy_out(self, value: Instruction, computation: Computation) -> None:
    """Users that forward the buffer or write into it get a copy in the default space."""
    shared = [u for u in value.users if u.opcode not in OPCODES and _shares(u, value)]
    if not shared and not value.is_root:
      return
    copy = Instruction("copy", "copy", _in_space(value.shape, DEFAULT), (value,), {}, value.metadata)
    place = computation.instructions.index(value) + 1
    following = computation.instructions[place] if place < len(computation.instructions) else None
    computation.insert(copy, before=following)
    for user in shared:
      user.replace_uses_of(value, copy)
    if value.is_root:
      computation.root = copy


def _space(shape: Shape) -> int:
  return shape.layout.memory_space if shape.layout is not None else DEFAULT


def _in_space(shape: Shape, space: int) -> Shape:
  layout = shape.layout or Layout.descending(shape.rank)
  return shape.with_layout(dataclasses.replace(layout, memory_space=space))


def _check(instruction: Instruction, shape: Shape, space: int) -> None:
  if _space(shape) not in (DEFAULT, space):
    raise HloPassError(
      f"collective_memory_space: %{instruction.name} lies in memory space {_space(shape)}, and a collective wants it in {space}"
    )


def _has_own_buffer(value: Instruction) -> bool:
  """Whether the instruction allocates a buffer that nothing else aliases or writes."""
  if value.opcode in ("parameter", "constant", "custom-call", "copy-done") or value.opcode.endswith("-done"):
    return False
  if (
    not value.shape.is_array
    or forwards(value)
    or must_alias(value)
    or (value.called_computations and value.opcode != "fusion")
  ):
    return False
  if value.opcode == "fusion" and fusion_in_place(value):
    return False
  return not any(_shares(user, value) for user in value.users)


def _shares(user: Instruction, value: Instruction) -> bool:
  aliases = [*forwards(user), *must_alias(user)]
  if user.opcode == "fusion":
    aliases += fusion_in_place(user)
  if user.opcode in ("call", "conditional", "while", "async-start", "tuple"):
    return True
  return any(user.operands[a.operand] is value for a in aliases)

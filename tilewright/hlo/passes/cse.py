"""Common-subexpression elimination: of two instructions that compute the same value, the first replaces the second.

Precondition: both are functions of their operands (`Effects.is_function`: no side effects, no barriers, no randomness), in one
computation, without control edges, and agree in opcode, shape with layout, operands and every attribute (called computations by
structure, constants bit by bit); the operands of commutative operations in either order. Outputs of a fusion that are one value
inside it count as one. Proof: equal functions of equal operands are equal, and the first precedes every use of the second
because its operands do.

Custom calls without side effects are functions, as their attribute declares. So are synchronous collectives: devices run one
program, so all of them omit the second one. Channel ids are not compared, because they only distinguish transfers.

Metadata is not compared; the first keeps its own. Copies are merged unless the back end has inserted them for their buffers
already, as XLA's on the CPU has when passes run inside of it. Scheduled modules are refused: their buffers are already assigned,
and of two values in one buffer a user of one may overwrite both.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from tilewright.hlo.analysis import call_graph, topological_order
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.passes.base import Pass, copies_are_values, register_pass
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.tuple_simplifier import has_control_edges
from tilewright.hlo.shape import Shape


@register_pass("cse")
@dataclass(frozen=True)
class CommonSubexpressions(Pass):
  """Merges instructions that compute the same value."""

  is_layout_sensitive: bool = True  # otherwise two layouts of one value count as equal, as before layouts are assigned
  only_fusion_computations: bool = False
  only_scalars: bool = False

  def run(self, module: Module) -> bool:
    if module.is_scheduled:
      return False
    effects, keys = Effects(), Keys(self.is_layout_sensitive)
    merges_copies = copies_are_values(module)
    changed = False
    for computation in call_graph(module).post_order:
      if self.only_fusion_computations and not computation.is_fusion:
        continue
      changed |= merge_fusion_outputs(computation)
      first: dict[Hashable, Instruction] = {}
      gone: list[Instruction] = []
      for instruction in topological_order(computation):
        if has_control_edges(instruction) or not effects.is_function(instruction):
          continue
        if instruction.opcode == "copy" and not merges_copies:
          continue
        if self.only_scalars and not instruction.shape.is_scalar:
          continue
        kept = first.setdefault(keys.of(instruction), instruction)
        if kept is not instruction:
          instruction.replace_all_uses_with(kept)
          gone.append(instruction)
      computation.remove_all(gone)
      changed |= bool(gone)
    return changed


_COMMUTATIVE = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor"})


def is_commutative(instruction: Instruction) -> bool:
  """Whether the two operands may change places, as XLA sees it: of two NaNs either may be the result."""
  if len(instruction.operands) != 2:
    return False
  equality = instruction.opcode == "compare" and instruction.attrs.get("direction") in ("EQ", "NE")
  return equality or instruction.opcode in _COMMUTATIVE


def merge_fusion_outputs(computation: Computation) -> bool:
  """Outputs of a fusion that are one value inside are taken from one place outside."""
  changed = False
  for fusion in computation.instructions:
    if fusion.opcode != "fusion" or not fusion.shape.is_tuple:
      continue
    root = fusion.called_computations[0].root
    if root.opcode != "tuple" or fusion.attrs.get("output_to_operand_aliasing"):
      continue
    first: dict[Instruction, int] = {}
    for user in fusion.users:
      if user.opcode != "get-tuple-element" or has_control_edges(user):
        continue
      index = user.attrs["index"]
      same = next(i for i, o in enumerate(root.operands) if o is root.operands[index])
      same = first.setdefault(root.operands[index], same)
      if same != index and fusion.shape.tuple_shapes[same] == user.shape:
        user.attrs["index"] = same
        changed = True
  return changed


class Keys:
  """Keys that are equal exactly where two instructions of one computation compute the same.

  A computation's key is a number, the same for computations of the same structure: written out, the key of twenty computations
  that each call the next one twice would be a million rows.
  """

  def __init__(self, is_layout_sensitive: bool = True) -> None:
    self._is_layout_sensitive = is_layout_sensitive
    self._computations: dict[Computation, int] = {}
    self._numbers: dict[Hashable, int] = {}

  def of(self, instruction: Instruction) -> Hashable:
    return (*self._rest(instruction), _in_order(instruction, [id(o) for o in instruction.operands]))

  def _rest(self, instruction: Instruction) -> tuple[Hashable, ...]:
    attrs = tuple(sorted((name, self._attribute(name, value)) for name, value in instruction.attrs.items()))
    own = (instruction.backend_config, tuple(sorted(instruction.frontend_attributes.items())), instruction.unknown)
    return (instruction.opcode, self._shape(instruction.shape), _Opaque(attrs), instruction.sharding, *own)

  def _shape(self, shape: Shape) -> Shape:
    return shape if self._is_layout_sensitive or not shape.is_array else shape.with_layout(None)

  def _attribute(self, name: str, value: Any) -> Hashable:
    return bool(value) if name == "channel_id" else self._value(value)

  def _value(self, value: Any) -> Hashable:
    if isinstance(value, Computation):
      return _Opaque(("computation", self.computation(value)))
    if isinstance(value, Literal):
      return _literal_key(value, self._shape(value.shape))
    if isinstance(value, tuple) and any(isinstance(part, Computation) for part in value):
      return tuple(self._value(part) for part in value)
    return _Opaque(value)

  def computation(self, computation: Computation) -> int:
    """The number of its structure: instructions with operands as positions."""
    if computation not in self._computations:
      order = topological_order(computation)
      place = {instruction: i for i, instruction in enumerate(order)}
      rows = tuple((*self._rest(i), _in_order(i, [place[o] for o in i.operands])) for i in order)
      structure = (rows, place[computation.root], computation.execution_thread)
      self._computations[computation] = self._numbers.setdefault(structure, len(self._numbers))
    return self._computations[computation]


def _in_order(instruction: Instruction, operands: list[int]) -> tuple[int, ...]:
  return tuple(sorted(operands) if is_commutative(instruction) else operands)


@dataclass(frozen=True)
class _Opaque:
  """A value that can be hashed and compared, but is never put in order (dicts of attributes are sorted by name)."""

  value: Any

  def __lt__(self, other: object) -> bool:
    return False


def _literal_key(literal: Literal, shape: Shape) -> Hashable:
  if literal.elements:
    return _Opaque((shape, tuple(_literal_key(part, part.shape) for part in literal.elements)))
  data = None if literal.value is None else literal.value.tobytes()
  # Elided elements are unknown, so such a constant equals itself only.
  return _Opaque((shape, data if data is not None else id(literal), literal.dynamic_sizes))

"""Sinking: f(move(a), move(b)) → move(f(a, b)) for an elementwise f and a rearrangement `move` of elements.

Shared by `reshape_mover` and `transpose_mover`. An operand may be the same rearrangement of an array with the same source
dimensions, a scalar, or a broadcast scalar (broadcast anew to the source's dimensions). At least one is a rearrangement, and
every rearrangement serves only this instruction, so that nothing is computed twice. Proof: f works on each element alone, and
`move` is a bijection of positions that does not look at them.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.passes.patterns import is_plain
from tilewright.hlo.passes.tuple_simplifier import has_control_edges
from tilewright.hlo.shape import Layout, Shape

# bitcast-convert may change dimensions; a copy exists for its buffer; stochastic-convert draws per position.
_ELEMENTWISE = ELEMENTWISE - {"bitcast-convert", "copy", "stochastic-convert"}
Key = Callable[[Instruction], object]


def sink(module: Module, opcode: str, key: Key) -> bool:
  """Moves every rearrangement of this opcode down past elementwise instructions; `key` identifies equal ones."""
  changed = False
  for computation in module.computations:
    if computation.is_fusion:
      continue
    for instruction in computation.topological_order():
      if instruction.parent is computation and sink_below(instruction, opcode, key):
        changed = True
  return changed


def sink_below(instruction: Instruction, opcode: str, key: Key) -> bool:
  moves = [o for o in dict.fromkeys(instruction.operands) if o.opcode == opcode]
  if instruction.opcode not in _ELEMENTWISE or not moves or has_control_edges(instruction):
    return False
  source = moves[0].operands[0]
  for move in moves:
    if move.user_count > 1 or has_control_edges(move) or move.sharding is not None or move.is_root:
      return False
    if key(move) != key(moves[0]) or move.operands[0].shape.dimensions != source.shape.dimensions:
      return False
  others = [o for o in instruction.operands if o.opcode != opcode]
  if not all(_is_scalar(o) for o in others) or instruction.sharding is not None:
    return False
  if not is_plain(instruction, *moves, *(m.operands[0] for m in moves), *others):
    return False
  _rebuild(instruction, moves[0], source)
  return True


def _is_scalar(instruction: Instruction) -> bool:
  if instruction.shape.is_scalar:
    return True
  return instruction.opcode == "broadcast" and instruction.operands[0].shape.is_scalar


def _rebuild(instruction: Instruction, move: Instruction, source: Instruction) -> None:
  computation = instruction.parent
  assert computation is not None
  dims = source.shape.dimensions

  def resized(shape: Shape) -> Shape:
    return Shape(shape.element_type, dims, None if shape.layout is None else Layout.descending(len(dims)))

  operands: list[Instruction] = []
  for operand in instruction.operands:
    if operand.opcode == move.opcode:
      operands.append(operand.operands[0])
    elif operand.shape.is_scalar and instruction.shape.rank:
      operands.append(operand)  # a scalar bound of clamp or predicate of select
    else:
      scalar = operand.operands[0] if operand.opcode == "broadcast" else operand
      operands.append(_broadcast(scalar, resized(operand.shape), instruction) if dims else scalar)
  inner = clone_instruction(instruction, operands, resized(instruction.shape))
  inner.origin = None
  computation.insert(inner, before=instruction)
  outer = Instruction(move.name, move.opcode, instruction.shape, (inner,), dict(move.attrs), move.metadata)
  computation.insert(outer, before=instruction)
  gone = dict.fromkeys(instruction.operands)
  computation.replace(instruction, outer)
  for operand in gone:
    if operand.is_dead and operand.opcode in (move.opcode, "broadcast"):
      computation.remove(operand)


def _broadcast(scalar: Instruction, shape: Shape, before: Instruction) -> Instruction:
  assert before.parent is not None
  made = Instruction("broadcast", "broadcast", shape, (scalar,), {"dimensions": ()}, before.metadata)
  return before.parent.insert(made, before=before)

"""Collectives that only move elements move them in the narrower type.

    convert(all-gather(x) in f32) to bf16            →   all-gather(convert(x) to bf16)
    convert(clamp(low, all-gather(x) / 8, high))     →   all-gather(convert(clamp(low, x / 8, high)))
    all-gather(convert(x) to f32), x in bf16         →   convert(all-gather(x)) to f32

Precondition: an all-gather, all-to-all, collective-permute or collective-broadcast of one array, used by nothing else. Before the
narrowing conversion may stand elementwise instructions whose other operands are constants with equal elements. *Proof.* The collective
moves elements, and an elementwise function of an element, with constants that are the same on all devices, may be applied before or
after. What a permute or a broadcast leaves zero stays zero: for those, nothing may stand before the conversion.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.dtypes import PRIMITIVE_TYPES
from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.opcodes import ELEMENTWISE
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.collective_keys import has_control_edges
from tilewright.hlo.passes.patterns import splat
from tilewright.hlo.passes.while_loops import remove_dead
from tilewright.hlo.shape import Shape

_MOVE_ALL = frozenset({"all-gather", "all-to-all"})
_MAY_LEAVE_ZEROS = frozenset({"collective-permute", "collective-broadcast"})


@register_pass("collective_quantizer")
@dataclass(frozen=True)
class CollectiveQuantizer(Pass):
  """Moves conversions so that collectives transfer fewer bytes."""

  def run(self, module: Module) -> bool:
    changed = False
    for computation in module.computations:
      if computation.is_fusion:
        continue
      for instruction in computation.topological_order():
        if instruction.parent is computation and _is_plain_move(instruction):
          changed |= _narrow_before(instruction) or _widen_after(instruction)
    return changed


def _is_plain_move(collective: Instruction) -> bool:
  if collective.opcode not in _MOVE_ALL | _MAY_LEAVE_ZEROS or len(collective.operands) != 1:
    return False
  plain = collective.shape.is_array and not collective.shape.is_dynamic and not has_control_edges(collective)
  return plain and "slice_sizes" not in collective.attrs and not collective.attrs.get("constrain_layout")


def _bits(instruction: Instruction) -> int:
  return PRIMITIVE_TYPES[instruction.shape.element_type].bits


def _narrow_before(collective: Instruction) -> bool:
  """Moves the elementwise instructions that follow, up to a narrowing conversion, before the collective."""
  chain: list[Instruction] = []
  value, narrow = collective, 0
  while value.user_count == 1 and not value.is_root:
    (user,) = value.users
    if not _applies_to_elements(user, value) or (collective.opcode in _MAY_LEAVE_ZEROS and user.opcode != "convert"):
      break
    chain.append(user)
    value = user
    if user.opcode == "convert" and _bits(user) < _bits(collective):
      narrow = len(chain)
      break
  if not narrow:
    return False
  computation, (x,) = collective.parent, collective.operands
  assert computation is not None
  last, moved = chain[-1], x
  before = collective
  for step in chain:
    operands = [moved if o in (collective, *chain) else _same(o, x, before) for o in step.operands]
    shape = x.shape.with_element_type(step.shape.element_type)
    moved = computation.insert(clone_instruction(step, operands, shape), before=before)
    moved.sharding = moved.origin = None
  new = clone_instruction(collective, (moved,), collective.shape.with_element_type(last.shape.element_type))
  new.origin = None
  computation.insert(new, before=before)
  computation.replace(last, new)
  remove_dead(computation, [*reversed(chain[:-1]), collective])
  return True


def _applies_to_elements(user: Instruction, value: Instruction) -> bool:
  if user.opcode not in ELEMENTWISE or user.shape.dimensions != value.shape.dimensions or has_control_edges(user):
    return False
  if (
    user.opcode in ("stochastic-convert", "bitcast-convert")
    or user.sharding is not None
    or user.shape.layout != value.shape.layout
  ):
    return False
  others = [operand for operand in user.operands if operand is not value]
  return len(others) == len(user.operands) - 1 and all(splat(o) is not None for o in others)


def _same(constant: Instruction, x: Instruction, before: Instruction) -> Instruction:
  """A constant with equal elements, in the dimensions of what is moved."""
  computation = before.parent
  assert computation is not None
  scalar = constant
  while scalar.opcode == "broadcast":
    scalar = scalar.operands[0]
  literal = Instruction("constant", "constant", scalar.shape.with_dimensions(()), (), {"literal": _scalar(scalar)})
  value = computation.insert(literal, before=before)
  if constant.shape.is_scalar or not x.shape.dimensions:
    return value  # clamp takes scalars, too
  shape = x.shape.with_element_type(constant.shape.element_type)
  return computation.insert(Instruction("broadcast", "broadcast", shape, (value,), {"dimensions": ()}), before=before)


def _scalar(constant: Instruction) -> Literal:
  array = constant.literal.value
  assert array is not None
  return Literal(Shape.array(constant.shape.element_type), array.reshape(-1)[:1].reshape(()))


def _widen_after(collective: Instruction) -> bool:
  """Moves a widening conversion of the operand behind the collective."""
  (wide,) = collective.operands
  if wide.opcode != "convert" or wide.user_count != 1 or wide.is_root or has_control_edges(wide):
    return False
  (x,) = wide.operands
  if _bits(x) >= _bits(wide) or x.shape.kind == "pred" or x.shape.layout != wide.shape.layout:
    return False
  computation = collective.parent
  assert computation is not None
  moved = clone_instruction(collective, (x,), collective.shape.with_element_type(x.shape.element_type))
  moved.origin = None
  computation.insert(moved, before=collective)
  again = computation.insert(clone_instruction(wide, (moved,), collective.shape), before=collective)
  again.sharding, again.origin = collective.sharding, None
  computation.replace(collective, again)
  remove_dead(computation, [wide])
  return True

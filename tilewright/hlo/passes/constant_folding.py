"""Constant folding: an instruction whose operands are all constants becomes the constant the evaluator computes.

Precondition: the instruction is a pure function (`Effects.is_value`), its operands are constants whose elements are known, or iotas and
broadcasts of constants, the results are arrays of at most `max_bytes` together, and the work is bounded (`max_work` elements
read and written; loops are folded only on request). Proof: the evaluator defines HLO; its floats are accumulated in
float64 and rounded once, so a folded sum is at least as exact as any back end's.

A broadcast or an iota is not folded where the result would be larger than its operands: the instruction is the more compact form.
Values computed from those are folded up to `max_spread_bytes`, and so are pads that grow a constant. A call is folded if all it
depends on is constant, and a tuple of results becomes a tuple of constants. Fusions are left to the back end, which chose their boundaries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tilewright.hlo.analysis import call_graph
from tilewright.hlo.clone import clone_instruction
from tilewright.hlo.errors import HloEvaluateError
from tilewright.hlo.ir import Computation, Instruction, Module
from tilewright.hlo.literal import Literal
from tilewright.hlo.passes.base import Pass, register_pass
from tilewright.hlo.passes.effects import Effects
from tilewright.hlo.passes.tuple_simplifier import has_control_edges

_GROWING = frozenset({"broadcast", "iota", "pad", "concatenate"})
_NEVER = frozenset(
  {"constant", "parameter", "tuple", "get-tuple-element", "copy", "fusion", "bitcast", "map", "scan", "iota"}
)


@register_pass("constant_folding")
@dataclass(frozen=True)
class ConstantFolding(Pass):
  """Evaluates instructions whose operands are constants at compile time."""

  max_bytes: int = 1 << 20
  max_work: int = 1 << 24
  loops: bool = False  # also while and conditional
  max_spread_bytes: int = 1 << 16  # of results computed from iotas and broadcasts

  def run(self, module: Module) -> bool:
    effects = Effects()
    changed = False
    for computation in call_graph(module).post_order:
      if computation.is_fusion:
        continue
      for instruction in computation.topological_order():
        if instruction.opcode == "get-tuple-element" and _take_element(instruction):
          changed = True
        if not self.may_fold(instruction, effects):
          continue
        literals = evaluated(instruction)
        if literals is None:
          continue
        constants = [_constant(instruction, literal) for literal in literals]
        for constant in constants:
          computation.insert(constant, before=instruction)
        new = constants[0]
        if instruction.shape.is_tuple:
          new = Instruction(instruction.name, "tuple", instruction.shape, tuple(constants), {}, instruction.metadata)
          computation.insert(new, before=instruction)
        new.sharding = instruction.sharding
        used = dict.fromkeys(instruction.operands)
        computation.replace(instruction, new)
        _remove_unused(used)
        changed = True
    return changed

  def may_fold(self, instruction: Instruction, effects: Effects) -> bool:
    opcode, shape = instruction.opcode, instruction.shape
    if opcode in _NEVER or (opcode in ("while", "conditional") and not self.loops) or has_control_edges(instruction):
      return False
    parts = shape.tuple_shapes if shape.is_tuple else (shape,)
    if not parts or not all(part.is_array and not part.is_dynamic for part in parts):
      return False
    own = sum(part.byte_size for part in parts)
    if own > self.max_bytes or (not instruction.operands and opcode != "call"):
      return False
    if not all(map(_is_known, instruction.operands)):
      return False
    size = sum(o.shape.byte_size for o in instruction.operands if o.opcode == "constant")
    if opcode in _GROWING and own > (max(size, self.max_spread_bytes) if _pads_constants(instruction) else size):
      return False
    if any(o.opcode != "constant" for o in instruction.operands) and own > max(size, self.max_spread_bytes):
      return False
    return effects.is_value(instruction) and _work(instruction) <= self.max_work


def _pads_constants(instruction: Instruction) -> bool:
  return instruction.opcode == "pad" and all(o.opcode == "constant" for o in instruction.operands)


def _take_element(element: Instruction) -> bool:
  """An element of a constant tuple is a constant."""
  (source,) = element.operands
  if source.opcode != "constant" or has_control_edges(element) or element.parent is None or element.parent.is_fusion:
    return False
  new = _constant(element, source.literal.elements[element.attrs["index"]])
  new.sharding = element.sharding
  element.parent.insert(new, before=element)
  element.parent.replace(element, new)
  _remove_unused([source])
  return True


def _remove_unused(operands: Iterable[Instruction]) -> None:
  """Removes unused constants, and unused iotas and broadcasts of constants."""
  for operand in operands:
    if operand.parent is not None and operand.is_dead and not has_control_edges(operand):
      inner = operand.operands
      operand.parent.remove(operand)
      _remove_unused(i for i in inner if i.opcode == "constant")


def _is_known(operand: Instruction) -> bool:
  """A constant whose elements are known, an iota, or a broadcast of such a constant."""
  if operand.opcode == "iota":
    return not operand.shape.is_dynamic and not has_control_edges(operand)
  if operand.opcode == "broadcast" and not has_control_edges(operand):
    operand = operand.operands[0]
  return operand.opcode == "constant" and operand.shape.is_array and not operand.literal.is_elided


def _constant(instruction: Instruction, literal: Literal) -> Instruction:
  return Instruction(instruction.name, "constant", literal.shape, (), {"literal": literal}, instruction.metadata)


def _work(instruction: Instruction) -> int:
  """Elements touched, roughly: what keeps the compiler from spending minutes on one instruction."""
  shape = instruction.shape
  own = sum(s.num_elements for s in shape.tuple_shapes) if shape.is_tuple else shape.num_elements
  read = [o.shape.num_elements for o in instruction.operands]
  match instruction.opcode:
    case "dot":
      contracted = [
        instruction.operands[0].shape.dimensions[i] for i in instruction.attrs.get("lhs_contracting_dims", ())
      ]
      return own * int(np.prod(contracted, dtype=np.int64))
    case "convolution":
      return own * read[1]
    case "reduce-window" | "select-and-scatter":
      return own * int(np.prod([d.size for d in instruction.attrs["window"]], dtype=np.int64))
    case "scatter" | "sort" | "while" | "conditional" | "cholesky" | "triangular-solve" | "fft":
      return 16 * (own + sum(read))
    case "call":
      inside = instruction.called_computations[0].instructions
      return own + sum(read) + sum(_work(i) for i in inside if i.shape.is_array and i.opcode != "parameter")
  return own + sum(read)


def evaluated(instruction: Instruction) -> list[Literal] | None:
  """The values of an instruction on constants, one for each result; None where the evaluator cannot tell."""
  from tilewright.hlo.evaluate import EvaluateLimits, evaluate

  computation = Computation("folded")
  copies: dict[Instruction, Instruction] = {}
  for operand in dict.fromkeys(o for x in instruction.operands for o in (*x.operands, x)):
    copies[operand] = clone_instruction(operand, [copies[o] for o in operand.operands])
  root = clone_instruction(instruction, [copies[o] for o in instruction.operands])
  computation.instructions = [*copies.values(), root]
  computation.root = root
  for copy in computation.instructions:
    copy.parent = computation
  module = Module("folded", [computation], computation)
  computation.parent = module
  try:
    value = evaluate(module, limits=EvaluateLimits(bytes=2.0**30, steps=200_000, seconds=60))
  except HloEvaluateError:
    return None
  shapes = instruction.shape.tuple_shapes if instruction.shape.is_tuple else (instruction.shape,)
  values = value if instruction.shape.is_tuple else (value,)
  return [Literal(s, np.ascontiguousarray(np.asarray(v)).reshape(s.dimensions)) for s, v in zip(shapes, values)]

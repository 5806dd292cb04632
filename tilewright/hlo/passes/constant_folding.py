"""Constant folding: an instruction whose operands are all constants becomes the constant the evaluator computes.

Precondition: the instruction is a pure function (`Effects.is_value`), its operands are constants whose elements are known, the
result is an array of at most `max_bytes`, and the work is bounded (`max_work` elements read and written; loops are folded
only if asked for). Proof: the evaluator is the meaning of HLO; its floats are summed in float64 and rounded once, so a folded
sum is at least as exact as any back end's.

A broadcast, an iota or a pad of a constant is not folded where the result would be larger than what it is made of: the
instruction is the shorter constant. Fusions are left to the back end, which chose their boundaries.
"""

from __future__ import annotations

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
  {"constant", "parameter", "tuple", "get-tuple-element", "copy", "fusion", "bitcast", "call", "map", "scan"}
)


@register_pass("constant_folding")
@dataclass(frozen=True)
class ConstantFolding(Pass):
  """Computes at compile time what depends on constants only."""

  max_bytes: int = 1 << 20
  max_work: int = 1 << 24
  loops: bool = False  # also while and conditional

  def run(self, module: Module) -> bool:
    effects = Effects()
    changed = False
    for computation in call_graph(module).post_order:
      if computation.is_fusion:
        continue
      for instruction in computation.topological_order():
        if not self.may_fold(instruction, effects):
          continue
        literal = evaluated(instruction)
        if literal is None:
          continue
        constant = Instruction(
          instruction.name, "constant", instruction.shape, (), {"literal": literal}, instruction.metadata
        )
        constant.sharding = instruction.sharding
        computation.insert(constant, before=instruction)
        computation.replace(instruction, constant)
        changed = True
    return changed

  def may_fold(self, instruction: Instruction, effects: Effects) -> bool:
    opcode, shape = instruction.opcode, instruction.shape
    if opcode in _NEVER or (opcode in ("while", "conditional") and not self.loops) or not shape.is_array:
      return False
    if (
      not instruction.operands or shape.is_dynamic or shape.byte_size > self.max_bytes or has_control_edges(instruction)
    ):
      return False
    if not all(o.opcode == "constant" and not o.literal.is_elided for o in instruction.operands):
      return False
    size = sum(o.shape.byte_size for o in instruction.operands)
    if opcode in _GROWING and shape.byte_size > size:
      return False
    return effects.is_value(instruction) and _work(instruction) <= self.max_work


def _work(instruction: Instruction) -> int:
  """Elements touched, roughly: what keeps the compiler from spending minutes on one instruction."""
  own, read = instruction.shape.num_elements, [o.shape.num_elements for o in instruction.operands]
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
  return own + sum(read)


def evaluated(instruction: Instruction) -> Literal | None:
  """The value of an instruction on constants; None where the evaluator cannot tell."""
  from tilewright.hlo.evaluate import EvaluateLimits, evaluate

  computation = Computation("folded")
  copies = {o: clone_instruction(o) for o in dict.fromkeys(instruction.operands)}
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
  return Literal(instruction.shape, np.ascontiguousarray(np.asarray(value)).reshape(instruction.shape.dimensions))

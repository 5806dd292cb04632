"""Library kernels in XLA's module: a JAX function that calls them, lowered, in place of the values that it computes.

The function is traced and lowered as in any program, so its kernels are those of `tilewright.ops`. Its lowering is inserted among the
instructions of the module: custom calls, and reshapes, which are bitcasts where layouts are final.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from tilewright import errors
from tilewright.accelerate.calls import Codes
from tilewright.accelerate.graph import Refused, laid_out, layouts_are_settled
from tilewright.hlo import Computation, Instruction, Shape, parse
from tilewright.hlo.clone import copy_body
from tilewright.hlo.passes import run_passes
from tilewright.runtime.tracing_platform import tracing_for


def call(
  f: Callable[..., Any], operands: Sequence[Instruction], before: Instruction, platform: str, codes: Codes
) -> tuple[list[Instruction], list[str]]:
  """Put what a function computes of some values before an instruction; returns its results, and the names of the code it calls."""
  computation = before.parent
  assert computation is not None and computation.parent is not None
  types = [jax.ShapeDtypeStruct(s.dimensions, s.dtype) for s in (laid_out(o.shape) for o in operands)]
  try:
    with tracing_for(platform):
      lowered = jax.jit(f).trace(*types).lower(lowering_platforms=(platform,))
  except errors.TilewrightError as e:
    raise Refused(f"the library kernel cannot be called: {e}") from e
  codes.keep(lowered)
  module = parse(lowered.compiler_ir(dialect="hlo").as_hlo_text())
  run_passes(module, ["call_inliner"])
  _drop_layout_constraints(module.entry)
  for called in [c for c in module.computations if c is not module.entry]:
    module.computations.remove(called)
    called.parent = None
    computation.parent.add_computation(called)
  mapping = {p: operands[p.parameter_number] for p in module.entry.parameters}
  copies, new = copy_body(module.entry, mapping)
  names = []
  for copy in copies:
    copy.shape = _row_major(copy.shape)  # the lowering gives a transposition the layout that moves nothing
    if copy.opcode == "reshape" and layouts_are_settled.get():
      copy.opcode = "bitcast"
    copy.metadata = before.metadata
    if copy.opcode == "custom-call":
      names.append(codes.keep_named(copy))
    if copy is not new[module.entry.root] or copy.opcode != "tuple":
      computation.insert(copy, before=before)
  root = new[module.entry.root]
  results = list(root.operands) if root.opcode == "tuple" else [root]
  if root.opcode == "tuple":
    root.set_operands(())
  return results, names


def _drop_layout_constraints(entry: Computation) -> None:
  """XLA resolves them before it assigns layouts; here all arrays are row-major, as they ask."""
  for instruction in list(entry.instructions):
    if instruction.opcode == "custom-call" and instruction.attrs["custom_call_target"] == "LayoutConstraint":
      (operand,) = instruction.operands
      if instruction.is_root:
        entry.root = operand
      instruction.replace_all_uses_with(operand)
      entry.remove(instruction)


def _row_major(shape: Shape) -> Shape:
  if shape.is_tuple:
    return Shape.tuple_of(*map(_row_major, shape.tuple_shapes))
  return Shape.array(shape.element_type, shape.dimensions) if shape.is_array else shape

"""Platform rules: requirements of one XLA back end beyond the rules of HLO. Checked before a changed module is handed back to it.

* XLA:CPU has no thunks for start/done pairs, sends and receives: it refuses the program.
* A collective that joins or cuts a dimension moves whole blocks of memory, so that dimension must be the slowest varying one
  in the layouts of operand and result. Layout assignment ensures it; it is not checked afterwards, and with another layout XLA:CPU
  computes wrong values. On the CPU passes run after layout assignment; on GPUs that is certain once the module is scheduled.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.hlo.ir import Instruction, Module
from tilewright.hlo.opcodes import DONES, STARTS
from tilewright.hlo.shape import Shape

NOT_ON_CPU = STARTS | DONES | {"async-update", "send", "send-done", "recv", "recv-done"}
_ALONG_A_DIMENSION = frozenset(["all-gather", "all-gather-start", "reduce-scatter", "all-to-all"])


def platform_problems(module: Module, platform: str) -> list[str]:
  """Every rule of the platform that the module breaks, one sentence each."""
  found: list[str] = []
  has_layouts = platform == "cpu" or module.is_scheduled
  for instruction in module.instructions():
    if platform == "cpu" and instruction.opcode in NOT_ON_CPU:
      found.append(f"%{instruction.name}: XLA's CPU back end runs no {instruction.opcode}")
    if has_layouts and instruction.opcode in _ALONG_A_DIMENSION:
      found += [f"%{instruction.name}: {problem}" for problem in _layouts(instruction)]
  return found


def _layouts(collective: Instruction) -> Iterator[str]:
  for axis in collective.attrs.get("dimensions", ())[:1]:
    shapes = [o.shape for o in collective.operands]
    shapes += [leaf for _, leaf in collective.shape.leaves()]
    for shape in shapes:
      if shape.is_array and not is_slowest(shape, axis):
        yield f"dimension {axis} of {shape} is not the slowest varying one, as {collective.opcode} needs it"
        return


def is_slowest(shape: Shape, axis: int) -> bool:
  """Whether no dimension of more than one element is slower than `axis`; so it is where there is no layout yet."""
  if shape.layout is None or not shape.layout.minor_to_major or not 0 <= axis < shape.rank:
    return True
  order = shape.layout.minor_to_major
  slower = order[order.index(axis) + 1 :]
  return all(shape.dimensions[d] == 1 for d in slower)

"""What a loop's body is given and never changes, where it is computed of indices and constants alone.

JAX computes such values before the loop: the causal mask of layers in a `scan` is an element of the loop's tuple, which says nothing of
what it is. Seen from the body, it is what computes it outside:

    mask = pred[64,64] compare(iota, iota)           body: m = get-tuple-element(p), index=2
    while((…, …, mask)), body                              root tuple(…, …, m)                    m is compare(iota, iota)
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.hlo import Computation, Instruction

_MAX_INSTRUCTIONS = 64
Value = object


def invariants(computation: Computation) -> dict[int, Instruction]:
  """The elements of its parameter that a loop's body leaves as they are, and the instruction that computes each before the loop."""
  module = computation.parent
  if module is None or len(computation.parameters) != 1 or not computation.root.shape.is_tuple:
    return {}
  loops = [i for i in module.instructions() if computation in i.called_computations]
  if len(loops) != 1 or loops[0].opcode != "while" or loops[0].attrs["body"] is not computation:
    return {}
  (parameter,), (before,) = computation.parameters, loops[0].operands
  root = computation.root
  if root.opcode != "tuple" or before.opcode != "tuple":
    return {}
  found = {}
  for index, element in enumerate(root.operands):
    is_kept = element.opcode == "get-tuple-element" and element.operands[0] is parameter
    if is_kept and element.attrs["index"] == index:
      found[index] = before.operands[index]
  return found


def is_static(instruction: Instruction) -> bool:
  """Whether a value is computed of indices and constants alone."""
  left, seen = [instruction], {instruction}
  while left:
    here = left.pop()
    inner = here.called_computations if here.opcode == "fusion" else ()
    if len(seen) > _MAX_INSTRUCTIONS or here.opcode in ("parameter", "custom-call", "while", "conditional", "call"):
      return False
    if any(i.opcode in ("rng", "rng-bit-generator", "custom-call") for c in inner for i in c.instructions):
      return False
    new = [o for o in here.operands if o not in seen]
    seen.update(new)
    left += new
  return True


def value_outside(instruction: Instruction, compute: Callable[[Instruction, list[Value]], Value]) -> Value:
  """A static value, by a function that gives the value of one instruction, given those of its operands."""
  values: dict[Instruction, Value] = {}
  order: list[Instruction] = []

  def visit(i: Instruction) -> None:
    if i not in values:
      values[i] = None
      for operand in i.operands:
        visit(operand)
      order.append(i)

  visit(instruction)
  for i in order:
    values[i] = compute(i, [values[o] for o in i.operands])
  return values[instruction]

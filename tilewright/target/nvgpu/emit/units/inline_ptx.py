"""Instructions that LLVM has no intrinsic for, as inline assembly.

LLVM assumes that assembly may access memory unless it is marked otherwise, and then neither merges loads across it nor moves them.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir


def pure(
  b: ir.IRBuilder, result: ir.Type, text: str, constraints: str, args: Sequence[ir.Value], *, together: bool = False
) -> ir.Value:
  """An instruction that computes its result from its operands and nothing else. `together`: all lanes of a warp must take part."""
  asm = ir.InlineAsm(ir.FunctionType(result, [a.type for a in args]), text, constraints)
  call = b.call(asm, list(args), attrs=("readnone", "nounwind", *(("convergent",) if together else ())))
  set.add(call.attributes, "willreturn")  # llvmlite does not know the word; without it loads are not joined either
  return call

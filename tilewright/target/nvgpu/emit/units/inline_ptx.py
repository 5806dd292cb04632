"""Instructions that LLVM has no intrinsic for, as inline assembly. `$0` is the first result; what an instruction takes follows.

    effect(b, "mbarrier.init.shared.b64 [$0], 3;", [address])
    parts(b, effect(b, "ldmatrix... {$0, $1}, [$2];", [address], several(I32, 2)))

LLVM assumes that assembly may access memory unless it is marked otherwise, and then neither merges loads across it nor moves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llvmlite import ir

from tilewright.target.llvm.types import F32, I16, I32, I64, VOID

_LETTERS = {I16: "h", I32: "r", I64: "l", F32: "f"}


def effect(
  b: ir.IRBuilder, text: str, args: Sequence[ir.Value] = (), result: ir.Type = VOID, *, in_order: bool = True
) -> ir.Instruction:
  """An instruction that does more than compute a result; `in_order` with accesses of memory."""
  letters = [*_letters(result, args), *(["~{memory}"] if in_order else [])]
  return b.call(ir.InlineAsm(_signature(result, args), text, ",".join(letters), side_effect=True), list(args))


def value(b: ir.IRBuilder, text: str, args: Sequence[ir.Value], result: ir.Type) -> ir.Instruction:
  """An instruction that is left out where its result is not used."""
  return b.call(ir.InlineAsm(_signature(result, args), text, ",".join(_letters(result, args))), list(args))


def pure(
  b: ir.IRBuilder, result: ir.Type, text: str, constraints: str, args: Sequence[ir.Value], *, together: bool = False
) -> ir.Value:
  """An instruction that computes its result from its operands and nothing else. `together`: all lanes of a warp must take part."""
  asm = ir.InlineAsm(_signature(result, args), text, constraints)
  call = b.call(asm, list(args), attrs=("readnone", "nounwind", *(("convergent",) if together else ())))
  set.add(call.attributes, "willreturn")  # llvmlite does not know the word; without it loads are not joined either
  return call


def _signature(result: ir.Type, args: Sequence[ir.Value]) -> ir.FunctionType:
  return ir.FunctionType(result, [a.type for a in args])


def _letters(result: ir.Type, args: Sequence[ir.Value]) -> Iterator[str]:
  results = result.elements if isinstance(result, ir.LiteralStructType) else [] if result == VOID else [result]
  yield from (f"={_LETTERS[each]}" for each in results)
  yield from (_LETTERS[a.type] for a in args)


def several(kind: ir.Type, count: int) -> ir.Type:
  """The result of an instruction that gives so many."""
  return kind if count == 1 else ir.LiteralStructType([kind] * count)


def parts(b: ir.IRBuilder, result: ir.Value) -> list[ir.Value]:
  """What an instruction gives, one by one."""
  if not isinstance(result.type, ir.LiteralStructType):
    return [result]
  return [b.extract_value(result, n) for n in range(len(result.type.elements))]

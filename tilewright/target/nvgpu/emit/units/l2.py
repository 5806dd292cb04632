"""L2: eviction policies, and prefetches that nothing waits for (PTX ISA, `createpolicy`, `cp.async.bulk.prefetch`, `applypriority`)."""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.llvm.types import I32, I64, VOID

LINE = 128  # bytes


def keep_longest(b: ir.IRBuilder) -> ir.Value:
  """The policy, for `load` and `prefetch`."""
  text = "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;"
  return b.call(ir.InlineAsm(ir.FunctionType(I64, []), text, "=l"), [])


def can_load(nbytes: int, align: int) -> bool:
  return nbytes in (4, 8, 16) and align >= nbytes


def load(b: ir.IRBuilder, pointer: ir.Value, nbytes: int, policy: ir.Value) -> ir.Value:
  """So many bytes of read-only global memory, as a vector of words."""
  count = nbytes // 4
  words = [f"${n}" for n in range(count)]
  kind, to = (f".v{count}", f"{{{', '.join(words)}}}") if count > 1 else ("", words[0])
  text = f"ld.global.nc.L2::cache_hint{kind}.b32 {to}, [${count}], ${count + 1};"
  result = ir.LiteralStructType([I32] * count) if count > 1 else I32
  constraints = ",".join(["=r"] * count + ["l", "l"])
  asm = ir.InlineAsm(ir.FunctionType(result, [I64, I64]), text, constraints)
  found = b.call(asm, [b.ptrtoint(pointer, I64), policy])
  if count == 1:
    return found
  vector: ir.Value = ir.Constant(ir.VectorType(I32, count), ir.Undefined)
  for n in range(count):
    vector = b.insert_element(vector, b.extract_value(found, n), I32(n))
  return vector


def num_processors(b: ir.IRBuilder) -> ir.Value:
  """How many SMs the device has, or a few more."""
  return b.call(ir.InlineAsm(ir.FunctionType(I32, []), "mov.u32 $0, %nsmid;", "=r"), [])


def prefetch(b: ir.IRBuilder, pointer: ir.Value, nbytes: int, policy: ir.Value) -> None:
  """Prefetch a piece of global memory to L2, without waiting."""
  _void(b, f"cp.async.bulk.prefetch.L2.global.L2::cache_hint [$0], {nbytes}, $1;", [b.ptrtoint(pointer, I64), policy])


def release_lines(b: ir.IRBuilder, pointer: ir.Value) -> None:
  """Reset the line of an address to normal eviction priority."""
  line = b.and_(b.ptrtoint(pointer, I64), I64(-LINE))
  _void(b, f"applypriority.global.L2::evict_normal [$0], {LINE};", [line])


def _void(b: ir.IRBuilder, text: str, args: list[ir.Value]) -> None:
  kinds = ",".join(["l"] * len(args) + ["~{memory}"])
  b.call(ir.InlineAsm(ir.FunctionType(VOID, [I64] * len(args)), text, kinds, side_effect=True), args)

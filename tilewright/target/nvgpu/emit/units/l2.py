"""L2: eviction policies, and prefetches that nothing waits for (PTX ISA, `createpolicy`, `cp.async.bulk.prefetch`, `applypriority`)."""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.llvm import types as ty
from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.units.inline_ptx import effect, parts, several, value

LINE = 128  # bytes


def keep_longest(b: ir.IRBuilder) -> ir.Value:
  """The policy, for `load` and `prefetch`."""
  return value(b, "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", [], I64)


def can_load(nbytes: int, align: int) -> bool:
  return nbytes in (4, 8, 16) and align >= nbytes


def load(b: ir.IRBuilder, pointer: ir.Value, nbytes: int, policy: ir.Value) -> ir.Value:
  """So many bytes of read-only global memory, as a vector of words."""
  count = nbytes // 4
  words = [f"${n}" for n in range(count)]
  kind, to = (f".v{count}", f"{{{', '.join(words)}}}") if count > 1 else ("", words[0])
  text = f"ld.global.nc.L2::cache_hint{kind}.b32 {to}, [${count}], ${count + 1};"
  return ty.joined(b, parts(b, value(b, text, [b.ptrtoint(pointer, I64), policy], several(I32, count))))


def num_processors(b: ir.IRBuilder) -> ir.Value:
  """How many SMs the device has, or a few more."""
  return value(b, "mov.u32 $0, %nsmid;", [], I32)


def prefetch(b: ir.IRBuilder, pointer: ir.Value, nbytes: int, policy: ir.Value) -> None:
  """Prefetch a piece of global memory to L2, without waiting."""
  effect(b, f"cp.async.bulk.prefetch.L2.global.L2::cache_hint [$0], {nbytes}, $1;", [b.ptrtoint(pointer, I64), policy])


def release_lines(b: ir.IRBuilder, pointer: ir.Value) -> None:
  """Reset the line of an address to normal eviction priority."""
  line = b.and_(b.ptrtoint(pointer, I64), I64(-LINE))
  effect(b, f"applypriority.global.L2::evict_normal [$0], {LINE};", [line])

"""Asynchronous copies from global to shared memory by threads: `cp.async` of sm_80.

Copies are counted in groups. `wait(b, 2)` returns when all but the two youngest groups of this thread have arrived; for the copies of other
threads, a barrier is needed after it.
"""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.units.inline_ptx import effect

SIZES = (16, 8, 4)  # bytes of one copy; sixteen go past L1


def copy(
  b: ir.IRBuilder,
  to: ir.Value,
  source: ir.Value,
  nbytes: int,
  inside: ir.Value | None = None,
  further: tuple[int, int] = (0, 0),
  line: int = 0,
) -> None:
  """Start a copy to an address of shared memory (i32). Where `inside` does not hold nothing is read, and zeros arrive.

  `further`: an offset in bytes to both addresses; the instruction adds it. `line`: the prefetch size of L2 around them, 64, 128 or 256
  bytes (since PTX 7.4); 0: the default.
  """
  way = "cg" if nbytes == 16 else "ca"
  there, here = (f"+{n}" if n else "" for n in further)
  args = [to, b.ptrtoint(source, I64)]
  size, hint = "", f".L2::{line}B" if line else ""
  if inside is not None:
    args.append(b.select(inside, I32(nbytes), I32(0)))
    size = ", $2"
  effect(b, f"cp.async.{way}.shared.global{hint} [$0{there}], [$1{here}], {nbytes}{size};", args)


def commit(b: ir.IRBuilder) -> None:
  """End a group."""
  effect(b, "cp.async.commit_group;")


def wait(b: ir.IRBuilder, pending: int) -> None:
  """Wait until at most `pending` groups are still in flight."""
  effect(b, f"cp.async.wait_group {pending};")


def arrive(b: ir.IRBuilder, barrier: ir.Value) -> None:
  """Let this thread arrive at a barrier (sm_90: `mbarrier`, an address of shared memory) once all copies that it started are done."""
  effect(b, "cp.async.mbarrier.arrive.noinc.shared.b64 [$0];", [barrier])

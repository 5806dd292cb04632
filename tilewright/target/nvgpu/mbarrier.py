"""Barriers in shared memory that count arrivals and bytes: `mbarrier` of sm_90. Addresses are i32, in the shared window."""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.llvm.types import VOID


def _asm(b: ir.IRBuilder, text: str, args: list[ir.Value]) -> None:
  constraints = ",".join([*("r" for _ in args), "~{memory}"])
  b.call(ir.InlineAsm(ir.FunctionType(VOID, [a.type for a in args]), text, constraints, side_effect=True), args)


def init(b: ir.IRBuilder, address: ir.Value, arrivals: int) -> None:
  """A phase of the barrier ends when so many threads have arrived, and all bytes it was told to expect."""
  _asm(b, f"mbarrier.init.shared::cta.b64 [$0], {arrivals};", [address])


def fence_init(b: ir.IRBuilder) -> None:
  """Make new barriers visible to the copy engine."""
  _asm(b, "fence.mbarrier_init.release.cluster; fence.proxy.async;", [])


def expect(b: ir.IRBuilder, address: ir.Value, nbytes: int | ir.Value) -> None:
  """Arrive, and let the phase wait for so many bytes too."""
  said, args = (str(nbytes), []) if isinstance(nbytes, int) else ("$1", [nbytes])
  _asm(b, f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {said};", [address, *args])


def arrive(b: ir.IRBuilder, address: ir.Value) -> None:
  _asm(b, "mbarrier.arrive.shared::cta.b64 _, [$0];", [address])


def wait(b: ir.IRBuilder, address: ir.Value, parity: ir.Value) -> None:
  """Until the phase with this parity has ended; the phase before the first has parity one and has ended."""
  text = (
    "{ .reg .pred P; W${:uid}: mbarrier.try_wait.parity.shared::cta.b64 P, [$0], $1; "
    "@P bra D${:uid}; bra W${:uid}; D${:uid}: }"
  )
  _asm(b, text, [address, parity])

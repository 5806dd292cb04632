"""Barriers in shared memory that count arrivals and bytes: `mbarrier`. Addresses are i32, in the shared window.

Threads can be counted since sm_80 (PTX 7.1), bytes since sm_90.
"""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.llvm.types import I32
from tilewright.target.nvgpu.emit.units.inline_ptx import effect


def init(b: ir.IRBuilder, address: ir.Value, arrivals: int) -> None:
  """A phase of the barrier ends when so many threads have arrived, and all bytes it was told to expect."""
  effect(b, f"mbarrier.init.shared.b64 [$0], {arrivals};", [address])


def end(b: ir.IRBuilder, address: ir.Value) -> None:
  """The memory of the barrier is free for something else, such as another one."""
  effect(b, "mbarrier.inval.shared.b64 [$0];", [address])


def fence_init(b: ir.IRBuilder) -> None:
  """Make new barriers visible to TMA."""
  effect(b, "fence.mbarrier_init.release.cluster; fence.proxy.async;")


def expect(b: ir.IRBuilder, address: ir.Value, nbytes: int | ir.Value) -> None:
  """Arrive, and let the phase wait for so many bytes too."""
  byte_count, args = (str(nbytes), []) if isinstance(nbytes, int) else ("$1", [nbytes])
  effect(b, f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {byte_count};", [address, *args])


def expect_more(b: ir.IRBuilder, address: ir.Value, nbytes: int) -> None:
  """Let the phase wait for so many bytes too."""
  effect(b, f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], {nbytes};", [address])


def arrive(b: ir.IRBuilder, address: ir.Value) -> None:
  effect(b, "mbarrier.arrive.shared.b64 _, [$0];", [address])


def arrive_for(b: ir.IRBuilder, address: ir.Value, count: int) -> None:
  """Arrive in the name of so many threads (sm_90)."""
  effect(b, f"mbarrier.arrive.shared::cta.b64 _, [$0], {count};", [address])


def wait(b: ir.IRBuilder, address: ir.Value, parity: ir.Value) -> None:
  """Until the phase with this parity has ended; the phase before the first has parity one and has ended."""
  text = (
    "{ .reg .pred P; W${:uid}: mbarrier.try_wait.parity.shared::cta.b64 P, [$0], $1; "
    "@P bra D${:uid}; bra W${:uid}; D${:uid}: }"
  )
  effect(b, text, [address, parity])


def has_ended(
  b: ir.IRBuilder, address: ir.Value, parity: ir.Value, *, may_sleep: bool, of_cluster: bool = False
) -> ir.Value:
  """Whether the phase with this parity has ended; `may_sleep`, which sm_90 can, it may take a while to say no. With `of_cluster`, what
  other CTAs of the cluster wrote before they arrived is visible then."""
  kind, scope = "try_wait" if may_sleep else "test_wait", ".acquire.cluster" if of_cluster else ""
  text = f"{{ .reg .pred P; mbarrier.{kind}.parity{scope}.shared.b64 P, [$1], $2; selp.b32 $0, 1, 0, P; }}"
  return b.icmp_unsigned("!=", effect(b, text, [address, parity], I32), I32(0))

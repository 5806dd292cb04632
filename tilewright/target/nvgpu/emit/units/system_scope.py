"""Memory that other devices and processes access: loads, stores and atomics at system scope (PTX ISA, memory consistency model).

Addresses are integers, those of global memory, of this or of another device, or of mapped host memory.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.llvm.types import I32, I64
from tilewright.target.nvgpu.emit.units.inline_ptx import effect


def fence(b: ir.IRBuilder) -> None:
  """What this thread did and saw before is seen by whoever sees what it does after."""
  effect(b, "fence.acq_rel.sys;")


def load_acquire(b: ir.IRBuilder, address: ir.Value, kind: Any = I64) -> ir.Value:
  return effect(b, f"ld.acquire.sys.global.u{kind.width} $0, [$1];", [address], kind)


def store_release(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> None:
  effect(b, f"st.release.sys.global.u{value.type.width} [$0], $1;", [address, value])


def add_release(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> None:
  effect(b, "red.release.sys.global.add.u32 [$0], $1;", [address, value])


def add_relaxed(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> None:
  effect(b, "red.relaxed.sys.global.add.u32 [$0], $1;", [address, value])


def swap_acquire(b: ir.IRBuilder, address: ir.Value, compared: ir.Value, value: ir.Value) -> ir.Value:
  """Replace a word of 32 bits if it equals `compared`; returns the word that was there."""
  return effect(b, "atom.acquire.sys.global.cas.b32 $0, [$1], $2, $3;", [address, compared, value], I32)


def now(b: ir.IRBuilder) -> ir.Value:
  """Nanoseconds on the device's clock."""
  return effect(b, "mov.u64 $0, %globaltimer;", [], I64, in_order=False)


def nap(b: ir.IRBuilder, nanoseconds: int | ir.Value) -> None:
  effect(b, "nanosleep.u32 $0;", [I32(nanoseconds) if isinstance(nanoseconds, int) else nanoseconds], in_order=False)

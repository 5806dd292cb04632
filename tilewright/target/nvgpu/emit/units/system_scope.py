"""Memory that other devices and processes access: loads, stores and atomics at system scope (PTX ISA, memory consistency model).

Addresses are integers, those of global memory, of this or of another device, or of mapped host memory.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tilewright.target.llvm.types import I32, I64, VOID

_LETTERS = {I32: "r", I64: "l"}


def _ptx(b: ir.IRBuilder, text: str, result: Any, args: list[ir.Value]) -> ir.Value:
  kinds = [f"={_LETTERS[result]}"] if result != VOID else []
  kinds += [_LETTERS[a.type] for a in args]
  function = ir.FunctionType(result, [a.type for a in args])
  return b.call(ir.InlineAsm(function, text, ",".join([*kinds, "~{memory}"]), side_effect=True), args)


def fence(b: ir.IRBuilder) -> None:
  """What this thread did and saw before is seen by whoever sees what it does after."""
  _ptx(b, "fence.acq_rel.sys;", VOID, [])


def load_acquire(b: ir.IRBuilder, address: ir.Value, kind: Any = I64) -> ir.Value:
  return _ptx(b, f"ld.acquire.sys.global.u{kind.width} $0, [$1];", kind, [address])


def store_release(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> None:
  _ptx(b, f"st.release.sys.global.u{value.type.width} [$0], $1;", VOID, [address, value])


def add_release(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> None:
  _ptx(b, "red.release.sys.global.add.u32 [$0], $1;", VOID, [address, value])


def add_relaxed(b: ir.IRBuilder, address: ir.Value, value: ir.Value) -> None:
  _ptx(b, "red.relaxed.sys.global.add.u32 [$0], $1;", VOID, [address, value])


def swap_acquire(b: ir.IRBuilder, address: ir.Value, compared: ir.Value, value: ir.Value) -> ir.Value:
  """Replace a word of 32 bits if it equals `compared`; returns the word that was there."""
  return _ptx(b, "atom.acquire.sys.global.cas.b32 $0, [$1], $2, $3;", I32, [address, compared, value])


def now(b: ir.IRBuilder) -> ir.Value:
  """Nanoseconds on the device's clock."""
  return b.call(ir.InlineAsm(ir.FunctionType(I64, []), "mov.u64 $0, %globaltimer;", "=l", side_effect=True), [])


def nap(b: ir.IRBuilder, nanoseconds: int) -> None:
  b.call(ir.InlineAsm(ir.FunctionType(VOID, [I32]), "nanosleep.u32 $0;", "r", side_effect=True), [I32(nanoseconds)])

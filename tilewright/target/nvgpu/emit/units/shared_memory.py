"""Addresses in shared memory, as instructions take them: of 32 bits, from the start of the CTA's own on."""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.llvm.types import I32, PTR

SPACE = 3  # LLVM's address space
POINTER = ir.PointerType(addrspace=SPACE)


def address(b: ir.IRBuilder, pointer: ir.Value) -> ir.Value:
  """The address that a pointer of any kind to shared memory has there."""
  return b.ptrtoint(b.addrspacecast(pointer, POINTER), I32)


def pointer(b: ir.IRBuilder, address: ir.Value) -> ir.Value:
  """A pointer of any kind to an address."""
  return b.addrspacecast(b.inttoptr(address, POINTER), PTR)

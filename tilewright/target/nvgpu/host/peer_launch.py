"""The launcher of a kernel that accesses other devices: it finds its heap, copies arrays there and back, and waits for its turn.

A call carries two numbers (`peer_memory.ATTRIBUTE`): that of its heap, and which call of its program it is. XLA's arrays are not symmetric
memory: those that other devices access are copied to the heap on XLA's stream before the kernel, and what was written is copied back after
it. One call at a time uses a device's heap, whichever thread it is on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from llvmlite import ir

from tilewright.runtime import ffi
from tilewright.target.llvm.frame import at, emit_error, external, fill, read, struct, text_pointer
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I32, I64, PTR
from tilewright.target.nvgpu.host import peer_memory
from tilewright.target.nvgpu.host.symbols import DIRECTORY
from tilewright.target.nvgpu.passes.symmetric_memory import Symmetric
from tilewright.tile.remote_arrays import Staged

_ARRAY_DATA = 16  # of an XLA_FFI_Array, behind its dtype and its size
_NULL = ir.Constant(PTR, None)


def emit(
  b: ir.IRBuilder,
  frame: ir.Value,
  name: str,
  device: ir.Value,
  call: Callable[[ir.IRBuilder, ir.Value, ir.Value, ir.Value], None],
) -> None:
  """The end of a handler: `call(builder, frame, record, site)` writes the function that launches and returns."""
  module, api = b.module, read(b, frame, ffi.FRAME_API)
  numbers = read(b, read(b, frame, ffi.FRAME_ATTRS), 0)
  data = read(b, numbers, _ARRAY_DATA)
  heap, site = read(b, data, 0, I64), read(b, data, 8, I64)
  record = _find(b, heap, device)
  missing = f"The memory that the GPU kernel '{name}' shares with other devices is not there. Lower the function again, in all processes."
  with if_then(b, b.icmp_unsigned("==", record, _NULL), ends=True):
    b.ret(emit_error(b, api, b.ptrtoint(text_pointer(module, missing), I64)))
  inner = ir.Function(module, ir.FunctionType(PTR, [PTR, PTR, I64]), "launch")
  inner.linkage = "internal"
  call(ir.IRBuilder(inner.append_basic_block("entry")), *inner.args)
  lock = at(b, record, peer_memory.LOCK)
  again, wait, inside = (b.append_basic_block(n) for n in ("lock", "wait", "locked"))
  b.branch(again)
  b.position_at_end(again)
  b.cbranch(b.icmp_unsigned("==", b.atomic_rmw("xchg", lock, i64(1), "seq_cst"), i64(0)), inside, wait)
  b.position_at_end(wait)
  b.call(external(module, "sched_yield", I32, []), [])
  b.branch(again)
  b.position_at_end(inside)
  error = b.call(inner, [frame, record, site])
  b.atomic_rmw("xchg", lock, i64(0), "seq_cst")
  b.ret(error)


def _find(b: ir.IRBuilder, heap: ir.Value, device: ir.Value) -> ir.Value:
  """The record of a device's part of a heap, or null."""
  directory = b.inttoptr(b.load(b.module.globals[DIRECTORY], typ=I64), PTR)
  look, on, found, done = (b.append_basic_block(n) for n in ("look", "next", "found", "done"))
  before = b.block
  b.branch(look)
  b.position_at_end(look)
  entry = b.phi(PTR)
  entry.add_incoming(directory, before)
  number = b.load_atomic(entry, "seq_cst", 8, typ=I64)
  end = b.append_basic_block("end")
  b.cbranch(b.icmp_unsigned("==", number, heap), found, end)
  b.position_at_end(end)
  b.cbranch(b.icmp_unsigned("==", number, i64(0)), done, on)
  b.position_at_end(on)
  entry.add_incoming(at(b, entry, 16), on)
  b.branch(look)
  b.position_at_end(found)
  record = b.load(b.gep(read(b, entry, 8), [device], source_etype=PTR), typ=PTR, align=8)
  b.branch(done)
  b.position_at_end(done)
  result = b.phi(PTR)
  result.add_incoming(_NULL, end)
  result.add_incoming(record, found)
  return result


@dataclasses.dataclass(frozen=True)
class Copied:
  """An array, XLA's memory of it, and that in the heap."""

  array: Staged
  given: ir.Value
  symmetric: ir.Value


def places(
  b: ir.IRBuilder, arrays: list[ir.Value], record: ir.Value, symmetric: Symmetric
) -> tuple[list[ir.Value], list[Copied]]:
  """Where the addresses of arrays are, with those in the heap for those that other devices access; and what is to be copied."""
  arrays, copied = list(arrays), []
  heap = read(b, record, peer_memory.HEAP, I64)
  for array, offset in symmetric.arrays:
    given = b.load(arrays[array.number], typ=I64, align=8)
    there = b.add(heap, i64(offset))
    arrays[array.number] = struct(b, 1)
    fill(b, arrays[array.number], [there])
    copied.append(Copied(dataclasses.replace(array, is_read=array.is_read and array.same_as < 0), given, there))
  return arrays, copied


def _copy(b: ir.IRBuilder, target: ir.Value, source: ir.Value, nbytes: int, stream: ir.Value) -> ir.Value:
  copy = external(b.module, "cuMemcpyDtoDAsync_v2", I32, [I64, I64, I64, PTR])
  return b.call(copy, [target, source, i64(nbytes), stream])


def copy_in(b: ir.IRBuilder, copied: Copied, stream: ir.Value) -> ir.Value:
  return _copy(b, copied.symmetric, copied.given, copied.array.nbytes, stream)


def copy_out(b: ir.IRBuilder, copied: Copied, stream: ir.Value) -> ir.Value:
  return _copy(b, copied.given, copied.symmetric, copied.array.nbytes, stream)


def parameters(b: ir.IRBuilder, record: ir.Value, site: ir.Value) -> list[ir.Value]:
  """The kernel's further parameters: the table of heaps, and the number of the call."""
  number = struct(b, 1)
  fill(b, number, [site])
  return [at(b, record, peer_memory.TABLE), number]


__all__ = ["Copied", "copy_in", "copy_out", "emit", "parameters", "places"]

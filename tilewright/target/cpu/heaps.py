"""Allocators for shared memory, in native code: heaps in the segment of a domain (`rendezvous_layout`).

    take(heap, bytes)      64-byte aligned, or null where the heap is full
    give(block)            return it to the heap that it is from
    lease, release         the same under the heap's lock

A heap allocates blocks of powers of two, each after a header line that holds its heap and its power, with one free list for each power.
Calls of a kernel request the same sizes again and again, so pages are touched for the first time only once. Each process has a heap of its
own, whose lock no other process takes: a process that is killed cannot block the others.
"""

from __future__ import annotations

from llvmlite import ir

from tilewright.target.cpu.rendezvous_layout import HEAP_END, HEAP_FREE, HEAP_LOCK, HEAP_NEXT
from tilewright.target.llvm.frame import at, external, read
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I1, I32, I64, PTR, VOID

_HEAD = 64  # the line before a block: its heap, its power; in a list, the next block
_NULL = ir.Constant(PTR, None)


class Heaps:
  """The functions, in a module."""

  def __init__(self, module: ir.Module):
    self.take = _emit_allocate(module)
    self.give = _emit_free(module)
    self.lease = _under_lock(module, "lease", self.take, lambda b, args: args[0])
    self.release = _under_lock(module, "release_block", self.give, lambda b, args: read(b, at(b, args[0], -_HEAD), 0))


def _start(module: ir.Module, name: str, ty: ir.FunctionType) -> ir.IRBuilder:
  function = ir.Function(module, ty, name)
  function.linkage = "internal"
  return ir.IRBuilder(function.append_basic_block("entry"))


def _emit_allocate(module: ir.Module) -> ir.Function:
  b = _start(module, "take_block", ir.FunctionType(PTR, [PTR, I64]))
  heap, nbytes = b.function.args
  # The power of two that holds the block and its line, 128 or more.
  wanted = b.or_(b.add(nbytes, i64(_HEAD - 1)), i64(127))
  power = b.sub(i64(64), b.ctlz(wanted, ir.Constant(I1, 0)))
  free = b.gep(at(b, heap, HEAP_FREE), [power], source_etype=I64)
  found = b.load(free, typ=PTR)
  with if_then(b, b.icmp_unsigned("!=", found, _NULL), ends=True):
    b.store(read(b, found, 0), free)
    _mark(b, found, heap, power)
    b.ret(at(b, found, _HEAD))
  new = read(b, heap, HEAP_NEXT, I64)
  after = b.add(new, b.shl(i64(1), power))
  with if_then(b, b.icmp_unsigned(">", after, read(b, heap, HEAP_END, I64)), ends=True):
    b.ret(_NULL)
  b.store(after, at(b, heap, HEAP_NEXT))
  block = b.inttoptr(new, PTR)
  _mark(b, block, heap, power)
  b.ret(at(b, block, _HEAD))
  return b.function


def _mark(b: ir.IRBuilder, block: ir.Value, heap: ir.Value, power: ir.Value) -> None:
  b.store(heap, block)
  b.store(power, at(b, block, 8))


def _emit_free(module: ir.Module) -> ir.Function:
  b = _start(module, "give_block", ir.FunctionType(VOID, [PTR]))
  block = at(b, b.function.args[0], -_HEAD)
  heap, power = read(b, block, 0), read(b, block, 8, I64)
  free = b.gep(at(b, heap, HEAP_FREE), [power], source_etype=I64)
  b.store(b.load(free, typ=PTR), block)
  b.store(block, free)
  b.ret_void()
  return b.function


def _under_lock(module: ir.Module, name: str, inner: ir.Function, heap_of: object) -> ir.Function:
  assert callable(heap_of)
  b = _start(module, name, inner.function_type)
  lock = at(b, heap_of(b, b.function.args), HEAP_LOCK)
  again, wait, inside = (b.append_basic_block(part) for part in ("lock", "wait", "locked"))
  b.branch(again)
  b.position_at_end(again)
  b.cbranch(b.icmp_unsigned("==", b.atomic_rmw("xchg", lock, i64(1), "seq_cst"), i64(0)), inside, wait)
  b.position_at_end(wait)
  b.call(external(module, "sched_yield", I32, []), [])
  b.branch(again)
  b.position_at_end(inside)
  found = b.call(inner, b.function.args)
  b.atomic_rmw("xchg", lock, i64(0), "seq_cst")
  if inner.function_type.return_type == VOID:
    b.ret_void()
  else:
    b.ret(found)
  return b.function

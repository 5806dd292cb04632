"""The threads of a GPU's block as fibers of one thread of the process: what they wait with, and who runs next.

A fiber runs until it waits: at a barrier, for a phase of an mbarrier, or because it gives way. Then one of those that can go on is drawn,
from a generator that always starts alike. So a thread is ahead of others by as much as its barriers let it be, a missing barrier shows in
every run, and a failure is seen again. A thread that waits by looking at memory again and again has to give way in between.

`Fibers` writes functions into a kernel's module; `run` makes the fibers and waits for the last one.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from llvmlite import ir

from tilewright.target.llvm.types import I8, I32, I64, PTR, VOID

_CONTEXT = 8192  # bytes of a ucontext_t, and more
_STACK = 2 << 20  # bytes; only the pages that are touched are taken
_UNTOUCHED = 0x5AFE57AC5AFE57AC  # below a fiber's stack
_STATE = (
  24  # bytes: which word a fiber waits for (null: for none), how far it is shifted, and the number that it must not be
)
_LINK, _STACK_AT, _STACK_SIZE = 8, 16, 32  # uc_link, uc_stack.ss_sp and ss_size in a ucontext_t of Linux
_NORESERVE = 0x4000  # MAP_NORESERVE of Linux
_libc = ctypes.CDLL(None)


class Fibers:
  """`meet(barrier)`, `wait_until(word, shift, number)` and `give_way()`, for `count` fibers that each call `@blocks`.

  A barrier is a word that counts its phases, how many fibers are there, and how many it waits for.
  """

  def __init__(self, machine: Any, count: int):
    self.module, self.count = machine.module, count
    self.contexts = machine._memory("contexts", (count + 1) * _CONTEXT)  # the last is that of the caller
    self.states = machine._memory("states", (count + 1) * _STATE)
    self.current, self.left, self.drawn, self.is_stuck, self.turns = (
      machine._memory(name, 8) for name in ("current", "left", "drawn", "is_stuck", "turns")
    )
    self._never = machine._memory("never", 8)  # is always 0
    self.arguments = machine._memory("arguments", 32)  # of all fibers: arrays, where shared memory starts, sizes
    self._swap = ir.Function(self.module, ir.FunctionType(I32, [PTR, PTR]), "swapcontext")
    self._os_yield = ir.Function(self.module, ir.FunctionType(I32, []), "sched_yield")
    self.switch = self._function("switch", [], self._switch)
    self.wait_until = self._function("wait_until", [PTR, I64, I64], self._wait_until)
    self.give_way = self._function("give_way", [], self._give_way)
    self.meet = self._function("meet", [PTR], self._meet)
    self._function("ended", [], self._ended)

  def _function(self, name: str, args: list[ir.Type], body: Any) -> ir.Function:
    made = ir.Function(self.module, ir.FunctionType(VOID, args), name)
    b = ir.IRBuilder(made.append_basic_block())
    body(b, *made.args)
    b.ret_void()
    return made

  def _at(self, b: ir.IRBuilder, memory: ir.Value, offset: Any = 0) -> ir.Value:
    start = b.inttoptr(b.ptrtoint(memory, I64), PTR)
    return b.gep(start, [I64(offset) if isinstance(offset, int) else offset], source_etype=I8)

  def _load(self, b: ir.IRBuilder, memory: ir.Value, offset: Any = 0) -> ir.Value:
    return b.load(self._at(b, memory, offset), typ=I64)

  def _store(self, b: ir.IRBuilder, value: ir.Value, memory: ir.Value, offset: Any = 0) -> None:
    b.store(value, self._at(b, memory, offset))

  def _swap_to(self, b: ir.IRBuilder, old: ir.Value, new: ir.Value) -> None:
    place = lambda number: self._at(b, self.contexts, b.mul(number, I64(_CONTEXT)))
    b.call(self._swap, [place(old), place(new)])

  def _switch(self, b: ir.IRBuilder) -> None:
    """Go on with a fiber that can: the first one from a drawn one on; with the caller where there is none."""
    draw = b.add(b.mul(self._load(b, self.drawn), I64(6364136223846793005)), I64(1442695040888963407))
    self._store(b, draw, self.drawn)
    first = b.urem(b.lshr(draw, I64(33)), I64(self.count))
    begin, head, found, further, stuck, other, done = (b.append_basic_block() for _ in range(7))
    b.branch(begin)
    b.position_at_end(begin)
    b.branch(head)
    b.position_at_end(head)
    number = b.phi(I64)
    place = b.mul(number, I64(_STATE))
    word = self._load(b, self.states, place)
    is_free = b.icmp_unsigned("==", word, I64(0))
    looked = b.load(b.inttoptr(b.select(is_free, b.ptrtoint(self._never, I64), word), PTR), typ=I64)
    shifted = b.lshr(looked, self._load(b, self.states, b.add(place, I64(8))))
    has_come = b.icmp_unsigned("!=", shifted, self._load(b, self.states, b.add(place, I64(16))))
    b.cbranch(b.or_(is_free, has_come), found, further)
    b.position_at_end(further)
    after = b.add(number, I64(1))
    after = b.select(b.icmp_unsigned("==", after, I64(self.count)), I64(0), after)
    b.cbranch(b.icmp_unsigned("==", after, first), stuck, head)
    number.add_incoming(first, begin)
    number.add_incoming(after, further)
    b.position_at_end(stuck)
    self._store(b, I64(1), self.is_stuck)
    self._swap_to(b, self._load(b, self.current), I64(self.count))
    b.branch(done)
    b.position_at_end(found)
    self._store(b, I64(0), self.states, place)
    old = self._load(b, self.current)
    b.cbranch(b.icmp_unsigned("==", old, number), done, other)
    b.position_at_end(other)
    self._store(b, number, self.current)
    self._swap_to(b, old, number)
    b.branch(done)
    b.position_at_end(done)

  def _wait_until(self, b: ir.IRBuilder, word: ir.Value, shift: ir.Value, number: ir.Value) -> None:
    """Until a word, shifted, is another number."""
    place = b.mul(self._load(b, self.current), I64(_STATE))
    for offset, value in ((0, b.ptrtoint(word, I64)), (8, shift), (16, number)):
      self._store(b, value, self.states, b.add(place, I64(offset)))
    b.call(self.switch, [])

  def _give_way(self, b: ir.IRBuilder) -> None:
    """Also to other threads of the process from time to time: this one may wait for what another device does."""
    turn = b.add(self._load(b, self.turns), I64(1))
    self._store(b, turn, self.turns)
    with b.if_then(b.icmp_unsigned("==", b.urem(turn, I64(self.count)), I64(0))):
      b.call(self._os_yield, [])
    b.call(self.switch, [])

  def _meet(self, b: ir.IRBuilder, barrier: ir.Value) -> None:
    at = lambda offset: b.gep(barrier, [I64(offset)], source_etype=I8)
    phase = b.load(at(0), typ=I64)
    here = b.add(b.load(at(8), typ=I64), I64(1))
    is_last = b.icmp_unsigned("==", here, b.load(at(16), typ=I64))
    b.store(b.select(is_last, I64(0), here), at(8))
    with b.if_else(is_last) as (last, others):
      with last:
        b.store(b.add(phase, I64(1)), at(0))
      with others:
        b.call(self.wait_until, [barrier, I64(0), phase])

  def _ended(self, b: ir.IRBuilder) -> None:
    """A fiber waits for what never comes, or leaves the last word to the caller."""
    left = b.sub(self._load(b, self.left), I64(1))
    self._store(b, left, self.left)
    with b.if_then(b.icmp_unsigned("==", left, I64(0))):
      self._swap_to(b, self._load(b, self.current), I64(self.count))
    b.call(self.wait_until, [self._at(b, self._never), I64(0), I64(0)])


def write_barrier(address: int, count: int) -> None:
  (ctypes.c_int64 * 3).from_address(address)[:] = [0, 0, count]


def run(engine: Any, count: int, arrays: int, shared: int, num_blocks: int) -> None:
  """Run `@fiber(number)` of a linked module, which `fiber` has written, in each of `count` fibers."""
  word = lambda name: ctypes.c_int64.from_address(engine.address(name))
  arguments = (ctypes.c_int64 * 3).from_address(engine.address("arguments"))
  arguments[:] = [arrays, shared, num_blocks]
  contexts, entry = engine.address("contexts"), ctypes.c_void_p(engine.address("fiber"))
  stacks = mmap.mmap(-1, count * _STACK, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
  stacks.madvise(mmap.MADV_NOHUGEPAGE)
  low = ctypes.addressof(ctypes.c_char.from_buffer(stacks))
  for number in range(count):
    context, stack = contexts + number * _CONTEXT, low + number * _STACK
    _libc.getcontext(ctypes.c_void_p(context))
    ctypes.c_int64.from_address(stack).value = _UNTOUCHED
    for offset, value in ((_LINK, 0), (_STACK_AT, stack + 64), (_STACK_SIZE, _STACK - 64)):
      ctypes.c_int64.from_address(context + offset).value = value
    _libc.makecontext(ctypes.c_void_p(context), entry, ctypes.c_int(1), ctypes.c_int(number))
  word("left").value, word("current").value = count, 0
  _libc.swapcontext(ctypes.c_void_p(contexts + count * _CONTEXT), ctypes.c_void_p(contexts))
  assert not word("is_stuck").value, "threads of the block wait for each other"
  for number in range(count):
    untouched = ctypes.c_int64.from_address(low + number * _STACK).value
    assert untouched == _UNTOUCHED, "a thread needs more stack than it has here"

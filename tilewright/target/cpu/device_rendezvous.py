"""Rendezvous of the devices that run a kernel together: how they exchange addresses, and how they wait.

Kernels that copy to other devices, or signal them, run on a thread of ours for each device (`threads`). The n-th execution of one of a
program's calls, within a run of the program, is one *rendezvous* of the devices of its mesh, or of a party of them where the call says
so (as a collective along one axis of several does: others may not come to it at all):

    rendezvous   the run and the call, how many devices, how many have ended their body
      slot    for each device: its state, the addresses of its arrays and of its arena, and what it waits for

Meetings are in a list of their *domain*: that of this process, or that of several processes, located at the start of a shared memory
segment that all of them map at the same address (`processes`). There a rendezvous, arenas and the arrays that others access are in the
segment, so that addresses are valid in all processes, and texts are copied into the rendezvous.

A device fills its slot when its scratch memory is initialised (`enter`). Others wait for that before they access its memory (`visit`). It
leaves when every device has ended its body (`leave`), so that no device writes to freed memory. All devices run the same code: a variable
has the same offset in every arena.

A wait spins, yields, then sleeps, and now and then asks `deadlocks` in Python whether it can still end. The functions are part of the
launcher; kernels find them by their names.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tilewright.target.cpu import lifetime
from tilewright.target.cpu.heaps import Heaps
from tilewright.target.cpu.rendezvous_layout import (
  ABSENT,
  ARENA,
  ARGS,
  ARRIVE,
  ASKED,
  AWAIT,
  BODY_DONE,
  BROKEN,
  COUNT,
  COUNTER,
  CREATED,
  DEADLOCK_CHECK,
  DOMAIN,
  DOMAIN_BYTES,
  DOMAIN_OF,
  ENDED,
  ENTER,
  ENTERED,
  ERROR,
  ERROR_BYTES,
  ERROR_TEXT,
  EXPECTED,
  FAILED,
  FOR_CORES,
  FOR_DEVICE,
  FOR_END,
  FOR_SEMAPHORE,
  GONE,
  HEAD,
  HEAPS,
  HISTORY,
  HISTORY_ENTRY,
  HISTORY_NAME,
  HISTORY_TABLE,
  HOLD,
  IDLE,
  IN_BODY,
  IS_GANG,
  KERNEL,
  KIND,
  LEAVE,
  LEFT,
  LINE_BYTES,
  LOCK_OF_DOMAIN,
  MEMBERS,
  NAME,
  NAME_BYTES,
  NAME_TEXT,
  NEXT,
  OUTSIDE,
  OWN_HEAP,
  POLL,
  POLLS,
  RELEASE,
  RUN,
  SLOT_BYTES,
  SLOTS,
  STATE,
  UNLINK,
  VISIT,
  WAITS,
  WHERE,
  WHERE_TEXT,
)
from tilewright.target.cpu.threads import now
from tilewright.target.llvm.frame import at, external, read
from tilewright.target.llvm.loops import for_range, i64, if_then
from tilewright.target.llvm.types import I8, I32, I64, PTR, VOID

_SPINS = 256
_YIELDING = 1_000_000  # nanoseconds: on a busy machine, one time of giving way may take longer
_SLEEP_NANOSECONDS = 100_000  # nanoseconds
_MAX_SLEEPS = 100  # between two questions to Python
_POLLS = 64  # readings of a semaphore in a loop before each of them yields
_ASKING = 50_000_000  # nanoseconds between two questions to Python of a device that polls
_NULL = ir.Constant(PTR, None)

ENTER_TYPE = ir.FunctionType(PTR, [I64, PTR, PTR, I64, I64, PTR, PTR])  # run, site, name, count, me, arrays, arena
LEAVE_TYPE = ir.FunctionType(I64, [PTR, I64, I64])  # rendezvous, me, message or zero; gives a message or zero
VISIT_TYPE = ir.FunctionType(PTR, [PTR, I64, I64, PTR, PTR])  # rendezvous, me, other, where, place of an error
AWAIT_TYPE = ir.FunctionType(
  I64, [PTR, I64, PTR, I32, PTR, PTR]
)  # rendezvous, me, counter, wanted, where, place of an error
IDLE_TYPE = ir.FunctionType(VOID, [PTR, I64, PTR, PTR])  # rendezvous, me, where, place of an error
POLL_TYPE = ir.FunctionType(VOID, [PTR, I64, I64, PTR, PTR])  # rendezvous, me, kind, where, place of an error
DEADLOCK_CHECK_TYPE = ir.FunctionType(I64, [PTR, I64])  # rendezvous, me: a message, or zero to continue waiting


def emit(module: ir.Module, heaps: Heaps) -> None:
  """The functions, and the domain of this process."""
  _variable(module, DOMAIN, ir.ArrayType(I64, DOMAIN_BYTES // 8), seen=True)
  _variable(module, OWN_HEAP, I64, seen=True)
  b = _function(module, UNLINK, ir.FunctionType(VOID, [PTR]))
  _unlink(b, b.function.args[0])
  b.ret_void()
  for name, change in ((HOLD, _lock), (RELEASE, _unlock)):
    b = _function(module, name, ir.FunctionType(VOID, [PTR]))
    change(b, b.function.args[0])
    b.ret_void()
  wait = _emit_wait(module)
  join = _emit_join(module, heaps, _emit_record(module))
  _emit_enter(module, join)
  _emit_arrive(module, join)
  _emit_leave(module, heaps, wait)
  _emit_visit(module, wait)
  _emit_await(module, wait)
  _emit_idle(module)
  _emit_poll(module)


def slot(b: ir.IRBuilder, rendezvous: ir.Value, device: ir.Value) -> ir.Value:
  return b.gep(rendezvous, [b.add(i64(SLOTS), b.mul(device, i64(SLOT_BYTES)))], source_etype=I8)


def _variable(module: ir.Module, name: str, ty: ir.Type, *, seen: bool = False) -> ir.GlobalVariable:
  variable = ir.GlobalVariable(module, ty, name)
  variable.initializer = ir.Constant(ty, None if isinstance(ty, ir.ArrayType) else 0)
  variable.linkage = "" if seen else "internal"
  return variable


def _function(module: ir.Module, name: str, ty: ir.FunctionType) -> ir.IRBuilder:
  function = ir.Function(module, ty, name)
  return ir.IRBuilder(function.append_basic_block("entry"))


def _atomic(b: ir.IRBuilder, pointer: ir.Value, ty: ir.Type = I64) -> ir.Value:
  return b.load_atomic(pointer, "seq_cst", ty.width // 8, typ=ty)


def _set(b: ir.IRBuilder, value: ir.Value, pointer: ir.Value) -> None:
  b.atomic_rmw("xchg", pointer, value, "seq_cst")  # an atomic store takes no pointer without a type


def _add(b: ir.IRBuilder, pointer: ir.Value, amount: int = 1) -> ir.Value:
  """The sum."""
  return b.add(b.atomic_rmw("add", pointer, i64(amount), "seq_cst"), i64(amount))


def _is_null(b: ir.IRBuilder, pointer: ir.Value) -> ir.Value:
  return b.icmp_unsigned("==", pointer, _NULL)


def _while(b: ir.IRBuilder, condition: Callable[[], ir.Value], body: Callable[[], None]) -> None:
  look, again, out = (b.append_basic_block(name) for name in ("look", "again", "out"))
  b.branch(look)
  b.position_at_end(look)
  b.cbranch(condition(), again, out)
  b.position_at_end(again)
  body()
  b.branch(look)
  b.position_at_end(out)


def _lock(b: ir.IRBuilder, domain: ir.Value) -> None:
  """Take a domain's lock. Its holder may be a process that has ended: the list is then no longer reliable (`is_broken`)."""
  lock = at(b, domain, LOCK_OF_DOMAIN)
  taken = lambda: b.and_(
    b.icmp_unsigned("!=", b.atomic_rmw("xchg", lock, i64(1), "seq_cst"), i64(0)), b.not_(is_broken(b, domain))
  )
  _while(b, taken, lambda: b.call(external(b.module, "sched_yield", I32, []), []))


def _unlock(b: ir.IRBuilder, domain: ir.Value) -> None:
  _set(b, i64(0), at(b, domain, LOCK_OF_DOMAIN))


def is_broken(b: ir.IRBuilder, domain: ir.Value) -> ir.Value:
  """Whether a process of a domain has ended."""
  return b.icmp_unsigned("!=", _atomic(b, at(b, domain, BROKEN)), i64(0))


def domain_of(b: ir.IRBuilder, rendezvous: ir.Value) -> ir.Value:
  return read(b, rendezvous, DOMAIN_OF)


def domain_of_call(b: ir.IRBuilder, site: ir.Value) -> ir.Value:
  """The domain of several processes that a call is in."""
  return read(b, site, lifetime.SITE_DOMAIN)


def domain_of_site(b: ir.IRBuilder, site: ir.Value) -> ir.Value:
  """The domain that a call is in: of several processes, or of this one."""
  shared = domain_of_call(b, site)
  return b.select(_is_null(b, shared), _address(b, b.module.globals[DOMAIN]), shared)


def _address(b: ir.IRBuilder, variable: ir.Value) -> ir.Value:
  return b.inttoptr(b.ptrtoint(variable, I64), PTR)


def _is_shared(b: ir.IRBuilder, domain: ir.Value) -> ir.Value:
  return b.icmp_unsigned("!=", domain, _address(b, b.module.globals[DOMAIN]))


def _copy_text(b: ir.IRBuilder, text: ir.Value, place: ir.Value, room: int) -> None:
  """Copy a text for other processes; it is truncated to the room there is."""
  b.store(I8(0), at(b, place, room - 1))
  b.call(external(b.module, "strncpy", PTR, [PTR, PTR, I64]), [place, text, i64(room - 1)])


def _waits_at(b: ir.IRBuilder, own: ir.Value, where: ir.Value) -> None:
  """Record the line at which a device waits."""
  _copy_text(b, where, at(b, own, WHERE_TEXT), LINE_BYTES)
  _set(b, b.ptrtoint(at(b, own, WHERE_TEXT), I64), at(b, own, WHERE))


# --- waiting -----------------------------------------------------------------------------------------------------


def _satisfied(b: ir.IRBuilder, kind: ir.Value, place: ir.Value, expected: ir.Value) -> ir.Value:
  """A semaphore has 32 bits, and so has the lower half of a state or a count."""
  return b.icmp_signed(">=", b.sext(_atomic(b, place, I32), I64), expected)


def _emit_wait(module: ir.Module) -> ir.Function:
  """`wait(rendezvous, me, kind, place, expected, where)`: until what is at a place is at least so much; gives zero, or what Python says."""
  ty = ir.FunctionType(I64, [PTR, I64, I64, PTR, I64, PTR])
  b = _function(module, "wait_for", ty)
  b.function.linkage = "internal"
  rendezvous, me, kind, place, expected, where = b.function.args
  tries, failure, until = b.alloca(I64), b.alloca(I64), b.alloca(I64)
  clock = b.inttoptr(b.ptrtoint(b.alloca(ir.ArrayType(I64, 2)), I64), PTR)
  b.store(i64(0), tries)
  b.store(i64(0), failure)
  done = lambda: _satisfied(b, kind, place, expected)

  def count() -> None:
    b.store(b.add(b.load(tries, typ=I64), i64(1)), tries)

  may_spin = lambda: b.icmp_signed("<", b.load(tries, typ=I64), i64(_SPINS))
  may_yield = lambda: b.icmp_signed("<", now(b, clock), b.load(until, typ=I64))
  _while(b, lambda: b.and_(b.not_(done()), may_spin()), count)
  with if_then(b, done(), ends=True):
    b.ret(i64(0))
  b.store(b.add(now(b, clock), i64(_YIELDING)), until)
  _while(b, lambda: b.and_(b.not_(done()), may_yield()), lambda: b.call(external(module, "sched_yield", I32, []), []))
  with if_then(b, done(), ends=True):
    b.ret(i64(0))
  own = slot(b, rendezvous, me)
  _add(b, at(b, own, WAITS))
  for offset, value in ((KIND, kind), (COUNTER, b.ptrtoint(place, I64)), (EXPECTED, expected)):
    _set(b, value, at(b, own, offset))
  _waits_at(b, own, where)
  b.store(i64(0), tries)
  span = b.alloca(ir.ArrayType(I64, 2))
  raw = b.inttoptr(b.ptrtoint(span, I64), PTR)
  b.store(i64(0), at(b, raw, 0))
  b.store(i64(_SLEEP_NANOSECONDS), at(b, raw, 8))

  def sleep() -> None:
    b.call(external(module, "nanosleep", I32, [PTR, PTR]), [raw, _NULL])
    count()
    due = b.icmp_signed("==", b.srem(b.load(tries, typ=I64), i64(_MAX_SLEEPS)), i64(0))
    with if_then(b, due):
      b.store(b.call(external(module, DEADLOCK_CHECK, I64, [PTR, I64]), [rendezvous, me]), failure)

  waiting = lambda: b.and_(b.not_(done()), b.icmp_unsigned("==", b.load(failure, typ=I64), i64(0)))
  _while(b, waiting, sleep)
  _set(b, i64(0), at(b, own, WHERE))
  b.ret(b.select(done(), i64(0), b.load(failure, typ=I64)))
  return b.function


def _emit_visit(module: ir.Module, wait: ir.Function) -> None:
  """The slot of another device once it has arrived; null after an error."""
  b = _function(module, VISIT, VISIT_TYPE)
  rendezvous, me, other, where, error = b.function.args
  found = slot(b, rendezvous, other)
  with if_then(b, b.icmp_unsigned("==", _atomic(b, at(b, found, STATE)), i64(ABSENT))):
    message = b.call(wait, [rendezvous, me, i64(FOR_DEVICE), at(b, found, STATE), i64(1), where])
    with if_then(b, b.icmp_unsigned("!=", message, i64(0)), ends=True):
      b.cmpxchg(error, i64(0), message, "seq_cst", "seq_cst")
      b.ret(_NULL)
  with if_then(b, b.icmp_unsigned(">=", _atomic(b, at(b, found, STATE)), i64(GONE)), ends=True):
    # A wait that cannot end, whose error names the device.
    message = b.call(wait, [rendezvous, me, i64(FOR_DEVICE), at(b, found, STATE), i64(OUTSIDE + 1), where])
    b.cmpxchg(error, i64(0), message, "seq_cst", "seq_cst")
    b.ret(_NULL)
  b.ret(found)


def _emit_await(module: ir.Module, wait: ir.Function) -> None:
  """Wait for a semaphore; returns whether it has its count."""
  b = _function(module, AWAIT, AWAIT_TYPE)
  rendezvous, me, counter, expected, where, error = b.function.args
  message = b.call(wait, [rendezvous, me, i64(FOR_SEMAPHORE), counter, b.sext(expected, I64), where])
  with if_then(b, b.icmp_unsigned("!=", message, i64(0)), ends=True):
    b.cmpxchg(error, i64(0), message, "seq_cst", "seq_cst")
    b.ret(i64(0))
  b.ret(i64(1))


def _emit_idle(module: ir.Module) -> None:
  """All cores of a device wait: one nap, during which the slot shows that, and now and then a call of `deadlocks` in Python."""
  b = _function(module, IDLE, IDLE_TYPE)
  rendezvous, me, where, error = b.function.args
  own = slot(b, rendezvous, me)
  _set(b, i64(FOR_CORES), at(b, own, KIND))
  _waits_at(b, own, where)
  sleeps = _add(b, at(b, own, COUNTER))
  span = b.inttoptr(b.ptrtoint(b.alloca(ir.ArrayType(I64, 2)), I64), PTR)
  b.store(i64(0), at(b, span, 0))
  b.store(i64(_SLEEP_NANOSECONDS), at(b, span, 8))
  b.call(external(module, "nanosleep", I32, [PTR, PTR]), [span, _NULL])
  with if_then(b, b.icmp_signed("==", b.srem(sleeps, i64(_MAX_SLEEPS)), i64(0))):
    message = b.call(external(module, DEADLOCK_CHECK, I64, [PTR, I64]), [rendezvous, me])
    with if_then(b, b.icmp_unsigned("!=", message, i64(0))):
      b.cmpxchg(error, i64(0), message, "seq_cst", "seq_cst")
  _set(b, i64(0), at(b, own, WHERE))
  b.ret_void()


def _emit_poll(module: ir.Module) -> None:
  """`poll(rendezvous, me, kind, where, error)`: a device is about to read a semaphore in a loop. After a while it yields each time, and
  calls `deadlocks` in Python every 50 ms."""
  b = _function(module, POLL, POLL_TYPE)
  rendezvous, me, kind, where, error = b.function.args
  own = slot(b, rendezvous, me)
  polls = _add(b, at(b, own, POLLS))
  with if_then(b, b.icmp_signed("==", polls, i64(1))):
    _add(b, at(b, own, WAITS))
    for offset, value in ((KIND, kind), (COUNTER, i64(0)), (EXPECTED, i64(1)), (ASKED, i64(0))):
      _set(b, value, at(b, own, offset))
    _waits_at(b, own, where)
  with if_then(b, b.icmp_signed(">", polls, i64(_POLLS))):
    b.call(external(module, "sched_yield", I32, []), [])
  clock = b.inttoptr(b.ptrtoint(b.alloca(ir.ArrayType(I64, 2)), I64), PTR)
  with if_then(b, b.icmp_signed("==", b.srem(polls, i64(_POLLS)), i64(0))):
    time, last = now(b, clock), read(b, own, ASKED, I64)
    with if_then(b, b.icmp_signed("==", last, i64(0))):
      b.store(time, at(b, own, ASKED))
    is_due = b.and_(b.icmp_signed("!=", last, i64(0)), b.icmp_signed(">", b.sub(time, last), i64(_ASKING)))
    with if_then(b, is_due):
      message = b.call(external(module, DEADLOCK_CHECK, I64, [PTR, I64]), [rendezvous, me])
      b.store(now(b, clock), at(b, own, ASKED))
      with if_then(b, b.icmp_unsigned("!=", message, i64(0))):
        b.cmpxchg(error, i64(0), message, "seq_cst", "seq_cst")
  b.ret_void()


def end_polls(b: ir.IRBuilder, rendezvous: ir.Value, me: ir.Value) -> None:
  """A device has left the loop in which it read a semaphore, or does something else in it."""
  own = slot(b, rendezvous, me)
  _set(b, i64(0), at(b, own, WHERE))
  _set(b, i64(0), at(b, own, POLLS))


# --- coming and going --------------------------------------------------------------------------------------------


def _emit_record(module: ir.Module) -> ir.Function:
  """`record(domain, run, me, name)`: what devices did last, for messages. The lock is held."""
  b = _function(module, "record", ir.FunctionType(VOID, [PTR, I64, I64, PTR]))
  b.function.linkage = "internal"
  domain, run, me, name = b.function.args
  history = at(b, domain, HISTORY_TABLE)
  number = read(b, history, 0, I64)
  b.store(b.add(number, i64(1)), at(b, history, 0))
  entry = b.gep(history, [b.add(i64(8), b.mul(b.urem(number, i64(HISTORY)), i64(HISTORY_ENTRY)))], source_etype=I8)
  b.store(run, at(b, entry, 0))
  b.store(me, at(b, entry, 8))
  b.call(external(module, "strncpy", PTR, [PTR, PTR, I64]), [at(b, entry, 16), name, i64(HISTORY_NAME)])
  b.ret_void()
  return b.function


def _emit_join(module: ir.Module, heaps: Heaps, record: ir.Function) -> ir.Function:
  """Join the first rendezvous of this run and call that this device has not been in, or append a new one to the list.

  The caller holds the lock. Returns null where the domain's memory is full.
  """
  b = _function(module, "join", ENTER_TYPE)
  b.function.linkage = "internal"
  run, site, name, count, me, arrays, arena = b.function.args
  domain = domain_of_site(b, site)
  is_shared = _is_shared(b, domain)
  call = b.select(is_shared, read(b, site, lifetime.SITE_CALL, I64), b.ptrtoint(site, I64))
  place, found = b.alloca(PTR), b.alloca(PTR)
  b.store(at(b, domain, HEAD), place)
  b.store(_NULL, found)

  def condition() -> ir.Value:
    here = b.load(b.load(place, typ=PTR), typ=PTR)
    return b.and_(b.not_(_is_null(b, here)), _is_null(b, b.load(found, typ=PTR)))

  def step() -> None:
    here = b.load(b.load(place, typ=PTR), typ=PTR)
    same = b.and_(
      b.icmp_unsigned("==", read(b, here, RUN, I64), run), b.icmp_unsigned("==", read(b, here, KERNEL, I64), call)
    )
    is_it = b.and_(same, b.icmp_unsigned("==", _atomic(b, at(b, slot(b, here, me), STATE)), i64(ABSENT)))
    # Slots of another number of devices are not looked at: a kernel has one mesh.
    with if_then(b, is_it):
      b.store(here, found)
    b.store(at(b, here, NEXT), place)

  _while(b, condition, step)
  with if_then(b, _is_null(b, b.load(found, typ=PTR))):
    size = b.add(i64(SLOTS), b.mul(count, i64(SLOT_BYTES)))
    memory = b.alloca(PTR)
    with b.if_else(is_shared) as (shared, alone):
      with shared:
        b.store(b.call(heaps.take, [at(b, domain, HEAPS), size]), memory)
      with alone:
        b.store(b.call(external(module, "malloc", PTR, [I64]), [size]), memory)
    new = b.load(memory, typ=PTR)
    with if_then(b, _is_null(b, new), ends=True):
      b.ret(_NULL)
    clear = external(module, "memset", PTR, [PTR, I32, I64])
    b.call(clear, [new, I32(0), i64(SLOTS)])
    with for_range(b, 0, count) as device:  # texts are there when something points to them
      b.call(clear, [slot(b, new, device), I32(0), i64(WHERE_TEXT)])
    for offset, value in (
      (RUN, run),
      (KERNEL, call),
      (COUNT, count),
      (MEMBERS, _keep_outside(b, new, site, me, count)),
      (NAME, at(b, new, NAME_TEXT)),
      (DOMAIN_OF, domain),
    ):
      b.store(value, at(b, new, offset))
    _copy_text(b, name, at(b, new, NAME_TEXT), NAME_BYTES)
    clock = b.inttoptr(b.ptrtoint(b.alloca(ir.ArrayType(I64, 2)), I64), PTR)
    b.store(now(b, clock), at(b, new, CREATED))
    b.store(new, b.load(place, typ=PTR))
    b.store(new, found)
  rendezvous = b.load(found, typ=PTR)
  own = slot(b, rendezvous, me)
  b.store(arrays, at(b, own, ARGS))
  b.store(arena, at(b, own, ARENA))
  _set(b, i64(IN_BODY), at(b, own, STATE))
  _add(b, at(b, rendezvous, ENTERED))
  b.call(record, [domain, run, me, name])
  b.ret(rendezvous)
  return b.function


def _keep_outside(b: ir.IRBuilder, rendezvous: ir.Value, site: ir.Value, me: ir.Value, count: ir.Value) -> ir.Value:
  """Mark the devices of other parties; how many there are in ours."""
  members = b.alloca(I64)
  b.store(count, members)
  with if_then(b, b.icmp_signed("!=", read(b, site, lifetime.SITE_PARTIES, I64), i64(0))):
    party = lambda device: b.load(b.gep(at(b, site, lifetime.SITE_PARTY), [device], source_etype=I64), typ=I64)
    own = party(me)
    with for_range(b, 0, count) as device, if_then(b, b.icmp_signed("!=", party(device), own)):
      b.store(i64(OUTSIDE), at(b, slot(b, rendezvous, device), STATE))
      b.store(b.sub(b.load(members, typ=I64), i64(1)), members)
  return b.load(members, typ=I64)


def takes_part(b: ir.IRBuilder, rendezvous: ir.Value, device: ir.Value) -> ir.Value:
  return b.icmp_signed("!=", read(b, slot(b, rendezvous, device), STATE, I64), i64(OUTSIDE))


def _emit_enter(module: ir.Module, join: ir.Function) -> None:
  """Emit `enter`; it returns null where a process of the domain has ended, or its memory is full."""
  b = _function(module, ENTER, ENTER_TYPE)
  domain = domain_of_site(b, b.function.args[1])
  _lock(b, domain)
  with if_then(b, is_broken(b, domain), ends=True):
    _unlock(b, domain)
    b.ret(_NULL)
  rendezvous = b.call(join, b.function.args)
  _unlock(b, domain)
  b.ret(rendezvous)


def _unlink(b: ir.IRBuilder, rendezvous: ir.Value) -> None:
  """Take a rendezvous out of the list, if it is in it. The lock is held."""
  place = b.alloca(PTR)
  b.store(at(b, domain_of(b, rendezvous), HEAD), place)

  def other() -> ir.Value:
    here = b.load(b.load(place, typ=PTR), typ=PTR)
    return b.and_(b.icmp_unsigned("!=", here, rendezvous), b.not_(_is_null(b, here)))

  _while(b, other, lambda: b.store(at(b, b.load(b.load(place, typ=PTR), typ=PTR), NEXT), place))
  with if_then(b, b.icmp_unsigned("==", b.load(b.load(place, typ=PTR), typ=PTR), rendezvous)):
    b.store(read(b, rendezvous, NEXT), b.load(place, typ=PTR))


def _emit_arrive(module: ir.Module, join: ir.Function) -> None:
  """`arrive(…)` joins a rendezvous of kernels that never wait; returns it to the last device to arrive, and null to the others."""
  b = _function(module, ARRIVE, ENTER_TYPE)
  domain = domain_of_site(b, b.function.args[1])
  _lock(b, domain)
  rendezvous = b.call(join, b.function.args)
  b.store(i64(1), at(b, rendezvous, IS_GANG))
  is_last = b.icmp_signed("==", read(b, rendezvous, ENTERED, I64), read(b, rendezvous, MEMBERS, I64))
  with if_then(b, is_last):
    _unlink(b, rendezvous)
  _unlock(b, domain)
  b.ret(b.select(is_last, rendezvous, _NULL))


def _emit_leave(module: ir.Module, heaps: Heaps, wait: ir.Function) -> None:
  """End the body, with a message if it failed, and wait for the others to end theirs. The last one frees the rendezvous.

  Where others are in other processes, whose failure does not end this process's program, their message is given: what they should have
  written here is missing.
  """
  b = _function(module, LEAVE, LEAVE_TYPE)
  rendezvous, me, message = b.function.args
  own, domain = slot(b, rendezvous, me), domain_of(b, rendezvous)
  is_shared = _is_shared(b, domain)
  failed = b.icmp_unsigned("!=", message, i64(0))
  with if_then(b, failed):
    _copy_text(b, b.inttoptr(message, PTR), at(b, own, ERROR_TEXT), ERROR_BYTES)
    b.store(at(b, own, ERROR_TEXT), at(b, own, ERROR))
  _set(b, b.select(failed, i64(FAILED), i64(BODY_DONE)), at(b, own, STATE))
  _add(b, at(b, rendezvous, ENDED))
  count, members = read(b, rendezvous, COUNT, I64), read(b, rendezvous, MEMBERS, I64)
  gone = b.call(wait, [rendezvous, me, i64(FOR_END), at(b, rendezvous, ENDED), members, read(b, rendezvous, NAME)])
  failure = b.alloca(I64)
  b.store(b.select(is_shared, gone, i64(0)), failure)
  with if_then(b, b.icmp_unsigned("!=", gone, i64(0))):
    _set(b, i64(GONE), at(b, own, STATE))
  with if_then(b, b.and_(is_shared, b.icmp_unsigned("==", gone, i64(0)))), for_range(b, 0, count) as device:
    other = slot(b, rendezvous, device)
    with if_then(b, b.icmp_unsigned("==", _atomic(b, at(b, other, STATE)), i64(FAILED))):
      copy = b.call(external(module, "strdup", PTR, [PTR]), [read(b, other, ERROR)])
      b.store(b.ptrtoint(copy, I64), failure)
  with if_then(b, b.icmp_signed("==", _add(b, at(b, rendezvous, LEFT)), members)):
    _lock(b, domain)
    _unlink(b, rendezvous)
    with b.if_else(is_shared) as (shared, alone):
      with shared:
        b.call(heaps.give, [rendezvous])
      with alone:
        b.call(external(module, "free", VOID, [PTR]), [rendezvous])
    _unlock(b, domain)
  b.ret(b.load(failure, typ=I64))

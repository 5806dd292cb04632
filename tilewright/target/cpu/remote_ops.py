"""Ops of kernels that access other devices, of this or of other processes: remote memory, and semaphores shared between threads.

    remote(ref, device)     the same memory on another device: its pointer moved by the distance of the two arenas or arrays
    signal, wait            atomic; writes before a signal happen before the wait that it ends returns (release and acquire)

A point of the grid enters its rendezvous (`device_rendezvous`) after its scratch memory is initialised, and leaves it when its body
ends or fails.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from llvmlite import ir

from tilewright import errors
from tilewright.target.cpu import device_rendezvous, effects, lifetime, rendezvous_layout, statements
from tilewright.target.cpu import polling as loops_that_poll
from tilewright.target.cpu.code import HostCode
from tilewright.target.cpu.hosts import Host
from tilewright.target.llvm.frame import at, external, read, text_pointer
from tilewright.target.llvm.loops import Index, i64, if_then
from tilewright.target.llvm.memory import Memory
from tilewright.target.llvm.types import I32, I64, PTR, VOID
from tilewright.tile import polling
from tilewright.tile.dead_code import base_of
from tilewright.tile.ir import Block, Op, Value, walk
from tilewright.tile.native import NativeKernel
from tilewright.tile.remote_arrays import array_bytes, number_of_devices, staged
from tilewright.tile.types import RefType

# In the state of a call, before the arrays: the pointers that other processes use, which call of the program it is, the run, and an error's
# message.
SEEN, SITE, RUN, ERROR = -4, -3, -2, -1


@dataclasses.dataclass(eq=False)
class RendezvousScope:
  """The rendezvous that the code of one device is in: `cell` holds the rendezvous and this device's number."""

  kernel: NativeKernel
  args: ir.Value
  cell: ir.Value
  arena: ir.Value  # the memory that others access lies at its start


SYNCHRONISING = frozenset({"signal", "wait", "read_semaphore", "lock_device", "unlock_device"})


class CommunicatingCode:
  """The part of code for one of several devices that knows the rendezvous."""

  b: ir.IRBuilder
  rendezvous_scope: RendezvousScope

  def rendezvous(self) -> ir.Value:
    return read(self.b, self.rendezvous_scope.cell, 0)

  def me(self) -> ir.Value:
    return read(self.b, self.rendezvous_scope.cell, 8, I64)


class DeviceCode(CommunicatingCode, HostCode):
  """The code of a body that runs on several devices at the same time."""

  synchronizing_ops = HostCode.synchronizing_ops | SYNCHRONISING

  def __init__(self, b: ir.IRBuilder, host: Host, arena: ir.Value, rendezvous_scope: RendezvousScope):
    super().__init__(b, host, arena, STATEMENTS)
    self.rendezvous_scope = rendezvous_scope
    self.whole = rendezvous_scope.kernel.body.body
    self.polling = BetweenDevices()

  def _bases_exchanged(self) -> set[Any]:
    """Memory that other devices access may change while this one waits."""
    return remotely_accessed_bases(self)


class BetweenDevices:
  """Polling while other devices run."""

  def begin(self, code: Any, kind: str) -> Any:
    return None

  def poll(self, code: Any, state: Any, kind: str, op: Op) -> None:
    b = code.b
    call = _declared(b.module, rendezvous_layout.POLL, device_rendezvous.POLL_TYPE)
    of_kind = rendezvous_layout.FOR_POLLED if kind == polling.WAIT else rendezvous_layout.FOR_POLLED_OR_OTHER
    where = text_pointer(b.module, op.loc or code.rendezvous_scope.kernel.name)
    b.call(call, [code.rendezvous(), code.me(), i64(of_kind), where, code.error])
    failed = b.load_atomic(code.error, "monotonic", 8, typ=I64)
    _leave_unless(code, b.icmp_unsigned("==", failed, i64(0)))

  def end(self, code: Any, state: Any) -> None:
    device_rendezvous.end_polls(code.b, code.rendezvous(), code.me())


def remotely_accessed_bases(code: HostCode) -> set[Any]:
  """The memory that other devices access."""
  assert code.whole is not None
  seen = [op.operands[0] for op in walk(code.whole) if op.name == "remote"]
  return {code.base_of(ref) for ref in seen if isinstance(ref.type, RefType)}


def is_gang(kernel: NativeKernel) -> bool:
  """Whether a kernel never waits and accesses only whole arrays of other devices: its bodies may then run one after another."""
  if not kernel.mesh or kernel.warpgroups > 1 or kernel.across_processes:
    return False
  first = kernel.mapping.num_prefetch
  arrays = {kernel.body.params[first + k]: index_map for k, index_map in enumerate(kernel.index_maps)}
  for op in walk(kernel.body.body):
    if op.name in ("wait", "signal", "read_semaphore", "lock_device"):
      return False
    if op.name == "remote" and arrays.get(base_of(op.operands[0]), kernel) is not None:
      return False
  return True


def emit_staged(module: ir.Module, kernel: NativeKernel) -> ir.GlobalVariable:
  """The staged arrays, as the launcher reads them (`call_state`)."""
  found = staged(kernel)
  words = [len(found)]
  for each in found:
    words += [each.number, max(1, each.nbytes), each.same_as, int(each.is_read), int(each.is_written)]
  table = ir.Constant(ir.ArrayType(I64, len(words)), words)
  constant = ir.GlobalVariable(module, table.type, "staged")
  constant.global_constant, constant.initializer, constant.linkage = True, table, "internal"
  return constant


def emit_device_id(module: ir.Module, kernel: NativeKernel) -> ir.Function:
  """`who(arrays)`: the number of this device in row-major order of its mesh."""
  function = ir.Function(module, ir.FunctionType(I64, [PTR]), "who")
  function.linkage = "internal"
  b = ir.IRBuilder(function.append_basic_block("entry"))
  b.ret(_own_number(b, kernel, function.args[0]))
  return function


def _own_number(b: ir.IRBuilder, kernel: NativeKernel, args: ir.Value) -> ir.Value:
  me: ir.Value = i64(0)
  for param, size in kernel.mesh:
    place = b.load(b.gep(args, [i64(param)], source_etype=PTR), typ=PTR)
    me = b.add(b.mul(me, i64(size)), b.sext(b.load(place, typ=I32), I64))
  return me


def enter(code: DeviceCode) -> None:
  """Scratch memory is initialised: publish its address to the other devices."""
  b, rendezvous_scope = code.b, code.rendezvous_scope
  me = _own_number(b, rendezvous_scope.kernel, rendezvous_scope.args)
  if is_gang(rendezvous_scope.kernel):  # all have arrived
    b.store(
      b.load(b.gep(rendezvous_scope.args, [i64(RUN)], source_etype=I64), typ=I64), at(b, rendezvous_scope.cell, 0)
    )
    b.store(me, at(b, rendezvous_scope.cell, 8))
    return
  words = {
    name: b.load(b.gep(rendezvous_scope.args, [i64(number)], source_etype=I64), typ=I64)
    for name, number in (("run", RUN), ("site", SITE))
  }
  rendezvous = b.call(
    _declared(b.module, rendezvous_layout.ENTER, device_rendezvous.ENTER_TYPE),
    [
      words["run"],
      b.inttoptr(words["site"], PTR),
      at(b, b.inttoptr(words["site"], PTR), lifetime.SITE_TITLE),
      i64(number_of_devices(rendezvous_scope.kernel)),
      me,
      b.load(b.gep(rendezvous_scope.args, [i64(SEEN)], source_etype=I64), typ=PTR)
      if rendezvous_scope.kernel.across_processes
      else rendezvous_scope.args,
      rendezvous_scope.arena,
    ],
  )
  b.store(rendezvous, at(b, rendezvous_scope.cell, 0))
  b.store(me, at(b, rendezvous_scope.cell, 8))
  if rendezvous_scope.kernel.across_processes:
    there = b.icmp_unsigned("!=", rendezvous, ir.Constant(PTR, None))
    with if_then(b, b.not_(there)):
      domain = device_rendezvous.domain_of_call(b, b.inttoptr(words["site"], PTR))
      b.cmpxchg(
        code.error, i64(0), b.ptrtoint(at(b, domain, rendezvous_layout.ENDED_MESSAGE), I64), "seq_cst", "seq_cst"
      )
    _leave_unless(code, there)


def emit_point(module: ir.Module, kernel: NativeKernel, body: ir.Function) -> ir.Function:
  """`point(args, sizes, arena, number)`: the body, which enters a rendezvous, and the end of that rendezvous."""
  function = ir.Function(module, ir.FunctionType(VOID, [PTR, PTR, PTR, I64]), "point")
  function.linkage = "internal"
  b = ir.IRBuilder(function.append_basic_block("entry"))
  cell = b.inttoptr(b.ptrtoint(b.alloca(ir.ArrayType(I64, 2)), I64), PTR)
  b.store(ir.Constant(PTR, None), at(b, cell, 0))
  b.call(body, [*function.args, cell])
  if is_gang(kernel):
    b.ret_void()
    return function
  rendezvous = read(b, cell, 0)
  with if_then(b, b.icmp_unsigned("!=", rendezvous, ir.Constant(PTR, None))):
    message = b.load_atomic(b.gep(function.args[0], [i64(ERROR)], source_etype=I64), "seq_cst", 8, typ=I64)
    leave = _declared(module, rendezvous_layout.LEAVE, device_rendezvous.LEAVE_TYPE)
    failure = b.call(leave, [rendezvous, read(b, cell, 8, I64), message])
    b.cmpxchg(b.gep(function.args[0], [i64(ERROR)], source_etype=I64), i64(0), failure, "seq_cst", "seq_cst")
  b.ret_void()
  return function


def _declared(module: ir.Module, name: str, kind: ir.FunctionType) -> ir.Function:
  return external(module, name, kind.return_type, list(kind.args))


def _leave_unless(code: HostCode, condition: ir.Value) -> None:
  """End the body unless a condition holds; the error has been reported already."""
  b = code.b
  failed, on = b.append_basic_block("failed"), b.append_basic_block("on")
  b.cbranch(condition, on, failed)
  b.position_at_end(failed)
  b.ret_void()
  b.position_at_end(on)


# --- ops ---------------------------------------------------------------------------------------------------------


def _slot_of(code: DeviceCode, device: Value, where: str) -> ir.Value:
  """The slot with another device's addresses, once it has arrived."""
  b = code.b
  number = code.scalar_index(device)
  count = number_of_devices(code.rendezvous_scope.kernel)
  effects.fail_unless(
    code,
    b.icmp_unsigned("<", number, i64(count)),
    f"GridError: There is no device of the number used at {where}; the mesh has {count}.",
  )
  if is_gang(code.rendezvous_scope.kernel):
    effects.fail_unless(
      code,
      device_rendezvous.takes_part(b, code.rendezvous(), number),
      f"GridError: The device addressed at {where} is in another group than this one.",
    )
    return device_rendezvous.slot(b, code.rendezvous(), number)
  visit = _declared(b.module, rendezvous_layout.VISIT, device_rendezvous.VISIT_TYPE)
  found = b.call(visit, [code.rendezvous(), code.me(), number, text_pointer(b.module, where), code.error])
  _leave_unless(code, b.icmp_unsigned("!=", found, ir.Constant(PTR, None)))
  return found


def _remote(code: DeviceCode, op: Op) -> None:
  b = code.b
  ref, device = op.operands
  memory = code.memory_of(ref)
  slot = _slot_of(code, device, op.attrs["where"])
  there, here = read(b, slot, rendezvous_layout.ARENA, I64), b.ptrtoint(code.rendezvous_scope.arena, I64)
  distance = b.sub(there, here)
  address = b.ptrtoint(memory.pointer, I64)
  operand = _operand(code, ref)
  if operand is not None:
    number, nbytes = operand
    theirs = b.load(b.gep(read(b, slot, rendezvous_layout.ARGS), [i64(number)], source_etype=I64), typ=I64)
    own = b.load(b.gep(code.rendezvous_scope.args, [i64(number)], source_etype=I64), typ=I64)
    of_array = b.sub(theirs, own)
    # A block that extends past the edge of its array is a copy in the arena.
    inside = b.icmp_unsigned("<", b.sub(address, own), i64(max(1, nbytes)))
    distance = b.select(inside, of_array, distance)
  pointer = b.inttoptr(b.add(address, distance), PTR)
  code.env[op.results[0]] = Memory(pointer, memory.strides, memory.dtype, memory.base, memory.origin)


def _operand(code: DeviceCode, ref: Value) -> tuple[int, int] | None:
  """The number among the arrays, and the bytes, of the operand that a ref is part of; None for memory of the arena."""
  base, kernel = base_of(ref), code.rendezvous_scope.kernel
  if isinstance(base.owner, Op):
    if base.owner.name == "remote":
      raise errors.NativeCodeError(f"A ref on another device cannot be sent on to a third, at {base.owner.loc}.")
    return None
  assert isinstance(base.owner, Block)
  number = kernel.body.params.index(base)
  first = kernel.mapping.num_prefetch
  if number >= first + len(kernel.mapping.block_mappings):
    return None
  return number, array_bytes(kernel, number)


def _place(code: DeviceCode, semaphore: Value, index: list[Value]) -> ir.Value:
  return code.address(code.memory_of(semaphore), [Index(code.scalar_index(i)) for i in index])[0]


def _amount(code: DeviceCode, v: Value) -> ir.Value:
  value = code.scalar(v)
  return value if value.type == I32 else code.b.trunc(code.scalar_index(v), I32)


def _signal(code: DeviceCode, op: Op) -> None:
  semaphore, amount, *index = op.operands
  _go_on(code)
  code.b.atomic_rmw("add", _place(code, semaphore, index), _amount(code, amount), "seq_cst")


def _wait(code: DeviceCode, op: Op) -> None:
  b = code.b
  semaphore, amount, *index = op.operands
  _go_on(code)
  place, needed = _place(code, semaphore, index), _amount(code, amount)
  wait = _declared(b.module, rendezvous_layout.AWAIT, device_rendezvous.AWAIT_TYPE)
  where = text_pointer(b.module, op.loc or code.rendezvous_scope.kernel.name)
  done = b.call(wait, [code.rendezvous(), code.me(), place, needed, where, code.error])
  _leave_unless(code, b.icmp_unsigned("!=", done, i64(0)))
  if op.attrs["decrement"]:
    b.atomic_rmw("sub", place, needed, "seq_cst")


def _go_on(code: DeviceCode) -> None:
  """In a loop that polls, something else than reading: whatever is read next is read for the first time."""
  if code.polls:
    code.polling.end(code, code.polls[-1][0])


def _read(code: DeviceCode, op: Op) -> None:
  loops_that_poll.read(code, op)
  semaphore, *index = op.operands
  code.env[op.results[0]] = code.b.load_atomic(_place(code, semaphore, index), "seq_cst", 4, typ=I32)


def _lock_device(code: DeviceCode, op: Op) -> None:
  """Take the lock of a device's memory: atomic adds to it are serialised."""
  b = code.b
  lock = at(b, _slot_of(code, op.operands[0], op.attrs["where"]), rendezvous_layout.LOCK)
  again, wait, taken = (b.append_basic_block(name) for name in ("lock", "give.way", "locked"))
  b.branch(again)
  b.position_at_end(again)
  b.cbranch(b.icmp_unsigned("==", b.atomic_rmw("xchg", lock, i64(1), "seq_cst"), i64(0)), taken, wait)
  b.position_at_end(wait)
  b.call(external(b.module, "sched_yield", I32, []), [])
  if code.rendezvous_scope.kernel.across_processes:
    domain = device_rendezvous.domain_of(b, code.rendezvous())
    broken = device_rendezvous.is_broken(b, domain)
    with if_then(b, broken):
      b.cmpxchg(
        code.error, i64(0), b.ptrtoint(at(b, domain, rendezvous_layout.ENDED_MESSAGE), I64), "seq_cst", "seq_cst"
      )
    _leave_unless(code, b.not_(broken))
  b.branch(again)
  b.position_at_end(taken)


def _unlock_device(code: DeviceCode, op: Op) -> None:
  lock = at(code.b, _slot_of(code, op.operands[0], op.attrs["where"]), rendezvous_layout.LOCK)
  code.b.atomic_rmw("xchg", lock, i64(0), "seq_cst")


def moved(code: DeviceCode) -> None:
  """Some core of this device made progress: its next wait is a new one."""
  own = device_rendezvous.slot(code.b, code.rendezvous(), code.me())
  code.b.atomic_rmw("add", at(code.b, own, rendezvous_layout.WAITS), i64(1), "seq_cst")


def idle(code: DeviceCode, where: ir.Value) -> None:
  """All cores of this device wait: sleep briefly, and check now and then whether the wait can end. An error is stored in the error slot."""
  b = code.b
  call = _declared(b.module, rendezvous_layout.IDLE, device_rendezvous.IDLE_TYPE)
  b.call(call, [code.rendezvous(), code.me(), where, code.error])


# The rules that cores which take turns on one device share; only their waits differ.
REMOTE: dict[str, Any] = {
  "remote": _remote,
  "signal": _signal,
  "read_semaphore": _read,
  "lock_device": _lock_device,
  "unlock_device": _unlock_device,
}
STATEMENTS: dict[str, Any] = {**statements.STATEMENTS, **REMOTE, "wait": _wait}

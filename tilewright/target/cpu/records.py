"""The native part of `lifetime`: a table of records by name, and the callbacks by which XLA builds, runs and deletes programs.

    instantiate(frame)      finds the record that the call's attribute names, counts a user, and gives the call a state, its *site*
    execute(frame)          finds the record by its site, and launches the kernel
    release(record)         one user less
    release_site(site)      the state's deleter
    retain(record)          one user more
    publish(record)         into the table, if it is not there yet
    withdraw(record)        out of the table if it has no user; says whether it is out

A site is a record's address and the call's title, in memory of its own: all devices that run a program have the same site for one of its
calls. The title, for messages, is a second attribute of calls that meet other devices; a third is three numbers: the address of the domain
of several processes and which call of the program this is, which are the same in all of them, and whether the program meets in gangs only.

The table is an array of lists, under a lock that is held for a few instructions. Users are added under the lock, or by a caller that is
already a user, so that a record without users under the lock gets no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from llvmlite import ir

from tilewright.runtime import ffi
from tilewright.target.cpu import lifetime
from tilewright.target.llvm.frame import api_function, at, emit_error, external, fill, read, struct, text_pointer
from tilewright.target.llvm.loops import i64, if_then
from tilewright.target.llvm.types import I1, I32, I64, PTR, VOID

_BUCKET_BITS = 12
_ODD = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio: its multiples spread over the highest bits
_NULL = ir.Constant(PTR, None)
_STAGE = 0  # XLA_FFI_ExecutionStage_INSTANTIATE
_STRING = 4  # XLA_FFI_AttrType_STRING
_ARRAY_SIZE, _ARRAY_DATA = 8, 16  # of an XLA_FFI_Array, behind its dtype
_GONE = (
  "The machine code of a Tilewright kernel is not in memory: this program was compiled by another process, or its lowering is gone. "
  "Lower the function again."
)


def emit(module: ir.Module, launch: ir.Function) -> None:
  """All of it. `launch(frame, facts, site)` runs a kernel."""
  lock, buckets, kind = (
    _variable(module, name, ty)
    for name, ty in (("lock", I64), ("buckets", ir.ArrayType(I64, 1 << _BUCKET_BITS)), (lifetime.TYPE_ID, I64))
  )
  kind.linkage = ""  # others may see it
  find = _emit_find(module, buckets)
  _emit_instantiate(module, lock, kind, find)
  _emit_execute(module, kind, launch)
  _emit_users(module)
  _emit_release_site(module)
  _emit_publish(module, lock, buckets)
  _emit_withdraw(module, lock, buckets)


def _variable(module: ir.Module, name: str, ty: ir.Type) -> ir.GlobalVariable:
  variable = ir.GlobalVariable(module, ty, name)
  variable.initializer, variable.linkage = ir.Constant(ty, None if isinstance(ty, ir.ArrayType) else 0), "internal"
  return variable


def _function(module: ir.Module, name: str, result: ir.Type, internal: bool = False) -> tuple[ir.IRBuilder, ir.Value]:
  function = ir.Function(module, ir.FunctionType(result, [PTR]), name)
  function.linkage = "internal" if internal else "external"
  return ir.IRBuilder(function.append_basic_block("entry")), function.args[0]


@contextmanager
def _locked(b: ir.IRBuilder, lock: ir.Value) -> Iterator[None]:
  again, wait, inside = (b.append_basic_block(name) for name in ("lock", "wait", "locked"))
  b.branch(again)
  b.position_at_end(again)
  b.cbranch(b.icmp_unsigned("==", b.atomic_rmw("xchg", lock, i64(1), "seq_cst"), i64(0)), inside, wait)
  b.position_at_end(wait)
  b.call(external(b.module, "sched_yield", I32, []), [])
  b.branch(again)
  b.position_at_end(inside)
  yield
  b.store_atomic(i64(0), lock, "seq_cst", 8)


def _bucket(b: ir.IRBuilder, buckets: ir.Value, name: ir.Value) -> ir.Value:
  """Where the first record is of those whose names begin alike."""
  mixed = b.mul(b.load(name, typ=I64, align=1), i64(_ODD))
  number = b.lshr(mixed, i64(64 - _BUCKET_BITS))
  return b.inttoptr(b.add(b.ptrtoint(buckets, I64), b.mul(number, i64(8))), PTR)


def _walk(b: ir.IRBuilder, first: ir.Value, is_it: Callable[[ir.Value], ir.Value]) -> tuple[ir.Value, ir.Value]:
  """The record of a list for which something holds, or null; and the place that points to it."""
  look, on, out = (b.append_basic_block(name) for name in ("look", "next", "found"))
  before = b.block
  b.branch(look)
  b.position_at_end(look)
  place = b.phi(PTR)
  place.add_incoming(first, before)
  record = b.load(place, typ=PTR)
  test = b.append_basic_block("test")
  b.cbranch(b.icmp_unsigned("==", record, _NULL), out, test)
  b.position_at_end(test)
  b.cbranch(is_it(record), out, on)
  b.position_at_end(on)
  place.add_incoming(at(b, record, lifetime.NEXT), on)
  b.branch(look)
  b.position_at_end(out)
  return record, place


def _emit_find(module: ir.Module, buckets: ir.Value) -> ir.Function:
  """`find(name)`: the record, or null. The lock is held."""
  b, name = _function(module, "find", PTR)

  def is_it(record: ir.Value) -> ir.Value:
    same: ir.Value = I1(1)
    for offset in range(0, lifetime.NAME_BYTES, 8):
      own, wanted = (
        b.load(at(b, p, o), typ=I64, align=1) for p, o in ((record, lifetime.NAME + offset), (name, offset))
      )
      same = b.and_(same, b.icmp_unsigned("==", own, wanted))
    return same

  record, _ = _walk(b, _bucket(b, buckets, name), is_it)
  b.ret(record)
  return b.function


def _answer_version(b: ir.IRBuilder, frame: ir.Value) -> None:
  """Answer XLA's metadata query at the registration of a handler, if this call is that query.

  The type of the state is left unknown: XLA may ask before it has numbered the type, and wants the same answer should it ask again.
  """
  extension = read(b, frame, ffi.FRAME_EXTENSION)
  with if_then(b, b.icmp_unsigned("!=", extension, _NULL), ends=True):
    metadata = read(b, extension, ffi.METADATA_POINTER)
    major, minor = ffi.api_version()
    b.store(I32(major), at(b, metadata, ffi.VERSION_MAJOR))
    b.store(I32(minor), at(b, metadata, ffi.VERSION_MINOR))
    b.ret(_NULL)


def _emit_instantiate(module: ir.Module, lock: ir.Value, kind: ir.Value, find: ir.Function) -> None:
  b, frame = _function(module, lifetime.INSTANTIATE, PTR)
  _answer_version(b, frame)
  api = read(b, frame, ffi.FRAME_API)
  gone = b.ptrtoint(text_pointer(module, _GONE), I64)
  count, types, attributes = (
    read(b, frame, offset, ty)
    for offset, ty in ((ffi.FRAME_NUM_ATTRS, I64), (ffi.FRAME_ATTR_TYPES, PTR), (ffi.FRAME_ATTRS, PTR))
  )
  with if_then(b, b.icmp_unsigned(">", b.sub(count, i64(1)), i64(2)), ends=True):
    b.ret(emit_error(b, api, gone))
  text = b.load(attributes, typ=PTR)
  is_name = b.and_(
    b.icmp_unsigned("==", b.load(types, typ=I32, align=4), I32(_STRING)),
    b.icmp_unsigned("==", read(b, text, 8, I64), i64(lifetime.NAME_BYTES)),
  )
  with if_then(b, b.not_(is_name), ends=True):
    b.ret(emit_error(b, api, gone))
  name = read(b, text, 0)
  with _locked(b, lock):
    record = b.call(find, [name])
    with if_then(b, b.icmp_unsigned("!=", record, _NULL)):
      b.atomic_rmw("add", at(b, record, lifetime.USERS), i64(1), "seq_cst")
  with if_then(b, b.icmp_unsigned("==", record, _NULL), ends=True):
    b.ret(emit_error(b, api, gone))
  parties = b.alloca(I64)
  b.store(i64(0), parties)
  has_world = b.icmp_signed("==", count, i64(3))  # attributes are in order of their names
  with if_then(b, has_world):
    words = read(b, read(b, attributes, 16), _ARRAY_SIZE, I64)
    b.store(b.sub(words, i64(lifetime.WORLD_WORDS)), parties)
  devices = b.load(parties, typ=I64)
  nbytes = b.add(i64(lifetime.SITE_BYTES), b.mul(devices, i64(8)))
  site = b.call(external(module, "calloc", PTR, [I64, I64]), [i64(1), nbytes])
  b.store(record, site)
  copy = external(module, "memcpy", PTR, [PTR, PTR, I64])
  with if_then(b, b.icmp_signed(">=", count, i64(2))):
    title = read(b, attributes, 8)
    length = read(b, title, 8, I64)
    most = i64(lifetime.TITLE_BYTES - 1)
    length = b.select(b.icmp_unsigned("<", length, most), length, most)
    b.call(copy, [at(b, site, lifetime.SITE_TITLE), read(b, title, 0), length])
  with if_then(b, has_world):
    numbers = read(b, read(b, attributes, 16), _ARRAY_DATA)
    given = 8 * lifetime.WORLD_WORDS
    b.call(copy, [at(b, site, lifetime.SITE_WORLD), numbers, i64(given)])
    b.store(devices, at(b, site, lifetime.SITE_PARTIES))
    b.call(copy, [at(b, site, lifetime.SITE_PARTY), at(b, numbers, given), b.mul(devices, i64(8))])
  failed = _state(b, frame, kind, "XLA_FFI_State_Set", site)[0]
  with if_then(b, b.icmp_unsigned("!=", failed, _NULL)):
    b.atomic_rmw("sub", at(b, record, lifetime.USERS), i64(1), "seq_cst")
    b.call(external(module, "free", VOID, [PTR]), [site])
  b.ret(failed)


def _state(
  b: ir.IRBuilder, frame: ir.Value, kind: ir.Value, function: str, value: ir.Value
) -> tuple[ir.Value, ir.Value]:
  """Set or get the state of a call; gives XLA's error, and where the state is."""
  request = struct(b, 6)
  context = b.ptrtoint(read(b, frame, ffi.FRAME_CONTEXT), I64)
  fill(b, request, [i64(48), i64(0), context, i64(_STAGE), b.ptrtoint(kind, I64), b.ptrtoint(value, I64)])
  failed = b.call(api_function(b, read(b, frame, ffi.FRAME_API), function), [request])
  return failed, at(b, request, 40)


def _emit_execute(module: ir.Module, kind: ir.Value, launch: ir.Function) -> None:
  b, frame = _function(module, lifetime.EXECUTE, PTR)
  _answer_version(b, frame)
  failed, place = _state(b, frame, kind, "XLA_FFI_State_Get", _NULL)
  with if_then(b, b.icmp_unsigned("!=", failed, _NULL), ends=True):
    b.ret(failed)
  site = b.load(place, typ=PTR)
  record = b.load(site, typ=PTR)
  b.ret(b.call(launch, [frame, read(b, record, lifetime.RECORD_FACTS), site], tail=True))


def _emit_users(module: ir.Module) -> None:
  for name, change in ((lifetime.RETAIN, "add"), (lifetime.RELEASE, "sub")):
    b, record = _function(module, name, VOID)
    b.atomic_rmw(change, at(b, record, lifetime.USERS), i64(1), "seq_cst")
    b.ret_void()


def _emit_release_site(module: ir.Module) -> None:
  b, site = _function(module, lifetime.RELEASE_SITE, VOID)
  b.atomic_rmw("sub", at(b, b.load(site, typ=PTR), lifetime.USERS), i64(1), "seq_cst")
  b.call(external(module, "free", VOID, [PTR]), [site])
  b.ret_void()


def _emit_publish(module: ir.Module, lock: ir.Value, buckets: ir.Value) -> None:
  b, record = _function(module, lifetime.PUBLISH, VOID)
  bucket = _bucket(b, buckets, at(b, record, lifetime.NAME))
  with _locked(b, lock):
    found, _ = _walk(b, bucket, lambda own: b.icmp_unsigned("==", own, record))
    with if_then(b, b.icmp_unsigned("==", found, _NULL)):
      b.store(b.load(bucket, typ=PTR), at(b, record, lifetime.NEXT))
      b.store(record, bucket)
  b.ret_void()


def _emit_withdraw(module: ir.Module, lock: ir.Value, buckets: ir.Value) -> None:
  b, record = _function(module, lifetime.WITHDRAW, I64)
  bucket = _bucket(b, buckets, at(b, record, lifetime.NAME))
  with _locked(b, lock):
    users = b.load_atomic(at(b, record, lifetime.USERS), "seq_cst", 8, typ=I64)
    is_free = b.icmp_signed("==", users, i64(0))
    with if_then(b, is_free):
      found, place = _walk(b, bucket, lambda own: b.icmp_unsigned("==", own, record))
      with if_then(b, b.icmp_unsigned("!=", found, _NULL)):
        b.store(b.load(at(b, record, lifetime.NEXT), typ=PTR), place)
  b.ret(b.zext(is_free, I64))

"""AArch64 programs without an AArch64 toolchain: a kernel, the launcher and a stand-in for XLA in one static executable for qemu-aarch64.

LLVM compiles the kernel and the launcher as it would on an AArch64 host, and our linker gives them addresses. What XLA and the C library
do is written in LLVM IR below, system calls a few hand-encoded instructions, since llvmlite assembles for the host only. Python lays
out XLA's structs (call frame, buffers, API table) and the arrays, each at the end of its own pages: reading beyond it is a fault.

    run(kernel, arrays, NEON)      the outputs, as XLA would get them
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import shutil
import struct
import subprocess
import tempfile
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tilewright.runtime import elf, ffi, jit
from tilewright.target import cpu
from tilewright.target.cpu import handler, hosts, lifetime
from tilewright.tile.native import NativeKernel

TRIPLE = "aarch64-unknown-linux-gnu"
QEMU = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
WHY_NOT = "qemu-aarch64 is not installed (Debian: apt install qemu-user)"
PAGE = 4096


@dataclasses.dataclass(frozen=True)
class Processor:
  """An AArch64 processor: its features in LLVM's words, and what qemu is to be like."""

  name: str
  features: tuple[str, ...]
  qemu: str = "max"

  @property
  def host(self) -> hosts.Host:
    return hosts.of(self.features)


NEON = Processor("neon", ("neon",), "cortex-a57")
DOT = Processor("dotprod", ("neon", "dotprod", "fullfp16"))
MATRIX = Processor("i8mm", ("neon", "dotprod", "fullfp16", "bf16", "i8mm"))
SVE256 = Processor("sve256", ("neon", "dotprod", "fullfp16", "sve", "sve-bits-256"), "max,sve-max-vq=2")
SVE2_512 = Processor(
  "sve512", ("neon", "dotprod", "fullfp16", "bf16", "i8mm", "sve", "sve2", "sve-bits-512"), "max,sve-max-vq=4"
)
PROCESSORS = (NEON, DOT, MATRIX, SVE256, SVE2_512)


@functools.cache
def machine(processor: Processor, level: int) -> Any:
  llvm.initialize_all_targets()
  llvm.initialize_all_asmprinters()
  features = ",".join(f"+{f}" for f in processor.features if not f.startswith("sve-bits"))
  return llvm.Target.from_triple(TRIPLE).create_target_machine(
    cpu="generic", features=features, opt=level, codemodel="jitdefault", jit=True
  )


def compiled(text: str, processor: Processor, *, is_launcher: bool = False) -> bytes:
  """An object, made as `jit.object_code` makes it on a host of that kind."""
  with jit.lock:
    own = machine(processor, 0 if is_launcher else 3)
    return own.emit_object(jit._optimised(text, own, is_launcher))


# --- what stands for XLA, the C library and the system --------------------------------------------------------------

_INSTRUCTIONS = {
  "system_call": (  # the number, then six arguments
    *(0xAA0003E8, 0xAA0103E0, 0xAA0203E1, 0xAA0303E2, 0xAA0403E3, 0xAA0503E4, 0xAA0603E5),
    *(0xD4000001, 0xD65F03C0),
  ),
  # spawn(stack's end, task, data): clone with memory and files shared; the new thread calls the task and exits
  "spawn": (
    *(0xA9BF0801, 0xAA0003E1, 0x5281E000, 0x72A000A0, 0xD2801B88, 0xD2800002, 0xD2800003, 0xD2800004),
    *(0xD4000001, 0xB50000C0, 0xA8C103E9, 0xD63F0120, 0xD2800000, 0xD2800BA8, 0xD4000001, 0xD65F03C0),
  ),
}

_SYSTEM = """
declare i64 @system_call(i64, i64, i64, i64, i64, i64, i64)
declare i64 @spawn(ptr, ptr, ptr)
declare ptr @execute(ptr)
@threads = external global i64
@frame = external global i64
@outputs = external global i64
@outputs_end = external global i64
@site = external global i64

define ptr @malloc(i64 %n) {
  %r = call i64 @system_call(i64 222, i64 0, i64 %n, i64 3, i64 34, i64 -1, i64 0)
  %p = inttoptr i64 %r to ptr
  ret ptr %p
}
define ptr @calloc(i64 %a, i64 %b) {
  %n = mul i64 %a, %b
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
define void @free(ptr %p) {
  ret void
}
define i32 @sched_yield() {
  %r = call i64 @system_call(i64 124, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0)
  ret i32 0
}
define i32 @madvise(ptr %p, i64 %n, i32 %how) {
  ret i32 0
}
define void @exit(i64 %code) {
  %r = call i64 @system_call(i64 94, i64 %code, i64 0, i64 0, i64 0, i64 0, i64 0)
  unreachable
}
define void @missing() {
  call void @exit(i64 77)
  unreachable
}
define ptr @memcpy(ptr %to, ptr %from, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %out
body:
  %f = getelementptr i8, ptr %from, i64 %i
  %t = getelementptr i8, ptr %to, i64 %i
  %v = load volatile i8, ptr %f
  store volatile i8 %v, ptr %t
  %next = add i64 %i, 1
  br label %head
out:
  ret ptr %to
}
define ptr @memmove(ptr %to, ptr %from, i64 %n) {
  %down = icmp ult ptr %to, %from
  br i1 %down, label %forward, label %start
forward:
  %r = call ptr @memcpy(ptr %to, ptr %from, i64 %n)
  ret ptr %r
start:
  br label %head
head:
  %i = phi i64 [ %n, %start ], [ %next, %body ]
  %more = icmp ne i64 %i, 0
  br i1 %more, label %body, label %out
body:
  %next = sub i64 %i, 1
  %f = getelementptr i8, ptr %from, i64 %next
  %t = getelementptr i8, ptr %to, i64 %next
  %v = load volatile i8, ptr %f
  store volatile i8 %v, ptr %t
  br label %head
out:
  ret ptr %to
}
define ptr @memset(ptr %to, i32 %value, i64 %n) {
entry:
  %v = trunc i32 %value to i8
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %out
body:
  %t = getelementptr i8, ptr %to, i64 %i
  store volatile i8 %v, ptr %t
  %next = add i64 %i, 1
  br label %head
out:
  ret ptr %to
}

define ptr @num_threads(ptr %request) {
  %where = getelementptr i64, ptr %request, i64 3
  %p = load ptr, ptr %where
  %n = load i64, ptr @threads
  store i64 %n, ptr %p
  ret ptr null
}
define ptr @schedule(ptr %request) {
  %task.at = getelementptr i64, ptr %request, i64 3
  %data.at = getelementptr i64, ptr %request, i64 4
  %task = load ptr, ptr %task.at
  %data = load ptr, ptr %data.at
  %stack = call ptr @malloc(i64 262144)
  %end = getelementptr i8, ptr %stack, i64 262144
  %r = call i64 @spawn(ptr %end, ptr %task, ptr %data)
  ret ptr null
}
define ptr @get_state(ptr %request) {
  %where = getelementptr i64, ptr %request, i64 5
  store ptr @site, ptr %where
  ret ptr null
}
define ptr @create_error(ptr %request) {
  %where = getelementptr i64, ptr %request, i64 2
  %message = load ptr, ptr %where
  ret ptr %message
}

define void @start() {
entry:
  %error = call ptr @execute(ptr @frame)
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %tell, label %write
tell:
  %at = phi ptr [ %error, %entry ], [ %following, %tell ]
  %text = ptrtoint ptr %at to i64
  %w = call i64 @system_call(i64 64, i64 2, i64 %text, i64 1, i64 0, i64 0, i64 0)
  %following = getelementptr i8, ptr %at, i64 1
  %c = load i8, ptr %following
  %end = icmp eq i8 %c, 0
  br i1 %end, label %stop, label %tell
stop:
  call void @exit(i64 3)
  unreachable
write:
  %first = phi ptr [ @outputs, %entry ], [ %rest, %write.some ], [ %first, %next ]
  %done = icmp eq ptr %first, @outputs_end
  br i1 %done, label %out, label %write.one
write.one:
  %size.at = getelementptr i64, ptr %first, i64 1
  %start = load i64, ptr %first
  %size = load i64, ptr %size.at
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %write.some, label %some
some:
  %n = call i64 @system_call(i64 64, i64 1, i64 %start, i64 %size, i64 0, i64 0, i64 0)
  %start.now = add i64 %start, %n
  %size.now = sub i64 %size, %n
  store i64 %start.now, ptr %first
  store i64 %size.now, ptr %size.at
  br label %next
next:
  br label %write
write.some:
  %rest = getelementptr i64, ptr %first, i64 2
  br label %write
out:
  call void @exit(i64 0)
  unreachable
}
"""
SYSTEM_NAMES = ("malloc", "calloc", "free", "sched_yield", "madvise", "memcpy", "memmove", "memset")
_API = {
  "XLA_FFI_ThreadPool_NumThreads": "num_threads",
  "XLA_FFI_ThreadPool_Schedule": "schedule",
  "XLA_FFI_State_Get": "get_state",
  "XLA_FFI_Error_Create": "create_error",
}


# --- the executable ----------------------------------------------------------------------------------------------


class Program:
  """A static executable: blocks of bytes at addresses."""

  def __init__(self) -> None:
    self._blocks: list[tuple[int, bytes, int]] = []  # address, contents, flags of the program header
    self._next = 0x400000
    self.names: dict[str, int] = {}

  def room(self, nbytes: int, align: int = PAGE) -> int:
    """An address for so many bytes, with nothing after them on the next page."""
    first = self._next
    self._next += -(-nbytes // PAGE) * PAGE + 2 * PAGE
    return first + (-nbytes % PAGE) // align * align

  def put(self, address: int, contents: bytes, *, is_code: bool = False) -> None:
    self._blocks.append((address, contents, 5 if is_code else 6))

  def define(self, name: str, contents: bytes, *, is_code: bool = False) -> int:
    self.names[name] = self.room(len(contents), 64)
    self.put(self.names[name], contents, is_code=is_code)
    return self.names[name]

  def add_object(self, raw: bytes) -> Callable[[], None]:
    """Give an object its addresses; what this returns links it, once all names are known."""
    image = elf.Image(raw)
    assert image.machine == elf.AARCH64
    code, data = self.room(image.code_bytes), self.room(image.data_bytes)
    self.names |= image.names_at(code, data)

    def link() -> None:
      missing = self.names["missing"]
      for address, contents, is_code in zip(
        (code, data), image.bytes_at(code, data, lambda n: self.names.get(n, missing)), (True, False)
      ):
        if contents:
          self.put(address, contents, is_code=is_code)

    return link

  def contents(self, start: int) -> bytes:
    """The executable file."""
    blocks = [block for block in self._blocks if block[1]]
    head = struct.pack(
      "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, elf.AARCH64, 1, start, 64, 0, 0, 64, 56, len(blocks), 0, 0, 0
    )
    table, body = bytearray(), bytearray()
    base = -(-(64 + 56 * len(blocks)) // PAGE) * PAGE
    for address, content, flags in blocks:
      at = base + len(body) + (address - len(body)) % PAGE
      body += bytes(at - base - len(body)) + content
      table += struct.pack("<IIQQQQQQ", 1, flags, at, address, address, len(content), len(content), PAGE)
    return bytes(head + table).ljust(base, b"\0") + bytes(body)


@functools.cache
def _system(processor: Processor) -> tuple[bytes, bytes]:
  return compiled(_SYSTEM, processor, is_launcher=True), compiled(handler.launcher(), processor, is_launcher=True)


def executable(
  text: str,
  arrays: Sequence[np.ndarray],
  num_inputs: int,
  processor: Processor,
  threads: int,
  shared: Mapping[int, int],
) -> bytes:
  """The program that calls a kernel on arrays, of which the first are inputs, and writes the others."""
  program = Program()
  system, launcher = _system(processor)
  for name, words in _INSTRUCTIONS.items():
    program.define(name, struct.pack(f"<{len(words)}I", *words), is_code=True)
  link = [program.add_object(raw) for raw in (system, launcher, compiled(text, processor))]
  names = program.names
  addresses: list[int] = []
  same = {num_inputs + output: i for i, output in shared.items()}
  for i, array in enumerate(arrays):
    addresses.append(addresses[same[i]] if i in same else program.room(array.nbytes, 64))
    if i not in same:
      program.put(addresses[i], array.tobytes())
  buffers = []
  for address in addresses:
    buffer = struct.pack("<QQQQ", 32, 0, 0, address)
    buffers.append(program.define(f"buffer{len(buffers)}", buffer))
  pointers = [struct.pack(f"<{len(b)}Q", *b) for b in (buffers[:num_inputs], buffers[num_inputs:])]
  operands, results = (program.define(n, p or bytes(8)) for n, p in zip(("operands", "results"), pointers))
  api = bytearray(2048)
  for function, own in _API.items():
    struct.pack_into("<Q", api, ffi.api_function_offset(function), names[own])
  frame = bytearray(256)
  for offset, value in (
    (ffi.FRAME_API, program.define("api", bytes(api))),
    (ffi.FRAME_ARGS, operands),
    (ffi.FRAME_RETS, results),
  ):
    struct.pack_into("<Q", frame, offset, value)
  program.define("frame", bytes(frame))
  record = bytearray(lifetime.NAME + lifetime.NAME_BYTES)
  struct.pack_into("<Q", record, lifetime.RECORD_FACTS, names[lifetime.FACTS])
  program.define("site", struct.pack("<Q", program.define("record", bytes(record))) + bytes(256))
  program.define("threads", struct.pack("<Q", threads))
  sizes = [n for a, x in zip(addresses[num_inputs:], arrays[num_inputs:]) for n in (a, x.nbytes)]
  names["outputs_end"] = program.define("outputs", struct.pack(f"<{len(sizes)}Q", *sizes)) + 8 * len(sizes)
  for finish in link:
    finish()
  return program.contents(names["start"])


def execute(contents: bytes, processor: Processor, seconds: float = 60) -> bytes:
  """What an executable writes."""
  assert QEMU is not None, WHY_NOT
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "program")
    path.write_bytes(contents)
    path.chmod(0o700)
    done = subprocess.run([QEMU, "-cpu", processor.qemu, path], capture_output=True, timeout=seconds, check=False)
  if done.returncode:
    raise RuntimeError(f"qemu-aarch64 ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
  return done.stdout


def run(
  kernel: NativeKernel,
  inputs: Sequence[np.ndarray],
  outputs: Sequence[np.ndarray],
  processor: Processor,
  threads: int = 3,
  shared: Mapping[int, int] = types.MappingProxyType({}),
) -> list[np.ndarray]:
  """Call a kernel, prepared for code generation, on dynamic bounds, prefetched scalars and inputs. `outputs` is what results hold before;
  those that are `shared` lie where an input does."""
  text = cpu.to_llvm(kernel, processor.host)
  written = execute(executable(text, [*inputs, *outputs], len(inputs), processor, threads, shared), processor)
  found, at = [], 0
  for output in outputs:
    found.append(np.frombuffer(written, output.dtype, output.size, at).reshape(output.shape))
    at += output.nbytes
  assert at == len(written)
  return found

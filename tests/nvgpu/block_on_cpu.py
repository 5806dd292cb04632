"""GPU kernels run on the CPU: every thread of a block is a fiber (`fibers`), and blocks, or clusters of them, run one after another.

The LLVM IR of a kernel is what the GPU target emits, word for word, but for the instructions that only a GPU has. Those become functions:
a barrier waits for the threads of the block, a shuffle or a matrix instruction leaves operands where the other lanes of the warp find them.

    out, = run(native_kernel, x, arch="sm_80")

A missing barrier shows: no thread knows of the others where it does not wait for them. Instructions that are asynchronous on a GPU are done
at once here; those of sm_90a are in `hopper_on_cpu`.
"""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import mmap
import re
from collections.abc import Callable, Sequence
from typing import Any

import fibers
import hopper_on_cpu
import numpy as np
from llvmlite import ir

from tilewright.runtime import jit, linking
from tilewright.target.llvm.small_floats import encode
from tilewright.target.llvm.types import F32, I8, I16, I32, I64, PTR, VOID
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.emit.kernel_function import Launch
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel
from tilewright.tile.formats import small_float
from tilewright.tile.native import NativeKernel
from tilewright.tile.pipeline import Pipeline

_WORDS = 16  # a lane leaves at most so many words for the others
_NAMED = 16  # barriers with a number, for some of a block's threads
_NAMED_BARRIER = r'nvvm\.barrier\.cta\.sync\.aligned\.count"\(i32 (\d+), i32 (\d+)\)'
_DYNAMIC_BLOCKS = 2  # of a dynamic grid are enough here
_BARRIER = 64  # bytes from one barrier to the next
_libc = ctypes.CDLL(None)


def run(
  kernel: NativeKernel,
  *inputs: Any,
  arch: str = "sm_80",
  num_warps: int | None = None,
  cluster: tuple[int, ...] | None = None,
  pipeline: Pipeline | None = None,
) -> list[np.ndarray]:
  """The outputs of a kernel of which nothing is dynamic."""
  text, launch = emit_kernel(kernel, architectures.named(arch), num_warps, cluster, pipeline)
  arrays = [np.array(x, order="C") for x in inputs]
  mappings = kernel.mapping.block_mappings[kernel.mapping.num_inputs :]
  aliases = {out: into for into, out in kernel.input_output_aliases}
  outputs = [
    arrays[aliases[i]] if i in aliases else _poison(m.array_aval.shape, m.array_aval.dtype)
    for i, m in enumerate(mappings)
  ]
  execute(text, launch, [*arrays, *outputs])
  return outputs


def _poison(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
  return np.full(int(np.prod(shape)) * np.dtype(dtype).itemsize, 0xAB, np.uint8).view(dtype).reshape(shape)


def execute(
  text: str,
  launch: Launch,
  arrays: list[np.ndarray],
  bounds: Sequence[np.ndarray] = (),
  workspace: np.ndarray | None = None,
) -> np.ndarray:
  """Run a kernel on arrays, which it may change. `bounds` are the sizes of dynamic grid dimensions. Gives what shared memory holds at
  the end."""
  if workspace is None:
    workspace = np.zeros(max(1, launch.workspace_bytes), np.uint8)
  maps = [hopper_on_cpu.tensor_map(m, arrays[m.array]) for m in launch.maps]
  return execute_at(text, launch, [a.ctypes.data for a in (*arrays, workspace, *bounds, *maps)])


def execute_at(text: str, launch: Launch, parameters: Sequence[int]) -> np.ndarray:
  """Run a kernel on its parameters: addresses, and numbers that stand in their place."""
  num_blocks = _DYNAMIC_BLOCKS if launch.num_blocks is None else launch.launched_blocks
  if num_blocks == 0:
    return np.zeros(0, np.uint8)
  if launch.grid_bytes:  # all of them wait for each other
    launch = dataclasses.replace(launch, cluster=num_blocks)
  named = {int(n): int(count) for n, count in re.findall(_NAMED_BARRIER, text)}
  # The code is run once, on little data: what takes time is to compile it.
  host_code = jit.object_code(_for_host(text, len(parameters) - len(launch.maps), launch), is_launcher=True)
  engine = linking.link(host_code)
  pointers = (ctypes.c_uint64 * len(parameters))(*parameters)
  size = (launch.cluster + 1) * hopper_on_cpu.WINDOW
  low = _low_memory(size)  # addresses of shared memory have 32 bits in inline assembly
  barriers = engine.address("barriers")
  size_of_block, blocks = launch.num_threads, launch.cluster
  together = size_of_block * blocks
  counts = [size_of_block] * blocks + [32] * (together // 32) + [_named_count(named, n) for n in range(_NAMED)] * blocks
  counts += [128] * (together // 128) + [together]
  for n, count in enumerate(counts):
    fibers.write_barrier(barriers + n * _BARRIER, count)
  start = -(-low // hopper_on_cpu.WINDOW) * hopper_on_cpu.WINDOW
  ctypes.c_uint32.from_address(engine.address("window")).value = start
  fibers.run(engine, together, ctypes.addressof(pointers), start, num_blocks)
  shared = np.frombuffer(ctypes.string_at(start, launch.shared_bytes), np.uint8)
  _libc.munmap(ctypes.c_void_p(low), ctypes.c_size_t(size))
  return shared


def _named_count(named: dict[int, int], number: int) -> int:
  """How many threads meet at a barrier with a number; from 4 on they are those of warpgroups, whose number is computed."""
  return named.get(number, 128 if number >= 4 else 1)


def _low_memory(size: int) -> int:
  _libc.mmap.restype = ctypes.c_void_p
  flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40  # MAP_32BIT
  found = _libc.mmap(None, ctypes.c_size_t(size + 1024), mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, ctypes.c_long(0))
  assert found is not None and found < 1 << 32
  return int(found)


# --- the kernel for the host -------------------------------------------------------------------------------------


def _for_host(text: str, num_arrays: int, launch: Launch) -> str:
  """The kernel with functions for the instructions of a GPU, and the function `fiber` that a thread runs."""
  machine = _Machine(launch.num_threads, launch.cluster)
  # The number of a thread in its cluster is what stands for it here.
  own = 'i32 %"tid", i32 %"own", i32 %"ctaid", i32 %"nctaid", ptr addrspace(3) %"shared"'
  text = re.sub(r'define ptx_kernel void @"kernel"\((.*)\) #0', rf'define void @"kernel"(\1, {own})', text)
  text = re.sub(r'ptr byval\([^)]*\) align \d+ "nvvm.grid_constant"', "ptr", text)
  text = re.sub(r"^attributes #0.*$", "", text, flags=re.M)
  text = re.sub(r'^@"shared" = .*$', "", text, flags=re.M)
  text = text.replace('[0 x i8] addrspace(3)* @"shared"', 'ptr addrspace(3) %"shared"').replace(
    '@"shared"', '%"shared"'
  )
  text = text.replace('call i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()', 'add i32 %"own", 0')
  text = re.sub(r'call i32 @"llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x"\(\)', r'add i32 %"\1", 0', text)
  text = re.sub(r'^declare .*@"llvm\.nvvm\..*$', "", text, flags=re.M)
  text = re.sub(r'@"(llvm\.nvvm\.[\w.]+)"\(', lambda m: machine.call(m[1]), text)
  text = re.sub(r'asm\s+(?:sideeffect )?"([^"]*)", "([^"]*)"\(', lambda m: machine.call(_told(m[1], m[2])), text)
  text = text.replace('(i32 %"tid", )', '(i32 %"tid")')
  text = re.sub(r"\) (?:convergent )?nounwind readnone willreturn$", ")", text, flags=re.M)  # here, lanes meet in them
  declared = {line for line in text.splitlines() if line.startswith("declare")}
  body = re.sub(r"^(; ModuleID|target|source_filename).*$", "", str(machine.module), flags=re.M)
  lines = [line for line in body.splitlines() if line not in declared]
  return "\n".join([text, *lines, _blocks(num_arrays, launch)])


def _told(instruction: str, constraints: str) -> str:
  """An instruction, with the kinds of values that go through it where its text does not say."""
  kinds = "".join(re.findall(r"=([fr])", constraints))
  return f"{instruction} // {kinds}" if kinds and re.match(r"wgmma\.(wait_group|fence)", instruction) else instruction


def _blocks(num_arrays: int, launch: Launch) -> str:
  kinds = ["ptr addrspace(1)"] * num_arrays + ["ptr"] * len(launch.maps)
  loads = "\n".join(
    f"  %p{i} = getelementptr ptr, ptr %arrays, i64 {i}\n  %a{i} = load {kind}, ptr %p{i}"
    for i, kind in enumerate(kinds)
  )
  args = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(kinds))
  return f"""
define void @fiber(i32 %tid) {{
begin:
  %arrays = load ptr, ptr @arguments
  %at1 = getelementptr i64, ptr @arguments, i64 1
  %start = load i64, ptr %at1
  %at2 = getelementptr i64, ptr @arguments, i64 2
  %count = load i32, ptr %at2
  %rank = udiv i32 %tid, {launch.num_threads}
  %own = urem i32 %tid, {launch.num_threads}
  %rank64 = zext i32 %rank to i64
  %before = mul i64 %rank64, {hopper_on_cpu.WINDOW}
  %window = add i64 %start, %before
  %shared = inttoptr i64 %window to ptr addrspace(3)
{loads}
  br label %head
head:
  %n = phi i32 [ %rank, %begin ], [ %next, %head ]
  call void @"kernel"({args}, i32 %tid, i32 %own, i32 %n, i32 %count, ptr addrspace(3) %shared)
  call void @"block_barrier"(i32 %tid)
  %next = add i32 %n, {launch.cluster}
  %more = icmp slt i32 %next, %count
  br i1 %more, label %head, label %done
done:
  call void @ended()
  ret void
}}
"""


class _Machine:
  """The functions that stand for instructions, written as they are asked for."""

  def __init__(self, num_threads: int, cluster: int):
    self.module = ir.Module("machine")
    self.num_threads, self.cluster = num_threads, cluster
    together = num_threads * cluster
    self.exchange = self._memory("exchange", together * _WORDS * 4)
    # Barriers of blocks, of warps, those with a number, of warpgroups, and that of the cluster.
    self.first_warp = cluster
    self.first_named = self.first_warp + together // 32
    self.first_group = self.first_named + _NAMED * cluster
    self.last = self.first_group + together // 128
    self.barriers = self._memory("barriers", _BARRIER * (self.last + 1))
    self.window = ir.GlobalVariable(self.module, I32, "window")  # where shared memory starts
    self.window.initializer = I32(0)
    self.fibers = fibers.Fibers(self, together)
    self.functions: dict[str, ir.Function] = {}
    self._define("block_barrier", VOID, [], lambda b, tid, args: self.block_barrier(b, tid))

  def _memory(self, name: str, size: int) -> ir.GlobalVariable:
    made = ir.GlobalVariable(self.module, ir.ArrayType(I8, size), name)
    made.initializer, made.align = ir.Constant(made.value_type, None), 64
    return made

  def _define(self, name: str, result: ir.Type, args: list[ir.Type], body: Callable[..., Any]) -> ir.Function:
    function = ir.Function(self.module, ir.FunctionType(result, [I32, *args]), name)
    b = ir.IRBuilder(function.append_basic_block())
    value = body(b, function.args[0], list(function.args[1:]))
    b.ret_void() if result == VOID else b.ret(value)
    return function

  def call(self, instruction: str) -> str:
    """The beginning of a call that stands for an instruction."""
    for pattern, (has_thread, make) in _INSTRUCTIONS.items():
      found = re.fullmatch(pattern, instruction)
      if found:
        if instruction not in self.functions:
          name = f"instruction.{len(self.functions)}." + re.sub(r"\W+", "_", instruction)[:80]
          result, args, body = make(self, *found.groups())
          self.functions[instruction] = (
            self._define(name, result, args, body) if has_thread else self._plain(name, result, args, body)
          )
        return f'@"{self.functions[instruction].name}"(' + ('i32 %"tid", ' if has_thread else "")
    raise AssertionError(f"no function stands for {instruction}")

  def _plain(self, name: str, result: ir.Type, args: list[ir.Type], body: Callable[..., Any]) -> ir.Function:
    function = ir.Function(self.module, ir.FunctionType(result, args), name)
    b = ir.IRBuilder(function.append_basic_block())
    b.ret(body(b, *function.args))
    return function

  # --- what instructions are made of -------------------------------------------------------------------------------

  def _barrier(self, b: ir.IRBuilder, number: ir.Value) -> None:
    b.call(
      self.fibers.meet,
      [b.gep(b.inttoptr(b.ptrtoint(self.barriers, I64), PTR), [b.mul(number, I32(_BARRIER))], source_etype=I8)],
    )

  def rank(self, b: ir.IRBuilder, tid: ir.Value) -> ir.Value:
    """Of the thread's block in its cluster."""
    return b.udiv(tid, I32(self.num_threads))

  def window_of(self, b: ir.IRBuilder, rank: ir.Value) -> ir.Value:
    """Where a block's shared memory starts."""
    return b.add(b.load(self.window, typ=I32), b.mul(rank, I32(hopper_on_cpu.WINDOW)))

  def block_barrier(self, b: ir.IRBuilder, tid: ir.Value) -> None:
    self._barrier(b, self.rank(b, tid))

  def named_barrier(self, b: ir.IRBuilder, tid: ir.Value, number: ir.Value) -> None:
    self._barrier(b, b.add(b.add(number, I32(self.first_named)), b.mul(self.rank(b, tid), I32(_NAMED))))

  def cluster_barrier(self, b: ir.IRBuilder) -> None:
    self._barrier(b, I32(self.last))

  def warp_barrier(self, b: ir.IRBuilder, tid: ir.Value) -> None:
    self._barrier(b, b.add(b.lshr(tid, I32(5)), I32(self.first_warp)))

  def group_barrier(self, b: ir.IRBuilder, tid: ir.Value) -> None:
    """Of a warpgroup."""
    self._barrier(b, b.add(b.lshr(tid, I32(7)), I32(self.first_group)))

  def _place(self, b: ir.IRBuilder, tid: ir.Value, word: Any) -> ir.Value:
    number = b.add(b.mul(tid, I32(_WORDS)), I32(word) if isinstance(word, int) else word)
    return b.gep(b.inttoptr(b.ptrtoint(self.exchange, I64), PTR), [number], source_etype=I32)

  def leave(self, b: ir.IRBuilder, tid: ir.Value, words: list[ir.Value]) -> None:
    """Leave words for the other lanes, when all have."""
    for i, word in enumerate(words):
      b.store(word, self._place(b, tid, i))
    self.warp_barrier(b, tid)

  def take(self, b: ir.IRBuilder, tid: ir.Value, lane: ir.Value, word: Any) -> ir.Value:
    """A word that a lane of this warp left."""
    return b.load(self._place(b, b.or_(b.and_(tid, I32(-32)), lane), word), typ=I32)


def _barrier(m: _Machine) -> Any:
  return VOID, [], lambda b, tid, args: m.block_barrier(b, tid)


def _named_barrier(m: _Machine) -> Any:
  return VOID, [I32, I32], lambda b, tid, args: m.named_barrier(b, tid, args[0])


def _warp_barrier(m: _Machine) -> Any:
  return VOID, [I32], lambda b, tid, args: m.warp_barrier(b, tid)


def _store_words(m: _Machine) -> Any:
  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    for i in range(4):
      b.store(args[1 + i], _address(b, args[0], I32(4 * i)))

  return VOID, [I32] * 5, body


def _hinted(m: _Machine, name: str, hint: str, count: str | None, bits: str, further: str | None) -> Any:
  """A load or store of global memory; what the caches are told changes no value."""
  number, own, policy = int(count or 1), ir.IntType(int(bits)), [I64] * ("cache_hint" in hint)
  word = I16 if bits == "8" else own  # a byte is in a register of two
  result = ir.LiteralStructType([word] * number) if count else word
  place = lambda b, args: b.inttoptr(b.add(args[0], I64(int(further or 0))), PTR)
  at = lambda b, args, i: b.gep(place(b, args), [I32(i)], source_etype=own)

  def load(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    words = [b.load(at(b, args, i), typ=own) for i in range(number)]
    words = [b.zext(one, word) for one in words] if own is not word else words
    if count is None:
      return words[0]
    found = ir.Constant(result, ir.Undefined)
    for i, one in enumerate(words):
      found = b.insert_value(found, one, i)
    return found

  def store(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    for i in range(number):
      b.store(args[1 + i] if own is word else b.trunc(args[1 + i], own), at(b, args, i))

  return (result, [I64, *policy], load) if name == "ld" else (VOID, [I64, *[word] * number, *policy], store)


def _fma_pair(m: _Machine, kind: str) -> Any:
  """Both halves of a word; computed in float32, which is exact enough where products are and sums are of one term."""

  def body(b: ir.IRBuilder, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
    sums = [b.fadd(b.fmul(_half(b, x, i, kind), _half(b, y, i, kind)), _half(b, z, i, kind)) for i in range(2)]
    if kind == "bf16":
      return _bfloat16_pair(m)[2](b, sums[1], sums[0])
    halves = [b.zext(b.bitcast(b.fptrunc(v, ir.HalfType()), I16), I32) for v in sums]
    return b.or_(halves[0], b.shl(halves[1], I32(16)))

  return I32, [I32] * 3, body


def _small_float(b: ir.IRBuilder, code: ir.Value, mantissa: int) -> ir.Value:
  """The bits, as an f16, of a float of eight bits, without infinities but where the mantissa has two bits: all of them are f16s."""
  bias = (1 << (6 - mantissa)) - 1
  sign, size = b.and_(code, I32(0x80)), b.and_(code, I32(0x7F))
  moved = b.shl(size, I32(10 - mantissa))  # as an f16 of another bias
  value = b.bitcast(b.trunc(moved, I16), ir.HalfType())
  value = b.fmul(b.fpext(value, F32), F32(2.0 ** (15 - bias)))
  bits = b.zext(b.bitcast(b.fptrunc(value, ir.HalfType()), I16), I32)
  if mantissa == 3:
    bits = b.select(b.icmp_unsigned("==", size, I32(0x7F)), I32(0x7FFF), bits)
  return b.or_(bits, b.shl(sign, I32(8)))


def _small_floats(m: _Machine, mantissa: int) -> Any:
  """Two floats of eight bits as two f16s."""

  def body(b: ir.IRBuilder, codes: ir.Value) -> ir.Value:
    wide = b.zext(codes, I32)
    low, high = (_small_float(b, code, mantissa) for code in (b.and_(wide, I32(0xFF)), b.lshr(wide, I32(8))))
    return b.or_(low, b.shl(high, I32(16)))

  return I32, [I16], body


def _encoded_floats(m: _Machine, name: str) -> Any:
  """Two f32s as floats of eight bits, the second one lower; what is too large becomes the largest number."""
  form = small_float({"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}[name])

  def code(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    most = F32({"e4m3": 448.0, "e5m2": 57344.0}[name])
    clamped = b.select(b.fcmp_ordered(">", x, most), most, x)
    clamped = b.select(b.fcmp_ordered("<", clamped, b.fneg(most)), b.fneg(most), clamped)
    return b.zext(encode(b, clamped, form), I16)

  return I16, [F32, F32], lambda b, high, low: b.or_(b.shl(code(b, high), I16(8)), code(b, low))


def _shuffle(m: _Machine, way: str, kind: str) -> Any:
  element = F32 if kind == "f32" else I32

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    m.leave(b, tid, [b.bitcast(args[1], I32)])
    lane = b.and_(tid, I32(31))
    found = m.take(b, tid, b.xor(lane, args[2]) if way == "bfly" else b.and_(args[2], I32(31)), 0)
    m.warp_barrier(b, tid)
    return b.bitcast(found, element)

  return element, [I32, element, I32, I32], body


def _half(b: ir.IRBuilder, word: ir.Value, number: int, kind: str) -> ir.Value:
  """One of the two 16-bit numbers of a word, as a float."""
  bits = b.and_(b.lshr(word, I32(16 * number)), I32(0xFFFF))
  if kind == "bf16":
    return b.bitcast(b.shl(bits, I32(16)), F32)
  return b.fpext(b.bitcast(b.trunc(bits, I16), ir.HalfType()), F32)


def _byte(b: ir.IRBuilder, word: ir.Value, number: int, kind: str) -> ir.Value:
  """One of the four 8-bit numbers of a word, as a float or an integer."""
  bits = b.and_(b.lshr(word, I32(8 * number)), I32(0xFF))
  if kind in ("s8", "u8"):
    return b.sext(b.trunc(bits, I8), I32) if kind == "s8" else bits
  half = b.trunc(_small_float(b, bits, 3 if kind == "e4m3" else 2), I16)
  return b.fpext(b.bitcast(half, ir.HalfType()), F32)


def _tf32(b: ir.IRBuilder, word: ir.Value, number: int, kind: str) -> ir.Value:
  """A float32 without its last 13 bits, which the tensor cores do not read."""
  return b.bitcast(b.and_(word, I32(0xFFFFE000)), F32)


def _mma(m: _Machine, kind: str) -> Any:
  """mma.m16n8k8, m16n8k16 or m16n8k32, "Matrix Fragments for mma.m16n8k16 with floating point type" and the like of the PTX ISA."""
  element = I32 if kind in ("s8", "u8") else F32
  result = ir.LiteralStructType([element] * 4)
  number, each = {"bf16": (_half, 2), "f16": (_half, 2), "tf32": (_tf32, 1)}.get(kind, (_byte, 4))  # of a word

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    m.leave(b, tid, args[:6])
    lane = b.and_(tid, I32(31))
    group, own = b.lshr(lane, I32(2)), b.and_(lane, I32(3))
    out = ir.Constant(result, ir.Undefined)
    for i in range(4):
      total = args[6 + i]
      column = b.add(b.mul(own, I32(2)), I32(i % 2))
      for word, part in itertools.product(range(8), range(each)):  # along k
        of_a = b.add(b.mul(group, I32(4)), I32(word % 4))
        of_b = b.add(b.mul(column, I32(4)), I32(word % 4))
        x = number(b, m.take(b, tid, of_a, i // 2 + 2 * (word // 4)), part, kind)
        y = number(b, m.take(b, tid, of_b, 4 + word // 4), part, kind)
        total = b.add(total, b.mul(x, y)) if element is I32 else b.fadd(total, b.fmul(x, y))
      out = b.insert_value(out, total, i)
    m.warp_barrier(b, tid)
    return out

  return result, [I32] * 6 + [element] * 4, body


def _address(b: ir.IRBuilder, start: ir.Value, offset: ir.Value) -> ir.Value:
  return b.inttoptr(b.zext(b.add(start, offset), I64), PTR)


def _load_matrices(m: _Machine, count: str, transposed: str | None) -> Any:
  words = int(count)
  result = I32 if words == 1 else ir.LiteralStructType([I32] * words)

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    m.leave(b, tid, args)
    lane = b.and_(tid, I32(31))
    row, column = b.lshr(lane, I32(2)), b.and_(lane, I32(3))
    found = []
    for n in range(words):
      if not transposed:
        start = m.take(b, tid, b.add(row, I32(8 * n)), 0)
        found.append(b.load(_address(b, start, b.mul(column, I32(4))), typ=I32))
        continue
      word = I32(0)
      for i in range(2):
        start = m.take(b, tid, b.add(b.mul(column, I32(2)), I32(8 * n + i)), 0)
        half = b.load(_address(b, start, b.mul(row, I32(2))), typ=I16)
        word = b.or_(word, b.shl(b.zext(half, I32), I32(16 * i)))
      found.append(word)
    m.warp_barrier(b, tid)
    if words == 1:
      return found[0]
    out = ir.Constant(result, ir.Undefined)
    for i, word in enumerate(found):
      out = b.insert_value(out, word, i)
    return out

  return result, [I32], body


def _store_matrices(m: _Machine, count: str, transposed: str | None) -> Any:
  words = int(count)

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    m.leave(b, tid, args[:1])
    lane = b.and_(tid, I32(31))
    row, column = b.lshr(lane, I32(2)), b.and_(lane, I32(3))
    for n in range(words):
      if not transposed:
        start = m.take(b, tid, b.add(row, I32(8 * n)), 0)
        b.store(args[1 + n], _address(b, start, b.mul(column, I32(4))))
        continue
      for i in range(2):
        start = m.take(b, tid, b.add(b.mul(column, I32(2)), I32(8 * n + i)), 0)
        half = b.trunc(b.lshr(args[1 + n], I32(16 * i)), I16)
        b.store(half, _address(b, start, b.mul(row, I32(2))))
    m.warp_barrier(b, tid)

  return VOID, [I32] * (1 + words), body


def _copy_bytes(m: _Machine, there: str | None, here: str | None, nbytes: str, some: str | None) -> Any:
  """cp.async: what is copied is there at once, the rest is zero. From or to an address that is no multiple of the size, poison is."""

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    args = [b.add(args[0], I32(int(there or 0))), b.add(args[1], I64(int(here or 0))), *args[2:]]
    places = b.or_(b.zext(args[0], I64), args[1])
    is_aligned = b.icmp_unsigned("==", b.and_(places, I64(int(nbytes) - 1)), I64(0))
    for i in range(0, int(nbytes), 4):
      value = I32(0)
      source = b.inttoptr(b.add(args[1], I64(i)), PTR)
      if some:
        safe = b.select(b.icmp_unsigned(">", args[2], I32(i)), source, b.inttoptr(b.zext(args[0], I64), PTR))
        value = b.select(b.icmp_unsigned(">", args[2], I32(i)), b.load(safe, typ=I32), value)
      else:
        value = b.load(source, typ=I32)
      b.store(b.select(is_aligned, value, I32(0xABABABAB)), _address(b, args[0], I32(i)))

  return VOID, [I32, I64, *([I32] if some else [])], body


def _move(m: _Machine, bits: str) -> Any:
  kind = ir.IntType(int(bits))
  return kind, [kind], lambda b, x: x


def _choose_bits(m: _Machine) -> Any:
  return I32, [I32] * 3, lambda b, mask, x, y: b.or_(b.and_(x, mask), b.and_(y, b.not_(mask)))


def _nothing(m: _Machine) -> Any:
  return VOID, [], lambda b, tid, args: None


def _bfloat16_pair(m: _Machine) -> Any:
  def rounded(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    bits = b.bitcast(x, I32)
    odd = b.and_(b.lshr(bits, I32(16)), I32(1))
    up = b.lshr(b.add(bits, b.add(odd, I32(0x7FFF))), I32(16))
    return b.select(b.fcmp_unordered("uno", x, x), I32(0x7FFF), up)

  return I32, [F32, F32], lambda b, high, low: b.or_(b.shl(rounded(b, high), I32(16)), rounded(b, low))


def _half_pair(m: _Machine) -> Any:
  def body(b: ir.IRBuilder, high: ir.Value, low: ir.Value) -> ir.Value:
    halves = [b.zext(b.bitcast(b.fptrunc(v, ir.HalfType()), I16), I32) for v in (low, high)]
    return b.or_(halves[0], b.shl(halves[1], I32(16)))

  return I32, [F32, F32], body


def _of_floats(count: int, body: Callable[..., ir.Value]) -> Callable[[_Machine], Any]:
  return lambda m: (F32, [F32] * count, body)


def _intrinsic(b: ir.IRBuilder, name: str, x: ir.Value) -> ir.Value:
  return b.call(b.module.declare_intrinsic(f"llvm.{name}", [F32]), [x])


def _clock(m: _Machine) -> Any:
  """The clock of the machine, which runs besides as it is looked at."""
  ticks = next((g for g in m.module.global_values if g.name == "ticks"), None) or m._memory("ticks", 8)

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    place = b.inttoptr(b.ptrtoint(b.alloca(ir.ArrayType(I64, 2)), I64), PTR)
    b.call(_external(b, "clock_gettime", I32, [I32, PTR]), [I32(1), place])  # CLOCK_MONOTONIC
    seconds, rest = (b.load(b.gep(place, [I64(i)], source_etype=I64), typ=I64) for i in range(2))
    looked = b.atomic_rmw("add", b.inttoptr(b.ptrtoint(ticks, I64), PTR), I64(1000), "seq_cst")
    return b.add(looked, b.add(b.mul(seconds, I64(10**9)), rest))

  return I64, [], body


def _external(b: ir.IRBuilder, name: str, result: Any, args: list[Any]) -> ir.Function:
  return b.module.globals.get(name) or ir.Function(b.module, ir.FunctionType(result, args), name)


def _nap(m: _Machine) -> Any:
  return VOID, [I32], lambda b, tid, args: b.call(m.fibers.give_way, [])


def _of_system(m: _Machine, what: str, bits: str | None = None) -> Any:
  """Loads, stores and atomics that other devices see."""
  kind = ir.IntType(int(bits or 32))
  place = lambda b, args: b.inttoptr(args[0], PTR)
  if what == "ld":

    def load(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
      b.call(m.fibers.give_way, [])  # it may be looked at until another device has written it
      return b.load_atomic(place(b, args), "seq_cst", kind.width // 8, typ=kind)

    return kind, [I64], load
  if what == "st":

    def store(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
      b.atomic_rmw("xchg", place(b, args), args[1], "seq_cst")

    return VOID, [I64, kind], store
  if what == "add":

    def add(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
      b.atomic_rmw("add", place(b, args), args[1], "seq_cst")

    return VOID, [I64, I32], add

  def swap(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> ir.Value:
    b.call(m.fibers.give_way, [])
    return b.extract_value(b.cmpxchg(place(b, args), args[1], args[2], "seq_cst", "seq_cst"), 0)

  return I32, [I64, I32, I32], swap


def _record(m: _Machine) -> Any:
  """A record of the profiler: number and ticks, if there is room."""
  clock = _clock(m)[2]

  def body(b: ir.IRBuilder, tid: ir.Value, args: list[ir.Value]) -> None:
    place, begun, number, count, limit = args
    with b.if_then(b.icmp_unsigned("<", count, limit)):
      ticks = b.sub(b.trunc(clock(b, tid, []), I32), begun)
      for offset, value in ((0, number), (4, ticks)):
        b.store(value, b.inttoptr(b.add(place, I64(offset)), PTR))

  return VOID, [I64, I32, I32, I32, I32], body


_OPERANDS = r" [^;]*;"
# pattern: (whether it needs to know the thread, its type and body)
_INSTRUCTIONS: dict[str, tuple[bool, Callable[..., Any]]] = {
  r"llvm\.nvvm\.barrier0": (True, _barrier),
  r"llvm\.nvvm\.barrier\.cta\.sync\.aligned\.count": (True, _named_barrier),
  r"llvm\.nvvm\.bar\.warp\.sync": (True, _warp_barrier),
  rf"st\.shared\.v4\.b32{_OPERANDS}": (True, _store_words),
  rf"fma\.rn\.(bf16|f16)x2{_OPERANDS}": (False, _fma_pair),
  rf"cvt\.rn\.f16x2\.e4m3x2{_OPERANDS}": (False, lambda m: _small_floats(m, 3)),
  rf"cvt\.rn\.f16x2\.e5m2x2{_OPERANDS}": (False, lambda m: _small_floats(m, 2)),
  rf"cvt\.rn\.satfinite\.(e4m3|e5m2)x2\.f32{_OPERANDS}": (False, _encoded_floats),
  r"llvm\.nvvm\.shfl\.sync\.(bfly|idx)\.(f32|i32)": (True, _shuffle),
  rf"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.(bf16|f16)\.\1\.f32{_OPERANDS}": (True, _mma),
  rf"mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.(tf32)\.\1\.f32{_OPERANDS}": (True, _mma),
  rf"mma\.sync\.aligned\.m16n8k32\.row\.col\.s32\.(s8|u8)\.\1\.s32{_OPERANDS}": (True, _mma),
  rf"mma\.sync\.aligned\.m16n8k32\.row\.col\.f32\.(e4m3|e5m2)\.\1\.f32{_OPERANDS}": (True, _mma),
  rf"ldmatrix\.sync\.aligned\.m8n8\.x(\d)(\.trans)?\.shared\.b16{_OPERANDS}": (True, _load_matrices),
  rf"stmatrix\.sync\.aligned\.m8n8\.x(\d)(\.trans)?\.shared\.b16{_OPERANDS}": (True, _store_matrices),
  r"mov\.u32 \$0, %nsmid;": (False, lambda m: (I32, [], lambda b: I32(1))),
  r"cp\.async\.bulk\.prefetch\..*": (True, lambda m: (VOID, [I64, I64], lambda b, tid, args: None)),
  r"applypriority\..*": (True, lambda m: (VOID, [I64], lambda b, tid, args: None)),
  r"createpolicy\..*": (False, lambda m: (I64, [], lambda b: I64(0))),
  r"(ld|st)\.(?:volatile\.)?global([^ ]*?)(?:\.v(\d))?\.b(8|16|32) [^;\[]*\[\$\d+(?:\+(\d+))?\][^;]*;": (True, _hinted),
  r"cp\.async\.c[ag]\.shared\.global(?:\.L2::\d+B)? \[\$0(\+\d+)?\], \[\$1(\+\d+)?\], (\d+)(, \$2)?;": (
    True,
    _copy_bytes,
  ),
  r"lop3\.b32 \$0, \$1, \$2, \$3, 202;": (False, _choose_bits),
  r"cp\.async\.(?:commit_group|wait_group \d+);": (True, _nothing),
  r"fence\.acq_rel\.gpu;": (True, _nothing),
  r"mov\.u64 \$0, %(?:globaltimer|clock64);": (True, _clock),
  r"mov\.u32 \$0, %smid;": (False, lambda m: (I32, [], lambda b: I32(0))),
  r"\{ \.reg \.pred p; .*mov\.u32 t, %clock;.*": (True, _record),
  r"nanosleep\.u32 \$0;": (True, _nap),
  r"fence\.acq_rel\.sys;": (True, lambda m: (VOID, [], lambda b, tid, args: b.fence("seq_cst"))),
  r"(ld)\.acquire\.sys\.global\.u(32|64) \$0, \[\$1\];": (True, _of_system),
  r"(st)\.release\.sys\.global\.u(32|64) \[\$0\], \$1;": (True, _of_system),
  r"red\.(?:release|relaxed)\.sys\.global\.(add)\.u32 \[\$0\], \$1;": (True, _of_system),
  r"atom\.acquire\.sys\.global\.(cas)\.b32 \$0, \[\$1\], \$2, \$3;": (True, _of_system),
  rf"mov\.b(16|32|64){_OPERANDS}": (False, _move),
  rf"cvt\.rn\.f16x2\.f32{_OPERANDS}": (False, _half_pair),
  rf"cvt\.rn\.bf16x2\.f32{_OPERANDS}": (False, _bfloat16_pair),
  rf"ex2\.approx(?:\.ftz)?\.f32{_OPERANDS}": (False, _of_floats(1, lambda b, x: _intrinsic(b, "exp2", x))),
  rf"rcp\.approx(?:\.ftz)?\.f32{_OPERANDS}": (False, _of_floats(1, lambda b, x: b.fdiv(F32(1.0), x))),
  rf"rsqrt\.approx(?:\.ftz)?\.f32{_OPERANDS}": (
    False,
    _of_floats(1, lambda b, x: b.fdiv(F32(1.0), _intrinsic(b, "sqrt", x))),
  ),
  rf"div\.full\.f32{_OPERANDS}": (False, _of_floats(2, lambda b, x, y: b.fdiv(x, y))),
  **hopper_on_cpu.INSTRUCTIONS,
}

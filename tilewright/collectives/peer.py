"""All-reduce between processes of one host through each other's GPU memory: one shot, system-scope signals.

    comm = peer.connect(rank, ranks, exchange, capacity=1 << 20)     # all processes; each may have a GPU of its own, or share one
    y = comm.all_reduce(x)                                           # a jax.Array on this process's GPU

Each process allocates a symmetric buffer and exports it (CUDA IPC); the others map it. `exchange(bytes) → [bytes of every rank]` sends the
handles around; `exchange_by_jax` does it with the store of jax.distributed. A call copies its input into this process's buffer, signals
every peer (`st.release.sys` into its flags), waits for all (`ld.acquire.sys`), and adds what all buffers hold, in order of ranks, in f32.
Blocks of one number work on the same part everywhere, so that each waits for its counterparts only; there are no more than fit the GPU at
once. Two halves of the buffer alternate: who has seen the signals of a call knows that the one before it is over.

A peer that does not come within `timeout` seconds is an error with its rank, on every other process.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp

from tilewright import errors
from tilewright.runtime import _jax, cuda

Exchange = Callable[[bytes], Sequence[bytes]]
THREADS, MAX_BLOCKS = 512, 128
_SM_COUNT = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
_LAZY_PEER_ACCESS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
_FLAG_BYTES = MAX_BLOCKS * 64 * 4  # a flag for each block and rank, of up to 64
_DTYPES = ("float32", "bfloat16")


class _Handle(ctypes.Structure):
  """CUipcMemHandle, which is passed by value."""

  _fields_ = [("bytes", ctypes.c_ubyte * 64)]


def exchange_by_jax(name: str, rank: int, ranks: int, timeout: float = 60) -> Exchange:
  """An exchange by the store of jax.distributed; a name for each use."""

  def exchange(mine: bytes) -> list[bytes]:
    client = _jax.distributed.global_state.client
    if client is None:
      raise errors.CollectiveError("collectives.peer: jax.distributed.initialize has not been called.")
    client.key_value_set(f"tilewright/{name}/{rank}", mine.hex())
    return [
      bytes.fromhex(client.blocking_key_value_get(f"tilewright/{name}/{r}", int(timeout * 1000))) for r in range(ranks)
    ]

  return exchange


def one_shot_ptx(dtype: str) -> str:
  """The PTX of the kernel. Parameters: the addresses of all buffers and of all flags (arrays in memory), input, output, vectors of 16
  bytes, rank, ranks, epoch, the bytes of half a buffer, where to say who did not come, nanoseconds to wait."""
  if dtype not in _DTYPES:
    raise errors.CollectiveError(f"collectives.peer: expected an array of {' or '.join(_DTYPES)}, got {dtype}.")
  is_f32 = dtype == "float32"
  sums = 4 if is_f32 else 8
  zero = "\n".join(f"  mov.f32 %s{i}, 0f00000000;" for i in range(sums))
  if is_f32:
    add = "\n".join(f"  mov.b32 %t0, %v{i};\n  add.f32 %s{i}, %s{i}, %t0;" for i in range(4))
    pack = "\n".join(f"  mov.b32 %v{i}, %s{i};" for i in range(4))
  else:
    add = "\n".join(
      f"  shl.b32 %w0, %v{i}, 16;\n  and.b32 %w1, %v{i}, 0xffff0000;\n  mov.b32 %t0, %w0;\n  mov.b32 %t1, %w1;\n"
      f"  add.f32 %s{2 * i}, %s{2 * i}, %t0;\n  add.f32 %s{2 * i + 1}, %s{2 * i + 1}, %t1;"
      for i in range(4)
    )
    pack = "\n".join(f"  cvt.rn.bf16x2.f32 %v{i}, %s{2 * i + 1}, %s{2 * i};" for i in range(4))
  return f"""\
.version 8.0
.target sm_80
.address_size 64

.visible .entry one_shot_all_reduce(
  .param .u64 buffers, .param .u64 flags, .param .u64 input, .param .u64 output, .param .u32 vectors, .param .u32 rank, .param .u32 ranks,
  .param .u32 epoch, .param .u64 half, .param .u64 missing, .param .u64 patience
)
.maxntid {THREADS}
{{
  .reg .pred %p<4>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<24>;
  .reg .b32 %v<4>;
  .reg .b32 %w<2>;
  .reg .f32 %s<8>;
  .reg .f32 %t<2>;

  ld.param.u64 %rd0, [buffers];
  ld.param.u64 %rd1, [flags];
  ld.param.u64 %rd2, [input];
  ld.param.u64 %rd3, [output];
  ld.param.u32 %r0, [vectors];
  ld.param.u32 %r1, [rank];
  ld.param.u32 %r2, [ranks];
  ld.param.u32 %r3, [epoch];
  ld.param.u64 %rd4, [half];
  ld.param.u64 %rd5, [missing];
  ld.param.u64 %rd6, [patience];
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %ntid.x;
  mov.u32 %r7, %nctaid.x;
  mad.lo.u32 %r8, %r5, %r6, %r4;
  mul.lo.u32 %r9, %r6, %r7;
  and.b32 %r10, %r3, 1;
  cvt.u64.u32 %rd7, %r10;
  mul.lo.u64 %rd4, %rd4, %rd7;
  mul.wide.u32 %rd8, %r1, 8;
  add.s64 %rd8, %rd0, %rd8;
  ld.global.u64 %rd9, [%rd8];
  add.s64 %rd9, %rd9, %rd4;
  mov.u32 %r11, %r8;
copy:
  setp.ge.u32 %p0, %r11, %r0;
  @%p0 bra copied;
  mul.wide.u32 %rd10, %r11, 16;
  add.s64 %rd11, %rd2, %rd10;
  add.s64 %rd12, %rd9, %rd10;
  ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%rd11];
  st.global.v4.b32 [%rd12], {{%v0, %v1, %v2, %v3}};
  add.u32 %r11, %r11, %r9;
  bra copy;
copied:
  bar.sync 0;
  setp.ge.u32 %p0, %r4, %r2;
  @%p0 bra met;
  add.u32 %r12, %r3, 1;
  mul.wide.u32 %rd10, %r4, 8;
  add.s64 %rd10, %rd1, %rd10;
  ld.global.u64 %rd11, [%rd10];
  mad.lo.u32 %r13, %r5, %r2, %r1;
  mul.wide.u32 %rd12, %r13, 4;
  add.s64 %rd11, %rd11, %rd12;
  fence.acq_rel.sys;
  st.release.sys.global.u32 [%rd11], %r12;
  mul.wide.u32 %rd10, %r1, 8;
  add.s64 %rd10, %rd1, %rd10;
  ld.global.u64 %rd11, [%rd10];
  mad.lo.u32 %r13, %r5, %r2, %r4;
  mul.wide.u32 %rd12, %r13, 4;
  add.s64 %rd11, %rd11, %rd12;
  mov.u64 %rd13, %globaltimer;
wait:
  ld.acquire.sys.global.u32 %r14, [%rd11];
  setp.ge.u32 %p1, %r14, %r12;
  @%p1 bra met;
  mov.u64 %rd14, %globaltimer;
  sub.u64 %rd14, %rd14, %rd13;
  setp.lt.u64 %p2, %rd14, %rd6;
  @%p2 bra wait;
  add.u32 %r15, %r4, 1;
  st.global.u32 [%rd5], %r15;
met:
  bar.sync 0;
  mov.u32 %r11, %r8;
next:
  setp.ge.u32 %p0, %r11, %r0;
  @%p0 bra done;
{zero}
  mul.wide.u32 %rd15, %r11, 16;
  mov.u32 %r16, 0;
  mov.u64 %rd16, %rd0;
peer:
  setp.ge.u32 %p1, %r16, %r2;
  @%p1 bra summed;
  ld.global.u64 %rd17, [%rd16];
  add.s64 %rd17, %rd17, %rd4;
  add.s64 %rd17, %rd17, %rd15;
  ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%rd17];
{add}
  add.s64 %rd16, %rd16, 8;
  add.u32 %r16, %r16, 1;
  bra peer;
summed:
{pack}
  add.s64 %rd18, %rd3, %rd15;
  st.global.v4.b32 [%rd18], {{%v0, %v1, %v2, %v3}};
  add.u32 %r11, %r11, %r9;
  bra next;
done:
  ret;
}}
"""


@functools.cache
def _kernel(dtype: str, device: int) -> ctypes.c_void_p:
  module, function = ctypes.c_void_p(), ctypes.c_void_p()
  with cuda.context(device):
    cuda.call(
      "cuModuleLoadData", ctypes.byref(module), cuda.assemble(one_shot_ptx(dtype), device), what="loading an all-reduce"
    )
    cuda.call(
      "cuModuleGetFunction", ctypes.byref(function), module, b"one_shot_all_reduce", what="loading an all-reduce"
    )
  return function


def _allocate(nbytes: int) -> int:
  found = ctypes.c_uint64()
  cuda.call("cuMemAlloc_v2", ctypes.byref(found), ctypes.c_size_t(nbytes), what="allocating symmetric memory")
  cuda.call("cuMemsetD8_v2", found, ctypes.c_ubyte(0), ctypes.c_size_t(nbytes), what="clearing symmetric memory")
  return found.value


def connect(
  rank: int, ranks: int, exchange: Exchange, *, capacity: int = 1 << 20, device: int = 0, timeout: float = 10
) -> Communicator:
  """Map the memory of all processes. All call it.

  Args:
    rank: which process this is.
    ranks: how many there are, up to 64.
    exchange: sends bytes of each process to all.
    capacity: the bytes of the largest array.
    device: the GPU of this process, as the driver numbers it.
    timeout: seconds that a peer is waited for.
  """
  if not 0 <= rank < ranks <= 64:
    raise errors.CollectiveError(
      f"collectives.peer.connect: expected a rank below ranks, and up to 64 ranks, got {rank} of {ranks}."
    )
  half = -(-capacity // 256) * 256
  with cuda.context(device):
    own = _allocate(2 * half + _FLAG_BYTES)
    handle = _Handle()
    cuda.call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_uint64(own), what="exporting symmetric memory")
    cuda.call("cuCtxSynchronize", what="clearing symmetric memory")
    everyone = [own] * ranks
    for number, raw in enumerate(exchange(bytes(handle))):
      if number != rank:
        mapped = ctypes.c_uint64()
        cuda.call(
          *("cuIpcOpenMemHandle_v2", ctypes.byref(mapped), _Handle.from_buffer_copy(raw), _LAZY_PEER_ACCESS),
          what=f"mapping the memory of rank {number}",
        )
        everyone[number] = mapped.value
    return Communicator(rank, ranks, device, half, tuple(everyone), timeout, _tables(everyone, half))


def local(ranks: int, capacity: int, device: int = 0) -> Communicator:
  """A communicator all of whose peers are buffers of this process, which nobody waits for: to time the kernel alone."""
  half = -(-capacity // 256) * 256
  with cuda.context(device):
    everyone = [_allocate(2 * half + _FLAG_BYTES) for _ in range(ranks)]
    for buffer in everyone:  # flags of a far future
      words = ctypes.c_size_t(_FLAG_BYTES // 4)
      cuda.call("cuMemsetD32_v2", ctypes.c_uint64(buffer + 2 * half), 0x7FFFFFFF, words, what="setting flags")
    return Communicator(0, ranks, device, half, tuple(everyone), 10, _tables(everyone, half), signals_itself=True)


def _tables(everyone: Sequence[int], half: int) -> int:
  """Device memory with the addresses of all buffers, then of all flags, then a word for who did not come."""
  count = len(everyone)
  words = (ctypes.c_uint64 * (2 * count + 1))(*everyone, *(b + 2 * half for b in everyone), 0)
  found = _allocate(ctypes.sizeof(words))
  cuda.call(
    "cuMemcpyHtoD_v2", ctypes.c_uint64(found), words, ctypes.c_size_t(ctypes.sizeof(words)), what="writing addresses"
  )
  return found


@dataclasses.dataclass
class Communicator:
  """Processes that see each other's memory."""

  rank: int
  ranks: int
  device: int
  half: int
  buffers: tuple[int, ...]
  timeout: float
  tables: int
  epoch: int = 0
  signals_itself: bool = False

  def all_reduce(self, x: jax.Array) -> jax.Array:
    """The sum over all processes. All call it, in the same order."""
    y = jnp.empty_like(x)
    jax.block_until_ready((x, y))
    nbytes = x.size * x.dtype.itemsize
    if nbytes > self.half or nbytes % 16:
      raise errors.CollectiveError(
        f"collectives.peer: an array of {nbytes} bytes does not fit: it must be a multiple of 16 and at most the capacity, {self.half}."
      )
    self.launch(x.unsafe_buffer_pointer(), y.unsafe_buffer_pointer(), nbytes // 16, str(x.dtype))
    with cuda.context(self.device):
      cuda.call("cuCtxSynchronize", what="an all-reduce")
      missing = ctypes.c_uint32()
      place = ctypes.c_uint64(self.tables + 16 * self.ranks)
      cuda.call("cuMemcpyDtoH_v2", ctypes.byref(missing), place, ctypes.c_size_t(4), what="an all-reduce")
    if missing.value:
      raise errors.DeadlockError(
        f"collectives.peer: rank {missing.value - 1} did not come to all-reduce number {self.epoch - 1} within {self.timeout:g} s; rank "
        f"{self.rank} waited for it. It may have ended, or run another program."
      )
    return y

  def launch(self, source: int, target: int, vectors: int, dtype: str, stream: int = 0) -> None:
    """Start the kernel on addresses."""
    function = _kernel(dtype, self.device)
    blocks = max(1, min(self._most_blocks(), -(-vectors // THREADS)))
    flags = self.tables + 8 * self.ranks
    values = [
      *(ctypes.c_uint64(v) for v in (self.tables, flags, source, target)),
      *(ctypes.c_uint32(v) for v in (vectors, self.rank, self.ranks, 0 if self.signals_itself else self.epoch)),
      *(ctypes.c_uint64(v) for v in (self.half, flags + 8 * self.ranks, int(self.timeout * 1e9))),
    ]
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    with cuda.context(self.device):
      cuda.call(
        *("cuLaunchKernel", function, blocks, 1, 1, THREADS, 1, 1, 0, ctypes.c_void_p(stream), pointers, None),
        what="starting an all-reduce",
      )
    self.epoch += 1

  def _most_blocks(self) -> int:
    """One for each SM: all are resident at once, whatever else they are."""
    return min(MAX_BLOCKS, cuda.attribute(_SM_COUNT, self.device))

"""One kernel of a collective by itself on a GPU, with the memory of its peers on the same GPU: how fast it moves bytes, beside a copy.

The other devices are heaps whose counters say that everybody has come, and left. Before each launch the counters are set back.
"""

from __future__ import annotations

import ctypes
import dataclasses
import statistics
import struct
from collections.abc import Iterator

import numpy as np

from tilewright.runtime import cuda, cuda_memory
from tilewright.target.nvgpu.passes import symmetric_memory as layout

REPEATS = 20


@dataclasses.dataclass(frozen=True)
class Devices:
  """Heaps on one GPU, that of this device first; its table, and its control part as it is before a launch."""

  heaps: list[int]
  table: int
  before: int
  control_bytes: int


def native(ranks: int, nbytes: int):
  """The one-shot all-reduce of so many bytes of float32, as its kernel is compiled for one of `ranks` devices."""
  import jax
  import jax.numpy as jnp

  from tilewright.collectives import kernels
  from tilewright.collectives.groups import table
  from tilewright.collectives.primitives import side_by_side
  from tilewright.pallas.lowering import lower_kernel
  from tilewright.pallas.nvgpu import inspection
  from tilewright.tile.standard_passes import clean

  members = table((("x", ranks),), ("x",), None)
  call = kernels.Call(members, "all_reduce alone", side_by_side("cuda"))
  mesh, spec = jax.sharding.AbstractMesh((ranks,), ("x",)), jax.sharding.PartitionSpec()
  body = lambda x: kernels.all_reduce(x, call, "sum", "one_shot")
  of_device = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
  jaxpr = jax.make_jaxpr(of_device)(jax.ShapeDtypeStruct((nbytes // 4,), jnp.float32))
  (kernel,) = inspection._kernels(jaxpr.jaxpr)
  return clean(lower_kernel(kernel, ["x"], {"x": ranks}, for_gpu=True)), np.asarray(members.array())


def devices(ranks: int, launch) -> Devices:
  driver = cuda_memory.Cuda()
  plan = launch.symmetric
  heaps = [driver.allocate(0, plan.nbytes) for _ in range(ranks)]
  table = driver.allocate(0, layout.TABLE_BYTES)
  words = [0] * (layout.TABLE_BYTES // 8)
  words[layout.NUM_SLOTS], words[layout.PATIENCE] = ranks, 5 * 10**9
  words[layout.HOST_WORD] = driver.host_word(0)[1]
  words[layout.HEAPS : layout.HEAPS + ranks] = heaps
  driver.write(0, table, struct.pack(f"<{len(words)}Q", *words))
  size = layout.ROWS + launch.launched_blocks * layout.ROW_BYTES
  control = np.zeros(size // 8, np.uint64)
  for block in range(launch.launched_blocks):
    row = control[(layout.ROWS + block * layout.ROW_BYTES) // 8 :]
    for rank in range(ranks):
      row[layout.ARRIVED // 8 + rank] = 1 << layout.EPOCH_SHIFT | plan.tag << layout.TAG_SHIFT | rank
      row[layout.LEFT // 8 + rank] = 1
  before = driver.allocate(0, size)
  driver.write(0, before, control.tobytes())
  return Devices(heaps, table, before, size)


def copy(target: int, source: int, nbytes: int) -> None:
  args = (ctypes.c_uint64(target), ctypes.c_uint64(source), ctypes.c_size_t(nbytes), None)
  cuda.call("cuMemcpyDtoDAsync_v2", *args, what="copying")


def seconds(run, before) -> float:
  """The median time of one call on the default stream, each behind what sets its memory back."""
  found = []
  with cuda.context(0):
    for _ in range(REPEATS):
      first, last = cuda.event(), cuda.event()
      before()
      cuda.record(first, 0)
      run()
      cuda.record(last, 0)
      found.append(cuda.seconds_between(first, last))
  return statistics.median(found)


def rate(ranks: int, nbytes: int) -> str:
  """A line: the kernel's time and bytes per second, the copy's, and whether its sums are right."""
  from tilewright.target.nvgpu import arch, compile_ptx

  kernel, members = native(ranks, nbytes)
  family = arch.for_capability(*cuda.capabilities()[0])
  ptx, launch = compile_ptx(kernel, family)
  code = ptx.encode() + b"\0"
  function = ctypes.c_void_p(cuda.load(code, "kernel", launch.shared_bytes, [0])[0])
  own = devices(ranks, launch)
  driver = cuda_memory.Cuda()
  offsets = {array.number: offset for array, offset in launch.symmetric.arrays}
  count = len(kernel.mapping.block_mappings) + kernel.mapping.num_prefetch
  places = {}
  for number in range(count):
    m = kernel.mapping.block_mappings[number - kernel.mapping.num_prefetch]
    size = max(16, int(m.array_aval.size) * m.array_aval.dtype.itemsize)
    places[number] = own.heaps[0] + offsets[number] if number in offsets else driver.allocate(0, size)
  driver.write(0, places[0], members.astype(np.int32).tobytes())
  (shared,) = [array for array, _ in launch.symmetric.arrays]  # the operand; the result is this device's alone
  everyone = [np.random.default_rng(r).integers(-8, 9, nbytes // 4).astype(np.float32) for r in range(ranks)]
  for heap, x in zip(own.heaps, everyone):
    driver.write(0, heap + offsets[shared.number], x.tobytes())
  workspace = driver.allocate(0, max(256, launch.workspace_bytes))
  values = [ctypes.c_uint64(v) for v in (*places.values(), workspace, own.table, 0)]
  pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
  sizes = (launch.launched_blocks, 1, 1, launch.num_threads, 1, 1, launch.shared_bytes)
  name = "cuLaunchCooperativeKernel" if launch.launched_blocks > 1 else "cuLaunchKernel"
  more = () if launch.launched_blocks > 1 else (None,)
  start = lambda: cuda.call(name, function, *sizes, None, pointers, *more, what="starting a kernel alone")
  set_back = lambda: copy(own.heaps[0], own.before, own.control_bytes)
  ours = seconds(start, set_back)
  found = np.empty(nbytes // 4, np.float32)
  with cuda.context(0):
    place = ctypes.c_uint64(places[count - 1])
    cuda.call("cuMemcpyDtoH_v2", found.ctypes.data_as(ctypes.c_void_p), place, ctypes.c_size_t(nbytes), what="reading")
  right = "right" if np.array_equal(found, sum(everyone)) else "WRONG"
  spare = driver.allocate(0, nbytes)
  peak = seconds(lambda: copy(spare, own.heaps[0] + offsets[shared.number], nbytes), lambda: None)
  per_second, copied = (ranks + 1) * nbytes / ours / 1e9, 2 * nbytes / peak / 1e9
  return (
    f"one-shot all-reduce alone, {ranks} ranks, {nbytes >> 20} MiB, {launch.launched_blocks} CTAs of {launch.num_threads}: {right}, "
    f"{ours * 1e6:.1f} µs, {per_second:.0f} GB/s; copy {peak * 1e6:.1f} µs, {copied:.0f} GB/s; ratio {per_second / copied:.2f}"
  )


def rates() -> Iterator[str]:
  for ranks in (2, 4, 8):
    for mebibytes in (1, 16, 64):
      yield rate(ranks, mebibytes << 20)

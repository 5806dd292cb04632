"""Processes that share one GPU, or have one each: all-reduces through each other's memory; and the kernel alone, against a copy.

python -m tests.collectives.gpu_processes --processes 2
python -m tests.collectives.gpu_processes --alone
python -m tests.collectives.gpu_processes --processes 2 --kill 1
"""

from __future__ import annotations

import argparse
import os
import signal
import time

from tests.support import child_processes


def child(number: int, count: int, port: int, killed: int) -> None:
  import jax

  jax.distributed.initialize(f"127.0.0.1:{port}", count, number, local_device_ids=[0])
  import jax.numpy as jnp
  import numpy as np

  from tilewright import errors
  from tilewright.collectives import peer

  exchange = peer.exchange_by_jax("test", number, count)
  comm = peer.connect(number, count, exchange, capacity=4 << 20, timeout=5)
  device = jax.local_devices()[0]
  for dtype in (np.float32, jnp.bfloat16):
    for size in (8, 4096, 100_000, 1 << 20):
      everyone = [np.random.default_rng([r, size]).integers(-8, 9, size).astype(dtype) for r in range(count)]
      for _ in range(3):
        found = np.asarray(comm.all_reduce(jax.device_put(everyone[number], device)))
        np.testing.assert_array_equal(
          found.astype(np.float64), sum(x.astype(np.float64) for x in everyone).astype(dtype).astype(np.float64)
        )
  start = time.perf_counter()
  x = jax.device_put(np.ones(256, np.float32), device)
  for _ in range(20):
    comm.all_reduce(x)
  print(
    f"process {number}: agrees; {(time.perf_counter() - start) / 20 * 1e6:.0f} µs for 1 KiB, with its start and end",
    flush=True,
  )
  if killed >= 0:
    if number == killed:
      os.kill(os.getpid(), signal.SIGKILL)
    start = time.perf_counter()
    try:
      comm.all_reduce(x)
    except errors.DeadlockError as e:
      print(f"process {number}: {e} ({time.perf_counter() - start:.1f} s)", flush=True)
  os._exit(0)


def alone() -> None:
  """Bytes per second of the kernel with its peers' memory on this GPU, beside a copy of as many bytes."""
  import jax
  import jax.numpy as jnp

  from tilewright.collectives import peer
  from tilewright.runtime import cuda

  print("kernel alone: bytes that it reads and writes per second, and the same of a copy (GB/s)")
  for ranks in (2, 4, 8):
    for nbytes in (1 << 20, 16 << 20, 64 << 20):
      comm = peer.local(ranks, nbytes)
      x = jnp.ones(nbytes // 4, jnp.float32)
      y = jnp.empty_like(x)
      jax.block_until_ready((x, y))

      def seconds(run, repeats=20):
        first, last = cuda.event(), cuda.event()
        run()
        with cuda.context(0):
          cuda.record(first, 0)
          for _ in range(repeats):
            run()
          cuda.record(last, 0)
          return cuda.seconds_between(first, last) / repeats

      import ctypes

      ours = seconds(lambda: comm.launch(x.unsafe_buffer_pointer(), y.unsafe_buffer_pointer(), nbytes // 16, "float32"))
      moved = (ranks + 3) * nbytes  # input, own buffer, all buffers, output
      half = ctypes.c_size_t(nbytes)
      source, target = (ctypes.c_uint64(a.unsafe_buffer_pointer()) for a in (x, y))
      with cuda.context(0):
        copy = seconds(lambda: cuda.call("cuMemcpyDtoDAsync_v2", target, source, half, None, what="copying"))
      rate, peak = moved / ours / 1e9, 2 * nbytes / copy / 1e9
      print(
        f"  {ranks} ranks, {nbytes >> 20:3} MiB: {ours * 1e6:8.1f} µs  {rate:7.0f}  copy {peak:7.0f}  ratio {rate / peak:.2f}",
        flush=True,
      )


def start(count: int, killed: int = -1, timeout: float = 100) -> list[str]:
  environment = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
  return child_processes.run(
    "tests.collectives.gpu_processes", count, environment=environment, killed=killed, timeout=timeout
  )


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--processes", type=int, default=2)
  parser.add_argument("--kill", type=int, default=-1)
  parser.add_argument("--number", type=int, default=-1)
  parser.add_argument("--port", type=int, default=0)
  parser.add_argument("--alone", action="store_true")
  options = parser.parse_args()
  if options.alone:
    alone()
  elif options.number >= 0:
    child(options.number, options.processes, options.port, options.kill)
  else:
    for number, text in enumerate(start(options.processes, options.kill)):
      lines = [line for line in text.splitlines() if line.startswith("process ")]
      print("\n".join(lines) or f"process {number} said nothing but:\n{text[-1500:]}", flush=True)


if __name__ == "__main__":
  main()

"""Kernels that access other GPUs, between processes that share one: programs against NumPy, a process that dies, and a kernel alone.

python -m tests.collectives.gpu_kernels --processes 2

A line for each step, as it is taken. Every program runs five times, its memory poisoned before each.
"""

from __future__ import annotations

import argparse
import functools
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import traceback

REPEATS = 5
EMULATED_REPEATS = 2


def programs(here):
  """(name, a function of a device's part, what it gives on a device)."""
  import jax.numpy as jnp
  import numpy as np
  from jax import lax

  from tests.support.communicating_kernels import permute_right, ring_sum
  from tilewright import collectives as c

  x, n = here.x, here.n
  large = lambda d, size=300_000: (np.arange(size) % 97 + d).astype(np.float32)
  of_large = lambda: (jnp.arange(300_000) % 97 + lax.axis_index("x")).astype(jnp.float32)
  sum_of_large = lambda d: sum(large(r) for r in range(n))
  total = lambda d: x.sum(0)
  as_ints = x.astype(np.int32)
  cast = lambda dtype: lambda x: c.all_reduce(x.astype(dtype), "x").astype(jnp.float32)
  rows = lambda d: (np.arange(8 * 128).reshape(8, 128) % 7 - 3 + d).astype(np.float32)
  of_rows = lambda: (jnp.arange(8 * 128).reshape(8, 128) % 7 - 3 + lax.axis_index("x")).astype(jnp.float32)
  matrices = lambda d, m, k: ((np.arange(m * k).reshape(m, k) * (d + 1)) % 5 - 2).astype(np.float32)
  of_matrices = lambda m, k: ((jnp.arange(m * k).reshape(m, k) * (lax.axis_index("x") + 1)) % 5 - 2).astype(jnp.float32)
  w = matrices(6, 64, 128)
  product = lambda d: matrices(d, 64, 64) @ w
  half = lambda y: y.astype(jnp.bfloat16)
  return [
    ("barrier", lambda x: c.barrier("x") + x[0, 0] * 0, lambda d: np.float32(n)),
    ("remote copy to the right", lambda x: permute_right(x, n), lambda d: x[d - 1]),
    ("all_reduce two_shot f32", lambda x: c.all_reduce(x, "x", algorithm="two_shot"), total),
    ("all_reduce one_shot f32", lambda x: c.all_reduce(x, "x", algorithm="one_shot"), total),
    (
      "all_reduce one_shot, 1.2 MB",
      lambda x: c.all_reduce(of_large() + x[0, 0] * 0, "x", algorithm="one_shot"),
      sum_of_large,
    ),
    (
      "all_reduce two_shot, 1.2 MB",
      lambda x: c.all_reduce(of_large() + x[0, 0] * 0, "x", algorithm="two_shot"),
      sum_of_large,
    ),
    ("all_gather f32", lambda x: c.all_gather(x, "x"), lambda d: x),
    ("reduce_scatter f32", lambda x: c.reduce_scatter(x, "x"), lambda d: x[:, d].sum(0)),
    ("all_to_all f32", lambda x: c.all_to_all(x, "x", 0, 0), lambda d: np.stack([x[i, d] for i in range(n)])),
    ("permute", lambda x: c.permute(x, "x", [(0, n - 1)]), lambda d: x[0] * (d == n - 1)),
    ("broadcast", lambda x: c.broadcast(x, "x", 1), lambda d: x[1]),
    (
      "matmul_all_reduce f32",
      lambda x: c.matmul_all_reduce(of_matrices(64, 64) + x[0, 0] * 0, jnp.asarray(w), "x"),
      lambda d: sum(product(r) for r in range(n)),
    ),
    (
      "all_gather_matmul f32",
      lambda x: c.all_gather_matmul(of_matrices(64, 64) + x[0, 0] * 0, jnp.asarray(w), "x"),
      lambda d: np.concatenate([product(r) for r in range(n)]),
    ),
    (
      "matmul_reduce_scatter f32",
      lambda x: c.matmul_reduce_scatter(of_matrices(64, 64) + x[0, 0] * 0, jnp.asarray(w), "x"),
      lambda d: np.split(sum(product(r) for r in range(n)), n)[d],
    ),
    (
      "all_gather_matmul bf16",
      lambda x: c.all_gather_matmul(half(of_matrices(64, 64) + x[0, 0] * 0), half(jnp.asarray(w)), "x").astype(
        jnp.float32
      ),
      lambda d: np.concatenate([product(r) for r in range(n)]),
    ),
    ("ring all-reduce by remote copies", lambda x: ring_sum(x, n), total),
    ("all_reduce ring f32", lambda x: c.all_reduce(x, "x", algorithm="ring"), total),
    ("ragged_all_to_all and moe", here.of_experts, here.expected_of_experts),
    ("all_reduce bf16", cast(jnp.bfloat16), total),
    ("all_reduce f16", cast(jnp.float16), total),
    ("all_reduce int8", cast(jnp.int8), total),
    (
      "all_reduce int4",
      lambda x: c.all_reduce(x.astype(jnp.int4) % 2, "x").astype(jnp.float32),
      lambda d: (x % 2).sum(0),
    ),
    ("all_reduce e4m3", cast(jnp.float8_e4m3fn), total),
    (
      "all_reduce int32 or",
      lambda x: c.all_reduce(x.astype(jnp.int32), "x", op="or"),
      lambda d: np.bitwise_or.reduce(as_ints),
    ),
    ("all_reduce bool and", lambda x: c.all_reduce(x > 0, "x", op="and"), lambda d: (x > 0).all(0)),
    ("all_reduce c64", cast_complex(c, jnp), lambda d: (x * (1 + 2j)).sum(0).astype(np.complex64)),
    ("all_reduce max f32", lambda x: c.all_reduce(x, "x", op="max"), lambda d: x.max(0)),
    ("all_gather bf16", lambda x: c.all_gather(half(x), "x").astype(jnp.float32), lambda d: x),
    ("all_gather in groups", lambda x: c.all_gather(x, "x", axis_index_groups=here.groups), here.padded),
    (
      "all_to_all int8",
      lambda x: c.all_to_all(x.astype(jnp.int8), "x", 0, 0),
      lambda d: np.stack([x[i, d] for i in range(n)]),
    ),
    (
      "several collectives that depend on each other",
      lambda x: c.all_gather(c.all_reduce(x, "x") * (1 + lax.axis_index("x")), "x"),
      lambda d: np.stack([x.sum(0) * (1 + r) for r in range(n)]),
    ),
    (
      "a loop around remote copies",
      lambda x: lax.fori_loop(0, 4, lambda _, y: permute_right(y, n) + 1, x),
      lambda d: x[(d - 4) % n] + 4,
    ),
    ("remote_ref and device ids by dict", functools.partial(neighbours_rows, n=n), lambda d: x[(d + 1) % n] + x[d]),
    ("remote additions under a lock", functools.partial(added_up, n=n), total),
    ("rows by remote copies", lambda x: permute_right(of_rows() + x[0, 0] * 0, n), lambda d: rows((d - 1) % n)),
  ]


def cast_complex(c, jnp):
  return lambda x: c.all_reduce(x.astype(jnp.complex64) * (1 + 2j), "x")


def neighbours_rows(x, n):
  """Reads the next device's array by `remote_ref`, and says so to its owner, who waits for that."""
  from jax import lax

  from tests.support.communicating_kernels import REGULAR, call
  from tilewright import pallas as pl
  from tilewright.pallas import mosaic_gpu as plgpu

  def kernel(x_ref, o_ref, done):
    me = lax.axis_index("x")
    right = lax.rem(me + 1, n)
    theirs = plgpu.remote_ref(x_ref, {"x": right})
    o_ref[...] = theirs[...] + x_ref[...]
    pl.semaphore_signal(done, 1, device_id={"x": right})
    pl.semaphore_wait(done, 1)

  return call(kernel, x, [REGULAR])


def added_up(x, n):
  """Every device adds what it has to a buffer of every device, all at the same time."""
  import jax.numpy as jnp

  from tests.support.communicating_kernels import DMA, REGULAR, VMEM, call
  from tilewright import pallas as pl
  from tilewright.pallas import semaphores
  from tilewright.pallas import tpu as pltpu

  def kernel(x_ref, o_ref, total, send, receive, ready):
    total[...] = jnp.zeros(x_ref.shape, x_ref.dtype)
    for other in range(n):
      pl.semaphore_signal(ready, 1, device_id=other, device_id_type=semaphores.DeviceIdType.LOGICAL)
    pl.semaphore_wait(ready, n)
    for other in range(n):
      copy = pltpu.make_async_remote_copy(x_ref, total, send, receive, device_id=(jnp.int32(other),))
      copy.start(add=True)
      copy.wait_send()
    for _ in range(n):
      pltpu.make_async_copy(total, total, receive).wait()
    o_ref[...] = total[...]

  return call(kernel, x, [VMEM(x.shape, x.dtype), DMA(()), DMA(()), REGULAR])


class Log:
  def __init__(self, number: int):
    self.number, self.start = number, time.time()

  def __call__(self, text: str) -> None:
    print(f"[{time.time() - self.start:6.2f}] process {self.number}: {text}", flush=True)


def last_lines(count: int = 4) -> str:
  return " | ".join(line.strip() for line in traceback.format_exc().strip().splitlines()[-count:])[:1500]


def child(number: int, count: int, port: int, limit: float, only: str, is_emulated: bool) -> None:
  log = Log(number)
  import jax

  if is_emulated:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
  jax.distributed.initialize(f"127.0.0.1:{port}", count, number, local_device_ids=None if is_emulated else [0])
  if is_emulated:
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))
    import emulated_peers

    emulated_peers.install()
  import numpy as np

  from tests.collectives.processes import Here
  from tilewright.runtime import meeting

  log(f"jax {jax.__version__}, {jax.devices()}")
  here = Here()
  answers = [0]

  def told(text: str) -> list[str]:
    """What all processes say."""
    answers[0] += 1
    return meeting.exchange("gpu-kernels", range(count), str(answers[0]), text)

  good, repeats = 0, EMULATED_REPEATS if is_emulated else REPEATS
  chosen = [p for p in programs(here) if p[0] in only.split(",") or not only]
  for name, f, expected in chosen:
    begin, said = time.time(), "ok"
    try:
      program = here.program(f)
      compiled = program.lower(here.whole).compile()
      between = time.time()
      for _ in range(repeats):
        poison()
        found = compiled(here.whole)
        for shard in found.addressable_shards:
          device = shard.index[0].start or 0
          np.testing.assert_array_equal(np.asarray(shard.data)[0], np.asarray(expected(device)))
      log(f"{name}: agrees, {repeats} times ({between - begin:.2f} s to compile, {time.time() - between:.2f} s to run)")
    except Exception as e:
      said = "broken" if "DeadlockError" in str(e) else "wrong"
      log(f"{name}: FAILED: {type(e).__name__}: {last_lines()}")
    everyone = told(said if time.time() - log.start < limit else said + " stop")
    good += all(text.startswith("ok") for text in everyone)
    if any("ok" not in text for text in everyone):
      from tilewright.target.nvgpu.host import peer_memory

      peer_memory.renew()
    if any("stop" in text for text in everyone):
      log("no time for the other programs")
      break
  log(f"{good} of {len(chosen)} programs agree in all processes")
  if number == 0 and not is_emulated:
    try:
      alone(log)
    except Exception:
      log(f"a kernel alone: FAILED: {last_lines()}")
  told("alone")
  dies(here, number, log)


def poison() -> None:
  """Fill this process's heaps with NaN. Between its kernels no other device writes there."""
  from tilewright.target.nvgpu.host import peer_memory
  from tilewright.target.nvgpu.passes import symmetric_memory

  for domain in peer_memory._domains.values():
    for heap in domain.heaps:
      for device, start in heap.starts.items():
        nbytes = min(heap.nbytes, 8 << 20) - symmetric_memory.DATA
        domain.driver.write(device, start + symmetric_memory.DATA, b"\xff" * nbytes)


def dies(here, number: int, log: Log) -> None:
  """The last process dies; the others get an error within seconds."""
  from tilewright import collectives

  last = here.n - 1
  run = here.program(lambda x: collectives.all_reduce(x, "x")).lower(here.whole).compile()
  import jax

  jax.block_until_ready(run(here.whole))
  log("before the process dies, all is well")
  if number == last:
    os.kill(os.getpid(), signal.SIGKILL)
  begin = time.time()
  try:
    for _ in range(100_000):
      jax.block_until_ready(run(here.whole))
  except Exception as e:
    log(f"an error {time.time() - begin:.2f} s after a process died: {type(e).__name__}: {str(e)[:400]}")
  os._exit(0)


def alone(log: Log) -> None:
  """Bytes per second of the one-shot all-reduce with its peers' memory on this GPU, beside a copy."""
  from tests.collectives import kernel_alone

  for line in kernel_alone.rates():
    log(line)


def start(count: int, limit: float, timeout: float, only: str, is_emulated: bool) -> int:
  with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
  environment = {
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "TILEWRIGHT_PEER_MEMORY": "1",
    "TILEWRIGHT_TIMEOUT": os.environ.get("TILEWRIGHT_TIMEOUT", "8"),
  }
  if is_emulated:
    environment |= {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=1"}
  options = [
    *["--emulated"] * is_emulated,
    "--processes",
    str(count),
    "--port",
    str(port),
    "--limit",
    str(limit),
    "--only",
    only,
  ]
  command = [sys.executable, "-m", "tests.collectives.gpu_kernels", *options]
  children = [subprocess.Popen([*command, "--number", str(i)], env=os.environ | environment) for i in range(count)]
  end = time.time() + timeout
  try:
    for process in children:
      process.wait(max(1.0, end - time.time()))
  except subprocess.TimeoutExpired:
    print("a process has not ended in time", flush=True)
    return 1
  finally:
    for process in children:
      process.kill()
  return 0


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--processes", type=int, default=2)
  parser.add_argument("--number", type=int, default=-1)
  parser.add_argument("--port", type=int, default=0)
  parser.add_argument("--limit", type=float, default=600, help="seconds after which no program is begun")
  parser.add_argument("--timeout", type=float, default=900)
  parser.add_argument("--only", default="", help="the names of programs, with commas between them")
  parser.add_argument("--emulated", action="store_true", help="without GPUs: the CPU runs their code")
  options = parser.parse_args()
  given = (options.only, options.emulated)
  if options.number >= 0:
    child(options.number, options.processes, options.port, options.limit, *given)
  else:
    sys.exit(start(options.processes, options.limit, options.timeout, *given))


if __name__ == "__main__":
  main()

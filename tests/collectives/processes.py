"""Several processes with CPU devices of their own: every collective against NumPy, and what is seen of a process that dies.

python -m tests.collectives.processes --processes 4             all collectives
python -m tests.collectives.processes --processes 4 --kill 2    process 2 dies in the middle; the others say so
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time

PER_PROCESS = 2


def child(number: int, count: int, port: int, killed: int, quick: bool) -> None:
  import jax

  jax.config.update("jax_cpu_collectives_implementation", "gloo")
  jax.distributed.initialize(f"127.0.0.1:{port}", count, number, heartbeat_timeout_seconds=10)
  import jax.numpy as jnp
  import numpy as np
  from jax.sharding import NamedSharding, PartitionSpec

  from tilewright import collectives

  n = count * PER_PROCESS
  mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
  sharding = NamedSharding(mesh, PartitionSpec("x"))
  x = np.random.default_rng(0).integers(-3, 4, (n, n, 6)).astype(np.float32)
  whole = jax.make_array_from_callback(x.shape, sharding, lambda index: x[index])
  groups = [list(range(n - 3)), [], [n - 1, n - 2]]
  group_of = lambda i: next((g for g in groups if i in g), [i])

  def run(f):
    spec = PartitionSpec("x")
    g = jax.shard_map(lambda x: f(x[0])[None], mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    return {s.index[0].start or 0: np.asarray(s.data)[0] for s in jax.jit(g)(whole).addressable_shards}

  def same(f, expected):
    for device, found in run(f).items():
      np.testing.assert_array_equal(found, expected(device))

  def exchanged(d: int) -> np.ndarray:
    return np.stack([x[i, d] for i in range(n)])

  def padded(d: int) -> np.ndarray:
    out = np.zeros((max(map(len, groups)), *x.shape[1:]), np.float32)
    out[: len(group_of(d))] = x[group_of(d)]
    return out

  same(lambda x: collectives.all_reduce(x, "x"), lambda d: x.sum(0))
  same(lambda x: collectives.all_gather(x, "x", axis_index_groups=groups), padded)
  if not quick:
    as_ints = x.astype(np.int32)
    same(lambda x: collectives.all_reduce(x, "x", op="max"), lambda d: x.max(0))
    same(lambda x: collectives.all_reduce(x, "x", axis_index_groups=groups), lambda d: x[group_of(d)].sum(0))
    same(lambda x: collectives.all_reduce(x.astype(jnp.int32), "x", op="or"), lambda d: np.bitwise_or.reduce(as_ints))
    same(lambda x: collectives.all_gather(x, "x"), lambda d: x)
    same(lambda x: collectives.reduce_scatter(x, "x"), lambda d: x[:, d].sum(0))
    same(lambda x: collectives.all_to_all(x, "x", 0, 0), exchanged)
    same(lambda x: collectives.permute(x, "x", [(0, n - 1)]), lambda d: x[0] * (d == n - 1))
    same(lambda x: collectives.broadcast(x, "x", 1), lambda d: x[1])
    same(lambda x: collectives.all_gather_matmul(x, x.T, "x"), lambda d: x.reshape(-1, 6) @ x[d].T)
  print(f"process {number}: all collectives agree", flush=True)
  if killed >= 0:
    if number == killed:
      os.kill(os.getpid(), signal.SIGKILL)
    start = time.time()
    try:
      for _ in range(100_000):
        run(lambda x: collectives.all_reduce(x, "x"))
    except Exception as e:
      print(f"process {number}: an error after {time.time() - start:.1f} s: {type(e).__name__}", flush=True)
    os._exit(0)


def start(count: int, killed: int = -1, timeout: float = 120, *, quick: bool = False) -> list[str]:
  """Runs so many processes; gives what each said."""
  with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
  flags = f"--xla_force_host_platform_device_count={PER_PROCESS}"
  environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
  command = [
    sys.executable,
    "-m",
    "tests.collectives.processes",
    "--port",
    str(port),
    "--processes",
    str(count),
    *["--quick"] * quick,
  ]
  children = [
    subprocess.Popen(
      [*command, "--kill", str(killed), "--number", str(i)],
      env=environment,
      text=True,
      stdout=subprocess.PIPE,
      stderr=subprocess.STDOUT,
    )
    for i in range(count)
  ]
  try:
    return [child.communicate(timeout=timeout)[0] for child in children]
  finally:
    for each in children:
      each.kill()


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--processes", type=int, default=4)
  parser.add_argument("--kill", type=int, default=-1)
  parser.add_argument("--number", type=int, default=-1)
  parser.add_argument("--port", type=int, default=0)
  parser.add_argument("--quick", action="store_true", help="a few collectives only")
  options = parser.parse_args()
  if options.number >= 0:
    child(options.number, options.processes, options.port, options.kill, options.quick)
    return
  said = start(options.processes, options.kill, quick=options.quick)
  for number, text in enumerate(said):
    lines = [line for line in text.splitlines() if line.startswith("process ")]
    print("\n".join(lines) or f"process {number} failed:\n{text[-2000:]}")


if __name__ == "__main__":
  main()

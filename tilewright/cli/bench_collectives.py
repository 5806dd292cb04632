"""All-reduces over host devices, ours and XLA's, in processes of their own: rows of `tilewright bench cpu`.

JAX fixes its number of devices when it starts, and every other row wants one. A child waits for a line on its input, runs the collective a
few times, and answers with the seconds that one took.

    python -m tilewright.cli.bench_collectives ours 4 1024       four devices, 1 KiB each
    python -m tilewright.cli.bench_collectives psum 4 1024
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

from tilewright.cli.bench import OURS, Case, Measured

XLA = "XLA, jax.lax.psum"
SIZES = {"1 KiB": 1 << 10, "1 MiB": 1 << 20, "64 MiB": 64 << 20}
_SECONDS = 0.05  # of work for each answer


def start(who: str, devices: int, nbytes: int) -> Callable[[], Any]:
  """Starts a child and gives the call that asks it for a time."""
  flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
  child = subprocess.Popen(
    [sys.executable, "-m", "tilewright.cli.bench_collectives", who, str(devices), str(nbytes)],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
  )
  assert child.stdin is not None and child.stdout is not None and child.stderr is not None
  if not child.stdout.readline():
    raise RuntimeError(f"the child process ended: {child.stderr.read().strip()[-300:]}")
  asks, answers = child.stdin, child.stdout

  def call() -> Any:
    asks.write("\n")
    asks.flush()
    return Measured(float(answers.readline()))

  weakref.finalize(call, _end, child)
  return call


def _end(child: subprocess.Popen[str]) -> None:
  """The child ends when its input does."""
  for stream in (child.stdin, child.stdout, child.stderr):
    if stream is not None:
      stream.close()
  child.wait()


def case(name: str, devices: int, nbytes: int) -> Case:
  return Case(
    f"all_reduce, {name}, {devices} host devices",
    {OURS: lambda: start("ours", devices, nbytes), XLA: lambda: start("psum", devices, nbytes)},
    goals={XLA: 1.0},
  )


CASES = tuple(case(name, devices, nbytes) for name, nbytes in SIZES.items() for devices in (2, 4))


def serve(who: str, devices: int, nbytes: int) -> None:
  import jax
  import jax.numpy as jnp
  import numpy as np
  from jax.sharding import Mesh, NamedSharding, PartitionSpec

  from tilewright import collectives

  spec = PartitionSpec("x")
  mesh = Mesh(np.array(jax.devices("cpu")[:devices]), ("x",))
  reduce = (lambda x: collectives.all_reduce(x, "x")) if who == "ours" else (lambda x: jax.lax.psum(x, "x"))
  f = jax.jit(jax.shard_map(reduce, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))
  x = jax.device_put(jnp.ones(devices * nbytes // 4, jnp.float32), NamedSharding(mesh, spec))
  assert float(f(x)[0]) == devices
  start = time.perf_counter()
  jax.block_until_ready(f(x))
  repeats = max(1, round(_SECONDS / (time.perf_counter() - start)))
  print("ready", flush=True)
  for _ in sys.stdin:
    start = time.perf_counter()
    for _ in range(repeats):
      jax.block_until_ready(f(x))
    print((time.perf_counter() - start) / repeats, flush=True)


if __name__ == "__main__":
  serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

"""All-reduces over host devices, ours and XLA's, in processes of their own: rows of `tilewright bench cpu`.

JAX fixes its number of devices when it starts, and every other row wants one. Children wait for a line on their input, which says how often
to run the collective; the first one answers with the seconds that one took.

    python -m tilewright.cli.bench_collectives ours 4 1024                     four devices, 1 KiB each
    python -m tilewright.cli.bench_collectives psum 2 1024 --number 0 --of 2 --port 3456     two processes with a device each: the first
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tilewright.cli.bench import OURS, Case, Measured

XLA = "XLA, jax.lax.psum"
SIZES = {"1 KiB": 1 << 10, "64 KiB": 64 << 10, "1 MiB": 1 << 20, "64 MiB": 64 << 20}
_MARK = "bench:"
_SECONDS = 0.05  # of work for each answer


def start(implementation: str, devices: int, nbytes: int, processes: int = 1) -> Callable[[], Any]:
  """Starts the children and gives the call that asks them for a time."""
  flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices // processes}"
  command = [sys.executable, "-m", "tilewright.cli.bench_collectives", implementation, str(devices), str(nbytes)]
  with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
  children = [
    subprocess.Popen(
      [*command, "--number", str(number), "--of", str(processes), "--port", str(port)],
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      stderr=subprocess.DEVNULL,
      text=True,
      env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
    )
    for number in range(processes)
  ]
  ready = [_line(child).split() for child in children]  # each says "ready" and how often to run
  if not all(ready):
    raise RuntimeError(f"a child process ended: {' '.join(command)}")

  def call() -> Any:
    for child in children:
      assert child.stdin is not None
      child.stdin.write(ready[0][1] + "\n")
      child.stdin.flush()
    first, *_ = [_line(child) for child in children]
    return Measured(float(first))

  weakref.finalize(call, _end, children)
  return call


def _line(child: subprocess.Popen[str]) -> str:
  """What a child says next, behind what libraries print; nothing if it has ended."""
  assert child.stdout is not None
  while line := child.stdout.readline():
    if line.startswith(_MARK):
      return line.removeprefix(_MARK)
  return ""


def _end(children: Sequence[subprocess.Popen[str]]) -> None:
  """Children end when their input does."""
  for child in children:
    for stream in (child.stdin, child.stdout):
      if stream is not None:
        stream.close()
  for child in children:
    child.wait()


def case(name: str, nbytes: int, devices: int, processes: int = 1) -> Case:
  where = f"{devices} host devices" if processes == 1 else f"{processes} processes"
  return Case(
    f"all_reduce, {name}, {where}",
    {
      OURS: lambda: start("ours", devices, nbytes, processes),
      XLA: lambda: start("psum", devices, nbytes, processes),
    },
    goals={XLA: 1.0},
  )


CASES = (
  *(case(name, nbytes, devices) for name, nbytes in SIZES.items() for devices in (2, 4)),
  *(case(name, nbytes, processes, processes) for name, nbytes in SIZES.items() for processes in (2, 4)),
)


def serve(implementation: str, devices: int, nbytes: int, number: int, processes: int, port: int) -> None:
  import jax

  if processes > 1:
    jax.distributed.initialize(f"127.0.0.1:{port}", processes, number)
  import numpy as np
  from jax.sharding import Mesh, NamedSharding, PartitionSpec

  from tilewright import collectives

  spec = PartitionSpec("x")
  mesh = Mesh(np.array(jax.devices("cpu")[:devices]), ("x",))
  reduce = (lambda x: collectives.all_reduce(x, "x")) if implementation == "ours" else (lambda x: jax.lax.psum(x, "x"))
  f = jax.jit(jax.shard_map(reduce, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))
  part = np.ones(nbytes // 4, np.float32)
  x = jax.make_array_from_callback((devices * part.size,), NamedSharding(mesh, spec), lambda _: part)
  assert all(float(np.asarray(y.data)[0]) == devices for y in f(x).addressable_shards)
  start = time.perf_counter()
  jax.block_until_ready(f(x))
  print(_MARK, "ready", max(1, round(_SECONDS / (time.perf_counter() - start))), flush=True)
  for line in sys.stdin:
    repeats = int(line)
    start = time.perf_counter()
    for _ in range(repeats):
      jax.block_until_ready(f(x))
    print(_MARK, (time.perf_counter() - start) / repeats, flush=True)
  os._exit(0)  # processes that leave one after another are no error


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("implementation", choices=("ours", "psum"))
  parser.add_argument("devices", type=int)
  parser.add_argument("nbytes", type=int)
  parser.add_argument("--number", type=int, default=0)
  parser.add_argument("--of", type=int, default=1)
  parser.add_argument("--port", type=int, default=0)
  arguments = parser.parse_args()
  serve(arguments.implementation, arguments.devices, arguments.nbytes, arguments.number, arguments.of, arguments.port)


if __name__ == "__main__":
  main()

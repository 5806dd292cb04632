"""A program that runs itself in several processes, whose CPU devices are those of one program (`jax.distributed`).

joined_processes.add_arguments(parser)          --processes 4, and what the processes are told
joined_processes.run(options, work, "tests.collectives.audit", devices=8)
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from collections.abc import Callable


def add_arguments(parser: argparse.ArgumentParser) -> None:
  parser.add_argument("--processes", type=int, default=1)
  parser.add_argument("--number", type=int, default=-1, help=argparse.SUPPRESS)
  parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)


def run(options: argparse.Namespace, work: Callable[[], int], module: str, devices: int) -> int:
  """Call `work` here, or in each of several processes, which have so many devices together; gives the worst exit status."""
  if options.number < 0:
    return work() if options.processes == 1 else _start(options.processes, module, devices)
  import jax

  jax.config.update("jax_cpu_collectives_implementation", "gloo")
  address = f"127.0.0.1:{options.port}"
  jax.distributed.initialize(address, options.processes, options.number, heartbeat_timeout_seconds=10)
  status = work()
  sys.stdout.flush()
  os._exit(bool(status))


def _start(count: int, module: str, devices: int) -> int:
  with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
  flags = f"--xla_force_host_platform_device_count={devices // count}"
  environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
  command = [sys.executable, "-m", module, *sys.argv[1:], "--port", str(port), "--number"]
  children = [subprocess.Popen([*command, str(i)], env=environment) for i in range(count)]
  try:
    return max(abs(child.wait()) for child in children)
  finally:
    for child in children:
      child.kill()


__all__ = ["add_arguments", "run"]

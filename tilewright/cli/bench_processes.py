"""Measurements that need a process of their own: compile time with a warm disk cache, and peak memory of a program.

    python -m tilewright.cli.bench_processes warm softmax tilewright      seconds from the call of jit to code that can be called
    python -m tilewright.cli.bench_processes memory attention XLA         bytes at the peak, inputs and outputs included

The parent process fills the disk cache first. A warm start is that of a kernel, not of Python: modules are imported and LLVM is
loaded by another kernel before the clock starts; `first` in place of `warm` counts that too, and `cold` finds nothing on disk besides.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from tilewright.cli.bench import OURS, Call, Measured

HEADS, LENGTH, DEPTH = 4, 8192, 64  # of the attention whose memory is measured


def inputs_and_outputs() -> int:
  """Bytes of q, k, v and the result."""
  return 4 * HEADS * LENGTH * DEPTH * 4


def contender(what: str, name: str, implementation: str) -> Call:
  """A call that measures in a process of its own; the processes of one contender share a cache on disk."""
  folder = tempfile.TemporaryDirectory(prefix="tilewright-bench-")
  environment = {
    **os.environ,
    "TILEWRIGHT_CACHE_DIR": folder.name,
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # this process has most of a GPU's memory
    "PYTHONPYCACHEPREFIX": os.path.join(
      folder.name, "bytecode"
    ),  # modules are compiled once, as they are where pip installs them
  }
  environment.pop("PYTHONDONTWRITEBYTECODE", None)
  environment.pop("TILEWRIGHT_DUMP", None)

  def call() -> Measured:
    command = [sys.executable, "-m", "tilewright.cli.bench_processes", what, name, implementation]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if child.returncode:
      raise RuntimeError(f"{' '.join(command[1:])} failed: {child.stderr.strip().splitlines()[-1:]}")
    return Measured(float(child.stdout))

  call()  # fills the cache
  call.folder = folder  # type: ignore[attr-defined]  # lives as long as the call
  return call


def program(name: str, implementation: str) -> tuple[Callable[..., Any], list[Any]]:
  """A function and the types of its operands."""
  import jax
  import jax.numpy as jnp

  from tilewright import ops

  f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)

  def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    return jax.nn.softmax(jnp.einsum("hqd,hkd->hqk", q, k) * DEPTH**-0.5, axis=-1) @ v

  programs: dict[str, tuple[Any, Any, list[Any]]] = {
    "softmax": (ops.softmax, jax.nn.softmax, [f32(4096, 4096)]),
    "matmul": (ops.matmul, jnp.dot, [f32(1024, 1024)] * 2),
    "attention": (ops.attention, attention, [f32(HEADS, LENGTH, DEPTH)] * 3),
  }
  ours, theirs, operands = programs[name]
  return (lambda *xs: ours(*xs, native=True)) if implementation == OURS else theirs, operands


def seconds_to_compile(name: str, implementation: str, *, loaded: bool) -> float:
  import jax
  import jax.numpy as jnp

  from tilewright import ops

  jax.jit(lambda x: x + 1)(jnp.zeros(4)).block_until_ready()
  if loaded and implementation == OURS:
    ops.gelu(jnp.zeros(64), native=True).block_until_ready()
  f, operands = program(name, implementation)
  start = time.perf_counter()
  jax.jit(f).lower(*operands).compile()
  return time.perf_counter() - start


def seconds_without_a_cache(name: str, implementation: str) -> float:
  with tempfile.TemporaryDirectory() as folder:
    os.environ["TILEWRIGHT_CACHE_DIR"] = folder
    return seconds_to_compile(name, implementation, loaded=False)


def resident(field: str) -> int:
  """Bytes of this process in memory, now (VmRSS) or at the most since the last reset (VmHWM)."""
  (line,) = (l for l in pathlib.Path("/proc/self/status").read_text().splitlines() if l.startswith(field))
  return int(line.split()[1]) * 1024


def peak_bytes(name: str, implementation: str) -> float:
  """Inputs, outputs, and what else is in memory at the worst moment of a call."""
  import jax
  import numpy as np

  f, operands = program(name, implementation)
  rng = np.random.default_rng(0)
  args = [jax.device_put(rng.standard_normal(o.shape).astype(o.dtype)) for o in operands]
  compiled = jax.jit(f).lower(*operands).compile()
  ctypes.CDLL(None).malloc_trim(0)  # gives back what is free: the call would take it without being noticed
  pathlib.Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
  before = resident("VmRSS")
  compiled(*args).block_until_ready()
  return resident("VmHWM") - before + sum(x.nbytes for x in args)


def main(what: str, name: str, implementation: str) -> None:
  measured = {
    "warm": lambda: seconds_to_compile(name, implementation, loaded=True),
    "first": lambda: seconds_to_compile(name, implementation, loaded=False),
    "cold": lambda: seconds_without_a_cache(name, implementation),
    "memory": lambda: peak_bytes(name, implementation),
  }[what]()
  print(measured)


if __name__ == "__main__":
  main(*sys.argv[1:])

"""A data-parallel step on four host devices, in a process of its own: a row of `tilewright bench cpu`.

JAX fixes its number of devices when it starts, and every other row wants one. So the step runs in a child process, which
waits for a line on its input, runs one step, and answers with a line. What is timed is the step and one message each way.

    python -m tilewright.cli.bench_data_parallel all_reduce_code_motion     compiled with that pass
    python -m tilewright.cli.bench_data_parallel                            compiled by XLA alone
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

DEVICES, MICROBATCHES, BATCH, WIDTH, LAYERS = 4, 16, 8, 128, 3


def start(*passes: str) -> Callable[[], Any]:
  """Starts a child and gives the call that runs one step in it and returns (a summary of) the new parameters."""
  import jax.numpy as jnp

  flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={DEVICES}"
  child = subprocess.Popen(
    [sys.executable, "-m", "tilewright.cli.bench_data_parallel", *passes],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
  )
  assert child.stdin is not None and child.stdout is not None and child.stderr is not None
  first = child.stdout.readline()
  if not first:
    raise RuntimeError(f"the child process ended: {child.stderr.read().strip()[-300:]}")
  summary = jnp.array([float(word) for word in first.split()])
  asks, answers = child.stdin, child.stdout

  def call() -> Any:
    asks.write("\n")
    asks.flush()
    if not answers.readline():
      raise RuntimeError("the child process ended")
    return summary

  weakref.finalize(call, _end, child)
  return call


def _end(child: subprocess.Popen[str]) -> None:
  """The child ends when its input does."""
  for stream in (child.stdin, child.stdout, child.stderr):
    if stream is not None:
      stream.close()
  child.wait()


def build(passes: list[str]) -> Callable[[], Any]:
  """The compiled step on its arguments. The gradients of the microbatches are summed over devices one by one."""
  import jax
  import jax.numpy as jnp
  import numpy as np
  from jax.sharding import Mesh, NamedSharding, PartitionSpec

  from tilewright import hlo

  def loss(params: list[jax.Array], x: jax.Array, y: jax.Array) -> jax.Array:
    for w in params[:-1]:
      x = jnp.tanh(x @ w)
    return jnp.mean((x @ params[-1] - y) ** 2)

  def step(params: list[jax.Array], x: jax.Array, y: jax.Array) -> list[jax.Array]:
    def microbatch(total: list[jax.Array], xy: tuple[jax.Array, jax.Array]) -> tuple[list[jax.Array], None]:
      gradient = jax.lax.psum(jax.grad(loss)(params, *xy), "data")
      return [a + b for a, b in zip(total, gradient)], None

    total, _ = jax.lax.scan(microbatch, [jnp.zeros_like(p) for p in params], (x, y))
    return [p - 1e-3 * g for p, g in zip(params, total)]

  rng = np.random.default_rng(0)
  mesh = Mesh(np.array(jax.devices("cpu")[:DEVICES]), ("data",))
  replicated, shared = PartitionSpec(), PartitionSpec(None, "data")
  params = [rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) / WIDTH**0.5 for _ in range(LAYERS)]
  data = rng.normal(size=(2, MICROBATCHES, DEVICES * BATCH, WIDTH)).astype(np.float32)
  placed = jax.device_put(params, NamedSharding(mesh, replicated))
  x, y = jax.device_put(tuple(data), NamedSharding(mesh, shared))
  whole = jax.shard_map(step, mesh=mesh, in_specs=(replicated, shared, shared), out_specs=replicated, check_vma=False)
  with hlo.install(passes) if passes else contextlib.nullcontext():
    compiled = jax.jit(whole).lower(placed, x, y).compile()
  return lambda: jax.block_until_ready(compiled(placed, x, y))


def serve(passes: list[str]) -> None:
  step = build(passes)
  import numpy as np

  print(*(float(np.abs(np.asarray(p)).sum()) for p in step()), flush=True)
  for _ in sys.stdin:
    step()
    print("done", flush=True)


if __name__ == "__main__":
  serve(sys.argv[1:])

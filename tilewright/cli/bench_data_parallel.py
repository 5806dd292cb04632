"""A data-parallel step on four host devices (`bench_host_devices.py`): a row of `tilewright bench cpu`.

python -m tilewright.cli.bench_data_parallel all_reduce_code_motion     compiled with that pass
python -m tilewright.cli.bench_data_parallel                            compiled by XLA alone
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from tilewright.cli import bench_host_devices
from tilewright.cli.bench_host_devices import DEVICES

MICROBATCHES, BATCH, WIDTH, LAYERS = 16, 8, 128, 3


def start(*passes: str) -> Callable[[], Any]:
  """Starts a child and gives the call that runs one step in it and returns (a summary of) the new parameters."""
  return bench_host_devices.start(__name__, *passes)


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


if __name__ == "__main__":
  bench_host_devices.serve(build(sys.argv[1:]))

"""Does the simulator order programs as this machine does? Programs on several host devices, measured and simulated.

    XLA_FLAGS=--xla_force_host_platform_device_count=4 python -m examples.schedule.host_runs

Each program is run on the host's devices and timed. Its module, as XLA scheduled it, is simulated on as many devices, with the costs of
its instructions taken from a profile of one run, or from a calibration of the machine (`--calibrate`). The programs are then put in
order twice, by measured and by simulated step time, and the two orders are compared pair by pair. All devices share the
machine's cores, so that absolute times are too long in the one and too short in the other by about the same factor.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from examples.schedule.compare import main_module, recorded
from tilewright.hlo import cost, schedule
from tilewright.hlo.cost.calibrate import calibrate


def programs(devices: Sequence[Any]) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
  """Products and collectives in different proportions."""
  mesh = Mesh(np.array(devices), ("d",))

  def sharded(body: Callable[..., Any], rows: int, columns: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    run = jax.shard_map(body, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False)
    x = jnp.full((rows * len(devices), columns), 0.01, jnp.float32)
    return run, (jax.device_put(x, NamedSharding(mesh, P("d"))),)

  def products(count: int) -> Callable[[Any], Any]:
    def body(x: Any) -> Any:
      for _ in range(count):
        x = jnp.tanh(x @ x.T) @ x
      return x

    return body

  def reduced(count: int) -> Callable[[Any], Any]:
    def body(x: Any) -> Any:
      for _ in range(count):
        x = lax.psum(jnp.sin(x), "d") * 0.25
      return x

    return body

  def ring(count: int) -> Callable[[Any], Any]:
    shift = [(i, (i + 1) % len(devices)) for i in range(len(devices))]
    return lambda x: lax.fori_loop(0, count, lambda i, v: jnp.tanh(lax.ppermute(v, "d", shift) @ v.T) @ v, x)

  return {
    "one small product": sharded(products(1), 128, 128),
    "four products": sharded(products(4), 256, 256),
    "eight large products": sharded(products(8), 512, 512),
    "two sums": sharded(reduced(2), 256, 256),
    "four large sums": sharded(reduced(4), 1024, 1024),
    "ring of six": sharded(ring(6), 256, 256),
    "ring of six, large": sharded(ring(6), 512, 512),
  }


def measured_time(call: Callable[[], Any], seconds: float) -> float:
  jax.block_until_ready(call())
  times = []
  end = time.perf_counter() + seconds
  while len(times) < 5 or time.perf_counter() < end:
    begin = time.perf_counter()
    jax.block_until_ready(call())
    times.append(time.perf_counter() - begin)
  return statistics.median(times)


def agreement(measured: Sequence[float], simulated: Sequence[float], apart: float = 1.1) -> tuple[int, int]:
  """Of the pairs whose measured times are further `apart`, how many the simulation puts in the same order; and their number."""
  pairs = [(i, j) for i, j in itertools.permutations(range(len(measured)), 2) if measured[j] > apart * measured[i]]
  return sum(simulated[j] > simulated[i] for i, j in pairs), len(pairs)


def main(argv: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--seconds", type=float, default=1.0)
  parser.add_argument("--calibrate", action="store_true", help="costs from a calibration instead of a profile")
  arguments = parser.parse_args(argv)
  devices = jax.devices()
  model: cost.CostModel = cost.Roofline(calibrate() if arguments.calibrate else "cpu")
  times: list[tuple[str, float, float]] = []
  for name, (function, values) in programs(devices).items():
    print(f"{name}: compiling and timing …", flush=True)
    with recorded() as found:
      step = jax.jit(function).lower(*values).compile()
    call = lambda step=step, values=values: step(*values)
    took = measured_time(call, arguments.seconds)
    costs = model
    if not arguments.calibrate:
      with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
          jax.block_until_ready(call())
        costs = cost.Measured(cost.read_profile(pathlib.Path(folder)).seconds(), model)
    plan = schedule.schedule_module(main_module(found), model=costs, budget=0)
    simulated = schedule.simulate(plan, len(devices), original=True).seconds
    times.append((name, took, simulated))
    print(f"{name:<24} measured {took * 1e3:9.3f} ms   simulated {simulated * 1e3:9.3f} ms", flush=True)
  agreed, pairs = agreement([t[1] for t in times], [t[2] for t in times])
  print(f"{agreed} of {pairs} pairs of programs are in the same order")
  return 0 if agreed >= 0.9 * pairs else 1


if __name__ == "__main__":
  raise SystemExit(main())

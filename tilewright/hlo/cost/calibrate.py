"""Calibration: measures the present machine and returns a `Device` with its own rates instead of the table's.

    device = calibrate()                       # about ten seconds
    schedule_module(module, device=device)

Matrix products give the rate of each element type, elementwise work on large arrays the memory bandwidth, on small ones the
launch time, and a chain of collectives over all devices of the process the bandwidth and latency between them. On a GPU, copies to
pinned memory give the link to the host. The rates are those of one device while the others are idle; collectives are
measured with all of them at work.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable
from typing import Any

from tilewright.hlo.cost.devices import DEVICES, Device, Link

_TYPES = {"f32": "float32", "bf16": "bfloat16"}


def calibrate(seconds: float = 0.4) -> Device:
  """Measures JAX's first device. `seconds` is spent on each figure."""
  import jax

  first = jax.devices()[0]
  base = DEVICES["cpu" if first.platform == "cpu" else "h200"]
  small = first.platform == "cpu"
  flops = {name: _matmul_rate(dtype, 1024 if small else 8192, seconds) for name, dtype in _TYPES.items()}
  bandwidth = _memory_bandwidth(1 << (23 if small else 28), seconds)
  launch = _launch(seconds)
  device = dataclasses.replace(
    base,
    name=str(first.device_kind).lower(),
    flops={**base.flops, **flops},
    vector_flops=_vector_rate(1 << (20 if small else 27), seconds),
    memory_bandwidth=bandwidth,
    launch=launch,
    matmul_efficiency=1.0,
    memory_efficiency=1.0,
    notes={"jax": jax.__version__, "devices": len(jax.devices())},
  )
  if len(jax.devices()) > 1:
    device = dataclasses.replace(device, scale_up=_link(len(jax.devices()), seconds))
  if not small:
    device = dataclasses.replace(device, host=_host_link(first, seconds))
  return device


def median_time(call: Callable[[], Any], seconds: float) -> float:
  import jax

  jax.block_until_ready(call())
  times: list[float] = []
  end = time.perf_counter() + seconds
  while len(times) < 5 or time.perf_counter() < end:
    begin = time.perf_counter()
    jax.block_until_ready(call())
    times.append(time.perf_counter() - begin)
  return statistics.median(times)


def _matmul_rate(dtype: str, side: int, seconds: float) -> float:
  import jax
  import jax.numpy as jnp

  x = jnp.ones((side, side), dtype)
  product = jax.jit(lambda a, b: a @ b)
  return 2.0 * side**3 / median_time(lambda: product(x, x), seconds)


def _memory_bandwidth(elements: int, seconds: float) -> float:
  """Read and write: the operand is donated to the result, so that no fresh memory is touched."""
  import jax
  import jax.numpy as jnp

  step = jax.jit(lambda x: x + 1, donate_argnums=0)
  state = [step(jnp.zeros(elements, jnp.float32))]

  def call() -> Any:
    state[0] = step(state[0])
    return state[0]

  return 8.0 * elements / median_time(call, seconds)


def _vector_rate(elements: int, seconds: float) -> float:
  """Operations per second of elementwise code that stays in registers."""
  import jax
  import jax.numpy as jnp

  def poly(x: Any) -> Any:
    y = x
    for _ in range(64):
      y = y * x + 0.5
    return y.sum()

  compiled, x = jax.jit(poly), jnp.ones(elements, jnp.float32)
  return 128.0 * elements / median_time(lambda: compiled(x), seconds)


def _launch(seconds: float) -> float:
  """The time from one small instruction to the next, inside a program."""
  import jax
  import jax.numpy as jnp

  def chain(length: int) -> Callable[[], Any]:
    def run(x: Any) -> Any:
      for _ in range(length):
        x = jax.lax.optimization_barrier(jnp.flip(x) * 1.5)
      return x

    compiled = jax.jit(run)
    x = jnp.ones(64, jnp.float32)
    return lambda: compiled(x)

  short, long = median_time(chain(4), seconds / 2), median_time(chain(68), seconds / 2)
  return max(1e-7, (long - short) / 64)


def _link(devices: int, seconds: float) -> Link:
  """From all-reduces of two sizes: t = 2 (n - 1) latency + 2 (n - 1) / n bytes / bandwidth."""
  import jax
  import jax.numpy as jnp
  import numpy as np
  from jax.sharding import Mesh, NamedSharding, PartitionSpec

  mesh = Mesh(np.array(jax.devices()), ("x",))

  def timed(elements: int) -> float:
    reduce = jax.jit(
      jax.shard_map(
        lambda v: jax.lax.psum(v, "x"),
        mesh=mesh,
        in_specs=PartitionSpec("x"),
        out_specs=PartitionSpec(),
        check_vma=False,
      )
    )
    x = jax.device_put(jnp.ones(elements * devices), NamedSharding(mesh, PartitionSpec("x")))
    return median_time(lambda: reduce(x), seconds)

  small, large = 256, 1 << 20
  fast, slow = timed(small), timed(large)
  per_byte = max(1e-13, (slow - fast) / (4.0 * (large - small)))
  return Link("measured", 2 * (devices - 1) / devices / per_byte, max(1e-7, fast / (2 * (devices - 1))))


def _host_link(device: Any, seconds: float) -> Link:
  import jax
  import jax.numpy as jnp
  from jax.sharding import SingleDeviceSharding

  there, here = (SingleDeviceSharding(device, memory_kind=k) for k in ("pinned_host", "device"))

  def timed(elements: int) -> float:
    x = jax.device_put(jnp.ones(elements, jnp.float32), there)
    return median_time(lambda: jax.device_put(x, here), seconds)

  small, large = 1 << 10, 1 << 26
  fast, slow = timed(small), timed(large)
  return Link("measured", 4.0 * (large - small) / max(1e-9, slow - fast), max(1e-7, fast))

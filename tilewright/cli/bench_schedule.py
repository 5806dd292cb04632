"""GPU rows of the scheduler: the same program in XLA's order and in ours, with copies between the device and its host to hide.

Memory is limited to one and a half times what XLA's own order needs. `python -m examples.schedule.compare` has more programs, other
limits, and how much of the copying a profile shows to be hidden.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import SingleDeviceSharding

from tilewright.cli.bench import OURS, Call, Case
from tilewright.hlo import schedule

HEADROOM = 1.5
Program = tuple[Callable[..., Any], tuple[Any, ...]]


def _memories() -> tuple[Any, Any]:
  device = jax.devices("gpu")[0]
  here, there = (SingleDeviceSharding(device, memory_kind=kind) for kind in ("device", "pinned_host"))
  return here, there


def _normal(shape: tuple[int, ...], seed: int, scale: float = 1.0) -> jax.Array:
  return (jax.random.normal(jax.random.key(seed), shape, jnp.float32) * scale).astype(jnp.bfloat16)


def arrays_in() -> Program:
  """Four arrays of 256 MiB come in while twelve products run."""
  here, there = _memories()

  def offload(x: Any, w: Any, hosted: list[Any]) -> Any:
    sums = []
    for h in hosted:
      g = jax.device_put(h, here)
      for _ in range(3):
        x = jnp.tanh(x @ w)
      sums.append((g * 2 + x[:1, :1].astype(g.dtype)).sum())
    return x.sum(), sums

  hosted = [jax.device_put(jnp.ones((64, 1024, 1024), jnp.float32), there) for _ in range(4)]
  return offload, (_normal((8192, 8192), 0), _normal((8192, 8192), 1, 0.01), hosted)


def activations() -> Program:
  """Activations of six layers go out to the host, and come back for the backward pass."""
  here, there = _memories()

  def train(x: Any, weights: list[Any]) -> Any:
    kept = []
    for w in weights:
      # Else XLA sees there and back, and does neither.
      kept.append(jax.lax.optimization_barrier(jax.device_put(x, there)))
      x = jnp.tanh(x @ w)
    g, gradients = x, []
    for w, out in zip(reversed(weights), reversed(kept)):
      gradients.append(jax.device_put(out, here).T @ g)
      g = jnp.tanh(g @ w.T)
    return g, gradients

  return train, (_normal((16384, 8192), 0), [_normal((8192, 8192), i + 1, 0.01) for i in range(6)])


def weights_in() -> Program:
  """Ten layers whose weights live on the host."""
  here, there = _memories()

  def infer(x: Any, hosted: list[Any]) -> Any:
    for h in hosted:
      w = jax.device_put(h, here)
      for _ in range(4):
        x = jnp.tanh(x @ w)
    return x

  hosted = [jax.device_put(_normal((8192, 8192), i + 1, 0.01), there) for i in range(10)]
  return infer, (_normal((4096, 8192), 0), hosted)


def _compiled(make: Callable[[], Program]) -> Call:
  function, values = make()
  step = jax.jit(function).lower(*values).compile()
  return lambda: step(*values)


def _scheduled(make: Callable[[], Program]) -> Call:
  with schedule.install(headroom=HEADROOM) as installed:
    call = _compiled(make)
  assert installed.schedules, "the scheduler saw no module"
  return call


def _case(name: str, make: Callable[[], Program]) -> Case:
  return Case(f"schedule {name}", {OURS: lambda: _scheduled(make), "XLA's order": lambda: _compiled(make)})


CASES = (
  _case("arrays from the host", arrays_in),
  _case("activations to the host and back", activations),
  _case("weights from the host", weights_in),
)

"""Programs whose speed depends on the order in which XLA runs them.

Two families. *Parallel* programs run on several devices and wait for collectives: gradients that are summed (data parallel), layers
that are cut (tensor parallel), microbatches that travel from stage to stage (pipelined loop). *Offload* programs run on one
device and wait for copies to and from the host's memory: the pattern of four arrays that come in while products run,
activations that go out and come back, weights that are streamed in layer by layer, an optimiser whose state stays on the host,
and products on a second stream.

Each entry of `PARALLEL` and `OFFLOAD` makes (function, arguments) of a size: 1.0 is meant for a GPU with 80 GB or more, tests use less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

Made = tuple[Callable[..., Any], tuple[Any, ...]]


def _side(size: float, of: int) -> int:
  """A dimension that is `of` at size 1, and a multiple of 128."""
  return max(128, int(of * size) // 128 * 128)


def _normal(shape: tuple[int, ...], seed: int, scale: float = 1.0) -> jax.Array:
  return (jax.random.normal(jax.random.key(seed), shape, jnp.float32) * scale).astype(jnp.bfloat16)


# --- several devices -----------------------------------------------------------------------------------------------


def _sharded(mesh: Mesh, shape: tuple[int, ...], spec: P) -> jax.ShapeDtypeStruct:
  """Only the type: these programs are compiled for devices that need not exist."""
  return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=NamedSharding(mesh, spec))


def data_parallel(devices: Sequence[Any], size: float) -> Made:
  """Each device has a part of the batch and all weights; gradients are summed over the devices, layer by layer."""
  mesh = Mesh(np.array(devices), ("data",))
  width, rows, layers = _side(size, 4096), _side(size, 8192), 8

  def loss(weights: list[Any], x: Any) -> Any:
    for w in weights:
      x = jnp.tanh(x @ w)
    return jnp.mean(x.astype(jnp.float32) ** 2)

  def step(weights: list[Any], x: Any) -> Any:
    gradients = jax.grad(loss)(weights, x)
    return [w - 0.1 * lax.pmean(g, "data") for w, g in zip(weights, gradients)]

  run = jax.shard_map(step, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
  weights = [_sharded(mesh, (width, width), P()) for _ in range(layers)]
  return run, (weights, _sharded(mesh, (rows, width), P("data")))


def tensor_parallel(devices: Sequence[Any], size: float) -> Made:
  """Every layer is cut over the devices: activations are gathered before the first product and scattered after the second."""
  mesh = Mesh(np.array(devices), ("model",))
  width, rows, layers = (
    _side(size, 4096),
    _side(size, 8192),
    4,
  )  # XLA merges products of the two halves that are smaller

  def layer(x: Any, w_in: Any, w_out: Any) -> Any:
    whole = lax.all_gather(x, "model", axis=0, tiled=True)
    hidden = jax.nn.gelu(whole @ w_in)
    return x + lax.psum_scatter(hidden @ w_out, "model", scatter_dimension=0, tiled=True)

  def forward(x: Any, y: Any, weights: list[Any]) -> Any:
    for w_in, w_out in weights:  # two halves of the batch, so that one can compute while the other communicates
      x, y = layer(x, w_in, w_out), layer(y, w_in, w_out)
    return x, y

  cut = (P(None, "model"), P("model", None))
  specs = (P("model"), P("model"), [cut] * layers)
  run = jax.shard_map(forward, mesh=mesh, in_specs=specs, out_specs=(P("model"), P("model")), check_vma=False)
  pair = (_sharded(mesh, (width, 4 * width), cut[0]), _sharded(mesh, (4 * width, width), cut[1]))
  batch = _sharded(mesh, (rows, width), P("model"))
  return run, (batch, batch, [pair] * layers)


def pipelined_loop(devices: Sequence[Any], size: float) -> Made:
  """Stages in a ring: in every trip each device computes on what it has and hands the trip before's result on."""
  mesh = Mesh(np.array(devices), ("stage",))
  count = len(devices)
  width, rows, trips = _side(size, 4096), _side(size, 2048), 8
  ring = [(i, (i + 1) % count) for i in range(count)]

  def run_stage(x: Any, w: Any, v: Any) -> Any:
    def trip(state: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], None]:
      here, ready = state
      arrived = lax.ppermute(ready, "stage", ring)
      made = jnp.tanh(jnp.tanh(here @ w[0]) @ v[0])
      return (arrived, made), None

    return lax.scan(trip, (x, x), None, length=trips)[0]

  spec = P("stage")
  run = jax.shard_map(run_stage, mesh=mesh, in_specs=(spec, spec, spec), out_specs=spec, check_vma=False)
  weights = _sharded(mesh, (count, width, width), spec)
  return run, (_sharded(mesh, (rows * count, width), spec), weights, weights)


def fully_sharded(devices: Sequence[Any], size: float) -> Made:
  """Weights are cut over the devices and gathered before each layer; gradients are scattered."""
  mesh = Mesh(np.array(devices), ("data",))
  width, rows, layers = _side(size, 8192), _side(size, 16384), 6

  def loss(parts: list[Any], x: Any) -> Any:
    for part in parts:
      x = jnp.tanh(x @ lax.all_gather(part, "data", axis=0, tiled=True))
    return jnp.mean(x.astype(jnp.float32) ** 2)

  def step(parts: list[Any], x: Any) -> Any:
    return [w - 0.1 * g for w, g in zip(parts, jax.grad(loss)(parts, x))]

  spec = P("data")
  run = jax.shard_map(step, mesh=mesh, in_specs=(spec, spec), out_specs=spec, check_vma=False)
  return run, ([_sharded(mesh, (width, width), spec)] * layers, _sharded(mesh, (rows, width), spec))


# --- one device and its host ---------------------------------------------------------------------------------------


class Host:
  """The two memories of a device."""

  def __init__(self, device: Any) -> None:
    self.host = SingleDeviceSharding(device, memory_kind="pinned_host")
    self.device = SingleDeviceSharding(device, memory_kind="device")

  def here(self, x: Any) -> Any:
    return jax.device_put(x, self.device)

  def there(self, x: Any) -> Any:
    return jax.device_put(x, self.host)


def arrays_in(device: Any, size: float) -> Made:
  """Four arrays come in from the host while a chain of products runs; each is needed after three more products."""
  place = Host(device)
  width, depth = _side(size, 8192), max(1, int(64 * size))

  def offload(x: Any, w: Any, hosted: list[Any]) -> Any:
    sums = []
    for h in hosted:
      g = place.here(h)
      for _ in range(3):
        x = jnp.tanh(x @ w)
      sums.append((g * 2 + x[:1, :1].astype(g.dtype)).sum())
    return x.sum(), sums

  hosted = [place.there(jnp.ones((depth, 1024, 1024), jnp.float32)) for _ in range(4)]
  return offload, (_normal((width, width), 0), _normal((width, width), 1, 0.01), hosted)


def activations(device: Any, size: float) -> Made:
  """Activations go out to the host after the forward pass of their layer, and come back for its backward pass."""
  place = Host(device)
  width, rows, layers = _side(size, 8192), _side(size, 16384), 6

  def train(x: Any, weights: list[Any]) -> Any:
    kept = []
    for w in weights:
      kept.append(
        lax.optimization_barrier(place.there(x))
      )  # without it XLA sees there and back again, and does neither
      x = jnp.tanh(x @ w)
    g, gradients = x, []
    for w, out in zip(reversed(weights), reversed(kept)):
      back = place.here(out)
      gradients.append(back.T @ g)
      g = jnp.tanh(g @ w.T)
    return g, gradients

  weights = [_normal((width, width), i + 1, 0.01) for i in range(layers)]
  return train, (_normal((rows, width), 0), weights)


def weights_streamed(device: Any, size: float) -> Made:
  """Weights live on the host and are brought in layer by layer, for a batch too small to hide them one at a time."""
  place = Host(device)
  width, rows, layers = _side(size, 8192), _side(size, 4096), 10

  def infer(x: Any, hosted: list[Any]) -> Any:
    for h in hosted:
      w = place.here(h)
      for _ in range(4):
        x = jnp.tanh(x @ w)
    return x

  hosted = [place.there(_normal((width, width), i + 1, 0.01)) for i in range(layers)]
  return infer, (_normal((rows, width), 0), hosted)


def optimiser_state(device: Any, size: float) -> Made:
  """Momenta stay on the host: each comes in, is updated with its gradient, and goes out again, while other gradients are made."""
  place = Host(device)
  width, rows, layers = _side(size, 8192), _side(size, 8192), 6

  def update(x: Any, weights: list[Any], momenta: list[Any]) -> Any:
    new_weights, new_momenta = [], []
    for w, m in zip(weights, momenta):
      y = jnp.tanh(x @ w)
      gradient = x.T @ y
      moment = place.here(m) * 0.9 + gradient
      new_weights.append(w - 0.1 * moment)
      new_momenta.append(place.there(moment))
      x = jnp.tanh(y @ w)
    return new_weights, new_momenta

  weights = [_normal((width, width), i + 1, 0.01) for i in range(layers)]
  momenta = [place.there(jnp.zeros((width, width), jnp.bfloat16)) for _ in range(layers)]
  return update, (_normal((rows, width), 0), weights, momenta)


def on_stream(function: Callable[..., Any], stream: int) -> Callable[..., Any]:
  """The function on another stream of a GPU; elsewhere as it is. JAX changed how one says so."""
  from jax.experimental import compute_on as module

  kind, newer = f"gpu_stream:{stream}", getattr(module, "compute_on2", module.compute_on)
  return newer(function, compute_type=kind, out_memory_spaces=jax.memory.Space.Device)


def second_stream(device: Any, size: float) -> Made:
  """Small products on a stream of their own, beside a chain of memory-bound work on the main one."""
  del device
  width, rows = _side(size, 2048), _side(size, 65536)
  aside = on_stream(lambda a, b: jnp.tanh(a @ b) @ b, 1)

  def both(w: Any, y: Any) -> Any:
    results = []
    for i in range(4):
      side = aside(w * (i + 1), w)
      for _ in range(3):
        y = lax.optimization_barrier(jnp.tanh(y * 0.5 + 0.1))
      results.append(side.sum() + y[0, 0].astype(side.dtype))
    return y, results

  return both, (_normal((width, width), 1, 0.01), _normal((rows, 1024), 2))


PARALLEL: dict[str, Callable[[Sequence[Any], float], Made]] = {
  "data_parallel": data_parallel,
  "tensor_parallel": tensor_parallel,
  "pipelined_loop": pipelined_loop,
  "fully_sharded": fully_sharded,
}
OFFLOAD: dict[str, Callable[[Any, float], Made]] = {
  "arrays_in": arrays_in,
  "activations": activations,
  "weights_streamed": weights_streamed,
  "optimiser_state": optimiser_state,
  "second_stream": second_stream,
}

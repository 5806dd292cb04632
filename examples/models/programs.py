"""Training and inference steps on several devices, as `jax.shard_map` programs with their collectives written out.

    fsdp_transformer     weights in parts, gathered layer by layer; gradients scattered
    tensor_parallel      each matrix product on a part of the columns or rows, two microbatches
    pipeline_parallel    layers on different devices, activations handed on
    mixture_of_experts   tokens sent to the devices of their experts and back, beside a dense branch
    context_parallel     attention over a sequence in parts: keys and values travel around a ring

Each entry of `MODELS` makes (function, arguments) for a list of devices and a size. Arguments are types with shardings: a program can be
lowered for devices that are not there. `values` makes arrays of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Made = tuple[Callable[..., Any], tuple[Any, ...]]
AXIS = "d"


def _side(size: float, of: int, unit: int) -> int:
  """A dimension that is `of` at size 1, and a multiple of `unit`."""
  return max(unit, int(of * size) // unit * unit)


def _mesh(devices: Sequence[Any]) -> Mesh:
  return Mesh(np.array(devices), (AXIS,))


def _type(mesh: Mesh, shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
  return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def _mapped(mesh: Mesh, function: Callable[..., Any], arguments: Sequence[Any], out: Any) -> Callable[..., Any]:
  specs = tuple(jax.tree.map(lambda a: a.sharding.spec, a) for a in arguments)
  return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=out, check_vma=False)


def values(arguments: Sequence[Any], seed: int = 0) -> tuple[Any, ...]:
  """Arrays of the types, small numbers."""
  rng = np.random.default_rng(seed)

  def make(a: jax.ShapeDtypeStruct) -> jax.Array:
    return jax.device_put((rng.standard_normal(a.shape) * 0.05).astype(a.dtype), a.sharding)

  return tuple(jax.tree.map(make, a) for a in arguments)


def fsdp_transformer(devices: Sequence[Any], size: float) -> Made:
  """A step of training. Every layer gathers its weights; the gradient of a gather scatters the layer's gradient."""
  mesh, n = _mesh(devices), len(devices)
  width, tokens, layers = _side(size, 4096, 8 * n), _side(size, 4096, n), 6
  weights = (
    _type(mesh, (layers, width, width), None, AXIS),
    _type(mesh, (layers, width, 2 * width), None, AXIS),
    _type(mesh, (layers, 2 * width, width), None, AXIS),
  )
  x = _type(mesh, (n * tokens // 4, width), AXIS)

  def layer(h: jax.Array, parts: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
    mix, up, down = (lax.all_gather(w, AXIS, tiled=True) for w in parts)
    h = h + jnp.tanh(h @ mix)
    return h + jax.nn.gelu(h @ up) @ down, None

  def loss(w: tuple[jax.Array, ...], h: jax.Array) -> jax.Array:
    return jnp.mean(jnp.square(lax.scan(layer, h, w)[0]))

  def step(w: tuple[jax.Array, ...], h: jax.Array) -> tuple[jax.Array, ...]:
    total, gradients = jax.value_and_grad(loss)(w, h)
    return lax.pmean(total, AXIS), *jax.tree.map(lambda p, g: p - 0.1 * g, w, gradients)

  arguments = (weights, x)
  return _mapped(mesh, step, arguments, (P(), *(P(None, AXIS),) * 3)), arguments


def tensor_parallel(devices: Sequence[Any], size: float) -> Made:
  """Products by columns, then by rows with a sum over the devices. Two microbatches need nothing of each other."""
  mesh, n = _mesh(devices), len(devices)
  width, tokens, layers = _side(size, 4096, 8 * n), _side(size, 2048, 8), 6
  weights = (
    _type(mesh, (layers, width, 4 * width), None, None, AXIS),
    _type(mesh, (layers, 4 * width, width), None, AXIS),
  )
  x = _type(mesh, (2, tokens, width))

  def layer(hs: tuple[jax.Array, ...], parts: tuple[jax.Array, ...]) -> tuple[tuple[jax.Array, ...], None]:
    up, down = parts
    return tuple(h + lax.psum(jax.nn.gelu(h @ up) @ down, AXIS) for h in hs), None

  def step(w: tuple[jax.Array, ...], h: jax.Array) -> jax.Array:
    return jnp.stack(lax.scan(layer, (h[0], h[1]), w)[0])

  arguments = (weights, x)
  return _mapped(mesh, step, arguments, P()), arguments


def pipeline_parallel(devices: Sequence[Any], size: float) -> Made:
  """Each device has some layers. In every step it works on what it was handed, and hands on what it made the step before."""
  mesh, n = _mesh(devices), len(devices)
  width, tokens, microbatches = _side(size, 4096, 64), _side(size, 2048, 8), 8
  weights = _type(mesh, (n, 2, width, width), AXIS)
  x = _type(mesh, (microbatches, tokens, width))
  following = [(i, (i + 1) % n) for i in range(n)]

  def stage(w: jax.Array, h: jax.Array) -> jax.Array:
    for part in w:
      h = jnp.tanh(h @ part)
    return h

  def step(w: jax.Array, xs: jax.Array) -> jax.Array:
    first = lax.axis_index(AXIS) == 0

    def trip(carry: tuple[jax.Array, jax.Array], t: jax.Array) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
      made, inbox = carry
      arrived = lax.ppermute(made, AXIS, following)
      fresh = lax.dynamic_index_in_dim(xs, jnp.minimum(t, microbatches - 1), keepdims=False)
      out = stage(w[0], jnp.where(first, fresh, inbox))
      return (out, arrived), jnp.mean(jnp.square(out))

    zero = jnp.zeros((tokens, width), jnp.float32)
    _, losses = lax.scan(trip, (zero, zero), jnp.arange(microbatches + 2 * n))
    return lax.pmean(losses, AXIS)

  arguments = (weights, x)
  return _mapped(mesh, step, arguments, P()), arguments


def mixture_of_experts(devices: Sequence[Any], size: float) -> Made:
  """One expert per device. A dense branch and the router's loss are computed while tokens travel."""
  mesh, n = _mesh(devices), len(devices)
  width, tokens, layers = _side(size, 2048, 8 * n), _side(size, 4096, 8 * n), 4
  weights = (
    _type(mesh, (layers, n, width, 4 * width), None, AXIS),
    _type(mesh, (layers, n, 4 * width, width), None, AXIS),
    _type(mesh, (layers, width, width)),
    _type(mesh, (layers, width, n)),
  )
  x = _type(mesh, (n * tokens, width), AXIS)

  def layer(h: jax.Array, parts: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
    up, down, dense, router = parts
    scores = jax.nn.softmax(h @ router)
    gate = jnp.max(scores, axis=-1, keepdims=True)
    outbox = h.reshape(n, -1, width)  # equal shares: routing by position keeps the program static
    inbox = lax.all_to_all(outbox, AXIS, 0, 0, tiled=True)
    made = jax.nn.gelu(inbox @ up[0]) @ down[0]
    back = lax.all_to_all(made, AXIS, 0, 0, tiled=True).reshape(h.shape)
    balance = lax.pmean(jnp.mean(scores, axis=0), AXIS)
    return h + gate * back + jnp.tanh(h @ dense), jnp.sum(jnp.square(balance))

  def step(w: tuple[jax.Array, ...], h: jax.Array) -> tuple[jax.Array, jax.Array]:
    h, balances = lax.scan(layer, h, w)
    return h, jnp.sum(balances)

  arguments = (weights, x)
  return _mapped(mesh, step, arguments, (P(AXIS), P())), arguments


def context_parallel(devices: Sequence[Any], size: float) -> Made:
  """Ring attention: a device attends to the keys and values it holds while the next ones arrive. Then a product, and a sum."""
  mesh, n = _mesh(devices), len(devices)
  heads, depth, tokens = 8, 128, _side(size, 2048, 8)
  width = heads * depth
  weights = _type(mesh, (4, width, width))
  x = _type(mesh, (n * tokens, width), AXIS)
  following = [(i, (i + 1) % n) for i in range(n)]

  def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    def trip(carry: tuple[jax.Array, ...], _: None) -> tuple[tuple[jax.Array, ...], None]:
      top, total, out, k, v = carry
      scores = jnp.einsum("qhd,khd->hqk", q, k) / np.sqrt(depth)
      new = jnp.maximum(top, scores.max(-1))
      scale, weight = jnp.exp(top - new), jnp.exp(scores - new[..., None])
      total = total * scale + weight.sum(-1)
      out = out * scale[..., None] + jnp.einsum("hqk,khd->hqd", weight, v)
      return (new, total, out, lax.ppermute(k, AXIS, following), lax.ppermute(v, AXIS, following)), None

    rows = q.shape[0]
    top = jnp.full((heads, rows), -jnp.inf, jnp.float32)
    total, out = jnp.zeros((heads, rows), jnp.float32), jnp.zeros((heads, rows, depth), jnp.float32)
    (_, total, out, _, _), _ = lax.scan(trip, (top, total, out, k, v), None, length=n)
    return (out / total[..., None]).transpose(1, 0, 2).reshape(rows, width)

  def step(w: jax.Array, h: jax.Array) -> tuple[jax.Array, jax.Array]:
    q, k, v = ((h @ w[i]).reshape(-1, heads, depth) for i in range(3))
    out = h + attention(q, k, v) @ w[3]
    return out, lax.psum(jnp.mean(jnp.square(out)), AXIS)

  arguments = (weights, x)
  return _mapped(mesh, step, arguments, (P(AXIS), P())), arguments


MODELS: dict[str, Callable[[Sequence[Any], float], Made]] = {
  f.__name__: f for f in (fsdp_transformer, tensor_parallel, pipeline_parallel, mixture_of_experts, context_parallel)
}

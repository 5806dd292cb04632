"""Rows of `tilewright bench` for plain programs: with `tilewright.accelerate`, by XLA alone, and written with library kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tilewright import ops
from tilewright.cli.bench import OURS, Call, Case, Measured
from tilewright.cli.bench_queue import SETS, time_of_one

XLA, OPS = "XLA", "tilewright.ops"


def layer_norm(x: jax.Array, g: jax.Array, b: jax.Array) -> jax.Array:
  mean = x.mean(-1, keepdims=True)
  return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b


def rms_norm(x: jax.Array, g: jax.Array) -> jax.Array:
  return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g


def gated_gelu(x: jax.Array, y: jax.Array) -> jax.Array:
  return jax.nn.gelu(x) * y


def cross_entropy(x: jax.Array, labels: jax.Array) -> jax.Array:
  return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean()


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
  s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
  s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e30)
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)


def library_attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
  return ops.attention(*(x.swapaxes(1, 2) for x in (q, k, v)), causal=True).swapaxes(1, 2)


def training_step(p: Mapping[str, jax.Array], x: jax.Array, y: jax.Array) -> Any:
  """A transformer block, the derivative of a loss, and the update."""

  def loss(p: Mapping[str, jax.Array]) -> jax.Array:
    batch, length, width = x.shape
    h = layer_norm(x, p["g1"], p["b1"])
    q, k, v = ((h @ p[n]).reshape(batch, length, width // 64, 64) for n in ("q", "k", "v"))
    z = x + attention(q, k, v).reshape(x.shape) @ p["o"]
    h = layer_norm(z, p["g2"], p["b2"])
    return jnp.mean((z + jax.nn.gelu(h @ p["up"]) @ p["down"] - y) ** 2)

  value, slopes = jax.value_and_grad(loss)(p)
  return value, jax.tree.map(lambda a, g: a - 0.1 * g, p, slopes)


def decode(weights: list[tuple[jax.Array, jax.Array]], x: jax.Array) -> jax.Array:
  for w, scales in weights:
    x = jax.nn.gelu(x @ (w.astype(jnp.float32) * scales))
  return x


def convolution_block(p: Mapping[str, jax.Array], x: jax.Array) -> jax.Array:
  """Depthwise, then pointwise, each with a bias and a gate as mobile networks have it."""
  convolve = functools.partial(jax.lax.conv_general_dilated, dimension_numbers=("NHWC", "HWIO", "NHWC"))
  h = convolve(x, p["depth"], (1, 1), "SAME", feature_group_count=x.shape[-1]) + p["b1"]
  return jax.nn.silu(convolve(jax.nn.silu(h), p["point"], (1, 1), "SAME") + p["b2"])


def convolution_arrays(side: int, channels: int, results: int) -> list[Any]:
  shapes = {"depth": (3, 3, 1, channels), "b1": (channels,), "point": (1, 1, channels, results), "b2": (results,)}
  return [dict(zip(shapes, normal(*shapes.values()))), *normal((1, side, side, channels))]


_WEIGHTS = {(1024, 1024), (1024, 4096), (4096, 1024)}  # drawn so that products keep the size of their operands


def normal(*shapes: tuple[int, ...]) -> list[jax.Array]:
  draw = np.random.default_rng(0).normal
  return [jnp.asarray(draw(size=s) * (s[0] ** -0.5 if s in _WEIGHTS else 1.0), jnp.float32) for s in shapes]


def block_arrays(width: int, length: int) -> list[Any]:
  d, f = (width, width), (width, 4 * width)
  names = {"q": d, "k": d, "v": d, "o": d, "up": f, "down": f[::-1], "g1": d[:1], "b1": d[:1], "g2": d[:1], "b2": d[:1]}
  return [dict(zip(names, normal(*names.values()))), *normal((1, length, width), (1, length, width))]


def decode_arrays(width: int, layers: int) -> list[Any]:
  random = np.random.default_rng(0)
  one = lambda: (
    jnp.asarray(random.integers(-127, 128, (width, width)), jnp.int8),
    jnp.asarray(random.random(width) * width**-0.5 / 64, jnp.float32),
  )
  return [[one() for _ in range(layers)], jnp.asarray(random.normal(size=(1, width)), jnp.float32)]


def labelled(rows: int, width: int) -> list[Any]:
  labels = np.random.default_rng(0).integers(0, width, rows)
  return [*normal((rows, width)), jnp.asarray(labels, jnp.int32)]


def _compiled(f: Callable[..., Any], args: list[Any], accelerated: bool) -> Call:
  from tilewright.accelerate import accelerate

  if accelerated:
    with accelerate():
      program = jax.jit(lambda *a: f(*a)).lower(*args).compile()
  else:
    program = jax.jit(lambda *a: f(*a)).lower(*args).compile()
  return lambda: jax.block_until_ready(program(*args))


def _row(
  name: str,
  f: Callable[..., Any],
  args: Callable[[], list[Any]],
  goal: float,
  library: Callable[..., Any] | None = None,
) -> Case:
  contenders: dict[str, Callable[[], Call]] = {
    OURS: lambda: _compiled(f, args(), True),
    XLA: lambda: _compiled(f, args(), False),
  }
  goals = {XLA: goal}
  if library is not None:
    contenders[OPS] = lambda: _compiled(library, args(), False)
    goals[OPS] = 0.95
  return Case(f"accelerate {name}", contenders, goals=goals)


def _slope(f: Callable[..., Any], count: int) -> Callable[..., Any]:
  return jax.grad(lambda *a: (f(*a) ** 2).sum(), tuple(range(count)))


_N = 4096
_MATRIX = lambda: normal((_N, _N))
_NORM = lambda: [*normal((_N, _N)), jnp.ones(_N), jnp.zeros(_N)]
_HEADS = lambda: normal(*[(1, 2048, 8, 64)] * 3)

CASES: tuple[Case, ...] = (
  _row("softmax f32 4096x4096", jax.nn.softmax, _MATRIX, 1.4, ops.softmax),
  _row("softmax f32 4096x4096, derivative", _slope(jax.nn.softmax, 1), _MATRIX, 1.4, _slope(ops.softmax, 1)),
  _row("layer_norm f32 4096x4096", layer_norm, _NORM, 1.4, ops.layer_norm),
  _row("layer_norm f32 4096x4096, derivative", _slope(layer_norm, 3), _NORM, 1.4, _slope(ops.layer_norm, 3)),
  _row("rms_norm f32 4096x4096", rms_norm, lambda: _NORM()[:2], 1.4, ops.rms_norm),
  _row("gelu, gated f32 4096x4096", gated_gelu, lambda: [*_MATRIX(), *_MATRIX()], 1.2),
  _row("cross_entropy f32 4096x4096", cross_entropy, lambda: labelled(_N, _N), 1.4),
  _row("cross_entropy f32 4096x4096, derivative", jax.value_and_grad(cross_entropy), lambda: labelled(_N, _N), 1.4),
  _row("causal attention f32 8 heads 2048x64", attention, _HEADS, 2, library_attention),
  _row(
    "causal attention f32 8 heads 2048x64, derivative", _slope(attention, 3), _HEADS, 2, _slope(library_attention, 3)
  ),
  _row("transformer block training step f32 1024, 2048 tokens", training_step, lambda: block_arrays(1024, 2048), 1.2),
  _row(
    "depthwise and pointwise convolution f32 224x224, 32 to 64",
    convolution_block,
    lambda: convolution_arrays(224, 32, 64),
    1.2,
  ),
  _row("int8 weights decode step f32 8 layers 2048", decode, lambda: decode_arrays(2048, 8), 3),
)


# --- on a GPU ----------------------------------------------------------------------------------------------------


def _queued(f: Callable[..., Any], args: Callable[[], list[Any]], accelerated: bool) -> Call:
  """The device's time of one call, from a program with several, each on arrays of its own."""
  from tilewright.accelerate import accelerate

  sets = [args() for _ in range(SETS)]
  many = jax.jit(lambda sets: [f(*own) for own in sets])
  if accelerated:
    with accelerate(platforms=("cpu", "cuda")):
      program = many.lower(sets).compile()
  else:
    program = many.lower(sets).compile()
  jax.block_until_ready(program(sets))
  return lambda: Measured(time_of_one(lambda: program(sets), jax.block_until_ready) / SETS)


def _gpu_row(
  name: str,
  f: Callable[..., Any],
  args: Callable[[], list[Any]],
  goal: float,
  library: Callable[..., Any] | None = None,
) -> Case:
  contenders: dict[str, Callable[[], Call]] = {
    OURS: lambda: _queued(f, args, True),
    XLA: lambda: _queued(f, args, False),
  }
  goals = {XLA: goal}
  if library is not None:
    contenders[OPS] = lambda: _queued(library, args, False)
    goals[OPS] = 0.95
  return Case(f"accelerate {name}", contenders, goals=goals)


def _bf16(values: Callable[[], list[Any]]) -> Callable[[], list[Any]]:
  narrow = lambda x: x.astype(jnp.bfloat16) if x.dtype == jnp.float32 else x
  return lambda: jax.tree.map(narrow, values())


_MANY_HEADS = _bf16(lambda: normal(*[(2, 4096, 16, 64)] * 3))
_SAME_ATTENTION = "causal attention bf16 2x16 heads 4096x64"

GPU_CASES: tuple[Case, ...] = (
  _gpu_row(_SAME_ATTENTION, attention, _MANY_HEADS, 2, library_attention),
  _gpu_row(f"{_SAME_ATTENTION}, derivative", _slope(attention, 3), _MANY_HEADS, 2, _slope(library_attention, 3)),
  _gpu_row("block training step bf16 1024, 2048 tokens", training_step, _bf16(lambda: block_arrays(1024, 2048)), 1.1),
  _gpu_row("int8 weights decode step f32 8 layers 2048", decode, lambda: decode_arrays(2048, 8), 1.5),
  _gpu_row("softmax bf16 4096x4096", jax.nn.softmax, _bf16(_MATRIX), 1.0, ops.softmax),
  _gpu_row("cross_entropy f32 4096x4096, derivative", jax.value_and_grad(cross_entropy), lambda: labelled(_N, _N), 1.0),
  _gpu_row("layer_norm f32 4096x4096", layer_norm, _NORM, 1.0, ops.layer_norm),
  _gpu_row("layer_norm f32 4096x4096, derivative", _slope(layer_norm, 3), _NORM, 1.0, _slope(ops.layer_norm, 3)),
)

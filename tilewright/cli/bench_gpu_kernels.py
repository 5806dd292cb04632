"""GPU rows of native kernels: memory-bound ones beside XLA, `torch.compile` and a copy of as many bytes, and a plain matmul.

A time is the device's: a program calls the kernel on several sets of arrays, and many such programs are queued (`bench_queue`); the time
of a call is its share of one. The row against the copy gives the fraction of the memory bandwidth. Small arrays, whose kernels are shorter
than their launch on the host, are timed by the device's clock (`bench_events`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import ops
from tilewright import pallas as pl
from tilewright.cli import bench_events, bench_torch
from tilewright.cli.bench import OURS, Call, Case, Measured
from tilewright.cli.bench_queue import SETS, time_of_one
from tilewright.pallas import nvgpu
from tilewright.pallas import tpu as pltpu

ROWS, COLUMNS = 16384, 8192
_GOALS = {"XLA": 1.0, "torch.compile": 1.0, "copy": 0.92}
_HEAD = 128
_ROUNDS = 9  # at least: these rows are told apart by a percent
F32, BF16 = jnp.float32, jnp.bfloat16
Values = Callable[[], tuple[Any, ...]]
S = jax.ShapeDtypeStruct


def normal(shape: tuple[int, ...], seed: int) -> jax.Array:
  return jax.random.normal(jax.random.key(seed), shape, F32).astype(BF16)


def queued(
  function: Callable[..., Any], values: tuple[Any, ...], share: float = 1.0, options: dict[str, Any] | None = None
) -> Call:
  """The time of one call of many, times `share`; `options` are XLA's."""
  jitted = jax.jit(function, compiler_options=options)
  jax.block_until_ready(jitted(*values))
  return lambda: Measured(share * time_of_one(lambda: jitted(*values), jax.block_until_ready))


def device_time(function: Callable[..., Any], values: Values, share: float = 1.0) -> Call:
  """The device's time of one call, times `share`, from programs with several calls, each on arrays of its own."""
  return queued(lambda sets: [function(*v) for v in sets], ([values() for _ in range(SETS)],), share / SETS)


def _copy(nbytes: int) -> Call:
  """A copy from device memory to device memory that reads and writes `nbytes` bytes in total."""
  return device_time(jnp.copy, lambda: (_X(),), share=nbytes / (2 * _ARRAY))


def _blocked(body: Callable[..., Any], num_inputs: int, dtype: Any = BF16, width: int = 2048) -> Callable[..., Any]:
  """A kernel that applies `body` to a part of one row of each array."""

  def call(*arrays: Any) -> Any:
    def kernel(*refs: Any) -> None:
      refs[-1][...] = body(*(r[...].astype(F32) for r in refs[:-1])).astype(refs[-1].dtype)

    rows, columns = arrays[0].shape
    spec = pl.BlockSpec((1, width), lambda i, j: (i, j))
    return pl.pallas_call(
      kernel,
      S(arrays[0].shape, dtype),
      grid=(rows, columns // width),
      in_specs=[spec] * num_inputs,
      out_specs=spec,
      compiler_params=nvgpu.CompilerParams(),
    )(*arrays)

  return call


def _plain(body: Callable[..., Any]) -> Callable[..., Any]:
  """What XLA is given: the same function on whole arrays."""
  return lambda x, *others: body(x.astype(F32), *(y.astype(F32) for y in others)).astype(x.dtype)


def _gelu_gate(x: Any, g: Any) -> Any:
  return jax.nn.gelu(x) * g


def _softmax(x: Any) -> Any:
  e = jnp.exp(x - x.max(1, keepdims=True))
  return e / e.sum(1, keepdims=True)


def _rms_norm(x: Any, w: Any) -> Any:
  return x * jax.lax.rsqrt(jnp.mean(x * x, 1, keepdims=True) + 1e-6) * w


def _layer_norm(x: Any, w: Any, b: Any) -> Any:
  d = x - jnp.mean(x, 1, keepdims=True)
  return d * jax.lax.rsqrt(jnp.mean(d * d, 1, keepdims=True) + 1e-6) * w + b


def _cross_entropy(x: Any, labels: Any) -> Any:
  logits = x.astype(F32)
  return jax.nn.logsumexp(logits, 1) - jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]


def _rotary(x: Any, cos: Any, sin: Any) -> Any:
  a, b = jnp.split(x.astype(F32), 2, -1)
  c, s = cos[:, None], sin[:, None]
  return jnp.concatenate([a * c - b * s, b * c + a * s], -1).astype(x.dtype)


def _rotated(rows: int = ROWS, columns: int = COLUMNS) -> tuple[Any, ...]:
  """Tokens of heads of 128, and the tables of their positions."""
  angle = jnp.arange(rows)[:, None] * 10000.0 ** (-jnp.arange(_HEAD // 2) / (_HEAD // 2))
  return normal((rows, columns // _HEAD, _HEAD), 0), jnp.cos(angle), jnp.sin(angle)


def transpose(x: Any, block: int = 128) -> Any:
  def kernel(x_ref: Any, o_ref: Any) -> None:
    o_ref[...] = x_ref[...].T

  return pl.pallas_call(
    kernel,
    S(x.shape[::-1], x.dtype),
    grid=(x.shape[0] // block, x.shape[1] // block),
    in_specs=[pl.BlockSpec((block, block), lambda i, j: (i, j))],
    out_specs=pl.BlockSpec((block, block), lambda i, j: (j, i)),
    compiler_params=nvgpu.CompilerParams(),
  )(x)


def matmul(a: Any, b: Any, blocks: tuple[int, int, int] = (128, 256, 64)) -> Any:
  """A matmul as one writes it for any device: blocks of the result, accumulated along the last dimension of the grid."""
  bm, bn, bk = blocks

  def kernel(a_ref: Any, b_ref: Any, o_ref: Any, total: Any) -> None:
    @pl.when(pl.program_id(2) == 0)
    def _() -> None:
      total[...] = jnp.zeros_like(total)

    total[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _() -> None:
      o_ref[...] = total[...].astype(o_ref.dtype)

  (m, k), n = a.shape, b.shape[1]
  return pl.pallas_call(
    kernel,
    S((m, n), a.dtype),
    grid=(m // bm, n // bn, k // bk),
    in_specs=[pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)), pl.BlockSpec((bk, bn), lambda i, j, k: (k, j))],
    out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),
    scratch_shapes=[pltpu.VMEM((bm, bn), F32)],
    compiler_params=nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
  )(a, b)


def _small(name: str, ours: Any, xla: Any, *others: Callable[[], Any], values: Values | None = None) -> Case:
  """A row at 256x1024, where the cost of a kernel counts and the memory hardly does."""
  of = values or (lambda: (normal((256, 1024), 0), *(other() for other in others)))
  contenders = {OURS: lambda: bench_events.alone(ours, of), "XLA": lambda: bench_events.alone(xla, of)}
  return Case(f"gpu {name} 256x1024", contenders, goals={"XLA": 1.0})


def _case(
  name: str,
  ours: Any,
  xla: Any,
  values: Values,
  nbytes: int | None = None,
  goals: Mapping[str, float] = _GOALS,
) -> Case:
  contenders: dict[str, Callable[[], Call]] = {
    OURS: lambda: device_time(ours, values),
    "XLA": lambda: device_time(xla, values),
  }
  if name in bench_torch.PROGRAMS:
    contenders["torch.compile"] = lambda: bench_torch.compiled(name, values)
  if nbytes is not None:
    contenders["copy"] = lambda: _copy(nbytes)
  own_goals = {peer: goal for peer, goal in goals.items() if peer in contenders}
  return Case(f"gpu {name}", contenders, rounds=_ROUNDS, goals=own_goals)


_X = lambda: normal((ROWS, COLUMNS), 0)
_W = lambda seed: normal((COLUMNS,), seed)
_ARRAY = 2 * ROWS * COLUMNS  # bytes
_cast = lambda width: _blocked(lambda x: x, 1, F32, width)
_native = lambda op: lambda *values: op(*values, native=True)

_short = lambda seed: lambda: normal((1024,), seed)
_SMALL = (
  _small("softmax", _native(ops.softmax), _plain(_softmax)),
  _small("rms_norm", _native(ops.rms_norm), _plain(_rms_norm), _short(1)),
  _small("layer_norm", _native(ops.layer_norm), _plain(_layer_norm), _short(1), _short(2)),
  _small("gelu times gate", _blocked(_gelu_gate, 2, width=1024), _plain(_gelu_gate), lambda: normal((256, 1024), 3)),
  _small("cross_entropy", _native(ops.cross_entropy), _cross_entropy, lambda: jnp.arange(256, dtype=jnp.int32)),
  _small("rotary", _native(ops.rotary), _rotary, values=lambda: _rotated(256, 1024)),
  _small("cast", _cast(1024), lambda x: x.astype(F32)),
  _small("transpose", lambda x: transpose(x, 64), lambda x: x.T + 0),
)

CASES = (
  _case("softmax", _native(ops.softmax), _plain(_softmax), lambda: (_X(),), 2 * _ARRAY),
  _case("rms_norm", _native(ops.rms_norm), _plain(_rms_norm), lambda: (_X(), _W(1)), 2 * _ARRAY),
  _case("layer_norm", _native(ops.layer_norm), _plain(_layer_norm), lambda: (_X(), _W(1), _W(2)), 2 * _ARRAY),
  _case(
    "gelu times gate",
    _blocked(_gelu_gate, 2, width=8192),
    _plain(_gelu_gate),
    lambda: (_X(), normal((ROWS, COLUMNS), 3)),
    3 * _ARRAY,
  ),
  _case(
    "cross_entropy",
    _native(ops.cross_entropy),
    _cross_entropy,
    lambda: (_X(), jnp.arange(ROWS, dtype=jnp.int32) % COLUMNS),
    _ARRAY,
  ),
  _case("rotary", _native(ops.rotary), _rotary, _rotated, 2 * _ARRAY + 2 * 4 * ROWS * _HEAD // 2),
  _case("cast", _cast(512), lambda x: x.astype(F32), lambda: (_X(),), 3 * _ARRAY),
  _case("transpose", transpose, lambda x: x.T + 0, lambda: (_X(),), 2 * _ARRAY),
  *_SMALL,
  _case(
    "matmul 4096^3",
    matmul,
    lambda a, b: a @ b,
    lambda: (normal((4096, 4096), 0), normal((4096, 4096), 1)),
    goals={"XLA": 0.8},
  ),
)

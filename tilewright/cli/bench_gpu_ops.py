"""GPU rows of the library's kernels that multiply: attention, grouped products, the feed-forward layer.

Attention is compared with `jax.nn.dot_product_attention`, as XLA compiles it and by cuDNN; those get arrays in their preferred order,
(batch, length, heads, depth), so that no transpose is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from tilewright import ops
from tilewright.cli.bench import OURS, Call, Case
from tilewright.cli.bench_gpu_kernels import Values, device_time, normal

_HEADS = 16
_TOKENS, _WIDTH, _HIDDEN, _GROUPS = 4096, 2048, 4096, 8


def _case(name: str, ours: Any, values: Values, peers: Mapping[str, tuple[Any, Values]], *goals: str) -> Case:
  contenders: dict[str, Callable[[], Call]] = {OURS: lambda: device_time(ours, values)}
  contenders |= {peer: functools.partial(device_time, *own) for peer, own in peers.items()}
  return Case(f"gpu {name}", contenders, goals={peer: 1.0 for peer in goals})


def _attention(length: int, depth: int, causal: bool, *, slopes: bool = False) -> Case:
  def with_slopes(f: Callable[..., Any]) -> Callable[..., Any]:
    return (lambda q, k, v, g: jax.vjp(f, q, k, v)[1](g)) if slopes else lambda q, k, v, g: f(q, k, v)

  def arrays(*shape: int) -> Values:
    return lambda: tuple(normal(shape, seed) for seed in range(4))

  peer = lambda kind: with_slopes(
    functools.partial(jax.nn.dot_product_attention, is_causal=causal, implementation=kind)
  )
  in_rows = arrays(1, length, _HEADS, depth)
  name = f"attention {_HEADS} heads {length}x{depth}{', causal' * causal}{', derivatives' * slopes}"
  ours = with_slopes(functools.partial(ops.attention, causal=causal, native=True))
  peers = {"XLA, jax.nn": (peer("xla"), in_rows), "cuDNN, jax.nn": (peer("cudnn"), in_rows)}
  return _case(name, ours, arrays(1, _HEADS, length, depth), peers, "XLA, jax.nn")


def _sizes() -> jax.Array:
  """Rows of each group: none like another, one empty."""
  return jnp.array([700, 100, 0, 1000, 300, 996, 500, 500], jnp.int32)


def _groups() -> tuple[Any, ...]:
  return normal((_TOKENS, _WIDTH), 0), normal((_GROUPS, _WIDTH, _HIDDEN), 1), _sizes()


def _mlp() -> tuple[Any, ...]:
  up = (_WIDTH, _HIDDEN)
  return normal((_TOKENS, _WIDTH), 0), normal(up, 1), normal(up, 2), normal(up[::-1], 3)


def _swiglu_mlp(x: Any, gate: Any, up: Any, down: Any) -> Any:
  return (jax.nn.silu(x @ gate) * (x @ up)) @ down


CASES = (
  *(_attention(length, depth, causal) for length in (2048, 4096) for depth in (64, 128) for causal in (False, True)),
  *(_attention(2048, depth, True, slopes=True) for depth in (64, 128)),
  _case(
    f"grouped_matmul {_GROUPS} groups {_TOKENS}x{_WIDTH}x{_HIDDEN}",
    functools.partial(ops.grouped_matmul, native=True),
    _groups,
    {"XLA": (jax.lax.ragged_dot, _groups)},
    "XLA",
  ),
  _case(
    f"swiglu_mlp {_TOKENS}x{_WIDTH}x{_HIDDEN}",
    functools.partial(ops.swiglu_mlp, native=True),
    _mlp,
    {"XLA": (_swiglu_mlp, _mlp)},
    "XLA",
  ),
)

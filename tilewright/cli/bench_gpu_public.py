"""GPU rows of the Hopper kernels that come with JAX, `jax.experimental.pallas.ops.gpu`: compiled by us, and by Mosaic GPU.

Both contenders are one file. Ours is loaded with `replace_pallas`, so that its imports are our modules; the peer's is loaded as it is.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import tilewright
from tilewright.cli.bench import OURS, Call, Case
from tilewright.cli.bench_gpu_kernels import Values, device_time, normal
from tilewright.cli.bench_random import check_agreement

MOSAIC = "Mosaic GPU"
_PACKAGE = "jax.experimental.pallas.ops.gpu"
_GOAL = 0.95
_ERROR = 1e-2  # of the norm: roundings to bf16
_HEADS, _DEPTH, _LENGTH = 16, 128, 4096


def loaded(implementation: str, module: str) -> Any:
  """One of JAX's modules, with our names in it or with its own."""
  name = f"{_PACKAGE}.{module}"
  if implementation != OURS:
    return importlib.import_module(name)
  with tilewright.replace_pallas():
    return importlib.import_module(name)


def _case(name: str, module: str, call: Callable[[Any], Callable[..., Any]], values: Values) -> Case:
  """`call(module)` gives the function to be timed."""

  def ours() -> Call:
    own, theirs = (call(loaded(implementation, module)) for implementation in (OURS, MOSAIC))
    found, expected = (jax.tree.leaves(jax.jit(f)(*values()))[0] for f in (own, theirs))
    check_agreement(name, found, expected, _ERROR)
    return device_time(own, values)

  contenders = {OURS: ours, MOSAIC: lambda: device_time(call(loaded(MOSAIC, module)), values)}
  return Case(f"gpu public {name}", contenders, goals={MOSAIC: _GOAL})


def _split(module: Any, tile_n: int) -> Any:
  """The dimension along which the tiles of the two warpgroups are neighbours: four stages of two tiles of 256 columns have no room."""
  return module.MatmulDimension.M if tile_n > 128 else module.MatmulDimension.N


def _matmul(size: int, tile_m: int, tile_n: int, tile_k: int, dtype: Any = jnp.bfloat16, **more: Any) -> Case:
  def call(module: Any) -> Callable[..., Any]:
    config = module.TuningConfig(
      tile_m, tile_n, tile_k, 4, grid_tile_width=8, wg_dimension=_split(module, tile_n), **more
    )
    return lambda a, b: module.matmul(a, b, None, config)

  values = lambda: tuple(normal((size, size), seed).astype(dtype) for seed in range(2))
  name = f"hopper_matmul_mgpu {jnp.dtype(dtype).name} {size}^3, {tile_m}x{tile_n}x{tile_k}"
  return _case(name, "hopper_matmul_mgpu", call, values)


def _mixed(size: int, tile_m: int, tile_n: int, tile_k: int) -> Case:
  def call(module: Any) -> Callable[..., Any]:
    config = module.TuningConfig(tile_m, tile_n, tile_k, 4, grid_tile_width=8, wg_dimension=_split(module, tile_n))
    return functools.partial(module.mixed_matmul_kernel, out_dtype=jnp.bfloat16, config=config)

  def values() -> tuple[Any, ...]:
    left = jax.random.randint(jax.random.key(0), (size, size), -128, 127, jnp.int8)
    return left, normal((size, size), 1)

  name = f"hopper_mixed_type_matmul_mgpu {size}^3, {tile_m}x{tile_n}x{tile_k}"
  return _case(name, "hopper_mixed_type_matmul_mgpu", call, values)


def _ragged(size: int, groups: int, transposed: bool, block_m: int, block_n: int) -> Case:
  def call(module: Any) -> Callable[..., Any]:
    sizes = jnp.array([size // groups + (-1) ** g * 13 * (g // 2) for g in range(groups)], jnp.int32)
    sizes = sizes.at[-1].add(size - sizes.sum())
    blocks = {"block_m": block_m, "block_n": block_n, "block_k": 64, "max_concurrent_steps": 4, "grid_block_n": 4}
    return lambda x, w: module.ragged_dot(x, w, group_sizes=sizes, transpose_rhs=transposed, **blocks)

  values = lambda: (normal((size, size), 0).astype(jnp.float16), normal((groups, size, size), 1).astype(jnp.float16))
  name = f"ragged_dot_mgpu {size}^3, {groups} groups, {block_m}x{block_n}x64{', transposed' * transposed}"
  return _case(name, "ragged_dot_mgpu", call, values)


def _attention(function: str, block_kv: int, causal: bool = False) -> Case:
  def call(module: Any) -> Callable[..., Any]:
    config = module.TuningConfig(block_q=64, block_kv=block_kv, max_concurrent_steps=2, causal=causal)
    return lambda q, k, v: getattr(module, function)(q, k, v, config)

  shape = (1, _LENGTH, _HEADS, _DEPTH)
  values = lambda: tuple(normal(shape, seed).astype(jnp.float16) for seed in range(3))
  name = f"{function} {_HEADS} heads {_LENGTH}x{_DEPTH}, 64x{block_kv}{', causal' * causal}"
  return _case(f"attention_mgpu.{name}", "attention_mgpu", call, values)


CASES: tuple[Case, ...] = (
  *(_matmul(size, *tiles) for size in (4096, 8192) for tiles in ((128, 128, 64), (64, 256, 64), (128, 64, 64))),
  *(_mixed(4096, *tiles) for tiles in ((64, 256, 64), (64, 128, 64), (128, 128, 64))),
  _ragged(4096, 8, False, 64, 128),
  _ragged(4096, 8, True, 128, 128),
  *(_attention("attention", 128, causal) for causal in (False, True)),
  *(_attention("attention_with_pipeline_emitter", block_kv) for block_kv in (64, 128)),
)

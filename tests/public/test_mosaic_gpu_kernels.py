"""JAX's public kernels for Mosaic GPU, with only the imports changed, against float64: natively, and on the simulated machine."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from tests.support.mosaic_gpu_kernels import (
  BF16,
  F16,
  MATMULS,
  check_attention,
  check_attention_with_the_pipeline_emitter,
  check_derivatives_of_attention,
  check_hopper_matmul,
  check_hopper_mixed_type_matmul,
  check_ragged_dot,
  check_transposed_ragged_dot,
  close,
  exact,
  interpreted,
  module,
  random,
)
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.ir import protocol
from tilewright.target.nvgpu.passes import hand_written, lowering
from tilewright.tile.native import copied_kernel


@pytest.fixture(autouse=True)
def small_gpu() -> Iterator[None]:
  """A device of two SMs, so that persistent kernels have several tiles each."""
  with mock.patch.object(jax.Device, "core_count", 2, create=True):
    yield


@pytest.mark.parametrize("name", MATMULS)
@pytest.mark.parametrize("has_c", [False, True])
def test_hopper_matmul(name, has_c):
  check_hopper_matmul(name, has_c)


# --- several devices ---------------------------------------------------------------------------------------------


def between_devices(f: Callable[..., Any], into: tuple[P, ...], out: P) -> Callable[..., Any]:
  mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("x",))
  return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=into, out_specs=out, check_vma=False))


@pytest.mark.devices(2)
@pytest.mark.parametrize("is_simulated", [False, True])
def test_all_gather(is_simulated, caplog):
  m, x = module("all_gather"), random(32, 128, dtype=jnp.float32)
  gather = between_devices(lambda x: m.all_gather(x, axis_name="x"), (P("x"),), P())
  with interpreted(is_simulated):
    np.testing.assert_array_equal(gather(x), x)
  assert not caplog.records  # semaphores of a GPU kernel need not be back at zero


@pytest.mark.devices(2)
@pytest.mark.parametrize("is_simulated", [False, True])
@pytest.mark.parametrize("reduction, combine", [("add", np.add), ("max", np.maximum)])
def test_reduce_scatter(is_simulated, reduction, combine):
  m = module("reduce_scatter")
  x = jnp.asarray(np.random.default_rng(0).integers(-9, 9, (32, 256)), jnp.float32)
  scatter = between_devices(
    lambda x: m.reduce_scatter(x, axis_name="x", scatter_dimension=0, reduction=reduction), (P(None, "x"),), P("x")
  )
  with interpreted(is_simulated):
    np.testing.assert_array_equal(scatter(x), combine(*np.split(np.asarray(x), 2, axis=1)))


@pytest.mark.devices(2)
def test_all_gather_matmul():
  m = module("collective_matmul")
  matmul = m.hopper_matmul_mgpu
  config = matmul.TuningConfig(
    tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=2, wg_dimension=matmul.MatmulDimension.N
  )
  a, b = random(128, 64), random(64, 256, seed=1)
  multiply = functools.partial(m.all_gather_lhs_matmul, axis_name="x", config=config)
  here = mock.patch.multiple(jax, device_count=lambda: 2, local_device_count=lambda: 2)
  with interpreted(True), here:
    found = between_devices(multiply, (P("x"), P(None, "x")), P(None, "x"))(a, b)
  close(found, exact(a) @ exact(b), F16, 1.5)


# --- one device --------------------------------------------------------------------------------------------------


def test_a_matmul_of_two_warpgroups_on_the_simulated_machine():
  m = module("hopper_matmul")
  config = m.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=2, wg_dimension=m.MatmulDimension.M)
  a, b = random(128, 128), random(128, 64, seed=1)
  with interpreted(True):
    close(m.matmul(a, b, None, config), exact(a) @ exact(b), F16)


@pytest.mark.parametrize("collective", [False, True])
def test_blackwell_matmul(collective):
  """One warp asks for copies, one multiplies; with `collective`, for the two blocks of a cluster."""
  m = module("blackwell_matmul")
  config = m.TuningConfig(
    tile_m=128, tile_n=64, tile_k=64, max_concurrent_steps=2, collective=collective, epilogue_tile_n=32
  )
  a, b = random(256, 192), random(192, 256, seed=1)
  with interpreted(True):
    found = m.matmul_kernel(a, b, config)
  close(found, exact(a) @ exact(b), F16, 1.5)


@pytest.mark.parametrize("dtype, out_dtype", [(BF16, BF16), (F16, jnp.float32)])
def test_hopper_mixed_type_matmul(dtype, out_dtype):
  check_hopper_mixed_type_matmul(dtype, out_dtype)


@pytest.mark.parametrize("causal, kv_heads, is_simulated", [(False, 2, False), (True, 1, False), (True, 1, True)])
def test_attention(causal, kv_heads, is_simulated):
  check_attention(causal, kv_heads, is_simulated)


def test_attention_with_the_pipeline_emitter():
  check_attention_with_the_pipeline_emitter()


def test_derivatives_of_attention():
  check_derivatives_of_attention()


@pytest.mark.parametrize("dtype, transpose_rhs", [(F16, False), (BF16, True)])
def test_ragged_dot(dtype, transpose_rhs):
  check_ragged_dot(dtype, transpose_rhs)


def test_blackwell_ragged_dot():
  m = module("blackwell_ragged_dot")
  lhs, rhs, group_sizes = random(256, 64, dtype=BF16), random(3, 64, 128, dtype=BF16, seed=1), (100, 0, 156)
  minor = m.blackwell_matmul_mgpu.MatmulDimension.N
  sizes = dict(tile_m=128, tile_n=64, tile_k=64, max_concurrent_steps=2, grid_tile_width=1, grid_minor_dim=minor)
  with interpreted(True):
    found = m.ragged_dot_kernel(
      lhs, rhs, group_sizes=jnp.asarray(group_sizes, jnp.int32), config=m.TuningConfig(**sizes, collective=True)
    )
  close(found, np.concatenate([exact(lhs)[:100] @ exact(rhs)[0], exact(lhs)[100:] @ exact(rhs)[2]]), BF16)


@pytest.mark.parametrize("is_simulated", [False, True])
def test_transposed_ragged_dot(is_simulated):
  check_transposed_ragged_dot(is_simulated)


def _public_programs() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
  S = jax.ShapeDtypeStruct
  m = module("hopper_matmul")
  for dtype, options in MATMULS.values():
    named = {k: m.MatmulDimension(v) if "dim" in k else v for k, v in options.items()}
    config = m.TuningConfig(tile_k=64, max_concurrent_steps=2, **named)
    operands = S((128, 192), dtype), S((192, 128), dtype), S((128, 128), dtype)
    yield lambda a, b, m=m, config=config: m.matmul(a, b, None, config), operands[:2]
    yield lambda a, b, c, m=m, config=config: m.matmul(a, b, c, config), operands
  m = module("attention")
  blocks = dict(block_q_dkv=64, block_kv_dkv=64, block_q_dq=64, block_kv_dq=64)
  config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, **blocks)
  heads = S((1, 256, 2, 64), F16)
  yield lambda q, k, v: m.attention_with_pipeline_emitter(q, k, v, config), (heads,) * 3
  yield lambda q, k, v, do: jax.vjp(lambda *xs: m.attention(*xs, config), q, k, v)[1](do), (heads,) * 4


def test_no_race_is_found_in_public_kernels():
  """What the warpgroups say to each other is followed to the end, on all that multiply by warpgroups, and those that do not."""
  followed = 0
  with mock.patch.object(
    jax, "default_device", lambda device: contextlib.nullcontext()
  ):  # the modules ask for a device
    for program, types_of in _public_programs():
      for _, native in native_kernels(program, *types_of):
        for arch in ("sm_80", "sm_90a", "sm_100a"):
          if hand_written.is_by_hand(native, ARCHS[arch]):
            run = protocol.follow(lowering.lower(copied_kernel(native), ARCHS[arch], until="roles").kernel)
            followed += run.is_complete
  assert followed >= 30

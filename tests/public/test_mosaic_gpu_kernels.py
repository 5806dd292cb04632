"""JAX's public kernels for Mosaic GPU, with only the imports changed, against float64: natively, and on the simulated machine."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P
from public_kernels import our_module

from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas.nvgpu.inspection import native_kernels
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.ir import protocol
from tilewright.target.nvgpu.passes import hand_written
from tilewright.tile.native import copied_kernel

F16, BF16 = jnp.float16, jnp.bfloat16


@pytest.fixture(autouse=True)
def small_gpu() -> Iterator[None]:
  """A device of two SMs, so that persistent kernels have several tiles each."""
  with mock.patch.object(jax.Device, "core_count", 2, create=True):
    yield


def module(name: str) -> types.ModuleType:
  """The module of a kernel. It imports JAX's utilities for tests, which need a package that may not be installed, and does not use them."""
  utilities = types.ModuleType("jax._src.test_util")
  with (
    mock.patch.dict(sys.modules, {"jax._src.test_util": utilities}),
    mock.patch("jax._src.test_util", utilities, create=True),
  ):
    found = our_module(f"jax.experimental.pallas.ops.gpu.{name}_mgpu")
  if getattr(found, "cuda_versions", 0) is None:  # it asks for the version of a library that is not here
    found.cuda_versions = types.SimpleNamespace(cuda_runtime_get_version=lambda: 12090 + 1)
  return found


def random(*shape: int, dtype: Any = F16, seed: int = 0) -> jax.Array:
  return jnp.asarray(np.random.default_rng(seed).uniform(-1, 1, shape), dtype)


def exact(x: Any) -> np.ndarray:
  return np.asarray(x).astype(np.float64)


def close(found: Any, wanted: np.ndarray, dtype: Any, factor: float = 1.0) -> None:
  """Within one rounding to the dtype of the result (`factor` of them), as sums in f32 err by far less."""
  np.testing.assert_allclose(
    exact(found), wanted, rtol=0, atol=factor * float(jnp.finfo(dtype).eps) * np.abs(wanted).max()
  )


def interpreted(is_simulated: bool) -> contextlib.AbstractContextManager[None]:
  return plgpu.force_gpu_interpret_mode() if is_simulated else contextlib.nullcontext()


MATMULS: dict[str, tuple[Any, dict[str, Any]]] = {
  "wg along n": (F16, dict(tile_m=64, tile_n=64, epi_tile_m=64, epi_tile_n=32, wg_dimension=1)),
  "wg along m": (BF16, dict(tile_m=64, tile_n=128, epi_tile_m=None, epi_tile_n=None, wg_dimension=0, grid_minor_dim=0)),
  "cluster along m": (BF16, dict(tile_m=64, tile_n=64, wg_dimension=1, cluster_dimension=0)),
  "cluster along n": (F16, dict(tile_m=64, tile_n=64, wg_dimension=0, cluster_dimension=1, grid_tile_width=2)),
}


@pytest.mark.parametrize("name", MATMULS)
@pytest.mark.parametrize("has_c", [False, True])
def test_hopper_matmul(name, has_c):
  m = module("hopper_matmul")
  dtype, options = MATMULS[name]
  named = {k: m.MatmulDimension(v) if "dim" in k else v for k, v in options.items()}
  config = m.TuningConfig(tile_k=64, max_concurrent_steps=2, **named)
  a, b = random(128, 192, dtype=dtype), random(192, 128, dtype=dtype, seed=1)
  c = random(128, 128, dtype=dtype, seed=2) if has_c else None
  wanted = exact(a) @ exact(b)
  found = m.matmul(a, b, c, config)
  close(found, wanted + exact(c) if has_c else wanted, dtype, 1.5)


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
  m = module("hopper_mixed_type_matmul")
  config = m.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=2)
  a = jnp.asarray(np.random.default_rng(0).integers(-128, 128, (64, 192)), jnp.int8)
  b = random(192, 128, dtype=dtype)
  found = m.mixed_matmul_kernel(a, b, out_dtype=out_dtype, config=config)
  close(found, exact(a) @ exact(b), out_dtype, 64 if out_dtype == jnp.float32 else 1)


def attention(q: Any, k: Any, v: Any, *, causal: bool) -> Any:
  """In the dtype of the operands."""
  k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], 2) for x in (k, v))
  scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
  if causal:
    scores = jnp.where(jnp.tri(*scores.shape[2:], dtype=bool), scores, -jnp.inf)
  return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def in_float64(f: Callable[..., Any], *args: Any) -> Any:
  with jax.enable_x64(True):
    return jax.tree.map(np.asarray, f(*(jnp.asarray(exact(x)) for x in args)))


@pytest.mark.parametrize("causal, kv_heads, is_simulated", [(False, 2, False), (True, 1, False), (True, 1, True)])
def test_attention(causal, kv_heads, is_simulated):
  m = module("attention")
  config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, causal=causal)
  q, k, v = random(1, 128, 2, 64), random(1, 192, kv_heads, 64, seed=1), random(1, 192, kv_heads, 64, seed=2)
  with interpreted(is_simulated):
    found, (lse,) = m.attention(q, k, v, config, True)
  close(found, in_float64(lambda *xs: attention(*xs, causal=causal), q, k, v), F16, 2)
  assert lse.shape == (1, 2, 128)


def test_attention_with_the_pipeline_emitter():
  m = module("attention")
  config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2)
  q, k, v = random(1, 128, 2, 64), random(1, 192, 1, 64, seed=1), random(1, 192, 1, 64, seed=2)
  found = m.attention_with_pipeline_emitter(q, k, v, config)
  close(found, in_float64(lambda *xs: attention(*xs, causal=False), q, k, v), F16, 2)


def test_derivatives_of_attention():
  """Probabilities and their derivatives are rounded to f16 before they are multiplied."""
  m = module("attention")
  blocks = dict(block_q_dkv=64, block_kv_dkv=64, block_q_dq=64, block_kv_dq=64)
  config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, **blocks)
  q, k, v = (random(1, 128, 1, 64, seed=i) for i in range(3))
  do = random(1, 128, 1, 64, seed=3)
  found = jax.vjp(lambda *xs: m.attention(*xs, config), q, k, v)[1](do)
  reference = lambda *xs: jax.vjp(lambda *ys: attention(*ys, causal=False), *xs[:3])[1](xs[3])
  for ours, wanted in zip(found, in_float64(reference, q, k, v, do)):
    close(ours, wanted, F16, 8)


SIZES = (40, 0, 88)  # of groups, none of them a multiple of a block


def groups() -> Iterator[tuple[int, slice]]:
  ends = np.cumsum(SIZES)
  return ((g, slice(end - size, end)) for g, (end, size) in enumerate(zip(ends, SIZES)))


@pytest.mark.parametrize("dtype, transpose_rhs", [(F16, False), (BF16, True)])
def test_ragged_dot(dtype, transpose_rhs):
  m = module("ragged_dot")
  lhs, rhs = random(128, 128, dtype=dtype), random(3, 128, 64, dtype=dtype, seed=1)
  found = m.ragged_dot(
    lhs,
    jnp.swapaxes(rhs, 1, 2) if transpose_rhs else rhs,
    group_sizes=jnp.asarray(SIZES, jnp.int32),
    block_m=64,
    block_n=64,
    block_k=64,
    max_concurrent_steps=2,
    grid_block_n=1,
    transpose_rhs=transpose_rhs,
  )
  close(found, np.concatenate([exact(lhs)[rows] @ exact(rhs)[g] for g, rows in groups()]), dtype)


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
  """A group's blocks are cut from a view that begins with it and hangs over the end of the array."""
  m = module("transposed_ragged_dot")
  lhs, rhs = random(128, 64), random(128, 64, seed=1)
  sizes = dict(block_m=64, block_n=64, block_k=64, max_concurrent_steps=2, grid_block_n=1)
  with interpreted(is_simulated):
    found = m.transposed_ragged_dot(lhs, rhs, group_sizes=jnp.asarray(SIZES, jnp.int32), **sizes)
  close(found, np.stack([exact(lhs)[rows].T @ exact(rhs)[rows] for _, rows in groups()]), F16)


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
            run = protocol.follow(hand_written.lower(copied_kernel(native), ARCHS[arch]))
            followed += run.is_complete
  assert followed >= 30

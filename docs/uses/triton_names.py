"""Programs for `tilewright.pallas.triton`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tilewright.pallas import triton
from uses import count, run, same, use


@use("triton", "load store max_contiguous debug_barrier CompilerParams")
def _access():
  def kernel(x_ref, o_ref):
    mask = triton.max_contiguous(jax.lax.iota(jnp.int32, 8), 8) < 5
    x = triton.load(x_ref, mask=mask, other=-1.0)
    triton.debug_barrier()
    triton.store(o_ref, x)
    triton.store(o_ref, x + 1, mask=mask)

  same(run(kernel, count(), compiler_params=triton.CompilerParams(num_warps=4)), [1, 2, 3, 4, 5, -1, -1, -1])


@use("triton", "atomic_add atomic_max atomic_min atomic_xchg")
def _atomics():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    triton.atomic_add(o_ref, (0,), 10.0)
    triton.atomic_max(o_ref, (1,), 5.0)
    triton.atomic_min(o_ref, (2,), 0.0)
    triton.atomic_xchg(o_ref, (3,), 9.0)

  same(run(kernel, count()), [10, 5, 0, 9, 4, 5, 6, 7])


@use("triton", "atomic_and atomic_or atomic_xor atomic_cas")
def _atomics_on_bits():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    triton.atomic_and(o_ref, (7,), 3)
    triton.atomic_or(o_ref, (1,), 6)
    triton.atomic_xor(o_ref, (2,), 3)
    triton.atomic_cas(o_ref.at[3], 3, 30)

  same(run(kernel, count(dtype=jnp.int32), dtype=jnp.int32), [0, 7, 1, 30, 4, 5, 6, 3])


@use("triton", "dot approx_tanh")
def _arithmetic():
  def kernel(x_ref, o_ref):
    o_ref[...] = triton.dot(triton.approx_tanh(x_ref[...]), jnp.ones((16, 16)))

  same(run(kernel, jnp.zeros((16, 16)), shape=(16, 16)), np.zeros((16, 16)))


@use("triton", "elementwise_inline_asm")
def _inline_assembly():
  def kernel(x_ref, o_ref):
    (o_ref[...],) = triton.elementwise_inline_asm(
      "tanh.approx.f32 $0, $1;",
      args=[x_ref[...]],
      constraints="=f,f",
      pack=1,
      result_shape_dtypes=[jax.ShapeDtypeStruct((8,), jnp.float32)],
    )

  run(kernel, jnp.zeros(8))


@use("triton", "GpuInfo GpuVersion get_gpu_info_from_version is_gpu_device CUSTOM_CALL_TARGET_NAME")
def _gpu_facts():
  for version in triton.GpuVersion:
    assert isinstance(triton.get_gpu_info_from_version(version), triton.GpuInfo)
  assert triton.is_gpu_device() == (jax.default_backend() == "gpu")
  assert isinstance(triton.CUSTOM_CALL_TARGET_NAME, str)


@use("triton", "get_gpu_info")
def _this_gpu():
  if triton.is_gpu_device():
    assert isinstance(triton.get_gpu_info(), triton.GpuInfo)
  else:
    try:
      triton.get_gpu_info()
    except Exception as error:
      assert "Unsupported GPU device kind" in str(error)
    else:
      raise AssertionError("there is no GPU here to describe")

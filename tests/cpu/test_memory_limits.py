"""A size that no machine has is an error that names the buffer, when a kernel is compiled or when memory is asked for."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.golden_kernels import find
from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.pallas.lowering import lower_kernel
from tilewright.target import nvgpu
from tilewright.target.llvm import buffers
from tilewright.tile.grid import Kernel

X = np.arange(1024, dtype=np.float32)
WIDE = (1 << 29, 1 << 29)  # 2⁶⁰ bytes in all: more than a process can address


def with_scratch(x):
  def kernel(x_ref, o_ref, kept_ref):
    kept_ref[0, :1024] = x_ref[...]
    o_ref[...] = kept_ref[0, :1024] + 1

  return pl.pallas_call(kernel, jax.ShapeDtypeStruct(X.shape, X.dtype), scratch_shapes=[pltpu.VMEM(WIDE, jnp.float32)])(
    x
  )


def with_scoped(x):
  def kernel(x_ref, o_ref):
    def body(kept_ref):
      kept_ref[0, :1024] = x_ref[...]
      o_ref[...] = kept_ref[0, :1024] + 1

    pl.run_scoped(body, pltpu.VMEM(WIDE, jnp.float32))

  return pl.pallas_call(kernel, jax.ShapeDtypeStruct(X.shape, X.dtype))(x)


def with_block(x):
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[:1024] + 1

  return pl.pallas_call(
    kernel,
    jax.ShapeDtypeStruct(X.shape, X.dtype),
    grid=(1,),
    in_specs=[pl.BlockSpec((1 << 58,), lambda i: (i,))],
    out_specs=pl.BlockSpec((1024,), lambda i: (i,)),
  )(x)


SAID = {
  with_scratch: r"scratch_shapes\[0\]: float32\[536870912, 536870912\] \(1.0 EiB\)",
  with_scoped: r"a buffer of run_scoped at .*test_memory_limits.py:\d+.*: float32\[536870912, 536870912\] \(1.0 EiB\)",
  with_block: r"the block of .*: float32\[288230376151711744\] \(1.0 EiB\)",
}


@pytest.mark.parametrize("call", SAID)
def test_a_buffer_larger_than_memory_is_refused_when_it_is_compiled(call):
  with pytest.raises(errors.ResourceExhaustedError, match=SAID[call]):
    jax.jit(call)(X)
  native = lower_kernel(Kernel(**find(jax.make_jaxpr(call)(X).jaxpr).params), for_gpu=True)
  with pytest.raises(errors.ResourceExhaustedError, match=SAID[call]):
    nvgpu.compile_ptx(native, "sm_90a")


@pytest.mark.parametrize("call", SAID)
def test_memory_that_is_not_there_is_an_error_of_the_call(monkeypatch, call):
  monkeypatch.setattr(buffers, "host_memory", lambda: 1 << 62)
  with pytest.raises(jax.errors.JaxRuntimeError, match=f"no memory for the buffers.*{SAID[call]}"):
    jax.block_until_ready(jax.jit(call)(X))
  np.testing.assert_array_equal(jax.jit(lambda x: x + 1)(X), X + 1)


def test_intermediate_values_count_too(monkeypatch):
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.sum(jnp.cumsum(jnp.outer(x_ref[...], x_ref[...]), axis=0), axis=0)

  monkeypatch.setattr(buffers, "host_memory", lambda: 1 << 20)
  with pytest.raises(errors.ResourceExhaustedError, match=r"an instance takes .* MiB, and this machine has 1.0 MiB"):
    jax.jit(pl.pallas_call(kernel, jax.ShapeDtypeStruct(X.shape, X.dtype)))(X)


def test_sizes_are_written_for_people():
  assert [buffers.size_text(n) for n in (0, 1023, 1024, 3 << 19, 1 << 60, 1 << 90)] == [
    *("0 bytes", "1023 bytes", "1.0 KiB", "1.5 MiB", "1.0 EiB"),
    f"{2**30:.1f} EiB",
  ]

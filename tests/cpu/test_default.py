"""On the CPU a kernel call is native code unless it says otherwise, wherever JAX may put it."""

from __future__ import annotations

import re
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.pallas import cpu, nvgpu
from tilewright.pallas import tpu as pltpu
from tilewright.runtime import cuda

F32 = jnp.float32
S = jax.ShapeDtypeStruct


def kernel(x_ref, o_ref):
  o_ref[...] = jnp.sin(x_ref[...]) * 2


def call(x, **options):
  """Twice the sine, row by row."""
  row = pl.BlockSpec((1, x.shape[1]), lambda i: (i, 0))
  return pl.pallas_call(kernel, S(x.shape, F32), grid=x.shape[:1], in_specs=[row], out_specs=row, **options)(x)


def arange(*shape):
  return jnp.arange(np.prod(shape), dtype=F32).reshape(shape) / 7


def close(actual, x):
  """`call`'s result, within four units in the last place of two."""
  np.testing.assert_allclose(actual, 2 * np.sin(np.asarray(x, np.float64)), rtol=0, atol=8 * np.finfo(np.float32).eps)


def is_native(text: str) -> bool:
  return "@tilewright_cpu(" in text


def lowered(f, *args, platforms=None) -> str:
  return jax.jit(f).trace(*args).lower(lowering_platforms=platforms).as_text()


# --- which target ------------------------------------------------------------------------------------------------


def test_native_is_the_default_and_interpret_is_the_way_out():
  x = arange(4, 8)
  assert is_native(lowered(call, x))
  for params in (cpu.CompilerParams(), pltpu.CompilerParams(dimension_semantics=("parallel",))):
    assert is_native(lowered(lambda x: call(x, compiler_params=params), x))
  assert not is_native(lowered(lambda x: call(x, interpret=True), x))
  assert not is_native(lowered(lambda x: call(x, interpret=True, compiler_params=cpu.CompilerParams()), x))
  assert not is_native(lowered(lambda x: call(x, interpret=pltpu.InterpretParams()), x))
  close(call(x), x)


def test_other_platforms_take_the_portable_lowering():
  x = arange(4, 8)
  assert not is_native(lowered(call, x, platforms=("tpu",)))
  assert not is_native(lowered(call, x, platforms=("cpu", "cuda")))
  if not cuda.is_here():
    assert "custom_call @tilewright" not in lowered(call, x, platforms=("cuda",))
  for platforms in (("cuda",), ("cpu", "cuda")):
    with pytest.raises(errors.NativeCodeError, match="requests native CPU code"):
      lowered(lambda x: call(x, compiler_params=cpu.CompilerParams()), x, platforms=platforms)
  with pytest.raises(errors.NativeCodeError, match=r"requests native GPU code.*compiled for cpu"):
    lowered(lambda x: call(x, compiler_params=nvgpu.CompilerParams()), x)


def test_library_kernels_are_lowered_for_any_platforms():
  x = arange(4, 8)
  assert is_native(lowered(ops.softmax, x))
  assert not is_native(lowered(ops.softmax, x, platforms=("cpu", "cuda")))


@pytest.mark.parametrize("params", [None, cpu.CompilerParams()])
def test_an_exported_program_holds_the_portable_lowering(params):
  x = arange(4, 8)
  exported = jax.export.export(jax.jit(lambda x: call(x, compiler_params=params)))(x)
  assert not is_native(exported.mlir_module())
  close(exported.call(x), x)


def test_what_is_missing_is_an_error_with_primitive_line_and_way_on():
  def missing(x_ref, o_ref):
    o_ref[...] = jax.pure_callback(lambda x: x, S((3,), F32), x_ref[...])

  with pytest.raises(errors.NativeCodeError, match=r"'pure_callback' at .*test_default.py:\d+.*interpret=True"):
    pl.pallas_call(missing, S((3,), F32))(jnp.zeros(3))
  np.testing.assert_array_equal(pl.pallas_call(missing, S((3,), F32), interpret=True)(jnp.ones(3)), np.ones(3))


# --- wherever a call stands --------------------------------------------------------------------------------------


def test_a_call_works_eagerly_and_without_jit():
  x = arange(3, 8)
  close(call(x), x)
  with jax.disable_jit():
    close(call(x), x)
  assert jax.eval_shape(call, x) == S((3, 8), F32)


def test_a_call_works_in_control_flow_and_under_transformations():
  x = arange(3, 8)
  close(jax.jit(lambda x: lax.fori_loop(0, 2, lambda i, y: call(x + 0 * y), x))(x), x)
  close(jax.vmap(call)(arange(2, 3, 8)), arange(2, 3, 8))
  slope = 2 * np.cos(np.asarray(x, np.float64))
  for f in (call, jax.checkpoint(call)):
    np.testing.assert_allclose(jax.grad(lambda x, f=f: f(x).sum())(x), slope, rtol=0, atol=1e-6)
  np.testing.assert_allclose(jax.jvp(call, (x,), (jnp.ones_like(x),))[1], slope, rtol=0, atol=1e-6)
  assert is_native(lowered(lambda x: jax.jvp(call, (x,), (x,))[1], x))


@pytest.mark.parametrize("jit", [False, True])
def test_every_device_runs_its_part(jit):
  mesh = Mesh(np.array(jax.devices()), ("d",))
  spec = PartitionSpec("d")
  f = jax.shard_map(call, mesh=mesh, in_specs=spec, out_specs=spec)
  x = arange(16, 8)
  close((jax.jit(f) if jit else f)(x), x)
  assert is_native(lowered(f, x))


def test_a_call_may_be_partitioned_by_its_user():
  partitioned = custom_partitioning(call)

  def partition(mesh, arg_shapes, result_shape):
    (arg,) = arg_shapes
    return mesh, call, arg.sharding, (arg.sharding,)

  partitioned.def_partition(partition, sharding_rule="i j -> i j")
  sharding = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), PartitionSpec("d"))
  x = jax.device_put(arange(16, 8), sharding)
  result = jax.jit(partitioned)(x)
  close(result, x)
  assert result.sharding.is_equivalent_to(sharding, 2)


def test_several_threads_compile_and_call_at_once():
  """Each thread has kernels of its own and one that all share; what one compiles the others may call."""
  failures = []

  def work(number):
    try:
      for step in range(3):
        x = arange(2, 8 + number) + step
        close(call(x), x)
        y = jnp.full((64, 1024), float(number))
        close(call(y), y)
    except Exception as error:
      failures.append(error)

  threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
  for t in threads:
    t.start()
  for t in threads:
    t.join()
  assert not failures


def test_the_same_kernel_is_compiled_once_and_shared():
  x = arange(5, 8)
  once, again = (
    re.findall(r"@tilewright_cpu\(.*code = \"(\w+)\"", lowered(f, x)) for f in (call, lambda x: call(x + 1))
  )
  assert once == again and len(once) == 1

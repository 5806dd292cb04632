"""The kernel language on an NVIDIA GPU, through the portable lowering."""

from __future__ import annotations

import pathlib
import runpy

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tilewright import pallas as pl
from tilewright.cli import main
from tilewright.pallas import targets
from tilewright.pallas import tpu as pltpu
from tilewright.pallas import triton as plgpu

pytestmark = pytest.mark.gpu
S = jax.ShapeDtypeStruct
f32 = jnp.float32
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _portable():
  with targets.forced_interpret(True):
    yield


def _range(*shape, dtype=f32):
  return jnp.arange(np.prod(shape), dtype=dtype).reshape(shape)


def test_kernels_run_on_the_gpu():
  x = _range(1000)
  spec = pl.BlockSpec((128,), lambda i: i)

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

  y = pl.pallas_call(kernel, S((1000,), f32), grid=(8,), in_specs=[spec], out_specs=spec)(x)
  assert {d.platform for d in y.devices()} <= {"gpu", "cuda"}
  np.testing.assert_array_equal(y, np.asarray(x) * 2)


@pytest.mark.parametrize("dtype", ["int4", "int8", "bfloat16", "float8_e4m3fn", "float16", "bool", "float4_e2m1fn"])
def test_small_dtypes_at_an_edge(dtype):
  dtype = jnp.dtype(getattr(jnp, dtype + "_" if dtype == "bool" else dtype))
  x = jnp.asarray([1, 0, 1, 1, 0]).astype(dtype)
  spec = pl.BlockSpec((4,), lambda i: i)

  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

  y = pl.pallas_call(kernel, S((5,), dtype), grid=(2,), in_specs=[spec], out_specs=spec)(x)
  np.testing.assert_array_equal(np.asarray(y, np.float32), np.asarray(x, np.float32))


def test_indexing_masks_and_atomics():
  def kernel(i_ref, x_ref, o_ref, p_ref):
    o_ref[...] = x_ref[i_ref[...]]
    p_ref[...] = jnp.zeros_like(p_ref)
    plgpu.atomic_add(p_ref, (i_ref[...],), x_ref[...])
    plgpu.store(p_ref.at[pl.ds(4, 4)], jnp.full(4, 9.0), mask=jnp.arange(4) < 2)

  index = jnp.array([3, 0, 0, 1, 7, 6, 2, 2])
  x = _range(8) + 1
  picked, summed = pl.pallas_call(kernel, [S((8,), f32)] * 2)(index, x)
  expected = np.zeros(8, np.float32)
  np.add.at(expected, np.asarray(index), np.asarray(x))
  expected[4:6] = 9
  np.testing.assert_array_equal(picked, np.asarray(x)[np.asarray(index)])
  np.testing.assert_array_equal(summed, expected)


def test_loops_scratch_and_copies():
  def kernel(x_ref, o_ref, buffer, sem):
    def body(i, total):
      copy = pltpu.make_async_copy(x_ref.at[i], buffer, sem)
      copy.start()
      copy.wait()
      return total + buffer[...]

    o_ref[...] = lax.fori_loop(0, 5, body, jnp.zeros(16))

  x = _range(5, 16)
  scratch = [pltpu.VMEM((16,), f32), pltpu.SemaphoreType.DMA]
  any_space = pl.BlockSpec(memory_space=pl.ANY)
  y = pl.pallas_call(kernel, S((16,), f32), in_specs=[any_space], scratch_shapes=scratch)(x)
  np.testing.assert_array_equal(y, np.asarray(x).sum(0))


def test_vmap_and_gradients():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.sin(x_ref[...]) * x_ref[...]

  f = pl.pallas_call(kernel, S((16,), f32))
  x = _range(3, 16) / 10
  np.testing.assert_allclose(jax.vmap(f)(x), np.sin(x) * x, rtol=1e-5, atol=1e-6)
  gradient = jax.grad(lambda x: f(x).sum())(x[0])
  np.testing.assert_allclose(gradient, np.cos(x[0]) * x[0] + np.sin(x[0]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
  "name", ["vector_add", "matmul", "softmax", "layer_norm", "flash_attention", "block_sparse_matmul"]
)
def test_examples(name):
  with pytest.raises(SystemExit) as end:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
  assert not end.value.code


def test_the_doctor_sees_the_gpu(capsys):
  assert main(["doctor"]) == 0
  assert "GPU" in capsys.readouterr().out

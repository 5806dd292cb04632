"""Native kernels on an NVIDIA GPU, against float64."""

from __future__ import annotations

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "nvgpu"))

import gpu_programs as programs
import layout_programs

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import cpu, nvgpu

pytestmark = pytest.mark.gpu
S = jax.ShapeDtypeStruct
NATIVE = nvgpu.CompilerParams()


def _normal(*shape, dtype=jnp.float32, seed=0):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def _close(got, wanted, dtype):
  """Within a few units in the last place of the largest value: sums are computed in float32 and rounded once."""
  wanted = np.asarray(wanted, np.float64)
  np.testing.assert_allclose(
    np.asarray(got, np.float64), wanted, rtol=0, atol=4 * float(jnp.finfo(dtype).eps) * np.abs(wanted).max()
  )


@pytest.mark.parametrize("rows, shape", [(1, (64, 8192)), (4, (33, 1000)), (8, (64, 256)), (2, (7, 130))])
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float32], ids=["bf16", "f32"])
@pytest.mark.parametrize("name, others", [("softmax", 0), ("rms_norm", 1), ("layer_norm", 2)])
def test_kernels_over_rows(name, others, dtype, rows, shape):
  body = getattr(programs, name)
  args = [_normal(*shape, dtype=dtype), *(_normal(shape[1], dtype=dtype, seed=i + 1) for i in range(others))]
  with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
    wanted = np.asarray(body(*(jnp.asarray(np.asarray(a, np.float64)) for a in args)))
  _close(programs.by_rows(body, rows)(*args), wanted, dtype)


def test_large_arrays_that_pass_by_once():
  """Rows that L2 is told of, and that are asked for ahead: the first, the last, and some between."""
  rows, columns = 16384, 8192
  x = jax.random.normal(jax.random.key(0), (rows, columns), jnp.bfloat16)
  got = programs.by_rows(programs.softmax, 1)(x)
  for row in (0, 1, 5000, rows - 2, rows - 1):
    exact = np.asarray(x[row], np.float64)
    e = np.exp(exact - exact.max())
    _close(got[row], e / e.sum(), jnp.bfloat16)


@pytest.mark.parametrize("blocks", [(128, 128, 64), (128, 256, 64), (64, 64, 128), (128, 128, 32), (32, 48, 16)])
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16, jnp.float32], ids=["bf16", "f16", "f32"])
def test_matmul(dtype, blocks):
  """Through wgmma where the blocks allow, mma.sync where only those do, and plain multiplication."""
  m, n, k = 2 * blocks[0], 3 * blocks[1], 4 * blocks[2]
  a, b = _normal(m, k, dtype=dtype), _normal(k, n, dtype=dtype, seed=1)
  _close(programs.matmul(a, b, blocks), np.asarray(a, np.float64) @ np.asarray(b, np.float64), dtype)


def test_transpose_and_cross_entropy():
  x = _normal(256, 512, dtype=jnp.bfloat16)
  np.testing.assert_array_equal(np.asarray(programs.transpose(x), np.float32), np.asarray(x.T, np.float32))
  labels = jnp.arange(256, dtype=jnp.int32)
  exact = np.asarray(x, np.float64)
  wanted = np.log(np.exp(exact).sum(1)) - exact[np.arange(256), np.arange(256)]
  _close(programs.cross_entropy(x, labels), wanted, jnp.float32)


def test_control_flow_and_values_that_are_carried():
  def kernel(x_ref, o_ref):
    def step(i, pair):
      a, b = pair
      return lax.cond(i % 2 == 0, lambda: (b, a + 1), lambda: (a * 2, b))

    a, b = lax.fori_loop(0, 5, step, (x_ref[...], x_ref[...].T))
    o_ref[...] = a - b

  def plain(x):
    a, b = x, x.T
    for i in range(5):
      a, b = (b, a + 1) if i % 2 == 0 else (a * 2, b)
    return a - b

  x = _normal(64, 64)
  got = pl.pallas_call(kernel, S((64, 64), jnp.float32), compiler_params=NATIVE)(x)
  np.testing.assert_array_equal(got, plain(np.asarray(x)))


@pytest.mark.parametrize("size", [8, 16, 64, 2048])
@pytest.mark.parametrize("dtype", [jnp.int8, jnp.uint8, jnp.int16, jnp.uint16])
def test_numbers_of_neighbours_are_added_to_narrow_integers(dtype, size):
  """Which the assembler of some drivers forgets in every second one: see `ptx.with_single_sums`."""

  def kernel(x_ref, o_ref):
    o_ref[...] = (x_ref[...] + lax.broadcasted_iota(dtype, (size,), 0)) % 17

  x = np.arange(size) % 7
  wanted = (x + np.arange(size)).astype(dtype) % 17
  np.testing.assert_array_equal(pl.pallas_call(kernel, S((size,), dtype))(jnp.asarray(x, dtype)), wanted)


def test_a_dynamic_grid():
  x = jnp.arange(64.0)
  spec = pl.BlockSpec((16,), lambda i: i)

  def kernel(x_ref, o_ref):
    o_ref[...] = 2 * x_ref[...]

  call = lambda n: pl.pallas_call(
    kernel, S((64,), jnp.float32), grid=(n,), in_specs=[spec], out_specs=spec, compiler_params=NATIVE
  )(x)
  np.testing.assert_array_equal(jax.jit(call)(3)[:48], 2 * x[:48])


def test_under_vmap_and_jit():
  x = _normal(8, 64, 256)
  got = jax.jit(jax.vmap(programs.by_rows(programs.softmax, 4)))(x)
  _close(got, jax.nn.softmax(x, axis=-1), jnp.float32)


def test_gathers_scatters_sorts_and_random_bits():
  rng = np.random.default_rng(0)
  x, y = (jnp.asarray(rng.standard_normal((n, 100)), jnp.float32) for n in (50, 64))
  i = jnp.asarray(rng.integers(0, 50, 64), jnp.int32)
  run = lambda name, *args: programs.PROGRAMS[name][0](*args)[0]
  np.testing.assert_array_equal(run("take", x, i), np.asarray(x)[np.asarray(i)])
  np.testing.assert_array_equal(run("sort", x[:4]), np.sort(np.asarray(x[:4]), axis=-1))
  wanted = np.asarray(x).copy()
  np.add.at(wanted, np.asarray(i), np.asarray(y))
  np.testing.assert_allclose(run("scatter_add", x, i, y), wanted, rtol=1e-6)
  key = jax.random.key(3)
  got = run("random", jax.random.key_data(key))
  np.testing.assert_allclose(got, jax.random.normal(key, (8, 128)), rtol=1e-5, atol=1e-6)


def test_tiles_larger_than_shared_memory():
  x = _normal(512, 512)

  def kernel(x_ref, o_ref):
    y = jnp.cumsum(x_ref[...], axis=0)
    o_ref[...] = y - y.T

  got = pl.pallas_call(kernel, S((512, 512), jnp.float32), compiler_params=NATIVE)(x)
  total = np.cumsum(np.asarray(x, np.float64), 0)
  np.testing.assert_allclose(got, total - total.T, atol=512 * 2.0**-23 * np.abs(total).max())


def test_native_cpu_code_is_refused():
  call = pl.pallas_call(lambda x_ref, o_ref: None, S((4,), jnp.float32), compiler_params=cpu.CompilerParams())
  with pytest.raises(errors.NativeCodeError, match="CPU"):
    call(jnp.zeros(4))


@pytest.mark.parametrize("name", layout_programs.PROGRAMS)
def test_kernels_that_mix_layouts(name):
  args = layout_programs.arguments(name)
  wanted = layout_programs.exactly(name, args)
  got = np.asarray(layout_programs.PROGRAMS[name][0](*args), np.float64)
  np.testing.assert_allclose(got, wanted, rtol=0, atol=layout_programs.tolerance(name, args, wanted))


@pytest.mark.parametrize("rows, keys, depth", [(64, 512, 64), (128, 1024, 128), (128, 256, 64)])
def test_attention_over_many_keys(rows, keys, depth):
  """Probabilities are rounded to bf16, sums are kept in float32: a few units of bf16 in the last place of the largest value."""
  q, k, v = (_normal(n, depth, dtype=jnp.bfloat16, seed=i) for i, n in enumerate((rows, keys, keys)))
  got = layout_programs.online_attention(64)(q, k, v)
  _close(
    got, layout_programs.PROGRAMS["online_attention"][1](*(np.asarray(x, np.float64) for x in (q, k, v))), jnp.bfloat16
  )

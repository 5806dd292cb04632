"""`precision` of float32 products: what each value promises, as CPU code and as the GPU's, whose tensor cores round to tf32."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import natives
from jax import lax

from tilewright import errors, ops
from tilewright import pallas as pl
from tilewright.pallas import nvgpu as nvgpu_language
from tilewright.target import nvgpu

M, K, N = 64, 64, 64
S = jax.ShapeDtypeStruct
# What is lost of a product of two numbers, in parts of it: one or two roundings of each operand, and parts that are left out.
LOST = {
  "tf32": 2 * 2.0**-10,  # the last 13 bits of each operand are dropped
  "F16_F16_F32": 2 * 2.0**-11,
  "BF16_BF16_F32": 2 * 2.0**-9,
  "BF16_BF16_F32_X3": 3 * 2.0**-18,  # what two parts leave of each operand, and the product of the second ones
  "BF16_BF16_F32_X6": 6 * 2.0**-27,
  "BF16_BF16_F32_X9": 2 * 2.0**-27,
  "TF32_TF32_F32_X3": 2 * 2.0**-20 + 2.0**-20,
  "F32_F32_F32": 0.0,
}


def product(x, y, precision=None, params=None, transpose_y=False):
  def kernel(x_ref, y_ref, o_ref):
    numbers = (((1,), (1 if transpose_y else 0,)), ((), ()))
    o_ref[...] = lax.dot_general(x_ref[...], y_ref[...], numbers, precision=precision)

  n = y.shape[0 if transpose_y else 1]
  return pl.pallas_call(kernel, S((x.shape[0], n), jnp.float32), compiler_params=params)(x, y)


def on_gpu(f, *args, arch):
  ((_, native),) = natives(f, *args)
  text = nvgpu.compile_ptx(native, arch, 4)[0]
  ((_, native),) = natives(f, *args)
  return text, run(native, *args, arch=arch, num_warps=4)[0]


def operands(k=K, m=M, n=N):
  rng = np.random.default_rng(0)
  return rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)


def bounds(x, y, lost):
  """The exact product, and how far off one may be that loses so much of each term, with float32 sums and as many roundings of those."""
  sizes = np.abs(x).astype(np.float64) @ np.abs(y).astype(np.float64)
  return x.astype(np.float64) @ y.astype(np.float64), (lost + 2 * x.shape[1] * 2.0**-24) * sizes


def holds(found, x, y, lost):
  exact, most = bounds(x, y, lost)
  return bool((np.abs(np.asarray(found, np.float64) - exact) <= most).all())


def accuracy(found, x, y):
  """The largest difference, in parts of the sum of sizes."""
  exact, sizes = bounds(x, y, 1.0)
  return (np.abs(np.asarray(found, np.float64) - exact) / sizes).max()


@pytest.mark.parametrize("name", [n for n in LOST if n[0] in "BF"])
def test_an_algorithm_on_the_cpu(name):
  x, y = operands(24, 8, 16)
  found = product(x, y, lax.DotAlgorithmPreset[name])
  assert holds(found, x, y, LOST[name])
  if not name.endswith(("X6", "X9", "F32_F32_F32")):  # and it is what it says: its roundings show
    assert accuracy(found, x, y) > LOST[name] / 100


def test_on_the_cpu_products_are_exact_unless_an_algorithm_rounds():
  x, y = operands(24, 8, 16)
  for precision in (None, "high", "highest", "TF32_TF32_F32", "TF32_TF32_F32_X3"):
    assert holds(product(x, y, precision), x, y, 0.0)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("precision", [None, "high", "TF32_TF32_F32"])
def test_tensor_cores_round_to_tf32(arch, precision):
  x, y = operands()
  text, found = on_gpu(functools.partial(product, precision=precision), x, y, arch=arch)
  assert f"{'k8.f32' if arch == 'sm_90a' else 'k8.row.col.f32'}.tf32.tf32" in text
  assert holds(found, x, y, LOST["tf32"])
  assert not holds(found, x, y, LOST["tf32"] / 16)  # which is no float32 product


@pytest.mark.parametrize("precision", ["highest", "F32_F32_F32", ("highest", "default")])
def test_highest_is_exact_on_gpus(precision):
  x, y = operands()
  text, found = on_gpu(functools.partial(product, precision=precision), x, y, arch="sm_90a")
  assert "tf32" not in text
  assert holds(found, x, y, 0.0)


@pytest.mark.parametrize("name", ["BF16_BF16_F32", "BF16_BF16_F32_X3", "TF32_TF32_F32_X3"])
def test_an_algorithm_on_gpus_is_made_of_products_of_tensor_cores(name):
  x, y = operands(32)
  text, found = on_gpu(functools.partial(product, precision=name), x, y, arch="sm_80")
  assert (".tf32." if name.startswith("TF32") else ".bf16.bf16.") in text
  assert holds(found, x, y, LOST[name])


def test_the_default_of_the_program_is_taken():
  x, y = operands(32)
  with jax.default_matmul_precision("highest"):
    assert "tf32" not in on_gpu(product, x, y, arch="sm_80")[0]


def test_infinities_survive_being_split():
  x, y = np.full((8, 8), np.inf, np.float32), np.ones((8, 8), np.float32)
  np.testing.assert_array_equal(product(x, y, "BF16_BF16_F32_X3"), np.full((8, 8), np.inf))


def test_an_algorithm_is_known_by_what_it_says():
  x, y = operands(8, 8, 8)
  same = lax.DotAlgorithm(jnp.bfloat16, jnp.bfloat16, jnp.float32, 2, 2, 3)
  np.testing.assert_array_equal(product(x, y, same), product(x, y, "BF16_BF16_F32_X3"))
  with pytest.raises(errors.UnsupportedFeatureError, match="DotAlgorithmPreset"):
    product(x, y, lax.DotAlgorithm(jnp.bfloat16, jnp.float16, jnp.float32, 1, 1, 1))


def test_ops_matmul_takes_a_precision():
  x, y = operands(24, 8, 16)
  assert holds(ops.matmul(x, y, precision="highest"), x, y, 0.0)
  assert holds(ops.matmul(x, y, precision="BF16_BF16_F32_X3"), x, y, LOST["BF16_BF16_F32_X3"])
  assert accuracy(ops.matmul(x, y, precision="BF16_BF16_F32"), x, y) > 1e-5
  for wrong in ("no such thing", 3, jnp.float32):
    with pytest.raises(errors.NumberFormatError, match=r"precision must be None, .*, got .*(thing|3|float32).*highest"):
      ops.matmul(x, y, precision=wrong)


def test_a_kernel_for_gpus_says_what_may_be_rounded():
  x, y = operands(16)
  params = nvgpu_language.CompilerParams()
  (dot,) = [op for op in _ops(functools.partial(product, params=params), x, y) if op.name == "dot"]
  assert dot.attrs["tf32"] is True
  (dot,) = [op for op in _ops(functools.partial(product, params=params, precision="highest"), x, y) if op.name == "dot"]
  assert "tf32" not in dot.attrs


def _ops(f, *args):
  ((_, native),) = natives(f, *args)
  return native.body.body.ops

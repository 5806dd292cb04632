"""Contractions compiled natively: any transposition, batch, size and input dtype."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import agrees, on_arrays
from tilewright import pallas as pl
from tilewright.pallas import cpu, triton

S = jax.ShapeDtypeStruct


def _small_integers(shape, dtype=jnp.float32, seed=0):
  """Values whose products and sums are exact, so that any order of adding gives the same."""
  return jnp.asarray(np.random.default_rng(seed).integers(-8, 9, shape), dtype)


@pytest.mark.parametrize(
  "m, n, k", [(64, 96, 128), (65, 33, 47), (1, 64, 64), (17, 130, 16), (30, 1, 20), (3, 5, 7), (14, 32, 1)]
)
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_any_size_and_transposition(m, n, k, trans_a, trans_b):
  a = _small_integers((k, m) if trans_a else (m, k))
  b = _small_integers((n, k) if trans_b else (k, n), seed=1)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = triton.dot(a_ref[...], b_ref[...], trans_a=trans_a, trans_b=trans_b)

  agrees(kernel, S((m, n), jnp.float32), a, b)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.int32])
@pytest.mark.parametrize("m, n, k, trans_b", [(33, 1, 100, False), (20, 12, 65, False), (9, 5, 999, True)])
def test_few_columns(m, n, k, trans_b, dtype):
  """Inner products along K, with an epilogue, and added to what is there."""
  a, b = _small_integers((m, k), dtype), _small_integers((n, k) if trans_b else (k, n), dtype, 1)
  out = jnp.float32 if dtype == jnp.bfloat16 else dtype

  def kernel(a_ref, b_ref, o_ref, total_ref):
    y = b_ref[...].T if trans_b else b_ref[...]
    total_ref[...] = jnp.ones(total_ref.shape, out)
    total_ref[...] += lax.dot(a_ref[...], y, preferred_element_type=out)
    o_ref[...] = lax.dot(a_ref[...], y, preferred_element_type=out) * 2 + 1

  agrees(kernel, (S((m, n), out), S((m, n), out)), a, b)


@pytest.mark.parametrize(
  "formula, left, right, out",
  [
    ("bij,bkj->bik", (3, 20, 32), (3, 40, 32), (3, 20, 40)),
    ("bij,bjk->bik", (2, 7, 9), (2, 9, 33), (2, 7, 33)),
    ("abc,cde->abde", (3, 5, 16), (16, 4, 9), (3, 5, 4, 9)),
    ("abc,abd->cd", (4, 6, 20), (4, 6, 40), (20, 40)),
    ("ij,j->i", (20, 33), (33,), (20,)),
    ("i,ij->j", (20,), (20, 33), (33,)),
    ("i,i->", (100,), (100,), ()),
    ("i,j->ij", (9,), (40,), (9, 40)),
  ],
)
def test_batches_and_several_dimensions(formula, left, right, out):
  a, b = _small_integers(left), _small_integers(right, seed=1)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = jnp.einsum(formula, a_ref[...], b_ref[...])

  agrees(kernel, S(out, jnp.float32), a, b)


@pytest.mark.parametrize(
  "inputs, result",
  [(jnp.bfloat16, jnp.float32), (jnp.float16, jnp.float32), (jnp.int8, jnp.int32), (jnp.bfloat16, jnp.bfloat16)],
)
def test_input_dtypes(inputs, result):
  a, b = _small_integers((20, 24), inputs), _small_integers((24, 40), inputs, seed=1)

  def kernel(a_ref, b_ref, o_ref):
    dims = (((1,), (0,)), ((), ()))
    o_ref[...] = lax.dot_general(a_ref[...], b_ref[...], dims, preferred_element_type=result)

  agrees(kernel, S((20, 40), result), a, b)


@pytest.mark.parametrize(
  "inputs, result",
  [
    *[
      ("float32", "int32"),
      ("bfloat16", "int8"),
      ("float8_e5m2", "int32"),
      ("float32", "bool"),
      ("bool", "bool"),
      ("float64", "float32"),
    ],
    *[("float32", "complex64"), ("int32", "complex64"), ("complex64", "float32"), ("complex64", "int32")],
  ],
)
def test_sums_keep_what_the_result_cannot_hold(inputs, result):
  """0.75 + 0.75 is 1 as an integer, not 0; real numbers have no imaginary part; and f64 is added up as such."""
  a, b = [[1.5, 0.5, 2.0**24, 0.25, -(2.0**24)]], [[0.5], [1.5], [1.0], [0.0], [1.0]]
  terms = {"float64": 5}.get(inputs, 2)
  dot = lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=result)
  with jax.enable_x64(inputs == "float64"):
    got = on_arrays(dot, jnp.asarray(a, inputs)[:, :terms], jnp.asarray(b, inputs)[:terms])
  assert got.dtype == result and got == np.asarray(0 if inputs == "int32" else 1.5).astype(result)


@pytest.mark.parametrize("inputs, result", [(jnp.bfloat16, jnp.float32), (jnp.int8, jnp.int32)])
@pytest.mark.parametrize("trans_a, trans_b", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("m, n, k", [(31, 70, 23), (3, 5, 65), (16, 33, 1)])
def test_small_elements_of_any_number_are_joined_to_units(inputs, result, trans_a, trans_b, m, n, k):
  """Also at the ends of the range of int8, where an instruction that saturates would show."""
  rng = np.random.default_rng(0)
  low, high = (-128, 128) if inputs == jnp.int8 else (-8, 9)
  a = jnp.asarray(rng.integers(low, high, (k, m) if trans_a else (m, k)), inputs)
  b = jnp.asarray(rng.integers(low, high, (n, k) if trans_b else (k, n)), inputs)

  def kernel(a_ref, b_ref, o_ref):
    dims = (((0 if trans_a else 1,), (1 if trans_b else 0,)), ((), ()))
    o_ref[...] = lax.dot_general(a_ref[...], b_ref[...], dims, preferred_element_type=result)

  agrees(kernel, S((m, n), result), a, b)


def test_int8_products_of_extremes_are_exact():
  a, b = jnp.full((15, 40), -128, jnp.int8), jnp.full((40, 33), -128, jnp.int8)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] += lax.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.int32)

  start = jnp.full((15, 33), 7, jnp.int32)
  call = pl.pallas_call(
    lambda a_ref, b_ref, _, o_ref: kernel(a_ref, b_ref, o_ref),
    S((15, 33), jnp.int32),
    input_output_aliases={2: 0},
    compiler_params=cpu.CompilerParams(),
  )
  np.testing.assert_array_equal(call(a, b, start), np.full((15, 33), 7 + 40 * 128 * 128))


@pytest.mark.parametrize("m, n, k", [(64, 96, 64), (50, 70, 64)])
def test_accumulation_over_a_grid_dimension(m, n, k):
  """`o += a @ b` starts from what stands in the output, also in blocks that hang over the edge."""
  a, b = _small_integers((m, k)), _small_integers((k, n), seed=1)

  def kernel(a_ref, b_ref, o_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += a_ref[...] @ b_ref[...]

  agrees(
    kernel,
    S((m, n), jnp.float32),
    a,
    b,
    grid=(pl.cdiv(m, 32), pl.cdiv(n, 48), k // 16),
    in_specs=[pl.BlockSpec((32, 16), lambda i, j, k: (i, k)), pl.BlockSpec((16, 48), lambda i, j, k: (k, j))],
    out_specs=pl.BlockSpec((32, 48), lambda i, j, k: (i, j)),
  )


def test_a_fused_prologue_and_epilogue():
  a, b = _small_integers((32, 32)), _small_integers((32, 64), seed=1)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = jnp.maximum((a_ref[...] * 2) @ (b_ref[...] + 1) + 3, 0)

  agrees(kernel, S((32, 64), jnp.float32), a, b)


@pytest.mark.parametrize("m, n", [(30, 70), (5, 3), (14, 32), (1, 100)])
def test_an_epilogue_that_uses_the_product_several_times(m, n):
  a, b, bias = _small_integers((m, 24)), _small_integers((24, n), seed=1), _small_integers((1, n), seed=2)

  def kernel(a_ref, b_ref, bias_ref, o_ref):
    x = a_ref[...] @ b_ref[...] + bias_ref[...]
    o_ref[...] = x * jnp.tanh(x) + jnp.where(x > 0, x, 0)

  agrees(kernel, S((m, n), jnp.float32), a, b, bias, ulps=4)


def test_an_epilogue_of_two_products_that_reads_what_it_overwrites():
  a, b, c = _small_integers((20, 24)), _small_integers((24, 40), seed=1), _small_integers((24, 40), seed=2)

  def kernel(a_ref, b_ref, c_ref, o_ref):
    o_ref[...] = jnp.full(o_ref.shape, 3.0)
    o_ref[...] = jnp.maximum(a_ref[...] @ b_ref[...], 0) * (a_ref[...] @ c_ref[...]) - o_ref[...]

  agrees(kernel, S((20, 40), jnp.float32), a, b, c)


def test_a_product_waits_for_no_store_that_changes_its_operands():
  a, b = _small_integers((32, 32)), _small_integers((32, 32), seed=1)

  def kernel(a_ref, b_ref, o_ref, scratch_ref):
    scratch_ref[...] = b_ref[...]
    product = a_ref[...] @ scratch_ref[...]
    scratch_ref[...] = product + 1
    second = a_ref[...] @ scratch_ref[...]
    scratch_ref[...] = jnp.zeros_like(scratch_ref)
    o_ref[...] = second + scratch_ref[...]

  agrees(kernel, S((32, 32), jnp.float32), a, b, scratch_shapes=[S((32, 32), jnp.float32)])


def test_gradients_of_a_native_kernel():
  a, b = _small_integers((16, 16)), _small_integers((16, 32), seed=1)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = a_ref[...] @ b_ref[...]

  product = pl.pallas_call(kernel, S((16, 32), jnp.float32), compiler_params=cpu.CompilerParams())
  ours = jax.grad(lambda a, b: (product(a, b) ** 2).sum(), argnums=(0, 1))(a, b)
  theirs = jax.grad(lambda a, b: ((a @ b) ** 2).sum(), argnums=(0, 1))(a, b)
  for x, y in zip(ours, theirs):
    np.testing.assert_array_equal(x, y)

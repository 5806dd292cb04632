"""Contractions compiled natively: any transposition, batch, size and input dtype."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import agrees
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


def test_gradients_of_a_native_kernel():
  a, b = _small_integers((16, 16)), _small_integers((16, 32), seed=1)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = a_ref[...] @ b_ref[...]

  product = pl.pallas_call(kernel, S((16, 32), jnp.float32), compiler_params=cpu.CompilerParams())
  ours = jax.grad(lambda a, b: (product(a, b) ** 2).sum(), argnums=(0, 1))(a, b)
  theirs = jax.grad(lambda a, b: ((a @ b) ** 2).sum(), argnums=(0, 1))(a, b)
  for x, y in zip(ours, theirs):
    np.testing.assert_array_equal(x, y)

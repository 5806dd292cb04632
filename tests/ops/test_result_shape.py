"""Results whose shape has dimensions of size 1 are not copied into another order of dimensions."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

from tilewright import ops

F32, I32 = jnp.float32, jnp.int32
S = jax.ShapeDtypeStruct
pytestmark = [pytest.mark.usual_xla, pytest.mark.skipif(jax.default_backend() != "cpu", reason="about XLA:CPU")]

CASES = {
  "rotary": (ops.rotary, [S((87, 1, 202), F32), S((87, 101), F32), S((87, 101), F32)]),
  "embedding": (ops.embedding, [S((649, 195), F32), S((5, 1, 57), I32)]),
  "rms_norm": (ops.rms_norm, [S((13, 1, 16, 96), F32), S((96,), F32)]),
  "layer_norm": (ops.layer_norm, [S((13, 1, 16, 96), F32), S((96,), F32), S((96,), F32)]),
  "softmax": (ops.softmax, [S((15, 1, 43, 29), F32)]),
  "matmul": (ops.matmul, [S((24, 1, 33), F32), S((33, 44), F32)]),
  "attention": (ops.attention, [S((4, 1, 128, 64), F32)] * 3),
  "cumsum": (ops.cumsum, [S((7, 1, 89, 79), F32)]),
  "gelu": (ops.gelu, [S((7, 1, 89, 79), F32)]),
  "cross_entropy": (ops.cross_entropy, [S((7, 1, 89, 79), F32), S((7, 1, 89), I32)]),
}


@pytest.mark.parametrize("name", CASES)
def test_no_result_is_copied(name):
  f, operands = CASES[name]
  text = jax.jit(f).lower(*operands).compile().as_text()
  copies = re.findall(r"%\S* = \S+ (?:copy|transpose)\(.*", text)
  assert not copies, copies


def test_values_derivatives_and_batches():
  x = jnp.asarray(np.random.default_rng(0).standard_normal((5, 1, 3, 16)), F32)
  flat = x.reshape(-1, 16)
  loss = lambda f: lambda x: (f(x) * jnp.arange(16.0)).sum()
  np.testing.assert_array_equal(ops.softmax(x).reshape(-1, 16), ops.softmax(flat))
  np.testing.assert_array_equal(jax.vmap(ops.softmax)(x).reshape(-1, 16), ops.softmax(flat))
  ours, theirs = jax.grad(loss(ops.softmax))(x), jax.grad(loss(ops.softmax))(flat)
  np.testing.assert_array_equal(ours.reshape(-1, 16), theirs)


def test_an_exported_program_says_no_order():
  exported = export.export(jax.jit(ops.softmax))(S((5, 1, 3, 16), F32))
  assert "LayoutConstraint" not in exported.mlir_module()
  x = jnp.ones((5, 1, 3, 16))
  np.testing.assert_allclose(exported.call(x), np.full(x.shape, 1 / 16), rtol=1e-6)

"""Flash attention against the plain formula in float64: what is seen, groups of heads, lengths, derivatives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from float64_oracle import EPS32, NATIVE, close, exact, gradient64, random, value64
from llvmlite import ir

from tests.support.attention_cases import CASES, attention64
from tests.support.golden_kernels import find
from tilewright import errors, ops
from tilewright.ops import calling
from tilewright.pallas.lowering import lower_kernel
from tilewright.target import cpu as target_cpu
from tilewright.target.cpu.launch import emit_point
from tilewright.tile.grid import Kernel
from tilewright.tile.parallel import parallel_dims
from tilewright.tile.standard_passes import clean

targets = pytest.mark.parametrize("target", NATIVE.values(), ids=NATIVE.keys())


cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def operands(heads, key_heads, queries, keys):
  return random(0, 2, heads, queries, 24), random(1, 2, key_heads, keys, 24), random(2, 2, key_heads, keys, 20)


@targets
@cases
def test_attention(target, case):
  *sizes, options = case
  q, k, v = operands(*sizes)
  found = jax.jit(lambda *a: ops.attention(*a, **options, blocks=(32, 16), **target))(q, k, v)
  # Scores below 10 are sums of 24 products: their error, 24 roundings of 10, is that of the exponentials relative to their size.
  close(found, value64(lambda *a: attention64(*a, **options), q, k, v), steps=300, size=4)


@pytest.mark.parametrize(
  "target, name", [("portable", [*CASES][1]), *(("native", name) for name in [*CASES][1:7:3] + [[*CASES][6]])]
)
def test_derivatives(target, name):
  target = NATIVE[target]
  *sizes, options = CASES[name]
  q, k, v = operands(*sizes)
  w = random(3, *q.shape[:-1], v.shape[-1])
  expected = gradient64(lambda *a: exact(w) * attention64(*a, **options), q, k, v)
  op = lambda *a: jnp.sum(w * ops.attention(*a, **options, blocks=(32, 16), **target))
  for d, e in zip(jax.jit(jax.grad(op, (0, 1, 2)))(q, k, v), expected):
    close(d, e, steps=600, size=10)


@targets
@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("window", [None, 9])
def test_small_floats(target, dtype, window):
  q, k, v = (x.astype(dtype) for x in operands(2, 1, 40, 33))
  seen = {"causal": True, "window": window}
  found = ops.attention(q, k, v, blocks=(16, 16), **seen, **target)
  assert found.dtype == dtype
  steps, magnitude = 300, 4.0
  if calling.platform() == "gpu":  # each weight is rounded to the dtype
    sums = value64(lambda q, k, v: attention64(q, k, jnp.abs(v), **seen), q, k, v)
    magnitude += float(jnp.finfo(dtype).eps) / 2 * sums / (steps * EPS32)
  close(found, value64(lambda *a: attention64(*a, **seen), q, k, v), steps=steps, size=magnitude)


def test_vmap_and_no_leading_dimension():
  q, k, v = operands(2, 2, 30, 30)
  expected = value64(attention64, q, k, v)
  close(jax.vmap(lambda *a: ops.attention(*a, blocks=(32, 16)))(q, k, v), expected, steps=300, size=4)
  close(ops.attention(q[0], k[0], v[0], blocks=(32, 16)), expected[0], steps=300, size=4)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="is about threads of the CPU")
def test_peak_memory_of_a_long_sequence_is_that_of_its_inputs_and_outputs():
  """Counted are what XLA allocates, and what each of eight threads uses besides. The scores of one head alone would be 256 MiB."""
  q = jax.ShapeDtypeStruct((2, 8192, 64), jnp.float32)
  f = lambda q, k, v: ops.attention(q, k, v, native=True)
  memory = jax.jit(f).lower(q, q, q).compile().memory_analysis()
  call = find(jax.make_jaxpr(f)(q, q, q).jaxpr)
  kernel = clean(lower_kernel(Kernel(**call.params)))
  _, arena = emit_point(ir.Module(), kernel, target_cpu.host(), parallel_dims(kernel))
  peak = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes + 8 * arena
  assert memory.argument_size_in_bytes == 3 * memory.output_size_in_bytes == 3 * q.size * 4
  assert peak < 1.2 * 4 * q.size * 4


def test_huge_scores_do_not_overflow():
  q = jnp.full((1, 4, 8), 1e3)
  v = random(4, 1, 4, 8)
  close(ops.attention(q, q, v), np.broadcast_to(exact(v).mean(1, keepdims=True), (1, 4, 8)), steps=8, size=4)


def test_no_elements():
  q, k = jnp.zeros((2, 5, 8)), jnp.zeros((2, 0, 8))
  np.testing.assert_array_equal(ops.attention(q, k, k), np.zeros((2, 5, 8)))
  dq, dk = jax.grad(lambda q, k: jnp.sum(ops.attention(q, k, k)), (0, 1))(q, k)
  assert dq.shape == q.shape and dk.shape == k.shape


def test_mistakes_are_named():
  q, k = jnp.zeros((4, 6, 8)), jnp.zeros((2, 5, 8))
  for call, words in (
    (lambda: ops.attention(q, jnp.zeros((3, 5, 8)), jnp.zeros((3, 5, 8))), "3 heads of k must divide the 4 heads of q"),
    (lambda: ops.attention(q, k, jnp.zeros((2, 4, 8))), "v must have the shape of k"),
    (lambda: ops.attention(q, k[..., :4], k[..., :4]), "same depth"),
    (lambda: ops.attention(q, k.astype(jnp.bfloat16), k), "one dtype"),
    (lambda: ops.attention(q[None], k, k), "same leading dimensions"),
    (lambda: ops.attention(q, k, k, window=-1), "must not be negative"),
    (lambda: ops.attention(q, k, k, blocks=(1, 2, 3)), "two positive sizes"),
    (lambda: ops.attention(q[0], k, k), "q must have at least 3 dimensions"),
  ):
    with pytest.raises(errors.ShapeMismatchError, match=words):
      call()

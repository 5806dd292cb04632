"""Plain programs under `tilewright.accelerate()` on an NVIDIA GPU, against the same programs in float32.

The model of XLA:GPU (`tests.accelerate.gpu_model`) shows what the pass does with a module; only here is the module XLA's.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tilewright
from tilewright.cli import bench_accelerate as programs

pytestmark = pytest.mark.gpu
BF16, F32 = jnp.bfloat16, jnp.float32


def arrays(count, *shape, dtype=F32):
  return [(jax.random.normal(jax.random.key(n), shape, F32) / 2).astype(dtype) for n in range(count)]


def slopes(f):
  return lambda *args: jax.grad(lambda *a: (f(*a).astype(F32) ** 2).sum(), tuple(range(len(args))))(*args)


def weighted(q, k, v, w):
  return jnp.einsum("bqhd,hdo->bqo", programs.attention(q, k, v), w)


QKV = [arrays(3, 2, 1024, 4, depth, dtype=dtype) for depth, dtype in ((64, BF16), (128, BF16), (64, jnp.float16))]
PROGRAMS = {
  "attention": (programs.attention, QKV[0]),
  "attention, equal operands": (programs.attention, [QKV[0][0]] * 3),
  "attention of depth 128": (programs.attention, QKV[1]),
  "attention in float16": (programs.attention, QKV[2]),
  "attention, derivative": (slopes(programs.attention), QKV[0]),
  "attention and a product": (weighted, [*QKV[0], *arrays(1, 4, 64, 96, dtype=BF16)]),
  "softmax": (jax.nn.softmax, arrays(1, 2048, 4096)),
  "softmax, derivative": (slopes(jax.nn.softmax), arrays(1, 2048, 4096)),
  "layer_norm": (programs.layer_norm, [*arrays(1, 2048, 5001), *arrays(2, 5001)]),
}
ATTENTIONS = [name for name in PROGRAMS if "attention" in name]


def compiled(name):
  f, args = PROGRAMS[name]
  return jax.jit(lambda *a: f(*a)).lower(*args).compile()


def error(name, found, precise):
  """Of the largest element, over all results."""
  pairs = zip(jax.tree.leaves(found), jax.tree.leaves(precise), strict=True)
  return max(
    float(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max() / np.abs(b).max()) for a, b in pairs
  )


def check(name, ours):
  """As near to the program in float32 as XLA's program is, times a factor, the second time too."""
  f, args = PROGRAMS[name]
  with jax.default_matmul_precision("highest"):
    precise = jax.tree.map(np.asarray, jax.jit(lambda *a: f(*a))(*(a.astype(F32) for a in args)))
  allowed = 2 * error(name, compiled(name)(*args), precise) + 2.0**-18
  found = jax.tree.map(np.asarray, ours(*args))
  assert error(name, found, precise) <= allowed
  # A result in another layout than JAX asked for is right for the host, which is told, and wrong for the next program on the device.
  read = jax.tree.map(np.asarray, jax.jit(lambda y: jax.tree.map(lambda v: v + 0, y))(ours(*args)))
  assert error(name, read, precise) <= allowed
  for one, other in zip(jax.tree.leaves(ours(*args)), jax.tree.leaves(found), strict=True):
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_the_program(name):
  with tilewright.accelerate() as acceleration:
    ours = compiled(name)
  check(name, ours)
  if name in ATTENTIONS:
    assert any(d.kind == "attention" for report in acceleration.reports for d in report.taken)


def test_programs_may_be_compiled_at_the_same_time():
  with tilewright.accelerate(), ThreadPoolExecutor(8) as pool:
    every = list(pool.map(compiled, PROGRAMS))
  for name, ours in zip(PROGRAMS, every, strict=True):
    check(name, ours)

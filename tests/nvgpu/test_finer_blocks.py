"""Large blocks cut into blocks of fewer rows: as code for a GPU, on the CPU, against NumPy."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import F32, S, natives
from jax import lax

from tilewright import pallas as pl
from tilewright.target import nvgpu
from tilewright.target.nvgpu.passes import lowering
from tilewright.tile import finer_blocks
from tilewright.tile.native import copied_kernel

RNG = np.random.default_rng(0)
X, Y = (RNG.integers(-4, 5, (32, 24)).astype(np.float32) for _ in range(2))
IMAGES = RNG.integers(0, 50, (2, 16, 8, 4)).astype(np.int32)


RESULT = (S((32, 24), F32),)


def by_blocks(body, *shapes, out=RESULT, rows=8, axis=0):
  def spec(shape):
    if len(shape) == 1:
      return pl.BlockSpec(shape, lambda i: (0,))
    block = tuple(rows if a == axis else n for a, n in enumerate(shape))
    return pl.BlockSpec(block, lambda i: tuple(i if a == axis else 0 for a in range(len(shape))))

  return pl.pallas_call(
    body,
    list(out),
    grid=(out[0].shape[axis] // rows,),
    in_specs=[spec(s) for s in shapes],
    out_specs=[spec(o.shape) for o in out],
  )


def normalised(x, w, o):
  """Rows, a reduction of each, and weights that all rows share."""
  top = x[...] - x[...].max(1, keepdims=True)
  o[...] = top * w[...] + jnp.sum(x[...], axis=1)[:, None]


def numbered(x, o):
  """The number of each row in the array, and of its block."""
  row = lax.broadcasted_iota(jnp.int32, x.shape, 0) + pl.program_id(0) * 8
  column = lax.broadcasted_iota(jnp.int32, x.shape, 1)
  o[...] = jnp.where(column <= row, x[...], -1.0) + pl.program_id(0)


def two_results(x, y, o, p):
  """One is written in two parts, of which each is a slice of the columns."""
  o[:, :12] = x[:, ::2] + 1
  o[:, 12:] = jnp.concatenate([y[:, 4:10], -y[:, :6]], axis=1)
  p[...] = jnp.cumsum(x[...] * y[...], axis=1)


def columns(x, o):
  """Blocks of columns: what is independent is the last axis."""
  o[...] = x[...] - x[...].min(0)[None]


def pooled(x, o):
  """Images of several channels, one block of rows of pixels: windows two pixels wide."""
  o[...] = jnp.maximum(x[:, :, ::2], x[:, :, 1::2]).reshape(o.shape)


W = np.arange(24, dtype=np.float32)
ROW, COLUMN = np.arange(32)[:, None], np.arange(24)[None]
CASES = {
  "rows": (by_blocks(normalised, (32, 24), (24,)), [X, W], [(X - X.max(1, keepdims=True)) * W + X.sum(1)[:, None]]),
  "numbers of rows": (by_blocks(numbered, (32, 24)), [X], [np.where(COLUMN <= ROW, X, -1) + ROW // 8]),
  "two results": (
    by_blocks(two_results, (32, 24), (32, 24), out=(S((32, 24), F32), S((32, 24), F32))),
    [X, Y],
    [np.concatenate([X[:, ::2] + 1, Y[:, 4:10], -Y[:, :6]], 1), np.cumsum(X * Y, 1)],
  ),
  "columns": (by_blocks(columns, (32, 24), axis=1), [X], [X - X.min(0)]),
  "images": (
    by_blocks(pooled, IMAGES.shape, out=(S((2, 16, 4, 4), jnp.int32),), axis=1),
    [IMAGES],
    [np.maximum(IMAGES[:, :, ::2], IMAGES[:, :, 1::2])],
  ),
}


@pytest.mark.parametrize("wanted", [1, 24, 100])
@pytest.mark.parametrize("name", CASES)
def test_rows_that_are_independent(name, wanted):
  f, args, expected = CASES[name]
  ((_, native),) = natives(f, *args)
  found = finer_blocks.refine(native, 32, wanted)
  if wanted < 100:
    assert np.prod(found.mapping.grid) > np.prod(native.mapping.grid)
  for one, other in zip(run(found, *args, arch="sm_90a"), expected, strict=True):
    np.testing.assert_array_equal(one, other)


def sums_of_rows(x, o):
  o[...] = x[...] - x[...].sum(0)[None]


def running_totals(x, o):
  o[...] = jnp.cumsum(x[...], axis=0)


def neighbours(x, o):
  o[...] = x[...] + jnp.concatenate([x[1:], x[:1]], axis=0)


def shifted(x, o):
  o[:7] = x[1:]
  o[7:] = x[:1]


def product(x, o):
  o[...] = jnp.dot(x[...].T, x[...]).sum() + x[...]


def reads_its_result(x, o):
  o[...] = x[...]
  o[...] = o[...] + o[...].sum(0)[None]


@pytest.mark.parametrize(
  "body", [sums_of_rows, running_totals, neighbours, shifted, product, reads_its_result], ids=lambda f: f.__name__
)
def test_rows_that_meet_stay_in_one_block(body):
  ((_, native),) = natives(by_blocks(body, (32, 24)), X)
  assert finer_blocks.refine(native, 32, 24) is native


def test_an_array_that_blocks_hang_over_keeps_them():
  ((_, native),) = natives(by_blocks(normalised, (30, 24), (24,), out=(S((30, 24), F32),), rows=8), X[:30], W)
  assert finer_blocks.refine(native, 32, 24) is native


def test_a_block_larger_than_registers_needs_no_scratch_memory():
  def softmax(x, o):
    e = jnp.exp(x[...] - x[...].max(1, keepdims=True))
    o[...] = e / e.sum(1, keepdims=True)

  x = S((256, 4096), F32)
  ((_, native),) = natives(by_blocks(softmax, x.shape, out=(x,), rows=64), x)
  assert lowering.lower(copied_kernel(native), nvgpu.arch.named("sm_90a")).kernel.mapping.grid == (128,)
  _, launch = nvgpu.compile_ptx(native, "sm_90a")
  assert launch.scratch_bytes == 0

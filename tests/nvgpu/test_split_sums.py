"""Sums along a sequential grid dimension in parts: each of the two kernels as code for a GPU, on the CPU, against exact sums."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import F32, S, natives

from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.target.llvm.prepared import prepared
from tilewright.tile import split_sums
from tilewright.tile.parallel import parallel_dims

FIRST, LAST = lambda axis: pl.program_id(axis) == 0, lambda axis: pl.program_id(axis) == pl.num_programs(axis) - 1


def integers(*shape, dtype=np.float32):
  return np.asarray(np.random.default_rng(0).integers(-4, 5, shape), dtype)


def column_sums(x):
  """An output block is the accumulator; rows of four, and columns in two halves."""

  def kernel(x_ref, o_ref):
    pl.when(FIRST(1))(lambda: o_ref.__setitem__(..., jnp.zeros_like(o_ref)))
    o_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)

  rows, columns = x.shape
  return pl.pallas_call(
    kernel,
    S((1, columns), x.dtype),
    grid=(2, rows // 4),
    in_specs=[pl.BlockSpec((4, columns // 2), lambda i, j: (j, i))],
    out_specs=pl.BlockSpec((1, columns // 2), lambda i, j: (0, i)),
  )(x)


def mean_and_range(x, scale):
  """Three accumulators in scratch memory, and a last step that reads them, an input and its number."""

  def kernel(x_ref, scale_ref, mean_ref, range_ref, total, low, high):
    @pl.when(FIRST(0))
    def _():
      total[...] = jnp.zeros_like(total)
      low[...] = jnp.full_like(low, 100)
      high[...] = jnp.full_like(high, -100)

    x = x_ref[...] * scale_ref[...]
    total[...] += x
    low[...] = jnp.minimum(low[...], x.min(0, keepdims=True))
    high[...] = jnp.maximum(x.max(0, keepdims=True), high[...])

    @pl.when(LAST(0))
    def _():
      steps = (pl.program_id(0) + 1).astype(F32)
      mean_ref[...] = total[...] / steps
      range_ref[...] = high[...] - low[...] + scale_ref[...]

  rows, columns = x.shape
  whole = lambda r: pl.BlockSpec((r, columns), lambda i: (0, 0))
  return pl.pallas_call(
    kernel,
    (S((2, columns), F32), S((1, columns), F32)),
    grid=(rows // 2,),
    in_specs=[pl.BlockSpec((2, columns), lambda i: (i, 0)), whole(1)],
    out_specs=(whole(2), whole(1)),
    scratch_shapes=[pltpu.VMEM((2, columns), F32), pltpu.VMEM((1, columns), F32), pltpu.VMEM((1, columns), F32)],
  )(x, scale)


def chosen_blocks(table, x):
  """Blocks that a prefetched table names, weighted by the number of the step."""

  def kernel(table_ref, x_ref, o_ref):
    pl.when(FIRST(0))(lambda: o_ref.__setitem__(..., jnp.zeros_like(o_ref)))
    o_ref[...] += x_ref[...] * (pl.program_id(0) + table_ref[0])

  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(table.shape[0],),
    in_specs=[pl.BlockSpec((1, 64), lambda i, t: (t[i], 0))],
    out_specs=pl.BlockSpec((1, 64), lambda i, t: (0, 0)),
  )
  return pl.pallas_call(kernel, S((1, 64), jnp.int32), grid_spec=spec)(table, x)


X, TABLE = integers(48, 128), np.asarray([3, 1, 0, 2] * 4, np.int32)
ROWS = integers(4, 64, dtype=np.int32)
SCALE = integers(1, 128) + 5
SCALED = (X * SCALE).reshape(24, 2, 128)
PROGRAMS = {
  column_sums: ([X], [X.sum(0, keepdims=True)]),
  mean_and_range: ([X, SCALE], [SCALED.sum(0) / 24, np.ptp(SCALED, (0, 1))[None] + SCALE]),
  chosen_blocks: ([TABLE, ROWS], [(ROWS[TABLE] * (np.arange(16) + 3)[:, None]).sum(0, keepdims=True)]),
}


@pytest.fixture(autouse=True)
def short_sums_too(monkeypatch):
  monkeypatch.setattr(split_sums, "_LEAST_BYTES", 0)


@pytest.mark.parametrize("instances", [8, 12, 1000])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_sums_in_parts(program, instances):
  args, wanted = PROGRAMS[program]
  ((_, native),) = natives(program, *args)
  found = split_sums.split(native, instances)
  parts, steps = found.parts.mapping.grid[-2:]
  assert parts * steps == native.mapping.grid[-1] and parts >= 4
  assert found.axis in parallel_dims(prepared(found.parts))
  partial = run(found.parts, *args, arch="sm_90a")
  totals = [np.asarray(t) for t in found.totals([jnp.asarray(p) for p in partial])]
  for one, other in zip(run(found.finish, *args, *totals, arch="sm_90a"), wanted, strict=True):
    np.testing.assert_array_equal(one, other.astype(one.dtype))


def kernel_of(body, scratch=(), steps=16, **options):
  return pl.pallas_call(
    body,
    S((1, 64), F32),
    grid=(steps,),
    in_specs=[pl.BlockSpec((1, 64), lambda i: (i, 0))],
    out_specs=pl.BlockSpec((1, 64), lambda i: (0, 0)),
    scratch_shapes=scratch,
    **options,
  )


def starts_at_one(x, o):
  pl.when(FIRST(0))(lambda: o.__setitem__(..., jnp.ones_like(o)))
  o[...] += x[...]


def reads_what_is_carried(x, o):
  pl.when(FIRST(0))(lambda: o.__setitem__(..., jnp.zeros_like(o)))
  o[...] += x[...] * (o[...] > 0)


def decays(x, o):
  pl.when(FIRST(0))(lambda: o.__setitem__(..., jnp.zeros_like(o)))
  o[...] = 0.5 * o[...] + x[...]


def starts_again(x, o):
  pl.when(pl.program_id(0) % 4 == 0)(lambda: o.__setitem__(..., jnp.zeros_like(o)))
  o[...] += x[...]


def looks_half_way(x, o, total):
  pl.when(FIRST(0))(lambda: total.__setitem__(..., jnp.zeros_like(total)))
  total[...] += x[...]
  pl.when(pl.program_id(0) == 7)(lambda: o.__setitem__(..., total[...]))


def adds_before_it_starts(x, o):
  o[...] += x[...]
  pl.when(FIRST(0))(lambda: o.__setitem__(..., jnp.zeros_like(o)))


@pytest.mark.parametrize(
  "body, scratch",
  [
    (starts_at_one, ()),
    (reads_what_is_carried, ()),
    (decays, ()),
    (starts_again, ()),
    (adds_before_it_starts, ()),
    (looks_half_way, [pltpu.VMEM((1, 64), F32)]),
  ],
  ids=lambda v: getattr(v, "__name__", ""),
)
def test_what_is_no_such_sum_stays_in_order(body, scratch):
  ((_, native),) = natives(kernel_of(body, scratch), integers(16, 64))
  assert split_sums.split(native, 1000) is None


def test_what_the_host_runs_is_the_sum(monkeypatch):
  """On a GPU, a call is two kernels with XLA's sum between; here each runs in the GPU's model."""
  from tilewright.target import nvgpu

  called = []

  def call(kernel, *operands, **options):
    called.append(kernel.name)
    shapes = [jax.ShapeDtypeStruct(m.array_aval.shape, m.array_aval.dtype) for m in kernel.mapping.output_mappings]
    return list(jax.pure_callback(lambda *a: tuple(run(kernel, *a, arch="sm_90a")), tuple(shapes), *operands))

  monkeypatch.setattr(nvgpu, "_run", call)
  args, wanted = PROGRAMS[mean_and_range]
  ((_, native),) = natives(mean_and_range, *args)
  found = jax.jit(lambda *a: nvgpu.run(native, *a))(*args)
  assert called == ["kernel_parts", "kernel_finish"]
  for one, other in zip(found, wanted, strict=True):
    np.testing.assert_array_equal(one, other.astype(one.dtype))

"""Sums along a sequential grid dimension in parts: each of the two kernels as code for a GPU, on the CPU, against exact sums."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import F32, S, natives

from tests.support.sums_along_grids import FIRST, PROGRAMS, integers, mean_and_range
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu
from tilewright.target.llvm.prepared import prepared
from tilewright.tile import split_sums
from tilewright.tile.parallel import parallel_dims


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


def test_partial_results_take_less_memory_than_what_is_added_up(monkeypatch):
  """Sixteen blocks are read; of an accumulator as large as a block there are at most four."""
  ((_, native),) = natives(kernel_of(lambda x, o: added_up(x, o)), integers(16, 64))
  assert split_sums.split(native, 1000).parts.mapping.grid == (4, 4)
  monkeypatch.setattr(split_sums, "_LEAST_PARTS", 5)
  assert split_sums.split(native, 1000) is None


def added_up(x, o):
  pl.when(FIRST(0))(lambda: o.__setitem__(..., jnp.zeros_like(o)))
  o[...] += x[...]


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

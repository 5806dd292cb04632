"""Whole kernels compiled natively: grids, blocks, memory, control flow, threads, caches."""

from __future__ import annotations

import concurrent.futures

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import agrees, computes_the_same
from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import cpu
from tilewright.pallas import tpu as pltpu

S = jax.ShapeDtypeStruct
f32 = jnp.float32


def _range(*shape, dtype=f32):
  return jnp.arange(np.prod(shape), dtype=dtype).reshape(shape)


def twice(x_ref, o_ref):
  o_ref[...] = x_ref[...] * 2


@pytest.mark.parametrize("size, block", [(1000, 128), (1024, 128), (7, 16), (16, 16), (1, 1)])
def test_blocks_that_hang_over_the_edge(size, block):
  spec = pl.BlockSpec((block,), lambda i: i)
  agrees(twice, S((size,), f32), _range(size), grid=(pl.cdiv(size, block),), in_specs=[spec], out_specs=spec)


def test_what_lies_outside_of_the_array_is_poison():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.isnan(x_ref[...]).astype(jnp.int32)

  spec = pl.BlockSpec((4, 24), lambda i, j: (i, j))
  out = pl.BlockSpec((4, 24), lambda i, j: (i, j))
  agrees(kernel, S((8, 48), jnp.int32), _range(6, 40), grid=(2, 2), in_specs=[spec], out_specs=out)


def test_squeezed_and_element_dimensions():
  agrees(
    twice,
    S((6, 5, 16), f32),
    _range(6, 8, 16),
    grid=(6,),
    in_specs=[pl.BlockSpec((None, pl.Element(5), 16), lambda i: (i, i // 2, 0))],
    out_specs=pl.BlockSpec((None, 5, 16), lambda i: (i, 0, 0)),
  )


def test_index_maps_that_read_prefetched_scalars():
  order = jnp.array([3, 0, 2, 1], jnp.int32)
  spec = pltpu.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(4,),
    in_specs=[pl.BlockSpec((2, 16), lambda i, order: (order[i], 0))],
    out_specs=pl.BlockSpec((2, 16), lambda i, order: (i, 0)),
  )

  def kernel(order_ref, x_ref, o_ref):
    o_ref[...] = x_ref[...] + order_ref[0].astype(f32)

  agrees(kernel, S((8, 16), f32), order, _range(8, 16), grid_spec=spec)


def test_dynamic_grids():
  x = _range(64)

  def run(n, **options):
    spec = pl.BlockSpec((16,), lambda i: i)
    call = pl.pallas_call(twice, S((64,), f32), grid=(n,), in_specs=[spec], out_specs=spec, **options)
    return call(x)

  native = jax.jit(lambda n: run(n, compiler_params=cpu.CompilerParams()))(3)
  np.testing.assert_array_equal(native[:48], x[:48] * 2)


def test_scratch_is_carried_along_the_grid():
  def kernel(x_ref, o_ref, total_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
      total_ref[...] = jnp.zeros_like(total_ref)

    total_ref[...] += x_ref[...]
    o_ref[...] = total_ref[...]

  spec = pl.BlockSpec((1, 16), lambda i: (i, 0))
  agrees(
    kernel,
    S((8, 16), f32),
    _range(8, 16),
    grid=(8,),
    in_specs=[spec],
    out_specs=spec,
    scratch_shapes=[pltpu.VMEM((1, 16), f32)],
  )


def test_accumulation_into_a_revisited_block_is_in_order():
  def kernel(x_ref, o_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] = o_ref[...] * 2 + x_ref[...]

  agrees(
    kernel,
    S((4, 16), f32),
    jnp.ones((4, 5, 16), f32),
    grid=(4, 5),
    in_specs=[pl.BlockSpec((1, None, 16), lambda i, j: (i, j, 0))],
    out_specs=pl.BlockSpec((1, 16), lambda i, j: (i, 0)),
  )


def test_aliased_blocks_are_read_as_they_were():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1

  spec = pl.BlockSpec((4, 8), lambda i: (0, 0))
  options = {"grid": (3,), "in_specs": [spec], "out_specs": spec, "input_output_aliases": {0: 0}}
  agrees(kernel, S((8, 8), f32), _range(8, 8), **options)


def test_loops_and_branches_with_tiles_and_refs():
  def kernel(x_ref, o_ref):
    def body(i, carry):
      total, scale = carry
      row = x_ref[i]

      @pl.when(i % 2 == 0)
      def _():
        o_ref[i] = row * scale

      @pl.when(i % 2 == 1)
      def _():
        o_ref[i] = total

      return total + row, scale * 2.0

    total, _ = lax.fori_loop(0, 6, body, (jnp.zeros(20), jnp.float32(1)))
    o_ref[6] = total
    o_ref[7] = lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 1.5), (0, total))[1]

  agrees(kernel, S((8, 20), f32), _range(6, 20))


def test_what_a_branch_puts_in_memory_is_not_there_after_it():
  def f(x, indices, which):
    narrow = x.astype(jnp.bfloat16)  # the gather needs it in memory, and so does the second one
    gathered = lax.cond(which[0] > 0, lambda: narrow[indices], lambda: narrow + 1)
    return gathered, narrow, narrow[indices + 1]

  for which in (0, 1):
    computes_the_same(f, _range(33), jnp.arange(33) % 7, jnp.full(1, which))


def test_scan_with_stacked_results():
  def kernel(x_ref, o_ref, last_ref):
    def step(carry, row):
      carry = carry * 0.5 + row
      return carry, carry + 1

    last, rows = lax.scan(step, jnp.zeros(20), x_ref[...], reverse=True)
    o_ref[...] = rows
    last_ref[...] = last

  agrees(kernel, [S((6, 20), f32), S((20,), f32)], _range(6, 20), ulps=2)


def test_swapping_a_value_through_a_loop():
  """Carried values are replaced at once: each iteration sees those of the one before."""

  def kernel(x_ref, o_ref):
    def body(_, pair):
      a, b = pair
      return b, a.T @ b * 0.5

    a, b = lax.fori_loop(0, 3, body, (x_ref[...], x_ref[...] + 1))
    o_ref[...] = a - b

  agrees(kernel, S((8, 8), f32), _range(8, 8) / 64, ulps=64)


def test_reading_and_writing_the_same_ref():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    o_ref[...] = o_ref[...].T  # needs the old value after parts of it are overwritten
    before = o_ref[0]
    o_ref[0] = jnp.zeros(16)
    o_ref[1] = before
    o_ref[...] += jnp.sum(o_ref[...], axis=0, keepdims=True)

  agrees(kernel, S((16, 16), f32), _range(16, 16))


@pytest.mark.parametrize("start", [-5, 0, 3, 30, 35, 39, 100])
def test_windows_over_the_edge_of_a_ref(start):
  def kernel(i_ref, x_ref, o_ref, p_ref):
    o_ref[...] = x_ref[:, pl.ds(i_ref[0], 8)]
    p_ref[...] = jnp.zeros_like(p_ref)
    p_ref[:, pl.ds(i_ref[0], 8)] = x_ref[:, 0:8]

  agrees(kernel, [S((3, 8), f32), S((3, 40), f32)], jnp.array([start], jnp.int32), _range(3, 40))


def test_views_reshaped_transposed_and_bitcast():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.zeros_like(o_ref)
    o_ref.reshape(32, 4)[3:7, :] = x_ref.reshape(32, 4)[0:4, :]
    o_ref.T[5, :] = x_ref.at[:, 2][...]
    o_ref.bitcast(jnp.int32)[7, 3:5] = jnp.full((2,), 0x3F800000, jnp.int32)

  agrees(kernel, S((8, 16), f32), _range(8, 16))


def test_scoped_memory():
  def kernel(x_ref, o_ref):
    def body(tmp):
      tmp[...] = x_ref[...] + 1
      o_ref[...] = tmp[...] * tmp[...]

    pl.run_scoped(body, pltpu.VMEM((4, 20), f32))

  agrees(kernel, S((4, 20), f32), _range(4, 20))


def test_under_vmap_and_jit_and_in_many_threads():
  spec = pl.BlockSpec((8, 32), lambda i: (i, 0))
  call = pl.pallas_call(
    twice, S((64, 32), f32), grid=(8,), in_specs=[spec], out_specs=spec, compiler_params=cpu.CompilerParams()
  )
  x = _range(3, 64, 32)
  np.testing.assert_array_equal(jax.vmap(call)(x), x * 2)
  compiled = jax.jit(call)
  big = [_range(64, 32) + i for i in range(16)]
  with concurrent.futures.ThreadPoolExecutor(8) as pool:
    for x, y in zip(big, pool.map(compiled, big)):
      np.testing.assert_array_equal(y, x * 2)


def test_a_dimension_the_user_calls_parallel():
  def kernel(x_ref, o_ref, tmp_ref):
    tmp_ref[...] = x_ref[...] * 3
    o_ref[...] = tmp_ref[...] + 1

  spec = pl.BlockSpec((8, 4096), lambda i: (i, 0))
  agrees(
    kernel,
    S((256, 4096), f32),
    _range(256, 4096),
    grid=(32,),
    in_specs=[spec],
    out_specs=spec,
    scratch_shapes=[pltpu.VMEM((8, 4096), f32)],
    params=cpu.CompilerParams(dimension_semantics=("parallel",)),
  )


def test_what_cannot_be_compiled_names_itself_and_the_line():
  def kernel(x_ref, o_ref):
    o_ref[...] = jnp.linalg.svd(x_ref[...], compute_uv=False)

  call = pl.pallas_call(kernel, S((2,), f32), compiler_params=cpu.CompilerParams())
  with pytest.raises(errors.NativeCodeError, match=r"'svd' at .*test_kernels\.py.*interpret=True"):
    call(_range(2, 4))

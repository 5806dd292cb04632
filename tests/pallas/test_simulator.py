"""The simulated machine on one device: what it computes, and how its cores share the grid."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.support.simulated_machine import (
  ANY,
  F32,
  SMEM,
  VMEM,
  Params,
  Semantics,
  arange,
  message_of,
  out,
)
from tilewright import pallas as pl
from tilewright.pallas import dma
from tilewright.pallas.tpu import interpret as sim
from tilewright.tile.memory import MemorySpace, SemaphoreType

# --- it computes what the portable lowering computes --------------------------------------------------------------


def blocks_over_the_edge(interpret):
  def kernel(x, y, o):
    o[...] = x[...] * pl.program_id(0).astype(F32) + y[...]

  spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
  call = pl.pallas_call(kernel, out((20, 200)), grid=(3, 2), in_specs=[spec, spec], out_specs=spec, interpret=interpret)
  return call(arange(20, 200), jnp.ones((20, 200)))


def matmul_with_a_k_loop(interpret):
  def kernel(x, y, o, acc):
    @pl.when(pl.program_id(2) == 0)
    def _():
      acc[...] = jnp.zeros_like(acc)

    acc[...] += jnp.dot(x[...], y[...], preferred_element_type=F32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
      o[...] = acc[...]

  call = pl.pallas_call(
    kernel,
    out((16, 16)),
    grid=(2, 2, 2),
    in_specs=[pl.BlockSpec((8, 8), lambda i, j, k: (i, k)), pl.BlockSpec((8, 8), lambda i, j, k: (k, j))],
    out_specs=pl.BlockSpec((8, 8), lambda i, j, k: (i, j)),
    scratch_shapes=[VMEM((8, 8), F32)],
    interpret=interpret,
  )
  return call(arange(16, 16) % 7, arange(16, 16) % 5)


def accumulation_into_a_revisited_block(interpret):
  def kernel(x, o):
    @pl.when(pl.program_id(0) == 0)
    def _():
      o[...] = jnp.zeros_like(o)

    o[...] += x[...]

  spec = pl.BlockSpec((1, 8), lambda i: (i, 0))
  call = pl.pallas_call(
    kernel,
    out((1, 8)),
    grid=(4,),
    in_specs=[spec],
    out_specs=pl.BlockSpec((1, 8), lambda i: (0, 0)),
    interpret=interpret,
  )
  return call(arange(4, 8))


def control_flow_and_dynamic_indices(interpret):
  def kernel(n, x, o):
    def step(i, total):
      row = x[i, :] + x[pl.ds(i, 2), :].sum(0)
      o[pl.ds(i, 1), :] = row[None]
      return total + lax.cond(i % 2 == 0, lambda: row.sum(), lambda: jnp.float32(0))

    total = lax.fori_loop(0, n[0], step, jnp.float32(0))
    rows = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, total))[1]
    o[7, :] = jnp.full((8,), rows)
    o[pl.ds(n[0], 7 - 4), :] = x[pl.ds(0, 3, 2), :]

  spec = pl.BlockSpec(memory_space=SMEM)
  call = pl.pallas_call(kernel, out((8, 8)), in_specs=[spec, pl.BlockSpec()], interpret=interpret)
  return call(jnp.array([4]), arange(8, 8))


def scan_with_stacked_results(interpret):
  def kernel(x, o, last):
    def step(carry, i):
      carry = carry + x[i]
      last[...] = carry
      return carry, carry * 2

    _, rows = lax.scan(step, jnp.zeros(8), jnp.arange(4))
    o[...] = rows

  return pl.pallas_call(kernel, (out((4, 8)), out((8,))), interpret=interpret)(arange(4, 8))


def integer_arrays_and_masks(interpret):
  def kernel(x, o):
    rows = lax.broadcasted_iota(jnp.int32, (8,), 0)
    column = rows * 0 + 2
    o[rows, column] = x[7 - rows, rows]
    four = x[0, 4].astype(jnp.int32)
    value = pl.load(x, (pl.ds(0, 8), pl.ds(four, 8)), mask=rows[None, :] < 4, other=-1.0)
    pl.store(o, (pl.ds(0, 8), pl.ds(four, 8)), value, mask=rows[None, :] < 4)
    o[:, 0:2] = jnp.zeros((8, 2))
    o[:, 3] = jnp.ones(8)

  return pl.pallas_call(kernel, out((8, 8)), interpret=interpret)(arange(8, 8))


def transforms_of_refs(interpret):
  def kernel(x, o, bits):
    o.reshape(4, 16)[1:3] = x.reshape(4, 16)[0:2]
    o.at[0:2][...] = jnp.ones((2, 8))
    o.at[6:8][...] = x[0:2] * 2
    bits[...] = x.bitcast(jnp.int16)[...]

  call = pl.pallas_call(kernel, (out((8, 8)), out((16, 8), jnp.int16)), interpret=interpret)
  return call(arange(8, 8))


def a_scalar_chooses_the_block(interpret):
  def kernel(order, x, o):
    o[...] = x[...] + order[pl.program_id(0)].astype(F32)

  spec = pl.GridSpec(
    grid=(3,),
    in_specs=[pl.BlockSpec((None, 8), lambda i, order: (order[i], 0))],
    out_specs=pl.BlockSpec((None, 8), lambda i, order: (i, 0)),
  )
  spec.num_scalar_prefetch = 1
  return pl.pallas_call(kernel, out((3, 8)), grid_spec=spec, interpret=interpret)(jnp.array([2, 0, 1]), arange(3, 8))


def scoped_memory_and_copies(interpret):
  def kernel(x, o):
    def body(buffer, sem):
      copy = dma.async_copy(x.at[2:4], buffer, sem)
      copy.wait()
      buffer[...] *= 2
      dma.async_copy(buffer, o.at[0:2], sem).wait()
      dma.sync_copy(x.at[0:6], o.at[2:8])

    pl.run_scoped(body, VMEM((2, 8), F32), SemaphoreType.DMA(()))

  spec = pl.BlockSpec(memory_space=ANY)
  return pl.pallas_call(kernel, out((8, 8)), in_specs=[spec], out_specs=spec, interpret=interpret)(arange(8, 8))


def an_input_updated_in_place(interpret):
  def kernel(x, o):
    o[0] = x[1] + o[0]

  spec = pl.BlockSpec(memory_space=ANY)
  call = pl.pallas_call(
    kernel, out((4, 8)), in_specs=[spec], out_specs=spec, input_output_aliases={0: 0}, interpret=interpret
  )
  return call(arange(4, 8))


def a_dynamic_grid(interpret):
  def kernel(x, o):
    o[...] = x[...] + 1

  spec = pl.BlockSpec((1, 8), lambda i: (i, 0))

  @jax.jit
  def f(n, x):
    call = pl.pallas_call(
      kernel, out((4, 8)), grid=(n,), in_specs=[spec], out_specs=spec, input_output_aliases={0: 0}, interpret=interpret
    )
    return call(x)

  return f(3, arange(4, 8))


def a_batch(interpret):
  def kernel(x, y, o):
    o[...] = x[...] * y[...]

  call = pl.pallas_call(kernel, out((8,)), interpret=interpret)
  return jax.vmap(call, in_axes=(0, None))(arange(3, 8), arange(8))


def several_dtypes(interpret):
  def kernel(a, b, c, oa, ob, oc):
    oa[...] = a[...] + 1
    ob[...] = b[...] * 2
    oc[...] = ~c[...]

  shapes = (out((8,), jnp.bfloat16), out((8,), jnp.int8), out((8,), jnp.bool_))
  call = pl.pallas_call(kernel, shapes, interpret=interpret)
  return call(arange(8, dtype=jnp.bfloat16), arange(8, dtype=jnp.int8), arange(8) > 3)


def atomics_and_globals(interpret):
  def kernel(_, x, o):
    count = pl.get_global(SMEM((1,), jnp.int32))

    @pl.when(pl.program_id(0) == 0)
    def _():
      count[0] = 0

    count[0] += 1
    at = lax.broadcasted_iota(jnp.int32, (4,), 0) // 2
    before = o[2]
    pl.atomic_add(x, (at,), jnp.ones(4, jnp.int32))
    o[...] = x[...]
    o[2] = count[0]
    o[3] = before * 0 + pl.atomic_max(x, (3,), count[0])

  spec = pl.BlockSpec(memory_space=ANY)
  call = pl.pallas_call(
    kernel,
    (out((4,), jnp.int32), out((4,), jnp.int32)),
    grid=(3,),
    in_specs=[spec],
    out_specs=(spec, spec),
    interpret=interpret,
    input_output_aliases={0: 0},
  )
  return call(jnp.zeros(4, jnp.int32))


def derivatives(interpret):
  def kernel(x, o):
    o[...] = x[...] * x[...] * 3

  call = pl.pallas_call(kernel, out((8,)), interpret=interpret)
  return jax.grad(lambda x: call(x).sum())(arange(8))


BASIC = [
  blocks_over_the_edge,
  matmul_with_a_k_loop,
  accumulation_into_a_revisited_block,
  control_flow_and_dynamic_indices,
  scan_with_stacked_results,
  integer_arrays_and_masks,
  transforms_of_refs,
  a_scalar_chooses_the_block,
  scoped_memory_and_copies,
  an_input_updated_in_place,
  a_dynamic_grid,
  a_batch,
  several_dtypes,
  atomics_and_globals,
  derivatives,
]


@pytest.mark.parametrize("program", BASIC, ids=lambda f: f.__name__)
def test_the_machine_computes_what_the_portable_lowering_computes(program):
  expected = jax.tree.leaves(program(True))
  for found, want in zip(jax.tree.leaves(program(Params())), expected, strict=True):
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", ["float64", "int64", "float8_e4m3fn", "int4", "uint4", "complex64"])
def test_every_dtype_gets_in_and_out_unchanged(dtype):
  def kernel(x, o):
    o[...] = x[...]

  with jax.enable_x64(dtype.endswith("64") and dtype != "complex64"):
    x = jnp.asarray([0, 1, 1 / 3, 3, 2**40 + 1]).astype(dtype)
    found = pl.pallas_call(kernel, out(x.shape, x.dtype), interpret=Params())(x)
    assert found.dtype == x.dtype
    assert np.asarray(found).tobytes() == np.asarray(x).tobytes()


def test_keys_of_random_numbers_are_operands_like_others():
  def kernel(keys, o):
    o[...] = jax.random.uniform(keys[2], (8,))

  keys = jax.random.split(jax.random.key(3), 4)
  spec = pl.BlockSpec(memory_space=MemorySpace.KEY)
  found = pl.pallas_call(kernel, out((8,)), in_specs=[spec], interpret=Params())(keys)
  np.testing.assert_array_equal(found, jax.random.uniform(keys[2], (8,)))


@pytest.mark.parametrize("program", [matmul_with_a_k_loop, scoped_memory_and_copies, blocks_over_the_edge])
def test_watching_for_races_changes_nothing_and_finds_none_in_right_kernels(program):
  found = program(Params(detect_races=True, dma_execution_mode="eager"))
  np.testing.assert_array_equal(found, program(True))
  assert sim.interpret_races() == ()


def test_a_forced_mode_reaches_calls_inside_of_jit():
  seen = []
  record = lambda point, core: seen.append(tuple(map(int, point)))

  @jax.jit
  def f(x):
    return pl.pallas_call(lambda x, o: o.__setitem__(..., x[...] * 2), out((2, 8)), grid=(2,), interpret=True)(x)

  plain = f(arange(2, 8))
  with sim.force_tpu_interpret_mode(Params(grid_point_recorder=record)):
    forced = jax.block_until_ready(f(arange(2, 8)))
  np.testing.assert_array_equal(plain, forced)
  assert seen == [(0,), (1,)]
  sim.set_tpu_interpret_mode(Params(grid_point_recorder=record))
  try:
    jax.block_until_ready(f(arange(2, 8) + 1))
  finally:
    sim.set_tpu_interpret_mode(None)
  assert len(seen) == 4
  f(arange(2, 8))
  assert len(seen) == 4


# --- the grid and its cores ---------------------------------------------------------------------------------------


def visits(shape, semantics, **params):
  """Which points a kernel visits, in order, with the core of each."""
  seen = []

  def kernel(o):
    o[0] = 0

  def record(point, core):
    seen.append((tuple(int(i) for i in point), int(core)))

  call = pl.pallas_call(
    kernel,
    out((1,), jnp.int32),
    grid=shape,
    out_specs=pl.BlockSpec(memory_space=ANY),
    compiler_params=Semantics(*semantics),
    interpret=Params(grid_point_recorder=record, **params),
  )
  jax.block_until_ready(call())
  return seen


def test_points_along_a_parallel_dimension_come_in_an_order_that_the_seed_decides():
  orders = {tuple(p[0] for p, _ in visits((8, 2), ("parallel", "arbitrary"), random_seed=seed)) for seed in range(4)}
  assert len(orders) > 1
  for order in orders:
    assert sorted(order) == sorted([*range(8), *range(8)])
  assert visits((8,), ("parallel",), random_seed=3) == visits((8,), ("parallel",), random_seed=3)


def test_points_along_other_dimensions_keep_their_order():
  for i in range(3):
    inner = [p[1] for p, _ in visits((3, 4), ("parallel", "arbitrary"), random_seed=1) if p[0] == i]
    assert inner == [0, 1, 2, 3]
  assert [p for p, _ in visits((2, 2), ("arbitrary", "arbitrary"))] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_cores_share_the_parallel_dimensions():
  seen = visits((5, 2), ("parallel", "arbitrary"), num_cores_or_threads=2)
  assert sorted(p for p, _ in seen) == [(i, j) for i in range(5) for j in range(2)]
  by_core = {core: {p[0] for p, c in seen if c == core} for core in (0, 1)}
  assert not by_core[0] & by_core[1] and len(by_core[0]) == 3
  assert {c for _, c in visits((4,), ("arbitrary",), num_cores_or_threads=2)} == {0}


def test_a_parallel_dimension_behind_another_is_refused():
  message = message_of(lambda: visits((2, 2), ("arbitrary", "parallel")))
  assert "parallel dimensions must come first" in message


def test_two_cores_give_the_result_of_one():
  def kernel(x, o):
    o[...] = x[...] * 2

  spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
  call = pl.pallas_call(
    kernel,
    out((36, 128)),
    grid=(5,),
    in_specs=[spec],
    out_specs=spec,
    compiler_params=Semantics("parallel"),
    interpret=Params(num_cores_or_threads=2, detect_races=True),
  )
  np.testing.assert_array_equal(call(arange(36, 128)), arange(36, 128) * 2)
  assert sim.interpret_races() == ()

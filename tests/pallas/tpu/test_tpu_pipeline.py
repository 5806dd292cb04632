"""Pipelines inside kernels, against what the body does on whole arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

S = jax.ShapeDtypeStruct
ANY = pl.BlockSpec(memory_space=pl.ANY)
SMEM = pl.BlockSpec(memory_space=pltpu.SMEM)
TILE = pl.BlockSpec((8, 8), lambda i, j: (i, j))
X = np.arange(32 * 24, dtype=np.float32).reshape(32, 24)


def run(kernel: Any, out: Any, *args: Any, scalars: int = 0, **kwargs: Any) -> Any:
  """A kernel over whole arrays; the first `scalars` operands are in SMEM."""
  in_specs = [SMEM] * scalars + [ANY] * (len(args) - scalars)
  return pl.pallas_call(kernel, out, in_specs=in_specs, out_specs=jax.tree.map(lambda _: ANY, out), **kwargs)(*args)


def add_one(x: Any, o: Any) -> None:
  o[...] = x[...] + 1


@settings(max_examples=8, deadline=None)
@given(
  shape=st.tuples(st.integers(1, 20), st.integers(1, 12)),
  block=st.tuples(st.integers(1, 8), st.integers(1, 8)),
  dtype=st.sampled_from([jnp.float32, jnp.int8, jnp.bfloat16]),
  slots=st.tuples(st.integers(1, 4), st.integers(1, 4)),
  lookahead=st.booleans(),
  synchronous=st.booleans(),
)
def test_every_block_is_fetched_and_written(
  shape: Any, block: Any, dtype: Any, slots: Any, lookahead: bool, synchronous: bool
) -> None:
  x = jnp.asarray(np.random.default_rng(0).integers(-50, 50, shape), dtype)
  index_map = lambda i, j: (i, j)
  in_spec = pl.BlockSpec(block, index_map, pipeline_mode=pl.Buffered(slots[0], use_lookahead=lookahead))
  out_spec = pl.BlockSpec(block, index_map, pipeline_mode=pl.Buffered(slots[1]))
  grid = tuple(pl.cdiv(d, b) for d, b in zip(shape, block))

  def kernel(x: Any, o: Any) -> None:
    pltpu.emit_pipeline(add_one, grid=grid, in_specs=[in_spec], out_specs=[out_spec], no_pipelining=synchronous)(x, o)

  np.testing.assert_array_equal(run(kernel, S(x.shape, x.dtype), x), x + 1)


@settings(max_examples=3, deadline=None)
@given(sizes=st.tuples(*[st.integers(1, 3)] * 3), slots=st.integers(1, 3), lookahead=st.booleans())
def test_matmul_accumulates_into_the_block_it_revisits(sizes: Any, slots: int, lookahead: bool) -> None:
  m, n, k = (s * 8 - 3 for s in sizes)
  rng = np.random.default_rng(1)
  a, b = rng.integers(-4, 5, (m, k)).astype(np.float32), rng.integers(-4, 5, (k, n)).astype(np.float32)
  mode = pl.Buffered(slots, use_lookahead=lookahead)

  def body(a: Any, b: Any, o: Any) -> None:
    step, last = pl.program_id(2), pl.num_programs(2) - 1
    inside = jax.lax.broadcasted_iota(jnp.int32, (8, 8), 1) < jnp.where(step == last, k - 8 * last, 8)
    left, right = jnp.where(inside, a[...], 0), jnp.where(inside.T, b[...], 0)
    o[...] = jnp.where(step == 0, 0, o[...]) + left @ right

  def kernel(a: Any, b: Any, o: Any) -> None:
    pltpu.emit_pipeline(
      body,
      grid=tuple(sizes),
      in_specs=[
        pl.BlockSpec((8, 8), lambda i, j, k: (i, k), pipeline_mode=mode),
        pl.BlockSpec((8, 8), lambda i, j, k: (k, j), pipeline_mode=mode),
      ],
      out_specs=pl.BlockSpec((8, 8), lambda i, j, k: (i, j)),
    )(a, b, o)

  np.testing.assert_array_equal(run(kernel, S((m, n), jnp.float32), a, b), a @ b)


def test_copies_overlap_the_body() -> None:
  """The copy for the next step starts before the body of the current one, and blocks that stay are not copied again."""

  def kernel(x: Any, o: Any) -> None:
    spec = pl.BlockSpec((8, 8), lambda i, j: (i, 0))
    pltpu.emit_pipeline(add_one, grid=(4, 2), in_specs=[spec], out_specs=[spec])(x, o)

  jaxpr = jax.make_jaxpr(lambda x: run(kernel, S((32, 8), jnp.float32), x))(X[:, :8])
  order = primitives_in_order(jaxpr.jaxpr, ("dma_start", "dma_wait", "scan", "swap"))
  # Before the loop: the first block. In it: the next block, this block, room for the result, the body, the result.
  loop = ["dma_start", "dma_wait", "dma_wait", "swap", "dma_start"]
  assert order == ["dma_start", "scan", *loop, "dma_wait", "dma_wait"]


def primitives_in_order(jaxpr: Any, names: Any) -> list[str]:
  found = []
  for eqn in jaxpr.eqns:
    if eqn.primitive.name in names:
      found.append(eqn.primitive.name)
    for value in eqn.params.values():
      for item in value if isinstance(value, tuple) else (value,):
        inner = getattr(item, "jaxpr", item)
        if hasattr(inner, "eqns"):
          found += primitives_in_order(inner, names)
  return found


def test_dynamic_grids_may_be_empty() -> None:
  def kernel(n: Any, x: Any, o: Any) -> None:
    pltpu.emit_pipeline(add_one, grid=(n[0], 3), in_specs=[TILE], out_specs=[TILE])(x, o)

  for rows in (0, 1, 3):
    out = np.asarray(run(kernel, S(X.shape, jnp.float32), jnp.array([rows]), X, scalars=1))
    np.testing.assert_array_equal(out[: 8 * rows], X[: 8 * rows] + 1)
    assert np.isnan(out[8 * rows :]).all()


def test_the_body_sees_the_grid_of_the_pipeline() -> None:
  def body(x: Any, o: Any) -> None:
    def add(i: Any, total: Any) -> Any:
      return total + pl.program_id(0) + i * pl.num_programs(1)

    @pl.when(pl.program_id(1) < 2)
    def _() -> None:
      o[...] = jnp.full((8, 8), jax.lax.fori_loop(0, 2, add, 0), jnp.float32)

    @pl.when(pl.program_id(1) == 2)
    def _() -> None:
      def scoped(s: Any) -> None:
        s[...] = x[...] * pl.program_id(1)
        o[...] = s[...]

      pl.run_scoped(scoped, pltpu.VMEM((8, 8), jnp.float32))

  def kernel(x: Any, o: Any) -> None:
    assert pl.num_programs(0) == 1
    pltpu.emit_pipeline(body, grid=(4, 3), in_specs=[TILE], out_specs=[TILE])(x, o)

  out = np.asarray(run(kernel, S(X.shape, jnp.float32), X, grid=(1,)))
  np.testing.assert_array_equal(out[:, 16:], X[:, 16:] * 2)
  np.testing.assert_array_equal(out[::8, 0], 2 * np.arange(4) + 3)


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_index_maps_see_the_grid_of_the_pipeline(is_dynamic: bool) -> None:
  def reversed_rows(i: Any, j: Any) -> Any:
    last = jax.lax.cond(j >= 0, lambda: pl.num_programs(0) - 1, lambda: 0)
    return last - pl.program_id(0), pl.num_programs(1) - 1 - j

  def kernel(n: Any, x: Any, o: Any) -> None:
    pltpu.emit_pipeline(
      add_one,
      grid=(n[0] if is_dynamic else 3, 2),
      in_specs=[pl.BlockSpec((8, 128), reversed_rows)],
      out_specs=[pl.BlockSpec((8, 128), lambda i, j: (pl.program_id(0), pl.program_id(1)))],
    )(x, o)

  x = np.arange(24 * 256, dtype=np.float32).reshape(24, 256)
  n = jnp.array([3], jnp.int32)
  out = run(kernel, x, n, x, scalars=1, grid=(1,))
  expected = x.reshape(3, 8, 2, 128)[::-1, :, ::-1].reshape(x.shape) + 1
  np.testing.assert_array_equal(out, expected)


def test_steps_may_be_passed_to_the_body() -> None:
  def body(step: Any, x: Any, o: Any) -> None:
    i, j = step
    o[...] = x[...] * 0 + (100 * i + 10 * j + step.local_index)

  def kernel(x: Any, o: Any) -> None:
    pltpu.emit_pipeline(body, grid=(4, 3), in_specs=[TILE], out_specs=[TILE], _explicit_indices=True)(x, o)

  out = np.asarray(run(kernel, S(X.shape, jnp.float32), X))[::8, ::8]
  np.testing.assert_array_equal(out, [[100 * i + 10 * j + 3 * i + j for j in range(3)] for i in range(4)])


def test_squeezed_dimensions_are_not_seen() -> None:
  x = np.arange(3 * 16 * 8, dtype=np.float32).reshape(3, 16, 8)

  def kernel(x: Any, o: Any) -> None:
    in_spec = pl.BlockSpec((None, 8, 8), lambda i, j: (i, j, 0))
    out_spec = pl.BlockSpec((8, pl.Squeezed(), 8), lambda i, j: (j, i, 0))
    pltpu.emit_pipeline(add_one, grid=(3, 2), in_specs=[in_spec], out_specs=[out_spec])(x, o)

  np.testing.assert_array_equal(run(kernel, S((16, 3, 8), jnp.float32), x), x.transpose(1, 0, 2) + 1)


def test_elements_overlap_and_padding_is_not_copied() -> None:
  x = np.arange(20, dtype=np.float32)

  def body(x: Any, o: Any) -> None:
    o[...] = x[...][None]

  def kernel(x: Any, o: Any) -> None:
    in_spec = pl.BlockSpec((pl.Element(8, (2, 2)),), lambda i: (i * 4,))
    pltpu.emit_pipeline(body, grid=(5,), in_specs=[in_spec], out_specs=[pl.BlockSpec((1, 8), lambda i: (i, 0))])(x, o)

  out = np.asarray(run(kernel, S((5, 8), jnp.float32), x))
  padded = np.pad(x, 2, constant_values=np.nan)
  for i in range(5):
    expected = padded[i * 4 : i * 4 + 8]
    np.testing.assert_array_equal(out[i][~np.isnan(expected)], expected[~np.isnan(expected)])


@pytest.mark.parametrize("first", [0, 9])
def test_of_a_block_of_elements_that_lies_outside_nothing_is_copied(first: int) -> None:
  """Where its place is known when the kernel is traced: before the array, or behind it."""

  def body(x: Any, y: Any, o: Any) -> None:
    o[...] = jnp.where(y[...] > 0, 7.0, x[...])

  def kernel(x: Any, y: Any, o: Any) -> None:
    specs = [pl.BlockSpec((pl.Element(3, (3, 3)),), lambda i: (first,)), pl.BlockSpec((3,), lambda i: (i,))]
    pltpu.emit_pipeline(body, grid=(2,), in_specs=specs, out_specs=[pl.BlockSpec((3,), lambda i: (i,))])(x, y, o)

  out = run(kernel, S((6,), jnp.float32), np.arange(6, dtype=np.float32), np.ones(6, np.float32))
  np.testing.assert_array_equal(out, np.full(6, 7.0))


def test_bounded_slices_have_dynamic_starts_and_sizes() -> None:
  x = np.arange(20, dtype=np.float32)
  starts, sizes = jnp.array([0, 3, 10]), jnp.array([3, 7, 4])

  def kernel(starts: Any, sizes: Any, x: Any, o: Any) -> None:
    spec = pl.BlockSpec((pl.BoundedSlice(8),), lambda i: (pl.ds(starts[i], sizes[i]),))
    pltpu.emit_pipeline(add_one, grid=(3,), in_specs=[spec], out_specs=[spec])(x, o)

  out = np.asarray(run(kernel, S((20,), jnp.float32), starts, sizes, x, scalars=2))
  np.testing.assert_array_equal(out[:14], x[:14] + 1)
  assert np.isnan(out[14:]).all()


def test_indirect_dimensions_gather_and_scatter() -> None:
  x = np.arange(20 * 8, dtype=np.float32).reshape(20, 8)
  rows = np.array([3, 1, 4, 19, 5, 9, 2, 6], np.int32)
  plain = pl.BlockSpec((4, 8), lambda i: (i, 0))

  def gather(rows: Any, x: Any, o: Any) -> None:
    spec = pl.BlockSpec((pl.Indirect(4), 8), lambda i: (rows[pl.ds(i * 4, 4)], 0))
    pltpu.emit_pipeline(add_one, grid=(2,), in_specs=[spec], out_specs=[plain])(x, o)

  def scatter(rows: Any, x: Any, o: Any) -> None:
    spec = pl.BlockSpec((pl.Indirect(4), 8), lambda i: (rows.at[pl.ds(i * 4, 4)], 0))
    pltpu.emit_pipeline(add_one, grid=(2,), in_specs=[plain], out_specs=[spec])(x, o)

  np.testing.assert_array_equal(run(gather, S((8, 8), jnp.float32), rows, x, scalars=1), x[rows] + 1)
  out = np.asarray(run(scatter, S((20, 8), jnp.float32), rows, x[:8], scalars=1))
  np.testing.assert_array_equal(out[rows], x[:8] + 1)


def test_gathered_rows_may_hang_over_in_the_other_dimension() -> None:
  x = np.arange(9 * 7, dtype=np.float32).reshape(9, 7)
  rows = np.array([8, 0, 3, 3], np.int32)

  def kernel(rows: Any, x: Any, o: Any) -> None:
    in_spec = pl.BlockSpec((5, pl.Indirect(2)), lambda i, j: (i, rows[pl.ds(j * 2, 2)]))
    out_spec = pl.BlockSpec((5, 2), lambda i, j: (i, j))
    pltpu.emit_pipeline(add_one, grid=(2, 2), in_specs=[in_spec], out_specs=[out_spec])(x, o)

  np.testing.assert_array_equal(run(kernel, S((7, 4), jnp.float32), rows, x.T, scalars=1), x.T[:, rows] + 1)


def test_a_kernel_with_a_pipeline_can_be_batched() -> None:
  def kernel(x: Any, o: Any) -> None:
    pltpu.emit_pipeline(add_one, grid=(2, 3), in_specs=[TILE], out_specs=[TILE])(x, o)

  batch = X.reshape(2, 16, 24)
  np.testing.assert_array_equal(jax.vmap(lambda x: run(kernel, S((16, 24), jnp.float32), x))(batch), batch + 1)


def test_blocks_may_be_revisited_at_any_step() -> None:
  def body(x: Any, o: Any) -> None:
    o[...] = x[...] + jnp.where(pl.program_id(0) == 0, 0, o[...])

  def kernel(x: Any, o: Any) -> None:
    mode = pl.Buffered(2, revisit=pl.RevisitMode.ANY)
    spec = pl.BlockSpec((8, 8), lambda i, j: (0, j), pipeline_mode=mode)
    pltpu.emit_pipeline(body, grid=(4, 3), in_specs=[TILE], out_specs=[spec])(x, o)

  np.testing.assert_array_equal(run(kernel, S((8, 24), jnp.float32), X), X.reshape(4, 8, 24).sum(0))


def test_operands_may_be_read_and_written() -> None:
  def body(x: Any, o: Any) -> None:
    o[...] += x[...]

  def kernel(x: Any, start: Any, o: Any) -> None:
    buffers = (pltpu.BufferedRef.input(TILE, jnp.float32), pltpu.BufferedRef.input_output(TILE, jnp.float32, 3))
    pipeline = pltpu.emit_pipeline(body, grid=(4, 3), in_specs=[TILE], out_specs=[TILE])
    pl.run_scoped(lambda b: pipeline(x, o, allocations=b), buffers)

  out = run(kernel, S(X.shape, jnp.float32), X, 3 * X, input_output_aliases={1: 0})
  np.testing.assert_array_equal(out, 4 * X)


def test_whole_arrays_scratch_and_trees() -> None:
  weights = {"w": np.ones((24, 5), np.float32), "b": np.arange(5, dtype=np.float32)}

  def body(x: Any, params: Any, o: Any, total: Any) -> None:
    total[...] = x[...] @ params["w"][...]
    o[...] = total[...] + params["b"][...]

  def kernel(x: Any, w: Any, b: Any, o: Any, total: Any) -> None:
    in_specs = [pl.BlockSpec((8, 24), lambda i: (i, 0)), {"w": pl.BlockSpec(), "b": pl.BlockSpec()}]
    pipeline = pltpu.emit_pipeline(body, grid=(4,), in_specs=in_specs, out_specs=pl.BlockSpec((8, 5), lambda i: (i, 0)))
    pipeline(x, {"w": w, "b": b}, o, scratches=[total])

  out = run(
    kernel, S((32, 5), jnp.float32), X, weights["w"], weights["b"], scratch_shapes=[pltpu.VMEM((8, 5), jnp.float32)]
  )
  np.testing.assert_array_equal(out, X @ weights["w"] + weights["b"])


def test_allocations_are_used_by_several_calls() -> None:
  pipeline, make = pltpu.emit_pipeline_with_allocations(add_one, grid=(4, 3), in_specs=[TILE], out_specs=[TILE])

  def kernel(x: Any, once: Any, twice: Any, buffers: Any) -> None:
    pipeline(x, once, allocations=buffers)
    pipeline(once, twice, allocations=buffers)

  whole = S(X.shape, jnp.float32)
  _, twice = run(kernel, (whole, whole), X, scratch_shapes=[make(whole, whole)])
  np.testing.assert_array_equal(twice, X + 2)


def test_inputs_may_be_fetched_ahead_of_the_pipeline() -> None:
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=1)
  pipeline, prefetch = pltpu.emit_pipeline_with_async_prefetch(
    add_one, grid=(4, 3), in_specs=[TILE], out_specs=[TILE], mesh=mesh
  )

  def kernel(x: Any, o: Any) -> None:
    pipeline(x, o, allocations=prefetch(x))

  np.testing.assert_array_equal(run(kernel, S(X.shape, jnp.float32), X), X + 1)
  with pytest.raises(errors.UnsupportedFeatureError, match="outside of a kernel"):
    prefetch(X)


@pytest.mark.parametrize("cores", [2, 3])
def test_cores_share_a_parallel_dimension(cores: int) -> None:
  def body(x: Any, o: Any) -> None:
    o[...] = x[...] * 10 + pl.program_id(0)

  def pipeline(**where: Any) -> Any:
    semantics = (pltpu.PARALLEL, pltpu.ARBITRARY)
    return pltpu.emit_pipeline(
      body, grid=(4, 3), in_specs=[TILE], out_specs=[TILE], dimension_semantics=semantics, **where
    )

  expected = X * 10 + np.repeat(np.arange(4), 8)[:, None]
  out = run(lambda x, o: pipeline(core_axis=0)(x, o), S(X.shape, jnp.float32), X, grid=(cores,))
  np.testing.assert_array_equal(out, expected)
  mesh = pltpu.TensorCoreMesh(axis_name="core", num_cores=cores)
  kernel = pl.kernel(lambda x, o: pipeline(core_axis_name="core")(x, o), S(X.shape, jnp.float32), mesh=mesh)
  np.testing.assert_array_equal(kernel(jnp.asarray(X)), expected)


def test_pipelines_nest_and_use_blocks_in_place() -> None:
  def body(x: Any, o: Any) -> None:
    spec = pl.BlockSpec((4, 8), lambda i: (i, 0))
    pltpu.emit_pipeline(inner, grid=(2,), in_specs=[spec], out_specs=[spec])(x, o)

  def inner(x: Any, o: Any) -> None:
    o[...] = x[...] + pl.program_id(0)

  def kernel(x: Any, o: Any) -> None:
    pltpu.emit_pipeline(body, grid=(4, 3), in_specs=[TILE], out_specs=[TILE])(x, o)

  expected = X + np.tile(np.repeat(np.arange(2), 4), 4)[:, None]
  np.testing.assert_array_equal(run(kernel, S(X.shape, jnp.float32), X), expected)
  whole = pl.pallas_call(kernel, S(X.shape, jnp.float32))  # refs on chip: nothing is copied
  np.testing.assert_array_equal(whole(X), expected)
  assert "dma_start" not in str(jax.make_jaxpr(whole)(X))


@pytest.mark.parametrize(("slots", "lookahead"), [(1, False), (2, False), (3, True)])
def test_no_races_when_copies_are_late(slots: int, lookahead: bool) -> None:
  """On the simulated machine a copy happens at its wait, so that a missing wait would show."""
  x = np.arange(14 * 10, dtype=np.float32).reshape(14, 10)
  index_map = lambda i, j: (i, j // 2)
  in_spec = pl.BlockSpec((8, 8), index_map, pipeline_mode=pl.Buffered(slots, use_lookahead=lookahead))
  out_spec = pl.BlockSpec((8, 8), index_map, pipeline_mode=pl.Buffered(slots))

  def body(x: Any, o: Any) -> None:
    o[...] = x[...] + jnp.where(pl.program_id(1) % 2 == 0, 0, o[...])

  def kernel(x: Any, o: Any) -> None:
    pltpu.emit_pipeline(body, grid=(2, 4), in_specs=[in_spec], out_specs=[out_spec])(x, o)

  out = run(kernel, S(x.shape, jnp.float32), x, interpret=pltpu.InterpretParams(detect_races=True))
  np.testing.assert_array_equal(out, 2 * x)
  assert not pltpu.interpret.interpret_races()


# --- mistakes ----------------------------------------------------------------------------------------------------


def trace(pipeline: Any, *refs: int) -> None:
  def kernel(x: Any, o: Any) -> None:
    pipeline(*(x if r == 0 else o for r in refs))

  jax.make_jaxpr(lambda x: run(kernel, S(X.shape, jnp.float32), x))(X)


@pytest.mark.parametrize(
  ("kwargs", "refs", "error", "message"),
  [
    ({}, (0,), errors.TreeMismatchError, "called with 1 refs"),
    ({"in_specs": [pl.BlockSpec((8,), lambda i, j: (i,))]}, (0, 1), errors.BlockRankError, "same number of dimensions"),
    ({"in_specs": [pl.BlockSpec((8, 8), lambda i, j: i)]}, (0, 1), errors.IndexMapError, "must return 2 values"),
    ({"in_specs": [pl.BlockSpec((8, 8), lambda i, j: (pl.ds(i, 2), j))]}, (0, 1), errors.IndexMapError, "BoundedSlice"),
    ({"in_specs": ["rows"]}, (0, 1), errors.BlockSpecError, "expected a pl.BlockSpec"),
    ({"grid": (2.5, 1)}, (0, 1), errors.GridError, "integer sizes"),
    ({"dimension_semantics": ("parallel",)}, (0, 1), errors.GridError, "one entry for each of 2"),
    ({"core_axis": 0, "core_axis_name": "c"}, (0, 1), errors.GridError, "either core_axis or core_axis_name"),
  ],
)
def test_mistakes_are_named(kwargs: Any, refs: Any, error: type[Exception], message: str) -> None:
  arguments = {"grid": (4, 3), "in_specs": [TILE], "out_specs": [TILE]} | kwargs
  with pytest.raises(error, match=message):
    trace(pltpu.emit_pipeline(add_one, **arguments), *refs)


def test_cores_need_a_parallel_dimension() -> None:
  pipeline = pltpu.emit_pipeline(add_one, grid=(4, 3), in_specs=[TILE], out_specs=[TILE], core_axis=0)
  with pytest.raises(errors.GridError, match="none of its dimensions is parallel"):
    run(lambda x, o: pipeline(x, o), S(X.shape, jnp.float32), X, grid=(2,))


def test_bodies_return_nothing_and_pipelines_run_in_kernels() -> None:
  pipeline = pltpu.emit_pipeline(lambda x, o: x[...], grid=(4, 3), in_specs=[TILE], out_specs=[TILE])
  with pytest.raises(errors.KernelReturnError, match="must return None"):
    trace(pipeline, 0, 1)
  with pytest.raises(errors.OutsideKernelError, match="emit_pipeline"):
    pipeline(X, X)


def test_buffers_count_what_is_under_way() -> None:
  buffers = pltpu.BufferedRef.input(TILE, jnp.float32, 3, grid_rank=2, use_lookahead=True).initialize_slots()
  assert buffers.window_ref.shape == (3, 8, 8) and buffers.sem_recvs.shape == (3,) and buffers.sem_sends is None
  for _ in range(4):
    buffers = buffers.advance_copy_in_slot()
  assert (buffers.cumulative_copy_in, buffers.current_copy_in_slot) == (4, 1)
  assert buffers.advance_wait_in_slot(False).cumulative_wait_in == 0
  assert buffers.with_next_fetch((1, 2)).advance_next_fetch((4, 3)).next_fetch_indices == (2, 0)
  assert buffers.is_input and not buffers.is_output and buffers.use_lookahead and not buffers.has_indirect
  assert pltpu.BufferedRef.input(TILE, jnp.float32, source_memory_space=pltpu.VMEM).window_ref is None


@pytest.mark.parametrize("space", [pltpu.SMEM, pltpu.KEY, None], ids=str)
@pytest.mark.parametrize("one", [True, False], ids=["one key", "a key for each step"])
def test_keys_are_brought_from_hbm(space: Any, one: bool) -> None:
  keys = jax.random.key(3) if one else jax.random.split(jax.random.key(3), 2)
  spec = pl.BlockSpec(memory_space=space) if one else pl.BlockSpec((1,), lambda i: (i,), memory_space=space)

  def body(key: Any, o: Any) -> None:
    o[...] = jax.random.bits(key[...] if one else key[0], (8, 8))

  def kernel(keys: Any, o: Any) -> None:
    pltpu.emit_pipeline(body, grid=(2,), in_specs=[spec], out_specs=[pl.BlockSpec((8, 8), lambda i: (i, 0))])(keys, o)

  wanted = [jax.random.bits(keys if one else keys[i], (8, 8)) for i in range(2)]
  np.testing.assert_array_equal(run(kernel, S((16, 8), jnp.uint32), keys), np.concatenate(wanted))


def test_none_in_a_tree_of_refs_is_none_for_the_body() -> None:
  def body(pair: Any, absent: Any, o: Any) -> None:
    assert pair["bias"] is None and absent is None
    o[...] = pair["x"][...] + 1

  def kernel(x: Any, o: Any) -> None:
    specs = [{"x": TILE, "bias": None}, None]
    pltpu.emit_pipeline(body, grid=(4, 3), in_specs=specs, out_specs=TILE)({"x": x, "bias": None}, None, o)

  np.testing.assert_array_equal(run(kernel, S(X.shape, X.dtype), X), X + 1)


@pytest.mark.target("portable")
@pytest.mark.parametrize("refs, spec", [((None,), TILE), (((0, 1),), TILE)])
def test_what_is_not_a_ref_is_named(refs: Any, spec: Any) -> None:
  def kernel(x: Any, o: Any) -> None:
    pltpu.emit_pipeline(lambda *_: None, grid=(4, 3), in_specs=[spec])(*refs)

  with pytest.raises(errors.RefTypeError, match="expected one ref for the spec"):
    run(kernel, S(X.shape, X.dtype), X)


@pytest.mark.target("portable")
def test_a_window_of_the_whole_array_is_one_buffer() -> None:
  """For any step: a map of zeros. A block that only may be the same at every step has two buffers."""
  shape = X.shape
  windows = {
    "whole": (pl.BlockSpec(shape, lambda i: (0, 0)), shape),
    "no map": (pl.BlockSpec(shape), shape),
    "no block": (pl.BlockSpec(), shape),
    "squeezed": (pl.BlockSpec((1, None, *shape), lambda i: (0, 0, 0, 0)), (1, 1, *shape)),
    "computed": (pl.BlockSpec(shape, lambda i: (0 * i, 0)), (2, *shape)),
    "a part": (pl.BlockSpec((8, 24), lambda i: (0, 0)), (2, 8, 24)),
    "elements": (pl.BlockSpec((pl.Element(32), pl.Element(24)), lambda i: (0, 0)), (2, *shape)),
  }
  found = {}

  def kernel(x: Any, o: Any) -> None:
    for name, (spec, _) in windows.items():
      _, describe = pltpu.emit_pipeline_with_allocations(lambda *_: None, grid=(3,), in_specs=[spec])
      (buffers,) = describe(x.reshape(1, 1, *shape) if name == "squeezed" else x)
      found[name] = tuple(buffers.window_ref.shape)

  run(kernel, S(shape, X.dtype), X)
  assert found == {name: wanted for name, (_, wanted) in windows.items()}


@pytest.mark.parametrize("mode", [None, pl.Buffered(3)])
def test_whole_arrays_are_fetched_once_and_written_once(mode: Any) -> None:
  whole = pl.BlockSpec((1, *X.shape), lambda i: (0, 0, 0), pipeline_mode=mode)
  squeezed = pl.BlockSpec((None, *X.shape), lambda i: (0, 0, 0), pipeline_mode=mode)

  def body(x: Any, o: Any) -> None:
    at_first = pl.program_id(0) == 0
    o[0] = jnp.where(at_first, 0, o[0]) + x[...]

  def kernel(x: Any, o: Any) -> None:
    pltpu.emit_pipeline(body, grid=(3,), in_specs=[squeezed], out_specs=[whole])(x, o)

  np.testing.assert_array_equal(run(kernel, S((1, *X.shape), X.dtype), X[None]), 3 * X[None])


@pytest.mark.target("portable")
def test_a_grid_that_is_known_to_be_empty_is_an_error() -> None:
  def kernel(x: Any, o: Any) -> None:
    pltpu.emit_pipeline(add_one, grid=(0, 3), in_specs=[TILE], out_specs=[TILE])(x, o)

  with pytest.raises(ValueError, match="strictly positive"):
    run(kernel, S(X.shape, X.dtype), X)

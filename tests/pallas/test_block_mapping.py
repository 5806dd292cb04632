"""Which block of each array an instance sees, and where its results go: a straightforward loop over the grid says the same."""

from __future__ import annotations

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax
from language import F32, I32, S, arange, cropped, examples, numbers, padded, pointwise, poison, run, same

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import specs
from tilewright.pallas import tpu as pltpu
from tilewright.pallas.tpu import interpret
from tilewright.tile.memory import TpuMemorySpace

SEA = 32  # poison around the array in the model: further than any block reaches
VMEM, SMEM, HBM = TpuMemorySpace.VMEM, TpuMemorySpace.SMEM, TpuMemorySpace.HBM


@dataclasses.dataclass(frozen=True)
class Dim:
  """A dimension of a random block spec: its kind, its size, and the affine map from grid indices to its index."""

  kind: str
  size: int
  weights: tuple[int, ...]
  offset: int
  pad: int = 0

  def at(self, point):
    return sum(w * i for w, i in zip(self.weights, point)) + self.offset

  def block_dim(self):
    return {
      "blocked": pl.Blocked(self.size) if self.offset % 2 else self.size,
      "squeezed": pl.Squeezed() if self.offset % 2 else None,
      "element": pl.Element(self.size, (self.pad, 1)),
      "bounded": pl.BoundedSlice(self.size),
      "indirect": pl.Indirect(self.size),
    }[self.kind]

  def length(self, point):
    return 1 + self.at(point) % self.size

  def entry(self, point):
    at = self.at(point)
    match self.kind:
      case "bounded":
        return pl.ds(at, 1 + lax.rem(jnp.int32(at), jnp.int32(self.size)))
      case "indirect":
        return at + 2 * lax.iota(I32, self.size)
    return at

  def elements(self, point):
    """The element numbers seen, and how many of them count."""
    at = self.at(point)
    match self.kind:
      case "blocked":
        return at * self.size + np.arange(self.size), self.size
      case "squeezed":
        return np.array([at]), 1
      case "element":
        return at - self.pad + np.arange(self.size), self.size
      case "bounded":
        return at + np.arange(self.size), self.length(point)
      case "indirect":
        return at + 2 * np.arange(self.size), self.size


KINDS = ("blocked", "blocked", "squeezed", "element", "bounded", "indirect")


@st.composite
def mappings(draw):
  """A grid, an array shape and a spec for it."""
  grid = tuple(draw(st.lists(st.integers(1, 3), min_size=0, max_size=2)))
  shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
  dims = []
  for _ in shape:
    kinds = [k for k in KINDS if k != "indirect" or all(d.kind != "indirect" for d in dims)]
    kind = draw(st.sampled_from(kinds))
    weights = tuple(draw(st.integers(0, 2)) for _ in grid)
    size = 1 if kind == "squeezed" else draw(st.integers(1, 4))
    dims.append(Dim(kind, size, weights, draw(st.integers(0, 1)), draw(st.integers(0, 2))))
  return grid, shape, tuple(dims)


def spec_of(dims):
  return pl.BlockSpec([d.block_dim() for d in dims], lambda *point: tuple(d.entry(point) for d in dims))


def model_index(dims, point):
  """An open mesh of element numbers in the sea, and the mask of those that count."""
  found = [d.elements(point) for d in dims]
  counts = np.ones(tuple(len(e) for e, _ in found), bool)
  for axis, (e, n) in enumerate(found):
    counts &= (np.arange(len(e)) < n).reshape([-1 if a == axis else 1 for a in range(len(dims))])
  return np.ix_(*(e + SEA for e, _ in found)), counts


def seen_shape(dims):
  return tuple(d.size for d in dims if d.kind != "squeezed")


@given(mappings(), st.sampled_from([np.float32, np.int32, np.bool_]))
@examples(25)
def test_each_instance_sees_the_block_its_index_map_names(case, dtype):
  grid, shape, dims = case
  array = numbers(shape, dtype)
  sea = padded(array, SEA)
  seen = seen_shape(dims)
  expected = np.zeros((*grid, *seen), dtype)
  for point in itertools.product(*map(range, grid)):
    index, counts = model_index(dims, point)
    expected[point] = np.where(counts, sea[index], poison(dtype)).reshape(seen)

  def kernel(x_ref, o_ref):
    assert x_ref.shape == seen
    o_ref[...] = x_ref[...]

  out_spec = pl.BlockSpec((*(None for _ in grid), *seen), lambda *point: (*point, *(0 for _ in seen)))
  same(
    run(kernel, array, out=S(expected.shape, dtype), grid=grid, in_specs=[spec_of(dims)], out_specs=out_spec), expected
  )


@given(mappings())
@examples(25)
def test_each_instance_writes_its_block_and_nothing_outside_the_array(case):
  grid, shape, dims = case
  array = numbers(shape, np.int32)
  sea = padded(array, SEA)
  for number, point in enumerate(itertools.product(*map(range, grid))):
    index, counts = model_index(dims, point)
    sea[index] = np.where(counts, sea[index] + 100 * (number + 1), sea[index])

  def kernel(x_ref, o_ref):
    number = jnp.int32(0)
    for axis in range(len(grid)):
      number = number * pl.num_programs(axis) + pl.program_id(axis)
    # The block holds what the array held, or what an earlier instance wrote: outputs may be read.
    o_ref[...] = o_ref[...] + 100 * (number + 1)

  spec = spec_of(dims)
  out = run(kernel, array, grid=grid, in_specs=[spec], out_specs=spec, input_output_aliases={0: 0})
  same(out, cropped(sea, SEA))


@given(mappings())
@examples(20)
def test_what_no_instance_writes_is_poison(case):
  grid, shape, dims = case
  sea = padded(np.full(shape, np.nan, np.float32), SEA)
  for point in itertools.product(*map(range, grid)):
    index, counts = model_index(dims, point)
    sea[index] = np.where(counts, 1.0, sea[index])

  def kernel(o_ref):
    o_ref[...] = jnp.ones(o_ref.shape, F32)

  out = run(kernel, out=S(shape, F32), grid=grid, out_specs=spec_of(dims))
  same(out, cropped(sea, SEA))


@given(st.integers(1, 9), st.integers(1, 4), st.data())
@examples(25)
def test_index_maps_may_read_prefetched_scalars(size, block, data):
  blocks = -(-size // block)
  table = np.array(data.draw(st.lists(st.integers(0, blocks - 1), min_size=1, max_size=4)), np.int32)
  x = numbers((size, 3), np.float32)
  expected = np.concatenate([padded(x, SEA)[SEA + t * block :][:block, SEA : SEA + 3] for t in table])

  def kernel(table_ref, x_ref, o_ref):
    o_ref[...] = x_ref[...] + table_ref[pl.program_id(0)].astype(F32)

  grid_spec = specs.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=len(table),
    in_specs=[pl.BlockSpec((block, 3), lambda i, t: (t[i], 0))],
    out_specs=pl.BlockSpec((block, 3), lambda i, t: (i, 0)),
  )
  out = pl.pallas_call(kernel, S(expected.shape, F32), grid_spec=grid_spec)(table, x)
  same(out, expected + np.repeat(table, block)[:, None].astype(np.float32))


@given(st.integers(0, 5), st.integers(1, 3))
@examples(10)
def test_a_grid_may_depend_on_a_traced_value(n, m):
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 10 * pl.num_programs(0) + pl.num_programs(1)

  @jax.jit
  def f(n, x):
    spec = pl.BlockSpec((1, 1), lambda i, j: (i, j))
    return run(kernel, x, grid=(n, m), in_specs=[spec], out_specs=spec)

  x = numbers((5, 3), np.int32)
  expected = np.full((5, 3), poison(np.int32), np.int32)
  expected[:n, :m] = x[:n, :m] + 10 * n + m
  same(f(n, x), expected)
  same(f(jnp.int8(n), x), expected)


def test_dimensions_of_a_grid_may_have_names():
  def kernel(o_ref):
    i, j = lax.axis_index("rows"), pl.program_id(1)
    o_ref[...] = jnp.full(o_ref.shape, 10 * i + j + 100 * lax.axis_size("rows"))

  out = run(
    kernel,
    out=S((2, 3), I32),
    grid=(("rows", 2), ("columns", 3)),
    out_specs=pl.BlockSpec((1, 1), lambda i, j: (i, j)),
  )
  same(out, np.array([[200, 201, 202], [210, 211, 212]], np.int32))


def test_the_last_grid_dimension_is_the_fastest():
  def kernel(o_ref, count_ref):
    @pl.when((pl.program_id(0) == 0) & (pl.program_id(1) == 0))
    def _():
      count_ref[0] = 0

    o_ref[0, 0] = count_ref[0]
    count_ref[0] += 1

  spec = pl.BlockSpec((1, 1), lambda i, j: (i, j))
  out = run(kernel, out=S((2, 3), I32), grid=(2, 3), out_specs=spec, scratch_shapes=[SMEM((1,), I32)])
  same(out, np.arange(6, dtype=np.int32).reshape(2, 3))


@pytest.mark.parametrize("grid", [(), 1, (1,), (1, 1), None])
def test_a_kernel_with_one_instance_has_any_of_these_grids(grid):
  same(
    run(pointwise(lambda x: x + 1), arange(3), grid=grid),
    np.arange(1.0, 4, dtype=np.float32),
  )


def test_with_an_empty_grid_nothing_runs():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

  same(run(kernel, arange(3), grid=(0,)), np.full(3, np.nan, np.float32))
  same(run(kernel, arange(3), grid=(2, 0), input_output_aliases={0: 0}), np.arange(3, dtype=np.float32))


def test_arrays_without_elements_pass_through():
  same(run(pointwise(lambda x: x + 1), jnp.zeros((0, 3))), np.zeros((0, 3), np.float32))


def test_a_block_larger_than_its_array_is_poison_beyond_it():
  def kernel(x_ref, o_ref, seen_ref):
    seen_ref[...] = x_ref[...]
    o_ref[...] = x_ref[...]

  spec = pl.BlockSpec((4, 3), lambda: (0, 0))
  out, seen = run(kernel, arange(2, 2), out=(S((2, 2), F32), S((4, 3), F32)), in_specs=[spec], out_specs=(spec, None))
  same(out, arange(2, 2))
  same(seen, padded(np.asarray(arange(2, 2)), SEA)[SEA : SEA + 4, SEA : SEA + 3])


def counted_beyond_the_edge(interpret=False, dtype=F32, aliased=False):
  """Blocks of 4 in an array of 6. The last element of a block counts steps; that of block 1 lies outside of the array."""

  def kernel(i_ref, o_ref, seen_ref):
    ref = i_ref if aliased else o_ref
    first = (pl.program_id(0) % 3 == 0) & (pl.program_id(1) == 0)  # of block 1, once
    last = jnp.where(first, jnp.zeros((), dtype), ref[3])
    ref[3] = last + 1
    ref[0] += 1
    seen_ref[...] = ref[...][None, :]

  spec = pl.BlockSpec((4,), lambda i, j: ((i % 3 < 2).astype(I32),))
  _, seen = pl.pallas_call(
    kernel,
    (S((6,), dtype), S((12, 4), dtype)),
    grid=(6, 2),
    in_specs=[spec],
    out_specs=(spec, pl.BlockSpec((1, 4), lambda i, j: (2 * i + j, 0))),
    input_output_aliases={0: 0},
    interpret=interpret,
  )(jnp.zeros((6,), dtype))
  return seen


# Block 1 is seen in steps 0 to 3 and 6 to 9, block 0 in steps 4, 5, 10 and 11.
COUNTED = np.array([[1, 2, 3, 4, 1, 2, 5, 6, 7, 8, 3, 4], [1, 2, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4]], np.int32)


@pytest.mark.parametrize("aliased", [False, True])
@pytest.mark.parametrize("dtype", [F32, jnp.int4])
def test_what_is_written_beyond_the_edge_stays_while_the_block_does(dtype, aliased):
  seen = counted_beyond_the_edge(dtype=dtype, aliased=aliased).astype(I32)
  same(seen[:, [0, 3]], (COUNTED.T + 8) % 16 - 8 if dtype == jnp.int4 else COUNTED.T)


def test_elements_at_numbers_outside_of_the_array_stay_while_the_numbers_do():
  """Of rows 1, 9, 3, 9 of six, two lie outside; the numbers change after step 2, and change back."""

  def kernel(table, o_ref, seen_ref):
    o_ref[...] = jnp.where(pl.program_id(0) % 2 == 0, 0.0, o_ref[...]) + 1
    seen_ref[...] = o_ref[:, 0][None]

  spec = specs.PrefetchScalarGridSpec(
    num_scalar_prefetch=1,
    grid=(6,),
    in_specs=[],
    out_specs=[
      pl.BlockSpec((pl.Indirect(4), 8), lambda i, t: (t[i // 2], 0)),
      pl.BlockSpec((1, 4), lambda i, t: (i, 0)),
    ],
  )
  table = jnp.asarray([[1, 9, 3, 9], [1, 9, 2, 9], [1, 9, 3, 9]], I32)
  _, seen = pl.pallas_call(kernel, [S((6, 8), F32), S((6, 4), F32)], grid_spec=spec)(table)
  same(seen, np.array([[1] * 4, [2] * 4] * 3, np.float32))


@pytest.mark.target("native")
def test_what_is_written_beyond_the_edge_stays_on_the_simulated_machine():
  same(counted_beyond_the_edge(interpret.InterpretParams())[:, [0, 3]], COUNTED.T.astype(F32))


@pytest.mark.parametrize("mode", [None, pl.Buffered(1), pl.Buffered(3), pl.Buffered(2, use_lookahead=True)])
@pytest.mark.parametrize("revisit", [None, pl.RevisitMode.ANY, pl.RevisitMode.IMMEDIATE])
def test_how_blocks_are_buffered_does_not_change_results(mode, revisit):
  mode = mode and dataclasses.replace(mode, revisit=revisit)
  spec = pl.BlockSpec((2,), lambda i: i, pipeline_mode=mode)
  out = run(pointwise(lambda x: x * 2), arange(6), grid=3, in_specs=[spec], out_specs=spec)
  same(out, arange(6) * 2)


@pytest.mark.parametrize("space", [None, VMEM, SMEM, HBM, pl.ANY, pl.HOST, TpuMemorySpace.CMEM])
def test_a_ref_lives_in_the_memory_space_of_its_spec(space):
  def kernel(x_ref, o_ref):
    assert jax.typeof(x_ref).memory_space == space
    o_ref[...] = x_ref[...]

  whole = pl.BlockSpec(memory_space=space)
  same(run(kernel, arange(4), grid=2, in_specs=[whole], out_specs=whole), arange(4))
  block = pl.BlockSpec((2,), lambda i: i, memory_space=space)
  same(run(kernel, arange(4), grid=2, in_specs=[block], out_specs=block), arange(4))


def test_operands_and_outputs_may_be_trees():
  def kernel(a, b, out):
    out["sum"][...] = a["p"][...] + b[0][...]
    out["other"][0][...] = a["q"][...]

  out = {"sum": S((4, 6), F32), "other": [S((2,), I32)]}
  spec = pl.BlockSpec((2, 6), lambda i: (i, 0))
  got = pl.pallas_call(
    kernel,
    out,
    grid=2,
    in_specs=[{"p": spec, "q": None}, (spec,)],
    out_specs={"sum": spec, "other": [None]},
  )({"p": arange(4, 6), "q": arange(2, dtype=I32)}, (arange(4, 6),))
  assert jax.tree.structure(got) == jax.tree.structure(out)
  same(got["sum"], 2 * arange(4, 6))
  same(got["other"][0], arange(2, dtype=I32))


def test_an_aliased_output_starts_with_the_input():
  def kernel(x_ref, y_ref, o_ref):
    o_ref[0] = y_ref[...]

  x = arange(4, 6)
  same(run(kernel, x, x[3], input_output_aliases={0: 0}), x.at[0].set(x[3]))


@pytest.mark.parametrize("space", [pl.ANY, HBM, plgpu.GMEM], ids=str)
def test_aliased_operands_in_place_are_one_memory_under_two_names(space):
  def kernel(x_ref, o_ref):
    o_ref[0] = 9.0
    o_ref[1] = x_ref[0]
    x_ref[2] = 7.0

  spec = pl.BlockSpec(memory_space=space)
  x = arange(4)
  out = run(kernel, x, in_specs=[spec], out_specs=spec, input_output_aliases={0: 0})
  same(out, np.array([9, 9, 7, 3], np.float32))
  same(x, np.arange(4, dtype=np.float32))


def test_each_step_reads_its_own_block_of_an_aliased_output_that_hangs_over_the_edge():
  """All blocks are read in order, as they are added up; what a step writes to its block is not what the next one reads."""

  def kernel(x_ref, total_ref, o_ref):
    x = jnp.where(lax.iota(I32, 3) + 3 * pl.program_id(0) < 10, x_ref[...], 0)

    @pl.when(pl.program_id(0) == 0)
    def _():
      total_ref[...] = jnp.zeros_like(total_ref)

    total_ref[...] += x
    o_ref[...] = -x

  spec, whole = pl.BlockSpec((3,), lambda i: i), pl.BlockSpec((3,), lambda i: 0)
  x = arange(10, dtype=I32) + 1
  out = (S((3,), I32), S((10,), I32))
  total, negated = run(
    kernel, x, out=out, grid=4, in_specs=[spec], out_specs=(whole, spec), input_output_aliases={0: 1}
  )
  same(total, np.array([1 + 4 + 7 + 10, 2 + 5 + 8, 3 + 6 + 9], np.int32))
  same(negated, -x)


@pytest.mark.parametrize("is_cut", [False, True])
def test_what_is_written_to_an_input_stays_in_the_call(is_cut):
  """Later steps see it, as they do in a loop over NumPy arrays; the output and the caller's array do not."""

  def kernel(x_ref, o_ref, seen_ref):
    x_ref[...] = x_ref[...] + 1
    seen_ref[...] = x_ref[...][None, :2]

  spec = pl.BlockSpec((2,), lambda i: (i // 2,)) if is_cut else pl.BlockSpec()
  seen_spec = pl.BlockSpec((1, 2), lambda i: (i, 0))
  x = arange(4)
  out, seen = run(
    kernel,
    x,
    out=(S((4,), F32), S((4, 2), F32)),
    grid=4,
    in_specs=[spec],
    out_specs=(spec, seen_spec),
    input_output_aliases={0: 0},
  )
  same(out, np.arange(4, dtype=np.float32))
  same(x, np.arange(4, dtype=np.float32))
  wanted = [[1, 2], [2, 3], [3, 4], [4, 5]] if is_cut else [[i + 1, i + 2] for i in range(4)]
  same(seen, np.array(wanted, np.float32))


@pytest.mark.parametrize("revisits", ["whole array", "inner steps", "outer steps"])
@pytest.mark.parametrize("batched", [False, True])
def test_an_input_that_is_not_aliased_may_be_written(revisits, batched):
  """As in the original: later steps that see the block see what was written, the caller does not."""

  def kernel(x_ref, o_ref):
    x_ref[...] = x_ref[...] * 2 + 1
    o_ref[0] = x_ref[...]

  spec = {
    "whole array": pl.BlockSpec(),
    "inner steps": pl.BlockSpec((2, 4), lambda i, j: (i, 0)),
    "outer steps": pl.BlockSpec((2, 4), lambda i, j: (j, 0)),
  }[revisits]
  size = 4 if revisits == "whole array" else 2
  out_spec = pl.BlockSpec((1, size, 4), lambda i, j: (2 * i + j, 0, 0))

  def call(x):
    return run(kernel, x, out=S((4, size, 4), F32), grid=(2, 2), in_specs=[spec], out_specs=out_spec)

  def expected(x):
    left, seen = np.array(x), []
    for i, j in np.ndindex(2, 2):
      rows = {
        "whole array": slice(None),
        "inner steps": slice(2 * i, 2 * i + 2),
        "outer steps": slice(2 * j, 2 * j + 2),
      }
      left[rows[revisits]] = left[rows[revisits]] * 2 + 1
      seen.append(left[rows[revisits]].copy())
    return np.stack(seen)

  x = arange(4, 4)
  with pytest.warns(
    errors.InputWriteWarning, match=r"writes to args\[0\], which is an input, at .*test_block_mapping.py"
  ):
    if batched:
      xs = jnp.stack([x, x + 3])
      same(jax.vmap(call)(xs), np.stack([expected(each) for each in xs]))
    else:
      same(call(x), expected(x))
  same(x, np.arange(16, dtype=np.float32).reshape(4, 4))


def test_a_copy_into_an_input_stays_in_the_call():
  def kernel(x_ref, y_ref, o_ref):
    pltpu.sync_copy(y_ref, x_ref.at[1:3])
    pltpu.sync_copy(x_ref, o_ref)

  anywhere = pl.BlockSpec(memory_space=pl.ANY)
  x, y = arange(4, 4), -arange(2, 4)
  with pytest.warns(errors.InputWriteWarning):
    out = run(kernel, x, y, out=x, in_specs=[anywhere] * 2, out_specs=anywhere)
  same(out, np.concatenate([x[:1], y, x[3:]]))
  same(x, np.arange(16, dtype=np.float32).reshape(4, 4))


@pytest.mark.parametrize("as_dict", [False, True])
def test_scratch_lives_from_the_first_instance_to_the_last(as_dict):
  def kernel(x_ref, o_ref, acc):
    @pl.when(pl.program_id(0) == 0)
    def _():
      acc[...] = jnp.zeros_like(acc)

    acc[...] += x_ref[...]
    o_ref[...] = acc[...]

  types = {"acc": VMEM((2,), F32)} if as_dict else [VMEM((2,), F32)]
  spec = pl.BlockSpec((None, 2), lambda i: (i, 0))
  out = run(kernel, arange(3, 2), grid=3, in_specs=[spec], out_specs=spec, scratch_shapes=types)
  same(out, np.cumsum(arange(3, 2), axis=0))


def test_a_default_index_map_names_the_first_block():
  out = run(
    pointwise(lambda x: x),
    arange(4),
    out=S((2,), F32),
    grid=3,
    in_specs=[pl.BlockSpec((2,))],
  )
  same(out, arange(2))


def test_a_block_shape_left_out_is_the_whole_array():
  spec = pl.BlockSpec(index_map=lambda i: (0, 0))
  out = run(pointwise(lambda x: x), arange(2, 2), grid=3, in_specs=[spec])
  same(out, arange(2, 2))


@pytest.mark.target("portable")
def test_blocks_beyond_two_to_the_31_are_refused_where_they_would_wrap():
  spec = pl.BlockSpec((1 << 20,), lambda i: (i + 2047,))
  call = lambda x: pl.pallas_call(
    lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]),
    S((1 << 20,), jnp.int8),
    grid=(2,),
    in_specs=[spec],
    out_specs=pl.BlockSpec((1 << 20,), lambda i: (0,)),
  )(x)
  large = S((2050 << 20,), jnp.int8)
  with pytest.raises(
    errors.UnsupportedFeatureError, match=r"Dimension 0 of args\[0\] has 2149580800 elements.*more dimensions"
  ):
    jax.jit(call).lower(large)


def test_what_is_written_beyond_the_edge_of_an_output_can_be_read_back():
  """The part of a block that hangs over is memory of the instance: here, the row sums of three columns lie in a block of four."""

  def kernel(x_ref, o_ref, m_ref):
    m_ref[...] = x_ref[...]
    o_ref[...] = jnp.sum(m_ref[...], axis=1, keepdims=True) + m_ref[:, 3:]

  x = arange(8, 4)
  rows = pl.BlockSpec((4, 4), lambda i: (i, 0))
  total, part = run(
    kernel,
    x,
    out=[S((8, 1), F32), S((8, 3), F32)],
    grid=2,
    in_specs=[rows],
    out_specs=[pl.BlockSpec((4, 1), lambda i: (i, 0)), rows],
  )
  same(total, x.sum(axis=1, keepdims=True) + x[:, 3:])
  same(part, x[:, :3])

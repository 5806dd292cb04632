"""Every rule of the table: a function computed block by block is the function."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from blockwise import blocks_of, check, compute
from jax import lax

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import fuser
from tilewright.pallas.fuser.table import MOVING_KEYS, RULES


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 0) -> jax.Array:
  x = np.random.default_rng(seed).normal(size=shape) * 4
  return jnp.asarray(x.astype(dtype))


def ints(*shape: int, high: int = 8, seed: int = 0) -> jax.Array:
  return jnp.asarray(np.random.default_rng(seed).integers(0, high, shape), jnp.int32)


@jax.custom_jvp
def with_jvp(x):
  return x * 3


with_jvp.defjvp(lambda p, t: (with_jvp(*p), 3 * t[0]))


@jax.custom_vjp
def with_vjp(x):
  return x * 5


with_vjp.defvjp(lambda x: (x * 5, None), lambda _, g: (5 * g,))

A, B, C = numbers(8, 12), numbers(8, 12, seed=1), numbers(12, seed=2)
T = numbers(4, 6, 8)
K = jax.random.key(7)

# name: function, arguments, block of the result
CASES: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
  "add": (lambda x, y: x + y, (A, B), (4, 4)),
  "scalar operand": (lambda x, s: x * s, (A, jnp.float32(3)), (4, 4)),
  "row of size one": (lambda x, y: x - y, (A, C[None]), (4, 4)),
  "square": (jnp.square, (A,), (3, 5)),
  "select_n": (lambda c, x, y: jnp.where(c > 0, x, y), (A, B, A), (4, 4)),
  "select by a scalar": (lambda p, x, y: lax.select(p, x, y), (jnp.array(True), A, B), (4, 4)),
  "clamp": (lambda x: lax.clamp(-1.0, x, 1.0), (A,), (4, 4)),
  "convert": (lambda x: x.astype(jnp.int32), (A,), (4, 4)),
  "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int32), (A,), (4, 4)),
  "bitcast to narrower": (lambda x: lax.bitcast_convert_type(x, jnp.int8), (A,), (4, 4, 4)),
  "bitcast to wider": (lambda x: lax.bitcast_convert_type(x, jnp.int16), (ints(8, 12, 2).astype(jnp.int8),), (4, 4)),
  "broadcast_in_dim": (lambda x: jnp.broadcast_to(x[:, None], (12, 8)), (C,), (4, 4)),
  "broadcast of a row": (lambda x: jnp.broadcast_to(x, (8, 12)), (C,), (4, None)),
  "transpose": (lambda x: x.T, (A,), (4, 4)),
  "transpose of three": (lambda x: x.transpose(2, 0, 1), (T,), (2, None, 3)),
  "squeeze": (lambda x: x[0], (T[:1],), (3, 4)),
  "expand_dims": (lambda x: x[:, None], (A,), (4, 1, 4)),
  "expand_dims, squeezed": (lambda x: x[:, None], (A,), (4, None, 4)),
  "reshape, split": (lambda x: x.reshape(8, 3, 4), (A,), (4, 1, 4)),
  "reshape, split whole": (lambda x: x.reshape(8, 3, 4), (A,), (4, 3, 4)),
  "reshape, split with part of the last": (lambda x: x.reshape(8, 3, 4), (A,), (4, 1, 2)),
  "reshape, split ragged": (lambda x: x.reshape(8, 3, 4), (A,), (4, None, 3)),
  "reshape, merge": (lambda x: x.reshape(4, 48), (T,), (2, 16)),
  "reshape, merge part": (lambda x: x.reshape(4, 48), (T,), (2, 4)),
  "reshape, merge squeezed": (lambda x: x.reshape(24, 8), (T,), (None, 8)),
  "reshape, merge and split": (lambda x: x.reshape(24, 2, 4), (T,), (3, 1, 4)),
  "reshape, uncut group": (lambda x: x.reshape(4, 12, 4), (T,), (2, 12, 4)),
  "slice": (lambda x: x[4:], (A,), (2, 4)),
  "slice, unaligned": (lambda x: x[3:, 1:9], (A,), (2, 4)),
  "slice, strided": (lambda x: x[1::2, ::3], (A,), (2, 2)),
  "slice, strided from far": (lambda x: x[3::2], (A,), (2, 4)),
  "slice, strided whole": (lambda x: x[2::3], (A,), (2, 4)),
  "dynamic_slice by an operand": (lambda x, i: lax.dynamic_slice(x, (i, 2), (4, 8)), (A, jnp.int32(3)), (2, 4)),
  "dynamic_slice past the end": (lambda x, i: lax.dynamic_slice(x, (i, 0), (4, 12)), (A, jnp.int32(9)), (2, 4)),
  "dynamic_update_slice": (
    lambda x, y, i: lax.dynamic_update_slice(x, y, (i, 1)),
    (A, B[:3, :7], jnp.int32(4)),
    (4, 4),
  ),
  "gather rows": (lambda x, i: x[i], (A, ints(6)), (2, 4)),
  "take along columns": (lambda x, i: jnp.take(x, i, axis=1), (A, ints(6)), (4, 3)),
  "take_along_axis": (lambda x, i: jnp.take_along_axis(x, i, axis=1), (A, ints(8, 6)), (4, 3)),
  "concatenate": (lambda x, y: jnp.concatenate([x, y], 0), (A, B), (4, 4)),
  "concatenate, ragged end": (lambda x, y: jnp.concatenate([x, y], 0), (A, B[:5]), (4, 4)),
  "concatenate, uncut": (lambda x, y: jnp.concatenate([x, y], 1), (A, B), (4, 24)),
  "stack": (lambda x, y: jnp.stack([x, y], 1), (A, B), (4, None, 4)),
  "tile": (lambda x: jnp.tile(x, (2, 3)), (A,), (4, 12)),
  "repeat": (lambda x: jnp.repeat(x, 2, axis=0), (A,), (4, 4)),
  "split": (lambda x: jnp.split(x, 3, axis=1)[1] * 2, (A,), (4, 2)),
  "pad": (lambda x: jnp.pad(x, ((4, 3), (0, 0)), constant_values=2.0), (A,), (4, 4)),
  "pad, uncut": (lambda x: lax.pad(x, 1.0, ((0, 0, 0), (1, 2, 1))), (A,), (4, 26)),
  "rev": (lambda x: x[::-1, ::-1], (A,), (4, 4)),
  "iota": (lambda x: x + lax.broadcasted_iota(jnp.float32, (8, 12), 1), (A,), (4, 4)),
  "iota, squeezed": (lambda x: x + lax.broadcasted_iota(jnp.float32, (8, 12), 0), (A,), (None, 4)),
  "reduce_sum": (lambda x: x.sum(1), (T,), (2, 4)),
  "reduce_max, squeezed": (lambda x: x.max(1), (T,), (None, 4)),
  "reduce_min, all but one": (lambda x: x.min((0, 2)), (T,), (3,)),
  "reduce_prod": (lambda x: x.prod(0), (T,), (3, 4)),
  "reduce_and": (lambda x: (x > 0).all(0), (T,), (3, 4)),
  "reduce_or": (lambda x: (x > 0).any(0), (T,), (3, 4)),
  "argmax": (lambda x: x.argmax(1), (A,), (4,)),
  "argmin": (lambda x: x.argmin(0), (A,), (4,)),
  "cumsum": (lambda x: jnp.cumsum(x, 1), (A,), (4, 12)),
  "cummax": (lambda x: lax.cummax(x, 0), (A,), (8, 4)),
  "cumprod": (lambda x: lax.cumprod(x, 0), (A,), (8, 4)),
  "sort": (lambda x: jnp.sort(x, 1), (A,), (4, 12)),
  "argsort": (lambda x: jnp.argsort(x, 0), (A,), (8, 4)),
  "top_k": (lambda x: lax.top_k(x, 3)[0], (A,), (4, 3)),
  "dot_general": (lambda x, y: x @ y.T, (ints(8, 12).astype(jnp.float32), ints(6, 12).astype(jnp.float32)), (4, 3)),
  "batched dot_general": (
    lambda x, y: jnp.einsum("bij,bkj->bik", x, y),
    (ints(4, 6, 8) * 1.0, ints(4, 2, 8) * 1.0),
    (None, 3, 2),
  ),
  "softmax-like": (lambda x: x - x.max(-1, keepdims=True), (A,), (4, 12)),
  "random_bits": (lambda k: jax.random.bits(k, (8, 12)), (K,), (4, 4)),
  "random_bits of 8": (lambda k: jax.random.bits(k, (8, 12), jnp.uint8), (K,), (3, 5)),
  "random_bits of raw keys": (lambda k: jax.random.bits(k, (8, 12)), (jax.random.PRNGKey(3),), (4, 4)),
  "uniform": (lambda k: jax.random.uniform(k, (8, 12)), (K,), (4, None)),
  "key_data": (lambda k: jax.random.key_data(k), (K,), (2,)),
  "fold_in": (lambda k, i: jax.random.bits(jax.random.fold_in(k, i), (8, 12)), (K, jnp.int32(3)), (4, 4)),
  "split of a key": (lambda k: jax.random.key_data(jax.random.split(k, 8)), (K,), (4, 1)),
  "seed": (lambda x: x + jax.random.uniform(jax.random.key(4), (8, 12)), (A,), (4, 4)),
  "unstack": (lambda x: sum(jnp.unstack(x, axis=1)[1:]), (T,), (2, 4)),
  "jit": (jax.jit(lambda x: x * 2), (A,), (4, 4)),
  "custom_jvp": (with_jvp, (A,), (4, 4)),
  "custom_vjp": (with_vjp, (A,), (4, 4)),
  "remat": (jax.checkpoint(lambda x: x * 2 + 1), (A,), (4, 4)),
  "while": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1], (A,), (4, 4)),
  "fori_loop": (lambda x, y: lax.fori_loop(0, 3, lambda i, c: c * y + i, x), (A, C), (4, 4)),
  "scan over rows of another": (
    lambda x, ys: lax.scan(lambda c, y: (c + y, None), x, ys)[0],
    (A, numbers(3, 12)),
    (4, 4),
  ),
  "scan with results": (lambda x, ys: lax.scan(lambda c, y: (c + y, c * 2), x, ys)[1], (C, numbers(3, 12)), (3, 4)),
  "cond": (lambda p, x, y: lax.cond(p, lambda: x + y, lambda: x * 2), (jnp.array(True), A, B), (4, 4)),
  "switch": (lambda i, x: lax.switch(i, [jnp.sin, lambda x: x * 2, lambda x: x + 1], x), (jnp.int32(1), A), (4, 4)),
  "optimization_barrier": (lambda x, y: lax.optimization_barrier((x, y))[0], (A, B), (4, 4)),
  "Element": (lambda x, y: x[1:] + y[:7], (A, B), (pl.Element(4), 4)),
  "BoundedSlice": (lambda x, y: x.T + y[:, None], (A, C), (pl.BoundedSlice(5), 4)),
  "Blocked": (lambda x: x[4:].T, (A,), (pl.Blocked(4), pl.Blocked(2))),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_computed_in_blocks_is_the_function(name):
  f, args, block = CASES[name]
  shape = jax.eval_shape(f, *args).shape
  spec, grid = blocks_of(shape, block)
  check(f, args, spec, grid)


def test_cases_reach_every_rule():
  """A row of the table that no case reaches is not tested."""
  from tilewright.pallas.fuser.elementwise import ELEMENTWISE
  from tilewright.pallas.fuser.inlining import trace_flat

  reached: set[str] = {"scalar_prefetch", "custom_fusion", "random_clone"}  # tested where scalars, ... are
  reached |= {"get", "swap", "addupdate", MOVING_KEYS}  # tested with refs and with keys

  def walk(jaxpr: Any) -> None:
    for eqn in jaxpr.eqns:
      reached.add(eqn.primitive.name)
      for inner in jax.tree.leaves(eqn.params, is_leaf=lambda p: hasattr(p, "eqns")):
        if hasattr(inner, "eqns"):
          walk(inner)

  for f, args, _ in CASES.values():
    leaves, tree = jax.tree.flatten(args)
    avals = [jax.typeof(x) for x in leaves]
    walk(trace_flat(lambda *a, f=f, tree=tree: jax.tree.leaves(f(*jax.tree.unflatten(tree, a))), avals)[0])
  alike = {"cummin", "cumlogsumexp", "reduce_xor", "expand_dims", "unstack"}  # rows shared with one that is reached
  alike |= {"pack_dtype", "unpack_dtype"}  # those of user-defined element types: test_fusible_dtype
  assert set(RULES) - reached - set(ELEMENTWISE) - alike == set()


@pytest.mark.parametrize("op", ["sin", "exp", "tanh", "logistic", "erf", "rsqrt", "atan2", "pow", "nextafter"])
def test_transcendental_operations_agree_to_the_last_digits(op):
  """XLA computes the end of an array, which does not fill a vector, by other instructions: two units in the last place."""
  f = getattr(lax, op)
  args = [jnp.abs(A) + 1, jnp.abs(B)][: 2 if op in ("atan2", "pow", "nextafter") else 1]
  spec, grid = blocks_of(A.shape, (4, 4))
  check(f, args, spec, grid, ulps=2)


def test_several_outputs_share_their_input():
  spec, grid = blocks_of((8, 12), (4, 4))
  turned = pl.BlockSpec((4, 4), lambda i, j: (j, i))
  check(lambda x: (x * 2, x.T + 1), (A,), (spec, turned), grid)


def test_specs_are_equal_when_their_index_maps_are():
  """The same map written twice is the same map; another one is not."""
  one = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  two = pl.BlockSpec((4, 4), lambda a, b: (a, b))
  other = pl.BlockSpec((4, 4), lambda i, j: (j, i))
  square = A[:, :8]
  check(lambda x: (x * 2, x + 1), (square,), (one, two), (2, 2))
  with pytest.raises(errors.FusionConflictError, match="needed in two ways"):
    compute(lambda x: (x * 2, x + 1), (square,), (one, other), (2, 2))


def test_a_value_used_in_two_ways_is_refused_or_computed_twice():
  square = A[:, :8]
  spec, grid = blocks_of((8, 8), (4, 2))
  f = lambda x: jnp.sin(x) + jnp.sin(x).T
  with pytest.raises(errors.FusionConflictError, match="strict_mode=False"):
    compute(f, (square,), spec, grid)
  check(f, (square,), spec, grid, strict=False)


def test_a_norm_over_part_of_its_rows_reads_whole_rows_when_not_strict():
  spec, grid = blocks_of((8, 12), (4, 5))
  f = lambda x: x - x.max(-1, keepdims=True)
  with pytest.raises(errors.FusionConflictError):
    compute(f, (A,), spec, grid)
  check(f, (A,), spec, grid, strict=False)


def test_what_is_not_used_has_no_spec_and_is_not_computed():
  def f(x, y):
    jnp.linalg.cholesky(y)  # has no rule
    return x

  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  block_fn, (_, y_spec), _ = fuser.pull_block_spec(f, spec, grid_len=2)(A, A[:, :8])
  assert y_spec is pl.no_block_spec
  np.testing.assert_array_equal(block_fn((0, 0), (), A[:4, :4], None), A[:4, :4])


def test_pipeline_mode_survives_and_memory_space_is_that_of_the_result():
  from tilewright.pallas import tpu as pltpu

  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j), pipeline_mode=pl.Buffered(3), memory_space=pltpu.VMEM)
  _, (found,), _ = fuser.pull_block_spec(lambda x: x.T * 2, spec, grid_len=2)(A)
  assert (found.memory_space, found.pipeline_mode) == (None, pl.Buffered(3))
  pushed = fuser.push_block_spec(lambda x: x.T * 2, spec)(A)
  assert (pushed.memory_space, pushed.pipeline_mode) == (pltpu.VMEM, pl.Buffered(3))


def test_ints_and_blocked_dimensions_are_equal():
  assert (pl.Blocked(4), 8) == (4, pl.Blocked(8)) and hash(pl.Blocked(4)) == hash(4)
  assert pl.Blocked(4) != 8 and pl.Blocked(4) != pl.Element(4) and pl.Blocked(1) is not None and pl.Blocked(1) != None  # noqa: E711
  _, (found,), _ = fuser.pull_block_spec(lambda x: x.sum(1), pl.BlockSpec((4,), lambda i: (i,)), grid_len=1)(A)
  assert found.block_shape == (4, 12)


@pytest.mark.parametrize(
  "dim, kept",
  [(None, None), (pl.squeezed, pl.squeezed), (4, 4), (pl.Blocked(4), pl.Blocked(4)), (pl.Element(4), pl.Element(4))],
)
def test_kinds_of_block_dimensions_are_kept_as_written(dim, kept):
  spec = pl.BlockSpec((dim, 2), lambda i, j: (i, j))
  _, (found,), _ = fuser.pull_block_spec(lambda x: x.T, spec, grid_len=2)(A)
  assert found.block_shape == (2, kept)


@pytest.mark.parametrize(
  "f, block, expected",
  [
    (lambda x: x.reshape(8, 3, 4), (pl.squeezed, 3, 4), (pl.squeezed, 12)),
    (lambda x: x.reshape(8, 12, 1), (None, pl.squeezed, 1), (1, pl.squeezed)),
    (lambda x: x.reshape(2, 4, 12), (None, 4, pl.squeezed), (4, pl.squeezed)),
    (lambda x: x.reshape(2, 4, 12), (2, 4, None), (8, 1)),
    (lambda x: x[:, None].reshape(8, 12), (pl.squeezed, 6), (pl.squeezed, 6)),
    (lambda x: x.reshape(8, 12, 1), (pl.Element(4), 6, pl.Element(1)), (pl.Element(4), 6)),
  ],
)
def test_a_reshape_keeps_what_is_squeezed(f, block, expected):
  spec, _ = blocks_of(jax.eval_shape(f, A).shape, block)
  _, (found,), _ = fuser.pull_block_spec(f, spec)(A)
  assert found.block_shape == expected
  check(f, (A,), *blocks_of(jax.eval_shape(f, A).shape, block))


@pytest.mark.parametrize(
  "f, shape, block",
  [
    (lambda x: x.reshape(3, 0), (0, 3), (3, 1)),
    (lambda x: x.reshape(0), (0, 3), (4,)),
    (lambda x: x.reshape(0, 2, 6), (4, 0, 3), (1, 1, 3)),
    (lambda x: jnp.concatenate([x, A]), (0, 12), (4, 6)),
    (lambda x: jnp.pad(x, ((2, 2), (0, 0)), constant_values=5), (0, 12), (2, 6)),
    (lambda x: x.sum(0), (0, 12), (6,)),
  ],
)
def test_arrays_without_elements(f, shape, block):
  x = jnp.zeros(shape)
  spec, grid = blocks_of(jax.eval_shape(f, x).shape, block)
  check(f, (x,), spec, grid)
  fn, values, _ = fuser.get_fusion_values(f, x)
  block_fn, (_, found), _ = fuser.pull_block_spec(fn, spec)(values, x)
  assert all(int(i) >= 0 for i in found.index_map(*[0] * len(grid)))
  part = jnp.zeros([getattr(d, "block_size", d) for d in found.block_shape])
  rest = tuple(v[:4, :6] for v in values)
  assert block_fn((0,) * len(grid), (), rest, part).shape == block


def test_keyword_arguments_have_specs_by_name():
  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  block_fn, _, kw = fuser.pull_block_spec(lambda x, *, y: x + y.T, spec, grid_len=2)(A, y=A.T)
  assert kw["y"].index_map(1, 2) == (2, 1)
  np.testing.assert_array_equal(block_fn((0, 0), (), A[:4, :4], y=A.T[:4, :4]), 2 * A[:4, :4])


def test_einshape_is_cut():
  from tilewright.pallas import tpu as pltpu

  f = lambda x: pltpu.einshape("a(bc)->bac", x, b=3)
  spec, grid = blocks_of((3, 8, 4), (None, 4, 4))
  check(f, (A,), spec, grid)


def test_no_prefetched_scalars_may_be_none():
  block_fn, (spec,), _ = fuser.pull_block_spec(jnp.sin, pl.BlockSpec((4, 4), lambda i, j: (i, j)), grid_len=2)(
    numbers(8, 8)
  )
  x = numbers(4, 4)
  np.testing.assert_array_equal(block_fn((0, 1), None, x), jnp.sin(x))
  assert spec.index_map(0, 1) == (0, 1)
  assert jax.tree.leaves(spec.index_map(0, 1)) == [0, 1]  # a tuple that JAX knows, for those who put it into a tree

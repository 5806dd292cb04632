"""Programs for `tilewright.pallas.fuser`."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tilewright import pallas as pl
from tilewright.pallas import fuser
from uses import count, same, use

X = count(32).reshape(4, 8)
SPEC = pl.BlockSpec((2, 4), lambda i, j, *_: (i, j))


@use("fuser", "fuse fusible Fusion")
def _fuse():
  @fuser.fusible
  def kernel(x, out):
    assert isinstance(x, fuser.Fusion) and x.shape == (4, 8)
    return x() + 1 if out is None else out(x() + 1)

  same(fuser.fuse(lambda x: kernel(x * 2).T)(X), (X * 2 + 1).T)


@use("fuser", "pull_block_spec push_block_spec")
def _pull_and_push():
  block_fn, (spec,), _ = fuser.pull_block_spec(lambda x: x.T * 2, SPEC, grid_len=2)(X.T)
  assert spec.block_shape == (4, 2) and spec.index_map(0, 1) == (1, 0)
  same(block_fn((0, 1), (), X.T[4:, :2]), X[:2, 4:] * 2)
  pushed = fuser.push_block_spec(lambda x: x.T * 2, SPEC)(X)
  assert pushed.block_shape == (4, 2) and pushed.index_map(0, 1) == (1, 0)


@use("fuser", "get_fusion_values make_scalar_prefetch_handler")
def _values():
  row = jnp.array(2)
  fn, values, scalars = fuser.get_fusion_values(lambda y: X[row] + y, X[0])
  assert len(values) == len(scalars) == 1
  same(fn(values, X[0]), X[2] + X[0])
  handler = fuser.make_scalar_prefetch_handler(0)
  spec = pl.BlockSpec((4,), lambda j, *_: (j,))
  _, ((x_spec,), _), _ = fuser.pull_block_spec(fn, spec, scalar_prefetch_handler=handler, grid_len=1)(values, X[0])
  assert [int(i) for i in x_spec.index_map(1, (jnp.array([3]),))] == [3, 1]


@use("fuser", "get_stateful_input_fusion_values get_stateful_output_fusion_values")
def _stateful():
  ref = jax.new_ref(X)
  fn, values, _ = fuser.get_stateful_input_fusion_values(lambda: ref[...] * 2)
  assert values == (ref,)
  same(fn((X,)), X * 2)

  def write(y):
    ref[...] = y

  fn, _, _, aliases = fuser.get_stateful_output_fusion_values(write, X)
  assert aliases == {0: 0}
  same(fn((X,), X + 1)[1][0], X + 1)


@use("fuser", "custom_fusion BlockIndexTransform")
def _custom():
  half = fuser.custom_fusion(lambda x: x / 2)

  @half.def_pull_block_spec
  def _(views):
    assert isinstance(views[0], fuser.BlockIndexTransform)
    return views

  half.def_eval_rule(lambda ctx, x: (x / 2,))
  block_fn, _, _ = fuser.pull_block_spec(half, SPEC, grid_len=2)(X)
  same(block_fn((0, 0), (), X[:2, :4]), X[:2, :4] / 2)


@use("fuser", "evaluate")
def _evaluate():
  same(fuser.evaluate(lambda x: x.T + 1)(X), X.T + 1)


@use("fuser", "block_spec_with_prefetch filter_no_block_specs")
def _specs():
  spec = pl.BlockSpec((1, 1), lambda *args: args)
  assert fuser.block_spec_with_prefetch(spec, (7, 8)).index_map(1, 2) == (1, 2, 7, 8)
  assert fuser.filter_no_block_specs((1, 2), (spec, pl.no_block_spec)) == ((1, None), (spec, None))

"""Functions whose rules the user gives, values of types that exist only in programs, and what cannot be fused."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from blockwise import blocks_of, check
from jax import lax

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import fuser

X = jnp.arange(96.0).reshape(8, 12)


def turned():
  """A transpose, with rules."""

  @fuser.custom_fusion
  def turn(x):
    return x.T

  @turn.def_pull_block_spec
  def _(out_views):
    (view,) = out_views
    return (
      view.replace(
        block_shape=view.block_shape[::-1], block_index_transform=lambda *outs: view.block_index_transform(*outs)[::-1]
      ),
    )

  @turn.def_push_block_spec
  def _(specs):
    (spec,) = specs
    return (spec.replace(block_shape=spec.block_shape[::-1], index_map=lambda *i: spec.index_map(*i)[::-1]),)

  @turn.def_eval_rule
  def _(ctx, x):
    return (x.T,)

  return turn


def test_custom_rules_compose_with_the_others():
  turn = turned()
  spec, grid = blocks_of((8, 12), (4, 3))
  check(lambda x: turn(turn(x) * 2 + 1), (X,), spec, grid)


def test_custom_rules_see_blocks_without_squeezed_dimensions():
  @fuser.custom_fusion
  def twice(x):
    return x * 2

  twice.def_pull_block_spec(lambda out_views: out_views)
  shapes = []

  @twice.def_eval_rule
  def _(ctx, x):
    shapes.append((x.shape, ctx.out_block_indices))
    return (x * 2,)

  spec = pl.BlockSpec((None, 4), lambda i, j: (i, j))
  block_fn, _, _ = fuser.pull_block_spec(twice, spec, grid_len=2)(X)
  np.testing.assert_array_equal(block_fn((3, 1), (), X[3, 4:8]), X[3, 4:8] * 2)
  assert shapes == [((4,), ((3, 1),))]


def test_a_view_is_a_function_of_the_blocks_of_all_outputs():
  seen = []

  @fuser.custom_fusion
  def both(x):
    return x + 1, x * 2

  @both.def_pull_block_spec
  def _(out_views):
    seen.extend(v.block_index_transform((1, 2), (3, 4)) for v in out_views)
    return (out_views[0],)

  both.def_eval_rule(lambda ctx, x: (x + 1, x * 2))
  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  turned_spec = pl.BlockSpec((4, 4), lambda i, j: (j, i))
  fuser.pull_block_spec(lambda x: (lambda a, b: (a, b.T))(*both(x)), (spec, turned_spec), grid_len=2)(X)
  assert seen == [(1, 2), (4, 3)]


def test_custom_push():
  spec = pl.BlockSpec((4, 3), lambda i, j: (i, j))
  found = fuser.push_block_spec(lambda x: turned()(x) * 2, spec)(X)
  assert found.block_shape == (3, 4) and found.index_map(1, 2) == (2, 1)


def test_a_custom_fusion_without_rules_says_which_is_missing():
  with pytest.raises(errors.FusionError, match="def_pull_block_spec"):
    fuser.custom_fusion(lambda x: x)(X)


def test_outside_of_kernels_a_custom_fusion_is_its_function():
  turn = turned()
  np.testing.assert_array_equal(turn(X), X.T)
  np.testing.assert_array_equal(jax.jit(jax.vmap(turn))(X[None]), X.T[None])
  np.testing.assert_array_equal(jax.grad(lambda x: (turn(x) ** 2).sum())(X), 2 * X)


@pytest.mark.parametrize("native", [False, True])
def test_inside_of_a_kernel_it_is_its_pallas_implementation(native):
  from tilewright.pallas import cpu

  twice = fuser.custom_fusion(lambda x: x * 2)
  twice.def_pull_block_spec(lambda v: v)
  twice.def_eval_rule(lambda ctx, x: (x * 2,))
  twice.def_pallas_impl(lambda x: x * 100)

  def kernel(x_ref, o_ref):
    o_ref[...] = twice(x_ref[...])

  options = {"compiler_params": cpu.CompilerParams()} if native else {"interpret": True}
  np.testing.assert_array_equal(pl.pallas_call(kernel, out_shape=X, **options)(X), X * 100)


def closing_over(w):
  """A function that closes over what it adds, with a rule that knows the block."""
  add = fuser.custom_fusion(lambda x: x + w[...])
  add.def_pull_block_spec(lambda out_views: out_views)

  @add.def_eval_rule
  def _(ctx, x):
    ((i, j),) = ctx.out_block_indices
    return (x + lax.dynamic_slice(X * 3, (i * 4, j * 4), (4, 4)),)

  return add


@pytest.mark.parametrize("make", [lambda: X * 3, lambda: jax.new_ref(X * 3)])
def test_a_custom_fusion_may_close_over_arrays_and_refs(make):
  spec, _ = blocks_of((8, 12), (4, 4))
  add = closing_over(make())
  np.testing.assert_array_equal(add(X), X * 4)
  np.testing.assert_array_equal(jax.jit(add)(X), X * 4)
  block_fn, (x_spec,), _ = fuser.pull_block_spec(lambda x: add(x) * 2, spec, grid_len=2)(X)
  assert x_spec.block_shape == (4, 4)
  np.testing.assert_array_equal(block_fn((1, 2), (), X[4:, 8:]), X[4:, 8:] * 8)


def test_a_custom_fusion_may_close_over_values_that_are_traced():
  np.testing.assert_array_equal(jax.jit(lambda w: closing_over(w)(X))(X * 3), X * 4)
  np.testing.assert_array_equal(jax.grad(lambda w: closing_over(w)(X).sum())(X * 3), jnp.ones_like(X))
  product = fuser.fusible(lambda x, out: out(x()) if out is not None else x())
  fused = fuser.fuse(lambda x, w: product(closing_over(w)(x)) * 2)
  np.testing.assert_array_equal(jax.jit(fused)(X, X * 3), X * 8)


# --- evaluate ----------------------------------------------------------------------------------------------------


def test_evaluate_is_the_function():
  np.testing.assert_array_equal(fuser.evaluate(lambda x: (x.T * 2).T)(X), X * 2)


def test_evaluate_may_forbid_transposes():
  with pytest.raises(ValueError, match="Transpose not allowed"):
    fuser.evaluate(lambda x: x.T, allow_transpose=False)(X)


# --- compare_jaxprs ----------------------------------------------------------------------------------------------


def test_jaxprs_are_compared_up_to_names():
  one = jax.make_jaxpr(lambda x, y: jnp.sin(x) * y)(1.0, 2.0)
  two = jax.make_jaxpr(lambda a, b: jnp.sin(a) * b)(1.0, 2.0)
  assert fuser.compare_jaxprs(one, two)
  for other in (
    jax.make_jaxpr(lambda a, b: jnp.sin(b) * a)(1.0, 2.0),
    jax.make_jaxpr(lambda a, b: jnp.cos(a) * b)(1.0, 2.0),
    jax.make_jaxpr(lambda a, b: jnp.sin(a) * 3.0)(1.0, 2.0),
    jax.make_jaxpr(lambda a, b: (jnp.sin(a) * b, a))(1.0, 2.0),
  ):
    assert not fuser.compare_jaxprs(one, other)


def test_the_order_of_independent_equations_does_not_matter():
  def one(x, y):
    a, b = jnp.sin(x), jnp.cos(y)
    return a - b

  def two(x, y):
    b, a = jnp.cos(y), jnp.sin(x)
    return a - b

  def other(x, y):
    b, a = jnp.cos(x), jnp.sin(y)
    return a - b

  make = lambda f: jax.make_jaxpr(f)(1.0, 2.0)
  assert fuser.compare_jaxprs(make(one), make(two))
  assert not fuser.compare_jaxprs(make(one), make(other))


def test_equations_with_effects_keep_their_order():
  def writes(first, second):
    def f(x):
      ref = jax.new_ref(jnp.zeros(3))
      ref[first] = x
      ref[second] = x
      return ref[...]

    return jax.make_jaxpr(f)(1.0)

  assert fuser.compare_jaxprs(writes(0, 1), writes(0, 1))
  assert not fuser.compare_jaxprs(writes(0, 1), writes(1, 0))


def test_jaxprs_inside_and_parameters_are_compared():
  loop = lambda n, k: jax.make_jaxpr(lambda x: lax.fori_loop(0, n, lambda i, c: c * k, x))(1.0)
  assert fuser.compare_jaxprs(loop(3, 2.0), loop(3, 2.0))
  assert not fuser.compare_jaxprs(loop(3, 2.0), loop(4, 2.0))
  assert not fuser.compare_jaxprs(loop(3, 2.0), loop(3, 5.0))


# --- types -------------------------------------------------------------------------------------------------------


def test_keys_are_resolved_to_what_they_are_stored_as():
  def f(x, key):
    return x * jax.random.bernoulli(key, 0.5, x.shape), jax.random.split(key)[0]

  key = jax.random.key(1)
  got, new = fuser.physicalize(f)(X, key)
  want, wanted_key = f(X, key)
  np.testing.assert_array_equal(got, want)
  assert new.dtype == wanted_key.dtype and (jax.random.key_data(new) == jax.random.key_data(wanted_key)).all()
  inner = jax.make_jaxpr(fuser.resolve_fusion_dtypes(f))(X, key)
  assert "random_unwrap" in str(inner)


def test_random_values_are_drawn_in_the_kernel_as_outside():
  from tilewright import fuse_into

  def drop(x, w, key):
    kept = jax.random.bernoulli(key, 0.5, x.shape)
    return jnp.where(kept, x, 0.0) @ w

  from tilewright import ops

  w = jnp.ones((12, 8))
  key = jax.random.key(3)
  np.testing.assert_array_equal(jax.jit(fuse_into(ops.matmul)(drop))(X, w, key), drop(X, w, key))


# --- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
  "f, args, block, said",
  [
    (lambda x: jnp.cumsum(x, 1), (X,), (4, 4), ("cumsum", "needs all of dimension 1", "12")),
    (lambda x: x.reshape(12, 8), (X,), (4, 4), ("reshape", "not contiguous", "multiple")),
    (lambda x: jnp.concatenate([x[:3], x], 0), (X,), (4, 4), ("concatenate", "divisor of")),
    (lambda x: jnp.pad(x, ((1, 0), (0, 0))), (X,), (4, 4), ("pad", "divisor of 1")),
    (lambda x: x[::-1], (X,), (3, 4), ("rev", "divisor of 8")),
    (lambda x: jnp.fft.fft(x).real, (X,), (4, 4), ("fft", "no rule", "custom_fusion")),
    (lambda k: jax.random.bits(k, (8, 12)), (jax.random.key(0, impl="rbg"),), (4, 4), ("random_bits", "threefry")),
    (lambda k: jax.random.bits(k[0], (8, 12)), (jax.random.split(jax.random.key(0, impl="rbg"), 2),), (4, 4), ("rbg",)),
  ],
)
def test_what_cannot_be_cut_says_why_and_what_to_do(f, args, block, said):
  spec, _ = blocks_of((8, 12), block)
  with pytest.raises(errors.UnsupportedFusionError) as caught:
    fuser.pull_block_spec(f, spec, grid_len=2, consistent_random=True)(*args)
  for part in (*said, "test_custom.py"):
    assert part in str(caught.value)
  assert isinstance(caught.value, NotImplementedError) and isinstance(caught.value, ValueError)


def test_specs_must_fit_the_outputs():
  spec = pl.BlockSpec((4, 4), lambda i, j: (i, j))
  with pytest.raises(errors.TreeMismatchError, match="each of the 2 outputs"):
    fuser.pull_block_spec(lambda x: (x, x), spec)(X)
  with pytest.raises(errors.BlockRankError, match="1 dimensions"):
    fuser.pull_block_spec(lambda x: x, pl.BlockSpec((4,), lambda i: (i,)))(X)

"""Push: how outputs are cut follows from how inputs are, and pulling that back gives the inputs' cut again."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import fuser

F32 = jnp.float32
B = pl.BlockSpec
ROWS = B((4, 12), lambda i, j: (i, 0))
CUT = B((4, 6), lambda i, j: (i, j))
X = jax.ShapeDtypeStruct((8, 12), F32)

# name: function, spec of its argument of shape (8, 12), block shape of the result, index of block (1, 0) or (1, 1)
CASES = {
  "elementwise": (lambda x: jnp.sin(x) * 2, CUT, (4, 6), (1, 1)),
  "transpose": (lambda x: x.T, CUT, (6, 4), (1, 1)),
  "expand_dims": (lambda x: x[None], CUT, (1, 4, 6), (0, 1, 1)),
  "broadcast": (lambda x: jnp.broadcast_to(x, (3, 8, 12)), CUT, (3, 4, 6), (0, 1, 1)),
  "reshape, split": (lambda x: x.reshape(8, 2, 6), CUT, (4, 1, 6), (1, 1, 0)),
  "reshape, merge": (lambda x: x.reshape(96), ROWS, (48,), (1,)),
  "squeeze": (lambda x: x[None][0], CUT, (4, 6), (1, 1)),
  "reduce": (lambda x: x.sum(1), ROWS, (4,), (1,)),
  "softmax": (lambda x: jax.nn.softmax(x, -1), ROWS, (4, 12), (1, 0)),
  "slice of a whole dimension": (lambda x: x[:, 3:], ROWS, (4, 9), (1, 0)),
  "pad of a whole dimension": (lambda x: jnp.pad(x, ((0, 0), (1, 2))), ROWS, (4, 15), (1, 0)),
  "concatenate": (lambda x: jnp.concatenate([x, x * 2], 1), ROWS, (4, 24), (1, 0)),
  "concatenate of one block": (lambda x: jnp.concatenate([x, x], 1), B((4, 12), lambda i, j: (i, j)), (4, 24), (1, 0)),
  "rev": (lambda x: x[::-1], CUT, (4, 6), (0, 1)),
  "cumsum": (lambda x: jnp.cumsum(x, 1), ROWS, (4, 12), (1, 0)),
  "dot": (lambda x: x @ jnp.ones((12, 5)), ROWS, (4, 5), (1, 0)),
  "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int8), CUT, (4, 6, 4), (1, 1, 0)),
  "loop": (lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2 + x, x), CUT, (4, 6), (1, 1)),
  "while": (
    lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1],
    CUT,
    (4, 6),
    (1, 1),
  ),
  "scan with results": (lambda x: lax.scan(lambda c, _: (c * 2, c), x, None, length=3)[1], CUT, (3, 4, 6), (0, 1, 1)),
  "cond": (lambda x: lax.cond(True, lambda x: x * 2, lambda x: x + 1, x), CUT, (4, 6), (1, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_specs_are_pushed(name):
  f, spec, block, index = CASES[name]
  found = fuser.push_block_spec(f, spec)(X)
  assert tuple(getattr(d, "block_size", d) for d in found.block_shape) == block
  assert tuple(map(int, found.index_map(1, 1))) == index


@pytest.mark.parametrize("name", [n for n in CASES if "concatenate" not in n and n != "slice of a whole dimension"])
def test_pulling_back_what_was_pushed_gives_the_spec(name):
  f, spec, _, _ = CASES[name]
  fn, values, _ = fuser.get_fusion_values(f, X)
  pushed = fuser.push_block_spec(f, spec)(X)
  _, (_, back), _ = fuser.pull_block_spec(fn, pushed, grid_len=2)(values, X)
  assert tuple(getattr(d, "block_size", d) for d in back.block_shape) == spec.block_shape
  for point in ((0, 0), (1, 0), (1, 1)):
    assert tuple(map(int, back.index_map(*point))) == tuple(spec.index_map(*point))


def test_results_of_split_are_cut_alike():
  a, b = fuser.push_block_spec(lambda x: tuple(jnp.split(x, [4], 1)), ROWS)(X)
  assert (a.block_shape, b.block_shape) == ((4, 4), (4, 8)) and a.index_map(1, 0) == (1, 0)


def test_operands_without_a_spec_go_along():
  found = fuser.push_block_spec(lambda x, y: (x + y, y), CUT, pl.no_block_spec)(X, X)
  assert found[0] is CUT and found[1] is CUT


def test_operands_may_be_cut_alike_but_not_differently():
  same = B((4, 6), lambda a, b: (a, b))
  assert fuser.push_block_spec(lambda x, y: x * y, CUT, same)(X, X).block_shape == (4, 6)
  with pytest.raises(errors.FusionConflictError, match="Illegal binary push"):
    fuser.push_block_spec(lambda x, y: x * y, CUT, B((4, 6), lambda i, j: (j, i)))(X, X)


def test_specs_that_were_derived_in_the_same_way_are_alike():
  for f in (
    lambda x, y: x.T * y.T,
    lambda x, y: jnp.sin(x.T) + jnp.cos(x.T) * y.T,
    lambda x, y: jnp.where(x.T > 0, x.T, y.T),
  ):
    found = fuser.push_block_spec(f, CUT, B((4, 6), lambda a, b: (a, b)))(X, X)
    assert (found.block_shape, found.index_map(1, 2)) == ((6, 4), (2, 1))
  with pytest.raises(errors.FusionConflictError, match="Illegal binary push"):
    fuser.push_block_spec(lambda x, y: x.T * y.T, CUT, B((4, 6), lambda i, j: (j, i)))(X, X)


@pytest.mark.parametrize("grid_len", [None, 2])
def test_index_maps_may_take_any_number_of_indices(grid_len):
  any_number = lambda swap: B((4, 6), lambda *g: (g[swap], g[1 - swap]))
  found = fuser.push_block_spec(lambda x, y: x * y, any_number(0), any_number(0), grid_len=grid_len)(X, X)
  assert (found.block_shape, found.index_map(1, 2)) == ((4, 6), (1, 2))
  with pytest.raises(errors.FusionConflictError, match="Illegal binary push"):
    fuser.push_block_spec(lambda x, y: x * y, any_number(0), any_number(1), grid_len=grid_len)(X, X)


def test_an_output_of_nothing_that_is_cut_is_cut_like_an_argument_of_its_shape():
  found = fuser.push_block_spec(lambda x, y: (jnp.zeros(X.shape), y + 1, jnp.ones(3)), CUT, pl.no_block_spec)(X, X)
  assert found == (CUT, CUT, pl.no_block_spec)


@pytest.mark.parametrize(
  "f, message",
  [
    (lambda x: x.sum(1), "Make the block size of that dimension 12"),
    (lambda x: x[2:], "outside of the slice"),
    (lambda x: jnp.concatenate([x, x], 0), "Make the block cover that dimension"),
    (lambda x: lax.reshape(x, (12, 8), dimensions=(1, 0)), "Transpose first"),
    (lambda x: lax.sort(x), "needs all of dimension 1"),
    (lambda x: jnp.take(x, jnp.arange(3), axis=0), "use pull_block_spec"),
    (lambda x: lax.fori_loop(0, 2, lambda i, c: c[:, ::-1], x), "an iteration turns this"),
  ],
)
def test_what_cannot_be_pushed_says_why(f, message):
  with pytest.raises(errors.UnsupportedFusionError, match=message):
    fuser.push_block_spec(f, CUT)(X)


def test_there_must_be_a_spec_for_each_argument():
  with pytest.raises(errors.TreeMismatchError, match="each of the 2 arguments"):
    fuser.push_block_spec(lambda x, y: x + y, CUT)(X, X)

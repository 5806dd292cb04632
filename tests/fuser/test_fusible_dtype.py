"""Arrays of user-defined element types: packed from several arrays, cut and unpacked inside of kernels."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import fuser
from tilewright.pallas.fuser.fusible_dtype import FusionDType, pack, physicalize, unpack

BF16, F32 = jnp.bfloat16, jnp.float32


@dataclasses.dataclass(frozen=True)
class Split(FusionDType):
  """A float32 as the sum of two bfloat16s; the scale of a row of them, if there is one, is a third array."""

  scaled: bool = False

  @property
  def name(self):
    return "split"

  def abstract_pack(self, high, low, *scale):
    assert high.shape == low.shape and len(scale) == self.scaled
    return jax.core.ShapedArray(high.shape, self)

  def abstract_unpack(self, x):
    parts = [jax.core.ShapedArray(x.shape, jnp.dtype(BF16))] * 2
    return parts + [jax.core.ShapedArray(x.shape[:1], jnp.dtype(F32))] * self.scaled

  def _of_rows(self, view):
    index = view.block_index_transform
    return view.replace(block_shape=view.block_shape[:1], block_index_transform=lambda *outs: index(*outs)[:1])

  def pull_block_spec_one_step(self, aval_out, view):
    return [view, view, *([self._of_rows(view)] if self.scaled else [])]

  def unpack_pull_block_spec(self, aval_in, *wanted):
    return [next(v for v in wanted[:2] if hasattr(v, "block_shape"))]

  def unpack_push_block_spec(self, aval_in, spec):
    index_map = lambda *grid: spec.index_map(*grid)[:1]
    rows = [spec.replace(block_shape=spec.block_shape[:1], index_map=index_map)] if self.scaled else []
    return [spec, spec, *rows]

  def pack_eval_rule(self, ctx, *blocks):
    seen.append((ctx.program_ids, [tuple(s.block_shape) for s in ctx.in_block_specs], ctx.avals_out))
    return pack(*blocks, dtype=self) if isinstance(blocks[0], jax.core.Tracer) else blocks


seen: list = []
SPLIT, SCALED = Split(), Split(True)


@Split.register_op(lax.transpose_p)
def _transpose(ctx, x, *, permutation):
  assert ctx.avals_in[0].dtype == ctx.avals_out[0].dtype == SPLIT
  return tuple(lax.transpose(part, permutation) for part in x)


def parts(x):
  high = x.astype(BF16)
  return high, (x - high.astype(F32)).astype(BF16)


def split(x):
  return pack(*parts(x), dtype=SPLIT)


def joined(x):
  high, low, *scale = unpack(x)
  found = high.astype(F32) + low.astype(F32)
  return found * scale[0][:, None] if scale else found


X = jnp.asarray(np.random.default_rng(0).standard_normal((16, 24)), F32)
ROUNDED = np.asarray(sum(p.astype(F32) for p in parts(X)))  # the sum is exact: 16 bits and the signs of both


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
  "f, want",
  [
    (lambda x: joined(split(x)), ROUNDED),
    (lambda x: joined(split(x).T), ROUNDED.T),
    (lambda x: joined(jax.jit(lambda v: v.T)(split(x))), ROUNDED.T),
    (lambda x: joined(lax.cond(x[0, 0] < 9, split, lambda v: split(v * 0), x)), ROUNDED),
    (lambda x: joined(lax.scan(lambda c, _: (c, unpack(c)[0]), split(x), None, length=2)[0]), ROUNDED),
    (lambda x: joined(lax.fori_loop(0, 4, lambda i, c: c.T.T, split(x))), ROUNDED),
    (lambda x: joined(lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1]), (0, split(x)))[1]), ROUNDED),
  ],
)
def test_programs_are_computed_on_what_is_stored(f, want, jit):
  g = physicalize(f)
  np.testing.assert_array_equal((jax.jit(g) if jit else g)(X), want)


def test_types_show_in_jaxprs_and_packed_outputs_are_tuples():
  assert str(jax.make_jaxpr(split)(X).out_avals[0]) == "split[16,24]"
  high, low = physicalize(split)(X)
  np.testing.assert_array_equal(high.astype(F32) + low.astype(F32), ROUNDED)
  assert physicalize(lambda x, n: joined(split(x)) * n, static_argnums=1)(X, 2).shape == (16, 24)
  assert physicalize(lambda x, n: joined(split(x)) * n, static_argnames="n")(X, n=2).shape == (16, 24)


def test_views_pass_through_packing_as_the_type_says():
  spec = pl.BlockSpec((8, 12), lambda i, j: (i, j))
  f = lambda h, l, s: joined(pack(h, l, s, dtype=SCALED)) + 1
  block_fn, specs, _ = fuser.pull_block_spec(f, spec, grid_len=2)(X.astype(BF16), X.astype(BF16), X[:, 0])
  assert [s.block_shape for s in specs] == [(8, 12), (8, 12), (8,)]
  assert [s.index_map(1, 2) for s in specs] == [(1, 2), (1, 2), (1,)]
  high, low = parts(X)
  seen.clear()
  found = block_fn((1, 0), (), high[8:, :12], low[8:, :12], X[8:, 0])
  np.testing.assert_array_equal(found, (ROUNDED[8:, :12] * X[8:, :1]) + 1)
  ((point, blocks, (aval,)),) = seen
  assert (point, blocks, aval.dtype) == ((1, 0), [(8, 12), (8, 12), (8,)], SCALED)


def test_squeezed_dimensions_are_not_seen_by_the_rules():
  spec = pl.BlockSpec((None, 12), lambda i, j: (i, j))
  block_fn, specs, _ = fuser.pull_block_spec(lambda x: joined(split(x)), spec, grid_len=2)(X)
  np.testing.assert_array_equal(block_fn((3, 1), (), X[3, 12:]), ROUNDED[3, 12:])
  assert specs[0].block_shape == (None, 12)


def test_specs_are_pushed_through_unpacking():
  spec = pl.BlockSpec((8, 12), lambda i, j: (i, j))
  x = jax.core.ShapedArray((16, 24), SCALED)
  high, low, scale = fuser.push_block_spec(unpack, spec)(x)
  assert (high, low, scale.block_shape, scale.index_map(1, 2)) == (spec, spec, (8,), (1,))


@fuser.fusible
def copied(x, out):
  """A kernel of a packed operand."""
  fn, values, _ = fuser.get_fusion_values(x)
  spec = pl.BlockSpec((8, 12), lambda i, j: (i, j))
  block_fn, (specs,), _ = fuser.pull_block_spec(fn, spec, grid_len=2)(values)

  def kernel(refs, o):
    point = pl.program_id(0), pl.program_id(1)
    o[...] = joined(block_fn(point, (), jax.tree.map(lambda r: r[...], refs)))

  shape = jax.ShapeDtypeStruct(x.shape, F32)
  result = pl.pallas_call(kernel, grid=(2, 2), in_specs=[specs], out_specs=spec, out_shape=shape)(values)
  return result if out is None else out(result)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f, want", [(lambda x: split(x), ROUNDED), (lambda x: split(x.T).T, ROUNDED)])
def test_a_kernel_takes_a_packed_operand_apart(f, want, jit):
  fused = fuser.fuse(lambda x: copied(f(x)) * 2)
  np.testing.assert_array_equal((jax.jit(fused) if jit else fused)(X), want * 2)


def test_a_packed_result_is_unpacked_by_what_follows():
  @fuser.fusible
  def doubled(x, out):
    result = pack(*(p * 2 for p in parts(x())), dtype=SPLIT)
    return result if out is None else out(result)

  np.testing.assert_array_equal(fuser.fuse(lambda x: joined(doubled(x)) + 1)(X), ROUNDED * 2 + 1)


@pytest.mark.parametrize("interpret", [False, True])
def test_a_kernel_packs_and_unpacks(interpret):
  def kernel(x, o):
    o[...] = jnp.zeros_like(o)
    held = split(x[...])

    @pl.when(x[0, 0] < 9)
    def _():
      o[...] = joined(held.T.T)

  call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(X.shape, F32), interpret=interpret)
  np.testing.assert_array_equal(call(X), ROUNDED)


def test_what_has_no_rule_is_refused():
  with pytest.raises(errors.UnsupportedFusionError, match=r"'reshape' at .* Give it one with @Split.register_op"):
    physicalize(lambda x: joined(split(x).reshape(24, 16)))(X)
  call = pl.pallas_call(lambda x, o: o.__setitem__(..., joined(x[...])), out_shape=jax.ShapeDtypeStruct(X.shape, F32))
  with pytest.raises(errors.UnsupportedFusionError, match="pallas_call"):
    physicalize(lambda x: call(split(x)))(X)
  with pytest.raises(errors.FusionError, match="expected an array of a FusionDType"):
    unpack(X)
  with pytest.raises(TypeError, match="abstract"):
    FusionDType()

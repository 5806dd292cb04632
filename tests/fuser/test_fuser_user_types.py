"""Values of types that a user made with hijax: a quantised array is dequantised inside the kernel."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from blockwise import blocks_of, read, write
from jax._src import core, hijax

import tilewright as tw
from tilewright import ops
from tilewright.pallas import fuser


@dataclasses.dataclass
class Quantised:
  """Bytes with a scale for each column."""

  values: jax.Array
  scales: jax.Array


@dataclasses.dataclass(frozen=True)
class QuantisedType(hijax.HiType):
  shape: tuple[int, int]

  def lo_ty(self):
    return [core.ShapedArray(self.shape, jnp.dtype("int8")), core.ShapedArray(self.shape[1:], jnp.dtype("float32"))]

  def lower_val(self, x):
    return [x.values, x.scales]

  def raise_val(self, values, scales):
    return Quantised(values, scales)

  def to_tangent_aval(self):
    return self

  def str_short(self, short_dtypes=False, **_):
    return f"q8{list(self.shape)}"


hijax.register_hitype(Quantised, lambda x: QuantisedType(tuple(x.values.shape)))
# The base class of user-defined primitives was renamed in jax 0.11.
UserPrimitive = hijax.VJPHiPrimitive if hasattr(hijax, "VJPHiPrimitive") else hijax.HiPrim


class Dequantise(UserPrimitive):
  def __init__(self, ty):
    self.in_avals = (ty,)
    self.out_aval = core.ShapedArray(ty.shape, jnp.dtype("float32"))
    self.params = {}
    super().__init__()

  def expand(self, x):
    return x.values.astype(jnp.float32) * x.scales


def dequantise(x):
  return Dequantise(core.typeof(x))(x)


VALUES = jnp.asarray(np.random.default_rng(0).integers(-128, 128, (16, 24)), jnp.int8)
SCALES = jnp.arange(24.0)
WEIGHTS = Quantised(VALUES, SCALES)
X = jnp.arange(8.0 * 16).reshape(8, 16)
DENSE = VALUES.astype(jnp.float32) * SCALES


def test_a_value_of_a_user_defined_type_is_hoisted_as_its_arrays():
  fn, values, _ = fuser.get_fusion_values(lambda: dequantise(WEIGHTS) + 1)
  assert [v.shape for v in values] == [(16, 24), (24,)]
  np.testing.assert_array_equal(fn(values), DENSE + 1)


def test_a_quantised_array_is_dequantised_block_by_block():
  fn, values, _ = fuser.get_fusion_values(lambda: dequantise(WEIGHTS).T)
  spec, grid = blocks_of((24, 16), (8, 4))
  block_fn, (specs,), _ = fuser.pull_block_spec(fn, spec, grid_len=2)(values)
  out = np.zeros((24, 16), np.float32)
  for point in np.ndindex(*grid):
    write(out, spec, point, block_fn(point, (), tuple(read(v, s, point) for v, s in zip(values, specs))))
  np.testing.assert_array_equal(out, DENSE.T)


def test_fuse_takes_user_defined_types_apart():
  @fuser.fusible
  def product(x, w, out):
    result = x() @ w()
    return out(result) if out is not None else result

  f = fuser.fuse(lambda x, w: product(x, dequantise(w)) * 2)
  for fused in (f, jax.jit(f)):
    np.testing.assert_array_equal(fused(X, WEIGHTS), X @ DENSE * 2)


def test_fuse_into_takes_user_defined_types_apart():
  f = tw.fuse_into(ops.matmul)(lambda x, w: x @ dequantise(w) + 1)
  for fused in (f, jax.jit(f)):
    np.testing.assert_allclose(fused(X, WEIGHTS), X @ DENSE + 1, rtol=1e-6)

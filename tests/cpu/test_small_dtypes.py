"""Kernels on floats of eight bits and less and on integers of less than a byte, against exact definitions and against XLA."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from tests.cpu.native import agrees
from tests.cpu.native import on_arrays as native
from tilewright import pallas as pl
from tilewright.pallas import cpu
from tilewright.target.llvm.small_floats import _Wide
from tilewright.tile.formats import SMALL_FLOATS, width

S = jax.ShapeDtypeStruct
FLOATS = [np.dtype(getattr(ml_dtypes, name)) for name in sorted(SMALL_FLOATS)]
INTS = [np.dtype(getattr(ml_dtypes, name)) for name in ("int2", "uint2", "int4", "uint4")]
E4M3, E8M0, F4 = (np.dtype(getattr(ml_dtypes, n)) for n in ("float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn"))
name_of = dict(ids=lambda d: getattr(d, "name", getattr(d, "__name__", str(d))))


def every(dtype: np.dtype) -> np.ndarray:
  """All values of a dtype."""
  codes = np.arange(1 << width(dtype), dtype=np.uint8)
  return codes.view(dtype) if dtype in FLOATS else codes.astype(dtype)


def every_pair(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
  x = every(dtype)
  return np.repeat(x, x.size), np.tile(x, x.size)


def same(got: np.ndarray, want: np.ndarray) -> None:
  """Equal to the bit, but for which NaN a NaN is."""
  assert got.dtype == want.dtype
  nan = np.isnan(want.astype(np.float64))
  np.testing.assert_array_equal(np.isnan(got.astype(np.float64)), nan)
  np.testing.assert_array_equal(got[~nan].view(np.uint8), want[~nan].view(np.uint8))


# --- small floats --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, **name_of)
def test_each_operation_on_floats_is_rounded_once(dtype):
  x, y = every_pair(dtype)
  exact = {lax.add: np.add, lax.sub: np.subtract, lax.mul: np.multiply, lax.div: np.divide, lax.max: np.maximum}
  found = native(lambda x, y: [op(x, y) for op in exact], x, y)
  for f, got in zip(exact.values(), found):
    with np.errstate(all="ignore"):
      wide = f(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
      want = wide.astype(dtype)
    if f is np.maximum:  # -0 is less than +0
      zeros = (x.astype(np.float32) == 0) & (y.astype(np.float32) == 0)
      wide = np.where(zeros, x.astype(np.float32) + y.astype(np.float32), wide)
      want = wide.astype(dtype)
    if dtype == F4:  # 0 / 0: there is no NaN, and XLA makes it -0
      want = np.where(np.isnan(wide), np.float32(-0.0), wide).astype(dtype)
    same(got, want)


@pytest.mark.parametrize("dtype", FLOATS, **name_of)
def test_a_chain_of_operations_is_rounded_at_each(dtype):
  x, y = every_pair(dtype)
  with np.errstate(all="ignore"):
    product = (x.astype(np.float64) * y.astype(np.float64)).astype(np.float32).astype(dtype)
    want = (product.astype(np.float64) + x.astype(np.float64)).astype(np.float32).astype(dtype)
  same(native(lambda x, y: x * y + x, x, y), want)


@pytest.mark.parametrize("dtype", FLOATS, **name_of)
def test_floats_compare_by_value(dtype):
  x, y = every_pair(dtype)
  ops = {lax.eq: np.equal, lax.ne: np.not_equal, lax.lt: np.less, lax.ge: np.greater_equal}
  for got, f in zip(native(lambda x, y: [op(x, y) for op in ops], x, y), ops.values()):
    np.testing.assert_array_equal(got, f(x.astype(np.float64), y.astype(np.float64)))
  np.testing.assert_array_equal(native(lax.is_finite, x), np.isfinite(x.astype(np.float64)))


@pytest.mark.usual_xla
@pytest.mark.parametrize("dtype", FLOATS, **name_of)
def test_every_float_converts_as_in_xla(dtype):
  others = [jnp.float32, jnp.bfloat16, jnp.float16, jnp.int8, jnp.uint8, jnp.int32, jnp.uint32, jnp.bool_]
  x = every(dtype)
  if dtype == F4:  # XLA takes 6 for infinity, where integers are made of it
    x = x[np.abs(x.astype(np.float32)) < 6]
  there = lambda x: [x.astype(d) for d in others]
  back = lambda *xs: [x.astype(dtype) for x in xs]
  wide = jax.jit(there)(x)
  for got, want in zip(native(there, x), wide, strict=True):
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.astype(np.float64), np.asarray(want).astype(np.float64))
  for got, want in zip(native(back, *wide), jax.jit(back)(*wide), strict=True):
    same(got, np.asarray(want))


@pytest.mark.parametrize("dtype", FLOATS, **name_of)
def test_small_floats_convert_to_each_other(dtype):
  xs = [every(source) for source in FLOATS]
  found = native(lambda *xs: [x.astype(dtype) for x in xs], *xs)
  for x, got in zip(xs, found):
    wide = x.astype(np.float32)
    if dtype == F4:
      wide = np.where(np.isnan(wide), np.float32(-0.0), wide)
    with np.errstate(all="ignore"):
      same(got, wide.astype(dtype))


@pytest.mark.parametrize("dtype", [d for d in FLOATS if d != E8M0], **name_of)
def test_functions_of_small_floats_are_those_of_f32_rounded(dtype):
  """float8_e8m0fnu aside, which is computed in f64."""
  ops = (lax.exp, lax.tanh, lax.rsqrt, lax.logistic)
  x = every(dtype)
  narrow = native(lambda x: [op(x) for op in ops], x)
  wide = native(lambda x: [op(x).astype(dtype) for op in ops], x.astype(np.float32))
  for got, want in zip(narrow, wide):
    same(got, want)


@pytest.mark.parametrize("dtype", [E4M3, F4, np.dtype(jnp.int4)], **name_of)
def test_shapes_selection_and_constants(dtype):
  x = every(dtype)[:12].reshape(3, 4)

  def f(x):
    y = jnp.where(lax.broadcasted_iota(jnp.int32, (4, 3), 0) > 1, x.T, jnp.asarray(2).astype(dtype))
    return jnp.concatenate([y, lax.broadcasted_iota(dtype, (4, 3), 1), y[::-1]], axis=0)

  want = np.where(np.arange(4)[:, None] > 1, x.T, np.asarray(2).astype(dtype))
  want = np.concatenate([want, np.broadcast_to(np.arange(3).astype(dtype), (4, 3)), want[::-1]])
  np.testing.assert_array_equal(native(f, x).astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("a, b", [(E4M3, E4M3), (E4M3, np.dtype(jnp.float8_e5m2)), (F4, F4)], **name_of)
def test_contractions_of_small_floats_add_up_in_f32(a, b):
  rng = np.random.default_rng(0)
  x, y = rng.normal(size=(17, 40)).astype(a), rng.normal(size=(40, 33)).astype(b)
  want = x.astype(np.float64) @ y.astype(np.float64)
  got = native(lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32), x, y)
  # One rounding for each of 40 additions, each of a partial sum that is no larger than the sum of magnitudes.
  bound = 40 * 2.0**-24 * (np.abs(x.astype(np.float64)) @ np.abs(y.astype(np.float64)))
  assert (np.abs(got - want) <= bound).all()


@pytest.mark.parametrize("dtype", [E4M3, np.dtype(jnp.float8_e5m2fnuz), np.dtype(jnp.int4)], **name_of)
def test_reductions_of_small_formats(dtype):
  x = np.random.default_rng(0).integers(-2, 3, (5, 37)).astype(dtype)  # every partial sum of a column is exact
  want = x.astype(np.int64)
  np.testing.assert_array_equal(
    native(lambda x: lax.reduce_max_p.bind(x, axes=(1,), out_sharding=None), x), want.max(1)
  )
  np.testing.assert_array_equal(native(lambda x: jnp.argmin(x, axis=1), x), want.argmin(1))
  summed = native(lambda x: lax.cumsum(x, axis=0), x)
  np.testing.assert_array_equal(summed.astype(np.int64), (want.cumsum(0) + 8) % 16 - 8)


@pytest.mark.parametrize("dtype", [E4M3, np.dtype(jnp.float8_e5m2fnuz), np.dtype(jnp.int4)], **name_of)
def test_sorting_small_formats(dtype):
  x = np.random.default_rng(0).integers(-4, 5, (3, 40)).astype(dtype)
  ordered, places = native(lambda x: [jnp.sort(x, axis=1), jnp.argsort(x, axis=1)], x)
  np.testing.assert_array_equal(ordered.astype(np.int64), np.sort(x.astype(np.int64), axis=1))
  np.testing.assert_array_equal(places, np.argsort(x.astype(np.int64), axis=1, kind="stable"))


# --- small integers ------------------------------------------------------------------------------------------------


def _quotient(x, y):
  return np.where(y == 0, -1, np.sign(x) * np.sign(y) * (abs(x) // np.maximum(abs(y), 1)))


@pytest.mark.parametrize("dtype", INTS, **name_of)
def test_arithmetic_on_small_integers_wraps(dtype):
  x, y = every_pair(dtype)
  n = 1 << width(dtype)
  a, b = x.astype(np.int64), y.astype(np.int64)
  shift, bits = np.minimum(b % n, 8), a % n
  signed = np.where(bits >= n // 2, bits - n, bits)
  wanted = {
    **{lax.add: a + b, lax.sub: a - b, lax.mul: a * b, lax.div: _quotient(a, b)},
    **{lax.rem: np.where(b == 0, a, a - _quotient(a, b) * b), lax.max: np.maximum(a, b), lax.min: np.minimum(a, b)},
    **{lax.bitwise_and: a & b, lax.bitwise_or: a | b, lax.bitwise_xor: a ^ b, lax.shift_left: bits << shift},
    **{lax.shift_right_logical: bits >> shift, lax.shift_right_arithmetic: signed >> shift},
  }
  found = native(lambda x, y: [op(x, y) for op in wanted], x, y)
  for (op, want), got in zip(wanted.items(), found):
    np.testing.assert_array_equal(got.astype(np.int64) % n, want % n, op.__name__)
  compared = {lax.lt: a < b, lax.eq: a == b, lax.ge: a >= b}
  for want, got in zip(compared.values(), native(lambda x, y: [op(x, y) for op in compared], x, y)):
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", INTS, **name_of)
def test_functions_of_small_integers(dtype):
  x = every(dtype)
  n = 1 << width(dtype)
  bits = [int(v) % n for v in x]
  wanted = {
    **{lax.neg: [-v for v in bits], lax.bitwise_not: [~v for v in bits], lax.sign: np.sign(x.astype(np.int64))},
    lax.population_count: [v.bit_count() for v in bits],
    lax.clz: [width(dtype) - v.bit_length() for v in bits],
  }
  found = native(lambda x: [op(x) for op in wanted], x)
  for (op, want), got in zip(wanted.items(), found):
    np.testing.assert_array_equal(got.astype(np.int64) % n, np.asarray(want) % n, op.__name__)


@pytest.mark.usual_xla
@pytest.mark.parametrize("dtype", INTS, **name_of)
def test_small_integers_convert_as_in_xla(dtype):
  others = [jnp.float32, jnp.bfloat16, jnp.int8, jnp.uint8, jnp.int32, jnp.uint32, jnp.bool_, jnp.int4, jnp.uint2]
  floats = np.float32([-9.7, -8, -1.5, -0.5, 0, 0.6, 1.5, 3.9, 7.9, 15.5, 16, np.inf, -np.inf, np.nan])

  def convert(x, floats, ints):
    return [*(x.astype(d) for d in others), floats.astype(dtype), ints.astype(dtype)]

  args = every(dtype), floats, np.arange(-20, 20)
  for got, want in zip(native(convert, *args), jax.jit(convert)(*args), strict=True):
    np.testing.assert_array_equal(got.astype(np.float64), np.asarray(want).astype(np.float64))


def test_contraction_of_int4():
  x = np.random.default_rng(0).integers(-8, 8, (9, 20)).astype(jnp.int4)
  y = np.random.default_rng(1).integers(-8, 8, (20, 34)).astype(jnp.int4)
  got = native(lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32), x, y)
  np.testing.assert_array_equal(got, x.astype(np.int64) @ y.astype(np.int64))


# --- in memory -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [E4M3, E8M0, F4, *INTS], **name_of)
def test_blocks_scratch_and_edges(dtype):
  """Rows of an odd number of elements, which XLA packs so that rows share bytes, in blocks that hang over the edge."""
  codes = np.random.default_rng(0).integers(0, 1 << width(dtype), (7, 13)).astype(np.uint8)
  x = jnp.asarray(codes.view(dtype) if dtype in FLOATS else codes.astype(dtype))

  def kernel(x_ref, o_ref, kept):
    kept[...] = x_ref[...]
    o_ref[...] = kept[...][:, ::-1]

  spec = pl.BlockSpec((2, 13), lambda i: (i, 0))
  options = dict(grid=(4,), in_specs=[spec], out_specs=spec, scratch_shapes=[pl.MemorySpace.ANY((2, 13), dtype)])
  got = pl.pallas_call(kernel, S(x.shape, dtype), compiler_params=cpu.CompilerParams(), **options)(x)
  same(np.asarray(got), np.asarray(x)[:, ::-1])


def test_an_aliased_packed_array_is_updated_in_place():
  x = jnp.asarray(np.arange(15).reshape(3, 5) % 16 - 8, jnp.int4)

  def kernel(x_ref, o_ref):
    o_ref[1, 2] = x_ref[0, 0]

  got = pl.pallas_call(
    kernel,
    S(x.shape, x.dtype),
    in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
    out_specs=pl.BlockSpec(memory_space=pl.ANY),
    input_output_aliases={0: 0},
    compiler_params=cpu.CompilerParams(),
  )(x)
  np.testing.assert_array_equal(np.asarray(got), np.asarray(x.at[1, 2].set(x[0, 0])))


def test_block_scaled_numbers_are_put_together():
  """The use of these formats: float4 numbers, a power of two for each 32 of them."""
  rng = np.random.default_rng(0)
  x = jnp.asarray(rng.normal(size=(8, 64)).astype(np.float32).astype(F4))
  scales = jnp.asarray(np.exp2(rng.integers(-127, 120, (8, 2))).astype(np.float32).astype(E8M0))

  def kernel(x_ref, s_ref, o_ref):
    scale = jnp.repeat(s_ref[...].astype(jnp.float32), 32, axis=1)
    o_ref[...] = x_ref[...].astype(jnp.float32) * scale

  agrees(kernel, S((8, 64), jnp.float32), x, scales)


@pytest.mark.parametrize("dtype", [E4M3, F4, np.dtype(jnp.int4)], **name_of)
def test_gathers_and_scatters(dtype):
  x = (np.arange(30).reshape(10, 3) % 4).astype(dtype)
  rows = np.asarray([3, 0, 9, 3], np.int32)
  taken, added = native(lambda x, i: [jnp.take(x, i, axis=0), x.at[i].add(jnp.asarray(1).astype(dtype))], x, rows)
  same(taken, x[rows])
  want = x.astype(np.int64) + np.bincount(rows, minlength=10)[:, None]
  np.testing.assert_array_equal(added.astype(np.int64), want.astype(dtype).astype(np.int64))


@pytest.mark.parametrize("dtype", [F4, np.dtype(jnp.int2)], **name_of)
@pytest.mark.parametrize(
  "shape, block, index_map",
  [
    ((64, 300), (4, 300), lambda i: (i, 0)),  # whole rows
    ((33, 77), (3, 77), lambda i: (i, 0)),  # rows that begin inside of a byte, in several threads
    ((5, 1000), (5, 77), lambda i: (0, i)),  # columns that do, with an edge
    ((6, 5, 9), (1, 5, 9), lambda i: (i, 0, 0)),
    ((40, 3), (7, pl.Squeezed()), lambda i: (i % 6, i // 6)),
    ((1, 7), (1, 1), lambda i: (0, i)),
  ],
  ids=["rows", "rows inside bytes", "columns", "matrices", "squeezed", "single elements"],
)
def test_packed_blocks_of_any_alignment(dtype, shape, block, index_map):
  """Each instance changes every element of its block, and none of its neighbours'."""
  codes = np.random.default_rng(0).integers(0, 1 << width(dtype), shape).astype(np.uint8)
  x = jnp.asarray(codes.view(dtype) if dtype in FLOATS else codes.astype(dtype))
  sizes = [1 if isinstance(b, pl.Squeezed) else b for b in block]
  grid = (int(np.prod([-(-d // b) for d, b in zip(shape, sizes)])),)

  def kernel(x_ref, o_ref):
    o_ref[...] = (x_ref[...].astype(jnp.float32) * -1 + 1).astype(dtype)

  spec = pl.BlockSpec(block, index_map)
  params = cpu.CompilerParams(dimension_semantics=("parallel",))
  call = pl.pallas_call(kernel, S(shape, dtype), grid=grid, in_specs=[spec], out_specs=spec, compiler_params=params)
  want = np.asarray(jax.jit(lambda x: (x.astype(jnp.float32) * -1 + 1).astype(dtype))(x))
  for _ in range(3):
    same(np.asarray(call(x)), want)


def test_a_packed_block_is_kept_between_instances_and_unwritten_ones_are_poison():
  x = jnp.asarray(np.arange(21).reshape(3, 7) % 4, jnp.int4)

  def kernel(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
      o_ref[...] = x_ref[...]

    o_ref[...] += x_ref[...]

  rows = pl.BlockSpec((1, 7), lambda i: (i, 0))
  got = pl.pallas_call(
    kernel,
    S((2, 7), jnp.int4),
    grid=(3,),
    in_specs=[rows],
    out_specs=pl.BlockSpec((1, 7), lambda i: (0, 0)),
    compiler_params=cpu.CompilerParams(),
  )(x)
  want = x.astype(np.int32).sum(0) + x[0].astype(np.int32)
  np.testing.assert_array_equal(np.asarray(got[0]).astype(int), np.asarray(want.astype(jnp.int4)).astype(int))
  np.testing.assert_array_equal(np.asarray(got[1]).astype(int), -8)


def test_constants_do_not_depend_on_the_thread_that_generates_code():
  """XLA's threads, on which a callback may compile a kernel, flush subnormals to zero."""
  bits = lambda _: np.array([_Wide("f32").bits(2.0**-127), _Wide("f32").bits(2.0**-126)], np.int32)
  found = jax.jit(lambda x: jax.pure_callback(bits, jax.ShapeDtypeStruct((2,), np.int32), x))(0)
  np.testing.assert_array_equal(found, [1 << 22, 1 << 23])

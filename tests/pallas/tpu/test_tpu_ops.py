"""The operations of `pltpu`, inside and outside of kernels, against NumPy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import tpu as pltpu

few = settings(max_examples=15, deadline=None)


def in_kernel(f: Any, *xs: Any) -> Any:
  """`f` of values, run by a kernel."""

  def kernel(*refs: Any) -> None:
    refs[-1][...] = f(*(r[...] for r in refs[:-1]))

  return pl.pallas_call(kernel, jax.eval_shape(f, *xs))(*xs)


@few
@given(st.integers(0, 9), st.integers(0, 1), st.integers(0, 3), st.booleans())
def test_roll_moves_each_slice_by_shift_plus_stride(shift: int, axis: int, stride: int, dynamic: bool) -> None:
  x = np.arange(3 * 4).reshape(3, 4)
  given_shift = jnp.int32(shift) if dynamic else shift
  np.testing.assert_array_equal(pltpu.roll(x, given_shift, axis), np.roll(x, shift, axis))
  other = 1 - axis
  expected = np.stack([np.roll(np.take(x, i, other), shift + i * stride) for i in range(x.shape[other])], axis=other)
  np.testing.assert_array_equal(pltpu.roll(x, given_shift, axis, stride=stride, stride_axis=other), expected)


def test_roll_works_in_a_kernel() -> None:
  x = jnp.arange(24.0).reshape(4, 6)
  out = in_kernel(lambda v: pltpu.roll(v, 2, 1, stride=1, stride_axis=0), x)
  np.testing.assert_array_equal(out, np.stack([np.roll(np.asarray(x)[i], 2 + i) for i in range(4)]))


@pytest.mark.parametrize(
  ("kwargs", "message"),
  [
    ({"shift": -1, "axis": 0}, "non-negative"),
    ({"shift": 1, "axis": 2}, "out of range"),
    ({"shift": 1, "axis": 0, "stride": 1}, "together"),
    ({"shift": 1, "axis": 0, "stride": 1, "stride_axis": 0}, "other than axis"),
    ({"shift": 1, "axis": 0, "stride": -1, "stride_axis": 1}, "stride must be non-negative"),
  ],
)
def test_roll_says_what_is_wrong(kwargs: Any, message: str) -> None:
  with pytest.raises(errors.ShapeMismatchError, match=message):
    pltpu.roll(jnp.zeros((3, 4)), **kwargs)


@pytest.mark.parametrize("narrow", [jnp.int8, jnp.int16, jnp.bfloat16, jnp.uint16])
def test_bitcast_puts_the_parts_of_an_element_into_neighbouring_rows(narrow: Any) -> None:
  x = np.random.default_rng(0).integers(-(2**31), 2**31, (6, 5), dtype=np.int32)
  factor = 4 // jnp.dtype(narrow).itemsize
  out = np.asarray(in_kernel(lambda v: pltpu.bitcast(v, narrow), x))
  assert out.shape == (6 * factor, 5)
  bits = out.view(f"u{4 // factor}")
  for part in range(factor):
    expected = (x.view(np.uint32) >> (part * 32 // factor)).astype(bits.dtype)
    np.testing.assert_array_equal(bits[part::factor], expected)
  np.testing.assert_array_equal(pltpu.bitcast(out, jnp.int32), x)


def test_bitcast_needs_rows_to_split_or_join() -> None:
  with pytest.raises(errors.ShapeMismatchError, match="at least two dimensions"):
    pltpu.bitcast(jnp.zeros(8, jnp.int32), jnp.int16)
  with pytest.raises(errors.ShapeMismatchError, match="multiple of 2"):
    pltpu.bitcast(jnp.zeros((3, 8), jnp.int16), jnp.int32)


@few
@given(st.sampled_from(["int4", "int8", "uint8", "int16", "uint16"]), st.sampled_from(["int16", "int32", "uint32"]))
def test_unpacking_undoes_packing_of_integers(narrow: str, wide: str) -> None:
  narrow_bits, wide_bits = jnp.iinfo(narrow).bits, jnp.iinfo(wide).bits
  if narrow_bits >= wide_bits:
    return
  rng = np.random.default_rng(1)
  info = jnp.iinfo(narrow)
  xs = [rng.integers(int(info.min), int(info.max) + 1, (4, 8)).astype(wide) for _ in range(wide_bits // narrow_bits)]
  packed = pltpu.pack_elementwise(xs, packed_dtype=narrow)
  assert packed.dtype == jnp.dtype(f"int{wide_bits}")
  for i, x in enumerate(xs):
    back = pltpu.unpack_elementwise(packed, index=i, packed_dtype=narrow, unpacked_dtype=wide)
    np.testing.assert_array_equal(back, x)


def test_packing_orders_elements_from_the_lowest_bits() -> None:
  xs = [np.full((1, 1), v, np.int8) for v in (0b1001, 0b0011)]
  assert int(pltpu.pack_elementwise(xs, packed_dtype=jnp.int4)[0, 0]) == 0b00111001


def test_packing_floats_rounds_them() -> None:
  xs = [np.random.default_rng(2).normal(size=(8, 16)).astype(np.float32) for _ in range(2)]
  packed = in_kernel(lambda a, b: pltpu.pack_elementwise([a, b], packed_dtype=jnp.bfloat16), *xs)
  for i, x in enumerate(xs):
    back = pltpu.unpack_elementwise(packed, index=i, packed_dtype=jnp.bfloat16, unpacked_dtype=jnp.float32)
    np.testing.assert_array_equal(back, x.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_packing_says_what_is_wrong() -> None:
  x = jnp.zeros((2, 2), jnp.float32)
  with pytest.raises(errors.ShapeMismatchError, match="1 arrays were given"):
    pltpu.pack_elementwise([x], packed_dtype=jnp.bfloat16)
  with pytest.raises(errors.ShapeMismatchError, match="float32 is packed as bfloat16"):
    pltpu.pack_elementwise([x] * 4, packed_dtype=jnp.int8)
  with pytest.raises(errors.ShapeMismatchError, match="out of range"):
    pltpu.unpack_elementwise(x.astype(jnp.int32), index=2, packed_dtype=jnp.bfloat16, unpacked_dtype=jnp.float32)


@pytest.mark.parametrize("target", [jnp.bfloat16, jnp.float16, jnp.float8_e5m2, jnp.float8_e4m3fn])
def test_stochastic_rounding_gives_a_neighbour_and_is_right_on_average(target: Any) -> None:
  count = 4096
  bits = np.random.default_rng(3).integers(0, 2**32, count, dtype=np.uint32)
  tiny = float(jnp.finfo(target).smallest_subnormal)
  for value in (1.3, -0.7, 3.25 * tiny, 0.0, 1.0):
    out = np.asarray(pltpu.stochastic_round(np.full(count, value, np.float32), bits, target_dtype=target), np.float64)
    exact = float(np.float32(value))
    grid = np.unique(out)
    assert len(grid) <= 2
    if len(grid) == 2:
      assert grid[0] < exact < grid[1]
      # The mean of `count` draws from two values a step apart has a standard deviation below step / (2 sqrt(count)).
      assert abs(out.mean() - exact) < 5 * (grid[1] - grid[0]) / (2 * count**0.5)
    else:
      assert grid[0] == exact


def test_stochastic_rounding_keeps_what_is_not_finite() -> None:
  x = np.array([np.inf, -np.inf, np.nan], np.float32)
  out = pltpu.stochastic_round(x, np.full(3, 0xFFFFFFFF, np.uint32), target_dtype=jnp.bfloat16)
  np.testing.assert_array_equal(np.asarray(out, np.float32), x)
  with pytest.raises(errors.ShapeMismatchError, match="must be uint32"):
    pltpu.stochastic_round(x, np.zeros(3, np.int32), target_dtype=jnp.bfloat16)


def test_einshape_splits_reorders_and_merges() -> None:
  x = np.arange(2 * 6 * 5).reshape(2, 6, 5)
  expected = x.reshape(2, 3, 2, 5).transpose(1, 0, 3, 2).reshape(6, 5, 2)
  np.testing.assert_array_equal(pltpu.einshape("a(bc)d->(ba)dc", x, b=3), expected)
  np.testing.assert_array_equal(in_kernel(lambda v: pltpu.einshape("a(bc)d->(ba)dc", v, c=2), x), expected)


@pytest.mark.parametrize(
  ("equation", "sizes", "message"),
  [
    ("ab", {}, "exactly one"),
    ("abc->abc", {}, "3 dimensions"),
    ("ab->a", {}, "same letters"),
    ("a(bc)->abc", {}, "ambiguous"),
    ("a(bc)->abc", {"b": 4}, "cannot be split"),
    ("a((bc)d)->abcd", {}, "parenthesis"),
  ],
)
def test_einshape_says_what_is_wrong(equation: str, sizes: dict[str, int], message: str) -> None:
  with pytest.raises(errors.ShapeMismatchError, match=message):
    pltpu.einshape(equation, jnp.zeros((2, 6)), **sizes)


def test_conv_adds_to_the_accumulator_and_can_turn_the_window_around() -> None:
  rng = np.random.default_rng(4)
  x, w = rng.normal(size=(1, 6, 3)).astype(np.float32), rng.normal(size=(3, 3, 2)).astype(np.float32)
  acc = rng.normal(size=(1, 4, 2)).astype(np.float32)
  out = pltpu.conv(x, w, acc, dimension_numbers=("NHC", "HIO", "NHC"), window_reversal=[True])
  patches = np.stack([x[0, i : i + 3] for i in range(4)]).astype(np.float64)
  expected = acc[0] + np.einsum("ihc,hco->io", patches, w[::-1].astype(np.float64))
  np.testing.assert_allclose(out[0], expected, rtol=1e-5, atol=1e-5)


def test_masked_load_and_store() -> None:
  def kernel(x: Any, o: Any) -> None:
    mask = jax.lax.broadcasted_iota(jnp.int32, (4, 8), 1) < 3
    o[...] = jnp.zeros_like(o)
    pltpu.store(o, pltpu.load(x, mask=mask), mask=mask)
    pltpu.touch(o)
    pltpu.trace_value("sum", jnp.int32(1))

  x = jnp.arange(32.0).reshape(4, 8)
  out = pl.pallas_call(kernel, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
  np.testing.assert_array_equal(out, np.where(np.arange(8) < 3, x, 0))


def test_annotate_gives_the_same_ref_and_refuses_contradictions() -> None:
  def kernel(x: Any, o: Any) -> None:
    pltpu.annotate(o, no_bank_conflict=True)[...] = pltpu.annotate(x.at[0:2], no_store=True)[...]
    with pytest.raises(errors.MemorySpaceError, match="no_store and no_hazard"):
      pltpu.annotate(x, no_store=True, no_hazard=True)

  x = jnp.arange(8.0).reshape(4, 2)
  np.testing.assert_array_equal(pl.pallas_call(kernel, jax.ShapeDtypeStruct((2, 2), x.dtype))(x), x[:2])


def test_trace_value_takes_scalars() -> None:
  with pytest.raises(errors.ShapeMismatchError, match="must be a scalar"):
    pltpu.trace_value("x", jnp.zeros(3))


def test_memory_space_constraint_is_the_identity() -> None:
  x = jnp.arange(4)
  np.testing.assert_array_equal(jax.jit(lambda v: pltpu.with_memory_space_constraint(v, pltpu.HBM))(x), x)
  with pytest.raises(errors.MemorySpaceError):
    pltpu.with_memory_space_constraint(x, "nowhere")


@pytest.mark.parametrize(
  "name", ["matmul_push_rhs", "matmul_acc_lhs", "matmul_pop", "matmul_lhs_fifo", "matmul_pop_fifo"]
)
def test_the_matrix_unit_says_that_only_a_tpu_has_it(name: str) -> None:
  with pytest.raises(errors.UnsupportedFeatureError, match=f"pltpu.{name} .* matrix unit"):
    getattr(pltpu, name)()

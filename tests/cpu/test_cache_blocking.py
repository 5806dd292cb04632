"""Contractions that are cut: into strips of rows, blocks of strips, and parts of K."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

from tests.cpu.native import agrees
from tilewright.pallas import cpu
from tilewright.target.cpu import cache_blocking, hosts

S = jax.ShapeDtypeStruct
AVX512, AVX2 = hosts.of({"avx512f"}), hosts.of({"avx2", "fma"})
on_the_cpu = pytest.mark.skipif(jax.default_backend() != "cpu", reason="cuts are those of the CPU's code")


@given(st.integers(1, 5000), st.integers(1, 14))
def test_strips_have_all_rows_and_about_one_height(rows, most):
  strips = cache_blocking.strips(rows, most)
  assert strips.tall * strips.height + strips.short * (strips.height - 1) == rows
  assert 1 <= strips.height <= most and strips.tall >= 1
  assert strips.count == -(-rows // most)


@given(st.integers(1, 5000), st.integers(1, 14), st.integers(0, 400))
def test_a_strip_begins_where_the_one_before_it_ends(rows, most, number):
  strips = cache_blocking.strips(rows, most)
  heights = [strips.height] * strips.tall + [strips.height - 1] * strips.short
  number = min(number, strips.count - 1)
  assert strips.first_row(None, number) == sum(heights[:number])


@given(st.sampled_from([AVX512, AVX2]), st.integers(15, 5000), st.integers(1, 20000), st.sampled_from([1, 2, 4]))
def test_what_is_packed_at_a_time_fits_the_second_cache(host, rows, depth, group):
  cut = cache_blocking.cut(host, rows, 14, depth, group, panel_bytes=128, unit_bytes=4)
  assert sum(cut.depths) == depth and all(d == cut.depths[0] >= cut.depths[-1] > 0 for d in cut.depths[:-1])
  assert all(d % group == 0 for d in cut.depths[:-1])
  units = -(-cut.depths[0] // group)
  strip = cut.strips.height * units * 4
  assert cut.at_a_time == 1 or cut.at_a_time * strip + units * 128 <= host.l2_bytes
  assert cut.blocks * cut.at_a_time >= cut.strips.count


def _operands(m, n, k, dtype, trans_a, trans_b):
  """Values whose products and sums are exact, so that any order of adding gives the same."""
  random = np.random.default_rng(0)
  shapes = ((k, m) if trans_a else (m, k)), ((n, k) if trans_b else (k, n))
  return [jnp.asarray(random.integers(-8, 9, shape), dtype) for shape in shapes]


@on_the_cpu
@pytest.mark.parametrize(
  "m, n, k, dtype, trans_a, trans_b",
  [
    (210, 70, 5002, jnp.float32, False, False),
    (210, 70, 5002, jnp.float32, True, False),
    (210, 70, 5002, jnp.float32, False, True),
    (30, 33, 3500, jnp.float32, False, False),
    (300, 40, 1500, jnp.float32, False, False),
    (300, 40, 1500, jnp.float32, False, True),
    (210, 70, 7001, jnp.bfloat16, False, False),
    (210, 70, 7001, jnp.bfloat16, False, True),
    (210, 70, 14003, jnp.int8, False, False),
    (210, 70, 14003, jnp.int8, True, False),
  ],
)
def test_parts_of_a_deep_contraction_add_up(m, n, k, dtype, trans_a, trans_b):
  result = jnp.int32 if dtype == jnp.int8 else jnp.float32
  a, b = _operands(m, n, k, dtype, trans_a, trans_b)
  dims = (((0 if trans_a else 1,), (1 if trans_b else 0,)), ((), ()))

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = lax.dot_general(a_ref[...], b_ref[...], dims, preferred_element_type=result)

  agrees(kernel, S((m, n), result), a, b, params=cpu.CompilerParams())


@on_the_cpu
@pytest.mark.parametrize("out", [jnp.float32, jnp.bfloat16])
def test_an_epilogue_waits_for_the_last_part(out):
  (a, b), bias = _operands(50, 70, 5000, jnp.float32, False, False), jnp.arange(70.0)[None, :]

  def kernel(a_ref, b_ref, bias_ref, o_ref):
    o_ref[...] = (jnp.maximum(a_ref[...] @ b_ref[...], 0) * 2 + bias_ref[...]).astype(out)

  agrees(kernel, S((50, 70), out), a, b, bias, params=cpu.CompilerParams())


@on_the_cpu
def test_parts_do_not_stand_where_the_epilogue_reads():
  a, b = _operands(50, 70, 5000, jnp.float32, False, False)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = jnp.full(o_ref.shape, 3.0)
    o_ref[...] = jnp.maximum(a_ref[...] @ b_ref[...], 0) - o_ref[...]

  agrees(kernel, S((50, 70), jnp.float32), a, b, params=cpu.CompilerParams())


@on_the_cpu
def test_parts_are_added_to_what_stands_in_the_output():
  a, b = _operands(50, 70, 5000, jnp.float32, False, False)

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = jnp.full(o_ref.shape, 3.0)
    o_ref[...] += a_ref[...] @ b_ref[...]

  agrees(kernel, S((50, 70), jnp.float32), a, b, params=cpu.CompilerParams())


@on_the_cpu
def test_parts_of_several_dimensions_and_batches():
  random = np.random.default_rng(0)
  a, b = (jnp.asarray(random.integers(-8, 9, shape), jnp.float32) for shape in ((2, 30, 50, 70), (2, 50, 70, 40)))

  def kernel(a_ref, b_ref, o_ref):
    o_ref[...] = jnp.einsum("bmij,bijn->bmn", a_ref[...], b_ref[...])

  agrees(kernel, S((2, 30, 40), jnp.float32), a, b, params=cpu.CompilerParams())

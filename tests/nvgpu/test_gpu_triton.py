"""Names of `pallas.triton` as native GPU code: atomic operations, assembly, barriers. The code runs on the CPU here, but for assembly."""

from __future__ import annotations

import re

import emulated
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gpu_programs import natives
from triton_programs import (
  DTYPES,
  F32,
  I32,
  NOT_BYTES,
  OF_FLOATS,
  OPERATIONS,
  SUM_AND_DIFFERENCE,
  S,
  assembled,
  changed,
  counted_under_a_lock,
  histogram,
)

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import targets
from tilewright.pallas import triton as plt
from tilewright.target import nvgpu


@pytest.fixture
def on_gpu(monkeypatch):
  """Kernels become the code of a GPU, which runs on the CPU."""
  monkeypatch.setitem(targets.NATIVE, "cpu", emulated.run)


def ptx(f, *args, arch="sm_90a"):
  ((_, native),) = natives(f, *args)
  return nvgpu.compile_ptx(native, arch)


def test_instances_that_run_at_the_same_time_count_together(on_gpu):
  numbers = jnp.asarray(np.random.default_rng(0).integers(0, 10, 256), I32)
  np.testing.assert_array_equal(histogram(numbers, 10), np.bincount(numbers, minlength=10))


@pytest.mark.parametrize("wrong", [{"num_warps": n} for n in (0, 64, 2.5, "4")] + [{"num_stages": -1}], ids=str)
def test_parameters_that_no_block_of_threads_can_have_are_refused(wrong):
  (name,) = wrong
  with pytest.raises(errors.GridError, match=f"{name}: expected"):
    plt.CompilerParams(**wrong)


def test_the_grid_of_a_triton_kernel_is_one_of_blocks_of_threads():
  text, launch = ptx(lambda x: histogram(x, 10), S((256,), I32))
  assert launch.num_blocks == 4 and "atom.global.add.u32" in text.replace(".relaxed", "").replace(".sys", "")


def test_all_threads_have_read_what_an_atomic_operation_gave_before_a_loop_comes_round():
  text, _ = ptx(lambda: counted_under_a_lock(2))
  assert re.search(r"ld\.shared\.b32[^\n]*\n\s*bar\.sync", text)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_atomic_operations_give_the_old_value_and_leave_the_new_one(on_gpu, dtype):
  numbers = np.random.default_rng(1).integers(0, 100, (2, 40))
  old, values = (jnp.asarray(x, dtype) for x in numbers)
  for name, (operation, wanted) in OPERATIONS.items():
    if jnp.issubdtype(dtype, jnp.floating) and name not in OF_FLOATS:
      continue
    new, before = changed(operation, old, values)
    np.testing.assert_array_equal(before, old)
    np.testing.assert_array_equal(new, wanted(np.asarray(old), np.asarray(values)))


def test_bools_are_added_as_xla_adds_them(on_gpu):
  old, values = jnp.asarray([True, True, False, False]), jnp.asarray([True, False, True, False])
  new, before = changed(plt.atomic_add, old, values)
  np.testing.assert_array_equal(before, old)
  np.testing.assert_array_equal(new, [True, True, True, False])


def test_products_of_narrow_floats_are_added_up_in_float32(on_gpu):
  a = jnp.asarray(np.random.default_rng(0).standard_normal((16, 32)), jnp.float8_e4m3fn)

  def kernel(a_ref, o_ref):
    o_ref[...] = plt.dot(a_ref[...], a_ref[...], trans_b=True)

  got = pl.pallas_call(kernel, S((16, 16), F32), compiler_params=plt.CompilerParams())(a)
  wide = np.asarray(a, np.float64)
  np.testing.assert_allclose(got, wide @ wide.T, rtol=0, atol=32 * 2.0**-23 * np.abs(wide).max() ** 2 * 32)


def test_a_mask_leaves_elements_alone(on_gpu):
  old, values = jnp.arange(40, dtype=F32), jnp.full(40, 0.5)
  new, before = changed(plt.atomic_add, old, values, mask=lambda i: i % 3 == 0)
  np.testing.assert_array_equal(before, old)
  np.testing.assert_array_equal(new, np.where(np.arange(40) % 3 == 0, old + values, old))


def test_compare_and_swap_builds_a_lock(on_gpu):
  assert counted_under_a_lock(4) == 4


def test_scatters_that_combine_count_every_value(on_gpu):
  def kernel(n_ref, x_ref, o_ref):
    o_ref[...] = jnp.zeros((8, 4), F32).at[n_ref[...]].add(x_ref[...])

  rng = np.random.default_rng(2)
  numbers, rows = rng.integers(0, 8, 50), rng.integers(0, 9, (50, 4)).astype(np.float32)
  got = pl.pallas_call(kernel, S((8, 4), F32))(jnp.asarray(numbers, I32), jnp.asarray(rows))
  wanted = np.zeros((8, 4), np.float32)
  np.add.at(wanted, numbers, rows)
  np.testing.assert_array_equal(got, wanted)


def test_a_scalar_may_be_scattered_into(on_gpu):
  numbers = jax.lax.ScatterDimensionNumbers((), (), ())

  def kernel(n_ref, x_ref, o_ref):
    replaced = jax.lax.scatter(x_ref[0], n_ref[...], x_ref[1], numbers)
    o_ref[0] = jax.lax.scatter_add(replaced, n_ref[...], x_ref[2], numbers)

  got = pl.pallas_call(kernel, S((1,), F32))(jnp.zeros((0,), I32), jnp.asarray([1.0, 2.0, 4.0]))
  np.testing.assert_array_equal(got, [6.0])


@pytest.mark.parametrize("k", [1, 5])
def test_the_largest_elements(on_gpu, k):
  def kernel(x_ref, v_ref, n_ref):
    v_ref[...], n_ref[...] = jax.lax.top_k(x_ref[...], k)

  x = jnp.asarray(np.random.default_rng(3).permutation(200).reshape(2, 100), F32)
  got = pl.pallas_call(kernel, (S((2, k), F32), S((2, k), I32)))(x)
  for mine, wanted in zip(got, jax.lax.top_k(x, k), strict=True):
    np.testing.assert_array_equal(mine, wanted)


# --- assembly ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_assembly_takes_several_elements_in_one_register(arch):
  text, _ = ptx(lambda x: assembled(*NOT_BYTES, x), S((64,), jnp.int8), arch=arch)
  assert "lop3.b32" in text


def test_assembly_has_several_operands_and_results():
  text, _ = ptx(lambda x, y: assembled(*SUM_AND_DIFFERENCE, x, y), S((7, 3), F32), S((7, 3), F32))
  assert "add.f32" in text and "neg.f32" in text


@pytest.mark.parametrize("constraints", ["=r", "=r,r,r", "=r,q"])
def test_constraints_that_do_not_fit_are_refused(constraints):
  with pytest.raises(errors.NativeCodeError, match=r"elementwise_inline_asm at .*triton_programs.py:\d+.*constraint"):
    ptx(lambda x: assembled("mov.b32 $0, $1;", constraints, 1, [I32], x), S((64,), I32))


@pytest.mark.parametrize("named", ["$2", "${7}", "$x", "${1:x}", "$"])
def test_operands_that_are_not_there_are_refused(named):
  """LLVM would end the process."""
  with pytest.raises(errors.NativeCodeError, match=r"elementwise_inline_asm at .*operands \$0 to \$1, .* got '\$"):
    ptx(lambda x: assembled(f"mov.b32 $0, {named};", "=r,r", 1, [I32], x), S((64,), I32))


def test_assembly_may_hold_dollars_and_labels():
  text, _ = ptx(lambda x: assembled("$$skip${:uid}: mov.b32 ${0}, $1;", "=r,r,~{memory}", 1, [I32], x), S((64,), I32))
  assert re.search(r"\$skip\d+: mov\.b32", text)


def test_a_barrier_is_one():
  def kernel(x_ref, o_ref):
    plt.debug_barrier()
    o_ref[...] = x_ref[...]

  call = lambda x: pl.pallas_call(kernel, S(x.shape, x.dtype))(x)
  assert ptx(call, S((64,), F32))[0].count("bar.sync") == 1


# --- threads that work together --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape, axis", [((300,), 0), ((3, 33), 1), ((33, 2), 0), ((1,), 0)])
def test_threads_sort_together_and_keep_the_order_of_equal_elements(on_gpu, shape, axis):
  def kernel(x_ref, y_ref, *outs):
    for ref, result in zip(outs, jax.lax.sort((x_ref[...], y_ref[...]), dimension=axis, num_keys=1)):
      ref[...] = result

  x = np.random.default_rng(4).integers(0, 7, shape).astype(np.int32)
  y = np.arange(x.size, dtype=np.int32).reshape(shape)
  keys, numbers = pl.pallas_call(kernel, (S(shape, I32), S(shape, I32)))(x, y)
  order = np.argsort(x, axis=axis, kind="stable")
  np.testing.assert_array_equal(keys, np.take_along_axis(x, order, axis))
  np.testing.assert_array_equal(numbers, np.take_along_axis(y, order, axis))


@pytest.mark.parametrize("rows", [5, 700_000])
def test_where_positions_repeat_the_last_value_stays(on_gpu, rows):
  """A small array finds out who comes last; a large one is written in order."""

  def kernel(n_ref, x_ref, zeros_ref, o_ref):
    o_ref[n_ref[...]] = x_ref[...]

  numbers = np.random.default_rng(5).integers(0, 5, 40)
  values = np.arange(40, dtype=np.float32)
  got = pl.pallas_call(
    kernel,
    S((rows,), F32),
    in_specs=[pl.BlockSpec(), pl.BlockSpec(), pl.BlockSpec(memory_space=pl.ANY)],
    out_specs=pl.BlockSpec(memory_space=pl.ANY),
    input_output_aliases={2: 0},
  )(jnp.asarray(numbers, I32), jnp.asarray(values), jnp.zeros(rows, F32))
  wanted = np.zeros(rows, np.float32)
  wanted[numbers] = values
  np.testing.assert_array_equal(got, wanted)


HINTS = {
  "evict_first": ({"eviction_policy": "evict_first"}, r"ld\.global\.L1::evict_first\.L2::cache_hint\.v4\.b32"),
  "cg": ({"cache_modifier": ".cg"}, r"ld\.global\.cg\.v4\.b32"),
  "cs and evict_last": (
    {"cache_modifier": ".cs", "eviction_policy": "evict_last"},
    r"createpolicy\.fractional\.L2::evict_last[^$]*ld\.global\.cs\.L2::cache_hint\.v4\.b32",
  ),
  "volatile": ({"volatile": True, "eviction_policy": "evict_first"}, r"ld\.volatile\.global\.v4\.b32"),
}


@pytest.mark.parametrize("name", HINTS)
def test_caches_are_told_what_a_kernel_says(on_gpu, name):
  """On the loads it says it of, which are as wide as without; the values are the same."""
  hint, wanted = HINTS[name]

  def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = plt.load(x_ref, **hint) + y_ref[...]

  call = pl.pallas_call(kernel, S((1024,), F32), compiler_params=plt.CompilerParams(num_warps=4))
  text, _ = ptx(call, *[S((1024,), F32)] * 2)
  assert re.search(wanted, text) and re.search(r"ld\.global(\.nc)?\.v4", text)
  x = np.arange(1024, dtype=np.float32)
  np.testing.assert_array_equal(call(x, x), 2 * x)


@pytest.mark.parametrize("dtype", [np.int8, jnp.bfloat16, np.float64], ids=["1", "2", "8"])
def test_stores_tell_caches_what_a_kernel_says(on_gpu, dtype):
  """Of elements of any size, one by one and together, where a mask chooses them."""

  def kernel(x_ref, o_ref):
    i = jnp.arange(512)
    loaded = plt.load(x_ref.at[(7 * i) % 512], eviction_policy="evict_last")
    plt.store(o_ref, loaded, mask=i < 500, eviction_policy="evict_first")

  with jax.enable_x64(True):
    call = pl.pallas_call(kernel, S((512,), dtype), compiler_params=plt.CompilerParams(num_warps=4))
    text, _ = ptx(call, S((512,), dtype))
    assert "st.global.L1::evict_first" in text and "ld.global.L1::evict_last" in text
    x = np.asarray(np.arange(512) % 100, dtype)
    np.testing.assert_array_equal(call(x)[:500], x[7 * np.arange(500) % 512])


def test_what_is_not_aligned_is_accessed_one_by_one_with_what_a_kernel_says(on_gpu):
  """A volatile load is one wherever it begins."""

  def kernel(x_ref, o_ref):
    o_ref[...] = plt.load(x_ref.at[pl.ds(1, 512)], volatile=True)

  call = pl.pallas_call(kernel, S((512,), F32), compiler_params=plt.CompilerParams(num_warps=4))
  text, _ = ptx(call, S((520,), F32))
  assert text.count("ld.volatile.global.b32") == text.count("ld.") - text.count("ld.param") == 4
  x = np.arange(520, dtype=np.float32)
  np.testing.assert_array_equal(call(x), x[1:513])


def test_what_an_old_ptx_does_not_know_is_left_out():
  hint = {"eviction_policy": "evict_first"}
  call = pl.pallas_call(lambda x_ref, o_ref: plt.store(o_ref, plt.load(x_ref, **hint), **hint), S((1024,), F32))
  assert "evict" not in ptx(call, S((1024,), F32), arch="sm_80")[0]

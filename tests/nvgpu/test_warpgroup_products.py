"""Products that become wgmma outside of the matmul pipeline: what they compute, on the CPU (`block_on_cpu`), and what they become."""

from __future__ import annotations

import functools
import re

import jax.numpy as jnp
import layout_programs
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, in_one_block, natives
from warpgroup_programs import dot, of_shapes, small_integers, summed

from tests.support.stepwise_products import stepwise
from tilewright.layout.options import wgmma_shared, wgmma_variants
from tilewright.runtime import ptxas
from tilewright.target import nvgpu
from tilewright.target.nvgpu.emit.dot.wgmma_dot import as_matrix

F16, E4M3, E5M2 = jnp.float16, jnp.float8_e4m3fn, jnp.float8_e5m2
needs_ptxas = pytest.mark.skipif(ptxas.find() is None, reason=f"there is no ptxas here: {ptxas.ADVICE}")


def compiled(f, out, *args, num_warps=4):
  ((_, native),) = natives(lambda *xs: in_one_block(f, out)(*xs)[0], *args)
  return native, nvgpu.compile_ptx(native, "sm_90a", num_warps)[0]


def check(f, exactly, out, *args, num_warps=4):
  """On integers: equal to the product in float64, and by wgmma alone."""
  native, text = compiled(f, out, *args, num_warps=num_warps)
  assert "wgmma.mma_async" in text and "mma.sync." not in text
  (got,) = run(native, *args, arch="sm_90a", num_warps=num_warps)
  np.testing.assert_array_equal(np.asarray(got, np.float64), exactly(*(np.asarray(a, np.float64) for a in args)))


@pytest.mark.parametrize("contract", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [BF16, F16, E4M3, E5M2, jnp.int8, jnp.uint8], ids=lambda d: np.dtype(d).name)
def test_every_type_in_every_orientation(dtype, contract):
  kind = jnp.int32 if np.dtype(dtype).kind in "iu" else F32
  shapes = of_shapes(64, 32, 64, contract)
  args = [small_integers(shape, dtype, i) for i, shape in enumerate(shapes)]
  axes = contract[:1], contract[1:]
  check(
    functools.partial(dot, contract=contract, out=kind), lambda a, b: np.tensordot(a, b, axes), S((64, 32), kind), *args
  )


@pytest.mark.parametrize("dtype", [E4M3, E5M2], ids=lambda d: np.dtype(d).name)
def test_eight_bit_floats_are_multiplied_as_bfloat16(dtype):
  """Tensor cores would multiply them as they are, but do not add those up in float32."""
  args = [small_integers(shape, dtype, i) for i, shape in enumerate(of_shapes(64, 32, 64, (1, 1)))]
  _, text = compiled(functools.partial(dot, contract=(1, 1), out=F32), S((64, 32), F32), *args)
  assert set(re.findall(r"wgmma\.mma_async\S*?k\d+\.(\S+)", text)) == {"f32.bf16.bf16"}


@pytest.mark.parametrize("m, n, k, num_warps", [(128, 24, 16, 8), (64, 96, 48, 4), (128, 64, 32, 4), (64, 160, 32, 8)])
@pytest.mark.parametrize("contract", [(1, 0), (0, 1)])
def test_fragments_and_warpgroups_lie_side_by_side(m, n, k, num_warps, contract):
  args = [small_integers(shape, BF16, i) for i, shape in enumerate(of_shapes(m, n, k, contract))]
  axes = contract[:1], contract[1:]
  f = functools.partial(dot, contract=contract)
  check(f, lambda a, b: np.tensordot(a, b, axes), S((m, n), F32), *args, num_warps=num_warps)


@pytest.mark.parametrize("dtype, kind, count", [(BF16, F32, 4), (jnp.int8, jnp.int32, 0)], ids=["bf16", "s8"])
def test_a_left_operand_that_is_a_product_stays_in_registers(dtype, kind, count):
  """Sums lie where the next product wants its left operand. With eight bits they are many shuffles away, and go through memory."""

  def f(a, b, c):
    return dot(dot(a, b, (1, 1), kind).astype(dtype), c, (1, 1), kind)

  args = [jnp.sign(small_integers((64, 64), kind, i)).astype(dtype) for i in range(3)]  # sums that eight bits hold
  check(f, lambda a, b, c: a @ b.T @ c.T, S((64, 64), kind), *args)
  _, text = compiled(f, S((64, 64), kind), *args)
  products = re.findall(r"wgmma\.mma_async[^;]*;", text.replace("\n", " "))
  assert sum(bool(re.search(r"\},\s*\{", p)) for p in products) == count  # of the second product


def test_operands_that_need_other_layouts_on_their_way_leave_each_other_alone():
  """The right operand is transposed through shared memory after the left one has been brought there."""

  def f(a, b, c):
    return dot((a + a).astype(BF16), (b - c.T).astype(BF16))

  args = [small_integers(shape, F32, i) for i, shape in enumerate([(128, 64), (64, 32), (32, 64)])]
  check(f, lambda a, b, c: 2 * a @ (b - c.T), S((128, 32), F32), *args)


def test_sums_go_on():
  """`old + a @ b` begins with the old sums."""

  def f(a, b, c):
    return c + dot(a, b) + dot(a, a, (1, 1))

  args = [small_integers((64, 64), BF16, i) for i in range(2)] + [small_integers((64, 64), F32, 2)]
  check(f, lambda a, b, c: c + a @ b + a @ a.T, S((64, 64), F32), *args)


@pytest.mark.parametrize("name", ["attention", "online_attention", "scratch_matmul", "product_of_sums"])
def test_kernels_that_mix_layouts(name):
  args = layout_programs.arguments(name)
  wanted = layout_programs.exactly(name, args)
  ((_, native),) = natives(layout_programs.PROGRAMS[name][0], *args)
  assert "mma.sync." not in nvgpu.compile_ptx(native, "sm_90a")[0]
  (got,) = run(native, *args, arch="sm_90a")
  np.testing.assert_allclose(
    np.asarray(got, np.float64), wanted, rtol=0, atol=layout_programs.tolerance(name, args, wanted)
  )


@pytest.mark.parametrize(
  "rounds", [lambda i: 2, lambda i: 5, lambda i: 4 * i, lambda i: 2 * i + 1], ids=["2", "5", "0_4", "1_3"]
)
def test_operands_of_a_loop_arrive_ahead_of_time(rounds):
  """Also where the number of rounds differs from instance to instance, as in causal attention."""
  args = [small_integers((64, 80), BF16, i) for i in range(2)]
  ((_, native),) = natives(lambda a, b: summed(a, b, rounds), *args)
  text = nvgpu.compile_ptx(native, "sm_90a")[0]
  assert "ld.global" not in text and "cp.async.wait_group 1" in text
  (got,) = run(native, *args, arch="sm_90a")
  for i in range(2):
    a, b = (np.asarray(x, np.float64)[:, : 16 * rounds(i)] for x in args)
    np.testing.assert_array_equal(got[i], a @ b.T)


@pytest.mark.parametrize("width, batch", [(32, ()), (64, ()), (128, (2,))])
def test_blocks_that_arrive_ahead_of_time_are_read_where_they_are(width, batch):
  """TMA brings them, in one box or two."""
  args, native, wanted = stepwise(width, batch)
  text, launch = nvgpu.compile_ptx(native, "sm_90a")
  assert "wgmma.mma_async" in text and "ld.global" not in text and "ldmatrix" not in text
  assert "cp.async.bulk.tensor" in text and "cp.async.cg" not in text and "cp.async.wait_group" not in text
  assert [m.swizzle_bytes for m in launch.maps] == [min(2 * width, 128)] * 3
  (got,) = run(native, *args, arch="sm_90a")
  np.testing.assert_allclose(got, wanted, rtol=0, atol=2.0**-8)  # weights are rounded to bf16


def test_threads_copy_blocks_of_arrays_that_no_tensor_map_describes():
  args, native, wanted = stepwise(64, (1, 1, 2, 1))
  text = nvgpu.compile_ptx(native, "sm_90a")[0]
  assert "cp.async.cg" in text and "cp.async.bulk.tensor" not in text
  (got,) = run(native, *args, arch="sm_90a")
  np.testing.assert_allclose(got, wanted, rtol=0, atol=2.0**-8)


def test_what_does_not_fit_goes_to_mma_sync():
  for m, n, k, dtype in [(32, 64, 64, BF16), (64, 64, 8, BF16), (96, 64, 64, BF16), (32, 64, 64, F32)]:
    args = [small_integers((m, k), dtype, 0), small_integers((k, n), dtype, 1)]
    _, text = compiled(dot, S((m, n), F32), *args)
    assert "wgmma" not in text


@pytest.mark.parametrize("contracted", [0, 1])
@pytest.mark.parametrize("bits", [8, 16])
def test_offsets_of_operands_are_those_of_their_layouts(bits, contracted):
  """Where an instruction begins to read: an address before the swizzle, which moves nothing there."""
  swizzled = [shared for shared in wgmma_shared((128, 128), bits, contracted) if shared.swizzle.bits]
  assert swizzled
  for shared in swizzled:
    matrix = as_matrix(shared, contracted)
    for free in range(0, 128, max(8, 1 if matrix.k_is_last else matrix.wide)):
      for k in range(0, 128, 256 // bits):
        at = (k, free) if contracted == 0 else (free, k)
        assert shared.swizzle(matrix.offset(free, k)) == shared.address(at)


def test_ways_cover_the_accumulator_once():
  ways = list(wgmma_variants((256, 192), 8))
  assert ways
  for way in ways:
    table = way.accumulator.table().reshape(-1, 2)
    assert len(table) == len({tuple(at) for at in table.tolist()}) == 256 * 192


@needs_ptxas
@pytest.mark.parametrize("name", ["attention", "online_attention", "scratch_matmul", "product_tn"])
def test_ptxas_assembles_it_without_spills_and_in_parallel(name):
  f, _, args = layout_programs.PROGRAMS[name]
  ((_, native),) = natives(f, *args)
  assert ptxas.resources(nvgpu.compile_ptx(native, "sm_90a")[0], "sm_90a").spilled_bytes == 0

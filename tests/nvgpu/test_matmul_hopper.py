"""The persistent matrix product for Hopper: against float64 where the GPU's code runs on the CPU, and what ptxas makes of it."""

from __future__ import annotations

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import S, natives

from tests.support.ptxas_marks import needs_ptxas
from tilewright import ops
from tilewright.ops import calling, matmul_gpu, spaces
from tilewright.ops.matmul_hopper import Tiles, product, tiles_of
from tilewright.ops.tiling import MatmulBlocks
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import nvgpu, targets

BF16, F16, F32 = jnp.bfloat16, jnp.float16, jnp.float32
EVERY_WAY = [(x, y) for x in (False, True) for y in (False, True)]


def normal(*shape, dtype, seed):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def operands(m, n, k, dtype, transposed=(False, False)):
  x, y = ((k, m) if transposed[0] else (m, k)), ((n, k) if transposed[1] else (k, n))
  return normal(*x, dtype=dtype, seed=0), normal(*y, dtype=dtype, seed=1)


def in_float64(x, y, transposed=(False, False)):
  """The product, and the sums of what its terms are in absolute value."""
  x, y = (np.asarray(z, np.float64).T if turned else np.asarray(z, np.float64) for z, turned in zip((x, y), transposed))
  return x @ y, np.abs(x) @ np.abs(y)


def assert_close(found, wanted, sizes, k, dtype):
  """Products of halves are exact in f32: each of k sums errs by 2^-23 of the sum of sizes at most; then the result is rounded."""
  allowed = k * 2.0**-23 * sizes
  allowed += (0 if dtype == F32 else float(jnp.finfo(dtype).eps) / 2) * (np.abs(wanted) + allowed)
  error = np.abs(np.asarray(found, np.float64) - wanted)
  assert (error <= allowed).all(), (error / allowed).max()  # NaN is not close


def finish(total, bias, factor, dtype=BF16):
  total = total if bias is None else total + bias.astype(F32)
  return total if factor is None else total * factor.astype(F32)


def emulated(f, *args):
  ((_, native),) = natives(f, *args)
  return run(native, *args, arch="sm_90a")[0]


@pytest.mark.parametrize("transposed", EVERY_WAY)
@pytest.mark.parametrize(
  "tiles, dtype, out_dtype",
  [
    (Tiles(128, 128, 64, 3, ctas=2), BF16, BF16),
    (Tiles(128, 256, 64, 2, ctas=3, panel=1), F16, F32),
    (Tiles(128, 128, 64, 2, across=True, ctas=2), BF16, F16),
    (Tiles(256, 128, 64, 2, ctas=1), BF16, BF16),
  ],
)
def test_tiles_hang_over_every_edge(tiles, dtype, out_dtype, transposed):
  m, n, k = 200, 264, 136
  x, y = operands(m, n, k, dtype, transposed)
  found = emulated(lambda x, y: product(tiles, x, y, None, None, finish, out_dtype, transposed), x, y)
  assert found.dtype == out_dtype
  assert_close(found, *in_float64(x, y, transposed), k, out_dtype)


@pytest.mark.parametrize("m, n, k", [(8, 8, 8), (128, 128, 640), (136, 520, 72), (64, 384, 64)])
def test_few_and_many_steps(m, n, k):
  x, y = operands(m, n, k, BF16)
  found = emulated(lambda x, y: product(Tiles(128, 128, 64, 3, ctas=2), x, y, None, None, finish, BF16), x, y)
  assert_close(found, *in_float64(x, y), k, BF16)


def test_the_epilogue_has_bias_and_factor_up_to_the_edges():
  m, n, k = 136, 264, 72
  x, y = operands(m, n, k, BF16)
  bias, factor = normal(n, dtype=BF16, seed=2), normal(m, n, dtype=BF16, seed=3)
  f = lambda x, y, b, c: product(Tiles(128, 128, 64, 2, ctas=2), x, y, b, c, finish, F32)
  found = emulated(f, x, y, bias, factor)
  wanted, sizes = in_float64(x, y)
  b, c = np.asarray(bias, np.float64), np.asarray(factor, np.float64)
  assert_close(found, (wanted + b) * c, (sizes + np.abs(b)) * np.abs(c), k + 2, F32)


@pytest.mark.parametrize("dtype", [jnp.float8_e4m3fn, jnp.float8_e5m2])
@pytest.mark.parametrize("k", [384, 400])
def test_floats_of_eight_bits(dtype, k):
  """Small integers, of which sums are exact in every precision."""
  m, n = 136, 272
  rng = np.random.default_rng(0)
  x, y = (jnp.asarray(rng.integers(-4, 5, shape)).astype(dtype) for shape in ((m, k), (n, k)))
  f = lambda x, y: product(Tiles(128, 128, 128, 2, ctas=2), x, y, None, None, finish, F32, (False, True))
  np.testing.assert_array_equal(emulated(f, x, y), np.asarray(x, np.float32) @ np.asarray(y, np.float32).T)
  (report,) = nvgpu.report(f, x, y, archs="sm_90a", assemble=False)
  kind = {jnp.float8_e4m3fn: "e4m3", jnp.float8_e5m2: "e5m2"}[dtype]
  assert report.ptx.count(f".f32.{kind}.{kind}") == report.ptx.count("wgmma.mma_async") == 4


def test_warpgroups_do_not_race_on_the_simulated_machine():
  x, y = operands(128, 256, 136, BF16)
  with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams(detect_races=True)):
    found = product(Tiles(128, 128, 64, 2, ctas=1), x, y, None, None, finish, BF16)
  assert_close(found, *in_float64(x, y), 136, BF16)
  assert not plgpu.interpret_races()


@pytest.fixture
def by_hand(monkeypatch):
  """What the tuner may choose, on a machine that is said to have a GPU."""
  config = dict(block_m=128, block_n=128, block_k=64, splits=1, cluster=0, by_hand=1)
  monkeypatch.setattr(calling, "platform", lambda: "gpu")
  monkeypatch.setattr(spaces.MATMUL_GPU, "choose", lambda **facts: config)
  monkeypatch.setattr(targets, "is_for_hopper", lambda platform: True)


@pytest.mark.parametrize("transposed", EVERY_WAY)
def test_the_op_and_its_derivatives(by_hand, transposed):
  m, n, k = 40, 72, 56
  x, y = operands(m, n, k, BF16, transposed)
  bias, g = normal(n, dtype=BF16, seed=2), normal(m, n, dtype=BF16, seed=3)
  f = functools.partial(ops.matmul, transpose_x=transposed[0], transpose_y=transposed[1])
  found, slopes = jax.vjp(lambda *a: f(*a), x, y, bias)
  wanted, sizes = in_float64(x, y, transposed)
  b = np.asarray(bias, np.float64)
  assert_close(found, wanted + b, sizes + np.abs(b), k + 1, BF16)
  left, right = (np.asarray(z, np.float64).T if t else np.asarray(z, np.float64) for z, t in zip((x, y), transposed))
  g64 = np.asarray(g, np.float64)
  for one, (a, c), depth, turned in zip(slopes(g), [(g64, right.T), (left.T, g64)], (n, m), transposed):
    expected, size = a @ c, np.abs(a) @ np.abs(c)
    assert_close(one, expected.T if turned else expected, size.T if turned else size, depth, BF16)


@pytest.mark.parametrize("shape, columns", [((40, 51), 65), ((8, 5, 64), 64)])
def test_the_op_with_an_activation_and_rows_of_any_length(by_hand, shape, columns):
  x, y = normal(*shape, dtype=F16, seed=0), normal(shape[-1], columns, dtype=F16, seed=1)
  found = jax.jit(functools.partial(ops.matmul, activation="relu", out_dtype=F32))(x, y)
  wanted, sizes = in_float64(x.reshape(-1, shape[-1]), y)
  assert found.shape == (*shape[:-1], columns)
  assert_close(found.reshape(wanted.shape), np.maximum(wanted, 0), sizes, shape[-1], F32)


def test_the_kernel_is_for_native_code_on_hopper_gpus_only(by_hand, monkeypatch):
  called = []
  monkeypatch.setattr(matmul_gpu.ByHand, "__call__", lambda self, x, y: called.append(self) or x @ y)
  x, y = operands(64, 64, 64, BF16)
  jax.jit(ops.matmul)(x, y)
  assert len(called) == 1
  # Programs that are exported, derivatives of derivatives, and kernels that are transformed
  assert b"callback" not in jax.export.export(jax.jit(ops.matmul))(x, y).mlir_module_serialized
  jax.jit(jax.vmap(ops.matmul))(x[None], y[None])
  assert len(called) == 1
  monkeypatch.setattr(targets, "is_for_hopper", lambda platform: False)
  jax.jit(lambda x, y: ops.matmul(x, y) + 1)(x, y)
  assert len(called) == 1


def test_derivatives_of_any_order(by_hand):
  x, y = operands(16, 24, 32, BF16)
  loss = lambda x: jnp.sum(jnp.sin(ops.matmul(x, y).astype(F32)))
  exact = lambda x: jnp.sum(jnp.sin(jnp.dot(x, y.astype(F32), precision="highest")))
  second = lambda f: lambda x: jnp.sum(jax.grad(f)(x).astype(F32) ** 2)
  found, wanted = jax.grad(second(loss))(x), jax.grad(second(exact))(x.astype(F32))
  # A few roundings to bfloat16, of numbers not larger than what they are added up to.
  assert float(jnp.abs(found - wanted).max()) <= 8 * float(jnp.finfo(BF16).eps) * float(jnp.abs(wanted).max())


def test_reports_show_the_kernel_that_runs(by_hand):
  x, y = operands(128, 128, 64, BF16)
  reports = nvgpu.report(ops.matmul, x, y, archs=["sm_80", "sm_90a"], assemble=False)
  assert [(r.arch, r.kernel) for r in reports] == [("sm_80", "matmul"), ("sm_90a", "matmul_hopper")]


# --- what is emitted ---------------------------------------------------------------------------------------------


@needs_ptxas
@pytest.mark.parametrize("blocks", [(128, 256, 64), (128, 128, 64), (256, 128, 64)])
@pytest.mark.parametrize("transposed, size", [*((each, 4104) for each in EVERY_WAY), ((False, True), 4096)])
def test_operands_and_results_go_by_tma_and_nothing_spills(blocks, transposed, size):
  tiles = tiles_of(MatmulBlocks(*blocks), 2)
  square = S((size, size), BF16)
  f = lambda x, y: product(tiles, x, y, None, None, finish, BF16, transposed)
  (report,) = nvgpu.report(f, square, square, archs="sm_90a")
  assert report.resources.spilled_bytes == report.resources.stack_bytes == report.scratch_bytes == 0
  assert report.resources.registers == 168  # of 65,536 among 384 threads
  text = report.ptx
  assert not re.search(r"cp\.async\.c[ag]|ld\.shared|st\.shared|ld\.global|st\.global", text)
  # 64 rows and 256 or 128 columns at a time, one product of each in flight
  assert text.count("wgmma.mma_async") == 4 * blocks[0] // 128
  assert "wgmma.wait_group.sync.aligned 1;" in text
  assert "setmaxnreg.inc.sync.aligned.u32 232" in text and "setmaxnreg.dec.sync.aligned.u32 40" in text

"""Attention for Hopper by warpgroups: against float64 where the GPU's code runs on the CPU, and what ptxas makes of it."""

from __future__ import annotations

import functools
import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import S, natives

from tests.support.attention_cases import attention64
from tests.support.ptxas_marks import needs_ptxas
from tilewright import ops
from tilewright.ops import calling, spaces
from tilewright.ops.attention import NEVER, Plan
from tilewright.ops.attention_hopper import Tiles, forward, is_possible
from tilewright.ops.calling import Execution
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import nvgpu, targets

BF16, F16, F32 = jnp.bfloat16, jnp.float16, jnp.float32
# heads, heads of keys, queries, keys, depth, depth of values, the plan's right and offset, the scale
CASES = {
  "whole blocks": (2, 1, 128, 192, 64, 64, None, 0, 0.125),
  "odd lengths and depths": (2, 2, 70, 90, 40, 88, None, 0, 0.2),
  "fewer keys than a block": (1, 1, 70, 53, 64, 64, None, 0, 0.125),
  "causal": (1, 1, 200, 200, 64, 128, 0, 0, 0.125),
  "causal, queries that continue a sequence": (3, 1, 130, 200, 64, 64, 0, 70, 0.125),
  "queries that see nothing": (1, 1, 130, 100, 64, 64, -20, 0, 0.125),
  "a negative scale": (1, 1, 130, 100, 64, 64, 3, 0, -0.3),
}
TILES = {
  "two": Tiles(2, 64),
  "three": Tiles(3, 64, 3),
  "not in turn": Tiles(2, 128, takes_turns=False),
  "one": Tiles(1, 64),
}


def normal(*shape, dtype, seed):
  return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def plan_of(right, offset, scale):
  return Plan(Execution(False, True, True), scale, None, right, offset, 128, 64)


def in_float64(q, k, v, right, offset, scale):
  """The output, and logarithms to base 2 of sums of exponentials."""
  q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
  k, v = (np.repeat(x, q.shape[0] // x.shape[0], 0) for x in (k, v))
  scores = q @ k.swapaxes(1, 2) * scale
  if right is not None:
    seen = np.arange(k.shape[1]) <= np.arange(q.shape[1])[:, None] + offset + right
    scores = np.where(seen, scores, -np.inf)
  with np.errstate(divide="ignore"):
    logs = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
  weights = np.exp(scores - np.where(np.isinf(logs), 0, logs))  # none where a query sees nothing
  return weights @ v, np.where(np.isinf(logs), -NEVER, logs / math.log(2))[..., 0]


# Every case with one way to share the work, and every way with what hangs over, is masked and sees nothing.
MASKED = ("odd lengths and depths", "causal, queries that continue a sequence", "queries that see nothing")
OTHERS = [("three", F16), ("not in turn", BF16), ("one", BF16)]


@pytest.mark.parametrize(
  "name, tiles, dtype",
  [*((name, "two", BF16) for name in CASES), *((name, *other) for other in OTHERS for name in MASKED)],
)
def test_against_float64(name, tiles, dtype):
  heads, key_heads, queries, keys, depth, value_depth, *options = CASES[name]
  shapes = (heads, queries, depth), (key_heads, keys, depth), (key_heads, keys, value_depth)
  args = [normal(1, *shape, dtype=dtype, seed=n) for n, shape in enumerate(shapes)]
  ((_, native),) = natives(lambda *a: forward(plan_of(*options), *a, TILES[tiles]), *args)
  out, logs = run(native, *args, arch="sm_90a")
  wanted, wanted_logs = in_float64(*(x[0] for x in args), *options)
  # Weights add up to one, and each is rounded to the dtype: so an output errs by half a unit of the largest value, and by its own rounding.
  eps, largest = float(jnp.finfo(dtype).eps), float(jnp.abs(args[2]).max())
  assert (np.abs(np.asarray(out, np.float64) - wanted) <= 2 * eps / 2 * largest + 1e-5).all()
  np.testing.assert_allclose(logs, wanted_logs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tiles", [Tiles(2, 64), Tiles(3, 64)])
def test_warpgroups_do_not_race_on_the_simulated_machine(tiles):
  args = [normal(1, 1, n, 64, dtype=BF16, seed=n) for n in (tiles.block_q, 200, 200)]
  options = (0, 40, 0.125)
  with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams(detect_races=True)):
    out, _ = forward(plan_of(*options), *args, tiles)
  wanted, _ = in_float64(*(x[0] for x in args), *options)
  assert np.abs(np.asarray(out, np.float64) - wanted).max() <= 2.0**-7 * float(jnp.abs(args[2]).max())
  assert not plgpu.interpret_races()


@pytest.fixture
def by_hand(monkeypatch):
  """What the tuner may choose, on a machine that is said to have a GPU."""
  monkeypatch.setattr(calling, "platform", lambda: "gpu")
  monkeypatch.setattr(targets, "is_for_hopper", lambda platform: True)
  config = dict(block_q=128, block_k=64, num_warps=0, by_hand=1)
  monkeypatch.setattr(spaces.ATTENTION_GPU, "choose", lambda **facts: config)


def is_by_hand(f, *args):
  (report,) = nvgpu.report(f, *args, archs="sm_90a", assemble=False)
  return report.kernel == "attention_hopper"


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"causal": True, "query_offset": 7}])
def test_the_op_and_its_derivatives(by_hand, options):
  q, k, v, g = (
    normal(2, h, n, 64, dtype=BF16, seed=i) for i, (h, n) in enumerate([(4, 70), (2, 90), (2, 90), (4, 70)])
  )
  f = functools.partial(ops.attention, **options)
  assert is_by_hand(f, q, k, v)
  found, slopes = jax.vjp(jax.jit(f), q, k, v)
  with jax.enable_x64(True):
    args = [jnp.asarray(np.asarray(x, np.float64)) for x in (q, k, v)]
    wanted, exact_slopes = jax.vjp(lambda *a: attention64(*a, **options), *args)
    expected = exact_slopes(jnp.asarray(np.asarray(g, np.float64)))
  eps = float(jnp.finfo(BF16).eps)
  assert np.abs(np.asarray(found, np.float64) - wanted).max() <= eps * float(jnp.abs(v).max())
  # As in tests/ops/test_gpu_tilings.py: four roundings of numbers of which a few are added up.
  for one, other in zip(slopes(g), expected, strict=True):
    assert np.abs(np.asarray(one, np.float64) - other).max() <= 4 * eps / 2 * 4 * np.abs(other).max()


@pytest.mark.parametrize("options", [{"window": 9}, {"blocks": (64, 32)}])
def test_what_the_kernel_cannot_do_goes_the_other_way(by_hand, options):
  x = S((1, 2, 128, 64), BF16)
  assert not is_by_hand(functools.partial(ops.attention, **options), x, x, x)


def test_arrays_that_the_kernel_takes():
  of = lambda depth, dtype=BF16: S((1, 2, 128, depth), dtype)
  assert is_possible(of(128), of(128), of(128), None, 128, 128)
  assert is_possible(of(64), of(64), of(128), None, 192, 64)
  assert not is_possible(of(64, F32), of(64, F32), of(64, F32), None, 128, 64)
  assert not is_possible(of(60), of(60), of(64), None, 128, 64)  # rows of 120 bytes
  assert not is_possible(of(256), of(256), of(64), None, 128, 64)
  assert not is_possible(of(64), of(64), of(64), 10, 128, 64)
  assert not is_possible(of(64), of(64), of(64), None, 256, 64)


# --- what is emitted ---------------------------------------------------------------------------------------------


@needs_ptxas
@pytest.mark.parametrize("right", [None, 0])
@pytest.mark.parametrize("depth, tiles", [(128, Tiles(2, 128)), (64, Tiles(2, 128)), (64, Tiles(3, 64))])
def test_products_stay_in_flight_and_nothing_spills(depth, tiles, right):
  x = S((1, 16, 4096, depth), BF16)
  (report,) = nvgpu.report(lambda *a: forward(plan_of(right, 0, 0.125), *a, tiles), x, x, x, archs="sm_90a")
  assert report.resources.spilled_bytes == report.resources.stack_bytes == report.scratch_bytes == 0
  text = report.ptx
  assert "ld.shared" not in text and "st.shared" not in text and "cp.async.ca" not in text
  assert text.count("cp.async.bulk.tensor") == 2 * tiles.consumers + 2 - (tiles.consumers - 1)
  assert "wgmma.wait_group.sync.aligned 1;" in text
  assert re.search(
    r"wgmma\.mma_async[^;]*, 0, 1, 1, 0, 0;", text
  )  # the first product of scores overwrites what was there


def test_a_product_overwrites_only_what_is_zero():
  """Accumulators that are zero just before their product, and those that something was added to in between."""
  x = jnp.asarray(np.random.default_rng(0).integers(-4, 5, (64, 64)), BF16)

  def body(x_ref, o_ref, smem, ready, acc):
    plgpu.copy_gmem_to_smem(x_ref, smem, ready)
    plgpu.barrier_wait(ready)
    plgpu.wgmma(acc, smem, smem)
    o_ref[0] = acc[...]
    acc[...] = jnp.zeros(acc.shape, F32)
    plgpu.wgmma(acc, smem, smem)
    plgpu.wgmma(acc, smem, smem)
    o_ref[1] = acc[...]
    acc[...] = jnp.zeros(acc.shape, F32)
    acc[...] += 1.0
    plgpu.wgmma(acc, smem, smem)
    o_ref[2] = acc[...]

  transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
  scratch = [plgpu.SMEM((64, 64), BF16, transforms=transforms), plgpu.Barrier(), plgpu.ACC((64, 64))]
  f = plgpu.kernel(body, out_type=S((3, 64, 64), F32), scratch_types=scratch)
  ((_, native),) = natives(f, x)
  (found,) = run(native, x, arch="sm_90a")
  product = np.asarray(x, np.float32) @ np.asarray(x, np.float32)
  np.testing.assert_array_equal(found, [product, 2 * product, product + 1])

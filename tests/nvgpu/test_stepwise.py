"""Steps that one CTA takes one after the other: blocks arrive ahead of time, and outputs that stay are written once."""

from __future__ import annotations

import re

import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, natives
from stepwise import column_sums, log_sum_exp

from tests.support.stepwise_products import stepwise
from tilewright.target import nvgpu


def on_cpu(f, x):
  ((_, native),) = natives(f, x)
  (got,) = run(native, x, arch="sm_80")
  return np.asarray(got, np.float64)


def normal(shape, dtype):
  return jnp.asarray(np.random.default_rng(0).standard_normal(shape), dtype)


@pytest.mark.parametrize("shape, dtype", [((128, 256), BF16), ((96, 200), F32)])
def test_sums_over_blocks_of_rows(shape, dtype):
  """The last block of columns may hang over."""
  x = normal(shape, dtype)
  wanted = np.asarray(x, np.float64).sum(0, keepdims=True)
  np.testing.assert_allclose(on_cpu(column_sums, x), wanted, rtol=0, atol=shape[0] * 2.0**-23 * np.abs(wanted).max())


@pytest.mark.parametrize("shape, dtype", [((16, 256), BF16), ((13, 200), BF16), ((9, 260), F32)])
def test_what_is_carried_over_blocks_of_columns(shape, dtype):
  """Rows of which the bytes are a multiple of sixteen, of eight, of four; the last blocks hang over, and are masked."""
  x = normal(shape, dtype)
  wanted = np.log(np.exp(np.asarray(x, np.float64)).sum(1, keepdims=True))
  np.testing.assert_allclose(on_cpu(log_sum_exp, x), wanted, rtol=0, atol=2.0**-20 * np.abs(wanted).max())


def test_what_lies_outside_is_poison_in_shared_memory_too():
  assert np.isnan(on_cpu(column_sums, normal((90, 128), F32))).all()


def test_blocks_are_copied_ahead_and_outputs_written_once():
  """The loop holds no load from global memory and no store to it, and what an output holds before it is written nobody reads."""
  ((kernel, native),) = natives(column_sums, S((4096, 1024), BF16))
  text, launch = nvgpu.compile_ptx(native, "sm_80", kernel.compiler_params.num_warps)
  loop = re.search(r"cp\.async\.wait_group 2;(.*?)cp\.async\.commit_group;", text, re.S)
  assert loop is not None and "cp.async.cg.shared.global" in loop[1]
  after = text[text.index("cp.async.wait_group 2;") :]
  assert text.count("ld.global") == 0 and after.count("st.global") == 1
  assert launch.shared_bytes >= 4 * 16 * 128 * 2, "four stages"


# --- blocks that warps multiply ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width, batch", [(32, ()), (64, ()), (128, (2,))])
def test_the_copy_engine_brings_what_warps_multiply(width, batch):
  """After sm_90a, which alone has wgmma; `ldmatrix` reads it through the swizzle."""
  args, native, wanted = stepwise(width, batch)
  text, launch = nvgpu.compile_ptx(native, "sm_100a")
  assert "cp.async.bulk.tensor" in text and "ldmatrix" in text and "mma.sync" in text
  assert "cp.async.cg" not in text and "cp.async.wait_group" not in text and "ld.global" not in text
  assert [m.swizzle_bytes for m in launch.maps] == [min(2 * width, 128)] * 3
  (got,) = run(native, *args, arch="sm_100a")
  np.testing.assert_allclose(got, wanted, rtol=0, atol=2.0**-8)


def test_what_it_brings_is_found_where_no_matrix_instruction_multiplies():
  """Of eight keys at a time, too few for the second product."""
  args, native, wanted = stepwise(64, block=8)
  text, launch = nvgpu.compile_ptx(native, "sm_100a")
  assert len(launch.maps) == 3 and "cp.async.cg" not in text
  (got,) = run(native, *args, arch="sm_100a")
  np.testing.assert_allclose(got, wanted, rtol=0, atol=2.0**-8)


def test_threads_copy_what_no_tensor_map_describes():
  args, native, wanted = stepwise(64, (1, 1, 2, 1))
  text, launch = nvgpu.compile_ptx(native, "sm_100a")
  assert not launch.maps and "cp.async.cg" in text
  (got,) = run(native, *args, arch="sm_100a")
  np.testing.assert_allclose(got, wanted, rtol=0, atol=2.0**-8)

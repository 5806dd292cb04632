"""Products of blocks that are longer than shared memory: what they compute, on the CPU (`block_on_cpu`), and in which memory."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, in_one_block, natives
from warpgroup_programs import dot, of_shapes, small_integers

from tilewright import pallas as pl
from tilewright.target import nvgpu


def compiled(f, out, args, arch):
  ((_, native),) = natives(lambda *xs: in_one_block(f, out)(*xs)[0], *args)
  return native, *nvgpu.compile_ptx(native, arch)


@pytest.mark.parametrize("k", [1000])
@pytest.mark.parametrize("contract", [(1, 0), (1, 1), (0, 0)])
@pytest.mark.parametrize(
  "dtype, arch, instruction",
  [(BF16, "sm_90a", "wgmma"), (BF16, "sm_80", "mma.sync"), (jnp.int8, "sm_80", "mma.sync")],
)
def test_long_products_are_added_up_in_rounds(dtype, arch, instruction, contract, k):
  k = k * 2 if np.dtype(dtype).itemsize == 1 else k
  kind = jnp.int32 if np.dtype(dtype).kind == "i" else F32
  args = [small_integers(shape, dtype, i) for i, shape in enumerate(of_shapes(64, 64, k, contract))]
  native, ptx, launch = compiled(functools.partial(dot, contract=contract, out=kind), S((64, 64), kind), args, arch)
  assert instruction in ptx and launch.workspace_bytes == 0
  (got,) = run(native, *args, arch=arch)
  wanted = np.tensordot(*(np.asarray(a, np.float64) for a in args), (contract[:1], contract[1:]))
  np.testing.assert_array_equal(np.asarray(got, np.float64), wanted)


def test_a_few_rows_are_multiplied_in_rounds_too():
  args = [small_integers(shape, BF16, i) for i, shape in enumerate([(8, 1024), (1024, 128)])]
  native, _, launch = compiled(lambda a, b: jnp.dot(a, b, preferred_element_type=F32), S((8, 128), F32), args, "sm_80")
  assert launch.workspace_bytes == 0
  (got,) = run(native, *args, arch="sm_80")
  np.testing.assert_array_equal(got, np.asarray(args[0], np.float64) @ np.asarray(args[1], np.float64))


def test_sums_of_halves_are_rounded_once():
  """Ones and thousandths: a sum that were rounded to bfloat16 in between would not grow any more."""
  a, b = np.full((64, 2048), 1.0, BF16), np.full((2048, 64), 2.0**-6, BF16)
  native, _, launch = compiled(lambda a, b: a @ b, S((64, 64), BF16), [a, b], "sm_80")
  assert launch.workspace_bytes == 0
  (got,) = run(native, a, b, arch="sm_80")
  np.testing.assert_array_equal(np.asarray(got, np.float64), 32.0)


def test_a_product_of_what_the_kernel_writes_is_multiplied_as_it_is():
  """What is loaded before the output is written may not be loaded again after it."""

  def kernel(a_ref, b_ref, x_ref, o_ref):
    x = x_ref[...]
    o_ref[...] = jnp.zeros_like(o_ref)
    o_ref[:, :64] = jnp.dot(x, b_ref[...], preferred_element_type=F32).astype(BF16)

  def call(a, b):
    shape = S(a.shape, BF16)
    whole = pl.BlockSpec(memory_space=pl.ANY)

    def body(a_ref, b_ref, o_ref):
      kernel(a_ref, b_ref, o_ref, o_ref)

    return pl.pallas_call(body, shape, in_specs=[whole] * 2, out_specs=whole, input_output_aliases={0: 0})(a, b)

  a, b = small_integers((64, 1024), BF16, 0), small_integers((1024, 64), BF16, 1)
  ((_, native),) = natives(call, a, b)
  (got,) = run(native, a, b, arch="sm_80")
  wanted = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
  np.testing.assert_array_equal(np.asarray(got[:, :64], np.float64), wanted.astype(BF16).astype(np.float64))

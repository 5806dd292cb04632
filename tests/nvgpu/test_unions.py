"""Unions of buffers in shared memory take turns in the same memory."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, natives
from mosaic_programs import TILED

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.target.llvm.prepared import prepared
from tilewright.target.nvgpu import compile_ptx
from tilewright.target.nvgpu.passes import unions
from tilewright.target.nvgpu.passes.warpgroup_effects import Roles

X = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 31


def in_turns(*, together, by_threads=False, rows=64):
  """Two arrays, one after the other, through shared memory: the second buffer is in use when the first is done with."""

  def program(x, y):
    def body(x_ref, y_ref, o_ref, p_ref, buffers, loaded, done):
      first, (second, _) = buffers

      @pl.when(jax.lax.axis_index("wg") == 0)
      def _():
        if by_threads:
          first[...] = x_ref[...]
          plgpu.barrier_arrive(loaded)
        else:
          plgpu.copy_gmem_to_smem(x_ref, first, loaded)
        plgpu.barrier_wait(done)
        plgpu.copy_gmem_to_smem(y_ref, second, loaded)

      @pl.when(jax.lax.axis_index("wg") == 1)
      def _():
        plgpu.barrier_wait(loaded)
        o_ref[...] = first[...] * 2
        plgpu.barrier_arrive(done)
        plgpu.barrier_wait(loaded)
        p_ref[...] = second[...] + 1

    trees = plgpu.SMEM((rows, 64), F32), [plgpu.SMEM((rows, 64), F32), plgpu.SMEM((8, 64), F32)]
    return plgpu.kernel(
      body,
      out_type=(S(x.shape, F32),) * 2,
      num_threads=2,
      thread_name="wg",
      scratch_types=[plgpu.RefUnion(*trees) if together else trees, plgpu.Barrier(), plgpu.Barrier()],
    )(x, y)

  return program


@pytest.mark.parametrize("by_threads", [False, True])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_union_takes_the_memory_of_its_largest_tree(by_threads, arch):
  sizes = []
  for together in (True, False):
    program = in_turns(together=together, by_threads=by_threads)
    ((_, native),) = natives(program, X, X + 1)
    found = run(native, X, X + 1, arch=arch)
    np.testing.assert_array_equal(found, [X * 2, X + 2])
    ((_, native),) = natives(program, X, X + 1)
    sizes.append(compile_ptx(prepared(native), arch)[1].shared_bytes)
  assert sizes[1] - sizes[0] == X.nbytes


def test_other_targets_compute_the_same():
  np.testing.assert_array_equal(jax.jit(in_turns(together=True))(X, X + 1), [X * 2, X + 2])


def test_what_threads_write_is_seen_before_tma_writes_the_same_memory():
  """Writes of threads to one tree and copies of TMA to another are writes to one memory: a proxy fence stands between."""

  def fences(together):
    ((_, native),) = natives(in_turns(together=together, by_threads=True), X, X)
    return compile_ptx(prepared(native), "sm_90a")[0].count("fence.proxy.async")

  assert fences(True) > fences(False)
  ((_, native),) = natives(in_turns(together=True, by_threads=True), X, X)
  kernel = prepared(native)
  first, second, third = (ref for ref in kernel.body.params if ref in unions.find(kernel.body.params))
  roles = Roles(kernel)
  assert all(roles.is_filled_by_threads(ref, set()) for ref in (first, second, third))


def test_what_fits_in_turns_only_compiles():
  rows = 512  # 128 KiB each
  x = np.zeros((rows, 64), np.float32)
  ((_, native),) = natives(in_turns(together=True, rows=rows), x, x)
  assert compile_ptx(prepared(native), "sm_90a")[1].shared_bytes < 140 << 10
  ((_, native),) = natives(in_turns(together=False, rows=rows), x, x)
  with pytest.raises(errors.ResourceExhaustedError, match="shared memory"):
    compile_ptx(prepared(native), "sm_90a")


def test_transforms_and_neighbouring_unions_stay_apart():
  def refs(*types):
    def body(o_ref, *buffers):
      o_ref[...] = jnp.zeros_like(o_ref)

    kernel = plgpu.kernel(body, out_type=S((8,), F32), scratch_types=types, num_threads=2, thread_name="wg")
    ((_, native),) = natives(kernel)
    return native.body.params

  tiled, plain = plgpu.SMEM((64, 64), BF16, transforms=TILED), plgpu.SMEM((64,), F32)
  params = refs(plgpu.RefUnion(tiled, [plain, plain]), plgpu.RefUnion(plain, plain), plain)
  found = unions.find(params)
  own = params[len(params) - 6 :]
  assert [found.get(ref) for ref in own] == [(own[0], 0), (own[0], 1), (own[0], 1), (own[3], 0), (own[3], 1), None]
  assert own[0].ref.space == "smem.tile-8x64.swizzle-128.union-0-0-3"
  assert unions.find(own[1:3]) == {}  # a part of a union is no union

"""Mistakes in `plgpu` programs: the class of the error and the phrase are those that programs written for Mosaic GPU expect."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import triton as plt

S = jax.ShapeDtypeStruct
F16, F32 = jnp.float16, jnp.float32
SMEM, TMEM, ACC, Barrier = plgpu.SMEM, plgpu.TMEM, plgpu.ACC, plgpu.Barrier
X = np.zeros((128, 128), np.float32)
WARPGROUPS = dict(num_threads=2, thread_name="wg")


def lowered(body: Any, *scratch: Any, **options: Any) -> None:
  """Trace a body that gets an input, an output and scratch memory."""

  def kernel(*refs: Any) -> None:
    body(*refs)

  jax.jit(plgpu.kernel(kernel, out_type=S(X.shape, F32), scratch_types=list(scratch), **options)).lower(X)


def specialized(body: Any = lambda index, x: None, **options: Any) -> Any:
  return plgpu.emit_pipeline_warp_specialized(
    body,
    grid=(2,),
    in_specs=[plgpu.BlockSpec((64, 128), lambda i: (i, 0), delay_release=options.pop("delay_release", 0))],
    memory_registers=40,
    wg_axis="wg",
    num_compute_wgs=1,
    **options,
  )


MISTAKES = {
  "names of a grid": (lambda: plgpu.Mesh(grid=(2,)), ValueError, "grid_names must have the same length as grid"),
  "names of a cluster": (
    lambda: plgpu.Mesh(cluster=(2,)),
    ValueError,
    "cluster_names must have the same length as cluster",
  ),
  "threads without a name": (
    lambda: plgpu.Mesh(num_threads=2),
    ValueError,
    "num_threads and thread_name must be either both set or both None",
  ),
  "more threads than a block can have": (
    lambda: plgpu.Mesh(num_threads=17, thread_name="wg"),
    ValueError,
    "Requested too many CUDA threads per block. Each Mosaic thread corresponds to 128 CUDA threads",
  ),
  "a swizzle of 48 bytes": (
    lambda: plgpu.SwizzleTransform(48),
    ValueError,
    "Swizzle 48 is not supported. Only 32, 64 and 128",
  ),
  "rows that no swizzle fits": (
    lambda: plgpu.find_swizzle(100, "lhs"),
    ValueError,
    "No valid out swizzle for lhs: minor dimension has 100 bits, which is not a multiple of 128",
  ),
  "profile_space alone": (
    lambda: plgpu.CompilerParams(profile_space=10),
    ValueError,
    "Either both profile_space and profile_dir must be set, or neither",
  ),
  "a barrier without arrivals": (
    lambda: Barrier(num_arrivals=0),
    ValueError,
    "Num arrivals must be at least 1, but got 0",
  ),
  "a union of two memories": (
    lambda: plgpu.RefUnion(SMEM((8,), F32), TMEM((128, 128), F32)),
    NotImplementedError,
    "All aliased Refs must have the same memory space",
  ),
  "a tile copied to shared memory": (
    lambda: lowered(lambda x, o, s, b: plgpu.copy_gmem_to_smem(x[...], s, b), SMEM(X.shape, F32), Barrier()),
    ValueError,
    "Can only call `copy_gmem_to_smem` on a `Ref`",
  ),
  "a tile loaded": (
    lambda: lowered(lambda x, o: plgpu.load(x[...], ())),
    ValueError,
    "Can only call `load` on a `Ref`",
  ),
  "a copy to shared memory from there": (
    lambda: lowered(lambda x, o, s: plgpu.copy_gmem_to_smem(s, s), SMEM(X.shape, F32)),
    ValueError,
    "src must be a GMEM reference",
  ),
  "a copy from shared memory to there": (
    lambda: lowered(lambda x, o, s: plgpu.copy_smem_to_gmem(s, s), SMEM(X.shape, F32)),
    ValueError,
    "dst must be a GMEM reference",
  ),
  "a copy from global memory to there": (
    lambda: lowered(lambda x, o: plgpu.copy_smem_to_gmem(x, o)),
    ValueError,
    "src must be a SMEM reference",
  ),
  "a copy to another dtype": (
    lambda: lowered(lambda x, o, s: plgpu.copy_smem_to_gmem(s, o), SMEM(X.shape, F16)),
    ValueError,
    "Expected dtypes to match but src had type float16 and dst had type float32",
  ),
  "a copy to another shape": (
    lambda: lowered(lambda x, o, s: plgpu.copy_gmem_to_smem(x, s), SMEM((64, 128), F32)),
    ValueError,
    r"Expected source shape to be \(64, 128\), but got \(128, 128\)",
  ),
  "a copy from another shape": (
    lambda: lowered(lambda x, o, s: plgpu.copy_smem_to_gmem(s, o), SMEM((64, 128), F32)),
    ValueError,
    r"Expected shapes to match, but src has shape \(64, 128\) and dst has shape \(128, 128\)",
  ),
  "a part of a copy of no cluster": (
    lambda: lowered(
      lambda x, o, s: plgpu.copy_gmem_to_smem(x, s, leader_tracked=plgpu.CopyPartition.PARTITIONED(0)),
      SMEM(X.shape, F32),
    ),
    ValueError,
    "`collective_axes` must be specified when `leader_tracked` is set",
  ),
  "one of several barriers": (
    lambda: lowered(lambda x, o, b: plgpu.barrier_arrive(b), Barrier(num_barriers=2)),
    ValueError,
    "Attempting to operate on barrier without indexing, but `num_barriers = 2`",
  ),
  "a wait for an output": (
    lambda: lowered(lambda x, o: plgpu.barrier_wait(o)),
    ValueError,
    "barrier must be a SMEM reference",
  ),
  "a product of shapes": (
    lambda: lowered(lambda x, o, s, acc: plgpu.wgmma(acc, s, s), SMEM((64, 64), F16), ACC((64, 128))),
    ValueError,
    "Incompatible shapes for matrix multiplication",
  ),
  "a product of dtypes": (
    lambda: lowered(
      lambda x, o, s, t, acc: plgpu.wgmma(acc, s, t), SMEM((64, 64), F16), SMEM((64, 64), jnp.bfloat16), ACC((64, 64))
    ),
    ValueError,
    "Mixed input dtypes for matrix multiplication unsupported",
  ),
  "a product with a right operand in registers": (
    lambda: lowered(lambda x, o, s, acc: plgpu.wgmma(acc, s, s[...]), SMEM((64, 64), F16), ACC((64, 64))),
    ValueError,
    "b must be a ref",
  ),
  "a product in no accumulator": (
    lambda: lowered(lambda x, o, s: plgpu.wgmma(s, s, s), SMEM((64, 64), F16)),
    TypeError,
    "acc must be an accumulator",
  ),
  "products yet to come": (lambda: plgpu.wgmma_wait(-1), ValueError, "n must be a non-negative integer, got -1"),
  "registers": (
    lambda: plgpu.set_max_registers(41, action="increase"),
    ValueError,
    "n must be a positive multiple of 8",
  ),
  "registers of another action": (
    lambda: plgpu.set_max_registers(48, action="grow"),
    ValueError,
    "action must be 'increase' or 'decrease', got 'grow'",
  ),
  "a tiling of another length": (
    lambda: plgpu.nd_loop((4, 4), collective_axes="a", tiling=(2,)),
    ValueError,
    r"tiling=\(2,\) and grid=\(4, 4\) must have same length",
  ),
  "a tiling that does not divide": (
    lambda: plgpu.nd_loop((3, 4), collective_axes="a", tiling=(2, 2)),
    ValueError,
    r"Tiling \(2, 2\) does not divide grid \(3, 4\)",
  ),
  "a pipeline of too few steps": (
    lambda: plgpu.emit_pipeline(
      lambda index, x: None, grid=(2,), in_specs=[plgpu.BlockSpec((64, 128), lambda i: (i, 0), delay_release=2)]
    ),
    ValueError,
    "max_concurrent_steps must be greater than all delay_release values",
  ),
  "a specialized pipeline of too few steps": (
    lambda: specialized(delay_release=2),
    ValueError,
    "max_concurrent_steps must be greater than delay_release",
  ),
  "a pipeline that is not run": (
    lambda: lowered(
      lambda x, o: specialized(lambda index, block, carry: carry, compute_context=lambda run: None)(x), **WARPGROUPS
    ),
    ValueError,
    "Pipeline was not called in `compute_context`",
  ),
  "an atomic sum of another dtype": (
    lambda: lowered(lambda x, o: plgpu.atomic_add(o, jnp.zeros(X.shape, jnp.int32))),
    ValueError,
    "Invalid dtype",
  ),
  "a product in shared memory": (
    lambda: lowered(lambda x, o, s: plgpu.tcgen05_mma(s, s, s), SMEM(X.shape, F16)),
    ValueError,
    "Accumulator must be a TMEM Ref",
  ),
  "one scale": (
    lambda: lowered(
      lambda x, o, t, s: plgpu.tcgen05_mma(t, s, s, a_scale=s), TMEM(X.shape, F32), SMEM(X.shape, jnp.float8_e4m3fn)
    ),
    ValueError,
    "a_scale and b_scale must both be present or absent",
  ),
  "shared memory loaded as tensor memory": (
    lambda: lowered(lambda x, o: plgpu.async_load_tmem(x)),
    ValueError,
    "Async load only supports TMEM refs",
  ),
  "shared memory stored as tensor memory": (
    lambda: lowered(lambda x, o: plgpu.async_store_tmem(o, x[...])),
    ValueError,
    "Async store only supports TMEM refs",
  ),
  "a function of warps that gives something": (
    lambda: lowered(lambda x, o: plgpu.warp_map(lambda warp: warp)),
    ValueError,
    "should return None",
  ),
  "a GPU that is not here": (plt.get_gpu_info, ValueError, "Unsupported GPU device kind: cpu"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_those_of_mosaic_gpu(name: str) -> None:
  make, builtin, message = MISTAKES[name]
  with pytest.raises(builtin, match=message) as found:
    make()
  assert isinstance(found.value, errors.TilewrightError)


def test_what_a_pipeline_without_a_carry_returns_is_not_used() -> None:
  def body(x: Any, o: Any) -> None:
    def step(_: Any, block: Any, out: Any) -> Any:
      out[...] = 2 * block[...]
      return block[0, 0]

    spec = plgpu.BlockSpec((64, 128), lambda i: (i, 0))
    plgpu.emit_pipeline(step, grid=(2,), in_specs=[spec], out_specs=[spec])(x, o)

  x = np.arange(X.size, dtype=np.float32).reshape(X.shape)
  np.testing.assert_array_equal(plgpu.kernel(body, out_type=S(X.shape, F32))(x), 2 * x)


def test_barriers_say_how_many_there_are() -> None:
  assert Barrier().num_barriers == () and Barrier(num_barriers=3).num_barriers == (3,)
  assert Barrier(num_barriers=[2, 3]) == Barrier(num_barriers=(2, 3))


# --- Triton ------------------------------------------------------------------------------------------------------


def in_kernel(f: Any) -> None:
  def body(x: Any, o: Any) -> None:
    f(x, o)

  jax.jit(pl.pallas_call(body, out_shape=S((16, 16), F32))).lower(np.zeros((16, 16), np.float32))


@pytest.mark.parametrize(
  "f, builtin, message",
  [
    (lambda x, o: plt.dot(x[...], x[0]), ValueError, "`a` and `b` must be 2D arrays"),
    (
      lambda x, o: plt.dot(x[...], x[...], allow_tf32=True, precision=jax.lax.Precision.HIGHEST),
      ValueError,
      "Only one of allow_tf32 and precision can be specified",
    ),
    (
      lambda x, o: plt.elementwise_inline_asm(
        "add.f32 $0, $1, $2;", args=[x[...], x[0]], constraints="=r,r,r", pack=1, result_shape_dtypes=[S((16, 16), F32)]
      ),
      ValueError,
      "All arguments of elementwise_inline_asm must have the same shape",
    ),
    (lambda x, o: plt.approx_tanh(x[...].astype(jnp.int32)), TypeError, "approx_tanh does not accept int32 arrays"),
    (
      lambda x, o: plt.atomic_cas(o.at[0, 0], 0.0, jnp.zeros(2)),
      ValueError,
      "cmp and val must have identical dtypes and shapes",
    ),
  ],
)
def test_mistakes_are_those_of_triton(f: Any, builtin: Any, message: str) -> None:
  with pytest.raises(builtin, match=message):
    in_kernel(f)

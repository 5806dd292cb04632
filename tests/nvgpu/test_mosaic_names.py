"""Names of Mosaic GPU mean what they mean there: layouts as tiles, parts of copies, scales, accumulators with values, what is refused."""

from __future__ import annotations

import functools
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, natives
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright import errors
from tilewright import pallas as pl
from tilewright.layout.options import mma_options, wgmma_accumulators, wgmma_left_registers
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.pallas import tpu as pltpu
from tilewright.pallas.kernel import core_map
from tilewright.pallas.mosaic_gpu.layouts import layout_of
from tilewright.target import nvgpu

ACCUMULATOR = (64, 8), (16, 8), (8, 8), (2,)


def everywhere(f, *args):
  """The result of a kernel as code for the CPU, which that for a GPU must give too."""
  wanted = np.asarray(jax.jit(f)(*args))
  ((_, native),) = natives(f, *args)
  np.testing.assert_array_equal(run(native, *args, arch="sm_90a")[0], wanted)
  return wanted


# --- layouts -----------------------------------------------------------------------------------------------------


def tiled(tiles, warp_dims, lane_dims, vector_dim):
  return plgpu.Layout.TILED(plgpu.Tiling(tiles), warp_dims, lane_dims, vector_dim)


def test_named_layouts_are_those_of_the_hardware():
  """What the algebra knows as fragments of the instructions, written as tiles."""
  (accumulator,) = wgmma_accumulators((128, 64), 4)[:1]
  assert layout_of(plgpu.Layout.WGMMA, (128, 64), 32) == accumulator
  assert layout_of(tiled(ACCUMULATOR, (-7,), (-3, -2), -1), (128, 64), 32) == accumulator
  assert layout_of(plgpu.Layout.WGMMA_8BIT, (64, 64), 8) == wgmma_left_registers((64, 64), 8, 4)[0]
  for bits, dtype in ((16, BF16), (8, np.int8)):
    known = mma_options((64, 64), (64, 64), bits, 4)
    found = tuple(layout_of(own(dtype), (64, 64), 32) for own in (plgpu.Layout.MMA_LHS, plgpu.Layout.MMA_RHS))
    assert found in [option[:2] for option in known]


def test_earlier_names_of_reduced_layouts_are_known():
  for name in (plgpu.Layout.WGMMA, plgpu.Layout.TCGEN05):
    assert getattr(plgpu.Layout, f"{name.name}_ROW") == name.reduce(1)
    assert getattr(plgpu.Layout, f"{name.name}_COL") == name.reduce(0)


def test_a_layout_that_needs_arguments_says_which():
  with pytest.raises(errors.LayoutError, match=r"TCGEN05_M64_COLLECTIVE: expected the arguments \(columns\)"):
    layout_of(plgpu.Layout.TCGEN05_M64_COLLECTIVE, (128, 64), 32)


def test_memory_like_something_has_its_shape_and_dtype():
  like = jax.ShapeDtypeStruct((64, 32), BF16)
  for space in (plgpu.SMEM, plgpu.GMEM, pltpu.VMEM):
    assert space.like(like) == space((64, 32), BF16)


@settings(deadline=None)
@given(st.sampled_from([ACCUMULATOR, ((64, 16), (16, 16), (8,), (4,)), ((6, 4), (2,)), ((4,),)]), st.data())
def test_elements_of_a_tiled_array_are_found_again(tiles, data):
  tiling = plgpu.Tiling(tiles)
  shape = tuple(data.draw(st.integers(1, 3)) * n for n in (1, *tiles[0]))
  at = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
  there = tiling.tile_indices(at)
  assert tiling.untile_shape(tiling.tile_shape(shape)) == shape
  assert all(i < n for i, n in zip(there, tiling.tile_shape(shape), strict=True))
  assert tiling.untile_indices(there) == at
  strides = pl.strides_from_shape(shape)
  assert np.dot(strides, at) == np.dot(tiling.tile_strides(strides), there)


def test_dimensions_of_a_tiling_can_be_taken_off():
  tiling = plgpu.Tiling(ACCUMULATOR)
  assert tiling.remove_dimension(0) == plgpu.Tiling(((8,), (8,), (8,), (2,)))
  assert tiling.remove_dimension(1) == plgpu.Tiling(((64,), (16,), (8,)))
  assert tiling.tile_dimension(1) == (False, True, False, True, False, True, False, True, True)
  assert plgpu.Tiling(((64, 8), (64, 8), (8,), (2,))).canonicalize() == plgpu.Tiling(((64, 8), (2,)))
  nested = plgpu.Tiling(((64, 8), (2,))).tile_nested_shape_strides(((2, 64), (16,)), ((4096, 16), (1,)))
  assert nested == (((2,), (2,), (64,), (4,), (2,)), ((4096,), (8,), (16,), (2,), (1,)))


def test_tilings_that_cannot_be_are_errors():
  with pytest.raises(ValueError, match="decreasing rank"):
    plgpu.Tiling(((8,), (8, 8)))
  with pytest.raises(ValueError, match="does not apply to shape"):
    plgpu.Tiling(((8, 8),)).tile_shape((12, 8))
  wrong = [(((7,), (-3, -2), -1), "negative"), (((-7,), (-2,), -1), "32"), (((-7,), (-3, -1), -1), "duplicate")]
  for dims, why in wrong:
    with pytest.raises(ValueError, match=why):
      layout_of(tiled(ACCUMULATOR, *dims), (64, 8), 32)


def test_the_layout_of_a_tile_is_printed_when_code_is_made(capsys):
  def kernel(x_ref, o_ref):
    x = plgpu.layout_cast(x_ref[...], plgpu.Layout.WGMMA)
    plgpu.print_layout("x is {}", x)
    o_ref[...] = x

  call = pl.pallas_call(kernel, S((64, 16), F32))
  ((_, native),) = natives(call, S((64, 16), F32))
  assert capsys.readouterr().out == ""
  ptx = nvgpu.compile_ptx(native, "sm_90a")[0]
  assert f"x is {layout_of(plgpu.Layout.WGMMA, (64, 16), 32)}\n" in capsys.readouterr().out
  assert "vprintf" not in ptx
  jax.jit(call)(jnp.zeros((64, 16)))
  assert "x is no layout" in capsys.readouterr().out


def test_rows_are_gathered_by_indices_with_a_layout():
  """Positions stand in another layout than the rows they are for, of which there are more elements."""

  def body(x_ref, i_ref, o_ref, rows, ready):
    at = plgpu.load(i_ref, (), layout=plgpu.Layout.TMA_INDICES)
    plgpu.copy_gmem_to_smem(x_ref.at[at], rows, ready)
    plgpu.barrier_wait(ready)
    o_ref[...] = plgpu.layout_cast(rows[...], plgpu.Layout.WG_STRIDED((16, 32), vec_size=4))

  x, i = np.arange(640, dtype=np.float32).reshape(20, 32), np.arange(16, dtype=np.int32) * 7 % 20
  scratch = [plgpu.SMEM((16, 32), F32), plgpu.Barrier()]
  np.testing.assert_array_equal(
    everywhere(plgpu.kernel(body, out_type=S((16, 32), F32), scratch_types=scratch), x, i), x[i]
  )


def test_a_splat_of_any_size_is_one_value():
  def kernel(x_ref, o_ref):
    splat = plgpu.layout_cast(jnp.full((64, 64), 3, F32), plgpu.Layout.WG_SPLAT((64, 64)))
    o_ref[...] = plgpu.layout_cast(x_ref[...], plgpu.Layout.WGMMA) + splat

  x = np.ones((64, 64), np.float32)
  np.testing.assert_array_equal(everywhere(pl.pallas_call(kernel, S((64, 64), F32)), x), x + 3)


# --- memory ------------------------------------------------------------------------------------------------------


def test_an_accumulator_can_begin_with_values():
  def body(x_ref, first_ref, o_ref):
    add = lambda acc: plgpu.wgmma(acc, x_ref, x_ref)
    o_ref[...] = pl.run_state(add)(plgpu.ACC.init(first_ref[...]))

  x = np.asarray(np.arange(4096).reshape(64, 64) % 7 - 3, BF16)
  first = np.arange(4096, dtype=np.float32).reshape(64, 64)
  found = everywhere(plgpu.kernel(body, out_type=S((64, 64), F32)), x, first)
  np.testing.assert_array_equal(found, first + x.astype(np.float32) @ x.astype(np.float32))


def test_a_union_is_as_large_as_its_largest_tree():
  smem, tmem = plgpu.SMEM, plgpu.TMEM
  assert plgpu.RefUnion(smem((4,), F32), [smem((8,), F32), smem((4,), BF16)]).shape == (40,)
  assert plgpu.RefUnion(smem((64, 3), jnp.int4), smem((1,), F32)).shape == (96,)
  assert plgpu.RefUnion(tmem((128, 4), F32), tmem((128, 8), F32)).shape == (128, 8)
  with pytest.raises(NotImplementedError, match="must have the same memory space"):
    plgpu.RefUnion(smem((4,), F32), tmem((128, 8), F32))
  with pytest.raises(ValueError, match="2D"):
    tmem((128,), F32)


def test_a_block_of_a_cluster_copies_its_part():
  @plgpu.kernel(
    out_type=S((2, 32, 16), F32),
    cluster=(2,),
    cluster_names=("c",),
    scratch_types=[plgpu.SMEM((32, 16), F32), plgpu.Barrier()],
  )
  def body(x_ref, o_ref, mine, ready):
    parts = plgpu.CopyPartition.PARTITIONED(0)
    plgpu.copy_gmem_to_smem(x_ref, mine, ready, collective_axes="c", leader_tracked=parts)
    plgpu.barrier_wait(ready)
    o_ref[jax.lax.axis_index("c")] = mine[...]

  x = np.arange(1024, dtype=np.float32).reshape(64, 16)
  np.testing.assert_array_equal(everywhere(body, x), x.reshape(2, 32, 16))


@pytest.mark.parametrize("scale_dtype", [jnp.float8_e8m0fnu, jnp.float8_e4m3fn])
def test_products_are_scaled_block_by_block(scale_dtype):
  """As tensor cores take them, scales of 128 rows and 4 blocks lie as 32 lanes of 4 x 4. Nothing is rounded."""
  rng = np.random.default_rng(0)
  m, n, k, block = 128, 128, 128, 32
  a, b = (np.asarray(rng.integers(-2, 3, shape), jnp.float8_e4m3fn) for shape in ((m, k), (k, n)))
  a_scale, b_scale = (np.asarray(2.0 ** rng.integers(-2, 3, (rows, k // block)), scale_dtype) for rows in (m, n))
  formatted = lambda s: s.reshape(1, 4, 32, 1, 4).transpose(0, 3, 2, 1, 4).reshape(1, 1, 32, 16)

  def body(a_ref, b_ref, a_scale_ref, b_scale_ref, o_ref, acc, a_tmem, b_tmem):
    plgpu.async_copy_scales_to_tmem(a_scale_ref, a_tmem)
    plgpu.async_copy_scales_to_tmem(b_scale_ref, b_tmem)
    plgpu.tcgen05_mma(acc, a_ref, b_ref, a_scale=a_tmem, b_scale=b_tmem, accumulate=False)
    o_ref[...] = plgpu.async_load_tmem(acc)

  scales = plgpu.TMEM((128, k // block), scale_dtype, layout=plgpu.TMEMLayout.SCALES_LAYOUT)
  kernel = plgpu.kernel(body, out_type=S((m, n), F32), scratch_types=[plgpu.TMEM((m, n), F32), scales, scales])
  as_f32 = lambda x: np.asarray(x, np.float32)
  wanted = (as_f32(a) * as_f32(a_scale).repeat(block, 1)) @ (as_f32(b) * as_f32(b_scale).repeat(block, 1).T)
  np.testing.assert_array_equal(jax.jit(kernel)(a, b, formatted(a_scale), formatted(b_scale)), wanted)


def over_warps(form, f):
  if form == "warp_map":
    plgpu.warp_map(f)
  else:
    core_map(plgpu.WarpMesh(axis_name="warp"))(lambda: f(jax.lax.axis_index("warp")))


@pytest.mark.parametrize("form", ["warp_map", "core_map"])
@pytest.mark.parametrize(
  "interpret", [True, plgpu.InterpretGPUParams(detect_races=True)], ids=["portable", "simulated"]
)
def test_warps_wait_for_each_other(form, interpret):
  """Each in turn adds to what the one behind it left, twice around; then the warpgroup waits at a barrier at which warps have waited."""

  def body(o_ref, count, turns):
    count[0] = 0

    def one(warp):
      for turn in range(2):
        if turn:
          plgpu.barrier_wait(turns.at[warp])
        else:
          pl.when(warp < 3)(lambda: plgpu.barrier_wait(turns.at[warp]))
        count[0] = 10 * count[0] + warp
        plgpu.barrier_arrive(turns.at[(warp + 3) % 4])

    over_warps(form, one)
    plgpu.barrier_wait(turns.at[3])
    o_ref[0] = count[0]

  scratch = [plgpu.SMEM((1,), jnp.int32), plgpu.Barrier(num_barriers=4)]
  found = plgpu.kernel(body, out_type=S((1,), jnp.int32), scratch_types=scratch, interpret=interpret)()
  assert found[0] == 32103210


@pytest.mark.parametrize("form", ["warp_map", "core_map"])
def test_warps_that_wait_for_ever_are_told_where(form):
  def body(o_ref, ready):
    over_warps(form, lambda warp: pl.when(warp == 2)(lambda: plgpu.barrier_wait(ready)))

  kernel = plgpu.kernel(body, S((4,), F32), scratch_types=[plgpu.Barrier()], interpret=plgpu.InterpretGPUParams())
  with pytest.raises(errors.DeadlockError, match=r"core 0 waits for its warps\n.*warp 2 waits for.*test_mosaic_names"):
    kernel()


def test_native_code_refuses_warps_that_wait():
  def body(o_ref, ready):
    over_warps("warp_map", lambda warp: plgpu.barrier_wait(ready))

  with pytest.raises(
    errors.UnsupportedFeatureError, match=r"warps of a warpgroup wait.*test_mosaic_names.*interpret=True"
  ):
    plgpu.kernel(body, out_type=S((4,), F32), scratch_types=[plgpu.Barrier()])()


def test_a_mesh_of_warps_takes_no_scratch():
  def body(o_ref):
    core_map(plgpu.WarpMesh(axis_name="warp"), scratch_shapes=[plgpu.SMEM((4,), F32)])(lambda scratch: None)

  with pytest.raises(errors.GridError, match=r"scratch_shapes: WarpMesh.*run_scoped"):
    plgpu.kernel(body, out_type=S((4,), F32))()


class Tensor:
  """What of PyTorch's tensors is asked for."""

  def __init__(self, array):
    self.array, self.__dlpack__, self.__dlpack_device__ = array, array.__dlpack__, array.__dlpack_device__

  def detach(self):
    return self

  def contiguous(self):
    return Tensor(np.ascontiguousarray(self.array))


def test_tensors_go_into_a_kernel_and_come_out_of_it(monkeypatch):
  monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(from_dlpack=np.from_dlpack))

  def kernel(x_ref, o_ref):
    o_ref[...] = 2 * x_ref[...]

  double = plgpu.as_torch_kernel(lambda own: {"twice": pl.pallas_call(kernel, S((4, 8), F32))(own["x"])})
  x = np.arange(32, dtype=np.float32).reshape(8, 4).T
  found = double({"x": Tensor(x)})["twice"]
  assert isinstance(found, np.ndarray)
  np.testing.assert_array_equal(found, 2 * x)


# --- what is refused ---------------------------------------------------------------------------------------------


def test_what_cannot_be_says_so_where_it_is_used():
  double = plgpu.inline_mgpu(arg_types=(plgpu.RefType(),), return_type=S((4,), F32))(lambda ctx, ref: ref)
  call = functools.partial(pl.pallas_call, lambda x_ref, o_ref: o_ref.__setitem__(..., double(x_ref)), S((4,), F32))
  for interpret in (False, True, plgpu.InterpretGPUParams()):
    with pytest.raises(errors.UnsupportedFeatureError, match="elementwise_inline_asm"):
      call(interpret=interpret)(np.zeros(4, np.float32))
  ignored = call(interpret=plgpu.InterpretGPUParams(inline_mgpu="ignore"))(np.zeros(4, np.float32))
  assert np.isnan(ignored).all()
  with pytest.raises(errors.RefTypeError, match="remote_ref: expected a ref"):
    plgpu.remote_ref(None, 1)


def test_parameters_that_do_not_go_together_are_errors():
  with pytest.raises(ValueError, match="Either both profile_space and profile_dir"):
    plgpu.CompilerParams(profile_space=16)
  late = plgpu.BlockSpec((8,), lambda i: (i,), delay_release=2)
  with pytest.raises(ValueError, match="greater than all delay_release values, of which 2 is the largest, got 2"):
    plgpu.emit_pipeline(lambda index, x_ref: None, grid=(4,), in_specs=[late], max_concurrent_steps=2)

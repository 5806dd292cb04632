"""Copies by hand that TMA makes: which boxes they are, and that they bring and take what they should."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, natives
from hypothesis import given, settings
from hypothesis import strategies as st
from mosaic_programs import TILED, carried

from tilewright import errors
from tilewright import pallas as pl
from tilewright.layout.shared import SWIZZLES, shared_tiled
from tilewright.layout.transforms import Swizzle, Tiling, transformed
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.runtime import ptxas
from tilewright.target import nvgpu
from tilewright.target.nvgpu import arch as architectures
from tilewright.target.nvgpu.emit.by_hand import tma_copies
from tilewright.target.nvgpu.emit.views import Array, TiledAxis, View, whole

needs_ptxas = pytest.mark.skipif(ptxas.find() is None, reason="ptxas is not installed")

# --- plans -------------------------------------------------------------------------------------------------------


def copied(boxes, starts):
  """Where TMA writes which element: a byte of shared memory for each index of the array."""
  m, found = boxes.tensor_map, {}
  sizes, strides = (*m.box, m.box_columns), (*m.outer_strides, m.itemsize)
  for moved, offset in zip(boxes.starts, boxes.offsets, strict=True):
    at = [0 if d is None else (starts[d[0]] + moved[d[0]]) // d[1] for d in boxes.digits]
    for number, place in enumerate(np.ndindex(*sizes)):
      where = [a + p for a, p in zip(at, place)]
      if all(0 <= w < n for w, n in zip(where, m.shape)):
        address = SWIZZLES[m.swizzle_bytes](offset + number * m.itemsize)
        found[sum(w * s for w, s in zip(where, strides)) // m.itemsize] = address
  return found


@st.composite
def parts(draw):
  """A layout of shared memory, and how many such parts an array has along each dimension, of which one is copied."""
  itemsize, swizzle = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([0, 32, 64, 128]))
  wide = (swizzle or 64) // itemsize
  lead = draw(st.sampled_from([(), (2,)]))
  shape = (*lead, 8 * draw(st.integers(1, 3)), wide * draw(st.integers(1, 3)))
  if swizzle:
    layout = transformed(shape, 8 * itemsize, (Tiling((8, wide)), Swizzle(swizzle)))
  else:
    layout = shared_tiled(shape, None, 8 * itemsize)
  array = tuple(d * draw(st.integers(1, 3)) for d in shape)
  starts = tuple(d * draw(st.integers(0, n // d - 1)) for d, n in zip(shape, array))
  return itemsize, layout, array, starts


@settings(max_examples=40, deadline=None)
@given(parts())
def test_boxes_bring_every_element_to_where_its_layout_has_it(part):
  itemsize, layout, shape, starts = part
  dtype, size = np.dtype(f"u{itemsize}"), layout.shape
  strides = lambda shape: tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
  array = View(
    None, strides(shape), dtype, None, home=Array(3, shape), along=tuple(TiledAxis(s, d) for d, s in enumerate(starts))
  )
  execution = dict(tiled=layout) if layout.swizzle.bits else dict(home=layout)
  boxes = tma_copies.plan(array, View(None, strides(size), dtype, None, along=whole(layout), **execution), size)
  assert boxes is not None and boxes.tensor_map.array == 3
  assert boxes.nbytes == math.prod(size) * itemsize
  wanted = {
    sum((s + i) * stride for s, i, stride in zip(starts, index, strides(shape))): layout.address(index)
    for index in np.ndindex(*size)
  }
  assert copied(boxes, starts) == wanted


def test_tiles_of_a_swizzle_are_one_box_where_they_divide_the_array():
  layout = transformed((64, 256), 16, (Tiling((8, 64)), Swizzle(128)))
  shared = View(None, (256, 1), np.dtype(BF16), None, tiled=layout, along=whole(layout))
  for rows, count in ((128, 1), (100, 8)):  # eight rows at a time, with the columns of all tiles
    home = Array(0, (rows, 512))
    array = View(None, (512, 1), np.dtype(BF16), None, home=home, along=whole(home))
    assert len(tma_copies.plan(array, shared, (64, 256)).starts) == count


# --- kernels -----------------------------------------------------------------------------------------------------


def swizzled(bytes_, wide):
  return plgpu.TilingTransform((8, wide)), plgpu.SwizzleTransform(bytes_)


CASES = {
  "rows": ((12, 128), F32, (4, 64), ()),
  "bytes": ((16, 256), jnp.int8, (16, 128), swizzled(128, 128)),
  "words": ((16, 64), F32, (16, 64), swizzled(128, 32)),
  "narrow swizzle": ((32, 32), BF16, (16, 32), swizzled(32, 16)),
  "three dimensions": ((4, 16, 64), BF16, (2, 16, 64), TILED),
  "over the end": ((24, 72), F32, (16, 48), ()),
  "tiles over the end": ((24, 96), BF16, (16, 64), TILED),
  "rows of 1024": ((2, 1024), F32, (2, 512), ()),
}
every_case = pytest.mark.parametrize("shape, dtype, block, transforms", CASES.values(), ids=CASES)


def ptx_of(f, *args, arch="sm_90a"):
  ((_, native),) = natives(f, *args)
  return nvgpu.compile_ptx(native, arch)


@every_case
def test_the_copy_engine_carries_blocks_there_and_back(shape, dtype, block, transforms):
  x = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
  f = functools.partial(carried, block=block, transforms=transforms)
  ((_, native),) = natives(f, x)
  ptx, launch = nvgpu.compile_ptx(native, "sm_90a")
  assert launch.maps and not any(move in ptx for move in ("cp.async.c", "ld.shared", "st.global"))
  np.testing.assert_array_equal(run(native, x, arch="sm_90a")[0], x)


@pytest.mark.parametrize(
  "shape, block, arch", [((8, 36), (8, 16), "sm_90a"), ((8, 64), (8, 8), "sm_90a"), ((8, 64), (8, 64), "sm_80")]
)
def test_what_has_no_boxes_is_copied_by_threads(shape, block, arch):
  """Rows that are not multiples of sixteen bytes apart, or as wide; and before sm_90."""
  ptx, launch = ptx_of(functools.partial(carried, block=block), S(shape, jnp.int8), arch=arch)
  assert not launch.maps and "cp.async" in ptx and "cp.async.bulk.tensor" not in ptx


def test_an_array_that_the_kernel_writes_is_not_read_by_the_copy_engine():
  """Which would not see what threads have written."""

  def body(x_ref, o_ref, buffer, ready, done):
    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
      o_ref[...] = 2 * x_ref[...]
      plgpu.barrier_arrive(ready)

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      plgpu.barrier_wait(ready)
      plgpu.copy_gmem_to_smem(o_ref, buffer, done)
      plgpu.barrier_wait(done)
      o_ref[...] = buffer[...] + 1

  x = np.arange(512, dtype=np.float32).reshape(8, 64)
  scratch = [plgpu.SMEM((8, 64), F32), plgpu.Barrier(), plgpu.Barrier()]
  call = plgpu.kernel(body, S((8, 64), F32), scratch_types=scratch, num_threads=2, thread_name="wg")
  ((_, native),) = natives(call, x)
  assert not nvgpu.compile_ptx(native, "sm_90a")[1].maps
  np.testing.assert_array_equal(run(native, x, arch="sm_90a")[0], 2 * x + 1)


def test_beyond_the_end_of_an_array_zeros_arrive():
  def body(x_ref, o_ref, buffer, ready):
    i = jax.lax.axis_index("i")

    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
      plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(16 * i, 16), pl.ds(0, 80)], buffer, ready)

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      plgpu.barrier_wait(ready)
      o_ref[i] = buffer[...]

  x = 1 + np.arange(24 * 72, dtype=np.float32).reshape(24, 72)
  call = plgpu.kernel(
    body,
    S((2, 16, 80), F32),
    grid=(2,),
    grid_names=("i",),
    num_threads=2,
    thread_name="wg",
    scratch_types=[plgpu.SMEM((16, 80), F32), plgpu.Barrier()],
  )
  ((_, native),) = natives(call, x)
  ptx, _ = nvgpu.compile_ptx(native, "sm_90a")
  assert "cp.async.bulk.tensor.2d.shared" in ptx and "ld.global" not in ptx
  wanted = np.pad(x, ((0, 8), (0, 8))).reshape(2, 16, 80)
  for found in (jax.jit(call)(x), run(native, x, arch="sm_90a")[0]):
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
  "view, by_engine",
  [
    (lambda x, i: x.at[1].at[pl.ds(16 * i - 8, 16)], True),
    (lambda x, i: x.at[i, pl.ds(8 * i + 8, 16)].at[:, 0:64], True),
    (lambda x, i: x.at[:, 0:8].transpose((1, 0, 2)).at[pl.ds(8 * i, 16), 1], False),
  ],
  ids=["before", "chained", "end-of-a-view"],
)
def test_zeros_are_left_to_the_copy_engine_where_the_array_ends(view, by_engine):
  shape = (16, 64)

  def body(x_ref, o_ref, buffer, ready):
    i = jax.lax.axis_index("i")
    pl.when(jax.lax.axis_index("wg") == 0)(lambda: plgpu.copy_gmem_to_smem(view(x_ref, i), buffer, ready))

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
      plgpu.barrier_wait(ready)
      o_ref[i] = buffer[...]

  x = 1 + np.arange(2 * 24 * 64, dtype=np.float32).reshape(2, 24, 64)
  call = plgpu.kernel(
    body,
    S((2, *shape), F32),
    grid=(2,),
    grid_names=("i",),
    num_threads=2,
    thread_name="wg",
    scratch_types=[plgpu.SMEM(shape, F32), plgpu.Barrier()],
  )
  ((_, native),) = natives(call, x)
  ptx, _ = nvgpu.compile_ptx(native, "sm_90a")
  assert ("cp.async.bulk.tensor" in ptx) == by_engine
  found = np.asarray(jax.jit(call)(x))
  assert (found == 0).any() and not np.isnan(found).any()
  np.testing.assert_array_equal(run(native, x, arch="sm_90a")[0], found)


# --- registers ---------------------------------------------------------------------------------------------------


def exchange(*asked, num_threads=3):
  """A kernel in which each warpgroup asks for registers."""

  def body(o_ref):
    for wg, (count, action) in enumerate(asked):
      pl.when(jax.lax.axis_index("wg") == wg)(
        lambda count=count, action=action: plgpu.set_max_registers(count, action=action)
      )

  return plgpu.kernel(body, out_type=S((8,), F32), num_threads=num_threads, thread_name="wg")


def test_warpgroups_exchange_registers():
  call = exchange((40, "decrease"), (232, "increase"), (232, "increase"))
  for arch in architectures.ARCHS:
    ptx, launch = ptx_of(call, arch=arch)
    has = architectures.named(arch).has_tma
    assert launch.exchanges_registers == has
    assert [f"setmaxnreg.{a}.sync.aligned.u32 {n};" in ptx for a, n in (("dec", 40), ("inc", 232))] == [has, has]


def test_who_has_enough_registers_asks_for_none():
  ptx, launch = ptx_of(exchange((200, "decrease"), (160, "increase"), (168, "increase")))  # of 168
  assert "setmaxnreg" not in ptx and not launch.exchanges_registers


@needs_ptxas
@pytest.mark.parametrize("arch", [name for name, own in architectures.ARCHS.items() if own.has_tma])
def test_ptxas_assembles_copies_and_registers(arch):
  call = functools.partial(carried, block=(8, 64), transforms=TILED)
  for f, args in ((call, [S((16, 64), BF16)]), (exchange((40, "decrease"), (232, "increase"), (232, "increase")), [])):
    found = ptxas.resources(ptx_of(f, *args, arch=arch)[0], arch)
    assert found.spilled_bytes == found.stack_bytes == 0  # nothing is called, either


@pytest.mark.parametrize(
  "make, message",
  [
    (lambda: exchange((36, "decrease")), "n must be a positive multiple of 8, from 24 to 256, got 36"),
    (lambda: exchange((264, "increase")), "n must be a positive multiple of 8, from 24 to 256, got 264"),
    (
      lambda: exchange((240, "increase")),
      r"(?s)test_tma_copies\.py.*set_max_registers\(240.*in warpgroup 0.*begins with 168.*warpgroup 1 keeps 168.*176 are left",
    ),
    (  # two that are alike beside one that gives back much
      lambda: exchange((24, "decrease"), (256, "increase"), (200, "decrease"), (200, "decrease"), num_threads=4),
      r"in warpgroup 1 exceeds.*warpgroup 0 keeps 24, warpgroup 2 keeps 128, warpgroup 3 keeps 128, and 232 are left",
    ),
  ],
)
def test_registers_that_nobody_can_have_are_refused(make, message):
  with pytest.raises(errors.TilewrightError, match=message):
    ptx_of(make())

"""Kernels in the style of Mosaic GPU: named grids, copies and barriers by hand, products on accumulators, loops over blocks."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import run
from gpu_programs import BF16, F32, S, natives
from mosaic_programs import by_hand, matmul

from tilewright import errors
from tilewright import pallas as pl
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.target import nvgpu
from tilewright.target.llvm.prepared import prepared

I32 = jnp.int32


def on_gpu(f, *args, arch="sm_90a"):
  """What the code for a GPU computes."""
  ((_, native),) = natives(f, *args)
  found = run(native, *args, arch=arch)
  return found[0] if len(found) == 1 else found


def everywhere(f, *args):
  """The result of a kernel as code for the CPU, which that for a GPU must give too."""
  wanted = np.asarray(jax.jit(f)(*args))
  np.testing.assert_array_equal(on_gpu(f, *args), wanted)
  return wanted


def test_copies_by_hand_move_what_they_say():
  x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
  np.testing.assert_array_equal(everywhere(by_hand, x), 2 * x)


def test_kernels_run_on_the_simulated_machine():
  x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
  with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams(uninitialized_memory="zero")):
    np.testing.assert_array_equal(jax.jit(by_hand)(x), 2 * x)


def test_a_matmul_by_hand_is_one_of_wgmma():
  """An accumulator begins as zero; small integers leave nothing to round."""
  rng = np.random.default_rng(0)
  a, b = (np.asarray(rng.integers(-4, 5, shape), BF16) for shape in ((64, 128), (128, 64)))
  wanted = a.astype(np.float32) @ b.astype(np.float32)
  np.testing.assert_array_equal(everywhere(matmul, a, b), wanted.astype(BF16))
  ((_, native),) = natives(matmul, S((512, 512), BF16), S((512, 512), BF16))
  assert "wgmma.mma_async" in nvgpu.compile_ptx(native, "sm_90a")[0]


def test_a_scoped_accumulator_begins_as_zero():
  def body(a_ref, b_ref, o_ref):
    def scoped(acc):
      plgpu.wgmma(acc, a_ref, plgpu.transpose_ref(b_ref, (1, 0)))
      plgpu.wgmma(acc, a_ref[...], b_ref)
      return acc[...]

    o_ref[...] = pl.run_scoped(scoped, plgpu.ACC((64, 64), F32))

  a, b = np.ones((64, 64), BF16), np.asarray(np.arange(4096).reshape(64, 64) % 7, BF16)
  wanted = a.astype(np.float32) @ (b.T.astype(np.float32) + b.astype(np.float32))
  np.testing.assert_array_equal(everywhere(plgpu.kernel(body, out_type=S((64, 64), F32)), a, b), wanted)


def test_products_are_added_up_in_tensor_memory():
  def body(a_ref, b_ref, o_ref, acc, done):
    @pl.loop(0, 2)
    def _(k):
      part = pl.ds(64 * k, 64)
      plgpu.tcgen05_mma(acc, a_ref.at[:, part], b_ref.at[part], done, accumulate=k > 0)
      plgpu.barrier_wait(done)

    o_ref[...] = plgpu.async_load_tmem(acc, layout=plgpu.Layout.TCGEN05)

  scratch = [plgpu.TMEM((128, 64), F32), plgpu.Barrier(orders_tensor_core=True)]
  kernel = plgpu.kernel(body, out_type=S((128, 64), F32), scratch_types=scratch)
  a, b = (np.asarray(np.arange(128 * n).reshape(s) % 7 - 3, BF16) for n, s in ((128, (128, 128)), (64, (128, 64))))
  np.testing.assert_array_equal(everywhere(kernel, a, b), a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("tiling", [None, (2, 3)])
def test_a_loop_is_dealt_out_among_blocks_of_threads(tiling):
  """Step n belongs to block n modulo their number, and comes as its own step n // number."""

  @plgpu.kernel(out_type=S((4, 6, 3), I32), grid=(5,), grid_names=("sm",))
  def kernel(o_ref):
    me = jax.lax.axis_index("sm")

    @plgpu.nd_loop((4, 6), collective_axes="sm", tiling=tiling)
    def _(info):
      found = jnp.stack([me, jnp.int32(info.local_index), info.num_local_steps])
      o_ref[info.index[0], info.index[1], :] = found

  number = np.arange(24)
  order = number.reshape(4, 6) if tiling is None else number.reshape(2, 2, 2, 3).transpose(0, 2, 1, 3).reshape(4, 6)
  wanted = np.stack([order % 5, order // 5, (24 - order % 5 + 4) // 5], -1)
  np.testing.assert_array_equal(jax.jit(kernel)(), wanted)


def test_loops_carry_values():
  @plgpu.kernel(out_type=[S((3,), I32), S((16,), F32)], grid=(3,), grid_names=("sm",))
  def kernel(x_ref, sum_ref, o_ref):
    @plgpu.nd_loop((4, 6), collective_axes=("sm",), init_carry=jnp.int32(0))
    def total(info, carry):
      return carry + 6 * info.index[0] + info.index[1]

    sum_ref[jax.lax.axis_index("sm")] = total
    add = lambda _, block, carry: carry + block[...].sum(0)
    spec = pl.BlockSpec((8, 16), lambda i: (i, 0))
    o_ref[...] = plgpu.emit_pipeline(add, grid=(4,), in_specs=[spec], init_carry=jnp.zeros(16, F32))(x_ref)

  x = np.arange(512, dtype=np.float32).reshape(32, 16)
  sums, rows = jax.jit(kernel)(x)
  np.testing.assert_array_equal(sums, np.arange(24).reshape(8, 3).sum(0))
  np.testing.assert_array_equal(rows, x.sum(0))


def test_a_pipeline_writes_blocks_back():
  def body(x_ref, o_ref):
    def step(index, x_block, o_block):
      o_block[...] = x_block[...] + (10 * index[0] + index[1]).astype(F32)

    into, out = pl.BlockSpec((8, 16), lambda i, j: (i, j)), pl.BlockSpec((None, 8, 16), lambda i, j: (j, i, 0))
    plgpu.emit_pipeline(step, grid=(2, 3), in_specs=[into], out_specs=[out])(x_ref, o_ref)

  x = np.arange(16 * 48, dtype=np.float32).reshape(16, 48)
  wanted = np.stack([x[:, 16 * j : 16 * j + 16] + 10 * (np.arange(16) // 8)[:, None] + j for j in range(3)])
  np.testing.assert_array_equal(everywhere(plgpu.kernel(body, out_type=S((3, 16, 16), F32)), x), wanted)


def test_a_pipeline_has_its_own_blocks_of_what_its_body_writes():
  """The array itself stays as it is, whether the body writes to the block or to the array that it is cut from."""

  def body(x_ref, y_ref, o_ref):
    def step(index, x_block, y_block, o_block):
      x_block[...] = x_block[...] + 1
      y_ref[...] = jnp.zeros_like(y_ref)
      o_block[...] = x_block[...] + y_block[...]

    spec = pl.BlockSpec((8, 16), lambda i: (i, 0))
    plgpu.emit_pipeline(step, grid=(2,), in_specs=[spec, spec], out_specs=[spec])(x_ref, y_ref, o_ref)
    o_ref[...] = o_ref[...] + x_ref[...]

  @jax.jit
  def f(x, y):
    y = jax.new_ref(y)
    return plgpu.kernel(body, out_type=S((16, 16), F32))(x, y)

  x = np.arange(256, dtype=np.float32).reshape(16, 16)
  wanted = 2 * x + 1 + np.where(np.arange(16)[:, None] < 8, x, 0)
  np.testing.assert_array_equal(f(x, x), wanted)


def test_blocks_that_are_read_in_place_are_refs():
  def body(a_ref, b_ref, o_ref, acc):
    def step(_, a_block, b_block):
      plgpu.wgmma(acc, a_block, plgpu.transpose_ref(b_block, (1, 0)))
      acc[...] = (
        acc[...] + b_block[0:1, 0:64].astype(F32) + b_block.at[1][...].astype(F32) + plgpu.load(a_block, 2).sum()
      )

    spec = pl.BlockSpec((None, 64, 64), lambda k: (k, 0, 0))
    plgpu.emit_pipeline(step, grid=(2,), in_specs=[spec, spec])(a_ref, b_ref)
    o_ref[...] = acc[...]

  kernel = plgpu.kernel(body, out_type=S((64, 64), F32), scratch_types=[plgpu.ACC((64, 64))])
  a, b = (np.asarray(np.arange(8192).reshape(2, 64, 64) % n - 2, BF16) for n in (5, 7))
  x, y = a.astype(np.float32), b.astype(np.float32)
  wanted = sum(x[k] @ y[k].T + y[k, 0] + y[k, 1] + x[k, 2].sum() for k in range(2))
  np.testing.assert_array_equal(everywhere(kernel, a, b), wanted)


def test_beyond_the_end_of_an_array_there_are_zeros():
  def copied(x_ref, o_ref, buffer):
    i = jax.lax.axis_index("i")
    plgpu.copy_gmem_to_smem(x_ref.at[:, pl.ds(16 * i, 16)], buffer)
    o_ref[i] = buffer[...]

  def body(x_ref, o_ref, sum_ref):
    def step(index, x_block, o_block):
      o_block[...] = 2 * x_block[...]
      sum_ref[...] = sum_ref[...] + x_block[...].sum(0)

    sum_ref[...] = jnp.zeros_like(sum_ref)
    spec = pl.BlockSpec((8, 16), lambda i, j: (i, j))
    plgpu.emit_pipeline(step, grid=(2, 3), in_specs=[spec], out_specs=[spec])(x_ref, o_ref)

  x = np.arange(1, 1 + 12 * 40, dtype=np.float32).reshape(12, 40)
  padded = np.pad(x, ((0, 4), (0, 8)))
  call = plgpu.kernel(
    copied, S((3, 12, 16), F32), grid=(3,), grid_names=("i",), scratch_types=[plgpu.SMEM((12, 16), F32)]
  )
  np.testing.assert_array_equal(everywhere(call, x), padded[:12].reshape(12, 3, 16).transpose(1, 0, 2))
  twice, sums = jax.jit(plgpu.kernel(body, out_type=[S(x.shape, F32), S((16,), F32)]))(x)
  np.testing.assert_array_equal(twice, 2 * x)
  np.testing.assert_array_equal(sums, padded.sum(0).reshape(3, 16).sum(0))


@pytest.mark.parametrize(
  "view, wanted",
  [
    (lambda x, k: x.at[k - 15].at[pl.ds(k, 8)], lambda p: p[1, 24:32]),
    (lambda x, k: x.at[1, pl.ds(k, 8)].at[2:6], lambda p: p[1, 26:30]),
    (lambda x, k: x.at[1, pl.ds(k, 8)].at[k - 11], lambda p: p[1, 29]),
    (lambda x, k: x.at[1, pl.ds(k, 8)].at[-4], lambda p: p[1, 28]),
    (lambda x, k: x.at[1, 4:10].at[pl.ds(k - 13, 6)], lambda p: p[1, 15:21]),
    (lambda x, k: x.at[1].at[pl.ds(k - 18, 8)], lambda p: p[1, 6:14]),
    (lambda x, k: x.at[1].at[pl.ds(k - 8, 8, stride=2)], lambda p: p[1, 16:32:2]),
    (lambda x, k: x.at[1].transpose((1, 0)).at[:, pl.ds(k, 8)], lambda p: p[1, 24:32].T),
    (
      lambda x, k: x.at[1].at[pl.ds(k, 8)].reshape(8, 4, 4).at[pl.ds(k - 14, 7)],
      lambda p: p[1, 26:33].reshape(7, 4, 4),
    ),
  ],
  ids=["scalar", "slice", "row", "row-from-end", "beyond-view", "before", "strided", "transposed", "reshaped"],
)
def test_views_of_views_have_zeros_beyond_the_edges_of_the_array(view, wanted):
  """Of three arrays of 20 rows, of which the second has its row `k` where `padded` has row `k + 8`."""
  x = np.arange(1, 1 + 3 * 20 * 16, dtype=np.float32).reshape(3, 20, 16)
  wanted = wanted(np.pad(x, ((0, 0), (8, 16), (0, 0))))

  def body(x_ref, k_ref, o_ref, buffer):
    plgpu.copy_gmem_to_smem(view(x_ref, k_ref[0]), buffer)
    o_ref[...] = buffer[...]

  call = plgpu.kernel(body, S(wanted.shape, F32), scratch_types=[plgpu.SMEM(wanted.shape, F32)])
  k = np.array([16], np.int32)
  np.testing.assert_array_equal(everywhere(call, x, k), wanted)
  with plgpu.force_gpu_interpret_mode(plgpu.InterpretGPUParams()):
    np.testing.assert_array_equal(jax.jit(call)(x, k), wanted)


@pytest.mark.parametrize("rows", [16, 12])
def test_pipelines_over_a_view_have_zeros_beyond_the_end_of_the_array(rows):
  """Blocks that fill a view which hangs over, and blocks that hang over it too."""

  def body(x_ref, k_ref, sum_ref):
    def step(index, x_block):
      sum_ref[...] = sum_ref[...] + x_block[...]

    sum_ref[...] = jnp.zeros_like(sum_ref)
    spec = plgpu.BlockSpec((8, 16), lambda i: (i, 0))
    plgpu.emit_pipeline(step, grid=(2,), in_specs=[spec])(x_ref.at[1].at[pl.ds(k_ref[0], rows)])

  x = np.arange(1, 1 + 2 * 20 * 16, dtype=np.float32).reshape(2, 20, 16)
  found = everywhere(plgpu.kernel(body, out_type=S((8, 16), F32)), x, np.array([10], np.int32))
  np.testing.assert_array_equal(found, np.pad(x[1, 10:], ((0, 6), (0, 0))).reshape(2, 8, 16).sum(0))


def windows(x, wide, step, count):
  """Parts of an array, `step` elements from one to the next, each brought to shared memory."""

  def body(x_ref, o_ref, buffer):
    i = jax.lax.axis_index("i")
    plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(step * i, wide)], buffer)
    o_ref[i] = buffer[...]

  return plgpu.kernel(
    body, S((count, wide), F32), grid=(count,), grid_names=("i",), scratch_types=[plgpu.SMEM((wide,), F32)]
  )(x)


def test_windows_that_overlap_end_in_zeros_though_the_array_is_a_multiple_of_them():
  x = np.arange(1, 33, dtype=np.float32)
  found = everywhere(lambda x: windows(x, 16, 8, 4), x)
  np.testing.assert_array_equal(found[:3], [x[8 * i : 8 * i + 16] for i in range(3)])
  np.testing.assert_array_equal(found[3], np.pad(x[24:], (0, 8)))


@pytest.mark.parametrize("step, is_masked", [(16, False), (8, False), (24, True)])
def test_windows_that_lie_inside_of_the_array_are_not_masked(step, is_masked):
  ((_, native),) = natives(lambda x: windows(x, 16, step, 2), S((32,), F32))
  assert ("select" in str(prepared(native).body)) == is_masked


def test_copies_under_a_predicate_and_with_a_reduction():
  def add(x_ref, o_ref, buffers):
    own, [other] = buffers
    own[...] = x_ref[...]
    plgpu.copy_smem_to_gmem(own, o_ref, reduction_op="add")
    plgpu.copy_gmem_to_smem(x_ref, other, predicate=jax.lax.axis_index("i") == 1)
    plgpu.copy_smem_to_gmem(other, o_ref, jax.lax.axis_index("i") == 1, reduction_op="add")

  @jax.jit
  def f(x):
    out = jax.new_ref(jnp.zeros(16, F32))
    union = plgpu.RefUnion(plgpu.SMEM((16,), F32), [plgpu.SMEM((16,), F32)])
    plgpu.kernel(add, grid=(3,), grid_names=("i",), scratch_types=[union])(x, out)
    return out[...]

  x = np.arange(16, dtype=np.float32)
  np.testing.assert_array_equal(f(x), 4 * x)


def test_a_snake_visits_neighbours():
  """The picture in the documentation of the function."""
  snake = jax.jit(plgpu.planar_snake, static_argnums=(1, 2, 3))
  at = snake(jnp.arange(64), (8, 8), 0, 2)
  order = np.zeros((8, 8), int)
  order[tuple(np.asarray(i) for i in at)] = np.arange(64)
  np.testing.assert_array_equal(order[:, 0], [0, 1, 30, 31, 32, 33, 62, 63])
  np.testing.assert_array_equal(order[2], np.arange(30, 15, -2))
  for shape, minor, width in (((5, 7), 0, 2), ((6, 4), 1, 3)):
    points = set(zip(*(np.asarray(i).tolist() for i in snake(jnp.arange(np.prod(shape)), shape, minor, width))))
    assert points == {(i, j) for i in range(shape[0]) for j in range(shape[1])}


def test_warpgroups_of_a_block_run_beside_each_other():
  @plgpu.kernel(out_type=S((2, 64), F32), num_threads=2, thread_name="wg")
  def kernel(x_ref, o_ref):
    o_ref[jax.lax.axis_index("wg")] = x_ref[...] * jax.lax.axis_index("wg").astype(F32)

  x = np.arange(64, dtype=np.float32)
  np.testing.assert_array_equal(everywhere(kernel, x), np.stack([0 * x, x]))


def _copy(src, dst, **options):
  body = lambda x_ref, o_ref, s: plgpu.copy_gmem_to_smem(src(x_ref), dst(s), **options)
  call = plgpu.kernel(body, out_type=S((8,), F32), scratch_types=[plgpu.SMEM((8,), F32)])
  return lambda: jax.eval_shape(call, S((8,), F32))


def TMEM(columns):
  return plgpu.TMEM((128, columns), F32)


def _tensor_buffers(*scratch):
  return plgpu.kernel(lambda *refs: None, out_type=S((8,), F32), scratch_types=scratch)


def test_tensor_memory_holds_what_fits_and_takes_turns():
  _tensor_buffers(TMEM(256), TMEM(256), plgpu.SMEM((8,), F32), plgpu.Barrier())
  _tensor_buffers(TMEM(256), plgpu.RefUnion(TMEM(256), [TMEM(128), TMEM(128)]))


@pytest.mark.parametrize(
  "make, message",
  [
    (lambda: plgpu.Mesh(grid=(2, 3), grid_names=("i",)), "grid_names must have the same length as grid"),
    (lambda: plgpu.Mesh(num_threads=2), "either both set or both None"),
    (lambda: plgpu.Mesh(grid=(2,), grid_names=("i",), cluster=(2,), cluster_names=("i",)), "different names"),
    (_copy(lambda x: x.at[:4], lambda s: s), "Expected source shape to be"),
    (_copy(lambda x: x[...], lambda s: s), "src: expected a ref"),
    (_copy(lambda x: x, lambda s: s, barrier=3), "barrier: expected a ref"),
    (lambda: plgpu.Barrier(num_arrivals=0), "num_arrivals"),
    (lambda: plgpu.set_max_registers(40, action="grow"), "'increase' or 'decrease'"),
    (lambda: plgpu.nd_loop((4, 6), collective_axes="x", tiling=(3, 2)), "divide the grid"),
    (lambda: plgpu.SMEM((8,), F32, packed=True), "are for TMEM"),
    (lambda: plgpu.TMEM((128, 768), F32), "exceeds available tensor memory.*768 columns"),
    (lambda: plgpu.TMEM((256, 8), F32), "exceeds available tensor memory.*256 rows"),
    (lambda: _tensor_buffers(TMEM(384), TMEM(256)), r"float32\[128, 384\] of 384.*exceed available.*take 640 columns"),
    (lambda: _tensor_buffers(TMEM(256), plgpu.RefUnion(TMEM(64), [TMEM(128), TMEM(256)])), "take 640 columns"),
  ],
)
def test_mistakes_are_named(make, message):
  with pytest.raises(errors.TilewrightError, match=message):
    make()


def test_shared_memory_that_is_asked_for_by_name_is_no_other_memory():
  def kernel(x_ref, o_ref, small, scratch):
    scratch[...] = x_ref[...]
    o_ref[...] = scratch[...] + small[0]

  x = S((512, 512), F32)
  scratch = [plgpu.SMEM((8,), F32), plgpu.SMEM(x.shape, F32)]
  ((_, native),) = natives(pl.pallas_call(kernel, x, scratch_shapes=scratch), x)
  with pytest.raises(
    errors.ResourceExhaustedError, match=r"float32\[512, 512\].*exceeds available.*float32\[8\] of 32"
  ):
    nvgpu.compile_ptx(native, "sm_90a")


def test_memory_that_blocks_would_share_is_refused():
  def body(o_ref):
    pl.run_scoped(lambda s: o_ref.__setitem__(0, s[0]), plgpu.SMEM((8,), F32), collective_axes="i")

  def call(count):
    return plgpu.kernel(body, out_type=S((8,), F32), grid=(count,), grid_names=("i",))

  jax.jit(call(1)).lower()  # which is alone
  with pytest.raises(
    errors.UnsupportedFeatureError, match=r"test_mosaic_kernels\.py.*collective_axes: .*'i' would share"
  ):
    jax.jit(call(2)).lower()


@pytest.mark.parametrize(
  "use",
  [lambda ref: plgpu.tcgen05_commit_arrive(ref, "x"), lambda ref: plgpu.async_copy_smem_to_tmem(ref, ref, "x")],
  ids=["commit", "copy"],
)
def test_an_axis_that_is_not_of_the_cluster_is_refused(use):
  def kernel(x_ref, o_ref):
    use(o_ref)

  with pytest.raises(
    errors.GridError, match="collective_axis: expected an axis of the cluster of size 2, but there is no axis 'x'"
  ):
    jax.eval_shape(pl.pallas_call(kernel, jax.ShapeDtypeStruct((8, 8), jnp.float32)), jnp.zeros((8, 8)))

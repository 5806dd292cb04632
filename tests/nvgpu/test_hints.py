"""What users say about refs and tiles holds: transforms of shared memory, accumulators, layouts by name."""

from __future__ import annotations

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from block_on_cpu import execute, run
from gpu_programs import BF16, F32, S, natives
from hypothesis import given
from hypothesis import strategies as st

from tests.layout.layouts import examples, factors
from tilewright import errors, layout
from tilewright import pallas as pl
from tilewright.layout.transforms import read_transforms, transformed, transforms_text
from tilewright.pallas import mosaic_gpu as plgpu
from tilewright.target import nvgpu
from tilewright.target.nvgpu.arch import ARCHS, named
from tilewright.target.nvgpu.emit.whole_kernel import emit_kernel

TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def native_of(f, *args):
  ((_, native),) = natives(f, *args)
  return native


def normal(*shape, dtype=F32, seed=0):
  return np.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


# --- transforms --------------------------------------------------------------------------------------------------


@st.composite
def transforms(draw, shape=(32, 64), bits=32):
  """Tilings and transpositions one after another, and a swizzle."""
  sizes, found = list(shape), []
  for _ in range(draw(st.integers(0, 3))):
    if draw(st.booleans()):
      tiles = tuple(
        math.prod(draw(st.lists(st.sampled_from(f), max_size=2)) if (f := factors(n)) else []) for n in sizes
      )
      tiles = tuple(t if n % t == 0 else 1 for t, n in zip(tiles, sizes))
      found.append(plgpu.TilingTransform(tiles))
      sizes = [*(n // t for n, t in zip(sizes, tiles)), *tiles]
    else:
      order = tuple(draw(st.permutations(range(len(sizes)))))
      found.append(plgpu.TransposeTransform(order))
      sizes = [sizes[p] for p in order]
  swizzle = draw(st.sampled_from([None, 16, 32, 64, 128]))
  return (*found, *([plgpu.SwizzleTransform(swizzle)] if swizzle else []))


@given(transforms())
@examples(60)
def test_transforms_put_every_element_where_reshaping_and_transposing_would(own):
  """By hand: the array of element numbers, reshaped and transposed as the transforms say, row by row in memory."""
  shape, bits = (32, 64), 32
  numbers = np.arange(math.prod(shape)).reshape(shape)
  swizzle = None
  for t in own:
    match t:
      case plgpu.TilingTransform(tiles):
        lead = numbers.ndim - len(tiles)
        split = [*numbers.shape[:lead], *itertools.chain(*((n // k, k) for n, k in zip(numbers.shape[lead:], tiles)))]
        outer = [lead + 2 * i for i in range(len(tiles))]
        numbers = numbers.reshape(split).transpose([*range(lead), *outer, *(a + 1 for a in outer)])
      case plgpu.TransposeTransform(order):
        numbers = numbers.transpose(order)
      case plgpu.SwizzleTransform(size):
        swizzle = layout.SWIZZLES[size if size > 16 else 0]
  found = transformed(shape, bits, own)
  memory = np.empty(math.prod(shape), int)
  for at in itertools.product(*map(range, shape)):
    memory[found.address(at) // 4] = at[0] * shape[1] + at[1]
  plain = np.arange(memory.size) * 4
  assert np.array_equal(memory[(swizzle(plain) if swizzle else plain) // 4], numbers.ravel())
  assert read_transforms(transforms_text(own)) == own


def through_scratch(own, dtype=F32):
  """Write a scratch buffer as a whole, and read it as a whole, transposed, in parts and row by row."""

  def kernel(x_ref, o_ref, t_ref, r_ref, scratch):
    scratch[...] = x_ref[...]
    o_ref[...] = scratch[...] + 1
    t_ref[...] = scratch[...].T + scratch[8:24, 0:32].sum()

    def step(i, _):
      scratch[pl.ds(i, 1), :] = scratch[pl.ds(31 - i, 1), :] * 2
      return 0

    jax.lax.fori_loop(0, 16, step, 0)
    r_ref[...] = scratch[...]

  shapes = [S((32, 64), dtype), S((64, 32), dtype), S((32, 64), dtype)]
  return pl.pallas_call(kernel, shapes, scratch_shapes=[plgpu.SMEM((32, 64), dtype, transforms=own)])


def _by_hand(x):
  rows = x.copy()
  for i in range(16):
    rows[i] = rows[31 - i] * 2
  return x + 1, x.T + x[8:24, :32].sum(), rows


@given(transforms(), st.sampled_from(["sm_80", "sm_90a"]))
@examples(12)
def test_kernels_compute_the_same_with_any_transforms(own, arch):
  x = np.arange(32 * 64, dtype=np.float32).reshape(32, 64) % 17
  for got, wanted in zip(run(native_of(through_scratch(own), x), x, arch=arch), _by_hand(x), strict=True):
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("own", [TILED, (plgpu.SwizzleTransform(64),), (plgpu.TransposeTransform((1, 0)),)])
def test_memory_is_laid_out_as_the_user_says(own):
  """What shared memory holds at the end is what the transforms say, byte for byte."""
  x = np.arange(64 * 64, dtype=np.uint16).reshape(64, 64)

  def kernel(x_ref, o_ref, scratch):
    scratch[...] = x_ref[...]
    o_ref[...] = scratch[...]

  call = pl.pallas_call(kernel, S(x.shape, x.dtype), scratch_shapes=[plgpu.SMEM(x.shape, x.dtype, transforms=own)])
  text, launch = emit_kernel(native_of(call, x), named("sm_90a"))
  out = np.zeros_like(x)
  shared = execute(text, launch, [x.copy(), out]).view(np.uint16)
  wanted = transformed(x.shape, 16, own)
  for at in itertools.product(*map(range, x.shape)):
    assert shared[wanted.address(at) // 2] == x[at]
  np.testing.assert_array_equal(out, x)


def test_a_swizzled_tile_is_moved_by_vectors():
  """A row of a swizzled tile is written and read sixteen bytes at a time."""

  def kernel(x_ref, o_ref, scratch):
    scratch[...] = x_ref[...] + x_ref[...]
    o_ref[...] = scratch[...]

  x = S((64, 64), BF16)
  text = nvgpu.compile_ptx(
    native_of(pl.pallas_call(kernel, x, scratch_shapes=[plgpu.SMEM(x.shape, BF16, transforms=TILED)]), x), "sm_90a"
  )[0]
  assert "st.shared.v4" in text and "st.shared.b16" not in text and "ld.shared.b16" not in text


def blocked(x, own, rows=32):
  """Blocks of an input and of an output that lie in shared memory as transforms say; the output's is added to twice."""

  def kernel(x_ref, o_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
      o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...].T

  steps = 2
  columns = x.shape[1] // steps
  return pl.pallas_call(
    kernel,
    S((columns, x.shape[0]), x.dtype),
    grid=(-(-x.shape[0] // rows), steps),
    in_specs=[plgpu.BlockSpec((rows, columns), lambda i, j: (i, j), transforms=own)],
    out_specs=plgpu.BlockSpec((columns, rows), lambda i, j: (0, i), transforms=(plgpu.SwizzleTransform(64),)),
    compiler_params=plgpu.CompilerParams(dimension_semantics=["parallel", "sequential"]),
  )(x)


@pytest.mark.parametrize("rows", [64, 80])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_blocks_lie_as_their_specs_say(rows, arch):
  x = np.arange(rows * 128, dtype=np.float32).reshape(rows, 128) % 13
  call = functools.partial(blocked, own=(plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128)))
  wanted = (x[:, :64] + x[:, 64:]).T
  np.testing.assert_array_equal(run(native_of(call, x), x, arch=arch)[0], wanted)
  np.testing.assert_array_equal(jax.jit(call)(x), wanted)  # on other targets transforms mean nothing


@pytest.mark.parametrize(
  "make, message",
  [
    (
      lambda: plgpu.SMEM((64, 60), F32, transforms=[plgpu.TilingTransform((8, 64))]),
      r"tiles of \(8, 64\) do not divide",
    ),
    (lambda: plgpu.SMEM((8, 8), BF16, transforms=[plgpu.SwizzleTransform(128)]), "goes over 1024 bytes"),
    (lambda: plgpu.SwizzleTransform(48), "Swizzle 48 is not supported"),
    (lambda: plgpu.TransposeTransform((0, 2)), "each of 0 … 1 once"),
    (lambda: plgpu.SMEM((64, 64), BF16, transforms=TILED[::-1]), "a swizzle must be the last transform"),
    (lambda: plgpu.SMEM((64, 64), BF16, transforms=[3]), "expected a Tiling"),
    (lambda: plgpu.GMEM((64, 64), BF16, transforms=TILED), "only refs in SMEM"),
    (lambda: plgpu.BlockSpec((64, 64), transforms=TILED, memory_space=plgpu.GMEM), "blocks in SMEM"),
    (lambda: plgpu.ACC((64,)), r"expected \(m, n\)"),
    (lambda: plgpu.find_swizzle(96), "No valid out swizzle: minor dimension has 96 bits"),
  ],
)
def test_mistakes_are_named(make, message):
  with pytest.raises(errors.TilewrightError, match=message):
    make()


def test_transforms_of_a_block_that_do_not_fit_it_are_named_with_their_kernel():
  spec = plgpu.BlockSpec((8, 60), lambda i: (i, 0), transforms=TILED)
  call = pl.pallas_call(lambda x_ref, o_ref: None, S((8, 60), BF16), grid=(1,), in_specs=[spec])
  with pytest.raises(
    errors.LayoutError, match=r"args\[0\].*tiles of \(8, 64\) do not divide \(8, 60\).*test_hints\.py"
  ):
    jax.eval_shape(call, S((8, 60), BF16))


def test_transforms_that_an_op_cannot_do_with_are_a_conflict_that_says_so():
  """Elements at places that are only known when the kernel runs are read row by row."""

  def kernel(x_ref, i_ref, o_ref, scratch):
    scratch[...] = x_ref[...]
    o_ref[...] = scratch[i_ref[...], :]

  call = pl.pallas_call(kernel, S((16, 64), BF16), scratch_shapes=[plgpu.SMEM((64, 64), BF16, transforms=TILED)])
  native = native_of(call, S((64, 64), BF16), S((16,), jnp.int32))
  with pytest.raises(errors.LayoutConflictError) as raised:
    nvgpu.compile_ptx(native, "sm_90a")
  text = str(raised.value)
  assert len(raised.value.conflict) == 2
  assert text.count("test_hints.py") >= 2 and "scratch buffer 0 must lie row by row, without transforms" in text
  assert "scratch buffer 0 is given the layout" in text and "swizzle 128B" in text
  assert "without transforms" in raised.value.proposal and "copy" in raised.value.proposal


def test_buffers_that_do_not_fit_shared_memory_are_named():
  def kernel(x_ref, o_ref, plain, swizzled):
    plain[pl.ds(x_ref[0, 0].astype(jnp.int32), 1)] = x_ref[...][:1]
    swizzled[...] = plain[...].T
    o_ref[...] = swizzled[...]

  x = S((256, 128), F32)
  scratch = [plgpu.SMEM(x.shape, F32), plgpu.SMEM((128, 256), F32, transforms=[plgpu.SwizzleTransform(128)])]
  call = pl.pallas_call(kernel, S((128, 256), F32), scratch_shapes=scratch)
  first = r"float32\[256,128\] of 131072 bytes \(scratch buffer 0 of the kernel 'kernel'\)"
  second = (
    r"scratch buffer 1 of the kernel 'kernel': float32\[128, 256\] of 131072 bytes with transforms exceeds available"
  )
  with pytest.raises(errors.ResourceExhaustedError, match=f"{second} shared memory, 232448 bytes.* buffers: {first}"):
    nvgpu.compile_ptx(native_of(call, x), "sm_90a")


def test_a_block_with_transforms_that_does_not_fit_shared_memory_is_named():
  x, block = S((1024, 512), F32), (256, 512)
  swizzled = plgpu.BlockSpec(block, lambda i: (i, 0), transforms=[plgpu.SwizzleTransform(128)])
  call = pl.pallas_call(
    lambda x_ref, y_ref, o_ref: o_ref.__setitem__(..., x_ref[...] + y_ref[...]),
    x,
    grid=(4,),
    in_specs=[pl.BlockSpec(block, lambda i: (i, 0)), swizzled],
    out_specs=pl.BlockSpec(block, lambda i: (i, 0)),
  )
  said = (
    r"the block of args\[1\] of the kernel .*: float32\[256, 512\] of 524288 bytes with transforms exceeds available"
  )
  with pytest.raises(errors.ResourceExhaustedError, match=said):
    nvgpu.compile_ptx(native_of(call, x, x), "sm_90a")


# --- accumulators ------------------------------------------------------------------------------------------------


def matmul(a, b, tile=(64, 64, 32), **specs):
  """A plain matmul kernel whose sums are in an accumulator."""
  (m, k), n = a.shape, b.shape[1]
  tm, tn, tk = tile

  def kernel(a_ref, b_ref, o_ref, acc):
    @pl.when(pl.program_id(2) == 0)
    def _():
      acc[...] = jnp.zeros_like(acc)

    acc[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)

    @pl.when(pl.program_id(2) == k // tk - 1)
    def _():
      o_ref[...] = acc[...]

  return pl.pallas_call(
    kernel,
    S((m, n), F32),
    grid=(m // tm, n // tn, k // tk),
    in_specs=[
      plgpu.BlockSpec((tm, tk), lambda i, j, k: (i, k), **specs),
      plgpu.BlockSpec((tk, tn), lambda i, j, k: (k, j), **specs),
    ],
    out_specs=pl.BlockSpec((tm, tn), lambda i, j, k: (i, j)),
    scratch_shapes=[plgpu.ACC((tm, tn), F32)],
    compiler_params=plgpu.CompilerParams(dimension_semantics=["parallel", "parallel", "sequential"]),
  )(a, b)


@pytest.mark.parametrize("specs", [{}, {"transforms": (plgpu.SwizzleTransform(64),)}], ids=["plain", "swizzled"])
def test_an_accumulator_adds_up_products(specs):
  a, b = normal(64, 64, dtype=BF16), normal(64, 128, dtype=BF16, seed=1)
  call = functools.partial(matmul, **specs)
  wanted = a.astype(np.float64) @ b.astype(np.float64)
  tolerance = 64 * 2.0**-23 * np.abs(wanted).max()
  np.testing.assert_allclose(run(native_of(call, a, b), a, b)[0], wanted, rtol=0, atol=tolerance)
  np.testing.assert_allclose(jax.jit(call)(a, b), wanted, rtol=0, atol=tolerance)


def _check_added_up(kernel, semantics, first=0):
  """A kernel with an accumulator gives the product of two matrices in two steps along k; of k from `first` on."""
  a, b = normal(128, 128, dtype=BF16), normal(128, 64, dtype=BF16, seed=1)
  call = pl.pallas_call(
    kernel,
    S((128, 64), F32),
    grid=(2, 2),
    in_specs=[plgpu.BlockSpec((64, 64), lambda i, k: (i, k)), plgpu.BlockSpec((64, 64), lambda i, k: (k, 0))],
    out_specs=pl.BlockSpec((64, 64), lambda i, k: (i, 0)),
    scratch_shapes=[plgpu.ACC((64, 64), F32)],
    compiler_params=plgpu.CompilerParams(dimension_semantics=semantics),
  )
  wanted = a[:, first:].astype(np.float64) @ b[first:].astype(np.float64)
  tolerance = 128 * 2.0**-23 * np.abs(wanted).max()
  for found in (jax.jit(call)(a, b), run(native_of(call, a, b), a, b)[0]):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("semantics", [("parallel", "sequential"), None])
def test_an_accumulator_that_a_body_sets_to_zero_is_left_to_it(semantics):
  def kernel(a_ref, b_ref, o_ref, acc):
    @pl.when(pl.program_id(1) == 0)
    def _():
      acc[...] = jnp.zeros_like(acc)

    acc[...] += jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)

    @pl.when(pl.program_id(1) == 1)
    def _():
      o_ref[...] = acc[...]

  _check_added_up(kernel, semantics)


@pytest.mark.parametrize("semantics", [("parallel", "sequential"), None])
def test_an_accumulator_begins_as_zero(semantics):
  """At the first step along dimensions that are not parallel; where nothing is said of them, in each instance."""

  def kernel(a_ref, b_ref, o_ref, acc):
    plgpu.wgmma(acc, a_ref, b_ref)
    plgpu.wgmma_wait(0)

    @pl.when((pl.program_id(1) == 1) | (semantics is None))
    def _():
      o_ref[...] = acc[...]

  _check_added_up(kernel, semantics, first=0 if semantics else 64)


@pytest.mark.parametrize("arch, instruction", [("sm_90a", "wgmma.mma_async"), ("sm_80", "mma.sync")])
def test_a_kernel_with_an_accumulator_keeps_its_pipeline(arch, instruction):
  """Hints that a pipeline fulfils anyway do not stand in its way; others do, and hold."""
  a, b = S((256, 256), BF16), S((256, 256), BF16)
  tile = (64, 64, 64)
  copies = "cp.async.bulk.tensor" if arch == "sm_90a" else "cp.async"
  for specs, has_pipeline in (({}, True), ({"transforms": TILED}, True), ({"transforms": TILED[:1]}, False)):
    text = nvgpu.compile_ptx(native_of(functools.partial(matmul, tile=tile, **specs), a, b), arch)[0]
    assert instruction in text
    assert (copies in text) == has_pipeline


def test_an_accumulator_stays_in_registers():
  """Outside of pipelines too: it is written by one product and read by an elementwise op, and no shared memory is touched for it."""

  def kernel(a_ref, b_ref, o_ref):
    def scoped(acc):
      acc[...] = jnp.dot(a_ref[...], b_ref[...], preferred_element_type=F32)
      acc[...] = jnp.maximum(acc[...], 0)
      o_ref[...] = acc[...]

    pl.run_scoped(scoped, plgpu.ACC((64, 64), F32))

  a, b = normal(64, 32, dtype=BF16), normal(32, 64, dtype=BF16, seed=1)
  native = native_of(pl.pallas_call(kernel, S((64, 64), F32)), a, b)
  got = run(native, a, b)[0]
  wanted = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
  np.testing.assert_allclose(got, wanted, rtol=0, atol=32 * 2.0**-23 * wanted.max())


def test_an_accumulator_that_is_taken_apart_or_does_not_fit_is_an_error():
  def kernel(x_ref, o_ref, acc):
    acc[...] = x_ref[...]
    o_ref[...] = acc[...] if whole else acc[pl.ds(pl.program_id(0), 8), :]

  for whole, shape, error, message in (
    (False, (64, 64), errors.LayoutError, r"test_hints\.py.*takes a part of it"),
    (True, (60, 64), errors.LayoutError, "multiple of 16"),
    (True, (1024, 512), errors.ResourceExhaustedError, "scratch buffer 0.*exceeds available registers.*may take 128"),
  ):
    out = S(shape if whole else (8, 64), F32)
    call = pl.pallas_call(kernel, out, grid=2, scratch_shapes=[plgpu.ACC(shape, F32)])
    with pytest.raises(error, match=message):
      nvgpu.compile_ptx(native_of(call, S(shape, F32)), "sm_90a")


# --- layouts by name ---------------------------------------------------------------------------------------------

NAMED = {
  "WGMMA": (plgpu.Layout.WGMMA, (64, 128), F32),
  "WGMMA_8BIT": (plgpu.Layout.WGMMA_8BIT, (64, 64), np.int8),
  "WGMMA_UPCAST_2X": (plgpu.Layout.WGMMA_UPCAST_2X, (64, 32), np.int8),
  "WGMMA_UPCAST_4X": (plgpu.Layout.WGMMA_UPCAST_4X, (64, 32), np.int8),
  "WGMMA_TRANSPOSED": (plgpu.Layout.WGMMA_TRANSPOSED, (64, 16), F32),
  "TCGEN05_TRANSPOSED": (plgpu.Layout.TCGEN05_TRANSPOSED, (128, 8), F32),
  "TCGEN05_M64_COLLECTIVE": (plgpu.Layout.TCGEN05_M64_COLLECTIVE(32), (64, 32), F32),
  "TCGEN05_M64_COLLECTIVE_NATIVE": (plgpu.Layout.TCGEN05_M64_COLLECTIVE_NATIVE(32), (64, 32), F32),
  "SMEM_GMEM_COPY": (plgpu.Layout.SMEM_GMEM_COPY((64, 64), BF16, 128), (64, 64), BF16),
  "WG_SPLAT": (plgpu.Layout.WG_SPLAT((4, 8)), (4, 8), F32),
  "WG_STRIDED": (plgpu.Layout.WG_STRIDED((64, 64), vec_size=4), (64, 64), F32),
  "TCGEN05": (plgpu.Layout.TCGEN05, (128, 64), F32),
  "TCGEN05_TMEM_NATIVE": (plgpu.Layout.TCGEN05_TMEM_NATIVE, (128, 64), F32),
  "MMA_LHS": (plgpu.Layout.MMA_LHS, (64, 32), BF16),
  "MMA_RHS": (plgpu.Layout.MMA_RHS(BF16), (32, 64), BF16),
  "MMA_ACC": (plgpu.Layout.MMA_ACC(F32), (64, 64), F32),
  "TMA_INDICES": (plgpu.Layout.TMA_INDICES, (32,), np.int32),
  "rows": (plgpu.Layout.WGMMA.reduce(1), (128,), F32),
  "columns": (plgpu.Layout.WGMMA.reduce(0), (96,), F32),
  "rows of two blocks": (plgpu.Layout.TCGEN05_M64_COLLECTIVE(32).reduce(1), (64,), F32),
  "rows of an operand": (plgpu.Layout.MMA_LHS.reduce(1), (64,), BF16),
  "rows of what is strided": (plgpu.Layout.WG_STRIDED((64, 64), vec_size=4).reduce(-1), (64,), F32),
}


@pytest.mark.parametrize("name", NAMED)
def test_tiles_can_be_cast_to_named_layouts(name):
  given_layout, shape, dtype = NAMED[name]

  def kernel(x_ref, o_ref):
    o_ref[...] = plgpu.layout_cast(plgpu.load(x_ref, layout=given_layout) * 2, given_layout)

  x = np.arange(math.prod(shape)).reshape(shape).astype(dtype) % 31
  native = native_of(pl.pallas_call(kernel, S(shape, dtype)), x)
  text, launch = emit_kernel(native, named("sm_90a"))
  assert launch.num_threads == 128
  out = np.zeros(shape, dtype)
  execute(text, launch, [x.copy(), out])
  np.testing.assert_array_equal(out, x * 2)


def test_lanes_beyond_a_dimension_of_one_get_what_is_broadcast():
  """Of a fragment of eight columns a tile of one column uses four lanes: the others have no maximum of their own to add."""
  column = layout.register_layout((8, 1), [(2, (1, 0))], lane=[(4, (2, 0)), (8, (0, 1))])

  def kernel(x_ref, o_ref):
    x = plgpu.layout_cast(x_ref[...], column)
    o_ref[...] = x + jnp.max(x, 0, keepdims=True)

  x = normal(8, 1)
  got = run(native_of(pl.pallas_call(kernel, S((8, 1), F32)), x), x)[0]
  np.testing.assert_array_equal(got, x + x.max())


def test_rows_of_an_accumulator_have_a_layout_of_their_own():
  """A value for each row of a tile in the layout of wgmma meets the tile without moving."""

  def kernel(x_ref, m_ref, o_ref):
    x = plgpu.layout_cast(x_ref[...], plgpu.Layout.WGMMA)
    row = plgpu.layout_cast(m_ref[...], plgpu.Layout.WGMMA.reduce(1))
    o_ref[...] = plgpu.layout_cast(jnp.exp(x - row[:, None]), plgpu.Layout.WGMMA).sum(1)

  text = nvgpu.compile_ptx(native_of(pl.pallas_call(kernel, S((64,), F32)), S((64, 32), F32), S((64,), F32)), "sm_90a")[
    0
  ]
  assert "bar.sync" not in text and "st.shared" not in text


def test_a_name_that_does_not_fit_or_means_nothing_here_is_an_error():
  with pytest.raises(errors.LayoutError, match=r"Layout\.WGMMA does not fit a tile of shape \(60, 64\)"):
    plgpu.layout_cast(jnp.zeros((60, 64)), plgpu.Layout.WGMMA)
  with pytest.raises(errors.LayoutError, match=r"TILED.*expected the arguments \(tiling, warp_dims"):
    plgpu.layout_cast(jnp.zeros((64, 64)), plgpu.Layout.TILED)


def test_atomic_operations_of_parts_of_refs_give_nothing():
  def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]
    assert plgpu.atomic_add(o_ref.at[0], x_ref[1]) is None
    plgpu.atomic_max(o_ref, 40 + x_ref[...] * 0)

  x = np.arange(64, dtype=np.int32).reshape(2, 32)
  (got,) = run(native_of(pl.pallas_call(kernel, S(x.shape, jnp.int32)), x), x)
  np.testing.assert_array_equal(got, np.maximum([x[0] + x[1], x[1]], 40))


def test_an_iota_can_have_a_layout():
  def kernel(o_ref):
    o_ref[...] = plgpu.broadcasted_iota(jnp.int32, (64, 16), 0, layout=plgpu.Layout.WGMMA)

  (got,) = run(native_of(pl.pallas_call(kernel, S((64, 16), jnp.int32))), arch="sm_90a")
  np.testing.assert_array_equal(got, np.arange(64)[:, None].repeat(16, 1))


@pytest.mark.parametrize("bits, swizzle", [(128, 16), (256, 32), (512, 64), (1024, 128), (2048, 128), (768, 32)])
def test_the_largest_swizzle_of_a_row_is_found(bits, swizzle):
  assert plgpu.find_swizzle(bits) == swizzle


@pytest.mark.parametrize("arch", ARCHS)
def test_hints_compile_everywhere(arch):
  a, b = S((128, 128), BF16), S((128, 128), BF16)
  for specs in ({}, {"transforms": (plgpu.SwizzleTransform(64),)}):
    text = nvgpu.compile_ptx(native_of(functools.partial(matmul, tile=(64, 64, 32), **specs), a, b), arch)[0]
    assert f".target {arch}" in text


def test_hints_go_through_vmap_and_derivatives():
  x = np.arange(2 * 64 * 128, dtype=np.float32).reshape(2, 64, 128) % 13
  call = functools.partial(blocked, own=(plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128)))
  wanted = (x[..., :64] + x[..., 64:]).swapaxes(1, 2)
  np.testing.assert_array_equal(run(native_of(jax.vmap(call), x), x)[0], wanted)
  *_, (_, both) = natives(lambda x, t: jax.jvp(call, (x,), (t,)), x[0], x[1])
  for got, own in zip(run(both, x[0], x[1]), wanted, strict=True):
    np.testing.assert_array_equal(got, own)

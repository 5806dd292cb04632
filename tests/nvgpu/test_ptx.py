"""Kernels become PTX for every architecture on any machine, and ptxas, where there is one, assembles it without spills."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import scaled_programs
from gpu_programs import PROGRAMS, natives

from tests.nvgpu import ops_programs
from tests.support.ptxas_marks import needs_ptxas
from tilewright import ops
from tilewright import pallas as pl
from tilewright.cli import bench_gpu_kernels
from tilewright.pallas import nvgpu as pallas_nvgpu
from tilewright.runtime import ptxas
from tilewright.target import nvgpu
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.passes import l2_hints
from tilewright.tile.ir import walk

S = jax.ShapeDtypeStruct
TUNED = ("softmax", "rms_norm", "layer_norm", "gelu_gate", "cast", "transpose", "cross_entropy", "rotary", "matmul")


def ptx_of(name: str, arch: str) -> str:
  f, args = PROGRAMS[name]
  ((kernel, native),) = natives(f, *args)
  return nvgpu.compile_ptx(native, arch, kernel.compiler_params.num_warps)[0]


@pytest.mark.parametrize("arch", ARCHS)
def test_every_architecture_is_named_in_its_ptx(arch):
  text = ptx_of("softmax", arch)
  assert f".target {arch}" in text and ".visible .entry kernel" in text


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kernel_is_compiled_without_a_device(name):
  text = ptx_of(name, "sm_90a")
  assert ".local" not in text, "nothing lives on the stack"


def test_no_sums_of_two_numbers_of_16_bits_are_left_to_assemblers_that_get_them_wrong():
  """See `ptx.with_single_adds`: LLVM adds the numbers of neighbours two at a time, of which the low one adds nothing."""

  def kernel(x_ref, o_ref):
    o_ref[...] = (x_ref[...] + jax.lax.broadcasted_iota(jnp.int16, (64,), 0)) % 17

  ((_, native),) = natives(pl.pallas_call(kernel, S((64,), jnp.int16)), S((64,), jnp.int16))
  text = nvgpu.compile_ptx(native, "sm_90a", 2)[0]
  assert "add.s16 x0, x0, y0; add.s16 x1, x1, y1;" in text and not re.search(r"add\.[su]16x2", text)
  if tool := ptxas.find():
    ptxas.resources(text, "sm_90a", tool)


@needs_ptxas
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", TUNED)
def test_kernels_that_must_be_fast_do_not_spill(name, arch):
  found = ptxas.resources(ptx_of(name, arch), arch)
  assert found.spilled_bytes == found.stack_bytes == 0


@needs_ptxas
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", ["softmax", "rms_norm", "layer_norm", "cross_entropy", "gelu", "swiglu"])
def test_library_kernels_that_must_be_fast_do_not_spill(name, arch):
  forward = ops_programs.kernels_of(name, derivative=False)
  assert forward
  for kernel in forward:
    assert ptxas.resources(nvgpu.compile_ptx(kernel, arch)[0], arch).spilled_bytes == 0


@needs_ptxas
@pytest.mark.parametrize("name", ["rms_norm", "layer_norm"])
def test_derivatives_that_add_up_rows_have_the_registers_of_blocks_that_are_not_there(name):
  *_, backward = ops_programs.kernels_of(name)
  assert backward.mapping.grid == (256, 2)  # two blocks for most SMs
  assert ptxas.resources(nvgpu.compile_ptx(backward, "sm_90a")[0], "sm_90a").spilled_bytes == 0


@needs_ptxas
@pytest.mark.parametrize("name", ["softmax", "rotary"])
def test_derivatives_that_hold_two_rows_have_registers_for_both(name):
  kernels = list(ops_programs.kernels_of(name))
  assert kernels
  for kernel in kernels:
    assert ptxas.resources(nvgpu.compile_ptx(kernel, "sm_90a")[0], "sm_90a").spilled_bytes == 0


@needs_ptxas
@pytest.mark.parametrize("name", ["attention", "grouped_matmul", "swiglu_mlp"])
def test_library_kernels_that_multiply_do_not_spill_and_take_warpgroups(name):
  kernels = [k for k in ops_programs.kernels_of(name) if any(op.name == "dot" for op in walk(k.body.body))]
  assert kernels
  for kernel in kernels:
    text = nvgpu.compile_ptx(kernel, "sm_90a")[0]
    assert "wgmma.mma_async" in text and "mma.sync" not in text
    assert ptxas.resources(text, "sm_90a").spilled_bytes == 0


@needs_ptxas
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in TUNED])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_121a"])
def test_ptxas_assembles_it(name, arch):
  assert ptxas.resources(ptx_of(name, arch), arch).registers > 0


def test_global_memory_is_moved_in_sixteen_bytes_a_thread():
  text = ptx_of("cast", "sm_90a")
  assert text.count("ld.global.nc.v4.b32") == text.count("st.global.v4.b32") == 4
  assert "ld.global.b16" not in text


def test_rows_stay_in_registers_between_reductions():
  """Softmax reads each element once, and its threads wait for each other once per reduction."""
  text = ptx_of("softmax", "sm_90a")
  assert text.count("ld.global") == 4 and text.count("bar.sync") == 2


@pytest.mark.parametrize(("second", "waits"), [(slice(8, 16), 0), (slice(7, 15), 1)])
def test_threads_wait_for_each_other_between_writes_only_where_the_parts_overlap(second, waits):
  def kernel(x_ref, o_ref):
    o_ref[0:8] = x_ref[...]
    o_ref[second] = x_ref[...] + 1

  x = jax.ShapeDtypeStruct((8, 128), jnp.float32)
  call = pl.pallas_call(kernel, jax.ShapeDtypeStruct((16, 128), x.dtype), compiler_params=pallas_nvgpu.CompilerParams())
  ((_, native),) = natives(call, x)
  assert nvgpu.compile_ptx(native, "sm_90a")[0].count("bar.sync") == waits


def _cache_hints(f, *args: Any, arch: str = "sm_90a") -> list[str]:
  """The instructions that tell L2 something, and how often each stands there."""
  ((_, native),) = natives(f, *args)
  told = ("L2::cache_hint", "applypriority")
  return [
    line.split()[0].partition(".L2")[0]
    for line in nvgpu.compile_ptx(native, arch)[0].splitlines()
    if any(t in line for t in told)
  ]


def test_the_second_cache_is_told_of_large_arrays_that_pass_by_once():
  rows = lambda n: jax.ShapeDtypeStruct((n, 8192), jnp.bfloat16)
  norm = lambda x, w: ops.rms_norm(x, w, native=True)
  scale = jax.ShapeDtypeStruct((8192,), jnp.bfloat16)
  load, ahead, back = "ld.global.nc", "cp.async.bulk.prefetch", "applypriority.global"
  assert _cache_hints(norm, rows(16384), scale) == [ahead, *[load] * 4, *[back] * 3]  # the rows, and not the scale
  assert _cache_hints(norm, rows(16384), scale, arch="sm_89") == [*[load] * 4, *[back] * 3]  # without TMA
  assert _cache_hints(norm, rows(16384), scale, arch="sm_80") == []  # PTX 7.0 has no policies
  assert _cache_hints(norm, rows(256), scale) == []  # fits the cache
  loss = lambda x, labels: ops.cross_entropy(x, labels, native=True)
  assert _cache_hints(loss, rows(16384), jax.ShapeDtypeStruct((16384,), jnp.int32)) == []  # writes little
  again = pl.pallas_call(
    lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]),
    jax.ShapeDtypeStruct((2, 16384, 8192), jnp.bfloat16),
    grid=(2, 16384),
    in_specs=[pl.BlockSpec((1, 8192), lambda i, j: (j, 0))],
    out_specs=pl.BlockSpec((None, 1, 8192), lambda i, j: (i, j, 0)),
    compiler_params=pallas_nvgpu.CompilerParams(),
  )
  assert _cache_hints(again, rows(16384)) == []  # is read twice


@pytest.mark.parametrize(("rows", "count"), [(16384, 256), (512, 170), (3, 1)])
def test_the_last_instances_give_back_blocks_that_exist(rows, count):
  ((_, native),) = natives(lambda x: ops.softmax(x, native=True), S((rows, 8192), jnp.bfloat16))
  assert l2_hints.num_last(native, nbytes=2 * 8192) == count and l2_hints.TURNS * count <= rows


def _moved(out_map, block=(128, 128), arrays=1, shape=(16384, 8192)):
  """A kernel that transposes blocks, and the order in which its CTAs take a grid of two dimensions."""
  x, spec = S(shape, jnp.bfloat16), pl.BlockSpec(block, lambda i, j: (i, j))

  def transpose(x_ref, *o_refs):
    for o_ref in o_refs:
      o_ref[...] = x_ref[...].T

  call = pl.pallas_call(
    transpose,
    [S(shape[::-1], jnp.bfloat16)] * arrays,
    grid=(shape[0] // block[0], shape[1] // block[1]),
    in_specs=[spec],
    out_specs=[pl.BlockSpec(block[::-1], out_map)] * arrays,
    compiler_params=pallas_nvgpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
  )
  ((_, native),) = natives(call, x)
  return l2_hints.write_order(native, (0, 1))


def test_neighbours_in_time_write_neighbouring_memory():
  turned = lambda i, j: (j, i)
  assert _moved(turned) == _moved(turned, arrays=2) == (1, 0)
  assert _moved(turned, shape=(1024, 8192)) == (0, 1)  # fits the cache
  assert _moved(lambda i, j: (i % 64, j), shape=(8192, 8192)) == (0, 1)  # as it is
  assert _moved(lambda i, j: (j, 127 - i)) == (0, 1)  # the other way round: not known to be neighbours


def test_a_block_in_memory_is_pieces_of_whole_lines():
  def of(block, shape, dtype=jnp.bfloat16):
    call = pl.pallas_call(
      lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...].sum().reshape(1)),
      S((1,), dtype),
      in_specs=[pl.BlockSpec(block, lambda: (0,) * len(block))],
      compiler_params=pallas_nvgpu.CompilerParams(),
    )
    ((_, native),) = natives(call, S(shape, dtype))
    return l2_hints.pieces(native.mapping.block_mappings[0])

  assert of((1, 8192), (16, 8192)) == l2_hints.BlockSegments(1, 16384, 16384)
  assert of((4, 8192), (16, 8192)) == l2_hints.BlockSegments(1, 4 * 16384, 4 * 16384)
  assert of((128, 64), (256, 8192)) == l2_hints.BlockSegments(128, 128, 16384)
  assert of((None, 8, 4, 64), (2, 16, 4, 64)) == l2_hints.BlockSegments(1, 4096, 4096)
  assert of((2, 8, 64), (2, 16, 64)) == l2_hints.BlockSegments(2, 1024, 2048)
  assert of((8, 1, 128), (8, 4, 128)) == l2_hints.BlockSegments(8, 256, 1024)
  assert of((8, 32), (8, 64)) is None  # half a line
  assert of((8, 64), (8, 96)) is None  # lines of two pieces
  assert of((2, 8, 64), (2, 16, 128)) is None  # at two distances


def test_small_blocks_that_go_with_a_large_array_are_asked_for_ahead_instead_of_it():
  x, table = S((16384, 64, 128), jnp.bfloat16), S((16384, 64), jnp.float32)
  load, ahead, back = "ld.global.nc", "cp.async.bulk.prefetch", "applypriority.global"
  turned = lambda *args: ops.rotary(*args, native=True)
  assert _cache_hints(turned, x, table, table) == [ahead, ahead, load, load, *[back] * 9]
  assert _cache_hints(turned, x, table, table, arch="sm_89") == [load, load, *[back] * 3]


@pytest.mark.parametrize(("width", "threads"), [(512, 128), (2048, 256), (8192, 1024)])
def test_where_two_large_arrays_pass_by_once_a_thread_takes_a_vector_of_each(width, threads):
  x = S((16384, 8192), jnp.bfloat16)
  ((_, native),) = natives(bench_gpu_kernels._blocked(lambda x, g: x * g, 2, width=width), x, x)
  text, launch = nvgpu.compile_ptx(native, "sm_90a")
  assert launch.num_threads == threads and text.count("ld.global.nc.L2::cache_hint") == 2


@pytest.mark.parametrize(("width", "vector"), [(512, "v2"), (1024, "v4")])
def test_a_block_is_spread_over_all_threads(width, vector):
  x, row = S((64, width), jnp.bfloat16), pl.BlockSpec((1, width), lambda i: (i, 0))
  call = pl.pallas_call(
    lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...]),
    x,
    grid=(64,),
    in_specs=[row],
    out_specs=row,
    compiler_params=pallas_nvgpu.CompilerParams(),
  )
  ((_, native),) = natives(call, x)
  text, launch = nvgpu.compile_ptx(native, "sm_90a")
  assert launch.num_threads == 128 and f"ld.global.nc.{vector}.b32" in text and "bra" not in text


def test_contractions_use_tensor_cores():
  assert "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" in ptx_of("matmul", "sm_80")
  assert "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" in ptx_of("matmul_f32", "sm_80")


def test_a_plain_matmul_is_pipelined_where_the_hardware_can():
  """Operands come by TMA, several stages ahead, and are multiplied by wgmma; there is nothing about GPUs in the kernel's source."""
  hopper, ampere = ptx_of("matmul", "sm_90a"), ptx_of("matmul", "sm_80")
  assert "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16" in hopper
  assert "cp.async.bulk.tensor.2d" in hopper and "mbarrier.try_wait" in hopper
  assert "wgmma" not in ampere and "cp.async.bulk" not in ampere


# --- block-scaled products ---------------------------------------------------------------------------------------


def _weights(m: int, arch: str, k: int = 2048) -> str:
  args = (S((m, k), jnp.bfloat16), S((64, k // 2), jnp.uint8), S((64, k // 16), jnp.float8_e4m3fn))
  ((kernel, native),) = natives(scaled_programs.weights, *args)
  return nvgpu.compile_ptx(native, arch, kernel.compiler_params.num_warps)[0]


@pytest.mark.parametrize("m", [1, 3, 8, 16])
def test_packed_weights_go_from_wide_loads_to_tensor_cores_in_registers(m):
  """Sixteen bytes at a time and rounds ahead, one and a half masks for two weights; nothing computed lies in memory before the sums."""
  text = _weights(m, "sm_90a")
  loop = text[: text.rindex("mma.sync")]
  tiles, rows, pairs, rounds = 2, 2, 16, 2  # a turn of the stages
  straight = tiles * rows if m == 16 else 0  # pieces that go past shared memory, where most of a round is x
  assert "st.shared" not in loop and loop.count("ld.global") == rounds * straight
  assert loop.count("ld.global.L1::no_allocate.L2::128B.v4.b32") == rounds * straight
  assert ("cp.async.cg.shared.global.L2::128B" in loop) == (not straight)
  assert loop.count(f"cp.async.wait_group {0 if straight else 1};") == loop.count("cp.async.wait_group") == rounds
  assert loop.count("ld.shared.v4.b32") == rounds * (tiles * rows - straight + 4 * -(-m // 8)), "of w, and of x"
  assert loop.count("fma.rn.bf16x2") == rounds * tiles * rows * pairs
  assert loop.count("cvt.rn.bf16x2.f32") == rounds * tiles * rows, "two scales at a time"
  assert loop.count("lop3.b32") == rounds * tiles * rows * pairs // 2
  assert loop.count("and.b32") <= rounds * (tiles * rows * pairs + 64)
  assert text.count("mma.sync") == rounds * tiles * 8 * -(-m // 8)


@pytest.mark.parametrize("m", [9, 16])
def test_scales_of_two_rounds_are_copied_at_a_time_and_weights_asked_for_midway(m):
  rounds, products = 8, 32
  text = _weights(m, "sm_90a", 8192)
  before, *each = re.split(r"cp\.async\.wait_group", text)
  assert len(each) == rounds
  assert re.search(r"cp\.async\.cg.*cp\.async\.ca.*ld\.global\.L1::no_allocate", before, re.DOTALL), (
    "first what caches have"
  )
  copies = [part.count("cp.async.ca.shared.global") for part in (before, *each)]
  assert copies == [2, *(0, 2) * (rounds // 2 - 1), 0, 0], "sixteen rows of 32, in two rounds, by each"
  for part in each[:-1]:
    done = part[: part.index("ld.global.L1::no_allocate")].count("mma.sync")
    assert part.count("mma.sync") == products and abs(done - products // 2) <= 4
  assert "ld.global" not in each[-1]


@pytest.mark.parametrize("rest, count", [(0xFF00FFFF, 1), (0xFF00FFFE, 0)])
def test_bits_of_two_words_are_chosen_by_one_instruction_where_masks_are_complements(rest, count):
  def kernel(x, y, o):
    o[...] = (x[...] & jnp.uint32(0x00FF0000)) | (y[...] & jnp.uint32(rest))

  words = S((33,), jnp.uint32)  # one at a time, and one more
  ((_, native),) = natives(lambda x, y: pl.pallas_call(kernel, words)(x, y), words, words)
  assert nvgpu.compile_ptx(native, "sm_90a", 1)[0].count("lop3.b32") == 2 * count


@needs_ptxas
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_121a"])
def test_ptxas_assembles_packed_weights_without_spills(arch):
  assert ptxas.resources(_weights(8, arch), arch).spilled_bytes == 0

"""The GPU level: products that are started and waited for, layouts of shared memory, and what the verifier finds."""

from __future__ import annotations

import functools
import re

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
from tilewright.pallas.nvgpu import report
from tilewright.target.llvm.prepared import prepared
from tilewright.target.nvgpu import compile_ptx
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.passes import lowering
from tilewright.tile.ir import walk
from tilewright.tile.parser import parse
from tilewright.tile.printer import to_text
from tilewright.tile.verify import verify


def lowered(program, *args):
  """The ops of the GPU level of a program, by name and in order, and what they are for."""
  ((_, native),) = natives(program, *args)
  return [op for op in walk(lowering.lower(prepared(native), ARCHS["sm_90a"], until="roles").kernel.body.body)]


def matmul(body, *, transforms=TILED, extra=()):
  """A kernel of two warpgroups: the second brings both operands, the first runs `body(acc, a_smem, b_smem, full, empty)`."""

  def program(a, b):
    @functools.partial(
      plgpu.kernel,
      out_type=S((64, 64), F32),
      num_threads=2,
      thread_name="wg",
      scratch_types=dict(
        a_smem=plgpu.SMEM((2, 64, 64), BF16, transforms=transforms),
        b_smem=plgpu.SMEM((2, 64, 64), BF16, transforms=transforms),
        full=plgpu.Barrier(num_arrivals=2, num_barriers=2),
        empty=plgpu.Barrier(num_barriers=2),
      ),
    )
    def kernel(a_ref, b_ref, o_ref, a_smem, b_smem, full, empty):
      @pl.when(jax.lax.axis_index("wg") == 1)
      def _():
        @pl.loop(0, 4)
        def _(k):
          slot = jax.lax.rem(k, 2)
          pl.when(k >= 2)(lambda: plgpu.barrier_wait(empty.at[slot]))
          for source, target in ((a_ref.at[:, pl.ds(64 * k, 64)], a_smem), (b_ref.at[pl.ds(64 * k, 64)], b_smem)):
            plgpu.copy_gmem_to_smem(source, target.at[slot], full.at[slot])

      @pl.when(jax.lax.axis_index("wg") == 0)
      def _():
        def scope(acc):
          pl.loop(0, 4)(lambda k: body(acc, a_smem, b_smem, full, empty, k))
          o_ref[...] = acc[...]

        pl.run_scoped(scope, plgpu.ACC((64, 64)))

    return kernel(a, b)

  return program


def at_once(acc, a_smem, b_smem, full, empty, k):
  slot = jax.lax.rem(k, 2)
  plgpu.barrier_wait(full.at[slot])
  plgpu.wgmma(acc, a_smem.at[slot], b_smem.at[slot])
  plgpu.wgmma_wait(0)
  plgpu.barrier_arrive(empty.at[slot])


def one_later(acc, a_smem, b_smem, full, empty, k):
  """A slot is given back when the next product has been started."""
  slot = jax.lax.rem(k, 2)
  plgpu.barrier_wait(full.at[slot])
  plgpu.wgmma(acc, a_smem.at[slot], b_smem.at[slot])
  plgpu.wgmma_wait(1)
  pl.when(k > 0)(lambda: plgpu.barrier_arrive(empty.at[1 - slot]))


def too_early(acc, a_smem, b_smem, full, empty, k):
  slot = jax.lax.rem(k, 2)
  plgpu.barrier_wait(full.at[slot])
  plgpu.wgmma(acc, a_smem.at[slot], b_smem.at[slot])
  plgpu.wgmma_wait(1)
  plgpu.barrier_arrive(empty.at[slot])


def without_waiting(acc, a_smem, b_smem, full, empty, k):
  slot = jax.lax.rem(k, 2)
  plgpu.wgmma(acc, a_smem.at[slot], b_smem.at[slot])
  plgpu.wgmma_wait(0)
  plgpu.barrier_arrive(empty.at[slot])


def integers(*shape):
  return np.asarray(np.random.default_rng(0).integers(-4, 5, shape), BF16)


A, B = integers(64, 256), integers(256, 64)


@pytest.mark.parametrize(("body", "waits"), [(at_once, [0]), (one_later, [1, 0])])
def test_products_are_waited_for_where_it_is_said_and_where_they_are_read(body, waits):
  ops = lowered(matmul(body), A, B)
  assert [op.attrs["pending"] for op in ops if op.name == "mma_wait"] == waits
  names = [op.name for op in ops]
  assert names.count("mma") == 1 and "await_products" not in names
  ((_, native),) = natives(matmul(body), A, B)
  (found,) = run(native, A, B, arch="sm_90a")
  np.testing.assert_array_equal(found, A.astype(np.float32) @ B.astype(np.float32))


def through_shared_memory(x):
  """Blocks of an array to shared memory and on to another array; each is given back when it has been read."""

  def body(x_ref, o_ref, blocks, ready):
    for k in range(4):
      block = blocks.at[k % 2]
      if k >= 2:
        plgpu.wait_smem_to_gmem(1, wait_read_only=True)
      plgpu.copy_gmem_to_smem(x_ref.at[k], block, ready)
      plgpu.barrier_wait(ready)
      plgpu.copy_smem_to_gmem(block, o_ref.at[k], commit_group=k < 3)
    plgpu.commit_smem_to_gmem_group()
    plgpu.wait_smem_to_gmem(0)

  scratch = [plgpu.SMEM((2, *x.shape[1:]), x.dtype), plgpu.Barrier()]
  return plgpu.kernel(body, out_type=S(x.shape, x.dtype), scratch_types=scratch)(x)


def test_copies_and_stores_are_ops():
  ops = lowered(through_shared_memory, np.zeros((4, 64, 64), np.float32))
  names = [op.name for op in ops]
  assert names.count("copy_async") == names.count("store_async") == names.count("copy_commit") == 4
  waits = [(op.attrs["pending"], op.attrs["read_only"]) for op in ops if op.name == "copy_wait"]
  assert waits == [(1, True), (1, True), (0, False)]
  assert not {"store", "arrive", "commit_copies", "await_copies"} & set(names)
  x = np.random.default_rng(0).standard_normal((4, 64, 64)).astype(np.float32)
  for arch in ("sm_80", "sm_90a"):
    ((_, native),) = natives(through_shared_memory, x)
    np.testing.assert_array_equal(run(native, x, arch=arch)[0], x)


def test_roles_are_ops_that_name_their_warpgroups():
  ops = lowered(matmul(at_once), A, B)
  assert [op.attrs["groups"] for op in ops if op.name == "warps"] == [((0,), (1,)), ((1,), (0,))]
  assert [op.operands[0].tile.dtype for op in ops if op.name == "switch"] == [np.int32]  # `k >= 2` is no role


def test_the_text_of_the_gpu_level_can_be_read_back():
  ((_, native),) = natives(matmul(one_later), A, B)
  body = lowering.lower(prepared(native), ARCHS["sm_90a"], until="roles").kernel.body
  verify(body, "lowered")
  again = parse(to_text(body))
  verify(again, "lowered")
  assert to_text(again) == to_text(body)


@pytest.mark.parametrize(
  ("change", "says"),
  [
    (lambda op: op.operands.pop(), "one index for each dimension"),
    (lambda op: op.operands.__delitem__(slice(2, None)), "takes a barrier"),
    (lambda op: op.operands.__setitem__(2, op.operands[0]), "must be a barrier"),
  ],
)
def test_a_copy_is_checked(change, says):
  ((_, native),) = natives(matmul(at_once), A, B)
  body = lowering.lower(prepared(native), ARCHS["sm_90a"], until="roles").kernel.body
  change(next(op for op in walk(body.body) if op.name == "copy_async"))
  with pytest.raises(errors.TileError, match=says):
    verify(body, "lowered")


def test_operands_without_transforms_lie_as_tensor_cores_read_them():
  ((_, native),) = natives(matmul(at_once, transforms=()), A, B)
  (found,) = run(native, A, B, arch="sm_90a")
  np.testing.assert_array_equal(found, A.astype(np.float32) @ B.astype(np.float32))
  spaces = {op.operands[0].ref.space for op in lowered(matmul(at_once, transforms=()), A, B) if op.name == "mma"}
  assert spaces == {"acc"}
  loads = [
    op for op in lowered(matmul(at_once, transforms=()), A, B) if op.name == "load" and op.result.tile.dtype == BF16
  ]
  swizzled = {op.operands[0].ref.space for op in loads if op.operands[0].ref.space.startswith("smem")}
  assert swizzled == {"smem.tile-8x64.swizzle-128"}
  ptx, launch = compile_ptx(prepared(natives(matmul(at_once, transforms=()), A, B)[0][1]), "sm_90a")
  assert launch.scratch_bytes == 0 and "cp.async.bulk.tensor" in ptx and "ldmatrix" not in ptx


def line_of(f, text):
  """The file and line of the first line of a function that contains a text."""
  import inspect

  lines, first = inspect.getsourcelines(f)
  return f"test_gpu_level.py:{first + next(n for n, line in enumerate(lines) if text in line)}"


def test_a_slot_that_a_product_still_reads_is_not_released():
  with pytest.raises(errors.RaceError) as e:
    lowered(matmul(too_early), A, B)
  assert line_of(too_early, "wgmma(") in str(e.value) and line_of(too_early, "barrier_arrive") in str(e.value)


def test_what_a_copy_brings_is_waited_for():
  with pytest.raises(errors.RaceError, match="without a barrier_wait") as e:
    lowered(matmul(without_waiting), A, B)
  assert line_of(without_waiting, "wgmma(") in str(e.value) and line_of(matmul, "copy_gmem_to_smem") in str(e.value)


def test_a_tile_in_registers_is_multiplied_from_there():
  """What the user computes stays where it is: it does not go through shared memory."""

  def scaled(acc, a_smem, b_smem, full, empty, k):
    slot = jax.lax.rem(k, 2)
    plgpu.barrier_wait(full.at[slot])
    plgpu.wgmma(acc, (a_smem[slot].astype(F32) * 2).astype(BF16), b_smem.at[slot])
    plgpu.wgmma_wait(0)
    plgpu.barrier_arrive(empty.at[slot])

  ((_, native),) = natives(matmul(scaled), A, B)
  ptx, _ = compile_ptx(prepared(native), "sm_90a")
  assert re.search(r"wgmma\.mma_async[^\n]*\}, \{", ptx)
  ((_, native),) = natives(matmul(scaled), A, B)
  (found,) = run(native, A, B, arch="sm_90a")
  np.testing.assert_array_equal(found, 2 * (A.astype(np.float32) @ B.astype(np.float32)))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bytes_become_floats_exactly(dtype):
  every = np.arange(256, dtype=np.uint8).view(dtype).reshape(2, 128)
  body = lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...].astype(jnp.bfloat16))
  ((_, native),) = natives(lambda x: pl.pallas_call(body, out_shape=S(x.shape, BF16))(x), every)
  (found,) = run(native, every, arch="sm_90a")
  np.testing.assert_array_equal(found.astype(np.float32), every.astype(np.float32))


def test_a_report_shows_the_gpu_level():
  (found,) = report(matmul(at_once), A, B, archs="sm_90a", assemble=False)
  assert "mma_wait" in found.gpu and "mma_wait" not in found.tile and "await_products" in found.tile


def pipelined(a, b, *, steps=3, delay=1, transforms=()):
  """One warpgroup that multiplies what its own copies bring."""

  def body(a_ref, b_ref, o_ref, acc):
    spec = functools.partial(plgpu.BlockSpec, (64, 64), transforms=transforms, delay_release=delay)
    plgpu.emit_pipeline(
      lambda _, a_smem, b_smem: plgpu.wgmma(acc, a_smem, b_smem),
      grid=(a.shape[1] // 64,),
      in_specs=[spec(lambda k: (0, k)), spec(lambda k: (k, 0))],
      max_concurrent_steps=steps,
    )(a_ref, b_ref)
    o_ref[...] = acc[...]

  return plgpu.kernel(body, out_type=S((64, 64), F32), scratch_types=[plgpu.ACC((64, 64))])(a, b)


@pytest.mark.parametrize(("steps", "delay"), [(2, 0), (2, 1), (3, 1), (6, 2)])
def test_a_pipeline_of_one_warpgroup_brings_blocks_ahead(steps, delay):
  program = functools.partial(pipelined, steps=steps, delay=delay)
  wanted = A.astype(np.float32) @ B.astype(np.float32)
  np.testing.assert_array_equal(jax.jit(program)(A, B), wanted)
  for arch in ("sm_80", "sm_90a"):
    ((_, native),) = natives(program, A, B)
    np.testing.assert_array_equal(run(native, A, B, arch=arch)[0], wanted)
  ops = lowered(program, A, B)
  waits = [op.attrs["pending"] for op in ops if op.name == "mma_wait"]
  assert waits == ([delay, 0] if delay else [0])


def test_a_pipeline_waits_for_an_input_where_it_is_first_read():
  """The second product's operand may come while the first runs."""

  def program(a, b):
    def step(_, a_smem, b_smem, a_free, b_free, accs):
      first, second = accs
      plgpu.wgmma(first, a_smem, a_smem)
      plgpu.wgmma_wait(0)
      plgpu.barrier_arrive(a_free)
      plgpu.wgmma(second, b_smem, b_smem)
      plgpu.wgmma_wait(0)
      plgpu.barrier_arrive(b_free)
      return accs

    def body(a_ref, b_ref, o_ref):
      def compute(run):
        def scope(first, second):
          run((first, second))
          o_ref[...] = first[...] + second[...]

        pl.run_scoped(scope, plgpu.ACC((64, 64)), plgpu.ACC((64, 64)))

      spec = functools.partial(plgpu.BlockSpec, (64, 64), transforms=TILED)
      plgpu.emit_pipeline_warp_specialized(
        step,
        grid=(4,),
        memory_registers=40,
        in_specs=[spec(lambda k: (0, k)), spec(lambda k: (k, 0))],
        wg_axis="wg",
        num_compute_wgs=1,
        max_concurrent_steps=2,
        manual_consumed_barriers=True,
        compute_context=compute,
      )(a_ref, b_ref)

    return plgpu.kernel(body, out_type=S((64, 64), F32), num_threads=2, thread_name="wg")(a, b)

  names = [op.name for op in lowered(program, A, B) if op.name in ("mma", "await")]
  assert names[-4:] == ["await", "mma", "await", "mma"]
  ((_, native),) = natives(program, A, B)
  blocks = [A[:, k : k + 64].astype(np.float32) for k in range(0, 256, 64)]
  blocks += [B[k : k + 64].astype(np.float32) for k in range(0, 256, 64)]
  np.testing.assert_array_equal(run(native, A, B, arch="sm_90a")[0], sum(block @ block for block in blocks))


@pytest.mark.parametrize("num_warps", [1, 8])
def test_a_block_of_another_size_than_a_warpgroup_has_its_copies_done_where_they_stand(num_warps):
  x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)

  def body(x_ref, o_ref, buffer, ready):
    plgpu.copy_gmem_to_smem(x_ref, buffer, ready)
    plgpu.barrier_wait(ready)
    o_ref[...] = buffer[...] * 2

  program = plgpu.kernel(body, out_type=S(x.shape, F32), scratch_types=[plgpu.SMEM(x.shape, F32), plgpu.Barrier()])
  ((_, native),) = natives(program, x)
  ptx, launch = compile_ptx(prepared(native), "sm_90a", num_warps=num_warps)
  assert launch.num_threads == 32 * num_warps and "mbarrier" not in ptx

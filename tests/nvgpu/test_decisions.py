"""What passes decide before code is written, and the verifier that looks at it: one rule is broken at a time."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import pytest

from tests.nvgpu import gpu_programs, mosaic_programs
from tests.nvgpu.gpu_level_programs import KERNELS
from tilewright import errors
from tilewright import pallas as pl
from tilewright.target.llvm.math import FUNCTIONS
from tilewright.target.nvgpu.arch import ARCHS
from tilewright.target.nvgpu.emit.ops import arithmetic
from tilewright.target.nvgpu.emit.statements import STATEMENTS
from tilewright.target.nvgpu.passes import block_accesses, elementwise_chains, lowering
from tilewright.target.nvgpu.passes.gpu_kernel import COPY, IN_PLACE, POINTS, STAGED
from tilewright.target.nvgpu.passes.verify_decisions import verify
from tilewright.tile.ir import walk
from tilewright.tile.native import copied_kernel
from tilewright.tile.ops import OPS

S, BF16, F32 = gpu_programs.S, jnp.bfloat16, jnp.float32


@functools.cache
def _native(name):
  function, types = KERNELS[name]
  ((_, native),) = gpu_programs.natives(function, *types)
  return native


def decided(name, arch="sm_90a"):
  found = lowering.lower(copied_kernel(_native(name)), ARCHS[arch])
  verify(found)
  return found


def refused(k, text):
  with pytest.raises(errors.TileError, match=text):
    verify(k)


def products(k):
  return [op for op in walk(k.kernel.body.body) if op.name == "dot"]


@pytest.mark.parametrize(
  ("arch", "kind"), [("sm_80", "mma"), ("sm_90a", "wgmma"), ("sm_100a", "mma"), ("sm_120a", "mma")]
)
def test_a_product_is_told_its_kind(arch, kind):
  assert [op.attrs["kind"] for op in products(decided("product", arch))] == [kind]


def test_a_kernel_that_was_lowered_for_one_architecture_is_lowered_anew_for_another():
  kernel = copied_kernel(_native("product"))
  for arch, kind in (("sm_90a", "wgmma"), ("sm_80", "mma")):
    assert [op.attrs["kind"] for op in products(lowering.lower(kernel, ARCHS[arch]))] == [kind]


def test_a_product_of_too_many_instructions_is_not_for_tensor_cores():
  """They would all be written out; a product of blocks is a loop instead, but these operands are computed."""
  kinds = []
  for k in (256, 4096):
    product = gpu_programs.in_one_block(lambda x, y: jnp.dot(2 * x, 2 * y), S((128, 128), BF16))
    ((_, native),) = gpu_programs.natives(product, S((128, k), BF16), S((k, 128), BF16))
    kinds += [op.attrs["kind"] for op in products(lowering.lower(native, ARCHS["sm_80"]))]
  assert kinds == ["mma", "fma"]


def test_a_kind_that_an_architecture_does_not_have_is_refused():
  refused(
    dataclasses.replace(decided("product"), arch=ARCHS["sm_80"]), "cannot be of the kind 'wgmma'.*multiplies by mma"
  )


def test_a_kind_for_other_shapes_and_dtypes_is_refused():
  k = decided("product")
  (op,) = products(k)
  op.operands = [op.operands[0], k.kernel.body.body.ops[0].result]
  op.attrs = {**op.attrs, "contract": ((1,), (0,))}
  op.result.type = dataclasses.replace(op.result.tile, shape=(64, 60))
  refused(k, "64 x 60 x 64, is not made of whole instructions")
  refused(dataclasses.replace(k, inferred=None), "no layouts were inferred")


def test_ctas_share_out_different_dimensions():
  refused(dataclasses.replace(decided("attention"), parallel=(0, 0)), "cannot share out")
  refused(dataclasses.replace(decided("attention"), parallel=(0, 3)), "cannot share out")


def test_a_pipeline_fits_the_hardware():
  k = decided("product_along_the_grid")
  refused(dataclasses.replace(k, form=POINTS), "has a pipeline")
  refused(dataclasses.replace(k, pipeline=dataclasses.replace(k.pipeline, stages=30)), "are more than shared memory")


def test_scratch_buffers_lie_apart():
  ((_, native),) = gpu_programs.natives(mosaic_programs.multiplied, S((128, 192), BF16), S((192, 64), BF16))
  k = lowering.lower(native, ARCHS["sm_90a"])
  verify(k)
  (first, *_) = [own for own in k.scratch if own is not None and own.place is not None]
  refused(dataclasses.replace(k, scratch=tuple(own and (own.place and first) for own in k.scratch)), "overlap")
  refused(dataclasses.replace(k, scratch=k.scratch[1:]), "places for")


def test_what_is_staged_is_only_read_and_changes():
  k = decided("column_sums")
  assert k.steps.stages == 4 and k.steps.outputs == (0,) and not k.steps.maps
  refused(dataclasses.replace(k, steps=dataclasses.replace(k.steps, stages=1)), "leave none to fill")
  refused(dataclasses.replace(k, steps=dataclasses.replace(k.steps, stages=30)), "do not fit")
  held = dataclasses.replace(k.steps, held=k.steps.inputs, inputs=())
  refused(dataclasses.replace(k, steps=held), "changes along the steps")
  written = dataclasses.replace(k.kernel, input_output_aliases=((0, 0),))
  refused(dataclasses.replace(k, kernel=written), "is written")


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_block_that_its_body_needs_without_edges_is_copied(arch):
  k = decided("best_in_front", arch)
  ((given, made),) = [body.accesses for body in k.bodies]
  assert (given.how, made.how) == (IN_PLACE, COPY) and made.is_written and not given.is_written
  body = dataclasses.replace(k.bodies[0], accesses=(given, dataclasses.replace(made, how=IN_PLACE)))
  refused(dataclasses.replace(k, bodies=(body,)), "hang over the edge")


def test_what_is_staged_is_accessed_there():
  k = decided("column_sums")
  (body,) = k.bodies
  assert [own.how for own in body.accesses] == [STAGED, STAGED]
  refused(dataclasses.replace(k, steps=None), "is not staged|and is not staged")


def test_a_product_along_the_grid_has_a_body_for_its_first_and_its_last_step():
  k = decided("product_along_the_grid")
  names = [[op.name for op in body.block.ops] for body in k.bodies]
  assert len(names) == 3 and len(names[1]) < min(len(names[0]), len(names[2]))


def test_operands_of_a_loop_are_copied_ahead_from_what_no_one_writes():
  k = decided("long_product")
  ((op, loop),) = k.loops.items()
  assert len(loop.operands) == 2 and loop.stages == 2 and k.arena.promised >= loop.nbytes
  assert not decided("long_product", "sm_80").loops
  refused(dataclasses.replace(k, direct=frozenset()), "cannot copy ahead")
  refused(dataclasses.replace(k, loops={op: dataclasses.replace(loop, stages=1)}), "has 1 stages")
  for product in products(k):
    product.attrs = {**product.attrs, "kind": "fma"}
  refused(k, "products of warpgroups alone can read")


@pytest.mark.parametrize(("start", "is_direct"), [(8, True), (4, False)])
def test_rows_that_begin_between_pieces_of_sixteen_bytes_are_not_copied_as_they_are(start, is_direct):
  """Eight elements of bf16 are sixteen bytes."""

  def body(x_ref, y_ref, o_ref):
    def add(i, total):
      return total + jnp.dot(x_ref[:, pl.ds(start * i, 64)], y_ref[...])

    o_ref[...] = jax.lax.fori_loop(0, 4, add, jnp.zeros((64, 64), F32))

  kernel = pl.pallas_call(body, S((64, 64), F32))
  ((_, native),) = gpu_programs.natives(kernel, S((64, 1024), BF16), S((64, 64), BF16))
  k = lowering.lower(native, ARCHS["sm_90a"])
  verify(k)
  names = {op.operands[0] in native.body.params for op in k.direct}
  assert names == ({False, True} if is_direct else {True})


def test_engines_are_those_of_the_architecture():
  k = decided("attention")
  assert sorted(k.steps.maps) == [0, 1, 2]
  without_wgmma = dataclasses.replace(k.arch, has_tma=False)
  refused(dataclasses.replace(k, arch=without_wgmma), "no TMA")
  assert not decided("attention", "sm_80").steps.maps


def test_ops_are_computed_by_element_or_carried_out_in_order():
  others = {"load", "window_load", "yield", "remote", "lock_device", "unlock_device"}
  assert block_accesses.BY_ELEMENT.isdisjoint(STATEMENTS)
  assert set(OPS) == set(STATEMENTS) | block_accesses.BY_ELEMENT | others


def test_functions_without_an_instruction_are_lengthy():
  assert set(FUNCTIONS) - elementwise_chains.LENGTHY <= set(arithmetic.F32_RULES)

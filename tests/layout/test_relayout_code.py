"""The code of a relayout, run on a model of a block: every element arrives. And it is code that LLVM takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import ir

from tests.layout.layouts import examples, register_layouts
from tests.layout.machine import held
from tests.layout.warp import Warps
from tilewright import layout
from tilewright.layout.fragments import MMA, wgmma_accumulator
from tilewright.layout.plan import relayout
from tilewright.target.llvm.types import I32, VOID
from tilewright.target.nvgpu import arch
from tilewright.target.nvgpu.emit.ops.relayout import Device, emit
from tilewright.target.nvgpu.emit.ptx import to_ptx
from tilewright.target.nvgpu.emit.symbolic import Number
from tilewright.target.nvgpu.emit.units import threads


def check(plan):
  machine = Warps(plan.source.num_warps, plan.shared_bytes, plan.bits // 8)
  got = np.stack([np.broadcast_to(v, machine.shape) for v in emit(plan, list(held(plan.source)), machine)])
  wanted = held(plan.target)
  assert got.shape == wanted.shape
  assert (got[wanted >= 0] == wanted[wanted >= 0]).all()


@given(st.data())
@examples(150)
def test_any_layout_becomes_any_other(data):
  source = data.draw(register_layouts())
  target = data.draw(register_layouts(source.shape, source.num_warps))
  check(relayout(source, target, data.draw(st.sampled_from([8, 16, 32, 64])), data.draw(st.booleans())))


MATRIX = {
  "an accumulator to rows": lambda: (layout.repeated(wgmma_accumulator(64), (128, 64), (1, 1)), layout.blocked_for((128, 64), 4, 8)),
  "rows to columns": lambda: (layout.blocked_for((64, 64), 4, 8), layout.transposed(layout.blocked_for((64, 64), 4, 8), (1, 0))),
  "rows to an operand": lambda: (layout.blocked_for((64, 64), 4, 8), layout.repeated(MMA[16, 16].a, (64, 64), (4, 1))),
  "fragments to columns": lambda: (
    layout.repeated(MMA[16, 16].c, (64, 64), (4, 1)), layout.transposed(layout.repeated(MMA[16, 16].c, (64, 64), (4, 1)), (1, 0))
  ),
  "with padding": lambda: (layout.blocked_for((100, 40), 4, 8), layout.blocked_for((100, 40), 4, 1, (0, 1))),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRIX)
@pytest.mark.parametrize("bits", [16, 32])
def test_relayouts_of_kernels(name, bits):
  check(relayout(*MATRIX[name](), bits))


def ptx_of(plan):
  """A kernel that makes registers up, lays them out anew, and writes them."""
  module = ir.Module()
  module.triple = "nvptx64-nvidia-cuda"
  pointer = ir.PointerType(addrspace=1)
  function = ir.Function(module, ir.FunctionType(VOID, [pointer]), "kernel")
  function.calling_convention = "ptx_kernel"
  b = ir.IRBuilder(function.append_basic_block())
  thread = Number(b, threads.thread_id(b), 32 * plan.source.num_warps)
  shared = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), 0), "shared", addrspace=3)
  shared.linkage = "external"
  shared.align = 1024
  buffer = b.inttoptr(b.ptrtoint(shared, ir.IntType(64)), ir.PointerType(addrspace=3))
  kind = ir.IntType(plan.bits)
  registers = [
    b.load(b.gep(function.args[0], [I32(r)], source_etype=kind), typ=kind) for r in range(plan.source.num_registers)
  ]
  warp = thread // 32
  after = emit(
    plan, registers, Device(b, thread % 32, warp if isinstance(warp, Number) else Number(b, I32(0), 1), buffer)
  )
  for r, value in enumerate(after):
    b.store(value, b.gep(function.args[0], [b.add(thread.value, I32(128 * r))], source_etype=kind))
  b.ret_void()
  return to_ptx(str(module), arch.named("sm_90a"))


def test_shuffles_compile():
  m = MMA[8, 32]
  text = ptx_of(relayout(layout.repeated(m.c, (16, 32), (1, 1)), layout.repeated(m.a, (16, 32), (1, 1)), 8))
  # 16 elements of 8 bits: half of them in 2 words by the butterfly, all of them in 4 by the permutation
  assert text.count("shfl.sync.bfly") == 2 and text.count("shfl.sync.idx") == 4 and "ld.shared" not in text


@pytest.mark.parametrize("name", MATRIX)
def test_trips_compile(name):
  plan = relayout(*MATRIX[name](), 16)
  text = ptx_of(plan)
  (trip,) = plan.steps
  assert text.count("bar.sync") + text.count("barrier") >= 2
  kinds = {"vector": ("st.shared", "ld.shared"), "matrix": ("stmatrix", "ldmatrix"), "transposed": ("trans", "trans")}
  assert kinds[trip.store.kind][0] in text and kinds[trip.load.kind][1] in text

"""The functions of layouts emit code for themselves: compiled for the host, it computes what they compute on ints."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import ir

from tests.layout.layouts import examples, register_layouts
from tilewright.layout.shared import Swizzle, shared_tiled
from tilewright.target.nvgpu.emit.symbolic import I32, Number, value_of

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()


def compiled(results, emit):
  """A function of lane and warp that gives some ints, and its LLVM text."""
  module = ir.Module()
  function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I32, I32, I32.as_pointer()]), "f")
  b = ir.IRBuilder(function.append_basic_block())
  lane, warp, out = function.args
  for i, number in enumerate(emit(Number(b, lane, 32), Number(b, warp, 4))):
    b.store(value_of(b, number), b.gep(out, [ir.Constant(I32, i)]))
  b.ret_void()
  machine = llvm.Target.from_default_triple().create_target_machine()
  engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
  engine.finalize_object()
  call = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)(engine.get_function_address("f"))

  def run(lane_id, warp_id):
    memory = (ctypes.c_int * results)()
    call(lane_id, warp_id, ctypes.addressof(memory))
    return list(memory)

  run.engine = engine
  return run, str(module)


@given(st.data())
@examples(60)
def test_coordinates_and_addresses_are_emitted(data):
  of = data.draw(register_layouts(data.draw(st.sampled_from([(32, 16), (8, 48), (24, 32)])), 4))
  bits = data.draw(st.sampled_from([0, 32, 64, 128]))
  shared = shared_tiled(of.shape, data.draw(st.sampled_from([None, (8, 16)])), 16, bits)
  register = data.draw(st.integers(0, of.num_registers - 1))

  def places(lane, warp):
    at = of.coordinates(register=register, lane=lane, warp=warp)
    return [*at, shared.address(at)]

  run, _ = compiled(3, places)
  for lane in range(0, 32, 3):
    for warp in range(4):
      assert run(lane, warp) == places(lane, warp)


@given(st.permutations(range(10)), st.integers(0, 5))
@examples(30)
def test_swizzles_are_emitted(bits, count):
  swizzle = Swizzle(tuple(zip(bits[:count], bits[5 : 5 + count])))
  run, _ = compiled(1, lambda lane, warp: [swizzle(lane * 32 + warp * 8)])
  for lane in range(32):
    assert run(lane, lane % 4) == [swizzle(lane * 32 + lane % 4 * 8)]


def test_what_is_known_needs_no_code():
  """A lane is below 32: a quarter of it is below 8, and 32 of it are none."""
  _, text = compiled(3, lambda lane, warp: [lane // 4 % 8, lane // 32, lane % 32])
  body = [line for line in text.splitlines() if "=" in line and "getelementptr" not in line and "target" not in line]
  assert sum("lshr" in line for line in body) == 1
  assert not any(word in line for line in body for word in ("urem", "udiv", " and "))

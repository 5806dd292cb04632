"""The code that is generated: any number of lanes, no library behind it, on every target."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest
import ulp
from llvmlite import ir

from tilewright.target.llvm import math, types


def _module(name: str, kind: str, lanes: int) -> str:
  element = ulp.ELEMENTS[kind]
  ty = ir.VectorType(element, lanes) if lanes > 1 else element
  module = ir.Module(name)
  function = ir.Function(module, ir.FunctionType(ty, [ty] * math.FUNCTIONS[name].arity), "f")
  b = ir.IRBuilder(function.append_basic_block())
  b.ret(math.emit(name, b, *function.args))
  return str(module)


@pytest.mark.parametrize("name", ["exp", "sin", "pow", "rem", "lgamma"])
def test_a_lane_does_not_depend_on_the_number_of_lanes(name: str) -> None:
  rng = np.random.default_rng(0)
  arrays = [rng.integers(0, 2**32, 1000, dtype=np.uint32).view(np.float32) for _ in range(math.FUNCTIONS[name].arity)]
  want = ulp.compiled(name, "f32", 1)(*arrays)
  for lanes in (3, 64):
    np.testing.assert_array_equal(ulp.compiled(name, "f32", lanes)(*arrays), want)


def test_one_definition_per_type_in_a_module() -> None:
  module = ir.Module("m")
  function = ir.Function(module, ir.FunctionType(types.F32, [types.F32]), "f")
  b = ir.IRBuilder(function.append_basic_block())
  b.ret(math.emit("exp", b, math.emit("exp", b, function.args[0])))
  assert str(module).count("define internal") == 1


def _called(text: str) -> set[str]:
  return set(re.findall(r"^declare [^@]*@\"?([\w.]+)", text, re.MULTILINE))


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", sorted(math.FUNCTIONS))
def test_only_plain_intrinsics_are_called(name: str, kind: str) -> None:
  plain = ("fma", "fabs", "sqrt", "floor", "trunc", "copysign", "ctlz", "vector.reduce.or", "expect")
  text = _module(name, kind, 8)
  assert re.search("^define ", text, re.MULTILINE)
  for callee in _called(text):
    assert callee.startswith(tuple(f"llvm.{p}." for p in plain)), callee


def _assembly(text: str, triple: str, cpu: str, features: str = "") -> str:
  llvm.initialize_all_targets()
  llvm.initialize_all_asmprinters()
  machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=2)
  module = llvm.parse_assembly(text)
  module.triple, module.data_layout = triple, str(machine.target_data)
  builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
  builder.getModulePassManager().run(module, builder)
  return machine.emit_assembly(module)


TARGETS = {
  "avx2": ("x86_64-unknown-linux-gnu", "haswell", "", 8),
  "avx512": ("x86_64-unknown-linux-gnu", "skylake-avx512", "", 16),
  "neon": ("aarch64-unknown-linux-gnu", "neoverse-n1", "", 4),
  "ptx": ("nvptx64-nvidia-cuda", "sm_90a", "+ptx84", 1),
}


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_no_target_needs_a_library(target: str) -> None:
  """Every function is in machine code by itself: nothing is left to call."""
  triple, cpu, features, lanes = TARGETS[target]
  assert math.FUNCTIONS
  for name in sorted(math.FUNCTIONS):
    assembly = _assembly(_module(name, "f32", lanes), triple, cpu, features)
    if target == "ptx":
      assert ".extern" not in assembly, name
      continue
    defined = set(re.findall(r"^\"?([\w.]+)\"?:", assembly, re.MULTILINE))
    called = set(re.findall(r"^\t(?:callq?|bl|jmp|b)[ \t]+\"?([A-Za-z_.][\w.]*)\"?", assembly, re.MULTILINE))
    outside = {c for c in called if c not in defined and not c.startswith(("llvm", ".L"))}
    assert not outside, (name, outside)


def test_exp_is_short() -> None:
  """exp is in the inner loops of softmax and attention: 18 vector operations and no branch."""
  triple, cpu, features, lanes = TARGETS["avx512"]
  assembly = _assembly(_module("exp", "f32", lanes), triple, cpu, features)
  arithmetic = re.findall(r"^\tv(?:f|min|max|add|sub|mul|ps|p(?:s|add|sub))\w+", assembly, re.MULTILINE)
  assert len(arithmetic) <= 18, arithmetic
  assert not re.findall(r"^\tj\w+", assembly, re.MULTILINE)

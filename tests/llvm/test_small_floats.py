"""Conversions of small floats: every code, and the neighbourhood of every rounding boundary, as ml_dtypes defines them."""

from __future__ import annotations

import ctypes

import llvmlite.binding as llvm
import ml_dtypes
import numpy as np
import pytest
from llvmlite import ir

from tilewright.runtime import jit, linking
from tilewright.target.llvm import types as ty
from tilewright.target.llvm.small_floats import decode, encode
from tilewright.tile.formats import SMALL_FLOATS

NAMES = sorted(SMALL_FLOATS)
WIDE = {"f32": (ty.F32, np.float32, np.uint32), "f64": (ty.F64, np.float64, np.uint64)}


def _loop(make, source: ir.Type, target: ir.Type, lanes: int):
  """A compiled function that converts arrays whose length is a multiple of `lanes`."""
  module = ir.Module("m")
  function = ir.Function(module, ir.FunctionType(ty.VOID, [ty.PTR, ty.PTR, ty.I64]), "f")
  from tilewright.target.llvm.loops import for_range

  b = ir.IRBuilder(function.append_basic_block("entry"))
  into, out, count = function.args
  with for_range(b, 0, count, lanes) as i:
    vector = (lambda t: t) if lanes == 1 else (lambda t: ir.VectorType(t, lanes))
    x = b.load(b.gep(into, [i], source_etype=source), typ=vector(source), align=1)
    b.store(make(b, x), b.gep(out, [i], source_etype=target), align=1)
  b.ret_void()
  engine = linking.link(jit.object_code(str(module)))
  call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(engine.address("f"))

  def run(array: np.ndarray, dtype) -> np.ndarray:
    padded = np.concatenate([array, np.zeros(-array.size % lanes, array.dtype)])
    result = np.zeros(padded.size, dtype)
    call(padded.ctypes.data, result.ctypes.data, padded.size)
    return result[: array.size]

  run.engine = engine
  return run


def _dtype(name: str) -> np.dtype:
  return np.dtype(getattr(ml_dtypes, name))


def _codes(name: str) -> np.ndarray:
  return np.arange(1 << SMALL_FLOATS[name].width, dtype=np.uint8)


@pytest.mark.parametrize("kind", sorted(WIDE))
@pytest.mark.parametrize("name", NAMES)
def test_every_code_decodes_to_its_number(name, kind):
  element, wide, _ = WIDE[kind]
  got = _loop(lambda b, x: decode(b, x, SMALL_FLOATS[name], element), ty.I8, element, 16)(_codes(name), wide)
  want = _codes(name).view(_dtype(name)).astype(wide)
  np.testing.assert_array_equal(got, want)
  np.testing.assert_array_equal(np.signbit(got[~np.isnan(want)]), np.signbit(want[~np.isnan(want)]))


def _interesting(name: str, wide, bits) -> np.ndarray:
  """Every number of the format, every midpoint, and their neighbours; beyond both ends; special values; random bits."""
  numbers = _codes(name).view(_dtype(name)).astype(np.float64)
  finite = np.unique(numbers[np.isfinite(numbers)])
  step = finite[-1] - finite[-2]
  points = np.concatenate(
    [
      finite,
      (finite[1:] + finite[:-1]) / 2,
      finite[-1] + step * np.asarray([0.25, 0.5, 0.75, 1, 2, 4]),
      -(finite[-1] + step * np.asarray([0.25, 0.5, 0.75, 1, 2, 4])),
      [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 1e-41, 1e-45, 1e30, 1.0],
    ]
  )
  with np.errstate(over="ignore"):
    raw = points.astype(wide).view(bits)
  random = np.random.default_rng(0).integers(0, np.iinfo(bits).max, 100_000, bits)
  near = np.random.default_rng(1).normal(size=50_000) * np.exp2(np.random.default_rng(2).uniform(-20, 20, 50_000))
  return np.concatenate([raw, raw + bits(1), raw - bits(1), random, near.astype(wide).view(bits)]).view(wide)


def _rounded_to_odd(x: np.ndarray) -> np.ndarray:
  """As f32, for ml_dtypes, which rounds f64 twice: what is cut off leaves its mark in the last bit, so no midpoint is made up."""
  if x.dtype == np.float32:
    return x
  y = x.astype(np.float32)
  y = np.where(np.abs(y.astype(np.float64)) > np.abs(x), np.nextafter(y, np.float32(0)), y)
  inexact = (y.astype(np.float64) != x) & ~np.isnan(x)
  return (y.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)


@pytest.mark.parametrize("kind", sorted(WIDE))
@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_rounded_once_to_nearest_even(name, kind):
  element, wide, bits = WIDE[kind]
  x = _interesting(name, wide, bits)
  with np.errstate(all="ignore"):
    if name == "float8_e8m0fnu":  # zero is NaN there, so what f32 does not hold has no better definition than f32's
      x = x.astype(np.float32).astype(wide)
    want = _rounded_to_odd(x).astype(_dtype(name)).view(np.uint8)
  if name == "float4_e2m1fn":
    want = np.where(np.isnan(x), 8, want)  # XLA's choice; ml_dtypes keeps the sign
  got = _loop(lambda b, v: encode(b, v, SMALL_FLOATS[name]), element, ty.I8, 16)(x, np.uint8)
  np.testing.assert_array_equal(got, want)


def test_a_lane_does_not_depend_on_the_number_of_lanes():
  x = _interesting("float8_e4m3fn", np.float32, np.uint32)[-1000:]
  form = SMALL_FLOATS["float8_e4m3fn"]
  results = [_loop(lambda b, v: encode(b, v, form), ty.F32, ty.I8, lanes)(x, np.uint8) for lanes in (1, 3, 64)]
  for other in results[1:]:
    np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize(
  "triple, cpu", [("x86_64-unknown-linux-gnu", "haswell"), ("aarch64-unknown-linux-gnu", "neoverse-n1")]
)
def test_conversions_are_vector_code_without_calls(triple, cpu):
  llvm.initialize_all_targets()
  llvm.initialize_all_asmprinters()
  module = ir.Module("m")
  vector = ir.VectorType(ty.F32, 16)
  for name in NAMES:
    function = ir.Function(module, ir.FunctionType(vector, [vector]), name)
    b = ir.IRBuilder(function.append_basic_block())
    b.ret(decode(b, encode(b, function.args[0], SMALL_FLOATS[name]), SMALL_FLOATS[name], ty.F32))
  parsed = llvm.parse_assembly(str(module))
  machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2)
  parsed.triple, parsed.data_layout = triple, str(machine.target_data)
  assembly = machine.emit_assembly(parsed)
  assert "\tcall" not in assembly and "\tbl\t" not in assembly
  assert "pextr" not in assembly and "cvttss" not in assembly  # no lane is converted by itself

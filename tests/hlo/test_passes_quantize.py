"""The calls that quantise and dequantise: expansion and kernel give the bits of the definition, of whatever numbers."""

from __future__ import annotations

import logging

import ml_dtypes
import numpy as np
import pytest

from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.block_scaling import BlockScaling

ELEMENTS = ["f4e2m1fn", "f8e4m3fn", "f8e5m2", "f8e4m3", "f8e3m4", "f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz"]
SCALES = [*(e for e in ELEMENTS if e != "f4e2m1fn"), "f8e8m0fnu", "bf16", "f16", "f32"]
BLOCK = 16


def numbers(rows=24, columns=64):
  """All bit patterns, blocks of every magnitude, numbers of few bits (ties), subnormal ones, zeros, infinities and NaNs."""
  rng = np.random.default_rng(0)
  power = lambda low, high: rng.integers(low, high, (rows, columns // BLOCK)).repeat(BLOCK, 1)
  normal = lambda: rng.standard_normal((rows, columns))
  special = normal().astype(np.float32)
  for n, value in enumerate([0.0, -0.0, np.inf, np.nan, -np.inf, -np.nan, 3e38, 1e-45]):
    special[2 * n], special[2 * n + 1, ::11] = value, value
  return np.concatenate(
    [
      rng.integers(0, 1 << 32, (rows, columns), dtype=np.uint64).astype(np.uint32).view(np.float32),
      np.ldexp(normal(), power(-149, 127)).astype(np.float32),
      np.ldexp(rng.integers(-64, 65, (rows, columns)), power(-12, 4)).astype(np.float32),
      np.ldexp(rng.integers(-4096, 4097, (rows, columns)), power(-12, 4)).astype(np.float32),
      np.ldexp(normal(), power(-130, -100)).astype(np.float32),
      rng.integers(0, 1 << 23, (rows, columns)).astype(np.uint32).view(np.float32),
      special,
    ]
  )


def call(element, scale, shape, kind="f32"):
  rows, columns = shape
  result = f"({element}[{rows},{columns}], {scale}[{rows},{columns // BLOCK}])"
  text = f'ENTRY e {{ x = {kind}[{rows},{columns}] parameter(0)\n ROOT q = {result} custom-call(x), custom_call_target="__op$quantize" }}'
  return hlo.parse(text)


def assert_same_bits(got, want):
  """NaNs may have either sign."""
  got, want = np.ascontiguousarray(got), np.ascontiguousarray(want)
  both = np.isnan(got.astype(np.float32)) & np.isnan(want.astype(np.float32))
  bits = f"u{want.dtype.itemsize}"
  np.testing.assert_array_equal(np.where(both, 0, got.view(bits)), np.where(both, 0, want.view(bits)))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_expansion_of_quantize_has_the_bits_of_its_definition(element):
  x = numbers()
  for scale in SCALES:
    module = call(element, scale, x.shape)
    want = hlo.evaluate(module, x)
    run_passes(module, ["block_scaling{only=expansion}"], strict=True, verify=True)
    assert all(i.opcode != "custom-call" for i in module.instructions())
    for a, b in zip(hlo.evaluate(module, x), want):
      assert_same_bits(a, b)


@pytest.mark.parametrize("kind", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_of_sixteen_bits_are_quantised_as_they_are(kind):
  x = np.arange(1 << 16, dtype=np.uint16).reshape(-1, 256).view(kind)
  module = call("f8e4m3fn", "f8e8m0fnu", x.shape, {"bfloat16": "bf16", "float16": "f16"}[np.dtype(kind).name])
  want = hlo.evaluate(module, x)
  run_passes(module, ["block_scaling{only=expansion,platform=cuda}"], strict=True, verify=True)
  for a, b in zip(hlo.evaluate(module, x), want):
    assert_same_bits(a, b)


@pytest.mark.parametrize("only", ["kernel", "expansion"])
@pytest.mark.parametrize("element, scale", [("f8e4m3fn", "f8e8m0fnu"), ("f4e2m1fn", "f8e4m3fn"), ("f8e5m2", "bf16")])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_inside_of_xla_quantize_has_the_bits_of_its_definition(element, scale, only, caplog):
  """Which flushes subnormal numbers to zero on the CPU."""
  import jax

  from tilewright import numerics  # noqa: F401  which offers its kernels

  x = numbers()
  want = hlo.evaluate(call(element, scale, x.shape), x)
  shapes = [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in want]
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"), hlo.install(BlockScaling(only=only)):
    got = jax.jit(lambda x: jax.ffi.ffi_call("__op$quantize", shapes)(x))(x)
  assert f": {only} (" in caplog.text
  for a, b in zip(got, want):
    assert_same_bits(np.asarray(a), b)


def dequantizing(element, scale, target, shape):
  rows, columns = shape
  text = f"""ENTRY e {{ a = {element}[{rows},{columns}] parameter(0)
    s = {scale}[{rows},{columns // BLOCK}] parameter(1)
    ROOT q = {target}[{rows},{columns}] custom-call(a, s), custom_call_target="__op$dequantize" }}"""
  return hlo.parse(text)


def patterns(element_type, shape):
  """Any bits."""
  dtype, bits = hlo.Shape.array(element_type).dtype, hlo.dtypes.PRIMITIVE_TYPES[element_type].bits
  drawn = np.random.default_rng(len(element_type)).integers(0, 1 << bits, shape, dtype=np.uint64)
  return drawn.astype(f"u{dtype.itemsize}").view(dtype)


@pytest.mark.parametrize("target", ["f32", "bf16", "f16", "f8e5m2"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_expansion_of_dequantize_has_the_bits_of_its_definition(target):
  for element in ("f4e2m1fn", "f8e4m3fn", "f8e3m4", "f8e5m2fnuz", "s8", "f32"):
    for scale in ("f8e8m0fnu", "f8e4m3fn", "f8e5m2fnuz", "bf16", "f32"):
      module = dequantizing(element, scale, target, (128, 64))
      args = patterns(element, (128, 64)), patterns(scale, (128, 4))
      want = hlo.evaluate(module, *args)
      run_passes(module, ["block_scaling{only=expansion}"], strict=True, verify=True)
      assert_same_bits(hlo.evaluate(module, *args), want)


@pytest.mark.parametrize("only", ["kernel", "expansion"])
@pytest.mark.parametrize("element, scale, target", [("f8e5m2", "f8e8m0fnu", "bf16"), ("s8", "f32", "f32")])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_inside_of_xla_dequantize_has_the_bits_of_its_definition(element, scale, target, only, caplog):
  """Scales that are subnormal numbers, and products that are, among them."""
  import jax

  from tilewright import numerics  # noqa: F401  which offers its kernels

  args = patterns(element, (512, 64)), patterns(scale, (512, 4))
  want = hlo.evaluate(dequantizing(element, scale, target, (512, 64)), *args)
  shape = jax.ShapeDtypeStruct(want.shape, want.dtype)
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"), hlo.install(BlockScaling(only=only)):
    got = jax.jit(lambda *args: jax.ffi.ffi_call("__op$dequantize", shape)(*args))(*args)
  assert f": {only} (" in caplog.text
  assert_same_bits(np.asarray(got), want)

"""The pass block_scaling: what it recognises, what it chooses and why, and that values stay."""

from __future__ import annotations

import logging

import ml_dtypes
import numpy as np
import pytest

from tilewright import errors, hlo
from tilewright.hlo.passes import block_scaling, run_passes
from tilewright.hlo.passes.block_scaling_facts import Facts, Tile, check_resources
from tilewright.runtime import offers

MXFP8 = """ENTRY e {
  x = f8e4m3fn[2,5,64] parameter(0)
  y = f8e4m3fn[2,7,64] parameter(1)
  sx = f8e8m0fnu[2,5,2] parameter(2)
  sy = f8e8m0fnu[2,7,2] parameter(3)
  g = f32[] parameter(4)
  ROOT d = f32[2,5,7] custom-call(x, y, sx, sy, g), custom_call_target="__op$block_scaled_dot" }"""

PATTERN = """ENTRY e {
  x = f8e4m3fn[2,5,64] parameter(0)
  y = f8e5m2[2,7,64] parameter(1)
  sx = f8e8m0fnu[2,5,2] parameter(2)
  sy = f8e8m0fnu[2,7,2] parameter(3)
  a = f32[2,5,64] convert(x)
  b = f32[2,7,64] convert(y)
  s = f32[2,5,2] convert(sx)
  t = f32[2,7,2] convert(sy)
  sb = f32[2,5,2,32] broadcast(s), dimensions={0,1,2}
  tb = f32[2,7,2,32] broadcast(t), dimensions={0,1,2}
  sw = f32[2,5,64] reshape(sb)
  tw = f32[2,7,64] reshape(tb)
  l = f32[2,5,64] multiply(a, sw)
  r = f32[2,7,64] multiply(tw, b)
  ROOT d = f32[2,5,7] dot(l, r), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2} }"""


def operands(right=ml_dtypes.float8_e4m3fn, whole=True):
  rng = np.random.default_rng(0)
  x, y = (rng.standard_normal(s).astype(t) for s, t in (((2, 5, 64), ml_dtypes.float8_e4m3fn), ((2, 7, 64), right)))
  sx, sy = (rng.integers(120, 130, s).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu) for s in ((2, 5, 2), (2, 7, 2)))
  return (x, y, sx, sy, np.float32(3)) if whole else (x, y, sx, sy)


def targets(module):
  return [i.attrs["custom_call_target"] for i in module.instructions() if i.opcode == "custom-call"]


def close(got, want, k=64):
  scale = np.max(np.abs(want.astype(np.float64)))
  assert np.max(np.abs(got.astype(np.float64) - want)) <= (k + 8) * 2.0**-24 * scale * 4


@pytest.fixture
def no_kernels(monkeypatch):
  offers.take("block_scaling")
  monkeypatch.setattr(block_scaling, "KERNELS", {})


def test_the_expansion_computes_the_same(no_kernels):
  module = hlo.parse(MXFP8)
  want = hlo.evaluate(module, *operands())
  run_passes(module, ["block_scaling"], strict=True, verify=True)
  assert not targets(module)
  close(hlo.evaluate(module, *operands()), want)


def test_a_dot_of_scaled_operands_is_recognised(no_kernels):
  module = hlo.parse(PATTERN)
  want = hlo.evaluate(module, *operands(ml_dtypes.float8_e5m2, whole=False))
  pass_ = "block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.12}"
  run_passes(module, [pass_, "dce"], strict=True, verify=True)
  assert targets(module) == ["__cudnn$blockScaledDot"]
  library = lambda i, v: np.zeros(i.shape.dimensions, i.shape.dtype)
  args = operands(ml_dtypes.float8_e5m2, whole=False)
  assert hlo.evaluate(module, *args, custom_calls={"__cudnn$blockScaledDot": library}).shape == want.shape


ONE_SIDE = """ENTRY e {
  x = bf16[3,5,64] parameter(0)
  y = s8[3,7,64] parameter(1)
  sy = f32[3,7,2] parameter(2)
  a = f32[3,5,64] convert(x)
  b = f32[3,7,64] convert(y)
  tb = f32[3,7,2,32] broadcast(sy), dimensions={0,1,2}
  tw = f32[3,7,64] reshape(tb)
  r = f32[3,7,64] multiply(b, tw)
  ROOT d = f32[%s] dot(%s), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2} }"""


@pytest.mark.parametrize("operands, shape", [("a, r", "3,5,7"), ("r, a", "3,7,5")])
def test_a_dot_with_one_scaled_side_is_recognised(operands, shape, no_kernels, caplog):
  """Weights alone, on either side; the other operand stays as it is."""
  module = hlo.parse(ONE_SIDE % (shape, operands))
  rng = np.random.default_rng(2)
  x, scales = (
    rng.standard_normal((3, 5, 64)).astype(ml_dtypes.bfloat16),
    rng.standard_normal((3, 7, 2)).astype(np.float32),
  )
  args = x, rng.integers(-128, 128, (3, 7, 64)).astype(np.int8), scales
  want = hlo.evaluate(module, *args)
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"):
    run_passes(module, ["block_scaling", "dce"], strict=True, verify=True)
  assert "block_scaled_dot %custom-call: expansion" in caplog.text
  close(hlo.evaluate(module, *args), want)


def test_a_global_scale_that_the_library_does_not_take_is_not_rounded(no_kernels):
  """Multiplied afterwards, it is a float32, though the result is a bf16: 1 + 2^-20 of it would be lost otherwise."""
  module = hlo.parse(MXFP8.replace("ROOT d = f32", "ROOT d = bf16"))
  run_passes(module, ["block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.10}"], strict=True, verify=True)
  library = lambda i, v: np.full(i.shape.dimensions, 255.49, i.shape.dtype)
  *arrays, _ = operands()
  got = hlo.evaluate(module, *arrays, np.float32(1 / 255.49), custom_calls={"__cudnn$blockScaledDot": library})
  assert (got.astype(np.float32) == 1).all()


@pytest.mark.parametrize("option", ["platform=gpu", "only=kernels"])
def test_an_option_that_does_not_exist_is_refused(option):
  with pytest.raises(ValueError, match="must be one of"):
    run_passes(hlo.parse(MXFP8), [f"block_scaling{{{option}}}"])


@pytest.mark.parametrize(
  "version, calls, inside",
  [("9.9", False, None), ("9.10", True, False), ("9.12.1", True, False), ("9.13", True, True), ("10.0", True, True)],
)
def test_the_library_is_gated_on_its_version(no_kernels, version, calls, inside):
  module = hlo.parse(MXFP8)
  run_passes(module, [f"block_scaling{{platform=cuda,compute_capability=10.0,cudnn={version}}}"], verify=True)
  found = [i for i in module.instructions() if i.opcode == "custom-call"]
  assert bool(found) == calls
  if calls:
    assert len(found[0].operands) == (5 if inside else 4)
    assert found[0].shape.dimensions == (2, 128, 128)


def test_the_library_gets_padded_and_swizzled_scales(no_kernels):
  """Undoing the order gives the call's value, so the library sees every scale where it expects it."""
  module = hlo.parse(MXFP8)
  want = hlo.evaluate(module, *operands())
  run_passes(module, ["block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.13.0}"], verify=True)

  def library(instruction, values):
    x, y, sx, sy, whole = values

    def plain(s):
      n, r, c = s.shape
      s = s.reshape(n, r // 128, c // 4, 32, 4, 4).transpose(0, 1, 4, 3, 2, 5).reshape(n, r, c)
      return np.repeat(s[:, :, :2].astype(np.float64), 32, axis=-1)

    left, right = (z.astype(np.float64) * plain(s) for z, s in ((x, sx), (y, sy)))
    return (np.einsum("bmk,bnk->bmn", left, right) * whole).astype(np.float32)

  close(hlo.evaluate(module, *operands(), custom_calls={"__cudnn$blockScaledDot": library}), want)


def test_two_f8e5m2_are_refused_by_the_library(no_kernels, caplog):
  text = MXFP8.replace("f8e4m3fn", "f8e5m2")
  module = hlo.parse(text)
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"):
    run_passes(module, ["block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.13.0}"])
  assert not targets(module)
  assert "block_scaled_dot %d: expansion (native instructions: no kernel" in caplog.text
  assert "library: cuDNN has no block-scaled dot of f8e5m2 and f8e5m2" in caplog.text


@pytest.mark.parametrize("element, scale, block", [("f8e4m3fn", "f8e8m0fnu", 32), ("f4e2m1fn", "f8e4m3fn", 16)])
def test_quantize_and_dequantize_expand(no_kernels, element, scale, block):
  n = 64 // block
  text = f"""ENTRY e {{
    x = f32[3,64] parameter(0)
    q = ({element}[3,64], {scale}[3,{n}]) custom-call(x), custom_call_target="__op$quantize"
    d = {element}[3,64] get-tuple-element(q), index=0
    s = {scale}[3,{n}] get-tuple-element(q), index=1
    ROOT r = f32[3,64] custom-call(d, s), custom_call_target="__op$dequantize" }}"""
  x = np.random.default_rng(1).standard_normal((3, 64)).astype(np.float32)
  module = hlo.parse(text)
  before = hlo.evaluate(module, x)
  run_passes(module, ["block_scaling"], strict=True, verify=True)
  after = hlo.evaluate(module, x)
  assert not targets(module)
  np.testing.assert_array_equal(after, before)
  coarsest = np.abs(x).reshape(3, n, block).max(-1) * (0.51 if element.startswith("f4") else 0.13)
  assert (np.abs(after - x).reshape(3, n, block) <= coarsest[..., None]).all()


def test_a_tile_that_does_not_fit_names_what_to_lower():
  facts = Facts("cuda", 10.0, "9.13")
  check_resources(facts, Tile(128, 4))
  with pytest.raises(
    errors.ResourceExhaustedError,
    match=r"524 columns of tensor memory, and cuda 10.0 has 512. Lower tile_n to 248",
  ):
    check_resources(facts, Tile(256, 4))
  with pytest.raises(
    errors.ResourceExhaustedError, match=r"10 stages .* need 348,160 bytes of shared memory.*Lower stages to 6"
  ):
    check_resources(facts, Tile(128, 10))


def test_a_registered_kernel_is_chosen_before_the_expansion(monkeypatch):
  made = hlo.parse(
    """ENTRY k { x = f8e4m3fn[2,5,64] parameter(0)
      y = f8e4m3fn[2,7,64] parameter(1)
      sx = f8e8m0fnu[2,5,2] parameter(2)
      sy = f8e8m0fnu[2,7,2] parameter(3)
      g = f32[] parameter(4)
      ROOT c = f32[2,5,7] custom-call(x, y, sx, sy, g), custom_call_target="mine" }"""
  )
  monkeypatch.setattr(block_scaling, "KERNELS", {("cpu", "block_scaled_dot"): lambda instruction: made})
  module = hlo.parse(MXFP8)
  run_passes(module, ["block_scaling"], verify=True)
  assert targets(module) == ["mine"]


def test_inside_of_xla_the_call_becomes_a_native_kernel():
  """XLA's CPU back end does not know the custom call: with the pass installed, a program with it runs."""
  import jax
  import jax.numpy as jnp

  from tilewright import numerics

  rng = np.random.default_rng(2)
  x, y = (jnp.asarray(rng.standard_normal((1, n, 64)), jnp.float32) for n in (4, 6))
  a, b = (numerics.quantize(z, "mxfp8") for z in (x, y))
  shape = jax.ShapeDtypeStruct((1, 4, 6), jnp.float32)
  call = lambda *args: jax.ffi.ffi_call("__op$block_scaled_dot", shape)(*args)
  with hlo.install("block_scaling"):
    got = jax.jit(call)(a.data, b.data, a.scales, b.scales)
    one_side = jax.jit(call)(a.data, y, a.scales)
  left, right = (np.asarray(q.dequantize(), np.float64) for q in (a, b))
  close(np.asarray(got), np.einsum("bmk,bnk->bmn", left, right))
  close(np.asarray(one_side), np.einsum("bmk,bnk->bmn", left, np.asarray(y, np.float64)))

"""The pass block_scaling: what it recognises, what it chooses and why, and that values stay."""

from __future__ import annotations

import logging

import ml_dtypes
import numpy as np
import pytest

from tilewright import errors, hlo
from tilewright.hlo.builder import Builder
from tilewright.hlo.evaluate.custom_calls import CUSTOM_CALLS
from tilewright.hlo.passes import block_scaling, run_passes
from tilewright.hlo.passes.base import compiling_for
from tilewright.hlo.passes.block_scaling_facts import Facts, Tile, check_resources
from tilewright.hlo.passes.manager import PassFailed
from tilewright.runtime import cuda, plugins

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


def library(instruction, values):
  """The library's dot, as it is documented: scales are in the order of tensor cores."""
  x, y, sx, sy, whole = values

  def plain(s):
    n, r, c = s.shape
    s = s.reshape(n, r // 128, c // 4, 32, 4, 4).transpose(0, 1, 4, 3, 2, 5).reshape(n, r, c)
    return np.repeat(s[:, :, :2].astype(np.float64), 32, axis=-1)

  left, right = (z.astype(np.float64) * plain(s) for z, s in ((x, sx), (y, sy)))
  return (np.einsum("bmk,bnk->bmn", left, right) * whole).astype(np.float32), np.zeros(0, np.uint8)


@pytest.fixture
def no_kernels(monkeypatch):
  plugins.load("block_scaling")
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
  library = lambda i, v: tuple(np.zeros(s.dimensions, s.dtype) for s in i.shape.tuple_shapes)
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
  assert "block_scaled_dot %d: expansion" in caplog.text
  close(hlo.evaluate(module, *args), want)


def as_call(instruction):
  """A kernel that the evaluator knows: what it computes is the definition."""
  b = Builder("kernel")
  operands = [b.parameter(operand.shape) for operand in instruction.operands]
  return b.module(b.op("custom-call", operands, instruction.shape, custom_call_target="definition"))


@pytest.fixture
def a_kernel(monkeypatch, no_kernels):
  monkeypatch.setitem(block_scaling.KERNELS, ("cpu", "block_scaled_dot"), as_call)
  monkeypatch.setitem(CUSTOM_CALLS, "definition", CUSTOM_CALLS["__op$block_scaled_dot"])


# How w[n, k] and s[n, k / 32] become d, the right operand of a dot.
SPELLINGS = {
  "w.reshape(n, -1, 32) * s[..., None]": """wf = f32[6,96] convert(w)  wr = f32[6,3,32] reshape(wf)
    sb = f32[6,3,32] broadcast(sf), dimensions={0,1}  p = f32[6,3,32] multiply(wr, sb)  d = f32[6,96] reshape(p)""",
  "elements split before they are converted": """wr = s8[6,3,32] reshape(w)  wf = f32[6,3,32] convert(wr)
    sb = f32[6,3,32] broadcast(sf), dimensions={0,1}  p = f32[6,3,32] multiply(sb, wf)  d = f32[6,96] reshape(p)""",
  "(w * s).T": """wf = f32[6,96] convert(w)  sb = f32[6,3,32] broadcast(sf), dimensions={0,1}  sr = f32[6,96] reshape(sb)
    p = f32[6,96] multiply(wf, sr)  d = f32[96,6] transpose(p), dimensions={1,0}""",
  "rounded to bf16": """wf = f32[6,96] convert(w)  sb = f32[6,3,32] broadcast(sf), dimensions={0,1}  sr = f32[6,96] reshape(sb)
    p = f32[6,96] multiply(wf, sr)  h = bf16[6,96] convert(p)  d = f32[6,96] convert(h)""",
  "with a scale for all": """wf = f32[6,96] convert(w)  sb = f32[6,3,32] broadcast(sf), dimensions={0,1}  sr = f32[6,96] reshape(sb)
    p = f32[6,96] multiply(wf, sr)  c = f32[] constant(0.5)  cb = f32[6,96] broadcast(c), dimensions={}  d = f32[6,96] multiply(cb, p)""",
  "the custom call": """d = f32[6,96] custom-call(w, sf), custom_call_target="__op$dequantize" """,
  "cut to 80 elements": """wf = f32[6,96] convert(w)  sb = f32[6,3,32] broadcast(sf), dimensions={0,1}  sr = f32[6,96] reshape(sb)
    p = f32[6,96] multiply(wf, sr)  d = f32[6,80] slice(p), slice={[0:6], [0:80]}""",
  "contracted along both parts": """wf = f32[6,96] convert(w)  wr = f32[6,3,32] reshape(wf)
    sb = f32[6,3,32] broadcast(sf), dimensions={0,1}  d = f32[6,3,32] multiply(wr, sb)""",
}
OTHERS = {
  "scales that follow k % 3": """wf = f32[6,96] convert(w)  sb = f32[6,32,3] broadcast(sf), dimensions={0,2}  sr = f32[6,96] reshape(sb)
    d = f32[6,96] multiply(wf, sr)""",
  "scales of float64 sums": """wf = f64[6,96] convert(w)  sg = f64[6,3] convert(sf)  sb = f64[6,3,32] broadcast(sg), dimensions={0,1}
    sr = f64[6,96] reshape(sb)  d = f64[6,96] multiply(wf, sr)""",
  "elements that are rounded to another format": """wf = f32[6,96] convert(w)  wq = f8e4m3fn[6,96] convert(wf)  wg = f32[6,96] convert(wq)
    g = f32[6,96] add(wg, wf)  sb = f32[6,3,32] broadcast(sf), dimensions={0,1}  sr = f32[6,96] reshape(sb)
    d = f32[6,96] multiply(g, sr)""",
}


def written(text):
  """x · d, for a value d of shape [6, k], [k, 6] or [6, k', 32]."""
  *_, last = text.split("d = ")
  element, sizes = last.split("[")[0], [int(n) for n in last.split("[")[1].split("]")[0].split(",")]
  along = (0,) if sizes[0] != 6 else tuple(range(1, len(sizes)))
  own = tuple(range(1, 1 + len(along)))
  k = ",".join(str(sizes[a]) for a in along)
  listed = lambda dims: "{" + ",".join(map(str, dims)) + "}"
  body = text.replace("  ", "\n  ")
  return f"""ENTRY e {{
  w = s8[6,96] parameter(0)
  s = bf16[6,3] parameter(1)
  x = {element}[5,{k}] parameter(2)
  sf = f32[6,3] convert(s)
  {body}
  ROOT r = {element}[5,6] dot(x, d), lhs_contracting_dims={listed(own)}, rhs_contracting_dims={listed(along)} }}"""


@pytest.mark.parametrize("spelling", [*SPELLINGS, *OTHERS])
def test_a_block_scaled_dot_is_recognised_in_every_spelling_and_nothing_else_is(spelling, a_kernel):
  module = hlo.parse(written({**SPELLINGS, **OTHERS}[spelling]))
  rng = np.random.default_rng(3)
  shape = module.entry.parameters[2].shape
  args = (
    rng.integers(-128, 128, (6, 96)).astype(np.int8),
    rng.standard_normal((6, 3)).astype(ml_dtypes.bfloat16),
    rng.standard_normal(shape.dimensions).astype(shape.dtype),
  )
  want = hlo.evaluate(module, *args)
  run_passes(module, ["block_scaling", "dce"], strict=True, verify=True)
  assert targets(module) == (["definition"] if spelling in SPELLINGS else [])
  tolerance = 2.0**-9 * 96 if spelling == "rounded to bf16" else 104 * 2.0**-24
  most = (
    np.einsum("mk,nk->mn", np.abs(args[2].reshape(5, -1)[:, :80]), np.abs(args[0][:, :80].astype(np.float64))).max() * 4
  )
  assert np.max(np.abs(hlo.evaluate(module, *args).astype(np.float64) - want)) <= tolerance * most


def test_a_dot_without_a_better_implementation_stays_as_it_is(no_kernels):
  module = hlo.parse(PATTERN)
  before = module.to_text()
  assert not run_passes(module, ["block_scaling"], strict=True).changed
  assert module.to_text() == before


def test_one_row_of_scales_serves_all_rows(no_kernels):
  module = hlo.parse(MXFP8.replace("[2,5,2]", "[2,1,2]"))
  x, y, sx, sy, whole = operands()
  args = x, y, sx[:, :1], sy, whole
  want = hlo.evaluate(module, *args)
  run_passes(module, ["block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.13}"], verify=True)
  close(hlo.evaluate(module, *args, custom_calls={"__cudnn$blockScaledDot": library}), want)


def test_a_global_scale_that_the_library_does_not_take_is_not_rounded(no_kernels):
  """Multiplied afterwards, it is a float32, though the result is a bf16: 1 + 2^-20 of it would be lost otherwise."""
  module = hlo.parse(MXFP8.replace("ROOT d = f32", "ROOT d = bf16"))
  run_passes(module, ["block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.10}"], strict=True, verify=True)
  library = lambda i, v: tuple(np.full(s.dimensions, 255.49, s.dtype) for s in i.shape.tuple_shapes)
  *arrays, _ = operands()
  got = hlo.evaluate(module, *arrays, np.float32(1 / 255.49), custom_calls={"__cudnn$blockScaledDot": library})
  assert (got.astype(np.float32) == 1).all()


@pytest.mark.parametrize("compiled", ["cpu", "cuda"])
def test_the_platform_is_the_one_that_a_module_is_compiled_for(compiled, no_kernels, monkeypatch, caplog):
  monkeypatch.setattr(cuda, "capabilities", lambda: ((9, 0),))
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"), compiling_for(compiled):
    run_passes(hlo.parse(MXFP8), ["block_scaling"], strict=True)
  assert f"this is {'cuda 9.0' if compiled == 'cuda' else 'cpu'};" in caplog.text


@pytest.mark.parametrize("option", ["platform=gpu", "only=kernels"])
def test_an_option_that_does_not_exist_is_refused(option):
  with pytest.raises(ValueError, match="must be one of"):
    run_passes(hlo.parse(MXFP8), [f"block_scaling{{{option}}}"])


@pytest.mark.parametrize("option", ["tile_n=12", "tile_n=0", "stages=0", "stages=1.5"])
def test_a_tile_that_is_none_is_refused(option):
  with pytest.raises(ValueError, match=r"must be (a positive multiple of [18]|an integer), got"):
    run_passes(hlo.parse(MXFP8), [f"block_scaling{{{option}}}"])


@pytest.mark.parametrize(
  "version, calls, inside",
  [
    *(("9.9", False, None), ("9.10", True, False), ("9.12.1", True, False), ("9.13", True, True), ("10.0", True, True)),
    *(("8907", False, None), ("90900", False, None), ("91002", True, False), ("91300", True, True)),
  ],
)
def test_the_library_is_gated_on_its_version(no_kernels, version, calls, inside, caplog):
  module = hlo.parse(MXFP8)
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"):
    run_passes(module, [f"block_scaling{{platform=cuda,compute_capability=10.0,cudnn={version}}}"], verify=True)
  where = {True: "is inside of cuDNN's dot", False: "is multiplied after cuDNN's dot"}
  assert [said for said, text in where.items() if f"the global scale {text}" in caplog.text] == (
    [inside] if calls else []
  )
  found = [i for i in module.instructions() if i.opcode == "custom-call"]
  assert bool(found) == calls
  if calls:
    assert len(found[0].operands) == (5 if inside else 4)
    assert [s.dimensions for s in found[0].shape.tuple_shapes] == [(2, 128, 128), (0,)]


def test_a_version_of_the_library_that_is_none_is_refused():
  with pytest.raises(PassFailed, match=r"cudnn must be a version such as 9.13.0, got '9.x'"):
    run_passes(hlo.parse(MXFP8), ["block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.x}"], strict=True)


@pytest.mark.parametrize("platform", ["cpu", "cuda,compute_capability=10.0,cudnn=9.13"])
@pytest.mark.parametrize("sizes", [(2, 0, 64, 2), (0, 5, 64, 2), (2, 5, 0, 0)], ids=["rows", "batch", "k"])
def test_a_dot_of_no_elements_expands(sizes, platform):
  """Whatever there are kernels for."""
  b, m, k, blocks = sizes
  text = (
    MXFP8.replace("[2,5,64]", f"[{b},{m},{k}]").replace("[2,7,64]", f"[{b},7,{k}]").replace("[2,5,7]", f"[{b},{m},7]")
  )
  module = hlo.parse(text.replace("[2,5,2]", f"[{b},{m},{blocks}]").replace("[2,7,2]", f"[{b},7,{blocks}]"))
  run_passes(module, [f"block_scaling{{platform={platform}}}"], strict=True, verify=True)
  assert not targets(module)


def test_no_elements_are_quantised_to_none():
  call = '(f8e4m3fn[2,0], f8e8m0fnu[2,0]) custom-call(x), custom_call_target="__op$quantize"'
  module = hlo.parse(f"ENTRY e {{ x = f32[2,0] parameter(0)\n ROOT q = {call} }}")
  run_passes(module, ["block_scaling"], strict=True, verify=True)
  assert not targets(module)


def test_the_library_gets_padded_and_swizzled_scales(no_kernels):
  """Undoing the order gives the call's value, so the library sees every scale where it expects it."""
  module = hlo.parse(MXFP8)
  want = hlo.evaluate(module, *operands())
  run_passes(module, ["block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.13.0}"], verify=True)
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
  x[2] = 0
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


def test_a_native_kernel_is_for_devices_with_tensor_memory_and_tiles_that_fit(monkeypatch, no_kernels, caplog):
  monkeypatch.setitem(block_scaling.KERNELS, ("cuda native", "block_scaled_dot"), as_call)
  run = lambda options: run_passes(hlo.parse(MXFP8), [f"block_scaling{{platform=cuda,{options}}}"], strict=True)
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"):
    run("compute_capability=10.0")
    assert "block_scaled_dot %d: native instructions (the first choice)" in caplog.text
    run("compute_capability=12.0")
    assert "native instructions: cuda 12.0 has no tensor memory" in caplog.text
  with pytest.raises(PassFailed, match=r"524 columns of tensor memory.*Lower tile_n to 248"):
    run("compute_capability=10.0,tile_n=256")


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


def test_inside_of_xla_the_smallest_scale_counts_in_the_expansion_of_a_dot():
  """2^-127 is subnormal, and zero to XLA's CPU back end."""
  import jax

  x = np.full((2, 5, 64), 64, ml_dtypes.float8_e4m3fn)
  y = np.ones((2, 7, 64), ml_dtypes.float8_e4m3fn)
  sx, sy = (np.full(s, code, np.uint8).view(ml_dtypes.float8_e8m0fnu) for s, code in (((2, 5, 2), 0), ((2, 7, 2), 200)))
  shape = jax.ShapeDtypeStruct((2, 5, 7), np.float32)
  with hlo.install("block_scaling{only=expansion}"):
    got = jax.jit(lambda *args: jax.ffi.ffi_call("__op$block_scaled_dot", shape)(*args))(x, y, sx, sy)
  np.testing.assert_array_equal(got, np.full((2, 5, 7), 64 * 64 * 2.0 ** (200 - 127 - 127), np.float32))


@pytest.mark.parametrize("layers", [False, True], ids=["one matrix", "scan over layers"])
def test_inside_of_xla_what_a_program_writes_out_becomes_a_native_kernel(layers, caplog):
  """XLA has put the dot and what dequantises its operand into fusions by then, and packs elements of 4 bits."""
  import jax
  import jax.numpy as jnp

  rng = np.random.default_rng(4)
  w = jnp.asarray(rng.integers(-8, 8, (2, 64, 64)), jnp.int4)
  scales, x = (jnp.asarray(rng.standard_normal(s), jnp.float32) for s in ((2, 64, 2), (3, 64)))

  def layer(x, w, s):
    return x @ (w.astype(jnp.float32).reshape(64, 2, 32) * s[..., None]).reshape(64, 64).T

  def f(x, w, s):
    return jax.lax.scan(lambda x, ws: (layer(x, *ws), None), x, (w, s))[0] if layers else layer(x, w[0], s[0])

  want = np.asarray(jax.jit(f)(x, w, scales))
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"), hlo.install("block_scaling"):
    got = np.asarray(jax.jit(f)(x, w, scales))
  assert ": kernel (" in caplog.text
  close(got, want, k=128)


def test_a_kernel_that_sums_parts_of_k_takes_the_place_of_a_dot(monkeypatch, caplog):
  """Its module has computations besides the entry."""
  import jax
  import jax.numpy as jnp

  from tilewright.numerics import blocks

  monkeypatch.setattr(blocks, "num_threads", lambda: 4)
  rng, k = np.random.default_rng(7), 4096
  w = jnp.asarray(rng.integers(-7, 8, (16, k)), jnp.int8)
  scales, x = (jnp.asarray(rng.standard_normal(s), jnp.float32) for s in ((16, k // 32), (2, k)))
  f = lambda x, w, s: x @ (w.astype(jnp.float32).reshape(16, -1, 32) * s[..., None]).reshape(16, k).T
  want = np.asarray(jax.jit(f)(x, w, scales))
  with caplog.at_level(logging.INFO, "tilewright.hlo.block_scaling"), hlo.install("block_scaling") as hook:
    compiled = jax.jit(f).lower(x, w, scales).compile()
  assert hook.changed and ": kernel (" in caplog.text and "reduce" in compiled.as_text()
  close(np.asarray(compiled(x, w, scales)), want, k)


@pytest.mark.parametrize("block", [None, 16], ids=["one side", "both sides"])
def test_elements_of_four_bits_go_into_the_kernel_as_memory_holds_them(block):
  """Nothing is as large as the operand with a byte for each element."""
  import jax
  import jax.numpy as jnp

  from tilewright import numerics  # noqa: F401  which offers its kernels

  rng, n, k = np.random.default_rng(5), 64, 512
  w = jnp.asarray(rng.integers(-6, 7, (n, k)), jnp.float32).astype(jnp.float4_e2m1fn if block else jnp.int4)
  scales = jnp.asarray(rng.uniform(1, 2, (n, k // 16)), jnp.float8_e4m3fn)
  x = jnp.asarray(rng.standard_normal((3, k)), jnp.float32)

  def plain(w, s):
    return (w.astype(jnp.float32).reshape(n, -1, 16) * s.astype(jnp.float32)[..., None]).reshape(n, k)

  def f(x, w, s):
    return (plain(w, s) if block else x) @ plain(w, s).T

  want = np.asarray(jax.jit(f)(x, w, scales))
  with hlo.install("block_scaling"):
    compiled = jax.jit(f).lower(x, w, scales).compile()
  assert compiled.memory_analysis().temp_size_in_bytes < n * k
  close(np.asarray(compiled(x, w, scales)), want, k)


@pytest.mark.parametrize("kind", ["int4", "int2", "float4_e2m1fn"])
def test_inside_of_xla_the_last_block_of_packed_elements_may_be_cut(kind):
  """They are padded to whole blocks, in a fusion: XLA's CPU back end ends the process at a pad of packed elements by itself."""
  import jax
  import jax.numpy as jnp

  from tilewright import numerics  # noqa: F401  which offers its kernels

  rng, n, k, cut = np.random.default_rng(6), 5, 128, 120
  w = jnp.asarray(rng.integers(0, 2, (k, n)), jnp.float32).astype(kind)
  scales, x = (jnp.asarray(rng.standard_normal(s), jnp.float32) for s in ((4, n), (3, k)))

  def f(x, w, s):
    return x[:, :cut] @ (w.astype(jnp.float32) * jnp.repeat(s, 32, axis=0))[:cut]

  want = np.asarray(jax.jit(f)(x, w, scales))
  with hlo.install("block_scaling") as hook:
    got = np.asarray(jax.jit(f)(x, w, scales))
  assert hook.changed
  close(got, want, cut)


PADDED = """ENTRY e {
  x = f8e4m3fn[5,40] parameter(0)
  y = f8e4m3fn[3,40] parameter(1)
  sx = f8e8m0fnu[128,4] parameter(2)
  sy = f8e8m0fnu[128,4] parameter(3)
  ROOT d = f32[5,3] custom-call(x, y, sx, sy), custom_call_target="__op$block_scaled_dot", backend_config=%s }"""
CONFIGS = ['{"block_scaled_dot_backend_config":{"block_size":32}}', '"{block_size = 32 : i64}"']


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("facts", ["", "{platform=cuda,compute_capability=9.0}"])
def test_a_block_size_that_is_written_out_counts(no_kernels, config, facts):
  rng = np.random.default_rng(0)
  x, y = (rng.standard_normal((n, 40)).astype(ml_dtypes.float8_e4m3fn) for n in (5, 3))
  sx, sy = (2.0 ** rng.integers(-2, 3, (128, 4)) for _ in range(2))
  scale = lambda s, n: np.repeat(s[:n], 32, axis=-1)[:, :40]
  want = (x.astype(np.float64) * scale(sx, 5)) @ (y.astype(np.float64) * scale(sy, 3)).T
  args = x, y, sx.astype(ml_dtypes.float8_e8m0fnu), sy.astype(ml_dtypes.float8_e8m0fnu)
  module = hlo.parse(PADDED % config)
  close(hlo.evaluate(module, *args), want)
  run_passes(module, [f"block_scaling{facts}"], strict=True, verify=True)
  assert not targets(module)
  close(hlo.evaluate(module, *args), want)


SCALED_DOTS = [
  ("[5,64]", "[64,3]", "[5,2]", "[2,3]", "[5,3]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
  ("[2,5,64]", "[2,64,3]", "[2,5,2]", "[2,2,3]", "[2,5,3]",
   "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
  ("[2,5,64]", "[3,64]", "[2,5,2]", "[3,2]", "[2,5,3]", "lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
  ("[5,64]", "[64,3]", "[5,2]", "[]", "[5,3]", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "y", "sx", "sy", "d", "dims"), SCALED_DOTS)
def test_scaled_dot_is_rewritten(no_kernels, x, y, sx, sy, d, dims):
  text = f"""ENTRY e {{
    x = f8e4m3fn{x} parameter(0)
    y = f8e4m3fn{y} parameter(1)
    sx = f8e8m0fnu{sx} parameter(2)
    sy = f8e8m0fnu{sy} parameter(3)
    ROOT d = f32{d} scaled-dot(x, y, sx, sy), {dims} }}"""
  module = hlo.parse(text)
  rng = np.random.default_rng(1)
  args = [np.exp2(rng.integers(-3, 4, p.shape.dimensions)).astype(p.shape.dtype) for p in module.entry.parameters]
  want = hlo.evaluate(module, *args)
  for facts in ("", "{platform=cuda,compute_capability=9.0}"):
    module = hlo.parse(text)
    run_passes(module, [f"block_scaling{facts}"], strict=True, verify=True)
    assert not any(i.opcode in ("scaled-dot", "custom-call") for i in module.instructions())
    close(hlo.evaluate(module, *args), want)
  module = hlo.parse(text)
  run_passes(module, ["block_scaling{platform=cuda,compute_capability=10.0,cudnn=9.13}"], strict=True, verify=True)
  if sy != "[]":  # one scale for everything is not block scaling
    assert targets(module) == ["__cudnn$blockScaledDot"]

"""Algebraic identities and movers: each row where it applies, each trap where it must not. Compared bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import hlo
from tilewright.hlo.passes import run_passes
from tilewright.hlo.passes.algebraic_simplifier import RULES

SPECIAL = np.array([[0.0, -0.0, 1.0, -2.5], [np.inf, -np.inf, np.nan, 1e-40]], np.float32)
VALUES = {
  "f32": SPECIAL,
  "s32": np.array([[0, 1, -1, 7], [2**31 - 1, -(2**31), 5, -3]], np.int32),
  "u8": np.array([[0, 1, 2, 255], [7, 8, 9, 128]], np.uint8),
  "pred": np.array([[True, False, True, True], [False, False, True, False]]),
  "c64": np.stack([SPECIAL[:, ::-1], SPECIAL], -1).view(np.complex64)[..., 0],
  "f16": SPECIAL.astype(np.float16),
}


def text_of(kind: str, lines: str, computations: str = "") -> str:
  """A module of parameters x and y (T[2,4])."""
  whole = computations + f"ENTRY e {{ x = T[2,4] parameter(0)\n y = T[2,4] parameter(1)\n {lines} }}"
  return whole.replace("T[", f"{kind}[")


def opcodes_of(module: hlo.Module) -> list[str]:
  return [i.opcode for i in module.entry.instructions]


def rewritten(
  kind: str, lines: str, passes: str = "algebraic_simplifier", computations: str = ""
) -> tuple[hlo.Module, bool]:
  """The module of `text_of` after the pass, and whether it changed; values stay the same."""
  module = hlo.parse(text_of(kind, lines, computations))
  args = (VALUES[kind], VALUES[kind][::-1])
  before = hlo.evaluate(module, *args)
  changed = run_passes(module, [passes], strict=True).changed
  now = hlo.evaluate(module, *args)
  assert np.array_equal(before, now, equal_nan=before.dtype.kind in "fc")
  if before.dtype.kind == "f":
    numbers = ~np.isnan(before)
    assert np.array_equal(np.signbit(before)[numbers], np.signbit(now)[numbers])
  run_passes(module, ["dce"])
  return module, changed


def splat(value: str) -> str:
  return f"k = T[] constant({value})\n c = T[2,4] broadcast(k), dimensions={{}}\n "


IDENTITIES = {
  "x + -0": ("f32", splat("-0") + "ROOT r = T[2,4] add(x, c)"),
  "-0 + x": ("f32", splat("-0") + "ROOT r = T[2,4] add(c, x)"),
  "integer x + 0": ("s32", splat("0") + "ROOT r = T[2,4] add(x, c)"),
  "x - 0": ("f32", splat("0") + "ROOT r = T[2,4] subtract(x, c)"),
  "integer x - x": ("s32", "ROOT r = T[2,4] subtract(x, x)"),
  "-(-x)": ("f32", "n = T[2,4] negate(x)\n ROOT r = T[2,4] negate(n)"),
  "x · 1": ("f32", splat("1") + "ROOT r = T[2,4] multiply(c, x)"),
  "integer x · 0": ("s32", splat("0") + "ROOT r = T[2,4] multiply(x, c)"),
  "x / 1": ("f32", splat("1") + "ROOT r = T[2,4] divide(x, c)"),
  "x / 4": ("f32", splat("4") + "ROOT r = T[2,4] divide(x, c)"),
  "x / -0.125": ("f16", splat("-0.125") + "ROOT r = T[2,4] divide(x, c)"),
  "x mod 1": ("s32", splat("1") + "ROOT r = T[2,4] remainder(x, c)"),
  "x ^ 1": ("f32", splat("1") + "ROOT r = T[2,4] power(x, c)"),
  "x & 255": ("u8", splat("255") + "ROOT r = T[2,4] and(x, c)"),
  "x & -1": ("s32", splat("-1") + "ROOT r = T[2,4] and(x, c)"),
  "x & true": ("pred", splat("true") + "ROOT r = T[2,4] and(x, c)"),
  "x & 0": ("s32", splat("0") + "ROOT r = T[2,4] and(x, c)"),
  "x & x": ("s32", "ROOT r = T[2,4] and(x, x)"),
  "x | false": ("pred", splat("false") + "ROOT r = T[2,4] or(x, c)"),
  "x | x": ("u8", "ROOT r = T[2,4] or(x, x)"),
  "x xor 0": ("u8", splat("0") + "ROOT r = T[2,4] xor(x, c)"),
  "x xor x": ("s32", "ROOT r = T[2,4] xor(x, x)"),
  "not not x": ("s32", "n = T[2,4] not(x)\n ROOT r = T[2,4] not(n)"),
  "x << 0": ("s32", splat("0") + "ROOT r = T[2,4] shift-left(x, c)"),
  "max(x, x)": ("f32", "ROOT r = T[2,4] maximum(x, x)"),
  "min(x, x)": ("f32", "ROOT r = T[2,4] minimum(x, x)"),
  "||x||": ("f32", "n = T[2,4] abs(x)\n ROOT r = T[2,4] abs(n)"),
  "integer x <= x": ("s32", "ROOT r = pred[2,4] compare(x, x), direction=LE"),
  "integer x != x": ("s32", "ROOT r = pred[2,4] compare(x, x), direction=NE"),
  "p = true": ("pred", splat("true") + "ROOT r = pred[2,4] compare(x, c), direction=EQ"),
  "p != false": ("pred", splat("false") + "ROOT r = pred[2,4] compare(x, c), direction=NE"),
  "true ? x : y": (
    "f32",
    "t = pred[] constant(true)\n c = pred[2,4] broadcast(t), dimensions={}\n ROOT r = T[2,4] select(c, x, y)",
  ),
  "c ? x : x": ("s32", "c = pred[2,4] compare(x, y), direction=LT\n ROOT r = T[2,4] select(c, x, x)"),
  "not c ? x : y": (
    "s32",
    "c = pred[2,4] compare(x, y), direction=LT\n n = pred[2,4] not(c)\n ROOT r = T[2,4] select(n, x, y)",
  ),
  "c ? true : false": (
    "pred",
    splat("true")
    + "f = pred[] constant(false)\n d = T[2,4] broadcast(f), dimensions={}\n ROOT r = T[2,4] select(x, c, d)",
  ),
  "f32 as f32": ("f32", "ROOT r = T[2,4] convert(x)"),
  "f16 as f32 as f16": ("f16", "w = f32[2,4] convert(x)\n ROOT r = T[2,4] convert(w)"),
  "u8 as s32 as u8": ("u8", "w = s32[2,4] convert(x)\n ROOT r = T[2,4] convert(w)"),
  "re(x + yi)": ("f32", "z = c64[2,4] complex(x, y)\n ROOT r = T[2,4] real(z)"),
  "im(x + yi)": ("f32", "z = c64[2,4] complex(x, y)\n ROOT r = T[2,4] imag(z)"),
  "re z + im z i": ("c64", "a = f32[2,4] real(x)\n b = f32[2,4] imag(x)\n ROOT r = c64[2,4] complex(a, b)"),
  "reshape to itself": ("f32", "ROOT r = T[2,4] reshape(x)"),
  "reshape of reshape": ("f32", "a = T[8] reshape(x)\n ROOT r = T[4,2] reshape(a)"),
  "transpose by nothing": ("f32", "ROOT r = T[2,4] transpose(x), dimensions={0,1}"),
  "transpose of transpose": (
    "f32",
    "a = T[1,2,4] reshape(x)\n b = T[4,1,2] transpose(a), dimensions={2,0,1}\n "
    "ROOT r = T[2,4,1] transpose(b), dimensions={2,0,1}",
  ),
  "broadcast to itself": ("f32", "ROOT r = T[2,4] broadcast(x), dimensions={0,1}"),
  "broadcast of broadcast": (
    "f32",
    "a = T[3,2,4] broadcast(x), dimensions={1,2}\n ROOT r = T[2,3,4,5] broadcast(a), dimensions={1,0,2}",
  ),
  "reshape of a scalar's broadcast": ("f32", splat("3") + "ROOT r = T[8] reshape(c)"),
  "slice of a scalar's broadcast": ("f32", splat("3") + "ROOT r = T[1,4] slice(c), slice={[0:1],[0:4]}"),
  "the whole slice": ("f32", "ROOT r = T[2,4] slice(x), slice={[0:2],[0:4]}"),
  "slice of slice": (
    "f32",
    "a = T[2,3] slice(x), slice={[0:2],[1:4]}\n ROOT r = T[1,2] slice(a), slice={[1:2],[0:3:2]}",
  ),
  "pad by nothing": ("f32", "z = T[] constant(0)\n ROOT r = T[2,4] pad(x, z), padding=0_0x0_0"),
  "reverse of one element": ("f32", "a = T[1,8] reshape(x)\n ROOT r = T[1,8] reverse(a), dimensions={0}"),
  "a known size": ("f32", "ROOT r = s32[] get-dimension-size(x), dimensions={1}"),
  "iota of one": ("s32", "ROOT r = s32[1,4] iota(), iota_dimension=0"),
  "the whole dynamic-slice": (
    "f32",
    "i = s32[] constant(1)\n ROOT r = T[2,4] dynamic-slice(x, i, i), dynamic_slice_sizes={2,4}",
  ),
  "dynamic-slice at constants": (
    "f32",
    "i = s32[] constant(7)\n j = s32[] constant(-1)\n ROOT r = T[1,3] dynamic-slice(x, i, j), dynamic_slice_sizes={1,3}",
  ),
  "update of everything": ("f32", "i = s32[] constant(1)\n ROOT r = T[2,4] dynamic-update-slice(x, y, i, i)"),
  "join of one": ("f32", "ROOT r = T[2,4] concatenate(x), dimensions={0}"),
  "join with nothing": (
    "f32",
    "e = T[0,4] slice(x), slice={[0:0],[0:4]}\n ROOT r = T[4,4] concatenate(x, e, y), dimensions={0}",
  ),
  "integer (x + 3) + 4": (
    "s32",
    splat("3")
    + "l = T[] constant(4)\n d = T[2,4] broadcast(l), dimensions={}\n a = T[2,4] add(x, c)\n ROOT r = T[2,4] add(a, d)",
  ),
  "integer (3 · x) · 7": (
    "s32",
    splat("3")
    + "l = T[] constant(7)\n d = T[2,4] broadcast(l), dimensions={}\n a = T[2,4] multiply(c, x)\n ROOT r = T[2,4] multiply(a, d)",
  ),
  "x + (-y)": ("f32", "n = T[2,4] negate(y)\n ROOT r = T[2,4] add(x, n)"),
  "x - (-y)": ("f32", "n = T[2,4] negate(y)\n ROOT r = T[2,4] subtract(x, n)"),
  "integer 0 - x": ("s32", splat("0") + "ROOT r = T[2,4] subtract(c, x)"),
  "x - 3": ("f32", splat("3") + "ROOT r = T[2,4] subtract(x, c)"),
  "x · (-1)": ("f32", splat("-1") + "ROOT r = T[2,4] multiply(x, c)"),
  "integer x · y + x · x": ("s32", "a = T[2,4] multiply(x, y)\n b = T[2,4] multiply(x, x)\n ROOT r = T[2,4] add(a, b)"),
  "x ^ 0": ("f32", splat("0") + "ROOT r = T[2,4] power(x, c)"),
  "not x = y": ("f32", "c = pred[2,4] compare(x, y), direction=EQ\n ROOT r = pred[2,4] not(c)"),
  "not x < y": ("s32", "c = pred[2,4] compare(x, y), direction=LT\n ROOT r = pred[2,4] not(c)"),
  "unsigned x < 0": ("u8", splat("0") + "ROOT r = pred[2,4] compare(x, c), direction=LT"),
  "unsigned 0 <= x": ("u8", splat("0") + "ROOT r = pred[2,4] compare(c, x), direction=LE"),
  "min(max(x, 0), 5)": (
    "s32",
    splat("0")
    + "l = T[] constant(5)\n d = T[2,4] broadcast(l), dimensions={}\n a = T[2,4] maximum(x, c)\n ROOT r = T[2,4] minimum(a, d)",
  ),
  "max(x, 0) of unsigned": ("u8", splat("0") + "ROOT r = T[2,4] maximum(x, c)"),
  "min(x, 0) of unsigned": ("u8", splat("0") + "ROOT r = T[2,4] minimum(x, c)"),
  "x > y ? x : y": ("s32", "c = pred[2,4] compare(x, y), direction=GT\n ROOT r = T[2,4] select(c, x, y)"),
  "y > x ? x : y": ("s32", "c = pred[2,4] compare(y, x), direction=GT\n ROOT r = T[2,4] select(c, x, y)"),
  "c ? y : false": ("pred", splat("false") + "ROOT r = T[2,4] select(x, y, c)"),
  "c ? false : true": (
    "pred",
    splat("true")
    + "f = pred[] constant(false)\n d = T[2,4] broadcast(f), dimensions={}\n ROOT r = T[2,4] select(x, d, c)",
  ),
  "unsigned x / 8": ("u8", splat("8") + "ROOT r = T[2,4] divide(x, c)"),
  "unsigned x mod 8": ("u8", splat("8") + "ROOT r = T[2,4] remainder(x, c)"),
  "iota mod 9": ("s32", splat("9") + "i = T[2,4] iota(), iota_dimension=1\n ROOT r = T[2,4] remainder(i, c)"),
  "|x · x|": ("f32", "a = T[2,4] multiply(x, x)\n ROOT r = T[2,4] abs(a)"),
  "bits there and back": ("s32", "a = f32[2,4] bitcast-convert(x)\n ROOT r = T[2,4] bitcast-convert(a)"),
  "full precision": ("f32", "ROOT r = T[2,4] reduce-precision(x), exponent_bits=8, mantissa_bits=23"),
  "reshape of broadcast": ("f32", "a = T[2,1,4,3] broadcast(x), dimensions={0,2}\n ROOT r = T[2,4,3] reshape(a)"),
  "reshape of broadcast that joins what was repeated": (
    "f32",
    "a = T[3,5,2,4] broadcast(x), dimensions={2,3}\n ROOT r = T[15,2,4] reshape(a)",
  ),
  "reshape of broadcast of ones": (
    "f32",
    "a = T[2,4,1] reshape(x)\n b = T[3,2,4,1] broadcast(a), dimensions={1,2,3}\n ROOT r = T[1,3,2,4] reshape(b)",
  ),
  "broadcast of iota": ("s32", "a = T[4] iota(), iota_dimension=0\n ROOT r = T[2,4,3] broadcast(a), dimensions={1}"),
  "broadcast of reshape": (
    "f32",
    "a = T[2,1,4] reshape(x)\n ROOT r = T[2,1,5,4] broadcast(a), dimensions={0,1,3}",
  ),
  "copy in one layout": ("f32", "a = T[2,4] copy(x)\n ROOT r = T[2,4] negate(a)"),
  "transposed there and back, whatever the layout": (
    "f32",
    "a = T[4,2]{0,1} transpose(x), dimensions={1,0}\n ROOT r = T[2,4]{1,0} transpose(a), dimensions={1,0}",
  ),
  "transpose of broadcast": (
    "f32",
    "a = T[2,3,4] broadcast(x), dimensions={0,2}\n ROOT r = T[4,2,3] transpose(a), dimensions={2,0,1}",
  ),
  "slice of broadcast": (
    "f32",
    "a = T[2,8,4] broadcast(x), dimensions={0,2}\n ROOT r = T[2,3,4] slice(a), slice={[0:2],[1:7:2],[0:4]}",
  ),
  "dynamic-slice of broadcast": (
    "s32",
    "a = T[2,8,4] broadcast(x), dimensions={0,2}\n z = s32[] constant(0)\n "
    "k = s32[1,1] slice(y), slice={[0:1],[0:1]}\n i = s32[] reshape(k)\n "
    "ROOT r = T[2,3,4] dynamic-slice(a, z, i, z), dynamic_slice_sizes={2,3,4}",
  ),
  "broadcast by ones": ("f32", "ROOT r = T[1,2,4] broadcast(x), dimensions={1,2}"),
  "transpose of ones": (
    "f32",
    "a = T[1,2,4] broadcast(x), dimensions={1,2}\n n = T[1,2,4] sine(a)\n ROOT r = T[2,4,1] transpose(n), dimensions={1,2,0}",
  ),
  "slice of concatenate": (
    "f32",
    "a = T[4,4] concatenate(x, y), dimensions={0}\n ROOT r = T[1,4] slice(a), slice={[3:4],[0:4]}",
  ),
  "slice of pad": (
    "f32",
    "z = T[] constant(0)\n a = T[4,7] pad(x, z), padding=1_1x2_1\n ROOT r = T[2,3] slice(a), slice={[1:3],[3:6]}",
  ),
  "neighbouring slices": (
    "f32",
    "a = T[2,1] slice(x), slice={[0:2],[1:2]}\n b = T[2,2] slice(x), slice={[0:2],[2:4]}\n "
    "ROOT r = T[2,3] concatenate(a, b), dimensions={1}",
  ),
  "join with a constant": (
    "f32",
    "z = T[] constant(7)\n c = T[3,4] broadcast(z), dimensions={}\n ROOT r = T[5,4] concatenate(c, x), dimensions={0}",
  ),
  "pad of pad": (
    "f32",
    "z = T[] constant(7)\n a = T[3,5] pad(x, z), padding=1_0x0_1\n ROOT r = T[5,6] pad(a, z), padding=0_2x1_0",
  ),
  "pad by less than nothing": ("f32", "z = T[] constant(7)\n ROOT r = T[1,2] pad(x, z), padding=-1_0x-1_-1"),
  "reverse of reverse": ("f32", "a = T[2,4] reverse(x), dimensions={0,1}\n ROOT r = T[2,4] reverse(a), dimensions={1}"),
  "reshape of iota": ("s32", "a = T[8,1] iota(), iota_dimension=0\n ROOT r = T[8] reshape(a)"),
  "update of nothing": (
    "f32",
    "a = T[0,4] slice(y), slice={[0:0],[0:4]}\n z = s32[] constant(0)\n ROOT r = T[2,4] dynamic-update-slice(x, a, z, z)",
  ),
  "element of tuple": ("f32", "t = (T[2,4], T[2,4]) tuple(x, y)\n ROOT r = T[2,4] get-tuple-element(t), index=1"),
  "dot of transpose": (
    "f32",
    "a = T[4,2] transpose(x), dimensions={1,0}\n ROOT r = T[4,4] dot(a, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
  ),
  "dot over nothing": (
    "f32",
    "a = T[2,0] slice(x), slice={[0:2],[0:0]}\n b = T[0,4] slice(y), slice={[0:0],[0:4]}\n "
    "ROOT r = T[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
  ),
  "convert of a widening convert": ("u8", "a = s16[2,4] convert(x)\n ROOT r = f32[2,4] convert(a)"),
}

REDUCERS = """add { aa = T[] parameter(0)
  ab = T[] parameter(1)
  ROOT ar = T[] add(aa, ab) }
less { la = T[] parameter(0)
  lb = T[] parameter(1)
  ROOT lr = pred[] compare(la, lb), direction=LT }
"""
WITH_COMPUTATIONS = {
  "reduce of one element": (
    "s32",
    "a = T[2,1,4] reshape(x)\n z = T[] constant(5)\n ROOT r = T[2,4] reduce(a, z), dimensions={1}, to_apply=add",
  ),
  "reduce of reduce": (
    "s32",
    "z = T[] constant(0)\n a = T[2] reduce(x, z), dimensions={1}, to_apply=add\n ROOT r = T[] reduce(a, z), dimensions={0}, to_apply=add",
  ),
  "reduce of transpose": (
    "s32",
    "z = T[] constant(0)\n a = T[4,2] transpose(x), dimensions={1,0}\n ROOT r = T[4] reduce(a, z), dimensions={1}, to_apply=add",
  ),
  "sort of one element": ("s32", "a = T[8,1] reshape(x)\n ROOT r = T[8,1] sort(a), dimensions={1}, to_apply=less"),
  "map of one operation": ("s32", "ROOT r = T[2,4] map(x, y), dimensions={0,1}, to_apply=add"),
  "all-reduce of zeros": ("f32", "z = T[] constant(0)\n ROOT r = T[] all-reduce(z), replica_groups={}, to_apply=add"),
  "all-reduce of one device": ("s32", "ROOT r = T[2,4] all-reduce(x), replica_groups={{0}}, to_apply=add"),
}


@pytest.mark.parametrize("name", WITH_COMPUTATIONS)
def test_identity_with_a_computation(name):
  kind, lines = WITH_COMPUTATIONS[name]
  before = hlo.parse(text_of(kind, lines, REDUCERS))
  module, changed = rewritten(kind, lines, computations=REDUCERS)
  assert changed and opcodes_of(module) != opcodes_of(before)


ROUNDED = {
  "x + 0": (splat("0") + "ROOT r = T[2,4] add(x, c)", "parameter"),
  "(x · 3) · 5": (
    splat("3")
    + "l = T[] constant(5)\n d = T[2,4] broadcast(l), dimensions={}\n a = T[2,4] multiply(x, c)\n ROOT r = T[2,4] multiply(a, d)",
    "multiply",
  ),
  "x / 3": (splat("3") + "ROOT r = T[2,4] divide(x, c)", "multiply"),
  "x ^ 2": (splat("2") + "ROOT r = T[2,4] power(x, c)", "multiply"),
  "x ^ -1": (splat("-1") + "ROOT r = T[2,4] power(x, c)", "divide"),
  "x ^ 0.5": (splat("0.5") + "ROOT r = T[2,4] power(x, c)", "sqrt"),
  "log exp x": ("a = T[2,4] exponential(x)\n ROOT r = T[2,4] log(a)", "parameter"),
  "exp x · exp y": (
    "a = T[2,4] exponential(x)\n b = T[2,4] exponential(y)\n ROOT r = T[2,4] multiply(a, b)",
    "exponential",
  ),
  "x / exp y": ("b = T[2,4] exponential(y)\n ROOT r = T[2,4] divide(x, b)", "multiply"),
  "x / sqrt y": ("b = T[2,4] sqrt(y)\n ROOT r = T[2,4] divide(x, b)", "multiply"),
  "(x / y) / x": ("b = T[2,4] divide(x, y)\n ROOT r = T[2,4] divide(b, x)", "divide"),
  "a sum of sums": (
    "z = T[] constant(0)\n a = T[2] reduce(x, z), dimensions={1}, to_apply=add\n ROOT r = T[] reduce(a, z), dimensions={0}, to_apply=add",
    "reduce",
  ),
  "a dot without a sum": (
    "a = T[8,1] reshape(x)\n b = T[1,8] reshape(y)\n ROOT r = T[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "multiply",
  ),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_what_rounds_differently_is_rewritten_only_on_request(name):
  lines, opcode = ROUNDED[name]
  text = text_of("f32", lines, REDUCERS)
  rng = np.random.default_rng(3)
  args = [rng.uniform(0.5, 2, (2, 4)).astype(np.float32) for _ in range(2)]
  module = hlo.parse(text)
  run_passes(module, ["algebraic_simplifier", "dce"], strict=True)
  assert opcodes_of(module) == opcodes_of(hlo.parse(text))
  wanted = hlo.evaluate(module, *args)
  assert run_passes(module, ["algebraic_simplifier{exact=false}"], strict=True).changed
  run_passes(module, ["dce"])
  assert module.entry.root.opcode == opcode and module.instruction_count <= hlo.parse(text).instruction_count + 2
  # A few roundings in a row, and sums of 64 products at most.
  np.testing.assert_allclose(hlo.evaluate(module, *args), wanted, rtol=16 * 2.0**-23)


def test_barriers_hold_back_only_what_is_taken():
  text = """ENTRY e { x = f32[4] parameter(0)
    y = f32[4] sine(x)
    t = (f32[4], f32[4]) tuple(y, x)
    b = (f32[4], f32[4]) opt-barrier(t)
    g = f32[4] get-tuple-element(b), index=1
    ROOT r = f32[4] negate(g) }"""
  module = hlo.parse(text)
  run_passes(module, ["algebraic_simplifier", "dce"], strict=True)
  assert opcodes_of(module) == ["parameter", "tuple", "opt-barrier", "get-tuple-element", "negate"]


def test_arrays_without_elements_are_not_computed():
  module = hlo.parse("ENTRY e { x = f32[0,3] parameter(0)\n s = f32[0,3] sine(x)\n ROOT r = f32[0,3] exponential(s) }")
  assert run_passes(module, ["algebraic_simplifier", "dce"], strict=True).changed
  assert module.entry.root.opcode == "broadcast" and hlo.evaluate(module, np.zeros((0, 3), np.float32)).shape == (0, 3)


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity(name):
  kind, lines = IDENTITIES[name]
  before = hlo.parse(
    f"ENTRY e {{ x = {kind}[2,4] parameter(0)\n y = {kind}[2,4] parameter(1)\n {lines.replace('T[', kind + '[')} }}"
  )
  module, changed = rewritten(kind, lines)
  assert changed
  old, new = [[i.opcode for i in m.entry.instructions] for m in (before, module)]
  assert new != old


TRAPS = {
  "-0 + 0 is 0": ("f32", splat("0") + "ROOT r = T[2,4] add(x, c)"),
  "x - (-0) turns -0 to 0": ("f32", splat("-0") + "ROOT r = T[2,4] subtract(x, c)"),
  "inf · 0 is NaN": ("f32", splat("0") + "ROOT r = T[2,4] multiply(x, c)"),
  "inf - inf is NaN": ("f32", "ROOT r = T[2,4] subtract(x, x)"),
  "NaN / NaN is NaN": ("f32", "ROOT r = T[2,4] divide(x, x)"),
  "NaN != NaN": ("f32", "ROOT r = pred[2,4] compare(x, x), direction=EQ"),
  "thirds are not exact": ("f32", splat("3") + "ROOT r = T[2,4] divide(x, c)"),
  "0.1 is no power of two": ("f32", splat("0.1") + "ROOT r = T[2,4] divide(x, c)"),
  "inverse of a huge power is subnormal": ("f16", splat("32768") + "ROOT r = T[2,4] divide(x, c)"),
  "division of integers rounds": ("s32", splat("2") + "ROOT r = T[2,4] divide(x, c)"),
  "complex · 1 makes NaN of inf": ("c64", splat("(1, 0)") + "ROOT r = T[2,4] multiply(x, c)"),
  "f32 through f16 rounds": ("f32", "w = f16[2,4] convert(x)\n ROOT r = T[2,4] convert(w)"),
  "s32 through f32 rounds": ("s32", "w = f32[2,4] convert(x)\n ROOT r = T[2,4] convert(w)"),
  "1 + 0 is not everywhere": (
    "f32",
    "c = T[2,4] constant({{-0,-0,-0,-0},{-0,-0,-0,0}})\n ROOT r = T[2,4] add(x, c)",
  ),
  "layouts differ": ("f32", "ROOT r = T[2,4]{0,1} slice(x), slice={[0:2],[0:4]}"),
  "someone waits": ("s32", splat("0") + "ROOT r = T[2,4] add(x, c), control-predecessors={y}"),
  "a sharding is lost": ("s32", splat("0") + "ROOT r = T[2,4] add(x, c), sharding={replicated}"),
  "a real transpose": ("f32", "ROOT r = T[4,2] transpose(x), dimensions={1,0}"),
  "a pad that pads": ("f32", "z = T[] constant(0)\n ROOT r = T[2,5] pad(x, z), padding=0_0x0_1"),
}


@pytest.mark.parametrize("name", TRAPS)
def test_trap(name):
  kind, lines = TRAPS[name]
  assert not rewritten(kind, lines)[1]


def test_a_known_branch_becomes_a_call():
  text = """f { p = f32[] parameter(0)\n ROOT n = f32[] negate(p) }
    g { p = f32[] parameter(0)\n ROOT n = f32[] abs(p) }
    h { p = f32[] parameter(0)\n ROOT n = f32[] sine(p) }
    ENTRY e { x = f32[] parameter(0)\n k = s32[] constant(9)
      ROOT c = f32[] conditional(k, x, x, x), branch_computations={f, g, h} }"""
  module = hlo.parse(text)
  before = hlo.evaluate(module, np.float32(0.5))
  run_passes(module, ["algebraic_simplifier", "call_inliner", "dce"], strict=True)
  assert hlo.evaluate(module, np.float32(0.5)) == before
  assert [i.opcode for i in module.entry.instructions] == ["parameter", "sine"]


def test_every_rule_has_a_name_of_its_own():
  names = [rule.name for rule in RULES]
  assert len(names) == len(set(names))


# Movers.


@pytest.mark.parametrize(
  ("mover", "move"),
  [("reshape_mover", "T[8] reshape({})"), ("transpose_mover", "T[4,2] transpose({}), dimensions={{1,0}}")],
)
def test_rearrangements_sink_below_elementwise_instructions(mover, move):
  shape = move.split(" ")[0]
  lines = f"""a = {move.format("x")}\n b = {move.format("y")}
    k = T[] constant(2)\n c = {shape} broadcast(k), dimensions={{}}
    s = {shape} add(a, b)\n m = {shape} multiply(s, c)\n ROOT r = {shape} negate(m)"""
  module, changed = rewritten("s32", lines, mover)
  assert changed and module.entry.root.opcode == mover.removesuffix("_mover")
  assert module.entry.root.operands[0].shape.dimensions == (2, 4)


@pytest.mark.parametrize(
  "lines",
  [
    "a = T[8] reshape(x)\n b = T[8] reshape(y)\n s = T[8] add(a, b)\n ROOT r = T[8] subtract(s, a)",  # a is used twice
    "a = T[8] reshape(x)\n i = T[8] iota(), iota_dimension=0\n ROOT r = T[8] add(a, i)",  # the other is no scalar
    "a = T[8] reshape(x)\n z = T[4,2] reshape(y)\n b = T[8] reshape(z)\n ROOT r = T[8] add(a, b)",  # other dimensions
    "a = T[8] reshape(x)\n ROOT r = T[8] copy(a)",
    "a = T[8] reshape(x), control-predecessors={y}\n ROOT r = T[8] negate(a)",
  ],
)
def test_reshapes_that_cannot_sink_stay(lines):
  assert not rewritten("s32", lines, "reshape_mover")[1]


def test_different_permutations_do_not_meet():
  lines = """a = T[2,2,2] reshape(x)\n b = T[2,2,2] reshape(y)
    c = T[2,2,2] transpose(a), dimensions={2,0,1}\n d = T[2,2,2] transpose(b), dimensions={1,2,0}
    ROOT r = T[2,2,2] add(c, d)"""
  assert not rewritten("s32", lines, "transpose_mover")[1]


def test_compare_and_select_sink_with_their_types():
  lines = """a = T[8] reshape(x)\n b = T[8] reshape(y)\n p = pred[8] compare(a, b), direction=LT
    n = pred[8] not(p)\n ROOT r = s32[8] convert(n)"""
  module, changed = rewritten("s32", lines, "reshape_mover")
  assert changed and module.entry.root.operands[0].opcode == "convert"

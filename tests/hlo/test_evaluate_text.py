"""Opcodes JAX seldom writes, from HLO text: against XLA where it runs them, against their definition where not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from against_jax import check_text

from tilewright import hlo
from tilewright.hlo.evaluate import supported_opcodes
from tilewright.hlo.opcodes import OPCODES

RNG = np.random.default_rng(11)
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"


def normal(*shape: int) -> np.ndarray:
  return RNG.normal(size=shape).astype(np.float32)


def evaluate(text: str, *args: Any, **options: Any) -> Any:
  return hlo.evaluate(hlo.parse("HloModule m\n" + text), *args, **options)


def test_every_opcode_has_a_rule() -> None:
  assert not OPCODES - supported_opcodes()


# Against XLA.

TEXTS: dict[str, tuple[str, tuple[np.ndarray, ...], float]] = {
  "batch-norm-training": (
    """ENTRY e { x = f32[3,4,5] parameter(0)
      s = f32[4] parameter(1)
      o = f32[4] parameter(2)
      ROOT r = (f32[3,4,5], f32[4], f32[4]) batch-norm-training(x, s, o), epsilon=0.01, feature_index=1 }""",
    (normal(3, 4, 5), normal(4), normal(4)),
    64,
  ),
  "batch-norm-inference": (
    """ENTRY e { x = f32[3,4] parameter(0)
      s = f32[4] parameter(1)
      o = f32[4] parameter(2)
      m = f32[4] parameter(3)
      v = f32[4] parameter(4)
      ROOT r = f32[3,4] batch-norm-inference(x, s, o, m, v), epsilon=0.01, feature_index=1 }""",
    (normal(3, 4), normal(4), normal(4), normal(4), np.abs(normal(4))),
    64,
  ),
  "batch-norm-grad": (
    """ENTRY e { x = f32[3,4,5] parameter(0)
      s = f32[4] parameter(1)
      m = f32[4] parameter(2)
      v = f32[4] parameter(3)
      g = f32[3,4,5] parameter(4)
      ROOT r = (f32[3,4,5], f32[4], f32[4]) batch-norm-grad(x, s, m, v, g), epsilon=0.01, feature_index=1 }""",
    (normal(3, 4, 5), normal(4), normal(4), np.abs(normal(4)), normal(3, 4, 5)),
    256,
  ),
  "map": (
    """f { a = f32[] parameter(0)
      b = f32[] parameter(1)
      c = pred[] compare(a, b), direction=LT
      ROOT d = f32[] select(c, a, b) }
    ENTRY e { x = f32[3,4] parameter(0)
      y = f32[3,4] parameter(1)
      ROOT r = f32[3,4] map(x, y), dimensions={0,1}, to_apply=f }""",
    (normal(3, 4), normal(3, 4)),
    0,
  ),
  "sort by a comparator without a key": (
    """less { a = s32[] parameter(0)
      b = s32[] parameter(1)
      p = f32[] parameter(2)
      q = f32[] parameter(3)
      seven = s32[] constant(7)
      ra = s32[] remainder(a, seven)
      rb = s32[] remainder(b, seven)
      lt = pred[] compare(ra, rb), direction=LT
      eq = pred[] compare(ra, rb), direction=EQ
      gt = pred[] compare(p, q), direction=GT
      both = pred[] and(eq, gt)
      ROOT r = pred[] or(lt, both) }
    ENTRY e { x = s32[3,50] parameter(0)
      y = f32[3,50] parameter(1)
      ROOT s = (s32[3,50], f32[3,50]) sort(x, y), dimensions={1}, is_stable=true, to_apply=less }""",
    (RNG.integers(0, 100, (3, 50)).astype(np.int32), normal(3, 50)),
    0,
  ),
  "sort along a middle dimension": (
    """less { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = pred[] compare(a, b), direction=GT }
    ENTRY e { x = f32[3,9,2] parameter(0)
      ROOT s = f32[3,9,2] sort(x), dimensions={1}, is_stable=true, to_apply=less }""",
    (normal(3, 9, 2),),
    0,
  ),
  "reduce of two": (
    """f { a = f32[] parameter(0)
      i = s32[] parameter(1)
      b = f32[] parameter(2)
      j = s32[] parameter(3)
      s = f32[] add(a, b)
      m = s32[] maximum(i, j)
      ROOT t = (f32[], s32[]) tuple(s, m) }
    ENTRY e { x = f32[7,5,3] parameter(0)
      y = s32[7,5,3] parameter(1)
      z = f32[] constant(0)
      n = s32[] constant(-100)
      ROOT r = (f32[5], s32[5]) reduce(x, y, z, n), dimensions={0,2}, to_apply=f }""",
    (normal(7, 5, 3), RNG.integers(-9, 9, (7, 5, 3)).astype(np.int32)),
    32,
  ),
  "reduce-window of two": (
    """f { a = f32[] parameter(0)
      b = f32[] parameter(1)
      c = f32[] parameter(2)
      d = f32[] parameter(3)
      m = f32[] maximum(a, c)
      n = f32[] minimum(b, d)
      ROOT t = (f32[], f32[]) tuple(m, n) }
    ENTRY e { x = f32[8,6] parameter(0)
      l = f32[] constant(-1e9)
      h = f32[] constant(1e9)
      ROOT r = (f32[4,6], f32[4,6]) reduce-window(x, x, l, h), window={size=3x2 stride=2x1 pad=1_0x1_0}, to_apply=f }""",
    (normal(8, 6),),
    0,
  ),
  "select-and-scatter": (
    """ge { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = pred[] compare(a, b), direction=GE }
    add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
    ENTRY e { x = f32[9,8] parameter(0)
      s = f32[4,4] parameter(1)
      z = f32[] constant(0)
      ROOT r = f32[9,8] select-and-scatter(x, s, z), window={size=3x3 stride=2x2 pad=0_0x1_0}, select=ge, scatter=add }""",
    (normal(9, 8), normal(4, 4)),
    4,
  ),
  "convolution turned around": (
    """ENTRY e { x = f32[2,7,6,3] parameter(0)
      k = f32[3,2,3,4] parameter(1)
      ROOT r = f32[4,2,5,7] convolution(x, k), window={size=3x2 pad=0_0x1_1 rhs_reversal=1x1}, dim_labels=b01f_01io->fb01 }""",
    (normal(2, 7, 6, 3), normal(3, 2, 3, 4)),
    32,
  ),
  "conditional with branches": (
    """b0 { x = f32[2] parameter(0)
      ROOT r = f32[2] negate(x) }
    b1 { x = f32[2] parameter(0)
      ROOT r = f32[2] add(x, x) }
    b2 { x = f32[2] parameter(0)
      ROOT r = f32[2] multiply(x, x) }
    ENTRY e { i = s32[] parameter(0)
      x = f32[2] parameter(1)
      ROOT r = f32[2] conditional(i, x, x, x), branch_computations={b0, b1, b2} }""",
    (np.int32(-4), normal(2)),
    0,
  ),
  "clamp with scalars": (
    """ENTRY e { x = f32[20] parameter(0)
      l = f32[] constant(-0.5)
      h = f32[] constant(0.25)
      ROOT r = f32[20] clamp(l, x, h) }""",
    (normal(20),),
    0,
  ),
  "integer power": (
    """ENTRY e { x = s32[8] parameter(0)
      y = s32[8] parameter(1)
      ROOT r = s32[8] power(x, y) }""",
    (np.array([2, -2, 3, 0, -1, 1, 5, -3], np.int32), np.array([10, 31, 40, 0, -3, -7, -1, 3], np.int32)),
    0,
  ),
  "scan": (
    """f { x = f32[3] parameter(0)
      c = f32[3] parameter(1)
      y = f32[3] add(x, c)
      m = f32[3] multiply(y, x)
      ROOT t = (f32[3], f32[3]) tuple(m, y) }
    ENTRY e { x = f32[5,3] parameter(0)
      i = f32[3] parameter(1)
      ROOT s = (f32[5,3], f32[3]) scan(x, i), dimensions={0}, num_carries=1, is_reverse=true, to_apply=f }""",
    (normal(5, 3), normal(3)),
    16,
  ),
  "dynamic sizes": (
    """add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
    ENTRY e { x = f32[3,8] parameter(0)
      n = s32[] parameter(1)
      d = f32[3,<=8] set-dimension-size(x, n), dimensions={1}
      m = f32[3,<=8] multiply(d, d)
      z = f32[] constant(0)
      s = f32[3] reduce(m, z), dimensions={1}, to_apply=add
      g = s32[] get-dimension-size(m), dimensions={1}
      ROOT t = (f32[3], s32[]) tuple(s, g) }""",
    (normal(3, 8), np.int32(5)),
    16,
  ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_against_xla(name: str) -> None:
  text, args, ulps = TEXTS[name]
  check_text("HloModule m\n" + text, *args, ulps=ulps, scale=2.0)


# Against the definition.


def test_bitcast_follows_the_layouts() -> None:
  text = """ENTRY e { x = f32[2,3]{0,1} parameter(0)
    a = f32[3,2]{1,0} bitcast(x)
    b = f32[6]{0} bitcast(x)
    ROOT t = (f32[3,2], f32[6]) tuple(a, b) }"""
  x = normal(2, 3)
  a, b = evaluate(text, x)
  np.testing.assert_array_equal(a, x.T)
  np.testing.assert_array_equal(b, x.T.reshape(-1))


def test_values_go_through_barriers_copies_domains_and_tokens() -> None:
  text = """ENTRY e { x = f32[2] parameter(0)
    t = token[] after-all()
    y = f32[2] add-dependency(x, t)
    c = (f32[2], f32[2], u32[]) copy-start(y)
    d = f32[2] copy-done(c)
    u = (f32[2], f32[2]) tuple(x, d)
    ROOT o = (f32[2], f32[2]) opt-barrier(u) }"""
  x = normal(2)
  parts = evaluate(text, x)
  assert len(parts) == 2
  for part in parts:
    np.testing.assert_array_equal(part, x)


def test_async_wrappers() -> None:
  text = (
    ADD
    + """ENTRY e { x = f32[4] parameter(0)
    z = f32[] constant(0)
    s = ((f32[4], f32[]), f32[], s32[]) reduce-start(x, z), dimensions={0}, to_apply=add
    u = ((f32[4], f32[]), f32[], s32[]) reduce-update(s)
    ROOT d = f32[] reduce-done(u) }"""
  )
  assert evaluate(text, np.arange(4, dtype=np.float32)) == 6


def test_infeed_and_outfeed() -> None:
  text = """ENTRY e { t = token[] after-all()
    i = ((f32[2], s32[]), token[]) infeed(t)
    v = (f32[2], s32[]) get-tuple-element(i), index=0
    x = f32[2] get-tuple-element(v), index=0
    n = f32[2] negate(x)
    o = token[] outfeed(n, t), outfeed_shape=f32[2]{0}
    ROOT r = f32[2] copy(x) }"""
  x, seen = normal(2), []
  np.testing.assert_array_equal(evaluate(text, infeed=[(x, np.int32(3))], outfeed=seen), x)
  np.testing.assert_array_equal(seen[0], -x)
  with pytest.raises(hlo.HloEvaluateError, match="infeed queue is empty"):
    evaluate(text)


def test_custom_calls_come_from_a_table() -> None:
  text = 'ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] custom-call(x), custom_call_target="twice" }'
  x = normal(2)
  with pytest.raises(hlo.HloEvaluateError, match=r'(?s)"twice".*custom_calls=.*at %r = f32\[2\]'):
    evaluate(text, x)
  got = evaluate(text, x, custom_calls={"twice": lambda instruction, operands: operands[0] * 2})
  np.testing.assert_array_equal(got, 2 * x)


def test_pad_to_static_and_back() -> None:
  text = """ENTRY e { x = f32[8] parameter(0)
    n = s32[] parameter(1)
    d = f32[<=8] set-dimension-size(x, n), dimensions={0}
    p = (f32[8], s32[]) custom-call(d), custom_call_target="PadToStatic"
    full = f32[8] get-tuple-element(p), index=0
    size = s32[] get-tuple-element(p), index=1
    ROOT s = f32[<=8] custom-call(full, size), custom_call_target="SliceToDynamic" }"""
  x = normal(8)
  np.testing.assert_array_equal(evaluate(text, x, 3), x[:3])


def test_dynamic_reshape_and_concatenate() -> None:
  text = """ENTRY e { x = f32[6] parameter(0)
    n = s32[] constant(4)
    two = s32[] constant(2)
    d = f32[<=6] set-dimension-size(x, n), dimensions={0}
    r = f32[<=6,2] dynamic-reshape(d, two, two)
    ROOT c = f32[<=12,2] concatenate(r, r), dimensions={0} }"""
  got = evaluate(text, np.arange(6, dtype=np.float32))
  assert got.tolist() == [[0, 1], [2, 3], [0, 1], [2, 3]]


def test_rng_needs_a_seed() -> None:
  text = """ENTRY e { a = f32[] constant(0)
    b = f32[] constant(1)
    ROOT r = f32[1000] rng(a, b), distribution=rng_uniform }"""
  with pytest.raises(hlo.HloEvaluateError, match="seed"):
    evaluate(text)
  drawn = evaluate(text, seed=1)
  assert drawn.min() >= 0 and drawn.max() < 1 and abs(drawn.mean() - 0.5) < 0.05
  np.testing.assert_array_equal(drawn, evaluate(text, seed=1))


def test_the_hidden_state_moves_on() -> None:
  text = """ENTRY e { a = u64[2] rng-get-and-update-state(), delta=5
    b = u64[2] rng-get-and-update-state(), delta=5, control-predecessors={a}
    ROOT d = u64[2] subtract(b, a) }"""
  assert evaluate(text).tolist() == [0, 5]


def test_scaled_dot_repeats_each_scale_over_its_block() -> None:
  text = """ENTRY e { x = f8e4m3fn[4,64] parameter(0)
    y = f8e4m3fn[8,64] parameter(1)
    p = f8e8m0fnu[4,2] parameter(2)
    q = f8e8m0fnu[8,2] parameter(3)
    ROOT d = f32[4,8] scaled-dot(x, y, p, q), lhs_contracting_dims={1}, rhs_contracting_dims={1} }"""
  types = {k: hlo.PRIMITIVE_TYPES[k].dtype for k in ("f8e4m3fn", "f8e8m0fnu")}
  x, y = normal(4, 64).astype(types["f8e4m3fn"]), normal(8, 64).astype(types["f8e4m3fn"])
  p, q = (np.exp2(RNG.integers(-3, 3, shape)).astype(types["f8e8m0fnu"]) for shape in ((4, 2), (8, 2)))
  wide = lambda a: a.astype(np.float64)
  want = (wide(x) * wide(p).repeat(32, 1)) @ (wide(y) * wide(q).repeat(32, 1)).T
  np.testing.assert_array_equal(evaluate(text, x, y, p, q), want.astype(np.float32))


def test_block_scaled_dot_custom_call() -> None:
  text = """ENTRY e { x = f8e4m3fn[2,4,64] parameter(0)
    y = f8e4m3fn[2,8,64] parameter(1)
    p = f8e8m0fnu[2,4,2] parameter(2)
    q = f8e8m0fnu[2,8,2] parameter(3)
    g = f32[] constant(0.5)
    ROOT d = f32[2,4,8] custom-call(x, y, p, q, g), custom_call_target="__op$block_scaled_dot" }"""
  types = {k: hlo.PRIMITIVE_TYPES[k].dtype for k in ("f8e4m3fn", "f8e8m0fnu")}
  x, y = normal(2, 4, 64).astype(types["f8e4m3fn"]), normal(2, 8, 64).astype(types["f8e4m3fn"])
  p, q = (np.exp2(RNG.integers(-3, 3, shape)).astype(types["f8e8m0fnu"]) for shape in ((2, 4, 2), (2, 8, 2)))
  wide = lambda a: a.astype(np.float64)
  want = 0.5 * np.einsum("bmk,bnk->bmn", wide(x) * wide(p).repeat(32, 2), wide(y) * wide(q).repeat(32, 2))
  np.testing.assert_array_equal(evaluate(text, x, y, p, q), want.astype(np.float32))


def test_results_belong_to_the_caller() -> None:
  x = normal(2)
  result = evaluate("ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] copy(x) }", x)
  result[0] = 99
  assert x[0] != 99


def test_reductions_with_a_computation_that_is_not_scalar_arithmetic() -> None:
  """A comparator that loops cannot be vectorised; it is called element by element."""
  text = """cond { s = (s32[], s32[]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    z = s32[] constant(0)
    ROOT r = pred[] compare(i, z), direction=GT }
  body { s = (s32[], s32[]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    v = s32[] get-tuple-element(s), index=1
    one = s32[] constant(1)
    j = s32[] subtract(i, one)
    w = s32[] add(v, one)
    ROOT t = (s32[], s32[]) tuple(j, w) }
  plus { a = s32[] parameter(0)
    b = s32[] parameter(1)
    t = (s32[], s32[]) tuple(b, a)
    l = (s32[], s32[]) while(t), condition=cond, body=body
    ROOT r = s32[] get-tuple-element(l), index=1 }
  ENTRY e { x = s32[4,3] parameter(0)
    z = s32[] constant(0)
    ROOT r = s32[3] reduce(x, z), dimensions={0}, to_apply=plus }"""
  x = RNG.integers(0, 5, (4, 3)).astype(np.int32)
  np.testing.assert_array_equal(evaluate(text, x), x.sum(0))


def test_arguments_are_checked() -> None:
  text = "ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] negate(x) }"
  with pytest.raises(hlo.HloEvaluateError, match="takes 1 arguments"):
    evaluate(text)
  with pytest.raises(hlo.HloEvaluateError, match=r"argument 0 .* expected dimensions \[2\], found \[3\]"):
    evaluate(text, normal(3))
  with pytest.raises(hlo.HloEvaluateError, match="expected elements of type float32, found float64"):
    evaluate(text, np.zeros(2))


def test_elided_constants_are_an_error_that_says_so() -> None:
  with pytest.raises(hlo.HloEvaluateError, match=r"elided.*\n.*%c = f32\[2\]"):
    evaluate("ENTRY e { c = f32[2] constant({...})\n ROOT r = f32[2] negate(c) }")


def test_on_value_sees_every_value() -> None:
  seen: dict[str, np.ndarray] = {}
  text = "ENTRY e { x = f32[2] parameter(0)\n y = f32[2] negate(x)\n ROOT r = f32[2] add(x, y) }"
  evaluate(text, normal(2), on_value=lambda device, instruction, value: seen.update({instruction.name: value}))
  assert list(seen) == ["y", "r"] and (seen["r"] == 0).all()


def test_a_thousand_iterations() -> None:
  text = """cond { s = (s32[], f32[]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(1000)
    ROOT r = pred[] compare(i, n), direction=LT }
  body { s = (s32[], f32[]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    v = f32[] get-tuple-element(s), index=1
    one = s32[] constant(1)
    j = s32[] add(i, one)
    w = f32[] add(v, v)
    ROOT t = (s32[], f32[]) tuple(j, w) }
  ENTRY e { z = s32[] constant(0)
    o = f32[] constant(1)
    t = (s32[], f32[]) tuple(z, o)
    ROOT l = (s32[], f32[]) while(t), condition=cond, body=body }"""
  index, value = evaluate(text)
  assert index == 1000 and np.isinf(value)

"""Random programs compute the same before and after every pass, alone and together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright import hlo
from tilewright.hlo.builder import Builder
from tilewright.hlo.ir import Instruction
from tilewright.hlo.passes import run_passes

CORE = [
  "dce",
  "call_inliner",
  "tuple_simplifier",
  "cse",
  "constant_folding",
  "algebraic_simplifier",
  "reshape_mover",
  "transpose_mover",
]
SHAPES = [(), (4,), (2, 2), (2, 3), (3, 2), (6,), (1, 6)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan, 3.25, -8.0]


class Programs:
  """Draws a computation: a growing list of arrays, each made from earlier ones."""

  def __init__(self, draw: st.DrawFn, builder: Builder, depth: int = 0) -> None:
    self.draw, self.b, self.depth = draw, builder, depth
    self.values: list[Instruction] = []

  def pick(self, of: object = None) -> Instruction:
    fitting = [v for v in self.values if of is None or v.shape == of]
    return self.draw(st.sampled_from(fitting[::-1]))  # the latest is the simplest

  def splat(self, kind: str, dimensions: tuple[int, ...]) -> Instruction:
    values = [0.0, -0.0, 1.0, 2.0, np.nan] if kind == "f32" else [0, 1, -1]
    scalar = self.b.constant(np.asarray(self.draw(st.sampled_from(values))), kind)
    return self.b.broadcast(scalar, dimensions) if dimensions else scalar

  def constant(self) -> Instruction:
    return self.splat(self.draw(st.sampled_from(["f32", "s32"])), self.draw(st.sampled_from(SHAPES)))

  def partner(self, x: Instruction) -> Instruction:
    """Something to combine `x` with: a constant half of the time, or an earlier value."""
    return self.pick(x.shape) if self.draw(st.booleans()) else self.splat(x.shape.element_type, x.shape.dimensions)

  def step(self) -> None:
    choices = [
      "unary",
      "binary",
      "constant",
      "reshape",
      "transpose",
      "select",
      "pair",
      "slice",
      "broadcast",
      "repeat",
      "moved",
    ]
    choices += ["binary"] * 5
    if self.depth == 0:
      choices += ["call", "loop", "branch"]
    made = getattr(self, "_" + self.draw(st.sampled_from(choices)))()
    if made is not None:
      self.values.append(made)

  def _constant(self) -> Instruction:
    return self.constant()

  def _unary(self) -> Instruction:
    x = self.pick()
    return self.b.unary(self.draw(st.sampled_from(["negate", "abs", "sign"])), x)

  def _binary(self) -> Instruction:
    x = self.pick()
    y = self.partner(x)
    ops = ["add", "subtract", "multiply", "maximum", "minimum"] + (
      ["divide"] if x.shape.element_type == "f32" else ["and"]
    )
    return self.b.op(self.draw(st.sampled_from(ops)), (x, y))

  def _reshape(self) -> Instruction | None:
    x = self.pick()
    targets = [s for s in SHAPES if np.prod(s, dtype=int) == x.shape.num_elements]
    return self.b.reshape(x, self.draw(st.sampled_from(targets))) if targets else None

  def _transpose(self) -> Instruction:
    x = self.pick()
    return self.b.transpose(x, self.draw(st.permutations(range(x.shape.rank))))

  def _moved(self) -> Instruction:
    """Two values rearranged, perhaps differently, and combined: what movers look for."""
    x = self.pick()
    y = self.partner(x)
    if self.draw(st.booleans()) or not x.shape.rank:
      target = self.draw(st.sampled_from([s for s in SHAPES if np.prod(s, dtype=int) == x.shape.num_elements]))
      return self.b.op("maximum", [self.b.reshape(v, target) for v in (x, y)])
    moved = [self.b.transpose(v, self.draw(st.permutations(range(x.shape.rank)))) for v in (x, y)]
    return self.b.op("maximum", moved) if moved[0].shape == moved[1].shape else moved[0]

  def _select(self) -> Instruction:
    x = self.pick()
    y, z = self.pick(x.shape), self.pick(x.shape)
    return self.b.select(self.b.compare(y, z, self.draw(st.sampled_from(["LT", "EQ", "GE"]))), x, y)

  def _pair(self) -> Instruction:
    pair = self.b.make_tuple(self.pick(), self.pick(), self.pick())
    return self.b.element(pair, self.draw(st.integers(0, 2)))

  def _slice(self) -> Instruction:
    x = self.pick()
    parts = [(0, d) if d < 2 else (self.draw(st.integers(0, 1)), d) for d in x.shape.dimensions]
    made = self.b.slice(x, *parts)
    return made if made.shape.dimensions in SHAPES else x

  def _broadcast(self) -> Instruction:
    x = self.pick()
    return self.b.broadcast(x, (1, 6), at=(1,)) if x.shape.dimensions == (6,) else self.constant()

  def _repeat(self) -> Instruction:
    x = self.pick()
    if not x.operands:
      return x
    return self.b.op(x.opcode, x.operands, x.shape, **dict(x.attrs))

  def _inner(self, name: str, shapes: list) -> tuple[Builder, Programs]:
    builder = Builder(f"{name}.{self.draw(st.integers(0, 10**6))}.{len(self.values)}")
    inner = Programs(self.draw, builder, self.depth + 1)
    inner.values = [builder.parameter(s) for s in shapes]
    return builder, inner

  def _call(self) -> Instruction:
    operands = [self.pick(), self.pick()]
    builder, inner = self._inner("callee", [o.shape for o in operands])
    for _ in range(3):
      inner.step()
    callee = builder.finish(inner.pick())
    first = self.b.call(callee, *operands)
    if self.draw(st.booleans()):
      self.values.append(first)
      return self.b.call(callee, *operands)
    return first

  def _branch(self) -> Instruction:
    x = self.pick()
    branches = []
    for name in ("a", "b"):
      builder, inner = self._inner(f"branch_{name}", [x.shape])
      for _ in range(2):
        inner.step()
      branches.append(builder.finish(inner.pick(x.shape)))
    which = self.b.constant(np.bool_(True))
    if self.draw(st.booleans()):
      which = self.b.compare(
        self.b.constant(np.int32(1)), self.b.constant(np.int32(self.draw(st.integers(0, 2)))), "LT"
      )
    return self.b.op("conditional", (which, x, x), x.shape, true_computation=branches[0], false_computation=branches[1])

  def _loop(self) -> Instruction:
    state = [self.b.constant(np.int32(0)), self.pick(), self.pick()]
    shape = self.b.make_tuple(*state)
    body, inner = self._inner("body", [])
    parameter = body.parameter(shape.shape)
    count = body.element(parameter, 0)
    inner.values = [body.element(parameter, 1), body.element(parameter, 2)]
    for _ in range(4):
      inner.step()
    following = [inner.b.add(inner.pick(s.shape), inner.pick(s.shape)) for s in state[1:]]
    body.finish(body.make_tuple(body.add(count, body.constant(np.int32(1))), *following))
    condition, _ = self._inner("condition", [])
    seen = condition.element(condition.parameter(shape.shape), 0)
    condition.finish(condition.compare(seen, condition.constant(np.int32(3)), "LT"))
    loop = self.b.while_loop(shape, condition.computation, body.computation)
    return self.b.element(loop, self.draw(st.integers(1, 2)))


@st.composite
def programs(draw: st.DrawFn) -> str:
  builder = Builder("main")
  program = Programs(draw, builder)
  program.values = [builder.parameter("f32", (2, 3)), builder.parameter("f32", (2, 2)), builder.parameter("s32", (4,))]
  for _ in range(draw(st.integers(6, 20))):
    program.step()
  results = program.values[3:] if draw(st.booleans()) else program.values[-2:]
  return builder.module(builder.make_tuple(*results)).to_text()


def arguments(seed: int) -> list[np.ndarray]:
  generator = np.random.default_rng(seed)
  values = np.array(SPECIAL, np.float32)
  return [
    generator.choice(values, (2, 3)),
    generator.choice(values, (2, 2)),
    generator.integers(-3, 3, 4, dtype=np.int32),
  ]


def assert_same_bits(left: object, right: object) -> None:
  """Equal, with 0 apart from -0; one NaN is as good as another."""
  if isinstance(left, tuple):
    assert isinstance(right, tuple) and len(left) == len(right)
    for a, b in zip(left, right):
      assert_same_bits(a, b)
    return
  np.testing.assert_array_equal(left, right)
  if np.asarray(left).dtype.kind == "f":
    numbers = ~np.isnan(left)
    np.testing.assert_array_equal(np.signbit(left)[numbers], np.signbit(right)[numbers])


@pytest.mark.parametrize("name", CORE)
@settings(max_examples=50, deadline=None)
@given(text=programs(), seed=st.integers(0, 1000))
def test_a_pass_keeps_the_meaning(name: str, text: str, seed: int) -> None:
  module = hlo.parse(text)
  args = arguments(seed)
  before = hlo.evaluate(module, *args)
  run_passes(module, [name], strict=True)
  assert_same_bits(before, hlo.evaluate(module, *args))


@settings(max_examples=80, deadline=None)
@given(text=programs(), seed=st.integers(0, 1000))
def test_all_passes_to_a_fixed_point_keep_the_meaning(text: str, seed: int) -> None:
  module = hlo.parse(text)
  args = arguments(seed)
  before, count = hlo.evaluate(module, *args), module.instruction_count
  report = run_passes(module, CORE, fixed_point=True, strict=True)
  assert_same_bits(before, hlo.evaluate(module, *args))
  assert not run_passes(module, CORE).changed, report
  assert not any(i.opcode == "call" for i in module.instructions())
  assert module.instruction_count <= count + 64
